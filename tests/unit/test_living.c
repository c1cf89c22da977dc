/* SPDX-License-Identifier: MIT */
/* test_living.c - when the host ends or removes something by an id or a name, it never hits
 * something alive: another host's control groups, another session's uid, a process with a reused
 * id.
 *
 * Each has a control: the same object is ended or removed when it is dead or its own. Tests that
 * could kill too much run in a process namespace of their own; the exit status of such a child is
 * the line of the failed check. */
#include "unit.h"

#include "os/cgroup.h"
#include "os/cgroup_text.h"
#include "os/descriptors.h"
#include "os/files.h"
#include "os/peer.h"
#include "os/pidfd.h"
#include "os/process_tree.h"
#include "os/spawner.h"
#include "os/uids.h"
#include "os/users.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/securebits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif
#define MIB ((uint64_t)1 << 20)

#define HOLDS(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            _exit(__LINE__ % 256 ? __LINE__ % 256 : 255);                                          \
    } while (0)

/* Runs a function in a child; 0, or the line of the failed check. */
static int in_child(void (*run)(void))
{
    int status = -1;

    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        run();
        _exit(0);
    }
    CU_ASSERT(pid > 0 && waitpid(pid, &status, 0) == pid);
    if (status)
        printf("\n    status %d: line %d or 256 more\n", status, WEXITSTATUS(status));
    return status;
}

/* ---- control groups of other hosts ---------------------------------------------------------- */

/* A host with one group and a process in it. */
struct living {
    pid_t host;
    int held; /* reaches its end when the process in the group ends */
};

static pid_t living_host; /* of the current row */

__attribute__((noreturn)) static void *living_wait(void *nothing)
{
    (void)nothing;
    for (;;)
        pause();
}

__attribute__((noreturn)) static void living_be_host(int to, bool first_thread_ends)
{
    struct laz_cgroups *own = NULL;
    struct laz_cgroup *group = NULL;
    struct laz_cgroup_door door;
    pthread_t thread;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    HOLDS(laz_cgroups_new(false, &own, NULL) == 0);
    HOLDS(laz_cgroup_new(own, 64 * MIB, 20, false, &group, NULL) == 0);
    HOLDS(laz_cgroup_open(group, &door, NULL) == 0);
    pid_t in = fork();
    if (in == 0) {
        bool good = true;
        for (size_t i = 0; i < door.n_tasks; i++)
            good = write(door.tasks[i], "0", 1) == 1 && good;
        int procs = door.into < 0 ? -1 : openat(door.into, "cgroup.procs", O_WRONLY);
        good = (door.into < 0 || write(procs, "0", 1) == 1) && good;
        HOLDS(write(to, good ? "y" : "n", 1) == 1);
        living_wait(NULL);
    }
    HOLDS(in > 0);
    laz_os_close(&to);
    if (first_thread_ends) {
        HOLDS(pthread_create(&thread, NULL, living_wait, NULL) == 0);
        syscall(SYS_exit, 0);
    }
    living_wait(NULL);
}

static bool living_start(struct living *living, bool first_thread_ends)
{
    int ends[2];
    char c = 'n';

    *living = (struct living){-1, -1};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    fflush(stdout);
    living->host = fork();
    if (living->host == 0)
        living_be_host(ends[1], first_thread_ends);
    laz_os_close(&ends[1]);
    living->held = ends[0];
    bool good = living->host > 0 && read(ends[0], &c, 1) == 1 && c == 'y';
    CU_ASSERT(good);
    return good;
}

static bool living_is_unhurt(const struct living *living)
{
    struct pollfd ended = {.fd = living->held, .events = POLLIN};

    return poll(&ended, 1, 0) == 0;
}

/* Kills the host; the next host then ends the processes in its group. */
static void living_end(struct living *living)
{
    struct laz_cgroups *next = NULL;
    struct pollfd ended = {.fd = living->held, .events = POLLIN};

    if (living->host > 0) {
        kill(living->host, SIGKILL);
        waitpid(living->host, NULL, 0);
        CU_ASSERT_EQUAL(laz_cgroups_new(false, &next, NULL), 0);
        CU_ASSERT_EQUAL(poll(&ended, 1, UNIT_HANG_MS), 1);
        laz_cgroups_free(next);
    }
    laz_os_close(&living->held);
}

