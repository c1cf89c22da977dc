/* SPDX-License-Identifier: MIT */
/* hook.c - runs the command of session.pre_execute_hook in a worker, while the loop goes on.
 * Side: host.  Input trusted: yes (a command of the settings; the code is data to it).
 *
 * A hook may take half a minute, so a worker runs it and posts the answer to the loop: no other
 * session has to wait.  Tools may occupy all workers, possibly for ever; then a timer answers with
 * an error.  `is_taken` says which of the two came first. */
#include "tool/tool.h"

#include "base/container.h"
#include "settings/settings.h"
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
    void (*answered)(void *user); /* NULL: cancelled */
    bool was_late;                /* the timer came first and has called `answered` */
    bool has_arrived;             /* the worker has finished */
    void *user;
    char *code;
    size_t len;
    struct laz_strv env;
    int rc;
    char reason[400];
    struct laz_error err;
};

int laz_hook_check(const struct laz_settings_values *values, struct laz_error *err)
{
    const struct laz_strv *command = &values->session.pre_execute_hook;
    int rc = command->n ? laz_command_check(command->items[0], err) : 0;

    if (rc && !(err && laz_error_is_shortage(err)))
        rc = laz_error_as(err, LAZ_ECONFIG);
    return laz_settings_wrong(values, "session.pre_execute_hook", NULL, rc, err);
}

static void hook_free(struct laz_hook *hook)
{
    laz_timer_stop(hook->timer);
    laz_strv_fini(&hook->env);
    free(hook->code);
    free(hook);
}

static void hook_arrives(struct laz_post *post)
{
    struct laz_hook *hook = LAZ_CONTAINER(post, struct laz_hook, post);

    hook->has_arrived = true;
    if (!hook->answered)
        hook_free(hook);
    else if (!hook->was_late)
        hook->answered(hook->user);
}

static void hook_timed_out(void *user)
{
    struct laz_hook *hook = user;

    if (atomic_exchange(&hook->is_taken, true))
        return; /* the command runs, and has a timeout of its own */
    hook->was_late = true;
    hook->rc = laz_error_set(&hook->err, LAZ_ETIMEOUT, 0,
                             "the hook could not be run within %d seconds, because tools that have "
                             "not returned occupy all threads",
                             LAZ_HOOK_TIMEOUT_MS / 1000);
    hook->answered(hook->user);
}

/* In a worker thread. */
static void hook_work(struct laz_work *work)
{
    struct laz_hook *hook = LAZ_CONTAINER(work, struct laz_hook, work);

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
    hook->timer = laz_timer_new(driver->loop, hook_timed_out, hook);
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
