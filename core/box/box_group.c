/* SPDX-License-Identifier: MIT */
/* box_group.c - the control group of a session.
 * Side: host.  Input trusted: yes (the kernel's counters).
 *
 * Each session that runs code has one where the host gives any.  Its limits are those of the
 * settings and a little more, for what is in the box besides the code (the backend's program, page
 * tables).  It counts memory that is used: what a process only reserves is bounded by its own
 * limit, which is far above (plan.c).  Where a group cannot be created, the watchdog (guard.c)
 * replaces it.  The log and every result say so, and the start is refused where the settings
 * require the group. */
#include "box/box_private.h"

#include "os/process_tree.h"

#define BOX_OWN_MEMORY    ((uint64_t)8 << 20)
#define BOX_OWN_PROCESSES 2

uint64_t laz_box_memory_limit(const struct laz_limit_values *limits)
{
#ifdef LAZ_SANITIZE /* its tables are many times any limit */
    (void)limits;
    return LAZ_UNLIMITED;
#else
    return limits->memory_bytes > LAZ_UNLIMITED - BOX_OWN_MEMORY
               ? LAZ_UNLIMITED
               : limits->memory_bytes + BOX_OWN_MEMORY;
#endif
}

struct laz_plan_host laz_box_host(const struct laz_cgroups *groups,
                                  const struct laz_limit_values *limits, bool own_uid,
                                  bool to_enter)
{
    return (struct laz_plan_host){
        .memory = laz_cgroups_mechanism(groups, LAZ_CGROUP_MEMORY, to_enter),
        .nproc = laz_cgroups_mechanism(groups, LAZ_CGROUP_PIDS, to_enter),
        .cpu = laz_cgroups_mechanism(groups, LAZ_CGROUP_CPU, to_enter),
        .is_watched = laz_os_tree_can_be_seen(),
        .misses_cpu = laz_os_tree_misses_cpu(),
        .misses_memory = laz_os_tree_misses_memory(),
        .is_out_of_reach = own_uid,
        .limits = limits,
    };
}

int laz_box_new_group(struct laz_box_shared *shared, bool to_enter, struct laz_cgroup **group,
                      struct laz_error *err)
{
    const struct laz_limit_values *limits = &shared->values->limits;
    uint64_t pids = limits->nproc > LAZ_UNLIMITED - BOX_OWN_PROCESSES
                        ? LAZ_UNLIMITED
                        : limits->nproc + BOX_OWN_PROCESSES;

    return laz_cgroup_new(shared->groups, laz_box_memory_limit(limits), pids, to_enter, group, err);
}

static void group_note_loss(struct laz_box_shared *shared)
{
    if (shared->groups_lost || !shared->groups || !laz_cgroups_are_lost(shared->groups))
        return;
    shared->groups_lost = true;
    laz_log(&shared->driver->log, LAZ_LOG_WARNING,
            "the process that starts sessions in the control groups of the user's systemd has "
            "ended; limits of new sessions as a whole are watched instead");
}

bool laz_box_tell_groups(const struct laz_box_shared *shared, struct laz_buf *text)
{
    const struct laz_plan_host host =
        laz_box_host(shared->groups, &shared->values->limits, false, false);
    const char *by = host.memory ? host.memory : host.nproc ? host.nproc : host.cpu;

    if (by)
        laz_buf_printf(text, "%s in %s", by, laz_cgroups_place(shared->groups));
    if (shared->no_scope)
        laz_buf_printf(text, "%s%s",
                       by ? "; nothing of the user's systemd: " : "none: ", shared->no_scope);
    else if (!by)
        laz_buf_puts(text, "none on this system");
    return by != NULL;
}

int laz_box_make_group(struct laz_box *box, struct laz_error *err)
{
    struct laz_box_shared *shared = box->shared;
    struct laz_error why = {0};

    group_note_loss(shared);
    box->host =
        laz_box_host(shared->groups, &shared->values->limits, box->uid != LAZ_SPAWN_SAME_ID, false);
    if (!box->host.memory && !box->host.nproc && !box->host.cpu)
        return 0;
    if (laz_box_new_group(shared, false, &box->group, &why)) {
        if (laz_error_is_shortage(&why))
            return laz_error_set(err, why.code, why.os_errno, "%s", why.text);
        laz_log(&shared->driver->log, LAZ_LOG_WARNING, "limits of the session as a whole: %s; %s",
                why.text,
                box->host.is_watched ? "it is watched instead" : "only each process is limited");
        box->host.memory = box->host.nproc = box->host.cpu = NULL;
    }
    return 0;
}

static void box_group_ready(void *user, uint32_t events)
{
    struct laz_box *box = user;

    (void)events;
    if (!laz_box_out_of_memory(box))
        return; /* version 2 reports other events, too */
    laz_io_stop(box->group_io);
    box->group_io = NULL;
    if (box->owner.out_of_memory)
        box->owner.out_of_memory(box->owner.user);
}

int laz_box_watch_group(struct laz_box *box, struct laz_error *err)
{
    struct laz_cgroup_event event = {.fd = -1};

    if (box->group)
        event = laz_cgroup_event(box->group);
    if (event.fd < 0)
        return 0;
    box->group_io =
        laz_io_start(box->shared->driver->loop, event.fd,
                     event.is_urgent ? LAZ_IO_URGENT : LAZ_IO_READ, box_group_ready, box);
    return box->group_io ? 0 : laz_io_error(err, "the control group of a session");
}

uint64_t laz_box_out_of_memory(struct laz_box *box)
{
    return box->group ? laz_cgroup_out_of_memory(box->group) : 0;
}

void laz_box_end_group(struct laz_box *box)
{
    box->left_in_group = box->group && box->plan && box->plan->ends_by == LAZ_END_REAP &&
                         !laz_cgroup_end(box->group);
}

void laz_box_drop_group(struct laz_box *box)
{
    if (box->left_in_group)
        laz_log(&box->shared->driver->log, LAZ_LOG_ERROR,
                "processes of a session may be left in its control group");
    laz_cgroup_free(box->group);
    box->group = NULL;
}
