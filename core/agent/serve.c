/* SPDX-License-Identifier: MIT */
/* serve.c - the messages of a running agent, and the services a runtime gets.
 * Side: box.  Input trusted: yes (the host).
 *
 * The invariant is one line for one message, at most max_message bytes, whatever the code did: a
 * value that is too large becomes an error that names the limit, a text of an error is cut. A
 * process that the code forked shares the socket, so everything that would write to it looks at the
 * process id first. */
#include "agent/agent.h"

#include "base/json.h"
#include "base/outcome.h"
#include "wire/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SERVE_FRAMES     100  /* of a traceback */
#define SERVE_FRAME_SIZE 1000 /* bytes of each */

bool agent_is_forked(const struct agent *agent)
{
    return getpid() != agent->pid;
}

/* ---- to the host ---------------------------------------------------------------------------- */

void agent_send(struct agent *agent)
{
    laz_buf_putc(&agent->out, '\n');
    if (agent->out.failed)
        _exit(AGENT_EXIT_SETUP); /* no memory for a message: the host sees the end of the stream */
    const struct laz_part part = {agent->out.data, agent->out.len};
    if (!agent_channel_send(&agent->channel, &part, 1))
        _exit(0);
    laz_buf_clear(&agent->out);
}

static void serve_begin(struct agent *agent, const char *type, const struct agent_message *request)
{
    laz_buf_clear(&agent->out);
    laz_buf_printf(&agent->out, "{\"type\":\"%s\"", type);
    if (request && request->id) {
        laz_buf_puts(&agent->out, ",\"id\":");
        laz_buf_append(&agent->out, request->id, request->id_len);
    }
}

/* A text for people as a member, cut at a whole character to `max` bytes. */
static void serve_text(struct laz_buf *out, const char *name, const char *text, size_t len,
                       size_t max)
{
    if (len > max) {
        for (len = max; len && ((unsigned char)text[len] & 0xc0) == 0x80; len--)
            ;
    }
    if (name)
        laz_buf_printf(out, ",\"%s\":", name);
    laz_json_quote(out, text, len);
}

static void serve_traceback(struct laz_buf *out, const struct laz_outcome *outcome)
{
    size_t n = outcome->n_traceback;

    if (!n)
        return;
    laz_buf_puts(out, ",\"traceback\":[");
    for (size_t i = n > SERVE_FRAMES ? n - SERVE_FRAMES : 0, first = i; i < n; i++) {
        if (i > first)
            laz_buf_putc(out, ',');
        serve_text(out, NULL, outcome->traceback[i], strlen(outcome->traceback[i]),
                   SERVE_FRAME_SIZE);
    }
    laz_buf_putc(out, ']');
}

/* An error in at most max_message bytes: first all of it, then without the traceback, then with
 * less and less of the message. */
static void serve_error(struct agent *agent, const struct agent_message *request, const char *kind,
                        const struct laz_outcome *outcome)
{
    const char *message = outcome->message ? outcome->message : "unknown error";
    size_t len = strlen(message), max = agent->max_message;
    bool traceback = true;

    for (;;) {
        serve_begin(agent, "error", request);
        laz_buf_printf(&agent->out, ",\"kind\":\"%s\"", kind);
        if (outcome->kind == LAZ_OUTCOME_EXIT)
            laz_buf_printf(&agent->out, ",\"status\":%d", (int)outcome->exit_status);
        serve_text(&agent->out, "message", message, len, max);
        if (outcome->line > 0)
            laz_buf_printf(&agent->out, ",\"line\":%d", (int)outcome->line);
        if (outcome->column > 0)
            laz_buf_printf(&agent->out, ",\"column\":%d", (int)outcome->column);
        if (traceback)
            serve_traceback(&agent->out, outcome);
        laz_buf_putc(&agent->out, '}');
        if (agent->out.len <= agent->max_message || max == 0)
            break;
        if (traceback && outcome->n_traceback)
            traceback = false;
        else
            max = (max < len ? max : len) / 2;
    }
    agent_send(agent);
}

static void serve_too_large(struct agent *agent, const struct agent_message *request,
                            const char *what)
{
    char message[128];

    snprintf(message, sizeof message, "the %s exceeds max_message_size (%zu bytes)", what,
             agent->max_message);
    serve_error(agent, request, "too_large",
                &(struct laz_outcome){.size = sizeof(struct laz_outcome), .message = message});
}

/* The value goes out from where the runtime keeps it. */
static void serve_result(struct agent *agent, const struct agent_message *request,
                         const struct laz_outcome *outcome)
{
    struct laz_buf tail = LAZ_BUF_INIT;
    const char *value = outcome->value ? outcome->value : "null";
    size_t value_len = outcome->value ? outcome->value_len : 4;

    serve_begin(agent, "result", request);
    laz_buf_puts(&agent->out, ",\"value\":");
    if (outcome->text && outcome->text_len <= agent->max_message)
        serve_text(&tail, "text", outcome->text, outcome->text_len, SIZE_MAX);
    laz_buf_printf(&tail, ",\"visible\":%s}\n", outcome->visible ? "true" : "false");
    if (agent->out.failed || tail.failed)
        _exit(AGENT_EXIT_SETUP);
    size_t line_len = agent->out.len + value_len + tail.len - 1;
    if (value_len > agent->max_message) {
        serve_too_large(agent, request, "value");
    } else if (line_len > agent->max_message ||
               (outcome->text && outcome->text_len > agent->max_message)) {
        serve_too_large(agent, request, "value with its printed form");
    } else {
        const struct laz_part parts[] = {
            {agent->out.data, agent->out.len}, {value, value_len}, {tail.data, tail.len}};
        if (!agent_channel_send(&agent->channel, parts, 3))
            _exit(0);
    }
    laz_buf_fini(&tail);
}

