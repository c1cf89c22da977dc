/* SPDX-License-Identifier: MIT */
/* channel.c - lines to and from the host, with blocking calls.
 * Side: box.  Input trusted: yes.
 *
 * Nothing is copied that need not be: a message goes out from the pieces it is made of, and a line
 * stays in the buffer it was read into. The socket raises no SIGPIPE: a dead host ends the agent in
 * order. */
#include "agent/agent.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHANNEL_READ  (64u * 1024)
#define CHANNEL_CHUNK (16u * 1024) /* on the stack, where there is no other memory */

bool agent_channel_send(struct agent_channel *channel, struct iovec *parts, size_t n)
{
    while (n) {
        struct msghdr message = {.msg_iov = parts, .msg_iovlen = n};
        ssize_t sent = sendmsg(channel->fd, &message, MSG_NOSIGNAL);
        if (sent < 0) {
            if (errno == EINTR)
                continue;
            return false;
        }
        size_t left = (size_t)sent;
        while (n && left >= parts->iov_len) {
            left -= parts->iov_len;
            parts++;
            n--;
        }
        if (n) {
            parts->iov_base = (char *)parts->iov_base + left;
            parts->iov_len -= left;
        }
    }
    return true;
}

static ssize_t channel_read(const struct agent_channel *channel, void *room, size_t len)
{
    ssize_t got;

    do
        got = read(channel->fd, room, len);
    while (got < 0 && errno == EINTR);
    return got;
}

/* Reads over the rest of a line that finds no memory. What comes after it is kept. */
static int channel_pass_over(struct agent_channel *channel)
{
    char chunk[CHANNEL_CHUNK];

    laz_frame_fini(&channel->in);
    for (;;) {
        ssize_t got = channel_read(channel, chunk, sizeof chunk);
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

int agent_channel_line(struct agent_channel *channel, char **line, size_t *len)
{
    int have;

    while ((have = laz_frame_next(&channel->in, line, len)) == 0) {
        char *room = laz_frame_room(&channel->in, CHANNEL_READ);
        if (!room)
            return channel_pass_over(channel);
        ssize_t got = channel_read(channel, room, channel->in.buf.cap - channel->in.buf.len - 1);
        if (got <= 0)
            return LAZ_ECLOSED;
        laz_frame_added(&channel->in, (size_t)got);
    }
    return have > 0 ? 0 : have;
}

void agent_channel_fini(struct agent_channel *channel)
{
    if (channel->fd >= 0)
        close(channel->fd);
    channel->fd = -1;
    laz_frame_fini(&channel->in);
}
