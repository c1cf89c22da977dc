/* SPDX-License-Identifier: MIT */
/* option_bounds.h - what an option of a plugin declares of its values beside their type. Private to
 * core/settings. */
#ifndef LAZ_SETTINGS_OPTION_BOUNDS_H
#define LAZ_SETTINGS_OPTION_BOUNDS_H

#include "settings/toml/toml.h"

#include <lazaret/plugin.h>

/* Appends what a value has to be: "an integer" becomes "an integer from 1 to 9", or one of a few.
 */
void laz_option_expected(const struct laz_option *option, const char *type, struct laz_buf *text);
/* Is a value of the option's type within what it declares? 0, LAZ_EINVAL: *wrong is the node that
 * is not; LAZ_EPLUGIN: the declaration cannot be read, `err` says why; LAZ_ENOMEM. */
int laz_option_check(const struct laz_option *option, const struct laz_toml_node *node,
                     const struct laz_toml_node **wrong, struct laz_error *err);

#endif
