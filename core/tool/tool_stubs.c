/* SPDX-License-Identifier: MIT */
/* tool_stubs.c - tools as text: for the message `init`, for people, and as stubs to show to a
 * model.
 *
 * A stub is the signature of a tool in one language with its documentation, in valid syntax.
 * Descriptions are not trusted: they are put into comments line by line, or quoted, so that none
 * can end the comment that contains it.  Each language is one row of a table, which says how values
 * and tools are written. */
#include "tool/tool_types.h"

#include "base/json.h"
#include "wire/table.h"

#include <stdlib.h>
#include <string.h>

struct stub_language {
    const char *format;
    const char *null_word, *true_word, *false_word;
    const char *list_open, *list_close;
    const char *map_open, *map_close;
    const char *key_open, *key_close; /* around a quoted key */
    bool decimal;                     /* control bytes in strings are \001, not \u0001 */
    bool docstring;                   /* documentation is a string literal: "\\" is escaped */
    bool dots;                        /* names may contain dots */
    void (*tool)(const struct stub_language *language, const struct laz_tool_entry *tool,
                 struct laz_buf *text);
    const char *together; /* comment on how to make several calls at once; or NULL */
};

/* ---- pieces --------------------------------------------------------------------------------- */

static void stub_name(const struct stub_language *language, const char *name, struct laz_buf *text)
{
    for (; *name; name++)
        laz_buf_putc(text, *name == '.' && !language->dots ? '_' : *name);
}

static void stub_string(const struct stub_language *language, const char *string, size_t len,
                        struct laz_buf *text)
{
    laz_buf_putc(text, '"');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)string[i];
        if (c == '"' || c == '\\') {
            laz_buf_putc(text, '\\');
            laz_buf_putc(text, (char)c);
        } else if (c == '\n') {
            laz_buf_puts(text, "\\n");
        } else if (c < 0x20 || c == 0x7f) {
            laz_buf_printf(text, language->decimal ? "\\%03u" : "\\u%04x", (unsigned)c);
        } else {
            laz_buf_putc(text, (char)c);
        }
    }
    laz_buf_putc(text, '"');
}

/* A JSON text as a literal of the language. */
static void stub_value(const struct stub_language *language, const char *value,
                       struct laz_buf *text)
{
    const struct laz_json_api *json = laz_json_api();
    struct laz_json_reader *reader = json->reader_new(value, strlen(value));
    struct laz_json_token token;
    bool first = true;

    while (reader && json->next(reader, &token) != LAZ_JSON_END) {
        bool closes = token.type == LAZ_JSON_ARRAY_END || token.type == LAZ_JSON_OBJECT_END;
        if (!first && !closes)
            laz_buf_puts(text, ", ");
        first = token.type == LAZ_JSON_ARRAY_BEGIN || token.type == LAZ_JSON_OBJECT_BEGIN ||
                token.type == LAZ_JSON_KEY;
        const char *const words[] = {
            [LAZ_JSON_NULL] = language->null_word,
            [LAZ_JSON_FALSE] = language->false_word,
            [LAZ_JSON_TRUE] = language->true_word,
            [LAZ_JSON_NUMBER] = token.text,
            [LAZ_JSON_KEY] = language->key_open,
            [LAZ_JSON_ARRAY_BEGIN] = language->list_open,
            [LAZ_JSON_ARRAY_END] = language->list_close,
            [LAZ_JSON_OBJECT_BEGIN] = language->map_open,
            [LAZ_JSON_OBJECT_END] = language->map_close,
        };
        if (token.type != LAZ_JSON_STRING)
            laz_buf_puts(text, words[token.type]);
        if (token.type == LAZ_JSON_STRING || token.type == LAZ_JSON_KEY)
            stub_string(language, token.text, token.len, text);
        if (token.type == LAZ_JSON_KEY)
            laz_buf_puts(text, language->key_close);
    }
    if (!reader)
        text->failed = true;
    json->reader_free(reader);
}

/* Appends untrusted text, each line after `prefix`. A space is put into sequences that would end a
 * comment or a docstring in any of the languages. */
