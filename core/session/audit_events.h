/* SPDX-License-Identifier: MIT */
/* audit_events.h - what of a session's life goes on record, and with which fields.
 *
 * Each is called where the thing happens.  Those that return int come before it: anything but 0
 * means that it must not happen, because there is no record of it. */
#ifndef LAZ_SESSION_AUDIT_EVENTS_H
#define LAZ_SESSION_AUDIT_EVENTS_H

#include "session/execution.h"
#include "session/session.h"

/* The log of the settings, if any. Errors: as laz_audit_new. */
int laz_audit_open(struct laz_session_shared *shared, struct laz_error *err);

/* session_start the first time, then session_restart with its cause ("asked", "replaced"). */
int laz_audit_started(struct laz_session *session, const char *cause, struct laz_error *err);
void laz_audit_start_failed(struct laz_session *session, const struct laz_error *why);
/* A peer that is not who it should be, or a message that is none, or not now. */
void laz_audit_peer_refused(struct laz_session *session, const char *why);
/* The box of an idle session has ended, or was cut off. */
void laz_audit_session_lost(struct laz_session *session, const char *why);
/* Once for each session that was put on record. */
void laz_audit_closed(struct laz_session *session);

/* `type`: "execute" or "check". */
int laz_audit_execute(struct laz_session *session, const char *type, const char *code, size_t len,
                      struct laz_error *err);
/* Nothing ran. */
void laz_audit_blocked(struct laz_session *session, const char *code, size_t len,
                       const struct laz_result *result);
/* The host ends it, because of a limit of the settings or what the peer did. */
void laz_audit_stopped(const struct laz_execution *execution);
void laz_audit_judged(const struct laz_execution *execution);
/* It was put on record, and not begun. */
void laz_audit_not_run(struct laz_session *session, const char *type, const struct laz_error *why);

/* `number` counts the calls of an execution from 1. */
int laz_audit_tool_call(const struct laz_execution *execution, uint64_t number, const char *tool,
                        const struct laz_buf *args, struct laz_error *err);
void laz_audit_tool_refused(const struct laz_execution *execution, uint64_t number,
                            const struct laz_message *message, const char *why);
void laz_audit_tool_result(const struct laz_execution *execution, const struct laz_call *call,
                           const char *json, size_t len, const char *error);
/* Nobody waits for its answer any more. */
void laz_audit_tool_abandoned(const struct laz_execution *execution, const struct laz_call *call);

#endif
