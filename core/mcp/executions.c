/* SPDX-License-Identifier: MIT */
/* executions.c - the tool `execute`: each call is a job (core/job).
 * Side: host.  Input trusted: no (of the client).
 *
 * A request lives until its execution has ended and was answered.  Its id is gone before that when
 * the client has cancelled it, or was asked a question in place of an answer (approvals.c).  Then
 * the execution, or its result, waits for the client; one that does not come back in time, or has
 * left too many of them, or cancels the id that was answered, has given it up. */
#include "mcp/mcp_private.h"

#include "base/base64.h"
#include "base/path.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- arguments ------------------------------------------------------------------------------- */

struct execute_file {
    const char *name, *text, *base64, *uri;
    size_t text_len, base64_len;
};

struct execute_args {
    const char *code, *runtime, *session;
    size_t code_len;
    int64_t timeout;
    struct laz_field_list files;
};

#define AT(member)    .at = offsetof(struct execute_file, member)
#define BYTES(member) AT(member), .len_at = offsetof(struct execute_file, member##_len)
#define NEEDED        .flags = LAZ_FIELD_REQUIRED

static const struct laz_field file_members[] = {
    {"name", LAZ_FIELD_TEXT, NEEDED, AT(name),
     .help = "its name in the directory where the code starts, without directories"},
    {"text", LAZ_FIELD_TEXT, BYTES(text), .help = "its content"},
    {"base64", LAZ_FIELD_TEXT, BYTES(base64), .help = "its content, in base64"},
    {"uri", LAZ_FIELD_TEXT, AT(uri), .help = "of a resource of this server that is its content"},
};
static const struct laz_fields file_fields = {
    MCP_FIELDS("a file of 'files'", struct execute_file, file_members), .is_closed = true};

#undef AT
#undef BYTES
#define AT(member) .at = offsetof(struct execute_args, member)

static const struct laz_field execute_members[] = {
    {"code", LAZ_FIELD_TEXT, NEEDED, AT(code), .len_at = offsetof(struct execute_args, code_len),
     .help = "the code; the value of its last expression is returned, and what it prints"},
    {"runtime", LAZ_FIELD_TEXT, AT(runtime),
     .help = "the language of the code; without it that of the session, or the usual one"},
    {"session", LAZ_FIELD_TEXT, AT(session),
     .help = "a handle of open_session; without it the code runs in an interpreter of its own, of "
             "which nothing is left"},
    {"timeout", LAZ_FIELD_INTEGER, .min = 1, .max = 86400, AT(timeout),
     .help = "seconds that the code may run; never longer than the server allows"},
    {"files", LAZ_FIELD_LIST, AT(files), .of = &file_fields,
     .help = "files for the code, each with one of text, base64 and uri"},
};
const struct laz_fields mcp_execute_fields = {
    MCP_FIELDS("'execute'", struct execute_args, execute_members), .is_closed = true};

/* ---- requests -------------------------------------------------------------------------------- */

static void request_free(struct mcp_request *request)
{
    LAZ_LIST_REMOVE(request->mcp->requests, request);
    request->mcp->n_requests--;
    request->mcp->request_bytes -= request->bytes;
    laz_result_free(request->result);
    free(request->answered);
    mcp_asked_fini(&request->asked);
    free(request);
}

struct mcp_request *mcp_request_find(const struct mcp_peer *peer, const char *id, bool is_answered)
{
    for (struct mcp_request *request = peer->mcp->requests; request; request = request->next) {
        const char *its = is_answered ? request->answered : request->asked.id;
        if (request->asked.peer == peer && its && strcmp(its, id) == 0)
            return request;
    }
    return NULL;
}

int64_t mcp_request_wait(struct mcp_request *request)
{
    request->answered = request->asked.id;
    request->asked.id = NULL;
    request->waits_ms = laz_loop_now_ms(request->mcp->loop);
    return request->state = ++request->mcp->last_number;
}

/* Its session is free for others. */
static void request_leave(struct mcp_request *request)
{
    if (request->in) {
        request->in->running = NULL;
        request->in->used_ms = laz_loop_now_ms(request->mcp->loop);
    } else {
        request->mcp->n_sessions--;
    }
    request->in = NULL;
    request->job = NULL;
}

