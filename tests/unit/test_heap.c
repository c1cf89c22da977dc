/* SPDX-License-Identifier: MIT */
/* test_heap.c - freed memory stays in the process, and goes back when it is asked to, or when a
 * server has had nothing to do for a while, by a clock that the test holds. */
#include "unit.h"

#include "lines/lines.h"
#include "loop/loop.h"
#include "os/heap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Other allocators, those of sanitizers too, have no such settings. */
#if defined __GLIBC__ && !defined LAZ_SANITIZE
#define HEAP_HERE true
#else
#define HEAP_HERE false
#endif

#define HEAP_BLOCKS 96
#define HEAP_SIZE   ((size_t)64 << 10) /* 6 MiB in all */

/* Uses memory and frees it; bytes by which the heap is larger afterwards. */
static long heap_use(void)
{
    char *blocks[HEAP_BLOCKS], *end = sbrk(0);

    for (size_t i = 0; i < HEAP_BLOCKS; i++) {
        blocks[i] = malloc(HEAP_SIZE);
        CU_ASSERT_PTR_NOT_NULL_FATAL(blocks[i]);
        memset(blocks[i], 1, HEAP_SIZE);
    }
    for (size_t i = HEAP_BLOCKS; i > 0; i--)
        free(blocks[i - 1]);
    return (long)((char *)sbrk(0) - end);
}

static void freed_memory_stays_until_it_is_given_back(void)
{
    struct laz_heap heap;

    laz_heap_give_back(&heap);
    CU_ASSERT_FALSE(laz_heap_has_grown(&heap));
    const long more = heap_use();
    CU_ASSERT(!HEAP_HERE || more > 5 << 20);
    CU_ASSERT_EQUAL(laz_heap_has_grown(&heap), HEAP_HERE);
    const long again = heap_use();
    CU_ASSERT(!HEAP_HERE || again == 0); /* the same memory */
    char *end = sbrk(0);
    laz_heap_give_back(&heap);
    CU_ASSERT(!HEAP_HERE || end - (char *)sbrk(0) > 5 << 20);
    CU_ASSERT_FALSE(laz_heap_has_grown(&heap));
}

static void a_server_gives_memory_back_when_nothing_happens(void)
{
    struct laz_rest rest = {0};
    struct laz_loop *loop = NULL;

    CU_ASSERT_FATAL(laz_loop_new(&loop, NULL) == 0);
    laz_loop_hold_clock(loop);
    CU_ASSERT_FATAL(laz_rest_begin(&rest, loop, NULL) == 0);
    heap_use();
    char *end = sbrk(0);
    laz_rest_later(&rest);
    laz_loop_advance_clock(loop, 900);
    laz_loop_step(loop, 0);
    laz_rest_later(&rest); /* something has happened */
    laz_loop_advance_clock(loop, 900);
    laz_loop_step(loop, 0);
    CU_ASSERT_PTR_EQUAL(sbrk(0), end);
    laz_loop_advance_clock(loop, 100);
    laz_loop_step(loop, 0);
    CU_ASSERT(!HEAP_HERE || end - (char *)sbrk(0) > 5 << 20);
    laz_rest_end(&rest);
    CU_ASSERT_EQUAL(laz_loop_handles(loop), 0);
    laz_loop_free(loop);
}

static const struct unit_test tests[] = {
    UNIT(freed_memory_stays_until_it_is_given_back),
    UNIT(a_server_gives_memory_back_when_nothing_happens),
    {0},
};

int main(void)
{
    laz_heap_keep();
    return unit_run("heap", tests);
}
