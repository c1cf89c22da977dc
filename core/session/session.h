/* SPDX-License-Identifier: MIT */
/* session.h - what the files of a session share. Unless it says otherwise, a function is for the
 * thread that holds the loop. */
#ifndef LAZ_SESSION_SESSION_H
#define LAZ_SESSION_SESSION_H

#include "box/box.h"
#include "network/network.h"
#include "session/shared.h"
#include "session/guard.h"
#include "session/result.h"
#include "session/session_fsm.h"
#include "session/verdict.h"
#include "wire/message.h"

#include <lazaret/lazaret.h>
#include <stdatomic.h>

struct laz_execution; /* execute.c */

/* The start of a box, from its spawn until the session is idle or the start has failed. */
struct laz_start {
    bool under_way;
    bool is_first;      /* the first start of the session may try other backends */
    bool is_choosing;   /* waits for a backend that is tried, or a uid; there is no box */
    bool is_dying;      /* start failed; draining stderr for the error message */
    bool is_unrecorded; /* the session is idle, but its start could not be audited: `why` */
    struct laz_box_asker asker;
    int failed; /* while another backend is tried: how the start of the last box failed */
    const struct laz_backend_ops *ops; /* of the box that starts */
    char backend[65];                  /* its name, or of the last that was tried; "": none */
    uint64_t begun_us;
    const char *cause; /* for the audit log: "first", "asked", "replaced" */
    int rc;            /* result of the start, until a caller has got it */
    struct laz_error why;
};

/* The end of an interpreter that ends by itself. */
struct laz_finish {
    bool has_run; /* code has run in this box */
    bool under_way;
    bool is_over;              /* its time is, or it was cancelled */
    bool was_ending;           /* is_ending of the session before */
    struct laz_timer *timer;   /* while it is under way */
    uint64_t left_ms;          /* of the clocks of the last execution; LAZ_UNLIMITED: they stand */
    struct laz_result *result; /* the last: takes what is written after it, and files; or NULL */
    int64_t id;                /* of the execution that was said to be the last; 0: none was */
    bool follows;              /* its files follow, */
    bool has_followed;         /* and all have come */
};

#define LAZ_DESCRIPTION_SIZE 192

struct laz_credential_set;

