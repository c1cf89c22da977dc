/* SPDX-License-Identifier: MIT */
/* test_json_fast.c - the fast ways of JSON give what the slow ways give, bit for bit: numbers
 * beside strtod(3) and printf(3), in each rounding mode; spans of many bytes beside loops of one.
 */
#include "unit.h"

#include "base/json.h"
#include "base/json_lex.h"
#include "base/utf8.h"

#include <fenv.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is compared ----------------------------------------------------------------------- */

/* Many texts are compared: the first that differs is shown, and is the only failure. */
static bool fast_failed;

static void fast_must(bool held, const char *what, const char *text)
{
    if (held || fast_failed)
        return;
    fast_failed = true;
    printf("\n    %s: %.200s", what, text);
    CU_FAIL("the fast way differs from the slow one");
}

static const int fast_modes[] = {
    FE_TONEAREST,
#ifdef FE_UPWARD
    FE_UPWARD,
    FE_DOWNWARD,
    FE_TOWARDZERO,
#endif
};

/* The same sequence in each run (a linear congruential generator: Knuth's MMIX). */
static uint64_t fast_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 11;
}

static bool fast_same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* ---- numbers that are read ------------------------------------------------------------------ */

static void fast_compare_read(const char *text)
{
    const size_t len = strlen(text);
    const double expected = strtod(text, NULL);
    struct laz_json_number number;

    fast_must(fast_same(laz_json_strtod(text, len), expected), "read as another number", text);
    size_t used = laz_json_read_number(text, len, &number);
    const bool is_whole = !strpbrk(text, ".eE");
    const size_t digits = strspn(text + (*text == '-'), "0123456789");
    if (!is_whole || digits <= 18)
        fast_must(used == len, "not read", text);
    if (used != len)
        return;
    fast_must(fast_same(number.value, expected), "another number of a list", text);
    fast_must(number.is_whole == is_whole, "whole or not", text);
    fast_must(!is_whole || number.whole == strtoll(text, NULL, 10), "another integer", text);
}

static void fast_compare_read_in_all_modes(const char *text)
{
    for (size_t i = 0; i < sizeof fast_modes / sizeof *fast_modes; i++) {
        fesetround(fast_modes[i]);
        fast_compare_read(text);
    }
    fesetround(FE_TONEAREST);
}

