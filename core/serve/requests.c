/* SPDX-License-Identifier: MIT */
/* requests.c - what clients ask for: sessions, pools, executions.
 * Side: host.  Input trusted: no (of the client; the members were checked by host/message.c).
 *
 * Each request is answered exactly once: an execution by its completion callback, everything else
 * at once.  A request lives until that callback, so all callbacks of the library may use it. */
#include "serve/serve_private.h"

#include "base/trace.h"

#include <stdlib.h>
#include <string.h>

/* ---- tools, sessions, pools ------------------------------------------------------------------ */

static size_t tools_gather(const struct serve_tool_set *set, const struct laz_session_tool **to,
                           size_t n)
{
    for (size_t i = 0; set && i < set->n; i++, n++)
        if (to)
            to[n] = &set->items[i];
    return n;
}

/* The tools that a session of this client has with `own` (NULL: none). The caller frees *tools. */
static int tools_of_client(const struct serve_client *client, const struct serve_tool_set *own,
                           const struct laz_session_tool ***tools, size_t *n, struct laz_error *err)
{
    *tools = NULL;
    *n = tools_gather(own, NULL, 0);
    for (const struct serve_tool_set *set = client->tools; set; set = set->next)
        *n = tools_gather(set, NULL, *n);
    if (*n && !(*tools = calloc(*n, sizeof **tools)))
        return laz_error_nomem(err);
    *n = tools_gather(own, *tools, 0);
    for (const struct serve_tool_set *set = client->tools; set; set = set->next)
        *n = tools_gather(set, *tools, *n);
    return 0;
}

/* Keeps a list for the sessions that this client opens. */
static int tools_keep(struct serve_client *client, struct serve_tool_set *set,
                      struct laz_error *err)
{
    const struct laz_session_tool **tools;
    size_t n;
    int rc = tools_of_client(client, set, &tools, &n, err);

    if (!rc)
        rc = laz_engine_check_tools(client->server->engine, tools, n, err);
    free(tools);
    if (rc)
        return rc;
    set->next = client->tools;
    client->tools = set;
    return 0;
}

static int requests_tools(struct serve_client *client, const struct serve_message *message,
                          struct laz_error *err)
{
    const bool is_shared = client->server->is_stdio; /* no other client: a template can have them */
    struct serve_tool_set *set;

    if (client->n_lists >= SERVE_LISTS)
        return laz_error_set(err, LAZ_EREFUSED, 0, "a client can register %d lists of tools",
                             SERVE_LISTS);
    int rc = serve_tools_read(client->server, message->tools, message->tools_len, &set, err);
    if (rc)
        return rc;
    const size_t n = set->n;
    if (client->n_tools + n > SERVE_N_TOOLS) {
        serve_tools_free(set);
        return laz_error_set(err, LAZ_EREFUSED, 0, "a client can register %d tools", SERVE_N_TOOLS);
    }
    rc = is_shared ? serve_tools_share(client->server, set, err) : tools_keep(client, set, err);
    if (rc || is_shared)
        serve_tools_free(set);
    if (!rc || is_shared) { /* of a shared list that is wrong, some may have been added */
        client->n_tools += n;
        client->n_lists++;
    }
    if (rc)
        return rc;
    serve_send(client, SERVE_DONE, &(struct serve_message){.has_id = true, .id = message->id});
    return 0;
}

/* Starts the session of `session`, with the tools that its client has. */
static int session_start(struct serve_session *session, struct laz_error *err)
{
    struct serve_client *client = session->client;
    const struct laz_session_tool **tools;
    size_t n;
    int rc = tools_of_client(client, session->tools, &tools, &n, err);

    if (rc)
        return rc;
    struct laz_credential_list credentials;
    struct laz_network_list list;
    const struct laz_session_options options = {
        .size = sizeof options,
        .runtime = session->runtime,
        .no_wait = 1,
        .warm = session->warm,
        .tools = tools,
        .n_tools = n,
        .network = serve_network_list(&session->first, &list),
        .identity = serve_client_identity(client),
        .credentials = serve_credentials_list(&session->credentials, &credentials),
    };
    struct laz_session *opened = NULL;
    rc = laz_session_open(client->server->engine, &options, &opened, err);
    if (!rc)
        rc = serve_network_set(opened, &session->network, err);
    if (rc)
        laz_session_free(opened);
    else
        session->session = opened;
    free(tools);
    return rc;
}

