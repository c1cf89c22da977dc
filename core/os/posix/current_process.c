/* SPDX-License-Identifier: MIT */
/* current_process.c - variables that are taken, the own user, threads without signals.
 * System: POSIX. */
#include "os/os.h"
#include "os/thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *laz_os_take_variable(const char *name, bool wipe)
{
    char *value = getenv(name);
    char *copy = laz_strdup(value);

    if (value) {
        size_t name_len = strlen(name) + 1;
        char *entry = value - name_len;
        size_t len = name_len + strlen(value);
        unsetenv(name);
        if (wipe)
            laz_wipe(entry, len);
    }
    return copy;
}

uint32_t laz_os_uid(void)
{
    return (uint32_t)geteuid();
}

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
