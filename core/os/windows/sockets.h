/* SPDX-License-Identifier: MIT */
/* sockets.h - pipes of which both ends are made in this process. */
#ifndef LAZ_OS_WINDOWS_SOCKETS_H
#define LAZ_OS_WINDOWS_SOCKETS_H

#include "os/windows/text.h"

#include <stdbool.h>

/* Both ends of a new pipe, neither of which is inherited: ours is for overlapped calls, theirs too
 * when it goes both ways; else theirs is for plain writing. */
int laz_windows_pipe(bool both_ways, HANDLE *ours, HANDLE *theirs, struct laz_error *err);

#endif
