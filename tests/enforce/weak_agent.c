/* SPDX-License-Identifier: MIT */
/* weak_agent.c - lazaret-agent without the layers that LAZ_TEST_WITHOUT lists.
 *
 * Linked with the sources of the agent; the linker's --wrap replaces functions by those here
 * (ld(1)). Only this program reads the variable. */
#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

int __real_laz_os_filter(const char *name, struct laz_error *err);
int __wrap_laz_os_filter(const char *name, struct laz_error *err);
int __real_laz_os_landlock_enter(int ruleset, struct laz_error *err);
int __wrap_laz_os_landlock_enter(int ruleset, struct laz_error *err);
int __real_laz_os_set_limit(const char *name, uint64_t value, struct laz_error *err);
int __wrap_laz_os_set_limit(const char *name, uint64_t value, struct laz_error *err);
void __real_agent_close_descriptors(int channel);
void __wrap_agent_close_descriptors(int channel);
int __wrap_prctl(int option, ...);
int __real_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d);
void __wrap_laz_wipe(void *at, size_t len);
void __real_laz_wipe(void *at, size_t len);
int __wrap_unsetenv(const char *name);
int __real_unsetenv(const char *name);
char *__wrap_getenv(const char *name);
char *__real_getenv(const char *name);

static bool weak_lacks(const char *layer)
{
    const char *list = __real_getenv("LAZ_TEST_WITHOUT");
    size_t len = strlen(layer);

    for (const char *at = list; at; at = strchr(at, '+') ? strchr(at, '+') + 1 : NULL)
        if (strncmp(at, layer, len) == 0 && (at[len] == '\0' || at[len] == '+'))
            return true;
    return false;
}

int __wrap_laz_os_filter(const char *name, struct laz_error *err)
{
    return weak_lacks("filter") ? 0 : __real_laz_os_filter(name, err);
}

int __wrap_laz_os_landlock_enter(int ruleset, struct laz_error *err)
{
    return weak_lacks("landlock") ? 0 : __real_laz_os_landlock_enter(ruleset, err);
}

int __wrap_laz_os_set_limit(const char *name, uint64_t value, struct laz_error *err)
{
    return weak_lacks("limits") ? 0 : __real_laz_os_set_limit(name, value, err);
}

void __wrap_agent_close_descriptors(int channel)
{
    if (!weak_lacks("descriptors"))
        __real_agent_close_descriptors(channel);
}

int __wrap_prctl(int option, ...)
{
    unsigned long args[4];
    va_list list;

    va_start(list, option);
    for (int i = 0; i < 4; i++)
        args[i] = va_arg(list, unsigned long);
    va_end(list);
    if (option == PR_SET_NO_NEW_PRIVS && weak_lacks("no_new_privs"))
        return 0;
    return __real_prctl(option, args[0], args[1], args[2], args[3]);
}

/* Leaves the token in memory. */
void __wrap_laz_wipe(void *at, size_t len)
{
    if (!weak_lacks("wiping"))
        __real_laz_wipe(at, len);
}

int __wrap_unsetenv(const char *name)
{
    return weak_lacks("wiping") ? 0 : __real_unsetenv(name);
}

/* Stands for a process that knows the token's length only. */
char *__wrap_getenv(const char *name)
{
    char *value = __real_getenv(name);

    if (value && strcmp(name, "LAZARET_TOKEN") == 0 && weak_lacks("own-token"))
        value[0] = value[0] == 'a' ? 'b' : 'a';
    return value;
}
