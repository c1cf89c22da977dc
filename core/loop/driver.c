/* SPDX-License-Identifier: MIT */
/* driver.c - drives the loop of an engine: one thread at a time, turn by turn.
 *
 * The loop runs in the thread that calls the engine. A flag, not a lock, keeps a second thread or a
 * callback out, so that wrong use is reported as an error and never deadlocks. */
#include "loop/driver.h"

#include "base/clock.h"
#include "base/container.h"
#include "os/current_process.h"

#define DRIVER_TASKS   2u  /* threads; a task is finite, and nobody waits for it but its session */
#define DRIVER_LEFT_MS 50u /* after a longer pause between two calls, `resumed` is called */

/* The driver whose callback this thread is running, if that callback may call the engine. */
static _Thread_local const struct laz_driver *driver_open;
static _Thread_local char driver_self; /* its address stands for this thread */

int laz_driver_init(struct laz_driver *driver, unsigned workers, struct laz_error *err)
{
    driver->process = laz_os_process_id();
    driver->forks = laz_os_forks();
    int rc = laz_loop_new(&driver->loop, err);
    if (!rc)
        rc = laz_workers_new(workers, &driver->workers, err);
    return rc ? rc : laz_workers_new(DRIVER_TASKS, &driver->tasks, err);
}

bool laz_driver_is_foreign(const struct laz_driver *driver)
{
    return driver->process && driver->forks != laz_os_forks();
}

unsigned laz_driver_end_workers(struct laz_driver *driver, uint64_t ms)
{
    laz_workers_free(driver->tasks);
    driver->tasks = NULL;
    unsigned left = laz_workers_end(driver->workers, ms);

    if (!left) /* else the threads still have them */
        driver->workers = NULL;
    return left;
}

