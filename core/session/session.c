/* SPDX-License-Identifier: MIT */
/* session.c - a session: an interpreter in a box, which may be replaced while the session stays.
 * Side: host.  Input trusted: no (wire/message.c checks what the agent sends).
 *
 * session_box.c has its boxes, session_start.c their starts, execute.c its executions.  These put
 * the session on the driver's list (laz_session_stir) when something has happened; it advances
 * between two turns of the loop. */
#include "session/session.h"

#include "base/container.h"
#include "base/json.h"
#include "base/options.h"
#include "base/random.h"
#include "os/descriptors.h"
#include "session/audit_events.h"
#include "session/session_credentials.h"
#include "session/session_network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SESSION_FINISH_MS 2000u /* for an interpreter that is closed: exit handlers, open files */

/* ---- between two turns of the loop ----------------------------------------------------------- */

static void session_advance(struct laz_stir *stir)
{
    struct laz_session *session = LAZ_CONTAINER(stir, struct laz_session, stir);

    laz_session_advance_start(session);
    if (session->wanted) {
        session->shared->listener->advance(session);
    } else if (session->owner) {
        session->owner->changed(session->owner);
    } else if (atomic_load(&session->freeing)) {
        laz_session_settle(session);
    }
}

/* ---- the public functions ------------------------------------------------------------------- */

void laz_session_destroy(struct laz_session *session)
{
    struct laz_session **at = &session->shared->sessions;

    laz_session_abandon_start(session);
    if (session->box)
        laz_session_drop_box(session, LAZ_EVENT_CLOSE);
    laz_session_count(session->state, -1);
    while (*at && *at != session)
        at = &(*at)->next;
    if (*at)
        *at = session->next;
    laz_tools_session_closed(session->shared->tools, session->id);
    laz_driver_unstir(session->shared->driver, &session->stir);
    laz_timer_stop(session->start_timer);
    laz_timer_stop(session->code_timer);
    laz_timer_stop(session->deadline_timer);
    laz_timer_stop(session->guard.timer);
    laz_guard_renew(&session->guard);
    for (int stream = 1; stream <= 2; stream++)
        laz_buf_fini(&session->early[stream]);
    laz_buf_fini(&session->runtime_options);
    laz_strv_fini(&session->runtime_paths);
    free(session->tools_json);
    free(session->own_json);
    if (session->own_tools)
        free(session->shared_json);
    laz_tool_set_release(session->own_tools);
    laz_found_forget(session->shared->tools->found, session);
    laz_session_forget_network(session);
    laz_session_forget_credentials(session);
    free(session->isolation);
    free(session->description);
    free(session->identity);
    free(session);
}

/* Collects the paths that the runtime's options name; the box has to show them. */
static void session_collect_paths(struct laz_session *session)
{
    const struct laz_json_api *api = laz_json_api();
    const char *text = laz_buf_text(&session->runtime_options), *raw;
    struct laz_json_token token;
    size_t len;

    for (const struct laz_option *option = session->runtime->options; option && option->key;
         option++) {
        if ((option->type != LAZ_OPT_PATHS && option->type != LAZ_OPT_PATH) ||
            !laz_json_member(text, session->runtime_options.len, option->key, &raw, &len))
            continue;
        struct laz_json_reader *reader = api->reader_new(raw, len);
        while (reader && api->next(reader, &token) != LAZ_JSON_END)
            if (token.type == LAZ_JSON_STRING)
                laz_strv_add(&session->runtime_paths, token.text);
        if (!reader)
            session->runtime_paths.failed = true;
        api->reader_free(reader);
    }
}

/* NULL: out of memory. */
static char *session_tools_json(const struct laz_session *session, const struct laz_tool_set *set,
                                const struct laz_tool_set *more)
{
    struct laz_buf json = LAZ_BUF_INIT;

    laz_tool_set_json(set, more,
                      laz_spelling_of(&session->shared->tools->spellings, session->runtime->name),
                      &json);
    return laz_buf_steal(&json);
}

/* The first session that names no runtime, and gets another than the default, says so. */
static void session_tell_runtime(struct laz_session_shared *shared, const char *runtime)
{
    const char *why = laz_registry_usual_why(shared->registry);

    if (why && !shared->runtime_told)
        laz_log(&shared->driver->log, LAZ_LOG_WARNING,
                "no runtime was named, and %s: %s runs the code", why, runtime);
    shared->runtime_told = true;
}

/* The option `dialect` of a runtime has this default instead: is it one of its values? */
static int session_check_dialect(const struct laz_session *session, const struct laz_option *option,
                                 struct laz_error *err)
{
    const struct laz_session_shared *shared = session->shared;
    const struct laz_option only[] = {*option, LAZ_OPTIONS_END};
    struct laz_buf ignored = LAZ_BUF_INIT;
    int rc =
        laz_settings_check_options(NULL, option->key ? only : NULL, "session", NULL, &ignored, err);

