/* SPDX-License-Identifier: MIT */
/* landlock.h - Landlock (landlock(7)): what the calling thread, and every process that it makes
 * from then on, may do with files, with TCP and with processes outside.
 *
 * It cannot be undone and needs no privilege but no_new_privs.  Files that are already open stay
 * usable.  It does not govern metadata (stat, chmod, chown, utimes, extended attributes), changes
 * of the working directory, nor Unix sockets with a path: the filter of system calls has to. */
#ifndef LAZ_OS_LANDLOCK_H
#define LAZ_OS_LANDLOCK_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAZ_LANDLOCK_READ     1u /* 'r': read files, list directories */
#define LAZ_LANDLOCK_WRITE    2u /* 'w': change, make, rename, remove; a device: ioctl(2) too */
#define LAZ_LANDLOCK_EXEC     4u /* 'x': execve(2), also of a loader or interpreter of scripts */
#define LAZ_LANDLOCK_DEV      8u /* 'd': read and write existing files, no ioctl(2), make nothing */
#define LAZ_LANDLOCK_TERMINAL 16u /* 't': the same with ioctl(2), devices to come included */

/* The letters of `rights` (LAZ_LANDLOCK_*), and back; 0: a letter is not known. `text` has room for
 * 6. */
void laz_landlock_letters(uint32_t rights, char *text);
uint32_t laz_landlock_rights(const char *letters);

struct laz_landlock_rule {
    const char *path; /* a file, or a directory with all below it */
    uint32_t rights;  /* LAZ_LANDLOCK_* */
    bool optional;    /* no error when it does not exist or cannot be reached */
};

#define LAZ_LANDLOCK_SCOPE_ABI 6 /* signals and abstract sockets, Linux 6.12 */

/* The version of the kernel's interface; 0: it has none, or a filter around this process refuses
 * it. */
int laz_os_landlock_abi(void);

/* Makes a set of `rules`; everything else that version `abi` knows is refused. The kernel may be
 * newer, not older (LAZ_ESETUP). *ruleset: a descriptor, which the caller owns; it is also valid in
 * copies of the process (fork(2)). */
int laz_os_landlock_make(int abi, const struct laz_landlock_rule *rules, size_t n, int *ruleset,
                         struct laz_error *err);
/* Confines the calling thread to a set. */
int laz_os_landlock_enter(int ruleset, struct laz_error *err);

#endif
