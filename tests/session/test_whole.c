/* SPDX-License-Identifier: MIT */
/* test_whole.c - limits of a session as a whole, on what many processes use together.
 *
 * Every program here stays below the limit in each process and exceeds it in all of them together;
 * the control raises the limit. Where control groups can be created, they have to do the counting;
 * elsewhere (an ordinary user, or a host whose groups are hidden) it is the watchdog, and the
 * result has to say so. */
#include "groups.h"
#include "live.h"

#include "base/clock.h"
#include "os/cgroup.h"
#include "os/cgroup_text.h"
#include "os/descriptors.h"
#include "os/directories.h"
#include "os/files.h"
#include "os/system.h"
#include "os/users.h"
#include "session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define BWRAP "sandbox.backend=bwrap;"
#define NONE  "sandbox.backend=none;sandbox.require=[];"

static bool skip_memory(bool needs_group)
{
    if (TEST_IS_SANITIZED) {
        printf("\n    SKIP memory: sanitizers need memory of their own\n");
        return true;
    }
    if (!needs_group || strcmp(groups_counted_by(LAZ_CGROUP_MEMORY), "watchdog") != 0)
        return false;
    unit_skip("root", "no control group can be created here");
    return true;
}

static void has_pair(struct laz_result *result, const char *key, const char *value)
{
    char pair[96];

    snprintf(pair, sizeof pair, "\"%s\":\"%s\"", key, value);
    CU_ASSERT_TRUE(test_result_has(result, pair));
}

static double number(struct laz_result *result, const char *key)
{
    const char *at = strstr(laz_result_json(result), key);

    return at ? strtod(at + strlen(key), NULL) : -1;
}

/* ---- processors ----------------------------------------------------------------------------- */

/* Is the process, with others of its host, in a common group of that host? */
static bool shares_with_others(int64_t pid)
{
    const bool is_v2 = strcmp(groups_counted_by(LAZ_CGROUP_SHARE), "cgroup-v2") == 0;
    struct laz_buf mountinfo = LAZ_BUF_INIT, groups = LAZ_BUF_INIT;
    char *directory = NULL, path[48];
    struct laz_cgroup_name name;
    bool shares = false;
    size_t top;

    snprintf(path, sizeof path, "/proc/%lld/cgroup", (long long)pid);
    if (laz_os_read_file(path, 1 << 20, &groups, NULL) == 0 &&
        laz_os_read_file("/proc/self/mountinfo", 1 << 20, &mountinfo, NULL) == 0)
        directory = laz_cgroup_directory(laz_buf_text(&mountinfo), laz_buf_text(&groups),
                                         is_v2 ? "" : "cpu", &top);
    char *own = directory ? strrchr(directory, '/') : NULL;
    if (own && laz_cgroup_name_parse(own + 1, &name)) {
        *own = '\0';
        shares = laz_cgroup_name_parse(strrchr(directory, '/') + 1, &name);
    }
    free(directory);
    laz_buf_fini(&mountinfo);
    laz_buf_fini(&groups);
    return shares;
}

static long nice_of(int64_t pid)
{
    errno = 0;
    int nice = getpriority(PRIO_PROCESS, (id_t)pid);

    return errno ? -99 : nice;
}

/* For a host with a higher priority than others. */
static void a_session_has_its_share_and_no_priority(void)
{
    static const char *const boxes[] = {BWRAP, "sandbox.backend=landlock;", NONE,
                                        BWRAP "pool.warm=template;"};

    if (strcmp(groups_counted_by(LAZ_CGROUP_SHARE), "watchdog") == 0) {
        unit_skip("root", "no group can have a share of the processors here");
        return;
    }
    const bool is_ahead = setpriority(PRIO_PROCESS, 0, -5) == 0;
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
        struct laz_engine *engine = test_engine(boxes[i]);
        struct laz_session *session = strstr(boxes[i], "warm") ? test_warm_session(engine, "lua")
                                                               : test_session(engine, "lua");
        if (session) {
            CU_ASSERT_TRUE(shares_with_others(laz_session_pid(session)));
            CU_ASSERT_EQUAL(nice_of(laz_session_pid(session)), 0);
        }
        laz_engine_free(engine);
    }
    CU_ASSERT_FALSE(shares_with_others(getpid()));
    CU_ASSERT_EQUAL(nice_of(getpid()), is_ahead ? -5 : 0);
    (void)setpriority(PRIO_PROCESS, 0, 0);
}

