/* SPDX-License-Identifier: MIT */
/* test_reaper.c - no process of a session without namespaces survives it, however the session ends.
 *
 * The code leaves daemons behind (two forks, sessions of their own, signals ignored), and hares:
 * processes that keep forking and exiting, so that a scan finds only their past ids. All of them
 * hold one lock, which the test gets when the last of them has ended; that it is held before is the
 * control. */
#include "live.h"

#include "os/pidfd.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_S 300 /* wait for the lock; its holders do not end by themselves */

static const char *const reaped_backends[] = {"landlock", "none"};

/* Their output is closed, so that they do not hold pipes of the host. Hares that wait to be reaped
 * count as processes too, and may be as many as the limit allows. %d: number of daemons, and of
 * hares. */
static const char leave[] = "import os, fcntl, signal\n"
                            "lock = open('lock', 'w')\n"
                            "fcntl.flock(lock, fcntl.LOCK_EX)\n"
                            "def fork():\n"
                            "    while True:\n"
                            "        try: return os.fork()\n"
                            "        except BlockingIOError: pass\n"
                            "def daemon(work):\n"
                            "    if fork() == 0:\n"
                            "        os.setsid()\n"
                            "        if fork() == 0:\n"
                            "            os.setsid()\n"
                            "            for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):\n"
                            "                signal.signal(s, signal.SIG_IGN)\n"
                            "            for fd in (1, 2): os.close(fd)\n"
                            "            work()\n"
                            "        os._exit(0)\n"
                            "    os.wait()\n"
                            "def sleeper():\n"
                            "    while True: signal.pause()\n"
                            "def hare():\n"
                            "    while True:\n"
                            "        if fork(): os._exit(0)\n"
                            "for i in range(%d):\n"
                            "    daemon(sleeper)\n"
                            "    daemon(hare)\n"
                            "os.getcwd()";

/* Leaves `n` of each kind; returns the locked file, or -1. */
static int leave_behind(struct laz_session *session, int n)
{
    char code[1400], path[300];
    int fd = -1;

    snprintf(code, sizeof code, leave, n);
    struct laz_result *result = test_run(session, code, NULL);
    const char *value = result ? laz_result_value(result) : NULL;
    if (value && value[0] == '"') {
        snprintf(path, sizeof path, "%.*s/lock", (int)strcspn(value + 1, "\""), value + 1);
        fd = open(path, O_RDONLY | O_CLOEXEC);
    } else if (result) {
        printf("\n    %s", laz_result_json(result));
    }
    laz_result_free(result);
    CU_ASSERT(fd >= 0);
    CU_ASSERT(fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0); /* the control */
    return fd;
}

static void too_long(int signal)
{
    (void)signal;
}

/* Waits until the lock is free. */
static bool all_are_gone(int fd)
{
    struct sigaction act = {.sa_handler = too_long}, before;

    sigaction(SIGALRM, &act, &before); /* without SA_RESTART: it interrupts the wait */
    alarm(PATIENCE_S);
    bool gone = fd >= 0 && flock(fd, LOCK_EX) == 0;
    alarm(0);
    sigaction(SIGALRM, &before, NULL);
    return gone;
}

/* ---- ways to end ---------------------------------------------------------------------------- */

static void by_timeout(struct laz_session *session)
{
    struct test_advance advance = {test_engine_of(session), 1000, 0};
    const struct laz_execute_options options = {
        .size = sizeof options, .timeout_ms = 1000, .line = test_line_advances, .user = &advance};

    test_expect_with(session, "print('begin', flush=True)\nwhile True: pass", &options,
                     LAZ_VERDICT_TIMEOUT, NULL);
}

static void by_restart(struct laz_session *session)
{
    CU_ASSERT_EQUAL(laz_session_restart(session, NULL), 0);
}

static void by_crash(struct laz_session *session)
{
    test_expect(session, "os.kill(os.getpid(), signal.SIGSEGV)", LAZ_VERDICT_CRASHED, NULL);
}

static void by_exit(struct laz_session *session)
{
    test_expect(session, "exit()", LAZ_VERDICT_OK, NULL);
}

static void by_close(struct laz_session *session)
{
    laz_session_close(session);
}

static const struct {
    const char *name;
    void (*end)(struct laz_session *session);
    bool goes_on; /* the session object remains usable; all but the last one */
} ways[] = {
    {"timeout", by_timeout, true}, {"restart", by_restart, true}, {"crash", by_crash, true},
    {"exit", by_exit, true},       {"close", by_close, false},
};

/* Its clock is held, so that the host does not kill a slow reaper. */
static struct laz_engine *engine_of(const char *backend)
{
    struct laz_engine *engine = strcmp(backend, "none") == 0
                                    ? test_engine_open("")
                                    : test_engine("sandbox.backend=landlock");

