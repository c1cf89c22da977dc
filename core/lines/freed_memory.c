/* SPDX-License-Identifier: MIT */
/* freed_memory.c - a server gives freed memory back.
 * Side: host.
 *
 * The command keeps freed memory for the next large value (os/heap.h), for a second: whoever keeps
 * the server busy must not pin the memory that the values of others have left behind, and must not
 * make it look for free memory at each message. So the time is counted from the first turn with
 * something to do, not from the last one. A server that nobody uses does not wake up.
 *
 * What is freed on other threads goes back as well, and who looks for it holds them up. So of
 * servers beside each other one waits for all. A server whose turn ends while another one waits has
 * freed before that one looks; one whose turn ends later waits itself. */
#include "lines/lines.h"

#include "os/heap.h"

#define REST_MS 1000

static void rest_due(void *user)
{
    ((struct laz_rest *)user)->is_due = true;
}

int laz_rest_begin(struct laz_rest *rest, struct laz_loop *loop, struct laz_rest *beside,
                   struct laz_error *err)
{
    rest->waits = beside ? beside->waits : &rest->own;
    rest->timer = laz_timer_new(loop, rest_due, rest);
    return rest->timer ? 0 : laz_error_nomem(err);
}

/* What else the turn did is done: what it has freed goes back as well. */
void laz_rest_turn(struct laz_rest *rest)
{
    if (rest->is_due) {
        rest->is_due = rest->is_mine = false;
        atomic_store(rest->waits, false); /* who frees from now on may come too late */
        laz_heap_give_back();
    } else if (!atomic_load(rest->waits) && !atomic_exchange(rest->waits, true)) {
        rest->is_mine = true;
        laz_timer_start(rest->timer, REST_MS);
    }
}

void laz_rest_end(struct laz_rest *rest)
{
    if (rest->is_mine)
        atomic_store(rest->waits, false);
    laz_timer_stop(rest->timer);
    rest->timer = NULL;
    rest->is_mine = false;
}