/* ---- memory --------------------------------------------------------------------------------- */

/* Ten programs, each of which keeps nine MB until its input ends: when it is ended, or when all
 * have theirs, which is signalled by files. */
#define EAT(keep)                                                                                  \
    "for i in 1 2 3 4 5 6 7 8 9 10; do (head -c 9000000 /dev/zero; " keep                          \
    ") | tail -c 9000000 >/dev/null & done; wait"
static const char ten_eat[] =
    "print('begun')\nio.stdout:flush()\nos.execute('" EAT("sleep 3000") "')\nreturn 'done'";
static const char ten_eat_in_peace[] =
    "os.execute('" EAT(": >e$i; until set -- e*; [ $# = 10 ]; do sleep 0.2; done") "')\n"
                                                                                   "return 'done'";

static void eats_too_much(struct laz_session *session, const struct words *w)
{
    struct laz_result *result = test_run(session, ten_eat, NULL);

    if (!result)
        return;
    if (laz_result_verdict(result) != LAZ_VERDICT_MEMORY_LIMIT)
        printf("\n    %s: %.1500s", w->runtime, laz_result_json(result));
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_MEMORY_LIMIT);
    has_pair(result, "counted_by", groups_counted_by(LAZ_CGROUP_MEMORY));
    UNIT_TEXT(laz_result_value(result), "null");
    char *output = test_output(result, LAZ_STDOUT);
    UNIT_TEXT(output, "begun\n"); /* its earlier output is present */
    free(output);
    laz_result_free(result);
    test_expect(session, w->add_2_3, LAZ_VERDICT_OK, "5"); /* the session goes on */
}

static void eats_enough(struct laz_session *session, const struct words *w)
{
    (void)w;
    test_expect(session, ten_eat_in_peace, LAZ_VERDICT_OK, "\"done\"");
}

static void memory_of_all_processes_is_limited(void)
{
    if (skip_memory(false))
        return;
    test_in_lua(BWRAP "limits.memory=64MiB", eats_too_much);
    test_in_lua(NONE "limits.memory=64MiB", eats_too_much);
    test_in_lua(BWRAP "limits.memory=2GiB", eats_enough);
}

/* 120 MB in ten children, which they keep until `then` lets them go; 30 MB that eleven processes
 * share. */
#define FEW "limits.memory=96MiB;limits.nproc=50"
#define TEN_OF_12(then)                                                                            \
    "import os, signal\n"                                                                          \
    "full, go = os.pipe(), os.pipe()\n"                                                            \
    "kids = []\n"                                                                                  \
    "for i in range(10):\n"                                                                        \
    "    pid = os.fork()\n"                                                                        \
    "    if pid == 0:\n"                                                                           \
    "        x = bytearray(b'x') * (12 << 20)\n"                                                   \
    "        n = os.write(full[1], b'x')\n"                                                        \
    "        r = os.read(go[0], 1)\n"                                                              \
    "        os._exit(0)\n"                                                                        \
    "    kids.append(pid)\n" then                                                                  \
    "'done' if all([os.waitpid(k, 0)[1] == 0 for k in kids]) else 'killed'"
static const char ten_of_12[] = TEN_OF_12("while True: signal.pause()\n");
static const char ten_of_12_in_peace[] = TEN_OF_12(
    "n = 0\nwhile n < 10: n += len(os.read(full[0], 10))\nn = os.write(go[1], b'x' * 10)\n");
static const char ten_share_30[] = "import os, time\n"
                                   "x = bytearray(b'x') * (30 << 20)\n"
                                   "kids = []\n"
                                   "for i in range(10):\n"
                                   "    pid = os.fork()\n"
                                   "    if pid == 0:\n"
                                   "        time.sleep(0.25)\n"
                                   "        os._exit(0)\n"
                                   "    kids.append(pid)\n"
                                   "r = [os.waitpid(k, 0)[1] for k in kids]\n"
                                   "x = None\n"
                                   "'done' if not any(r) else 'killed'";

