/* SPDX-License-Identifier: MIT */
/* test_json.c - the scan, the reader, the writer, trees. */
#include "unit.h"

#include "base/json.h"
#include "base/json_lex.h"
#ifdef HAVE_FAULTS
#include "fault.h"
#endif

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

/* In one table, and so many that they are divided: those at the borders, and some between. */
static void scan_finds_a_repeated_key_among_many(void)
{
    static const int many[] = {20000, 32766, 32767, 32768, 100000};

    for (size_t row = 0; row < sizeof many / sizeof *many; row++) {
        struct laz_buf buf = LAZ_BUF_INIT;
        laz_buf_puts(&buf, "{");
        for (int i = 0; i < many[row]; i++)
            laz_buf_printf(&buf, i % 3 == 1 ? "\"\\u006b%d\":%d," : "\"k%d\":%d,", i, i);
        size_t end = buf.len;
        laz_buf_puts(&buf, "\"other\":{\"k1\":0}}");
        CU_ASSERT_EQUAL(laz_json_scan(buf.data, buf.len, NULL), 0);
        for (int i = 0; i < many[row]; i += many[row] / 5 + 1) {
            buf.len = end;
            laz_buf_printf(&buf, "\"k%d\":1}", i);
            CU_ASSERT_EQUAL(laz_json_scan(buf.data, buf.len, NULL), LAZ_EPARSE);
        }
        laz_buf_fini(&buf);
    }
}

/* Objects of all sizes around that from which a hash table is used, with each pair of places, plain
 * and with escapes, inside an object that has the same key, and after one. */
static void scan_finds_each_repeated_key(void)
{
    for (int n = 2; n <= 20; n++) {
        for (int again = 0; again < n * n; again++) {
            int one = again / n, other = again % n;
            struct laz_buf buf = LAZ_BUF_INIT;
            laz_buf_puts(&buf, "{\"\\u006b0\":{\"k0\":0},\"k1\":{");
            for (int i = 0; i < n; i++)
                laz_buf_printf(&buf, i % 3 == 1 ? "%s\"\\u006b%x\":0" : "%s\"k%x\":0", i ? "," : "",
                               (unsigned)(i == other ? one : i));
            laz_buf_puts(&buf, "}}");
            CU_ASSERT_EQUAL(laz_json_scan(buf.data, buf.len, NULL), one == other ? 0 : LAZ_EPARSE);
            laz_buf_fini(&buf);
        }
    }
}

#ifdef HAVE_FAULTS
static void scan_reports_a_failed_allocation(void)
{
    static const char text[] = "{\"\\u0061\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,"
                               "\"h\":8,\"i\":9,\"j\":10}"; /* enough for a hash table */
    unsigned long n = 0;
    int rc;

    do {
        struct laz_error err = {0};
        fault_begin(++n, false);
        rc = laz_json_scan(text, sizeof text - 1, &err);
        fault_end();
        CU_ASSERT(rc == err.code && (rc == 0 || rc == LAZ_ENOMEM));
    } while (rc && n < 100);
    CU_ASSERT_EQUAL(n, 4); /* the keys, the decoded one, the table; then none fails */
}
#endif

/* 2^1024 - 2^970; smaller numbers are rounded to the largest double. */
#define TOO_LARGE                                                                                  \
    "17976931348623158079372897140530341507993413271003782693617377898044496829276475094664901797" \
    "75872070963302864166928879109465555478519404026306574886715058206819089020007083836762738548" \
    "45817711531764475730270069855571366959622842914819860834936475292719074168444365510704342711" \
    "559699508093042880177904174497"
#define ZEROS "00000000000000000000000000000000000000000000000000"

