/* SPDX-License-Identifier: MIT */
/* test_cgroup.c - control groups: the kernel's texts, groups made for real, and hosts without any.
 * A host of another kind (no groups, read-only ones) is tested by a child in a mount namespace of
 * its own; its exit status is the number of the line that failed. */
#include "unit.h"

#include "os/cgroup.h"
#include "os/cgroup_text.h"
#include "os/descriptors.h"
#include "os/files.h"
#include "os/linux/cgroup.h"
#include "os/spawner.h"
#include "os/users.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB ((uint64_t)1 << 20)

/* ---- texts ---------------------------------------------------------------------------------- */

static const char both_mounts[] =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:7 master:2 - cgroup cgroup "
    "rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "41 31 0:38 / /sys/fs/cgroup/uni\\040fied rw - cgroup2 cgroup2 rw\n"
    "42 31 0:39 /outer/box /mnt/pids rw - cgroup cgroup rw,pids\n";

static const char both_self[] = "9:name=systemd:/\n"
                                "8:pids:/outer/box/in\n"
                                "4:memory:/a:b/c\n"
                                "2:cpu,cpuacct:/\n"
                                "0::/user.slice\n";

static void cgroup_directory_is_where_the_mount_shows_it(void)
{
    static const struct {
        const char *mountinfo, *self, *controller, *directory;
        size_t top;
    } rows[] = {
        {both_mounts, both_self, "memory", "/sys/fs/cgroup/memory/a:b/c", 21},
        {both_mounts, both_self, "cpuacct", "/sys/fs/cgroup/cpu,cpuacct", 26},
        {both_mounts, both_self, "", "/sys/fs/cgroup/uni fied/user.slice", 23},
        {both_mounts, both_self, "pids", "/mnt/pids/in", 9},
        {both_mounts, "8:pids:/outer/box\n", "pids", "/mnt/pids", 9},
        {both_mounts, "8:pids:/outer/boxes\n", "pids", NULL, 0}, /* outside of the mounted part */
        {both_mounts, "8:pids:/\n", "pids", NULL, 0},
        {both_mounts, "8:pids:/../other\n", "pids", NULL, 0},
        {both_mounts, "0::/..\n", "", NULL, 0},
        {both_mounts, "4:memory:relative\n", "memory", NULL, 0},
        {both_mounts, "0::/x\n", "memory", NULL, 0},
        {both_mounts, "4:mem:/x\n", "memory", NULL, 0},
        {both_mounts, "4:hugetlb,memory:/x", "memory", "/sys/fs/cgroup/memory/x", 21},
        {both_mounts, "no colon\n\n4:memory\n", "memory", NULL, 0},
        {both_mounts, "", "memory", NULL, 0},
        {"", both_self, "memory", NULL, 0},
        {"1 2 3\n\n35 31 0:32 / /x rw -\n", both_self, "memory", NULL, 0},
        {"35 31 0:32 / /x rw - cgroup cgroup", both_self, "memory", NULL, 0},
        {"35 31 0:32 / /x rw - cgroup2 none rw,memory\n", both_self, "memory", NULL, 0},
        {"30 1 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
         "0::/system.slice/x.service\n", "", "/sys/fs/cgroup/system.slice/x.service", 14},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t top = 0;
        char *directory =
            laz_cgroup_directory(rows[i].mountinfo, rows[i].self, rows[i].controller, &top);
        UNIT_TEXT(directory ? directory : "(none)",
                  rows[i].directory ? rows[i].directory : "(none)");
        if (rows[i].directory)
            CU_ASSERT_EQUAL(top, rows[i].top);
        free(directory);
    }
}

static void cgroup_counters_are_whole_lines(void)
{
    static const char events[] = "low 0\nhigh 0\nmax 17\noom 2\noom_kill 1\noom_group_kill 9\n";
    static const struct {
        const char *text, *key;
        bool there;
        uint64_t value;
    } rows[] = {
        {events, "oom_kill", true, 1},
        {events, "oom", true, 2},
        {events, "max", true, 17},
        {events, "kill", false, 0},
        {events, "", false, 0},
        {"", "oom", false, 0},
        {"oom_kill 3", "oom_kill", true, 3},
        {"oom_kill x\n", "oom_kill", false, 0},
        {"oom_kill -1\n", "oom_kill", false, 0},
        {"oom_kill 1x\n", "oom_kill", false, 0},
        {"oom_kill_disable 0\nunder_oom 0\noom_kill 4\n", "oom_kill", true, 4},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t value = 0;
        CU_ASSERT_EQUAL(laz_cgroup_counter(rows[i].text, rows[i].key, &value), rows[i].there);
        if (rows[i].there)
            CU_ASSERT_EQUAL(value, rows[i].value);
    }
}

