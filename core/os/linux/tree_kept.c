/* SPDX-License-Identifier: MIT */
/* tree_kept.c - memory that the kernel keeps for a tree of processes.  System: Linux.
 * Side: host.  Input trusted: no (the processes choose names and descriptors).
 *
 * Nothing reports how much a socket or a pipe holds at the moment, so each counts as full.  The
 * filter of system calls keeps this bound: it refuses to change the size of either, sockets that
 * are not pairs, and tables of descriptors that /proc does not show (filter_rules.c).  What is in
 * a message is open in no process.  Of a socket the kernel reports how many descriptors wait in
 * it, but not what waits in those; so one of them stands for as many as its own limit allows.
 *
 * In a network namespace of the tree's own (os/network.h) sockets hold data that no process has
 * open: what was connected and closed before anybody accepted it, and what is still to be sent
 * after the end of its process.  No control group counts all of that either, since a connection
 * that was not accepted is nobody's.  How many sockets there are the kernel says (sockstat), and
 * each counts as the most that it can hold, once more where a descriptor of it was counted.  Of the
 * host's ends of connections the code decides what is in them: they count, but not those that
 * listen.
 *
 * A lock of a file belongs to a process that has the file open, by the same description, and is a
 * line of its fdinfo.  (A lock of an open file description could wait in a message, where nothing
 * shows it: the filter refuses them.)  The kernel makes the text of an fdinfo as a whole before the
 * first byte is read, and each duplicate of a descriptor has the same locks: so an open file is
 * read once for a process (kcmp(2)).  That of an epoll has a line for each watch besides.  All
 * epolls of a machine are one inode, and whether anybody has a lock of an inode is one question
 * (F_GETLK), to which for an ordinary program the answer is no: then none of them is read.
 *
 * Files are looked at without asking their file system (AT_STATX_DONT_SYNC, statx(2)), which may
 * be a server that never answers. */
#include "os/linux/tree_kept.h"

#include "os/cgroup_text.h"
#include "os/descriptors.h"
#include "os/files.h"
#include "os/linux/proc.h"
#include "os/network.h"
#include "os/posix/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

/* A packet may be as large as the buffer when the buffer is nearly full (unix_dgram_sendmsg). */
#define KEPT_SOCKET_BUFFERS 2
#define KEPT_SOCKET_DEFAULT 212992u /* bytes of a buffer: net.core.wmem_default, socket(7) */
#define KEPT_TCP_DEFAULT    ((uint64_t)32 << 20) /* more than the kernel's own maximum, tcp(7) */
#define KEPT_PIPE_PAGES     18u                  /* 16 that hold data (pipe(7)), two in reserve */
#define KEPT_FILE_BYTES     4096u                /* what describes a socket or a pipe */
#define KEPT_INODE_BYTES    1536u /* of tmpfs(5): inode, directory entry, a long name */
#define KEPT_IN_A_MESSAGE   253u  /* descriptors: SCM_MAX_FD, unix(7) */
#define KEPT_UNLIMITED      ((uint64_t)1 << 20)
#define KEPT_LOOKS_MAX      8192u /* descriptors; each further one counts as a socket */

struct kept_file {
    uint64_t device, inode, bytes;
    int64_t pid;
    int descriptor; /* of a socket; -1: a pipe */
};

/* One write lock conflicts with each lock that another process has. */
static void kept_find_bare(struct kept *kept)
{
    struct flock any = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct stat st;
    int fd = laz_posix_above(epoll_create1(EPOLL_CLOEXEC));

    if (fd >= 0 && fstat(fd, &st) == 0 && fcntl(fd, F_GETLK, &any) == 0 && any.l_type == F_UNLCK) {
        kept->bare_device = (uint64_t)major(st.st_dev) << 32 | minor(st.st_dev);
        kept->bare_inode = st.st_ino;
    }
    laz_os_close(&fd);
}

/* The most that a socket of AF_UNIX or UDP can hold. */
static uint64_t kept_socket_bytes(void)
{
    char text[32];
    unsigned long long buffer = 0;

    if (!proc_system("/proc/sys/net/core/wmem_default", text, sizeof text) ||
        sscanf(text, "%llu", &buffer) != 1 || !buffer)
        buffer = KEPT_SOCKET_DEFAULT;
    return KEPT_SOCKET_BUFFERS * buffer + KEPT_FILE_BYTES;
}

