/* SPDX-License-Identifier: MIT */
/* test_limits.c - limits of a session: what exceeds one, and that the limit stopped it.
 *
 * Every refusal has a control: the same code succeeds with a raised or removed limit. Processes are
 * found from outside, in /proc, by a mark in their command line that is unique to a test; they are
 * seen running before they must have ended. */
#include "groups.h"
#include "live.h"

#include "base/clock.h"
#include "os/cgroup.h"
#include "os/pidfd.h"
#include "os/users.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_one_of(enum laz_verdict verdict, enum laz_verdict a, enum laz_verdict b)
{
    return verdict == a || verdict == b;
}

/* A session of each language with the same settings. */
struct sessions {
    const char *settings;
    struct laz_engine *engine[3];
    struct laz_session *session[3];
};

static bool has(const struct words *w, const struct phrase *code)
{
    const char *only = getenv("TEST_RUNTIME");

    return (!only || strcmp(only, w->runtime) == 0) && test_phrase(w, code);
}

static void sessions_free(struct sessions *of)
{
    for (size_t i = 0; i < n_languages; i++) {
        laz_engine_free(of->engine[i]); /* and its session */
        of->engine[i] = NULL;
    }
}

static struct laz_session *session_of(struct sessions *of, size_t i)
{
    if (!of->engine[i]) {
        of->engine[i] = test_engine(of->settings);
        of->session[i] = test_session(of->engine[i], languages[i].runtime);
    }
    return of->session[i];
}

/* Executes `code` in every language that has it, and passes each result to `look`. */
static void each_of(struct sessions *of, const struct phrase *code,
                    void (*look)(struct laz_session *, const struct words *, struct laz_result *))
{
    for (size_t i = 0; i < n_languages && i < sizeof of->engine / sizeof *of->engine; i++) {
        const struct words *w = &languages[i];
        if (!has(w, code))
            continue;
        struct laz_session *session = session_of(of, i);
        struct laz_result *result = test_run(session, test_phrase(w, code), NULL);
        if (result) {
            look(session, w, result);
            laz_result_free(result);
            test_expect(session, "1 + 1", LAZ_VERDICT_OK, "2"); /* the session goes on */
        }
    }
}

/* The same in sessions of its own with these settings. */
static void each(const char *settings, const struct phrase *code,
                 void (*look)(struct laz_session *, const struct words *, struct laz_result *))
{
    struct sessions of = {.settings = settings};

    each_of(&of, code, look);
    sessions_free(&of);
}

static void succeeds(struct laz_session *session, const struct words *w, struct laz_result *result)
{
    (void)session;
    if (laz_result_verdict(result) != LAZ_VERDICT_OK)
        printf("\n    %s: %s", w->runtime, laz_result_json(result));
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
    UNIT_TEXT(laz_result_value(result), "\"done\"");
}

#define LIMITED "limits.memory=256MiB;limits.fsize=1MiB;"
#define RAISED                                                                                     \
    "limits.memory=2GiB;limits.fsize=10MiB;limits.nofile=1100;limits.cpu=unlimited;"               \
    "sandbox.tmp_size=16MiB;"

/* Does the limit count the session alone? Under landlock an ordinary user's sessions share its
 * number, and what is left is an end for bombs. */
static bool nproc_is_the_sessions(void)
{
    const char *backend = getenv("TEST_BACKEND");

    return laz_os_is_root() || !backend || strcmp(backend, "landlock") != 0;
}

/* Where other tests of the same user count as well, so many that all of them fit. */
#define NPROC_FOR_ALL "limits.nproc=8000"

/* Shared: the controls, in which every limit is raised, the sessions with limits that code exceeds
 * without being ended, and those with little room for files. */
static struct sessions raised, limited;
static struct sessions narrow = {
    .settings = "sandbox.tmp_size=1MiB;sandbox.programs=[\"default\", \"setsid\"]",
};

static void each_raised(const struct phrase *code)
{
    raised.settings = nproc_is_the_sessions() ? RAISED "limits.nproc=50" : RAISED NPROC_FOR_ALL;
    each_of(&raised, code, succeeds);
}

