/* SPDX-License-Identifier: MIT */
/* test_toml.c - the TOML reader: toml-test's files, positions, problems, caps, notation.
 *
 * toml-test is the conformance suite of the TOML project; its files come with the Debian package
 * golang-github-burntsushi-toml-dev.  Every valid file has its expected tree beside it as JSON. */
#include "unit.h"

#include "base/buf.h"
#include "base/json.h"
#include "settings/toml/toml.h"

#include <ctype.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOML_TEST "/usr/share/gocode/src/github.com/BurntSushi/toml/internal/toml-test/tests"

static bool read_whole(const char *path, struct laz_buf *buf)
{
    char piece[4096];
    size_t n;
    FILE *file = fopen(path, "rb");

    if (!file)
        return false;
    laz_buf_append(buf, "", 0);
    while ((n = fread(piece, 1, sizeof piece, file)) > 0)
        laz_buf_append(buf, piece, n);
    fclose(file);
    return !buf->failed;
}

static bool has_suffix(const char *text, const char *suffix)
{
    size_t n = strlen(text), m = strlen(suffix);

    return n >= m && strcmp(text + n - m, suffix) == 0;
}

/* ---- toml-test --------------------------------------------------------------------------------*/

static const struct {
    const char *name;
    enum laz_toml_type type;
} tagged_types[] = {
    {"string", LAZ_TOML_STRING},         {"integer", LAZ_TOML_INTEGER},
    {"float", LAZ_TOML_FLOAT},           {"bool", LAZ_TOML_BOOLEAN},
    {"datetime", LAZ_TOML_DATETIME},     {"datetime-local", LAZ_TOML_LOCAL_DATETIME},
    {"date-local", LAZ_TOML_LOCAL_DATE}, {"time-local", LAZ_TOML_LOCAL_TIME},
};

/* Removes insignificant zeros at the end of a time's fraction. */
static void trim_fraction(const char *text, char *out, size_t size)
{
    const char *point = strchr(text, '.');

    snprintf(out, size, "%s", text);
    if (!point)
        return;
    size_t digits = strspn(point + 1, "0123456789"), used = digits;
    while (used && point[used] == '0')
        used--;
    snprintf(out + (point - text), size - (size_t)(point - text), "%.*s%s",
             (int)(used ? used + 1 : 0), point, point + 1 + digits);
}

/* Texts of the JSON reader end at a NUL: of an expected tree its escapes become those of a
 * character that no file has. */
#define NUL_ESCAPE "\\uf8fe"
#define NUL_TEXT   "\xef\xa3\xbe"

static void escape_nul(char *json)
{
    for (char *p = strchr(json, '\\'); p && p[1]; p = strchr(p + 2, '\\'))
        if (strncmp(p, "\\u0000", 6) == 0)
            memcpy(p, NUL_ESCAPE, 6);
}

static bool text_matches(const char *text, size_t len, const char *value)
{
    for (size_t i = 0; i < len; i++) {
        const char *wanted = text[i] ? (char[]){text[i], '\0'} : NUL_TEXT;
        if (strncmp(value, wanted, strlen(wanted)) != 0)
            return false;
        value += strlen(wanted);
    }
    return !*value;
}

static bool scalar_matches(const struct laz_toml_node *node, const char *value)
{
    char actual[128], expected[128];

    switch (node->type) {
    case LAZ_TOML_STRING:
        return text_matches(node->text, node->len, value);
    case LAZ_TOML_INTEGER:
        return strtoll(value, NULL, 10) == node->integer;
    case LAZ_TOML_BOOLEAN:
        return strcmp(value, node->boolean ? "true" : "false") == 0;
    case LAZ_TOML_FLOAT:
        return isnan(node->number) ? strstr(value, "nan") != NULL
                                   : strtod(value, NULL) == node->number;
    default:
        trim_fraction(node->text, actual, sizeof actual);
        trim_fraction(value, expected, sizeof expected);
        return strcmp(actual, expected) == 0;
    }
}

