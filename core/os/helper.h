/* SPDX-License-Identifier: MIT */
/* helper.h - a program of ours that runs beside untrusted code, and is no child of its process. */
#ifndef LAZ_OS_HELPER_H
#define LAZ_OS_HELPER_H

#include <stdbool.h>
#include <stdint.h>

/* Starts a program, whose standard input and output these become; its standard error is /dev/null,
 * its environment empty, and its signals as a program finds them. It is a child of the caller's
 * parent, which has to wait for any child. False: it cannot be started. Linux only. */
bool laz_os_helper_start(const char *program, const char *const *argv, int input, int output);
/* Makes a pipe with a name, for this user alone: a descriptor that can read and write, or -1. */
int laz_os_make_named_pipe(const char *path);

#endif
