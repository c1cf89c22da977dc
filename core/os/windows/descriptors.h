/* SPDX-License-Identifier: MIT */
/* descriptors.h - what a descriptor is on Windows, and calls for handles.
 *
 * A descriptor is a number of the C library for a file, and from FDS_FIRST on one of the table in
 * windows/descriptors.c: pipes, processes and events are not files to the C library. */
#ifndef LAZ_OS_WINDOWS_DESCRIPTORS_H
#define LAZ_OS_WINDOWS_DESCRIPTORS_H

#include "os/process_tree.h"
#include "os/windows/text.h"

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

/* Both ends of a new pipe, neither of which is inherited: ours is for overlapped calls, theirs too
 * when it goes both ways; else theirs is for plain writing (sockets.c). */
int laz_windows_pipe(bool both_ways, HANDLE *ours, HANDLE *theirs, struct laz_error *err);
/* A handle that becomes signalled when the descriptor can be read from (written to); it starts the
 * overlapped call that signals it. Borrowed (io.c). */
HANDLE laz_windows_wait_handle(struct fds_entry *entry, bool write);
/* Writes all of it; *done: bytes that were written. 0 or an errno (io.c). */
int laz_windows_write_all(HANDLE handle, const void *data, size_t len, size_t *done);
/* CPU time and memory of a process, and of a job: all that were started in it count (usage.c). */
void laz_windows_usage(HANDLE process, uint64_t *cpu_us, uint64_t *rss_bytes);
bool laz_windows_job_usage(HANDLE job, struct laz_tree_usage *usage);

#define PROCESS_KILLED 0xC000FE09u /* exit code of what lazaret ends; Windows does not use it */

#endif
