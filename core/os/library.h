/* SPDX-License-Identifier: MIT */
/* library.h - the system's loader of libraries, called without libltdl. */
#ifndef LAZ_OS_LIBRARY_H
#define LAZ_OS_LIBRARY_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Called first in a program of lazaret, on Windows. From then on a library that any code of this
 * process requests by a bare name is searched beside the program, in the system's directory, and in
 * those of libraries that were opened `global`: not in the working directory, nor in %PATH%. Other
 * systems search neither. Not called in an application, to which the process belongs: there lazaret
 * opens its files by absolute paths, whatever the application has set. */
void laz_library_secure(void);
/* Has the list that the system's loader keeps of its libraries (ld.so.cache(5)) one of this name,
 * and is that there? False: there may still be one, which only the loader can tell. */
bool laz_library_is_listed(const char *name);
/* Opens a library, by its path or by a name that the loader searches, and resolves every symbol
 * that it needs at once. `global`: its own symbols are available to all that is opened later, and
 * it is never unloaded. NULL: *words is the reason, borrowed until this thread opens another. */
void *laz_library_open(const char *path, bool global, const char **words);
/* An open library stays loaded, with the libraries that it needs, whatever closes it. */
void laz_library_keep(const char *path);
void laz_library_close(void *library);
/* The address of a function of an open library; NULL: it has none of that name. */
void (*laz_library_function(void *library, const char *name))(void);

/* A function of a library, and where its address goes: a member of a struct of pointers. */
struct laz_library_row {
    const char *name;
    size_t offset;
};
/* Opens a library that is loaded when it is first needed, and stays; fills the members of
 * `functions`. `what` begins the message of an error: "--listen: libmicrohttpd". LAZ_EOS: there is
 * no such library, or it lacks a function. */
int laz_library_take(const char *path, const char *what, const struct laz_library_row *rows,
                     size_t n, void *functions, struct laz_error *err);

#endif
