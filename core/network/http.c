/* SPDX-License-Identifier: MIT */
/* http.c - the requests of one HTTP/1 connection, one after the other.
 * Side: host.  Input trusted: no.
 *
 * Every request is judged (http_head.c), not only the first one: a client that keeps its connection
 * may ask for another host in the next.  So each end of a request has to be known exactly, and what
 * is not known to be right is refused.  A head is forwarded when all of it was judged; the lines of
 * a chunked body one by one. */
#include "network/network_private.h"

#include "base/json_text.h" /* laz_hex_digit */

#include <string.h>

#define HTTP_CHUNK_LINE 1024 /* most bytes of a line with the size of a chunk */

enum http_part {
    HTTP_HEAD,
    HTTP_BODY,
    HTTP_CHUNK, /* the line with its size */
    HTTP_CHUNK_DATA,
    HTTP_CHUNK_END, /* CR LF behind it */
    HTTP_TRAILER,
    HTTP_OPAQUE, /* another protocol, after an upgrade */
    HTTP_REFUSED,
};

void network_http_begin(struct network_http *http, const char *name, uint16_t port)
{
    *http = (struct network_http){.name = name, .port = port, .is_first = true};
}

static size_t http_refuse(struct network_http *http, const char *why)
{
    http->part = HTTP_REFUSED;
    http->why = why;
    return 0;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The length of a line, or (`is_head`) of lines up to an empty one, with their ends. 0: it is not
 * complete, or refused. */
static size_t http_lines(struct network_http *http, const char *data, size_t len, size_t most,
                         bool is_head)
{
    size_t at = http->seen;

    for (; at < len && at < most; at++) {
        if (data[at] == '\0' || data[at] == '\n')
            return http_refuse(http, data[at] ? "a line of the request does not end with CR LF"
                                              : "the request has a NUL");
        if (data[at] != '\r')
            continue;
        if (at + 1 == len)
            break;
        if (data[at + 1] != '\n')
            return http_refuse(http, "a line of the request does not end with CR LF");
        if (++at >= most)
            break;
        if (!is_head || at == 1 || data[at - 2] == '\n') {
            http->seen = 0;
            return at + 1;
        }
    }
    http->seen = at;
    return at >= most || len >= most ? http_refuse(http, "a part of the request is too long") : 0;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Each returns how many bytes are forwarded; 0: none until more have come, or it was refused. */

static size_t http_head(struct network_http *http, const char *data, size_t len)
{
    size_t n = http_lines(http, data, len, NETWORK_HTTP_HEAD, true);
    const char *why = n ? network_http_judge(http, data, n) : NULL;

    if (why)
        return http_refuse(http, why);
    if (!n)
        return 0;
    http->is_first = false;
    http->waits = http->wants_upgrade;
    http->part = http->is_chunked ? HTTP_CHUNK : http->left ? HTTP_BODY : HTTP_HEAD;
    return n;
}

static size_t http_data(struct network_http *http, size_t len, enum http_part next)
{
    size_t n = http->left < len ? (size_t)http->left : len;

    http->left -= n;
    if (!http->left)
        http->part = next;
    return n;
}

static size_t http_chunk(struct network_http *http, const char *data, size_t len)
{
    size_t n = http_lines(http, data, len, HTTP_CHUNK_LINE, false), digits = 0;

    if (!n)
        return 0;
    for (http->left = 0; laz_hex_digit(data[digits]) >= 0; digits++)
        http->left = http->left << 4 | (uint64_t)laz_hex_digit(data[digits]);
    if (!digits || digits > 15 || (data[digits] != '\r' && data[digits] != ';'))
        return http_refuse(http, "the size of a chunk of the request is malformed");
    http->trailers = 0;
    http->part = http->left ? HTTP_CHUNK_DATA : HTTP_TRAILER;
    return n;
}

static size_t http_chunk_end(struct network_http *http, const char *data, size_t len)
{
    if (data[0] != '\r' || (len > 1 && data[1] != '\n'))
        return http_refuse(http, "a chunk of the request has another length than it says");
    if (len < 2)
        return 0;
    http->part = HTTP_CHUNK;
    return 2;
}

static size_t http_trailer(struct network_http *http, const char *data, size_t len)
{
    size_t n = http_lines(http, data, len, NETWORK_HTTP_HEAD - http->trailers, false);
    const char *why = n > 2 ? network_http_judge_trailer(data, n - 2) : NULL;

    if (why)
        return http_refuse(http, why);
    if (n == 2)
        http->part = HTTP_HEAD;
    http->trailers += n;
    return n;
}

static size_t http_step(struct network_http *http, const char *data, size_t len)
{
    switch ((enum http_part)http->part) {
    case HTTP_HEAD:
        return http->waits ? 0 : http_head(http, data, len);
    case HTTP_BODY:
        return http_data(http, len, HTTP_HEAD);
    case HTTP_CHUNK:
        return http_chunk(http, data, len);
    case HTTP_CHUNK_DATA:
        return http_data(http, len, HTTP_CHUNK_END);
    case HTTP_CHUNK_END:
        return http_chunk_end(http, data, len);
    case HTTP_TRAILER:
        return http_trailer(http, data, len);
    case HTTP_OPAQUE:
        return len;
    case HTTP_REFUSED:
        break;
    }
    return 0;
}

size_t network_http_feed(struct network_http *http, const char *data, size_t len,
                         enum network_http_state *state)
{
    size_t done = 0, n;

    while (done < len && (n = http_step(http, data + done, len - done)))
        done += n;
    *state = http->part == HTTP_REFUSED ? NETWORK_HTTP_REFUSED
             : http->waits              ? NETWORK_HTTP_UPGRADE
                                        : NETWORK_HTTP_FORWARD;
    return http->part == HTTP_REFUSED ? 0 : done;
}

/* ---- what the server says to an upgrade ------------------------------------------------------ */

static enum network_http_status http_ordinary(struct network_http *http)
{
    http->waits = false;
    return NETWORK_HTTP_ORDINARY;
}

/* Its status line is there up to the code. */
static enum network_http_status http_answered(struct network_http *http)
{
    static const char form[] = "HTTP/1.";
    const char *code = http->status + 9;

    if (memcmp(http->status, form, sizeof form - 1) != 0 || http->status[8] != ' ' ||
        code[0] != '1')
        return http_ordinary(http);
    if (memcmp(code, "101", 3) != 0)
        return NETWORK_HTTP_MORE; /* an interim answer: another one follows */
    http->waits = false;
    if (!http->may_upgrade || http->part != HTTP_HEAD) {
        http_refuse(http, "the server changed to a protocol in which requests cannot be judged");
        return NETWORK_HTTP_WRONG;
    }
    http->part = HTTP_OPAQUE;
    return NETWORK_HTTP_SWITCHED;
}

enum network_http_status network_http_status(struct network_http *http, const char *data,
                                             size_t len)
{
    if (!http->waits)
        return NETWORK_HTTP_ORDINARY;
    for (size_t i = 0; i < len; i++) {
        if (http->n_status < sizeof http->status) {
            http->status[http->n_status++] = data[i];
            http->blank = 0;
            if (http->n_status == sizeof http->status) {
                enum network_http_status said = http_answered(http);
                if (said != NETWORK_HTTP_MORE)
                    return said;
            }
            continue;
        }
        if (data[i] == '\n')
            http->blank++;
        else if (data[i] != '\r')
            http->blank = 0;
        if (http->blank == 2)
            http->n_status = 0;
    }
    return NETWORK_HTTP_MORE;
}
