/* SPDX-License-Identifier: MIT */
/* engine.c - an engine: makes what its sessions share, and frees it in the reverse order. */
#include "engine/engine.h"

#include "audit/audit.h"
#include "base/options.h"
#include "box/template.h"
#include "job/job.h"
#include "job/pool.h"
#include "os/cgroup.h"
#include "os/descriptors.h"
#include "os/directories.h"
#include "os/runtime_directory.h"
#include "os/spawner.h"
#include "os/system.h"
#include "os/uids.h"
#include "os/users.h"
#include "telemetry/spans.h"

#include <stdlib.h>
#include <string.h>

#define ENGINE_DEATH_MS 10000u /* a box may need over two seconds to end on a busy machine */
#define ENGINE_TOOLS_MS 10000u /* for callbacks that have not returned when the engine is freed */

const char *laz_version(void)
{
    return LAZ_VERSION;
}

int laz_version_number(void)
{
    return LAZ_VERSION_NUMBER;
}

/* ---- running the loop ----------------------------------------------------------------------- */

int laz_engine_step(struct laz_engine *engine, int64_t wait_ms, struct laz_error *err)
{
    if (!engine)
        return laz_error_null(err, "the engine");
    return laz_driver_step(&engine->driver, wait_ms < 0 ? LAZ_LOOP_FOREVER : (uint64_t)wait_ms,
                           err);
}

int laz_engine_fd(const struct laz_engine *engine)
{
    return engine ? laz_loop_fd(engine->driver.loop) : -1;
}

int laz_engine_timeout(const struct laz_engine *engine)
{
    return engine ? laz_driver_timeout(&engine->driver) : -1;
}

void laz_engine_cancel(struct laz_engine *engine)
{
    if (engine && (atomic_load(&engine->driver.in_use) || atomic_load(&engine->driver.busy)))
        laz_driver_cancel(&engine->driver, true);
}

/* ---- sessions, pools, tools ----------------------------------------------------------------- */

int laz_session_open(struct laz_engine *engine, const struct laz_session_options *options,
                     struct laz_session **session, struct laz_error *err)
{
    if (!session)
        return laz_error_null(err, "the pointer for the session");
    *session = NULL;
    if (!engine)
        return laz_error_null(err, "the engine");
    return laz_sessions_open(&engine->sessions, options, session, err);
}

int laz_pool_new(struct laz_engine *engine, const struct laz_pool_options *options,
                 struct laz_pool **pool, struct laz_error *err)
{
    if (!pool)
        return laz_error_null(err, "the pointer for the pool");
    *pool = NULL;
    if (!engine)
        return laz_error_null(err, "the engine");
    return laz_pools_open(&engine->sessions, options, NULL, pool, err);
}

int laz_execute(struct laz_engine *engine, const struct laz_session_options *session,
                const char *code, size_t len, const struct laz_execute_options *options,
                struct laz_result **result, struct laz_error *err)
{
    const struct laz_job_asked asked = {LAZ_JOB_OF(code, len, options, NULL, NULL),
                                        .session = session};

    if (!engine)
        return laz_error_null(err, "the engine");
    const struct laz_place place = laz_place_fresh(&engine->sessions, NULL);
    return laz_job_run(&asked, &place, result, err);
}

int laz_execute_async(struct laz_engine *engine, const struct laz_session_options *session,
                      const char *code, size_t len, const struct laz_execute_options *options,
                      void (*done)(void *user, struct laz_result *result,
                                   const struct laz_error *err),
                      void *user, struct laz_error *err)
{
    const struct laz_job_asked asked = {LAZ_JOB_OF(code, len, options, done, user),
                                        .session = session};

    if (!engine)
        return laz_error_null(err, "the engine");
    const struct laz_place place = laz_place_fresh(&engine->sessions, NULL);
    return laz_job_ask(&asked, &place, NULL, err);
}

