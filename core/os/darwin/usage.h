/* SPDX-License-Identifier: MIT */
/* usage.h - the counters of a process on macOS. */
#ifndef LAZ_OS_DARWIN_USAGE_H
#define LAZ_OS_DARWIN_USAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

/* The usage of a process; false: it has ended, or belongs to another user. */
bool laz_darwin_usage(int64_t pid, struct rusage_info_v2 *used);
/* Converts times of struct rusage_info_v2, which are in units of mach_absolute_time(3) and not
 * nanoseconds on every processor. */
uint64_t laz_darwin_us(uint64_t ticks);

#endif
