/* SPDX-License-Identifier: MIT */
/* files.c - whole files and folders: made, read with a bound, removed.  System: Windows.
 * Side: host.  Input trusted: paths yes; what lies in a session's folder no.
 *
 * There are no modes: what lazaret makes lies in the user's own folder for temporary files, whose
 * access list is inherited.  Removal follows no junction and no link (reparse points), which the
 * code of a session can make. */
#include "base/buf.h"
#include "base/random.h"
#include "os/io.h"
#include "os/os.h"
#include "os/windows/windows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES_PIECE 65536
#define FILES_DEPTH 64    /* of folders that are removed in one go */
#define FILES_LIFTS 10000 /* then it is given up: somebody makes them */

/* One try for each: `call` gets the path as Windows wants it. */
static bool files_with(const char *path, BOOL(WINAPI *call)(LPCWSTR))
{
    wchar_t *wide = laz_windows_path(path);
    bool done = wide && call(wide);
    DWORD code = GetLastError();

    free(wide);
    SetLastError(wide ? code : ERROR_NOT_ENOUGH_MEMORY);
    return done;
}

static BOOL WINAPI files_make(LPCWSTR path)
{
    return CreateDirectoryW(path, NULL);
}

int laz_os_make_folder(const char *path, unsigned mode, uint32_t uid, uint32_t gid,
                       struct laz_error *err)
{
    (void)mode;
    (void)uid;
    (void)gid;
    return files_with(path, files_make)
               ? 0
               : laz_windows_fail(err, "the folder %s cannot be made", path);
}

