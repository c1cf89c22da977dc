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
    LAZ_OPTION("program", LAZ_OPT_STRING, "\"bwrap\"", "the program"),
    LAZ_OPTION("count", LAZ_OPT_INTEGER, "1", "how often"),
    LAZ_OPTION("on", LAZ_OPT_BOOLEAN, "false", "whether"),
    LAZ_OPTION("size", LAZ_OPT_SIZE, "\"1KiB\"", "how large"),
    LAZ_OPTION("wait", LAZ_OPT_TIME, "10", "how long"),
    LAZ_OPTION("words", LAZ_OPT_STRINGS, "[]", "some words"),
    LAZ_OPTION("paths", LAZ_OPT_PATHS, "", "some paths"),
    LAZ_OPTIONS_END,
};

static const struct laz_option tool_options[] = {
    LAZ_OPTION("tool", LAZ_OPT_TABLES, NULL, "one for each tool"),
    LAZ_OPTION("tool.name", LAZ_OPT_STRING, NULL, "name of the tool"),
    LAZ_OPTION("tool.description", LAZ_OPT_STRING, "\"\"", "for the model"),
    LAZ_OPTION("tool.parameters", LAZ_OPT_PARAMETERS, "{}", "its parameters"),
    LAZ_OPTION("tool.output", LAZ_OPT_STRING, "", "form of the output"),
    LAZ_OPTIONS_END,
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
        LAZ_OPTION("env", LAZ_OPT_TEXTS, "{}", "variables"),
        LAZ_OPTIONS_END,
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

static void values_keep_to_what_the_option_declares(void)
{
    static const struct laz_option declared[] = {
        LAZ_OPTION("port", LAZ_OPT_INTEGER, "80", "of it", .min = "1", .max = "65535"),
        LAZ_OPTION("size", LAZ_OPT_SIZE, "\"1MiB\"", "of it", .min = "\"1KiB\""),
        LAZ_OPTION("wait", LAZ_OPT_TIME, "1", "for it", .max = "\"1h\""),
        LAZ_OPTION("mode", LAZ_OPT_STRING, "\"a\"", "of it", .one_of = "[\"a\", \"b\"]"),
        LAZ_OPTION("level", LAZ_OPT_INTEGER, "1", "of it", .one_of = "[1, 2, 4]"),
        LAZ_OPTION("kinds", LAZ_OPT_STRINGS, "[]", "of it", .one_of = "[\"x\", \"y\"]"),
        LAZ_OPTIONS_END,
    };
    static const struct {
        const char *text, *problem;
    } rows[] = {
        {"\nport = 0\n", "f:2:8: t.port: expected an integer from 1 to 65535, found integer 0"},
        {"port = 65536\n",
         "f:1:8: t.port: expected an integer from 1 to 65535, found integer 65536"},
        {"port = \"a\"\n",
         "f:1:8: t.port: expected an integer from 1 to 65535, found string \"a\""},
        {"size = 1023\n",
         "f:1:8: t.size: expected a size (\"8MiB\", or bytes as an integer) of at least \"1KiB\", "
         "found integer 1023"},
        {"wait = 3600.5\n", "f:1:8: t.wait: expected a time (\"30s\", \"5m\", \"250ms\", or "
                            "seconds as a number) of at "
                            "most \"1h\", found number 3600.5"},
        {"mode = \"c\"\n", "f:1:8: t.mode: expected one of \"a\", \"b\", found string \"c\""},
        {"mode = 1\n", "f:1:8: t.mode: expected one of \"a\", \"b\", found integer 1"},
        {"level = 3\n", "f:1:9: t.level: expected one of 1, 2, 4, found integer 3"},
        {"kinds = [\"x\",\n \"z\"]\n",
         "f:2:2: t.kinds: expected a list, each one of \"x\", \"y\", found string \"z\""},
    };
    int rc;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        UNIT_TEXT(checked(declared, rows[i].text, &rc), rows[i].problem);
        CU_ASSERT_EQUAL(rc, LAZ_ECONFIG);
    }
    UNIT_TEXT(checked(declared,
                      "port = 65535\nsize = 1024\nwait = \"60m\"\nmode = \"b\"\nlevel = 4\n"
                      "kinds = [\"y\", \"x\"]\n",
                      &rc),
              "{\"port\":65535,\"size\":1024,\"wait\":3600000,\"mode\":\"b\",\"level\":4,"
              "\"kinds\":[\"y\",\"x\"]}");
}

