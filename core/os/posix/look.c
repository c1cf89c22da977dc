/* SPDX-License-Identifier: MIT */
/* look.c - what is at a path, where links lead, what is in a folder.  System: POSIX.
 * Side: both.  Input trusted: paths yes; what is found there no. */
#include "os/os.h"
#include "os/posix/posix.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOOK_LINKS 40 /* as many as are followed, path_resolution(7) */

static int64_t look_ns(const struct timespec *time)
{
    return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

static void look_fill(struct laz_look *look, const struct stat *st)
{
    struct timespec written, changed;

    laz_posix_times(st, &written, &changed);
    *look = (struct laz_look){
        .kind = S_ISREG(st->st_mode)   ? LAZ_LOOK_FILE
                : S_ISDIR(st->st_mode) ? LAZ_LOOK_FOLDER
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
}

int laz_os_look(const char *path, bool follow, struct laz_look *look)
{
    struct stat st;

    if ((follow ? stat(path, &st) : lstat(path, &st)) != 0)
        return errno;
    look_fill(look, &st);
    return 0;
}

int laz_os_open_file(const char *path, bool wait, struct laz_look *look)
{
    struct stat st;
    int fd = laz_posix_above(open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (wait ? 0 : O_NONBLOCK)));

    if (fd >= 0 && fstat(fd, &st) != 0) {
        int saved = errno;
        laz_os_close(&fd);
        errno = saved;
    }
    if (fd >= 0)
        look_fill(look, &st);
    return fd;
}

char *laz_os_real_path(const char *path)
{
    return realpath(path, NULL);
}

/* Tells of the link `first` with this text, by the real path of its folder. */
static void look_tell_link(const char *first, const char *text,
                           void (*visit)(void *user, const char *link, const char *text),
                           void *user)
{
    const char *name = strrchr(first, '/') + 1;
    char *folder = laz_strndup(first, (size_t)(name - first));
    char *real = folder ? realpath(folder, NULL) : NULL;
    char *link = real ? laz_strdupf("%s/%s", strcmp(real, "/") == 0 ? "" : real, name) : NULL;

    if (link)
        visit(user, link, text);
    free(folder);
    free(real);
    free(link);
}

/* A link that is found is replaced by its text, and the way begun anew. */
void laz_os_links(const char *path, void (*visit)(void *user, const char *link, const char *text),
                  void *user)
{
    char *way = path[0] == '/' ? laz_strdup(path) : NULL;
    char text[PATH_MAX];
    unsigned links = 0;

    for (size_t at = 0; way && way[at] && links < LOOK_LINKS;) {
        at += strspn(way + at, "/");
        at += strcspn(way + at, "/");
        char *first = laz_strndup(way, at), *next = NULL;
        ssize_t len = first ? readlink(first, text, sizeof text - 1) : 0;
        if (len > 0) {
            const size_t before = (size_t)(strrchr(first, '/') + 1 - first);
            text[len] = '\0';
            look_tell_link(first, text, visit, user);
            next = laz_strdupf("%.*s%s%s", text[0] == '/' ? 0 : (int)before, first, text, way + at);
            free(way);
            way = next;
            at = 0;
            links++;
        }
        free(first);
    }
    free(way);
}

int laz_os_make_link(const char *path, const char *text)
{
    return symlink(text, path) ? errno : 0;
}

static int look_by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int laz_os_list_folder(const char *path, struct laz_strv *names, struct laz_error *err)
{
    size_t before = names->n;
    DIR *dir = laz_posix_opendir(path);
    struct dirent *entry;

    if (!dir)
        return laz_error_os(err, errno, "%s", path);
    while (errno = 0, (entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            laz_strv_add(names, entry->d_name);
    int failed = errno;
    (void)closedir(dir);
    if (names->n > before)
        qsort(names->items + before, names->n - before, sizeof *names->items, look_by_name);
    if (names->failed)
        return laz_error_nomem(err);
    return failed ? laz_error_os(err, failed, "%s", path) : 0;
}
