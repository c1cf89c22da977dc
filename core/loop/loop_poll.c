/* SPDX-License-Identifier: MIT */
/* loop_poll.c - watched descriptors on systems where libuv can poll them and the kernel sets no
 * limit of watches per user (macOS). */
#include "loop/loop_uv.h"

#include <errno.h>
#include <stdlib.h>

static void io_ready(uv_poll_t *poll, int status, int events)
{
    struct laz_io *io = poll->data;
    uint32_t ready = 0;

    if (status < 0) /* the owner's read or write will report the error */
        ready = LAZ_IO_READ | LAZ_IO_WRITE;
    if (events & (UV_READABLE | UV_DISCONNECT))
        ready |= LAZ_IO_READ;
    if (events & UV_WRITABLE)
        ready |= LAZ_IO_WRITE;
    io->ready(io->user, ready);
}

static int io_set(struct laz_io *io, uint32_t events)
{
    uv_poll_t *poll = (uv_poll_t *)io->handle;
    int mask = 0;

    if (events & LAZ_IO_READ)
        mask |= UV_READABLE;
    if (events & LAZ_IO_WRITE)
        mask |= UV_WRITABLE;
    return mask ? uv_poll_start(poll, mask, io_ready) : uv_poll_stop(poll);
}

bool laz_io_open(struct laz_io *io)
{
    uv_poll_t *poll = calloc(1, sizeof *poll);

    if (!poll || uv_poll_init(&io->loop->polls->uv, poll, io->fd)) {
        free(poll);
        free(io);
        return false;
    }
    poll->data = io;
    io->handle = poll;
    if (!io_set(io, io->events))
        return true;
    laz_io_close(io);
    return false;
}

bool laz_io_events(struct laz_io *io, uint32_t events)
{
    int rc = io_set(io, events);

    errno = rc ? EIO : 0;
    return rc == 0;
}

void laz_io_close(struct laz_io *io)
{
    uv_poll_stop((uv_poll_t *)io->handle);
    uv_close(io->handle, laz_loop_closed);
}
