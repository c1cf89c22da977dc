/* SPDX-License-Identifier: MIT */
/* path.h - paths and names of files as text, without looking at files. */
#ifndef LAZ_BASE_PATH_H
#define LAZ_BASE_PATH_H

#include "base/buf.h"

#include <stdbool.h>

/* Does `path` lie in `directory`, at any depth? Both are absolute, with '/' between their parts and
 * without "." and "..". Slashes at the end of `directory` are ignored. */
bool laz_path_is_below(const char *path, const char *directory);
/* The same, but a directory is within itself. */
bool laz_path_is_within(const char *path, const char *directory);

/* Appends an absolute path without "//", "." and a slash at its end ("" for the root directory).
 * False: the path is relative, has "..", or a backslash, which separates parts on Windows. */
bool laz_path_simplify(const char *path, size_t len, struct laz_buf *out);

#define LAZ_NAME_MAX     255 /* bytes of a name, as on every system */
#define LAZ_ARTIFACT_MAX 512 /* bytes of the path of an artifact */

/* Can a file be called so on any system, and a terminal show it as it is? UTF-8 without control
 * characters and marks of direction, no separator, neither "." nor "..". */
bool laz_name_is_plain(const char *name);
/* What is wrong with one that is not, for errors. */
#define LAZ_NAME_RULE                                                                              \
    "the name of a file for a session has 1 to 255 bytes of UTF-8, and no '/', '\\' or control "   \
    "characters"
/* A path of such names, with '/' between them, none of which is hidden (begins with "."). */
bool laz_artifact_name_is_plain(const char *name);

#endif
