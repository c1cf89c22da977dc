/* SPDX-License-Identifier: MIT */
/* descriptors.h - closing ranges of descriptors, also between fork and exec. */
#ifndef LAZ_OS_LINUX_DESCRIPTORS_H
#define LAZ_OS_LINUX_DESCRIPTORS_H

#include <stdbool.h>

/* Closes every open descriptor from `first` to `last`; false: some may still be open.
 * Async-signal-safe: no allocation, no lock. */
bool laz_os_close_range(unsigned first, unsigned last);

#endif
