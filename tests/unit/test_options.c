/* SPDX-License-Identifier: MIT */
/* test_options.c - tables of plugins checked against the options that plugins declare. */
#include "unit.h"

#include "base/buf.h"
#include "base/json.h"
#include "settings/settings.h"
#include "settings/toml/toml.h"
#ifdef HAVE_FAULTS
#include "fault.h"
#endif

#include <string.h>

static const struct laz_option options[] = {
    {"program", LAZ_OPT_STRING, "\"bwrap\"", "the program"},
    {"count", LAZ_OPT_INTEGER, "1", "how often"},
    {"on", LAZ_OPT_BOOLEAN, "false", "whether"},
    {"size", LAZ_OPT_SIZE, "\"1KiB\"", "how large"},
    {"wait", LAZ_OPT_TIME, "10", "how long"},
    {"words", LAZ_OPT_STRINGS, "[]", "some words"},
    {"paths", LAZ_OPT_PATHS, "", "some paths"},
    {NULL, 0, NULL, NULL},
};

static const struct laz_option tool_options[] = {
    {"tool", LAZ_OPT_TABLES, NULL, "one for each tool"},
    {"tool.name", LAZ_OPT_STRING, NULL, "name of the tool"},
    {"tool.description", LAZ_OPT_STRING, "\"\"", "for the model"},
    {"tool.parameters", LAZ_OPT_PARAMETERS, "{}", "its parameters"},
    {"tool.output", LAZ_OPT_STRING, "", "form of the output"},
    {NULL, 0, NULL, NULL},
};

/* The JSON text of a table, or the text of the error. Static. */
static const char *checked(const struct laz_option *declared, const char *text, int *rc)
{
    static const char *const ignore[] = {"provider", NULL};
    static struct laz_buf json;
    static struct laz_error err;
    struct laz_toml *toml = NULL;

    laz_buf_fini(&json);
    if (text)
        CU_ASSERT_EQUAL_FATAL(laz_toml_parse(text, strlen(text), "f", &toml, NULL), 0);
    *rc = laz_settings_check_options(toml ? toml->root : NULL, declared, "t", ignore, &json, &err);
    if (*rc == 0)
        CU_ASSERT_EQUAL(laz_json_scan(json.data, json.len, NULL), 0);
    laz_toml_free(toml);
    return *rc ? err.text : laz_buf_text(&json);
}

static void options_have_defaults_without_a_table(void)
{
    int rc;

    UNIT_TEXT(checked(options, NULL, &rc), "{\"program\":\"bwrap\",\"count\":1,\"on\":false,"
                                           "\"size\":1024,\"wait\":10000,\"words\":[]}");
    UNIT_TEXT(checked(NULL, NULL, &rc), "{}");
}

static void options_take_the_values_of_the_table(void)
{
    int rc;

    UNIT_TEXT(checked(options,
                      "paths = [\"" TEST_ROOT
                      "/a\"]\nwait = \"250ms\"\nprogram = \"x\"\ncount = -3\non = true\n"
                      "size = 5\nwords = [\"a\", \"b\"]\nprovider = \"ignored\"\n",
                      &rc),
              "{\"program\":\"x\",\"count\":-3,\"on\":true,\"size\":5,\"wait\":250,"
              "\"words\":[\"a\",\"b\"],\"paths\":[\"" TEST_ROOT "/a\"]}");
}

static void a_table_of_strings_is_an_object(void)
{
    static const struct laz_option declared[] = {
        {"env", LAZ_OPT_TEXTS, "{}", "variables"},
        {NULL, 0, NULL, NULL},
    };
    int rc;

    UNIT_TEXT(checked(declared, NULL, &rc), "{\"env\":{}}");
    UNIT_TEXT(checked(declared, "env = { a = \"1\", \"b c\" = \"\" }\n", &rc),
              "{\"env\":{\"a\":\"1\",\"b c\":\"\"}}");
    UNIT_TEXT(checked(declared, "env = { a = 1 }\n", &rc),
              "f:1:13: t.env.a: expected a string, in quotes, found integer 1");
    UNIT_TEXT(checked(declared, "env = [\"a\"]\n", &rc),
              "f:1:7: t.env: expected a table of strings, found list");
}

