/* SPDX-License-Identifier: MIT */
/* test_host.c - what happens to a box when its host, or a part of the box, is killed or stopped.
 *
 * A host is a separate process here: it brings a session into a state, reports that, and is killed.
 * No process of the box may survive in any state. The processes are followed by pidfds, so that
 * their end is an event and no other process is mistaken for one of them. */
#include "session/live.h"
#include "unit.h"
#include "world.h"

#include "base/clock.h"
#include "engine/engine.h"
#include "os/users.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOST_MS   900000 /* time limit for any event on any machine */
#define HOST_MOST 64     /* processes of a box */

#define STRANGER_UID 64321u /* a uid without processes */

static const char *const backends[] = {"bwrap", "landlock"};

/* ---- processes ------------------------------------------------------------------------------ */

struct family {
    pid_t pids[HOST_MOST];
    int pidfds[HOST_MOST];
    size_t n;
};

static pid_t family_parent(pid_t pid)
{
    char path[64], text[512] = "";

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    const char *end = file && fgets(text, sizeof text, file) ? strrchr(text, ')') : NULL;
    if (file)
        (void)fclose(file);
    return end && strlen(end) > 4 ? (pid_t)atoi(end + 4) : 0;
}

static bool family_has(const struct family *family, pid_t pid)
{
    for (size_t i = 0; i < family->n; i++)
        if (family->pids[i] == pid)
            return true;
    return false;
}

/* Finds all descendants of `root`. */
static void family_find(struct family *family, pid_t root)
{
    bool more = root > 0;

    family->n = 0;
    while (more) {
        DIR *proc = opendir("/proc");
        struct dirent *entry;
        more = false;
        while (proc && (entry = readdir(proc))) {
            pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? (pid_t)atoi(entry->d_name) : 0;
            pid_t parent = pid ? family_parent(pid) : 0;
            if (!parent || family->n == HOST_MOST || family_has(family, pid) ||
                (parent != root && !family_has(family, parent)))
                continue;
            int fd = (int)syscall(SYS_pidfd_open, pid, 0);
            if (fd < 0)
                continue;
            family->pids[family->n] = pid;
            family->pidfds[family->n++] = fd;
            more = true;
        }
        if (proc)
            closedir(proc);
    }
}

/* Signals only by pidfd, because a wrong process id, or -1, would hit other processes. */
static void family_signal_one(const struct family *family, size_t i, int number)
{
    if (i < family->n)
        syscall(SYS_pidfd_send_signal, family->pidfds[i], number, NULL, 0);
}

static void family_signal(const struct family *family, int number)
{
    for (size_t i = 0; i < family->n; i++)
        family_signal_one(family, i, number);
}

/* The processes of a session's box, the outermost first. */
static void family_of(struct family *family, const struct laz_session *session)
{
    pid_t outermost = (pid_t)laz_session_pid(session);
    int fd = outermost > 0 ? (int)syscall(SYS_pidfd_open, outermost, 0) : -1;

    family->n = 0;
    if (fd < 0)
        return;
    family_find(family, outermost);
    if (family->n == HOST_MOST)
        close(family->pidfds[--family->n]);
    memmove(family->pids + 1, family->pids, family->n * sizeof *family->pids);
    memmove(family->pidfds + 1, family->pidfds, family->n * sizeof *family->pidfds);
    family->pids[0] = outermost;
    family->pidfds[0] = fd;
    family->n++;
}

/* Have all of them ended, at the latest after HOST_MS? */
static bool family_is_gone(const struct family *family)
{
    uint64_t end = laz_clock_ms() + HOST_MS;
    bool gone = true;

    for (size_t i = 0; i < family->n; i++) {
        struct pollfd wait = {.fd = family->pidfds[i], .events = POLLIN};
        uint64_t now = laz_clock_ms();
        if (poll(&wait, 1, now < end ? (int)(end - now) : 0) != 1) {
            printf("\n    process %d lives on", (int)family->pids[i]);
            gone = false;
        }
    }
    return gone;
}

