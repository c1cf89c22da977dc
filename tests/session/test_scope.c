/* SPDX-License-Identifier: MIT */
/* test_scope.c - children that a launcher starts, and control groups that the user's systemd gives:
 * a manager of the tests' own on a private bus, and where `systemd --user` runs that one.
 *
 * Whole sessions need root, for a part of the tree of version 2 that belongs to an ordinary user;
 * the sessions are that user's.  Controllers need not be there: which group a process is in, and
 * its CPU time, need none, and what the host is told of memory and processes is replaced by then
 * (see the functions __wrap_*).  A child that is another user ends with the line of the failed
 * check. */
#include "live.h"

#include "manager.h"

#include "base/buf.h"
#include "engine/engine.h"
#include "os/cgroup.h"
#include "os/cgroup_text.h"
#include "os/descriptors.h"
#include "os/fd_passing.h"
#include "os/files.h"
#include "os/io.h"
#include "os/launcher.h"
#include "os/process.h"
#include "os/scope.h"
#include "os/spawner.h"
#include "os/users.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OTHER_USER 61183 /* no account, and none of the range that sessions get */
#define HOLDS(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            _exit(__LINE__ % 256 ? __LINE__ % 256 : 255);                                          \
    } while (0)

/* ---- what the host is told ----------------------------------------------------------------------
 */

static bool told_of_controllers;

bool __real_cgroup_v2_can_limit(void);
bool __wrap_cgroup_v2_can_limit(void);
const char *__real_laz_cgroups_mechanism(const struct laz_cgroups *groups,
                                         enum laz_cgroup_what what, bool to_enter);
const char *__wrap_laz_cgroups_mechanism(const struct laz_cgroups *groups,
                                         enum laz_cgroup_what what, bool to_enter);

bool __wrap_cgroup_v2_can_limit(void)
{
    return told_of_controllers || __real_cgroup_v2_can_limit();
}

const char *__wrap_laz_cgroups_mechanism(const struct laz_cgroups *groups,
                                         enum laz_cgroup_what what, bool to_enter)
{
    const char *by = __real_laz_cgroups_mechanism(groups, LAZ_CGROUP_CPU, to_enter);

    return told_of_controllers && by && strcmp(by, "cgroup-v2") == 0
               ? by
               : __real_laz_cgroups_mechanism(groups, what, to_enter);
}

/* ---- the launcher -------------------------------------------------------------------------------
 */

struct bench {
    struct laz_spawner *spawner;
    struct laz_process launcher;
    int fd;
};