static bool there_are_groups(void)
{
    struct laz_cgroups *groups = NULL;

    CU_ASSERT_EQUAL_FATAL(laz_cgroups_new(true, &groups, NULL), 0);
    bool are = laz_cgroups_mechanism(groups, LAZ_CGROUP_MEMORY, false) &&
               laz_cgroups_mechanism(groups, LAZ_CGROUP_PIDS, false);
    laz_cgroups_free(groups);
    if (!are)
        unit_skip("root", "no control group can be created here");
    return are;
}

static void sweep(void)
{
    struct laz_cgroups *groups = NULL;

    HOLDS(laz_cgroups_new(false, &groups, NULL) == 0);
    laz_cgroups_free(groups);
}

/* Cleans up as a host in a group below the one in which the others make theirs. */
static void sweep_from_below(void)
{
    struct laz_buf mountinfo = LAZ_BUF_INIT, self = LAZ_BUF_INIT;
    char below[512], procs[600], number[24];
    int status = -1;
    size_t top;

    HOLDS(laz_os_read_file("/proc/self/mountinfo", MIB, &mountinfo, NULL) == 0);
    HOLDS(laz_os_read_file("/proc/self/cgroup", MIB, &self, NULL) == 0);
    char *directory =
        laz_cgroup_directory(laz_buf_text(&mountinfo), laz_buf_text(&self), "cpu", &top);
    if (!directory) { /* version 2 allows no process in a group that delegates controllers */
        printf("    SKIP cpu: no control groups of version 1\n");
        fflush(stdout);
        return;
    }
    snprintf(below, sizeof below, "%s/below-%ld", directory, (long)getpid());
    snprintf(procs, sizeof procs, "%s/cgroup.procs", below);
    HOLDS(mkdir(below, 0755) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        int fd = open(procs, O_WRONLY | O_CLOEXEC);
        int n = snprintf(number, sizeof number, "%ld", (long)getpid());
        HOLDS(fd >= 0 && write(fd, number, (size_t)n) == n && close(fd) == 0);
        sweep();
        _exit(0);
    }
    HOLDS(waitpid(pid, &status, 0) == pid);
    while (rmdir(below) != 0)
        HOLDS(errno == EBUSY);
    HOLDS(status == 0);
}

/* Cleans up without access to /proc of the host. */
static void sweep_without_an_answer(void)
{
    char path[48];

    snprintf(path, sizeof path, "/proc/%ld/stat", (long)living_host);
    HOLDS(unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
    HOLDS(mount("/dev/null", path, NULL, MS_BIND, NULL) == 0);
    sweep();
}

/* Cleans up with a different boot clock, which changes the start time of every process. */
static void sweep_in_another_time(void)
{
    int fd = unshare(CLONE_NEWTIME) == 0 ? open("/proc/self/timens_offsets", O_WRONLY) : -1;
    int status = -1;

    HOLDS(fd >= 0 && write(fd, "boottime 86400 0", 16) == 16 && close(fd) == 0);
    pid_t pid = fork(); /* only children are in the new namespace */
    if (pid == 0) {
        sweep();
        _exit(0);
    }
    HOLDS(waitpid(pid, &status, 0) == pid && status == 0);
}

/* Cleans up in a process namespace that sees /proc of its parent namespace. */
static void sweep_in_another_namespace(void)
{
    int status = -1;

    HOLDS(unshare(CLONE_NEWPID) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        sweep();
        _exit(0);
    }
    HOLDS(waitpid(pid, &status, 0) == pid && status == 0);
}

static void groups_of_living_hosts_are_left_alone(void)
{
    static const struct {
        const char *how;
        void (*sweep)(void);
        bool first_thread_ends, root;
    } rows[] = {
        {"plainly", sweep, false, false},
        {"its first thread has ended", sweep, true, false},
        {"/proc tells nothing about it", sweep_without_an_answer, false, true},
        {"in another time namespace", sweep_in_another_time, false, true},
        {"in another process namespace", sweep_in_another_namespace, false, true},
    };

    if (!there_are_groups())
        return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct living living;
        if (rows[i].root && !laz_os_is_root())
            continue;
        if (living_start(&living, rows[i].first_thread_ends)) {
            living_host = living.host;
            CU_ASSERT_EQUAL(in_child(rows[i].sweep), 0);
            if (!living_is_unhurt(&living))
                printf("\n    swept though its host lives: %s", rows[i].how);
            CU_ASSERT(living_is_unhurt(&living));
        }
        living_end(&living);
    }
}

