/* SPDX-License-Identifier: MIT */
/* box_cold.c - the kind of a box that is started by itself: its processes are children of ours.
 * Side: host.  Input trusted: yes (what the kernel says of processes). */
#include "box/box_private.h"

#include "os/pidfd.h"
#include "os/signals.h"

/* Kills the outermost process, what is still in its group, and the first process of its namespace:
 * until bwrap has set itself up, a kill of the outermost process alone would leave the inner one
 * waiting for ever (its parent-death signal comes late). */
static void cold_kill(struct laz_box *box)
{
    (void)laz_box_find_init(box);
    laz_os_pidfd_kill(box->init_fd);
    if (box->group && box->plan && box->plan->ends_by == LAZ_END_REAP)
        laz_cgroup_kill(box->group); /* daemons too, and the reaper itself */
    laz_process_signal_group(&box->process, SIGKILL);
    laz_process_signal(&box->process, SIGKILL);
}

/* What its program has left in its group (bwrap's inner process before it was set up, say) waits
 * for ever. It is ended while the number of the group is still that of its leader. */
static bool cold_reap(struct laz_box *box)
{
    if (box->process.pidfd < 0 || !laz_os_pidfd_has_ended(box->process.pidfd))
        return false;
    laz_process_signal_group(&box->process, SIGKILL);
    if (!laz_process_reap(&box->process, &box->exit))
        return false;
    laz_box_step(box, LAZ_BOX_EVENT_REAP);
    return true;
}

/* The kernel lets the first process inside end as the last of its namespace. Before that neither
 * the session's uid nor its directory may be given to another session. */
static bool cold_is_over(struct laz_box *box)
{
    if (!laz_box_was_reaped(box) && !cold_reap(box))
        return false;
    laz_box_read_status(box);
    if (!laz_box_find_init(box))
        return false;
    laz_os_pidfd_kill(box->init_fd); /* should its parent-death signal not reach it */
    return laz_os_pidfd_has_ended(box->init_fd);
}

static int cold_agent(const struct laz_box *box)
{
    return box->agent_pid == box->process.pid ? box->process.pidfd : box->agent_fd;
}

static bool cold_agent_end(const struct laz_box *box, int *signal, int *status)
{
    return laz_os_pidfd_end(cold_agent(box), signal, status);
}

static bool cold_interrupt(const struct laz_box *box, uint32_t number)
{
    return laz_os_pidfd_interrupt(cold_agent(box), number);
}

/* What is left must not meet the next session under its uid: without a process namespace something
 * may have got away from the reaper, or killed it. Such a uid stays taken. */
static void cold_give_back(struct laz_box *box)
{
    if (box->uid == LAZ_SPAWN_SAME_ID)
        return;
    box->returns_uid =
        !box->had_process ||
        (box->plan->ends_by == LAZ_END_REAP ? laz_os_end_all_of(box->uid) : cold_is_over(box));
}

const struct laz_box_kind laz_box_cold = {
    .name = "cold",
    .start = laz_box_start_cold,
    .kill = cold_kill,
    .interrupt = cold_interrupt,
    .is_over = cold_is_over,
    .agent_end = cold_agent_end,
    .give_back = cold_give_back,
};