static void shares(const char *settings, enum laz_verdict verdict)
{
    struct laz_engine *engine = test_engine(settings);
    struct laz_session *session = test_session(engine, "python");

    if (session) {
        test_expect(session, ten_share_30, LAZ_VERDICT_OK, "\"done\"");
        bool fits = verdict == LAZ_VERDICT_OK;
        test_expect(session, fits ? ten_of_12_in_peace : ten_of_12, verdict,
                    fits ? "\"done\"" : "null");
        test_expect(session, ten_share_30, LAZ_VERDICT_OK, "\"done\"");
    }
    laz_engine_free(engine);
}

static void memory_is_counted_once_where_it_is_shared(void)
{
    if (skip_memory(false))
        return;
    shares(BWRAP FEW, LAZ_VERDICT_MEMORY_LIMIT);
    shares(NONE FEW, LAZ_VERDICT_MEMORY_LIMIT);
    shares("limits.memory=2GiB", LAZ_VERDICT_OK);
}

/* A child is killed because memory has run out; the code ignores that and ends well, but the
 * verdict is not ok. */
static void a_killed_child_is_never_ok(void)
{
    static const char code[] =
        "import os\n"
        "for i in range(4):\n"
        "    pid = os.fork()\n"
        "    if pid == 0:\n"
        "        x = bytearray(b'x') * (30 << 20)\n"
        "        os.kill(os.getpid(), 19)\n"
        "    r = os.waitpid(pid, os.WUNTRACED)\n" /* it has its memory by now, or was killed */
        "'done'";

    if (skip_memory(true))
        return;
    struct laz_engine *engine = test_engine("limits.memory=80MiB");
    struct laz_session *session = test_session(engine, "python");
    struct laz_result *result = test_run(session, code, NULL);
    if (result) {
        CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_MEMORY_LIMIT);
        UNIT_TEXT(laz_result_value(result), "null");
        CU_ASSERT(number(result, "\"out_of_memory\":") >= 1);
        CU_ASSERT_TRUE(test_result_has(result, "\"kind\":\"memory_limit\""));
        CU_ASSERT(number(result, "\"max_rss_bytes\":") >= 74.0 * 1024 * 1024);
    }
    laz_result_free(result);
    laz_engine_free(engine);
}

/* A process that continues after the code has ended is in the group too. It waits for a file of the
 * host, which is made after the end of the code. */
static void runs_out_between_executions(const char *limits, const char *why)
{
    static const char form[] = "import os, time\n"
                               "for i in range(4):\n"
                               "    if os.fork() == 0:\n"
                               "        while not os.path.exists('%s/go'): time.sleep(0.01)\n"
                               "        x = bytearray(b'x') * (30 << 20)\n"
                               "        time.sleep(3000)\n"
                               "'done'";
    char directory[] = "/tmp/laz-test-XXXXXX", text[400];
    struct laz_result *result = NULL;

    CU_ASSERT_FATAL(mkdtemp(directory) && chmod(directory, 0755) == 0);
    snprintf(text, sizeof text, "%s;sandbox.read=[\"%s\"]", limits, directory);
    struct laz_engine *engine = test_engine(text);
    struct laz_session *session = test_session(engine, "python");
    if (session) {
        snprintf(text, sizeof text, form, directory);
        test_expect(session, text, LAZ_VERDICT_OK, "\"done\"");
        CU_ASSERT_TRUE(laz_session_is_alive(session));
        snprintf(text, sizeof text, "%s/go", directory);
        CU_ASSERT_EQUAL(laz_os_write_file(text, "", 0, 0600, NULL), 0);
        while (laz_session_is_alive(session))
            poll(NULL, 0, 5);
        result = test_run(session, "1", NULL);
        UNIT_TEXT(laz_result_replaced(result), "memory_limit");
        CU_ASSERT_PTR_NOT_NULL(strstr(laz_result_warning(result, 0), why));
        laz_result_free(result);
        test_expect(session, "1 + 1", LAZ_VERDICT_OK, "2");
    }
    laz_engine_free(engine);
    laz_os_remove_tree(directory);
}

static bool has_groups(void)
{
    return strcmp(groups_counted_by(LAZ_CGROUP_MEMORY), "watchdog") != 0;
}

static void without_groups(void (*run)(void))
{
    const bool hidden = has_groups();
    const int back = hidden ? groups_enter() : -1;

    if (hidden)
        groups_hide();
    run();
    if (hidden)
        groups_show(back);
}