static void each_limited(const struct phrase *code,
                         void (*look)(struct laz_session *, const struct words *,
                                      struct laz_result *))
{
    limited.settings = nproc_is_the_sessions() ? LIMITED "limits.nproc=6" : LIMITED NPROC_FOR_ALL;
    each_of(&limited, code, look);
}

/* Is this a repeated run with another backend for all tests? Then tests that name their backend are
 * skipped. */
static bool runs_for_one_backend(void)
{
    return getenv("TEST_BACKEND") != NULL;
}

/* The language raised an error that the code did not catch. */
static void says(struct laz_result *result, const char *part)
{
    const char *error = laz_result_error(result);

    if (!error || !strstr(error, part))
        printf("\n    lacks \"%s\": %s", part, laz_result_json(result));
    CU_ASSERT(error && strstr(error, part));
}

/* ---- how it ended --------------------------------------------------------------------------- */

/* Does this kernel report the exit status of a process that is not a child (Linux 6.15)? */
static bool kernel_tells_ends(void)
{
    int signal, status = -1;
    pid_t pid = fork();

    if (pid == 0) {
        pause();
        _exit(0);
    }
    int fd = laz_os_pidfd(pid);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    bool told = laz_os_pidfd_end(fd, &signal, &status) && signal == SIGKILL;
    close(fd);
    return told;
}

static void it_was_a_status(struct laz_session *session, const struct words *w,
                            struct laz_result *result)
{
    (void)session, (void)w;
    CU_ASSERT_TRUE(test_result_has(result, "\"exit_status\":137"));
    CU_ASSERT(strstr(laz_result_json(result), "\"signal\":") == NULL);
    if (kernel_tells_ends()) {
        CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_ERROR);
        says(result, "The code ended its process with status 137");
    } else {
        CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_CRASHED);
        says(result, "this system does not report which");
    }
}

static void it_was_a_signal(struct laz_session *session, const struct words *w,
                            struct laz_result *result)
{
    (void)session, (void)w;
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_CRASHED);
    if (!kernel_tells_ends()) {
        says(result, "this system does not report which");
        return;
    }
    CU_ASSERT_TRUE(test_result_has(result, "\"signal\":9"));
    says(result, "ended by signal 9");
}

/* Wrappers around the agent report 137 for both. The language makes no difference. */
static void a_status_of_137_is_told_from_signal_9(void)
{
    static const struct phrase status = {.python = "import os; os._exit(137)"};
    static const struct phrase killed = {.lua = "local r = os.execute('kill -9 $PPID')"};
    static const char *const settings[] = {"sandbox.backend=bwrap", "sandbox.backend=landlock"};

    if (runs_for_one_backend())
        return;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        struct sessions of = {.settings = settings[i]};
        each_of(&of, &status, it_was_a_status);
        each_of(&of, &killed, it_was_a_signal);
        sessions_free(&of);
    }
}

/* ---- CPU ------------------------------------------------------------------------------------ */

static const struct phrase loop = {.lua = "while true do end"};

static double number_after(struct laz_result *result, const char *key)
{
    const char *at = strstr(laz_result_json(result), key);

    return at ? strtod(at + strlen(key), NULL) : 0;
}

static void cpu_is_used_up(struct laz_session *session, const struct words *w,
                           struct laz_result *result)
{
    double cpu_ms = number_after(result, "\"cpu_ms\":"); /* the first one, in the evidence */
    bool is_evidence = strstr(laz_result_json(result), "\"counted_by\":\"rlimit\"") == NULL;

    (void)session, (void)w;
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_CPU_LIMIT);
    CU_ASSERT_TRUE(test_result_has(result, "\"limit_s\":1"));
    /* the process's own limit, or the count of the whole session, whichever comes first */
    CU_ASSERT_TRUE(strstr(laz_result_json(result), "\"signal\":24") ||
                   test_result_has(result, "\"counted_by\":\""));
    says(result, "CPU time limit of 1 s");
    CU_ASSERT(!is_evidence || cpu_ms >= 1000); /* never less than the limit */
}

