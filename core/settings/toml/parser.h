/* SPDX-License-Identifier: MIT */
/* parser.h - what the files of the TOML reader share. Private to this directory.
 *
 * Functions that read return false after they have added a problem; the rest of the statement is
 * then skipped. */
#ifndef LAZ_SETTINGS_TOML_PARSER_H
#define LAZ_SETTINGS_TOML_PARSER_H

#include "settings/toml/toml.h"

/* How a table or array was made, which decides what may still be added to it. */
#define TOML_HEADER (1u << 0) /* table: named by a [header]; array: made by [[headers]] */
#define TOML_DOTTED (1u << 1) /* table: made by a dotted key */
#define TOML_CLOSED (1u << 2) /* written as a value: { } or [ ] */

struct toml_slot {
    const struct laz_toml_node *table;
    struct laz_toml_node *child;
    uint64_t hash;
};

struct toml_parser {
    const char *text;
    size_t len, at;
    uint32_t line, column;
    struct laz_toml *toml;
    struct laz_toml_node *current; /* the table that keys are put into */
    struct laz_buf scratch;        /* the string or key being decoded */
    struct toml_slot *slots;       /* every key of the document, by table and name */
    size_t n_slots, used_slots;    /* n_slots is a power of two */
    bool nomem;
    char found[64]; /* see toml_found */
    bool lost;      /* it is not known where the next statement begins: reading ends */
};

struct toml_mark {
    uint32_t line, column;
    size_t at;
};

/* tree.c: memory, nodes, problems */
void *toml_alloc(struct laz_toml *toml, size_t size); /* zeroed; NULL: out of memory */
const char *toml_keep(struct toml_parser *p, const char *text, size_t len);
struct laz_toml_node *toml_node(struct toml_parser *p, enum laz_toml_type type,
                                struct toml_mark mark, uint32_t depth);
bool toml_problem(struct toml_parser *p, struct toml_mark mark, const char *format, ...)
    LAZ_PRINTF(3, 4);                       /* always false */
bool toml_no_memory(struct toml_parser *p); /* always false */

/* lex.c: characters, strings, keys */
static inline int toml_peek(const struct toml_parser *p)
{
    return p->at < p->len ? (unsigned char)p->text[p->at] : -1;
}
static inline int toml_peek_at(const struct toml_parser *p, size_t ahead)
{
    return ahead < p->len - p->at ? (unsigned char)p->text[p->at + ahead] : -1;
}
static inline struct toml_mark toml_here(const struct toml_parser *p)
{
    return (struct toml_mark){p->line, p->column, p->at};
}
void toml_skip(struct toml_parser *p, size_t n); /* skips n bytes; keeps line and column right */
void toml_space(struct toml_parser *p);          /* skips spaces and tabs */
bool toml_comment(
    struct toml_parser *p); /* skips a comment, if one begins here, up to its newline */
bool toml_is_newline(const struct toml_parser *p); /* "\n" or "\r\n" */
bool toml_newline(struct toml_parser *p); /* skips a newline; false if there is none here */
bool toml_line_end(
    struct toml_parser *p); /* skips space and a comment, then a newline or the end */
const char *toml_found(struct toml_parser *p); /* what is at the cursor, for one message */
/* Decodes a string of any of the four kinds into p->scratch. */
bool toml_string(struct toml_parser *p);
/* Decodes one part of a key into p->scratch; it is bare, "basic" or 'literal'. */
bool toml_key_part(struct toml_parser *p);

/* table.c: tables and the rules of redefinition */
void toml_append(struct laz_toml_node *parent, struct laz_toml_node *child);
/* Reads `key = value` into `table`. */
bool toml_pair(struct toml_parser *p, struct laz_toml_node *table);
/* Reads a dotted key, starting from `table`: *owner is the table for the last part, which is in
 * p->scratch. */
bool toml_dotted_key(struct toml_parser *p, struct laz_toml_node *table,
                     struct laz_toml_node **owner, struct toml_mark *last);
/* Reads [table] or [[array]] and sets p->current. */
bool toml_header(struct toml_parser *p);

/* value.c, number.c: values. *node is a new node without a key. */
bool toml_value(struct toml_parser *p, uint32_t depth, struct laz_toml_node **node);
bool toml_number_or_date(struct toml_parser *p, uint32_t depth, struct laz_toml_node **node);

#endif
