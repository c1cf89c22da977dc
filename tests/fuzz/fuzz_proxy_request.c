/* SPDX-License-Identifier: MIT */
/* fuzz_proxy_request.c - what a box sends to a host with a credential, of any bytes. However it is
 * cut, the same goes to the server; that is read strictly again as the same requests, each for that
 * host alone, with the secret where it belongs; and of what is refused nothing goes out. */
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

/* Gives it in pieces to an exchange, whose server answers each request once that is complete. */
static void fuzz_feed(struct fuzz_run *run, const char *data, size_t size, size_t piece)
{
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    bool moved = true;

    for (size_t at = 0; at < size || moved;) {
        const size_t n = size - at < piece ? size - at : piece;
        laz_buf_append(&run->box.in, data + at, n);
        at += n;
        moved = proxy_exchange_requests(&run->exchange);
        if (run->exchange.is_asking && run->exchange.requests.part == LAZ_HTTP_HEAD) {
            laz_buf_puts(&run->server.in, answer);
            moved |= proxy_exchange_answers(&run->exchange);
            CHECK(!run->exchange.is_asking);
        }
        fuzz_run_drain(run);
        if (run->exchange.is_ending)
            break;
    }
    CHECK(!run->exchange.failed && !run->exchange.waits && !run->wanted);
}

/* ---- what went out --------------------------------------------------------------------------- */

static bool fuzz_same(struct laz_http_text name, const char *other)
{
    char plain[64];

    for (size_t i = 0; i < name.len && name.len < sizeof plain; i++)
        plain[i] = name.text[i] == '_' ? '-' : name.text[i];
    for (; *other == ' ';)
        other++;
    if (name.len >= sizeof plain || strlen(other) != name.len)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        const char a = plain[i], b = other[i] == '_' ? '-' : other[i];
        if ((a | 32) != (b | 32))
            return false;
    }
    return true;
}

static bool fuzz_shows(struct laz_http_text text, const char *word)
{
    return text.len && memmem(text.text, text.len, word, strlen(word));
}

/* The value of the field that the host sets. */
static void fuzz_value(const struct fuzz_world *world, struct laz_buf *out)
{
    struct laz_buf pair = LAZ_BUF_INIT;

    laz_buf_puts(out, world->one.before);
    if (world->one.user) {
        laz_buf_printf(&pair, "%s:%s", world->one.user, world->secret);
        laz_base64_encode(out, pair.data, pair.len);
        laz_buf_fini(&pair);
    } else {
        laz_buf_puts(out, world->secret);
    }
    laz_buf_puts(out, world->one.after);
}

struct fuzz_head {
    unsigned hosts, lengths, codings, ours, identities;
    uint64_t length;
    bool is_chunked;
};

static void fuzz_field(const struct fuzz_world *world, struct laz_http_text name,
                       struct laz_http_text value, struct fuzz_head *head)
{
    const struct proxy_credential *one = &world->one;

    if (laz_http_is(name, "host")) {
        head->hosts++;
        CHECK(value.len >= strlen(FUZZ_NAME));
        CHECK(laz_http_is((struct laz_http_text){value.text, strlen(FUZZ_NAME)}, FUZZ_NAME));
        struct laz_http_text rest = {value.text + strlen(FUZZ_NAME), value.len - strlen(FUZZ_NAME)};
        if (rest.len && rest.text[0] == '.')
            laz_http_cut(&rest, '.');
        CHECK(!rest.len || (rest.text[0] == ':' && rest.len <= 6));
        if (rest.len)
            CHECK(atoi(rest.text + 1) == FUZZ_PORT);
    } else if (laz_http_is(name, "content-length")) {
        head->lengths++;
        CHECK(!laz_http_length(value, &head->length));
    } else if (laz_http_is(name, "transfer-encoding")) {
        head->codings++;
        CHECK(laz_http_is(value, "chunked"));
        head->is_chunked = true;
    } else if (one->field && fuzz_same(name, one->field)) {
        struct laz_buf expected = LAZ_BUF_INIT;
        head->ours++;
        fuzz_value(world, &expected);
        CHECK(value.len == expected.len && memcmp(value.text, expected.data, value.len) == 0);
        laz_buf_fini(&expected);
    } else if (one->only) {
        CHECK(!fuzz_same(name, "cookie") && !fuzz_same(name, "authorization") &&
              !fuzz_same(name, "proxy-authorization"));
    }
    CHECK(!laz_http_is(name, "upgrade"));
    if (!one->echo) {
        CHECK(!fuzz_same(name, "range"));
        if (fuzz_same(name, "accept-encoding"))
            head->identities += laz_http_is(value, "identity") ? 1 : 2;
    }
    CHECK(!fuzz_shows(value, FUZZ_FOREIGN));
    if (one->placeholder)
        CHECK(!fuzz_shows(value, FUZZ_PLACEHOLDER));
}

