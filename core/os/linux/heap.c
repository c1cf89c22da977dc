/* SPDX-License-Identifier: MIT */
/* heap.c - what glibc keeps of freed memory (mallopt(3)).
 *
 * A buffer for a value grows by doubling, and fresh memory costs a page fault for each 4 KiB, which
 * is more than all that is done with the value. By itself glibc gives a large block back as soon as
 * it is freed, until it has learned from one to keep up to 64 MiB; limits that are set stay as they
 * are. A value of 1 MiB and the buffers around it stay below HEAP_BLOCK; larger blocks have
 * mappings of their own, which go back at once. What is free between blocks in use stays until
 * laz_heap_give_back, so a program that keeps memory has to call that. */
#include "os/heap.h"

#include "os/unsupported.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <unistd.h>

#define HEAP_BLOCK ((4 << 20) + (64 << 10)) /* 4 MiB, and what an allocator adds */
#define HEAP_GROWN ((uintptr_t)4 << 20)

#if defined __GLIBC__ && !defined LAZ_SANITIZE
void laz_heap_keep(int kept)
{
    mallopt(M_MMAP_THRESHOLD, HEAP_BLOCK);
    mallopt(M_TRIM_THRESHOLD, kept);
}

void laz_heap_note(struct laz_heap *heap)
{
    heap->end = (uintptr_t)sbrk(0);
}

bool laz_heap_has_grown(const struct laz_heap *heap)
{
    const uintptr_t end = (uintptr_t)sbrk(0);

    return end > heap->end && end - heap->end > HEAP_GROWN;
}

void laz_heap_give_back(void)
{
    malloc_trim(0);
}
#else
/* clang-format off */
IGNORES(laz_heap_keep, int kept)
IGNORES(laz_heap_note, struct laz_heap *heap)
GIVES(bool, laz_heap_has_grown, false, const struct laz_heap *heap)
IGNORES(laz_heap_give_back, void)
/* clang-format on */
#endif
