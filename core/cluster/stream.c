/* SPDX-License-Identifier: MIT */
/* stream.c - a link that is driven: its clock, its bus, and lines on descriptors.
 * Side: host.  Input trusted: no (lines of either side; frames are judged by the link).
 *
 * What this side does not read is not credited to the peer, and what the peer does not read is not
 * read from this side: so neither fills this process. */
#include "cluster/stream.h"

#include "base/container.h"
#include "os/descriptors.h"
#include "os/io.h"

#include <stdlib.h>
#include <string.h>

#define STREAM_READ  ((size_t)64 << 10)
#define STREAM_LINES 64                  /* of this side in a turn */
#define STREAM_FULL  ((size_t)4 << 20)   /* that wait for the peer: no more is read */
#define STREAM_KEPT  ((size_t)256 << 10) /* of memory, when all of it is read */

struct laz_stream {
    struct laz_loop *loop;
    struct laz_bus *bus;
    struct laz_link link;
    struct laz_stream_owner owner;
    char to[LAZ_SUBJECT_SIZE], here[LAZ_SUBJECT_SIZE];
    int in, out;
    struct laz_io *in_io, *out_io; /* the first alone where they are the same */
    uint32_t in_watched, out_watched;
    struct laz_timer *timer;
    struct laz_frame frame; /* lines of this side */
    struct laz_buf unread;  /* lines for this side */
    size_t sent;            /* bytes of it */
    bool has_lines;         /* of this side, maybe */
    bool in_ended, in_told; /* nothing more is read there, and the link knows */
    bool is_gone;           /* the other end of `in`: what it has left is read without a watch */
    bool is_pipe, is_over;
};

static void stream_turn(struct laz_stream *stream);

static uint64_t stream_now(const struct laz_stream *stream)
{
    return laz_loop_now_ms(stream->loop);
}

/* ---- to this side -----------------------------------------------------------------------------
 */

static void stream_add(struct laz_stream *stream, const char *line, size_t len)
{
    laz_buf_append(&stream->unread, line, len);
    laz_buf_putc(&stream->unread, '\n');
}

/* Writes what is taken now; false: nobody reads any more. */
static bool stream_flush(struct laz_stream *stream)
{
    while (stream->sent < stream->unread.len) {
        const char *data = stream->unread.data + stream->sent;
        const size_t len = stream->unread.len - stream->sent;
        const ssize_t n = stream->is_pipe ? laz_os_send_pipe(stream->out, data, len)
                                          : laz_os_send(stream->out, data, len);
        if (n < 0)
            return false;
        if (n == 0)
            break;
        stream->sent += (size_t)n;
    }
    if (stream->sent == stream->unread.len) {
        if (stream->unread.cap > STREAM_KEPT)
            laz_buf_fini(&stream->unread);
        laz_buf_clear(&stream->unread);
        stream->sent = 0;
    }
    return true;
}

/* ---- the link ---------------------------------------------------------------------------------
 */

static void stream_step(struct laz_stream *stream, const struct laz_link_event *event)
{
    laz_link_step(&stream->link, stream_now(stream), event);
}

static void stream_send(struct laz_stream *stream, const struct laz_carrier_frame *frame)
{
    struct laz_buf bytes = LAZ_BUF_INIT;

    laz_carrier_make(frame, &bytes);
    if (!bytes.failed) /* one that is lost shows by its number */
        (void)laz_bus_send(stream->bus, stream->to, stream->here, bytes.data, bytes.len, NULL);
    laz_buf_fini(&bytes);
}

static bool stream_passes(const struct laz_stream *stream, bool to_peer, const char *line,
                          size_t len)
{
    return !stream->owner.passes || stream->owner.passes(stream->owner.user, to_peer, line, len);
}

static bool stream_gives(struct laz_stream *stream, const char *line, size_t len)
{
    if (stream->owner.line)
        return stream->owner.line(stream->owner.user, line, len);
    if (!stream_passes(stream, false, line, len))
        return false;
    stream_add(stream, line, len);
    return true;
}

/* Does what there is to do. True: the link has ended, for *reason. */
static bool stream_act(struct laz_stream *stream, enum laz_link_reason *reason)
{
    struct laz_link_action action;

    while (laz_link_next(&stream->link, stream_now(stream), &action)) {
        if (action.type == LAZ_LINK_SEND) {
            stream_send(stream, &action.frame);
        } else if (action.type == LAZ_LINK_LINE) {
            if (!stream_gives(stream, action.line, action.len))
                stream_step(stream, &(struct laz_link_event){.type = LAZ_LINK_ON_END,
                                                             .reason = LAZ_LINK_PROTOCOL_ERROR});
        } else {
            *reason = action.reason;
            return true;
        }
    }
    return false;
}

/* The peer may send as much as this side has read. A line counts when all before it is read. */
static void stream_credit(struct laz_stream *stream)
{
    if (stream->sent == stream->unread.len && stream->link.unread)
        stream_step(stream, &(struct laz_link_event){.type = LAZ_LINK_ON_READ,
                                                     .bytes = stream->link.unread});
}

