/* SPDX-License-Identifier: MIT */
/* test_tree.c - the usage of a tree of processes, added up from /proc: what counts, that it counts
 * once, and processes that hide what they use.  The trees are made by this test; the first process
 * of each writes a byte when it has what is to be counted. */
#include "trees.h"
#include "unit.h"

#include "os/descriptors.h"
#include "os/directories.h"
#include "os/files.h"
#include "os/linux/counters.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB ((uint64_t)1 << 20)

/* ---- a tree of processes -------------------------------------------------------------------- */

/* A process that writes to `bytes` of memory and then forks `children`, one of them by vfork. */
static pid_t tree_of(size_t bytes, int children, bool by_vfork, int ready)
{
    fflush(stdout);
    pid_t root = fork();
    if (root != 0)
        return root;
    setpgid(0, 0);
    char *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        _exit(1);
    memset(block, 1, bytes);
    for (int i = 0; i < children; i++) {
        if (fork() == 0) {
            if (write(ready, "c", 1) != 1)
                _exit(1);
            for (;;)
                pause();
        }
    }
    if (by_vfork && vfork() == 0) {
        (void)!write(ready, "c", 1);
        for (;;)
            poll(NULL, 0, -1);
    }
    for (;;)
        pause();
}

static void tree_shares_what_forked_processes_share(void)
{
    struct laz_tree_usage quick, exact;
    int ready[2];
    char c;

    if (!laz_os_tree_can_be_seen()) {
        unit_skip("children", "the kernel does not tell the children of a process");
        return;
    }
    CU_ASSERT_EQUAL_FATAL(pipe2(ready, O_CLOEXEC), 0);
    pid_t root = tree_of(64 * MIB, 3, false, ready[1]);
    struct laz_tree tree = {.root = root};
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(read(ready[0], &c, 1), 1);
    CU_ASSERT_TRUE(laz_os_tree_usage(&tree, UINT64_MAX, &quick));
    CU_ASSERT_TRUE(laz_os_tree_usage(&tree, 0, &exact));
    CU_ASSERT_EQUAL(quick.processes, 4);
    CU_ASSERT(quick.memory_bytes >= 4 * 64 * MIB);
    CU_ASSERT(exact.memory_bytes >= 64 * MIB);
    CU_ASSERT(exact.memory_bytes + 2 * 64 * MIB < quick.memory_bytes);
    tree_end(root);
    CU_ASSERT_FALSE(laz_os_tree_usage(&tree, 0, &exact)); /* the process has ended */

    tree.root = root = tree_of(64 * MIB, 0, true, ready[1]);
    CU_ASSERT_EQUAL(read(ready[0], &c, 1), 1);
    CU_ASSERT_TRUE(laz_os_tree_usage(&tree, UINT64_MAX, &quick));
    CU_ASSERT_TRUE(laz_os_tree_usage(&tree, 0, &exact));
    CU_ASSERT(quick.memory_bytes >= 2 * 64 * MIB);
    CU_ASSERT(exact.memory_bytes >= 64 * MIB);
    if (syscall(SYS_kcmp, getpid(), getpid(), KCMP_VM, 0, 0) != 0)
        unit_skip("kcmp", "this kernel does not tell who shares memory");
    else
        CU_ASSERT(exact.memory_bytes + 32 * MIB < quick.memory_bytes);
    tree_end(root);
    laz_os_tree_forget(&tree);
    laz_os_close(&ready[0]);
    laz_os_close(&ready[1]);
}

