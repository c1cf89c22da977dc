/* SPDX-License-Identifier: MIT */
/* loop.c - the event loop of an engine: its steps, its watches, and posts of other threads.
 *
 * Descriptors are read and written by our own code, for three reasons: the length of a line is
 * checked before more of it is read, pipes are drained to the last byte at a given moment, and
 * writing to a closed peer must not raise SIGPIPE in the application (libuv writes without
 * MSG_NOSIGNAL). */
#include "loop/loop_private.h"

#include <errno.h>
#include <stdlib.h>

int laz_loop_new(struct laz_loop **out, struct laz_error *err)
{
    struct laz_loop *loop = calloc(1, sizeof *loop);

    if (!loop)
        return laz_error_nomem(err);
    loop->last = &loop->first;
    int rc = laz_loop_polls_new(loop, err);
    if (rc) {
        free(loop);
        return rc;
    }
    pthread_mutex_init(&loop->lock, NULL);
    *out = loop;
    return 0;
}

void laz_loop_free(struct laz_loop *loop)
{
    if (!loop)
        return;
    laz_loop_flush(loop);
    laz_loop_polls_free(loop);
    laz_timers_free(loop);
    pthread_mutex_destroy(&loop->lock);
    free(loop);
}

unsigned laz_loop_handles(const struct laz_loop *loop)
{
    return loop->handles;
}

/* ---- steps ---------------------------------------------------------------------------------- */

void laz_loop_will_step(struct laz_loop *loop)
{
    pthread_mutex_lock(&loop->lock);
    loop->is_stepping = true;
    loop->stepper = pthread_self();
    pthread_mutex_unlock(&loop->lock);
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
        laz_loop_wake(loop);
}

void laz_loop_step(struct laz_loop *loop, uint64_t ms)
{
    const bool has_run = loop_begin_step(loop);
    const uint64_t starts = loop->starts;
    const bool was_due = laz_timers_run(loop, starts);
    uint64_t us = ms < LAZ_LOOP_FOREVER / 1000 ? ms * 1000 : LAZ_LOOP_FOREVER;
    const uint64_t first = laz_timers_wait(loop);

    us = has_run || was_due ? 0 : us < first ? us : first;
    laz_loop_polls_wait(loop, us);
    (void)laz_timers_run(loop, starts);
    loop_end_step(loop);
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

int laz_io_error(struct laz_error *err, const char *what)
{
    const int failed = errno;

    if (failed == ENOSPC) /* epoll_ctl(2) */
        return laz_error_set(err, LAZ_EOS, failed,
                             "%s cannot be watched: this user has as many watches as it may have "
                             "(fs.epoll.max_user_watches)",
                             what);
    return laz_error_os(err, failed, "%s cannot be watched", what);
}

void laz_io_stop(struct laz_io *io)
{
    if (!io)
        return;
    io->loop->handles--;
    io->stopped = true;
    laz_io_close(io);
}

/* ---- other threads -------------------------------------------------------------------------- */

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

void laz_loop_post(struct laz_loop *loop, struct laz_post *post)
{
    post->next = NULL;
    pthread_mutex_lock(&loop->lock);
    *loop->last = post;
    loop->last = &post->next;
    const bool is_step = loop->is_stepping && pthread_equal(loop->stepper, pthread_self());
    pthread_mutex_unlock(&loop->lock);
    if (!is_step)
        laz_loop_wake(loop);
}
