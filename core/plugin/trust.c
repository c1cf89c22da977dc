/* SPDX-License-Identifier: MIT */
/* trust.c - may a file be loaded into this process?
 * Side: host.  Input trusted: no (whoever can write a plugin's file runs code as the host).
 *
 * A file is looked at twice: under the path that was given and, when links lead elsewhere, under
 * the path they lead to.  Its folder counts like itself, for who can write a folder can exchange
 * what is in it; of the folders above only those that everybody can write are refused (a sticky
 * bit protects what is in /tmp).  The group of a file may write it when it is the private group
 * of its owner, as systems with a umask of 002 make them. */
#include "plugin/trust.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "os/os.h"

/* Owner and mode of one file or folder. */
static int trust_owner_and_mode(const char *path, const struct laz_look *look,
                                struct laz_error *err)
{
    const char *what = look->kind == LAZ_LOOK_FOLDER ? "folder" : "file";
    unsigned mode = look->mode;

    if (look->uid != 0 && look->uid != laz_os_uid())
        return laz_error_set(err, LAZ_EPLUGIN, 0,
                             "%s: this %s belongs to uid %u; plugins are loaded only when they "
                             "belong to root or to the user who runs lazaret (uid %u): change its "
                             "owner with chown",
                             path, what, (unsigned)look->uid, (unsigned)laz_os_uid());
    if (mode & 0002)
        return laz_error_set(
            err, LAZ_EPLUGIN, 0,
            "%s: every user can write this %s (mode %04o); plugins are loaded only "
            "when nobody else can write them: chmod go-w it",
            path, what, mode);
    if ((mode & 0020) && look->gid != 0 && !laz_os_is_private_group(look->gid, look->uid))
        return laz_error_set(err, LAZ_EPLUGIN, 0,
                             "%s: the group %u can write this %s (mode %04o); plugins are loaded "
                             "only when nobody else can write them: chmod g-w it",
                             path, (unsigned)look->gid, what, mode);
    return 0;
}

/* The folders above `path`: `folder` is a copy of it that is cut shorter and shorter. */
static int trust_ancestors(char *folder, struct laz_error *err)
{
    for (;;) {
        struct laz_look look;
        char *slash = strrchr(folder, '/');
        if (!slash || !folder[1])
            return 0;
        slash[slash == folder] = '\0';
        int failed = laz_os_look(folder, true, &look);
        if (failed)
            return laz_error_os(err, failed, "%s", folder);
        if ((look.mode & 0002) && !(look.mode & 01000))
            return laz_error_set(err, LAZ_EPLUGIN, 0,
                                 "%s: every user can write this folder (mode %04o), which a plugin "
                                 "is below: chmod o-w it",
                                 folder, look.mode);
    }
}

static int trust_folder_at(const char *path, struct laz_error *err)
{
    struct laz_look look;
    char *copy = NULL;
    int rc = laz_os_look(path, true, &look);

    if (rc)
        return laz_error_set(err, rc == ENOENT ? LAZ_ENOENT : LAZ_EPLUGIN, rc, "%s: %s", path,
                             strerror(rc));
    if (look.kind != LAZ_LOOK_FOLDER)
        return laz_error_set(err, LAZ_EPLUGIN, 0, "%s: not a folder", path);
    rc = trust_owner_and_mode(path, &look, err);
    if (rc)
        return rc;
    copy = laz_strdup(path);
    if (!copy)
        return laz_error_nomem(err);
    rc = trust_ancestors(copy, err);
    free(copy);
    return rc;
}

/* The folder of the file at `path`. */
static int trust_folder_of(const char *path, struct laz_error *err)
{
    char *copy = laz_strdup(path);

    if (!copy)
        return laz_error_nomem(err);
    char *slash = strrchr(copy, '/');
    slash[slash == copy] = '\0';
    int rc = trust_folder_at(copy, err);
    free(copy);
    return rc;
}

static int trust_file_at(const char *path, struct laz_error *err)
{
    struct laz_look look;
    int rc;

    /* Opened, not only looked at: the words of the system for a file that cannot be read. */
    int fd = laz_os_open_file(path, false, &look);
    if (fd < 0)
        return laz_error_set(err, LAZ_EPLUGIN, errno, "%s: %s", path, strerror(errno));
    if (look.kind != LAZ_LOOK_FILE)
        rc = laz_error_set(err, LAZ_EPLUGIN, 0, "%s: not a regular file", path);
    else
        rc = trust_owner_and_mode(path, &look, err);
    laz_os_close(&fd);
    return rc ? rc : trust_folder_of(path, err);
}

/* Runs a check on the path and, when links lead elsewhere, on where they lead. */
static int trust_both(const char *path, int (*check)(const char *path, struct laz_error *err),
                      struct laz_error *err)
{
    if (!laz_os_is_absolute(path))
        return laz_error_set(err, LAZ_EPLUGIN, 0, "%s: not an absolute path", path);
    int rc = check(path, err);
    if (rc)
        return rc;
    char *real = laz_os_real_path(path);
    if (!real)
        return laz_error_set(err, LAZ_EPLUGIN, errno, "%s: %s", path, strerror(errno));
    if (strcmp(real, path) != 0)
        rc = check(real, err);
    free(real);
    return rc;
}

int laz_trust_file(const char *path, struct laz_error *err)
{
    return trust_both(path, trust_file_at, err);
}

int laz_trust_folder(const char *path, struct laz_error *err)
{
    return trust_both(path, trust_folder_at, err);
}
