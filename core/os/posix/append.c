/* SPDX-License-Identifier: MIT */
/* append.c - a file that several processes append to, and that no other user can access.
 * Side: host.  Input trusted: the path yes; what is there no.
 *
 * A user who can write a directory can replace a file in it, so the directory has to be trusted
 * (os/trust.h).  The file is opened without following a link and without waiting for the other end
 * of a pipe, and is checked once more when it is open.  flock(2) is held during one append; after
 * locking, the name must still lead to the file that was locked, else it was rotated.
 * System: POSIX. */
#include "os/append.h"

#include "base/buf.h"
#include "base/clock.h"
#include "os/descriptors.h"
#include "os/io.h"
#include "os/posix/descriptors.h"
#include "os/posix/files.h"
#include "os/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define APPEND_SIZE_MS 1000 /* a reader can wait */
#define APPEND_TRIES   8    /* renamed again and again */

/* ---- the place ------------------------------------------------------------------------------ */

static void append_make_directories(char *path)
{
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    (void)mkdir(path, 0700);
}

static int append_place_is_private(const char *path, struct laz_error *err)
{
    if (path[0] != '/')
        return laz_error_set(err, LAZ_ECONFIG, 0, "%s is not an absolute path", path);
    const char *slash = strrchr(path, '/');
    char *directory = laz_strndup(path, slash == path ? 1 : (size_t)(slash - path));
    if (!directory)
        return laz_error_nomem(err);
    append_make_directories(directory); /* the check of the result reports a failure */
    int rc = laz_trust_directory(directory, err);
    free(directory);
    return rc == LAZ_EREFUSED ? laz_error_as(err, LAZ_ECONFIG) : rc;
}

/* ---- the file ------------------------------------------------------------------------------- */

static int append_file_is_ours(const char *path, const struct stat *st, struct laz_error *err)
{
    if (S_ISLNK(st->st_mode))
        return laz_error_set(err, LAZ_ECONFIG, 0,
                             "%s is a symbolic link; the audit log has to be the file itself",
                             path);
    if (!S_ISREG(st->st_mode))
        return laz_error_set(err, LAZ_ECONFIG, 0,
                             "%s is a %s; the audit log has to be a regular file", path,
                             S_ISDIR(st->st_mode)    ? "directory"
                             : S_ISFIFO(st->st_mode) ? "pipe"
                             : S_ISSOCK(st->st_mode) ? "socket"
                                                     : "device");
    if (st->st_nlink > 1)
        return laz_error_set(err, LAZ_ECONFIG, 0,
                             "%s has %lu names (hard links); the audit log has to have one", path,
                             (unsigned long)st->st_nlink);
    if (st->st_uid != geteuid())
        return laz_error_set(err, LAZ_ECONFIG, 0,
                             "%s belongs to uid %lu; the audit log has to belong to uid %lu, who "
                             "writes it",
                             path, (unsigned long)st->st_uid, (unsigned long)geteuid());
    return 0;
}

int laz_append_open(struct laz_append *file, struct laz_error *err)
{
    struct stat st;
    int rc = append_place_is_private(file->path, err);

    if (rc)
        return rc;
    /* Before it is opened: opening a device can have an effect. */
    if (lstat(file->path, &st) == 0 && (rc = append_file_is_ours(file->path, &st, err)))
        return rc;
    int fd = laz_posix_above(
        open(file->path,
             O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600));
    if (fd < 0 || fstat(fd, &st) != 0)
        rc = laz_error_os(err, errno, "the audit log %s cannot be opened", file->path);
    else
        rc = append_file_is_ours(file->path, &st, err);
    if (!rc && (st.st_mode & 07777) != 0600 && fchmod(fd, 0600) != 0)
        rc = laz_error_os(err, errno, "the audit log %s cannot be given the mode 0600", file->path);
    if (rc)
        laz_os_close(&fd);
    else
        file->fd = fd;
    return rc;
}

/* Waits in steps that grow from 20 us to 2 ms: the lock is held for one write at a time. */
static int append_flock(int fd, int how, uint64_t most_ms)
{
    uint64_t until_ms = laz_clock_ms() + most_ms;
    struct timespec pause = {0, 20000};

    for (;;) {
        if (flock(fd, how | LOCK_NB) == 0)
            return 0;
        if (errno == EINTR)
            continue;
        if (errno != EWOULDBLOCK || laz_clock_ms() >= until_ms)
            return errno;
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < 2000000)
            pause.tv_nsec *= 2;
    }
}

int laz_append_lock(struct laz_append *file, uint64_t most_ms, bool *reopened, uint64_t *size,
                    struct laz_error *err)
{
    struct stat held;

    *reopened = file->fd < 0;
    for (int i = 0; i < APPEND_TRIES; i++) {
        int rc = file->fd < 0 ? laz_append_open(file, err) : 0;
        if (rc)
            return rc;
        int failed = append_flock(file->fd, LOCK_EX, most_ms);
        if (failed == EWOULDBLOCK)
            return laz_error_set(err, LAZ_ETIMEOUT, 0,
                                 "another process keeps the lock of the audit log %s", file->path);
        if (failed)
            return laz_error_os(err, failed, "the audit log %s cannot be locked", file->path);
        if (laz_posix_is_named(file->fd, file->path, &held)) {
            *size = (uint64_t)held.st_size;
            return 0;
        }
        laz_append_close(file); /* which also releases the lock */
        *reopened = true;
    }
    return laz_error_set(err, LAZ_EOS, 0, "the audit log %s is renamed again and again",
                         file->path);
}

void laz_append_unlock(struct laz_append *file)
{
    if (file->fd >= 0)
        (void)flock(file->fd, LOCK_UN); /* explicitly: a child between fork and exec shares it */
}

ssize_t laz_append_read(const struct laz_append *file, uint64_t offset, void *data, size_t len,
                        struct laz_error *err)
{
    size_t done = 0;

    while (done < len) {
        ssize_t n = pread(file->fd, (char *)data + done, len - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            laz_error_os(err, errno, "the audit log %s cannot be read", file->path);
            return -1;
        }
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

int laz_append_write(struct laz_append *file, uint64_t size, const void *data, size_t len,
                     bool sync, struct laz_error *err)
{
    size_t done;
    int failed = laz_os_write_all(file->fd, data, len, &done);

    if (failed && done && ftruncate(file->fd, (off_t)size) != 0)
        done = 0; /* append-only file: the next writer finds the incomplete line, and seals it */
    if (!failed && sync)
        failed = laz_posix_sync(file->fd);
    return failed ? laz_error_os(err, failed, "the audit log %s cannot be written", file->path) : 0;
}

void laz_append_close(struct laz_append *file)
{
    laz_os_close(&file->fd);
}

int laz_append_size(int fd, uint64_t *size, struct laz_error *err)
{
    struct stat st;
    bool locked = append_flock(fd, LOCK_SH, APPEND_SIZE_MS) == 0;
    int failed = fstat(fd, &st) != 0 ? errno : 0;

    if (locked)
        (void)flock(fd, LOCK_UN);
    *size = failed ? 0 : (uint64_t)st.st_size;
    return failed ? laz_error_os(err, failed, "the size of the file cannot be determined") : 0;
}
