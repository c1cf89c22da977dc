/* SPDX-License-Identifier: MIT */
/* fields.h - reads an object of a description into a struct, by a table of its members. */
#ifndef LAZ_PLUGIN_FIELDS_H
#define LAZ_PLUGIN_FIELDS_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

enum laz_field_kind {
    LAZ_FIELD_OTHER,  /* read by `read`; without it the value is ignored */
    LAZ_FIELD_TEXT,   /* const char *, a new string */
    LAZ_FIELD_FLAG,   /* bool */
    LAZ_FIELD_NUMBER, /* int64_t, from 1 on */
    LAZ_FIELD_LIST,   /* struct laz_strv */
    LAZ_FIELD_PAIRS,  /* struct laz_strv: key, text, key, text of an object */
    LAZ_FIELD_TABLE,  /* the struct itself, by `fields` */
};

struct laz_fields_source;

struct laz_field {
    const char *key;
    enum laz_field_kind kind;
    size_t offset;
    bool required;                  /* if not, a missing member leaves zeros */
    const struct laz_field *fields; /* of a table; ends with key NULL */
    /* `node` is NULL when the member is missing. */
    int (*read)(const struct laz_fields_source *source, const struct laz_json *node, void *into);
};

/* Rows of a table: a member of struct TYPE under its own name, one that is read elsewhere, the end.
 */
#define LAZ_FIELD(type, is, name, must)                                                            \
    {                                                                                              \
        .key = #name, .kind = LAZ_FIELD_##is, .offset = offsetof(struct type, name),               \
        .required = must                                                                           \
    }
#define LAZ_FIELD_KEY(name)                                                                        \
    {                                                                                              \
        .key = name                                                                                \
    }
#define LAZ_FIELD_END                                                                              \
    {                                                                                              \
        .key = NULL                                                                                \
    }

struct laz_fields_source {
    const char *file;   /* of the JSON text, for messages */
    const char *remedy; /* the end of messages: "; make the file again ..." */
    struct laz_error *err;
};

/* Sets the error "FILE: KEY: expected WHAT" and the remedy. Returns LAZ_EPLUGIN. */
int laz_fields_wrong(const struct laz_fields_source *source, const char *key, const char *expected);
/* Reads a description of that kind into a struct. LAZ_EPLUGIN, LAZ_ENOMEM. The caller frees what
 * was read with laz_fields_free, also after an error. */
int laz_fields_parse(const char *json, size_t len, const struct laz_fields_source *source,
                     const char *kind, const struct laz_field *fields, void *into);
/* Reads the members of an object. An unknown key and a value of another type are errors,
 * LAZ_EPLUGIN. The caller frees what was read with laz_fields_free, also after an error. */
int laz_fields_read(const struct laz_fields_source *source, const struct laz_json *object,
                    const struct laz_field *fields, void *into);
void laz_fields_free(const struct laz_field *fields, void *from);

#endif