static void bench_open(struct bench *bench)
{
    static const char *const nothing[] = {NULL};
    const char *const argv[] = {getenv("LAZARET_AGENT"), "--launcher", NULL};
    int ends[2], fds[LAZ_OS_HANDOVER];
    char word[64];
    size_t n;

    CU_ASSERT_EQUAL_FATAL(laz_spawner_new(&bench->spawner, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_os_message_pair(ends), 0);
    const struct laz_spawn_fd own[] = {{ends[1], 0}, {2, 2}};
    const struct laz_spawn spawn = {.argv = argv,
                                    .env = nothing,
                                    .fds = own,
                                    .n_fds = 2,
                                    .uid = LAZ_SPAWN_SAME_ID,
                                    .gid = LAZ_SPAWN_SAME_ID,
                                    .group = true,
                                    .death_signal = SIGKILL};
    CU_ASSERT_EQUAL_FATAL(laz_spawner_spawn(bench->spawner, &spawn, &bench->launcher, NULL), 0);
    laz_os_close(&ends[1]);
    bench->fd = ends[0];
    CU_ASSERT_FATAL(laz_os_receive(bench->fd, word, sizeof word, fds, &n) > 0);
}

static void bench_close(struct bench *bench)
{
    struct laz_exit how;

    laz_os_close(&bench->fd);
    CU_ASSERT_TRUE(laz_process_wait(&bench->launcher, UNIT_HANG_MS, &how));
    laz_process_close(&bench->launcher);
    laz_spawner_free(bench->spawner);
}

/* Runs a shell's line through the launcher; its output, and how it ended. */
static char *bench_run(struct bench *bench, const char *line, struct laz_spawn spawn,
                       const struct laz_spawn_fd *more, size_t n_more, struct laz_exit *how)
{
    const char *const argv[] = {"/bin/sh", "-c", line, NULL};
    const struct laz_cgroup_door door = {.launcher = bench->fd, .into = -1};
    struct laz_spawn_fd fds[64];
    struct laz_process process;
    struct laz_buf text = LAZ_BUF_INIT;
    struct laz_error err = {0};
    char bytes[4096];
    int own, other;
    ssize_t n;

    CU_ASSERT_EQUAL_FATAL(laz_os_cloexec_pipe(&own, &other, NULL), 0);
    fds[0] = (struct laz_spawn_fd){other, 1};
    fds[1] = (struct laz_spawn_fd){2, 2};
    memcpy(fds + 2, more, n_more * sizeof *more);
    spawn.argv = argv;
    spawn.fds = fds;
    spawn.n_fds = n_more + 2;
    spawn.uid = spawn.gid = LAZ_SPAWN_SAME_ID;
    spawn.cgroup = &door;
    int rc = laz_spawner_spawn(bench->spawner, &spawn, &process, &err);
    UNIT_TEXT(err.text, "");
    CU_ASSERT_EQUAL_FATAL(rc, 0);
    laz_os_close(&other);
    while ((n = read(own, bytes, sizeof bytes)) > 0)
        laz_buf_append(&text, bytes, (size_t)n);
    laz_os_close(&own);
    CU_ASSERT_TRUE(laz_process_wait(&process, UNIT_HANG_MS, how));
    laz_process_close(&process);
    return laz_buf_steal(&text);
}

static void what_is_launched_is_a_child_of_the_host(void)
{
    static const char *const env[] = {"WORD=two words", "EMPTY=", NULL};
    const struct laz_spawn spawn = {.env = env, .directory = "/usr", .group = true};
    struct bench bench;
    struct laz_exit how;
    int data = -1;
    char expected[256];

    bench_open(&bench);
    CU_ASSERT_EQUAL(laz_os_data_fd("data", "from the host", 13, &data, NULL), 0);
    const struct laz_spawn_fd more = {data, 5};
    char *text = bench_run(&bench,
                           "echo \"$PPID|$WORD|$EMPTY|$(pwd)|$(cat <&5)|\"; "
                           "for i in /proc/$$/fd/*; do [ -e $i ] && echo ${i##*/}; done; exit 7",
                           spawn, &more, 1, &how);
    snprintf(expected, sizeof expected, "%ld|two words||/usr|from the host|\n0\n1\n2\n5\n",
             (long)getpid());
    UNIT_TEXT(text, expected);
    free(text);
    CU_ASSERT_TRUE(how.known && how.status == 7 && how.signal == 0);
    laz_os_close(&data);
    bench_close(&bench);
}

/* More descriptors than one message has, and more texts than a socket takes. */
static void a_request_may_be_large(void)
{
    enum { FDS = 40, LONG = 100000 };
    char *value = calloc(1, LONG + 8);
    const char *const env[] = {value, value, value, NULL};
    const struct laz_spawn spawn = {.env = env};
    struct laz_spawn_fd more[FDS];
    struct bench bench;
    struct laz_exit how;
    char expected[512] = "", number[16];

    memset(value, 'x', LONG);
    memcpy(value, "LONG=", 5);
    bench_open(&bench);
    for (int i = 0; i < FDS; i++) {
        int n = snprintf(number, sizeof number, "%d ", i * i);
        more[i] = (struct laz_spawn_fd){-1, 3 + i};
        CU_ASSERT_EQUAL(laz_os_data_fd("d", number, (size_t)n, &more[i].parent, NULL), 0);
        strcat(expected, number);
    }
    strcat(expected, "99995\n");
    char *text = bench_run(&bench,
                           "i=3; while [ $i -lt 43 ]; do cat /proc/self/fd/$i; i=$((i + 1)); done; "
                           "echo ${#LONG}",
                           spawn, more, FDS, &how);
    UNIT_TEXT(text, expected);
    free(text);
    for (int i = 0; i < FDS; i++)
        laz_os_close(&more[i].parent);
    bench_close(&bench);
    free(value);
}

/* Fails with this code, and the text has the words. */
static void expect_failure(struct bench *bench, const char *program, size_t n_fds, int code,
                           const char *words)
{
    static const char *const nothing[] = {NULL};
    const char *const argv[] = {program, NULL};
    const struct laz_cgroup_door door = {.launcher = bench->fd, .into = -1};
    struct laz_spawn_fd fds[80];
    struct laz_process process;
    struct laz_error err = {0};

    for (size_t i = 0; i < n_fds; i++)
        fds[i] = (struct laz_spawn_fd){2, (int)i};
    const struct laz_spawn spawn = {.argv = argv,
                                    .env = nothing,
                                    .fds = fds,
                                    .n_fds = n_fds,
                                    .uid = LAZ_SPAWN_SAME_ID,
                                    .gid = LAZ_SPAWN_SAME_ID,
                                    .cgroup = &door};
    CU_ASSERT_EQUAL(laz_spawner_spawn(bench->spawner, &spawn, &process, &err), code);
    CU_ASSERT_EQUAL(process.pid, -1);
    CU_ASSERT_EQUAL(process.pidfd, -1);
    if (!strstr(err.text, words))
        UNIT_TEXT(err.text, words);
}

static void what_cannot_be_launched_says_why(void)
{
    struct bench bench;

    bench_open(&bench);
    expect_failure(&bench, "/nowhere/at-all", 0, LAZ_EOS, "No such file or directory");
    expect_failure(&bench, "/etc/passwd", 3, LAZ_EOS, "Permission denied");
    CU_ASSERT(waitpid(-1, NULL, WNOHANG) == 0); /* the launcher; nothing is left of them */
    CU_ASSERT_FALSE(laz_os_await(bench.fd, 0));
    expect_failure(&bench, "/bin/true", 70, LAZ_EINVAL, "at most 61 descriptors");
    CU_ASSERT_FALSE(laz_os_await(bench.fd, 0)); /* it still serves */
    bench_close(&bench);
}

static void a_launcher_that_is_stopped_or_dead_is_an_error(void)
{
    static const char *const argv[] = {"/bin/true", NULL}, *const nothing[] = {NULL};
    struct laz_process process = LAZ_PROCESS_INIT;
    struct laz_error err = {0};
    struct bench bench;

    bench_open(&bench);
    const struct laz_cgroup_door door = {.launcher = bench.fd, .into = -1};
    const struct laz_spawn spawn = {.argv = argv, .env = nothing, .cgroup = &door};
    CU_ASSERT_EQUAL(kill(bench.launcher.pid, SIGSTOP), 0);
    CU_ASSERT_EQUAL(laz_launcher_child(bench.fd, &spawn, -1, 10, &process, &err), LAZ_ETIMEOUT);
    CU_ASSERT_TRUE(laz_os_await(bench.fd, 0)); /* what it may still answer reaches nobody */
    CU_ASSERT_EQUAL(kill(bench.launcher.pid, SIGCONT), 0);
    bench_close(&bench);
    bench_open(&bench);
    CU_ASSERT_EQUAL(kill(bench.launcher.pid, SIGKILL), 0);
    CU_ASSERT_TRUE(laz_os_await(bench.fd, UNIT_HANG_MS));
    expect_failure(&bench, "/bin/true", 0, LAZ_EOS, "the launcher cannot be asked");
    bench_close(&bench);
    CU_ASSERT(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD); /* given up, and not started */
}

static void the_launched_end_with_the_spawner(void)
{
    static const char *const argv[] = {"/bin/sleep", "100000", NULL}, *const nothing[] = {NULL};
    struct laz_process process;
    struct laz_exit how = {0};
    struct bench bench;

    bench_open(&bench);
    const struct laz_cgroup_door door = {.launcher = bench.fd, .into = -1};
    const struct laz_spawn spawn = {.argv = argv,
                                    .env = nothing,
                                    .uid = LAZ_SPAWN_SAME_ID,
                                    .gid = LAZ_SPAWN_SAME_ID,
                                    .cgroup = &door,
                                    .death_signal = SIGTERM};
    CU_ASSERT_EQUAL_FATAL(laz_spawner_spawn(bench.spawner, &spawn, &process, NULL), 0);
    laz_spawner_free(bench.spawner);
    CU_ASSERT_TRUE(laz_process_wait(&process, UNIT_HANG_MS, &how));
    CU_ASSERT_EQUAL(how.signal, SIGTERM);
    CU_ASSERT_TRUE(laz_process_wait(&bench.launcher, UNIT_HANG_MS, &how));
    CU_ASSERT_EQUAL(how.signal, SIGKILL);
    laz_process_close(&process);
    laz_process_close(&bench.launcher);
    laz_os_close(&bench.fd);
}

/* ---- asking -------------------------------------------------------------------------------------
 */

static char directory[64]; /* $XDG_RUNTIME_DIR of the tests */

static bool there_is_systemd_run(void)
{
    if (access("/usr/bin/systemd-run", X_OK) == 0)
        return true;
    unit_skip("systemd", "systemd-run is not installed");
    return false;
}

/* Asks as an ordinary user; how it ended, and `why`. The answer has UNIT_HANG_MS, or none. */
static int ask(struct laz_cgroups *groups, bool waits, struct laz_error *why)
{
    struct laz_spawner *spawner;
    struct laz_scope *scope = NULL;

    HOLDS(laz_spawner_new(&spawner, NULL) == 0);
    int rc = laz_scope_ask(spawner, getenv("LAZARET_AGENT"), &scope, why);
    if (!rc) {
        struct pollfd answer = {.fd = laz_scope_fd(scope), .events = POLLIN};
        (void)poll(&answer, 1, waits ? UNIT_HANG_MS : 0);
        rc = laz_scope_take(scope, groups, why);
    }
    laz_scope_free(scope);
    if (rc)
        laz_spawner_free(spawner);
    return rc;
}

static void be_other_user(void)
{
    if (!laz_os_is_root())
        return;
    HOLDS(setgroups(0, NULL) == 0 && setresgid(OTHER_USER, OTHER_USER, OTHER_USER) == 0 &&
          setresuid(OTHER_USER, OTHER_USER, OTHER_USER) == 0);
}

/* Runs a function as an ordinary user, in a child; 0, or the line of the failed check. */
static int as_user(void (*run)(void *), void *data)
{
    int status = -1;

    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        be_other_user();
        run(data);
        fflush(stdout);
        _exit(0);
    }
    CU_ASSERT(pid > 0 && waitpid(pid, &status, 0) == pid);
    if (status)
        printf("\n    status %d: line %d or 256 more\n", status, WEXITSTATUS(status));
    return status;
}

