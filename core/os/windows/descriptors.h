/* SPDX-License-Identifier: MIT */
/* descriptors.h - what a descriptor is on Windows.
 *
 * It is a number of the C library for a file, and from FDS_FIRST on one of the table in
 * windows/descriptors.c: pipes, processes and events are no files to the C library. */
#ifndef LAZ_OS_WINDOWS_DESCRIPTORS_H
#define LAZ_OS_WINDOWS_DESCRIPTORS_H

#include "os/windows/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FDS_FIRST 65536
#define FDS_PIECE ((size_t)64 << 10) /* read ahead, or written at once */

enum fds_kind {
    FDS_PIPE,     /* opened for overlapped use */
    FDS_LISTENER, /* a pipe whose other end was not given to a child yet */
    FDS_PROCESS,
    FDS_EVENT,
    FDS_FILE, /* only a handle: the child's end of a pipe, for example */
};

struct fds_entry {
    enum fds_kind kind;
    HANDLE handle;
    HANDLE job;                /* of a process: NULL: none */
    HANDLE theirs;             /* of a listener: the other end, until a child gets it */
    HANDLE readable, writable; /* events; of a pipe: of its overlapped calls */
    OVERLAPPED reading, writing;
    SRWLOCK read_lock; /* guards what belongs to reading; zeroes are an unlocked one */
    bool read_pending, write_pending;
    bool ended;     /* nothing more will come */
    int failed;     /* why, of <errno.h>; 0: the other end was closed */
    char *in, *out; /* of a pipe: what was read ahead, and what is being written */
    size_t in_start, in_len;
};

/* A descriptor for the handle, of which it becomes the owner even if it fails. -1: no memory. */
int laz_windows_new_fd(enum fds_kind kind, HANDLE handle);
struct fds_entry *laz_windows_entry(int fd); /* NULL: not in the table */
/* The handle of any descriptor, a file's of the C library too; INVALID_HANDLE_VALUE. Borrowed. */
HANDLE laz_windows_handle(int fd);
/* The job of the process with this id that was started here; NULL: none. Borrowed. */
HANDLE laz_windows_job_of(int64_t pid);

#endif