/* Costs as much CPU time as the limit, and no language takes part in how it ends: Lua stands for
 * all. (Each ends by a timeout in test_behaviours.) The control, code that uses more under a higher
 * limit, is in test_whole. */
static void cpu_limit_ends_a_busy_loop(void)
{
    each("limits.cpu=1", &loop, cpu_is_used_up);
}

/* Not repeated where sessions come from templates, which there are none of without a box; where no
 * group counts, test_whole has the same with ten processes. */
static void cpu_limit_ends_a_busy_loop_without_a_namespace(void)
{
    const bool is_repeated =
        getenv("TEST_WARM") || strcmp(groups_counted_by(LAZ_CGROUP_CPU), "watchdog") == 0;

    if (!runs_for_one_backend() && (!is_repeated || getenv("LAZARET_TEST_FULL")))
        each("sandbox.backend=none;sandbox.require=[];limits.cpu=1", &loop, cpu_is_used_up);
}

/* ---- memory --------------------------------------------------------------------------------- */

/* Python asks for zero pages here and does not touch them. */
#define RESERVE(mib) "x = bytes(" #mib " * 1024 * 1024)\nx = None\n'done'"

/* More than the limit below and the 1 GiB that a process may reserve besides. */
static const struct phrase allocate = {
    .python = RESERVE(1300),
    .r = "x <- raw(1300 * 1024 * 1024)\nx <- NULL\n'done'",
    .lua = "local x = string.rep(string.rep('x', 1024), 1300 * 1024)\nx = nil\nreturn 'done'",
};

static const struct phrase allocate_and_catch = {
    .python = "try:\n    x = bytes(1300 * 1024 * 1024)\nexcept MemoryError:\n    x = 'done'\nx",
    .r = "tryCatch({ raw(1300 * 1024 * 1024); 1 }, error = function(e) 'done')",
    .lua = "local ok = pcall(string.rep, string.rep('x', 1024), 1300 * 1024)\nreturn ok or 'done'",
};

/* The control, which costs nothing: Python stands for all. */
static const struct phrase reserve_1300 = {.python = RESERVE(1300)};
static const struct phrase reserve_300 = {.python = RESERVE(300)};

static int64_t pid_before;

static void memory_is_refused(struct laz_session *session, const struct words *w,
                              struct laz_result *result)
{
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_MEMORY_LIMIT);
    CU_ASSERT_TRUE(test_result_has(result, "\"limit_bytes\":268435456"));
    pid_before = laz_session_pid(session); /* the language reported it, so the session is kept */
    test_expect(session, "1 + 1", LAZ_VERDICT_OK, "2");
    test_expect(session, test_phrase(w, &allocate_and_catch), LAZ_VERDICT_OK, "\"done\"");
    CU_ASSERT_EQUAL(laz_session_pid(session), pid_before);
}

static void memory_limit_refuses_an_allocation(void)
{
    if (TEST_IS_SANITIZED) {
        printf("\n    SKIP memory: sanitizers need memory of their own\n");
        return;
    }
    each_limited(&allocate, memory_is_refused);
    each_raised(&reserve_1300);
}

/* A control group counts what is used, and the watchdog's sessions have a limit of each process, on
 * what it reserves. */
static void reserved(struct laz_session *session, const struct words *w, struct laz_result *result)
{
    if (strstr(laz_session_isolation(session), "\"memory\":\"cgroup-"))
        succeeds(session, w, result);
    else
        CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_MEMORY_LIMIT);
}

static void memory_that_is_only_reserved_does_not_count_in_a_group(void)
{
    if (!TEST_IS_SANITIZED)
        each_limited(&reserve_300, reserved);
}

/* ---- files ---------------------------------------------------------------------------------- */

static const struct phrase write_5_mib = {
    .python = "import os\n"
              "try:\n    f = open('big', 'wb'); n = f.write(bytes(5242880)); f.close()\n"
              "finally:\n    os.unlink('big')\n"
              "'done'",
    .r = "f <- file('big', 'wb')\n"
         "for (i in 1:5) writeBin(raw(1048576), f)\n"
         "close(f)\nsize <- file.size('big')\nunlink('big')\n"
         "if (size == 5242880) 'done' else stop('it is cut')", /* a warning is all R says */
    .lua = "local f = assert(io.open('big', 'wb'))\n"
           "local ok, e = f:write(string.rep('x', 5242880))\n"
           "f:close(); os.remove('big')\n"
           "return assert(ok, e) and 'done'",
};

