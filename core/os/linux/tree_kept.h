/* SPDX-License-Identifier: MIT */
/* tree_kept.h - memory that the kernel keeps for a tree of processes, outside of their pages. */
#ifndef LAZ_OS_LINUX_TREE_KEPT_H
#define LAZ_OS_LINUX_TREE_KEPT_H

#include "os/process_tree.h"

/* Sockets and pipes that processes have open, and the most that they can hold. */
struct kept {
    struct laz_tree *tree; /* of the look */
    struct laz_buf files;
    uint64_t socket_bytes, pipe_bytes; /* for one */
    uint64_t other_bytes;              /* of descriptors that could not be looked at */
    unsigned looked;
    bool finds_locks; /* counts them as well */
    uint64_t locks;   /* of files (fcntl(2)), of the processes whose descriptors can be listed */
    bool is_hidden;   /* those of a process cannot be */
    /* What finds locks: the open files of the current process that were read, in order; and the one
     * inode of all epolls, eventfds and others, where nothing at all has a lock of it (0: something
     * may). */
    struct laz_buf read;
    uint64_t bare_device, bare_inode;
    unsigned reads; /* of fdinfo */
};

void kept_init(struct kept *kept, struct laz_tree *tree, bool finds_locks);
void kept_fini(struct kept *kept);
/* Adds what a process has open. */
void kept_add(struct kept *kept, int64_t pid);
/* The most that all of them hold, each counted once. `nofile`: the most descriptors of a process.
 * `in_flight`: includes the most that descriptors in messages could hold. */
uint64_t kept_bytes(struct kept *kept, uint64_t nofile, bool *in_flight);

/* Sets `tree->network_bytes` by the namespace of the process. False: it cannot be looked at. */
bool kept_find_sockets(struct laz_tree *tree, int64_t pid);

/* If the process has mounts of its own, notes the file systems in memory that only it sees, and
 * that it is `inside`. */
void kept_find_file_systems(struct laz_tree *tree, int64_t pid);
/* What is in those file systems. */
uint64_t kept_file_systems_bytes(struct laz_tree *tree);

#endif
