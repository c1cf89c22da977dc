/* SPDX-License-Identifier: MIT */
/* posix.c - calls that other POSIX systems do not have.  System: Linux. */
#include "os/posix/posix.h"

#include "os/os.h"
#include "os/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

/* ---- descriptors ---------------------------------------------------------------------------- */

int laz_posix_pipe(int ends[2])
{
    return laz_posix_above_both(pipe2(ends, O_CLOEXEC), ends);
}

int laz_posix_socket(int family, bool blocking)
{
    return laz_posix_above(
        socket(family, SOCK_STREAM | SOCK_CLOEXEC | (blocking ? 0 : SOCK_NONBLOCK), 0));
}

int laz_posix_accepted(int fd)
{
    return fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ? -1 : 0;
}

bool laz_posix_has_abstract_names(void)
{
    return true;
}

ssize_t laz_posix_receive(int fd, struct msghdr *message)
{
    return recvmsg(fd, message, MSG_CMSG_CLOEXEC);
}

int laz_posix_sync(int fd)
{
    return fdatasync(fd) == 0 ? 0 : errno;
}

int laz_os_dup_onto(int fd, int number)
{
    return dup3(fd, number, O_CLOEXEC);
}

/* ---- files ---------------------------------------------------------------------------------- */

bool laz_posix_unlock(int parent, const char *name)
{
    char path[64];
    int fd = laz_posix_above(openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));

    if (fd < 0)
        return false;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    bool done = chmod(path, 0700) == 0;
    (void)close(fd);
    return done;
}

bool laz_os_can_execute_below(const char *folder)
{
    struct statvfs fs;

    return statvfs(folder, &fs) == 0 && !(fs.f_flag & ST_NOEXEC);
}

void laz_posix_times(const struct stat *st, struct timespec *modified, struct timespec *changed)
{
    *modified = st->st_mtim;
    *changed = st->st_ctim;
}

const char *laz_os_getenv(const char *name)
{
    return secure_getenv(name);
}

/* ---- processes and threads ------------------------------------------------------------------ */

int laz_os_no_new_privs(struct laz_error *err)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return laz_error_os(err, errno, "cannot set no_new_privs");
    return 0;
}

bool laz_os_inherit_orphans(void)
{
    return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
}

bool laz_os_die_with_parent(int64_t parent, int signal)
{
    return prctl(PR_SET_PDEATHSIG, (unsigned long)signal, 0, 0, 0) == 0 && getppid() == parent;
}

int laz_posix_enter(int parent, const char *name)
{
    return laz_posix_above(openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/* There is no lgetxattrat(2) before Linux 6.13: by the name that /proc gives the folder. */
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

int laz_posix_await_signal(const sigset_t *signals, uint64_t ms)
{
    const struct timespec wait = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000L};
    int got = sigtimedwait(signals, NULL, &wait);

    return got > 0 ? got : 0;
}

void laz_os_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

bool laz_os_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t until_us)
{
    const struct timespec until = {(time_t)(until_us / 1000000), (long)(until_us % 1000000) * 1000};

    return pthread_cond_timedwait(condition, mutex, &until) == 0;
}
