/* SPDX-License-Identifier: MIT */
/* tool_stubs.c - tools as text: for the message `init`, for people, and as stubs to show to a
 * model.
 *
 * A stub is the signature of a tool in one language with its documentation, in valid syntax.
 * Descriptions are not trusted: they are put into comments line by line, or quoted, so that none
 * can end the comment that contains it.  How a language writes values and signatures is declared in
 * a file beside its runtime (plugin/language.h). */
#include "tool/tool_private.h"

#include "base/json.h"
#include "plugin/language.h"
#include "wire/message.h"

#include <stdlib.h>
#include <string.h>

/* ---- pieces --------------------------------------------------------------------------------- */

/* A text of the form, or what stands for one that is not declared. */
static const char *stub_text(const char *text, const char *otherwise)
{
    return text ? text : otherwise;
}

/* What stands for a character in a string, or NULL. */
static const char *stub_escape(const struct laz_language_stub *stub, char c)
{
    const struct laz_strv *escapes = &stub->escapes;

    for (size_t i = 0; i + 1 < escapes->n; i += 2)
        if (escapes->items[i][0] == c && !escapes->items[i][1])
            return escapes->items[i + 1];
    if (escapes->n)
        return NULL;
    return c == '"' ? "\\\"" : c == '\\' ? "\\\\" : c == '\n' ? "\\n" : NULL;
}

static void stub_string(const struct laz_language_stub *stub, const char *string, size_t len,
                        struct laz_buf *text)
{
    laz_buf_puts(text, stub_text(stub->string_open, "\""));
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)string[i];
        const char *escape = stub_escape(stub, string[i]);
        if (escape) {
            laz_buf_puts(text, escape);
        } else if (c < 0x20 || c == 0x7f) {
            laz_buf_printf(text, stub->decimal_escapes ? "\\%03u" : "\\u%04x", (unsigned)c);
        } else {
            laz_buf_putc(text, (char)c);
        }
    }
    laz_buf_puts(text, stub_text(stub->string_close, "\""));
}

/* Appends JSON with whole numbers as they are written in code, in place of their exact form. */
static void stub_integers(const char *value, struct laz_buf *text)
{
    struct laz_buf form = LAZ_BUF_INIT; /* the form of an integer without digits */
    struct laz_json_write write = {.to = &form};

    laz_json_begin_object(&write, NULL);
    laz_json_add_text(&write, "$int", "");
    laz_json_end_object(&write);
    const size_t before = form.len > 2 ? form.len - 2 : 0; /* bytes of it before the digits */
    for (const char *at; before && (at = strstr(value, "$int")) != NULL;) {
        const char *begin = at - 2, *number = begin + before;
        const bool is = at - value >= 2 && strncmp(begin, laz_buf_text(&form), before) == 0;
        laz_buf_append(text, value, (size_t)((is ? begin : at + 1) - value));
        if (is)
            laz_buf_append(text, number, strcspn(number, "\""));
        value = is ? number + strcspn(number, "\"") + 2 : at + 1;
    }
    laz_buf_puts(text, value);
    text->failed |= form.failed;
    laz_buf_fini(&form);
}

/* A JSON text as a literal of the language. */
static void stub_value(const struct laz_language_stub *stub, const char *value,
                       struct laz_buf *text)
{
    const struct laz_json_api *json = laz_json_api();
    struct laz_buf plain = LAZ_BUF_INIT;

    stub_integers(value, &plain);
    struct laz_json_reader *reader = json->reader_new(laz_buf_text(&plain), plain.len);
    struct laz_json_token token;
    bool first = true;

