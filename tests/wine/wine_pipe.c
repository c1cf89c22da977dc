/* SPDX-License-Identifier: MIT */
/* wine_pipe.c - the connection between host and agent on Windows: a named pipe with one client. */
#include "child.h"

#include "os/io.h"
#include "os/os.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#define PIPE_LARGE ((size_t)3 << 20)

/* Connects, says its id, echoes until the other end is closed. */
static int play_echo(char **args)
{
    struct laz_error err;
    char piece[4096];
    int fd;

    if (laz_os_connect(args[0], &fd, &err)) {
        puts(err.text);
        return 1;
    }
    puts("connected");
    fflush(stdout);
    for (;;) {
        ssize_t n = laz_os_await(fd, 10000) ? laz_os_read(fd, piece, sizeof piece) : -1;
        if (n < 0)
            break;
        for (ssize_t done = 0; done < n;) {
            ssize_t sent = laz_os_send(fd, piece + done, (size_t)(n - done));
            if (sent < 0)
                return 2;
            done += sent;
            if (!sent)
                Sleep(1);
        }
    }
    laz_os_close(&fd);
    return 0;
}

/* How connecting ends, and leaves again. */
static int play_knock(char **args)
{
    HANDLE handle =
        CreateFileA(args[0], GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);

    printf("%lu\n", handle == INVALID_HANDLE_VALUE ? GetLastError() : 0);
    return 0;
}

int child_main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[0], "echo") == 0)
        return play_echo(argv + 1);
    if (argc == 2 && strcmp(argv[0], "knock") == 0)
        return play_knock(argv + 1);
    return 99;
}

static const char *pipe_name(void)
{
    static char name[96];
    static int n;

    snprintf(name, sizeof name, "\\\\.\\pipe\\lazaret-test-%lu-%d", GetCurrentProcessId(), n++);
    return name;
}

/* A listener, and a child that echoes what it gets there. */
struct meeting {
    const char *name;
    int listener, channel;
    struct child child;
};

static bool meeting_open(struct meeting *m)
{
    *m = (struct meeting){.name = pipe_name(), .listener = -1, .channel = -1};
    m->child.limits = laz_job_limits_none();
    const char *const words[] = {"echo", m->name, NULL};

    CU_ASSERT_EQUAL_FATAL(
        laz_os_listen(m->name, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, &m->listener, NULL), 0);
    CU_ASSERT_EQUAL(laz_os_accept(m->listener), -1); /* nobody is there */
    if (!child_start(&m->child, words, NULL))
        return false;
    CU_ASSERT(laz_os_await(m->listener, 10000));
    m->channel = laz_os_accept(m->listener);
    CU_ASSERT(m->channel >= 0);
    UNIT_TEXT(child_line(&m->child), "connected");
    return m->channel >= 0;
}

static void meeting_close(struct meeting *m)
{
    laz_os_close(&m->channel);
    laz_os_close(&m->listener);
    child_close(&m->child);
}

static void the_system_tells_who_connected(void)
{
    struct meeting m;
    struct laz_peer peer;

    if (meeting_open(&m)) {
        CU_ASSERT_EQUAL(laz_os_peer(m.channel, &peer, NULL), 0);
        CU_ASSERT_EQUAL(peer.pid, m.child.process.pid);
        CU_ASSERT(laz_process_has(&m.child.process, peer.pid));
    }
    meeting_close(&m);
}

static void a_second_client_is_refused(void)
{
    struct meeting m;
    struct laz_exit how;
    CU_ASSERT_FATAL(meeting_open(&m));
    const char *const words[] = {"knock", m.name, NULL};
    struct child second = {.limits = laz_job_limits_none()};

    if (child_start(&second, words, NULL))
        CU_ASSERT_EQUAL(strtoul(child_ended(&second, &how), NULL, 10), ERROR_PIPE_BUSY);
    child_close(&second);
    /* and the first one is served as if nobody had come */
    char answer[8] = "";
    CU_ASSERT_EQUAL(laz_os_send(m.channel, "hello", 5), 5);
    CU_ASSERT(laz_os_await(m.channel, 10000));
    CU_ASSERT_EQUAL(laz_os_read(m.channel, answer, sizeof answer - 1), 5);
    UNIT_TEXT(answer, "hello");
    meeting_close(&m);
}

