/* SPDX-License-Identifier: MIT */
/* directories.h - making, listing and removing directories. */
#ifndef LAZ_OS_DIRECTORIES_H
#define LAZ_OS_DIRECTORIES_H

#include "base/buf.h"
#include "base/error.h"
#include "os/users.h"

/* Makes a directory with exactly this mode and owner (LAZ_OS_SAME_ID: the process's own). */
int laz_os_make_directory(const char *path, unsigned mode, uint32_t uid, uint32_t gid,
                          struct laz_error *err);
/* Appends the names of at most `most` entries, sorted, without "." and "..". LAZ_ETOOBIG: there are
 * more, of which some were appended. */
int laz_os_list_some(const char *at, size_t most, struct laz_strv *names, struct laz_error *err);
/* The same of all entries. */
static inline int laz_os_list_directory(const char *at, struct laz_strv *names,
                                        struct laz_error *err)
{
    return laz_os_list_some(at, SIZE_MAX, names, err);
}
void laz_os_remove_tree(const char *at);       /* follows no link; errors are ignored */
bool laz_os_can_execute_below(const char *at); /* its file system is not mounted noexec */

#endif
