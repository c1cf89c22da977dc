/* SPDX-License-Identifier: MIT */
/* http_head.c - may this head of an HTTP/1 request be forwarded, and what follows it?
 * Side: host.  Input trusted: no.
 *
 * RFC 9112.  A head is refused where two readers might disagree about its host or about where its
 * request ends (section 11.2, request smuggling), and where it asks for a protocol in which further
 * requests cannot be judged.  http.c has made sure that lines end with CR LF, and that there is no
 * other CR or LF and no NUL. */
#include "network/network_private.h"

#include <string.h>

/* ---- the host -------------------------------------------------------------------------------- */

static bool head_is_host(const struct network_http *http, struct laz_http_text host)
{
    char name[NETWORK_NAME];
    struct laz_http_text rest = host, bare = laz_http_cut(&rest, ':');
    bool has_port = bare.len < host.len;
    unsigned long port = 0;

    if (!network_name_normal(bare.text, bare.len, name) || strcmp(name, http->name) != 0)
        return false;
    for (size_t i = 0; i < rest.len; i++) {
        if (rest.text[i] < '0' || rest.text[i] > '9' || i > 4)
            return false;
        port = port * 10 + (unsigned long)(rest.text[i] - '0');
    }
    return !has_port || port == http->port;
}

static const char *head_host(struct network_http *http, struct laz_http_text host)
{
    if (head_is_host(http, host))
        return NULL;
    network_escape(host.text, host.len, http->host, sizeof http->host);
    return "the Host of the request is another one";
}

/* ---- the request line ------------------------------------------------------------------------ */

static const char *head_target(struct network_http *http, struct laz_http_text method,
                               struct laz_http_text target)
{
    static const char scheme[] = "http://";
    struct laz_http_text authority = {target.text, sizeof scheme - 1};

    if (target.len && target.text[0] == '/')
        return NULL;
    if (target.len == 1 && target.text[0] == '*')
        return laz_http_is(method, "options") ? NULL : "the request has no path";
    if (target.len < authority.len || !laz_http_is(authority, scheme))
        return "the target of the request is neither a path nor an http:// address";
    authority.text += authority.len;
    size_t most = target.len - authority.len;
    for (authority.len = 0; authority.len < most; authority.len++)
        if (strchr("/?#", authority.text[authority.len]))
            break;
    return head_host(http, authority);
}

static const char *head_request(struct network_http *http, struct laz_http_text line, bool *is_old,
                                bool *reads)
{
    struct laz_http_text method = laz_http_cut(&line, ' '), target = laz_http_cut(&line, ' ');

    *reads = laz_http_is(method, "get") || laz_http_is(method, "head");
    *is_old = laz_http_is(line, "http/1.0");
    if (laz_http_is(line, "http/2.0") || laz_http_is(method, "pri"))
        return "HTTP/2 without TLS cannot be judged: use HTTP/1.1";
    if (!laz_http_is_token(method) || !target.len || !laz_http_is_visible(target, false) ||
        line.len != 8 || memcmp(line.text, "HTTP/1.", 7) != 0 ||
        (line.text[7] != '0' && line.text[7] != '1'))
        return "the request line is not one of HTTP/1.1";
    if (laz_http_is(method, "connect"))
        return "CONNECT asks for a tunnel, in which nothing can be judged";
    return head_target(http, method, target);
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* What the fields of a head say. */
struct head_fields {
    unsigned hosts, lengths, codings, upgrades;
    bool is_websocket;
};

static const char *head_coding(struct network_http *http, struct laz_http_text value)
{
    http->is_chunked = laz_http_is(value, "chunked");
    return http->is_chunked ? NULL
                            : "the Transfer-Encoding of the request is not \"chunked\" alone";
}

static const char *head_take(struct network_http *http, struct laz_http_text name,
                             struct laz_http_text value, struct head_fields *fields)
{
    if (laz_http_is(name, "host"))
        return fields->hosts++ ? "the request has two Host fields" : head_host(http, value);
    if (laz_http_is(name, "content-length"))
        return fields->lengths++ ? "the request has two Content-Length fields"
                                 : laz_http_length(value, &http->left);
    if (laz_http_is(name, "transfer-encoding"))
        return fields->codings++ ? "the request has two Transfer-Encoding fields"
                                 : head_coding(http, value);
    if (laz_http_is(name, "upgrade"))
        fields->is_websocket = !fields->upgrades++ && laz_http_is(value, "websocket");
    return NULL;
}

/* `reads`: the method is one whose body servers may leave unread, and take for the next request
 * (RFC 9110, section 9.3.1). */
static const char *head_conclude(struct network_http *http, const struct head_fields *fields,
                                 bool is_old, bool reads)
{
    http->wants_upgrade = fields->upgrades > 0;
    http->may_upgrade = fields->is_websocket;
    if (!fields->hosts)
        return "the request has no Host field";
    if (fields->codings && fields->lengths)
        return "the request has both Transfer-Encoding and Content-Length";
    if (fields->codings && is_old)
        return "a request of HTTP/1.0 has a Transfer-Encoding";
    if (http->may_upgrade && (fields->codings || http->left))
        return "the request for a WebSocket has a body";
    if (reads && (fields->codings || http->left))
        return "a GET or HEAD has a body, which servers may take for another request: use POST";
    if (http->wants_upgrade && !http->is_first)
        return "the request asks for another protocol, and is not the first of its connection";
    return NULL;
}

const char *network_http_judge(struct network_http *http, const char *head, size_t len)
{
    struct laz_http_text rest = {head, len}, line = laz_http_line(&rest);
    struct head_fields fields = {0};
    bool is_old, reads;

    http->left = 0;
    http->is_chunked = false;
    const char *why = head_request(http, line, &is_old, &reads);
    while (!why && (line = laz_http_line(&rest)).len) {
        struct laz_http_text name, value;
        why = laz_http_field(line, &name, &value);
        if (!why)
            why = head_take(http, name, value, &fields);
    }
    return why ? why : head_conclude(http, &fields, is_old, reads);
}
