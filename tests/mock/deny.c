/* SPDX-License-Identifier: MIT */
/* deny.c (mock) - makes system calls fail at one place of the code.
 *
 * The state is in memory shared with children, because a child between fork and exec makes calls
 * too. Calls that end something (close, waitid) still do so and then report failure, as they do in
 * reality. */
#include "deny.h"

#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

#define DENY_SITES       2048u
#define DENY_DEPTH       4
#define DENY_STARTED     256u
#define DENY_DIRECTORIES 256u
#define DENY_PATH        200

struct deny_call {
    const char *name;
    int errors[3]; /* ways to fail; ends with 0 */
    bool removes;
};

struct deny_site {
    atomic_ullong key; /* 0: free */
    const struct deny_call *call;
};

static struct deny_state {
    atomic_bool learns, acts, on;
    atomic_uint missing;
    atomic_ullong target; /* the key */
    atomic_int error;
    atomic_ulong came;
    atomic_size_t n, n_started, n_directories;
    struct deny_site sites[DENY_SITES];
    int started[DENY_STARTED];
    char directories[DENY_DIRECTORIES][DENY_PATH];
} * deny;

__attribute__((constructor)) static void deny_make(void)
{
    void *frames[2];

    deny = mmap(NULL, sizeof *deny, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (deny == MAP_FAILED)
        abort();
    (void)backtrace(frames, 2); /* load its library now */
}

/* ---- sites ---------------------------------------------------------------------------------- */

/* Not inlined, so that the number of extra frames is known: this one and the wrapper's. */
__attribute__((noinline)) static unsigned long long deny_key(const struct deny_call *call)
{
    void *frames[3 + DENY_DEPTH] = {0};
    unsigned long long key = 14695981039346656037ull ^ (uintptr_t)call;
    int n = backtrace(frames, 3 + DENY_DEPTH);

    for (int i = 3; i < n; i++)
        key = (key ^ (uintptr_t)frames[i]) * 1099511628211ull;
    return key ? key : 1;
}

static void deny_note(const struct deny_call *call, unsigned long long key)
{
    size_t n = atomic_load(&deny->n);

    for (size_t i = 0; i < n && i < DENY_SITES; i++)
        if (atomic_load(&deny->sites[i].key) == key)
            return;
    n = atomic_fetch_add(&deny->n, 1);
    if (n >= DENY_SITES)
        abort();
    deny->sites[n].call = call;
    atomic_store(&deny->sites[n].key, key);
}

/* The error with which this call is to fail; 0: none. */
__attribute__((noinline)) static int deny_now(const struct deny_call *call)
{
    const int before = errno;
    int error = 0;

    if (!atomic_load(&deny->learns) && !atomic_load(&deny->acts))
        return 0;
    unsigned long long key = deny_key(call);
    if (atomic_load(&deny->learns))
        deny_note(call, key);
    if (atomic_load(&deny->acts) && key == atomic_load(&deny->target) &&
        (atomic_fetch_add(&deny->came, 1) == 0 || atomic_load(&deny->on)))
        error = atomic_load(&deny->error);
    errno = before;
    return error;
}

static bool deny_is_missing(unsigned what)
{
    return (atomic_load(&deny->missing) & what) &&
           (atomic_load(&deny->learns) || atomic_load(&deny->acts));
}

/* Forgets earlier processes, because process ids are reused. */
static void deny_forget_started(void)
{
    memset(deny->started, 0, sizeof deny->started);
    atomic_store(&deny->n_started, 0);
}

void deny_learn(unsigned missing)
{
    deny_forget_started();
    atomic_store(&deny->missing, missing);
    atomic_store(&deny->learns, true);
}

void deny_begin(size_t site, size_t error, bool on, unsigned missing)
{
    deny_forget_started();
    atomic_store(&deny->missing, missing);
    atomic_store(&deny->came, 0);
    atomic_store(&deny->on, on);
    atomic_store(&deny->error, deny->sites[site].call->errors[error]);
    atomic_store(&deny->target, atomic_load(&deny->sites[site].key));
    atomic_store(&deny->acts, true);
}

unsigned long deny_end(void)
{
    atomic_store(&deny->acts, false);
    atomic_store(&deny->learns, false);
    return atomic_load(&deny->came);
}

size_t deny_sites(void)
{
    return atomic_load(&deny->n);
}

size_t deny_errors(size_t site)
{
    size_t n = 0;

    while (n < 3 && deny->sites[site].call->errors[n])
        n++;
    return n;
}

const char *deny_name(size_t site, size_t error, int *os_errno)
{
    *os_errno = deny->sites[site].call->errors[error];
    return deny->sites[site].call->name;
}

bool deny_removes(size_t site)
{
    return deny->sites[site].call->removes;
}

/* ---- what is made --------------------------------------------------------------------------- */

static void deny_note_start(long pid)
{
    if (pid > 0)
        deny->started[atomic_fetch_add(&deny->n_started, 1) % DENY_STARTED] = (int)pid;
}

bool deny_started(int pid)
{
    for (size_t i = 0; i < DENY_STARTED; i++)
        if (deny->started[i] == pid)
            return true;
    return false;
}

static void deny_note_directory(const char *path)
{
    size_t n = atomic_fetch_add(&deny->n_directories, 1);

    if (n < DENY_DIRECTORIES && strlen(path) < DENY_PATH)
        memcpy(deny->directories[n], path, strlen(path) + 1);
}

/* Is it a directory that all engines share, made by the first that needs it? */
static bool deny_is_lasting(const char *path)
{
    static const char *const names[] = {"/lazaret-uids", "/lazaret-shared"};
    const char *name = strrchr(path, '/');

    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

size_t deny_directories_left(bool print)
{
    size_t left = 0, n = atomic_exchange(&deny->n_directories, 0);

    for (size_t i = 0; i < n && i < DENY_DIRECTORIES; i++) {
        struct stat st;
        if (stat(deny->directories[i], &st) != 0 || deny_is_lasting(deny->directories[i]))
            continue;
        left++;
        if (print)
            printf("\n    left: %s", deny->directories[i]);
    }
    return left;
}

/* ---- the calls ------------------------------------------------------------------------------- */

/* The linker's names: __wrap_X is called for X, __real_X is X. */
#define DENY_FULL(type, failed, name, removing, parameters, arguments, ...)                        \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        static const struct deny_call call = {#name, {__VA_ARGS__}, removing};                     \
        int error = deny_now(&call);                                                               \
        if (error) {                                                                               \
            errno = error;                                                                         \
            return failed;                                                                         \
        }                                                                                          \
        return __real_##name arguments;                                                            \
    }
#define DENY(name, parameters, arguments, ...)                                                     \
    DENY_FULL(int, -1, name, false, parameters, arguments, __VA_ARGS__)
#define DENY_REMOVAL(name, parameters, arguments, ...)                                             \
    DENY_FULL(int, -1, name, true, parameters, arguments, __VA_ARGS__)
#define DENY_BYTES(name, parameters, arguments, ...)                                               \
    DENY_FULL(ssize_t, -1, name, false, parameters, arguments, __VA_ARGS__)
#define DENY_POINTER(type, name, parameters, arguments, ...)                                       \
    DENY_FULL(type, NULL, name, false, parameters, arguments, __VA_ARGS__)

DENY(socket, (int domain, int type, int protocol), (domain, type, protocol), EMFILE)
DENY(bind, (int fd, const struct sockaddr *address, socklen_t len), (fd, address, len), ENOSPC)
DENY(listen, (int fd, int backlog), (fd, backlog), EADDRINUSE)
DENY(accept, (int fd, struct sockaddr *address, socklen_t *len), (fd, address, len), EMFILE, EINTR)
DENY(socketpair, (int domain, int type, int protocol, int ends[2]), (domain, type, protocol, ends),
     EMFILE)
DENY(connect, (int fd, const struct sockaddr *address, socklen_t len), (fd, address, len),
     ECONNREFUSED)
DENY(setsockopt, (int fd, int level, int name, const void *value, socklen_t len),
     (fd, level, name, value, len), ENOMEM)
DENY(fdatasync, (int fd), (fd), EIO)
DENY(ftruncate, (int fd, off_t size), (fd, size), ENOSPC)
DENY(renameat, (int directory, const char *from, int other, const char *to),
     (directory, from, other, to), ENOSPC)
DENY(pipe2, (int ends[2], int flags), (ends, flags), EMFILE)
DENY(dup2, (int from, int to), (from, to), EBUSY)
DENY(poll, (struct pollfd * fds, nfds_t n, int ms), (fds, n, ms), ENOMEM, EINTR)
DENY(epoll_create1, (int flags), (flags), EMFILE)
DENY(epoll_ctl, (int fd, int op, int what, struct epoll_event *event), (fd, op, what, event),
     ENOSPC)
DENY(epoll_wait, (int fd, struct epoll_event *events, int n, int ms), (fd, events, n, ms), EINTR)
DENY(eventfd, (unsigned value, int flags), (value, flags), EMFILE)
DENY(memfd_create, (const char *name, unsigned flags), (name, flags), EMFILE)
DENY(flock, (int fd, int operation), (fd, operation), ENOLCK, EINTR)
DENY(stat, (const char *path, struct stat *st), (path, st), EACCES)
DENY(lstat, (const char *path, struct stat *st), (path, st), EACCES)
DENY(fstat, (int fd, struct stat *st), (fd, st), EIO)
DENY_REMOVAL(fstatat, (int fd, const char *path, struct stat *st, int flags), (fd, path, st, flags),
             EACCES)
DENY(access, (const char *path, int mode), (path, mode), EACCES)
DENY(chmod, (const char *path, mode_t mode), (path, mode), EPERM)
DENY(fchmod, (int fd, mode_t mode), (fd, mode), EPERM)
DENY(fchown, (int fd, uid_t uid, gid_t gid), (fd, uid, gid), EPERM)
DENY(lchown, (const char *path, uid_t uid, gid_t gid), (path, uid, gid), EPERM)
DENY(rename, (const char *from, const char *to), (from, to), ENOSPC)
DENY(symlink, (const char *target, const char *path), (target, path), ENOSPC)
DENY_REMOVAL(unlink, (const char *path), (path), EBUSY)
DENY_REMOVAL(unlinkat, (int fd, const char *path, int flags), (fd, path, flags), EBUSY)
DENY_REMOVAL(rmdir, (const char *path), (path), EBUSY)
DENY(chdir, (const char *path), (path), EACCES)
DENY(getrlimit, (int what, void *limit), (what, limit), EPERM)
DENY(kill, (pid_t pid, int signal), (pid, signal), EPERM)
DENY(execve, (const char *path, char *const *argv, char *const *env), (path, argv, env), ENOMEM)
DENY(getentropy, (void *data, size_t len), (data, len), ENOSYS)
DENY(statvfs, (const char *path, struct statvfs *st), (path, st), EIO)
DENY_BYTES(read, (int fd, void *data, size_t len), (fd, data, len), EIO, EINTR)
DENY_BYTES(pread, (int fd, void *data, size_t len, off_t at), (fd, data, len, at), EIO)
DENY_BYTES(write, (int fd, const void *data, size_t len), (fd, data, len), ENOSPC, EINTR)
DENY_BYTES(send, (int fd, const void *data, size_t len, int flags), (fd, data, len, flags), ENOMEM,
           EINTR)
DENY_BYTES(recv, (int fd, void *data, size_t len, int flags), (fd, data, len, flags), ECONNRESET,
           EINTR)
DENY_BYTES(sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags),
           ETOOMANYREFS, EINTR)
