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

#define WALK_INTO (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

struct laz_walk {
    int parent;
    const char *last; /* the name in it */
};

struct walk {
    bool (*visit)(void *user, const struct laz_walk *at, const char *name,
                  const struct laz_look *look);
    void *user;
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
        const struct laz_walk at = {fd, name};
        *goes_on = walk->visit(walk->user, &at, laz_buf_text(&walk->path), &look);
    } else if (depth >= LAZ_WALK_DEPTH) {
        walk->is_cut = true;
    } else {
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

int laz_os_walk(const char *directory,
                bool (*visit)(void *user, const struct laz_walk *at, const char *name,
                              const struct laz_look *look),
                void *user)
{
    struct walk walk = {.visit = visit, .user = user};
    bool goes_on = true;
    int fd = laz_posix_above(open(directory, WALK_INTO));

    if (fd < 0)
        return errno == ELOOP ? ENOTDIR : errno;
    int failed = walk_directory(&walk, fd, 1, &goes_on);
    laz_buf_fini(&walk.path);
    return !failed && walk.is_cut && goes_on ? EOVERFLOW : failed;
}

int laz_os_walk_open(const struct laz_walk *at, struct laz_look *look)
{
    int fd = laz_posix_above(
        openat(at->parent, at->last, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));

    int failed = fd >= 0 ? laz_posix_look_of(fd, look) : 0;
    if (failed) {
        laz_os_close(&fd);
        errno = failed;
    } else if (fd >= 0 && look->kind != LAZ_LOOK_FILE) {
        laz_os_close(&fd);
        errno = EINVAL;
    }
    return fd;
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
    char step[256];
    int fd = laz_posix_above(open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    int failed = fd < 0 ? errno : 0;
    const char *slash;

    while (!failed && (slash = strchr(name, '/'))) {
        const size_t n = (size_t)(slash - name);
        if (n >= sizeof step) {
            failed = ENAMETOOLONG;
            break;
        }
        memcpy(step, name, n);
        step[n] = '\0';
        if (mkdirat(fd, step, 0777) != 0 && errno != EEXIST)
            failed = errno;
        int below = failed ? -1 : laz_posix_above(openat(fd, step, WALK_INTO));
        if (!failed && below < 0)
            failed = errno == ENOTDIR || errno == ELOOP ? EEXIST : errno;
        (void)close(fd);
        fd = below;
        name = slash + 1;
    }
    if (!failed)
        failed = walk_make_in(fd, name, data, len);
    laz_os_close(&fd);
    return failed;
}

bool laz_os_make_watched_directory(const char *path, int64_t *written_ns)
{
    /* a time in the past, which no change can give it again */
    const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    struct laz_look look;

    if (mkdir(path, 0700) != 0 || utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW) != 0 ||
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