static void numbers_at_the_edges_are_those_of_strtod(void)
{
    static const char *const rows[] = {
        "0",
        "-0",
        "0.0",
        "-0.0",
        "0e0",
        "-0e22",
        "0e-23",
        "0e999999999999999999999",
        "1",
        "-1",
        "9007199254740991",
        "9007199254740992",
        "9007199254740993",
        "-9007199254740993",
        "9007199254740992e22",
        "9007199254740993e22",
        "9007199254740992e-22",
        "9007199254740992e23",
        "9007199254740992e-23",
        "90071992547409.92e22",
        "1e22",
        "1e23",
        "1e-22",
        "1e-23",
        "0.1",
        "0.2",
        "0.3",
        "0.1e1",
        "123456789012345678",
        "999999999999999999",
        "1000000000000000000",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "4.9e-324",
        "2.4e-324",
        "1.7976931348623157e308",
        "8.5",
        "4503599627370496.5",
        "4503599627370497.5",
        "1e+0",
        "1E-0",
        "1.0E+1",
        "0.000000000000000000000001",
        "0.0000000000000000000001",
        "100000000000000000000000",
        "1e-9223372036854775808",
        "1.00000000000000011102230246251565",
        "1.00000000000000011102230246251566",
        "7e-10",
        "179769313486231580793e289",
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        fast_compare_read_in_all_modes(rows[i]);
}

/* Each number of digits, with the point at each place, and each exponent around the bounds. */
static void numbers_of_all_lengths_are_those_of_strtod(void)
{
    uint64_t seed = 1;
    char text[128];

    for (int digits = 1; digits <= 40; digits++) {
        for (int point = 0; point <= digits; point++) {
            for (int exponent = -46 + digits % 3; exponent <= 46; exponent += 3) {
                int n = fast_random(&seed) % 2 ? snprintf(text, sizeof text, "-") : 0;
                if (point == 0)
                    n += snprintf(text + n, sizeof text - (size_t)n, "0.");
                for (int i = 0; i < digits; i++) {
                    if (i && i == point)
                        text[n++] = '.';
                    text[n++] = (char)('0' + fast_random(&seed) % 10);
                }
                text[n] = '\0';
                if (exponent)
                    snprintf(text + n, sizeof text - (size_t)n, "e%d", exponent);
                fast_compare_read(text);
            }
        }
    }
}

/* An eighth of the sequences, the whole of them in `scripts/check --full`. */
static void random_numbers_are_those_of_strtod(void)
{
    const uint64_t sequences = getenv("LAZARET_TEST_FULL") ? 40 : 5;
    char text[128];

    for (uint64_t first = 1; first <= sequences; first++) {
        uint64_t seed = first;
        for (int i = 0; i < 5000; i++) {
            uint64_t digits = fast_random(&seed) >> fast_random(&seed) % 53;
            int exponent = (int)(fast_random(&seed) % 56) - 28;
            snprintf(text, sizeof text, i % 3 ? "%" PRIu64 "e%d" : "%" PRIu64 ".%de%d", digits,
                     i % 3 ? exponent : abs(exponent), exponent);
            fast_compare_read_in_all_modes(text);
        }
    }
}

static void a_long_number_is_that_of_strtod(void)
{
    for (size_t len = 500; len < 530; len++) {
        struct laz_buf text = LAZ_BUF_INIT;
        laz_buf_puts(&text, "0.");
        while (text.len < len)
            laz_buf_putc(&text, (char)('1' + text.len % 9));
        fast_compare_read(laz_buf_text(&text));
        laz_buf_fini(&text);
    }
}

/* Texts that are not numbers: nothing is read, and nothing outside of the text. */
static void what_is_no_number_is_not_read(void)
{
    static const char *const rows[] = {"",
                                       "-",
                                       "+1",
                                       ".5",
                                       "e5",
                                       "-e",
                                       "1.",
                                       "1.e5",
                                       "1e",
                                       "1e+",
                                       "-.1",
                                       "x",
                                       "1000000000000000000"};
    struct laz_json_number number;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t len = strlen(rows[i]);
        char *exact = malloc(len + !len); /* no byte follows, so a sanitizer sees a read of it */
        CU_ASSERT_PTR_NOT_NULL_FATAL(exact);
        memcpy(exact, rows[i], len);
        fast_must(laz_json_read_number(exact, len, &number) == 0, "read", rows[i]);
        free(exact);
    }
}

/* ---- numbers that are written --------------------------------------------------------------- */

/* The least number of digits from 15 on that reads back. */
static void fast_print(double value, bool keep_point, char text[64])
{
    if (fabs(value) < 1e15 && value == floor(value))
        snprintf(text, 64, "%.0f", value);
    else
        for (int digits = 15; digits <= 17; digits++) {
            snprintf(text, 64, "%.*g", digits, value);
            if (strtod(text, NULL) == value)
                break;
        }
    if (keep_point && !strpbrk(text, ".e"))
        strcat(text, ".0");
}

static void fast_compare_written(double value)
{
    char expected[64];

    for (size_t i = 0; isfinite(value) && i < sizeof fast_modes / sizeof *fast_modes; i++) {
        struct laz_buf text = LAZ_BUF_INIT;
        const bool keep_point = i % 2;
        fesetround(fast_modes[i]);
        laz_json_format_double(&text, value, keep_point);
        fast_print(value, keep_point, expected);
        fesetround(FE_TONEAREST);
        fast_must(strcmp(laz_buf_text(&text), expected) == 0, "written in another way", expected);
        laz_buf_fini(&text);
    }
}

