/* SPDX-License-Identifier: MIT */
/* tables.h - the tables of plugins in the configuration, against the plugins there are. */
#ifndef LAZ_ENGINE_TABLES_H
#define LAZ_ENGINE_TABLES_H

#include "base/buf.h"
#include "base/error.h"
#include "plugin/plugin.h"
#include "settings/settings.h"

/* Every [sandbox.NAME] and [runtime.NAME] has to name a plugin and to hold options of it. Each
 * mistake is appended to `problems` (unless NULL), the first is the error. A runtime that could be
 * installed here may have a table before it is. Errors: LAZ_ECONFIG with FILE:LINE:COL. */
int laz_tables_check(struct laz_registry *registry, const struct laz_settings *settings,
                     struct laz_strv *problems, struct laz_error *err);

#endif
