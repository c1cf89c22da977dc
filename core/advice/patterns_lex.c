/* SPDX-License-Identifier: MIT */
/* patterns_lex.c - splits code of a language into names, strings and punctuation.
 * Side: host.  Input trusted: no (the code of the model, any bytes).
 *
 * What is declared of a language says which of the forms below it has: just enough to distinguish
 * names from the contents of comments and strings.  There are no errors: a string without an end
 * extends to the end of the code.  No byte is read more than a few times, whatever the code is. */
#include "advice/patterns_lex.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

static bool lex_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

static size_t lex_left(const struct patterns_lexer *lexer)
{
    return (size_t)(lexer->end - lexer->at);
}

/* The byte at offset `n` from the position; NUL beyond the end. */
static char lex_peek(const struct patterns_lexer *lexer, size_t n)
{
    return n < lex_left(lexer) ? lexer->at[n] : '\0';
}

static bool lex_starts(const struct patterns_lexer *lexer, const char *text)
{
    for (size_t i = 0; text[i]; i++)
        if (lex_peek(lexer, i) != text[i])
            return false;
    return true;
}

/* Advances by n bytes and counts lines. */
static void lex_advance(struct patterns_lexer *lexer, size_t n)
{
    for (; n && lexer->at < lexer->end; n--, lexer->at++)
        lexer->line += *lexer->at == '\n';
}

/* Makes a string token of the text from `start` to `end`. */
static void lex_string(struct patterns_token *token, const char *start, const char *end)
{
    token->type = PATTERNS_STRING;
    token->text = start;
    token->len = (size_t)(end - start);
}

static bool lex_is_triple(const struct patterns_lexer *lexer)
{
    char quote = lex_peek(lexer, 0);

    return (quote == '"' || quote == '\'') && lex_peek(lexer, 1) == quote &&
           lex_peek(lexer, 2) == quote;
}

/* True for a quote of strings that may have several lines. */
static bool lex_is_text(const struct patterns_lexer *lexer, char quote)
{
    return lexer->syntax->text_quotes && quote && strchr(lexer->syntax->text_quotes, quote);
}

/* Reads a string between quotes, of which `n` stand on each side, one or three. A backslash escapes
 * the next character. */
static void lex_quoted(struct patterns_lexer *lexer, struct patterns_token *token, size_t n)
{
    char quote = *lexer->at;

    lex_advance(lexer, n);
    const char *start = lexer->at;
    while (lexer->at < lexer->end && !(*lexer->at == quote && (n == 1 || lex_is_triple(lexer)))) {
        if (*lexer->at == '\n' && n == 1 && !lexer->syntax->multiline_strings &&
            !lex_is_text(lexer, quote))
            break;
        lex_advance(lexer, *lexer->at == '\\' ? 2 : 1);
    }
    lex_string(token, start, lexer->at);
    if (lex_peek(lexer, 0) == quote)
        lex_advance(lexer, n);
}

/* Reads a string up to `open`, then `fill` n times, then `close`; these are not part of it. */
static void lex_until(struct patterns_lexer *lexer, struct patterns_token *token, char open,
                      char fill, size_t n, char close)
{
    const char *start = lexer->at;

    while (lexer->at < lexer->end) {
        bool may_end = *lexer->at == open;
        const char *end = lexer->at;
        size_t filled = 0;
        lex_advance(lexer, 1);
        if (!may_end)
            continue;
        while (filled < n && lex_peek(lexer, 0) == fill) {
            lex_advance(lexer, 1);
            filled++;
        }
        if (filled == n && lexer->at < lexer->end && *lexer->at == close) {
            lex_string(token, start, end);
            lex_advance(lexer, 1);
            return;
        }
    }
    lex_string(token, start, lexer->end);
}

/* ---- strings and comments of some languages ------------------------------------------------- */

