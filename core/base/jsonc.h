/* SPDX-License-Identifier: MIT */
/* jsonc.h - JSON as people write it into files of configuration: with comments, commas behind the
 * last item, and a byte order mark.
 *
 * The text is checked and not converted: what is found are positions in it, for a program that
 * changes one value and leaves every other byte as it is. */
#ifndef LAZ_BASE_JSONC_H
#define LAZ_BASE_JSONC_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define LAZ_JSONC_MAX_DEPTH 64

/* What a path of keys leads to. All positions are bytes of the text. */
struct laz_jsonc_place {
    bool found;
    bool is_object;
    size_t key;      /* of a member: the quote before its key */
    size_t from, to; /* the value */
    /* of an object */
    size_t n;        /* its members */
    size_t last_key; /* the key of the last one */
    size_t last_to;  /* where its value ends */
    size_t comma_to; /* where the comma behind it ends; 0: there is none */
    size_t
        comments_to; /* where the last comment in the object ends, outside of its values; 0: none */
};

/* Checks the whole text, and finds what the first 0, 1, ... n keys of the path (ASCII) lead to:
 * places[0] to places[n]. In a text of white space and comments nothing is found. LAZ_EPARSE:
 * "LINE:COLUMN: what is wrong"; also where a key of the path is there twice, because programs do
 * not agree on which of them counts. */
int laz_jsonc_find(const char *text, size_t len, const char *const *path, size_t n,
                   struct laz_jsonc_place *places, struct laz_error *err);
/* Appends a value that was checked as JSON: without comments, white space and last commas. */
void laz_jsonc_plain(struct laz_buf *buf, const char *text, size_t len);
/* Skips white space and comments; *comment_to, unless NULL, is set to the end of the last comment.
 * A comment that does not end is not skipped. */
size_t laz_jsonc_gap(const char *text, size_t len, size_t at, size_t *comment_to);
/* The line and the column, from 1 and in characters, of a position. */
void laz_jsonc_position(const char *text, size_t at, unsigned *line, unsigned *column);

#endif
