/* SPDX-License-Identifier: MIT */
/* runtime_directory.h - the directory of an engine, for the sockets and files of its sessions. */
#ifndef LAZ_OS_RUNTIME_DIRECTORY_H
#define LAZ_OS_RUNTIME_DIRECTORY_H

#include "base/error.h"

/* Makes /tmp/lazaret-XXXXXXXX (mode 0700; 0711 when root, so that sessions with a uid of their own
 * can pass), takes a lock in it, and removes directories of this kind that belong to this uid and
 * are not locked. *lock_fd stays open while the directory is in use. The caller frees *path. */
int laz_os_runtime_directory(char **path, int *lock_fd, struct laz_error *err);

#endif
