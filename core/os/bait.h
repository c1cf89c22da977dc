/* SPDX-License-Identifier: MIT */
/* bait.h - listeners that accept no connection, to test that a session cannot reach them. */
#ifndef LAZ_OS_BAIT_H
#define LAZ_OS_BAIT_H

#include "base/error.h"

/* They listen on a port of the loopback address, at a path (mode 0666) or, with '@' before its
 * name, in the abstract name space (LAZ_ENOENT: this system has none). */
int laz_os_bait_port(int *fd, uint16_t *port, struct laz_error *err);
int laz_os_bait_socket(const char *path, int *fd, struct laz_error *err);

#endif
