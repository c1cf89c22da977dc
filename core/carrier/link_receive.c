/* SPDX-License-Identifier: MIT */
/* link_receive.c - what a link takes of its peer: frames in their order, each once, within bounds.
 * Side: host.  Input trusted: no.
 *
 * Frames with lines are numbered from 0 each way. One that has come before is dropped; a missing
 * one ends the link, because the bus sends nothing again. The last frame that was sent has none
 * behind it that would show its loss: so that `keep` and `end` carry how many there were. A `keep`
 * has a number of its own, that of the beat: an old one that is sent again renews no lease, and a
 * lost one ends nothing.
 *
 * Credit is the count of all bytes that the peer may have sent since the beginning, and not an
 * amount to add: so it may be said twice, or get lost, and the next frame says it again. */
#include "carrier/carrier_private.h"

#include <string.h>

uint64_t laz_link_credit(const struct laz_link *link)
{
    /* Parts of a line get credit as they come, or a line longer than the window would never be
     * whole; but not while a line is there that was not read. */
    const uint64_t held = link->unread ? laz_link_held(link) : 0;
    const uint64_t most = link->bytes_received + link->limits->window;
    const uint64_t credit = most > held ? most - held : 0;

    return credit > link->credit ? credit : link->credit;
}

/* The peer says how far this side may send. */
static bool receive_credit(struct laz_link *link, int64_t credit)
{
    if ((uint64_t)credit > link->bytes_sent + link->limits->window) {
        laz_link_stop(link, LAZ_LINK_PROTOCOL_ERROR, false);
        return false;
    }
    if ((uint64_t)credit > link->allowed)
        link->allowed = (uint64_t)credit;
    return true;
}

/* Is the part the one that comes next, of one line, and as long as it has to be? */
static bool receive_part_fits(const struct laz_link *link, const struct laz_carrier_frame *frame)
{
    const bool is_last = frame->part == frame->parts - 1;

    if (frame->part != link->part || (link->parts && frame->parts != link->parts) ||
        memchr(frame->data, '\n', frame->len)) /* a reader would take it for several lines */
        return false;
    return is_last ? frame->len >= 1 && frame->len <= link->limits->part
                   : frame->len == link->limits->part;
}

static void receive_line(struct laz_link *link, const struct laz_carrier_frame *frame)
{
    const size_t part = link->limits->part;
    const bool is_last = frame->part == frame->parts - 1;

    if ((uint64_t)frame->parts > (link->limits->max_line + part - 1) / part ||
        (link->parts ? link->partial.len : 0) + frame->len > link->limits->max_line) {
        laz_link_stop(link, LAZ_LINK_TOO_LARGE, false);
        return;
    }
    if (frame->parts == 1) { /* it is handed out where it is */
        link->line = frame->data;
        link->line_len = frame->len;
        link->unread += frame->len;
        return;
    }
    laz_buf_append(&link->partial, frame->data, frame->len);
    if (link->partial.failed) {
        laz_link_stop(link, LAZ_LINK_NO_MEMORY, false);
        return;
    }
    link->parts = is_last ? 0 : frame->parts;
    link->part = is_last ? 0 : frame->part + 1;
    if (is_last) {
        link->line = link->partial.data;
        link->line_len = link->partial.len;
        link->unread += link->partial.len;
    }
}

/* A frame with a line. */
static void receive_numbered(struct laz_link *link, uint64_t now_ms,
                             const struct laz_carrier_frame *frame)
{
    if (frame->number < link->n_received && CARRIER_HAS(CARRIER_DEDUP)) {
        link->n_repeated++;
        return;
    }
    if (frame->number > link->n_received && CARRIER_HAS(CARRIER_GAPS)) {
        laz_link_stop(link, LAZ_LINK_FRAMES_LOST, false);
        return;
    }
    if (!receive_part_fits(link, frame) ||
        (link->bytes_received + frame->len > link->credit && CARRIER_HAS(CARRIER_CREDIT))) {
        laz_link_stop(link, LAZ_LINK_PROTOCOL_ERROR, false);
        return;
    }
    if (!receive_credit(link, frame->credit))
        return;
    link->n_received = frame->number + 1;
    link->bytes_received += frame->len;
    link->heard_ms = now_ms;
    receive_line(link, frame);
    if (link->state != LAZ_LINK_ENDED &&
        laz_link_credit(link) - link->credit >= link->limits->window / 4)
        link->keeps = true;
}

static void receive_keep(struct laz_link *link, uint64_t now_ms,
                         const struct laz_carrier_frame *frame)
{
    if (frame->beat <= link->beats_heard) {
        link->n_repeated++;
        return;
    }
    if (frame->number > link->n_received && CARRIER_HAS(CARRIER_GAPS)) {
        laz_link_stop(link, LAZ_LINK_FRAMES_LOST, false);
        return;
    }
    if (!receive_credit(link, frame->credit))
        return;
    link->beats_heard = frame->beat;
    link->heard_ms = now_ms;
}

static void receive_end(struct laz_link *link, const struct laz_carrier_frame *frame)
{
    enum laz_link_reason reason =
        laz_link_reason_said(frame->reason, frame->reason_len, !link->is_worker);

    if (reason == LAZ_LINK_NONE)
        reason = LAZ_LINK_PROTOCOL_ERROR;
    else if (frame->number > link->n_received)
        reason = LAZ_LINK_FRAMES_LOST; /* what came before the end is missing */
    laz_link_stop(link, reason, true);
}

void laz_link_take(struct laz_link *link, uint64_t now_ms, const struct laz_carrier_frame *frame)
{
    switch (frame->kind) {
    case LAZ_CARRIER_LINE:
        receive_numbered(link, now_ms, frame);
        break;
    case LAZ_CARRIER_KEEP:
        receive_keep(link, now_ms, frame);
        break;
    case LAZ_CARRIER_END:
        receive_end(link, frame);
        break;
    default: /* of an opening: not for a link */
        link->n_foreign++;
    }
}