static void family_forget(struct family *family)
{
    for (size_t i = 0; i < family->n; i++)
        close(family->pidfds[i]);
    family->n = 0;
}

/* ---- a host, in a state --------------------------------------------------------------------- */

enum host_state {
    HOST_STARTING,
    HOST_IDLE,
    HOST_RUNNING,
    HOST_IN_TOOL,
    HOST_WITH_DAEMON,
    HOST_RESTARTING,
    HOST_CLOSING,
    HOST_STATES,
};

static const char *const host_states[] = {
    "starting", "idle", "running", "in a tool", "idle, with a daemon", "restarting", "closing"};
static int host_says = -1;

static void host_say(void)
{
    if (write(host_says, "r", 1) != 1)
        _exit(1);
}

static void host_output(void *user, int stream, const char *data, size_t len)
{
    (void)user, (void)stream, (void)data, (void)len;
    host_say();
}

static const char *const host_codes[HOST_STATES] = {
    [HOST_RUNNING] = "print('begin', flush=True)\nwhile True: pass",
    [HOST_IN_TOOL] = "print('begin', flush=True)\nslow(3600000)",
    [HOST_WITH_DAEMON] = "import os, time\n"
                         "if os.fork() == 0:\n"
                         "    os.setsid()\n"
                         "    if os.fork() == 0:\n"
                         "        for fd in range(256):\n"
                         "            try: os.close(fd)\n"
                         "            except OSError: pass\n"
                         "        time.sleep(3600)\n"
                         "    os._exit(0)\n"
                         "os.wait()[1]",
};

/* Ends by being killed, or with a status that says that it did not reach the state. */
__attribute__((noreturn)) static void host_main(const char *backend, enum host_state state)
{
    struct laz_execute_options options = {.size = sizeof options, .output = host_output};
    struct laz_result *result = NULL;
    struct arena box;
    char c;

    if (!arena_engine(&box, backend, ""))
        _exit(2);
    if (state == HOST_STARTING)
        host_say();
    box.session = test_session(box.engine, "python");
    if (!box.session)
        _exit(3);
    if (state == HOST_WITH_DAEMON) {
        laz_session_execute(box.session, host_codes[state], SIZE_MAX, NULL, &result, NULL);
        if (!result || laz_result_verdict(result) != LAZ_VERDICT_OK)
            _exit(4);
    } else if (host_codes[state]) {
        laz_session_execute(box.session, host_codes[state], SIZE_MAX, &options, &result, NULL);
        _exit(5);
    }
    if (state != HOST_STARTING)
        host_say();
    if (state == HOST_RESTARTING || state == HOST_CLOSING) {
        if (read(0, &c, 1) != 1) /* wait until the test has listed the processes of the box */
            _exit(6);
        host_say();
        if (state == HOST_RESTARTING)
            laz_session_restart(box.session, NULL);
        else
            laz_session_close(box.session);
    }
    for (;;)
        pause();
}

static bool host_hears(int fd)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    char c;

    return poll(&wait, 1, HOST_MS) == 1 && read(fd, &c, 1) == 1;
}

/* Brings a host into the state and kills it. */
static bool host_is_killed(const char *backend, enum host_state state)
{
    struct family family = {.n = 0};
    int says[2], told[2];
    bool good = pipe2(says, O_CLOEXEC) == 0 && pipe2(told, O_CLOEXEC) == 0;

    if (!good)
        return false;
    fflush(stdout);
    pid_t host = fork();
    if (host == 0) {
        host_says = says[1];
        dup2(told[0], 0);
        host_main(backend, state);
    }
    close(says[1]);
    close(told[0]);
    good = host > 0 && host_hears(says[0]);
    uint64_t end = laz_clock_ms() + HOST_MS;
    do { /* wait until the starting host has a process of the box */
        family_forget(&family);
        family_find(&family, host);
    } while (good && family.n == 0 && laz_clock_ms() < end);
    good = good && family.n > 0;
    if (good && (state == HOST_RESTARTING || state == HOST_CLOSING))
        good = write(told[1], "g", 1) == 1 && host_hears(says[0]);
    if (host > 0) {
        kill(host, SIGKILL);
        waitpid(host, NULL, 0);
    }
    if (!good)
        printf("\n    %s: the host did not get there", host_states[state]);
    good = family_is_gone(&family) && good;
    if (!good)
        printf(" (%s, %s)", backend, host_states[state]);
    family_signal(&family, SIGKILL);
    family_forget(&family);
    close(says[0]);
    close(told[1]);
    return good;
}

