/* SPDX-License-Identifier: MIT */
/* test_box.c - what code in a bwrap box can do, as the kernel answers.
 *
 * The probe takes the place of the agent. Every attempt is made twice with the same arguments and
 * the same uid: outside, where it has to work, and inside. Started by root, the tests run twice:
 * with a uid for the box, as sessions of root have, and wholly as an ordinary user. */
#include "unit.h"

#include "backends.h"
#include "base/clock.h"
#include "plan/programs.h"
#include "os/descriptors.h"
#include "os/directories.h"
#include "os/files.h"
#include "os/process.h"
#include "os/programs.h"
#include "os/spawner.h"
#include "os/system.h"
#include "os/users.h"

#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define BOX_UID_OUTSIDE 2080000021u /* uid of boxes when root runs the tests */
#define ORDINARY_UID    65534u
#define TMP_SIZE        (1u << 20)

static char base[64];   /* a directory in /tmp that every user can enter */
static char probe[96];  /* a copy of the probe in it */
static char source[96]; /* the copy it is made from, which every user can read */
static uint32_t box_uid = LAZ_SPAWN_SAME_ID;
static const struct laz_backend_ops *bwrap;
static bool box_works;

/* Settings that differ from the plain box. */
static struct laz_settings_values values;
static struct laz_programs *programs; /* NULL: all programs of the host */

static const char *in_base(const char *name)
{
    static char paths[4][160];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", base, name);
    return path;
}

/* ---- running the probe ---------------------------------------------------------------------- */

/* No box: shows what a process of this uid can do. */
static int bare_plan(const struct laz_plan_api *api, const struct laz_policy *policy,
                     struct laz_plan *plan, struct laz_error *err)
{
    (void)err;
    api->arg(plan, policy->host_command);
    for (const char *const *arg = policy->command + 1; *arg; arg++)
        api->arg(plan, *arg);
    api->env(plan, "ASAN_OPTIONS=detect_leaks=0");
    return 0;
}

static const struct laz_backend_ops bare = {.size = sizeof bare, .plan = bare_plan};

static struct laz_plan *plan_for(const struct laz_backend_ops *ops, const char *const *args)
{
    struct laz_policy_session session = {.agent = probe,
                                         .command_tail = args,
                                         .uid = box_uid,
                                         .socket_directory = in_base("socket"),
                                         .programs = programs,
                                         .staged = programs ? in_base("staged") : NULL};
    struct laz_policy_box *policy = NULL;
    struct laz_plan *plan = NULL;
    struct laz_error err = {0};
    int rc = laz_policy_new(&values, NULL, &session, laz_backend_has_own_files(ops),
                            laz_os_platform(), "{}", 2, &policy, &err);

    if (!rc)
        rc = laz_plan_make(ops, "test", &policy->policy, NULL, 0, NULL, &plan, &err);
    if (rc)
        printf("\n    %s\n", err.text);
    laz_policy_free(policy);
    return plan;
}

/* Runs the probe; returns its first line in static memory, "" without output. */
static const char *attempt(const struct laz_backend_ops *ops, const char *const *args)
{
    static char line[8192];
    struct backends_run run;
    struct laz_plan *plan = plan_for(ops, args);

    line[0] = '\0';
    if (plan && backends_run(plan, box_uid, &run)) {
        if (run.errs.len)
            printf("\n    standard error: %s", laz_buf_text(&run.errs));
        snprintf(line, sizeof line, "%.*s", (int)strcspn(laz_buf_text(&run.out), "\n"),
                 laz_buf_text(&run.out));
        backends_run_fini(&run);
    }
    laz_plan_free(plan);
    return line;
}

#define INSIDE(...)  attempt(bwrap, (const char *const[]){__VA_ARGS__, NULL})
#define OUTSIDE(...) attempt(&bare, (const char *const[]){__VA_ARGS__, NULL})

static const char *errno_line(int number)
{
    static char line[32];

    snprintf(line, sizeof line, "errno %d", number);
    return line;
}

static bool skipped(void)
{
    return !box_works && unit_skip("bwrap", "no box can be created here");
}