int laz_engine_add_tool(struct laz_engine *engine, const struct laz_tool *tool,
                        void (*call)(void *user, const char *args, size_t args_len,
                                     struct laz_reply *reply),
                        void *user, struct laz_error *err)
{
    if (!engine)
        return laz_error_null(err, "the engine");
    int rc = laz_driver_enter(&engine->driver, err);
    if (rc)
        return rc;
    rc = laz_tools_add(&engine->tools, &engine->tools.set, tool, call, user, err);
    laz_driver_leave(&engine->driver);
    return rc;
}

/* The engine is entered only where there is something to do: its tools may be searched while it is
 * in use. */
static int engine_prepare_tools(struct laz_engine *engine, struct laz_error *err)
{
    if (laz_tools_are_prepared(&engine->tools))
        return 0;
    int rc = laz_driver_enter(&engine->driver, err);
    if (rc)
        return rc;
    rc = laz_tools_prepare(&engine->tools, err);
    laz_driver_leave(&engine->driver);
    return rc;
}

int laz_engine_search_tools(struct laz_engine *engine, const char *words, size_t limit,
                            const char **found, struct laz_error *err)
{
    if (!engine || !words || !found)
        return laz_error_null(err, !engine ? "the engine"
                                   : words ? "the pointer for the tools"
                                           : "the words");
    *found = NULL;
    int rc = engine_prepare_tools(engine, err);
    struct laz_buf *room = rc ? NULL : laz_found_room(engine->tools.found, engine);
    if (rc || !room)
        return rc ? rc : laz_error_nomem(err);
    laz_found_read(engine->tools.found);
    rc = laz_tool_set_search_json(&engine->tools.set, NULL, NULL, words, limit, room, err);
    laz_found_leave(engine->tools.found);
    *found = rc ? NULL : laz_buf_text(room);
    return rc;
}

const char *laz_engine_tools(struct laz_engine *engine)
{
    if (!engine || engine_prepare_tools(engine, NULL))
        return NULL;
    struct laz_buf *room = laz_found_room(engine->tools.found, engine);
    if (!room)
        return NULL;
    laz_found_read(engine->tools.found);
    laz_tool_set_json(&engine->tools.set, NULL, NULL, room);
    laz_found_leave(engine->tools.found);
    return room->failed ? NULL : laz_buf_text(room);
}

/* The tool of this name, as it was declared or as a language spells it; NULL: none. */
static struct laz_tool_entry *engine_tool(struct laz_engine *engine, const char *name,
                                          const struct laz_spelling *spelling)
{
    struct laz_tool_set *set = &engine->tools.set;
    const struct laz_tool_entry *declared = laz_tool_set_find(set, name, strlen(name));
    struct laz_tool_entry *entry = declared ? &set->entries[declared - set->entries] : NULL;

    for (size_t i = 0; spelling && i < set->n && !entry; i++) {
        const char *spelled = laz_tool_spelled(&set->entries[i], spelling);
        if (spelled && strcmp(spelled, name) == 0)
            entry = &set->entries[i];
    }
    return entry;
}

/* This thread is inside. */
static int engine_stub(struct laz_engine *engine, const char *name, const char *language,
                       struct laz_buf *stub, struct laz_error *err)
{
    const struct laz_language *declared = NULL;

    if (!language)
        language = laz_registry_usual_name(engine->registry, engine->values);
    int rc = laz_registry_language(engine->registry, language, &declared, err);
    if (!rc)
        rc = laz_tools_spell(&engine->tools, err);
    if (rc)
        return rc;
    if (!declared || !declared->stub.null_word)
        return laz_error_set(err, LAZ_EINVAL, 0, "cannot create stubs in the language '%.100s'",
                             language);
    const struct laz_spelling *spelling = laz_spelling_of(&engine->tools.spellings, language);
    struct laz_tool_entry *entry = engine_tool(engine, name, spelling);
    if (!entry)
        return laz_error_set(err, LAZ_ENOENT, 0, "there is no tool '%.150s'", name);
    const struct laz_tool_set one = {.entries = entry, .n = 1};
    return laz_tool_set_format(&one, language, declared, spelling, stub, err);
}

