/* SPDX-License-Identifier: MIT */
/* runtime_directory.c - the directory of an engine, and the removal of unused ones.
 * System: Windows. */
#include "os/runtime_directory.h"

#include "base/random.h"
#include "os/directories.h"
#include "os/users.h"
#include "os/windows/descriptors.h"
#include "os/windows/files.h"

#include <stdlib.h>
#include <string.h>

#define DIRECTORY_PREFIX "lazaret-"
#define DIRECTORY_RANDOM 8
#define DIRECTORY_LOCK   "/lock"
#define DIRECTORY_TRIES  5

/* A directory is in use while its file "lock" is open: the file is opened without sharing, and is
 * deleted with its last handle. */
static HANDLE directory_lock(const char *directory)
{
    char *path = laz_strdupf("%s" DIRECTORY_LOCK, directory);
    HANDLE lock = INVALID_HANDLE_VALUE;

    if (path)
        lock = laz_windows_create(path, GENERIC_WRITE | DELETE, 0, OPEN_ALWAYS,
                                  FILE_ATTRIBUTE_HIDDEN | FILE_FLAG_DELETE_ON_CLOSE);
    free(path);
    return lock;
}

static bool directory_is_ours(const char *name)
{
    size_t prefix = strlen(DIRECTORY_PREFIX);

    return strncmp(name, DIRECTORY_PREFIX, prefix) == 0 &&
           strlen(name) == prefix + DIRECTORY_RANDOM &&
           strspn(name + prefix, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "0123456789") == DIRECTORY_RANDOM;
}

static void directory_clean_stale(const char *parent)
{
    struct laz_strv names = LAZ_STRV_INIT;

    (void)laz_os_list_directory(parent, &names, NULL);
    for (size_t i = 0; i < names.n; i++) {
        const char *name = names.items[i];
        char *path = directory_is_ours(name) ? laz_strdupf("%s/%s", parent, name) : NULL;
        HANDLE lock = path ? directory_lock(path) : INVALID_HANDLE_VALUE;
        if (lock != INVALID_HANDLE_VALUE) {
            CloseHandle(lock);
            laz_os_remove_tree(path);
        }
        free(path);
    }
    laz_strv_fini(&names);
}

static char *directory_parent(void)
{
    wchar_t wide[MAX_PATH + 1];
    DWORD n = GetTempPathW(MAX_PATH, wide);

    if (!n || n > MAX_PATH)
        return NULL;
    while (n && (wide[n - 1] == L'\\' || wide[n - 1] == L'/'))
        wide[--n] = 0;
    return laz_windows_slashes(laz_windows_narrow(wide));
}

static int directory_make(const char *parent, char **path, int *lock_fd, struct laz_error *err)
{
    char name[DIRECTORY_RANDOM + 1];
    char *made = NULL;
    int rc = laz_random_name(name, DIRECTORY_RANDOM, err);

    if (!rc) {
        made = laz_strdupf("%s/" DIRECTORY_PREFIX "%s", parent, name);
        rc = made ? laz_os_make_directory(made, 0700, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, err)
                  : laz_error_nomem(err);
    }
    if (!rc) {
        HANDLE lock = directory_lock(made);
        if (lock == INVALID_HANDLE_VALUE)
            rc = laz_windows_fail(err, "the directory %s cannot be locked", made);
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

/* Another engine that starts may remove the new directory as a stale one before it is locked: then
 * another one is made. */
int laz_os_runtime_directory(char **path, int *lock_fd, struct laz_error *err)
{
    char *parent = directory_parent();
    int rc = -1;

    if (!parent)
        return laz_windows_fail(err, "there is no directory for temporary files");
    directory_clean_stale(parent);
    for (int attempt = 0; rc && attempt < DIRECTORY_TRIES; attempt++)
        rc = directory_make(parent, path, lock_fd, attempt + 1 < DIRECTORY_TRIES ? NULL : err);
    free(parent);
    return rc;
}