/* The watchdog looks at an idle session as often as it could use up its CPU time. */
static void runs_out_between_executions_unwatched(void)
{
    runs_out_between_executions("limits.memory=80MiB;limits.cpu=1", "limits.memory");
}

static void memory_that_runs_out_between_executions_ends_the_session(void)
{
    if (skip_memory(false))
        return;
    if (has_groups())
        runs_out_between_executions("limits.memory=80MiB", "out of memory");
    without_groups(runs_out_between_executions_unwatched);
}

/* Each is over long before the watchdog looks, and together they hold sockets for more than the
 * limit, by what these can hold. The bound is what a machine needs that executes in a microsecond.
 */
#define SHORT_EXECUTIONS 20000

static void executes_for_short_times(void)
{
    struct laz_engine *engine = test_engine("limits.memory=48MiB");
    struct laz_session *session = test_session(engine, "python");
    enum laz_verdict verdict = LAZ_VERDICT_OK;

    if (session)
        test_expect(session, "import socket\ns = []", LAZ_VERDICT_OK, NULL);
    for (int i = 0; session && i < SHORT_EXECUTIONS && verdict == LAZ_VERDICT_OK; i++) {
        const char *code = i < 80 ? "s.append(socket.socketpair())" : "1";
        struct laz_result *result = test_run(session, code, NULL);
        verdict = result ? laz_result_verdict(result) : LAZ_VERDICT_CRASHED;
        laz_result_free(result);
    }
    CU_ASSERT(!session || verdict == LAZ_VERDICT_MEMORY_LIMIT);
    laz_engine_free(engine);
}

static void many_short_executions_are_watched_like_a_long_one(void)
{
    if (!skip_memory(false))
        without_groups(executes_for_short_times);
}

/* ---- CPU time ------------------------------------------------------------------------------- */

static const char ten_spin[] =
    "os.execute('for i in 1 2 3 4 5 6 7 8 9 10; do (while :; do :; done) & done; wait')\n"
    "return 'done'";

/* Each spins for 0.55 seconds (its times are in hundredths of a second, proc(5)), both together for
 * longer than the limit. */
static const char two_spin[] =
    "os.execute('for i in 1 2; do (while read -r a </proc/self/stat; set -- $a; "
    "[ $((${14}+${15})) -lt 55 ]; do :; done) & done; wait')\n"
    "return 'done'";

static void spins_too_long(struct laz_session *session, const struct words *w)
{
    struct laz_result *result = test_run(session, ten_spin, NULL);

    if (!result)
        return;
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_CPU_LIMIT);
    has_pair(result, "counted_by", groups_counted_by(LAZ_CGROUP_CPU));
    CU_ASSERT(number(result, "\"cpu_ms\":") >= 1000);
    laz_result_free(result);
    test_expect(session, w->add_2_3, LAZ_VERDICT_OK, "5");
}

static void spins_on(struct laz_session *session, const struct words *w)
{
    struct laz_result *result = test_run(session, two_spin, NULL);

    (void)w;
    if (!result)
        return;
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
    UNIT_TEXT(laz_result_value(result), "\"done\"");
    if (strcmp(groups_counted_by(LAZ_CGROUP_CPU), "watchdog") !=
        0) /* which does not count living children */
        CU_ASSERT(number(result, "\"cpu_ms\":") > 1000);
    laz_result_free(result);
}

static void cpu_time_of_all_processes_is_limited(void)
{
    test_in_lua(BWRAP "limits.cpu=1", spins_too_long);
    if (!has_groups() || getenv("LAZARET_TEST_FULL")) /* which count alike in every box */
        test_in_lua(NONE "limits.cpu=1", spins_too_long);
    test_in_lua(BWRAP "limits.cpu=60", spins_on);
}

/* Uses 0.7 s of CPU time. */
static const char spin_700[] =
    "local till = os.clock() + 0.7\nwhile os.clock() < till do end\nreturn 'done'";

static void passes_the_limit_of_the_session(struct laz_session *session, const struct words *w,
                                            const char *limit)
{
    struct laz_result *result = test_run(session, "while true do end", NULL);

    if (!result)
        return;
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_CPU_LIMIT);
    CU_ASSERT_TRUE(test_result_has(result, limit));
    laz_result_free(result);
    test_expect(session, w->add_2_3, LAZ_VERDICT_OK, "5");
}