int laz_engine_tool_stub(struct laz_engine *engine, const char *name, const char *language,
                         const char **stub, struct laz_error *err)
{
    struct laz_driver *driver = engine ? &engine->driver : NULL;
    bool entered;

    if (!engine || !name || !stub)
        return laz_error_null(err, !engine ? "the engine"
                                   : name  ? "the pointer for the stub"
                                           : "the name of the tool");
    *stub = NULL;
    int rc = engine_prepare_tools(engine, err);
    if (!rc)
        rc = laz_driver_visit(driver, &entered, err);
    if (rc)
        return rc;
    struct laz_buf *room = laz_found_room(engine->tools.found, engine);
    rc = room ? engine_stub(engine, name, language, room, err) : laz_error_nomem(err);
    laz_driver_end_visit(driver, entered);
    *stub = rc ? NULL : laz_buf_text(room);
    return rc;
}

int laz_engine_check_tools(struct laz_engine *engine, const struct laz_session_tool *const *tools,
                           size_t n, struct laz_error *err)
{
    struct laz_tool_set *set = NULL;

    if (!engine)
        return laz_error_null(err, "the engine");
    int rc = laz_driver_enter(&engine->driver, err);
    if (rc)
        return rc;
    rc = laz_tools_prepare(&engine->tools, err);
    if (!rc)
        rc = laz_tools_of_session(&engine->tools, tools, n, &set, err);
    if (!rc)
        rc = laz_approvals_check(&engine->tools, set, engine->values, err);
    laz_tool_set_release(set);
    laz_driver_leave(&engine->driver);
    return rc;
}

int laz_engine_search_tools_with(struct laz_engine *engine,
                                 const struct laz_session_tool *const *tools, size_t n,
                                 const char *words, size_t limit, const char **found,
                                 struct laz_error *err)
{
    struct laz_tool_set *set = NULL;

    if (!engine || !words || !found)
        return laz_engine_search_tools(engine, words, limit, found, err);
    *found = NULL;
    int rc = laz_driver_enter(&engine->driver, err);
    if (rc)
        return rc;
    struct laz_buf *room = laz_found_room(engine->tools.found, engine);
    rc = room ? laz_tools_prepare(&engine->tools, err) : laz_error_nomem(err);
    if (!rc)
        rc = laz_tools_of_session(&engine->tools, tools, n, &set, err);
    if (!rc)
        rc = laz_tool_set_search_json(&engine->tools.set, set, NULL, words, limit, room, err);
    if (!rc)
        *found = laz_buf_text(room);
    laz_tool_set_release(set);
    laz_driver_leave(&engine->driver);
    return rc;
}

int laz_engine_set_approver(struct laz_engine *engine,
                            void (*decide)(void *user, const char *args, size_t args_len,
                                           struct laz_reply *reply),
                            void *user, struct laz_error *err)
{
    if (!engine)
        return laz_error_null(err, "the engine");
    int rc = laz_driver_enter(&engine->driver, err);
    if (rc)
        return rc;
    rc = laz_tools_set_approver(&engine->tools, decide, user, err);
    laz_driver_leave(&engine->driver);
    return rc;
}

/* ---- making and freeing --------------------------------------------------------------------- */

static int engine_find_agent(struct laz_engine *engine, struct laz_error *err)
{
    engine->agent = laz_installed_agent();
    if (!engine->agent)
        return laz_error_nomem(err);
    return laz_spawner_guard(engine->spawner, engine->agent, err);
}

static int engine_take_options(struct laz_engine *engine, const struct laz_engine_options *given,
                               struct laz_error *err)
{
    struct laz_engine_options options;
    struct laz_log *log = &engine->driver.log;

    int rc = LAZ_OPTIONS_TAKE(&options, given, laz_engine_options, err);
    *log = (struct laz_log){options.log, options.log_user, options.log_level};
    if (engine->values->session.verbose && log->level < LAZ_LOG_INFO)
        log->level = LAZ_LOG_INFO;
    return rc;
}

/* Passes to each room what it needs of the others; `first`: of its group, or NULL. */
static int engine_join(struct laz_engine *engine, const struct laz_engine *first,
                       struct laz_error *err)
{
    struct laz_box_shared *boxes = &engine->boxes;