struct asking {
    enum manager_way way;
    int code;
    const char *words;
};

static void ask_one(void *data)
{
    const struct asking *asking = data;
    struct laz_cgroups *groups;
    struct laz_error why = {0};

    HOLDS(laz_cgroups_new(false, &groups, NULL) == 0);
    int rc = ask(groups, asking->way != MANAGER_HANGS && asking->way != MANAGER_IS_MUTE, &why);
    if (rc != asking->code || !strstr(why.text, asking->words))
        printf("\n    %d: \"%s\" has not \"%s\"\n", rc, why.text, asking->words);
    HOLDS(rc == asking->code && strstr(why.text, asking->words));
    laz_cgroups_free(groups);
    HOLDS(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

/* Whatever the manager does, it is asked for a delegated scope, and a failure has a reason. */
static void a_manager_that_gives_nothing_is_a_reason(void)
{
    static const struct asking rows[] = {
        {MANAGER_REFUSES, LAZ_EREFUSED, "there are no scopes today"},
        {MANAGER_FAILS, LAZ_EREFUSED, "systemd-run: "},
        {MANAGER_BABBLES, LAZ_EREFUSED, "systemd-run: "},
        {MANAGER_VANISHES, LAZ_EREFUSED, "systemd-run: "},
        {MANAGER_HANGS, LAZ_ETIMEOUT, "does not answer"},
        {MANAGER_IS_MUTE, LAZ_ETIMEOUT, "does not answer"},
        /* it says yes, and leaves the process where it was */
        {MANAGER_GRANTS, LAZ_EREFUSED, "cannot create a control group"},
    };

    if (!there_is_systemd_run())
        return;
    told_of_controllers = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].way == MANAGER_GRANTS && !laz_os_is_root())
            continue; /* this user may be able to make groups where it is */
        struct asking row = rows[i];
        struct manager_asked asked = {0};
        struct manager manager;
        CU_ASSERT_TRUE_FATAL(manager_start(&manager, directory, NULL, row.way));
        CU_ASSERT_EQUAL(as_user(ask_one, &row), 0);
        if (row.way != MANAGER_IS_MUTE && row.way != MANAGER_HANGS) {
            CU_ASSERT_TRUE(manager_asked(&manager, &asked));
            CU_ASSERT_TRUE(asked.is_scope && asked.is_delegated && asked.has_pid);
        }
        manager_end(&manager);
    }
    told_of_controllers = false;
}

