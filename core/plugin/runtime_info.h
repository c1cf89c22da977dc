/* SPDX-License-Identifier: MIT */
/* runtime_info.h - what the host knows of a runtime: its descriptor as JSON text, and what is
 * declared of its language. */
#ifndef LAZ_PLUGIN_RUNTIME_INFO_H
#define LAZ_PLUGIN_RUNTIME_INFO_H

#include "base/json_fields.h"
#include "plugin/language.h"

#include <lazaret/plugin.h>
#include <lazaret/runtime.h>

/* What the host knows of a runtime without loading it. */
struct laz_runtime_info {
    const char *name, *version, *summary;
    const char *file; /* the shared object, absolute; borrowed from the registry */
    struct laz_strv suffixes, libraries, read, env, reserved_words, programs;
    union {
        struct laz_field_list option_list;
        const struct laz_option *options; /* its items, and one with key NULL */
    };
    const struct laz_language *language; /* borrowed from the registry; NULL: nothing is declared */
    bool reads_packages; /* `read` has the configuration of the language's packages, too */
};

/* The descriptor of a runtime as JSON: what `lazaret-agent --describe` prints. */
void laz_runtime_describe(const struct laz_plugin *plugin, struct laz_buf *json);

#endif
