/* SPDX-License-Identifier: MIT */
/* delays.c - a library that ld.so loads into every process of a test (LD_PRELOAD).
 *
 * Calls by which processes meet take longer at random: a child starts late, a socket listens late.
 * What a test expects of the order of events, and nothing makes sure of, then goes wrong in one run
 * of a few. scripts/check --stress uses it. It is not in agents, whose environment is their own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Waits in so many of 1000 calls, up to a time. Changes no errno, and calls nothing that is delayed. */
static void wait_at_random(uint32_t permille, uint32_t at_most_ms)
{
    int saved = errno;
    uint32_t random[2];
    if (syscall(SYS_getrandom, random, sizeof random, GRND_NONBLOCK) == sizeof random &&
        random[0] % 1000 < permille) {
        struct timespec time = {.tv_nsec = (long)(random[1] % at_most_ms) * 1000000};
        syscall(SYS_nanosleep, &time, NULL);
    }
    errno = saved;
}

/* A function that waits before and after it does what that of the C library does. */
#define DELAYED(type, name, parameters, arguments, permille, at_most_ms)                           \
    type name parameters;                                                                          \
    type name parameters                                                                           \
    {                                                                                              \
        static type(*libc) parameters;                                                             \
        if (libc == NULL)                                                                          \
            libc = (type(*) parameters)dlsym(RTLD_NEXT, #name);                                    \
        wait_at_random(permille, at_most_ms);                                                      \
        type result = libc arguments;                                                              \
        wait_at_random(permille, at_most_ms);                                                      \
        return result;                                                                             \
    }

/* A child waits longest: what started it has often long done the next thing by then. */
pid_t fork(void)
{
    static pid_t (*libc)(void);
    if (libc == NULL)
        libc = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
    pid_t pid = libc();
    if (pid == 0)
        wait_at_random(300, 300);
    else
        wait_at_random(100, 100);
    return pid;
}

/* clang-format off */
DELAYED(int, execve, (const char *path, char *const argv[], char *const env[]), (path, argv, env), 150, 100)
DELAYED(int, execv, (const char *path, char *const argv[]), (path, argv), 150, 100)
DELAYED(int, execvp, (const char *file, char *const argv[]), (file, argv), 150, 100)
DELAYED(int, bind, (int fd, const struct sockaddr *address, socklen_t size), (fd, address, size), 150, 150)
DELAYED(int, listen, (int fd, int backlog), (fd, backlog), 150, 150)
DELAYED(int, connect, (int fd, const struct sockaddr *address, socklen_t size), (fd, address, size), 150, 100)
DELAYED(int, accept4, (int fd, struct sockaddr *address, socklen_t *size, int flags), (fd, address, size, flags), 150, 50)
DELAYED(int, unlink, (const char *path), (path), 70, 50)
DELAYED(int, rename, (const char *from, const char *to), (from, to), 70, 50)
DELAYED(int, kill, (pid_t pid, int number), (pid, number), 70, 50)
DELAYED(pid_t, waitpid, (pid_t pid, int *status, int options), (pid, status, options), 50, 50)
DELAYED(int, epoll_wait, (int fd, struct epoll_event *events, int size, int timeout), (fd, events, size, timeout), 10, 20)
DELAYED(int, poll, (struct pollfd *fds, nfds_t n, int timeout), (fds, n, timeout), 10, 20)
DELAYED(ssize_t, read, (int fd, void *data, size_t size), (fd, data, size), 10, 20)
DELAYED(ssize_t, write, (int fd, const void *data, size_t size), (fd, data, size), 10, 20)
DELAYED(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags), 10, 20)
DELAYED(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags), 10, 20)
/* clang-format on */
