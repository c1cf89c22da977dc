/* SPDX-License-Identifier: MIT */
/* trust.c - walks to a file on which this process relies.
 * Side: host.  Input trusted: no (a user who can write the file, or a directory above it, runs code
 * as the host).
 *
 * The path is walked from "/" by descriptors, a name at a time, and the kernel never follows a
 * link: the text of a link takes its place in the path, and is walked like the rest.  So each
 * directory is the one that was checked, however its name is replaced meanwhile, and directories
 * that links skip are judged as well as those where they lead.  System: POSIX. */
#include "os/trust.h"

#include "os/descriptors.h"
#include "os/paths.h"
#include "os/posix/descriptors.h"
#include "os/posix/files.h"
#include "os/users.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct trust_walk {
    const char *path;    /* as it was given */
    char at[PATH_MAX];   /* the path of the directory that was reached */
    char rest[PATH_MAX]; /* what is left of it */
    int directory;       /* the directory that was reached */
    bool is_shared;      /* other users can write there, too: it is sticky */
    uid_t top;           /* the owner of "/" */
    unsigned links;
};

/* ---- one file, link or directory ------------------------------------------------------------ */

static bool trust_is_owner(const struct trust_walk *walk, uid_t uid)
{
    return uid == 0 || uid == geteuid() || (uid == walk->top && !walk->is_shared);
}

/* Has the group no member but root, the owner, or the user of this process? An access list makes
 * the bits of the group those of every user that it names (acl(5)). */
static bool trust_is_group(const struct trust_walk *walk, const char *name, const struct stat *st)
{
    uint32_t gid = (uint32_t)st->st_gid;

    if (laz_posix_has_acl(walk->directory, name))
        return false;
    return laz_posix_is_root_group(gid) || laz_os_is_private_group(gid, (uint32_t)st->st_uid) ||
           laz_os_is_private_group(gid, (uint32_t)geteuid());
}

static int trust_refuse(const struct trust_walk *walk, const struct stat *st, const char *wrong,
                        const char *remedy, struct laz_error *err)
{
    size_t at = strlen(walk->at), path = strlen(walk->path);
    bool above = at < path || strcmp(walk->at + at - path, walk->path) != 0;

    return laz_error_set(err, LAZ_EREFUSED, 0,
                         "%s: %s this %s (mode %04o)%s%s; lazaret relies on nothing that others "
                         "can change: %s %s",
                         walk->at, wrong,
                         S_ISDIR(st->st_mode)   ? "directory"
                         : S_ISLNK(st->st_mode) ? "link"
                                                : "file",
                         (unsigned)st->st_mode & 07777, above ? ", on the way to " : "",
                         above ? walk->path : "", remedy, walk->at);
}

/* Judges `name` in the directory that was reached. `on_way`: it may be sticky. */
static int trust_judge(struct trust_walk *walk, const char *name, const struct stat *st,
                       bool on_way, struct laz_error *err)
{
    char wrong[64];
    bool others = st->st_mode & S_IWOTH;
    bool group = (st->st_mode & S_IWGRP) && !trust_is_group(walk, name, st);
    bool sticky = on_way && S_ISDIR(st->st_mode) && (st->st_mode & S_ISVTX);

    if (!trust_is_owner(walk, st->st_uid)) {
        snprintf(wrong, sizeof wrong, "uid %lu, not root or uid %lu, owns",
                 (unsigned long)st->st_uid, (unsigned long)geteuid());
        return trust_refuse(
            walk, st, wrong,
            geteuid() ? "chown" : "use a copy that is root's, or run lazaret as the owner of", err);
    }
    if (S_ISLNK(st->st_mode)) /* the mode of a link has no meaning */
        return 0;
    if (!sticky && others)
        return trust_refuse(walk, st, "every user can write",
                            st->st_mode & S_IWGRP ? "chmod go-w" : "chmod o-w", err);
    snprintf(wrong, sizeof wrong, "the group %lu can write", (unsigned long)st->st_gid);
    if (!sticky && group)
        return trust_refuse(walk, st, wrong, "chmod g-w", err);
    if (S_ISDIR(st->st_mode))
        walk->is_shared = others || group;
    return 0;
}

