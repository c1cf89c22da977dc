/* SPDX-License-Identifier: MIT */
/* test_heap.c - freed memory stays in the process, and goes back when it is asked to, and from a
 * server a second after it had something to do, by a clock that the test holds; what a frame has
 * read costs no more memory than came, and stays nowhere when it is to be wiped. */
#include "unit.h"

#include "lines/lines.h"
#include "loop/loop.h"
#include "os/heap.h"
#include "wire/frame.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* Other allocators, those of sanitizers too, have no such settings. */
#if defined __GLIBC__ && !defined LAZ_SANITIZE
#define HEAP_HERE  true
#define HEAP_END() ((char *)sbrk(0))
#else /* where it is not looked at; macOS warns of sbrk(2) */
#define HEAP_HERE  false
#define HEAP_END() (&heap_elsewhere)
static char heap_elsewhere;
#endif

#define HEAP_BLOCKS 96
#define HEAP_SIZE   ((size_t)64 << 10) /* 6 MiB in all */
#define HEAP_LARGE  ((size_t)2 << 20)
#define HEAP_KEPT   (8 << 20)

static const char heap_secret[] = "what the template has read";
static const char *heap_begin; /* where the heap was to begin */

/* Has the system give these pages; a memset before a free is left out by compilers. */
static void heap_fill(void *block, size_t size)
{
    for (size_t i = 0; i < size; i += 1024)
        ((volatile char *)block)[i] = 1;
}

/* Uses memory and frees it; bytes by which the heap is larger afterwards. */
static long heap_use(void)
{
    char *blocks[HEAP_BLOCKS], *end = HEAP_END();

    for (size_t i = 0; i < HEAP_BLOCKS; i++) {
        blocks[i] = malloc(HEAP_SIZE);
        CU_ASSERT_PTR_NOT_NULL_FATAL(blocks[i]);
        heap_fill(blocks[i], HEAP_SIZE);
    }
    for (size_t i = HEAP_BLOCKS; i > 0; i--)
        free(blocks[i - 1]);
    return (long)(HEAP_END() - end);
}

/* Has the process the page with this byte? */
static bool heap_is_there(uintptr_t place)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    unsigned char there = 0; /* other systems than Linux have it as char */
    void *state = &there;

    return mincore((void *)(place & ~(page - 1)), page, state) == 0 && (there & 1); // NOLINT
}

static void freed_memory_stays_until_it_is_given_back(void)
{
    struct laz_heap heap;

    laz_heap_give_back();
    laz_heap_note(&heap);
    CU_ASSERT_FALSE(laz_heap_has_grown(&heap));
    const long more = heap_use();
    CU_ASSERT(!HEAP_HERE || more > 5 << 20);
    CU_ASSERT_EQUAL(laz_heap_has_grown(&heap), HEAP_HERE);
    const long again = heap_use();
    CU_ASSERT(!HEAP_HERE || again == 0); /* the same memory */
    char *end = HEAP_END();
    laz_heap_give_back();
    CU_ASSERT(!HEAP_HERE || end - HEAP_END() > 5 << 20);
    CU_ASSERT_FALSE(laz_heap_has_grown(&heap));
}

/* Memory below a block that is still in use goes back as well. */
static void freed_memory_goes_back_from_under_a_block(void)
{
    char *first = malloc(HEAP_SIZE), *large = malloc(HEAP_LARGE), *last = malloc(HEAP_SIZE);

    CU_ASSERT_FATAL(first && large && last);
    const uintptr_t middle = (uintptr_t)large + HEAP_LARGE / 2;
    heap_fill(large, HEAP_LARGE);
    free(large);
    CU_ASSERT(!HEAP_HERE || heap_is_there(middle));
    laz_heap_give_back();
    CU_ASSERT(!HEAP_HERE || !heap_is_there(middle));
    free(first);
    free(last);
}

struct heap_end {
    bool stays, given_back;
};

static void *heap_end_of_a_thread(void *user)
{
    struct heap_end *end = user;
    char *large = malloc(HEAP_LARGE);

    if (!large)
        return NULL;
    const uintptr_t middle = (uintptr_t)large + HEAP_LARGE / 2;
    heap_fill(large, HEAP_LARGE);
    free(large);
    end->stays = heap_is_there(middle);
    laz_heap_give_back();
    end->given_back = !heap_is_there(middle);
    return NULL;
}

/* For several engines in a process. */
static void the_end_of_a_threads_heap_is_kept_up_to_a_bound(void)
{
    static const int kept[] = {1 << 20, HEAP_KEPT}; /* in the end as before */
    pthread_t thread;

    for (unsigned i = 0; i < 2; i++) {
        struct heap_end end = {0};
        laz_heap_keep(kept[i]);
        CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, heap_end_of_a_thread, &end), 0);
        pthread_join(thread, NULL);
        CU_ASSERT(!HEAP_HERE || end.stays == (i == 1));
        CU_ASSERT(!HEAP_HERE || i == 1 || end.given_back);
    }
}

