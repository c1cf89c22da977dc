/* SPDX-License-Identifier: MIT */
/* descriptors.h - descriptors on Linux and macOS: above the standard streams, closed by exec. */
#ifndef LAZ_OS_POSIX_DESCRIPTORS_H
#define LAZ_OS_POSIX_DESCRIPTORS_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>

/* Every descriptor that is made passes through here at once: one that got the number 0, 1 or 2,
 * because the application has that one closed, gets one above them, closed by exec, and is -1 with
 * errno if there is none. -1 stays what it is. What the application, or a library in it, writes to
 * its standard output must not arrive in a channel or a log of ours. */
int laz_posix_above(int fd);
/* The same for both that a call has `made`, if that is 0. 0, or -1 with errno: neither is open. */
int laz_posix_above_both(int made, int ends[2]);
/* To read a directory, or a text; NULL with errno. */
DIR *laz_posix_opendir(const char *path);
FILE *laz_posix_fopen(const char *path);
/* How often these three have failed in this thread because something was used up (EMFILE, ENFILE,
 * ENOMEM): who takes a failure for "it is gone" compares two of these numbers. */
unsigned laz_posix_shortages(void);
/* A pipe, closed by exec, from its first moment where the system can. 0, or -1 with errno. */
int laz_posix_pipe(int ends[2]);
/* Linux: closes every open descriptor from `first` to `last`; false: some may still be open.
 * Async-signal-safe: no allocation, no lock. */
bool laz_os_close_range(unsigned first, unsigned last);

#endif
