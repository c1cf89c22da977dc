/* SPDX-License-Identifier: MIT */
/* js_scan_tokens.c - the tokens of JavaScript.
 *
 * In the box; the code is not trusted: any bytes, of which none is read beyond the end. A byte that
 * is not UTF-8 is accepted in comments, strings, templates and regular expressions only. */
#include "js_scan_parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- texts ---------------------------------------------------------------------------------- */

void js_text_add(struct js_text *text, const char *data, size_t len)
{
    if (!text->failed && text->cap - text->len < len) {
        size_t cap = text->cap + len + text->cap / 2 + 64;
        char *grown = realloc(text->data, cap);
        text->failed = !grown;
        text->data = grown ? grown : text->data;
        text->cap = grown ? cap : text->cap;
    }
    if (text->failed || !len)
        return;
    memcpy(text->data + text->len, data, len);
    text->len += len;
}

void js_text_puts(struct js_text *text, const char *data)
{
    js_text_add(text, data, strlen(data));
}

/* ---- failures, bounds ----------------------------------------------------------------------- */

void js_fail(struct js_reader *reader)
{
    reader->unsure = true;
    reader->pos = reader->len;
    reader->token = (struct js_token){
        .kind = JS_END, .start = reader->len, .end = reader->len, .line = reader->line};
}

bool js_enter(struct js_reader *reader)
{
    if (reader->nesting == JS_MOST_NESTING) {
        js_fail(reader);
        return false;
    }
    reader->nesting++;
    return true;
}

void js_leave(struct js_reader *reader)
{
    reader->nesting--;
}

bool js_room(struct js_reader *reader, void *items, size_t n, size_t *cap, size_t size)
{
    void **list = items;

    if (n < *cap)
        return true;
    size_t more = *cap * 2 + 16;
    void *grown = realloc(*list, more * size);
    if (!grown) {
        reader->out_of_memory = true;
        js_fail(reader);
        return false;
    }
    *list = grown;
    *cap = more;
    return true;
}

/* ---- characters ----------------------------------------------------------------------------- */

enum { CHAR_OTHER, CHAR_SPACE, CHAR_LINE, CHAR_NAME, CHAR_DIGIT, CHAR_HIGH };

static int char_class(unsigned char c)
{
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$')
        return CHAR_NAME;
    if (c >= '0' && c <= '9')
        return CHAR_DIGIT;
    if (c == ' ' || c == '\t' || c == '\v' || c == '\f')
        return CHAR_SPACE;
    if (c == '\n' || c == '\r')
        return CHAR_LINE;
    return c >= 0x80 ? CHAR_HIGH : CHAR_OTHER;
}

/* The character `ahead` of the position, 0 at the end. */
static unsigned char char_at(const struct js_reader *reader, size_t ahead)
{
    return ahead < reader->len - reader->pos ? (unsigned char)reader->code[reader->pos + ahead] : 0;
}

