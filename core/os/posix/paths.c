/* SPDX-License-Identifier: MIT */
/* paths.c - what another user can reach, and where programs are.  System: POSIX.
 *
 * Programs are looked for in fixed folders, never in $PATH nor in the working folder: both may be
 * in the hands of whoever wrote the project that lazaret was started in. */
#include "os/os.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const paths_programs[] = {"/usr/local/bin",   "/usr/bin", "/bin",
                                             "/usr/sbin",        "/sbin",    "/usr/local/sbin",
                                             "/opt/homebrew/bin"};

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

/* May the user pass every folder above the last part of this absolute path? */
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
    /* The path as it is written, and where its links lead. */
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
    const char *folder, *home;

    *path = NULL;
    switch (place) {
    case 0:
        folder = laz_os_getenv("XDG_CONFIG_HOME");
        home = laz_os_getenv("HOME");
        if (laz_os_is_absolute(folder))
            *path = laz_strdupf("%s/lazaret/lazaret.toml", folder);
        else if (laz_os_is_absolute(home))
            *path = laz_strdupf("%s/.config/lazaret/lazaret.toml", home);
        return true;
    case 1:
        *path = laz_strdup("/etc/lazaret/lazaret.toml");
        return true;
    default:
        return false;
    }
}

const char laz_os_list_separator[] = ":";

char *laz_os_installed(const char *prefix, const char *path)
{
    (void)prefix;
    return laz_strdup(path);
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

int laz_os_find_program(const char *name, char **path, struct laz_error *err)
{
    char *found = NULL;

    if (!name || !*name)
        return laz_error_set(err, LAZ_ENOENT, 0, "the name of a program is empty");
    if (name[0] == '/') {
        if (!laz_os_can_execute(name))
            return laz_error_set(err, LAZ_ENOENT, 0,
                                 "%s does not exist or is not a program that can be executed",
                                 name);
        found = laz_strdup(name);
        goto out;
    }
    if (strchr(name, '/'))
        return laz_error_set(err, LAZ_ENOENT, 0,
                             "%s is neither an absolute path nor the bare name of a program", name);
    for (size_t i = 0; i < sizeof paths_programs / sizeof paths_programs[0]; i++) {
        found = laz_strdupf("%s/%s", paths_programs[i], name);
        if (!found || laz_os_can_execute(found))
            goto out;
        free(found);
    }
    return laz_error_set(err, LAZ_ENOENT, 0,
                         "the program %s is not installed (looked for in /usr/local/bin, /usr/bin, "
                         "/bin and the like; PATH is not used)",
                         name);
out:
    if (!found)
        return laz_error_nomem(err);
    *path = found;
    return 0;
}

bool laz_os_is_private_group(uint32_t gid, uint32_t uid)
{
    char users[4096], groups[4096];
    struct passwd user, *found_user = NULL;
    struct group group, *found_group = NULL;

    if (getpwuid_r(uid, &user, users, sizeof users, &found_user) != 0 || !found_user)
        return false;
    if (getgrgid_r(gid, &group, groups, sizeof groups, &found_group) != 0 || !found_group)
        return false;
    if (strcmp(found_user->pw_name, found_group->gr_name) != 0)
        return false;
    for (char **member = found_group->gr_mem; member && *member; member++)
        if (strcmp(*member, found_user->pw_name) != 0)
            return false;
    return true;
}
