/* SPDX-License-Identifier: MIT */
/* test_spelling.c - how tools and parameters are written in a language beside each other, and stubs
 * in languages that are nothing but a description. */
#include "languages.h"
#include "unit.h"

#include "tool/tool.h"

#include <stdlib.h>
#include <string.h>

/* The languages of this version, one in which names have dots, and one of commands. */
static const struct laz_language_names rules_of_dots = {
    .other = ".", .first = "X", .after = ".", .dots = true};
static char *builtins[] = {(char *)"test", NULL};
static const struct laz_language_names rules_of_commands = {
    .other = "-",
    .first = "_",
    .after = "_",
    .globals = {builtins, 1, 2, false},
    .dots = true,
    .underscore = true,
};
static struct laz_spelling languages[] = {{"lua", 1, NULL, NULL, 4},
                                          {"python", 2, NULL, NULL, 4},
                                          {"dots", 3, &rules_of_dots, NULL, 4},
                                          {"commands", 4, &rules_of_commands, NULL, 4}};
static struct laz_spellings spellings = {languages, 4, true};

enum { LUA, PYTHON, DOTS, COMMANDS };

static void add(struct laz_tool_set *set, const char *name, const char *parameters)
{
    struct laz_tool tool = {.size = sizeof tool, .name = name, .parameters = parameters};
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(laz_tool_set_add(set, &tool, &spellings, NULL, set->n, &err), 0);
    UNIT_TEXT(err.text, "");
}

/* How the last tool of the set is written. */
static const char *written(const struct laz_tool_set *set, int language)
{
    return laz_tool_spelled(&set->entries[set->n - 1], &languages[language]);
}

static void a_command_hides_no_program(void)
{
    static const struct {
        const char *name, *written;
    } rows[] = {
        {"weekday-of", "weekday-of"}, {"get.user", "get.user"}, {"test", "test_"}, {"sh", "sh_"},
        {"test_", "test_-2"},         {"sh-2", "sh-2"}};
    struct laz_tool_set set = {.n = 0};
    struct laz_buf json = LAZ_BUF_INIT;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        add(&set, rows[i].name, NULL);
        UNIT_TEXT(written(&set, COMMANDS), rows[i].written);
        UNIT_TEXT(laz_tool_command(&set.entries[i], &languages[PYTHON]), rows[i].written);
    }
    laz_tool_set_json(&set, NULL, &languages[PYTHON], &json);
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&json), "\"command\":\"sh_\""));
    laz_buf_fini(&json);
    laz_tool_set_fini(&set);
}

static void what_code_cannot_do_without_is_not_replaced(void)
{
    static const struct {
        const char *name, *lua, *python;
    } rows[] = {
        {"print", "print_", "print_"},
        {"string", "string_", "string"},
        {"error", "error_", "error"},
        {"_G", "_G_", "_G"},
        {"len", "len", "len_"},
        {"exec", "exec", "exec_"},
        {"__import__", "__import__", "__import___"},
        {"ValueError", "ValueError", "ValueError_"},
        {"null", "null_", "null"},
        {"string.upper", "string.upper_", "string_upper"},
        {"string.rot13", "string.rot13", "string_rot13"},
        {"print.now", "print_.now", "print_now"},
        {"string.upper.now", "string.upper_.now", "string_upper_now"},
        {"printer", "printer", "printer"},
        {"stringy.upper", "stringy.upper", "stringy_upper"},
        {"my.print", "my.print", "my_print"},
        {"get-user", "get_user", "get_user"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_tool_set set = {0};
        add(&set, rows[i].name, "[{\"name\":\"print\"},{\"name\":\"len\"}]");
        UNIT_TEXT(written(&set, LUA), rows[i].lua);
        UNIT_TEXT(written(&set, PYTHON), rows[i].python);
        struct laz_strv parameters = LAZ_STRV_INIT;
        laz_tool_spell_parameters(set.entries, &languages[PYTHON], &parameters);
        UNIT_TEXT(parameters.items[0], "print"); /* a parameter replaces nothing */
        UNIT_TEXT(parameters.items[1], "len");
        laz_strv_fini(&parameters);
        laz_tool_set_fini(&set);
    }
}

static void tools_that_are_written_alike_get_a_number(void)
{
    static const struct {
        const char *name, *lua, *python, *dots;
    } rows[] = {
        {"get-user", "get_user", "get_user", "get.user"},
        {"get_user", "get_user_2", "get_user_2", "get_user"},
        {"get.user", "get.user", "get_user_3", "get.user.2"},
        {"get_user_2", "get_user_2_2", "get_user_2_2", "get_user_2"},
        {"get", "get_2", "get", "get"}, /* a table has get.user */
        {"sum", "sum", "sum_", "sum"},
        {"sum_", "sum_", "sum__2", "sum_"},
        {"sum.up", "sum_up", "sum_up", "sum.up"}, /* sum is not a table */
    };
    struct laz_tool_set set = {0}, own = {.beside = &set};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        add(&set, rows[i].name, NULL);
        UNIT_TEXT(written(&set, LUA), rows[i].lua);
        UNIT_TEXT(written(&set, PYTHON), rows[i].python);
        UNIT_TEXT(written(&set, DOTS), rows[i].dots);
    }
    add(&own, "Get-user", NULL);
    UNIT_TEXT(written(&own, PYTHON), "Get_user");
    add(&own, "get-_user", NULL);
    UNIT_TEXT(written(&own, PYTHON), "get__user");
    add(&own, "sum-", NULL); /* sum_ is the tool sum of the engine, sum__2 its sum_ */
    UNIT_TEXT(written(&own, PYTHON), "sum__3");
    laz_tool_set_fini(&own);
    laz_tool_set_fini(&set);
}