    while (reader && json->next(reader, &token) != LAZ_JSON_END) {
        bool closes = token.type == LAZ_JSON_ARRAY_END || token.type == LAZ_JSON_OBJECT_END;
        if (!first && !closes)
            laz_buf_puts(text, stub_text(stub->between_values, ", "));
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
    text->failed |= !reader || plain.failed;
    json->reader_free(reader);
    laz_buf_fini(&plain);
}

/* The values of an enumeration without brackets. */
static void stub_choices(const struct laz_language_stub *stub, const char *between,
                         const char *enumeration, struct laz_buf *text)
{
    struct laz_language_stub bare = *stub;

    bare.list_open = bare.list_close = "";
    bare.between_values = between;
    stub_value(&bare, enumeration, text);
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

/* Appends the declared name to a description, where the spelling does not tell it. */
static void tell_name(const struct laz_spelling *spelling, enum laz_spelled what, const char *name,
                      const char *spelled, struct laz_buf *text)
{
    if (spelling && !laz_spelled_is_plain(spelling, what, name, spelled))
        laz_buf_printf(text, "%s(declared as '%s')", text->len ? " " : "", name);
}

/* Appends the line of a parameter: "integer, default 3, one of 1, 2, 3" and the description. */
static void stub_parameter(const struct laz_language_stub *stub,
                           const struct laz_spelling *spelling, const char *spelled,
                           const struct laz_tool_parameter *parameter, struct laz_buf *text)
{
    struct laz_buf words = LAZ_BUF_INIT;

    laz_buf_puts(&words, stub->before_parameter);
    laz_buf_puts(&words, spelled);
    laz_buf_puts(&words, stub->after_parameter);
    laz_buf_puts(&words, *parameter->type_name ? parameter->type_name : "any value");
    if (parameter->default_value) {
        laz_buf_puts(&words, ", default ");
        stub_value(stub, parameter->default_value, &words);
    } else if (!parameter->required) {
        laz_buf_puts(&words, ", optional");
    }
    if (parameter->enumeration) {
        laz_buf_puts(&words, ", one of ");
        stub_choices(stub, stub->between_values, parameter->enumeration, &words);
    }
    if (*parameter->description)
        laz_buf_printf(&words, ": %s", parameter->description);
    tell_name(spelling, LAZ_SPELLED_PARAMETER, parameter->name, spelled, &words);
    stub_comment(stub, stub->parameter_line, laz_buf_text(&words), text);
    text->failed |= words.failed;
    laz_buf_fini(&words);
}

/* ---- a tool --------------------------------------------------------------------------------- */

/* A type in the language, by its word in JSON Schema; NULL: none is written. */
static const char *stub_word(const struct laz_language_stub *stub, const char *word)
{
    for (size_t i = 0; i + 1 < stub->types.n; i += 2)
        if (strcmp(stub->types.items[i], word) == 0)
            return stub->types.items[i + 1];
    return NULL;
}

/* Appends the type of a parameter; false: none is written. */
static bool stub_type(const struct laz_language_stub *stub,
                      const struct laz_tool_parameter *parameter, struct laz_buf *text)
{
    const char *word =
        laz_type_is_plain(parameter) ? stub_word(stub, laz_type_name(parameter->type)) : NULL;

    word = word ? word : stub_word(stub, "any");
    if (parameter->enumeration && stub->between_choices)
        stub_choices(stub, stub->between_choices, parameter->enumeration, text);
    else if (word)
        laz_buf_puts(text, word);
    return word || (parameter->enumeration && stub->between_choices);
}

/* The type for a word of tool_returns.c, or NULL. */
static const char *stub_neutral_word(const struct laz_language_stub *stub, const char *word,
                                     size_t len)
{
    for (size_t i = 0; i + 1 < stub->types.n; i += 2) {
        const char *neutral = laz_type_neutral(stub->types.items[i]);
        if (strlen(neutral) == len && memcmp(neutral, word, len) == 0)
            return stub->types.items[i + 1];
    }
    return NULL;
}

#define TYPE_WORD "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* One piece of a type as tool_returns.c writes it: a string, a name, a word, "...". Returns its
 * end. */
static const char *stub_piece(const struct laz_language_stub *stub, const char *type,
                              const char *at, struct laz_buf *text)
{
    size_t len = strspn(at, TYPE_WORD);
    const char *word = len ? stub_neutral_word(stub, at, len) : NULL;

    if (*at == '"') {
        for (len = 1; at[len] && at[len] != '"'; len++)
            len += at[len] == '\\' && at[len + 1];
        len += at[len] == '"';
    } else if (strncmp(at, "...", 3) == 0) { /* members that are not shown, or a type that is not */
        len = 3;
        word = stub_word(stub, "any");
        if (at - type >= 2 && (at[-1] == '{' || at[-2] == ','))
            laz_buf_puts(text, stub->any_key);
    } else if (strncmp(at, "[str]: ", 7) == 0) {
        len = 7;
        word = stub->any_key;
    } else if (*at == '[' || *at == ']') {
        len = 1;
        word = *at == '[' ? stub->list_type_open : stub->list_type_close;
    } else if (!len) {
        len = 1;
    } else if (at[len] == ':' || (at[len] == '?' && at[len + 1] == ':')) {
        word = NULL; /* the name of a member */
    }
    if (word)
        laz_buf_puts(text, word);
    else
        laz_buf_append(text, at, len);
    return at + len;
}

/* Appends the type of what a tool returns; nothing where it is not known. */
static void stub_result(const struct laz_language_stub *stub, const char *returns,
                        struct laz_buf *text)
{
    const size_t len = strlen(returns);
    const char last = len ? returns[len - 1] : '\0', *word;

    if (!stub->types.n) {
        laz_buf_puts(text, returns);
    } else if (stub->any_key && stub->list_type_open && stub->list_type_close) {
        for (const char *at = len ? returns : "any"; *at;)
            at = stub_piece(stub, returns, at, text);
    } else {
        if (returns[0] == '{' && last == '}')
            word = stub_word(stub, "object");
        else if (returns[0] == '[' && last == ']')
            word = stub_word(stub, "array");
        else
            word = len ? stub_neutral_word(stub, returns, len) : NULL;
        laz_buf_puts(text, stub_text(word, ""));
    }
}

/* How the tool and its parameters are written. */
struct stub_names {
    const char *tool;
    struct laz_strv parameters;
};

/* Appends what the signature has of a parameter, "full = FALSE" for example. */
static void stub_argument(const struct laz_language_stub *stub, const char *spelled,
                          const struct laz_tool_parameter *parameter, struct laz_buf *text)
{
    const char *before = stub_text(stub->before_default, " = ");
    struct laz_buf type_of = LAZ_BUF_INIT;
    const bool type = stub_type(stub, parameter, &type_of);

    if (!parameter->required)
        laz_buf_puts(text, stub_text(stub->before_optional, ""));
    laz_buf_puts(text, spelled);
    if (!parameter->required)
        laz_buf_puts(text, stub_text(stub->optional_name, ""));
    if (type)
        laz_buf_printf(text, "%s%s", stub_text(stub->before_type, ": "), laz_buf_text(&type_of));
    text->failed |= type_of.failed;
    laz_buf_fini(&type_of);
    if (!parameter->required && stub->defaults) {
        laz_buf_puts(text, type ? before : stub_text(stub->before_bare_default, before));
        stub_value(stub, parameter->default_value ? parameter->default_value : "null", text);
    }
    if (!parameter->required)
        laz_buf_puts(text, stub_text(stub->after_optional, ""));
}

/* Appends "(id, full = FALSE)". Where required parameters come first in a language, a later one is
 * declared to be passed by name. */
static void stub_arguments(const struct laz_language_stub *stub, const struct stub_names *names,
                           const struct laz_tool_entry *tool, struct laz_buf *text)
{
    bool optional = false, by_name = !stub->by_name;

    laz_buf_puts(text, stub_text(stub->arguments_open, "("));
    for (size_t i = 0; i < tool->n_parameters; i++) {
        const struct laz_tool_parameter *parameter = &tool->parameters[i];
        laz_buf_puts(text, i ? stub_text(stub->between_arguments, ", ") : "");
        if (parameter->required && optional && !by_name) {
            laz_buf_puts(text, stub->by_name);
            by_name = true;
        }
        optional |= !parameter->required;
        stub_argument(stub, names->parameters.items[i], parameter, text);
    }
    laz_buf_puts(text, stub_text(stub->arguments_close, ")"));
}

static void stub_signature(const struct laz_language_stub *stub, const struct stub_names *names,
                           const struct laz_tool_entry *tool, struct laz_buf *text)
{
    laz_buf_puts(text, stub->before_name);
    laz_buf_puts(text, names->tool);
    laz_buf_puts(text, stub->after_name);
    stub_arguments(stub, names, tool, text);
    struct laz_buf type = LAZ_BUF_INIT;
    stub_result(stub, tool->returns, &type);
    if (stub->before_result && type.len)
        laz_buf_printf(text, "%s%s%s", stub->before_result, laz_buf_text(&type),
                       stub_text(stub->after_result, ""));
    text->failed |= type.failed;
    laz_buf_fini(&type);
    laz_buf_puts(text, stub->after_arguments);
}

/* The arguments in order, and once more as members of an object, where the language has that. */
static void stub_signatures(const struct laz_language_stub *stub, const struct stub_names *names,
                            const struct laz_tool_entry *tool, struct laz_buf *text)
{
    struct laz_language_stub named = *stub;
    bool optional = false, mixed = false; /* a required one behind an optional one */

    named.arguments_open = stub->named_open;
    named.arguments_close = stub->named_close;
    named.between_arguments = stub->between_named;
    for (size_t i = 0; i < tool->n_parameters; i++) {
        mixed |= optional && tool->parameters[i].required;
        optional |= !tool->parameters[i].required;
    }
    if (!stub->named_open || !mixed)
        stub_signature(stub, names, tool, text);
    if (stub->named_open && tool->n_parameters)
        stub_signature(&named, names, tool, text);
}

static void stub_documentation(const struct laz_language_stub *stub,
                               const struct laz_spelling *spelling, const struct stub_names *names,
                               const struct laz_tool_entry *tool, struct laz_buf *text)
{
    const char *approvals = laz_wire_approvals(tool->approval == LAZ_APPROVAL_ALWAYS,
                                               tool->approval == LAZ_APPROVAL_SOME);
    struct laz_buf about = LAZ_BUF_INIT;

    laz_buf_puts(&about, *tool->description || !spelling ? tool->description : tool->name);
    tell_name(spelling, LAZ_SPELLED_TOOL, tool->name, names->tool, &about);
    laz_buf_puts(text, stub->before);
    if (about.len)
        stub_comment(stub, stub->line, laz_buf_text(&about), text);
    if (tool->n_parameters && stub->before_parameters)
        laz_buf_puts(text, stub->before_parameters);
    for (size_t i = 0; i < tool->n_parameters; i++)
        stub_parameter(stub, spelling, names->parameters.items[i], &tool->parameters[i], text);
    if (*tool->returns && stub->returns) {
        struct laz_buf returns = LAZ_BUF_INIT;
        laz_buf_printf(&returns, "%s%s", stub->returns, tool->returns);
        stub_comment(stub, stub->parameter_line, laz_buf_text(&returns), text);
        text->failed |= returns.failed;
        laz_buf_fini(&returns);
    }
    if (approvals)
        stub_comment(stub, stub->line, approvals, text);
    laz_buf_puts(text, stub->after);
    text->failed |= about.failed;
    laz_buf_fini(&about);
}

/* `spelled`: how the tool is written. */
static void stub_tool(const struct laz_language_stub *stub, const struct laz_spelling *spelling,
                      const char *spelled, const struct laz_tool_entry *tool, struct laz_buf *text)
{
    struct stub_names names = {spelled, LAZ_STRV_INIT};

    laz_tool_spell_parameters(tool, spelling, &names.parameters);
    text->failed |= names.parameters.failed;
    if (!text->failed) {
        if (stub->signature_first)
            stub_signatures(stub, &names, tool, text);
        stub_documentation(stub, spelling, &names, tool, text);
        if (!stub->signature_first)
            stub_signatures(stub, &names, tool, text);
    }
    laz_strv_fini(&names.parameters);
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
    .before_result = " -> ",
    .signature_first = true,
};

/* ---- a signature that stands for all languages ---------------------------------------------- */

#define NEUTRAL_ENUM    100 /* bytes of an enumeration that is shown */
#define NEUTRAL_DEFAULT 60  /* and of a default */

/* "get_user(id: int, full: bool = false) -> {name: str}" */
static const struct laz_language_stub stub_neutral = {
    .null_word = "null",
    .true_word = "true",
    .false_word = "false",
    .list_open = "[",
    .list_close = "]",
    .map_open = "{",
    .map_close = "}",
    .key_open = "",
    .key_close = ": ",
};

static void neutral_argument(const struct laz_tool_parameter *parameter, const char *spelled,
                             struct laz_buf *text)
{
    const char *type = laz_type_neutral(laz_type_name(parameter->type));

    laz_buf_puts(text, spelled);
    if (parameter->enumeration && strlen(parameter->enumeration) <= NEUTRAL_ENUM) {
        laz_buf_puts(text, ": ");
        stub_choices(&stub_neutral, " | ", parameter->enumeration, text);
    } else if (parameter->type != LAZ_TYPE_ANY) {
        laz_buf_printf(text, ": %s", type);
    }
    const char *value = parameter->default_value ? parameter->default_value : "null";
    if (parameter->required)
        return;
    laz_buf_puts(text, " = ");
    if (strlen(value) <= NEUTRAL_DEFAULT)
        stub_value(&stub_neutral, value, text);
    else
        laz_buf_puts(text, "...");
}

void laz_tool_signature(const struct laz_tool_entry *tool, struct laz_buf *text)
{
    static const struct laz_spelling spelling = {0};
    char *name = laz_spell_new(&spelling, LAZ_SPELLED_TOOL, tool->name);
    struct laz_strv names = LAZ_STRV_INIT;

    laz_tool_spell_parameters(tool, &spelling, &names);
    text->failed |= !name || names.failed;
    if (name)
        laz_buf_printf(text, "%s(", name);
    for (size_t i = 0; i < tool->n_parameters && !text->failed; i++) {
        laz_buf_puts(text, i ? ", " : "");
        neutral_argument(&tool->parameters[i], names.items[i], text);
    }
    laz_buf_putc(text, ')');
    if (*tool->returns)
        laz_buf_printf(text, " -> %s", tool->returns);
    laz_strv_fini(&names);
    free(name);
}

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
        .format = parameter->format,
        .description = parameter->description,
    };
}

