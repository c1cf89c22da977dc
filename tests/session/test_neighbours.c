/* SPDX-License-Identifier: MIT */
/* test_neighbours.c - many hosts on one machine at the same time; none harms the sessions of
 * another.
 *
 * They share /tmp, the locks of uids, the tree of control groups, and a range of uids so small that
 * each is reused often. Some run one short session after the other and expect every answer;
 * meanwhile other hosts are killed while their code, which leaves a process behind, is running; as
 * root, one more host runs in a process namespace of its own. */
#include "live.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 5
#define KILLED 8

static const char *const backends[] = {"bwrap", "landlock"};
static char uids[48]; /* ";sandbox.uids=..." for this run */

static struct laz_engine *neighbour_engine(const char *backend)
{
    char *text = laz_strdupf("sandbox.backend=%s%s", backend, uids);
    struct laz_engine *engine = text ? test_engine(text) : NULL;

    free(text);
    return engine;
}

/* Does the session give the right answer? */
static bool neighbour_answers(struct laz_session *session, const char *code, const char *value)
{
    struct laz_result *result = NULL;
    struct laz_error err = {0};

    if (laz_session_execute(session, code, SIZE_MAX, NULL, &result, &err)) {
        printf("\n    %s", err.text);
        return false;
    }
    const char *got = laz_result_value(result);
    bool good = laz_result_verdict(result) == LAZ_VERDICT_OK && got && strcmp(got, value) == 0;
    if (!good)
        printf("\n    %s: %s", laz_verdict_name(laz_result_verdict(result)),
               laz_result_detail(result));
    laz_result_free(result);
    return good;
}

/* Runs one session after the other. Exit status: how many failed. */
__attribute__((noreturn)) static void neighbour_works(const char *backend)
{
    static const char busy[] = "local x = 0 for i = 1, 300000 do x = x + i % 7 end return x";
    struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
    int hurt = 0;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < ROUNDS; i++) {
        struct laz_engine *engine = neighbour_engine(backend);
        struct laz_session *session = NULL;
        struct laz_error err = {0};
        bool good = engine && laz_session_open(engine, &options, &session, &err) == 0;
        if (!good)
            printf("\n    %s: %s", backend, err.text);
        good = good && neighbour_answers(session, "return 6 * 7", "42") &&
               neighbour_answers(session, busy, "899998") &&
               neighbour_answers(session, "return add(2, 3)", "5");
        hurt += !good;
        laz_session_free(session);
        laz_engine_free(engine);
    }
    fflush(stdout);
    _exit(hurt);
}

/* Works in a process namespace of its own, with its own /proc and the common /tmp. */
__attribute__((noreturn)) static void neighbour_works_apart(const char *backend)
{
    int status = -1;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0)
        _exit(100);
    pid_t first = fork();
    if (first == 0) {
        if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
            mount("proc", "/proc", "proc", 0, NULL) != 0)
            _exit(101);
        neighbour_works(backend);
    }
    if (first < 0 || waitpid(first, &status, 0) != first)
        _exit(102);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 103);
}

/* Reports through a tool that its code is running, and leaves a process. */
static void neighbour_tells(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)args, (void)len;
    if (write(*(const int *)user, "r", 1) == 1)
        laz_reply_value(reply, "1", 1);
}

__attribute__((noreturn)) static void neighbour_is_killed(const char *backend, int to)
{
    static const char code[] = "os.execute('(sleep 60 &) >/dev/null 2>&1') running() "
                               "while true do end";
    struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
    struct laz_tool tool = {.size = sizeof tool, .name = "running", .description = "Tells"};
    struct laz_engine *engine = neighbour_engine(backend);
    struct laz_result *result = NULL;
    struct laz_error err = {0};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (engine && laz_engine_add_tool(engine, &tool, neighbour_tells, &to, &err) == 0)
        (void)laz_execute(engine, &options, code, SIZE_MAX, NULL, &result, &err);
    printf("\n    %s: not killed in time: %s", backend,
           result ? laz_result_detail(result) : err.text);
    fflush(stdout);
    _exit(1);
}

/* A host that is killed as soon as its code runs. */
static bool neighbour_dies(const char *backend)
{
    int ends[2], status = -1;
    char c;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    fflush(stdout);
    pid_t host = fork();
    if (host == 0)
        neighbour_is_killed(backend, ends[1]);
    close(ends[1]);
    bool ran = host > 0 && read(ends[0], &c, 1) == 1;
    close(ends[0]);
    if (host > 0) {
        kill(host, SIGKILL);
        waitpid(host, &status, 0);
    }
    return ran && WIFSIGNALED(status);
}

static void hosts_do_not_hurt_each_other(void)
{
    pid_t hosts[8];
    size_t n = 0;
    struct laz_engine *engine = neighbour_engine("bwrap");
    struct laz_session *session = test_session(engine, "lua");

    if (!session) {
        laz_engine_free(engine);
        return;
    }
    fflush(stdout);
    for (size_t i = 0; i < 6; i++, n++) {
        bool apart = i >= 4;
        if (apart && geteuid() != 0)
            break;
        hosts[n] = fork();
        if (hosts[n] == 0)
            (apart ? neighbour_works_apart : neighbour_works)(backends[i % 2]);
        CU_ASSERT(hosts[n] > 0);
    }
    for (int i = 0; i < KILLED; i++) {
        CU_ASSERT(neighbour_dies(backends[i % 2]));
        CU_ASSERT(neighbour_answers(session, "return 1 + 1", "2"));
    }
    for (size_t i = 0; i < n; i++) {
        int status = -1;
        CU_ASSERT(hosts[i] > 0 && waitpid(hosts[i], &status, 0) == hosts[i]);
        if (status)
            printf("\n    host %zu: status %d: so many of %d sessions were hurt", i,
                   WIFEXITED(status) ? WEXITSTATUS(status) : -1, ROUNDS);
        CU_ASSERT_EQUAL(status, 0);
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

static const struct unit_test tests[] = {
    UNIT(hosts_do_not_hurt_each_other),
    {0},
};

int main(void)
{
    uint32_t first = 2110000000u + (uint32_t)getpid() % 1000000u * 24u;

    if (geteuid() == 0)
        snprintf(uids, sizeof uids, ";sandbox.uids=%u-%u", first, first + 23);
    return unit_run("neighbours", tests);
}
