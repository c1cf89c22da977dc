/* SPDX-License-Identifier: MIT */
/* pidfd.c - processes that are not our children: what they have used, from /proc/PID/stat
 * (proc(5)), and their end.
 *
 * The file is opened once: the descriptor belongs to that process and never to another that gets
 * its number, and one pread tells all. */
#include "os/io.h"
#include "os/os.h"
#include "os/posix/posix.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

bool laz_os_usage_open(int64_t pid, struct laz_usage *usage)
{
    char path[48];

    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    *usage =
        (struct laz_usage){.fd = pid > 0 ? laz_posix_above(open(path, O_RDONLY | O_CLOEXEC)) : -1};
    return usage->fd >= 0;
}

bool laz_os_usage_is_open(const struct laz_usage *usage)
{
    return usage->fd >= 0;
}

void laz_os_usage_close(struct laz_usage *usage)
{
    laz_os_close(&usage->fd);
}

/* Fields 14 utime, 15 stime, 16 cutime, 17 cstime (ticks), 24 rss (pages). */
void laz_os_usage_read(const struct laz_usage *usage, uint64_t *cpu_us, uint64_t *rss_bytes)
{
    char text[1024];
    unsigned long long ticks[4];
    long long pages;

    *cpu_us = *rss_bytes = 0;
    ssize_t n = usage->fd >= 0 ? pread(usage->fd, text, sizeof text - 1, 0) : -1;
    if (n <= 0)
        return;
    text[n] = '\0';
    const char *p = strrchr(text, ')'); /* the name before it may contain anything */
    if (!p || sscanf(p + 1,
                     " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu "
                     "%*d %*d %*d %*d %*u %*u %lld",
                     &ticks[0], &ticks[1], &ticks[2], &ticks[3], &pages) != 5)
        return;
    *cpu_us =
        (ticks[0] + ticks[1] + ticks[2] + ticks[3]) * 1000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    *rss_bytes = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

int laz_os_pidfd(int64_t pid)
{
    /* close-on-exec by itself */
    return pid > 0 ? laz_posix_above((int)syscall(SYS_pidfd_open, (pid_t)pid, 0)) : -1;
}

int laz_os_pidfd_within(int64_t pid, uint64_t pid_namespace)
{
    int pidfd = laz_os_pidfd(pid);
    char path[48];
    struct stat st;

    if (pidfd < 0 || !pid_namespace)
        return pidfd;
    snprintf(path, sizeof path, "/proc/%lld/ns/pid", (long long)pid);
    /* what was looked at is the process of the descriptor only if that lives still */
    if (stat(path, &st) != 0 || st.st_ino != pid_namespace || laz_os_pidfd_has_ended(pidfd)) {
        (void)close(pidfd);
        return -1;
    }
    return pidfd;
}

bool laz_os_pidfd_has_ended(int pidfd)
{
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};
    siginfo_t info = {.si_pid = 0};
    int n = pidfd < 0 ? 1 : poll(&ended, 1, 0);

    if (n < 0) /* of a child there is somebody else to ask */
        return waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid;
    return n == 1;
}

/* Of pidfd_info (ioctl_pidfs, Linux 6.13; the exit code since 6.15), for headers that are older. */
struct other_pidfd_info {
    uint64_t mask, cgroup;
    uint32_t ids[11]; /* pid, tgid, ppid, and uids and gids */
    int32_t exit_code;
};
#define OTHER_INFO_EXIT ((uint64_t)1 << 3)
#define OTHER_GET_INFO  _IOWR(0xFF, 11, struct other_pidfd_info)
_Static_assert(sizeof(struct other_pidfd_info) == 64, "the size is part of the request's number");

bool laz_os_pidfd_end(int pidfd, int *signal, int *status)
{
    struct other_pidfd_info info = {.mask = OTHER_INFO_EXIT};

    if (pidfd < 0 || ioctl(pidfd, OTHER_GET_INFO, &info) != 0 || !(info.mask & OTHER_INFO_EXIT))
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
