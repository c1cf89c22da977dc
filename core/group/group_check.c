/* SPDX-License-Identifier: MIT */
/* group_check.c - who may use a group, and who may wait for one of its engines.
 * Side: host.  Input trusted: yes (the application). */
#include "group/group.h"

#include "os/current_process.h"

/* The group whose callers this thread calls back while it closes a pool. */
static _Thread_local const struct laz_group *check_closing;

static int group_check(const struct laz_group *group, struct laz_error *err)
{
    if (!group)
        return laz_error_null(err, "the group");
    if (group->forks == laz_os_forks())
        return 0;
    return laz_error_set(err, LAZ_EREFUSED, 0,
                         "the group belongs to process %lld, which has made it: a child made by "
                         "fork() needs one of its own",
                         (long long)group->process);
}

/* Is this a callback, or else the thread of one of its engines? */
static bool group_is_inside(const struct laz_group *group)
{
    if (check_closing == group)
        return true;
    for (unsigned i = 0; i < group->n; i++)
        if (pthread_equal(group->lanes[i].thread, pthread_self()))
            return true;
    return false;
}

bool group_refuses_free(const struct laz_group *group)
{
    const struct laz_log log = {group->options.log, group->options.log_user,
                                group->options.log_level};
    bool refuses = group_is_inside(group) || atomic_load(&group->closed), tells = false;

    for (unsigned i = 0; i < group->n && !refuses; i++) { /* each engine is still there */
        const struct laz_driver *driver = &group->lanes[i].engine->driver;
        tells |= laz_log_tells(&driver->log);
        refuses = laz_driver_calls_back(driver);
    }
    if (refuses && !tells)
        laz_log(&log, LAZ_LOG_ERROR, "laz_group_free has no effect: it was called by a callback");
    return refuses;
}

int group_check_wait(const struct laz_group *group, struct laz_error *err)
{
    int rc = group_check(group, err);

    if (rc || !group_is_inside(group))
        return rc;
    return laz_error_set(err, LAZ_EBUSY, 0,
                         "this is the thread of an engine of the group, which cannot wait for one "
                         "of them");
}

int group_enter(struct laz_group *group, bool waits, struct laz_error *err)
{
    int rc = waits ? group_check_wait(group, err) : group_check(group, err);

    if (!rc)
        atomic_fetch_add(&group->inside, 1);
    return rc;
}

void group_leave(struct laz_group *group)
{
    atomic_fetch_sub(&group->inside, 1);
}

const struct laz_group *group_calls_back(const struct laz_group *group)
{
    const struct laz_group *before = check_closing;

    check_closing = group;
    return before;
}

int group_is_closed(struct laz_error *err)
{
    return laz_error_set(err, LAZ_ECLOSED, 0, "the group is being freed");
}
