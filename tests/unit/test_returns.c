/* SPDX-License-Identifier: MIT */
/* test_returns.c - what tools return: schemas that are accepted, the types that are shown of them,
 * and the signatures of tools. */
#include "languages.h"
#include "unit.h"

#include "tool/tool.h"

#include <stdlib.h>
#include <string.h>

static int add(struct laz_tool_set *set, const char *parameters, const char *returns,
               struct laz_error *err)
{
    const struct laz_tool tool = {
        .size = sizeof tool, .name = "get-user", .parameters = parameters, .returns = returns};

    return laz_tool_set_add(set, &tool, NULL, NULL, set->n, err);
}

/* The type that is shown of a schema, or the error. */
static const char *returns(const char *schema)
{
    static char shown[1024];
    struct laz_tool_set set = {0};
    struct laz_error err = {0};

    if (add(&set, NULL, schema, &err)) {
        CU_ASSERT_EQUAL(err.code, LAZ_EINVAL);
        snprintf(shown, sizeof shown, "%s", err.text);
    } else {
        snprintf(shown, sizeof shown, "%s", set.entries[0].returns);
    }
    laz_tool_set_fini(&set);
    return shown;
}

#define TYPE(name, type) "\"" name "\":{\"type\":\"" type "\"}"

static void a_schema_is_shown_as_a_type(void)
{
    static const struct {
        const char *schema, *type;
    } rows[] = {
        {NULL, ""},
        {"{}", "any"},
        {"true", "any"},
        {"{\"type\":\"string\",\"description\":\"x\",\"minLength\":1}", "str"},
        {"{\"type\":\"number\"}", "float"},
        {"{\"type\":[\"integer\",\"null\"]}", "int | null"},
        {"{\"type\":\"object\"}", "object"},
        {"{\"type\":\"array\"}", "list"},
        {"{\"type\":\"array\",\"items\":{\"type\":\"boolean\"}}", "[bool]"},
        {"{\"items\":{\"type\":\"string\"}}", "[str]"},
        {"{\"type\":\"object\",\"properties\":{" TYPE("id", "integer") "," TYPE("name",
                                                                                "string") "}}",
         "{id: int, name: str}"},
        {"{\"properties\":{" TYPE("id", "integer") "," TYPE("tag",
                                                            "string") "},\"required\":[\"id\"]}",
         "{id: int, tag?: str}"},
        {"{\"type\":\"object\",\"additionalProperties\":{\"type\":\"number\"}}", "{[str]: float}"},
        {"{\"type\":\"object\",\"properties\":{\"a b\":{},\"x\\\"\\n\":{}}}",
         "{\"a b\": any, \"x\\\"\\\\x0a\": any}"},
        {"{\"enum\":[\"a\",1,1.5,true,null]}", "\"a\" | 1 | 1.5 | true | null"},
        {"{\"const\":\"yes\"}", "\"yes\""},
        {"{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "str | null"},
        {"{\"allOf\":[{\"$ref\":\"#/$defs/P\"}],\"$defs\":{\"P\":{\"type\":\"integer\"}}}", "int"},
        {"{\"$ref\":\"#/definitions/P\",\"definitions\":{\"P\":{\"type\":\"integer\"}}}", "int"},
        {"{\"$ref\":\"http://example.org/x\"}", "any"},
        {"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"object\",\"properties\":{"
         "\"b\":{\"type\":\"array\",\"items\":{" TYPE("c", "string") "}}}}}}",
         "Tool 'get-user': returns.properties.a.properties.b.items: unknown keyword 'c' of JSON "
         "Schema"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        UNIT_TEXT(returns(rows[i].schema), rows[i].type);
}

static void what_is_no_schema_is_refused(void)
{
    static const struct {
        const char *schema, *says;
    } rows[] = {
        {"{", "Tool 'get-user': returns: "},
        {"\"string\"", "returns is not a JSON Schema, which is an object"},
        {"{\"name\":\"string\"}", "returns: unknown keyword 'name' of JSON Schema"},
        {"{\"type\":\"str\"}", "returns: 'type' is one of string, number, "},
        {"{\"type\":[]}", "'type' is one of"},
        {"{\"properties\":[]}", "returns: 'properties' is an object"},
        {"{\"properties\":{\"a\":1}}", "returns.properties.a is not a JSON Schema"},
        {"{\"items\":[{}]}", "returns.items is not a JSON Schema"},
        {"{\"anyOf\":{}}", "returns: 'anyOf' is a list"},
        {"{\"anyOf\":[1]}", "returns.anyOf is not a JSON Schema"},
        {"{\"required\":[1]}", "returns: 'required' is a list of strings"},
        {"{\"enum\":1}", "returns: 'enum' is a list"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT_PTR_NOT_NULL(strstr(returns(rows[i].schema), rows[i].says));
}

/* Whatever the schema is, the type is short, and made in a moment. */
static void a_type_is_short(void)
{
    struct laz_buf text = LAZ_BUF_INIT;

    laz_buf_puts(&text, "{\"properties\":{");
    for (int i = 0; i < 500; i++)
        laz_buf_printf(&text, "%s\"member_number_%d\":{\"type\":\"string\"}", i ? "," : "", i);
    laz_buf_puts(&text, "}}");
    const char *type = returns(laz_buf_text(&text));
    CU_ASSERT(strlen(type) <= 400);
    CU_ASSERT_PTR_NOT_NULL(strstr(type, "member_number_0: str, "));
    CU_ASSERT_PTR_NOT_NULL(strstr(type, ", ...}"));
    laz_buf_clear(&text);
    laz_buf_puts(&text, "{\"enum\":[");
    for (int i = 0; i < 500; i++)
        laz_buf_printf(&text, "%s\"value number %d of many, many values, each of which is long\"",
                       i ? "," : "", i);
    laz_buf_puts(&text, "]}");
    CU_ASSERT(strlen(returns(laz_buf_text(&text))) <= 400);
    laz_buf_fini(&text);
    type =
        returns("{\"$ref\":\"#/$defs/T\",\"$defs\":{\"T\":{\"anyOf\":[{\"$ref\":\"#/$defs/T\"},"
                "{\"$ref\":\"#/$defs/T\"},{\"$ref\":\"#/$defs/T\"},{\"$ref\":\"#/$defs/T\"}]}}}");
    CU_ASSERT(strlen(type) <= 400); /* a circle, which multiplies */
    UNIT_TEXT(returns("{\"$ref\":\"#/$defs/T\",\"$defs\":{\"T\":{\"$ref\":\"#/$defs/T\"}}}"),
              "any");
    type = returns("{\"$ref\":\"#/$defs/T\",\"$defs\":{\"T\":{\"properties\":{\"down\":"
                   "{\"$ref\":\"#/$defs/T\"}," TYPE("name", "string") "}}}}");
    UNIT_TEXT(type, "{down: {down: {down: {...}, name: str}, name: str}, name: str}");
}

static void a_signature_stands_for_all_languages(void)
{
    static const char parameters[] =
        "[{\"name\":\"user-id\",\"type\":\"integer\"},{\"name\":\"x\"},{\"name\":\"full\",\"type\":"
        "\"boolean\",\"default\":false},{\"name\":\"kind\",\"enum\":[\"a\",\"b\"],\"required\":"
        "false},{\"name\":\"tags\",\"type\":\"array\",\"default\":[1,2]}]";
    struct laz_tool_set set = {0};
    struct laz_buf text = LAZ_BUF_INIT;

    CU_ASSERT_EQUAL_FATAL(
        add(&set, parameters, "{\"properties\":{" TYPE("name", "string") "}}", NULL), 0);
    laz_tool_signature(&set.entries[0], &text);
    UNIT_TEXT(
        laz_buf_text(&text),
        "get_user(user_id: int, x, full: bool = false, kind: \"a\" | \"b\" = null, tags: list "
        "= [1, 2]) -> {name: str}");
    laz_buf_fini(&text);
    laz_tool_set_fini(&set);
}

static void each_stub_says_what_is_returned(void)
{
    static const struct {
        const char *format, *says[2];
    } rows[] = {
        {"text", {"get-user(id) -> {name: str}\n", ""}},
        {"json", {"\"returns\":\"{name: str}\"", ""}},
        {"python", {"def get_user(id: int) -> dict:\n", "    Returns: {name: str}\n"}},
        {"r", {"#' @return {name: str}\n", "get_user <- function(id) { }"}},
        {"lua", {"-- @return {name: str}\n", "function get_user(id) end"}},
        {"javascript",
         {"declare function get_user(id: number): Promise<{name: string}>;\n",
          "declare function get_user(named: {id: number}): Promise<{name: string}>;\n"}},
    };
    struct laz_tool_set set = {0};

    CU_ASSERT_EQUAL_FATAL(add(&set, "[{\"name\":\"id\",\"type\":\"integer\"}]",
                              "{\"type\":\"object\",\"properties\":{" TYPE("name", "string") "}}",
                              NULL),
                          0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_buf text = LAZ_BUF_INIT;
        CU_ASSERT_EQUAL(laz_tool_set_format(&set, rows[i].format, languages_get(rows[i].format),
                                            NULL, &text, NULL),
                        0);
        for (size_t k = 0; k < 2; k++) {
            const bool has = strstr(laz_buf_text(&text), rows[i].says[k]) != NULL;
            if (!has)
                printf("\n%s", laz_buf_text(&text));
            CU_ASSERT(has);
        }
        laz_buf_fini(&text);
    }
    laz_tool_set_fini(&set);
}

/* A language that has types for all of it. */
static void the_type_of_a_result_is_written_in_a_language(void)
{
    static const struct {
        const char *schema, *type;
    } rows[] = {
        {"{\"type\":\"array\",\"items\":{\"type\":\"array\",\"items\":{\"type\":[\"integer\","
         "\"null\"]}}}",
         "Array<Array<number | null>>"},
        {"{\"type\":\"object\",\"properties\":{\"str\":{\"type\":\"number\"},\"a: [str] \\\"\":"
         "{\"type\":\"array\"},\"list\":{\"type\":\"object\"}},\"required\":[\"str\"]}",
         "{str: number, \"a: [str] \\\"\"?: any[], list?: Record<string, any>}"},
        {"{\"type\":\"object\",\"additionalProperties\":{\"type\":\"array\",\"items\":{\"type\":"
         "\"boolean\"}}}",
         "{[key: string]: Array<boolean>}"},
        {"{\"enum\":[\"str\",-1.5,true,null,{}]}", "\"str\" | -1.5 | true | null | any"},
        {"{\"anyOf\":[{\"type\":\"string\"},{\"$ref\":\"#/$defs/none\"}]}", "string | any"},
        {"{\"$ref\":\"#/$defs/T\",\"$defs\":{\"T\":{\"properties\":{\"down\":"
         "{\"$ref\":\"#/$defs/T\"}," TYPE("name", "string") "}}}}",
         "{down: {down: {down: {[key: string]: any}, name: string}, name: string}, name: string}"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_tool_set set = {0};
        struct laz_buf text = LAZ_BUF_INIT, wanted = LAZ_BUF_INIT;
        CU_ASSERT_EQUAL_FATAL(add(&set, NULL, rows[i].schema, NULL), 0);
        CU_ASSERT_EQUAL(
            laz_tool_set_format(&set, "javascript", languages_get("javascript"), NULL, &text, NULL),
            0);
        laz_buf_printf(&wanted, "declare function get_user(): Promise<%s>;\n", rows[i].type);
        const bool has = strstr(laz_buf_text(&text), laz_buf_text(&wanted)) != NULL;
        if (!has)
            printf("\n%s", laz_buf_text(&text));
        CU_ASSERT(has);
        laz_buf_fini(&wanted);
        laz_buf_fini(&text);
        laz_tool_set_fini(&set);
    }
}

static const struct unit_test tests[] = {
    UNIT(a_schema_is_shown_as_a_type),
    UNIT(what_is_no_schema_is_refused),
    UNIT(a_type_is_short),
    UNIT(a_signature_stands_for_all_languages),
    UNIT(each_stub_says_what_is_returned),
    UNIT(the_type_of_a_result_is_written_in_a_language),
    {0},
};

int main(void)
{
    return unit_run("returns", tests);
}
