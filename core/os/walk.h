/* SPDX-License-Identifier: MIT */
/* walk.h - the files below a directory that somebody else may change meanwhile.
 *
 * No link is followed on the way, below the directory or in its place, and nothing but a regular
 * file is opened: a pipe or a device of that name neither blocks nor is touched. */
#ifndef LAZ_OS_WALK_H
#define LAZ_OS_WALK_H

#include "os/files.h"

#define LAZ_WALK_DEPTH 8     /* directories below each other */
#define LAZ_WALK_MOST  65536 /* names that are looked at */

/* Visits what is below `directory` and no directory itself, each directory in the order of its
 * names: `name` is the path below it, with slashes. `at_top`: what is in `directory` itself alone.
 * `visit` may end it by false. 0 or an errno: ENOENT, ENOTDIR; EOVERFLOW when it was ended by one
 * of the bounds above. */
int laz_os_walk(const char *directory, bool at_top,
                bool (*visit)(void *user, const char *name, const struct laz_look *look),
                void *user);
/* Opens the file at this path below `directory` to read it, and says what it is now. -1 with errno:
 * it cannot be opened, or is not a regular file any more (EINVAL). */
int laz_os_walk_open(const char *directory, const char *name, struct laz_look *look);
/* A descriptor of this process by which a regular file is written, as its `device` and `inode` tell
 * (laz_os_look). */
struct laz_written_file {
    int fd;
    uint64_t device, inode;
};
/* Lists these descriptors, at most `most`: how many. None on Windows. */
size_t laz_os_written_files(struct laz_written_file *files, size_t most);
/* Makes a file at this path below `directory`, with the directories on the way to it. EEXIST: there
 * is something of that name, or of a name on the way, which is not changed. 0 or an errno. */
int laz_os_walk_make(const char *directory, const char *name, const void *data, size_t len);
/* Has a directory show whether anything was made or removed in it since: then the time at which it
 * was written (laz_os_look) is no longer *written_ns, however coarsely its file system counts.
 * False: it does not show it. */
bool laz_os_watch_directory(const char *path, int64_t *written_ns);
/* Makes a file of this mode to write to, in place of one of that name: a descriptor, or -1 with
 * errno. */
int laz_os_replace_file(const char *path, unsigned mode);

#endif
