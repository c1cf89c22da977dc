/* SPDX-License-Identifier: MIT */
/* choice.h - which backends the setting sandbox.backend stands for. */
#ifndef LAZ_BOX_CHOICE_H
#define LAZ_BOX_CHOICE_H

#include "base/buf.h"

/* Appends the names of `wanted` in order, "auto" replaced by the backends of that system, best
 * first: "linux", "darwin", "windows". */
void laz_backend_candidates(const struct laz_strv *wanted, const char *platform,
                            struct laz_strv *names);

#endif
