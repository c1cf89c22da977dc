/* SPDX-License-Identifier: MIT */
/* edit_private.h - what the editors of JSON and TOML share. Private to this directory. */
#ifndef LAZ_EDIT_EDIT_PRIVATE_H
#define LAZ_EDIT_EDIT_PRIVATE_H

#include "edit/edit.h"

enum edit_kind { EDIT_TEXT, EDIT_TEXTS, EDIT_NUMBER };

/* A member that the entry shall have. */
struct edit_member {
    const char *name;
    enum edit_kind kind;
    const char *text;
    const struct laz_strv *texts;
    int64_t number;
    bool stays; /* where it is there already it stays as it is */
};

#define EDIT_MEMBERS 4

/* The members of the entry, in order; returns how many. */
size_t edit_members(const struct laz_edit_client *client, const struct laz_edit_program *program,
                    struct edit_member members[EDIT_MEMBERS]);

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
