/* SPDX-License-Identifier: MIT */
/* current_process.c - variables and privileges of the calling process.  System: macOS. */
#include "os/current_process.h"

#include "os/descriptors.h"
#include "os/posix/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/event.h>
#include <unistd.h>

const char *laz_os_getenv(const char *name)
{
    return issetugid() ? NULL : getenv(name);
}

/* A process cannot drop this privilege by itself: the sandbox has to prevent that set-id programs
 * gain one (it refuses to execute them). */
int laz_os_no_new_privs(struct laz_error *err)
{
    return laz_error_set(err, LAZ_ENOENT, 0, "macOS does not support no_new_privs");
}

/* Orphans always become children of launchd(8). */
bool laz_os_inherit_orphans(void)
{
    return true;
}

struct process_watch {
    int queue, signal;
};

static void *process_watch_parent(void *data)
{
    struct process_watch watch = *(struct process_watch *)data;
    struct kevent event;
    int n;

    free(data);
    do
        n = kevent(watch.queue, NULL, 0, &event, 1, NULL);
    while (n < 0 && errno == EINTR);
    if (n == 1)
        (void)kill(getpid(), watch.signal);
    (void)close(watch.queue);
    return NULL;
}

/* There is no parent-death signal: a thread waits for the parent's end (kqueue(2), NOTE_EXIT) and
 * sends it, until the process executes another program. Where that is impossible, in a sandbox that
 * refuses it for example, only the end of the channel shows the end of the host. */
bool laz_os_die_with_parent(int64_t parent, int signal)
{
    struct process_watch *watch = malloc(sizeof *watch);
    sigset_t all, before;
    struct kevent event;
    pthread_t thread;

    EV_SET(&event, (uintptr_t)parent, EVFILT_PROC, EV_ADD | EV_ONESHOT, NOTE_EXIT, 0, NULL);
    int queue = watch ? laz_posix_above(kqueue()) : -1;
    if (queue >= 0 && fcntl(queue, F_SETFD, FD_CLOEXEC) == 0 &&
        kevent(queue, &event, 1, NULL, 0, NULL) == 0) {
        *watch = (struct process_watch){queue, signal};
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        if (pthread_create(&thread, NULL, process_watch_parent, watch) == 0) {
            (void)pthread_detach(thread);
            watch = NULL;
            queue = -1;
        }
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    laz_os_close(&queue);
    free(watch);
    return getppid() == parent;
}
