/* SPDX-License-Identifier: MIT */
/* rest.c - a server gives freed memory back when it has had nothing to do for a while.
 * Side: host.
 *
 * The command keeps freed memory for the next large value (os/heap.h). The timer runs only when the
 * heap has grown, so a server without large values never wakes up for it. */
#include "lines/lines.h"

#define REST_MS 1000

static void rest_due(void *user)
{
    laz_heap_give_back(&((struct laz_rest *)user)->heap);
}

int laz_rest_begin(struct laz_rest *rest, struct laz_loop *loop, struct laz_error *err)
{
    rest->timer = laz_timer_new(loop, rest_due, rest);
    laz_heap_note(&rest->heap);
    return rest->timer ? 0 : laz_error_nomem(err);
}

void laz_rest_later(struct laz_rest *rest)
{
    if (laz_heap_has_grown(&rest->heap))
        laz_timer_start(rest->timer, REST_MS);
}

void laz_rest_end(struct laz_rest *rest)
{
    laz_timer_stop(rest->timer);
    rest->timer = NULL;
}
