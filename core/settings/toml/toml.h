/* SPDX-License-Identifier: MIT */
/* toml.h - reading TOML 1.0 into a tree in which every node knows where it was written.
 *
 * A document owns all of its nodes and texts and never changes after it was parsed (but for
 * is_secret, before it is shared), so it may be shared by threads; it is freed with its last
 * reference.  Sizes and depth are limited. */
#ifndef LAZ_SETTINGS_TOML_TOML_H
#define LAZ_SETTINGS_TOML_TOML_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json_write.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAZ_TOML_MAX_SIZE     ((size_t)1 << 20) /* bytes of a file */
#define LAZ_TOML_MAX_DEPTH    64                /* nesting of tables and arrays */
#define LAZ_TOML_MAX_PROBLEMS 100               /* of one document; further ones are discarded */

enum laz_toml_type {
    LAZ_TOML_TABLE,
    LAZ_TOML_ARRAY,
    LAZ_TOML_STRING,
    LAZ_TOML_INTEGER,
    LAZ_TOML_FLOAT,
    LAZ_TOML_BOOLEAN,
    LAZ_TOML_DATETIME,       /* an instant: with an offset */
    LAZ_TOML_LOCAL_DATETIME, /* the other three have no offset */
    LAZ_TOML_LOCAL_DATE,
    LAZ_TOML_LOCAL_TIME,
};

struct laz_toml_node {
    enum laz_toml_type type;
    uint32_t line, column; /* of the value, or of the header of a table; from 1, in characters */
    uint32_t key_line, key_column;
    size_t from, to; /* the bytes of the value, or of the header of a table, in the document; of a
                        table that neither has, `to` is 0 */
    size_t key_from; /* where the key begins; of a dotted one its last part */
    const char *key; /* NULL for items of arrays and for the root */
    size_t key_len;
    struct laz_toml_node *first, *last, *next; /* children in the order of the file; sibling */
    size_t n;                                  /* number of children */
    union {
        int64_t integer;
        double number;
        bool boolean;
    };
    const char *text; /* strings: decoded, NUL-terminated, may contain NUL; dates and times:
                         RFC 3339 with "T" and "Z" */
    size_t len;
    const struct laz_toml *toml; /* the document it is part of */
    uint32_t flags;              /* private to the parser */
    bool is_secret;              /* its value is not shown (core/settings) */
    uint32_t depth;              /* the root has 0 */
};

struct laz_toml_problem {
    uint32_t line, column;
    char *text; /* a sentence without position */
};

struct laz_toml {
    char *name; /* for messages: a file's name, "--set", "default" */
    struct laz_toml_node *root;
    struct laz_toml_problem *problems;
    size_t n_problems;
    bool failed;               /* an allocation failed: problems are missing */
    bool has_lines;            /* false: positions within it mean nothing to a user */
    struct toml_block *memory; /* what nodes and texts live in */
    _Atomic uint32_t refs;
};

/* Reads a document. Borrows `text`, copies `name`. With LAZ_EPARSE *toml is set as well: it has the
 * problems, and the tree of what could be read. With LAZ_ETOOBIG and LAZ_ENOMEM it is not set. The
 * caller frees it with laz_toml_free. */
int laz_toml_parse(const char *text, size_t len, const char *name, struct laz_toml **toml,
                   struct laz_error *err);
/* Reads a key ("a.b") and a value, two separate texts, as if they were one line `key = value`;
 * nothing else may be in either. `key` NULL: the key "value". */
int laz_toml_parse_pair(const char *key, const char *value, const char *name,
                        struct laz_toml **toml, struct laz_error *err);
void laz_toml_ref(struct laz_toml *toml);  /* adds a reference; any thread */
void laz_toml_free(struct laz_toml *toml); /* drops one reference; NULL is allowed */

/* The child of a table with this key; NULL: none, or not a table. */
struct laz_toml_node *laz_toml_get(const struct laz_toml_node *table, const char *key);
/* Adds to `table` a copy of `node`, which shares its children; both documents must be kept. Only
 * while `toml`, the table's document, is not shared yet. False: out of memory. */
bool laz_toml_adopt(struct laz_toml *toml, struct laz_toml_node *table,
                    const struct laz_toml_node *node);
/* How a table or a list was made. */
enum laz_toml_made {
    LAZ_TOML_IMPLIED, /* by headers of what is in it, or it is the root */
    LAZ_TOML_HEADED,  /* by a [header] or [[headers]] */
    LAZ_TOML_DOTTED,  /* by dotted keys */
    LAZ_TOML_WRITTEN, /* as a value */
};
enum laz_toml_made laz_toml_made(const struct laz_toml_node *node);
/* Is it a string without NUL characters? Is it this string? */
bool laz_toml_is_text(const struct laz_toml_node *node);
bool laz_toml_is(const struct laz_toml_node *node, const char *text);
/* May the byte stand in a key without quotes: a letter, a digit, '_' or '-'? */
bool laz_toml_is_bare(int c);

/* Adds a problem that a reader of the tree has found. Only while `toml` is not shared yet. */
void laz_toml_add_problem(struct laz_toml *toml, uint32_t line, uint32_t column, const char *format,
                          ...) LAZ_PRINTF(4, 5);
/* Appends "FILE:LINE:COL: " (unless the document has no lines) and the problem. */
void laz_toml_format_problem(struct laz_buf *buf, const struct laz_toml *toml, size_t index);
/* For messages: the type and, of short scalars, the value: `string "abc"`, "integer 5". */
void laz_toml_describe(struct laz_buf *buf, const struct laz_toml_node *node);
/* The value in TOML notation on one line, with inline tables; LAZ_TOML_HIDDEN for a secret one. */
void laz_toml_format(struct laz_buf *buf, const struct laz_toml_node *node);
/* The same as JSON ({"secret": "set"} for a secret one); what JSON lacks (dates, times, numbers
 * that are not finite) is a string. */
void laz_toml_json(struct laz_json_write *write, const char *key, const struct laz_toml_node *node);
#define LAZ_TOML_HIDDEN "{ secret = \"set\" }"
/* Is it that, read from a text that was shown? */
bool laz_toml_is_hidden(const struct laz_toml_node *node);
void laz_toml_format_string(struct laz_buf *buf, const char *text, size_t len);
void laz_toml_format_key(struct laz_buf *buf, const char *key, size_t len); /* bare or quoted */
/* "FILE:LINE:COL", or the name alone for a document without lines. */
void laz_toml_position(struct laz_buf *buf, const struct laz_toml *toml, uint32_t line,
                       uint32_t column);

#endif