/* `create`: CREATE_NEW, OPEN_EXISTING. */
static HANDLE files_open(const char *path, DWORD access, DWORD create)
{
    wchar_t *wide = laz_windows_path(path);
    HANDLE file = INVALID_HANDLE_VALUE;

    if (wide)
        file = CreateFileW(wide, access, FILE_SHARE_READ | FILE_SHARE_DELETE, NULL, create,
                           FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    DWORD code = GetLastError();
    free(wide);
    SetLastError(code);
    return file;
}

static bool files_write(HANDLE file, const char *data, size_t len)
{
    DWORD n = 0;

    for (size_t done = 0; done < len; done += n) {
        DWORD piece = len - done < FILES_PIECE ? (DWORD)(len - done) : FILES_PIECE;
        if (!WriteFile(file, data + done, piece, &n, NULL) || !n)
            return false;
    }
    return true;
}

int laz_os_write_file(const char *path, const void *data, size_t len, unsigned mode,
                      struct laz_error *err)
{
    HANDLE file = files_open(path, GENERIC_WRITE, CREATE_NEW);
    int rc = 0;

    (void)mode;
    if (file == INVALID_HANDLE_VALUE)
        return laz_windows_fail(err, "the file %s cannot be made", path);
    if (!files_write(file, data, len))
        rc = laz_windows_fail(err, "the file %s cannot be written", path);
    CloseHandle(file);
    if (rc)
        files_with(path, DeleteFileW);
    return rc;
}

/* A regular file: neither a folder nor a device. */
static int files_open_regular(const char *path, HANDLE *file, struct laz_error *err)
{
    BY_HANDLE_FILE_INFORMATION info;
    wchar_t *wide = laz_windows_path(path);
    int rc = 0;

    if (!wide)
        return laz_error_nomem(err);
    *file = CreateFileW(wide, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                        NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    DWORD code = GetLastError();
    free(wide);
    SetLastError(code);
    if (*file == INVALID_HANDLE_VALUE)
        return laz_windows_fail(err, "the file %s cannot be read", path);
    if (GetFileType(*file) != FILE_TYPE_DISK || !GetFileInformationByHandle(*file, &info) ||
        (info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY)) {
        rc = laz_error_set(err, LAZ_EINVAL, 0, "%s is not a regular file", path);
        CloseHandle(*file);
    }
    return rc;
}

int laz_os_read_file(const char *path, size_t max, struct laz_buf *buf, struct laz_error *err)
{
    size_t start = buf->len;
    HANDLE file = INVALID_HANDLE_VALUE;
    DWORD n = 0;
    int rc = files_open_regular(path, &file, err);

    if (rc)
        return rc;
    do {
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
    } while (!rc && n);
    CloseHandle(file);
    if (rc)
        buf->len = start;
    if (buf->data)
        buf->data[buf->len] = '\0';
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

/* ---- removing ------------------------------------------------------------------------------- */

struct files_removal {
    const wchar_t *top; /* in the form for long paths: what lies below may be deep */
    unsigned moved;     /* folders that were too deep, and lie in it now */
    bool again;
};

static void files_remove(struct files_removal *removal, const wchar_t *path, unsigned depth);

static void files_empty(struct files_removal *removal, const wchar_t *folder, unsigned depth)
{
    WIN32_FIND_DATAW entry;
    size_t len = wcslen(folder);
    wchar_t *path = calloc(len + MAX_PATH + 3, sizeof *path);

    if (!path)
        return;
    memcpy(path, folder, len * sizeof *path);
    wcscpy(path + len, L"\\*");
    HANDLE found = FindFirstFileW(path, &entry);
    while (found != INVALID_HANDLE_VALUE) {
        if (wcscmp(entry.cFileName, L".") != 0 && wcscmp(entry.cFileName, L"..") != 0) {
            wcscpy(path + len + 1, entry.cFileName);
            files_remove(removal, path, depth);
        }
        if (!FindNextFileW(found, &entry)) {
            FindClose(found);
            break;
        }
    }
    free(path);
}

/* What is too deep is removed in another round, from the top. */
static void files_lift(struct files_removal *removal, const wchar_t *path)
{
    size_t room = wcslen(removal->top) + 32;
    wchar_t *name = calloc(room, sizeof *name);

    if (name) {
        _snwprintf(name, room - 1, L"%ls\\lifted-%u", removal->top, ++removal->moved);
        if (removal->moved < FILES_LIFTS && MoveFileW(path, name))
            removal->again = true;
    }
    free(name);
}

/* A link or junction is removed, and what it leads to is left. */
static void files_remove(struct files_removal *removal, const wchar_t *path, unsigned depth)
{
    DWORD attributes = GetFileAttributesW(path);

    if (attributes == INVALID_FILE_ATTRIBUTES)
        return;
    if (attributes & FILE_ATTRIBUTE_READONLY)
        SetFileAttributesW(path, FILE_ATTRIBUTE_NORMAL);
    if (!(attributes & FILE_ATTRIBUTE_DIRECTORY)) {
        DeleteFileW(path);
        return;
    }
    if (!(attributes & FILE_ATTRIBUTE_REPARSE_POINT)) {
        if (depth == FILES_DEPTH) {
            files_lift(removal, path);
            return;
        }
        files_empty(removal, path, depth + 1);
    }
    RemoveDirectoryW(path);
}

void laz_os_remove_tree(const char *path)
{
    wchar_t *wide = laz_windows_long_path(path);
    struct files_removal removal = {.top = wide, .again = wide != NULL};

    while (removal.again) {
        removal.again = false;
        files_remove(&removal, wide, 0);
    }
    free(wide);
}

/* ---- the folder of an engine ---------------------------------------------------------------- */

#define FOLDER_PREFIX "lazaret-"
#define FOLDER_RANDOM 8
#define FOLDER_LOCK   "/lock"
#define FOLDER_TRIES  5

/* A folder is in use while its file "lock" is open: it is opened for nobody else, and goes with its
 * last handle. */
static HANDLE folder_lock(const char *folder)
{
    char *path = laz_strdupf("%s" FOLDER_LOCK, folder);
    wchar_t *wide = path ? laz_windows_path(path) : NULL;
    HANDLE lock = INVALID_HANDLE_VALUE;

    if (wide)
        lock = CreateFileW(wide, GENERIC_WRITE | DELETE, 0, NULL, OPEN_ALWAYS,
                           FILE_ATTRIBUTE_HIDDEN | FILE_FLAG_DELETE_ON_CLOSE, NULL);
    free(path);
    free(wide);
    return lock;
}

static bool folder_is_ours(const char *name)
{
    size_t prefix = strlen(FOLDER_PREFIX);

    return strncmp(name, FOLDER_PREFIX, prefix) == 0 && strlen(name) == prefix + FOLDER_RANDOM &&
           strspn(name + prefix, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "0123456789") == FOLDER_RANDOM;
}

static void folder_clean_stale(const char *parent)
{
    WIN32_FIND_DATAW entry;
    char *pattern = laz_strdupf("%s/" FOLDER_PREFIX "*", parent);
    wchar_t *wide = pattern ? laz_windows_path(pattern) : NULL;
    HANDLE found = wide ? FindFirstFileW(wide, &entry) : INVALID_HANDLE_VALUE;

    while (found != INVALID_HANDLE_VALUE) {
        char *name = laz_windows_narrow(entry.cFileName);
        char *path = name && folder_is_ours(name) ? laz_strdupf("%s/%s", parent, name) : NULL;
        HANDLE lock = path ? folder_lock(path) : INVALID_HANDLE_VALUE;
        if (lock != INVALID_HANDLE_VALUE) {
            CloseHandle(lock);
            laz_os_remove_tree(path);
        }
        free(name);
        free(path);
        if (!FindNextFileW(found, &entry)) {
            FindClose(found);
            break;
        }
    }
    free(pattern);
    free(wide);
}

static char *folder_parent(void)
{
    wchar_t wide[MAX_PATH + 1];
    DWORD n = GetTempPathW(MAX_PATH, wide);

    if (!n || n > MAX_PATH)
        return NULL;
    while (n && (wide[n - 1] == L'\\' || wide[n - 1] == L'/'))
        wide[--n] = 0;
    return laz_windows_slashes(laz_windows_narrow(wide));
}

static int folder_make(const char *parent, char **path, int *lock_fd, struct laz_error *err)
{
    char name[FOLDER_RANDOM + 1];
    char *made = NULL;
    int rc = laz_random_name(name, FOLDER_RANDOM, err);

    if (!rc) {
        made = laz_strdupf("%s/" FOLDER_PREFIX "%s", parent, name);
        rc = made ? laz_os_make_folder(made, 0700, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, err)
                  : laz_error_nomem(err);
    }
    if (!rc) {
        HANDLE lock = folder_lock(made);
        if (lock == INVALID_HANDLE_VALUE)
            rc = laz_windows_fail(err, "the folder %s cannot be locked", made);
        else if ((*lock_fd = laz_windows_new_fd(FDS_FILE, lock)) < 0)
            rc = laz_error_nomem(err);
        if (rc)
            laz_os_remove_tree(made);
    }
    if (rc)
        free(made);
    else
        *path = made;
    return rc;
}

/* Another one that starts may take the new folder for a stale one before it is locked. */
int laz_os_runtime_folder(char **path, int *lock_fd, struct laz_error *err)
{
    char *parent = folder_parent();
    int rc = -1;

    if (!parent)
        return laz_windows_fail(err, "there is no folder for temporary files");
    folder_clean_stale(parent);
    for (int attempt = 0; rc && attempt < FOLDER_TRIES; attempt++)
        rc = folder_make(parent, path, lock_fd, attempt + 1 < FOLDER_TRIES ? NULL : err);
    free(parent);
    return rc;
}

/* What is staged for sessions has owners and modes, which are not to be had here. */
char *laz_os_shared_folder(void)
{
    return NULL;
}

int laz_os_shared_use(const char *path)
{
    (void)path;
    return -1;
}

char *laz_os_shared_draft(const char *parent)
{
    (void)parent;
    return NULL;
}

void laz_os_shared_clean(const char *parent)
{
    (void)parent;
}
