/* SPDX-License-Identifier: MIT */
/* patterns_lex.h - splits code of a language into names, strings and punctuation. Private to
 * patterns*.c. */
#ifndef LAZ_ADVICE_PATTERNS_LEX_H
#define LAZ_ADVICE_PATTERNS_LEX_H

#include "plugin/language.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum patterns_token_type {
    PATTERNS_END,
    PATTERNS_NAME,    /* text: the name, without backticks around it */
    PATTERNS_STRING,  /* text: the characters between the quotes, with escapes */
    PATTERNS_MEMBER,  /* a member operator: . : :: $ @ */
    PATTERNS_NEWLINE, /* ends a statement; not within brackets */
    PATTERNS_OTHER,   /* text: a character, or a number */
};

struct patterns_token {
    enum patterns_token_type type;
    const char *text; /* borrowed from the code; not NUL-terminated */
    size_t len;
    size_t line;      /* from 1 */
    bool into_object; /* a member operator that accesses a field of an object */
};

struct patterns_lexer {
    const struct laz_language_lexer *syntax;
    const char *at, *end;
    size_t line;
    size_t depth; /* number of open brackets */
};

/* Reads the next token; PATTERNS_END at the end of the code. */
void laz_patterns_next(struct patterns_lexer *lexer, struct patterns_token *token);

static inline bool laz_patterns_is(const struct patterns_token *token, const char *text)
{
    return token->len == strlen(text) && memcmp(token->text, text, token->len) == 0;
}

#endif
