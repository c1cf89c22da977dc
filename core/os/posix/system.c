/* SPDX-License-Identifier: MIT */
/* system.c - the kernel, and how many processors there are.  System: POSIX. */
#include "os/system.h"

#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

void laz_os_kernel(struct laz_os_kernel *kernel)
{
    struct utsname name = {0};

    uname(&name);
    snprintf(kernel->name, sizeof kernel->name, "%.63s", name.sysname);
    snprintf(kernel->release, sizeof kernel->release, "%.63s", name.release);
    snprintf(kernel->machine, sizeof kernel->machine, "%.63s", name.machine);
}

unsigned laz_os_processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_CONF); /* any of them may come online */

    return n > 1 ? (unsigned)n : 1;
}
