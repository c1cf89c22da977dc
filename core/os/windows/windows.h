/* SPDX-License-Identifier: MIT */
/* windows.h - what the files *_windows.c share: text, errors, and what a descriptor is.
 *
 * Text is UTF-8 with '/' between the parts of a path, in lazaret as on every system, and UTF-16 for
 * the calls of Windows.  A descriptor is a number of the C library for a file, and from FDS_FIRST
 * on one of descriptors.c: pipes, processes and events are no files to the C library. */
#ifndef LAZ_OS_WINDOWS_WINDOWS_H
#define LAZ_OS_WINDOWS_WINDOWS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* ---- text.c ------------------------------------------------------------------------- */

wchar_t *laz_windows_wide(const char *text); /* NULL: no memory, or no UTF-8 */
wchar_t *laz_windows_wide_n(const char *text, size_t len, size_t *wide_len);
char *laz_windows_narrow(const wchar_t *text); /* '\\' stays; NULL: no memory */
/* A path, absolute and with '\\' between its parts, as the calls for files want it; one that is too
 * long for them (MAX_PATH) in the form that is not. And any path of a drive in that form, for what
 * lies below it. */
wchar_t *laz_windows_path(const char *path);
wchar_t *laz_windows_long_path(const char *path);
char *laz_windows_slashes(char *path); /* every '\\' becomes '/'; gives `path` */
int laz_windows_errno(DWORD code);     /* of <errno.h>; EIO: none that fits */
/* LAZ_EOS, with what Windows says of its last error after the text. */
int laz_windows_fail(struct laz_error *err, const char *format, ...) LAZ_PRINTF(2, 3);

/* ---- descriptors.c -------------------------------------------------------------------------- */

#define FDS_FIRST 65536

enum fds_kind {
    FDS_PIPE,     /* opened for overlapped use */
    FDS_LISTENER, /* a pipe whose other end nobody was given yet */
    FDS_PROCESS,
    FDS_EVENT,
    FDS_FILE, /* nothing but a handle: the child's end of a pipe, say */
};

struct fds_entry {
    enum fds_kind kind;
    HANDLE handle;
    HANDLE job;                /* of a process: NULL: none */
    HANDLE theirs;             /* of a listener: the other end, until a child gets it */
    HANDLE readable, writable; /* events; of a pipe: of its overlapped calls */
    OVERLAPPED reading, writing;
    SRWLOCK read_lock; /* of what belongs to reading; zeroes are one that is free */
    bool read_pending, write_pending;
    bool ended;     /* nothing more will come */
    int failed;     /* why, of <errno.h>; 0: the other end was closed */
    char *in, *out; /* of a pipe: what was read ahead, and what is being written */
    size_t in_start, in_len;
};

/* A descriptor for the handle, which it takes over, whatever comes of it. -1: no memory. */
int laz_windows_new_fd(enum fds_kind kind, HANDLE handle);
struct fds_entry *laz_windows_entry(int fd); /* NULL: none of this file */
/* The handle of any descriptor, a file's of the C library too; INVALID_HANDLE_VALUE. Borrowed. */
HANDLE laz_windows_handle(int fd);
/* What to wait for until it can be read from (written to), with the call started that will tell.
 * Borrowed. */
HANDLE laz_windows_wait_handle(struct fds_entry *entry, bool write);

/* ---- sockets.c ---------------------------------------------------------------------- */

/* Both ends of a new pipe, neither of which is inherited: ours is for overlapped calls, theirs too
 * when it goes both ways; else theirs is for plain writing. */
int laz_windows_pipe(bool both_ways, HANDLE *ours, HANDLE *theirs, struct laz_error *err);

/* ---- process.c ---------------------------------------------------------------------- */

/* The job of the process with this id that was started here; NULL: none. Borrowed. */
HANDLE laz_windows_job_of(int64_t pid);

#endif