static void a_killed_host_leaves_no_process(void)
{
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++)
        for (int state = 0; state < HOST_STATES; state++)
            CU_ASSERT(host_is_killed(backends[i], (enum host_state)state));
}

/* ---- parts that are stopped or killed ------------------------------------------------------- */

/* Stops the outermost process of a box, or all of them; the code does not end, and makes no
 * processes that would outlive a stopped reaper. */
static void parts_are_stopped(bool all)
{
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++) {
        struct family family;
        struct arena box;
        if (!arena_open(&box, backends[i], "python", ""))
            continue;
        if (strcmp(backends[i], "landlock") == 0) /* a reaper that is stopped does not end */
            test_engine_of(box.session)->boxes.death_ms = 500;
        family_of(&family, box.session);
        CU_ASSERT(family.n > 1); /* there are processes inside */
        for (size_t k = 0; k < (all ? family.n : 1); k++)
            family_signal_one(&family, k, SIGSTOP);
        test_expect_timeout(box.session, "import signal\nsignal.pause()", 200);
        test_expect(box.session, "6 * 7", LAZ_VERDICT_OK, "42");
        CU_ASSERT(family_is_gone(&family)); /* the affected session was replaced */
        family_signal(&family, SIGKILL);
        family_forget(&family);
        arena_close(&box);
    }
}

static void a_stopped_box_ends_at_the_timeout(void)
{
    parts_are_stopped(true);
}

static void a_stopped_outermost_process_changes_nothing(void)
{
    parts_are_stopped(false);
}

/* Kills each process of a box from outside, each in a new box. bubblewrap's second process may not
 * have asked for its death signal yet, and is then ended by the host, which acts when it is asked
 * for something. */
static void a_box_with_a_killed_process_ends_and_is_replaced(void)
{
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++) {
        struct arena box;
        struct family family;
        size_t n = 1;
        if (!arena_open(&box, backends[i], "lua", ""))
            continue;
        for (size_t k = 0; k < n; k++) {
            struct laz_error err = {0};
            family_of(&family, box.session);
            n = family.n;
            CU_ASSERT_FATAL(n > 0);
            family_signal_one(&family, k, SIGKILL);
            int rc = laz_session_restart(box.session, &err);
            CU_ASSERT(family_is_gone(&family));
            if (rc)
                printf("\n    %s, process %zu of %zu: %s", backends[i], k, n, err.text);
            CU_ASSERT_EQUAL_FATAL(rc, 0);
            test_expect(box.session, "return 6 * 7", LAZ_VERDICT_OK, "42");
            family_forget(&family);
        }
        arena_close(&box);
    }
}

/* ---- the command ---------------------------------------------------------------------------- */

struct told {
    int status; /* of the command, -1 when it was killed */
    char out[512];
};

/* Runs `lazaret run` on Lua code with some of the standard descriptors closed. */
static void host_command(unsigned closed, const char *code, struct told *told)
{
    const char *const argv[] = {"lazaret",   "run",
                                "--set",     "session.start_timeout=600",
                                "--set",     "session.timeout=0",
                                "--runtime", "lua",
                                "-e",        code,
                                NULL};
    int ends[2], status = 0;
    size_t n = 0;
    ssize_t got;

    *told = (struct told){.status = -1};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], 1);
        for (int fd = 0; fd < 3; fd++)
            if (closed & 1u << fd)
                close(fd);
        execv("./lazaret", (char *const *)(uintptr_t)argv);
        _exit(99);
    }
    close(ends[1]);
    while (n < sizeof told->out - 1 &&
           (got = read(ends[0], told->out + n, sizeof told->out - 1 - n)) > 0)
        n += (size_t)got;
    close(ends[0]);
    if (waitpid(pid, &status, 0) == pid && WIFEXITED(status))
        told->status = WEXITSTATUS(status);
}

