/* SPDX-License-Identifier: MIT */
/* proc.h - what /proc shows of a process (proc(5)). */
#ifndef LAZ_OS_LINUX_PROC_H
#define LAZ_OS_LINUX_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opens /proc/PID/FILE: a descriptor, or -1 with errno. */
int proc_open(int64_t pid, const char *file);
/* The text of an open file from its start, at most `size` - 1 bytes, "" when there is none; false:
 * an error. */
bool proc_text(int fd, char *text, size_t size);
/* Both. */
bool proc_read(int64_t pid, const char *file, char *text, size_t size);
/* Has it memory? One that is ending has none, and some kernels then refuse (EACCES) what they show
 * of it before. False as well when it is gone. */
bool proc_has_memory(int64_t pid);
/* The text of a file that is about the system ("/proc/stat"). */
bool proc_system(const char *path, char *text, size_t size);

/* Writes a text to a file of the kernel: its answer as an errno; 0: accepted. */
int proc_write(const char *path, const char *text);

struct proc_stat {
    bool ended;  /* a zombie; not one whose first thread has ended and others have not */
    bool zombie; /* its first thread has ended */
    bool dead;   /* its parent has waited for it just now */
    bool runs;   /* its first thread has a processor, or waits for one */
    int64_t parent;
    long threads;
    uint64_t ticks;       /* CPU time, that of the children that it waited for included */
    uint64_t child_ticks; /* that of those children */
    /* Page faults, counted in the same way: the kernel adds time and faults of a child to those of
     * its parent in one step, when the parent waits for it. */
    uint64_t faults, child_faults;
    uint64_t start; /* in ticks since the boot */
    int64_t pages;  /* resident */
};
#define PROC_STAT_SIZE 1024 /* of the text of a "stat" */
/* Reads the text of a "stat", or that of a process. False: not known. */
bool proc_stat_parse(const char *text, struct proc_stat *stat);
bool proc_stat(int64_t pid, struct proc_stat *stat);

/* The inode of a namespace of the process ("pid"); 0 with errno. */
uint64_t proc_namespace(int64_t pid, const char *kind);

#endif
