/* SPDX-License-Identifier: MIT */
/* files.h - calls for files in which Linux and macOS differ, and reading an open file. */
#ifndef LAZ_OS_POSIX_FILES_H
#define LAZ_OS_POSIX_FILES_H

#include <stddef.h>

struct laz_buf;
struct laz_error;
struct stat;
struct timespec;

/* When a file was written, and when anything of it was changed, as exactly as the system knows. */
void laz_posix_times(const struct stat *st, struct timespec *written, struct timespec *changed);
/* What was written is on the disk when this returns: 0, or an errno. */
int laz_posix_sync(int fd);
/* Whole content of a file from here on, at most `max` bytes; `path` for errors. */
int laz_posix_read_all(int fd, const char *path, size_t max, struct laz_buf *buf,
                       struct laz_error *err);

#endif
