/* SPDX-License-Identifier: MIT */
/* test_command_arguments.c - command lines of tools: which arguments they are, what is wrong with
 * them, and what their help says. */
#include "unit.h"

#include "base/json.h"
#include "command/command.h"

#include <stdio.h>
#include <string.h>

/* A tool with these parameters. */
static void declare(const char *parameters, struct laz_wire_tool *tool)
{
    char text[2000];
    struct laz_error err = {0};

    const int len = snprintf(text, sizeof text,
                             "{\"name\":\"t\",\"description\":\"Does\\nit\",\"parameters\":%s,"
                             "\"returns\":\"str\",\"approve\":true}",
                             parameters);
    CU_ASSERT_FATAL(len > 0 && (size_t)len < sizeof text);
    CU_ASSERT_EQUAL_FATAL(laz_json_scan(text, (size_t)len, NULL), 0);
    static char kept[2000]; /* JSON of a parameter points into it */
    memcpy(kept, text, sizeof kept);
    CU_ASSERT_EQUAL_FATAL(laz_wire_read(&laz_wire_tool, kept, (size_t)len, tool, &err), 0);
}

static const char all[] = "[{\"name\":\"s\",\"type\":\"string\"},"
                          "{\"name\":\"i_x\",\"type\":\"integer\",\"required\":false},"
                          "{\"name\":\"n\",\"type\":\"number\",\"required\":false},"
                          "{\"name\":\"flag\",\"type\":\"boolean\",\"default\":false},"
                          "{\"name\":\"o\",\"type\":\"object\",\"required\":false},"
                          "{\"name\":\"any\",\"required\":false,\"enum\":[\"1\",2,\"x\"]},"
                          "{\"name\":\"l\",\"type\":\"array\",\"required\":false}]";

struct row {
    const char *words[8];
    const char *args; /* NULL: it is wrong, */
    const char *why;  /* and this is said */
};

static void each_row(const char *parameters, const struct row *rows, size_t n)
{
    struct laz_wire_tool tool = {0};

    declare(parameters, &tool);
    for (size_t i = 0; i < n; i++) {
        struct command_line line;
        struct laz_error err = {0};
        size_t words = 0;
        while (rows[i].words[words])
            words++;
        int rc = command_read(&tool, (char *const *)(uintptr_t)rows[i].words, words, &line, &err);
        CU_ASSERT_EQUAL(rc, rows[i].args ? 0 : LAZ_EINVAL);
        if (rows[i].args)
            UNIT_TEXT(laz_buf_text(&line.args), rows[i].args);
        UNIT_TEXT(err.text, rows[i].args ? "" : rows[i].why);
        laz_buf_fini(&line.args);
    }
    laz_fields_free(&laz_wire_tool, &tool);
}

static void words_become_values_by_their_types(void)
{
    static const struct row rows[] = {
        {{"text"}, "{\"s\":\"text\"}", NULL},
        {{"12"}, "{\"s\":\"12\"}", NULL},
        {{"{\"s\":1}"}, "{\"s\":\"{\\\"s\\\":1}\"}", NULL},
        {{"two\nlines \"x\""}, "{\"s\":\"two\\nlines \\\"x\\\"\"}", NULL},
        {{"", "--i-x", "007"}, "{\"s\":\"\",\"i_x\":7}", NULL},
        {{"a", "-5"}, "{\"s\":\"a\",\"i_x\":-5}", NULL},
        {{"a", "+5", "-.5"}, "{\"s\":\"a\",\"i_x\":5,\"n\":-0.5}", NULL},
        {{"a", "9007199254740993"}, "{\"s\":\"a\",\"i_x\":{\"$int\":\"9007199254740993\"}}", NULL},
        {{"--n=1e3", "--s", "b"}, "{\"s\":\"b\",\"n\":1e3}", NULL},
        {{"a", "--flag"}, "{\"s\":\"a\",\"flag\":true}", NULL},
        {{"--no-flag", "a"}, "{\"s\":\"a\",\"flag\":false}", NULL},
        {{"a", "--flag=true"}, "{\"s\":\"a\",\"flag\":true}", NULL},
        {{"a", "--o", "{\"k\": [1, 2]}"}, "{\"s\":\"a\",\"o\":{\"k\":[1,2]}}", NULL},
        {{"a", "--any", "2"}, "{\"s\":\"a\",\"any\":2}", NULL},
        {{"a", "--any", "1"}, "{\"s\":\"a\",\"any\":\"1\"}", NULL},
        {{"a", "--any=no JSON"}, "{\"s\":\"a\",\"any\":\"no JSON\"}", NULL},
        {{"a", "--l", "b", "--l=3", "--l=[null,\"c\"]"},
         "{\"s\":\"a\",\"l\":[\"b\",3,null,\"c\"]}",
         NULL},
        {{"--", "--s"}, "{\"s\":\"--s\"}", NULL},
    };
    static const struct row rest[] = {
        {{"1", "2", "3"}, "{\"l\":[1,2,3]}", NULL},
        {{"{\"l\": [1]}"}, "{\"l\":[1]}", NULL},
        {{NULL}, "{}", NULL},
    };

    static const struct row needed[] = {
        {{"a", "b"}, "{\"items\":[\"a\",\"b\"]}", NULL},
        {{"--dry", "a"}, "{\"dry\":true,\"items\":[\"a\"]}", NULL},
    };

    each_row(all, rows, sizeof rows / sizeof *rows);
    each_row("[{\"name\":\"dry\",\"type\":\"boolean\",\"default\":false},"
             "{\"name\":\"items\",\"type\":\"array\"}]",
             needed, sizeof needed / sizeof *needed);
    each_row("[{\"name\":\"l\",\"type\":\"array\",\"required\":false}]", rest,
             sizeof rest / sizeof *rest);
}

