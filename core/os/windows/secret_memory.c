/* SPDX-License-Identifier: MIT */
/* secret_memory.c - memory for a secret: pages of its own, locked as far as the working set allows.
 * What is in a dump is decided by who writes it. */
#include "os/secret_memory.h"

#include "base/buf.h"

#include <windows.h>

void *laz_os_secret_new(size_t size)
{
    void *data = VirtualAlloc(NULL, size ? size : 1, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE);

    if (data)
        (void)VirtualLock(data, size ? size : 1);
    return data;
}

void laz_os_secret_free(void *data, size_t size)
{
    if (!data)
        return;
    laz_wipe(data, size);
    VirtualFree(data, 0, MEM_RELEASE);
}
