/* SPDX-License-Identifier: MIT */
/* signals.h - waiting for signals, in which Linux and macOS differ. */
#ifndef LAZ_OS_POSIX_SIGNALS_H
#define LAZ_OS_POSIX_SIGNALS_H

#include <signal.h>
#include <stdint.h>

/* Takes one of these signals, which every thread blocks: its number; 0: none came within `ms`
 * milliseconds. */
int laz_posix_await_signal(const sigset_t *signals, uint64_t ms);

#endif