struct laz_session {
    struct laz_session_shared *shared;
    struct laz_session *next;
    struct laz_stir stir;
    struct laz_start start;
    struct laz_session_owner *owner; /* NULL: the application */
    char id[17];
    const struct laz_runtime_info *runtime;
    struct laz_buf runtime_options; /* JSON */
    struct laz_strv runtime_paths;  /* values of LAZ_OPT_PATHS options: visible in the box */
    enum laz_session_state state;
    struct laz_box *box;      /* NULL: none */
    struct laz_error failure; /* why the box or its start failed; code 0: it did not */
    bool on_record;           /* the audit log has its start, and not its close */
    bool warm;                /* starts from a template, as pool.warm says */
    const int *lent[3];       /* the standard streams of its code, of `streams`; NULL: its own */
    int streams[3];           /* borrowed */
    bool keeps_dead;          /* a box that has ended is replaced only when it is needed */
    bool misbehaved;          /* the idle agent sent something, or its channel failed on this side:
                                 the box is to be replaced */
    unsigned idle_calls;      /* of commands, that were refused since the last execution */
    bool cut_off;             /* the host has killed the box for it */
    bool is_lost;             /* its box ended while it was idle: the next execution has another */
    const char *replaced;     /* name of the verdict that ended the box before this one, until a
                                 result has said so; NULL: none */
    char lost[200];           /* why, where no result has said it; "": one has */
    size_t n_shared;          /* size of the engine's tool set when it was opened */
    struct laz_tool_set *own_tools; /* beside these; held; NULL: none */
    void *user;                     /* told to tools */
    char *identity;                 /* told to the audit log; NULL: none */
    /* Its network list, held, and the one that it was opened with, whose ports boxes listen to;
     * NULL: the settings are wrong. */
    struct laz_network_rules *rules, *first_rules;
    bool has_network;            /* its boxes have a way out, even if nothing is permitted now */
    struct laz_network *network; /* the way out of its box; NULL: none */
    struct laz_denials denials;  /* that no result has told */
    struct laz_credential_set *credentials; /* that its code uses; NULL: none */
    struct laz_strv placeholders; /* variables of them, where they are not those of the settings */
    struct laz_strv far_credentials; /* names of those of its worker, */
    bool has_far_credentials;        /* if it is to have these and not all */
    char *tools_json;                /* all of them, */
    char *shared_json, *own_json;    /* and in two parts; without own tools: all, and NULL */
    char *isolation;                 /* of the box, or of the last one: JSON, */
    char backend[65];                /* and the same as values; "": there was none */
    uint32_t enforces;
    int (*pre_execute)(void *user, const char *code, size_t len, char *reason, size_t reason_size);
    void *pre_execute_user;
    uint64_t executions; /* that count for max_executions */
    uint64_t cpu_us;     /* CPU time of the current box, at its start or its last result */
    int64_t last_id;
    struct laz_timer *start_timer, *code_timer, *deadline_timer;
    struct laz_guard guard;
    struct laz_finish finish;
    struct laz_buf early[3]; /* by stream: output of what code has left running, for the next one */
    struct laz_execution *execution; /* the one that runs in its box, or NULL */
    struct laz_execution *wanted;    /* the same, or one that waits for its hook or its box */
    atomic_uint executing;           /* somebody has it for something: 1 + enum laz_asked; or 0 */
    atomic_bool cancel;              /* laz_session_cancel was called and not handled yet */
    bool is_cancelled;   /* it was handled, for whoever has the session: asking it ends at once */
    atomic_bool closing; /* close it when the current execution has ended */
    atomic_bool freeing; /* free it when the current execution has ended */
    unsigned waiters;    /* functions that wait in a turn of the loop: it must not be freed */
    bool is_ending;      /* it is being closed: no execution may start */
    char *description;   /* room for LAZ_DESCRIPTION_SIZE bytes */
    char in_use[96];     /* that for a thread that finds another one inside */
    /* As last noted, for such a thread: */
    _Atomic int64_t noted_pid;
    atomic_bool noted_alive;
};

/* Notes in the result in which session it ran, and what isolation is in force. False: out of
 * memory. */
bool laz_session_mark_result(const struct laz_session *session, struct laz_result *result);
/* What a session does (`executing`, not 0), as a clause for errors. */
const char *laz_session_activity(unsigned executing);
/* Is its box on another machine, or will it be? */
bool laz_session_is_far(const struct laz_session *session);
/* The number of tools that its code can call. */
size_t laz_session_n_tools(const struct laz_session *session);

/* session_start.c: starts a box and returns at once. When session->start is no longer under way, it
 * has the result; the session is idle if there is no error. `cause` is static text. */
void laz_session_begin_start(struct laz_session *session, const char *cause);
/* Cancels a start that is under way, without a result. The session has no box, or one that is
 * still to be dropped. */
void laz_session_abandon_start(struct laz_session *session);
/* The timer of a start has fired; `user` is the session. */
void laz_session_start_too_late(void *user);
/* Checks whether the start has ended or failed. Called between two turns of the loop. */
void laz_session_advance_start(struct laz_session *session);
/* Restarts the timers of a start, because the loop was not run for a while. */
void laz_session_be_patient(struct laz_session *session);
/* Has the session checked after this turn of the loop. */
void laz_session_stir(struct laz_session *session);
/* Notes what other threads may ask for while the engine is in use. */
void laz_session_note(struct laz_session *session);
/* laz_session_isolation, for the thread that is inside. */
const char *laz_session_isolation_text(const struct laz_session *session);
/* Changes the state; see laz_session_step. */
bool laz_session_event(struct laz_session *session, enum laz_session_event event);
/* Makes a session without a box, which laz_session_destroy frees; `options` are complete. */
int laz_session_unstarted(struct laz_session_shared *shared,
                          const struct laz_session_options *options, struct laz_session **session,
                          struct laz_error *err);
