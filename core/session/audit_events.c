/* SPDX-License-Identifier: MIT */
/* audit_events.c - the events of a session that are recorded in the audit log, with their fields.
 * Side: host.  Input trusted: no (code, arguments, errors and results come from the box).
 *
 * docs/audit.md has the table of events; a test compares it with the names in this file.  Verdict,
 * evidence, isolation and times are the host's own; other fields may repeat what the agent sent. */
#include "session/audit_events.h"

#include "base/clock.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "base/path.h"
#include "audit/audit.h"
#include "session/observe.h"
#include "session/result.h"
#include "session/session_network.h"
#include "os/paths.h"

#include <stdlib.h>
#include <string.h>

#define EVENTS_SUMMARY ((size_t)500) /* characters of a result */

/* ---- the log -------------------------------------------------------------------------------- */

/* Refuses a log in a directory that sandboxes show: code could change it, or read what other
 * sessions have executed. */
static int events_log_is_outside(const struct laz_settings_values *values, struct laz_error *err)
{
    const struct laz_strv *const lists[] = {&values->sandbox.write, &values->sandbox.read};
    static const char *const names[] = {"sandbox.write", "sandbox.read"};
    char *file = laz_os_real_path(values->audit.file); /* NULL: could not be created (`warn`) */
    int rc = 0;

    for (size_t l = 0; l < 2; l++) {
        for (size_t i = 0; i < lists[l]->n && !rc; i++) {
            char *shown = laz_os_real_path(lists[l]->items[i]);
            if (laz_path_is_within(values->audit.file, lists[l]->items[i]) ||
                (file && shown && laz_path_is_within(file, shown)))
                rc = laz_error_set(err, LAZ_ECONFIG, 0,
                                   "audit.file: %s lies in %s, which %s shows to the code",
                                   values->audit.file, lists[l]->items[i], names[l]);
            free(shown);
        }
    }
    free(file);
    return rc;
}

int laz_audit_open(struct laz_session_shared *shared, struct laz_error *err)
{
    const struct laz_settings_values *values = shared->values;
    const struct laz_audit_options options = {
        .file = values->audit.file,
        .refuse = values->audit.refuse,
        .sync = values->audit.sync,
        .log = &shared->driver->log,
    };

    if (!options.file || !*options.file)
        return 0;
    int rc = laz_audit_new(&options, &shared->audit, err);
    if (!rc)
        rc = events_log_is_outside(values, err);
    return laz_settings_wrong(values, "audit.file", NULL, rc, err);
}

/* The trace that an execution or a call belongs to. */
static void events_trace(struct laz_audit_line *line, const struct laz_trace *trace)
{
    if (!trace)
        return;
    laz_audit_string(line, "traceparent", trace->parent);
    if (trace->state)
        laz_audit_string(line, "tracestate", trace->state);
}

static int events_write(const struct laz_session *session, const char *event,
                        struct laz_audit_line *line, struct laz_error *err)
{
    return laz_audit_write(session->shared->audit, event, session->id, line, err);
}

/* ---- sessions ------------------------------------------------------------------------------- */

static void events_limits(struct laz_audit_line *line, const struct laz_limit_values *limits)
{
    struct laz_buf json = LAZ_BUF_INIT;
    struct laz_json_write write = {.to = &json};

    laz_json_begin_object(&write, NULL);
    for (size_t i = 0; i < LAZ_N_LIMITS; i++) {
        const char *name = laz_limit_table[i].name;
        uint64_t value = laz_limit_value(limits, &laz_limit_table[i]);
        if (value == LAZ_UNLIMITED)
            laz_json_add_text(&write, name, "unlimited");
        else
            laz_json_add_uint(&write, name, value);
    }
    laz_json_end_object(&write);
    laz_audit_json(line, "limits", laz_buf_text(&json), json.len);
    line->members.failed |= json.failed;
    laz_buf_fini(&json);
}