static void tree_counts_the_time_of_children(void)
{
    struct laz_tree_usage usage = {0};
    int ready[2];
    char c;

    if (!laz_os_tree_can_be_seen())
        return;
    CU_ASSERT_EQUAL_FATAL(pipe2(ready, O_CLOEXEC), 0);
    fflush(stdout);
    pid_t root = fork();
    if (root == 0) {
        setpgid(0, 0);
        for (int i = 0; i < 2; i++) {
            if (fork() == 0) {
                volatile unsigned n = 0;
                (void)!write(ready[1], "c", 1);
                for (;;)
                    n++;
            }
        }
        for (;;)
            pause();
    }
    struct laz_tree tree = {.root = root};
    for (int i = 0; i < 2; i++)
        CU_ASSERT_EQUAL(read(ready[0], &c, 1), 1);
    while (usage.cpu_us < 100000) {
        CU_ASSERT_TRUE_FATAL(laz_os_tree_usage(&tree, UINT64_MAX, &usage));
        poll(NULL, 0, 2);
    }
    CU_ASSERT_EQUAL(usage.processes, 3);
    tree_end(root);
    laz_os_tree_forget(&tree);
    laz_os_close(&ready[0]);
    laz_os_close(&ready[1]);
}

/* ---- what hides ----------------------------------------------------------------------------- */

/* Reads from every 2 MiB: all pages are the same one, but each needs a table of 4 KiB. */
static void act_tables(void)
{
    const size_t size = (size_t)16 << 30;
    volatile char *block =
        mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (block == MAP_FAILED)
        _exit(1);
    for (size_t at = 0; at < size; at += 2 * MIB)
        (void)block[at];
}

static void page_tables_count(void)
{
    const uint64_t enough[] = {UINT64_MAX, 0};

    for (size_t i = 0; i < 2; i++)
        CU_ASSERT(tree_usage(act_tables, enough[i]).memory_bytes >=
                  tree_usage(act_nothing, enough[i]).memory_bytes + 31 * MIB);
}

/* Fills what can be written to without waiting. */
static void fill(int fd, bool is_socket)
{
    static const char block[65536];
    ssize_t n;

    for (size_t size = sizeof block; size > 0; size /= 4) /* the last bytes one by one */
        while ((n = is_socket ? send(fd, block, size, MSG_DONTWAIT) : write(fd, block, size)) > 0)
            report->bytes += (uint64_t)n;
}

static void act_buffers(void)
{
    for (int i = 0; i < 8; i++) {
        int pair[2], ends[2];
        if (socketpair(AF_UNIX, i % 2 ? SOCK_STREAM : SOCK_SEQPACKET, 0, pair) ||
            pipe2(ends, O_NONBLOCK))
            _exit(1);
        fill(pair[0], true);
        fill(pair[1], true);
        fill(ends[1], false);
    }
    report->n = 8;
}

static void act_buffers_twice(void)
{
    act_buffers();
    if (fork() == 0)
        stay();
}

static void act_nothing_twice(void)
{
    if (fork() == 0)
        stay();
}

static void buffers_count_once_and_as_full(void)
{
    struct laz_tree_usage usage;
    const uint64_t none = tree_usage(act_nothing, UINT64_MAX).bound_bytes;
    const uint64_t none_twice = tree_usage(act_nothing_twice, UINT64_MAX).bound_bytes;

    struct laz_tree tree = tree_begin(act_buffers);
    CU_ASSERT_TRUE(laz_os_tree_usage(&tree, UINT64_MAX, &usage));
    CU_ASSERT_EQUAL(report->n, 8);
    CU_ASSERT(report->bytes >= 8 * MIB / 4);
    CU_ASSERT(usage.bound_bytes >= none + report->bytes);
    CU_ASSERT(usage.memory_bytes >= usage.bound_bytes);
    CU_ASSERT_FALSE(usage.in_flight);
    tree_finish(&tree);
    CU_ASSERT_EQUAL(tree_usage(act_buffers_twice, UINT64_MAX).bound_bytes - none_twice,
                    usage.bound_bytes - none);
}

/* Sends both ends of a pair through another one, and closes them. */
static void act_flight(void)
{
    union {
        char data[CMSG_SPACE(2 * sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    struct iovec byte = {(char[]){'c'}, 1};
    struct msghdr message = {.msg_iov = &byte,
                             .msg_iovlen = 1,
                             .msg_control = control.data,
                             .msg_controllen = sizeof control.data};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    int way[2], sent[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, way) || socketpair(AF_UNIX, SOCK_STREAM, 0, sent))
        _exit(1);
    fill(sent[0], true);
    *header = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof sent)};
    memcpy(CMSG_DATA(header), sent, sizeof sent);
    if (sendmsg(way[0], &message, 0) != 1)
        _exit(1);
    laz_os_close(&sent[0]);
    laz_os_close(&sent[1]);
}