static bool node_matches(const struct laz_toml_node *node, const struct laz_json *json)
{
    const char *type = laz_json_string(laz_json_get(json, "type"));
    const char *value = laz_json_string(laz_json_get(json, "value"));
    size_t n = 0;

    if (type && value) {
        for (size_t i = 0; i < sizeof tagged_types / sizeof tagged_types[0]; i++)
            if (strcmp(tagged_types[i].name, type) == 0)
                return tagged_types[i].type == node->type && scalar_matches(node, value);
        return false;
    }
    if (laz_json_type(json) == LAZ_JSON_ARRAY_BEGIN) {
        const struct laz_toml_node *item = node->first;
        for (json = laz_json_first(json); json && item; json = laz_json_next(json)) {
            if (!node_matches(item, json))
                return false;
            item = item->next;
        }
        return node->type == LAZ_TOML_ARRAY && !json && !item;
    }
    for (json = laz_json_first(json); json; json = laz_json_next(json), n++) {
        const struct laz_toml_node *child = node->first;
        while (child && !text_matches(child->key, child->key_len, laz_json_key(json)))
            child = child->next;
        if (!child || !node_matches(child, json))
            return false;
    }
    return node->type == LAZ_TOML_TABLE && node->n == n;
}

/* Files that toml-test lists as excluded for TOML 1.0, since they are of 1.1: escapes (1.0: "All
 * other escape sequences not listed above are reserved; if they are used, TOML should produce an
 * error."), times without seconds, lines within inline tables, keys of any letters. */
static bool is_later_than_1_0(const char *path)
{
    static const char *const later[] = {
        "/valid/string/escape-esc.toml",   "/valid/string/hex-escape.toml",
        "/valid/datetime/no-seconds.toml", "/valid/inline-table/newline.toml",
        "/valid/key/unicode.toml",
    };

    for (size_t i = 0; i < sizeof later / sizeof *later; i++)
        if (has_suffix(path, later[i]))
            return true;
    return false;
}

static unsigned files_seen;

static int check_valid(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    struct laz_buf text = LAZ_BUF_INIT, expected = LAZ_BUF_INIT;
    struct laz_toml *toml = NULL;
    struct laz_error err = {0};

    (void)info;
    (void)where;
    if (kind != FTW_F || !has_suffix(path, ".toml"))
        return 0;
    files_seen++;
    char *json_path = laz_strdupf("%.*s.json", (int)(strlen(path) - 5), path);
    CU_ASSERT_FATAL(json_path && read_whole(path, &text) && read_whole(json_path, &expected));
    escape_nul(expected.data);
    int rc = laz_toml_parse(text.data, text.len, "f", &toml, &err);
    if (is_later_than_1_0(path)) {
        CU_ASSERT_EQUAL(rc, LAZ_EPARSE);
    } else {
        struct laz_json *json = laz_json_parse(expected.data, expected.len, NULL);
        bool matches = rc == 0 && json && node_matches(toml->root, json);
        if (!matches)
            printf("\n    %s: %s", path, rc ? err.text : "other value");
        CU_ASSERT(matches);
        laz_json_free(json);
    }
    laz_toml_free(toml);
    laz_buf_fini(&text);
    laz_buf_fini(&expected);
    free(json_path);
    return 0;
}

static bool is_refused(const char *text, size_t len)
{
    struct laz_toml *toml = NULL;
    struct laz_error err = {0};
    int rc = laz_toml_parse(text, len, "f", &toml, &err);
    bool refused = rc == LAZ_EPARSE && toml->n_problems && toml->problems[0].line &&
                   strncmp(err.text, "f:", 2) == 0;

    laz_toml_free(toml);
    return refused;
}

/* Checks a file in which each line is wrong; control characters in it are written \xNN. */
static void check_lines(const char *path, const struct laz_buf *text)
{
    char line[512];

    for (const char *p = text->data; *p;) {
        size_t n = strcspn(p, "\n"), used = 0;
        for (size_t i = 0; i < n && used < sizeof line; i++) {
            unsigned code;
            if (n - i >= 4 && isxdigit((unsigned char)p[i + 2]) &&
                sscanf(p + i, "\\x%2x", &code) == 1) {
                line[used++] = (char)code;
                i += 3;
            } else {
                line[used++] = p[i];
            }
        }
        if (used && line[0] != '#') {
            files_seen++;
            bool refused = is_refused(line, used);
            if (!refused)
                printf("\n    accepted, of %s: %.*s", path, (int)n, p);
            CU_ASSERT(refused);
        }
        p += n + (p[n] == '\n');
    }
}

