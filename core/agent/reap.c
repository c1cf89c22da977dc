/* SPDX-License-Identifier: MIT */
/* reap.c - a parent that leaves no process behind, for boxes without a pid namespace.
 * Side: box.  Input trusted: yes (the command line of the host).
 *
 * A process group is not enough: a daemon that forks twice leaves it.  Where the system lets this
 * process inherit every orphan below it (Linux), its descendants are all processes of the box.  It
 * kills whole trees at a time until no child is left; processes that fork faster are found in the
 * next round, and a bound on the time keeps a process that cannot be killed from holding the
 * reaper.
 *
 * It stands outside of the session's Landlock domain, whose scope protects it from the session's
 * signals.  Without that scope (before Linux 6.12) the session may kill it: then the agent dies
 * with it, and of the processes that have left the agent the host finds only those with a uid or a
 * control group of their own.  On macOS no process inherits orphans: a daemon that has left the
 * process group and lost its parent before the end is not found. */
#include "agent/agent.h"

#include "base/clock.h"
#include "os/current_process.h"
#include "os/pidfd.h"
#include "os/posix/signals.h"
#include "os/process.h"
#include "os/process_tree.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define REAP_MS      10000
#define REAP_DEPTH   64
#define REAP_WAIT_MS 25 /* for the end of a child that was killed */
#define REAP_STATUS  64 /* bytes, more than a status has */

static const int reap_signals[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD};

static void reap_kill_below(int64_t pid, int depth);

/* Stops it first, so that it makes no more children while its children are looked for. The
 * descriptor is of the process that has the number now; whether that still is the child is asked
 * afterwards. */
static void reap_kill_child(int64_t child, int64_t parent, int depth)
{
    struct laz_process process = {(pid_t)child, laz_os_pidfd(child)};

    if (process.pidfd < 0)
        return;
    if (laz_os_tree_parent(child) == parent) {
        laz_process_signal(&process, SIGSTOP);
        if (depth < REAP_DEPTH)
            reap_kill_below(child, depth + 1);
        laz_process_signal(&process, SIGKILL);
    }
    laz_process_close(&process);
}

/* Kills everything below `pid`. A process that is forked meanwhile becomes a child of this one when
 * those above it are gone. */
static void reap_kill_below(int64_t pid, int depth)
{
    size_t n = 0;
    int64_t *children = laz_os_tree_children(pid, &n);

    for (size_t i = 0; i < n; i++)
        reap_kill_child(children[i], pid, depth);
    free(children);
}

/* Takes the exit status of every child that has ended; true while there are others. The rest of the
 * command's group is killed before its number is free again, never later. */
static bool reap_collect(pid_t command, int *status)
{
    for (;;) {
        siginfo_t ended = {0};
        int how;
        if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0)
            return false;
        if (ended.si_pid <= 0)
            return true;
        if (ended.si_pid == command)
            kill(-command, SIGKILL);
        if (waitpid(ended.si_pid, &how, 0) == command)
            *status = WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how);
    }
}

static void reap_all(pid_t command, const sigset_t *child_ended, int *status)
{
    const uint64_t end = laz_clock_ms() + REAP_MS;

    while (reap_collect(command, status) && laz_clock_ms() < end) {
        reap_kill_below(getpid(), 0);
        if (*status < 0)
            kill(-command, SIGKILL); /* for systems that show no tree of processes */
        if (reap_collect(command, status))
            (void)laz_posix_await_signal(child_ended, REAP_WAIT_MS);
    }
}

static void reap_exec(pid_t reaper, char *const *argv, const sigset_t *before)
{
    setsid();
    if (!laz_os_die_with_parent(reaper, SIGKILL))
        _exit(AGENT_EXIT_SETUP);
    sigprocmask(SIG_SETMASK, before, NULL);
    execv(argv[0], argv);
    fprintf(stderr, "lazaret-agent: %s: %s\n", argv[0], strerror(errno));
    _exit(AGENT_EXIT_SETUP);
}

_Noreturn void agent_reap_session(pid_t session, int tell)
{
    static char room[REAP_STATUS]; /* there is no heap (laz_os_core_keep) */
    struct laz_wire_status status = {0};
    struct laz_buf line = {.data = room, .cap = sizeof room};
    struct laz_json_write json = {.to = &line};
    int how = 0;
    pid_t pid;

    do
        pid = waitpid(-1, &how, 0);
    while (pid != session && (pid > 0 || errno == EINTR));
    if (pid == session) {
        status.has_signal = WIFSIGNALED(how);
        status.has_exit_code = !status.has_signal;
        if (status.has_signal)
            status.signal = WTERMSIG(how);
        else
            status.exit_code = WEXITSTATUS(how);
        laz_fields_add(&json, NULL, &laz_wire_status, &status);
        laz_buf_putc(&line, '\n');
        (void)!write(tell, line.data, line.len); /* the host may be gone */
    }
    _exit(0);
}

static void reap_nothing(int signal)
{
    (void)signal;
}

int agent_reap(char **argv)
{
    sigset_t watched, child_ended, before;
    int status = -1;
    pid_t parent = getppid();

    if (!laz_os_inherit_orphans() || !laz_os_die_with_parent(parent, SIGTERM)) {
        fputs("lazaret-agent: cannot become a reaper\n", stderr);
        return AGENT_EXIT_SETUP;
    }
    sigemptyset(&watched);
    for (size_t i = 0; i < sizeof reap_signals / sizeof *reap_signals; i++)
        sigaddset(&watched, reap_signals[i]);
    sigemptyset(&child_ended);
    sigaddset(&child_ended, SIGCHLD);
    sigprocmask(SIG_BLOCK, &watched, &before);
    /* The signal is blocked and waited for, so the handler never runs; without one some systems
     * discard the signal. */
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = reap_nothing}, NULL);

    const pid_t self = getpid();
    pid_t command = fork();
    if (command == 0)
        reap_exec(self, argv, &before);
    if (command < 0) {
        fprintf(stderr, "lazaret-agent: fork: %s\n", strerror(errno));
        return AGENT_EXIT_SETUP;
    }
    while (status < 0) {
        int got;
        if (sigwait(&watched, &got) == 0 && got != SIGCHLD)
            break; /* asked to end */
        reap_collect(command, &status);
    }
    reap_all(command, &child_ended, &status);
    return status < 0 ? 128 + SIGKILL : status;
}