/* Called by the library, which has no more business with it: the execution has ended. */
static void request_done(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct mcp_request *request = user;

    request_leave(request);
    if (request->state) { /* its client comes back for it */
        request->result = result;
        if (err)
            request->why = *err;
        request->waits_ms = laz_loop_now_ms(request->mcp->loop);
        request->is_over = true;
        return;
    }
    mcp_answer_result(request->mcp, &request->asked, result, err);
    request_free(request);
}

/* Once a second while the code runs. */
static void request_progress(void *user, const struct laz_execution_usage *usage)
{
    struct mcp_request *request = user;
    struct mcp_out *out = request->asked.out;
    const uint64_t ms = usage->wall_us / 1000;
    struct laz_json_write write;
    struct laz_buf text = LAZ_BUF_INIT;

    if (!request->asked.id || !request->asked.token || out->is_full(out) ||
        !mcp_tell_begin(out, NULL, "notifications/progress", &write))
        return;
    request->progress = ms > request->progress ? ms : request->progress + 1;
    laz_buf_printf(&text, "%llu s, CPU %.1f s, %llu MiB, %llu calls of tools",
                   (unsigned long long)(ms / 1000), (double)usage->cpu_us / 1e6,
                   (unsigned long long)(usage->max_rss_bytes >> 20),
                   (unsigned long long)usage->tool_calls);
    laz_json_add_raw(&write, "progressToken", request->asked.token, strlen(request->asked.token));
    laz_json_add_uint(&write, "progress", request->progress);
    laz_json_add_text(&write, "message", laz_buf_text(&text));
    mcp_tell_end(out, &write);
    laz_buf_fini(&text);
}

/* ---- what a request brings ------------------------------------------------------------------- */

/* As the library takes them. */
struct given_files {
    struct laz_file items[MCP_FILES];
    const struct laz_file *pointers[MCP_FILES];
    char *decoded[MCP_FILES];
    size_t n, bytes;
};

static void files_free(struct given_files *files)
{
    for (size_t i = 0; i < files->n; i++)
        free(files->decoded[i]);
    free(files);
}

static int file_decode(const struct execute_file *given, struct laz_file *file, char **decoded,
                       struct laz_error *err)
{
    if (!(*decoded = malloc(given->base64_len / 4 * 3 + 1)))
        return laz_error_nomem(err);
    const ptrdiff_t n = laz_base64_decode(given->base64, given->base64_len, *decoded);
    if (n < 0)
        return laz_error_set(err, LAZ_EINVAL, 0, "'base64' of the file %.80s is not base64",
                             given->name);
    file->data = *decoded;
    file->data_len = (size_t)n;
    return 0;
}

static int file_take(const struct laz_mcp *mcp, const struct execute_file *given,
                     struct laz_file *file, char **decoded, struct laz_error *err)
{
    const struct mcp_resource *resource = NULL;

    if (!laz_name_is_plain(given->name))
        return laz_error_set(err, LAZ_EINVAL, 0, LAZ_NAME_RULE);
    if (!!given->text + !!given->base64 + !!given->uri != 1)
        return laz_error_set(err, LAZ_EINVAL, 0,
                             "the file %.80s needs one of 'text', 'base64' and 'uri'", given->name);
    *file = (struct laz_file){.size = sizeof *file, .name = given->name};
    if (given->base64)
        return file_decode(given, file, decoded, err);
    if (given->uri && !(resource = mcp_resource_find(mcp, given->uri, err)))
        return err->code;
    file->data = resource ? resource->data : given->text;
    file->data_len = resource ? resource->len : given->text_len;
    return 0;
}

/* Takes the files, within the bounds of a client. */
static int files_take(const struct laz_mcp *mcp, const struct execute_args *args,
                      struct given_files *files, struct laz_error *err)
{
    const struct execute_file *given = args->files.items;

    if (args->files.n > MCP_FILES)
        return laz_error_set(err, LAZ_ETOOBIG, 0, "an execution can have %d files", MCP_FILES);
    for (size_t i = 0; i < args->files.n; i++) {
        struct laz_file *file = &files->items[files->n];
        files->pointers[files->n] = file;
        int rc = file_take(mcp, &given[i], file, &files->decoded[files->n++], err);
        if (rc)
            return rc;
        files->bytes += file->data_len;
    }
    if (mcp->n_requests + mcp->n_answers < MCP_REQUESTS &&
        mcp->request_bytes + args->code_len + files->bytes <= mcp->values->session.max_value_size)
        return 0;
    return laz_error_set(err, LAZ_EBUSY, 0,
                         "too many executions were not answered yet: %zu, with %zu bytes of "
                         "code and files; wait for some of them",
                         mcp->n_requests + mcp->n_answers, mcp->request_bytes);
}

