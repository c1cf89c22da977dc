/* SPDX-License-Identifier: MIT */
/* link.c - one side of a link: what it sends, when it ends, and that it ends once.
 * Side: host.  Input trusted: yes here (link_receive.c takes what the peer sends).
 *
 * The state goes from open, by way of finishing or not, to ended, and never back: a link is not
 * resumed, so that no line of it is ever sent again. Whatever ends it first is the reason; what
 * comes afterwards is dropped and counted. */
#include "carrier/carrier_private.h"

#include <stdlib.h>
#include <string.h>

#define FINISH_LEASES 4 /* times of a lease in which the peer has to take what waits */

struct laz_link_line {
    struct laz_link_line *next;
    size_t len;
    char data[];
};

/* By reason: its word, who may say it to the other side, and a clause for people. */
#define BY_CALLER 1u
#define BY_WORKER 2u
#define BY_BOTH   (BY_CALLER | BY_WORKER)
static const struct link_reason {
    const char *word;
    unsigned by;
    const char *text;
} link_reasons[LAZ_LINK_REASONS] = {
    [LAZ_LINK_NONE] = {"open", 0, "it has not ended"},
    [LAZ_LINK_CLOSED] = {"closed", BY_BOTH, "it was closed"},
    [LAZ_LINK_WORKER_LOST] = {"worker_lost", BY_CALLER, "the worker is not heard of any more"},
    [LAZ_LINK_CALLER_LOST] = {"caller_lost", BY_WORKER, "the caller is not heard of any more"},
    [LAZ_LINK_FRAMES_LOST] = {"frames_lost", BY_BOTH, "messages were lost on the way"},
    [LAZ_LINK_PROTOCOL_ERROR] = {"protocol_error", BY_BOTH, "a side has sent what it must not"},
    [LAZ_LINK_TOO_LARGE] = {"too_large", BY_BOTH, "a line is larger than its reader takes"},
    [LAZ_LINK_REFUSED] = {"refused", BY_BOTH, "the bus does not let one side send to the other"},
    [LAZ_LINK_DRAINED] = {"drained", BY_WORKER, "the worker stops"},
    [LAZ_LINK_SUPERFLUOUS] = {"superfluous", BY_CALLER, "another worker has answered as well"},
    [LAZ_LINK_SLOW] = {"slow", BY_BOTH, "a side does not read, and too much waits for it"},
    [LAZ_LINK_NO_MEMORY] = {"no_memory", BY_BOTH, "a side is out of memory"},
};

const char *laz_link_reason_word(enum laz_link_reason reason)
{
    return link_reasons[reason].word;
}

const char *laz_link_reason_text(enum laz_link_reason reason)
{
    return link_reasons[reason].text;
}

enum laz_link_reason laz_link_reason_said(const char *word, size_t len, bool by_worker)
{
    for (int reason = 0; reason < LAZ_LINK_REASONS; reason++)
        if (strlen(link_reasons[reason].word) == len &&
            memcmp(link_reasons[reason].word, word, len) == 0)
            return link_reasons[reason].by & (by_worker ? BY_WORKER : BY_CALLER)
                       ? (enum laz_link_reason)reason
                       : LAZ_LINK_NONE;
    return LAZ_LINK_NONE;
}

/* ---- making and freeing ---------------------------------------------------------------------- */

void laz_link_init(struct laz_link *link, const struct laz_link_limits *limits, bool is_worker,
                   const char *id, const char *boot, uint64_t now_ms)
{
    *link = (struct laz_link){.limits = limits,
                              .is_worker = is_worker,
                              .allowed = limits->window,
                              .credit = limits->window,
                              .heard_ms = now_ms,
                              .spoke_ms = now_ms};
    memcpy(link->id, id, LAZ_CARRIER_ID);
    memcpy(link->boot, boot, LAZ_CARRIER_ID);
}

static void link_shift(struct laz_link *link)
{
    struct laz_link_line *line = link->first;

    link->first = line->next;
    if (!link->first)
        link->last = NULL;
    link->at = 0;
    link->part_at = 0;
    free(line);
}

/* Nothing more is sent or handed out. */
static void link_empty(struct laz_link *link)
{
    while (link->first)
        link_shift(link);
    link->waiting = 0;
}

void laz_link_fini(struct laz_link *link)
{
    link_empty(link);
    laz_buf_fini(&link->partial);
}

/* ---- its end --------------------------------------------------------------------------------- */

