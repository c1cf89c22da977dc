/* SPDX-License-Identifier: MIT */
/* child.c - what is the same of making a child on Linux and macOS.  System: POSIX.
 * Side: host.  Input trusted: yes. */
#include "os/posix/child.h"

#include "os/descriptors.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

int laz_child_check_fds(const struct laz_spawn *spawn, int *above, struct laz_error *err)
{
    *above = 3;
    for (size_t i = 0; i < spawn->n_fds; i++) {
        int child = spawn->fds[i].child;
        if (child < 0)
            return laz_error_set(err, LAZ_EINVAL, 0, "a descriptor of a child has the number %d",
                                 child);
        for (size_t k = 0; k < i; k++)
            if (spawn->fds[k].child == child)
                return laz_error_set(err, LAZ_EINVAL, 0, "descriptor %d of a child is given twice",
                                     child);
        if (child >= *above)
            *above = child + 1;
    }
    return 0;
}

/* 0: the program runs. Else an error that describes the step that failed. */
static int child_outcome(const struct laz_child_way *way, struct laz_error *err)
{
    struct laz_child_failure failure;
    ssize_t n;

    /* Otherwise a process with the other end could delay this for ever. */
    if (way->waited && laz_os_nonblock(way->errors, true, err))
        return LAZ_EOS;
    do {
        n = read(way->errors, &failure, sizeof failure);
    } while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof failure)
        return 0;
    if (failure.step < 0 || (size_t)failure.step >= way->n_steps)
        failure.step = (int)way->n_steps - 1;
    return laz_error_start(err, failure.os_errno, "%s cannot be started: %s", way->spawn->argv[0],
                           way->steps[failure.step]);
}

int laz_child_follow(const struct laz_child_way *way, pid_t pid, struct laz_process *process,
                     struct laz_error *err)
{
    int rc = process->pidfd < 0 ? laz_error_os(err, errno, "%s was started, but cannot be followed",
                                               way->spawn->argv[0])
                                : child_outcome(way, err);

    if (!rc) {
        process->pid = pid;
        return 0;
    }
    /* Kills it with what it has started by now: bwrap's inner process would wait for ever. */
    (void)kill(pid, SIGKILL);
    if (way->spawn->group)
        (void)kill(-pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return rc;
}
