/* SPDX-License-Identifier: MIT */
/* loop_timers.c - the timers of a loop, and its clock.
 *
 * A loop's timers are a binary heap in an array that grows when a timer is made, so that a start
 * cannot fail.  One that was not started, or that waits for a held clock, is in it as due never. */
#include "loop/loop_private.h"

#include "base/buf.h"
#include "base/clock.h"

#include <limits.h>
#include <stdlib.h>

#define TIMER_NEVER UINT64_MAX

struct laz_timer {
    struct laz_loop *loop;
    void (*due)(void *user);
    void *user;
    size_t at;        /* its place in the heap */
    uint64_t real_us; /* due by the real clock, or TIMER_NEVER */
    uint64_t start;   /* which start of the loop's timers it was: earlier ones are due first */
    bool waits;       /* due when the held clock reaches held_us */
    uint64_t held_us;
};

/* ---- the heap ------------------------------------------------------------------------------- */

static bool timer_is_before(const struct laz_timer *timer, const struct laz_timer *other)
{
    return timer->real_us != other->real_us ? timer->real_us < other->real_us
                                            : timer->start < other->start;
}

static void timer_put(struct laz_timer *timer, size_t at)
{
    timer->loop->timers[at] = timer;
    timer->at = at;
}

/* Moves a timer to its place, from where it is or from a free one. */
static void timer_settle(struct laz_timer *timer)
{
    struct laz_loop *loop = timer->loop;
    size_t at = timer->at;

    for (; at && timer_is_before(timer, loop->timers[(at - 1) / 2]); at = (at - 1) / 2)
        timer_put(loop->timers[(at - 1) / 2], at);
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < loop->n_timers &&
            timer_is_before(loop->timers[child + 1], loop->timers[child]))
            child++;
        if (child >= loop->n_timers || !timer_is_before(loop->timers[child], timer))
            break;
        timer_put(loop->timers[child], at);
        at = child;
    }
    timer_put(timer, at);
}

static void timer_set(struct laz_timer *timer, uint64_t real_us)
{
    timer->real_us = real_us;
    timer->start = timer->loop->starts++;
    timer_settle(timer);
}

/* ---- timers --------------------------------------------------------------------------------- */

struct laz_timer *laz_timer_new(struct laz_loop *loop, void (*due)(void *user), void *user)
{
    struct laz_timer *timer = calloc(1, sizeof *timer);

    if (!timer || !laz_grow(&loop->timers, &loop->n_timers, sizeof(struct laz_timer *))) {
        free(timer);
        return NULL;
    }
    timer->loop = loop;
    timer->due = due;
    timer->user = user;
    timer->at = loop->n_timers - 1;
    timer_set(timer, TIMER_NEVER);
    loop->handles++;
    return timer;
}

static uint64_t timer_time(uint64_t now_us, uint64_t ms)
{
    return ms < (TIMER_NEVER - now_us) / 1000 ? now_us + ms * 1000 : TIMER_NEVER - 1;
}

void laz_timer_start(struct laz_timer *timer, uint64_t ms)
{
    timer->waits = timer->loop->held && ms;
    timer->held_us = timer_time(timer->loop->now_us, ms);
    timer_set(timer, timer->waits ? TIMER_NEVER : timer_time(laz_clock_us(), ms));
}

void laz_timer_cancel(struct laz_timer *timer)
{
    timer->waits = false;
    timer_set(timer, TIMER_NEVER);
}

void laz_timer_stop(struct laz_timer *timer)
{
    if (!timer)
        return;
    struct laz_loop *loop = timer->loop;
    struct laz_timer *last = loop->timers[--loop->n_timers];
    if (last != timer) {
        timer_put(last, timer->at);
        timer_settle(last);
    }
    loop->handles--;
    free(timer);
}

uint64_t laz_timers_wait(const struct laz_loop *loop)
{
    if (!loop->n_timers || loop->timers[0]->real_us == TIMER_NEVER)
        return LAZ_LOOP_FOREVER;
    uint64_t now = laz_clock_us();
    return loop->timers[0]->real_us > now ? loop->timers[0]->real_us - now : 0;
}

bool laz_timers_run(struct laz_loop *loop, uint64_t before)
{
    const uint64_t now = laz_clock_us();
    bool ran = false;

    while (loop->n_timers && loop->timers[0]->real_us <= now && loop->timers[0]->start < before) {
        struct laz_timer *timer = loop->timers[0];
        timer_set(timer, TIMER_NEVER);
        timer->due(timer->user); /* may stop it */
        ran = true;
    }
    return ran;
}

void laz_timers_free(struct laz_loop *loop)
{
    while (loop->n_timers)
        laz_timer_stop(loop->timers[loop->n_timers - 1]);
    free(loop->timers);
}

int laz_loop_timeout(const struct laz_loop *loop)
{
    uint64_t us = laz_timers_wait(loop), ms = laz_loop_ms(us);

    return us == LAZ_LOOP_FOREVER ? -1 : ms < INT_MAX ? (int)ms : INT_MAX;
}

/* ---- the clock ------------------------------------------------------------------------------ */

uint64_t laz_loop_now_us(const struct laz_loop *loop)
{
    return loop->held ? loop->now_us : laz_clock_us();
}

uint64_t laz_loop_now_ms(const struct laz_loop *loop)
{
    return laz_loop_now_us(loop) / 1000;
}

void laz_loop_hold_clock(struct laz_loop *loop)
{
    loop->now_us = laz_loop_now_us(loop);
    loop->held = true;
}

/* The first timer that waits for the held clock; NULL: none. */
static struct laz_timer *clock_first(const struct laz_loop *loop)
{
    struct laz_timer *first = NULL;

    for (size_t i = 0; i < loop->n_timers; i++) {
        struct laz_timer *timer = loop->timers[i];
        if (timer->waits && (!first || timer->held_us < first->held_us ||
                             (timer->held_us == first->held_us && timer->start < first->start)))
            first = timer;
    }
    return first;
}

void laz_loop_advance_clock(struct laz_loop *loop, uint64_t ms)
{
    struct laz_timer *first;

    loop->now_us += ms * 1000;
    while ((first = clock_first(loop)) && first->held_us <= loop->now_us) {
        first->waits = false;
        timer_set(first, laz_clock_us()); /* the next step calls them in this order */
    }
}
