/* SPDX-License-Identifier: MIT */
/* test_killed.c - a host is killed at any moment, and nothing of it is left.
 *
 * A host is a separate process: it opens a session whose hook leaves a process in the background
 * and whose tool is a program that starts others and does not end. It is traced with all its
 * descendants (ptrace(2)), so that the moment is defined by an event and not by time: the n-th
 * start or end of a process or thread, or execve, plus a random number of microseconds. The test
 * adopts orphans, so that waitpid(2) shows whether a process is left. Then the next host starts: no
 * directory or control group of the previous one may be left, and the audit log of both must be
 * intact. */
#include "session/sight.h"
#include "unit.h"

#include "base/clock.h"
#include "base/error.h"
#include "audit/audit_chain.h"
#include "os/directories.h"
#include "os/files.h"
#include "os/process.h"
#include "os/spawner.h"
#include "os/users.h"

#include <lazaret/lazaret.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define KILLED_SAMPLE 25 /* moments in a run, as root and as an ordinary user each */
#define KILLED_FULL   500
#define KILLED_LAST   "3601" /* argument of the program that a host starts last */
#define KILLED_OPTIONS                                                                             \
    (PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |         \
     PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL)

static char killed_directory[] = "/tmp/test-killed-XXXXXX";

/* ---- the host ------------------------------------------------------------------------------- */

struct kind {
    const char *name, *backend;
    bool warm;
    const char *program; /* in place of bwrap, a file in the test's directory; NULL: bwrap */
    const char *code;    /* NULL: it calls the tool */
};

static const struct kind kinds[] = {
    {"bwrap", "bwrap", false, NULL, NULL},
    {"template", "bwrap", true, NULL, NULL},
    {"landlock", "landlock", false, NULL, NULL},
};
#define KINDS (sizeof kinds / sizeof *kinds)

/* The agent waits for a program, and does not notice that its host has gone. */
static const struct kind kind_deaf = {"bwrap without death signals", "bwrap", false, "bwrap-death",
                                      "os.execute('sleep " KILLED_LAST "')"};

static bool killed_settings(void)
{
    char path[64];

    snprintf(path, sizeof path, "%s/config.toml", killed_directory);
    FILE *file = fopen(path, "we");
    if (!file)
        return false;
    fprintf(file,
            "[session]\ntimeout = 0\ndeadline = 0\nstart_timeout = 600\n"
            "pre_execute_hook = [\"/bin/sh\", \"-c\", \"sleep 3600 >/dev/null 2>&1 &\"]\n"
            "[audit]\nfile = \"%s/audit.jsonl\"\n"
            "[[tools]]\nprovider = \"command\"\n"
            "[[tools.tool]]\nname = \"stay\"\ntimeout = 0\n"
            "command = [\"/bin/sh\", \"-c\", \"sleep 3600 & sleep " KILLED_LAST " & wait\"]\n",
            killed_directory);
    return fclose(file) == 0;
}

static struct laz_engine *killed_engine(const struct kind *kind)
{
    struct laz_settings *settings = NULL;
    struct laz_engine *engine = NULL;
    struct laz_error err = {0};
    char path[64];

    snprintf(path, sizeof path, "%s/config.toml", killed_directory);
    int rc = laz_settings_new(&settings, &err);
    if (!rc)
        rc = laz_settings_load(settings, path, &err);
    if (!rc)
        rc = laz_settings_set(settings, "sandbox.backend", kind->backend, &err);
    if (!rc && kind->program) {
        snprintf(path, sizeof path, "%s/%s", killed_directory, kind->program);
        rc = laz_settings_set(settings, "sandbox.bwrap.program", path, &err);
    }
    if (!rc)
        rc = laz_engine_new(settings, NULL, &engine, &err);
    if (rc)
        printf("\n    no engine: %s", err.text);
    laz_settings_free(settings);
    return engine;
}

/* Does not end by itself unless it fails to reach its tool. */
__attribute__((noreturn)) static void host_main(const struct kind *kind)
{
    const struct laz_session_options options = {
        .size = sizeof options, .runtime = "lua", .warm = kind->warm};
    const char *code = kind->code ? kind->code : "return stay()";
    struct laz_engine *engine = killed_engine(kind);
    struct laz_session *session = NULL;
    struct laz_result *result = NULL;
    struct laz_error err = {0};

    if (engine && !laz_session_open(engine, &options, &session, &err))
        laz_session_execute(session, code, SIZE_MAX, NULL, &result, &err);
    printf("\n    the host did not get to its last program: %s %s", err.text,
           result && laz_result_error(result) ? laz_result_error(result) : "");
    fflush(stdout);
    _exit(1);
}

