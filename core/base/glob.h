/* SPDX-License-Identifier: MIT */
/* glob.h - patterns with '*' and '?', which stand for any characters, '/' included. */
#ifndef LAZ_BASE_GLOB_H
#define LAZ_BASE_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* Does the whole text (`len` bytes, UTF-8, may contain NUL) match? '*' stands for any number of
 * characters, '?' for one, everything else for itself. Takes time in proportion to both lengths
 * multiplied, at most. */
bool laz_glob(const char *pattern, const char *text, size_t len);

#endif
