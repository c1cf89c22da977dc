/* SPDX-License-Identifier: MIT */
/* wake.c - a descriptor that becomes readable, by eventfd(2).  System: Linux. */
#include "os/wake.h"

#include "os/posix/descriptors.h"

#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

int laz_os_wake_new(void)
{
    return laz_posix_above(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}

void laz_os_wake(int fd)
{
    uint64_t one = 1;
    ssize_t n = write(fd, &one, sizeof one); /* fails only when it is readable already */

    (void)n;
}