static void a_path_and_any_value_are_options(void)
{
    static const struct laz_option declared[] = {
        LAZ_OPTION("file", LAZ_OPT_PATH, "", "where it is"),
        LAZ_OPTION("rest", LAZ_OPT_ANY, "", "whatever"),
        LAZ_OPTIONS_END,
    };
    int rc;

    UNIT_TEXT(checked(declared, NULL, &rc), "{}");
    UNIT_TEXT(checked(declared,
                      "file = \"" TEST_ROOT "/a\"\nrest = { a = [1, true, { b = \"c\" }], "
                      "d = 2026-01-02 }\n",
                      &rc),
              "{\"file\":\"" TEST_ROOT "/a\",\"rest\":{\"a\":[1,true,{\"b\":\"c\"}],"
              "\"d\":{\"$date\":\"2026-01-02\"}}}");
    UNIT_TEXT(checked(declared, "rest = 7\n", &rc), "{\"rest\":7}");
    UNIT_TEXT(checked(declared, "file = \"a\"\n", &rc),
              "f:1:8: t.file: expected an absolute path, found string \"a\"");
    UNIT_TEXT(checked(declared, "file = []\n", &rc),
              "f:1:8: t.file: expected an absolute path, found list without content");
}

static void values_of_secret_options_are_in_no_message(void)
{
    static const struct laz_option declared[] = {
        LAZ_OPTION("token", LAZ_OPT_STRING, "", "of it", .flags = LAZ_OPT_SECRET,
                   .one_of = "[\"good\"]"),
        LAZ_OPTION("pin", LAZ_OPT_INTEGER, "", "of it", .flags = LAZ_OPT_SECRET, .max = "9"),
        LAZ_OPTION("headers", LAZ_OPT_TEXTS, "{}", "of it", .flags = LAZ_OPT_SECRET),
        LAZ_OPTION("rest", LAZ_OPT_ANY, "", "of it", .flags = LAZ_OPT_SECRET),
        LAZ_OPTION("user", LAZ_OPT_INTEGER, "", "shown"),
        LAZ_OPTIONS_END,
    };
    static const struct {
        const char *text, *problem;
    } rows[] = {
        {"token = \"12345\"\n",
         "f:1:9: t.token: expected one of \"good\", found string (its value is not shown)"},
        {"pin = 12345\n",
         "f:1:7: t.pin: expected an integer of at most 9, found integer (its value is not shown)"},
        {"headers = \"12345\"\n",
         "f:1:11: t.headers: expected a table of strings, found string (its value is not shown)"},
        {"headers = { a = 12345 }\n",
         "f:1:17: t.headers.a: expected a string, in quotes, found integer "
         "(its value is not shown)"},
        {"rest = { secret = \"set\" }\n",
         "f:1:8: t.rest: expected the secret itself, which lazaret config does not show, found "
         "table"},
        {"user = \"12345\"\n", "f:1:8: t.user: expected an integer, found string \"12345\""},
    };
    struct laz_toml *toml = NULL;
    struct laz_buf json = LAZ_BUF_INIT;
    const char *text = "token = \"good\"\npin = 5\nheaders = { a = \"12345\" }\nuser = 1\n";
    int rc;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        UNIT_TEXT(checked(declared, rows[i].text, &rc), rows[i].problem);
    UNIT_TEXT(checked(declared, text, &rc),
              "{\"token\":\"good\",\"pin\":5,\"headers\":{\"a\":\"12345\"},\"user\":1}");
    CU_ASSERT_EQUAL_FATAL(laz_toml_parse(text, strlen(text), "f", &toml, NULL), 0);
    CU_ASSERT_EQUAL(laz_settings_show_options(toml->root, declared, "t", &json, NULL), 0);
    UNIT_TEXT(laz_buf_text(&json),
              "{\"token\":\"(set)\",\"pin\":null,\"headers\":{\"a\":\"(set)\"},\"user\":1}");
    laz_buf_fini(&json);
    laz_toml_free(toml);
}

static const struct laz_option secret_options[] = {
    LAZ_OPTION("token", LAZ_OPT_STRING, "", "of it", .flags = LAZ_OPT_SECRET),
    LAZ_OPTION("headers", LAZ_OPT_TEXTS, "{}", "of it", .flags = LAZ_OPT_SECRET),
    LAZ_OPTION("user", LAZ_OPT_STRING, "", "of it"),
    LAZ_OPTION("tool", LAZ_OPT_TABLES, "[]", "some"),
    LAZ_OPTION("tool.key", LAZ_OPT_STRING, "", "of it", .flags = LAZ_OPT_SECRET),
    LAZ_OPTION("tool.name", LAZ_OPT_STRING, "", "of it"),
    LAZ_OPTIONS_END,
};

/* There is one plugin. */
static bool secret_plugin(void *user, const char *section, const char *name,
                          const struct laz_option **found)
{
    (void)user;
    (void)section;
    *found = secret_options;
    return strcmp(name, "known") == 0;
}

