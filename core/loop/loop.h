/* SPDX-License-Identifier: MIT */
/* loop.h - the event loop of an engine: descriptors, timers, messages from other threads.
 *
 * loop.c is the only file that sees libuv.  The loop runs in the thread that drives the engine, and
 * only while somebody waits for something: between calls nothing wakes.  A watch or timer is freed
 * by its stop function; its callback is never called after that. */
#ifndef LAZ_LOOP_LOOP_H
#define LAZ_LOOP_LOOP_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct laz_loop;
struct laz_io;    /* a watched descriptor */
struct laz_timer; /* a timer, made once and started as often as needed */

#define LAZ_IO_READ  1u
#define LAZ_IO_WRITE 2u

int laz_loop_new(struct laz_loop **loop, struct laz_error *err);
/* Every watch and timer should have been stopped; what is left is closed, its owner must not stop
 * it any more. */
void laz_loop_free(struct laz_loop *loop);
#define LAZ_LOOP_FOREVER UINT64_MAX

/* Waits for events, `ms` at most, and serves them once. */
void laz_loop_step(struct laz_loop *loop, uint64_t ms);
/* For a loop inside another one: a descriptor that is readable when a step has something to serve,
 * and the time after which it has in any case, in milliseconds (-1: none). On Windows there is no
 * such descriptor: -1. */
int laz_loop_fd(const struct laz_loop *loop);
int laz_loop_timeout(const struct laz_loop *loop);
/* Handles that are still open: 0 when everything was stopped. */
unsigned laz_loop_handles(const struct laz_loop *loop);

/* `fd` is borrowed until laz_io_stop, which must come before it is closed. NULL without memory or
 * when the system cannot watch it. */
struct laz_io *laz_io_start(struct laz_loop *loop, int fd, uint32_t events,
                            void (*ready)(void *user, uint32_t events), void *user);
/* Changes what is waited for. False with errno, and it waits for what it did before. */
bool laz_io_events(struct laz_io *io, uint32_t events);
void laz_io_stop(struct laz_io *io); /* NULL is allowed */

struct laz_timer *laz_timer_new(struct laz_loop *loop, void (*due)(void *user), void *user);
/* Due once, `ms` from now; starting again moves it. */
void laz_timer_start(struct laz_timer *timer, uint64_t ms);
void laz_timer_cancel(struct laz_timer *timer);
void laz_timer_stop(struct laz_timer *timer); /* frees it; NULL is allowed */

/* The clock of the loop, by which its timers are due: monotonic, since some point. Whoever computes
 * with the times of timers reads this one. */
uint64_t laz_loop_now_us(const struct laz_loop *loop);
uint64_t laz_loop_now_ms(const struct laz_loop *loop);

/* For tests, by the loop's thread, also within a callback of the loop. From the first call of
 * laz_loop_hold_clock on the clock moves by laz_loop_advance_clock alone: a timer of 0 ms is due in
 * the next step as ever, any other one once the clock was moved so far, in the order of their times.
 * A timer that was started before keeps to the real clock. */
void laz_loop_hold_clock(struct laz_loop *loop);
void laz_loop_advance_clock(struct laz_loop *loop, uint64_t ms);

/* Something to be done by the loop's thread. Owned by the caller, untouched until `run` is called,
 * free to be reused from then on. */
struct laz_post {
    struct laz_post *next;
    void (*run)(struct laz_post *post);
};

/* Any thread: `post->run` is called by the loop's thread, in order. Wakes the loop. */
void laz_loop_post(struct laz_loop *loop, struct laz_post *post);
/* Loop thread: runs what was posted, without waiting for anything. */
void laz_loop_flush(struct laz_loop *loop);
/* Any thread, also a signal handler: ends the present or next laz_loop_step. */
void laz_loop_wake(struct laz_loop *loop);

#endif
