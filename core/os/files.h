/* SPDX-License-Identifier: MIT */
/* files.h - what is at a path; whole files, read, written and copied. */
#ifndef LAZ_OS_FILES_H
#define LAZ_OS_FILES_H

#include "base/buf.h"
#include "base/error.h"

/* What is at a path. */
enum laz_look_kind { LAZ_LOOK_FILE, LAZ_LOOK_DIRECTORY, LAZ_LOOK_LINK, LAZ_LOOK_OTHER };
struct laz_look {
    enum laz_look_kind kind;
    unsigned mode; /* permissions, 07777 as in chmod(1) */
    uint32_t uid, gid;
    uint64_t device, inode; /* equal for the same file under any name */
    uint64_t size;
    int64_t written_ns, changed_ns; /* of its content, of anything (mtime and ctime, inode(7)) */
};
/* 0, or an errno: ENOENT when there is nothing. `follow`: follows links, also the last. */
int laz_os_look(const char *path, bool follow, struct laz_look *look);
/* A descriptor to read a file unchanged, and what is there; -1 with errno. `wait`: waits until
 * another process opens a pipe of that name for writing. */
int laz_os_open_file(const char *path, bool wait, struct laz_look *look);
/* Makes a symbolic link with this text. 0 or an errno. */
int laz_os_make_link(const char *path, const char *text);
/* The text of a symbolic link, a new string; NULL: it is none, or cannot be read. */
char *laz_os_link_text(const char *path);
int laz_os_write_file(const char *path, const void *data, size_t len, unsigned mode,
                      struct laz_error *err); /* creates; fails when it exists */
/* Replaces the content of a file that exists, at a path without links, by another file that takes
 * its name when it is on the disk: at no moment there is a part of it. The owner stays, and the
 * mode is `mode`; access lists do not. An error has changed nothing. */
int laz_os_rewrite_file(const char *path, const void *data, size_t len, unsigned mode,
                        struct laz_error *err);
/* Whole content of a regular file, at most `max` bytes. */
int laz_os_read_file(const char *path, size_t max, struct laz_buf *buf, struct laz_error *err);
int laz_os_copy_file(const char *from, const char *to, unsigned mode, struct laz_error *err);

#endif
