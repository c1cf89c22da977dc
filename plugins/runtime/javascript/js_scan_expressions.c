/* SPDX-License-Identifier: MIT */
/* js_scan_expressions.c - expressions, functions and classes of JavaScript.
 *
 * It accepts more than the language: operators have no precedence, and what is in parentheses may
 * be parameters. It only has to know where an operand is expected, and where an expression ends. In
 * the box; the code is not trusted. */
#include "js_scan_parts.h"

/* From the opening sign to the closing one: the items of an array, arguments, parameters. */
static void read_items(struct js_reader *reader, uint32_t close)
{
    js_next(reader);
    while (reader->token.sign != close && reader->token.kind != JS_END) {
        if (reader->token.sign == ',') {
            js_next(reader);
            continue;
        }
        if (reader->token.sign == JS_3('.', '.', '.'))
            js_next(reader);
        js_assignment(reader, true);
        if (reader->token.sign != ',' && reader->token.sign != close)
            js_fail(reader);
    }
    js_take(reader, close);
}

/* ---- functions ------------------------------------------------------------------------------ */

static struct js_body enter_body(struct js_reader *reader, bool is_async, bool is_generator)
{
    struct js_body outer = reader->body;

    reader->body = (struct js_body){outer.depth + 1, is_async, is_generator};
    return outer;
}

/* Parameters and the body. */
static void read_callable(struct js_reader *reader, bool is_async, bool is_generator)
{
    struct js_body outer = enter_body(reader, is_async, is_generator);

    if (reader->token.sign == '(')
        read_items(reader, ')');
    else
        js_fail(reader);
    js_block(reader);
    reader->body = outer;
}

void js_function(struct js_reader *reader, bool is_async, unsigned kind)
{
    bool is_generator;

    js_next(reader);
    is_generator = reader->token.sign == '*';
    if (is_generator)
        js_next(reader);
    if (kind == JS_INNER && (is_async || is_generator))
        kind = 0;
    if (js_is_identifier(&reader->token)) {
        js_declare(reader, &reader->token, kind);
        js_next(reader);
    }
    read_callable(reader, is_async, is_generator);
}

/* From "=>" on. */
static void read_arrow(struct js_reader *reader, bool in, bool is_async)
{
    struct js_body outer = enter_body(reader, is_async, false);

    js_next(reader);
    if (reader->token.sign == '{')
        js_block(reader);
    else
        js_assignment(reader, in);
    reader->body = outer;
}

static bool at_arrow(const struct js_reader *reader)
{
    return reader->token.sign == JS_2('=', '>') && !reader->token.newline;
}

/* ---- members of objects and classes --------------------------------------------------------- */

struct member {
    bool is_async, is_generator;
    bool has_key; /* a modifier was none, but the key */
};

static bool at_key(const struct js_reader *reader)
{
    const struct js_token *token = &reader->token;

    return token->kind == JS_NAME || token->kind == JS_STRING || token->kind == JS_NUMBER ||
           token->kind == JS_PRIVATE || token->sign == '[';
}

static void read_modifiers(struct js_reader *reader, struct member *member)
{
    enum js_word word = reader->token.word;

    if (word == JS_WORD_ASYNC) {
        js_next(reader);
        member->is_async = !reader->token.newline && (at_key(reader) || reader->token.sign == '*');
        member->has_key = !member->is_async;
    } else if (word == JS_WORD_GET || word == JS_WORD_SET) {
        js_next(reader);
        member->has_key = !at_key(reader);
    }
    if (!member->has_key && reader->token.sign == '*') {
        js_next(reader);
        member->is_generator = true;
    }
}

static void read_key(struct js_reader *reader)
{
    if (reader->token.sign == '[') {
        js_next(reader);
        js_assignment(reader, true);
        js_take(reader, ']');
    } else if (at_key(reader)) {
        js_next(reader);
    } else {
        js_fail(reader);
    }
}

static void read_property(struct js_reader *reader)
{
    struct member member = {0};

    if (reader->token.sign == JS_3('.', '.', '.')) {
        js_next(reader);
        js_assignment(reader, true);
        return;
    }
    read_modifiers(reader, &member);
    if (!member.has_key)
        read_key(reader);
    if (reader->token.sign == '(') {
        read_callable(reader, member.is_async, member.is_generator);
    } else if (reader->token.sign == ':' || reader->token.sign == '=') {
        js_next(reader);
        js_assignment(reader, true);
    }
}

static void read_object(struct js_reader *reader)
{
    js_next(reader);
    while (reader->token.sign != '}' && reader->token.kind != JS_END) {
        read_property(reader);
        if (reader->token.sign == ',')
            js_next(reader);
        else if (reader->token.sign != '}')
            js_fail(reader);
    }
    js_take(reader, '}');
}

static void read_static_block(struct js_reader *reader)
{
    struct js_body outer = enter_body(reader, false, false);

    js_block(reader);
    reader->body = outer;
}

static void read_field(struct js_reader *reader)
{
    if (reader->token.sign == '=') {
        struct js_body outer = enter_body(reader, false, false);
        js_next(reader);
        js_assignment(reader, true);
        reader->body = outer;
    }
    js_semicolon(reader);
}

