/* SPDX-License-Identifier: MIT */
/* js_scan_statements.c - statements and declarations of JavaScript.
 *
 * Outside of functions, `values` of the reader has the expressions that give the value of the
 * statement that was read last: those at the ends of the branches of `if`, of blocks, of `try` and
 * `catch`. In the box; the code is not trusted. */
#include "js_scan_parts.h"

#include <string.h>

/* ---- bindings ------------------------------------------------------------------------------- */

static void read_binding(struct js_reader *reader, unsigned kind);

static void read_default(struct js_reader *reader)
{
    if (reader->token.sign == '=') {
        js_next(reader);
        js_assignment(reader, true);
    }
}

/* A member of {...}: a name, or a key and what it is bound to. */
static void read_bound_member(struct js_reader *reader, unsigned kind)
{
    struct js_token name = reader->token;

    if (name.sign == '[') {
        js_next(reader);
        js_assignment(reader, true);
        js_take(reader, ']');
    } else if (name.kind == JS_NAME || name.kind == JS_STRING || name.kind == JS_NUMBER) {
        js_next(reader);
    } else {
        js_fail(reader);
    }
    if (reader->token.sign == ':') {
        js_next(reader);
        read_binding(reader, kind);
    } else if (js_is_identifier(&name)) {
        js_declare(reader, &name, kind);
    } else {
        js_fail(reader);
    }
}

static void read_bound_list(struct js_reader *reader, uint32_t close, unsigned kind)
{
    js_next(reader);
    while (reader->token.sign != close && reader->token.kind != JS_END) {
        if (close == ']' && reader->token.sign == ',') {
            js_next(reader);
            continue;
        }
        bool rest = reader->token.sign == JS_3('.', '.', '.');
        if (rest)
            js_next(reader);
        if (rest || close == ']')
            read_binding(reader, kind);
        else
            read_bound_member(reader, kind);
        read_default(reader);
        if (reader->token.sign == ',')
            js_next(reader);
        else if (reader->token.sign != close)
            js_fail(reader);
    }
    js_take(reader, close);
}

/* A name or a pattern; its names are declared. */
static void read_binding(struct js_reader *reader, unsigned kind)
{
    if (!js_enter(reader))
        return;
    if (reader->token.sign == '[') {
        read_bound_list(reader, ']', kind);
    } else if (reader->token.sign == '{') {
        read_bound_list(reader, '}', kind);
    } else if (js_is_identifier(&reader->token)) {
        js_declare(reader, &reader->token, kind);
        js_next(reader);
    } else {
        js_fail(reader);
    }
    js_leave(reader);
}

/* From var, let or const on. */
static void read_declarations(struct js_reader *reader, bool top, bool in)
{
    unsigned kind = reader->token.word == JS_WORD_VAR ? JS_VAR : top ? JS_LEXICAL : 0;

    if (reader->body.depth > 0)
        kind = 0;
    do {
        js_next(reader);
        read_binding(reader, kind);
        if (reader->token.sign == '=') {
            js_next(reader);
            js_assignment(reader, in);
        }
    } while (reader->token.sign == ',');
}

/* Does "let" here begin a declaration? */
static bool is_let(struct js_reader *reader)
{
    struct js_token ahead = js_peek(reader);

    return ahead.sign == '[' || ahead.sign == '{' || js_is_identifier(&ahead);
}

static bool is_declaration(struct js_reader *reader)
{
    return reader->token.word == JS_WORD_VAR || reader->token.word == JS_WORD_CONST ||
           (reader->token.word == JS_WORD_LET && is_let(reader));
}

/* ---- statements ----------------------------------------------------------------------------- */

bool js_at_function(struct js_reader *reader)
{
    if (reader->token.word != JS_WORD_ASYNC)
        return reader->token.word == JS_WORD_FUNCTION;
    struct js_token ahead = js_peek(reader);
    return ahead.word == JS_WORD_FUNCTION && !ahead.newline;
}

/* Has the statement no value, so that the one before it may be the last one that has? */
static bool is_silent(struct js_reader *reader)
{
    return reader->token.sign == ';' || js_at_function(reader);
}

