/* SPDX-License-Identifier: MIT */
/* wine_wait.c - waiting on Windows: pipes, the loop, threads, variables and Ctrl-C. */
#include "child.h"

#include "base/clock.h"
#include "loop/loop.h"
#include "os/current_process.h"
#include "os/descriptors.h"
#include "os/interrupt.h"
#include "os/io.h"
#include "os/job_values.h"
#include "os/process.h"
#include "os/thread.h"
#include "os/wake.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#define WATCHES 200

struct pipe {
    int from, to;
};

static struct pipe pipe_new(void)
{
    struct pipe pipe = {-1, -1};

    CU_ASSERT_EQUAL_FATAL(laz_os_cloexec_pipe(&pipe.from, &pipe.to, NULL), 0);
    return pipe;
}

static void pipe_say(const struct pipe *pipe, const char *text)
{
    size_t done;

    CU_ASSERT_EQUAL(laz_os_write_all(pipe->to, text, strlen(text), &done), 0);
}

static void pipe_close(struct pipe *pipe)
{
    laz_os_close(&pipe->from);
    laz_os_close(&pipe->to);
}

/* ---- pipes ---------------------------------------------------------------------------------- */

static void what_was_written_before_the_end_is_read(void)
{
    struct pipe pipe = pipe_new();
    char piece[8] = "";

    CU_ASSERT_EQUAL(laz_os_pending(pipe.from), 0);
    pipe_say(&pipe, "abc");
    laz_os_close(&pipe.to);
    CU_ASSERT_EQUAL(laz_os_pending(pipe.from), 3);
    CU_ASSERT_EQUAL(laz_os_read(pipe.from, piece, 2), 2);
    CU_ASSERT_EQUAL(laz_os_pending(pipe.from), 1);
    CU_ASSERT_EQUAL(laz_os_read(pipe.from, piece + 2, 2), 1);
    UNIT_TEXT(piece, "abc");
    CU_ASSERT_EQUAL(laz_os_pending(pipe.from), 0);
    errno = EINVAL;
    CU_ASSERT_EQUAL(laz_os_read(pipe.from, piece, 2), -1);
    CU_ASSERT_EQUAL(errno, 0); /* the end of the stream, not an error */
    CU_ASSERT_EQUAL(laz_os_read_within(pipe.from, piece, 2, 0), 0);
    pipe_close(&pipe);
}

static void reading_can_be_waited_for_with_an_end(void)
{
    struct pipe pipe = pipe_new();
    uint64_t began = laz_clock_ms();
    char piece[8] = "";

    CU_ASSERT(!laz_os_await(pipe.from, 60));
    CU_ASSERT(laz_clock_ms() - began >= 40);
    CU_ASSERT_EQUAL(laz_os_read_within(pipe.from, piece, sizeof piece, 20), -1);
    pipe_say(&pipe, "now");
    CU_ASSERT_EQUAL(laz_os_read_within(pipe.from, piece, sizeof piece, 5000), 3);
    pipe_close(&pipe);
}

static void one_of_several_wakes_who_waits(void)
{
    struct pipe pipe = pipe_new();
    int wake = laz_os_wake_new();
    struct laz_awaited rows[] = {{.fd = pipe.from}, {.fd = -1}, {.fd = wake}};

    CU_ASSERT_EQUAL(laz_os_await_any(rows, 3, 20), 0);
    pipe_say(&pipe, "x");
    CU_ASSERT_EQUAL(laz_os_await_any(rows, 3, 5000), 1);
    CU_ASSERT(rows[0].ready && !rows[1].ready && !rows[2].ready);
    laz_os_wake(wake);
    CU_ASSERT_EQUAL(laz_os_await_any(rows, 3, 5000), 2);
    CU_ASSERT_EQUAL(laz_os_await_any(rows, 3, 5000), 2); /* remains so */
    laz_os_close(&wake);
    pipe_close(&pipe);
}

static void *read_once(void *user)
{
    char piece[8];

    return laz_os_read(*(int *)user, piece, sizeof piece) == 0 ? user : NULL;
}

/* Windows cancels a pending read when the thread that began it ends. */
static void a_read_outlives_its_thread(void)
{
    struct pipe pipe = pipe_new();
    char piece[8] = "";
    pthread_t thread;
    void *result = NULL;

    CU_ASSERT_EQUAL_FATAL(laz_os_thread(&thread, 0, read_once, &pipe.from), 0);
    pthread_join(thread, &result);
    CU_ASSERT_PTR_NOT_NULL(result);
    Sleep(20); /* the thread's end is signalled before its calls are cancelled */
    CU_ASSERT_EQUAL(laz_os_read(pipe.from, piece, sizeof piece), 0);
    pipe_say(&pipe, "later");
    CU_ASSERT(laz_os_await(pipe.from, 5000));
    CU_ASSERT_EQUAL(laz_os_read(pipe.from, piece, sizeof piece), 5);
    UNIT_TEXT(piece, "later");
    pipe_close(&pipe);
}

