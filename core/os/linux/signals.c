/* SPDX-License-Identifier: MIT */
/* signals.c - waiting for signals, and the one that interrupts.  System: Linux. */
#include "os/signals.h"

#include "os/linux/signals.h"
#include "os/posix/signals.h"

#include <errno.h>
#include <unistd.h>

int laz_posix_await_signal(const sigset_t *signals, uint64_t ms)
{
    const struct timespec wait = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000L};
    int got = sigtimedwait(signals, NULL, &wait);

    return got > 0 ? got : 0;
}

static void (*signals_interrupted)(uint32_t number);

static void signals_on_interrupt(int signal, siginfo_t *info, void *context)
{
    const int before = errno;

    (void)signal;
    (void)context;
    if (info->si_code == SI_QUEUE)
        signals_interrupted((uint32_t)info->si_value.sival_int);
    errno = before;
}

/* Without SA_RESTART: a call of the system that waits returns (signal(7)). */
bool laz_os_on_interrupt(void (*interrupted)(uint32_t number))
{
    struct sigaction action = {.sa_sigaction = signals_on_interrupt,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK};

    signals_interrupted = interrupted;
    sigemptyset(&action.sa_mask);
    return sigaction(LINUX_INTERRUPT, &action, NULL) == 0;
}
