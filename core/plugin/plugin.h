/* SPDX-License-Identifier: MIT */
/* plugin.h (core) - finds, checks and loads plugins.
 *
 * The host loads backends and tool providers; of a runtime it reads only FILE.json, which is made
 * from the descriptor, and never loads the object. The agent loads one runtime, by path. */
#ifndef LAZ_PLUGIN_PLUGIN_H
#define LAZ_PLUGIN_PLUGIN_H

#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "plugin/descriptions.h"

#include <lazaret/backend.h>
#include <lazaret/plugin.h>
#include <lazaret/tool.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- what a plugin exports: descriptor.c ----------------------------------------------------- */

/* Checks magic, size, ABI, kind (0: any), name, options and operations. `file` is the path it came
 * from, for messages and for the name. Errors: LAZ_EPLUGIN. */
int laz_descriptor_check(const struct laz_plugin *plugin, const char *file, uint32_t kind,
                         struct laz_error *err);
/* After that check: the descriptor in the form of this version, whatever the plugin was built with.
 * The caller frees *options, which are those of *copy; texts and operations stay the plugin's.
 * LAZ_ENOMEM. */
int laz_descriptor_copy(const struct laz_plugin *plugin, struct laz_plugin *copy,
                        struct laz_option **options, struct laz_error *err);
/* "a backend", "a tool provider", "a runtime"; "of an unknown kind". Static text. */
const char *laz_kind_name(uint32_t kind);
/* To be called with what operation `op` of a plugin has returned, and with its error, which was
 * empty before. 0 for success; else a code of lazaret, and *err names the plugin: "provider
 * weather: " and the plugin's text, or that it has failed in `op` without one. */
int laz_plugin_said(int rc, uint32_t kind, const char *name, const char *op, struct laz_error *err);
/* The name of an option's type in documents and in FILE.json ("string"); NULL: unknown type. */
const char *laz_option_type_name(uint32_t type);
uint32_t laz_option_type(const char *name); /* 0: unknown name */

/* Length of what stands before the suffix; 0: the name does not end so, or nothing stands there. */
size_t laz_name_before(const char *file_name, const char *suffix);
/* The end of a file's name that is not the plugin's. */
#define LAZ_MODULE_MARK "-lazaret"
/* Length of the plugin's name, with which its file's name begins: NAME.so, or NAME-lazaret.so where
 * another library is called NAME.so (R.dll). 0: not the name of a plugin file. */
size_t laz_module_name(const char *file_name);

/* The suffix of plugin files. */
#if defined _WIN32
#define LAZ_MODULE_SUFFIX ".dll"
#else
#define LAZ_MODULE_SUFFIX ".so"
#endif

/* ---- one plugin: module.c -------------------------------------------------------------------- */

struct laz_module; /* one loaded shared object */

/* Loads the file at an absolute path, checks its owner, mode and ABI, and its kind (0: any).
 * `globals` (NULL, or ends with NULL): sonames opened before it with global symbols. Errors:
 * LAZ_EPLUGIN with the file, the system loader's message and both ABI versions. */
int laz_module_open(const char *path, uint32_t kind, const char *const *globals,
                    struct laz_module **module, struct laz_error *err);
void laz_module_close(struct laz_module *module);
const struct laz_plugin *laz_module_plugin(const struct laz_module *module);

/* ---- paths of this build: installed.c -------------------------------------------------------- */

/* The installed directory of plugins, and the path of the agent ($LAZARET_AGENT if set, unless the
 * process is set-id). New strings; NULL: out of memory. */
char *laz_installed_plugins(void);
char *laz_installed_agent(void);
/* The directory of libraries that a package brings along for the program and plugins; there need be
 * none. */
char *laz_installed_libraries(void);
/* The installed directory of templates for plugins. */
char *laz_installed_templates(void);

/* ---- all plugins: registry.c ----------------------------------------------------------------- */

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
/* The installed backend that declares not to be a sandbox, or NULL. */
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
/* For a message that no runtime works: appends a clause with the packages of Debian that have one.
 * Nothing if no language declares to have one. */
void laz_registry_tell_packages(struct laz_registry *registry, struct laz_buf *text);
/* The runtime of whoever names none: session.runtime, or where that is not set the default if it
 * works here, and else the first other language that does, by name. Errors:
 * LAZ_ENOENT says why each of them does not work; LAZ_ETIMEOUT: that could not be found out in time;
 * those of laz_registry_runtime. usual.c. */
int laz_registry_usual(struct laz_registry *registry, const struct laz_settings_values *values,
                       const struct laz_runtime_info **info, struct laz_error *err);
/* Its name; where none works, that of the default. Borrowed until laz_registry_free. */
const char *laz_registry_usual_name(struct laz_registry *registry,
                                    const struct laz_settings_values *values);
/* Why it is another than the default ("NAME is not installed"), or NULL. */
const char *laz_registry_usual_why(struct laz_registry *registry);
/* As a registry keeps it for usual.c: empty until somebody asks. */
struct laz_usual {
    const struct laz_runtime_info *info; /* NULL: none works, and `problem` says so */
    char *why;                           /* it is not the default's: why that was not taken */
    char *problem;
};
struct laz_usual *laz_registry_usual_kept(struct laz_registry *registry);
void laz_usual_fini(struct laz_usual *usual);
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
