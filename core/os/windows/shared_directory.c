/* SPDX-License-Identifier: MIT */
/* shared_directory.c - engines share no directory.  System: Windows. */
#include "os/shared_directory.h"

#include <stddef.h>

/* The files that would be staged for sessions need owners and modes, which Windows does not have.
 */
char *laz_os_shared_directory(void)
{
    return NULL;
}

int laz_os_shared_use(const char *path)
{
    (void)path;
    return -1;
}

char *laz_os_shared_draft(const char *parent)
{
    (void)parent;
    return NULL;
}

void laz_os_shared_clean(const char *parent)
{
    (void)parent;
}
