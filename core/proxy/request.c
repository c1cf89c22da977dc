/* SPDX-License-Identifier: MIT */
/* request.c - may this request go out, and as what?
 * Side: proxy.  Input trusted: no (what code sends).
 *
 * What the server gets has to be what was judged, whatever server it is: so the line and the fields
 * are written anew of words that were understood, nothing that two readers may take for different
 * things goes on, and the path is neither decoded nor changed.  RFC 9112; the secret is added last,
 * when all else is decided. */
#include "proxy/proxy_private.h"

#include "base/base64.h"
#include "base/glob.h"
#include "base/json_text.h" /* laz_hex_digit */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUEST_MOST       (2 * LAZ_HTTP_HEAD_MOST) /* bytes of a head that goes out, with secrets */
#define REQUEST_CREDENTIAL 2048                     /* bytes of a name and a password in base64 */

struct request_work {
    const struct proxy_credentials *own;
    const struct proxy_credential *all;
    const char *name;
    uint16_t port;
    struct proxy_request *request;
    struct laz_http_text method, target, version;
    struct {
        struct laz_http_text name, value;
    } fields[PROXY_FIELDS];
    size_t n_fields;
    unsigned hosts, lengths, codings;
    bool is_ruled; /* a credential has methods or paths */
};

/* ---- refusing -------------------------------------------------------------------------------- */

static bool LAZ_PRINTF(3, 4)
    request_refuse(struct proxy_request *request, int status, const char *format, ...)
{
    va_list args;

    request->status = status;
    request->is_denial = true;
    va_start(args, format);
    vsnprintf(request->why, sizeof request->why, format, args);
    va_end(args);
    return false;
}

/* NULL: it is good. */
static bool request_bad(struct request_work *work, const char *why)
{
    return !why || request_refuse(work->request, 400, "%s", why);
}

/* ---- the line -------------------------------------------------------------------------------- */