    laz_buf_fini(&ignored);
    if (!option->key)
        rc = laz_error_set(err, LAZ_ECONFIG, 0, "the runtime %s has no dialects",
                           session->runtime->name);
    else if (rc == LAZ_ECONFIG)
        laz_error_set(err, rc, 0, "the runtime %s has no dialect %s, but: %s",
                      session->runtime->name, option->default_value, option->one_of);
    return laz_settings_wrong(shared->values, "session.dialect", NULL, rc, err);
}

/* session.dialect is the default of the runtime's option `dialect`. */
static int session_check_options(struct laz_session *session, struct laz_error *err)
{
    const struct laz_session_shared *shared = session->shared;
    const struct laz_option *options = session->runtime->options;
    const char *dialect = shared->values->session.dialect;
    char *where = laz_strdupf("runtime.%s", session->runtime->name);
    char *quoted = laz_strdupf("\"%s\"", dialect ? dialect : "");
    size_t n = 0, at = 0;

    while (options && options[n].key)
        n++;
    struct laz_option *own = calloc(n + 1, sizeof *own);
    int rc = where && quoted && own ? 0 : laz_error_nomem(err);
    if (!rc && n)
        memcpy(own, options, n * sizeof *own);
    while (!rc && own[at].key && strcmp(own[at].key, "dialect") != 0)
        at++;
    if (!rc && dialect && *dialect) {
        own[at].default_value = quoted;
        rc = session_check_dialect(session, &own[at], err);
    }
    if (!rc) {
        rc = laz_settings_check_options(
            laz_settings_plugin_table(shared->settings, "runtime", session->runtime->name), own,
            where, NULL, &session->runtime_options, err);
        rc = laz_settings_wrong(shared->values, NULL, NULL, rc, err);
    }
    free(own);
    free(quoted);
    free(where);
    return rc;
}

/* Makes everything of a session but its box. `given`: the name of its runtime; NULL: the settings
 * name it. */
static int session_prepare(struct laz_session *session, const char *given, struct laz_error *err)
{
    struct laz_session_shared *shared = session->shared;
    int rc = given ? laz_registry_runtime(shared->registry, given, &session->runtime, err)
                   : laz_registry_usual(shared->registry, shared->values, &session->runtime, err);

    if (rc == LAZ_ENOENT && !given && shared->values->session.runtime)
        laz_settings_blame(shared->values, "session.runtime", NULL, err);
    if (!rc)
        rc = laz_random_name(session->id, sizeof session->id - 1, err);
    if (rc)
        return rc;
    const char *runtime = session->runtime->name;
    if (!given)
        session_tell_runtime(shared, runtime);
    rc = session_check_options(session, err);
    if (!rc)
        rc = laz_hook_check(shared->values, err);
    if (rc)
        return rc;
    session_collect_paths(session);
    session->n_shared = shared->tools->set.n;
    session->tools_json = session_tools_json(session, &shared->tools->set, session->own_tools);
    session->shared_json = session->tools_json;
    if (session->own_tools) {
        session->shared_json = session_tools_json(session, &shared->tools->set, NULL);
        session->own_json = session_tools_json(session, session->own_tools, NULL);
    }
    session->description = malloc(LAZ_DESCRIPTION_SIZE);
    snprintf(session->in_use, sizeof session->in_use, "<session %.64s [in use]>",
             session->runtime->name);
    session->start_timer = laz_timer_new(shared->driver->loop, laz_session_start_too_late, session);
    session->code_timer =
        laz_timer_new(shared->driver->loop, session->shared->listener->code_too_late, session);
    session->deadline_timer =
        laz_timer_new(shared->driver->loop, session->shared->listener->deadline_over, session);
    if (!session->tools_json || !session->shared_json ||
        (session->own_tools && !session->own_json) || !session->description ||
        session->runtime_paths.failed || !session->start_timer || !session->code_timer ||
        !session->deadline_timer)
        return laz_error_nomem(err);
    return laz_guard_init(&session->guard, session, err);
}

/* False: one cannot be lent. */
static bool session_borrow(struct laz_session *session, const struct laz_session_options *options)
{
    const int *given[] = {options->input, options->output, options->errors};
    bool is_lent = true;

    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        if (!given[i])
            continue;
        session->streams[i] = *given[i];
        session->lent[i] = &session->streams[i];
        is_lent &= laz_os_can_lend(*given[i]);
    }
    return is_lent;
}

