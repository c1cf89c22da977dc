/* SPDX-License-Identifier: MIT */
/* process_tree.c - the usage of a tree of processes, added up from /proc (proc(5)).
 * System: Linux.
 * Side: host.  Input trusted: no (the processes choose the names in /proc/PID/stat and status).
 *
 * Memory that was written to counts: anonymous and shared memory, its swap and the page tables, as
 * a control group counts it, but not mapped files, which every session shares; and what the kernel
 * keeps for the processes (tree_kept.c).  After a fork parent and child have the same pages: added
 * up by RSS ten children of a process of 100 MB would be 1.1 GB, which they are not.  So where the
 * quick sum is too large the proportional one (PSS, smaps_rollup) decides, and a child of vfork,
 * which runs in its parent's memory, is left out (kcmp(2)).  What happens between two looks is
 * missed, which is why this is called weak.
 *
 * Locks of files are in no process, no control group counts them, and no limit bounds them.  To
 * find them takes some microseconds for each descriptor, so it is done only after the kernel's own
 * memory has grown, for whatever reason.
 *
 * A process that ends leaves its times to the one that waits for it, and to nobody when SIGCHLD is
 * ignored.  Times are rounded, page faults are not, and they take the same way: so when the
 * processes that are gone had more of them than those that are left have received, a process has
 * ended without being waited for.  That holds only if a parent is read after its children, so that
 * what a child has left is seen there, and for the next look before them, so that what a child
 * leaves later is not in the sum yet.  So a parent is read twice in each look. */
#include "os/process_tree.h"

#include "os/descriptors.h"
#include "os/linux/proc.h"
#include "os/linux/tree_kept.h"
#include "os/posix/descriptors.h"

#include <errno.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TREE_MAX  65536 /* processes */
#define TREE_TEXT 4096  /* bytes, more than /proc/PID/status and smaps_rollup have */

/* What describes a mapping: 200 bytes, and 1300 more of shared memory without a name. */
#define TREE_MAPPING_BYTES  2048u
#define TREE_MAPPINGS       65530u /* of a process: vm.max_map_count (proc_sys_vm(5)) */
#define TREE_LOCK_COUNTS_AS 65536u /* see docs/design-limits.md, "Locks of files" */
#define TREE_LOCKS_BYTES    ((uint64_t)4 << 20) /* growth of the kernel's memory that they may be */
#define TREE_LOCKS_LOOKS    10                  /* after which they are looked for without it */

struct tree_process {
    int64_t pid, parent;
    uint64_t order;    /* in which it was found: parents first */
    uint64_t begun;    /* it was seen before, with this start; 0: not */
    bool has_children; /* or had some */
    int64_t thread;    /* shows the memory: the first, or, when that has ended, another; 0: none */
    struct proc_stat early; /* as it was before its children were read ... */
    struct proc_stat stat;  /* ... and after that */
    uint64_t ran_us;        /* time of the first thread, which is not rounded; 0: it does not run */
    unsigned permille;      /* of a processor that it uses */
};

bool laz_os_tree_can_be_seen(void)
{
    return access("/proc/thread-self/children", R_OK) == 0;
}

const char *laz_os_tree_misses_cpu(void)
{
    return "all time of short processes that hide";
}

const char *laz_os_tree_misses_memory(void)
{
    return "shared memory that is unmapped in part";
}

static struct tree_process *tree_at(const struct laz_buf *tree, size_t i)
{
    return (struct tree_process *)(void *)tree->data + i;
}

static size_t tree_len(const struct laz_buf *tree)
{
    return tree->len / sizeof(struct tree_process);
}

static uint64_t tree_us(uint64_t ticks)
{
    return ticks * 1000000u / (uint64_t)sysconf(_SC_CLK_TCK);
}

/* ---- memory --------------------------------------------------------------------------------- */

/* Sum of the lines "KEY: N kB"; `keys` with a space behind each. */
static uint64_t tree_sum(const char *text, const char *keys)
{
    uint64_t sum = 0;

    for (size_t n; *keys; keys += n + 1) {
        const char *at = text;
        n = strcspn(keys, " ");
        while (at && strncmp(at, keys, n) != 0) {
            at = strchr(at, '\n');
            at += at != NULL;
        }
        if (at)
            sum += strtoull(at + n, NULL, 10) * 1024;
    }
    return sum;
}

