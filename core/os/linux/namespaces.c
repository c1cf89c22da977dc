/* SPDX-License-Identifier: MIT */
/* namespaces.c - namespaces within a box, and the mounts that are new in them.  System: Linux.
 * Side: box.  Input trusted: yes (the host's `init`).
 *
 * clone3(2) is called by number: glibc has no function for it, and its fork(2) takes no namespaces.
 * As the caller has one thread no lock can be held by another, so the copy is sound except for what
 * glibc keeps of the thread's id; a later fork(2) of the copy corrects that, and runs the handlers
 * of pthread_atfork(3).  Every mount is of a kind that user namespaces may mount; what the box
 * locked stays locked (mount_namespaces(7)). */
#include "os/namespaces.h"

#include "base/path.h"
#include "os/linux/proc.h"
#include "os/posix/descriptors.h"
#include "os/unsupported.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CLONE_NEWCGROUP
#define CLONE_NEWCGROUP 0x02000000
#endif

#define NAMESPACES_APART    (CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS)
#define NAMESPACES_SHM_PART 4u /* of the space for temporary files, as in a box */

unsigned laz_os_threads(void)
{
    struct stat st;

    /* A link for each directory in it, and two of its own. */
    return stat("/proc/self/task", &st) == 0 && st.st_nlink > 2 ? (unsigned)st.st_nlink - 2 : 0;
}

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#define NAMESPACES_LARGE ((uintptr_t)2 << 20) /* that of x86-64 and of most others */
#define NAMESPACES_LOOKS 4096u /* limit of the scan: address space may be reserved by the TiB */

#if defined __GLIBC__ && !defined LAZ_SANITIZE
#define NAMESPACES_HEAP_BLOCK                                                                      \
    (32 << 20) /* larger allocations get mappings of their own: this is the maximum */
#define NAMESPACES_HEAP_HOLES ((size_t)64 << 20)

void laz_os_one_heap(void)
{
    mallopt(M_MMAP_THRESHOLD, NAMESPACES_HEAP_BLOCK);
}

/* Allocates all free holes of the heap and never frees them: later allocations are placed together
 * at its end. A large page that is written to after a copy was made is split into small ones. */
static void namespaces_fill_heap(void)
{
    const uintptr_t end = (uintptr_t)sbrk(0);
    size_t given = 0;

    for (size_t size = 64 << 10; size >= 16; size -= size > 1024 ? size / 64 * 16 : 16)
        for (;;) {
            void *piece = malloc(size);
            if (!piece || (uintptr_t)piece >= end || given > NAMESPACES_HEAP_HOLES) {
                free(piece);
                break;
            }
            given += size;
        }
}
#else
IGNORES(laz_os_one_heap, void)
static IGNORES(namespaces_fill_heap, void)
#endif

void laz_os_large_pages(void)
{
    char line[512], rights[5];
    unsigned long from, to, inode;
    unsigned looks = 0;
    FILE *maps;

    namespaces_fill_heap();
    maps = laz_posix_fopen("/proc/self/maps");
    /* Mappings without a file that were written to: heaps. A failure has no effect. */
    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx %4s %*s %*s %lu", &from, &to, rights, &inode) != 4 ||
            strcmp(rights, "rw-p") != 0 || inode != 0)
            continue;
        uintptr_t first = ((uintptr_t)from + NAMESPACES_LARGE - 1) & ~(NAMESPACES_LARGE - 1);
        uintptr_t last = (uintptr_t)to & ~(NAMESPACES_LARGE - 1);
        for (; first < last && looks < NAMESPACES_LOOKS; first += NAMESPACES_LARGE, looks++)
            madvise((void *)first, NAMESPACES_LARGE, MADV_COLLAPSE); // NOLINT
    }
    if (maps)
        fclose(maps);
}

int laz_os_clone_apart(bool network, pid_t *pid, struct laz_error *err)
{
    struct clone_args args = {.flags = NAMESPACES_APART | (network ? CLONE_NEWNET : 0),
                              .exit_signal = SIGCHLD};
    long made = syscall(SYS_clone3, &args, sizeof args);

    if (made < 0)
        return laz_error_os(err, errno, "cannot create namespaces for a session");
    *pid = (pid_t)made;
    return 0;
}

