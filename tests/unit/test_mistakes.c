/* SPDX-License-Identifier: MIT */
/* test_mistakes.c - what --json shows of settings: their values, and the place and the key of a
 * mistake, read from its message. */
#include "unit.h"

#include "settings/settings.h"

#include <string.h>

static void collect_json(void *user, const struct laz_settings_shown *shown)
{
    if (strcmp(shown->origin, "default") != 0)
        laz_buf_puts(user, shown->json);
}

static void settings_visit_shows_values_as_json(void)
{
    static const struct {
        const char *key, *value, *json;
    } rows[] = {
        {"session.timeout", "\"5m\"", "\"5m\""},
        {"session.timeout", "2.50", "2.5"},
        {"session.max_executions", "7", "7"},
        {"session.verbose", "true", "true"},
        {"sandbox.read", "['/a', '/b\\c']", "[\"/a\",\"/b\\\\c\"]"},
        {"env.set", "{ A = \"1\" }", "{\"A\":{\"secret\":\"set\"}}"},
        {"sandbox.x.y", "1979-05-27", "\"1979-05-27\""},
        {"sandbox.x.y", "[inf, -inf, nan]", "[\"inf\",\"-inf\",\"nan\"]"},
        {"sandbox.x.y", "{}", "{}"},
        {"tools", "[{ provider = \"p\", tool = [{ a.b = 1 }] }]",
         "[{\"provider\":\"p\",\"tool\":[{\"a\":{\"b\":1}}]}]"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_settings *settings = NULL;
        struct laz_buf text = LAZ_BUF_INIT;
        struct laz_error err = {0};

        CU_ASSERT_EQUAL_FATAL(laz_settings_new(&settings, &err), 0);
        CU_ASSERT_EQUAL(laz_settings_set(settings, rows[i].key, rows[i].value, &err), 0);
        UNIT_TEXT(err.text, "");
        laz_settings_visit(settings, collect_json, &text);
        UNIT_TEXT(laz_buf_text(&text), rows[i].json);
        laz_buf_fini(&text);
        laz_settings_free(settings);
    }
}

/* Mistakes of a message as "FILE|LINE|COLUMN|KEY|text", each in brackets. */
static void mistakes_of(const char *message, struct laz_buf *text)
{
    struct laz_strv files = LAZ_STRV_INIT;
    struct laz_mistake mistake;

    laz_strv_add(&files, "a: b.toml");
    laz_strv_add(&files, "x.py");
    for (const char *next = message; next; next = mistake.next) {
        laz_mistake_read(next, &files, &mistake);
        laz_buf_printf(text, "[%.*s|%u|%u|%.*s|%.*s]", (int)mistake.file_len,
                       mistake.file ? mistake.file : "", mistake.line, mistake.column,
                       (int)mistake.key_len, mistake.key ? mistake.key : "", (int)mistake.text_len,
                       mistake.text);
    }
    laz_strv_fini(&files);
}

static void mistakes_are_taken_apart(void)
{
    static const struct {
        const char *message, *parts;
    } rows[] = {
        {"c.toml:2:1: session.timeuot: unknown key",
         "[c.toml|2|1|session.timeuot|session.timeuot: unknown key]"},
        {"/d/c.toml:2:1: timeuot: unknown key", "[/d/c.toml|2|1|timeuot|timeuot: unknown key]"},
        {"a: b.toml:3:10: expected a value", "[a: b.toml|3|10||expected a value]"},
        {"a: b.toml: No such file", "[a: b.toml|0|0||No such file]"},
        {"/etc/c.toml: belongs to another user", "[/etc/c.toml|0|0||belongs to another user]"},
        {"x.py:5: not a record", "[x.py|5|0||not a record]"},
        {"y.py:5: not a record", "[|0|0||y.py:5: not a record]"},
        {"x.py: cannot be opened", "[x.py|0|0||cannot be opened]"},
        {"--set: limits.cpu: expected a time",
         "[|0|0|limits.cpu|--set: limits.cpu: expected a time]"},
        {"--read: sandbox.d: No such file", "[|0|0|sandbox.d|--read: sandbox.d: No such file]"},
        {"--read: here.d: No such file", "[|0|0||--read: here.d: No such file]"},
        {"b lacks what sandbox.require asks for: set limits.cpu",
         "[|0|0|sandbox.require|b lacks what sandbox.require asks for: set limits.cpu]"},
        {"no limits.cpux, no xlimits.cpu", "[|0|0||no limits.cpux, no xlimits.cpu]"},
        {"audit: a file is needed", "[|0|0||audit: a file is needed]"},
        {"c.toml:1:2: a.b: one; c.toml:3:4: a.c: two; x; c.toml: y",
         "[c.toml|1|2|a.b|a.b: one][c.toml|3|4|a.c|a.c: two; x; c.toml: y]"},
        {"c.toml:0:2: x", "[|0|0||c.toml:0:2: x]"},
        {"found \"c.toml:1:2: x\"", "[|0|0||found \"c.toml:1:2: x\"]"},
        {"", "[|0|0||]"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_buf text = LAZ_BUF_INIT;
        mistakes_of(rows[i].message, &text);
        UNIT_TEXT(laz_buf_text(&text), rows[i].parts);
        laz_buf_fini(&text);
    }
}

static void numbers_among_texts_are_told_to_need_quotes(void)
{
    static const struct {
        const char *value, *written;
    } rows[] = {
        {"1", " (write 'env.set.A=\"...\"'), found integer (its value is not shown)"},
        {"2.50", " (write 'env.set.A=\"...\"'), found number (its value is not shown)"},
        {"true", " (write 'env.set.A=\"...\"'), found boolean (its value is not shown)"},
        {"2024-01-31", " (write 'env.set.A=\"...\"'), found date (its value is not shown)"},
        {"[1]", ", found list"},
        {"\"a\\u0000\"", ", found string (its value is not shown)"},
    };
    struct laz_settings *settings = NULL;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL_FATAL(laz_settings_new(&settings, &err), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static const char expected[] = "env.set: expected a string without NUL characters";
        CU_ASSERT_EQUAL(laz_settings_set(settings, "env.set.A", rows[i].value, &err), LAZ_ECONFIG);
        CU_ASSERT_EQUAL(strncmp(err.text, expected, sizeof expected - 1), 0);
        UNIT_TEXT(err.text + sizeof expected - 1, rows[i].written);
    }
    laz_settings_free(settings);
}

static const struct unit_test tests[] = {
    UNIT(settings_visit_shows_values_as_json),
    UNIT(mistakes_are_taken_apart),
    UNIT(numbers_among_texts_are_told_to_need_quotes),
    {0},
};

int main(void)
{
    return unit_run("mistakes", tests);
}
