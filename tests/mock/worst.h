/* SPDX-License-Identifier: MIT */
/* worst.h (mock) - messages and texts of a given length that cost a parser most, by name. */
#ifndef LAZ_MOCK_WORST_H
#define LAZ_MOCK_WORST_H

#include <stdbool.h>
#include <stddef.h>

/* What reads it. */
enum worst_kind {
    WORST_MESSAGE,   /* a line of the channel */
    WORST_ARGUMENTS, /* arguments of a tool */
    WORST_ERROR,     /* the text of an error */
    WORST_CODE,      /* code of a language */
    WORST_OUTPUT,    /* bytes that are printed */
    WORST_KINDS
};

struct worst_text {
    enum worst_kind kind;
    const char *name;
    const char *head, *unit, *join, *tail; /* the head, as many units as fit, spaces, the tail */
};

extern const struct worst_text
    worst_texts[]; /* of each kind an ordinary one first; ends: no name */

const struct worst_text *worst_find(const char *name); /* NULL: there is none */
/* Writes exactly `len` bytes; `id` stands for ^ in the head. False: without memory. */
bool worst_make(const struct worst_text *text, long long id, char *out, size_t len);

#endif
