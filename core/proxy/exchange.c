/* SPDX-License-Identifier: MIT */
/* exchange.c - requests of a box, one after the other, and their answers: bytes in, bytes out.
 * Side: proxy.  Input trusted: no.
 *
 * A request goes out when the answer to the one before is complete, so that each answer belongs to
 * a known request, also where a client sends several at once.  Once something was refused nothing
 * more is read: where the next request would begin may be what was wrong.  A secret is searched for
 * from its request on, whatever becomes of it meanwhile. */
#include "proxy/proxy_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXCHANGE_INTERIM 16 /* answers before the final one */

/* ---- words to the engine --------------------------------------------------------------------- */

void proxy_exchange_deny(const struct proxy_exchange *x, const char *why)
{
    const struct proxy_note note = {
        .connection = x->id, .name = x->name, .port = x->port, .text = why};

    x->tell(x->user, PROXY_DENIED, &note);
}

/* The engine answers one that is missing, always; one that was refused it may let be. */
static void exchange_wants(const struct proxy_exchange *x, struct proxy_credential *credential,
                           bool refused)
{
    const struct proxy_note note = {.credential = credential->id, .refused = refused};

    if (credential->is_asked)
        return;
    credential->is_asked = !refused;
    x->tell(x->user, PROXY_WANTS, &note);
}

/* ---- refusing -------------------------------------------------------------------------------- */

static const char *exchange_reason(int status)
{
    switch (status) {
    case 403:
        return "Forbidden";
    case 405:
        return "Method Not Allowed";
    case 417:
        return "Expectation Failed";
    case 431:
        return "Request Header Fields Too Large";
    case 501:
        return "Not Implemented";
    case 502:
        return "Bad Gateway";
    default:
        return "Bad Request";
    }
}

/* The host's own answer, after which the connection ends. */
static void exchange_say(struct proxy_exchange *x, int status, const char *why)
{
    struct laz_buf *out = &x->box->out;

    laz_buf_printf(out,
                   "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: "
                   "%zu\r\nConnection: close\r\n\r\n",
                   status, exchange_reason(status), strlen(why) + sizeof "lazaret: \n" - 1);
    if (!x->is_head)
        laz_buf_printf(out, "lazaret: %s\n", why);
    x->is_ending = true;
}

void proxy_exchange_refuse(struct proxy_exchange *x, int status, const char *why)
{
    proxy_exchange_deny(x, why);
    exchange_say(x, status, why);
}

/* An answer cannot go on. What was passed on of it is left as it is: the client sees an error of
 * TLS instead of its end. */
static void exchange_cut(struct proxy_exchange *x, const char *why)
{
    char text[256];

    snprintf(text, sizeof text, "the answer of the server: %s", why);
    if (!x->has_begun && x->is_asking) {
        proxy_exchange_refuse(x, 502, text);
        return;
    }
    proxy_exchange_deny(x, text);
    x->is_ending = x->is_wrong = true;
}

/* The body of a request is wrong. An answer of the host would stand in another one, or behind it,
 * if that has begun already. */
static void exchange_spoil(struct proxy_exchange *x, const char *why)
{
    if (x->is_asking && !x->has_begun) {
        proxy_exchange_refuse(x, 400, why);
        return;
    }
    proxy_exchange_deny(x, why);
    x->is_ending = x->is_wrong = true;
}

/* ---- searches -------------------------------------------------------------------------------- */

static void exchange_search(struct proxy_exchange *x, size_t at, struct proxy_pattern *pattern)
{
    proxy_pattern_drop(x->searches.items[at]);
    x->searches.items[at] = proxy_pattern_hold(pattern);
    proxy_echo_begin(&x->echoes[at], pattern);
}

/* For the secrets that there are when a request goes out, and those that were there before. */
static void exchange_search_begin(struct proxy_exchange *x)
{
    for (size_t i = 0; i < x->own.n; i++) {
        const size_t at = PROXY_SOUGHT * i;
        exchange_search(x, at, x->own.items[i]->pattern);
        for (size_t k = 0; k < PROXY_FORMER; k++)
            exchange_search(x, at + 1 + k, x->own.items[i]->former[k]);
        exchange_search(x, at + PROXY_SOUGHT - 1, NULL);
    }
    laz_buf_clear(&x->held);
}

/* One that has come since then. The one before it goes on to be searched for, from where that is.
 */
static void exchange_search_other(struct proxy_exchange *x, size_t at, struct proxy_pattern *now)
{
    const size_t last = at + PROXY_SOUGHT - 1;
    struct proxy_pattern **items = x->searches.items;
    size_t to = at + 1;

    while (to < last - 1 && items[to])
        to++;
    if (items[last]) {
        proxy_pattern_drop(items[to]);
        items[to] = items[last];
        x->echoes[to] = x->echoes[last];
        items[last] = NULL;
    }
    exchange_search(x, last, now);
}

