/* SPDX-License-Identifier: MIT */
/* driver.h - drives the loop of an engine: one thread at a time, turn by turn.
 *
 * Code that waits for events is given the driver: its loop, its worker threads, its log.  One turn
 * handles the events that have arrived; handlers only put the sessions and pools concerned on a
 * list (laz_driver_stir).  Those advance after the turn, when all state is consistent and callbacks
 * of the application may call the engine again. */
#ifndef LAZ_LOOP_DRIVER_H
#define LAZ_LOOP_DRIVER_H

#include "base/log.h"
#include "loop/loop.h"
#include "loop/workers.h"
#include "telemetry/metrics.h"

#include <stdatomic.h>

/* A list entry for work between two turns of the loop: a member of a session, a pool, ... */
struct laz_stir {
    struct laz_stir *next;
    bool is_listed;
    void (*advance)(struct laz_stir *stir); /* may free the object that contains it */
};

/* Callbacks of the driver's owner, the engine's sessions. All are called in the loop thread. */
struct laz_driver_owner {
    void *user;
    /* Instead of a step: serves tool calls while another thread runs them (tool/lend.c). False: no
     * such call is in progress, and the driver steps the loop itself. */
    bool (*serve)(void *user);
    /* laz_driver_cancel was called: cancels what `cancel_all` says. */
    void (*cancelled)(void *user);
    /* The loop was not run for a while: restarts the deadlines of sessions that are starting, which
     * are not to blame. */
    void (*resumed)(void *user);
};

struct laz_driver {
    struct laz_loop *loop;
    struct laz_workers *workers;
    struct laz_workers *tasks; /* threads for what takes only the processor; see struct laz_task */
    /* For tests, before the first task: called by its thread before each. NULL: nothing. */
    void (*before_task)(void *user);
    void *before_task_user;
    struct laz_log log;
    struct laz_driver_owner owner;
    struct laz_stir *stirred;     /* entries to advance after this turn */
    atomic_bool is_ending;        /* the engine is being freed: callbacks may not call it */
    bool touched;                 /* a public function was called since the last step */
    unsigned depth;               /* nested calls, made by callbacks that may call the engine */
    uint64_t driven_ms;           /* time of the last turn, by the loop's clock */
    struct laz_pulse pulse;       /* works from one turn to the next */
    int64_t process;              /* that has made it; a child by fork(2) may not use it: */
    uint32_t forks;               /* laz_os_forks there */
    atomic_bool in_use;           /* a thread is inside the engine: */
    _Atomic(const void *) holder; /* which one; NULL: none is, or a tool runs on one that was lent
                                     the loop */
    atomic_uint busy;             /* starts and executions in progress */
    atomic_bool cancel;           /* a cancel was requested and not handled yet */
    atomic_bool cancel_all;       /* cancel everything, not only the sessions marked for it */
};

/* Work that would hold the loop for too long because what it is about is large: a check, a
 * conversion.  It waits for nothing, and is not behind calls that do.  The caller owns it and what
 * it is about, and touches neither until `done`, except by means of atomics. */
struct laz_task {
    struct laz_work work;
    struct laz_post post;
    struct laz_driver *driver;
    void (*run)(struct laz_task *task);  /* in a thread of its own */
    void (*done)(struct laz_task *task); /* then in the loop thread, always; at the latest when the
                                          engine is freed */
};

/* Makes the loop and a pool of at most `workers` threads. After a failure, too, the caller calls
 * laz_driver_fini. */
int laz_driver_init(struct laz_driver *driver, unsigned workers, struct laz_error *err);
/* Is this a child, made by fork(2), of the process that has made the driver? What the two share,
 * descriptors and what they lead to, is the parent's. */
bool laz_driver_is_foreign(const struct laz_driver *driver);
/* Waits for the worker threads to finish, at most `ms` milliseconds, and for all tasks; the loop
 * stays usable. Returns the number of those that did not: they may use the driver and what their
 * work was given for ever, so the caller must free none of it. */
unsigned laz_driver_end_workers(struct laz_driver *driver, uint64_t ms);
/* Waits for the worker threads, and frees what is left. */
void laz_driver_fini(struct laz_driver *driver);

/* The thread that holds the loop: begins a task. LAZ_EOS: no thread could be started; nothing is
 * called. */
int laz_driver_begin_task(struct laz_driver *driver, struct laz_task *task, struct laz_error *err);

/* Every public function that uses the loop enters first and leaves at its end. LAZ_EBUSY: another
 * thread is inside, or the caller is a callback that may not call the engine. LAZ_EREFUSED: this is
 * a child of the process that has made it. LAZ_EINVAL: the application has closed laz_loop_fd. */
int laz_driver_enter(struct laz_driver *driver, struct laz_error *err);
void laz_driver_leave(struct laz_driver *driver);
/* Is this thread inside, in a callback perhaps? Any thread. */
bool laz_driver_is_here(const struct laz_driver *driver);
/* Is this a callback that the engine does not run in, of a tool on a worker thread, or of the log?
 */
bool laz_driver_calls_back(const struct laz_driver *driver);
/* Around reading what is the loop's, from any thread: by the thread that is inside, in a callback
 * perhaps, or when none is. Errors: as laz_driver_enter. */
int laz_driver_visit(struct laz_driver *driver, bool *entered, struct laz_error *err);
void laz_driver_end_visit(struct laz_driver *driver, bool entered);
/* The loop was lent (tool/lend.c): this thread is inside from now on (`holds`), or none is. */
void laz_driver_hold(struct laz_driver *driver, bool holds);
/* For ever: from now on only what laz_driver_let_in precedes enters, and a call from elsewhere gets
 * LAZ_ECLOSED. False: a thread is inside. */
bool laz_driver_begin_end(struct laz_driver *driver);
void laz_driver_let_in(struct laz_driver *driver);
/* Waits for events (at most `wait_ms` milliseconds, or LAZ_LOOP_FOREVER), handles them, and then
 * advances the entries that were listed. Callbacks of finished executions are called here and may
 * call the engine. */
void laz_driver_turn(struct laz_driver *driver, uint64_t wait_ms);
/* Enters, does one turn and leaves: for an application with its own loop (laz_engine_step). */
int laz_driver_step(struct laz_driver *driver, uint64_t wait_ms, struct laz_error *err);
/* Milliseconds until laz_driver_step must be called even if no event arrives; -1: no limit. */
int laz_driver_timeout(const struct laz_driver *driver);
/* Adds an entry to the list of those that advance after this turn, or removes it. Loop thread. */
void laz_driver_stir(struct laz_driver *driver, struct laz_stir *stir);
void laz_driver_unstir(struct laz_driver *driver, struct laz_stir *stir);
/* Called before and after a callback of the application that may call the engine. */
void laz_driver_begin_callback(struct laz_driver *driver);
void laz_driver_end_callback(struct laz_driver *driver);
/* Any thread, also a signal handler: has the owner's `cancelled` called in the current or the next
 * turn. `all` is passed on in `cancel_all`. */
void laz_driver_cancel(struct laz_driver *driver, bool all);

#endif