static void stub_comment(const struct stub_language *language, const char *prefix,
                         const char *words, struct laz_buf *text)
{
    laz_buf_puts(text, prefix);
    for (const char *p = words; *p; p++) {
        unsigned char c = (unsigned char)*p;
        if (c == '\n') {
            laz_buf_putc(text, '\n');
            laz_buf_puts(text, prefix);
        } else if (c == '\\' && language->docstring) {
            laz_buf_puts(text, "\\\\");
        } else if (c < 0x20 || c == 0x7f) {
            laz_buf_putc(text, ' ');
        } else {
            laz_buf_putc(text, (char)c);
            if ((c == '*' && p[1] == '/') || (c == '"' && p[1] == '"'))
                laz_buf_putc(text, ' ');
        }
    }
    laz_buf_putc(text, '\n');
}

/* Appends "integer, default 3, one of 1, 2, 3" and the description. */
static void stub_describe(const struct stub_language *language,
                          const struct laz_tool_parameter *parameter, const char *between,
                          struct laz_buf *words)
{
    const char *type = *parameter->type_name ? parameter->type_name : "any value";

    laz_buf_puts(words, type);
    if (parameter->default_value) {
        laz_buf_puts(words, ", default ");
        stub_value(language, parameter->default_value, words);
    } else if (!parameter->required) {
        laz_buf_puts(words, ", optional");
    }
    if (parameter->enumeration) {
        struct stub_language bare = *language;
        bare.list_open = bare.list_close = "";
        laz_buf_puts(words, ", one of ");
        stub_value(&bare, parameter->enumeration, words);
    }
    if (*parameter->description)
        laz_buf_printf(words, "%s%s", between, parameter->description);
}

static void stub_parameter_comment(const struct stub_language *language, const char *prefix,
                                   const char *before, const struct laz_tool_parameter *parameter,
                                   const char *after, struct laz_buf *text)
{
    struct laz_buf words = LAZ_BUF_INIT;

    laz_buf_puts(&words, before);
    stub_name(language, parameter->name, &words);
    laz_buf_puts(&words, after);
    stub_describe(language, parameter, ": ", &words);
    stub_comment(language, prefix, laz_buf_text(&words), text);
    text->failed |= words.failed;
    laz_buf_fini(&words);
}

/* Appends "(id, full = FALSE)", as in R and JavaScript; `defaults` is false for Lua. */
static void stub_signature(const struct stub_language *language, const struct laz_tool_entry *tool,
                           bool defaults, struct laz_buf *text)
{
    laz_buf_putc(text, '(');
    for (size_t i = 0; i < tool->n_parameters; i++) {
        const struct laz_tool_parameter *parameter = &tool->parameters[i];
        laz_buf_puts(text, i ? ", " : "");
        stub_name(language, parameter->name, text);
        if (parameter->required || !defaults)
            continue;
        laz_buf_puts(text, " = ");
        stub_value(language, parameter->default_value ? parameter->default_value : "null", text);
    }
    laz_buf_putc(text, ')');
}

/* ---- languages ------------------------------------------------------------------------------ */

static void stub_r(const struct stub_language *language, const struct laz_tool_entry *tool,
                   struct laz_buf *text)
{
    stub_comment(language, "#' ", *tool->description ? tool->description : tool->name, text);
    for (size_t i = 0; i < tool->n_parameters; i++)
        stub_parameter_comment(language, "#' ", "@param ", &tool->parameters[i], " ", text);
    stub_name(language, tool->name, text);
    laz_buf_puts(text, " <- function");
    stub_signature(language, tool, true, text);
    laz_buf_puts(text, " { }\n");
}

static const char *stub_python_type(enum laz_type type)
{
    static const char *const types[] = {
        [LAZ_TYPE_ANY] = "object",  [LAZ_TYPE_STRING] = "str",   [LAZ_TYPE_NUMBER] = "float",
        [LAZ_TYPE_INTEGER] = "int", [LAZ_TYPE_BOOLEAN] = "bool", [LAZ_TYPE_ARRAY] = "list",
        [LAZ_TYPE_OBJECT] = "dict",
    };
    return types[type];
}

