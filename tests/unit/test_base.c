/* SPDX-License-Identifier: MIT */
/* test_base.c - errors, buffers, UTF-8, random names, base64, text made visible, paths,
 * the tables of limits, enforcement bits and outcomes. */
#include "unit.h"

#include "base/base64.h"
#include "base/buf.h"
#include "base/container.h"
#include "base/enforce.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/outcome.h"
#include "base/path.h"
#include "base/random.h"
#include "base/siphash.h"
#include "base/trace.h"
#include "base/utf8.h"
#include "base/visible.h"

#include <errno.h>
#include <string.h>

static void texts_of_others_are_made_harmless(void)
{
    static const struct {
        const char *text, *clean;
    } rows[] = {
        {"", ""},
        {"plain \xe2\x82\xac", "plain \xe2\x82\xac"},
        {"a\nb\x1b[2J\x7f", "a b [2J "},
        {"\xc2\x9b"
         "2J\xc2\xa0",
         "  2J\xc2\xa0"}, /* a control sequence in two bytes */
        {"\xff\xfe x", "?? x"},
        {"\xed\xa0\x80", "???"}, /* a surrogate */
        {"cut \xe2\x82", "cut "},
        {"not cut \xe2\x82 x", "not cut ?? x"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[64];
        strcpy(text, rows[i].text);
        laz_utf8_clean(text);
        CU_ASSERT_STRING_EQUAL(text, rows[i].clean);
    }
}

static void error_text_is_one_line(void)
{
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(laz_error_set(&err, LAZ_ECONFIG, 0, "a\nb\x1b[0m"), LAZ_ECONFIG);
    UNIT_TEXT(err.text, "a b [0m");
    CU_ASSERT_EQUAL(err.code, LAZ_ECONFIG);
}

static void error_os_appends_the_cause(void)
{
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(laz_error_os(&err, ENOENT, "cannot open %s", "x"), LAZ_EOS);
    UNIT_TEXT(err.text, "cannot open x: No such file or directory");
    CU_ASSERT_EQUAL(err.os_errno, ENOENT);
    CU_ASSERT_FALSE(laz_error_is_shortage(&err));
    laz_error_os(&err, EMFILE, "cannot open %s", "x");
    UNIT_TEXT(err.text, "cannot open x: Too many open files: this process has reached its "
                        "RLIMIT_NOFILE (ulimit -n)");
    CU_ASSERT_TRUE(laz_error_is_shortage(&err));
}

static void error_prefix_keeps_the_text(void)
{
    struct laz_error err = {0};

    laz_error_set(&err, LAZ_EINVAL, 0, "why");
    laz_error_prefix(&err, "%s: ", "where");
    UNIT_TEXT(err.text, "where: why");
    laz_error_prefix(NULL, "x");
    CU_ASSERT_EQUAL(laz_error_set(NULL, LAZ_EINVAL, 0, "x"), LAZ_EINVAL);
}

static void error_longer_than_its_field_is_cut(void)
{
    struct laz_error err = {0};
    char text[2 * LAZ_ERROR_TEXT_SIZE];

    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    laz_error_set(&err, LAZ_EINVAL, 0, "%s", text);
    laz_error_prefix(&err, "%s", text);
    CU_ASSERT_EQUAL(strlen(err.text), LAZ_ERROR_TEXT_SIZE - 1);
}

static void error_is_cut_between_characters(void)
{
    static const char *const characters[] = {"x", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};

    for (size_t i = 0; i < sizeof characters / sizeof *characters; i++) {
        for (int shift = 0; shift < 4; shift++) {
            struct laz_error err = {0};
            struct laz_buf text = LAZ_BUF_INIT;
            laz_buf_append(&text, "abc", (size_t)shift);
            while (text.len < 2 * LAZ_ERROR_TEXT_SIZE)
                laz_buf_puts(&text, characters[i]);
            laz_error_set(&err, LAZ_EINVAL, 0, "%s", text.data);
            size_t len = strlen(err.text);
            CU_ASSERT(len < LAZ_ERROR_TEXT_SIZE &&
                      len + strlen(characters[i]) >= LAZ_ERROR_TEXT_SIZE);
            CU_ASSERT(laz_utf8_is_valid(err.text, len));
            laz_buf_fini(&text);
        }
    }
}

static void buf_grows_and_drops(void)
{
    struct laz_buf buf = LAZ_BUF_INIT;

    UNIT_TEXT(laz_buf_text(&buf), "");
    for (int i = 0; i < 1000; i++)
        laz_buf_printf(&buf, "%d,", i);
    CU_ASSERT_EQUAL(buf.len, 3890);
    laz_buf_drop(&buf, 3886);
    UNIT_TEXT(laz_buf_text(&buf), "999,");
    laz_buf_drop(&buf, 100);
    UNIT_TEXT(laz_buf_text(&buf), "");
    CU_ASSERT_FALSE(buf.failed);
    laz_buf_fini(&buf);
}

static void buf_takes_another(void)
{
    struct laz_buf buf = LAZ_BUF_INIT, other = LAZ_BUF_INIT;

    laz_buf_puts(&other, "one ");
    const char *data = other.data;
    laz_buf_take(&buf, &other);
    CU_ASSERT_PTR_EQUAL(buf.data, data);
    CU_ASSERT_PTR_NULL(other.data);
    laz_buf_puts(&other, "two");
    laz_buf_take(&buf, &other);
    UNIT_TEXT(laz_buf_text(&buf), "one two");
    CU_ASSERT_PTR_NULL(other.data);
    other.failed = true;
    laz_buf_take(&buf, &other);
    CU_ASSERT_TRUE(buf.failed);
    laz_buf_fini(&buf);
    buf.failed = true;
    laz_buf_take(&buf, &other);
    CU_ASSERT_TRUE(buf.failed);
    laz_buf_fini(&buf);
}

static void lists_lose_only_their_items(void)
{
    struct item {
        struct item *next;
    } c = {NULL}, b = {&c}, a = {&b}, other = {&b}, *first = &a;

    LAZ_LIST_REMOVE(first, &other);
    CU_ASSERT_TRUE(first == &a && a.next == &b && b.next == &c);
    LAZ_LIST_REMOVE(first, &b);
    CU_ASSERT_TRUE(first == &a && a.next == &c);
    LAZ_LIST_REMOVE(first, &a);
    LAZ_LIST_REMOVE(first, &c);
    CU_ASSERT_PTR_NULL(first);
    LAZ_LIST_REMOVE(first, &c);
    CU_ASSERT_PTR_NULL(first);
}

static void buf_remembers_want_of_memory(void)
{
    struct laz_buf buf = LAZ_BUF_INIT;

    CU_ASSERT_FALSE(laz_buf_reserve(&buf, SIZE_MAX - 10));
    laz_buf_puts(&buf, "lost");
    CU_ASSERT_TRUE(buf.failed);
    CU_ASSERT_EQUAL(buf.len, 0);
    laz_buf_fini(&buf);
    laz_buf_puts(&buf, "again");
    UNIT_TEXT(laz_buf_text(&buf), "again");
    laz_buf_fini(&buf);
}

static void strv_ends_with_null(void)
{
    struct laz_strv strv = LAZ_STRV_INIT;

    for (int i = 0; i < 40; i++)
        laz_strv_addf(&strv, "%d", i);
    CU_ASSERT_EQUAL(strv.n, 40);
    CU_ASSERT_PTR_NULL(strv.items[40]);
    CU_ASSERT_TRUE(laz_strv_has(&strv, "39"));
    CU_ASSERT_FALSE(laz_strv_has(&strv, "40"));
    laz_strv_fini(&strv);
    laz_strv_fini(&strv);
}

static void utf8_follows_rfc_3629(void)
{
    static const struct {
        const char *text;
        bool valid;
    } rows[] = {
        {"plain and long enough for a word", true},
        {"\xc3\xa9", true},
        {"\xe2\x82\xac", true},
        {"\xf0\x9f\x98\x80", true},
        {"\xc0\x80", false},
        {"\xe0\x80\x80", false},
        {"\xed\xa0\x80", false},
        {"\xf4\x90\x80\x80", false},
        {"\xc3", false},
        {"\x80", false},
        {"12345678\xff", false},
        {"\xf8\x88\x80\x80\x80", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT_EQUAL(laz_utf8_is_valid(rows[i].text, strlen(rows[i].text)), rows[i].valid);
    CU_ASSERT_EQUAL(laz_utf8_span("\xc3\xa9\xf0\x9f\x98\x80z\xc3\xa9", 9), 6);
    CU_ASSERT_EQUAL(laz_utf8_span("\xc3\xa9\xc3", 3), 2);
    CU_ASSERT_EQUAL(laz_utf8_span("a", 1) + laz_utf8_span("\x80", 1), 0);
    CU_ASSERT_EQUAL(laz_utf8_count("a\xc3\xa9\xf0\x9f\x98\x80", 7), 3);
    for (uint32_t c = 0; c <= 0x110000; c++) {
        char bytes[4];
        size_t n = laz_utf8_encode(c, bytes);
        bool good = c <= 0x10ffff && !(c >= 0xd800 && c <= 0xdfff);
        if ((n != 0) != good || (n && laz_utf8_sequence(bytes, n) != n))
            CU_FAIL("encode and sequence disagree");
    }
}

static void random_names_have_their_length_and_letters(void)
{
    char a[LAZ_TOKEN_LEN + 1], b[LAZ_TOKEN_LEN + 1];

    CU_ASSERT_EQUAL(laz_random_name(a, LAZ_TOKEN_LEN, NULL), 0);
    CU_ASSERT_EQUAL(laz_random_name(b, LAZ_TOKEN_LEN, NULL), 0);
    CU_ASSERT_EQUAL(strlen(a), LAZ_TOKEN_LEN);
    CU_ASSERT_EQUAL(strspn(a, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"),
                    LAZ_TOKEN_LEN);
    CU_ASSERT_STRING_NOT_EQUAL(a, b);
    CU_ASSERT_TRUE(laz_equal_constant_time(a, a, LAZ_TOKEN_LEN));
    CU_ASSERT_FALSE(laz_equal_constant_time(a, b, LAZ_TOKEN_LEN));
}

static void base64_round_trips_and_refuses(void)
{
    static const char *const bad[] = {"a", "ab=c", "====", "a===", "a b=", "abc\n", "=abc"};
    unsigned char bytes[64], back[64];

    for (size_t n = 0; n < sizeof bytes; n++) {
        struct laz_buf buf = LAZ_BUF_INIT;
        bytes[n] = (unsigned char)(n * 37 + 200);
        laz_base64_encode(&buf, bytes, n);
        CU_ASSERT_EQUAL(laz_base64_decode(laz_buf_text(&buf), buf.len, back), (ptrdiff_t)n);
        CU_ASSERT_EQUAL(laz_base64_decode(laz_buf_text(&buf), buf.len, NULL), (ptrdiff_t)n);
        CU_ASSERT_EQUAL(memcmp(bytes, back, n), 0);
        laz_buf_fini(&buf);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CU_ASSERT_EQUAL(laz_base64_decode(bad[i], strlen(bad[i]), back), -1);
        CU_ASSERT_EQUAL(laz_base64_decode(bad[i], strlen(bad[i]), NULL), -1);
    }
}

static void json_that_a_terminal_shows_stays_the_same(void)
{
    static const char json[] =
        "{\"a\\u001b\xe2\x80\xae\":[1,\t\"\xc2\x9b\x7f \xc3\xa9\"],\r\n\"b\":\"\\r\"}";
    struct laz_visible visible = {.json = true};
    struct laz_buf shown = LAZ_BUF_INIT;

    laz_visible_add(&visible, &shown, json, sizeof json - 1);
    laz_visible_end(&visible, &shown);
    UNIT_TEXT(laz_buf_text(&shown),
              "{\"a\\u001b\\u202e\":[1,\t\"\\u009b\\u007f \xc3\xa9\"],\n\"b\":\"\\r\"}");
    laz_buf_fini(&shown);
}

static void what_a_terminal_would_obey_is_shown(void)
{
    static const struct {
        const char *text, *shown, *line;
    } rows[] = {
        {"a\tb \xc3\xa9\xf0\x9f\x98\x80\n", "a\tb \xc3\xa9\xf0\x9f\x98\x80\n",
         "a\tb \xc3\xa9\xf0\x9f\x98\x80\\x0a"},
        {"\x1b[2J\x1b]0;t\x07", "\\x1b[2J\\x1b]0;t\\x07", "\\x1b[2J\\x1b]0;t\\x07"},
        {"a\x08\x7f", "a\\x08\\x7f", "a\\x08\\x7f"},
        {"1%\r2%\r\nx\n\n", "1%\n2%\nx\n\n", "1%\\x0d2%\\x0d\\x0ax\\x0a\\x0a"},
        {"\xc2\x9b"
         "31m",
         "\\x9b31m", "\\x9b31m"},
        {"\xe2\x80\xae"
         "xyz\xe2\x81\xa6",
         "\\u202exyz\\u2066", "\\u202exyz\\u2066"},
        {"\xff\xc3"
         "(\xf0\x9f",
         "\\xff\\xc3(\\xf0\\x9f", "\\xff\\xc3(\\xf0\\x9f"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t len = strlen(rows[i].text);
        struct laz_buf line = LAZ_BUF_INIT;
        laz_visible_line(&line, rows[i].text, len);
        UNIT_TEXT(laz_buf_text(&line), rows[i].line);
        laz_buf_fini(&line);
        for (size_t piece = 1; piece <= len; piece++) { /* however it is split */
            struct laz_visible visible = {0};
            struct laz_buf out = LAZ_BUF_INIT;
            for (size_t at = 0; at < len; at += piece)
                laz_visible_add(&visible, &out, rows[i].text + at,
                                piece < len - at ? piece : len - at);
            laz_visible_end(&visible, &out);
            UNIT_TEXT(laz_buf_text(&out), rows[i].shown);
            laz_buf_fini(&out);
        }
    }
}

static void wiping_leaves_zeros_and_nothing_else(void)
{
    char secret[] = "[a secret]";

    laz_wipe(secret + 1, strlen(secret) - 2);
    CU_ASSERT_EQUAL(secret[0], '[');
    for (size_t i = 1; i + 2 < sizeof secret; i++)
        CU_ASSERT_EQUAL(secret[i], 0);
    CU_ASSERT_EQUAL(secret[sizeof secret - 2], ']');
    laz_wipe(NULL, 0);
}

/* More bytes than the system returns at once, and not a multiple of its words. */
static void random_bytes_fill_all_and_no_more(void)
{
    unsigned char bytes[1003], seen[1000] = {0};
    int rounds = 0, missing = 1;

    memset(bytes, 0xa5, sizeof bytes);
    for (; missing && rounds < 64; rounds++) {
        CU_ASSERT_EQUAL(laz_random_bytes(bytes, 1001, NULL), 0);
        CU_ASSERT_TRUE(bytes[1001] == 0xa5 && bytes[1002] == 0xa5);
        missing = 0;
        for (size_t i = 0; i < sizeof seen; i++) {
            seen[i] |= bytes[i] != 0xa5; /* each byte has a different value at some time */
            missing += !seen[i];
        }
    }
    CU_ASSERT_EQUAL(missing, 0);
}

/* The authors' test vectors: the key is 00 01 .. 0f, the text 00 01 .. */
static void siphash_is_that_of_its_authors(void)
{
    static const struct {
        size_t len;
        uint64_t hash;
    } rows[] = {
        {0, UINT64_C(0x726fdb47dd0e0e31)}, {1, UINT64_C(0x74f839c593dc67fd)},
        {2, UINT64_C(0x0d6c8009d9a94f5a)}, {7, UINT64_C(0xab0200f58b01d137)},
        {8, UINT64_C(0x93f5f5799a932462)}, {15, UINT64_C(0xa129ca6149be45e5)},
    };
    const struct laz_siphash_key key = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};
    unsigned char text[16];

    for (unsigned i = 0; i < sizeof text; i++)
        text[i] = (unsigned char)i;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT_EQUAL(laz_siphash(&key, text, rows[i].len), rows[i].hash);
}

static void path_contains_what_is_below_and_itself(void)
{
    static const struct {
        const char *path, *directory;
        bool is_below, is_within;
    } rows[] = {
        {"/x/data/x", "/x/data", true, true},
        {"/x/data", "/x/data", false, true},
        {"/x/data/x", "/x/data/", true, true},
        {"/x/data", "/x/data/", false, true},
        {"/x/data2", "/x/data", false, false},
        {"/x", "/x/data", false, false},
        {"/x", "/", true, true},
        {"C:/a/b", "C:/a", true, true},
        {"/x/other/x", "/x/data", false, false},
        {"/x/dat", "/x/data", false, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CU_ASSERT_EQUAL(laz_path_is_below(rows[i].path, rows[i].directory), rows[i].is_below);
        CU_ASSERT_EQUAL(laz_path_is_within(rows[i].path, rows[i].directory), rows[i].is_within);
    }
}

static void limits_are_found_by_their_bit_and_have_its_word(void)
{
    const struct laz_limit_values limits = {1, 2, 4, 8, 16, 32, 64};
    uint64_t sum = 0;

    for (size_t i = 0; i < LAZ_N_LIMITS; i++) {
        const struct laz_limit *limit = &laz_limit_table[i];
        sum += laz_limit_value(&limits, limit);
        CU_ASSERT_EQUAL(strncmp(limit->key, "limits.", 7), 0);
        UNIT_TEXT(limit->key + 7, limit->name);
        if (!limit->bit)
            continue;
        CU_ASSERT_PTR_EQUAL(laz_limit_of_bit(limit->bit), limit);
        UNIT_TEXT(laz_enforce_name(limit->bit), limit->name);
    }
    CU_ASSERT_EQUAL(sum, 127); /* each field once */
    CU_ASSERT_PTR_NULL(laz_limit_of_bit(0));
    CU_ASSERT_PTR_NULL(laz_limit_of_bit(LAZ_ENFORCE_NETWORK));
}

/* The kernel counts CPU time from the start of a process, so a plan has the limit on all of it. */
static void limits_of_a_plan_hold_for_its_whole_life(void)
{
    const struct laz_limit_values values = {.cpu_s = 1,
                                            .memory_bytes = 2,
                                            .fsize_bytes = 3,
                                            .nproc = 4,
                                            .nofile = 5,
                                            .session_cpu_s = 6,
                                            .stack_bytes = 7};
    const struct laz_limits of_plan = laz_limits_of_plan(&values, false), same = {6, 2, 3, 4, 5, 7};

    CU_ASSERT_EQUAL(memcmp(&of_plan, &same, sizeof same), 0);
}

static void enforcement_bits_have_words_without_gaps(void)
{
    uint32_t bit = 1;

    for (; laz_enforce_name(bit); bit <<= 1)
        CU_ASSERT_EQUAL(laz_enforce_bit(laz_enforce_name(bit)), bit);
    CU_ASSERT_EQUAL(bit, LAZ_ENFORCE_TERMINALS << 1);
    CU_ASSERT_EQUAL(laz_enforce_bit("no such word"), 0);
    CU_ASSERT_EQUAL(laz_enforce_bit(NULL), 0);
}

static void outcomes_have_a_row_each(void)
{
    for (int verdict = LAZ_VERDICT_OK; verdict <= LAZ_VERDICT_WORKER_LOST; verdict++)
        CU_ASSERT_PTR_NOT_NULL(laz_verdict_name((enum laz_verdict)verdict));
    UNIT_TEXT(laz_verdict_name(LAZ_VERDICT_WORKER_LOST + 1), "?");
    UNIT_TEXT(laz_verdict_error_kind(LAZ_VERDICT_SYNTAX_ERROR), "syntax");
    UNIT_TEXT(laz_verdict_error_kind(LAZ_VERDICT_CRASHED), "crashed");
    CU_ASSERT_PTR_NULL(laz_error_kinds[LAZ_OUTCOME_VALUE].name);
    for (size_t i = 1; i < LAZ_N_ERROR_KINDS; i++)
        if (laz_error_kinds[i].name)
            CU_ASSERT_PTR_EQUAL(laz_error_kind_find(laz_error_kinds[i].name), &laz_error_kinds[i]);
    CU_ASSERT_PTR_NULL(laz_error_kind_find("no such kind"));
    for (int stop = LAZ_STOP_NONE + 1; stop < LAZ_N_STOPS; stop++)
        CU_ASSERT_NOT_EQUAL(laz_stop_reasons[stop].verdict, LAZ_VERDICT_OK);
}

static void traces_are_as_the_standard_has_them(void)
{
    static const char *const parents[] = {
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000001-0000000000000001-00",
        "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-comes-later",
    };
    static const char *const no_parents[] = {
        "",
        "00",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 ",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.x",
        "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-\n",
    };
    static const char *const states[] = {"a=1", "a=1,b=2", " a=1 , ,\tb=2", "0@x-_*/=~ !", "a= b"};
    static const char *const no_states[] = {
        "", ",", "a", "=1", "a=", "A=1", "a=b=c", "a=\n", "a b=1", "a=\xc3\xa4"};
    char many[400] = "";

    for (size_t i = 0; i < sizeof parents / sizeof *parents; i++)
        CU_ASSERT(laz_trace_parent_is_valid(parents[i]));
    for (size_t i = 0; i < sizeof no_parents / sizeof *no_parents; i++)
        CU_ASSERT(!laz_trace_parent_is_valid(no_parents[i]));
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        CU_ASSERT(laz_trace_state_is_valid(states[i]));
    for (size_t i = 0; i < sizeof no_states / sizeof *no_states; i++)
        CU_ASSERT(!laz_trace_state_is_valid(no_states[i]));
    for (unsigned i = 0; i < 32; i++)
        strcat(many, "a=1,");
    CU_ASSERT(laz_trace_state_is_valid(many));
    strcat(many, "a=1");
    CU_ASSERT(!laz_trace_state_is_valid(many));
}

static void a_copy_of_a_trace_points_into_itself(void)
{
    char parent[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", state[] = "a=1";
    struct laz_trace trace = {.size = sizeof trace, .parent = parent, .state = state};
    struct laz_trace_copy copy;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(laz_trace_check(NULL, &err), 0);
    CU_ASSERT_EQUAL(laz_trace_check(&trace, &err), 0);
    laz_trace_take(&copy, &trace);
    parent[0] = state[0] = 'x';
    UNIT_TEXT(laz_trace_of(&copy)->parent,
              "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    UNIT_TEXT(laz_trace_of(&copy)->state, "a=1");
    CU_ASSERT_EQUAL(laz_trace_check(&trace, &err), LAZ_EINVAL);
    CU_ASSERT(strstr(err.text, "traceparent") != NULL);
    parent[0] = '0';
    state[0] = '=';
    CU_ASSERT_EQUAL(laz_trace_check(&trace, &err), LAZ_EINVAL);
    CU_ASSERT(strstr(err.text, "tracestate") != NULL);
    trace.size = 0;
    CU_ASSERT_EQUAL(laz_trace_check(&trace, &err), LAZ_EINVAL);
    laz_trace_take(&copy, NULL);
    CU_ASSERT_PTR_NULL(laz_trace_of(&copy));
}

static void arguments_are_shown_as_they_read(void)
{
    const char *json = "{\"a\\u001b\":\"x\\n\\\"y\\u202e\",\"b\":[1,\"\\u0007\"],\"c\":{}}";
    struct laz_buf text = LAZ_BUF_INIT, large = LAZ_BUF_INIT;

    laz_visible_members(&text, json, strlen(json));
    UNIT_TEXT(laz_buf_text(&text), "    a\\u001b = \"x\\x0a\\\"y\\u202e\"\n"
                                   "    b = [1,\"\\x07\"]\n    c = {}\n");
    laz_buf_clear(&text);
    laz_buf_puts(&large, "{\"a\":\"");
    for (unsigned i = 0; i < 5000; i++)
        laz_buf_putc(&large, 'x');
    laz_buf_puts(&large, "\"}");
    laz_visible_members(&text, large.data, large.len);
    CU_ASSERT(text.len < 2100 && strstr(text.data, "5002 bytes in all; the rest is not shown"));
    laz_buf_fini(&text);
    laz_buf_fini(&large);
}

static void messages_that_others_cause_are_told_now_and_then(void)
{
    struct laz_log_limit limit = {.most = 2, .span_ms = 1000};
    uint64_t before;

    CU_ASSERT(laz_log_may_tell(&limit, 5, &before) && before == 0);
    CU_ASSERT(laz_log_may_tell(&limit, 500, &before) && before == 0);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_FALSE(laz_log_may_tell(&limit, 1004, &before));
    CU_ASSERT(laz_log_may_tell(&limit, 1005, &before) && before == 3);
    CU_ASSERT(laz_log_may_tell(&limit, 1500, &before) && before == 0);
    CU_ASSERT_FALSE(laz_log_may_tell(&limit, 2004, &before));
    CU_ASSERT(laz_log_may_tell(&limit, 9000, &before) && before == 1);
}

static void a_part_of_a_text_is_found(void)
{
    static const struct {
        const char *text, *part;
        int at; /* -1: nowhere */
    } rows[] = {
        {"abc", "abc", 0}, {"abc", "c", 2},      {"aab", "ab", 1},    {"abab", "bab", 1},
        {"abc", "", -1},   {"", "", -1},         {"", "a", -1},       {"ab", "abc", -1},
        {"abc", "d", -1},  {"abcab", "abd", -1}, {"aaaab", "aab", 2},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *text = rows[i].text;
        const char *found = laz_find_part(text, strlen(text), rows[i].part, strlen(rows[i].part));
        CU_ASSERT_EQUAL(found ? (int)(found - text) : -1, rows[i].at);
    }
    CU_ASSERT_PTR_NULL(laz_find_part("a\0b", 1, "b", 1)); /* behind its end */
    CU_ASSERT_PTR_NOT_NULL(laz_find_part("a\0b", 3, "\0b", 2));
}

static const struct unit_test tests[] = {
    UNIT(a_part_of_a_text_is_found),
    UNIT(texts_of_others_are_made_harmless),
    UNIT(error_text_is_one_line),
    UNIT(error_os_appends_the_cause),
    UNIT(error_prefix_keeps_the_text),
    UNIT(error_longer_than_its_field_is_cut),
    UNIT(error_is_cut_between_characters),
    UNIT(buf_grows_and_drops),
    UNIT(buf_takes_another),
    UNIT(lists_lose_only_their_items),
    UNIT(buf_remembers_want_of_memory),
    UNIT(strv_ends_with_null),
    UNIT(utf8_follows_rfc_3629),
    UNIT(random_names_have_their_length_and_letters),
    UNIT(random_bytes_fill_all_and_no_more),
    UNIT(siphash_is_that_of_its_authors),
    UNIT(wiping_leaves_zeros_and_nothing_else),
    UNIT(base64_round_trips_and_refuses),
    UNIT(json_that_a_terminal_shows_stays_the_same),
    UNIT(what_a_terminal_would_obey_is_shown),
    UNIT(traces_are_as_the_standard_has_them),
    UNIT(a_copy_of_a_trace_points_into_itself),
    UNIT(arguments_are_shown_as_they_read),
    UNIT(path_contains_what_is_below_and_itself),
    UNIT(limits_are_found_by_their_bit_and_have_its_word),
    UNIT(limits_of_a_plan_hold_for_its_whole_life),
    UNIT(enforcement_bits_have_words_without_gaps),
    UNIT(outcomes_have_a_row_each),
    UNIT(messages_that_others_cause_are_told_now_and_then),
    {0},
};

int main(void)
{
    return unit_run("base", tests);
}
