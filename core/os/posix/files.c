/* SPDX-License-Identifier: MIT */
/* files.c - whole files and folders: made with the exact mode, read with a bound, removed.
 * Side: host.  Input trusted: paths yes; what lies in a session's folder no.
 *
 * A tree that a session could write may hold anything: links, folders nobody may enter, folders
 * nested deeper than a path or a stack can be.  Removal walks by descriptor, follows no link, and
 * moves what lies too deep up to the top before it goes on.  System: POSIX. */
#include "base/random.h"
#include "os/io.h"
#include "os/os.h"
#include "os/posix/posix.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_NAME  24
#define FILES_DEPTH 32 /* descriptors and stack frames that a removal may hold */

int laz_os_make_folder(const char *path, unsigned mode, uint32_t uid, uint32_t gid,
                       struct laz_error *err)
{
    int rc = 0, fd = -1;

    if (mkdir(path, 0700) != 0)
        return laz_error_os(err, errno, "the folder %s cannot be made", path);
    fd = laz_posix_above(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (fd < 0 || ((uid != LAZ_OS_SAME_ID || gid != LAZ_OS_SAME_ID) && fchown(fd, uid, gid) != 0) ||
        fchmod(fd, (mode_t)mode) != 0) {
        rc = laz_error_os(err, errno, "the folder %s cannot be given its owner and mode", path);
        (void)rmdir(path);
    }
    laz_os_close(&fd);
    return rc;
}

static int files_create(const char *path, unsigned mode)
{
    int fd =
        laz_posix_above(open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));

    if (fd >= 0 && fchmod(fd, (mode_t)mode) != 0) {
        int saved = errno;
        (void)unlink(path);
        (void)close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

int laz_os_write_file(const char *path, const void *data, size_t len, unsigned mode,
                      struct laz_error *err)
{
    int fd = files_create(path, mode);
    size_t done;

    if (fd < 0)
        return laz_error_os(err, errno, "the file %s cannot be made", path);
    int failed = laz_os_write_all(fd, data, len, &done);
    if (close(fd) != 0 && !failed)
        failed = errno;
    if (!failed)
        return 0;
    (void)unlink(path);
    return laz_error_os(err, failed, "the file %s cannot be written", path);
}

/* Opens a regular file for reading; a pipe with that name does not block. */
static int files_open_regular(const char *path, struct stat *st, struct laz_error *err)
{
    int fd = laz_posix_above(open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));

    if (fd < 0 || fstat(fd, st) != 0) {
        laz_error_os(err, errno, "the file %s cannot be read", path);
        laz_os_close(&fd);
        return LAZ_EOS;
    }
    if (!S_ISREG(st->st_mode)) {
        (void)close(fd);
        laz_error_set(err, LAZ_EINVAL, 0, "%s is not a regular file", path);
        return LAZ_EINVAL;
    }
    return fd;
}

int laz_posix_read_all(int fd, const char *path, size_t max, struct laz_buf *buf,
                       struct laz_error *err)
{
    struct stat st;
    size_t start = buf->len, room;
    int rc = 0;

    if (fstat(fd, &st) != 0)
        return laz_error_os(err, errno, "the file %s cannot be read", path);
    for (;;) {
        room = (uint64_t)st.st_size < 65536 ? 4096 : 65536;
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
    struct stat st;
    int fd = files_open_regular(path, &st, err);

    if (fd < 0)
        return fd;
    int rc = laz_posix_read_all(fd, path, max, buf, err);
    (void)close(fd);
    return rc;
}

int laz_os_copy_file(const char *from, const char *to, unsigned mode, struct laz_error *err)
{
    char block[32768];
    struct stat st;
    size_t done;
    int rc = 0, out = -1, in = files_open_regular(from, &st, err);

    if (in < 0)
        return in;
    out = files_create(to, mode);
    if (out < 0) {
        rc = laz_error_os(err, errno, "the file %s cannot be made", to);
        goto out;
    }
    for (;;) {
        ssize_t n = read(in, block, sizeof block);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            break;
        int failed = n < 0 ? errno : laz_os_write_all(out, block, (size_t)n, &done);
        if (failed) {
            rc = laz_error_os(err, failed, "%s cannot be copied to %s", from, to);
            break;
        }
    }
    if (close(out) != 0 && !rc)
        rc = laz_error_os(err, errno, "%s cannot be copied to %s", from, to);
    if (rc)
        (void)unlink(to);
out:
    (void)close(in);
    return rc;
}

struct files_removal {
    int top;    /* the folder that is emptied */
    bool again; /* something was moved up to it: it has to be read once more */
};

static int files_enter(int parent, const char *name)
{
    int fd = laz_posix_above(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));

    if (fd < 0 && errno == EACCES && laz_posix_unlock(parent, name))
        fd = laz_posix_above(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    return fd;
}

/* unlinkat(2); a second time where the owner has forbidden it. */
static void files_unlink(int parent, const char *name, int flags)
{
    if (unlinkat(parent, name, flags) != 0 && (errno == EPERM || errno == EACCES) &&
        laz_posix_unlock(parent, name))
        (void)unlinkat(parent, name, flags);
}

static void files_empty(struct files_removal *removal, int fd, int depth);

static void files_remove_folder(struct files_removal *removal, int parent, const char *name,
                                int depth)
{
    char up[FILES_NAME + 1]; /* a name that nobody could have taken before */

    if (depth >= FILES_DEPTH) {
        if (laz_random_name(up, FILES_NAME, NULL) != 0)
            return;
        if (renameat(parent, name, removal->top, up) == 0 ||
            ((errno == EACCES || errno == EPERM) && laz_posix_unlock(parent, name) &&
             renameat(parent, name, removal->top, up) == 0))
            removal->again = true;
        return;
    }
    int fd = files_enter(parent, name);
    if (fd >= 0)
        files_empty(removal, fd, depth + 1); /* closes it */
    files_unlink(parent, name, AT_REMOVEDIR);
}

/* Removes what is in the folder `fd`, and closes it. */
static void files_empty(struct files_removal *removal, int fd, int depth)
{
    struct dirent *entry;

    if (fchmod(fd, 0700) != 0) /* a folder that its owner may not write */
        (void)laz_posix_unlock(fd, ".");
    DIR *dir = fdopendir(fd);
    if (!dir) {
        (void)close(fd);
        return;
    }
    while ((entry = readdir(dir))) {
        struct stat st;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (S_ISDIR(st.st_mode))
            files_remove_folder(removal, fd, entry->d_name, depth);
        else
            files_unlink(fd, entry->d_name, 0);
    }
    (void)closedir(dir);
}

void laz_os_remove_tree(const char *path)
{
    struct files_removal removal = {.again = true};

    removal.top = files_enter(AT_FDCWD, path);
    if (removal.top < 0) {
        (void)unlink(path);
        return;
    }
    while (removal.again) {
        removal.again = false;
        int fd = laz_posix_above(openat(removal.top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (fd >= 0)
            files_empty(&removal, fd, 0);
    }
    (void)close(removal.top);
    (void)rmdir(path);
}
