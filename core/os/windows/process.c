/* SPDX-License-Identifier: MIT */
/* process.c - following a child, and ending it.  System: Windows. */
#include "os/process.h"

#include "os/descriptors.h"
#include "os/process_tree.h"
#include "os/signals.h"
#include "os/windows/descriptors.h"

/* Exit codes of processes that did not exit by themselves, and the signals that mean the same. */
static const struct {
    DWORD code;
    int signal;
} process_signals[] = {
    {PROCESS_KILLED, SIGKILL},
    {ERROR_NOT_ENOUGH_QUOTA, SIGXCPU}, /* the limit of the job's user time (winnt.h, JOB_TIME) */
    {0xC0000044u, SIGKILL},            /* STATUS_QUOTA_EXCEEDED */
    {0xC0000005u, SIGSEGV},            /* STATUS_ACCESS_VIOLATION */
    {0xC00000FDu, SIGSEGV},            /* STATUS_STACK_OVERFLOW */
    {0xC0000094u, SIGFPE},             /* STATUS_INTEGER_DIVIDE_BY_ZERO */
    {0xC000001Du, SIGILL},             /* STATUS_ILLEGAL_INSTRUCTION */
    {0xC0000409u, SIGABRT},            /* STATUS_STACK_BUFFER_OVERRUN, fail-fast */
    {0xC000013Au, SIGINT},             /* STATUS_CONTROL_C_EXIT */
};

/* There are no signals: those that end a process terminate it. */
void laz_process_signal(const struct laz_process *process, int signal)
{
    struct fds_entry *entry = laz_windows_entry(process->pidfd);

    if (entry && (signal == SIGKILL || signal == SIGTERM))
        TerminateProcess(entry->handle, PROCESS_KILLED);
}

bool laz_process_signal_group(const struct laz_process *process, int signal)
{
    struct fds_entry *entry = laz_windows_entry(process->pidfd);

    return entry && entry->job && (signal == SIGKILL || signal == SIGTERM) &&
           TerminateJobObject(entry->job, PROCESS_KILLED);
}

static void process_describe(const struct fds_entry *entry, DWORD code, struct laz_exit *how)
{
    struct laz_tree_usage usage = {0};

    *how = (struct laz_exit){.known = true, .status = -1};
    for (size_t i = 0; i < sizeof process_signals / sizeof *process_signals; i++)
        if (process_signals[i].code == code)
            how->signal = process_signals[i].signal;
    /* An error of the system, or an exception that a language did not catch, counts as a signal.
     * From 0xFFFFFFFF down, -1 and the like, it is a status of the program. */
    if (!how->signal && code >= 0xC0000000u && code < 0xF0000000u)
        how->signal = SIGABRT;
    if (!how->signal)
        how->status = code > 255 ? 255 : (int)code;
    laz_windows_usage(entry->handle, &how->cpu_us, &how->max_rss_bytes);
    if (entry->job && laz_windows_job_usage(entry->job, &usage) && usage.cpu_us > how->cpu_us)
        how->cpu_us = usage.cpu_us;
}

bool laz_process_reap(struct laz_process *process, struct laz_exit *how)
{
    return laz_process_wait(process, 0, how);
}

bool laz_process_wait(struct laz_process *process, uint64_t ms, struct laz_exit *how)
{
    struct fds_entry *entry = laz_windows_entry(process->pidfd);
    DWORD code = 0;

    if (!entry ||
        WaitForSingleObject(entry->handle, ms < INFINITE ? (DWORD)ms : INFINITE) != WAIT_OBJECT_0)
        return false;
    if (how && GetExitCodeProcess(entry->handle, &code))
        process_describe(entry, code, how);
    else if (how)
        *how = (struct laz_exit){.known = false, .status = -1};
    return true;
}

void laz_process_close(struct laz_process *process)
{
    laz_os_close(&process->pidfd);
    process->pid = -1;
}

bool laz_process_has(const struct laz_process *process, int64_t pid)
{
    struct fds_entry *entry = laz_windows_entry(process->pidfd);
    BOOL inside = FALSE;
    HANDLE other = OpenProcess(PROCESS_QUERY_INFORMATION, FALSE, (DWORD)pid);

    if (!other)
        return false;
    if (entry && entry->job)
        (void)IsProcessInJob(other, entry->job, &inside);
    CloseHandle(other);
    return inside;
}
