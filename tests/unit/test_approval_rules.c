/* SPDX-License-Identifier: MIT */
/* test_approval_rules.c - [[approve]]: which values a pattern matches, in every notation that code
 * may choose, and which rules mean no tool. */
#include "unit.h"

#include "settings/settings.h"
#include "tool/tool_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tools, and the rules for them. */
struct made {
    struct laz_settings *settings;
    struct laz_driver driver;
    struct laz_provider asked;
    struct laz_provider *providers[1];
    struct laz_tools tools;
    struct laz_mistakes mistakes;
    char said[2000]; /* in the log */
};

static void made_log(void *user, uint32_t level, const char *text)
{
    struct made *made = user;

    if (level <= LAZ_LOG_WARNING)
        strncat(made->said, text, sizeof made->said - strlen(made->said) - 1);
}

static void make(struct made *made, const char *rules)
{
    memset(made, 0, sizeof *made);
    made->driver.log = (struct laz_log){made_log, made, LAZ_LOG_INFO};
    made->asked.list = LAZ_PROVIDER_LISTED;
    made->providers[0] = &made->asked;
    made->tools.driver = &made->driver;
    made->tools.providers = made->providers;
    made->tools.n_providers = 1;
    CU_ASSERT_EQUAL_FATAL(laz_settings_new(&made->settings, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_settings_set(made->settings, "approve", rules, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_approvals_init(&made->tools, made->settings, NULL), 0);
}

static struct laz_tool_entry *add(struct made *made, struct laz_tool_set *set, const char *name,
                                  const char *parameters)
{
    const struct laz_tool tool = {.size = sizeof tool, .name = name, .parameters = parameters};
    struct laz_error err = {0};

    if (laz_tool_set_add(set, &tool, NULL, NULL, 0, &err) != 0)
        CU_FAIL_FATAL(err.text);
    laz_approval_mark(&made->tools, &set->entries[set->n - 1]);
    return &set->entries[set->n - 1];
}

static void made_fini(struct made *made)
{
    laz_tool_set_fini(&made->tools.set);
    laz_approvals_fini(&made->tools);
    laz_settings_free(made->settings);
    laz_strv_fini(&made->mistakes.texts);
}

static void contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        printf("\n    \"%s\" is not in \"%s\"", part, text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, part));
}

/* ---- values ---------------------------------------------------------------------------------- */

#define ANY    "[{\"name\":\"x\"}]"
#define NUMBER "[{\"name\":\"x\",\"type\":\"number\"}]"
#define WHOLE  "[{\"name\":\"x\",\"type\":\"integer\"}]"
#define TEXT   "[{\"name\":\"x\",\"type\":\"string\"}]"
#define LIST   "[{\"name\":\"x\",\"type\":\"array\"}]"
#define PATH   "[{\"name\":\"x\",\"type\":\"string\",\"format\":\"path\"}]"
#define PATHS  "[{\"name\":\"x\",\"type\":\"array\",\"format\":\"path\"}]"
#define SHORT  "[{\"name\":\"x\",\"default\":5.0}]"

enum { PASSES, WAITS, REFUSED };

struct row {
    const char *parameters, *pattern, *value; /* value NULL: it is not given */
    int outcome;
};

static int outcome_of(const struct row *row)
{
    char *rules = laz_strdupf("[{tool=\"t\",when={x='%s'}}]", row->pattern);
    char *args = laz_strdupf(row->value ? "{\"x\":%s}" : "{}", row->value);
    struct laz_buf checked = LAZ_BUF_INIT;
    struct laz_error err = {0};
    struct made made;
    int outcome = REFUSED;

    make(&made, rules);
    const struct laz_tool_entry *tool = add(&made, &made.tools.set, "t", row->parameters);
    if (laz_tool_check_arguments(tool, args, strlen(args), &checked, &err) == 0)
        outcome = laz_approval_is_needed(&made.tools, tool, laz_buf_text(&checked), checked.len)
                      ? WAITS
                      : PASSES;
    laz_buf_fini(&checked);
    made_fini(&made);
    free(rules);
    free(args);
    return outcome;
}

