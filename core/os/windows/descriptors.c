/* SPDX-License-Identifier: MIT */
/* descriptors.c - descriptors for what is no file to the C library: pipes, processes, events.
 * System: Windows.
 *
 * Windows tells when a call is complete, and not when one could be made.  So a pipe has one read
 * under way, into memory of its own, and is readable when that is complete; what was written is
 * copied, and the pipe writable again when it is complete.  Both are bounded.  That is all that the
 * rest of lazaret needs: it asks when something can be read, reads a piece without waiting, and
 * judges it before more is read.  (A stream of libuv hands over what has come as it comes; the
 * engine has to drain a pipe to its last byte at a given moment, and to leave others unread.)
 *
 * A descriptor belongs to one thread at a time, as on every system, but that others may wait until
 * it can be read from; the table is locked.  Windows ends the calls of a thread with the thread: a
 * read is begun again by the next one, a write that was cut off so is an error. */
#include "base/clock.h"
#include "os/io.h"
#include "os/os.h"
#include "os/wake.h"
#include "os/windows/windows.h"

#include <errno.h>
#include <io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FDS_PIECE ((size_t)64 << 10) /* read ahead, or written at once */
#define FDS_SHORT ((size_t)8 << 10)  /* a message that is put together, and written at once */
#define FDS_MOST  65536
#define FDS_EMPTY                                                                                  \
    16 /* reads one after the other that bring nothing: the other end wrote nothing                \
        */

static SRWLOCK fds_lock = SRWLOCK_INIT;
static struct fds_entry **fds_table;
static size_t fds_size;

/* ---- the table ------------------------------------------------------------------------------ */

static void fds_free_entry(struct fds_entry *entry)
{
    const bool pending[] = {entry->read_pending, entry->write_pending};
    OVERLAPPED *const calls[] = {&entry->reading, &entry->writing};
    DWORD n;

    if (entry->kind == FDS_PIPE || entry->kind == FDS_LISTENER)
        for (size_t i = 0; i < 2; i++)
            if (pending[i] && entry->handle &&
                (CancelIoEx(entry->handle, calls[i]) || GetLastError() == ERROR_NOT_FOUND))
                GetOverlappedResult(entry->handle, calls[i], &n, TRUE); /* its memory is ours now */
    if (entry->handle)
        CloseHandle(entry->handle);
    if (entry->theirs)
        CloseHandle(entry->theirs);
    if (entry->job)
        CloseHandle(entry->job); /* the last one: what runs in it is ended */
    if (entry->readable)
        CloseHandle(entry->readable);
    if (entry->writable)
        CloseHandle(entry->writable);
    free(entry->in);
    free(entry->out);
    free(entry);
}

static bool fds_has_events(enum fds_kind kind)
{
    return kind == FDS_PIPE || kind == FDS_LISTENER;
}

static struct fds_entry *fds_new_entry(enum fds_kind kind, HANDLE handle)
{
    struct fds_entry *entry = calloc(1, sizeof *entry);

    if (!entry) {
        CloseHandle(handle);
        return NULL;
    }
    entry->kind = kind;
    entry->handle = handle;
    if (!fds_has_events(kind))
        return entry;
    entry->readable = CreateEventW(NULL, TRUE, FALSE, NULL);
    entry->writable = CreateEventW(NULL, TRUE, TRUE, NULL);
    entry->in = malloc(FDS_PIECE);
    entry->out = malloc(FDS_PIECE);
    entry->reading.hEvent = entry->readable;
    entry->writing.hEvent = entry->writable;
    if (entry->readable && entry->writable && entry->in && entry->out)
        return entry;
    fds_free_entry(entry);
    return NULL;
}

