/* SPDX-License-Identifier: MIT */
/* tables.h - checks the plugin tables of the configuration against the installed plugins. */
#ifndef LAZ_ENGINE_TABLES_H
#define LAZ_ENGINE_TABLES_H

#include "base/buf.h"
#include "base/error.h"
#include "plugin/plugin.h"
#include "settings/settings.h"

/* Checks that every [sandbox.NAME] and [runtime.NAME] names a plugin and has only options of it.
 * Appends each mistake to `problems` (unless NULL) and returns the first. The table of a known
 * runtime that is not installed is accepted. Borrows everything for the call. Errors: LAZ_ECONFIG
 * with FILE:LINE:COL, LAZ_ENOMEM. */
int laz_tables_check(struct laz_registry *registry, const struct laz_settings *settings,
                     struct laz_strv *problems, struct laz_error *err);

#endif
