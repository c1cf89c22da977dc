/* SPDX-License-Identifier: MIT */
/* group_threads.c - the thread of each engine of a group, and what other threads hand over to it.
 * Side: host.  Input trusted: yes (the application).
 *
 * The thread makes its engine, steps it until it is told to end, and frees it.  Calls are begun by
 * an entry of the driver's list, which advances in any turn of the loop, also while a run waits in
 * one: beginning one never waits.  Runs may wait, and would pile up on the stack if they were
 * nested, so they are made between two steps, one after the other.
 *
 * The end is handed over like everything else, under the lock of the place and after the group was
 * closed: so it is the last, and what came before it is known to the thread. */
#include "group/group.h"

#include "os/thread.h"

#include <stddef.h>

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
    struct group_place *place;
    void (*run)(void *user, struct laz_engine *engine);
    void *user;
    bool is_refused;
    struct group_wait wait;
};

static void run_arrived(struct laz_post *post)
{
    struct group_run *run =
        (struct group_run *)(void *)((char *)post - offsetof(struct group_run, post));
    struct group_place *place = run->place;

    run->next = NULL;
    *place->last_run = run;
    place->last_run = &run->next;
}

static void place_make_runs(struct group_place *place)
{
    while (place->runs) {
        struct group_run *run = place->runs;
        place->runs = run->next;
        if (!place->runs)
            place->last_run = &place->runs;
        run->is_refused = atomic_load(&place->group->closed);
        if (!run->is_refused)
            run->run(run->user, place->engine);
        group_wait_over(&run->wait);
    }
}

int group_run_at(struct group_place *place, void (*run)(void *user, struct laz_engine *engine),
                 void *user, struct laz_error *err)
{
    struct group_run here = {
        .post = {.run = run_arrived}, .place = place, .run = run, .user = user};

    group_wait_init(&here.wait);
    int rc = group_hand_over(place, &here.post, err);
    if (rc)
        group_wait_over(&here.wait);
    group_wait(&here.wait);
    return here.is_refused ? group_is_closed(err) : rc;
}

/* ---- calls ---------------------------------------------------------------------------------- */

static void place_advance(struct laz_stir *stir)
{
    struct group_place *place =
        (struct group_place *)(void *)((char *)stir - offsetof(struct group_place, stir));

    while (place->calls) {
        struct group_call *call = place->calls;
        place->calls = call->next;
        if (!place->calls)
            place->last = &place->calls;
        group_call_begin(call);
    }
}

int group_hand_over(struct group_place *place, struct laz_post *post, struct laz_error *err)
{
    pthread_mutex_lock(&place->lock);
    const bool closed = atomic_load(&place->group->closed);
    if (!closed)
        laz_loop_post(place->engine->driver.loop, post);
    pthread_mutex_unlock(&place->lock);
    return closed ? group_is_closed(err) : 0;
}

/* ---- load ----------------------------------------------------------------------------------- */

/* A run that is being made may begin one thing after the other; it is not to wait for any of them.
 */
static void place_cancel(struct group_place *place)
{
    laz_engine_cancel(place->engine);
    laz_timer_start(place->pause, GROUP_AGAIN_MS);
}

static void place_pause_over(void *user)
{
    struct group_place *place = user;

    if (place->ends) {
        place_cancel(place);
        return;
    }
    atomic_fetch_sub(&place->load.n, place->held);
    place->held = 0;
}

/* An engine that starts nothing reports soon, and would attract all calls. */
void group_place_done(struct group_place *place, enum group_start start)
{
    if (start == GROUP_START_FAILED && place->pause && !place->ends) {
        if (!place->held++) {
            uint64_t ms = place->pause_ms ? place->pause_ms * 2 : GROUP_PAUSE_MS;
            place->pause_ms = ms < GROUP_PAUSE_MAX ? ms : GROUP_PAUSE_MAX;
            laz_timer_start(place->pause, place->pause_ms);
        }
        return;
    }
    if (start == GROUP_START_GOOD)
        place->pause_ms = 0;
    atomic_fetch_sub(&place->load.n, 1);
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void place_ends(struct laz_post *post)
{
    struct group_place *place =
        (struct group_place *)(void *)((char *)post - offsetof(struct group_place, end));

    place->ends = true;
    place_cancel(place);
}

/* What its maker waits for. */
struct place_making {
    struct group_place *place;
    const struct laz_engine_beside *beside;
    int rc;
    struct laz_error err;
    struct group_wait wait;
};

static int place_make(struct place_making *making)
{
    struct group_place *place = making->place;
    struct laz_group *group = place->group;

    int rc = laz_engine_new_beside(group->settings, &group->options, making->beside, &place->engine,
                                   &making->err);
    if (rc)
        return rc;
    place->pause = laz_timer_new(place->engine->driver.loop, place_pause_over, place);
    if (place->pause)
        return 0;
    laz_engine_end(place->engine);
    return laz_error_nomem(&making->err);
}

static void *place_thread(void *user)
{
    struct place_making *making = user;
    struct group_place *place = making->place;
    const int rc = making->rc = place_make(making);

    group_wait_over(&making->wait); /* it is gone */
    if (rc)
        return NULL;
    while (!place->ends) {
        (void)laz_driver_step(&place->engine->driver, LAZ_LOOP_FOREVER, NULL);
        place_make_runs(place);
    }
    pthread_mutex_lock(&place->lock); /* who told it to end has woken the loop */
    pthread_mutex_unlock(&place->lock);
    laz_timer_stop(place->pause);
    place->pause = NULL;
    group_pools_leave(place);
    laz_engine_end(place->engine);
    return NULL;
}

int group_place_begin(struct group_place *place, const struct laz_engine_beside *beside,
                      struct laz_error *err)
{
    struct place_making making = {.place = place, .beside = beside};

    place->stir.advance = place_advance;
    place->last = &place->calls;
    place->last_run = &place->runs;
    place->end.run = place_ends;
    group_wait_init(&making.wait);
    int failed = laz_os_thread(&place->thread, 0, place_thread, &making);
    if (failed)
        group_wait_over(&making.wait);
    group_wait(&making.wait);
    if (failed)
        return laz_error_start(err, failed, "cannot start the thread of an engine");
    if (!making.rc)
        return 0;
    pthread_join(place->thread, NULL);
    return err ? (*err = making.err, making.rc) : making.rc;
}

void group_place_end(struct group_place *place)
{
    pthread_mutex_lock(&place->lock);
    laz_loop_post(place->engine->driver.loop, &place->end);
    pthread_mutex_unlock(&place->lock);
}

void group_place_join(struct group_place *place)
{
    pthread_join(place->thread, NULL);
}