/* For those as well that have come since then: other connections may have sent them. */
static void exchange_search_on(struct proxy_exchange *x)
{
    for (size_t i = 0; i < x->own.n; i++) {
        struct proxy_pattern *now = x->own.items[i]->pattern;
        bool is_there = !now;
        for (size_t k = 0; k < PROXY_SOUGHT; k++)
            is_there |= x->searches.items[PROXY_SOUGHT * i + k] == now;
        if (!is_there)
            exchange_search_other(x, PROXY_SOUGHT * i, now);
    }
}

/* ---- requests -------------------------------------------------------------------------------- */

/* False: nothing more can be done with it now. */
static bool exchange_request(struct proxy_exchange *x, const char *head, size_t len)
{
    struct proxy_note used = {.connection = x->id, .name = x->name};
    struct proxy_request request;

    proxy_request_judge(&x->own, *x->all, x->name, x->port, head, len, &x->server->out, &request);
    if (request.wants) {
        x->waits = true;
        exchange_wants(x, request.wants, false);
        return false;
    }
    x->is_head = request.is_head;
    if (request.status) {
        proxy_exchange_refuse(x, request.status, request.why);
        return false;
    }
    laz_http_follow(&x->requests, request.is_chunked, request.length);
    exchange_search_begin(x);
    x->is_asking = true;
    x->has_begun = false;
    x->interim = 0;
    x->used = request.used;
    if (request.used) {
        used.credential = request.used->id;
        x->tell(x->user, PROXY_USED, &used);
    }
    return true;
}

bool proxy_exchange_requests(struct proxy_exchange *x)
{
    struct proxy_bytes *box = x->box, *server = x->server;
    bool moved = false;

    while (!x->is_ending && !x->waits && box->taken < box->in.len &&
           server->out.len - server->sent < PROXY_WAITS) {
        const enum laz_http_part part = x->requests.part;
        const char *data = box->in.data + box->taken, *why = NULL;
        if (part == LAZ_HTTP_HEAD && x->is_asking)
            break;
        const size_t n = laz_http_piece(&x->requests, data, box->in.len - box->taken);
        if (part == LAZ_HTTP_TRAILER && n > 2)
            why = proxy_request_trailer(&x->own, data, n - 2);
        else if (!n)
            why = x->requests.why;
        if (why && part == LAZ_HTTP_HEAD)
            proxy_exchange_refuse(x, 400, why);
        else if (why)
            exchange_spoil(x, why);
        if (!n || why || (part == LAZ_HTTP_HEAD && !exchange_request(x, data, n)))
            break;
        if (part != LAZ_HTTP_HEAD)
            laz_buf_append(&server->out, data, n);
        box->taken += n;
        moved = true;
    }
    laz_buf_drop(&box->in, box->taken);
    box->taken = 0;
    return moved;
}

/* ---- answers --------------------------------------------------------------------------------- */

static void exchange_emit(struct proxy_exchange *x, const char *data, size_t len)
{
    struct laz_buf *out = &x->box->out;

    if (!len)
        return;
    if (x->is_chunked)
        laz_buf_printf(out, "%zx\r\n", len);
    laz_buf_append(out, data, len);
    if (x->is_chunked)
        laz_buf_puts(out, "\r\n");
}

/* Passes a piece of a body on, but for what may begin a secret. */
static bool exchange_body(struct proxy_exchange *x, const char *data, size_t len)
{
    size_t most = 0, hold;

    exchange_search_on(x);
    for (size_t i = 0; i < x->searches.n; i++) {
        if (proxy_echo_feed(&x->echoes[i], data, len, &hold)) {
            char why[200];
            snprintf(why, sizeof why, "it has the secret of %.80s, and was cut off",
                     x->own.items[i / PROXY_SOUGHT]->title);
            exchange_cut(x, why);
            return false;
        }
        most = hold > most ? hold : most;
    }
    if (!x->held.len && !most) {
        exchange_emit(x, data, len);
        return true;
    }
    laz_buf_append(&x->held, data, len);
    most = most < x->held.len ? most : x->held.len; /* its first characters went on already */
    exchange_emit(x, x->held.data, x->held.len - most);
    laz_buf_drop(&x->held, x->held.len - most);
    x->failed |= x->held.failed;
    return !x->failed;
}

static void exchange_flush(struct proxy_exchange *x)
{
    exchange_emit(x, x->held.data, x->held.len);
    laz_buf_clear(&x->held);
}

static void exchange_answered(struct proxy_exchange *x)
{
    x->is_asking = false;
    x->answers.part = LAZ_HTTP_HEAD;
    if (x->closes)
        x->is_ending = true;
}

