/* SPDX-License-Identifier: MIT */
/* warden.c - ends the process groups of a host that is gone.  System: Linux.
 * Side: host.  Input trusted: yes (the host, and its children before they run a program).
 *
 * The child itself registers its group, before its program runs: if the host did so afterwards, it
 * would be too late for a host that is killed in between.  The message carries a pidfd, which means
 * that group even when its first process was reaped and the number reused
 * (PIDFD_SIGNAL_PROCESS_GROUP).
 *
 * The end of the host is an event of a pidfd, not the end of the connection: a process that the
 * application has forked may hold the host's end open.  Empty groups are removed at each start and
 * end of one.  No signal but SIGKILL ends the warden: a SIGTERM to the host's session, unit or
 * terminal must not stop its work. */
#include "os/warden.h"

#include "os/descriptors.h"
#include "os/fd_passing.h"
#include "os/io.h"
#include "os/pidfd.h"
#include "os/posix/child.h"
#include "os/posix/sockets.h"
#include "os/spawner.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define WARDEN_MS     10000 /* for the warden to end */
#define WARDEN_SOCKET 0
#define WARDEN_HOST   3

/* A message: from a child with its pidfd, or from the host with that of a process of a child; from
 * the host, all zeros, when no process is to be signalled; and from the warden, once it is
 * running. */
struct warden_word {
    int32_t pid, signal;
};

/* ---- in the host ---------------------------------------------------------------------------- */

/* Where poll(2) fails, nothing says that it is gone: who has started another one closes the
 * connection of this one, which ends all groups that it has. */
bool laz_warden_is_up(const struct laz_warden *warden)
{
    struct pollfd gone = {.fd = warden->fd, .events = POLLIN};

    return !warden->program || (warden->fd >= 0 && poll(&gone, 1, 0) <= 0);
}

/* It did not start: its first process says by its status what it was short of. */
static int warden_error(const struct laz_warden *warden, const struct laz_exit *how,
                        struct laz_error *err)
{
    if (how->known && !how->signal && laz_errno_is_shortage(how->status))
        return laz_error_start(err, how->status, "%s --warden cannot be started", warden->program);
    return laz_error_set(err, LAZ_ESETUP, 0,
                         "%s --warden, which ends what this process would leave when it is killed, "
                         "did not start; is it the agent of this lazaret?",
                         warden->program);
}

int laz_warden_start(struct laz_warden *warden, uint64_t ms, struct laz_process *process,
                     struct laz_error *err)
{
    static const char *const nothing[] = {NULL};
    const char *const argv[] = {warden->program, "--warden", NULL};
    struct laz_exit how = {0};
    struct warden_word up;
    int ends[2] = {-1, -1}, host = laz_os_pidfd(getpid());
    int rc = 0;

    if (host < 0 || laz_os_message_pair(ends) != 0) {
        rc = laz_error_os(err, errno, "a process that outlives this one cannot be started");
        goto out;
    }
    const struct laz_spawn_fd fds[] = {{ends[1], WARDEN_SOCKET}, {host, WARDEN_HOST}};
    const struct laz_spawn spawn = {
        LAZ_SPAWN_OWN(argv, nothing, fds),
        .own_keys = true,
    };
    rc = laz_os_child_start(&spawn, -1, process, err);
    if (rc)
        goto out;
    laz_os_close(&ends[1]);
    if (laz_os_read_within(ends[0], &up, sizeof up, ms < INT_MAX ? (int)ms : INT_MAX) !=
        sizeof up) {
        laz_process_signal_group(process, SIGKILL);
        laz_process_signal(process, SIGKILL);
        (void)laz_process_wait(process, ms, &how);
        rc = warden_error(warden, &how, err);
        goto out;
    }
    (void)laz_process_wait(process, ms,
                           NULL); /* the process that started it has forked, and ends */
    warden->fd = ends[0];
    ends[0] = -1;
out:
    laz_os_close(&host);
    laz_os_close(&ends[0]);
    laz_os_close(&ends[1]);
    return rc;
}

void laz_warden_include(const struct laz_warden *warden, const struct laz_process *leader)
{
    const struct warden_word word = {.pid = (int32_t)leader->pid, .signal = SIGKILL};

    if (warden->fd >= 0)
        (void)laz_posix_send_fds(warden->fd, &word, sizeof word, &leader->pidfd, 1, MSG_DONTWAIT);
}

