/* SPDX-License-Identifier: MIT */
/* nats.c - the carrier `nats`: servers of NATS, by libnats.
 *
 * Operations only put something in the queue of the connection's thread (connection.c). libnats has
 * threads that live as long as the process, so this plugin stays in memory once it is there; and
 * it brings OpenSSL, which nothing else of lazaret uses. */
#include "nats_private.h"

#include <lazaret/options.h>

#include <signal.h>
#include <time.h>

#define NATS_MOST     ((size_t)64 << 20) /* bytes that wait to be sent */
#define NATS_CLOSE_MS 3000               /* then the thread is left to itself */

static int nats_nomem(struct laz_error *err)
{
    return laz_fail(err, LAZ_ENOMEM, "out of memory");
}

/* ---- opening and closing --------------------------------------------------------------------- */

/* libnats has the process ignore SIGPIPE. That is for the application to decide: its own threads
 * are those of the carrier and of libnats, in which all signals are blocked. */
static void nats_start(void)
{
    struct sigaction pipe;

    sigaction(SIGPIPE, NULL, &pipe);
    nats_Open(-1);
    sigaction(SIGPIPE, &pipe, NULL);
}

static int nats_start_thread(struct nats_state *state, struct laz_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_once(&once, nats_start);
    const int failed = pthread_create(&state->thread, NULL, nats_main, state);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed ? laz_fail(err, LAZ_EOS, "a thread cannot be started") : 0;
}

static void nats_wait_until(struct nats_state *state, const bool *flag, int64_t ms)
{
    const int64_t until_ms = nats_clock_ms() + ms;
    const struct timespec until = {.tv_sec = (time_t)(until_ms / 1000),
                                   .tv_nsec = (long)(until_ms % 1000) * 1000000};

    while (!*flag && nats_clock_ms() < until_ms)
        pthread_cond_timedwait(&state->changed, &state->lock, &until);
}

static void nats_close(void *data)
{
    struct nats_state *state = data;

    pthread_mutex_lock(&state->lock);
    state->is_closing = true;
    pthread_cond_broadcast(&state->changed);
    nats_wait_until(state, &state->is_done, NATS_CLOSE_MS);
    state->is_gone = true;
    while (state->running)
        pthread_cond_wait(&state->changed, &state->lock);
    /* libnats may take longer, where a server does not answer. */
    const bool is_done = state->is_done;
    state->is_left = !is_done;
    if (!is_done)
        pthread_detach(state->thread);
    pthread_mutex_unlock(&state->lock);
    if (!is_done)
        return;
    pthread_join(state->thread, NULL);
    nats_state_free(state);
}

static struct nats_state *nats_state_new(const struct laz_carrier_services *services)
{
    struct nats_state *state = calloc(1, sizeof *state);
    pthread_condattr_t attributes;

    if (!state)
        return NULL;
    state->services = services;
    state->last = &state->first;
    state->most = INT32_MAX;
    pthread_mutex_init(&state->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&state->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return state;
}

static int nats_open(const struct laz_carrier_services *services, const char *options, size_t len,
                     void **out, struct laz_error *err)
{
    struct nats_state *state = nats_state_new(services);

    if (!state)
        return nats_nomem(err);
    int rc = nats_config_read(services->json, options, len, &state->config, err);
    if (!rc)
        rc = nats_start_thread(state, err);
    if (rc) {
        nats_state_free(state);
        return rc;
    }
    pthread_mutex_lock(&state->lock);
    nats_wait_until(state, &state->has_tried,
                    (state->config.connect_timeout + 1000) * (int64_t)state->config.n_servers);
    if (state->has_tried)
        rc = state->err.code ? laz_fail(err, state->err.code, "%s", state->err.text) : 0;
    else
        rc = laz_fail(err, LAZ_ETIMEOUT, "%s: no answer", state->config.servers[0].url);
    pthread_mutex_unlock(&state->lock);
    if (rc)
        nats_close(state);
    else
        *out = state;
    return rc;
}

/* ---- operations ------------------------------------------------------------------------------ */

/* With the lock. True: `nats_wake` is to follow without it, because who is woken while it is held
 * can only wait for it. */
static bool nats_put(struct nats_state *state, struct nats_task *task)
{
    const bool was_empty = !state->first;

    task->next = NULL;
    *state->last = task;
    state->last = &task->next;
    return was_empty;
}

static void nats_wake(struct nats_state *state, bool is_wanted)
{
    if (is_wanted)
        pthread_cond_broadcast(&state->changed);
}

static int nats_subscribe(void *data, const char *subject, const char *queue,
                          laz_carrier_received received, void *user,
                          struct laz_carrier_subscription **subscription, struct laz_error *err)
{
    struct nats_state *state = data;

