/* SPDX-License-Identifier: MIT */
/* system.c - how many processors there are.  System: POSIX. */
#include "os/system.h"

#include <unistd.h>

unsigned laz_os_processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_CONF); /* any of them may come online */

    return n > 1 ? (unsigned)n : 1;
}
