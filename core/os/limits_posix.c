/* SPDX-License-Identifier: MIT */
/* limits_posix.c - resource limits that a process puts on itself.  System: POSIX, Linux for nproc.
 *
 * The agent calls this inside the box, before it loads a runtime: a limit on processes set outside
 * would count every process of the user, inside it counts those of the box's user namespace. */
#include "os/os.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct {
    const char *name;
    int resource;
    rlim_t grace; /* hard limit above the soft one */
} limits_table[] = {
    /* The soft limit's SIGXCPU tells this end from other kills; the hard one is SIGKILL. */
    {"cpu", RLIMIT_CPU, 1},
    /* Data counts what is writable. Address space would count stacks and arenas that are only
     * reserved, and stop an interpreter at its eleventh thread. */
    {"memory", RLIMIT_DATA, 0},
    {"fsize", RLIMIT_FSIZE, 0},
    {"nproc", RLIMIT_NPROC, 0},
    {"nofile", RLIMIT_NOFILE, 0},
    {"stack", RLIMIT_STACK, 0},
    {"core", RLIMIT_CORE, 0},
};

int laz_os_set_limit(const char *name, uint64_t value, struct laz_error *err)
{
    for (size_t i = 0; i < sizeof limits_table / sizeof limits_table[0]; i++) {
        if (strcmp(limits_table[i].name, name) != 0)
            continue;
        struct rlimit limit;
        int resource = limits_table[i].resource;
        if (getrlimit(resource, &limit) != 0)
            return laz_error_os(err, errno, "the limit \"%s\" cannot be read", name);
        rlim_t soft = value >= RLIM_INFINITY - 1 ? RLIM_INFINITY : (rlim_t)value;
        rlim_t hard = soft == RLIM_INFINITY ? soft : soft + limits_table[i].grace;
        if (limit.rlim_max != RLIM_INFINITY && hard > limit.rlim_max)
            hard = limit.rlim_max;
        limit.rlim_max = hard;
        limit.rlim_cur = soft < hard ? soft : hard;
        if (setrlimit(resource, &limit) != 0)
            return laz_error_os(err, errno, "the limit \"%s\" cannot be set to %llu", name,
                                (unsigned long long)value);
        return 0;
    }
    return laz_error_set(err, LAZ_EINVAL, 0, "there is no limit \"%s\"", name);
}

bool laz_os_is_root(void)
{
    return geteuid() == 0;
}

unsigned laz_os_processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_CONF); /* any of them may come online */

    return n > 1 ? (unsigned)n : 1;
}