    if (!nats_is_subject(subject, true) || (queue && !nats_is_subject(queue, false)))
        return laz_fail(err, LAZ_EINVAL, "\"%s\" is no subject",
                        nats_is_subject(subject, true) ? queue : subject);
    struct laz_carrier_subscription *sub = calloc(1, sizeof *sub);
    if (!sub)
        return nats_nomem(err);
    sub->state = state;
    sub->begin = (struct nats_task){.kind = NATS_BEGIN, .sub = sub};
    sub->end = (struct nats_task){.kind = NATS_END, .sub = sub};
    sub->received = received;
    sub->user = user;
    sub->subject = laz_option_copy(subject, strlen(subject));
    sub->queue = queue ? laz_option_copy(queue, strlen(queue)) : NULL;
    if (!sub->subject || (queue && !sub->queue)) {
        free(sub->subject);
        free(sub);
        return nats_nomem(err);
    }
    *subscription = sub;
    pthread_mutex_lock(&state->lock);
    const bool wakes = nats_put(state, &sub->begin);
    pthread_mutex_unlock(&state->lock);
    nats_wake(state, wakes);
    return 0;
}

static void nats_unsubscribe(void *data, struct laz_carrier_subscription *sub,
                             void (*drained)(void *user), void *user)
{
    struct nats_state *state = data;

    sub->drained = drained;
    sub->drained_user = user;
    pthread_mutex_lock(&state->lock);
    const bool wakes = nats_put(state, &sub->end);
    pthread_mutex_unlock(&state->lock);
    nats_wake(state, wakes);
}

static struct nats_task *nats_message_task(const char *subject, const char *reply, const char *data,
                                           size_t len)
{
    const size_t subject_size = strlen(subject) + 1, reply_size = reply ? strlen(reply) + 1 : 0;
    struct nats_task *task = malloc(sizeof *task + subject_size + reply_size + len);

    if (!task)
        return NULL;
    *task = (struct nats_task){.kind = NATS_SEND,
                               .reply = reply ? subject_size : 0,
                               .data = subject_size + reply_size,
                               .len = len};
    memcpy(task->text, subject, subject_size);
    if (reply)
        memcpy(task->text + task->reply, reply, reply_size);
    if (len)
        memcpy(task->text + task->data, data, len);
    return task;
}

/* May a message of so many bytes be taken? With the lock. */
static int nats_may_send(const struct nats_state *state, size_t len, struct laz_error *err)
{
    if (len > (size_t)state->most)
        return laz_fail(err, LAZ_ETOOBIG, "the server takes messages of %lld bytes at most",
                        (long long)state->most);
    if (!state->is_connected)
        return laz_fail(err, LAZ_ECLOSED, "there is no connection to the server");
    if (state->waiting && state->waiting + len > NATS_MOST)
        return laz_fail(err, LAZ_ECLOSED, "the server does not take %zu bytes that wait",
                        state->waiting);
    return 0;
}

static int nats_send(void *data, const char *subject, const char *reply, const char *bytes,
                     size_t len, struct laz_error *err)
{
    struct nats_state *state = data;

    if (!nats_is_subject(subject, false) || (reply && !nats_is_subject(reply, false)))
        return laz_fail(err, LAZ_EINVAL, "\"%s\" is no subject",
                        nats_is_subject(subject, false) ? reply : subject);
    if (len > INT32_MAX)
        return laz_fail(err, LAZ_ETOOBIG, "a message of %zu bytes", len);
    struct nats_task *task = nats_message_task(subject, reply, bytes, len);
    if (!task)
        return nats_nomem(err);
    pthread_mutex_lock(&state->lock);
    const int rc = nats_may_send(state, len, err);
    bool wakes = false;
    if (!rc) {
        state->waiting += len;
        wakes = nats_put(state, task);
    }
    pthread_mutex_unlock(&state->lock);
    nats_wake(state, wakes);
    if (rc)
        free(task);
    return rc;
}

/* ---- the plugin ------------------------------------------------------------------------------ */

static const struct laz_carrier_ops ops = {
    .size = sizeof ops,
    .open = nats_open,
    .subscribe = nats_subscribe,
    .unsubscribe = nats_unsubscribe,
    .send = nats_send,
    .close = nats_close,
};

LAZ_PLUGIN(nats) = {
    LAZ_PLUGIN_HEAD(LAZ_PLUGIN_CARRIER),      .name = "nats",          .version = "0.1.0",
    .summary = "messages by servers of NATS", .options = nats_options, .ops = &ops,
};