static void read_statements(struct js_reader *reader)
{
    size_t values = reader->n_values;

    while (reader->token.sign != '}' && reader->token.kind != JS_END) {
        if (!is_silent(reader))
            reader->n_values = values;
        js_statement(reader, false);
    }
}

void js_block(struct js_reader *reader)
{
    js_take(reader, '{');
    read_statements(reader);
    js_take(reader, '}');
}

/* "(", an expression, ")". */
static void read_condition(struct js_reader *reader)
{
    js_take(reader, '(');
    js_expression(reader, true);
    js_take(reader, ')');
}

static void read_if(struct js_reader *reader)
{
    while (reader->token.word == JS_WORD_IF) {
        js_next(reader);
        read_condition(reader);
        js_statement(reader, false);
        if (reader->token.word != JS_WORD_ELSE)
            return;
        js_next(reader);
    }
    js_statement(reader, false);
}

static void read_for(struct js_reader *reader)
{
    js_next(reader);
    if (reader->token.word == JS_WORD_AWAIT) {
        bool outside = reader->body.depth == 0;
        reader->has_await |= outside;
        reader->awaits += outside;
        js_next(reader);
    }
    js_take(reader, '(');
    if (is_declaration(reader))
        read_declarations(reader, false, false);
    else if (reader->token.sign != ';')
        js_expression(reader, false);
    if (reader->token.word == JS_WORD_OF || reader->token.word == JS_WORD_IN) {
        js_next(reader);
        js_expression(reader, true);
    } else {
        js_take(reader, ';');
        if (reader->token.sign != ';')
            js_expression(reader, true);
        js_take(reader, ';');
        if (reader->token.sign != ')')
            js_expression(reader, true);
    }
    js_take(reader, ')');
    js_statement(reader, false);
}

static void read_do(struct js_reader *reader)
{
    js_next(reader);
    js_statement(reader, false);
    if (reader->token.word != JS_WORD_WHILE)
        js_fail(reader);
    js_next(reader);
    read_condition(reader);
    if (reader->token.sign == ';')
        js_next(reader);
}

static void read_switch(struct js_reader *reader)
{
    js_next(reader);
    read_condition(reader);
    js_take(reader, '{');
    while (reader->token.sign != '}' && reader->token.kind != JS_END) {
        if (reader->token.word == JS_WORD_CASE) {
            js_next(reader);
            js_expression(reader, true);
            js_take(reader, ':');
        } else if (reader->token.word == JS_WORD_DEFAULT) {
            js_next(reader);
            js_take(reader, ':');
        } else {
            js_statement(reader, false);
        }
    }
    js_take(reader, '}');
}

static void read_try(struct js_reader *reader)
{
    js_next(reader);
    js_block(reader);
    if (reader->token.word == JS_WORD_CATCH) {
        js_next(reader);
        if (reader->token.sign == '(') {
            js_next(reader);
            read_binding(reader, 0);
            js_take(reader, ')');
        }
        js_block(reader);
    }
    size_t values = reader->n_values;
    if (reader->token.word == JS_WORD_FINALLY) {
        js_next(reader);
        js_block(reader);
    }
    reader->n_values = values;
}

static void read_return(struct js_reader *reader)
{
    const struct js_token *token = &reader->token;

    reader->has_return |= reader->body.depth == 0;
    js_next(reader);
    if (!token->newline && token->sign != ';' && token->sign != '}' && token->kind != JS_END)
        js_expression(reader, true);
    js_semicolon(reader);
}

/* An expression or a label with its statement. */
static void read_expression(struct js_reader *reader, bool top)
{
    struct js_token first = reader->token;

    js_expression(reader, true);
    if (reader->token.sign == ':' && js_is_identifier(&first) && reader->end == first.end) {
        js_next(reader);
        js_statement(reader, top);
        return;
    }
    reader->expression_end = reader->end;
    if (reader->body.depth == 0)
        js_value(reader, first.start);
    js_semicolon(reader);
}

static void read_function_statement(struct js_reader *reader, bool top)
{
    bool is_async = reader->token.word == JS_WORD_ASYNC;
    unsigned kind = top ? JS_FUNCTION : reader->strict ? 0 : JS_INNER;

    if (is_async)
        js_next(reader);
    js_function(reader, is_async, reader->body.depth > 0 ? 0 : kind);
}