static void cgroup_names_are_ours_or_nobodys(void)
{
    static const char *const others[] = {"lazaret",           "lazaret-1-2-3",
                                         "lazaret-1-2-3-4-5", "lazaret-1-2-3-",
                                         "lazaret-1-2-3-x",   "lazaret--1-2-3",
                                         "lazaret-1-2-3-4 ",  "lazarets-1-2-3-4",
                                         "user.slice",        ""};
    struct laz_cgroup_name name;

    CU_ASSERT_TRUE(laz_cgroup_name_parse("lazaret-4026531836-77-123456-0", &name));
    CU_ASSERT_EQUAL(name.pid_namespace, 4026531836);
    CU_ASSERT_EQUAL(name.pid, 77);
    CU_ASSERT_EQUAL(name.start, 123456);
    CU_ASSERT_EQUAL(name.number, 0);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CU_ASSERT_FALSE(laz_cgroup_name_parse(others[i], &name));
}

/* ---- groups --------------------------------------------------------------------------------- */

/* False, with a skip, when this user cannot make groups. */
static bool groups_of_this_host(struct laz_cgroups **groups)
{
    CU_ASSERT_EQUAL_FATAL(laz_cgroups_new(false, groups, NULL), 0);
    if (laz_cgroups_mechanism(*groups, LAZ_CGROUP_MEMORY, false) &&
        laz_cgroups_mechanism(*groups, LAZ_CGROUP_PIDS, false) &&
        laz_cgroups_mechanism(*groups, LAZ_CGROUP_CPU, false))
        return true;
    laz_cgroups_free(*groups);
    unit_skip("root", "no control group can be created here");
    return false;
}

/* Runs a line of sh in the group, with its output in *out; *held reaches its end when the last
 * process of it has ended. */
static void start_in(struct laz_cgroup *group, const char *line, struct laz_spawner *spawner,
                     struct laz_process *process, int *out, int *held)
{
    const char *const argv[] = {"/bin/sh", "-c", line, NULL};
    const char *const env[] = {"PATH=/usr/bin:/bin", NULL};
    struct laz_cgroup_door door;
    struct laz_error err = {0};
    int ends[2] = {-1, -1};

    CU_ASSERT_EQUAL_FATAL(laz_cgroup_open(group, &door, &err), 0);
    CU_ASSERT_EQUAL_FATAL(laz_os_cloexec_pipe(out, &ends[0], NULL), 0);
    if (held)
        CU_ASSERT_EQUAL_FATAL(laz_os_cloexec_pipe(held, &ends[1], NULL), 0);
    struct laz_spawn_fd fds[] = {{ends[0], 1}, {ends[1], 3}};
    struct laz_spawn spawn = {.argv = argv,
                              .env = env,
                              .fds = fds,
                              .n_fds = held ? 2 : 1,
                              .uid = LAZ_SPAWN_SAME_ID,
                              .gid = LAZ_SPAWN_SAME_ID,
                              .group = true,
                              .cgroup = &door,
                              .death_signal = SIGKILL};
    int rc = laz_spawner_spawn(spawner, &spawn, process, &err);
    if (rc)
        printf("\n    %s\n", err.text);
    CU_ASSERT_EQUAL_FATAL(rc, 0);
    laz_os_close(&ends[0]);
    laz_os_close(&ends[1]);
    laz_cgroup_close(&door);
}

static void read_all(int fd, struct laz_buf *text)
{
    char block[512];
    ssize_t n;

    while ((n = read(fd, block, sizeof block)) > 0)
        laz_buf_append(text, block, (size_t)n);
}

/* Counts the groups with this program's names in the directory of the memory groups. */
static int groups_left(void)
{
    FILE *found = popen("find /sys/fs/cgroup -maxdepth 5 -type d -name "
                        "\"lazaret-$(stat -Lc %i /proc/self/ns/pid)-$PPID-*\"",
                        "re");
    char block[256];
    int lines = 0;

    while (found && fgets(block, sizeof block, found))
        lines++;
    if (found)
        pclose(found);
    return lines;
}

