/* SPDX-License-Identifier: MIT */
/* descriptions.h - what plugins declare in JSON files beside their objects, so that the host knows
 * it without loading them. */
#ifndef LAZ_PLUGIN_DESCRIPTIONS_H
#define LAZ_PLUGIN_DESCRIPTIONS_H

#include "base/error.h"
#include "base/json_fields.h"
#include "plugin/language.h"

#include <lazaret/plugin.h>
#include <lazaret/runtime.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the descriptions of one kind are read: each into a struct that begins with the plugin's name,
 * a const char *. The kind is part of the file's name, so that a description that cannot be read
 * still says what it is of: a plugin whose description others could have written is refused, and
 * never taken for one that has no description. */
struct laz_description_kind {
    const char *suffix; /* of the file's name, behind the plugin's */
    const char *word;   /* its member "kind" */
    const char *remedy; /* the end of messages: "; make the file again ..." */
    const struct laz_fields *fields;
    const char *(*wrong)(const void *data); /* the key of a value that cannot be, or NULL */
};

extern const struct laz_description_kind laz_backend_description;  /* struct laz_backend_info */
extern const struct laz_description_kind laz_language_description; /* struct laz_language */
extern const struct laz_description_kind laz_runtime_description;  /* struct laz_runtime_info */

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

/* Reads the JSON text. `file` is its path, for messages. The caller owns *data. LAZ_EPLUGIN with
 * the file and the key, LAZ_ENOMEM. */
int laz_description_parse(const struct laz_description_kind *kind, const char *json, size_t len,
                          const char *file, void **data, struct laz_error *err);
void laz_description_free(const struct laz_description_kind *kind, void *data);

/* Ranks for `auto`, from 1, which is tried first; 0: `auto` does not consider it there. */
struct laz_backend_ranks {
    int64_t on_linux, on_darwin, on_windows;
};

/* NAME.backend.json: data that the host needs before it loads the backend, or that does not belong
 * to a plan. */
struct laz_backend_info {
    const char *name;
    struct laz_backend_ranks ranks;
    bool unconfined;         /* it is not a sandbox */
    struct laz_strv missing; /* pairs: a program, and the message if it is not installed */
    struct laz_strv
        advice; /* pairs: a word of LAZ_ENFORCE_*, and how to get it with this backend */
};

/* The rank on a platform ("linux"); 0: `auto` does not consider it there. */
int64_t laz_backend_info_rank(const struct laz_backend_info *info, const char *platform);

/* What the host knows of a runtime without loading it. */
struct laz_runtime_info {
    const char *name, *version, *summary;
    const char *file; /* the shared object, absolute; borrowed from the registry */
    struct laz_strv suffixes, libraries, read, env, reserved_words, programs, needs, traits;
    union {
        struct laz_field_list option_list;
        const struct laz_option *options; /* its items, and one with key NULL */
    };
    const struct laz_language *language; /* borrowed from the registry; NULL: nothing is declared */
    bool reads_packages; /* `read` has the configuration of the language's packages, too */
};

/* What the agent opens with global symbols before a runtime, in the order of `libraries`: one that
 * lies beside the plugin's file by its path, others by their names. Errors: LAZ_EREFUSED (another
 * user could change it; os/trust.h), LAZ_ENOMEM. */
/* Does it declare this LAZ_RUNTIME_*? */
bool laz_runtime_has(const struct laz_runtime_info *info, uint32_t trait);
int laz_runtime_libraries(const struct laz_runtime_info *info, struct laz_strv *libraries,
                          struct laz_error *err);

/* The descriptor of a runtime as JSON: what `lazaret-agent --describe` prints. */
void laz_runtime_describe(const struct laz_plugin *plugin, struct laz_buf *json);

#endif
