/* SPDX-License-Identifier: MIT */
/* calls_linux.c - makes system calls that code of a model does not need, and looks at other
 * processes. System: Linux.
 *
 * Each is made in a form that an ordinary user may use on an unrestricted system, so that a refusal
 * comes from the box and not from missing rights. A call that needs capabilities is made in a new
 * user namespace, which grants them (user_namespaces(7)). A call that could change the process is
 * made by a child that ends right after. */
#include "acts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/keyctl.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/* 0 or errno; closes the descriptor that the call returned. */
static int calls_fd(long fd)
{
    if (fd < 0)
        return errno;
    close((int)fd);
    return 0;
}

static int calls_ptrace(void)
{
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0 ? errno : 0;
}

static int calls_unshare(void)
{
    return unshare(CLONE_NEWUSER) < 0 ? errno : 0;
}

static int calls_network(void)
{
    return unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0 ? errno : 0;
}

static int calls_mount(void)
{
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        return errno;
    return mount("none", "/tmp", "tmpfs", 0, NULL) < 0 ? errno : 0;
}

static int calls_chroot(void)
{
    if (unshare(CLONE_NEWUSER) < 0)
        return errno;
    return chroot("/") < 0 ? errno : 0;
}

static int calls_keyctl(void)
{
    return syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_PROCESS_KEYRING, 1) < 0 ? errno : 0;
}

static int calls_inet(void)
{
    return calls_fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

static int calls_netlink(void)
{
    return calls_fd(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
}

/* Of ICMP: who may not make one may in a user namespace, for the network of that. */
static int calls_raw(void)
{
    int failed = calls_fd(socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, 1));

    if (failed != EPERM || unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
        return failed;
    return calls_fd(socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, 1));
}

static int calls_perf(void)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };

    return calls_fd(syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

static int calls_bpf(void)
{
    union bpf_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.map_type = BPF_MAP_TYPE_ARRAY;
    attr.key_size = attr.value_size = sizeof(uint32_t);
    attr.max_entries = 1;
    return calls_fd(syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof attr));
}

static int calls_userfaultfd(void)
{
    return calls_fd(syscall(SYS_userfaultfd, 1 /* UFFD_USER_MODE_ONLY, Linux 5.11 */));
}

static int calls_io_uring(void)
{
    char params[120] = {0}; /* struct io_uring_params */

    return calls_fd(syscall(SYS_io_uring_setup, 1, params));
}

static int calls_vm_read(void)
{
    char from = 'x', to = 0;
    struct iovec local = {&to, 1}, remote = {&from, 1};

    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) < 0 ? errno : 0;
}

static int calls_add_key(void)
{
    return syscall(SYS_add_key, "user", "lazaret-doctor", "x", 1, KEY_SPEC_PROCESS_KEYRING) < 0
               ? errno
               : 0;
}

/* ---- what the kernel counts by user, or keeps without counting it ---------------------------- */

static int calls_io_setup(void)
{
    unsigned long context = 0; /* of io_setup(2); it ends with the process */

    return syscall(SYS_io_setup, 1, &context) < 0 ? errno : 0;
}

static int calls_inotify(void)
{
    return calls_fd(inotify_init1(IN_CLOEXEC));
}

/* A group of this kind needs no capability (Linux 5.13). */
static int calls_fanotify(void)
{
    return calls_fd(fanotify_init(FAN_CLASS_NOTIF | FAN_REPORT_FID | FAN_CLOEXEC, O_RDONLY));
}

static int calls_shared(void)
{
    int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);

    if (id < 0)
        return errno;
    shmctl(id, IPC_RMID, NULL);
    return 0;
}

static int calls_pipe(void)
{
    int ends[2];

    /* Smaller, as the kernel refuses to enlarge a pipe where other processes of the user have many
     * (fs.pipe-user-pages-soft, pipe(7)). */
    return pipe(ends) < 0 || fcntl(ends[0], F_SETPIPE_SZ, 4096) < 0 ? errno : 0;
}

static int calls_buffer(void)
{
    int ends[2], size = 8192;

    return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0 ||
                   setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size) < 0
               ? errno
               : 0;
}

/* An access control list (acl(5)) that says no more than the mode 0600, in the form of the kernel
 * (linux/posix_acl_xattr.h): a version, then entries of tag, rights and id. */
static int calls_acl(void)
{
    static const struct {
        uint32_t version;
        struct {
            uint16_t tag, rights;
            uint32_t id;
        } entries[3];
    } list = {2, {{0x01, 6, UINT32_MAX}, {0x04, 0, UINT32_MAX}, {0x20, 0, UINT32_MAX}}};
    int fd = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd < 0)
        return errno;
    return fsetxattr(fd, "system.posix_acl_access", &list, sizeof list, 0) < 0 ? errno : 0;
}

static const struct {
    const char *name;
    int (*call)(void);
} calls_table[] = {
    {"ptrace", calls_ptrace},
    {"process_vm_readv", calls_vm_read},
    {"unshare", calls_unshare},
    {"unshare network", calls_network},
    {"mount", calls_mount},
    {"chroot", calls_chroot},
    {"keyctl", calls_keyctl},
    {"socket inet", calls_inet},
    {"socket netlink", calls_netlink},
    {"socket raw", calls_raw},
    {"perf_event_open", calls_perf},
    {"bpf", calls_bpf},
    {"userfaultfd", calls_userfaultfd},
    {"io_uring_setup", calls_io_uring},
    {"add_key", calls_add_key},
    {"io_setup", calls_io_setup},
    {"inotify_init1", calls_inotify},
    {"fanotify_init", calls_fanotify},
    {"shmget", calls_shared},
    {"fcntl F_SETPIPE_SZ", calls_pipe},
    {"setxattr", calls_acl},
    {"setsockopt SO_SNDBUF", calls_buffer},
};

int doctor_call(const char *name)
{
    int status;

    for (size_t i = 0; i < sizeof calls_table / sizeof *calls_table; i++) {
        if (strcmp(calls_table[i].name, name) != 0)
            continue;
        pid_t child = fork();
        if (child == 0)
            _exit(calls_table[i].call());
        if (child < 0 || waitpid(child, &status, 0) != child)
            return errno;
        /* ended by a signal: the filter kills for this call */
        return WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
    }
    return -1;
}

int64_t doctor_see(const char *text, int *failed)
{
    struct dirent *entry;
    DIR *dir = opendir("/proc");
    int64_t seen = 0;

    if (!dir) {
        *failed = errno;
        return 0;
    }
    while ((entry = readdir(dir))) {
        char path[300], line[4096];
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
            continue;
        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof line);
        if (n > 0 && memmem(line, (size_t)n, text, strlen(text)))
            seen++;
        if (fd >= 0)
            close(fd);
    }
    closedir(dir);
    return seen;
}
