/* SPDX-License-Identifier: MIT */
/* plugin.h (core) - finding, checking and loading plugins.
 *
 * The host loads backends and tool providers; of a runtime it reads FILE.json, made from its
 * descriptor, and never the object itself.  The agent loads one runtime, by path. */
#ifndef LAZ_PLUGIN_PLUGIN_H
#define LAZ_PLUGIN_PLUGIN_H

#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"

#include <lazaret/backend.h>
#include <lazaret/plugin.h>
#include <lazaret/runtime.h>
#include <lazaret/tool.h>

#include <stdbool.h>

struct laz_module; /* one loaded shared object */

/* Loads the file at an absolute path, checks its owner, mode and ABI, and its kind (0: any).
 * `globals` (NULL, or ends with NULL): sonames opened before it with global symbols. Errors:
 * LAZ_EPLUGIN naming the file, the cause in the system loader's words, both ABI versions. */
int laz_module_open(const char *path, uint32_t kind, const char *const *globals,
                    struct laz_module **module, struct laz_error *err);
void laz_module_close(struct laz_module *module);
const struct laz_plugin *laz_module_plugin(const struct laz_module *module);

/* What the host knows of a runtime without loading it. */
struct laz_runtime_info {
    char *name, *version, *summary;
    char *file; /* the shared object, absolute */
    struct laz_strv suffixes, libraries, read, env, reserved_words, programs;
    struct laz_option *options; /* ends with key NULL */
};

struct laz_registry;

/* Looks through `folders` in order, then the installed one ($LAZARET_PLUGIN_PATH, colon-separated,
 * comes first unless the process is set-id). A folder or file that others can write is refused and
 * logged; nothing is loaded yet but names: NAME.so is loaded when asked for. */
int laz_registry_new(const struct laz_strv *folders, const struct laz_log *log,
                     struct laz_registry **registry, struct laz_error *err);
void laz_registry_free(struct laz_registry *registry);
/* The plugin of this kind and name, loaded on first use and kept. Errors: LAZ_ENOENT naming what
 * is installed (and the package that would bring it, for known runtimes), LAZ_EPLUGIN. */
int laz_registry_find(struct laz_registry *registry, uint32_t kind, const char *name,
                      const struct laz_plugin **plugin, struct laz_error *err);
int laz_registry_runtime(struct laz_registry *registry, const char *name,
                         const struct laz_runtime_info **info, struct laz_error *err);
/* Is it a runtime of this version of lazaret, whether or not it was built here? */
bool laz_registry_can_be_installed(const char *runtime);
/* The runtime whose suffix a file name has; NULL when none. */
const struct laz_runtime_info *laz_registry_runtime_for(struct laz_registry *registry,
                                                        const char *file);
/* Every runtime that can be used; nothing is loaded for it. Borrowed until laz_registry_free. */
void laz_registry_visit_runtimes(struct laz_registry *registry,
                                 void (*visit)(void *user, const struct laz_runtime_info *info),
                                 void *user);
/* Every plugin found, loadable or not: for `lazaret plugins`. */
struct laz_plugin_entry {
    const char *name, *file;
    const struct laz_plugin *plugin;        /* NULL: a runtime, or it cannot be loaded */
    const struct laz_runtime_info *runtime; /* for runtimes */
    const char *problem;                    /* why it cannot be used, or NULL */
};
void laz_registry_visit(struct laz_registry *registry,
                        void (*visit)(void *user, const struct laz_plugin_entry *entry),
                        void *user);

/* The descriptor of a runtime as JSON: what `lazaret-agent --describe` prints. */
void laz_runtime_describe(const struct laz_plugin *plugin, struct laz_buf *json);
/* The way back, strictly: `json_file` is where the text came from, for messages; `file` the shared
 * object it describes. The caller owns *info. Errors: LAZ_EPLUGIN naming file and key. */
int laz_runtime_info_parse(const char *json, size_t len, const char *json_file, const char *file,
                           struct laz_runtime_info **info, struct laz_error *err);
void laz_runtime_info_free(struct laz_runtime_info *info);

/* The installed folder of plugins and the path of the agent, $LAZARET_AGENT first unless set-id: new
 * strings. */
char *laz_installed_plugins(void);
char *laz_installed_agent(void);

#endif