static void options_of_the_wrong_kind_are_refused(void)
{
    static const struct {
        const char *text, *problem;
    } rows[] = {
        {"program = 1\n", "f:1:11: t.program: expected a string, found integer 1"},
        {"program = \"a\\u0000\"\n",
         "f:1:11: t.program: expected a string, found string \"a\\u0000\""},
        {"count = 1.5\n", "f:1:9: t.count: expected an integer, found number 1.5"},
        {"count = 9007199254740993\n",
         "f:1:9: t.count: expected an integer, found integer 9007199254740993"},
        {"on = 1\n", "f:1:6: t.on: expected true or false, found integer 1"},
        {"size = \"big\"\n", "f:1:8: t.size: expected a size (\"8MiB\", or bytes as an integer), "
                             "found string \"big\""},
        {"wait = []\n", "f:1:8: t.wait: expected a time (\"30s\", \"5m\", \"250ms\", or seconds as "
                        "a number), found list without content"},
        {"words = \"a\"\n", "f:1:9: t.words: expected a list of strings, found string \"a\""},
        {"words = [1]\n",
         "f:1:10: t.words: expected a string without NUL characters, found integer 1"},
        {"paths = [\"a\"]\n", "f:1:10: t.paths: expected an absolute path, found string \"a\""},
        {"progam = \"a\"\n", "f:1:1: t.progam: unknown key; did you mean t.program?"},
        {"zzzzzz = 1\n", "f:1:1: t.zzzzzz: unknown key"},
        {"on = 1\ncount = true\n",
         "f:2:9: t.count: expected an integer, found boolean true; f:1:6: "
         "t.on: expected true or false, found integer 1"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int rc;
        UNIT_TEXT(checked(options, rows[i].text, &rc), rows[i].problem);
        CU_ASSERT_EQUAL(rc, LAZ_ECONFIG);
    }
}

static void options_nest_in_lists_of_tables(void)
{
    int rc;

    UNIT_TEXT(checked(tool_options,
                      "provider = \"command\"\n[[tool]]\nname = \"a\"\n[[tool]]\nname = \"b\"\n"
                      "description = \"d\"\noutput = \"json\"\n",
                      &rc),
              "{\"tool\":[{\"name\":\"a\",\"description\":\"\",\"parameters\":[]},"
              "{\"name\":\"b\",\"description\":\"d\",\"parameters\":[],\"output\":\"json\"}]}");
    UNIT_TEXT(checked(tool_options, "[[tool]]\n", &rc),
              "f:1:1: t.tool.name: expected a string, found nothing (name of the tool)");
    UNIT_TEXT(checked(tool_options, "[[tool]]\nname = 1\nnam = 2\n", &rc),
              "f:3:1: t.tool.nam: unknown key; did you mean t.tool.name?; "
              "f:2:8: t.tool.name: expected a string, found integer 1");
    UNIT_TEXT(checked(tool_options, "[tool]\nname = \"a\"\n", &rc),
              "f:1:1: t.tool: expected a list of tables, found table");
    UNIT_TEXT(checked(tool_options, "tool = [1]\n", &rc),
              "f:1:9: t.tool: expected a table, found integer 1");
    UNIT_TEXT(checked(tool_options, NULL, &rc),
              "t.tool: expected a list of tables, found nothing (one for each tool)");
    CU_ASSERT_EQUAL(rc, LAZ_ECONFIG);
}

static void options_make_parameters_a_list_in_the_order_of_the_file(void)
{
    int rc;

    UNIT_TEXT(
        checked(tool_options,
                "[[tool]]\nname = \"t\"\n[tool.parameters]\n"
                "z = { description = \"a \\\"z\\\"\", type = \"integer\", required = true }\n"
                "a = \"string\"\n"
                "m = { default = { k = [1, 2.0, true, 2024-01-31] }, enum = [1, \"x\"] }\n"
                "n = {}\n",
                &rc),
        "{\"tool\":[{\"name\":\"t\",\"description\":\"\",\"parameters\":["
        "{\"name\":\"z\",\"type\":\"integer\",\"description\":\"a \\\"z\\\"\",\"required\":true},"
        "{\"name\":\"a\",\"type\":\"string\"},"
        "{\"name\":\"m\",\"default\":{\"k\":[1,2.0,true,{\"$date\":\"2024-01-31\"}]},"
        "\"enum\":[1,\"x\"]},"
        "{\"name\":\"n\"}]}]}");
}

static void options_of_parameters_are_checked(void)
{
    static const struct {
        const char *text, *problem;
    } rows[] = {
        {"p = 3", "f:3:19: t.tool.parameters.p: expected a type (\"integer\") or a table ({ type = "
                  "\"integer\" }), found integer 3"},
        {"p = { tpye = \"integer\" }",
         "f:3:21: t.tool.parameters.p.tpye: unknown key; did you mean type?"},
        {"p = { type = 3 }", "f:3:28: t.tool.parameters.p.type: expected the name of a type, such "
                             "as \"integer\", found integer 3"},
        {"p = { required = \"yes\" }",
         "f:3:32: t.tool.parameters.p.required: expected true or false, found string \"yes\""},
        {"p = { enum = [] }", "f:3:28: t.tool.parameters.p.enum: expected a list of the allowed "
                              "values, found list without content"},
        {"p = { default = { \"a\\u0000\" = 1 } }",
         "f:3:45: t.tool.parameters.p.default: expected a key without NUL characters, found "
         "integer 1"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct laz_buf text = LAZ_BUF_INIT;
        int rc;
        laz_buf_printf(&text, "[[tool]]\nname = \"t\"\nparameters = {%s }\n", rows[i].text);
        UNIT_TEXT(checked(tool_options, text.data, &rc), rows[i].problem);
        CU_ASSERT_EQUAL(rc, LAZ_ECONFIG);
        laz_buf_fini(&text);
    }
}

static void options_of_a_wrong_plugin_are_its_mistake(void)
{
    static const struct laz_option bad_default[] = {{"a", LAZ_OPT_STRING, "[", "x"},
                                                    {NULL, 0, NULL, NULL}};
    static const struct laz_option bad_type[] = {{"a", 99, "1", "x"}, {NULL, 0, NULL, NULL}};
    int rc;

    UNIT_TEXT(checked(bad_default, NULL, &rc),
              "t.a: the plugin's default cannot be read: expected a value, found the end of the "
              "file");
    CU_ASSERT_EQUAL(rc, LAZ_ECONFIG);
    UNIT_TEXT(checked(bad_type, NULL, &rc),
              "t.a: the plugin declares an option of unknown type 99");
    CU_ASSERT_EQUAL(rc, LAZ_ECONFIG);
}

#ifdef HAVE_FAULTS
/* A key or a value that is refused: the whole reason, or that memory is short. */
static void settings_refuse_with_the_whole_reason(void)
{
    static const char *const keys[] = {"sandbox.bakend", "sandbox.strict", "sandbox.bwrap"};
    struct laz_settings *settings;
    unsigned long n;

    CU_ASSERT_FATAL(laz_settings_new(&settings, NULL) == 0);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct laz_error whole = {0};
        int rc = laz_settings_set(settings, keys[i], "7", &whole);
        CU_ASSERT_EQUAL(rc, LAZ_ECONFIG);
        for (n = 1, rc = LAZ_ENOMEM; rc == LAZ_ENOMEM && n < 1000; n++) {
            struct laz_error err = {0};
            fault_begin(n, false);
            rc = laz_settings_set(settings, keys[i], "7", &err);
            unsigned long allocations = fault_end();
            if (rc != LAZ_ENOMEM)
                UNIT_TEXT(err.text, whole.text);
            if (n <= allocations) /* some failures change nothing: all are tried */
                rc = LAZ_ENOMEM;
        }
        CU_ASSERT_EQUAL(rc, LAZ_ECONFIG);
    }
    laz_settings_free(settings);
}
#endif

static const struct unit_test tests[] = {
    UNIT(options_have_defaults_without_a_table),
    UNIT(options_take_the_values_of_the_table),
    UNIT(a_table_of_strings_is_an_object),
    UNIT(options_of_the_wrong_kind_are_refused),
    UNIT(options_nest_in_lists_of_tables),
    UNIT(options_make_parameters_a_list_in_the_order_of_the_file),
    UNIT(options_of_parameters_are_checked),
    UNIT(options_of_a_wrong_plugin_are_its_mistake),
#ifdef HAVE_FAULTS
    UNIT(settings_refuse_with_the_whole_reason),
#endif
    {0},
};

int main(void)
{
    return unit_run("options", tests);
}
