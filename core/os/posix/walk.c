/* SPDX-License-Identifier: MIT */
/* walk.c - files below a directory, by descriptors and without links.
 * Side: host and agent.  Input trusted: the directory yes; what is below it no.  System: POSIX. */
#include "os/walk.h"

#include "os/descriptors.h"
#include "os/io.h"
#include "os/posix/descriptors.h"
#include "os/posix/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WALK_INTO        (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define WALK_DESCRIPTORS 4096 /* that are looked at */

struct walk {
    bool (*visit)(void *user, const char *name, const struct laz_look *look);
    void *user;
    bool at_top;
    struct laz_buf path; /* below the first directory */
    size_t n;            /* names so far */
    bool is_cut;         /* one of the bounds was reached */
};

/* The sorted names of a directory; takes its descriptor. 0 or an errno. */
static int walk_list(struct walk *walk, int fd, struct laz_strv *names)
{
    const struct dirent *entry = NULL;
    DIR *dir = fdopendir(fd);

    if (!dir) {
        int failed = errno;
        (void)close(fd);
        return failed;
    }
    while (walk->n < LAZ_WALK_MOST && (errno = 0, (entry = readdir(dir)))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        laz_strv_add(names, entry->d_name);
        walk->n++;
    }
    int failed = walk->n < LAZ_WALK_MOST ? errno : 0;
    walk->is_cut |= walk->n >= LAZ_WALK_MOST;
    (void)closedir(dir);
    laz_strv_sort(names, 0);
    return names->failed ? ENOMEM : failed;
}

static int walk_directory(struct walk *walk, int fd, int depth, bool *goes_on);

/* One name; what cannot be looked at is gone. 0 or an errno. */
static int walk_name(struct walk *walk, int fd, const char *name, int depth, bool *goes_on)
{
    const size_t before = walk->path.len;
    struct laz_look look;
    int failed = 0;

    if (laz_posix_look_at(fd, name, &look))
        return 0;
    laz_buf_printf(&walk->path, "%s%s", before ? "/" : "", name);
    if (walk->path.failed)
        return ENOMEM;
    if (look.kind != LAZ_LOOK_DIRECTORY) {
        *goes_on = walk->visit(walk->user, laz_buf_text(&walk->path), &look);
    } else if (depth >= LAZ_WALK_DEPTH) {
        walk->is_cut = true;
    } else if (!walk->at_top) {
        int below = laz_posix_above(openat(fd, name, WALK_INTO));
        if (below >= 0)
            failed = walk_directory(walk, below, depth + 1, goes_on);
    }
    walk->path.len = before;
    return failed;
}

/* All names of a directory; takes its descriptor. 0 or an errno. */
static int walk_directory(struct walk *walk, int fd, int depth, bool *goes_on)
{
    struct laz_strv names = {0};
    int copy = laz_posix_above(openat(fd, ".", WALK_INTO));
    int failed = copy < 0 ? errno : walk_list(walk, copy, &names);

    for (size_t i = 0; i < names.n && !failed && *goes_on; i++)
        failed = walk_name(walk, fd, names.items[i], depth, goes_on);
    laz_strv_fini(&names);
    (void)close(fd);
    return failed;
}

int laz_os_walk(const char *directory, bool at_top,
                bool (*visit)(void *user, const char *name, const struct laz_look *look),
                void *user)
{
    struct walk walk = {.visit = visit, .user = user, .at_top = at_top};
    bool goes_on = true;
    int fd = laz_posix_above(open(directory, WALK_INTO));

    if (fd < 0)
        return errno == ELOOP ? ENOTDIR : errno;
    int failed = walk_directory(&walk, fd, 1, &goes_on);
    laz_buf_fini(&walk.path);
    return !failed && walk.is_cut && goes_on ? EOVERFLOW : failed;
}

/* Enters one of its directories, the one before the first slash of `*name`, and closes the one that
 * it was in. 0 or an errno: then `*fd` is -1. */
