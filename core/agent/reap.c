/* SPDX-License-Identifier: MIT */
/* reap.c - a parent that leaves nobody behind, for boxes without a pid namespace.
 * Side: box.  Input trusted: yes (the command line of the host).
 *
 * A process group is not enough: a daemon that forks twice leaves it. As a child subreaper this
 * process inherits every orphan below it, so what it can find under /proc is all there is. It kills
 * whole trees at a time until no child is left; what forks faster is caught in the next round, and
 * a bound on the time keeps a process that cannot be killed from holding the reaper.
 *
 * It stands outside of the session's Landlock domain, whose scope keeps the session's signals from
 * it. Where that does not exist (before Linux 6.12) the session may kill it: then the agent dies
 * with it, and of what has left the agent's side the host can only find what has a uid or a control
 * group of its own. */
#include "agent/agent.h"

#include "base/clock.h"
#include "os/io.h"
#include "os/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REAP_MS      10000
#define REAP_DEPTH   64
#define REAP_WAIT_NS 25000000L /* for the end of a child that was killed */

static const int reap_signals[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD};

static long reap_parent_of(long pid)
{
    char path[64], text[512];
    long parent = -1;

    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return -1;
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    const char *end = strrchr(text, ')'); /* the name before it may contain anything */
    return end && sscanf(end + 1, " %*c %ld", &parent) == 1 ? parent : -1;
}

static void reap_kill_below(long pid, int depth);

/* Stops it first, so that it makes no more children while those it has are looked for. The
 * descriptor is of whatever has the number now; that it still is the child is asked afterwards. */
static void reap_kill_child(long child, long parent, int depth)
{
    struct laz_process process = {(pid_t)child, laz_os_pidfd(child)};

    if (process.pidfd < 0)
        return;
    if (reap_parent_of(child) == parent) {
        laz_process_signal(&process, SIGSTOP);
        if (depth < REAP_DEPTH)
            reap_kill_below(child, depth + 1);
        laz_process_signal(&process, SIGKILL);
    }
    laz_process_close(&process);
}

/* Kills everything below `pid`. What is missed here (children of other threads than the first, what
 * was forked meanwhile) has this process as its parent once those above it are gone. */
static void reap_kill_below(long pid, int depth)
{
    char path[64], *text = NULL;
    size_t size = 0;

    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", pid, pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    ssize_t got = getdelim(&text, &size, '\0', file);
    fclose(file);
    for (char *p = text; got > 0 && *p;) {
        char *end;
        long child = strtol(p, &end, 10);
        if (end == p || child <= 0)
            break;
        reap_kill_child(child, pid, depth);
        p = end + strspn(end, " ");
    }
    free(text);
}

/* Takes the exit status of every child that has ended; true while there are others. What is left of
 * the command's group is killed before its number is given back, never later. */
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
    const struct timespec wait = {0, REAP_WAIT_NS};
    const uint64_t end = laz_clock_ms() + REAP_MS;

    while (reap_collect(command, status) && laz_clock_ms() < end) {
        reap_kill_below(getpid(), 0);
        if (*status < 0)
            kill(-command, SIGKILL); /* where /proc is not mounted it is this that helps */
        if (reap_collect(command, status))
            sigtimedwait(child_ended, NULL, &wait);
    }
}

static void reap_exec(pid_t reaper, char *const *argv, const sigset_t *before)
{
    setsid();
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) || getppid() != reaper)
        _exit(AGENT_EXIT_SETUP);
    sigprocmask(SIG_SETMASK, before, NULL);
    execv(argv[0], argv);
    fprintf(stderr, "lazaret-agent: %s: %s\n", argv[0], strerror(errno));
    _exit(AGENT_EXIT_SETUP);
}

_Noreturn void agent_reap_session(pid_t session, int tell)
{
    char line[40];
    int how = 0;
    pid_t pid;

    do
        pid = waitpid(-1, &how, 0);
    while (pid != session && (pid > 0 || errno == EINTR));
    if (pid == session) {
        int len = WIFSIGNALED(how)
                      ? snprintf(line, sizeof line, "{\"signal\":%d}\n", WTERMSIG(how))
                      : snprintf(line, sizeof line, "{\"exit-code\":%d}\n", WEXITSTATUS(how));
        (void)!write(tell, line, (size_t)len); /* a host that is gone needs no word */
    }
    _exit(0);
}

int agent_reap(char *const *argv)
{
    sigset_t watched, child_ended, before;
    int status = -1;
    pid_t parent = getppid();

    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) || prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) ||
        getppid() != parent) {
        fputs("lazaret-agent: cannot become a reaper\n", stderr);
        return AGENT_EXIT_SETUP;
    }
    sigemptyset(&watched);
    for (size_t i = 0; i < sizeof reap_signals / sizeof *reap_signals; i++)
        sigaddset(&watched, reap_signals[i]);
    sigemptyset(&child_ended);
    sigaddset(&child_ended, SIGCHLD);
    sigprocmask(SIG_BLOCK, &watched, &before);

    const pid_t self = getpid();
    pid_t command = fork();
    if (command == 0)
        reap_exec(self, argv, &before);
    if (command < 0) {
        fprintf(stderr, "lazaret-agent: fork: %s\n", strerror(errno));
        return AGENT_EXIT_SETUP;
    }
    while (status < 0) {
        int got = sigwaitinfo(&watched, NULL);
        if (got >= 0 && got != SIGCHLD)
            break; /* asked to end */
        reap_collect(command, &status);
    }
    reap_all(command, &child_ended, &status);
    return status < 0 ? 128 + SIGKILL : status;
}
