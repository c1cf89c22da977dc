/* SPDX-License-Identifier: MIT */
/* lazaret/plugin.h - what every plugin has in common: its descriptor, its options, its ABI.
 *
 * A plugin is a shared object that exports one symbol, `lazaret_plugin`, a constant descriptor:
 *
 *     LAZ_PLUGIN(weather) = {
 *         LAZ_PLUGIN_HEAD(LAZ_PLUGIN_TOOL),
 *         .name = "weather",
 *         .version = "1.0",
 *         .summary = "forecasts",
 *         .options = options,
 *         .ops = &ops,
 *     };
 *
 * `lazaret plugins new NAME --kind KIND` writes one that builds.  lazaret/options.h reads its options.
 * It calls no symbol of the host: what it needs of lazaret comes as a table of functions.  Tables
 * begin with their own size and only ever grow at the end; use LAZ_HAS before a field that was
 * added after 1.0.  The major ABI must be equal, the minor at most the host's.
 * The host never frees memory of a plugin, nor a plugin memory of the host. */
#ifndef LAZARET_PLUGIN_H
#define LAZARET_PLUGIN_H

#include <lazaret/error.h>
#include <lazaret/json.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LAZ_PLUGIN_MAGIC 0x5a414c31u /* "1LAZ" */
#define LAZ_ABI_MAJOR    1u
#define LAZ_ABI_MINOR    2u

#define LAZ_PLUGIN_BACKEND 1u /* ops: struct laz_backend_ops (lazaret/backend.h) */
#define LAZ_PLUGIN_TOOL    2u /* ops: struct laz_tool_ops (lazaret/tool.h) */
#define LAZ_PLUGIN_RUNTIME 3u /* ops: struct laz_runtime_ops (lazaret/runtime.h) */
#define LAZ_PLUGIN_CARRIER 4u /* since ABI 1.2; ops: struct laz_carrier_ops (lazaret/carrier.h) */

/* True when the table has the field and the field is not NULL. */
#define LAZ_HAS(table, field)                                                                      \
    ((table)->size >= offsetof(__typeof__(*(table)), field) + sizeof((table)->field) &&            \
     (table)->field)

/* A field that was added: C++ does not warn where it is left out, as C does not of named fields. */
#ifdef __cplusplus
#define LAZ_LATER = 0
#else
#define LAZ_LATER
#endif

/* Types of options. In the JSON text that a plugin receives, sizes are integers of bytes and times
 * integers of milliseconds. */
#define LAZ_OPT_STRING     1u
#define LAZ_OPT_INTEGER    2u
#define LAZ_OPT_BOOLEAN    3u
#define LAZ_OPT_SIZE       4u  /* 1024 or "512MiB" */
#define LAZ_OPT_TIME       5u  /* seconds as a number, or "250ms", "30s", "5m" */
#define LAZ_OPT_STRINGS    6u  /* list of strings */
#define LAZ_OPT_PATHS      7u  /* list of absolute host paths; for a runtime: visible in the box */
#define LAZ_OPT_TABLES     8u  /* list of tables; their keys are options named "this.key" */
#define LAZ_OPT_PARAMETERS 9u  /* a table of tool parameters: name = { type, description, ... };
                                  received as the list that struct laz_tool describes */
#define LAZ_OPT_TEXTS 10u      /* a table of strings; received as an object */
/* Since ABI 1.1: */
#define LAZ_OPT_PATH 11u /* an absolute host path; for a runtime: visible in the box */
#define LAZ_OPT_ANY  12u /* any value, also a table; received as JSON */

/* Flags of options. Nothing that lazaret shows (lazaret config, plan and plugins, errors, the log)
 * has the value of a secret option: only whether it is set. Of a table of strings the keys are
 * shown. It is the plugin that must not show it in texts of its own. */
#define LAZ_OPT_SECRET 1u

/* One option of a plugin: a key of its table in the configuration. LAZ_OPTION fills one. */
struct laz_option {
    const char *key;           /* "program"; inside a LAZ_OPT_TABLES "tool": "tool.name" */
    uint32_t type;             /* LAZ_OPT_* */
    const char *default_value; /* in TOML notation ("\"bwrap\"", "10", "[]"); NULL: must be given,
                                  "" : may be left out and is then absent */
    const char *help;          /* one line for the manual */
    /* Since ABI 1.1; the host knows by the plugin's abi_minor whether its table has these. */
    uint32_t flags LAZ_LATER;  /* LAZ_OPT_SECRET */
    const char *min LAZ_LATER; /* of an integer, a size or a time, in TOML notation; NULL: any */
    const char *max LAZ_LATER;
    const char *one_of LAZ_LATER; /* a list in TOML notation, "[\"a\", \"b\"]": all that a string or
                                     an integer, or an item of a list of strings, may be; NULL:
                                     anything */
};

/* An item of a table of options: LAZ_OPTION("port", LAZ_OPT_INTEGER, "80", "of the service",
 * .min = "1", .max = "65535"). */
#define LAZ_OPTION(its_key, its_type, its_default, its_help, ...)                                  \
    {                                                                                              \
        .key = its_key, .type = its_type, .default_value = its_default, .help = its_help,          \
        ##__VA_ARGS__                                                                              \
    }
#define LAZ_OPTIONS_END LAZ_OPTION(NULL, 0, NULL, NULL)

struct laz_plugin {
    uint32_t magic;
    uint16_t abi_major;
    uint16_t abi_minor;
    uint32_t size; /* of this struct */
    uint32_t kind; /* LAZ_PLUGIN_* */
    const char *name;
    const char *version;
    const char *summary;
    const struct laz_option *options; /* ends with key NULL; NULL: none */
    const void *ops;                  /* the table of the kind */
};

#define LAZ_PLUGIN_HEAD(plugin_kind)                                                               \
    .magic = LAZ_PLUGIN_MAGIC, .abi_major = LAZ_ABI_MAJOR, .abi_minor = LAZ_ABI_MINOR,             \
    .size = sizeof(struct laz_plugin), .kind = (plugin_kind)

#ifdef __cplusplus
#define LAZ_PLUGIN_LINKAGE extern "C"
#else
#define LAZ_PLUGIN_LINKAGE extern
#endif

/* In C++, where LAZ_PLUGIN_HEAD needs C++20, also in a namespace. */
#define LAZ_PLUGIN(ident)                                                                          \
    LAZ_PLUGIN_LINKAGE LAZ_EXPORT const struct laz_plugin lazaret_plugin;                          \
    const struct laz_plugin lazaret_plugin

#define LAZ_LOG_ERROR   0u
#define LAZ_LOG_WARNING 1u
#define LAZ_LOG_INFO    2u
#define LAZ_LOG_DEBUG   3u

#ifdef __cplusplus
}
#endif
#endif