/* Adds to `mappings` the most that it can have: one for each page, and no more than the system
 * allows. */
static uint64_t tree_memory_quick(const struct tree_process *process, uint64_t mappings_allowed,
                                  uint64_t *mappings)
{
    char text[TREE_TEXT];

    if (!process->thread)
        return 0;
    proc_read(process->thread, "status", text, sizeof text);
    const uint64_t pages = tree_sum(text, "VmSize: ") / (uint64_t)sysconf(_SC_PAGESIZE);
    *mappings += pages < mappings_allowed ? pages : mappings_allowed;
    return tree_sum(text, "RssAnon: RssShmem: VmSwap: VmPTE: ");
}

static uint64_t tree_mappings_allowed(void)
{
    unsigned long long n = 0;
    char text[32];

    bool read = proc_system("/proc/sys/vm/max_map_count", text, sizeof text);
    return read && sscanf(text, "%llu", &n) == 1 && n ? n : TREE_MAPPINGS;
}

/* Does it run in the memory of its parent (vfork(2))? */
static bool tree_is_in_parent(const struct tree_process *process)
{
    return process->parent &&
           syscall(SYS_kcmp, (pid_t)process->parent, (pid_t)process->thread, KCMP_VM, 0, 0) == 0;
}

static bool tree_trusts(const struct laz_tree *tree, const struct tree_process *process)
{
    return tree->trusts_root && process->pid == tree->root;
}

/* Counts the mappings of all processes, and no further than `enough`. */
static uint64_t tree_mappings(struct laz_tree *tree, const struct laz_buf *now, uint64_t allowed,
                              uint64_t enough)
{
    char text[TREE_TEXT];
    uint64_t mappings = 0;
    ssize_t n;

    for (size_t i = 0; i < tree_len(now); i++) {
        const struct tree_process *process = tree_at(now, i);
        if (!process->thread || tree_trusts(tree, process) || tree_is_in_parent(process))
            continue;
        int fd = proc_open(process->thread, "maps");
        /* it executes a file that cannot be read */
        if (fd < 0 && errno == EACCES && proc_has_memory(process->thread))
            mappings += allowed;
        while (mappings <= enough && laz_tree_lasts(tree) && fd >= 0 &&
               (n = read(fd, text, sizeof text)) > 0)
            for (ssize_t k = 0; k < n; k++)
                mappings += text[k] == '\n';
        laz_os_close(&fd);
    }
    return mappings;
}

/* By shares, and without shared memory, which is added to `shared`. */
static uint64_t tree_memory_exact(const struct tree_process *process, uint64_t *shared)
{
    char text[TREE_TEXT];

    if (!process->thread || tree_is_in_parent(process))
        return 0;
    proc_read(process->thread, "status", text, sizeof text);
    const uint64_t tables = tree_sum(text, "VmPTE: ");
    /* not readable, or without such lines (before Linux 5.3) */
    if (!proc_read(process->thread, "smaps_rollup", text, sizeof text) ||
        !strstr(text, "Pss_Anon:"))
        return tree_memory_quick(process, 0, &(uint64_t){0});
    *shared += tree_sum(text, "Pss_Shmem: ");
    return tree_sum(text, "Pss_Anon: SwapPss: ") + tables;
}

/* Shared memory of a process that is in none of the file systems in memory. */
static uint64_t tree_memory_without_files(struct laz_tree *tree, const struct tree_process *process)
{
    char line[TREE_TEXT], path[48];
    bool counts = false;
    uint64_t sum = 0;

    snprintf(path, sizeof path, "/proc/%lld/smaps", (long long)process->thread);
    FILE *maps = process->thread ? laz_posix_fopen(path) : NULL;
    bool lasts = maps != NULL;
    while (lasts && fgets(line, sizeof line, maps)) {
        const bool is_next = line[0] < 'A' || line[0] > 'Z'; /* an address: of the next mapping */
        if (is_next)
            lasts = laz_tree_lasts(tree);
        if (is_next)
            counts = strstr(line, " /dev/zero (deleted)") != NULL;
        else if (counts)
            sum += tree_sum(line, "Pss: ");
    }
    if (maps)
        (void)fclose(maps);
    return sum;
}

