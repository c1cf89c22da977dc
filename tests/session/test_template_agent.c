/* SPDX-License-Identifier: MIT */
/* test_template_agent.c - a template and its sessions: how they begin, what is renewed in them, how
 * they end. test_template_siblings.c tests what they can do to each other. */
#include "template.h"

#include "base/json.h"
#include "unit.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NOBODY                                                                                     \
    {                                                                                              \
        .peer = {.pid = -1, .fd = -1, .out = -1}, .err = -1, .status = -1, .pidfd = -1             \
    }

/* What the runtimes do alike for each user is not repeated for an ordinary one, when root runs the
 * tests (tests/as.sh), except in the full test. */
static bool is_repeated(void)
{
    const char *need = getenv("LAZARET_TEST_NEED");

    return need && strstr(need, "-root") && !getenv("LAZARET_TEST_FULL");
}

/* ---- beginning ------------------------------------------------------------------------------ */

static const struct language {
    const char *runtime, *sum, *print, *exit, *run;
} languages[] = {
    {"lua", "1 + 1", "print('hello')", "os.exit(7)", "os.execute('exit 3') == nil"},
    {"python", "1 + 1", "print('hello')", "import os; os._exit(7)",
     "import subprocess; subprocess.run(['sh', '-c', 'exit 3']).returncode == 3"},
    {"r", "1 + 1", "cat('hello\\n')", "quit(status = 7)", "system('exit 3') == 3"},
};
#define LANGUAGES (sizeof languages / sizeof languages[0]) /* the last takes longest to start */

static void template_makes_sessions_of_each_runtime(void)
{
    static const char *const parts[] = {"\"cost\":\"clone ", "maps ",  "mounts ", "fork ",
                                        "handover ",         "limits", "renew "};

    for (size_t i = 0; i < 2 * LANGUAGES - 1; i++) {
        const int is_ahead = i >= LANGUAGES; /* or when `init` has arrived */
        const struct language *language = &languages[i % LANGUAGES];
        struct template_box box;
        struct template_session session = NOBODY;
        template_confine = is_ahead ? template_confined : NULL;
        if (template_open(&box, language->runtime, "") &&
            template_session_open(&box, &session, template_confined)) {
            for (size_t j = 0; j < sizeof parts / sizeof parts[0]; j++)
                CU_ASSERT(strstr(session.peer.line, parts[j]) != NULL);
            UNIT_TEXT(template_run(&session, language->sum), "2");
            UNIT_TEXT(template_run(&session, language->run), "true");
            template_run(&session, language->print);
            template_run(&session, language->exit);
            UNIT_TEXT(template_ended(&session), "{\"exit-code\":7}");
            char *output = peer_output(&session.peer, true);
            UNIT_TEXT(output, "hello\n");
            free(output);
        }
        template_session_close(&session);
        template_close(&box);
    }
    template_confine = NULL;
}

static void template_runs_no_code(void)
{
    static const char *const words[] = {"execute", "check"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct template_box box;
        if (template_open(&box, "lua", "")) {
            peer_send(&box.peer, "{\"type\":\"%s\",\"id\":1,\"code\":\"print(1)\"}", words[i]);
            CU_ASSERT(peer_line(&box.peer) == NULL);
            CU_ASSERT(peer_wait(&box.peer) == 125);
        }
        template_close(&box);
    }
}

static void template_ends_when_it_is_told_or_left(void)
{
    for (int told = 0; told < 2; told++)
        for (size_t i = 0; i < LANGUAGES - !told; i++) {
            struct template_box box;
            if (template_open(&box, languages[i].runtime, "")) {
                if (told)
                    peer_send(&box.peer, "{\"type\":\"exit\"}");
                else
                    peer_hang_up(&box.peer);
                CU_ASSERT(peer_wait(&box.peer) == 0);
            }
            template_close(&box);
        }
}

