/* SPDX-License-Identifier: MIT */
/* channel.c - lines to and from the host, with blocking calls.
 * Side: box.  Input trusted: yes.
 *
 * Nothing is copied that need not be: a message goes out from the pieces it is made of, and a line
 * stays in the buffer it was read into. The socket raises no SIGPIPE: a dead host ends the agent in
 * order. */
#include "agent/agent.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
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

static ssize_t channel_read(const struct agent_channel *channel, void *room, size_t len, int flags)
{
    ssize_t got;

    do
        got = recv(channel->fd, room, len, flags);
    while (got < 0 && errno == EINTR);
    return got;
}

/* Reads over the rest of a line that finds no memory. What comes after it is kept. */
static int channel_pass_over(struct agent_channel *channel)
{
    const struct laz_frame *in = &channel->in;
    char chunk[CHANNEL_CHUNK];

    snprintf(channel->head, sizeof channel->head, "%.*s", (int)laz_frame_partial(in),
             in->buf.data ? in->buf.data + in->start : "");
    laz_frame_fini(&channel->in);
    for (;;) {
        ssize_t got = channel_read(channel, chunk, sizeof chunk, 0);
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

/* Waits until there is something to read, or `until` of laz_clock_ms has passed. */
static bool channel_wait(const struct agent_channel *channel, uint64_t until)
{
    struct pollfd wait = {channel->fd, POLLIN, 0};
    int n;

    do {
        uint64_t now = laz_clock_ms();
        n = poll(&wait, 1, now < until ? (int)(until - now) : 0);
    } while (n < 0 && errno == EINTR);
    return n != 0;
}

int agent_channel_line(struct agent_channel *channel, int wait_ms, char **line, size_t *len)
{
    uint64_t until = wait_ms > 0 ? laz_clock_ms() + (uint64_t)wait_ms : 0;
    int have;

    while ((have = laz_frame_next(&channel->in, line, len)) == 0) {
        if (wait_ms > 0 && !channel_wait(channel, until))
            return LAZ_ETIMEOUT;
        char *room = laz_frame_room(&channel->in, CHANNEL_READ);
        if (!room)
            return channel_pass_over(channel);
        ssize_t got = channel_read(channel, room, channel->in.buf.cap - channel->in.buf.len - 1,
                                   wait_ms < 0 ? 0 : MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) && wait_ms >= 0) {
            if (!wait_ms)
                return LAZ_ETIMEOUT;
            continue;
        }
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
