/* SPDX-License-Identifier: MIT */
/* io.c - reading, writing and waiting, by overlapped calls.  System: Windows.
 *
 * Windows reports when a call is complete, and not when one could be made.  So a pipe has one read
 * under way, into memory of its own, and is readable when that is complete; what was written is
 * copied, and the pipe is writable again when that is complete.  Both are bounded.  That is all
 * that the rest of lazaret needs: it asks when something can be read, reads a piece without
 * waiting, and judges it before more is read.  (A stream of libuv hands over data as it comes; the
 * engine has to drain a pipe to its last byte at a given moment, and to leave others unread.)
 *
 * A descriptor belongs to one thread at a time, as on every system, but others may wait until it
 * can be read from.  Windows ends the calls of a thread with the thread: a read is begun again by
 * the next one, a write that was cut off so is an error. */
#include "os/io.h"

#include "base/clock.h"
#include "os/windows/descriptors.h"
#include "os/windows/text.h"

#include <errno.h>
#include <string.h>

#define FDS_SHORT ((size_t)8 << 10) /* a message that is put together is at most this long */
#define FDS_EMPTY 16 /* consecutive empty reads: the other end may write nothing without end */

static void pipe_ended(struct fds_entry *entry, DWORD code)
{
    entry->read_pending = false;
    entry->ended = true;
    entry->failed = laz_windows_errno(code);
    if (entry->failed == EPIPE || code == ERROR_HANDLE_EOF)
        entry->failed = 0;
    SetEvent(entry->readable);
}

/* Takes the result of the read under way. */
static void pipe_take(struct fds_entry *entry)
{
    DWORD n = 0;

    if (!entry->read_pending)
        return;
    if (GetOverlappedResult(entry->handle, &entry->reading, &n, FALSE)) {
        entry->read_pending = false;
        entry->in_start = 0;
        entry->in_len = n;
    } else if (GetLastError() == ERROR_OPERATION_ABORTED) {
        entry->read_pending =
            false; /* it was cancelled with the thread that began it; nothing is lost */
    } else if (GetLastError() != ERROR_IO_INCOMPLETE) {
        pipe_ended(entry, GetLastError());
    }
}

/* Keeps a read under way while there is no data. An empty read is an empty write of the other end,
 * which may repeat it without end: after some of them the caller has to call again. */
static void pipe_read_ahead(struct fds_entry *entry)
{
    for (int empty = 0; !entry->in_len && !entry->read_pending && !entry->ended; empty++) {
        if (empty == FDS_EMPTY) {
            SetEvent(entry->readable);
            return;
        }
        ResetEvent(entry->readable);
        if (ReadFile(entry->handle, entry->in, FDS_PIECE, NULL, &entry->reading) ||
            GetLastError() == ERROR_IO_PENDING) {
            entry->read_pending = true;
            pipe_take(entry);
        } else {
            pipe_ended(entry, GetLastError());
        }
    }
}

static ssize_t pipe_hand_over(struct fds_entry *entry, void *data, size_t len)
{
    if (!entry->in_len) {
        errno = entry->failed;
        return entry->ended ? -1 : 0;
    }
    size_t n = entry->in_len < len ? entry->in_len : len;
    memcpy(data, entry->in + entry->in_start, n);
    entry->in_start += n;
    entry->in_len -= n;
    if (!entry->in_len) /* else the loop would be woken for data that is gone */
        pipe_read_ahead(entry);
    return (ssize_t)n;
}

ssize_t laz_os_read(int fd, void *data, size_t len)
{
    struct fds_entry *entry = laz_windows_entry(fd);

    if (!entry || entry->kind != FDS_PIPE) {
        errno = EBADF;
        return -1;
    }
    AcquireSRWLockExclusive(&entry->read_lock);
    pipe_take(entry);
    pipe_read_ahead(entry);
    ssize_t n = pipe_hand_over(entry, data, len);
    ReleaseSRWLockExclusive(&entry->read_lock);
    return n;
}

/* The result of the write under way: 1: it is done, or there was none; 0: it is still under way; -1
 * with errno. */
static int pipe_written(struct fds_entry *entry)
{
    DWORD n;

    if (!entry->write_pending)
        return 1;
    bool done = GetOverlappedResult(entry->handle, &entry->writing, &n, FALSE);
    if (!done && GetLastError() == ERROR_IO_INCOMPLETE)
        return 0;
    entry->write_pending = false;
    if (!done)
        errno = laz_windows_errno(GetLastError());
    return done ? 1 : -1;
}

ssize_t laz_os_send(int fd, const void *data, size_t len)
{
    struct fds_entry *entry = laz_windows_entry(fd);

    if (!entry || entry->kind != FDS_PIPE) {
        errno = EBADF;
        return -1;
    }
    int written = pipe_written(entry);
    if (written <= 0 || !len)
        return written < 0 ? -1 : 0;
    size_t piece = len < FDS_PIECE ? len : FDS_PIECE;
    memcpy(entry->out, data, piece);
    ResetEvent(entry->writable);
    if (!WriteFile(entry->handle, entry->out, (DWORD)piece, NULL, &entry->writing) &&
        GetLastError() != ERROR_IO_PENDING) {
        errno = laz_windows_errno(GetLastError());
        SetEvent(entry->writable);
        return -1;
    }
    entry->write_pending = true;
    return (ssize_t)piece;
}