/* Ends it: what it executes is answered in here. */
static void session_free(struct serve_session *session)
{
    struct laz_pool *pool = session->pool;

    LAZ_LIST_REMOVE(session->client->sessions, session);
    serve_sessions_uncount(session->client, session->most);
    if (session->session && !session->running)
        serve_client_leaves_session(session->client, session->session);
    session->pool = NULL; /* nothing is given back to it */
    laz_session_free(session->session);
    laz_pool_free(pool);
    serve_tools_free(session->tools);
    serve_network_fini(&session->first);
    serve_network_fini(&session->network);
    serve_credentials_fini(&session->credentials);
    serve_file_fini(&session->file);
    free(session->runtime);
    free(session);
}

static int session_new(struct serve_client *client, const struct serve_message *message,
                       size_t most, struct serve_session **out, struct laz_error *err)
{
    int rc = serve_sessions_count(client, most, err);

    if (rc)
        return rc;
    struct serve_session *session = calloc(1, sizeof *session);
    if (!session || (message->runtime && !(session->runtime = laz_strdup(message->runtime)))) {
        serve_sessions_uncount(client, most);
        free(session);
        return laz_error_nomem(err);
    }
    session->client = client;
    session->number = ++client->last_number;
    session->most = most;
    session->next = client->sessions;
    client->sessions = session;
    *out = session;
    return 0;
}

static void session_opened(const struct serve_session *session, int64_t id)
{
    const struct laz_engine *engine = session->client->server->engine;
    const struct serve_message opened = {
        .has_id = true,
        .id = id,
        .has_session = session->session,
        .session = session->number,
        .has_pool = session->pool,
        .pool = session->number,
        .name = session->session ? laz_session_id(session->session) : NULL,
        .runtime = session->runtime ? session->runtime
                                    : laz_registry_usual_name(engine->registry, engine->values),
    };

    serve_send(session->client, SERVE_OPENED, &opened);
}

/* Makes what `open` and `open_pool` ask for, before it starts. */
static int session_asked(struct serve_client *client, const struct serve_message *message,
                         size_t most, struct serve_session **out, struct laz_error *err)
{
    int rc = serve_client_may_execute(client, err); /* to start one takes CPU time as well */

    if (!rc)
        rc = session_new(client, message, most, out, err);
    if (rc)
        return rc;
    rc = serve_network_read(client, &(*out)->first, message->network, message->network_len, err);
    if (!rc)
        rc = serve_credentials_read(client, &(*out)->credentials, message->credentials,
                                    message->credentials_len, err);
    if (!rc && message->tools)
        rc = serve_tools_read(client->server, message->tools, message->tools_len, &(*out)->tools,
                              err);
    if (rc)
        session_free(*out);
    return rc;
}

static int requests_open(struct serve_client *client, const struct serve_message *message,
                         struct laz_error *err)
{
    struct serve_session *session;
    int rc = session_asked(client, message, 1, &session, err);

    if (rc)
        return rc;
    session->warm = message->warm;
    rc = session_start(session, err);
    if (rc)
        session_free(session);
    else
        session_opened(session, message->id);
    return rc;
}

/* Its sessions have the tools that the client has, and those of the message. */
static int pool_start(struct serve_session *pool, struct laz_error *err)
{
    const struct laz_session_tool **tools;
    size_t n;
    int rc = tools_of_client(pool->client, pool->tools, &tools, &n, err);

    if (rc)
        return rc;
    struct laz_credential_list credentials;
    struct laz_network_list list;
    const struct laz_pool_options options = {
        .size = sizeof options,
        .runtime = pool->runtime,
        .members = (uint32_t)pool->most,
        .no_wait = 1,
        .tools = tools,
        .n_tools = n,
        .network = serve_network_list(&pool->first, &list),
        .identity = serve_client_identity(pool->client),
        .credentials = serve_credentials_list(&pool->credentials, &credentials),
    };
    rc = laz_pool_new(pool->client->server->engine, &options, &pool->pool, err);
    free(tools);
    return rc;
}

static int requests_open_pool(struct serve_client *client, const struct serve_message *message,
                              struct laz_error *err)
{
    const struct laz_settings_values *values = client->server->engine->values;
    const size_t members = message->members ? (size_t)message->members : (size_t)values->pool.size;
    struct serve_session *pool;
    int rc = session_asked(client, message, members, &pool, err);

