/* SPDX-License-Identifier: MIT */
/* shared.h - what the sessions of an engine share, and what all rooms may call of them; the rest is
 * in session.h. */
#ifndef LAZ_SESSION_SHARED_H
#define LAZ_SESSION_SHARED_H

#include "base/buf.h"
#include "box/box.h"
#include "loop/driver.h"
#include "tool/tool.h"

#include <lazaret/lazaret.h>

struct laz_audit;
struct laz_spans;
struct laz_looks;
struct laz_network_rules;
struct laz_network_shared;
struct laz_credentials;
struct laz_job;
struct laz_pool;
struct laz_session_listener;

struct laz_session_shared {
    struct laz_driver *driver;
    const struct laz_settings *settings;
    const struct laz_settings_values *values;
    struct laz_registry *registry;
    bool runtime_told; /* which one a session has that names none */
    struct laz_box_shared *boxes;
    struct laz_tools *tools;
    struct laz_audit *audit; /* NULL: none */
    struct laz_spans *spans; /* NULL: no traces are sent */
    atomic_uint *pooled;     /* sessions of pools that are not closed, of all engines of a group */
    const struct laz_session_listener *listener;
    struct laz_network_rules *rules;     /* the list of the settings; NULL: they are wrong */
    struct laz_network_shared *network;  /* made with the first box that has a way out */
    struct laz_credentials *credentials; /* of the settings and of sessions */
    struct laz_strv placeholders;        /* of those of the settings: variables */
    struct laz_session *sessions;
    struct laz_pool *pools;
    struct laz_job *jobs; /* that have begun, and were not reported */
    struct laz_looks
        *looks;       /* made with the first session; whoever frees the loop frees it before */
    unsigned running; /* number of executions that run in boxes */
    unsigned processors;
};

/* Makes the network list of the settings, and opens the audit log and the exporter of traces that
 * they name, if any, unless there is one already. Needs `driver`, `values`, `boxes`, `tools` and
 * `pooled`; the caller frees `audit` and `spans`, and calls laz_sessions_end_network, after a
 * failure too. Errors: as laz_audit_new and laz_spans_new; LAZ_ECONFIG: a rule is wrong, or the
 * settings show the log to the code. */
int laz_sessions_init(struct laz_session_shared *shared, struct laz_error *err);
/* Makes the network list of the settings. Errors: LAZ_ECONFIG with the place of a rule that is
 * wrong; LAZ_ENOMEM. Where mistakes are collected, there may be none in the end: NULL. */
int laz_session_rules_of(const struct laz_settings_values *values, struct laz_network_rules **rules,
                         struct laz_error *err);
/* When all sessions are free: what they share of the network, and then of credentials. */
void laz_sessions_end_network(struct laz_session_shared *shared);
/* Makes those of the settings. Needs what laz_sessions_init does, all of `boxes` and `tools`.
 * Errors: as laz_credentials_new. */
int laz_sessions_begin_credentials(struct laz_session_shared *shared, struct laz_error *err);
void laz_sessions_end_credentials(struct laz_session_shared *shared);
/* They are left as they are, and not freed: they do not count as sessions any more. */
void laz_sessions_leave(struct laz_session_shared *shared);
/* Cancels what sessions execute, and how they start or finish: of those that laz_session_cancel has
 * marked, or of all. */
void laz_sessions_cancel(struct laz_session_shared *shared, bool all);
/* The loop was not run for a while: those that start are not to blame. */
void laz_sessions_be_patient(struct laz_session_shared *shared);

/* Implements laz_session_open. */
int laz_sessions_open(struct laz_session_shared *shared, const struct laz_session_options *options,
                      struct laz_session **session, struct laz_error *err);
/* Does what the first session of the settings' runtime depends on, up to the start of its process:
 * the runtime and its options, the hook, the box as it would be planned, the backend, which is
 * tried. Errors: as laz_session_open; where mistakes are collected (laz_settings_collect), it goes
 * on after each that others do not depend on. */
int laz_sessions_inspect(struct laz_session_shared *shared, struct laz_error *err);
/* Has the backend chosen, as for a first session: waits until that is done. As laz_box_backend. */
int laz_sessions_choose(struct laz_session_shared *shared, struct laz_error *err);
/* When all sessions are free: the threads that look at boxes (looks.h). Waits for them no longer
 * than a second: one that the kernel holds ends by itself, and the last one frees what they share.
 * NULL is allowed. */
void laz_looks_free(struct laz_looks *looks);

/* Makes a result that says why nothing ran (texts are copied); the caller frees it with
 * laz_result_free. NULL: out of memory. */
struct laz_result *laz_result_nothing_ran(enum laz_verdict verdict, const char *kind,
                                          const char *message);
/* The same for a session that does not come up (`rc` of its start), or was cancelled before. */
struct laz_result *laz_result_not_started(int rc, const char *why);

/* The user of its box; LAZ_SPAWN_SAME_ID: none of its own. */
uint32_t laz_session_uid(const struct laz_session *session);

#endif