/* r"---( ... )---" */
static bool lex_raw(struct patterns_lexer *lexer, struct patterns_token *token)
{
    const struct laz_language_lexer *syntax = lexer->syntax;
    char letter = lex_peek(lexer, 0), quote = lex_peek(lexer, 1);
    size_t fill = 0;

    if (!syntax->raw_letters || !letter || !strchr(syntax->raw_letters, letter) ||
        (quote != '"' && quote != '\''))
        return false;
    while (lex_peek(lexer, 2 + fill) == *syntax->raw_fill)
        fill++;
    char open = lex_peek(lexer, 2 + fill);
    const char *bracket = open ? strchr(syntax->raw_brackets, open) : NULL;
    if (!bracket || (bracket - syntax->raw_brackets) % 2)
        return false;
    lex_advance(lexer, 3 + fill);
    lex_until(lexer, token, bracket[1], *syntax->raw_fill, fill, quote);
    return true;
}

/* Three quotes; or up to two letters followed by one or three quotes. */
static bool lex_prefixed(struct patterns_lexer *lexer, struct patterns_token *token)
{
    const struct laz_language_lexer *syntax = lexer->syntax;
    size_t prefix = 0;

    if (!syntax->prefix_letters && !syntax->triple_quotes)
        return false;
    while (prefix < 2 && syntax->prefix_letters && lex_peek(lexer, prefix) &&
           strchr(syntax->prefix_letters, lex_peek(lexer, prefix)))
        prefix++;
    char quote = lex_peek(lexer, prefix);
    if (quote != '"' && quote != '\'')
        return false;
    lex_advance(lexer, prefix);
    lex_quoted(lexer, token, syntax->triple_quotes && lex_is_triple(lexer) ? 3 : 1);
    return true;
}

/* The number of '=' in a long bracket [==[ at offset `from`; SIZE_MAX if there is none. */
static size_t lex_long_bracket(const struct patterns_lexer *lexer, size_t from)
{
    const char *signs = lexer->syntax->long_brackets;
    size_t level = 0;

    if (lex_peek(lexer, from) != signs[0])
        return SIZE_MAX;
    while (lex_peek(lexer, from + 1 + level) == signs[1])
        level++;
    return lex_peek(lexer, from + 1 + level) == signs[0] ? level : SIZE_MAX;
}

/* The string [==[ ... ]==], or a comment if it follows what begins a comment: --[==[ ... ]==] */
static bool lex_long(struct patterns_lexer *lexer, struct patterns_token *token)
{
    const struct laz_language_lexer *syntax = lexer->syntax;
    struct patterns_token comment;

    if (!syntax->long_brackets)
        return false;
    bool is_comment = lex_starts(lexer, syntax->comment);
    size_t before = is_comment ? strlen(syntax->comment) : 0;
    size_t level = lex_long_bracket(lexer, before);
    if (level == SIZE_MAX)
        return false;
    lex_advance(lexer, before + level + 2);
    lex_until(lexer, is_comment ? &comment : token, syntax->long_brackets[2],
              syntax->long_brackets[1], level, syntax->long_brackets[2]);
    return true;
}

/* A comment that is closed, or goes on to the end. */
static bool lex_closed_comment(struct patterns_lexer *lexer)
{
    const struct laz_language_lexer *syntax = lexer->syntax;

    if (!syntax->comment_open || !lex_starts(lexer, syntax->comment_open))
        return false;
    lex_advance(lexer, strlen(syntax->comment_open));
    while (lexer->at < lexer->end && !lex_starts(lexer, syntax->comment_close))
        lex_advance(lexer, 1);
    lex_advance(lexer, strlen(syntax->comment_close));
    return true;
}

/* ---- all languages -------------------------------------------------------------------------- */

/* Length in bytes of a member operator of the list at the position; 0: none. */
static size_t lex_member_of(const struct patterns_lexer *lexer, const struct laz_strv *list)
{
    for (size_t i = 0; i < list->n; i++) {
        const char *sign = list->items[i];
        size_t len = strlen(sign);
        if (lex_starts(lexer, sign) &&
            !(lexer->syntax->single_members && lex_peek(lexer, len) == sign[len - 1]))
            return len;
    }
    return 0;
}

