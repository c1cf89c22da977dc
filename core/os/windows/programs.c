/* SPDX-License-Identifier: MIT */
/* programs.c - where programs are.  System: Windows.
 *
 * Programs are searched in the system's own directories, never in %PATH% nor in the working
 * directory, which Windows would search first. */
#include "os/programs.h"

#include "base/buf.h"
#include "os/paths.h"
#include "os/windows/files.h"

#include <stdlib.h>
#include <string.h>

/* The path of a program, with ".exe" where that is omitted. NULL: none. */
static char *programs_path(const char *directory, const char *name)
{
    static const char *const ends[] = {"", ".exe"};

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char *path = directory ? laz_strdupf("%s/%s%s", directory, name, ends[i])
                               : laz_strdupf("%s%s", name, ends[i]);
        if (path && laz_os_can_execute(path))
            return laz_windows_slashes(path);
        free(path);
    }
    return NULL;
}

int laz_os_find_program(const char *name, char **path, struct laz_error *err)
{
    wchar_t system[MAX_PATH + 1];

    if (!name || !*name)
        return laz_error_set(err, LAZ_ENOENT, 0, "the name of a program is empty");
    if (laz_os_is_absolute(name)) {
        *path = programs_path(NULL, name);
        return *path ? 0
                     : laz_error_set(err, LAZ_ENOENT, 0,
                                     "%s does not exist or is not a program that can be executed",
                                     name);
    }
    if (strpbrk(name, "/\\:"))
        return laz_error_set(err, LAZ_ENOENT, 0,
                             "%s is neither an absolute path nor the bare name of a program", name);
    if (!GetSystemDirectoryW(system, MAX_PATH))
        return laz_windows_fail(err, "the system's directory cannot be determined");
    char *directory = laz_windows_slashes(laz_windows_narrow(system));
    *path = directory ? programs_path(directory, name) : NULL;
    if (!*path)
        laz_error_set(err, LAZ_ENOENT, 0,
                      "the program %s is not in %s (PATH is not used): name its absolute path",
                      name, directory ? directory : "the system's directory");
    free(directory);
    return *path ? 0 : LAZ_ENOENT;
}

int laz_os_program_parts(const char *path,
                         bool (*visit)(void *user, uint32_t kind, const char *host,
                                       const char *box),
                         void *user, struct laz_program_known *known, struct laz_error *err)
{
    (void)visit; /* no backend here hides files: no file has to be listed */
    (void)user;
    (void)known;
    if (laz_windows_exists(path))
        return 0;
    return laz_error_set(err, LAZ_ENOENT, 0, "%s does not exist", path);
}
