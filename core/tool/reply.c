/* SPDX-License-Identifier: MIT */
/* reply.c - how a tool of the application answers a call: while its function runs, or later.
 *
 * A reply has two holders, the call and the application, and is freed by the last of them: so it
 * outlives the call, and the engine, where the application has kept it.  Its lock orders an answer
 * and the end of the call; the order of locks is that of the reply, then that of the loan
 * (lend.c). */
#include "tool/tool_private.h"

#include "base/trace.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct laz_reply {
    struct laz_caller caller;
    char tool[LAZ_TOOL_MAX_NAME + 1], session[32]; /* for `caller` */
    struct laz_trace_copy trace;
    pthread_mutex_t lock;  /* protects what follows */
    pthread_cond_t told;   /* is_telling has become false */
    struct laz_call *call; /* NULL: the answer is ignored */
    unsigned holders;
    bool is_application; /* the application is one of them */
    bool is_kept;        /* beyond the end of its function */
    bool is_cancelled;
    void (*cancelled)(void *user); /* NULL: it wants not to hear of it, or has heard */
    void *user;
    bool is_telling; /* `cancelled` runs, on the thread `teller` */
    pthread_t teller;
};

struct laz_reply *laz_reply_new(struct laz_call *call, const struct laz_caller *caller)
{
    struct laz_reply *reply = calloc(1, sizeof *reply);

    if (!reply)
        return NULL;
    snprintf(reply->tool, sizeof reply->tool, "%s", caller->tool);
    snprintf(reply->session, sizeof reply->session, "%s", caller->session ? caller->session : "");
    reply->caller = *caller;
    reply->caller.tool = reply->tool;
    reply->caller.session = reply->session;
    laz_trace_take(&reply->trace, caller->trace);
    reply->caller.trace = laz_trace_of(&reply->trace);
    reply->call = call;
    reply->holders = 1;
    pthread_mutex_init(&reply->lock, NULL);
    pthread_cond_init(&reply->told, NULL);
    return reply;
}

/* Gives up one hold, and the lock. */
static void reply_let_go(struct laz_reply *reply)
{
    const unsigned left = --reply->holders;

    pthread_mutex_unlock(&reply->lock);
    if (left)
        return;
    pthread_cond_destroy(&reply->told);
    pthread_mutex_destroy(&reply->lock);
    free(reply);
}

/* Waits for the end of the function that hears of the cancellation; it need not wait for itself. */
static void reply_await_told(struct laz_reply *reply)
{
    while (reply->is_telling && !pthread_equal(reply->teller, pthread_self()))
        pthread_cond_wait(&reply->told, &reply->lock);
}

/* The application gives up the reply. The caller holds the lock, which is given up as well. */
static void reply_leave(struct laz_reply *reply)
{
    if (reply->call)
        laz_call_answer(NULL, reply->call, "null", 4); /* ignored after an answer */
    reply->cancelled = NULL;
    reply_await_told(reply);
    reply->is_application = false;
    reply_let_go(reply);
}

void laz_reply_begin(struct laz_reply *reply)
{
    pthread_mutex_lock(&reply->lock);
    reply->holders++;
    reply->is_application = true;
    pthread_mutex_unlock(&reply->lock);
}

bool laz_reply_end(struct laz_reply *reply)
{
    pthread_mutex_lock(&reply->lock);
    const bool is_kept = reply->is_kept;
    if (is_kept)
        pthread_mutex_unlock(&reply->lock);
    else
        reply_leave(reply);
    return !is_kept;
}

/* Tells the application that the call was cancelled. The caller holds the lock, and the reply: the
 * function may free it. */
static void reply_tell(struct laz_reply *reply)
{
    void (*cancelled)(void *user) = reply->cancelled;
    void *user = reply->user;
    const bool is_within = reply->is_telling; /* it was set by the function that is told */

    if (!cancelled)
        return;
    reply->cancelled = NULL;
    reply->is_telling = true;
    reply->teller = pthread_self();
    pthread_mutex_unlock(&reply->lock);
    cancelled(user);
    pthread_mutex_lock(&reply->lock);
    reply->is_telling = is_within;
    pthread_cond_broadcast(&reply->told);
}

void laz_reply_cancel(struct laz_reply *reply)
{
    pthread_mutex_lock(&reply->lock);
    reply->is_cancelled = true;
    reply_tell(reply);
    pthread_mutex_unlock(&reply->lock);
}

void laz_reply_detach(struct laz_reply *reply)
{
    if (!reply)
        return;
    pthread_mutex_lock(&reply->lock);
    reply->call = NULL;
    reply->is_cancelled = true;
    reply_let_go(reply);
}

/* ---- the public functions ------------------------------------------------------------------- */

void laz_reply_value(struct laz_reply *reply, const char *json, size_t len)
{
    if (!reply)
        return;
    pthread_mutex_lock(&reply->lock);
    if (reply->call)
        laz_call_answer(NULL, reply->call, json, len);
    pthread_mutex_unlock(&reply->lock);
}

void laz_reply_error(struct laz_reply *reply, const char *message)
{
    if (!reply)
        return;
    pthread_mutex_lock(&reply->lock);
    if (reply->call)
        laz_call_answer_error(NULL, reply->call, message);
    pthread_mutex_unlock(&reply->lock);
}

const struct laz_caller *laz_reply_caller(const struct laz_reply *reply)
{
    return reply ? &reply->caller : NULL;
}

int laz_reply_keep(struct laz_reply *reply)
{
    if (!reply)
        return LAZ_EINVAL;
    pthread_mutex_lock(&reply->lock);
    reply->is_kept = true;
    pthread_mutex_unlock(&reply->lock);
    return 0;
}

void laz_reply_free(struct laz_reply *reply)
{
    if (!reply)
        return;
    pthread_mutex_lock(&reply->lock);
    if (reply->is_kept && reply->is_application)
        reply_leave(reply);
    else
        pthread_mutex_unlock(&reply->lock); /* it ends with its function */
}

bool laz_reply_is_cancelled(struct laz_reply *reply)
{
    if (!reply)
        return false;
    pthread_mutex_lock(&reply->lock);
    const bool is_cancelled = reply->is_cancelled;
    pthread_mutex_unlock(&reply->lock);
    return is_cancelled;
}

int laz_reply_on_cancel(struct laz_reply *reply, void (*cancelled)(void *user), void *user)
{
    if (!reply)
        return LAZ_EINVAL;
    pthread_mutex_lock(&reply->lock);
    reply->holders++; /* while it is told */
    reply_await_told(reply);
    reply->cancelled = cancelled;
    reply->user = user;
    if (reply->is_cancelled)
        reply_tell(reply);
    reply_let_go(reply);
    return 0;
}
