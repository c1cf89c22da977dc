/* SPDX-License-Identifier: MIT */
/* paths.c - where links lead, who may use a path, and lazaret's own paths.  System: Windows. */
#include "os/paths.h"

#include "base/buf.h"
#include "os/current_process.h"
#include "os/windows/files.h"
#include "os/windows/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char laz_os_list_separator[] = ";";

/* The directory of the module with this code: the program, or the library in an application. */
static char *paths_own_directory(void)
{
    wchar_t wide[32768];
    HMODULE module = NULL;
    char *path = NULL;

    if (GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                               GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                           (LPCWSTR)(const void *)paths_own_directory, &module) &&
        GetModuleFileNameW(module, wide, sizeof wide / sizeof *wide))
        path = laz_windows_slashes(laz_windows_narrow(wide));
    char *end = path ? strrchr(path, '/') : NULL;
    if (end)
        *end = '\0';
    return path;
}

char *laz_os_own_program(void)
{
    wchar_t wide[32768];

    if (GetModuleFileNameW(NULL, wide, sizeof wide / sizeof *wide))
        return laz_windows_slashes(laz_windows_narrow(wide));
    errno = ENOENT;
    return NULL;
}

void laz_os_native_path(char *path)
{
    for (; *path; path++)
        if (*path == '/')
            *path = '\\';
}

char *laz_os_installed(const struct laz_layout *layout, const char *path)
{
    size_t len = strlen(layout->prefix);
    char *own = strncmp(path, layout->prefix, len) == 0 ? paths_own_directory() : NULL;
    char *end = own ? strrchr(own, '/') : NULL; /* the end of the directory above */
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
    const char *directory = place < 2 ? laz_os_getenv(variables[place]) : NULL;

    *path = laz_os_is_absolute(directory)
                ? laz_windows_slashes(laz_strdupf("%s/lazaret/lazaret.toml", directory))
                : NULL;
    return place < 2;
}

/* Sessions have the user of the host: what one can use the other can. */
bool laz_os_is_reachable(const char *path, uint32_t uid, bool execute)
{
    (void)uid;
    (void)execute;
    return laz_os_is_absolute(path) && laz_windows_exists(path);
}

bool laz_os_is_writable(const char *path, uint32_t uid)
{
    HANDLE handle = laz_windows_open(path, GENERIC_WRITE, 0);

    (void)uid;
    if (handle == INVALID_HANDLE_VALUE)
        return false;
    CloseHandle(handle);
    return true;
}

char *laz_os_real_path(const char *path)
{
    wchar_t wide[32768];
    HANDLE handle = laz_windows_open(path, FILE_READ_ATTRIBUTES, 0);
    char *real = NULL;

    if (handle == INVALID_HANDLE_VALUE) {
        errno = laz_windows_errno(GetLastError());
        return NULL;
    }
    DWORD n = GetFinalPathNameByHandleW(handle, wide, sizeof wide / sizeof *wide,
                                        FILE_NAME_NORMALIZED | VOLUME_NAME_DOS);
    CloseHandle(handle);
    if (n && n < sizeof wide / sizeof *wide)
        real = laz_windows_slashes(
            laz_windows_narrow(wcsncmp(wide, L"\\\\?\\", 4) == 0 ? wide + 4 : wide));
    if (!real)
        errno = ENOMEM;
    return real;
}

bool laz_os_can_execute(const char *path)
{
    wchar_t *wide = laz_windows_path(path);
    DWORD type;
    bool can = wide && GetBinaryTypeW(wide, &type);

    free(wide);
    return can;
}
