/* SPDX-License-Identifier: MIT */
/* test_proxy_request.c - which requests go to a host with a credential, and as what. */
#include "unit.h"

#include "proxy/proxy_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N(array)    (sizeof(array) / sizeof *(array))
#define HOST        "Host: api.example.com\r\n"
#define IDENTITY    "Accept-Encoding: identity\r\n"
#define SECRET      "s3cret+/=%\"\\x"
#define PLACEHOLDER "ghp_000000000000"
#define FOREIGN     "ghp_111111111111"
#define BEARER      "Authorization: Bearer " SECRET "\r\n"

struct row {
    const char *head, *out; /* out NULL: refused */
    int status;
    const char *why;
};

static struct proxy_credential foreign = {
    .id = 2, .holders = 1, .title = (char *)"another", .placeholder = (char *)FOREIGN};

static struct proxy_credential credential(void)
{
    return (struct proxy_credential){
        .next = &foreign,
        .id = 1,
        .holders = 1,
        .title = (char *)"one",
        .field = (char *)"Authorization",
        .before = (char *)"Bearer ",
        .after = (char *)"",
        .secret = (char *)SECRET,
        .secret_len = sizeof SECRET - 1,
    };
}

static struct proxy_request judge(struct proxy_credential **items, size_t n, const char *head,
                                  struct laz_buf *out)
{
    const struct proxy_credentials own = {items, n};
    struct proxy_request request;
    const size_t len = strlen(head);
    char *copy = malloc(len + 1);

    CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
    memcpy(copy, head, len); /* without a NUL behind it */
    proxy_request_judge(&own, items[0], "api.example.com", 443, copy, len, out, &request);
    free(copy);
    return request;
}

static void check(struct proxy_credential *one, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct laz_buf out = LAZ_BUF_INIT;
        const struct proxy_request request = judge(&one, 1, rows[i].head, &out);
        CU_ASSERT_EQUAL(request.status, rows[i].status);
        UNIT_TEXT(laz_buf_text(&out), rows[i].out ? rows[i].out : "");
        if (rows[i].out) {
            CU_ASSERT_PTR_NULL(request.wants);
        } else if (!strstr(request.why, rows[i].why)) {
            fprintf(stderr, "%s: %s\n", rows[i].head, request.why);
            CU_FAIL("another reason");
        }
        CU_ASSERT(rows[i].out || (request.is_denial && !request.used));
        CU_ASSERT_PTR_NULL(strstr(request.why, SECRET));
        laz_buf_fini(&out);
    }
}

#define GOES(from, to)                                                                             \
    {                                                                                              \
        from, to, 0, NULL                                                                          \
    }
#define REFUSED(from, status, why)                                                                 \
    {                                                                                              \
        from, NULL, status, why                                                                    \
    }

static void the_secret_takes_the_place_of_the_field(void)
{
    static const struct row rows[] = {
        GOES("GET / HTTP/1.1\r\n" HOST "\r\n", "GET / HTTP/1.1\r\n" HOST IDENTITY BEARER "\r\n"),
        GOES("GET / HTTP/1.1\r\n" HOST "authorization: mine\r\nAUTHORIZATION: x\r\n\r\n",
             "GET / HTTP/1.1\r\n" HOST IDENTITY BEARER "\r\n"),
        GOES("GET / HTTP/1.1\r\n" HOST "Cookie: a=b\r\nX:y\r\nAccept-Encoding: gzip\r\n"
             "accept_encoding: br\r\nRange: bytes=1-\r\nIf-Range: x\r\n\r\n",
             "GET / HTTP/1.1\r\n" HOST "Cookie: a=b\r\nX: y\r\n" IDENTITY BEARER "\r\n"),
        GOES("HEAD /a%2Fb//../c HTTP/1.0\r\nhOST: \tAPI.example.com.:443 \r\n\r\n",
             "HEAD /a%2Fb//../c HTTP/1.0\r\nhOST: API.example.com.:443\r\n" IDENTITY BEARER "\r\n"),
        GOES("OPTIONS * HTTP/1.1\r\n" HOST "\r\n",
             "OPTIONS * HTTP/1.1\r\n" HOST IDENTITY BEARER "\r\n"),
        GOES("POST / HTTP/1.1\r\n" HOST "Content-Length: 0012\r\nExpect: 100-Continue\r\n\r\n",
             "POST / HTTP/1.1\r\n" HOST
             "Content-Length: 0012\r\nExpect: 100-Continue\r\n" IDENTITY BEARER "\r\n"),
        GOES("GET / HTTP/1.1\r\n" HOST "Connection: keep-alive, , TE\r\nX-HTTP-Method-Override: "
             "PUT\r\n\r\n",
             "GET / HTTP/1.1\r\n" HOST "Connection: keep-alive, , TE\r\nX-HTTP-Method-Override: "
             "PUT\r\n" IDENTITY BEARER "\r\n"),
    };
    struct proxy_credential one = credential();

    check(&one, rows, N(rows));
}

