/* SPDX-License-Identifier: MIT */
/* calls.c - calls of tools: what is sent, what is open, and which call a reply belongs to.
 * Side: box.  Input trusted: yes (the host); its replies come in any order.
 *
 * The agent does not send what the host would take for a breach of the protocol: a call outside of
 * an execution (of a thread that outlives its own, or of a runtime that is ending), a call of a
 * forked child, or more calls than may be open at once.  A reply belongs to the call with its id,
 * ids are never used again, and a reply to no open call is discarded: so nothing of one execution
 * reaches the next.  Calls that are known together are sent in one write. */
#include "agent/agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALLS_WRITE ((size_t)64 << 10) /* bytes that are sent together */

void agent_calls_forget(struct agent *agent)
{
    pthread_mutex_lock(&agent->calls.lock);
    agent->calls.n = agent->calls.bytes = 0;
    pthread_mutex_unlock(&agent->calls.lock);
}

/* ---- what is open --------------------------------------------------------------------------- */

/* Opens the call with the next id. 0, LAZ_EBUSY or LAZ_ENOMEM. */
static int open_add(struct agent_calls *calls, void *user, size_t args_len)
{
    struct agent_open *open = NULL;
    int rc = LAZ_EBUSY;

    pthread_mutex_lock(&calls->lock);
    if (calls->n < LAZ_OPEN_CALLS && (!calls->n || calls->bytes + args_len <= LAZ_OPEN_BYTES)) {
        open = laz_grow(&calls->open, &calls->n, sizeof *open);
        rc = open ? 0 : LAZ_ENOMEM;
    }
    if (open) {
        *open = (struct agent_open){++calls->last, user, args_len};
        calls->bytes += args_len;
    }
    pthread_mutex_unlock(&calls->lock);
    return rc;
}

/* Closes the call with this id; 0: the call that was begun first. False: there is none. */
static bool open_take(struct agent_calls *calls, uint64_t id, void **user)
{
    pthread_mutex_lock(&calls->lock);
    size_t n = calls->n, at = id ? n : 0;
    for (size_t i = 0; i < n; i++)
        if (id ? calls->open[i].id == id : calls->open[i].id < calls->open[at].id)
            at = i;
    if (at < n) {
        *user = calls->open[at].user;
        calls->bytes -= calls->open[at].args_len;
        calls->open[at] = calls->open[--calls->n];
    }
    pthread_mutex_unlock(&calls->lock);
    return at < n;
}

static size_t open_count(struct agent_calls *calls)
{
    pthread_mutex_lock(&calls->lock);
    size_t n = calls->n;
    pthread_mutex_unlock(&calls->lock);
    return n;
}

/* ---- sending -------------------------------------------------------------------------------- */

static int calls_allowed(const struct agent *agent, const char **error)
{
    if (agent_is_forked(agent))
        *error = "tools cannot be called from a forked process";
    else if (!agent->request)
        *error = "tools can be called during an execution only";
    else
        return 0;
    return LAZ_EREFUSED;
}

/* Appends a call to agent->out. Unless it is `inlined`, its arguments are left out: *hole is where
 * they belong. */
static int calls_make(struct agent *agent, const struct laz_agent_call *call, bool inlined,
                      void *user, size_t *hole, const char **error)
{
    struct agent_calls *calls = &agent->calls;
    struct laz_buf *out = &agent->out;
    const size_t before = out->len;
    const struct laz_message message = {.type = LAZ_MESSAGE_TOOL_CALL,
                                        .has_id = true,
                                        .id = (int64_t)calls->last + 1,
                                        .tool = call->tool,
                                        .args = call->args,
                                        .args_len = call->args_len};
    int rc = LAZ_ENOMEM;

    laz_buf_clear(&calls->failed);
    if (inlined)
        laz_message_make(&message, out);
    else
        *hole = laz_message_make_around(&message, out);
    size_t len = out->len - before - 1 + (inlined ? 0 : call->args_len);
    if (!out->failed)
        rc = len > agent->max_message ? LAZ_ETOOBIG : open_add(calls, user, call->args_len);
    if (rc == 0)
        return 0;
    out->len = before;
    out->failed = false;
    if (rc == LAZ_ETOOBIG)
        laz_buf_printf(&calls->failed,
                       "Tool '%s': the arguments (%zu bytes) exceed max_message_size (%zu bytes)",
                       call->tool, call->args_len, agent->max_message);
    else
        laz_buf_printf(&calls->failed, "Tool '%s': %s", call->tool,
                       rc == LAZ_EBUSY ? "as many calls are open as may be" : "out of memory");
    *error = calls->failed.failed ? "out of memory" : laz_buf_text(&calls->failed);
    return rc;
}

static int calls_send_one(struct agent *agent, const struct laz_agent_call *call, void *user,
                          const char **error)
{
    size_t hole;

    laz_buf_clear(&agent->out);
    int rc = calls_make(agent, call, false, user, &hole, error);
    if (rc == 0)
        agent_flush_around(agent, hole, call->args, call->args_len);
    return rc;
}

static int calls_begin(void *data, const char *tool, const char *args, size_t args_len, void *user,
                       const char **error)
{
    const struct laz_agent_call call = {tool, args, args_len};
    int rc = calls_allowed(data, error);

    return rc ? rc : calls_send_one(data, &call, user, error);
}

/* ---- replies -------------------------------------------------------------------------------- */

/* The next line as a reply: 0, LAZ_ETIMEOUT, or LAZ_ENOMEM for one that could not be held. *id is 0
 * for a reply without an id: a minimal host answers in order. */
