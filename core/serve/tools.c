/* SPDX-License-Identifier: MIT */
/* tools.c - tools of clients: code calls them, a message asks the client, and its answer goes on.
 * An approval goes the same way.
 * Side: host.  Input trusted: no (arguments come from the sandbox, declarations and answers from
 * the client; the library checks all of them).
 *
 * The library calls a tool on the thread of the loop, which keeps the reply and sends the message.
 * It asks for an approval on a worker thread, which posts the question to the loop.  A call is
 * freed when it is answered, or when the library reports that nobody waits for the answer. */
#include "serve/serve_private.h"

#include <stdlib.h>
#include <string.h>

/* ---- calls ---------------------------------------------------------------------------------- */

static void call_free(struct serve_call *call)
{
    laz_reply_free(call->reply);
    free(call->tool);
    free(call->args);
    free(call->session);
    free(call);
}

static void call_remove(struct serve_call *call)
{
    LAZ_LIST_REMOVE(call->client->calls, call);
    call_free(call);
}

/* Called by the library on the thread of the loop, which drives the engine. */
static void call_cancelled(void *user)
{
    struct serve_call *call = user;
    const struct serve_message message = {.call = call->number, .has_id = true, .id = call->id};

    serve_send(call->client, SERVE_TOOL_CANCELLED, &message);
    call_remove(call);
}

static bool tools_have(const struct serve_tool_set *set, const char *name)
{
    bool have = false;

    for (size_t i = 0; set && i < set->n && !have; i++)
        have = strcmp(set->tools[i].name, name) == 0;
    return have;
}

/* May its client decide on it? One of another machine decides on its own tools, which run on its
 * side, and on those of the server only where the server says so. */
static bool call_may_be_approved(const struct serve_call *call)
{
    const struct serve_client *client = call->request->client;
    bool is_own = call->request->in && tools_have(call->request->in->tools, call->tool);

    for (const struct serve_tool_set *set = client->tools; set && !is_own; set = set->next)
        is_own = tools_have(set, call->tool);
    return call->request->approves &&
           (!client->peer.identity || is_own || call->server->engine->values->serve.approvals);
}

/* The loop has the call. */
static void call_take(struct serve_call *call)
{
    /* An execution that has ended has cancelled its calls: then the request is gone. */
    if (laz_reply_is_cancelled(call->reply)) {
        call_free(call);
        return;
    }
    if (call->is_approval && !call_may_be_approved(call)) {
        laz_reply_error(call->reply, call->request->approves
                                         ? "this tool is the server's, and clients of other "
                                           "machines do not decide on its calls (serve.approvals)"
                                         : "the host decides on no approvals");
        call_free(call);
        return;
    }
    call->client = call->request->client;
    call->number = ++call->client->last_number;
    call->id = call->request->id;
    call->next = call->client->calls;
    call->client->calls = call;
    const struct serve_message message = {
        .call = call->number,
        .has_id = true,
        .id = call->id,
        .tool = call->tool,
        .args = call->args,
        .args_len = call->args_len,
        .name = call->session,
    };
    serve_send(call->client, call->is_approval ? SERVE_APPROVAL : SERVE_TOOL_CALL, &message);
    (void)laz_reply_on_cancel(call->reply, call_cancelled, call); /* may call it in here */
}

static void call_arrived(struct laz_post *post)
{
    call_take(LAZ_CONTAINER(post, struct serve_call, post));
}

/* NULL: out of memory; then it was answered. Any thread: the request may end at any time, and is
 * not looked at here. */
static struct serve_call *call_new(struct laz_server *server, const char *args, size_t len,
                                   struct laz_reply *reply, bool is_approval)
{
    const struct laz_caller *caller = laz_reply_caller(reply);
    struct serve_call *call = calloc(1, sizeof *call);

    if (call) {
        call->server = server;
        call->is_approval = is_approval;
        call->request = caller->execution_user;
        call->tool = laz_strndup(caller->tool, strlen(caller->tool));
        call->session = laz_strndup(caller->session, strlen(caller->session));
        call->args = laz_strndup(args, len);
        call->args_len = len;
        call->post.run = call_arrived;
    }
    if (!call || !call->tool || !call->session || !call->args) {
        laz_reply_error(reply, "out of memory");
        if (call)
            call_free(call);
        return NULL;
    }
    laz_reply_keep(reply);
    call->reply = reply;
    return call;
}

