/* SPDX-License-Identifier: MIT */
/* test_io.c - blocking connections, waiting for several events, libraries, interrupts. */
#include "unit.h"

#include "base/clock.h"
#include "os/descriptors.h"
#include "os/interrupt.h"
#include "os/io.h"
#include "os/library.h"
#include "os/thread.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define LARGE ((size_t)24 << 20) /* more than any socket buffers */

static void pair_of_sockets(int fds[2])
{
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
}

/* ---- parts ---------------------------------------------------------------------------------- */

struct collected {
    int fd;
    char *data;
    size_t len;
};

static void *collect(void *user)
{
    struct collected *collected = user;
    ssize_t n;

    while ((n = laz_os_read_within(collected->fd, collected->data + collected->len, 65521, -1)) > 0)
        collected->len += (size_t)n;
    return NULL;
}

static void on_alarm(int number)
{
    (void)number;
}

/* Interrupts this thread repeatedly, so that system calls return early. */
static void disturb(bool on)
{
    const struct timeval each = {0, on ? 300 : 0};

    if (on)
        sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_alarm}, NULL);
    setitimer(ITIMER_REAL, &(struct itimerval){each, each}, NULL);
    if (!on) /* no further signal comes */
        sigaction(SIGALRM, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
}

/* More parts than fit into one call, empty ones among them, and one larger than the socket's
 * buffer. */
static void parts_arrive_whole_and_in_order(void)
{
    struct laz_part parts[21];
    struct collected collected = {.data = malloc(LARGE + 65536 + 256)};
    char *large = malloc(LARGE), texts[21][8];
    size_t expected = 0, at = 0;
    pthread_t reader;
    int fds[2];

    for (size_t i = 0; i < LARGE; i++)
        large[i] = (char)(i * 2654435761u >> 24);
    for (size_t i = 0; i < 21; i++) {
        memset(texts[i], 'a' + (int)i, sizeof texts[i]);
        parts[i] = (struct laz_part){texts[i], i % 5 == 0 ? 0 : i % 8};
    }
    parts[11] = (struct laz_part){large, LARGE};
    pair_of_sockets(fds);
    collected.fd = fds[1];
    CU_ASSERT_EQUAL_FATAL(laz_os_thread(&reader, 0, collect, &collected), 0);
    disturb(true);
    CU_ASSERT_TRUE(laz_os_send_parts(fds[0], parts, 21));
    disturb(false);
    close(fds[0]);
    pthread_join(reader, NULL);
    close(fds[1]);
    for (size_t i = 0; i < 21; i++)
        expected += parts[i].len;
    CU_ASSERT_EQUAL_FATAL(collected.len, expected);
    for (size_t i = 0; i < 21; at += parts[i++].len)
        CU_ASSERT_EQUAL(memcmp(collected.data + at, parts[i].data, parts[i].len), 0);
    free(collected.data);
    free(large);
}

static void nothing_to_send_is_sent(void)
{
    const struct laz_part empty[] = {{"", 0}, {NULL, 0}};
    int fds[2];

    pair_of_sockets(fds);
    CU_ASSERT_TRUE(laz_os_send_parts(fds[0], empty, 2));
    CU_ASSERT_TRUE(laz_os_send_parts(fds[0], empty, 0));
    CU_ASSERT_FALSE(laz_os_await(fds[1], 0));
    close(fds[0]);
    close(fds[1]);
}

/* There is no SIGPIPE either, which would end this program. */
static void sending_to_nobody_fails(void)
{
    const struct laz_part part = {"x", 1};
    int fds[2];

    pair_of_sockets(fds);
    close(fds[1]);
    CU_ASSERT_FALSE(laz_os_send_parts(fds[0], &part, 1));
    close(fds[0]);
}

/* ---- reading -------------------------------------------------------------------------------- */

