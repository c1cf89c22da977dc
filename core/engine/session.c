/* SPDX-License-Identifier: MIT */
/* session.c - a session: one interpreter in one box after another, under one name.
 * Side: host.  Input trusted: no (lines of the agent are judged by wire/message.c).
 *
 * What the box reports is only noted here (state, failure, outcome); boxes are ended and replaced
 * by whoever drives the loop, never from inside a report, so no report can free what it came from.
 */
#include "engine/session.h"

#include "base/json.h"
#include "base/random.h"
#include "engine/audit_events.h"
#include "engine/execution.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reports of the box --------------------------------------------------------------------- */

static void session_fail(struct laz_session *session, int code, const char *text)
{
    if (!session->failure.code)
        laz_error_set(&session->failure, code, 0, "%s", text);
}

/* The first line to a new agent: what it runs, how it confines itself, which tools it defines. */
static void session_send_init(struct laz_session *session)
{
    const struct laz_settings_values *values = session->engine->values;
    struct laz_buf init = LAZ_BUF_INIT;

    laz_buf_printf(
        &init, "{\"type\":\"init\",\"protocol\":%d,\"options\":{\"runtime_file\":", LAZ_PROTOCOL);
    laz_json_quote(&init, session->runtime_file, strlen(session->runtime_file));
    laz_buf_puts(&init, ",\"libraries\":[");
    for (size_t i = 0; i < session->runtime->libraries.n; i++) {
        const char *library = session->runtime->libraries.items[i];
        laz_buf_puts(&init, i ? "," : "");
        laz_json_quote(&init, library, strlen(library));
    }
    laz_buf_printf(&init, "],\"max_message\":%llu,\"max_value\":%llu,\"options\":%s},\"confine\":",
                   (unsigned long long)values->session.max_message_size,
                   (unsigned long long)values->session.max_value_size,
                   laz_buf_text(&session->runtime_options));
    laz_plan_confine_json(session->box->plan, &init);
    laz_buf_printf(&init, ",\"tools\":%s}\n", session->tools_json);
    if (init.failed || !laz_box_send(session->box, init.data, init.len, 0))
        session_fail(session, LAZ_ESETUP, "the agent cannot be spoken to");
    laz_buf_fini(&init);
}

static void session_authenticated(void *user)
{
    struct laz_session *session = user;

    if (laz_session_step(&session->state, LAZ_EVENT_TOKEN, &session->engine->log, session->id))
        session_send_init(session);
}

/* What is said of the isolation from here on. */
static bool session_note_isolation(struct laz_session *session)
{
    struct laz_buf isolation = LAZ_BUF_INIT;

    laz_plan_isolation_json(session->box->plan, &isolation);
    char *text = laz_buf_steal(&isolation);
    if (!text)
        return false;
    free(session->isolation);
    session->isolation = text;
    return true;
}

/* No code of a stranger has run yet: what the agent says that it could not do is so. */
static bool session_confined(struct laz_session *session, const struct laz_message *message)
{
    struct laz_error err = {0};
    uint32_t lost;

    if (laz_plan_confined(session->box->plan, &message->confined, &lost, &err)) {
        session_fail(session, LAZ_ESETUP, err.text);
        return false;
    }
    for (size_t i = 0; i < message->missing.n; i++)
        laz_log(&session->engine->log, LAZ_LOG_WARNING,
                "session %s: a part of the confinement is not in force: %s", session->id,
                message->missing.items[i]);
    if (message->cost)
        laz_log(&session->engine->log, LAZ_LOG_INFO, "session %s: confined by the agent: %.200s",
                session->id, message->cost);
    if (lost && !session_note_isolation(session)) {
        session_fail(session, LAZ_ENOMEM, "out of memory");
        return false;
    }
    return true;
}

static void session_ready(struct laz_session *session, const struct laz_message *message)
{
    char text[96];

    if (message->protocol != LAZ_PROTOCOL) {
        snprintf(text, sizeof text, "the agent speaks protocol %lld, this lazaret %d",
                 (long long)message->protocol, LAZ_PROTOCOL);
        session_fail(session, LAZ_ESETUP, text);
        return;
    }
    if (!session_confined(session, message))
        return;
    session->box->settled = true;
    session->engine->choice.proven = true;
    laz_session_step(&session->state, LAZ_EVENT_READY, &session->engine->log, session->id);
}

