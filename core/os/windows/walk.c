/* SPDX-License-Identifier: MIT */
/* walk.c - files below a directory.  System: Windows.
 * Side: host and agent.  Input trusted: the directory yes; what is below it no.
 *
 * By paths: a process of the box may exchange a directory for a reparse point between two calls,
 * and sees by that what its own user sees, as the agent does. */
#include "os/walk.h"

#include "os/descriptors.h"
#include "os/directories.h"
#include "os/windows/files.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>

struct walk {
    bool (*visit)(void *user, const char *name, const struct laz_look *look);
    void *user;
    bool at_top;
    size_t below; /* bytes of a path before the name */
    size_t n;
    bool is_cut, goes_on;
};

static int walk_directory(struct walk *walk, const char *path, int depth);

static int walk_name(struct walk *walk, const char *path, int depth)
{
    struct laz_look look;

    if (walk->n++ >= LAZ_WALK_MOST || depth > LAZ_WALK_DEPTH) {
        walk->is_cut = true;
        return 0;
    }
    if (laz_os_look(path, false, &look))
        return 0;
    if (look.kind == LAZ_LOOK_DIRECTORY)
        return walk->at_top ? 0 : walk_directory(walk, path, depth + 1);
    walk->goes_on = walk->visit(walk->user, path + walk->below, &look);
    return 0;
}

static int walk_directory(struct walk *walk, const char *path, int depth)
{
    struct laz_strv names = {0};
    int failed = laz_os_list_directory(path, &names, NULL) ? EIO : 0;

    for (size_t i = 0; i < names.n && !failed && walk->goes_on; i++) {
        char *below = laz_strdupf("%s/%s", path, names.items[i]);
        failed = below ? walk_name(walk, below, depth) : ENOMEM;
        free(below);
    }
    laz_strv_fini(&names);
    return failed;
}

int laz_os_walk(const char *directory, bool at_top,
                bool (*visit)(void *user, const char *name, const struct laz_look *look),
                void *user)
{
    struct walk walk = {.visit = visit,
                        .user = user,
                        .at_top = at_top,
                        .below = strlen(directory) + 1,
                        .goes_on = true};
    struct laz_look look;
    int failed = laz_os_look(directory, false, &look);

    if (!failed && look.kind != LAZ_LOOK_DIRECTORY)
        failed = ENOTDIR;
    if (!failed)
        failed = walk_directory(&walk, directory, 1);
    return !failed && walk.is_cut && walk.goes_on ? EOVERFLOW : failed;
}

int laz_os_walk_open(const char *directory, const char *name, struct laz_look *look)
{
    char *path = laz_strdupf("%s/%s", directory, name);
    const bool is_file = path && !laz_os_look(path, false, look) && look->kind == LAZ_LOOK_FILE;
    int fd = is_file ? laz_os_open_file(path, false, look) : -1;

    if (!is_file)
        errno = path ? EINVAL : ENOMEM;
    free(path);
    return fd;
}

size_t laz_os_written_files(struct laz_written_file *files, size_t most)
{
    (void)files, (void)most;
    return 0;
}

static BOOL WINAPI walk_make(LPCWSTR path)
{
    return CreateDirectoryW(path, NULL);
}

/* A file that is only to be read cannot be deleted. */
static BOOL WINAPI walk_unprotect(LPCWSTR path)
{
    return SetFileAttributesW(path, FILE_ATTRIBUTE_NORMAL);
}

static int walk_make_directory(const char *path)
{
    return laz_windows_with(path, walk_make) ? 0 : laz_windows_errno(GetLastError());
}

int laz_os_walk_make(const char *directory, const char *name, const void *data, size_t len)
{
    char *path = laz_strdupf("%s/%s", directory, name);
    struct laz_error err = {0};
    struct laz_look look;
    int failed = path ? 0 : ENOMEM;

    for (char *at = path ? path + strlen(directory) + 1 : NULL; !failed && (at = strchr(at, '/'));
         *at++ = '/') {
        *at = '\0';
        if (laz_os_look(path, false, &look))
            failed = walk_make_directory(path);
        else if (look.kind != LAZ_LOOK_DIRECTORY)
            failed = EEXIST;
    }
    if (!failed && laz_os_write_file(path, data, len, 0644, &err))
        failed = err.os_errno ? err.os_errno : EIO;
    free(path);
    return failed;
}

bool laz_os_watch_directory(const char *path, int64_t *written_ns)
{
    (void)path, (void)written_ns; /* it is looked into each time */
    return false;
}

int laz_os_replace_file(const char *path, unsigned mode)
{
    const DWORD flags = mode & 0200 ? FILE_ATTRIBUTE_NORMAL : FILE_ATTRIBUTE_READONLY;
    HANDLE file = laz_windows_create(path, GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE,
                                     CREATE_NEW, flags);

    if (file == INVALID_HANDLE_VALUE && GetLastError() == ERROR_FILE_EXISTS) {
        laz_windows_with(path, walk_unprotect);
        if (laz_windows_with(path, DeleteFileW))
            file = laz_windows_create(path, GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE,
                                      CREATE_NEW, flags);
    }
    if (file == INVALID_HANDLE_VALUE) {
        errno = laz_windows_errno(GetLastError());
        return -1;
    }
    int fd = _open_osfhandle((intptr_t)file, _O_WRONLY | _O_BINARY | _O_NOINHERIT);
    if (fd < 0)
        CloseHandle(file);
    return fd;
}