static void a_name_that_is_taken_is_not_shared(void)
{
    const char *name = pipe_name();
    int first = -1, second = -1;
    struct laz_error err = {0};

    HANDLE squatter = CreateNamedPipeA(name, PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE,
                                       PIPE_UNLIMITED_INSTANCES, 0, 0, 0, NULL);
    CU_ASSERT_FATAL(squatter != INVALID_HANDLE_VALUE);
    CU_ASSERT_EQUAL(laz_os_listen(name, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, &first, &err), LAZ_EOS);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, name));
    CloseHandle(squatter);
    CU_ASSERT_EQUAL(laz_os_listen(name, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, &first, NULL), 0);
    CU_ASSERT_EQUAL(laz_os_listen(name, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, &second, NULL), LAZ_EOS);
    laz_os_close(&first);
}

static void much_goes_both_ways_whole(void)
{
    char *sent = malloc(PIPE_LARGE), *got = malloc(PIPE_LARGE);
    size_t out = 0, in = 0;
    struct meeting m;

    CU_ASSERT_FATAL(sent && got && meeting_open(&m));
    for (size_t i = 0; i < PIPE_LARGE; i++)
        sent[i] = (char)(i * 7 + i / 4096);
    while (in < PIPE_LARGE) {
        ssize_t n = out < PIPE_LARGE ? laz_os_send(m.channel, sent + out, PIPE_LARGE - out) : 0;
        CU_ASSERT_FATAL(n >= 0);
        out += (size_t)n;
        if (!laz_os_await(m.channel, out < PIPE_LARGE ? 1 : 10000))
            continue;
        n = laz_os_read(m.channel, got + in, PIPE_LARGE - in);
        CU_ASSERT_FATAL(n >= 0);
        in += (size_t)n;
    }
    CU_ASSERT_EQUAL(memcmp(sent, got, PIPE_LARGE), 0);
    meeting_close(&m);
    free(sent);
    free(got);
}

static void the_end_of_the_peer_is_seen(void)
{
    struct meeting m;
    char piece[8];

    if (meeting_open(&m)) {
        laz_process_signal_group(&m.child.process, SIGKILL);
        CU_ASSERT(laz_os_await(m.channel, 10000));
        CU_ASSERT_EQUAL(laz_os_read(m.channel, piece, sizeof piece), -1);
        CU_ASSERT_EQUAL(errno, 0);
    }
    meeting_close(&m);
}

static void what_was_sent_before_the_end_is_read(void)
{
    struct meeting m;
    char piece[8] = "";

    if (meeting_open(&m)) {
        CU_ASSERT_EQUAL(laz_os_send(m.channel, "last", 4), 4);
        CU_ASSERT(laz_os_await(m.channel, 10000));
        laz_process_signal_group(&m.child.process, SIGKILL);
        CU_ASSERT(laz_process_wait(&m.child.process, 10000, NULL));
        CU_ASSERT_EQUAL(laz_os_read(m.channel, piece, 2), 2);
        CU_ASSERT_EQUAL(laz_os_read(m.channel, piece + 2, 5), 2);
        UNIT_TEXT(piece, "last");
        CU_ASSERT(laz_os_await(m.channel, 10000));
        CU_ASSERT_EQUAL(laz_os_read(m.channel, piece, sizeof piece), -1);
    }
    meeting_close(&m);
}

static const struct unit_test tests[] = {
    UNIT(the_system_tells_who_connected),
    UNIT(a_second_client_is_refused),
    UNIT(a_name_that_is_taken_is_not_shared),
    UNIT(much_goes_both_ways_whole),
    UNIT(the_end_of_the_peer_is_seen),
    UNIT(what_was_sent_before_the_end_is_read),
    {0},
};

int main(int argc, char **argv)
{
    CHILD_MAIN(argc, argv);
    return unit_run("wine_pipe", tests);
}
