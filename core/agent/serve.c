/* SPDX-License-Identifier: MIT */
/* serve.c - the messages of a running agent, and the services a runtime gets.
 * Side: box.  Input trusted: yes (the host).
 *
 * The invariant is one line for one message, at most max_message bytes, whatever the code did: a
 * value that is too large is omitted, with a sentence that says so, and texts are cut.  A
 * process that the code forked shares the socket, so everything that would write to it looks at the
 * process id first. */
#include "agent/agent.h"

#include "base/outcome.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SERVE_FRAMES     100          /* of a traceback */
#define SERVE_FRAME_SIZE 1000         /* bytes of each */
#define SERVE_KEPT       (64u * 1024) /* of memory for a line that is kept for the next one */
#define SERVE_REST_MS    1000         /* without a request: memory that is kept goes back */

/* ---- to the host ---------------------------------------------------------------------------- */

void agent_flush_around(struct agent *agent, size_t hole, const char *value, size_t len)
{
    const struct laz_buf *out = &agent->out;

    if (out->failed)
        _exit(AGENT_EXIT_SETUP); /* no memory for a message: the host sees the end of the stream */
    const struct laz_part parts[] = {
        {out->data, hole}, {value, len}, {out->data + hole, out->len - hole}};
    if (!laz_os_send_parts(agent->channel.fd, parts, 3))
        _exit(0);
    agent->channel.was_large |= len + out->len >= AGENT_LARGE;
    laz_buf_clear(&agent->out);
}

void agent_flush(struct agent *agent)
{
    agent_flush_around(agent, agent->out.len, "", 0);
}

void agent_send(struct agent *agent, const struct laz_message *message)
{
    laz_buf_clear(&agent->out);
    laz_message_make(message, &agent->out);
    agent_flush(agent);
}

/* The length of a text that is cut to `max` bytes, at a whole character. */
static size_t serve_cut(const char *text, size_t len, size_t max)
{
    if (len > max)
        for (len = max; len && ((unsigned char)text[len] & 0xc0) == 0x80;)
            len--;
    return len;
}

/* The innermost calls. Without memory the error goes without a traceback. */
static void serve_traceback(const struct laz_outcome *outcome, struct laz_strv *frames)
{
    size_t n = outcome->n_traceback;

    for (size_t i = n > SERVE_FRAMES ? n - SERVE_FRAMES : 0; i < n; i++) {
        const char *frame = outcome->traceback[i];
        laz_strv_addf(frames, "%.*s", (int)serve_cut(frame, strlen(frame), SERVE_FRAME_SIZE),
                      frame);
    }
    if (frames->failed)
        laz_strv_fini(frames);
}

/* An error in at most max_message bytes: first all of it, then without the traceback, without what
 * was left out, then with less and less of the message. */
static void serve_error(struct agent *agent, const struct laz_message *request, const char *kind,
                        const struct laz_outcome *outcome)
{
    struct laz_message error = {
        .type = LAZ_MESSAGE_ERROR,
        .has_id = request->has_id,
        .id = request->id,
        .kind = kind,
        .has_status = outcome->kind == LAZ_OUTCOME_EXIT,
        .status = outcome->exit_status,
        .message = outcome->message ? outcome->message : "unknown error",
        .line = outcome->line > 0 ? outcome->line : 0,
        .column = outcome->column > 0 ? outcome->column : 0,
        .left_out = agent->files.left_out,
    };
    size_t len = strlen(error.message), max = agent->max_message;

    serve_traceback(outcome, &error.traceback);
    for (;;) {
        error.message_len = serve_cut(error.message, len, max);
        laz_buf_clear(&agent->out);
        laz_message_make(&error, &agent->out);
        if (agent->out.failed || agent->out.len - 1 <= agent->max_message || max == 0)
            break;
        if (error.traceback.n)
            laz_strv_fini(&error.traceback);
        else if (error.left_out.n)
            error.left_out = (struct laz_strv){0}; /* it is borrowed */
        else
            max = (max < len ? max : len) / 2;
    }
    laz_strv_fini(&error.traceback);
    agent_flush(agent);
}

/* Why a value is not sent: by the runtime, or because it is too large. */
static const char *serve_omitted(const struct agent *agent, const char *why)
{
    static char words[400];

    if (why)
        snprintf(words, sizeof words, "%.*s", (int)serve_cut(why, strlen(why), sizeof words - 1),
                 why);
    else
        snprintf(words, sizeof words, "the value exceeds %s (%zu bytes)",
                 agent->max_value > agent->max_message ? "artifacts.max_size"
                                                       : "session.max_message_size",
                 agent->max_value);
    return words;
}

