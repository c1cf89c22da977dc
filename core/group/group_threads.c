/* SPDX-License-Identifier: MIT */
/* group_threads.c - the thread of each engine of a group, and what other threads hand over to it.
 * Side: host.  Input trusted: yes (the application).
 *
 * The thread makes its engine, steps it until it is told to end, and frees it.  Calls are begun by
 * an entry of the driver's list, which advances in any turn of the loop, also while a run waits in
 * one: beginning one never waits.  Runs may wait, and would pile up on the stack if they were
 * nested, so they are made between two steps, one after the other.
 *
 * The end is handed over like everything else, under the lock of the lane and after the group was
 * closed: so it is the last, and what came before it is known to the thread. */
#include "group/group.h"

#include "base/container.h"
#include "os/thread.h"

/* ---- waiting -------------------------------------------------------------------------------- */

void group_wait_init(struct group_wait *wait)
{
    pthread_mutex_init(&wait->lock, NULL);
    pthread_cond_init(&wait->over, NULL);
    wait->is_over = false;
}

void group_wait_over(struct group_wait *wait)
{
    pthread_mutex_lock(&wait->lock);
    wait->is_over = true;
    pthread_cond_signal(&wait->over);
    pthread_mutex_unlock(&wait->lock);
}

void group_wait(struct group_wait *wait)
{
    pthread_mutex_lock(&wait->lock);
    while (!wait->is_over)
        pthread_cond_wait(&wait->over, &wait->lock);
    pthread_mutex_unlock(&wait->lock);
    pthread_cond_destroy(&wait->over);
    pthread_mutex_destroy(&wait->lock);
}

/* ---- runs ----------------------------------------------------------------------------------- */

/* On the stack of its caller. */
struct group_run {
    struct laz_post post;
    struct group_run *next;
    struct group_lane *lane;
    void (*run)(void *user, struct laz_engine *engine);
    void *user;
    bool is_refused;
    struct group_wait wait;
};

static void run_arrived(struct laz_post *post)
{
    struct group_run *run = LAZ_CONTAINER(post, struct group_run, post);
    struct group_lane *lane = run->lane;

    run->next = NULL;
    *lane->last_run = run;
    lane->last_run = &run->next;
}

static void lane_make_runs(struct group_lane *lane)
{
    while (lane->runs) {
        struct group_run *run = lane->runs;
        lane->runs = run->next;
        if (!lane->runs)
            lane->last_run = &lane->runs;
        run->is_refused = atomic_load(&lane->group->closed);
        if (!run->is_refused)
            run->run(run->user, lane->engine);
        group_wait_over(&run->wait);
    }
}

int group_run_at(struct group_lane *lane, void (*run)(void *user, struct laz_engine *engine),
                 void *user, struct laz_error *err)
{
    struct group_run here = {.post = {.run = run_arrived}, .lane = lane, .run = run, .user = user};

    group_wait_init(&here.wait);
    int rc = group_hand_over(lane, &here.post, err);
    if (rc)
        group_wait_over(&here.wait);
    group_wait(&here.wait);
    return here.is_refused ? group_is_closed(err) : rc;
}

/* ---- calls ---------------------------------------------------------------------------------- */

static void lane_advance(struct laz_stir *stir)
{
    struct group_lane *lane = LAZ_CONTAINER(stir, struct group_lane, stir);

    while (lane->calls) {
        struct group_call *call = lane->calls;
        lane->calls = call->next;
        if (!lane->calls)
            lane->last = &lane->calls;
        group_call_begin(call);
    }
}

int group_hand_over(struct group_lane *lane, struct laz_post *post, struct laz_error *err)
{
    pthread_mutex_lock(&lane->lock);
    const bool closed = atomic_load(&lane->group->closed);
    if (!closed)
        laz_loop_post(lane->engine->driver.loop, post);
    pthread_mutex_unlock(&lane->lock);
    return closed ? group_is_closed(err) : 0;
}

/* ---- load ----------------------------------------------------------------------------------- */

