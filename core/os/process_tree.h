/* SPDX-License-Identifier: MIT */
/* process_tree.h - the usage of a process and all below it, for hosts without control groups. */
#ifndef LAZ_OS_PROCESS_TREE_H
#define LAZ_OS_PROCESS_TREE_H

#include "base/buf.h"
#include "base/clock.h"

#include <stdatomic.h>

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
    int64_t root;     /* the first process */
    uint64_t nofile;  /* the most descriptors that one of its processes can have */
    bool trusts_root; /* it runs no code of the session, and may not be looked into */
    /* Of a tree with a network namespace of its own: the most that a socket of TCP in it can hold
     * (0: it has no such namespace), and how many the host has in it that only listen. */
    uint64_t tcp_bytes;
    unsigned listeners;
    /* How long the kernel takes to report of its processes, they decide.  So a look is given up, no
     * later than after the next call of the system: when the calling thread has used so much CPU
     * time (laz_clock_thread_us; 0: never), or when another thread has said so. */
    uint64_t until_us;
    atomic_bool is_given_up;
    atomic_uint steps;   /* of the look: unless it changes, the look is held by one call */
    bool was_short;      /* the last look lacked descriptors or memory, and is not to be believed */
    unsigned shortages;  /* before it */
    struct laz_buf seen; /* the rest belongs to the functions below */
    struct laz_strv file_systems;
    int64_t inside;
    uint64_t lock_bytes;                 /* as laz_os_tree_find_locks has found them */
    uint64_t network_bytes;              /* what sockets in its namespace can hold: the same */
    uint64_t kernel_bytes, kernel_least; /* the kernel's own memory when they were found, or less */
    unsigned looks;                      /* since then */
};

/* Does this system report the children of a process (proc(5), /proc/PID/task/TID/children)? */
bool laz_os_tree_can_be_seen(void);
/* The most important of what laz_os_tree_usage cannot count, for users; NULL: not known. */
const char *laz_os_tree_misses_cpu(void);
const char *laz_os_tree_misses_memory(void);
/* Between two calls of the system. False: the look at it is given up. */
static inline bool laz_tree_lasts(struct laz_tree *tree)
{
    atomic_fetch_add(&tree->steps, 1);
    if (tree->until_us && laz_clock_thread_us() >= tree->until_us)
        atomic_store(&tree->is_given_up, true);
    return !atomic_load(&tree->is_given_up);
}
/* Adds up the tree at and below `tree->root`. Memory that several processes share is first counted
 * for each; only when the sum is over `enough` bytes it is counted by shares, which takes longer.
 * False: the root has ended, the look was given up, or it lacked something (`tree->was_short`).
 * For one thread at a time. */
bool laz_os_tree_usage(struct laz_tree *tree, uint64_t enough, struct laz_tree_usage *usage);
/* What its locks of files count as (fcntl(2)), which no control group counts, goes to
 * `tree->lock_bytes`: much more than they take. Sockets of its network namespace go to
 * `tree->network_bytes`: those, too, that no process has open. False: as laz_os_tree_usage, which
 * finds them too when they are due. */
bool laz_os_tree_find_locks(struct laz_tree *tree);
/* Are they to be found? When the kernel's memory has grown by some MiB since the last time, and at
 * each tenth question; in between they are what they were. Reads nothing of the processes. Where
 * there can be no locks yet, the first answer may be ignored: what the kernel's memory grows by
 * from now on may be locks. */
bool laz_os_tree_locks_are_due(struct laz_tree *tree);
/* The most that a socket of TCP holds in a namespace whose buffers are bounded (os/network.h), or
 * are not. */
uint64_t laz_os_tree_tcp_bytes(bool is_bounded);
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