    if (rc)
        return rc;
    rc = pool_start(pool, err);
    if (rc)
        session_free(pool);
    else
        session_opened(pool, message->id);
    return rc;
}

static int requests_restart(struct serve_client *client, const struct serve_message *message,
                            struct laz_error *err)
{
    struct serve_session *session = serve_session_find(client, message, err);

    if (!session)
        return LAZ_ENOENT;
    int rc = serve_session_is_idle(session, err);
    if (!rc)
        rc = serve_client_may_execute(client, err);
    if (rc)
        return rc;
    struct laz_session *old = session->session;
    rc = session_start(session, err);
    if (rc)
        return rc;
    serve_client_leaves_session(client, old);
    laz_session_free(old);
    session_opened(session, message->id);
    return 0;
}

static int requests_set_network(struct serve_client *client, const struct serve_message *message,
                                struct laz_error *err)
{
    struct serve_session *session = serve_session_find(client, message, err);
    struct serve_network network = {.is_given = false};
    int rc = session ? serve_session_is_idle(session, err) : LAZ_ENOENT;

    if (!rc)
        rc = serve_network_read(client, &network, message->network, message->network_len, err);
    if (!rc)
        rc = serve_network_set(session->session, &network, err);
    if (rc) {
        serve_network_fini(&network);
        return rc;
    }
    serve_network_fini(&session->network);
    session->network = network;
    serve_send(client, SERVE_DONE, &(struct serve_message){.has_id = true, .id = message->id});
    return 0;
}

static void pool_status(struct laz_pool *pool, struct laz_buf *json)
{
    struct laz_pool_status status = LAZ_POOL_STATUS_INIT;
    struct laz_json_write write = {.to = json};

    if (laz_pool_status(pool, &status, NULL) != 0)
        return;
    laz_json_begin_object(&write, NULL);
    laz_json_add_uint(&write, "total", status.total);
    laz_json_add_uint(&write, "busy", status.busy);
    laz_json_add_uint(&write, "idle", status.idle);
    laz_json_add_uint(&write, "dead", status.dead);
    laz_json_add_uint(&write, "starting", status.starting);
    laz_json_add_uint(&write, "waiting", status.waiting);
    laz_json_end_object(&write);
}

static int requests_describe(struct serve_client *client, const struct serve_message *message,
                             struct laz_error *err)
{
    struct serve_session *session = serve_session_find(client, message, err);
    struct laz_buf status = LAZ_BUF_INIT;
    const char *text, *isolation = NULL, *tools = NULL;

    if (!session)
        return err->code;
    if (session->pool) {
        text = laz_pool_describe(session->pool);
        pool_status(session->pool, &status);
    } else {
        text = laz_session_describe(session->session);
        isolation = laz_session_isolation(session->session);
        tools = laz_session_tools(session->session);
    }
    const struct serve_message description = {
        .has_id = true,
        .id = message->id,
        .text = text ? text : "",
        .text_len = text ? strlen(text) : 0,
        .is_alive = session->pool || laz_session_is_alive(session->session),
        .isolation = isolation,
        .isolation_len = isolation ? strlen(isolation) : 0,
        .tools = tools,
        .tools_len = tools ? strlen(tools) : 0,
        .status = status.len ? laz_buf_text(&status) : NULL,
        .status_len = status.len,
    };
    serve_send(client, SERVE_DESCRIPTION, &description);
    laz_buf_fini(&status);
    return 0;
}

/* Without a session: among the tools that a session would have which this client opens. */
static int requests_search_all(struct serve_client *client, const char *words, size_t limit,
                               const char **found, struct laz_error *err)
{
    const struct laz_session_tool **tools;
    size_t n;
    int rc = tools_of_client(client, NULL, &tools, &n, err);

    if (!rc)
        rc = laz_engine_search_tools_with(client->server->engine, tools, n, words, limit, found,
                                          err);
    free(tools);
    return rc;
}

static int requests_search(struct serve_client *client, const struct serve_message *message,
                           struct laz_error *err)
{
    struct serve_session *session =
        message->has_session ? serve_session_find(client, message, err) : NULL;
    const size_t limit = (size_t)message->limit;
    const char *found = NULL;