/* Where it runs. */
static int request_place(struct mcp_request *request, const struct execute_args *args,
                         struct laz_place *place, struct laz_error *err)
{
    struct laz_mcp *mcp = request->mcp;
    struct mcp_session *in = NULL;

    if (!args->session) {
        *place = laz_place_fresh(&mcp->engine->sessions, mcp_session_ready(mcp, args->runtime));
        return mcp_session_may_be(mcp, err);
    }
    if (!(in = mcp_session_find(mcp, args->session, err)))
        return err->code;
    if (args->runtime && strcmp(args->runtime, in->runtime) != 0)
        return laz_error_set(err, LAZ_EINVAL, 0, "this session is one of %s, not of %.80s",
                             in->runtime, args->runtime);
    if (in->running)
        return laz_error_set(err, LAZ_EBUSY, 0,
                             "an execution is in progress in this session: wait for its end, or "
                             "use another session");
    request->in = in;
    *place = laz_place_session(in->session);
    return 0;
}

/* What the client asks for, as far as a remote caller may; the handlers are ours. `trace` is
 * filled. */
static struct laz_execute_options request_options(struct mcp_request *request,
                                                  const struct mcp_asked *asked,
                                                  const struct execute_args *args,
                                                  const struct given_files *files,
                                                  struct laz_trace *trace)
{
    *trace = (struct laz_trace){
        .size = sizeof *trace,
        .parent = asked->traceparent,
        .state = asked->tracestate,
    };
    struct laz_execute_options options = {
        .size = sizeof options,
        .timeout_ms = (uint64_t)args->timeout * 1000,
        .files = files->pointers,
        .n_files = files->n,
        .trace = asked->traceparent ? trace : NULL,
    };

    laz_options_narrow(&laz_execute_members, &options, request->mcp->values);
    options.collect_cwd = !args->session;
    options.progress = asked->token || asked->era == MCP_MODERN ? request_progress : NULL;
    options.user = request;
    return options;
}

/* Begins the execution: *asked is the request's from then on. */
static int request_begin(struct mcp_request *request, struct mcp_asked *asked,
                         const struct execute_args *args, const struct given_files *files,
                         struct laz_error *err)
{
    const struct laz_session_options session = {
        .size = sizeof session, .runtime = args->runtime, .warm = 1, .no_wait = 1};
    struct laz_trace trace;
    struct laz_place place;
    int rc = request_place(request, args, &place, err);

    if (rc)
        return rc;
    const struct laz_execute_options options = request_options(request, asked, args, files, &trace);
    const struct laz_job_asked job = {
        LAZ_JOB_OF(args->code, args->code_len, &options, request_done, request),
        .session = &session};
    rc = laz_job_ask(&job, &place, &request->job, err);
    if (rc)
        return rc;
    struct laz_mcp *mcp = request->mcp;
    request->asked = *asked;
    request->asked.keeps = request->in != NULL;
    *asked = (struct mcp_asked){0};
    request->bytes = args->code_len + files->bytes;
    request->next = mcp->requests;
    mcp->requests = request;
    mcp->n_requests++;
    mcp->request_bytes += request->bytes;
    if (request->in)
        request->in->running = request;
    else
        mcp->n_sessions++;
    return 0;
}

/* Makes a request of the arguments and begins it, or nothing is left of it. */
static int execute_begin(struct laz_mcp *mcp, struct mcp_asked *asked,
                         const struct execute_args *args, struct laz_error *err)
{
    struct mcp_request *request = calloc(1, sizeof *request);
    struct given_files *files = calloc(1, sizeof *files);
    int rc = request && files ? files_take(mcp, args, files, err) : laz_error_nomem(err);

    if (!rc) {
        request->mcp = mcp;
        rc = request_begin(request, asked, args, files, err);
    }
    if (files)
        files_free(files);
    if (rc)
        free(request);
    return rc;
}

