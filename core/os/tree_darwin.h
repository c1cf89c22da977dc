/* SPDX-License-Identifier: MIT */
/* tree_darwin.h - between what one process has used (other_darwin.c) and a tree of them
 * (tree_darwin.c). */
#ifndef LAZ_OS_TREE_DARWIN_H
#define LAZ_OS_TREE_DARWIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

/* What a process has used; false: it is not there, or somebody else's. */
bool laz_darwin_usage(int64_t pid, struct rusage_info_v2 *used);
/* Times of struct rusage_info_v2 are in units of mach_absolute_time(3), which are no nanoseconds on
 * every processor. */
uint64_t laz_darwin_us(uint64_t ticks);

#endif
