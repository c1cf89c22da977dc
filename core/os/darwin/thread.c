/* SPDX-License-Identifier: MIT */
/* thread.c - conditions with a deadline.  System: macOS. */
#include "os/thread.h"

#include "base/clock.h"

#include <time.h>

void laz_os_condition_init(pthread_cond_t *condition)
{
    pthread_cond_init(condition, NULL);
}

bool laz_os_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t until_us)
{
    uint64_t now = laz_clock_us();
    uint64_t left = until_us > now ? until_us - now : 0;
    const struct timespec wait = {(time_t)(left / 1000000), (long)(left % 1000000) * 1000};

    return left && pthread_cond_timedwait_relative_np(condition, mutex, &wait) == 0;
}