    if (message->has_session && !session)
        return err->code;
    int rc = session
                 ? laz_session_search_tools(session->session, message->words, limit, &found, err)
                 : requests_search_all(client, message->words, limit, &found, err);
    if (!rc)
        serve_send(
            client, SERVE_FOUND,
            &(struct serve_message){
                .has_id = true, .id = message->id, .tools = found, .tools_len = strlen(found)});
    return rc;
}

static int requests_close(struct serve_client *client, const struct serve_message *message,
                          struct laz_error *err)
{
    struct serve_session *session = serve_session_find(client, message, err);

    if (!session)
        return err->code;
    session_free(session);
    serve_send(client, SERVE_DONE, &(struct serve_message){.has_id = true, .id = message->id});
    return 0;
}

/* ---- executions ----------------------------------------------------------------------------- */

/* Called by the library, which has no more business with it: the session is released. */
static void request_done(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct serve_request *request = user;

    request->job = NULL;
    serve_client_has_executed(request->client, result);
    serve_request_output_ends(request);
    if (serve_answer(request, result, err))
        serve_request_free(request);
    else
        serve_request_forget_session(request);
}

/* What a client says of a limit: absent, as the settings say; 0, none. */
static uint64_t asked_limit(bool is_given, int64_t given)
{
    return !is_given ? 0 : given ? (uint64_t)given : LAZ_NO_LIMIT;
}

/* A trace that is broken ends here, as the standard asks. Parts of the message; NULL: there is
 * none.
 */
static const struct laz_trace *request_trace(const struct serve_message *message,
                                             struct laz_trace *trace)
{
    const char *state = message->tracestate;

    if (!message->traceparent || !laz_trace_parent_is_valid(message->traceparent))
        return NULL;
    *trace = (struct laz_trace){
        .size = sizeof *trace,
        .parent = message->traceparent,
        .state = state && laz_trace_state_is_valid(state) ? state : NULL,
    };
    return trace;
}

/* What the client asks for, as far as a remote caller may; the handlers are ours. `trace` is room
 * for what the options point to. */
static struct laz_execute_options request_options(struct serve_request *request,
                                                  const struct serve_message *message,
                                                  const struct serve_files *files,
                                                  struct laz_trace *trace)
{
    struct laz_execute_options options = {
        .size = sizeof options,
        .timeout_ms = asked_limit(message->has_timeout_ms, message->timeout_ms),
        .deadline_ms = asked_limit(message->has_deadline_ms, message->deadline_ms),
        .max_tool_calls = asked_limit(message->has_max_tool_calls, message->max_tool_calls),
        .max_output_lines = asked_limit(message->has_max_output_lines, message->max_output_lines),
        .max_code_length = asked_limit(message->has_max_code_length, message->max_code_length),
        .no_print = !message->print,
        .invisible = message->invisible,
        .native = message->native,
        .input = message->input,
        .no_validate = !message->validate,
        .argv = (const char *const *)message->argv.items,
        .n_argv = message->argv.n,
        .files = files->pointers,
        .n_files = files->n,
        .trace = request_trace(message, trace),
    };

    laz_options_narrow(&laz_execute_members, &options, request->server->engine->values);
    options.output = message->output ? serve_request_output : NULL;
    options.progress = message->progress ? serve_request_progress : NULL;
    options.user = request;
    return options;
}

/* Where it runs. A fresh session has the tools of the client, which the caller frees. */
static int request_place(struct serve_request *request, const struct serve_message *message,
                         struct laz_session_options *fresh, struct laz_place *place,
                         struct laz_error *err)
{
    struct serve_client *client = request->client;
    struct serve_session *in = request->in;

    if (in && in->pool) {
        *place = laz_place_pool(in->pool,
                                message->has_wait_ms ? (uint64_t)message->wait_ms : LAZ_NO_LIMIT);
        return 0;
    }
    if (in) {
        *place = laz_place_session(in->session);
        in->running = request;
        return 0;
    }
    int rc = serve_sessions_count(client, 1, err);
    if (rc)
        return rc;
    request->is_once = true;
    *place = laz_place_fresh(&client->server->engine->sessions, NULL);
    *fresh = (struct laz_session_options){.size = sizeof *fresh,
                                          .runtime = message->runtime,
                                          .warm = 1,
                                          .no_wait = 1,
                                          .identity = serve_client_identity(client)};
    return tools_of_client(client, NULL,
                           (const struct laz_session_tool ***)(uintptr_t)&fresh->tools,
                           &fresh->n_tools, err);
}

