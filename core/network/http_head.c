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

struct head_text {
    const char *text;
    size_t len;
};

static char head_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Ignoring the case of ASCII letters; `word` is in lower case. */
static bool head_is(struct head_text text, const char *word)
{
    size_t i = 0;

    while (i < text.len && word[i] && head_lower(text.text[i]) == word[i])
        i++;
    return i == text.len && !word[i];
}

/* A token of RFC 9110, section 5.6.2. */
static bool head_is_token(struct head_text text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = head_lower(text.text[i]);
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') &&
            !(c && strchr("!#$%&'*+-.^_`|~", c)))
            return false;
    }
    return text.len > 0;
}

/* Has it bytes of control, or (unless `may_space`) spaces? */
static bool head_is_visible(struct head_text text, bool may_space)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.text[i];
        if (c == 127 || (c < 0x20 && !(c == '\t' && may_space)) || (c == ' ' && !may_space))
            return false;
    }
    return true;
}

/* What stands before the first such byte, which is removed with it. */
static struct head_text head_cut(struct head_text *from, char at)
{
    const char *found = from->len ? memchr(from->text, at, from->len) : NULL;
    struct head_text part = {from->text, found ? (size_t)(found - from->text) : from->len};
    size_t used = part.len + (found ? 1 : 0);

    from->text += used;
    from->len -= used;
    return part;
}

/* ---- the host -------------------------------------------------------------------------------- */

static bool head_is_host(const struct network_http *http, struct head_text host)
{
    char name[NETWORK_NAME];
    struct head_text rest = host, bare = head_cut(&rest, ':');
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

static const char *head_host(struct network_http *http, struct head_text host)
{
    if (head_is_host(http, host))
        return NULL;
    network_escape(host.text, host.len, http->host, sizeof http->host);
    return "the Host of the request is another one";
}

/* ---- the request line ------------------------------------------------------------------------ */

static const char *head_target(struct network_http *http, struct head_text method,
                               struct head_text target)
{
    static const char scheme[] = "http://";
    struct head_text authority = {target.text, sizeof scheme - 1};

    if (target.len && target.text[0] == '/')
        return NULL;
    if (target.len == 1 && target.text[0] == '*')
        return head_is(method, "options") ? NULL : "the request has no path";
    if (target.len < authority.len || !head_is(authority, scheme))
        return "the target of the request is neither a path nor an http:// address";
    authority.text += authority.len;
    size_t most = target.len - authority.len;
    for (authority.len = 0; authority.len < most; authority.len++)
        if (strchr("/?#", authority.text[authority.len]))
            break;
    return head_host(http, authority);
}

static const char *head_request(struct network_http *http, struct head_text line, bool *is_old,
                                bool *reads)
{
    struct head_text method = head_cut(&line, ' '), target = head_cut(&line, ' ');

    *reads = head_is(method, "get") || head_is(method, "head");
    *is_old = head_is(line, "http/1.0");
    if (head_is(line, "http/2.0") || head_is(method, "pri"))
        return "HTTP/2 without TLS cannot be judged: use HTTP/1.1";
    if (!head_is_token(method) || !target.len || !head_is_visible(target, false) || line.len != 8 ||
        memcmp(line.text, "HTTP/1.", 7) != 0 || (line.text[7] != '0' && line.text[7] != '1'))
        return "the request line is not one of HTTP/1.1";
    if (head_is(method, "connect"))
        return "CONNECT asks for a tunnel, in which nothing can be judged";
    return head_target(http, method, target);
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* What the fields of a head say. */
struct head_fields {
    unsigned hosts, lengths, codings, upgrades;
    bool is_websocket;
};

static const char *head_length(struct network_http *http, struct head_text value)
{
    http->left = 0;
    for (size_t i = 0; i < value.len; i++) {
        if (value.text[i] < '0' || value.text[i] > '9' || i > 17)
            return "the Content-Length of the request is not one number";
        http->left = http->left * 10 + (uint64_t)(value.text[i] - '0');
    }
    return value.len ? NULL : "the Content-Length of the request is empty";
}

static const char *head_coding(struct network_http *http, struct head_text value)
{
    http->is_chunked = head_is(value, "chunked");
    return http->is_chunked ? NULL
                            : "the Transfer-Encoding of the request is not \"chunked\" alone";
}

/* Splits a line into a name and a value. */
static const char *head_field(struct head_text line, struct head_text *name,
                              struct head_text *value)
{
    *value = line;
    *name = head_cut(value, ':');
    if (line.len && (line.text[0] == ' ' || line.text[0] == '\t'))
        return "a field of the request is folded over lines";
    if (name->len == line.len || !head_is_token(*name) || !head_is_visible(*value, true))
        return "a field of the request is malformed";
    while (value->len && (value->text[0] == ' ' || value->text[0] == '\t')) {
        value->text++;
        value->len--;
    }
    while (value->len &&
           (value->text[value->len - 1] == ' ' || value->text[value->len - 1] == '\t'))
        value->len--;
    return NULL;
}

static const char *head_take(struct network_http *http, struct head_text name,
                             struct head_text value, struct head_fields *fields)
{
    if (head_is(name, "host"))
        return fields->hosts++ ? "the request has two Host fields" : head_host(http, value);
    if (head_is(name, "content-length"))
        return fields->lengths++ ? "the request has two Content-Length fields"
                                 : head_length(http, value);
    if (head_is(name, "transfer-encoding"))
        return fields->codings++ ? "the request has two Transfer-Encoding fields"
                                 : head_coding(http, value);
    if (head_is(name, "upgrade"))
        fields->is_websocket = !fields->upgrades++ && head_is(value, "websocket");
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

/* What stands before CR LF, which is removed with it. */
static struct head_text head_line(struct head_text *from)
{
    struct head_text line = head_cut(from, '\n');

    line.len -= line.len > 0; /* its CR */
    return line;
}

const char *network_http_judge(struct network_http *http, const char *head, size_t len)
{
    struct head_text rest = {head, len}, line = head_line(&rest);
    struct head_fields fields = {0};
    bool is_old, reads;

    http->left = 0;
    http->is_chunked = false;
    const char *why = head_request(http, line, &is_old, &reads);
    while (!why && (line = head_line(&rest)).len) {
        struct head_text name, value;
        why = head_field(line, &name, &value);
        if (!why)
            why = head_take(http, name, value, &fields);
    }
    return why ? why : head_conclude(http, &fields, is_old, reads);
}

const char *network_http_judge_trailer(const char *line, size_t len)
{
    static const char *const refused[] = {"host", "content-length", "transfer-encoding"};
    struct head_text name, value;
    const char *why = head_field((struct head_text){line, len}, &name, &value);

    for (size_t i = 0; i < sizeof refused / sizeof *refused && !why; i++)
        if (head_is(name, refused[i]))
            why = "a trailer of the request says what belongs into its head";
    return why;
}