/* ---- from this side ---------------------------------------------------------------------------
 */

static void stream_read(struct laz_stream *stream)
{
    char *room = laz_frame_room(&stream->frame, STREAM_READ);
    const ssize_t n = room ? laz_os_read(stream->in, room, STREAM_READ) : -1;

    if (n > 0)
        laz_frame_added(&stream->frame, (size_t)n);
    stream->has_lines |= n > 0;
    stream->in_ended |= n < 0;
}

/* May more come from this side? What has come is with the link, and that has room. */
static bool stream_may_read(const struct laz_stream *stream)
{
    return !stream->in_ended && !stream->has_lines && laz_link_waiting(&stream->link) < STREAM_FULL;
}

/* A line was not taken, unless rc is 0. */
static void stream_refuse(struct laz_stream *stream, int rc)
{
    if (rc && rc != LAZ_ECLOSED)
        stream_step(stream,
                    &(struct laz_link_event){.type = LAZ_LINK_ON_END,
                                             .reason = rc == LAZ_ENOMEM ? LAZ_LINK_NO_MEMORY
                                                                        : LAZ_LINK_TOO_LARGE});
}

/* Gives the link the lines that have come, as far as the peer reads. */
static void stream_write(struct laz_stream *stream)
{
    char *line;
    size_t len;
    int rc = 0;

    for (int i = 0; i < STREAM_LINES && !rc && laz_link_waiting(&stream->link) < STREAM_FULL; i++) {
        const int found = laz_frame_next(&stream->frame, &line, &len);
        stream->has_lines = found == 1;
        if (found == 0)
            return;
        if (found < 0 || (len && !stream_passes(stream, true, line, len)))
            rc = LAZ_EPROTO;
        else if (len)
            rc = laz_link_write(&stream->link, line, len);
    }
    stream_refuse(stream, rc);
}

/* ---- a turn -----------------------------------------------------------------------------------
 */

static bool stream_watch_one(struct laz_io *io, uint32_t events, uint32_t *watched)
{
    const uint32_t wanted = events ? events : LAZ_IO_GONE;
    const bool is_same = wanted == *watched;

    *watched = wanted;
    return is_same || !io || laz_io_events(io, wanted);
}

static bool stream_watch(struct laz_stream *stream)
{
    const bool same = stream->in == stream->out;
    const uint32_t in = stream_may_read(stream) ? LAZ_IO_READ : 0,
                   out = stream->sent < stream->unread.len ? LAZ_IO_WRITE : 0;

    return stream_watch_one(stream->in_io, same ? in | out : in, &stream->in_watched) &&
           (same || stream_watch_one(stream->out_io, out, &stream->out_watched));
}

static void stream_plan(struct laz_stream *stream)
{
    const uint64_t due = laz_link_due(&stream->link), now = stream_now(stream);
    const bool goes_on = (stream->has_lines && laz_link_waiting(&stream->link) < STREAM_FULL) ||
                         (stream->is_gone && stream_may_read(stream));

    if (goes_on)
        laz_timer_start(stream->timer, 0);
    else if (due != UINT64_MAX)
        laz_timer_start(stream->timer, due > now ? due - now : 0);
    else
        laz_timer_cancel(stream->timer);
}

static void stream_over(struct laz_stream *stream, enum laz_link_reason reason)
{
    stream->is_over = true;
    laz_timer_cancel(stream->timer);
    (void)stream_flush(stream);
    stream->owner.ended(stream->owner.user, reason);
}

static void stream_turn(struct laz_stream *stream)
{
    enum laz_link_reason reason = LAZ_LINK_NONE;

    if (stream->is_over)
        return;
    if (stream->is_gone && stream_may_read(stream))
        stream_read(stream);
    if (stream->has_lines)
        stream_write(stream);
    bool is_over = stream_act(stream, &reason);
    if (!is_over && (!stream_flush(stream) || stream->unread.failed)) { /* nobody reads any more */
        stream->in_ended = true;
        stream->has_lines = false;
    }
    if (!is_over && stream->in_ended && !stream->has_lines && !stream->in_told) {
        stream->in_told = true;
        if (!stream->owner.input_ended || stream->owner.input_ended(stream->owner.user))
            stream_step(stream, &(struct laz_link_event){.type = LAZ_LINK_ON_FINISH,
                                                         .reason = LAZ_LINK_CLOSED});
    }
    if (!is_over) {
        stream_credit(stream);
        is_over = stream_act(stream, &reason);
    }
    if (!is_over && !stream_watch(stream)) {
        reason = LAZ_LINK_NO_MEMORY;
        is_over = true;
    }
    if (is_over)
        stream_over(stream, reason);
    else
        stream_plan(stream);
}

static void stream_in_ready(void *user, uint32_t events)
{
    struct laz_stream *stream = user;

    if (stream->in_watched ==
        LAZ_IO_GONE) { /* it is, and is told once; what it left is read later */
        laz_io_stop(stream->in_io);
        stream->in_io = NULL;
        stream->is_gone = true;
    }
    if ((events & LAZ_IO_READ) && !stream->has_lines && !stream->in_ended)
        stream_read(stream);
    stream_turn(stream);
}

