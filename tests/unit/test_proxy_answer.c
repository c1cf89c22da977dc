/* SPDX-License-Identifier: MIT */
/* test_proxy_answer.c - which answers of a server go into a box, and a whole exchange: requests one
 * after the other, secrets that come late or are replaced, bodies with a secret in them. */
#include "unit.h"

#include "proxy/proxy_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N(array) (sizeof(array) / sizeof *(array))
#define SECRET   "tok_0123456789abcdef"
#define OK       "HTTP/1.1 200 OK\r\n"
#define GET      "GET / HTTP/1.1\r\nHost: api.example.com\r\n\r\n"
#define HEAD     "HEAD / HTTP/1.1\r\nHost: api.example.com\r\n\r\n"
#define POST     "POST / HTTP/1.1\r\nHost: api.example.com\r\n"
#define EMPTY    OK "Content-Length: 0\r\n\r\n"

static struct proxy_pattern *pattern_of(const char *secret)
{
    struct proxy_pattern *pattern = proxy_pattern_new(secret, strlen(secret));

    CU_ASSERT_PTR_NOT_NULL_FATAL(pattern);
    return pattern;
}

/* ---- heads ----------------------------------------------------------------------------------- */

static void judge(struct proxy_pattern *pattern, bool is_head, const char *head,
                  struct laz_buf *out, struct proxy_answer *answer)
{
    struct proxy_pattern *items[] = {NULL, pattern};
    const struct proxy_searches searches = {items, N(items)};
    const size_t len = strlen(head);
    char *copy = malloc(len + 1);

    CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
    memcpy(copy, head, len);
    proxy_answer_judge(&searches, is_head, copy, len, out, answer);
    free(copy);
}

static void fields_that_carry_the_secret_are_left_out(void)
{
    static const struct {
        const char *head, *out;
    } rows[] = {
        {OK "X: y\r\nContent-Length: 3\r\n\r\n", OK "X: y\r\nContent-Length: 3\r\n\r\n"},
        {OK "Location: /?t=" SECRET "\r\nX: y\r\n\r\n", OK "X: y\r\n\r\n"},
        {OK "X: tok_0123456789%61bcdef\r\n\r\n", OK "\r\n"},
        {OK "X: \"tok\\u005f0123456789abcdef\"\r\n\r\n", OK "\r\n"},
        {OK "X: Basic eDp0b2tfMDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n", OK "\r\n"},
        {OK SECRET ": x\r\n\r\n", OK "\r\n"},
        {OK "X: tok_0123456789abcde\r\n\r\n", OK "X: tok_0123456789abcde\r\n\r\n"},
        {"HTTP/1.1 401 " SECRET "\r\n\r\n", "HTTP/1.1 401\r\n\r\n"},
        {OK "Alt-Svc: h3=\":443\"\r\nupgrade: h2c\r\nX: y\r\n\r\n", OK "X: y\r\n\r\n"},
    };
    struct proxy_pattern *pattern = pattern_of(SECRET);

    for (size_t i = 0; i < N(rows); i++) {
        struct laz_buf out = LAZ_BUF_INIT;
        struct proxy_answer answer;
        judge(pattern, false, rows[i].head, &out, &answer);
        CU_ASSERT_PTR_NULL(answer.why);
        UNIT_TEXT(laz_buf_text(&out), rows[i].out);
        laz_buf_fini(&out);
    }
    proxy_pattern_drop(pattern);
}