/* ---- the walk ------------------------------------------------------------------------------- */

static int trust_failed(const struct trust_walk *walk, int number, struct laz_error *err)
{
    return laz_error_os(err, number, "%s", walk->path);
}

/* Enters a directory, which must be the one that was checked. */
static int trust_enter(struct trust_walk *walk, const char *name, const struct stat *looked)
{
    struct stat st;
    int fd = laz_posix_enter(walk->directory, name);
    int failed = fd < 0 || fstat(fd, &st) != 0 ? errno : 0;

    if (!failed && (st.st_dev != looked->st_dev || st.st_ino != looked->st_ino))
        failed = ESTALE;
    if (failed) {
        laz_os_close(&fd);
        return failed;
    }
    laz_os_close(&walk->directory);
    walk->directory = fd;
    return 0;
}

static int trust_begin(struct trust_walk *walk, bool on_way, struct laz_error *err)
{
    struct stat st;

    strcpy(walk->at, "/");
    walk->is_shared = false;
    laz_os_close(&walk->directory);
    walk->directory = laz_posix_enter(AT_FDCWD, "/");
    if (walk->directory < 0 || fstat(walk->directory, &st) != 0)
        return trust_failed(walk, errno, err);
    walk->top = st.st_uid;
    return trust_judge(walk, ".", &st, on_way, err);
}

/* Takes the next name off the rest: false when there is none. *last: no name follows. */
static bool trust_next(struct trust_walk *walk, char name[NAME_MAX + 1], bool *last, int *failed)
{
    char *from = walk->rest + strspn(walk->rest, "/");
    size_t len = strcspn(from, "/");
    char *behind = from + len + strspn(from + len, "/");

    if (len > NAME_MAX) {
        *failed = ENAMETOOLONG;
        return false;
    }
    memcpy(name, from, len);
    name[len] = '\0';
    *last = !*behind;
    memmove(walk->rest, behind, strlen(behind) + 1);
    return len > 0;
}

/* Appends the name to the path that was walked; "..": removes one. */
static int trust_name(struct trust_walk *walk, const char *name)
{
    size_t len = strlen(walk->at), n = strlen(name);
    char *slash = strrchr(walk->at, '/');

    if (strcmp(name, "..") == 0) {
        slash[slash == walk->at] = '\0';
        return 0;
    }
    if (len + n + 2 > sizeof walk->at)
        return ENAMETOOLONG;
    snprintf(walk->at + len, sizeof walk->at - len, "%s%s", len > 1 ? "/" : "", name);
    return 0;
}

/* The text of a link takes its place. *absolute: the walk starts again. */
static int trust_link(struct trust_walk *walk, const char *name, bool *absolute)
{
    char text[PATH_MAX], whole[2 * PATH_MAX + 2];
    ssize_t len = readlinkat(walk->directory, name, text, sizeof text - 1);

    if (len <= 0)
        return len < 0 ? errno : ENOENT;
    text[len] = '\0';
    if (++walk->links > LAZ_POSIX_LINKS)
        return ELOOP;
    int n = snprintf(whole, sizeof whole, "%s/%s", text, walk->rest);
    if (n < 0 || (size_t)n >= sizeof walk->rest)
        return ENAMETOOLONG;
    memcpy(walk->rest, whole, (size_t)n + 1);
    *absolute = text[0] == '/';
    return trust_name(walk, ".."); /* the text has replaced the name of the link */
}

/* Walks to the last name, which is in `name`, with its attributes in *st; the directory that it is
 * in is open. */
static int trust_walk(struct trust_walk *walk, bool is_directory, char name[NAME_MAX + 1],
                      struct stat *st, struct laz_error *err)
{
    bool last = !walk->rest[strspn(walk->rest, "/")];
    int rc = trust_begin(walk, !last || !is_directory, err), failed = 0;

