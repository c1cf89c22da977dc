/* SPDX-License-Identifier: MIT */
/* thread.c - threads in which every signal is blocked.  System: POSIX. */
#include "os/thread.h"

#include <pthread.h>
#include <signal.h>

int laz_os_thread(pthread_t *thread, size_t stack, void *(*run)(void *user), void *user)
{
    pthread_attr_t attributes;
    sigset_t all, before;

    pthread_attr_init(&attributes);
    if (stack)
        pthread_attr_setstacksize(&attributes, stack);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(thread, &attributes, run, user);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return failed;
}