/* ---- the loop ------------------------------------------------------------------------------- */

struct heard {
    struct laz_io *io;
    int fd, times;
    bool stops;
};

static void on_ready(void *user, uint32_t events)
{
    struct heard *heard = user;
    char byte;

    CU_ASSERT_EQUAL(events, LAZ_IO_READ);
    heard->times++;
    if (laz_os_read(heard->fd, &byte, 1) < 0 || heard->stops) {
        laz_io_stop(heard->io);
        heard->io = NULL;
    }
}

static void step_until(struct laz_loop *loop, const int *count, int wanted)
{
    uint64_t until = laz_clock_ms() + 20000;

    while (*count < wanted && laz_clock_ms() < until)
        laz_loop_step(loop, 100);
}

static void what_was_not_read_is_told_again(void)
{
    struct pipe pipe = pipe_new();
    struct heard heard = {.fd = pipe.from};
    struct laz_loop *loop = NULL;

    CU_ASSERT_EQUAL_FATAL(laz_loop_new(&loop, NULL), 0);
    heard.io = laz_io_start(loop, pipe.from, LAZ_IO_READ, on_ready, &heard);
    CU_ASSERT_PTR_NOT_NULL_FATAL(heard.io);
    laz_loop_step(loop, 30);
    CU_ASSERT_EQUAL(heard.times, 0);
    pipe_say(&pipe, "ten bytes.");
    step_until(loop, &heard.times, 10);
    CU_ASSERT_EQUAL(heard.times, 10);
    laz_loop_step(loop, 30);
    CU_ASSERT_EQUAL(heard.times, 10); /* and no more afterwards */
    laz_io_events(heard.io, 0);
    pipe_say(&pipe, "x");
    laz_loop_step(loop, 30);
    CU_ASSERT_EQUAL(heard.times, 10); /* it was not requested */
    laz_io_events(heard.io, LAZ_IO_READ);
    step_until(loop, &heard.times, 11);
    CU_ASSERT_EQUAL(heard.times, 11);
    laz_os_close(&pipe.to);
    step_until(loop, &heard.times, 12);
    CU_ASSERT_EQUAL(heard.times, 12); /* the end of the stream is reported too */
    CU_ASSERT_PTR_NULL(heard.io);
    CU_ASSERT_EQUAL(laz_loop_handles(loop), 0);
    laz_loop_free(loop);
    pipe_close(&pipe);
}

static void a_stopped_watch_is_not_called(void)
{
    struct pipe pipe = pipe_new();
    struct heard heard = {.fd = pipe.from, .stops = true}, never = {.fd = pipe.from};
    struct laz_loop *loop = NULL;

    CU_ASSERT_EQUAL_FATAL(laz_loop_new(&loop, NULL), 0);
    pipe_say(&pipe, "many");
    never.io =
        laz_io_start(loop, pipe.from, LAZ_IO_READ, on_ready, &never); /* and wakes the loop */
    laz_io_stop(never.io);
    heard.io = laz_io_start(loop, pipe.from, LAZ_IO_READ, on_ready, &heard);
    step_until(loop, &heard.times, 1);
    laz_loop_step(loop, 30);
    CU_ASSERT_EQUAL(heard.times, 1);
    CU_ASSERT_EQUAL(never.times, 0);
    CU_ASSERT_EQUAL(laz_loop_handles(loop), 0);
    laz_loop_free(loop);
    pipe_close(&pipe);
}

/* More than a single wait call of Windows supports. */
static void many_are_watched(void)
{
    static struct pipe pipes[WATCHES];
    static struct heard heard[WATCHES];
    struct laz_loop *loop = NULL;

    CU_ASSERT_EQUAL_FATAL(laz_loop_new(&loop, NULL), 0);
    for (int i = 0; i < WATCHES; i++) {
        pipes[i] = pipe_new();
        heard[i] = (struct heard){.fd = pipes[i].from};
        heard[i].io = laz_io_start(loop, pipes[i].from, LAZ_IO_READ, on_ready, &heard[i]);
        CU_ASSERT_PTR_NOT_NULL_FATAL(heard[i].io);
    }
    for (int i = WATCHES - 1; i >= 0; i--)
        pipe_say(&pipes[i], "x");
    for (int i = 0; i < WATCHES; i++) {
        step_until(loop, &heard[i].times, 1);
        CU_ASSERT_EQUAL(heard[i].times, 1);
        laz_io_stop(heard[i].io);
        pipe_close(&pipes[i]);
    }
    CU_ASSERT_EQUAL(laz_loop_handles(loop), 0);
    laz_loop_free(loop);
}

