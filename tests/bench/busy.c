/* SPDX-License-Identifier: MIT */
/* busy.c - other work for all processors but one, while two processes pass short messages.
 *
 * How long a processor takes to wake from a halt differs from machine to machine, and under a
 * hypervisor is many times what a message takes.  Whether one has to wake depends on where the
 * scheduler happens to put the two processes, which stays so for long: either would be measured in
 * place of the work.  Where the others are busy the two find themselves on one that does not sleep:
 * for the samples and for their floor alike. */
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
