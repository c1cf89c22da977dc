/* SPDX-License-Identifier: MIT */
/* process_tree.h - the usage of a process and all below it, for hosts without control groups. */
#ifndef LAZ_OS_PROCESS_TREE_H
#define LAZ_OS_PROCESS_TREE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct laz_tree_usage {
    uint64_t cpu_us; /* of living processes, and of ended ones that those waited for */
    /* Private and shared memory that was written to, its swap, page tables, and files of the tree's
     * own file systems in memory; and `bound_bytes`. */
    uint64_t memory_bytes;
    uint64_t bound_bytes; /* the most that its sockets, pipes, mappings and locks can hold */
    bool in_flight;       /* that includes what descriptors in messages could hold at worst */
    unsigned processes;
    /* Processes have ended since the previous look, and no process of the tree has waited for them
     * (SIGCHLD is ignored), so that no sum includes their time: what they had used at that look,
     * and how many thousandths of a processor they were using then. */
    bool unwaited;
    uint64_t unwaited_us;
    unsigned unwaited_permille;
};

/* A tree, and what is remembered of it from one look to the next. */
struct laz_tree {
    int64_t root;        /* the first process */
    uint64_t nofile;     /* the most descriptors that one of its processes can have */
    bool trusts_root;    /* it runs no code of the session, and may not be looked into */
    struct laz_buf seen; /* the rest belongs to laz_os_tree_usage */
    struct laz_strv file_systems;
    int64_t inside;
    uint64_t lock_bytes;                 /* as laz_os_tree_lock_bytes gives them */
    uint64_t kernel_bytes, kernel_least; /* the kernel's own memory when they were found, or less */
    unsigned looks;                      /* since then */
};

/* Does this system report the children of a process (proc(5), /proc/PID/task/TID/children)? */
bool laz_os_tree_can_be_seen(void);
/* The most important of what laz_os_tree_usage cannot count, for users; NULL: not known. */
const char *laz_os_tree_misses_cpu(void);
const char *laz_os_tree_misses_memory(void);
/* Adds up the tree at and below `tree->root`. Memory that several processes share is first counted
 * for each; only when the sum is over `enough` bytes it is counted by shares, which takes longer.
 * False: the root has ended. For one thread at a time. */
bool laz_os_tree_usage(struct laz_tree *tree, uint64_t enough, struct laz_tree_usage *usage);
/* What its locks of files count as (fcntl(2)), which no control group counts: much more than they
 * take. They are found when the kernel's memory has grown by some MiB since the last time, and at
 * each tenth look; in between this is what they were. */
uint64_t laz_os_tree_lock_bytes(struct laz_tree *tree);
/* Instead of the first look: it has none yet, and what the kernel's memory grows by from now on may
 * be its locks. */
void laz_os_tree_has_no_locks(struct laz_tree *tree);
/* Frees what is remembered; the tree may be looked at again. */
void laz_os_tree_forget(struct laz_tree *tree);
/* Time, in microseconds, that the processors of the machine have been busy since it started; 0: not
 * known. */
uint64_t laz_os_busy_us(void);
/* All children of a process, in an array that the caller frees; NULL: it has none, or they cannot
 * be read. And its parent; -1: it has ended. */
int64_t *laz_os_tree_children(int64_t pid, size_t *n);
int64_t laz_os_tree_parent(int64_t pid);
/* The oldest child of a process with one thread; -1: it has none, or has ended. */
int64_t laz_os_tree_first_child(int64_t pid);

#endif
