/* SPDX-License-Identifier: MIT */
/* head.c - is the beginning of a connection, and each request of HTTP, that of the name it is for?
 * Side: host.  Input trusted: no.
 *
 * What has come is kept in `out` of the server's side, and may be sent as far as it was judged. */
#include "network/running.h"

#include "os/io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_READ ((size_t)16 << 10) /* read at once */

/* `about`: what was another name; NULL: `text` says it all. */
static enum network_head head_refuse(struct network_connection *c, enum laz_denied what,
                                     const char *about, const char *text)
{
    const struct network_refusal refusal = {.what = what,
                                            .name = c->name[0] ? c->name : NULL,
                                            .address = c->name[0] ? NULL : &c->wanted,
                                            .port = c->port,
                                            .rule = c->rule,
                                            .is_permanent = true};

    if (about)
        network_deny(c->network, &refusal, "the %s was \"%.120s\"", about, text);
    else
        network_deny(c->network, &refusal, "%s", text);
    return NETWORK_HEAD_REFUSED;
}

enum network_head network_head_begin(struct network_connection *c)
{
    if (c->rule->layer == NETWORK_LAYER_PLAIN)
        return NETWORK_HEAD_GOOD;
    if (c->rule->layer == NETWORK_LAYER_TLS)
        return NETWORK_HEAD_MORE;
    if (!(c->http = calloc(1, sizeof *c->http)))
        return NETWORK_HEAD_REFUSED;
    c->is_judged = true;
    network_http_begin(c->http, c->name, c->port);
    return NETWORK_HEAD_MORE;
}

/* Is a ClientHello that has come the one of the name? */
static enum network_head head_judge_hello(struct network_connection *c, enum network_hello hello,
                                          const char *name, const char *why)
{
    switch (hello) {
    case NETWORK_HELLO_MORE:
        return NETWORK_HEAD_MORE;
    case NETWORK_HELLO_NAME:
        return strcmp(name, c->name) == 0
                   ? NETWORK_HEAD_GOOD
                   : head_refuse(c, LAZ_DENIED_SERVER_NAME, "server name", name);
    case NETWORK_HELLO_NONE:
    case NETWORK_HELLO_HIDDEN:
        return head_refuse(c, LAZ_DENIED_SERVER_NAME, NULL, why);
    case NETWORK_HELLO_NOT_TLS:
    case NETWORK_HELLO_TOO_LONG:
        break;
    }
    return head_refuse(c, LAZ_DENIED_PROTOCOL, NULL, why);
}

/* What follows it waits for the server, who may ask for another one. */
static enum network_head head_hello(struct network_connection *c)
{
    struct network_side *server = &c->sides[NETWORK_SERVER];
    char name[NETWORK_NAME];
    const char *why = "";
    size_t used;
    const enum network_hello hello =
        network_hello(server->out.data, server->out.len, name, &used, &why);
    const enum network_head head = head_judge_hello(c, hello, name, why);

    if (head == NETWORK_HEAD_GOOD) {
        server->may = used;
        c->waits = c->is_judged = true;
    }
    return head;
}

static enum network_head head_hello_again(struct network_connection *c)
{
    struct network_side *server = &c->sides[NETWORK_SERVER];
    char name[NETWORK_NAME];
    const char *why = "";
    const enum network_hello hello = network_hello_again(server->out.data + server->may,
                                                         server->out.len - server->may, name, &why);
    const enum network_head head = head_judge_hello(c, hello, name, why);

    if (head == NETWORK_HEAD_GOOD) {
        server->may = server->out.len;
        c->is_judged = false;
    }
    return head;
}

/* What stands for a secret goes out by TLS only. */
static const char *head_finds(const struct network_connection *c, const char *data, size_t len)
{
    const struct laz_network_owner *owner = &c->network->owner;

    return owner->has_way && owner->finds(owner->user, data, len)
               ? "the request has a placeholder, and goes out in clear"
               : NULL;
}

/* As far as they were not judged yet. What follows an upgrade waits for the server. */
static enum network_head head_requests(struct network_connection *c)
{
    struct network_side *server = &c->sides[NETWORK_SERVER];
    enum network_http_state state;

    if (server->may == server->out.len)
        return NETWORK_HEAD_MORE;
    const size_t before = server->may;
    server->may += network_http_feed(c->http, server->out.data + server->may,
                                     server->out.len - server->may, &state);
    const char *found = head_finds(c, server->out.data + before, server->may - before);
    if (found)
        return head_refuse(c, LAZ_DENIED_CREDENTIAL, NULL, found);
    c->waits = state == NETWORK_HTTP_UPGRADE;
    if (state == NETWORK_HTTP_REFUSED && c->http->host[0])
        return head_refuse(c, LAZ_DENIED_HOST, "host", c->http->host);
    if (state == NETWORK_HTTP_REFUSED)
        return head_refuse(c, LAZ_DENIED_HOST, NULL, c->http->why);
    return server->may ? NETWORK_HEAD_GOOD : NETWORK_HEAD_MORE;
}

enum network_head network_head_more(struct network_connection *c)
{
    return c->http                     ? head_requests(c)
           : c->waits || !c->is_judged ? NETWORK_HEAD_MORE
                                       : head_hello_again(c);
}

/* The first that a server of TLS says. */
static bool head_answer(struct network_connection *c, const char *data, size_t len)
{
    const size_t room = sizeof c->answer - c->n_answer;

    memcpy(c->answer + c->n_answer, data, len < room ? len : room);
    c->n_answer += len < room ? len : room;
    switch (network_answer(c->answer, c->n_answer)) {
    case NETWORK_ANSWER_MORE:
        break;
    case NETWORK_ANSWER_FINAL:
        c->waits = c->is_judged = false;
        c->sides[NETWORK_SERVER].may = c->sides[NETWORK_SERVER].out.len;
        break;
    case NETWORK_ANSWER_RETRY:
        c->waits = false;
        return network_head_more(c) != NETWORK_HEAD_REFUSED;
    }
    return true;
}

bool network_head_server(struct network_connection *c, const char *data, size_t len)
{
    if (!c->http)
        return head_answer(c, data, len);
    switch (network_http_status(c->http, data, len)) {
    case NETWORK_HTTP_MORE:
        return true;
    case NETWORK_HTTP_SWITCHED:
    case NETWORK_HTTP_ORDINARY:
        c->waits = false;
        return head_requests(c) != NETWORK_HEAD_REFUSED;
    case NETWORK_HTTP_WRONG:
        break;
    }
    (void)head_refuse(c, LAZ_DENIED_PROTOCOL, NULL,
                      "the server changed to a protocol that cannot be judged");
    return false;
}

enum network_head network_head_read(struct network_connection *c)
{
    struct laz_buf *out = &c->sides[NETWORK_SERVER].out;
    char *room = c->network->shared->bounce;
    const ssize_t n = laz_os_read(c->sides[NETWORK_BOX].fd, room, HEAD_READ);

    if (n == 0)
        return NETWORK_HEAD_MORE;
    if (n < 0) /* it has gone, and wanted nothing */
        return NETWORK_HEAD_REFUSED;
    c->network->bytes[NETWORK_BOX] += (uint64_t)n;
    laz_buf_append(out, room, (size_t)n);
    if (out->failed)
        return NETWORK_HEAD_REFUSED;
    return c->http ? head_requests(c) : head_hello(c);
}
