/* SPDX-License-Identifier: MIT */
/* secret_memory.c - memory for a secret: pages of its own, which what the system offers is asked
 * for.
 *
 * Nothing but the pages themselves can be missing: a system that cannot leave them out of dumps, or
 * a limit that does not let them be locked, is no reason to refuse a secret. */
#include "os/secret_memory.h"

#include "base/buf.h"

#include <sys/mman.h>

void *laz_os_secret_new(size_t size)
{
    void *data =
        mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (data == MAP_FAILED)
        return NULL;
#ifdef MADV_DONTDUMP
    (void)madvise(data, size ? size : 1, MADV_DONTDUMP);
#endif
#ifdef MADV_WIPEONFORK
    (void)madvise(data, size ? size : 1, MADV_WIPEONFORK);
#endif
    (void)mlock(data, size ? size : 1);
    return data;
}

void laz_os_secret_free(void *data, size_t size)
{
    if (!data)
        return;
    laz_wipe(data, size);
    munmap(data, size ? size : 1);
}
