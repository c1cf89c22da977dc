/* SPDX-License-Identifier: MIT */
/* loop_private.h - what the files of the loop share: its state, and what differs by system.
 *
 * loop.c has the steps and the posts, loop_timers.c the timers and the clock.  How a loop waits is
 * in loop_epoll.c on Linux, elsewhere in loop_uv.c with loop_poll.c or loop_wait.c. */
#ifndef LAZ_LOOP_LOOP_PRIVATE_H
#define LAZ_LOOP_LOOP_PRIVATE_H

#include "loop/loop.h"

#include <pthread.h>

struct laz_loop {
    pthread_mutex_t lock;
    struct laz_post *first, **last; /* protected by `lock`, as are the next two */
    bool is_stepping; /* the thread `stepper` is in laz_loop_step, or is about to be */
    pthread_t stepper;
    unsigned handles;
    struct laz_polls *polls;   /* what the system waits with */
    struct laz_timer **timers; /* a heap: all timers, the one that is due first at its root */
    size_t n_timers;
    uint64_t starts; /* of timers, so far */
    bool held;       /* the clock is held, see laz_loop_hold_clock */
    uint64_t now_us; /* time of the held clock */
};

/* A watched descriptor. */
struct laz_io {
    void *handle;                   /* of libuv, whose `data` is the watch; NULL with epoll */
    struct laz_io *next, *previous; /* with epoll: in polls->all; `next` alone when stopped */
    struct laz_wait *wait;          /* on Windows */
    struct laz_loop *loop;
    int fd;
    uint32_t events; /* LAZ_IO_... */
    bool stopped;
    void (*ready)(void *user, uint32_t events);
    void *user;
};

/* ---- by system; also laz_io_events, and laz_loop_wake, _fd, _has_fd, _is_lost --------------- */

/* Begins to watch a new descriptor. False with errno: it cannot be watched, and `io` was freed. */
bool laz_io_open(struct laz_io *io);
/* Ends a watch, and frees it once no callback of it is in progress. */
void laz_io_close(struct laz_io *io);

/* Makes loop->polls, whole, or nothing and an error. */
int laz_loop_polls_new(struct laz_loop *loop, struct laz_error *err);
/* Frees it with the watches that were not stopped. */
void laz_loop_polls_free(struct laz_loop *loop);
/* Waits at most `us` microseconds (or LAZ_LOOP_FOREVER) for events or a wake, and handles those
 * that have arrived. */
void laz_loop_polls_wait(struct laz_loop *loop, uint64_t us);

/* ---- timers --------------------------------------------------------------------------------- */

/* Microseconds until the first timer is due; LAZ_LOOP_FOREVER: none was started. */
uint64_t laz_timers_wait(const struct laz_loop *loop);
/* Calls those that are due and were among the first `before` starts, which loop->starts counts: so
 * a timer of 0 ms that is started in a step does not hold that step. True: one was called. */
bool laz_timers_run(struct laz_loop *loop, uint64_t before);
void laz_timers_free(struct laz_loop *loop);

/* Microseconds in milliseconds, not less. */
static inline uint64_t laz_loop_ms(uint64_t us)
{
    return us / 1000 + (us % 1000 != 0);
}

#endif