static void file_is_too_large(struct laz_session *session, const struct words *w,
                              struct laz_result *result)
{
    (void)session, (void)w;
    CU_ASSERT_TRUE(
        is_one_of(laz_result_verdict(result), LAZ_VERDICT_FSIZE_LIMIT, LAZ_VERDICT_ERROR));
    says(result, "ile too large");
}

static void fsize_limit_stops_a_growing_file(void)
{
    each_limited(&write_5_mib, file_is_too_large);
    each_raised(&write_5_mib);
}

static const struct phrase open_1000_files = {
    /* R allows only 128 connections */
    .python = "x = [open('/dev/null') for i in range(1000)]\nx = None\n'done'",
    .r = NULL, /* it allows only 128 connections, and does not start with fewer than 256 files */
    .lua =
        "local x = {}\nfor i = 1, 1000 do x[i] = assert(io.open('/dev/null')) end\nreturn 'done'",
};

static void files_are_too_many(struct laz_session *session, const struct words *w,
                               struct laz_result *result)
{
    (void)session, (void)w;
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_ERROR);
    says(result, "Too many open files");
}

static void nofile_limit_refuses_one_more(void)
{
    each_limited(&open_1000_files, files_are_too_many); /* the default */
    each_raised(&open_1000_files);
}

static void directory_is_full(struct laz_session *session, const struct words *w,
                              struct laz_result *result)
{
    (void)w;
    CU_ASSERT_NOT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
    CU_ASSERT_NOT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_FSIZE_LIMIT);
    test_expect(session, w->add_2_3, LAZ_VERDICT_OK, "5");
}

static void a_full_tmp_is_an_error_of_the_language(void)
{
    const char *backend = getenv("TEST_BACKEND");

    /* A directory of the host has no size limit: only single files are limited. */
    if (backend && strcmp(backend, "landlock") == 0)
        each_of(&narrow, &write_5_mib, succeeds);
    else
        each_of(&narrow, &write_5_mib, directory_is_full);
    each_raised(&write_5_mib);
}

/* ---- processes ------------------------------------------------------------------------------ */

#define TEN_CHILDREN "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 3000 & done; echo made >/dev/null"

static const struct phrase ten_children = {
    .python = "import os\nr = os.system('" TEN_CHILDREN "')\n'done' if r == 0 else 'refused'",
    .r = "r <- system('" TEN_CHILDREN "', ignore.stderr = TRUE)\n"
         "if (r == 0) 'done' else 'refused'",
    .lua = "local ok = os.execute('" TEN_CHILDREN "')\nreturn ok and 'done' or 'refused'",
};

static void processes_are_refused(struct laz_session *session, const struct words *w,
                                  struct laz_result *result)
{
    (void)session, (void)w;
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
    UNIT_TEXT(laz_result_value(result), "\"refused\"");
}

static void nproc_limit_refuses_one_more(void)
{
    if (nproc_is_the_sessions())
        each_limited(&ten_children, processes_are_refused); /* whose sessions are used up now */
    each_raised(&ten_children);
}

/* How many processes have `mark` in their command line; and pidfds of the first MARKED_MOST of
 * them, if there is room for these. */
#define MARKED_MOST 64
static int processes_marked(const char *mark, int *pidfds)
{
    DIR *proc = opendir("/proc");
    int n = 0;

    for (struct dirent *entry; proc && (entry = readdir(proc));) {
        char path[300], text[4096];
        if (!isdigit((unsigned char)entry->d_name[0]) || atoi(entry->d_name) == (int)getpid())
            continue;
        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t len = fd >= 0 ? read(fd, text, sizeof text) : -1;
        if (fd >= 0)
            close(fd);
        if (len <= 0 || !memmem(text, (size_t)len, mark, strlen(mark)))
            continue;
        if (pidfds && n < MARKED_MOST)
            pidfds[n] = laz_os_pidfd(atoi(entry->d_name));
        n++;
    }
    if (proc)
        closedir(proc);
    return n;
}

