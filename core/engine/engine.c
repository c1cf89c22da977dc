/* SPDX-License-Identifier: MIT */
/* engine.c - an engine: what its sessions share, made in one order and undone in the other.
 *
 * The engine is driven by the thread that calls it and by nobody else: a flag, not a lock, keeps a
 * second thread or a callback out, so a mistake is an error and never a deadlock.  One turn of its
 * loop serves what has happened; reports of boxes are only noted by then, and the sessions that
 * they concern go on after it, each in its turn.  There everything is in order, so the callbacks of
 * what has ended are called there, and these alone may use the engine. */
#include "engine/engine.h"

#include "audit/audit.h"
#include "session/audit_events.h"
#include "session/lend.h"
#include "session/pool.h"
#include "session/session.h"
#include "engine/tables.h"
#include "box/template.h"
#include "tool/watch.h"

#include <stdlib.h>
#include <string.h>

#define ENGINE_DEATH_MS 10000u /* a busy machine has taken more than two seconds */
#define ENGINE_WORKERS  64u    /* tools that may block at the same time */
#define ENGINE_LEFT_MS  50u    /* a loop that nobody drove for so long was left alone */

const char *laz_version(void)
{
    return LAZ_VERSION;
}

/* The engine whose callbacks this thread is inside of, where these may use it. */
static _Thread_local const struct laz_engine *engine_open;

static int engine_take(struct laz_engine *engine, struct laz_error *err)
{
    if (!atomic_exchange(&engine->in_use, true))
        return 0;
    if (engine_open != engine)
        return laz_error_set(err, LAZ_EBUSY, 0,
                             "the engine is in use, by another thread or by the execution that "
                             "called back");
    engine_open = NULL; /* its own callbacks are as closed as any */
    engine->depth++;
    return 0;
}

static void engine_cancel_now(struct laz_engine *engine)
{
    bool all = atomic_exchange(&engine->cancel_all, false);

    for (struct laz_session *session = engine->sessions; session; session = session->next)
        if (atomic_exchange(&session->cancel, false) || all)
            laz_execution_cancel(session);
    if (all)
        laz_pools_cancel(engine);
}

int laz_engine_enter(struct laz_engine *engine, struct laz_error *err)
{
    int rc = engine_take(engine, err);

    if (rc)
        return rc;
    if (!atomic_load(&engine->busy)) {
        atomic_store(&engine->cancel, false);
        atomic_store(&engine->cancel_all, false);
    } else if (atomic_exchange(&engine->cancel, false)) {
        engine_cancel_now(engine); /* not what is begun from here on */
    }
    if (laz_loop_now_ms(engine->loop) - engine->driven_ms > ENGINE_LEFT_MS)
        for (struct laz_session *session = engine->sessions; session; session = session->next)
            laz_session_be_patient(session);
    return 0;
}

void laz_engine_leave(struct laz_engine *engine)
{
    engine->driven_ms = laz_loop_now_ms(engine->loop);
    engine->touched = true;
    if (engine->depth) {
        engine->depth--;
        engine_open = engine;
    } else {
        atomic_store(&engine->in_use, false);
    }
}

void laz_engine_begin_callback(struct laz_engine *engine)
{
    if (!engine->is_ending)
        engine_open = engine;
}

void laz_engine_end_callback(struct laz_engine *engine)
{
    (void)engine;
    engine_open = NULL;
}

/* ---- driving -------------------------------------------------------------------------------- */

void laz_engine_turn(struct laz_engine *engine, uint64_t wait_ms)
{
    if (engine->stirred)
        wait_ms = 0;
    if (!wait_ms || !laz_lend_serve(engine))
        laz_loop_step(engine->loop, wait_ms);
    if (atomic_exchange(&engine->cancel, false))
        engine_cancel_now(engine);
    while (engine->stirred) { /* a callback may free any of them */
        struct laz_stir *stir = engine->stirred;
        engine->stirred = stir->next;
        stir->is_listed = false;
        stir->advance(stir);
    }
}

void laz_engine_stir(struct laz_engine *engine, struct laz_stir *stir)
{
    if (stir->is_listed)
        return;
    stir->is_listed = true;
    stir->next = engine->stirred;
    engine->stirred = stir;
}

void laz_engine_unstir(struct laz_engine *engine, struct laz_stir *stir)
{
    struct laz_stir **at = &engine->stirred;

    while (*at && *at != stir)
        at = &(*at)->next;
    if (*at)
        *at = stir->next;
    stir->is_listed = false;
}

int laz_engine_step(struct laz_engine *engine, int64_t wait_ms, struct laz_error *err)
{
    int rc = engine_take(engine, err);

    if (rc)
        return rc;
    laz_engine_turn(engine, wait_ms < 0 ? LAZ_LOOP_FOREVER : (uint64_t)wait_ms);
    laz_engine_leave(engine);
    engine->touched = engine->stirred != NULL;
    return 0;
}

int laz_engine_fd(const struct laz_engine *engine)
{
    return laz_loop_fd(engine->loop);
}

int laz_engine_timeout(const struct laz_engine *engine)
{
    return engine->touched ? 0 : laz_loop_timeout(engine->loop);
}

void laz_engine_cancel(struct laz_engine *engine)
{
    if (!engine || (!atomic_load(&engine->in_use) && !atomic_load(&engine->busy)))
        return;
    atomic_store(&engine->cancel_all, true);
    atomic_store(&engine->cancel, true);
    laz_loop_wake(engine->loop);
}