/* A run that is being made may begin one thing after the other; it is not to wait for any of them.
 */
static void lane_cancel(struct group_lane *lane)
{
    laz_engine_cancel(lane->engine);
    laz_timer_start(lane->pause, GROUP_AGAIN_MS);
}

static void lane_pause_over(void *user)
{
    struct group_lane *lane = user;

    if (lane->ends) {
        lane_cancel(lane);
        return;
    }
    atomic_fetch_sub(&lane->load.n, lane->held);
    lane->held = 0;
}

/* An engine that starts nothing reports soon, and would attract all calls. */
void group_lane_done(struct group_lane *lane, enum group_start start)
{
    if (start == GROUP_START_FAILED && lane->pause && !lane->ends) {
        if (!lane->held++) {
            uint64_t ms = lane->pause_ms ? lane->pause_ms * 2 : GROUP_PAUSE_MS;
            lane->pause_ms = ms < GROUP_PAUSE_MAX ? ms : GROUP_PAUSE_MAX;
            laz_timer_start(lane->pause, lane->pause_ms);
        }
        return;
    }
    if (start == GROUP_START_GOOD)
        lane->pause_ms = 0;
    atomic_fetch_sub(&lane->load.n, 1);
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void lane_ends(struct laz_post *post)
{
    struct group_lane *lane = LAZ_CONTAINER(post, struct group_lane, end);

    lane->ends = true;
    lane_cancel(lane);
}

/* What its maker waits for. */
struct lane_making {
    struct group_lane *lane;
    const struct laz_engine_beside *beside;
    int rc;
    struct laz_error err;
    struct group_wait wait;
};

static int lane_make(struct lane_making *making)
{
    struct group_lane *lane = making->lane;
    struct laz_group *group = lane->group;

    int rc = laz_engine_new_beside(group->settings, &group->options, making->beside, &lane->engine,
                                   &making->err);
    if (rc)
        return rc;
    lane->pause = laz_timer_new(lane->engine->driver.loop, lane_pause_over, lane);
    if (lane->pause)
        return 0;
    laz_engine_end(lane->engine);
    return laz_error_nomem(&making->err);
}

static void *lane_thread(void *user)
{
    struct lane_making *making = user;
    struct group_lane *lane = making->lane;
    const int rc = making->rc = lane_make(making);

    group_wait_over(&making->wait); /* it is gone */
    if (rc)
        return NULL;
    while (!lane->ends) {
        (void)laz_driver_step(&lane->engine->driver, LAZ_LOOP_FOREVER, NULL);
        lane_make_runs(lane);
    }
    pthread_mutex_lock(&lane->lock); /* who told it to end has woken the loop */
    pthread_mutex_unlock(&lane->lock);
    laz_timer_stop(lane->pause);
    lane->pause = NULL;
    group_pools_leave(lane);
    laz_engine_end(lane->engine);
    return NULL;
}

int group_lane_begin(struct group_lane *lane, const struct laz_engine_beside *beside,
                     struct laz_error *err)
{
    struct lane_making making = {.lane = lane, .beside = beside};

    lane->stir.advance = lane_advance;
    lane->last = &lane->calls;
    lane->last_run = &lane->runs;
    lane->end.run = lane_ends;
    group_wait_init(&making.wait);
    int failed = laz_os_thread(&lane->thread, 0, lane_thread, &making);
    if (failed)
        group_wait_over(&making.wait);
    group_wait(&making.wait);
    if (failed)
        return laz_error_start(err, failed, "cannot start the thread of an engine");
    if (!making.rc)
        return 0;
    pthread_join(lane->thread, NULL);
    return err ? (*err = making.err, making.rc) : making.rc;
}

void group_lane_end(struct group_lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    laz_loop_post(lane->engine->driver.loop, &lane->end);
    pthread_mutex_unlock(&lane->lock);
}

void group_lane_join(struct group_lane *lane)
{
    pthread_join(lane->thread, NULL);
}
