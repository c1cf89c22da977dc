/* SPDX-License-Identifier: MIT */
/* group.c - a group of engines: making and freeing it, and which engine gets a call.
 * Side: host.  Input trusted: yes (the application). */
#include "group/group.h"

#include "base/clock.h"
#include "base/container.h"
#include "base/options.h"
#include "os/current_process.h"
#include "os/thread.h"

#include <stdlib.h>

#define GROUP_LOOK_US 1000u /* how often a free looks whether other threads have left */

/* ---- which engine --------------------------------------------------------------------------- */

/* The least loaded one, of equal ones each in turn; counts one more execution of it. */
static struct group_lane *group_choose(struct laz_group *group)
{
    const unsigned turn = atomic_fetch_add(&group->turn, 1);
    struct group_lane *best = NULL;
    unsigned least = 0;

    for (unsigned i = 0; i < group->n; i++) {
        struct group_lane *lane = &group->lanes[(turn + i) % group->n];
        const unsigned load = atomic_load(&lane->load.n);
        if (best && load >= least)
            continue;
        best = lane;
        least = load;
    }
    atomic_fetch_add(&best->load.n, 1);
    return best;
}

unsigned laz_group_engines(const struct laz_group *group)
{
    return group ? group->n : 0;
}

uint32_t laz_group_load(const struct laz_group *group, unsigned lane)
{
    return group && lane < group->n ? atomic_load(&group->lanes[lane].load.n) : 0;
}

static int group_run(struct laz_group *group, int lane,
                     void (*run)(void *user, struct laz_engine *engine), void *user,
                     struct laz_error *err)
{
    if (!run)
        return laz_error_null(err, "the function to run");
    if (lane >= (int)group->n)
        return laz_error_set(err, LAZ_EINVAL, 0, "the group has %u engines, and none of number %d",
                             group->n, lane);
    struct group_lane *at = lane < 0 ? group_choose(group) : &group->lanes[lane];
    if (lane >= 0)
        atomic_fetch_add(&at->load.n, 1);
    int rc = group_run_at(at, run, user, err);
    atomic_fetch_sub(&at->load.n, 1);
    return rc ? rc : (int)at->number;
}

int laz_group_run(struct laz_group *group, int lane,
                  void (*run)(void *user, struct laz_engine *engine), void *user,
                  struct laz_error *err)
{
    int rc = group_enter(group, true, err);

    if (rc)
        return rc;
    rc = group_run(group, lane, run, user, err);
    group_leave(group);
    return rc;
}

/* ---- one-shot calls ------------------------------------------------------------------------- */

static void call_arrived(struct laz_post *post)
{
    struct group_call *call = LAZ_CONTAINER(post, struct group_call, post);
    struct group_lane *lane = call->lane;

    call->next = NULL;
    *lane->last = call;
    lane->last = &call->next;
    laz_driver_stir(&lane->engine->driver, &lane->stir);
}

static int call_hand_over(struct group_call *call, struct group_lane *lane, struct laz_error *err)
{
    call->post.run = call_arrived;
    call->lane = lane;
    int rc = group_hand_over(lane, &call->post, err);
    if (rc)
        atomic_fetch_sub(&lane->load.n, 1);
    return rc;
}

int laz_group_execute_async(struct laz_group *group, const struct laz_session_options *session,
                            const char *code, size_t len, const struct laz_execute_options *options,
                            void (*done)(void *user, struct laz_result *result,
                                         const struct laz_error *err),
                            void *user, struct laz_error *err)
{
    const struct laz_job_asked asked = {LAZ_JOB_OF(code, len, options, done, user),
                                        .session = session};
    struct group_call *call;
    int rc = group_enter(group, false, err);

    if (rc)
        return rc;
    rc = group_call_new(group, &asked, &call, err);
    if (!rc)
        rc = call_hand_over(call, group_choose(group), err);
    if (rc)
        group_call_free(call);
    group_leave(group);
    return rc;
}

int laz_group_execute(struct laz_group *group, const struct laz_session_options *session,
                      const char *code, size_t len, const struct laz_execute_options *options,
                      struct laz_result **result, struct laz_error *err)
{
    struct group_caller caller = {0};

    if (!result)
        return laz_error_null(err, "the pointer for the result");
    *result = NULL;
    int rc = group_enter(group, true, err);
    if (rc)
        return rc;
    group_wait_init(&caller.wait);
    rc = laz_group_execute_async(group, session, code, len, options, group_caller_told, &caller,
                                 err);
    rc = group_caller_wait(&caller, rc, result, err);
    group_leave(group);
    return rc;
}

/* A signal handler may call it: it takes no lock. */
void laz_group_cancel(struct laz_group *group)
{
    if (!group || group->forks != laz_os_forks())
        return;
    atomic_fetch_add(&group->cancelling, 1);
    atomic_fetch_add(&group->cancels, 1);
    for (unsigned i = 0; i < group->n && !atomic_load(&group->closed); i++)
        laz_engine_cancel(group->lanes[i].engine);
    atomic_fetch_sub(&group->cancelling, 1);
}

/* ---- what all engines get -------------------------------------------------------------------- */

/* Something to be done in each of them. */
struct group_each {
    const struct laz_tool *tool; /* NULL: the approver is set */
    void (*call)(void *user, const char *args, size_t args_len, struct laz_reply *reply);
    void *user;
    int rc;
    struct laz_error err;
};

static void each_run(void *user, struct laz_engine *engine)
{
    struct group_each *each = user;

    each->rc = each->tool
                   ? laz_engine_add_tool(engine, each->tool, each->call, each->user, &each->err)
                   : laz_engine_set_approver(engine, each->call, each->user, &each->err);
}

