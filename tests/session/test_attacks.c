/* SPDX-License-Identifier: MIT */
/* test_attacks.c - programs that use much more than a limit without any process showing it, in each
 * situation: a box of its own and one from a template, where control groups count and where they
 * are hidden (root), or cannot be created (an ordinary user, tests/variants.txt).
 *
 * Each ends with the verdict of its limit, and before the host's memory has grown by much more than
 * the limit: that is measured by a control group around the whole test, where one can be created.
 * The control are ordinary programs, which end well. */
#include "groups.h"
#include "live.h"

#include "os/users.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB      ((uint64_t)1 << 20)
#define LIMIT    (40 * MIB)
#define SETTINGS "limits.memory=40MiB;limits.nproc=50;limits.nofile=256;sandbox.tmp_size=200MiB;"
#define MOST     (LIMIT * 3 / 2 + 64 * MIB) /* of the host's memory */

/* ---- memory --------------------------------------------------------------------------------- */

/* Memory that is in no page of a process, each time more than the limit together with the
 * interpreter; and then the code waits. It is not more than may be lost, because nothing says how
 * soon a watchdog on a busy machine looks. */
static const struct attack {
    const char *name, *code;
    enum {
        USED,    /* really: a group counts it as well */
        AT_MOST, /* could be: only the watchdog has to take it so */
        INODES,  /* the same, or a template refuses it by the number of inodes (tmpfs(5)) */
        LOCKS,   /* no group counts it: the host does everywhere */
    } kind;
} attacks[] = {
    {"page tables",
     "import mmap, signal\n"
     "m = mmap.mmap(-1, 30 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | "
     "0x4000, prot=mmap.PROT_READ)\n" /* MAP_NORESERVE */
     "x = m[::2 << 20]\n",
     USED},
    {"sockets",
     "import os, signal, socket\n"
     "pid = os.fork()\n"
     "s = [socket.socketpair() for i in range(70)]\n"
     "for pair in s:\n"
     "    for end in pair:\n"
     "        end.setblocking(False)\n"
     "        try:\n"
     "            while True: n = end.send(bytes(1 << 16))\n"
     "        except BlockingIOError: pass\n",
     USED},
    {"sockets that could be full",
     "import signal, socket\n"
     "s = [socket.socketpair() for i in range(75)]\n",
     AT_MOST},
    {"descriptors in flight",
     "import os, signal, socket\n"
     "a, b = socket.socketpair()\n"
     "for i in range(3):\n"
     "    s = socket.socketpair()\n"
     "    n = socket.send_fds(a, [b'x'], [s[0].fileno(), s[1].fileno()])\n"
     "    s[0].close()\n"
     "    s[1].close()\n",
     AT_MOST},
    {"pipes",
     "import os, signal\n"
     "for i in range(8):\n"
     "    if os.fork() == 0:\n"
     "        for j in range(110):\n"
     "            w = os.pipe()[1]\n"
     "            os.set_blocking(w, False)\n" /* smaller where others have used up the quota */
     "            n = os.write(w, bytes(1 << 16))\n"
     "        while True: signal.pause()\n",
     USED},
    {"files",
     "import signal\n"
     "for i in range(2):\n"
     "    f = open('%d' % i, 'wb')\n"
     "    n = f.write(bytes(28 << 20))\n"
     "    f.close()\n",
     USED},
    {"empty files",
     "import os, signal\n"
     "for i in range(50000): os.close(os.open('%d' % i, os.O_CREAT | os.O_WRONLY))\n",
     INODES},
    {"mappings",
     "import mmap, signal\n"
     "m = [mmap.mmap(-1, 4096) for i in range(38000)]\n",
     USED},
    {"locks of files",
     "import fcntl, signal\n"
     "f = [open('lock%d' % i, 'w') for i in range(200)]\n" /* in one, each is compared with all */
     "for i in range(38000, 0, -1): fcntl.lockf(f[i % 200], fcntl.LOCK_EX, 1, 2 * i)\n",
     LOCKS},
};

static bool are_hidden; /* the groups of this host */

static void attack(struct laz_session *session, const struct attack *row, bool warm, const char *by)
{
    const struct laz_execute_options options = {.size = sizeof options, .timeout_ms = UNIT_HANG_MS};
    char code[600], pair[64];

    if (row->kind == AT_MOST && strcmp(by, "watchdog") != 0)
        return;
    if (row->kind == LOCKS && are_hidden && !getenv("LAZARET_TEST_FULL"))
        return; /* the host has counted them in the same way while the groups were there */
    if (row->kind == LOCKS)
        by = "watchdog";
    snprintf(code, sizeof code, "%swhile True: signal.pause()", row->code);
    groups_measure_from_here();
    struct laz_result *result = test_run(session, code, &options);
    if (!result)
        return;
    const uint64_t grown = groups_grown_bytes();
    if (grown > MOST)
        printf("\n    %s: %llu MiB", row->name, (unsigned long long)(grown / MIB));
    CU_ASSERT(grown <= MOST);
    const char *json = laz_result_json(result);
    bool refused = warm && row->kind == INODES && strstr(json, "No space left");
    snprintf(pair, sizeof pair, "\"counted_by\":\"%s\"", by);
    bool good =
        refused || (laz_result_verdict(result) == LAZ_VERDICT_MEMORY_LIMIT && strstr(json, pair));
    if (!good)
        printf("\n    %s: %s", row->name, json);
    CU_ASSERT_TRUE(good);
    laz_result_free(result);
}

