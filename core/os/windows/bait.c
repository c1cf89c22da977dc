/* SPDX-License-Identifier: MIT */
/* bait.c - listeners to test a session with are not available.  System: Windows. */
#include "os/bait.h"

/* They would be used only where a backend promises that a session cannot reach them. */
int laz_os_bait_port(int *fd, uint16_t *port, struct laz_error *err)
{
    (void)fd;
    (void)port;
    return laz_error_set(err, LAZ_EREFUSED, 0,
                         "no backend of Windows prevents access to the network");
}

int laz_os_bait_socket(const char *path, int *fd, struct laz_error *err)
{
    (void)fd;
    return laz_error_set(err, LAZ_EREFUSED, 0, "%s: there are no sockets with a path", path);
}
