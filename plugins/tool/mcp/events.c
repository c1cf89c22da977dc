/* SPDX-License-Identifier: MIT */
/* events.c - what arrives of a stream of events (text/event-stream), and the data of each event.
 *
 * Bytes that were taken stay in front of the others until they are the larger part.  So a byte that
 * is moved was paid for by one that was taken, however many events a piece has.
 * Side: host.  Input trusted: no (a server's bytes). */
#include "parts.h"

#include <stdlib.h>
#include <string.h>

bool mcp_events_add(struct mcp_events *events, const char *data, size_t n)
{
    const size_t left = events->len - events->at;
    size_t room = events->room ? events->room : 4096;

    if (events->at && events->at >= left) {
        memmove(events->data, events->data + events->at, left);
        events->moved += left;
        events->seen -= events->at;
        events->len = left;
        events->at = 0;
    }
    while (room < events->len + n + 1)
        room *= 2;
    char *more = room == events->room ? events->data : realloc(events->data, room);
    if (!more)
        return false;
    events->data = more;
    events->room = room;
    memcpy(more + events->len, data, n);
    events->len += n;
    more[events->len] = '\0';
    return true;
}

/* Where the first event ends; 0: it is not whole. Looks only at what is new. */
static size_t events_end(struct mcp_events *events)
{
    size_t at = events->seen > events->at + 2 ? events->seen - 2 : events->at;

    for (; at + 1 < events->len; at++) {
        const char *c = events->data + at;
        if (c[0] == '\n' && c[1] == '\n')
            return at + 2;
        if (c[0] == '\n' && c[1] == '\r' && at + 2 < events->len && c[2] == '\n')
            return at + 3;
    }
    events->seen = events->len;
    return 0;
}

size_t mcp_events_next(struct mcp_events *events, char **event, size_t *len)
{
    const size_t begin = events->at, end = events_end(events);
    size_t used = 0;

    *event = end ? malloc(end - begin + 1) : NULL;
    *len = 0;
    if (!end)
        return 0;
    events->at = events->seen = end;
    for (size_t at = begin, n; *event && at < end; at += n + 1) {
        const char *line = events->data + at;
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

void mcp_events_fini(struct mcp_events *events)
{
    free(events->data);
    *events = (struct mcp_events){0};
}