static void answers_without_one_certain_end_are_refused(void)
{
    static const struct {
        const char *head, *why; /* NULL: it goes */
        const char *why_unsearched;
    } rows[] = {
        {OK "\r\n", NULL, NULL},
        {"HTTP/1.0 200\r\n\r\n", NULL, NULL},
        {"HTTP/1.1 200 \r\n\r\n", NULL, NULL},
        {"HTTP/1.1 204 No\r\nContent-Length: 0\r\n\r\n", NULL, NULL},
        {"HTTP/1.1 304 No\r\nContent-Length: 5\r\n\r\n", NULL, NULL},
        {OK "Content-Encoding: Identity\r\n\r\n", NULL, NULL},
        {OK "Content-Encoding: gzip\r\n\r\n", "encoded", NULL},
        {OK "Content-Encoding: identity\r\nContent-Encoding: br\r\n\r\n", "encoded", NULL},
        {OK "Content-Range: bytes 0-1/2\r\n\r\n", "part of something", NULL},
        {"HTTP/1.1 206 x\r\n\r\n", "part of something", NULL},
        {"HTTP/1.1 101 x\r\n\r\n", "another protocol", "another protocol"},
        {"HTTP/1.1 099 x\r\n\r\n", "status line", "status line"},
        {"HTTP/1.1 600 x\r\n\r\n", "status line", "status line"},
        {"HTTP/1.1 20x OK\r\n\r\n", "not a number", "not a number"},
        {"HTTP/1.1 2000 OK\r\n\r\n", "status line", "status line"},
        {"HTTP/1.2 200 OK\r\n\r\n", "status line", "status line"},
        {"HTTP/2 200\r\n\r\n", "status line", "status line"},
        {"HTTP/1.1 200 a\x01\r\n\r\n", "status line", "status line"},
        {"\r\n", "status line", "status line"},
        {OK "X : y\r\n\r\n", "malformed", "malformed"},
        {OK "X: y\r\n z\r\n\r\n", "folded", "folded"},
        {OK "Content-Length: 1\r\nContent-Length: 1\r\n\r\n", "two Content-Length",
         "two Content-Length"},
        {OK "Content-Length: 1,1\r\n\r\n", "not one number", "not one number"},
        {OK "Content-Length: -1\r\n\r\n", "not one number", "not one number"},
        {OK "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", "both", "both"},
        {OK "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", "two Transfer",
         "two Transfer"},
        {OK "Transfer-Encoding: gzip, chunked\r\n\r\n", "chunked", "chunked"},
        {"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.0", "HTTP/1.0"},
        {"HTTP/1.1 100 x\r\nContent-Length: 1\r\n\r\n", "cannot have", "cannot have"},
        {"HTTP/1.1 204 x\r\nContent-Length: 1\r\n\r\n", "cannot have", "cannot have"},
        {"HTTP/1.1 204 x\r\nTransfer-Encoding: chunked\r\n\r\n", "cannot have", "cannot have"},
    };
    struct proxy_pattern *pattern = pattern_of(SECRET);

    for (size_t i = 0; i < 2 * N(rows); i++) {
        struct laz_buf out = LAZ_BUF_INIT;
        struct proxy_answer answer;
        const char *why = i % 2 ? rows[i / 2].why_unsearched : rows[i / 2].why;
        judge(i % 2 ? NULL : pattern, false, rows[i / 2].head, &out, &answer);
        if (!answer.why != !why || (why && !strstr(answer.why, why)))
            fprintf(stderr, "%s: %s\n", rows[i / 2].head, answer.why ? answer.why : "it goes");
        CU_ASSERT(!answer.why == !why && (!why || strstr(answer.why, why)));
        laz_buf_fini(&out);
    }
    proxy_pattern_drop(pattern);
}