static void doubles_are_written_as_printf_does(void)
{
    static const double rows[] = {0.0,
                                  -0.0,
                                  1e15,
                                  999999999999999,
                                  1e-4,
                                  1e-5,
                                  0.1,
                                  0.0001234,
                                  99999999999999.9,
                                  999999999999999.9,
                                  9e-5,
                                  123.456,
                                  DBL_MAX,
                                  DBL_MIN,
                                  5e-324,
                                  4503599627370496.5,
                                  1e22,
                                  1e14 + 0.5,
                                  0.30000000000000004,
                                  2.0 / 3,
                                  1e-4 - 1e-20,
                                  100.5,
                                  1000000.25};
    uint64_t seed = 7;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fast_compare_written(rows[i]);
        fast_compare_written(-rows[i]);
        fast_compare_written(nextafter(rows[i], INFINITY));
        fast_compare_written(nextafter(rows[i], -INFINITY));
    }
    const int many = getenv("LAZARET_TEST_FULL") ? 20000 : 5000;
    for (int i = 0; i < many; i++) {
        double digits = (double)(fast_random(&seed) >> fast_random(&seed) % 53);
        double value = digits / pow(10, (double)(fast_random(&seed) % 24));
        fast_compare_written(value);
        fast_compare_written(-nextafter(value, 0));
    }
}

static void integers_are_written_as_printf_does(void)
{
    uint64_t seed = 3;
    char expected[32];

    for (int i = 0; i < 20000; i++) {
        struct laz_buf text = LAZ_BUF_INIT;
        int64_t value = i < 3 ? (const int64_t[]){0, INT64_MIN, INT64_MAX}[i]
                              : (int64_t)(fast_random(&seed) << 11) >> fast_random(&seed) % 64;
        laz_json_format_int(&text, value);
        snprintf(expected, sizeof expected, "%" PRId64, value);
        fast_must(strcmp(laz_buf_text(&text), expected) == 0, "written in another way", expected);
        laz_buf_fini(&text);
    }
}

/* ---- lists of numbers ----------------------------------------------------------------------- */

/* The numbers of a list in pieces of `most`, beside its tokens. */
static void fast_compare_list(const char *text, size_t most)
{
    const struct laz_json_api *api = laz_json_api();
    struct laz_json_reader *one = api->reader_new(text, strlen(text));
    struct laz_json_reader *many = api->reader_new(text, strlen(text));
    struct laz_json_number numbers[8];
    struct laz_json_token token, other;

    CU_ASSERT_FATAL(one && many);
    do {
        size_t n = api->next_numbers(many, numbers, most);
        for (size_t i = 0; i < n; i++) {
            api->next(one, &token);
            fast_must(token.type == LAZ_JSON_NUMBER &&
                          fast_same(strtod(token.text, NULL), numbers[i].value) &&
                          numbers[i].is_whole == !strpbrk(token.text, ".eE"),
                      "another number of the list", text);
        }
        if (n == most)
            continue;
        api->next(many, &other);
        api->next(one, &token);
        fast_must(token.type == other.type && strcmp(token.text, other.text) == 0,
                  "another value after the numbers", text);
    } while (!fast_failed && api->peek(one) != LAZ_JSON_END);
    fast_must(api->next_numbers(many, numbers, most) == 0, "numbers after the end", text);
    fast_must(!api->reader_failed(one) && !api->reader_failed(many), "refused", text);
    api->reader_free(one);
    api->reader_free(many);
}

static void lists_of_numbers_are_read_like_tokens(void)
{
    static const char *const rows[] = {
        "[]",
        "[1]",
        "[1,2,3]",
        " [ 1 , -2.5 ,\n3e2 ] ",
        "[1,\"a\",2,null,3.5,true]",
        "[[1,2],[3],[],4]",
        "{\"a\":1,\"b\":[1,2],\"c\":3}",
        "[9007199254740993,1]",
        "[123456789012345678901234567890,1.5]",
        "[{\"a\":1},2]",
        "7",
        "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]",
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t most = 1; most <= 8; most++)
            fast_compare_list(rows[i], most);
}

static void a_list_that_is_malformed_is_refused(void)
{
    static const char *const rows[] = {"[1",     "[1,", "[1 2]", "[1,]",
                                       "[1.,2]", "[-]", "[1}",   "[1e]"};
    const struct laz_json_api *api = laz_json_api();
    struct laz_json_number numbers[4];
    struct laz_json_token token;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_json_reader *reader = api->reader_new(rows[i], strlen(rows[i]));
        CU_ASSERT_PTR_NOT_NULL_FATAL(reader);
        api->next(reader, &token);
        api->next_numbers(reader, numbers, 4);
        while (api->next(reader, &token) != LAZ_JSON_END)
            ;
        CU_ASSERT_TRUE(api->reader_failed(reader) || laz_json_scan(rows[i], strlen(rows[i]), NULL));
        CU_ASSERT_EQUAL(api->next_numbers(reader, numbers, 4), 0);
        api->reader_free(reader);
    }
}