/* Locks are the first that is shown of a descriptor. */
static void act_flight_behind_locks(void)
{
    act_flight();
    for (int fd = 0; fd < 64; fd++)
        for (int i = 0; i < 100; i++) {
            struct flock lock = {.l_type = F_RDLCK, .l_start = 2 * i, .l_len = 1};
            (void)fcntl(fd, F_SETLK, &lock);
        }
}

static void descriptors_in_flight_count_at_their_worst(void)
{
    void (*const acts[])(void) = {act_flight, act_flight_behind_locks};

    for (size_t i = 0; i < 2; i++) {
        const struct laz_tree_usage usage = tree_usage(acts[i], UINT64_MAX);
        CU_ASSERT_TRUE(usage.in_flight);
        CU_ASSERT(usage.bound_bytes > (64 + 253) * MIB / 8); /* each with more than 128 KiB */
    }
}

#define NETWORK_CONNECTIONS 20

/* Makes a network namespace, in which it fills connections that nobody accepts, and closes its end
 * of them. */
static void act_network(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    socklen_t len = sizeof address;

    if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
        return;
    int server = socket(AF_INET, SOCK_STREAM, 0);
    if (ioctl(server, SIOCSIFFLAGS, &lo) || bind(server, (struct sockaddr *)&address, len) ||
        listen(server, NETWORK_CONNECTIONS) ||
        getsockname(server, (struct sockaddr *)&address, &len))
        _exit(1);
    for (int i = 0; i < NETWORK_CONNECTIONS; i++) {
        int client = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(client, (struct sockaddr *)&address, len))
            _exit(1);
        fill(client, true);
        laz_os_close(&client);
    }
    report->n = NETWORK_CONNECTIONS;
}

/* What is in sockets that no process has open counts, where only those of the tree can be seen. */
static void sockets_of_its_network_count_whoever_has_them(void)
{
    struct laz_tree_usage usage;
    struct laz_tree tree = tree_begin(act_network);

    if (!report->n)
        unit_skip("network", "no user namespace can be made");
    else {
        CU_ASSERT_TRUE(laz_os_tree_usage(&tree, UINT64_MAX, &usage));
        CU_ASSERT_EQUAL(tree.network_bytes, 0); /* it has none: those of others would count */
        const uint64_t without = usage.bound_bytes;
        tree.tcp_bytes = laz_os_tree_tcp_bytes(false);
        CU_ASSERT(tree.tcp_bytes * report->n > report->bytes);
        CU_ASSERT_TRUE(laz_os_tree_usage(&tree, UINT64_MAX, &usage));
        CU_ASSERT(usage.bound_bytes - without >= 2 * report->n * tree.tcp_bytes);
        tree.tcp_bytes = laz_os_tree_tcp_bytes(true);
        CU_ASSERT(laz_os_tree_find_locks(&tree));
        const uint64_t each = tree.network_bytes / (2 * report->n + 1); /* and one that listens */
        CU_ASSERT(each > tree.tcp_bytes && each < tree.tcp_bytes + 8192);
        tree.listeners = 1;
        CU_ASSERT(laz_os_tree_find_locks(&tree));
        CU_ASSERT_EQUAL(tree.network_bytes, 2 * report->n * each);
    }
    tree_finish(&tree);
}

/* A process that has not entered its namespace yet is not charged with what the host has. */
static void sockets_of_the_host_do_not_count(void)
{
    struct laz_tree_usage usage;
    struct laz_tree tree = tree_begin(act_nothing);
    int other = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};

    CU_ASSERT_EQUAL(bind(other, (struct sockaddr *)&address, sizeof address), 0);
    tree.tcp_bytes = laz_os_tree_tcp_bytes(true);
    CU_ASSERT_TRUE(laz_os_tree_usage(&tree, UINT64_MAX, &usage));
    CU_ASSERT_EQUAL(tree.network_bytes, 0);
    tree_finish(&tree);
    laz_os_close(&other);
}