static void what_cannot_be_waited_for_is_not_watched(void)
{
    struct pipe pipe = pipe_new();
    struct laz_loop *loop = NULL;

    CU_ASSERT_EQUAL_FATAL(laz_loop_new(&loop, NULL), 0);
    CU_ASSERT_PTR_NULL(laz_io_start(loop, pipe.to, LAZ_IO_WRITE, on_ready, NULL)); /* a child's */
    CU_ASSERT_PTR_NULL(laz_io_start(loop, 1, LAZ_IO_READ, on_ready, NULL));
    CU_ASSERT_EQUAL(laz_loop_fd(loop), -1);
    laz_loop_free(loop);
    pipe_close(&pipe);
}

/* ---- threads and variables ------------------------------------------------------------------ */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition;

static void *signal_it(void *user)
{
    pthread_mutex_lock(&mutex);
    *(bool *)user = true;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void a_condition_is_waited_for_with_an_end(void)
{
    uint64_t began = laz_clock_us();
    bool told = false;
    pthread_t thread;

    laz_os_condition_init(&condition);
    pthread_mutex_lock(&mutex);
    while (laz_os_condition_wait(&condition, &mutex, began + 60000))
        ;
    CU_ASSERT(laz_clock_us() - began >= 40000);
    CU_ASSERT_EQUAL_FATAL(laz_os_thread(&thread, 256 << 10, signal_it, &told), 0);
    while (!told && laz_os_condition_wait(&condition, &mutex, laz_clock_us() + 20000000))
        ;
    CU_ASSERT(told);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    pthread_cond_destroy(&condition);
}

static void a_variable_that_is_taken_is_gone(void)
{
    _putenv("LAZ_TEST_TAKEN=secret");
    char *taken = laz_os_take_variable("LAZ_TEST_TAKEN", true);
    UNIT_TEXT(taken, "secret");
    free(taken);
    CU_ASSERT_PTR_NULL(laz_os_getenv("LAZ_TEST_TAKEN"));
    CU_ASSERT_EQUAL(GetEnvironmentVariableA("LAZ_TEST_TAKEN", NULL, 0), 0); /* also the system's */
    CU_ASSERT_PTR_NULL(laz_os_take_variable("LAZ_TEST_TAKEN", true));
}

/* ---- being asked to end --------------------------------------------------------------------- */

static atomic_int asked;

static void on_asked(void *user)
{
    (void)user;
    if (atomic_fetch_add(&asked, 1) == 1) {
        puts("asked");
        fflush(stdout);
    }
}

/* Interrupts itself; the first request is handled, the second one ends it. */
static int play_interrupt(void)
{
    struct laz_interrupt *interrupt = NULL;

    if (laz_interrupt_block(&interrupt, NULL) ||
        !GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, GetCurrentProcessId())) {
        puts("none");
        return 0;
    }
    Sleep(100); /* the event comes before the wait and is not lost */
    if (laz_interrupt_start(interrupt, on_asked, NULL, NULL))
        return 1;
    for (uint64_t until = laz_clock_ms() + 20000; asked < 2 && laz_clock_ms() < until;)
        Sleep(10);
    GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, GetCurrentProcessId());
    Sleep(20000);
    laz_interrupt_free(interrupt);
    return 7; /* not reached */
}

int child_main(int argc, char **argv)
{
    (void)argc;
    return strcmp(argv[0], "interrupt") == 0 ? play_interrupt() : 99;
}

static void the_first_ctrl_break_asks_and_the_second_ends(void)
{
    const char *const words[] = {"interrupt", NULL};
    struct child child = {.limits = laz_job_limits_none()};
    struct laz_exit how = {0};

    CU_ASSERT_FATAL(child_start(&child, words, NULL));
    const char *said = child_ended(&child, &how);
    if (strncmp(said, "none", 4) == 0)
        child_skip_in_wine("the_first_ctrl_break_asks_and_the_second_ends: no console");
    else
        CU_ASSERT_EQUAL(strncmp(said, "asked", 5), 0);
    CU_ASSERT(how.known && how.status != 7 && how.status != 1);
    child_close(&child);
}

static const struct unit_test tests[] = {
    UNIT(what_was_written_before_the_end_is_read),
    UNIT(reading_can_be_waited_for_with_an_end),
    UNIT(one_of_several_wakes_who_waits),
    UNIT(a_read_outlives_its_thread),
    UNIT(what_was_not_read_is_told_again),
    UNIT(a_stopped_watch_is_not_called),
    UNIT(many_are_watched),
    UNIT(what_cannot_be_waited_for_is_not_watched),
    UNIT(a_condition_is_waited_for_with_an_end),
    UNIT(a_variable_that_is_taken_is_gone),
    UNIT(the_first_ctrl_break_asks_and_the_second_ends),
    {0},
};

int main(int argc, char **argv)
{
    CHILD_MAIN(argc, argv);
    return unit_run("wine_wait", tests);
}