static void scan_knows_the_range_of_a_double(void)
{
    static const struct {
        const char *text;
        bool valid;
    } rows[] = {
        {TOO_LARGE "792", false},
        {"-" TOO_LARGE "792", false},
        {TOO_LARGE "791", true},
        {TOO_LARGE "791.99999", true},
        {TOO_LARGE "792.0", false},
        {TOO_LARGE "793", false},
        {TOO_LARGE "7920", false},
        {"0." TOO_LARGE "792e309", false},
        {"0." TOO_LARGE "791e309", true},
        {"0.000" TOO_LARGE "792e312", false},
        {"0.000" TOO_LARGE "791e312", true},
        {TOO_LARGE "80e1", false},
        {TOO_LARGE "7920e-1", false},
        {TOO_LARGE "7919e-1", true},
        {"1.7976931348623157e308", true},
        {"1.7976931348623158e308", true},
        {"1.7976931348623159e308", false},
        {"1.8e308", false},
        {"17.9e307", true},
        {"18e307", false},
        {"9.9e307", true},
        {"1E+308", true},
        {"1e309", false},
        {"0.1e309", true},
        {"0.1e310", false},
        {"0e999999999999999999999999", true},
        {"0.000e999999999999999999999999", true},
        {"-1e-999999999999999999999999", true},
        {"1e999999999999999999999999", false},
        {"1" ZEROS ZEROS ZEROS ZEROS ZEROS ZEROS "00000000", true},
        {"1" ZEROS ZEROS ZEROS ZEROS ZEROS ZEROS "000000000", false},
        {"1" ZEROS ZEROS ZEROS ZEROS ZEROS ZEROS "000000000e-1", true},
        {"0." ZEROS ZEROS "1e408", true},
        {"0." ZEROS ZEROS "1e410", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t len = strlen(rows[i].text);
        bool valid = laz_json_scan(rows[i].text, len, NULL) == 0;
        if (valid != rows[i].valid)
            printf("\n    row %zu: %s", i, rows[i].text);
        CU_ASSERT_EQUAL(valid, rows[i].valid);
        CU_ASSERT_EQUAL(isfinite(laz_json_strtod(rows[i].text, len)) != 0, rows[i].valid);
    }
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
        setlocale(LC_ALL, locales[k]); /* if the locale is installed */
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

/* Pieces of text at each position around the size of one write. */
static void quote_writes_the_same_wherever_it_stands(void)
{
    static const struct {
        const char *text, *quoted;
    } rows[] = {
        {"\x01", "\\u0001"},
        {"\x1f", "\\u001f"},
        {"\n\r\t", "\\n\\r\\t"},
        {"\"\\", "\\\"\\\\"},
        {"\x7f/", "\x7f/"},
        {"\xc3\xa9\xf0\x9f\x98\x80", "\xc3\xa9\xf0\x9f\x98\x80"},
        {"\xe2\x80", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xff\xc1", "\xef\xbf\xbd\xef\xbf\xbd"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t before = 1018; before < 1026; before++) {
            struct laz_buf text = LAZ_BUF_INIT, expected = LAZ_BUF_INIT, quoted = LAZ_BUF_INIT;
            laz_buf_printf(&text, "%0*d%sz%s", (int)before, 0, rows[i].text, rows[i].text);
            laz_buf_printf(&expected, "\"%0*d%sz%s\"", (int)before, 0, rows[i].quoted,
                           rows[i].quoted);
            laz_json_quote(&quoted, text.data, text.len);
            UNIT_TEXT(quoted.data, expected.data);
            laz_buf_fini(&text);
            laz_buf_fini(&expected);
            laz_buf_fini(&quoted);
        }
    }
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

/* The agent does not scan the lines of its host in a session. */
static void text_that_was_not_scanned_is_no_integer(void)
{
    static const char *const texts[] = {
        "1zzzzzzzzzzzzzzz",
        "1false1",
        "1e!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!",
        "--1",
        "1-",
        "1.!",
        "1e1!",
        "1\377\377",
        "1ezzzzzzzzzzzzzzzzzzzzzzzzzzzzzz",
        "1/",
        "1..2",
    };
    int64_t number;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CU_ASSERT_FALSE(laz_json_to_int(texts[i], strlen(texts[i]), &number));
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
    CU_ASSERT_EQUAL(laz_json_type(laz_json_next(laz_json_first(list))), LAZ_JSON_TRUE);
    CU_ASSERT_PTR_NULL(laz_json_get(root, "b"));
    UNIT_TEXT(laz_json_key(list), "a");
    laz_json_free(root);
}

static void members_are_found_with_and_without_the_check(void)
{
    static const struct {
        const char *text;
        size_t n; /* members; SIZE_MAX: not an object */
    } rows[] = {
        {"{}", 0},
        {" { } ", 0},
        {"{\"a\":1}", 1},
        {"{ \"a\" : [1,{\"b\":2}] , \"\\u0063\" : \"}\" , \"d\":{} }", 3},
        {"{\"a\":\"\\\"\",\"b\":-1.5e3,\"c\":null,\"d\":true,\"e\":[]}", 5},
        {"[]", SIZE_MAX},
        {"7", SIZE_MAX},
        {"[{\"a\":1}]", SIZE_MAX},
    };

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct laz_json_found checked[4], found[4];
        size_t n, m, len = strlen(rows[k].text);
        CU_ASSERT_EQUAL(laz_json_scan_members(rows[k].text, len, checked, 4, &n, NULL), 0);
        bool is_object = laz_json_find_members(rows[k].text, len, found, 4, &m);
        CU_ASSERT_EQUAL(is_object, rows[k].n != SIZE_MAX);
        CU_ASSERT_EQUAL(n, is_object ? rows[k].n : 0);
        if (is_object)
            CU_ASSERT_EQUAL(m, n);
        for (size_t i = 0; is_object && i < n && i < 4; i++) {
            CU_ASSERT_PTR_EQUAL(checked[i].key, found[i].key);
            CU_ASSERT_EQUAL(checked[i].key_len, found[i].key_len);
            CU_ASSERT_PTR_EQUAL(checked[i].raw, found[i].raw);
            CU_ASSERT_EQUAL(checked[i].len, found[i].len);
            CU_ASSERT_TRUE(
                laz_json_found_is(&found[i], (char[]){(char)('a' + i + (i && n == 3)), 0}));
        }
    }
}

static void members_of_broken_text_end_in_time(void)
{
    static const char *const texts[] = {"",           "{",         "{\"",      "{\"a",
                                        "{\"a\"",     "{\"a\":",   "{\"a\":1", "{\"a\":1,",
                                        "{\"a\":1,}", "{,}",       "{a:1}",    "{\"a\":1}}",
                                        "{\"a\" 1}",  "{\"a\":\"", "{\"a\":]}"};
    struct laz_json_found found[2];
    size_t n;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CU_ASSERT_FALSE(laz_json_find_members(texts[i], strlen(texts[i]), found, 2, &n));
        CU_ASSERT_EQUAL(laz_json_scan_members(texts[i], strlen(texts[i]), found, 2, &n, NULL),
                        LAZ_EPARSE);
    }
}

static void items_of_a_list_come_one_by_one(void)
{
    static const char text[] = " [ 1 ,\"a,]\" , [2,3],{} ] ";
    static const char *const expected[] = {"1", "\"a,]\"", "[2,3]", "{}"};
    static const struct {
        const char *text;
        bool failed;
    } rows[] = {{"[]", false}, {"[ ]", false}, {"", true},
                {"{}", true},  {"[1", true},   {"[1,]", true}};
    struct laz_json_items items = laz_json_items(text, sizeof text - 1);
    const char *raw;
    size_t len, n = 0;

    for (; laz_json_next_item(&items, &raw, &len); n++) {
        CU_ASSERT_EQUAL_FATAL(len, strlen(expected[n]));
        CU_ASSERT_EQUAL(memcmp(raw, expected[n], len), 0);
    }
    CU_ASSERT_EQUAL(n, 4);
    CU_ASSERT_FALSE(items.failed);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        items = laz_json_items(rows[i].text, strlen(rows[i].text));
        while (laz_json_next_item(&items, &raw, &len))
            ;
        CU_ASSERT_EQUAL(items.failed, rows[i].failed);
    }
}

