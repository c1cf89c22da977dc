/* SPDX-License-Identifier: MIT */
/* secret_memory.h - memory for a secret: it is in no dump of this process, in no child that fork
 * makes, and on no disk as far as the limit of locked memory allows. */
#ifndef LAZ_OS_SECRET_MEMORY_H
#define LAZ_OS_SECRET_MEMORY_H

#include <stddef.h>

/* At least `size` bytes, all zero; NULL: out of memory. */
void *laz_os_secret_new(size_t size);
/* Overwrites it, and gives it back. `size` as it was asked for; NULL is allowed. */
void laz_os_secret_free(void *data, size_t size);

#endif