/* ---- its end -------------------------------------------------------------------------------- */

/* When it is killed. */
struct moment {
    unsigned event; /* counted from 1; 0: when it has started its last program */
    bool at_bwrap;  /* or when bubblewrap has made its second process */
    bool reaper;    /* with it the reaper of its session is killed */
    unsigned us;    /* after the event; 0: the process with the event stays stopped */
};

struct killing {
    struct moment moment;
    pid_t host;
    unsigned events;
    bool killed;
    pid_t held;                 /* stopped since then */
    uint64_t since_us, took_us; /* when, and until nothing was left */
};

static void killed_read(pid_t pid, const char *what, char *text, size_t size)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, what);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, size - 1) : 0;
    if (fd >= 0)
        close(fd);
    n = n < 0 ? 0 : n;
    for (ssize_t i = 0; i + 1 < n; i++)
        text[i] = (char)(text[i] ? text[i] : ' ');
    text[n] = '\0';
}

static bool killed_says(pid_t pid, const char *what, const char *part)
{
    char text[512];

    killed_read(pid, what, text, sizeof text);
    return strstr(text, part) != NULL;
}

/* Visits each child of each thread of a process; a host's children become this process's when it
 * ends. */
static void killed_each_child(pid_t of, void (*visit)(pid_t pid))
{
    char path[64], list[4096];
    struct dirent *entry;

    snprintf(path, sizeof path, "/proc/%d/task", (int)of);
    DIR *tasks = opendir(path);
    while (tasks && (entry = readdir(tasks))) {
        char *at = list, *end;
        long pid;
        snprintf(path, sizeof path, "task/%.16s/children", entry->d_name);
        killed_read(of, path, list, sizeof list);
        for (; (pid = strtol(at, &end, 10)) > 0 && end != at; at = end)
            visit((pid_t)pid);
    }
    if (tasks)
        closedir(tasks);
}

static void killed_end_reaper(pid_t pid)
{
    if (killed_says(pid, "cmdline", "--reap"))
        kill(pid, SIGKILL);
}

static void killed_tell(pid_t pid)
{
    char line[512], state[64];

    killed_read(pid, "cmdline", line, sizeof line);
    killed_read(pid, "wchan", state, sizeof state);
    printf("\n    process %d lives on, in %s: %s", (int)pid, state, line);
    kill(pid, SIGKILL);
}

/* Has the moment come? */
static bool killing_is_now(struct killing *k, pid_t pid, int event)
{
    k->events++;
    if (k->moment.at_bwrap)
        return event == PTRACE_EVENT_FORK && killed_says(pid, "comm", "bwrap");
    return k->events == k->moment.event ||
           (event == PTRACE_EVENT_EXEC && killed_says(pid, "cmdline", KILLED_LAST) &&
            !killed_says(pid, "cmdline", "wait"));
}

static void killing_kill(struct killing *k)
{
    uint64_t until = laz_clock_us() + k->moment.us;

    while (laz_clock_us() < until) /* too short for a sleep */
        ;
    if (k->moment.reaper) /* children of the host's thread that starts processes */
        killed_each_child(k->host, killed_end_reaper);
    kill(k->host, SIGKILL);
    k->killed = true;
    k->since_us = laz_clock_us();
}

/* Continues a stopped tracee: it had an event, got a signal, or is new. */
static void killing_goes_on(struct killing *k, pid_t pid, int status)
{
    int event = status >> 16, number = event ? 0 : WSTOPSIG(status);
    bool now = !k->killed && event && event != PTRACE_EVENT_STOP && killing_is_now(k, pid, event);

    if (now && !k->moment.us) {
        killing_kill(k);
        k->held = pid; /* it must not notice before the host has ended */
        return;
    }
    /* A zombie is reported to its tracer before its parent. After the kill no process may depend on
     * a tracer. */
    ptrace(k->killed || event == PTRACE_EVENT_EXIT ? PTRACE_DETACH : PTRACE_CONT, pid, 0, number);
    if (now)
        killing_kill(k);
}

/* Follows the host until none of its processes is left. False: one is left, or the host was not
 * killed. */