static void what_servers_may_read_in_two_ways_is_refused(void)
{
    static const struct row rows[] = {
        REFUSED("GET / HTTP/1.1\r\n\r\n", 400, "no Host"),
        REFUSED("GET / HTTP/1.1\r\n" HOST HOST "\r\n", 400, "two Host"),
        REFUSED("GET / HTTP/1.1\r\nHost: b.example\r\n\r\n", 400, "another one"),
        REFUSED("GET / HTTP/1.1\r\nHost: api.example.com:80\r\n\r\n", 400, "another one"),
        REFUSED("GET / HTTP/1.1\r\nHost: api.example.com:\r\n\r\n", 400, "another one"),
        REFUSED("GET / HTTP/1.1\r\nHost: api.example.com:004430\r\n\r\n", 400, "another one"),
        REFUSED("GET / HTTP/1.1\r\nHost: api.example.com, b\r\n\r\n", 400, "another one"),
        REFUSED("GET / HTTP/1.1\r\nHost: api.example.com@b\r\n\r\n", 400, "another one"),
        REFUSED("GET / HTTP/1.1\r\nHost:\r\n\r\n", 400, "another one"),
        REFUSED("GET / HTTP/1.1\r\nHost : api.example.com\r\n\r\n", 400, "malformed"),
        REFUSED("GET / HTTP/1.1\r\n" HOST " folded\r\n\r\n", 400, "folded"),
        REFUSED("GET / HTTP/1.1\r\n" HOST "X\r\n\r\n", 400, "malformed"),
        REFUSED("GET / HTTP/1.1\r\n" HOST ": x\r\n\r\n", 400, "malformed"),
        REFUSED("GET / HTTP/1.1\r\n" HOST "X: a\x01z\r\n\r\n", 400, "malformed"),
        REFUSED("GET  / HTTP/1.1\r\n" HOST "\r\n", 400, "request line"),
        REFUSED(" GET / HTTP/1.1\r\n" HOST "\r\n", 400, "request line"),
        REFUSED("GET / HTTP/1.1 \r\n" HOST "\r\n", 400, "request line"),
        REFUSED("GET / HTTP/2.0\r\n" HOST "\r\n", 400, "request line"),
        REFUSED("GET /\r\n" HOST "\r\n", 400, "request line"),
        REFUSED("GET /\tx HTTP/1.1\r\n" HOST "\r\n", 400, "request line"),
        REFUSED("\r\n", 400, "request line"),
        REFUSED("GET /x#y HTTP/1.1\r\n" HOST "\r\n", 400, "fragment"),
        REFUSED("GET https://api.example.com/ HTTP/1.1\r\n" HOST "\r\n", 400, "not a path"),
        REFUSED("GET * HTTP/1.1\r\n" HOST "\r\n", 400, "not a path"),
        REFUSED("head / HTTP/1.1\r\n" HOST "\r\n", 400, "capitals"),
        REFUSED("CONNECT api.example.com:443 HTTP/1.1\r\n" HOST "\r\n", 405, "tunnel"),
        REFUSED("trace / HTTP/1.1\r\n" HOST "\r\n", 405, "TRACE"),
        REFUSED("POST / HTTP/1.1\r\n" HOST "Content-Length: 1\r\nContent-Length: 1\r\n\r\n", 400,
                "two Content-Length"),
        REFUSED("POST / HTTP/1.1\r\n" HOST "Content-Length: 1, 1\r\n\r\n", 400, "one number"),
        REFUSED("POST / HTTP/1.1\r\n" HOST "Content-Length: +1\r\n\r\n", 400, "one number"),
        REFUSED("POST / HTTP/1.1\r\n" HOST "Content-Length: 1000000000000000000\r\n\r\n", 400,
                "one number"),
        REFUSED("POST / HTTP/1.1\r\n" HOST "Content-Length:\r\n\r\n", 400, "empty"),
        REFUSED("POST / HTTP/1.1\r\n" HOST
                "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
                400, "both"),
        REFUSED("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n", 400,
                "chunked"),
        REFUSED("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: xchunked\r\n\r\n", 400, "chunked"),
        REFUSED("POST / HTTP/1.1\r\n" HOST
                "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
                400, "two Transfer-Encoding"),
        REFUSED("POST / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n", 400, "HTTP/1.0"),
        REFUSED("GET / HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\n", 400, "body"),
        REFUSED("GET / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n", 400, "body"),
        REFUSED("GET / HTTP/1.1\r\n" HOST "Upgrade: websocket\r\n\r\n", 501, "another protocol"),
        REFUSED("GET / HTTP/1.1\r\n" HOST "HTTP2-Settings: x\r\n\r\n", 501, "another protocol"),
        REFUSED("GET / HTTP/1.1\r\n" HOST "Connection: close, Authorization\r\n\r\n", 400,
                "Connection"),
        REFUSED("POST / HTTP/1.1\r\n" HOST "Content_Length: 1\r\n\r\n", 400, "underscore"),
        REFUSED("GET / HTTP/1.1\r\n" HOST "Expect: 200-ok\r\n\r\n", 417, "expects"),
        REFUSED("GET / HTTP/1.1\r\n" HOST "X: " FOREIGN "\r\n\r\n", 403, "placeholder of another"),
        REFUSED("GET /?" FOREIGN " HTTP/1.1\r\n" HOST "\r\n", 403, "placeholder of another"),
        /* Basic x:ghp_111111111111 */
        REFUSED("GET / HTTP/1.1\r\n" HOST "X: bAsIc eDpnaHBfMTExMTExMTExMTEx\r\n\r\n", 403,
                "placeholder of another"),
    };
    struct proxy_credential one = credential();

    check(&one, rows, N(rows));
}