static void collect_set(void *user, const struct laz_settings_shown *shown)
{
    CU_ASSERT_PTR_NULL(strstr(shown->json, "12345"));
    if (strcmp(shown->origin, "--set") == 0)
        laz_buf_printf(user, "%s = %s\n", shown->key, shown->value);
}

static void secrets_are_shown_as_set(void)
{
    static const char *const pairs[][2] = {
        {"env.set", "{ A = \"12345\" }"},
        {"sandbox.read", "[\"" TEST_ROOT "/a\"]"},
        {"runtime.known", "{ token = \"12345\", user = \"me\", tokne = \"12345\" }"},
        {"runtime.other", "{ user = \"12345\" }"},
        {"tools", "[{ provider = \"known\", headers = { X = \"12345\" }, tool = [{ name = \"n\", "
                  "key = \"12345\" }, 12345] }, { provider = \"other\", user = 12345 }]"},
    };
    struct laz_settings *settings = NULL, *again = NULL;
    struct laz_buf text = LAZ_BUF_INIT;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL_FATAL(laz_settings_new(&settings, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_settings_new(&again, NULL), 0);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        CU_ASSERT_EQUAL(laz_settings_set(settings, pairs[i][0], pairs[i][1], &err), 0);
    laz_settings_mark_secrets(settings, secret_plugin, NULL);
    laz_settings_visit(settings, collect_set, &text);
    UNIT_TEXT(laz_buf_text(&text),
              "sandbox.read = [\"" TEST_ROOT "/a\"]\n"
              "env.set = { A = { secret = \"set\" } }\n"
              "runtime.known.token = { secret = \"set\" }\n"
              "runtime.known.user = \"me\"\n"
              "runtime.known.tokne = { secret = \"set\" }\n"
              "runtime.other.user = { secret = \"set\" }\n"
              "tools = [{ provider = \"known\", headers = { X = { secret = \"set\" } }, "
              "tool = [{ name = \"n\", key = { secret = \"set\" } }, { secret = \"set\" }] }, "
              "{ provider = \"other\", user = { secret = \"set\" } }]\n");
    UNIT_TEXT(laz_settings_values(settings)->env.set.items[0], "A=12345");
    CU_ASSERT_EQUAL(laz_settings_set(again, "env.set", "{ A = { secret = \"set\" } }", &err),
                    LAZ_ECONFIG);
    UNIT_TEXT(err.text, "env.set: expected a string without NUL characters, found table");
    laz_buf_fini(&text);
    laz_settings_free(settings);
    laz_settings_free(again);
}

static void bounds_of_a_wrong_plugin_are_its_mistake(void)
{
    static const struct laz_option unread[] = {
        LAZ_OPTION("a", LAZ_OPT_INTEGER, "1", "x", .min = "["), LAZ_OPTIONS_END};
    static const struct laz_option unfit[] = {
        LAZ_OPTION("a", LAZ_OPT_STRING, "\"\"", "x", .max = "5"), LAZ_OPTIONS_END};
    static const struct laz_option no_list[] = {
        LAZ_OPTION("a", LAZ_OPT_STRING, "\"\"", "x", .one_of = "5"), LAZ_OPTIONS_END};
    int rc;

    UNIT_TEXT(
        checked(unread, NULL, &rc),
        "t.a: the plugin's bound cannot be read: expected a value, found the end of the file");
    CU_ASSERT_EQUAL(rc, LAZ_ECONFIG);
    UNIT_TEXT(checked(unfit, NULL, &rc), "t.a: the plugin's bound 5 does not fit its type");
    UNIT_TEXT(checked(no_list, NULL, &rc), "t.a: the plugin's bound 5 does not fit its type");
}

static void options_of_a_wrong_plugin_are_its_mistake(void)
{
    static const struct laz_option bad_default[] = {LAZ_OPTION("a", LAZ_OPT_STRING, "[", "x"),
                                                    LAZ_OPTIONS_END};
    static const struct laz_option bad_type[] = {LAZ_OPTION("a", 99, "1", "x"), LAZ_OPTIONS_END};
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
    UNIT(values_keep_to_what_the_option_declares),
    UNIT(a_path_and_any_value_are_options),
    UNIT(values_of_secret_options_are_in_no_message),
    UNIT(secrets_are_shown_as_set),
    UNIT(bounds_of_a_wrong_plugin_are_its_mistake),
#ifdef HAVE_FAULTS
    UNIT(settings_refuse_with_the_whole_reason),
#endif
    {0},
};

int main(void)
{
    return unit_run("options", tests);
}