/* The first process of a new namespace: makes a group, reports the namespace, and waits to be
 * killed. */
__attribute__((noreturn)) static void be_apart(int tell)
{
    struct laz_cgroups *own = NULL;
    struct laz_cgroup *group = NULL;
    struct stat st;

    HOLDS(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
    HOLDS(mount("proc", "/proc", "proc", 0, NULL) == 0);
    HOLDS(stat("/proc/self/ns/pid", &st) == 0);
    HOLDS(laz_cgroups_new(false, &own, NULL) == 0);
    HOLDS(laz_cgroup_new(own, 64 * MIB, 20, false, &group, NULL) == 0);
    const unsigned long long inode = (unsigned long long)st.st_ino;
    HOLDS(write(tell, &inode, sizeof inode) == (ssize_t)sizeof inode);
    living_wait(NULL);
}

/* Counts the groups whose name has that namespace. */
static int groups_of_namespace(unsigned long long inode)
{
    char command[160], line[512];
    int n = 0;

    snprintf(command, sizeof command,
             "find /sys/fs/cgroup -type d -name 'lazaret-%llu-1-*' 2>/dev/null", inode);
    FILE *found = popen(command, "re");
    while (found && fgets(line, sizeof line, found))
        n++;
    if (found)
        pclose(found);
    return n;
}

/* Process 1 of another namespace proves nothing here; the namespace ends with it. */
static void groups_of_another_namespace_are_removed_when_it_has_ended(void)
{
    unsigned long long inode = 0;
    int tell[2], status = 0;

    if (!there_are_groups() || !laz_os_is_root())
        return;
    CU_ASSERT_EQUAL_FATAL(pipe2(tell, O_CLOEXEC), 0);
    fflush(stdout);
    pid_t outer = fork();
    if (outer == 0) { /* its child is in the new namespace, which ends with it */
        if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0)
            _exit(1);
        pid_t host = fork();
        if (host == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            be_apart(tell[1]);
        }
        laz_os_close(&tell[1]);
        _exit(waitpid(host, &status, 0) == host && WIFSIGNALED(status) ? 0 : 1);
    }
    laz_os_close(&tell[1]);
    CU_ASSERT_EQUAL(read(tell[0], &inode, sizeof inode), (ssize_t)sizeof inode);
    const int made = groups_of_namespace(inode);
    CU_ASSERT(made > 0);
    CU_ASSERT_EQUAL(in_child(sweep), 0);
    CU_ASSERT_EQUAL(groups_of_namespace(inode), made); /* their host is alive */
    CU_ASSERT_EQUAL(in_child(sweep_from_below), 0);
    CU_ASSERT_EQUAL(groups_of_namespace(inode), made);
    const int64_t host = laz_os_tree_first_child(outer);
    CU_ASSERT(host > 0 && kill((pid_t)host, SIGKILL) == 0);
    CU_ASSERT(waitpid(outer, &status, 0) == outer && status == 0);
    CU_ASSERT_EQUAL(in_child(sweep), 0);
    CU_ASSERT_EQUAL(groups_of_namespace(inode), 0);
    laz_os_close(&tell[0]);
}

