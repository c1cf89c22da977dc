/* SPDX-License-Identifier: MIT */
/* fields.h - reads a description of a plugin into a struct, by a table of its members. */
#ifndef LAZ_PLUGIN_FIELDS_H
#define LAZ_PLUGIN_FIELDS_H

#include "base/error.h"
#include "base/json_fields.h"

/* Rows of a table: a member of struct TYPE under its own name, and one that is read elsewhere. */
#define LAZ_FIELD(type, is, field, must)                                                           \
    {                                                                                              \
        .name = #field, .kind = LAZ_FIELD_##is, .at = offsetof(struct type, field),                \
        .flags = (must) ? LAZ_FIELD_ALL | LAZ_FIELD_REQUIRED : LAZ_FIELD_ALL                       \
    }
#define LAZ_FIELD_KEY(key)                                                                         \
    {                                                                                              \
        .name = key, .kind = LAZ_FIELD_IGNORED                                                     \
    }
/* A table. An unknown member is an error: a newer description says in "abi" that it is newer. */
#define LAZ_FIELDS(type, rows)                                                                     \
    {                                                                                              \
        .size = sizeof(struct type), .items = rows, .n = sizeof rows / sizeof *rows,               \
        .is_closed = true                                                                          \
    }

struct laz_fields_source {
    const char *file;   /* of the JSON text, for messages */
    const char *remedy; /* the end of messages: "; make the file again ..." */
    struct laz_error *err;
};

/* Sets the error "FILE: KEY: expected WHAT" and the remedy. Returns LAZ_EPLUGIN. */
int laz_fields_wrong(const struct laz_fields_source *source, const char *key, const char *expected);
/* Reads a description of that kind into a struct, which laz_fields_free frees. Nothing is left to
 * free after an error: LAZ_EPLUGIN, LAZ_ENOMEM. */
int laz_fields_parse(const char *json, size_t len, const struct laz_fields_source *source,
                     const char *kind, const struct laz_fields *fields, void *into);

#endif
