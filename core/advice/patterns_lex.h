/* SPDX-License-Identifier: MIT */
/* patterns_lex.h - names, strings and punctuation of a language, one after the other. */
#ifndef LAZ_ADVICE_PATTERNS_LEX_H
#define LAZ_ADVICE_PATTERNS_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum patterns_token_type {
    PATTERNS_END,
    PATTERNS_NAME,    /* text: the name, without the backticks R may have around it */
    PATTERNS_STRING,  /* text: what is between the quotes, as written */
    PATTERNS_MEMBER,  /* leads to a member of what stands before it: . : :: $ @ */
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

/* How a language is written. */
struct patterns_syntax {
    const char *comment; /* what begins a comment to the end of the line */
    char name_also[2];   /* besides letters and digits, in a name; 0: none */
    bool lines;          /* the end of a line may end a statement */
    bool long_strings;   /* a string in quotes may go over several lines */
    /* Strings and comments that only this language has: true when there was one at the lexer's
     * position; `token` is a string then, or unchanged when it was a comment. */
    bool (*special)(struct patterns_lexer *lexer, struct patterns_token *token);
    /* Bytes of a member operator at the position, 0: none. */
    size_t (*member)(const struct patterns_lexer *lexer);
};

struct patterns_lexer {
    const struct patterns_syntax *syntax;
    const char *at, *end;
    size_t line;
    size_t depth; /* of open brackets */
};

/* The syntax of a runtime's language, or NULL. */
const struct patterns_syntax *laz_patterns_syntax(const char *runtime);
void laz_patterns_next(struct patterns_lexer *lexer, struct patterns_token *token);

static inline bool laz_patterns_is(const struct patterns_token *token, const char *text)
{
    return token->len == strlen(text) && memcmp(token->text, text, token->len) == 0;
}

#endif
