/* SPDX-License-Identifier: MIT */
/* usage.c - what another process has used, from /proc/PID/stat (proc(5)).  System: Linux.
 *
 * A process is known by its number and the time of its start: numbers are given out in turn
 * (pid_max, proc_sys_kernel(5)), and not all of them within the tick of the clock that this time
 * counts. */
#include "os/usage.h"

#include "os/linux/counters.h"
#include "os/linux/proc.h"
#include "os/posix/descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

bool laz_os_usage_open(int64_t pid, struct laz_usage *usage)
{
    struct proc_stat stat;

    *usage = LAZ_USAGE_INIT;
    errno = ESRCH;
    if (pid <= 0 || !proc_stat(pid, &stat) || !stat.start)
        return false;
    usage->pid = pid;
    usage->begun = stat.start;
    return true;
}

void laz_os_usage_read(struct laz_usage *usage, uint64_t *cpu_us, uint64_t *rss_bytes)
{
    struct counter counter = {usage->open};
    char directory[32], text[PROC_STAT_SIZE];
    struct proc_stat stat;

    *cpu_us = *rss_bytes = 0;
    if (usage->pid <= 0)
        return;
    snprintf(directory, sizeof directory, "/proc/%lld", (long long)usage->pid);
    bool read = counter_read(&counter, directory, "stat", text, sizeof text);
    usage->open = counter.number;
    if (!read || !proc_stat_parse(text, &stat) || stat.start != usage->begun)
        return;
    *cpu_us = stat.ticks * 1000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    *rss_bytes = (uint64_t)stat.pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void laz_os_usage_close(struct laz_usage *usage)
{
    struct counter counter = {usage->open};

    counter_close(&counter);
    *usage = LAZ_USAGE_INIT;
}

static uint64_t usage_clock_us(clockid_t clock)
{
    struct timespec now = {0, 0};

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

/* Without that by which they are counted. */
static uint64_t usage_descriptors(void)
{
    DIR *directory = laz_posix_opendir("/proc/self/fd");
    uint64_t n = 0;

    if (!directory)
        return 0;
    for (const struct dirent *entry; (entry = readdir(directory));)
        n += entry->d_name[0] != '.';
    closedir(directory);
    return n ? n - 1 : 0;
}

bool laz_os_own_usage(struct laz_own_usage *usage)
{
    const uint64_t ticks = (uint64_t)sysconf(_SC_CLK_TCK);
    struct proc_stat stat;

    if (!proc_stat(getpid(), &stat))
        return false;
    *usage = (struct laz_own_usage){
        .cpu_us = usage_clock_us(CLOCK_PROCESS_CPUTIME_ID),
        .rss_bytes = (uint64_t)stat.pages * (uint64_t)sysconf(_SC_PAGESIZE),
        .started_s = (usage_clock_us(CLOCK_REALTIME) - usage_clock_us(CLOCK_BOOTTIME)) / 1000000 +
                     stat.start / ticks,
        .descriptors = usage_descriptors(),
    };
    return true;
}
