/* SPDX-License-Identifier: MIT */
/* js_scan_parts.h - the parts of the recogniser: tokens (js_scan_tokens.c), expressions
 * (js_scan_expressions.c), statements and declarations (js_scan_statements.c), imports and exports
 * (js_scan_modules.c), and the result (js_scan.c).
 *
 * Tokens are read one at a time: whether "/" begins a regular expression, and "`" or "}" a piece of
 * a template, is known only where an operand is expected, so the reader of expressions says so.
 * After js_fail there are no more tokens, and all readers return. */
#ifndef LAZ_JS_SCAN_PARTS_H
#define LAZ_JS_SCAN_PARTS_H

#include "js_scan.h"

#include <stdint.h>

#define JS_MOST_NESTING 1000 /* of statements and expressions in each other */

struct js_text {
    char *data;
    size_t len, cap;
    bool failed; /* out of memory */
};

enum js_kind {
    JS_END,
    JS_NAME, /* also a keyword */
    JS_PRIVATE,
    JS_NUMBER,
    JS_STRING,
    JS_SIGN,
};

/* The names with a meaning. The first group can be names of variables. */
enum js_word {
    JS_WORD_NONE,
    JS_WORD_ASYNC,
    JS_WORD_AWAIT,
    JS_WORD_GET,
    JS_WORD_LET,
    JS_WORD_OF,
    JS_WORD_SET,
    JS_WORD_STATIC,
    JS_WORD_YIELD,
    JS_WORD_VALUE, /* this, super, null, true, false; from here on reserved */
    JS_WORD_BREAK,
    JS_WORD_CASE,
    JS_WORD_CATCH,
    JS_WORD_CLASS,
    JS_WORD_CONST,
    JS_WORD_CONTINUE,
    JS_WORD_DEBUGGER,
    JS_WORD_DEFAULT,
    JS_WORD_DELETE,
    JS_WORD_DO,
    JS_WORD_ELSE,
    JS_WORD_ENUM,
    JS_WORD_EXPORT,
    JS_WORD_EXTENDS,
    JS_WORD_FINALLY,
    JS_WORD_FOR,
    JS_WORD_FUNCTION,
    JS_WORD_IF,
    JS_WORD_IMPORT,
    JS_WORD_IN,
    JS_WORD_INSTANCEOF,
    JS_WORD_NEW,
    JS_WORD_RETURN,
    JS_WORD_SWITCH,
    JS_WORD_THROW,
    JS_WORD_TRY,
    JS_WORD_TYPEOF,
    JS_WORD_VAR,
    JS_WORD_VOID,
    JS_WORD_WHILE,
    JS_WORD_WITH,
};

/* The characters of a sign, the first one lowest. */
#define JS_2(a, b)    ((uint32_t)(a) | (uint32_t)(b) << 8)
#define JS_3(a, b, c) (JS_2(a, b) | (uint32_t)(c) << 16)

struct js_token {
    enum js_kind kind;
    enum js_word word; /* of a name without escapes */
    uint32_t sign;     /* 0: it is none */
    bool infix;        /* an operator between two operands */
    bool newline;      /* a line ends before it */
    bool escaped;      /* a name with \u */
    size_t start, end;
    size_t line;
};

/* How a name is declared, outside of functions. */
enum {
    JS_VAR = 1,
    JS_LEXICAL = 2,  /* let, const, class at top level */
    JS_FUNCTION = 4, /* at top level */
    JS_INNER = 8,    /* a function in a block, which is a variable, too */
    JS_IMPORTED = 16,
};

struct js_name {
    size_t at, len; /* in the text of names */
    unsigned kinds;
    bool repeated;  /* another one is the first with this name */
    bool functions; /* more than one function has this name */
};

/* When an edit is made, and the order of edits at one place. */
enum js_when { JS_WHEN_ANY, JS_WHEN_ASYNC, JS_WHEN_MODULE };
enum js_rank { JS_RANK_AT, JS_RANK_RETURN, JS_RANK_TEXT };