static void a_group_is_known_by_its_whole_name(void)
{
    static const struct {
        const char *self, *name;
        bool named;
    } rows[] = {
        {"4:memory:/a/lazaret-1-2-3-1\n", "lazaret-1-2-3-1", true},
        {"4:memory:/a/lazaret-1-2-3-1", "lazaret-1-2-3-1", true},
        {"4:memory:/a/lazaret-1-2-3-1/below\n", "lazaret-1-2-3-1", true},
        {"4:memory:/a/lazaret-1-2-3-12\n", "lazaret-1-2-3-1", false},
        {"4:memory:/lazaret-1-2-3-12\n0::/lazaret-1-2-3-1\n", "lazaret-1-2-3-1", true},
        {"4:memory:/a-lazaret-1-2-3-1\n", "lazaret-1-2-3-1", false},
        {"", "lazaret-1-2-3-1", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CU_ASSERT_EQUAL(laz_cgroup_is_named(rows[i].self, rows[i].name), rows[i].named);
}

/* ---- numbers -------------------------------------------------------------------------------- */

static void a_number_is_a_process_of_its_namespace_only(void)
{
    struct stat st;
    siginfo_t ended;

    CU_ASSERT_EQUAL_FATAL(stat("/proc/self/ns/pid", &st), 0);
    int fd = laz_os_pidfd_within(getpid(), st.st_ino);
    CU_ASSERT(fd >= 0 && !laz_os_pidfd_has_ended(fd));
    laz_os_close(&fd);
    fd = laz_os_pidfd_within(getpid(), 0);
    CU_ASSERT(fd >= 0);
    laz_os_close(&fd);
    CU_ASSERT_EQUAL(laz_os_pidfd_within(getpid(), st.st_ino + 1), -1);
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    CU_ASSERT_EQUAL(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT), 0);
    CU_ASSERT_EQUAL(laz_os_pidfd_within(child, st.st_ino), -1); /* ended */
    waitpid(child, NULL, 0);
    CU_ASSERT_EQUAL(laz_os_pidfd_within(child, st.st_ino), -1); /* the process id is unused */
}

/* From now on no descriptor can be opened, until the limit is set back. */
static struct rlimit use_up_descriptors(void)
{
    struct rlimit before, none;

    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, &before), 0);
    int first = dup(0);
    laz_os_close(&(int){first});
    none = (struct rlimit){(rlim_t)first, before.rlim_max};
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_NOFILE, &none), 0);
    return before;
}

static void a_process_that_cannot_be_looked_at_is_not_accused(void)
{
    struct laz_error adopted = {0}, connected = {0};
    struct laz_peer peer;
    struct stat st;
    int pair[2], pidfd = -1;

    CU_ASSERT_EQUAL_FATAL(stat("/proc/self/ns/pid", &st), 0);
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    CU_ASSERT_EQUAL(laz_os_peer(pair[0], &peer, NULL), 0);
    CU_ASSERT(peer.pid == getpid() && peer.pid_namespace == st.st_ino);
    struct rlimit before = use_up_descriptors();
    int rc = laz_os_adopt(getpid(), st.st_ino, &pidfd, &adopted);
    int peers = laz_os_peer(pair[0], &peer, &connected);
    int within = laz_os_pidfd_within(getpid(), st.st_ino), os_errno = errno;
    setrlimit(RLIMIT_NOFILE, &before);
    CU_ASSERT(rc == LAZ_EOS && adopted.os_errno == EMFILE && pidfd == -1);
    CU_ASSERT_PTR_NOT_NULL(strstr(adopted.text, "RLIMIT_NOFILE"));
    CU_ASSERT(peers == LAZ_EOS && connected.os_errno == EMFILE);
    CU_ASSERT(within == -1 && os_errno == EMFILE);
    CU_ASSERT_EQUAL(laz_os_adopt(getpid(), st.st_ino, &pidfd, &adopted), LAZ_EPROTO);
    laz_os_close(&pair[0]);
    laz_os_close(&pair[1]);
}