static int calls_line(struct agent *agent, int wait_ms, struct laz_message *reply, uint64_t *id)
{
    struct laz_error err = {0};
    char *line;
    size_t len;

    *reply = (struct laz_message){.type = LAZ_MESSAGE_REPLY};
    int rc = agent_channel_line(&agent->channel, wait_ms, &line, &len);
    if (rc == LAZ_ENOMEM && laz_message_reply_id(agent->channel.head, id))
        return rc;
    if (rc == LAZ_ENOMEM)
        _exit(AGENT_EXIT_SETUP); /* the call it belongs to is not known */
    if (rc && rc != LAZ_ETIMEOUT)
        agent_hang_up(rc);
    if (rc == 0)
        rc = laz_message_parse_host(line, len, LAZ_WIRE_RUNNING, reply, &err);
    if (rc == LAZ_EPROTO)
        agent_refuse(&err);
    if (reply->type == LAZ_MESSAGE_EXIT)
        _exit(0);
    *id = !reply->has_id ? 0 : reply->id > 0 ? (uint64_t)reply->id : UINT64_MAX;
    return rc;
}

/* The text of a reply that is an error; it outlives the reply. */
static const char *calls_error(struct laz_buf *text, int rc, const struct laz_message *reply)
{
    if (rc == LAZ_ENOMEM)
        return "not enough memory for the value of the tool";
    if (!reply->error)
        return "the tool failed";
    laz_buf_clear(text);
    laz_buf_append(text, reply->error, reply->error_len);
    return text->failed ? "out of memory" : laz_buf_text(text);
}

static int calls_next(void *data, int wait_ms, void **user, const char **text, size_t *len)
{
    struct agent *agent = data;
    struct laz_message reply = {.type = LAZ_MESSAGE_REPLY};
    uint64_t id;
    int rc;

    if (!open_count(&agent->calls))
        return LAZ_ENOENT;
    do {
        laz_message_fini(&reply);
        rc = calls_line(agent, wait_ms, &reply, &id);
    } while (rc != LAZ_ETIMEOUT && !open_take(&agent->calls, id, user));
    if (rc == 0 && reply.value && !reply.error) {
        *text = reply.value;
        *len = reply.value_len;
    } else if (rc != LAZ_ETIMEOUT) {
        *text = calls_error(&agent->calls.answered, rc, &reply);
        *len = strlen(*text);
        rc = rc ? rc : LAZ_EREFUSED;
    }
    laz_message_fini(&reply);
    return rc;
}

static int calls_fd(void *data)
{
    return laz_os_watchable(((struct agent *)data)->channel.fd);
}

static int calls_await(void *data, int wait_ms)
{
    uint64_t ms = wait_ms < 0 ? LAZ_OS_FOREVER : (uint64_t)wait_ms;

    return laz_os_await(((struct agent *)data)->channel.fd, ms) ? 0 : LAZ_ETIMEOUT;
}

/* ---- whole calls ---------------------------------------------------------------------------- */

/* A call that waits for its reply has no other beside it. */
static int calls_alone(struct agent *agent, const char **error)
{
    int rc = calls_allowed(agent, error);

    if (rc || !open_count(&agent->calls))
        return rc;
    *error = "another call of a tool is open";
    return LAZ_EBUSY;
}

static int calls_one(void *data, const char *tool, const char *args, size_t args_len,
                     const char **value, size_t *value_len, const char **error)
{
    const struct laz_agent_call call = {tool, args, args_len};
    struct agent *agent = data;
    void *user;
    int rc = calls_alone(agent, error);

    if (rc == 0)
        rc = calls_send_one(agent, &call, NULL, error);
    if (rc)
        return rc;
    rc = calls_next(data, -1, &user, value, value_len);
    if (rc)
        *error = *value;
    return rc;
}

/* Sends calls from `next` on, until no more may be open; reports those that cannot be sent. */
static size_t
calls_send_some(struct agent *agent, const struct laz_agent_call *calls, size_t next, size_t n,
                void (*answered)(void *user, size_t index, int rc, const char *text, size_t len),
                void *user)
{
    const char *error;

    laz_buf_clear(&agent->out);
    for (; next < n; next++) {
        const struct laz_agent_call *call = &calls[next];
        bool inlined = agent->out.len + call->args_len <= CALLS_WRITE;
        size_t hole;
        int rc = calls_make(agent, call, inlined, (void *)(uintptr_t)next, &hole, &error);
        if (rc == LAZ_EBUSY)
            break;
        if (rc)
            answered(user, next, rc, error, strlen(error));
        else if (!inlined)
            agent_flush_around(agent, hole, call->args, call->args_len);
    }
    if (agent->out.len)
        agent_flush(agent);
    return next;
}

static int calls_all(void *data, const struct laz_agent_call *calls, size_t n,
                     void (*answered)(void *user, size_t index, int rc, const char *text,
                                      size_t len),
                     void *user, const char **error)
{
    struct agent *agent = data;
    const char *text;
    void *index;
    size_t len, next = 0;
    int rc = calls_alone(agent, error);

    if (rc)
        return rc;
    do {
        if (next < n)
            next = calls_send_some(agent, calls, next, n, answered, user);
        rc = calls_next(agent, -1, &index, &text, &len);
        if (rc != LAZ_ENOENT)
            answered(user, (size_t)(uintptr_t)index, rc, text, len);
    } while (rc != LAZ_ENOENT || next < n);
    return 0;
}

void agent_calls_offer(struct agent *agent)
{
    pthread_mutex_init(&agent->calls.lock, NULL);
    agent->services.call_tool = calls_one;
    agent->services.call_all = calls_all;
    agent->services.begin_call = calls_begin;
    agent->services.next_answer = calls_next;
    agent->services.answers_fd = calls_fd;
    agent->services.await_answer = calls_await;
}