static void events_rules(struct laz_audit_line *line, const struct laz_network_rules *rules)
{
    struct laz_buf json = LAZ_BUF_INIT;

    laz_network_rules_json(rules, &json);
    laz_audit_json(line, "allow", laz_buf_text(&json), json.len);
    line->members.failed |= json.failed;
    laz_buf_fini(&json);
}

/* A backend that declares nothing beside its object is judged by what it can enforce: a filter of
 * system calls alone is not a sandbox. */
static bool events_is_sandbox(struct laz_registry *registry, const char *backend,
                              const struct laz_backend_ops *ops)
{
    const struct laz_backend_info *info = NULL;

    laz_registry_backend(registry, backend, &info, NULL);
    return !(info && info->unconfined) && (ops->can_enforce & ~(uint32_t)LAZ_ENFORCE_SYSCALLS);
}

int laz_audit_started(struct laz_session *session, struct laz_error *err)
{
    struct laz_audit_line line = LAZ_AUDIT_LINE_INIT;
    const char *isolation = laz_session_isolation_text(session);
    const char *backend = session->backend; /* the choice may be another by now */
    bool again = session->on_record;

    if (!session->shared->audit)
        return 0;
    session->on_record = true; /* also if the write fails: the next record is a restart */
    if (again)
        laz_audit_string(&line, "cause", session->start.cause);
    if (session->identity)
        laz_audit_string(&line, "identity", session->identity);
    laz_audit_string(&line, "runtime", session->runtime->name);
    laz_audit_string(&line, "backend", backend);
    laz_audit_bool(&line, "sandbox",
                   laz_session_is_far(session)
                       ? laz_box_said(session->box)->is_sandbox
                       : events_is_sandbox(session->shared->registry, backend, session->start.ops));
    if (!laz_session_is_far(session))
        laz_audit_number(&line, "pid", (uint64_t)laz_session_pid(session));
    laz_audit_json(&line, "isolation", isolation, strlen(isolation));
    if (!laz_session_is_far(session)) /* there they are its worker's */
        events_limits(&line, &session->shared->values->limits);
    if (session->has_network)
        events_rules(&line, session->rules);
    laz_audit_number(&line, "tools", laz_session_n_tools(session));
    return events_write(session, again ? "session_restart" : "session_start", &line, err);
}

void laz_audit_start_failed(struct laz_session *session, const struct laz_error *why)
{
    struct laz_audit_line line = LAZ_AUDIT_LINE_INIT;

    if (session->identity)
        laz_audit_string(&line, "identity", session->identity);
    laz_audit_string(&line, "runtime", session->runtime ? session->runtime->name : NULL);
    laz_audit_string(&line, "backend", *session->start.backend ? session->start.backend : NULL);
    laz_audit_string(&line, "error", why->text);
    events_write(session, "session_start_failed", &line, NULL);
}

static void events_reason(struct laz_session *session, const char *event, const char *why)
{
    struct laz_audit_line line = LAZ_AUDIT_LINE_INIT;

    laz_audit_string(&line, "state", laz_session_state_name(session->state));
    laz_audit_string(&line, "reason", why);
    events_write(session, event, &line, NULL);
}

void laz_audit_peer_refused(struct laz_session *session, const char *why)
{
    events_reason(session,
                  session->state == LAZ_SESSION_AUTHENTICATING ? "auth_failed" : "message_refused",
                  why);
}

void laz_audit_session_lost(struct laz_session *session, const char *why)
{
    events_reason(session, "session_lost", why);
}

void laz_audit_closed(struct laz_session *session)
{
    struct laz_audit_line line = LAZ_AUDIT_LINE_INIT;

    if (!session->on_record)
        return;
    session->on_record = false;
    laz_audit_number(&line, "executions", session->executions);
    events_write(session, "session_close", &line, NULL);
}

/* ---- the network ----------------------------------------------------------------------------- */

