/* SPDX-License-Identifier: MIT */
/* append.c - a file that several processes append to.  System: Windows.
 * Side: host.  Input trusted: the path yes; what is there no.
 *
 * A user who can write the directory can replace a file in it.  On Windows access lists decide
 * that, which a directory below a user's profile inherits: the user sets them, and they are not
 * judged here; the log of lazaret says so (docs/platforms.md).  The file is opened without
 * following a link, has to be a regular file with one name, and is locked, at an offset behind any
 * byte of it, during one append. */
#include "os/append.h"

#include "base/clock.h"
#include "os/descriptors.h"
#include "os/io.h"
#include "os/paths.h"
#include "os/windows/descriptors.h"
#include "os/windows/files.h"

#include <errno.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>

#define APPEND_SIZE_MS 1000             /* a reader can wait */
#define APPEND_PIECE   ((DWORD)1 << 20) /* read at once */
#define APPEND_TRIES   8                /* renamed again and again */
#define APPEND_AT      0x7fffffff       /* high part of the offset of the byte that is locked */

static OVERLAPPED append_place(uint64_t offset)
{
    OVERLAPPED place;

    memset(&place, 0, sizeof place);
    place.Offset = (DWORD)offset;
    place.OffsetHigh = (DWORD)(offset >> 32);
    return place;
}

static void append_make_directories(const char *path)
{
    wchar_t *wide = laz_windows_path(path);

    for (wchar_t *c = wide ? wide + 3 : NULL; c && (c = wcschr(c, L'\\')); c++) {
        *c = 0;
        (void)CreateDirectoryW(wide, NULL); /* opening the file reports a failure */
        *c = L'\\';
    }
    free(wide);
}

static int append_is_a_file(const char *path, HANDLE handle, struct laz_error *err)
{
    BY_HANDLE_FILE_INFORMATION info;

    if (!GetFileInformationByHandle(handle, &info))
        return laz_windows_fail(err, "the audit log %s cannot be inspected", path);
    if (info.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT)
        return laz_error_set(err, LAZ_ECONFIG, 0,
                             "%s is a link; the audit log has to be the file itself", path);
    if ((info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) || GetFileType(handle) != FILE_TYPE_DISK)
        return laz_error_set(err, LAZ_ECONFIG, 0,
                             "%s is not a regular file; the audit log has to be one", path);
    if (info.nNumberOfLinks > 1)
        return laz_error_set(err, LAZ_ECONFIG, 0,
                             "%s has %lu names (hard links); the audit log has to have one", path,
                             (unsigned long)info.nNumberOfLinks);
    return 0;
}

int laz_append_open(struct laz_append *file, struct laz_error *err)
{
    if (!laz_os_is_absolute(file->path))
        return laz_error_set(err, LAZ_ECONFIG, 0, "%s is not an absolute path", file->path);
    append_make_directories(file->path);
    HANDLE handle =
        laz_windows_create(file->path, GENERIC_READ | FILE_APPEND_DATA | FILE_WRITE_DATA,
                           FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, OPEN_ALWAYS,
                           FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS);
    if (handle == INVALID_HANDLE_VALUE)
        return laz_windows_fail(err, "the audit log %s cannot be opened", file->path);
    int rc = append_is_a_file(file->path, handle, err);
    if (rc) {
        CloseHandle(handle);
        return rc;
    }
    file->fd = laz_windows_new_fd(FDS_FILE, handle);
    return file->fd < 0 ? laz_error_nomem(err) : 0;
}

static int append_lock(int fd, DWORD how, uint64_t most_ms)
{
    uint64_t until_ms = laz_clock_ms() + most_ms;
    OVERLAPPED place = {.OffsetHigh = APPEND_AT};

    for (;;) {
        if (LockFileEx(laz_windows_handle(fd), how | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &place))
            return 0;
        DWORD code = GetLastError();
        if (code != ERROR_LOCK_VIOLATION && code != ERROR_IO_PENDING)
            return laz_windows_errno(code);
        if (laz_clock_ms() >= until_ms)
            return EBUSY;
        Sleep(1);
    }
}

