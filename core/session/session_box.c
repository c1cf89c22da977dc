/* SPDX-License-Identifier: MIT */
/* session_box.c - handles the reports of a session's box; makes boxes and drops them.
 * Side: host.  Input trusted: no (wire/message.c checks what the agent sends).
 *
 * A report is only recorded here (state, failure, outcome), and the session is put on the driver's
 * list.  Boxes are ended and replaced between two turns of the loop, never inside a report, so that
 * no report frees the object it came from. */
#include "session/session.h"

#include "session/audit_events.h"
#include "session/session_credentials.h"
#include "session/session_network.h"
#include "box/template.h"
#include "os/spawner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For which state of the wire's table messages are looked up; 0: no message is legal. */
static const unsigned session_wire_states[LAZ_SESSION_STATES] = {
    [LAZ_SESSION_STARTING] = LAZ_WIRE_STARTING,
    [LAZ_SESSION_IDLE] = LAZ_WIRE_IDLE,
    [LAZ_SESSION_RUNNING] = LAZ_WIRE_RUNNING,
};

#define SESSION_EARLY ((size_t)64 << 10) /* bytes of a stream that are kept, and one piece */

/* ---- reports of the box --------------------------------------------------------------------- */

void laz_session_fail(struct laz_session *session, int code, const char *text)
{
    if (!session->failure.code)
        laz_error_set(&session->failure, code, 0, "%s", text);
    laz_session_stir(session);
}

/* Sends the first message to a new agent: runtime, confinement, tools. A session of a template has
 * all of it from there but the tools that no other session has; without such tools it is ready. */
static void session_send_init(struct laz_session *session)
{
    const struct laz_settings_values *values = session->shared->values;
    struct laz_buf confine = LAZ_BUF_INIT, line = LAZ_BUF_INIT;
    struct laz_message init = {
        .type = LAZ_MESSAGE_INIT,
        .protocol = LAZ_PROTOCOL,
        .is_same = laz_template_knows(session->box, session->shared_json),
    };
    const char *tools = init.is_same ? session->own_json : session->tools_json;

    if (session->box->from && !init.is_same) {
        laz_session_fail(session, LAZ_ESETUP, "its template was told other tools");
        return;
    }
    if (!init.is_same) {
        laz_plan_confine_json(session->box->plan, &confine);
        init.options = (struct laz_wire_options){
            .runtime_file = session->box->runtime_file,
            .libraries = session->box->libraries,
            .commands = laz_box_commands_program(session->box),
            .max_message = (int64_t)values->session.max_message_size,
            .max_value = (int64_t)values->session.max_value_size,
            .max_files = (int64_t)values->artifacts.max_files,
            .max_parts = (int64_t)values->artifacts.max_size,
            .options = laz_buf_text(&session->runtime_options),
            .options_len = session->runtime_options.len,
        };
        init.confine = laz_buf_text(&confine);
        init.confine_len = confine.len;
    }
    if (tools) {
        init.tools = tools;
        init.tools_len = strlen(tools);
    }
    laz_message_make(&init, &line);
    const bool has_commands =
        laz_session_n_tools(session) && laz_box_commands_program(session->box);
    if (confine.failed || line.failed ||
        !(has_commands ? laz_box_send_with_commands(session->box, line.data, line.len)
                       : laz_box_send(session->box, line.data, line.len, 0)))
        laz_session_fail(session, LAZ_ESETUP, "cannot write to the agent's channel");
    laz_buf_fini(&confine);
    laz_buf_fini(&line);
}

/* Stores the isolation that results report from now on. False: out of memory. */
static bool session_note_isolation(struct laz_session *session)
{
    const struct laz_box_said *said = laz_box_said(session->box);
    const struct laz_plan *plan = session->box->plan;
    struct laz_buf isolation = LAZ_BUF_INIT;

    if (said && said->isolation)
        laz_buf_puts(&isolation, said->isolation);
    else if (said)
        laz_buf_puts(&isolation, "null"); /* it is not known yet */
    else
        laz_plan_isolation_json(plan, &isolation);
    char *text = laz_buf_steal(&isolation);
    if (!text)
        return false;
    free(session->isolation);
    session->isolation = text;
    session->enforces = said ? said->enforces : plan->enforces;
    snprintf(session->backend, sizeof session->backend, "%s", said ? said->backend : plan->backend);
    return true;
}

