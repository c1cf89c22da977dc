/* SPDX-License-Identifier: MIT */
/* edit_private.h - what the editors of JSON and TOML share. Private to this directory. */
#ifndef LAZ_EDIT_EDIT_PRIVATE_H
#define LAZ_EDIT_EDIT_PRIVATE_H

#include "edit/edit.h"

/* A member that the entry shall have: a text, a list of texts, or a number. */
struct edit_member {
    const char *name;
    const char *text;             /* NULL: it is none */
    const struct laz_strv *texts; /* likewise */
    int64_t number;
    bool stays; /* where it is there already it stays as it is */
};

#define EDIT_MEMBERS 4

/* Appends the value of a member; `quote` appends a string. */
void edit_value(struct laz_buf *out, const struct edit_member *member,
                void (*quote)(struct laz_buf *out, const char *text, size_t len));

int edit_json(const struct laz_edit_client *client, const struct edit_member *members, size_t n,
              struct laz_buf *text, struct laz_error *err);
int edit_toml(const struct laz_edit_client *client, const struct edit_member *members, size_t n,
              struct laz_buf *text, struct laz_error *err);

/* Replaces bytes of the text, and empties `with`. False: out of memory. */
bool edit_splice(struct laz_buf *text, size_t from, size_t to, struct laz_buf *with);
/* "\r\n" if the first line of the text ends so, else "\n". */
const char *edit_newline(const struct laz_buf *text);
/* Where the line of a position begins, behind a byte order mark; and its indentation ends, at most
 * at the position. */
size_t edit_line(const struct laz_buf *text, size_t at);
size_t edit_indent(const struct laz_buf *text, size_t at);
/* Where the text of the line ends, before its newline. */
size_t edit_line_end(const struct laz_buf *text, size_t at);

#endif
