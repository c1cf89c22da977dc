/* SPDX-License-Identifier: MIT */
/* descriptions.h - the files NAME.backend.json and NAME.language.json in the directories of
 * plugins. */
#ifndef LAZ_PLUGIN_DESCRIPTIONS_H
#define LAZ_PLUGIN_DESCRIPTIONS_H

#include "base/error.h"
#include "plugin/backend_info.h"
#include "plugin/language.h"

#include <stdbool.h>
#include <stddef.h>

enum laz_description_kind { LAZ_DESCRIPTION_BACKEND, LAZ_DESCRIPTION_LANGUAGE };

/* A file beside a plugin, read when it is asked for. */
struct laz_description {
    enum laz_description_kind kind;
    char *name, *file;
    const char *directory;
    bool is_standard; /* of a standard directory: one that the settings do not name */
    bool tried;       /* data or problem is known */
    void *data;       /* struct laz_backend_info or struct laz_language */
    char *problem;
};

struct laz_descriptions {
    struct laz_description *items; /* in the order in which they were found */
    size_t n, cap;
};

/* Notes a file if it has the name of a description. `directory` is borrowed. 0 or LAZ_ENOMEM. */
int laz_descriptions_note(struct laz_descriptions *all, const char *directory,
                          const char *file_name, bool is_standard);
/* Marks the descriptions of a directory, which were noted before, as those of a standard one. */
void laz_descriptions_promote(struct laz_descriptions *all, const char *directory);
void laz_descriptions_fini(struct laz_descriptions *all);
/* Reads the file once and keeps its problem. LAZ_EPLUGIN with the problem; another code, and no
 * problem is kept, when memory or descriptors are exhausted. */
int laz_description_load(struct laz_description *description, struct laz_error *err);
/* Loads the first of this kind and name. *data stays NULL when there is none. */
int laz_descriptions_find(struct laz_descriptions *all, enum laz_description_kind kind,
                          const char *name, const void **data, struct laz_error *err);

#endif
