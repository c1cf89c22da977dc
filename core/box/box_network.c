/* SPDX-License-Identifier: MIT */
/* box_network.c - the network of a box with a network list.
 * Side: host.  Input trusted: no (the kernel says which namespace a process has).
 *
 * The box makes the namespace, as any box does; with a template its first process makes it.  Which
 * process that is, is known with the token: so the host enters the namespace then, and no
 * untrusted code runs before it has sent any. */
#include "box/box_private.h"

#include "os/process_tree.h"

int laz_box_listen(struct laz_box *box, const uint16_t *ports, size_t n,
                   struct laz_os_network *sockets, struct laz_error *err)
{
    /* the agent; of a template: its parent, whose namespaces are the same */
    const bool has_agent = box->agent_pid >= 0;
    const struct laz_os_network_of of = {
        .pid = has_agent ? box->agent_pid : (int64_t)box->process.pid,
        .pidfd = box->agent_fd >= 0 ? box->agent_fd : box->process.pidfd,
        .uid = box->uid,
    };

    *sockets = LAZ_OS_NETWORK_NONE;
    if (!box->has_network)
        return laz_error_set(err, LAZ_EINVAL, 0, "the box was made without a network");
    if (!laz_box_was_authenticated(box) || box->channel < 0 || laz_box_was_killed(box))
        return laz_error_set(err, LAZ_ECLOSED, 0, "the agent of the box is gone");
    int rc = laz_os_network_listen(&of, ports, n, sockets, err);
    if (rc)
        return rc;
    box->tcp_bytes = laz_os_tree_tcp_bytes(sockets->is_bounded);
    box->tcp_listeners = (unsigned)n + 1; /* and that of DNS */
    return 0;
}
