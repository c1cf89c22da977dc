/* SPDX-License-Identifier: MIT */
/* stream.c - what arrives in pieces, and the lines in it, or the events of a text/event-stream.
 *
 * Bytes that were taken stay in front of the others until they are the larger part.  So a byte that
 * is moved was paid for by one that was taken, however many lines a piece has.
 * Side: host.  Input trusted: no (a server's bytes). */
#include "mcp_private.h"

#include <stdlib.h>
#include <string.h>

bool mcp_stream_add(struct mcp_stream *stream, const char *data, size_t n)
{
    const size_t left = stream->len - stream->at;
    size_t room = stream->room ? stream->room : 4096;

    if (stream->at && stream->at >= left) {
        memmove(stream->data, stream->data + stream->at, left);
        stream->moved += left;
        stream->seen -= stream->at;
        stream->len = left;
        stream->at = 0;
    }
    while (room < stream->len + n + 1)
        room *= 2;
    char *more = room == stream->room ? stream->data : realloc(stream->data, room);
    if (!more)
        return false;
    stream->data = more;
    stream->room = room;
    memcpy(more + stream->len, data, n);
    stream->len += n;
    more[stream->len] = '\0';
    return true;
}

/* Where the first event ends; 0: it is not whole. Looks only at what is new. */
static size_t stream_event_end(struct mcp_stream *stream)
{
    size_t at = stream->seen > stream->at + 2 ? stream->seen - 2 : stream->at;

    for (; at + 1 < stream->len; at++) {
        const char *c = stream->data + at;
        if (c[0] == '\n' && c[1] == '\n')
            return at + 2;
        if (c[0] == '\n' && c[1] == '\r' && at + 2 < stream->len && c[2] == '\n')
            return at + 3;
    }
    stream->seen = stream->len;
    return 0;
}

size_t mcp_stream_event(struct mcp_stream *stream, char **event, size_t *len)
{
    const size_t begin = stream->at, end = stream_event_end(stream);
    size_t used = 0;

    *event = end ? malloc(end - begin + 1) : NULL;
    *len = 0;
    if (!end)
        return 0;
    stream->at = stream->seen = end;
    for (size_t at = begin, n; *event && at < end; at += n + 1) {
        const char *line = stream->data + at;
        n = (size_t)((const char *)memchr(line, '\n', end - at) - line);
        if (n < 5 || memcmp(line, "data:", 5) != 0)
            continue;
        const size_t skipped = 5 + (n > 5 && line[5] == ' ');
        const size_t wanted = n - skipped - (n > skipped && line[n - 1] == '\r');
        if (used)
            (*event)[used++] = '\n';
        memcpy(*event + used, line + skipped, wanted);
        used += wanted;
    }
    if (*event)
        (*event)[used] = '\0';
    *len = used;
    return end - begin;
}

size_t mcp_stream_line(struct mcp_stream *stream, size_t most, const char **line, size_t *len)
{
    const size_t from = stream->seen > stream->at ? stream->seen : stream->at;
    const char *newline =
        stream->len > from ? memchr(stream->data + from, '\n', stream->len - from) : NULL;
    const size_t left = stream->len - stream->at;

    *len = newline ? (size_t)(newline - stream->data) - stream->at : left < most ? left : most;
    *line = stream->data + stream->at;
    stream->seen = stream->len;
    if (!newline && (!left || left < most))
        return 0;
    stream->at += *len + (newline != NULL);
    if (newline)
        stream->seen = stream->at;
    return *len + (newline != NULL);
}

void mcp_stream_fini(struct mcp_stream *stream)
{
    free(stream->data);
    *stream = (struct mcp_stream){0};
}
