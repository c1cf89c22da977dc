/* SPDX-License-Identifier: MIT */
/* frame.c - lines out of a stream of bytes, with a limit on each line.
 * Side: host and agent.  Input trusted: no. */
#include "wire/frame.h"

#include <string.h>

#define FRAME_KEEP ((size_t)256 << 10) /* a larger buffer is freed when it is empty */

void laz_frame_init(struct laz_frame *frame, size_t max)
{
    *frame = (struct laz_frame){.max = max};
}

void laz_frame_fini(struct laz_frame *frame)
{
    laz_buf_fini(&frame->buf);
    frame->start = frame->scanned = frame->written = 0;
}

void laz_frame_rest(struct laz_frame *frame)
{
    if (frame->start < frame->buf.len)
        return;
    frame->start = frame->scanned = 0;
    if (frame->buf.cap > FRAME_KEEP)
        laz_buf_fini(&frame->buf);
    else
        laz_buf_clear(&frame->buf);
}

char *laz_frame_room(struct laz_frame *frame, size_t want)
{
    if (frame->start == frame->buf.len) {
        laz_frame_rest(frame);
    } else if (frame->start > frame->buf.len / 2) {
        laz_buf_drop(&frame->buf, frame->start);
        frame->start = 0;
    }
    if (!laz_buf_reserve(&frame->buf, want))
        return NULL;
    return frame->buf.data + frame->buf.len;
}

void laz_frame_added(struct laz_frame *frame, size_t len)
{
    frame->buf.len += len;
    frame->buf.data[frame->buf.len] = '\0';
    if (frame->written < frame->buf.len)
        frame->written = frame->buf.len;
}

/* The buffer may have become a smaller one since. */
void laz_frame_wipe(struct laz_frame *frame)
{
    struct laz_buf *buf = &frame->buf;

    if (buf->data)
        laz_wipe(buf->data, frame->written < buf->cap ? frame->written : buf->cap);
    laz_buf_clear(buf);
    frame->start = frame->scanned = frame->written = 0;
}

int laz_frame_next(struct laz_frame *frame, char **line, size_t *len)
{
    size_t have = frame->buf.len - frame->start;

    if (!have)
        return 0;
    char *first = frame->buf.data + frame->start;
    char *newline = memchr(first + frame->scanned, '\n', have - frame->scanned);
    size_t length = newline ? (size_t)(newline - first) : have;
    if (length > frame->max)
        return LAZ_ETOOBIG;
    if (!newline) {
        frame->scanned = have;
        return 0;
    }
    *newline = '\0';
    *line = first;
    *len = length;
    frame->start += length + 1;
    frame->scanned = 0;
    return 1;
}

size_t laz_frame_partial(const struct laz_frame *frame)
{
    return frame->buf.len - frame->start;
}