/* A statement that is none of those that give a value. */
static void read_other(struct js_reader *reader, bool top)
{
    switch (reader->token.word) {
    case JS_WORD_CLASS:
        js_class(reader, top ? JS_LEXICAL : 0);
        break;
    case JS_WORD_FOR:
        read_for(reader);
        break;
    case JS_WORD_WHILE:
    case JS_WORD_WITH:
        js_next(reader);
        read_condition(reader);
        js_statement(reader, false);
        break;
    case JS_WORD_DO:
        read_do(reader);
        break;
    case JS_WORD_SWITCH:
        read_switch(reader);
        break;
    case JS_WORD_BREAK:
    case JS_WORD_CONTINUE:
        js_next(reader);
        if (js_is_identifier(&reader->token) && !reader->token.newline)
            js_next(reader);
        js_semicolon(reader);
        break;
    case JS_WORD_DEBUGGER:
        js_next(reader);
        js_semicolon(reader);
        break;
    case JS_WORD_THROW:
        js_next(reader);
        js_expression(reader, true);
        js_semicolon(reader);
        break;
    default:
        js_fail(reader);
    }
}

/* A statement that begins with a keyword, but is no expression. */
static void read_keyword(struct js_reader *reader, bool top)
{
    size_t values = reader->n_values;

    switch (reader->token.word) {
    case JS_WORD_IF:
        read_if(reader);
        return;
    case JS_WORD_TRY:
        read_try(reader);
        return;
    case JS_WORD_RETURN:
        read_return(reader);
        return;
    default:
        read_other(reader, top);
        reader->n_values = values;
    }
}

/* Does the keyword begin an expression? */
static bool is_operand(struct js_reader *reader)
{
    switch (reader->token.word) {
    case JS_WORD_VALUE:
    case JS_WORD_NEW:
    case JS_WORD_TYPEOF:
    case JS_WORD_VOID:
    case JS_WORD_DELETE:
    case JS_WORD_IMPORT: /* as a declaration it is only at top level, where it was read */
        return true;
    default:
        return reader->token.word < JS_WORD_VALUE;
    }
}

void js_statement(struct js_reader *reader, bool top)
{
    if (!js_enter(reader))
        return;
    if (reader->token.sign == '{') {
        js_block(reader);
    } else if (reader->token.sign == ';') {
        js_next(reader);
    } else if (is_declaration(reader)) {
        read_declarations(reader, top, true);
        js_semicolon(reader);
    } else if (js_at_function(reader)) {
        read_function_statement(reader, top);
    } else if (is_operand(reader)) {
        read_expression(reader, top);
    } else {
        read_keyword(reader, top);
    }
    js_leave(reader);
}

/* ---- the program ---------------------------------------------------------------------------- */

/* Is the string the directive "use strict"? */
static bool is_strict(const struct js_reader *reader, const struct js_token *first)
{
    return first->end - first->start == 12 &&
           memcmp(reader->code + first->start + 1, "use strict", 10) == 0;
}

static void read_top(struct js_reader *reader)
{
    enum js_word word = reader->token.word;
    uint32_t ahead = word == JS_WORD_IMPORT ? js_peek(reader).sign : 0;

    if (word == JS_WORD_IMPORT && ahead != '(' && ahead != '.')
        js_import(reader);
    else if (word == JS_WORD_EXPORT)
        js_export(reader);
    else
        js_statement(reader, true);
}

void js_program(struct js_reader *reader)
{
    struct js_edit last = {.rank = JS_RANK_AT, .when = JS_WHEN_ASYNC};
    bool prologue = true, has_at = true;

    for (js_first(reader); reader->token.kind != JS_END;) {
        struct js_token first = reader->token;
        size_t awaits = reader->awaits;
        bool silent = is_silent(reader);
        if (!silent)
            reader->n_values = 0;
        read_top(reader);
        prologue = prologue && first.kind == JS_STRING && reader->expression_end == first.end;
        reader->strict |= prologue && is_strict(reader, &first);
        if (silent)
            continue;
        last.at = first.start;
        last.line = first.line;
        has_at = reader->awaits != awaits;
        if (has_at)
            js_edit(reader, &last);
    }
    if (!has_at && reader->n_values == 1 && reader->values[0].start == last.at)
        js_edit(reader, &last);
}
