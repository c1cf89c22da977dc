/* SPDX-License-Identifier: MIT */
/* thread.c - threads, and conditions with a deadline.  System: Windows. */
#include "os/thread.h"

#include "base/clock.h"

#include <errno.h>
#include <time.h>

int laz_os_thread(pthread_t *thread, size_t stack, void *(*run)(void *user), void *user)
{
    pthread_attr_t attributes;
    int failed = pthread_attr_init(&attributes);

    if (failed)
        return failed;
    if (stack)
        failed = pthread_attr_setstacksize(&attributes, stack);
    if (!failed)
        failed = pthread_create(thread, &attributes, run, user);
    pthread_attr_destroy(&attributes);
    return failed;
}

void laz_os_condition_init(pthread_cond_t *condition)
{
    pthread_cond_init(condition, NULL);
}

/* Deadlines of conditions are by the time of day here: the remaining time is computed just before.
 */
bool laz_os_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t until_us)
{
    uint64_t now = laz_clock_us();
    uint64_t left = until_us > now ? until_us - now : 0;
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)(left / 1000000);
    until.tv_nsec += (long)(left % 1000000) * 1000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    return pthread_cond_timedwait(condition, mutex, &until) != ETIMEDOUT;
}