    boxes->settings = engine->settings;
    boxes->values = engine->values;
    boxes->registry = engine->registry;
    boxes->spawner = engine->spawner;
    boxes->directory = engine->directory;
    boxes->agent = engine->agent;
    boxes->death_ms = ENGINE_DEATH_MS;
    boxes->programs.values = engine->values;
    boxes->programs.directory = engine->directory;
    int rc = laz_os_is_root() ? laz_uids_new(engine->values->sandbox.uids, &boxes->uids, err) : 0;
    rc = laz_settings_wrong(engine->values, "sandbox.uids", NULL, rc, err);
    if (!rc)
        rc = first ? laz_cgroups_new_beside(first->boxes.groups, &boxes->groups, err)
                   : laz_cgroups_new(false, &boxes->groups, err);
    if (!rc)
        rc = laz_tools_init(&engine->tools, &engine->driver, engine->spawner, engine->registry,
                            engine->settings, err);
    engine->sessions.settings = engine->settings;
    engine->sessions.registry = engine->registry;
    return rc ? rc : laz_sessions_begin_credentials(&engine->sessions, err);
}

unsigned laz_engines_usual(void)
{
    const unsigned processors = laz_os_usable_processors();

    return processors < LAZ_ENGINES_USUAL ? processors : LAZ_ENGINES_USUAL;
}

/* The worker threads of one engine: together they have as many as one alone, but at least one. */
static unsigned engine_workers(const struct laz_engine *engine,
                               const struct laz_engine_beside *beside)
{
    const unsigned all = (unsigned)engine->values->workers.max;
    const unsigned n = beside->n ? beside->n : 1;
    const unsigned share = all / n + (beside->number < all % n);

    return share ? share : 1;
}

int laz_engine_new(const struct laz_settings *settings, const struct laz_engine_options *options,
                   struct laz_engine **out, struct laz_error *err)
{
    return laz_engine_new_beside(settings, options, &(struct laz_engine_beside){0}, out, err);
}

int laz_engine_new_beside(const struct laz_settings *settings,
                          const struct laz_engine_options *options,
                          const struct laz_engine_beside *beside, struct laz_engine **out,
                          struct laz_error *err)
{
    struct laz_engine *engine = out ? calloc(1, sizeof *engine) : NULL;

    if (!out)
        return laz_error_null(err, "the pointer for the engine");
    *out = NULL;
    if (!engine)
        return laz_error_nomem(err);
    engine->directory_lock = -1;
    engine->is_owned = beside->is_owned;
    engine->tools.use = beside->use;
    engine->tools_ms = ENGINE_TOOLS_MS;
    engine->boxes.driver = engine->sessions.driver = &engine->driver;
    engine->sessions.boxes = &engine->boxes;
    engine->sessions.tools = &engine->tools;
    engine->sessions.pooled = beside->pooled ? beside->pooled : &engine->pooled;
    if (beside->first)
        engine->sessions.audit = laz_audit_share(beside->first->sessions.audit);
    if (beside->first)
        engine->sessions.spans = laz_spans_share(beside->first->sessions.spans);
    int rc = settings ? laz_settings_copy(settings, &engine->settings, err)
                      : laz_settings_new(&engine->settings, err);
    if (rc)
        goto fail;
    engine->values = engine->sessions.values = laz_settings_values(engine->settings);
    if ((rc = engine_take_options(engine, options, err)) ||
        (rc = laz_jobs_init(&engine->sessions, err)) ||
        (rc = laz_driver_init(&engine->driver, engine_workers(engine, beside), err)) ||
        (rc = laz_workers_new(1, &engine->boxes.remover, err)) ||
        (rc = laz_spawner_new(&engine->spawner, err)) || (rc = engine_find_agent(engine, err)) ||
        (rc = laz_registry_new(engine->values, &engine->driver.log, &engine->registry, err)) ||
        (rc = laz_tables_check(engine->registry, engine->settings, err)) ||
        (rc = laz_os_runtime_directory(&engine->directory, &engine->directory_lock, err)) ||
        (rc = engine_join(engine, beside->first, err)))
        goto fail;
    *out = engine;
    return 0;
fail:
    laz_engine_end(engine);
    return rc;
}