/* `len` bytes of the code become `text`. */
struct js_edit {
    size_t at, len;
    const char *text; /* NULL: __at(line); */
    size_t line;
    enum js_when when;
    enum js_rank rank;
    bool blank; /* the bytes become spaces behind `text`, except for ends of lines */
};

struct js_range {
    size_t start, end;
};

/* The function that is read. */
struct js_body {
    unsigned depth; /* 0: outside of functions */
    bool is_async, is_generator;
};

struct js_reader {
    const char *code;
    size_t len;
    size_t pos, line; /* behind the token */
    struct js_token token;
    size_t end; /* of the token before */
    unsigned nesting;
    struct js_body body;
    bool unsure, out_of_memory;
    bool has_await, has_return, has_import, has_export, strict;
    size_t awaits; /* outside of functions */
    struct js_text spellings;
    struct js_name *names;
    size_t n_names, cap_names;
    struct js_edit *edits;
    size_t n_edits, cap_edits;
    struct js_range *values; /* expressions that give the value of the last statement */
    size_t n_values, cap_values;
    size_t expression_end; /* of the last statement that was an expression */
    bool exporting;        /* names that are declared are exported */
    struct js_text imports, exports;
};

/* ---- js_scan.c ------------------------------------------------------------------------------ */

void js_text_add(struct js_text *text, const char *data, size_t len);
void js_text_puts(struct js_text *text, const char *data);

/* Makes room for one more item; false: out of memory, and the reader has failed. */
bool js_room(struct js_reader *reader, void *items, size_t n, size_t *cap, size_t size);
void js_edit(struct js_reader *reader, const struct js_edit *edit);
void js_value(struct js_reader *reader, size_t start);
/* Declares a name, if `kind` is not 0. */
void js_declare(struct js_reader *reader, const struct js_token *name, unsigned kind);

/* ---- js_scan_tokens.c ----------------------------------------------------------------------- */

void js_fail(struct js_reader *reader);
void js_first(struct js_reader *reader);
void js_next(struct js_reader *reader);
/* The token behind the current one. */
struct js_token js_peek(struct js_reader *reader);
/* The rest of a regular expression that begins with the current token; then the next token. */
void js_regex(struct js_reader *reader);
/* The rest of a piece of a template: 1: its end, 2: "${", 0: failed. */
int js_template_piece(struct js_reader *reader);
/* Bytes of the end of a line at `pos`, 0: there is none. */
size_t js_line_end(const char *code, size_t len, size_t pos);
/* Adds a name with its escapes resolved. */
void js_spell(struct js_reader *reader, const struct js_token *name, struct js_text *text);
bool js_token_is(const struct js_reader *reader, const char *name);
/* Can it be the name of a variable? */
bool js_is_identifier(const struct js_token *token);
/* Passes the sign; any other token is a failure. */
void js_take(struct js_reader *reader, uint32_t sign);
/* The end of a statement, which may be inserted. */
void js_semicolon(struct js_reader *reader);
/* One more level of nesting: false when there are too many, and the reader has failed. */
bool js_enter(struct js_reader *reader);
void js_leave(struct js_reader *reader);

/* ---- js_scan_expressions.c ------------------------------------------------------------------ */

void js_expression(struct js_reader *reader, bool in);
/* Without commas; `in`: may it contain the operator? */
void js_assignment(struct js_reader *reader, bool in);
/* From "function" and "class" on; their names are declared as `kind`. */
void js_function(struct js_reader *reader, bool is_async, unsigned kind);
void js_class(struct js_reader *reader, unsigned kind);

/* ---- js_scan_statements.c ------------------------------------------------------------------- */

void js_statement(struct js_reader *reader, bool top);
/* "{", statements, "}". */
void js_block(struct js_reader *reader);
/* Is it a declaration of a function? */
bool js_at_function(struct js_reader *reader);
void js_program(struct js_reader *reader);

/* ---- js_scan_modules.c ---------------------------------------------------------------------- */

void js_import(struct js_reader *reader);
void js_export(struct js_reader *reader);

#endif
