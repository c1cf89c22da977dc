/* SPDX-License-Identifier: MIT */
/* helper.c - a program beside untrusted code.  System: Linux.
 *
 * posix_spawn(3) copies nothing of a process that may be large, and runs no handlers that libraries
 * of the interpreter have for fork(2). */
#include "os/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

bool laz_os_helper_start(const char *program, const char *const *argv, int input, int output,
                         int64_t *pid)
{
    char *const none[] = {NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t all, nothing;
    pid_t child = -1;

    sigfillset(&all);
    sigemptyset(&nothing);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_RDWR, 0);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &nothing);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    const int failed =
        posix_spawn(&child, program, &files, &attributes, (char *const *)(uintptr_t)argv, none);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    (void)close(input);
    (void)close(output);
    *pid = failed ? -1 : child;
    return !failed;
}

bool laz_os_helper_has_left(int64_t pid)
{
    int how = 0;
    pid_t ended;

    while ((ended = waitpid((pid_t)pid, &how, 0)) < 0 && errno == EINTR)
        ;
    return ended == (pid_t)pid && WIFEXITED(how) && WEXITSTATUS(how) == 0;
}