/* Sends the value from where the runtime keeps it: in a line, or else in parts before the result,
 * with its text. False: there is no room for it in either. */
static bool serve_try_result(struct agent *agent, struct laz_message *result, const char *value,
                             size_t value_len)
{
    const size_t max = agent->max_message, most = agent->max_value, text_len = result->text_len;
    const char *text = result->text;
    struct laz_buf *out = &agent->out;

    laz_buf_clear(out);
    result->text = text_len > max ? NULL : text;
    size_t at = laz_message_make_around(result, out);
    result->text = text;
    if (value_len <= max && text_len <= max && out->len - 1 + value_len <= max) {
        agent_flush_around(agent, at, value, value_len);
        return true;
    }
    if (value_len > most || text_len > most || most <= max)
        return false;
    agent_files_send_bytes(agent, "value", value, value_len);
    if (text_len) {
        agent_files_send_bytes(agent, "text", text, text_len);
        result->text = NULL;
    }
    agent_send(agent, result);
    return true;
}

/* What there is no room for is no error: first the value is omitted, then the end of its text. */
static void serve_result(struct agent *agent, const struct laz_message *request,
                         const struct laz_outcome *outcome)
{
    const bool has_value = outcome->kind == LAZ_OUTCOME_VALUE && outcome->value;
    const char *value = has_value ? outcome->value : "null";
    size_t value_len = has_value ? outcome->value_len : 4;
    const size_t max = agent->max_message, most = agent->max_value;
    struct laz_strv *left_out = &agent->files.left_out;
    struct laz_message result = {
        .type = LAZ_MESSAGE_RESULT,
        .has_id = request->has_id,
        .id = request->id,
        .text = outcome->text,
        .text_len = outcome->text ? outcome->text_len : 0,
        .visible = outcome->visible,
        .left_out = *left_out,
    };
    bool is_whole = true;

    if (outcome->kind == LAZ_OUTCOME_TOO_LARGE)
        result.omitted = serve_omitted(agent, outcome->message);
    while (!serve_try_result(agent, &result, value, value_len)) {
        if (has_value && !result.omitted && (value_len > most || most <= max)) {
            result.omitted = serve_omitted(agent, NULL);
            value = "null";
            value_len = 4;
            continue;
        }
        if (is_whole)
            laz_strv_add(left_out, "the end of the text of the value, which is too long");
        is_whole = false;
        result.left_out = result.text_len ? *left_out : (struct laz_strv){0};
        result.text_len = serve_cut(result.text, result.text_len,
                                    result.text_len > most ? most : result.text_len / 2);
    }
}

/* ---- services of the runtime ---------------------------------------------------------------- */

struct serve_turn {
    struct agent *agent;
    int stream;
};

/* False: another thread writes to the other stream meanwhile, so there is no order to keep. */
static bool serve_has_turn(void *user)
{
    const struct serve_turn *turn = user;

    return atomic_load(&turn->agent->stream) == turn->stream;
}

static void serve_switch_output(void *data, int stream)
{
    struct agent *agent = data;
    const int last = atomic_exchange(&agent->stream, stream);

    if (!last || last == stream || agent->has_readers || agent_is_forked(agent))
        return;
    laz_os_await_reader(last == 2 ? STDERR_FILENO : STDOUT_FILENO, serve_has_turn,
                        &(struct serve_turn){agent, stream});
}

static void serve_output(void *data, int stream, const char *text, size_t len)
{
    serve_switch_output(data, stream);
    (void)laz_os_write_waiting(stream == 2 ? STDERR_FILENO : STDOUT_FILENO, text, len);
}

static void serve_leave(void *data, int status)
{
    struct agent *agent = data;
    char message[64];

    if (agent_is_forked(agent) || !agent->request)
        _exit(status);
    agent_files_collect(agent, AGENT_HAS_ENDED);
    snprintf(message, sizeof message, "the code ended its process with status %d", status & 0xff);
    serve_error(agent, agent->request, "exit",
                &(struct laz_outcome){.size = sizeof(struct laz_outcome),
                                      .kind = LAZ_OUTCOME_EXIT,
                                      .message = message,
                                      .exit_status = status & 0xff});
    _exit(status & 0xff);
}

static int serve_keeps(void *data, const char *path)
{
    return agent_files_keep(data, path);
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
        .max_value = agent->max_value,
        .switch_output = serve_switch_output,
        .keeps = serve_keeps,
    };
    agent_calls_offer(agent);
}

