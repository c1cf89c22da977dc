/* SPDX-License-Identifier: MIT */
/* loop_epoll.c - how a loop waits on Linux: an epoll(7) set of our own, and no libuv.
 *
 * The process belongs to the application, so no shortage may end it.  libuv aborts it: in the first
 * loop of a process when there is no pipe or no memory (uv__signal_global_init), whatever was
 * reserved before, and in a wait when the kernel refuses a watch (uv__io_poll).  Watches are
 * counted per user, in all namespaces together (fs.epoll.max_user_watches), so untrusted code that
 * runs with the host's uid can use them up, and uv_poll_init gives one back that was taken before.
 * Here all that a loop needs is taken when it is made, and what is refused later is an error of the
 * caller that asked for a watch.  A paused watch stays registered with an empty event mask, since
 * changing a mask cannot fail for lack of resources.
 *
 * The application gets another name of the set (`lent`): what it does with that number, such as
 * closing it by mistake, harms no wait. */
#include "loop/loop_private.h"

#include "base/clock.h"
#include "os/descriptors.h"
#include "os/epoll.h"
#include "os/io.h"
#include "os/wake.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#define POLLS_BATCH   64
#define POLLS_LOST_MS 1 /* a wait that is impossible takes so long */

struct laz_polls {
    int fd;
    int lent;          /* the same set, for the application */
    int wake;          /* in the set, as the watch NULL */
    atomic_bool woken; /* `wake` is readable, or about to be: another write is not needed */
    struct laz_io *all;
    struct laz_io *dead;  /* stopped while events are dispatched, one of which may be its own */
    struct laz_io *stuck; /* stopped, but epoll still refers to them: freed with the loop */
    unsigned dispatching; /* calls of polls_dispatch in progress */
};

_Static_assert(LAZ_IO_READ == LAZ_EPOLL_READ && LAZ_IO_WRITE == LAZ_EPOLL_WRITE &&
                   LAZ_IO_URGENT == LAZ_EPOLL_URGENT,
               "events of the loop are those of the set");

/* ---- events --------------------------------------------------------------------------------- */

static void polls_free(struct laz_io **list)
{
    while (*list) {
        struct laz_io *io = *list;
        *list = io->next;
        free(io);
    }
}

/* Whatever was posted before `woken` is false again is flushed; whoever posts later, wakes. */
static void polls_woken(struct laz_loop *loop)
{
    laz_os_wake_clear(loop->polls->wake);
    atomic_store(&loop->polls->woken, false);
    laz_loop_flush(loop);
}

static void polls_dispatch(struct laz_loop *loop, const struct laz_epoll_event *events, size_t n)
{
    struct laz_polls *polls = loop->polls;

    polls->dispatching++;
    for (size_t i = 0; i < n; i++) {
        struct laz_io *io = events[i].user;
        if (!io)
            polls_woken(loop);
        else if (!io->stopped && (events[i].ready & io->events)) /* callbacks may change both */
            io->ready(io->user, events[i].ready & io->events);
    }
    if (!--polls->dispatching)
        polls_free(&polls->dead);
}

/* Handles one batch. Further events follow in the next step. */
void laz_loop_polls_wait(struct laz_loop *loop, uint64_t us)
{
    const uint64_t now = us ? laz_clock_us() : 0;
    const uint64_t until = us < UINT64_MAX - now ? now + us : UINT64_MAX;
    struct laz_epoll_event events[POLLS_BATCH];
    uint64_t left = us;
    int n;

    while ((n = laz_os_epoll_wait(loop->polls->fd, events, POLLS_BATCH, left)) < 0 &&
           errno == EINTR && left) {
        uint64_t at = laz_clock_us();
        left = until == UINT64_MAX ? UINT64_MAX : at < until ? until - at : 0;
    }
    if (n < 0 && left) /* the application has closed it; timers have to be due nevertheless */
        (void)laz_os_await(-1, POLLS_LOST_MS);
    polls_dispatch(loop, events, n > 0 ? (size_t)n : 0);
}

void laz_loop_wake(struct laz_loop *loop)
{
    if (!atomic_exchange(&loop->polls->woken, true))
        laz_os_wake(loop->polls->wake);
}

/* ---- watches -------------------------------------------------------------------------------- */

bool laz_io_open(struct laz_io *io)
{
    struct laz_polls *polls = io->loop->polls;

    if (!laz_os_epoll_add(polls->fd, io->fd, io->events, io)) {
        free(io);
        return false;
    }
    io->next = polls->all;
    if (io->next)
        io->next->previous = io;
    polls->all = io;
    return true;
}

bool laz_io_events(struct laz_io *io, uint32_t events)
{
    if (io->events == events)
        return true;
    if (!laz_os_epoll_change(io->loop->polls->fd, io->fd, events, io))
        return false;
    io->events = events;
    return true;
}

void laz_io_close(struct laz_io *io)
{
    struct laz_polls *polls = io->loop->polls;
    struct laz_io **list = laz_os_epoll_remove(polls->fd, io->fd) ? &polls->dead : &polls->stuck;
    *(io->previous ? &io->previous->next : &polls->all) = io->next;
    if (io->next)
        io->next->previous = io->previous;
    io->next = *list;
    *list = io;
    if (!polls->dispatching)
        polls_free(&polls->dead);
}

/* ---- per loop ------------------------------------------------------------------------------- */

int laz_loop_fd(const struct laz_loop *loop)
{
    return loop->polls->lent;
}

/* Only our set knows the wake, so this tells the number that is ours from one that is closed and
 * from one that is something else now. */
static bool polls_is_ours(const struct laz_polls *polls, int fd)
{
    return laz_os_epoll_has(fd, polls->wake, LAZ_EPOLL_READ, NULL);
}

bool laz_loop_has_fd(const struct laz_loop *loop)
{
    return polls_is_ours(loop->polls, loop->polls->lent);
}

bool laz_loop_is_lost(const struct laz_loop *loop)
{
    return !polls_is_ours(loop->polls, loop->polls->fd);
}

void laz_loop_polls_free(struct laz_loop *loop)
{
    struct laz_polls *polls = loop->polls;

    polls_free(&polls->all); /* not stopped by their owners */
    polls_free(&polls->dead);
    polls_free(&polls->stuck);
    if (laz_loop_has_fd(loop))
        laz_os_close(&polls->lent);
    laz_os_close(&polls->wake);
    laz_os_close(&polls->fd);
    free(polls);
}

int laz_loop_polls_new(struct laz_loop *loop, struct laz_error *err)
{
    struct laz_polls *polls = calloc(1, sizeof *polls);

    if (!polls)
        return laz_error_nomem(err);
    loop->polls = polls;
    polls->fd = laz_os_epoll_new();
    polls->lent = polls->fd < 0 ? -1 : laz_os_epoll_again(polls->fd);
    polls->wake = polls->lent < 0 ? -1 : laz_os_wake_new();
    if (polls->wake >= 0 && laz_os_epoll_add(polls->fd, polls->wake, LAZ_EPOLL_READ, NULL))
        return 0;
    int rc = polls->wake < 0 ? laz_error_os(err, errno, "cannot make an event loop")
                             : laz_io_error(err, "the wake of an event loop");
    laz_os_close(&polls->lent);
    laz_loop_polls_free(loop);
    return rc;
}
