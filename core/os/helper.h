/* SPDX-License-Identifier: MIT */
/* helper.h - a program of ours that runs beside untrusted code, and is no child of its process. */
#ifndef LAZ_OS_HELPER_H
#define LAZ_OS_HELPER_H

#include <stdbool.h>
#include <stdint.h>

/* Starts a program, whose standard input and output these become, both closed here in any case; its
 * standard error is /dev/null, its environment empty, and its signals as a program finds them. It
 * is of the caller's session and its child until it has left (fork(2)), which
 * laz_os_helper_has_left waits for. False: it cannot be started. Linux only. */
bool laz_os_helper_start(const char *program, const char *const *argv, int input, int output,
                         int64_t *pid);
/* True: with status 0. */
bool laz_os_helper_has_left(int64_t pid);

#endif
