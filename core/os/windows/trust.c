/* SPDX-License-Identifier: MIT */
/* trust.c - files on which this process relies.  System: Windows.
 * Side: host.  Input trusted: yes (the user sets the access lists, docs/platforms.md).
 *
 * Access lists decide who may write, which files below a user's profile or the directory of
 * programs inherit; they are not judged here.  Only the kind of the file is checked. */
#include "os/trust.h"

#include "os/files.h"
#include "os/paths.h"

#include <string.h>

static int trust_is_there(const char *path, enum laz_look_kind kind, struct laz_error *err)
{
    struct laz_look look;

    if (!laz_os_is_absolute(path))
        return laz_error_set(err, LAZ_EREFUSED, 0, "%s: not an absolute path", path);
    int failed = laz_os_look(path, true, &look);
    if (failed)
        return laz_error_os(err, failed, "%s", path);
    if (look.kind != kind)
        return laz_error_set(err, LAZ_EREFUSED, 0, "%s: not a %s", path,
                             kind == LAZ_LOOK_DIRECTORY ? "directory" : "regular file");
    return 0;
}

int laz_trust_file(const char *path, struct laz_error *err)
{
    return trust_is_there(path, LAZ_LOOK_FILE, err);
}

int laz_trust_directory(const char *path, struct laz_error *err)
{
    return trust_is_there(path, LAZ_LOOK_DIRECTORY, err);
}

int laz_trust_read(const char *path, size_t max, struct laz_buf *buf, struct laz_error *err)
{
    return laz_os_read_file(path, max, buf, err);
}

int laz_trust_secret(const char *path, size_t max, struct laz_buf *buf, struct laz_error *err)
{
    return laz_trust_read(path, max, buf, err); /* access lists are not judged here */
}