static void doubles_of_a_list_are_written_one_by_one(void)
{
    const struct laz_json_api *api = laz_json_api();
    const double values[] = {1, 2.5, NAN, INFINITY, -INFINITY, -0.0, 1e300};
    struct laz_json_writer *writer = api->writer_new(0), *narrow = api->writer_new(40);

    api->array_begin(writer);
    api->write_int(writer, 7);
    api->write_doubles(writer, values, 7, true);
    api->write_doubles(writer, values, 2, false);
    api->array_end(writer);
    UNIT_TEXT(api->writer_text(writer, NULL, NULL),
              "[7,1.0,2.5,{\"$num\":\"NaN\"},{\"$num\":\"Inf\"},{\"$num\":\"-Inf\"},-0.0,1e+300,1,"
              "2.5]");
    api->write_doubles(narrow, values, 7, true);
    CU_ASSERT_TRUE(api->writer_failed(narrow));
    api->writer_free(narrow);
    api->writer_free(writer);
}

/* ---- spans ---------------------------------------------------------------------------------- */

static size_t fast_plain_span(const char *text, size_t len)
{
    size_t i = 0;

    while (i < len && json_is_plain(text[i]))
        i++;
    return i;
}

static size_t fast_quoted_span(const char *text, size_t len)
{
    size_t i = 0;

    while (i < len && text[i] != '"' && text[i] != '\\')
        i++;
    return i;
}

static bool fast_is_utf8(const char *text, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i += n)
        if (!(n = laz_utf8_sequence(text + i, len - i)))
            return false;
    return true;
}

static void fast_compare_spans(const char *text, size_t len)
{
    fast_must(json_plain_span(text, len) == fast_plain_span(text, len), "plain span", "");
    fast_must(json_quoted_span(text, len) == fast_quoted_span(text, len), "quoted span", "");
    fast_must(laz_utf8_is_valid(text, len) == fast_is_utf8(text, len), "UTF-8", "");
}

#define FAST_LENGTHS 84 /* a word, two steps of 32 bytes, and what stands behind them */
#define FAST_OFFSETS 17

/* Bytes of a text, one after the other at each of its places. */
static void fast_spans_with(char *text, size_t len, const char *bytes, size_t n)
{
    for (size_t at = 0; at < len; at++) {
        for (size_t i = 0; i < n; i++) {
            text[at] = bytes[i];
            fast_compare_spans(text, len);
        }
        text[at] = 'a';
    }
}

/* Each byte at each place of texts, beginning at each offset from what an allocation is aligned to;
 * no byte follows the text, so a sanitizer sees a read of it. Texts of the other lengths get those
 * beside which the kinds of bytes differ, or all of them in `scripts/check --full`: a kind does not
 * depend on the length, and a text of 83 bytes has all places that a step can have. */
static void spans_end_at_the_same_byte(void)
{
    static const char edges[] = "\0\x1f !\"#[\\]~\x7f\x80\xbf\xc0\xc2\xe0\xf4\xff";
    const bool full = getenv("LAZARET_TEST_FULL") != NULL;
    char each[256];

    for (size_t i = 0; i < sizeof each; i++)
        each[i] = (char)i;
    for (size_t len = 0; len < FAST_LENGTHS && !fast_failed; len++) {
        const bool has_each = full || len % 12 == (FAST_LENGTHS - 1) % 12;
        for (size_t offset = 0; offset < FAST_OFFSETS; offset += 4 + len % 2) {
            char *room = malloc(offset + len + !(offset + len));
            CU_ASSERT_PTR_NOT_NULL_FATAL(room);
            char *text = room + offset;
            memset(room, '"', offset);
            memset(text, 'a', len);
            fast_compare_spans(text, len);
            fast_spans_with(text, len, has_each ? each : edges,
                            has_each ? sizeof each : sizeof edges - 1);
            free(room);
        }
    }
}