static void documents_are_written_front_to_back(void)
{
    struct laz_buf text = LAZ_BUF_INIT;
    struct laz_json_write write = {.to = &text};
    struct laz_strv texts = LAZ_STRV_INIT;

    laz_strv_add(&texts, "x");
    laz_strv_add(&texts, "y");
    laz_json_begin_object(&write, NULL);
    laz_json_add_text(&write, "text", "a\"\n");
    laz_json_add_text(&write, "none", NULL);
    laz_json_add_int(&write, "int", INT64_MIN);
    laz_json_add_uint(&write, "uint", UINT64_MAX);
    laz_json_begin_list(&write, "list");
    laz_json_new_line(&write); /* the first item begins none */
    laz_json_begin_object(&write, NULL);
    laz_json_end_object(&write);
    laz_json_new_line(&write);
    laz_json_add_bool(&write, NULL, true);
    laz_json_end_list(&write);
    laz_json_add_texts(&write, "texts", &texts);
    laz_json_add_raw(&write, "raw", "[1]", 3);
    laz_json_add_key(&write, "key");
    laz_buf_puts(&text, "2");
    laz_json_add_bytes(&write, "bytes", "ab\xff", 3);
    laz_json_end_object(&write);
    UNIT_TEXT(laz_buf_text(&text),
              "{\"text\":\"a\\\"\\n\",\"none\":null,\"int\":-9223372036854775808,"
              "\"uint\":18446744073709551615,\"list\":[{},\n true],\"texts\":[\"x\",\"y\"],"
              "\"raw\":[1],\"key\":2,\"bytes\":\"ab\xef\xbf\xbd\"}");
    laz_strv_fini(&texts);
    laz_buf_fini(&text);
}

static const struct unit_test tests[] = {
    UNIT(scan_accepts_json_and_nothing_else),
    UNIT(scan_stops_at_64_levels),
    UNIT(scan_finds_a_repeated_key_among_many),
    UNIT(scan_finds_each_repeated_key),
#ifdef HAVE_FAULTS
    UNIT(scan_reports_a_failed_allocation),
#endif
    UNIT(scan_knows_the_range_of_a_double),
    UNIT(reader_gives_tokens_in_order),
    UNIT(reader_tells_tagged_forms),
    UNIT(reader_stops_at_malformed_text),
    UNIT(writer_text_reads_back),
    UNIT(writer_keeps_its_limit),
    UNIT(doubles_round_trip_in_any_locale),
    UNIT(quote_replaces_what_is_not_text),
    UNIT(quote_writes_the_same_wherever_it_stands),
    UNIT(members_are_found_without_a_tree),
    UNIT(text_that_was_not_scanned_is_no_integer),
    UNIT(compact_keeps_strings),
    UNIT(trees_are_scanned_first),
    UNIT(members_are_found_with_and_without_the_check),
    UNIT(members_of_broken_text_end_in_time),
    UNIT(items_of_a_list_come_one_by_one),
    UNIT(documents_are_written_front_to_back),
    {0},
};

int main(void)
{
    return unit_run("json", tests);
}
