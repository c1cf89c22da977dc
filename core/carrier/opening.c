/* SPDX-License-Identifier: MIT */
/* opening.c - a caller asks for a place until it has one, or its deadline has come.
 * Side: host.  Input trusted: no (answers of anybody who may send to the caller).
 *
 * Each attempt has the same id, so that a worker that gets two of them gives one place. Two workers
 * may each get one: the first answer counts, and each later one is told that it is superfluous,
 * also when the opening has failed meanwhile. A lost answer leaves a link that nobody knows: its
 * first frame tells of it, and its lease ends it where that gets lost as well. */
#include "carrier/places.h"

#include <string.h>

const struct laz_opening_limits laz_opening_usual = {
    .attempt_ms = 2000, .backoff_ms = 20, .most_backoff = 1000};

static const struct {
    const char *word;
    bool passes;
} place_codes[LAZ_PLACE_CODES] = {
    [LAZ_PLACE_FULL] = {"full", true},          [LAZ_PLACE_DRAINING] = {"draining", true},
    [LAZ_PLACE_ENDED] = {"ended", true},        [LAZ_PLACE_UNKNOWN] = {"unknown", false},
    [LAZ_PLACE_SETTINGS] = {"settings", false}, [LAZ_PLACE_DENIED] = {"denied", false},
    [LAZ_PLACE_QUOTA] = {"quota", false},
};

const char *laz_place_code_word(enum laz_place_code code)
{
    return place_codes[code].word;
}

enum laz_place_code laz_place_code_of(const char *word, size_t len)
{
    for (int code = 0; code < LAZ_PLACE_CODES; code++)
        if (strlen(place_codes[code].word) == len && memcmp(place_codes[code].word, word, len) == 0)
            return (enum laz_place_code)code;
    return LAZ_PLACE_UNKNOWN;
}

bool laz_place_code_passes(enum laz_place_code code)
{
    return place_codes[code].passes;
}

int laz_opening_begin(struct laz_opening *opening, const struct laz_opening_limits *limits,
                      struct laz_opening_queue *queue, const char *open, uint64_t now_ms,
                      uint64_t deadline_ms, struct laz_error *err)
{
    if (queue->n >= queue->most)
        return laz_error_set(err, LAZ_EREFUSED, 0, "%zu sessions wait for a place already",
                             queue->n);
    queue->n++;
    *opening = (struct laz_opening){.limits = limits,
                                    .queue = queue,
                                    .state = LAZ_OPENING_ASKED,
                                    .deadline_ms = deadline_ms,
                                    .due_ms = now_ms + (uint64_t)limits->attempt_ms};
    memcpy(opening->open, open, LAZ_CARRIER_ID);
    return 0;
}

static bool opening_is_settled(const struct laz_opening *opening)
{
    return opening->state == LAZ_OPENING_LINKED || opening->state == LAZ_OPENING_FAILED;
}

static enum laz_opening_action opening_settle(struct laz_opening *opening,
                                              enum laz_opening_state state,
                                              enum laz_opening_action action)
{
    opening->state = (uint8_t)state;
    opening->queue->n--;
    return action;
}

static enum laz_opening_action opening_ask(struct laz_opening *opening, uint64_t now_ms)
{
    opening->state = LAZ_OPENING_ASKED;
    opening->due_ms = now_ms + (uint64_t)opening->limits->attempt_ms;
    return LAZ_OPENING_ASK;
}

/* Nobody has a place just now. */
static enum laz_opening_action opening_wait(struct laz_opening *opening, uint64_t now_ms,
                                            uint32_t random)
{
    const uint64_t most = (uint64_t)opening->limits->most_backoff;
    uint64_t wait = (uint64_t)opening->limits->backoff_ms << opening->tries;

    if (wait >= most)
        wait = most;
    else
        opening->tries++;
    opening->was_full = true;
    opening->state = LAZ_OPENING_WAITING;
    opening->due_ms = now_ms + wait / 2 + random % (wait / 2 + 1);
    return LAZ_OPENING_NOTHING;
}

static enum laz_opening_action opening_opened(struct laz_opening *opening,
                                              const struct laz_carrier_frame *frame)
{
    if (opening->state == LAZ_OPENING_LINKED &&
        laz_carrier_is_same(opening->link, frame->link, frame->link_len))
        return LAZ_OPENING_NOTHING;
    if (opening_is_settled(opening))
        return LAZ_OPENING_CLOSE;
    memcpy(opening->link, frame->link, LAZ_CARRIER_ID);
    return opening_settle(opening, LAZ_OPENING_LINKED, LAZ_OPENING_LINK);
}