/* Several bytes that end a span, and characters of several bytes. */
static void spans_of_random_texts_are_the_same(void)
{
    static const char *const pieces[] = {
        "a",    "bcdefghi", "\"",   "\\",   "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80",
        "\x7f", "\x1f",     "\x80", "\xff", "\n"};
    uint64_t seed = 5;

    for (int round = 0; round < 20000; round++) {
        struct laz_buf text = LAZ_BUF_INIT;
        size_t most = fast_random(&seed) % 300, kinds = 1 + fast_random(&seed) % 12;
        while (text.len < most)
            laz_buf_puts(&text, pieces[fast_random(&seed) % kinds]);
        for (size_t from = 0; from < text.len; from += 1 + fast_random(&seed) % 40)
            fast_compare_spans(text.data + from, text.len - from);
        laz_buf_fini(&text);
    }
}

/* What is written with a plain beginning is what is written without. */
static void strings_are_quoted_alike(void)
{
    static const char *const ends[] = {"", "\n", "\xc3\xa9", "\"", "\\x", "\xff", "a\001b"};
    const struct laz_json_api *api = laz_json_api();

    for (size_t plain = 0; plain < 3000; plain += 1 + plain / 40) {
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
            struct laz_buf text = LAZ_BUF_INIT, quoted = LAZ_BUF_INIT, back = LAZ_BUF_INIT;
            struct laz_json_writer *writer = api->writer_new(0);
            for (size_t k = 0; k < plain; k++)
                laz_buf_putc(&text, (char)('a' + k % 26));
            laz_buf_puts(&text, ends[i]);
            laz_json_quote(&quoted, text.data, text.len);
            api->write_string(writer, text.data, text.len);
            const char *written = api->writer_text(writer, NULL, NULL);
            if (laz_utf8_is_valid(text.data, text.len)) {
                UNIT_TEXT(written, laz_buf_text(&quoted));
                laz_json_decode_string(written, strlen(written), &back);
                UNIT_TEXT(laz_buf_text(&back), laz_buf_text(&text));
            } else {
                CU_ASSERT(strncmp(written, "{\"$bytes\":", 10) == 0);
            }
            api->writer_free(writer);
            laz_buf_fini(&text);
            laz_buf_fini(&quoted);
            laz_buf_fini(&back);
        }
    }
}

/* ---- tokens in place ------------------------------------------------------------------------ */

static void strings_in_place_are_those_that_are_copied(void)
{
    static const char text[] =
        "{\"plain\":\"a text without escapes, of more than 32 bytes, \xc3\xa9\","
        "\"with\\u0020escapes\":\"a\\nb\",\"\":[\"\",\"\\\"\",1.5,-7,null,true,{}]}";
    const struct laz_json_api *api = laz_json_api();
    struct laz_json_reader *one = api->reader_new(text, sizeof text - 1);
    struct laz_json_reader *other = api->reader_new(text, sizeof text - 1);
    struct laz_json_token token, in_place;
    size_t n_inside = 0;

    CU_ASSERT_FATAL(one && other);
    do {
        api->next(one, &token);
        CU_ASSERT_EQUAL(api->next_in_place(other, &in_place), token.type);
        CU_ASSERT_EQUAL(in_place.type, token.type);
        CU_ASSERT_FATAL(in_place.len == token.len);
        CU_ASSERT_EQUAL(memcmp(in_place.text, token.text, token.len), 0);
        bool inside = in_place.text >= text && in_place.text < text + sizeof text;
        bool is_text = token.type == LAZ_JSON_KEY || token.type == LAZ_JSON_STRING;
        n_inside += inside;
        CU_ASSERT(!inside || is_text);
        if (token.type == LAZ_JSON_NUMBER)
            CU_ASSERT_EQUAL(strlen(in_place.text), in_place.len);
    } while (token.type != LAZ_JSON_END);
    CU_ASSERT_EQUAL(n_inside, 4);
    CU_ASSERT(!api->reader_failed(one) && !api->reader_failed(other));
    api->reader_free(one);
    api->reader_free(other);
}