/* Does its name still lead to the file that is open? */
static bool append_is_named(const struct laz_append *file, uint64_t *size)
{
    BY_HANDLE_FILE_INFORMATION held, named;
    HANDLE other = laz_windows_open(file->path, FILE_READ_ATTRIBUTES, FILE_FLAG_OPEN_REPARSE_POINT);
    bool same = false;

    if (other == INVALID_HANDLE_VALUE)
        return false;
    if (GetFileInformationByHandle(other, &named) &&
        GetFileInformationByHandle(laz_windows_handle(file->fd), &held)) {
        same = held.dwVolumeSerialNumber == named.dwVolumeSerialNumber &&
               held.nFileIndexHigh == named.nFileIndexHigh &&
               held.nFileIndexLow == named.nFileIndexLow;
        *size = ((uint64_t)held.nFileSizeHigh << 32) | held.nFileSizeLow;
    }
    CloseHandle(other);
    return same;
}

int laz_append_lock(struct laz_append *file, uint64_t most_ms, bool *reopened, uint64_t *size,
                    struct laz_error *err)
{
    *reopened = file->fd < 0;
    for (int i = 0; i < APPEND_TRIES; i++) {
        int rc = file->fd < 0 ? laz_append_open(file, err) : 0;
        if (rc)
            return rc;
        int failed = append_lock(file->fd, LOCKFILE_EXCLUSIVE_LOCK, most_ms);
        if (failed == EBUSY)
            return laz_error_set(err, LAZ_ETIMEOUT, 0,
                                 "another process keeps the lock of the audit log %s", file->path);
        if (failed)
            return laz_error_os(err, failed, "the audit log %s cannot be locked", file->path);
        if (append_is_named(file, size))
            return 0;
        laz_append_close(file);
        *reopened = true;
    }
    return laz_error_set(err, LAZ_EOS, 0, "the audit log %s is renamed again and again",
                         file->path);
}

static void append_release(int fd)
{
    OVERLAPPED place = {.OffsetHigh = APPEND_AT};

    (void)UnlockFileEx(laz_windows_handle(fd), 0, 1, 0, &place);
}

void laz_append_unlock(struct laz_append *file)
{
    if (file->fd >= 0)
        append_release(file->fd);
}

ssize_t laz_append_read(const struct laz_append *file, uint64_t offset, void *data, size_t len,
                        struct laz_error *err)
{
    size_t done = 0;

    while (done < len) {
        OVERLAPPED place = append_place(offset + done);
        DWORD n = 0, piece = len - done < APPEND_PIECE ? (DWORD)(len - done) : APPEND_PIECE;
        if (!ReadFile(laz_windows_handle(file->fd), (char *)data + done, piece, &n, &place) &&
            GetLastError() != ERROR_HANDLE_EOF) {
            laz_windows_fail(err, "the audit log %s cannot be read", file->path);
            return -1;
        }
        if (!n)
            break;
        done += n;
    }
    return (ssize_t)done;
}

int laz_append_write(struct laz_append *file, uint64_t size, const void *data, size_t len,
                     bool sync, struct laz_error *err)
{
    HANDLE handle = laz_windows_handle(file->fd);
    LARGE_INTEGER end = {.QuadPart = (LONGLONG)size};
    size_t done = 0;
    int failed = 0;

    if (!SetFilePointerEx(handle, end, NULL, FILE_BEGIN))
        return laz_windows_fail(err, "the audit log %s cannot be written", file->path);
    failed = laz_os_write_all(file->fd, data, len, &done);
    if (failed && done && SetFilePointerEx(handle, end, NULL, FILE_BEGIN))
        (void)SetEndOfFile(
            handle); /* if that fails, the next writer finds the incomplete line, and seals it */
    if (!failed && sync && !FlushFileBuffers(handle))
        failed = laz_windows_errno(GetLastError());
    return failed ? laz_error_os(err, failed, "the audit log %s cannot be written", file->path) : 0;
}

void laz_append_close(struct laz_append *file)
{
    laz_os_close(&file->fd);
}

int laz_append_size(int fd, uint64_t *size, struct laz_error *err)
{
    LARGE_INTEGER now = {.QuadPart = 0};
    bool locked = append_lock(fd, 0, APPEND_SIZE_MS) == 0;
    bool told = GetFileSizeEx(laz_windows_handle(fd), &now);

    if (locked)
        append_release(fd);
    *size = (uint64_t)now.QuadPart;
    return told ? 0 : laz_windows_fail(err, "the size of the file cannot be determined");
}