static void what_follows_a_head_is_known(void)
{
    static const struct {
        const char *head;
        bool is_head, has_body, is_chunked, closes, is_interim;
        uint64_t length;
    } rows[] = {
        {OK "Content-Length: 12\r\n\r\n", false, true, false, false, false, 12},
        {OK "Content-Length: 12\r\n\r\n", true, false, false, false, false, 12},
        {OK "Transfer-Encoding: Chunked\r\n\r\n", false, true, true, false, false, 0},
        {OK "\r\n", false, true, false, true, false, 0},
        {OK "\r\n", true, false, false, false, false, 0},
        {OK "Connection: x, Close\r\nContent-Length: 1\r\n\r\n", false, true, false, true, false,
         1},
        {"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n", false, true, false, true, false, 1},
        {"HTTP/1.1 204 x\r\n\r\n", false, false, false, false, false, 0},
        {"HTTP/1.1 304 x\r\nContent-Length: 7\r\n\r\n", false, false, false, false, false, 7},
        {"HTTP/1.1 103 x\r\n\r\n", false, false, false, false, true, 0},
    };

    for (size_t i = 0; i < N(rows); i++) {
        struct laz_buf out = LAZ_BUF_INIT;
        struct proxy_answer answer;
        judge(NULL, rows[i].is_head, rows[i].head, &out, &answer);
        CU_ASSERT_PTR_NULL(answer.why);
        CU_ASSERT(answer.has_body == rows[i].has_body && answer.is_chunked == rows[i].is_chunked);
        CU_ASSERT(answer.closes == rows[i].closes && answer.is_interim == rows[i].is_interim);
        CU_ASSERT_EQUAL(answer.length, rows[i].length);
        laz_buf_fini(&out);
    }
}

/* ---- exchanges ------------------------------------------------------------------------------- */

struct run {
    struct proxy_credential one, *items[1], *all;
    struct proxy_exchange exchange;
    struct proxy_bytes box, server;
    unsigned used, wanted, refused, denied;
    char denial[300];
};

static void told(void *user, enum proxy_note_type type, const struct proxy_note *note)
{
    struct run *run = user;

    run->used += type == PROXY_USED;
    run->wanted += type == PROXY_WANTS && !note->refused;
    run->refused += type == PROXY_WANTS && note->refused;
    run->denied += type == PROXY_DENIED;
    if (type == PROXY_DENIED)
        snprintf(run->denial, sizeof run->denial, "%s", note->text);
    else
        CU_ASSERT_EQUAL(note->credential, 9);
    CU_ASSERT_PTR_NULL(strstr(run->denial, SECRET));
}

static void set_secret(struct run *run, const char *secret)
{
    proxy_pattern_drop(run->one.pattern);
    run->one.pattern = secret ? pattern_of(secret) : NULL;
    run->one.secret = (char *)(uintptr_t)secret;
    run->one.secret_len = secret ? strlen(secret) : 0;
    run->one.is_asked = false;
}

static void run_begin(struct run *run)
{
    *run = (struct run){
        .one = {.id = 9,
                .holders = 1,
                .title = (char *)"one",
                .field = (char *)"Authorization",
                .before = (char *)"",
                .after = (char *)""},
    };
    run->items[0] = run->all = &run->one;
    run->exchange = (struct proxy_exchange){
        .own = {run->items, 1},
        .all = &run->all,
        .name = "api.example.com",
        .port = 443,
        .box = &run->box,
        .server = &run->server,
        .tell = told,
        .user = run,
    };
    set_secret(run, SECRET);
    CU_ASSERT_EQUAL_FATAL(proxy_exchange_init(&run->exchange, NULL), 0);
}

static void run_end(struct run *run)
{
    CU_ASSERT_FALSE(run->exchange.failed);
    proxy_exchange_fini(&run->exchange);
    proxy_pattern_drop(run->one.pattern);
    laz_buf_fini(&run->box.in);
    laz_buf_fini(&run->box.out);
    laz_buf_fini(&run->server.in);
    laz_buf_fini(&run->server.out);
}

/* What the box, or the server, says, and what goes out then. */
static void box_says(struct run *run, const char *text)
{
    laz_buf_puts(&run->box.in, text);
    proxy_exchange_requests(&run->exchange);
}

static void server_says(struct run *run, const char *text, size_t len)
{
    laz_buf_append(&run->server.in, text, len);
    while (proxy_exchange_answers(&run->exchange) | proxy_exchange_requests(&run->exchange))
        ;
}

static const char *to_box(struct run *run)
{
    return laz_buf_text(&run->box.out);
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;

    for (; (text = strstr(text, word)); text += strlen(word))
        n++;
    return n;
}