int laz_audit_network_set(const struct laz_session *session, const struct laz_network_rules *rules,
                          struct laz_error *err)
{
    struct laz_audit_line line = LAZ_AUDIT_LINE_INIT;

    if (!session->shared->audit)
        return 0;
    events_rules(&line, rules);
    return events_write(session, "network_set", &line, err);
}

void laz_audit_denials(const struct laz_session *session)
{
    const struct laz_denials *denials = &session->denials;

    for (size_t i = 0; i < denials->n && session->shared->audit; i++) {
        struct laz_audit_line line = LAZ_AUDIT_LINE_INIT;
        struct laz_buf json = LAZ_BUF_INIT;
        laz_denial_json(&denials->items[i], &json);
        laz_audit_number(&line, "execution", (uint64_t)session->last_id);
        laz_audit_json(&line, "denial", laz_buf_text(&json), json.len);
        line.members.failed |= json.failed;
        if (i + 1 == denials->n && denials->others)
            laz_audit_number(&line, "others", denials->others);
        laz_buf_fini(&json);
        events_write(session, "network_denied", &line, NULL);
    }
}

void laz_audit_credential(const struct laz_session *session, const char *json, size_t len)
{
    struct laz_audit_line line = LAZ_AUDIT_LINE_INIT;

    if (!session->shared->audit)
        return;
    laz_audit_number(&line, "execution", (uint64_t)session->last_id);
    laz_audit_json(&line, "credential", json, len);
    events_write(session, "credential_used", &line, NULL);
}

/* ---- executions ----------------------------------------------------------------------------- */

/* What is recorded of requests that execute nothing. */
static const struct {
    const char *start, *complete;
} events_asked[] = {
    [LAZ_ASKED_EXECUTE] = {"execute_start", NULL}, /* by its verdict */
    [LAZ_ASKED_CHECK] = {"check_start", "check_complete"},
    [LAZ_ASKED_PUT] = {"file_start", "file_complete"},
    [LAZ_ASKED_REMOVE] = {NULL, NULL}, /* the host tidies up */
};

static void events_file(struct laz_audit_line *line, const char *name, size_t len,
                        const char *sha256)
{
    laz_audit_string(line, "name", name);
    laz_audit_number(line, "size", len);
    laz_audit_string(line, "sha256", sha256);
}

int laz_audit_execute(const struct laz_execution *execution, struct laz_error *err)
{
    const struct laz_session *session = execution->session;
    struct laz_audit_line line = LAZ_AUDIT_LINE_INIT;

    if (!session->shared->audit || !events_asked[execution->request.asked].start)
        return 0;
    laz_audit_number(&line, "execution", (uint64_t)session->last_id + 1);
    if (execution->request.asked == LAZ_ASKED_PUT) {
        char hex[LAZ_SHA256_HEX + 1];
        struct laz_sha256 sha256;
        laz_sha256_init(&sha256);
        laz_sha256_add(&sha256, execution->request.code, execution->request.len);
        laz_sha256_hex(&sha256, hex);
        events_file(&line, execution->request.file, execution->request.len, hex);
    } else {
        laz_audit_text(&line, "code", execution->request.code, execution->request.len,
                       LAZ_AUDIT_CODE_MAX);
    }
    events_trace(&line, laz_observe_trace(execution));
    return events_write(session, events_asked[execution->request.asked].start, &line, err);
}

void laz_audit_blocked(const struct laz_execution *execution, const struct laz_result *result)
{
    struct laz_audit_line line = LAZ_AUDIT_LINE_INIT;

    if (!execution->session->shared->audit)
        return;
    laz_audit_string(&line, "verdict", laz_verdict_name(result->verdict));
    laz_audit_string(&line, "reason", result->detail);
    laz_audit_text(&line, "code", execution->request.code, execution->request.len,
                   LAZ_AUDIT_CODE_MAX);
    events_trace(&line, laz_observe_trace(execution));
    events_write(execution->session, "execute_blocked", &line, NULL);
}

