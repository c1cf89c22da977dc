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

#define LAZ_LANDLOCK_READ     1u /* 'r': read files, list directories */
#define LAZ_LANDLOCK_WRITE    2u /* 'w': change, make, rename, remove; a device: ioctl(2) too */
#define LAZ_LANDLOCK_EXEC     4u /* 'x': execve(2), also of a loader or interpreter of scripts */
#define LAZ_LANDLOCK_DEV      8u /* 'd': read and write existing files, no ioctl(2), make nothing */
#define LAZ_LANDLOCK_TERMINAL 16u /* 't': the same with ioctl(2), devices to come included */
#define LAZ_LANDLOCK_LIST     32u /* 'l': list directories */

/* The letters of `rights` (LAZ_LANDLOCK_*), and back; 0: a letter is not known. `text` has room for
 * 7. */
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

/* What rules name, opened once by a process of which copies are made (fork(2)): each copy makes its
 * set with these in place of paths. They have the numbers from LAZ_LANDLOCK_KEPT_FIRST on, which is
 * above what a copy uses itself: its limit of descriptors may be low. */
#define LAZ_LANDLOCK_KEPT_FIRST 64
#define LAZ_LANDLOCK_KEPT_MOST  192

struct laz_landlock_opened;
struct laz_landlock_kept {
    struct laz_landlock_opened *of; /* one for each rule */
    size_t n_rules;
    int n_open;
};

/* Opens the paths that are `fixed`: they lead to the same files in each copy, whatever it mounts.
 * Left out are those that do not exist, that have links in them or another form than realpath(3)
 * gives, and those for which there is no number; LAZ_ENOMEM. */
int laz_os_landlock_keep(const struct laz_landlock_rule *rules, size_t n,
                         bool (*fixed)(const char *path, void *user), void *user,
                         struct laz_landlock_kept *kept, struct laz_error *err);
/* Before a copy is made: a path that leads to another file by now (a program that was replaced, or
 * put aside) is opened by the copies themselves from here on. */
void laz_os_landlock_check_kept(struct laz_landlock_kept *kept);
/* Closes every descriptor from `first` on (less than LAZ_LANDLOCK_KEPT_FIRST) but these. */
void laz_os_landlock_close_others(const struct laz_landlock_kept *kept, int first);
/* Closes these: no rule is made with them any more. False: some may be open. */
bool laz_os_landlock_close_kept(struct laz_landlock_kept *kept);

/* Makes a set of `rules`; everything else that version `abi` knows is refused, but, with
 * `lets_network`, to bind and connect sockets of TCP. The kernel may be newer, not older
 * (LAZ_ESETUP). `kept`: of the same rules; NULL or empty: each is opened by its
 * path. *ruleset: a descriptor, which the caller owns; it is also valid in copies of the process
 * (fork(2)). */
int laz_os_landlock_make(int abi, bool lets_network, const struct laz_landlock_rule *rules,
                         size_t n, const struct laz_landlock_kept *kept, int *ruleset,
                         struct laz_error *err);
/* Confines the calling thread to a set. */
int laz_os_landlock_enter(int ruleset, struct laz_error *err);

#endif