/* A daemon and eight children: more than six processes, fewer than sixty. None escapes. */
static void live_group_limits_processes_and_ends_them(void)
{
    static const char line[] = "exec 2>/dev/null; echo in; (setsid sleep 300 >/dev/null &); "
                               "for i in 1 2 3 4 5 6 7 8; do sleep 300 >/dev/null & done; echo all";
    static const struct {
        uint64_t pids;
        const char *said;
    } rows[] = {{6, "in\n"}, {60, "in\nall\n"}};
    struct laz_cgroups *groups;
    struct laz_spawner *spawner = NULL;

    if (!groups_of_this_host(&groups))
        return;
    CU_ASSERT_EQUAL_FATAL(laz_spawner_new(&spawner, NULL), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_cgroup *group = NULL;
        struct laz_process process = LAZ_PROCESS_INIT;
        struct laz_buf said = LAZ_BUF_INIT;
        struct laz_exit how = {0};
        int out = -1, held = -1;
        CU_ASSERT_FATAL(!laz_cgroup_new(groups, 64 * MIB, rows[i].pids, false, &group, NULL));
        CU_ASSERT(groups_left() >= 1);
        start_in(group, line, spawner, &process, &out, &held);
        read_all(out, &said);
        UNIT_TEXT(laz_buf_text(&said), rows[i].said);
        CU_ASSERT_TRUE(laz_process_wait(&process, UNIT_HANG_MS, &how));
        CU_ASSERT_EQUAL(how.status == 0, rows[i].pids == 60);
        struct pollfd left = {.fd = held, .events = POLLIN};
        CU_ASSERT_EQUAL(poll(&left, 1, 0), 0); /* the children of the shell are alive */
        CU_ASSERT_EQUAL(laz_cgroup_out_of_memory(group), 0);
        laz_cgroup_kill(group);
        CU_ASSERT_EQUAL(poll(&left, 1, UNIT_HANG_MS), 1); /* no process holds the other end */
        CU_ASSERT_TRUE(laz_cgroup_end(group));
        laz_os_close(&held);
        laz_os_close(&out);
        laz_process_close(&process);
        laz_buf_fini(&said);
        laz_cgroup_free(group);
    }
    laz_spawner_free(spawner);
    laz_cgroups_free(groups);
    CU_ASSERT_EQUAL(groups_left(), 0);
}

static volatile sig_atomic_t n_signals;

static void signal_came(int number)
{
    (void)number;
    n_signals++;
}

/* Version 1 breaks off the writing of a limit of memory when a signal has come, with EINTR,
 * whatever its handler says (mem_cgroup_resize_max in Linux): an application may have timers and
 * children. */
static void live_group_is_limited_whatever_signals_come(void)
{
    const struct itimerval often = {{0, 20}, {0, 20}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = signal_came, .sa_flags = SA_RESTART}, former;
    struct laz_cgroups *groups;
    struct laz_error err = {0};
    int rc = 0;

    if (!groups_of_this_host(&groups))
        return;
    CU_ASSERT_FATAL(sigaction(SIGALRM, &action, &former) == 0);
    CU_ASSERT_FATAL(setitimer(ITIMER_REAL, &often, NULL) == 0);
    for (int i = 0; i < 50 && !rc; i++) {
        struct laz_cgroup *group = NULL;
        rc = laz_cgroup_new(groups, 64 * MIB, 10, false, &group, &err);
        laz_cgroup_free(group);
    }
    CU_ASSERT(setitimer(ITIMER_REAL, &never, NULL) == 0);
    CU_ASSERT(sigaction(SIGALRM, &former, NULL) == 0);
    if (rc)
        printf("\n    %s\n", err.text);
    CU_ASSERT_EQUAL(rc, 0);
    CU_ASSERT(n_signals > 0);
    laz_cgroups_free(groups);
}