static void session_authenticated(void *user)
{
    struct laz_session *session = user;
    struct laz_error why = {0};

    const bool is_far = laz_box_is_far(session->box);

    if ((is_far || laz_box_has_turned(session->box)) && !session_note_isolation(session))
        laz_session_fail(session, LAZ_ENOMEM, "out of memory");
    else if (!is_far && session->has_network && laz_session_start_network(session, &why))
        laz_session_fail(session, why.code, why.text);
    else if (laz_session_event(session, LAZ_EVENT_TOKEN) && !is_far)
        session_send_init(session);
}

/* Takes the agent's report on its confinement. It is believed, since no untrusted code has run yet.
 */
static bool session_confined(struct laz_session *session, const struct laz_message *message)
{
    struct laz_error err = {0};
    uint32_t lost;

    if (laz_plan_confined(session->box->plan, &message->confined, &lost, &err)) {
        laz_session_fail(session, LAZ_ESETUP, err.text);
        return false;
    }
    for (size_t i = 0; i < message->missing.n; i++)
        laz_log(&session->shared->driver->log, LAZ_LOG_WARNING,
                "session %s: a part of the confinement is not in force: %s", session->id,
                message->missing.items[i]);
    if (message->cost)
        laz_log(&session->shared->driver->log, LAZ_LOG_INFO,
                "session %s: confined by the agent: %.200s", session->id, message->cost);
    if (lost && !session_note_isolation(session)) {
        laz_session_fail(session, LAZ_ENOMEM, "out of memory");
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
        laz_session_fail(session, LAZ_ESETUP, text);
        return;
    }
    if (!laz_box_is_far(session->box) && !session_confined(session, message))
        return;
    laz_box_settle(session->box);
    laz_session_event(session, LAZ_EVENT_READY);
    laz_session_stir(session);
}

/* The host cannot go on with its box, for lack of descriptors or memory: that is not the agent's
 * fault, and ends the execution or the start with that error. */
static void session_give_up(struct laz_session *session, const struct laz_error *why)
{
    session->misbehaved = true; /* there is no channel any more: its box is to be replaced */
    if (session->execution)
        session->shared->listener->stop(session, LAZ_STOP_HOST, 0, why->text);
    else if (!session->failure.code)
        session->failure = *why;
    laz_session_stir(session);
}

/* Handles an invalid message, or one that is not legal in this state: ends the execution or the
 * start; with neither in progress, has the box replaced before the next execution. */
static void session_refuse(struct laz_session *session, int code, const char *text)
{
    if (!session->execution)
        laz_audit_peer_refused(session, text);
    if (session->state == LAZ_SESSION_IDLE)
        session->misbehaved = true;
    if (session->state != LAZ_SESSION_IDLE && session->execution)
        session->shared->listener->stop(session, LAZ_STOP_PROTOCOL, 0, text);
    else
        laz_session_fail(session, code, text);
}

/* An agent must not send anything without a request. Data that it has sent nevertheless must not be
 * taken for an answer to the next execution. */
void laz_session_listen(struct laz_session *session)
{
    laz_box_catch_up_commands(session->box); /* calls from before an execution are not its own */
    if (!session->misbehaved && !laz_box_is_quiet(session->box))
        session_refuse(session, LAZ_EPROTO,
                       laz_box_has_hung_up(session->box) ? "the agent closed its connection"
                                                         : "the agent sent data without a request");
}

