/* SPDX-License-Identifier: MIT */
/* descriptors.c - descriptors for pipes, processes and events, which are not files to the C
 * library. System: Windows.
 *
 * A descriptor is an index into a table, which is locked.  What a pipe has read ahead, and what is
 * being written, is in its entry; windows/io.c reads and writes. */
#include "os/descriptors.h"

#include "os/io.h"
#include "os/windows/descriptors.h"

#include <errno.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>

#define FDS_MOST 65536

static SRWLOCK fds_lock = SRWLOCK_INIT;
static struct fds_entry **fds_table;
static size_t fds_size;

static bool fds_has_events(enum fds_kind kind)
{
    return kind == FDS_PIPE || kind == FDS_LISTENER;
}

static void fds_free_entry(struct fds_entry *entry)
{
    const bool pending[] = {entry->read_pending, entry->write_pending};
    OVERLAPPED *const calls[] = {&entry->reading, &entry->writing};
    DWORD n;

    if (fds_has_events(entry->kind))
        for (size_t i = 0; i < 2; i++)
            if (pending[i] && entry->handle &&
                (CancelIoEx(entry->handle, calls[i]) || GetLastError() == ERROR_NOT_FOUND))
                GetOverlappedResult(entry->handle, calls[i], &n,
                                    TRUE); /* the call has ended: its memory can be freed */
    /* the job: its last handle, all that runs in it is killed */
    HANDLE const handles[] = {entry->handle, entry->theirs, entry->job, entry->readable,
                              entry->writable};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
        if (handles[i])
            CloseHandle(handles[i]);
    free(entry->in);
    free(entry->out);
    free(entry);
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

/* Puts the entry at the first free number; the lock is held. -1: the allocation failed. */
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
    return file >= 0 ? (HANDLE)file : INVALID_HANDLE_VALUE; /* -2: a stream that is not connected */
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

/* The handles are not inherited: those for a child are listed when it is started. */
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

/* A temporary file that is deleted when it is closed; Windows keeps it in memory while it can. */
int laz_os_data_fd(const char *name, const void *data, size_t len, int *fd, struct laz_error *err)
{
    wchar_t directory[MAX_PATH + 1], path[MAX_PATH + 1];
    size_t done;

    if (!GetTempPathW(MAX_PATH, directory) || !GetTempFileNameW(directory, L"laz", 0, path))
        return laz_windows_fail(err, "cannot create a temporary file for %s", name);
    HANDLE file = CreateFileW(path, GENERIC_READ | GENERIC_WRITE | DELETE, 0, NULL, CREATE_ALWAYS,
                              FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, NULL);
    if (file == INVALID_HANDLE_VALUE) {
        int rc = laz_windows_fail(err, "cannot create a temporary file for %s", name);
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