static void a_head_has_at_most_a_hundred_fields(void)
{
    struct proxy_credential one = credential(), *items[] = {&one};

    for (size_t n = PROXY_FIELDS - 2; n <= PROXY_FIELDS; n++) {
        struct laz_buf head = LAZ_BUF_INIT, out = LAZ_BUF_INIT;
        laz_buf_puts(&head, "GET / HTTP/1.1\r\n" HOST);
        for (size_t i = 0; i < n; i++)
            laz_buf_puts(&head, "X: y\r\n");
        laz_buf_puts(&head, "\r\n");
        CU_ASSERT_EQUAL(judge(items, 1, laz_buf_text(&head), &out).status,
                        n < PROXY_FIELDS ? 0 : 431);
        laz_buf_fini(&head);
        laz_buf_fini(&out);
    }
}

static void a_secret_goes_where_its_credential_says(void)
{
    static const struct row basic[] = {
        /* x:s3cret+/=%"\x */
        GOES("GET / HTTP/1.1\r\n" HOST "\r\n", "GET / HTTP/1.1\r\n" HOST IDENTITY
                                               "Authorization: Basic eDpzM2NyZXQrLz0lIlx4\r\n\r\n"),
    };
    static const struct row named[] = {
        GOES("GET / HTTP/1.1\r\n" HOST "x_api-KEY: 1\r\nX-Api-Key2: 1\r\nCookie: a\r\n"
             "authorization: b\r\nproxy_authorization: c\r\n\r\n",
             "GET / HTTP/1.1\r\n" HOST "X-Api-Key2: 1\r\n" IDENTITY "X-Api_Key: <" SECRET
             ">\r\n\r\n"),
    };
    static const struct row query[] = {
        GOES("GET /a HTTP/1.1\r\n" HOST "\r\n",
             "GET /a?k%20y=s3cret%2B%2F%3D%25%22%5Cx HTTP/1.1\r\n" HOST IDENTITY "\r\n"),
        GOES("GET /a?k%20y=1&x=k%20y&%6B%20%79&k%20yy=2& HTTP/1.1\r\n" HOST "\r\n",
             "GET /a?x=k%20y&k%20yy=2&k%20y=s3cret%2B%2F%3D%25%22%5Cx HTTP/1.1\r\n" HOST IDENTITY
             "\r\n"),
        GOES("OPTIONS * HTTP/1.1\r\n" HOST "\r\n", "OPTIONS * HTTP/1.1\r\n" HOST IDENTITY "\r\n"),
    };
    static const struct row echoed[] = {
        GOES("GET / HTTP/1.1\r\n" HOST "Accept-Encoding: gzip\r\nRange: bytes=0-\r\n\r\n",
             "GET / HTTP/1.1\r\n" HOST "Accept-Encoding: gzip\r\nRange: bytes=0-\r\n" BEARER
             "\r\n"),
    };
    struct proxy_credential one = credential();

    one.echo = true;
    check(&one, echoed, N(echoed));
    one.echo = false;
    one.user = (char *)"x";
    one.before = (char *)"Basic ";
    check(&one, basic, N(basic));
    one.user = NULL;
    one.field = (char *)"X-Api_Key";
    one.before = (char *)"<";
    one.after = (char *)">";
    one.only = true;
    check(&one, named, N(named));
    one.field = NULL;
    one.query = (char *)"k y";
    check(&one, query, N(query));
}