/* The limits of a session are watched all the same. */
static void a_group_is_counted_and_killed_without_descriptors(void)
{
    struct laz_cgroups *groups = NULL;
    struct laz_cgroup *group = NULL;
    int status = 0;

    if (!there_are_groups())
        return;
    CU_ASSERT_EQUAL_FATAL(laz_cgroups_new(false, &groups, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_cgroup_new(groups, 64 * MIB, 20, false, &group, NULL), 0);
    pid_t busy = fork();
    for (volatile unsigned n = 0; busy == 0;)
        n++;
    CU_ASSERT_EQUAL(laz_cgroup_put(group, busy, NULL), 0);
    struct rlimit before = use_up_descriptors();
    CU_ASSERT_EQUAL(dup(0), -1);
    bool is_counted = laz_cgroups_mechanism(groups, LAZ_CGROUP_CPU, false);
    for (int ms = 0; ms < UNIT_HANG_MS && is_counted && !laz_cgroup_cpu_us(group); ms++)
        (void)poll(NULL, 0, 1);
    bool counted = !is_counted || laz_cgroup_cpu_us(group) > 0;
    laz_cgroup_kill(group);
    setrlimit(RLIMIT_NOFILE, &before);
    const bool killed = laz_cgroup_end(group);
    CU_ASSERT(counted && killed);
    if (!killed)
        kill(busy, SIGKILL);
    CU_ASSERT(waitpid(busy, &status, 0) == busy && WIFSIGNALED(status));
    laz_cgroup_free(group);
    laz_cgroups_free(groups);
}

/* ---- uids ----------------------------------------------------------------------------------- */

/* Starts an idle process under a uid. */
static pid_t idle_under(uint32_t uid)
{
    int ends[2];
    char c;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        HOLDS(setresuid(uid, uid, uid) == 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* the change of uid has cleared it */
        HOLDS(write(ends[1], "r", 1) == 1);
        living_wait(NULL);
    }
    laz_os_close(&ends[1]);
    bool ready = pid > 0 && read(ends[0], &c, 1) == 1;
    laz_os_close(&ends[0]);
    return ready ? pid : -1;
}

static bool has_ended(pid_t pid)
{
    siginfo_t ended = {0};

    return waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid;
}

static uint32_t dying_uid;

/* A range of one uid that no other process of this test uses. */
static uint32_t test_uid(char *range, size_t size)
{
    uint32_t uid = 2100000000u + (uint32_t)getpid();

    snprintf(range, size, "%u-%u", uid, uid);
    return uid;
}

/* The lock file of a uid, in one of two directories depending on the host. */
static bool lock_path(uint32_t uid, char *path, size_t size)
{
    static const char *const directories[] = {"/run/lazaret-uids", "/tmp/lazaret-uids"};

    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++) {
        snprintf(path, size, "%s/%u", directories[i], uid);
        if (access(path, F_OK) == 0)
            return true;
    }
    return false;
}

/* Takes a uid in another process, which is killed and leaves the lock file. */
static void die_with_a_uid(void)
{
    struct laz_uids *uids = NULL;
    char range[32], path[64];
    uint32_t uid;

    snprintf(range, sizeof range, "%u-%u", dying_uid, dying_uid);
    HOLDS(laz_uids_new(range, &uids, NULL) == 0 && laz_uids_take(uids, &uid, NULL) == 0);
    HOLDS(lock_path(uid, path, sizeof path));
    raise(SIGKILL);
}

