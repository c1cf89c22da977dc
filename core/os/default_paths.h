/* SPDX-License-Identifier: MIT */
/* default_paths.h - the paths that programs need on a system of a given name, as a table. */
#ifndef LAZ_OS_DEFAULT_PATHS_H
#define LAZ_OS_DEFAULT_PATHS_H

#include <stdbool.h>
#include <stdint.h>

/* As laz_os_system_paths (system.h), for a system of that name and without accessing any. */
void laz_os_usual_paths(const char *platform, bool programs,
                        void (*visit)(void *user, uint32_t kind, const char *host, const char *box),
                        void *user);

#endif
