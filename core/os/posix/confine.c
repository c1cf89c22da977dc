/* SPDX-License-Identifier: MIT */
/* confine.c - what a process of ours that talks to strangers can do: read, write, accept.
 * System: POSIX; the filter is Linux's.
 *
 * All files were read, and its connections made, before.  From here on a fault in what parses TLS
 * is worth the keys of that process, and the bytes of those who are connected, but neither a file,
 * nor a process, nor another connection. */
#include "os/confine.h"

#include "os/current_process.h"
#include "os/filter.h"
#include "os/namespaces.h"
#include "os/users.h"

int laz_os_confine_helper(struct laz_error *err)
{
    int rc = laz_os_no_new_privs(err);

    if (!rc)
        rc = laz_os_set_limit("core", 1, err); /* as core/agent/confine.c has it */
    if (!rc && laz_os_is_root())
        rc = laz_os_drop_capabilities(err);
    if (!rc)
        laz_os_set_open(false); /* a box may have the same user */
#ifdef LAZ_FILTER
    if (!rc)
        rc = laz_os_filter(LAZ_FILTER_GATE, err);
#endif
    return rc;
}
