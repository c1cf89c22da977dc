/* SPDX-License-Identifier: MIT */
/* clients.c - who is connected to the server by HTTP, and the clients with a handshake.
 *
 * Who may use the server is known when the headers of a request are whole.  Until then a connection
 * is a stranger's, of which there are callers apart: whoever has a token finds one of those that
 * strangers cannot take.  A new stranger takes the place of the oldest one, and headers have a
 * deadline that the next byte does not move, as it would move the timeout of libmicrohttpd.
 * Side: host.  Input trusted: no. */
#include "mcp/http/http.h"

#include "os/sockets.h"

#include <stdlib.h>
#include <string.h>

#define CLIENTS_PEERS 64

/* ---- connections ----------------------------------------------------------------------------- */

struct http_caller *mcp_caller_of(const struct mcp_http *http, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        http->mhd.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info ? info->socket_context : NULL;
}

/* libmicrohttpd sees its end, and closes it. */
static void caller_leave(struct http_caller *caller)
{
    if (!caller->is_leaving)
        laz_os_hang_up(caller->fd);
    caller->is_leaving = true;
}

static bool caller_is_strange(const struct http_caller *caller)
{
    return !caller->is_known && !caller->is_leaving;
}

/* Makes room: the oldest stranger leaves. */
static void callers_bound(const struct mcp_http *http)
{
    struct http_caller *oldest = NULL;
    size_t strangers = 0;

    for (struct http_caller *caller = http->callers; caller; caller = caller->next) {
        if (!oldest && caller_is_strange(caller))
            oldest = caller;
        strangers += caller_is_strange(caller);
    }
    if (strangers > HTTP_STRANGERS)
        caller_leave(oldest);
}

void mcp_caller_changed(void *user, struct MHD_Connection *connection, void **context,
                        enum MHD_ConnectionNotificationCode what)
{
    struct mcp_http *http = user;
    struct http_caller *caller = *context, **at = &http->callers;

    while (*at && *at != caller)
        at = &(*at)->next;
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (caller)
            *at = caller->next;
        free(caller);
        *context = NULL;
        http->is_ready = true; /* there is room: it listens again when it runs */
        return;
    }
    const union MHD_ConnectionInfo *info =
        http->mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    *context = *at = caller = info ? calloc(1, sizeof *caller) : NULL;
    if (!caller)
        return;
    caller->fd = info->connect_fd;
    caller->since_ms = laz_loop_now_ms(http->mcp->loop);
    callers_bound(http);
}

uint64_t mcp_callers_tend(struct mcp_http *http)
{
    const uint64_t now = laz_loop_now_ms(http->mcp->loop), most = 1000u * (uint64_t)HTTP_TIMEOUT_S;
    uint64_t next = UINT64_MAX;

    for (struct http_caller *caller = http->callers; caller; caller = caller->next) {
        if (caller->is_asking || caller->is_leaving)
            continue;
        const uint64_t waited = now - caller->since_ms;
        if (waited >= most)
            caller_leave(caller);
        else if (most - waited < next)
            next = most - waited;
    }
    return next;
}

/* ---- clients with a handshake ---------------------------------------------------------------- */

struct http_peer *mcp_http_peer_find(struct mcp_http *http, const char *id)
{
    struct http_peer *peer = http->peers;

    while (peer &&
           (strlen(id) != LAZ_TOKEN_LEN || !laz_equal_constant_time(peer->id, id, LAZ_TOKEN_LEN)))
        peer = peer->next;
    if (peer)
        peer->used_ms = laz_loop_now_ms(http->mcp->loop);
    return peer;
}

void mcp_http_peer_free(struct mcp_http *http, struct http_peer *peer)
{
    LAZ_LIST_REMOVE(http->peers, peer);
    http->n_peers--;
    mcp_gone(http->mcp, NULL, &peer->peer);
    free(peer);
}

struct http_peer *mcp_http_peer_new(struct mcp_http *http)
{
    struct http_peer *peer = calloc(1, sizeof *peer), *oldest = http->peers;

    if (!peer || laz_random_name(peer->id, LAZ_TOKEN_LEN, NULL) != 0) {
        free(peer);
        return NULL;
    }
    for (struct http_peer *one = oldest; one; one = one->next)
        if (one->used_ms <= oldest->used_ms)
            oldest = one;
    if (http->n_peers >= CLIENTS_PEERS)
        mcp_http_peer_free(http, oldest);
    peer->peer.mcp = http->mcp;
    peer->used_ms = laz_loop_now_ms(http->mcp->loop);
    peer->next = http->peers;
    http->peers = peer;
    http->n_peers++;
    return peer;
}
