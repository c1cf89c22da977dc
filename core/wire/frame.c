/* SPDX-License-Identifier: MIT */
/* frame.c - lines out of a stream of bytes, with a limit on each line.
 * Side: host and agent.  Input trusted: no. */
#include "wire/frame.h"

#include <string.h>

#define FRAME_KEEP  ((size_t)256 << 10) /* a larger buffer is freed when it is empty */
#define FRAME_LARGE ((size_t)2 << 20)   /* what a line gets that needs a larger one */

void laz_frame_init(struct laz_frame *frame, size_t max)
{
    *frame = (struct laz_frame){.max = max};
}

/* The buffer may have become a smaller one since it was written to. */
static void frame_overwrite(struct laz_frame *frame)
{
    struct laz_buf *buf = &frame->buf;

    if (buf->data)
        laz_wipe(buf->data, frame->written < buf->cap ? frame->written : buf->cap);
    frame->written = 0;
}

static void frame_free(struct laz_frame *frame)
{
    if (frame->wipes)
        frame_overwrite(frame);
    laz_buf_fini(&frame->buf);
    frame->written = 0;
}

void laz_frame_fini(struct laz_frame *frame)
{
    frame_free(frame);
    frame->start = frame->scanned = 0;
}

void laz_frame_rest(struct laz_frame *frame)
{
    if (frame->start < frame->buf.len)
        return;
    frame->start = frame->scanned = 0;
    if (frame->buf.cap > FRAME_KEEP)
        frame_free(frame);
    else
        laz_buf_clear(&frame->buf);
}

static bool frame_reserve(struct laz_frame *frame, size_t more)
{
    struct laz_buf *buf = &frame->buf;

    if (!frame->wipes)
        return laz_buf_reserve(buf, more);
    struct laz_buf larger = LAZ_BUF_INIT;
    if (!laz_buf_reserve(&larger, buf->len + more))
        return false;
    laz_buf_append(&larger, buf->data, buf->len);
    frame_free(frame);
    *buf = larger;
    frame->written = larger.len;
    return true;
}

static bool frame_grow(struct laz_frame *frame, size_t want)
{
    struct laz_buf *buf = &frame->buf;
    const size_t most = frame->max < FRAME_LARGE ? frame->max + want : FRAME_LARGE;

    if (buf->len + want >= FRAME_KEEP && buf->len + want < most) {
        if (frame_reserve(frame, most - buf->len - 1))
            return true;
        buf->failed = false; /* there may be memory for what is read now */
    }
    return frame_reserve(frame, want);
}

char *laz_frame_room(struct laz_frame *frame, size_t want)
{
    const struct laz_buf *buf = &frame->buf;

    if (frame->start == buf->len) {
        laz_frame_rest(frame);
    } else if (frame->start > buf->len / 2) {
        laz_buf_drop(&frame->buf, frame->start);
        frame->start = 0;
    }
    const bool fits = buf->cap > buf->len && buf->cap - buf->len > want;
    if (!fits && !frame_grow(frame, want))
        return NULL;
    return buf->data + buf->len;
}

void laz_frame_added(struct laz_frame *frame, size_t len)
{
    frame->buf.len += len;
    frame->buf.data[frame->buf.len] = '\0';
    if (frame->written < frame->buf.len)
        frame->written = frame->buf.len;
}

void laz_frame_wipe(struct laz_frame *frame)
{
    frame_overwrite(frame);
    laz_buf_clear(&frame->buf);
    frame->start = frame->scanned = 0;
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