/* Something that is no message, or not now. It ends an execution, a start, or, with neither under
 * way, the box before the next execution. */
static void session_refuse(struct laz_session *session, int code, const char *text)
{
    if (!session->execution)
        laz_audit_peer_refused(session, text);
    if (session->state == LAZ_SESSION_IDLE) {
        session->misbehaved = true;
        session_fail(session, code, text);
    } else if (session->execution) {
        laz_execution_broken(session, text);
    } else {
        session_fail(session, code, text);
    }
}

/* An agent that nobody asked is silent; what it has sent all the same is not for the next
 * execution. */
static void session_listen(struct laz_session *session)
{
    if (!laz_box_is_quiet(session->box))
        session_refuse(session, LAZ_EPROTO,
                       session->box->hung_up ? "the agent closed its connection"
                                             : "the agent spoke before it was asked");
}

static bool session_line(void *user, char *line, size_t len)
{
    struct laz_session *session = user;
    struct laz_message message;
    struct laz_error err = {0};

    int rc = laz_message_parse(line, len, laz_session_wire_state(session->state), &message, &err);
    if (rc) {
        laz_log(&session->engine->log, LAZ_LOG_WARNING, "session %s: refused a message: %s",
                session->id, err.text);
        session_refuse(session, LAZ_EPROTO, err.text);
        session->cut_off = true; /* once refused, it says nothing more */
        laz_box_kill(session->box);
    } else if (session->state == LAZ_SESSION_STARTING) {
        if (message.type == LAZ_MESSAGE_READY)
            session_ready(session, &message);
        else
            session_fail(session, LAZ_ESETUP, message.message ? message.message : "no reason");
    } else {
        laz_execution_message(session, &message);
    }
    laz_message_fini(&message);
    return rc == 0;
}

static bool session_output(void *user, int stream, const char *data, size_t len)
{
    struct laz_session *session = user;

    if (session->execution)
        laz_execution_output(session, stream, data, len);
    return session->execution || session->state != LAZ_SESSION_IDLE;
}

static void session_broken(void *user, const struct laz_error *why)
{
    struct laz_session *session = user;

    laz_log(&session->engine->log, LAZ_LOG_WARNING, "session %s: %s", session->id, why->text);
    session_refuse(session, why->code, why->text);
}

static void session_out_of_memory(void *user)
{
    struct laz_session *session = user;

    if (session->execution)
        laz_execution_stop(session->execution, LAZ_STOP_MEMORY, 0, session->box->host.memory);
    else
        session_fail(session, LAZ_ESETUP, "the session ran out of memory (limits.memory)");
}

static void session_ended(void *user)
{
    struct laz_session *session = user;

    if (session->execution)
        laz_execution_box_ended(session);
}

static void session_start_too_late(void *user)
{
    struct laz_session *session = user;
    char text[96];

    snprintf(text, sizeof text, "not ready within start_timeout (%g s)",
             (double)session->engine->values->session.start_timeout_ms / 1000.0);
    session_fail(session, LAZ_ETIMEOUT, text);
}

/* ---- boxes ---------------------------------------------------------------------------------- */

int laz_session_spawn(struct laz_session *session, struct laz_error *err)
{
    const struct laz_box_owner owner = {
        .user = session,
        .authenticated = session_authenticated,
        .line = session_line,
        .output = session_output,
        .broken = session_broken,
        .out_of_memory = session_out_of_memory,
        .ended = session_ended,
    };
    const struct laz_backend_choice *choice;
    int rc = laz_engine_backend(session->engine, &choice, err);

    if (!rc) {
        struct laz_box_purpose purpose = {
            .runtime = session->runtime,
            .read = &session->runtime_paths,
            .backend = choice->name,
            .ops = choice->ops,
            .options = laz_buf_text(&choice->options),
            .require = choice->require,
        };
        free(session->runtime_file);
        session->runtime_file = NULL;
        rc = laz_box_start(session->engine, &purpose, &owner, &session->runtime_file, &session->box,
                           err);
    }
    if (rc) {
        laz_session_step(&session->state, LAZ_EVENT_GONE, &session->engine->log, session->id);
        return rc;
    }
    session->failure = (struct laz_error){0};
    session->misbehaved = session->cut_off = false;
    session->cpu_us = 0;
    if (!session_note_isolation(session)) { /* what is in force has to be known */
        laz_session_step(&session->state, LAZ_EVENT_GONE, &session->engine->log, session->id);
        laz_box_release(session->box);
        session->box = NULL;
        return laz_error_nomem(err);
    }
    laz_guard_reset(&session->guard);
    laz_session_step(&session->state, LAZ_EVENT_SPAWNED, &session->engine->log, session->id);
    return 0;
}