static void wrong_words_are_refused(void)
{
    static const struct row rows[] = {
        {{NULL}, NULL, "s is missing"},
        {{"a", "--s", "b"}, NULL, "s is given twice"},
        {{"a", "x"}, NULL, "i_x: 'x' is not an integer"},
        {{"a", "1.0"}, NULL, "i_x: '1.0' is not an integer"},
        {{"a", ""}, NULL, "i_x: '' is not an integer"},
        {{"a", "--n", "nan"}, NULL, "n: 'nan' is not a number"},
        {{"a", "--n", "1e999"}, NULL, "n: '1e999' is not a number"},
        {{"a", "--n", "0x10"}, NULL, "n: '0x10' is not a number"},
        {{"a", "--flag=yes"}, NULL, "flag: 'yes' is not true or false"},
        {{"a", "--o", "[]"}, NULL, "o: '[]' is not a JSON object"},
        {{"a", "--o", "{\"k\":1,\"k\":2}"}, NULL, "o: '{\"k\":1,\"k\":2}' is not a JSON object"},
        {{"a", "--nosuch"}, NULL, "there is no argument --nosuch"},
        {{"a", "--no-s"}, NULL, "there is no argument --no-s"},
        {{"a", "--\x1b[31m"}, NULL, "there is no argument -- [31m"},
        {{"a", "-x"}, NULL, "there is no option -x"},
        {{"a", "--n"}, NULL, "--n needs a value"},
        {{"a\xff"}, NULL, "s: the text is not UTF-8"},
        {{"a", "--l=\xc3"}, NULL, "l: the text is not UTF-8"},
        {{"-", "a"}, NULL, "- stands for all arguments: there are others besides"},
    };
    static const struct row none[] = {
        {{"a"}, NULL, "there are too many arguments"},
        {{"{\"a\":"},
         NULL,
         "the arguments are not JSON: not valid JSON: a value is expected (byte 5)"},
    };

    each_row(all, rows, sizeof rows / sizeof *rows);
    each_row("[]", none, sizeof none / sizeof *none);
}

static void options_of_the_command_are_no_arguments(void)
{
    struct laz_wire_tool tool = {0};
    char *const words[] = {(char *)"--pretty", (char *)"-", (char *)"--help"};
    struct command_line line;

    declare(all, &tool);
    CU_ASSERT_EQUAL(command_read(&tool, words, 3, &line, NULL), 0);
    CU_ASSERT(line.is_pretty && line.reads && line.wants_help);
    laz_buf_fini(&line.args);
    laz_fields_free(&laz_wire_tool, &tool);
    declare("[{\"name\":\"help\",\"type\":\"boolean\"},{\"name\":\"pretty\"}]", &tool);
    CU_ASSERT_EQUAL(
        command_read(&tool, (char *const[]){words[2], (char *)"--pretty=1"}, 2, &line, NULL), 0);
    CU_ASSERT(!line.is_pretty && !line.wants_help);
    UNIT_TEXT(laz_buf_text(&line.args), "{\"help\":true,\"pretty\":1}");
    laz_buf_fini(&line.args);
    laz_fields_free(&laz_wire_tool, &tool);
}

static void help_says_what_is_declared(void)
{
    struct laz_wire_tool tool = {0};
    struct laz_buf text = LAZ_BUF_INIT;

    declare(all, &tool);
    command_help(&tool, "name", &text);
    UNIT_TEXT(laz_buf_text(&text),
              "usage: name S [--i-x INTEGER] [--n NUMBER] [--flag] [--o JSON] [--any VALUE] "
              "[--l ITEM...]\n"
              "  Does\n  it\n  Each call waits for an approval.\n"
              "\narguments, in their order or by name:\n"
              "  --s TEXT, needed\n  --i-x INTEGER\n  --n NUMBER\n"
              "  --flag, --no-flag\n        default: false\n  --o JSON\n"
              "  --any VALUE\n        one of [\"1\",2,\"x\"]\n  --l ITEM (may be repeated)\n"
              "\n  -         all arguments as a JSON object on standard input\n"
              "  --pretty  the result on several lines\n"
              "\nreturns str\n");
    laz_buf_fini(&text);
    laz_fields_free(&laz_wire_tool, &tool);
}

static void a_value_is_shown_on_several_lines(void)
{
    static const struct {
        const char *json, *shown;
    } rows[] = {
        {"1", "1"},
        {"[]", "[]"},
        {"[ ]", "[]"},
        {"{}", "{}"},
        {"[1,\"a, b: {\",[]]", "[\n  1,\n  \"a, b: {\",\n  []\n]"},
        {"{\"a\": {\"b\":null}, \"c\" :2}", "{\n  \"a\": {\n    \"b\": null\n  },\n  \"c\": 2\n}"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_buf text = LAZ_BUF_INIT;
        command_show(rows[i].json, strlen(rows[i].json), &text);
        UNIT_TEXT(laz_buf_text(&text), rows[i].shown);
        laz_buf_fini(&text);
    }
}

static const struct unit_test tests[] = {
    UNIT(words_become_values_by_their_types),      UNIT(wrong_words_are_refused),
    UNIT(options_of_the_command_are_no_arguments), UNIT(help_says_what_is_declared),
    UNIT(a_value_is_shown_on_several_lines),       {0},
};

int main(void)
{
    return unit_run("command_arguments", tests);
}