static void read_member(struct js_reader *reader)
{
    struct member member = {0};

    if (reader->token.word == JS_WORD_STATIC) {
        js_next(reader);
        if (reader->token.sign == '{') {
            read_static_block(reader);
            return;
        }
        member.has_key = !at_key(reader) && reader->token.sign != '*';
    }
    if (!member.has_key)
        read_modifiers(reader, &member);
    if (!member.has_key)
        read_key(reader);
    if (reader->token.sign == '(')
        read_callable(reader, member.is_async, member.is_generator);
    else
        read_field(reader);
}

static bool read_operand(struct js_reader *reader, bool in);

void js_class(struct js_reader *reader, unsigned kind)
{
    js_next(reader);
    if (!js_enter(reader))
        return;
    if (js_is_identifier(&reader->token)) {
        js_declare(reader, &reader->token, kind);
        js_next(reader);
    }
    if (reader->token.word == JS_WORD_EXTENDS) {
        js_next(reader);
        read_operand(reader, true);
    }
    js_take(reader, '{');
    while (reader->token.sign != '}' && reader->token.kind != JS_END) {
        if (reader->token.sign == ';')
            js_next(reader);
        else
            read_member(reader);
    }
    js_take(reader, '}');
    js_leave(reader);
}

/* ---- operands ------------------------------------------------------------------------------- */

static void read_template(struct js_reader *reader)
{
    int piece;

    while ((piece = js_template_piece(reader)) == 2) {
        js_next(reader);
        js_expression(reader, true);
        if (reader->token.sign != '}')
            js_fail(reader);
    }
    if (piece == 1)
        js_next(reader);
}

/* (NAME) or (NAME, OPTIONS): other arguments are none that an import has, though a call would. */
static void read_import_arguments(struct js_reader *reader)
{
    js_next(reader);
    js_assignment(reader, true);
    if (reader->token.sign == ',') {
        js_next(reader);
        if (reader->token.sign != ')')
            js_assignment(reader, true);
        if (reader->token.sign == ',')
            js_next(reader);
    }
    js_take(reader, ')');
}

/* import(...) and import.meta */
static void read_import(struct js_reader *reader)
{
    struct js_edit edit = {.at = reader->token.start, .rank = JS_RANK_TEXT, .text = "__import"};
    size_t line = reader->token.line;

    js_next(reader);
    edit.len = reader->end - edit.at;
    if (reader->token.sign == '.') {
        js_next(reader);
        if (!js_token_is(reader, "meta") || reader->token.line != line)
            js_fail(reader);
        js_next(reader);
        edit.text = "__meta";
        edit.len = reader->end - edit.at;
    } else if (reader->token.sign == '(') {
        read_import_arguments(reader);
    } else {
        js_fail(reader);
    }
    js_edit(reader, &edit);
}

/* From here on, a reader of an operand returns whether it was an arrow function, behind which no
 * operator can be. */
static bool read_async(struct js_reader *reader, bool in)
{
    js_next(reader);
    if (at_arrow(reader)) {
        read_arrow(reader, in, false);
        return true;
    }
    if (reader->token.newline)
        return false;
    if (reader->token.word == JS_WORD_FUNCTION) {
        js_function(reader, true, 0);
        return false;
    }
    if (reader->token.sign == '(')
        read_items(reader, ')');
    else if (js_is_identifier(&reader->token) && js_peek(reader).sign == JS_2('=', '>'))
        js_next(reader);
    else
        return false;
    if (!at_arrow(reader))
        return false;
    read_arrow(reader, in, true);
    return true;
}

static bool read_word(struct js_reader *reader, bool in)
{
    switch (reader->token.word) {
    case JS_WORD_FUNCTION:
        js_function(reader, false, 0);
        return false;
    case JS_WORD_CLASS:
        js_class(reader, 0);
        return false;
    case JS_WORD_IMPORT:
        read_import(reader);
        return false;
    case JS_WORD_NEW: /* new.target */
        js_next(reader);
        js_take(reader, '.');
        js_next(reader);
        return false;
    case JS_WORD_ASYNC:
        return read_async(reader, in);
    case JS_WORD_VALUE:
        js_next(reader);
        return false;
    default:
        if (!js_is_identifier(&reader->token))
            js_fail(reader);
        js_next(reader);
    }
    if (!at_arrow(reader))
        return false;
    read_arrow(reader, in, false);
    return true;
}

static bool read_sign(struct js_reader *reader, bool in)
{
    switch (reader->token.sign) {
    case '(':
        read_items(reader, ')');
        if (!at_arrow(reader))
            return false;
        read_arrow(reader, in, false);
        return true;
    case '[':
        read_items(reader, ']');
        return false;
    case '{':
        read_object(reader);
        return false;
    case '`':
        read_template(reader);
        return false;
    case '/':
    case JS_2('/', '='):
        js_regex(reader);
        return false;
    default:
        js_fail(reader);
        return false;
    }
}