static void where_nobody_can_be_asked_nothing_is_started(void)
{
    struct asking nobody = {MANAGER_GRANTS, LAZ_EREFUSED, "no systemd runs for this user"};
    struct asking no_controllers = {MANAGER_GRANTS, LAZ_EREFUSED, "are not of version 2 here"};
    char path[256];

    snprintf(path, sizeof path, "%s/systemd/private", directory);
    (void)unlink(path);
    told_of_controllers = true;
    CU_ASSERT_EQUAL(as_user(ask_one, &nobody), 0);
    told_of_controllers = false;
    if (!__real_cgroup_v2_can_limit())
        CU_ASSERT_EQUAL(as_user(ask_one, &no_controllers), 0);
}

/* ---- whole sessions -----------------------------------------------------------------------------
 */

static char tree[512]; /* a group of the tests, of version 2 */

static char *own_v2(void)
{
    struct laz_buf mountinfo = LAZ_BUF_INIT, self = LAZ_BUF_INIT;
    size_t top;

    HOLDS(laz_os_read_file("/proc/self/mountinfo", 1 << 20, &mountinfo, NULL) == 0);
    HOLDS(laz_os_read_file("/proc/self/cgroup", 1 << 20, &self, NULL) == 0);
    char *own = laz_cgroup_directory(laz_buf_text(&mountinfo), laz_buf_text(&self), "", &top);
    laz_buf_fini(&mountinfo);
    laz_buf_fini(&self);
    return own;
}