/* The description with the declared name, where the spelling (NULL: it is the name) does not tell
 * it; kept in `texts`. */
static const char *json_description(const struct laz_spelling *spelling, enum laz_spelled what,
                                    const char *name, const char *spelled, const char *description,
                                    struct laz_strv *texts)
{
    struct laz_buf text = LAZ_BUF_INIT;

    if (!spelled)
        return description;
    laz_buf_puts(&text, description);
    tell_name(spelling, what, name, spelled, &text);
    laz_strv_add(texts, laz_buf_text(&text));
    texts->failed |= text.failed;
    laz_buf_fini(&text);
    return texts->failed ? description : texts->items[texts->n - 1];
}

static const char *json_spelled(const char *name, const char *spelled)
{
    return spelled && strcmp(spelled, name) != 0 ? spelled : NULL;
}

static void json_add_tool(const struct laz_tool_entry *entry, const struct laz_spelling *spelling,
                          struct laz_json_write *write)
{
    struct laz_wire_parameter parameters[LAZ_TOOL_MAX_PARAMETERS];
    struct laz_strv names = LAZ_STRV_INIT, texts = LAZ_STRV_INIT;
    const char *spelled = json_spelled(entry->name, laz_tool_spelled(entry, spelling));
    const char *command =
        json_spelled(spelled ? spelled : entry->name, laz_tool_command(entry, spelling));