void kept_init(struct kept *kept, struct laz_tree *tree, bool finds_locks)
{
    *kept = (struct kept){
        .tree = tree,
        .files = LAZ_BUF_INIT,
        .socket_bytes = kept_socket_bytes(),
        .pipe_bytes = KEPT_PIPE_PAGES * (uint64_t)sysconf(_SC_PAGESIZE) + KEPT_FILE_BYTES,
        .finds_locks = finds_locks,
        .read = LAZ_BUF_INIT,
    };
    if (finds_locks)
        kept_find_bare(kept);
}

void kept_fini(struct kept *kept)
{
    laz_buf_fini(&kept->files);
    laz_buf_fini(&kept->read);
}

static int kept_compare(const void *a, const void *b)
{
    const struct kept_file *x = a, *y = b;

    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return x->inode < y->inode ? -1 : x->inode > y->inode;
}

/* ---- descriptors ---------------------------------------------------------------------------- */

/* What fdinfo (proc(5)) says of a descriptor: its locks, and how many descriptors wait in a socket
 * (since Linux 5.6). */
static void kept_read_info(struct kept *kept, int64_t pid, int descriptor, uint64_t *locks,
                           unsigned long *in_flight)
{
    char path[48], line[256];

    *locks = *in_flight = 0;
    kept->reads++;
    snprintf(path, sizeof path, "/proc/%lld/fdinfo/%d", (long long)pid, descriptor);
    FILE *info = laz_posix_fopen(path);
    while (info && fgets(line, sizeof line, info))
        if (strncmp(line, "lock:", 5) == 0)
            ++*locks;
        else
            (void)sscanf(line, "scm_fds: %lu", in_flight);
    if (info)
        (void)fclose(info);
}

/* A process whose descriptors cannot be listed, because it executes a file that cannot be read:
 * each counts as a socket. The size of the directory is their number since Linux 6.2; before, the
 * size of its table stands for it. */
static void kept_add_hidden(struct kept *kept, int64_t pid)
{
    char path[48], text[4096];
    unsigned long long n = 0;
    struct stat st;

    snprintf(path, sizeof path, "/proc/%lld/fd", (long long)pid);
    if (stat(path, &st) == 0 && st.st_size > 0)
        n = (unsigned long long)st.st_size;
    else if (proc_read(pid, "status", text, sizeof text) && strstr(text, "\nFDSize:"))
        (void)sscanf(strstr(text, "\nFDSize:"), "\nFDSize: %llu", &n);
    kept->other_bytes += n * kept->socket_bytes;
    kept->is_hidden = true;
}

/* Orders open files of one process, duplicates as equal. What the kernel does not compare is read.
 */
static int kept_compare_open(const struct kept_file *x, const struct kept_file *y)
{
    if (x->device != y->device || x->inode != y->inode)
        return kept_compare(x, y);
    const long order = syscall(SYS_kcmp, (pid_t)x->pid, (pid_t)x->pid, KCMP_FILE,
                               (unsigned long)x->descriptor, (unsigned long)y->descriptor);
    return order == 0 ? 0 : order == 1 ? -1 : 1;
}

/* Was it read by another descriptor of its process? From now on it was. */
static bool kept_was_read(struct kept *kept, const struct kept_file *file)
{
    size_t first = 0, end = kept->read.len / sizeof *file;

    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        const struct kept_file *other = (struct kept_file *)(void *)kept->read.data + middle;
        const int order = kept_compare_open(file, other);
        if (order == 0)
            return true;
        *(order < 0 ? &end : &first) = order < 0 ? middle : middle + 1;
    }
    laz_buf_append(&kept->read, file, sizeof *file);
    if (kept->read.failed)
        return false;
    struct kept_file *all = (struct kept_file *)(void *)kept->read.data;
    const size_t n = kept->read.len / sizeof *file;
    memmove(&all[first + 1], &all[first], (n - 1 - first) * sizeof *file);
    all[first] = *file;
    return false;
}

static void kept_add_locks(struct kept *kept, const struct kept_file *file)
{
    unsigned long in_flight;
    uint64_t locks;

    if ((file->inode == kept->bare_inode && file->device == kept->bare_device) ||
        kept_was_read(kept, file))
        return;
    kept_read_info(kept, file->pid, file->descriptor, &locks, &in_flight);
    kept->locks += locks;
}

