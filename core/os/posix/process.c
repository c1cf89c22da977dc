/* SPDX-License-Identifier: MIT */
/* process.c - waiting for the end of a child, and releasing it.  System: POSIX. */
#include "os/process.h"

#include "base/clock.h"
#include "os/descriptors.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <time.h>

#define PROCESS_LOOK_NS 1000000

bool laz_process_wait(struct laz_process *process, uint64_t ms, struct laz_exit *how)
{
    uint64_t now = laz_clock_ms();
    uint64_t end = ms > UINT64_MAX - now ? UINT64_MAX : now + ms;

    if (process->pidfd < 0)
        return false;
    for (;;) {
        now = laz_clock_ms();
        uint64_t left = now < end ? end - now : 0;
        struct pollfd ended = {.fd = process->pidfd, .events = POLLIN};
        int n = poll(&ended, 1, left > INT_MAX ? INT_MAX : (int)left);
        if (n == 1 || left == 0)
            return laz_process_reap(process, how);
        if (n < 0 && errno != EINTR) { /* poll(2) failed: ask the child itself repeatedly */
            const struct timespec pause = {.tv_nsec = PROCESS_LOOK_NS};
            if (laz_process_reap(process, how))
                return true;
            nanosleep(&pause, NULL);
        }
    }
}

void laz_process_close(struct laz_process *process)
{
    laz_os_close(&process->pidfd);
    process->pid = -1;
}
