/* SPDX-License-Identifier: MIT */
/* test_token.c - keys, tokens, and what identities may use. */
#include "unit.h"

#include "base/base64.h"
#include "base/host_port.h"
#include "token/quota.h"
#include "token/token_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))
#define NOW      INT64_C(1800000000)

static struct laz_key key_of(unsigned char byte)
{
    struct laz_key key;

    memset(key.bytes, byte, sizeof key.bytes);
    return key;
}

static struct laz_keys keys_of(unsigned char byte)
{
    struct laz_keys keys = {.n = 1};
    const struct laz_key key = key_of(byte);

    CU_ASSERT_EQUAL_FATAL(laz_key_public(&key, &keys.items[0], NULL), 0);
    return keys;
}

/* ---- texts ------------------------------------------------------------------------------------
 */

static void base64url_is_that_of_the_standard(void)
{
    static const struct {
        const char *bytes, *text;
    } rows[] = {{"", ""},        {"f", "Zg"},        {"fo", "Zm8"},
                {"foo", "Zm9v"}, {"foob", "Zm9vYg"}, {"\xfb\xff\xfe", "-__-"}};

    for (size_t i = 0; i < N(rows); i++) {
        struct laz_buf text = LAZ_BUF_INIT;
        char bytes[16];
        const size_t len = strlen(rows[i].bytes);
        laz_base64url_encode(&text, rows[i].bytes, len);
        UNIT_TEXT(laz_buf_text(&text), rows[i].text);
        CU_ASSERT_EQUAL(laz_base64url_decode(rows[i].text, strlen(rows[i].text), bytes),
                        (ptrdiff_t)len);
        CU_ASSERT(memcmp(bytes, rows[i].bytes, len) == 0);
        laz_buf_fini(&text);
    }
    static const char *const wrong[] = {"Z", "Zg==", "+/+/", "Zg=", "Z g", "Zm9vY"};
    for (size_t i = 0; i < N(wrong); i++)
        CU_ASSERT_EQUAL(laz_base64url_decode(wrong[i], strlen(wrong[i]), NULL), -1);
}

static void a_host_and_its_port_are_taken_apart(void)
{
    static const struct {
        const char *text, *host; /* NULL: refused */
        unsigned port;
    } rows[] = {
        {"localhost:80", "localhost", 80},
        {"127.0.0.1:0", "127.0.0.1", 0},
        {"[::1]:65535", "::1", 65535},
        {"a.example:8443", "a.example", 8443},
        {"localhost", NULL, 0},
        {"localhost:", NULL, 0},
        {":80", NULL, 0},
        {"::1:80", NULL, 0},
        {"[]:80", NULL, 0},
        {"a:65536", NULL, 0},
        {"a:-1", NULL, 0},
        {"a:8a", NULL, 0},
        {"a/b:80", NULL, 0},
        {"", NULL, 0},
    };

    for (size_t i = 0; i < N(rows); i++) {
        char host[LAZ_HOST_MAX + 1];
        uint16_t port;
        const bool taken = laz_host_port(rows[i].text, host, &port);
        CU_ASSERT_EQUAL(taken, rows[i].host != NULL);
        if (taken && rows[i].host) {
            UNIT_TEXT(host, rows[i].host);
            CU_ASSERT_EQUAL(port, rows[i].port);
        }
    }
}

/* ---- keys -------------------------------------------------------------------------------------
 */

