/* SPDX-License-Identifier: MIT */
/* shared_directory.c - directories that the engines of one user share.
 * Side: host.  Input trusted: yes (only this user can write there).
 *
 * Files that are assembled from those of the host are the same for every engine until one of them
 * changes: they are kept in a directory that only this user can write, under a name derived from
 * their content.  An engine that uses one holds a shared lock (flock) on it; one that is not
 * locked, and was not used for a day (where there are many, for ten minutes), is removed by the
 * next engine that adds one.  The name must still lead to what was locked, because a cleaner may
 * have been faster.  They are where the system itself removes files (/run, a user's
 * XDG_RUNTIME_DIR), never in /tmp; where there is no such place an engine makes its own, because
 * nothing depends on them. System: POSIX. */
#include "os/shared_directory.h"

#include "base/buf.h"
#include "base/random.h"
#include "os/current_process.h"
#include "os/descriptors.h"
#include "os/directories.h"
#include "os/posix/files.h"
#include "os/trust.h"
#include "os/users.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SHARED_NAME   "lazaret-shared"
#define SHARED_UNUSED 86400 /* seconds */
#define SHARED_MANY   8     /* the age where there are many */
#define SHARED_SOON   600
#define SHARED_RANDOM 12

/* Can only this user change what is in it? */
static bool shared_is_ours(const struct stat *st)
{
    return S_ISDIR(st->st_mode) && st->st_uid == geteuid() && !(st->st_mode & 022);
}

static bool shared_is_place(const char *path)
{
    /* sessions of root have uids of their own */
    unsigned mode = laz_os_is_root() ? 0755 : 0700;
    struct stat st;

    if (lstat(path, &st) != 0 &&
        (errno != ENOENT ||
         laz_os_make_directory(path, mode, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, NULL) ||
         lstat(path, &st) != 0))
        return false;
    return shared_is_ours(&st) && (st.st_mode & mode) == mode;
}

char *laz_os_shared_directory(void)
{
    const char *runtime = laz_os_is_root() ? "/run" : laz_os_getenv("XDG_RUNTIME_DIR");
    char *path = NULL;

    if (runtime && laz_trust_directory(runtime, NULL) == 0)
        path = laz_strdupf("%s/" SHARED_NAME, runtime);
    if (path && shared_is_place(path) && laz_os_can_execute_below(path))
        return path;
    free(path);
    return NULL;
}

/* Opens and locks; -1 when it does not exist, belongs to another user, or is being removed. */
static int shared_lock(const char *path, int how)
{
    struct stat locked;
    int fd = laz_posix_lock_directory(path, how);

    if (fd >= 0 && (fstat(fd, &locked) != 0 || !shared_is_ours(&locked)))
        laz_os_close(&fd);
    return fd;
}

int laz_os_shared_use(const char *path)
{
    int fd = shared_lock(path, LOCK_SH);

    if (fd >= 0)
        (void)futimens(fd, NULL); /* when it was used last */
    return fd;
}

char *laz_os_shared_draft(const char *parent)
{
    char random[SHARED_RANDOM + 1];

    return laz_random_name(random, SHARED_RANDOM, NULL) ? NULL
                                                        : laz_strdupf("%s/.%s", parent, random);
}

void laz_os_shared_clean(const char *parent)
{
    struct laz_strv names = LAZ_STRV_INIT;

    (void)laz_os_list_directory(parent, &names, NULL);
    const time_t unused = names.n > SHARED_MANY ? SHARED_SOON : SHARED_UNUSED;
    for (size_t i = 0; i < names.n; i++) {
        struct stat st;
        char *path = laz_strdupf("%s/%s", parent, names.items[i]);
        int fd = -1;
        if (path && lstat(path, &st) == 0 && time(NULL) - st.st_mtime > unused)
            fd = shared_lock(path, LOCK_EX);
        if (fd >= 0)
            laz_os_remove_tree(path);
        laz_os_close(&fd);
        free(path);
    }
    laz_strv_fini(&names);
}
