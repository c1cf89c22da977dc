/* SPDX-License-Identifier: MIT */
/* confine.c - what the process that talks to strangers can do: read, write, accept.
 * Side: gate.  Input trusted: -.
 *
 * All files were read, and the connections of a client made, before.  From here on a fault in what
 * parses TLS is worth the key of the server, and the bytes of its clients, but neither a file, nor
 * a process, nor another connection. */
#include "gate/gate_private.h"

#include "os/current_process.h"
#include "os/filter.h"
#include "os/namespaces.h"
#include "os/users.h"

int gate_confine(struct laz_error *err)
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
