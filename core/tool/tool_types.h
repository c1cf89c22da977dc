/* SPDX-License-Identifier: MIT */
/* tool_types.h - types of parameters and the values that they accept. Private to tool*.c. */
#ifndef LAZ_TOOL_TOOL_TYPES_H
#define LAZ_TOOL_TOOL_TYPES_H

#include "tool/tools.h"

/* A word for a type, the JSON Schema type that it stands for, and the forms of values that it
 * accepts (bits, private to tool_arguments.c). */
struct laz_type_word {
    const char *word;
    enum laz_type type;
    uint32_t accepts;
};

const struct laz_type_word *laz_type_word_find(const char *word); /* NULL: no such word */
/* Appends all words, for messages: "string, number, ...". */
void laz_type_words(struct laz_buf *text);
/* True if the parameter accepts exactly the values of its JSON Schema type; `list` and `data.frame`
 * accept more. */
bool laz_type_is_plain(const struct laz_tool_parameter *parameter);
/* The name of the type in JSON Schema; "" for LAZ_TYPE_ANY. Static text. */
const char *laz_type_name(enum laz_type type);

/* Checks one raw JSON value (`len` bytes) against type and enumeration, and appends it to `checked`
 * on one line. `what` names the value in messages ("argument", "the default of"). LAZ_EINVAL,
 * LAZ_ENOMEM. */
int laz_tool_check_value(const char *tool, const struct laz_tool_parameter *parameter,
                         const char *what, const char *raw, size_t len, struct laz_buf *checked,
                         struct laz_error *err);

#endif
