/* SPDX-License-Identifier: MIT */
/* loop.c - the event loop of an engine, on libuv: steps, timers, and posts of other threads.
 *
 * Descriptors are watched in loop_epoll.c, loop_poll.c or loop_wait.c, and read and written by our
 * own code, for three reasons: the length of a line is checked before more of it is read, pipes are
 * drained to the last byte at a given moment, and writing to a closed peer must not raise SIGPIPE
 * in the application (libuv writes without MSG_NOSIGNAL). */
#include "loop/loop_uv.h"

#include "base/clock.h"
#include "os/descriptors.h"
#include "os/streams.h"

#include <stdlib.h>

#define LOOP_PIPES 4 /* eight descriptors: more than a loop needs */

struct laz_timer {
    uv_timer_t timer;
    struct laz_loop *loop;
    void (*due)(void *user);
    void *user;
    bool waits;      /* due when the held clock reaches due_us */
    uint64_t due_us; /* by the loop's clock */
};

void laz_loop_flush(struct laz_loop *loop)
{
    pthread_mutex_lock(&loop->lock);
    struct laz_post *post = loop->first;
    loop->first = NULL;
    loop->last = &loop->first;
    pthread_mutex_unlock(&loop->lock);
    while (post) {
        struct laz_post *next = post->next; /* `run` may free the post */
        post->run(post);
        post = next;
    }
}

static void loop_woken(uv_async_t *wake)
{
    laz_loop_flush(wake->data);
}

/* Checks that descriptors and memory are available before libuv makes a loop. libuv aborts the
 * process, which belongs to the application, when it gets no descriptors, or no memory for its
 * table of watchers (a pointer per descriptor number, up to the next power of two). */
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

