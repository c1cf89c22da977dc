/* SPDX-License-Identifier: MIT */
/* thread.h - waiting with an end, for another thread or for a signal. */
#ifndef LAZ_OS_THREAD_H
#define LAZ_OS_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* A condition that is waited for by the clock of laz_clock_us. Ended by pthread_cond_destroy(3). */
void laz_os_condition_init(pthread_cond_t *condition);
/* False: the time is over. Like pthread_cond_timedwait(3) it may return for no reason. */
bool laz_os_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t until_us);

/* Takes one of these signals, which every thread blocks: its number; 0: there was none for `ms`
 * milliseconds. */
int laz_os_await_signal(const sigset_t *signals, uint64_t ms);

#endif