/* ---- files ---------------------------------------------------------------------------------- */

static void live_bwrap_hides_files_of_the_host(void)
{
    if (skipped())
        return;
    CU_ASSERT_FATAL(laz_os_write_file(in_base("canary"), "secret\n", 7, 0644, NULL) == 0);
    UNIT_TEXT(OUTSIDE("read", in_base("canary")), "ok secret");
    UNIT_TEXT(INSIDE("read", in_base("canary")), errno_line(ENOENT));
    UNIT_TEXT(OUTSIDE("exists", "/etc/hostname"), "ok");
    UNIT_TEXT(INSIDE("exists", "/etc/hostname"), errno_line(ENOENT));
    UNIT_TEXT(OUTSIDE("exists", "/home"), "ok");
    UNIT_TEXT(INSIDE("exists", "/home"), errno_line(ENOENT));
    UNIT_TEXT(INSIDE("read", "/etc/passwd"), "ok sandbox:x:1000:1000:sandbox:/tmp:/bin/sh");
    unlink(in_base("canary"));
}

static void live_bwrap_writes_nowhere_but_home_and_shm(void)
{
    static const char *const places[] = {
        "/x", "/usr/x", "/etc/x", "/run/x", "/dev/x", "/run/lazaret/x", "/run/lazaret/socket/x"};

    if (skipped())
        return;
    CU_ASSERT_FATAL(
        laz_os_make_directory(in_base("open"), 0777, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, NULL) == 0);
    UNIT_TEXT(OUTSIDE("write", in_base("open/x")), "ok");
    unlink(in_base("open/x"));
    UNIT_TEXT(INSIDE("write", in_base("open/x")), errno_line(ENOENT));
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        UNIT_TEXT(INSIDE("write", places[i]), errno_line(EROFS));
    UNIT_TEXT(INSIDE("mkdir", "/var"), errno_line(EROFS));
    UNIT_TEXT(INSIDE("write", "/etc/passwd"), errno_line(EACCES)); /* mode 0444 decides first */
    CU_ASSERT_EQUAL(strncmp(INSIDE("write", LAZ_BOX_AGENT), "errno ", 6), 0);
    UNIT_TEXT(INSIDE("write", "/tmp/x"), "ok");
    UNIT_TEXT(INSIDE("write", "/dev/shm/x"), "ok");
    UNIT_TEXT(INSIDE("write", "/dev/null"), "ok");
    laz_os_remove_tree(in_base("open"));
}

static void live_bwrap_shows_what_the_settings_name(void)
{
    const char *directory = in_base("given"), *file = in_base("given/file");

    if (skipped())
        return;
    CU_ASSERT_FATAL(laz_os_make_directory(directory, 0777, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, NULL) ==
                    0);
    CU_ASSERT_FATAL(laz_os_write_file(file, "data\n", 5, 0666, NULL) == 0);
    UNIT_TEXT(INSIDE("read", in_base("given/file")), errno_line(ENOENT));
    laz_strv_add(&values.sandbox.read, in_base("given")); /* in /tmp, which the box's home covers */
    UNIT_TEXT(INSIDE("read", in_base("given/file")), "ok data");
    UNIT_TEXT(OUTSIDE("write", in_base("given/file")), "ok");
    UNIT_TEXT(INSIDE("write", in_base("given/file")), errno_line(EROFS));
    UNIT_TEXT(INSIDE("write", in_base("given/new")), errno_line(EROFS));
    UNIT_TEXT(INSIDE("write", "/tmp/x"), "ok");
    laz_strv_add(&values.sandbox.write, in_base("given"));
    UNIT_TEXT(INSIDE("write", in_base("given/new")), "ok");
    UNIT_TEXT(OUTSIDE("exists", in_base("given/new")), "ok");
    laz_strv_fini(&values.sandbox.read);
    laz_strv_fini(&values.sandbox.write);
    laz_os_remove_tree(in_base("given"));
}

