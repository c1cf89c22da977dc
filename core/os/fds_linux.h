/* SPDX-License-Identifier: MIT */
/* fds_linux.h - closing ranges of descriptors, also between fork and exec. */
#ifndef LAZ_OS_FDS_LINUX_H
#define LAZ_OS_FDS_LINUX_H

#include <stdbool.h>

/* Closes every open descriptor from `first` to `last`; false: they may be open. Async-signal-safe:
 * no allocation, no lock. */
bool laz_os_close_range(unsigned first, unsigned last);

#endif