/* Removes a group with those below it; processes in them are waited for. */
static void tree_remove(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    char below[1024];

    while (dir && (entry = readdir(dir)))
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.') {
            snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
            tree_remove(below);
        }
    if (dir)
        closedir(dir);
    for (int i = 0; i < UNIT_HANG_MS / 10 && rmdir(path) != 0 && errno == EBUSY; i++)
        usleep(10000);
    CU_ASSERT_NOT_EQUAL(access(path, F_OK), 0);
}

/* A part of the tree that belongs to the other user, as a manager makes it for a scope. */
static bool tree_make(char *scope, size_t size)
{
    static const char *const files[] = {"", "/cgroup.procs", "/cgroup.subtree_control",
                                        "/cgroup.threads"};
    char path[1024];
    char *own = laz_os_is_root() ? own_v2() : NULL;

    if (own)
        snprintf(tree, sizeof tree, "%s/lazaret-test-%ld", own, (long)getpid());
    free(own);
    if (!*tree || mkdir(tree, 0755) != 0) {
        unit_skip("root", "no control group of version 2 can be created here");
        return false;
    }
    snprintf(scope, size, "%s/some.scope", tree);
    CU_ASSERT_EQUAL_FATAL(mkdir(scope, 0755), 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s%s", scope, files[i]);
        CU_ASSERT_EQUAL_FATAL(chown(path, OTHER_USER, OTHER_USER), 0);
    }
    return true;
}

/* Processes in the groups that match, by their files. Groups are made where the most controllers
 * are: without any, below the launcher's own. */
static size_t processes_in(const char *pattern)
{
    struct laz_buf path = LAZ_BUF_INIT;
    size_t n = 0;
    glob_t found;

    laz_buf_printf(&path, "%s/some.scope/%s/cgroup.procs", tree, pattern);
    if (glob(laz_buf_text(&path), 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            FILE *file = fopen(found.gl_pathv[i], "re");
            for (int c; file && (c = getc(file)) != EOF;)
                n += c == '\n';
            if (file)
                fclose(file);
        }
        globfree(&found);
    }
    laz_buf_fini(&path);
    return n;
}

static void kill_launcher(void)
{
    char path[1024], number[24] = "";

    snprintf(path, sizeof path, "%s/some.scope/launcher/cgroup.procs", tree);
    FILE *file = fopen(path, "re");
    HOLDS(file && fgets(number, sizeof number, file));
    fclose(file);
    HOLDS(kill((pid_t)strtol(number, NULL, 10), SIGKILL) == 0);
    while (processes_in("launcher")) /* it leaves its group after it has closed its descriptors */
        usleep(1000);
}

static bool result_has(struct laz_session *session, const char *part)
{
    struct laz_result *result = test_run(session, "return 2 + 3", NULL);
    bool has = result && test_result_has(result, part);

    laz_result_free(result);
    return has;
}