static void tool_called(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    struct serve_call *call = call_new(user, args, len, reply, false);

    if (call)
        call_take(call);
}

/* On a worker thread. */
static void approval_asked(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    struct serve_call *call = call_new(user, args, len, reply, true);

    if (call)
        laz_loop_post(call->server->loop, &call->post);
}

int serve_approvals_begin(struct laz_server *server, struct laz_error *err)
{
    return laz_engine_set_approver(server->engine, approval_asked, server, err);
}

void serve_call_answer(struct serve_client *client, const struct serve_message *message)
{
    struct serve_call *call = client->calls;

    while (call && call->number != message->call)
        call = call->next;
    if (!call)
        return; /* it was cancelled while the answer was on its way */
    if (message->error)
        laz_reply_error(call->reply, message->error);
    else
        laz_reply_value(call->reply, message->value, message->value_len);
    call_remove(call);
}

void serve_call_refuse(struct serve_client *client, int64_t number, const struct laz_error *err)
{
    serve_call_answer(client, &(struct serve_message){.call = number, .error = err->text});
}

void serve_calls_end(struct serve_client *client)
{
    while (client->calls) {
        laz_reply_error(client->calls->reply, "the host that has this tool is gone");
        call_remove(client->calls);
    }
}

/* ---- declarations --------------------------------------------------------------------------- */

void serve_tools_free(struct serve_tool_set *set)
{
    if (!set)
        return;
    laz_fields_free_list(&serve_tool_fields, &set->list);
    laz_strv_fini(&set->texts);
    free(set->json);
    free(set->tools);
    free(set->items);
    free(set);
}

/* A JSON text of the list as one that ends; NULL for NULL. */
static const char *tools_text(struct serve_tool_set *set, const char *raw, size_t len)
{
    if (!raw)
        return NULL;
    laz_strv_addf(&set->texts, "%.*s", (int)len, raw);
    return set->texts.failed ? NULL : set->texts.items[set->texts.n - 1];
}

static int tools_fill(struct laz_server *server, struct serve_tool_set *set, struct laz_error *err)
{
    set->n = set->list.n;
    if (set->n > SERVE_N_TOOLS)
        return laz_error_set(err, LAZ_ETOOBIG, 0, "a list has more than %d tools", SERVE_N_TOOLS);
    set->tools = calloc(set->n + 1, sizeof *set->tools);
    set->items = calloc(set->n + 1, sizeof *set->items);
    if (!set->tools || !set->items)
        return laz_error_nomem(err);
    for (size_t i = 0; i < set->n; i++) {
        const struct serve_tool *given = (const struct serve_tool *)set->list.items + i;
        set->tools[i] = (struct laz_tool){
            .size = sizeof(struct laz_tool),
            .name = given->name,
            .description = given->description ? given->description : "",
            .parameters = tools_text(set, given->parameters, given->parameters_len),
            .returns = tools_text(set, given->returns, given->returns_len),
            .timeout_ms = (uint32_t)given->timeout_ms,
            .max_concurrent = (uint32_t)given->max_concurrent,
            .approve = given->approve,
            .native = given->native,
            .nonblocking = 1,
        };
        set->items[i] = (struct laz_session_tool){
            .size = sizeof(struct laz_session_tool),
            .tool = &set->tools[i],
            .call = tool_called,
            .user = server,
        };
    }
    if (set->texts.failed)
        return laz_error_nomem(err);
    return 0;
}

int serve_tools_read(struct laz_server *server, const char *json, size_t len,
                     struct serve_tool_set **out, struct laz_error *err)
{
    if (len > SERVE_LIST)
        return laz_error_set(err, LAZ_ETOOBIG, 0, "a list of tools has more than %zu bytes",
                             SERVE_LIST);
    struct serve_tool_set *set = calloc(1, sizeof *set);
    int rc = set && (set->json = laz_strndup(json, len)) ? 0 : laz_error_nomem(err);

    if (!rc)
        rc = laz_wire_read_list(&serve_tool_fields, set->json, len, &set->list, err);
    if (!rc)
        rc = tools_fill(server, set, err);
    if (rc)
        serve_tools_free(set);
    else
        *out = set;
    return rc;
}

int serve_tools_share(struct laz_server *server, struct serve_tool_set *set, struct laz_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < set->n && !rc; i++)
        rc = laz_engine_add_tool(server->engine, &set->tools[i], tool_called, server, err);
    return rc;
}
