/* SPDX-License-Identifier: MIT */
/* lines.c - lines in, lines out, without waiting.
 * Side: host.  Input trusted: no. */
#include "lines/lines.h"

#include "os/descriptors.h"
#include "os/input.h"
#include "os/io.h"

#define LINES_READ     ((size_t)64 << 10)
#define LINES_TURN     ((size_t)1 << 20)   /* bytes that are sent to a peer in a turn of the loop */
#define LINES_KEPT     ((size_t)256 << 10) /* of memory for what is to be sent, when all of it is */
#define LINES_FLUSH_MS 500                 /* in which no peer reads any of its last lines */
#define LINES_INPUT    0
#define LINES_OUTPUT   1

size_t laz_lines_unread(const struct laz_lines *lines)
{
    return lines->unsent.len - lines->sent;
}

bool laz_lines_is_full(const struct laz_lines *lines)
{
    return laz_lines_unread(lines) > lines->quiet;
}

/* The peer is gone, or is given up. */
static void lines_give_up(struct laz_lines *lines)
{
    lines->is_ending = lines->is_gone = true;
}

/* ---- writing -------------------------------------------------------------------------------- */

static void lines_writable(void *user, uint32_t events);

/* Watches for what the peer is able to do next. */
static void lines_watch(struct laz_lines *lines)
{
    const bool reads = !lines->is_ending && !lines->has_lines && !laz_lines_is_full(lines);
    const bool writes = !lines->is_gone && laz_lines_unread(lines);
    uint32_t events = reads ? LAZ_IO_READ : 0;
    bool watched = true;

    if (lines->in == lines->out)
        events |= writes ? LAZ_IO_WRITE : 0;
    else if (writes && !lines->writing)
        watched = (lines->writing = laz_io_start(lines->loop, lines->out, LAZ_IO_WRITE,
                                                 lines_writable, lines)) != NULL;
    else if (lines->writing)
        watched = laz_io_events(lines->writing, writes ? LAZ_IO_WRITE : 0);
    if (!watched || (lines->reading && !laz_io_events(lines->reading, events)))
        lines_give_up(lines);
}

void laz_lines_flush(struct laz_lines *lines)
{
    const size_t end = lines->sent + LINES_TURN;

    while (!lines->is_gone && laz_lines_unread(lines) && lines->sent < end) {
        const char *data = lines->unsent.data + lines->sent;
        const size_t unread = laz_lines_unread(lines),
                     len = unread < LINES_TURN ? unread : LINES_TURN;
        ssize_t n = lines->is_pipe ? laz_os_send_pipe(lines->out, data, len)
                                   : laz_os_send(lines->out, data, len);
        if (n < 0)
            lines_give_up(lines);
        if (n <= 0)
            break;
        lines->sent += (size_t)n;
    }
    if (!laz_lines_unread(lines)) {
        if (lines->unsent.cap > LINES_KEPT)
            laz_buf_fini(&lines->unsent);
        laz_buf_clear(&lines->unsent);
        lines->sent = 0;
    }
}

struct laz_buf *laz_lines_add(struct laz_lines *lines)
{
    if (lines->is_gone)
        return NULL;
    if (lines->sent && lines->sent > lines->unsent.len / 2) {
        laz_buf_drop(&lines->unsent, lines->sent);
        lines->sent = 0;
    }
    return &lines->unsent;
}

void laz_lines_send(struct laz_lines *lines)
{
    if (lines->unsent.failed) /* no memory: a part of the line may be there */
        lines_give_up(lines);
    laz_lines_flush(lines);
    if (laz_lines_unread(lines) > lines->most)
        lines_give_up(lines);
    lines_watch(lines);
}

void laz_lines_take(struct laz_lines *lines, struct laz_buf *made)
{
    struct laz_buf *unsent = laz_lines_add(lines);

    if (!unsent)
        return;
    laz_buf_take(unsent, made);
    laz_lines_send(lines);
}

/* ---- reading -------------------------------------------------------------------------------- */