static void expect(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const int outcome = outcome_of(&rows[i]);
        if (outcome != rows[i].outcome)
            printf("\n    %s %s %s: %d", rows[i].parameters, rows[i].pattern,
                   rows[i].value ? rows[i].value : "-", outcome);
        CU_ASSERT_EQUAL(outcome, rows[i].outcome);
    }
}

#define EXPECT(rows) expect(rows, sizeof rows / sizeof *rows)

static void a_number_is_compared_in_every_notation(void)
{
    static const char *const notations[] = {"5", "5.0", "5e0", "0.5e1", "50e-1", "5.00", "5E+0",
                                            "500e-2", "{\"$int\":\"5\"}",
                                            /* a tool that reads a double gets 5 */
                                            "5.0000000000000000001", "4.9999999999999999999"};
    static const char *const others[] = {"6", "5.1", "-5", "50", "0.5", "5e1", "{\"$int\":\"6\"}"};
    static const char *const patterns[] = {"5", "5.0", "50e-1"};
    static const struct row rows[] = {
        {NUMBER, "0", "-0", WAITS},
        {NUMBER, "0", "0e5", WAITS},
        {NUMBER, "1e3", "1000", WAITS},
        {NUMBER, "9007199254740992", "{\"$int\":\"9007199254740993\"}", WAITS},
        {NUMBER, "9007199254740993", "{\"$int\":\"9007199254740993\"}", WAITS},
        {NUMBER, "5", "{\"$int\":\"05\"}", REFUSED},
        {NUMBER, "5", "{\"$int\":\"+5\"}", REFUSED},
        {NUMBER, "5", "{\"$num\":\"NaN\"}", WAITS}, /* it hides its text */
        {WHOLE, "5", "5.0", WAITS},
        {WHOLE, "5", "6.0", PASSES},
        /* '*' and '?' look at the digits, without an exponent */
        {NUMBER, "1???", "1e3", WAITS},
        {NUMBER, "1???", "1.0e3", WAITS},
        {NUMBER, "1???", "1e4", PASSES},
        {NUMBER, "1*", "0.1e1", WAITS},
        {NUMBER, "1??", "99.99999999999999999999", WAITS},
        {NUMBER, "0.0*", "5e-2", WAITS},
        {NUMBER, "-*", "-1e2", WAITS},
        {NUMBER, "-*", "1e-2", PASSES},
        {NUMBER, "1*", "{\"$int\":\"12345678901234567890\"}", WAITS},
        {NUMBER, "2*", "{\"$int\":\"12345678901234567890\"}", PASSES},
        {NUMBER, "2*", "1e-9999", WAITS}, /* too long to write */
        /* the default, and what stands in a list */
        {SHORT, "5", NULL, WAITS},
        {SHORT, "6", NULL, PASSES},
        {LIST, "5", "[1,[5e0]]", WAITS},
        {LIST, "5", "[1,[50]]", PASSES},
        {ANY, "5", "5.0", WAITS},
        /* a text of any type may be read as a number; of a string it is a text */
        {ANY, "5", "\"5.0\"", WAITS},
        {ANY, "5", "\" +05 \"", WAITS},
        {ANY, "-5", "\"-05e0\"", WAITS},
        {ANY, "5", "\"5x\"", PASSES},
        {LIST, "5", "[\"5e0\"]", WAITS},
        {TEXT, "5", "\"5\"", WAITS},
        {TEXT, "5", "\"5.0\"", PASSES},
        {TEXT, "1.1", "\"1.10\"", PASSES},
    };

    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++) {
        for (size_t i = 0; i < sizeof notations / sizeof *notations; i++)
            expect(&(const struct row){NUMBER, patterns[k], notations[i], WAITS}, 1);
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            expect(&(const struct row){NUMBER, patterns[k], others[i], PASSES}, 1);
    }
    EXPECT(rows);
}

