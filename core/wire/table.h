/* SPDX-License-Identifier: MIT */
/* table.h - the protocol as data: messages, their members, and the objects inside of them.
 * Side: host and agent.  Input trusted: no.
 *
 * One table serves all: table_read.c reads by it, table_make.c writes by it, and document.c makes
 * the page and the JSON Schema of it.  The order of the rows is the order on the wire. */
#ifndef LAZ_WIRE_TABLE_H
#define LAZ_WIRE_TABLE_H

#include "base/json_members.h"
#include "base/json_write.h"
#include "wire/message.h"

enum laz_wire_kind {
    LAZ_KIND_TEXT,    /* const char *, and its length where `len_at` is given */
    LAZ_KIND_PLAIN,   /* a text without escapes, of min to max bytes: points into the line */
    LAZ_KIND_INTEGER, /* int64_t, from min to max where one of them is given */
    LAZ_KIND_BOOLEAN, /* bool */
    LAZ_KIND_TEXTS,   /* struct laz_strv: a list of texts, of which LAZ_WIRE_TEXTS_KEPT are kept
                         unless LAZ_WIRE_ALL is set */
    LAZ_KIND_JSON,    /* const char * and its length: points into the line */
    LAZ_KIND_OBJECT,  /* the struct of `of` */
    LAZ_KIND_LIST,    /* struct laz_wire_list of the struct of `of` */
    LAZ_KIND_NUMBERS, /* struct laz_wire_numbers: integers of at least 0 by name */
    LAZ_KINDS,
};

/* What LAZ_KIND_JSON may be. */
enum laz_wire_shape { LAZ_SHAPE_ANY, LAZ_SHAPE_OBJECT, LAZ_SHAPE_OBJECT_OR_NULL, LAZ_SHAPE_LIST };

#define LAZ_WIRE_TEXTS_KEPT 1000

/* Flags of a member. */
#define LAZ_WIRE_REQUIRED    1u  /* a reader refuses the message without it */
#define LAZ_WIRE_CHOICE      2u  /* exactly one of the members with this flag is there */
#define LAZ_WIRE_OMIT        4u  /* a maker leaves it out when it is 0, false or empty */
#define LAZ_WIRE_BULK        8u  /* may be large: laz_message_make_around leaves it out */
#define LAZ_WIRE_ABSENT_TRUE 16u /* a boolean that is true where it is absent */
#define LAZ_WIRE_ALL         32u /* of texts from a trusted side: all of them are kept */

struct laz_wire_object;

struct laz_wire_member {
    const char *name;
    enum laz_wire_kind kind;
    enum laz_wire_shape shape;
    uint32_t flags;
    int64_t min, max;
    size_t at, len_at, has_at;        /* offsets in the struct; len_at, has_at: 0 for none */
    const struct laz_wire_object *of; /* what it holds; of JSON: read later */
    const char *wrong;                /* the message when it is ill-typed or missing; NULL: usual */
    const char *help;
};

struct laz_wire_object {
    const char *name;  /* "a rule of Landlock", for messages of errors */
    const char *title; /* of a message: "message 'ready'"; NULL: as the name */
    size_t size;       /* of its struct */
    const struct laz_wire_member *members;
    size_t n;
    bool is_closed;  /* an unknown member is an error: it must not be ignored */
    bool is_lenient; /* an ill-typed member is taken as absent, an integer as 0 */
    const char *help;
};

enum laz_wire_direction { LAZ_WIRE_TO_HOST, LAZ_WIRE_TO_AGENT };

struct laz_wire_row {
    const char *type; /* NULL: it has none, and is known by that */
    enum laz_wire_direction direction;
    uint32_t states;   /* in which it is legal */
    const char *legal; /* the same in words */
    struct laz_wire_object object;
};

extern const struct laz_wire_row laz_wire_table[LAZ_MESSAGE_TYPES];
extern const struct laz_wire_object laz_wire_options, laz_wire_confine, laz_wire_landlock,
    laz_wire_rule, laz_wire_tool, laz_wire_parameter, laz_wire_status;

/* ---- table_read.c --------------------------------------------------------------------------- */

/* Takes members that were found (json_members.h) into the struct `out`, which is zeroed before.
 * What it got so far is the caller's to free by laz_wire_free, also after an error. */
int laz_wire_take(const struct laz_wire_object *object, const struct laz_json_found *found,
                  size_t n, void *out, struct laz_error *err);
/* An object in checked or trusted text; nothing is left to free after an error. */
int laz_wire_read(const struct laz_wire_object *object, const char *raw, size_t len, void *out,
                  struct laz_error *err);
int laz_wire_read_list(const struct laz_wire_object *object, const char *raw, size_t len,
                       struct laz_wire_list *list, struct laz_error *err);
void laz_wire_free(const struct laz_wire_object *object, void *out);
void laz_wire_free_list(const struct laz_wire_object *object, struct laz_wire_list *list);

/* ---- table_make.c --------------------------------------------------------------------------- */

/* Writes an object, as the member `key` or (NULL) as an item or by itself. */
void laz_wire_add(struct laz_json_write *write, const char *key,
                  const struct laz_wire_object *object, const void *from);
void laz_wire_add_list(struct laz_json_write *write, const char *key,
                       const struct laz_wire_object *object, const struct laz_wire_list *list);
/* Writes the members only. `hole`: the value of the member with LAZ_WIRE_BULK is left out, and
 * *hole is where it belongs in the buffer; NULL: it is written. */
void laz_wire_add_members(struct laz_json_write *write, const struct laz_wire_object *object,
                          const void *from, size_t *hole);

#endif
