/* SPDX-License-Identifier: MIT */
/* file.c - the file that is edited: read through its links, kept beside it, and replaced as a
 * whole. Side: host.  Input trusted: no.
 *
 * The new text is written beside the file and takes its name when it is on the disk, so at no
 * moment is there half a file.  A copy of what was there is made first; it never replaces an older
 * copy. */
#include "edit/edit.h"

#include "os/directories.h"
#include "os/files.h"
#include "os/paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BACKUPS 1000 /* FILE.bak, FILE.bak.1, ... */
#define FILE_LEVELS  8    /* directories that are made */

int laz_edit_file_read(struct laz_edit_file *file, const char *path, struct laz_error *err)
{
    struct laz_look look;

    *file = (struct laz_edit_file){.text = LAZ_BUF_INIT};
    int failed = laz_os_look(path, false, &look);
    if (failed == ENOENT) {
        file->path = laz_strdup(path);
        return file->path ? 0 : laz_error_nomem(err);
    }
    file->path = failed ? NULL : laz_os_real_path(path);
    if (!file->path && !failed && errno == ENOENT)
        return laz_error_set(err, LAZ_ENOENT, 0, "%s is a link to a file that does not exist",
                             path);
    if (!file->path)
        return laz_error_os(err, failed ? failed : errno, "the file %s cannot be used", path);
    failed = laz_os_look(file->path, true, &look);
    if (failed)
        return laz_error_os(err, failed, "the file %s cannot be used", file->path);
    if (look.kind != LAZ_LOOK_FILE)
        return laz_error_set(err, LAZ_EINVAL, 0, "%s is %s", file->path,
                             look.kind == LAZ_LOOK_DIRECTORY ? "a directory"
                                                             : "not a regular file");
    file->exists = true;
    file->mode = look.mode;
    file->inode = look.inode;
    file->size = look.size;
    file->written_ns = look.written_ns;
    return laz_os_read_file(file->path, LAZ_EDIT_MAX_SIZE, &file->text, err);
}

/* Makes the directory of a new file, and those above it. */
static int file_directory(const char *path, unsigned mode, struct laz_error *err)
{
    char *missing[FILE_LEVELS];
    struct laz_look look;
    size_t n = 0;
    int rc = 0;

    for (const char *from = path, *end; n < FILE_LEVELS && (end = strrchr(from, '/')) > path; n++) {
        missing[n] = laz_strndup(path, (size_t)(end - path));
        if (!missing[n] || laz_os_look(missing[n], true, &look) == 0) {
            rc = missing[n] ? 0 : laz_error_nomem(err);
            free(missing[n]);
            break;
        }
        from = missing[n];
        path = missing[n];
    }
    while (n-- > 0) {
        if (!rc)
            rc = laz_os_make_directory(missing[n], mode, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, err);
        free(missing[n]);
    }
    return rc;
}

/* A copy beside the file. */
static int file_keep(const struct laz_edit_file *file, char **backup, struct laz_error *err)
{
    struct laz_look look;

    for (int i = 0; i < FILE_BACKUPS; i++) {
        char *path =
            i ? laz_strdupf("%s.bak.%d", file->path, i) : laz_strdupf("%s.bak", file->path);
        if (!path)
            return laz_error_nomem(err);
        if (laz_os_look(path, false, &look) == ENOENT) {
            int rc =
                laz_os_write_file(path, laz_buf_text(&file->text), file->text.len, file->mode, err);
            if (!rc)
                *backup = path;
            else
                free(path);
            return rc;
        }
        free(path);
    }
    return laz_error_set(err, LAZ_EINVAL, 0, "there are %d copies of %s: remove some of %s.bak.*",
                         FILE_BACKUPS, file->path, file->path);
}

int laz_edit_file_write(const struct laz_edit_file *file, const struct laz_buf *text,
                        bool is_project, char **backup, struct laz_error *err)
{
    struct laz_look look;
    int rc;

    *backup = NULL;
    if (!file->exists) {
        rc = file_directory(file->path, is_project ? 0755 : 0700, err);
        return rc ? rc
                  : laz_os_write_file(file->path, laz_buf_text(text), text->len,
                                      is_project ? 0644 : 0600, err);
    }
    rc = file_keep(file, backup, err);
    if (!rc && (laz_os_look(file->path, true, &look) || look.inode != file->inode ||
                look.size != file->size || look.written_ns != file->written_ns))
        rc = laz_error_set(err, LAZ_EINVAL, 0,
                           "another program has changed %s meanwhile; try again", file->path);
    if (!rc)
        rc = laz_os_rewrite_file(file->path, laz_buf_text(text), text->len, file->mode, err);
    if (rc && *backup) {
        laz_os_remove_tree(*backup);
        free(*backup);
        *backup = NULL;
    }
    return rc;
}

void laz_edit_file_fini(struct laz_edit_file *file)
{
    free(file->path);
    laz_buf_fini(&file->text);
}
