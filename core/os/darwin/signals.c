/* SPDX-License-Identifier: MIT */
/* signals.c - waiting for signals.  System: macOS. */
#include "os/posix/signals.h"

#include "os/descriptors.h"
#include "os/posix/descriptors.h"
#include "os/signals.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/event.h>
#include <time.h>

/* The queue would also report a signal that is ignored. */
static bool signals_is_ignored(int signal)
{
    struct sigaction now;

    return sigaction(signal, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

/* EVFILT_SIGNAL reports a signal that is sent from now on, blocked or not; sigpending(2) reports
 * one that was sent before. sigwait(3) then takes it without waiting. */
int laz_posix_await_signal(const sigset_t *signals, uint64_t ms)
{
    const struct timespec wait = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000L};
    struct kevent event;
    sigset_t pending;
    int got = 0, queue = laz_posix_above(kqueue());

    if (queue >= 0)
        (void)fcntl(queue, F_SETFD, FD_CLOEXEC);
    for (int i = 1; i < NSIG && queue >= 0; i++) {
        if (sigismember(signals, i) != 1 || signals_is_ignored(i))
            continue;
        EV_SET(&event, (uintptr_t)i, EVFILT_SIGNAL, EV_ADD, 0, 0, NULL);
        (void)kevent(queue, &event, 1, NULL, 0, NULL);
    }
    for (int i = 1; i < NSIG && !got && sigpending(&pending) == 0; i++)
        if (sigismember(signals, i) == 1 && sigismember(&pending, i) == 1)
            got = i;
    if (!got && queue >= 0 && kevent(queue, NULL, 0, &event, 1, &wait) == 1)
        got = (int)event.ident;
    laz_os_close(&queue);
    return got && sigwait(signals, &got) == 0 ? got : 0;
}

bool laz_os_on_interrupt(void (*interrupted)(uint32_t number))
{
    (void)interrupted;
    return false;
}
