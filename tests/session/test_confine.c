/* SPDX-License-Identifier: MIT */
/* test_confine.c - whole sessions under the agent's confinement: what works, what is refused, and
 * the messages when it cannot be applied.
 *
 * Ordinary work runs with and without the confinement. Started as "test_unfiltered", the program
 * installs a filter that refuses every further filter, as a container or an old kernel may, so that
 * installing the agent's filter really fails. */
#include "live.h"

#include "os/landlock.h"

#include <errno.h>
#include <linux/bpf_common.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* More than the defaults: packages are loaded, and sanitizers are slow. */
#define WORK "limits.cpu=300;limits.memory=2GiB"

static const struct phrase work = {
    .python =
        "import asyncio, concurrent.futures, ctypes, multiprocessing, os, pty, shutil, socket\n"
        "import sqlite3, subprocess, sys, tempfile, threading\n"
        "from multiprocessing import shared_memory\n"
        "def square(x): return x * x\n"
        "def put(queue): queue.put(os.getpid())\n"
        "threads = [threading.Thread(target=square, args=(3,)) for _ in range(8)]\n"
        "for t in threads: t.start()\n"
        "for t in threads: t.join()\n"
        "shell = 'echo b a | tr \" \" \"\\\\n\" | sort | head -n 1'\n"
        "assert subprocess.run(shell, shell=True, capture_output=True).stdout == b'a\\n'\n"
        "with multiprocessing.Pool(2) as pool: assert pool.map(square, [1, 2, 3]) == [1, 4, 9]\n"
        "queue = multiprocessing.Queue()\n"
        "process = multiprocessing.Process(target=put, args=(queue,))\n"
        "process.start()\n"
        "assert queue.get() == process.pid\n"
        "process.join()\n"
        "with concurrent.futures.ProcessPoolExecutor(2) as pool:\n"
        "    assert list(pool.map(square, [4, 5])) == [16, 25]\n"
        "pid = os.fork()\n"
        "if pid == 0: os._exit(3)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3\n"
        "db = sqlite3.connect(tempfile.mktemp())\n"
        "db.execute('create table t(a)')\n"
        "db.execute('insert into t values (7)')\n"
        "db.commit()\n"
        "assert db.execute('select a from t').fetchall() == [(7,)]\n"
        "directory = tempfile.mkdtemp()\n"
        "open(directory + '/a', 'w').close()\n"
        "shutil.copytree(directory, directory + '2')\n"
        "os.mkfifo(directory + '/f')\n"
        "shutil.rmtree(directory)\n"
        "async def say():\n"
        "    p = await asyncio.create_subprocess_exec('/bin/echo', 'hi',\n"
        "                                             stdout=subprocess.PIPE)\n"
        "    return (await p.communicate())[0]\n"
        "assert asyncio.run(say()) == b'hi\\n'\n"
        "memory = shared_memory.SharedMemory(create=True, size=100)\n"
        "memory.close()\n"
        "memory.unlink()\n"
        "assert ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(lambda x: x + 1)(4) == 5\n"
        "a, b = socket.socketpair()\n"
        "a.send(b'q')\n"
        "assert b.recv(1) == b'q'\n"
        "try: pty.openpty()\n"
        "except OSError: pass\n" /* sandbox.tty is off */
        "else: assert False\n"
        "'done'",
    .r = "library(parallel)\n"
         "stopifnot(identical(unlist(mclapply(1:4, function(i) i^2, mc.cores = 2)),\n"
         "                    c(1, 4, 9, 16)))\n"
         "stopifnot(abs(coef(lm(mpg ~ wt, mtcars))[[2]] + 5.344472) < 1e-6)\n"
         "stopifnot(identical(system('printf \"b\\na\\n\" | sort', intern = TRUE), c('a', 'b')))\n"
         "f <- tempfile()\n"
         "saveRDS(mtcars, f)\n"
         "stopifnot(identical(dim(readRDS(f)), c(32L, 11L)))\n"
         "stopifnot(file.copy(f, paste0(f, '2')), Sys.chmod(f, '600'), file.remove(f))\n"
         "p <- mcparallel(6 * 7)\n"
         "stopifnot(mccollect(p)[[1]] == 42)\n"
         "'done'",
    .lua = "local pipe = io.popen('printf \"b\\\\na\\\\n\" | sort | head -n 1')\n"
           "assert(pipe:read('l') == 'a')\n"
           "assert(pipe:close())\n"
           "assert(os.execute('true'))\n"
           "local name = os.tmpname()\n"
           "local file = assert(io.open(name, 'w'))\n"
           "assert(file:write('x') and file:close() and os.remove(name))\n"
           "return 'done'",
};

