/* SPDX-License-Identifier: MIT */
/* registry.h - finds plugins, and loads each when it is first used. */
#ifndef LAZ_PLUGIN_REGISTRY_H
#define LAZ_PLUGIN_REGISTRY_H

#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "plugin/descriptions.h"
#include "plugin/language.h"
#include "plugin/runtime_info.h"

#include <lazaret/backend.h>
#include <lazaret/plugin.h>
#include <lazaret/tool.h>

#include <stdbool.h>

struct laz_registry;
struct laz_settings_values;

/* Lists the plugins in $LAZARET_PLUGIN_PATH (colon-separated; ignored in a set-id process), then
 * those of plugins.path (`values` NULL: none) in order, then the installed directory. A directory
 * that others can write is ignored and logged. Nothing is loaded yet: NAME.so is loaded on first
 * use. */
int laz_registry_new(const struct laz_settings_values *values, const struct laz_log *log,
                     struct laz_registry **registry, struct laz_error *err);
void laz_registry_free(struct laz_registry *registry);
/* Appends, to a message that something is missing, a clause for each directory that is ignored, and
 * why: "; ignored: ...". */
void laz_registry_ignored(const struct laz_registry *registry, struct laz_buf *text);
/* The plugin of this kind and name, loaded on first use and kept. Errors: LAZ_ENOENT with the names
 * of those installed (and the package to install, if a language declares it), LAZ_EPLUGIN. */
int laz_registry_find(struct laz_registry *registry, uint32_t kind, const char *name,
                      const struct laz_plugin **plugin, struct laz_error *err);
int laz_registry_runtime(struct laz_registry *registry, const char *name,
                         const struct laz_runtime_info **info, struct laz_error *err);
/* What a backend declares beside its object; *info stays NULL when it declares nothing. Borrowed
 * until laz_registry_free. LAZ_EPLUGIN: the description cannot be used. */
int laz_registry_backend(struct laz_registry *registry, const char *name,
                         const struct laz_backend_info **info, struct laz_error *err);
/* Appends the backends that "auto" stands for on a platform: those of the installed directory and
 * of $LAZARET_PLUGIN_PATH that declare a rank for it, best first, those of one rank by their names.
 * None is loaded. */
void laz_registry_automatic(struct laz_registry *registry, const char *platform,
                            struct laz_strv *names);
/* For a message that "auto" stands for no backend: appends a clause with the descriptions that are
 * missing beside backends of the same directories, which it loads, and laz_registry_ignored.
 * Nothing if nothing is missing or ignored. */
void laz_registry_undeclared(struct laz_registry *registry, struct laz_buf *text);
/* The advice for a word of LAZ_ENFORCE_* of the first backend that "auto" considers and that
 * declares one: a sentence for the user. NULL: none does. */
const char *laz_registry_advice(struct laz_registry *registry, const char *platform,
                                const char *word);
/* The installed backend that declares to be no sandbox, or NULL. */
const struct laz_backend_info *laz_registry_unconfined(struct laz_registry *registry);
/* What is declared of a language, whether or not its runtime is installed; *language stays NULL
 * when nothing is. Borrowed until laz_registry_free. LAZ_EPLUGIN: the description cannot be used.
 */
int laz_registry_language(struct laz_registry *registry, const char *name,
                          const struct laz_language **language, struct laz_error *err);
/* Appends the names of all languages with stubs. */
void laz_registry_stubs(struct laz_registry *registry, struct laz_strv *names);
/* Could a runtime of that name be installed, whether or not it is? */
bool laz_registry_can_be_installed(struct laz_registry *registry, const char *runtime);
/* The runtime whose suffix a file name has; NULL when none. */
const struct laz_runtime_info *laz_registry_runtime_for(struct laz_registry *registry,
                                                        const char *file);
/* Visits every usable runtime without loading it. `info` is borrowed until laz_registry_free. */
void laz_registry_visit_runtimes(struct laz_registry *registry,
                                 void (*visit)(void *user, const struct laz_runtime_info *info),
                                 void *user);
/* Visits every plugin found, loadable or not, for `lazaret plugins`. */
struct laz_plugin_entry {
    const char *name, *file;
    const struct laz_plugin *plugin;        /* NULL: it is a runtime, or cannot be loaded */
    const struct laz_runtime_info *runtime; /* for runtimes */
    const char *problem;                    /* why it cannot be used, or NULL */
};
void laz_registry_visit(struct laz_registry *registry,
                        void (*visit)(void *user, const struct laz_plugin_entry *entry),
                        void *user);

#endif
