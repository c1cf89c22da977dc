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
    const char *code, *runtime, *session, *input;
    size_t code_len, input_len;
    int64_t timeout, wait;
    bool is_fresh;
    struct laz_field_list files;
};

#define AT(member)    .at = offsetof(struct execute_file, member)
#define BYTES(member) AT(member), .len_at = offsetof(struct execute_file, member##_len)
#define NEEDED        .flags = LAZ_FIELD_REQUIRED

static const struct laz_field file_members[] = {
    {"name", LAZ_FIELD_TEXT, NEEDED, AT(name), .help = "in the working directory"},
    {"text", LAZ_FIELD_TEXT, BYTES(text)},
    {"base64", LAZ_FIELD_TEXT, BYTES(base64)},
    {"uri", LAZ_FIELD_TEXT, AT(uri), .help = "of a result"},
};
static const struct laz_fields file_fields = {
    MCP_FIELDS("a file of 'files'", struct execute_file, file_members), .is_closed = true,
    .null_is_absent = true};

#undef AT
#undef BYTES
#define AT(member) .at = offsetof(struct execute_args, member)

static const struct laz_field execute_members[] = {
    {"code", LAZ_FIELD_TEXT, NEEDED, AT(code), .len_at = offsetof(struct execute_args, code_len)},
    {"runtime", LAZ_FIELD_TEXT, AT(runtime), .help = "its language"},
    {"session", LAZ_FIELD_TEXT, AT(session), .help = "a handle of open_session"},
    {"fresh", LAZ_FIELD_BOOLEAN, AT(is_fresh), .help = "in an interpreter of its own"},
    {"timeout", LAZ_FIELD_INTEGER, .min = 1, .max = 86400, AT(timeout),
     .help = "seconds for the code, within the server's limit"},
    {"wait", LAZ_FIELD_INTEGER, .min = 1, .max = 3600, AT(wait),
     .help = "seconds; then the output so far, and the code goes on"},
    {"input", LAZ_FIELD_TEXT, AT(input), .len_at = offsetof(struct execute_args, input_len),
     .help = "text on its standard input"},
    {"files", LAZ_FIELD_LIST, AT(files), .of = &file_fields},
};
const struct laz_fields mcp_execute_fields = {
    MCP_FIELDS("'execute'", struct execute_args, execute_members), .is_closed = true,
    .null_is_absent = true};

/* ---- requests -------------------------------------------------------------------------------- */