void laz_audit_stopped(const struct laz_execution *execution)
{
    struct laz_audit_line line = LAZ_AUDIT_LINE_INIT;
    const char *cap = laz_stop_reasons[execution->stop].cap;

    if (!cap && execution->stop != LAZ_STOP_PROTOCOL)
        return; /* timeouts and the like are recorded with the verdict */
    laz_audit_number(&line, "execution", (uint64_t)execution->id);
    if (cap) {
        laz_audit_string(&line, "limit", cap);
        laz_audit_number(&line, "value", execution->stop_number);
    } else {
        laz_audit_string(&line, "state", laz_session_state_name(execution->session->state));
        laz_audit_string(&line, "reason", execution->stop_text);
    }
    events_write(execution->session, cap ? "limit_reached" : "message_refused", &line, NULL);
}

static void events_usage(struct laz_audit_line *line, const struct laz_result *result)
{
    laz_audit_seconds(line, "elapsed_secs", result->wall_us);
    laz_audit_seconds(line, "cpu_secs", result->cpu_us);
    laz_audit_number(line, "max_rss_bytes", result->max_rss_bytes);
    laz_audit_number(line, "tool_calls", result->tool_calls);
    laz_audit_number(line, "output_bytes", result->output.total);
    laz_audit_bool(line, "truncated", result->output.truncated);
}

/* One record for each file that has come out of the box, and for each that has not come whole. */
void laz_audit_artifacts(const struct laz_session *session, int64_t execution,
                         const struct laz_artifacts *artifacts)
{
    for (size_t i = 0; i < artifacts->n && session->shared->audit; i++) {
        const struct laz_artifact_item *item = &artifacts->items[i];
        struct laz_audit_line line = LAZ_AUDIT_LINE_INIT;
        laz_audit_number(&line, "execution", (uint64_t)execution);
        events_file(&line, item->name, item->data.len, item->sha256);
        events_write(session, "artifact", &line, NULL);
    }
    for (size_t i = 0; i < artifacts->n_lost && session->shared->audit; i++) {
        const struct laz_lost_item *lost = &artifacts->lost[i];
        struct laz_audit_line line = LAZ_AUDIT_LINE_INIT;
        laz_audit_number(&line, "execution", (uint64_t)execution);
        laz_audit_string(&line, "name", lost->name);
        laz_audit_number(&line, "bytes", lost->bytes);
        laz_audit_string(&line, "reason", lost->why);
        events_write(session, "artifact_lost", &line, NULL);
    }
}

void laz_audit_judged(const struct laz_execution *execution)
{
    const struct laz_result *result = execution->result;
    struct laz_audit_line line = LAZ_AUDIT_LINE_INIT;
    const char *event = "execute_error";

    if (!execution->session->shared->audit || !events_asked[execution->request.asked].start)
        return;
    if (!execution->request.is_last)
        laz_audit_artifacts(execution->session, execution->id, &result->artifacts);
    laz_audit_number(&line, "execution", (uint64_t)execution->id);
    laz_audit_string(&line, "verdict", laz_verdict_name(result->verdict));
    if (result->verdict == LAZ_VERDICT_OK) {
        event = "execute_complete";
    } else if (result->verdict == LAZ_VERDICT_TIMEOUT || result->verdict == LAZ_VERDICT_DEADLINE) {
        event = "execute_timeout";
        laz_audit_seconds(&line, "timeout_secs", execution->stop_number * 1000);
    }
    if (events_asked[execution->request.asked].complete)
        event = events_asked[execution->request.asked].complete;
    if (result->has_error) {
        laz_audit_string(&line, "kind", result->error_kind);
        laz_audit_string(&line, "error", result->error_message);
    }
    if (result->evidence)
        laz_audit_json(&line, "evidence", result->evidence, strlen(result->evidence));
    events_usage(&line, result);
    events_trace(&line, laz_observe_trace(execution));
    events_write(execution->session, event, &line, NULL);
}