static void placeholders_are_replaced_in_fields_alone(void)
{
    static const struct row rows[] = {
        GOES("GET /" PLACEHOLDER " HTTP/1.1\r\n" HOST "A: x " PLACEHOLDER "," PLACEHOLDER
             "\r\n\r\n",
             "GET /" PLACEHOLDER " HTTP/1.1\r\n" HOST "A: x " SECRET "," SECRET "\r\n" IDENTITY
             "\r\n"),
        /* Basic x:ghp_000000000000; x:s3cret+/=%"\x */
        GOES("GET / HTTP/1.1\r\n" HOST "Authorization: basic  eDpnaHBfMDAwMDAwMDAwMDAw\r\n\r\n",
             "GET / HTTP/1.1\r\n" HOST "Authorization: Basic eDpzM2NyZXQrLz0lIlx4\r\n" IDENTITY
             "\r\n"),
        GOES("GET / HTTP/1.1\r\n" HOST "A: ghp_00000000000\r\n\r\n",
             "GET / HTTP/1.1\r\n" HOST "A: ghp_00000000000\r\n" IDENTITY "\r\n"),
    };
    struct proxy_credential one = credential(), *items[] = {&one};

    one.field = NULL;
    one.placeholder = (char *)PLACEHOLDER;
    check(&one, rows, N(rows));
    for (size_t i = 0; i < N(rows); i++) {
        struct laz_buf out = LAZ_BUF_INIT;
        CU_ASSERT_PTR_EQUAL(judge(items, 1, rows[i].head, &out).used, i < 2 ? &one : NULL);
        laz_buf_fini(&out);
    }
}

/* A short text that stands for a long one would make much of little. */
static void many_placeholders_of_a_long_secret_are_refused(void)
{
    static char secret[LAZ_PROXY_SECRET];
    struct proxy_credential one = credential(), *items[] = {&one};
    struct laz_buf head = LAZ_BUF_INIT, out = LAZ_BUF_INIT;

    memset(secret, 'x', sizeof secret);
    one.secret = secret;
    one.secret_len = sizeof secret;
    one.placeholder = (char *)PLACEHOLDER;
    laz_buf_puts(&out, "before");
    for (unsigned n = 0; n < 100; n++) {
        laz_buf_clear(&head);
        laz_buf_puts(&head, "GET / HTTP/1.1\r\n" HOST "X: ");
        for (unsigned i = 0; i < n; i++)
            laz_buf_puts(&head, PLACEHOLDER);
        laz_buf_puts(&head, "\r\n\r\n");
        const struct proxy_request request = judge(items, 1, laz_buf_text(&head), &out);
        CU_ASSERT_EQUAL(request.status, n < 7 ? 0 : 431);
        CU_ASSERT(out.len < 6 + ((size_t)128 << 10) && (out.len == 6) == (n >= 7));
        CU_ASSERT_EQUAL(request.used != NULL, n < 7);
        out.len = 6;
    }
    laz_buf_fini(&head);
    laz_buf_fini(&out);
}

