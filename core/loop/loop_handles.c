/* SPDX-License-Identifier: MIT */
/* loop_handles.c - on systems where each watch is a libuv handle of its own, the watches of a loop
 * share nothing. */
#include "loop/loop_uv.h"

int laz_loop_polls_new(struct laz_loop *loop)
{
    (void)loop;
    return 0;
}

void laz_loop_polls_stop(struct laz_loop *loop)
{
    (void)loop;
}

void laz_loop_polls_free(struct laz_loop *loop)
{
    (void)loop;
}