static void other_values_are_compared_however_they_are_written(void)
{
    static const struct row rows[] = {
        {TEXT, "/etc/*", "\"\\u002fetc\\/x\"", WAITS},
        {TEXT, "/etc/*", "\"/etc/x\\n\"", WAITS},
        {TEXT, "/etc/*", "\"/tmp/x\"", PASSES},
        {TEXT, "/etc/*", "{\"$bytes\":\"L2V0Yy94\"}", WAITS},
        {TEXT, "/etc/*", "null", REFUSED},
        {TEXT, "prod", "\"prod\\u0000x\"", WAITS}, /* a tool in C sees "prod" */
        {ANY, "5", "\"5\\u0000\"", WAITS},
        {LIST, "prod", "[\"test\",[\"prod\\u0000\"]]", WAITS},
        {ANY, "/etc/*", "{\"$str\":\"a\"}", WAITS},
        {ANY, "/etc/*", "{\"$int\":\"+5\"}", WAITS}, /* a malformed tag says nothing */
        {ANY, "/etc/*", "{\"$date\":\"2024-01-31\"}", WAITS},
        {ANY, "/etc/*", "{\"$factor\":{\"levels\":[\"/etc/x\"],\"values\":[\"/etc/x\"]}}", WAITS},
        {ANY, "/etc/*", "[\"a\",{\"k\":\"a\"}]", WAITS},
        {ANY, "/etc/*", "[[[\"/etc/x\"]]]", WAITS},
        {ANY, "/etc/*", "[[[\"/tmp/x\"]]]", PASSES},
        {ANY, "/etc/*", "[]", PASSES},
        {ANY, "true", "true", WAITS},
        {ANY, "true", "\"true\"", WAITS},
        {ANY, "true", "false", PASSES},
        {ANY, "null", "null", WAITS},
    };

    EXPECT(rows);
}

static void a_path_is_compared_without_its_detours(void)
{
    static const struct row rows[] = {
        {PATH, "/etc/*", "\"/etc/x\"", WAITS},
        {PATH, "/etc/*", "\"//etc/x\"", WAITS},
        {PATH, "/etc/*", "\"/./etc/x\"", WAITS},
        {PATH, "/etc/*", "\"/etc//./x\"", WAITS},
        {PATH, "/etc/*", "\"/.//etc/.\"", WAITS},
        {PATH, "/etc/*", "\"//etc\"", WAITS}, /* the directory itself */
        {PATH, "/etc/*", "\"/etc\"", WAITS},
        {PATH, "/etc/*", "\"/etcx\"", PASSES},
        {PATH, "/etc/*", "\"/tmp/etc/x\"", PASSES},
        {PATH, "/etc/*", "\"/tmp/..x/y\"", PASSES},
        {PATH, "/etc/*", "\"/\"", PASSES},
        {PATH, "/", "\"/.//\"", WAITS},
        {PATH, "//a", "\"//a\"", WAITS}, /* as it is written, too */
        /* these lead where only the tool knows */
        {PATH, "/etc/*", "\"x\"", WAITS},
        {PATH, "/etc/*", "\"\"", WAITS},
        {PATH, "/etc/*", "\"./tmp\"", WAITS},
        {PATH, "/etc/*", "\"/tmp/../etc/x\"", WAITS},
        {PATH, "/etc/*", "\"/tmp/..\"", WAITS},
        {PATH, "/etc/*", "\"/tmp\\\\..\\\\etc\"", WAITS},
        {PATH, "/etc/*", "\"C:/etc\"", WAITS},
        {PATH, "/etc/*", "{\"$bytes\":\"L3RtcA==\"}", WAITS},
        {PATH, "/etc/passwd", "\"/etc/passwd\\u0000x\"", WAITS}, /* a tool in C ends there */
        {PATH, "/etc/*.pem", "\"/etc/a.pem\\u0000\"", WAITS},
        {PATHS, "/etc/*", "[\"/tmp/x\",\"//etc/x\"]", WAITS},
        {PATHS, "/etc/*", "[\"/tmp/x\",[\"y\"]]", WAITS},
        {PATHS, "/etc/*", "[\"/tmp/x\",1]", WAITS},
        {PATHS, "/etc/*", "[\"/tmp/x\"]", PASSES},
        /* without the format it is a text */
        {TEXT, "/etc/*", "\"//etc/x\"", PASSES},
    };

    EXPECT(rows);
}