static int loop_make(struct laz_loop *loop)
{
    int rc = uv_loop_init(&loop->uv);

    if (rc)
        return rc;
    rc = laz_loop_polls_new(loop);
    if (!rc) {
        rc = uv_async_init(&loop->uv, &loop->wake, loop_woken);
        if (!rc)
            return 0;
        laz_loop_polls_stop(loop);
        uv_run(&loop->uv, UV_RUN_DEFAULT);
    }
    laz_loop_polls_free(loop);
    uv_loop_close(&loop->uv);
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

int laz_loop_new(struct laz_loop **out, struct laz_error *err)
{
    int rc = loop_has_room(err);

    if (rc)
        return rc;
    struct laz_loop *loop = calloc(1, sizeof *loop);
    if (!loop)
        return laz_error_nomem(err);
    loop->last = &loop->first;
    pthread_mutex_init(&loop->lock, NULL);
    rc = loop_init(loop);
    if (rc) {
        pthread_mutex_destroy(&loop->lock);
        free(loop);
        return laz_error_os(err, -rc, "cannot make an event loop");
    }
    loop->wake.data = loop;
    uv_timer_init(&loop->uv, &loop->step_timer);
    loop->step_timer.data = &loop->uv; /* distinguishes it from a laz_timer */
    *out = loop;
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

void laz_loop_free(struct laz_loop *loop)
{
    if (!loop)
        return;
    laz_loop_flush(loop);
    laz_loop_polls_stop(loop);
    uv_close((uv_handle_t *)&loop->wake, NULL);
    uv_close((uv_handle_t *)&loop->step_timer, NULL);
    uv_walk(&loop->uv, loop_close_left, NULL); /* uv_run would wait for open handles */
    uv_run(&loop->uv, UV_RUN_DEFAULT);         /* frees the closed handles */
    uv_loop_close(&loop->uv);
    laz_loop_polls_free(loop);
    pthread_mutex_destroy(&loop->lock);
    free(loop);
}

/* Ends a step. Timers that are due when a step begins run before it waits, and libuv before 1.45
 * then waits nevertheless, possibly for ever; uv_stop makes it poll once and return. */
static void loop_step_timeout(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

/* What the thread of a step posts runs at the end of that step: a wake would cost three system
 * calls. No callback makes a step.  True: posts have run, so what the caller waits for may have
 * happened. */
static bool loop_begin_step(struct laz_loop *loop)
{
    pthread_mutex_lock(&loop->lock);
    const bool has_posts = loop->first;
    loop->is_stepping = true;
    loop->stepper = pthread_self();
    pthread_mutex_unlock(&loop->lock);
    laz_loop_flush(loop);
    return has_posts;
}

static void loop_end_step(struct laz_loop *loop)
{
    laz_loop_flush(loop);
    pthread_mutex_lock(&loop->lock);
    const bool has_posts = loop->first; /* of those that have run */
    loop->is_stepping = false;
    pthread_mutex_unlock(&loop->lock);
    if (has_posts)
        uv_async_send(&loop->wake);
}

void laz_loop_step(struct laz_loop *loop, uint64_t ms)
{
    if (loop_begin_step(loop))
        ms = 0;
    if (ms && ms != LAZ_LOOP_FOREVER) {
        uv_update_time(&loop->uv);
        uv_timer_start(&loop->step_timer, loop_step_timeout, ms, 0);
    }
    uv_run(&loop->uv, ms ? UV_RUN_ONCE : UV_RUN_NOWAIT);
    if (ms && ms != LAZ_LOOP_FOREVER)
        uv_timer_stop(&loop->step_timer);
    loop_end_step(loop);
}

void laz_loop_will_step(struct laz_loop *loop)
{
    pthread_mutex_lock(&loop->lock);
    loop->is_stepping = true;
    loop->stepper = pthread_self();
    pthread_mutex_unlock(&loop->lock);
}

int laz_loop_fd(const struct laz_loop *loop)
{
    return uv_backend_fd(&loop->uv);
}

int laz_loop_timeout(const struct laz_loop *loop)
{
    return uv_backend_timeout(&loop->uv);
}

unsigned laz_loop_handles(const struct laz_loop *loop)
{
    return loop->handles;
}

/* ---- watches -------------------------------------------------------------------------------- */

struct laz_io *laz_io_start(struct laz_loop *loop, int fd, uint32_t events,
                            void (*ready)(void *user, uint32_t events), void *user)
{
    struct laz_io *io = calloc(1, sizeof *io);

    if (!io)
        return NULL;
    io->loop = loop;
    io->fd = fd;
    io->events = events;
    io->ready = ready;
    io->user = user;
    if (!laz_io_open(io))
        return NULL;
    loop->handles++;
    return io;
}

void laz_io_stop(struct laz_io *io)
{
    if (!io)
        return;
    io->loop->handles--;
    io->stopped = true;
    laz_io_close(io);
}

/* ---- timers --------------------------------------------------------------------------------- */

static void timer_due(uv_timer_t *uv)
{
    struct laz_timer *timer = (struct laz_timer *)(void *)uv;

    uv_stop(uv->loop);
    timer->due(timer->user);
}

struct laz_timer *laz_timer_new(struct laz_loop *loop, void (*due)(void *user), void *user)
{
    struct laz_timer *timer = calloc(1, sizeof *timer);

    if (!timer)
        return NULL;
    timer->loop = loop;
    timer->due = due;
    timer->user = user;
    uv_timer_init(&loop->uv, &timer->timer);
    loop->handles++;
    return timer;
}

/* Starts the timer of libuv, whose clock has to be updated first: it stands still between steps. */
static void timer_start_real(struct laz_timer *timer, uint64_t ms)
{
    uv_update_time(&timer->loop->uv);
    uv_timer_start(&timer->timer, timer_due, ms, 0);
}

void laz_timer_start(struct laz_timer *timer, uint64_t ms)
{
    timer->waits = timer->loop->held && ms;
    timer->due_us = laz_loop_now_us(timer->loop) + ms * 1000;
    if (timer->waits)
        uv_timer_stop(&timer->timer);
    else
        timer_start_real(timer, ms);
}

void laz_timer_cancel(struct laz_timer *timer)
{
    timer->waits = false;
    uv_timer_stop(&timer->timer);
}

void laz_timer_stop(struct laz_timer *timer)
{
    if (!timer)
        return;
    timer->loop->handles--;
    laz_timer_cancel(timer);
    uv_close((uv_handle_t *)&timer->timer, laz_loop_closed);
}

/* ---- the clock ------------------------------------------------------------------------------ */

uint64_t laz_loop_now_us(const struct laz_loop *loop)
{
    return loop->held ? loop->now_us : laz_clock_us();
}

uint64_t laz_loop_now_ms(const struct laz_loop *loop)
{
    return laz_loop_now_us(loop) / 1000;
}

void laz_loop_hold_clock(struct laz_loop *loop)
{
    loop->now_us = laz_loop_now_us(loop);
    loop->held = true;
}

/* Finds the earliest timer that waits for a held clock. All timers of the loop but its own step
 * timer are a laz_timer. */
static void clock_find_first(uv_handle_t *handle, void *user)
{
    struct laz_timer **first = user, *timer = (struct laz_timer *)(void *)handle;

    if (handle->type == UV_TIMER && handle->data != handle->loop && timer->waits &&
        (!*first || timer->due_us < (*first)->due_us))
        *first = timer;
}

void laz_loop_advance_clock(struct laz_loop *loop, uint64_t ms)
{
    loop->now_us += ms * 1000;
    for (;;) {
        struct laz_timer *first = NULL;
        uv_walk(&loop->uv, clock_find_first, &first);
        if (!first || first->due_us > loop->now_us)
            return;
        first->waits = false;
        timer_start_real(first, 0); /* timers due at the same time fire in the order of starts */
    }
}

/* ---- other threads -------------------------------------------------------------------------- */

void laz_loop_post(struct laz_loop *loop, struct laz_post *post)
{
    post->next = NULL;
    pthread_mutex_lock(&loop->lock);
    *loop->last = post;
    loop->last = &post->next;
    const bool is_step = loop->is_stepping && pthread_equal(loop->stepper, pthread_self());
    pthread_mutex_unlock(&loop->lock);
    if (!is_step)
        uv_async_send(&loop->wake);
}

void laz_loop_wake(struct laz_loop *loop)
{
    uv_async_send(&loop->wake); /* libuv documents it as safe in a signal handler */
}
