/* SPDX-License-Identifier: MIT */
/* execution.h - an execution in progress, shared by execute.c (its phases), execution_tools.c (its
 * calls of tools) and execution_judge.c (its result). All functions are for the thread that holds
 * the loop. */
#ifndef LAZ_SESSION_EXECUTION_H
#define LAZ_SESSION_EXECUTION_H

#include "base/trace.h"
#include "session/session.h"
#include "session/verdict.h"

struct waiting_call; /* execution_tools.c */
struct laz_check;    /* execution_check.c */

/* The phases of an execution, in order. */
enum laz_phase {
    LAZ_PHASE_NEW,     /* whether it may run was not checked yet */
    LAZ_PHASE_HOOK,    /* waits for the answer of session.pre_execute_hook */
    LAZ_PHASE_BOX,     /* waits until its session has started */
    LAZ_PHASE_RUNNING, /* the code was sent to the box */
};

struct laz_execution {
    struct laz_session *session;
    struct laz_result *result;
    enum laz_phase phase;
    struct laz_request request;
    bool cancelled; /* before it was running */
    struct laz_hook *hook;
    bool hook_answered;
    int64_t id;
    size_t sent;  /* bytes of a file that is put */
    bool over;    /* the outcome has arrived, or the box has ended */
    bool is_held; /* the outcome waits for `check`, or a look (laz_guard_is_awaited) */
    bool has_message;
    struct laz_message message; /* the outcome; its `value` and `args` are NULL */
    struct laz_check *check;    /* of it, under way: it is not complete before; or NULL */
    /* That has ended (`rc` and `why` as of laz_execution_part). Unless it failed, the value and the
     * text may be taken; what is left of them is freed. */
    void (*checked)(struct laz_execution *execution, int rc, const char *why, struct laz_buf *value,
                    struct laz_buf *text);
    enum laz_stop stop;
    uint64_t stop_number; /* as in struct laz_evidence, and stop_text */
    char stop_text[256];
    bool is_interrupted;    /* the code was, and the box is not killed yet: it has its grace */
    uint64_t grace_left_ms; /* after the second signal; 0: that was sent */
    bool has_answered;      /* and has ended by that */
    uint64_t code_left_ms;  /* of options->timeout_ms, while the clock is stopped */
    uint64_t code_since_ms; /* when the clock was last started */
    uint64_t deadline_left_ms, deadline_since_ms; /* likewise, of options->deadline_ms */
    struct laz_call **calls; /* open calls, LAZ_OPEN_CALLS and LAZ_OPEN_COMMANDS at most; NULL:
                                there was none yet */
    size_t n_calls;
    struct waiting_call *waiting, *last_waiting;
    size_t n_waiting;
    struct waiting_call *to_approve; /* those whose approval is one of the open calls */
    size_t n_refused;                /* calls with an unknown tool or invalid arguments */
    struct {
        size_t n, bytes;  /* of arguments */
    } open[2];            /* open and waiting calls: of the agent, of commands */
    bool is_one_in_order; /* one of the open calls has no id; see execution_tools.c */
    uint64_t started_us;
    uint64_t cpu_before_us;
    bool out_of_memory;
    struct laz_span *span;            /* NULL: it is not recorded */
    struct laz_timer *progress_timer; /* while the code runs; NULL: nobody asks */
};

/* Gives a copy of an error text, without paths, hosts and process ids if session.sanitize_errors is
 * set; NULL: out of memory. */
char *laz_execution_words(const struct laz_execution *execution, const char *text);

/* execution_files.c: makes the line of the next part of a file that is put, and counts it as sent.
 */
void laz_execution_put_line(struct laz_execution *execution, struct laz_buf *line);
/* Takes a part of what the execution has made. LAZ_EPROTO: it is not what it has to be, *why says
 * why (static text); LAZ_ENOMEM. */
int laz_execution_part(struct laz_execution *execution, const struct laz_message *message,
                       const char **why);
/* What the agent says of artifacts that it did not send, as warnings. */
void laz_execution_warn_left_out(struct laz_result *result, const struct laz_strv *left_out);
/* The outcome has come, and takes what came before it in parts: at once, or, where that is large,
 * when a check of it has ended (execution->check). As laz_execution_part; LAZ_EOS: there is no
 * thread for it. */