/* The spellings in Python, with spaces between. */
static const char *parameters_of(const char *parameters)
{
    static struct laz_buf text = LAZ_BUF_INIT;
    struct laz_strv spelled = LAZ_STRV_INIT;
    struct laz_tool_set set = {0};

    laz_buf_clear(&text);
    add(&set, "T", parameters);
    laz_tool_spell_parameters(set.entries, &languages[PYTHON], &spelled);
    for (size_t i = 0; i < spelled.n; i++)
        laz_buf_printf(&text, "%s%s", i ? " " : "", spelled.items[i]);
    laz_strv_fini(&spelled);
    laz_tool_set_fini(&set);
    return laz_buf_text(&text);
}

static void each_parameter_has_a_spelling_of_its_own(void)
{
    UNIT_TEXT(parameters_of("[{\"name\":\"gr\u00f6\u00dfe\"},{\"name\":\"\u5024\"}]"), "gr__e _");
    UNIT_TEXT(parameters_of("[{\"name\":\"a-b\"},{\"name\":\"a.b\"},{\"name\":\"a_b\"}]"),
              "a_b_2 a_b_3 a_b"); /* that which is written as it is keeps its name */
    UNIT_TEXT(parameters_of("[{\"name\":\"\u5024\"},{\"name\":\"\u5b57\"},{\"name\":\"__2\"}]"),
              "_ __3 __2");
    UNIT_TEXT(parameters_of("[{\"name\":\"a b\"},{\"name\":\"A B\"}]"), "a_b A_B");
}