void laz_link_stop(struct laz_link *link, enum laz_link_reason reason, bool is_silent)
{
    if (link->state == LAZ_LINK_ENDED)
        return;
    link->state = LAZ_LINK_ENDED;
    link->reason = (uint8_t)reason;
    link->keeps = false;
    /* A side says only what it can know; what it cannot is an end all the same. */
    link->tells = !is_silent;
    link->ends = true;
}

static enum laz_link_reason link_lost(const struct laz_link *link)
{
    return link->is_worker ? LAZ_LINK_CALLER_LOST : LAZ_LINK_WORKER_LOST;
}

/* ---- events ---------------------------------------------------------------------------------- */

int laz_link_write(struct laz_link *link, const char *line, size_t len)
{
    if (link->state != LAZ_LINK_OPEN)
        return LAZ_ECLOSED;
    if (!len || len > link->limits->max_line)
        return LAZ_ETOOBIG;
    struct laz_link_line *item = malloc(sizeof *item + len);
    if (!item)
        return LAZ_ENOMEM;
    item->next = NULL;
    item->len = len;
    memcpy(item->data, line, len);
    if (link->last)
        link->last->next = item;
    else
        link->first = item;
    link->last = item;
    link->waiting += len;
    if (link->waiting > link->limits->most)
        laz_link_stop(link, LAZ_LINK_SLOW, false);
    return 0;
}

static void link_tick(struct laz_link *link, uint64_t now_ms)
{
    const struct laz_link_limits *limits = link->limits;

    if (now_ms >= link->heard_ms + (uint64_t)limits->lease_ms &&
        (CARRIER_HAS(CARRIER_LEASE) || !link->is_worker))
        laz_link_stop(link, link_lost(link), false);
    else if (link->state == LAZ_LINK_FINISHING &&
             now_ms >= link->finish_ms + FINISH_LEASES * (uint64_t)limits->lease_ms)
        laz_link_stop(link, LAZ_LINK_SLOW, false); /* a peer that beats, and takes nothing */
    else if (now_ms >= link->spoke_ms + (uint64_t)limits->keepalive_ms)
        link->keeps = true;
}

static void link_read(struct laz_link *link, size_t bytes)
{
    link->unread -= bytes < link->unread ? bytes : link->unread;
    if (laz_link_credit(link) - link->credit >= link->limits->window / 4)
        link->keeps = true;
}

static void link_frame(struct laz_link *link, uint64_t now_ms,
                       const struct laz_carrier_frame *frame)
{
    if (!frame->link || !laz_carrier_is_same(link->id, frame->link, frame->link_len))
        link->n_foreign++;
    else
        laz_link_take(link, now_ms, frame);
}

/* Of a link that has not ended. */
static void link_event(struct laz_link *link, uint64_t now_ms, const struct laz_link_event *event)
{
    switch (event->type) {
    case LAZ_LINK_ON_FRAME:
        link_frame(link, now_ms, event->frame);
        break;
    case LAZ_LINK_ON_NOISE:
        link->n_foreign++;
        break;
    case LAZ_LINK_ON_READ:
        link_read(link, event->bytes);
        break;
    case LAZ_LINK_ON_TICK:
        link_tick(link, now_ms);
        break;
    case LAZ_LINK_ON_CONNECTED: /* a number that the peer has not seen shows at once */
        link->keeps = true;
        link->back_ms = now_ms;
        break;
    case LAZ_LINK_ON_NOBODY:
        /* After a restart of the bus the peer may not be back yet: numbers and the lease decide. */
        if (!link->back_ms || now_ms >= link->back_ms + (uint64_t)link->limits->keepalive_ms)
            laz_link_stop(link, link_lost(link), false);
        break;
    case LAZ_LINK_ON_REFUSED:
        laz_link_stop(link, LAZ_LINK_REFUSED, true);
        break;
    case LAZ_LINK_ON_BOOT:
        if (!link->is_worker && strcmp(event->boot, link->boot) != 0)
            laz_link_stop(link, LAZ_LINK_WORKER_LOST, false);
        break;
    case LAZ_LINK_ON_FINISH:
        if (link->state == LAZ_LINK_OPEN) {
            link->state = LAZ_LINK_FINISHING;
            link->wanted = (uint8_t)event->reason;
            link->finish_ms = now_ms;
        }
        break;
    default:
        laz_link_stop(link, event->reason, false);
    }
}

