/* SPDX-License-Identifier: MIT */
/* wine_pipe.c - the connection between host and agent on Windows: a pipe of which the agent
 * inherits one end, and to which no process can connect. */
#include "child.h"

#include "os/descriptors.h"
#include "os/io.h"
#include "os/job_values.h"
#include "os/peer.h"
#include "os/process.h"
#include "os/sockets.h"
#include "os/users.h"
#include "os/windows/descriptors.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIPE_LARGE ((size_t)3 << 20)

/* Takes its end and echoes until the other end is closed. */
static int play_echo(char **args)
{
    struct laz_error err;
    char piece[4096];
    int fd;

    if (laz_os_connect(args[0], &fd, &err)) {
        puts(err.text);
        return 1;
    }
    /* not the code's standard input, and not inherited by its children */
    DWORD flags = 0;
    if (GetFileType(GetStdHandle(STD_INPUT_HANDLE)) == FILE_TYPE_PIPE || getchar() != EOF ||
        !GetHandleInformation(laz_windows_handle(fd), &flags) || flags & HANDLE_FLAG_INHERIT)
        puts("its end is still its input, or inherited");
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

/* Prints the result of connecting, and exits. */
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

#define DIRECTORY "C:/Temp/lazaret-Ab1/b0"

/* A connection, and a child that echoes on it. */
struct meeting {
    int listener, channel;
    struct child child;
};

static bool meeting_open(struct meeting *m)
{
    char *name = laz_os_socket_name(DIRECTORY);
    const char *const words[] = {"echo", name, NULL};

    *m = (struct meeting){.listener = -1, .channel = -1};
    m->child.limits = laz_job_limits_none();
    CU_ASSERT_EQUAL_FATAL(laz_os_listen(name, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, &m->listener, NULL),
                          0);
    CU_ASSERT_EQUAL(laz_os_accept(m->listener), -1); /* no process has connected */
    m->child.input = laz_os_take_end(m->listener);
    CU_ASSERT(m->child.input > 0);
    CU_ASSERT_EQUAL(laz_os_take_end(m->listener), -1); /* there is one */
    bool started = child_start(&m->child, words, NULL);
    free(name);
    if (!started)
        return false;
    CU_ASSERT(laz_os_await(m->listener, 10000));
    m->channel = laz_os_accept(m->listener);
    CU_ASSERT(m->channel >= 0);
    CU_ASSERT_EQUAL(laz_os_accept(m->listener), -1);
    UNIT_TEXT(child_line(&m->child), "connected");
    return m->channel >= 0;
}

static void meeting_close(struct meeting *m)
{
    laz_os_close(&m->channel);
    laz_os_close(&m->listener);
    child_close(&m->child);
}

static void the_peer_is_who_was_given_its_end(void)
{
    struct meeting m;
    struct laz_peer peer;

    if (meeting_open(&m)) {
        CU_ASSERT_EQUAL(laz_os_peer(m.channel, &peer, NULL), 0);
        CU_ASSERT(peer.inherited);
    }
    meeting_close(&m);
}

/* The agent's argument is never a name by which another process can connect. */
static void nobody_connects_by_what_the_agent_is_told(void)
{
    char *name = laz_os_socket_name(DIRECTORY);
    int listener = -1, fd = -1;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL_FATAL(laz_os_listen(name, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, &listener, NULL), 0);
    HANDLE other = CreateFileA(name, GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);
    CU_ASSERT_EQUAL(other, INVALID_HANDLE_VALUE);
    if (other != INVALID_HANDLE_VALUE)
        CloseHandle(other);
    /* a process that inherits no end has no connection */
    CU_ASSERT_EQUAL(laz_os_connect("//./pipe/lazaret-x", &fd, &err), LAZ_EOS);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "was given no connection"));
    laz_os_close(&listener);
    free(name);
}

/* The system's name of the pipe "\\lazaret-...", which other processes can list; "": none. */
static void pipe_name(int fd, char *name, size_t size)
{
    union {
        FILE_NAME_INFO info;
        char room[1024];
    } told;
    size_t n = 0;

    if (GetFileInformationByHandleEx(laz_windows_handle(fd), FileNameInfo, &told, sizeof told))
        for (size_t i = 0; i < told.info.FileNameLength / 2 && n + 1 < size; i++)
            name[n++] = (char)told.info.FileName[i];
    name[n] = '\0';
}

static void who_knows_the_pipes_name_finds_it_taken(void)
{
    char told[256], path[300];
    struct laz_exit how;
    struct meeting m;

    CU_ASSERT_FATAL(meeting_open(&m));
    pipe_name(m.channel, told, sizeof told);
    const char *base = strstr(told, "lazaret-");
    if (base || !child_skip_in_wine("the name of a pipe")) {
        CU_ASSERT_PTR_NOT_NULL_FATAL(base);
        CU_ASSERT_EQUAL(strlen(base), strlen("lazaret-") + 32);
        snprintf(path, sizeof path, "\\\\.\\pipe\\%s", base);
        const char *const words[] = {"knock", path, NULL};
        struct child second = {.limits = laz_job_limits_none()};
        if (child_start(&second, words, NULL))
            CU_ASSERT_EQUAL(strtoul(child_ended(&second, &how), NULL, 10), ERROR_PIPE_BUSY);
        child_close(&second);
    }
    /* the first one is served as if no other process had tried */
    char answer[8] = "";
    CU_ASSERT_EQUAL(laz_os_send(m.channel, "hello", 5), 5);
    CU_ASSERT(laz_os_await(m.channel, 10000));
    CU_ASSERT_EQUAL(laz_os_read(m.channel, answer, sizeof answer - 1), 5);
    UNIT_TEXT(answer, "hello");
    meeting_close(&m);
}

/* A child that never takes its end, and one that is never started. */
static void an_end_that_nobody_takes_is_closed(void)
{
    const char *const words[] = {"knock", "C:/nowhere", NULL};
    struct child child = {.limits = laz_job_limits_none()};
    int listener = -1, channel;
    char piece[8];

    CU_ASSERT_EQUAL_FATAL(laz_os_listen("", LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, &listener, NULL), 0);
    child.input = laz_os_take_end(listener);
    if (child_start(&child, words, NULL)) {
        channel = laz_os_accept(listener);
        CU_ASSERT(laz_os_await(channel, 30000));
        CU_ASSERT_EQUAL(laz_os_read(channel, piece, sizeof piece), -1);
        CU_ASSERT_EQUAL(errno, 0);
        laz_os_close(&channel);
    }
    child_close(&child);
    laz_os_close(&listener);
    CU_ASSERT_EQUAL_FATAL(laz_os_listen("", LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, &listener, NULL), 0);
    laz_os_close(&listener); /* with both ends */
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
    UNIT(the_peer_is_who_was_given_its_end),
    UNIT(nobody_connects_by_what_the_agent_is_told),
    UNIT(who_knows_the_pipes_name_finds_it_taken),
    UNIT(an_end_that_nobody_takes_is_closed),
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
