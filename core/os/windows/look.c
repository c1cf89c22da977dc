/* SPDX-License-Identifier: MIT */
/* look.c - what is at a path, what a folder holds, and variables.  System: Windows. */
#include "base/buf.h"
#include "os/os.h"
#include "os/windows/windows.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>
#include <ws2tcpip.h>

#define LOOK_EPOCH 116444736000000000 /* 1970 in 100 ns since 1601, FILETIME */

static int64_t look_time(const FILETIME *time)
{
    int64_t ticks = (int64_t)(((uint64_t)time->dwHighDateTime << 32) | time->dwLowDateTime);

    return (ticks - LOOK_EPOCH) * 100;
}

/* Access lists are not looked at: what the user of this process may do is asked of the system when
 * it is done. So there is a mode of a folder, or of a file, that others may not write. */
static bool look_describe(HANDLE handle, bool follow, struct laz_look *look)
{
    BY_HANDLE_FILE_INFORMATION info;

    memset(look, 0, sizeof *look);
    if (GetFileType(handle) != FILE_TYPE_DISK) {
        look->kind = LAZ_LOOK_OTHER;
        return true;
    }
    if (!GetFileInformationByHandle(handle, &info))
        return false;
    /* Followed, what is left of this kind is a file that the system keeps in a way of its own. */
    bool is_link = !follow && (info.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT);
    look->kind = is_link                                            ? LAZ_LOOK_LINK
                 : info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? LAZ_LOOK_FOLDER
                                                                    : LAZ_LOOK_FILE;
    look->mode = 0755;
    look->device = info.dwVolumeSerialNumber;
    look->inode = ((uint64_t)info.nFileIndexHigh << 32) | info.nFileIndexLow;
    look->size = ((uint64_t)info.nFileSizeHigh << 32) | info.nFileSizeLow;
    look->written_ns = look_time(&info.ftLastWriteTime);
    look->changed_ns = look->written_ns;
    return true;
}

static HANDLE look_open(const char *path, DWORD access, DWORD flags)
{
    wchar_t *wide = laz_windows_path(path);
    HANDLE handle = INVALID_HANDLE_VALUE;

    SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    if (wide)
        handle = CreateFileW(wide, access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                             NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | flags, NULL);
    DWORD code = GetLastError();
    free(wide);
    SetLastError(code);
    return handle;
}

int laz_os_look(const char *path, bool follow, struct laz_look *look)
{
    HANDLE handle =
        look_open(path, FILE_READ_ATTRIBUTES, follow ? 0 : FILE_FLAG_OPEN_REPARSE_POINT);

    if (handle == INVALID_HANDLE_VALUE)
        return laz_windows_errno(GetLastError());
    int failed = look_describe(handle, follow, look) ? 0 : laz_windows_errno(GetLastError());
    CloseHandle(handle);
    return failed;
}

int laz_os_open_file(const char *path, bool wait, struct laz_look *look)
{
    HANDLE handle = look_open(path, GENERIC_READ, 0);

    (void)wait;
    if (handle == INVALID_HANDLE_VALUE) {
        errno = laz_windows_errno(GetLastError());
        return -1;
    }
    int fd = look_describe(handle, true, look)
                 ? _open_osfhandle((intptr_t)handle, _O_RDONLY | _O_BINARY | _O_NOINHERIT)
                 : -1;
    if (fd < 0) {
        CloseHandle(handle);
        errno = EIO;
    }
    return fd;
}

char *laz_os_real_path(const char *path)
{
    wchar_t wide[32768];
    HANDLE handle = look_open(path, FILE_READ_ATTRIBUTES, 0);
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

void laz_os_links(const char *path, void (*visit)(void *user, const char *link, const char *text),
                  void *user)
{
    (void)path; /* no rules of this system are compared with paths */
    (void)visit;
    (void)user;
}

bool laz_os_can_execute(const char *path)
{
    wchar_t *wide = laz_windows_path(path);
    DWORD type;
    bool can = wide && GetBinaryTypeW(wide, &type);

    free(wide);
    return can;
}

int laz_os_make_link(const char *path, const char *text)
{
    wchar_t *wide = laz_windows_path(path), *target = laz_windows_path(text);
    int failed = wide && target ? 0 : ENOMEM;

    if (!failed && !CreateSymbolicLinkW(wide, target, 0))
        failed = laz_windows_errno(GetLastError());
    free(wide);
    free(target);
    return failed;
}

static int look_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int laz_os_list_folder(const char *path, struct laz_strv *names, struct laz_error *err)
{
    char *pattern = laz_strdupf("%s/*", path);
    wchar_t *wide = pattern ? laz_windows_path(pattern) : NULL;
    size_t first = names->n;
    WIN32_FIND_DATAW entry;
    int rc = 0;

    if (!wide) {
        free(pattern);
        return laz_error_nomem(err);
    }
    HANDLE found = FindFirstFileW(wide, &entry);
    bool more = found != INVALID_HANDLE_VALUE;
    while (more && !rc) {
        char *name = laz_windows_narrow(entry.cFileName);
        if (!name)
            rc = laz_error_nomem(err);
        else if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
            laz_strv_add(names, name);
        free(name);
        more = FindNextFileW(found, &entry);
    }
    if (!rc && GetLastError() != ERROR_NO_MORE_FILES)
        rc = laz_windows_fail(err, "the folder %s cannot be read", path);
    if (found != INVALID_HANDLE_VALUE)
        FindClose(found);
    free(pattern);
    free(wide);
    if (!rc && names->failed)
        rc = laz_error_nomem(err);
    if (names->n > first)
        qsort(names->items + first, names->n - first, sizeof *names->items, look_compare);
    return rc;
}

bool laz_os_is_ipv6(const char *text)
{
    unsigned char address[16];

    return inet_pton(AF_INET6, text, address) == 1;
}