    strcpy(name, ".");
    if (!rc && last && fstat(walk->directory, st) != 0)
        failed = errno;
    while (!rc && !failed && trust_next(walk, name, &last, &failed)) {
        bool absolute = false;
        if (strcmp(name, ".") != 0)
            failed = trust_name(walk, name);
        if (!failed && fstatat(walk->directory, name, st, AT_SYMLINK_NOFOLLOW) != 0)
            failed = errno;
        if (failed)
            break;
        rc = trust_judge(walk, name, st, !last || !is_directory, err);
        if (!rc && S_ISLNK(st->st_mode)) {
            failed = trust_link(walk, name, &absolute);
            if (!failed && absolute)
                rc = trust_begin(walk, true, err);
        } else if (!rc && last) {
            return 0;
        } else if (!rc) {
            failed = S_ISDIR(st->st_mode) ? trust_enter(walk, name, st) : ENOTDIR;
        }
    }
    return rc || !failed ? rc : trust_failed(walk, failed, err);
}

static int trust_set_out(struct trust_walk *walk, const char *path, struct laz_error *err)
{
    size_t len = 0;

    walk->path = path;
    walk->directory = -1;
    walk->links = 0;
    if (path[0] != '/') {
        if (!getcwd(walk->rest, sizeof walk->rest))
            return trust_failed(walk, errno, err);
        len = strlen(walk->rest);
        walk->rest[len++] = '/'; /* in place of the NUL */
    }
    if (len + strlen(path) >= sizeof walk->rest)
        return trust_failed(walk, ENAMETOOLONG, err);
    strcpy(walk->rest + len, path);
    return 0;
}

/* Judges what is at the end of the path. *fd: the file, open for reading; NULL: not needed. */
static int trust_path(const char *path, bool is_directory, int *fd, struct laz_error *err)
{
    struct trust_walk walk;
    char name[NAME_MAX + 1];
    struct stat st, opened;

    int rc = trust_set_out(&walk, path, err);
    if (!rc)
        rc = trust_walk(&walk, is_directory, name, &st, err);
    if (!rc && (is_directory ? !S_ISDIR(st.st_mode) : !S_ISREG(st.st_mode)))
        rc = laz_error_set(err, LAZ_EREFUSED, 0, "%s: not a %s", path,
                           is_directory ? "directory" : "regular file");
    if (!rc && fd) {
        *fd = laz_posix_above(openat(walk.directory, name,
                                     O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
        int failed = *fd < 0 || fstat(*fd, &opened) != 0 ? errno : 0;
        if (!failed && (opened.st_dev != st.st_dev || opened.st_ino != st.st_ino))
            failed = ESTALE;
        if (failed) {
            laz_os_close(fd);
            rc = trust_failed(&walk, failed, err);
        }
    }
    laz_os_close(&walk.directory);
    return rc;
}

static int trust_absolute(const char *path, bool is_directory, struct laz_error *err)
{
    if (!laz_os_is_absolute(path))
        return laz_error_set(err, LAZ_EREFUSED, 0, "%s: not an absolute path", path);
    return trust_path(path, is_directory, NULL, err);
}

int laz_trust_file(const char *path, struct laz_error *err)
{
    return trust_absolute(path, false, err);
}

int laz_trust_directory(const char *path, struct laz_error *err)
{
    return trust_absolute(path, true, err);
}

int laz_trust_read(const char *path, size_t max, struct laz_buf *buf, struct laz_error *err)
{
    int fd = -1;
    int rc = trust_path(path, false, &fd, err);

    if (!rc)
        rc = laz_posix_read_all(fd, path, max, buf, err);
    laz_os_close(&fd);
    return rc;
}

int laz_trust_secret(const char *path, size_t max, struct laz_buf *buf, struct laz_error *err)
{
    struct stat st;
    int fd = -1;
    int rc = trust_path(path, false, &fd, err);

    if (!rc && fstat(fd, &st) != 0)
        rc = laz_error_os(err, errno, "%s", path);
    if (!rc && (st.st_mode & 077))
        rc =
            laz_error_set(err, LAZ_EREFUSED, 0,
                          "%s: others can read this secret; chmod 600, and it must be yours", path);
    if (!rc)
        rc = laz_posix_read_all(fd, path, max, buf, err);
    laz_os_close(&fd);
    return rc;
}
