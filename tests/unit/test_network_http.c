/* SPDX-License-Identifier: MIT */
/* test_network_http.c - the requests of an HTTP/1 connection, each of which is judged. */
#include "unit.h"

#include "network/network_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))

#define HOST "Host: a.example\r\n"
#define POST "POST / HTTP/1.1\r\n" HOST
#define GET  "GET / HTTP/1.1\r\n" HOST

/* Gives it all in segments of so many bytes; how many were forwarded in the end. A copy of exactly
 * the bytes that are there is given, so that a sanitizer sees a read beyond them. */
static size_t feed(struct network_http *http, const char *text, size_t len, size_t segment,
                   enum network_http_state *state)
{
    size_t done = 0;

    *state = NETWORK_HTTP_FORWARD;
    for (size_t there = 0; there < len && *state != NETWORK_HTTP_REFUSED;) {
        there = len - there < segment ? len : there + segment;
        char *copy = malloc(there - done + 1);
        CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
        memcpy(copy, text + done, there - done);
        done += network_http_feed(http, copy, there - done, state);
        free(copy);
    }
    return done;
}

static void requests_are_forwarded_however_they_are_cut(void)
{
    static const char *const rows[] = {
        GET "\r\n",
        GET "\r\n" GET "\r\n" GET "\r\n",
        "GET / HTTP/1.0\r\n" HOST "\r\n",
        "GET / HTTP/1.1\r\nhOsT:\t a.EXAMPLE. \t\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.example:8080\r\n\r\n",
        "GET http://a.example/x HTTP/1.1\r\n" HOST "\r\n",
        "GET HTTP://A.example:8080?x HTTP/1.1\r\n" HOST "\r\n",
        "GET http://a.example HTTP/1.1\r\n" HOST "\r\n",
        "OPTIONS * HTTP/1.1\r\n" HOST "\r\n",
        "GET //b.example/ HTTP/1.1\r\n" HOST "\r\n",
        "GET /\xc3\xbc HTTP/1.1\r\n" HOST "X: \xc3\xbc\r\nY:\r\nZ: a:b\r\n\r\n",
        "POST / HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n",
        "POST / HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nab\n\r\n" GET "\r\n",
        "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: Chunked\r\n\r\n"
        "5\r\nab\r\nc\r\n00a;x=\"y\"\r\n0123456789\r\n0\r\n\r\n" GET "\r\n",
        "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding:chunked\r\nTrailer: X\r\n\r\n"
        "0\r\nX: y\r\nZ: 1\r\n\r\n" GET "\r\n",
        "POST / HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 1\r\n\r\nx",
    };

    for (size_t i = 0; i < N(rows); i++)
        for (size_t segment = 1; segment <= strlen(rows[i]); segment++) {
            struct network_http http;
            enum network_http_state state;
            network_http_begin(&http, "a.example", 8080);
            CU_ASSERT_EQUAL(feed(&http, rows[i], strlen(rows[i]), segment, &state),
                            strlen(rows[i]));
            if (state != NETWORK_HTTP_FORWARD)
                fprintf(stderr, "%s: %s\n", rows[i], http.why);
            CU_ASSERT_EQUAL(state, NETWORK_HTTP_FORWARD);
        }
}