int laz_execution_take_parts(struct laz_execution *execution, struct laz_message *message,
                             const char **why);
/* The same without the value and the text. */
int laz_execution_take_artifacts(struct laz_execution *execution, const struct laz_message *message,
                                 const char **why);
/* The value and the text are right, and the outcome's from now on. */
void laz_execution_take_content(struct laz_execution *execution, struct laz_message *message,
                                struct laz_buf *value, struct laz_buf *text);

/* execution_check.c: begins the check of a value and a text, which it takes. As above. */
int laz_execution_check(struct laz_execution *execution, struct laz_buf *value,
                        struct laz_buf *text, const char **why);
/* Nobody waits for it any more. */
void laz_execution_drop_check(struct laz_execution *execution);

/* execution_rules.c: a result that says why the code may not run. NULL: out of memory. */
struct laz_result *laz_execution_blocked(const char *format, ...) LAZ_PRINTF(1, 2);
/* The same for want of a record. The log is this side's business: who is somebody else, as the
 * identity of the session says, is not told where it is. */
struct laz_result *laz_execution_not_recorded(const struct laz_session *session,
                                              const struct laz_error *why);
/* The same for code that a hook has refused (`rc` LAZ_EREFUSED, `why` is its reason), or whose hook
 * could not be run. */
struct laz_result *laz_execution_blocked_by_hook(int rc, const char *why);
/* Checks the limits of the settings, the encoding, and the hook of the application. NULL: the code
 * may run, unless the hook of the settings refuses it. */
struct laz_result *laz_execution_check_rules(const struct laz_execution *execution);

/* From here to the end of the execution its progress is reported, if somebody asks for it. */
void laz_execution_progress_begin(struct laz_execution *execution);
void laz_execution_progress_end(struct laz_execution *execution);

/* Takes the rest of the output of an execution that is over, and what was refused to it. */
void laz_execution_end_output(struct laz_execution *execution);
/* Fills the result of an execution that is over, and replaces the box if that is necessary. */
void laz_execution_judge(struct laz_execution *execution);
/* Warnings that name the settings which an error of the code follows from (execution_hints.c). */
void laz_execution_hint(struct laz_execution *execution);

/* Ends an execution on behalf of the host: interrupts its code, where that may keep the session, or
 * kills the box. Only the first reason counts; another one ends the grace of code that was
 * interrupted. `number` and `text`
 * (copied) belong to the reason: stop_number and stop_text of struct laz_evidence. */
void laz_execution_stop(struct laz_execution *execution, enum laz_stop stop, uint64_t number,
                        const char *text);
/* Starts and stops the clock of the code, which runs while no call of a tool is open. */
void laz_execution_clock_run(struct laz_execution *execution);
void laz_execution_clock_stand(struct laz_execution *execution);
/* What both have left, at the end of an execution: no call is open, and both run. */
uint64_t laz_execution_left_ms(const struct laz_execution *execution);
/* And that of the deadline, which runs while no approval is awaited. */
void laz_execution_deadline_run(struct laz_execution *execution);
void laz_execution_deadline_stand(struct laz_execution *execution);

/* Handles the agent's request of a call, or that of a command: starts it, queues it, or refuses it,
 * as all after an interrupt. */
void laz_execution_tool_call(struct laz_execution *execution, const struct laz_message *message,
                             bool by_command);
/* A call of a command while `session` executes. False: nothing is executed any more. */
bool laz_execution_command(struct laz_session *session, const struct laz_message *message);
/* Starts calls that waited for the agent to read earlier answers, after it has read some. */
void laz_execution_read_on(struct laz_session *session);
/* Logs the number of refused calls that were not logged one by one. */
void laz_execution_log_refused(const struct laz_execution *execution);
/* Cancels the open calls and refuses them and the waiting ones: the code was interrupted. */
void laz_execution_refuse_calls(struct laz_execution *execution);
/* Cancels the open calls and drops the waiting ones; commands, which may outlive the execution, are
 * told. */
void laz_execution_abandon_calls(struct laz_execution *execution);

#endif
