/* SPDX-License-Identifier: MIT */
/* descriptor.h - is what a plugin exports a descriptor that this version understands? */
#ifndef LAZ_PLUGIN_DESCRIPTOR_H
#define LAZ_PLUGIN_DESCRIPTOR_H

#include "base/error.h"

#include <stddef.h>

#include <lazaret/plugin.h>

/* Checks magic, size, ABI, kind (0: any), name, options and operations. `file` is the path it came
 * from, for messages and for the name. Errors: LAZ_EPLUGIN. */
int laz_descriptor_check(const struct laz_plugin *plugin, const char *file, uint32_t kind,
                         struct laz_error *err);
/* "a backend", "a tool provider", "a runtime"; "of an unknown kind". Static text. */
const char *laz_kind_name(uint32_t kind);
/* The word of an option's type in documents and in FILE.json ("string"); NULL: none such. */
const char *laz_option_type_name(uint32_t type);
uint32_t laz_option_type(const char *name); /* 0: none such */

/* How long the plugin's name is with which the name of its file begins: NAME.so, or
 * NAME-lazaret.so where NAME.so would be another library's (R.dll). 0: it is no plugin's. */
size_t laz_module_name(const char *file_name);

/* What ends the name of a plugin's file. */
#if defined _WIN32
#define LAZ_MODULE_SUFFIX ".dll"
#else
#define LAZ_MODULE_SUFFIX ".so"
#endif

#endif
