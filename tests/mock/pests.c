/* SPDX-License-Identifier: MIT */
/* pests.c (mock) - uses up resources that a box shares with others. */
#include "pests.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define PEST_AT_ONCE 8   /* processes */
#define PEST_FDS     100 /* of each kind, fewer than a process may have */

/* Adds each descriptor to each epoll set, in processes that keep them. */
void pest_watch(struct mock *mock, const char *text)
{
    struct epoll_event event = {.events = EPOLLIN};
    int sets[PEST_FDS], fds[PEST_FDS];

    (void)mock;
    for (long left = strtol(text, NULL, 10); left > 0; left -= PEST_FDS * PEST_FDS) {
        if (fork() != 0)
            continue;
        for (int i = 0; i < PEST_FDS; i++) {
            sets[i] = epoll_create1(0);
            fds[i] = eventfd(0, 0);
        }
        for (int i = 0; i < PEST_FDS * PEST_FDS; i++)
            (void)epoll_ctl(sets[i / PEST_FDS], EPOLL_CTL_ADD, fds[i % PEST_FDS], &event);
        for (;;)
            pause();
    }
}

void pest_litter(struct mock *mock, const char *text)
{
    char path[64];

    (void)mock;
    for (long n = strtol(text, NULL, 10); n > 0; n--) {
        snprintf(path, sizeof path, "/tmp/litter-%ld", n);
        int fd = open(path, O_WRONLY | O_CREAT, 0600);
        if (fd >= 0)
            close(fd);
    }
}

void pest_fork(struct mock *mock, const char *text)
{
    (void)mock;
    for (long n = strtol(text, NULL, 10); n > 0; n--) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(0);
        if (pid < 0 || n % PEST_AT_ONCE == 0)
            while (waitpid(-1, NULL, 0) > 0)
                ;
    }
    while (waitpid(-1, NULL, 0) > 0)
        ;
}