    if (spelling)
        laz_tool_spell_parameters(entry, spelling, &names);
    for (size_t k = 0; k < entry->n_parameters; k++) {
        const char *name = entry->parameters[k].name;
        parameters[k] = json_parameter(&entry->parameters[k]);
        parameters[k].spelling =
            names.failed || !spelling ? NULL : json_spelled(name, names.items[k]);
        parameters[k].description =
            json_description(spelling, LAZ_SPELLED_PARAMETER, name, parameters[k].spelling,
                             parameters[k].description, &texts);
    }
    const struct laz_wire_tool tool = {
        .name = entry->name,
        .spelling = spelled,
        .command = command,
        .description = json_description(spelling, LAZ_SPELLED_TOOL, entry->name, spelled,
                                        entry->description, &texts),
        .parameters = {parameters, entry->n_parameters},
        .returns = *entry->returns ? entry->returns : NULL,
        .approve = entry->approval == LAZ_APPROVAL_ALWAYS,
        .may_approve = entry->approval == LAZ_APPROVAL_SOME,
        .native = entry->native,
    };
    laz_fields_add(write, NULL, &laz_wire_tool, &tool);
    write->to->failed |= names.failed || texts.failed;
    laz_strv_fini(&names);
    laz_strv_fini(&texts);
}

