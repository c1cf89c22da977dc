/* SPDX-License-Identifier: MIT */
/* counters.h - files of the kernel that are read again and again.
 *
 * Opening and closing such a file costs several times as much as reading it, and a descriptor for
 * each of a thousand idle sessions is too many.  So those that were opened last stay open: an
 * eighth of the descriptors that the process may have (RLIMIT_NOFILE when the first one is opened),
 * and all of them are given up where one cannot be opened for want of descriptors. */
#ifndef LAZ_OS_LINUX_COUNTERS_H
#define LAZ_OS_LINUX_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNTERS_LEAST 8 /* that stay open, in a process, whatever its limit is */
#define COUNTERS_MOST  256

/* All zeros: nothing is open. It is closed before the file's name may mean another file. */
struct counter {
    uint64_t number; /* of the opening; no other has the same */
};

/* The text of DIRECTORY/FILE, as proc_text gives it; false with errno. From any thread. */
bool counter_read(struct counter *counter, const char *directory, const char *file, char *text,
                  size_t size);
void counter_close(struct counter *counter);
/* Gives up all that stay open. Each opens again when it is read. From any thread. */
void counters_give_up(void);

#endif
