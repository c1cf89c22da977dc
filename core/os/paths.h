/* SPDX-License-Identifier: MIT */
/* paths.h - where paths lead, who may use them, and where lazaret's own files are. */
#ifndef LAZ_OS_PATHS_H
#define LAZ_OS_PATHS_H

#include <stdbool.h>
#include <stdint.h>

/* The absolute path without links; NULL with errno. The caller frees it. */
char *laz_os_real_path(const char *path);
/* Visits each symbolic link on the way to `path`, in the order in which they are met: its own path,
 * without links above it, and its text. It stops where the way cannot be read. */
void laz_os_links(const char *path, void (*visit)(void *user, const char *link, const char *text),
                  void *user);
bool laz_os_can_execute(const char *path); /* a regular file that this process may execute */
/* Can a process with this uid, and in no group of ours, open the path for reading (execute)? Each
 * directory above it and the file are judged by mode and owner. */
bool laz_os_is_reachable(const char *path, uint32_t uid, bool execute);
bool laz_os_is_writable(const char *path, uint32_t uid); /* the same for writing */
bool laz_os_is_absolute(const char *path);               /* NULL is not */
extern const char laz_os_list_separator[];               /* between the paths of a list: ":", ";" */
/* Where a configuration file may be when none was named, the user's own first, then that of the
 * machine: the nth, a new string or NULL (a variable is not set, or is not a path). False past the
 * last. */
bool laz_os_config_place(int place, char **path);
/* The file of this program, absolute and without links: a new string, or NULL with errno. */
char *laz_os_own_program(void);
/* A path as programs of this system write it ('\\' between its parts on Windows), in place. */
void laz_os_native_path(char *path);
/* Where a build installs its files, absolute paths. */
struct laz_layout {
    const char *prefix, *bindir, *libdir;
    const char *mark; /* a file that each installation has */
};

/* Where a file of this build is that was installed at `path`: there, or, if the installation with
 * this code (the program or the library) has been moved as a whole, in that one.  On Linux it has
 * been moved if its file is in a directory that corresponds to bindir or libdir, and `mark` is
 * where it should be beside it; on Windows programs and libraries are in "bin", and may be
 * anywhere; on macOS no installation moves.  What is found has to be trusted like any other file
 * (os/trust.h).  A new string; NULL: out of memory. */
char *laz_os_installed(const struct laz_layout *layout, const char *path);

#endif