static void reading_waits_as_long_as_it_was_told(void)
{
    char text[8];
    int fds[2];

    pair_of_sockets(fds);
    CU_ASSERT_EQUAL(laz_os_read_within(fds[0], text, sizeof text, 0), -1);
    uint64_t begun = laz_clock_ms();
    CU_ASSERT_EQUAL(laz_os_read_within(fds[0], text, sizeof text, 30), -1);
    CU_ASSERT_TRUE(laz_clock_ms() - begun >= 29);
    CU_ASSERT_EQUAL(write(fds[1], "abc", 3), 3);
    CU_ASSERT_EQUAL(laz_os_read_within(fds[0], text, 2, 0), 2);
    CU_ASSERT_EQUAL(laz_os_read_within(fds[0], text, sizeof text, 900000), 1);
    close(fds[1]);
    CU_ASSERT_EQUAL(laz_os_read_within(fds[0], text, sizeof text, 900000), 0);
    CU_ASSERT_EQUAL(laz_os_read_within(fds[0], text, sizeof text, 0), 0);
    CU_ASSERT_EQUAL(laz_os_read_within(fds[0], text, sizeof text, -1), 0);
    close(fds[0]);
    CU_ASSERT_EQUAL(laz_os_read_within(fds[0], text, sizeof text, 10), 0); /* broken */
}

static void a_full_pipe_is_waited_for(void)
{
    struct laz_error err = {0};
    struct collected collected = {.data = malloc(LARGE + 65536)};
    char *large = calloc(1, LARGE);
    int out, in, status = -1;

    CU_ASSERT_EQUAL_FATAL(laz_os_cloexec_pipe(&out, &in, &err), 0);
    CU_ASSERT_EQUAL(laz_os_nonblock(in, true, &err), 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(out);
        _exit(laz_os_write_waiting(in, large, LARGE) ? 0 : 1);
    }
    laz_os_close(&in);
    ssize_t n;
    while ((n = read(out, collected.data, 65536)) > 0)
        collected.len += (size_t)n;
    CU_ASSERT_EQUAL(collected.len, LARGE);
    CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
    CU_ASSERT_EQUAL(status, 0);
    laz_os_close(&out);
    CU_ASSERT_FALSE(laz_os_write_waiting(-1, "x", 1));
    free(collected.data);
    free(large);
}

/* ---- waiting -------------------------------------------------------------------------------- */

static void of_several_the_ready_ones_are_told(void)
{
    struct laz_error err = {0};
    int first[2], second[2];

    CU_ASSERT_EQUAL_FATAL(laz_os_cloexec_pipe(&first[0], &first[1], &err), 0);
    CU_ASSERT_EQUAL_FATAL(laz_os_cloexec_pipe(&second[0], &second[1], &err), 0);
    struct laz_awaited awaited[] = {{first[0], true}, {-1, true}, {second[0], false}};
    CU_ASSERT_EQUAL(laz_os_await_any(awaited, 3, 0), 0);
    CU_ASSERT_FALSE(awaited[0].ready || awaited[1].ready || awaited[2].ready);
    CU_ASSERT_EQUAL(laz_os_pending(second[0]), 0);
    CU_ASSERT_EQUAL(write(second[1], "abc", 3), 3);
    CU_ASSERT_EQUAL(laz_os_pending(second[0]), 3);
    CU_ASSERT_EQUAL(laz_os_await_any(awaited, 3, LAZ_OS_FOREVER), 1);
    CU_ASSERT_TRUE(!awaited[0].ready && !awaited[1].ready && awaited[2].ready);
    laz_os_close(&first[1]); /* the end of a stream is an event too */
    CU_ASSERT_EQUAL(laz_os_await_any(awaited, 3, 1000), 2);
    CU_ASSERT_TRUE(awaited[0].ready && awaited[2].ready);
    CU_ASSERT_EQUAL(laz_os_pending(first[0]), 0);
    CU_ASSERT_EQUAL(laz_os_pending(-1), 0);
    laz_os_close(&first[0]);
    laz_os_close(&second[0]);
    laz_os_close(&second[1]);
}

/* Tests 2^32 milliseconds. */
static void long_times_are_not_cut(void)
{
    struct laz_error err = {0};
    int ends[2], status;

    CU_ASSERT_EQUAL_FATAL(laz_os_cloexec_pipe(&ends[0], &ends[1], &err), 0);
    pid_t pid = fork();
    if (pid == 0) {
        usleep(20000);
        _exit(write(ends[1], "x", 1) == 1 ? 0 : 1);
    }
    struct laz_awaited awaited = {ends[0], false};
    CU_ASSERT_EQUAL(laz_os_await_any(&awaited, 1, UINT64_C(1) << 32), 1);
    CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
    laz_os_close(&ends[0]);
    laz_os_close(&ends[1]);
}