static struct laz_session *open_python(struct laz_engine *engine, bool warm)
{
    return warm ? test_warm_session(engine, "python") : test_session(engine, "python");
}

static void attack_memory(bool warm, const char *by)
{
    struct laz_engine *engine = test_engine(warm ? SETTINGS "pool.warm=template" : SETTINGS);
    struct laz_session *session = open_python(engine, warm);

    for (size_t i = 0; session && i < sizeof attacks / sizeof *attacks; i++)
        attack(session, &attacks[i], warm, by);
    laz_engine_free(engine);
}

/* ---- CPU time ------------------------------------------------------------------------------- */

/* Children of 15 ms, one after the other, that nobody waits for: they have used twice the limit
 * before this many were made. Each is reported by a line. */
#define UNWAITED_MS    15
#define UNWAITED_LIMIT 1 /* seconds */
#define UNWAITED_MOST  (2 * UNWAITED_LIMIT * 1000 / UNWAITED_MS)

static const char unwaited[] = "import os, signal, time\n"
                               "h = signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
                               "while True:\n"
                               "    if os.fork() == 0:\n"
                               "        while time.process_time() < 0.015: pass\n"
                               "        os._exit(0)\n"
                               "    try: os.wait()\n"
                               "    except ChildProcessError: print('ended', flush=True)\n";

static void count_lines(void *user, int stream, const char *text, size_t len)
{
    (void)stream, (void)text, (void)len;
    ++*(unsigned *)user;
}

/* Whether a parent has waited for its child makes no difference to a group, whose verdict
 * test_whole and test_limits show. The watchdog counts in a box from a template as in any other:
 * without the full test root tries one of its own, and an ordinary user one from a template. */
static void attack_time(bool warm, const char *by)
{
    if ((strcmp(by, "watchdog") != 0 || warm == laz_os_is_root()) && !getenv("LAZARET_TEST_FULL"))
        return;
    unsigned children = 0;
    const struct laz_execute_options options = {
        .size = sizeof options, .line = count_lines, .user = &children};
    struct laz_engine *engine =
        test_engine(warm ? "limits.cpu=1;pool.warm=template" : "limits.cpu=1");
    struct laz_session *session = open_python(engine, warm);
    struct laz_result *result = session ? test_run(session, unwaited, &options) : NULL;

    if (result) {
        CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_CPU_LIMIT);
        bool is_estimated = strstr(laz_result_json(result), "\"estimated\":true") != NULL;
        CU_ASSERT_EQUAL(is_estimated, strcmp(by, "watchdog") == 0);
        CU_ASSERT(children > 0 && children <= UNWAITED_MOST);
        printf("(%u children) ", children);
    }
    laz_result_free(result);
    laz_engine_free(engine);
}

/* ---- ordinary programs ---------------------------------------------------------------------- */

/* Under the default limits. */
static const struct {
    const char *runtime, *code;
} programs[] = {
    {"python", "import subprocess\n"
               "for i in range(100): r = subprocess.run(['true'])\n"
               "assert r.returncode == 0"},
    {"python", "import threading\n"
               "t = [threading.Thread(target=lambda: sum(range(100000))) for i in range(20)]\n"
               "for x in t: x.start()\n"
               "for x in t: x.join()"},
    {"python", "import mmap\n"
               "m = mmap.mmap(-1, 64 << 20)\n"
               "n = m.write(bytes(64 << 20))\n"
               "m.close()"},
    {"python", "import os\n"
               "for i in range(100):\n"
               "    f = open('f%d' % i, 'wb')\n"
               "    n = f.write(bytes(100000))\n"
               "    f.close()\n"
               "for i in range(100): os.unlink('f%d' % i)"},
    {"lua", "for i = 1, 20 do assert(os.execute('true | cat')) end\n"
            "local t = {}\n"
            "for i = 1, 1000000 do t[i] = i end"},
    {"python", "import subprocess\n"
               "p = [subprocess.Popen(['sleep', '0.01']) for i in range(20)]\n"
               "assert not any([x.wait() for x in p])"},
    {"python", "import multiprocessing as m\n"
               "k = [m.Process(target=lambda: sum(range(100000))) for i in range(4)]\n"
               "for x in k: x.start()\n"
               "for x in k: x.join()\n"
               "assert all([x.exitcode == 0 for x in k])"},
    {"python", "import os, subprocess\n"
               "f = open('a.c', 'w')\n"
               "n = f.write('int main(void) { return 7; }\\n')\n"
               "f.close()\n"
               "has = any([os.path.exists(d + '/cc') for d in os.environ['PATH'].split(':')])\n"
               "if has: r = subprocess.run(['cc', '-pipe', 'a.c'], check=True)\n"
               "if has: r = subprocess.run(['./a.out'])\n"
               "assert not has or r.returncode == 7"},
    {"r", "d <- data.frame(x = rnorm(20000), g = sample(letters, 20000, TRUE))\n"
          "a <- aggregate(x ~ g, d, mean)\n"
          "m <- merge(a, table(g = d$g))\n"
          "stopifnot(nrow(m) == 26)"},
    {"r", "x <- matrix(runif(160000), 400)\n"
          "s <- solve(x)\n"
          "stopifnot(system('true') == 0, system('echo x', intern = TRUE) == 'x')"},
};
#define PROGRAMS (sizeof programs / sizeof *programs)

