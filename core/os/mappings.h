/* SPDX-License-Identifier: MIT */
/* mappings.h - what a process that only waits needs of its memory.
 *
 * The copy of a large process has page tables and records in the kernel for all that was mapped,
 * though it may never touch it again. */
#ifndef LAZ_OS_MAPPINGS_H
#define LAZ_OS_MAPPINGS_H

#include <stddef.h>
#include <stdint.h>

#define LAZ_OS_RANGES 32

/* The program itself, the C library, the loader, and the memory and stack of the calling thread. */
struct laz_os_core {
    struct laz_os_range {
        uintptr_t from, to;
    } ranges[LAZ_OS_RANGES]; /* ascending */
    size_t n;                /* 0: not known */
};

/* In a process with one thread, and for its copies. */
void laz_os_core_find(struct laz_os_core *core);
/* Gives all other memory back, the heap as well. From then on the process may call what needs
 * neither heap nor another library, such as waitpid(2), and ends with _exit(2). `core` is on the
 * stack or static. Without effect where it is not known. */
void laz_os_core_keep(const struct laz_os_core *core);

#endif