static void live_bwrap_bounds_home_and_shm(void)
{
    char full[64], shm[64];

    if (skipped())
        return;
    snprintf(full, sizeof full, "ok %u %d", TMP_SIZE, ENOSPC);
    snprintf(shm, sizeof shm, "ok %u %d", TMP_SIZE / 4, ENOSPC);
    CU_ASSERT_FATAL(
        laz_os_make_directory(in_base("open"), 0777, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, NULL) == 0);
    UNIT_TEXT(OUTSIDE("fill", in_base("open/x"), "4194304"), "ok 4194304 0");
    UNIT_TEXT(INSIDE("fill", "/tmp/x", "4194304"), full);
    UNIT_TEXT(INSIDE("fill", "/dev/shm/x", "4194304"), shm);
    laz_os_remove_tree(in_base("open"));
}

static void live_bwrap_leaves_the_kernels_knobs_alone(void)
{
    if (skipped())
        return;
    UNIT_TEXT(OUTSIDE("open-write", "/proc/self/oom_score_adj"), "ok");
    UNIT_TEXT(INSIDE("open-write", "/proc/self/oom_score_adj"), errno_line(EROFS));
    UNIT_TEXT(INSIDE("open-write", "/proc/self/uid_map"), errno_line(EROFS));
    if (!laz_os_is_root())
        return;
    /* Holds even for a box without a uid of its own, which runs as the host's root. */
    uint32_t kept = box_uid;
    box_uid = LAZ_SPAWN_SAME_ID;
    UNIT_TEXT(OUTSIDE("open-write", "/proc/sys/kernel/core_pattern"), "ok");
    UNIT_TEXT(INSIDE("open-write", "/proc/sys/kernel/core_pattern"), errno_line(EROFS));
    box_uid = kept;
}

static void live_bwrap_covers_what_proc_tells_of_the_host(void)
{
    static const char *const files[] = {"/proc/cmdline", "/proc/interrupts", "/proc/softirqs"};

    if (skipped())
        return;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        CU_ASSERT_EQUAL(strncmp(OUTSIDE("read", files[i]), "ok ", 3), 0);
        UNIT_TEXT(INSIDE("read", files[i]), errno_line(EACCES));
    }
    UNIT_TEXT(OUTSIDE("exists", "/proc/irq/default_smp_affinity"), "ok");
    UNIT_TEXT(INSIDE("exists", "/proc/irq/default_smp_affinity"), errno_line(ENOENT));
    UNIT_TEXT(INSIDE("mkdir", "/proc/irq/x"), errno_line(EROFS));
    /* what programs look for is there, without counts of the machine */
    CU_ASSERT(strcmp(OUTSIDE("read", "/proc/stat"), "ok cpu  0 0 0 0 0 0 0 0 0 0") != 0);
    UNIT_TEXT(INSIDE("read", "/proc/stat"), "ok cpu  0 0 0 0 0 0 0 0 0 0");
}