/* Sockets and pipes of the host could then get the numbers 0 to 2: none of them may be used as
 * standard output or reach the box. */
static void the_command_bears_closed_descriptors(void)
{
    struct told told;

    for (unsigned closed = 0; closed < 8; closed++) {
        host_command(closed, "print(6 * 7)", &told);
        if (closed & 2u) {
            CU_ASSERT(told.status == 74); /* standard output cannot be written */
        } else {
            CU_ASSERT_EQUAL(told.status, 0);
            UNIT_TEXT(told.out, "42\n");
        }
    }
}

/* ---- a host without standard descriptors ---------------------------------------------------- */

enum bare_end {
    BARE_GOOD,
    BARE_NO_ENGINE,
    BARE_NO_SESSION,
    BARE_WRONG,
    BARE_FORK,
    BARE_TAKEN,
    BARE_LEFT,
};

static const char *const bare_ends[] = {
    [BARE_NO_ENGINE] = "no engine",
    [BARE_NO_SESSION] = "no session",
    [BARE_WRONG] = "a wrong result",
    [BARE_FORK] = "a number was taken in a process that it has forked",
    [BARE_TAKEN] = "a number was taken while the engine was used",
    [BARE_LEFT] = "a number was taken when the engine was gone",
};

static unsigned bare_closed;
static char *bare_why; /* of a wrong result; shared with the process that is tried */
#define BARE_WHY      1200
#define BARE_MOVED_MS 30000
static atomic_bool bare_is_taken;

/* A write to standard output would go to whatever has its number. What the kernel puts there is
 * moved at once, maybe by another thread: a number is taken when that does not go away. */
static void bare_look(void)
{
    char link[32], name[200];

    for (int fd = 0; fd < 3; fd++) {
        if (!(bare_closed & 1u << fd))
            continue;
        for (unsigned ms = 0; fcntl(fd, F_GETFD) != -1 && ms < BARE_MOVED_MS; ms++)
            poll(NULL, 0, 1);
        if (fcntl(fd, F_GETFD) == -1)
            continue;
        atomic_store(&bare_is_taken, true);
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        const ssize_t len = readlink(link, name, sizeof name);
        snprintf(bare_why, BARE_WHY, "%d: %.*s", fd, len > 0 ? (int)len : 0, name);
    }
}

static void bare_tool(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    (void)user, (void)args, (void)len;
    bare_look();
    laz_reply_value(reply, "42", 2);
}

static void bare_output(void *user, int stream, const char *data, size_t len)
{
    (void)user, (void)stream, (void)data, (void)len;
    bare_look();
}

/* Its hook reads the code from standard input, and has pipes for its output. */
static const char bare_settings[] =
    "session.pre_execute_hook=[\"/bin/sh\", \"-c\", \"grep -q look && test -p "
    "/proc/self/fd/1 -a -p /proc/self/fd/2\"]";

static bool bare_uses(struct laz_session *session)
{
    static const char code[] = "print('out') io.stderr:write('err') return look()";
    const struct laz_execute_options options = {.size = sizeof options, .output = bare_output};
    struct laz_result *result = NULL;

    struct laz_error err = {0};

    laz_session_execute(session, code, SIZE_MAX, &options, &result, &err);
    bool good = result && laz_result_verdict(result) == LAZ_VERDICT_OK &&
                strcmp(laz_result_value(result), "42") == 0;
    if (!good)
        snprintf(bare_why, BARE_WHY, "%s", result ? laz_result_json(result) : err.text);
    laz_result_free(result);
    return good;
}