static int walk_enter(int *fd, const char **name, bool makes)
{
    const char *slash = strchr(*name, '/');
    const size_t n = (size_t)(slash - *name);
    char step[256];
    int failed = n < sizeof step ? 0 : ENAMETOOLONG;

    if (!failed) {
        memcpy(step, *name, n);
        step[n] = '\0';
    }
    if (!failed && makes && mkdirat(*fd, step, 0777) != 0 && errno != EEXIST)
        failed = errno;
    int below = failed ? -1 : laz_posix_above(openat(*fd, step, WALK_INTO));
    if (!failed && below < 0)
        failed = errno;
    (void)close(*fd);
    *fd = below;
    *name = slash + 1;
    return failed;
}

int laz_posix_walk_to(const char *directory, const char **name)
{
    int fd = laz_posix_above(open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    int failed = fd < 0 ? errno : 0;

    while (!failed && strchr(*name, '/'))
        failed = walk_enter(&fd, name, false);
    errno = failed;
    return fd;
}

int laz_os_walk_open(const char *directory, const char *name, struct laz_look *look)
{
    int parent = laz_posix_above(open(directory, WALK_INTO));
    int failed = parent < 0 ? errno : 0, fd = -1;

    while (!failed && strchr(name, '/'))
        failed = walk_enter(&parent, &name, false);
    if (!failed)
        fd = laz_posix_above(
            openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!failed)
        failed = fd < 0 ? errno : laz_posix_look_of(fd, look);
    if (!failed && look->kind != LAZ_LOOK_FILE)
        failed = EINVAL;
    laz_os_close(&parent);
    if (failed)
        laz_os_close(&fd);
    errno = failed;
    return fd;
}

size_t laz_os_written_files(struct laz_written_file *files, size_t most)
{
    const long open_most = sysconf(_SC_OPEN_MAX);
    struct laz_look look;
    size_t n = 0;

    for (int fd = STDERR_FILENO + 1; fd < WALK_DESCRIPTORS && fd < open_most && n < most; fd++) {
        const int flags = fcntl(fd, F_GETFL);
        if (flags != -1 && (flags & O_ACCMODE) != O_RDONLY && !laz_posix_look_of(fd, &look) &&
            look.kind == LAZ_LOOK_FILE)
            files[n++] = (struct laz_written_file){fd, look.device, look.inode};
    }
    return n;
}

/* ---- making --------------------------------------------------------------------------------- */

/* Makes the file; what could not be written whole is removed. */
static int walk_make_in(int fd, const char *name, const void *data, size_t len)
{
    size_t done;
    int file = laz_posix_above(
        openat(fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));

    if (file < 0)
        return errno;
    int failed = laz_os_write_all(file, data, len, &done);
    if (close(file) != 0 && !failed)
        failed = errno;
    if (failed)
        (void)unlinkat(fd, name, 0);
    return failed;
}

int laz_os_walk_make(const char *directory, const char *name, const void *data, size_t len)
{
    int fd = laz_posix_above(open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    int failed = fd < 0 ? errno : 0;

    while (!failed && strchr(name, '/')) {
        failed = walk_enter(&fd, &name, true);
        if (failed == ENOTDIR || failed == ELOOP)
            failed = EEXIST;
    }
    if (!failed)
        failed = walk_make_in(fd, name, data, len);
    laz_os_close(&fd);
    return failed;
}

bool laz_os_watch_directory(const char *path, int64_t *written_ns)
{
    /* a time in the past, which no change can give it again */
    const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    struct laz_look look;

    if (utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW) != 0 ||
        laz_os_look(path, false, &look))
        return false;
    *written_ns = look.written_ns;
    return true;
}

int laz_os_replace_file(const char *path, unsigned mode)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int fd = laz_posix_above(open(path, flags, (mode_t)mode));

    if (fd < 0 && errno == EEXIST && unlink(path) == 0)
        fd = laz_posix_above(open(path, flags, (mode_t)mode));
    return fd;
}