#define MAPPINGS 20000

/* Every second page is of another kind, so that none can be joined with its neighbour. */
static void act_mappings(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *block = mmap(NULL, MAPPINGS * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (block == MAP_FAILED)
        _exit(1);
    for (size_t i = 0; i < MAPPINGS; i += 2)
        if (mprotect(block + i * page, page, PROT_READ))
            _exit(1);
}

static void act_one_mapping(void)
{
    const size_t size = (size_t)16 << 30;

    if (mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) ==
        MAP_FAILED)
        _exit(1);
}

/* Two KiB each. The quick bound, one for each page, is too much, and so they are counted. */
static void mappings_count(void)
{
    const uint64_t most = MAPPINGS * 2048;

    CU_ASSERT(tree_usage(act_mappings, UINT64_MAX).bound_bytes >= most);
    CU_ASSERT(tree_usage(act_mappings, 0).bound_bytes > 0);
    CU_ASSERT(tree_usage(act_mappings, most / 2).memory_bytes > most / 2);
    CU_ASSERT(tree_usage(act_mappings, 3 * most).memory_bytes >= most);
    CU_ASSERT(tree_usage(act_one_mapping, UINT64_MAX).bound_bytes >= most);
    CU_ASSERT(tree_usage(act_one_mapping, most).memory_bytes < most / 2);
}

/* ---- a process without its first thread -----------------------------------------------------
 */

static void *hold(void *bytes)
{
    const size_t size = *(size_t *)bytes;
    char *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (block == MAP_FAILED)
        _exit(1);
    memset(block, 1, size);
    while (*(volatile unsigned *)&report->n == 0)
        poll(NULL, 0, 1);
    stay();
    return NULL;
}

/* The first thread ends, another one stays. */
static void act_thread(void)
{
    static size_t size = 64 * MIB;
    char path[48], text[512];
    pthread_t thread;

    act_buffers();
    report->n = 0;
    pid_t child = fork();
    if (child > 0) { /* sees the end of the first thread, as the host would */
        for (;;) {
            snprintf(path, sizeof path, "/proc/%d/stat", (int)child);
            int fd = open(path, O_RDONLY | O_CLOEXEC);
            ssize_t n = read(fd, text, sizeof text - 1);
            text[n > 0 ? n : 0] = '\0';
            laz_os_close(&fd);
            if (strstr(text, ") Z "))
                break;
            poll(NULL, 0, 1);
        }
        report->n = 1;
        for (;;)
            pause();
    }
    if (pthread_create(&thread, NULL, hold, &size))
        _exit(1);
    syscall(SYS_exit, 0);
}

static void a_process_without_its_first_thread_counts(void)
{
    const uint64_t enough[] = {UINT64_MAX, 0};

    for (size_t i = 0; i < 2; i++) {
        struct laz_tree_usage usage = tree_usage(act_thread, enough[i]);
        CU_ASSERT_EQUAL(usage.processes, 2);
        CU_ASSERT(usage.memory_bytes - usage.bound_bytes >= 64 * MIB);
    }
}

/* ---- file systems in memory ----------------------------------------------------------------- */

#define FILES 2000

static bool put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    laz_os_close(&fd);
    return done;
}

/* Mounts a file system in memory, by root or in a user namespace, and enters it. */
static bool has_own_files(void)
{
    char uid[32], gid[32];

    snprintf(uid, sizeof uid, "0 %u 1", (unsigned)geteuid());
    snprintf(gid, sizeof gid, "0 %u 1", (unsigned)getegid());
    if (unshare(CLONE_NEWNS) != 0 &&
        (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 || !put("/proc/self/setgroups", "deny") ||
         !put("/proc/self/uid_map", uid) || !put("/proc/self/gid_map", gid)))
        return false;
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("tmpfs", "/tmp", "tmpfs", 0, "size=64m") == 0 && chdir("/tmp") == 0;
}

