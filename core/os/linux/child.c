/* SPDX-License-Identifier: MIT */
/* child.c - makes a child and starts its program.  System: Linux.
 * Side: host.  Input trusted: yes.
 *
 * The application may have many threads, locks held and fork handlers installed, so the child makes
 * system calls only: no allocation, no lock, no wrapper of the C library that deals with threads
 * (setresuid would signal threads that do not exist).  clone3 with CLONE_VFORK suspends the
 * spawner's thread until exec succeeded or the child ended: the outcome is then in a pipe, and
 * there is no need to wait for an end of file that a process forked elsewhere could delay.
 * CLONE_PIDFD gives a descriptor of the child before anything could reap it.
 *
 * laz_os_end_all_of (uids.h) is here because it makes such a child. */
#include "os/posix/child.h"

#include "os/cgroup.h"
#include "os/descriptors.h"
#include "os/linux/ids.h"
#include "os/posix/descriptors.h"
#include "os/uids.h"
#include "os/warden.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHILD_END_ROUNDS 50   /* processes may fork faster than they are killed */
#define CHILD_END_MS     5000 /* for a child that makes three calls */

enum child_step {
    CHILD_PRIORITY,
    CHILD_GROUP,
    CHILD_SESSION,
    CHILD_WARDEN,
    CHILD_DESCRIPTORS,
    CHILD_USER,
    CHILD_KEYS,
    CHILD_DIRECTORY,
    CHILD_SIGNAL,
    CHILD_EXEC,
};

static const char *const child_steps[] = {
    [CHILD_PRIORITY] = "its priority cannot be lowered to the usual one",
    [CHILD_GROUP] = "it cannot be put into its control group",
    [CHILD_SESSION] = "it cannot get a session of its own",
    [CHILD_WARDEN] =
        "the process that would end it after this one (lazaret-agent --warden) is gone",
    [CHILD_DESCRIPTORS] = "its descriptors cannot be set",
    [CHILD_USER] = "its user cannot be set",
    [CHILD_KEYS] = "it cannot get a keyring of its own",
    [CHILD_DIRECTORY] = "its working directory cannot be entered",
    [CHILD_SIGNAL] = "its parent-death signal cannot be set",
    [CHILD_EXEC] = "it cannot be executed",
};

struct child_fd {
    int parent, child;
    int moved; /* above every number of the child; written in the child only */
};

/* All that the child needs, made before it exists. */
struct child_plan {
    void (*main)(struct child_plan *plan); /* in the child; does not return */
    const struct laz_spawn *spawn;
    struct child_fd *fds; /* ordered by `child`; 0, 1 and 2 are there */
    size_t n_fds;
    int above;    /* the first number above those of the child */
    int error_fd; /* write end of the pipe for struct laz_child_failure */
    pid_t parent;
    int warden;    /* -1: none */
    bool entered;  /* the child is born in its group of version 2 */
    bool launched; /* the child is one of this process's parent, which waits for it */
};

/* ---- in the child --------------------------------------------------------------------------- */

/* As _exit(2), by the system call itself: the thread sanitizer of a host would wait in its own for
 * locks of threads that the child does not have. */
static _Noreturn void child_exit(int status)
{
    for (;;)
        (void)syscall(SYS_exit_group, status);
}

static void child_fail(const struct child_plan *plan, enum child_step step)
{
    struct laz_child_failure failure = {.step = (int)step, .os_errno = errno};

    (void)!write(plan->error_fd, &failure, sizeof failure);
    child_exit(127);
}

/* A real-time priority of the host, which it may need to respond in time, would let its sessions
 * keep the machine from all others (sched(7)); and a process of a real-time policy cannot enter a
 * group of version 1 that has no time for those. A lower priority, policy or nice value, is kept.
 */
static void child_drop_priority(const struct child_plan *plan)
{
    static const struct sched_param none;

    if (!plan->spawn->no_priority)
        return;
    long policy = syscall(SYS_sched_getscheduler, 0);
    if (policy < 0)
        child_fail(plan, CHILD_PRIORITY);
    policy &= ~(long)SCHED_RESET_ON_FORK;
    if ((policy == SCHED_FIFO || policy == SCHED_RR) &&
        syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, &none) != 0)
        child_fail(plan, CHILD_PRIORITY);
    /* the kernel's answer is 20 - the nice value */
    if (syscall(SYS_getpriority, PRIO_PROCESS, 0) > 20 &&
        syscall(SYS_setpriority, PRIO_PROCESS, 0, 0) != 0)
        child_fail(plan, CHILD_PRIORITY);
}

