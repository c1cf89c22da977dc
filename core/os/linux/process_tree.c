/* SPDX-License-Identifier: MIT */
/* process_tree.c - the usage of a tree of processes, added up from /proc (proc(5)).
 * System: Linux.
 * Side: host.  Input trusted: no (the processes choose the names in /proc/PID/stat and status).
 *
 * Memory that was written to counts: anonymous and shared memory and its swap, as a control group
 * counts it, but not mapped files, which every session shares.  After a fork parent and child have
 * the same pages: added up by RSS ten children of a process of 100 MB would be 1.1 GB, which they
 * are not.  So where the quick sum is too large the proportional one (PSS, smaps_rollup) decides,
 * and a child of vfork, which runs in its parent's memory, is left out (kcmp(2)).  What happens
 * between two looks is missed, which is why this is called weak. */
#include "os/process_tree.h"

#include "base/buf.h"
#include "os/descriptors.h"
#include "os/linux/proc.h"
#include "os/posix/descriptors.h"
#include "os/usage.h"

#include <dirent.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TREE_MAX 65536 /* processes */

struct tree_process {
    int64_t pid, parent;
};

bool laz_os_tree_can_be_seen(void)
{
    return access("/proc/thread-self/children", R_OK) == 0;
}

/* Sum of the lines "KEY: N kB". */
static uint64_t tree_sum(const char *text, const char *const *keys)
{
    uint64_t sum = 0;

    for (; *keys; keys++) {
        const char *at = text;
        size_t n = strlen(*keys);
        while (at && strncmp(at, *keys, n) != 0) {
            at = strchr(at, '\n');
            at += at != NULL;
        }
        if (at)
            sum += strtoull(at + n, NULL, 10) * 1024;
    }
    return sum;
}

static uint64_t tree_memory_quick(int64_t pid)
{
    static const char *const keys[] = {"RssAnon:", "RssShmem:", "VmSwap:", NULL};
    char text[4096];

    proc_read(pid, "status", text, sizeof text);
    return tree_sum(text, keys);
}

static uint64_t tree_memory_exact(const struct tree_process *process)
{
    static const char *const keys[] = {"Pss_Anon:", "Pss_Shmem:", "SwapPss:", NULL};
    char text[4096];

    if (process->parent &&
        syscall(SYS_kcmp, (pid_t)process->parent, (pid_t)process->pid, KCMP_VM, 0, 0) == 0)
        return 0;
    /* not readable, or without such lines (before Linux 5.3) */
    if (!proc_read(process->pid, "smaps_rollup", text, sizeof text) || !strstr(text, keys[0]))
        return tree_memory_quick(process->pid);
    return tree_sum(text, keys);
}

/* Appends the children of one thread. */
static void tree_add_children(int64_t pid, const char *thread, struct laz_buf *tree)
{
    char file[48], text[4096], *rest = text;
    size_t kept = 0;
    ssize_t n;

    snprintf(file, sizeof file, "task/%.20s/children", thread);
    int fd = proc_open(pid, file);
    while (fd >= 0 && (n = read(fd, text + kept, sizeof text - kept - 1)) > 0) {
        text[kept + (size_t)n] = '\0';
        for (rest = text; strchr(rest, ' '); rest = strchr(rest, ' ') + 1) {
            struct tree_process child = {strtoll(rest, NULL, 10), pid};
            if (child.pid > 0 && tree->len < TREE_MAX * sizeof child)
                laz_buf_append(tree, &child, sizeof child);
        }
        kept = strlen(rest);
        memmove(text, rest, kept);
    }
    laz_os_close(&fd);
}

static void tree_add_below(int64_t pid, struct laz_buf *tree)
{
    struct dirent *entry;
    char path[48];

    snprintf(path, sizeof path, "/proc/%lld/task", (long long)pid);
    DIR *threads = laz_posix_opendir(path);
    while (threads && (entry = readdir(threads)))
        if (entry->d_name[0] != '.')
            tree_add_children(pid, entry->d_name, tree);
    if (threads)
        (void)closedir(threads);
}

bool laz_os_tree_usage(int64_t root, uint64_t enough, struct laz_tree_usage *usage)
{
    struct tree_process process = {root, 0};
    struct laz_buf tree = LAZ_BUF_INIT;
    uint64_t cpu_us, rss;

    *usage = (struct laz_tree_usage){0};
    laz_buf_append(&tree, &process, sizeof process);
    for (size_t at = 0; at < tree.len; at += sizeof process) {
        memcpy(&process, tree.data + at, sizeof process);
        struct laz_usage used;
        if (!laz_os_usage_open(process.pid, &used))
            continue;
        laz_os_usage_read(&used, &cpu_us, &rss);
        laz_os_usage_close(&used);
        usage->processes++;
        usage->cpu_us += cpu_us;
        usage->memory_bytes += tree_memory_quick(process.pid);
        tree_add_below(process.pid, &tree);
    }
    if (usage->memory_bytes > enough) {
        usage->memory_bytes = 0;
        for (size_t at = 0; at < tree.len; at += sizeof process) {
            memcpy(&process, tree.data + at, sizeof process);
            usage->memory_bytes += tree_memory_exact(&process);
        }
    }
    laz_buf_fini(&tree);
    return usage->processes > 0;
}

int64_t *laz_os_tree_children(int64_t pid, size_t *n)
{
    struct laz_buf tree = LAZ_BUF_INIT;
    int64_t *children = NULL;

    *n = 0;
    tree_add_below(pid, &tree);
    if (tree.len)
        children = calloc(tree.len / sizeof(struct tree_process), sizeof *children);
    for (size_t at = 0; children && at < tree.len; at += sizeof(struct tree_process)) {
        struct tree_process process;
        memcpy(&process, tree.data + at, sizeof process);
        children[(*n)++] = process.pid;
    }
    laz_buf_fini(&tree);
    return children;
}

int64_t laz_os_tree_parent(int64_t pid)
{
    struct proc_stat stat;

    return proc_stat(pid, &stat) ? stat.parent : -1;
}

int64_t laz_os_tree_first_child(int64_t pid)
{
    char file[64], text[4096];
    long long child = -1;

    snprintf(file, sizeof file, "task/%lld/children", (long long)pid);
    if (pid <= 0 || !proc_read(pid, file, text, sizeof text) || sscanf(text, "%lld", &child) != 1)
        return -1;
    return child;
}
