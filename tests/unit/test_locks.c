/* SPDX-License-Identifier: MIT */
/* test_locks.c - locks of files of a tree of processes: that all of them are found, by reading of
 * what processes have open as little as possible; and processes that may not be looked into. */
#include "trees.h"
#include "unit.h"

#include "os/linux/tree_kept.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOCKS          1000
#define LOCK_COUNTS_AS 65536

static void lock_thousand(int fd)
{
    for (int i = LOCKS; i > 0; i--) {
        struct flock lock = {.l_type = F_WRLCK, .l_start = 2 * i, .l_len = 1};
        if (fcntl(fd, F_SETLK, &lock))
            _exit(1);
    }
}

static void act_locks(void)
{
    lock_thousand(memfd_create("locks", MFD_CLOEXEC));
}

static uint64_t lock_bytes(struct laz_tree *tree)
{
    if (laz_os_tree_locks_are_due(tree))
        CU_ASSERT_TRUE(laz_os_tree_find_locks(tree));
    return tree->lock_bytes;
}

/* 64 KiB each. The first look finds them, whether it is asked for all or for locks only. */
static void locks_count(void)
{
    const uint64_t none = tree_usage(act_nothing, UINT64_MAX).bound_bytes;
    struct laz_tree_usage usage = {0};

    CU_ASSERT(tree_usage(act_locks, UINT64_MAX).bound_bytes >= none + LOCKS * LOCK_COUNTS_AS);
    struct laz_tree tree = tree_begin(act_locks);
    CU_ASSERT_EQUAL(lock_bytes(&tree), LOCKS * LOCK_COUNTS_AS);
    CU_ASSERT_EQUAL(lock_bytes(&tree), LOCKS * LOCK_COUNTS_AS);
    CU_ASSERT_TRUE(laz_os_tree_usage(&tree, UINT64_MAX, &usage));
    CU_ASSERT(usage.bound_bytes >= none + LOCKS * LOCK_COUNTS_AS);
    tree_finish(&tree);
}

/* Nothing is read of its processes; but were it wrong, it would be noticed by the tenth look. */
static void a_tree_without_locks_is_not_searched_for_them(void)
{
    struct laz_tree tree = tree_begin(act_locks);
    unsigned looks = 0;

    CU_ASSERT(laz_os_tree_locks_are_due(&tree)); /* the answer is ignored */
    CU_ASSERT(tree.lock_bytes == 0 && tree.seen.len == 0 && tree.kernel_bytes > 0);
    while (looks < 10 && lock_bytes(&tree) == 0)
        looks++;
    CU_ASSERT_EQUAL(tree.lock_bytes, LOCKS * LOCK_COUNTS_AS);
    CU_ASSERT(looks < 10);
    tree_finish(&tree);
}

#define DUPLICATES 50

/* The locks were made by the second of two open files of one inode. */
static void act_duplicates(void)
{
    int other = memfd_create("locks", MFD_CLOEXEC);
    char path[32];

    snprintf(path, sizeof path, "/proc/self/fd/%d", other);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    lock_thousand(fd);
    for (int i = 0; i < DUPLICATES; i++)
        if (dup(i % 2 ? other : fd) < 0)
            _exit(1);
}

static void act_epolls(void)
{
    for (int i = 0; i < DUPLICATES; i++) {
        struct epoll_event event = {.events = EPOLLIN};
        int fd = epoll_create1(EPOLL_CLOEXEC), other = eventfd(0, EFD_CLOEXEC);
        if (epoll_ctl(fd, EPOLL_CTL_ADD, other, &event))
            _exit(1);
    }
}

static void act_locked_epoll(void)
{
    act_epolls();
    lock_thousand(epoll_create1(EPOLL_CLOEXEC));
}

/* Looks for the locks of a tree that does `act`: how often it reads a description of a descriptor,
 * and how many locks it finds. `is_bare`: nothing on this machine has locked an epoll. */
static unsigned reads_of(void (*act)(void), uint64_t *locks, bool *is_bare)
{
    struct laz_tree tree = tree_begin(act);
    struct kept kept;

    kept_init(&kept, &tree, true);
    kept_add(&kept, tree.root);
    const unsigned reads = kept.reads;
    *locks = kept.locks;
    *is_bare = kept.bare_inode != 0;
    kept_fini(&kept);
    tree_finish(&tree);
    return reads;
}

/* Whoever duplicates a descriptor has its locks shown again, and the kernel makes all of the text
 * before any of it is read. */