static void cold_session_in_scope(void *nothing)
{
    char *before = own_v2();

    (void)nothing;
    struct laz_engine *engine = test_engine("session.runtime=lua;session.start_timeout=1200");
    HOLDS(engine && processes_in("launcher") == 0); /* nothing was needed so far */
    struct laz_session *session = test_session(engine, "lua");
    HOLDS(session && processes_in("launcher") == 1 && processes_in("launcher/lazaret-*") > 0);
    HOLDS(result_has(session, "cgroup-v2"));
    char *after = own_v2();
    HOLDS(before && after && strcmp(before, after) == 0);
    free(before);
    free(after);
    kill_launcher();
    HOLDS(result_has(session, "cgroup-v2"));
    struct laz_session *next = test_session(engine, "lua");
    HOLDS(next && result_has(next, "watchdog")); /* and no error */
    laz_session_free(next);
    laz_session_free(session);
    laz_engine_free(engine);
    HOLDS(processes_in("*") == 0);
}

static void warm_session_in_scope(void *nothing)
{
    (void)nothing;
    struct laz_engine *engine =
        test_engine("session.runtime=lua;session.start_timeout=1200;pool.warm=template");
    struct laz_session *session = engine ? test_warm_session(engine, "lua") : NULL;
    HOLDS(session && processes_in("launcher") > 1); /* the template is there too */
    HOLDS(processes_in("launcher/lazaret-*") > 0 && result_has(session, "cgroup-v2"));
    laz_session_free(session);
    laz_engine_free(engine);
    HOLDS(processes_in("*") == 0);
}

static void not_asked(void *nothing)
{
    (void)nothing;
    struct laz_engine *engine = test_engine("session.runtime=lua;sandbox.ask_systemd=false");
    struct laz_session *session = engine ? test_session(engine, "lua") : NULL;
    HOLDS(session && result_has(session, "watchdog") && processes_in("*") == 0);
    laz_session_free(session);
    laz_engine_free(engine);
}

static void *advance(void *engine)
{
    test_post_advance(engine, 5001);
    return NULL;
}

/* The time for an answer ends by the clock of the loop. */
static void hanging_manager(void *nothing)
{
    struct laz_buf told = LAZ_BUF_INIT;
    pthread_t thread;

    (void)nothing;
    struct laz_engine *engine =
        test_engine("session.runtime=lua;session.verbose=true;session.start_timeout=20");
    HOLDS(engine);
    test_told = &told;
    test_hold_clock(engine);
    HOLDS(pthread_create(&thread, NULL, advance, engine) == 0);
    struct laz_session *session = test_session(engine, "lua");
    HOLDS(session && pthread_join(thread, NULL) == 0 && result_has(session, "watchdog"));
    if (!strstr(laz_buf_text(&told), "the user's systemd does not answer"))
        printf("    %s\n", laz_buf_text(&told));
    HOLDS(strstr(laz_buf_text(&told), "the user's systemd does not answer"));
    laz_session_free(session);
    laz_engine_free(engine);
    laz_buf_fini(&told);
}

static struct laz_engine *to_cancel;

static void cancel_posted(struct laz_post *post)
{
    (void)post;
    laz_engine_cancel(to_cancel);
}

