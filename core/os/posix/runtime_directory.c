/* SPDX-License-Identifier: MIT */
/* runtime_directory.c - the directory of an engine, and the removal of unused ones.
 * Side: host.  Input trusted: no (every user can write /tmp).
 *
 * A directory is in use while a process holds a lock (flock) on the directory itself; the kernel
 * releases the lock when its holder dies, however it dies.  Between making and locking a directory
 * a cleaner may remove it: so after locking, the name must still lead to the directory that was
 * locked, else another one is made.  System: POSIX. */
#include "os/runtime_directory.h"

#include "base/random.h"
#include "os/descriptors.h"
#include "os/directories.h"
#include "os/posix/descriptors.h"
#include "os/posix/files.h"
#include "os/users.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTORY_PARENT "/tmp" /* never $TMPDIR: the path of a socket has about 104 bytes */
#define DIRECTORY_PREFIX "lazaret-"
#define DIRECTORY_RANDOM 8

static bool directory_is_ours(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    const size_t prefix = strlen(DIRECTORY_PREFIX);

    return strncmp(name, DIRECTORY_PREFIX, prefix) == 0 &&
           strlen(name) == prefix + DIRECTORY_RANDOM &&
           strspn(name + prefix, letters) == DIRECTORY_RANDOM;
}

static void directory_clean_stale(void)
{
    struct dirent *entry;
    DIR *dir = laz_posix_opendir(DIRECTORY_PARENT);

    if (!dir)
        return;
    while ((entry = readdir(dir))) {
        char path[sizeof DIRECTORY_PARENT + sizeof DIRECTORY_PREFIX + DIRECTORY_RANDOM + 2];
        if (!directory_is_ours(entry->d_name))
            continue;
        snprintf(path, sizeof path, DIRECTORY_PARENT "/%.*s",
                 (int)(strlen(DIRECTORY_PREFIX) + DIRECTORY_RANDOM), entry->d_name);
        int fd = laz_posix_lock_directory(path, LOCK_EX);
        if (fd < 0)
            continue;
        laz_os_remove_tree(path);
        (void)close(fd);
    }
    (void)closedir(dir);
}

int laz_os_runtime_directory(char **path, int *lock_fd, struct laz_error *err)
{
    char name[DIRECTORY_RANDOM + 1];
    unsigned mode = laz_os_is_root() ? 0711 : 0700;

    directory_clean_stale();
    for (int attempt = 0; attempt < 100; attempt++) {
        int rc = laz_random_name(name, DIRECTORY_RANDOM, err);
        if (rc)
            return rc;
        char *made = laz_strdupf(DIRECTORY_PARENT "/" DIRECTORY_PREFIX "%s", name);
        if (!made)
            return laz_error_nomem(err);
        if (mkdir(made, 0700) == 0) {
            int fd = laz_posix_lock_directory(made, LOCK_EX);
            if (fd >= 0 && fchmod(fd, (mode_t)mode) == 0) {
                *path = made;
                *lock_fd = fd;
                return 0;
            }
            bool is_taken = errno == EWOULDBLOCK; /* by a host that tidies up: not for long */
            if (!is_taken && laz_errno_is_shortage(errno))
                rc = laz_error_os(err, errno, "the directory %s cannot be locked", made);
            laz_os_close(&fd);
            (void)rmdir(made);
        } else if (errno != EEXIST) {
            rc = laz_error_set(
                err, LAZ_EOS, errno,
                "cannot create the directory %s: %s; lazaret keeps the sockets of its "
                "sessions in " DIRECTORY_PARENT ", which has to be writable and not "
                "full",
                made, laz_errno_text(errno));
        }
        free(made);
        if (rc)
            return rc;
    }
    return laz_error_set(err, LAZ_EOS, EEXIST, "cannot create a directory in " DIRECTORY_PARENT);
}
