/* SPDX-License-Identifier: MIT */
/* directories.c - making, listing and removing directories.  System: Windows.
 * Side: host.  Input trusted: paths yes; what is in a session's directory no.
 *
 * There are no modes: what lazaret makes is in the user's own directory for temporary files, whose
 * access list is inherited.  Removal follows no junction and no link (reparse points), which the
 * code of a session can make. */
#include "os/directories.h"

#include "os/windows/files.h"
#include "os/windows/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIRECTORIES_DEPTH 64    /* levels that are removed at once */
#define DIRECTORIES_LIFTS 10000 /* then it stops: another process keeps making new ones */

static BOOL WINAPI directories_make(LPCWSTR path)
{
    return CreateDirectoryW(path, NULL);
}

int laz_os_make_directory(const char *path, unsigned mode, uint32_t uid, uint32_t gid,
                          struct laz_error *err)
{
    (void)mode;
    (void)uid;
    (void)gid;
    return laz_windows_with(path, directories_make)
               ? 0
               : laz_windows_fail(err, "cannot create the directory %s", path);
}

int laz_os_list_some(const char *path, size_t most, struct laz_strv *names, struct laz_error *err)
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
        else if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && names->n - first == most)
            rc = laz_error_set(err, LAZ_ETOOBIG, 0, "%s has more than %zu entries", path, most);
        else if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
            laz_strv_add(names, name);
        free(name);
        more = FindNextFileW(found, &entry);
    }
    if (!rc && GetLastError() != ERROR_NO_MORE_FILES)
        rc = laz_windows_fail(err, "the directory %s cannot be read", path);
    if (found != INVALID_HANDLE_VALUE)
        FindClose(found);
    free(pattern);
    free(wide);
    if (!rc && names->failed)
        rc = laz_error_nomem(err);
    laz_strv_sort(names, first);
    return rc;
}

bool laz_os_can_execute_below(const char *directory)
{
    return laz_windows_exists(directory);
}

struct directories_removal {
    const wchar_t *top; /* in the form for long paths, because the tree may be deep */
    unsigned moved;     /* directories that were too deep, and were moved up to the top */
    bool again;
};

static void directories_remove(struct directories_removal *removal, const wchar_t *path,
                               unsigned depth);

static void directories_empty(struct directories_removal *removal, const wchar_t *directory,
                              unsigned depth)
{
    WIN32_FIND_DATAW entry;
    size_t len = wcslen(directory);
    wchar_t *path = calloc(len + MAX_PATH + 3, sizeof *path);

    if (!path)
        return;
    memcpy(path, directory, len * sizeof *path);
    wcscpy(path + len, L"\\*");
    HANDLE found = FindFirstFileW(path, &entry);
    while (found != INVALID_HANDLE_VALUE) {
        if (wcscmp(entry.cFileName, L".") != 0 && wcscmp(entry.cFileName, L"..") != 0) {
            wcscpy(path + len + 1, entry.cFileName);
            directories_remove(removal, path, depth);
        }
        if (!FindNextFileW(found, &entry)) {
            FindClose(found);
            break;
        }
    }
    free(path);
}

/* What is too deep is removed in another round, from the top. */
static void directories_lift(struct directories_removal *removal, const wchar_t *path)
{
    size_t room = wcslen(removal->top) + 32;
    wchar_t *name = calloc(room, sizeof *name);

    if (name) {
        _snwprintf(name, room - 1, L"%ls\\lifted-%u", removal->top, ++removal->moved);
        if (removal->moved < DIRECTORIES_LIFTS && MoveFileW(path, name))
            removal->again = true;
    }
    free(name);
}

/* Removes a link or junction itself, not what it leads to. */
static void directories_remove(struct directories_removal *removal, const wchar_t *path,
                               unsigned depth)
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
        if (depth == DIRECTORIES_DEPTH) {
            directories_lift(removal, path);
            return;
        }
        directories_empty(removal, path, depth + 1);
    }
    RemoveDirectoryW(path);
}

void laz_os_remove_tree(const char *path)
{
    wchar_t *wide = laz_windows_long_path(path);
    struct directories_removal removal = {.top = wide, .again = wide != NULL};

    while (removal.again) {
        removal.again = false;
        directories_remove(&removal, wide, 0);
    }
    free(wide);
}