static void a_body_is_cut_off_before_a_secret_wherever_it_is_cut(void)
{
    static const struct {
        const char *head, *body;
    } rows[] = {
        {OK "Content-Length: 30\r\n\r\n", "abc " SECRET " defgh"},
        {OK "Content-Length: 24\r\n\r\n", "abc " SECRET},
        {OK "\r\n", "abc " SECRET "\n"},
        {OK "Transfer-Encoding: chunked\r\n\r\n",
         "6\r\nabc to\r\n2\r\nk_\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n"},
        {OK "Content-Length: 40\r\n\r\n", "abc eDp0b2tfMDEyMzQ1Njc4OWFiY2RlZg==     "},
        {OK "Content-Length: 60\r\n\r\n",
         "abc %74ok_0123\\u003456 tok_01234\r\n56789%61bcdef                "},
        {OK "Content-Length: 50\r\n\r\n", "abc \\u0074ok_0123456789abcdef                    "},
    };

    for (size_t i = 0; i < N(rows); i++) {
        char text[300];
        const size_t len = (size_t)snprintf(text, sizeof text, "%s%s", rows[i].head, rows[i].body);
        for (size_t at = 1; at < len; at++) {
            struct run run;
            run_begin(&run);
            box_says(&run, GET);
            server_says(&run, text, at);
            server_says(&run, text + at, len - at);
            CU_ASSERT(run.exchange.is_ending && run.exchange.is_wrong);
            CU_ASSERT(run.denied == 1 && strstr(run.denial, "the secret of one") != NULL);
            if (text[at - 1] != '\r' && text[at - 1] != '\n') /* a short line goes on */
                CU_ASSERT_PTR_NULL(strstr(to_box(&run), "tok_"));
            CU_ASSERT_PTR_NULL(strstr(to_box(&run), "123456"));
            CU_ASSERT_PTR_NULL(strstr(to_box(&run), "MDEyM"));
            run_end(&run);
        }
    }
}

static void a_body_without_a_secret_is_whole_wherever_it_is_cut(void)
{
    static const struct {
        const char *head, *body, *end; /* what the box reads of the body */
    } rows[] = {
        {OK "Content-Length: 21\r\n\r\n", "abc tok_0123456789abc", "abc tok_0123456789abc"},
        {OK "Content-Length: 12\r\n\r\n", "tok_tok_tok_", "tok_tok_tok_"},
        {OK "\r\n", "tok_0123\\u00", "tok_0123\\u00"},
        {OK "Content-Length: 9\r\n\r\n", "tok_0123%", "tok_0123%"},
    };

    for (size_t i = 0; i < N(rows); i++) {
        char text[300];
        const size_t len = (size_t)snprintf(text, sizeof text, "%s%s", rows[i].head, rows[i].body);
        for (size_t at = 1; at < len; at++) {
            struct run run;
            run_begin(&run);
            box_says(&run, GET);
            server_says(&run, text, at);
            server_says(&run, text + at, len - at);
            if (!run.exchange.is_ending && run.exchange.is_asking)
                proxy_exchange_ended(&run.exchange, true);
            CU_ASSERT_FALSE(run.exchange.is_wrong);
            UNIT_TEXT(to_box(&run), text);
            run_end(&run);
        }
    }
}

static void chunks_keep_their_sums_when_bytes_are_kept_back(void)
{
    static const char text[] =
        OK "Transfer-Encoding: chunked\r\n\r\n8\r\nabc tok_\r\n3\r\n12 \r\n4\r\ntok_\r\n"
           "0\r\nX: y\r\nZ: " SECRET "\r\nHost: x\r\n\r\n";
    struct run run;

    run_begin(&run);
    box_says(&run, GET);
    server_says(&run, text, sizeof text - 1);
    UNIT_TEXT(to_box(&run), OK "Transfer-Encoding: chunked\r\n\r\n4\r\nabc \r\n7\r\ntok_12 \r\n"
                               "4\r\ntok_\r\n0\r\nX: y\r\n\r\n");
    CU_ASSERT(!run.exchange.is_asking && !run.exchange.is_ending && !run.denied);
    run_end(&run);
}