static void template_answers_spawns_in_order(void)
{
    struct template_session sessions[6] = {NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY};
    struct template_box box;
    char expected[40];

    if (!template_open(&box, "lua", ""))
        return;
    for (int i = 0; i < 6; i++)
        CU_ASSERT(template_ask(&box, &sessions[i]) == i + 1);
    for (int i = 0; i < 6; i++) {
        snprintf(expected, sizeof expected, "{\"id\":%d,\"value\":{\"pid\":", i + 1);
        const char *line = peer_line(&box.peer);
        CU_ASSERT(line && strncmp(line, expected, strlen(expected)) == 0);
    }
    for (int i = 5; i >= 0; i--) {
        CU_ASSERT(template_met(&sessions[i]));
        const char *line = template_init(&sessions[i], template_confined, "");
        CU_ASSERT(line && strstr(line, "\"ready\""));
        UNIT_TEXT(template_run(&sessions[i], "1 + 1"), "2");
    }
    for (int i = 0; i < 6; i++)
        template_session_close(&sessions[i]);
    template_close(&box);
}

static void a_bad_spawn_is_an_error_and_no_more(void)
{
    static const struct {
        const char *line, *says;
    } rows[] = {
        {"{\"type\":\"spawn\",\"id\":70,\"token\":\"" PEER_TOKEN "\"}",
         "{\"id\":70,\"error\":\"a spawn comes with 4 descriptors, not with 0\"}"},
        {"{\"type\":\"spawn\",\"id\":71,\"token\":\"short\"}",
         "{\"id\":71,\"error\":\"a spawn has a token of 32 characters\"}"},
        {"{\"type\":\"spawn\",\"id\":72}",
         "{\"id\":72,\"error\":\"a spawn has a token of 32 characters\"}"},
    };
    struct template_session session = NOBODY;
    struct template_box box;

    if (!template_open(&box, "lua", ""))
        return;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        peer_send(&box.peer, "%s", rows[i].line);
        UNIT_TEXT(peer_line(&box.peer), rows[i].says);
    }
    if (template_session_open(&box, &session, template_confined))
        UNIT_TEXT(template_run(&session, "1 + 1"), "2");
    template_session_close(&session);
    template_close(&box);
}

static bool says_of(const char *kind, const char *line, const char *text)
{
    bool said = line && strstr(line, kind) && strstr(line, text);

    if (!said)
        printf("\n    %s\n", line ? line : "(nothing)");
    return said;
}

static bool says(const char *line, const char *text)
{
    return says_of("\"id\":0,\"kind\":\"setup\"", line, text);
}

static void a_session_that_cannot_begin_says_why_and_ends(void)
{
    struct template_session bad = NOBODY, good = NOBODY;
    struct template_box box;

    if (!template_open(&box, "lua", ""))
        return;
    if (template_ask(&box, &bad) > 0 && peer_line(&box.peer) && template_met(&bad)) {
        CU_ASSERT(says(template_init(&bad, "{\"shrink\":1}", ""), "shrink"));
        UNIT_TEXT(template_ended(&bad), "{\"exit-code\":125}");
    }
    template_session_close(&bad);
    if (template_ask(&box, &bad) > 0 && peer_line(&box.peer) && template_met(&bad)) {
        peer_hang_up(&bad.peer); /* no process is left to be told */
        UNIT_TEXT(template_ended(&bad), "{\"exit-code\":0}");
    }
    template_session_close(&bad);
    if (template_session_open(&box, &good, template_confined))
        UNIT_TEXT(template_run(&good, "1 + 1"), "2");
    template_session_close(&good);
    template_close(&box);
}

/* The failure comes before the session's process exists. */
static void a_vessel_that_cannot_be_fitted_out_says_why(void)
{
    struct template_session session = NOBODY;
    struct template_box box;

    if (template_stage(&box, "lua")) {
        box.home = "/nowhere";
        const char *line = template_start(&box, "");
        CU_ASSERT(line && strstr(line, "\"ready\""));
        if (template_ask(&box, &session) > 0 && peer_line(&box.peer) && template_met(&session)) {
            CU_ASSERT(says(template_init(&session, template_confined, ""), "/nowhere"));
            UNIT_TEXT(template_ended(&session), "");
        }
    }
    template_session_close(&session);
    template_close(&box);
}

/* Confinement given to the template is applied in advance: the session is ready without being
 * asked. It takes no other in its place, and none that the template was not told. */