int laz_session_unstarted(struct laz_session_shared *shared,
                          const struct laz_session_options *options, struct laz_session **out,
                          struct laz_error *err)
{
    struct laz_session *session = calloc(1, sizeof *session);

    *out = NULL;
    if (!session)
        return laz_error_nomem(err);
    session->shared = shared;
    session->stir.advance = session_advance;
    session->next = shared->sessions;
    shared->sessions = session;
    session->pre_execute = options->pre_execute;
    session->pre_execute_user = options->pre_execute_user;
    const bool is_lent = session_borrow(session, options);
    session->warm = options->warm && !options->input && !options->output && !options->errors;
    session->user = options->user;
    session->identity = laz_strdup(options->identity);
    int rc = options->identity && !session->identity ? laz_error_nomem(err)
             : !is_lent
                 ? laz_error_set(err, LAZ_EINVAL, 0,
                                 "a stream of the session is neither a pipe nor a socket, nor a "
                                 "terminal that was made for it")
                 : laz_tools_of_session(shared->tools, options->tools, options->n_tools,
                                        &session->own_tools, err);
    if (!rc)
        rc = laz_approvals_check(shared->tools, session->own_tools, shared->values, err);
    if (!rc)
        rc = laz_session_take_network(session, options->network, err);
    if (!rc)
        rc = laz_session_take_credentials(session, options->credentials, err);
    if (!rc)
        rc = session_prepare(session, options->runtime, err);
    if (rc) {
        laz_session_destroy(session);
        return rc;
    }
    *out = session;
    return 0;
}

int laz_session_make(struct laz_session_shared *shared, const struct laz_session_options *options,
                     struct laz_session **out, struct laz_error *err)
{
    *out = NULL;
    if (shared->values->mistakes)
        return laz_error_set(err, LAZ_EREFUSED, 0, "these settings are only being checked");
    int rc = laz_session_unstarted(shared, options, out, err);
    if (!rc)
        laz_session_begin_start(*out, "first");
    return rc;
}

/* Runs the loop until the start has ended. Returns its result, and clears it. */
static int session_await(struct laz_session *session, struct laz_error *err)
{
    while (session->start.under_way)
        laz_driver_turn(session->shared->driver, LAZ_LOOP_FOREVER);
    int rc = session->start.rc;
    if (rc && err)
        *err = session->start.why;
    session->start.rc = 0;
    return rc;
}

int laz_sessions_open(struct laz_session_shared *shared, const struct laz_session_options *given,
                      struct laz_session **out, struct laz_error *err)
{
    struct laz_session_options options;

    int rc = LAZ_OPTIONS_TAKE(&options, given, laz_session_options, err);
    if (!rc)
        rc = laz_driver_enter(shared->driver, err);
    if (rc)
        return rc;
    struct laz_session *session;
    rc = shared->values->mistakes ? 0 : laz_tools_prepare(shared->tools, err);
    if (!rc)
        rc = laz_session_make(shared, &options, &session, err);
    if (!rc && !options.no_wait) {
        rc = session_await(session, err);
        if (rc)
            laz_session_destroy(session);
    }
    if (!rc)
        *out = session;
    laz_driver_leave(shared->driver);
    return rc;
}

void laz_session_cancel(struct laz_session *session)
{
    if (!session || !atomic_load(&session->executing))
        return;
    atomic_store(&session->cancel, true);
    laz_driver_cancel(session->shared->driver, false);
}

int laz_session_interrupt(struct laz_session *session)
{
    if (!session)
        return LAZ_EINVAL;
    if (!atomic_load(&session->executing))
        return LAZ_ENOENT;
    laz_session_cancel(session);
    return 0;
}

int laz_session_restart(struct laz_session *session, struct laz_error *err)
{
    if (!session)
        return laz_error_null(err, "the session");
    const unsigned executing = atomic_load(&session->executing);
    if (executing)
        return laz_error_set(err, LAZ_EBUSY, 0, "Cannot restart while %s",
                             laz_session_activity(executing));
    struct laz_session_shared *shared = session->shared;
    int rc = laz_driver_enter(shared->driver, err);
    if (rc)
        return rc;
    if (session->is_ending) {
        laz_driver_leave(shared->driver);
        return laz_error_set(err, LAZ_ECLOSED, 0, "the session is being closed");
    }
    session->waiters++;
    laz_log(&shared->driver->log, LAZ_LOG_INFO, "Restarting session %s", session->id);
    laz_session_look(session);
    laz_session_abandon_start(session);
    (void)laz_session_finish(session, SESSION_FINISH_MS);
    laz_session_drop_box(session, LAZ_EVENT_REPLACE);
    session->replaced = NULL;
    laz_session_begin_start(session, "asked");
    rc = session_await(session, err);
    session->start.is_unrecorded = false; /* the next execution tries the log again */
    if (!rc && !session->box)
        rc = laz_error_set(err, LAZ_ECLOSED, 0, "the session was closed while it started");
    session->waiters--;
    laz_session_settle(session);
    laz_driver_leave(shared->driver);
    return rc;
}