static bool exchange_head(struct proxy_exchange *x, const char *data, size_t len)
{
    struct laz_buf head = LAZ_BUF_INIT;
    struct proxy_answer answer;

    exchange_search_on(x);
    proxy_answer_judge(&x->searches, x->is_head, data, len, &head, &answer);
    if (!answer.why && answer.is_interim && ++x->interim > EXCHANGE_INTERIM)
        answer.why = "there are too many interim answers";
    if (answer.why)
        exchange_cut(x, answer.why);
    else
        laz_buf_append(&x->box->out, head.data, head.len);
    x->failed |= head.failed;
    laz_buf_fini(&head);
    if (answer.why)
        return false;
    if (answer.status == 401 && x->used)
        exchange_wants(x, x->used, true);
    if (answer.is_interim)
        return true;
    x->has_begun = true;
    x->closes = answer.closes;
    x->is_chunked = answer.has_body && answer.is_chunked;
    if (answer.has_body && !answer.is_chunked && !answer.has_length)
        x->answers.part = LAZ_HTTP_REST;
    else if (answer.has_body)
        laz_http_follow(&x->answers, answer.is_chunked, answer.length);
    if (x->answers.part == LAZ_HTTP_HEAD)
        exchange_answered(x);
    return true;
}

static bool exchange_trailer(struct proxy_exchange *x, const char *data, size_t n)
{
    if (n == 2 || proxy_answer_trailer(&x->searches, data, n - 2))
        laz_buf_append(&x->box->out, data, n);
    if (n == 2)
        exchange_answered(x);
    return true;
}

/* A piece of an answer. */
static bool exchange_piece(struct proxy_exchange *x, enum laz_http_part part, const char *data,
                           size_t n)
{
    switch (part) {
    case LAZ_HTTP_HEAD:
        return exchange_head(x, data, n);
    case LAZ_HTTP_BODY:
    case LAZ_HTTP_REST:
    case LAZ_HTTP_CHUNK_DATA:
        if (!exchange_body(x, data, n))
            return false;
        if (x->answers.part == LAZ_HTTP_HEAD) {
            exchange_flush(x);
            exchange_answered(x);
        }
        return true;
    case LAZ_HTTP_CHUNK:
        if (x->answers.part == LAZ_HTTP_TRAILER) {
            exchange_flush(x);
            laz_buf_puts(&x->box->out, "0\r\n");
        }
        return true;
    case LAZ_HTTP_TRAILER:
        return exchange_trailer(x, data, n);
    case LAZ_HTTP_CHUNK_END:
    case LAZ_HTTP_REFUSED:
        break;
    }
    return true;
}

bool proxy_exchange_answers(struct proxy_exchange *x)
{
    struct proxy_bytes *box = x->box, *server = x->server;
    bool moved = false;

    while (!x->is_ending && server->taken < server->in.len &&
           box->out.len - box->sent < PROXY_WAITS) {
        const enum laz_http_part part = x->answers.part;
        const char *data = server->in.data + server->taken;
        if (!x->is_asking) { /* nobody has asked: a last word before it closes */
            x->is_ending = true;
            break;
        }
        const size_t n = laz_http_piece(&x->answers, data, server->in.len - server->taken);
        if (!n && x->answers.part == LAZ_HTTP_REFUSED)
            exchange_cut(x, x->answers.why);
        if (!n || !exchange_piece(x, part, data, n))
            break;
        server->taken += n;
        moved = true;
    }
    laz_buf_drop(&server->in, server->taken);
    server->taken = 0;
    return moved;
}

void proxy_exchange_ended(struct proxy_exchange *x, bool is_whole)
{
    if (x->is_asking && x->answers.part == LAZ_HTTP_REST && is_whole) {
        exchange_flush(x);
        exchange_answered(x);
    } else if (x->is_asking && x->has_begun) {
        x->is_wrong = true; /* it has told its client less than it meant to */
    }
    x->is_ending = true;
}

/* ---- its life -------------------------------------------------------------------------------- */

int proxy_exchange_init(struct proxy_exchange *x, struct laz_error *err)
{
    x->requests.is_plain = x->answers.is_plain = true;
    x->searches.items = calloc(PROXY_SOUGHT * x->own.n + 1, sizeof(struct proxy_pattern *));
    x->echoes = calloc(PROXY_SOUGHT * x->own.n + 1, sizeof *x->echoes);
    if (!x->searches.items || !x->echoes)
        return laz_error_nomem(err);
    x->searches.n = PROXY_SOUGHT * x->own.n;
    return 0;
}

void proxy_exchange_fini(struct proxy_exchange *x)
{
    for (size_t i = 0; i < x->searches.n; i++)
        proxy_pattern_drop(x->searches.items[i]);
    if (x->held.data)
        laz_wipe(x->held.data, x->held.len);
    laz_buf_fini(&x->held);
    free(x->searches.items);
    free(x->echoes);
}
