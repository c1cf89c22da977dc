/* SPDX-License-Identifier: MIT */
/* path.h - comparing paths as text, without looking at files. */
#ifndef LAZ_BASE_PATH_H
#define LAZ_BASE_PATH_H

#include <stdbool.h>

/* Does `path` lie in `directory`, at any depth? Both are absolute, with '/' between their parts and
 * without "." and "..". Slashes at the end of `directory` are ignored. */
bool laz_path_is_below(const char *path, const char *directory);
/* The same, but a directory is within itself. */
bool laz_path_is_within(const char *path, const char *directory);

#endif