/* ---- the end of the interpreter -------------------------------------------------------------- */

void agent_end_runtime(struct agent *agent)
{
    if (agent->state && LAZ_HAS(agent->ops, destroy))
        agent->ops->destroy(agent->state);
    agent->state = NULL;
    fflush(NULL);
}

void agent_follow(struct agent *agent)
{
    char *line;
    size_t len;

    if (!agent->files.follows || agent_is_forked(agent))
        return;
    agent_files_collect(agent, AGENT_HAS_ENDED);
    serve_result(agent, &(struct laz_message){.has_id = true, .id = agent->files.id},
                 &(struct laz_outcome){.value = NULL});
    while (agent_channel_line(&agent->channel, -1, &line, &len) == 0)
        ;
}

/* ---- requests ------------------------------------------------------------------------------- */

static void serve_answer(struct agent *agent, const struct laz_message *request,
                         const struct laz_outcome *outcome)
{
    if (outcome->kind >= LAZ_N_ERROR_KINDS) {
        serve_error(agent, request, "runtime",
                    &(struct laz_outcome){.message = "the runtime returned an unknown outcome"});
    } else if (!laz_error_kinds[outcome->kind].name) {
        serve_result(agent, request, outcome);
    } else {
        serve_error(agent, request, laz_error_kinds[outcome->kind].name, outcome);
    }
}

/* Bytes of a byte order mark before the code, which editors of some systems write and interpreters
 * skip at the beginning of a file. */