/* ---- services of the runtime ---------------------------------------------------------------- */

static void serve_output(void *data, int stream, const char *text, size_t len)
{
    (void)data;
    (void)laz_os_write_waiting(stream == 2 ? STDERR_FILENO : STDOUT_FILENO, text, len);
}

static void serve_leave(void *data, int status)
{
    struct agent *agent = data;
    char message[64];

    if (agent_is_forked(agent) || !agent->request)
        _exit(status);
    snprintf(message, sizeof message, "the code ended its process with status %d", status & 0xff);
    serve_error(agent, agent->request, "exit",
                &(struct laz_outcome){.size = sizeof(struct laz_outcome),
                                      .kind = LAZ_OUTCOME_EXIT,
                                      .message = message,
                                      .exit_status = status & 0xff});
    _exit(status & 0xff);
}

void agent_services_init(struct agent *agent)
{
    agent->services = (struct laz_agent_services){
        .size = sizeof agent->services,
        .json = laz_json_api(),
        .agent = agent,
        .output = serve_output,
        .leave = serve_leave,
        .max_message = agent->max_message,
    };
    agent_calls_offer(agent);
}

/* ---- requests ------------------------------------------------------------------------------- */

static void serve_answer(struct agent *agent, const struct agent_message *request,
                         const struct laz_outcome *outcome)
{
    if (outcome->kind >= LAZ_N_ERROR_KINDS) {
        serve_error(agent, request, "runtime",
                    &(struct laz_outcome){.message = "the runtime gave an unknown outcome"});
    } else if (outcome->kind == LAZ_OUTCOME_VALUE) {
        serve_result(agent, request, outcome);
    } else if (outcome->kind == LAZ_OUTCOME_TOO_LARGE && !outcome->message) {
        serve_too_large(agent, request, "value");
    } else {
        struct laz_outcome error = *outcome;
        if (!error.message && error.kind == LAZ_OUTCOME_EXIT)
            error.message = "the code asked to end its process";
        serve_error(agent, request, laz_error_kinds[outcome->kind].name, &error);
    }
}

/* True when the agent has to end, with *status. */
static bool serve_run(struct agent *agent, struct agent_message *m, bool check, int *status)
{
    struct laz_outcome outcome = {.size = sizeof outcome};
    bool print = true;
    size_t len = 0;
    char *code = m->code ? laz_json_to_string(m->code, m->code_len, &len) : NULL;
    char id[32] = "";

    if (!code) {
        fputs("lazaret-agent: a request without code\n", stderr);
        *status = AGENT_EXIT_SETUP;
        return true;
    }
    /* The line is read over by the answers to tool calls; the id is needed after them. */
    if (m->id && m->id_len < sizeof id) {
        memcpy(id, m->id, m->id_len);
        m->id = id;
    }
    if (m->print)
        laz_json_to_bool(m->print, m->print_len, &print);
    agent->request = m;
    int rc = check ? agent->ops->check(agent->state, code, len, &outcome)
                   : agent->ops->eval(agent->state, code, len, print, &outcome);
    if (agent_is_forked(agent)) /* a child of the code came back instead of ending itself */
        _exit(outcome.kind == LAZ_OUTCOME_EXIT ? (int)outcome.exit_status : 0);
    if (check && rc == 0 && outcome.kind == LAZ_OUTCOME_VALUE) {
        outcome.value = "true";
        outcome.value_len = 4;
        outcome.text = NULL;
    }
    if (rc == 0)
        serve_answer(agent, m, &outcome);
    else
        fputs("lazaret-agent: the runtime broke down\n", stderr);
    free(code);
    agent->request = NULL;
    agent_calls_forget(agent);
    *status = rc ? AGENT_EXIT_SETUP : (int)outcome.exit_status;
    return rc != 0 || outcome.kind == LAZ_OUTCOME_EXIT;
}

int agent_serve(struct agent *agent)
{
    char *line;
    size_t len;
    int status = 0;
    bool done = false;

    while (!done) {
        struct agent_message m;
        int rc = agent_channel_line(&agent->channel, -1, &line, &len);
        if (rc == LAZ_ENOMEM) {
            serve_error(agent, &(struct agent_message){0}, "memory",
                        &(struct laz_outcome){.message = "not enough memory for the code"});
            continue;
        }
        if (rc)
            agent_hang_up(rc);
        bool ok = agent_message_parse(line, len, &m);
        if (ok && m.type && strcmp(m.type, "execute") == 0) {
            done = serve_run(agent, &m, false, &status);
        } else if (ok && m.type && strcmp(m.type, "check") == 0) {
            done = serve_run(agent, &m, true, &status);
        } else if (ok && m.type && strcmp(m.type, "exit") == 0) {
            done = true;
        } else if (!ok || m.type) {
            fprintf(stderr, "lazaret-agent: not a message of protocol %d\n", LAZ_PROTOCOL);
            status = AGENT_EXIT_SETUP;
            done = true;
        } /* else a late answer to a tool call */
        free(m.type);
    }
    return status;
}