static void a_session_is_confined_ahead_or_not_at_all(void)
{
    static const char same[] = "{\"type\":\"init\",\"protocol\":1,\"same\":true}";
    static const char full[] = "{\"type\":\"init\",\"protocol\":1,\"confine\":{},\"tools\":[]}";
    static const struct {
        const char *told, *init, *says; /* NULL: it works */
    } rows[] = {
        {template_confined, same, NULL},
        {template_confined, full, "init: the template was told already"},
        {template_confined, "{\"type\":\"execute\",\"id\":1,\"code\":\"1\"}", "init: "},
        {NULL, same, "init: the template was not told"},
        {"{\"shrink\":1}", same, "shrink"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct template_session session = NOBODY;
        struct template_box box;
        template_confine = rows[i].told;
        if (template_open(&box, "lua", "") && template_ask(&box, &session) > 0 &&
            peer_line(&box.peer) && template_met(&session)) {
            if (rows[i].told == template_confined) {
                const char *line = peer_line(&session.peer);
                CU_ASSERT(line && strncmp(line, "{\"type\":\"ready\"", 15) == 0);
            }
            peer_send(&session.peer, "%s", rows[i].init);
            if (rows[i].says) {
                CU_ASSERT(says(peer_line(&session.peer), rows[i].says));
                UNIT_TEXT(template_ended(&session), "{\"exit-code\":125}");
            } else {
                UNIT_TEXT(template_run(&session, "1 + 1"), "2");
            }
        }
        template_session_close(&session);
        template_close(&box);
    }
    template_confine = NULL;
}

/* Kills a process that is not a child of this one, and waits for its end. */
static void strike(pid_t pid)
{
    struct pollfd ended = {-1, POLLIN, 0};

    if (pid > 0)
        ended.fd = (int)syscall(SYS_pidfd_open, pid, 0);
    CU_ASSERT(ended.fd >= 0);
    if (ended.fd < 0)
        return;
    syscall(SYS_pidfd_send_signal, ended.fd, SIGKILL, NULL, 0);
    CU_ASSERT(poll(&ended, 1, PEER_WAIT_MS) == 1);
    close(ended.fd);
}

/* It has not been requested yet, so its end is not noticed. */
static void one_that_waits_is_confined_and_may_die(void)
{
    struct template_session session = NOBODY;
    struct template_box box;

    template_confine = template_confined;
    if (template_open(&box, "lua", "")) {
        pid_t waiting = template_await_waiting(&box), vessel = template_vessel(&box);
        CU_ASSERT_EQUAL(template_status(waiting, "NoNewPrivs:"), 1);
        CU_ASSERT_EQUAL(template_status(waiting, "CapEff:"), 0);
        strike(waiting);
        while (template_status(vessel, "Pid:") > 0)
            nanosleep(&(struct timespec){0, 2000000}, NULL);
        for (int i = 0; i < 2; i++) {
            CU_ASSERT(template_session_open(&box, &session, template_confined));
            UNIT_TEXT(template_run(&session, "1 + 1"), "2");
            template_session_close(&session);
            template_await_waiting(&box);
            strike(template_vessel(&box));
        }
    }
    template_close(&box);
    template_confine = NULL;
}

/* A pipe stands for the file of a control group. */
static void a_session_enters_its_groups_before_it_is_asked_for(void)
{
    struct template_session session = NOBODY;
    struct template_box box;
    char entered[4] = "";
    int group[2];

    if (!template_open(&box, "lua", "\"groups\":true"))
        return;
    CU_ASSERT_FATAL(pipe(group) == 0);
    CU_ASSERT(template_ask(&box, &session) > 0);
    const char *line = peer_line(&box.peer);
    CU_ASSERT(line && strstr(line, "no session was prepared") != NULL);
    template_session_close(&session);
    for (int i = 0; i < 2; i++) {
        CU_ASSERT(template_send(&box, "{\"type\":\"prepare\"}\n", &group[1], 1));
        CU_ASSERT_EQUAL(read(group[0], entered, sizeof entered), 1);
        UNIT_TEXT(entered, "0");
        CU_ASSERT(template_session_open(&box, &session, template_bare));
        UNIT_TEXT(template_run(&session, "1 + 1"), "2");
        template_session_close(&session);
    }
    /* a repeated message is a protocol error */
    CU_ASSERT(template_send(&box, "{\"type\":\"prepare\"}\n", &group[1], 1));
    CU_ASSERT(template_send(&box, "{\"type\":\"prepare\"}\n", &group[1], 1));
    CU_ASSERT_PTR_NULL(peer_line(&box.peer));
    close(group[0]);
    close(group[1]);
    template_close(&box);
}

/* ---- loading in advance --------------------------------------------------------------------- */

static void packages_are_there_before_the_code(void)
{
    static const struct {
        const char *runtime, *preload, *code;
    } rows[] = {
        {"python", "", "import sys; 'json' in sys.modules"},
        {"python", "\"preload\":[\"json\"]", "import sys; 'json' in sys.modules"},
        {"r", "", "'splines' %in% loadedNamespaces()"},
        {"r", "\"preload\":[\"splines\"]", "'splines' %in% loadedNamespaces()"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && !is_repeated(); i++) {
        struct template_session session = NOBODY;
        struct template_box box;
        if (template_open(&box, rows[i].runtime, rows[i].preload) &&
            template_session_open(&box, &session, template_confined))
            UNIT_TEXT(template_run(&session, rows[i].code), *rows[i].preload ? "true" : "false");
        template_session_close(&session);
        template_close(&box);
    }
}

static void a_package_that_does_not_load_is_an_error_of_the_start(void)
{
    static const struct {
        const char *runtime, *preload, *says;
    } rows[] = {
        {"python", "\"preload\":[\"json\",\"nowhere\"]", "nowhere: ModuleNotFoundError"},
        {"python", "\"options\":{\"path\":[\"/run/lazaret/agent\"]},\"preload\":[\"leaves\"]",
         "leaves: SystemExit: 3"},
        {"r", "\"preload\":[\"nowhere\"]", "nowhere: there is no package called"},
        {"lua", "\"preload\":[\"nowhere\"]", "can load nothing in advance"},
        {"lua", "\"preload\":[7]", "a name of preload is not a string"}, /* it is not read */
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && !is_repeated(); i++) {
        struct template_box box;
        if (template_stage(&box, rows[i].runtime)) {
            template_file(&box, "leaves.py", "raise SystemExit(3)\n");
            CU_ASSERT(says_of(strstr(rows[i].preload, "7") ? "\"id\":0,\"kind\":\"setup\""
                                                           : "\"id\":0,\"kind\":\"preload\"",
                              template_start(&box, rows[i].preload), rows[i].says));
            CU_ASSERT(peer_wait(&box.peer) == 125);
        }
        template_close(&box);
    }
}

static void numpy_computes_in_sessions(void)
{
    static const char code[] =
        "import numpy\n"
        "a = numpy.arange(90000.0).reshape(300, 300) + numpy.eye(300) * 1e6\n"
        "b = a.dot(a)\n"
        "c = numpy.linalg.solve(a, b)\n"
        "bool(abs(c - a).max() < 1e-3)";
    struct template_session sessions[2] = {NOBODY, NOBODY};
    struct template_box box;

    if (is_repeated())
        return;
    if (access("/usr/lib/python3/dist-packages/numpy", F_OK)) {
        unit_skip("numpy", "python3-numpy is not installed");
        return;
    }
    if (template_open(&box, "python", "\"preload\":[\"numpy\"]"))
        for (int i = 0; i < 2; i++)
            if (template_session_open(&box, &sessions[i], template_confined))
                UNIT_TEXT(template_run(&sessions[i], code), "true");
    CU_ASSERT(strcmp(template_run(&sessions[0], "list(numpy.random.bytes(8))"),
                     template_run(&sessions[1], "list(numpy.random.bytes(8))")) != 0);
    template_session_close(&sessions[0]);
    template_session_close(&sessions[1]);
    template_close(&box);
}

/* A package whose thread holds a lock for ever: a plain copy could never take that lock. */
static void threads_of_packages_stay_behind(void)
{
    static const char module[] = "import threading, time, os\n"
                                 "begun, lock = threading.Event(), threading.Lock()\n"
                                 "def hold():\n"
                                 "    with lock:\n"
                                 "        begun.set()\n"
                                 "        time.sleep(100000)\n"
                                 "threading.Thread(target=hold, daemon=True).start()\n"
                                 "begun.wait()\n"
                                 "def renew():\n"
                                 "    global lock\n"
                                 "    lock = threading.Lock()\n"
                                 "os.register_at_fork(after_in_child=renew)\n";
    struct template_session session = NOBODY;
    struct template_box box;

    if (template_stage(&box, "python")) {
        template_file(&box, "threaded.py", module);
        const char *line = template_start(
            &box, "\"options\":{\"path\":[\"/run/lazaret/agent\"]},\"preload\":[\"threaded\"]");
        CU_ASSERT(line && strstr(line, "\"ready\""));
        if (line && template_session_open(&box, &session, template_confined)) {
            UNIT_TEXT(template_run(&session, "import threading; threading.active_count()"), "1");
            UNIT_TEXT(template_run(&session, "import threaded; threaded.lock.acquire(timeout=9)"),
                      "true");
            UNIT_TEXT(template_run(&session, "t = threading.Thread(target=print, args=(1,))\n"
                                             "t.start(); t.join(); 5"),
                      "5");
        }
    }
    template_session_close(&session);
    template_close(&box);
}

/* ---- what is made anew ---------------------------------------------------------------------- */

static const struct {
    const char *runtime, *code;
    enum {
        SAME, /* shows that they are copies of one process */
        NEW,
        DRAWN /* from thirty thousand: two may have the same one */
    } is;
} renewed[] = {
    {"python", "hash('lazaret')", SAME},
    {"python", "import own; own.number", SAME},
    {"python", "import own; own.renewed", NEW},
    {"python", "import random; random.random()", NEW},
    {"python", "import secrets; secrets.token_hex(8)", NEW},
    {"python", "import uuid; str(uuid.uuid4())", NEW},
    {"python", "import uuid; str(uuid.uuid1())", NEW},
    {"python", "import ssl; list(ssl.RAND_bytes(8))", NEW},
    {"python", "import tempfile; tempfile.mktemp()", NEW},
    {"python", "import os; os.getpid()", DRAWN},
    {"python", "import multiprocessing; list(multiprocessing.current_process().authkey)", NEW},
    {"python", "import time; time.time_ns()", NEW},
    {"r", "as.character(.leaf <- R.home())", SAME},
    {"r", "runif(1)", NEW},
    {"r", "tempdir()", NEW},
    {"r", "basename(tempfile())", NEW},
    {"r", "Sys.getpid()", DRAWN},
    {"r", "sample(1e9, 1)", NEW},
    {"r", "format(Sys.time(), '%H%M%OS6')", NEW},
    {"lua", "_VERSION", SAME},
    {"lua", "math.random(1 << 62)", NEW},
    {"lua", "os.tmpname()", NEW},
    {"lua", "io.open('/proc/self/stat'):read('n')", DRAWN},
};
#define RENEWED (sizeof renewed / sizeof renewed[0])

static const char *const renewed_options[] = {
    "\"preload\":[\"stats\",\"parallel\"]", /* which takes a random number when it is loaded */
    "\"options\":{\"path\":[\"/run/lazaret/agent\"]},\"preload\":[\"own\",\"random\",\"ssl\","
    "\"uuid\",\"tempfile\",\"multiprocessing\"]",
};

static void siblings_of(const char *runtime, const char *options)
{
    static const char module[] = "import random, os, uuid, ssl, tempfile\n"
                                 "number = renewed = random.random()\n"
                                 "uuid.uuid1(), ssl.RAND_bytes(8), tempfile.mktemp()\n"
                                 "def renew():\n"
                                 "    global renewed\n"
                                 "    renewed = random.SystemRandom().random()\n"
                                 "os.register_at_fork(after_in_child=renew)\n";
    struct template_session sessions[3] = {NOBODY, NOBODY, NOBODY};
    struct template_box box;
    bool open = true;

    if (!template_stage(&box, runtime))
        return;
    template_file(&box, "own.py", module);
    const char *line = template_start(&box, options);
    CU_ASSERT(line && strstr(line, "\"ready\""));
    for (int i = 0; i < 2; i++)
        open = open && line && template_session_open(&box, &sessions[i], template_confined);
    for (size_t i = 0; i < RENEWED && open; i++) {
        if (strcmp(renewed[i].runtime, runtime) != 0)
            continue;
        const char *a = template_run(&sessions[0], renewed[i].code);
        const char *b = template_run(&sessions[1], renewed[i].code);
        if (renewed[i].is == DRAWN && strcmp(a, b) == 0 &&
            template_session_open(&box, &sessions[2], template_confined))
            b = template_run(&sessions[2], renewed[i].code);
        bool right = (strcmp(a, b) == 0) == (renewed[i].is == SAME) && !strstr(a, "\"error\"");
        if (!right)
            printf("\n    %s: %s and %s\n", renewed[i].code, a, b);
        CU_ASSERT(right);
    }
    template_session_close(&sessions[0]);
    template_session_close(&sessions[1]);
    template_session_close(&sessions[2]);
    template_close(&box);
}

static void siblings_have_nothing_random_in_common(void)
{
    siblings_of("lua", "");
    siblings_of("python", renewed_options[1]);
    if (!is_repeated())
        siblings_of("r", renewed_options[0]);
}

static void a_session_is_a_process_like_any(void)
{
    static const struct {
        const char *runtime, *code;
    } rows[] = {
        {"python",
         "import os; os.getpid() == int(os.readlink('/proc/self')) and os.getppid() == 1"},
        {"python", "os.getpid() > 99 and os.getpgid(0) == os.getpid() == os.getsid(0)"},
        {"python",
         "os.getcwd() == '/tmp/work' and os.listdir('/tmp') == ['work'] and not os.listdir()"},
        {"python", "os.stat('/tmp').st_uid == os.getuid() == 1000"},
        {"python", "os.statvfs('/tmp').f_blocks * os.statvfs('/tmp').f_frsize == 8 << 20"},
        {"python", "os.read(0, 1) == b''"},
        {"python", "sorted(os.listdir('/dev/shm')) == []"},
        {"python", "os.waitpid(os.spawnlp(os.P_NOWAIT, 'true', 'true'), 0)[1] == 0"},
        {"python", "open('/proc/self/cgroup').read().count('..') == 0"},
        {"r", "tempdir() != '' && dir.exists(tempdir()) && startsWith(tempdir(), '/tmp/')"},
        {"r",
         "setequal(list.files('/tmp'), c(basename(tempdir()), 'work')) && !length(list.files())"},
        {"r", "identical(unlist(parallel::mclapply(1:3, function(i) i)), 1:3)"},
        {"r", "identical(ls(all.names = TRUE, pattern = 'seed'), character())"},
        {"r", "!exists('lazaret')"},
    };
    const char *runtime = "";
    struct template_session session = NOBODY;
    struct template_box box = {.peer = {.pid = -1, .fd = -1, .out = -1}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(runtime, rows[i].runtime) != 0) {
            runtime = rows[i].runtime;
            template_session_close(&session);
            template_close(&box);
            if (!template_open(&box, runtime, "") ||
                !template_session_open(&box, &session, template_confined))
                break;
        }
        const char *value = template_run(&session, rows[i].code);
        if (strcmp(value, "true") != 0)
            printf("\n    %s: %s\n", rows[i].code, value);
        UNIT_TEXT(value, "true");
    }
    template_session_close(&session);
    template_close(&box);
}

/* ---- ending --------------------------------------------------------------------------------- */

static void the_end_of_a_session_is_told(void)
{
    static const struct {
        const char *code, *status;
    } rows[] = {
        {"import os; os._exit(0)", "{\"exit-code\":0}"},
        {"import os; os._exit(255)", "{\"exit-code\":255}"},
        {"import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "{\"signal\":9}"},
        {"import os; os.abort()", "{\"signal\":6}"},
        {"import os, signal; os.kill(os.getpid(), signal.SIGXCPU)", "{\"signal\":24}"},
    };
    struct template_box box;

    if (!template_open(&box, "python", ""))
        return;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct template_session session = NOBODY;
        if (template_session_open(&box, &session, template_confined)) {
            template_run(&session, rows[i].code);
            UNIT_TEXT(template_ended(&session), rows[i].status);
        }
        template_session_close(&session);
    }
    template_close(&box);
}

/* A daemon that left the session's process keeps the output open as long as it lives. */
static const char daemon_code[] = "import os, time\n"
                                  "told, tell = os.pipe()\n"
                                  "if os.fork() == 0:\n"
                                  "    os.setsid()\n"
                                  "    if os.fork() == 0:\n"
                                  "        print('daemon', flush=True)\n"
                                  "        os.write(tell, b'.')\n"
                                  "        time.sleep(100000)\n"
                                  "    os._exit(0)\n"
                                  "os.read(told, 1) and os.wait()[1]";

static void nothing_outlives_a_session(void)
{
    struct template_box box;

    if (!template_open(&box, "python", ""))
        return;
    for (int killed = 0; killed < 2; killed++) {
        struct template_session session = NOBODY, sibling = NOBODY;
        if (template_session_open(&box, &sibling, template_confined) &&
            template_session_open(&box, &session, template_confined)) {
            UNIT_TEXT(template_run(&session, daemon_code), "0");
            if (killed)
                syscall(SYS_pidfd_send_signal, session.pidfd, SIGKILL, NULL, 0);
            else
                template_run(&session, "os._exit(1)");
            UNIT_TEXT(template_ended(&session), killed ? "" : "{\"exit-code\":1}");
            char *output = peer_output(&session.peer, true); /* up to the end of the stream */
            UNIT_TEXT(output, "daemon\n");
            free(output);
            UNIT_TEXT(template_run(&sibling, "1 + 1"), "2");
        }
        template_session_close(&session);
        template_session_close(&sibling);
    }
    template_close(&box);
}

static void sessions_end_with_their_template(void)
{
    struct template_session sessions[2] = {NOBODY, NOBODY};
    struct template_box box;

    if (template_open(&box, "lua", "") &&
        template_session_open(&box, &sessions[0], template_confined) &&
        template_session_open(&box, &sessions[1], template_bare)) {
        kill(box.peer.pid, SIGKILL);
        for (int i = 0; i < 2; i++)
            UNIT_TEXT(template_ended(&sessions[i]), "");
    }
    template_session_close(&sessions[0]);
    template_session_close(&sessions[1]);
    template_close(&box);
}

static size_t children_of(pid_t pid)
{
    char path[64], text[4096];
    size_t words = 0;

    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)pid, (long)pid);
    FILE *file = fopen(path, "re");
    size_t n = file ? fread(text, 1, sizeof text, file) : 0;
    if (file)
        fclose(file);
    for (size_t i = 0; i < n; i++)
        words += text[i] == ' ';
    return words;
}