static bool lex_member(struct patterns_lexer *lexer, struct patterns_token *token)
{
    token->len = lex_member_of(lexer, &lexer->syntax->members);
    if (!token->len) {
        token->len = lex_member_of(lexer, &lexer->syntax->object_members);
        token->into_object = token->len != 0;
    }
    if (!token->len)
        return false;
    token->type = PATTERNS_MEMBER;
    lex_advance(lexer, token->len);
    return true;
}

static bool lex_is_name(const struct patterns_lexer *lexer, char c)
{
    return lex_is_letter(c) || (c && strchr(lexer->syntax->name_characters, c));
}

/* Skips white space, a comment, or a backslash that joins lines. False: there was none. */
static bool lex_skip_blank(struct patterns_lexer *lexer)
{
    char c = lex_peek(lexer, 0);

    if (lex_starts(lexer, lexer->syntax->comment)) {
        const char *newline = memchr(lexer->at, '\n', lex_left(lexer));
        lexer->at = newline ? newline : lexer->end;
        return true;
    }
    if (c == '\\' && lex_peek(lexer, 1) == '\n') {
        lex_advance(lexer, 2);
        return true;
    }
    if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v' ||
        (c == '\n' && (!lexer->syntax->newlines || lexer->depth))) {
        lex_advance(lexer, 1);
        return true;
    }
    return false;
}

static void lex_word(struct patterns_lexer *lexer, struct patterns_token *token)
{
    char first = lex_peek(lexer, 0);
    bool number = isdigit((unsigned char)first) ||
                  (first == '.' && isdigit((unsigned char)lex_peek(lexer, 1)));

    token->type = number ? PATTERNS_OTHER : PATTERNS_NAME;
    while (lexer->at < lexer->end &&
           (lex_is_name(lexer, *lexer->at) || isdigit((unsigned char)*lexer->at) ||
            (number && *lexer->at == '.' && lex_peek(lexer, 1) != '.')))
        lexer->at++;
    token->len = (size_t)(lexer->at - token->text);
}

static void lex_character(struct patterns_lexer *lexer, struct patterns_token *token)
{
    char c = *lexer->at;

    /* Not braces: lines between braces may end statements. */
    if (c == '(' || c == '[')
        lexer->depth++;
    else if ((c == ')' || c == ']') && lexer->depth)
        lexer->depth--;
    token->type = c == '\n' ? PATTERNS_NEWLINE : PATTERNS_OTHER;
    token->len = 1;
    /* ".." and "..." are operators of their own, not member operators. */
    while (c == '.' && lex_peek(lexer, token->len) == '.')
        token->len++;
    lex_advance(lexer, token->len);
}

void laz_patterns_next(struct patterns_lexer *lexer, struct patterns_token *token)
{
    *token = (struct patterns_token){.type = PATTERNS_END};
    for (;;) {
        token->text = lexer->at;
        token->line = lexer->line;
        if (lexer->at == lexer->end)
            return;
        /* strings and comments that not every language has */
        if (lex_raw(lexer, token) || lex_prefixed(lexer, token) || lex_long(lexer, token)) {
            if (token->type == PATTERNS_STRING)
                return;
        } else if (!lex_closed_comment(lexer) && !lex_skip_blank(lexer)) {
            break;
        }
    }
    char c = *lexer->at;
    if (c == '`' && !lex_is_text(lexer, c)) {
        lex_quoted(lexer, token, 1);
        token->type = PATTERNS_NAME;
    } else if (c == '"' || c == '\'' || lex_is_text(lexer, c)) {
        lex_quoted(lexer, token, 1);
    } else if (isdigit((unsigned char)c) || lex_is_name(lexer, c) ||
               (c == '.' && isdigit((unsigned char)lex_peek(lexer, 1)))) {
        lex_word(lexer, token);
    } else if (!lex_member(lexer, token)) {
        lex_character(lexer, token);
    }
}