void laz_engine_close_tools(struct laz_engine *engine)
{
    engine->tools.are_all = true;
}

int laz_engine_inspect(const struct laz_settings *settings,
                       const struct laz_engine_options *options, struct laz_engine **engine,
                       struct laz_error *err)
{
    const struct laz_engine_beside beside = {.use = LAZ_TOOLS_CHECKED};
    int rc = laz_engine_new_beside(settings, options, &beside, engine, err);

    if (!rc)
        laz_engine_close_tools(*engine);
    if (!rc)
        rc = laz_sessions_inspect(&(*engine)->sessions, err);
    return laz_settings_wrong(laz_settings_values(settings), NULL, NULL, rc, err);
}

/* Frees what no callback of a tool or a hook can use. */
static void engine_free_boxes(struct laz_engine *engine)
{
    if (engine->directory)
        laz_os_remove_tree(engine->directory);
    laz_box_shared_fini(&engine->boxes);
    free(engine->directory);
    laz_os_close(&engine->directory_lock);
    laz_audit_free(engine->sessions.audit);
    laz_spans_free(engine->sessions.spans);
    free(engine->agent);
}

/* Frees the engine, which this thread has begun to end. */
static void engine_end(struct laz_engine *engine)
{
    if (engine->driver.loop && laz_loop_is_lost(engine->driver.loop)) { /* numbers of others now */
        laz_log(&engine->driver.log, LAZ_LOG_ERROR,
                "the application has closed the descriptors of the engine: its sessions end by "
                "that, and its memory is left");
        laz_sessions_leave(&engine->sessions);
        laz_spans_free(engine->sessions.spans);
        return;
    }
    laz_jobs_free(&engine->sessions);
    laz_sessions_end_network(&engine->sessions);
    laz_sessions_end_credentials(&engine->sessions);
    laz_templates_end(&engine->boxes);
    while (engine->boxes.leaving) /* boxes that are ending; a timer of each bounds the wait */
        laz_driver_turn(&engine->driver, LAZ_LOOP_FOREVER);
    laz_templates_free(&engine->boxes);
    laz_box_end_fars(&engine->boxes);
    laz_looks_free(engine->sessions.looks);
    engine->sessions.looks = NULL;           /* callbacks may still come */
    laz_workers_free(engine->boxes.remover); /* it has no work */
    unsigned stuck = laz_driver_end_workers(&engine->driver, engine->tools_ms);
    if (stuck) { /* they return to memory of the engine, of its tools and plugins */
        laz_log(&engine->driver.log, LAZ_LOG_ERROR,
                "%u callbacks of tools did not return within %g seconds: their threads, their "
                "tool providers and some memory of the engine are left to them",
                stuck, (double)engine->tools_ms / 1000.0);
        engine_free_boxes(engine);
        return;
    }
    laz_tools_end(&engine->tools);
    laz_tools_fini(&engine->tools);
    laz_box_end_scope(&engine->boxes);
    laz_spawner_free(engine->spawner);
    if (engine->driver.loop && laz_loop_handles(engine->driver.loop))
        laz_log(&engine->driver.log, LAZ_LOG_ERROR,
                "tool providers did not stop %u watches and timers",
                laz_loop_handles(engine->driver.loop));
    laz_driver_fini(&engine->driver);
    engine_free_boxes(engine);
    laz_registry_free(engine->registry);
    laz_settings_free(engine->settings);
    free(engine);
}

void laz_engine_end(struct laz_engine *engine)
{
    if (engine && laz_driver_begin_end(&engine->driver))
        engine_end(engine);
}

void laz_engine_free(struct laz_engine *engine)
{
    if (!engine || laz_driver_is_foreign(&engine->driver))
        return;
    if (!engine->is_owned && !laz_driver_calls_back(&engine->driver) &&
        laz_driver_begin_end(&engine->driver))
        engine_end(engine);
    else if (!laz_log_tells(&engine->driver.log))
        laz_log(&engine->driver.log, LAZ_LOG_ERROR, "laz_engine_free has no effect: %s",
                engine->is_owned
                    ? "the engine is that of a group"
                    : "it was called by a callback, or while a thread uses the engine");
}