/* What breaks the protocol ends the box. */
static void session_cut_off(struct laz_session *session, int rc, const struct laz_error *err)
{
    laz_log(&session->shared->driver->log, LAZ_LOG_WARNING, "session %s: refused a message: %s",
            session->id, err->text);
    if (rc == LAZ_ENOMEM)
        session_give_up(session, err);
    else
        session_refuse(session, rc, err->text);
    session->cut_off = true;
    laz_box_kill(session->box);
}

#define SESSION_IDLE_CALLS 1000 /* calls of commands that are refused before they wait */

/* A call of a command while no code is executed, by a process that code has left running. */
static void session_refuse_command(struct laz_session *session, const struct laz_message *message)
{
    static const char why[] = "no code is executed: tools can be called during an execution only";
    struct laz_buf line = LAZ_BUF_INIT;

    laz_message_make(&(struct laz_message){.type = LAZ_MESSAGE_REPLY,
                                           .has_id = true,
                                           .id = message->id,
                                           .error = why,
                                           .error_len = sizeof why - 1,
                                           .kind = "refused"},
                     &line);
    if (!line.failed)
        laz_box_answer_command(session->box, line.data, line.len);
    laz_buf_fini(&line);
    if (++session->idle_calls >= SESSION_IDLE_CALLS)
        laz_box_hear_commands(session->box, false); /* until the next execution */
}

static bool session_command(void *user, char *line, size_t len)
{
    struct laz_session *session = user;
    struct laz_message message = {.type = LAZ_MESSAGE_TYPES};
    struct laz_error err = {0};

    int rc = line ? laz_message_parse(line, len, LAZ_WIRE_COMMANDS, &message, &err)
                  : laz_error_set(&err, LAZ_EPROTO, 0,
                                  "a message of a command is larger than max_message_size (%" PRIu64
                                  " bytes)",
                                  session->shared->values->session.max_message_size);
    if (!rc && !message.has_id)
        rc = laz_error_set(&err, LAZ_EPROTO, 0, "a call of a command has no id");
    if (rc)
        session_cut_off(session, rc, &err);
    else if (!session->execution || !session->shared->listener->command(session, &message))
        session_refuse_command(session, &message);
    laz_message_fini(&message);
    return rc == 0;
}

static bool session_line(void *user, char *line, size_t len)
{
    struct laz_session *session = user;
    const bool follows = session->finish.follows;
    struct laz_message message;
    struct laz_error err = {0};
    const char *why = NULL;

    int rc = laz_message_parse(
        line, len, follows ? LAZ_WIRE_ENDING : session_wire_states[session->state], &message, &err);
    if (!rc && follows && (rc = laz_session_finish_take(session, &message, &why)))
        laz_error_set(&err, rc, 0, "%s", rc == LAZ_ENOMEM ? "out of memory" : why);
    if (rc) {
        session_cut_off(session, rc, &err);
    } else if (session->state == LAZ_SESSION_STARTING) {
        if (message.type == LAZ_MESSAGE_READY)
            session_ready(session, &message);
        else
            laz_session_fail(session, LAZ_ESETUP, message.message ? message.message : "no reason");
    } else if (!follows) {
        session->shared->listener->message(session, &message);
    }
    laz_message_fini(&message);
    return rc == 0;
}

void laz_session_last_output(struct laz_session *session, int stream, const char *data, size_t len)
{
    const uint64_t most = session->shared->values->session.max_output_size * 64;
    struct laz_output *output = &session->finish.result->output;

    laz_output_add(output, stream, data, len);
    if (most && output->total > most)
        laz_box_kill(session->box);
}

void laz_session_keep_output(struct laz_session *session, int stream, const char *data, size_t len)
{
    struct laz_buf *early = &session->early[stream];

    if (early->len < SESSION_EARLY)
        laz_buf_append(early, data, len);
}

void laz_session_give_output(struct laz_session *session,
                             void (*give)(struct laz_session *session, int stream, const char *data,
                                          size_t len))
{
    for (int stream = 1; stream <= 2; stream++) {
        struct laz_buf early = session->early[stream];
        session->early[stream] = (struct laz_buf)LAZ_BUF_INIT;
        if (early.len && !early.failed)
            give(session, stream, early.data, early.len);
        laz_buf_fini(&early);
    }
}