/* Pages of the tree and `files` bytes in its file systems. A file that is mapped is in both: when
 * that decides, the shared memory of no file is looked for. */
static uint64_t tree_memory_by_shares(struct laz_tree *tree, const struct laz_buf *now,
                                      uint64_t files, uint64_t enough)
{
    uint64_t sum = files, shared = 0;

    for (size_t i = 0; i < tree_len(now) && laz_tree_lasts(tree); i++)
        sum += tree_memory_exact(tree_at(now, i), &shared);
    if (sum + shared > enough && files > 0 && shared > 0) {
        shared = 0;
        for (size_t i = 0; i < tree_len(now) && laz_tree_lasts(tree); i++)
            shared += tree_memory_without_files(tree, tree_at(now, i));
    }
    return sum + shared;
}

/* ---- locks ---------------------------------------------------------------------------------- */

/* The kernel's own memory, to which locks belong; 0: not known. */
static uint64_t tree_kernel_bytes(void)
{
    unsigned long long pages = 0;
    char text[TREE_TEXT]; /* the line is one of the first fifty */

    bool read = proc_system("/proc/vmstat", text, sizeof text);
    const char *line = read ? strstr(text, "\nnr_slab_unreclaimable ") : NULL;
    if (line)
        (void)sscanf(line, "\nnr_slab_unreclaimable %llu", &pages);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Has it grown by so much that locks may be the reason? What others free can hide that, but not for
 * long. */
bool laz_os_tree_locks_are_due(struct laz_tree *tree)
{
    const uint64_t bytes = tree_kernel_bytes(), before = tree->kernel_bytes;

    if (!before || bytes < tree->kernel_least)
        tree->kernel_least = bytes;
    if (before && bytes <= before + TREE_LOCKS_BYTES && ++tree->looks < TREE_LOCKS_LOOKS) {
        tree->kernel_bytes = bytes < before ? bytes : before;
        return false;
    }
    tree->kernel_bytes = bytes;
    tree->looks = 0;
    return true;
}

/* Whoever hides what he has open gets all that the kernel's memory has grown by. */
static void tree_note_locks(struct laz_tree *tree, const struct kept *kept)
{
    const uint64_t hidden_bytes = kept->is_hidden ? tree->kernel_bytes - tree->kernel_least : 0;

    if (kept->finds_locks)
        tree->lock_bytes = kept->locks * TREE_LOCK_COUNTS_AS + hidden_bytes;
}

/* Those of its network namespace, in which all processes are but those that have made the box: the
 * ones below the root are asked first. */
static void tree_find_sockets(struct laz_tree *tree, const struct laz_buf *now)
{
    bool found = !tree->tcp_bytes;

    for (size_t i = 0; i < tree_len(now) && !found && laz_tree_lasts(tree); i++)
        if (tree_at(now, i)->pid != tree->root && tree_at(now, i)->thread)
            found = kept_find_sockets(tree, tree_at(now, i)->thread);
    if (!found)
        (void)kept_find_sockets(tree, tree->root);
}

static void tree_add_memory(struct laz_tree *tree, const struct laz_buf *now, uint64_t enough,
                            struct laz_tree_usage *usage)
{
    const uint64_t mappings_allowed = tree_mappings_allowed();
    uint64_t files, mappings = 0;
    struct kept kept;

    kept_init(&kept, tree, laz_os_tree_locks_are_due(tree));
    for (size_t i = 0; i < tree_len(now) && laz_tree_lasts(tree); i++) {
        const struct tree_process *process = tree_at(now, i);
        usage->memory_bytes += tree_memory_quick(process, mappings_allowed, &mappings);
        if (process->thread && !tree_trusts(tree, process))
            kept_add(&kept, process->thread);
    }
    for (size_t i = 0; i < tree_len(now) && !tree->inside && laz_tree_lasts(tree); i++)
        if (tree_at(now, i)->pid != tree->root)
            kept_find_file_systems(tree, tree_at(now, i)->pid);
    if (!tree->inside)
        kept_find_file_systems(tree, tree->root);
    files = kept_file_systems_bytes(tree);
    tree_note_locks(tree, &kept);
    tree_find_sockets(tree, now);
    usage->memory_bytes += files;
    usage->bound_bytes =
        kept_bytes(&kept, tree->nofile, &usage->in_flight) + tree->lock_bytes + tree->network_bytes;
    if (usage->memory_bytes + usage->bound_bytes + mappings * TREE_MAPPING_BYTES > enough)
        mappings = tree_mappings(tree, now, mappings_allowed, enough / TREE_MAPPING_BYTES);
    usage->bound_bytes += mappings * TREE_MAPPING_BYTES;
    const uint64_t left = enough > usage->bound_bytes ? enough - usage->bound_bytes : 0;
    if (usage->memory_bytes > left)
        usage->memory_bytes = tree_memory_by_shares(tree, now, files, left);
    usage->memory_bytes += usage->bound_bytes;
    kept_fini(&kept);
}

/* ---- processes ------------------------------------------------------------------------------ */

static void tree_add_children(struct laz_tree *tree, int64_t pid, const char *thread,
                              struct laz_buf *now)
{
    char file[48], text[TREE_TEXT], *rest = text;
    size_t kept = 0;
    ssize_t n;

    snprintf(file, sizeof file, "task/%.20s/children", thread);
    int fd = proc_open(pid, file);
    while (laz_tree_lasts(tree) && fd >= 0 &&
           (n = read(fd, text + kept, sizeof text - kept - 1)) > 0) {
        text[kept + (size_t)n] = '\0';
        for (rest = text; strchr(rest, ' '); rest = strchr(rest, ' ') + 1) {
            struct tree_process child = {.pid = strtoll(rest, NULL, 10), .parent = pid};
            if (child.pid > 0 && tree_len(now) < TREE_MAX)
                laz_buf_append(now, &child, sizeof child);
        }
        kept = strlen(rest);
        memmove(text, rest, kept);
    }
    laz_os_close(&fd);
}

/* Appends the children of all threads. Gives a thread that is not the first one, or 0. */
static int64_t tree_add_below(struct laz_tree *tree, int64_t pid, struct laz_buf *now)
{
    struct dirent *entry;
    char path[48];
    int64_t other = 0;

    snprintf(path, sizeof path, "/proc/%lld/task", (long long)pid);
    DIR *threads = laz_posix_opendir(path);
    while (laz_tree_lasts(tree) && threads && (entry = readdir(threads))) {
        if (entry->d_name[0] == '.')
            continue;
        tree_add_children(tree, pid, entry->d_name, now);
        if (strtoll(entry->d_name, NULL, 10) != pid)
            other = strtoll(entry->d_name, NULL, 10);
    }
    if (threads)
        (void)closedir(threads);
    return other;
}

/* How much of a processor it has had, of the time in which it wanted one (proc(5), schedstat). */
static void tree_read_share(struct tree_process *process)
{
    unsigned long long ran = 0, waited = 0;
    char text[96];

    process->ran_us = process->permille = 0;
    if (!process->stat.runs)
        return;
    proc_read(process->pid, "schedstat", text, sizeof text);
    bool known = sscanf(text, "%llu %llu", &ran, &waited) == 2 && ran + waited > 0;
    process->ran_us = ran / 1000;
    process->permille = known ? (unsigned)(ran / ((ran + waited) / 1000 + 1)) : 1000;
}

static void tree_read(struct tree_process *process)
{
    const int64_t other = process->thread;

    if (!proc_stat(process->pid, &process->stat) ||
        (process->begun && process->begun != process->stat.start)) {
        process->pid = 0;
        return;
    }
    if (process->early.start != process->stat.start)
        process->early = process->stat;
    /* The memory of a process whose first thread has ended is only shown by another thread. */
    process->thread = process->stat.ended ? 0 : process->stat.zombie ? other : process->pid;
    tree_read_share(process);
}

static int tree_compare(const void *a, const void *b)
{
    const struct tree_process *x = a, *y = b;

    return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static int tree_compare_order(const void *a, const void *b)
{
    const struct tree_process *x = a, *y = b;

    return x->order < y->order ? -1 : x->order > y->order;
}

static void tree_sort(struct laz_buf *tree, int (*compare)(const void *, const void *))
{
    if (tree->len)
        qsort(tree->data, tree_len(tree), sizeof(struct tree_process), compare);
}

/* Finds all processes at and below the root. */
static void tree_find(struct laz_tree *tree, struct laz_buf *now)
{
    struct tree_process process = {.pid = tree->root};

    laz_buf_append(now, &process, sizeof process);
    for (size_t i = 0; i < tree_len(now) && laz_tree_lasts(tree); i++) {
        const size_t n = tree_len(now);
        int64_t other = tree_add_below(tree, tree_at(now, i)->pid, now);
        tree_at(now, i)->order = i;
        tree_at(now, i)->thread = other;
        tree_at(now, i)->has_children = tree_len(now) > n;
    }
}

/* Adds those of the previous look that were not found: a process that has lost its parent meanwhile
 * may be found at neither the old nor the new one. */
static void tree_add_lost(const struct laz_buf *before, struct laz_buf *now)
{
    const size_t n = tree_len(now);

    tree_sort(now, tree_compare);
    for (size_t i = 0, k = 0; i < tree_len(before); i++) {
        const struct tree_process *was = tree_at(before, i);
        while (k < n && tree_at(now, k)->pid < was->pid)
            k++;
        if (k < n && tree_at(now, k)->pid == was->pid)
            continue;
        struct tree_process lost = {
            .pid = was->pid, .begun = was->stat.start, .order = tree_len(now)};
        laz_buf_append(now, &lost, sizeof lost);
    }
    tree_sort(now, tree_compare_order);
}

/* All processes at and below the root, sorted by pid; none: the root has ended, or the look was
 * given up. */
static void tree_walk(struct laz_tree *tree, struct laz_buf *now)
{
    tree->shortages = laz_posix_shortages();
    tree_find(tree, now);
    tree_add_lost(&tree->seen, now);
    for (size_t i = 0; i < tree_len(now) && laz_tree_lasts(tree); i++)
        if (tree_at(now, i)->has_children)
            (void)proc_stat(tree_at(now, i)->pid, &tree_at(now, i)->early);
    for (size_t i = tree_len(now); i-- > 0 && laz_tree_lasts(tree);)
        tree_read(tree_at(now, i));
    if (!now->data || !laz_tree_lasts(tree) || tree_at(now, 0)->pid == 0) {
        laz_buf_clear(now);
        return;
    }
    tree_sort(now, tree_compare);
    size_t gone = 0;
    while (gone < tree_len(now) && tree_at(now, gone)->pid == 0)
        gone++;
    laz_buf_drop(now, gone * sizeof(struct tree_process));
}

/* Compares with the previous look. */
static void tree_follow(const struct laz_buf *before, const struct laz_buf *now,
                        struct laz_tree_usage *usage)
{
    const size_t n = tree_len(now);
    uint64_t left_us = 0, taken_ticks = 0, left_faults = 0, taken_faults = 0; /* by the others */
    unsigned permille = 0;

    for (size_t i = 0, k = 0; i < tree_len(before); i++) {
        const struct tree_process *was = tree_at(before, i);
        const struct proc_stat *then = &was->early;
        while (k < n && tree_at(now, k)->pid < was->pid)
            k++;
        const struct proc_stat *is =
            k < n && tree_at(now, k)->pid == was->pid && tree_at(now, k)->stat.start == then->start
                ? &tree_at(now, k)->stat
                : NULL;
        if (is) {
            taken_faults += is->child_faults - then->child_faults;
            taken_ticks += is->child_ticks - then->child_ticks;
        } else if (!was->stat.dead) { /* else its parent may have had it in its sum then */
            const uint64_t us = tree_us(then->ticks);
            left_us += us > was->ran_us ? us : was->ran_us;
            left_faults += then->faults ? then->faults : 1; /* it cannot run without */
            permille += was->permille;
        }
    }
    usage->unwaited = left_faults > taken_faults;
    if (usage->unwaited) {
        const uint64_t taken_us = tree_us(taken_ticks);
        usage->unwaited_us = left_us > taken_us ? left_us - taken_us : 0;
        usage->unwaited_permille = permille;
    }
}

/* Has the look found all there is? What could not be opened for lack of a descriptor looks like
 * what has ended. */
static bool tree_is_whole(struct laz_tree *tree, const struct laz_buf *now)
{
    tree->was_short = now->failed || laz_posix_shortages() != tree->shortages;
    return laz_tree_lasts(tree) && !tree->was_short;
}

/* The look has ended: the next one compares with it. False: it is not to be believed. */
static bool tree_remember(struct laz_tree *tree, struct laz_buf *now)
{
    const bool is_whole = tree_is_whole(tree, now);

    if (is_whole) {
        laz_buf_fini(&tree->seen);
        tree->seen = *now;
        *now = (struct laz_buf)LAZ_BUF_INIT;
    }
    laz_buf_fini(now);
    return is_whole;
}

bool laz_os_tree_usage(struct laz_tree *tree, uint64_t enough, struct laz_tree_usage *usage)
{
    struct laz_buf now = LAZ_BUF_INIT;

    *usage = (struct laz_tree_usage){0};
    tree_walk(tree, &now);
    if (!now.len) {
        (void)tree_is_whole(tree, &now);
        laz_buf_fini(&now);
        return false;
    }
    tree_follow(&tree->seen, &now, usage);
    for (size_t i = 0; i < tree_len(&now); i++)
        usage->cpu_us += tree_us(tree_at(&now, i)->stat.ticks);
    usage->processes = (unsigned)tree_len(&now);
    tree_add_memory(tree, &now, enough, usage);
    return tree_remember(tree, &now);
}

bool laz_os_tree_find_locks(struct laz_tree *tree)
{
    struct laz_buf now = LAZ_BUF_INIT;
    struct kept kept;

    kept_init(&kept, tree, true);
    tree_walk(tree, &now);
    const bool found = now.len > 0;
    const uint64_t before = tree->lock_bytes;
    for (size_t i = 0; i < tree_len(&now) && laz_tree_lasts(tree); i++)
        if (tree_at(&now, i)->thread && !tree_trusts(tree, tree_at(&now, i)))
            kept_add(&kept, tree_at(&now, i)->thread);
    if (laz_tree_lasts(tree))
        tree_note_locks(tree, &kept);
    if (found)
        tree_find_sockets(tree, &now);
    kept_fini(&kept);
    if (tree_remember(tree, &now))
        return found;
    tree->lock_bytes = before > tree->lock_bytes ? before : tree->lock_bytes;
    return false;
}

void laz_os_tree_forget(struct laz_tree *tree)
{
    laz_buf_fini(&tree->seen);
    laz_strv_fini(&tree->file_systems);
    *tree = (struct laz_tree){0};
}

/* The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq (proc(5)). */
uint64_t laz_os_busy_us(void)
{
    unsigned long long t[7];
    char text[256];
    bool known = proc_system("/proc/stat", text, sizeof text) &&
                 sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3],
                        &t[4], &t[5], &t[6]) == 7;

    return known ? tree_us(t[0] + t[1] + t[2] + t[5] + t[6]) : 0;
}

int64_t *laz_os_tree_children(int64_t pid, size_t *n)
{
    struct laz_buf found = LAZ_BUF_INIT;
    struct laz_tree tree = {0};
    int64_t *children = NULL;

    *n = 0;
    tree_add_below(&tree, pid, &found);
    if (found.len)
        children = calloc(tree_len(&found), sizeof *children);
    for (; children && *n < tree_len(&found); ++*n)
        children[*n] = tree_at(&found, *n)->pid;
    laz_buf_fini(&found);
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