static enum laz_opening_action opening_answer(struct laz_opening *opening, uint64_t now_ms,
                                              const struct laz_carrier_frame *frame,
                                              uint32_t random)
{
    if (!frame->open || !laz_carrier_is_same(opening->open, frame->open, frame->open_len))
        return LAZ_OPENING_NOTHING;
    if (frame->kind == LAZ_CARRIER_OPENED)
        return opening_opened(opening, frame);
    if (frame->kind != LAZ_CARRIER_REFUSED || opening_is_settled(opening))
        return LAZ_OPENING_NOTHING;
    if (laz_place_code_passes(laz_place_code_of(frame->code, frame->code_len)))
        return opening->state == LAZ_OPENING_ASKED ? opening_wait(opening, now_ms, random)
                                                   : LAZ_OPENING_NOTHING;
    return opening_settle(opening, LAZ_OPENING_FAILED, LAZ_OPENING_DENIED);
}

static enum laz_opening_action opening_tick(struct laz_opening *opening, uint64_t now_ms)
{
    if (now_ms >= opening->deadline_ms)
        return opening_settle(opening, LAZ_OPENING_FAILED,
                              opening->was_full ? LAZ_OPENING_FULL : LAZ_OPENING_LATE);
    if (now_ms < opening->due_ms)
        return LAZ_OPENING_NOTHING;
    if (opening->state == LAZ_OPENING_ASKED)
        opening->was_full = false;
    return opening_ask(opening, now_ms);
}

enum laz_opening_action laz_opening_step(struct laz_opening *opening, uint64_t now_ms,
                                         enum laz_opening_event_type event,
                                         const struct laz_carrier_frame *frame, uint32_t random)
{
    if (event == LAZ_OPENING_ON_ANSWER)
        return opening_answer(opening, now_ms, frame, random);
    if (opening_is_settled(opening))
        return LAZ_OPENING_NOTHING;
    switch (event) {
    case LAZ_OPENING_ON_NOBODY: /* in any other state it is about an attempt before */
        return opening->state == LAZ_OPENING_ASKED ? opening_wait(opening, now_ms, random)
                                                   : LAZ_OPENING_NOTHING;
    case LAZ_OPENING_ON_TICK:
        return opening_tick(opening, now_ms);
    case LAZ_OPENING_ON_REFUSED:
        return opening_settle(opening, LAZ_OPENING_FAILED, LAZ_OPENING_DENIED);
    default:
        return opening_settle(opening, LAZ_OPENING_FAILED, LAZ_OPENING_CANCELLED);
    }
}

uint64_t laz_opening_due(const struct laz_opening *opening)
{
    if (opening_is_settled(opening))
        return UINT64_MAX;
    return opening->due_ms < opening->deadline_ms ? opening->due_ms : opening->deadline_ms;
}

void laz_opening_frame(const struct laz_opening *opening, const char *caller, uint64_t now_ms,
                       struct laz_carrier_frame *frame)
{
    const uint64_t left = opening->deadline_ms > now_ms ? opening->deadline_ms - now_ms : 0;

    *frame = (struct laz_carrier_frame){
        .kind = LAZ_CARRIER_OPEN,
        .open = opening->open,
        .open_len = LAZ_CARRIER_ID,
        .caller = caller,
        .caller_len = strlen(caller),
        .deadline_ms = left < (uint64_t)LAZ_CARRIER_INT ? (int64_t)left : LAZ_CARRIER_INT,
    };
}

bool laz_opening_close(const struct laz_carrier_frame *stray, struct laz_carrier_frame *end)
{
    const char *word = laz_link_reason_word(LAZ_LINK_SUPERFLUOUS);

    if (stray->kind != LAZ_CARRIER_OPENED && stray->kind != LAZ_CARRIER_LINE &&
        stray->kind != LAZ_CARRIER_KEEP) /* an end needs no answer, or two sides would go on */
        return false;
    *end = (struct laz_carrier_frame){
        .kind = LAZ_CARRIER_END,
        .link = stray->link,
        .link_len = stray->link_len,
        .reason = word,
        .reason_len = strlen(word),
    };
    return true;
}
