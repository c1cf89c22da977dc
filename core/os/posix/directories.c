/* SPDX-License-Identifier: MIT */
/* directories.c - making, listing and removing directories.
 * Side: host.  Input trusted: paths yes; what is in a session's directory no.
 *
 * A tree that a session could write may hold anything: links, directories without permissions,
 * directories nested deeper than a path or a stack can be.  Removal walks by descriptor, follows no
 * link, and moves what is too deep up to the top before it goes on.  System: POSIX. */
#include "os/directories.h"

#include "base/random.h"
#include "os/descriptors.h"
#include "os/posix/descriptors.h"
#include "os/posix/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORIES_NAME  24
#define DIRECTORIES_DEPTH 32 /* descriptors and stack frames that a removal may hold */

int laz_os_make_directory(const char *path, unsigned mode, uint32_t uid, uint32_t gid,
                          struct laz_error *err)
{
    int rc = 0, fd = -1;

    if (mkdir(path, 0700) != 0)
        return laz_error_os(err, errno, "cannot create the directory %s", path);
    fd = laz_posix_above(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (fd < 0 || ((uid != LAZ_OS_SAME_ID || gid != LAZ_OS_SAME_ID) && fchown(fd, uid, gid) != 0) ||
        laz_posix_set_mode(fd, mode) != 0) {
        rc = laz_error_os(err, errno, "the owner and mode of the directory %s cannot be set", path);
        (void)rmdir(path);
    }
    laz_os_close(&fd);
    return rc;
}

int laz_posix_lock_directory(const char *path, int how)
{
    struct stat st;
    int fd = laz_posix_above(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));

    if (fd >= 0 && (fstat(fd, &st) != 0 || st.st_uid != geteuid() ||
                    flock(fd, how | LOCK_NB) != 0 || !laz_posix_is_named(fd, path, &st)))
        laz_os_close(&fd);
    return fd;
}

int laz_os_list_some(const char *path, size_t most, struct laz_strv *names, struct laz_error *err)
{
    const size_t before = names->n;
    bool are_more = false;
    DIR *dir = laz_posix_opendir(path);
    struct dirent *entry;

    if (!dir)
        return laz_error_os(err, errno, "%s", path);
    while (errno = 0, !are_more && !names->failed && (entry = readdir(dir))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        are_more = names->n - before == most;
        if (!are_more)
            laz_strv_add(names, entry->d_name);
    }
    int failed = errno;
    (void)closedir(dir);
    laz_strv_sort(names, before);
    if (names->failed)
        return laz_error_nomem(err);
    if (are_more)
        return laz_error_set(err, LAZ_ETOOBIG, 0, "%s has more than %zu entries", path, most);
    return failed ? laz_error_os(err, failed, "%s", path) : 0;
}

struct directories_removal {
    int top;    /* the directory that is emptied */
    bool again; /* something was moved up to it: it has to be read again */
};

static int directories_enter(int parent, const char *name)
{
    int fd = laz_posix_above(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));

    if (fd < 0 && errno == EACCES && laz_posix_unlock(parent, name))
        fd = laz_posix_above(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    return fd;
}

/* unlinkat(2), a second time after undoing the protection by its owner. */
static void directories_unlink(int parent, const char *name, int flags)
{
    if (unlinkat(parent, name, flags) != 0 && (errno == EPERM || errno == EACCES) &&
        laz_posix_unlock(parent, name))
        (void)unlinkat(parent, name, flags);
}

static void directories_empty(struct directories_removal *removal, int fd, int depth);

static void directories_remove_directory(struct directories_removal *removal, int parent,
                                         const char *name, int depth)
{
    char up[DIRECTORIES_NAME + 1]; /* a name that could not be guessed */

    if (depth >= DIRECTORIES_DEPTH) {
        if (laz_random_name(up, DIRECTORIES_NAME, NULL) != 0)
            return;
        if (renameat(parent, name, removal->top, up) == 0 ||
            ((errno == EACCES || errno == EPERM) && laz_posix_unlock(parent, name) &&
             renameat(parent, name, removal->top, up) == 0))
            removal->again = true;
        return;
    }
    int fd = directories_enter(parent, name);
    if (fd >= 0)
        directories_empty(removal, fd, depth + 1); /* closes it */
    directories_unlink(parent, name, AT_REMOVEDIR);
}

/* Removes what is in the directory `fd`, and closes it. */
static void directories_empty(struct directories_removal *removal, int fd, int depth)
{
    struct dirent *entry;

    if (fchmod(fd, 0700) != 0) /* its owner may have removed the permission to write */
        (void)laz_posix_unlock(fd, ".");
    DIR *dir = fdopendir(fd);
    if (!dir) {
        (void)close(fd);
        return;
    }
    while ((entry = readdir(dir))) {
        struct stat st;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (S_ISDIR(st.st_mode))
            directories_remove_directory(removal, fd, entry->d_name, depth);
        else
            directories_unlink(fd, entry->d_name, 0);
    }
    (void)closedir(dir);
}

void laz_os_remove_tree(const char *path)
{
    struct directories_removal removal = {.again = true};

    removal.top = directories_enter(AT_FDCWD, path);
    if (removal.top < 0) {
        (void)unlink(path);
        return;
    }
    while (removal.again) {
        removal.again = false;
        int fd = laz_posix_above(openat(removal.top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (fd >= 0)
            directories_empty(&removal, fd, 0);
    }
    (void)close(removal.top);
    (void)rmdir(path);
}
