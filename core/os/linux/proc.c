/* SPDX-License-Identifier: MIT */
/* proc.c - reads what /proc shows of a process (proc(5)).  System: Linux.
 * Side: host.  Input trusted: no (processes choose their names). */
#include "os/linux/proc.h"

#include "os/descriptors.h"
#include "os/posix/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int proc_open(int64_t pid, const char *file)
{
    char path[96];

    snprintf(path, sizeof path, "/proc/%lld/%s", (long long)pid, file);
    return laz_posix_above(open(path, O_RDONLY | O_CLOEXEC));
}

bool proc_text(int fd, char *text, size_t size)
{
    ssize_t n = fd >= 0 ? pread(fd, text, size - 1, 0) : -1;

    text[n > 0 ? n : 0] = '\0';
    return n >= 0;
}

bool proc_read(int64_t pid, const char *file, char *text, size_t size)
{
    int fd = proc_open(pid, file);
    bool read = proc_text(fd, text, size);

    laz_os_close(&fd);
    return read;
}

bool proc_has_memory(int64_t pid)
{
    char text[128];

    return proc_read(pid, "statm", text, sizeof text) && strtoull(text, NULL, 10) > 0;
}

bool proc_system(const char *path, char *text, size_t size)
{
    int fd = laz_posix_above(open(path, O_RDONLY | O_CLOEXEC));
    bool read = proc_text(fd, text, size);

    laz_os_close(&fd);
    return read;
}

int proc_write(const char *path, const char *text)
{
    const ssize_t len = (ssize_t)strlen(text);
    int fd = laz_posix_above(open(path, O_WRONLY | O_CLOEXEC));
    ssize_t n = -1;

    /* A limit of memory is not set when a signal has come (mem_cgroup_resize_max of Linux). */
    while (fd >= 0 && (n = write(fd, text, (size_t)len)) < 0 && errno == EINTR)
        ;
    int failed = n < 0 ? errno : n < len ? EIO : 0;

    laz_os_close(&fd);
    return failed;
}

/* Fields 3 state, 4 ppid, 10 minflt, 11 cminflt, 14 utime, 15 stime, 16 cutime, 17 cstime,
 * 20 num_threads, 22 starttime, 24 rss. */
bool proc_stat_parse(const char *text, struct proc_stat *stat)
{
    char state;
    unsigned long long ticks[4], faults[2], start;
    long long parent, pages;
    long threads;

    const char *p = strrchr(text, ')'); /* the name before it may contain any character */
    if (!p || sscanf(p + 1,
                     " %c %lld %*d %*d %*d %*d %*u %llu %llu %*u %*u %llu %llu %llu %llu %*d %*d "
                     "%ld %*d %llu %*u %lld",
                     &state, &parent, &faults[0], &faults[1], &ticks[0], &ticks[1], &ticks[2],
                     &ticks[3], &threads, &start, &pages) != 11)
        return false;
    *stat = (struct proc_stat){
        .ended = state == 'X' || (state == 'Z' && threads <= 1),
        .zombie = state == 'Z',
        .dead = state == 'X',
        .runs = state == 'R',
        .parent = parent,
        .threads = threads,
        .ticks = ticks[0] + ticks[1] + ticks[2] + ticks[3],
        .child_ticks = ticks[2] + ticks[3],
        .faults = faults[0] + faults[1],
        .child_faults = faults[1],
        .start = start,
        .pages = pages,
    };
    return true;
}

bool proc_stat(int64_t pid, struct proc_stat *stat)
{
    char text[PROC_STAT_SIZE];

    return proc_read(pid, "stat", text, sizeof text) && proc_stat_parse(text, stat);
}

uint64_t proc_namespace(int64_t pid, const char *kind)
{
    char path[64];
    struct stat st;

    snprintf(path, sizeof path, "/proc/%lld/ns/%s", (long long)pid, kind);
    return stat(path, &st) == 0 ? (uint64_t)st.st_ino : 0;
}