static void live_bwrap_has_few_devices(void)
{
    static const char *const host[] = {"/dev/kmsg", "/dev/mem", "/dev/fuse", "/dev/kvm",
                                       "/dev/net/tun"};
    static const char *const box[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/urandom"};
    size_t there = 0;

    if (skipped())
        return;
    for (size_t i = 0; i < sizeof host / sizeof host[0]; i++) {
        there += strcmp(OUTSIDE("exists", host[i]), "ok") == 0;
        UNIT_TEXT(INSIDE("exists", host[i]), errno_line(ENOENT));
    }
    CU_ASSERT(there > 0);
    for (size_t i = 0; i < sizeof box / sizeof box[0]; i++)
        UNIT_TEXT(INSIDE("exists", box[i]), "ok");
    UNIT_TEXT(INSIDE("mkdir", "/dev/x"), errno_line(EROFS));
    UNIT_TEXT(INSIDE("exists", "/sys"), errno_line(ENOENT));
}

/* ---- programs ------------------------------------------------------------------------------- */

/* Later boxes have these programs; NULL: all. */
static bool choose_programs(const char *const *names)
{
    struct laz_strv wanted = LAZ_STRV_INIT;
    struct laz_error err = {0};

    laz_programs_free(programs);
    programs = NULL;
    laz_os_remove_tree(in_base("staged"));
    for (; names && *names; names++)
        laz_strv_add(&wanted, *names);
    const struct laz_settings_values of_list = {.sandbox.programs = wanted};
    bool good = !names ||
                (laz_programs_new(&of_list, NULL, laz_os_platform(), box_uid, false, &programs,
                                  &err) == 0 &&
                 laz_programs_stage(programs, &values.sandbox.read, in_base("staged"), &err) == 0);
    laz_strv_fini(&wanted);
    UNIT_TEXT(err.text, "");
    return good;
}

static const char *loader(void)
{
    static const char *const names[] = {"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1",
                                        "/lib/ld-musl-x86_64.so.1"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (access(names[i], X_OK) == 0)
            return names[i];
    return "";
}

static void live_bwrap_has_the_listed_programs_and_no_others(void)
{
    static const char *const listed[] = {"echo", "cat", NULL};
    static const char program[] = "/usr/bin/printf", directory[] = "/usr/bin";

    if (skipped())
        return;
    CU_ASSERT_FATAL(choose_programs(listed));
    UNIT_TEXT(INSIDE("exec", "/usr/bin/echo", "ok"), "ok");
    UNIT_TEXT(INSIDE("exec", "/bin/echo", "ok"), "ok"); /* through the directory that is a link */
    UNIT_TEXT(OUTSIDE("exec", program, "ok\n"), "ok");
    UNIT_TEXT(INSIDE("exec", program, "ok\n"), errno_line(ENOENT));
    CU_ASSERT_EQUAL(strncmp(OUTSIDE("read", program), "ok ", 3), 0);
    UNIT_TEXT(INSIDE("read", program), errno_line(ENOENT));
    /* the loader runs any file that it can open, without execve(2) */
    UNIT_TEXT(OUTSIDE("exec", loader(), program, "ok\n"), "ok");
    UNIT_TEXT(INSIDE("exec", loader(), "/usr/bin/echo", "ok"), "ok");
    printf("\n    the loader says so:");
    UNIT_TEXT(INSIDE("exec", loader(), program, "ok\n"), "");
    UNIT_TEXT(OUTSIDE("exists", "/usr/sbin"), "ok");
    UNIT_TEXT(INSIDE("exists", "/usr/sbin"), errno_line(ENOENT));
    UNIT_TEXT(INSIDE("mkdir", "/usr/bin/x"), errno_line(EROFS));
    CU_ASSERT_EQUAL(strncmp(INSIDE("open-write", "/usr/bin/echo"), "errno ", 6), 0);
    UNIT_TEXT(INSIDE("exists", directory), "ok");
    CU_ASSERT_TRUE(choose_programs(NULL));
    UNIT_TEXT(INSIDE("exec", program, "ok\n"), "ok"); /* with all programs */
}

static void live_bwrap_empties_directories_of_programs_among_libraries(void)
{
    static const char *const listed[] = {"cat", NULL};
    static const char program[] = "/usr/lib/git-core/git";

    if (skipped())
        return;
    if (access(program, X_OK) != 0) {
        unit_skip("git", "there is no /usr/lib/git-core");
        return;
    }
    UNIT_TEXT(INSIDE("exists", program), "ok");
    CU_ASSERT_FATAL(choose_programs(listed));
    UNIT_TEXT(INSIDE("exists", program), errno_line(ENOENT));
    UNIT_TEXT(INSIDE("mkdir", "/usr/lib/git-core/x"), errno_line(EROFS));
    laz_strv_add(&values.sandbox.read, program); /* visible nevertheless */
    CU_ASSERT_FATAL(choose_programs(listed));
    UNIT_TEXT(INSIDE("exists", program), "ok");
    laz_strv_fini(&values.sandbox.read);
    CU_ASSERT_TRUE(choose_programs(NULL));
}

/* ---- network -------------------------------------------------------------------------------- */

static int listen_somewhere(char *port, size_t size)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(fd, 8) != 0 || getsockname(fd, (struct sockaddr *)&address, &len) != 0)
        return -1;
    snprintf(port, size, "%u", ntohs(address.sin_port));
    return fd;
}

