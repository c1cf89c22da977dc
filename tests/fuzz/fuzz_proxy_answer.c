/* SPDX-License-Identifier: MIT */
/* fuzz_proxy_answer.c - what a server sends to a box, of any bytes. However it is cut, the box gets
 * the same answers, which are read strictly again: each with one length, for another protocol or
 * place none, and the secret in no line of a head and in no body. */
#include "fuzz_proxy.h"

#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what);                             \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#define GET  "GET /v1/ HTTP/1.1\r\nHost: " FUZZ_NAME "\r\n\r\n"
#define HEAD "HEAD /v1/ HTTP/1.1\r\nHost: " FUZZ_NAME "\r\n\r\n"

/* The requests whose answers come: by the second byte, GET or HEAD, and one or four. What comes
 * before it was asked for ends the connection: of four it depends on the pieces. */
#define FUZZ_REQUESTS(kinds) ((kinds)&32 ? 4u : 1u)

static void fuzz_feed(struct fuzz_run *run, const char *data, size_t size, size_t piece,
                      unsigned kinds, bool is_whole)
{
    for (unsigned i = 0; i < FUZZ_REQUESTS(kinds); i++)
        laz_buf_puts(&run->box.in, kinds >> i & 1 ? HEAD : GET);
    proxy_exchange_requests(&run->exchange);
    for (size_t at = 0; at < size && !run->exchange.is_ending;) {
        const size_t n = size - at < piece ? size - at : piece;
        laz_buf_append(&run->server.in, data + at, n);
        at += n;
        while (proxy_exchange_answers(&run->exchange) | proxy_exchange_requests(&run->exchange))
            fuzz_run_drain(run);
        fuzz_run_drain(run);
        CHECK(run->exchange.held.len <= 60 * 1368);
    }
    if (!run->exchange.is_ending)
        proxy_exchange_ended(&run->exchange, is_whole);
    fuzz_run_drain(run);
    CHECK(run->exchange.is_ending && !run->exchange.failed);
}

/* ---- what the box got ------------------------------------------------------------------------ */

struct fuzz_reader {
    const struct fuzz_world *world;
    struct laz_http_stream stream;
    struct laz_buf heads, body, bodies;
    unsigned finals, kinds;
    bool is_rest;
};

static void fuzz_clean(const struct fuzz_reader *reader, const char *data, size_t len)
{
    if (!reader->world->one.echo)
        CHECK(!fuzz_has(reader->world->secret, strlen(reader->world->secret), data, len, NULL));
}

static void fuzz_body_ends(struct fuzz_reader *reader)
{
    fuzz_clean(reader, laz_buf_text(&reader->body), reader->body.len);
    laz_buf_append(&reader->bodies, reader->body.data, reader->body.len);
    laz_buf_clear(&reader->body);
}

static void fuzz_head(struct fuzz_reader *reader, const char *data, size_t len)
{
    struct laz_http_text rest = {data, len}, line = laz_http_line(&rest), name, value;
    const int status = line.len >= 12 ? atoi(line.text + 9) : 0;
    unsigned lengths = 0, codings = 0;
    uint64_t length = 0;

    fuzz_body_ends(reader);
    CHECK(status >= 100 && status < 600 && status != 101);
    fuzz_clean(reader, line.text, line.len);
    while ((line = laz_http_line(&rest)).len) {
        CHECK(!laz_http_field(line, &name, &value));
        fuzz_clean(reader, line.text, line.len);
        CHECK(!laz_http_is(name, "alt-svc") && !laz_http_is(name, "upgrade"));
        if (laz_http_is(name, "content-length")) {
            lengths++;
            CHECK(!laz_http_length(value, &length));
        }
        if (laz_http_is(name, "transfer-encoding")) {
            codings++;
            CHECK(laz_http_is(value, "chunked"));
        }
        if (!reader->world->one.echo)
            CHECK(!laz_http_is(name, "content-encoding") || laz_http_is(value, "identity"));
    }
    CHECK(lengths <= 1 && codings <= 1 && !(lengths && codings));
    laz_buf_append(&reader->heads, data, len);
    const bool is_head = reader->kinds >> reader->finals & 1;
    reader->finals += status >= 200;
    CHECK(reader->finals <= FUZZ_REQUESTS(reader->kinds));
    CHECK((status >= 200 && status != 204) || (!codings && !length));
    if (status < 200 || status == 204 || status == 304 || is_head)
        return;
    if (!lengths && !codings)
        reader->stream.part = LAZ_HTTP_REST;
    else
        laz_http_follow(&reader->stream, codings, length);
}