static bool child_enter(int file)
{
    ssize_t n;

    while ((n = write(file, "0", 1)) < 0 && errno == EINTR)
        ;
    return n == 1;
}

/* With the rights of the host. */
static void child_enter_group(const struct child_plan *plan)
{
    const struct laz_cgroup_door *door = plan->spawn->cgroup;

    if (!door)
        return;
    for (size_t i = 0; i < door->n_tasks; i++)
        if (!child_enter(door->tasks[i]))
            child_fail(plan, CHILD_GROUP);
    if (door->into < 0 || plan->entered)
        return;
    int fd = openat(door->into, "cgroup.procs", O_WRONLY | O_CLOEXEC);
    if (fd < 0 || !child_enter(fd))
        child_fail(plan, CHILD_GROUP);
}

/* Every source is first moved out of the way, then to its number: no number that is still needed is
 * overwritten, whatever the numbers are. */
static void child_place_fds(struct child_plan *plan)
{
    int null_fd = -1, first_gap = 3;
    bool closed = true;

    plan->error_fd = fcntl(plan->error_fd, F_DUPFD_CLOEXEC, plan->above);
    if (plan->error_fd < 0)
        child_exit(127);
    for (size_t i = 0; i < plan->n_fds; i++) {
        struct child_fd *fd = &plan->fds[i];
        int from = fd->parent;
        if (from < 0 && null_fd < 0)
            null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (from < 0 && null_fd < 0)
            child_fail(plan, CHILD_DESCRIPTORS);
        if (from < 0)
            from = null_fd;
        fd->moved = fcntl(from, F_DUPFD_CLOEXEC, plan->above);
        if (fd->moved < 0 && errno == EINVAL) /* fcntl(2): `above` is over RLIMIT_NOFILE */
            errno = EMFILE;
        if (fd->moved < 0)
            child_fail(plan, CHILD_DESCRIPTORS);
    }
    for (size_t i = 0; i < plan->n_fds; i++)
        if (dup2(plan->fds[i].moved, plan->fds[i].child) < 0)
            child_fail(plan, CHILD_DESCRIPTORS);
    for (size_t i = 0; i < plan->n_fds; i++) {
        int child = plan->fds[i].child;
        if (child < first_gap)
            continue;
        if (child > first_gap)
            closed &= laz_os_close_range((unsigned)first_gap, (unsigned)child - 1);
        first_gap = child + 1;
    }
    if (plan->error_fd > first_gap)
        closed &= laz_os_close_range((unsigned)first_gap, (unsigned)plan->error_fd - 1);
    if (!closed || !laz_os_close_range((unsigned)plan->error_fd + 1, UINT_MAX))
        child_fail(plan, CHILD_DESCRIPTORS); /* it would inherit descriptors of the host */
}

/* Ignored signals outlive exec, handlers do not; nothing is delivered yet, all are blocked. The
 * system call is used directly: the C library would reject the two signals that it uses itself. */
static void child_default_signals(void)
{
    static const unsigned long as_default[16]; /* the kernel's struct, all zero: SIG_DFL */

    for (int signal = 1; signal < NSIG; signal++)
        (void)syscall(SYS_rt_sigaction, signal, as_default, NULL, (size_t)(NSIG - 1) / 8);
}

static void child_set_user(const struct child_plan *plan)
{
    const struct laz_spawn *spawn = plan->spawn;

    if (spawn->uid == LAZ_SPAWN_SAME_ID)
        return;
    if (syscall(LINUX_SETGROUPS, 0, NULL) != 0 ||
        syscall(LINUX_SETRESGID, spawn->gid, spawn->gid, spawn->gid) != 0 ||
        syscall(LINUX_SETRESUID, spawn->uid, spawn->uid, spawn->uid) != 0)
        child_fail(plan, CHILD_USER);
}

/* A session keyring is inherited like a descriptor: a process that has it can read the keys in it
 * (tickets of Kerberos, for example), whatever its uid and namespaces.  Where the call does not
 * exist, or a filter refuses it, the child cannot use it either. */
static void child_set_keys(const struct child_plan *plan)
{
    if (plan->spawn->own_keys && syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 &&
        errno != ENOSYS && errno != EPERM)
        child_fail(plan, CHILD_KEYS);
}

