/* SPDX-License-Identifier: MIT */
/* loop_epoll.c - watched descriptors on Linux: our own epoll(7) descriptor, which one handle of
 * libuv watches.
 *
 * The kernel counts watches per user, in all namespaces together (fs.epoll.max_user_watches,
 * epoll(7)), so untrusted code that runs with the host's uid can use them up.  libuv adds a watch
 * in the middle of a wait and aborts the process, which belongs to the application, if the kernel
 * refuses it (uv__io_poll).  So every watch is added here, where a refusal is reported to the
 * caller.  A paused watch stays registered with an empty event mask, since changing a mask cannot
 * fail for lack of resources.  The three watches that libuv needs itself are added before libuv
 * would do so (polls_of_libuv); it accepts an existing one as its own. */
#include "loop/loop_uv.h"

#include "os/descriptors.h"
#include "os/epoll.h"

#include <errno.h>
#include <stdlib.h>

#define POLLS_BATCH 64

struct laz_polls {
    uv_poll_t below; /* must be first: libuv's pointer to it is cast */
    int fd;
    struct laz_io *all;
    struct laz_io *dead;  /* stopped while events are dispatched, one of which may be its own */
    struct laz_io *stuck; /* stopped, but epoll still refers to them: freed with the loop */
    unsigned dispatching; /* calls of polls_ready in progress */
};

/* ---- events --------------------------------------------------------------------------------- */

static void polls_free(struct laz_io **list)
{
    while (*list) {
        struct laz_io *io = *list;
        *list = io->next;
        free(io);
    }
}

/* Dispatches one batch of events. Further ones follow in the next turn, after the loop's other
 * events. */
static void polls_ready(uv_poll_t *below, int status, int uv_events)
{
    struct laz_polls *polls = (struct laz_polls *)(void *)below;
    struct laz_epoll_event events[POLLS_BATCH];

    (void)status, (void)uv_events;
    size_t n = laz_os_epoll_told(polls->fd, events, POLLS_BATCH);
    polls->dispatching++;
    for (size_t i = 0; i < n; i++) {
        struct laz_io *io = events[i].user;
        uint32_t ready = (events[i].read ? LAZ_IO_READ : 0) | (events[i].write ? LAZ_IO_WRITE : 0) |
                         (events[i].urgent ? LAZ_IO_URGENT : 0);
        if (!io->stopped && (ready & io->events)) /* earlier callbacks may have changed both */
            io->ready(io->user, ready & io->events);
    }
    if (!--polls->dispatching)
        polls_free(&polls->dead);
}

/* ---- watches -------------------------------------------------------------------------------- */

static struct laz_epoll_wish polls_wish(uint32_t events)
{
    return (struct laz_epoll_wish){.read = events & LAZ_IO_READ,
                                   .write = events & LAZ_IO_WRITE,
                                   .urgent = events & LAZ_IO_URGENT};
}

bool laz_io_open(struct laz_io *io)
{
    struct laz_polls *polls = io->loop->polls;

    if (!laz_os_epoll_add(polls->fd, io->fd, polls_wish(io->events), io)) {
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
    if (!laz_os_epoll_change(io->loop->polls->fd, io->fd, polls_wish(events), io))
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

/* Adds the watches that libuv would add in its first wait: for our descriptor, for uv_async_send
 * and for signals. */
static int polls_of_libuv(const struct laz_loop *loop)
{
    const int fds[] = {loop->polls->fd, loop->uv.async_io_watcher.fd, loop->uv.signal_pipefd[0]};

    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
        if (!laz_os_epoll_add(uv_backend_fd(&loop->uv), fds[i],
                              (struct laz_epoll_wish){.read = true}, NULL))
            return uv_translate_sys_error(errno);
    }
    return 0;
}

void laz_loop_polls_stop(struct laz_loop *loop)
{
    uv_close((uv_handle_t *)&loop->polls->below, NULL);
}

int laz_loop_polls_new(struct laz_loop *loop)
{
    struct laz_polls *polls = calloc(1, sizeof *polls);

    if (!polls)
        return UV_ENOMEM;
    loop->polls = polls;
    polls->fd = laz_os_epoll_new();
    int rc = polls->fd < 0 ? uv_translate_sys_error(errno) : polls_of_libuv(loop);
    if (!rc)
        rc = uv_poll_init(&loop->uv, &polls->below, polls->fd);
    if (rc)
        return rc;
    rc = uv_poll_start(&polls->below, UV_READABLE, polls_ready);
    if (rc) {
        laz_loop_polls_stop(loop);
        uv_run(&loop->uv, UV_RUN_DEFAULT);
    }
    return rc;
}

void laz_loop_polls_free(struct laz_loop *loop)
{
    struct laz_polls *polls = loop->polls;

    if (!polls)
        return;
    polls_free(&polls->all); /* not stopped by their owners */
    polls_free(&polls->stuck);
    laz_os_close(&polls->fd);
    free(polls);
    loop->polls = NULL;
}
