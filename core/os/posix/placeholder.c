/* SPDX-License-Identifier: MIT */
/* placeholder.c - makes, locks and removes placeholders.  System: POSIX.
 * Side: host.  Input trusted: no (untrusted code can write the directories).
 *
 * rmdir(2) removes an empty directory and nothing else, so nothing of a user is lost in a race. */
#include "os/placeholder.h"

#include "os/descriptors.h"
#include "os/posix/descriptors.h"
#include "os/posix/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PLACEHOLDER_TIME  518518518 /* seconds: a moment of 1986 that nothing else is from */
#define PLACEHOLDER_TEXT  16        /* bytes at most */
#define PLACEHOLDER_TRIES 200       /* of a millisecond: another process is just removing it */

bool laz_os_is_placeholder(const struct laz_look *look)
{
    return look->written_ns / 1000000000 == PLACEHOLDER_TIME &&
           (look->kind == LAZ_LOOK_DIRECTORY ||
            (look->kind == LAZ_LOOK_FILE && look->size <= PLACEHOLDER_TEXT));
}

/* 0 or an errno. EEXIST: something of that name is there. */
static int placeholder_make(int parent, const char *name, const char *text)
{
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = PLACEHOLDER_TIME}};
    int file = -1, failed = 0;

    if (!text)
        failed = mkdirat(parent, name, 0555) ? errno : 0;
    else if ((file = laz_posix_above(
                  openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444))) < 0)
        failed = errno;
    if (failed)
        return failed;
    if (text && write(file, text, strlen(text)) != (ssize_t)strlen(text))
        failed = errno;
    laz_os_close(&file);
    if (!failed && utimensat(parent, name, times, AT_SYMLINK_NOFOLLOW))
        failed = errno;
    if (failed)
        (void)unlinkat(parent, name, text ? 0 : AT_REMOVEDIR);
    return failed;
}

/* Is the placeholder that is open still what has this name? */
static bool placeholder_is_there(int parent, const char *name, int fd)
{
    struct laz_look named, open;

    return !laz_posix_look_at(parent, name, &named) && !laz_posix_look_of(fd, &open) &&
           named.device == open.device && named.inode == open.inode && laz_os_is_placeholder(&open);
}

/* 0 or an errno. EAGAIN: try again. */
static int placeholder_try(int parent, const char *name, const char *text, int *fd)
{
    int failed = placeholder_make(parent, name, text);

    if (failed && failed != EEXIST)
        return failed;
    *fd = laz_posix_above(
        openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (*fd < 0)
        return errno == ENOENT ? EAGAIN : errno;
    if (flock(*fd, LOCK_SH | LOCK_NB))
        failed = errno == EWOULDBLOCK ? EAGAIN : errno;
    else
        failed = placeholder_is_there(parent, name, *fd) ? 0 : failed ? EEXIST : EAGAIN;
    if (failed)
        laz_os_close(fd);
    return failed;
}

int laz_os_placeholder_take(const char *directory, const char *name, const char *text, int *fd,
                            struct laz_error *err)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    const char *last = name;
    int parent = laz_posix_walk_to(directory, &last);
    int failed = parent < 0 ? errno : EAGAIN;

    for (int i = 0; failed == EAGAIN && i < PLACEHOLDER_TRIES; i++) {
        if (i)
            nanosleep(&pause, NULL);
        failed = placeholder_try(parent, last, text, fd);
    }
    laz_os_close(&parent);
    return failed
               ? laz_error_os(err, failed, "%s/%s cannot be kept from being made", directory, name)
               : 0;
}

void laz_os_placeholder_drop(const char *directory, const char *name, int *fd)
{
    struct laz_look look;
    int parent = -1;

    if (*fd >= 0 && flock(*fd, LOCK_EX | LOCK_NB) == 0)
        parent = laz_posix_walk_to(directory, &name);
    if (parent >= 0 && placeholder_is_there(parent, name, *fd) && !laz_posix_look_of(*fd, &look))
        (void)unlinkat(parent, name, look.kind == LAZ_LOOK_DIRECTORY ? AT_REMOVEDIR : 0);
    laz_os_close(&parent);
    laz_os_close(fd);
}

/* Without rights to the file, where there is such a descriptor (Linux). */
int laz_os_hold(const char *path)
{
#ifdef O_PATH
    const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
#else
    const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC;
#endif

    return laz_posix_above(open(path, flags));
}
