/* SPDX-License-Identifier: MIT */
/* test_json.c - the scan, the reader, the writer, trees. */
#include "unit.h"

#include "base/json.h"
#include "base/json_lex.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void scan_accepts_json_and_nothing_else(void)
{
    static const struct {
        const char *text;
        bool valid;
    } rows[] = {
        {"null", true},
        {" [1, 2.5e-3, -0, \"a\\u00e9\\n\", true, false, {}] ", true},
        {"{\"a\":{\"b\":[]},\"c\":\"\"}", true},
        {"\"\\ud83d\\ude00\"", true},
        {"0", true},
        {"1e308", true},
        {"", false},
        {"nul", false},
        {"[1,]", false},
        {"[,1]", false},
        {"[1 2]", false},
        {"{\"a\"}", false},
        {"{\"a\":1,}", false},
        {"{a:1}", false},
        {"01", false},
        {"1.", false},
        {".5", false},
        {"+1", false},
        {"1e", false},
        {"1e999", false},
        {"-1e999", false},
        {"NaN", false},
        {"\"abc", false},
        {"\"a\nb\"", false},
        {"\"\\x\"", false},
        {"\"\\u0000\"", false},
        {"\"\\ud800\"", false},
        {"\"\\udc00\"", false},
        {"\"\\ud800\\u0041\"", false},
        {"\"\xff\"", false},
        {"\"\xed\xa0\x80\"", false},
        {"1 1", false},
        {"[1}", false},
        {"]", false},
        {"{\"a\":1,\"b\":2,\"a\":3}", false},
        {"{\"a\":1,\"\\u0061\":3}", false},
        {"{\"a\":{\"a\":1},\"b\":{\"a\":1}}", true},
        {"\xef\xbb\xbf{}", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_error err = {0};
        bool valid = laz_json_scan(rows[i].text, strlen(rows[i].text), &err) == 0;
        if (valid != rows[i].valid)
            printf("\n    row: %s (%s)", rows[i].text, err.text);
        CU_ASSERT_EQUAL(valid, rows[i].valid);
    }
    CU_ASSERT_NOT_EQUAL(laz_json_scan("1\0", 2, NULL), 0);
    CU_ASSERT_NOT_EQUAL(laz_json_scan("\"\0\"", 3, NULL), 0);
}

static void scan_stops_at_64_levels(void)
{
    char text[256];

    memset(text, '[', 64);
    memset(text + 64, ']', 64);
    CU_ASSERT_EQUAL(laz_json_scan(text, 128, NULL), 0);
    memset(text, '[', 65);
    memset(text + 65, ']', 65);
    CU_ASSERT_EQUAL(laz_json_scan(text, 130, NULL), LAZ_EPARSE);
}

static void scan_finds_a_repeated_key_among_many(void)
{
    struct laz_buf buf = LAZ_BUF_INIT;

    laz_buf_puts(&buf, "{");
    for (int i = 0; i < 20000; i++)
        laz_buf_printf(&buf, "\"k%d\":%d,", i, i);
    size_t end = buf.len;
    laz_buf_puts(&buf, "\"other\":1}");
    CU_ASSERT_EQUAL(laz_json_scan(buf.data, buf.len, NULL), 0);
    buf.len = end;
    laz_buf_puts(&buf, "\"k777\":1}");
    CU_ASSERT_EQUAL(laz_json_scan(buf.data, buf.len, NULL), LAZ_EPARSE);
    laz_buf_fini(&buf);
}

static void reader_gives_tokens_in_order(void)
{
    static const char text[] =
        "{\"a\":[1,-2.50,\"x\\ty\"],\"b\":null,\"c\":{},\"d\":[],\"e\":true}";
    static const uint32_t types[] = {
        LAZ_JSON_OBJECT_BEGIN, LAZ_JSON_KEY,         LAZ_JSON_ARRAY_BEGIN,  LAZ_JSON_NUMBER,
        LAZ_JSON_NUMBER,       LAZ_JSON_STRING,      LAZ_JSON_ARRAY_END,    LAZ_JSON_KEY,
        LAZ_JSON_NULL,         LAZ_JSON_KEY,         LAZ_JSON_OBJECT_BEGIN, LAZ_JSON_OBJECT_END,
        LAZ_JSON_KEY,          LAZ_JSON_ARRAY_BEGIN, LAZ_JSON_ARRAY_END,    LAZ_JSON_KEY,
        LAZ_JSON_TRUE,         LAZ_JSON_OBJECT_END,  LAZ_JSON_END,          LAZ_JSON_END,
    };
    const struct laz_json_api *api = laz_json_api();
    struct laz_json_reader *reader = api->reader_new(text, sizeof text - 1);
    struct laz_json_token token;

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        CU_ASSERT_EQUAL(api->peek(reader), types[i]);
        CU_ASSERT_EQUAL(api->next(reader, &token), types[i]);
        if (i == 4)
            UNIT_TEXT(token.text, "-2.50");
        if (i == 5)
            UNIT_TEXT(token.text, "x\ty");
    }
    CU_ASSERT_FALSE(api->reader_failed(reader));
    api->reader_free(reader);
}