static void requests_wait_for_the_answer_before(void)
{
    struct run run;

    run_begin(&run);
    box_says(&run, GET HEAD GET);
    CU_ASSERT_EQUAL(count(laz_buf_text(&run.server.out), "HTTP/1.1\r\n"), 1);
    server_says(&run, "HTTP/1.1 100 Continue\r\n\r\n" OK "Content-Length: 1\r\n\r\n",
                strlen("HTTP/1.1 100 Continue\r\n\r\n" OK "Content-Length: 1\r\n\r\n"));
    CU_ASSERT_EQUAL(count(laz_buf_text(&run.server.out), "HTTP/1.1\r\n"), 1);
    server_says(&run, "x", 1);
    CU_ASSERT_EQUAL(count(laz_buf_text(&run.server.out), "HTTP/1.1\r\n"), 2);
    server_says(&run, OK "Content-Length: 9\r\n\r\n", strlen(OK "Content-Length: 9\r\n\r\n"));
    CU_ASSERT_EQUAL(count(laz_buf_text(&run.server.out), "HTTP/1.1\r\n"), 3);
    CU_ASSERT_EQUAL(count(laz_buf_text(&run.server.out), "Authorization: " SECRET), 3);
    CU_ASSERT_EQUAL(run.used, 3);
    /* What nobody has asked for ends it. */
    server_says(&run, EMPTY "HTTP/1.1 200 Unasked\r\n\r\n",
                strlen(EMPTY "HTTP/1.1 200 Unasked\r\n\r\n"));
    CU_ASSERT(run.exchange.is_ending);
    CU_ASSERT_PTR_NULL(strstr(to_box(&run), "Unasked"));
    run_end(&run);
}

static void nothing_is_read_behind_what_was_refused(void)
{
    struct run run;

    run_begin(&run);
    box_says(&run, "TRACE / HTTP/1.1\r\nHost: api.example.com\r\n\r\n" GET);
    CU_ASSERT_EQUAL(run.server.out.len, 0);
    CU_ASSERT(run.exchange.is_ending && run.denied == 1 && run.used == 0);
    CU_ASSERT_PTR_EQUAL(strstr(to_box(&run), "HTTP/1.1 405 "), to_box(&run));
    CU_ASSERT_EQUAL(count(to_box(&run), "HTTP/1.1 "), 1);
    box_says(&run, GET);
    CU_ASSERT_EQUAL(run.server.out.len, 0);
    run_end(&run);
}

/* An answer of the host would stand inside of the server's. */
static void a_wrong_body_ends_an_answer_that_has_begun(void)
{
    static const char head[] = POST "Transfer-Encoding: chunked\r\n\r\n";
    struct run run;

    run_begin(&run);
    box_says(&run, head);
    box_says(&run, "x\r\n");
    CU_ASSERT_PTR_EQUAL(strstr(to_box(&run), "HTTP/1.1 400 "), to_box(&run));
    CU_ASSERT(run.exchange.is_ending && !run.exchange.is_wrong && run.denied == 1);
    run_end(&run);
    run_begin(&run);
    box_says(&run, head);
    server_says(&run, OK "Content-Length: 500\r\n\r\nabc",
                strlen(OK "Content-Length: 500\r\n\r\nabc"));
    box_says(&run, "x\r\n");
    UNIT_TEXT(to_box(&run), OK "Content-Length: 500\r\n\r\nabc");
    CU_ASSERT(run.exchange.is_ending && run.exchange.is_wrong && run.denied == 1);
    run_end(&run);
    /* Or behind it: an early answer. */
    run_begin(&run);
    box_says(&run, head);
    server_says(&run, EMPTY, strlen(EMPTY));
    box_says(&run, "1\r\na\r\n0\r\nAuthorization: mine\r\n\r\n");
    UNIT_TEXT(to_box(&run), EMPTY);
    CU_ASSERT(run.exchange.is_ending && run.exchange.is_wrong && run.denied == 1);
    CU_ASSERT_PTR_NULL(strstr(laz_buf_text(&run.server.out), "mine"));
    run_end(&run);
}

