/* SPDX-License-Identifier: MIT */
/* usage.h - CPU time and memory of another process, and of this one. */
#ifndef LAZ_OS_USAGE_H
#define LAZ_OS_USAGE_H

#include <stdbool.h>
#include <stdint.h>

/* CPU time and resident memory of a process as the kernel reports them: of that very process, never
 * of another that gets its number. */
struct laz_usage {
    int fd;         /* Windows: the process; -1 */
    int64_t pid;    /* Linux, macOS: its number, 0: none ... */
    uint64_t begun; /* ... and when it began, in a unit of the system's */
    uint64_t open;  /* Linux: the counter (os/linux/counters.h), closed with the rest */
};
#define LAZ_USAGE_INIT ((struct laz_usage){.fd = -1})
/* False with errno: the system does not report it; then both are 0 below. */
bool laz_os_usage_open(int64_t pid, struct laz_usage *usage);
void laz_os_usage_read(struct laz_usage *usage, uint64_t *cpu_us, uint64_t *rss_bytes);
static inline bool laz_os_usage_is_open(const struct laz_usage *usage)
{
    return usage->fd >= 0 || usage->pid > 0;
}
void laz_os_usage_close(struct laz_usage *usage);

/* What this process itself has used. */
struct laz_own_usage {
    uint64_t cpu_us, rss_bytes;
    uint64_t started_s;   /* seconds since the epoch */
    uint64_t descriptors; /* that are open */
};
/* False: the system does not report it. Linux only. */
bool laz_os_own_usage(struct laz_own_usage *usage);

#endif