/* The first number that is free; the lock is held. -1: no memory. */
static int fds_place(struct fds_entry *entry)
{
    size_t i = 0;

    while (i < fds_size && fds_table[i])
        i++;
    if (i == fds_size) {
        size_t size = fds_size ? fds_size * 2 : 64;
        struct fds_entry **table =
            size <= FDS_MOST ? realloc(fds_table, size * sizeof *table) : NULL;
        if (!table)
            return -1;
        memset(table + fds_size, 0, (size - fds_size) * sizeof *table);
        fds_table = table;
        fds_size = size;
    }
    fds_table[i] = entry;
    return (int)i + FDS_FIRST;
}

int laz_windows_new_fd(enum fds_kind kind, HANDLE handle)
{
    struct fds_entry *entry = fds_new_entry(kind, handle);

    if (!entry) {
        errno = ENOMEM;
        return -1;
    }
    AcquireSRWLockExclusive(&fds_lock);
    int fd = fds_place(entry);
    ReleaseSRWLockExclusive(&fds_lock);
    if (fd < 0) {
        fds_free_entry(entry);
        errno = EMFILE;
    }
    return fd;
}

struct fds_entry *laz_windows_entry(int fd)
{
    struct fds_entry *entry = NULL;

    AcquireSRWLockShared(&fds_lock);
    if (fd >= FDS_FIRST && (size_t)(fd - FDS_FIRST) < fds_size)
        entry = fds_table[fd - FDS_FIRST];
    ReleaseSRWLockShared(&fds_lock);
    return entry;
}

HANDLE laz_windows_handle(int fd)
{
    struct fds_entry *entry = laz_windows_entry(fd);

    if (entry)
        return entry->handle ? entry->handle : INVALID_HANDLE_VALUE;
    intptr_t file = fd >= 0 && fd < FDS_FIRST ? _get_osfhandle(fd) : -1;
    return file >= 0 ? (HANDLE)file : INVALID_HANDLE_VALUE; /* -2: a stream that leads nowhere */
}

HANDLE laz_windows_job_of(int64_t pid)
{
    HANDLE job = NULL;

    AcquireSRWLockShared(&fds_lock);
    for (size_t i = 0; i < fds_size && !job; i++)
        if (fds_table[i] && fds_table[i]->kind == FDS_PROCESS && fds_table[i]->job &&
            GetProcessId(fds_table[i]->handle) == (DWORD)pid)
            job = fds_table[i]->job;
    ReleaseSRWLockShared(&fds_lock);
    return job;
}

void laz_os_close(int *fd)
{
    struct fds_entry *entry = NULL;

    if (*fd >= FDS_FIRST) {
        AcquireSRWLockExclusive(&fds_lock);
        if ((size_t)(*fd - FDS_FIRST) < fds_size) {
            entry = fds_table[*fd - FDS_FIRST];
            fds_table[*fd - FDS_FIRST] = NULL;
        }
        ReleaseSRWLockExclusive(&fds_lock);
        if (entry)
            fds_free_entry(entry);
    } else if (*fd >= 0) {
        (void)_close(*fd);
    }
    *fd = -1;
}

/* ---- pipes ---------------------------------------------------------------------------------- */

/* Its handles are the process's own; what a child gets is listed when it is started. */
int laz_os_cloexec_pipe(int *read_end, int *write_end, struct laz_error *err)
{
    HANDLE reader, writer;
    int rc = laz_windows_pipe(false, &reader, &writer, err);

    if (rc)
        return rc;
    *read_end = laz_windows_new_fd(FDS_PIPE, reader);
    *write_end = laz_windows_new_fd(FDS_FILE, writer);
    if (*read_end >= 0 && *write_end >= 0)
        return 0;
    laz_os_close(read_end);
    laz_os_close(write_end);
    return laz_error_nomem(err);
}

int laz_os_nonblock(int fd, bool on, struct laz_error *err)
{
    (void)fd; /* nothing here waits but what says so */
    (void)on;
    (void)err;
    return 0;
}