static size_t serve_mark(const struct laz_message *request)
{
    return request->code_len >= 3 && memcmp(request->code, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

static int serve_eval(struct agent *agent, const struct laz_message *request, const char *code,
                      size_t len, struct laz_outcome *outcome)
{
    const struct laz_runtime_ops *ops = agent->ops;
    const struct laz_strv *argv = &request->argv;
    static char words[400];

    if (request->cwd && !agent_files_go(request->cwd)) {
        outcome->kind = LAZ_OUTCOME_RUNTIME;
        snprintf(words, sizeof words, "the working directory %.300s: %s", request->cwd,
                 strerror(errno));
        outcome->message = words;
        return 0;
    }
    if (request->input && (outcome->message = agent_files_input(agent, request->input))) {
        outcome->kind = LAZ_OUTCOME_RUNTIME;
        return 0;
    }
    if (argv->n && LAZ_HAS(ops, set_script) && ops->set_script &&
        ops->set_script(agent->state, (const char *const *)argv->items, argv->n,
                        request->directory) != 0) {
        outcome->kind = LAZ_OUTCOME_MEMORY;
        outcome->message = "not enough memory for the command line of the code";
        return 0;
    }
    return ops->eval(
        agent->state, code, len,
        (request->print ? LAZ_WANTED_TEXT : 0) | (request->invisible ? LAZ_WANTED_INVISIBLE : 0) |
            (request->native ? LAZ_WANTED_NATIVE : 0) | (request->is_last ? LAZ_WANTED_LAST : 0),
        outcome);
}

/* The code has ended: what it has made is sent. One that has asked to exit ends the interpreter,
 * whose last outcome is kept. */
static void serve_collect(struct agent *agent, struct laz_outcome *outcome)
{
    static char words[256];

    if (outcome->kind != LAZ_OUTCOME_EXIT) {
        agent_files_collect(agent, agent->files.is_last ? AGENT_ENDS_LATER : AGENT_GOES_ON);
        return;
    }
    agent->files.follows = false;
    snprintf(words, sizeof words, "%s",
             outcome->message ? outcome->message : "the code asked to end its process");
    *outcome = (struct laz_outcome){.size = sizeof *outcome,
                                    .kind = LAZ_OUTCOME_EXIT,
                                    .message = words,
                                    .exit_status = outcome->exit_status};
    agent_end_runtime(agent);
    agent_files_collect(agent, AGENT_HAS_ENDED);
}

/* Returns true when the agent has to end, with *status. */
static bool serve_run(struct agent *agent, const struct laz_message *request, int *status)
{
    struct laz_outcome outcome = {.size = sizeof outcome};
    const bool is_check = request->type == LAZ_MESSAGE_CHECK;
    struct laz_error why = {0};
    const size_t mark = serve_mark(request);
    const char *code = request->code + mark;
    const size_t len = request->code_len - mark;

    agent->request = request;
    agent_files_ask(agent, request);
    int rc = 0;
    if (!agent_interrupt_begin(request->has_id ? request->id : 0))
        outcome = (struct laz_outcome){
            .size = sizeof outcome, .kind = LAZ_OUTCOME_RUNTIME, .message = "interrupted"};
    else if (is_check)
        rc = agent->ops->check(agent->state, code, len, &outcome);
    else
        rc = serve_eval(agent, request, code, len, &outcome);
    agent_interrupt_end();
    if (agent_is_forked(agent)) /* a child of the code came back instead of ending itself */
        _exit(outcome.kind == LAZ_OUTCOME_EXIT ? (int)outcome.exit_status : 0);
    agent_files_input_end(agent);
    if (is_check && rc == 0 && outcome.kind == LAZ_OUTCOME_VALUE) {
        outcome.value = "true";
        outcome.value_len = 4;
        outcome.text = NULL;
    }
    if (rc == 0 && !is_check)
        serve_collect(agent, &outcome);
    if (rc == 0)
        serve_answer(agent, request, &outcome);
    else if (laz_plugin_said(rc, LAZ_PLUGIN_RUNTIME, agent->plugin->name,
                             is_check ? "check" : "eval", &why))
        fprintf(stderr, "lazaret-agent: %s\n", why.text);
    laz_strv_fini(&agent->files.left_out);
    if (agent->out.cap > SERVE_KEPT) /* it counts against the limit of the next request */
        laz_buf_fini(&agent->out);
    agent->request = NULL;
    agent_calls_forget(agent);
    if (rc == 0 && outcome.kind != LAZ_OUTCOME_EXIT)
        return false;
    *status = rc ? AGENT_EXIT_SETUP : (int)outcome.exit_status;
    return true;
}

/* Answers by why it has failed; NULL: it has not. */
static void serve_done(struct agent *agent, const struct laz_message *request, const char *why)
{
    if (why)
        serve_error(agent, request, "runtime", &(struct laz_outcome){.message = why});
    else
        serve_result(agent, request, &(struct laz_outcome){.value = NULL});
}

static void serve_no_memory(struct agent *agent, const struct laz_message *request)
{
    serve_error(agent, request, "memory",
                &(struct laz_outcome){.message = "not enough memory for the code"});
}

static void serve_rest(struct agent *agent)
{
    laz_frame_rest(&agent->channel.in);
    if (LAZ_HAS(agent->ops, rest))
        agent->ops->rest(agent->state);
    laz_heap_give_back();
    agent->channel.was_large = false;
}

/* The next request. What freed memory is kept makes the next large value cheap; it goes back when
 * none has come for a while. Without large values an agent sleeps until the next request. */
static int serve_next(struct agent *agent, char **line, size_t *len)
{
    if (agent->channel.was_large || laz_heap_has_grown(&agent->heap)) {
        int rc = agent_channel_line(&agent->channel, SERVE_REST_MS, line, len);
        if (rc != LAZ_ETIMEOUT)
            return rc;
        serve_rest(agent);
    }
    return agent_channel_line(&agent->channel, -1, line, len);
}

int agent_serve(struct agent *agent)
{
    char *line;
    size_t len;
    int status = 0;
    bool done = false;

    laz_heap_note(&agent->heap);
    while (!done) {
        struct laz_message message;
        struct laz_error err = {0};
        int rc = serve_next(agent, &line, &len);
        if (rc == LAZ_ENOMEM) {
            serve_no_memory(agent, &(struct laz_message){0});
            continue;
        }
        if (rc)
            agent_hang_up(rc);
        rc = laz_message_parse_host(line, len, LAZ_WIRE_IDLE, &message, &err);
        if (message.type != LAZ_MESSAGE_PUT)
            agent_files_put_end(agent);
        if (rc == LAZ_ENOMEM)
            serve_no_memory(agent, &message);
        else if (rc)
            agent_refuse(&err);
        else if (message.type == LAZ_MESSAGE_EXECUTE || message.type == LAZ_MESSAGE_CHECK)
            done = serve_run(agent, &message, &status);
        else if (message.type == LAZ_MESSAGE_PUT)
            serve_done(agent, &message, agent_files_put(agent, &message));
        else if (message.type == LAZ_MESSAGE_REMOVE)
            serve_done(agent, &message, agent_files_remove(agent, &message));
        else /* a reply that comes late is discarded: its call is forgotten */
            done = message.type == LAZ_MESSAGE_EXIT;
        laz_message_fini(&message);
    }
    return status;
}