static void a_string_in_place_that_is_malformed_is_refused(void)
{
    static const char *const rows[] = {"\"",        "\"a",    "[\"a\\", "\"\\x\"",
                                       "\"a\xff\"", "{\"a\"", "{\"a"};
    const struct laz_json_api *api = laz_json_api();
    struct laz_json_token token;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t len = strlen(rows[i]);
        char *exact = malloc(len);
        CU_ASSERT_PTR_NOT_NULL_FATAL(exact);
        memcpy(exact, rows[i], len);
        struct laz_json_reader *reader = api->reader_new(exact, len);
        CU_ASSERT_PTR_NOT_NULL_FATAL(reader);
        while (api->next_in_place(reader, &token) != LAZ_JSON_END)
            ;
        CU_ASSERT_TRUE(api->reader_failed(reader));
        UNIT_TEXT(token.text, "");
        api->reader_free(reader);
        free(exact);
    }
}

/* ---- values --------------------------------------------------------------------------------- */

/* The length of the value at text[0], byte by byte. */
static size_t fast_value_span(const char *text, size_t len)
{
    size_t depth = 0;
    bool in_string = false;

    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (in_string && c == '\\')
            i++;
        else if (c == '"')
            in_string = !in_string;
        else if (!in_string && (c == '[' || c == '{'))
            depth++;
        else if (!in_string && (c == ']' || c == '}'))
            depth--;
        if (!depth && !in_string && (c == '"' || c == ']' || c == '}'))
            return i + 1;
    }
    return 0;
}

static void spans_of_values_are_the_same(void)
{
    static const char *const pieces[] = {"1",
                                         "2.5,",
                                         "[",
                                         "{",
                                         "]",
                                         "}",
                                         "\"a\":",
                                         "\"[\\\"{\"",
                                         " ",
                                         "true,",
                                         "1234567890123456789012345678901234567890,"};
    uint64_t seed = 11;

    for (int round = 0; round < 20000; round++) {
        struct laz_buf text = LAZ_BUF_INIT;
        size_t most = fast_random(&seed) % 400;
        laz_buf_puts(&text, fast_random(&seed) % 2 ? "[" : "{");
        while (text.len < most)
            laz_buf_puts(&text, pieces[fast_random(&seed) % 11]);
        for (size_t len = text.len; len > 0; len -= len > 40 ? len / 3 : 1)
            fast_must(laz_json_value_span(text.data, len) == fast_value_span(text.data, len),
                      "value span", text.data);
        laz_buf_fini(&text);
    }
}

static void a_value_is_checked_and_put_on_one_line_at_once(void)
{
    static const char *const rows[] = {
        "[1,2]",      " [1,2]", "[1, 2]", "[1,2]\n", "\"a b\"", "{\"a b\":\" \"}",
        "{\"a\" :1}", "7",      "7 ",     "[\n]",    "[1,",     "",
        " ",          "[1]x",   "\"a",
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const size_t len = strlen(rows[i]);
        struct laz_buf once = LAZ_BUF_INIT, twice = LAZ_BUF_INIT;
        const int expected = laz_json_scan(rows[i], len, NULL);
        CU_ASSERT_EQUAL(laz_json_scan_compact(rows[i], len, &once, NULL), expected);
        if (!expected)
            laz_json_compact(&twice, rows[i], len);
        UNIT_TEXT(laz_buf_text(&once), laz_buf_text(&twice));
        laz_buf_fini(&once);
        laz_buf_fini(&twice);
    }
}

static const struct unit_test tests[] = {
    UNIT(numbers_at_the_edges_are_those_of_strtod),
    UNIT(numbers_of_all_lengths_are_those_of_strtod),
    UNIT(random_numbers_are_those_of_strtod),
    UNIT(a_long_number_is_that_of_strtod),
    UNIT(what_is_no_number_is_not_read),
    UNIT(doubles_are_written_as_printf_does),
    UNIT(integers_are_written_as_printf_does),
    UNIT(lists_of_numbers_are_read_like_tokens),
    UNIT(a_list_that_is_malformed_is_refused),
    UNIT(doubles_of_a_list_are_written_one_by_one),
    UNIT(spans_end_at_the_same_byte),
    UNIT(spans_of_random_texts_are_the_same),
    UNIT(strings_are_quoted_alike),
    UNIT(strings_in_place_are_those_that_are_copied),
    UNIT(a_string_in_place_that_is_malformed_is_refused),
    UNIT(spans_of_values_are_the_same),
    UNIT(a_value_is_checked_and_put_on_one_line_at_once),
    {0},
};

int main(void)
{
    return unit_run("json_fast", tests);
}