/* Two executions of one box pass the limit together; the third passes that of the session. */
static void spins_three_times(struct laz_session *session, const struct words *w)
{
    test_expect(session, spin_700, LAZ_VERDICT_OK, "\"done\"");
    test_expect(session, spin_700, LAZ_VERDICT_OK, "\"done\"");
    passes_the_limit_of_the_session(session, w, "\"session_limit_s\":2");
}

/* The second one passes the limit of the session. */
static void spins_twice(struct laz_session *session, const struct words *w)
{
    test_expect(session, spin_700, LAZ_VERDICT_OK, "\"done\"");
    passes_the_limit_of_the_session(session, w, "\"session_limit_s\":1");
}

static void cpu_time_is_limited_by_execution_and_by_session(void)
{
    if (laz_os_is_root() || getenv("LAZARET_TEST_FULL"))
        test_in_lua(BWRAP "limits.cpu=1;limits.session_cpu=2", spins_three_times);
    else
        test_in_lua(BWRAP "limits.cpu=2;limits.session_cpu=1", spins_twice);
}

/* The kernel has only the limit on the life of a process, so it sends SIGXCPU for no other. */
static void a_signal_is_no_evidence_of_a_limit(struct laz_session *session, const struct words *w)
{
    static const char own[] = "os.execute('kill -XCPU $PPID')\nwhile true do end";
    struct laz_result *result = test_run(session, own, NULL);

    if (!result)
        return;
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_CRASHED);
    laz_result_free(result);
    test_expect(session, w->add_2_3, LAZ_VERDICT_OK, "5");
}

static const char read_limit[] = "local f = io.open('/proc/self/limits')\n"
                                 "return f:read('a'):match('Max cpu time +(%w+)')";

static void has_no_limit_of_its_own(struct laz_session *session, const struct words *w)
{
    test_expect(session, read_limit, LAZ_VERDICT_OK, "\"unlimited\"");
    a_signal_is_no_evidence_of_a_limit(session, w);
}

static void has_a_limit_of_its_own(struct laz_session *session, const struct words *w)
{
    test_expect(session, read_limit, LAZ_VERDICT_OK, "\"90\"");
    a_signal_is_no_evidence_of_a_limit(session, w);
}

static void a_process_has_the_limit_of_the_session_and_no_signal_proves_it(void)
{
    test_in_lua(BWRAP "limits.cpu=1", has_no_limit_of_its_own);
    test_in_lua(BWRAP "limits.cpu=1;limits.session_cpu=90", has_a_limit_of_its_own);
}

/* ---- between executions --------------------------------------------------------------------- */

static const char leave_one_that_spins[] =
    "os.execute('(while :; do :; done) >/dev/null 2>&1 &')\nreturn 'done'";

static void expect_used_up(struct laz_session *session)
{
    struct laz_result *result;

    CU_ASSERT_FALSE(laz_session_is_alive(session));
    result = test_run(session, "1", NULL);
    UNIT_TEXT(laz_result_replaced(result), "cpu_limit");
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_result_warning(result, 0), "limits.cpu"));
    laz_result_free(result);
    test_expect(session, "1 + 1", LAZ_VERDICT_OK, "2");
}

static void is_ended_when_asked_for(struct laz_session *session, uint64_t end)
{
    test_expect(session, leave_one_that_spins, LAZ_VERDICT_OK, "\"done\"");
    while (laz_session_is_alive(session) && laz_clock_ms() < end)
        poll(NULL, 0, 5);
    expect_used_up(session);
}

/* A host that drives the engine, and in the full test one that only asks for its session, as in
 * memory_that_runs_out_between_executions_ends_the_session. */
static void an_idle_session_that_computes_is_ended(void)
{
    struct laz_engine *engine = test_engine(BWRAP "limits.cpu=1");
    struct laz_session *session = test_session(engine, "lua");
    uint64_t end = laz_clock_ms() + UNIT_HANG_MS;

    if (session) {
        test_expect(session, leave_one_that_spins, LAZ_VERDICT_OK, "\"done\"");
        pid_t pid = (pid_t)laz_session_pid(session);
        while (kill(pid, 0) == 0 && laz_clock_ms() < end)
            CU_ASSERT_EQUAL(laz_engine_step(engine, 100, NULL), 0);
        CU_ASSERT_EQUAL(kill(pid, 0), -1);
        expect_used_up(session);
        if (getenv("LAZARET_TEST_FULL"))
            is_ended_when_asked_for(session, end);
    }
    laz_engine_free(engine);
}

