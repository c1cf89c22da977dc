/* SPDX-License-Identifier: MIT */
/* io.h - what to wait for until a descriptor of Windows can be read or written. */
#ifndef LAZ_OS_WINDOWS_IO_H
#define LAZ_OS_WINDOWS_IO_H

#include "os/windows/descriptors.h"

/* A handle that becomes signalled when the descriptor can be read from (written to); it starts the
 * overlapped call that signals it. Borrowed. */
HANDLE laz_windows_wait_handle(struct fds_entry *entry, bool write);

#endif