/* 16 MiB in a file that is mapped, and as much in one that is not; and files without content. */
static void act_files(void)
{
    char name[16];

    if (!has_own_files())
        return;
    for (int i = 0; i < 2; i++) {
        int fd = open(i ? "other" : "mapped", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        char *block = ftruncate(fd, 16 * MIB)
                          ? MAP_FAILED
                          : mmap(NULL, 16 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (block == MAP_FAILED)
            _exit(1);
        memset(block, 1, 16 * MIB);
        if (i)
            (void)munmap(block, 16 * MIB);
        laz_os_close(&fd);
    }
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "%d", i);
        int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        laz_os_close(&fd);
    }
    report->n = 1;
}

static void files_in_memory_count_once(void)
{
    struct laz_tree_usage usage = {0};
    const uint64_t none = tree_usage(act_nothing, 0).memory_bytes;

    struct laz_tree tree = tree_begin(act_files);
    if (report->n == 0) {
        unit_skip("namespaces", "no file system can be mounted here");
    } else {
        CU_ASSERT_TRUE(laz_os_tree_usage(&tree, UINT64_MAX, &usage)); /* the mapped one twice */
        CU_ASSERT(usage.memory_bytes >= 48 * MIB + FILES * 1024);
        CU_ASSERT_TRUE(laz_os_tree_usage(&tree, 0, &usage));
        CU_ASSERT(usage.memory_bytes >= 32 * MIB + FILES * 1024);
        CU_ASSERT(usage.memory_bytes < none + 40 * MIB);
    }
    tree_finish(&tree);
}

/* ---- processes that nobody waits for -------------------------------------------------------- */

static void spin_ms(int ms)
{
    struct timespec now;

    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    while (now.tv_sec == 0 && now.tv_nsec < ms * 1000000L);
}

static void act_children_of(int ms)
{
    sign();
    for (;; report->n++) {
        pid_t child = fork();
        if (child == 0) {
            spin_ms(ms);
            _exit(0);
        }
        (void)waitpid(child, NULL, 0); /* until it has ended, with SIGCHLD ignored as well */
    }
}

static void act_children(void)
{
    act_children_of(10);
}

/* Many of them end while a look reads the tree. */
static void act_short_children(void)
{
    act_children_of(1);
}

static void act_children_unwaited(void)
{
    signal(SIGCHLD, SIG_IGN);
    act_children();
}

/* By another process, which is waited for. */
static void act_children_apart(void)
{
    sign();
    for (;; report->n++) {
        pid_t between = fork();
        if (between == 0) {
            signal(SIGCHLD, SIG_IGN);
            if (fork() == 0) {
                spin_ms(10);
                _exit(0);
            }
            (void)wait(NULL);
            _exit(0);
        }
        (void)waitpid(between, NULL, 0);
    }
}

/* Looks until a process is missed, or `children` were made. */
static bool misses_one(void (*act)(void), unsigned children, uint64_t *most_us)
{
    struct laz_tree_usage usage = {0};
    struct laz_tree tree = tree_begin(act);

    *most_us = 0;
    while (!usage.unwaited && *(volatile unsigned *)&report->n < children) {
        CU_ASSERT_TRUE_FATAL(laz_os_tree_usage(&tree, UINT64_MAX, &usage));
        *most_us = usage.unwaited_permille > *most_us ? usage.unwaited_permille : *most_us;
        poll(NULL, 0, 3);
    }
    tree_finish(&tree);
    return usage.unwaited;
}

static void processes_that_nobody_waits_for_are_noticed(void)
{
    uint64_t most;

    CU_ASSERT_TRUE(misses_one(act_children_unwaited, 1000, &most));
    CU_ASSERT(most <= 2000);
    CU_ASSERT_TRUE(misses_one(act_children_apart, 1000, &most));
    CU_ASSERT_FALSE(misses_one(act_children, 20, &most));
    CU_ASSERT_EQUAL(most, 0);
    CU_ASSERT_FALSE(misses_one(act_short_children, 300, &most));
    CU_ASSERT_EQUAL(most, 0);
}