    if (engine)
        test_hold_clock(engine);
    return engine;
}

static void nothing_outlives_its_session(void)
{
    for (size_t b = 0; b < sizeof reaped_backends / sizeof *reaped_backends; b++) {
        struct laz_engine *engine = engine_of(reaped_backends[b]);
        struct laz_session *session = test_session(engine, "python");
        for (size_t i = 0; session && i < sizeof ways / sizeof *ways; i++) {
            int fd = leave_behind(session, 3);
            ways[i].end(session);
            bool gone = all_are_gone(fd);
            if (!gone)
                printf("\n    %s, %s: something is left", reaped_backends[b], ways[i].name);
            CU_ASSERT(gone);
            if (ways[i].goes_on) /* in a new process, which the next way ends */
                test_expect(session, "1 + 1", LAZ_VERDICT_OK, "2");
            close(fd);
        }
        laz_session_free(session);
        laz_engine_free(engine);
    }
}

/* A separate host, which reports the path of the lock and waits to be killed. */
static void host(const char *backend, int to)
{
    struct laz_engine *engine = engine_of(backend);
    struct laz_session *session = test_session(engine, "python");
    int fd = session ? leave_behind(session, 3) : -1;
    char path[64], lock[300] = "";

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(path, lock, sizeof lock - 1);
    if (fd < 0 || len <= 0 || write(to, lock, (size_t)len) != len)
        _exit(1);
    close(to);
    for (;;)
        pause();
}

static void nothing_outlives_a_host_that_is_killed(void)
{
    for (size_t b = 0; b < sizeof reaped_backends / sizeof *reaped_backends; b++) {
        char lock[300] = "";
        int ends[2];
        CU_ASSERT_FATAL(pipe(ends) == 0);
        fflush(stdout);
        pid_t pid = fork();
        CU_ASSERT_FATAL(pid >= 0);
        if (pid == 0) {
            close(ends[0]);
            host(reaped_backends[b], ends[1]);
        }
        close(ends[1]);
        ssize_t len = read(ends[0], lock, sizeof lock - 1);
        close(ends[0]);
        int fd = len > 0 ? open(lock, O_RDONLY | O_CLOEXEC) : -1;
        CU_ASSERT(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        CU_ASSERT(all_are_gone(fd));
        close(fd);
    }
}

/* The reaper is killed on the host. With a uid of its own the whole session ends; without, only the
 * end of the agent is certain. */
static void the_agent_goes_with_its_reaper(void)
{
    struct laz_engine *engine = engine_of("landlock");
    struct laz_session *session = test_session(engine, "python");

    if (session) {
        int fd = leave_behind(session, geteuid() == 0 ? 3 : 0);
        int reaper = laz_os_pidfd(laz_session_pid(session));
        CU_ASSERT(reaper >= 0);
        laz_os_pidfd_kill(reaper);
        struct pollfd ended = {.fd = reaper, .events = POLLIN};
        CU_ASSERT_EQUAL(poll(&ended, 1, -1), 1);
        if (geteuid() != 0)
            CU_ASSERT(all_are_gone(fd));
        laz_session_close(session); /* also ends all processes of its uid */
        laz_session_free(session);
        CU_ASSERT(all_are_gone(fd));
        close(fd);
        close(reaper);
    }
    laz_engine_free(engine);
}

static void the_code_cannot_signal_its_reaper(void)
{
    struct laz_engine *engine = engine_of("landlock");
    struct laz_session *session = test_session(engine, "python");

    if (session) {
        test_expect(session,
                    "import os, signal\n"
                    "def attempt(s):\n"
                    "    try:\n"
                    "        os.kill(os.getppid(), s)\n"
                    "        return 'through'\n"
                    "    except PermissionError: return 'refused'\n"
                    "child = os.fork()\n"
                    "if child == 0:\n"
                    "    while True: signal.pause()\n"
                    "os.kill(child, signal.SIGKILL)\n" /* the control: it may kill its own child */
                    "status = os.waitpid(child, 0)[1]\n"
                    "words = {attempt(s) for s in (0, signal.SIGKILL, signal.SIGSTOP, 15)}\n"
                    "[status, sorted(words)]",
                    LAZ_VERDICT_OK, "[9,[\"refused\"]]");
        test_expect(session, "1 + 1", LAZ_VERDICT_OK, "2");
        laz_session_free(session);
    }
    laz_engine_free(engine);
}

static const struct unit_test tests[] = {
    UNIT(nothing_outlives_its_session),
    UNIT(nothing_outlives_a_host_that_is_killed),
    UNIT(the_agent_goes_with_its_reaper),
    UNIT(the_code_cannot_signal_its_reaper),
    {0},
};

int main(void)
{
    return unit_run("reaper", tests);
}
