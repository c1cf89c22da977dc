/* SPDX-License-Identifier: MIT */
/* loop_uv.c - how a loop waits on macOS and Windows: with libuv, each watch a handle of its own.
 *
 * libuv aborts the process, which belongs to the application, when the first loop of the process
 * gets no descriptors, or no memory for its table of watchers.  Both are tried first; another
 * thread may still take the last of them in between (loop_epoll.c has nothing of the kind). */
#include "loop/loop_uv.h"

#include "os/descriptors.h"
#include "os/streams.h"

#include <stdlib.h>

#define LOOP_PIPES 4 /* eight descriptors: more than a loop needs */

/* A pointer per descriptor number, up to the next power of two, is libuv's table of watchers. */
static int loop_has_room(struct laz_error *err)
{
    int ends[LOOP_PIPES][2], n = 0, rc = 0, most = 0;

    for (; n < LOOP_PIPES && !(rc = laz_os_cloexec_pipe(&ends[n][0], &ends[n][1], err)); n++)
        most = ends[n][1] > most ? ends[n][1] : most;
    while (n-- > 0) {
        laz_os_close(&ends[n][0]);
        laz_os_close(&ends[n][1]);
    }
    void *table = rc ? NULL : malloc(2 * ((size_t)most + 4) * sizeof(void *));
    if (!rc && !table)
        rc = laz_error_nomem(err);
    free(table);
    return rc;
}

static void loop_woken(uv_async_t *wake)
{
    laz_loop_flush(wake->data);
}

static int loop_make(struct laz_loop *loop)
{
    int rc = uv_loop_init(&loop->polls->uv);

    if (rc)
        return rc;
    rc = uv_async_init(&loop->polls->uv, &loop->polls->wake, loop_woken);
    if (rc)
        uv_loop_close(&loop->polls->uv);
    return rc;
}

/* Makes the libuv loop while descriptors 0, 1 and 2 are in use, so that libuv gets none of them: it
 * aborts the process when it has to close one of these. Returns 0 or an error code of libuv. */
static int loop_init(struct laz_loop *loop)
{
    struct laz_held_streams held;

    if (laz_os_hold_streams(&held, NULL))
        return UV_EMFILE;
    int rc = loop_make(loop);
    laz_os_give_streams_back(&held);
    laz_os_hold_streams_in_forks(); /* must come after libuv has installed its fork handlers */
    return rc;
}

int laz_loop_polls_new(struct laz_loop *loop, struct laz_error *err)
{
    int rc = loop_has_room(err);

    if (rc)
        return rc;
    loop->polls = calloc(1, sizeof *loop->polls);
    if (!loop->polls)
        return laz_error_nomem(err);
    rc = loop_init(loop);
    if (rc) {
        free(loop->polls);
        return laz_error_os(err, -rc, "cannot make an event loop");
    }
    loop->polls->wake.data = loop;
    uv_timer_init(&loop->polls->uv, &loop->polls->timer);
    return 0;
}

void laz_loop_closed(uv_handle_t *handle)
{
    free(handle->data);
    free(handle);
}

static void loop_close_left(uv_handle_t *handle, void *user)
{
    (void)user;
    if (!uv_is_closing(handle))
        uv_close(handle, laz_loop_closed);
}

void laz_loop_polls_free(struct laz_loop *loop)
{
    struct laz_polls *polls = loop->polls;

    uv_close((uv_handle_t *)&polls->wake, NULL);
    uv_close((uv_handle_t *)&polls->timer, NULL);
    uv_walk(&polls->uv, loop_close_left, NULL); /* uv_run would wait for open handles */
    uv_run(&polls->uv, UV_RUN_DEFAULT);         /* frees the closed handles */
    uv_loop_close(&polls->uv);
    free(polls);
}

/* Timers that are due when uv_run begins run before it waits, and libuv before 1.45 then waits
 * nevertheless, possibly for ever; uv_stop makes it poll once and return. */
static void loop_timeout(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

void laz_loop_polls_wait(struct laz_loop *loop, uint64_t us)
{
    struct laz_polls *polls = loop->polls;
    const bool ends = us && us != LAZ_LOOP_FOREVER;

    if (ends) { /* one more, because libuv counts from the millisecond that has begun */
        uv_update_time(&polls->uv);
        uv_timer_start(&polls->timer, loop_timeout, laz_loop_ms(us) + 1, 0);
    }
    uv_run(&polls->uv, us ? UV_RUN_ONCE : UV_RUN_NOWAIT);
    if (ends)
        uv_timer_stop(&polls->timer);
}

void laz_loop_wake(struct laz_loop *loop)
{
    uv_async_send(&loop->polls->wake); /* libuv documents it as safe in a signal handler */
}

int laz_loop_fd(const struct laz_loop *loop)
{
    return uv_backend_fd(&loop->polls->uv);
}

bool laz_loop_has_fd(const struct laz_loop *loop)
{
    (void)loop; /* libuv ends the process when its own descriptor was closed */
    return true;
}

bool laz_loop_is_lost(const struct laz_loop *loop)
{
    (void)loop;
    return false;
}
