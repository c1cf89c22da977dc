/* SPDX-License-Identifier: MIT */
/* busy.c - keeps all processors but one busy while two processes pass short messages.
 *
 * The time a processor takes to wake from a halt differs between machines, and under a hypervisor
 * is many times that of a message. Whether one has to wake depends on where the scheduler has
 * placed the two processes, which changes rarely; so the measurement would show that in place of
 * the work. With the other processors busy, both processes run on one that does not sleep, for the
 * samples and for their floor alike. */
#include "bench.h"

#include "os/system.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void busy_spin(pid_t parent)
{
    volatile unsigned turns = 0;

    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
        _exit(1);
    for (;;)
        turns++;
}

int bench_keep_busy(pid_t *pids, int most)
{
    const pid_t self = getpid();
    int n = 0;

    for (; n < most && n + 1 < (int)laz_os_processors(); n++) {
        pids[n] = fork();
        if (pids[n] == 0)
            busy_spin(self);
        if (pids[n] < 0)
            break;
    }
    return n;
}

void bench_let_rest(const pid_t *pids, int n)
{
    while (n-- > 0) {
        kill(pids[n], SIGKILL);
        waitpid(pids[n], NULL, 0);
    }
}
