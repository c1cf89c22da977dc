/* SPDX-License-Identifier: MIT */
/* test_faults.c - every system call that the host makes in the life of a session fails, at each
 * place of the code that makes it.
 *
 * The rule: an error, or the same value and isolation as without the fault; never a crash, a weaker
 * box, or a leftover descriptor, thread, process or directory. That a signal came (EINTR) is no
 * error either. Two sessions without a fault record the places (deny.h: a function with its four
 * callers). A random sample selects some functions, a place of each, and a way to fail: which
 * error, once or always. With LAZARET_TEST_FULL all places fail in all ways, with
 * TEST_FAULTS=FUNCTION those of one function. Places that only an older system reaches are recorded
 * and tested in the same way.
 *
 * Only what the system refused to remove may be left: the next engine removes it. */
#include "deny.h"
#include "live.h"
#include "sight.h"
#include "traces.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "os/files.h"
#include "os/process.h"
#include "os/spawner.h"

#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAULTS_SAMPLE  sight_sample(8) /* places, each of a different function */
#define FAULTS_SITES   2048
#define FAULTS_SECONDS 300 /* for one session; then SIGALRM ends the test */

static struct {
    size_t site, error;
    bool on, any;
    unsigned long came;
} fault;

static void faults_name(void)
{
    int os_errno;

    if (!fault.any) {
        printf("without a fault");
        return;
    }
    const char *name = deny_name(fault.site, fault.error, &os_errno);
    printf("site %zu, %s: %s%s", fault.site, name, strerror(os_errno), fault.on ? ", always" : "");
}

static int faults_errno(void)
{
    int os_errno = 0;

    if (fault.any)
        (void)deny_name(fault.site, fault.error, &os_errno);
    return os_errno;
}

/* Is the fault that something is used up? */
static bool faults_is_short(void)
{
    return laz_errno_is_shortage(faults_errno());
}

static void faults_hang(int number)
{
    void *frames[32];

    (void)number;
    printf("\n    ");
    faults_name();
    printf(": it hangs\n");
    fflush(stdout);
    backtrace_symbols_fd(frames, backtrace(frames, 32), STDOUT_FILENO); /* for addr2line(1) */
    _exit(1);
}

static void faults_end(void)
{
    unsigned long came = deny_end();

    if (fault.any)
        fault.came += came > 0;
}

