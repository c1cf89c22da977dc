/* SPDX-License-Identifier: MIT */
/* current_process.c - taking variables, and resource limits that a process puts on itself.
 * System: POSIX, Linux for nproc.
 *
 * The agent sets the limits inside the box, before it loads a runtime: a limit on processes set
 * outside would count every process of the user, inside it counts those of the box's user
 * namespace. */
#include "os/current_process.h"

#include "base/buf.h"
#include "base/limits.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMITS_BESIDE 256u                /* reserve for processes that the user starts meanwhile */
#define LIMITS_MOST   ((uint64_t)1 << 22) /* processes of a system: PID_MAX_LIMIT */

int64_t laz_os_process_id(void)
{
    return getpid();
}

static atomic_uint forks;

static void forks_count(void)
{
    atomic_fetch_add(&forks, 1);
}

static void forks_watch(void)
{
    (void)pthread_atfork(NULL, NULL, forks_count); /* fails without memory only */
}

uint32_t laz_os_forks(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, forks_watch);
    return atomic_load(&forks);
}

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

bool laz_os_set_variable(const char *name, const char *value)
{
    return setenv(name, value, 1) == 0;
}

/* The resource of each limit of base/limits.h, which names it, and how far the hard limit is above
 * the soft one: a row of that table without its resource does not compile. */
/* SIGXCPU distinguishes this end from other kills, by SIGKILL. The kernel counts the whole life of
 * a process (setrlimit(2)): plans set "cpu" from limits.session_cpu. */
#define LIMITS_CPU         RLIMIT_CPU, 1
#define LIMITS_SESSION_CPU RLIMIT_CPU, 1
/* RLIMIT_DATA counts writable memory. Address space would count stacks and arenas that are only
 * reserved, and stop an interpreter at its eleventh thread. */
#define LIMITS_MEMORY RLIMIT_DATA, 0
#define LIMITS_FSIZE  RLIMIT_FSIZE, 0
#define LIMITS_NPROC  RLIMIT_NPROC, 0
#define LIMITS_NOFILE RLIMIT_NOFILE, 0
#define LIMITS_STACK  RLIMIT_STACK, 0

static const struct {
    const char *name;
    int resource;
    rlim_t grace;
} limits_table[] = {{"core", RLIMIT_CORE, 0},
#define LIMITS_ROW(ID, name, ...) {name, LIMITS_##ID},
                    LAZ_LIMITS(LIMITS_ROW)
#undef LIMITS_ROW
};

/* Quotas that the kernel counts by user, whatever the namespace (getrlimit(2)): a session gets so
 * much of them and leaves the rest to others. Locked memory cannot be swapped; 64 KiB, all that
 * Linux gave before 5.16, hold the keys of cryptographic libraries. 256 pending signals are so many
 * timers of POSIX (timer_create(2)). POSIX queues are refused anyway. */
static const struct {
    const char *name;
    int resource;
    rlim_t most;
} limits_quotas[] = {
    {"memlock", RLIMIT_MEMLOCK, 64 << 10},
#ifdef RLIMIT_SIGPENDING
    {"sigpending", RLIMIT_SIGPENDING, 256},
#endif
#ifdef RLIMIT_MSGQUEUE
    {"msgqueue", RLIMIT_MSGQUEUE, 0},
#endif
};

/* Does one more process fit below a soft limit of `soft`? */
static bool limits_has_room(struct rlimit *limit, uint64_t soft)
{
    if (soft > LIMITS_MOST || (limit->rlim_max != RLIM_INFINITY && soft >= limit->rlim_max))
        return true; /* the hard limit is what counts */
    limit->rlim_cur = (rlim_t)soft;
    if (setrlimit(RLIMIT_NPROC, limit) != 0)
        return false;
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return pid > 0;
}

/* Where the limit counts all processes of the user, in whatever container, their number cannot be
 * read: it is found by trying. The session gets `value` more, and the user a reserve to start other
 * programs without the session's next fork(2) failing. So it is not an exact limit, but a fork bomb
 * ends at some hundred. */
static int limits_set_beside(uint64_t value, struct laz_error *err)
{
    uint64_t low = 0, high = value ? value : 1, step = high;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NPROC, &limit) != 0)
        return laz_error_os(err, errno, "the limit \"nproc\" cannot be read");
    if (value > LIMITS_MOST)
        return 0;
    while (!limits_has_room(&limit, high)) {
        low = high;
        high *= 2;
    }
    while (high - low > step) {
        uint64_t middle = low + (high - low) / 2;
        *(limits_has_room(&limit, middle) ? &high : &low) = middle;
    }
    return laz_os_set_limit("nproc", high + value + LIMITS_BESIDE, err);
}

/* Sets a limit, not above the present hard one. */
static int limits_set(const char *name, int resource, rlim_t soft, rlim_t grace,
                      struct laz_error *err)
{
    struct rlimit limit;

    if (getrlimit(resource, &limit) != 0)
        return laz_error_os(err, errno, "the limit \"%s\" cannot be read", name);
    rlim_t hard = soft == RLIM_INFINITY ? soft : soft + grace;
    if (limit.rlim_max != RLIM_INFINITY && hard > limit.rlim_max)
        hard = limit.rlim_max;
    soft = soft < hard ? soft : hard;
    if (limit.rlim_cur == soft && limit.rlim_max == hard)
        return 0; /* a session of a template has some from there, and may not set each */
    limit.rlim_max = hard;
    limit.rlim_cur = soft;
    if (setrlimit(resource, &limit) != 0)
        return laz_error_os(err, errno, "the limit \"%s\" cannot be set to %llu", name,
                            (unsigned long long)soft);
    return 0;
}

int laz_os_set_limit(const char *name, uint64_t value, struct laz_error *err)
{
    rlim_t soft = value >= RLIM_INFINITY - 1 ? RLIM_INFINITY : (rlim_t)value;

    if (strcmp(name, "nproc_beside") == 0)
        return limits_set_beside(value, err);
    for (size_t i = 0; i < sizeof limits_table / sizeof limits_table[0]; i++)
        if (strcmp(limits_table[i].name, name) == 0)
            return limits_set(name, limits_table[i].resource, soft, limits_table[i].grace, err);
    return laz_error_set(err, LAZ_EINVAL, 0, "there is no limit \"%s\"", name);
}

int laz_os_set_quotas(struct laz_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < sizeof limits_quotas / sizeof limits_quotas[0] && !rc; i++)
        rc = limits_set(limits_quotas[i].name, limits_quotas[i].resource, limits_quotas[i].most, 0,
                        err);
    return rc;
}
