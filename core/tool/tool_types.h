/* SPDX-License-Identifier: MIT */
/* tool_types.h - types of parameters and the forms of values they accept. Private to tool*.c. */
#ifndef LAZ_TOOL_TOOL_TYPES_H
#define LAZ_TOOL_TOOL_TYPES_H

#include "tool/tools.h"

/* A word an author may write for a type, what it is in JSON Schema's words, and the forms of
 * values that fit (bits, private to tool_arguments.c). */
struct laz_type_word {
    const char *word;
    enum laz_type type;
    uint32_t accepts;
};

const struct laz_type_word *laz_type_word_find(const char *word); /* NULL: no such word */
/* All words, for messages: "string, number, ...". Appended. */
void laz_type_words(struct laz_buf *text);
/* Does the parameter accept just what its type in JSON Schema's words says? `list` and `data.frame`
 * accept more. */
bool laz_type_is_plain(const struct laz_tool_parameter *parameter);
/* The word of JSON Schema; "" for LAZ_TYPE_ANY. Static text. */
const char *laz_type_name(enum laz_type type);

/* Checks one raw value against type and enumeration and appends it, on one line. `what` says which
 * part of the tool it is, for the message ("argument", "default of"). LAZ_EINVAL, LAZ_ENOMEM. */
int laz_tool_check_value(const char *tool, const struct laz_tool_parameter *parameter,
                         const char *what, const char *raw, size_t len, struct laz_buf *checked,
                         struct laz_error *err);

#endif