static int processes_with(const char *mark)
{
    return processes_marked(mark, NULL);
}

/* How many of them there are at the same time, namely when all of them have been found. */
static int processes_at_once(const char *mark)
{
    struct pollfd ends[MARKED_MOST];
    int pidfds[MARKED_MOST], n = processes_marked(mark, pidfds), living = 0;

    for (int i = 0; i < n && i < MARKED_MOST; i++) {
        ends[i] = (struct pollfd){.fd = pidfds[i], .events = POLLIN};
        living += pidfds[i] >= 0 && poll(&ends[i], 1, 0) == 0;
        if (pidfds[i] >= 0)
            close(pidfds[i]);
    }
    return n > MARKED_MOST ? n : living;
}

/* Waits until all have ended; by themselves they would end much later. */
static bool all_are_gone(const char *mark)
{
    uint64_t end = laz_clock_ms() + UNIT_HANG_MS;
    int n;

    while ((n = processes_with(mark)) > 0 && laz_clock_ms() < end)
        usleep(2000);
    return n == 0;
}

/* A sleep duration that no other process has, nor begins with: "3000.00001234567". */
static char mark[32];

/* Replaces each '@' in the code by the mark. */
static void with_mark(const char *code, char *text, size_t size)
{
    char *at = text;

    for (; *code && at < text + size - sizeof mark; code++) {
        if (*code == '@')
            at += sprintf(at, "%s", mark);
        else
            *at++ = *code;
    }
    *at = '\0';
}

/* Executes endless `code` until its time is over, which a handler of its lines decides. */
static void expect_over(struct laz_session *session, const char *code,
                        void (*line)(void *user, int stream, const char *text, size_t len))
{
    struct laz_engine *engine = test_engine_of(session);
    const struct laz_execute_options options = {
        .size = sizeof options, .timeout_ms = 1000, .line = line, .user = engine};
    char text[512];

    with_mark(code, text, sizeof text);
    test_hold_clock(engine);
    test_expect_with(session, text, &options, LAZ_VERDICT_TIMEOUT, NULL);
    CU_ASSERT_TRUE(all_are_gone(mark));
}

static void see_both(void *user, int stream, const char *text, size_t len)
{
    (void)stream;
    if (len != 7 || memcmp(text, "started", 7) != 0)
        return;
    while (processes_with(mark) != 2)
        usleep(2000);
    test_advance_clock(user, 1000);
}

/* A child, and a daemon that has left its parent and its session behind. */
static const struct phrase leave = {
    .python = "import subprocess, os, signal\n"
              "p = subprocess.Popen(['sleep', '@'])\n"
              "r = os.system('(setsid sleep @ >/dev/null 2>&1 &)')\n"
              "print('started')\nwhile True: signal.pause()",
    .r = "r <- system('sleep @ &')\n"
         "r <- system('(setsid sleep @ >/dev/null 2>&1 &)')\n"
         "cat('started\\n')\nrepeat Sys.sleep(60)",
    .lua = "local r = os.execute('sleep @ &')\n"
           "r = os.execute('(setsid sleep @ >/dev/null 2>&1 &)')\n"
           "print('started')\nwhile true do os.execute('sleep 60') end",
};

static void leave_children(struct laz_session *session, const struct words *w)
{
    snprintf(mark, sizeof mark, "3000.%010d%s", (int)getpid(),
             *w->runtime == 'p'   ? "1"
             : *w->runtime == 'r' ? "2"
                                  : "3");
    expect_over(session, test_phrase(w, &leave), see_both);
}

/* In the sessions whose files are limited, which hold their clocks from now on. */
static void timeout_ends_children_and_daemons(void)
{
    for (size_t i = 0; i < n_languages; i++) {
        struct laz_session *session = has(&languages[i], &leave) ? session_of(&narrow, i) : NULL;
        if (session)
            leave_children(session, &languages[i]);
    }
}

