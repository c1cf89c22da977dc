/* SPDX-License-Identifier: MIT */
/* session.h - what the parts of a session share. */
#ifndef LAZ_ENGINE_SESSION_H
#define LAZ_ENGINE_SESSION_H

#include "engine/box.h"
#include "engine/engine.h"
#include "engine/guard.h"
#include "engine/session_fsm.h"
#include "wire/message.h"

#include <lazaret/lazaret.h>
#include <stdatomic.h>

struct laz_execution; /* execute.c */

struct laz_session {
    struct laz_engine *engine;
    struct laz_session *next;
    char id[17];
    const struct laz_runtime_info *runtime;
    struct laz_buf runtime_options; /* JSON */
    struct laz_strv runtime_paths;  /* the folders among them: visible in the box */
    enum laz_session_state state;
    struct laz_box *box;      /* NULL: none */
    char *runtime_file;       /* as the agent sees it */
    struct laz_error failure; /* why the last start failed; code 0: it did not */
    bool on_record;           /* the audit log has its start, and not its close */
    bool misbehaved;          /* spoke out of turn while idle: the box is replaced */
    bool cut_off;             /* ended by us for it */
    size_t n_tools;           /* of the engine's set, at the time it was opened */
    char *tools_json;
    char *isolation;
    int (*pre_execute)(void *user, const char *code, size_t len, char *reason, size_t reason_size);
    void *pre_execute_user;
    uint64_t executions; /* that count for max_executions */
    uint64_t cpu_us;     /* of the present box, at the end of its last execution */
    int64_t last_id;
    struct laz_timer *start_timer, *code_timer, *deadline_timer;
    struct laz_guard guard;
    struct laz_execution *execution; /* under way */
    atomic_bool executing;
    atomic_bool closing; /* at the end of the execution that is under way */
    char description[192];
};

/* Starts a box for a session without one; it becomes ready later. Errors: as laz_session_open. */
int laz_session_spawn(struct laz_session *session, struct laz_error *err);
/* Drives the loop until the session is idle. Errors: why it cannot be. */
int laz_session_await(struct laz_session *session, struct laz_error *err);
/* Ends the box, if any, and (unless `event` is LAZ_EVENT_CLOSE) makes room for another. */
void laz_session_drop_box(struct laz_session *session, enum laz_session_event event);
/* Notices a box that ended, or an agent that spoke, while nobody looked. */
void laz_session_look(struct laz_session *session);

/* execute.c: what the box of a running session reports. */
void laz_execution_message(struct laz_session *session, struct laz_message *message);
void laz_execution_output(struct laz_session *session, int stream, const char *data, size_t len);
void laz_execution_broken(struct laz_session *session, const char *why);
void laz_execution_box_ended(struct laz_session *session);
/* ... and what its two timers do; `user` is the session. */
void laz_execution_code_too_late(void *user);
void laz_execution_deadline_over(void *user);

#endif
