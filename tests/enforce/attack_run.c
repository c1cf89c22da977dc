/* SPDX-License-Identifier: MIT */
/* attack_run.c - runs one attempt in a child of its own, which may crash, hang or be killed. */
#include "attack.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RUN_SECONDS 900 /* enough for any attempt on a busy machine */
#define RUN_ARGS    8

static const struct attack *const run_tables[] = {attack_files,  attack_network, attack_processes,
                                                  attack_kernel, attack_own,     attack_quotas};

int attack_result(long rc)
{
    return rc < 0 ? errno : 0;
}

int attack_each_process(int (*visit)(const char *pid, void *user), void *user)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    int result = ATTACK_NOTHING;

    if (!proc)
        return errno;
    while (result != 0 && (entry = readdir(proc)))
        if (isdigit((unsigned char)entry->d_name[0]) && atoi(entry->d_name) != getpid())
            result = visit(entry->d_name, user);
    closedir(proc);
    return result;
}

static const struct attack *run_find(const char *name)
{
    for (size_t t = 0; t < sizeof run_tables / sizeof *run_tables; t++)
        for (const struct attack *attack = run_tables[t]; attack->name; attack++)
            if (strcmp(attack->name, name) == 0)
                return attack;
    return NULL;
}

static void run_child(const struct attack *attack, char **args, char *word, size_t size)
{
    int ends[2], result = 0, status = 0;

    if (pipe(ends) != 0) {
        snprintf(word, size, "no pipe");
        return;
    }
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGALRM, SIG_DFL);
        alarm(RUN_SECONDS);
        result = attack->run(args);
        _exit(write(ends[1], &result, sizeof result) == sizeof result ? 0 : 1);
    }
    close(ends[1]);
    if (pid < 0) {
        snprintf(word, size, "no child");
        close(ends[0]);
        return;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(status))
        snprintf(word, size, "signal %d", WTERMSIG(status));
    else if (read(ends[0], &result, sizeof result) != sizeof result)
        snprintf(word, size, "no result");
    else if (result == 0)
        snprintf(word, size, "through");
    else if (result == ATTACK_NOTHING)
        snprintf(word, size, "nothing");
    else
        snprintf(word, size, "%s", strerrorname_np(result) ? strerrorname_np(result) : "unknown");
    close(ends[0]);
}

void attack_run(const char *line, char *word, size_t size)
{
    char text[1024], *args[RUN_ARGS] = {0}, *rest = NULL;
    int n = 0;

    snprintf(text, sizeof text, "%s", line);
    for (char *at = strtok_r(text, " ", &rest); at && n < RUN_ARGS - 1;
         at = strtok_r(NULL, " ", &rest))
        args[n++] = at;
    const struct attack *attack = n ? run_find(args[0]) : NULL;
    if (!attack || attack->args != n - 1)
        snprintf(word, size, "no such attack, or not with %d arguments", n - 1);
    else
        run_child(attack, args + 1, word, size);
}