static void the_machine_tells_how_busy_it_is(void)
{
    const uint64_t before = laz_os_busy_us();

    CU_ASSERT(before > 0);
    CU_ASSERT(laz_os_busy_us() >= before);
}

/* ---- counters ------------------------------------------------------------------------------- */

#define COUNTERS_FILES 128 /* descriptors that this process may have: */
#define COUNTERS_OPEN  16  /* so many counters stay open */
#define COUNTERS       20

static unsigned descriptors_open(void)
{
    unsigned n = 0;

    for (int fd = 0; fd < 256; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static bool counter_says(struct counter *counter, const char *directory, int value)
{
    char file[16], text[16];

    snprintf(file, sizeof file, "%d", value);
    return counter_read(counter, directory, file, text, sizeof text) && atoi(text) == value;
}

/* A counter that has to make way opens again when it is read. None of them takes a descriptor that
 * another one needs. */
static void few_counters_stay_open(void)
{
    char directory[] = "/tmp/test-tree-XXXXXX", path[64], text[16];
    struct counter counters[COUNTERS] = {{0}};
    const unsigned before = descriptors_open();
    struct rlimit limit;

    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
    const struct rlimit few = {.rlim_cur = COUNTERS_FILES, .rlim_max = limit.rlim_max};
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_NOFILE, &few), 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
    for (int i = 0; i < COUNTERS; i++) {
        snprintf(path, sizeof path, "%s/%d", directory, i);
        int n = snprintf(text, sizeof text, "%d", i);
        CU_ASSERT_EQUAL(laz_os_write_file(path, text, (size_t)n, 0600, NULL), 0);
    }
    for (int i = 0; i < 3 * COUNTERS; i++)
        CU_ASSERT_TRUE(counter_says(&counters[i % COUNTERS], directory, i % COUNTERS));
    CU_ASSERT_EQUAL(descriptors_open(), before + COUNTERS_OPEN);
    CU_ASSERT_EQUAL(unlink(path), 0); /* the last one stays open */
    CU_ASSERT_TRUE(counter_says(&counters[COUNTERS - 1], directory, COUNTERS - 1));
    CU_ASSERT_FALSE(counter_read(&(struct counter){0}, directory, "none", text, sizeof text));
    const struct rlimit none = {.rlim_cur = 3, .rlim_max = limit.rlim_max};
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &none), 0);
    bool read = counter_says(&counters[0], directory, 0); /* 0, 1 and 2 are in use */
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
    CU_ASSERT_FALSE(read);
    CU_ASSERT_EQUAL(descriptors_open(), before); /* they were given up all the same */
    for (int i = 0; i < COUNTERS - 1; i++)
        CU_ASSERT_TRUE(counter_says(&counters[i], directory, i));
    counters_give_up();
    CU_ASSERT_EQUAL(descriptors_open(), before);
    CU_ASSERT_TRUE(counter_says(&counters[0], directory, 0));
    CU_ASSERT_TRUE(counter_says(&counters[1], directory, 1));
    for (int i = 0; i < COUNTERS; i++)
        counter_close(&counters[i]);
    CU_ASSERT_EQUAL(descriptors_open(), before);
    laz_os_remove_tree(directory);
}

static const struct unit_test tests[] = {
    UNIT(few_counters_stay_open), /* the first, as the first counter decides how many */
    UNIT(tree_shares_what_forked_processes_share),
    UNIT(tree_counts_the_time_of_children),
    UNIT(page_tables_count),
    UNIT(buffers_count_once_and_as_full),
    UNIT(descriptors_in_flight_count_at_their_worst),
    UNIT(sockets_of_its_network_count_whoever_has_them),
    UNIT(sockets_of_the_host_do_not_count),
    UNIT(mappings_count),
    UNIT(a_process_without_its_first_thread_counts),
    UNIT(files_in_memory_count_once),
    UNIT(processes_that_nobody_waits_for_are_noticed),
    UNIT(the_machine_tells_how_busy_it_is),
    {0},
};

int main(void)
{
    return unit_run("tree", tests);
}
