/* SPDX-License-Identifier: MIT */
/* attack_processes.c - attempts on other processes, and on resources that processes share. */
#include "attack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t processes_pid(char **args)
{
    return (pid_t)atoi(args[0]);
}

/* Sends a signal that is ignored by default. */
static int processes_signal(char **args)
{
    return attack_result(kill(processes_pid(args), SIGURG));
}

static int processes_pidfd_signal(char **args)
{
    int fd = (int)syscall(SYS_pidfd_open, processes_pid(args), 0);
    int result =
        fd < 0 ? errno : attack_result(syscall(SYS_pidfd_send_signal, fd, SIGURG, NULL, 0));

    if (fd >= 0)
        close(fd);
    return result;
}

/* pidfd-take PID FD: copies one of its descriptors. */
static int processes_pidfd_take(char **args)
{
    int pidfd = (int)syscall(SYS_pidfd_open, processes_pid(args), 0);

    if (pidfd < 0)
        return errno;
    int fd = (int)syscall(SYS_pidfd_getfd, pidfd, atoi(args[1]), 0);
    int result = attack_result(fd);
    if (fd >= 0)
        close(fd);
    close(pidfd);
    return result;
}

static int processes_trace(char **args)
{
    pid_t pid = processes_pid(args);

    if (ptrace(PTRACE_SEIZE, pid, 0, 0) != 0)
        return errno;
    (void)ptrace(PTRACE_INTERRUPT, pid, 0, 0);
    waitpid(pid, NULL, __WALL);
    (void)ptrace(PTRACE_DETACH, pid, 0, 0);
    return 0;
}

/* vm-read PID ADDRESS: reads memory of the process. */
static int processes_vm_read(char **args)
{
    char text[8];
    struct iovec here = {text, sizeof text};
    struct iovec there = {(void *)(uintptr_t)strtoull(args[1], NULL, 16), sizeof text};

    return attack_result(process_vm_readv(processes_pid(args), &here, 1, &there, 1, 0));
}

static int processes_vm_write(char **args)
{
    char text[8] = "written";
    struct iovec here = {text, sizeof text};
    struct iovec there = {(void *)(uintptr_t)strtoull(args[1], NULL, 16), sizeof text};

    return attack_result(process_vm_writev(processes_pid(args), &here, 1, &there, 1, 0));
}

static int processes_mem(char **args)
{
    char path[64], text[8];

    snprintf(path, sizeof path, "/proc/%s/mem", args[0]);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int result =
        attack_result(pread(fd, text, sizeof text, (off_t)(uintptr_t)strtoull(args[1], NULL, 16)));
    close(fd);
    return result;
}

/* Opens the memory of every visible process. */
static int processes_open_mem(const char *pid, void *user)
{
    char path[64];

    (void)user;
    if (atoi(pid) == getppid()) /* the process that runs the attack */
        return ATTACK_NOTHING;
    snprintf(path, sizeof path, "/proc/%s/mem", pid);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

static int processes_any_mem(char **args)
{
    (void)args;
    return attack_each_process(processes_open_mem, NULL);
}

static int processes_environ(char **args)
{
    char path[64], c;

    snprintf(path, sizeof path, "/proc/%s/environ", args[0]);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int result = attack_result(read(fd, &c, 1));
    close(fd);
    return result;
}

/* fd PID FD: opens the file of one of its descriptors. */
static int processes_fd(char **args)
{
    char path[64], c;

    snprintf(path, sizeof path, "/proc/%s/fd/%s", args[0], args[1]);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int result = attack_result(read(fd, &c, 1));
    close(fd);
    return result;
}

static int processes_see(char **args)
{
    char path[64];
    struct stat st;

    snprintf(path, sizeof path, "/proc/%s", args[0]);
    return attack_result(stat(path, &st));
}

static int processes_priority(char **args)
{
    return attack_result(setpriority(PRIO_PROCESS, (id_t)atoi(args[0]), 19));
}

static int processes_scheduler(char **args)
{
    struct sched_param parameter = {0};

    return attack_result(sched_setscheduler(processes_pid(args), SCHED_BATCH, &parameter));
}

static int processes_affinity(char **args)
{
    cpu_set_t all;

    memset(&all, 0xff, sizeof all);
    return attack_result(sched_setaffinity(processes_pid(args), sizeof all, &all));
}

static int processes_limit(char **args)
{
    struct rlimit limit;

    return attack_result(prlimit(processes_pid(args), RLIMIT_CORE, NULL, &limit));
}

static int processes_group(char **args)
{
    return getpgid(processes_pid(args)) < 0 ? errno : 0;
}

/* shm KEY: attaches a System V segment of another process. */
static int processes_shm(char **args)
{
    int id = shmget((key_t)strtol(args[0], NULL, 10), 0, 0);
    void *at = id < 0 ? NULL : shmat(id, NULL, SHM_RDONLY);

    if (id < 0 || (intptr_t)at == -1)
        return errno;
    shmdt(at);
    return 0;
}

static int processes_mq(char **args)
{
    mqd_t queue = mq_open(args[0], O_RDONLY);

    if (queue == (mqd_t)-1)
        return errno;
    mq_close(queue);
    return 0;
}

/* key NUMBER: reads a key of another process. */
static int processes_key(char **args)
{
    char text[64];

    return attack_result(syscall(SYS_keyctl, KEYCTL_READ, atoi(args[0]), text, sizeof text));
}

static int processes_host_name(char **args)
{
    char name[256] = "";

    (void)gethostname(name, sizeof name - 1);
    return strcmp(name, args[0]) == 0 ? 0 : ATTACK_NOTHING;
}

/* Looks for a control group other than the visible root. */
static int processes_control_group(char **args)
{
    char line[512];
    FILE *file = fopen("/proc/self/cgroup", "re");
    int result = ATTACK_NOTHING;

    (void)args;
    if (!file)
        return errno;
    while (fgets(line, sizeof line, file)) {
        const char *path = strrchr(line, ':');
        if (path && strcmp(path, ":/\n") != 0)
            result = 0;
    }
    (void)fclose(file);
    return result;
}

const struct attack attack_processes[] = {
    {"signal", 1, processes_signal},
    {"pidfd-signal", 1, processes_pidfd_signal},
    {"pidfd-take", 2, processes_pidfd_take},
    {"trace", 1, processes_trace},
    {"vm-read", 2, processes_vm_read},
    {"vm-write", 2, processes_vm_write},
    {"mem", 2, processes_mem},
    {"any-mem", 0, processes_any_mem},
    {"environ", 1, processes_environ},
    {"fd", 2, processes_fd},
    {"see", 1, processes_see},
    {"priority", 1, processes_priority},
    {"scheduler", 1, processes_scheduler},
    {"affinity", 1, processes_affinity},
    {"limit", 1, processes_limit},
    {"group", 1, processes_group},
    {"shm", 1, processes_shm},
    {"mq", 1, processes_mq},
    {"key", 1, processes_key},
    {"host-name", 1, processes_host_name},
    {"control-group", 0, processes_control_group},
    {0},
};
