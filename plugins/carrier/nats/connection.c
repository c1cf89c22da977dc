/* SPDX-License-Identifier: MIT */
/* connection.c - the thread of a connection, and what libnats calls.
 *
 * Subscriptions of libnats are made and destroyed here alone.  A delivery thread of libnats calls
 * nats_done as the last thing of a subscription, whether it was drained or its connection has come
 * to an end; so a new connection begins when nothing of the one before is on its way any more, and
 * messages of one subscription never come at the same time. */
#include "nats_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Between attempts to connect, in ms: a half to all of it, by chance. */
#define NATS_WAIT_FIRST 100
#define NATS_WAIT_MOST  2000
#define NATS_FLUSH_MS   1000 /* for what waits when it is closed */

int64_t nats_clock_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- calls of the host ----------------------------------------------------------------------- */

bool nats_enter(struct nats_state *state)
{
    pthread_mutex_lock(&state->lock);
    const bool may = !state->is_gone;
    state->running += may;
    pthread_mutex_unlock(&state->lock);
    return may;
}

void nats_leave(struct nats_state *state)
{
    pthread_mutex_lock(&state->lock);
    if (--state->running == 0 && state->is_gone)
        pthread_cond_broadcast(&state->changed);
    pthread_mutex_unlock(&state->lock);
}

void nats_log(struct nats_state *state, uint32_t level, const char *text)
{
    if (!nats_enter(state))
        return;
    state->services->log(state->services->host, level, text);
    nats_leave(state);
}

static void nats_tell_connected(struct nats_state *state)
{
    if (!nats_enter(state))
        return;
    state->services->connected(state->services->host);
    nats_leave(state);
}

static void nats_tell_disconnected(struct nats_state *state, const char *why)
{
    if (!nats_enter(state))
        return;
    state->services->disconnected(state->services->host, why);
    nats_leave(state);
}

/* ---- called by libnats ----------------------------------------------------------------------- */

static void nats_message(natsConnection *connection, natsSubscription *subscription, natsMsg *msg,
                         void *user)
{
    struct laz_carrier_subscription *sub = user;
    struct nats_state *state = sub->state;

    (void)connection;
    (void)subscription;
    if (nats_enter(state)) {
        if (natsMsg_IsNoResponders(msg))
            state->services->nobody(state->services->host, natsMsg_GetSubject(msg));
        else
            sub->received(sub->user, natsMsg_GetSubject(msg), natsMsg_GetReply(msg),
                          natsMsg_GetData(msg), (size_t)natsMsg_GetDataLength(msg));
        nats_leave(state);
    }
    natsMsg_Destroy(msg);
}

static void nats_done(void *user)
{
    struct laz_carrier_subscription *sub = user;
    struct nats_state *state = sub->state;

    pthread_mutex_lock(&state->lock);
    sub->next_done = state->done;
    state->done = sub;
    pthread_cond_broadcast(&state->changed);
    pthread_mutex_unlock(&state->lock);
}

/* The last call of a connection. */
static void nats_closed(natsConnection *connection, void *user)
{
    struct nats_state *state = user;

    (void)connection;
    pthread_mutex_lock(&state->lock);
    state->is_connected = state->is_up = false;
    state->is_lost = true;
    pthread_cond_broadcast(&state->changed);
    pthread_mutex_unlock(&state->lock);
}

static void nats_error(natsConnection *connection, natsSubscription *subscription,
                       natsStatus status, void *user)
{
    struct nats_state *state = user;
    const char *text = nats_words(status);
    char subject[LAZ_CARRIER_SUBJECT + 1], line[512];
    uint32_t what;

    (void)connection;
    (void)subscription;
    if (status == NATS_NOT_PERMITTED && nats_violation(text, &what, subject)) {
        if (!nats_enter(state))
            return;
        state->services->refused(state->services->host, what, subject, text);
        nats_leave(state);
        return;
    }
    snprintf(line, sizeof line, "%s%s",
             status == NATS_SLOW_CONSUMER
                 ? "messages were lost, because they came faster than they "
                   "were taken: "
                 : "the server: ",
             text);
    nats_log(state, LAZ_LOG_WARNING, line);
}

/* ---- subscriptions --------------------------------------------------------------------------- */