/* In Python required parameters come first; a later one becomes a keyword-only parameter. */
static void stub_python_signature(const struct stub_language *language,
                                  const struct laz_tool_entry *tool, struct laz_buf *text)
{
    bool optional = false, by_name = false;

    laz_buf_puts(text, "def ");
    stub_name(language, tool->name, text);
    laz_buf_putc(text, '(');
    for (size_t i = 0; i < tool->n_parameters; i++) {
        const struct laz_tool_parameter *parameter = &tool->parameters[i];
        laz_buf_puts(text, i ? ", " : "");
        if (parameter->required && optional && !by_name) {
            laz_buf_puts(text, "*, ");
            by_name = true;
        }
        optional |= !parameter->required;
        stub_name(language, parameter->name, text);
        bool typed = laz_type_is_plain(parameter);
        if (typed)
            laz_buf_printf(text, ": %s", stub_python_type(parameter->type));
        if (parameter->required)
            continue;
        laz_buf_puts(text, typed ? " = " : "=");
        stub_value(language, parameter->default_value ? parameter->default_value : "null", text);
    }
    laz_buf_puts(text, "):\n");
}

static void stub_python(const struct stub_language *language, const struct laz_tool_entry *tool,
                        struct laz_buf *text)
{
    stub_python_signature(language, tool, text);
    laz_buf_puts(text, "    \"\"\"\n");
    stub_comment(language, "    ", *tool->description ? tool->description : tool->name, text);
    if (tool->n_parameters)
        laz_buf_putc(text, '\n');
    for (size_t i = 0; i < tool->n_parameters; i++)
        stub_parameter_comment(language, "    ", "", &tool->parameters[i], ": ", text);
    laz_buf_puts(text, "    \"\"\"\n");
}

/* In Lua my.tool is a field of a table; other names with dots are only accessible as strings. */
static void stub_lua_name(const struct stub_language *language, const char *name,
                          struct laz_buf *text)
{
    const char *dot = strchr(name, '.');
    bool is_field = dot && dot != name && dot[1] && !strchr(dot + 1, '.');

    if (!dot || is_field) {
        laz_buf_printf(text, "function %s", name);
        return;
    }
    laz_buf_puts(text, "_G[");
    stub_string(language, name, strlen(name), text);
    laz_buf_puts(text, "] = function");
}

static void stub_lua(const struct stub_language *language, const struct laz_tool_entry *tool,
                     struct laz_buf *text)
{
    stub_comment(language, "--- ", *tool->description ? tool->description : tool->name, text);
    for (size_t i = 0; i < tool->n_parameters; i++)
        stub_parameter_comment(language, "-- ", "@param ", &tool->parameters[i], " ", text);
    stub_lua_name(language, tool->name, text);
    stub_signature(language, tool, false, text);
    laz_buf_puts(text, " end\n");
}

static void stub_javascript(const struct stub_language *language, const struct laz_tool_entry *tool,
                            struct laz_buf *text)
{
    laz_buf_puts(text, "/**\n");
    stub_comment(language, " * ", *tool->description ? tool->description : tool->name, text);
    for (size_t i = 0; i < tool->n_parameters; i++)
        stub_parameter_comment(language, " * ", "@param ", &tool->parameters[i], " ", text);
    laz_buf_puts(text, " */\nfunction ");
    stub_name(language, tool->name, text);
    stub_signature(language, tool, true, text);
    laz_buf_puts(text, " {}\n");
}

/* For people: call, description, parameters. */
static void stub_text(const struct stub_language *language, const struct laz_tool_entry *tool,
                      struct laz_buf *text)
{
    stub_name(language, tool->name, text);
    stub_signature(language, tool, false, text);
    laz_buf_putc(text, '\n');
    if (*tool->description)
        stub_comment(language, "    ", tool->description, text);
    for (size_t i = 0; i < tool->n_parameters; i++)
        stub_parameter_comment(language, "      ", "", &tool->parameters[i], "  ", text);
}