static void a_holder_is_killed(uint32_t uid)
{
    int status;

    dying_uid = uid;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        die_with_a_uid();
    CU_ASSERT(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
}

/* The uid is not returned, because processes may be left under it; that holds after the engine has
 * ended. */
static void a_uid_that_was_kept_back_is_not_given_to_the_next_engine(void)
{
    struct laz_uids *uids = NULL;
    uint32_t uid = 0;
    char range[32];

    if (!laz_os_is_root()) {
        unit_skip("root", "only root gives uids");
        return;
    }
    const uint32_t only = test_uid(range, sizeof range);
    CU_ASSERT_EQUAL_FATAL(laz_uids_new(range, &uids, NULL), 0);
    CU_ASSERT_EQUAL(laz_uids_take(uids, &uid, NULL), 0);
    pid_t left = idle_under(only);
    CU_ASSERT_FATAL(left > 0);
    laz_uids_free(uids);
    for (int engine = 0; engine < 2; engine++) {
        CU_ASSERT_EQUAL_FATAL(laz_uids_new(range, &uids, NULL), 0);
        CU_ASSERT_EQUAL(laz_uids_take(uids, &uid, NULL), LAZ_EBUSY);
        laz_uids_free(uids);
    }
    kill(left, SIGKILL);
    waitpid(left, NULL, 0);
    CU_ASSERT_EQUAL_FATAL(laz_uids_new(range, &uids, NULL), 0);
    CU_ASSERT_EQUAL(laz_uids_take(uids, &uid, NULL), 0);
    CU_ASSERT_EQUAL(uid, only);
    laz_uids_free(uids);
}

static void a_uid_that_is_in_use_without_a_lock_is_passed_over(void)
{
    struct laz_uids *uids = NULL;
    uint32_t uid = 0;
    char range[32];

    if (!laz_os_is_root()) {
        unit_skip("root", "only root gives uids");
        return;
    }
    const uint32_t only = test_uid(range, sizeof range), next = only + (1u << 23);
    snprintf(range, sizeof range, "%u-%u", only, only);
    pid_t other = idle_under(only);
    CU_ASSERT_FATAL(other > 0);
    a_holder_is_killed(only); /* and the running process could belong to its session */
    CU_ASSERT_EQUAL_FATAL(laz_uids_new(range, &uids, NULL), 0);
    CU_ASSERT_EQUAL(laz_uids_take(uids, &uid, NULL), LAZ_EBUSY);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    CU_ASSERT_EQUAL(laz_uids_take(uids, &uid, NULL), 0);
    CU_ASSERT_EQUAL(uid, only);
    laz_uids_free(uids);
    /* without a dead holder's file: the other one of two uids, or that uid if it is the only one */
    snprintf(range, sizeof range, "%u-%u", next, next + 1);
    CU_ASSERT_EQUAL_FATAL(laz_uids_new(range, &uids, NULL), 0);
    other = idle_under(next);
    CU_ASSERT_FATAL(other > 0);
    for (int i = 0; i < 20; i++) {
        CU_ASSERT_EQUAL(laz_uids_take(uids, &uid, NULL), 0);
        CU_ASSERT_EQUAL(uid, next + 1);
        laz_uids_give_back(uids, uid);
    }
    CU_ASSERT_EQUAL(laz_uids_take(uids, &uid, NULL), 0);
    CU_ASSERT_EQUAL(laz_uids_take(uids, &uid, NULL), 0);
    CU_ASSERT_EQUAL(uid, next);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    laz_uids_free(uids);
}

/* Engines that start look through the locks. */
__attribute__((noreturn)) static void tidy_for_ever(const char *range)
{
    struct laz_uids *uids;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        HOLDS(laz_uids_new(range, &uids, NULL) == 0);
        laz_uids_free(uids);
    }
}

