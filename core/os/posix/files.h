/* SPDX-License-Identifier: MIT */
/* files.h - files and directories: calls in which Linux and macOS differ, and what several files
 * use on both. */
#ifndef LAZ_OS_POSIX_FILES_H
#define LAZ_OS_POSIX_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAZ_POSIX_LINKS 40 /* on one way, as the kernel follows, path_resolution(7) */

struct laz_buf;
struct laz_error;
struct laz_look;
struct stat;
struct timespec;

/* When a file was written, and when anything of it was changed, as exactly as the system knows. */
void laz_posix_times(const struct stat *st, struct timespec *written, struct timespec *changed);
/* What has this name in a directory (a link is not followed), and what is open: 0, or an errno. */
int laz_posix_look_at(int fd, const char *name, struct laz_look *look);
int laz_posix_look_of(int fd, struct laz_look *look);
/* Gives an open file this mode, unless it has it: a filter of system calls may refuse that. 0, or -1
 * with errno. */
int laz_posix_set_mode(int fd, unsigned mode);
/* What was written is on the disk when this returns: 0, or an errno. */
int laz_posix_sync(int fd);
/* Whole content of a file from here on, at most `max` bytes; `path` for errors. */
int laz_posix_read_all(int fd, const char *path, size_t max, struct laz_buf *buf,
                       struct laz_error *err);
/* Does this path, whose last part is not followed, lead to the open file, whose attributes are in
 * *st? False with errno 0: another one has the name by now. */
bool laz_posix_is_named(int fd, const char *path, struct stat *st);
/* Opens and locks (flock(2)) a directory of this user, without waiting; -1: it is another user's,
 * it is locked, or another one has the name by now. */
int laz_posix_lock_directory(const char *path, int how);
/* The directory of `*name`, a path below `directory`, through no link below that; *name is then its
 * last part. A descriptor, or -1 with errno. */
int laz_posix_walk_to(const char *directory, const char **name);
/* The path with the links of its directories resolved, but not that of its last part: a new string,
 * or NULL with errno. */
char *laz_posix_canonical(const char *path);

/* The file with this code, without links: the program's, or that of the library in an application.
 * A new string, or NULL with errno; ENOENT: that is not known, or a program that is set-id asks. */
char *laz_posix_own_file(void);

/* Undoes what an owner has done to keep something from being removed: gives all rights to a
 * directory, clears flags where an owner can set them (macOS). Never through a link. False: it
 * could do nothing that helps. */
bool laz_posix_unlock(int parent, const char *name);

/* For the rule for trusted files (os/trust.h): a descriptor of a directory, to look at what is
 * below it; never through a link. -1: errno. */
int laz_posix_enter(int parent, const char *name);
/* May other users write it by an access list, whose rights the mode shows as the group's? True also
 * when that is not known. */
bool laz_posix_has_acl(int parent, const char *name);
/* A group whose members may do what root may. */
bool laz_posix_is_root_group(uint32_t gid);

#endif
