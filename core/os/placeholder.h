/* SPDX-License-Identifier: MIT */
/* placeholder.h - what stands for a missing path as long as something is to be mounted there.
 *
 * mount(2) needs something to mount on.  A placeholder is an empty directory, which no file of a
 * user is taken for and git does not report, or a file with a given text.  Its time (mtime) marks
 * it, and everybody who uses it holds a lock on it (flock(2)): the last one removes it, of whatever
 * process.  One that a killed process has left is used by the next who needs it, and then removed
 * as well. */
#ifndef LAZ_OS_PLACEHOLDER_H
#define LAZ_OS_PLACEHOLDER_H

#include "base/error.h"
#include "os/files.h"

bool laz_os_is_placeholder(const struct laz_look *look);
/* Makes or uses the placeholder `name` below `directory`, through no link below it. `text`: of a
 * file; NULL: a directory. *fd holds it. LAZ_EOS: it cannot be made, or something else is there. */
int laz_os_placeholder_take(const char *directory, const char *name, const char *text, int *fd,
                            struct laz_error *err);
/* It is used no more: closes *fd, and removes it unless it is still used, or is one no more. */
void laz_os_placeholder_drop(const char *directory, const char *name, int *fd);
/* Keeps what is there now: its identity (laz_os_look) is that of nothing else as long as the
 * descriptor is open. -1: not possible. */
int laz_os_hold(const char *path);

#endif