void laz_tool_set_json(const struct laz_tool_set *set, const struct laz_tool_set *own,
                       const struct laz_spelling *spelling, struct laz_buf *json)
{
    struct laz_json_write write = {.to = json};

    laz_json_begin_list(&write, NULL);
    for (size_t i = 0; i < set->n; i++)
        json_add_tool(&set->entries[i], spelling, &write);
    for (size_t i = 0; own && i < own->n; i++)
        json_add_tool(&own->entries[i], spelling, &write);
    laz_json_end_list(&write);
}

int laz_tool_set_format(const struct laz_tool_set *set, const char *format,
                        const struct laz_language *language, const struct laz_spelling *spelling,
                        struct laz_buf *text, struct laz_error *err)
{
    bool is_plain = strcmp(format, "text") == 0;

    if (strcmp(format, "json") == 0) {
        laz_tool_set_json(set, NULL, NULL, text);
        laz_buf_putc(text, '\n');
        return text->failed ? laz_error_nomem(err) : 0;
    }
    if (!is_plain && (!language || !language->stub.null_word))
        return laz_error_set(err, LAZ_EINVAL, 0, "unknown format '%.100s'", format);
    const struct laz_language_stub *stub = is_plain ? &stub_plain : &language->stub;
    const struct laz_spelling own = {
        .language = format,
        .rules = language && language->names.other ? &language->names : NULL,
    };
    if (is_plain)
        spelling = NULL;
    else if (!spelling)
        spelling = &own; /* its runtime is not installed */
    struct laz_strv names = LAZ_STRV_INIT;
    laz_tool_set_spell(set, spelling, &names);
    text->failed |= names.failed;
    for (size_t i = 0; i < set->n && !text->failed; i++) {
        laz_buf_puts(text, i ? "\n" : "");
        stub_tool(stub, spelling, names.items[i], &set->entries[i], text);
    }
    laz_strv_fini(&names);
    if (set->n && stub->together)
        laz_buf_printf(text, "\n%s", stub->together);
    return text->failed ? laz_error_nomem(err) : 0;
}