static int check_invalid(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    struct laz_buf text = LAZ_BUF_INIT;

    (void)info;
    (void)where;
    if (kind != FTW_F)
        return 0;
    CU_ASSERT_FATAL(read_whole(path, &text));
    if (has_suffix(path, ".multi")) {
        check_lines(path, &text);
    } else if (has_suffix(path, ".toml")) {
        files_seen++;
        bool refused = is_refused(text.data, text.len);
        if (!refused)
            printf("\n    accepted: %s", path);
        CU_ASSERT(refused);
    }
    laz_buf_fini(&text);
    return 0;
}

static void toml_reads_every_valid_file_of_toml_test(void)
{
    if (access(TOML_TEST, R_OK) != 0) {
        unit_skip("toml-test", "golang-github-burntsushi-toml-dev is not installed");
        return;
    }
    files_seen = 0;
    CU_ASSERT_EQUAL(nftw(TOML_TEST "/valid", check_valid, 16, FTW_PHYS), 0);
    CU_ASSERT(files_seen >= 90);
}

static void toml_refuses_every_invalid_file_of_toml_test(void)
{
    if (access(TOML_TEST, R_OK) != 0) {
        unit_skip("toml-test", "golang-github-burntsushi-toml-dev is not installed");
        return;
    }
    files_seen = 0;
    CU_ASSERT_EQUAL(nftw(TOML_TEST "/invalid", check_invalid, 16, FTW_PHYS), 0);
    CU_ASSERT(files_seen >= 250);
}

/* ---- rules that toml-test's version does not cover --------------------------------------------*/

static void toml_accepts_and_refuses_by_the_rules_of_tables(void)
{
    static const char *const fine[] = {
        "[a.b.c]\n[a]\nd.e = 1\n[a.d.f]\n",  "a.b = 1\na.c = 2\n[x]\n[a.d]\n",
        "[[a]]\nb.c = 1\n[[a]]\nb.c = 1\n",  "[[a.b]]\n[a.b.c]\n[[a.b]]\n[a.b.c]\n",
        "x = { a.b = 1, a.c = 2 }\n",        "\"\".a = 1\n'' . '' = 2\n",
        "t = 2024-02-29 23:59:60.5+01:30\n", "x = 0e0\ny = -0\nz = 1_0.0_1e+0_1\n",
    };
    static const char *const wrong[] = {
        "a.b = 1\n[a]\n",
        "a.b = 1\n[a.b]\n",
        "a = {}\na.b = 1\n",
        "a = {}\n[a.b]\n",
        "a = [{}]\n[[a]]\n",
        "a = [{}]\n[a.b]\n",
        "[[a]]\n[a]\n",
        "[a]\n[[a]]\n",
        "[a.b]\nx = 1\n[a]\nb.y = 2\n",
        "[[a.b]]\n[a]\nb.y = 2\n",
        "x = { a = { b = 1 }, a.c = 2 }\n",
        "a.b.c = 1\na.b = 2\n",
        "x = 2023-02-29\n",
        "x = 2024-13-01\n",
        "x = 24:00:00\n",
        "x = 9223372036854775808\n",
        "x = 1e999\n",
        "x = 1.e1\n",
        "x = \"\\ud800\"\n",
        "x = 1 y = 2\n",
        "[[a]\n",
        "[ [a]]\n",
        "[[a] ]\n",
        "x = \"\"\"\"\"\"\"\"\"\n",
        "x = [1,,2]\n",
        "x = {a=1,}\n",
        "x\n",
        "= 1\n",
        "x = '\x7f'\n",
    };

    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
        struct laz_toml *toml = NULL;
        struct laz_error err = {0};
        int rc = laz_toml_parse(fine[i], strlen(fine[i]), "f", &toml, &err);
        if (rc)
            printf("\n    refused: %s\n    %s", fine[i], err.text);
        CU_ASSERT_EQUAL(rc, 0);
        laz_toml_free(toml);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (!is_refused(wrong[i], strlen(wrong[i])))
            printf("\n    accepted: %s", wrong[i]);
        CU_ASSERT(is_refused(wrong[i], strlen(wrong[i])));
    }
}

