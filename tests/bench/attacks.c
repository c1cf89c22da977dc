/* SPDX-License-Identifier: MIT */
/* attacks.c - the longest wait of a neighbour beside one session that makes the kernel work: for
 * itself, or for a host that looks at it.
 *
 * A sample is a turn of some seconds.  The neighbours execute, rest, and execute again; one session
 * attacks, and is cancelled at the end, so that its death belongs to the turn.  The sample is the
 * longest time from when an execution was due until its result; the floor is the same in a turn in
 * which nobody attacks. */
#include "bench.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define REST_US  20000.0 /* of a neighbour, between two executions */
#define TURN_US  3e6     /* the attack, ... */
#define END_US   1e6     /* ... and what follows its cancel, at least */
#define CHILDREN "1000"  /* of an attacker, at most */

/* In Python, which reaches what the others do not. An error ends it early, and the row fails. */
static const struct {
    const char *name, *code;
} attacks[] = {
    {"locks", "import fcntl, os, signal\n"
              "f = os.open('l', os.O_CREAT | os.O_RDWR)\n"
              "for i in range(30000, 0, -1): fcntl.lockf(f, fcntl.LOCK_EX, 1, 2 * i)\n"
              "d = [os.dup(f) for i in range(170)]\n"
              "while True: signal.pause()"},
    {"epolls", "import os, select, signal\n"
               "for i in range(40):\n"
               "    if os.fork() == 0:\n"
               "        r = [f for j in range(45) for f in os.pipe()]\n"
               "        p = [select.epoll() for j in range(90)]\n"
               "        for e in p:\n"
               "            for f in r: e.register(f, 0)\n"
               "        while True: signal.pause()\n"
               "while True: signal.pause()"},
    {"forks", "import os\n"
              "while True:\n"
              "    try:\n"
              "        if os.fork() == 0: os._exit(0)\n"
              "        while os.waitpid(-1, os.WNOHANG)[0]: pass\n"
              "    except OSError: pass"},
    {"exits", "import os\n"
              "while True:\n"
              "    r, w = os.pipe()\n"
              "    n = 0\n"
              "    for i in range(" CHILDREN "):\n"
              "        if os.fork() == 0:\n"
              "            os.close(w)\n"
              "            x = os.read(r, 1)\n"
              "            os._exit(0)\n"
              "    os.close(w)\n"
              "    os.close(r)\n"
              "    for i in range(" CHILDREN "): x = os.wait()"},
    {"threads", "import _thread\n"
                "while True:\n"
                "    try: x = _thread.start_new_thread(int, ())\n"
                "    except RuntimeError: pass"},
    {"renames", "import os\n"
                "for i in range(2):\n"
                "    if os.fork() == 0: break\n"
                "a = str(os.getpid())\n"
                "open(a, 'w').close()\n"
                "while True:\n"
                "    os.rename(a, a + 'x')\n"
                "    os.rename(a + 'x', a)"},
    {"mmaps", "import mmap, os\n"
              "for i in range(2):\n"
              "    if os.fork() == 0: break\n"
              "while True:\n"
              "    m = mmap.mmap(-1, 1 << 20)\n"
              "    m[0] = 1\n"
              "    m.close()"},
    {"mappings", "import mmap, signal\n"
                 "m = [mmap.mmap(-1, 4096) for i in range(60000)]\n"
                 "while True: signal.pause()"},
    {"names", "import os\n"
              "i = 0\n"
              "while True:\n"
              "    x = os.path.exists('/tmp/%d' % i)\n"
              "    i += 1"},
    {"flight", "import signal, socket\n"
               "a, b = socket.socketpair()\n"
               "a.setblocking(False)\n"
               "try:\n"
               "    while True:\n"
               "        s = socket.socketpair()\n"
               "        x = socket.send_fds(a, [b'x'], [s[0].fileno(), s[1].fileno()])\n"
               "        s[0].close()\n"
               "        s[1].close()\n"
               "except OSError: pass\n"
               "while True: signal.pause()"},
    {"inodes", "import os, signal\n"
               "try:\n"
               "    for i in range(100000):\n"
               "        os.close(os.open(str(i), os.O_CREAT | os.O_WRONLY))\n"
               "except OSError: pass\n"
               "while True: signal.pause()"},
    {"membarrier", "import ctypes, platform\n"
                   "c = ctypes.CDLL(None)\n"
                   "n = 324 if platform.machine() == 'x86_64' else 283\n"
                   "while True: x = c.syscall(n, 1, 0, 0)"},
};

#define ATTACKS (sizeof attacks / sizeof *attacks)

struct neighbour {
    struct attack_crowd *crowd;
    struct laz_session *session;
    double due_us; /* of the next execution or the running one */
    bool busy;
};

struct attack_crowd {
    struct bench_point *point;
    struct laz_engine *engine;
    struct laz_session *attacker;
    struct neighbour *neighbours;
    enum bench_outcome outcome;
    bool attacks; /* the attack runs */
    double longest_us;
};

static void attack_done(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct attack_crowd *crowd = user;
    const enum laz_verdict verdict = result ? laz_result_verdict(result) : LAZ_VERDICT_CRASHED;

    crowd->attacks = false;
    if (!result || verdict == LAZ_VERDICT_ERROR || verdict == LAZ_VERDICT_OK)
        crowd->outcome = bench_problem(crowd->point, "the attack: %.300s",
                                       result ? laz_result_json(result) : err->text);
    laz_result_free(result);
}

