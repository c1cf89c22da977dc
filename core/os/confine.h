/* SPDX-License-Identifier: MIT */
/* confine.h - the confinement of a process of ours that talks to strangers (core/gate, core/proxy).
 */
#ifndef LAZ_OS_CONFINE_H
#define LAZ_OS_CONFINE_H

#include "base/error.h"

/* From here on the process, with all of its threads, opens, connects and starts nothing, leaves no
 * core, and nobody of the same user can trace it (prctl(2), PR_SET_DUMPABLE). */
int laz_os_confine_helper(struct laz_error *err);

#endif
