/* SPDX-License-Identifier: MIT */
/* counters.h - files of the kernel that are read again and again.
 *
 * Opening and closing such a file costs several times as much as reading it, and a descriptor for
 * each of a thousand idle sessions is too many.  So those that were opened last stay open: a few
 * in the whole process, which are given up where one cannot be opened for want of descriptors. */
#ifndef LAZ_OS_LINUX_COUNTERS_H
#define LAZ_OS_LINUX_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNTERS_OPEN 8 /* at most, in a process */

/* All zeros: nothing is open. It is closed before the file's name may mean another file. */
struct counter {
    uint64_t number; /* of the opening; no other has the same */
};

/* The text of DIRECTORY/FILE, as proc_text gives it; false with errno. From any thread, but one at
 * a time for one counter. */
bool counter_read(struct counter *counter, const char *directory, const char *file, char *text,
                  size_t size);
void counter_close(struct counter *counter);

#endif