static const struct {
    const char *text, *why, *host;
} refused[] = {
    {"GET / HTTP/1.1\r\nHost: b.example\r\n\r\n", "another one", "b.example"},
    {"GET / HTTP/1.1\r\nHost: a.example:80\r\n\r\n", "another one", "a.example:80"},
    {"GET / HTTP/1.1\r\nHost: a.example:\r\n\r\n", "another one", "a.example:"},
    {"GET / HTTP/1.1\r\nHost: a.example:8080:8080\r\n\r\n", "another one", "a.example:8080:8080"},
    {"GET / HTTP/1.1\r\nHost: a.example@b.example\r\n\r\n", "another one", "a.example@b.example"},
    {"GET / HTTP/1.1\r\nHost: a.example, b.example\r\n\r\n", "another one", "a.example, b.example"},
    {"GET / HTTP/1.1\r\nHost: \x1b[2m\r\n\r\n", "malformed", ""},
    {"GET / HTTP/1.1\r\nHost: x\xff\r\n\r\n", "another one", "x\\xff"},
    {"GET / HTTP/1.1\r\nHost: 10.0.0.1\r\n\r\n", "another one", "10.0.0.1"},
    {"GET / HTTP/1.1\r\nHost:\r\n\r\n", "another one", ""},
    {"GET / HTTP/1.1\r\n\r\n", "no Host", ""},
    {"GET / HTTP/1.0\r\n\r\n", "no Host", ""},
    {"GET / HTTP/1.1\r\n" HOST HOST "\r\n", "two Host", ""},
    {"GET / HTTP/1.1\r\n" HOST "host: b.example\r\n\r\n", "two Host", ""},
    {GET "\r\nGET / HTTP/1.1\r\nHost: b.example\r\n\r\n", "another one", "b.example"},
    {"GET http://b.example/ HTTP/1.1\r\n" HOST "\r\n", "another one", "b.example"},
    {"GET http://a.example@b.example/ HTTP/1.1\r\n" HOST "\r\n", "another one",
     "a.example@b.example"},
    {"GET http://a.example\\b.example/ HTTP/1.1\r\n" HOST "\r\n", "another one",
     "a.example\\b.example"},
    {"GET http://a.example/ HTTP/1.1\r\nHost: b.example\r\n\r\n", "another one", "b.example"},
    {"GET https://a.example/ HTTP/1.1\r\n" HOST "\r\n", "neither a path", ""},
    {"GET a.example HTTP/1.1\r\n" HOST "\r\n", "neither a path", ""},
    {"GET * HTTP/1.1\r\n" HOST "\r\n", "no path", ""},
    {"CONNECT a.example:8080 HTTP/1.1\r\n" HOST "\r\n", "tunnel", ""},
    {"connect a.example:8080 HTTP/1.1\r\n" HOST "\r\n", "tunnel", ""},
    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/2", ""},
    {"GET /\r\n\r\n", "request line", ""},
    {"GET / HTTP/0.9\r\n" HOST "\r\n", "request line", ""},
    {"GET / HTTP/1.2\r\n" HOST "\r\n", "request line", ""},
    {"GET / HTTP/3.0\r\n" HOST "\r\n", "request line", ""},
    {"GET / http/1.1\r\n" HOST "\r\n", "request line", ""},
    {"GET  / HTTP/1.1\r\n" HOST "\r\n", "request line", ""},
    {"GET / HTTP/1.1 \r\n" HOST "\r\n", "request line", ""},
    {" GET / HTTP/1.1\r\n" HOST "\r\n", "request line", ""},
    {"GET\t/ HTTP/1.1\r\n" HOST "\r\n", "request line", ""},
    {"G(T / HTTP/1.1\r\n" HOST "\r\n", "request line", ""},
    {"GET /a b HTTP/1.1\r\n" HOST "\r\n", "request line", ""},
    {"\r\n" GET "\r\n", "request line", ""},
    {GET "Host : b.example\r\n\r\n", "malformed", ""},
    {GET "X y\r\n\r\n", "malformed", ""},
    {GET ": y\r\n\r\n", "malformed", ""},
    {GET "X: a\x01\r\n\r\n", "malformed", ""},
    {GET " Host: b.example\r\n\r\n", "folded", ""},
    {GET "X: a\r\n\tb\r\n\r\n", "folded", ""},
    {"GET / HTTP/1.1\n" HOST "\r\n", "CR LF", ""},
    {GET "X: a\rHost: b.example\r\n\r\n", "CR LF", ""},
    {GET "X: a\nHost: b.example\r\n\r\n", "CR LF", ""},
    {POST "Content-Length: 5\r\nContent-Length: 5\r\n\r\nabcde", "two Content-Length", ""},
    {POST "Content-Length: 5, 5\r\n\r\nabcde", "not one number", ""},
    {POST "Content-Length: +5\r\n\r\nabcde", "not one number", ""},
    {POST "Content-Length: 0x5\r\n\r\nabcde", "not one number", ""},
    {POST "Content-Length: 5 5\r\n\r\nabcde", "not one number", ""},
    {POST "Content-Length: 1234567890123456789\r\n\r\n", "not one number", ""},
    {POST "Content-Length:\r\n\r\n", "is empty", ""},
    {POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", "both", ""},
    {POST "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n", "both", ""},
    {POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
     "two Transfer-Encoding", ""},
    {POST "Transfer-Encoding: gzip, chunked\r\n\r\n", "\"chunked\" alone", ""},
    {POST "Transfer-Encoding: xchunked\r\n\r\n", "\"chunked\" alone", ""},
    {POST "Transfer-Encoding: identity\r\n\r\n", "\"chunked\" alone", ""},
    {POST "Transfer-Encoding:\r\n\r\n", "\"chunked\" alone", ""},
    {POST "Transfer-Encoding : chunked\r\n\r\n", "malformed", ""},
    {"GET / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n", "HTTP/1.0", ""},
    {POST "Transfer-Encoding: chunked\r\n\r\n\r\n", "size of a chunk", ""},
    {POST "Transfer-Encoding: chunked\r\n\r\n 5\r\n", "size of a chunk", ""},
    {POST "Transfer-Encoding: chunked\r\n\r\n5 \r\n", "size of a chunk", ""},
    {POST "Transfer-Encoding: chunked\r\n\r\n0x5\r\n", "size of a chunk", ""},
    {POST "Transfer-Encoding: chunked\r\n\r\n-1\r\n", "size of a chunk", ""},
    {POST "Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n", "size of a chunk", ""},
    {POST "Transfer-Encoding: chunked\r\n\r\n1\nx\r\n", "CR LF", ""},
    {POST "Transfer-Encoding: chunked\r\n\r\n1;\nx\r\n", "CR LF", ""},
    {POST "Transfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n", "another length", ""},
    {POST "Transfer-Encoding: chunked\r\n\r\n1\r\nx\rY", "another length", ""},
    {POST "Transfer-Encoding: chunked\r\n\r\n0\r\nHost: b.example\r\n\r\n", "trailer", ""},
    {POST "Transfer-Encoding: chunked\r\n\r\n0\r\n x\r\n\r\n", "folded", ""},
    {GET "\r\n" GET "Upgrade: websocket\r\n\r\n", "not the first", ""},
    {GET "Upgrade: websocket\r\nContent-Length: 1\r\n\r\nx", "WebSocket has a body", ""},
    {"\x16\x03\x01\n", "CR LF", ""},
};

static void what_cannot_be_judged_is_refused(void)
{
    for (size_t i = 0; i < N(refused); i++)
        for (size_t segment = 1; segment <= strlen(refused[i].text); segment++) {
            struct network_http http;
            enum network_http_state state;
            network_http_begin(&http, "a.example", 8080);
            feed(&http, refused[i].text, strlen(refused[i].text), segment, &state);
            CU_ASSERT_EQUAL(state, NETWORK_HTTP_REFUSED);
            if (state != NETWORK_HTTP_REFUSED || !strstr(http.why, refused[i].why))
                fprintf(stderr, "%s: %s\n", refused[i].text, http.why ? http.why : "");
            else
                UNIT_TEXT(http.host, refused[i].host);
            CU_ASSERT_FATAL(http.why && strstr(http.why, refused[i].why));
            /* It stays so. */
            CU_ASSERT_EQUAL(network_http_feed(&http, GET "\r\n", strlen(GET "\r\n"), &state), 0);
            CU_ASSERT_EQUAL(state, NETWORK_HTTP_REFUSED);
        }
}

static void a_nul_is_refused_wherever_it_stands(void)
{
    static const char text[] = GET "X: y\r\n\r\n";

    for (size_t i = 0; i < sizeof text - 1; i++) {
        char copy[sizeof text];
        struct network_http http;
        enum network_http_state state;
        memcpy(copy, text, sizeof text);
        copy[i] = '\0';
        network_http_begin(&http, "a.example", 80);
        feed(&http, copy, sizeof text - 1, sizeof text, &state);
        CU_ASSERT_EQUAL(state, NETWORK_HTTP_REFUSED);
    }
}

static void a_head_is_forwarded_when_all_of_it_was_judged(void)
{
    static const char first[] = GET "\r\n", second[] = "GET / HTTP/1.1\r\nHost: b.example\r\n\r\n";
    char text[sizeof first + sizeof second];
    struct network_http http;
    enum network_http_state state;

    snprintf(text, sizeof text, "%s%s", first, second);
    network_http_begin(&http, "a.example", 80);
    for (size_t n = 0; n < sizeof first - 1; n++)
        CU_ASSERT_EQUAL(network_http_feed(&http, text, n, &state), 0);
    /* What follows is given together with it, and its end is not there yet. */
    CU_ASSERT_EQUAL(network_http_feed(&http, text, strlen(text) - 1, &state), sizeof first - 1);
    CU_ASSERT_EQUAL(state, NETWORK_HTTP_FORWARD);
    CU_ASSERT_EQUAL(network_http_feed(&http, second, strlen(second), &state), 0);
    CU_ASSERT_EQUAL(state, NETWORK_HTTP_REFUSED);
}

static void bodies_are_forwarded_as_they_come(void)
{
    static const char head[] = POST "Content-Length: 1000000\r\n\r\n";
    static char data[100000];
    struct network_http http;
    enum network_http_state state;

    network_http_begin(&http, "a.example", 80);
    CU_ASSERT_EQUAL(network_http_feed(&http, head, sizeof head - 1, &state), sizeof head - 1);
    for (unsigned i = 0; i < 10; i++)
        CU_ASSERT_EQUAL(network_http_feed(&http, data, sizeof data, &state), sizeof data);
    CU_ASSERT_EQUAL(state, NETWORK_HTTP_FORWARD);
    /* The next byte belongs to a head. */
    CU_ASSERT_EQUAL(network_http_feed(&http, data, 1, &state), 0);
    CU_ASSERT_EQUAL(state, NETWORK_HTTP_REFUSED);
}

static void heads_and_lines_have_bounds(void)
{
    static char text[LAZ_HTTP_HEAD_MOST + 100];
    static const char chunked[] = POST "Transfer-Encoding: chunked\r\n\r\n";
    struct network_http http;
    enum network_http_state state;
    size_t n = (size_t)snprintf(text, sizeof text, "%sX: ", GET);

    memset(text + n, 'a', sizeof text - n);
    memcpy(text + LAZ_HTTP_HEAD_MOST - 4, "\r\n\r\n", 4);
    network_http_begin(&http, "a.example", 80);
    CU_ASSERT_EQUAL(network_http_feed(&http, text, LAZ_HTTP_HEAD_MOST - 1, &state), 0);
    CU_ASSERT_EQUAL(state, NETWORK_HTTP_FORWARD);
    CU_ASSERT_EQUAL(network_http_feed(&http, text, LAZ_HTTP_HEAD_MOST, &state), LAZ_HTTP_HEAD_MOST);
    memset(text + LAZ_HTTP_HEAD_MOST - 4, 'a', 4);
    memcpy(text + LAZ_HTTP_HEAD_MOST - 3, "\r\n\r\n", 4);
    network_http_begin(&http, "a.example", 80);
    CU_ASSERT_EQUAL(network_http_feed(&http, text, LAZ_HTTP_HEAD_MOST + 1, &state), 0);
    CU_ASSERT_EQUAL(state, NETWORK_HTTP_REFUSED);
    network_http_begin(&http, "a.example", 80);
    network_http_feed(&http, text, LAZ_HTTP_HEAD_MOST, &state);
    CU_ASSERT_EQUAL(state, NETWORK_HTTP_REFUSED);
    /* Of a line with the size of a chunk, and of all trailers together. */
    network_http_begin(&http, "a.example", 80);
    network_http_feed(&http, chunked, sizeof chunked - 1, &state);
    text[0] = '1';
    text[1] = ';';
    memset(text + 2, 'a', 1022);
    CU_ASSERT_EQUAL(network_http_feed(&http, text, 1024, &state), 0);
    CU_ASSERT_EQUAL(state, NETWORK_HTTP_REFUSED);
    network_http_begin(&http, "a.example", 80);
    network_http_feed(&http, chunked, sizeof chunked - 1, &state);
    network_http_feed(&http, "0\r\n", 3, &state);
    for (n = 0; n < LAZ_HTTP_HEAD_MOST; n += 8) {
        CU_ASSERT_EQUAL(network_http_feed(&http, "X: abc\r\n", 8, &state), 8);
        CU_ASSERT_EQUAL(state, NETWORK_HTTP_FORWARD);
    }
    network_http_feed(&http, "\r\n", 2, &state);
    CU_ASSERT_EQUAL(state, NETWORK_HTTP_REFUSED);
}

/* ---- upgrades -------------------------------------------------------------------------------- */

static void an_upgrade_waits_for_the_server(void)
{
    static const struct {
        const char *upgrade, *server;
        enum network_http_status status;
    } rows[] = {
        {"websocket", "HTTP/1.1 101 Switching Protocols\r\n\r\n", NETWORK_HTTP_SWITCHED},
        {"WebSocket", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 x\r\nY: z\r\n\r\nHTTP/1.1 101 x",
         NETWORK_HTTP_SWITCHED},
        {"websocket", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
         NETWORK_HTTP_ORDINARY},
        {"websocket", "HTTP/1.1 100 Continue\r\n101: HTTP/1.1 101 \r\n", NETWORK_HTTP_MORE},
        {"websocket", "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 101 x", NETWORK_HTTP_ORDINARY},
        {"websocket", "HTTP/1.1 426 Upgrade Required\r\n", NETWORK_HTTP_ORDINARY},
        {"websocket", "SSH-2.0-101 x\r\n", NETWORK_HTTP_ORDINARY},
        {"websocket", "HTTP/1.1 10", NETWORK_HTTP_MORE},
        {"websocket", "", NETWORK_HTTP_MORE},
        {"h2c", "HTTP/1.1 101 Switching Protocols\r\n", NETWORK_HTTP_WRONG},
        {"h2c", "HTTP/1.1 200 OK\r\n", NETWORK_HTTP_ORDINARY},
        {"websocket, h2c", "HTTP/1.1 101 x\r\n", NETWORK_HTTP_WRONG},
        {"websocket\r\nUpgrade: h2c", "HTTP/1.1 101 x\r\n", NETWORK_HTTP_WRONG},
        {"h2c\r\nUpgrade: websocket", "HTTP/1.1 101 x\r\n", NETWORK_HTTP_WRONG},
    };

    for (size_t i = 0; i < N(rows); i++)
        for (size_t segment = 1; segment < 60; segment++) {
            struct network_http http;
            enum network_http_state state;
            enum network_http_status status = NETWORK_HTTP_MORE;
            char head[200];
            size_t n =
                (size_t)snprintf(head, sizeof head,
                                 GET "Connection: upgrade\r\nUpgrade: %s\r\n\r\n", rows[i].upgrade);
            network_http_begin(&http, "a.example", 80);
            CU_ASSERT_EQUAL(network_http_feed(&http, head, n, &state), n);
            CU_ASSERT_EQUAL(state, NETWORK_HTTP_UPGRADE);
            CU_ASSERT_EQUAL(network_http_feed(&http, "\x81\x80", 2, &state), 0);
            CU_ASSERT_EQUAL(state, NETWORK_HTTP_UPGRADE);
            for (size_t at = 0, len = strlen(rows[i].server);
                 at < len && status == NETWORK_HTTP_MORE; at += segment)
                status = network_http_status(&http, rows[i].server + at,
                                             len - at < segment ? len - at : segment);
            CU_ASSERT_EQUAL(status, rows[i].status);
            n = network_http_feed(&http, "\x81\0\n", 3, &state);
            CU_ASSERT_EQUAL(n, status == NETWORK_HTTP_SWITCHED ? 3 : 0);
            CU_ASSERT_EQUAL(state, status == NETWORK_HTTP_SWITCHED ? NETWORK_HTTP_FORWARD
                                   : status == NETWORK_HTTP_MORE   ? NETWORK_HTTP_UPGRADE
                                                                   : NETWORK_HTTP_REFUSED);
        }
}

static void an_upgrade_that_was_declined_leaves_requests_to_judge(void)
{
    static const char head[] = POST "Upgrade: h2c\r\nContent-Length: 3\r\n\r\n";
    struct network_http http;
    enum network_http_state state;

    network_http_begin(&http, "a.example", 80);
    CU_ASSERT_EQUAL(network_http_feed(&http, head, sizeof head - 1, &state), sizeof head - 1);
    CU_ASSERT_EQUAL(network_http_feed(&http, "abc" GET "\r\n", 3 + strlen(GET "\r\n"), &state), 3);
    CU_ASSERT_EQUAL(state, NETWORK_HTTP_UPGRADE);
    CU_ASSERT_EQUAL(network_http_status(&http, "HTTP/1.1 200 OK\r\n", 17), NETWORK_HTTP_ORDINARY);
    CU_ASSERT_EQUAL(network_http_status(&http, "HTTP/1.1 101 OK\r\n", 17), NETWORK_HTTP_ORDINARY);
    CU_ASSERT_EQUAL(network_http_feed(&http, GET "\r\n", strlen(GET "\r\n"), &state),
                    strlen(GET "\r\n"));
    CU_ASSERT_EQUAL(network_http_feed(&http, "CONNECT a HTTP/1.1\r\n" HOST "\r\n", 39, &state), 0);
    CU_ASSERT_EQUAL(state, NETWORK_HTTP_REFUSED);
}

static const struct unit_test tests[] = {
    UNIT(requests_are_forwarded_however_they_are_cut),
    UNIT(what_cannot_be_judged_is_refused),
    UNIT(a_nul_is_refused_wherever_it_stands),
    UNIT(a_head_is_forwarded_when_all_of_it_was_judged),
    UNIT(bodies_are_forwarded_as_they_come),
    UNIT(heads_and_lines_have_bounds),
    UNIT(an_upgrade_waits_for_the_server),
    UNIT(an_upgrade_that_was_declined_leaves_requests_to_judge),
    {0},
};

int main(void)
{
    return unit_run("network_http", tests);
}
