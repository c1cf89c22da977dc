/* SPDX-License-Identifier: MIT */
/* runtime_info.h - what the host knows of a runtime: its descriptor as JSON text, and what is
 * declared of its language. */
#ifndef LAZ_PLUGIN_RUNTIME_INFO_H
#define LAZ_PLUGIN_RUNTIME_INFO_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json_fields.h"
#include "plugin/language.h"

#include <lazaret/plugin.h>
#include <lazaret/runtime.h>

/* What the host knows of a runtime without loading it. */
struct laz_runtime_info {
    char *name, *version, *summary;
    char *file; /* the shared object, absolute */
    struct laz_strv suffixes, libraries, read, env, reserved_words, programs;
    union {
        struct laz_field_list option_list;
        const struct laz_option *options; /* its items, and one with key NULL */
    };
    const struct laz_language *language; /* borrowed from the registry; NULL: nothing is declared */
};

/* The descriptor of a runtime as JSON: what `lazaret-agent --describe` prints. */
void laz_runtime_describe(const struct laz_plugin *plugin, struct laz_buf *json);
/* Reads that JSON text strictly. `json_file` is its path, for messages; `file` the shared object it
 * describes. The caller owns *info. Errors: LAZ_EPLUGIN with the file and the key. */
int laz_runtime_info_parse(const char *json, size_t len, const char *json_file, const char *file,
                           struct laz_runtime_info **info, struct laz_error *err);
void laz_runtime_info_free(struct laz_runtime_info *info);

#endif
