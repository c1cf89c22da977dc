/* SPDX-License-Identifier: MIT */
/* thread.h - threads that receive no signal, and conditions with a deadline. */
#ifndef LAZ_OS_THREAD_H
#define LAZ_OS_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Starts a thread in which every signal is blocked: no handler of the application ever runs there.
 * `stack`: its size, 0: the default. 0 or an errno. */
int laz_os_thread(pthread_t *thread, size_t stack, void *(*run)(void *user), void *user);

/* A condition whose deadlines are by the clock of laz_clock_us. Ended by pthread_cond_destroy(3).
 */
void laz_os_condition_init(pthread_cond_t *condition);
/* False: the deadline has passed. Like pthread_cond_timedwait(3) it may return spuriously. */
bool laz_os_condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t until_us);

#endif
