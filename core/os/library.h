/* SPDX-License-Identifier: MIT */
/* library.h - the system's loader of libraries, asked without libltdl. */
#ifndef LAZ_OS_LIBRARY_H
#define LAZ_OS_LIBRARY_H

#include <stdbool.h>

/* First thing of a program of ours. From here on a library that is asked for by a bare name, by
 * whatever is in this process, is looked for beside the program, in the system's folder, and in
 * those of libraries that were opened `global`: not in the working folder, nor in %PATH%. Windows;
 * elsewhere the loader looks in neither. Not for a library of an application, whose process it is:
 * what lazaret itself opens there is opened by its whole path, whatever the application has set. */
void laz_library_secure(void);
/* Opens a library, by its path or by a name that the loader looks for, and finds every symbol it
 * needs at once. `global`: its own are there for all that is opened later, and it is never
 * unloaded. NULL: *words says why, borrowed until this thread opens another. */
void *laz_library_open(const char *path, bool global, const char **words);
/* One that is open stays, with the libraries it needs, whoever closes it. */
void laz_library_keep(const char *path);
void laz_library_close(void *library);

#endif