static bool killing_follow(struct killing *k)
{
    const struct timespec second = {.tv_sec = 1};
    uint64_t end = laz_clock_ms() + UNIT_HANG_MS;
    sigset_t child;
    int status;

    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    while (laz_clock_ms() < end) {
        pid_t pid = waitpid(-1, &status, __WALL | WNOHANG);
        if (pid < 0 && errno == ECHILD)
            return k->killed;
        if (pid > 0 && WIFSTOPPED(status))
            killing_goes_on(k, pid, status);
        else if (pid > 0 && pid == k->host && k->held)
            ptrace(PTRACE_DETACH, k->held, 0, 0);
        if (pid == 0)
            sigtimedwait(&child, NULL, &second);
    }
    return false;
}

/* ---- what the next one finds ---------------------------------------------------------------- */

#define LEFT_MOST 64

struct left {
    char paths[LEFT_MOST][32];
    size_t n;
};

/* Is this an unused directory of an engine of this user? */
static bool left_is(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool left = fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
                flock(fd, LOCK_EX | LOCK_NB) == 0;

    if (fd >= 0)
        close(fd);
    return left;
}

static void left_find(struct left *left)
{
    DIR *dir = opendir("/tmp");
    struct dirent *entry;

    left->n = 0;
    while (dir && (entry = readdir(dir))) {
        char *path = left->paths[left->n];
        if (strncmp(entry->d_name, "lazaret-", 8) != 0 || strlen(entry->d_name) != 16)
            continue;
        snprintf(path, sizeof left->paths[0], "/tmp/%.16s", entry->d_name);
        left->n += left_is(path) && left->n + 1 < LEFT_MOST;
    }
    if (dir)
        closedir(dir);
}

static char left_group[32];
static unsigned left_groups;

static int left_look(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    if (type == FTW_D && strncmp(path + at->base, "lazaret-", 8) == 0 && strstr(path, left_group)) {
        printf("\n    left: %s", path);
        left_groups++;
    }
    return 0;
}

/* Starts the next host and checks that it has removed what the others left. */
static void nothing_is_left(pid_t host)
{
    struct left left;

    left_find(&left);
    struct laz_engine *engine = killed_engine(&kinds[0]);
    CU_ASSERT_PTR_NOT_NULL(engine);
    for (size_t i = 0; i < left.n; i++)
        if (left_is(left.paths[i])) {
            printf("\n    left: %s", left.paths[i]);
            CU_FAIL("a directory is left");
        }
    snprintf(left_group, sizeof left_group, "-%d-", (int)host);
    left_groups = 0;
    if (laz_os_is_root())
        nftw("/sys/fs/cgroup", left_look, 32, FTW_PHYS);
    CU_ASSERT_EQUAL(left_groups, 0);
    laz_engine_free(engine);
}

static void killed_finding(void *user, enum laz_audit_finding finding, uint64_t line,
                           const char *text)
{
    (void)user;
    printf("\n    line %llu of the log, %s: %s", (unsigned long long)line,
           laz_audit_findings[finding].name, text);
}

static void the_log_is_whole(void)
{
    struct laz_audit_verify verify;
    char path[64], piece[4096];
    size_t n;

    snprintf(path, sizeof path, "%s/audit.jsonl", killed_directory);
    FILE *file = fopen(path, "re");
    laz_audit_verify_init(&verify, killed_finding, NULL);
    while (file && (n = fread(piece, 1, sizeof piece, file)) > 0)
        laz_audit_verify_feed(&verify, piece, n);
    CU_ASSERT(laz_audit_verify_end(&verify));
    laz_audit_verify_fini(&verify);
    if (file)
        (void)fclose(file);
}

/* ---- moments -------------------------------------------------------------------------------- */

