/* SPDX-License-Identifier: MIT */
/* paths.h - whether a path exists on Windows. */
#ifndef LAZ_OS_WINDOWS_PATHS_H
#define LAZ_OS_WINDOWS_PATHS_H

#include <stdbool.h>

bool laz_windows_exists(const char *path);

#endif
