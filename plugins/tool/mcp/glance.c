/* SPDX-License-Identifier: MIT */
/* glance.c - which request a message answers that cannot be read: too long, nested too deeply, with
 * a key twice, a number out of range.
 *
 * It follows strings and brackets and nothing else, in pieces of any size and in constant memory,
 * so that it also sees an id behind what was skipped.  It never guesses: a message whose id is not
 * plain names no request, because the call of one session must not fail by the answer to another.
 * Side: host.  Input trusted: no (a server's bytes). */
#include "mcp_private.h"

#include <string.h>

static void glance_note(struct mcp_glance *glance, char c)
{
    if (glance->n < sizeof glance->text)
        glance->text[glance->n] = c;
    glance->n += glance->n <= sizeof glance->text;
}

static bool glance_has(const struct mcp_glance *glance, const char *text)
{
    return glance->n == strlen(text) && memcmp(glance->text, text, glance->n) == 0;
}

static bool glance_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The value of `id` ends here. A string is none of ours: its quotes are not digits. */
static void glance_end_value(struct mcp_glance *glance)
{
    struct mcp_raw value = {glance->text, glance->n};

    if (!glance->in_id)
        return;
    glance->in_id = false;
    while (value.len && value.len <= sizeof glance->text &&
           glance_is_space(value.text[value.len - 1]))
        value.len--;
    if (value.len > sizeof glance->text || !mcp_integer(value, &glance->id))
        glance->id = 0;
}

/* A character of the message itself, outside of strings and of inner values. */
static void glance_mark(struct mcp_glance *glance, char c)
{
    if (c == ':' && glance->is_name) {
        glance->is_name = false;
        glance->in_id = glance_has(glance, "id");
        glance->ids += glance->in_id && glance->ids < 2;
        glance->has_method |= glance_has(glance, "method");
        glance->n = 0;
    } else if (c == ',' || c == '}') {
        glance_end_value(glance);
        glance->is_name = c == ',';
        glance->n = 0;
    } else if ((glance->in_id && glance->n) || !glance_is_space(c)) {
        glance_note(glance, c);
    }
}

void mcp_glance_add(struct mcp_glance *glance, const char *data, size_t len)
{
    for (size_t i = 0; i < len && !glance->is_over; i++) {
        const char c = data[i];
        if (glance->in_string) {
            glance->in_string = glance->is_escaped || c != '"';
            glance->is_escaped = !glance->is_escaped && c == '\\';
            if (glance->depth == 1 && (glance->in_string || !glance->is_name))
                glance_note(glance, c);
            continue;
        }
        glance->in_string = c == '"';
        if (c == '{' || c == '[')
            glance->is_name |= glance->depth++ == 0;
        else if (glance->depth == 1 && !(glance->is_name && glance->in_string))
            glance_mark(glance, c);
        if ((c == '}' || c == ']') && glance->depth)
            glance->is_over = --glance->depth == 0;
    }
}

int64_t mcp_glance_id(const struct mcp_glance *glance)
{
    return glance->ids == 1 && !glance->has_method ? glance->id : 0;
}