static void request_free(struct mcp_request *request)
{
    LAZ_LIST_REMOVE(request->mcp->requests, request);
    request->mcp->n_requests--;
    request->mcp->request_bytes -= request->bytes;
    laz_result_free(request->result);
    free(request->answered);
    free(request->runtime);
    laz_buf_fini(&request->so_far);
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

/* Answers by its end. */
static void request_answer(struct mcp_request *request, struct mcp_asked *asked)
{
    asked->keeps = !request->is_fresh;
    asked->is_new = request->is_new;
    asked->told = request->told;
    mcp_answer_result(request->mcp, asked, request->result, &request->why);
    request->result = NULL;
    request_free(request);
}

/* Called by the library, which has no more business with it: the execution has ended. */
static void request_done(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct mcp_request *request = user;

    request_leave(request);
    request->result = result;
    if (err)
        request->why = *err;
    request->waits_ms = laz_loop_now_ms(request->mcp->loop);
    request->is_over = true;
    if (request->asked.id || !(request->state || request->handle)) /* else its client comes back */
        request_answer(request, &request->asked);
}

/* Output of one whose client is told before it has ended: no more than a result shows. */
static void request_output(void *user, int stream, const char *data, size_t len)
{
    struct mcp_request *request = user;
    const size_t room = MCP_SHOWN - request->so_far.len;

    (void)stream;
    if (request->is_cut)
        return;
    laz_buf_append(&request->so_far, data, len < room ? len : room);
    request->is_cut = len > room || request->so_far.failed;
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
    struct laz_file items[MCP_FILES + 1]; /* and the standard input */
    const struct laz_file *pointers[MCP_FILES + 1];
    char *decoded[MCP_FILES];
    size_t n, bytes;
};

static void files_free(struct given_files *files)
{
    for (size_t i = 0; i < MCP_FILES; i++)
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

static void files_add(struct given_files *files, const struct laz_file *file)
{
    files->items[files->n] = *file;
    files->pointers[files->n] = &files->items[files->n];
    files->n++;
    files->bytes += file->data_len;
}

/* Takes the files, within the bounds of a client. */
static int files_take(const struct laz_mcp *mcp, const struct execute_args *args,
                      struct given_files *files, struct laz_error *err)
{
    const struct execute_file *given = args->files.items;

    if (args->files.n > MCP_FILES)
        return laz_error_set(err, LAZ_ETOOBIG, 0, "an execution can have %d files", MCP_FILES);
    for (size_t i = 0; i < args->files.n; i++) {
        struct laz_file file;
        int rc = file_take(mcp, &given[i], &file, &files->decoded[files->n], err);
        if (rc)
            return rc;
        files_add(files, &file);
    }
    if (args->input)
        files_add(files, &(struct laz_file){.size = sizeof(struct laz_file),
                                            .name = MCP_INPUT,
                                            .data = args->input,
                                            .data_len = args->input_len});
    if (mcp->n_requests + mcp->n_answers < MCP_REQUESTS &&
        mcp->request_bytes + args->code_len + files->bytes <= mcp->values->session.max_value_size)
        return 0;
    return laz_error_set(err, LAZ_EBUSY, 0,
                         "too many executions were not answered yet: %zu, with %zu bytes of "
                         "code and files; wait for some of them",
                         mcp->n_requests + mcp->n_answers, mcp->request_bytes);
}

/* Has the client an identity from one request to the next? Then it has a session of its own. */
static bool request_has_own(const struct mcp_asked *asked)
{
    return asked->peer && (!asked->peer->mcp->http || asked->era == MCP_LEGACY);
}

/* A session that was opened. */
static int request_place_opened(struct mcp_request *request, const char *handle,
                                struct laz_place *place, struct laz_error *err)
{
    struct mcp_session *in = mcp_session_find(request->mcp, handle, err);

    if (!in)
        return err->code;
    if (request->runtime && strcmp(request->runtime, in->runtime) != 0)
        return laz_error_set(err, LAZ_EINVAL, 0, "this session is one of %s, not of %.80s",
                             in->runtime, request->runtime);
    if (in->running)
        return laz_error_set(err, LAZ_EBUSY, 0,
                             "an execution is in progress in this session: wait for its end, or "
                             "use another session");
    request->in = in;
    *place = laz_place_session(in->session);
    return 0;
}

/* Is a session in use that is used once, and whose place another one gets? */
static bool requests_will_leave(const struct laz_mcp *mcp)
{
    const struct mcp_request *request = mcp->requests;

    while (request && (request->in || request->is_queued || request->is_over))
        request = request->next;
    return request != NULL;
}

/* One of its own, or one that is used once. LAZ_EBUSY: it has to wait for it. */
static int request_place(struct mcp_request *request, struct mcp_peer *peer,
                         struct laz_place *place, struct laz_error *err)
{
    struct laz_mcp *mcp = request->mcp;
    struct mcp_session *in =
        request->is_fresh ? NULL : mcp_session_find_own(peer, request->runtime);

    const bool is_there = in && in->session; /* it may have expired */
    int rc = is_there ? 0 : mcp_session_may_be(mcp, err);
    if (is_there ? in->running != NULL : rc && requests_will_leave(mcp))
        return LAZ_EBUSY;
    if (rc)
        return rc;
    if (request->is_fresh) {
        *place = laz_place_fresh(&mcp->engine->sessions, mcp_session_ready(mcp, request->runtime));
        return 0;
    }
    rc = mcp_session_own(peer, request->runtime, &in, err);
    if (rc)
        return rc;
    request->is_new = in->has_expired;
    in->has_expired = false;
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
        .input = args->input ? MCP_INPUT : NULL,
        .trace = asked->traceparent ? trace : NULL,
    };

    laz_options_narrow(&laz_execute_members, &options, request->mcp->values);
    options.collect_cwd = 1;
    options.progress = asked->token || asked->era == MCP_MODERN ? request_progress : NULL;
    options.output = args->wait ? request_output : NULL;
    options.user = request;
    return options;
}

/* It has a session. */
static int request_begin_in(struct mcp_request *request, const struct laz_place *place,
                            struct laz_error *err)
{
    request->is_queued = false;
    int rc = laz_job_begin(request->job, place, err);

    if (rc)
        request->job = NULL;
    else if (request->in)
        request->in->running = request;
    else
        request->mcp->n_sessions++;
    return rc;
}

/* May one more wait for a session? LAZ_EBUSY. */
static int request_may_queue(const struct laz_mcp *mcp, struct laz_error *err)
{
    const uint64_t most = mcp->values->pool.max_waiting;
    uint64_t n = 0;

    for (const struct mcp_request *request = mcp->requests; request; request = request->next)
        n += request->is_queued;
    return most && n >= most
               ? laz_error_set(err, LAZ_EBUSY, 0,
                               "%llu executions wait for a session already (pool.max_waiting)",
                               (unsigned long long)most)
               : 0;
}

/* Begins the execution, or has it wait for its session: *asked is the request's from then on. */
static int request_begin(struct mcp_request *request, struct mcp_asked *asked,
                         const struct execute_args *args, const struct given_files *files,
                         struct laz_error *err)
{
    const struct laz_session_options session = {
        .size = sizeof session, .runtime = args->runtime, .warm = 1, .no_wait = 1};
    struct laz_mcp *mcp = request->mcp;
    struct laz_trace trace;
    struct laz_place place;

    request->is_fresh = !args->session && (args->is_fresh || !request_has_own(asked));
    if (args->session && args->is_fresh)
        return laz_error_set(err, LAZ_EINVAL, 0,
                             "'fresh' is an interpreter of its own: it cannot be with 'session'");
    if (args->runtime && !(request->runtime = laz_strdup(args->runtime)))
        return laz_error_nomem(err);
    int rc = args->session ? request_place_opened(request, args->session, &place, err)
                           : request_place(request, asked->peer, &place, err);
    request->is_queued = rc == LAZ_EBUSY && !args->session;
    if (request->is_queued)
        rc = request_may_queue(mcp, err);
    if (rc)
        return rc;
    const struct laz_execute_options options = request_options(request, asked, args, files, &trace);
    const struct laz_job_asked job = {
        LAZ_JOB_OF(args->code, args->code_len, &options, request_done, request),
        .session = &session};
    rc = laz_job_new(&job, &request->job, err);
    if (!rc && !request->is_queued)
        rc = request_begin_in(request, &place, err);
    if (rc)
        return rc;
    request->asked = *asked;
    *asked = (struct mcp_asked){0};
    request->due_ms = args->wait ? laz_loop_now_ms(mcp->loop) + (uint64_t)args->wait * 1000 : 0;
    request->bytes = args->code_len + files->bytes;
    request->next = mcp->requests;
    mcp->requests = request;
    mcp->n_requests++;
    mcp->request_bytes += request->bytes;
    laz_loop_wake(mcp->loop); /* when it is due is looked at */
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
    if (rc && request)
        free(request->runtime);
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
    request->state = request->handle = 0;
}

/* It has not begun. */
static void request_drop(struct mcp_request *request)
{
    laz_job_free(request->job);
    request_free(request);
}

void mcp_request_cancel(struct mcp_request *request)
{
    free(request->asked.id);
    request->asked.id = NULL;
    request->due_ms = 0;
    request_forget_state(request);
    if (request->is_over)
        request_free(request);
    else if (request->is_queued)
        request_drop(request);
    else
        laz_job_cancel(request->job);
}

void mcp_request_forgo(struct mcp_request *request)
{
    if (!request->handle) {
        mcp_request_cancel(request);
        return;
    }
    free(request->asked.id);
    request->asked.id = NULL;
    request->due_ms = 0;
}

static const struct laz_error waited_for = {
    .code = LAZ_EBUSY, .text = "another call waits for this execution, and gets its result"};

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
    mcp_refuse(&request->asked, &waited_for); /* a call of `wait` */
    mcp_asked_fini(&request->asked);
    request->asked = *asked;
    *asked = (struct mcp_asked){0};
    free(request->answered);
    request->answered = NULL;
    request->state = 0;
    if (!request->is_over) {
        mcp_approvals_take(request, params->responses, params->responses_len);
        return;
    }
    request_answer(request, &request->asked);
}