int laz_os_map_ids(uint32_t uid, uint32_t gid, struct laz_error *err)
{
    char uids[40], gids[40];

    snprintf(uids, sizeof uids, "%u %u 1", (unsigned)uid, (unsigned)uid);
    snprintf(gids, sizeof gids, "%u %u 1", (unsigned)gid, (unsigned)gid);
    int failed = proc_write("/proc/self/setgroups", "deny");
    if (!failed)
        failed = proc_write("/proc/self/uid_map", uids);
    if (!failed)
        failed = proc_write("/proc/self/gid_map", gids);
    return failed ? laz_error_os(err, failed, "the user of the session cannot be set") : 0;
}

/* ---- mounts --------------------------------------------------------------------------------- */

#define NAMESPACES_PLAIN (MS_NOSUID | MS_NODEV)
#define NAMESPACES_BLOCK 4096u /* the least that a file with content takes (tmpfs(5)) */
#define NAMESPACES_FEW   64u   /* inodes besides, for directories */

/* An empty file system of `size` bytes, 0 for none at all. A missing mount point is ignored when
 * `optional`. An inode takes about a KiB that no size counts, and without a bound a file system may
 * have one for every other page of the machine: this one has as many as it can have files with
 * content. The kernel bounds extended attributes by the same number (since Linux 6.6). */
static int namespaces_empty(const char *path, uint64_t size, const char *mode, bool optional,
                            struct laz_error *err)
{
    char data[96];
    unsigned long flags = NAMESPACES_PLAIN | (size ? 0 : MS_RDONLY);
    unsigned long long bytes = size ? size : NAMESPACES_BLOCK;

    snprintf(data, sizeof data, "size=%llu,nr_inodes=%llu,mode=%s", bytes,
             bytes / NAMESPACES_BLOCK + NAMESPACES_FEW, mode);
    if (mount("tmpfs", path, "tmpfs", flags, data) == 0 || (optional && errno == ENOENT))
        return 0;
    return laz_error_os(err, errno, "no file system of the session's own can be put on %s", path);
}

/* As in a box: read-only, and what describes the host is covered. Without a file for it, /proc/stat
 * cannot be read. */
static int namespaces_proc(const char *stat, uint32_t last_pid, struct laz_error *err)
{
    const struct {
        const char *by, *path;
    } covered[] = {{"/dev/null", "/proc/cmdline"},
                   {"/dev/null", "/proc/interrupts"},
                   {"/dev/null", "/proc/softirqs"},
                   {stat, "/proc/stat"}};
    const unsigned long flags = NAMESPACES_PLAIN | MS_NOEXEC;
    char pid[16];

    if (mount("proc", "/proc", "proc", flags, NULL))
        return laz_error_os(err, errno, "no /proc of the session's own can be mounted");
    /* Without checkpoints in the kernel (CONFIG_CHECKPOINT_RESTORE) ids count from 2. */
    snprintf(pid, sizeof pid, "%u", (unsigned)last_pid);
    (void)proc_write("/proc/sys/kernel/ns_last_pid", pid);
    for (size_t i = 0; i < sizeof covered / sizeof covered[0]; i++)
        if ((mount(covered[i].by, covered[i].path, NULL, MS_BIND, NULL) &&
             (errno != ENOENT || mount("/dev/null", covered[i].path, NULL, MS_BIND, NULL))) ||
            mount(NULL, covered[i].path, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | flags, NULL))
            return laz_error_os(err, errno, "%s cannot be covered", covered[i].path);
    if (namespaces_empty("/proc/irq", 0, "0555", true, err))
        return err ? err->code : LAZ_EOS;
    if (mount(NULL, "/proc", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | flags, NULL))
        return laz_error_os(err, errno, "/proc cannot be made read-only");
    return 0;
}

/* Terminals and queues would otherwise be shared by all sessions. Boxes without terminals have no
 * such directory. The kernel has 4096 terminals for the machine, and keeps 1024 of them for its
 * first mount namespace (kernel.pty.max and kernel.pty.reserve): a hundred sessions with 16 each
 * leave some to others. */