DENY_BYTES(recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags), ENOMEM,
           EINTR)
DENY_BYTES(readlink, (const char *path, char *text, size_t size), (path, text, size), EACCES)
DENY_FULL(off_t, -1, lseek, false, (int fd, off_t at, int from), (fd, at, from), ESPIPE)
DENY_FULL(DIR *, NULL, opendir, true, (const char *path), (path), EMFILE)
DENY_FULL(DIR *, NULL, fdopendir, true, (int fd), (fd), ENOMEM)
DENY_FULL(struct dirent *, NULL, readdir, true, (DIR * directory), (directory), EIO)
DENY_POINTER(FILE *, fopen, (const char *path, const char *mode), (path, mode), EMFILE)
DENY_POINTER(char *, realpath, (const char *path, char *out), (path, out), EACCES)

/* Functions that do not fit the macros. */
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __real_openat(int fd, const char *path, int flags, ...);
int __wrap_openat(int fd, const char *path, int flags, ...);
int __wrap___open_2(const char *path, int flags);
int __real_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...);
int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);
int __real_prctl(int what, ...);
int __wrap_prctl(int what, ...);
int __real_close(int fd);
int __wrap_close(int fd);
int __real_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);
pid_t __real_waitpid(pid_t pid, int *status, int options);
pid_t __wrap_waitpid(pid_t pid, int *status, int options);
pid_t __real_setsid(void);
pid_t __wrap_setsid(void);
pid_t __real__Fork(void);
pid_t __wrap__Fork(void);
int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *len);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len);
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

