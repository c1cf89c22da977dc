/* SPDX-License-Identifier: MIT */
/* loop.h - the event loop of an engine: descriptors, timers, posts from other threads.
 *
 * Only loop*.c use libuv, and not on Linux (loop_epoll.c).  The loop runs in the thread that calls
 * the engine and only during such a call; between calls nothing runs.  A watch or timer is freed by
 * its stop function; its callback is never called after that.  Unless it says otherwise, a function
 * is for the loop thread. */
#ifndef LAZ_LOOP_LOOP_H
#define LAZ_LOOP_LOOP_H

#include "base/error.h"

struct laz_loop;
struct laz_io;    /* a watched descriptor */
struct laz_timer; /* a timer, made once and started as often as needed */

#define LAZ_IO_READ  1u
#define LAZ_IO_WRITE 2u
#define LAZ_IO_URGENT                                                                              \
    4u /* POLLPRI, which the kernel reports of some files; Linux only, and alone */

/* Where nothing is to be read or written now: a paused watch tells nothing at all, this one that
 * the other end is gone. Of a socket of TCP urgent data is told as well, which we never ask for. */
#define LAZ_IO_GONE LAZ_IO_URGENT

int laz_loop_new(struct laz_loop **loop, struct laz_error *err);
/* Runs the pending posts and frees the loop. Watches and timers that were not stopped are closed
 * and freed; their owners must not stop them afterwards. */
void laz_loop_free(struct laz_loop *loop);
#define LAZ_LOOP_FOREVER UINT64_MAX

/* Waits for events, at most `ms` milliseconds, and handles those that have arrived. */
void laz_loop_step(struct laz_loop *loop, uint64_t ms);
/* The thread that steps: the next thing that it does with the loop is a step, so what it posts
 * until then needs no wake. */
void laz_loop_will_step(struct laz_loop *loop);
/* For an application with its own loop: a descriptor that is readable when a step has events to
 * handle (-1 on Windows, which has no such descriptor), and the milliseconds after which a step
 * must be made even if it is not (-1: no limit). */
int laz_loop_fd(const struct laz_loop *loop);
int laz_loop_timeout(const struct laz_loop *loop);
/* Is that descriptor still the loop's? An application may have closed it by mistake, and the number
 * may be something else now. True on systems where this is not known. */
bool laz_loop_has_fd(const struct laz_loop *loop);
/* Was even the loop's own descriptor closed, as by closefrom(3)? Then nothing can be waited for. */
bool laz_loop_is_lost(const struct laz_loop *loop);
/* Number of watches and timers that are still open: 0 when all were stopped. */
unsigned laz_loop_handles(const struct laz_loop *loop);

/* Watches `fd` for `events` (LAZ_IO_*; 0 pauses the watch). Borrows `fd` until laz_io_stop, which
 * must come before the descriptor is closed. NULL: out of memory, or the system cannot watch it. */
struct laz_io *laz_io_start(struct laz_loop *loop, int fd, uint32_t events,
                            void (*ready)(void *user, uint32_t events), void *user);
/* LAZ_EOS: `what` cannot be watched, by the present errno. Names the limit of the user that was
 * reached, if one was. */
int laz_io_error(struct laz_error *err, const char *what);
/* Changes the watched events. False with errno set: the previous events are still watched. */
bool laz_io_events(struct laz_io *io, uint32_t events);
void laz_io_stop(struct laz_io *io); /* NULL is allowed */

/* Makes a timer that is not started. NULL: out of memory. */
struct laz_timer *laz_timer_new(struct laz_loop *loop, void (*due)(void *user), void *user);
/* Calls `due` once, `ms` milliseconds from now; a second start replaces the first. */
void laz_timer_start(struct laz_timer *timer, uint64_t ms);
void laz_timer_cancel(struct laz_timer *timer);
void laz_timer_stop(struct laz_timer *timer); /* frees it; NULL is allowed */

/* The clock by which the loop's timers are due: monotonic, from an arbitrary start. Code that
 * computes deadlines reads this clock, since tests may hold it. */
uint64_t laz_loop_now_us(const struct laz_loop *loop);
uint64_t laz_loop_now_ms(const struct laz_loop *loop);

/* For tests; also allowed within a callback of the loop. After laz_loop_hold_clock only
 * laz_loop_advance_clock moves the clock: a timer of 0 ms is due in the next step as before, any
 * other one when the clock has been moved to its time, in the order of their times. A timer that
 * was started earlier follows the real clock. */
void laz_loop_hold_clock(struct laz_loop *loop);
void laz_loop_advance_clock(struct laz_loop *loop, uint64_t ms);

/* Work that another thread hands to the loop thread. The caller owns it and must not touch it until
 * `run` is called; from then on it may be reused or freed. */
struct laz_post {
    struct laz_post *next;
    void (*run)(struct laz_post *post);
};

/* Any thread: has `post->run` called in the loop thread, in the order of posting, and wakes it. */
void laz_loop_post(struct laz_loop *loop, struct laz_post *post);
/* Runs the pending posts without waiting. */
void laz_loop_flush(struct laz_loop *loop);
/* Any thread, also a signal handler: ends the current or the next laz_loop_step. */
void laz_loop_wake(struct laz_loop *loop);

#endif