static void fuzz_line(const struct fuzz_world *world, struct laz_http_text line, bool *is_get)
{
    const struct laz_http_text method = laz_http_cut(&line, ' '), target = laz_http_cut(&line, ' ');
    struct laz_http_text path = target;
    char expected[1024] = "key=";
    size_t n = 4, found = 0;

    *is_get = laz_http_is(method, "get") || laz_http_is(method, "head");
    CHECK(laz_http_is_token(method) && !laz_http_is(method, "connect") &&
          !laz_http_is(method, "trace"));
    CHECK(laz_http_is(line, "http/1.1") || laz_http_is(line, "http/1.0"));
    CHECK(target.len && laz_http_is_visible(target, false) &&
          !memchr(target.text, '#', target.len));
    CHECK(target.text[0] == '/' || (target.len == 1 && target.text[0] == '*'));
    path = laz_http_cut(&path, '?');
    if (world->one.methods.n) {
        CHECK(laz_http_is(method, "get") || laz_http_is(method, "post"));
        CHECK(path.len >= 4 && memcmp(path.text, "/v1/", 4) == 0);
        CHECK(!fuzz_shows(path, "/../") && !fuzz_shows(path, "//") && !fuzz_shows(path, "%2f") &&
              !fuzz_shows(path, "%2F") && !fuzz_shows(path, "\\") && !fuzz_shows(path, "/./"));
        CHECK(memcmp(path.text + path.len - 3, "/..", 3) != 0);
    }
    if (!world->one.query || target.text[0] != '/')
        return;
    for (const char *c = world->secret; *c; c++)
        n += (size_t)snprintf(expected + n, sizeof expected - n,
                              strchr("-._~", *c) || (*c >= '0' && *c <= '9') ||
                                      ((*c | 32) >= 'a' && (*c | 32) <= 'z' && *c >= 'A')
                                  ? "%c"
                                  : "%%%02X",
                              (unsigned char)*c);
    struct laz_http_text query = target;
    laz_http_cut(&query, '?');
    while (query.len) {
        const struct laz_http_text part = laz_http_cut(&query, '&');
        if (part.len >= 4 && memcmp(part.text, "key=", 4) == 0) {
            found++;
            CHECK(part.len == n && memcmp(part.text, expected, n) == 0);
            CHECK(!query.len);
        }
    }
    CHECK(found == 1);
}

/* One head; what is behind it. */
static void fuzz_head(const struct fuzz_world *world, const char *data, size_t len,
                      struct laz_http_stream *stream)
{
    struct laz_http_text rest = {data, len}, line = laz_http_line(&rest), name, value;
    struct fuzz_head head = {0};
    bool is_get;