static void a_template_keeps_nothing_of_its_sessions(void)
{
    struct template_box box;
    char path[64];
    unsigned descriptors[2] = {0};

    if (!template_open(&box, "lua", ""))
        return;
    for (int i = 0; i < 40; i++) {
        struct template_session session = NOBODY;
        if (template_session_open(&box, &session, template_confined) && (i & 1))
            template_run(&session, "os.exit(1)");
        template_session_close(&session);
        if (i == 0 || i == 39) {
            struct template_session last = NOBODY; /* once answered, the previous one is finished */
            CU_ASSERT(template_session_open(&box, &last, template_confined));
            template_session_close(&last);
            pid_t pid = template_pid(&box);
            while (children_of(pid) > 1)
                sched_yield(); /* the kernel reaps it, without a notification */
            for (int fd = 0; fd < 256; fd++) {
                snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)pid, fd);
                char target[64];
                descriptors[i != 0] += readlink(path, target, sizeof target) > 0;
            }
        }
    }
    CU_ASSERT(descriptors[0] > 3 && descriptors[1] <= 6);
    template_close(&box);
}

static const struct unit_test tests[] = {
    UNIT(template_makes_sessions_of_each_runtime),
    UNIT(template_runs_no_code),
    UNIT(template_ends_when_it_is_told_or_left),
    UNIT(template_answers_spawns_in_order),
    UNIT(a_bad_spawn_is_an_error_and_no_more),
    UNIT(a_session_that_cannot_begin_says_why_and_ends),
    UNIT(a_vessel_that_cannot_be_fitted_out_says_why),
    UNIT(a_session_is_confined_ahead_or_not_at_all),
    UNIT(one_that_waits_is_confined_and_may_die),
    UNIT(a_session_enters_its_groups_before_it_is_asked_for),
    UNIT(packages_are_there_before_the_code),
    UNIT(a_package_that_does_not_load_is_an_error_of_the_start),
    UNIT(numpy_computes_in_sessions),
    UNIT(threads_of_packages_stay_behind),
    UNIT(siblings_have_nothing_random_in_common),
    UNIT(a_session_is_a_process_like_any),
    UNIT(the_end_of_a_session_is_told),
    UNIT(nothing_outlives_a_session),
    UNIT(sessions_end_with_their_template),
    UNIT(a_template_keeps_nothing_of_its_sessions),
    {0},
};

int main(void)
{
    return unit_run("template_agent", tests);
}