/* Reads so many bytes of a line that does not end, with a text in each piece. */
static void heap_read(struct laz_frame *frame, size_t size, const char *text)
{
    size_t len;
    char *line;

    for (size_t done = 0; done < size; done += HEAP_SIZE) {
        char *room = laz_frame_room(frame, HEAP_SIZE);
        CU_ASSERT_PTR_NOT_NULL_FATAL(room);
        memset(room, 'p', HEAP_SIZE);
        memcpy(room + HEAP_SIZE / 2, text, strlen(text));
        laz_frame_added(frame, HEAP_SIZE);
        CU_ASSERT_EQUAL(laz_frame_next(frame, &line, &len), 0);
    }
}

/* How often is the text in the heap, in blocks that were freed as well? */
static unsigned heap_count(void)
{
    const char *at = heap_begin, *end = HEAP_END();
    unsigned n = 0;

    while ((at = memmem(at, (size_t)(end - at), heap_secret, sizeof heap_secret - 1))) {
        at += sizeof heap_secret - 1;
        n++;
    }
    return n;
}

/* A peer may begin a large line and never end it. */
static void a_line_takes_no_pages_before_its_bytes_come(void)
{
    struct laz_frame frame;

    laz_heap_give_back();
    laz_frame_init(&frame, 8 << 20);
    heap_read(&frame, 5 * HEAP_SIZE, "");
    CU_ASSERT_EQUAL(frame.buf.cap, 2 << 20);
    CU_ASSERT(heap_is_there((uintptr_t)frame.buf.data + 4 * HEAP_SIZE));
    CU_ASSERT(!HEAP_HERE || !heap_is_there((uintptr_t)frame.buf.data + 7 * HEAP_SIZE));
    laz_frame_fini(&frame);
}

/* In a template: its sessions are copies of its memory. */
static void a_frame_that_wipes_leaves_nothing_in_the_heap(void)
{
    struct laz_frame frame;

    laz_frame_init(&frame, 8 << 20);
    frame.wipes = true;
    for (size_t size = HEAP_SIZE; size <= 64 * HEAP_SIZE; size *= 2) {
        heap_read(&frame, size, heap_secret);
        CU_ASSERT(!HEAP_HERE || frame.buf.cap >= 4 << 20 || heap_count() == size / HEAP_SIZE);
        laz_frame_wipe(&frame);
        CU_ASSERT_EQUAL(heap_count(), 0);
        heap_read(&frame, size, heap_secret);
        laz_frame_fini(&frame);
        CU_ASSERT_EQUAL(heap_count(), 0);
    }
}

struct heap_server {
    struct laz_loop *loop;
    struct laz_rest rest;
};

static bool heap_server_begin(struct heap_server *server, struct heap_server *beside)
{
    *server = (struct heap_server){0};
    if (laz_loop_new(&server->loop, NULL) ||
        laz_rest_begin(&server->rest, server->loop, beside ? &beside->rest : NULL, NULL)) {
        CU_FAIL("no server");
        return false;
    }
    laz_loop_hold_clock(server->loop);
    return true;
}

/* One turn, after so much time. */
static void heap_server_turn(struct heap_server *server, uint64_t ms)
{
    laz_loop_advance_clock(server->loop, ms);
    laz_loop_step(server->loop, 0);
    laz_rest_turn(&server->rest);
}

static void heap_server_end(struct heap_server *server)
{
    laz_rest_end(&server->rest);
    CU_ASSERT_EQUAL(laz_loop_handles(server->loop), 0);
    laz_loop_free(server->loop);
}

static void a_server_gives_memory_back_a_second_after_a_turn(void)
{
    struct heap_server server;

    if (!heap_server_begin(&server, NULL))
        return;
    heap_use();
    char *end = HEAP_END();
    heap_server_turn(&server, 0);
    heap_server_turn(&server, 999);
    CU_ASSERT_PTR_EQUAL(HEAP_END(), end);
    heap_server_turn(&server, 1);
    CU_ASSERT(!HEAP_HERE || end - HEAP_END() > 5 << 20);
    heap_server_end(&server);
}

/* Who keeps a server busy does not keep its memory. */
static void a_busy_server_gives_memory_back_once_a_second(void)
{
    struct heap_server server;
    unsigned times = 0;

    if (!heap_server_begin(&server, NULL))
        return;
    heap_server_turn(&server, 0);
    for (int turn = 0; turn < 100; turn++) {
        heap_use();
        char *end = HEAP_END();
        heap_server_turn(&server, 100);
        times += end - HEAP_END() > 5 << 20;
    }
    CU_ASSERT_EQUAL(times, HEAP_HERE ? 9 : 0); /* the time begins with the first turn after it */
    heap_server_end(&server);
}

