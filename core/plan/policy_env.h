/* SPDX-License-Identifier: MIT */
/* policy_env.h - the environment of a session. */
#ifndef LAZ_PLAN_POLICY_ENV_H
#define LAZ_PLAN_POLICY_ENV_H

#include "base/buf.h"
#include "base/error.h"
#include "settings/settings.h"

/* Appends all variables but LAZARET_* as "NAME=VALUE": fixed ones of the system, then those of the
 * built-in allowlist that are set in this process, then `runtime` (NULL: none), [env] allow and
 * [env] set; a later one replaces an earlier one. It calls getenv. Errors: LAZ_ECONFIG naming the
 * key and the variable, LAZ_ENOMEM. */
int laz_policy_env(const char *platform, const struct laz_settings_values *values,
                   const struct laz_strv *runtime, const char *home, struct laz_strv *env,
                   struct laz_error *err);

#endif
