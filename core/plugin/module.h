/* SPDX-License-Identifier: MIT */
/* module.h - loads one plugin. */
#ifndef LAZ_PLUGIN_MODULE_H
#define LAZ_PLUGIN_MODULE_H

#include "base/error.h"

#include <lazaret/plugin.h>

#include <stdint.h>

struct laz_module; /* one loaded shared object */

/* Loads the file at an absolute path, checks its owner, mode and ABI, and its kind (0: any).
 * `globals` (NULL, or ends with NULL): sonames opened before it with global symbols. Errors:
 * LAZ_EPLUGIN with the file, the system loader's message and both ABI versions. */
int laz_module_open(const char *path, uint32_t kind, const char *const *globals,
                    struct laz_module **module, struct laz_error *err);
void laz_module_close(struct laz_module *module);
const struct laz_plugin *laz_module_plugin(const struct laz_module *module);

#endif
