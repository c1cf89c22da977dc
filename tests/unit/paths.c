/* SPDX-License-Identifier: MIT */
/* paths.c - paths of the source and the build while a test runs. Not for Windows, whose C library
 * has no realpath(3). */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *unit_absolute(const char *directory, const char *path)
{
    char *whole = realpath(directory, NULL), *joined = NULL;

    if (whole) {
        size_t size = strlen(whole) + strlen(path) + 2;
        joined = malloc(size);
        if (joined)
            snprintf(joined, size, "%s/%s", whole, path);
    }
    free(whole);
    return joined;
}

char *unit_source(const char *path)
{
    const char *srcdir = getenv("srcdir"); /* set by Automake */

    return unit_absolute(srcdir ? srcdir : ".", path);
}

char *unit_built(const char *path)
{
    return unit_absolute(".", path);
}
