/* SPDX-License-Identifier: MIT */
/* json_fields.h - objects of JSON as structs, by tables of their members.
 *
 * The messages of the protocol and the descriptions of plugins are such tables: one reader takes
 * the members into a struct, one writer makes them of it, and documents can be made of a table.
 * The order of the rows is that of the members that are written. */
#ifndef LAZ_BASE_JSON_FIELDS_H
#define LAZ_BASE_JSON_FIELDS_H

#include "base/json_text.h"
#include "base/json_write.h"

/* Members that an object may have, unknown ones included. */
#define LAZ_FIELDS_MOST 64

enum laz_field_kind {
    LAZ_FIELD_IGNORED, /* known, but read by others */
    LAZ_FIELD_TEXT,    /* const char *, and its length where `len_at` is given */
    LAZ_FIELD_PLAIN,   /* a text without escapes, of min to max bytes: points into the JSON text */
    LAZ_FIELD_WORD,    /* uint32_t: what `word` makes of a text; 0: it is none */
    LAZ_FIELD_INTEGER, /* int64_t, from min to max where one of them is given */
    LAZ_FIELD_BOOLEAN, /* bool */
    LAZ_FIELD_TEXTS,   /* struct laz_strv: a list of texts, of which LAZ_FIELD_TEXTS_KEPT are kept
                          unless LAZ_FIELD_ALL is set */
    LAZ_FIELD_PAIRS,   /* struct laz_strv: name, text, name, text of an object */
    LAZ_FIELD_JSON,    /* const char * and its length: points into the JSON text */
    LAZ_FIELD_OBJECT,  /* the struct of `of` */
    LAZ_FIELD_LIST,    /* struct laz_field_list of the struct of `of` */
    LAZ_FIELD_NUMBERS, /* struct laz_field_numbers: integers of at least 0 by name */
    LAZ_FIELD_KINDS,
};

/* What LAZ_FIELD_JSON may be. */
enum laz_field_shape { LAZ_SHAPE_ANY, LAZ_SHAPE_OBJECT, LAZ_SHAPE_OBJECT_OR_NULL, LAZ_SHAPE_LIST };

#define LAZ_FIELD_TEXTS_KEPT 1000

/* Flags of a member. */
#define LAZ_FIELD_REQUIRED    1u  /* an object without it is refused */
#define LAZ_FIELD_CHOICE      2u  /* exactly one of the members with this flag is there */
#define LAZ_FIELD_OMIT        4u  /* is not written when it is 0, false or empty */
#define LAZ_FIELD_BULK        8u  /* may be large: its value can be left out, see `hole` below */
#define LAZ_FIELD_ABSENT_TRUE 16u /* a boolean that is true where it is absent */
#define LAZ_FIELD_ALL         32u /* of texts from a trusted side: all of them are kept */
#define LAZ_FIELD_NULLABLE    64u /* a text that may be null besides */

struct laz_field {
    const char *name;
    enum laz_field_kind kind;
    enum laz_field_shape shape;
    uint32_t flags;
    int64_t min, max;
    size_t at, len_at, has_at;   /* offsets in the struct; len_at, has_at: 0 for none */
    const struct laz_fields *of; /* what it holds; of JSON: read later */
    uint32_t (*word)(const char *text);
    uint32_t remote;   /* of a protocol that has callers elsewhere: enum laz_remote (options.h) */
    const char *wrong; /* for the message when it is ill-typed or missing; NULL: usual */
    const char *help;
};

/* An object, or a message. */
struct laz_fields {
    const char *name;  /* "a rule of Landlock", for messages of errors */
    const char *title; /* of a message: "message 'ready'"; NULL: as the name */
    size_t size;       /* of its struct */
    const struct laz_field *items;
    size_t n;
    bool is_closed;      /* an unknown member is an error: it must not be ignored */
    bool is_lenient;     /* an ill-typed member is taken as absent, an integer as 0 */
    bool null_is_absent; /* of a member that need not be there */
    const char *help;
};

/* A list of objects; `items` is an array of the struct of their kind. */
struct laz_field_list {
    void *items;
    size_t n;
};

/* An object of numbers by name. */
struct laz_field_number {
    const char *name;
    int64_t value;
};

struct laz_field_numbers {
    struct laz_field_number *items;
    size_t n;
};

/* ---- reading -------------------------------------------------------------------------------- */

/* What is wrong with a text, for the caller's sentence. */
struct laz_fields_problem {
    enum {
        LAZ_WRONG_TYPE, /* of `field` */
        LAZ_WRONG_MISSING,
        LAZ_WRONG_ENTRY,    /* `key` of the numbers or pairs of `field` */
        LAZ_WRONG_UNKNOWN,  /* `key` of a closed object */
        LAZ_WRONG_CHOICE,   /* none or several of the members with LAZ_FIELD_CHOICE */
        LAZ_WRONG_TOO_MANY, /* members */
        LAZ_WRONG_NO_OBJECT,
        LAZ_WRONG_NO_LIST,
    } what;
    const struct laz_fields *object; /* the innermost */
    const struct laz_field *field;   /* the innermost; NULL: the whole text */
    const char *key;                 /* as it is written in the text */
    size_t key_len;
};

/* All of these return 0, LAZ_ENOMEM, or LAZ_EPARSE and fill *wrong. The text was scanned, or comes
 * from a trusted side.
 *
 * Takes members that were found (json_text.h) into the struct `out`, which is zeroed before.
 * What it got so far is the caller's to free by laz_fields_free, also after an error. */
int laz_fields_take(const struct laz_fields *fields, const struct laz_json_found *found, size_t n,
                    void *out, struct laz_fields_problem *wrong);
/* Nothing is left to free after an error. A list has a zeroed item behind its last one. */
int laz_fields_read(const struct laz_fields *fields, const char *raw, size_t len, void *out,
                    struct laz_fields_problem *wrong);
int laz_fields_read_list(const struct laz_fields *fields, const char *raw, size_t len,
                         struct laz_field_list *list, struct laz_fields_problem *wrong);
/* Frees what was read, and zeroes the struct. */
void laz_fields_free(const struct laz_fields *fields, void *out);
void laz_fields_free_list(const struct laz_fields *fields, struct laz_field_list *list);

/* ---- writing -------------------------------------------------------------------------------- */

/* Writes an object, as the member `key` or (NULL) as an item or by itself. A text or JSON that is
 * NULL is left out, and so is a member whose `has` flag is false; everything else is written,
 * unless its row says LAZ_FIELD_OMIT. */
void laz_fields_add(struct laz_json_write *write, const char *key, const struct laz_fields *fields,
                    const void *from);
/* Writes the members only. `hole`: the value of the member with LAZ_FIELD_BULK is left out, and
 * *hole is where it belongs in the buffer; NULL: it is written. */
void laz_fields_add_members(struct laz_json_write *write, const struct laz_fields *fields,
                            const void *from, size_t *hole);

#endif