static void toml_accepts_the_largest_integers(void)
{
    static const char text[] = "a = 9223372036854775807\nb = -9223372036854775808\n"
                               "c = 0x7fff_ffff_ffff_ffff\nd = 0o17\ne = 0b101\n";
    struct laz_toml *toml = NULL;

    CU_ASSERT_EQUAL_FATAL(laz_toml_parse(text, strlen(text), "f", &toml, NULL), 0);
    CU_ASSERT_EQUAL(laz_toml_get(toml->root, "a")->integer, INT64_MAX);
    CU_ASSERT_EQUAL(laz_toml_get(toml->root, "b")->integer, INT64_MIN);
    CU_ASSERT_EQUAL(laz_toml_get(toml->root, "c")->integer, INT64_MAX);
    CU_ASSERT_EQUAL(laz_toml_get(toml->root, "d")->integer, 15);
    CU_ASSERT_EQUAL(laz_toml_get(toml->root, "e")->integer, 5);
    laz_toml_free(toml);
}

/* ---- positions and problems -------------------------------------------------------------------*/

static void toml_knows_where_every_node_stands(void)
{
    static const char text[] = "# \xc3\xa4\n[t]\n  'k\xc3\xa4' = [1,\n   \"\xc3\xa4\", 3]\n";
    struct laz_toml *toml = NULL;

    CU_ASSERT_EQUAL_FATAL(laz_toml_parse(text, strlen(text), "f", &toml, NULL), 0);
    const struct laz_toml_node *table = laz_toml_get(toml->root, "t");
    const struct laz_toml_node *list = laz_toml_get(table, "k\xc3\xa4");
    CU_ASSERT_FATAL(table && list && list->n == 3);
    CU_ASSERT(table->line == 2 && table->column == 1);
    CU_ASSERT(list->key_line == 3 && list->key_column == 3);
    CU_ASSERT(list->line == 3 && list->column == 10);
    CU_ASSERT(list->first->next->line == 4 && list->first->next->column == 4);
    CU_ASSERT(list->last->line == 4 && list->last->column == 9); /* in characters, not bytes */
    laz_toml_free(toml);
}

static void toml_reports_all_problems_of_a_document(void)
{
    static const char text[] = "a = 1\n"
                               "a = 2\n"
                               "b = nope\n"
                               "c 3\n"
                               "d = \"x\\q\\z\"\n"
                               "[t\n"
                               "a = 1\n"
                               "[u]\n"
                               "e = 4\n"
                               "f = 07\n"
                               "\"g\" = 'x\n";
    static const char *const expected[] = {
        "2:1: 'a' is already set, in line 1",
        "3:5: expected a value, found a word (text stands in quotes)",
        "4:3: expected '=' after the key 'c', found '3'",
        "5:7: a backslash may not stand before 'q' (a literal backslash is written \\\\, or the "
        "string in single quotes)",
        "5:9: a backslash may not stand before 'z' (a literal backslash is written \\\\, or the "
        "string in single quotes)",
        "6:3: expected ']' at the end of the header, found the end of the line",
        "10:5: this is not a number (text stands in quotes)",
        "11:7: the string that begins here is not closed on its line",
    };
    const size_t n = sizeof expected / sizeof expected[0];
    struct laz_toml *toml = NULL;
    struct laz_error err = {0};
    char line[256];

    CU_ASSERT_EQUAL(laz_toml_parse(text, strlen(text), "file.toml", &toml, &err), LAZ_EPARSE);
    CU_ASSERT_FATAL(toml != NULL);
    CU_ASSERT_EQUAL(toml->n_problems, n);
    for (size_t i = 0; i < n && i < toml->n_problems; i++) {
        snprintf(line, sizeof line, "%u:%u: %s", (unsigned)toml->problems[i].line,
                 (unsigned)toml->problems[i].column, toml->problems[i].text);
        UNIT_TEXT(line, expected[i]);
    }
    UNIT_TEXT(err.text, "file.toml:2:1: 'a' is already set, in line 1");
    CU_ASSERT_EQUAL(laz_toml_get(laz_toml_get(toml->root, "u"), "e")->integer, 4);
    laz_toml_free(toml);
}