void laz_session_hear_commands(struct laz_session *session)
{
    session->idle_calls = 0;
    laz_box_hear_commands(session->box, true);
}

static bool session_output(void *user, int stream, const char *data, size_t len)
{
    struct laz_session *session = user;

    if (session->execution)
        return session->shared->listener->output(session, stream, data, len);
    if (session->finish.result)
        laz_session_last_output(session, stream, data, len);
    else if (session->state == LAZ_SESSION_IDLE && session->finish.has_run)
        laz_session_keep_output(session, stream, data, len);
    return session->finish.result || session->finish.under_way ||
           session->state != LAZ_SESSION_IDLE;
}

static void session_broken(void *user, const struct laz_error *why)
{
    struct laz_session *session = user;

    laz_log(&session->shared->driver->log, LAZ_LOG_WARNING, "session %s: %s", session->id,
            why->text);
    if (why->code == LAZ_EOS || why->code == LAZ_ENOMEM)
        session_give_up(session, why);
    else
        session_refuse(session, why->code, why->text);
}

static void session_out_of_memory(void *user)
{
    struct laz_session *session = user;

    if (session->execution)
        session->shared->listener->stop(session, LAZ_STOP_MEMORY, 0, session->box->host.memory);
    else
        laz_session_fail(session, LAZ_ESETUP, "the session ran out of memory (limits.memory)");
}

static void session_read_on(void *user)
{
    struct laz_session *session = user;

    if (session->execution)
        session->shared->listener->read_on(session);
}

static void session_ended(void *user)
{
    struct laz_session *session = user;

    if (session->execution)
        session->shared->listener->box_ended(session);
    laz_session_stir(session);
}

/* ---- boxes ---------------------------------------------------------------------------------- */

/* Its box is on another machine. */
static int session_go_far(struct laz_session *session, const struct laz_box_owner *owner,
                          struct laz_error *err)
{
    struct laz_buf tools = LAZ_BUF_INIT, network = LAZ_BUF_INIT;
    struct laz_tool_set shared = session->shared->tools->set;

    shared.n = session->n_shared;
    laz_tool_set_json(&shared, session->own_tools, NULL, &tools);
    laz_network_rules_json(session->rules, &network);
    const struct laz_box_purpose purpose = {
        .runtime = session->runtime,
        .lent = session->lent,
        .is_far = true,
        .tools = laz_buf_text(&tools),
        .network = laz_buf_text(&network),
        .credentials = session->has_far_credentials ? &session->far_credentials : NULL,
    };
    int rc = tools.failed || network.failed
                 ? laz_error_nomem(err)
                 : laz_box_start(session->shared->boxes, &purpose, owner, &session->box, err);
    laz_buf_fini(&tools);
    laz_buf_fini(&network);
    return rc;
}

