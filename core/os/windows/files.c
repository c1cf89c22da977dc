/* SPDX-License-Identifier: MIT */
/* files.c - whole files: made, read with a bound, copied; what is at a path.  System: Windows.
 * Side: host.  Input trusted: paths yes; what is found there no.
 *
 * There are no modes: what lazaret makes is in the user's own directory for temporary files, whose
 * access list is inherited. */
#include "os/files.h"

#include "base/random.h"
#include "os/windows/descriptors.h"
#include "os/windows/files.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_EPOCH   116444736000000000 /* 1970 in 100 ns since 1601, FILETIME */
#define FILES_PIECE  65536
#define FILES_RANDOM 12

bool laz_windows_with(const char *path, BOOL(WINAPI *call)(LPCWSTR))
{
    wchar_t *wide = laz_windows_path(path);
    bool done = wide && call(wide);
    DWORD code = GetLastError();

    free(wide);
    SetLastError(wide ? code : ERROR_NOT_ENOUGH_MEMORY);
    return done;
}

HANDLE laz_windows_create(const char *path, DWORD access, DWORD share, DWORD how, DWORD flags)
{
    wchar_t *wide = laz_windows_path(path);
    HANDLE handle = INVALID_HANDLE_VALUE;

    SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    if (wide)
        handle = CreateFileW(wide, access, share, NULL, how, flags, NULL);
    DWORD code = GetLastError();
    free(wide);
    SetLastError(code);
    return handle;
}

HANDLE laz_windows_open(const char *path, DWORD access, DWORD flags)
{
    return laz_windows_create(path, access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                              OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | flags);
}

bool laz_windows_exists(const char *path)
{
    wchar_t *wide = laz_windows_path(path);
    bool exist = wide && GetFileAttributesW(wide) != INVALID_FILE_ATTRIBUTES;

    free(wide);
    return exist;
}

int laz_os_write_file(const char *path, const void *data, size_t len, unsigned mode,
                      struct laz_error *err)
{
    HANDLE file =
        laz_windows_create(path, GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE, CREATE_NEW,
                           FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT);
    size_t done;
    int rc = 0;

    (void)mode;
    if (file == INVALID_HANDLE_VALUE)
        return laz_windows_fail(err, "cannot create the file %s", path);
    if (laz_windows_write_all(file, data, len, &done))
        rc = laz_windows_fail(err, "the file %s cannot be written", path);
    CloseHandle(file);
    if (rc)
        laz_windows_with(path, DeleteFileW);
    return rc;
}

int laz_os_rewrite_file(const char *path, const void *data, size_t len, unsigned mode,
                        struct laz_error *err)
{
    char random[FILES_RANDOM + 1];
    int rc = laz_random_name(random, FILES_RANDOM, err);
    char *beside = rc ? NULL : laz_strdupf("%s.%s", path, random);

    if (!rc)
        rc = beside ? laz_os_write_file(beside, data, len, mode, err) : laz_error_nomem(err);
    wchar_t *from = rc ? NULL : laz_windows_path(beside), *to = rc ? NULL : laz_windows_path(path);
    if (!rc && (!from || !to))
        rc = laz_error_nomem(err);
    else if (!rc && !MoveFileExW(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH))
        rc = laz_windows_fail(err, "the file %s cannot be replaced", path);
    if (rc && from)
        DeleteFileW(from);
    free(from);
    free(to);
    free(beside);
    return rc;
}

int laz_os_copy_file(const char *from, const char *to, unsigned mode, struct laz_error *err)
{
    wchar_t *wide_from = laz_windows_path(from), *wide_to = laz_windows_path(to);
    int rc = 0;

    (void)mode;
    if (!wide_from || !wide_to)
        rc = laz_error_nomem(err);
    else if (!CopyFileW(wide_from, wide_to, TRUE))
        rc = laz_windows_fail(err, "%s cannot be copied to %s", from, to);
    free(wide_from);
    free(wide_to);
    return rc;
}

static int64_t look_time(const FILETIME *time)
{
    int64_t ticks = (int64_t)(((uint64_t)time->dwHighDateTime << 32) | time->dwLowDateTime);

    return (ticks - LOOK_EPOCH) * 100;
}

/* Access lists are not read: the system checks the user's rights when a call is made. So the mode
 * is that of a directory, or of a file, that other users may not write. */
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
    /* With `follow`, a reparse point that remains is a file that the system stores in a special
     * way. */
    bool is_link = !follow && (info.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT);
    look->kind = is_link                                            ? LAZ_LOOK_LINK
                 : info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? LAZ_LOOK_DIRECTORY
                                                                    : LAZ_LOOK_FILE;
    look->mode = 0755;
    look->device = info.dwVolumeSerialNumber;
    look->inode = ((uint64_t)info.nFileIndexHigh << 32) | info.nFileIndexLow;
    look->size = ((uint64_t)info.nFileSizeHigh << 32) | info.nFileSizeLow;
    look->written_ns = look_time(&info.ftLastWriteTime);
    look->changed_ns = look->written_ns;
    return true;
}

int laz_os_read_file(const char *path, size_t max, struct laz_buf *buf, struct laz_error *err)
{
    HANDLE file = laz_windows_open(path, GENERIC_READ, 0);
    size_t start = buf->len;
    struct laz_look look;
    DWORD n = 1;
    int rc = 0;

    if (file == INVALID_HANDLE_VALUE)
        return laz_windows_fail(err, "the file %s cannot be read", path);
    if (!look_describe(file, true, &look) || look.kind != LAZ_LOOK_FILE)
        rc = laz_error_set(err, LAZ_EINVAL, 0, "%s is not a regular file", path);
    while (!rc && n) {
        if (!laz_buf_reserve(buf, FILES_PIECE)) {
            rc = laz_error_nomem(err);
            break;
        }
        if (!ReadFile(file, buf->data + buf->len, FILES_PIECE, &n, NULL))
            rc = laz_windows_fail(err, "the file %s cannot be read", path);
        buf->len += rc ? 0 : n;
        if (!rc && buf->len - start > max)
            rc = laz_error_set(err, LAZ_ETOOBIG, 0, "the file %s has more than %zu bytes", path,
                               max);
    }
    CloseHandle(file);
    if (rc)
        buf->len = start;
    if (buf->data)
        buf->data[buf->len] = '\0';
    return rc;
}

int laz_os_look(const char *path, bool follow, struct laz_look *look)
{
    HANDLE handle =
        laz_windows_open(path, FILE_READ_ATTRIBUTES, follow ? 0 : FILE_FLAG_OPEN_REPARSE_POINT);

    if (handle == INVALID_HANDLE_VALUE)
        return laz_windows_errno(GetLastError());
    int failed = look_describe(handle, follow, look) ? 0 : laz_windows_errno(GetLastError());
    CloseHandle(handle);
    return failed;
}

int laz_os_open_file(const char *path, bool wait, struct laz_look *look)
{
    HANDLE handle = laz_windows_open(path, GENERIC_READ, 0);

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
