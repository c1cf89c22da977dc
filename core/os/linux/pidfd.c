/* SPDX-License-Identifier: MIT */
/* pidfd.c - descriptors for processes that are not children of this one.  System: Linux.
 * Side: host.  Input trusted: no (a pid may be reused at any time).
 *
 * A pid that was received earlier may belong to another process by now: what is read about it in
 * /proc counts only if the process behind the descriptor is still alive afterwards, and another one
 * would also have to be the first process of a namespace in the same place. */
#include "os/pidfd.h"

#include "os/descriptors.h"
#include "os/linux/proc.h"
#include "os/linux/signals.h"
#include "os/posix/descriptors.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Requests of linux/nsfs.h: since Linux 4.9, and 6.11. */
#define PIDFD_NS_PARENT _IO(0xb7, 0x2)
#define PIDFD_NS_TGID   _IOR(0xb7, 0x7, int)

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

int laz_os_pidfd(int64_t pid)
{
    /* it is close-on-exec by default */
    errno = ESRCH;
    return pid > 0 ? laz_posix_above((int)syscall(SYS_pidfd_open, (pid_t)pid, 0)) : -1;
}

int laz_os_pidfd_within(int64_t pid, uint64_t pid_namespace)
{
    int pidfd = laz_os_pidfd(pid);

    if (pidfd < 0 || !pid_namespace)
        return pidfd;
    uint64_t its = proc_namespace(pid, "pid");
    int failed = !its && laz_errno_is_shortage(errno) ? errno : ESRCH;
    /* the entry in /proc was that of the descriptor only if the process still lives */
    if (its != pid_namespace || laz_os_pidfd_has_ended(pidfd)) {
        laz_os_close(&pidfd);
        errno = failed;
    }
    return pidfd;
}

bool laz_os_pidfd_has_ended(int pidfd)
{
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};
    siginfo_t info = {.si_pid = 0};
    int n = pidfd < 0 ? 1 : poll(&ended, 1, 0);

    if (n >= 0)
        return n == 1;
    /* poll(2) failed: a child can be asked directly; of another process it is known when that was
     * waited for */
    if (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
        return info.si_pid != 0;
    return syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) != 0 && errno == ESRCH;
}

/* struct pidfd_info (ioctl_pidfs, Linux 6.13; the exit code since 6.15), for older headers. */
struct pidfd_kernel_info {
    uint64_t mask, cgroup;
    uint32_t ids[11]; /* pid, tgid, ppid, and uids and gids */
    int32_t exit_code;
};
#define PIDFD_INFO_EXIT ((uint64_t)1 << 3)
#define PIDFD_GET_INFO  _IOWR(0xFF, 11, struct pidfd_kernel_info)
_Static_assert(sizeof(struct pidfd_kernel_info) == 64, "the size is part of the request's number");

bool laz_os_pidfd_end(int pidfd, int *signal, int *status)
{
    struct pidfd_kernel_info info = {.mask = PIDFD_INFO_EXIT};

    if (pidfd < 0 || ioctl(pidfd, PIDFD_GET_INFO, &info) != 0 || !(info.mask & PIDFD_INFO_EXIT))
        return false;
    *signal = WIFSIGNALED(info.exit_code) ? WTERMSIG(info.exit_code) : 0;
    *status = WIFEXITED(info.exit_code) ? WEXITSTATUS(info.exit_code) : -1;
    return true;
}

void laz_os_pidfd_kill(int pidfd)
{
    if (pidfd >= 0)
        syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
}

/* The kernel takes what a queued signal carries from here (rt_sigqueueinfo(2)). */
bool laz_os_pidfd_interrupt(int pidfd, uint32_t number)
{
    siginfo_t info = {.si_signo = LINUX_INTERRUPT, .si_code = SI_QUEUE};

    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value.sival_int = (int)number;
    return pidfd >= 0 && syscall(SYS_pidfd_send_signal, pidfd, LINUX_INTERRUPT, &info, 0) == 0;
}

/* A descriptor or memory was missing: that says nothing about the process. */
static int pidfd_shortage(int failed)
{
    return laz_errno_is_shortage(failed) ? failed : 0;
}

/* The number that the process has in its own, innermost namespace: the last of "NSpid:". 0, or an
 * errno. */
static int pidfd_own_number(int64_t pid, long *number)
{
    char path[64], line[256];

    *number = -1;
    snprintf(path, sizeof path, "/proc/%lld/status", (long long)pid);
    FILE *file = laz_posix_fopen(path);
    if (!file)
        return errno;
    while (fgets(line, sizeof line, file)) {
        const char *last = strrchr(line, '\t');
        if (strncmp(line, "NSpid:", 6) == 0 && last)
            *number = strtol(last, NULL, 10);
    }
    (void)fclose(file);
    return 0;
}

/* Is the namespace directly inside the one with the inode `above`? 0, or the errno of a shortage.
 */
static int pidfd_is_inside(int own, uint64_t above, bool *inside)
{
    struct stat parent_is;
    int parent = laz_posix_above(ioctl(own, PIDFD_NS_PARENT));

    *inside = false;
    if (parent < 0)
        return pidfd_shortage(errno);
    *inside = fstat(parent, &parent_is) == 0 && (uint64_t)parent_is.st_ino == above;
    (void)close(parent);
    return 0;
}

/* Is the process the first one of the namespace? 0, or the errno of a shortage. */
static int pidfd_is_first(int own, int64_t pid, bool *first)
{
    int init = ioctl(own, PIDFD_NS_TGID, 1), failed = init < 0 ? errno : 0;
    long number;

    *first = init == pid;
    if (failed != ENOTTY && failed != EINVAL)
        return pidfd_shortage(failed);
    failed = pidfd_own_number(pid, &number);
    *first = number == 1;
    return pidfd_shortage(failed);
}

/* *wrong: NULL, or the reason why it is not as expected. 0, or the errno of a shortage. */
static int pidfd_check_namespace(int64_t pid, uint64_t above, const char **wrong)
{
    bool inside = false, first = false;
    int own = proc_open(pid, "ns/pid");
    int failed = own < 0 ? pidfd_shortage(errno) : pidfd_is_inside(own, above, &inside);

    if (!failed && inside)
        failed = pidfd_is_first(own, pid, &first);
    *wrong = own < 0   ? "whose pid namespace is unknown"
             : !inside ? "that is not in a pid namespace of its own below the template's"
             : !first  ? "that is not the first of its pid namespace"
                       : NULL;
    laz_os_close(&own);
    return failed;
}

int laz_os_adopt(int64_t pid, uint64_t above, int *pidfd, struct laz_error *err)
{
    const char *wrong = "but the template's pid namespace is unknown";
    int fd = laz_os_pidfd(pid), failed = fd < 0 ? pidfd_shortage(errno) : 0;

    if (fd < 0 && !failed)
        return laz_error_set(err, LAZ_EPROTO, 0, "the process that sent the token has ended");
    if (!failed && above)
        failed = pidfd_check_namespace(pid, above, &wrong);
    if (!failed && !wrong && laz_os_pidfd_has_ended(fd))
        wrong = "that has ended";
    if (failed || wrong)
        laz_os_close(&fd);
    if (failed)
        return laz_error_os(err, failed, "it cannot be found out which process has sent the token");
    if (wrong)
        return laz_error_set(err, LAZ_EPROTO, 0, "the token came from a process %s", wrong);
    *pidfd = fd;
    return 0;
}
