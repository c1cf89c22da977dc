/* SPDX-License-Identifier: MIT */
/* programs.h - where programs are, and which files starting one needs. */
#ifndef LAZ_OS_PROGRAMS_H
#define LAZ_OS_PROGRAMS_H

#include "base/error.h"

/* Absolute path of a program: `name` itself when absolute, else searched in /usr/local/bin,
 * /usr/bin, /bin, /usr/sbin, /sbin and the like; never in PATH, never in the current directory.
 * Gives a new string; LAZ_ENOENT. */
int laz_os_find_program(const char *name, char **path, struct laz_error *err);
/* What has been found out for one program and holds for the next ones of a list, too: where the
 * last directory leads, and which loader was followed. Begins as zeros. */
struct laz_program_known {
    char *directory, *real, *loader;
};
void laz_os_program_known_fini(struct laz_program_known *known);
/* Visits what starting the program at an absolute path needs: LAZ_PATH_SYMLINK (`box` is a link to
 * the text `host`) for every link on the way, LAZ_PATH_READ for the file itself, the interpreter of
 * a script, the loader of a binary; and for a directory the directory. Paths have no link but in
 * their last part. `visit` returns whether that was new: what is known is not followed again.
 * `known`: the same for all programs that are visited by the same `visit`; NULL: for this one.
 * Errors: LAZ_ENOENT naming what is missing or not executable. */
int laz_os_program_parts(const char *path,
                         bool (*visit)(void *user, uint32_t kind, const char *host,
                                       const char *box),
                         void *user, struct laz_program_known *known, struct laz_error *err);
/* Runs a program in place of this one, with its standard streams and its environment (POSIX):
 * returns only where that is not possible. LAZ_EOS. */
int laz_os_become(const char *program, const char *const *argv, struct laz_error *err);
/* Visits directories of programs, whether they exist or not; `among_libraries`: one that exists in
 * a directory of libraries (/usr/lib/git-core). */
void laz_os_program_directories(void (*visit)(void *user, const char *path, bool among_libraries),
                                void *user);

#endif