/* Who waits for the answer can be cancelled, and the engine freed while it is still awaited. */
static void cancelled_while_asking(void *nothing)
{
    const struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
    struct laz_post post = {.run = cancel_posted};
    struct laz_session *session = NULL;
    struct laz_error err = {0};

    (void)nothing;
    struct laz_engine *engine = to_cancel = test_engine("session.runtime=lua");
    HOLDS(engine);
    test_hold_clock(engine);
    laz_loop_post(engine->driver.loop, &post);
    int rc = laz_session_open(engine, &options, &session, &err);
    if (rc != LAZ_ECANCELLED)
        printf("    %d: %s\n", rc, err.text);
    HOLDS(rc == LAZ_ECANCELLED);
    laz_session_free(session);
    laz_engine_free(engine);
    HOLDS(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static void sessions_are_in_groups_of_the_scope(void)
{
    static const struct {
        void (*run)(void *nothing);
        enum manager_way way;
    } rows[] = {
        {cold_session_in_scope, MANAGER_GRANTS},
        {warm_session_in_scope, MANAGER_GRANTS},
        {not_asked, MANAGER_GRANTS},
        {hanging_manager, MANAGER_HANGS},
        {cancelled_while_asking, MANAGER_HANGS},
    };
    char scope[600], lua[128];

    if (!there_is_systemd_run() || !tree_make(scope, sizeof scope))
        return;
    snprintf(lua, sizeof lua, "%s/plugins/lua.so", directory);
    if (access(lua, F_OK) != 0) {
        unit_skip("lua", "the runtime is not built");
        tree_remove(tree);
        return;
    }
    told_of_controllers = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct manager manager;
        char launcher[700];
        CU_ASSERT_TRUE_FATAL(manager_start(&manager, directory, scope, rows[i].way));
        CU_ASSERT_EQUAL(as_user(rows[i].run, NULL), 0);
        manager_end(&manager);
        snprintf(launcher, sizeof launcher, "%s/launcher", scope);
        if (access(launcher, F_OK) == 0)
            tree_remove(launcher); /* a manager removes it with the scope */
    }
    told_of_controllers = false;
    tree_remove(tree);
}

/* ---- the real one -------------------------------------------------------------------------------
 */

static void a_real_manager_gives_groups(void)
{
    struct laz_cgroups *groups;
    struct laz_cgroup *group = NULL;
    struct laz_error why = {0};
    char path[128];

    snprintf(path, sizeof path, "/run/user/%ld/systemd/private", (long)getuid());
    if (laz_os_is_root() || access(path, F_OK) != 0 || !__real_cgroup_v2_can_limit()) {
        printf("    SKIP systemd --user: none runs for an ordinary user here\n");
        return;
    }
    *strstr(path, "/systemd") = '\0';
    setenv("XDG_RUNTIME_DIR", path, 1);
    CU_ASSERT_EQUAL_FATAL(laz_cgroups_new(false, &groups, NULL), 0);
    CU_ASSERT_EQUAL(ask(groups, true, &why), 0);
    UNIT_TEXT(why.text, "");
    CU_ASSERT_EQUAL(laz_cgroup_new(groups, 64 << 20, 20, false, &group, &why), 0);
    UNIT_TEXT(laz_cgroups_mechanism(groups, LAZ_CGROUP_MEMORY, false), "cgroup-v2");
    laz_cgroup_free(group);
    laz_cgroups_free(groups);
    setenv("XDG_RUNTIME_DIR", directory, 1);
}

static const struct unit_test tests[] = {
    UNIT(what_is_launched_is_a_child_of_the_host),
    UNIT(a_request_may_be_large),
    UNIT(what_cannot_be_launched_says_why),
    UNIT(a_launcher_that_is_stopped_or_dead_is_an_error),
    UNIT(the_launched_end_with_the_spawner),
    UNIT(a_manager_that_gives_nothing_is_a_reason),
    UNIT(where_nobody_can_be_asked_nothing_is_started),
    UNIT(sessions_are_in_groups_of_the_scope),
    UNIT(a_real_manager_gives_groups),
    {0},
};

/* Copies of the agent and the plugins that the other user can read. */
static bool copy_for_user(void)
{
    char *command = laz_strdupf(
        "cd %s && cp -L '%s' agent && mkdir plugins && for d in $(echo '%s' | tr : ' '); "
        "do cp -L $d/bwrap.* $d/none.* $d/lua.* plugins/ 2>/dev/null; done; chmod -R a+rX,go-w .",
        directory, getenv("LAZARET_AGENT"), getenv("LAZARET_PLUGIN_PATH"));
    char *agent = laz_strdupf("%s/agent", directory),
         *plugins = laz_strdupf("%s/plugins", directory);
    bool copied = system(command) == 0 && setenv("LAZARET_AGENT", agent, 1) == 0 &&
                  setenv("LAZARET_PLUGIN_PATH", plugins, 1) == 0;

    free(command);
    free(agent);
    free(plugins);
    return copied;
}

int main(void)
{
    char command[128];

    snprintf(directory, sizeof directory, "/tmp/scope-test-XXXXXX");
    if (!mkdtemp(directory))
        return 1;
    (void)chmod(directory, 0755);
    setenv("XDG_RUNTIME_DIR", directory, 1);
    unsetenv("DBUS_SESSION_BUS_ADDRESS");
    if (laz_os_is_root() && !copy_for_user())
        printf("the agent and the plugins cannot be copied\n");
    int status = unit_run("scope", tests);
    snprintf(command, sizeof command, "rm -rf %s", directory);
    (void)!system(command);
    return status;
}
