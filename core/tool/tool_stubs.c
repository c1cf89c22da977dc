/* SPDX-License-Identifier: MIT */
/* tool_stubs.c - tools as text: for the message `init`, for people, and as stubs to show to a
 * model.
 *
 * A stub is the signature of a tool in one language with its documentation, in valid syntax.
 * Descriptions are not trusted: they are put into comments line by line, or quoted, so that none
 * can end the comment that contains it.  How a language writes values and signatures is declared in
 * a file beside its runtime (plugin/language.h). */
#include "tool/tool_parts.h"

#include "base/json.h"
#include "plugin/language.h"
#include "wire/message.h"

#include <string.h>

/* ---- pieces --------------------------------------------------------------------------------- */

static void stub_name(const struct laz_language_stub *stub, const char *name, struct laz_buf *text)
{
    for (; *name; name++)
        laz_buf_putc(text, *name == '.' && !stub->dots ? '_' : *name);
}

static void stub_string(const struct laz_language_stub *stub, const char *string, size_t len,
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
            laz_buf_printf(text, stub->decimal_escapes ? "\\%03u" : "\\u%04x", (unsigned)c);
        } else {
            laz_buf_putc(text, (char)c);
        }
    }
    laz_buf_putc(text, '"');
}

/* A JSON text as a literal of the language. */
static void stub_value(const struct laz_language_stub *stub, const char *value,
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
            [LAZ_JSON_NULL] = stub->null_word,       [LAZ_JSON_FALSE] = stub->false_word,
            [LAZ_JSON_TRUE] = stub->true_word,       [LAZ_JSON_NUMBER] = token.text,
            [LAZ_JSON_KEY] = stub->key_open,         [LAZ_JSON_ARRAY_BEGIN] = stub->list_open,
            [LAZ_JSON_ARRAY_END] = stub->list_close, [LAZ_JSON_OBJECT_BEGIN] = stub->map_open,
            [LAZ_JSON_OBJECT_END] = stub->map_close,
        };
        if (token.type != LAZ_JSON_STRING)
            laz_buf_puts(text, words[token.type]);
        if (token.type == LAZ_JSON_STRING || token.type == LAZ_JSON_KEY)
            stub_string(stub, token.text, token.len, text);
        if (token.type == LAZ_JSON_KEY)
            laz_buf_puts(text, stub->key_close);
    }
    if (!reader)
        text->failed = true;
    json->reader_free(reader);
}

/* Appends untrusted text, each line after `prefix`. A space is put into sequences that would end a
 * comment or a docstring in any of the languages. */
static void stub_comment(const struct laz_language_stub *stub, const char *prefix,
                         const char *words, struct laz_buf *text)
{
    unsigned quotes = 0; /* in a row */

    laz_buf_puts(text, prefix);
    for (const char *p = words; *p; p++) {
        unsigned char c = (unsigned char)*p;
        quotes = c == '"' ? quotes + 1 : 0;
        if (c == '\n') {
            laz_buf_putc(text, '\n');
            laz_buf_puts(text, prefix);
        } else if (c == '\\' && stub->docstring) {
            laz_buf_puts(text, "\\\\");
        } else if (c < 0x20 || c == 0x7f) {
            laz_buf_putc(text, ' ');
        } else {
            laz_buf_putc(text, (char)c);
            if ((c == '*' && p[1] == '/') || (quotes % 2 == 0 && quotes && p[1] == '"'))
                laz_buf_putc(text, ' ');
        }
    }
    laz_buf_putc(text, '\n');
}

/* Appends the line of a parameter: "integer, default 3, one of 1, 2, 3" and the description. */
static void stub_parameter(const struct laz_language_stub *stub,
                           const struct laz_tool_parameter *parameter, struct laz_buf *text)
{
    struct laz_buf words = LAZ_BUF_INIT;

    laz_buf_puts(&words, stub->before_parameter);
    stub_name(stub, parameter->name, &words);
    laz_buf_puts(&words, stub->after_parameter);
    laz_buf_puts(&words, *parameter->type_name ? parameter->type_name : "any value");
    if (parameter->default_value) {
        laz_buf_puts(&words, ", default ");
        stub_value(stub, parameter->default_value, &words);
    } else if (!parameter->required) {
        laz_buf_puts(&words, ", optional");
    }
    if (parameter->enumeration) {
        struct laz_language_stub bare = *stub;
        bare.list_open = bare.list_close = "";
        laz_buf_puts(&words, ", one of ");
        stub_value(&bare, parameter->enumeration, &words);
    }
    if (*parameter->description)
        laz_buf_printf(&words, ": %s", parameter->description);
    stub_comment(stub, stub->parameter_line, laz_buf_text(&words), text);
    text->failed |= words.failed;
    laz_buf_fini(&words);
}

/* ---- a tool --------------------------------------------------------------------------------- */

/* The type of a parameter in the language; NULL: none is written. */
static const char *stub_type(const struct laz_language_stub *stub,
                             const struct laz_tool_parameter *parameter)
{
    const char *word = laz_type_name(parameter->type);

    for (size_t i = 0; laz_type_is_plain(parameter) && i + 1 < stub->types.n; i += 2)
        if (strcmp(stub->types.items[i], word) == 0)
            return stub->types.items[i + 1];
    return NULL;
}