int laz_session_spawn(struct laz_session *session, struct laz_error *err)
{
    const struct laz_box_owner owner = {
        .user = session,
        .authenticated = session_authenticated,
        .line = session_line,
        .command = session_command,
        .output = session_output,
        .broken = session_broken,
        .out_of_memory = session_out_of_memory,
        .read_on = session_read_on,
        .ended = session_ended,
    };
    const struct laz_backend_choice *choice = NULL;
    int rc;

    if (laz_session_is_far(session)) {
        rc = session_go_far(session, &owner, err);
    } else {
        laz_spawner_expect(session->shared->boxes->spawner);
        rc = laz_box_chosen(session->shared->boxes, &choice, err);
    }
    if (!rc && choice) {
        rc = laz_session_begin_credentials(session, err);
        struct laz_box_purpose purpose = {
            .runtime = session->runtime,
            .read = &session->runtime_paths,
            .choice = choice,
            .lent = session->lent,
            .adds_tools = session->own_json,
            .has_tools = laz_session_n_tools(session) > 0,
            .has_network = session->has_network,
            .has_credentials = session->credentials != NULL,
            .placeholders = session->placeholders.n ? &session->placeholders : NULL,
        };
        const struct laz_template_source source = {
            .runtime = session->runtime,
            .options = laz_buf_text(&session->runtime_options),
            .read = &session->runtime_paths,
            .tools = session->shared_json,
            .has_network = purpose.has_network,
            .has_credentials = purpose.has_credentials,
        };
        if (!rc && session->warm)
            rc = laz_template_for(session->shared->boxes, &source, &purpose, err);
        if (!rc)
            rc = laz_box_start(session->shared->boxes, &purpose, &owner, &session->box, err);
    }
    if (rc) {
        laz_session_event(session, LAZ_EVENT_GONE);
        return rc;
    }
    session->failure = (struct laz_error){0};
    session->misbehaved = session->cut_off = session->is_lost = false;
    session->idle_calls = 0;
    session->cpu_us = 0;
    session->finish = (struct laz_finish){0};
    for (int stream = 1; stream <= 2; stream++)
        laz_buf_fini(&session->early[stream]);
    if (!session_note_isolation(session)) { /* results have to report what is in force */
        laz_session_event(session, LAZ_EVENT_GONE);
        laz_box_release(session->box);
        session->box = NULL;
        return laz_error_nomem(err);
    }
    laz_guard_renew(&session->guard);
    laz_session_event(session, LAZ_EVENT_SPAWNED);
    return 0;
}

void laz_session_drop_box(struct laz_session *session, enum laz_session_event event)
{
    if (session->state != LAZ_SESSION_NEW || event == LAZ_EVENT_CLOSE)
        laz_session_event(session, event);
    if (session->state == LAZ_SESSION_CLOSING)
        laz_session_event(session, LAZ_EVENT_GONE);
    if (event == LAZ_EVENT_REPLACE && session->misbehaved && !session->replaced)
        session->replaced = laz_verdict_name(LAZ_VERDICT_PROTOCOL_ERROR);
    laz_guard_end(&session->guard);
    laz_session_stop_network(session);
    laz_box_release(session->box);
    session->box = NULL;
    laz_session_note(session);
}

void laz_session_look(struct laz_session *session)
{
    if (!session->box || session->state != LAZ_SESSION_IDLE || session->start.under_way)
        return;
    const bool ran_out = laz_box_out_of_memory(session->box); /* processes that code left running */
    const char *why = ran_out ? "it ran out of memory (limits.memory) while no code was executed"
                              : laz_guard_idle(session);
    char text[LAZ_ERROR_TEXT_SIZE];
    if (ran_out)
        session->replaced = laz_verdict_name(LAZ_VERDICT_MEMORY_LIMIT);
    const char *lost = laz_box_lost(session->box);
    if (!why && lost) {
        session->replaced = laz_verdict_name(LAZ_VERDICT_WORKER_LOST);
        why = lost;
    }
    const char *path = why ? NULL : laz_box_unprotected(session->box);
    if (path) {
        snprintf(text, sizeof text, "the host has replaced %.150s (sandbox.protect)", path);
        why = text;
    }
    if (why)
        laz_session_fail(session, LAZ_ECLOSED, why);
    if (!laz_box_look(session->box) && !why) {
        laz_session_listen(session);
        return;
    }
    /* The box of a peer that has misbehaved is replaced, whether or not it has ended already. */
    bool cut_off = session->cut_off || (session->misbehaved && !laz_box_has_hung_up(session->box));
    if (!cut_off && !why)
        why = "its interpreter has ended while no code was executed";
    laz_audit_session_lost(session, cut_off ? session->failure.text : why);
    if (!cut_off) {
        session->failure = (struct laz_error){0}; /* that its channel is closed follows from it */
        laz_session_fail(session, LAZ_ECLOSED, why);
    }
    session->is_lost = !cut_off;
    laz_session_drop_box(session, cut_off ? LAZ_EVENT_REPLACE : LAZ_EVENT_GONE);
}