/* Makes a session and begins its start; `options` are complete. Errors: as laz_session_open, except
 * those of the start. */
int laz_session_make(struct laz_session_shared *shared, const struct laz_session_options *options,
                     struct laz_session **session, struct laz_error *err);
/* Cancels the execution and ends the box, running the loop until both have ended. The caller then
 * calls laz_session_settle. */
void laz_session_end(struct laz_session *session);
/* The same without waiting: what it executes is reported as cancelled in here, and its box ends
 * without it. */
void laz_session_abandon(struct laz_session *session);
/* Lets the interpreter of an idle session end by itself, as after a script, in at most `ms`
 * milliseconds, running the loop (session_finish.c). True: it has, or there was nothing to end. The
 * caller ends the box. */
bool laz_session_finish(struct laz_session *session, uint64_t ms);
void laz_session_finish_cancel(struct laz_session *session);
/* After the last execution: the same without waiting, in the time that its clocks have left; what
 * is written meanwhile belongs to the result. True: laz_session_finish_is_over tells when it has,
 * or its time is over, and the session advances then; laz_session_finish_told comes next. False:
 * there is nothing to wait for. */
bool laz_session_finish_ask(struct laz_session *session, struct laz_result *result);
bool laz_session_finish_is_over(const struct laz_session *session);
void laz_session_finish_told(struct laz_session *session, struct laz_result *result);
/* A message that has come meanwhile. LAZ_EPROTO: it is not what it has to be, *why says why (static
 * text); LAZ_ENOMEM. */
int laz_session_finish_take(struct laz_session *session, const struct laz_message *message,
                            const char **why);
/* Nothing comes any more for the result of an execution that was said to be the last. */
void laz_session_settle_last(struct laz_session *session, struct laz_result *result);
/* The session is closed: ends its box without waiting, and records its end. */
void laz_session_shut(struct laz_session *session);
/* The same, and frees the session, which has no owner from now on: at once, or when the function
 * that waits in it has left. */
void laz_session_discard(struct laz_session *session);
/* Closes and frees the session if that was requested during an execution, unless one is still in
 * progress or a function waits in it. May free the session. */
void laz_session_settle(struct laz_session *session);
/* It can use its credentials no more, in the box that it has (session_credentials.c): it is of use
 * to who has begun something in it, and not for another caller. Its owner is told. */
bool laz_session_is_stale(const struct laz_session *session);
/* The session goes to somebody else, with the network list that it was opened with
 * (session_network.c). Errors: LAZ_ENOMEM. */
int laz_session_restore_network(struct laz_session *session, struct laz_error *err);
/* Ends the box without waiting, and frees the session. */
void laz_session_destroy(struct laz_session *session);
/* Records why the start or the idle box has failed (`text` is copied); the first reason counts. */
void laz_session_fail(struct laz_session *session, int code, const char *text);
/* Records it as misbehaviour if the agent of an idle session has sent something. */
void laz_session_listen(struct laz_session *session);
/* Spawns a box for the session, with the backend that was chosen. Errors: as laz_session_open. */
int laz_session_spawn(struct laz_session *session, struct laz_error *err);
/* Ends the box, if any, without waiting. `event`: LAZ_EVENT_CLOSE, _GONE or _REPLACE. */
void laz_session_drop_box(struct laz_session *session, enum laz_session_event event);
/* What is written after the last result, with the limit of its execution. */
void laz_session_last_output(struct laz_session *session, int stream, const char *data, size_t len);
/* What came while no code was executed belongs to the next code: keeps it, and gives it. */
void laz_session_keep_output(struct laz_session *session, int stream, const char *data, size_t len);
void laz_session_give_output(struct laz_session *session,
                             void (*give)(struct laz_session *session, int stream, const char *data,
                                          size_t len));