static void reader_tells_tagged_forms(void)
{
    static const char text[] =
        "[{\"$date\":\"2024-01-31\"}, {\"$x\":1,\"y\":2}, {\"a\":1}, 5, {\"$int\" : [1, {}] } ]";
    const struct laz_json_api *api = laz_json_api();
    struct laz_json_reader *reader = api->reader_new(text, sizeof text - 1);
    struct laz_json_token token;
    const char *raw;
    size_t len;

    api->next(reader, &token);
    UNIT_TEXT(api->peek_tag(reader), "$date");
    CU_ASSERT_TRUE(api->skip(reader, &raw, &len));
    CU_ASSERT_EQUAL(len, 22);
    CU_ASSERT_PTR_NULL(api->peek_tag(reader));
    CU_ASSERT_TRUE(api->skip(reader, NULL, NULL));
    CU_ASSERT_PTR_NULL(api->peek_tag(reader));
    CU_ASSERT_TRUE(api->skip(reader, NULL, NULL));
    CU_ASSERT_PTR_NULL(api->peek_tag(reader));
    CU_ASSERT_TRUE(api->skip(reader, NULL, NULL));
    UNIT_TEXT(api->peek_tag(reader), "$int");
    CU_ASSERT_TRUE(api->skip(reader, NULL, NULL));
    CU_ASSERT_FALSE(api->skip(reader, NULL, NULL));
    CU_ASSERT_EQUAL(api->next(reader, &token), LAZ_JSON_ARRAY_END);
    api->reader_free(reader);
}

static void reader_stops_at_malformed_text(void)
{
    static const char *const rows[] = {"{\"a\" 1}", "[1 2]", "[",       "{1:2}",
                                       "tru",       "\"x",   "{\"a\":}"};
    const struct laz_json_api *api = laz_json_api();
    struct laz_json_token token;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_json_reader *reader = api->reader_new(rows[i], strlen(rows[i]));
        for (int steps = 0; steps < 100 && api->next(reader, &token); steps++)
            ;
        CU_ASSERT_TRUE(api->reader_failed(reader));
        api->reader_free(reader);
    }
}

static void writer_text_reads_back(void)
{
    const struct laz_json_api *api = laz_json_api();
    struct laz_json_writer *w = api->writer_new(0);
    size_t len;

    api->object_begin(w);
    CU_ASSERT_TRUE(api->key(w, "a\"", 2));
    api->array_begin(w);
    api->write_int(w, -3);
    api->write_int(w, INT64_C(9007199254740993));
    api->write_double(w, 2, false);
    api->write_double(w, 2, true);
    api->write_double(w, 0.1 + 0.2, false);
    api->write_double(w, NAN, false);
    api->write_double(w, -INFINITY, false);
    api->array_end(w);
    CU_ASSERT_FALSE(api->key(w, "\xff", 1));
    api->key(w, "s", 1);
    api->write_string(w, "\x01\n\"\\\xc3\xa9x/", 8);
    api->key(w, "b", 1);
    api->write_string(w, "a\0b", 3);
    api->key(w, "e", 1);
    api->object_begin(w);
    api->object_end(w);
    api->key(w, "n", 1);
    api->write_null(w);
    api->object_end(w);
    const char *text = api->writer_text(w, &len, NULL);
    UNIT_TEXT(text, "{\"a\\\"\":[-3,{\"$int\":\"9007199254740993\"},2,2.0,0.30000000000000004,"
                    "{\"$num\":\"NaN\"},{\"$num\":\"-Inf\"}],"
                    "\"s\":\"\\u0001\\n\\\"\\\\\xc3\xa9x/\",\"b\":{\"$bytes\":\"YQBi\"},\"e\":{},"
                    "\"n\":null}");
    CU_ASSERT_EQUAL(laz_json_scan(text, len, NULL), 0);
    api->writer_free(w);
}

static void writer_keeps_its_limit(void)
{
    const struct laz_json_api *api = laz_json_api();
    struct laz_json_writer *w = api->writer_new(100);
    bool too_large = false;
    int written = 0;

    api->array_begin(w);
    for (int i = 0; i < 1000 && !api->writer_failed(w); i++, written++)
        api->write_int(w, 1000 + i);
    CU_ASSERT_PTR_NULL(api->writer_text(w, NULL, &too_large));
    CU_ASSERT_TRUE(too_large);
    CU_ASSERT(written < 30);
    api->writer_reset(w);
    api->write_string(w, "fits", 4);
    UNIT_TEXT(api->writer_text(w, NULL, NULL), "\"fits\"");
    api->writer_free(w);
}

