/* SPDX-License-Identifier: MIT */
/* signals.c - the descriptions of signals, and those that interrupt.  System: POSIX. */
#include "os/signals.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

const char *laz_os_signal_words(int signal)
{
    return strsignal(signal);
}

void laz_os_lead_group(void)
{
    if (getpgrp() != getpid())
        (void)setpgid(0, 0);
}

void laz_os_take_terminal(void)
{
    if (!isatty(STDIN_FILENO))
        return;
    (void)setsid(); /* a process that leads a session already is refused, and needs no other */
    (void)ioctl(STDIN_FILENO, TIOCSCTTY, 0);
}

void laz_os_interrupt_group(void)
{
    (void)kill(0, SIGINT);
}

void laz_os_interrupt_others(void)
{
    struct sigaction before, ignored = {.sa_handler = SIG_IGN};

    sigemptyset(&ignored.sa_mask);
    if (sigaction(SIGINT, &ignored, &before) != 0)
        return;
    (void)kill(0, SIGINT);
    (void)sigaction(SIGINT, &before, NULL);
}

#ifndef SI_KERNEL /* macOS */
#define SI_KERNEL 0x80
#endif

/* A signal handler has no argument of ours. */
static void (*signals_by_terminal)(void);

/* The kernel sends what is typed; kill(2) says that it was a process. */
static void signals_bear(int signal, siginfo_t *info, void *context)
{
    const int before = errno;

    (void)signal;
    (void)context;
    if (info->si_code == SI_KERNEL)
        signals_by_terminal();
    errno = before;
}

/* A handler, because SIG_IGN would be inherited by programs (execve(2)). */
void laz_os_bear_interrupts(void (*by_terminal)(void))
{
    struct sigaction action = {.sa_sigaction = signals_bear, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    signals_by_terminal = by_terminal;
    sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
}
