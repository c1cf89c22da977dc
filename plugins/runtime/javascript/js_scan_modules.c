/* SPDX-License-Identifier: MIT */
/* js_scan_modules.c - import and export declarations of JavaScript.
 *
 * What they do is written as statements that come before the code, and they are blanked in it. In
 * the box; the code is not trusted. */
#include "js_scan_parts.h"

#include <stdlib.h>
#include <string.h>

/* A name as a string; a string as it is. */
static void put_quoted(struct js_reader *reader, const struct js_token *token, struct js_text *text)
{
    const char *quote = token->kind == JS_NAME ? "\"" : "";

    js_text_puts(text, quote);
    js_spell(reader, token, text);
    js_text_puts(text, quote);
}

/* Passes a name or a string, without an end of a line in it. */
static struct js_token take_name(struct js_reader *reader, bool string)
{
    struct js_token token = reader->token;

    if (token.kind != JS_NAME && !(string && token.kind == JS_STRING))
        js_fail(reader);
    for (size_t i = token.start; i < token.end; i++)
        if (js_line_end(reader->code, reader->len, i))
            js_fail(reader);
    js_next(reader);
    return token;
}

static struct js_token take_identifier(struct js_reader *reader)
{
    if (!js_is_identifier(&reader->token))
        js_fail(reader);
    return take_name(reader, false);
}

/* with {type: "json"} */
static void read_attributes(struct js_reader *reader, struct js_text *text)
{
    struct js_token token;

    js_next(reader);
    js_take(reader, '{');
    js_text_puts(text, ",{with:{");
    while (reader->token.sign != '}' && reader->token.kind != JS_END) {
        token = take_name(reader, true);
        js_spell(reader, &token, text);
        js_take(reader, ':');
        js_text_puts(text, ":");
        if (reader->token.kind != JS_STRING)
            js_fail(reader);
        token = take_name(reader, true);
        js_spell(reader, &token, text);
        if (reader->token.sign != '}')
            js_take(reader, ',');
        js_text_puts(text, ",");
    }
    js_take(reader, '}');
    js_text_puts(text, "}}");
}

/* The name of the module and its attributes: await __import(...) */
static void read_module(struct js_reader *reader, struct js_text *text)
{
    struct js_token token = reader->token;

    if (token.kind != JS_STRING)
        js_fail(reader);
    js_text_puts(text, "await __import(");
    token = take_name(reader, true);
    js_spell(reader, &token, text);
    if (reader->token.word == JS_WORD_WITH ||
        (js_token_is(reader, "assert") && !reader->token.newline))
        read_attributes(reader, text);
    js_text_puts(text, ")");
}

static void take_from(struct js_reader *reader)
{
    if (!js_token_is(reader, "from"))
        js_fail(reader);
    js_next(reader);
}

/* A declaration from `start` to the end of the last token becomes an empty statement. */
static void blank_all(struct js_reader *reader, size_t start)
{
    js_edit(reader, &(struct js_edit){.at = start,
                                      .len = reader->end - start,
                                      .text = ";",
                                      .when = JS_WHEN_MODULE,
                                      .rank = JS_RANK_TEXT,
                                      .blank = true});
}

/* ---- imports -------------------------------------------------------------------------------- */

/* {x, y as z}: x,y:z */
static void read_import_list(struct js_reader *reader, struct js_text *fields)
{
    struct js_token name, local;

    js_next(reader);
    while (reader->token.sign != '}' && reader->token.kind != JS_END) {
        name = local = take_name(reader, true);
        js_spell(reader, &name, fields);
        if (js_token_is(reader, "as")) {
            js_next(reader);
            local = take_identifier(reader);
            js_text_puts(fields, ":");
            js_spell(reader, &local, fields);
        } else if (!js_is_identifier(&name)) {
            js_fail(reader);
        }
        js_declare(reader, &local, JS_IMPORTED);
        if (reader->token.sign != '}')
            js_take(reader, ',');
        js_text_puts(fields, ",");
    }
    js_take(reader, '}');
}

/* What stands before "from": the members that are imported, and the name of the whole, if there is
 * one. */