void mcp_execute(struct laz_mcp *mcp, struct mcp_asked *asked, const char *arguments, size_t len)
{
    struct execute_args args = {0};
    struct laz_error err = {0};

    if (mcp_read(&mcp_execute_fields, arguments, len, &args, &err) != 0 ||
        execute_begin(mcp, asked, &args, &err) != 0)
        mcp_refuse(asked, &err);
    laz_fields_free(&mcp_execute_fields, &args);
}

/* ---- the end of requests --------------------------------------------------------------------- */

/* Nobody comes back for it. */
static void request_forget_state(struct mcp_request *request)
{
    free(request->answered);
    request->answered = NULL;
    request->state = 0;
}

void mcp_request_cancel(struct mcp_request *request)
{
    free(request->asked.id);
    request->asked.id = NULL;
    request_forget_state(request);
    if (request->is_over)
        request_free(request);
    else
        laz_job_cancel(request->job);
}

void mcp_request_resume(struct mcp_asked *asked, const struct mcp_params *params)
{
    struct laz_mcp *mcp = asked->peer->mcp;
    const int64_t number = mcp_handle_number(mcp, MCP_OF_STATE, params->state);
    struct mcp_request *request = mcp->requests;

    while (request && request->state != number)
        request = request->next;
    if (!number || !request) {
        mcp_fail(asked, MCP_INVALID_PARAMS,
                 number ? "'requestState' was used already, or it has expired, was cancelled, or "
                          "had to make room for newer ones"
                        : "'requestState' is none of this server");
        return;
    }
    mcp_asked_fini(&request->asked);
    request->asked = *asked;
    *asked = (struct mcp_asked){0};
    request_forget_state(request);
    if (!request->is_over) {
        mcp_approvals_take(request, params->responses, params->responses_len);
        return;
    }
    mcp_answer_result(mcp, &request->asked, request->result, &request->why);
    request->result = NULL;
    request_free(request);
}

void mcp_gone(struct laz_mcp *mcp, const struct mcp_out *out, const struct mcp_peer *peer)
{
    for (struct mcp_request *request = mcp->requests; request; request = request->next) {
        struct mcp_asked *asked = &request->asked;
        const bool is_unread = out && asked->out == out, is_left = peer && asked->peer == peer;
        if (is_unread)
            asked->out = NULL;
        if (is_left)
            asked->peer = NULL;
        if ((is_unread || is_left) && asked->id)
            mcp_request_cancel(request);
    }
    if (out)
        mcp_listens_gone(mcp, out);
    mcp_answers_gone(mcp, out, peer);
}

/* The one that waits for its client for the longest time, and how many do. */
static struct mcp_request *requests_oldest_waiting(const struct laz_mcp *mcp, size_t *n)
{
    struct mcp_request *oldest = NULL;

    *n = 0;
    for (struct mcp_request *request = mcp->requests; request; request = request->next) {
        if (!request->state)
            continue;
        if (!oldest || request->waits_ms <= oldest->waits_ms)
            oldest = request;
        ++*n;
    }
    return oldest;
}

/* How many may wait: of few sessions no more than half. */
static size_t requests_most_waiting(const struct laz_mcp *mcp)
{
    const uint64_t half = (mcp->values->pool.max_sessions + 1) / 2;

    return half && half < MCP_WAITING ? (size_t)half : MCP_WAITING;
}

uint64_t mcp_requests_tend(struct laz_mcp *mcp)
{
    const uint64_t now = laz_loop_now_ms(mcp->loop);
    const size_t most = requests_most_waiting(mcp);
    struct mcp_request *oldest;
    size_t n;

    while ((oldest = requests_oldest_waiting(mcp, &n)) &&
           (n > most || now - oldest->waits_ms >= MCP_WAITING_MS))
        mcp_request_cancel(oldest);
    return oldest ? MCP_WAITING_MS - (now - oldest->waits_ms) : UINT64_MAX;
}

void mcp_requests_end(struct laz_mcp *mcp)
{
    while (mcp->requests) {
        struct mcp_request *request = mcp->requests;
        request_forget_state(request);
        if (request->job)
            laz_job_abandon(request->job); /* `done` is called in here, which frees the request */
        else
            request_free(request);
    }
}
