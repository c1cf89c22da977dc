/* SPDX-License-Identifier: MIT */
/* test_credential_words.c - what is written of a credential and what is wrong with it, and what
 * stands for a secret in a box. */
#include "unit.h"

#include "credential/credential_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))
#define VALUE    "mellon-0123456789"

/* ---- words ----------------------------------------------------------------------------------- */

/* `mellon` stands where somebody has put a secret, and is in no message. */
static const struct {
    const char *json, *why; /* NULL: it is good */
    bool is_given;
} words_rows[] = {
    {"{\"host\":\"a.example\",\"header\":\"A: {secret}\",\"secret\":\"s\"}", NULL, false},
    {"{\"host\":\"*.a.example:8443\",\"basic\":{\"user\":\"x\"},\"secret\":\"s\"}", NULL, false},
    {"{\"host\":\"a.example\",\"query\":\"key\",\"secret\":\"s\"}", NULL, false},
    {"{\"host\":\"a.example\",\"query\":{\"name\":\"key\"},\"secret\":\"s\"}", NULL, false},
    {"{\"host\":\"a.example\",\"placeholder\":{\"env\":\"T\"},\"secret\":\"s\"}", NULL, false},
    {"{\"host\":\"a.example\",\"header\":\"A: {secret}\",\"secret\":{\"value\":\"mellon\"}}", NULL,
     true},
    {"{\"host\":\"a.example\",\"name\":\"n\",\"header\":\"A:{secret}\",\"secret\":\"s\","
     "\"methods\":"
     "[\"GET\",\"M-SEARCH\"],\"paths\":[\"/v1/*\"],\"only\":true,\"echo\":\"refuse\",\"ca\":\"/"
     "x\"}",
     NULL, false},

    {"mellon", "JSON object", false},
    {"[\"mellon\"]", "missing", false},
    {"{\"host\":\"a.example\",\"mellon\":1}", "unknown member", false},
    {"{\"header\":\"A: {secret}\",\"secret\":\"s\"}", "\"host\" is missing", false},
    {"{\"host\":[\"mellon\"],\"header\":\"A: {secret}\",\"secret\":\"s\"}", "\"host\" is missing",
     false},
    {"{\"host\":\"\",\"query\":\"k\",\"secret\":\"s\"}", "host: ", false},
    {"{\"host\":\"http://mellon\",\"query\":\"k\",\"secret\":\"s\"}", "host: ", false},
    {"{\"host\":\"mellon/x\",\"query\":\"k\",\"secret\":\"s\"}", "host: ", false},
    {"{\"host\":\"mellon:http\",\"query\":\"k\",\"secret\":\"s\"}", "host: ", false},
    {"{\"host\":\"mellon:0\",\"query\":\"k\",\"secret\":\"s\"}", "host: ", false},
    {"{\"host\":\"*.*.mellon\",\"query\":\"k\",\"secret\":\"s\"}", "host: ", false},
    {"{\"host\":\"a.example\",\"name\":\"\",\"query\":\"k\",\"secret\":\"s\"}", "name: ", false},
    {"{\"host\":\"a.example\",\"name\":\"mellon\\n\",\"query\":\"k\",\"secret\":\"s\"}",
     "name: ", false},
    {"{\"host\":\"a.example\",\"name\":\"{mellon\",\"query\":\"k\",\"secret\":\"s\"}",
     "name: ", false},
    {"{\"host\":\"a.example\",\"secret\":\"mellon\"}", "one of header, basic and query", false},
    {"{\"host\":\"a.example\",\"header\":\"A: {secret}\",\"query\":\"k\",\"secret\":\"s\"}",
     "of header, basic and query there can be one", false},
    {"{\"host\":\"a.example\",\"header\":\"A: mellon\",\"secret\":\"s\"}", "with {secret}", false},
    {"{\"host\":\"a.example\",\"header\":\"{secret}\",\"secret\":\"s\"}", "with {secret}", false},
    {"{\"host\":\"a.example\",\"header\":\"{secret}: mellon\",\"secret\":\"s\"}", "with {secret}",
     false},
    {"{\"host\":\"a.example\",\"header\":\"A: {secret} {secret}\",\"secret\":\"s\"}",
     "with {secret}", false},
    {"{\"host\":\"a.example\",\"header\":\"A: mellon\\r\\nB: {secret}\",\"secret\":\"s\"}",
     "with {secret}", false},
    {"{\"host\":\"a.example\",\"header\":\"A mellon: {secret}\",\"secret\":\"s\"}", "cannot be set",
     false},
    {"{\"host\":\"a.example\",\"header\":\": {secret}\",\"secret\":\"s\"}", "cannot be set", false},
    {"{\"host\":\"a.example\",\"header\":\"HOST: {secret}\",\"secret\":\"s\"}", "cannot be set",
     false},
    {"{\"host\":\"a.example\",\"header\":\"Content-Length: {secret}\",\"secret\":\"s\"}",
     "cannot be set", false},
    {"{\"host\":\"a.example\",\"header\":\"transfer-encoding: {secret}\",\"secret\":\"s\"}",
     "cannot be set", false},
    {"{\"host\":\"a.example\",\"basic\":\"mellon\",\"secret\":\"s\"}", "basic = {", false},
    {"{\"host\":\"a.example\",\"basic\":{\"user\":\"x\",\"password\":\"mellon\"},\"secret\":\"s\"}",
     "basic = {", false},
    {"{\"host\":\"a.example\",\"basic\":{\"user\":\"\"},\"secret\":\"s\"}", "basic = {", false},
    {"{\"host\":\"a.example\",\"basic\":{\"user\":\"x:mellon\"},\"secret\":\"s\"}", "basic.user",
     false},
    {"{\"host\":\"a.example\",\"basic\":{\"user\":\"x\\u0000mellon\"},\"secret\":\"s\"}",
     "JSON object", false},
    {"{\"host\":\"a.example\",\"query\":[\"mellon\"],\"secret\":\"s\"}", "query: ", false},
    {"{\"host\":\"a.example\",\"query\":\"mell\xc3\xb6n\",\"secret\":\"s\"}", "query: ", false},
    {"{\"host\":\"a.example\",\"placeholder\":\"mellon\",\"secret\":\"s\"}", "placeholder = {",
     false},
    {"{\"host\":\"a.example\",\"placeholder\":{\"env\":\"A=mellon\"},\"secret\":\"s\"}",
     "placeholder.env", false},
    {"{\"host\":\"a.example\",\"placeholder\":{\"env\":\"1A\"},\"secret\":\"s\"}",
     "placeholder.env", false},
    {"{\"host\":\"a.example\",\"query\":\"k\",\"secret\":\"s\",\"methods\":[\"get\"]}",
     "methods: ", false},
    {"{\"host\":\"a.example\",\"query\":\"k\",\"secret\":\"s\",\"methods\":[\"GET mellon\"]}",
     "methods: ", false},
    {"{\"host\":\"a.example\",\"query\":\"k\",\"secret\":\"s\",\"methods\":[\"\"]}",
     "methods: ", false},
    {"{\"host\":\"a.example\",\"query\":\"k\",\"secret\":\"s\",\"methods\":\"GET\"}", "\"methods\"",
     false},
    {"{\"host\":\"a.example\",\"query\":\"k\",\"secret\":\"s\",\"paths\":[\"mellon/*\"]}",
     "paths: ", false},
    {"{\"host\":\"a.example\",\"query\":\"k\",\"secret\":\"s\",\"paths\":[\"/a?mellon\"]}",
     "no query", false},
    {"{\"host\":\"a.example\",\"query\":\"k\",\"secret\":\"s\",\"paths\":[\"/a//b\"]}", "\"//\"",
     false},
    {"{\"host\":\"a.example\",\"query\":\"k\",\"secret\":\"s\",\"paths\":[\"/a/../b\"]}", "\"..\"",
     false},
    {"{\"host\":\"a.example\",\"query\":\"k\",\"secret\":\"s\",\"paths\":[\"/a#b\"]}",
     "paths: ", false},
    {"{\"host\":\"a.example\",\"query\":\"k\",\"secret\":\"s\",\"echo\":\"mellon\"}",
     "echo: ", false},
    {"{\"host\":\"a.example\",\"query\":\"k\",\"secret\":\"s\",\"ca\":\"mellon.pem\"}",
     "ca: ", false},
    {"{\"host\":\"a.example\",\"query\":\"k\",\"secret\":\"s\",\"only\":\"mellon\"}", "\"only\"",
     false},
    {"{\"host\":\"a.example\",\"query\":\"k\"}", "expected secret", false},
    {"{\"host\":\"a.example\",\"query\":\"k\",\"secret\":{\"value\":\"mellon\"}}", "", false},
    {"{\"host\":\"a.example\",\"query\":\"k\",\"secret\":{\"file\":\"mellon\"}}", "", false},
    {"{\"host\":\"a.example\",\"query\":\"k\",\"secret\":7}", "", false},
    {"{\"host\":\"a.example\",\"query\":\"k\"}", "secret = { value", true},
    {"{\"host\":\"a.example\",\"query\":\"k\",\"secret\":\"mellon\"}", "secret = { value", true},
    {"{\"host\":\"a.example\",\"query\":\"k\",\"secret\":{\"file\":\"/mellon\"}}",
     "secret = { value", true},
    {"{\"host\":\"a.example\",\"query\":\"k\",\"secret\":{\"command\":[\"/mellon\"]}}",
     "secret = { value", true},
    {"{\"host\":\"a.example\",\"query\":\"k\",\"secret\":{\"value\":\"\"}}", "secret = { value",
     true},
    {"{\"host\":\"a.example\",\"query\":\"k\",\"secret\":{\"value\":\"mel\\nlon\"}}",
     "control character", true},
    {"{\"host\":\"a.example\",\"query\":\"k\",\"secret\":{\"value\":\"mellon\"},\"ca\":\"/x\"}",
     "ca: ", true},
};

