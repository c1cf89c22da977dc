/* SPDX-License-Identifier: MIT */
/* usage.c - what another process has used, from /proc/PID/stat (proc(5)).  System: Linux.
 *
 * The file is opened once: the descriptor belongs to that process and never to another that gets
 * its number, and one pread(2) gives all counters. */
#include "os/usage.h"

#include "os/linux/proc.h"

#include <unistd.h>

bool laz_os_usage_open(int64_t pid, struct laz_usage *usage)
{
    *usage = (struct laz_usage){.fd = pid > 0 ? proc_open(pid, "stat") : -1};
    return usage->fd >= 0;
}

void laz_os_usage_read(const struct laz_usage *usage, uint64_t *cpu_us, uint64_t *rss_bytes)
{
    struct proc_stat stat;

    *cpu_us = *rss_bytes = 0;
    if (!proc_stat_text(usage->fd, &stat))
        return;
    *cpu_us = stat.ticks * 1000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    *rss_bytes = (uint64_t)stat.pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
