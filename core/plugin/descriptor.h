/* SPDX-License-Identifier: MIT */
/* descriptor.h - checks that a plugin exports a descriptor that this version understands. */
#ifndef LAZ_PLUGIN_DESCRIPTOR_H
#define LAZ_PLUGIN_DESCRIPTOR_H

#include "base/error.h"

#include <stddef.h>

#include <lazaret/plugin.h>

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
uint32_t laz_option_flag(const char *name); /* of FILE.json ("secret"); 0: unknown name */

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

#endif