static void a_format_is_path_and_of_texts(void)
{
    static const struct {
        const char *parameters, *text; /* NULL: it is taken */
    } rows[] = {
        {PATH, NULL},
        {PATHS, NULL},
        {"[{\"name\":\"x\",\"format\":\"path\"}]", NULL},
        {"[{\"name\":\"x\",\"format\":\"date\"}]", "unknown format; known is \"path\""},
        {"[{\"name\":\"x\",\"format\":1}]", "format must be a string"},
        {"[{\"name\":\"x\",\"type\":\"integer\",\"format\":\"path\"}]",
         "the format \"path\" is for strings and for lists of them"},
        {"[{\"name\":\"x\",\"type\":\"object\",\"format\":\"path\"}]", "for strings"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct laz_tool tool = {
            .size = sizeof tool, .name = "t", .parameters = rows[i].parameters};
        struct laz_tool_set set = {0};
        struct laz_buf json = LAZ_BUF_INIT;
        struct laz_error err = {0};
        const int rc = laz_tool_set_add(&set, &tool, NULL, NULL, 0, &err);
        CU_ASSERT_EQUAL(rc, rows[i].text ? LAZ_EINVAL : 0);
        if (rows[i].text)
            contains(err.text, rows[i].text);
        laz_tool_set_json(&set, NULL, NULL, &json);
        CU_ASSERT_EQUAL(strstr(laz_buf_text(&json), "\"format\":\"path\"") != NULL, !rc);
        laz_buf_fini(&json);
        laz_tool_set_fini(&set);
    }
}

/* ---- rules without a tool ----------------------------------------------------------------------
 */

/* Checks rules beside the tools weekday(day), list_files(path: a path, mask: a string), and, with a
 * session, of_session(when). */
static int check(struct made *made, const char *rules, bool are_all, bool is_asked,
                 bool with_session, struct laz_error *err)
{
    struct laz_tool_set own = {0};

    make(made, rules);
    made->tools.are_all = are_all;
    made->asked.list = is_asked ? LAZ_PROVIDER_LISTED : LAZ_PROVIDER_LATER;
    add(made, &made->tools.set, "weekday", "[{\"name\":\"day\",\"type\":\"string\"}]");
    add(made, &made->tools.set, "list_files",
        "[{\"name\":\"path\",\"type\":\"string\",\"format\":\"path\"},"
        "{\"name\":\"mask\",\"type\":\"string\"}]");
    if (with_session)
        add(made, &own, "of_session", "[{\"name\":\"when\"}]");
    int rc = laz_approvals_check(&made->tools, &own, laz_settings_values(made->settings), err);
    int again = laz_approvals_check(&made->tools, &own, laz_settings_values(made->settings), NULL);
    CU_ASSERT_EQUAL(again, rc);
    laz_tool_set_fini(&own);
    return rc;
}

static void a_rule_for_no_tool_is_a_mistake(void)
{
    static const struct {
        const char *rules;
        const char *error, *warning; /* where there can be no other tools; NULL: none */
        const char *open_error, *open_warning;
    } rows[] = {
        {"[{tool=\"weekday\"}]", NULL, NULL, NULL, NULL},
        {"[{tool=\"week*\",when={day=\"m*\"}}]", NULL, NULL, NULL, NULL},
        {"[{tool=\"of_session\",when={when=\"/x\"}}]", NULL, NULL, NULL, NULL},
        {"[{tool=\"weekdy\"}]", "there is no tool 'weekdy'; did you mean 'weekday'?", NULL,
         "there is no tool 'weekdy'; did you mean 'weekday'?", NULL},
        {"[{tool=\"of_sesion\"}]", "did you mean 'of_session'?", NULL, "did you mean 'of_session'?",
         NULL},
        {"[{tool=\"deploy\"}]", "there is no tool 'deploy'", NULL, NULL,
         "there is no tool 'deploy'"},
        {"[{tool=\"wekd*\"}]", NULL, "no tool now has a name like 'wekd*'", NULL,
         "no tool now has a name like 'wekd*'"},
        {"[{tool=\"weekday\",when={dy=\"m*\"}}]",
         "the tool 'weekday' has no parameter 'dy'; did you mean 'day'?", NULL,
         "the tool 'weekday' has no parameter 'dy'; did you mean 'day'?", NULL},
        {"[{tool=\"weekday\",when={colour=\"m*\"}}]",
         "the tool 'weekday' has no parameter 'colour'", NULL,
         "the tool 'weekday' has no parameter 'colour'", NULL},
        {"[{tool=\"list_*\",when={paht=\"/etc/*\"}}]", "did you mean 'path'?", NULL,
         "did you mean 'path'?", NULL},
        {"[{tool=\"*\",when={colour=\"m*\"}}]", "no tool like '*' has no parameter", NULL, NULL,
         "no tool like '*' has no parameter 'colour'"},
        {"[{tool=\"*\",when={path=\"/etc/*\"}}]", NULL, NULL, NULL, NULL},
    };

    for (size_t i = 0; i < 2 * (sizeof rows / sizeof *rows); i++) {
        const bool are_all = i % 2 == 0;
        const char *error = are_all ? rows[i / 2].error : rows[i / 2].open_error;
        const char *warning = are_all ? rows[i / 2].warning : rows[i / 2].open_warning;
        struct laz_error err = {0};
        struct made made;
        CU_ASSERT_EQUAL(check(&made, rows[i / 2].rules, are_all, true, true, &err),
                        error ? LAZ_ECONFIG : 0);
        if (error)
            contains(err.text, error);
        const char *said = warning ? strstr(made.said, warning) : NULL;
        CU_ASSERT_EQUAL(said != NULL, *made.said != '\0');
        CU_ASSERT_EQUAL(said != NULL, warning != NULL);
        CU_ASSERT(!said || !strstr(said + 1, warning)); /* once */
        made_fini(&made);
    }
}

/* A provider that was not asked, or has none now, may have the tool. */
static void tools_that_are_not_known_may_be_meant(void)
{
    struct laz_error err = {0};
    struct made made;

    CU_ASSERT_EQUAL(
        check(&made, "[{tool=\"weekdy\"},{tool=\"w*\",when={x=\"1\"}}]", true, false, false, &err),
        0);
    UNIT_TEXT(made.said, "");
    made.asked.list = LAZ_PROVIDER_LISTED;
    CU_ASSERT_EQUAL(
        laz_approvals_check(&made.tools, NULL, laz_settings_values(made.settings), &err),
        LAZ_ECONFIG);
    made_fini(&made);
    CU_ASSERT_EQUAL(check(&made, "[{tool=\"weekday\",when={x=\"1\"}}]", true, false, false, &err),
                    LAZ_ECONFIG); /* this one is known */
    made_fini(&made);
    CU_ASSERT_EQUAL(check(&made, "[{tool=\"deploy\"}]", false, true, false, &err), 0);
    made.tools.are_all = made.tools.are_fewer = true;
    CU_ASSERT_EQUAL(
        laz_approvals_check(&made.tools, NULL, laz_settings_values(made.settings), &err), 0);
    made_fini(&made);
}

/* All mistakes are found where they are collected, with their places; and patterns that look like
 * paths are told there. */
static void mistakes_of_rules_are_collected(void)
{
    struct laz_error err = {0};
    struct made made;

    CU_ASSERT_EQUAL(
        check(&made,
              "[{tool=\"weekdy\"},{tool=\"list_files\",when={path=\"/a\",mask=\"/b\",x=\"1\"}}]",
              true, true, false, &err),
        LAZ_ECONFIG);
    UNIT_TEXT(made.said, "");
    laz_settings_collect(made.settings, &made.mistakes);
    made.tools.rules[1].when[1].is_told = false;
    CU_ASSERT_EQUAL(
        laz_approvals_check(&made.tools, NULL, laz_settings_values(made.settings), &err), 0);
    CU_ASSERT_EQUAL_FATAL(made.mistakes.texts.n, 2);
    contains(made.mistakes.texts.items[0], "--set: approve.tool: there is no tool");
    contains(made.mistakes.texts.items[1], "'list_files' has no parameter 'x'");
    contains(made.said, "'/b' is compared with the text of 'mask'");
    contains(made.said, "declare the parameter with format = \"path\"");
    CU_ASSERT_PTR_NULL(strstr(made.said, "'/a'"));
    made_fini(&made);
}

static const struct unit_test tests[] = {
    UNIT(a_number_is_compared_in_every_notation),
    UNIT(other_values_are_compared_however_they_are_written),
    UNIT(a_path_is_compared_without_its_detours),
    UNIT(a_format_is_path_and_of_texts),
    UNIT(a_rule_for_no_tool_is_a_mistake),
    UNIT(tools_that_are_not_known_may_be_meant),
    UNIT(mistakes_of_rules_are_collected),
    {0},
};

int main(void)
{
    return unit_run("approval_rules", tests);
}
