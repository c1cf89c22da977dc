/* SPDX-License-Identifier: MIT */
/* path.h - paths as text: no file is looked at. */
#ifndef LAZ_BASE_PATH_H
#define LAZ_BASE_PATH_H

#include <stdbool.h>

/* Both paths are absolute, with '/' between their parts and without "." and "..". Slashes at the
 * end of `directory` are ignored. */
bool laz_path_is_below(const char *path, const char *directory);
/* The same; true also when they are the same path. */
bool laz_path_is_within(const char *path, const char *directory);

#endif
