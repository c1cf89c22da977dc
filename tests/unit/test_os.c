/* SPDX-License-Identifier: MIT */
/* test_os.c - processes: what a child inherits and what not, how it ends, and how its end is
 * reported. */
#include "unit.h"

#include "os/cgroup.h"
#include "os/descriptors.h"
#include "os/directories.h"
#include "os/files.h"
#include "os/pidfd.h"
#include "os/process.h"
#include "os/spawner.h"
#include "os/packages.h"
#include "os/users.h"
#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OTHER_UID 2080000007u

/* The absolute path of the probe, which is beside this program. */
static char *probe_path(void)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash;

    if (n <= 0)
        return NULL;
    self[n] = '\0';
    slash = strrchr(self, '/');
    *slash = '\0';
    if (strcmp(slash - 5, "/.libs") == 0)
        slash[-6] = '\0';
    return laz_strdupf("%s/probe", self);
}

struct run {
    struct laz_spawn spawn;
    struct laz_spawn_fd fds[8];
    size_t n_fds; /* descriptors besides standard output */
};

/* Runs the probe; its output is NUL-terminated. False when it could not be started. */
static bool run_probe(struct run *run, const char *const *args, char *out, size_t size,
                      struct laz_exit *how)
{
    struct laz_spawner *spawner = NULL;
    struct laz_process process = LAZ_PROCESS_INIT;
    const char *argv[8] = {probe_path()};
    static const char *const no_env[] = {NULL};
    int read_end, write_end;
    size_t len = 0;
    ssize_t n;

    for (size_t i = 0; args[i] && i < 6; i++)
        argv[i + 1] = args[i];
    CU_ASSERT_FATAL(laz_os_cloexec_pipe(&read_end, &write_end, NULL) == 0);
    run->fds[run->n_fds] = (struct laz_spawn_fd){write_end, 1};
    run->spawn.fds = run->fds;
    run->spawn.n_fds = run->n_fds + 1;
    run->spawn.argv = argv;
    if (!run->spawn.env)
        run->spawn.env = no_env;
    CU_ASSERT_FATAL(laz_spawner_new(&spawner, NULL) == 0);
    int rc = laz_spawner_spawn(spawner, &run->spawn, &process, NULL);
    close(write_end);
    if (rc && how)
        *how = (struct laz_exit){0};
    while (rc == 0 && (n = read(read_end, out + len, size - 1 - len)) > 0)
        len += (size_t)n;
    out[len] = '\0';
    if (rc == 0)
        CU_ASSERT(laz_process_wait(&process, UINT64_MAX, how));
    close(read_end);
    laz_process_close(&process);
    laz_spawner_free(spawner);
    free((void *)(uintptr_t)argv[0]);
    return rc == 0;
}

#define SAME_USER .uid = LAZ_SPAWN_SAME_ID, .gid = LAZ_SPAWN_SAME_ID

static void spawn_gives_exactly_the_listed_descriptors(void)
{
    char out[512];
    struct laz_exit how;
    int canary = open("/dev/null", O_RDONLY), high = fcntl(canary, F_DUPFD, 200);
    struct run run = {.spawn = {SAME_USER}, .n_fds = 2};

    run.fds[0] = (struct laz_spawn_fd){canary, 7};
    run.fds[1] = (struct laz_spawn_fd){-1, 4};
    CU_ASSERT(run_probe(&run, (const char *const[]){"fds", NULL}, out, sizeof out, &how));
    UNIT_TEXT(out, "ok 0 1 2 4 7\n");
    CU_ASSERT(how.known && how.status == 0);
    close(canary);
    close(high);
}