ssize_t laz_os_send_pipe(int fd, const void *data, size_t len)
{
    return laz_os_send(fd, data, len);
}

HANDLE laz_windows_wait_handle(struct fds_entry *entry, bool write)
{
    if (entry->kind == FDS_PROCESS || entry->kind == FDS_EVENT)
        return entry->handle;
    if (entry->kind == FDS_PIPE && !write) {
        AcquireSRWLockExclusive(&entry->read_lock);
        pipe_take(entry);
        pipe_read_ahead(entry);
        ReleaseSRWLockExclusive(&entry->read_lock);
    }
    return write ? entry->writable : entry->readable;
}

bool laz_os_await(int fd, uint64_t ms)
{
    struct fds_entry *entry = laz_windows_entry(fd);

    return entry && WaitForSingleObject(laz_windows_wait_handle(entry, false),
                                        ms < INFINITE ? (DWORD)ms : INFINITE) == WAIT_OBJECT_0;
}

int laz_windows_write_all(HANDLE handle, const void *data, size_t len, size_t *done)
{
    *done = 0;
    while (*done < len) {
        size_t left = len - *done;
        DWORD n = 0, piece = left < FDS_PIECE ? (DWORD)left : (DWORD)FDS_PIECE;
        if (!WriteFile(handle, (const char *)data + *done, piece, &n, NULL))
            return laz_windows_errno(GetLastError());
        if (!n)
            return ENOSPC;
        *done += n;
    }
    return 0;
}

int laz_os_write_all(int fd, const void *data, size_t len, size_t *done)
{
    return laz_windows_write_all(laz_windows_handle(fd), data, len, done);
}

/* Writes all of it, and waits while the pipe is full. A pipe of lazaret takes overlapped calls, a
 * stream of the C library plain ones. */
bool laz_os_write_waiting(int fd, const void *data, size_t len)
{
    struct fds_entry *entry = laz_windows_entry(fd);
    size_t done = 0;

    if (!entry || entry->kind != FDS_PIPE)
        return laz_os_write_all(fd, data, len, &done) == 0;
    while (done < len) {
        WaitForSingleObject(entry->writable, INFINITE);
        ssize_t n = laz_os_send(fd, (const char *)data + done, len - done);
        if (n < 0)
            return false;
        done += (size_t)n;
    }
    /* This may be the last output of the process. */
    return WaitForSingleObject(entry->writable, INFINITE) == WAIT_OBJECT_0 &&
           pipe_written(entry) == 1;
}

bool laz_os_send_parts(int fd, const struct laz_part *parts, size_t n)
{
    char whole[FDS_SHORT];
    size_t len = 0, at = 0;

    for (size_t i = 0; i < n; i++)
        len += parts[i].len;
    if (len > sizeof whole) {
        for (size_t i = 0; i < n; i++)
            if (!laz_os_write_waiting(fd, parts[i].data, parts[i].len))
                return false;
        return true;
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(whole + at, parts[i].data, parts[i].len);
        at += parts[i].len;
    }
    return laz_os_write_waiting(fd, whole, len);
}

ssize_t laz_os_read_within(int fd, void *data, size_t len, int wait_ms)
{
    uint64_t until = wait_ms > 0 ? laz_clock_ms() + (uint64_t)wait_ms : 0;

    for (;;) {
        ssize_t n = laz_os_read(fd, data, len);
        if (n)
            return n < 0 ? 0 : n;
        uint64_t now = laz_clock_ms();
        if (wait_ms >= 0 && now >= until)
            return -1;
        (void)laz_os_await(fd, wait_ms < 0 ? LAZ_OS_FOREVER : until - now);
    }
}

size_t laz_os_pending(int fd)
{
    struct fds_entry *entry = laz_windows_entry(fd);
    DWORD there = 0;

    if (!entry || entry->kind != FDS_PIPE)
        return 0;
    AcquireSRWLockExclusive(&entry->read_lock);
    pipe_take(entry);
    pipe_read_ahead(entry);
    size_t read = entry->in_len;
    ReleaseSRWLockExclusive(&entry->read_lock);
    if (!PeekNamedPipe(entry->handle, NULL, 0, NULL, &there, NULL))
        there = 0;
    return read + there;
}

/* Windows waits for 64 at most, which is more than any caller has. */
int laz_os_await_any(struct laz_awaited *awaited, size_t n, uint64_t ms)
{
    HANDLE handles[MAXIMUM_WAIT_OBJECTS];
    DWORD used = 0;
    int ready = 0;

    for (size_t i = 0; i < n; i++) {
        struct fds_entry *entry = laz_windows_entry(awaited[i].fd);
        awaited[i].ready = false;
        if (entry && used < MAXIMUM_WAIT_OBJECTS)
            handles[used++] = laz_windows_wait_handle(entry, false);
    }
    DWORD most = ms < INFINITE ? (DWORD)ms : INFINITE;
    if (!used) {
        Sleep(most);
        return 0;
    }
    if (WaitForMultipleObjects(used, handles, FALSE, most) == WAIT_FAILED) {
        errno = laz_windows_errno(GetLastError());
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        struct fds_entry *entry = laz_windows_entry(awaited[i].fd);
        if (!entry)
            continue;
        awaited[i].ready =
            WaitForSingleObject(laz_windows_wait_handle(entry, false), 0) == WAIT_OBJECT_0;
        ready += awaited[i].ready;
    }
    return ready;
}
