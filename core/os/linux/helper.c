/* SPDX-License-Identifier: MIT */
/* helper.c - a program beside untrusted code.  System: Linux.
 *
 * As posix_spawn(3) does it: the new process has this one's memory, which may be large, until it
 * has its program, and no handlers of libraries for fork(2) run.  But it is a child of this
 * process's parent (clone(2), CLONE_PARENT): code that waits for its children finds no other. */
#include "os/helper.h"

#include "os/posix/descriptors.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define HELPER_STACK ((size_t)64 << 10)

struct helper {
    const char *program;
    const char *const *argv;
    int input, output;
};

/* In the new process, which must leave nothing changed in the memory of the other. */
static int helper_run(void *data)
{
    char *const none[] = {NULL};
    const struct helper *helper = data;
    sigset_t nothing;

    for (int number = 1; number < NSIG; number++)
        (void)sigaction(number, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    const int null = laz_posix_above(open("/dev/null", O_RDWR | O_CLOEXEC));
    if (null < 0 || dup2(helper->input, STDIN_FILENO) < 0 ||
        dup2(helper->output, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0)
        _exit(1);
    /* Code can stop it, and then it does not see the end of its channel: the parent's end is its. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    sigemptyset(&nothing);
    (void)sigprocmask(SIG_SETMASK, &nothing, NULL);
    (void)execve(helper->program, (char *const *)(uintptr_t)helper->argv, none);
    _exit(1);
}

bool laz_os_helper_start(const char *program, const char *const *argv, int input, int output)
{
    struct helper helper = {program, argv, input, output};
    sigset_t all, before;
    char *stack = mmap(NULL, HELPER_STACK, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

    if (stack == MAP_FAILED)
        return false;
    sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, &before);
    const int pid = clone(helper_run, stack + HELPER_STACK,
                          CLONE_VM | CLONE_VFORK | CLONE_PARENT | SIGCHLD, &helper);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    (void)munmap(stack, HELPER_STACK);
    return pid > 0;
}

int laz_os_make_named_pipe(const char *path)
{
    return mkfifo(path, 0600) == 0 ? laz_posix_above(open(path, O_RDWR | O_CLOEXEC)) : -1;
}