static void run_program(struct laz_session *session, size_t i)
{
    const struct laz_execute_options options = {.size = sizeof options, .timeout_ms = LAZ_NO_LIMIT};
    struct laz_result *result = test_run(session, programs[i].code, &options);

    if (!result)
        return;
    if (laz_result_verdict(result) != LAZ_VERDICT_OK)
        printf("\n    program %zu: %.1500s", i, laz_result_json(result));
    CU_ASSERT_EQUAL(laz_result_verdict(result), LAZ_VERDICT_OK);
    CU_ASSERT_PTR_NULL(strstr(laz_result_json(result), "\"estimated\":true"));
    laz_result_free(result);
}

/* Where a watchdog counts: it has to guess, and must not guess wrong. Each in a session that goes
 * on. Root tries the first half in boxes of their own and the second from templates, an ordinary
 * user the other way round; the full test all in both, a thousand executions. */
static void ordinary(bool warm)
{
    static const char *const runtimes[] = {"python", "r", "lua"};
    struct laz_engine *engine = test_engine(warm ? "pool.warm=template" : "");
    const bool is_full = getenv("LAZARET_TEST_FULL") != NULL, is_second = warm == laz_os_is_root();
    const size_t first = !is_full && is_second ? PROGRAMS / 2 : 0;
    const size_t end = is_full || is_second ? PROGRAMS : PROGRAMS / 2;
    const size_t rounds = is_full ? 1000 / PROGRAMS : 1;

    for (size_t r = 0; r < sizeof runtimes / sizeof *runtimes; r++) {
        struct laz_session *session = NULL;
        for (size_t i = 0; i < rounds * (end - first); i++) {
            const size_t program = first + i % (end - first);
            if (strcmp(programs[program].runtime, runtimes[r]) != 0)
                continue;
            if (!session)
                session = warm ? test_warm_session(engine, runtimes[r])
                               : test_session(engine, runtimes[r]);
            if (!session)
                break;
            run_program(session, program);
        }
    }
    laz_engine_free(engine);
}

/* ---- situations ----------------------------------------------------------------------------- */

static void attack_all(bool warm)
{
    attack_memory(warm, groups_counted_by(LAZ_CGROUP_MEMORY));
    attack_time(warm, groups_counted_by(LAZ_CGROUP_CPU));
}

static void run_hidden(void (*run)(bool), bool warm, bool hidden)
{
    int back = hidden ? groups_enter() : -1;

    if (hidden)
        groups_hide();
    are_hidden = hidden;
    run(warm);
    if (hidden)
        groups_show(back);
}

static void situation(bool warm, bool hidden)
{
    if (TEST_IS_SANITIZED || (hidden && !groups_can_be_hidden()))
        return; /* sanitizers need memory and time of their own; there are none to begin with */
    const bool is_measured = groups_measure();
    run_hidden(attack_all, warm, hidden);
    if (is_measured)
        groups_measure_end();
    if (hidden || !groups_can_be_hidden())
        run_hidden(ordinary, warm, hidden);
}

static void a_box_of_its_own(void)
{
    situation(false, false);
}

static void a_box_of_its_own_without_groups(void)
{
    situation(false, true);
}

static void a_box_from_a_template(void)
{
    situation(true, false);
}

static void a_box_from_a_template_without_groups(void)
{
    situation(true, true);
}

static const struct unit_test tests[] = {
    UNIT(a_box_of_its_own),
    UNIT(a_box_of_its_own_without_groups),
    UNIT(a_box_from_a_template),
    UNIT(a_box_from_a_template_without_groups),
    {0},
};

int main(void)
{
    return unit_run("attacks", tests);
}