static void a_request_waits_for_its_secret(void)
{
    struct run run;

    run_begin(&run);
    set_secret(&run, NULL);
    box_says(&run, GET GET);
    box_says(&run, "");
    CU_ASSERT(run.exchange.waits && run.wanted == 1 && !run.server.out.len && !run.box.out.len);
    set_secret(&run, SECRET);
    run.exchange.waits = false;
    box_says(&run, "");
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&run.server.out), SECRET));
    CU_ASSERT(run.used == 1 && run.wanted == 1);
    run_end(&run);
}

/* The engine need not answer it, so it does not hold up the next one. */
static void each_401_asks_for_another_secret(void)
{
    static const char no[] = "HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n";
    struct run run;

    run_begin(&run);
    box_says(&run, GET GET GET);
    server_says(&run, no, sizeof no - 1);
    server_says(&run, no, sizeof no - 1);
    CU_ASSERT_EQUAL(run.refused, 2);
    CU_ASSERT_EQUAL(run.wanted, 0);
    set_secret(&run, NULL);
    server_says(&run, EMPTY, strlen(EMPTY));
    box_says(&run, GET);
    CU_ASSERT(run.exchange.waits && run.wanted == 1);
    run_end(&run);
}

/* A server that answers late knows the one that it was sent. */
static void a_secret_is_searched_for_when_it_was_replaced_or_lost(void)
{
    static const char *const now[] = {NULL, "another-of-them", SECRET};
    static const char late[] = OK "X: " SECRET "\r\nContent-Length: 30\r\n\r\nab " SECRET "       ";

    for (size_t i = 0; i < N(now); i++) {
        struct run run;
        run_begin(&run);
        box_says(&run, GET);
        set_secret(&run, now[i]);
        server_says(&run, late, sizeof late - 1);
        CU_ASSERT(run.exchange.is_wrong);
        CU_ASSERT_PTR_NULL(strstr(to_box(&run), "tok_"));
        run_end(&run);
        /* An encoded one could not be searched. */
        run_begin(&run);
        box_says(&run, GET);
        set_secret(&run, now[i]);
        server_says(&run, OK "Content-Encoding: gzip\r\n\r\n",
                    strlen(OK "Content-Encoding: gzip\r\n\r\n"));
        CU_ASSERT_PTR_EQUAL(strstr(to_box(&run), "HTTP/1.1 502 "), to_box(&run));
        run_end(&run);
    }
}

static void a_secret_is_searched_for_as_soon_as_it_is_there(void)
{
    struct run run;

    run_begin(&run);
    box_says(&run, GET);
    server_says(&run, OK "\r\nab", strlen(OK "\r\nab"));
    set_secret(&run, "another-of-them");
    server_says(&run, " another-of-them ", 17);
    CU_ASSERT(run.exchange.is_wrong);
    CU_ASSERT_PTR_NULL(strstr(to_box(&run), "another-"));
    run_end(&run);
}

/* A server may keep what it was sent, and show it to somebody later; code can cause a 401, and so
 * another secret. The answers before and behind these are without any. */