void mcp_gone(struct laz_mcp *mcp, const struct mcp_out *out, const struct mcp_peer *peer)
{
    for (struct mcp_request *request = mcp->requests, *next; request; request = next) {
        struct mcp_asked *asked = &request->asked;
        next = request->next;
        const bool is_unread = out && asked->out == out, is_left = peer && asked->peer == peer;
        if (is_unread)
            asked->out = NULL;
        if (is_left)
            asked->peer = NULL;
        if (!(is_unread || is_left) || !(asked->id || request->handle))
            continue;
        if (out) /* one call of many */
            mcp_request_forgo(request);
        else
            mcp_request_cancel(request);
    }
    if (peer)
        mcp_sessions_gone(mcp, peer);
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
        if (!request->state && !(request->handle && request->is_over))
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

/* The oldest that waits for a session and can have it; NULL: there is none. */
static struct mcp_request *requests_next_queued(const struct laz_mcp *mcp)
{
    struct mcp_request *oldest = NULL;

    for (struct mcp_request *request = mcp->requests; request; request = request->next) {
        const struct mcp_session *own =
            request->is_queued && !request->is_fresh
                ? mcp_session_find_own(request->asked.peer, request->runtime)
                : NULL;
        if (request->is_queued &&
            (own && own->session ? !own->running
                                 : !mcp_session_may_be(mcp, NULL) || !requests_will_leave(mcp)))
            oldest = request;
    }
    return oldest;
}

static void requests_begin_queued(struct laz_mcp *mcp)
{
    struct mcp_request *request;
    struct laz_place place;

    while ((request = requests_next_queued(mcp))) {
        struct laz_error err = {0};
        int rc = request_place(request, request->asked.peer, &place, &err);
        if (!rc)
            rc = request_begin_in(request, &place, &err);
        else
            laz_job_free(request->job);
        if (!rc)
            continue;
        mcp_refuse(&request->asked, &err);
        request_free(request);
    }
}

/* Its client is told what there is, and waits no more. */
static void request_tell(struct mcp_request *request)
{
    struct laz_mcp *mcp = request->mcp;
    struct mcp_asked asked = request->asked;
    char handle[MCP_HANDLE];

    if (!request->handle)
        request->handle = ++mcp->last_number;
    request->asked = (struct mcp_asked){.peer = request_has_own(&asked) ? asked.peer : NULL,
                                        .era = asked.era,
                                        .can_ask = asked.can_ask};
    mcp_handle_make(mcp, MCP_OF_EXECUTION, request->handle, handle);
    mcp_result_going_on(&asked,
                        request->is_queued ? "waits for a session"
                        : request->is_cut  ? "still running, and more output comes with its result"
                                           : "still running",
                        handle, &request->so_far);
    request->told += request->so_far.len;
    laz_buf_fini(&request->so_far); /* what is cut goes on where it was */
    mcp_asked_fini(&asked);
}

/* Tells whose time is over. Returns when the next is due. */
static uint64_t requests_tell(struct laz_mcp *mcp)
{
    const uint64_t now = laz_loop_now_ms(mcp->loop);
    uint64_t soonest = UINT64_MAX;

    for (struct mcp_request *request = mcp->requests; request; request = request->next) {
        if (!request->due_ms || !request->asked.id)
            continue;
        if (request->due_ms <= now) {
            request->due_ms = 0;
            request_tell(request);
        } else if (request->due_ms - now < soonest) {
            soonest = request->due_ms - now;
        }
    }
    return soonest;
}

uint64_t mcp_requests_tend(struct laz_mcp *mcp)
{
    const uint64_t now = laz_loop_now_ms(mcp->loop);
    const size_t most = requests_most_waiting(mcp);
    struct mcp_request *oldest;
    size_t n;

    requests_begin_queued(mcp);
    const uint64_t due = requests_tell(mcp);
    while ((oldest = requests_oldest_waiting(mcp, &n)) &&
           (n > most || now - oldest->waits_ms >= MCP_WAITING_MS))
        mcp_request_cancel(oldest);
    const uint64_t waits = oldest ? MCP_WAITING_MS - (now - oldest->waits_ms) : UINT64_MAX;
    return due < waits ? due : waits;
}

/* ---- executions that go on without their client ---------------------------------------------- */

struct mcp_request *mcp_request_going_on(const struct mcp_asked *asked, const char *handle,
                                         bool any, struct laz_error *err)
{
    struct laz_mcp *mcp = asked->peer->mcp;
    const int64_t number = handle ? mcp_handle_number(mcp, MCP_OF_EXECUTION, handle) : 0;

    struct mcp_request *found = NULL;

    for (struct mcp_request *request = mcp->requests; request; request = request->next) {
        const bool runs = !request->is_queued && !request->is_over;
        if (handle ? number && request->handle == number
                   : request->asked.peer == asked->peer && any && runs)
            return request;
        if (!handle && !found && request->asked.peer == asked->peer && request->handle)
            found = request;
    }
    if (found)
        return found;
    laz_error_set(err, LAZ_ENOENT, 0,
                  handle
                      ? "'execution' is none that goes on: it has ended and was answered, or its "
                        "result was kept for too long"
                      : "no execution of this connection goes on%s",
                  any ? "" : " that was begun with 'wait'");
    return NULL;
}

void mcp_request_go_on(struct mcp_request *request, struct mcp_asked *asked, uint64_t ms)
{
    if (request->is_over) {
        request_answer(request, asked);
    } else if (request->asked.id) {
        mcp_refuse(asked, &waited_for);
    } else {
        mcp_asked_fini(&request->asked);
        request->asked = *asked;
        *asked = (struct mcp_asked){0};
        request->due_ms = laz_loop_now_ms(request->mcp->loop) + ms;
        mcp_approvals_go_on(request);
        laz_loop_wake(request->mcp->loop); /* when it is due is looked at */
    }
}

void mcp_request_interrupt(struct mcp_request *request, struct mcp_asked *asked, uint64_t ms)
{
    static const struct laz_error dropped = {.code = LAZ_ECANCELLED,
                                             .text = "cancelled before it had begun"};
    static const struct laz_buf nothing = LAZ_BUF_INIT;
    struct laz_job *job = request->is_over ? NULL : request->job;

    if (request->is_queued) {
        mcp_refuse(&request->asked, &dropped);
        mcp_refuse(asked, &dropped);
        request_drop(request);
        return;
    }
    if (request->asked.id && !request->is_over)
        mcp_result_going_on(asked, "interrupted: the call that waits for it gets its result", NULL,
                            &nothing);
    else
        mcp_request_go_on(request, asked, ms);
    if (job)
        laz_job_cancel(job);
}

/* ---- the end of all -------------------------------------------------------------------------- */

void mcp_requests_end(struct laz_mcp *mcp)
{
    while (mcp->requests) {
        struct mcp_request *request = mcp->requests;
        request_forget_state(request);
        if (request->is_queued) {
            mcp_refuse(&request->asked, &(struct laz_error){.code = LAZ_ECANCELLED,
                                                            .text = "cancelled: the server ends"});
            request_drop(request);
        } else if (request->job)
            laz_job_abandon(request->job); /* `done` is called in here, which frees the request */
        else
            request_free(request);
    }
}