void laz_warden_end(struct laz_warden *warden)
{
    const struct warden_word bye = {0};

    if (warden->fd >= 0 && send(warden->fd, &bye, sizeof bye, MSG_NOSIGNAL) == sizeof bye)
        (void)laz_os_await(warden->fd, WARDEN_MS); /* ends when it has closed its end */
    laz_os_close(&warden->fd);
    free(warden->program);
    warden->program = NULL;
}

/* ---- in a child ----------------------------------------------------------------------------- */

bool laz_warden_take(int fd, int signal)
{
    const struct warden_word word = {.pid = getpid(), .signal = signal};
    int self = laz_os_pidfd(word.pid);
    bool told = self >= 0 && laz_os_hand_over(fd, &word, sizeof word, &self, 1);

    laz_os_close(&self);
    return told;
}

/* ---- the warden ----------------------------------------------------------------------------- */

struct warden_group {
    struct laz_process leader;
    int signal;
    bool led; /* its first process is not known to have ended */
};

struct warden {
    struct warden_group *groups;
    struct pollfd *awaited; /* the host, the connection, then each group */
    size_t n, room;
    bool released; /* the host has no more children */
};

static bool warden_make_room(struct warden *warden)
{
    size_t room = warden->room ? 2 * warden->room : 16;
    void *groups, *awaited;

    if (warden->n < warden->room)
        return true;
    groups = realloc(warden->groups, room * sizeof *warden->groups);
    if (groups)
        warden->groups = groups;
    awaited = realloc(warden->awaited, (room + 2) * sizeof *warden->awaited);
    if (awaited)
        warden->awaited = awaited;
    if (!groups || !awaited)
        return false;
    warden->room = room;
    return true;
}

/* False: there is no message, or there will be no more. */
static bool warden_hear(struct warden *warden)
{
    struct warden_word word = {0};
    int fds[LAZ_OS_HANDOVER];
    size_t n;

    if (laz_os_receive(WARDEN_SOCKET, &word, sizeof word, fds, &n) != sizeof word)
        return false;
    warden->released = word.pid == 0; /* the descriptor may be lost on the way, unix(7) */
    if (n == 1 && warden_make_room(warden))
        warden->groups[warden->n++] =
            (struct warden_group){{(pid_t)word.pid, fds[0]}, word.signal, true};
    return true;
}

static void warden_forget_empty(struct warden *warden)
{
    size_t kept = 0;

    for (size_t i = 0; i < warden->n; i++) {
        struct warden_group *group = &warden->groups[i];
        if (group->led || laz_process_signal_group(&group->leader, 0))
            warden->groups[kept++] = *group;
        else
            laz_process_close(&group->leader);
    }
    warden->n = kept;
}

/* Serves until the host is gone, or has released the warden. */
static void warden_watch(struct warden *warden)
{
    while (!warden->released) {
        struct pollfd *fds = warden->awaited;
        fds[0] = (struct pollfd){.fd = WARDEN_HOST, .events = POLLIN};
        fds[1] = (struct pollfd){.fd = WARDEN_SOCKET, .events = POLLIN};
        for (size_t i = 0; i < warden->n; i++)
            fds[2 + i] =
                (struct pollfd){.fd = warden->groups[i].led ? warden->groups[i].leader.pidfd : -1,
                                .events = POLLIN};
        if (poll(fds, warden->n + 2, -1) < 0 && errno != EINTR && errno != ENOMEM)
            return;
        if (fds[0].revents)
            return;
        for (size_t i = 0; i < warden->n; i++)
            warden->groups[i].led = warden->groups[i].led && !fds[2 + i].revents;
        if (fds[1].revents && !warden_hear(warden))
            return;
        warden_forget_empty(warden);
    }
}

int laz_os_warden(void)
{
    const struct warden_word up = {0};
    struct warden warden = {0};
    struct rlimit files;
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    pid_t pid =
        fork(); /* not a child of the host: an application may wait for all of its children */
    if (pid != 0)
        _exit(pid < 0 ? errno : 0);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    if (!warden_make_room(&warden) ||
        send(WARDEN_SOCKET, &up, sizeof up, MSG_NOSIGNAL) != sizeof up)
        return 1;
    warden_watch(&warden);
    /* From now on no child can register a group; those that could are in the connection. */
    (void)shutdown(WARDEN_SOCKET, SHUT_RD);
    while (!warden.released && warden_hear(&warden))
        ;
    for (size_t i = 0; i < warden.n && !warden.released; i++)
        laz_process_signal_group(&warden.groups[i].leader, warden.groups[i].signal);
    return 0; /* which also closes its descriptors */
}
