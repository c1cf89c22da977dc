/* SPDX-License-Identifier: MIT */
/* driver.h - what drives the loop of an engine: one thread at a time, turn by turn.
 *
 * Every room that waits for something gets the driver: its loop, its worker threads, its log.  One
 * turn serves the events that have come; what these concern is put on a list (laz_driver_stir) and
 * advances after the turn, when everything is in order and callbacks may use the engine again. */
#ifndef LAZ_LOOP_DRIVER_H
#define LAZ_LOOP_DRIVER_H

#include "base/error.h"
#include "base/log.h"
#include "loop/loop.h"
#include "loop/workers.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Something that has to be looked at between two turns of the loop: part of a session, a pool. */
struct laz_stir {
    struct laz_stir *next;
    bool is_listed;
    void (*advance)(struct laz_stir *stir); /* may free what it is part of */
};

/* What the owner of the driver adds to it. */
struct laz_driver_owner {
    void *user;
    /* Lends the loop to another thread instead of a step. False: there is nobody to lend it to. */
    bool (*serve)(void *user);
    /* A cancel was requested (`cancel`). Loop thread. */
    void (*cancelled)(void *user);
    /* Nobody drove the loop for a while: clocks of starts begin anew. */
    void (*resumed)(void *user);
};

struct laz_driver {
    struct laz_loop *loop;
    struct laz_workers *workers;
    struct laz_log log;
    struct laz_driver_owner owner;
    struct laz_stir *stirred; /* to be looked at between two turns of the loop */
    bool is_ending;           /* callbacks may not use the engine any more */
    bool touched;             /* something began since the last step */
    unsigned depth;           /* calls from inside of callbacks that may call */
    uint64_t driven_ms;       /* when the loop was last driven */
    atomic_bool in_use;       /* one thread at a time */
    atomic_uint busy;         /* starts and executions under way */
    atomic_bool cancel;       /* something is to be cancelled: ... */
    atomic_bool cancel_all;   /* everything, or the sessions that say so */
};

/* Makes the loop and room for so many workers. On failure laz_driver_fini frees what there is. */
int laz_driver_init(struct laz_driver *driver, unsigned workers, struct laz_error *err);
/* Waits for the workers to end; the loop stays. */
void laz_driver_end_workers(struct laz_driver *driver);
void laz_driver_fini(struct laz_driver *driver);

/* Guards every public function that uses the loop: LAZ_EBUSY when a thread, or a callback's caller,
 * is inside already. */
int laz_driver_enter(struct laz_driver *driver, struct laz_error *err);
void laz_driver_leave(struct laz_driver *driver);
/* Waits for events, serves them, and then advances what they concern: callbacks of executions that
 * have ended are called here, and may use the engine. `wait_ms`: at most so long;
 * LAZ_LOOP_FOREVER. */
void laz_driver_turn(struct laz_driver *driver, uint64_t wait_ms);
/* Enters, does one turn, and leaves: for a loop that is not ours (laz_engine_step). */
int laz_driver_step(struct laz_driver *driver, uint64_t wait_ms, struct laz_error *err);
/* Milliseconds after which laz_driver_step has something to do in any case; -1: none. */
int laz_driver_timeout(const struct laz_driver *driver);
/* Whoever holds the loop: it is to be looked at after the turn. And not any more. */
void laz_driver_stir(struct laz_driver *driver, struct laz_stir *stir);
void laz_driver_unstir(struct laz_driver *driver, struct laz_stir *stir);
/* Around a callback of the application that may use the engine. */
void laz_driver_begin_callback(struct laz_driver *driver);
void laz_driver_end_callback(struct laz_driver *driver);
/* Any thread: the owner's `cancelled` is called in the present or the next turn; `all` is left for
 * it in `cancel_all`. */
void laz_driver_cancel(struct laz_driver *driver, bool all);

#endif