static void keys_are_files_of_pem(void)
{
    /* as openssl genpkey -algorithm ed25519 writes it; the key of RFC 8410, 10.3 */
    static const char private_pem[] =
        "-----BEGIN PRIVATE KEY-----\n"
        "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n"
        "-----END PRIVATE KEY-----\n";
    static const char public_pem[] =
        "-----BEGIN PUBLIC KEY-----\n"
        "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n"
        "-----END PUBLIC KEY-----\n";
    struct laz_key key, public_key;
    struct laz_keys keys;
    struct laz_buf text = LAZ_BUF_INIT;

    CU_ASSERT_EQUAL_FATAL(laz_key_read(private_pem, &key, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_key_public(&key, &public_key, NULL), 0);
    laz_key_write(&public_key, false, &text);
    UNIT_TEXT(laz_buf_text(&text), public_pem);
    laz_buf_clear(&text);
    laz_key_write(&key, true, &text);
    UNIT_TEXT(laz_buf_text(&text), private_pem);
    laz_buf_clear(&text);
    laz_buf_puts(&text, public_pem);
    laz_buf_puts(&text, public_pem);
    CU_ASSERT_EQUAL(laz_keys_read(text.data, &keys, NULL), 0);
    CU_ASSERT_EQUAL(keys.n, 2);
    for (int i = 0; i < LAZ_KEYS_MOST; i++)
        laz_buf_puts(&text, public_pem);
    CU_ASSERT_EQUAL(laz_keys_read(text.data, &keys, NULL), LAZ_EINVAL);
    laz_buf_fini(&text);
    CU_ASSERT_EQUAL(laz_keys_read(private_pem, &keys, NULL), LAZ_EINVAL);
    CU_ASSERT_EQUAL(laz_key_read(public_pem, &key, NULL), LAZ_EINVAL);
    CU_ASSERT_EQUAL(laz_keys_read("", &keys, NULL), LAZ_EINVAL);
    CU_ASSERT_EQUAL(laz_keys_read("-----BEGIN PUBLIC KEY-----\nMCow", &keys, NULL), LAZ_EINVAL);
    CU_ASSERT_EQUAL(laz_keys_read("-----BEGIN CERTIFICATE-----\n", &keys, NULL), LAZ_EINVAL);
}

/* ---- tokens -----------------------------------------------------------------------------------
 */

static char *token_of(const struct laz_claims *claims, unsigned char byte)
{
    const struct laz_key key = key_of(byte);
    struct laz_buf text = LAZ_BUF_INIT;

    CU_ASSERT_EQUAL_FATAL(laz_token_make(claims, &key, &text, NULL), 0);
    return laz_buf_steal(&text);
}

/* A token of any parts, signed with the key of 1. */
static char *token_of_json(const char *header, const char *body)
{
    const struct laz_key key = key_of(1);
    uint8_t signature[TOKEN_SIGNATURE];
    struct laz_buf text = LAZ_BUF_INIT;

    laz_base64url_encode(&text, header, strlen(header));
    laz_buf_putc(&text, '.');
    laz_base64url_encode(&text, body, strlen(body));
    CU_ASSERT_EQUAL_FATAL(laz_ed25519_sign(&key, text.data, text.len, signature, NULL), 0);
    laz_buf_putc(&text, '.');
    laz_base64url_encode(&text, signature, sizeof signature);
    return laz_buf_steal(&text);
}

static int check(const char *text, const struct laz_keys *keys, struct laz_claims *claims)
{
    struct laz_error err = {0};
    const int rc = laz_token_check(text, strlen(text), keys, "lazaret", NOW, claims, &err);

    CU_ASSERT(!rc == !*err.text);
    return rc;
}

static void a_token_says_who_until_when_and_how_much(void)
{
    const struct laz_claims given = {.subject = "alice@lab-1.example",
                                     .audience = "lazaret",
                                     .id = "x1",
                                     .expires_s = NOW + 1,
                                     .not_before_s = NOW,
                                     .quota = {3, 60, 1 << 20, 600}};
    const struct laz_keys keys = keys_of(1);
    struct laz_claims claims;
    char *text = token_of(&given, 1);

    CU_ASSERT_EQUAL(check(text, &keys, &claims), 0);
    UNIT_TEXT(claims.subject, given.subject);
    UNIT_TEXT(claims.id, given.id);
    CU_ASSERT_EQUAL(claims.expires_s, given.expires_s);
    CU_ASSERT(memcmp(&claims.quota, &given.quota, sizeof claims.quota) == 0);
    free(text);
}

static void a_token_that_was_touched_is_refused(void)
{
    const struct laz_claims given = {.subject = "alice", .expires_s = NOW + 60};
    const struct laz_keys keys = keys_of(1), others = keys_of(2);
    struct laz_claims claims;
    char *text = token_of(&given, 1);
    const size_t len = strlen(text);

    CU_ASSERT_EQUAL(check(text, &keys, &claims), 0);
    CU_ASSERT(laz_token_check(NULL, 0, &keys, "lazaret", NOW, &claims, NULL)); /* there is none */
    CU_ASSERT_EQUAL(check(text, &others, &claims), LAZ_EREFUSED);
    for (size_t i = 0; i + 1 < len; i++) { /* of the last character some bits say nothing */
        const char before = text[i];
        text[i] = before == 'A' ? 'B' : 'A';
        CU_ASSERT_EQUAL(check(text, &keys, &claims), LAZ_EREFUSED);
        CU_ASSERT_EQUAL(claims.expires_s, 0);
        text[i] = before;
    }
    for (size_t i = 0; i < len; i++) {
        char *cut = laz_strndup(text, i);
        CU_ASSERT_EQUAL(check(cut, &keys, &claims), LAZ_EREFUSED);
        free(cut);
    }
    free(text);
}

static void a_token_holds_in_its_time_for_its_server(void)
{
    static const struct {
        struct laz_claims claims;
        int rc;
    } rows[] = {
        {{.subject = "a", .expires_s = NOW}, LAZ_EREFUSED},
        {{.subject = "a", .expires_s = NOW - 1}, LAZ_EREFUSED},
        {{.subject = "a", .expires_s = NOW + 1}, 0},
        {{.subject = "a", .expires_s = NOW + 9, .not_before_s = NOW + 1}, LAZ_EREFUSED},
        {{.subject = "a", .audience = "other", .expires_s = NOW + 1}, LAZ_EREFUSED},
        {{.subject = "a", .audience = "lazaret", .expires_s = NOW + 1}, 0},
    };
    const struct laz_keys keys = keys_of(1);

    for (size_t i = 0; i < N(rows); i++) {
        struct laz_claims claims;
        char *text = token_of(&rows[i].claims, 1);
        CU_ASSERT_EQUAL(check(text, &keys, &claims), rows[i].rc);
        free(text);
    }
}

static void what_a_signed_token_may_say(void)
{
    static const char good[] = "{\"alg\":\"EdDSA\",\"typ\":\"JWT\"}";
    static const struct {
        const char *header, *body;
        int rc;
    } rows[] = {
        {good, "{\"sub\":\"a\",\"exp\":1800000001}", 0},
        {good, "{\"sub\":\"a\",\"exp\":1800000001,\"iss\":\"somebody\",\"more\":[1]}", 0},
        {"{\"alg\":\"EdDSA\",\"kid\":\"1\"}", "{\"sub\":\"a\",\"exp\":1800000001}", 0},
        {good, "{\"sub\":\"a\",\"exp\":1800000001,\"aud\":[\"x\",\"lazaret\"]}", 0},
        {good, "{\"sub\":\"a\",\"exp\":1800000001,\"aud\":[\"x\"]}", LAZ_EREFUSED},
        {good, "{\"sub\":\"a\",\"exp\":1800000001,\"aud\":[]}", LAZ_EREFUSED},
        {good, "{\"sub\":\"a\",\"exp\":1800000001,\"aud\":7}", LAZ_EREFUSED},
        {good, "{\"sub\":\"a\"}", LAZ_EREFUSED},
        {good, "{\"exp\":1800000001}", LAZ_EREFUSED},
        {good, "{\"sub\":\"a\",\"exp\":\"1800000001\"}", LAZ_EREFUSED},
        {good, "{\"sub\":\"a b\",\"exp\":1800000001}", LAZ_EREFUSED},
        {good, "{\"sub\":\"\",\"exp\":1800000001}", LAZ_EREFUSED},
        {good, "{\"sub\":\"a\\u0000\",\"exp\":1800000001}", LAZ_EREFUSED},
        {good, "{\"sub\":\"a\",\"exp\":-1}", LAZ_EREFUSED},
        {good, "{\"sub\":\"a\",\"exp\":1e300}", LAZ_EREFUSED},
        {good, "{\"sub\":\"a\",\"exp\":1800000001,\"lazaret\":{\"sessions\":2}}", 0},
        {good, "{\"sub\":\"a\",\"exp\":1800000001,\"lazaret\":{\"sessions\":0}}", LAZ_EREFUSED},
        {good, "{\"sub\":\"a\",\"exp\":1800000001,\"lazaret\":{\"later\":1}}", LAZ_EREFUSED},
        {good, "{\"sub\":\"a\",\"exp\":1800000001,\"sub\":\"b\"}", LAZ_EREFUSED},
        {good, "[]", LAZ_EREFUSED},
        {good, "", LAZ_EREFUSED},
        {"{\"alg\":\"none\"}", "{\"sub\":\"a\",\"exp\":1800000001}", LAZ_EREFUSED},
        {"{\"alg\":\"HS256\"}", "{\"sub\":\"a\",\"exp\":1800000001}", LAZ_EREFUSED},
        {"{}", "{\"sub\":\"a\",\"exp\":1800000001}", LAZ_EREFUSED},
        {"{\"alg\":\"EdDSA\",\"crit\":[\"x\"]}", "{\"sub\":\"a\",\"exp\":1800000001}",
         LAZ_EREFUSED},
    };
    const struct laz_keys keys = keys_of(1);

    for (size_t i = 0; i < N(rows); i++) {
        struct laz_claims claims;
        char *text = token_of_json(rows[i].header, rows[i].body);
        const int rc = check(text, &keys, &claims);
        if (rc != rows[i].rc)
            fprintf(stderr, "%s: %d\n", rows[i].body, rc);
        CU_ASSERT_EQUAL(rc, rows[i].rc);
        free(text);
    }
}

static void names_of_tokens_are_plain(void)
{
    const struct laz_key key = key_of(1);
    struct laz_buf text = LAZ_BUF_INIT;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(
        laz_token_make(&(struct laz_claims){.subject = "a b", .expires_s = NOW}, &key, &text, &err),
        LAZ_EINVAL);
    CU_ASSERT_EQUAL(
        laz_token_make(&(struct laz_claims){.subject = "", .expires_s = NOW}, &key, &text, &err),
        LAZ_EINVAL);
    CU_ASSERT_EQUAL(text.len, 0);
}

/* ---- identities -------------------------------------------------------------------------------
 */

static void a_minute_has_what_the_quota_says(void)
{
    const struct laz_quota quota = {.requests = 60};
    struct laz_identities all;

    laz_identities_init(&all);
    struct laz_identity *a = laz_identity_join(&all, "a", &quota, 1000);
    for (int i = 0; i < 60; i++)
        CU_ASSERT_EQUAL(laz_identity_use(&all, a, LAZ_QUOTA_REQUESTS, 1000, 1000), 0);
    CU_ASSERT(laz_identity_use(&all, a, LAZ_QUOTA_REQUESTS, 1000, 1000) > 0);
    CU_ASSERT(laz_identity_use(&all, a, LAZ_QUOTA_REQUESTS, 1000, 1001) == 0); /* it fills */
    CU_ASSERT(laz_identity_use(&all, a, LAZ_QUOTA_REQUESTS, 1000, 1001) > 900);
    CU_ASSERT_EQUAL(laz_identity_use(&all, a, LAZ_QUOTA_CPU, 1000000, 1001), 0); /* no limit */
    int n = 0; /* a minute later there is a minute's worth, and not two */
    while (n < 1000 && !laz_identity_use(&all, a, LAZ_QUOTA_REQUESTS, 1000, 200000))
        n++;
    CU_ASSERT_EQUAL(n, 60);
    laz_identity_leave(&all, a, 200000);
    laz_identities_fini(&all);
}

static void what_was_overdrawn_is_paid_off(void)
{
    const struct laz_quota quota = {.cpu_s = 60};
    struct laz_identities all;

    laz_identities_init(&all);
    struct laz_identity *a = laz_identity_join(&all, "a", &quota, 0);
    laz_identity_used(&all, a, LAZ_QUOTA_CPU, 90000, 0); /* 90 s */
    CU_ASSERT_EQUAL(laz_identity_use(&all, a, LAZ_QUOTA_CPU, 0, 0), 30001);
    CU_ASSERT(laz_identity_use(&all, a, LAZ_QUOTA_CPU, 0, 29000) > 0);
    CU_ASSERT_EQUAL(laz_identity_use(&all, a, LAZ_QUOTA_CPU, 0, 30001), 0);
    laz_identity_used(&all, a, LAZ_QUOTA_CPU, 90000, 30001);
    laz_identity_leave(&all, a, 30001);
    a = laz_identity_join(&all, "a", &quota, 30002); /* coming again does not help */
    CU_ASSERT(laz_identity_use(&all, a, LAZ_QUOTA_CPU, 0, 30002) > 0);
    laz_identity_leave(&all, a, 30002);
    struct laz_identity *b = laz_identity_join(&all, "b", &quota, 1000000);
    CU_ASSERT_EQUAL(all.n, 1); /* the other one was forgotten when it was as a new one */
    laz_identity_leave(&all, b, 1000000);
    laz_identities_fini(&all);
}

static void sessions_are_counted_for_all_connections(void)
{
    const struct laz_quota two = {.sessions = 2}, one = {.sessions = 1};
    struct laz_identities all;
    uint64_t most;

    laz_identities_init(&all);
    struct laz_identity *a = laz_identity_join(&all, "a", &two, 0);
    CU_ASSERT_PTR_EQUAL(laz_identity_join(&all, "a", &two, 0), a);
    CU_ASSERT(laz_identity_sessions(&all, a, 2, &most));
    CU_ASSERT_FALSE(laz_identity_sessions(&all, a, 1, &most));
    CU_ASSERT_EQUAL(most, 2);
    laz_identity_sessions_end(&all, a, 1);
    CU_ASSERT(laz_identity_sessions(&all, a, 1, &most));
    CU_ASSERT_FALSE(laz_identity_sessions(&all, a, UINT64_MAX, &most));
    CU_ASSERT_PTR_EQUAL(laz_identity_join(&all, "a", &one, 0), a); /* the narrowest counts */
    laz_identity_sessions_end(&all, a, 1);
    CU_ASSERT_FALSE(laz_identity_sessions(&all, a, 1, &most));
    CU_ASSERT_EQUAL(a->connections, 3);
    for (int i = 0; i < 3; i++)
        laz_identity_leave(&all, a, 0);
    laz_identities_fini(&all);
}

static void unread_bytes_are_counted_for_all_connections(void)
{
    const struct laz_quota quota = {.sessions = 1};
    struct laz_identities all;

    laz_identities_init(&all);
    struct laz_identity *a = laz_identity_join(&all, "a", &quota, 0);
    CU_ASSERT(laz_identity_unread(&all, a, 0, 60, 100)); /* of one connection, */
    CU_ASSERT(laz_identity_unread(&all, a, 0, 40, 100)); /* and of another */
    CU_ASSERT_FALSE(laz_identity_unread(&all, a, 40, 41, 100));
    CU_ASSERT(laz_identity_unread(&all, a, 60, 0, 100)); /* it has read, or is gone */
    CU_ASSERT(laz_identity_unread(&all, a, 41, 100, 100));
    CU_ASSERT(laz_identity_unread(&all, a, 100, 0, 100));
    CU_ASSERT_EQUAL(a->unread, 0);
    laz_identity_leave(&all, a, 0);
    laz_identities_fini(&all);
}

static const struct unit_test tests[] = {
    UNIT(base64url_is_that_of_the_standard),
    UNIT(a_host_and_its_port_are_taken_apart),
    UNIT(keys_are_files_of_pem),
    UNIT(a_token_says_who_until_when_and_how_much),
    UNIT(a_token_that_was_touched_is_refused),
    UNIT(a_token_holds_in_its_time_for_its_server),
    UNIT(what_a_signed_token_may_say),
    UNIT(names_of_tokens_are_plain),
    UNIT(a_minute_has_what_the_quota_says),
    UNIT(what_was_overdrawn_is_paid_off),
    UNIT(sessions_are_counted_for_all_connections),
    UNIT(unread_bytes_are_counted_for_all_connections),
    {0},
};

int main(void)
{
    return unit_run("token", tests);
}