static void secrets_of_before_are_searched_for(void)
{
    static const char *const rows[] = {"secret-number-2", "secret-number-3", "secret-number-4",
                                       "secret-number-5"};
    const struct proxy_note note = {.credential = 9, .title = "one"};

    for (size_t i = 0; i < N(rows); i++) {
        struct proxy_credential *made, *items[1];
        struct run run, later;
        char answer[100];
        CU_ASSERT_EQUAL_FATAL(proxy_credential_new(&note, -1, &made, NULL), 0);
        items[0] = made;
        run_begin(&run);
        run_begin(&later);
        run.exchange.own.items = later.exchange.own.items = items;
        CU_ASSERT_EQUAL(proxy_credential_set(made, "secret-number-1", 15, NULL), 0);
        CU_ASSERT_EQUAL(proxy_credential_set(made, rows[0], 15, NULL), 0);
        box_says(&run, GET);
        server_says(&run, OK "\r\nabc ", strlen(OK "\r\nabc "));
        for (size_t k = 1; k < N(rows); k++) {
            CU_ASSERT_EQUAL(proxy_credential_set(made, rows[k], 15, NULL), 0);
            server_says(&run, "abc ", 4);
        }
        CU_ASSERT_FALSE(run.exchange.is_ending);
        server_says(&run, rows[i], 15);
        CU_ASSERT(run.exchange.is_wrong && !strstr(to_box(&run), "secret"));
        box_says(&later, GET);
        const int len = snprintf(answer, sizeof answer, OK "\r\nabc %s ", rows[i]);
        server_says(&later, answer, (size_t)len);
        CU_ASSERT(later.exchange.is_wrong && !strstr(to_box(&later), "secret"));
        run_end(&run);
        run_end(&later);
        proxy_credential_drop(made);
    }
}

static void interim_answers_have_a_bound(void)
{
    static const char interim[] = "HTTP/1.1 102 Processing\r\n\r\n";
    struct run run;

    run_begin(&run);
    box_says(&run, GET GET);
    for (int i = 0; i < 16; i++)
        server_says(&run, interim, sizeof interim - 1);
    CU_ASSERT_FALSE(run.exchange.is_ending);
    server_says(&run, EMPTY, strlen(EMPTY));
    for (int i = 0; i < 17; i++)
        server_says(&run, interim, sizeof interim - 1);
    CU_ASSERT(run.exchange.is_ending && strstr(run.denial, "too many interim") != NULL);
    run_end(&run);
}

static void the_end_of_a_server_is_seen(void)
{
    static const struct {
        const char *answer;
        bool is_whole, is_wrong;
    } rows[] = {
        {"", true, false},
        {"", false, false},
        {OK "\r\nabc tok_0", true, false},
        {OK "\r\nabc", false, true},
        {OK "Content-Length: 5\r\n\r\nabc", true, true},
        {OK "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", true, true},
        {EMPTY, false, false},
    };

    for (size_t i = 0; i < N(rows); i++) {
        struct run run;
        run_begin(&run);
        box_says(&run, GET);
        server_says(&run, rows[i].answer, strlen(rows[i].answer));
        proxy_exchange_ended(&run.exchange, rows[i].is_whole);
        CU_ASSERT(run.exchange.is_ending && run.exchange.is_wrong == rows[i].is_wrong);
        UNIT_TEXT(to_box(&run), rows[i].answer);
        run_end(&run);
    }
}

/* ---- secrets of credentials ------------------------------------------------------------------ */

