/* SPDX-License-Identifier: MIT */
/* directories.h - removing what its owner has protected, in which Linux and macOS differ. */
#ifndef LAZ_OS_POSIX_DIRECTORIES_H
#define LAZ_OS_POSIX_DIRECTORIES_H

#include <stdbool.h>

/* Undoes what an owner has done to keep something from being removed: gives all rights to a
 * directory, clears flags where an owner can set them (macOS). Never through a link. False: it
 * could do nothing that helps. */
bool laz_posix_unlock(int parent, const char *name);

#endif