static void nats_attach(struct nats_state *state, struct laz_carrier_subscription *sub)
{
    natsStatus s = sub->queue ? natsConnection_QueueSubscribe(&sub->nats, state->nats, sub->subject,
                                                              sub->queue, nats_message, sub)
                              : natsConnection_Subscribe(&sub->nats, state->nats, sub->subject,
                                                         nats_message, sub);

    if (s != NATS_OK) { /* with a new connection it is tried again */
        sub->nats = NULL;
        if (s != NATS_CONNECTION_CLOSED)
            nats_log(state, LAZ_LOG_ERROR, nats_words(s));
        return;
    }
    if (natsSubscription_SetOnCompleteCB(sub->nats, nats_done, sub) == NATS_OK) {
        state->attached++;
        return;
    }
    /* The connection was lost in between. */
    natsSubscription_Destroy(sub->nats);
    sub->nats = NULL;
    state->is_leaking = true;
}

static void nats_sub_free(struct laz_carrier_subscription *sub)
{
    free(sub->subject);
    free(sub->queue);
    free(sub);
}

/* It was to end, and nothing more comes from it. */
static void nats_finish(struct nats_state *state, struct laz_carrier_subscription *sub)
{
    struct laz_carrier_subscription **at = &state->subs;

    while (*at != sub)
        at = &(*at)->next;
    *at = sub->next;
    pthread_mutex_lock(&state->lock);
    const bool may = sub->drained && !state->is_closing && !state->is_gone;
    state->running += may;
    pthread_mutex_unlock(&state->lock);
    if (may) {
        sub->drained(sub->drained_user);
        nats_leave(state);
    }
    if (!state->is_leaking)
        nats_sub_free(sub);
}

static void nats_end(struct nats_state *state, struct laz_carrier_subscription *sub)
{
    sub->is_ending = true;
    if (!sub->nats)
        nats_finish(state, sub);
    else
        (void)natsSubscription_Drain(sub->nats); /* a failure: it is done, or will be */
}