/* An execution has begun: calls of commands are its own from now on. */
void laz_session_hear_commands(struct laz_session *session);
/* Checks the box of an idle session: has it ended, or has its agent sent something? */
void laz_session_look(struct laz_session *session);
/* It can use its credentials no more, in the box that it has: it is of use to who has begun
 * something in it, and not for another caller. Its owner is told. */
bool laz_session_is_stale(const struct laz_session *session);

/* ---- who hears of it ------------------------------------------------------------------------ */

/* What happens to a session goes to what it executes (execute.c) through this table: calls go down,
 * reports come up. */
struct laz_session_listener {
    /* Between two turns of the loop: an execution that waits for its session, or has ended, goes
     * on. */
    void (*advance)(struct laz_session *session);
    /* While one runs in the box: what the box reports. */
    void (*message)(struct laz_session *session, struct laz_message *message);
    /* A call of a command. False: no code is executed any more. */
    bool (*command)(struct laz_session *session, const struct laz_message *message);
    /* False: no more of it is wanted now (laz_session_keep_output). */
    bool (*output)(struct laz_session *session, int stream, const char *data, size_t len);
    void (*read_on)(struct laz_session *session);
    void (*box_ended)(struct laz_session *session);
    /* The peer broke the protocol, or a limit of the session as a whole was reached; see
     * laz_execution_stop. */
    void (*stop)(struct laz_session *session, enum laz_stop stop, uint64_t number,
                 const char *text);
    /* Its two timers; `user` is the session. */
    void (*code_too_late)(void *user);
    void (*deadline_over)(void *user);
};
extern const struct laz_session_listener laz_execution_listener; /* execute.c */

/* Who has a session that is not the application's: a part of what knows it. */
struct laz_session_owner {
    /* Between two turns, while nothing is asked of it: it has started, failed to, or ended. */
    void (*changed)(struct laz_session_owner *owner);
    /* The application frees it. NULL: it does not know of it. */
    void (*take_back)(struct laz_session_owner *owner);
};

/* ---- what it is asked for -------------------------------------------------------------------- */

enum laz_asked {
    LAZ_ASKED_EXECUTE,
    LAZ_ASKED_CHECK,  /* checks the syntax only: the last that has code */
    LAZ_ASKED_PUT,    /* puts a file into it: `code` is its content */
    LAZ_ASKED_REMOVE, /* removes such a file */
};

/* All of it is borrowed until `done`. */
struct laz_request {
    enum laz_asked asked;
    const char *code;
    size_t len;
    const char *file;                          /* its name */
    const struct laz_execute_options *options; /* by laz_options_complete */
    bool keeps;   /* its session goes on after it, so it is interrupted and not killed */
    bool starts;  /* nobody has asked for its session: why it did not start is told as an error */
    bool is_last; /* nothing else is asked of its session: laz_session_finish_ask comes next, and
                     laz_session_settle_last when nothing of it can come any more */
    /* The loop thread, between two turns: with a result that is the callee's, or an error. */
    void (*done)(void *user, struct laz_result *result, const struct laz_error *err);
    void *user;
};

/* The caller is inside, and has the session for what it asks (`executing`). Goes on after this
 * turn, or `at_once`: then `done` may be called in here. After an error it is not called:
 * LAZ_ECLOSED, LAZ_ENOMEM. */
int laz_session_ask(struct laz_session *session, const struct laz_request *request, bool at_once,
                    struct laz_error *err);
/* The caller wants what it executes, or its start, to end. */
void laz_execution_cancel(struct laz_session *session);
/* It has its result at once, whatever it waits for: `done` is called in here. */
void laz_execution_abandon(struct laz_session *session);

/* CPU time that it has used since its last result, or its start. The thread of its loop. */
uint64_t laz_session_idle_cpu_us(const struct laz_session *session);

#endif
