/* SPDX-License-Identifier: MIT */
/* paths.c - where programs are, and who may use a path.  System: Windows.
 *
 * Programs are looked for in the system's own folders, never in %PATH% nor in the working folder,
 * which Windows would search first. */
#include "base/buf.h"
#include "os/os.h"
#include "os/windows/windows.h"

#include <stdlib.h>
#include <string.h>

const char laz_os_list_separator[] = ";";

/* The folder of the module that this code is in: the program, or the library of an application. */
static char *paths_own_folder(void)
{
    wchar_t wide[32768];
    HMODULE module = NULL;
    char *path = NULL;

    if (GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                               GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                           (LPCWSTR)(const void *)paths_own_folder, &module) &&
        GetModuleFileNameW(module, wide, sizeof wide / sizeof *wide))
        path = laz_windows_slashes(laz_windows_narrow(wide));
    char *end = path ? strrchr(path, '/') : NULL;
    if (end)
        *end = '\0';
    return path;
}

char *laz_os_installed(const char *prefix, const char *path)
{
    size_t len = strlen(prefix);
    char *own = strncmp(path, prefix, len) == 0 ? paths_own_folder() : NULL;
    char *end = own ? strrchr(own, '/') : NULL; /* of the folder above */
    char *installed =
        end ? laz_strdupf("%.*s%s", (int)(end - own), own, path + len) : laz_strdup(path);

    free(own);
    return installed;
}

bool laz_os_is_absolute(const char *path)
{
    return path && ((path[0] >= 'a' && path[0] <= 'z') || (path[0] >= 'A' && path[0] <= 'Z')) &&
           path[1] == ':' && (path[2] == '/' || path[2] == '\\');
}

bool laz_os_config_place(int place, char **path)
{
    static const char *const variables[] = {"APPDATA", "ProgramData"};
    const char *folder = place < 2 ? laz_os_getenv(variables[place]) : NULL;

    *path = laz_os_is_absolute(folder)
                ? laz_windows_slashes(laz_strdupf("%s/lazaret/lazaret.toml", folder))
                : NULL;
    return place < 2;
}

static bool paths_is_program(const char *path)
{
    wchar_t *wide = laz_windows_path(path);
    DWORD type, attributes = wide ? GetFileAttributesW(wide) : INVALID_FILE_ATTRIBUTES;
    bool is = attributes != INVALID_FILE_ATTRIBUTES && !(attributes & FILE_ATTRIBUTE_DIRECTORY) &&
              GetBinaryTypeW(wide, &type);

    free(wide);
    return is;
}

/* The path of a program, with ".exe" where that is left out. NULL: none. */
static char *paths_program(const char *folder, const char *name)
{
    static const char *const ends[] = {"", ".exe"};

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char *path = folder ? laz_strdupf("%s/%s%s", folder, name, ends[i])
                            : laz_strdupf("%s%s", name, ends[i]);
        if (path && paths_is_program(path))
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
        *path = paths_program(NULL, name);
        return *path ? 0
                     : laz_error_set(err, LAZ_ENOENT, 0,
                                     "%s does not exist or is not a program that can be executed",
                                     name);
    }
    if (strpbrk(name, "/\\:"))
        return laz_error_set(err, LAZ_ENOENT, 0,
                             "%s is neither an absolute path nor the bare name of a program", name);
    if (!GetSystemDirectoryW(system, MAX_PATH))
        return laz_windows_fail(err, "the system's folder cannot be told");
    char *folder = laz_windows_slashes(laz_windows_narrow(system));
    *path = folder ? paths_program(folder, name) : NULL;
    if (!*path)
        laz_error_set(err, LAZ_ENOENT, 0,
                      "the program %s is not in %s (PATH is not used): name its absolute path",
                      name, folder ? folder : "the system's folder");
    free(folder);
    return *path ? 0 : LAZ_ENOENT;
}

/* Sessions are of the same user as the host: what can be used by one can be by the other. */
static bool paths_exist(const char *path)
{
    wchar_t *wide = laz_windows_path(path);
    bool exist = wide && GetFileAttributesW(wide) != INVALID_FILE_ATTRIBUTES;

    free(wide);
    return exist;
}

bool laz_os_is_reachable(const char *path, uint32_t uid, bool execute)
{
    (void)uid;
    (void)execute;
    return laz_os_is_absolute(path) && paths_exist(path);
}

bool laz_os_is_writable(const char *path, uint32_t uid)
{
    wchar_t *wide = laz_windows_path(path);
    HANDLE handle = INVALID_HANDLE_VALUE;

    (void)uid;
    if (wide)
        handle =
            CreateFileW(wide, GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                        NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    free(wide);
    if (handle == INVALID_HANDLE_VALUE)
        return false;
    CloseHandle(handle);
    return true;
}

bool laz_os_can_execute_below(const char *folder)
{
    return paths_exist(folder);
}

int laz_os_program_parts(const char *path,
                         bool (*visit)(void *user, uint32_t kind, const char *host,
                                       const char *box),
                         void *user, struct laz_error *err)
{
    (void)visit; /* no backend here hides files: nothing has to be listed */
    (void)user;
    if (paths_exist(path))
        return 0;
    return laz_error_set(err, LAZ_ENOENT, 0, "%s does not exist", path);
}

void laz_os_program_folders(void (*visit)(void *user, const char *path, bool among_libraries),
                            void *user)
{
    (void)visit;
    (void)user;
}

void laz_os_system_paths(bool programs,
                         void (*visit)(void *user, uint32_t kind, const char *host,
                                       const char *box),
                         void *user)
{
    (void)programs;
    (void)visit;
    (void)user;
}