static void methods_and_paths_are_compared_as_they_are_sent(void)
{
    static const struct {
        const char *line;
        int status;
        const char *why;
    } rows[] = {
        {"GET /v1/", 0, ""},
        {"GET /v1/a/b?c=/../d", 0, ""},
        {"GET /v1/a.b/..c/...", 0, ""},
        {"GET /v1/%41%2E%2e%2ex", 0, ""},
        {"GET /v1/%C3%BC", 0, ""},
        {"GET /v1", 403, "not among"},
        {"GET /V1/", 403, "not among"},
        {"get /v1/", 403, "not among"},
        {"HEAD /v1/", 403, "not among"},
        {"GET /%761/", 403, "not among"},
        {"OPTIONS *", 403, "not among"},
        {"GET /v1/..", 400, "segment of dots"},
        {"GET /v1/../v2", 400, "segment of dots"},
        {"GET /v1/./v2", 400, "segment of dots"},
        {"GET /v1/%2e%2E/v2", 400, "segment of dots"},
        {"GET /v1/.%2e", 400, "segment of dots"},
        {"GET /v1/..;x=y/v2", 400, "segment of dots"},
        {"GET /v1/;../v2", 400, "segment of dots"},
        {"GET /v1/..%3bx/v2", 400, "segment of dots"},
        {"GET /v1//x", 400, "empty segment"},
        {"GET //v1/x", 400, "empty segment"},
        {"GET /v1/%2fx", 400, "escaped slash"},
        {"GET /v1/%252e%252e/x", 400, "percent sign"},
        {"GET /v1/%5c..%5cx", 400, "backslash"},
        {"GET /v1/\\x", 400, "backslash"},
        {"GET /v1/%00", 400, "backslash, or a byte"},
        {"GET /v1/%7f", 400, "backslash, or a byte"},
        {"GET /v1/\xc3\xbc", 400, "not ASCII"},
        {"GET /v1/%c0%ae%c0%ae/x", 400, "to some servers only"},
        {"GET /v1/%C1%9C", 400, "to some servers only"},
        {"GET /v1/%e0%80%ae%e0%80%ae/x", 400, "to some servers only"},
        {"GET /v1/%F0%80%80%AF", 400, "to some servers only"},
        {"GET /v1/%ef%bc%8e%ef%bc%8e/x", 400, "to some servers only"},
        {"GET /v1/%ef%bc%8fx", 400, "to some servers only"},
        {"GET /v1/%e0%a0%80%ef%bc%91%f0%9f%98%80", 0, ""},
        {"GET /v1/%e0", 0, ""},
        {"GET /v1/%ef%bc", 0, ""},
        {"GET /v1/..%3fx/v2", 400, "segment of dots"},
        {"GET /v1/..%23", 400, "segment of dots"},
        {"GET /v1/..%20/v2", 400, "segment of dots"},
        {"GET /v1/a..%3fx", 0, ""},
        {"GET /v1/%", 400, "escape that is none"},
        {"GET /v1/%4", 400, "escape that is none"},
        {"GET /v1/%4g", 400, "escape that is none"},
        {"GET /v1/%u002e", 400, "escape that is none"},
    };
    struct proxy_credential one = credential(), *items[] = {&one};
    char head[300];

    laz_strv_add(&one.methods, "GET");
    laz_strv_add(&one.paths, "/v1/*");
    for (size_t i = 0; i < N(rows); i++) {
        struct laz_buf out = LAZ_BUF_INIT;
        snprintf(head, sizeof head, "%s HTTP/1.1\r\n" HOST "\r\n", rows[i].line);
        const struct proxy_request request = judge(items, 1, head, &out);
        if (request.status != rows[i].status || !strstr(request.why, rows[i].why))
            fprintf(stderr, "%s: %d %s\n", rows[i].line, request.status, request.why);
        CU_ASSERT(request.status == rows[i].status && strstr(request.why, rows[i].why) != NULL);
        CU_ASSERT_EQUAL(out.len != 0, !rows[i].status);
        if (!rows[i].status)
            CU_ASSERT_EQUAL(memcmp(out.data, head, strlen(rows[i].line)), 0);
        laz_buf_fini(&out);
    }
    laz_strv_fini(&one.methods);
    laz_strv_fini(&one.paths);
}

