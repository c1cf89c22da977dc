/* SPDX-License-Identifier: MIT */
/* process_tree.h - the usage of a process and all below it, for hosts without control groups. */
#ifndef LAZ_OS_PROCESS_TREE_H
#define LAZ_OS_PROCESS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct laz_tree_usage {
    uint64_t cpu_us;       /* of living processes, and of ended ones that those waited for */
    uint64_t memory_bytes; /* private and shared memory that was written to, and its swap */
    unsigned processes;
};

/* Does this system report the children of a process (proc(5), /proc/PID/task/TID/children)? */
bool laz_os_tree_can_be_seen(void);
/* Adds up the tree at and below `root`. Memory that several processes share is first counted for
 * each; only when the sum is over `enough` it is counted by shares, which takes longer. False: the
 * root has ended. */
bool laz_os_tree_usage(int64_t root, uint64_t enough, struct laz_tree_usage *usage);
/* All children of a process, in an array that the caller frees; NULL: it has none, or they cannot
 * be read. And its parent; -1: it has ended. */
int64_t *laz_os_tree_children(int64_t pid, size_t *n);
int64_t laz_os_tree_parent(int64_t pid);
/* The oldest child of a process with one thread; -1: it has none, or has ended. */
int64_t laz_os_tree_first_child(int64_t pid);

#endif