static void each_mistake_has_its_sentence_and_no_value(void)
{
    for (size_t i = 0; i < N(words_rows); i++) {
        struct credential_words words = {.name = NULL};
        struct laz_error err = {0};
        const char *why = words_rows[i].why;
        const int rc =
            credential_words_parse(words_rows[i].json, words_rows[i].is_given, NULL, &words, &err);
        if (rc != (why ? LAZ_ECONFIG : 0) || (why && !strstr(err.text, why)))
            fprintf(stderr, "%s: %d %s\n", words_rows[i].json, rc, err.text);
        CU_ASSERT(rc == (why ? LAZ_ECONFIG : 0) && (!why || (*err.text && strstr(err.text, why))));
        CU_ASSERT_PTR_NULL(strstr(err.text, "mel"));
        credential_words_fini(&words);
    }
}

static void words_say_where_a_secret_goes(void)
{
    struct credential_words words = {.name = NULL};
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(
        credential_words_parse("{\"host\":\"API.example.com:8443\",\"header\":\"X-Key:  k={secret};"
                               "\",\"secret\":{\"value\":\"" VALUE "\"},\"placeholder\":{\"env\":"
                               "\"TOKEN\"},\"echo\":\"allow\"}",
                               true, NULL, &words, &err),
        0);
    UNIT_TEXT(words.name, "API.example.com:8443");
    UNIT_TEXT(words.field, "X-Key");
    UNIT_TEXT(words.before, "k=");
    UNIT_TEXT(words.after, ";");
    UNIT_TEXT(words.variable, "TOKEN");
    CU_ASSERT(words.echo && !words.only && words.kind == CREDENTIAL_VALUE);
    CU_ASSERT_EQUAL(words.value.len, sizeof VALUE - 1);
    CU_ASSERT(laz_network_host_has(&words.host, "api.example.com", 8443));
    CU_ASSERT_FALSE(laz_network_host_has(&words.host, "api.example.com", 443));
    credential_words_fini(&words);
    words = (struct credential_words){.name = NULL};
    CU_ASSERT_EQUAL(credential_words_parse("{\"host\":\"a.example\",\"basic\":{\"user\":\"me\"},"
                                           "\"secret\":\"s\",\"name\":\"n\"}",
                                           false, NULL, &words, &err),
                    0);
    UNIT_TEXT(words.name, "n");
    UNIT_TEXT(words.field, "Authorization");
    UNIT_TEXT(words.before, "Basic ");
    UNIT_TEXT(words.user, "me");
    UNIT_TEXT(words.secret_name, "s");
    credential_words_fini(&words);
}