static void fuzz_read(struct fuzz_reader *reader, const struct laz_buf *got)
{
    for (size_t at = 0, n; at < got->len; at += n) {
        const enum laz_http_part part = reader->stream.part;
        n = laz_http_piece(&reader->stream, got->data + at, got->len - at);
        CHECK(reader->stream.part != LAZ_HTTP_REFUSED);
        CHECK(n); /* lines and heads are passed on as a whole */
        if (part == LAZ_HTTP_HEAD)
            fuzz_head(reader, got->data + at, n);
        else if (part == LAZ_HTTP_TRAILER)
            fuzz_clean(reader, got->data + at, n);
        else if (part == LAZ_HTTP_BODY || part == LAZ_HTTP_CHUNK_DATA || part == LAZ_HTTP_REST)
            laz_buf_append(&reader->body, got->data + at, n);
        if (part == LAZ_HTTP_TRAILER)
            laz_buf_append(&reader->heads, got->data + at, n);
    }
    fuzz_body_ends(reader);
}

static void fuzz_reader_fini(struct fuzz_reader *reader)
{
    laz_buf_fini(&reader->heads);
    laz_buf_fini(&reader->body);
    laz_buf_fini(&reader->bodies);
}

static void fuzz_compare(const struct laz_buf *one, const struct laz_buf *other, bool is_wrong)
{
    const size_t n = one->len < other->len ? one->len : other->len;

    CHECK(is_wrong || one->len == other->len);
    CHECK(!n || memcmp(one->data, other->data, n) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t pieces[] = {1, 3, 29};
    struct fuzz_world world;
    struct fuzz_run run, other;
    struct laz_buf text = LAZ_BUF_INIT;

    if (size < 3)
        return 0;
    fuzz_world_init(&world, data[0]);
    laz_strv_fini(&world.one.methods); /* HEAD is permitted, too */
    const unsigned kinds = data[1];
    for (size_t i = 2; i < size; i++) /* a byte that puts the secret in */
        if (data[i] == 0xf5)
            laz_buf_puts(&text, world.secret);
        else if (data[i] == 0xf6)
            laz_base64_encode(&text, world.secret, strlen(world.secret));
        else
            laz_buf_putc(&text, (char)data[i]);
    struct fuzz_reader reader = {.world = &world, .stream = {.is_plain = true}, .kinds = kinds};
    fuzz_run_init(&run, &world);
    fuzz_feed(&run, text.data, text.len, text.len, kinds, kinds & 16);
    fuzz_read(&reader, &run.to_box);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces && text.len < 4096; i++) {
        struct fuzz_reader again = {.world = &world, .stream = {.is_plain = true}, .kinds = kinds};
        fuzz_run_init(&other, &world);
        fuzz_feed(&other, text.data, text.len, pieces[i], kinds, kinds & 16);
        fuzz_read(&again, &other.to_box);
        if (FUZZ_REQUESTS(kinds) == 1) {
            CHECK(other.exchange.is_wrong == run.exchange.is_wrong && other.denied == run.denied);
            fuzz_compare(&reader.heads, &again.heads, false);
            fuzz_compare(&reader.bodies, &again.bodies, run.exchange.is_wrong);
        }
        fuzz_reader_fini(&again);
        fuzz_run_fini(&other);
    }
    fuzz_reader_fini(&reader);
    fuzz_run_fini(&run);
    fuzz_world_fini(&world);
    laz_buf_fini(&text);
    return 0;
}