static void works(struct laz_session *session, const struct words *w)
{
    test_expect(session, test_phrase(w, &work), LAZ_VERDICT_OK, "\"done\"");
}

/* Does the session report this isolation? */
static bool tells(struct laz_session *session, const char *part)
{
    struct laz_result *result = test_run(session, "'x'", NULL);
    bool has = result && strstr(laz_result_json(result), part);

    laz_result_free(result);
    return has;
}

static void works_filtered(struct laz_session *session, const struct words *w)
{
    CU_ASSERT(tells(session, "\"syscalls\":\"seccomp\""));
    works(session, w);
}

static void ordinary_work_goes_on_in_the_box(void)
{
    test_each(WORK ";sandbox.require=[\"syscalls\",\"fs_read\"]", works_filtered);
}

static void numpy_works_in_the_box(void)
{
    struct laz_engine *engine = test_engine(WORK);
    struct laz_session *session = test_session(engine, "python");
    struct laz_result *there = test_run(session, "import numpy", NULL);

    if (there && laz_result_verdict(there) == LAZ_VERDICT_OK)
        test_expect(session,
                    "a = numpy.random.default_rng(1).random((200, 200))\n"
                    "round(float((a @ numpy.linalg.inv(a)).trace()), 3)",
                    LAZ_VERDICT_OK, "200.0");
    else if (session)
        unit_skip("numpy", "python3-numpy is not installed");
    laz_result_free(there);
    laz_session_free(session);
    laz_engine_free(engine);
}

/* ---- what does not ----------------------------------------------------------------------------
 */

#define ATTEMPTS                                                                                   \
    "import os, resource, socket\n"                                                                \
    "def attempt(f, *args):\n"                                                                     \
    "    try: f(*args)\n"                                                                          \
    "    except OSError as e: return e.errno\n"                                                    \
    "    except ValueError: return 1\n" /* resource.error of setrlimit */                          \
    "    return 0\n"                                                                               \
    "[attempt(socket.socket, socket.AF_UNIX), attempt(socket.socket, socket.AF_INET),"             \
    " attempt(socket.socket, socket.AF_NETLINK, socket.SOCK_RAW),"                                 \
    " attempt(os.memfd_create, 'x'),"                                                              \
    " attempt(resource.setrlimit, resource.RLIMIT_CORE, (0, 0))]"