static void neighbour_done(void *user, struct laz_result *result, const struct laz_error *err)
{
    struct neighbour *neighbour = user;
    struct attack_crowd *crowd = neighbour->crowd;
    const double now = bench_now_us(), waited = now - neighbour->due_us;

    neighbour->busy = false;
    if (!result || laz_result_verdict(result) != LAZ_VERDICT_OK)
        crowd->outcome =
            bench_problem(crowd->point, "%s", result ? laz_result_detail(result) : err->text);
    laz_result_free(result);
    crowd->longest_us = waited > crowd->longest_us ? waited : crowd->longest_us;
    neighbour->due_us = now + REST_US;
}

/* Begins the executions that are due, if any are to begin. */
static bool crowd_is_busy(struct attack_crowd *crowd, bool begins)
{
    const double now = bench_now_us();
    struct laz_error err = {0};
    bool busy = false;

    for (int i = 0; i < crowd->point->parameter && crowd->outcome == BENCH_DONE; i++) {
        struct neighbour *neighbour = &crowd->neighbours[i];
        if (begins && !neighbour->busy && neighbour->due_us <= now) {
            neighbour->busy = true;
            if (laz_session_execute_async(neighbour->session, "return 1 + 1", SIZE_MAX, NULL,
                                          neighbour_done, neighbour, &err))
                crowd->outcome = bench_problem(crowd->point, "%s", err.text);
        }
        busy |= neighbour->busy;
    }
    return busy;
}

/* Until that time, or, if it is 0, until nothing is executed any more. */
static void crowd_drive(struct attack_crowd *crowd, double until_us)
{
    struct laz_error err = {0};

    while (crowd->outcome == BENCH_DONE && (!until_us || bench_now_us() < until_us)) {
        if (!crowd_is_busy(crowd, until_us > 0) && !until_us && !crowd->attacks)
            return;
        if (laz_engine_step(crowd->engine, 1, &err))
            crowd->outcome = bench_problem(crowd->point, "%s", err.text);
    }
}

static double crowd_turn(struct attack_crowd *crowd, const char *code)
{
    const double begin = bench_now_us();
    struct laz_error err = {0};

    crowd->longest_us = 0;
    for (int i = 0; i < crowd->point->parameter; i++)
        crowd->neighbours[i].due_us = begin + i * REST_US / crowd->point->parameter;
    crowd->attacks = code != NULL;
    if (code &&
        laz_session_execute_async(crowd->attacker, code, SIZE_MAX, NULL, attack_done, crowd, &err))
        crowd->outcome = bench_problem(crowd->point, "%s", err.text);
    crowd_drive(crowd, begin + TURN_US);
    if (crowd->attacks)
        laz_session_cancel(crowd->attacker);
    crowd_drive(crowd, begin + TURN_US + END_US);
    crowd_drive(crowd, 0);
    return crowd->longest_us;
}

static int attack_engine(struct laz_engine **engine, struct laz_error *err)
{
    static const char *const values[][2] = {
        {"session.start_timeout", "600"}, {"session.timeout", "600"},
        {"limits.nproc", "1100"},         {"limits.memory", "1GiB"},
        {"limits.cpu", "unlimited"},      {"sandbox.tmp_size", "500MiB"},
    };
    struct laz_settings *settings = NULL;
    int rc = laz_settings_new(&settings, err);

    for (size_t i = 0; !rc && i < sizeof values / sizeof *values; i++)
        rc = laz_settings_set(settings, values[i][0], values[i][1], err);
    if (!rc)
        rc = laz_engine_new(settings, NULL, engine, err);
    laz_settings_free(settings);
    return rc;
}

static void crowd_open(struct attack_crowd *crowd, const char *runtime,
                       struct laz_session **session)
{
    const struct laz_session_options options = {.size = sizeof options, .runtime = runtime};
    struct laz_error err = {0};

    if (crowd->outcome == BENCH_DONE && laz_session_open(crowd->engine, &options, session, &err))
        crowd->outcome = bench_problem(crowd->point, "%s", err.text);
}

enum bench_outcome bench_attack(struct bench *bench, struct bench_point *point)
{
    struct attack_crowd crowd = {.point = point};
    const char *name = strchr(point->name, '.') + 1, *code = NULL;
    struct laz_session *session;
    struct laz_error err = {0};

    for (size_t i = 0; i < ATTACKS; i++)
        if (strcmp(attacks[i].name, name) == 0)
            code = attacks[i].code;
    for (int i = 0; i < 2 && crowd.outcome == BENCH_DONE; i++) { /* fails when one is not built */
        point->language = &bench_languages[i];
        crowd.outcome = bench_session(bench, point, &session);
    }
    crowd.neighbours = calloc((size_t)point->parameter, sizeof *crowd.neighbours);
    if (!code || !crowd.neighbours)
        abort();
    if (crowd.outcome == BENCH_DONE && attack_engine(&crowd.engine, &err))
        crowd.outcome = bench_problem(point, "%s", err.text);
    crowd_open(&crowd, "python", &crowd.attacker);
    for (int i = 0; i < point->parameter; i++) {
        crowd.neighbours[i].crowd = &crowd;
        crowd_open(&crowd, "lua", &crowd.neighbours[i].session);
    }
    while (!bench_is_full(point) && crowd.outcome == BENCH_DONE) {
        bench_add_floor(point, crowd_turn(&crowd, NULL));
        if (crowd.outcome == BENCH_DONE)
            bench_add(point, crowd_turn(&crowd, code));
    }
    laz_engine_free(crowd.engine); /* and the sessions */
    free(crowd.neighbours);
    return crowd.outcome;
}