void laz_session_cancel(struct laz_session *session)
{
    if (!session || !atomic_load(&session->executing))
        return;
    atomic_store(&session->cancel, true);
    atomic_store(&session->engine->cancel, true);
    laz_loop_wake(session->engine->loop);
}

/* ---- making and undoing --------------------------------------------------------------------- */

static int engine_make_tools(struct laz_engine *engine, struct laz_error *err)
{
    const struct laz_provider_host host = {
        .host = engine,
        .log = &engine->log,
        .spawner = engine->spawner,
        .answer = laz_call_answer,
        .answer_error = laz_call_answer_error,
        .scratch = laz_call_scratch,
        .watch_fd = laz_watch_fd,
        .watch_timer = laz_watch_timer,
        .watch_stop = laz_watch_stop,
    };

    int rc = laz_providers_reserved(engine->registry, &engine->reserved, err);
    if (!rc)
        rc = laz_providers_new(engine->registry, engine->settings, &engine->reserved, &host,
                               &engine->tools, &engine->providers, err);
    if (!rc)
        rc = laz_calls_make_queues(engine, err);
    return rc;
}

static int engine_find_agent(struct laz_engine *engine, struct laz_error *err)
{
    engine->agent = laz_installed_agent();
    if (!engine->agent)
        return laz_error_nomem(err);
    return laz_spawner_guard(engine->spawner, engine->agent, err);
}

static void engine_take_options(struct laz_engine *engine, const struct laz_engine_options *given)
{
    struct laz_engine_options options = {0};

    if (given)
        memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
    engine->log = (struct laz_log){options.log, options.log_user, options.log_level};
    if (engine->values->session.verbose && engine->log.level < LAZ_LOG_INFO)
        engine->log.level = LAZ_LOG_INFO;
}

int laz_engine_new(const struct laz_settings *settings, const struct laz_engine_options *options,
                   struct laz_engine **out, struct laz_error *err)
{
    struct laz_engine *engine = calloc(1, sizeof *engine);

    *out = NULL;
    if (!engine)
        return laz_error_nomem(err);
    engine->folder_lock = -1;
    int rc = settings ? laz_settings_copy(settings, &engine->settings, err)
                      : laz_settings_new(&engine->settings, err);
    if (rc)
        goto fail;
    engine->values = laz_settings_values(engine->settings);
    engine->death_ms = ENGINE_DEATH_MS;
    engine_take_options(engine, options);
    if ((rc = laz_audit_open(engine, err)) || (rc = laz_loop_new(&engine->loop, err)) ||
        (rc = laz_spawner_new(&engine->spawner, err)) || (rc = engine_find_agent(engine, err)) ||
        (rc = laz_workers_new(ENGINE_WORKERS, &engine->workers, err)) ||
        (rc = laz_lend_new(&engine->lend, err)) ||
        (rc = laz_registry_new(&engine->values->plugins.path, &engine->log, &engine->registry,
                               err)) ||
        (rc = laz_tables_check(engine->registry, engine->settings, NULL, err)) ||
        (rc = laz_os_runtime_folder(&engine->folder, &engine->folder_lock, err)) ||
        (laz_os_is_root() &&
         (rc = laz_uids_new(engine->values->sandbox.uids, &engine->uids, err))) ||
        (rc = laz_cgroups_new(false, &engine->groups, err)) ||
        (rc = engine_make_tools(engine, err)))
        goto fail;
    *out = engine;
    return 0;
fail:
    laz_engine_free(engine);
    return rc;
}

void laz_engine_free(struct laz_engine *engine)
{
    if (!engine)
        return;
    engine->is_ending = true;
    atomic_store(&engine->in_use, false);
    laz_pools_free(engine);
    while (engine->sessions) /* what they were executing is cancelled, and told so */
        laz_session_free(engine->sessions);
    laz_templates_end(engine);
    while (engine->leaving) /* each has a timer that ends the wait */
        laz_engine_turn(engine, LAZ_LOOP_FOREVER);
    laz_templates_free(engine);
    laz_workers_free(engine->workers);
    if (engine->loop)
        laz_calls_settle(engine);
    laz_providers_free(engine->providers);
    laz_calls_fini(engine);
    laz_lend_free(engine->lend);
    laz_tool_set_fini(&engine->tools);
    laz_spawner_free(engine->spawner);
    if (engine->loop && laz_loop_handles(engine->loop))
        laz_log(&engine->log, LAZ_LOG_ERROR, "tool providers left %u watches and timers",
                laz_loop_handles(engine->loop));
    laz_loop_free(engine->loop);
    laz_buf_fini(&engine->choice.options);
    free(engine->choice.name);
    laz_engine_free_programs(engine);
    laz_registry_free(engine->registry);
    laz_strv_fini(&engine->unmet);
    laz_strv_fini(&engine->reserved);
    if (engine->folder)
        laz_os_remove_tree(engine->folder);
    free(engine->folder);
    laz_os_close(&engine->folder_lock);
    laz_cgroups_free(engine->groups);
    laz_uids_free(engine->uids);
    laz_audit_free(engine->audit);
    free(engine->agent);
    laz_settings_free(engine->settings);
    free(engine);
}