/* The application forks a process of its own, which exits in the usual way. */
static bool bare_forks(void)
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0) {
        bare_look();
        exit(atomic_load(&bare_is_taken) ? 1 : 0); // NOLINT: runs exit handlers of libraries
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* Makes, uses and frees an engine; `late`: the descriptors are closed after it was made. */
static enum bare_end bare_main(const char *backend, unsigned closed, bool late)
{
    const struct laz_tool tool = {.size = sizeof tool, .name = "look", .description = "Looks"};
    struct arena box = {0};
    bool made = late && arena_engine(&box, backend, bare_settings);

    bare_closed = closed;
    for (int fd = 0; fd < 3; fd++)
        if (closed & 1u << fd)
            close(fd);
    if (!late)
        made = arena_engine(&box, backend, bare_settings);
    bare_look();
    if (!made || laz_engine_add_tool(box.engine, &tool, bare_tool, NULL, NULL))
        return BARE_NO_ENGINE;
    box.session =
        box.is_warm ? test_warm_session(box.engine, "lua") : test_session(box.engine, "lua");
    bare_look();
    if (!box.session)
        return BARE_NO_SESSION;
    const bool good = bare_uses(box.session), forks = bare_forks();
    laz_session_close(box.session);
    bare_look();
    const bool taken = atomic_load(&bare_is_taken);
    arena_close(&box);
    bare_look();
    return !good                         ? BARE_WRONG
           : !forks                      ? BARE_FORK
           : taken                       ? BARE_TAKEN
           : atomic_load(&bare_is_taken) ? BARE_LEFT
                                         : BARE_GOOD;
}

static void bare_host(const char *backend, unsigned closed, bool late)
{
    int status = -1;

    fflush(stdout);
    *bare_why = '\0';
    pid_t pid = fork();
    if (pid == 0)
        _exit((int)bare_main(backend, closed, late));
    CU_ASSERT(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
    if (status == 0)
        return;
    printf("\n    %s,%s%s%s closed%s: ", backend, closed & 1 ? " 0" : "", closed & 2 ? " 1" : "",
           closed & 4 ? " 2" : "", late ? " late" : "");
    if (WIFEXITED(status) && WEXITSTATUS(status) <= BARE_LEFT)
        printf("%s %s", bare_ends[WEXITSTATUS(status)], bare_why);
    else
        printf("status %#x", (unsigned)status);
}

static void an_application_without_standard_descriptors_is_served(void)
{
    static const char *const boxes[] = {"bwrap", "landlock", WORLD_TEMPLATE};

    bare_why = mmap(NULL, BARE_WHY, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CU_ASSERT_FATAL(bare_why != MAP_FAILED);
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
        for (unsigned closed = 1; closed < 8; closed++)
            bare_host(boxes[i], closed, false);
        bare_host(boxes[i], 7, true);
    }
}

/* Mounts a new /tmp with this build at its old path, limited to `size` and to `inodes` besides
 * those of this build's directories (0: any number). */
static bool host_makes_tmp(const char *size, unsigned inodes)
{
    char here[4096], options[64];
    struct statvfs tmp;
    const char *aside = world_get("open");

    if (!getcwd(here, sizeof here) || unshare(CLONE_NEWNS) != 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount(here, aside, NULL, MS_BIND | MS_REC, NULL) != 0 ||
        mount("none", "/tmp", "tmpfs", 0, "mode=1777") != 0)
        return false;
    if (strncmp(here, "/tmp/", 5) == 0) {
        for (char *at = here + 5; *at; at++)
            if (*at == '/') {
                *at = '\0';
                if (mkdir(here, 0755) != 0 && errno != EEXIST)
                    return false;
                *at = '/';
            }
        if (mkdir(here, 0755) != 0 || mount(aside, here, NULL, MS_BIND | MS_REC, NULL) != 0)
            return false;
    }
    if (statvfs("/tmp", &tmp) != 0)
        return false;
    unsigned taken = (unsigned)(tmp.f_files - tmp.f_ffree) - 1; /* without its root */
    int n = snprintf(options, sizeof options, "size=%s", size);
    if (inodes)
        snprintf(options + n, sizeof options - (size_t)n, ",nr_inodes=%u", taken + inodes);
    return mount("none", "/run", "tmpfs", 0, options) == 0 && /* if copies of programs are shared */
           mount(NULL, "/tmp", NULL, MS_REMOUNT, options) == 0 && chdir(here) == 0;
}

/* 0: the code ran in its box; 1: an error, and it did not run; other values: what is wrong. */
static int host_with_small_tmp(const char *size, unsigned inodes)
{
    struct told told;
    int status = 0;

    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        if (!host_makes_tmp(size, inodes))
            _exit(98);
        host_command(0, "print(io.open('/etc/hostname') and 'OUTSIDE' or 'INSIDE')", &told);
        bool inside = strstr(told.out, "INSIDE") != NULL;
        if (strstr(told.out, "OUTSIDE") || (told.status == 0) != inside)
            _exit(97);
        _exit(inside ? 0 : told.status == 125 || told.status == 2 ? 1 : 96);
    }
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Directories, sockets and copies of programs have to be made there, and do not fit. */
static void a_full_disk_is_an_error_and_no_weaker_box(void)
{
    if (!laz_os_is_root()) {
        (void)unit_skip("root", "only root can make a small /tmp");
        return;
    }
    CU_ASSERT_EQUAL(host_with_small_tmp("256m", 0), 0);
    CU_ASSERT_EQUAL(host_with_small_tmp("4k", 0), 1);
    for (unsigned inodes = 6; inodes <= 20; inodes += 2) {
        int result = host_with_small_tmp("256m", inodes);
        CU_ASSERT(result == 0 || result == 1);
        if (result > 1)
            printf("\n    %u inodes: %d", inodes, result);
    }
    CU_ASSERT_EQUAL(host_with_small_tmp("256m", 6), 1);
}

/* ---- the directory -----------------------------------------------------------------------------
 */

/* An entry that has the name of an engine's directory but is none is not followed, and not removed
 * when it belongs to another user. It gets a uid that no test uses, or that user's engines would
 * remove it. */
static void foreign_directories_are_left_alone(void)
{
    const char *file = world_get("removable");
    char link_path[32], directory_path[32], made[] = "/tmp/laz-test-stranger-XXXXXX";
    struct laz_engine *engine;
    struct stat st;

    snprintf(link_path, sizeof link_path, "/tmp/lazaret-L%07d", (int)getpid() % 10000000);
    snprintf(directory_path, sizeof directory_path, "/tmp/lazaret-F%07d", (int)getpid() % 10000000);
    CU_ASSERT_EQUAL(symlink(world_get("open"), link_path), 0);
    if (laz_os_is_root()) { /* it has its owner before it has its name */
        CU_ASSERT_PTR_NOT_NULL(mkdtemp(made));
        CU_ASSERT_EQUAL(chown(made, STRANGER_UID, STRANGER_UID), 0);
        CU_ASSERT_EQUAL(rename(made, directory_path), 0);
    }
    engine = test_engine("");
    CU_ASSERT_PTR_NOT_NULL(engine);
    CU_ASSERT_EQUAL(stat(file, &st), 0); /* the target of the link */
    if (laz_os_is_root()) {
        CU_ASSERT_EQUAL(stat(directory_path, &st), 0);
        (void)rmdir(directory_path);
    }
    if (engine) {
        CU_ASSERT_EQUAL(lstat(engine->directory, &st), 0);
        CU_ASSERT(S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 0066));
    }
    laz_engine_free(engine);
    (void)unlink(link_path);
}

static const struct unit_test tests[] = {
    UNIT(a_killed_host_leaves_no_process),
    UNIT(a_stopped_box_ends_at_the_timeout),
    UNIT(a_stopped_outermost_process_changes_nothing),
    UNIT(a_box_with_a_killed_process_ends_and_is_replaced),
    UNIT(the_command_bears_closed_descriptors),
    UNIT(an_application_without_standard_descriptors_is_served),
    UNIT(a_full_disk_is_an_error_and_no_weaker_box),
    UNIT(foreign_directories_are_left_alone),
    {0},
};

int main(void)
{
    if (!world_make()) {
        printf("what is to be attacked cannot be created\n");
        return 1;
    }
    setenv("HOME", world_get("base"), 1); /* ignore the configuration of this machine's user */
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("LAZARET_CONFIG");
    int rc = unit_run("host", tests);
    world_end();
    return rc;
}