void laz_link_step(struct laz_link *link, uint64_t now_ms, const struct laz_link_event *event)
{
    if (link->state != LAZ_LINK_ENDED)
        link_event(link, now_ms, event);
    else if (event->type == LAZ_LINK_ON_FRAME || event->type == LAZ_LINK_ON_NOISE)
        link->n_late++;
    else if (event->type == LAZ_LINK_ON_READ)
        link->unread -= event->bytes < link->unread ? event->bytes : link->unread;
}

/* ---- actions --------------------------------------------------------------------------------- */

/* Each frame says what the peer may send. */
static void link_speak(struct laz_link *link, uint64_t now_ms, struct laz_link_action *action)
{
    link->credit = laz_link_credit(link);
    link->spoke_ms = now_ms;
    link->keeps = false;
    action->type = LAZ_LINK_SEND;
    action->frame.link = link->id;
    action->frame.link_len = LAZ_CARRIER_ID;
    action->frame.number = link->n_sent;
    action->frame.credit = (int64_t)link->credit;
}

/* The next part of the first line, where there is credit for it. */
static bool link_part(struct laz_link *link, uint64_t now_ms, struct laz_link_action *action)
{
    const struct laz_link_line *line = link->first;
    const size_t part = link->limits->part;

    if (!line)
        return false;
    const size_t left = line->len - link->at, len = left < part ? left : part;
    if (link->bytes_sent + len > link->allowed && CARRIER_HAS(CARRIER_CREDIT))
        return false;
    link_speak(link, now_ms, action);
    action->frame.kind = LAZ_CARRIER_LINE;
    action->frame.part = link->part_at++;
    action->frame.parts = (int64_t)((line->len + part - 1) / part);
    action->frame.data = line->data + link->at;
    action->frame.len = len;
    link->at += len;
    link->waiting -= len;
    link->bytes_sent += len;
    link->n_sent++;
    return true;
}

static bool link_ended(struct laz_link *link, uint64_t now_ms, struct laz_link_action *action)
{
    enum laz_link_reason told = (enum laz_link_reason)link->reason;

    if (!link->ends)
        return false;
    if (link->tells) {
        link->tells = false;
        link_speak(link, now_ms, action);
        if (!(link_reasons[told].by & (link->is_worker ? BY_WORKER : BY_CALLER)))
            told = LAZ_LINK_CLOSED;
        action->frame.kind = LAZ_CARRIER_END;
        action->frame.reason = link_reasons[told].word;
        action->frame.reason_len = strlen(link_reasons[told].word);
        return true;
    }
    link->ends = false;
    action->type = LAZ_LINK_END_IT;
    action->reason = (enum laz_link_reason)link->reason;
    link_empty(link);
    laz_buf_fini(&link->partial);
    return true;
}

static bool link_keep(struct laz_link *link, uint64_t now_ms, struct laz_link_action *action)
{
    if (!link->keeps)
        return false;
    link_speak(link, now_ms, action);
    action->frame.kind = LAZ_CARRIER_KEEP;
    action->frame.beat = ++link->beats;
    return true;
}

bool laz_link_next(struct laz_link *link, uint64_t now_ms, struct laz_link_action *action)
{
    *action = (struct laz_link_action){.type = LAZ_LINK_SEND};
    if (link->first && link->at == link->first->len) /* was sent by the call before */
        link_shift(link);
    if (link->line) {
        action->type = LAZ_LINK_LINE;
        action->line = link->line;
        action->len = link->line_len;
        link->line = NULL;
        return true;
    }
    if (link->partial.len && !link->parts) /* was handed out by the call before */
        laz_buf_fini(&link->partial);
    if (link->state != LAZ_LINK_ENDED && link_part(link, now_ms, action))
        return true;
    if (link->state == LAZ_LINK_FINISHING && !link->first)
        laz_link_stop(link, (enum laz_link_reason)link->wanted, false);
    if (link->state == LAZ_LINK_ENDED)
        return link_ended(link, now_ms, action);
    return link_keep(link, now_ms, action);
}

uint64_t laz_link_due(const struct laz_link *link)
{
    const uint64_t keep = link->spoke_ms + (uint64_t)link->limits->keepalive_ms;
    const uint64_t lease = link->heard_ms + (uint64_t)link->limits->lease_ms;

    if (link->state == LAZ_LINK_ENDED)
        return UINT64_MAX;
    return keep < lease || !CARRIER_HAS(CARRIER_LEASE) ? keep : lease;
}

size_t laz_link_waiting(const struct laz_link *link)
{
    return link->waiting;
}

size_t laz_link_held(const struct laz_link *link)
{
    return link->unread + (link->parts ? link->partial.len : 0);
}