void laz_session_shut(struct laz_session *session)
{
    laz_session_abandon_start(session);
    if (session->box)
        laz_log(&session->shared->driver->log, LAZ_LOG_INFO, "Session closed (%s)", session->id);
    if (session->state != LAZ_SESSION_CLOSED)
        laz_session_drop_box(session, LAZ_EVENT_CLOSE);
    laz_session_drop_denials(session);
    laz_audit_closed(session);
    laz_tools_session_closed(session->shared->tools, session->id);
}

void laz_session_discard(struct laz_session *session)
{
    session->owner = NULL;
    laz_session_shut(session);
    if (session->waiters)
        atomic_store(&session->freeing, true); /* the function that waits in it will free it */
    else
        laz_session_destroy(session);
}

void laz_session_end(struct laz_session *session)
{
    struct laz_session_shared *shared = session->shared;
    bool was_ending = session->is_ending; /* true if a callback calls this inside of a close */

    session->waiters++;
    session->is_ending = true;
    if (atomic_load(&session->executing)) {
        atomic_store(&session->closing, true); /* its box is not replaced */
        laz_session_cancel(session);
    }
    while (atomic_load(&session->executing))
        laz_driver_turn(shared->driver, LAZ_LOOP_FOREVER);
    atomic_store(&session->closing, false);
    laz_session_abandon_start(session);
    (void)laz_session_finish(session, SESSION_FINISH_MS);
    if (session->box)
        laz_box_kill(session->box);
    while (session->box && !laz_box_is_ended(session->box)) /* a callback may drop it meanwhile */
        laz_driver_turn(shared->driver, LAZ_LOOP_FOREVER);
    laz_session_shut(session);
    session->is_ending = was_ending;
    session->waiters--;
}

void laz_session_abandon(struct laz_session *session)
{
    bool was_ending = session->is_ending;

    session->waiters++;
    session->is_ending = true;
    atomic_store(&session->closing, true);
    laz_execution_abandon(session);
    atomic_store(&session->closing, false);
    laz_session_shut(session);
    session->is_ending = was_ending;
    session->waiters--;
}

void laz_session_settle(struct laz_session *session)
{
    if (session->waiters || atomic_load(&session->executing))
        return; /* whichever ends last calls this again */
    if (atomic_exchange(&session->closing, false))
        laz_session_shut(session);
    if (atomic_load(&session->freeing) && session->owner)
        session->owner->take_back(session->owner);
    else if (atomic_load(&session->freeing))
        laz_session_destroy(session);
}

/* Closes the session, and `frees` it. */
static void session_leave(struct laz_session *session, bool frees)
{
    struct laz_session_shared *shared = session->shared;

    if (laz_driver_is_foreign(shared->driver))
        return;
    if (laz_driver_enter(shared->driver, NULL)) {
        if (atomic_load(&session->executing)) { /* who is inside closes it when that has ended */
            atomic_store(&session->closing, true);
            atomic_store(&session->cancel, true);
            if (frees)
                atomic_store(&session->freeing, true); /* it may be gone from now on */
            laz_driver_cancel(shared->driver, false);
        }
        return; /* else laz_engine_free frees it */
    }
    if (frees) {
        laz_session_abandon(session);
        atomic_store(&session->freeing, true);
    } else {
        laz_session_end(session);
    }
    laz_session_settle(session);
    laz_driver_leave(shared->driver);
}

void laz_session_close(struct laz_session *session)
{
    if (session)
        session_leave(session, false);
}

void laz_session_free(struct laz_session *session)
{
    if (session)
        session_leave(session, true);
}

uint64_t laz_session_idle_cpu_us(const struct laz_session *session)
{
    uint64_t cpu_us = 0, memory = 0;

    if (session->box)
        laz_box_usage(session->box, &cpu_us, &memory);
    return cpu_us > session->cpu_us ? cpu_us - session->cpu_us : 0;
}

bool laz_session_is_alive(struct laz_session *session)
{
    if (!session)
        return false;
    if (!atomic_load(&session->executing) && laz_driver_enter(session->shared->driver, NULL) == 0) {
        laz_session_look(session);
        laz_session_note(session);
        laz_driver_leave(session->shared->driver);
    }
    if (laz_driver_is_here(session->shared->driver))
        laz_session_note(session);
    return atomic_load(&session->noted_alive);
}
