/* SPDX-License-Identifier: MIT */
/* lex.c - TOML's characters, comments, strings and keys.
 *
 * The whole text was checked to be UTF-8 before, so a character is a byte and its continuation
 * bytes, and only control characters have to be refused here.  A wrong character in a string is
 * reported and skipped: a string ends at its closing quotes whatever is in it, so one mistake in it
 * does not hide mistakes in later statements.
 * Side: host.  Input trusted: yes (the user's configuration), but it is checked all the same. */
#include "settings/toml/parser.h"

#include "base/json_text.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

void toml_skip(struct toml_parser *p, size_t n)
{
    for (; n && p->at < p->len; n--) {
        unsigned char c = (unsigned char)p->text[p->at++];
        if (c == '\n') {
            p->line++;
            p->column = 1;
        } else if ((c & 0xc0) != 0x80) {
            p->column++;
        }
    }
}

void toml_space(struct toml_parser *p)
{
    while (toml_peek(p) == ' ' || toml_peek(p) == '\t')
        toml_skip(p, 1);
}

bool toml_is_newline(const struct toml_parser *p)
{
    return toml_peek(p) == '\n' || (toml_peek(p) == '\r' && toml_peek_at(p, 1) == '\n');
}

bool toml_newline(struct toml_parser *p)
{
    if (!toml_is_newline(p))
        return false;
    toml_skip(p, toml_peek(p) == '\r' ? 2 : 1);
    return true;
}

/* No control character but tab is allowed anywhere; the caller handles newlines. */
static bool lex_is_control(int c)
{
    return (c >= 0 && c < 0x20 && c != '\t') || c == 0x7f;
}

static const char *lex_control_name(struct toml_parser *p, int c)
{
    if (c == '\r')
        return "a carriage return without a newline";
    snprintf(p->found, sizeof p->found, "U+%04X", (unsigned)c);
    return p->found;
}

const char *toml_found(struct toml_parser *p)
{
    int c = toml_peek(p);

    if (c < 0)
        return "the end of the file";
    if (toml_is_newline(p))
        return "the end of the line";
    if (lex_is_control(c))
        return lex_control_name(p, c);
    size_t n = laz_utf8_sequence(p->text + p->at, p->len - p->at);
    snprintf(p->found, sizeof p->found, "'%.*s'", (int)n, p->text + p->at);
    return p->found;
}

bool toml_comment(struct toml_parser *p)
{
    if (toml_peek(p) != '#')
        return true;
    while (p->at < p->len && !toml_is_newline(p)) {
        if (lex_is_control(toml_peek(p)))
            return toml_problem(p, toml_here(p), "a comment may not contain %s",
                                lex_control_name(p, toml_peek(p)));
        toml_skip(p, 1);
    }
    return true;
}

bool toml_line_end(struct toml_parser *p)
{
    toml_space(p);
    if (!toml_comment(p))
        return false;
    if (p->at == p->len || toml_newline(p))
        return true;
    return toml_problem(p, toml_here(p), "expected the end of the line, found %s", toml_found(p));
}

/* ---- strings ----------------------------------------------------------------------------------*/

/* \uXXXX and \UXXXXXXXX, from behind the letter. */
static void lex_unicode_escape(struct toml_parser *p, struct toml_mark mark, int digits)
{
    uint32_t code = 0;
    char utf8[4];

    for (int i = 0; i < digits; i++) {
        const int value = laz_hex_digit(toml_peek(p));
        if (value < 0) {
            toml_problem(p, mark, "\\%c needs %d hexadecimal digits after it",
                         digits == 4 ? 'u' : 'U', digits);
            return;
        }
        code = code << 4 | (uint32_t)value;
        toml_skip(p, 1);
    }
    size_t n = laz_utf8_encode(code, utf8);
    if (n)
        laz_buf_append(&p->scratch, utf8, n);
    else
        toml_problem(p, mark, "\\%c%0*X is not a Unicode character", digits == 4 ? 'u' : 'U',
                     digits, (unsigned)code);
}

/* In a """string""", a backslash at the end of a line removes the white space up to the next text.
 */
static bool lex_line_joint(struct toml_parser *p)
{
    size_t ahead = 1;

    while (toml_peek_at(p, ahead) == ' ' || toml_peek_at(p, ahead) == '\t')
        ahead++;
    if (toml_peek_at(p, ahead) == '\r' && toml_peek_at(p, ahead + 1) == '\n')
        ahead++;
    if (toml_peek_at(p, ahead) != '\n')
        return false;
    toml_skip(p, ahead + 1);
    do
        toml_space(p);
    while (toml_newline(p));
    return true;
}