/* Of a subscription of libnats nothing more comes. */
static void nats_reap(struct nats_state *state, struct laz_carrier_subscription *sub)
{
    natsSubscription_Destroy(sub->nats);
    sub->nats = NULL;
    state->attached--;
    if (sub->is_ending)
        nats_finish(state, sub);
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static void nats_send_task(struct nats_state *state, struct nats_task *task)
{
    const char *data = task->text + task->data;
    natsStatus s = NATS_CONNECTION_CLOSED;

    if (state->nats && task->reply)
        s = natsConnection_PublishRequest(state->nats, task->text, task->text + task->reply, data,
                                          (int)task->len);
    else if (state->nats)
        s = natsConnection_Publish(state->nats, task->text, data, (int)task->len);
    /* A connection that fails is lost, which is heard of otherwise. */
    if (s == NATS_NO_MEMORY || s == NATS_MAX_PAYLOAD)
        nats_log(state, LAZ_LOG_ERROR, nats_words(s));
    pthread_mutex_lock(&state->lock);
    state->waiting -= task->len;
    pthread_mutex_unlock(&state->lock);
    free(task);
}

static void nats_run(struct nats_state *state, struct nats_task *task)
{
    switch (task->kind) {
    case NATS_SEND:
        nats_send_task(state, task);
        return;
    case NATS_BEGIN:
        task->sub->next = state->subs;
        state->subs = task->sub;
        if (state->nats)
            nats_attach(state, task->sub);
        return;
    case NATS_END:
        nats_end(state, task->sub);
        return;
    }
}

/* Takes something to do. False: there is nothing. With the lock. */
static bool nats_take(struct nats_state *state, struct laz_carrier_subscription **done,
                      struct nats_task **task)
{
    *done = state->done;
    *task = NULL;
    if (*done) {
        state->done = (*done)->next_done;
        return true;
    }
    *task = state->first;
    if (*task && !(state->first = (*task)->next))
        state->last = &state->first;
    return *task != NULL;
}

/* With the lock. `until_ms` -1: as long as it takes. */
static void nats_wait(struct nats_state *state, int64_t until_ms)
{
    struct timespec until = {.tv_sec = (time_t)(until_ms / 1000),
                             .tv_nsec = (long)(until_ms % 1000) * 1000000};

    if (until_ms < 0)
        pthread_cond_wait(&state->changed, &state->lock);
    else
        pthread_cond_timedwait(&state->changed, &state->lock, &until);
}

/* Does what there is to do while `goes_on` says so, until a time. */
static void nats_work(struct nats_state *state, bool (*goes_on)(struct nats_state *state),
                      int64_t until_ms)
{
    struct laz_carrier_subscription *done;
    struct nats_task *task;

    pthread_mutex_lock(&state->lock);
    while (goes_on(state) && (until_ms < 0 || nats_clock_ms() < until_ms)) {
        if (!nats_take(state, &done, &task)) {
            nats_wait(state, until_ms);
            continue;
        }
        pthread_mutex_unlock(&state->lock);
        if (done)
            nats_reap(state, done);
        else
            nats_run(state, task);
        pthread_mutex_lock(&state->lock);
    }
    pthread_mutex_unlock(&state->lock);
}

static bool nats_while_up(struct nats_state *state)
{
    return !state->is_lost && !state->is_closing;
}

static bool nats_while_open(struct nats_state *state)
{
    return !state->is_closing;
}

static bool nats_while_tasks(struct nats_state *state)
{
    return state->first && !state->is_lost;
}

static bool nats_while_attached(struct nats_state *state)
{
    return state->is_up || state->attached;
}

/* ---- connecting ------------------------------------------------------------------------------ */

static int nats_check(struct nats_state *state, const struct nats_server *server,
                      struct laz_error *err)
{
    const int64_t most = natsConnection_GetMaxPayload(state->nats);

    if (most < (int64_t)LAZ_CARRIER_MESSAGE)
        return laz_fail(err, LAZ_ECONFIG,
                        "%s takes messages of %lld bytes at most: its max_payload has to be %zu or "
                        "more",
                        server->url, (long long)most, LAZ_CARRIER_MESSAGE);
    if (natsConnection_HasHeaderSupport(state->nats) != NATS_OK)
        return laz_fail(err, LAZ_ECONFIG,
                        "%s is too old, or without headers: it cannot say that nobody listens",
                        server->url);
    pthread_mutex_lock(&state->lock);
    state->most = most < INT32_MAX ? most : INT32_MAX;
    pthread_mutex_unlock(&state->lock);
    return 0;
}

static void nats_leave_server(struct nats_state *state)
{
    natsConnection_Destroy(state->nats);
    state->nats = NULL;
    nats_work(state, nats_while_attached, -1);
}

static int nats_connect_to(struct nats_state *state, const struct nats_server *server,
                           struct laz_error *err)
{
    natsOptions *options;
    int rc = nats_config_options(&state->config, server, &options, err);

    if (rc)
        return rc;
    natsStatus s = natsOptions_SetClosedCB(options, nats_closed, state);
    if (s == NATS_OK)
        s = natsOptions_SetErrorHandler(options, nats_error, state);
    pthread_mutex_lock(&state->lock);
    state->is_lost = false;
    state->is_up = true;
    pthread_mutex_unlock(&state->lock);
    if (s == NATS_OK)
        s = natsConnection_Connect(&state->nats, options);
    natsOptions_Destroy(options);
    if (s != NATS_OK) { /* it was never up, and libnats says nothing more */
        rc = nats_fail(err, s, server->url);
        state->nats = NULL;
        pthread_mutex_lock(&state->lock);
        state->is_up = false;
        pthread_mutex_unlock(&state->lock);
        return rc;
    }
    rc = nats_check(state, server, err);
    if (rc)
        nats_leave_server(state);
    return rc;
}

/* Tries each server once, and says what the first one said unless that was silent. */
static int nats_connect(struct nats_state *state, struct laz_error *err)
{
    struct laz_error tried = {0};
    int rc = 0;

    for (size_t i = 0; i < state->config.n_servers; i++) {
        const size_t at = state->server++ % state->config.n_servers;
        const int now = nats_connect_to(state, &state->config.servers[at], &tried);
        if (!now)
            return 0;
        if (!rc || rc == LAZ_ETIMEOUT) {
            rc = now;
            *err = tried;
        }
    }
    return rc;
}

/* What was subscribed to is subscribed to again; from now on messages are taken. */
static void nats_begin(struct nats_state *state)
{
    for (struct laz_carrier_subscription *sub = state->subs; sub; sub = sub->next)
        nats_attach(state, sub);
    state->attempts = 0;
    pthread_mutex_lock(&state->lock);
    state->is_connected = !state->is_lost;
    pthread_mutex_unlock(&state->lock);
    nats_tell_connected(state);
}

/* A number below `most`, which need not be good. */
static int64_t nats_chance(int64_t most)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t x = (uint64_t)now.tv_nsec * UINT64_C(0x9E3779B97F4A7C15) ^ (uintptr_t)&now;
    x ^= x >> 29;
    x *= UINT64_C(0xBF58476D1CE4E5B9);
    x ^= x >> 32;
    return (int64_t)(x % (uint64_t)most);
}

