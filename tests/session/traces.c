/* SPDX-License-Identifier: MIT */
/* traces.c - what a library may leave behind in a process, according to /proc (proc(5)). */
#include "traces.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRACE_ENDING 0x4u /* PF_EXITING of linux/sched.h, in the flags of /proc/PID/stat */

static int trace_entries(const char *path)
{
    DIR *directory = opendir(path);
    int n = 0;

    for (struct dirent *entry; directory && (entry = readdir(directory));)
        n += entry->d_name[0] != '.';
    if (directory)
        closedir(directory);
    return n;
}

int trace_descriptors(void)
{
    return trace_entries("/proc/self/fd");
}

/* A joined thread stays listed for a moment, so ending threads are not counted. */
int trace_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int n = 0;

    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        char path[300], text[512] = "";
        unsigned flags = 0;
        snprintf(path, sizeof path, "/proc/self/task/%s/stat", task->d_name);
        FILE *file = task->d_name[0] == '.' ? NULL : fopen(path, "r");
        if (!file)
            continue;
        const char *end = fgets(text, sizeof text, file) ? strrchr(text, ')') : NULL;
        n += end && sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) == 1 &&
             !(flags & TRACE_ENDING);
        fclose(file);
    }
    if (tasks)
        closedir(tasks);
    return n;
}

int trace_children(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int n = 0;

    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        char path[300], text[4096] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/children", task->d_name);
        FILE *file = task->d_name[0] == '.' ? NULL : fopen(path, "r");
        if (!file)
            continue;
        if (fgets(text, sizeof text, file))
            for (const char *p = text; *p; p++)
                n += *p == ' ';
        fclose(file);
    }
    if (tasks)
        closedir(tasks);
    return n;
}

void trace_directory(char *out, size_t size)
{
    DIR *directory = opendir("/proc/self/fd");

    *out = '\0';
    for (struct dirent *entry; directory && !*out && (entry = readdir(directory));) {
        char link[300], target[300];
        snprintf(link, sizeof link, "/proc/self/fd/%s", entry->d_name);
        ssize_t n = readlink(link, target, sizeof target - 1);
        target[n > 0 ? n : 0] = '\0';
        if (strncmp(target, "/tmp/lazaret-", 13) == 0) /* the directory itself is locked */
            snprintf(out, size, "%s", target);
    }
    if (directory)
        closedir(directory);
}

long trace_peak_kib(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long kib = 0;

    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = strtol(line + 6, NULL, 10);
    if (file)
        fclose(file);
    return kib;
}

void trace_peak_reset(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");

    if (!file)
        return;
    fputs("5\n", file);
    fclose(file);
}
