/* SPDX-License-Identifier: MIT */
/* fault.c (mock) - makes the n-th allocation fail.
 *
 * In an agent MOCK_FAULT=N in the environment takes the place of fault_begin, and a line on
 * standard error reports the fault. */
#include "fault.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_ulong fault_count, fault_at;
static atomic_bool fault_counts, fault_goes_on, fault_tells;

void fault_begin(unsigned long n, bool on)
{
    atomic_store(&fault_count, 0);
    atomic_store(&fault_at, n);
    atomic_store(&fault_goes_on, on);
    atomic_store(&fault_counts, true);
}

unsigned long fault_end(void)
{
    atomic_store(&fault_counts, false);
    atomic_store(&fault_at, 0);
    return atomic_load(&fault_count);
}

static bool fault_now(void)
{
    static const char words[] = "fault came about\n";

    if (!atomic_load(&fault_counts))
        return false;
    unsigned long n = atomic_fetch_add(&fault_count, 1) + 1, at = atomic_load(&fault_at);
    if (!at || (n != at && !(atomic_load(&fault_goes_on) && n > at)))
        return false;
    if (atomic_load(&fault_tells) && write(2, words, sizeof words - 1) < 0)
        _exit(96);
    errno = ENOMEM;
    return true;
}

__attribute__((constructor)) static void fault_of_environment(void)
{
    const char *n = getenv("MOCK_FAULT");

    if (!n)
        return;
    atomic_store(&fault_tells, true);
    fault_begin(strtoul(n, NULL, 10), false);
}

/* The linker's names: __wrap_X is called for X, __real_X is X. */
#define FAULT(type, name, parameters, arguments)                                                   \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        return fault_now() ? NULL : __real_##name arguments;                                       \
    }

FAULT(void *, malloc, (size_t size), (size))
FAULT(void *, calloc, (size_t n, size_t size), (n, size))
FAULT(void *, realloc, (void *old, size_t size), (old, size))
FAULT(char *, realpath, (const char *path, char *resolved), (path, resolved))
FAULT(DIR *, opendir, (const char *name), (name))
FAULT(DIR *, fdopendir, (int fd), (fd))
FAULT(FILE *, fopen, (const char *path, const char *mode), (path, mode))

int __real_vasprintf(char **text, const char *format, va_list args);
int __wrap_vasprintf(char **text, const char *format, va_list args);
int __wrap_vasprintf(char **text, const char *format, va_list args)
{
    return fault_now() ? -1 : __real_vasprintf(text, format, args);
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *user);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *user);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *user)
{
    return fault_now() ? EAGAIN : __real_pthread_create(thread, attributes, run, user);
}
