/* SPDX-License-Identifier: MIT */
/* library.h - the system's loader of libraries, asked without libltdl. */
#ifndef LAZ_OS_LIBRARY_H
#define LAZ_OS_LIBRARY_H

#include <stdbool.h>

/* Opens a library, by its path or by a name that the loader looks for, and finds every symbol it
 * needs at once. `global`: its own are there for all that is opened later, and it is never
 * unloaded. NULL: *words says why, borrowed until this thread opens another. */
void *laz_library_open(const char *path, bool global, const char **words);
/* One that is open stays, with the libraries it needs, whoever closes it. */
void laz_library_keep(const char *path);
void laz_library_close(void *library);

#endif
