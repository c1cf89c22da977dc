/* SPDX-License-Identifier: MIT */
/* loop_uv.h - private to loop*.c, the only files that use libuv. */
#ifndef LAZ_LOOP_LOOP_UV_H
#define LAZ_LOOP_LOOP_UV_H

#include "loop/loop.h"

#include <pthread.h>
#include <uv.h>

struct laz_loop {
    uv_loop_t uv;
    uv_async_t wake;
    uv_timer_t step_timer; /* ends a step that has waited for its time */
    pthread_mutex_t lock;
    struct laz_post *first, **last; /* protected by `lock`, as are the next two */
    bool is_stepping; /* the thread `stepper` is in laz_loop_step, or is about to be */
    pthread_t stepper;
    unsigned handles;
    struct laz_polls *polls; /* NULL where each watch is a handle of libuv */
    bool held;               /* the clock is held, see laz_loop_hold_clock */
    uint64_t now_us;         /* time of the held clock */
};

/* A watched descriptor. */
struct laz_io {
    uv_handle_t *uv;                /* its `data` is the watch; NULL with epoll */
    struct laz_io *next, *previous; /* with epoll: in polls->all; `next` alone when stopped */
    struct laz_wait *wait;          /* on Windows */
    struct laz_loop *loop;
    int fd;
    uint32_t events; /* LAZ_IO_... */
    bool stopped;
    void (*ready)(void *user, uint32_t events);
    void *user;
};

/* These two, and laz_io_events, differ by system: loop_epoll.c, loop_poll.c, loop_wait.c. */

/* Begins to watch a new descriptor. False: it cannot be watched, and `io` was freed. */
bool laz_io_open(struct laz_io *io);
/* Ends a watch, and frees it once no callback of it is in progress. */
void laz_io_close(struct laz_io *io);

/* Makes what the watches of a loop share, with its libuv handle. Returns 0 or an error code of
 * libuv; after a failure no handle is open. */
int laz_loop_polls_new(struct laz_loop *loop);
void laz_loop_polls_stop(struct laz_loop *loop); /* closes the handle */
void laz_loop_polls_free(struct laz_loop *loop); /* after uv_run has closed the handle */

/* Close callback of libuv: frees the handle, whatever begins with it, and what its `data` is. */
void laz_loop_closed(uv_handle_t *handle);

#endif
