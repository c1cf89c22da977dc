/* SPDX-License-Identifier: MIT */
/* namespaces.h - a process with namespaces of its own, made inside a box that has no privilege.
 *
 * A new user namespace gives its first process every capability over the namespaces made with it,
 * and none over anything else (user_namespaces(7)).  They are used up here: identifiers, mounts, a
 * process id; then all are given back before a stranger's code comes near. */
#ifndef LAZ_OS_NAMESPACES_H
#define LAZ_OS_NAMESPACES_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Threads of this process; 0: it cannot be told. */
unsigned laz_os_threads(void);

/* Copying a process takes a time for each page of its memory. From the first call on, what is
 * allocated lies together; the second puts it into large pages where the kernel can (MADV_COLLAPSE,
 * madvise(2), Linux 6.1), and gives what is free in between away. */
void laz_os_one_heap(void);
void laz_os_large_pages(void);

/* Makes a copy of this process, which must have one thread, in new user, pid, mount, ipc and UTS
 * namespaces: *pid is 0 there. It is the first process of its pid namespace. The C library takes it
 * for its parent until it has called fork(2): until then it may use system calls and memory. */
int laz_os_clone_apart(pid_t *pid, struct laz_error *err);
/* Gives the first process its ids, inside the same as outside. */
int laz_os_map_ids(uint32_t uid, uint32_t gid, struct laz_error *err);

/* What a process of its own mount namespace gets in place of what others write to. */
struct laz_own_mounts {
    const char *home;             /* an empty file system; also the working folder from then on */
    uint64_t tmp_size;            /* its size; that of /dev/shm is a quarter */
    const char *hidden;           /* a folder that becomes empty and read-only; NULL: none */
    const struct laz_strv *shown; /* pairs: what is at the first is then at the second as well */
};

/* /proc of the own pid namespace, read-only; home and /tmp; /dev/shm, /dev/pts and /dev/mqueue
 * where the box has them. The next child of the first process gets a process id after *last_pid. */
int laz_os_own_mounts(const struct laz_own_mounts *mounts, uint32_t last_pid,
                      struct laz_error *err);

/* From here on the process sees its control group as the root of all (cgroup_namespaces(7)). False:
 * the kernel has no such thing. */
bool laz_os_own_cgroup_root(void);
/* Takes every capability out of the bounding set: no program that is executed from here on gives
 * one (capabilities(7)). Those of the process stay. */
int laz_os_bound_capabilities(struct laz_error *err);
/* No capability is left. */
int laz_os_drop_capabilities(struct laz_error *err);
/* May others of the same user look into this process (PR_SET_DUMPABLE of prctl(2))? */
void laz_os_set_open(bool open);
/* Every signal does what it does by default. */
void laz_os_default_signals(void);

#endif