static void live_bwrap_has_no_network(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char port[16], name[40];

    if (skipped())
        return;
    int fd = listen_somewhere(port, sizeof port);
    CU_ASSERT_FATAL(fd >= 0);
    UNIT_TEXT(OUTSIDE("connect", port), "ok");
    UNIT_TEXT(INSIDE("connect", port), errno_line(ECONNREFUSED));
    close(fd);
    snprintf(name, sizeof name, "laz-test-%ld", (long)getpid());
    memcpy(address.sun_path + 1, name, strlen(name));
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CU_ASSERT_FATAL(bind(fd, (struct sockaddr *)&address,
                         (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name))) ==
                    0);
    CU_ASSERT_FATAL(listen(fd, 8) == 0);
    UNIT_TEXT(OUTSIDE("abstract", name), "ok");
    UNIT_TEXT(INSIDE("abstract", name), errno_line(ECONNREFUSED));
    close(fd);
}

/* ---- processes ------------------------------------------------------------------------------ */

struct victims {
    struct laz_spawner *spawner;
    struct laz_process processes[32];
    size_t n;
};

/* Starts processes outside with the uid of boxes; they live until victims_end. */
static bool victims_start(struct victims *victims, size_t n)
{
    static const char *const env[] = {"ASAN_OPTIONS=detect_leaks=0", NULL};
    const char *argv[] = {probe, "pause", NULL};
    struct laz_spawn spawn = {
        .argv = argv, .env = env, .uid = box_uid, .gid = box_uid, .death_signal = SIGKILL};

    *victims = (struct victims){.n = 0};
    if (laz_spawner_new(&victims->spawner, NULL))
        return false;
    for (; victims->n < n; victims->n++)
        if (laz_spawner_spawn(victims->spawner, &spawn, &victims->processes[victims->n], NULL))
            return false;
    return true;
}

static void victims_end(struct victims *victims)
{
    laz_spawner_free(victims->spawner);
    for (size_t i = 0; i < victims->n; i++) {
        CU_ASSERT(laz_process_wait(&victims->processes[i], UINT64_MAX, NULL));
        laz_process_close(&victims->processes[i]);
    }
}

static void live_bwrap_sees_and_hurts_no_process(void)
{
    struct victims victims;
    char pid[2][16], path[2][64];

    if (skipped())
        return;
    CU_ASSERT_FATAL(victims_start(&victims, 2));
    for (int i = 0; i < 2; i++) {
        snprintf(pid[i], sizeof pid[i], "%ld", (long)victims.processes[i].pid);
        snprintf(path[i], sizeof path[i], "/proc/%s", pid[i]);
    }
    UNIT_TEXT(OUTSIDE("exists", path[0]), "ok");
    UNIT_TEXT(INSIDE("exists", path[0]), errno_line(ENOENT));
    UNIT_TEXT(INSIDE("kill", pid[0]), errno_line(ESRCH));
    CU_ASSERT_FALSE(laz_process_reap(&victims.processes[0], NULL));
    UNIT_TEXT(OUTSIDE("kill", pid[1]), "ok");
    CU_ASSERT(laz_process_wait(&victims.processes[1], UINT64_MAX, NULL));
    victims_end(&victims);
}

static void live_bwrap_counts_the_processes_of_the_box_alone(void)
{
    struct victims victims;

    if (skipped())
        return;
    CU_ASSERT_FATAL(victims_start(&victims, 25));
    UNIT_TEXT(OUTSIDE("nproc", "20", "40"), "ok 0"); /* the uid has 25 already */
    int made = -1;
    CU_ASSERT_EQUAL(sscanf(INSIDE("nproc", "20", "40"), "ok %d", &made), 1);
    CU_ASSERT(made >= 15 && made < 20);
    UNIT_TEXT(INSIDE("nproc", "100", "40"), "ok 40");
    victims_end(&victims);
}

static void live_bwrap_refuses_nested_namespaces(void)
{
    if (skipped())
        return;
    UNIT_TEXT(OUTSIDE("unshare"), "ok");
    UNIT_TEXT(INSIDE("unshare"), errno_line(ENOSPC));
}

