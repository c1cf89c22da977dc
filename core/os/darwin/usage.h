/* SPDX-License-Identifier: MIT */
/* usage.h - between what one process has used (pidfd.c) and a tree of them
 * (process_tree.c). */
#ifndef LAZ_OS_DARWIN_USAGE_H
#define LAZ_OS_DARWIN_USAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

/* What a process has used; false: it is not there, or somebody else's. */
bool laz_darwin_usage(int64_t pid, struct rusage_info_v2 *used);
/* Times of struct rusage_info_v2 are in units of mach_absolute_time(3), which are no nanoseconds on
 * every processor. */
uint64_t laz_darwin_us(uint64_t ticks);

#endif
