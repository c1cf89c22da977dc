/* SPDX-License-Identifier: MIT */
/* unsupported.c - answers for what only Windows has.  System: POSIX. */
#include "os/unsupported.h"

#include "os/library.h"
#include "os/paths.h"
#include "os/process.h"
#include "os/sockets.h"
#include "os/streams.h"

/* clang-format off */
GIVES(int, laz_os_take_end, -1, int listener)
GIVES(bool, laz_process_has, true, const struct laz_process *process, int64_t pid)
IGNORES(laz_os_native_path, char *path)
IGNORES(laz_os_raw_streams, void)
IGNORES(laz_library_secure, void)
/* clang-format on */
