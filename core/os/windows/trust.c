/* SPDX-License-Identifier: MIT */
/* trust.c - files on which this process relies.  System: Windows.
 * Side: host.  Input trusted: yes (access lists are the user's own to set, docs/platforms.md).
 *
 * Who may write is said by access lists, which what lies below a user's profile or the folder of
 * programs inherits; they are not judged here.  What is there has to be what it is taken for. */
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
                             kind == LAZ_LOOK_FOLDER ? "folder" : "regular file");
    return 0;
}

int laz_trust_file(const char *path, struct laz_error *err)
{
    return trust_is_there(path, LAZ_LOOK_FILE, err);
}

int laz_trust_folder(const char *path, struct laz_error *err)
{
    return trust_is_there(path, LAZ_LOOK_FOLDER, err);
}

int laz_trust_read(const char *path, size_t max, struct laz_buf *buf, struct laz_error *err)
{
    return laz_os_read_file(path, max, buf, err);
}
