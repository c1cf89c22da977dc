/* SPDX-License-Identifier: MIT */
/* paths.c - where links lead, what another user can reach, and lazaret's own paths.  System: POSIX.
 */
#include "os/paths.h"

#include "base/buf.h"
#include "os/current_process.h"
#include "os/posix/files.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Has the user (with one group of the same number) all of these permission bits (4 2 1)? */
static bool paths_may(const struct stat *st, uint32_t uid, unsigned bits)
{
    unsigned mode = (unsigned)st->st_mode;

    if (uid == 0)
        return !(bits & 1) || S_ISDIR(st->st_mode) || (mode & 0111);
    if (st->st_uid == uid)
        mode >>= 6;
    else if (st->st_gid == uid)
        mode >>= 3;
    return (mode & bits) == bits;
}

/* May the user pass every directory above the last part of this absolute path? */
static bool paths_can_pass(const char *path, uint32_t uid)
{
    char above[PATH_MAX];
    struct stat st;
    size_t len = strlen(path);

    if (len >= sizeof above)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (path[i] != '/')
            continue;
        size_t end = i ? i : 1;
        memcpy(above, path, end);
        above[end] = '\0';
        if (stat(above, &st) != 0 || !S_ISDIR(st.st_mode) || !paths_may(&st, uid, 1))
            return false;
    }
    return true;
}

static bool paths_can_use(const char *path, uint32_t uid, unsigned bits)
{
    struct stat st;
    bool can = false;

    if (!path || path[0] != '/')
        return false;
    /* Both the path as it is written, and where its links lead. */
    char *real = realpath(path, NULL);
    if (real && paths_can_pass(path, uid) && paths_can_pass(real, uid) && stat(real, &st) == 0)
        can = paths_may(&st, uid, S_ISDIR(st.st_mode) ? bits | 1 : bits);
    free(real);
    return can;
}

bool laz_os_is_reachable(const char *path, uint32_t uid, bool execute)
{
    return paths_can_use(path, uid, execute ? 5 : 4);
}

bool laz_os_is_writable(const char *path, uint32_t uid)
{
    return paths_can_use(path, uid, 2);
}

bool laz_os_config_place(int place, char **path)
{
    const char *directory = place ? NULL : laz_os_getenv("XDG_CONFIG_HOME");
    const char *home = place ? NULL : laz_os_getenv("HOME");

    *path = NULL;
    if (place == 1)
        *path = laz_strdup("/etc/lazaret/lazaret.toml");
    else if (laz_os_is_absolute(directory))
        *path = laz_strdupf("%s/lazaret/lazaret.toml", directory);
    else if (laz_os_is_absolute(home))
        *path = laz_strdupf("%s/.config/lazaret/lazaret.toml", home);
    return place == 0 || place == 1;
}

const char laz_os_list_separator[] = ":";

/* Is the directory, of `prefix`, where the code is? Then *moved is the prefix there: a new string,
 * or NULL with errno. */
static bool paths_fits(const char *own, const char *prefix, const char *directory, char **moved)
{
    size_t len = strlen(prefix), own_len = strlen(own);

    if (strncmp(directory, prefix, len) != 0 || directory[len] != '/')
        return false;
    size_t below = strlen(directory + len);
    if (own_len <= below || strcmp(own + own_len - below, directory + len) != 0)
        return false;
    *moved = laz_strndup(own, own_len - below);
    return true;
}

/* The prefix of the installation with this code; NULL with errno 0: the build's own. */
static char *paths_moved_prefix(const struct laz_layout *layout)
{
    char *own = laz_posix_own_file(), *moved = NULL;
    bool has_mark = false;
    struct stat there, st;

    errno = !own && errno == ENOMEM ? ENOMEM : 0;
    if (!own)
        return NULL;
    *strrchr(own, '/') = '\0';
    if (!paths_fits(own, layout->prefix, layout->bindir, &moved))
        paths_fits(own, layout->prefix, layout->libdir, &moved);
    free(own);
    if (!moved)
        return NULL;
    char *mark = laz_strdupf("%s%s", moved, layout->mark + strlen(layout->prefix));
    if (mark)
        has_mark =
            lstat(mark, &there) == 0 && !(stat(layout->mark, &st) == 0 &&
                                          st.st_dev == there.st_dev && st.st_ino == there.st_ino);
    errno = mark ? 0 : ENOMEM;
    free(mark);
    if (has_mark)
        return moved;
    free(moved);
    return NULL;
}

char *laz_os_installed(const struct laz_layout *layout, const char *path)
{
    size_t len = strlen(layout->prefix);
    bool moves = strncmp(path, layout->prefix, len) == 0 && path[len] == '/' &&
                 strncmp(layout->mark, layout->prefix, len) == 0;

    errno = 0;
    char *moved = moves ? paths_moved_prefix(layout) : NULL;
    if (!moved && errno == ENOMEM)
        return NULL;
    char *installed = moved ? laz_strdupf("%s%s", moved, path + len) : laz_strdup(path);
    free(moved);
    return installed;
}

bool laz_os_is_absolute(const char *path)
{
    return path && path[0] == '/';
}

bool laz_os_can_execute(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *laz_os_real_path(const char *path)
{
    return realpath(path, NULL);
}

char *laz_posix_canonical(const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    char *directory = laz_strndup(path, (size_t)(name - path));
    char *real = directory ? realpath(directory, NULL) : NULL;
    char *canonical = real ? laz_strdupf("%s/%s", strcmp(real, "/") == 0 ? "" : real, name) : NULL;

    free(directory);
    free(real);
    return canonical;
}

/* A link that is found is replaced by its text, and the walk starts again. */
void laz_os_links(const char *path, void (*visit)(void *user, const char *link, const char *text),
                  void *user)
{
    char *way = path[0] == '/' ? laz_strdup(path) : NULL;
    char text[PATH_MAX];
    unsigned links = 0;

    for (size_t at = 0; way && way[at] && links < LAZ_POSIX_LINKS;) {
        at += strspn(way + at, "/");
        at += strcspn(way + at, "/");
        char *first = laz_strndup(way, at), *next = NULL;
        ssize_t len = first ? readlink(first, text, sizeof text - 1) : 0;
        if (len > 0) {
            const size_t before = (size_t)(strrchr(first, '/') + 1 - first);
            text[len] = '\0';
            char *link = laz_posix_canonical(first);
            if (link)
                visit(user, link, text);
            free(link);
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
