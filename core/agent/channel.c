/* SPDX-License-Identifier: MIT */
/* channel.c - lines to and from the host, with blocking calls.
 * Side: box.  Input trusted: yes.
 *
 * Large values are not copied: a message is sent from the pieces it consists of, and a line stays
 * in the buffer it was read into.  The socket raises no SIGPIPE, so the agent ends in order when
 * its host is gone. */
#include "agent/agent.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CHANNEL_READ  (64u * 1024)
#define CHANNEL_CHUNK (16u * 1024) /* on the stack, for when there is no other memory */

/* Skips the rest of a line for which there is no memory. What comes after it is kept. */
static int channel_skip_line(struct agent_channel *channel)
{
    const struct laz_frame *in = &channel->in;
    char chunk[CHANNEL_CHUNK];

    snprintf(channel->head, sizeof channel->head, "%.*s", (int)laz_frame_partial(in),
             in->buf.data ? in->buf.data + in->start : "");
    laz_frame_fini(&channel->in);
    for (;;) {
        ssize_t got = laz_os_read_within(channel->fd, chunk, sizeof chunk, -1);
        if (got <= 0)
            return LAZ_ECLOSED;
        const char *end = memchr(chunk, '\n', (size_t)got);
        if (!end)
            continue;
        size_t rest = (size_t)got - (size_t)(end + 1 - chunk);
        char *room = laz_frame_room(&channel->in, rest);
        if (!room)
            return LAZ_ECLOSED;
        memcpy(room, end + 1, rest);
        laz_frame_added(&channel->in, rest);
        return LAZ_ENOMEM;
    }
}

int agent_channel_line(struct agent_channel *channel, int wait_ms, char **line, size_t *len)
{
    uint64_t until = wait_ms > 0 ? laz_clock_ms() + (uint64_t)wait_ms : 0;
    int have;

    while ((have = laz_frame_next(&channel->in, line, len)) == 0) {
        char *room = laz_frame_room(&channel->in, CHANNEL_READ);
        if (!room)
            return channel_skip_line(channel);
        uint64_t now = wait_ms > 0 ? laz_clock_ms() : 0;
        ssize_t got =
            laz_os_read_within(channel->fd, room, channel->in.buf.cap - channel->in.buf.len - 1,
                               wait_ms < 0   ? -1
                               : now < until ? (int)(until - now)
                                             : 0);
        if (got < 0)
            return LAZ_ETIMEOUT;
        if (got == 0)
            return LAZ_ECLOSED;
        laz_frame_added(&channel->in, (size_t)got);
    }
    channel->was_large |= have > 0 && *len >= AGENT_LARGE;
    return have > 0 ? 0 : have;
}

_Noreturn void agent_hang_up(int why)
{
    if (why == LAZ_ECLOSED)
        _exit(0);
    fputs("lazaret-agent: a line of the host is too long\n", stderr);
    _exit(AGENT_EXIT_SETUP);
}

_Noreturn void agent_refuse(const struct laz_error *err)
{
    fprintf(stderr, "lazaret-agent: refused a message of the host (protocol %d): %s\n",
            LAZ_PROTOCOL, err->text);
    _exit(AGENT_EXIT_SETUP);
}
