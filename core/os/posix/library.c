/* SPDX-License-Identifier: MIT */
/* library.c - the system's loader: dlopen(3).  System: POSIX. */
#include "os/library.h"

#include <dlfcn.h>
#include <string.h>

void *laz_library_open(const char *path, bool global, const char **words)
{
    void *library = dlopen(path, RTLD_NOW | (global ? RTLD_GLOBAL | RTLD_NODELETE : RTLD_LOCAL));

    if (!library) {
        const char *told = dlerror();
        *words = told ? told : "the system's loader gives no cause";
    }
    return library;
}

void laz_library_keep(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);

    if (library)
        dlclose(library);
}

void laz_library_close(void *library)
{
    dlclose(library);
}

void (*laz_library_function(void *library, const char *name))(void)
{
    void *address = dlsym(library, name);
    void (*function)(void);

    memcpy(&function, &address, sizeof function); /* POSIX: they have one size */
    return function;
}
