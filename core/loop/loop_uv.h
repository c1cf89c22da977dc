/* SPDX-License-Identifier: MIT */
/* loop_uv.h - what loop_uv.c shares with loop_poll.c and loop_wait.c: those that use libuv. */
#ifndef LAZ_LOOP_LOOP_UV_H
#define LAZ_LOOP_LOOP_UV_H

#include "loop/loop_private.h"

#include <uv.h>

struct laz_polls {
    uv_loop_t uv;
    uv_async_t wake;
    uv_timer_t timer; /* ends a wait */
};

/* Close callback of libuv: frees the handle, whatever begins with it, and what its `data` is. */
void laz_loop_closed(uv_handle_t *handle);

#endif