static void toml_ends_at_a_statement_it_cannot_find_the_end_of(void)
{
    static const char text[] = "a = [1,\n b = 2\nc = nope\n";
    struct laz_toml *toml = NULL;

    CU_ASSERT_EQUAL(laz_toml_parse(text, strlen(text), "f", &toml, NULL), LAZ_EPARSE);
    CU_ASSERT_EQUAL_FATAL(toml->n_problems, 1);
    UNIT_TEXT(toml->problems[0].text, "expected a value, found a word (text stands in quotes)");
    laz_toml_free(toml);
}

/* ---- caps -------------------------------------------------------------------------------------*/

static void toml_refuses_too_large_a_text(void)
{
    struct laz_toml *toml = NULL;
    struct laz_error err = {0};
    char *text = malloc(LAZ_TOML_MAX_SIZE + 1);

    CU_ASSERT_FATAL(text != NULL);
    memset(text, '\n', LAZ_TOML_MAX_SIZE + 1);
    CU_ASSERT_EQUAL(laz_toml_parse(text, LAZ_TOML_MAX_SIZE, "f", &toml, &err), 0);
    laz_toml_free(toml);
    CU_ASSERT_EQUAL(laz_toml_parse(text, LAZ_TOML_MAX_SIZE + 1, "f", &toml, &err), LAZ_ETOOBIG);
    UNIT_TEXT(err.text, "f: the text is larger than 1024 KiB");
    CU_ASSERT_PTR_NULL(toml);
    free(text);
}

/* `before`, then `piece` n times. */
static void repeat(struct laz_buf *buf, const char *before, const char *piece, size_t n)
{
    laz_buf_clear(buf);
    laz_buf_puts(buf, before);
    while (n--)
        laz_buf_puts(buf, piece);
}

static void toml_refuses_too_deep_a_nesting_of_every_kind(void)
{
    struct laz_buf text = LAZ_BUF_INIT;

    repeat(&text, "x = ", "[", 100000);
    CU_ASSERT(is_refused(text.data, text.len));
    repeat(&text, "x = ", "{a=", 100000);
    CU_ASSERT(is_refused(text.data, text.len));
    repeat(&text, "x = ", "{a=1,a=", 100000); /* each of them is a repeated key */
    CU_ASSERT(is_refused(text.data, text.len));
    repeat(&text, "a", ".a", 100000);
    laz_buf_puts(&text, " = 1\n");
    CU_ASSERT(is_refused(text.data, text.len));
    repeat(&text, "[a", ".a", 100000);
    laz_buf_puts(&text, "]\n");
    CU_ASSERT(is_refused(text.data, text.len));
    laz_buf_fini(&text);
}

static void toml_accepts_the_deepest_nesting_allowed(void)
{
    struct laz_buf text = LAZ_BUF_INIT;
    struct laz_toml *toml = NULL;

    repeat(&text, "x = ", "[", LAZ_TOML_MAX_DEPTH);
    for (int i = 0; i < LAZ_TOML_MAX_DEPTH; i++)
        laz_buf_putc(&text, ']');
    CU_ASSERT_EQUAL(laz_toml_parse(text.data, text.len, "f", &toml, NULL), 0);
    laz_toml_free(toml);
    laz_buf_fini(&text);
}

static void toml_keeps_only_so_many_problems(void)
{
    struct laz_buf text = LAZ_BUF_INIT;
    struct laz_toml *toml = NULL;

    repeat(&text, "", "x = nope\n", 1000);
    CU_ASSERT_EQUAL(laz_toml_parse(text.data, text.len, "f", &toml, NULL), LAZ_EPARSE);
    CU_ASSERT_EQUAL(toml->n_problems, LAZ_TOML_MAX_PROBLEMS);
    laz_toml_free(toml);
    laz_buf_fini(&text);
}

