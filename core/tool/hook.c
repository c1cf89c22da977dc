/* SPDX-License-Identifier: MIT */
/* hook.c - asking the command of session.pre_execute_hook about code, while the loop goes on.
 * Side: host.  Input trusted: yes (a command of the settings; the code is data to it).
 *
 * A hook may take half a minute: it is asked by a worker, so that no other session waits for it,
 * and what it answers comes back as a post.  Where tools occupy all workers, and may do so for
 * ever, a timer answers in their place: whoever of the two takes the hook first, by `is_taken`. */
#include "tool/hook.h"

#include "loop/driver.h"
#include "tool/command.h"

#include <stdio.h>
#include <stdlib.h>

struct laz_hook {
    struct laz_work work;
    struct laz_post post;
    struct laz_driver *driver;
    struct laz_spawner *spawner;
    const struct laz_strv *command;
    struct laz_timer *timer;
    atomic_bool is_taken;
    void (*answered)(void *user); /* NULL: nobody waits any more */
    bool was_late;                /* and its owner was told */
    bool has_arrived;             /* the worker is done with it */
    void *user;
    char *code;
    size_t len;
    struct laz_strv env;
    int rc;
    char reason[400];
    struct laz_error err;
};

static void hook_free(struct laz_hook *hook)
{
    laz_timer_stop(hook->timer);
    laz_strv_fini(&hook->env);
    free(hook->code);
    free(hook);
}

static void hook_arrives(struct laz_post *post)
{
    struct laz_hook *hook =
        (struct laz_hook *)(void *)((char *)post - offsetof(struct laz_hook, post));

    hook->has_arrived = true;
    if (!hook->answered)
        hook_free(hook);
    else if (!hook->was_late)
        hook->answered(hook->user);
}

static void hook_too_late(void *user)
{
    struct laz_hook *hook = user;

    if (atomic_exchange(&hook->is_taken, true))
        return; /* it is being asked, and that has an end of its own */
    hook->was_late = true;
    hook->rc = laz_error_set(&hook->err, LAZ_ETIMEOUT, 0,
                             "it was not asked for %d seconds, because tools that have not ended "
                             "occupy all threads",
                             LAZ_HOOK_TIMEOUT_MS / 1000);
    hook->answered(hook->user);
}

/* On a worker. */
static void hook_work(struct laz_work *work)
{
    struct laz_hook *hook =
        (struct laz_hook *)(void *)((char *)work - offsetof(struct laz_hook, work));

    if (!atomic_exchange(&hook->is_taken, true))
        hook->rc = laz_hook_run(hook->spawner, (const char *const *)hook->command->items,
                                (const char *const *)hook->env.items, hook->code, hook->len,
                                hook->reason, sizeof hook->reason, &hook->err);
    laz_loop_post(hook->driver->loop, &hook->post);
}

int laz_hook_begin(struct laz_driver *driver, struct laz_spawner *spawner,
                   const struct laz_strv *command, const char *code, size_t len,
                   void (*answered)(void *user), void *user, struct laz_hook **out,
                   struct laz_error *err)
{
    struct laz_hook *hook = calloc(1, sizeof *hook);

    if (!hook)
        return laz_error_nomem(err);
    hook->work.run = hook_work;
    hook->post.run = hook_arrives;
    hook->driver = driver;
    hook->spawner = spawner;
    hook->command = command;
    hook->answered = answered;
    hook->user = user;
    hook->code = laz_strndup(code, len);
    hook->len = len;
    hook->timer = laz_timer_new(driver->loop, hook_too_late, hook);
    int rc =
        hook->code && hook->timer ? laz_command_environment(&hook->env, err) : laz_error_nomem(err);
    if (!rc)
        rc = laz_workers_add(driver->workers, &hook->work, err);
    if (rc) {
        hook_free(hook);
        return rc;
    }
    laz_timer_start(hook->timer, LAZ_HOOK_TIMEOUT_MS);
    *out = hook;
    return 0;
}

int laz_hook_end(struct laz_hook *hook, char *detail, size_t detail_size)
{
    int rc = hook->rc;

    snprintf(detail, detail_size, "%s", rc == LAZ_EREFUSED ? hook->reason : hook->err.text);
    laz_hook_forget(hook);
    return rc;
}

void laz_hook_forget(struct laz_hook *hook)
{
    hook->answered = NULL;
    laz_timer_cancel(hook->timer);
    if (hook->has_arrived)
        hook_free(hook);
}