void laz_session_drop_box(struct laz_session *session, enum laz_session_event event)
{
    if (session->state != LAZ_SESSION_NEW)
        laz_session_step(&session->state, event, &session->engine->log, session->id);
    if (session->state == LAZ_SESSION_CLOSING)
        laz_session_step(&session->state, LAZ_EVENT_GONE, &session->engine->log, session->id);
    laz_box_release(session->box);
    session->box = NULL;
}

/* Words for a start that failed: the agent's or host's own, with what the box printed. */
static int session_explain_failure(struct laz_session *session, struct laz_error *err)
{
    struct laz_buf text = LAZ_BUF_INIT;
    bool told = session->failure.code != 0, known = false;

    if (session->box)
        known = laz_box_explain(session->box, session->engine->choice.ops,
                                session->failure.code == LAZ_ETIMEOUT, &text);
    if (told && !known && session->box && !session->box->complaint.len)
        laz_buf_clear(&text); /* nothing but the status of a process that was killed */
    const char *words = laz_buf_text(&text), *own = session->failure.text;
    if (!told)
        laz_error_set(err, LAZ_ESETUP, 0, "the session did not start: %s", words);
    else if (!known && (!text.len || strstr(own, words) || session->failure.code == LAZ_ESETUP))
        laz_error_set(err, LAZ_ESETUP, 0, "the session did not start: %s", own);
    else
        laz_error_set(err, LAZ_ESETUP, 0, "the session did not start: %s (%s)", words, own);
    laz_buf_fini(&text);
    return LAZ_ESETUP;
}

int laz_session_await(struct laz_session *session, struct laz_error *err)
{
    struct laz_engine *engine = session->engine;
    int rc = 0;

    if (session->state == LAZ_SESSION_RESTARTING)
        rc = laz_session_spawn(session, err);
    if (rc || session->state == LAZ_SESSION_IDLE)
        return rc;
    if (!session->box)
        return laz_error_set(err, LAZ_ECLOSED, 0, "the session is not running");
    if (engine->values->session.start_timeout_ms)
        laz_timer_start(session->start_timer, engine->values->session.start_timeout_ms);
    laz_box_be_patient(session->box);
    bool cancelled = false;
    while (session->state != LAZ_SESSION_IDLE && !session->failure.code && !session->box->ended &&
           !cancelled) {
        laz_loop_step(engine->loop);
        cancelled = atomic_exchange(&engine->cancel, false);
    }
    laz_timer_cancel(session->start_timer);
    if (session->state == LAZ_SESSION_IDLE)
        session_listen(session);
    if (session->state == LAZ_SESSION_IDLE && !session->misbehaved) {
        uint64_t rss;
        laz_box_usage(session->box, &session->cpu_us,
                      &rss); /* loading the runtime does not count */
        return 0;
    }
    if (cancelled)
        session_fail(session, LAZ_ECANCELLED, "cancelled");
    else if (session->failure.code && !session->box->complaint.len) {
        /* the process's last words may still be on their way */
        laz_box_kill(session->box);
        while (!session->box->ended)
            laz_loop_step(engine->loop);
    }
    if (cancelled)
        rc = laz_error_set(err, LAZ_ECANCELLED, 0, "The start of the session was cancelled");
    else
        rc = session_explain_failure(session, err);
    laz_session_drop_box(session, LAZ_EVENT_GONE);
    return rc;
}

void laz_session_look(struct laz_session *session)
{
    if (!session->box || session->state != LAZ_SESSION_IDLE)
        return;
    bool starved = laz_box_out_of_memory(session->box) > 0; /* by what was left running */
    if (starved)
        session_fail(session, LAZ_ECLOSED,
                     "it ran out of memory (limits.memory) while no code was executed");
    if (!laz_box_has_ended(session->box) && !starved) {
        session_listen(session);
        return;
    }
    /* A peer that was cut off may have ended because of it, or may yet. */
    bool cut_off = session->cut_off || (session->misbehaved && !session->box->hung_up);
    laz_audit_session_lost(session, cut_off ? session->failure.text : "its box has ended");
    laz_session_drop_box(session, cut_off ? LAZ_EVENT_REPLACE : LAZ_EVENT_GONE);
}

