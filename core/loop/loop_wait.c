/* SPDX-License-Identifier: MIT */
/* loop_wait.c - watched descriptors on systems that have no poll for all of them (Windows).
 *
 * A thread of the system waits and wakes the loop; the loop checks what is ready, calls the owner,
 * and starts the next wait while events are watched.  So an event that was not handled is reported
 * again, as poll(2) does. */
#include "loop/loop_uv.h"

#include "os/wait.h"

#include <stdlib.h>

/* Any thread. */
static void io_wake(void *user)
{
    struct laz_io *io = user;

    uv_async_send((uv_async_t *)io->handle);
}

static void io_arm(struct laz_io *io)
{
    if (io->events)
        laz_wait_arm(io->wait, (io->events & LAZ_IO_READ) != 0, (io->events & LAZ_IO_WRITE) != 0);
}

static void io_woken(uv_async_t *async)
{
    struct laz_io *io = async->data;
    uint32_t ready = 0;

    if (io->stopped)
        return;
    if ((io->events & LAZ_IO_READ) && laz_wait_is_ready(io->wait, false))
        ready |= LAZ_IO_READ;
    if ((io->events & LAZ_IO_WRITE) && laz_wait_is_ready(io->wait, true))
        ready |= LAZ_IO_WRITE;
    if (ready)
        io->ready(io->user, ready); /* may stop `io`, which is freed later */
    if (!io->stopped)
        io_arm(io);
}

bool laz_io_open(struct laz_io *io)
{
    uv_async_t *woken = calloc(1, sizeof *woken);

    io->handle = woken;
    io->wait = woken ? laz_wait_new(io->fd, io_wake, io) : NULL;
    if (!io->wait || uv_async_init(&io->loop->polls->uv, woken, io_woken)) {
        laz_wait_free(io->wait);
        free(woken);
        free(io);
        return false;
    }
    woken->data = io;
    io_arm(io);
    return true;
}

bool laz_io_events(struct laz_io *io, uint32_t events)
{
    io->events = events;
    io_arm(io);
    return true;
}

void laz_io_close(struct laz_io *io)
{
    laz_wait_free(io->wait);
    uv_close(io->handle, laz_loop_closed);
}