/* The files that come with it, within the bounds of a client. */
static int request_take(struct serve_client *client, const struct serve_message *message,
                        struct serve_files *files, struct laz_error *err)
{
    int rc = serve_files_take(files, &message->files, err);
    const size_t bytes = message->source_len + files->bytes;

    if (!rc && (client->n_requests >= SERVE_REQUESTS ||
                client->bytes + bytes > client->server->engine->values->session.max_value_size))
        rc = laz_error_set(err, LAZ_EBUSY, 0,
                           "too many executions were not answered yet: %zu, with %zu bytes of "
                           "code",
                           client->n_requests, client->bytes);
    return rc;
}

/* What is of a fresh session alone. */
static int request_check_place(const struct serve_request *request,
                               const struct serve_message *message, struct laz_error *err)
{
    if (request->in && message->network)
        return laz_error_set(err, LAZ_EINVAL, 0,
                             "'network' is of a fresh session; 'set_network' changes that of an "
                             "open one");
    if (request->in && message->credentials)
        return laz_error_set(err, LAZ_EINVAL, 0,
                             "'credentials' are of a fresh session; those of an open one are the "
                             "ones that it was opened with");
    return 0;
}

/* Begins it, or leaves nothing of it but the request. */
static int request_begin(struct serve_request *request, const struct serve_message *message,
                         const struct serve_files *files, struct laz_error *err)
{
    struct laz_trace trace;
    const struct laz_execute_options options = request_options(request, message, files, &trace);
    struct serve_credentials credentials = {.is_given = false};
    struct serve_network network = {.is_given = false};
    struct laz_session_options fresh = {0};
    struct laz_credential_list credential_list;
    struct laz_network_list list;
    struct laz_place place;
    int rc = request_check_place(request, message, err);

    if (!rc)
        rc = request_place(request, message, &fresh, &place, err);
    if (!rc)
        rc = serve_network_read(request->client, &network, message->network, message->network_len,
                                err);
    if (!rc)
        rc = serve_credentials_read(request->client, &credentials, message->credentials,
                                    message->credentials_len, err);
    fresh.network = serve_network_list(&network, &list);
    fresh.credentials = serve_credentials_list(&credentials, &credential_list);
    const struct laz_job_asked asked = {
        LAZ_JOB_OF(message->source, message->source_len, &options, request_done, request),
        .asked = message->check ? LAZ_ASKED_CHECK : LAZ_ASKED_EXECUTE,
        .session = fresh.size ? &fresh : NULL};

    if (!rc)
        rc = laz_job_ask(&asked, &place, &request->job, err);
    serve_network_fini(&network);
    serve_credentials_fini(&credentials);
    free((void *)(uintptr_t)fresh.tools);
    return rc;
}

static int requests_execute(struct serve_client *client, const struct serve_message *message,
                            struct laz_error *err)
{
    const bool is_once = !message->has_session && !message->has_pool;
    struct serve_session *in = is_once ? NULL : serve_session_find(client, message, err);
    struct serve_files files = {0};

    if (!is_once && !in)
        return err->code;
    int rc = in && !in->pool ? serve_session_is_idle(in, err)
             : message->check
                 ? laz_error_set(err, LAZ_EINVAL, 0, "'check' is for code in an open session")
                 : 0;
    if (!rc && message->argv.n >= LAZ_FIELD_TEXTS_KEPT)
        rc = laz_error_set(err, LAZ_ETOOBIG, 0, "a command line has %d words or more",
                           LAZ_FIELD_TEXTS_KEPT);
    if (!rc)
        rc = serve_client_may_execute(client, err);
    if (!rc)
        rc = request_take(client, message, &files, err);
    struct serve_request *request = rc ? NULL : serve_request_new(client, message->id);
    if (!rc && !request)
        rc = laz_error_nomem(err);
    if (!rc) {
        request->in = in;
        request->approves = message->approve;
        request->sends_artifacts = message->artifacts;
        request->bytes = message->source_len + files.bytes;
        client->bytes += request->bytes;
        rc = request_begin(request, message, &files, err);
        if (rc)
            serve_request_free(request);
    }
    serve_files_fini(&files);
    return rc;
}

static void request_put_done(void *user, const struct laz_error *err)
{
    struct serve_request *request = user;

    if (err)
        serve_send_failed(request->client, request->id, err);
    else
        serve_send(request->client, SERVE_DONE,
                   &(struct serve_message){.has_id = true, .id = request->id});
    serve_request_free(request);
}

