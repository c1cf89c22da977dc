/* SPDX-License-Identifier: MIT */
/* usage.c - what another process has used, from /proc/PID/stat (proc(5)).  System: Linux.
 *
 * The file is opened once: the descriptor belongs to that process and never to another that gets
 * its number, and one pread(2) gives all counters. */
#include "os/usage.h"

#include "os/posix/descriptors.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool laz_os_usage_open(int64_t pid, struct laz_usage *usage)
{
    char path[48];

    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    *usage =
        (struct laz_usage){.fd = pid > 0 ? laz_posix_above(open(path, O_RDONLY | O_CLOEXEC)) : -1};
    return usage->fd >= 0;
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
    const char *p = strrchr(text, ')'); /* the name before it may contain any character */
    if (!p || sscanf(p + 1,
                     " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu "
                     "%*d %*d %*d %*d %*u %*u %lld",
                     &ticks[0], &ticks[1], &ticks[2], &ticks[3], &pages) != 5)
        return;
    *cpu_us =
        (ticks[0] + ticks[1] + ticks[2] + ticks[3]) * 1000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    *rss_bytes = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
