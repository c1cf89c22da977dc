/* SPDX-License-Identifier: MIT */
/* test_sites.c - where the groups of a scope are made, and where not, in a tree of plain files in
 * site of version 2 of control groups: with its controllers, and with limits on the host's own
 * group.  Each row is a child in a mount namespace of its own; its exit status is the line that
 * failed. */
#include "unit.h"

#include "base/buf.h"
#include "os/cgroup.h"
#include "os/linux/cgroup.h"
#include "os/pidfd.h"
#include "os/users.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OTHER_USER 61183
#define OWN        "user.slice/session-1.scope"
#define SCOPE      "user.slice/user@1.service/x.scope"
#define HOLDS(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            _exit(__LINE__ % 256 ? __LINE__ % 256 : 255);                                          \
    } while (0)

static char directory[64];

/* A file of the tree that the other user may write, with the directories above it. */
static void put(const char *name, const char *text)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    for (char *at = path + strlen(directory) + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = '\0';
        HOLDS(mkdir(path, 0755) == 0 || errno == EEXIST);
        HOLDS(strncmp(name, SCOPE, strlen(SCOPE)) != 0 || chown(path, OTHER_USER, OTHER_USER) == 0);
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    HOLDS(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && close(fd) == 0);
    HOLDS(chown(path, OTHER_USER, OTHER_USER) == 0);
}

/* Shows the file of the tree in place of one of /proc. */
static void show(const char *name, pid_t pid, const char *what)
{
    char path[256], target[64];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    snprintf(target, sizeof target, "/proc/%ld/%s", (long)pid, what);
    HOLDS(mount(path, target, NULL, MS_BIND, NULL) == 0);
}

static void be_other_user(void)
{
    HOLDS(setresgid(OTHER_USER, OTHER_USER, OTHER_USER) == 0 &&
          setresuid(OTHER_USER, OTHER_USER, OTHER_USER) == 0);
}

struct row {
    const char *controllers; /* of the scope */
    const char *file, *text; /* a limit */
    const char *refused;     /* words of the refusal; NULL: the groups are made there */
};

/* In the child: makes the tree, and moves the sites. */
static void run_row(const struct row *row)
{
    struct laz_cgroups *groups;
    struct laz_error err = {0};
    char mounted[128], byte;
    int ends[2], ready[2];

    HOLDS(pipe2(ready, O_CLOEXEC) == 0);
    struct laz_process launcher = {.pid = fork()};
    if (launcher.pid == 0) {
        be_other_user(); /* which clears a death signal */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        HOLDS(write(ready[1], "r", 1) == 1);
        for (;;)
            pause();
    }
    HOLDS(launcher.pid > 0 && read(ready[0], &byte, 1) == 1);
    HOLDS(unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
    HOLDS(mount("none", directory, "tmpfs", 0, "mode=755") == 0);
    snprintf(mounted, sizeof mounted, "30 1 0:26 / %s rw - cgroup2 cgroup2 rw\n", directory);
    put("mountinfo", mounted);
    put("own", "0::/" OWN "\n");
    put("theirs", "0::/" SCOPE "/launcher\n");
    put("cgroup.controllers", "cpu memory pids\n");
    put(OWN "/memory.max", "max\n");
    put(OWN "/cpu.max", "max 100000\n");
    put(SCOPE "/cgroup.procs", "");
    put(SCOPE "/cgroup.controllers", row->controllers);
    put(SCOPE "/cgroup.subtree_control", "");
    put(SCOPE "/launcher/cgroup.procs", "1\n");
    put(SCOPE "/launcher/cgroup.controllers", "");
    if (row->file)
        put(row->file, row->text);
    show("mountinfo", getpid(), "mountinfo");
    show("own", getpid(), "cgroup");
    show("theirs", launcher.pid, "cgroup");
    be_other_user();
    launcher.pidfd = laz_os_pidfd(launcher.pid);
    HOLDS(launcher.pidfd >= 0 && socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
    HOLDS(cgroup_v2_can_limit() && laz_cgroups_new(false, &groups, NULL) == 0);
    HOLDS(!laz_cgroups_mechanism(groups, LAZ_CGROUP_MEMORY, false) && !laz_cgroups_place(groups));
    int rc = cgroup_move_places(groups, &launcher, &ends[0], &err);
    if (row->refused) {
        HOLDS(rc == LAZ_EREFUSED && strstr(err.text, row->refused));
        HOLDS(launcher.pidfd >= 0 && ends[0] >= 0); /* still the caller's */
        HOLDS(!laz_cgroups_mechanism(groups, LAZ_CGROUP_MEMORY, false));
        laz_cgroups_free(groups);
        _exit(0);
    }
    HOLDS(rc == 0 && launcher.pidfd < 0 && ends[0] < 0 && !laz_cgroups_are_lost(groups));
    HOLDS(strcmp(laz_cgroups_mechanism(groups, LAZ_CGROUP_MEMORY, false), "cgroup-v2") == 0);
    HOLDS(strcmp(laz_cgroups_mechanism(groups, LAZ_CGROUP_PIDS, true), "cgroup-v2") == 0);
    HOLDS(strcmp(strrchr(laz_cgroups_place(groups), '/'), "/x.scope") == 0);
    HOLDS(close(ends[1]) == 0 && laz_cgroups_are_lost(groups));
    HOLDS(!laz_cgroups_mechanism(groups, LAZ_CGROUP_MEMORY, false));
    laz_cgroups_free(groups);
    HOLDS(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    _exit(0);
}

static void groups_of_a_scope_free_nobody_of_a_limit(void)
{
    static const struct row rows[] = {
        {"memory pids\n", NULL, NULL, NULL},
        {"memory pids\n", OWN "/pids.max", "4915\n", NULL},            /* systemd's default */
        {"memory pids\n", "user.slice/memory.max", "1048576\n", NULL}, /* holds for both */
        {"memory pids\n", OWN "/memory.max", "1048576\n", "session-1.scope/memory.max"},
        {"memory pids\n", OWN "/memory.high", "1048576\n", "session-1.scope/memory.high"},
        {"memory pids\n", OWN "/cpu.max", "50000 100000\n", "session-1.scope/cpu.max"},
        {"pids\n", NULL, NULL, "no controllers of memory"},
        {"memory\n", NULL, NULL, "no controllers of memory"},
        {"", NULL, NULL, "no controllers of memory"},
    };

    if (!laz_os_is_root()) {
        unit_skip("root", "mounts over files of /proc");
        return;
    }
    snprintf(directory, sizeof directory, "/tmp/sites-test-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int status = -1;
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0)
            run_row(&rows[i]);
        CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
        if (status)
            printf("\n    row %zu: status %d, line %d\n", i, status, WEXITSTATUS(status));
        CU_ASSERT_EQUAL(status, 0);
    }
    (void)rmdir(directory);
}

static const struct unit_test tests[] = {
    UNIT(groups_of_a_scope_free_nobody_of_a_limit),
    {0},
};

int main(void)
{
    return unit_run("sites", tests);
}
