/* SPDX-License-Identifier: MIT */
/* usage.c - what processes and jobs have used.  System: Windows. */
#include "os/usage.h"

#include "os/descriptors.h"
#include "os/pidfd.h"
#include "os/process_tree.h"
#include "os/windows/descriptors.h"

#include <psapi.h>

static uint64_t usage_us(const FILETIME *time) /* 100 ns -> us */
{
    return (((uint64_t)time->dwHighDateTime << 32) | time->dwLowDateTime) / 10;
}

void laz_windows_usage(HANDLE process, uint64_t *cpu_us, uint64_t *rss_bytes)
{
    FILETIME made, ended, kernel, user;
    PROCESS_MEMORY_COUNTERS memory;

    *cpu_us = *rss_bytes = 0;
    if (GetProcessTimes(process, &made, &ended, &kernel, &user))
        *cpu_us = usage_us(&kernel) + usage_us(&user);
    if (GetProcessMemoryInfo(process, &memory, sizeof memory))
        *rss_bytes = memory.PeakWorkingSetSize;
}

bool laz_windows_job_usage(HANDLE job, struct laz_tree_usage *usage)
{
    JOBOBJECT_BASIC_ACCOUNTING_INFORMATION times;
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION memory;

    if (!QueryInformationJobObject(job, JobObjectBasicAccountingInformation, &times, sizeof times,
                                   NULL))
        return false;
    usage->cpu_us = (uint64_t)(times.TotalUserTime.QuadPart + times.TotalKernelTime.QuadPart) / 10;
    usage->processes = times.ActiveProcesses;
    if (QueryInformationJobObject(job, JobObjectExtendedLimitInformation, &memory, sizeof memory,
                                  NULL))
        usage->memory_bytes = memory.PeakJobMemoryUsed;
    return true;
}

bool laz_os_usage_open(int64_t pid, struct laz_usage *usage)
{
    *usage = (struct laz_usage){.fd = laz_os_pidfd(pid)};
    return usage->fd >= 0;
}

void laz_os_usage_read(struct laz_usage *usage, uint64_t *cpu_us, uint64_t *rss_bytes)
{
    struct fds_entry *entry = laz_windows_entry(usage->fd);

    *cpu_us = *rss_bytes = 0;
    if (entry)
        laz_windows_usage(entry->handle, cpu_us, rss_bytes);
}

void laz_os_usage_close(struct laz_usage *usage)
{
    laz_os_close(&usage->fd);
    *usage = LAZ_USAGE_INIT;
}