static int group_in_each(struct laz_group *group, struct group_each *each, struct laz_error *err)
{
    int rc = group_enter(group, true, err);

    if (rc)
        return rc;
    for (unsigned i = 0; i < group->n && !rc; i++) {
        rc = group_run_at(&group->lanes[i], each_run, each, err);
        if (!rc && (rc = each->rc) != 0 && err)
            *err = each->err;
    }
    group_leave(group);
    return rc;
}

int laz_group_add_tool(struct laz_group *group, const struct laz_tool *tool,
                       void (*call)(void *user, const char *args, size_t args_len,
                                    struct laz_reply *reply),
                       void *user, struct laz_error *err)
{
    struct group_each each = {.tool = tool, .call = call, .user = user};

    if (!group || !tool)
        return laz_error_null(err, group ? "the tool" : "the group");
    return group_in_each(group, &each, err);
}

int laz_group_set_approver(struct laz_group *group,
                           void (*decide)(void *user, const char *args, size_t args_len,
                                          struct laz_reply *reply),
                           void *user, struct laz_error *err)
{
    struct group_each each = {.call = decide, .user = user};

    return group ? group_in_each(group, &each, err) : laz_error_null(err, "the group");
}

/* ---- making and freeing --------------------------------------------------------------------- */

static int group_engines(const struct laz_group_options *options, unsigned *n,
                         struct laz_error *err)
{
    *n = options->engines ? options->engines : laz_engines_usual();
    if (*n <= GROUP_MOST)
        return 0;
    return laz_error_set(err, LAZ_EINVAL, 0, "a group has 1 to %u engines, not %u", GROUP_MOST, *n);
}

/* What is left of it when no thread is. */
static void group_destroy(struct laz_group *group)
{
    group_pools_free(group);
    for (unsigned i = 0; i < group->n; i++)
        pthread_mutex_destroy(&group->lanes[i].lock);
    pthread_mutex_destroy(&group->lock);
    laz_settings_free(group->settings);
    free(group);
}

/* Waits until no thread counts in `users` any more: a signal handler may, so nothing is signalled.
 */
static void group_await_none(struct laz_group *group, atomic_uint *users)
{
    pthread_cond_t nothing;

    laz_os_condition_init(&nothing);
    pthread_mutex_lock(&group->lock);
    while (atomic_load(users))
        (void)laz_os_condition_wait(&nothing, &group->lock, laz_clock_us() + GROUP_LOOK_US);
    pthread_mutex_unlock(&group->lock);
    pthread_cond_destroy(&nothing);
}

/* Ends the threads of the first `n` lanes. A cancel that is under way, on whatever thread, still
 * uses the engines; who was told, or waited for a run, still uses the group. */
static void group_end(struct laz_group *group, unsigned n)
{
    atomic_store(&group->closed, true);
    group_pools_close(group);
    group_await_none(group, &group->cancelling);
    for (unsigned i = 0; i < n; i++)
        laz_engine_cancel(group->lanes[i].engine);
    for (unsigned i = 0; i < n; i++)
        group_lane_end(&group->lanes[i]);
    for (unsigned i = 0; i < n; i++)
        group_lane_join(&group->lanes[i]);
    group_await_none(group, &group->inside);
    group_await_none(group, &group->cancelling);
}

static struct laz_group *group_prepare(const struct laz_group_options *options, unsigned n)
{
    struct laz_group *group = calloc(1, sizeof *group + n * sizeof *group->lanes);

    if (!group)
        return NULL;
    group->n = n;
    group->options = (struct laz_engine_options){.size = sizeof group->options,
                                                 .log = options->log,
                                                 .log_user = options->log_user,
                                                 .log_level = options->log_level};
    group->process = laz_os_process_id();
    group->forks = laz_os_forks();
    pthread_mutex_init(&group->lock, NULL);
    for (unsigned i = 0; i < n; i++) {
        struct group_lane *lane = &group->lanes[i];
        lane->group = group;
        lane->number = i;
        pthread_mutex_init(&lane->lock, NULL);
    }
    return group;
}

int laz_group_new(const struct laz_settings *settings, const struct laz_group_options *given,
                  struct laz_group **out, struct laz_error *err)
{
    struct laz_group_options options;
    unsigned n = 0, made = 0;

    if (!out)
        return laz_error_null(err, "the pointer for the group");
    *out = NULL;
    int rc = LAZ_OPTIONS_TAKE(&options, given, laz_group_options, err);
    if (!rc)
        rc = group_engines(&options, &n, err);
    if (rc)
        return rc;
    struct laz_group *group = group_prepare(&options, n);
    if (!group)
        return laz_error_nomem(err);
    rc = settings ? laz_settings_copy(settings, &group->settings, err)
                  : laz_settings_new(&group->settings, err);
    if (!rc)
        group->values = laz_settings_values(group->settings);
    while (!rc && made < n) {
        const struct laz_engine_beside beside = {.first = made ? group->lanes[0].engine : NULL,
                                                 .n = n,
                                                 .number = made,
                                                 .pooled = &group->pooled,
                                                 .is_owned = true};
        rc = group_lane_begin(&group->lanes[made], &beside, err);
        made += !rc;
    }
    if (rc) {
        group_end(group, made);
        group_destroy(group);
        return rc;
    }
    *out = group;
    return 0;
}

void laz_group_free(struct laz_group *group)
{
    if (!group || group->forks != laz_os_forks())
        return;
    if (group_refuses_free(group))
        return;
    group_end(group, group->n);
    group_destroy(group);
}