/* Reports a living child and ends it, because the next session has its own. */
static void faults_tell_child(void)
{
    char path[64], text[300] = "";
    int pid = 0;

    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *list = fopen(path, "r");
    bool known = list && fscanf(list, "%d", &pid) == 1;
    if (list)
        fclose(list);
    if (!known)
        return;
    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    FILE *line = fopen(path, "r");
    size_t n = line ? fread(text, 1, sizeof text - 1, line) : 0;
    for (size_t i = 0; i < n; i++)
        text[i] = (char)(text[i] ? text[i] : ' ');
    if (line)
        fclose(line);
    printf("\n    ");
    faults_name();
    printf(": process %d lives on: %s", pid, text);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* Orphans become children of this process (PR_SET_CHILD_SUBREAPER) and end at once; the engine
 * waits for its own processes. */
static void faults_no_process_is_left(void)
{
    uint64_t end = laz_clock_ms() + UNIT_HANG_MS;
    pid_t pid;

    while ((pid = waitpid(-1, NULL, WNOHANG)) >= 0 && laz_clock_ms() < end) {
        if (pid == 0)
            usleep(1000);
        else if (deny_started((int)pid)) {
            printf("\n    ");
            faults_name();
            printf(": process %d was not waited for", (int)pid);
            CU_FAIL("a process of the engine is left");
        }
    }
    CU_ASSERT(pid < 0 && errno == ECHILD);
    if (pid >= 0)
        faults_tell_child();
}

static void faults_session(struct sight *box)
{
    bool may_be_left = fault.any && deny_removes(fault.site);
    const unsigned bad = box->bad;

    alarm(FAULTS_SECONDS);
    sight_session(box);
    if (box->bad > bad && faults_errno() == EINTR) {
        printf("\n    ");
        faults_name();
        CU_FAIL("a signal makes a difference");
    }
    faults_no_process_is_left();
    size_t left = deny_directories_left(!may_be_left);
    if (left && !may_be_left) {
        printf("\n    ");
        faults_name();
        CU_FAIL("a directory is left");
    }
    alarm(0);
}

/* Runs a session in which a place fails in this way. */
static void faults_at(struct sight *box, size_t site, size_t error, bool on, unsigned missing)
{
    fault.site = site;
    fault.error = error;
    fault.on = on;
    fault.any = true;
    deny_begin(site, error, on, missing);
    faults_session(box);
    fault.any = false;
}

/* Can this failure repeat? Signals do not. */
static bool faults_go_on(size_t site, size_t error)
{
    int os_errno;

    (void)deny_name(site, error, &os_errno);
    return os_errno != EINTR;
}

/* Tests all ways of the places from `first` on; `only`: of this function, or NULL. */
static unsigned long faults_all(struct sight *box, size_t first, const char *only, unsigned missing)
{
    const size_t n = deny_sites();
    unsigned long runs = 0;
    int os_errno;

    for (size_t site = first; site < n; site++) {
        if (only && strcmp(only, deny_name(site, 0, &os_errno)) != 0)
            continue;
        for (size_t error = 0; error < deny_errors(site); error++)
            for (int on = 0; on <= faults_go_on(site, error); on++, runs++)
                faults_at(box, site, error, on, missing);
    }
    return runs;
}

/* Tests some places, each of a different function, each in one of its ways. */
static unsigned long faults_some(struct sight *box, size_t first, unsigned missing)
{
    static size_t sites[FAULTS_SITES];
    const size_t n = deny_sites() - first;
    unsigned long runs = 0;
    int os_errno;

    CU_ASSERT_FATAL(n <= FAULTS_SITES);
    for (size_t i = 0; i < n; i++) {
        size_t at = sight_pick(i + 1);
        sites[i] = sites[at];
        sites[at] = first + i;
    }
    for (size_t i = 0; i < n && runs < FAULTS_SAMPLE; i++) {
        const char *name = deny_name(sites[i], 0, &os_errno);
        bool drawn = false;
        for (size_t k = 0; k < i && !drawn; k++)
            drawn = strcmp(deny_name(sites[k], 0, &os_errno), name) == 0;
        if (drawn)
            continue;
        size_t error = sight_pick(deny_errors(sites[i]));
        faults_at(box, sites[i], error, sight_pick(2) && faults_go_on(sites[i], error), missing);
        runs++;
    }
    return runs;
}

/* Tests the places from `first` on, with the features `missing` unavailable. */
static void faults_each(struct sight *box, size_t first, unsigned missing)
{
    const char *only = getenv("TEST_FAULTS");
    uint64_t began = laz_clock_ms();

    unsigned long runs = only || sight_is_full() ? faults_all(box, first, only, missing)
                                                 : faults_some(box, first, missing);
    printf("\n    %zu places; ", deny_sites() - first);
    printf("%lu sessions in %.1f s, %lu faults came about, %u good, %u errors ", runs,
           (double)(laz_clock_ms() - began) / 1000, fault.came, box->good, box->bad);
    /* Whether a place is reached may depend on timing or on other processes of the machine; among
     * places that only this kind of session reaches (`first` > 0) these can be the majority. */
    CU_ASSERT(only || (runs > 0 && fault.came > 0 && (first || fault.came * 2 >= runs)));
}

/* From here on everything in force is required, so that a weaker session is refused. */
static void faults_require(struct sight *box)
{
    const char *list = box->isolation ? strchr(box->isolation, '[') : NULL;

    CU_ASSERT_FATAL(list != NULL && strstr(list, "fs_read") && strstr(list, "syscalls"));
    box->require = laz_strdupf("%s]", list);
}

static void faults_on(const char *backend, bool from_template, unsigned missing)
{
    struct sight box = {.settings = "",
                        .backend = backend,
                        .from_template = from_template,
                        .has_orphans = true,
                        .only_enforced = true,
                        .is_short = faults_is_short,
                        .fails = &fault.any,
                        .name = faults_name,
                        .end = faults_end};
    size_t first = deny_sites();

    memset(&fault, 0, sizeof fault);
    if (!sight_begin(&box))
        return;
    deny_learn(missing);
    faults_session(&box);
    faults_require(&box);
    deny_learn(missing);
    faults_session(&box);
    CU_ASSERT_EQUAL(box.good, 2);
    if (deny_sites() > first)
        faults_each(&box, first, missing);
    unsigned good = box.good;
    deny_learn(missing);
    faults_session(&box); /* control: works without a fault */
    CU_ASSERT_EQUAL(box.good, good + 1);
    sight_end(&box);
}

static void calls_of_the_host_fail_in_turn(void)
{
    faults_on(NULL, false, 0);
}

static void calls_of_the_host_fail_on_an_older_system(void)
{
    faults_on(NULL, false, DENY_CLONE3 | DENY_CLOSE_RANGE | DENY_PEER_PIDFD | DENY_GROUPS);
}

static void calls_of_the_host_fail_without_namespaces(void)
{
    faults_on("landlock", false, 0);
}

static void calls_of_the_host_fail_with_a_template(void)
{
    faults_on(NULL, true, 0);
}

/* A backend's program that ends early leaves a process behind that waits for it. */
static void what_a_dead_program_leaves_is_ended(void)
{
    static const char text[] = "#!/bin/sh\nsleep 600 &\nexit 3\n";
    struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
    char directory[] = "/tmp/faults-lazaret-XXXXXX", path[64], settings[128];
    struct laz_session *session = NULL;
    struct laz_error err = {0};

    memset(&fault, 0, sizeof fault);
    CU_ASSERT_FATAL(mkdtemp(directory) != NULL && chmod(directory, 0755) == 0);
    snprintf(path, sizeof path, "%s/bwrap", directory);
    CU_ASSERT_FATAL(laz_os_write_file(path, text, sizeof text - 1, 0755, NULL) == 0);
    snprintf(settings, sizeof settings, "sandbox.backend=bwrap;sandbox.bwrap.program=%s", path);
    for (int i = 0; i < 5; i++) {
        struct laz_engine *engine = test_engine(settings);
        CU_ASSERT(laz_session_open(engine, &options, &session, &err) < 0);
        laz_engine_free(engine);
        faults_no_process_is_left();
    }
    unlink(path);
    rmdir(directory);
}

static int faults_spawn(struct laz_error *err)
{
    static const char *const argv[] = {"/bin/true", NULL}, *const env[] = {NULL};
    const struct laz_spawn spawn = {
        .argv = argv, .env = env, .uid = LAZ_SPAWN_SAME_ID, .gid = LAZ_SPAWN_SAME_ID};
    struct laz_process process = LAZ_PROCESS_INIT;
    struct laz_spawner *spawner = NULL;

    CU_ASSERT_FATAL(laz_spawner_new(&spawner, NULL) == 0);
    int rc = laz_spawner_spawn(spawner, &spawn, &process, err);
    if (rc == 0)
        CU_ASSERT(laz_process_wait(&process, UNIT_HANG_MS, NULL));
    laz_process_close(&process);
    laz_spawner_free(spawner);
    return rc;
}

/* Without close_range and without the list of open descriptors, a child would inherit the host's
 * descriptors. */
static void a_child_that_cannot_close_does_not_run(void)
{
    struct laz_error err = {0};
    size_t tried = 0;

    deny_learn(DENY_CLOSE_RANGE);
    CU_ASSERT_EQUAL(faults_spawn(&err), 0);
    deny_end();
    for (size_t site = 0; site < deny_sites(); site++) {
        int os_errno;
        const char *name = deny_name(site, 0, &os_errno);
        if (strcmp(name, "open") != 0 && strcmp(name, "getdents64") != 0)
            continue;
        err = (struct laz_error){0};
        deny_begin(site, 0, true, DENY_CLOSE_RANGE);
        int rc = faults_spawn(&err);
        if (!deny_end())
            continue; /* a place reached by sessions */
        CU_ASSERT(rc < 0 && strstr(err.text, "its descriptors cannot be set") != NULL);
        tried++;
    }
    CU_ASSERT(tried >= 3); /* /dev/null, the directory, its entries */
}

/* ---- the size of files ---------------------------------------------------------------------- */

static volatile sig_atomic_t sizes_told;

static void sizes_tell(int number)
{
    sizes_told = number;
}

/* The application has set the limit on file size; the library must not let its signal be raised. */
static void a_limit_on_files_is_an_error_and_no_signal(void)
{
    static const rlim_t sizes[] = {0, 1, 100, 1000, 4096, 20000, 100000};
    struct sigaction act = {.sa_handler = sizes_tell}, before;
    struct rlimit old, limit;
    struct sight box = {
        .settings = "", .has_orphans = true, .name = faults_name, .fails = &fault.any};

    memset(&fault, 0, sizeof fault);
    if (!sight_begin(&box))
        return;
    sight_session(&box);
    CU_ASSERT_FATAL(getrlimit(RLIMIT_FSIZE, &old) == 0 && sigaction(SIGXFSZ, &act, &before) == 0);
    fflush(stdout); /* the limit applies to it too if it is a file */
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct laz_engine *engine = test_engine("limits.fsize=unlimited");
        struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
        struct laz_session *session = NULL;
        struct laz_error err = {0};
        limit = (struct rlimit){sizes[i], old.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
        int rc = laz_session_open(engine, &options, &session, &err);
        setrlimit(RLIMIT_FSIZE, &old);
        CU_ASSERT(rc < 0 ? *err.text != '\0' : session != NULL);
        CU_ASSERT(sizes[i] > 1000 || rc < 0);
        if (rc == 0)
            test_expect(session, "1 + 1", LAZ_VERDICT_OK, "2");
        laz_engine_free(engine);
    }
    CU_ASSERT_EQUAL(sizes_told, 0);
    sigaction(SIGXFSZ, &before, NULL);
    unsigned good = box.good;
    sight_session(&box);
    CU_ASSERT_EQUAL(box.good, good + 1);
    sight_end(&box);
}

static const struct unit_test tests[] = {
    UNIT(calls_of_the_host_fail_in_turn),
    UNIT(calls_of_the_host_fail_on_an_older_system),
    UNIT(calls_of_the_host_fail_without_namespaces),
    UNIT(calls_of_the_host_fail_with_a_template),
    UNIT(what_a_dead_program_leaves_is_ended),
    UNIT(a_child_that_cannot_close_does_not_run),
    UNIT(a_limit_on_files_is_an_error_and_no_signal),
    {0},
};

int main(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    signal(SIGALRM, faults_hang);
    return unit_run("faults", tests);
}