static void live_bwrap_gives_no_rights(void)
{
    if (skipped())
        return;
    CU_ASSERT_EQUAL(strncmp(INSIDE("ids"), "ok 1000 1000 1000 1000 1000 1000 ", 33), 0);
    UNIT_TEXT(INSIDE("status", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs"),
              "ok 0000000000000000 0000000000000000 0000000000000000 0000000000000000 "
              "0000000000000000 1");
    CU_ASSERT_STRING_NOT_EQUAL(OUTSIDE("status", "NoNewPrivs"), "ok 1");
}

static void live_bwrap_inherits_nothing(void)
{
    if (skipped())
        return;
    int canary = dup(0); /* no close-on-exec */
    UNIT_TEXT(INSIDE("fds"), "ok 0 1 2");
    UNIT_TEXT(OUTSIDE("fds"), "ok 0 1 2");
    close(canary);
    setenv("LAZ_TEST_SECRET", "secret", 1);
    const char *env = INSIDE("env");
    CU_ASSERT_EQUAL(strncmp(env, "ok ", 3), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(env, " HOME=/tmp "));
    CU_ASSERT_PTR_NULL(strstr(env, "SECRET"));
    UNIT_TEXT(INSIDE("cwd"), "ok /tmp");
    UNIT_TEXT(INSIDE("session"), "ok 0 0"); /* bwrap's session, which has no terminal */
}

/* ---- lifetime ------------------------------------------------------------------------------- */

static void live_bwrap_tells_its_namespace_and_the_exit(void)
{
    static const char *const args[] = {"exit", "7", NULL};
    struct backends_run run;

    if (skipped())
        return;
    struct laz_plan *plan = plan_for(bwrap, args);
    CU_ASSERT_FATAL(plan && backends_run(plan, box_uid, &run));
    CU_ASSERT(run.how.known && run.how.status == 7);
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&run.documents), "\"pid-namespace\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&run.documents), "\"exit-code\": 7"));
    backends_run_fini(&run);
    laz_plan_free(plan);
}

/* Waits until the first process inside sleeps: bwrap's init sets its parent-death signal only after
 * it has forked the probe, and then waits; from then on it dies with the process outside. */
static bool box_init_sleeps(pid_t outermost)
{
    char path[64], text[512], state = '?';

    for (; state != 'S' && kill(outermost, 0) == 0; usleep(1000)) {
        int inside = 0;
        snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)outermost, (int)outermost);
        FILE *file = fopen(path, "r");
        if (!file || fscanf(file, "%d", &inside) != 1)
            inside = 0;
        if (file)
            fclose(file);
        snprintf(path, sizeof path, "/proc/%d/stat", inside);
        file = inside ? fopen(path, "r") : NULL;
        const char *end = file && fgets(text, sizeof text, file) ? strrchr(text, ')') : NULL;
        state = end && end[1] ? end[2] : '?';
        if (file)
            fclose(file);
    }
    return state == 'S';
}

/* Waits for the end of the pipe. */
static bool box_is_gone(int out)
{
    struct pollfd wait = {.fd = out, .events = POLLIN};
    char c;

    return poll(&wait, 1, -1) == 1 && read(out, &c, 1) == 0;
}

