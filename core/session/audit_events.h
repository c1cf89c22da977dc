/* SPDX-License-Identifier: MIT */
/* audit_events.h - the events of a session that are recorded in the audit log, with their fields.
 *
 * Each function is called in the loop thread where its event happens.  A function that returns int
 * is called before the event: an error (LAZ_EREFUSED) means that the event must not happen, because
 * it could not be recorded.  Without an audit log all do nothing and return 0. */
#ifndef LAZ_SESSION_AUDIT_EVENTS_H
#define LAZ_SESSION_AUDIT_EVENTS_H

#include "session/execution.h"
#include "session/session.h"

/* See laz_sessions_init. */
int laz_audit_open(struct laz_session_shared *shared, struct laz_error *err);

/* Records session_start, and for later boxes session_restart with its cause. */
int laz_audit_started(struct laz_session *session, struct laz_error *err);
void laz_audit_start_failed(struct laz_session *session, const struct laz_error *why);
/* The peer failed authentication, or sent an invalid message or one that is illegal in this state.
 */
void laz_audit_peer_refused(struct laz_session *session, const char *why);
/* The box of an idle session has ended, or was killed for misbehaving. */
void laz_audit_session_lost(struct laz_session *session, const char *why);
/* Its network list becomes this one. */
int laz_audit_network_set(const struct laz_session *session, const struct laz_network_rules *rules,
                          struct laz_error *err);
/* What was refused of its network since the last result. */
void laz_audit_denials(const struct laz_session *session);
/* A credential was used since the last result: JSON. */
void laz_audit_credential(const struct laz_session *session, const char *json, size_t len);
/* Records session_close, once for each session whose start was recorded. */
void laz_audit_closed(struct laz_session *session);

/* Code or a check is sent. */
int laz_audit_execute(const struct laz_execution *execution, struct laz_error *err);
/* The code was refused before it ran. */
void laz_audit_blocked(const struct laz_execution *execution, const struct laz_result *result);
/* The host ends the execution, because of a limit of the settings or a protocol error. */
void laz_audit_stopped(const struct laz_execution *execution);
/* The execution has its result. */
void laz_audit_judged(const struct laz_execution *execution);
/* Its artifacts, where they are not recorded with the result because it was the last. */
void laz_audit_artifacts(const struct laz_session *session, int64_t execution,
                         const struct laz_artifacts *artifacts);
/* The execution was recorded by laz_audit_execute, but its code could not be sent. */
void laz_audit_not_run(const struct laz_execution *execution, const struct laz_error *why);

/* The last call that was counted. */
int laz_audit_tool_call(const struct laz_execution *execution, const struct laz_trace *trace,
                        const char *tool, const struct laz_buf *args);
/* Whether a call (its number) was approved, and why not. */
int laz_audit_approval(const struct laz_execution *execution, uint64_t number,
                       const struct laz_trace *trace, const char *tool, bool is_approved,
                       const char *why);
void laz_audit_tool_refused(const struct laz_execution *execution, const struct laz_trace *trace,
                            const struct laz_message *message, const char *why);
void laz_audit_tool_result(const struct laz_execution *execution, const struct laz_call *call,
                           const char *json, size_t len, const char *error);
/* The call was cancelled before it was answered. */
void laz_audit_tool_abandoned(const struct laz_execution *execution, const struct laz_call *call);

#endif