/* Descriptors whose numbers are each other's targets, in a process without 0, 1 and 2. */
static int swapped_without_standard(void)
{
    struct laz_spawner *spawner;
    struct laz_process process;
    struct laz_exit how = {0};
    static const char *const env[] = {NULL};
    const char *argv[] = {"/bin/sh", "-c", "read a <&0; read b <&1; test $a = one -a $b = two",
                          NULL};
    int one, two;

    close(0);
    close(1);
    close(2);
    if (laz_os_data_fd("two", "two\n", 4, &two, NULL) ||
        laz_os_data_fd("one", "one\n", 4, &one, NULL))
        return 10;
    if (one < 3 || two < 3 || dup2(two, 0) != 0 || dup2(one, 1) != 1)
        return 11;
    struct laz_spawn_fd fds[] = {{1, 0}, {0, 1}};
    struct laz_spawn spawn = {.argv = argv, .env = env, .fds = fds, .n_fds = 2, SAME_USER};
    if (laz_spawner_new(&spawner, NULL) || laz_spawner_spawn(spawner, &spawn, &process, NULL))
        return 12;
    if (!laz_process_wait(&process, UINT64_MAX, &how))
        return 13;
    laz_process_close(&process);
    laz_spawner_free(spawner);
    return how.status;
}

