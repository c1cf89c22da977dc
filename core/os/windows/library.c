/* SPDX-License-Identifier: MIT */
/* library.c - the system's loader of libraries.  System: Windows.
 *
 * What a library needs is searched beside it and in the system's directories, never in the working
 * directory or in %PATH% (LOAD_LIBRARY_SEARCH_*). */
#include "os/library.h"

#include "os/windows/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local struct laz_error library_error;

/* It fails only where the system is older than Windows 8 and lacks an update of 2011. */
void laz_library_secure(void)
{
    (void)SetDefaultDllDirectories(LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
    (void)SetDllDirectoryW(
        L""); /* for code that requests the old order: without the working directory */
}

/* Adds the directory of a library that others use: what they need of it is beside it (R's packages,
 * Python's extensions), and %PATH% is no longer searched. */
static void library_add_directory(const char *path)
{
    wchar_t *directory = laz_windows_path(path);
    wchar_t *end = directory ? wcsrchr(directory, L'\\') : NULL;

    if (end && path[1] == ':') {
        *end = L'\0';
        (void)AddDllDirectory(directory);
    }
    free(directory);
}

void *laz_library_open(const char *path, bool global, const char **words)
{
    struct laz_error why; /* filled first: the text of the thread resets the last error */
    wchar_t *wide = laz_windows_path(path);
    HMODULE library = NULL;

    SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    if (wide) /* the directory of a library is searched only if the library has an absolute path */
        library = LoadLibraryExW(wide, NULL,
                                 LOAD_LIBRARY_SEARCH_DEFAULT_DIRS |
                                     (path[1] == ':' ? LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR : 0));
    if (!library) {
        laz_windows_fail(&why, "%s", path);
        library_error = why;
        *words = library_error.text;
    } else if (global) {
        laz_library_keep(path); /* symbols belong to a library here: none has to be made global */
        library_add_directory(path);
    }
    free(wide);
    return library;
}

void laz_library_keep(const char *path)
{
    wchar_t *wide = laz_windows_path(path);
    HMODULE library;

    if (wide)
        (void)GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN, wide, &library);
    free(wide);
}

void laz_library_close(void *library)
{
    if (library)
        FreeLibrary(library);
}

void (*laz_library_function(void *library, const char *name))(void)
{
    return (void (*)(void))GetProcAddress(library, name);
}
