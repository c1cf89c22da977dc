/* SPDX-License-Identifier: MIT */
/* test_proxy_echo.c - a secret is found in what a server sends, in each form and however it is
 * cut; and what is no secret is neither found nor kept back. */
#include "unit.h"

#include "proxy/proxy_private.h"

#include "base/base64.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))

enum form {
    RAW,
    PERCENT,
    PERCENT_SMALL,
    PERCENT_SOME,
    JSON,
    JSON_ALL,
    LINES,
    BASE64,
    FORMS = BASE64 + 6
};

static void encode(const char *secret, size_t len, unsigned form, struct laz_buf *out)
{
    struct laz_buf plain = LAZ_BUF_INIT, coded = LAZ_BUF_INIT;

    for (size_t i = 0; i < len && form < BASE64; i++) {
        const unsigned char c = (unsigned char)secret[i];
        if (form == PERCENT || (form == PERCENT_SOME && i % 2))
            laz_buf_printf(out, "%%%02X", c);
        else if (form == PERCENT_SMALL)
            laz_buf_printf(out, "%%%02x", c);
        else if (form == PERCENT_SOME && c == '%')
            laz_buf_puts(out, "%25");
        else if (form == JSON_ALL)
            laz_buf_printf(out, "\\u%04x", c);
        else if (form == JSON && strchr("\"\\/", c))
            laz_buf_printf(out, "\\%c", c);
        else if (form == LINES)
            laz_buf_printf(out, "%c%s", c, i % 3 == 1 ? "\r\n" : "");
        else
            laz_buf_putc(out, (char)c);
    }
    if (form < BASE64)
        return;
    laz_buf_append(&plain, "ab", (form - BASE64) % 3);
    laz_buf_append(&plain, secret, len);
    laz_buf_puts(&plain, "cd");
    laz_base64_encode(&coded, plain.data, plain.len);
    for (size_t i = 0; i < coded.len; i++) {
        const char c = coded.data[i];
        laz_buf_putc(out, form < BASE64 + 3 ? c : c == '+' ? '-' : c == '/' ? '_' : c);
        if (form >= BASE64 + 3 && i % 76 == 20)
            laz_buf_puts(out, "\r\n");
    }
    laz_buf_fini(&plain);
    laz_buf_fini(&coded);
}

/* Feeds the two parts; is it found? */
static bool cut(const struct proxy_pattern *pattern, const struct laz_buf *text, size_t at)
{
    struct proxy_echo echo;
    size_t hold = 0;

    proxy_echo_begin(&echo, pattern);
    if (proxy_echo_feed(&echo, text->data, at, &hold))
        return true;
    CU_ASSERT(hold <= at);
    return proxy_echo_feed(&echo, text->data + at, text->len - at, &hold);
}

static const char *const secrets[] = {
    "12345678",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "a+b/c=d==",
    "100%41%%2541",
    "q\"uo\\te\\\\\"\"/x",
    "aaaaaaaaaaaa",
    "aabaabaaabaab",
    "~~?>~>?~?>~?",
    "with spaces in it & more <of> 'it'",
};

static void a_secret_is_found_in_each_form_wherever_it_is_cut(void)
{
    for (size_t i = 0; i < N(secrets); i++) {
        const size_t len = strlen(secrets[i]);
        struct proxy_pattern *pattern = proxy_pattern_new(secrets[i], len);
        CU_ASSERT_PTR_NOT_NULL_FATAL(pattern);
        for (unsigned form = 0; form < FORMS; form++) {
            struct laz_buf text = LAZ_BUF_INIT, less = LAZ_BUF_INIT;
            laz_buf_puts(&text, "{\"a\": \"b%4_");
            encode(secrets[i], len, form, &text);
            laz_buf_puts(&text, "\"}");
            for (size_t at = 0; at <= text.len; at++)
                if (!cut(pattern, &text, at)) {
                    fprintf(stderr, "%s: cut at %zu\n", text.data, at);
                    CU_FAIL("it is not found");
                }
            CU_ASSERT(proxy_echo_in(pattern, text.data, text.len));
            /* Without its last character it is none. */
            laz_buf_puts(&less, "{\"a\": \"b%4_");
            encode(secrets[i], len - 1, form, &less);
            laz_buf_puts(&less, " \"}");
            if (form < BASE64)
                CU_ASSERT_FALSE(proxy_echo_in(pattern, less.data, less.len));
            laz_buf_fini(&text);
            laz_buf_fini(&less);
        }
        proxy_pattern_drop(pattern);
    }
}

