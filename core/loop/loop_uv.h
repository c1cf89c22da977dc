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
    struct laz_post *first, **last; /* protected by `lock` */
    unsigned handles;
    struct laz_polls *polls; /* NULL where each watch is a handle of libuv */
    bool held;               /* the clock is held, see laz_loop_hold_clock */
    uint64_t now_us;         /* time of the held clock */
};

/* Makes what the watches of a loop share, with its libuv handle. Returns 0 or an error code of
 * libuv; after a failure no handle is open. */
int laz_loop_polls_new(struct laz_loop *loop);
void laz_loop_polls_stop(struct laz_loop *loop); /* closes the handle */
void laz_loop_polls_free(struct laz_loop *loop); /* after uv_run has closed the handle */

/* Close callback of libuv: frees an object whose first member is the handle. */
void laz_loop_closed(uv_handle_t *handle);

#endif