/* All of the file is there. */
static int request_put(struct serve_session *session, int64_t id, struct laz_error *err)
{
    const struct serve_file *file = &session->file;
    struct serve_request *request = serve_request_new(session->client, id);

    if (!request)
        return laz_error_nomem(err);
    request->in = session;
    request->is_put = true;
    session->running = request;
    int rc = laz_session_put_file_async(session->session, file->name, laz_buf_text(&file->content),
                                        file->content.len, request_put_done, request, err);
    if (rc)
        serve_request_free(request);
    return rc;
}

static int requests_put(struct serve_client *client, const struct serve_message *message,
                        struct laz_error *err)
{
    struct serve_session *session = serve_session_find(client, message, err);

    if (!session)
        return err->code;
    int rc = serve_session_is_idle(session, err);
    if (!rc)
        rc = serve_file_take(&session->file, message,
                             client->server->engine->values->session.max_value_size, err);
    if (rc)
        return rc;
    if (message->more) {
        serve_send(client, SERVE_DONE, &(struct serve_message){.has_id = true, .id = message->id});
        return 0;
    }
    rc = request_put(session, message->id, err);
    serve_file_fini(&session->file);
    return rc;
}

static int requests_cancel(struct serve_client *client, const struct serve_message *message,
                           struct laz_error *err)
{
    struct serve_request *request = serve_request_find(client, message->request);

    (void)err;
    if (request && request->is_put)
        laz_session_cancel(request->in->session);
    else if (request && request->job)
        laz_job_cancel(request->job);
    serve_send(client, SERVE_DONE, &(struct serve_message){.has_id = true, .id = message->id});
    return 0;
}

static int requests_interrupt(struct serve_client *client, const struct serve_message *message,
                              struct laz_error *err)
{
    struct serve_session *session = serve_session_find(client, message, err);

    if (!session)
        return LAZ_ENOENT;
    (void)laz_session_interrupt(session->session); /* there may be nothing */
    serve_send(client, SERVE_DONE, &(struct serve_message){.has_id = true, .id = message->id});
    return 0;
}

void serve_sessions_end(struct serve_client *client)
{
    client->is_leaving = true;
    while (client->sessions)
        session_free(client->sessions);
    while (client->n_requests) { /* in sessions that are used once, or being answered */
        struct serve_request *request = client->server->requests;
        while (request->client != client)
            request = request->next;
        if (request->answer)
            serve_answer_drop(request);
        else
            laz_job_abandon(request->job); /* `done` is called in here, which frees the request */
    }
}

/* ---- dispatch ------------------------------------------------------------------------------- */

static int requests_answer(struct serve_client *client, const struct serve_message *message,
                           struct laz_error *err)
{
    (void)err;
    serve_call_answer(client, message);
    return 0;
}

void serve_request(struct serve_client *client, enum serve_message_type type,
                   const struct serve_message *message)
{
    static int (*const handlers[SERVE_MESSAGE_TYPES])(struct serve_client * client,
                                                      const struct serve_message *message,
                                                      struct laz_error *err) = {
        [SERVE_TOOLS] = requests_tools,
        [SERVE_OPEN] = requests_open,
        [SERVE_OPEN_POOL] = requests_open_pool,
        [SERVE_EXECUTE] = requests_execute,
        [SERVE_ANSWER] = requests_answer,
        [SERVE_CANCEL] = requests_cancel,
        [SERVE_INTERRUPT] = requests_interrupt,
        [SERVE_RESTART] = requests_restart,
        [SERVE_DESCRIBE] = requests_describe,
        [SERVE_SEARCH] = requests_search,
        [SERVE_CLOSE] = requests_close,
        [SERVE_PUT] = requests_put,
        [SERVE_SET_NETWORK] = requests_set_network,
    };
    struct laz_error err = {0};
    int rc;

    if (message->has_id && serve_request_find(client, message->id))
        rc = laz_error_set(&err, LAZ_EINVAL, 0, "a request with this id is open");
    else /* what has no id answers the server */
        rc = message->has_id ? serve_client_may_ask(client, &err) : 0;
    if (!rc)
        rc = handlers[type](client, message, &err);
    if (rc)
        serve_send_failed(client, message->id, &err);
}