static void child_main(struct child_plan *plan)
{
    const struct laz_spawn *spawn = plan->spawn;
    static const unsigned long nothing_blocked[16];

    child_drop_priority(plan);
    child_enter_group(plan);
    if (spawn->group && setsid() < 0)
        child_fail(plan, CHILD_SESSION);
    if (spawn->group && spawn->death_signal && plan->warden >= 0 &&
        !laz_warden_take(plan->warden, spawn->death_signal))
        child_fail(plan, CHILD_WARDEN);
    child_place_fds(plan);
    child_default_signals();
    child_set_user(plan);
    child_set_keys(plan); /* as the new user, whose quota it counts against */
    if (chdir(spawn->directory ? spawn->directory : "/") != 0)
        child_fail(plan, CHILD_DIRECTORY);
    if (spawn->death_signal) {
        /* After the change of user, which clears it. The parent is compared afterwards: one that
         * ended in between sends nothing. */
        if (prctl(PR_SET_PDEATHSIG, (unsigned long)spawn->death_signal, 0, 0, 0) != 0)
            child_fail(plan, CHILD_SIGNAL);
        if (getppid() != plan->parent)
            child_exit(127);
    }
    (void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, nothing_blocked, NULL, (size_t)(NSIG - 1) / 8);
    (void)execve(spawn->argv[0], (char *const *)(uintptr_t)spawn->argv,
                 (char *const *)(uintptr_t)spawn->env);
    child_fail(plan, CHILD_EXEC);
    child_exit(127);
}

/* Kills what runs under the uid of the plan. The change of user made this a process that may not be
 * traced, and the kernel signals all others at once: those of that uid, if no capability has
 * outlived the change, which securebits of the host could cause (capabilities(7)). */
static void child_end_all(struct child_plan *plan)
{
    const uid_t uid = plan->spawn->uid;

    struct __user_cap_header_struct self = {.version = _LINUX_CAPABILITY_VERSION_3};
    static const struct __user_cap_data_struct none[2];
    struct __user_cap_data_struct left[2];

    if (syscall(LINUX_SETRESUID, uid, uid, uid) != 0 || getuid() != uid || geteuid() != uid)
        child_exit(1);
    if (syscall(SYS_capset, &self, none) != 0 || syscall(SYS_capget, &self, left) != 0 ||
        memcmp(left, none, sizeof none) != 0)
        child_exit(1);
    (void)kill(-1, SIGKILL);
    child_exit(0);
}

/* ---- in the host ---------------------------------------------------------------------------- */

static int child_compare(const void *a, const void *b)
{
    const struct child_fd *x = a, *y = b;

    return x->child < y->child ? -1 : x->child > y->child;
}

static int child_plan_fds(struct child_plan *plan, struct laz_error *err)
{
    const struct laz_spawn *spawn = plan->spawn;
    bool standard[3] = {false, false, false};
    int rc = laz_child_check_fds(spawn, &plan->above, err);

    if (rc)
        return rc;
    plan->fds = calloc(spawn->n_fds + 3, sizeof *plan->fds);
    if (!plan->fds)
        return laz_error_nomem(err);
    for (size_t i = 0; i < spawn->n_fds; i++) {
        int child = spawn->fds[i].child;
        if (child < 3)
            standard[child] = true;
        plan->fds[plan->n_fds++] = (struct child_fd){spawn->fds[i].parent, child, -1};
    }
    for (int i = 0; i < 3; i++)
        if (!standard[i])
            plan->fds[plan->n_fds++] = (struct child_fd){-1, i, -1};
    qsort(plan->fds, plan->n_fds, sizeof *plan->fds, child_compare);
    return 0;
}

/* Makes a child that runs plan->main; *waited: it has started its program, or ended, when this
 * returns. One that is launched can be created by clone3 only. */
