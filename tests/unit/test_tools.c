/* SPDX-License-Identifier: MIT */
/* test_tools.c - declarations of tools, checks of arguments, stubs. */
#include "languages.h"
#include "unit.h"

#include "base/json.h"
#include "tool/tool.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Two languages: one in which names have dots, and one in which dots lead to fields. */
static struct laz_strv words_of_r = LAZ_STRV_INIT, words_of_lua = LAZ_STRV_INIT;
static const struct laz_language_names rules_of_r = {
    .other = ".", .first = "X", .after = ".", .dots = true};
static const struct laz_language_names rules_of_lua = {
    .other = "_", .first = "_", .after = "_", .underscore = true, .fields = true};
static struct laz_spelling languages[] = {{"r", 1, &rules_of_r, &words_of_r, 0},
                                          {"lua", 2, &rules_of_lua, &words_of_lua, 0}};
static struct laz_spellings spellings = {languages, 2, true};

static int add(struct laz_tool_set *set, const char *name, const char *parameters,
               struct laz_error *err)
{
    struct laz_tool tool = {.size = sizeof tool, .name = name, .parameters = parameters};

    return laz_tool_set_add(set, &tool, &spellings, NULL, set->n, err);
}

/* The text of the error of declaring a tool with these parameters; "" when it is accepted. */
static const char *declare(const char *name, const char *parameters)
{
    static struct laz_error err;
    struct laz_tool_set set = {0};

    memset(&err, 0, sizeof err);
    int ret = add(&set, name, parameters, &err);
    CU_ASSERT_EQUAL(ret, *err.text ? LAZ_EINVAL : 0);
    CU_ASSERT_EQUAL(set.n, *err.text ? 0 : 1);
    laz_tool_set_fini(&set);
    return err.text;
}

/* The checked arguments of a tool with these parameters, or the error. */
static const char *check(const char *parameters, const char *args)
{
    static struct laz_buf checked = LAZ_BUF_INIT;
    static struct laz_error err;
    struct laz_tool_set set = {0};

    laz_buf_clear(&checked);
    memset(&err, 0, sizeof err);
    CU_ASSERT_EQUAL(laz_json_scan(args, strlen(args), &err), 0);
    if (add(&set, "T", parameters, &err)) {
        laz_tool_set_fini(&set);
        return err.text;
    }
    int ret = laz_tool_check_arguments(&set.entries[0], args, strlen(args), &checked, &err);
    if (ret)
        CU_ASSERT_EQUAL(checked.len, 0);
    laz_tool_set_fini(&set);
    if (ret)
        return err.text;
    CU_ASSERT_EQUAL(laz_json_scan(checked.data, checked.len, &err), 0);
    return checked.data;
}

static void names_of_tools_follow_the_rule(void)
{
    static const struct {
        const char *name;
        bool valid;
    } rows[] = {
        {"my_tool", true},
        {"tool.name", true},
        {"myTool2", true},
        {".hidden", true},
        {"my.tool_v2", true},
        {"A", true},
        {"", false},
        {"has space", false},
        {"x; system('id')", false},
        {"123", true},
        {"get-user", true},
        {"_x", true},
        {"...", true},
        {".2x", true},
        {"-", true},
        {"../../etc/pw", false},
        {"f(", false},
        {"quote\"", false},
        {"caf\xc3\xa9", false},
        {"a\nb", false},
    };
    char long_name[LAZ_TOOL_MAX_NAME + 2];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *problem = declare(rows[i].name, NULL);
        CU_ASSERT_EQUAL(*problem == '\0', rows[i].valid);
        if (!rows[i].valid)
            CU_ASSERT_PTR_NOT_NULL(strstr(problem, "is not a valid name of a tool"));
    }
    CU_ASSERT_PTR_NOT_NULL(strstr(declare(NULL, NULL), "is not a valid name of a tool"));
    memset(long_name, 'a', sizeof long_name);
    long_name[LAZ_TOOL_MAX_NAME] = '\0';
    UNIT_TEXT(declare(long_name, NULL), "");
    long_name[LAZ_TOOL_MAX_NAME] = 'a';
    long_name[LAZ_TOOL_MAX_NAME + 1] = '\0';
    CU_ASSERT_PTR_NOT_NULL(strstr(declare(long_name, NULL), "is not a valid name"));
    CU_ASSERT_TRUE(laz_tool_name_is_valid("...", 3));
    CU_ASSERT_FALSE(laz_tool_name_is_valid("a\0b", 3));
}

