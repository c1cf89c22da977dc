/* SPDX-License-Identifier: MIT */
/* fields.c - the words of a head of HTTP/1.
 * Side: host, and the proxy.  Input trusted: no, but stream.c has made sure that lines end with CR
 * LF, and that there is no other CR or LF and no NUL. */
#include "http/http.h"

#include <string.h>

static char fields_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool laz_http_is(struct laz_http_text text, const char *word)
{
    size_t i = 0;

    while (i < text.len && word[i] && fields_lower(text.text[i]) == word[i])
        i++;
    return i == text.len && !word[i];
}

bool laz_http_is_token(struct laz_http_text text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = fields_lower(text.text[i]);
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') &&
            !(c && strchr("!#$%&'*+-.^_`|~", c)))
            return false;
    }
    return text.len > 0;
}

bool laz_http_is_visible(struct laz_http_text text, bool may_space)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.text[i];
        if (c == 127 || (c < 0x20 && !(c == '\t' && may_space)) || (c == ' ' && !may_space))
            return false;
    }
    return true;
}

struct laz_http_text laz_http_cut(struct laz_http_text *from, char at)
{
    const char *found = from->len ? memchr(from->text, at, from->len) : NULL;
    struct laz_http_text part = {from->text, found ? (size_t)(found - from->text) : from->len};
    size_t used = part.len + (found ? 1 : 0);

    from->text += used;
    from->len -= used;
    return part;
}

struct laz_http_text laz_http_line(struct laz_http_text *from)
{
    struct laz_http_text line = laz_http_cut(from, '\n');

    line.len -= line.len > 0; /* its CR */
    return line;
}

static bool fields_is_space(char c)
{
    return c == ' ' || c == '\t';
}

struct laz_http_text laz_http_trim(struct laz_http_text text)
{
    while (text.len && fields_is_space(text.text[0])) {
        text.text++;
        text.len--;
    }
    while (text.len && fields_is_space(text.text[text.len - 1]))
        text.len--;
    return text;
}

const char *laz_http_field(struct laz_http_text line, struct laz_http_text *name,
                           struct laz_http_text *value)
{
    *value = line;
    *name = laz_http_cut(value, ':');
    if (line.len && fields_is_space(line.text[0]))
        return "a field is folded over lines";
    if (name->len == line.len || !laz_http_is_token(*name) || !laz_http_is_visible(*value, true))
        return "a field is malformed";
    *value = laz_http_trim(*value);
    return NULL;
}

const char *laz_http_length(struct laz_http_text value, uint64_t *length)
{
    *length = 0;
    for (size_t i = 0; i < value.len; i++) {
        if (value.text[i] < '0' || value.text[i] > '9' || i > 17)
            return "the Content-Length is not one number";
        *length = *length * 10 + (uint64_t)(value.text[i] - '0');
    }
    return value.len ? NULL : "the Content-Length is empty";
}

const char *laz_http_trailer(struct laz_http_text line)
{
    static const char *const refused[] = {"host", "content-length", "transfer-encoding"};
    struct laz_http_text name, value;
    const char *why = laz_http_field(line, &name, &value);

    for (size_t i = 0; i < sizeof refused / sizeof *refused && !why; i++)
        if (laz_http_is(name, refused[i]))
            why = "a trailer says what belongs into the head";
    return why;
}