static void pipe_ended(struct fds_entry *entry, DWORD code)
{
    entry->read_pending = false;
    entry->ended = true;
    entry->failed = laz_windows_errno(code);
    if (entry->failed == EPIPE || code == ERROR_HANDLE_EOF)
        entry->failed = 0;
    SetEvent(entry->readable);
}

/* What the read under way has brought. */
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
        entry->read_pending = false; /* with the thread that began it; nothing is lost */
    } else if (GetLastError() != ERROR_IO_INCOMPLETE) {
        pipe_ended(entry, GetLastError());
    }
}

/* Keeps a read under way while nothing is there. A read of nothing is what the other end has
 * written, and may write without end: after some of them the caller is told to come again. */
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
    if (!entry->in_len) /* or the loop would be told of what is gone */
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

/* What came of the write under way: 1: it is done, or there was none; 0: it is still under way;
 * -1: errno tells. */
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

int laz_os_watchable(int fd)
{
    (void)fd;
    return -1;
}

bool laz_os_await(int fd, uint64_t ms)
{
    struct fds_entry *entry = laz_windows_entry(fd);

    return entry && WaitForSingleObject(laz_windows_wait_handle(entry, false),
                                        ms < INFINITE ? (DWORD)ms : INFINITE) == WAIT_OBJECT_0;
}

/* ---- files ---------------------------------------------------------------------------------- */

int laz_os_write_all(int fd, const void *data, size_t len, size_t *done)
{
    HANDLE handle = laz_windows_handle(fd);

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

/* A file that has no name once it is closed; Windows keeps it in memory while it can. */
int laz_os_data_fd(const char *name, const void *data, size_t len, int *fd, struct laz_error *err)
{
    wchar_t folder[MAX_PATH + 1], path[MAX_PATH + 1];
    size_t done;

    if (!GetTempPathW(MAX_PATH, folder) || !GetTempFileNameW(folder, L"laz", 0, path))
        return laz_windows_fail(err, "no temporary file for %s could be made", name);
    HANDLE file = CreateFileW(path, GENERIC_READ | GENERIC_WRITE | DELETE, 0, NULL, CREATE_ALWAYS,
                              FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, NULL);
    if (file == INVALID_HANDLE_VALUE) {
        int rc = laz_windows_fail(err, "no temporary file for %s could be made", name);
        DeleteFileW(path);
        return rc;
    }
    *fd = laz_windows_new_fd(FDS_FILE, file);
    if (*fd < 0)
        return laz_error_nomem(err);
    int failed = laz_os_write_all(*fd, data, len, &done);
    if (!failed && SetFilePointer(file, 0, NULL, FILE_BEGIN) == INVALID_SET_FILE_POINTER)
        failed = EIO;
    if (!failed)
        return 0;
    laz_os_close(fd);
    return laz_error_os(err, failed, "the temporary file for %s could not be filled", name);
}

void laz_os_close_from(int first, int keep)
{
    (void)first; /* a process has the handles that were listed for it, and no others */
    (void)keep;
}

/* ---- wake ----------------------------------------------------------------------------------- */

int laz_os_wake_new(void)
{
    HANDLE event = CreateEventW(NULL, TRUE, FALSE, NULL);

    return event ? laz_windows_new_fd(FDS_EVENT, event) : -1;
}

void laz_os_wake(int fd)
{
    struct fds_entry *entry = laz_windows_entry(fd);

    if (entry)
        SetEvent(entry->handle);
}

/* ---- waiting reads and writes ---------------------------------------------------------------- */

/* All of it, waiting where the pipe takes none. A pipe of ours goes by overlapped calls, a stream
 * of the C library by plain ones. */
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
    /* It may be the last thing that this process says. */
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

/* Windows waits for 64 at most; who asks has a handful. */
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

int laz_os_hold_streams(struct laz_held_streams *held, struct laz_error *err)
{
    (void)err;
    held->n = 0;
    return 0;
}

void laz_os_give_streams_back(struct laz_held_streams *held)
{
    (void)held;
}

void laz_os_hold_streams_in_forks(void)
{
}
