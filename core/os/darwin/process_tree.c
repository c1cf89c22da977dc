/* SPDX-License-Identifier: MIT */
/* process_tree.c - the usage of a tree of processes, by libproc (libproc.h).  System: macOS.
 * Side: host.  Input trusted: yes (the kernel's counters).
 *
 * Memory is the footprint (ri_phys_footprint), by which the system itself judges a process: what it
 * alone has written to, compressed pages included, and not the files that it maps.  A child whose
 * parent has ended belongs to launchd(8) and is not found any more. */
#include "os/process_tree.h"

#include "os/darwin/usage.h"
#include "os/unsupported.h"

#include <libproc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/proc_info.h>
#include <sys/types.h>

#define TREE_MAX   65536 /* processes */
#define TREE_SPARE 16    /* space for children that start between two looks */

/* clang-format off */
/* Nothing is remembered. */
IGNORES(laz_os_tree_forget, struct laz_tree *tree)
GIVES(uint64_t, laz_os_busy_us, 0, void)
/* clang-format on */

/* The pids of the children; returns how many. The caller owns *children. */
static size_t tree_children(int64_t pid, pid_t **children)
{
    *children = NULL;
    for (size_t room = TREE_SPARE; room <= TREE_MAX; room *= 4) {
        pid_t *list = calloc(room, sizeof *list);
        /* the result is in bytes; proc_listchildpids is the same call, and has counted in bytes and
         * in numbers */
        int got =
            list ? proc_listpids(PROC_PPID_ONLY, (uint32_t)pid, list, (int)(room * sizeof *list))
                 : 0;
        size_t n = got > 0 ? (size_t)got / sizeof *list : 0;
        if (n > 0 && n < room) {
            *children = list;
            return n;
        }
        free(list);
        if (n == 0)
            break;
    }
    return 0;
}

/* `enough` is not needed: a footprint includes no shared memory. */
bool laz_os_tree_usage(struct laz_tree *watched, uint64_t enough, struct laz_tree_usage *usage)
{
    struct laz_buf tree = LAZ_BUF_INIT;
    pid_t pid = (pid_t)watched->root;

    *usage = (struct laz_tree_usage){0};
    laz_buf_append(&tree, &pid, sizeof pid);
    for (size_t at = 0; at < tree.len && laz_tree_lasts(watched); at += sizeof pid) {
        struct rusage_info_v2 used;
        pid_t *children;
        memcpy(&pid, tree.data + at, sizeof pid);
        if (!laz_darwin_usage(pid, &used))
            continue;
        usage->processes++;
        usage->cpu_us += laz_darwin_us(used.ri_user_time + used.ri_system_time +
                                       used.ri_child_user_time + used.ri_child_system_time);
        usage->memory_bytes += used.ri_phys_footprint;
        size_t n = tree_children(pid, &children);
        if (tree.len + n * sizeof pid <= TREE_MAX * sizeof pid)
            laz_buf_append(&tree, children, n * sizeof pid);
        free(children);
    }
    laz_buf_fini(&tree);
    return usage->processes > 0 && laz_tree_lasts(watched);
}

int64_t *laz_os_tree_children(int64_t pid, size_t *n)
{
    pid_t *list;
    int64_t *children = NULL;
    size_t found = tree_children(pid, &list);

    *n = 0;
    if (found)
        children = calloc(found, sizeof *children);
    for (; children && *n < found; (*n)++)
        children[*n] = list[*n];
    free(list);
    return children;
}

int64_t laz_os_tree_parent(int64_t pid)
{
    struct proc_bsdinfo info;

    if (pid <= 0 || proc_pidinfo((int)pid, PROC_PIDTBSDINFO, 0, &info, sizeof info) != sizeof info)
        return -1;
    return (int64_t)info.pbi_ppid;
}

int64_t laz_os_tree_first_child(int64_t pid)
{
    pid_t *list;
    int64_t first = -1;
    size_t n = pid > 0 ? tree_children(pid, &list) : 0;

    if (pid <= 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (first < 0 || list[i] < first)
            first = list[i];
    free(list);
    return first;
}