static void the_stub_tells_a_name_that_the_spelling_does_not(void)
{
    struct laz_tool_set set = {0};
    struct laz_buf text = LAZ_BUF_INIT;

    add(&set, "size-of",
        "[{\"name\":\"gr\u00f6\u00dfe\",\"type\":\"integer\"},"
        "{\"name\":\"a-b\",\"required\":false},{\"name\":\"a_b\"}]");
    add(&set, "size_of", NULL);
    CU_ASSERT_EQUAL(laz_tool_set_format(&set, "python", languages_get("python"), &languages[PYTHON],
                                        &text, NULL),
                    0);
    CU_ASSERT_PTR_NOT_NULL(strstr(
        text.data, "def size_of(gr__e: int, a_b_2=None, *, a_b):\n    \"\"\"\n    size-of\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text.data, "    gr__e: integer (declared as 'gr\u00f6\u00dfe')\n"
                                             "    a_b_2: any value, optional (declared as 'a-b')\n"
                                             "    a_b: any value\n"));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(text.data, "def size_of_2():\n    \"\"\"\n    size_of (declared as 'size_of')\n"));
    laz_buf_clear(&text);
    laz_tool_set_json(&set, NULL, &languages[PYTHON], &text);
    CU_ASSERT_PTR_NOT_NULL(strstr(text.data, "\"spelling\":\"gr__e\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(text.data, "\"spelling\":\"size_of_2\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(text.data, "(declared as 'gr\u00f6\u00dfe')"));
    laz_buf_fini(&text);
    laz_tool_set_fini(&set);
}

static void the_application_is_told_of_other_names(void)
{
    struct laz_tools tools = {.spellings = spellings};
    struct laz_strv lines = LAZ_STRV_INIT;

    add(&tools.set, "print", NULL);
    add(&tools.set, "get-user", NULL);
    add(&tools.set, "len", NULL);
    add(&tools.set, "get_user", NULL);
    laz_tools_respelled(&tools, &lines);
    CU_ASSERT_EQUAL_FATAL(lines.n, 3);
    UNIT_TEXT(lines.items[0], "the tool print is called print_ in lua, print_ in python");
    UNIT_TEXT(lines.items[1], "the tool len is called len_ in python");
    UNIT_TEXT(lines.items[2],
              "the tool get_user is called get_user_2 in lua, get_user_2 in python");
    laz_strv_fini(&lines);
    laz_tool_set_fini(&tools.set);
}

/* ---- languages that are a description ----------------------------------------------------------
 */

static const char tcl[] =
    "{\"kind\":\"language\",\"abi\":\"1.1\",\"name\":\"tcl\","
    "\"names\":{\"other\":\"_\",\"first\":\"_\",\"after\":\"_\",\"underscore\":true,"
    "\"globals\":[\"puts\",\"set\"]},"
    "\"stub\":{\"null_word\":\"{}\",\"true_word\":\"true\",\"false_word\":\"false\","
    "\"list_open\":\"{\",\"list_close\":\"}\",\"map_open\":\"{\",\"map_close\":\"}\","
    "\"key_open\":\"\",\"key_close\":\" \",\"before\":\"\",\"line\":\"# \",\"parameter_line\":\"#  "
    " \","
    "\"before_parameter\":\"\",\"after_parameter\":\": \",\"after\":\"\",\"before_name\":\"proc \","
    "\"after_name\":\" \",\"arguments_open\":\"{\",\"between_arguments\":\" \","
    "\"arguments_close\":\"}\",\"after_arguments\":\" {}\\n\",\"before_optional\":\"{\","
    "\"after_optional\":\"}\",\"before_default\":\" \",\"defaults\":true,\"between_values\":\" \","
    "\"escapes\":{\"\\\"\":\"\\\\\\\"\",\"\\\\\":\"\\\\\\\\\",\"$\":\"\\\\$\",\"[\":\"\\\\[\","
    "\"\\n\":\"\\\\n\"}}}";

static const char shell[] =
    "{\"kind\":\"language\",\"abi\":\"1.1\",\"name\":\"sh\","
    "\"stub\":{\"null_word\":\"''\",\"true_word\":\"true\",\"false_word\":\"false\","
    "\"list_open\":\"\",\"list_close\":\"\",\"map_open\":\"\",\"map_close\":\"\","
    "\"key_open\":\"\",\"key_close\":\"=\",\"before\":\"\",\"line\":\"# \",\"parameter_line\":\"#  "
    " \","
    "\"before_parameter\":\"\",\"after_parameter\":\": \",\"after\":\"\",\"before_name\":\"\","
    "\"after_name\":\"\",\"arguments_open\":\" \",\"between_arguments\":\" \","
    "\"arguments_close\":\"\",\"after_arguments\":\"\\n\",\"before_optional\":\"[\","
    "\"after_optional\":\"]\",\"before_default\":\"=\",\"defaults\":true,\"between_values\":\" \","
    "\"string_open\":\"'\",\"string_close\":\"'\",\"escapes\":{\"'\":\"'\\\\''\"}}}";

/* The stubs of two tools in the language that this text describes. */
static const char *stubs_of(const char *name, const char *description)
{
    static struct laz_buf text = LAZ_BUF_INIT;
    struct laz_tool_set set = {0};
    struct laz_error err = {0};
    void *language = NULL;

    laz_buf_clear(&text);
    add(&set, "puts",
        "[{\"name\":\"text\",\"type\":\"string\",\"description\":\"what\"},"
        "{\"name\":\"to\",\"type\":\"string\",\"default\":\"it's \\\"$x\\\"\"},"
        "{\"name\":\"days\",\"type\":\"array\",\"default\":[1,true,null]}]");
    add(&set, "now", NULL);
    CU_ASSERT_EQUAL_FATAL(laz_description_parse(&laz_language_description, description,
                                                strlen(description), "x.language.json", &language,
                                                &err),
                          0);
    CU_ASSERT_EQUAL(laz_tool_set_format(&set, name, language, NULL, &text, &err), 0);
    UNIT_TEXT(err.text, "");
    laz_description_free(&laz_language_description, language);
    laz_tool_set_fini(&set);
    return laz_buf_text(&text);
}

static void a_language_has_its_form_of_a_stub_from_its_description(void)
{
    UNIT_TEXT(stubs_of("tcl", tcl),
              "# puts\n"
              "#   text: string: what\n"
              "#   to: string, default \"it's \\\"\\$x\\\"\"\n"
              "#   days: array, default {1 true {}}\n"
              "proc puts_ {text {to \"it's \\\"\\$x\\\"\"} {days {1 true {}}}} {}\n"
              "\n"
              "# now\n"
              "proc now {} {}\n");
    UNIT_TEXT(stubs_of("sh", shell), "# puts\n"
                                     "#   text: string: what\n"
                                     "#   to: string, default 'it'\\''s \"$x\"'\n"
                                     "#   days: array, default 1 true ''\n"
                                     "puts text [to='it'\\''s \"$x\"'] [days=1 true '']\n"
                                     "\n"
                                     "# now\n"
                                     "now \n");
}

static const struct unit_test tests[] = {
    UNIT(a_command_hides_no_program),
    UNIT(what_code_cannot_do_without_is_not_replaced),
    UNIT(tools_that_are_written_alike_get_a_number),
    UNIT(each_parameter_has_a_spelling_of_its_own),
    UNIT(the_stub_tells_a_name_that_the_spelling_does_not),
    UNIT(the_application_is_told_of_other_names),
    UNIT(a_language_has_its_form_of_a_stub_from_its_description),
    {0},
};

int main(void)
{
    languages[LUA].rules = &languages_get("lua")->names;
    languages[PYTHON].rules = &languages_get("python")->names;
    return unit_run("spelling", tests);
}
