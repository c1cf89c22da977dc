/* SPDX-License-Identifier: MIT */
/* wake.c - a descriptor that becomes readable: an event object.  System: Windows. */
#include "os/wake.h"

#include "os/windows/descriptors.h"

int laz_os_wake_new(void)
{
    HANDLE event = CreateEventW(NULL, TRUE, FALSE, NULL);

    return event ? laz_windows_new_fd(FDS_EVENT, event) : -1;
}

void laz_os_wake(int fd)
{
    struct fds_entry *entry = laz_windows_entry(fd);

    if (entry)
        SetEvent(entry->handle);
}

void laz_os_wake_clear(int fd)
{
    struct fds_entry *entry = laz_windows_entry(fd);

    if (entry)
        ResetEvent(entry->handle);
}