/* Does "await" here wait for an operand? Elsewhere it is a variable. */
static bool is_await(struct js_reader *reader)
{
    if (reader->body.is_async)
        return true;
    struct js_token ahead = js_peek(reader);
    bool value = ahead.kind == JS_NUMBER || ahead.kind == JS_STRING ||
                 (ahead.kind == JS_NAME && ahead.word != JS_WORD_IN && ahead.word != JS_WORD_OF &&
                  ahead.word != JS_WORD_INSTANCEOF);
    if (reader->body.depth > 0)
        return value && !ahead.newline; /* a mistake, of which the engine tells best */
    switch (ahead.sign) {
    case '(':
    case '[':
    case '{':
    case '`':
    case '+':
    case '-':
    case JS_2('+', '+'):
    case JS_2('-', '-'):
    case '!':
    case '~':
    case '/':
    case JS_2('/', '='):
        value = true;
    }
    reader->has_await |= value;
    reader->awaits += value;
    return value;
}

/* Is it an operator before an operand? */
static bool is_prefix(struct js_reader *reader)
{
    switch (reader->token.word) {
    case JS_WORD_TYPEOF:
    case JS_WORD_VOID:
    case JS_WORD_DELETE:
        return true;
    case JS_WORD_NEW:
        return js_peek(reader).sign != '.';
    case JS_WORD_AWAIT:
        return is_await(reader);
    default:
        break;
    }
    switch (reader->token.sign) {
    case '+':
    case '-':
    case '!':
    case '~':
    case JS_2('+', '+'):
    case JS_2('-', '-'):
        return true;
    default:
        return false;
    }
}

static void read_dot(struct js_reader *reader)
{
    bool chain = reader->token.sign == JS_2('?', '.');

    js_next(reader);
    if (reader->token.kind == JS_NAME || reader->token.kind == JS_PRIVATE)
        js_next(reader);
    else if (!chain ||
             (reader->token.sign != '(' && reader->token.sign != '[' && reader->token.sign != '`'))
        js_fail(reader);
}

/* What may be behind an operand: members, calls, templates, ++. */
static void read_suffixes(struct js_reader *reader)
{
    for (;;) {
        switch (reader->token.sign) {
        case '.':
        case JS_2('?', '.'):
            read_dot(reader);
            break;
        case '[':
            js_next(reader);
            js_expression(reader, true);
            js_take(reader, ']');
            break;
        case '(':
            read_items(reader, ')');
            break;
        case '`':
            read_template(reader);
            break;
        case JS_2('+', '+'):
        case JS_2('-', '-'):
            if (!reader->token.newline)
                js_next(reader);
            return;
        default:
            return;
        }
    }
}

static bool read_operand(struct js_reader *reader, bool in)
{
    bool is_arrow = false, is_made = false;

    while (is_prefix(reader)) {
        is_made = reader->token.word == JS_WORD_NEW;
        js_next(reader);
    }
    if (is_made && reader->token.word == JS_WORD_IMPORT && js_peek(reader).sign == '(')
        js_fail(reader); /* no constructor, though a call would be one */
    switch (reader->token.kind) {
    case JS_NUMBER:
    case JS_STRING:
    case JS_PRIVATE: /* #name in object */
        js_next(reader);
        break;
    case JS_NAME:
        is_arrow = read_word(reader, in);
        break;
    case JS_SIGN:
        is_arrow = read_sign(reader, in);
        break;
    default:
        js_fail(reader);
    }
    if (!is_arrow)
        read_suffixes(reader);
    return is_arrow;
}

/* ---- expressions ---------------------------------------------------------------------------- */

/* From "yield" on; is there an operand? */
static bool read_yield(struct js_reader *reader)
{
    js_next(reader);
    if (reader->token.newline || reader->token.kind == JS_END)
        return false;
    switch (reader->token.sign) {
    case '*':
        js_next(reader);
        return true;
    case ')':
    case ']':
    case '}':
    case ',':
    case ';':
    case ':':
        return false;
    default:
        return reader->token.word != JS_WORD_IN && reader->token.word != JS_WORD_OF;
    }
}

/* Passes what joins two operands; false: the expression ends. */
static bool read_infix(struct js_reader *reader, bool in)
{
    if (reader->token.sign == '?') {
        js_next(reader);
        js_assignment(reader, true);
        js_take(reader, ':');
        return reader->token.kind != JS_END;
    }
    if (!reader->token.infix && reader->token.word != JS_WORD_INSTANCEOF &&
        (!in || reader->token.word != JS_WORD_IN))
        return false;
    js_next(reader);
    return true;
}

void js_assignment(struct js_reader *reader, bool in)
{
    if (!js_enter(reader))
        return;
    do {
        while (reader->body.is_generator && reader->token.word == JS_WORD_YIELD)
            if (!read_yield(reader))
                goto out;
        if (read_operand(reader, in))
            break;
    } while (read_infix(reader, in));
out:
    js_leave(reader);
}

void js_expression(struct js_reader *reader, bool in)
{
    js_assignment(reader, in);
    while (reader->token.sign == ',') {
        js_next(reader);
        js_assignment(reader, in);
    }
}
