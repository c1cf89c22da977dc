/* SPDX-License-Identifier: MIT */
/* bait.c - there are no listeners to test a session with.  System: Windows. */
#include "os/bait.h"

/* What must not be reached is tried where a backend promises that it is not. */
int laz_os_bait_port(int *fd, uint16_t *port, struct laz_error *err)
{
    (void)fd;
    (void)port;
    return laz_error_set(err, LAZ_EREFUSED, 0, "no backend of Windows keeps the network away");
}

int laz_os_bait_socket(const char *path, int *fd, struct laz_error *err)
{
    (void)fd;
    return laz_error_set(err, LAZ_EREFUSED, 0, "%s: there are no sockets with a path", path);
}