static void live_group_is_entered_at_once_and_counts(void)
{
    struct laz_cgroups *groups;
    struct laz_cgroup *group = NULL;
    struct laz_spawner *spawner = NULL;
    struct laz_process process = LAZ_PROCESS_INIT;
    struct laz_buf said = LAZ_BUF_INIT;
    struct laz_exit how = {0};
    int out = -1;

    if (!groups_of_this_host(&groups))
        return;
    CU_ASSERT_EQUAL_FATAL(laz_spawner_new(&spawner, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(
        laz_cgroup_new(groups, LAZ_CGROUP_NO_LIMIT, LAZ_CGROUP_NO_LIMIT, false, &group, NULL), 0);
    CU_ASSERT_EQUAL(laz_cgroup_event(group).fd, -1);
    start_in(group,
             "while read l; do case $l in *lazaret-*) echo $l; esac; done </proc/self/cgroup; "
             "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done",
             spawner, &process, &out, NULL);
    read_all(out, &said);
    CU_ASSERT_TRUE(laz_process_wait(&process, UNIT_HANG_MS, &how));
    CU_ASSERT_EQUAL(how.status, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(laz_buf_text(&said), "lazaret-"));
    CU_ASSERT(laz_cgroup_cpu_us(group) >= 1000);
    CU_ASSERT(laz_cgroup_cpu_us(group) < 20000000);
    laz_os_close(&out);
    laz_process_close(&process);
    laz_buf_fini(&said);
    laz_cgroup_free(group);
    laz_spawner_free(spawner);
    laz_cgroups_free(groups);
}

/* The name of the group in which a new one was made, if it was made by this program; else "". */
static void nest_of_new(struct laz_cgroups *groups, bool to_enter, char *nest, size_t size)
{
    struct laz_cgroup *group = NULL;
    int entries[LAZ_CGROUP_WHATS];
    size_t n = 0;

    *nest = '\0';
    CU_ASSERT_FATAL(
        !laz_cgroup_new(groups, LAZ_CGROUP_NO_LIMIT, LAZ_CGROUP_NO_LIMIT, to_enter, &group, NULL));
    CU_ASSERT_EQUAL_FATAL(laz_cgroup_entries(group, entries, &n, NULL), 0);
    while (n) {
        char link[48], path[4200] = "";
        snprintf(link, sizeof link, "/proc/self/fd/%d", entries[--n]);
        CU_ASSERT(readlink(link, path, sizeof path - 1) > 0);
        char *first = strstr(path, "/lazaret-");
        if (first && strstr(first + 1, "/lazaret-"))
            snprintf(nest, size, "%.*s", (int)strcspn(first + 1, "/"), first + 1);
        close(entries[n]);
    }
    laz_cgroup_free(group);
}

/* So all groups together get the host's share, divided equally. */
static void live_groups_share_the_processors_in_one_nest(void)
{
    char nests[2][256], other[256];
    struct laz_cgroup_name name;
    struct laz_cgroups *groups, *others;

    if (!groups_of_this_host(&groups))
        return;
    if (!laz_cgroups_mechanism(groups, LAZ_CGROUP_SHARE, false)) {
        unit_skip("cgroup-cpu", "no group can have a share of the processors here");
        laz_cgroups_free(groups);
        return;
    }
    CU_ASSERT_EQUAL_FATAL(laz_cgroups_new(false, &others, NULL), 0);
    for (int i = 0; i < 2; i++)
        nest_of_new(groups, i == 1, nests[i], sizeof nests[i]);
    nest_of_new(others, false, other, sizeof other);
    CU_ASSERT(laz_cgroup_name_parse(nests[0], &name) && laz_cgroup_name_parse(other, &name));
    UNIT_TEXT(nests[1], nests[0]);
    CU_ASSERT(strcmp(other, nests[0]) != 0);
    laz_cgroups_free(others);
    laz_cgroups_free(groups);
    CU_ASSERT_EQUAL(groups_left(), 0);
}

/* Engines of a group share one nest, whichever ends first; their groups have names of their own. */
static void live_engines_of_a_group_have_one_nest(void)
{
    struct laz_cgroups *groups[3] = {NULL};
    char nests[3][256];

    if (!groups_of_this_host(&groups[0]))
        return;
    if (!laz_cgroups_mechanism(groups[0], LAZ_CGROUP_SHARE, false)) {
        unit_skip("cgroup-cpu", "no group can have a share of the processors here");
        laz_cgroups_free(groups[0]);
        return;
    }
    for (int i = 1; i < 3; i++)
        CU_ASSERT_EQUAL_FATAL(laz_cgroups_new_beside(groups[0], &groups[i], NULL), 0);
    for (int i = 0; i < 3; i++) {
        nest_of_new(groups[i], false, nests[i], sizeof nests[i]);
        CU_ASSERT(*nests[i] && strcmp(nests[i], nests[0]) == 0);
        CU_ASSERT_EQUAL(groups[i]->next.number >> 32, (uint64_t)i);
    }
    laz_cgroups_free(groups[0]);
    nest_of_new(groups[1], true, nests[1], sizeof nests[1]);
    UNIT_TEXT(nests[1], nests[2]);
    laz_cgroups_free(groups[2]);
    CU_ASSERT(groups_left() > 0);
    laz_cgroups_free(groups[1]);
    CU_ASSERT_EQUAL(groups_left(), 0);
    CU_ASSERT_EQUAL_FATAL(laz_cgroups_new_beside(NULL, &groups[0], NULL), 0);
    laz_cgroups_free(groups[0]);
}

/* A child enters the group by itself and reports it; then another is moved in by its process id. */
static void live_group_is_entered_through_its_files(void)
{
    struct laz_cgroups *groups;
    struct laz_cgroup *group = NULL;
    int entries[LAZ_CGROUP_WHATS], said[2], held[2];
    size_t n = 0;
    char byte;

    if (!groups_of_this_host(&groups))
        return;
    CU_ASSERT_EQUAL_FATAL(laz_cgroup_new(groups, 32 * MIB, 20, true, &group, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_cgroup_entries(group, entries, &n, NULL), 0);
    CU_ASSERT(n >= 1 && n <= LAZ_CGROUP_WHATS);
    CU_ASSERT_FALSE(laz_cgroup_has(group, getpid()));
    for (int by_itself = 1; by_itself >= 0; by_itself--) {
        CU_ASSERT_EQUAL_FATAL(pipe2(said, O_CLOEXEC), 0);
        CU_ASSERT_EQUAL_FATAL(pipe2(held, O_CLOEXEC), 0);
        pid_t pid = fork();
        if (pid == 0) {
            close(held[1]);
            for (size_t i = 0; i < n && by_itself; i++)
                if (write(entries[i], "0", 1) != 1)
                    _exit(1);
            _exit(write(said[1], "x", 1) != 1 || read(held[0], &byte, 1) != 0);
        }
        CU_ASSERT_EQUAL(read(said[0], &byte, 1), 1);
        CU_ASSERT_EQUAL(laz_cgroup_has(group, pid), by_itself);
        if (!by_itself)
            CU_ASSERT_EQUAL(laz_cgroup_put(group, pid, NULL), 0);
        CU_ASSERT_TRUE(laz_cgroup_has(group, pid));
        close(said[0]), close(said[1]), close(held[0]), close(held[1]);
        waitpid(pid, NULL, 0);
        CU_ASSERT_FALSE(laz_cgroup_has(group, pid));
    }
    while (n)
        close(entries[--n]);
    laz_cgroup_free(group);
    laz_cgroups_free(groups);
}

/* Starts a process that enters the group by itself, uses 8 MiB and some CPU time, and ends. `name`
 * gets the name of its group. */
static void live_use(const struct laz_cgroup *group, char *name, size_t size)
{
    int entries[LAZ_CGROUP_WHATS], said[2];
    size_t n = 0;

    CU_ASSERT_EQUAL_FATAL(laz_cgroup_entries(group, entries, &n, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(pipe2(said, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char text[8192];
        for (size_t i = 0; i < n; i++)
            if (write(entries[i], "0", 1) != 1)
                _exit(1);
        memset(malloc(8 * MIB), 1, 8 * MIB);
        for (clock_t end = clock() + CLOCKS_PER_SEC / 20; clock() < end;)
            ;
        int fd = open("/proc/self/cgroup", O_RDONLY);
        ssize_t got = read(fd, text, sizeof text - 1);
        text[got > 0 ? got : 0] = '\0';
        char *at = strstr(text, "/lazaret-");
        if (at)
            at[strcspn(at, "\n")] = '\0';
        _exit(!at || write(said[1], at, strlen(at)) < 0);
    }
    close(said[1]);
    ssize_t got = read(said[0], name, size - 1);
    name[got > 0 ? got : 0] = '\0';
    CU_ASSERT(got > 0);
    close(said[0]);
    waitpid(pid, NULL, 0);
    while (n)
        close(entries[--n]);
}

static void live_group_is_kept_when_it_is_as_new(void)
{
    struct laz_cgroups *groups;
    struct laz_cgroup *group = NULL;
    char first[256], next[256];

    if (!groups_of_this_host(&groups))
        return;
    const char *memory = laz_cgroups_mechanism(groups, LAZ_CGROUP_MEMORY, true);
    const char *cpu = laz_cgroups_mechanism(groups, LAZ_CGROUP_CPU, true);
    const char *pids = laz_cgroups_mechanism(groups, LAZ_CGROUP_PIDS, true);
    const char *const all[] = {memory, cpu, pids};
    bool can_keep = true;
    for (int i = 0; i < 3; i++)
        can_keep = can_keep && (!all[i] || strcmp(all[i], "cgroup-v1") == 0);
    CU_ASSERT_EQUAL_FATAL(laz_cgroup_new(groups, 32 * MIB, 20, true, &group, NULL), 0);
    for (int i = 0; i < 3; i++) {
        /* neither its memory nor its usage is carried over */
        CU_ASSERT(!memory || i == 0 || laz_cgroup_peak_bytes(group) < 2 * MIB);
        CU_ASSERT(!cpu || laz_cgroup_cpu_us(group) < 20000);
        live_use(group, i ? next : first, sizeof first);
        CU_ASSERT(!memory || laz_cgroup_peak_bytes(group) > 8 * MIB);
        CU_ASSERT(!cpu || laz_cgroup_cpu_us(group) > 30000);
        if (i)
            CU_ASSERT_EQUAL(strcmp(first, next) == 0, can_keep);
        laz_cgroup_free(group);
        CU_ASSERT_EQUAL_FATAL(laz_cgroup_new(groups, 32 * MIB, 20, true, &group, NULL), 0);
    }
    /* with other limits, or after a kill, a different group is made */
    laz_cgroup_free(group);
    CU_ASSERT_EQUAL_FATAL(laz_cgroup_new(groups, 16 * MIB, 20, true, &group, NULL), 0);
    live_use(group, next, sizeof next);
    CU_ASSERT(strcmp(first, next) != 0);
    laz_cgroup_kill(group);
    snprintf(first, sizeof first, "%s", next);
    laz_cgroup_free(group);
    CU_ASSERT_EQUAL_FATAL(laz_cgroup_new(groups, 16 * MIB, 20, true, &group, NULL), 0);
    live_use(group, next, sizeof next);
    CU_ASSERT(strcmp(first, next) != 0);
    laz_cgroup_free(group);
    laz_cgroups_free(groups);
}

static const char eat[] = "a=x; while :; do a=$a$a; done";

static int descriptors_open(void)
{
    int n = 0;

    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) != -1;
    return n;
}

/* One to be kept that nobody has asked: whether memory ran out in it is found when it is freed. */
static void live_group_that_is_freed_has_no_descriptor(void)
{
    struct laz_cgroups *groups;
    struct laz_cgroup *group = NULL;
    struct laz_spawner *spawner = NULL;
    struct laz_process process = LAZ_PROCESS_INIT;
    int out = -1;

    if (!groups_of_this_host(&groups))
        return;
    CU_ASSERT_EQUAL_FATAL(laz_spawner_new(&spawner, NULL), 0);
    const int before = descriptors_open();
    CU_ASSERT_EQUAL_FATAL(laz_cgroup_new(groups, 32 * MIB, 20, true, &group, NULL), 0);
    start_in(group, eat, spawner, &process, &out, NULL);
    CU_ASSERT_TRUE(laz_process_wait(&process, UNIT_HANG_MS, NULL));
    laz_os_close(&out);
    laz_process_close(&process);
    laz_cgroup_free(group);
    CU_ASSERT_EQUAL(descriptors_open(), before);
    laz_spawner_free(spawner);
    laz_cgroups_free(groups);
}

static void live_group_tells_that_memory_ran_out(void)
{
    struct laz_cgroups *groups;
    struct laz_cgroup *group = NULL;
    struct laz_spawner *spawner = NULL;
    struct laz_process process = LAZ_PROCESS_INIT;
    struct laz_exit how = {0};
    int out = -1;

    if (!groups_of_this_host(&groups))
        return;
    CU_ASSERT_EQUAL_FATAL(laz_spawner_new(&spawner, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_cgroup_new(groups, 32 * MIB, 20, false, &group, NULL), 0);
    const struct laz_cgroup_event its = laz_cgroup_event(group);
    struct pollfd event = {.fd = its.fd, .events = its.is_urgent ? POLLPRI : POLLIN};
    CU_ASSERT_EQUAL(poll(&event, 1, 0), 0);
    start_in(group, eat, spawner, &process, &out, NULL);
    CU_ASSERT_EQUAL(poll(&event, 1, UNIT_HANG_MS), 1);
    CU_ASSERT_TRUE(laz_process_wait(&process, UNIT_HANG_MS, &how));
    CU_ASSERT_EQUAL(how.signal, SIGKILL);
    CU_ASSERT(laz_cgroup_out_of_memory(group) >= 1);
    CU_ASSERT(laz_cgroup_peak_bytes(group) >= 30 * MIB);
    laz_os_close(&out);
    laz_process_close(&process);
    laz_cgroup_free(group);
    laz_spawner_free(spawner);
    laz_cgroups_free(groups);
}

static void live_groups_of_dead_hosts_are_swept(void)
{
    struct laz_cgroups *groups;
    int from[2], entered[2], status;
    char name[512];

    if (!groups_of_this_host(&groups))
        return;
    CU_ASSERT_EQUAL_FATAL(pipe2(from, O_CLOEXEC) | pipe2(entered, O_CLOEXEC), 0);
    fflush(stdout);
    pid_t host = fork();
    if (host == 0) { /* a host that exits without cleaning up, with a process in its group */
        struct laz_cgroups *own = NULL;
        struct laz_cgroup *group = NULL;
        struct laz_cgroup_door door;
        bool good = laz_cgroups_new(false, &own, NULL) == 0 &&
                    laz_cgroup_new(own, 64 * MIB, 20, false, &group, NULL) == 0 &&
                    laz_cgroup_open(group, &door, NULL) == 0;
        pid_t left = good ? fork() : -1;
        if (left == 0) {
            for (size_t i = 0; i < door.n_tasks; i++)
                good = write(door.tasks[i], "0", 1) == 1 && good;
            int procs = door.into < 0 ? -1 : openat(door.into, "cgroup.procs", O_WRONLY);
            good = (door.into < 0 || write(procs, "0", 1) == 1) && good;
            if (!good || write(entered[1], "y", 1) != 1)
                _exit(1);
            for (;;)
                pause();
        }
        laz_os_close(&entered[1]);
        good = good && read(entered[0], name, 1) == 1; /* any host may clean up from here */
        _exit(left > 0 && good ? 0 : 1);
    }
    CU_ASSERT_EQUAL(waitpid(host, &status, 0), host);
    CU_ASSERT_EQUAL(status, 0);
    laz_os_close(&from[1]);
    struct laz_cgroups *next = NULL;
    CU_ASSERT_EQUAL(laz_cgroups_new(false, &next, NULL), 0); /* this one removes them */
    CU_ASSERT_EQUAL(read(from[0], name, 1), 0); /* the end: its last holder has ended */
    laz_cgroups_free(next);
    snprintf(name, sizeof name,
             "find /sys/fs/cgroup -name \"lazaret-$(stat -Lc %%i /proc/self/ns/pid)-%d-*\" "
             "2>/dev/null | grep -q .",
             host);
    while (system(name) == 0) { /* may still be ending: the next host removes it */
        CU_ASSERT_EQUAL(laz_cgroups_new(false, &next, NULL), 0);
        laz_cgroups_free(next);
    }
    laz_os_close(&from[0]);
    laz_os_close(&entered[0]);
    laz_os_close(&entered[1]);
    laz_cgroups_free(groups);
}

/* In the group `directory`: a host that exits without cleaning up, or one that comes after it. */
static void host_in(const char *directory, bool dies)
{
    char path[4300];
    int status = -1;

    fflush(stdout);
    pid_t host = fork();
    if (host == 0) {
        struct laz_cgroups *own = NULL;
        struct laz_cgroup *group = NULL;
        snprintf(path, sizeof path, "%s/tasks", directory);
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        bool good = write(fd, "0", 1) == 1 && laz_cgroups_new(false, &own, NULL) == 0;
        if (dies)
            _exit(good && laz_cgroup_new(own, MIB, 9, false, &group, NULL) == 0 ? 0 : 1);
        laz_cgroups_free(own);
        _exit(good ? 0 : 1);
    }
    CU_ASSERT_EQUAL(waitpid(host, &status, 0), host);
    CU_ASSERT_EQUAL(status, 0);
}

static void live_groups_of_hosts_that_were_beside_are_swept(void)
{
    struct laz_buf mountinfo = LAZ_BUF_INIT, self = LAZ_BUF_INIT;
    struct laz_cgroups *groups;
    char a[4200], b[4200];
    size_t top;

    if (!groups_of_this_host(&groups))
        return;
    if (strcmp(laz_cgroups_mechanism(groups, LAZ_CGROUP_MEMORY, false), "cgroup-v1") != 0) {
        /* version 2 delegates only from groups without processes, so all hosts share a site */
        unit_skip("cgroup-v1", "the groups of all hosts are made in one site");
        laz_cgroups_free(groups);
        return;
    }
    CU_ASSERT_EQUAL_FATAL(laz_os_read_file("/proc/self/mountinfo", MIB, &mountinfo, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_os_read_file("/proc/self/cgroup", MIB, &self, NULL), 0);
    char *own = laz_cgroup_directory(laz_buf_text(&mountinfo), laz_buf_text(&self), "memory", &top);
    snprintf(a, sizeof a, "%s/test-%d-a", own, (int)getpid());
    snprintf(b, sizeof b, "%s/test-%d-b", own, (int)getpid());
    CU_ASSERT_EQUAL_FATAL(mkdir(a, 0755), 0);
    CU_ASSERT_EQUAL_FATAL(mkdir(b, 0755), 0);
    host_in(a, true);
    CU_ASSERT(rmdir(a) != 0 && errno == EBUSY);
    host_in(b, false);
    /* until it is empty: groups whose processes are still ending are left to the next host */
    while (rmdir(a) != 0)
        host_in(b, false);
    while (rmdir(b) != 0 && errno == EBUSY)
        poll(NULL, 0, 5);
    laz_buf_fini(&mountinfo);
    laz_buf_fini(&self);
    free(own);
    laz_cgroups_free(groups);
}

/* ---- hosts that give none ------------------------------------------------------------------- */

#define HOLDS(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            _exit(__LINE__ % 256 ? __LINE__ % 256 : 255);                                          \
    } while (0)

static bool gives_nothing(void)
{
    struct laz_cgroups *groups = NULL;
    bool nothing = laz_cgroups_new(false, &groups, NULL) == 0;

    for (int what = 0; what < LAZ_CGROUP_WHATS; what++)
        nothing = nothing && !laz_cgroups_mechanism(groups, what, false);
    laz_cgroups_free(groups);
    return nothing;
}

static void without_groups(void)
{
    struct laz_cgroups *groups = NULL;
    struct laz_cgroup *group = NULL;
    struct laz_error err = {0};

    HOLDS(unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
    HOLDS(!gives_nothing()); /* the control: here groups are available */
    HOLDS(laz_cgroups_new(false, &groups, NULL) == 0);
    HOLDS(mount("none", "/sys/fs/cgroup", "tmpfs", MS_RDONLY, NULL) == 0);
    HOLDS(gives_nothing());
    /* the groups found before have disappeared: an error, and no invalid group */
    HOLDS(laz_cgroup_new(groups, MIB, 10, false, &group, &err) == LAZ_EOS && !group);
    HOLDS(strstr(err.text, "cannot be created"));
    laz_cgroups_free(groups);
    HOLDS(umount("/sys/fs/cgroup") == 0 && !gives_nothing());
    /* as in containers: the tree exists but is read-only */
    HOLDS(system("for m in $(awk '/ - cgroup/ {print $5}' /proc/self/mountinfo); do "
                 "mount -o remount,bind,ro $m || exit 1; done") == 0);
    HOLDS(gives_nothing());
    _exit(0);
}

static void groups_that_cannot_be_had_are_not_claimed(void)
{
    int status = -1;

    if (!laz_os_is_root()) {
        CU_ASSERT_EQUAL(laz_os_is_root(), false);
        unit_skip("root", "mounts over the control groups");
        return;
    }
    struct laz_cgroups *groups;
    if (!groups_of_this_host(&groups))
        return;
    laz_cgroups_free(groups);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        without_groups();
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    if (status)
        printf("\n    status %d: line %d or 256 more\n", status, WEXITSTATUS(status));
    CU_ASSERT_EQUAL(status, 0);
}

static const struct unit_test tests[] = {
    UNIT(cgroup_directory_is_where_the_mount_shows_it),
    UNIT(cgroup_counters_are_whole_lines),
    UNIT(cgroup_names_are_ours_or_nobodys),
    UNIT(live_group_limits_processes_and_ends_them),
    UNIT(live_group_is_limited_whatever_signals_come),
    UNIT(live_group_is_entered_at_once_and_counts),
    UNIT(live_groups_share_the_processors_in_one_nest),
    UNIT(live_engines_of_a_group_have_one_nest),
    UNIT(live_group_is_entered_through_its_files),
    UNIT(live_group_is_kept_when_it_is_as_new),
    UNIT(live_group_tells_that_memory_ran_out),
    UNIT(live_group_that_is_freed_has_no_descriptor),
    UNIT(live_groups_of_dead_hosts_are_swept),
    UNIT(live_groups_of_hosts_that_were_beside_are_swept),
    UNIT(groups_that_cannot_be_had_are_not_claimed),
    {0},
};

int main(void)
{
    return unit_run("cgroup", tests);
}