/* Byte after byte: what went on before it was found. */
static size_t gone_before(const struct proxy_pattern *pattern, const char *text, size_t len,
                          bool *found)
{
    struct proxy_echo echo;
    size_t hold, gone = 0;

    *found = false;
    proxy_echo_begin(&echo, pattern);
    for (size_t i = 0; i < len && !*found; i++) {
        *found = proxy_echo_feed(&echo, text + i, 1, &hold);
        CU_ASSERT(*found || hold <= i + 1);
        gone = !*found && i + 1 - hold > gone ? i + 1 - hold : gone;
    }
    return gone;
}

static void what_may_go_on_as_a_secret_is_kept_back(void)
{
    static const char secret[] = "k3y-of-one-host";
    static const struct {
        const char *text;
        bool is_found;
        size_t gone;
    } rows[] = {
        {"abc k3y-of-one-host", true, 7},
        {"abc k3y-of-one-hos", false, 7},
        {"abc k3y-of-one-hosk", false, 7},
        {"abc k3y-of-one-hosk. ", false, 21},
        {"abc k3y", false, 7},
        {"abc word \"", false, 10},
        {"k3y%2Dof%2done-host", true, 3},
        {"k3y\\u002dof-one-host", true, 3},
        {"k3y-\n\r\n\r\n\r\n\r", false, 12},
        {"k3y-\n\r\n\r\n\r\n\rof-one-host", true, 12},
        {"k3y-\n\r\n\r\n\r\n\r\nof-one-host", false, 16},
        {"0123456789012345678901\n", false, 23}, /* a line that may be waited for */
        {"012345678901234567890123\n", false, 3},
        {"", false, 0},
    };
    struct proxy_pattern *pattern = proxy_pattern_new(secret, sizeof secret - 1);
    bool found;

    CU_ASSERT_PTR_NOT_NULL_FATAL(pattern);
    for (size_t i = 0; i < N(rows); i++) {
        const size_t gone = gone_before(pattern, rows[i].text, strlen(rows[i].text), &found);
        if (gone != rows[i].gone || found != rows[i].is_found)
            fprintf(stderr, "%s: %zu\n", rows[i].text, gone);
        CU_ASSERT(gone == rows[i].gone && found == rows[i].is_found);
    }
    proxy_pattern_drop(pattern);
}

/* A server that sends what code has it send (a file, an echo) must not become a means to try a
 * secret character by character: a right guess and a wrong one are passed on alike. */
static void what_is_kept_back_does_not_tell_a_right_guess_from_a_wrong_one(void)
{
    static const char secret[] = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    static const char wrong[] = "ghp_Wr0ngWr0ngWr0ngWr0ngWr0ngWr0ngWr0ngW";
    struct proxy_pattern *pattern = proxy_pattern_new(secret, sizeof secret - 1);

    CU_ASSERT_PTR_NOT_NULL_FATAL(pattern);
    for (unsigned form = 0; form < FORMS; form++)
        for (size_t n = 1; n + 2 < sizeof secret; n++) {
            struct laz_buf right_text = LAZ_BUF_INIT, wrong_text = LAZ_BUF_INIT;
            struct proxy_echo right, other;
            size_t right_hold, wrong_hold;
            encode(secret, n, form, &right_text);
            encode(wrong, n, form, &wrong_text);
            CU_ASSERT_EQUAL_FATAL(right_text.len, wrong_text.len);
            proxy_echo_begin(&right, pattern);
            proxy_echo_begin(&other, pattern);
            for (size_t i = 0; i < right_text.len; i++) {
                CU_ASSERT_FALSE(proxy_echo_feed(&right, right_text.data + i, 1, &right_hold));
                CU_ASSERT_FALSE(proxy_echo_feed(&other, wrong_text.data + i, 1, &wrong_hold));
                CU_ASSERT_EQUAL(right_hold, wrong_hold);
            }
            laz_buf_fini(&right_text);
            laz_buf_fini(&wrong_text);
        }
    proxy_pattern_drop(pattern);
}

