/* SPDX-License-Identifier: MIT */
/* server.c - the life of a server: started when it is needed, asked which protocol it speaks and
 * which tools it has, called, and started again after it has ended.
 *
 * Whatever a server does ends in one of two ways: a request is answered, or the connection is given
 * up with a reason (mcp_server_lost), which all open calls get.  After that there is a pause before
 * it is started again, twice as long each time, until it answers a call; calls in the pause fail
 * at once.  An answer that cannot be read fails the request that it names (mcp_server_unread), and
 * the connection stays: calls of other sessions are on it.  One that names none is ignored; what
 * waits for it ends by its limits of time.
 *
 * The era of the protocol is found by asking server/discover, which every server of the newer one
 * must answer.  An error, or no answer within a third of the time for the start, is taken for the
 * older one; the first of both that answers well decides.
 * Side: host.  Input trusted: no (a server's bytes). */
#include "server.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const legacy_versions[] = {"2025-11-25", "2025-06-18", "2025-03-26",
                                              "2024-11-05"};

#define LEGACY_VERSIONS (sizeof legacy_versions / sizeof *legacy_versions)
#define MODERN_VERSION  "2026-07-28"
#define WRONG_VERSION   (-32022) /* of the newer era */

void mcp_server_log(const struct mcp_server *server, uint32_t level, const char *format, ...)
{
    char text[1024];
    va_list args;
    int n = snprintf(text, sizeof text, "%s: ", server->options.name);

    va_start(args, format);
    vsnprintf(text + n, sizeof text - (size_t)n, format, args);
    va_end(args);
    server->services->log(server->services->host, level, text);
}

/* ---- timers ---------------------------------------------------------------------------------- */

static void timer_stop(struct mcp_server *server, struct laz_watch **timer)
{
    if (*timer)
        server->services->watch_stop(*timer);
    *timer = NULL;
}

/* Without memory there is no timer: then the cap of the host still bounds a call. */
static void timer_start(struct mcp_server *server, struct laz_watch **timer, int64_t ms,
                        void (*due)(void *user), void *user)
{
    timer_stop(server, timer);
    *timer = server->services->watch_timer(server->services->host, (uint64_t)ms, due, user);
}

/* ---- requests -------------------------------------------------------------------------------- */

static void request_free(struct mcp_request *request)
{
    struct mcp_server *server = request->server;
    struct mcp_request **at = &server->requests;

    while (*at && *at != request)
        at = &(*at)->next;
    if (*at)
        *at = request->next;
    timer_stop(server, &request->timer);
    free(request->args);
    free(request);
}

static struct mcp_request *request_find(const struct mcp_server *server, int64_t id)
{
    struct mcp_request *request = server->requests;

    while (request && request->id != id)
        request = request->next;
    return request;
}

static bool request_is_open(const struct mcp_server *server, enum mcp_asked what)
{
    for (const struct mcp_request *request = server->requests; request; request = request->next)
        if (request->what == what)
            return true;
    return false;
}

/* Answers a call with an error, and forgets it. */
static void request_refuse(struct mcp_request *request, const char *format, ...) LAZ_PRINTF(2, 3);