/* ---- libraries ------------------------------------------------------------------------------ */

static void a_library_that_is_not_there_is_named(void)
{
    const char *words = NULL;

    CU_ASSERT_PTR_NULL(laz_library_open("/nowhere/liblaz-missing.so", false, &words));
    CU_ASSERT_PTR_NOT_NULL_FATAL(words);
    CU_ASSERT_PTR_NOT_NULL(strstr(words, "/nowhere/liblaz-missing.so"));
    void *library = laz_library_open("libc.so.6", false, &words);
    CU_ASSERT_PTR_NOT_NULL(library);
    if (library)
        laz_library_close(library);
    laz_library_keep("/nowhere/liblaz-missing.so"); /* a library that is not open: no effect */
}

/* ---- being interrupted ---------------------------------------------------------------------- */

static void count_up(void *user)
{
    atomic_fetch_add((atomic_int *)user, 1);
}

/* Runs in a separate process: a first signal is a request, a later one ends it; one that comes at
 * once is the same request. */
static int interrupted(bool twice)
{
    struct laz_interrupt *interrupt = NULL;
    struct laz_error err = {0};
    atomic_int asked = 0;

    signal(SIGINT, SIG_DFL); /* a shell may have started the test in the background */
    if (laz_interrupt_block(&interrupt, &err))
        return 1;
    kill(getpid(), SIGINT); /* before it is handled */
    if (laz_interrupt_start(interrupt, count_up, &asked, &err))
        return 2;
    while (atomic_load(&asked) < 2) /* repeat until both have been handled */
        usleep(1000);
    for (; twice; usleep(10000))
        kill(getpid(), SIGTERM);
    laz_interrupt_free(interrupt);
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    return sigismember(&mask, SIGINT) == 0 ? 0 : 3;
}

static int status_of(bool twice)
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0)
        _exit(interrupted(twice));
    return waitpid(pid, &status, 0) == pid ? status : -1;
}

static void the_first_signal_asks_and_the_second_ends(void)
{
    int status = status_of(false);
    CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    status = status_of(true);
    CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

/* Runs in a separate process, as it is started by nohup(1) or in the background of a script. */
static int ignores(void)
{
    struct laz_interrupt *interrupt = NULL;
    atomic_int asked = 0;

    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    if (laz_interrupt_block(&interrupt, NULL) ||
        laz_interrupt_start(interrupt, count_up, &asked, NULL))
        return 1;
    kill(getpid(), SIGINT);
    kill(getpid(), SIGHUP);
    kill(getpid(), SIGTERM);
    while (!atomic_load(&asked))
        usleep(1000);
    int status = laz_interrupt_status(interrupt);
    laz_interrupt_free(interrupt);
    return status;
}

static void what_the_parent_ignores_is_no_request(void)
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0)
        _exit(ignores());
    CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
    CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGTERM);
}

static void an_interrupt_that_never_began_is_freed(void)
{
    struct laz_interrupt *interrupt = NULL;
    struct sigaction before;
    sigset_t mask;

    sigaction(SIGINT, &(struct sigaction){.sa_handler = SIG_DFL}, &before);
    CU_ASSERT_EQUAL_FATAL(laz_interrupt_block(&interrupt, NULL), 0);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    CU_ASSERT_EQUAL(sigismember(&mask, SIGINT), 1);
    laz_interrupt_free(interrupt);
    laz_interrupt_free(NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    CU_ASSERT_EQUAL(sigismember(&mask, SIGINT), 0);
    sigaction(SIGINT, &before, NULL);
}

static const struct unit_test tests[] = {
    UNIT(parts_arrive_whole_and_in_order),
    UNIT(nothing_to_send_is_sent),
    UNIT(sending_to_nobody_fails),
    UNIT(reading_waits_as_long_as_it_was_told),
    UNIT(a_full_pipe_is_waited_for),
    UNIT(of_several_the_ready_ones_are_told),
    UNIT(long_times_are_not_cut),
    UNIT(a_library_that_is_not_there_is_named),
    UNIT(the_first_signal_asks_and_the_second_ends),
    UNIT(what_the_parent_ignores_is_no_request),
    UNIT(an_interrupt_that_never_began_is_freed),
    {0},
};

int main(void)
{
    return unit_run("io", tests);
}
