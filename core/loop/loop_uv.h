/* SPDX-License-Identifier: MIT */
/* loop_uv.h - what the files of the loop share. Nobody else sees libuv. */
#ifndef LAZ_LOOP_LOOP_UV_H
#define LAZ_LOOP_LOOP_UV_H

#include "loop/loop.h"

#include <pthread.h>
#include <uv.h>

struct laz_loop {
    uv_loop_t uv;
    uv_async_t wake;
    uv_timer_t most; /* ends a step that waits */
    pthread_mutex_t lock;
    struct laz_post *first, **last; /* under lock */
    unsigned handles;
    struct laz_polls *polls; /* NULL where each watch is a handle of libuv */
    bool held;               /* the clock stands still, see laz_loop_hold_clock */
    uint64_t now_us;         /* of the held clock */
};

/* What the watches of a loop share, and its handle. A failure leaves none behind. An error of
 * libuv's, or 0. */
int laz_loop_polls_new(struct laz_loop *loop);
void laz_loop_polls_stop(struct laz_loop *loop); /* closes the handle */
void laz_loop_polls_free(struct laz_loop *loop); /* when it is closed, or was not made */

/* Frees a handle that is the first member of what was allocated. */
void laz_loop_closed(uv_handle_t *handle);

#endif
