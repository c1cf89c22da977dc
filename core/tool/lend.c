/* SPDX-License-Identifier: MIT */
/* lend.c - lends the loop to the worker thread that runs a tool.
 *
 * A tool must not run in the loop thread: that is a thread of the application, waits in
 * laz_session_execute, and has to return when a timeout has passed, whatever the tool does.  But
 * waking a worker for the tool and the loop thread for its answer takes several times as long as a
 * quick tool.  So the loop thread lends the loop to the worker along with the call: the worker runs
 * the tool, sends the answer to the box, and waits there for the next call, without a switch of
 * threads.  A loan lasts LEND_MS.  If the tool still runs then, the loop thread takes the loop back
 * and the answer is posted to it; else the worker gives the loop back.
 *
 * While the tool runs no thread holds the loop; else exactly one does, and the lock of the loan
 * orders their accesses.  A worker that holds it only serves the channel of the box: handlers of
 * output and hooks run in the thread that called execute. */
#include "tool/tool_private.h"

#include "base/clock.h"
#include "os/thread.h"

#include <pthread.h>
#include <stdlib.h>

#define LEND_MS 2 /* how long other events of the loop may be delayed */

enum lend_state {
    LEND_HOME, /* the loop thread holds the loop */
    LEND_TOOL, /* no thread holds it: the tool runs */
    LEND_AWAY, /* the worker holds it */
};

struct laz_lend {
    struct laz_driver *driver;
    pthread_mutex_t lock;
    pthread_cond_t back;
    enum lend_state state;    /* protected by `lock`, as are the next two */
    struct laz_call *running; /* in LEND_TOOL */
    bool answered;            /* `running` holds an answer that was not posted */
    /* only for the thread that holds the loop: */
    bool (*serve)(void *user, uint64_t ms); /* NULL: the loop is not lent */
    void *user;
    struct laz_call *offered;
    uint64_t until_us;
};

int laz_lend_new(struct laz_driver *driver, struct laz_lend **out, struct laz_error *err)
{
    struct laz_lend *lend = calloc(1, sizeof *lend);

    if (!lend)
        return laz_error_nomem(err);
    lend->driver = driver;
    pthread_mutex_init(&lend->lock, NULL);
    laz_os_condition_init(&lend->back);
    *out = lend;
    return 0;
}

void laz_lend_free(struct laz_lend *lend)
{
    if (!lend)
        return;
    pthread_cond_destroy(&lend->back);
    pthread_mutex_destroy(&lend->lock);
    free(lend);
}

void laz_lend_begin(struct laz_lend *lend, bool (*serve)(void *user, uint64_t ms), void *user)
{
    lend->serve = serve;
    lend->user = user;
}

void laz_lend_end(struct laz_lend *lend)
{
    struct laz_call *left = lend->offered;

    lend->offered = NULL;
    lend->serve = NULL;
    if (left)
        laz_call_hand_over(left);
}

bool laz_lend_offer(struct laz_lend *lend, struct laz_call *call)
{
    if (!lend->serve || lend->offered)
        return false;
    lend->offered = call;
    return true;
}

/* Takes the call that was offered; its tool is about to run. The caller holds the lock. */
static struct laz_call *lend_take(struct laz_lend *lend)
{
    struct laz_call *call = lend->offered;

    lend->offered = NULL;
    lend->running = call;
    lend->answered = false;
    lend->state = LEND_TOOL;
    laz_driver_hold(lend->driver, false);
    return call;
}

/* Waits until the loop is back, or the time is over and no worker holds it. The caller holds the
 * lock. */
static void lend_wait(struct laz_lend *lend)
{
    bool late = false;

    while (lend->state == LEND_AWAY || (lend->state == LEND_TOOL && !late))
        late |= !laz_os_condition_wait(&lend->back, &lend->lock, lend->until_us);
}

bool laz_lend_serve(struct laz_lend *lend)
{
    if (!lend->offered)
        return false;
    lend->until_us = laz_clock_us() + LEND_MS * 1000;
    pthread_mutex_lock(&lend->lock);
    struct laz_call *call = lend_take(lend), *kept = NULL;
    pthread_mutex_unlock(&lend->lock);
    bool lent = laz_call_hand_over(call);
    pthread_mutex_lock(&lend->lock);
    if (lent)
        lend_wait(lend);
    if (lend->state == LEND_TOOL && lend->answered)
        kept = lend->running; /* possibly a later call than `call`, which may be freed */
    lend->state = LEND_HOME;
    lend->running = NULL;
    laz_driver_hold(lend->driver, true);
    pthread_mutex_unlock(&lend->lock);
    if (kept)
        laz_call_post_answer(kept);
    return true;
}

bool laz_lend_keeps_answer(struct laz_lend *lend, const struct laz_call *call)
{
    pthread_mutex_lock(&lend->lock);
    bool keeps = lend->running == call;
    lend->answered |= keeps;
    pthread_mutex_unlock(&lend->lock);
    return keeps;
}

bool laz_lend_resume(struct laz_lend *lend, const struct laz_call *call, bool *answered)
{
    pthread_mutex_lock(&lend->lock);
    bool ours = lend->running == call;
    if (ours) {
        *answered = lend->answered;
        lend->running = NULL;
        lend->state = LEND_AWAY;
        laz_driver_hold(lend->driver, true);
    }
    pthread_mutex_unlock(&lend->lock);
    return ours;
}

/* Serves the channel of the box until a call is offered. False: the loop thread is needed. */
static bool lend_await_call(struct laz_lend *lend)
{
    while (!lend->offered) {
        uint64_t now = laz_clock_us();
        if (now >= lend->until_us || !lend->serve(lend->user, (lend->until_us - now + 999) / 1000))
            return false;
    }
    return true;
}

void laz_lend_return(struct laz_lend *lend)
{
    pthread_mutex_lock(&lend->lock);
    lend->state = LEND_HOME;
    laz_driver_hold(lend->driver, false);
    pthread_cond_signal(&lend->back);
    pthread_mutex_unlock(&lend->lock);
}

struct laz_call *laz_lend_next(struct laz_lend *lend)
{
    struct laz_call *call = NULL;

    if (!lend_await_call(lend)) {
        laz_lend_return(lend);
        return NULL;
    }
    pthread_mutex_lock(&lend->lock);
    call = lend_take(lend);
    pthread_mutex_unlock(&lend->lock);
    return call;
}
