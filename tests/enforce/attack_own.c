/* SPDX-License-Identifier: MIT */
/* attack_own.c - attempts on a process's own resources: descriptors, environment, capabilities,
 * limits, programs that it may start. */
#include "attack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* descriptor DEVICE INODE: does any descriptor refer to that file? */
static int own_descriptor(char **args)
{
    struct stat st;

    for (int fd = 0; fd < 4096; fd++)
        if (fstat(fd, &st) == 0 && st.st_dev == strtoull(args[0], NULL, 10) &&
            st.st_ino == strtoull(args[1], NULL, 10))
            return 0;
    return ATTACK_NOTHING;
}

/* Looks for descriptors besides the three standard ones, the channel and the pipe to the parent. */
static int own_descriptors(char **args)
{
    struct dirent *entry;
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;

    (void)args;
    if (!dir)
        return errno;
    while ((entry = readdir(dir)))
        n += entry->d_name[0] != '.' && atoi(entry->d_name) > 3;
    closedir(dir);
    return n > 3 ? 0 : ATTACK_NOTHING; /* the pipe's two ends and the directory being read */
}

static int own_file_has(const char *path, const char *text)
{
    static char data[1 << 16];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, data, sizeof data);
    int result = attack_result(n);

    if (fd >= 0)
        close(fd);
    if (result)
        return result;
    return n > 0 && memmem(data, (size_t)n, text, strlen(text)) ? 0 : ATTACK_NOTHING;
}

/* environment TEXT: searches the variables of the C library and those that the kernel shows. */
static int own_environment(char **args)
{
    extern char **environ;

    for (char **name = environ; *name; name++)
        if (strstr(*name, args[0]))
            return 0;
    return own_file_has("/proc/self/environ", args[0]);
}

static int own_environ_of(const char *pid, void *user)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%s/environ", pid);
    int result = own_file_has(path, user);
    if (result == 0)
        return 0;
    snprintf(path, sizeof path, "/proc/%s/cmdline", pid);
    return own_file_has(path, user) == 0 ? 0 : result;
}

static int own_any_environment(char **args)
{
    return attack_each_process(own_environ_of, args[0]);
}

static int own_new_privileges(char **args)
{
    (void)args;
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? EPERM : 0;
}

/* Looks for a capability that is held, or that could be gained: in the bounding set of a process
 * without no_new_privs. */
static int own_capabilities(char **args)
{
    char line[256];
    FILE *status = fopen("/proc/self/status", "re");
    int result = ATTACK_NOTHING;

    (void)args;
    if (!status)
        return errno;
    while (fgets(line, sizeof line, status))
        if (strncmp(line, "Cap", 3) == 0 && strtoull(line + 8, NULL, 16) != 0)
            result = 0;
    (void)fclose(status);
    return result;
}

static int own_setuid(char **args)
{
    return attack_result(setresuid((uid_t)atoi(args[0]), (uid_t)atoi(args[0]), (uid_t)-1));
}

static int own_is_host_uid(char **args)
{
    return getuid() == (uid_t)strtoul(args[0], NULL, 10) ? 0 : ATTACK_NOTHING;
}

static const struct {
    const char *name;
    __rlimit_resource_t resource;
} own_limits[] = {
    {"cpu", RLIMIT_CPU},           {"data", RLIMIT_DATA},
    {"fsize", RLIMIT_FSIZE},       {"nproc", RLIMIT_NPROC},
    {"nofile", RLIMIT_NOFILE},     {"core", RLIMIT_CORE},
    {"memlock", RLIMIT_MEMLOCK},   {"sigpending", RLIMIT_SIGPENDING},
    {"msgqueue", RLIMIT_MSGQUEUE},
};

/* raise LIMIT VALUE: raises a limit above that of the session. */
static int own_raise(char **args)
{
    const rlim_t value = (rlim_t)strtoull(args[1], NULL, 10);
    const struct rlimit limit = {value, value};

    for (size_t i = 0; i < sizeof own_limits / sizeof *own_limits; i++)
        if (strcmp(own_limits[i].name, args[0]) == 0)
            return attack_result(setrlimit(own_limits[i].resource, &limit));
    return ENOTSUP;
}

static int own_nice(char **args)
{
    (void)args;
    return attack_result(setpriority(PRIO_PROCESS, 0, -5));
}

static int own_real_time(char **args)
{
    struct sched_param parameter = {.sched_priority = 1};

    (void)args;
    return attack_result(syscall(SYS_sched_setscheduler, 0, 1 /* SCHED_FIFO */, &parameter));
}

static int own_terminal(char **args)
{
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);

    (void)args;
    int result = attack_result(fd);
    if (fd >= 0)
        close(fd);
    return result;
}

/* fill PATH BYTES: writes that much into one file. */
static int own_fill(char **args)
{
    static const char block[1 << 16];
    long long left = atoll(args[1]);
    int fd = open(args[0], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), result = 0;

    if (fd < 0)
        return errno;
    while (left > 0 && !result) {
        ssize_t n = write(fd, block, left < (1 << 16) ? (size_t)left : sizeof block);
        left -= n > 0 ? n : 0;
        result = attack_result(n);
    }
    close(fd);
    unlink(args[0]);
    return result;
}