__attribute__((always_inline)) static inline bool deny_fails(const struct deny_call *call)
{
    int error = deny_now(call);

    if (error)
        errno = error;
    return error != 0;
}

static bool deny_is_group(const char *path)
{
    return deny_is_missing(DENY_GROUPS) && strncmp(path, "/sys/fs/cgroup", 14) == 0;
}

int __wrap_open(const char *path, int flags, ...)
{
    static const struct deny_call call = {"open", {EMFILE}, false};
    va_list args;
    mode_t mode = 0;

    va_start(args, flags);
    if (flags & O_CREAT)
        mode = va_arg(args, mode_t);
    va_end(args);
    return deny_fails(&call) ? -1 : __real_open(path, flags, mode);
}

int __wrap___open_2(const char *path, int flags)
{
    static const struct deny_call call = {"open", {EMFILE}, false};

    return deny_fails(&call) ? -1 : __real_open(path, flags, 0);
}

int __wrap_openat(int fd, const char *path, int flags, ...)
{
    static const struct deny_call call = {"openat", {EMFILE}, true};
    va_list args;
    mode_t mode = 0;

    va_start(args, flags);
    if (flags & O_CREAT)
        mode = va_arg(args, mode_t);
    va_end(args);
    return deny_fails(&call) ? -1 : __real_openat(fd, path, flags, mode);
}