/* Starts a box in which the probe waits; *out is at its end when no process inside is left. */
static bool box_start(struct laz_spawner *spawner, struct laz_process *process, int *out)
{
    static const char *const args[] = {"pause", NULL}, *const env[] = {NULL};
    struct laz_plan *plan = plan_for(bwrap, args);
    struct laz_spawn_fd fds[24];
    char text[4], *program = NULL;
    size_t n = 0;
    int write_end = -1;
    bool good = plan && plan->n_data < 20 && laz_os_find_program("bwrap", &program, NULL) == 0 &&
                laz_os_cloexec_pipe(out, &write_end, NULL) == 0;

    if (!good)
        goto out;
    const char *argv[] = {
        program, "--args", plan->argv.items[2], "--", plan->argv.items[4], plan->argv.items[5],
        NULL};
    fds[n++] = (struct laz_spawn_fd){write_end, 1};
    fds[n++] = (struct laz_spawn_fd){-1, plan->status_fd};
    for (size_t i = 0; i < plan->n_data; i++) {
        fds[n].child = plan->data[i].child_fd;
        good = good && laz_os_data_fd("data", laz_buf_text(&plan->data[i].content),
                                      plan->data[i].content.len, &fds[n++].parent, NULL) == 0;
    }
    struct laz_spawn spawn = {.argv = argv,
                              .env = env,
                              .fds = fds,
                              .n_fds = n,
                              .uid = box_uid,
                              .gid = box_uid,
                              .group = true,
                              .death_signal = SIGKILL};
    good = good && laz_spawner_spawn(spawner, &spawn, process, NULL) == 0;
    while (n > 2)
        laz_os_close(&fds[--n].parent);
    laz_os_close(&write_end);
    good = good && read(*out, text, 3) == 3 && box_init_sleeps(process->pid);
out:
    free(program);
    laz_plan_free(plan);
    return good;
}

static void live_bwrap_ends_with_its_outermost_process(void)
{
    struct laz_spawner *spawner;
    struct laz_process process;
    int out;

    if (skipped())
        return;
    CU_ASSERT_FATAL(laz_spawner_new(&spawner, NULL) == 0);
    CU_ASSERT_FATAL(box_start(spawner, &process, &out));
    laz_process_signal(&process, SIGKILL);
    CU_ASSERT(box_is_gone(out)); /* every process inside has ended */
    CU_ASSERT(laz_process_wait(&process, UINT64_MAX, NULL));
    laz_process_close(&process);
    close(out);
    laz_spawner_free(spawner);
}

static void live_bwrap_ends_with_the_engine(void)
{
    struct laz_spawner *spawner;
    struct laz_process process;
    int out;

    if (skipped())
        return;
    CU_ASSERT_FATAL(laz_spawner_new(&spawner, NULL) == 0);
    CU_ASSERT_FATAL(box_start(spawner, &process, &out));
    laz_spawner_free(spawner);
    CU_ASSERT(box_is_gone(out));
    CU_ASSERT(laz_process_wait(&process, UINT64_MAX, NULL));
    laz_process_close(&process);
    close(out);
}

static void live_bwrap_explains_a_box_within_a_box(void)
{
    static const char *const nested[] = {"--unshare-user", "--ro-bind", "/", "/", "true", NULL};
    struct backends_run run;
    char text[600] = "", kept[sizeof probe], *program = NULL;

    if (skipped())
        return;
    /* bwrap in place of the agent: it cannot make namespaces inside */
    memcpy(kept, probe, sizeof probe);
    CU_ASSERT_FATAL(laz_os_find_program("bwrap", &program, NULL) == 0);
    snprintf(probe, sizeof probe, "%s", program);
    struct laz_plan *plan = plan_for(bwrap, nested);
    memcpy(probe, kept, sizeof probe);
    CU_ASSERT_FATAL(plan && backends_run(plan, box_uid, &run));
    CU_ASSERT_NOT_EQUAL(run.how.status, 0);
    const struct laz_backend_failure failure = {
        .size = sizeof failure,
        .program = program,
        .output = laz_buf_text(&run.errs),
        .output_len = run.errs.len,
        .exit_status = run.how.status,
    };
    CU_ASSERT_EQUAL(bwrap->explain(&failure, text, sizeof text), 0);
    if (!strstr(text, "max_user_namespaces"))
        UNIT_TEXT(text, "... max_user_namespaces ...");
    backends_run_fini(&run);
    laz_plan_free(plan);
    free(program);
}