/* Allocates that much, reports it, and keeps it as long as the pipe is open. */
__attribute__((noreturn)) static void own_keep(size_t bytes, int ready, int gate)
{
    char c = 0, *memory = bytes ? malloc(bytes) : &c;

    for (size_t at = 0; memory && at < bytes; at += 4096)
        ((volatile char *)memory)[at] = 1;
    if (memory && write(ready, "r", 1) == 1)
        (void)!read(gate, &c, 1);
    _exit(0);
}

/* spread COUNT MIB MS: runs COUNT processes at the same time, each with MIB of memory, for MS
 * milliseconds, so that a watchdog that samples sees them too. */
static int own_spread(char **args)
{
    int ready[2], gate[2], result = 0, count = atoi(args[0]), n = 0;
    size_t bytes = (size_t)atoi(args[1]) << 20;
    char c;

    if (pipe(ready) != 0 || pipe(gate) != 0)
        return errno;
    for (; n < count && !result; n++) {
        pid_t pid = fork();
        if (pid == 0) {
            close(ready[0]);
            close(gate[1]);
            own_keep(bytes, ready[1], gate[0]);
        }
        result = attack_result(pid);
    }
    close(ready[1]);
    for (int i = 0; i < count && !result; i++)
        result = read(ready[0], &c, 1) == 1 ? 0 : ENOMEM; /* a process was killed */
    if (!result && bytes)
        usleep((useconds_t)atoi(args[2]) * 1000);
    close(gate[1]);
    return result;
}

/* ---- programs ------------------------------------------------------------------------------- */

/* Executes a program and reports the error of execve; the pipe closes if it succeeded. */
static int own_execute(int fd, const char *path, char *const *argv)
{
    char *const env[] = {NULL};
    int ends[2], code = 0;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);
        dup2(null, 1);
        dup2(null, 2);
        if (path)
            execve(path, argv, env);
        else
            syscall(SYS_execveat, fd, "", argv, env, AT_EMPTY_PATH);
        code = errno;
        _exit(write(ends[1], &code, sizeof code) == sizeof code ? 126 : 125);
    }
    close(ends[1]);
    int result = pid < 0 ? errno : read(ends[0], &code, sizeof code) == sizeof code ? code : 0;
    close(ends[0]);
    int status = 0;
    if (pid > 0)
        waitpid(pid, &status, 0);
    if (!result && WIFEXITED(status) && WEXITSTATUS(status) == 127)
        result = EACCES; /* the loader was started, but refused to map the program */
    return result;
}

static int own_exec(char **args)
{
    char *const argv[] = {args[0], (char *)(uintptr_t) "--version", NULL};

    return own_execute(-1, args[0], argv);
}

/* Runs a program through the loader, which maps it and does not call execve. */
static int own_loader(char **args)
{
    char *const argv[] = {args[0], args[1], (char *)(uintptr_t) "--version", NULL};

    return own_execute(-1, args[0], argv);
}

static int own_copy(const char *from, int to)
{
    char data[1 << 14];
    ssize_t n;
    int fd = open(from, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return errno;
    while ((n = read(fd, data, sizeof data)) > 0)
        if (write(to, data, (size_t)n) != n)
            break;
    close(fd);
    return n == 0 ? 0 : errno;
}

/* Executes a copy of a program in the home or in memory. */
static int own_exec_copy(char **args)
{
    char path[512];
    const char *home = getenv("HOME");

    snprintf(path, sizeof path, "%s/program", home && home[0] ? home : "/tmp");
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
    if (fd < 0)
        return errno;
    int result = own_copy(args[0], fd);
    close(fd);
    char *const argv[] = {path, NULL};
    if (!result)
        result = own_execute(-1, path, argv);
    unlink(path);
    return result;
}

static int own_exec_memory(char **args)
{
    int fd = memfd_create("program", 0);

    if (fd < 0)
        return errno;
    char *const argv[] = {args[0], NULL};
    int result = own_copy(args[0], fd);
    return result ? result : own_execute(fd, NULL, argv);
}

const struct attack attack_own[] = {
    {"descriptor", 2, own_descriptor},
    {"descriptors", 0, own_descriptors},
    {"environment", 1, own_environment},
    {"any-environment", 1, own_any_environment},
    {"new-privileges", 0, own_new_privileges},
    {"capabilities", 0, own_capabilities},
    {"setuid", 1, own_setuid},
    {"uid-is", 1, own_is_host_uid},
    {"raise", 2, own_raise},
    {"nice", 0, own_nice},
    {"real-time", 0, own_real_time},
    {"terminal", 0, own_terminal},
    {"fill", 2, own_fill},
    {"spread", 3, own_spread},
    {"exec", 1, own_exec},
    {"loader", 2, own_loader},
    {"exec-copy", 1, own_exec_copy},
    {"exec-memory", 1, own_exec_memory},
    {0},
};