static void what_is_kept_back_has_a_bound(void)
{
    static const char secret[] = "0123456789012345678901234567890123456789";
    struct proxy_pattern *pattern = proxy_pattern_new(secret, sizeof secret - 1);
    struct proxy_echo echo;
    size_t hold, most = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(pattern);
    proxy_echo_begin(&echo, pattern);
    for (size_t i = 0; i < 100000; i++) {
        CU_ASSERT_FALSE_FATAL(
            proxy_echo_feed(&echo, i < 30 ? secret + i : "\\u000a", i < 30 ? 1 : 6, &hold));
        most = hold > most ? hold : most;
    }
    CU_ASSERT(most >= 136 * 6 && most <= 8192);
    CU_ASSERT_FALSE(proxy_echo_feed(&echo, " ", 1, &hold));
    CU_ASSERT_EQUAL(hold, 0);
    proxy_pattern_drop(pattern);
}

/* The first 1024 bytes stand for it: whoever has sent these was about to send all. One that begins
 * alike is another one. */
static void of_a_long_secret_the_beginning_is_searched_for(void)
{
    static char secret[LAZ_PROXY_SECRET + 1];
    unsigned random = 1;
    bool found;

    for (size_t i = 0; i < LAZ_PROXY_SECRET; i++) {
        random = random * 1103515245u + 12345;
        secret[i] = (char)('!' + (random >> 16) % 94);
    }
    struct proxy_pattern *pattern = proxy_pattern_new(secret, LAZ_PROXY_SECRET);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pattern);
    CU_ASSERT_EQUAL(gone_before(pattern, secret, LAZ_PROXY_SECRET, &found), 3);
    CU_ASSERT(found);
    for (unsigned form = 0; form < FORMS; form++) {
        struct laz_buf text = LAZ_BUF_INIT;
        encode(secret, LAZ_PROXY_SECRET, form, &text);
        CU_ASSERT(proxy_echo_in(pattern, text.data, text.len));
        laz_buf_fini(&text);
    }
    CU_ASSERT(proxy_echo_in(pattern, secret, 1024));
    CU_ASSERT_FALSE(proxy_echo_in(pattern, secret, 1023));
    proxy_pattern_drop(pattern);
}

static void without_a_secret_nothing_is_searched(void)
{
    struct proxy_echo echo;
    size_t hold = 7;

    proxy_echo_begin(&echo, NULL);
    CU_ASSERT_FALSE(proxy_echo_feed(&echo, "abc", 3, &hold));
    CU_ASSERT_EQUAL(hold, 0);
    CU_ASSERT_PTR_NULL(proxy_pattern_hold(NULL));
    proxy_pattern_drop(NULL);
}

static const struct unit_test tests[] = {
    UNIT(a_secret_is_found_in_each_form_wherever_it_is_cut),
    UNIT(what_may_go_on_as_a_secret_is_kept_back),
    UNIT(what_is_kept_back_does_not_tell_a_right_guess_from_a_wrong_one),
    UNIT(what_is_kept_back_has_a_bound),
    UNIT(of_a_long_secret_the_beginning_is_searched_for),
    UNIT(without_a_secret_nothing_is_searched),
    {0},
};

int main(void)
{
    return unit_run("proxy_echo", tests);
}
