/* SPDX-License-Identifier: MIT */
/* pidfd.c - a descriptor for a process: a handle, which keeps its id from being reused.
 * System: Windows. */
#include "os/pidfd.h"

#include "os/process.h"
#include "os/windows/descriptors.h"

int laz_os_pidfd(int64_t pid)
{
    HANDLE process = pid > 0
                         ? OpenProcess(SYNCHRONIZE | PROCESS_TERMINATE | PROCESS_QUERY_INFORMATION,
                                       FALSE, (DWORD)pid)
                         : NULL;

    return process ? laz_windows_new_fd(FDS_PROCESS, process) : -1;
}

int laz_os_pidfd_within(int64_t pid, uint64_t pid_namespace)
{
    (void)pid_namespace;
    return laz_os_pidfd(pid);
}

void laz_os_pidfd_kill(int pidfd)
{
    struct fds_entry *entry = laz_windows_entry(pidfd);

    if (entry)
        TerminateProcess(entry->handle, PROCESS_KILLED);
}

bool laz_os_pidfd_has_ended(int pidfd)
{
    struct fds_entry *entry = laz_windows_entry(pidfd);

    return !entry || WaitForSingleObject(entry->handle, 0) == WAIT_OBJECT_0;
}

bool laz_os_pidfd_end(int pidfd, int *signal, int *status)
{
    struct laz_process process = {.pid = -1, .pidfd = pidfd};
    struct laz_exit how;

    if (!laz_process_wait(&process, 0, &how) || !how.known)
        return false;
    *signal = how.signal;
    *status = how.status;
    return true;
}