static void request_refuse(struct mcp_request *request, const char *format, ...)
{
    const struct laz_tool_services *services = request->server->services;
    char text[MCP_MAX_ERROR + 256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (request->call)
        services->answer_error(services->host, request->call, text);
    request_free(request);
}

/* ---- ends ------------------------------------------------------------------------------------ */

static void server_pause_over(void *user)
{
    struct mcp_server *server = user;

    timer_stop(server, &server->pause);
}

/* Ends the server; it can be started again. */
static void server_close(struct mcp_server *server)
{
    timer_stop(server, &server->start_timer);
    timer_stop(server, &server->probe_timer);
    server->state = MCP_DOWN;
    server->transport->close(server);
    mcp_list_fini(&server->list);
}

static void server_tell(struct mcp_server *server)
{
    const bool is_asked = server->is_asked;

    server->is_asked = false;
    if (is_asked)
        server->services->prepared(server->services->host);
}

static void server_begin(struct mcp_server *server);
static void server_list(struct mcp_server *server);

void mcp_server_lost(struct mcp_server *server, const char *format, ...)
{
    const enum mcp_state was = server->state;
    va_list args;

    if (was == MCP_DOWN)
        return;
    va_start(args, format);
    vsnprintf(server->failure, sizeof server->failure, format, args);
    va_end(args);
    server_close(server);
    if (was == MCP_STARTING && !server->has_said && !server->is_blunt &&
        server->era == MCP_UNKNOWN && request_is_open(server, MCP_DISCOVER) &&
        !request_is_open(server, MCP_INITIALIZE)) {
        server->is_blunt = true; /* it may have ended because it does not know the question */
        for (struct mcp_request *request = server->requests, *next; request; request = next) {
            next = request->next;
            if (request->what != MCP_CALL)
                request_free(request);
        }
        server_begin(server);
        return;
    }
    server->is_blunt = false;
    if (was != MCP_READY)
        server->era = MCP_UNKNOWN;
    server->failures++;
    server->pause_ms = 0;
    if (server->failures > 1 || was != MCP_READY) {
        const unsigned doublings = server->failures < 8 ? server->failures - 1 : 7;
        server->pause_ms = (uint64_t)MCP_FIRST_MS << doublings;
        if (server->pause_ms > MCP_LONGEST_MS)
            server->pause_ms = MCP_LONGEST_MS;
        timer_start(server, &server->pause, (int64_t)server->pause_ms, server_pause_over, server);
    }
    mcp_server_log(server, LAZ_LOG_WARNING, "the server %s", server->failure);
    while (server->requests)
        request_refuse(server->requests, "Tool '%s': the server %s %s",
                       server->requests->call ? server->tools[server->requests->tool].name : "",
                       server->options.name, server->failure);
    server_tell(server);
}

void mcp_server_failed(struct mcp_server *server, int64_t id, const char *reason)
{
    struct mcp_request *request = request_find(server, id);

    if (!request)
        return;
    if (request->what == MCP_CALL)
        request_refuse(request, "Tool '%s': the server %s %s", server->tools[request->tool].name,
                       server->options.name, reason);
    else if (request->what != MCP_LISTEN)
        mcp_server_lost(server, "%s", reason);
    else
        mcp_server_refused(server, id, reason);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void call_quiet(void *user)
{
    struct mcp_request *request = user;
    struct mcp_server *server = request->server;
    const int64_t id = request->id;

    request_refuse(request,
                   "Tool '%s' timed out: the server %s sent no answer and no progress within %g "
                   "seconds",
                   server->tools[request->tool].name, server->options.name,
                   (double)server->options.timeout_ms / 1000.0);
    if (server->transport->forget)
        server->transport->forget(server, id);
    if (!mcp_say_cancelled(server, id, "it took too long"))
        mcp_server_lost(server, "does not read what it is sent");
}

/* Sends a call to a server that is ready, or refuses it: one call that is not taken, because too
 * much was not read yet, is not a reason to end those that were. */
static void call_send(struct mcp_request *request)
{
    struct mcp_server *server = request->server;
    const struct mcp_tool *tool = &server->tools[request->tool];
    struct laz_error why = {0};
    bool sent = true;

    if (tool->has_vanished || tool->has_changed) {
        request_refuse(request,
                       "Tool '%s' is refused: the server %s %s since the engine asked for its "
                       "tools; a new engine would see it as it is now",
                       tool->name, server->options.name,
                       tool->has_vanished ? "has removed it" : "has changed its arguments");
        return;
    }
    if (mcp_ask_call(server, request, &sent, &why)) {
        request_refuse(request, "%s", why.text);
        return;
    }
    if (!sent) {
        request_refuse(request, "Tool '%s': the server %s has not read what it was sent before",
                       tool->name, server->options.name);
        return;
    }
    free(request->args);
    request->args = NULL;
    if (server->options.timeout_ms)
        timer_start(server, &request->timer, server->options.timeout_ms, call_quiet, request);
}

/* Sends what has waited until the server was ready. */
static void server_send_waiting(struct mcp_server *server)
{
    struct mcp_request *request = server->requests;

    while (request) {
        struct mcp_request *next = request->next;
        if (request->what == MCP_CALL && !request->id)
            call_send(request);
        request = next;
    }
}

void mcp_server_call(struct mcp_server *server, size_t tool, struct laz_call *call,
                     const char *args, size_t len)
{
    struct mcp_request *request = calloc(1, sizeof *request), **at = &server->requests;
    char *copy = request ? malloc(len + 1) : NULL;

    if (!copy) {
        free(request);
        server->services->answer_error(server->services->host, call, "out of memory");
        return;
    }
    memcpy(copy, args, len);
    copy[len] = '\0';
    *request = (struct mcp_request){.server = server,
                                    .what = MCP_CALL,
                                    .call = call,
                                    .tool = tool,
                                    .args = copy,
                                    .args_len = len};
    while (*at)
        at = &(*at)->next;
    *at = request;
    if (server->pause)
        request_refuse(
            request,
            "Tool '%s': the server %s %s; that was number %u in a row, and it is started "
            "again %g seconds after it",
            server->tools[tool].name, server->options.name, server->failure, server->failures,
            (double)server->pause_ms / 1000.0);
    else if (server->state == MCP_DOWN)
        server_begin(server);
    else if (server->state == MCP_READY && server->is_stale)
        server_list(server);
    else if (server->state == MCP_READY)
        call_send(request);
}

void mcp_server_cancel(struct mcp_server *server, struct laz_call *call)
{
    struct mcp_request *request = server->requests;

    while (request && request->call != call)
        request = request->next;
    if (!request)
        return;
    const int64_t id = request->id;
    request_refuse(request, "cancelled");
    if (!id)
        return;
    if (server->transport->forget)
        server->transport->forget(server, id);
    if (!mcp_say_cancelled(server, id, "the code that called does not wait any more"))
        mcp_server_lost(server, "does not read what it is sent");
}

/* ---- the start ------------------------------------------------------------------------------- */

static void server_start_late(void *user)
{
    struct mcp_server *server = user;

    mcp_server_lost(server, "%s within %g seconds (start_timeout)",
                    server->state == MCP_STARTING ? "did not answer server/discover or initialize"
                                                  : "did not list its tools",
                    (double)server->options.start_timeout_ms / 1000.0);
}

static void server_initialize(struct mcp_server *server)
{
    timer_stop(server, &server->probe_timer);
    if (!request_is_open(server, MCP_INITIALIZE) && !mcp_ask_initialize(server))
        mcp_server_lost(server, "does not read what it is sent");
}

static void server_probe_late(void *user)
{
    server_initialize(user);
}

static void server_list(struct mcp_server *server)
{
    timer_stop(server, &server->probe_timer);
    if (!server->start_timer)
        timer_start(server, &server->start_timer, server->options.start_timeout_ms,
                    server_start_late, server);
    server->state = MCP_LISTING;
    server->lists_again = server->is_stale = false;
    mcp_list_fini(&server->list);
    if (++server->lists > MCP_MAX_LISTS)
        mcp_server_lost(server, "has changed its tools more than %d times", MCP_MAX_LISTS);
    else if (!mcp_ask_list(server, NULL))
        mcp_server_lost(server, "does not read what it is sent");
}

static void server_begin(struct mcp_server *server)
{
    struct laz_error why = {0};

    server->state = MCP_STARTING;
    server->has_said = server->is_heard = server->is_stale = false;
    server->idle = server->lists = 0;
    if (server->transport->open(server, &why)) {
        mcp_server_lost(server, "cannot be started: %s", why.text);
        return;
    }
    timer_start(server, &server->start_timer, server->options.start_timeout_ms, server_start_late,
                server);
    if (server->era == MCP_MODERN)
        server_list(server);
    else if (server->era == MCP_LEGACY || server->is_blunt)
        server_initialize(server);
    else if (!mcp_ask_discover(server))
        mcp_server_lost(server, "does not read what it is sent");
    else
        timer_start(server, &server->probe_timer, server->options.start_timeout_ms / 3,
                    server_probe_late, server);
}

void mcp_server_prepare(struct mcp_server *server)
{
    server->is_asked = true;
    if (server->is_known || server->pause)
        server_tell(server);
    else if (server->state == MCP_DOWN)
        server_begin(server);
}

/* ---- answers --------------------------------------------------------------------------------- */

struct versions {
    const struct laz_json_api *json;
    bool has_modern, has_legacy;
};

static bool versions_one(void *user, const char *key, struct mcp_raw item)
{
    struct versions *versions = user;

    (void)key;
    versions->has_modern |= mcp_is_text(versions->json, item, MODERN_VERSION);
    for (size_t i = 0; i < LEGACY_VERSIONS; i++)
        versions->has_legacy |= mcp_is_text(versions->json, item, legacy_versions[i]);
    return true;
}

static struct versions versions_of(const struct mcp_server *server, struct mcp_raw list)
{
    struct versions versions = {server->json, false, false};

    (void)mcp_each(server->json, list, versions_one, &versions);
    return versions;
}

/* It speaks the newer protocol, in these versions. */
static void server_discovered(struct mcp_server *server, struct mcp_raw list,
                              struct mcp_raw capabilities)
{
    const struct versions versions = versions_of(server, list);

    if (versions.has_modern) {
        const struct mcp_raw tools = mcp_member(server->json, capabilities, "tools");
        server->era = MCP_MODERN;
        snprintf(server->version, sizeof server->version, "%s", MODERN_VERSION);
        server->tells_changes = mcp_is_true(mcp_member(server->json, tools, "listChanged"));
        server_list(server);
    } else if (versions.has_legacy) {
        server_initialize(server);
    } else {
        mcp_server_lost(server, "speaks no version of MCP that lazaret does (%s, %s to %s)",
                        MODERN_VERSION, legacy_versions[0], legacy_versions[LEGACY_VERSIONS - 1]);
    }
}

static void server_initialized(struct mcp_server *server, struct mcp_raw result)
{
    const struct mcp_raw version = mcp_member(server->json, result, "protocolVersion");

    if (server->era == MCP_MODERN)
        return;
    for (size_t i = 0; i < LEGACY_VERSIONS && server->state == MCP_STARTING; i++)
        if (mcp_is_text(server->json, version, legacy_versions[i])) {
            server->era = MCP_LEGACY;
            snprintf(server->version, sizeof server->version, "%s", legacy_versions[i]);
            if (mcp_say_initialized(server))
                server_list(server);
            else
                mcp_server_lost(server, "does not read what it is sent");
            return;
        }
    mcp_server_lost(server, "answered initialize with a version that lazaret does not speak");
}

static void server_listed(struct mcp_server *server, struct mcp_raw result)
{
    struct laz_error why = {0};
    bool more;
    int ret = mcp_list_take(server, result, &more, &why);

    if (!ret && more) {
        char *cursor = strdup(server->list.cursor);
        if (!cursor || !mcp_ask_list(server, cursor))
            mcp_server_lost(server, "does not read what it is sent");
        free(cursor);
        return;
    }
    if (!ret && server->lists_again) {
        server_list(server);
        return;
    }
    if (!ret)
        ret = mcp_list_end(server, &why);
    if (ret) {
        mcp_server_lost(server, "cannot be used: %s", why.text);
        return;
    }
    timer_stop(server, &server->start_timer);
    server->state = MCP_READY;
    server_tell(server);
    if (server->tells_changes && !request_is_open(server, MCP_LISTEN) && !mcp_ask_listen(server))
        mcp_server_lost(server, "does not read what it is sent");
    else
        server_send_waiting(server);
}

/* What there is no room for, code has as bytes all the same. */
static const char *call_picture(void *user, const char *suffix, const void *data, size_t len)
{
    const struct mcp_request *request = user;
    const struct laz_tool_services *services = request->server->services;
    const char *name = NULL;

    return LAZ_HAS(services, give_artifact) &&
                   services->give_artifact(services->host, request->call, suffix, data, len, &name,
                                           NULL) == 0
               ? name
               : NULL;
}

static void call_answered(struct mcp_request *request, struct mcp_raw result)
{
    struct mcp_server *server = request->server;
    const struct laz_tool_services *services = server->services;
    const struct mcp_tool *tool = &server->tools[request->tool];
    const struct mcp_raw kind = mcp_member(server->json, result, "resultType");
    struct laz_error why = {0};
    char *value = NULL, *error = NULL;
    size_t len = 0;

    if (kind.text && !mcp_is_text(server->json, kind, "complete")) {
        request_refuse(request,
                       "Tool '%s': the server %s asks for input of a person or a model, which a "
                       "call from code cannot give",
                       tool->name, server->options.name);
        return;
    }
    const struct mcp_album album = {call_picture, request};
    if (mcp_read_result(server->json, tool, result, album, &value, &len, &error, &why)) {
        request_refuse(request, "Tool '%s': the server %s: %s", tool->name, server->options.name,
                       why.text);
        return;
    }
    if (error)
        services->answer_error(services->host, request->call, error);
    else
        services->answer(services->host, request->call, value, len);
    free(value);
    free(error);
    request_free(request);
}

/* It was listened to, and says no more. */
static void server_hears_nothing(struct mcp_server *server)
{
    server->is_stale |= server->is_heard;
    server->is_heard = false;
}

static void server_result(struct mcp_server *server, struct mcp_request *request,
                          const struct mcp_incoming *message)
{
    const enum mcp_asked what = request->what;

    if (what == MCP_CALL) {
        server->failures = server->lists = 0;
        call_answered(request, message->result);
        return;
    }
    request_free(request);
    if (what == MCP_LISTEN)
        server_hears_nothing(server);
    else if (what == MCP_DISCOVER && server->state == MCP_STARTING)
        server_discovered(server, mcp_member(server->json, message->result, "supportedVersions"),
                          mcp_member(server->json, message->result, "capabilities"));
    else if (what == MCP_INITIALIZE && server->state == MCP_STARTING)
        server_initialized(server, message->result);
    else if (what == MCP_LIST && server->state == MCP_LISTING)
        server_listed(server, message->result);
}

static void server_error(struct mcp_server *server, struct mcp_request *request,
                         const struct mcp_incoming *message)
{
    const enum mcp_asked what = request->what;

    if (what == MCP_CALL) {
        server->failures = server->lists = 0;
        request_refuse(request, "Tool '%s': the server %s refused the call: %s (%lld)",
                       server->tools[request->tool].name, server->options.name, message->error,
                       (long long)message->code);
        return;
    }
    request_free(request);
    if (what == MCP_LISTEN)
        server_hears_nothing(server);
    else if (what == MCP_DISCOVER && server->state == MCP_STARTING &&
             message->code == WRONG_VERSION)
        server_discovered(server, mcp_member(server->json, message->data, "supported"),
                          (struct mcp_raw){0});
    else if (what == MCP_DISCOVER && server->state == MCP_STARTING)
        server_initialize(server);
    else if (what == MCP_INITIALIZE && server->state == MCP_STARTING &&
             !request_is_open(server, MCP_DISCOVER))
        mcp_server_lost(server, "refused initialize: %.200s (%lld)", message->error,
                        (long long)message->code);
    else if (what == MCP_LIST && server->state == MCP_LISTING)
        mcp_server_lost(server, "refused tools/list: %.200s (%lld)", message->error,
                        (long long)message->code);
}

void mcp_server_refused(struct mcp_server *server, int64_t id, const char *reason)
{
    struct mcp_request *request = request_find(server, id);
    char text[512];

    if (!request)
        return;
    snprintf(text, sizeof text, "it %s", reason);
    const struct mcp_incoming message = {.kind = MCP_ERROR, .error = text};
    if (request->what == MCP_CALL)
        mcp_server_failed(server, id, reason);
    else
        server_error(server, request, &message);
}

/* ---- what the server says by itself -----------------------------------------------------------
 */

static void server_notice(struct mcp_server *server, const struct mcp_incoming *message)
{
    if (strcmp(message->method, "notifications/subscriptions/acknowledged") == 0) {
        server->is_heard = request_is_open(server, MCP_LISTEN);
    } else if (strcmp(message->method, "notifications/tools/list_changed") == 0) {
        if (server->state == MCP_READY)
            server_list(server);
        else
            server->lists_again = server->state == MCP_LISTING;
    } else if (strcmp(message->method, "notifications/progress") == 0) {
        const struct mcp_raw token = mcp_member(server->json, message->params, "progressToken");
        int64_t id = 0;
        struct mcp_request *request =
            token.text && mcp_integer(token, &id) && id ? request_find(server, id) : NULL;
        if (request && request->what == MCP_CALL && request->timer)
            timer_start(server, &request->timer, server->options.timeout_ms, call_quiet, request);
    }
}

/* Says the first of many times that something is ignored. */
static void server_ignore(const struct mcp_server *server, const char *format, ...)
    LAZ_PRINTF(2, 3);

static void server_ignore(const struct mcp_server *server, const char *format, ...)
{
    char text[512];
    va_list args;

    if (server->idle >= 10)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    mcp_server_log(server, LAZ_LOG_WARNING, "%s", text);
}

static void server_asks(struct mcp_server *server, const struct mcp_incoming *message)
{
    const bool is_ping = strcmp(message->method, "ping") == 0;

    if (message->id_text.len > 256 || !strchr("\"-0123456789", message->id_text.text[0]))
        server_ignore(server, "it sent a request with an id that is none");
    else if (!mcp_say_answer(server, message->id_text, is_ping))
        mcp_server_lost(server, "does not read what it is sent");
}

/* Programs print messages for people where only the protocol belongs: a little of it is ignored. */
static void server_noise(struct mcp_server *server, const char *text, size_t len)
{
    char *line = mcp_clean(text, len, 200, false);

    server_ignore(server, "it printed a line that is not a message to its standard output: %s",
                  line ? line : "");
    free(line);
}

/* A message has come; one that answers a request sets `idle` to 0. False: there were too many. */
static bool server_counts(struct mcp_server *server)
{
    if (++server->idle <= MCP_MAX_IDLE)
        return true;
    mcp_server_lost(server, "sent more than %d messages in a row that answer nothing",
                    MCP_MAX_IDLE);
    return false;
}

void mcp_server_unread(struct mcp_server *server, const struct mcp_glance *glance,
                       const char *format, ...)
{
    const int64_t id = mcp_glance_id(glance);
    char why[MCP_MAX_ERROR];
    va_list args;

    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    if (id && request_find(server, id)) {
        server->idle = 0;
        mcp_server_failed(server, id, why);
    } else if (server_counts(server)) {
        server_ignore(server, "it %s; no request is known that it answers", why);
    }
}

size_t mcp_server_most(const struct mcp_server *server)
{
    const size_t most = (size_t)server->options.max_output;

    if (server->state == MCP_READY)
        return most;
    return server->is_known && most > MCP_MAX_START ? most : MCP_MAX_START;
}

void mcp_server_take(struct mcp_server *server, char *text, size_t len)
{
    struct laz_error why = {0};
    struct mcp_glance glance = {0};
    struct mcp_incoming message;
    size_t at = 0;

    while (at < len && strchr(" \t\r", text[at]) && text[at])
        at++;
    if (at == len)
        return;
    if (!server_counts(server))
        return;
    if (text[at] != '{') {
        server_noise(server, text, len);
        return;
    }
    if (mcp_incoming_read(server->json, text, len, &message, &why)) {
        mcp_glance_add(&glance, text, len);
        mcp_server_unread(server, &glance, "sent a malformed message: %s", why.text);
        goto out;
    }
    struct mcp_request *request = message.has_id && message.id > 0 && message.kind <= MCP_ERROR
                                      ? request_find(server, message.id)
                                      : NULL;
    if (request) {
        server->idle = 0;
        server->has_said = true;
    }
    if (request && message.kind == MCP_RESULT)
        server_result(server, request, &message);
    else if (request)
        server_error(server, request, &message);
    else if (message.kind == MCP_REQUEST)
        server_asks(server, &message);
    else if (message.kind == MCP_NOTICE)
        server_notice(server, &message);
    else
        mcp_server_log(server, LAZ_LOG_DEBUG, "it answered a request that is not open");
out:
    mcp_incoming_fini(&message);
}

void mcp_server_fini(struct mcp_server *server)
{
    server_close(server);
    timer_stop(server, &server->pause);
    while (server->requests)
        request_free(server->requests);
    server->transport->fini(server);
    for (size_t i = 0; i < server->n_tools; i++)
        mcp_tool_fini(&server->tools[i]);
    free(server->tools);
    free(server->declared);
    free(server->notice);
}
