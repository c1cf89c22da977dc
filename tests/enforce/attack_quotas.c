/* SPDX-License-Identifier: MIT */
/* attack_quotas.c - attempts to use up what the kernel counts by user, in all namespaces together,
 * or for the whole machine.
 *
 * Each takes so much as its argument says, and succeeds if nothing refuses it before. All of it
 * comes back when the child ends that makes the attempt. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* lock BYTES: memory that cannot be swapped. The sanitizers have a mlock of their own that does
 * nothing. */
static int quotas_lock(char **args)
{
    size_t size = strtoull(args[0], NULL, 10);
    void *place = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return place == MAP_FAILED ? errno : attack_result((int)syscall(SYS_mlock, place, size));
}

/* signals N: so many pending signals of this process (RLIMIT_SIGPENDING of getrlimit(2)). */
static int quotas_signals(char **args)
{
    sigset_t blocked;
    int failed = 0;

    sigemptyset(&blocked);
    sigaddset(&blocked, SIGRTMIN);
    if (sigprocmask(SIG_BLOCK, &blocked, NULL) != 0)
        return errno;
    for (int n = atoi(args[0]); n > 0 && !failed; n--)
        failed = attack_result(sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = n}));
    return failed;
}

#define FLIGHT_MOST 253 /* descriptors of one message, SCM_MAX_FD of unix(7) */

/* flight N: sends so many descriptors that nobody receives. */
static int quotas_flight(char **args)
{
    union {
        char data[CMSG_SPACE(FLIGHT_MOST * sizeof(int))];
        struct cmsghdr align;
    } control = {{0}};
    int pair[2], fds[FLIGHT_MOST], failed = 0;
    char byte = 'x';
    struct iovec content = {&byte, 1};
    struct msghdr message = {.msg_iov = &content,
                             .msg_iovlen = 1,
                             .msg_control = control.data,
                             .msg_controllen = sizeof control.data};

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        return errno;
    for (int i = 0; i < FLIGHT_MOST; i++)
        fds[i] = pair[1];
    control.align = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof fds), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.align), fds, sizeof fds);
    for (int n = atoi(args[0]); n > 0 && !failed; n -= FLIGHT_MOST)
        failed = attack_result(sendmsg(pair[0], &message, 0));
    return failed;
}

/* terminals N: so many pseudo-terminals, of which the machine has kernel.pty.max (pty(7)). */
static int quotas_terminals(char **args)
{
    int failed = 0;

    for (int n = atoi(args[0]); n > 0 && !failed; n--)
        failed = attack_result(open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC));
    return failed;
}

const struct attack attack_quotas[] = {
    {"terminals", 1, quotas_terminals},
    {"lock", 1, quotas_lock},
    {"signals", 1, quotas_signals},
    {"flight", 1, quotas_flight},
    {0},
};
