/* SPDX-License-Identifier: MIT */
/* thread.c - conditions with a deadline.  System: Linux. */
#include "os/thread.h"

#include <time.h>

void laz_os_condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

bool laz_os_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t until_us)
{
    const struct timespec until = {(time_t)(until_us / 1000000), (long)(until_us % 1000000) * 1000};

    return pthread_cond_timedwait(condition, mutex, &until) == 0;
}