/* Runs a function in a child; returns its return value, or -1. */
static int in_child(int (*run)(void))
{
    int status;
    pid_t pid = fork();

    if (pid == 0)
        _exit(run());
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void spawn_survives_colliding_and_missing_descriptors(void)
{
    CU_ASSERT_EQUAL(in_child(swapped_without_standard), 0);
}

static void spawn_refuses_a_closed_descriptor(void)
{
    char out[64];
    struct run run = {.spawn = {SAME_USER}, .n_fds = 1};

    run.fds[0] = (struct laz_spawn_fd){999, 5};
    CU_ASSERT_FALSE(run_probe(&run, (const char *const[]){"fds", NULL}, out, sizeof out, NULL));
}

static void spawn_resets_signals(void)
{
    char out[512];
    struct laz_exit how;
    sigset_t set, before;
    struct run run = {.spawn = {SAME_USER}};

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    void (*old)(int) = signal(SIGPIPE, SIG_IGN);
    /* signals of the C library, which a parent may have left ignored, are queried from the
     * kernel */
    const struct {
        void (*handler)(int);
        unsigned long rest[15];
    } ignore = {.handler = SIG_IGN};
    CU_ASSERT_EQUAL(syscall(SYS_rt_sigaction, 32, &ignore, NULL, (size_t)(NSIG - 1) / 8), 0);
    CU_ASSERT(run_probe(&run, (const char *const[]){"status", "SigBlk", "SigIgn", NULL}, out,
                        sizeof out, &how));
    UNIT_TEXT(out, "ok 0000000000000000 0000000000000000\n");
    signal(SIGPIPE, old);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void spawn_gives_session_directory_and_environment(void)
{
    char out[512];
    struct laz_exit how;
    static const char *const env[] = {"A=1", "B=two", NULL};
    struct run run = {.spawn = {SAME_USER, .group = true, .directory = "/usr", .env = env}};

    CU_ASSERT(run_probe(&run, (const char *const[]){"session", NULL}, out, sizeof out, &how));
    UNIT_TEXT(out, "ok 1 1\n");
    run.spawn.group = false;
    CU_ASSERT(run_probe(&run, (const char *const[]){"session", NULL}, out, sizeof out, &how));
    UNIT_TEXT(out, "ok 0 0\n");
    CU_ASSERT(run_probe(&run, (const char *const[]){"cwd", NULL}, out, sizeof out, &how));
    UNIT_TEXT(out, "ok /usr\n");
    CU_ASSERT(run_probe(&run, (const char *const[]){"env", NULL}, out, sizeof out, &how));
    UNIT_TEXT(out, "ok A=1 B=two\n");
}

static void spawn_drops_to_another_user(void)
{
    char status[8192], wanted[256];
    size_t len = 0;
    ssize_t n;
    int read_end, write_end;
    struct laz_spawner *spawner;
    struct laz_process process;
    static const char *const env[] = {NULL};
    const char *argv[] = {"/bin/cat", "/proc/self/status", NULL};

    if (!laz_os_is_root()) {
        unit_skip("root", "only root can change to another user");
        return;
    }
    CU_ASSERT_FATAL(laz_os_cloexec_pipe(&read_end, &write_end, NULL) == 0);
    struct laz_spawn_fd fds[] = {{write_end, 1}};
    struct laz_spawn spawn = {
        .argv = argv, .env = env, .fds = fds, .n_fds = 1, .uid = OTHER_UID, .gid = OTHER_UID};
    CU_ASSERT_FATAL(laz_spawner_new(&spawner, NULL) == 0);
    CU_ASSERT_FATAL(laz_spawner_spawn(spawner, &spawn, &process, NULL) == 0);
    close(write_end);
    while ((n = read(read_end, status + len, sizeof status - 1 - len)) > 0)
        len += (size_t)n;
    status[len] = '\0';
    close(read_end);
    snprintf(wanted, sizeof wanted, "\nUid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\n", OTHER_UID,
             OTHER_UID, OTHER_UID, OTHER_UID, OTHER_UID, OTHER_UID, OTHER_UID, OTHER_UID);
    CU_ASSERT_PTR_NOT_NULL(strstr(status, wanted));
    CU_ASSERT_PTR_NOT_NULL(strstr(status, "\nGroups:\t \n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(status, "\nCapEff:\t0000000000000000\n"));
    CU_ASSERT(laz_process_wait(&process, UINT64_MAX, NULL));
    laz_process_close(&process);
    laz_spawner_free(spawner);
}

/* In a session keyring with a key that only its holder sees: does a child see the key? */
static int key_is_hidden(void)
{
    static const char *const list[] = {"/bin/grep", "-q", "lazaret-canary", "/proc/keys", NULL};
    static const char *const env[] = {NULL};
    struct laz_spawner *spawner;
    struct laz_process process;
    struct laz_exit how[2] = {{0}, {0}};

    if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0)
        return 77;
    long key = syscall(SYS_add_key, "user", "lazaret-canary", "secret", (size_t)6,
                       KEY_SPEC_SESSION_KEYRING);
    if (key < 0 || syscall(SYS_keyctl, KEYCTL_SETPERM, key, 0x3f000000) < 0)
        return 77;
    if (laz_spawner_new(&spawner, NULL))
        return 10;
    for (int i = 0; i < 2; i++) {
        struct laz_spawn spawn = {.argv = list, .env = env, .own_keys = i == 1, SAME_USER};
        if (laz_spawner_spawn(spawner, &spawn, &process, NULL) ||
            !laz_process_wait(&process, UINT64_MAX, &how[i]))
            return 11;
        laz_process_close(&process);
    }
    laz_spawner_free(spawner);
    return how[0].status == 0 && how[1].status == 1 ? 0 : 12;
}

static void spawn_gives_a_keyring_of_its_own(void)
{
    int status = in_child(key_is_hidden);

    if (status == 77 && unit_skip("keyrings", "this kernel, or a filter, refuses them"))
        return;
    CU_ASSERT_EQUAL(status, 0);
}

/* Does a child inherit the host's real-time policy or its nice value below 0? */
static int priority_is_dropped(void)
{
    static const char *const list[] = {"/bin/cat", "/proc/self/stat", NULL};
    static const char *const env[] = {NULL};
    static const struct {
        int policy, nice, dropped_policy, dropped_nice; /* of the host and of the child */
    } rows[] = {{SCHED_FIFO, 0, SCHED_OTHER, 0},
                {SCHED_RR, 0, SCHED_OTHER, 0},
                {SCHED_OTHER, -5, SCHED_OTHER, 0},
                {SCHED_BATCH, 5, SCHED_BATCH, 5}};

    for (size_t i = 0; i < 2 * (sizeof rows / sizeof *rows); i++) {
        const bool drop = i % 2;
        const struct sched_param priority = {
            .sched_priority =
                rows[i / 2].policy == SCHED_FIFO || rows[i / 2].policy == SCHED_RR ? 1 : 0};
        struct laz_spawner *spawner;
        struct laz_process process;
        char text[1024];
        long nice = -99, policy = -99;
        int ends[2];
        if (sched_setscheduler(0, rows[i / 2].policy, &priority) != 0 ||
            setpriority(PRIO_PROCESS, 0, rows[i / 2].nice) != 0)
            return 77;
        if (laz_spawner_new(&spawner, NULL) || pipe2(ends, O_CLOEXEC))
            return 10;
        struct laz_spawn_fd out = {ends[1], 1};
        struct laz_spawn spawn = {
            .argv = list, .env = env, .fds = &out, .n_fds = 1, .no_priority = drop, SAME_USER};
        if (laz_spawner_spawn(spawner, &spawn, &process, NULL) ||
            !laz_process_wait(&process, UINT64_MAX, NULL))
            return 11;
        ssize_t n = read(ends[0], text, sizeof text - 1);
        text[n > 0 ? n : 0] = '\0';
        const char *p = strrchr(text, ')'); /* proc(5): fields 19 and 41 */
        for (int field = 2; p && field < 41; field++) {
            p = strchr(p + 1, ' ');
            if (p && field + 1 == 19)
                nice = strtol(p, NULL, 10);
            if (p && field + 1 == 41)
                policy = strtol(p, NULL, 10);
        }
        if (policy != (drop ? rows[i / 2].dropped_policy : rows[i / 2].policy) ||
            nice != (drop ? rows[i / 2].dropped_nice : rows[i / 2].nice))
            return 20 + (int)i;
        close(ends[0]), close(ends[1]);
        laz_process_close(&process);
        laz_spawner_free(spawner);
    }
    return 0;
}

static void spawn_can_drop_a_priority(void)
{
    int status = in_child(priority_is_dropped);

    if (status == 77 && unit_skip("root", "a priority is what this user may not have"))
        return;
    CU_ASSERT_EQUAL(status, 0);
}

static void spawn_reports_the_errno_of_exec(void)
{
    struct laz_spawner *spawner;
    struct laz_process process;
    struct laz_error err = {0};
    static const char *const env[] = {NULL};
    const char *argv[] = {"/nonexistent/program", NULL};
    struct laz_spawn spawn = {.argv = argv, .env = env, SAME_USER};

    CU_ASSERT_FATAL(laz_spawner_new(&spawner, NULL) == 0);
    CU_ASSERT_EQUAL(laz_spawner_spawn(spawner, &spawn, &process, &err), LAZ_EOS);
    CU_ASSERT_EQUAL(err.os_errno, ENOENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "/nonexistent/program"));
    argv[0] = "/etc/passwd";
    CU_ASSERT_EQUAL(laz_spawner_spawn(spawner, &spawn, &process, &err), LAZ_EOS);
    CU_ASSERT_EQUAL(err.os_errno, EACCES);
    argv[0] = "/bin/true";
    spawn.directory = "/nonexistent";
    CU_ASSERT_EQUAL(laz_spawner_spawn(spawner, &spawn, &process, &err), LAZ_EOS);
    CU_ASSERT_EQUAL(err.os_errno, ENOENT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "directory"));
    argv[0] = "true";
    CU_ASSERT_EQUAL(laz_spawner_spawn(spawner, &spawn, &process, &err), LAZ_EINVAL);
    struct laz_spawn_fd twice[] = {{-1, 3}, {-1, 3}};
    argv[0] = "/bin/true";
    spawn.fds = twice;
    spawn.n_fds = 2;
    CU_ASSERT_EQUAL(laz_spawner_spawn(spawner, &spawn, &process, &err), LAZ_EINVAL);
    CU_ASSERT(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD); /* no child is left */
    laz_spawner_free(spawner);
}

static bool start_pause(struct laz_spawner *spawner, struct laz_process *process, int *out,
                        uint32_t uid)
{
    static const char *const env[] = {NULL};
    const char *argv[] = {"/bin/sh", "-c", "echo ok; read forever <&3", NULL};
    int read_end, write_end, stay_read, stay_write;
    char text[4];

    if (laz_os_cloexec_pipe(&read_end, &write_end, NULL) ||
        laz_os_cloexec_pipe(&stay_read, &stay_write, NULL))
        return false;
    /* The child holds both ends of the second pipe, so it reads neither data nor the end. */
    struct laz_spawn_fd fds[] = {{write_end, 1}, {stay_read, 3}, {stay_write, 4}};
    struct laz_spawn spawn = {.argv = argv,
                              .env = env,
                              .fds = fds,
                              .n_fds = 3,
                              .uid = uid,
                              .gid = uid,
                              .death_signal = SIGKILL,
                              .group = true};
    int rc = laz_spawner_spawn(spawner, &spawn, process, NULL);
    close(write_end);
    close(stay_read);
    close(stay_write);
    bool started = rc == 0 && read(read_end, text, 3) == 3 && memcmp(text, "ok\n", 3) == 0;
    if (out)
        *out = read_end;
    else
        close(read_end);
    return started;
}

static void child_dies_with_the_spawner(void)
{
    uint32_t ids[] = {LAZ_SPAWN_SAME_ID, OTHER_UID};

    for (size_t i = 0; i < (laz_os_is_root() ? 2u : 1u); i++) {
        struct laz_spawner *spawner;
        struct laz_process process;
        struct laz_exit how;
        CU_ASSERT_FATAL(laz_spawner_new(&spawner, NULL) == 0);
        CU_ASSERT_FATAL(start_pause(spawner, &process, NULL, ids[i]));
        CU_ASSERT_FALSE(laz_process_reap(&process, &how));
        laz_spawner_free(spawner);
        CU_ASSERT(laz_process_wait(&process, UINT64_MAX, &how));
        CU_ASSERT(how.known && how.signal == SIGKILL && how.status == -1);
        laz_process_close(&process);
    }
}

static void child_dies_with_the_host(void)
{
    int ends[2], out = -1;
    char c;

    CU_ASSERT_FATAL(pipe(ends) == 0);
    pid_t host = fork();
    if (host == 0) {
        struct laz_spawner *spawner;
        struct laz_process process;
        if (laz_spawner_new(&spawner, NULL) == 0 &&
            start_pause(spawner, &process, &out, LAZ_SPAWN_SAME_ID))
            (void)!write(ends[1], &process.pid, sizeof process.pid);
        raise(SIGKILL);
    }
    close(ends[1]);
    pid_t pid = -1;
    CU_ASSERT(read(ends[0], &pid, sizeof pid) == (ssize_t)sizeof pid);
    int pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0u) : -1;
    waitpid(host, NULL, 0);
    if (pidfd >= 0) { /* otherwise it has already ended */
        struct laz_process process = {pid, pidfd};
        CU_ASSERT(laz_process_wait(&process, UINT64_MAX, NULL));
        laz_process_close(&process);
    }
    CU_ASSERT(read(ends[0], &c, 1) == 0);
    close(ends[0]);
}