static bool request_line(struct request_work *work, struct laz_http_text line)
{
    work->method = laz_http_cut(&line, ' ');
    work->target = laz_http_cut(&line, ' ');
    work->version = line;
    if (!laz_http_is_token(work->method) || !work->target.len ||
        !laz_http_is_visible(work->target, false) || line.len != 8 ||
        memcmp(line.text, "HTTP/1.", 7) != 0 || (line.text[7] != '0' && line.text[7] != '1'))
        return request_bad(work, "the request line is not one of HTTP/1.1");
    if (laz_http_is(work->method, "connect"))
        return request_refuse(work->request, 405, "CONNECT asks for a tunnel");
    if (laz_http_is(work->method, "trace"))
        return request_refuse(work->request, 405, "TRACE would show the credential");
    if (laz_http_is(work->method, "head") && memcmp(work->method.text, "HEAD", 4) != 0)
        return request_bad(work,
                           "HEAD is not in capitals: servers differ on whether its answer has "
                           "a body");
    if (memchr(work->target.text, '#', work->target.len))
        return request_bad(work, "the target of the request has a fragment");
    if (work->target.text[0] == '/' ||
        (laz_http_is(work->target, "*") && laz_http_is(work->method, "options")))
        return true;
    return request_bad(work, "the target of the request is not a path");
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* Names that are one to servers that make variables of them ("X_Key" and "X-Key"). */
static bool request_is_same(struct laz_http_text name, const char *other)
{
    size_t i = 0;

    for (; i < name.len && other[i]; i++) {
        char a = name.text[i] == '_' ? '-' : name.text[i], b = other[i] == '_' ? '-' : other[i];
        a = a >= 'A' && a <= 'Z' ? (char)(a - 'A' + 'a') : a;
        b = b >= 'A' && b <= 'Z' ? (char)(b - 'A' + 'a') : b;
        if (a != b)
            return false;
    }
    return i == name.len && !other[i];
}

static bool request_host(struct request_work *work, struct laz_http_text value)
{
    struct laz_http_text rest = value, bare = laz_http_cut(&rest, ':');
    const bool has_port = bare.len < value.len;
    unsigned long port = 0;

    if (bare.len && bare.text[bare.len - 1] == '.')
        bare.len--;
    bool is_good = laz_http_is(bare, work->name);
    for (size_t i = 0; i < rest.len && is_good; i++) {
        is_good = rest.text[i] >= '0' && rest.text[i] <= '9' && i < 5;
        port = port * 10 + (unsigned long)(rest.text[i] - '0');
    }
    if (is_good && (!has_port || port == work->port))
        return true;
    return request_bad(work, "the Host of the request is another one");
}

/* Of Connection: what names a field would have it removed on the way, the one that is added too. */
static bool request_connection(struct request_work *work, struct laz_http_text value)
{
    static const char *const known[] = {"close", "keep-alive", "te"};

    while (value.len) {
        const struct laz_http_text word = laz_http_trim(laz_http_cut(&value, ','));
        size_t i = 0;
        while (i < sizeof known / sizeof *known && !laz_http_is(word, known[i]))
            i++;
        if (laz_http_is(word, "upgrade"))
            return request_refuse(work->request, 501,
                                  "the request asks for another protocol than HTTP/1.1 (a "
                                  "WebSocket, maybe)");
        if (i == sizeof known / sizeof *known && word.len)
            return request_bad(work, "a Connection field names others than close and keep-alive");
    }
    return true;
}

static bool request_coding(struct request_work *work, struct laz_http_text value)
{
    work->request->is_chunked = laz_http_is(value, "chunked");
    return work->request->is_chunked ||
           request_bad(work, "the Transfer-Encoding is not \"chunked\" alone");
}

/* Methods and targets by another way than the request line. */
static bool request_is_override(struct laz_http_text name)
{
    static const char *const names[] = {
        "x-http-method-override", "x-http-method",     "x-method-override", "x-original-method",
        "x-original-url",         "x-rewrite-url",     "x-forwarded-uri",   "x-forwarded-method",
        "x-original-uri",         "x-override-url",    "x-forwarded-path",  "x-forwarded-prefix",
        "x-envoy-original-path",  "x-override-method", "x-original-path",   "x-rewrite-uri",
        "x-http-path-override",   "destination", /* of COPY and MOVE (RFC 4918, 10.3) */
    };
    char plain[32];

    for (size_t i = 0; i < name.len && name.len < sizeof plain; i++)
        plain[i] = name.text[i] == '_' ? '-' : name.text[i];
    for (size_t i = 0; i < sizeof names / sizeof *names && name.len < sizeof plain; i++)
        if (laz_http_is((struct laz_http_text){plain, name.len}, names[i]))
            return true;
    return false;
}

/* A name that servers which make variables of names take for one that was judged. */
static bool request_is_masked(struct laz_http_text name)
{
    static const char *const judged[] = {"host",    "content-length", "transfer-encoding",
                                         "upgrade", "connection",     "expect"};
    static const size_t n = sizeof judged / sizeof *judged;
    size_t i = 0;

    while (i < n && !request_is_same(name, judged[i]))
        i++;
    return i < n && memchr(name.text, '_', name.len);
}

static bool request_take(struct request_work *work, struct laz_http_text name,
                         struct laz_http_text value)
{
    if (request_is_masked(name))
        return request_bad(work, "a field has an underscore in place of a hyphen");
    if (laz_http_is(name, "host"))
        return work->hosts++ ? request_bad(work, "the request has two Host fields")
                             : request_host(work, value);
    if (laz_http_is(name, "content-length"))
        return work->lengths++ ? request_bad(work, "the request has two Content-Length fields")
                               : request_bad(work, laz_http_length(value, &work->request->length));
    if (laz_http_is(name, "transfer-encoding"))
        return work->codings++ ? request_bad(work, "the request has two Transfer-Encoding fields")
                               : request_coding(work, value);
    if (laz_http_is(name, "connection"))
        return request_connection(work, value);
    if (laz_http_is(name, "upgrade") || laz_http_is(name, "http2-settings"))
        return request_refuse(work->request, 501,
                              "the request asks for another protocol than HTTP/1.1");
    if (laz_http_is(name, "expect") && !laz_http_is(value, "100-continue"))
        return request_refuse(work->request, 417, "the request expects what is not known");
    if (work->is_ruled && request_is_override(name))
        return request_bad(work, "the request names another method or path in a header");
    return true;
}

static bool request_fields(struct request_work *work, struct laz_http_text rest)
{
    struct laz_http_text line, name, value;

    while ((line = laz_http_line(&rest)).len) {
        if (!request_bad(work, laz_http_field(line, &name, &value)))
            return false;
        if (work->n_fields == PROXY_FIELDS)
            return request_refuse(work->request, 431, "the request has more than %d fields",
                                  PROXY_FIELDS);
        if (!request_take(work, name, value))
            return false;
        work->fields[work->n_fields].name = name;
        work->fields[work->n_fields++].value = value;
    }
    return true;
}

static bool request_conclude(struct request_work *work)
{
    const struct proxy_request *request = work->request;
    const bool is_get = laz_http_is(work->method, "get") || laz_http_is(work->method, "head");

    if (!work->hosts)
        return request_bad(work, "the request has no Host field");
    if (work->codings && work->lengths)
        return request_bad(work, "the request has both Transfer-Encoding and Content-Length");
    if (work->codings && work->version.text[7] == '0')
        return request_bad(work, "a request of HTTP/1.0 has a Transfer-Encoding");
    if (is_get && (work->codings || request->length))
        return request_bad(
            work, "a GET or HEAD has a body, which servers may take for another request: use POST");
    return true;
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* The part of the target before its query. */
static struct laz_http_text request_path(const struct request_work *work)
{
    struct laz_http_text rest = work->target;

    return laz_http_cut(&rest, '?');
}

/* The byte at `at`, decoded if it is an escape; *used: its length. -1: a bad escape. */
static int request_byte(struct laz_http_text text, size_t at, size_t *used)
{
    *used = 1;
    if (text.text[at] != '%')
        return (unsigned char)text.text[at];
    const int high = at + 2 < text.len ? laz_hex_digit(text.text[at + 1]) : -1;
    const int low = high >= 0 ? laz_hex_digit(text.text[at + 2]) : -1;
    *used = 3;
    return low < 0 ? -1 : high << 4 | low;
}

/* Escapes of UTF-8 that careless readers take for ASCII: the overlong ones of three and four bytes,
 * and the wide forms of what separates. */
static bool request_is_disguised(struct laz_http_text path, size_t at, int first)
{
    size_t used;
    const bool is_long = at + 3 < path.len && path.text[at + 3] == '%';
    const int second = is_long ? request_byte(path, at + 3, &used) : -1;

    if (first == 0xc0 || first == 0xc1)
        return true;
    if (first == 0xe0)
        return second >= 0x80 && second <= 0x9f;
    if (first == 0xf0)
        return second >= 0x80 && second <= 0x8f;
    if (first != 0xef || second != 0xbc || at + 6 >= path.len || path.text[at + 6] != '%')
        return false;
    const int third = request_byte(path, at + 6, &used);
    return third == 0x85 || third == 0x8e || third == 0x8f || third == 0xbc; /* % . / backslash */
}

/* Is this path the same for all who read it? Servers differ in what they do with the rest. */
static const char *request_path_wrong(struct laz_http_text path)
{
    size_t used, dots = 0, other = 0; /* of the segment so far */

    for (size_t i = 0; i < path.len; i += used) {
        const int c = request_byte(path, i, &used);
        if (c < 0)
            return "the path of the request has an escape that is none";
        if (c == '\\' || c < 0x20 || c == 0x7f || (used == 1 && c > 0x7f))
            return "the path of the request has a backslash, or a byte that is not ASCII";
        if (used == 3 && request_is_disguised(path, i, c))
            return "the path of the request has an escape that is ASCII to some servers only";
        if (used == 3 && (c == '/' || c == '%'))
            return "the path of the request has an escaped slash or percent sign";
        if (c == '/' && i + 1 < path.len && path.text[i + 1] == '/')
            return "the path of the request has an empty segment";
        if (c != '/') {
            const bool is_end = c == ';' || c == '?' || c == '#'; /* "..;" is ".." to some */
            dots += c == '.';
            other += c != '.' && c != ' ' && !is_end; /* ".. " as well */
            if (!is_end)
                continue;
        }
        if (dots && dots <= 2 && !other)
            return "the path of the request has a segment of dots";
        if (c == '/')
            dots = other = 0;
    }
    return dots && dots <= 2 && !other ? "the path of the request has a segment of dots" : NULL;
}

/* ---- which credential ------------------------------------------------------------------------ */

static bool request_is_method(const struct laz_strv *methods, struct laz_http_text method)
{
    for (size_t i = 0; i < methods->n; i++)
        if (strlen(methods->items[i]) == method.len &&
            memcmp(methods->items[i], method.text, method.len) == 0)
            return true;
    return methods->n == 0;
}

static bool request_is_path(const struct laz_strv *paths, struct laz_http_text path)
{
    for (size_t i = 0; i < paths->n; i++)
        if (laz_glob(paths->items[i], path.text, path.len))
            return true;
    return paths->n == 0;
}

/* The first one that permits it. */
static struct proxy_credential *request_credential(const struct request_work *work)
{
    const struct laz_http_text path = request_path(work);

    for (size_t i = 0; i < work->own->n; i++) {
        struct proxy_credential *one = work->own->items[i];
        if (request_is_method(&one->methods, work->method) && request_is_path(&one->paths, path))
            return one;
    }
    return NULL;
}

static bool request_choose(struct request_work *work)
{
    struct proxy_request *request = work->request;
    const struct laz_http_text path = request_path(work);

    if (work->is_ruled && !request_bad(work, request_path_wrong(path)))
        return false;
    request->used = request_credential(work);
    if (!request->used)
        return request_refuse(request, 403, "%.*s %.*s is not among the methods and paths of %.60s",
                              work->method.len < 20 ? (int)work->method.len : 20, work->method.text,
                              path.len < 80 ? (int)path.len : 80, path.text,
                              work->own->n > 1 ? "the credentials of this host"
                              : work->own->n   ? work->own->items[0]->title
                                               : "");
    if (request->used->secret)
        return true;
    if (request->used->why)
        return request_refuse(request, 502, "the host cannot use its secret of %.60s: %.100s",
                              request->used->title, request->used->why);
    request->wants = request->used;
    return false;
}

/* ---- placeholders ---------------------------------------------------------------------------- */

static bool request_has(struct laz_http_text text, const char *word)
{
    return word && *word && text.len && memmem(text.text, text.len, word, strlen(word)) != NULL;
}

/* What Basic has in base64, decoded into `room`; len 0: it is not Basic. */
static struct laz_http_text request_basic(struct laz_http_text value, char room[REQUEST_CREDENTIAL])
{
    struct laz_http_text rest = value;
    const struct laz_http_text scheme = laz_http_cut(&rest, ' ');
    const struct laz_http_text coded = laz_http_trim(rest);
    const bool is_basic = laz_http_is(scheme, "basic") && coded.len < REQUEST_CREDENTIAL;
    const ptrdiff_t n = is_basic ? laz_base64_decode(coded.text, coded.len, room) : -1;

    return (struct laz_http_text){room, n > 0 ? (size_t)n : 0};
}

static bool request_shows(struct laz_http_text value, const char *placeholder)
{
    char room[REQUEST_CREDENTIAL];

    return request_has(value, placeholder) || request_has(request_basic(value, room), placeholder);
}

/* The credential of another host whose placeholder is in the text; NULL: none. */
static const struct proxy_credential *request_finds(const struct request_work *work,
                                                    struct laz_http_text text)
{
    for (const struct proxy_credential *one = work->all; one; one = one->next) {
        size_t i = 0;
        if (!request_has(text, one->placeholder))
            continue;
        while (i < work->own->n && work->own->items[i] != one)
            i++;
        if (i == work->own->n)
            return one;
    }
    return NULL;
}

static bool request_foreign(struct request_work *work)
{
    const struct proxy_credential *one = request_finds(work, work->target);
    char room[REQUEST_CREDENTIAL];

    for (size_t i = 0; i < work->n_fields && !one; i++) {
        one = request_finds(work, work->fields[i].value);
        if (!one)
            one = request_finds(work, request_basic(work->fields[i].value, room));
    }
    return !one || request_refuse(work->request, 403,
                                  "the request has the placeholder of %.80s, which is for another "
                                  "host",
                                  one->title);
}

/* ---- what goes out --------------------------------------------------------------------------- */

/* Appends the text with the secret in place of each placeholder. */
static void request_replace(struct laz_http_text text, const struct proxy_credential *by,
                            struct laz_buf *out)
{
    const size_t len = by->placeholder ? strlen(by->placeholder) : 0;
    const char *found;

    while (len && text.len && (found = memmem(text.text, text.len, by->placeholder, len))) {
        const size_t before = (size_t)(found - text.text);
        laz_buf_append(out, text.text, before);
        laz_buf_append(out, by->secret, by->secret_len);
        text.text += before + len;
        text.len -= before + len;
    }
    laz_buf_append(out, text.text, text.len);
}

static void request_value(struct laz_http_text value, const struct proxy_credential *by,
                          struct laz_buf *out)
{
    char room[REQUEST_CREDENTIAL];
    struct laz_buf plain = LAZ_BUF_INIT;
    const struct laz_http_text basic = request_basic(value, room);

    if (!request_has(basic, by->placeholder)) {
        request_replace(value, by, out);
        return;
    }
    request_replace(basic, by, &plain);
    laz_buf_puts(out, "Basic ");
    laz_base64_encode(out, laz_buf_text(&plain), plain.len);
    out->failed |= plain.failed;
    if (plain.data)
        laz_wipe(plain.data, plain.len);
    laz_buf_fini(&plain);
}

/* What is set or left out by the host. */
static bool request_is_ours(const struct proxy_credential *by, struct laz_http_text name)
{
    static const char *const accounts[] = {"authorization", "proxy-authorization", "cookie"};
    static const char *const readable[] = {"accept-encoding", "range", "if-range"};

    if (by->field && request_is_same(name, by->field))
        return true;
    for (size_t i = 0; i < sizeof accounts / sizeof *accounts; i++)
        if (by->only && request_is_same(name, accounts[i]))
            return true;
    for (size_t i = 0; i < sizeof readable / sizeof *readable; i++)
        if (!by->echo && request_is_same(name, readable[i]))
            return true;
    return false;
}

/* Percent-encoded, but for what is reserved nowhere (RFC 3986, 2.3). */
static void request_encode(const char *text, size_t len, struct laz_buf *out)
{
    for (size_t i = 0; i < len; i++) {
        const unsigned char c = (unsigned char)text[i];
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
            (c && strchr("-._~", c)))
            laz_buf_putc(out, (char)c);
        else
            laz_buf_printf(out, "%%%02X", c);
    }
}

/* Is it the parameter, in whatever escapes? */
static bool request_is_parameter(struct laz_http_text part, const char *name)
{
    const struct laz_http_text key = laz_http_cut(&part, '=');
    size_t used, i = 0;

    for (size_t at = 0; at < key.len; at += used, i++) {
        const int c = request_byte(key, at, &used);
        if (!name[i] || c != (unsigned char)name[i])
            return false;
    }
    return !name[i];
}

static void request_target(const struct request_work *work, const struct proxy_credential *by,
                           struct laz_buf *out)
{
    struct laz_http_text query = work->target;
    const struct laz_http_text path = laz_http_cut(&query, '?');
    const char *between = "?";

    if (!by->query || work->target.text[0] != '/') {
        laz_buf_append(out, work->target.text, work->target.len);
        return;
    }
    laz_buf_append(out, path.text, path.len);
    while (query.len) {
        const struct laz_http_text part = laz_http_cut(&query, '&');
        if (request_is_parameter(part, by->query))
            continue;
        laz_buf_puts(out, between);
        laz_buf_append(out, part.text, part.len);
        between = "&";
    }
    laz_buf_puts(out, between);
    request_encode(by->query, strlen(by->query), out);
    laz_buf_putc(out, '=');
    request_encode(by->secret, by->secret_len, out);
}

static void request_add(const struct proxy_credential *by, struct laz_buf *out)
{
    struct laz_buf pair = LAZ_BUF_INIT;

    if (!by->echo)
        laz_buf_puts(out, "Accept-Encoding: identity\r\n");
    if (!by->field)
        return;
    laz_buf_printf(out, "%s: %s", by->field, by->before);
    if (by->user) {
        laz_buf_printf(&pair, "%s:", by->user);
        laz_buf_append(&pair, by->secret, by->secret_len);
        laz_base64_encode(out, laz_buf_text(&pair), pair.len);
        out->failed |= pair.failed;
        if (pair.data)
            laz_wipe(pair.data, pair.len);
        laz_buf_fini(&pair);
    } else {
        laz_buf_append(out, by->secret, by->secret_len);
    }
    laz_buf_printf(out, "%s\r\n", by->after);
}

static void request_write(const struct request_work *work, struct laz_buf *out)
{
    const struct proxy_credential *by = work->request->used;

    laz_buf_append(out, work->method.text, work->method.len);
    laz_buf_putc(out, ' ');
    request_target(work, by, out);
    laz_buf_putc(out, ' ');
    laz_buf_append(out, work->version.text, work->version.len);
    laz_buf_puts(out, "\r\n");
    for (size_t i = 0; i < work->n_fields; i++) {
        if (request_is_ours(by, work->fields[i].name))
            continue;
        laz_buf_append(out, work->fields[i].name.text, work->fields[i].name.len);
        laz_buf_puts(out, ": ");
        request_value(work->fields[i].value, by, out);
        laz_buf_puts(out, "\r\n");
    }
    request_add(by, out);
    laz_buf_puts(out, "\r\n");
}

/* Without a header or parameter of its own, the secret is there only where its placeholder was. */
static bool request_is_used(const struct request_work *work)
{
    const struct proxy_credential *by = work->request->used;
    bool shows = by->field || (by->query && work->target.text[0] == '/');

    for (size_t i = 0; i < work->n_fields; i++)
        shows |= by->placeholder && request_shows(work->fields[i].value, by->placeholder);
    return shows;
}

void proxy_request_judge(const struct proxy_credentials *own, const struct proxy_credential *all,
                         const char *name, uint16_t port, const char *head, size_t len,
                         struct laz_buf *out, struct proxy_request *request)
{
    struct laz_http_text rest = {head, len};
    struct request_work work = {
        .own = own, .all = all, .name = name, .port = port, .request = request};

    *request = (struct proxy_request){.status = 0};
    for (size_t i = 0; i < own->n; i++)
        work.is_ruled |= own->items[i]->methods.n || own->items[i]->paths.n;
    const bool has_line = request_line(&work, laz_http_line(&rest));
    request->is_head = laz_http_is(work.method, "head"); /* of the host's own answer as well */
    if (!has_line || !request_fields(&work, rest) || !request_conclude(&work) ||
        !request_foreign(&work) || !request_choose(&work)) {
        request->used = NULL;
        return;
    }
    const size_t before = out->len;
    request_write(&work, out);
    if (!request_is_used(&work))
        request->used = NULL;
    if (out->len - before >
        REQUEST_MOST) { /* a secret may be much longer than what stands for it */
        laz_wipe(out->data + before, out->len - before);
        out->len = before;
        request->used = NULL;
        request_refuse(request, 431, "the request has too many placeholders");
    }
}

const char *proxy_request_trailer(const struct proxy_credentials *own, const char *line, size_t len)
{
    static const char *const refused[] = {"authorization", "proxy-authorization", "cookie"};
    struct laz_http_text rest = {line, len};
    const char *why = laz_http_trailer(rest);
    const struct laz_http_text name = laz_http_cut(&rest, ':');

    if (!why && request_is_override(name))
        why = "a trailer says what belongs into the head";
    for (size_t i = 0; i < sizeof refused / sizeof *refused && !why; i++)
        if (request_is_same(name, refused[i]))
            why = "a trailer says what belongs into the head";
    for (size_t i = 0; i < own->n && !why; i++)
        if (own->items[i]->field && request_is_same(name, own->items[i]->field))
            why = "a trailer says what belongs into the head";
    return why;
}