int __wrap_fcntl(int fd, int command, ...)
{
    static const struct deny_call call = {"fcntl", {EMFILE}, false};
    va_list args;

    va_start(args, command);
    long value = va_arg(args, long);
    va_end(args);
    return deny_fails(&call) ? -1 : __real_fcntl(fd, command, value);
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
    static const struct deny_call call = {"ioctl", {ENOTTY, EMFILE}, false};
    va_list args;

    va_start(args, request);
    void *value = va_arg(args, void *);
    va_end(args);
    return deny_fails(&call) ? -1 : __real_ioctl(fd, request, value);
}

int __wrap_prctl(int what, ...)
{
    static const struct deny_call call = {"prctl", {EINVAL}, false};
    unsigned long value[4];
    va_list args;

    va_start(args, what);
    for (int i = 0; i < 4; i++)
        value[i] = va_arg(args, unsigned long);
    va_end(args);
    return deny_fails(&call) ? -1 : __real_prctl(what, value[0], value[1], value[2], value[3]);
}

int __wrap_close(int fd)
{
    static const struct deny_call call = {"close", {EIO}, false};
    int rc = __real_close(fd);

    return deny_fails(&call) ? -1 : rc;
}

int __wrap_mkdir(const char *path, mode_t mode)
{
    static const struct deny_call call = {"mkdir", {ENOSPC}, false};

    if (deny_is_group(path)) {
        errno = EROFS;
        return -1;
    }
    if (deny_fails(&call))
        return -1;
    int rc = __real_mkdir(path, mode);
    if (rc == 0 && (atomic_load(&deny->acts) || atomic_load(&deny->learns)))
        deny_note_directory(path);
    return rc;
}

pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
    static const struct deny_call call = {"waitpid", {ECHILD}, false};
    pid_t got = __real_waitpid(pid, status, options);

    return deny_fails(&call) ? -1 : got;
}

pid_t __wrap_setsid(void)
{
    static const struct deny_call call = {"setsid", {EPERM}, false};

    return deny_fails(&call) ? -1 : __real_setsid();
}

pid_t __wrap__Fork(void)
{
    static const struct deny_call call = {"_Fork", {EAGAIN}, false};

    if (deny_fails(&call))
        return -1;
    pid_t pid = __real__Fork();
    deny_note_start(pid);
    return pid;
}

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
    static const struct deny_call call = {"getsockopt", {ENOPROTOOPT, EMFILE}, false};

    if (name == SO_PEERPIDFD && deny_is_missing(DENY_PEER_PIDFD)) {
        errno = ENOPROTOOPT;
        return -1;
    }
    return deny_fails(&call) ? -1 : __real_getsockopt(fd, level, name, value, len);
}

static const struct deny_syscall {
    long number;
    struct deny_call call;
    bool ends; /* makes the call, and then fails */
} deny_syscalls[] = {
#ifdef SYS_clone3
    {SYS_clone3, {"clone3", {EAGAIN, EPERM, ENOSYS}, false}, false},
#endif
#ifdef SYS_close_range
    {SYS_close_range, {"close_range", {ENOSYS, EPERM}, false}, false},
#endif
    {SYS_pidfd_open, {"pidfd_open", {EMFILE}, false}, false},
    {SYS_pidfd_send_signal, {"pidfd_send_signal", {EINVAL}, false}, false},
    {SYS_waitid, {"waitid", {ECHILD, EINTR}, false}, true},
    {SYS_setresuid, {"setresuid", {EAGAIN}, false}, false},
    {SYS_setresgid, {"setresgid", {EPERM}, false}, false},
    {SYS_setgroups, {"setgroups", {EPERM}, false}, false},
    {SYS_keyctl, {"keyctl", {EDQUOT}, false}, false},
    {SYS_getdents64, {"getdents64", {ENOMEM}, false}, false},
};

long __wrap_syscall(long number, ...)
{
    const struct deny_syscall *known = NULL;
    long value[5]; /* the most arguments of any call here; all are in registers, given or not */
    va_list args;

    va_start(args, number);
    for (int i = 0; i < 5; i++)
        value[i] = va_arg(args, long);
    va_end(args);
    for (size_t i = 0; i < sizeof deny_syscalls / sizeof *deny_syscalls; i++)
        if (deny_syscalls[i].number == number)
            known = &deny_syscalls[i];
#ifdef SYS_clone3
    if ((number == SYS_clone3 && deny_is_missing(DENY_CLONE3)) ||
        (number == SYS_close_range && deny_is_missing(DENY_CLOSE_RANGE))) {
        errno = ENOSYS;
        return -1;
    }
#endif
    int error = known ? deny_now(&known->call) : 0;
    bool late = error && known->ends && error != EINTR;
    if (error && !late) {
        errno = error;
        return -1;
    }
    long rc = __real_syscall(number, value[0], value[1], value[2], value[3], value[4]);
#ifdef SYS_clone3
    if (number == SYS_clone3)
        deny_note_start(rc);
#endif
    if (late && rc == 0) {
        errno = error;
        return -1;
    }
    return rc;
}