static void timeout_ends_children_and_daemons_without_a_namespace(void)
{
    if (runs_for_one_backend())
        return;
    test_in_lua("sandbox.backend=none;sandbox.require=[]", leave_children);
}

/* A fork bomb of 511 shells with the mark (a real one would bring the machine down if the limit
 * failed). None of them ends soon, so one is certainly refused and reports it; then the time of the
 * code is over. */
#define BOMB "b() { if [ $1 -gt 0 ]; then b $(($1-1)) & b $(($1-1)) & fi; wait; sleep 3000; }; b 8"

static int seen; /* the most at the same time */
static bool refused;

static void see_a_bomb(void *user, int stream, const char *text, size_t len)
{
    int now = processes_at_once(mark);

    (void)stream;
    seen = now > seen ? now : seen;
    if (refused || !memmem(text, len, "Cannot fork", 11))
        return;
    refused = true;
    test_advance_clock(user, 1000);
}

static void explode(struct laz_session *session, const struct words *w)
{
    /* It sleeps before there is no room for another process. */
    static const char code[] = "local sleeper = io.popen('echo here; exec sleep 3000')\n"
                               "print(sleeper:read())\n"
                               "local r = os.execute(\"sh -c '" BOMB "' @ &\")\n"
                               "print('started')\nsleeper:read()";

    snprintf(mark, sizeof mark, "mark-%d-%.1s", (int)getpid(), w->runtime);
    seen = 0;
    refused = false;
    expect_over(session, code, see_a_bomb);
    test_expect(session, "1 + 1", LAZ_VERDICT_OK, "2"); /* the session goes on */
    CU_ASSERT(seen >= 1 && seen <= 24);
}

static void a_fork_bomb_is_bounded_and_leaves_nothing(void)
{
    if (runs_for_one_backend())
        return;
    test_in_lua("sandbox.backend=bwrap;limits.nproc=24;limits.cpu=unlimited", explode);
    if (laz_os_is_root()) /* without a user namespace the group or the session's uid has the
                             limit */
        test_in_lua("sandbox.backend=none;sandbox.require=[];limits.nproc=24;limits.cpu=unlimited",
                    explode);
}

static const struct phrase threads = {
    .python = "import threading\nn = 0\nend = threading.Event()\n"
              "try:\n"
              "    while n < 200:\n"
              "        threading.Thread(target=end.wait, daemon=True).start()\n"
              "        n += 1\n"
              "except RuntimeError: pass\n"
              "end.set()\n"
              "'done' if n == 200 else 'refused' if 5 < n < 50 else n",
};

static void a_thread_bomb_is_bounded(void)
{
    if (nproc_is_the_sessions())
        each("limits.nproc=50", &threads, processes_are_refused);
    each(nproc_is_the_sessions() ? "limits.nproc=300;limits.memory=4GiB"
                                 : NPROC_FOR_ALL ";limits.memory=4GiB",
         &threads, succeeds);
}

static const struct unit_test tests[] = {
    UNIT(a_status_of_137_is_told_from_signal_9),
    UNIT(cpu_limit_ends_a_busy_loop),
    UNIT(cpu_limit_ends_a_busy_loop_without_a_namespace),
    UNIT(memory_limit_refuses_an_allocation),
    UNIT(memory_that_is_only_reserved_does_not_count_in_a_group),
    UNIT(fsize_limit_stops_a_growing_file),
    UNIT(nofile_limit_refuses_one_more),
    UNIT(a_full_tmp_is_an_error_of_the_language),
    UNIT(nproc_limit_refuses_one_more),
    UNIT(a_fork_bomb_is_bounded_and_leaves_nothing),
    UNIT(a_thread_bomb_is_bounded),
    UNIT(timeout_ends_children_and_daemons),
    UNIT(timeout_ends_children_and_daemons_without_a_namespace),
    {0},
};

int main(void)
{
    int status = unit_run("limits", tests);
    sessions_free(&limited);
    sessions_free(&raised);
    sessions_free(&narrow);
    return status;
}