static void a_header_names_no_other_method_or_path(void)
{
    static const struct {
        const char *name;
        int ruled, free; /* status where there are methods, and where there are none */
    } rows[] = {
        {"X-HTTP-Method-Override", 400, 0},
        {"x_http_method_override", 400, 0},
        {"X-Original-URL", 400, 0},
        {"X-Rewrite-Url", 400, 0},
        {"Destination", 400, 0},
        {"X-Other", 0, 0},
    };
    struct proxy_credential one = credential(), any = credential(), *items[] = {&one, &any};
    char head[300];

    laz_strv_add(&one.methods, "GET");
    for (size_t i = 0; i < N(rows); i++) {
        struct laz_buf out = LAZ_BUF_INIT;
        snprintf(head, sizeof head, "GET /v1/ HTTP/1.1\r\n" HOST "%s: x\r\n\r\n", rows[i].name);
        CU_ASSERT_EQUAL(judge(items, 1, head, &out).status, rows[i].ruled);
        CU_ASSERT_EQUAL(judge(items + 1, 1, head, &out).status, rows[i].free);
        laz_buf_fini(&out);
    }
    laz_strv_fini(&one.methods);
}

static void the_first_credential_that_permits_it_is_used(void)
{
    struct proxy_credential one = credential(), two = credential(), *items[] = {&one, &two};
    struct laz_buf out = LAZ_BUF_INIT;

    laz_strv_add(&one.paths, "/a/*");
    two.id = 3;
    one.next = &two;
    two.secret = (char *)"another!";
    two.secret_len = 8;
    CU_ASSERT_PTR_EQUAL(judge(items, 2, "GET /a/x HTTP/1.1\r\n" HOST "\r\n", &out).used, &one);
    CU_ASSERT_PTR_NULL(strstr(laz_buf_text(&out), "another!"));
    laz_buf_clear(&out);
    CU_ASSERT_PTR_EQUAL(judge(items, 2, "GET /b HTTP/1.1\r\n" HOST "\r\n", &out).used, &two);
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&out), "another!"));
    CU_ASSERT_PTR_NULL(strstr(laz_buf_text(&out), SECRET));
    laz_buf_clear(&out);
    /* One that is missing is wanted; one that cannot be had refuses. Neither writes. */
    two.secret = NULL;
    const struct proxy_request wanted = judge(items, 2, "GET /b HTTP/1.1\r\n" HOST "\r\n", &out);
    CU_ASSERT(wanted.wants == &two && !wanted.status && !wanted.used && !out.len);
    two.why = (char *)"its file is gone";
    const struct proxy_request failed = judge(items, 2, "GET /b HTTP/1.1\r\n" HOST "\r\n", &out);
    CU_ASSERT(failed.status == 502 && strstr(failed.why, "its file is gone") && !out.len);
    laz_buf_fini(&out);
    laz_strv_fini(&one.paths);
}

static void trailers_have_nothing_of_a_head(void)
{
    static const struct {
        const char *line;
        bool goes;
    } rows[] = {
        {"X: y", true},
        {"X-Checksum: 1", true},
        {"Authorization: x", false},
        {"proxy_authorization: x", false},
        {"Cookie: x", false},
        {"X_key: x", false},
        {"x-KEY: x", false},
        {"Host: api.example.com", false},
        {"Content-Length: 1", false},
        {"Transfer-Encoding: chunked", false},
        {"X-HTTP-Method-Override: PUT", false},
        {" X: y", false},
        {"X", false},
        {"X : y", false},
    };
    struct proxy_credential one = credential(), *items[] = {&one};
    const struct proxy_credentials own = {items, 1};

    one.field = (char *)"X-Key";
    for (size_t i = 0; i < N(rows); i++)
        CU_ASSERT_EQUAL(!proxy_request_trailer(&own, rows[i].line, strlen(rows[i].line)),
                        rows[i].goes);
}

static const struct unit_test tests[] = {
    UNIT(the_secret_takes_the_place_of_the_field),
    UNIT(what_servers_may_read_in_two_ways_is_refused),
    UNIT(a_head_has_at_most_a_hundred_fields),
    UNIT(a_secret_goes_where_its_credential_says),
    UNIT(placeholders_are_replaced_in_fields_alone),
    UNIT(many_placeholders_of_a_long_secret_are_refused),
    UNIT(methods_and_paths_are_compared_as_they_are_sent),
    UNIT(a_header_names_no_other_method_or_path),
    UNIT(the_first_credential_that_permits_it_is_used),
    UNIT(trailers_have_nothing_of_a_head),
    {0},
};

int main(void)
{
    return unit_run("proxy_request", tests);
}