static void lex_escape(struct toml_parser *p, bool multi)
{
    static const char letters[] = "btnfr\"\\";
    static const char meanings[] = "\b\t\n\f\r\"\\";
    struct toml_mark mark = toml_here(p);
    int c = toml_peek_at(p, 1);

    if (multi && lex_line_joint(p))
        return;
    toml_skip(p, 1);
    const char *known = c > 0 ? strchr(letters, c) : NULL;
    if (known) {
        laz_buf_putc(&p->scratch, meanings[known - letters]);
        toml_skip(p, 1);
    } else if (c == 'u' || c == 'U') {
        toml_skip(p, 1);
        lex_unicode_escape(p, mark, c == 'u' ? 4 : 8);
    } else {
        toml_problem(p, mark,
                     "a backslash may not stand before %s (a literal backslash is written \\\\, "
                     "or the string in single quotes)",
                     toml_found(p));
    }
}

/* The number of equal quotes in a row at the cursor, at most 5: two that belong to the text, and
 * three that end it. */
static size_t lex_quotes(const struct toml_parser *p, int quote)
{
    size_t n = 0;

    while (n < 5 && toml_peek_at(p, n) == quote)
        n++;
    return n;
}

static void lex_plain(struct toml_parser *p)
{
    int c = toml_peek(p);

    if (lex_is_control(c)) {
        toml_problem(p, toml_here(p), "a string may not contain %s as it is; write \\u%04X",
                     lex_control_name(p, c), (unsigned)c);
        toml_skip(p, 1);
        return;
    }
    size_t n = laz_utf8_sequence(p->text + p->at, p->len - p->at);
    laz_buf_append(&p->scratch, p->text + p->at, n);
    toml_skip(p, n);
}

static bool lex_one_line(struct toml_parser *p, int quote)
{
    struct toml_mark mark = toml_here(p);

    toml_skip(p, 1);
    for (;;) {
        int c = toml_peek(p);
        if (c < 0 || toml_is_newline(p))
            return toml_problem(p, mark, "the string that begins here is not closed on its line");
        if (c == quote) {
            toml_skip(p, 1);
            return true;
        }
        if (c == '\\' && quote == '"')
            lex_escape(p, false);
        else
            lex_plain(p);
    }
}

static bool lex_multi_line(struct toml_parser *p, int quote)
{
    struct toml_mark mark = toml_here(p);

    toml_skip(p, 3);
    toml_newline(p); /* the first newline does not belong to the text */
    for (;;) {
        int c = toml_peek(p);
        if (c < 0)
            return toml_problem(p, mark, "the string that begins here is not closed");
        if (c == quote) {
            size_t n = lex_quotes(p, quote);
            size_t inside = n < 3 ? n : n - 3;
            laz_buf_append(&p->scratch, p->text + p->at, inside);
            toml_skip(p, n);
            if (n >= 3)
                return true;
        } else if (toml_is_newline(p)) {
            if (c == '\r')
                laz_buf_putc(&p->scratch, '\r');
            laz_buf_putc(&p->scratch, '\n');
            toml_newline(p);
        } else if (c == '\\' && quote == '"') {
            lex_escape(p, true);
        } else {
            lex_plain(p);
        }
    }
}

bool toml_string(struct toml_parser *p)
{
    int quote = toml_peek(p);

    laz_buf_clear(&p->scratch);
    laz_buf_append(&p->scratch, "", 0);
    bool closed = lex_quotes(p, quote) >= 3 ? lex_multi_line(p, quote) : lex_one_line(p, quote);
    return p->scratch.failed ? toml_no_memory(p) : closed;
}

/* ---- keys -------------------------------------------------------------------------------------*/

bool laz_toml_is_bare(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

bool toml_key_part(struct toml_parser *p)
{
    int c = toml_peek(p);

    if (c == '"' || c == '\'') {
        if (lex_quotes(p, c) >= 3)
            return toml_problem(p, toml_here(p), "a key may not be a string of several lines");
        return toml_string(p);
    }
    size_t n = 0;
    while (laz_toml_is_bare(toml_peek_at(p, n)))
        n++;
    if (!n) {
        return toml_problem(p, toml_here(p),
                            "expected a key, found %s (a key of other characters than letters, "
                            "digits, '_' and '-' stands in quotes)",
                            toml_found(p));
    }
    laz_buf_clear(&p->scratch);
    laz_buf_append(&p->scratch, p->text + p->at, n);
    toml_skip(p, n);
    return p->scratch.failed ? toml_no_memory(p) : true;
}