/* Appends "(id, full = FALSE)". Where required parameters come first in a language, a later one is
 * declared to be passed by name. */
static void stub_arguments(const struct laz_language_stub *stub, const struct laz_tool_entry *tool,
                           struct laz_buf *text)
{
    bool optional = false, by_name = !stub->by_name;

    laz_buf_putc(text, '(');
    for (size_t i = 0; i < tool->n_parameters; i++) {
        const struct laz_tool_parameter *parameter = &tool->parameters[i];
        const char *type = stub_type(stub, parameter);
        laz_buf_puts(text, i ? ", " : "");
        if (parameter->required && optional && !by_name) {
            laz_buf_puts(text, stub->by_name);
            by_name = true;
        }
        optional |= !parameter->required;
        stub_name(stub, parameter->name, text);
        if (type)
            laz_buf_printf(text, ": %s", type);
        if (parameter->required || !stub->defaults)
            continue;
        laz_buf_puts(text, stub->types.n && !type ? "=" : " = ");
        stub_value(stub, parameter->default_value ? parameter->default_value : "null", text);
    }
    laz_buf_putc(text, ')');
}

/* True for the name of a field of a table, "my.tool". */
static bool stub_is_field(const char *name)
{
    const char *dot = strchr(name, '.');

    return dot && dot != name && dot[1] && !strchr(dot + 1, '.');
}

static void stub_signature(const struct laz_language_stub *stub, const struct laz_tool_entry *tool,
                           struct laz_buf *text)
{
    if (stub->quoted_before && strchr(tool->name, '.') && !stub_is_field(tool->name)) {
        laz_buf_puts(text, stub->quoted_before);
        stub_string(stub, tool->name, strlen(tool->name), text);
        laz_buf_puts(text, stub->quoted_after ? stub->quoted_after : "");
    } else {
        laz_buf_puts(text, stub->before_name);
        if (stub->quoted_before) /* a field keeps its dot */
            laz_buf_puts(text, tool->name);
        else
            stub_name(stub, tool->name, text);
        laz_buf_puts(text, stub->after_name);
    }
    stub_arguments(stub, tool, text);
    laz_buf_puts(text, stub->after_arguments);
}

static void stub_documentation(const struct laz_language_stub *stub, const char *description,
                               const struct laz_tool_entry *tool, struct laz_buf *text)
{
    laz_buf_puts(text, stub->before);
    if (*description)
        stub_comment(stub, stub->line, description, text);
    if (tool->n_parameters && stub->before_parameters)
        laz_buf_puts(text, stub->before_parameters);
    for (size_t i = 0; i < tool->n_parameters; i++)
        stub_parameter(stub, &tool->parameters[i], text);
    laz_buf_puts(text, stub->after);
}

static void stub_tool(const struct laz_language_stub *stub, bool is_plain,
                      const struct laz_tool_entry *tool, struct laz_buf *text)
{
    const char *description = *tool->description || is_plain ? tool->description : tool->name;

    if (stub->signature_first)
        stub_signature(stub, tool, text);
    stub_documentation(stub, description, tool, text);
    if (!stub->signature_first)
        stub_signature(stub, tool, text);
}

/* For people: call, description, parameters. */
static const struct laz_language_stub stub_plain = {
    .null_word = "null",
    .true_word = "true",
    .false_word = "false",
    .list_open = "[",
    .list_close = "]",
    .map_open = "{",
    .map_close = "}",
    .key_open = "",
    .key_close = ": ",
    .before = "",
    .after = "",
    .line = "    ",
    .parameter_line = "      ",
    .before_parameter = "",
    .after_parameter = "  ",
    .before_name = "",
    .after_name = "",
    .after_arguments = "\n",
    .dots = true,
    .signature_first = true,
};

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
    struct laz_wire_parameter parameters[LAZ_TOOL_MAX_PARAMETERS];

    laz_json_begin_list(&write, NULL);
    for (size_t i = 0; i < set->n; i++) {
        const struct laz_tool_entry *entry = &set->entries[i];
        for (size_t k = 0; k < entry->n_parameters; k++)
            parameters[k] = json_parameter(&entry->parameters[k]);
        const struct laz_wire_tool tool = {
            entry->name, entry->description, {parameters, entry->n_parameters}};
        laz_fields_add(&write, NULL, &laz_wire_tool, &tool);
    }
    laz_json_end_list(&write);
}

int laz_tool_set_format(const struct laz_tool_set *set, const char *format,
                        const struct laz_language *language, struct laz_buf *text,
                        struct laz_error *err)
{
    bool is_plain = strcmp(format, "text") == 0;

    if (strcmp(format, "json") == 0) {
        laz_tool_set_json(set, text);
        laz_buf_putc(text, '\n');
        return text->failed ? laz_error_nomem(err) : 0;
    }
    if (!is_plain && (!language || !language->stub.null_word))
        return laz_error_set(err, LAZ_EINVAL, 0, "unknown format '%.100s'", format);
    const struct laz_language_stub *stub = is_plain ? &stub_plain : &language->stub;
    for (size_t i = 0; i < set->n; i++) {
        laz_buf_puts(text, i ? "\n" : "");
        stub_tool(stub, is_plain, &set->entries[i], text);
    }
    if (set->n && stub->together)
        laz_buf_printf(text, "\n%s", stub->together);
    return text->failed ? laz_error_nomem(err) : 0;
}
