/* SPDX-License-Identifier: MIT */
/* box_from.c - what is particular to a box that comes from a template.
 * Side: host.  Input trusted: no (its first process may be anybody until it was looked at).
 *
 * Nobody connects: the host makes the channel and gives its far end away, so there is no name by
 * which another session could reach it.  Its first process is no child of ours.  Who it is, the
 * kernel says with the token: of the template's user, and the first of a pid namespace just inside
 * of the template's.  Only a process of which that is true is followed, and killed, by a
 * descriptor; until then there is nothing to kill, and the end is known from the status pipe, which
 * every process that was given it has closed. */
#include "box/box.h"

#include "base/random.h"
#include "box/shared.h"
#include "box/template.h"
#include "os/cgroup.h"
#include "os/descriptors.h"
#include "os/fd_passing.h"
#include "os/pidfd.h"
#include "os/process.h"
#include "os/signals.h"

enum { FROM_CHANNEL, FROM_STDOUT, FROM_STDERR, FROM_STATUS };

int laz_box_make_ends(struct laz_box *box, struct laz_box_ends *ends, struct laz_error *err)
{
    for (size_t i = 0; i < LAZ_BOX_ENDS; i++)
        ends->fds[i] = -1;
    int rc = laz_random_name(box->token, LAZ_TOKEN_LEN, err);
    if (!rc)
        rc = laz_os_channel(&box->channel, &ends->fds[FROM_CHANNEL], err);
    if (!rc)
        rc = laz_os_cloexec_pipe(&box->output[1], &ends->fds[FROM_STDOUT], err);
    if (!rc)
        rc = laz_os_cloexec_pipe(&box->output[2], &ends->fds[FROM_STDERR], err);
    if (!rc)
        rc = laz_os_cloexec_pipe(&box->status, &ends->fds[FROM_STATUS], err);
    for (int stream = LAZ_STDOUT; stream <= LAZ_STDERR && !rc; stream++)
        rc = laz_os_nonblock(box->output[stream], true, err);
    if (!rc)
        rc = laz_os_nonblock(box->status, true, err);
    if (rc)
        laz_box_close_ends(ends);
    return rc;
}

void laz_box_close_ends(struct laz_box_ends *ends)
{
    for (size_t i = 0; i < LAZ_BOX_ENDS; i++)
        laz_os_close(&ends->fds[i]);
}

/* All of the token comes from one process. */
ssize_t laz_box_read_sender(struct laz_box *box, void *room, size_t len)
{
    struct laz_sender sender;
    ssize_t n = laz_os_read_sender(box->channel, room, len, &sender);

    if (n <= 0)
        return n;
    if (sender.uid != laz_template_uid(box->from))
        sender.pid = -1;
    if (!box->sender)
        box->sender = sender.pid ? sender.pid : -1;
    if (box->sender != sender.pid)
        box->sender = -1;
    return n;
}

int laz_box_adopt(struct laz_box *box, struct laz_error *err)
{
    int pidfd = -1;

    if (box->sender <= 0)
        return laz_error_set(err, LAZ_EPROTO, 0,
                             "the token came from a process of another user, or from several");
    int rc = laz_os_adopt(box->sender, laz_template_namespace(box->from), &pidfd, err);
    if (rc)
        return rc;
    box->process = (struct laz_process){(pid_t)box->sender, pidfd};
    if (box->group && !laz_cgroup_has(box->group, box->sender) &&
        laz_cgroup_put(box->group, box->sender, err))
        return LAZ_ESETUP;
    return laz_box_follow(box, err);
}

bool laz_box_from_is_over(struct laz_box *box)
{
    if (box->process.pidfd < 0)
        return box->status < 0; /* nothing was started, or nobody has it any more */
    if (!box->reaped)
        box->reaped = laz_os_pidfd_has_ended(box->process.pidfd);
    return box->reaped;
}

void laz_box_from_has_ended(struct laz_box *box)
{
    box->exit = (struct laz_exit){.known = true, .status = (int)box->exit_code};
    if (box->exit_code < 0 || box->exit_code > 255)
        box->exit = (struct laz_exit){.known = true, .status = -1, .signal = SIGKILL};
}
