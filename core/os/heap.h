/* SPDX-License-Identifier: MIT */
/* heap.h - memory that was freed stays for the next large value, until it is given back.
 *
 * For our own programs: the allocator belongs to a process, so the library never calls this. */
#ifndef LAZ_OS_HEAP_H
#define LAZ_OS_HEAP_H

#include <stdbool.h>
#include <stdint.h>

/* Where the heap of the process ended when it was noted. */
struct laz_heap {
    uintptr_t end;
};

/* From here on, blocks of up to 4 MiB come from the heap, and up to `kept` bytes of free memory
 * stay at its end. A system whose allocator has no such settings ignores this. */
void laz_heap_keep(int kept);
void laz_heap_note(struct laz_heap *heap);
/* Is it larger than then by more than 4 MiB, so that giving memory back may be worth while? Makes
 * no system call. */
bool laz_heap_has_grown(const struct laz_heap *heap);
/* Gives all that is free back to the system, also between blocks that are in use. */
void laz_heap_give_back(void);

#endif