static void python_attempts(struct laz_engine *engine, const char *expected, const char *mechanism)
{
    struct laz_session *session = test_session(engine, "python");

    if (session) {
        test_expect(session, ATTEMPTS, LAZ_VERDICT_OK, expected);
        CU_ASSERT_EQUAL(tells(session, "\"syscalls\":\"seccomp\""), mechanism != NULL);
        test_expect(session,
                    "int(open('/proc/self/status').read().split('Seccomp:')[1].split()[0])",
                    LAZ_VERDICT_OK, mechanism ? "2" : "0");
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

static void code_cannot_make_what_the_filter_refuses(void)
{
    python_attempts(test_engine_open(""), "[0,0,0,0,0]", NULL);
    python_attempts(test_engine(""), "[1,1,1,1,1]", "seccomp");
}

static void none_confines_when_it_is_told_to(void)
{
    python_attempts(test_engine_open("sandbox.none.confine=true"), "[1,1,1,1,1]", "seccomp");
    python_attempts(test_engine_open("sandbox.none.confine=false"), "[0,0,0,0,0]", NULL);
}

static void none_can_keep_syscalls_when_it_is_confined(void)
{
    struct laz_engine *engine = test_engine("sandbox.backend=none;sandbox.require=[\"syscalls\"];"
                                            "sandbox.none.confine=true");
    struct laz_session *session = test_session(engine, "lua");

    if (session)
        test_expect(session, "1 + 1", LAZ_VERDICT_OK, "2");
    laz_session_free(session);
    laz_engine_free(engine);
}

/* ---- files, by Landlock alone ------------------------------------------------------------------
 */

static void reads(struct laz_engine *engine, const char *path, const char *expected)
{
    struct laz_session *session = test_session(engine, "lua");
    char code[160];

    snprintf(code, sizeof code, "local f = io.open('%s')\nreturn f and f:read('a') or 'refused'",
             path);
    if (session)
        test_expect(session, code, LAZ_VERDICT_OK, expected);
    laz_session_free(session);
    laz_engine_free(engine);
}

static void landlock_keeps_files_from_the_code(void)
{
    char path[] = "/tmp/lazaret-test-canary-XXXXXX";

    if (laz_os_landlock_abi() == 0 && unit_skip("landlock", "the kernel has none"))
        return;
    int fd = mkstemp(path);
    CU_ASSERT(fd >= 0 && fchmod(fd, 0644) == 0 && write(fd, "seen", 4) == 4);
    reads(test_engine_open(""), path, "\"seen\"");
    reads(test_engine("sandbox.backend=landlock"), path, "\"refused\"");
    close(fd);
    unlink(path);
}

/* ---- where there can be no filter ---------------------------------------------------------------
 */

/* Makes seccomp(2) fail with ENOSYS, as in some containers. */
static bool refuse_filters(void)
{
    static struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {sizeof program / sizeof program[0], program};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0;
}

static void a_session_without_its_filter_says_so(void)
{
    struct laz_engine *engine = test_engine("");
    struct laz_session *session = test_session(engine, "lua");

    if (session) {
        CU_ASSERT(
            tells(session, "\"enforces\":[\"fs_read\",\"fs_write\",\"network\",\"processes\","));
        CU_ASSERT(!tells(session, "syscalls"));
        CU_ASSERT(!tells(session, "seccomp"));
        CU_ASSERT_EQUAL(laz_session_restart(session, NULL), 0);
        CU_ASSERT(!tells(session, "syscalls"));
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

static void a_session_that_requires_its_filter_does_not_start_without(void)
{
    struct laz_engine *engine = test_engine("sandbox.require=[\"syscalls\"]");
    struct laz_session_options options = {.size = sizeof options, .runtime = "lua"};
    struct laz_session *session = NULL;
    struct laz_error err = {0};

    int rc = engine ? laz_session_open(engine, &options, &session, &err) : LAZ_ENOENT;
    if (rc == LAZ_ENOENT) {
        unit_skip("lua", err.text);
    } else {
        CU_ASSERT_EQUAL(rc, LAZ_ESETUP);
        CU_ASSERT_PTR_NULL(session);
        if (!strstr(err.text, "filter of system calls cannot be installed"))
            printf("\n    %s", err.text);
        CU_ASSERT(strstr(err.text, "filter of system calls cannot be installed") != NULL);
    }
    laz_session_free(session);
    laz_engine_free(engine);
}

int main(int argc, char **argv)
{
    static const struct unit_test tests[] = {
        UNIT(ordinary_work_goes_on_in_the_box),
        UNIT(numpy_works_in_the_box),
        UNIT(code_cannot_make_what_the_filter_refuses),
        UNIT(none_confines_when_it_is_told_to),
        UNIT(none_can_keep_syscalls_when_it_is_confined),
        UNIT(landlock_keeps_files_from_the_code),
        {0},
    };
    static const struct unit_test unfiltered[] = {
        UNIT(a_session_without_its_filter_says_so),
        UNIT(a_session_that_requires_its_filter_does_not_start_without),
        {0},
    };

    if (!strstr(argc > 0 ? argv[0] : "", "test_unfiltered"))
        return unit_run("confine", tests);
    if (!refuse_filters()) {
        perror("test_unfiltered");
        return 1;
    }
    return unit_run("unfiltered", unfiltered);
}