void laz_audit_not_run(const struct laz_execution *execution, const struct laz_error *why)
{
    struct laz_audit_line line = LAZ_AUDIT_LINE_INIT;

    if (!events_asked[execution->request.asked].start)
        return;
    laz_audit_number(&line, "execution", (uint64_t)execution->id);
    laz_audit_string(&line, "verdict", laz_verdict_name(LAZ_VERDICT_SETUP_FAILED));
    laz_audit_string(&line, "error", why->text);
    const char *event = events_asked[execution->request.asked].complete;
    events_write(execution->session, event ? event : "execute_error", &line, NULL);
}

/* ---- tools ---------------------------------------------------------------------------------- */

static void events_call(struct laz_audit_line *line, const struct laz_execution *execution,
                        const struct laz_trace *trace, uint64_t number, const char *tool)
{
    laz_audit_number(line, "execution", (uint64_t)execution->id);
    laz_audit_number(line, "call", number);
    laz_audit_string(line, "tool", tool);
    events_trace(line, trace);
}

int laz_audit_tool_call(const struct laz_execution *execution, const struct laz_trace *trace,
                        const char *tool, const struct laz_buf *args)
{
    struct laz_audit_line line = LAZ_AUDIT_LINE_INIT;

    if (!execution->session->shared->audit)
        return 0;
    events_call(&line, execution, trace, execution->result->tool_calls, tool);
    laz_audit_json(&line, "args", laz_buf_text(args), args->len);
    return events_write(execution->session, "tool_call", &line, NULL);
}

int laz_audit_approval(const struct laz_execution *execution, uint64_t number,
                       const struct laz_trace *trace, const char *tool, bool is_approved,
                       const char *why)
{
    struct laz_audit_line line = LAZ_AUDIT_LINE_INIT;

    if (!execution->session->shared->audit)
        return 0;
    events_call(&line, execution, trace, number, tool);
    laz_audit_bool(&line, "approved", is_approved);
    if (!is_approved)
        laz_audit_string(&line, "reason", why);
    return events_write(execution->session, "tool_approval", &line, NULL);
}

void laz_audit_tool_refused(const struct laz_execution *execution, const struct laz_trace *trace,
                            const struct laz_message *message, const char *why)
{
    struct laz_audit_line line = LAZ_AUDIT_LINE_INIT;

    if (!execution->session->shared->audit)
        return;
    events_call(&line, execution, trace, execution->result->tool_calls, message->tool);
    laz_audit_json(&line, "args", message->args, message->args_len);
    laz_audit_string(&line, "reason", why);
    events_write(execution->session, "tool_refused", &line, NULL);
}

void laz_audit_tool_result(const struct laz_execution *execution, const struct laz_call *call,
                           const char *json, size_t len, const char *error)
{
    struct laz_audit_line line = LAZ_AUDIT_LINE_INIT;

    if (!execution->session->shared->audit)
        return;
    events_call(&line, execution, laz_call_owner(call)->caller.trace, laz_call_owner(call)->number,
                laz_call_owner(call)->caller.tool);
    laz_audit_string(&line, "error", json ? NULL : error);
    laz_audit_text(&line, "result_summary", json, len, EVENTS_SUMMARY);
    laz_audit_seconds(&line, "elapsed_secs", laz_clock_us() - laz_call_owner(call)->started_us);
    events_write(execution->session, "tool_result", &line, NULL);
}

void laz_audit_tool_abandoned(const struct laz_execution *execution, const struct laz_call *call)
{
    struct laz_audit_line line = LAZ_AUDIT_LINE_INIT;

    if (!execution->session->shared->audit)
        return;
    events_call(&line, execution, laz_call_owner(call)->caller.trace, laz_call_owner(call)->number,
                laz_call_owner(call)->caller.tool);
    laz_audit_seconds(&line, "elapsed_secs", laz_clock_us() - laz_call_owner(call)->started_us);
    events_write(execution->session, "tool_abandoned", &line, NULL);
}