static struct js_token read_clause(struct js_reader *reader, struct js_text *fields)
{
    struct js_token whole = {.kind = JS_END}, name;

    if (reader->token.sign != '{' && reader->token.sign != '*') {
        name = take_identifier(reader);
        js_declare(reader, &name, JS_IMPORTED);
        js_text_puts(fields, "default:");
        js_spell(reader, &name, fields);
        js_text_puts(fields, ",");
        if (reader->token.sign != ',')
            return whole;
        js_next(reader);
    }
    if (reader->token.sign == '*') {
        js_next(reader);
        if (!js_token_is(reader, "as"))
            js_fail(reader);
        js_next(reader);
        whole = take_identifier(reader);
        js_declare(reader, &whole, JS_IMPORTED);
    } else if (reader->token.sign == '{') {
        read_import_list(reader, fields);
    } else {
        js_fail(reader);
    }
    return whole;
}

void js_import(struct js_reader *reader)
{
    size_t start = reader->token.start;
    struct js_text fields = {0};
    struct js_token whole = {.kind = JS_END}, module;
    bool has_names = false;

    reader->has_import = reader->strict = true;
    js_next(reader);
    if (reader->token.kind != JS_STRING) {
        whole = read_clause(reader, &fields);
        take_from(reader);
        bool is_whole = whole.kind == JS_NAME;
        js_text_puts(&reader->imports, "const ");
        if (is_whole)
            js_spell(reader, &whole, &reader->imports);
        else
            js_text_puts(&reader->imports, "{");
        js_text_add(&reader->imports, fields.data, is_whole ? 0 : fields.len);
        js_text_puts(&reader->imports, is_whole ? "=" : "}=__named(");
        has_names = !is_whole;
    }
    module = reader->token;
    read_module(reader, &reader->imports);
    if (whole.kind == JS_NAME && fields.len) {
        js_text_puts(&reader->imports, ",{");
        js_text_add(&reader->imports, fields.data, fields.len);
        js_text_puts(&reader->imports, "}=__named(");
        js_spell(reader, &whole, &reader->imports);
        has_names = true;
    }
    if (has_names) {
        js_text_puts(&reader->imports, ",");
        js_spell(reader, &module, &reader->imports);
        js_text_puts(&reader->imports, ")");
    }
    js_text_puts(&reader->imports, ";");
    js_semicolon(reader);
    blank_all(reader, start);
    reader->imports.failed |= fields.failed;
    free(fields.data);
}

/* ---- exports -------------------------------------------------------------------------------- */

/* An accessor: get NAME(){return LOCAL}, */
static void put_export(struct js_reader *reader, const struct js_token *name, const char *local,
                       size_t len, struct js_text *text)
{
    js_text_puts(text, "get ");
    js_spell(reader, name, text);
    js_text_puts(text, "(){return ");
    js_text_add(text, local, len);
    js_text_puts(text, "},");
}

/* from "m": the pairs of names, or null, are what of it is exported. It is imported in any case. */
static void read_source(struct js_reader *reader, const char *pairs, size_t len)
{
    struct js_text module = {0};

    take_from(reader);
    read_module(reader, &module);
    js_text_puts(&reader->imports, "__exportFrom(");
    js_text_add(&reader->imports, module.data, module.len);
    js_text_puts(&reader->imports, ",");
    js_text_add(&reader->imports, pairs, len);
    js_text_puts(&reader->imports, ");");
    reader->imports.failed |= module.failed;
    free(module.data);
}

/* export * from "m", export * as name from "m" */
static void read_export_all(struct js_reader *reader)
{
    struct js_text pairs = {0};
    struct js_token name;

    js_next(reader);
    if (js_token_is(reader, "as")) {
        js_next(reader);
        name = take_name(reader, true);
        js_text_puts(&pairs, "[[\"*\",");
        put_quoted(reader, &name, &pairs);
        js_text_puts(&pairs, "]]");
    } else {
        js_text_puts(&pairs, "null");
    }
    read_source(reader, pairs.data, pairs.len);
    reader->imports.failed |= pairs.failed;
    free(pairs.data);
}