static const struct unit_test tests[] = {
    UNIT(live_bwrap_hides_files_of_the_host),
    UNIT(live_bwrap_writes_nowhere_but_home_and_shm),
    UNIT(live_bwrap_shows_what_the_settings_name),
    UNIT(live_bwrap_bounds_home_and_shm),
    UNIT(live_bwrap_leaves_the_kernels_knobs_alone),
    UNIT(live_bwrap_covers_what_proc_tells_of_the_host),
    UNIT(live_bwrap_has_few_devices),
    UNIT(live_bwrap_has_the_listed_programs_and_no_others),
    UNIT(live_bwrap_empties_directories_of_programs_among_libraries),
    UNIT(live_bwrap_has_no_network),
    UNIT(live_bwrap_sees_and_hurts_no_process),
    UNIT(live_bwrap_counts_the_processes_of_the_box_alone),
    UNIT(live_bwrap_refuses_nested_namespaces),
    UNIT(live_bwrap_gives_no_rights),
    UNIT(live_bwrap_inherits_nothing),
    UNIT(live_bwrap_tells_its_namespace_and_the_exit),
    UNIT(live_bwrap_ends_with_its_outermost_process),
    UNIT(live_bwrap_ends_with_the_engine),
    UNIT(live_bwrap_explains_a_box_within_a_box),
    {0},
};

/* Makes the directory of a run, with the probe and a directory for the socket. */
static bool prepare(void)
{
    struct backends_run run;
    static const char *const args[] = {"exit", "0", NULL};

    snprintf(base, sizeof base, "/tmp/laz-test-box-XXXXXX");
    if (!mkdtemp(base) || chmod(base, 0755) != 0)
        return false;
    snprintf(probe, sizeof probe, "%s/probe", base);
    if (laz_os_copy_file(source, probe, 0755, NULL) ||
        laz_os_make_directory(in_base("socket"), 0700, box_uid, box_uid, NULL))
        return false;
    struct laz_plan *plan = plan_for(bwrap, args);
    if (!plan)
        return false;
    if (access("/usr/bin/bwrap", X_OK) == 0 || access("/bin/bwrap", X_OK) == 0 ||
        access("/usr/local/bin/bwrap", X_OK) == 0) {
        box_works = backends_run(plan, box_uid, &run) && run.how.known && run.how.status == 0;
        if (!box_works)
            printf("\n    %s\n", laz_buf_text(&run.errs));
        backends_run_fini(&run);
    }
    laz_plan_free(plan);
    return true;
}

static int run_here(const char *suite)
{
    if (!prepare()) {
        printf("the tests cannot be prepared\n");
        return 1;
    }
    int rc = unit_run(suite, tests);
    laz_os_remove_tree(base);
    return rc;
}

/* Runs the same tests as an ordinary user. */
static int run_as_ordinary_user(void)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        if (setgroups(0, NULL) != 0 || setresgid(ORDINARY_UID, ORDINARY_UID, ORDINARY_UID) != 0 ||
            setresuid(ORDINARY_UID, ORDINARY_UID, ORDINARY_UID) != 0)
            _exit(1);
        _exit(run_here("box of an ordinary user"));
    }
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(void)
{
    char directory[] = "/tmp/laz-test-source-XXXXXX";
    const struct laz_plugin *plugin = backends_load("bwrap");
    static const char *const set[] = {"ASAN_OPTIONS=detect_leaks=0", NULL};
    int rc = 0;

    if (!plugin || !mkdtemp(directory) || chmod(directory, 0755) != 0)
        return 1;
    bwrap = plugin->ops;
    values.sandbox.tmp_size = TMP_SIZE;
    values.limits = (struct laz_limit_values){.cpu_s = 60,
                                              .memory_bytes = 512u << 20,
                                              .fsize_bytes = 50u << 20,
                                              .nproc = 50,
                                              .nofile = 256,
                                              .session_cpu_s = 60,
                                              .stack_bytes = LAZ_UNLIMITED};
    laz_strv_add(&values.env.set, set[0]);
    snprintf(source, sizeof source, "%s/probe", directory);
    if (laz_os_copy_file(backends_built("probe"), source, 0755, NULL)) {
        rc = 1;
    } else if (laz_os_is_root()) {
        rc = run_as_ordinary_user();
        box_uid = BOX_UID_OUTSIDE;
        rc |= run_here("box started by root");
    } else {
        rc = run_here("box of an ordinary user");
    }
    laz_os_remove_tree(directory);
    laz_strv_fini(&values.env.set);
    return rc;
}
