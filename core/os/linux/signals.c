/* SPDX-License-Identifier: MIT */
/* signals.c - waiting for signals.  System: Linux. */
#include "os/posix/signals.h"

#include <signal.h>

int laz_posix_await_signal(const sigset_t *signals, uint64_t ms)
{
    const struct timespec wait = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000L};
    int got = sigtimedwait(signals, NULL, &wait);

    return got > 0 ? got : 0;
}
