/* SPDX-License-Identifier: MIT */
/* calls.c - calls of tools: what is sent, what is open, whose an answer is.
 * Side: box.  Input trusted: yes (the host), but for the order of its answers, which is any.
 *
 * What the host would take for a breach of the protocol is not sent: a call outside of an execution
 * (a thread that outlives its own, what a runtime runs on its way out), of a forked child, or one
 * more than may be open at once.  An answer belongs to the call with its id, ids are never used
 * again, and one that nobody waits for any more is read over: so nothing of one execution reaches
 * the next.  Several calls are sent in one write where they are known together. */
#include "agent/agent.h"

#include "base/json.h"
#include "os/io.h"
#include "wire/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALLS_WRITE ((size_t)64 << 10) /* bytes that are sent together */

void agent_calls_init(struct agent *agent)
{
    pthread_mutex_init(&agent->calls.lock, NULL);
}

void agent_calls_fini(struct agent *agent)
{
    struct agent_calls *calls = &agent->calls;

    free(calls->open);
    calls->open = NULL;
    calls->n = calls->cap = 0;
    laz_buf_fini(&calls->failed);
    laz_buf_fini(&calls->answered);
    pthread_mutex_destroy(&calls->lock);
}

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
    int rc = 0;

    pthread_mutex_lock(&calls->lock);
    if (calls->n >= LAZ_OPEN_CALLS || (calls->n && calls->bytes + args_len > LAZ_OPEN_BYTES)) {
        rc = LAZ_EBUSY;
    } else if (calls->n == calls->cap) {
        size_t cap = calls->cap ? calls->cap * 2 : 8;
        struct agent_open *grown = realloc(calls->open, cap * sizeof *grown);
        if (grown) {
            calls->open = grown;
            calls->cap = cap;
        }
        rc = grown ? 0 : LAZ_ENOMEM;
    }
    if (rc == 0) {
        calls->open[calls->n++] = (struct agent_open){++calls->last, user, args_len};
        calls->bytes += args_len;
    }
    pthread_mutex_unlock(&calls->lock);
    return rc;
}

/* Closes the call with this id; 0: the one that was begun first. False: nobody waits for it. */
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

static int calls_fail(struct agent_calls *calls, const char **error, int code)
{
    *error = calls->failed.failed ? "out of memory" : laz_buf_text(&calls->failed);
    return code;
}

/* May the code talk to the host now? */
static int calls_allowed(struct agent *agent, const char **error)
{
    laz_buf_clear(&agent->calls.failed);
    if (agent_is_forked(agent))
        laz_buf_puts(&agent->calls.failed, "tools cannot be called from a forked process");
    else if (!agent->request)
        laz_buf_puts(&agent->calls.failed, "tools can be called during an execution only");
    else
        return 0;
    return calls_fail(&agent->calls, error, LAZ_EREFUSED);
}

/* Puts a call behind what agent->out holds, but for its arguments and "}\n", for which there is
 * room when they are `inlined`. */
static int calls_head(struct agent *agent, const struct laz_agent_call *call, bool inlined,
                      void *user, const char **error)
{
    struct agent_calls *calls = &agent->calls;
    struct laz_buf *out = &agent->out;
    size_t before = out->len;
    int rc = LAZ_ENOMEM;

    laz_buf_clear(&calls->failed);
    laz_buf_printf(
        out, "{\"type\":\"tool_call\",\"id\":%llu,\"tool\":", (unsigned long long)calls->last + 1);
    laz_json_quote(out, call->tool, strlen(call->tool));
    laz_buf_puts(out, ",\"args\":");
    if (laz_buf_reserve(out, inlined ? call->args_len + 2 : 0))
        rc = out->len - before + call->args_len + 1 > agent->max_message
                 ? LAZ_ETOOBIG
                 : open_add(calls, user, call->args_len);
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
    return calls_fail(calls, error, rc);
}

/* Sends agent->out, and one more call's arguments from where they are. */
static void calls_send(struct agent *agent, const char *args, size_t args_len)
{
    const struct laz_part parts[] = {
        {agent->out.data, agent->out.len}, {args, args_len}, {"}\n", 2}};

    if (agent->out.failed)
        _exit(AGENT_EXIT_SETUP); /* no memory for a message: the host sees the end of the stream */
    if (agent->out.len && !agent_channel_send(&agent->channel, parts, args ? 3 : 1))
        _exit(0);
    laz_buf_clear(&agent->out);
}

