/* SPDX-License-Identifier: MIT */
/* patterns_lex.h - splits code of a language into names, strings and punctuation. Private to
 * patterns*.c. */
#ifndef LAZ_ADVICE_PATTERNS_LEX_H
#define LAZ_ADVICE_PATTERNS_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum patterns_token_type {
    PATTERNS_END,
    PATTERNS_NAME,    /* text: the name, without the backticks of R */
    PATTERNS_STRING,  /* text: the characters between the quotes, with escapes */
    PATTERNS_MEMBER,  /* a member operator: . : :: $ @ */
    PATTERNS_NEWLINE, /* ends a statement; not within brackets, and never in Lua */
    PATTERNS_OTHER,   /* text: a character, or a number */
};

struct patterns_token {
    enum patterns_token_type type;
    const char *text; /* borrowed from the code; not NUL-terminated */
    size_t len;
    size_t line; /* from 1 */
};

struct patterns_lexer;

/* The syntax of a language. */
struct patterns_syntax {
    const char *comment; /* begins a comment to the end of the line */
    char name_also[2];   /* characters of names besides letters and digits; 0: none */
    bool lines;          /* the end of a line may end a statement */
    bool long_strings;   /* a string in quotes may have several lines */
    /* Reads strings and comments that only this language has. True: there was one at the position;
     * `token` is a string then, or unchanged if it was a comment. */
    bool (*special)(struct patterns_lexer *lexer, struct patterns_token *token);
    /* Length in bytes of a member operator at the position; 0: none. */
    size_t (*member)(const struct patterns_lexer *lexer);
};

struct patterns_lexer {
    const struct patterns_syntax *syntax;
    const char *at, *end;
    size_t line;
    size_t depth; /* number of open brackets */
};

/* The syntax of a runtime's language, or NULL. */
const struct patterns_syntax *laz_patterns_syntax(const char *runtime);
/* Reads the next token; PATTERNS_END at the end of the code. */
void laz_patterns_next(struct patterns_lexer *lexer, struct patterns_token *token);

static inline bool laz_patterns_is(const struct patterns_token *token, const char *text)
{
    return token->len == strlen(text) && memcmp(token->text, text, token->len) == 0;
}

#endif
