/* SPDX-License-Identifier: MIT */
/* files.c - whole files: made with the exact mode, read with a bound, copied; what is at a path.
 * Side: host.  Input trusted: paths yes; what is found there no.  System: POSIX. */
#include "os/files.h"

#include "base/random.h"
#include "os/descriptors.h"
#include "os/io.h"
#include "os/posix/descriptors.h"
#include "os/posix/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_LEAST  4096 /* bytes of one read */
#define FILES_MOST   65536
#define FILES_RANDOM 12

int laz_posix_set_mode(int fd, unsigned mode)
{
    struct stat st;

    if (fstat(fd, &st) == 0 && (st.st_mode & 07777) == mode)
        return 0;
    return fchmod(fd, (mode_t)mode);
}

static int files_create(const char *path, unsigned mode)
{
    int fd =
        laz_posix_above(open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));

    if (fd >= 0 && laz_posix_set_mode(fd, mode) != 0) {
        int saved = errno;
        (void)unlink(path);
        (void)close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

/* Closes a file that was created, and removes it when it, or that, has failed: 0 or an errno. */
static int files_finish(int fd, const char *path, int failed)
{
    if (close(fd) != 0 && !failed)
        failed = errno;
    if (failed)
        (void)unlink(path);
    return failed;
}

int laz_os_write_file(const char *path, const void *data, size_t len, unsigned mode,
                      struct laz_error *err)
{
    int fd = files_create(path, mode);
    size_t done;

    if (fd < 0)
        return laz_error_os(err, errno, "cannot create the file %s", path);
    int failed = files_finish(fd, path, laz_os_write_all(fd, data, len, &done));
    return failed ? laz_error_os(err, failed, "the file %s cannot be written", path) : 0;
}

/* A new file has the owner that the old one has: an error where this process may not give it away.
 * It is not an error that the group stays another one. 0 or an errno. */
static int files_give(int fd, const struct stat *old)
{
    struct stat new;

    if (fstat(fd, &new) != 0)
        return errno;
    if (new.st_uid != old->st_uid && fchown(fd, old->st_uid, (gid_t)-1) != 0)
        return errno;
    bool is_same = new.st_gid == old->st_gid || fchown(fd, (uid_t)-1, old->st_gid) == 0;
    (void)is_same;
    return 0;
}

int laz_os_rewrite_file(const char *path, const void *data, size_t len, unsigned mode,
                        struct laz_error *err)
{
    char random[FILES_RANDOM + 1];
    struct stat old;
    size_t done;

    if (lstat(path, &old) != 0)
        return laz_error_os(err, errno, "the file %s cannot be replaced", path);
    int rc = laz_random_name(random, FILES_RANDOM, err);
    char *beside = rc ? NULL : laz_strdupf("%s.%s", path, random);
    if (!beside)
        return rc ? rc : laz_error_nomem(err);
    int fd = files_create(beside, 0600);
    int failed = fd < 0 ? errno : laz_os_write_all(fd, data, len, &done);
    if (fd >= 0 && !failed)
        failed = files_give(fd, &old);
    if (fd >= 0 && !failed && fchmod(fd, (mode_t)mode) != 0)
        failed = errno;
    if (fd >= 0 && !failed)
        failed = laz_posix_sync(fd);
    if (fd >= 0)
        failed = files_finish(fd, beside, failed);
    if (!failed && rename(beside, path) != 0) {
        failed = errno;
        (void)unlink(beside);
    }
    free(beside);
    return failed ? laz_error_os(err, failed, "the file %s cannot be replaced", path) : 0;
}

/* Opens a regular file for reading; a pipe with that name does not block. A descriptor, or an
 * error.
 */
static int files_open_regular(const char *path, struct laz_error *err)
{
    struct laz_look look;
    int fd = laz_os_open_file(path, false, &look);

    if (fd < 0)
        return laz_error_os(err, errno, "the file %s cannot be read", path);
    if (look.kind == LAZ_LOOK_FILE)
        return fd;
    (void)close(fd);
    return laz_error_set(err, LAZ_EINVAL, 0, "%s is not a regular file", path);
}

int laz_posix_read_all(int fd, const char *path, size_t max, struct laz_buf *buf,
                       struct laz_error *err)
{
    const size_t start = buf->len;
    int rc = 0;

    for (;;) {
        size_t had = buf->len - start;
        size_t room = had < FILES_LEAST ? FILES_LEAST : had < FILES_MOST ? had : FILES_MOST;
        if (!laz_buf_reserve(buf, room)) {
            rc = laz_error_nomem(err);
            break;
        }
        ssize_t n = read(fd, buf->data + buf->len, room);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            rc = laz_error_os(err, errno, "the file %s cannot be read", path);
        if (n <= 0)
            break;
        buf->len += (size_t)n;
        if (buf->len - start > max) {
            rc = laz_error_set(err, LAZ_ETOOBIG, 0, "the file %s has more than %zu bytes", path,
                               max);
            break;
        }
    }
    if (rc)
        buf->len = start;
    if (buf->data)
        buf->data[buf->len] = '\0';
    return rc;
}

int laz_os_read_file(const char *path, size_t max, struct laz_buf *buf, struct laz_error *err)
{
    int fd = files_open_regular(path, err);

    if (fd < 0)
        return fd;
    int rc = laz_posix_read_all(fd, path, max, buf, err);
    (void)close(fd);
    return rc;
}

int laz_os_copy_file(const char *from, const char *to, unsigned mode, struct laz_error *err)
{
    char block[32768];
    size_t done;
    ssize_t n = 0;
    int failed = 0, in = files_open_regular(from, err);

    if (in < 0)
        return in;
    int out = files_create(to, mode);
    if (out < 0) {
        failed = errno;
        (void)close(in);
        return laz_error_os(err, failed, "cannot create the file %s", to);
    }
    while (!failed && (n = laz_os_read(in, block, sizeof block)) > 0)
        failed = laz_os_write_all(out, block, (size_t)n, &done);
    if (!failed)
        failed = n < 0 ? errno : EAGAIN; /* 0 at its end */
    failed = files_finish(out, to, failed);
    (void)close(in);
    return failed ? laz_error_os(err, failed, "%s cannot be copied to %s", from, to) : 0;
}

static int64_t look_ns(const struct timespec *time)
{
    return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

/* What a call of the stat family, which has `failed`, has found: 0, or its errno. */
static int look_fill(struct laz_look *look, int failed, const struct stat *st)
{
    struct timespec written, changed;

    if (failed)
        return errno;
    laz_posix_times(st, &written, &changed);
    *look = (struct laz_look){
        .kind = S_ISREG(st->st_mode)   ? LAZ_LOOK_FILE
                : S_ISDIR(st->st_mode) ? LAZ_LOOK_DIRECTORY
                : S_ISLNK(st->st_mode) ? LAZ_LOOK_LINK
                                       : LAZ_LOOK_OTHER,
        .mode = (unsigned)st->st_mode & 07777,
        .uid = (uint32_t)st->st_uid,
        .gid = (uint32_t)st->st_gid,
        .device = (uint64_t)st->st_dev,
        .inode = (uint64_t)st->st_ino,
        .size = (uint64_t)st->st_size,
        .written_ns = look_ns(&written),
        .changed_ns = look_ns(&changed),
    };
    return 0;
}

int laz_posix_look_at(int fd, const char *name, struct laz_look *look)
{
    struct stat st;

    return look_fill(look, fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW), &st);
}

int laz_posix_look_of(int fd, struct laz_look *look)
{
    struct stat st;

    return look_fill(look, fstat(fd, &st), &st);
}

int laz_os_look(const char *path, bool follow, struct laz_look *look)
{
    struct stat st;

    return look_fill(look, follow ? stat(path, &st) : lstat(path, &st), &st);
}

int laz_os_open_file(const char *path, bool wait, struct laz_look *look)
{
    int fd = laz_posix_above(open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (wait ? 0 : O_NONBLOCK)));
    int failed = fd >= 0 ? laz_posix_look_of(fd, look) : 0;

    if (failed) {
        laz_os_close(&fd);
        errno = failed;
    }
    return fd;
}

bool laz_posix_is_named(int fd, const char *path, struct stat *st)
{
    struct stat named;

    if (fstat(fd, st) != 0 || lstat(path, &named) != 0)
        return false;
    errno = 0;
    return st->st_ino == named.st_ino && st->st_dev == named.st_dev;
}

int laz_os_make_link(const char *path, const char *text)
{
    return symlink(text, path) ? errno : 0;
}

char *laz_os_link_text(const char *path)
{
    char text[PATH_MAX];
    const ssize_t len = readlink(path, text, sizeof text);

    return len > 0 && (size_t)len < sizeof text ? laz_strndup(text, (size_t)len) : NULL;
}
