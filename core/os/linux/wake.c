/* SPDX-License-Identifier: MIT */
/* wake.c - a descriptor that becomes readable, by eventfd(2).  System: Linux. */
#include "os/wake.h"

#include "os/posix/descriptors.h"

#include <sys/eventfd.h>

int laz_os_wake_new(void)
{
    return laz_posix_above(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}

void laz_os_wake(int fd)
{
    (void)eventfd_write(fd, 1); /* fails only when it is readable already */
}

void laz_os_wake_clear(int fd)
{
    eventfd_t count;

    (void)eventfd_read(fd, &count); /* fails only when it is not readable */
}