/* What the last turn frees, while the time is up, goes back too; and then nothing wakes it up. */
static void a_server_without_work_sleeps(void)
{
    struct heap_server server;

    if (!heap_server_begin(&server, NULL))
        return;
    heap_server_turn(&server, 0);
    laz_loop_advance_clock(server.loop, 1000);
    laz_loop_step(server.loop, 0);
    heap_use();
    char *end = HEAP_END();
    laz_rest_turn(&server.rest);
    CU_ASSERT(!HEAP_HERE || end - HEAP_END() > 5 << 20);
    laz_loop_advance_clock(server.loop, 3600 * 1000);
    laz_loop_step(server.loop, 0);
    CU_ASSERT_FALSE(server.rest.is_due);
    heap_server_end(&server);
}

/* One of them waits; who frees afterwards waits itself. */
static void servers_beside_each_other_give_back_once(void)
{
    struct heap_server first, second;

    if (!heap_server_begin(&first, NULL) || !heap_server_begin(&second, &first))
        return;
    heap_server_turn(&first, 0);
    heap_use();
    char *end = HEAP_END();
    heap_server_turn(&second, 0);
    heap_server_turn(&second, 5000);
    CU_ASSERT_PTR_EQUAL(HEAP_END(), end); /* it does not wait */
    heap_server_turn(&first, 1000);
    CU_ASSERT(!HEAP_HERE || end - HEAP_END() > 5 << 20);
    heap_use();
    end = HEAP_END();
    heap_server_turn(&second, 0);
    heap_server_turn(&first, 5000);
    CU_ASSERT_PTR_EQUAL(HEAP_END(), end);
    heap_server_turn(&second, 1000);
    CU_ASSERT(!HEAP_HERE || end - HEAP_END() > 5 << 20);
    heap_server_turn(&second, 0); /* one that ends while it waits leaves that to the others */
    heap_server_end(&second);
    heap_server_turn(&first, 0);
    CU_ASSERT(first.rest.is_mine);
    heap_server_end(&first);
}

/* A client may be idle for long after large lines. */
static void a_peer_leaves_no_memory_of_large_lines(void)
{
    struct laz_lines lines = {0};
    struct laz_loop *loop = NULL;
    static char piece[HEAP_SIZE];
    int pair[2];
    char *line;
    size_t len = 0;

    memset(piece, 'p', sizeof piece);
    CU_ASSERT_FATAL(laz_loop_new(&loop, NULL) == 0);
    CU_ASSERT_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    for (int i = 0; i < 2; i++)
        CU_ASSERT_FATAL(fcntl(pair[i], F_SETFL, O_NONBLOCK) == 0);
    CU_ASSERT_FATAL(
        laz_lines_begin(&lines, loop, pair[0], pair[0], 8 << 20, 8 << 20, 16 << 20, NULL) == 0);
    for (int i = 0; i < 16; i++) {
        piece[HEAP_SIZE - 1] = i == 15 ? '\n' : 'p';
        CU_ASSERT_EQUAL(write(pair[1], piece, sizeof piece), (ssize_t)sizeof piece);
        do {
            laz_loop_step(loop, 0);
            if (laz_lines_next(&lines, &line, &len) == 1) {
                laz_buf_append(laz_lines_add(&lines), line, len); /* more than is written at once */
                laz_lines_send(&lines);
            }
        } while (laz_lines_handled(&lines));
    }
    CU_ASSERT_EQUAL(len, 16 * HEAP_SIZE - 1);
    CU_ASSERT(lines.frame.buf.cap <= 256 << 10);
    CU_ASSERT(lines.unsent.cap > 512 << 10);
    while (laz_lines_unread(&lines)) {
        CU_ASSERT_FATAL(read(pair[1], piece, sizeof piece) > 0);
        laz_loop_step(loop, 0);
    }
    CU_ASSERT(lines.unsent.cap <= 256 << 10);
    laz_lines_end(&lines);
    close(pair[0]);
    close(pair[1]);
    laz_loop_free(loop);
}

static const struct unit_test tests[] = {
    UNIT(freed_memory_stays_until_it_is_given_back),
    UNIT(freed_memory_goes_back_from_under_a_block),
    UNIT(the_end_of_a_threads_heap_is_kept_up_to_a_bound),
    UNIT(a_line_takes_no_pages_before_its_bytes_come),
    UNIT(a_frame_that_wipes_leaves_nothing_in_the_heap),
    UNIT(a_server_gives_memory_back_a_second_after_a_turn),
    UNIT(a_busy_server_gives_memory_back_once_a_second),
    UNIT(a_server_without_work_sleeps),
    UNIT(servers_beside_each_other_give_back_once),
    UNIT(a_peer_leaves_no_memory_of_large_lines),
    {0},
};

int main(void)
{
    heap_begin = HEAP_END();
    laz_heap_keep(HEAP_KEPT);
    return unit_run("heap", tests);
}