/* How often a timer of the engine is due while its clock goes on by `ms`. It stands while another
 * thread looks at the session. */
static unsigned wake_ups(struct laz_session *session, unsigned ms)
{
    struct laz_engine *engine = test_engine_of(session);
    unsigned n = 0;

    laz_engine_step(engine, 0, NULL); /* what the last call has begun */
    for (unsigned at = 0; at < ms; at += 100) {
        test_advance_clock(engine, 100);
        n += laz_engine_timeout(engine) == 0;
        CU_ASSERT_EQUAL(laz_engine_step(engine, 0, NULL), 0);
        while (session->guard.look)
            CU_ASSERT_EQUAL(laz_engine_step(engine, -1, NULL), 0);
    }
    return n;
}

/* N processors could use a minute of CPU time in an Nth of a minute, and no sooner. */
static void an_idle_session_wakes_its_host_n_times_in_the_time_of_its_limit(void)
{
    struct laz_engine *engine = test_engine(BWRAP "limits.cpu=60");
    struct laz_session *session = test_session(engine, "lua");

    if (session) {
        test_hold_clock(engine);
        CU_ASSERT_EQUAL(wake_ups(session, 60000), 0); /* no code has run */
        test_expect(session, "1 + 1", LAZ_VERDICT_OK, "2");
        unsigned n = wake_ups(session, 60000);
        CU_ASSERT(n >= 1 && n <= laz_os_processors() + 1);
        test_expect(session, "1 + 1", LAZ_VERDICT_OK, "2");
    }
    laz_engine_free(engine);
}

/* A death inside the box is reported with the usage until then; without a counting group, with what
 * the host still sees of a process that it does not wait for. */
static void usage_is_told_of_what_died(void)
{
    static const char code[] = "local till = os.clock() + 0.15\nwhile os.clock() < till do end\n"
                               "os.execute('kill -SEGV $PPID')\nwhile true do end";
    struct laz_engine *engine = test_engine(BWRAP "limits.cpu=10");
    struct laz_session *session = test_session(engine, "lua");
    struct laz_result *result = test_run(session, code, NULL);

    if (result) {
        const char *usage = strstr(laz_result_json(result), "\"usage\":");
        const char *cpu = usage ? strstr(usage, "\"cpu_ms\":") : NULL;
        CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_CRASHED);
        bool counted = strcmp(groups_counted_by(LAZ_CGROUP_CPU), "watchdog") != 0;
        CU_ASSERT(cpu && strtod(cpu + strlen("\"cpu_ms\":"), NULL) >= (counted ? 100 : 0));
    }
    laz_result_free(result);
    laz_engine_free(engine);
}

/* ---- hosts without groups ------------------------------------------------------------------- */

static void is_watched(struct laz_engine *engine)
{
    struct laz_session *session = test_session(engine, "python");

    if (session) {
        const char *isolation = laz_session_isolation(session);
        CU_ASSERT_PTR_NOT_NULL(strstr(isolation, "\"memory\":\"watchdog, not shared memory"));
        CU_ASSERT_PTR_NOT_NULL(strstr(isolation, "\"cpu\":\"watchdog, not all time"));
        CU_ASSERT_PTR_NULL(strstr(isolation, "\"memory\",")); /* not among what is enforced */
        if (!TEST_IS_SANITIZED)
            test_expect(session, ten_of_12, LAZ_VERDICT_MEMORY_LIMIT, "null");
        test_expect(session, "1 + 1", LAZ_VERDICT_OK, "2");
    }
    laz_engine_free(engine);
}

static void is_refused(struct laz_engine *engine)
{
    struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
    struct laz_session *session = NULL;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(laz_session_open(engine, &options, &session, &err), LAZ_EREFUSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "memory"));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "control group"));
    laz_engine_free(engine);
}

static const char required[] = BWRAP "sandbox.require=[\"fs_read\", \"memory\", \"cpu\"]";