static void kept_add_descriptor(struct kept *kept, int64_t pid, int directory, const char *name)
{
    struct statx st = {0};

    if (++kept->looked > KEPT_LOOKS_MAX ||
        (statx(directory, name, AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, &st) != 0 &&
         errno != ENOENT)) { /* ENOENT: closed meanwhile */
        kept->other_bytes += kept->socket_bytes;
        return;
    }
    const bool is_socket = S_ISSOCK(st.stx_mode);
    struct kept_file file = {
        .device = (uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor,
        .inode = st.stx_ino,
        .bytes = is_socket ? kept->socket_bytes : kept->pipe_bytes,
        .pid = pid,
        .descriptor = atoi(name),
    };
    if (kept->finds_locks)
        kept_add_locks(kept, &file);
    if (!is_socket)
        file.descriptor = -1;
    if (is_socket || S_ISFIFO(st.stx_mode))
        laz_buf_append(&kept->files, &file, sizeof file);
}

void kept_add(struct kept *kept, int64_t pid)
{
    struct dirent *entry;
    char path[48];

    snprintf(path, sizeof path, "/proc/%lld/fd", (long long)pid);
    DIR *list = laz_posix_opendir(path);
    if (!list && errno == EACCES && proc_has_memory(pid))
        kept_add_hidden(kept, pid);
    laz_buf_clear(&kept->read);
    while (laz_tree_lasts(kept->tree) && list && (entry = readdir(list)))
        if (entry->d_name[0] != '.')
            kept_add_descriptor(kept, pid, dirfd(list), entry->d_name);
    if (list)
        (void)closedir(list);
}

static bool kept_has_in_flight(struct kept *kept, const struct kept_file *file)
{
    unsigned long in_flight = 0;
    uint64_t locks;

    if (file->descriptor >= 0)
        kept_read_info(kept, file->pid, file->descriptor, &locks, &in_flight);
    return in_flight > 0;
}

uint64_t kept_bytes(struct kept *kept, uint64_t nofile, bool *in_flight)
{
    struct kept_file *files = (struct kept_file *)(void *)kept->files.data;
    const size_t n = kept->files.len / sizeof *files;
    uint64_t sum = kept->other_bytes;

    *in_flight = false;
    if (n)
        qsort(files, n, sizeof *files, kept_compare);
    for (size_t i = 0; i < n; i++) {
        if (i && kept_compare(&files[i - 1], &files[i]) == 0)
            continue;
        sum += files[i].bytes;
        if (!*in_flight && laz_tree_lasts(kept->tree))
            *in_flight = kept_has_in_flight(kept, &files[i]);
    }
    /* The kernel refuses a message when more than RLIMIT_NOFILE are in flight (unix(7)), and looks
     * at their number before it takes the message. */
    if (*in_flight)
        sum += ((nofile < KEPT_UNLIMITED ? nofile : KEPT_UNLIMITED) + KEPT_IN_A_MESSAGE) *
               kept->socket_bytes;
    return sum;
}

/* ---- sockets of a namespace ----------------------------------------------------------------- */

/* The number behind the words at the beginning of a line; 0: there is none. */
static uint64_t kept_in_use(const char *text, const char *words)
{
    const char *line = strstr(text, words);

    return line && (line == text || line[-1] == '\n') ? strtoull(line + strlen(words), NULL, 10)
                                                      : 0;
}

bool kept_find_sockets(struct laz_tree *tree, int64_t pid)
{
    char text[1024], text6[1024];
    const uint64_t space = proc_namespace(pid, "net");

    if (space && space == proc_namespace((int64_t)getpid(), "net"))
        return false; /* of the host: it has not entered its own yet */
    if (!proc_read(pid, "net/sockstat", text, sizeof text) || !text[0])
        return false;
    if (!proc_read(pid, "net/sockstat6", text6, sizeof text6))
        text6[0] = '\0'; /* a kernel without IPv6 */
    const uint64_t tcp = kept_in_use(text, "TCP: inuse ") + kept_in_use(text6, "TCP6: inuse "),
                   udp = kept_in_use(text, "UDP: inuse ") + kept_in_use(text6, "UDP6: inuse ");
    tree->network_bytes =
        (tcp > tree->listeners ? tcp - tree->listeners : 0) * (tree->tcp_bytes + KEPT_FILE_BYTES) +
        udp * kept_socket_bytes();
    return true;
}

uint64_t laz_os_tree_tcp_bytes(bool is_bounded)
{
    static const char *const settings[] = {"/proc/sys/net/ipv4/tcp_rmem",
                                           "/proc/sys/net/ipv4/tcp_wmem"};
    unsigned long long most = 0;
    uint64_t sum = 0;
    char text[96];

    if (is_bounded)
        return 2 * (uint64_t)LAZ_OS_SOCKET_BYTES;
    for (size_t i = 0; i < 2; i++) {
        const bool read = proc_system(settings[i], text, sizeof text);
        sum += read && sscanf(text, "%*u %*u %llu", &most) == 1 ? most : KEPT_TCP_DEFAULT;
    }
    return sum;
}

/* ---- file systems in memory ----------------------------------------------------------------- */

static int kept_open_root(int64_t pid)
{
    char path[48];

    snprintf(path, sizeof path, "/proc/%lld/root", (long long)pid);
    return laz_posix_above(open(path, O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* `mount`: "DEVICE PATH". Bytes in this tmpfs, swapped ones included; -1: it is not there. */
static int64_t kept_mount_bytes(int root, const char *mount)
{
    const char *path = strchr(mount, '/') + 1;
    char device[32];
    struct statfs fs;
    struct stat st;
    int64_t bytes = -1;
    int fd = laz_posix_above(openat(root, *path ? path : ".", O_PATH | O_NOFOLLOW | O_CLOEXEC));

    if (fd >= 0 && fstat(fd, &st) == 0 && fstatfs(fd, &fs) == 0) {
        snprintf(device, sizeof device, "%u:%u ", major(st.st_dev), minor(st.st_dev));
        if (strncmp(device, mount, strlen(device)) == 0)
            bytes = (int64_t)((fs.f_blocks - fs.f_bfree) * (uint64_t)fs.f_bsize +
                              (fs.f_files - fs.f_ffree) * KEPT_INODE_BYTES);
    }
    laz_os_close(&fd);
    return bytes;
}

/* Notes a line of mountinfo (proc(5)) if it is about a tmpfs that is not mounted `here`, the first
 * one of this device, and not covered by another mount. */
static void kept_note_mount(struct laz_tree *tree, int root, const char *line, const char *here)
{
    char device[32], word[40];
    int from = 0, to = 0;

    if (!strstr(line, " - tmpfs ") ||
        sscanf(line, "%*d %*d %31s %*s %n%*s%n", device, &from, &to) != 1 || line[from] != '/')
        return;
    snprintf(word, sizeof word, " %s ", device);
    bool known = strstr(here, word) != NULL;
    for (size_t i = 0; i < tree->file_systems.n; i++)
        known |= strncmp(tree->file_systems.items[i], word + 1, strlen(word + 1)) == 0;
    char *path = known ? NULL : laz_mount_unescape(line + from, (size_t)(to - from));
    char *mount = path ? laz_strdupf("%s%s", word + 1, path) : NULL;
    if (mount && kept_mount_bytes(root, mount) >= 0)
        laz_strv_add(&tree->file_systems, mount);
    free(mount);
    free(path);
}

void kept_find_file_systems(struct laz_tree *tree, int64_t pid)
{
    struct laz_buf here = LAZ_BUF_INIT, there = LAZ_BUF_INIT;
    char path[48], *rest = NULL;
    struct stat own, other;

    snprintf(path, sizeof path, "/proc/%lld/ns/mnt", (long long)pid);
    if (stat("/proc/thread-self/ns/mnt", &own) != 0 || stat(path, &other) != 0 ||
        own.st_ino == other.st_ino)
        return;
    int root = kept_open_root(pid);
    snprintf(path, sizeof path, "/proc/%lld/mountinfo", (long long)pid);
    bool found = root >= 0 &&
                 laz_os_read_file("/proc/thread-self/mountinfo", 1 << 22, &here, NULL) == 0 &&
                 laz_os_read_file(path, 1 << 22, &there, NULL) == 0;
    for (char *line = found ? strtok_r(there.data, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest))
        kept_note_mount(tree, root, line, laz_buf_text(&here));
    laz_os_close(&root);
    laz_buf_fini(&here);
    laz_buf_fini(&there);
    tree->inside = found ? pid : 0;
}

uint64_t kept_file_systems_bytes(struct laz_tree *tree)
{
    int root = tree->inside ? kept_open_root(tree->inside) : -1;
    bool moved = root < 0;
    uint64_t sum = 0;

    for (size_t i = 0; i < tree->file_systems.n && root >= 0; i++) {
        int64_t bytes = kept_mount_bytes(root, tree->file_systems.items[i]);
        moved |= bytes < 0;
        sum += bytes > 0 ? (uint64_t)bytes : 0;
    }
    if (moved) { /* a directory above one has another name now: they are found again */
        laz_strv_fini(&tree->file_systems);
        tree->inside = 0;
    }
    laz_os_close(&root);
    return sum;
}