/* The exit status of a process that is not a child and that another process (here an init) has
 * reaped. Kernels before 6.15 do not report it. */
static void the_kernel_tells_how_a_stranger_ended(void)
{
    static const struct {
        int raised, status;
    } rows[] = {{0, 0}, {0, 137}, {SIGKILL, -1}, {SIGSEGV, -1}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int signal = -2, status = -2, go[2];
        struct rlimit none = {0, 0};
        char c;
        CU_ASSERT_FATAL(pipe(go) == 0);
        pid_t pid = fork();
        if (pid == 0) {
            close(go[1]);
            setrlimit(RLIMIT_CORE, &none);
            if (read(go[0], &c, 1) != 0)
                _exit(99);
            if (rows[i].raised == SIGSEGV) /* a sanitizer would handle it */
                (void)!sigaction(SIGSEGV, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
            if (rows[i].raised)
                raise(rows[i].raised);
            _exit(rows[i].status);
        }
        int pidfd = laz_os_pidfd(pid);
        CU_ASSERT(pidfd >= 0);
        CU_ASSERT_FALSE(laz_os_pidfd_end(pidfd, &signal, &status)); /* it is alive */
        close(go[0]);
        close(go[1]);
        CU_ASSERT(waitpid(pid, NULL, 0) == pid);
        if (laz_os_pidfd_end(pidfd, &signal, &status)) {
            CU_ASSERT_EQUAL(signal, rows[i].raised);
            CU_ASSERT_EQUAL(status, rows[i].status);
        } else {
            struct utsname kernel;
            int major = 0, minor = 0;
            CU_ASSERT(uname(&kernel) == 0 && sscanf(kernel.release, "%d.%d", &major, &minor) == 2);
            CU_ASSERT(major < 6 || (major == 6 && minor < 15));
        }
        close(pidfd);
    }
    CU_ASSERT_FALSE(laz_os_pidfd_end(-1, &(int){0}, &(int){0}));
}

static void signals_reach_process_and_group(void)
{
    struct laz_spawner *spawner;
    struct laz_process process;
    struct laz_exit how;
    int out;
    char c;

    CU_ASSERT_FATAL(laz_spawner_new(&spawner, NULL) == 0);
    CU_ASSERT_FATAL(start_pause(spawner, &process, NULL, LAZ_SPAWN_SAME_ID));
    laz_process_signal(&process, SIGTERM);
    CU_ASSERT(laz_process_wait(&process, UINT64_MAX, &how));
    CU_ASSERT(how.known && how.signal == SIGTERM);
    laz_process_signal(&process, SIGTERM); /* no effect now */
    CU_ASSERT(laz_process_reap(&process, &how));
    CU_ASSERT_FALSE(how.known);
    laz_process_close(&process);
    CU_ASSERT_FATAL(start_pause(spawner, &process, &out, LAZ_SPAWN_SAME_ID));
    laz_process_signal_group(&process, SIGKILL);
    CU_ASSERT(read(out, &c, 1) == 0); /* the last holder of the pipe has ended */
    CU_ASSERT(laz_process_wait(&process, UINT64_MAX, &how) && how.signal == SIGKILL);
    close(out);
    laz_process_close(&process);
    laz_process_signal(&process, SIGKILL);
    laz_process_signal_group(&process, SIGKILL);
    laz_spawner_free(spawner);
    laz_spawner_free(NULL);
}

static void exit_status_and_usage_are_known(void)
{
    char out[64];
    struct laz_exit how;
    struct run run = {.spawn = {SAME_USER}};

    CU_ASSERT(run_probe(&run, (const char *const[]){"exit", "7", NULL}, out, sizeof out, &how));
    CU_ASSERT(how.known && how.status == 7 && how.signal == 0);
    CU_ASSERT(how.max_rss_bytes > 4096);
}

static void ignored_sigchld_leaves_the_end_known_but_not_how(void)
{
    char out[64];
    struct laz_exit how;
    struct run run = {.spawn = {SAME_USER}};
    void (*old)(int) = signal(SIGCHLD, SIG_IGN);

    CU_ASSERT(run_probe(&run, (const char *const[]){"exit", "7", NULL}, out, sizeof out, &how));
    CU_ASSERT_FALSE(how.known);
    CU_ASSERT_EQUAL(how.status, -1);
    signal(SIGCHLD, old);
}

static void wait_ends_in_time(void)
{
    struct laz_spawner *spawner;
    struct laz_process process;
    struct laz_exit how;

    CU_ASSERT_FATAL(laz_spawner_new(&spawner, NULL) == 0);
    CU_ASSERT_FATAL(start_pause(spawner, &process, NULL, LAZ_SPAWN_SAME_ID));
    CU_ASSERT_FALSE(laz_process_wait(&process, 20, &how));
    laz_process_signal(&process, SIGKILL);
    CU_ASSERT(laz_process_wait(&process, UINT64_MAX, &how));
    laz_process_close(&process);
    laz_spawner_free(spawner);
}

static void *spawn_many(void *data)
{
    struct laz_spawner *spawner = data;
    static const char *const env[] = {NULL};
    const char *argv[] = {"/bin/true", NULL};
    struct laz_spawn spawn = {.argv = argv, .env = env, SAME_USER};
    uintptr_t good = 0;

    for (int i = 0; i < 10; i++) {
        struct laz_process process;
        struct laz_exit how;
        if (laz_spawner_spawn(spawner, &spawn, &process, NULL) == 0) {
            good += laz_process_wait(&process, UINT64_MAX, &how) && how.known && how.status == 0;
            laz_process_close(&process);
        }
    }
    return (void *)good;
}

static void several_threads_can_spawn(void)
{
    struct laz_spawner *spawner;
    pthread_t threads[4];
    void *good;

    CU_ASSERT_FATAL(laz_spawner_new(&spawner, NULL) == 0);
    for (int i = 0; i < 4; i++)
        CU_ASSERT_FATAL(pthread_create(&threads[i], NULL, spawn_many, spawner) == 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &good);
        CU_ASSERT_EQUAL((uintptr_t)good, 10);
    }
    laz_spawner_free(spawner);
}