static void a_host_is_a_name_and_a_port(void)
{
    static const struct {
        const char *host, *name;
        uint16_t port;
        bool has;
    } rows[] = {
        {"a.example", "a.example", 443, true},
        {"A.Example", "a.example", 443, true},
        {"a.example", "a.example", 80, false},
        {"a.example", "b.a.example", 443, false},
        {"a.example", "a.example.b", 443, false},
        {"a.example:8443", "a.example", 8443, true},
        {"*.a.example", "b.a.example", 443, true},
        {"*.a.example", "c.b.a.example", 443, true},
        {"*.a.example", "a.example", 443, false},
        {"*.a.example", "ba.example", 443, false},
        {"*.a.example:8443", "b.a.example", 443, false},
    };

    for (size_t i = 0; i < N(rows); i++) {
        struct laz_network_host host;
        CU_ASSERT_EQUAL(laz_network_host_parse(rows[i].host, &host, NULL), 0);
        CU_ASSERT_EQUAL(laz_network_host_has(&host, rows[i].name, rows[i].port), rows[i].has);
    }
}

/* ---- placeholders ---------------------------------------------------------------------------- */

static void a_placeholder_has_the_shape_of_its_secret_alone(void)
{
    static const struct {
        const char *secret, *prefix, *letters; /* letters NULL: those of base 62 */
        size_t len;
    } rows[] = {
        {NULL, "", NULL, 40},
        {"ghp_16C7e42F292c6912E7710c838347Ae178B4a", "ghp_", NULL, 40},
        {"github_pat_11ABCDEFG0abcdefghijkl_ABCDEFGH", "github_pat_", NULL, 42},
        {"sk-proj-0123456789abcdefghijkl", "sk-proj-", NULL, 30},
        {"0123456789012345678901234567", "", "0123456789", 28},
        {"deadbeef00deadbeef00deadbeef", "", "0123456789abcdefABCDEF", 28},
        {"sk-ant-api03-0123456789abcdefghijkl", "sk-ant-api03-", NULL, 35},
        {"550e8400-e29b-41d4-a716-446655440000", "", NULL, 36}, /* random from its beginning */
        {"abcd-ef0123456789abcdef", "", NULL, 23}, /* a password: too little would be left */
        {"aB_cdefghijklmnopqrstuvwxyz", "", NULL, 27},
        {"correct-horse-battery-staple-xyzzy", "", NULL, 34},
        {"short", "", NULL, 20},
        {"ghp_x", "", NULL, 20},
        {"a b_c0123456789012345678", "", NULL, 24},
        {"with/slash_0123456789012345678", "", NULL, 30},
    };
    static char large[2000];

    memset(large, 'x', sizeof large - 1);
    for (size_t i = 0; i <= N(rows); i++) {
        const char *secret = i < N(rows) ? rows[i].secret : large;
        const char *prefix = i < N(rows) ? rows[i].prefix : "";
        char *one = credential_placeholder(secret, secret ? strlen(secret) : 0);
        char *two = credential_placeholder(secret, secret ? strlen(secret) : 0);
        CU_ASSERT_FATAL(one && two);
        CU_ASSERT_EQUAL(strlen(one), i < N(rows) ? rows[i].len : 256);
        CU_ASSERT_STRING_NOT_EQUAL(one, two);
        CU_ASSERT_EQUAL(strncmp(one, prefix, strlen(prefix)), 0);
        CU_ASSERT(!secret || *prefix || strncmp(one, secret, 5) != 0);
        CU_ASSERT(!secret || !strstr(secret, one + strlen(prefix)));
        for (const char *c = one + strlen(prefix); *c; c++)
            CU_ASSERT(strchr(i < N(rows) && rows[i].letters
                                 ? rows[i].letters
                                 : "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
                             *c) != NULL);
        free(one);
        free(two);
    }
}

static const struct unit_test tests[] = {
    UNIT(each_mistake_has_its_sentence_and_no_value),
    UNIT(words_say_where_a_secret_goes),
    UNIT(a_host_is_a_name_and_a_port),
    UNIT(a_placeholder_has_the_shape_of_its_secret_alone),
    {0},
};

int main(void)
{
    return unit_run("credential_words", tests);
}