static void doubles_round_trip_in_any_locale(void)
{
    static const double rows[] = {0.1,  1e-320, 1.7976931348623157e308, -123456.789,
                                  1e15, 1e16,   4503599627370496.5,     3.0000000000000004,
                                  -0.0};
    const char *locales[] = {"C", "de_DE.UTF-8"};

    for (size_t k = 0; k < 2; k++) {
        setlocale(LC_ALL, locales[k]); /* where it is installed */
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            struct laz_buf buf = LAZ_BUF_INIT;
            laz_json_format_double(&buf, rows[i], false);
            double back = laz_json_strtod(laz_buf_text(&buf), buf.len);
            CU_ASSERT_EQUAL(memcmp(&back, &rows[i], sizeof back), 0);
            CU_ASSERT_EQUAL(laz_json_scan(laz_buf_text(&buf), buf.len, NULL), 0);
            laz_buf_fini(&buf);
        }
    }
    setlocale(LC_ALL, "C");
}

static void quote_replaces_what_is_not_text(void)
{
    struct laz_buf buf = LAZ_BUF_INIT;

    laz_json_quote(&buf, "a\xff\0b", 4);
    UNIT_TEXT(laz_buf_text(&buf), "\"a\xef\xbf\xbd\xef\xbf\xbd"
                                  "b\"");
    laz_buf_fini(&buf);
}

static void members_are_found_without_a_tree(void)
{
    static const char text[] = " { \"a\" : [1,{\"b\":2}], \"b\":\"x\\u0041\", \"n\":3.0 } ";
    const char *raw;
    size_t len;
    int64_t number;

    CU_ASSERT_TRUE(laz_json_member(text, sizeof text - 1, "b", &raw, &len));
    char *string = laz_json_to_string(raw, len, NULL);
    UNIT_TEXT(string, "xA");
    free(string);
    CU_ASSERT_FALSE(laz_json_member(text, sizeof text - 1, "c", &raw, &len));
    CU_ASSERT_TRUE(laz_json_member(text, sizeof text - 1, "n", &raw, &len));
    CU_ASSERT_TRUE(laz_json_to_int(raw, len, &number));
    CU_ASSERT_EQUAL(number, 3);
    CU_ASSERT_FALSE(laz_json_to_int("2.5", 3, &number));
    CU_ASSERT_FALSE(laz_json_to_int("9007199254740994", 16, &number));
    CU_ASSERT_PTR_NULL(laz_json_to_string("5", 1, NULL));
}

static void compact_keeps_strings(void)
{
    static const char text[] = "{ \"a b\" :\n [ 1 , \" x \\\" \" ] }";
    struct laz_buf buf = LAZ_BUF_INIT;

    laz_json_compact(&buf, text, sizeof text - 1);
    UNIT_TEXT(laz_buf_text(&buf), "{\"a b\":[1,\" x \\\" \"]}");
    laz_buf_fini(&buf);
}

static void trees_are_scanned_first(void)
{
    struct laz_error err = {0};

    CU_ASSERT_PTR_NULL(laz_json_parse("{\"a\":1,\"a\":2}", 13, &err));
    CU_ASSERT_EQUAL(err.code, LAZ_EPARSE);
    struct laz_json *root = laz_json_parse("{\"A\":\"x\",\"a\":[1,true]}", 22, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(root);
    UNIT_TEXT(laz_json_string(laz_json_get(root, "A")), "x");
    const struct laz_json *list = laz_json_get(root, "a");
    CU_ASSERT_EQUAL(laz_json_type(list), LAZ_JSON_ARRAY_BEGIN);
    CU_ASSERT_EQUAL(laz_json_number(laz_json_first(list)), 1);
    CU_ASSERT_TRUE(laz_json_is_true(laz_json_next(laz_json_first(list))));
    CU_ASSERT_PTR_NULL(laz_json_get(root, "b"));
    UNIT_TEXT(laz_json_key(list), "a");
    laz_json_free(root);
}

static const struct unit_test tests[] = {
    UNIT(scan_accepts_json_and_nothing_else),
    UNIT(scan_stops_at_64_levels),
    UNIT(scan_finds_a_repeated_key_among_many),
    UNIT(reader_gives_tokens_in_order),
    UNIT(reader_tells_tagged_forms),
    UNIT(reader_stops_at_malformed_text),
    UNIT(writer_text_reads_back),
    UNIT(writer_keeps_its_limit),
    UNIT(doubles_round_trip_in_any_locale),
    UNIT(quote_replaces_what_is_not_text),
    UNIT(members_are_found_without_a_tree),
    UNIT(compact_keeps_strings),
    UNIT(trees_are_scanned_first),
    {0},
};

int main(void)
{
    return unit_run("json", tests);
}