/* A clock that advances when a thread waits for it, for code that gives up after ten seconds. This
 * program's functions replace those of libc. */
static bool hurries;        /* written before the spawner's thread gets a request */
static uint64_t hurried_ns; /* skipped time; written by the waiting thread */

int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (syscall(SYS_clock_gettime, clock, now) != 0)
        return -1;
    uint64_t ns = (uint64_t)now->tv_nsec + (clock == CLOCK_MONOTONIC ? hurried_ns : 0);
    now->tv_sec += (time_t)(ns / 1000000000u);
    now->tv_nsec = (long)(ns % 1000000000u);
    return 0;
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until)
{
    struct timespec now;

    if (!hurries)
        return pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, until);
    pthread_mutex_unlock(mutex);
    sched_yield();
    pthread_mutex_lock(mutex);
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t left =
        (until->tv_sec - now.tv_sec) * INT64_C(1000000000) + until->tv_nsec - now.tv_nsec;
    hurried_ns += left > 0 ? (uint64_t)left : 0;
    return ETIMEDOUT;
}

/* Before its exec it has to write to a file (a pipe) that is full. */
static void child_that_gets_stuck_is_ended(void)
{
    static const char *const argv[] = {"/bin/true", NULL}, *const env[] = {NULL};
    struct laz_spawn spawn = {.argv = argv, .env = env, SAME_USER};
    struct laz_process process;
    struct laz_spawner *spawner;
    struct laz_error err = {0};
    char block[4096] = "";
    int full[2];

    CU_ASSERT_FATAL(laz_spawner_new(&spawner, NULL) == 0 && pipe2(full, O_CLOEXEC) == 0);
    CU_ASSERT_EQUAL(laz_os_nonblock(full[1], true, &err), 0);
    while (write(full[1], block, sizeof block) > 0)
        ;
    CU_ASSERT_EQUAL(laz_os_nonblock(full[1], false, &err), 0);
    const struct laz_cgroup_door door = {
        .launcher = -1, .into = -1, .tasks = {full[1]}, .n_tasks = 1};
    spawn.cgroup = &door;
    for (int longer = 0; longer < 2; longer++) {
        spawn.start_ms = longer ? 60000 : 0;
        uint64_t before_ns = hurried_ns;
        hurries = true;
        CU_ASSERT_EQUAL(laz_spawner_spawn(spawner, &spawn, &process, &err), LAZ_ETIMEOUT);
        hurries = false;
        CU_ASSERT(hurried_ns - before_ns > (longer ? UINT64_C(59000000000) : UINT64_C(9000000000)));
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, longer ? "/bin/true was not started within 60 s"
                                                       : "/bin/true was not started within 10 s"));
        CU_ASSERT_EQUAL(process.pidfd, -1);
        CU_ASSERT(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
    }
    spawn.cgroup = NULL; /* the next child starts */
    CU_ASSERT_EQUAL(laz_spawner_spawn(spawner, &spawn, &process, &err), 0);
    CU_ASSERT(laz_process_wait(&process, UINT64_MAX, NULL));
    laz_process_close(&process);
    close(full[0]);
    close(full[1]);
    laz_spawner_free(spawner);
}

