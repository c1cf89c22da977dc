/* SPDX-License-Identifier: MIT */
/* namespaces.h - a process with namespaces of its own, made inside a box that has no privilege.
 *
 * A new user namespace gives its first process every capability over the namespaces made with it,
 * and none over anything else (user_namespaces(7)).  These are used for ids, mounts and a process
 * id; then all are dropped, before untrusted code runs. */
#ifndef LAZ_OS_NAMESPACES_H
#define LAZ_OS_NAMESPACES_H

#include "base/buf.h"
#include "base/error.h"

#include <sys/types.h>

/* The number of threads of this process; 0: not known. */
unsigned laz_os_threads(void);

/* Copying a process costs time for each page of its memory. After the first call, allocations are
 * placed together; the second moves them into large pages where the kernel can (MADV_COLLAPSE,
 * madvise(2), Linux 6.1), and uses up the free holes between them. */
void laz_os_one_heap(void);
void laz_os_large_pages(void);

/* Makes a copy of this process, which must have one thread, in new user, pid, mount, ipc and UTS
 * namespaces, `network`: and an empty network namespace: *pid is 0 there. It is the first process of its pid namespace. The C library keeps
 * the ids of the parent for it until it has called fork(2): until then it may only use system calls
 * and memory. */
int laz_os_clone_apart(bool network, pid_t *pid, struct laz_error *err);
/* Maps the ids of the first process: the same inside as outside. */
int laz_os_map_ids(uint32_t uid, uint32_t gid, struct laz_error *err);

/* What a process with its own mount namespace gets in place of what other sessions can write. */
struct laz_own_mounts {
    const char *home;   /* an empty file system; also the working directory from then on */
    uint64_t tmp_size;  /* its size; that of /dev/shm is a quarter */
    const char *hidden; /* a directory that becomes empty and read-only; NULL: none */
    const struct laz_strv
        *shown;       /* pairs: what is at the first path is then at the second as well */
    const char *stat; /* a file that stands for /proc/stat, which counts the machine's interrupts */
};

/* Mounts /proc of the own pid namespace, read-only, without what it tells of the machine's kernel
 * and interrupts; home and /tmp; /dev/shm, /dev/pts (with at most 16 terminals) and /dev/mqueue
 * where the box has them. The next child of the first process gets a process id after *last_pid. */
int laz_os_own_mounts(const struct laz_own_mounts *mounts, uint32_t last_pid,
                      struct laz_error *err);

/* May the path lead to something else after that? It is absolute and has no links in it. */
bool laz_os_own_mounts_change(const struct laz_own_mounts *mounts, const char *path);

/* From now on the process sees its control group as the root of the hierarchy
 * (cgroup_namespaces(7)). False: the kernel does not support it. */
bool laz_os_own_cgroup_root(void);
/* Removes every capability from the bounding set: no program that is executed from now on gains one
 * (capabilities(7)). Those of the process stay. */
int laz_os_bound_capabilities(struct laz_error *err);
int laz_os_drop_capabilities(struct laz_error *err);
/* Sets whether other processes of the same user may inspect this one (PR_SET_DUMPABLE of prctl(2)).
 */
void laz_os_set_open(bool open);
void laz_os_default_signals(void);

#endif
