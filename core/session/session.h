/* SPDX-License-Identifier: MIT */
/* session.h - what the parts of a session share. */
#ifndef LAZ_SESSION_SESSION_H
#define LAZ_SESSION_SESSION_H

#include "box/box.h"
#include "session/shared.h"
#include "session/guard.h"
#include "session/pool.h"
#include "session/session_fsm.h"
#include "session/verdict.h"
#include "wire/message.h"

#include <lazaret/lazaret.h>
#include <stdatomic.h>

struct laz_execution; /* execute.c */
struct laz_session_keeper;

/* The start of a box, from its spawn to the idle session, or to why there is none. */
struct laz_start {
    bool under_way;
    bool is_first;      /* it may go on with another backend */
    bool is_dying;      /* it failed; the process's last words are on their way */
    bool is_unrecorded; /* the session is idle, but the audit log lacks its start: `why` */
    const struct laz_backend_ops *ops; /* of the box that starts */
    const char *cause;                 /* for the audit log: "first", "asked", "replaced" */
    int rc;                            /* how it ended, until somebody was told */
    struct laz_error why;
};

struct laz_session {
    struct laz_session_shared *shared;
    struct laz_session *next;
    struct laz_stir stir;
    struct laz_start start;
    struct laz_pool_member *member;          /* of a pool; NULL: none */
    const struct laz_session_keeper *keeper; /* with `member` */
    char id[17];
    const struct laz_runtime_info *runtime;
    struct laz_buf runtime_options; /* JSON */
    struct laz_strv runtime_paths;  /* the folders among them: visible in the box */
    enum laz_session_state state;
    struct laz_box *box;      /* NULL: none */
    char *runtime_file;       /* as the agent sees it */
    struct laz_error failure; /* why the last start failed; code 0: it did not */
    bool on_record;           /* the audit log has its start, and not its close */
    bool warm;                /* from a template, as pool.warm says */
    bool keeps_dead;          /* a box that went is replaced only when it is needed */
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
    struct laz_execution *execution; /* runs in its box */
    struct laz_execution *wanted;    /* the same, or one that waits for its hook or its box */
    atomic_bool executing;
    atomic_bool cancel;  /* what it does is to be ended */
    atomic_bool closing; /* at the end of the execution that is under way */
    atomic_bool freeing; /* and freed */
    unsigned waiters;    /* callers that wait in it: it is not freed under them */
    bool is_ending;      /* one of them closes it: nothing begins any more */
    char description[192];
};

/* session_start.c: the start of a box. Begin returns at once; what comes of it is in session->start
 * when it is no longer under way, and the session is idle if all is well. */
void laz_session_begin_start(struct laz_session *session, const char *cause);
/* Nobody wants it any more. */
void laz_session_abandon_start(struct laz_session *session);
/* Its timer; `user` is the session. */
void laz_session_start_too_late(void *user);
/* Looks whether it has ended. Between two turns of the loop. */
void laz_session_advance_start(struct laz_session *session);
/* Drives the loop until it has ended. Errors: why there is no idle session; told once. */
int laz_session_await(struct laz_session *session, struct laz_error *err);
/* The clocks of a start begin anew: for one that nobody drove meanwhile. */
void laz_session_be_patient(struct laz_session *session);
/* Something has happened to it that has to be looked at between two turns of the loop. */
void laz_session_stir(struct laz_session *session);
/* A new session, whose start has begun. Errors: as laz_session_open, but for those of a start. */
int laz_session_make(struct laz_session_shared *shared, const struct laz_session_options *options,
                     struct laz_session **session, struct laz_error *err);
/* Cancels what it executes, ends its box and waits for that, driving the loop; then
 * laz_session_settle is due. */
void laz_session_end(struct laz_session *session);
/* Once nobody waits in it and nothing is executed: closes and frees it, if that was asked for
 * meanwhile. It may be gone afterwards. */
void laz_session_settle(struct laz_session *session);
/* Ends its box and frees it. */
void laz_session_destroy(struct laz_session *session);
/* Notes why no session comes of the box that starts; the first reason counts. */
void laz_session_fail(struct laz_session *session, int code, const char *text);
/* An idle agent that has something to say says it out of turn: it is noted. */
void laz_session_listen(struct laz_session *session);
/* Makes a box for it. Errors: as laz_session_open. */
int laz_session_spawn(struct laz_session *session, struct laz_error *err);
/* Ends the box, if any, and (unless `event` is LAZ_EVENT_CLOSE) makes room for another. */
void laz_session_drop_box(struct laz_session *session, enum laz_session_event event);
/* Notices a box that ended, or an agent that spoke, while nobody looked. */
void laz_session_look(struct laz_session *session);

/* ---- who hears of it --------------------------------------------------------------------------
 */

/* What happens to a session goes to what it executes (execute.c) through this table: calls go down,
 * reports come up. */
struct laz_session_listener {
    /* Between two turns of the loop: an execution that waits for its session, or has ended, goes
     * on. */
    void (*advance)(struct laz_session *session);
    /* While one runs in the box: what the box reports. */
    void (*message)(struct laz_session *session, struct laz_message *message);
    void (*output)(struct laz_session *session, int stream, const char *data, size_t len);
    void (*broken)(struct laz_session *session, const char *why);
    void (*read_on)(struct laz_session *session);
    void (*box_ended)(struct laz_session *session);
    /* A limit of the session as a whole was reached: `number` and `by` are the stop's own. */
    void (*over_limit)(struct laz_session *session, enum laz_stop stop, uint64_t number,
                       const char *by);
    /* Its two timers; `user` is the session. */
    void (*code_too_late)(void *user);
    void (*deadline_over)(void *user);
};
extern const struct laz_session_listener laz_execution_listener; /* execute.c */

/* The pool that a session is a member of. */
struct laz_session_keeper {
    /* Its session started, failed to, or ended: the pool looks at it between two turns. */
    void (*changed)(struct laz_pool_member *member);
    /* The application frees a session that is a pool's. */
    void (*take_back)(struct laz_pool_member *member);
};

/* The caller wants what it executes, or its start, to end. */
void laz_execution_cancel(struct laz_session *session);
/* A session that does not come up, as the result of the execution it was for; NULL without memory.
 */
struct laz_result *laz_execution_not_started(int rc, const char *why);

#endif
