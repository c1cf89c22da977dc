/* SPDX-License-Identifier: MIT */
/* unsupported.c - answers for what other systems have.  System: Windows.
 *
 * There are no uids, and sessions have the user of the host, also those of an administrator.
 * Engines share no directory: the files that would be staged in it for sessions need owners and
 * modes.  Listeners to test a session with would be used only where a backend promises that it
 * cannot reach them. */
#include "os/unsupported.h"

#include "os/bait.h"
#include "os/shared_directory.h"
#include "os/users.h"

#include <stddef.h>

/* clang-format off */
GIVES(bool, laz_os_is_root, false, void)
GIVES(uint32_t, laz_os_uid, 0, void)
GIVES(bool, laz_os_is_private_group, false, uint32_t gid, uint32_t uid)
GIVES(char *, laz_os_shared_folder, NULL, void)
GIVES(int, laz_os_shared_use, -1, const char *path)
GIVES(char *, laz_os_shared_draft, NULL, const char *parent)
IGNORES(laz_os_shared_clean, const char *parent)
/* clang-format on */

int laz_os_bait_port(int *fd, uint16_t *port, struct laz_error *err)
{
    return laz_error_set(err, LAZ_EREFUSED, 0,
                         "no backend of Windows prevents access to the network");
}

int laz_os_bait_socket(const char *path, int *fd, struct laz_error *err)
{
    return laz_error_set(err, LAZ_EREFUSED, 0, "%s: there are no sockets with a path", path);
}