/* The character at a position that begins with a byte of 0x80 or more; *n: its bytes, 0: none. */
static uint32_t char_high(const char *code, size_t len, size_t pos, size_t *n)
{
    const unsigned char *byte = (const unsigned char *)code + pos;
    size_t most = byte[0] >= 0xf0 ? 4 : byte[0] >= 0xe0 ? 3 : 2;
    uint32_t value = byte[0] & (0x7fu >> most);

    *n = 0;
    if (byte[0] < 0xc2 || byte[0] > 0xf4 || most > len - pos)
        return 0;
    for (size_t i = 1; i < most; i++) {
        if ((byte[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (byte[i] & 0x3f);
    }
    *n = most;
    return value;
}

static bool char_is_space(uint32_t c)
{
    return c == 0xa0 || c == 0xfeff || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x202f ||
           c == 0x205f || c == 0x3000;
}

size_t js_line_end(const char *code, size_t len, size_t pos)
{
    if (pos >= len)
        return 0;
    if (code[pos] == '\r')
        return pos + 1 < len && code[pos + 1] == '\n' ? 2 : 1;
    if (code[pos] == '\n')
        return 1;
    return len - pos >= 3 && (memcmp(code + pos, "\xe2\x80\xa8", 3) == 0 ||
                              memcmp(code + pos, "\xe2\x80\xa9", 3) == 0)
               ? 3
               : 0;
}

/* Passes the end of a line, if there is one. */
static bool char_line_end(struct js_reader *reader)
{
    size_t n = js_line_end(reader->code, reader->len, reader->pos);

    reader->pos += n;
    reader->line += n > 0;
    return n > 0;
}

/* ---- spaces and comments -------------------------------------------------------------------- */

static void skip_line(struct js_reader *reader)
{
    while (reader->pos < reader->len && !js_line_end(reader->code, reader->len, reader->pos))
        reader->pos++;
}

/* False: it has no end. */
static bool skip_comment(struct js_reader *reader, bool *newline)
{
    for (reader->pos += 2; reader->pos < reader->len;) {
        if (char_at(reader, 0) == '*' && char_at(reader, 1) == '/') {
            reader->pos += 2;
            return true;
        }
        if (char_line_end(reader))
            *newline = true;
        else
            reader->pos++;
    }
    return false;
}

/* "-->" where nothing but comments is before it on its line. On the first line it would not be a
 * comment behind what is put in there. */
static void skip_arrow(struct js_reader *reader)
{
    if (reader->line == 1)
        js_edit(reader,
                &(struct js_edit){.at = reader->pos, .len = 2, .text = "//", .rank = JS_RANK_TEXT});
    skip_line(reader);
}

/* Is there something to skip? */
static bool skip_one(struct js_reader *reader, bool *newline)
{
    unsigned char c = char_at(reader, 0), after = char_at(reader, 1);
    size_t n = 0;

    if (char_line_end(reader))
        *newline = true;
    else if (char_class(c) == CHAR_SPACE)
        reader->pos++;
    else if (c == '/' && after == '/')
        skip_line(reader);
    else if (c == '/' && after == '*') {
        if (!skip_comment(reader, newline))
            js_fail(reader);
    } else if (c == '<' && after == '!' && char_at(reader, 2) == '-' && char_at(reader, 3) == '-')
        skip_line(reader);
    else if (*newline && c == '-' && after == '-' && char_at(reader, 2) == '>')
        skip_arrow(reader);
    else if (c >= 0x80 && char_is_space(char_high(reader->code, reader->len, reader->pos, &n)))
        reader->pos += n;
    else
        return false;
    return true;
}

/* ---- tokens --------------------------------------------------------------------------------- */

static const struct {
    const char *text;
    enum js_word word;
} words[] = {
    {"async", JS_WORD_ASYNC},
    {"await", JS_WORD_AWAIT},
    {"break", JS_WORD_BREAK},
    {"case", JS_WORD_CASE},
    {"catch", JS_WORD_CATCH},
    {"class", JS_WORD_CLASS},
    {"const", JS_WORD_CONST},
    {"continue", JS_WORD_CONTINUE},
    {"debugger", JS_WORD_DEBUGGER},
    {"default", JS_WORD_DEFAULT},
    {"delete", JS_WORD_DELETE},
    {"do", JS_WORD_DO},
    {"else", JS_WORD_ELSE},
    {"enum", JS_WORD_ENUM},
    {"export", JS_WORD_EXPORT},
    {"extends", JS_WORD_EXTENDS},
    {"false", JS_WORD_VALUE},
    {"finally", JS_WORD_FINALLY},
    {"for", JS_WORD_FOR},
    {"function", JS_WORD_FUNCTION},
    {"get", JS_WORD_GET},
    {"if", JS_WORD_IF},
    {"import", JS_WORD_IMPORT},
    {"in", JS_WORD_IN},
    {"instanceof", JS_WORD_INSTANCEOF},
    {"let", JS_WORD_LET},
    {"new", JS_WORD_NEW},
    {"null", JS_WORD_VALUE},
    {"of", JS_WORD_OF},
    {"return", JS_WORD_RETURN},
    {"set", JS_WORD_SET},
    {"static", JS_WORD_STATIC},
    {"super", JS_WORD_VALUE},
    {"switch", JS_WORD_SWITCH},
    {"this", JS_WORD_VALUE},
    {"throw", JS_WORD_THROW},
    {"true", JS_WORD_VALUE},
    {"try", JS_WORD_TRY},
    {"typeof", JS_WORD_TYPEOF},
    {"var", JS_WORD_VAR},
    {"void", JS_WORD_VOID},
    {"while", JS_WORD_WHILE},
    {"with", JS_WORD_WITH},
    {"yield", JS_WORD_YIELD},
};

static enum js_word word_of(const char *name, size_t len)
{
    size_t low = 0, high = sizeof words / sizeof *words;

    if (len < 2 || len > 10 || name[0] < 'a' || name[0] > 'y')
        return JS_WORD_NONE;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strncmp(words[middle].text, name, len);
        if (order == 0)
            order = words[middle].text[len] != 0;
        if (order == 0)
            return words[middle].word;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return JS_WORD_NONE;
}

/* Bytes of the "\u" at the position, 0: it is none; *value: its character. */
static size_t escape_length(const char *code, size_t len, uint32_t *value)
{
    size_t i = 2;
    bool braces = len > 2 && code[2] == '{';

    *value = 0;
    if (len < 6 - 2 * (size_t)braces || code[0] != '\\' || code[1] != 'u')
        return 0;
    for (i += braces; i < len && i < (braces ? 11 : 6); i++) {
        char c = code[i];
        if (braces && c == '}')
            return i > 3 && *value <= 0x10ffff ? i + 1 : 0;
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                                : 16;
        if (digit > 15)
            return 0;
        *value = *value << 4 | digit;
    }
    return !braces && i == 6 ? 6 : 0;
}

/* Passes what can be in a name; false: nothing. */
static bool name_rest(struct js_reader *reader, struct js_token *token)
{
    size_t start = reader->pos, n;
    uint32_t value;

    while (reader->pos < reader->len) {
        int class = char_class((unsigned char)reader->code[reader->pos]);
        if (class == CHAR_NAME || class == CHAR_DIGIT) {
            reader->pos++;
        } else if (class == CHAR_HIGH) {
            value = char_high(reader->code, reader->len, reader->pos, &n);
            if (!n || char_is_space(value) || value == 0x2028 || value == 0x2029)
                break;
            reader->pos += n;
        } else {
            n = escape_length(reader->code + reader->pos, reader->len - reader->pos, &value);
            if (!n)
                break;
            token->escaped = true;
            reader->pos += n;
        }
    }
    return reader->pos > start;
}

static void read_name(struct js_reader *reader, struct js_token *token)
{
    size_t start = reader->pos;

    token->kind = JS_NAME;
    if (!name_rest(reader, token))
        js_fail(reader);
    else if (!token->escaped)
        token->word = word_of(reader->code + start, reader->pos - start);
}

static void read_digits(struct js_reader *reader)
{
    while (char_class(char_at(reader, 0)) == CHAR_DIGIT || char_at(reader, 0) == '_')
        reader->pos++;
}

static void read_number(struct js_reader *reader, struct js_token *token)
{
    unsigned char base = char_at(reader, 0) == '0' ? char_at(reader, 1) | 0x20 : 0;
    size_t start = reader->pos;

    token->kind = JS_NUMBER;
    if (base == 'x' || base == 'o' || base == 'b') {
        name_rest(reader, token);
        return;
    }
    read_digits(reader);
    bool octal = base >= '0' && base <= '7';
    for (size_t i = start; octal && i < reader->pos; i++)
        octal = reader->code[i] != '8' && reader->code[i] != '9';
    if (char_at(reader, 0) == 'n') {
        reader->pos++;
    } else if (!octal) {
        if (char_at(reader, 0) == '.') {
            reader->pos++;
            read_digits(reader);
        }
        unsigned char sign = char_at(reader, 1), after = char_at(reader, 2);
        bool is_signed = (sign == '+' || sign == '-') && char_class(after) == CHAR_DIGIT;
        if ((char_at(reader, 0) | 0x20) == 'e' && (char_class(sign) == CHAR_DIGIT || is_signed)) {
            reader->pos += 2;
            read_digits(reader);
        }
    }
    if (name_rest(reader, token))
        js_fail(reader);
}

static void read_string(struct js_reader *reader, struct js_token *token)
{
    char quote = reader->code[reader->pos++];

    token->kind = JS_STRING;
    while (reader->pos < reader->len) {
        char c = reader->code[reader->pos];
        if (c == quote) {
            reader->pos++;
            return;
        }
        if (c == '\n' || c == '\r')
            break;
        reader->pos++;
        if (c == '\\' && reader->pos < reader->len && !char_line_end(reader))
            reader->pos++;
    }
    js_fail(reader);
}

/* How many characters the operator has. */
static size_t sign_length(const struct js_reader *reader, unsigned char c)
{
    size_t n = 1, most = c == '>' ? 3 : strchr("<+-*&|?", c) ? 2 : 1;

    if (c == '=' && char_at(reader, 1) == '>')
        return 2;
    while (n < most && char_at(reader, n) == c)
        n++;
    bool counts = (c == '+' || c == '-') && n == 2;
    if (char_at(reader, n) == '=' && !counts && !(c == '?' && n == 1) && c != '~')
        n++;
    if ((c == '=' || c == '!') && n == 2 && char_at(reader, 2) == '=')
        n++;
    return n;
}

static void read_sign(struct js_reader *reader, struct js_token *token)
{
    unsigned char c = char_at(reader, 0);
    size_t n = 1;

    token->kind = JS_SIGN;
    if (c == '.' && char_at(reader, 1) == '.' && char_at(reader, 2) == '.')
        n = 3;
    else if (c == '?' && char_at(reader, 1) == '.' && char_class(char_at(reader, 2)) != CHAR_DIGIT)
        n = 2;
    else if (c && strchr("<>+-*/%&|^!~?=", c)) {
        n = sign_length(reader, c);
        token->infix = !(n == 1 && strchr("!~?", c)) &&
                       !(n == 2 && strchr("+-", c) && char_at(reader, 1) == c) &&
                       !(c == '=' && char_at(reader, 1) == '>');
    } else if (!c || !strchr("{}()[];,:.`", c)) {
        js_fail(reader);
        return;
    }
    for (size_t i = 0; i < n; i++)
        token->sign |= (uint32_t)char_at(reader, i) << 8 * i;
    reader->pos += n;
}

/* Reads the token at the position. */
static void read_token(struct js_reader *reader, bool newline)
{
    struct js_token token = {.kind = JS_END};

    while (skip_one(reader, &newline))
        ;
    token.newline = newline;
    token.start = reader->pos;
    token.line = reader->line;
    unsigned char c = char_at(reader, 0);
    int class = char_class(c);
    if (reader->pos == reader->len)
        ;
    else if (class == CHAR_NAME || class == CHAR_HIGH || c == '\\')
        read_name(reader, &token);
    else if (class == CHAR_DIGIT || (c == '.' && char_class(char_at(reader, 1)) == CHAR_DIGIT))
        read_number(reader, &token);
    else if (c == '"' || c == '\'')
        read_string(reader, &token);
    else if (c == '#') {
        reader->pos++;
        read_name(reader, &token);
        token.kind = JS_PRIVATE;
        token.word = JS_WORD_NONE;
    } else
        read_sign(reader, &token);
    token.end = reader->pos;
    if (reader->unsure)
        js_fail(reader);
    else
        reader->token = token;
}

void js_first(struct js_reader *reader)
{
    if (char_at(reader, 0) == '#' && char_at(reader, 1) == '!') {
        skip_line(reader);
        js_edit(reader, &(struct js_edit){
                            .len = reader->pos, .text = "", .rank = JS_RANK_TEXT, .blank = true});
    }
    read_token(reader, true);
}

void js_next(struct js_reader *reader)
{
    reader->end = reader->token.end;
    read_token(reader, false);
}

struct js_token js_peek(struct js_reader *reader)
{
    struct js_token token = reader->token, ahead;
    size_t pos = reader->pos, line = reader->line, n_edits = reader->n_edits;

    read_token(reader, false);
    ahead = reader->token;
    if (!reader->unsure) {
        reader->token = token;
        reader->pos = pos;
        reader->line = line;
        reader->n_edits = n_edits;
    }
    return ahead;
}

void js_regex(struct js_reader *reader)
{
    bool class = false;

    for (reader->pos = reader->token.start + 1; reader->pos < reader->len; reader->pos++) {
        char c = reader->code[reader->pos];
        if (js_line_end(reader->code, reader->len, reader->pos))
            break;
        if (c == '/' && !class) {
            reader->pos++;
            name_rest(reader, &reader->token);
            reader->token.end = reader->pos;
            js_next(reader);
            return;
        }
        if (c == '\\' && !js_line_end(reader->code, reader->len, reader->pos + 1))
            reader->pos++;
        else if (c == '[' || c == ']')
            class = c == '[';
    }
    js_fail(reader);
}

int js_template_piece(struct js_reader *reader)
{
    while (reader->pos < reader->len) {
        char c = reader->code[reader->pos];
        if (char_line_end(reader))
            continue;
        reader->pos++;
        if (c == '`') {
            reader->token.end = reader->pos;
            return 1;
        }
        if (c == '$' && char_at(reader, 0) == '{') {
            reader->pos++;
            return 2;
        }
        if (c == '\\' && reader->pos < reader->len && !char_line_end(reader))
            reader->pos++;
    }
    js_fail(reader);
    return 0;
}

/* ---- what tokens are ------------------------------------------------------------------------ */

static void spell_character(struct js_text *text, uint32_t value)
{
    char bytes[4];
    size_t n = value < 0x80 ? 1 : value < 0x800 ? 2 : value < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};

    for (size_t i = n; i-- > 1; value >>= 6)
        bytes[i] = (char)(0x80 | (value & 0x3f));
    bytes[0] = (char)(first[n] | value);
    js_text_add(text, bytes, n);
}

void js_spell(struct js_reader *reader, const struct js_token *name, struct js_text *text)
{
    const char *code = reader->code + name->start;
    size_t len = name->end - name->start, n;
    uint32_t value;

    if (!name->escaped) {
        js_text_add(text, code, len);
        return;
    }
    for (size_t i = 0; i < len; i += n) {
        n = escape_length(code + i, len - i, &value);
        if (!n)
            js_text_add(text, code + i, n = 1);
        else if (value < '$' || (value >= 0xd800 && value < 0xe000))
            js_fail(reader);
        else
            spell_character(text, value);
    }
}

bool js_token_is(const struct js_reader *reader, const char *name)
{
    size_t len = strlen(name);

    return reader->token.kind == JS_NAME && reader->token.end - reader->token.start == len &&
           memcmp(reader->code + reader->token.start, name, len) == 0;
}

bool js_is_identifier(const struct js_token *token)
{
    return token->kind == JS_NAME && token->word < JS_WORD_VALUE;
}

void js_take(struct js_reader *reader, uint32_t sign)
{
    if (reader->token.sign == sign)
        js_next(reader);
    else
        js_fail(reader);
}

void js_semicolon(struct js_reader *reader)
{
    const struct js_token *token = &reader->token;

    if (token->sign == ';')
        js_next(reader);
    else if (token->sign != '}' && token->kind != JS_END && !token->newline)
        js_fail(reader);
}
