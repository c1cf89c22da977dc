/* SPDX-License-Identifier: MIT */
/* shared_directory.c - engines share no directory.  System: Windows. */
#include "os/shared_directory.h"

#include <stddef.h>

/* What is staged for sessions has owners and modes, which are not to be had here. */
char *laz_os_shared_folder(void)
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