static void without_groups_a_session_is_watched_or_refused(void)
{
    if (strcmp(groups_counted_by(LAZ_CGROUP_MEMORY), "watchdog") == 0) { /* for an ordinary user */
        is_watched(test_engine(BWRAP FEW));
        is_refused(test_engine(required));
        if (laz_os_is_root())
            unit_skip("root", "no control group can be created here");
        return;
    }
    /* the control: with groups it is not refused */
    struct laz_engine *engine = test_engine(required);
    struct laz_session *session = test_session(engine, "lua");
    if (session)
        CU_ASSERT_PTR_NOT_NULL(strstr(laz_session_isolation(session), "\"memory\":\"cgroup-"));
    laz_engine_free(engine);
    int back = groups_enter();
    engine = test_engine(required); /* these two find the groups, which then disappear */
    struct laz_engine *other = test_engine(BWRAP FEW);
    groups_hide();
    is_refused(engine);
    is_watched(other);
    is_watched(test_engine(BWRAP FEW)); /* and these find no groups */
    is_refused(test_engine(required));
    groups_show(back);
}

/* ---- an engine that reserves address space --------------------------------------------------- */

/* No process of it has a limit on what it reserves (LAZ_RUNTIME_RESERVES): what it uses is counted.
 */
static void is_counted(struct laz_engine *engine, const char *mechanism)
{
    static const char limits[] = "require('fs').readFileSync('/proc/self/limits', 'utf8')"
                                 ".match(/(?<=Max (data size|address space) +)\\w+/g)";
    static const char *const bombs[] = {
        "const all = []; for (;;) all.push('x'.repeat(1e6) + all.length)",
        "const all = []; for (;;) all.push(new Array(1e5).fill(all.length))",
        "const all = []; for (;;) all.push(new Uint8Array(1 << 22).fill(1))",
        "const all = []; const f = async () => { for (;;) { all.push(f); await null } }; await f()",
    };
    struct laz_session *session = test_session(engine, "javascript");

    if (session) {
        if (!strstr(laz_session_isolation(session), mechanism))
            printf("\n    lacks %s: %s", mechanism, laz_session_isolation(session));
        CU_ASSERT_PTR_NOT_NULL(strstr(laz_session_isolation(session), mechanism));
        test_expect(session, limits, LAZ_VERDICT_OK, "[\"unlimited\",\"unlimited\"]");
        for (size_t i = 0; i < sizeof bombs / sizeof *bombs && !TEST_IS_SANITIZED; i++) {
            test_expect(session, bombs[i], LAZ_VERDICT_MEMORY_LIMIT, "null");
            test_expect(session, "1 + 1", LAZ_VERDICT_OK, "2");
        }
    }
    laz_engine_free(engine);
}

static void memory_of_an_engine_that_reserves_is_counted(void)
{
    static const char settings[] = BWRAP "limits.memory=192MiB";
    const bool has_group = strcmp(groups_counted_by(LAZ_CGROUP_MEMORY), "watchdog") != 0;

    if (has_group)
        is_counted(test_engine(settings), "\"memory\":\"cgroup-");
    if (has_group && !groups_can_be_hidden())
        return;
    const int back = has_group ? groups_enter() : -1;
    if (has_group)
        groups_hide();
    is_counted(test_engine(settings), "\"memory\":\"watchdog, not shared memory");
    if (has_group)
        groups_show(back);
}

static const struct unit_test tests[] = {
    UNIT(a_session_has_its_share_and_no_priority),
    UNIT(memory_of_all_processes_is_limited),
    UNIT(memory_is_counted_once_where_it_is_shared),
    UNIT(a_killed_child_is_never_ok),
    UNIT(memory_that_runs_out_between_executions_ends_the_session),
    UNIT(many_short_executions_are_watched_like_a_long_one),
    UNIT(cpu_time_of_all_processes_is_limited),
    UNIT(cpu_time_is_limited_by_execution_and_by_session),
    UNIT(a_process_has_the_limit_of_the_session_and_no_signal_proves_it),
    UNIT(an_idle_session_that_computes_is_ended),
    UNIT(an_idle_session_wakes_its_host_n_times_in_the_time_of_its_limit),
    UNIT(usage_is_told_of_what_died),
    UNIT(without_groups_a_session_is_watched_or_refused),
    UNIT(memory_of_an_engine_that_reserves_is_counted),
    {0},
};

int main(void)
{
    return unit_run("whole", tests);
}
