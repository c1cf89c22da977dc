/* SPDX-License-Identifier: MIT */
/* box_from_template.c - the kind of a box that comes from a template.
 * Side: host.  Input trusted: no (until the kernel was asked, its first process may be any).
 *
 * No process connects: the host makes the channel and gives its far end away, so there is no name
 * by which another session could reach it.  Its first process is not a child of ours.  The kernel
 * says with the token who it is: it must be of the template's user, and the first of a pid
 * namespace just inside of the template's.  Only a process of which that is true is followed, and
 * killed, by a descriptor.  Until then there is nothing to kill, and the end is known from the
 * status pipe, which every process that was given it has closed. */
#include "box/box_private.h"

#include "base/random.h"
#include "box/templates.h"
#include "os/descriptors.h"
#include "os/fd_passing.h"
#include "os/pidfd.h"
#include "os/process_tree.h"
#include "os/signals.h"

enum { FROM_CHANNEL, FROM_STDOUT, FROM_STDERR, FROM_STATUS };

int laz_box_make_ends(struct laz_box *box, int ends[LAZ_BOX_ENDS], struct laz_error *err)
{
    for (size_t i = 0; i < LAZ_BOX_ENDS; i++)
        ends[i] = -1;
    int rc = laz_random_name(box->token, LAZ_TOKEN_LEN, err);
    if (!rc)
        rc = laz_os_channel(&box->channel, &ends[FROM_CHANNEL], err);
    if (!rc)
        rc = laz_box_pipe(&box->output[1], &ends[FROM_STDOUT], err);
    if (!rc)
        rc = laz_box_pipe(&box->output[2], &ends[FROM_STDERR], err);
    if (!rc)
        rc = laz_box_pipe(&box->status, &ends[FROM_STATUS], err);
    for (int i = FROM_STDOUT; i <= FROM_STDERR && !rc && box->uid != LAZ_SPAWN_SAME_ID; i++)
        laz_os_give(ends[i], box->uid);
    if (rc)
        laz_box_close_ends(ends);
    return rc;
}

void laz_box_close_ends(int ends[LAZ_BOX_ENDS])
{
    for (size_t i = 0; i < LAZ_BOX_ENDS; i++)
        laz_os_close(&ends[i]);
}

/* ---- the kind ------------------------------------------------------------------------------- */

static int from_start(struct laz_box *box, const struct laz_box_purpose *purpose,
                      struct laz_error *err)
{
    box->purpose = *purpose;
    box->from = purpose->template_of;
    return laz_template_spawn(purpose->template_of, box, err);
}

/* All of the token comes from one process. */
static ssize_t from_read(struct laz_box *box, void *room, size_t len)
{
    struct laz_sender sender;
    ssize_t n = laz_os_read_sender(box->channel, room, len, &sender);

    if (n <= 0)
        return n;
    if (sender.uid != laz_box_kernel_uid(box)) /* the template's */
        sender.pid = -1;
    if (!box->sender)
        box->sender = sender.pid ? sender.pid : -1;
    if (box->sender != sender.pid)
        box->sender = -1;
    return n;
}

/* The process is followed, and in its group. */
static int from_admit(struct laz_box *box, struct laz_error *err)
{
    int pidfd = -1;

    if (box->sender <= 0)
        return laz_error_set(err, LAZ_EPROTO, 0,
                             "the token came from a process of another user, or from several");
    int rc = laz_os_adopt(box->sender, box->from->pid_namespace, &pidfd, err);
    if (rc)
        return rc;
    box->process = (struct laz_process){(pid_t)box->sender, pidfd};
    if (box->group && !laz_cgroup_has(box->group, box->sender) &&
        laz_cgroup_put(box->group, box->sender, err))
        return LAZ_ESETUP;
    rc = laz_box_follow(box, err);
    if (!rc)
        laz_os_forget_senders(box->channel);
    return rc;
}

/* With pid 1 all of its namespace ends. Its process group is the template's, and is not signalled.
 * A process that is not known ends when it finds its channel closed: it has no other peer. */
static void from_kill(struct laz_box *box)
{
    if (box->channel >= 0 && !laz_box_was_authenticated(box))
        laz_box_close_channel(box);
    laz_process_signal(&box->process, SIGKILL);
}

static bool from_is_over(struct laz_box *box)
{
    if (box->process.pidfd < 0) {
        laz_box_read_status(box); /* the loop may have stood still */
        return box->status < 0;   /* nothing was started, or every process has closed it */
    }
    if (!laz_box_was_reaped(box) && laz_os_pidfd_has_ended(box->process.pidfd))
        laz_box_step(box, LAZ_BOX_EVENT_REAP);
    return laz_box_was_reaped(box);
}

static void from_ended(struct laz_box *box)
{
    box->exit = (struct laz_exit){.known = true, .status = (int)box->exit_code};
    if (box->exit_code < 0 || box->exit_code > 255)
        box->exit = (struct laz_exit){.known = true, .status = -1, .signal = SIGKILL};
}

static void from_distrust(struct laz_box *box, const char *why)
{
    laz_template_distrust(box->from, why);
}

/* The agent is the child of its reaper. */
static void from_find_usage(struct laz_box *box)
{
    if (!laz_os_usage_is_open(&box->usage) && !laz_box_is_ended(box))
        (void)laz_os_usage_open(laz_os_tree_first_child(box->process.pid), &box->usage);
}

/* The agent is the first child of its reaper as long as it lives. The descriptor is of the process
 * that has the number now: whether that is the child is asked afterwards. */
static bool from_interrupt(const struct laz_box *box, uint32_t number)
{
    const int64_t pid = laz_os_tree_first_child(box->process.pid);
    int agent = laz_os_pidfd(pid);
    const bool done = agent >= 0 && laz_os_tree_parent(pid) == box->process.pid &&
                      laz_os_pidfd_interrupt(agent, number);

    laz_os_close(&agent);
    return done;
}

static bool from_agent_end(const struct laz_box *box, int *signal, int *status)
{
    *signal = box->end_signal;
    *status = box->end_signal ? -1 : (int)box->exit_code;
    return box->end_signal >= 0;
}

static const char *from_why(struct laz_box *box)
{
    const char *why = laz_template_why(box->from);

    if (why || laz_box_was_authenticated(box))
        return why;
    return "the process ended before it had shown its token";
}

const struct laz_box_kind laz_box_from_template = {
    .name = "from a template",
    .start = from_start,
    .read = from_read,
    .admit = from_admit,
    .kill = from_kill,
    .interrupt = from_interrupt,
    .is_over = from_is_over,
    .ended = from_ended,
    .distrust = from_distrust,
    .find_usage = from_find_usage,
    .agent_end = from_agent_end,
    .why = from_why,
    .leave = laz_template_leave,
};