static pid_t child_clone(struct child_plan *plan, int *pidfd, bool *waited)
{
    pid_t pid;

    *waited = !plan->launched;
#ifdef SYS_clone3
    struct clone_args args = {
        .flags = CLONE_PIDFD | (plan->launched ? CLONE_PARENT : CLONE_VFORK),
        .pidfd = (uint64_t)(uintptr_t)pidfd,
        .exit_signal = plan->launched ? 0 : SIGCHLD, /* that of the launcher, SIGCHLD */
    };
#ifdef CLONE_INTO_CGROUP
    if (plan->spawn->cgroup && plan->spawn->cgroup->into >= 0) {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = (uint64_t)plan->spawn->cgroup->into;
        plan->entered = true;
        pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
        if (pid == 0)
            plan->main(plan);
        if (pid > 0)
            return pid;
        plan->entered = false; /* Linux before 5.7: the child enters by itself */
        args.flags &= ~(uint64_t)CLONE_INTO_CGROUP;
        args.cgroup = 0;
    }
#endif
    pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
    if (pid == 0)
        plan->main(plan);
    if (pid > 0 || plan->launched || (errno != ENOSYS && errno != EPERM && errno != EINVAL))
        return pid;
#endif
    errno = ENOSYS;
    if (plan->launched)
        return -1;
    /* Refused by an old kernel, or by a filter around the application. */
    *waited = false;
#ifdef HAVE__FORK
    pid = _Fork();
#else
    pid = fork();
#endif
    if (pid == 0)
        plan->main(plan);
    if (pid > 0)
        *pidfd = (int)syscall(SYS_pidfd_open, pid, 0u);
    return pid;
}

/* Makes the child of a plan; *errors: the pipe in which it says what failed, which is the caller's.
 */
static int child_make(struct child_plan *plan, struct laz_process *process, pid_t *pid, int *errors,
                      bool *waited, struct laz_error *err)
{
    int rc = child_plan_fds(plan, err);

    if (!rc)
        rc = laz_os_cloexec_pipe(errors, &plan->error_fd, err);
    if (!rc && (*pid = child_clone(plan, &process->pidfd, waited)) < 0)
        rc = laz_error_start(err, errno, "cannot create a process for %s", plan->spawn->argv[0]);
    laz_os_close(&plan->error_fd);
    free(plan->fds);
    return rc;
}

int laz_os_child_start(const struct laz_spawn *spawn, int warden, struct laz_process *process,
                       struct laz_error *err)
{
    struct child_plan plan = {
        .main = child_main, .spawn = spawn, .error_fd = -1, .parent = getpid(), .warden = warden};
    struct laz_child_way way = {spawn, child_steps, sizeof child_steps / sizeof *child_steps,
                                .errors = -1};
    pid_t pid;
    int rc = child_make(&plan, process, &pid, &way.errors, &way.waited, err);

    if (!rc)
        rc = laz_child_follow(&way, pid, process, err);
    laz_os_close(&way.errors);
    return rc;
}

int laz_os_child_launch(const struct laz_spawn *spawn, pid_t host, int warden,
                        struct laz_process *process, int *errors, struct laz_error *err)
{
    struct child_plan plan = {.main = child_main,
                              .spawn = spawn,
                              .error_fd = -1,
                              .parent = host,
                              .warden = warden,
                              .launched = true};
    bool waited;

    return child_make(&plan, process, &process->pid, errors, &waited, err);
}

int laz_os_child_adopt(const struct laz_spawn *spawn, int errors, pid_t pid,
                       struct laz_process *process, struct laz_error *err)
{
    const struct laz_child_way way = {spawn, child_steps, sizeof child_steps / sizeof *child_steps,
                                      .errors = errors};
    int rc = laz_child_follow(&way, pid, process, err);

    laz_os_close(&errors);
    return rc;
}

bool laz_os_end_all_of(uint32_t uid)
{
    const struct laz_spawn spawn = {.uid = uid};
    struct child_plan plan = {.main = child_end_all, .spawn = &spawn, .error_fd = -1};
    struct laz_exit how = {.signal = SIGKILL};
    sigset_t all, before;
    bool waited;

    if (uid == 0 || uid == LAZ_SPAWN_SAME_ID || geteuid() != 0)
        return false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (int i = 0; i < CHILD_END_ROUNDS && how.signal == SIGKILL; i++) {
        struct laz_process process = LAZ_PROCESS_INIT;
        process.pid = child_clone(&plan, &process.pidfd, &waited);
        bool ended = process.pid >= 0 && laz_process_wait(&process, CHILD_END_MS, &how);
        if (!ended && process.pid >= 0) { /* an overloaded machine; it must not stay as a child */
            laz_process_signal(&process, SIGKILL);
            laz_process_wait(&process, CHILD_END_MS, &how);
        }
        if (!ended)
            how = (struct laz_exit){.known = true, .status = 1};
        laz_process_close(&process);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return how.signal == 0 && (!how.known || how.status == 0);
}