static void stream_out_ready(void *user, uint32_t events)
{
    struct laz_stream *stream = user;

    (void)events;
    if (stream->out_watched == LAZ_IO_GONE) { /* nobody reads any more */
        laz_io_stop(stream->out_io);
        stream->out_io = NULL;
        stream->in_ended = true;
    }
    stream_turn(stream);
}

static void stream_due(void *user)
{
    struct laz_stream *stream = user;

    if (!stream->is_over && laz_link_due(&stream->link) <= stream_now(stream))
        stream_step(stream, &(struct laz_link_event){.type = LAZ_LINK_ON_TICK});
    stream_turn(stream);
}

/* ---- from outside -----------------------------------------------------------------------------
 */

void laz_stream_take(struct laz_stream *stream, const char *data, size_t len)
{
    struct laz_carrier_frame frame;
    enum laz_link_reason reason = LAZ_LINK_NONE;

    if (stream->is_over)
        return;
    const bool is_frame = laz_carrier_parse(data, len, &frame, NULL) == 0;
    stream_step(stream,
                &(struct laz_link_event){.type = is_frame ? LAZ_LINK_ON_FRAME : LAZ_LINK_ON_NOISE,
                                         .frame = is_frame ? &frame : NULL});
    /* the frame is borrowed until all of it was handed out */
    if (stream_act(stream, &reason))
        stream_over(stream, reason);
    else
        stream_turn(stream);
}

void laz_stream_tell(struct laz_stream *stream, enum laz_link_event_type event)
{
    if (stream->is_over)
        return;
    stream_step(stream, &(struct laz_link_event){.type = event});
    stream_turn(stream);
}

void laz_stream_end(struct laz_stream *stream, enum laz_link_reason reason, bool finishes)
{
    if (stream->is_over)
        return;
    stream_step(stream,
                &(struct laz_link_event){.type = finishes ? LAZ_LINK_ON_FINISH : LAZ_LINK_ON_END,
                                         .reason = reason});
    stream_turn(stream);
}

void laz_stream_say(struct laz_stream *stream, const char *line, size_t len)
{
    stream_add(stream, line, len);
    (void)stream_flush(stream);
}

/* What is sent goes out in the next turn of the loop: this may be called in a report. */
int laz_stream_write(struct laz_stream *stream, const char *line, size_t len)
{
    if (stream->is_over)
        return LAZ_ECLOSED;
    const int rc = laz_link_write(&stream->link, line, len);
    stream_refuse(stream, rc);
    laz_timer_start(stream->timer, 0);
    return rc;
}

size_t laz_stream_unread(const struct laz_stream *stream)
{
    return laz_link_waiting(&stream->link);
}

const char *laz_stream_id(const struct laz_stream *stream)
{
    return stream->link.id;
}

/* ---- making -----------------------------------------------------------------------------------
 */

int laz_stream_new(const struct laz_stream_asked *asked, struct laz_stream **out,
                   struct laz_error *err)
{
    struct laz_stream *stream = calloc(1, sizeof *stream);

    *out = NULL;
    if (!stream)
        return laz_error_nomem(err);
    stream->loop = asked->loop;
    stream->bus = asked->bus;
    stream->owner = asked->owner;
    stream->in = stream->out = -1;
    memcpy(stream->to, asked->to, strlen(asked->to) + 1);
    memcpy(stream->here, asked->here, strlen(asked->here) + 1);
    laz_frame_init(&stream->frame, asked->limits->max_line);
    laz_link_init(&stream->link, asked->limits, asked->is_worker, asked->link, asked->boot,
                  laz_loop_now_ms(asked->loop));
    stream->is_pipe = asked->out >= 0 && laz_os_is_pipe(asked->out);
    stream->timer = laz_timer_new(stream->loop, stream_due, stream);
    if (asked->in >= 0)
        stream->in_io = laz_io_start(stream->loop, asked->in, 0, stream_in_ready, stream);
    const bool is_watched = asked->in != asked->out && laz_os_is_stream(asked->out);
    if (is_watched) /* a file takes all at any time, and cannot be watched (epoll_ctl(2), EPERM) */
        stream->out_io = laz_io_start(stream->loop, asked->out, 0, stream_out_ready, stream);
    if (!stream->timer || (asked->in >= 0 && !stream->in_io) || (is_watched && !stream->out_io)) {
        laz_stream_free(stream);
        return laz_error_nomem(err);
    }
    stream->in = asked->in;
    stream->out = asked->out;
    laz_timer_start(stream->timer, 0);
    *out = stream;
    return 0;
}

void laz_stream_free(struct laz_stream *stream)
{
    if (!stream)
        return;
    laz_timer_stop(stream->timer);
    laz_io_stop(stream->in_io);
    laz_io_stop(stream->out_io);
    if (stream->in == stream->out)
        laz_os_close(&stream->in);
    laz_link_fini(&stream->link);
    laz_frame_fini(&stream->frame);
    laz_buf_fini(&stream->unread);
    free(stream);
}