static bool has_a_child(void)
{
    siginfo_t how;

    return waitid(P_ALL, 0, &how, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* Nobody waits for it, but the next one who waits for the thread, or for its end. */
static void warden_that_is_expected_and_hangs_is_ended(void)
{
    static const char script[] = "#!/bin/sh\nexec sleep 100000\n";
    static const char *const argv[] = {"/bin/true", NULL}, *const env[] = {NULL};
    const struct laz_spawn spawn = {
        .argv = argv, .env = env, SAME_USER, .group = true, .death_signal = SIGKILL};
    char program[] = "/tmp/laz-test-warden-XXXXXX";
    int fd = mkstemp(program);

    CU_ASSERT_FATAL(fd >= 0 && write(fd, script, sizeof script - 1) == sizeof script - 1);
    CU_ASSERT_FATAL(fchmod(fd, 0700) == 0);
    close(fd);
    for (int asked = 0; asked < 2; asked++) {
        struct laz_process process;
        struct laz_spawner *spawner;
        struct laz_error err = {0};
        CU_ASSERT_FATAL(laz_spawner_new(&spawner, NULL) == 0);
        CU_ASSERT_EQUAL(laz_spawner_guard(spawner, program, NULL), 0);
        hurries = true;
        laz_spawner_expect(spawner);
        while (!has_a_child())
            sched_yield();
        if (asked) {
            CU_ASSERT_EQUAL(laz_spawner_spawn(spawner, &spawn, &process, &err), LAZ_ESETUP);
            CU_ASSERT_PTR_NOT_NULL(strstr(err.text, " --warden, which ends what"));
        }
        laz_spawner_free(spawner);
        hurries = false;
        CU_ASSERT(!has_a_child());
    }
    unlink(program);
}

static void packages_list_public_files_of_etc_only(void)
{
    struct laz_strv prefixes = LAZ_STRV_INIT, paths = LAZ_STRV_INIT;
    static const struct {
        const char *name, *text;
    } files[] = {
        {"python3-one.conffiles", "/etc/passwd\n/etc/shadow\nremove-on-upgrade /etc/group\n"},
        {"python3-two.conffiles", "/usr/bin/env\n/etc/nowhere\n/etc\n/etc/group"},
        {"python3-three.list", "/etc/hosts\n"},
        {"ruby-four.conffiles", "/etc/fstab\n"},
    };
    char info[] = "/tmp/laz-test-packages-XXXXXX";

    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(info));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *path = laz_strdupf("%s/%s", info, files[i].name);
        CU_ASSERT_EQUAL(laz_os_write_file(path, files[i].text, strlen(files[i].text), 0644, NULL),
                        0);
        free(path);
    }
    laz_os_package_configuration(info, &prefixes, &paths);
    CU_ASSERT_EQUAL(paths.n, 0);
    laz_strv_add(&prefixes, "nothing-");
    laz_strv_add(&prefixes, "python3-");
    laz_os_package_configuration(info, &prefixes, &paths);
    CU_ASSERT_EQUAL_FATAL(paths.n, 2);
    CU_ASSERT_TRUE(laz_strv_has(&paths, "/etc/passwd"));
    CU_ASSERT_TRUE(laz_strv_has(&paths, "/etc/group"));
    laz_os_package_configuration("/nowhere", &prefixes, &paths);
    CU_ASSERT_EQUAL(paths.n, 2);
    laz_strv_fini(&paths);
    laz_strv_fini(&prefixes);
    laz_os_remove_tree(info);
}

static const struct unit_test tests[] = {
    UNIT(child_that_gets_stuck_is_ended),
    UNIT(warden_that_is_expected_and_hangs_is_ended),
    UNIT(spawn_gives_exactly_the_listed_descriptors),
    UNIT(spawn_survives_colliding_and_missing_descriptors),
    UNIT(spawn_refuses_a_closed_descriptor),
    UNIT(spawn_resets_signals),
    UNIT(spawn_gives_session_directory_and_environment),
    UNIT(spawn_drops_to_another_user),
    UNIT(spawn_gives_a_keyring_of_its_own),
    UNIT(spawn_can_drop_a_priority),
    UNIT(spawn_reports_the_errno_of_exec),
    UNIT(child_dies_with_the_spawner),
    UNIT(child_dies_with_the_host),
    UNIT(the_kernel_tells_how_a_stranger_ended),
    UNIT(signals_reach_process_and_group),
    UNIT(exit_status_and_usage_are_known),
    UNIT(ignored_sigchld_leaves_the_end_known_but_not_how),
    UNIT(wait_ends_in_time),
    UNIT(several_threads_can_spawn),
    UNIT(packages_list_public_files_of_etc_only),
    {0},
};

int main(void)
{
    return unit_run("os", tests);
}