static int calls_send_one(struct agent *agent, const struct laz_agent_call *call, void *user,
                          const char **error)
{
    laz_buf_clear(&agent->out);
    int rc = calls_head(agent, call, false, user, error);
    if (rc == 0)
        calls_send(agent, call->args, call->args_len);
    return rc;
}

static int calls_begin(void *data, const char *tool, const char *args, size_t args_len, void *user,
                       const char **error)
{
    const struct laz_agent_call call = {tool, args, args_len};
    int rc = calls_allowed(data, error);

    return rc ? rc : calls_send_one(data, &call, user, error);
}

/* ---- answers -------------------------------------------------------------------------------- */

/* The id in the first bytes of an answer that found no memory; the host puts it there. */
static bool calls_id_of(const char *head, uint64_t *id)
{
    unsigned long long value;

    if (sscanf(head, "{\"id\":%llu", &value) != 1)
        return false;
    *id = value;
    return true;
}

/* The next line as an answer: 0, LAZ_ETIMEOUT, or LAZ_ENOMEM for one that could not be held. */
static int calls_line(struct agent *agent, int wait_ms, struct agent_message *m, uint64_t *id)
{
    int64_t number = 0;
    char *line;
    size_t len;

    int rc = agent_channel_line(&agent->channel, wait_ms, &line, &len);
    if (rc == LAZ_ETIMEOUT)
        return rc;
    if (rc == LAZ_ENOMEM && calls_id_of(agent->channel.head, id))
        return rc;
    if (rc == LAZ_ENOMEM)
        _exit(AGENT_EXIT_SETUP); /* whose it was nobody knows */
    if (rc)
        agent_hang_up(rc);
    if (!agent_message_parse(line, len, m))
        _exit(AGENT_EXIT_SETUP);
    if (m->type) {
        bool leave = strcmp(m->type, "exit") == 0;
        free(m->type);
        m->type = NULL;
        if (leave)
            _exit(0);
    }
    *id = 0; /* a minimal host answers in order, without ids */
    if (m->id)
        *id = laz_json_to_int(m->id, m->id_len, &number) && number > 0 ? (uint64_t)number
                                                                       : UINT64_MAX;
    return 0;
}

static int calls_next(void *data, int wait_ms, void **user, const char **text, size_t *len)
{
    struct agent *agent = data;
    struct laz_buf *answered = &agent->calls.answered;
    struct agent_message m = {0};
    uint64_t id;
    int rc;

    if (!open_count(&agent->calls))
        return LAZ_ENOENT;
    do
        rc = calls_line(agent, wait_ms, &m, &id);
    while (rc != LAZ_ETIMEOUT && !open_take(&agent->calls, id, user));
    if (rc == LAZ_ETIMEOUT)
        return rc;
    laz_buf_clear(answered);
    if (rc == 0 && !m.error) {
        *text = m.value ? m.value : "null";
        *len = m.value ? m.value_len : 4;
        return 0;
    }
    size_t error_len = 0;
    char *error = m.error ? laz_json_to_string(m.error, m.error_len, &error_len) : NULL;
    if (rc == LAZ_ENOMEM)
        laz_buf_puts(answered, "not enough memory for the value of the tool");
    else if (error)
        laz_buf_append(answered, error, error_len);
    else
        laz_buf_puts(answered, "the tool failed");
    free(error);
    *text = answered->failed ? "out of memory" : laz_buf_text(answered);
    *len = strlen(*text);
    return rc ? rc : LAZ_EREFUSED;
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

/* A call that waits for its answer has no other beside it. */
static int calls_alone(struct agent *agent, const char **error)
{
    int rc = calls_allowed(agent, error);

    if (rc || !open_count(&agent->calls))
        return rc;
    laz_buf_puts(&agent->calls.failed, "another call of a tool is open");
    return calls_fail(&agent->calls, error, LAZ_EBUSY);
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

/* Sends calls from `next` on, until no more may be open; tells of those that cannot be sent. */
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
        int rc = calls_head(agent, call, inlined, (void *)(uintptr_t)next, &error);
        if (rc == LAZ_EBUSY)
            break;
        if (rc) {
            answered(user, next, rc, error, strlen(error));
        } else if (inlined) {
            laz_buf_append(&agent->out, call->args, call->args_len);
            laz_buf_puts(&agent->out, "}\n");
        } else {
            calls_send(agent, call->args, call->args_len);
        }
    }
    calls_send(agent, NULL, 0);
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
    agent->services.call_tool = calls_one;
    agent->services.call_all = calls_all;
    agent->services.begin_call = calls_begin;
    agent->services.next_answer = calls_next;
    agent->services.answers_fd = calls_fd;
    agent->services.await_answer = calls_await;
}