static bool lines_has_next(const struct laz_lines *lines)
{
    return lines->has_lines && !lines->is_ending && !laz_lines_is_full(lines);
}

int laz_lines_next(struct laz_lines *lines, char **line, size_t *len)
{
    if (!lines_has_next(lines))
        return 0;
    int rc = laz_frame_next(&lines->frame, line, len);
    lines->has_lines = rc == 1 && laz_frame_partial(&lines->frame);
    return rc;
}

void laz_lines_wipe(struct laz_lines *lines, char *line, size_t len)
{
    laz_wipe(line, len);
    lines->has_secret = lines->frame.wipes = true;
}

bool laz_lines_handled(struct laz_lines *lines)
{
    if (!lines->has_lines && lines->has_secret && !laz_frame_partial(&lines->frame)) {
        laz_frame_wipe(&lines->frame);
        lines->has_secret = false;
    }
    if (!lines->has_lines)
        laz_frame_rest(&lines->frame);
    lines_watch(lines);
    return lines_has_next(lines);
}

static void lines_read(struct laz_lines *lines)
{
    char *room = laz_frame_room(&lines->frame, LINES_READ);
    ssize_t n = room ? laz_os_read(lines->in, room, LINES_READ) : -1;

    if (n > 0) {
        laz_frame_added(&lines->frame, (size_t)n);
        lines->has_lines = true; /* maybe: the next turn finds out */
    }
    if (n < 0)
        lines->is_ending = true; /* the end of its input */
}

static void lines_ready(void *user, uint32_t events)
{
    struct laz_lines *lines = user;

    if (events & LAZ_IO_WRITE)
        laz_lines_flush(lines);
    if ((events & LAZ_IO_READ) && !lines->is_ending)
        lines_read(lines);
    if (!lines->has_lines)
        lines_watch(lines); /* else after the lines, in the same turn */
}

static void lines_writable(void *user, uint32_t events)
{
    (void)events;
    lines_ready(user, LAZ_IO_WRITE);
}

/* ---- beginning and ending ------------------------------------------------------------------- */

int laz_lines_begin(struct laz_lines *lines, struct laz_loop *loop, int in, int out,
                    size_t max_line, size_t quiet, size_t most, struct laz_error *err)
{
    lines->loop = loop;
    lines->in = in;
    lines->out = out;
    lines->quiet = quiet;
    lines->most = most;
    lines->is_pipe = laz_os_is_pipe(out);
    laz_frame_init(&lines->frame, max_line);
    lines->reading = laz_io_start(loop, in, LAZ_IO_READ, lines_ready, lines);
    if (lines->reading)
        return 0;
    int rc = laz_io_error(err, "a connection");
    laz_frame_fini(&lines->frame);
    return rc;
}

void laz_lines_end(struct laz_lines *lines)
{
    laz_io_stop(lines->reading);
    laz_io_stop(lines->writing);
    lines->reading = lines->writing = NULL;
    laz_frame_fini(&lines->frame);
    laz_buf_fini(&lines->unsent);
}

int laz_lines_take_stdio(struct laz_input **input, int *in, int *out, struct laz_error *err)
{
    *in = LINES_INPUT;
    *out = LINES_OUTPUT;
    int rc = laz_os_is_stream(*in) ? 0 : laz_input_begin(LINES_INPUT, input, in, err);
    if (!rc && laz_os_is_stream(LINES_OUTPUT))
        rc = laz_os_nonblock(LINES_OUTPUT, true, err);
    return rc;
}

void laz_lines_drain(struct laz_loop *loop, size_t (*unread)(const void *user),
                     void (*step)(void *user, uint64_t ms), void *user)
{
    size_t before, left = unread(user);

    while ((before = left) != 0) {
        const uint64_t until = laz_loop_now_ms(loop) + LINES_FLUSH_MS;
        for (uint64_t now; left == before && (now = laz_loop_now_ms(loop)) < until;) {
            step(user, until - now);
            left = unread(user);
        }
        if (left == before)
            return;
    }
}
