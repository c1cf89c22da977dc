/* SPDX-License-Identifier: MIT */
/* awake.c - processors that do not fall asleep while two processes pass short messages.
 *
 * How long a processor takes to wake from a halt differs from machine to machine, and under a
 * hypervisor is many times what a message takes.  Whether it has to depends on where the scheduler
 * happens to put the two, which stays so for long.  Either would be measured in place of the work.
 * So one process for each processor runs at the priority that yields to everything (SCHED_IDLE,
 * sched(7)): for the samples and for their floor alike. */
#include "bench.h"

#include "os/os.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void awake_spin(pid_t parent)
{
    const struct sched_param none = {0};
    volatile unsigned turns = 0;

    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent ||
        sched_setscheduler(0, SCHED_IDLE, &none))
        _exit(1);
    for (;;)
        turns++;
}

int bench_keep_awake(pid_t *pids, int most)
{
    const pid_t self = getpid();
    int n = 0;

    for (; n < most && n < (int)laz_os_processors(); n++) {
        pids[n] = fork();
        if (pids[n] == 0)
            awake_spin(self);
        if (pids[n] < 0)
            break;
    }
    return n;
}

void bench_let_sleep(const pid_t *pids, int n)
{
    while (n-- > 0) {
        kill(pids[n], SIGKILL);
        waitpid(pids[n], NULL, 0);
    }
}
