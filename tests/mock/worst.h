/* SPDX-License-Identifier: MIT */
/* worst.h (mock) - the most expensive messages and texts of a given length for a parser, by
 * name. */
#ifndef LAZ_MOCK_WORST_H
#define LAZ_MOCK_WORST_H

#include <stdbool.h>
#include <stddef.h>

/* The parser that reads it. */
enum worst_kind {
    WORST_MESSAGE,   /* a line of the channel */
    WORST_ARGUMENTS, /* arguments of a tool */
    WORST_ERROR,     /* the text of an error */
    WORST_CODE,      /* code of a language */
    WORST_OUTPUT,    /* printed output */
    WORST_KINDS
};

struct worst_text {
    enum worst_kind kind;
    const char *name;
    const char *head, *unit, *join, *tail; /* the head, as many units as fit, spaces, the tail */
};

extern const struct worst_text
    worst_texts[]; /* the first of each kind is an ordinary one; ends with a row without a name */

const struct worst_text *worst_find(const char *name); /* NULL: there is none */
/* Writes exactly `len` bytes; `id` replaces ^ in the head. False: out of memory. */
bool worst_make(const struct worst_text *text, long long id, char *out, size_t len);

#endif
