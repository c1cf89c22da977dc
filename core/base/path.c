/* SPDX-License-Identifier: MIT */
/* path.c - which of two paths contains the other, by their text alone. */
#include "base/path.h"

#include <string.h>

/* The rest of `path` behind `directory`: "/..." or ""; NULL: `path` is not in it. */
static const char *path_rest(const char *path, const char *directory)
{
    size_t len = strlen(directory);

    while (len && directory[len - 1] == '/')
        len--;
    if (strncmp(path, directory, len) != 0 || (path[len] && path[len] != '/'))
        return NULL;
    return path + len;
}

bool laz_path_is_below(const char *path, const char *directory)
{
    const char *rest = path_rest(path, directory);

    return rest && *rest;
}

bool laz_path_is_within(const char *path, const char *directory)
{
    return path_rest(path, directory) != NULL;
}
