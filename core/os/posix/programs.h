/* SPDX-License-Identifier: MIT */
/* programs.h - what a POSIX system knows of its programs: their loader, their directories. */
#ifndef LAZ_OS_POSIX_PROGRAMS_H
#define LAZ_OS_POSIX_PROGRAMS_H

#include <stddef.h>

/* What the system executes for a binary at `path`, open as `fd` and beginning with the `n` bytes of
 * `head`, in `text`; "" when it needs nothing. */
void laz_programs_loader(const char *path, int fd, const char *head, size_t n, char *text,
                         size_t size);

/* Directories of programs, and patterns (glob(3)) of those among the libraries, where boxes see
 * them unless they are hidden. Both end with NULL. */
extern const char *const laz_programs_directories[];
extern const char *const laz_programs_among_libraries[];

#endif