static int namespaces_devices(struct laz_error *err)
{
    if (mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
              "newinstance,ptmxmode=0666,mode=620,max=16") &&
        errno != ENOENT)
        return laz_error_os(err, errno, "no terminals of the session's own can be mounted");
    if (mount("mqueue", "/dev/mqueue", "mqueue", NAMESPACES_PLAIN | MS_NOEXEC, NULL) &&
        errno != ENOENT)
        return laz_error_os(err, errno, "no queues of the session's own can be mounted");
    return 0;
}

/* With all that is mounted in it: a part of it may be read-only. */
static int namespaces_show(const struct laz_strv *pairs, struct laz_error *err)
{
    for (size_t i = 0; pairs && i + 1 < pairs->n; i += 2)
        if (mount(pairs->items[i], pairs->items[i + 1], NULL, MS_BIND | MS_REC, NULL))
            return laz_error_os(err, errno, "%s cannot be shown to the session",
                                pairs->items[i + 1]);
    return 0;
}

int laz_os_own_mounts(const struct laz_own_mounts *mounts, uint32_t last_pid, struct laz_error *err)
{
    int rc = 0;

    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
        return laz_error_os(err, errno, "the session's mounts cannot be made its own");
    rc = namespaces_proc(mounts->stat, last_pid, err);
    if (!rc)
        rc = namespaces_show(mounts->shown, err);
    if (!rc)
        rc = namespaces_devices(err);
    if (!rc)
        rc =
            namespaces_empty("/dev/shm", mounts->tmp_size / NAMESPACES_SHM_PART, "0755", true, err);
    if (!rc && mounts->hidden)
        rc = namespaces_empty(mounts->hidden, 0, "0555", false, err);
    if (!rc && strcmp(mounts->home, "/tmp") != 0)
        rc = namespaces_empty("/tmp", mounts->tmp_size, "0700", true, err);
    if (!rc)
        rc = namespaces_empty(mounts->home, mounts->tmp_size, "0700", false, err);
    if (!rc && chdir(mounts->home))
        rc = laz_error_os(err, errno, "%s cannot be entered", mounts->home);
    return rc;
}

/* Whole directories, of which only a part may be mounted, and what shows the process its own
 * namespaces. */
static const char *const namespaces_own[] = {"/proc", "/sys", "/dev", "/tmp"};

bool laz_os_own_mounts_change(const struct laz_own_mounts *mounts, const char *path)
{
    bool changes = laz_path_is_within(path, mounts->home) ||
                   (mounts->hidden && laz_path_is_within(path, mounts->hidden));

    for (size_t i = 0; i < sizeof namespaces_own / sizeof namespaces_own[0]; i++)
        changes |= laz_path_is_within(path, namespaces_own[i]);
    for (size_t i = 1; mounts->shown && i < mounts->shown->n; i += 2)
        changes |= laz_path_is_within(path, mounts->shown->items[i]);
    return changes;
}

/* ---- the process ---------------------------------------------------------------------------- */

bool laz_os_own_cgroup_root(void)
{
    return unshare(CLONE_NEWCGROUP) == 0;
}

int laz_os_bound_capabilities(struct laz_error *err)
{
    for (unsigned long capability = 0; capability < 64; capability++) {
        if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0)
            continue;
        if (errno == EINVAL && capability > 0)
            break; /* the kernel has no more capabilities */
        return laz_error_os(err, errno, "capability %lu cannot be dropped", capability);
    }
    return 0;
}

/* The ambient set follows the permitted one. */
int laz_os_drop_capabilities(struct laz_error *err)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};

    if (syscall(SYS_capset, &head, none))
        return laz_error_os(err, errno, "capabilities cannot be dropped");
    return 0;
}

void laz_os_set_open(bool open)
{
    prctl(PR_SET_DUMPABLE, open ? 1 : 0, 0, 0, 0);
}

void laz_os_default_signals(void)
{
    struct sigaction now;

    for (int number = 1; number < NSIG; number++)
        if (sigaction(number, NULL, &now) == 0 && now.sa_handler != SIG_DFL)
            sigaction(number, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
}