static void names_are_spelled_by_the_rules_of_a_language(void)
{
    static const struct {
        enum laz_spelled what;
        const char *name, *r, *lua;
    } rows[] = {
        {LAZ_SPELLED_TOOL, "add", "add", "add"},
        {LAZ_SPELLED_TOOL, "get-user", "get.user", "get_user"},
        {LAZ_SPELLED_TOOL, "math.gcd", "math.gcd", "math.gcd"},
        {LAZ_SPELLED_PARAMETER, "a.b", "a.b", "a_b"},
        {LAZ_SPELLED_TOOL, "a.end.2", "a.end.2", "a.end_._2"},
        {LAZ_SPELLED_TOOL, "if", "if.", "if"},
        {LAZ_SPELLED_PARAMETER, "end", "end", "end_"},
        {LAZ_SPELLED_TOOL, "_x", "X_x", "_x"},
        {LAZ_SPELLED_TOOL, "2x", "X2x", "_2x"},
        {LAZ_SPELLED_TOOL, ".2x", "X.2x", "_2x"},
        {LAZ_SPELLED_TOOL, "a..b", "a..b", "a__b"},
        {LAZ_SPELLED_TOOL, "a.", "a.", "a_"},
        {LAZ_SPELLED_TOOL, "-", ".", "_"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const wanted[] = {rows[i].r, rows[i].lua};
        for (size_t k = 0; k < 2; k++) {
            char *spelled = laz_spell_new(&languages[k], rows[i].what, rows[i].name);
            UNIT_TEXT(spelled, wanted[k]);
            free(spelled);
        }
    }
    char *same = laz_spell_new(NULL, LAZ_SPELLED_TOOL, "get-user.if");
    UNIT_TEXT(same, "get-user.if");
    free(same);
}

static void duplicate_names_are_refused(void)
{
    struct laz_tool_set set = {0};
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(add(&set, "my.tool", NULL, &err), 0);
    CU_ASSERT_EQUAL(add(&set, "other", NULL, &err), 0);
    CU_ASSERT_EQUAL(add(&set, "my.tool", NULL, &err), LAZ_EINVAL);
    UNIT_TEXT(err.text, "Duplicate tool names: 'my.tool'");
    CU_ASSERT_EQUAL(set.n, 2);
    CU_ASSERT_PTR_EQUAL(laz_tool_set_find(&set, "other", 5), &set.entries[1]);
    CU_ASSERT_PTR_NULL(laz_tool_set_find(&set, "othe", 4));
    CU_ASSERT_PTR_NULL(laz_tool_set_find(&set, "other2", 6));
    laz_tool_set_fini(&set);
    CU_ASSERT_EQUAL(set.n, 0);
    UNIT_TEXT(declare("T", "[{\"name\":\"a\"},{\"name\":\"a\"}]"),
              "Tool 'T': Duplicate parameter names: 'a' and 'a'");
}

static void declarations_that_make_no_sense_are_refused(void)
{
    static const struct {
        const char *parameters, *problem;
    } rows[] = {
        {"{}", "Tool 'T': parameters must be a list"},
        {"[1]", "Tool 'T': each parameter must be an object"},
        {"[{}]", "Tool 'T': a parameter has no name"},
        {"[{\"name\":\"bad\\u001bname\"}]",
         "Tool 'T': 'bad name' is not a valid name of a parameter"},
        {"[{\"name\":5}]", "Tool 'T': parameter '?': name must be a string"},
        {"[{\"name\":\"a\",\"type\":\"strin\"}]",
         "Tool 'T': parameter 'a': unknown type 'strin'; known are string, number,"},
        {"[{\"name\":\"a\",\"minimum\":1}]", "Tool 'T': parameter 'a': unknown key 'minimum'"},
        {"[{\"name\":\"a\",\"type\":\"integer\",\"default\":1.5}]",
         "Tool 'T': the default of 'a' must be integer, got number"},
        {"[{\"name\":\"a\",\"type\":\"boolean\",\"default\":\"x\"}]",
         "Tool 'T': the default of 'a' must be boolean, got string"},
        {"[{\"name\":\"a\",\"default\":1,\"required\":true}]",
         "Tool 'T': parameter 'a': it is required and has a default"},
        {"[{\"name\":\"a\",\"required\":1}]",
         "Tool 'T': parameter 'a': required must be true or false"},
        {"[{\"name\":\"a\",\"enum\":3}]", "Tool 'T': parameter 'a': enum must be a list"},
        {"[{\"name\":\"a\",\"enum\":[]}]", "Tool 'T': parameter 'a': enum lists no value"},
        {"[{\"name\":\"a\",\"enum\":[[1]]}]", "Tool 'T': parameter 'a': enum may list strings"},
        {"[{\"name\":\"a\",\"enum\":[1,9007199254740993]}]",
         "Tool 'T': parameter 'a': enum lists a number with more digits than a double keeps"},
        {"[{\"name\":\"a\",\"enum\":[0.10000000000000001]}]",
         "Tool 'T': parameter 'a': enum lists a number with more digits than a double keeps"},
        {"[{\"name\":\"a\",\"type\":\"string\",\"enum\":[\"x\",2]}]",
         "Tool 'T': a value of the enum of 'a' must be string, got number"},
        {"[{\"name\":\"a\",\"enum\":[1,2],\"default\":3}]",
         "Tool 'T': the default of 'a' must be one of 1,2"},
        {"[{\"name\":\"a\"", "Tool 'T': parameters: "},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *problem = declare("T", rows[i].parameters);
        if (strncmp(problem, rows[i].problem, strlen(rows[i].problem)) != 0)
            UNIT_TEXT(problem, rows[i].problem);
    }
}

static void descriptions_are_utf_8(void)
{
    static const struct laz_tool tool = {
        .size = sizeof tool, .name = "T", .description = "caf\xe9"};
    struct laz_tool_set set = {0};
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(laz_tool_set_add(&set, &tool, NULL, NULL, 0, &err), LAZ_EINVAL);
    UNIT_TEXT(err.text, "Tool 'T': its description is not valid UTF-8");
    CU_ASSERT_EQUAL(set.n, 0);
    laz_tool_set_fini(&set);
}

static void at_most_a_hundred_parameters_are_allowed(void)
{
    struct laz_buf list = LAZ_BUF_INIT;

    laz_buf_putc(&list, '[');
    for (int i = 0; i < LAZ_TOOL_MAX_PARAMETERS; i++)
        laz_buf_printf(&list, "%s{\"name\":\"p%d\"}", i ? "," : "", i);
    laz_buf_putc(&list, ']');
    UNIT_TEXT(declare("T", list.data), "");
    list.data[list.len - 1] = ',';
    laz_buf_puts(&list, "{\"name\":\"q\"}]");
    UNIT_TEXT(declare("T", list.data), "Tool 'T': more than 100 parameters");
    laz_buf_fini(&list);
}

/* Values for each type, with what the tool gets; NULL: rejected. */
static const struct {
    const char *type, *value, *got;
} fits[] = {
    {"string", "\"x\"", "\"x\""},
    {"string", "{\"$bytes\":\"aGk=\"}", "{\"$bytes\":\"aGk=\"}"},
    {"string", "{\"$bytes\":\"aGk\"}", NULL},
    {"string", "{\"$bytes\":5}", NULL},
    {"string", "1", NULL},
    {"string", "null", NULL},
    {"string", "[\"x\"]", NULL},
    {"string", "{\"$na\":\"character\"}", NULL},
    {"character", "\"x\"", "\"x\""},
    {"number", "1.5", "1.5"},
    {"number", "2", "2"},
    {"number", "{\"$num\":\"NaN\"}", "{\"$num\":\"NaN\"}"},
    {"number", "{\"$num\":\"nan\"}", NULL},
    {"number", "{\"$int\":\"9007199254740993\"}", "{\"$int\":\"9007199254740993\"}"},
    {"number", "{\"$int\":\"1e5\"}", NULL},
    {"number", "{\"$int\":\"-\"}", NULL},
    {"number", "true", NULL},
    {"number", "\"1\"", NULL},
    {"numeric", "0.1", "0.1"},
    {"integer", "2", "2"},
    {"integer", "2.0", "2"},
    {"integer", "-2e3", "-2000"},
    {"integer", "2.5", NULL},
    {"integer", "1e300", NULL},
    {"integer", "9007199254740992", "9007199254740992"},
    {"integer", "{\"$int\":\"-9007199254740993\"}", "{\"$int\":\"-9007199254740993\"}"},
    {"integer", "{\"$num\":\"Inf\"}", NULL},
    {"boolean", "true", "true"},
    {"boolean", "false", "false"},
    {"boolean", "0", NULL},
    {"logical", "true", "true"},
    {"array", "[1, [2]]", "[1,[2]]"},
    {"array", "{\"$factor\":{\"levels\":[],\"values\":[],\"ordered\":false}}",
     "{\"$factor\":{\"levels\":[],\"values\":[],\"ordered\":false}}"},
    {"array", "{}", NULL},
    {"array", "\"x\"", NULL},
    {"object", "{}", "{}"},
    {"object", "{\"a\":{\"$num\":\"NaN\"}}", "{\"a\":{\"$num\":\"NaN\"}}"},
    {"object", "{\"$map\":[[1,2]]}", "{\"$map\":[[1,2]]}"},
    {"object", "{\"$map\":{}}", NULL},
    {"object", "{\"$date\":\"2024-01-31\"}", NULL},
    {"object", "{\"$other\":1}", NULL},
    {"object", "{\"$num\":\"NaN\",\"b\":1}", "{\"$num\":\"NaN\",\"b\":1}"},
    {"object", "[]", NULL},
    {"list", "[1]", "[1]"},
    {"list", "{\"a\":1}", "{\"a\":1}"},
    {"list", "1", NULL},
    {"data.frame", "{\"$frame\":{\"names\":[],\"columns\":[],\"rows\":0}}",
     "{\"$frame\":{\"names\":[],\"columns\":[],\"rows\":0}}"},
    {"data.frame", "[{\"x\":1}]", "[{\"x\":1}]"},
    {"data.frame", "{\"x\":[1]}", "{\"x\":[1]}"},
    {"data.frame", "{\"$frame\":1}", NULL},
    {"data.frame", "1", NULL},
    {"any", "null", "null"},
    {"any", "{\"$other\":1}", "{\"$other\":1}"},
    {"", "[{}]", "[{}]"},
};

static void types_accept_what_fits(void)
{
    for (size_t i = 0; i < sizeof fits / sizeof *fits; i++) {
        char *parameters = laz_strdupf("[{\"name\":\"a\",\"type\":\"%s\"}]", fits[i].type);
        char *args = laz_strdupf("{\"a\":%s}", fits[i].value);
        char *expected = fits[i].got
                             ? laz_strdupf("{\"a\":%s}", fits[i].got)
                             : laz_strdupf("Tool 'T': argument 'a' must be %s, got ", fits[i].type);
        const char *got = check(parameters, args);
        if (fits[i].got || strncmp(got, expected, strlen(expected)) != 0)
            UNIT_TEXT(got, expected);
        free(parameters);
        free(args);
        free(expected);
    }
}

static void messages_name_tool_argument_and_both_types(void)
{
    UNIT_TEXT(check("[{\"name\":\"a\",\"type\":\"numeric\"}]", "{\"a\":\"x\"}"),
              "Tool 'T': argument 'a' must be numeric, got string");
    UNIT_TEXT(check("[{\"name\":\"a\",\"type\":\"number\"},{\"name\":\"b\"}]", "{\"a\":1}"),
              "Tool 'T': argument 'b' is missing");
    UNIT_TEXT(check("[{\"name\":\"a\",\"type\":\"number\"},{\"name\":\"b\",\"type\":\"logical\"}]",
                    "{\"a\":1,\"b\":{\"$date\":\"2024-01-01\"}}"),
              "Tool 'T': argument 'b' must be logical, got date");
    UNIT_TEXT(check("[{\"name\":\"a\",\"type\":\"integer\",\"enum\":[1,2]}]", "{\"a\":3}"),
              "Tool 'T': argument 'a' must be one of 1,2");
    UNIT_TEXT(check("[]", "[1]"), "Tool 'T': arguments must be an object");
}

static void arguments_that_were_not_declared_are_refused(void)
{
    UNIT_TEXT(check("[{\"name\":\"a\"}]", "{\"a\":1,\"evil\":2}"),
              "Unexpected arguments for tool 'T': 'evil'");
    UNIT_TEXT(check(NULL, "{\"x\":1,\"y\":[2]}"), "Unexpected arguments for tool 'T': 'x', 'y'");
    UNIT_TEXT(check(NULL, "{}"), "{}");
    UNIT_TEXT(check(NULL, "null"), "{}");
    UNIT_TEXT(check(NULL, "{\"1\":1,\"2\":1,\"3\":1,\"4\":1,\"5\":1,\"6\":1,\"7\":1}"),
              "Unexpected arguments for tool 'T': '1', '2', '3', '4', '5' and more");
    UNIT_TEXT(check(NULL, "{\"a\\nb\":1}"), "Unexpected arguments for tool 'T': 'a b'");
    /* a name is cut between characters */
    UNIT_TEXT(check(NULL, "{\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                          "\xc3\xa9yyy\":1}"),
              "Unexpected arguments for tool 'T': "
              "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\xc3\xa9...'");
}

static void arguments_arrive_in_declared_order_with_defaults(void)
{
    const char *parameters =
        "[{\"name\":\"a\",\"type\":\"integer\"},"
        "{\"name\":\"b\",\"type\":\"string\",\"default\":\"x\"},"
        "{\"name\":\"c\",\"required\":false},"
        "{\"name\":\"d\",\"type\":\"list\",\"default\":[ 1, 2 ]},"
        "{\"name\":\"e\",\"type\":\"string\",\"enum\":[\"p\",\"q\"],\"default\":null}]";

    UNIT_TEXT(check(parameters, " { \"d\" : [ 3 ] , \"a\" : 1.0 } "),
              "{\"a\":1,\"b\":\"x\",\"d\":[3]}");
    UNIT_TEXT(check(parameters, "{\"a\":1,\"b\":null,\"c\":null,\"d\":null,\"e\":null}"),
              "{\"a\":1,\"b\":\"x\",\"d\":[1,2]}");
    UNIT_TEXT(check(parameters, "{\"a\":1,\"e\":\"q\"}"),
              "{\"a\":1,\"b\":\"x\",\"d\":[1,2],\"e\":\"q\"}");
    UNIT_TEXT(check(parameters, "{\"a\":null}"),
              "Tool 'T': argument 'a' must be integer, got null");
    UNIT_TEXT(check("[{\"name\":\"a\"}]", "{\"a\":null}"), "{\"a\":null}");
    UNIT_TEXT(check("[{\"name\":\"a\",\"enum\":[1,null],\"default\":1}]", "{\"a\":null}"),
              "{\"a\":null}");
    UNIT_TEXT(check("[{\"name\":\"a\",\"enum\":[1,\"1\"]}]", "{\"a\":1.0}"), "{\"a\":1}");
    UNIT_TEXT(check("[{\"name\":\"a\",\"enum\":[\"1\"]}]", "{\"a\":1}"),
              "Tool 'T': argument 'a' must be one of \"1\"");
}

/* The text may become an argument of a command, where 1e1 differs from 10. */
static void a_value_of_an_enumeration_is_the_text_that_was_declared(void)
{
    static const struct {
        const char *type, *list, *value, *outcome; /* NULL: not in the enumeration */
    } rows[] = {
        {"number", "[10]", "1e1", "10"},
        {"number", "[10]", "10.000", "10"},
        {"number", "[10]", "100000000000000000000e-19", "10"},
        {"number", "[10]", "0.00001E+6", "10"},
        {"number", "[10]", "10.000000000000000000001", NULL},
        {"number", "[10]", "-10", NULL},
        {"number", "[10]", "1e2", NULL},
        {"number", "[10]", "{\"$int\":\"10\"}", NULL},
        {"number", "[1.50]", "15e-1", "1.50"},
        {"number", "[0]", "-0", "0"},
        {"number", "[0]", "-0.0e5", "0"},
        {"number", "[0]", "1e-400", NULL},
        {"number", "[0.1]", "0.1000000000000000055511151231257827", NULL},
        {"number", "[9007199254740992]", "9007199254740993", NULL},
        {"integer", "[1e1]", "10.0", "10"},
        {"integer", "[9007199254740992]", "9007199254740993", NULL},
        {"boolean", "[true]", "true", "true"},
        {"boolean", "[true]", "false", NULL},
        {"string", "[\"a\\u00e9\"]", "\"\\u0061\xc3\xa9\"", "\"a\\u00e9\""},
        {"string", "[\"10\"]", "\"10 \"", NULL},
        {"any", "[1,\"1\",null]", "null", "null"},
        {"any", "[1]", "\"1\"", NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char parameters[200], args[100], expected[100];
        snprintf(parameters, sizeof parameters, "[{\"name\":\"a\",\"type\":\"%s\",\"enum\":%s}]",
                 rows[i].type, rows[i].list);
        snprintf(args, sizeof args, "{\"a\":%s}", rows[i].value);
        if (rows[i].outcome)
            snprintf(expected, sizeof expected, "{\"a\":%s}", rows[i].outcome);
        else
            snprintf(expected, sizeof expected, "Tool 'T': argument 'a' must be one of %.*s",
                     (int)strlen(rows[i].list) - 2, rows[i].list + 1);
        UNIT_TEXT(check(parameters, args), expected);
    }
}

static void integers_are_exact_and_in_one_form(void)
{
    static const struct {
        const char *value, *given, *not_integer;
    } rows[] = {
        {"1.0", "1", NULL},
        {"1e3", "1000", NULL},
        {"-0", "0", NULL},
        {"-12e-1", NULL, "number"},
        {"1.00000000000000000000001", NULL, "number"},
        {"1e-400", NULL, "number"},
        {"-9007199254740992", "-9007199254740992", NULL},
        {"9007199254740993", NULL, "number"}, /* must be written as $int, or it would be rounded */
        {"{\"$int\":\"9007199254740993\"}", "{\"$int\":\"9007199254740993\"}", NULL},
        {"{\"$int\":\"-5\"}", "{\"$int\":\"-5\"}", NULL},
        {"{\"$int\":\"010\"}", NULL, "a value of unknown form"},
        {"{\"$int\":\"-0\"}", NULL, "a value of unknown form"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char args[100], expected[100];
        snprintf(args, sizeof args, "{\"a\":%s}", rows[i].value);
        if (rows[i].given)
            snprintf(expected, sizeof expected, "{\"a\":%s}", rows[i].given);
        else
            snprintf(expected, sizeof expected, "Tool 'T': argument 'a' must be integer, got %s",
                     rows[i].not_integer);
        UNIT_TEXT(check("[{\"name\":\"a\",\"type\":\"integer\"}]", args), expected);
    }
}

/* A structure of a tool that takes them; of any other, and in place of a scalar, it is none. */
static void what_one_language_reads_is_for_tools_that_take_it(void)
{
    static const char parameters[] =
        "[{\"name\":\"l\",\"type\":\"list\"},{\"name\":\"d\",\"type\":\"data.frame\"},"
        "{\"name\":\"s\",\"type\":\"string\"},{\"name\":\"o\",\"type\":\"object\"}]";

    for (uint32_t native = 0; native < 2; native++) {
        const struct laz_tool tool = {.size = sizeof(struct laz_tool),
                                      .name = "T",
                                      .parameters = parameters,
                                      .native = native};
        struct laz_tool_set set = {0};
        struct laz_error err = {0};
        CU_ASSERT_EQUAL_FATAL(laz_tool_set_add(&set, &tool, &spellings, NULL, 0, &err), 0);
        for (size_t i = 0; i < set.entries[0].n_parameters; i++)
            set.entries[0].parameters[i].required = false;
        for (const char *name = "ldso"; *name; name++) {
            char args[100];
            struct laz_buf out = LAZ_BUF_INIT;
            const int len = snprintf(args, sizeof args,
                                     "{\"%c\":{\"$r\":{\"type\":\"list\",\"values\":[]}}}", *name);
            const int rc = laz_tool_check_arguments(&set.entries[0], args, (size_t)len, &out, &err);
            CU_ASSERT_EQUAL(rc, native && strchr("ld", *name) ? 0 : LAZ_EINVAL);
            laz_buf_fini(&out);
        }
        laz_tool_set_fini(&set);
    }
}

static void earlier_text_of_the_buffer_is_kept(void)
{
    struct laz_tool_set set = {0};
    struct laz_buf out = LAZ_BUF_INIT;
    struct laz_error err = {0};

    laz_buf_puts(&out, "before");
    CU_ASSERT_EQUAL(add(&set, "T", "[{\"name\":\"a\",\"type\":\"string\"}]", &err), 0);
    CU_ASSERT_EQUAL(laz_tool_check_arguments(&set.entries[0], "{\"a\":1}", 7, &out, &err),
                    LAZ_EINVAL);
    UNIT_TEXT(out.data, "before");
    CU_ASSERT_EQUAL(laz_tool_check_arguments(&set.entries[0], "{\"a\":\"1\"}", 9, &out, &err), 0);
    UNIT_TEXT(out.data, "before{\"a\":\"1\"}");
    laz_buf_fini(&out);
    laz_tool_set_fini(&set);
}

/* 200 000 undeclared names, and one argument of a megabyte of nested lists, take linear time. */
static void hostile_arguments_take_linear_time(void)
{
    struct laz_buf args = LAZ_BUF_INIT;
    clock_t start; /* CPU time, because others use the processor too */

    laz_buf_putc(&args, '{');
    for (int i = 0; i < 200000; i++)
        laz_buf_printf(&args, "%s\"k%d\":0", i ? "," : "", i);
    laz_buf_putc(&args, '}');
    start = clock();
    CU_ASSERT_PTR_NOT_NULL(strstr(check(NULL, args.data), " and more"));
    laz_buf_clear(&args);
    laz_buf_puts(&args, "{\"a\":[");
    for (int i = 0; i < 20000; i++)
        laz_buf_printf(&args, "%s{\"$num\":{\"$num\":{\"$num\":[[[[]]]]}}}", i ? "," : "");
    laz_buf_puts(&args, "]}");
    CU_ASSERT_PTR_NOT_NULL(
        strstr(check("[{\"name\":\"a\",\"type\":\"array\"}]", args.data), "$num"));
    CU_ASSERT_TRUE((clock() - start) / CLOCKS_PER_SEC < 20);
    laz_buf_fini(&args);
}

/* ---- as text -------------------------------------------------------------------------------- */

static void fill(struct laz_tool_set *set)
{
    static const struct laz_tool tools[] = {
        {.size = sizeof(struct laz_tool),
         .name = "look.up",
         .description = "Record of a customer\nwith */ and \"\"\" and \\d",
         .parameters =
             "[{\"name\":\"id\",\"type\":\"integer\",\"description\":\"customer number\"},"
             "{\"name\":\"full\",\"type\":\"logical\",\"default\":false},"
             "{\"name\":\"unit\",\"type\":\"string\",\"enum\":[\"k\\\"m\",\"mi\\u0001\"],"
             "\"default\":\"k\\\"m\"},"
             "{\"name\":\"extra\",\"default\":{\"a\":[1,null,true],\"b c\":{}}},"
             "{\"name\":\"note\",\"type\":\"string\",\"required\":false},"
             "{\"name\":\"last\"}]",
         .timeout_ms = 10000,
         .max_concurrent = 8},
        {.size = sizeof(struct laz_tool), .name = "now"},
    };
    struct laz_error err = {0};

    for (size_t i = 0; i < 2; i++)
        if (laz_tool_set_add(set, &tools[i], NULL, NULL, i, &err))
            CU_FAIL("a tool was refused");
}

/* The text about concurrent calls, after all stubs. */
#define TOGETHER_R                                                                                 \
    "\n# tool_map(NAME, ...) calls a tool for each element of vectors, as Map() does; the calls "  \
    "run\n# side by side.\n"
#define TOGETHER_PYTHON                                                                            \
    "\n# Each tool is a coroutine too: await asyncio.gather(NAME.aio(...), NAME.aio(...)) makes "  \
    "calls\n# that run side by side.\n"
#define TOGETHER_LUA                                                                               \
    "\n-- tool_map(NAME, {{...}, {...}}) calls a tool once for each list of arguments; the calls " \
    "run\n-- side by side.\n"

#define TOGETHER_JAVASCRIPT                                                                        \
    "\n// Calls give promises: await NAME(...), with arguments in this order, or by name in one "  \
    "object.\n// await Promise.all([NAME(...), NAME(...)]) makes calls that run side by side.\n"

static const struct {
    const char *format, *text;
} stubs[] = {
    {"r", "#' Record of a customer\n"
          "#' with * / and \"\" \" and \\d\n"
          "#' @param id integer: customer number\n"
          "#' @param full logical, default FALSE\n"
          "#' @param unit string, default \"k\\\"m\", one of \"k\\\"m\", \"mi\\u0001\"\n"
          "#' @param extra any value, default list(\"a\" = list(1, NULL, TRUE), \"b c\" = "
          "list())\n"
          "#' @param note string, optional\n"
          "#' @param last any value\n"
          "look.up <- function(id, full = FALSE, unit = \"k\\\"m\", extra = list(\"a\" = "
          "list(1, NULL, TRUE), \"b c\" = list()), note = NULL, last) { }\n"
          "\n"
          "#' now\n"
          "now <- function() { }\n" TOGETHER_R},
    {"python", "def look_up(id: int, full: bool = False, unit: str = \"k\\\"m\", "
               "extra={\"a\": [1, None, True], \"b c\": {}}, note: str = None, *, last):\n"
               "    \"\"\"\n"
               "    Record of a customer\n"
               "    with * / and \"\" \" and \\\\d\n"
               "\n"
               "    id: integer: customer number\n"
               "    full: logical, default False\n"
               "    unit: string, default \"k\\\\\"m\", one of \"k\\\\\"m\", \"mi\\\\u0001\"\n"
               "    extra: any value, default {\"a\": [1, None, True], \"b c\": {}}\n"
               "    note: string, optional\n"
               "    last: any value\n"
               "    \"\"\"\n"
               "\n"
               "def now():\n"
               "    \"\"\"\n"
               "    now\n"
               "    \"\"\"\n" TOGETHER_PYTHON},
    {"lua", "--- Record of a customer\n"
            "--- with * / and \"\" \" and \\d\n"
            "-- @param id integer: customer number\n"
            "-- @param full logical, default false\n"
            "-- @param unit string, default \"k\\\"m\", one of \"k\\\"m\", \"mi\\001\"\n"
            "-- @param extra any value, default {[\"a\"] = {1, nil, true}, [\"b c\"] = {}}\n"
            "-- @param note string, optional\n"
            "-- @param last any value\n"
            "function look.up(id, full, unit, extra, note, last) end\n"
            "\n"
            "--- now\n"
            "function now() end\n" TOGETHER_LUA},
    {"javascript",
     "/**\n"
     " * Record of a customer\n"
     " * with * / and \"\" \" and \\d\n"
     " * @param id integer: customer number\n"
     " * @param full logical, default false\n"
     " * @param unit string, default \"k\\\"m\", one of \"k\\\"m\", \"mi\\u0001\"\n"
     " * @param extra any value, default {\"a\": [1, null, true], \"b c\": {}}\n"
     " * @param note string, optional\n"
     " * @param last any value\n"
     " */\n"
     "declare function look_up(named: {id: number; full?: boolean; unit?: \"k\\\"m\" | "
     "\"mi\\u0001\"; extra?: any; note?: string; last: any}): Promise<any>;\n"
     "\n"
     "/**\n"
     " * now\n"
     " */\n"
     "declare function now(): Promise<any>;\n" TOGETHER_JAVASCRIPT},
};

static void stubs_are_signatures_with_documentation(void)
{
    for (size_t i = 0; i < sizeof stubs / sizeof *stubs; i++) {
        struct laz_tool_set set = {0};
        struct laz_buf text = LAZ_BUF_INIT;
        fill(&set);
        CU_ASSERT_EQUAL(laz_tool_set_format(&set, stubs[i].format, languages_get(stubs[i].format),
                                            NULL, &text, NULL),
                        0);
        UNIT_TEXT(text.data, stubs[i].text);
        laz_buf_fini(&text);
        laz_tool_set_fini(&set);
    }
}

/* The arguments in order, and by name; an enumeration is a type. */
static void what_a_language_declares_of_types_is_in_the_signature(void)
{
    static const char parameters[] =
        "[{\"name\":\"class\",\"type\":\"integer\"},{\"name\":\"how\",\"enum\":[\"a\",2,null]},"
        "{\"name\":\"rows\",\"type\":\"data.frame\",\"required\":false},"
        "{\"name\":\"tags\",\"type\":\"array\",\"default\":[]}]";
    struct laz_tool_set set = {0};
    struct laz_buf text = LAZ_BUF_INIT;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(add(&set, "fetch", parameters, &err), 0);
    CU_ASSERT_EQUAL(
        laz_tool_set_format(&set, "javascript", languages_get("javascript"), NULL, &text, &err), 0);
    UNIT_TEXT(text.data,
              "/**\n"
              " * fetch\n"
              " * @param class_ integer\n"
              " * @param how any value, one of \"a\", 2, null\n"
              " * @param rows data.frame, optional\n"
              " * @param tags array, default []\n"
              " */\n"
              "declare function fetch_(class_: number, how: \"a\" | 2 | null, rows?: any, "
              "tags?: any[]): Promise<any>;\n"
              "declare function fetch_(named: {class_: number; how: \"a\" | 2 | null; "
              "rows?: any; tags?: any[]}): Promise<any>;\n" TOGETHER_JAVASCRIPT);
    laz_buf_fini(&text);
    laz_tool_set_fini(&set);
}

static void names_and_types_of_one_language_stay_right_in_others(void)
{
    struct laz_tool_set set = {0};
    struct laz_buf text = LAZ_BUF_INIT;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(add(&set, ".a.b", "[{\"name\":\"x\",\"type\":\"list\"}]", &err), 0);
    CU_ASSERT_EQUAL(laz_tool_set_format(&set, "lua", languages_get("lua"), NULL, &text, &err), 0);
    UNIT_TEXT(text.data, "--- .a.b\n-- @param x list\nfunction _a_b(x) end\n" TOGETHER_LUA);
    laz_buf_clear(&text);
    CU_ASSERT_EQUAL(laz_tool_set_format(&set, "python", languages_get("python"), NULL, &text, &err),
                    0);
    CU_ASSERT_PTR_NOT_NULL(strstr(text.data, "def _a_b(x):\n"));
    laz_buf_clear(&text);
    laz_tool_set_json(&set, NULL, &languages[1], &text);
    UNIT_TEXT(text.data, "[{\"name\":\".a.b\",\"spelling\":\"_a_b\",\"description\":\"\","
                         "\"parameters\":[{\"name\":\"x\","
                         "\"type_name\":\"list\",\"required\":true,\"description\":\"\"}]}]");
    laz_buf_fini(&text);
    laz_tool_set_fini(&set);
}

static void sets_are_shown_to_people_and_as_json(void)
{
    struct laz_tool_set set = {0};
    struct laz_buf text = LAZ_BUF_INIT;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(add(&set, "add",
                        "[{\"name\":\"a\",\"type\":\"numeric\",\"description\":\"x\"},"
                        "{\"name\":\"b\",\"enum\":[1, 2],\"default\":1}]",
                        &err),
                    0);
    CU_ASSERT_EQUAL(laz_tool_set_format(&set, "text", NULL, NULL, &text, &err), 0);
    UNIT_TEXT(text.data, "add(a, b)\n      a  numeric: x\n      b  any value, default 1, one of 1, "
                         "2\n");
    laz_buf_clear(&text);
    CU_ASSERT_EQUAL(laz_tool_set_format(&set, "json", NULL, NULL, &text, &err), 0);
    UNIT_TEXT(text.data,
              "[{\"name\":\"add\",\"description\":\"\",\"parameters\":[{\"name\":\"a\",\"type\":"
              "\"number\",\"type_name\":\"numeric\",\"required\":true,\"description\":\"x\"},"
              "{\"name\":\"b\",\"required\":false,\"default\":1,\"enum\":[1,2],\"description\":"
              "\"\"}]}]\n");
    CU_ASSERT_EQUAL(laz_tool_set_format(&set, "perl", NULL, NULL, &text, &err), LAZ_EINVAL);
    UNIT_TEXT(err.text, "unknown format 'perl'");
    laz_buf_fini(&text);
    laz_tool_set_fini(&set);
}

static void defaults_are_exact(void)
{
    static const struct {
        const char *given, *kept, *shown;
    } rows[] = {
        {"9007199254740993", "{\"$int\":\"9007199254740993\"}", "9007199254740993"},
        {"-9007199254740993", "{\"$int\":\"-9007199254740993\"}", "-9007199254740993"},
        {"{\"$int\":\"9007199254740993\"}", "{\"$int\":\"9007199254740993\"}", "9007199254740993"},
        {"9007199254740992", "9007199254740992", "9007199254740992"},
        {"[1,9007199254740993,\"9007199254740993\\\"\",true]",
         "[1,{\"$int\":\"9007199254740993\"},\"9007199254740993\\\"\",true]",
         "[1, 9007199254740993, \"9007199254740993\\\"\", True]"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_tool_set set = {0};
        struct laz_buf text = LAZ_BUF_INIT;
        char *list = laz_strdupf("[{\"name\":\"n\",\"default\":%s}]", rows[i].given);
        char *shown = laz_strdupf("def t(n=%s):\n", rows[i].shown);
        CU_ASSERT_EQUAL_FATAL(add(&set, "t", list, NULL), 0);
        UNIT_TEXT(set.entries[0].parameters[0].default_value, rows[i].kept);
        CU_ASSERT_EQUAL(
            laz_tool_set_format(&set, "python", languages_get("python"), NULL, &text, NULL), 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&text), shown));
        laz_buf_fini(&text);
        laz_tool_set_fini(&set);
        free(list);
        free(shown);
    }
}

static const struct unit_test tests[] = {
    UNIT(names_of_tools_follow_the_rule),
    UNIT(names_are_spelled_by_the_rules_of_a_language),
    UNIT(duplicate_names_are_refused),
    UNIT(declarations_that_make_no_sense_are_refused),
    UNIT(descriptions_are_utf_8),
    UNIT(at_most_a_hundred_parameters_are_allowed),
    UNIT(types_accept_what_fits),
    UNIT(messages_name_tool_argument_and_both_types),
    UNIT(arguments_that_were_not_declared_are_refused),
    UNIT(arguments_arrive_in_declared_order_with_defaults),
    UNIT(a_value_of_an_enumeration_is_the_text_that_was_declared),
    UNIT(integers_are_exact_and_in_one_form),
    UNIT(what_one_language_reads_is_for_tools_that_take_it),
    UNIT(earlier_text_of_the_buffer_is_kept),
    UNIT(hostile_arguments_take_linear_time),
    UNIT(stubs_are_signatures_with_documentation),
    UNIT(what_a_language_declares_of_types_is_in_the_signature),
    UNIT(names_and_types_of_one_language_stay_right_in_others),
    UNIT(sets_are_shown_to_people_and_as_json),
    UNIT(defaults_are_exact),
    {0},
};

int main(void)
{
    laz_strv_add(&words_of_r, "if");
    laz_strv_add(&words_of_lua, "end");
    int status = unit_run("tools", tests);
    laz_strv_fini(&words_of_r);
    laz_strv_fini(&words_of_lua);
    return status;
}