/* {a, b as c}: accessors for names of this module, pairs for one that is named behind it */
static void read_export_list(struct js_reader *reader, struct js_text *accessors,
                             struct js_text *pairs, bool *needs_source)
{
    struct js_token local, name;
    struct js_text spelled = {0};

    js_next(reader);
    while (reader->token.sign != '}' && reader->token.kind != JS_END) {
        local = name = take_name(reader, true);
        if (js_token_is(reader, "as")) {
            js_next(reader);
            name = take_name(reader, true);
        }
        *needs_source |= !js_is_identifier(&local);
        spelled.len = 0;
        js_spell(reader, &local, &spelled);
        put_export(reader, &name, spelled.data, spelled.len, accessors);
        js_text_puts(pairs, "[");
        put_quoted(reader, &local, pairs);
        js_text_puts(pairs, ",");
        put_quoted(reader, &name, pairs);
        js_text_puts(pairs, "],");
        if (reader->token.sign != '}')
            js_take(reader, ',');
    }
    js_take(reader, '}');
    accessors->failed |= spelled.failed;
    free(spelled.data);
}

static void read_exported_names(struct js_reader *reader)
{
    struct js_text accessors = {0}, pairs = {0};
    bool needs_source = false;

    js_text_puts(&pairs, "[");
    read_export_list(reader, &accessors, &pairs, &needs_source);
    js_text_puts(&pairs, "]");
    if (js_token_is(reader, "from"))
        read_source(reader, pairs.data, pairs.len);
    else if (needs_source)
        js_fail(reader);
    else
        js_text_add(&reader->exports, accessors.data, accessors.len);
    reader->exports.failed |= accessors.failed || pairs.failed;
    free(accessors.data);
    free(pairs.data);
}

static void blank_words(struct js_reader *reader, size_t start, size_t end, const char *text)
{
    js_edit(reader, &(struct js_edit){.at = start,
                                      .len = end - start,
                                      .text = text,
                                      .when = JS_WHEN_MODULE,
                                      .rank = JS_RANK_TEXT,
                                      .blank = !*text});
}

/* The default is an expression, or has no name: its name is "default", as a member that is made
 * and read. */
static void wrap_default(struct js_reader *reader, size_t start, size_t end)
{
    blank_words(reader, start, end, "const __default={default:(");
    js_edit(reader, &(struct js_edit){.at = reader->end,
                                      .text = ")}.default;",
                                      .when = JS_WHEN_MODULE,
                                      .rank = JS_RANK_AT});
    js_text_puts(&reader->exports, "get default(){return __default},");
}

static void read_default(struct js_reader *reader, size_t start)
{
    size_t end = reader->token.end, n_names = reader->n_names;
    bool is_class = false, is_function;

    js_next(reader);
    is_function = js_at_function(reader);
    is_class = reader->token.word == JS_WORD_CLASS;
    if (is_function) {
        bool is_async = reader->token.word == JS_WORD_ASYNC;
        if (is_async)
            js_next(reader);
        js_function(reader, is_async, JS_FUNCTION);
    } else if (is_class) {
        js_class(reader, JS_LEXICAL);
    } else {
        js_assignment(reader, true);
    }
    if ((is_function || is_class) && reader->n_names > n_names) {
        struct js_name *name = &reader->names[n_names];
        blank_words(reader, start, end, "");
        js_text_puts(&reader->exports, "get default(){return ");
        js_text_add(&reader->exports, reader->spellings.data + name->at, name->len);
        js_text_puts(&reader->exports, "},");
        return;
    }
    wrap_default(reader, start, end);
    if (!is_function && !is_class)
        js_semicolon(reader);
}

void js_export(struct js_reader *reader)
{
    size_t start = reader->token.start, end = reader->token.end;

    reader->has_export = reader->strict = true;
    js_next(reader);
    if (reader->token.word == JS_WORD_DEFAULT) {
        read_default(reader, start);
        return;
    }
    if (reader->token.sign == '*') {
        read_export_all(reader);
    } else if (reader->token.sign == '{') {
        read_exported_names(reader);
    } else {
        blank_words(reader, start, end, "");
        reader->exporting = true;
        js_statement(reader, true);
        reader->exporting = false;
        return;
    }
    js_semicolon(reader);
    blank_all(reader, start);
}