/* ---- pairs and notation -----------------------------------------------------------------------*/

static void toml_pair_takes_one_key_and_one_value(void)
{
    struct laz_toml *toml = NULL;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL_FATAL(laz_toml_parse_pair("a.b", " [1, 2] ", "--set", &toml, &err), 0);
    const struct laz_toml_node *list = laz_toml_get(laz_toml_get(toml->root, "a"), "b");
    CU_ASSERT(list && list->type == LAZ_TOML_ARRAY && list->n == 2);
    laz_toml_free(toml);
    CU_ASSERT_EQUAL(laz_toml_parse_pair("a", "1\nb = 2", "--set", &toml, &err), LAZ_EPARSE);
    UNIT_TEXT(err.text, "expected nothing after the value, found the end of the line");
    laz_toml_free(toml);
    CU_ASSERT_EQUAL(laz_toml_parse_pair("a = 1\nb", "2", "--set", &toml, &err), LAZ_EPARSE);
    UNIT_TEXT(err.text, "expected a key, found '=' in it");
    laz_toml_free(toml);
    CU_ASSERT_EQUAL(laz_toml_parse_pair("a", "", "--set", &toml, &err), LAZ_EPARSE);
    laz_toml_free(toml);
    CU_ASSERT_EQUAL(laz_toml_parse_pair("", "1", "--set", &toml, &err), LAZ_EPARSE);
    laz_toml_free(toml);
}

static void toml_format_gives_text_that_reads_back(void)
{
    static const char *const values[] = {
        "1",     "-9223372036854775808",
        "0.1",   "2.0",
        "inf",   "-inf",
        "nan",   "true",
        "\"\"",  "\"a \\\"b\\\" \\\\ \\u0001 \\n \\t \\u007F\"",
        "[]",    "[1, [2], \"x\"]",
        "{}",    "{ a = 1, \"b c\" = { d = [] }, \"\" = 2 }",
        "1e+20", "2024-01-31T12:00:00.25Z",
    };

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct laz_toml *toml = NULL;
        struct laz_buf text = LAZ_BUF_INIT;
        CU_ASSERT_EQUAL_FATAL(laz_toml_parse_pair(NULL, values[i], "v", &toml, NULL), 0);
        laz_toml_format(&text, laz_toml_get(toml->root, "value"));
        UNIT_TEXT(laz_buf_text(&text), values[i]);
        laz_buf_fini(&text);
        laz_toml_free(toml);
    }
}

static void toml_describe_cuts_long_strings(void)
{
    struct laz_toml *toml = NULL;
    struct laz_buf text = LAZ_BUF_INIT;

    CU_ASSERT_EQUAL_FATAL(
        laz_toml_parse_pair(NULL, "'0123456789012345678901234567890123456789+'", "v", &toml, NULL),
        0);
    laz_toml_describe(&text, laz_toml_get(toml->root, "value"));
    UNIT_TEXT(laz_buf_text(&text), "string \"0123456789012345678901234567890123456789\"...");
    laz_buf_fini(&text);
    laz_toml_free(toml);
    laz_toml_free(NULL);
}

static const struct unit_test tests[] = {
    UNIT(toml_reads_every_valid_file_of_toml_test),
    UNIT(toml_refuses_every_invalid_file_of_toml_test),
    UNIT(toml_accepts_and_refuses_by_the_rules_of_tables),
    UNIT(toml_accepts_the_largest_integers),
    UNIT(toml_knows_where_every_node_stands),
    UNIT(toml_reports_all_problems_of_a_document),
    UNIT(toml_ends_at_a_statement_it_cannot_find_the_end_of),
    UNIT(toml_refuses_too_large_a_text),
    UNIT(toml_refuses_too_deep_a_nesting_of_every_kind),
    UNIT(toml_accepts_the_deepest_nesting_allowed),
    UNIT(toml_keeps_only_so_many_problems),
    UNIT(toml_pair_takes_one_key_and_one_value),
    UNIT(toml_format_gives_text_that_reads_back),
    UNIT(toml_describe_cuts_long_strings),
    {0},
};

int main(void)
{
    return unit_run("toml", tests);
}
