/* SPDX-License-Identifier: MIT */
/* files.c - files and directories: what Linux does in its own way.  System: Linux. */
#include "os/posix/files.h"

#include "os/directories.h"
#include "os/paths.h"
#include "os/posix/descriptors.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

char *laz_os_own_program(void)
{
    return realpath("/proc/self/exe", NULL);
}

int laz_posix_sync(int fd)
{
    return fdatasync(fd) == 0 ? 0 : errno;
}

void laz_posix_times(const struct stat *st, struct timespec *modified, struct timespec *changed)
{
    *modified = st->st_mtim;
    *changed = st->st_ctim;
}

int laz_posix_enter(int parent, const char *name)
{
    return laz_posix_above(openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

bool laz_posix_unlock(int parent, const char *name)
{
    char path[64];
    int fd = laz_posix_enter(parent, name);

    if (fd < 0)
        return false;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    bool done = chmod(path, 0700) == 0;
    (void)close(fd);
    return done;
}

/* There is no lgetxattrat(2) before Linux 6.13: it uses the name that /proc gives the directory. */
bool laz_posix_has_acl(int parent, const char *name)
{
    char path[64 + NAME_MAX];

    snprintf(path, sizeof path, "/proc/self/fd/%d/%s", parent, name);
    return lgetxattr(path, "system.posix_acl_access", NULL, 0) >= 0 ||
           (errno != ENODATA && errno != EOPNOTSUPP);
}

bool laz_posix_is_root_group(uint32_t gid)
{
    return gid == 0;
}

bool laz_os_can_execute_below(const char *directory)
{
    struct statvfs fs;

    return statvfs(directory, &fs) == 0 && !(fs.f_flag & ST_NOEXEC);
}

/* The loader knows a program by its argv[0], which the caller chooses; the kernel knows its file. A
 * relative path of a library led from a working directory that may be another by now. */
char *laz_posix_own_file(void)
{
    Dl_info own, program;

    if (!getauxval(AT_SECURE) && dladdr((void *)(uintptr_t)laz_posix_own_file, &own)) {
        bool is_program = dladdr((void *)(uintptr_t)getauxval(AT_ENTRY), &program) &&
                          program.dli_fbase == own.dli_fbase;
        if (is_program || own.dli_fname[0] == '/')
            return realpath(is_program ? "/proc/self/exe" : own.dli_fname, NULL);
    }
    errno = ENOENT;
    return NULL;
}
