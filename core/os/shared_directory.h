/* SPDX-License-Identifier: MIT */
/* shared_directory.h - a directory that the engines of one user share. */
#ifndef LAZ_OS_SHARED_DIRECTORY_H
#define LAZ_OS_SHARED_DIRECTORY_H

/* The directory, in which programs can be executed and which sessions of root can pass. NULL: there
 * is not a place for one. The caller frees it. */
char *laz_os_shared_directory(void);
/* A descriptor that keeps a directory in it from being removed; -1: it does not exist, or another
 * user could have changed it. */
int laz_os_shared_use(const char *path);
/* A name in it for what is being made and gets its final name by rename(2). NULL: none. */
char *laz_os_shared_draft(const char *parent);
void laz_os_shared_clean(
    const char *parent); /* removes what is not in use, and was not for a day */

#endif