static const struct stub_language stub_languages[] = {
    {"text", "null", "true", "false", "[", "]", "{", "}", "", ": ", false, false, true, stub_text,
     NULL},
    {"r", "NULL", "TRUE", "FALSE", "list(", ")", "list(", ")", "", " = ", false, false, true,
     stub_r,
     "# tool_map(NAME, ...) calls a tool for each element of vectors, as Map() does; the calls "
     "run\n"
     "# side by side.\n"},
    {"python", "None", "True", "False", "[", "]", "{", "}", "", ": ", false, true, false,
     stub_python,
     "# Each tool is a coroutine too: await asyncio.gather(NAME.aio(...), NAME.aio(...)) makes "
     "calls\n"
     "# that run side by side.\n"},
    {"lua", "nil", "true", "false", "{", "}", "{", "}", "[", "] = ", true, false, false, stub_lua,
     "-- tool_map(NAME, {{...}, {...}}) calls a tool once for each list of arguments; the calls "
     "run\n"
     "-- side by side.\n"},
    {"javascript", "null", "true", "false", "[", "]", "{", "}", "", ": ", false, false, false,
     stub_javascript, NULL},
};

#define N_STUB_LANGUAGES (sizeof stub_languages / sizeof *stub_languages)

/* ---- JSON ----------------------------------------------------------------------------------- */

/* Without "type" a runtime leaves the check to the host, but for words of its own language. */
static struct laz_wire_parameter json_parameter(const struct laz_tool_parameter *parameter)
{
    const char *type = laz_type_name(parameter->type);
    const char *value = parameter->default_value, *list = parameter->enumeration;

    return (struct laz_wire_parameter){
        .name = parameter->name,
        .type = laz_type_is_plain(parameter) ? type : NULL,
        .type_name = strcmp(parameter->type_name, type) != 0 ? parameter->type_name : NULL,
        .is_required = parameter->required,
        .default_value = value,
        .default_len = value ? strlen(value) : 0,
        .enumeration = list,
        .enumeration_len = list ? strlen(list) : 0,
        .description = parameter->description,
    };
}

void laz_tool_set_json(const struct laz_tool_set *set, struct laz_buf *json)
{
    struct laz_json_write write = {.to = json};
    struct laz_wire_parameter *parameters = NULL;

    laz_json_begin_list(&write, NULL);
    for (size_t i = 0; i < set->n; i++) {
        const struct laz_tool_entry *entry = &set->entries[i];
        struct laz_wire_parameter *grown =
            realloc(parameters, (entry->n_parameters + 1) * sizeof *grown);
        if (!grown) {
            json->failed = true;
            break;
        }
        parameters = grown;
        for (size_t k = 0; k < entry->n_parameters; k++)
            parameters[k] = json_parameter(&entry->parameters[k]);
        const struct laz_wire_tool tool = {
            entry->name, entry->description, {parameters, entry->n_parameters}};
        laz_wire_add(&write, NULL, &laz_wire_tool, &tool);
    }
    laz_json_end_list(&write);
    free(parameters);
}

int laz_tool_set_format(const struct laz_tool_set *set, const char *format, struct laz_buf *text,
                        struct laz_error *err)
{
    const struct stub_language *language = NULL;

    if (strcmp(format, "json") == 0) {
        laz_tool_set_json(set, text);
        laz_buf_putc(text, '\n');
        return text->failed ? laz_error_nomem(err) : 0;
    }
    for (size_t i = 0; i < N_STUB_LANGUAGES; i++)
        if (strcmp(stub_languages[i].format, format) == 0)
            language = &stub_languages[i];
    if (!language)
        return laz_error_set(err, LAZ_EINVAL, 0,
                             "unknown format '%.100s'; known are text, json, r, python, "
                             "javascript, lua",
                             format);
    for (size_t i = 0; i < set->n; i++) {
        laz_buf_puts(text, i ? "\n" : "");
        language->tool(language, &set->entries[i], text);
    }
    if (set->n && language->together)
        laz_buf_printf(text, "\n%s", language->together);
    return text->failed ? laz_error_nomem(err) : 0;
}