static void a_credential_keeps_a_secret_that_is_the_same(void)
{
    static char large[LAZ_PROXY_SECRET + 1];
    const struct proxy_note note = {.credential = 3, .title = "one", .field = "A"};
    struct proxy_credential *one = NULL;

    CU_ASSERT_EQUAL_FATAL(proxy_credential_new(&note, -1, &one, NULL), 0);
    CU_ASSERT(!one->secret && !one->why && !one->pattern && one->before && one->after);
    one->is_asked = true;
    CU_ASSERT_EQUAL(proxy_credential_set(one, SECRET, sizeof SECRET - 1, NULL), 0);
    CU_ASSERT(one->secret && one->pattern && !one->is_asked && !one->why);
    struct proxy_pattern *pattern = proxy_pattern_hold(one->pattern);
    CU_ASSERT_EQUAL(proxy_credential_set(one, SECRET, sizeof SECRET - 1, NULL), 0);
    CU_ASSERT_PTR_EQUAL(one->pattern, pattern);
    CU_ASSERT_EQUAL(proxy_credential_set(one, "another-of-them", 15, NULL), 0);
    CU_ASSERT_PTR_NOT_EQUAL(one->pattern, pattern);
    CU_ASSERT(
        proxy_echo_in(pattern, SECRET, sizeof SECRET - 1)); /* whoever holds it still has it */
    proxy_pattern_drop(pattern);
    CU_ASSERT_EQUAL(proxy_credential_set(one, NULL, 0, "its file is gone"), 0);
    CU_ASSERT(!one->secret && !one->pattern);
    UNIT_TEXT(one->why, "its file is gone");
    CU_ASSERT_EQUAL(proxy_credential_set(one, SECRET, sizeof SECRET - 1, NULL), 0);
    CU_ASSERT_PTR_NULL(one->why);
    memset(large, 'a', sizeof large);
    CU_ASSERT_EQUAL(proxy_credential_set(one, large, LAZ_PROXY_SECRET, NULL), 0);
    CU_ASSERT(one->secret_len == LAZ_PROXY_SECRET && !one->why);
    CU_ASSERT_EQUAL(proxy_credential_set(one, large, sizeof large, NULL), 0);
    CU_ASSERT(!one->secret && one->why);
    CU_ASSERT_EQUAL(proxy_credential_set(one, SECRET, 0, NULL), 0);
    CU_ASSERT(!one->secret && one->why);
    proxy_credential_drop(one);
}

/* `echo`: answers are not searched. */
static void a_credential_with_echo_has_no_pattern(void)
{
    const struct proxy_note note = {.credential = 3, .field = "A", .echo = true};
    struct proxy_credential *one = NULL;

    CU_ASSERT_EQUAL_FATAL(proxy_credential_new(&note, -1, &one, NULL), 0);
    CU_ASSERT_EQUAL(proxy_credential_set(one, "short", 5, NULL), 0);
    CU_ASSERT(one->secret && !one->pattern);
    proxy_credential_drop(one);
}

static void authorities_that_are_none_are_an_error(void)
{
    const struct proxy_note note = {.credential = 3, .field = "A"};
    struct proxy_credential *one = NULL;
    struct laz_error err = {0};
    FILE *file = tmpfile();

    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs("no certificate\n", file);
    fflush(file);
    rewind(file);
    CU_ASSERT_EQUAL(proxy_credential_new(&note, dup(fileno(file)), &one, &err), LAZ_ECONFIG);
    CU_ASSERT_PTR_NULL(one);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "no certificate"));
    fclose(file);
}

static const struct unit_test tests[] = {
    UNIT(a_credential_keeps_a_secret_that_is_the_same),
    UNIT(a_credential_with_echo_has_no_pattern),
    UNIT(authorities_that_are_none_are_an_error),
    UNIT(fields_that_carry_the_secret_are_left_out),
    UNIT(answers_without_one_certain_end_are_refused),
    UNIT(what_follows_a_head_is_known),
    UNIT(a_body_is_cut_off_before_a_secret_wherever_it_is_cut),
    UNIT(a_body_without_a_secret_is_whole_wherever_it_is_cut),
    UNIT(chunks_keep_their_sums_when_bytes_are_kept_back),
    UNIT(requests_wait_for_the_answer_before),
    UNIT(nothing_is_read_behind_what_was_refused),
    UNIT(a_wrong_body_ends_an_answer_that_has_begun),
    UNIT(a_request_waits_for_its_secret),
    UNIT(each_401_asks_for_another_secret),
    UNIT(a_secret_is_searched_for_when_it_was_replaced_or_lost),
    UNIT(a_secret_is_searched_for_as_soon_as_it_is_there),
    UNIT(secrets_of_before_are_searched_for),
    UNIT(interim_answers_have_a_bound),
    UNIT(the_end_of_a_server_is_seen),
    {0},
};

int main(void)
{
    return unit_run("proxy_answer", tests);
}
