/* SPDX-License-Identifier: MIT */
/* raw.h - the terminal of this process, while another terminal stands for it.
 *
 * One at a time: handlers of signals have no argument of ours. */
#ifndef LAZ_OS_POSIX_RAW_H
#define LAZ_OS_POSIX_RAW_H

#include <stdbool.h>

/* From now on every key of the terminal that is standard input is a byte (cfmakeraw(3)), and the
 * terminal `to` (its master) has the size of `from`, also when that changes; -1: there is none.
 * Handlers of signals put the keys back before a signal ends or stops this process. */
void laz_posix_raw_begin(int from, int to);
/* It is as it was, and keys that nobody has read are thrown away. No effect without the call
 * above. */
void laz_posix_raw_end(void);
/* It is as it was for a while, or raw again. Safe in a signal handler. No effect without a terminal
 * that is raw. */
void laz_posix_raw_hold(bool is_held);

#endif