/* Kills a host of a kind at a moment and checks that nothing is left of it. */
static bool host_is_killed(const struct kind *kind, struct moment moment, struct killing *out)
{
    struct killing k = {.moment = moment};
    int begin[2], status;
    pid_t pid;
    char c = 'b';

    if (pipe2(begin, O_CLOEXEC) != 0)
        return false;
    fflush(stdout);
    k.host = fork();
    if (k.host == 0) {
        close(begin[1]);
        if (read(begin[0], &c, 1) != 1)
            _exit(2);
        host_main(kind);
    }
    close(begin[0]);
    bool traced = ptrace(PTRACE_SEIZE, k.host, 0, KILLED_OPTIONS) == 0;
    if (traced && write(begin[1], &c, 1) != 1)
        traced = false;
    close(begin[1]);
    bool good = killing_follow(&k) && traced;
    k.took_us = k.killed ? laz_clock_us() - k.since_us : 0;
    if (out)
        *out = k;
    if (good) {
        nothing_is_left(k.host);
        the_log_is_whole();
        return true;
    }
    printf("\n    %s, event %u of %u and %u us: %s", kind->name, moment.event, k.events, moment.us,
           !traced    ? "it cannot be traced"
           : k.killed ? ""
                      : "it was not killed");
    killed_each_child(getpid(), killed_tell);
    while ((pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR)
        if (pid > 0 && WIFSTOPPED(status))
            ptrace(PTRACE_DETACH, pid, 0, 0);
    return false;
}

/* bubblewrap's second process waits for a message of the first, which dies with the host, and would
 * wait for ever. */
static void bubblewrap_that_has_begun_ends_with_its_host(void)
{
    for (size_t i = 0; i < KINDS; i++)
        if (strcmp(kinds[i].backend, "bwrap") == 0)
            CU_ASSERT(host_is_killed(&kinds[i], (struct moment){.at_bwrap = true}, NULL));
}

/* It asks for its death signal late: the session may be running code by then. Here it never does.
 */
static void the_second_process_of_bubblewrap_ends_with_the_host(void)
{
    char path[64];

    snprintf(path, sizeof path, "%s/%s", killed_directory, kind_deaf.program);
    CU_ASSERT_EQUAL_FATAL(laz_os_copy_file("tests/enforce/weak_bwrap", path, 0755, NULL), 0);
    CU_ASSERT(host_is_killed(&kind_deaf, (struct moment){0}, NULL));
}

static void what_programs_of_tools_and_hooks_have_started_ends_with_the_host(void)
{
    for (size_t i = 0; i < KINDS; i++)
        CU_ASSERT(host_is_killed(&kinds[i], (struct moment){0}, NULL));
}

static void the_agent_ends_with_a_host_and_its_reaper(void)
{
    CU_ASSERT(host_is_killed(&kinds[2], (struct moment){.reaper = true}, NULL));
}

/* ---- the warden ----------------------------------------------------------------------------- */

static bool warden_start(struct laz_spawner *spawner, const char *script, int out,
                         struct laz_process *process)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    static const char *const env[] = {"PATH=/usr/bin:/bin", NULL};
    const struct laz_spawn_fd fds[] = {{out, 1}};
    const struct laz_spawn spawn = {
        .argv = argv,
        .env = env,
        .fds = fds,
        .n_fds = 1,
        .uid = LAZ_SPAWN_SAME_ID,
        .gid = LAZ_SPAWN_SAME_ID,
        .group = true,
        .death_signal = SIGKILL,
    };
    struct laz_error err = {0};

    if (laz_spawner_spawn(spawner, &spawn, process, &err) == 0)
        return true;
    printf("\n    %s", err.text);
    fflush(stdout);
    return false;
}

/* A host that runs two programs: the second, which starts another one, when it gets a message. */
__attribute__((noreturn)) static void warden_host(int told, int out)
{
    struct laz_spawner *spawner;
    struct laz_process first, second;
    char c, *agent = unit_built("lazaret-agent");

    if (laz_spawner_new(&spawner, NULL) || laz_spawner_guard(spawner, agent, NULL))
        _exit(1);
    laz_spawner_expect(spawner); /* and no other one is started for the first */
    if (!warden_start(spawner, "echo; exec sleep 3600", out, &first) || read(told, &c, 1) != 1 ||
        !warden_start(spawner, "sleep 3600 & echo; wait", out, &second))
        _exit(1);
    for (;;)
        pause();
}

static unsigned wardens;

