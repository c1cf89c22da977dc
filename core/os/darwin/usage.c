/* SPDX-License-Identifier: MIT */
/* usage.c - what another process has used (proc_pid_rusage, libproc.h).  System: macOS.
 *
 * A process is identified by its number and the time when it began. */
#include "os/usage.h"

#include "os/darwin/usage.h"

#include <libproc.h>
#include <mach/mach_time.h>

uint64_t laz_darwin_us(uint64_t ticks)
{
    mach_timebase_info_data_t base;

    if (mach_timebase_info(&base) != KERN_SUCCESS || base.denom == 0)
        return 0;
    return (uint64_t)((double)ticks * base.numer / base.denom / 1000.0);
}

bool laz_darwin_usage(int64_t pid, struct rusage_info_v2 *used)
{
    return pid > 0 && proc_pid_rusage((int)pid, RUSAGE_INFO_V2, (rusage_info_t *)used) == 0;
}

bool laz_os_usage_open(int64_t pid, struct laz_usage *usage)
{
    struct rusage_info_v2 used;

    *usage = LAZ_USAGE_INIT;
    if (!laz_darwin_usage(pid, &used))
        return false;
    usage->pid = pid;
    usage->begun = used.ri_proc_start_abstime;
    return true;
}

void laz_os_usage_read(struct laz_usage *usage, uint64_t *cpu_us, uint64_t *rss_bytes)
{
    struct rusage_info_v2 used;

    *cpu_us = *rss_bytes = 0;
    if (!laz_darwin_usage(usage->pid, &used) || used.ri_proc_start_abstime != usage->begun)
        return;
    *cpu_us = laz_darwin_us(used.ri_user_time + used.ri_system_time + used.ri_child_user_time +
                            used.ri_child_system_time);
    *rss_bytes = used.ri_resident_size;
}

void laz_os_usage_close(struct laz_usage *usage)
{
    *usage = LAZ_USAGE_INIT;
}