static void an_open_file_is_read_once(void)
{
    uint64_t locks, none;
    bool is_bare;

    if (syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE, 0, 0) != 0) {
        unit_skip("kcmp", "this kernel does not tell which descriptors are one open file");
        return;
    }
    const unsigned reads = reads_of(act_nothing, &none, &is_bare);
    CU_ASSERT_EQUAL(reads_of(act_duplicates, &locks, &is_bare), reads + 2);
    CU_ASSERT_EQUAL(locks, none + LOCKS);
}

/* A line for each watch. Where one has a lock they are read, because that counts too: also while
 * another run of this test has one, so it is tried until there is none. */
static void epolls_are_not_read(void)
{
    bool was_bare = false, is_bare = false;
    uint64_t locks, none;
    unsigned reads = 0, more = 0;

    for (int i = 0; i < 10000 && !(was_bare && is_bare); i++) {
        reads = reads_of(act_nothing, &none, &was_bare);
        more = reads_of(act_epolls, &locks, &is_bare);
    }
    CU_ASSERT_TRUE(was_bare && is_bare);
    CU_ASSERT_EQUAL(more, reads);
    CU_ASSERT(reads_of(act_locked_epoll, &locks, &is_bare) > reads);
    CU_ASSERT_FALSE(is_bare);
    CU_ASSERT_EQUAL(locks, none + LOCKS);
}

/* By its own CPU time, or because another thread says so; then nothing of it is remembered. */
static void a_look_is_given_up(void)
{
    struct laz_tree tree = tree_begin(act_locks);
    struct laz_tree_usage usage;

    tree.until_us = 1;
    CU_ASSERT_FALSE(laz_os_tree_usage(&tree, 0, &usage));
    CU_ASSERT_TRUE(atomic_load(&tree.is_given_up));
    CU_ASSERT_FALSE(laz_os_tree_find_locks(&tree));
    tree.until_us = 0;
    CU_ASSERT_FALSE(laz_os_tree_find_locks(&tree));
    CU_ASSERT(tree.seen.len == 0 && tree.lock_bytes == 0);
    atomic_store(&tree.is_given_up, false);
    tree.until_us = UINT64_MAX;
    CU_ASSERT_TRUE(laz_os_tree_find_locks(&tree));
    CU_ASSERT_TRUE(laz_os_tree_usage(&tree, 0, &usage));
    CU_ASSERT_EQUAL(tree.lock_bytes, LOCKS * LOCK_COUNTS_AS);
    tree_finish(&tree);
}

/* ---- processes that may not be looked into ------------------------------------------------------
 */

static void act_closed(void)
{
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/* Does it count as one that hides what it has open? */
static bool hides(pid_t pid)
{
    struct kept kept;

    kept_init(&kept, &(struct laz_tree){0}, true);
    kept_add(&kept, pid);
    kept_fini(&kept);
    return kept.is_hidden;
}

/* Not one that has ended, which newer kernels do not show either. */
static void who_may_not_be_looked_into_hides_something(void)
{
    struct laz_tree tree = tree_begin(act_closed);
    siginfo_t how;

    CU_ASSERT_EQUAL(hides((pid_t)tree.root), geteuid() != 0); /* root may look at all */
    tree_finish(&tree);
    tree = tree_begin(act_nothing);
    CU_ASSERT(!hides((pid_t)tree.root));
    kill((pid_t)tree.root, SIGKILL);
    CU_ASSERT_EQUAL(waitid(P_PID, (id_t)tree.root, &how, WEXITED | WNOWAIT), 0);
    CU_ASSERT(!hides((pid_t)tree.root));
    tree_finish(&tree);
}

/* All that the kernel's memory has grown by is charged to whoever hides something. */
static void a_root_that_is_trusted_hides_nothing(void)
{
    for (int trusted = 0; trusted < 2; trusted++) {
        struct laz_tree tree = tree_begin(act_closed);
        struct laz_tree_usage usage = {0};
        tree.trusts_root = trusted;
        CU_ASSERT_TRUE(laz_os_tree_usage(&tree, 0, &usage));
        tree.kernel_bytes = tree.kernel_least = 1;
        CU_ASSERT_EQUAL(lock_bytes(&tree) > 0, !trusted && geteuid() != 0);
        if (trusted)
            CU_ASSERT_EQUAL(usage.bound_bytes, 0);
        tree_finish(&tree);
    }
}

static const struct unit_test tests[] = {
    UNIT(locks_count),
    UNIT(a_tree_without_locks_is_not_searched_for_them),
    UNIT(an_open_file_is_read_once),
    UNIT(epolls_are_not_read),
    UNIT(a_look_is_given_up),
    UNIT(who_may_not_be_looked_into_hides_something),
    UNIT(a_root_that_is_trusted_hides_nothing),
    {0},
};

int main(void)
{
    return unit_run("locks", tests);
}