static void warden_kill(pid_t pid)
{
    if (!killed_says(pid, "cmdline", "--warden"))
        return;
    wardens++;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void a_warden_that_is_killed_is_replaced(void)
{
    struct killing k = {.killed = true};
    int told[2], out[2];
    char c = 'g';

    CU_ASSERT_FATAL(pipe2(told, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
    fflush(stdout);
    k.host = fork();
    if (k.host == 0)
        warden_host(told[0], out[1]);
    close(out[1]);
    CU_ASSERT_EQUAL(read(out[0], &c, 1), 1);
    wardens = 0;
    killed_each_child(getpid(), warden_kill);
    CU_ASSERT_EQUAL(wardens, 1);
    CU_ASSERT_EQUAL(write(told[1], &c, 1), 1);
    CU_ASSERT_EQUAL(read(out[0], &c, 1), 1);
    kill(k.host, SIGKILL);
    CU_ASSERT(killing_follow(&k));
    killed_each_child(getpid(), killed_tell);
    close(out[0]);
    close(told[0]);
    close(told[1]);
}

static unsigned left_behind;

static void left_count(pid_t pid)
{
    char line[512];

    do /* in the middle of execve(2) it has none */
        killed_read(pid, "cmdline", line, sizeof line);
    while (!*line && !killed_says(pid, "stat", ") Z"));
    left_behind += strstr(line, "sleep 3600") != NULL;
    kill(pid, SIGKILL);
}

/* The host ended normally and was not killed, so its user may want those processes to go on. */
static void what_a_program_has_left_outlives_a_host_that_ends_in_order(void)
{
    struct killing k = {.killed = true};
    struct laz_spawner *spawner;
    struct laz_process process;
    int out[2];

    CU_ASSERT_FATAL(pipe2(out, O_CLOEXEC) == 0);
    fflush(stdout);
    k.host = fork();
    if (k.host == 0) {
        bool good = laz_spawner_new(&spawner, NULL) == 0 &&
                    laz_spawner_guard(spawner, unit_built("lazaret-agent"), NULL) == 0 &&
                    warden_start(spawner, "sleep 3600 &", out[1], &process) &&
                    laz_process_wait(&process, UNIT_HANG_MS, NULL);
        laz_spawner_free(spawner);
        _exit(!good);
    }
    close(out[1]);
    CU_ASSERT_EQUAL(waitpid(k.host, NULL, 0), k.host);
    left_behind = 0;
    killed_each_child(getpid(), left_count);
    CU_ASSERT_EQUAL(left_behind, 1);
    CU_ASSERT(killing_follow(&k));
    close(out[0]);
}

/* ---- any moment ----------------------------------------------------------------------------- */

static void killed_at_any_moment_it_leaves_nothing(void)
{
    const unsigned n = sight_is_full() ? KILLED_FULL : KILLED_SAMPLE;
    unsigned events[KINDS] = {0};
    struct killing k, worst = {0};

    for (unsigned i = 0; i < n; i++) {
        size_t kind = i < KINDS ? i : sight_pick(KINDS); /* the first of each counts events */
        struct moment moment = {0};
        if (events[kind]) {
            moment.event = 1 + (unsigned)sight_pick(events[kind]);
            moment.us = (unsigned)sight_pick((size_t)1 << sight_pick(15)); /* to 16 ms */
        }
        CU_ASSERT(host_is_killed(&kinds[kind], moment, &k));
        if (!events[kind])
            events[kind] = k.events;
        if (k.took_us > worst.took_us)
            worst = k;
    }
    printf("\n    %u hosts of %u, %u and %u events; the slowest end took %.3f s, at event %u", n,
           events[0], events[1], events[2], (double)worst.took_us / 1e6, worst.moment.event);
}

static const struct unit_test tests[] = {
    UNIT(bubblewrap_that_has_begun_ends_with_its_host),
    UNIT(the_second_process_of_bubblewrap_ends_with_the_host),
    UNIT(what_programs_of_tools_and_hooks_have_started_ends_with_the_host),
    UNIT(the_agent_ends_with_a_host_and_its_reaper),
    UNIT(a_warden_that_is_killed_is_replaced),
    UNIT(what_a_program_has_left_outlives_a_host_that_ends_in_order),
    UNIT(killed_at_any_moment_it_leaves_nothing),
    {0},
};

/* Is tracing allowed here, and can this process adopt orphans? */
static bool killed_can_trace(void)
{
    pid_t pid = fork();

    if (pid == 0)
        for (;;)
            pause();
    bool can = pid > 0 && ptrace(PTRACE_SEIZE, pid, 0, 0) == 0 &&
               prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return can;
}

int main(void)
{
    sigset_t child;

    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL); /* the test waits for it */
    if (!killed_can_trace())
        return unit_skip("ptrace", "a process cannot be traced here") ? 77 : 1;
    if (!mkdtemp(killed_directory) || chmod(killed_directory, 0755) != 0 || !killed_settings()) {
        printf("%s cannot be created\n", killed_directory);
        return 1;
    }
    setenv("HOME", killed_directory, 1); /* ignore the configuration of this machine's user */
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("LAZARET_CONFIG");
    int rc = unit_run("killed", tests);
    laz_os_remove_tree(killed_directory);
    return rc;
}
