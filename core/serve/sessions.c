/* SPDX-License-Identifier: MIT */
/* sessions.c - what clients have open: found, counted, forgotten.
 * Side: host.  Input trusted: no (of the client). */
#include "serve/serve_private.h"

#include <stdlib.h>

struct serve_session *serve_session_find(struct serve_client *client,
                                         const struct serve_message *message, struct laz_error *err)
{
    const bool is_pool = message->has_pool;
    const int64_t number = is_pool ? message->pool : message->session;
    struct serve_session *session = client->sessions;

    if (message->has_pool == message->has_session) {
        laz_error_set(err, LAZ_EINVAL, 0, "one of 'session' and 'pool' is needed");
        return NULL;
    }
    while (session && (session->number != number || !session->pool == is_pool))
        session = session->next;
    if (!session)
        laz_error_set(err, LAZ_ENOENT, 0, "no %s %lld is open", is_pool ? "pool" : "session",
                      (long long)number);
    return session;
}

int serve_session_is_idle(const struct serve_session *session, struct laz_error *err)
{
    return session->running
               ? laz_error_set(err, LAZ_EBUSY, 0, "%s in session %lld",
                               session->running->is_put ? "a file is being put"
                                                        : "an execution is in progress",
                               (long long)session->number)
               : 0;
}

struct serve_request *serve_request_find(const struct serve_client *client, int64_t id)
{
    struct serve_request *request = client->server->requests;

    while (request && (request->client != client || request->id != id))
        request = request->next;
    return request;
}

void serve_request_forget_session(struct serve_request *request)
{
    if (request->in && request->in->running == request)
        request->in->running = NULL;
    request->in = NULL;
}

void serve_request_free(struct serve_request *request)
{
    LAZ_LIST_REMOVE(request->server->requests, request);
    request->client->n_requests--;
    if (request->is_once)
        serve_sessions_uncount(request->client, 1);
    request->client->bytes -= request->bytes;
    serve_request_forget_session(request);
    free(request);
}

struct serve_request *serve_request_new(struct serve_client *client, int64_t id)
{
    struct serve_request *request = calloc(1, sizeof *request);

    if (!request)
        return NULL;
    request->server = client->server;
    request->client = client;
    request->id = id;
    request->next = client->server->requests;
    client->server->requests = request;
    client->n_requests++;
    return request;
}

int serve_sessions_count(struct serve_client *client, size_t more, struct laz_error *err)
{
    const uint64_t most = client->server->engine->values->pool.max_sessions;
    struct laz_identity *identity = client->peer.identity;
    uint64_t of_identity = 0;

    if (most && client->n_sessions + more > most)
        return laz_error_set(err, LAZ_EREFUSED, 0,
                             "a client can have %llu sessions (pool.max_sessions), which are open",
                             (unsigned long long)most);
    if (identity &&
        !laz_identity_sessions(&client->server->first->identities, identity, more, &of_identity))
        return laz_error_set(err, LAZ_EREFUSED, 0, "%s can have %llu sessions, which are open",
                             identity->name, (unsigned long long)of_identity);
    client->n_sessions += more;
    return 0;
}

void serve_sessions_uncount(struct serve_client *client, size_t n)
{
    client->n_sessions -= n;
    if (client->peer.identity)
        laz_identity_sessions_end(&client->server->first->identities, client->peer.identity, n);
}
