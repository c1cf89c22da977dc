/* SPDX-License-Identifier: MIT */
/* engine.c - an engine: what its sessions share, made in one order and undone in the other.
 *
 * The engine is driven by the thread that calls it and by nobody else: a flag, not a lock, keeps a
 * second thread or a callback out, so a mistake is an error and never a deadlock. */
#include "engine/engine.h"

#include "engine/audit.h"
#include "engine/audit_events.h"
#include "engine/lend.h"
#include "engine/session.h"
#include "engine/tables.h"
#include "engine/watch.h"

#include <stdlib.h>
#include <string.h>

#define ENGINE_WORKERS 64u /* tools that may block at the same time */

const char *laz_version(void)
{
    return LAZ_VERSION;
}

int laz_engine_enter(struct laz_engine *engine, struct laz_error *err)
{
    if (atomic_exchange(&engine->in_use, true))
        return laz_error_set(err, LAZ_EBUSY, 0,
                             "the engine is in use, by another thread or by the execution that "
                             "called back");
    atomic_store(&engine->cancel, false);
    return 0;
}

void laz_engine_leave(struct laz_engine *engine)
{
    atomic_store(&engine->in_use, false);
}

void laz_engine_cancel(struct laz_engine *engine)
{
    if (!engine || !atomic_load(&engine->in_use))
        return;
    atomic_store(&engine->cancel, true);
    laz_loop_wake(engine->loop);
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
    engine_take_options(engine, options);
    if ((rc = laz_audit_open(engine, err)) || (rc = laz_loop_new(&engine->loop, err)) ||
        (rc = laz_spawner_new(&engine->spawner, err)) ||
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
    engine->agent = laz_installed_agent();
    if (!engine->agent) {
        rc = laz_error_nomem(err);
        goto fail;
    }
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
    while (engine->sessions) {
        struct laz_session *session = engine->sessions;
        atomic_store(&session->executing, false);
        atomic_store(&engine->in_use, false);
        laz_session_free(session);
    }
    while (engine->leaving) /* each has a timer that ends the wait */
        laz_loop_step(engine->loop);
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