    fuzz_line(world, line, &is_get);
    while ((line = laz_http_line(&rest)).len) {
        CHECK(!laz_http_field(line, &name, &value));
        fuzz_field(world, name, value, &head);
    }
    CHECK(!rest.len);
    CHECK(head.hosts == 1 && head.lengths <= 1 && head.codings <= 1);
    CHECK(!(head.lengths && head.codings));
    CHECK(!is_get || (!head.codings && !head.length));
    CHECK(head.ours == (world->one.field ? 1 : 0));
    CHECK(head.identities == (world->one.echo ? 0 : 1));
    laz_http_follow(stream, head.is_chunked, head.length);
}

/* All that went out, beside what came in: bodies are the same bytes. */
static void fuzz_check(const struct fuzz_world *world, const struct fuzz_run *run, const char *data,
                       size_t size)
{
    struct laz_http_stream out = {.is_plain = true}, in = {.is_plain = true};
    const struct laz_buf *sent = &run->to_server;
    size_t at = 0, from = 0;

    while (at < sent->len) {
        const enum laz_http_part part = out.part;
        const size_t n = laz_http_piece(&out, sent->data + at, sent->len - at);
        CHECK(out.part != LAZ_HTTP_REFUSED);
        if (!n) { /* a body that is not complete */
            CHECK(part != LAZ_HTTP_HEAD);
            break;
        }
        if (part == LAZ_HTTP_HEAD) {
            in = (struct laz_http_stream){.is_plain = true};
            const size_t head = laz_http_piece(&in, data + from, size - from);
            CHECK(head);
            from += head;
            fuzz_head(world, sent->data + at, n, &out);
        } else {
            CHECK(from + n <= size && memcmp(data + from, sent->data + at, n) == 0);
            from += n;
        }
        at += n;
    }
}

/* A refused head writes nothing. */
static void fuzz_judge(const struct fuzz_world *world, const char *data, size_t size)
{
    struct laz_http_stream stream = {.is_plain = true};
    const size_t n = laz_http_piece(&stream, data, size);
    struct proxy_request request;
    struct laz_buf out = LAZ_BUF_INIT;

    if (!n)
        return;
    proxy_request_judge(&world->own, world->all, FUZZ_NAME, FUZZ_PORT, data, n, &out, &request);
    CHECK(!request.wants);
    CHECK(request.status ? !out.len && request.why[0] && !request.used : out.len > 0);
    CHECK(!request.status || !strstr(request.why, world->secret));
    laz_buf_clear(&out);
    /* The same without a secret: it is wanted, and nothing goes out. */
    struct proxy_credential poor = world->one, *items[] = {&poor};
    const struct proxy_credentials own = {items, 1};
    struct proxy_request again;
    poor.secret = NULL;
    proxy_request_judge(&own, &poor, FUZZ_NAME, FUZZ_PORT, data, n, &out, &again);
    CHECK(!out.len && (again.status ? again.status == request.status : again.wants == &poor));
    laz_buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t pieces[] = {1, 3, 17};
    struct fuzz_world world;
    struct fuzz_run run, other;

    if (size < 2)
        return 0;
    fuzz_world_init(&world, data[0]);
    const char *text = (const char *)data + 1;
    fuzz_judge(&world, text, --size);
    fuzz_run_init(&run, &world);
    fuzz_feed(&run, text, size, size);
    fuzz_check(&world, &run, text, size);
    CHECK(run.denied == (run.exchange.is_ending && run.denied ? 1 : 0));
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces && size < 4096; i++) {
        fuzz_run_init(&other, &world);
        fuzz_feed(&other, text, size, pieces[i]);
        CHECK(other.denied == run.denied && other.used == run.used);
        CHECK(other.to_server.len == run.to_server.len);
        CHECK(!run.to_server.len ||
              memcmp(other.to_server.data, run.to_server.data, run.to_server.len) == 0);
        CHECK(other.to_box.len == run.to_box.len);
        CHECK(!run.to_box.len || memcmp(other.to_box.data, run.to_box.data, run.to_box.len) == 0);
        fuzz_run_fini(&other);
    }
    fuzz_run_fini(&run);
    fuzz_world_fini(&world);
    return 0;
}
