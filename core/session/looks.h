/* SPDX-License-Identifier: MIT */
/* looks.h - looks at the processes of boxes, on threads of their own.
 *
 * What the kernel reports of a process it makes at that moment, and how much that is, and how long
 * it takes, the process decides: the loop must not wait for it.  So a look is a piece of work that
 * is sent to a thread with all that it needs, and comes back to the loop with its result.  Nobody
 * ever waits for one: one that is not wanted any more is dropped, and whoever has it last frees it.
 * Unless it says otherwise, a function is for the loop thread. */
#ifndef LAZ_SESSION_LOOKS_H
#define LAZ_SESSION_LOOKS_H

#include "loop/driver.h"
#include "os/process_tree.h"

struct laz_looks; /* the threads of an engine, which share nothing with those of tools */

struct laz_tree_look {
    /* Set by who makes it (calloc); the tree is the look's until it is back. */
    void (*back)(void *user); /* it is back: the look is the caller's again */
    void *user;
    struct laz_tree tree;
    bool only_locks;       /* finds locks of files and nothing else */
    uint64_t enough_bytes; /* see laz_os_tree_usage */
    uint64_t most_us;      /* CPU time that it may take; more: the tree says that it is given up */
    /* The result. */
    bool found; /* false: the first process has ended, or it is given up */
    struct laz_tree_usage usage;
    uint64_t
        busy_us; /* of the machine (laz_os_busy_us), where the usage has `unwaited` processes */
    uint64_t took_us; /* CPU time */
    /* Private to looks.c. */
    struct laz_work work;
    struct laz_looks *looks;
    struct laz_tree_look *next; /* among those that are back */
    atomic_bool has_begun;
    bool is_back, is_dropped;
};

/* Starts the first thread, so that there is one whatever code in a box uses up later. Errors:
 * LAZ_EOS, LAZ_ENOMEM. */
int laz_looks_new(struct laz_loop *loop, struct laz_looks **looks, struct laz_error *err);
/* laz_looks_free: shared.h */

/* Sends it. False: there is no thread; it is still the caller's. */
bool laz_tree_look_send(struct laz_looks *looks, struct laz_tree_look *look);
/* How far it is: another number after each of its steps; 0: it has only waited for a thread. */
unsigned laz_tree_look_steps(const struct laz_tree_look *look);
/* For a caller that may not run the loop: takes it if it is back, without a call of `back`. */
bool laz_tree_look_take(struct laz_tree_look *look);
/* Nobody wants it any more: it is given up, and freed, here or by its thread. NULL is allowed. */
void laz_tree_look_drop(struct laz_tree_look *look);
/* Frees one that was not sent, or is back. */
void laz_tree_look_free(struct laz_tree_look *look);

/* For tests: `hold` is called by the thread at the beginning of each look. */
void laz_looks_hold(struct laz_looks *looks, void (*hold)(void *user, struct laz_tree_look *look),
                    void *user);
/* For tests that move the clock of the loop, which would give up a look whose thread has had no
 * time of the processor yet: is one out, and comes back by itself? Any thread; NULL: no. */
bool laz_looks_are_out(struct laz_looks *looks);

#endif