static void who_tidies_up_never_takes_a_new_lock(void)
{
    struct laz_uids *uids = NULL;
    uint32_t uid = 0, wrong = 0;
    char range[32];

    if (!laz_os_is_root()) {
        unit_skip("root", "only root gives uids");
        return;
    }
    const uint32_t first = test_uid(range, sizeof range) + (1u << 22);
    snprintf(range, sizeof range, "%u-%u", first, first + 1);
    CU_ASSERT_EQUAL_FATAL(laz_uids_new(range, &uids, NULL), 0);
    pid_t other = idle_under(first);
    CU_ASSERT_FATAL(other > 0);
    fflush(stdout);
    pid_t tidier = fork();
    if (tidier == 0)
        tidy_for_ever(range);
    for (int i = 0; i < 2000; i++) {
        wrong += laz_uids_take(uids, &uid, NULL) != 0 || uid != first + 1;
        laz_uids_give_back(uids, uid);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    kill(tidier, SIGKILL);
    waitpid(tidier, NULL, 0);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    laz_uids_free(uids);
}

static void a_lock_is_removed_by_its_holder_only(void)
{
    struct laz_uids *one = NULL, *two = NULL, *three = NULL;
    char range[32], path[64];
    uint32_t uid = 0, only;

    if (!laz_os_is_root()) {
        unit_skip("root", "only root gives uids");
        return;
    }
    only = test_uid(range, sizeof range);
    CU_ASSERT_EQUAL_FATAL(laz_uids_new(range, &one, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_uids_new(range, &two, NULL), 0);
    CU_ASSERT_EQUAL(laz_uids_take(one, &uid, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(laz_uids_new(range, &three, NULL), 0); /* removes stale files only */
    CU_ASSERT(lock_path(only, path, sizeof path));
    CU_ASSERT_EQUAL(unlink(path), 0); /* as a cleaner of old files may do */
    CU_ASSERT_EQUAL(laz_uids_take(two, &uid, NULL), LAZ_EBUSY);
    laz_uids_give_back(one, only);
    CU_ASSERT_EQUAL(laz_uids_take(two, &uid, NULL), 0);
    CU_ASSERT(lock_path(only, path, sizeof path));
    CU_ASSERT_EQUAL(laz_uids_take(three, &uid, NULL), LAZ_EBUSY);
    CU_ASSERT_EQUAL(laz_uids_take(two, &uid, NULL), LAZ_EBUSY); /* nor does it get its own again */
    laz_uids_free(two);
    CU_ASSERT(!lock_path(only, path, sizeof path));
    laz_uids_free(three);
    laz_uids_free(one);
}

static void locks_of_the_dead_are_removed(void)
{
    struct laz_uids *uids = NULL;
    char path[64], range[32];

    if (!laz_os_is_root()) {
        unit_skip("root", "only root gives uids");
        return;
    }
    const uint32_t only = test_uid(range, sizeof range);
    a_holder_is_killed(only); /* every engine that begins now on this machine removes some */
    for (int i = 0; i < 100 && lock_path(only, path, sizeof path); i++) {
        CU_ASSERT_EQUAL_FATAL(laz_uids_new("auto", &uids, NULL), 0); /* all at the same time */
        laz_uids_free(uids);
    }
    CU_ASSERT(!lock_path(only, path, sizeof path));
}

/* First process of a namespace, which limits the effect of killing too much. */
static void end_one_of_two(void)
{
    const uint32_t uid = 2100000000u;
    pid_t mine = idle_under(uid), other = idle_under(uid + 1);

    HOLDS(mine > 0 && other > 0);
    HOLDS(!has_ended(mine) && !has_ended(other));
    HOLDS(laz_os_end_all_of(uid));
    HOLDS(waitpid(mine, NULL, 0) == mine);
    HOLDS(!has_ended(other));
    /* a host whose children keep their capabilities when they change the uid */
    HOLDS(prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP) == 0);
    mine = idle_under(uid);
    HOLDS(mine > 0);
    HOLDS(laz_os_end_all_of(uid));
    HOLDS(waitpid(mine, NULL, 0) == mine);
    HOLDS(!has_ended(other));
}

static void end_one_of_two_inside(void)
{
    int status = -1;

    HOLDS(unshare(CLONE_NEWPID) == 0);
    pid_t first = fork();
    if (first == 0) {
        HOLDS(getpid() == 1);
        end_one_of_two();
        _exit(0);
    }
    HOLDS(waitpid(first, &status, 0) == first);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 255);
}

static void all_of_a_uid_is_nobody_elses(void)
{
    if (!laz_os_is_root()) {
        CU_ASSERT_FALSE(laz_os_end_all_of(2100000000u));
        unit_skip("root", "only root ends what has another uid");
        return;
    }
    CU_ASSERT_FALSE(laz_os_end_all_of(0));
    CU_ASSERT_FALSE(laz_os_end_all_of(LAZ_SPAWN_SAME_ID));
    CU_ASSERT_EQUAL(in_child(end_one_of_two_inside), 0);
}

static const struct unit_test tests[] = {
    UNIT(groups_of_living_hosts_are_left_alone),
    UNIT(groups_of_another_namespace_are_removed_when_it_has_ended),
    UNIT(a_group_is_known_by_its_whole_name),
    UNIT(a_number_is_a_process_of_its_namespace_only),
    UNIT(a_process_that_cannot_be_looked_at_is_not_accused),
    UNIT(a_group_is_counted_and_killed_without_descriptors),
    UNIT(a_uid_that_is_in_use_without_a_lock_is_passed_over),
    UNIT(a_uid_that_was_kept_back_is_not_given_to_the_next_engine),
    UNIT(who_tidies_up_never_takes_a_new_lock),
    UNIT(a_lock_is_removed_by_its_holder_only),
    UNIT(locks_of_the_dead_are_removed),
    UNIT(all_of_a_uid_is_nobody_elses),
    {0},
};

int main(void)
{
    return unit_run("living", tests);
}