static void nats_connect_again(struct nats_state *state)
{
    struct laz_error err = {0};
    int last = 0;

    for (;;) {
        int64_t wait = NATS_WAIT_FIRST << (state->attempts < 5 ? state->attempts : 5);
        if (wait > NATS_WAIT_MOST)
            wait = NATS_WAIT_MOST;
        state->attempts++;
        nats_work(state, nats_while_open, nats_clock_ms() + wait / 2 + nats_chance(wait / 2 + 1));
        pthread_mutex_lock(&state->lock);
        const bool is_closing = state->is_closing;
        pthread_mutex_unlock(&state->lock);
        if (is_closing)
            return;
        const int rc = nats_connect(state, &err);
        if (!rc) {
            nats_begin(state);
            return;
        }
        if (rc != last)
            nats_log(state, LAZ_LOG_WARNING, err.text);
        last = rc;
    }
}

static void nats_lost(struct nats_state *state)
{
    const char *text = "the connection was closed";
    char why[300];

    natsConnection_GetLastError(state->nats, &text);
    snprintf(why, sizeof why, "%s", text && *text ? text : "the connection was closed");
    nats_leave_server(state);
    nats_tell_disconnected(state, why);
}

static void nats_close_now(struct nats_state *state)
{
    const int64_t until = nats_clock_ms() + NATS_FLUSH_MS;

    nats_work(state, nats_while_tasks, until);
    const int64_t left = until - nats_clock_ms();
    if (state->nats && left > 0)
        (void)natsConnection_FlushTimeout(state->nats, left);
    if (state->nats)
        nats_leave_server(state);
}

void *nats_main(void *user)
{
    struct nats_state *state = user;
    struct laz_error err = {0};

    state->server = (size_t)nats_chance(NATS_SERVERS);
    const int rc = nats_connect(state, &err);
    if (!rc)
        nats_begin(state);
    pthread_mutex_lock(&state->lock);
    state->has_tried = true;
    state->err = err;
    state->err.code = rc;
    pthread_cond_broadcast(&state->changed);
    bool is_closing = state->is_closing || rc;
    pthread_mutex_unlock(&state->lock);
    while (!is_closing) {
        nats_work(state, nats_while_up, -1);
        pthread_mutex_lock(&state->lock);
        is_closing = state->is_closing;
        pthread_mutex_unlock(&state->lock);
        if (is_closing)
            break;
        nats_lost(state);
        nats_connect_again(state);
    }
    nats_close_now(state);
    nats_ReleaseThreadMemory();
    pthread_mutex_lock(&state->lock);
    state->is_done = true;
    const bool is_left = state->is_left;
    pthread_cond_broadcast(&state->changed);
    pthread_mutex_unlock(&state->lock);
    if (is_left)
        nats_state_free(state);
    return NULL;
}

void nats_state_free(struct nats_state *state)
{
    struct laz_carrier_subscription *sub;
    struct nats_task *task;

    while ((task = state->first)) {
        state->first = task->next;
        if (task->kind == NATS_SEND)
            free(task);
        else if (task->kind == NATS_BEGIN) {
            task->sub->next = state->subs;
            state->subs = task->sub;
        }
    }
    nats_config_free(&state->config);
    if (state->is_leaking)
        return;
    while ((sub = state->subs)) {
        state->subs = sub->next;
        nats_sub_free(sub);
    }
    pthread_cond_destroy(&state->changed);
    pthread_mutex_destroy(&state->lock);
    free(state);
}