/* ---- the public functions ------------------------------------------------------------------- */

static void session_unlink(struct laz_session *session)
{
    for (struct laz_session **at = &session->engine->sessions; *at; at = &(*at)->next) {
        if (*at == session) {
            *at = session->next;
            return;
        }
    }
}

static void session_destroy(struct laz_session *session)
{
    if (session->box)
        laz_session_drop_box(session, LAZ_EVENT_CLOSE);
    session_unlink(session);
    laz_timer_stop(session->start_timer);
    laz_timer_stop(session->code_timer);
    laz_timer_stop(session->deadline_timer);
    laz_guard_fini(&session->guard);
    laz_buf_fini(&session->runtime_options);
    laz_strv_fini(&session->runtime_paths);
    free(session->runtime_file);
    free(session->tools_json);
    free(session->isolation);
    free(session);
}

/* Folders that the runtime's options name: the box has to show them. */
static void session_collect_paths(struct laz_session *session)
{
    const struct laz_json_api *api = laz_json_api();
    const char *text = laz_buf_text(&session->runtime_options), *raw;
    struct laz_json_token token;
    size_t len;

    for (const struct laz_option *option = session->runtime->options; option && option->key;
         option++) {
        if (option->type != LAZ_OPT_PATHS ||
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

/* Everything of a session but its box. */
static int session_prepare(struct laz_session *session, const char *runtime, struct laz_error *err)
{
    struct laz_engine *engine = session->engine;
    struct laz_buf tools = LAZ_BUF_INIT;
    char where[96];

    int rc = laz_registry_runtime(engine->registry, runtime, &session->runtime, err);
    if (!rc)
        rc = laz_random_name(session->id, sizeof session->id - 1, err);
    if (rc)
        return rc;
    snprintf(where, sizeof where, "runtime.%s", runtime);
    rc = laz_settings_check_options(
        engine->settings, laz_settings_plugin_table(engine->settings, "runtime", runtime),
        session->runtime->options, where, NULL, &session->runtime_options, err);
    if (rc)
        return rc;
    session_collect_paths(session);
    laz_tool_set_json(&engine->tools, &tools);
    session->n_tools = engine->tools.n;
    session->tools_json = laz_buf_steal(&tools);
    session->start_timer = laz_timer_new(engine->loop, session_start_too_late, session);
    session->code_timer = laz_timer_new(engine->loop, laz_execution_code_too_late, session);
    session->deadline_timer = laz_timer_new(engine->loop, laz_execution_deadline_over, session);
    if (!session->tools_json || session->runtime_paths.failed || !session->start_timer ||
        !session->code_timer || !session->deadline_timer ||
        !laz_guard_init(&session->guard, session))
        return laz_error_nomem(err);
    return 0;
}

/* A box, up to the idle session. */
static int session_try(struct laz_session *session, struct laz_error *err)
{
    int rc = laz_session_spawn(session, err);

    if (!rc)
        rc = laz_session_await(session, err);
    if (rc)
        laz_audit_start_failed(session, err);
    return rc;
}

/* With the backend that the engine has, else with the next one of the settings that works. Then it
 * goes on record: what is not there does not begin. */
static int session_start(struct laz_session *session, const char *cause, struct laz_error *err)
{
    int rc = session_try(session, err);

    while ((rc == LAZ_ESETUP || rc == LAZ_EREFUSED || rc == LAZ_EOS) &&
           laz_engine_next_backend(session->engine, err)) {
        laz_session_step(&session->state, LAZ_EVENT_REPLACE, &session->engine->log, session->id);
        rc = session_try(session, err);
    }
    return rc ? rc : laz_audit_started(session, cause, err);
}

int laz_session_open(struct laz_engine *engine, const struct laz_session_options *options,
                     struct laz_session **out, struct laz_error *err)
{
    const char *runtime = engine->values->session.runtime;

    *out = NULL;
    int rc = laz_engine_enter(engine, err);
    if (rc)
        return rc;
    struct laz_session *session = calloc(1, sizeof *session);
    if (!session) {
        laz_engine_leave(engine);
        return laz_error_nomem(err);
    }
    session->engine = engine;
    session->next = engine->sessions;
    engine->sessions = session;
    if (options && LAZ_HAS(options, runtime))
        runtime = options->runtime;
    if (options && LAZ_HAS(options, pre_execute)) {
        session->pre_execute = options->pre_execute;
        session->pre_execute_user = options->pre_execute_user;
    }
    struct laz_error why = {0};
    rc = session_prepare(session, runtime ? runtime : "python", &why);
    if (!rc)
        rc = session_start(session, "first", &why);
    if (rc) {
        session_destroy(session);
        if (err)
            *err = why;
    } else {
        *out = session;
        laz_log(&engine->log, LAZ_LOG_INFO, "Session started (%s)", laz_session_describe(session));
    }
    laz_engine_leave(engine);
    return rc;
}

int laz_session_restart(struct laz_session *session, struct laz_error *err)
{
    if (atomic_load(&session->executing))
        return laz_error_set(err, LAZ_EBUSY, 0, "Cannot restart while an execution is in progress");
    int rc = laz_engine_enter(session->engine, err);
    if (rc)
        return rc;
    laz_log(&session->engine->log, LAZ_LOG_INFO, "Restarting session %s", session->id);
    laz_session_look(session);
    laz_session_drop_box(session, LAZ_EVENT_REPLACE);
    struct laz_error why = {0};
    rc = session_try(session, &why);
    if (!rc)
        laz_audit_started(session, "asked", NULL); /* without a record the next execution waits */
    if (rc && err)
        *err = why;
    laz_engine_leave(session->engine);
    return rc;
}

void laz_session_close(struct laz_session *session)
{
    if (atomic_load(&session->executing)) {
        atomic_store(&session->closing, true);
        laz_engine_cancel(session->engine);
        return;
    }
    if (laz_engine_enter(session->engine, NULL))
        return;
    if (session->box) {
        struct laz_box *box = session->box;
        laz_box_kill(box);
        while (!box->ended)
            laz_loop_step(session->engine->loop);
        laz_log(&session->engine->log, LAZ_LOG_INFO, "Session closed (%s)", session->id);
    }
    if (session->state != LAZ_SESSION_CLOSED)
        laz_session_drop_box(session, LAZ_EVENT_CLOSE);
    laz_audit_closed(session);
    laz_engine_leave(session->engine);
}

void laz_session_free(struct laz_session *session)
{
    if (!session)
        return;
    struct laz_engine *engine = session->engine;
    laz_session_close(session);
    if (laz_engine_enter(engine, NULL))
        return; /* in use: the engine frees it with everything else */
    session_destroy(session);
    laz_engine_leave(engine);
}

bool laz_session_is_alive(struct laz_session *session)
{
    if (!atomic_load(&session->executing) && laz_engine_enter(session->engine, NULL) == 0) {
        laz_session_look(session);
        laz_engine_leave(session->engine);
    }
    return session->box != NULL || session->state == LAZ_SESSION_RESTARTING;
}

int64_t laz_session_pid(const struct laz_session *session)
{
    return session->box ? session->box->process.pid : -1;
}

const char *laz_session_id(const struct laz_session *session)
{
    return session->id;
}

const char *laz_session_tools(const struct laz_session *session)
{
    return session->tools_json;
}

const char *laz_session_isolation(const struct laz_session *session)
{
    return session->isolation ? session->isolation : "null";
}

const char *laz_session_describe(struct laz_session *session)
{
    char pid[24] = "none";
    enum laz_session_state state = session->state;

    /* The outcome may have come before the last of the output: to who asks it still runs. */
    if (state == LAZ_SESSION_IDLE && atomic_load(&session->executing))
        state = LAZ_SESSION_RUNNING;
    if (session->box)
        snprintf(pid, sizeof pid, "%lld", (long long)session->box->process.pid);
    snprintf(session->description, sizeof session->description,
             "<session %s [%s] pid=%s backend=%s tools=%zu>", session->runtime->name,
             laz_session_state_name(state), pid,
             session->engine->choice.name ? session->engine->choice.name : "none",
             session->n_tools);
    return session->description;
}