void laz_driver_fini(struct laz_driver *driver)
{
    (void)laz_driver_end_workers(driver, LAZ_WORKERS_FOREVER);
    laz_loop_free(driver->loop);
    driver->loop = NULL;
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static void task_done(struct laz_post *post)
{
    struct laz_task *task = LAZ_CONTAINER(post, struct laz_task, post);

    task->done(task);
}

static void task_run(struct laz_work *work)
{
    struct laz_task *task = LAZ_CONTAINER(work, struct laz_task, work);
    struct laz_driver *driver = task->driver;

    if (driver->before_task)
        driver->before_task(driver->before_task_user);
    task->run(task);
    task->post.run = task_done;
    laz_loop_post(driver->loop, &task->post);
}

int laz_driver_begin_task(struct laz_driver *driver, struct laz_task *task, struct laz_error *err)
{
    task->driver = driver;
    task->work.run = task_run;
    return laz_workers_add(driver->tasks, &task->work, err);
}

/* ---- entering and leaving ------------------------------------------------------------------- */

void laz_driver_hold(struct laz_driver *driver, bool holds)
{
    atomic_store(&driver->holder, holds ? &driver_self : NULL);
}

bool laz_driver_is_here(const struct laz_driver *driver)
{
    return atomic_load(&driver->holder) == &driver_self;
}

bool laz_driver_calls_back(const struct laz_driver *driver)
{
    return laz_log_tells(&driver->log) || laz_workers_have_this(driver->workers);
}

static int driver_take(struct laz_driver *driver, struct laz_error *err)
{
    if (laz_driver_is_foreign(driver))
        return laz_error_set(err, LAZ_EREFUSED, 0,
                             "the engine belongs to process %lld, which has made it: a child made "
                             "by fork() needs an engine of its own",
                             (long long)driver->process);
    if (!driver->is_ending && !laz_loop_has_fd(driver->loop))
        return laz_error_set(err, LAZ_EINVAL, 0,
                             "the application has closed the engine's descriptor (%d), which "
                             "laz_engine_fd only lends: free the engine and make another one",
                             laz_loop_fd(driver->loop));
    /* Not even when none is inside: who then came to drive the engine would be refused. */
    const bool is_tool = laz_workers_have_this(driver->workers);
    if (!is_tool && !atomic_exchange(&driver->in_use, true)) {
        laz_driver_hold(driver, true);
        return 0;
    }
    if (driver_open != driver && driver->is_ending)
        return laz_error_set(err, LAZ_ECLOSED, 0, "the engine is being freed");
    if (driver_open != driver)
        return laz_error_set(err, LAZ_EBUSY, 0,
                             "the engine is in use, by another thread or by the execution that "
                             "called back");
    driver_open = NULL; /* until this call has returned, no other may enter */
    driver->depth++;
    return 0;
}

int laz_driver_enter(struct laz_driver *driver, struct laz_error *err)
{
    int rc = driver_take(driver, err);

    if (rc)
        return rc;
    if (!atomic_load(&driver->busy)) {
        atomic_store(&driver->cancel, false);
        atomic_store(&driver->cancel_all, false);
    } else if (atomic_exchange(&driver->cancel, false)) {
        driver->owner.cancelled(driver->owner.user); /* does not affect what starts after it */
    }
    if (laz_loop_now_ms(driver->loop) - driver->driven_ms > DRIVER_LEFT_MS)
        driver->owner.resumed(driver->owner.user);
    return 0;
}

static void driver_give(struct laz_driver *driver)
{
    if (driver->depth) {
        driver->depth--;
        driver_open = driver;
    } else {
        laz_driver_hold(driver, false);
        atomic_store(&driver->in_use, false);
    }
}

void laz_driver_leave(struct laz_driver *driver)
{
    driver->driven_ms = laz_loop_now_ms(driver->loop);
    driver->touched = true;
    driver_give(driver);
}

int laz_driver_visit(struct laz_driver *driver, bool *entered, struct laz_error *err)
{
    *entered = !laz_driver_is_here(driver);
    return *entered ? driver_take(driver, err) : 0;
}

void laz_driver_end_visit(struct laz_driver *driver, bool entered)
{
    if (entered)
        driver_give(driver);
}

bool laz_driver_begin_end(struct laz_driver *driver)
{
    if (atomic_exchange(&driver->in_use, true))
        return false;
    laz_driver_hold(driver, true);
    driver->is_ending = true;
    return true;
}

void laz_driver_let_in(struct laz_driver *driver)
{
    driver_open = driver;
}

void laz_driver_begin_callback(struct laz_driver *driver)
{
    if (!driver->is_ending)
        driver_open = driver;
}

void laz_driver_end_callback(struct laz_driver *driver)
{
    (void)driver;
    driver_open = NULL;
}

/* ---- driving -------------------------------------------------------------------------------- */

void laz_driver_turn(struct laz_driver *driver, uint64_t wait_ms)
{
    if (driver->stirred)
        wait_ms = 0;
    laz_pulse_waits(&driver->pulse);
    if (!wait_ms || !driver->owner.serve(driver->owner.user))
        laz_loop_step(driver->loop, wait_ms);
    laz_pulse_works(&driver->pulse, laz_clock_us());
    driver->driven_ms = laz_loop_now_ms(driver->loop); /* waiting is not a pause */
    if (atomic_exchange(&driver->cancel, false))
        driver->owner.cancelled(driver->owner.user);
    while (driver->stirred) { /* `advance` may remove and free any entry of the list */
        struct laz_stir *stir = driver->stirred;
        driver->stirred = stir->next;
        stir->is_listed = false;
        stir->advance(stir);
    }
}

int laz_driver_step(struct laz_driver *driver, uint64_t wait_ms, struct laz_error *err)
{
    int rc = driver_take(driver, err);

    if (rc)
        return rc;
    laz_driver_turn(driver, wait_ms);
    laz_driver_leave(driver);
    driver->touched = driver->stirred != NULL;
    return 0;
}

int laz_driver_timeout(const struct laz_driver *driver)
{
    const bool is_tool = laz_workers_have_this(driver->workers);
    if ((is_tool || atomic_load(&driver->in_use)) && !laz_driver_is_here(driver))
        return 0; /* another thread does something, or may at any moment */
    return driver->touched ? 0 : laz_loop_timeout(driver->loop);
}

void laz_driver_stir(struct laz_driver *driver, struct laz_stir *stir)
{
    if (stir->is_listed)
        return;
    stir->is_listed = true;
    stir->next = driver->stirred;
    driver->stirred = stir;
}

void laz_driver_unstir(struct laz_driver *driver, struct laz_stir *stir)
{
    struct laz_stir **at = &driver->stirred;

    while (*at && *at != stir)
        at = &(*at)->next;
    if (*at)
        *at = stir->next;
    stir->is_listed = false;
}

void laz_driver_cancel(struct laz_driver *driver, bool all)
{
    if (laz_driver_is_foreign(driver))
        return;
    if (all)
        atomic_store(&driver->cancel_all, true);
    atomic_store(&driver->cancel, true);
    laz_loop_wake(driver->loop);
}
