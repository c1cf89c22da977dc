/* SPDX-License-Identifier: MIT */
/* execution.h - an execution under way, as execute.c (its course) and execution_tools.c (its calls
 * of tools) share it. */
#ifndef LAZ_SESSION_EXECUTION_H
#define LAZ_SESSION_EXECUTION_H

#include "tool/hook.h"
#include "session/session.h"
#include "session/verdict.h"

struct waiting_call; /* execution_tools.c */

/* Where an execution stands. */
enum laz_phase {
    LAZ_PHASE_ASKED,   /* may it run? */
    LAZ_PHASE_HOOK,    /* a command of the settings is being asked */
    LAZ_PHASE_BOX,     /* its session is starting */
    LAZ_PHASE_RUNNING, /* in the box */
};

struct laz_execution {
    struct laz_session *session;
    struct laz_result *result;
    enum laz_phase phase;
    const char *code; /* borrowed from who waits, or `copy` */
    size_t len;
    char *copy;
    bool print, no_validate;
    bool cancelled; /* before it ran */
    struct laz_hook *hook;
    bool hook_answered;
    void (*done)(void *user, struct laz_result *result, const struct laz_error *err);
    void *user;
    int64_t id;
    bool is_check; /* nothing runs */
    bool over;     /* the outcome has come, or the box has ended */
    bool has_message;
    struct laz_message message; /* the outcome; raw texts are gone */
    enum laz_stop stop;
    uint64_t stop_ms, stop_count;
    char stop_text[256];
    uint64_t timeout_ms, deadline_ms, max_tool_calls; /* 0: none */
    uint64_t code_left_ms;                            /* of timeout_ms, while the clock stands */
    uint64_t code_since_ms;                           /* when it last began to run */
    struct laz_call **calls;                          /* open ones */
    size_t n_calls, cap_calls;
    struct waiting_call *waiting, *last_waiting;
    size_t n_waiting;
    size_t n_refused;     /* calls: no such tool, or not such arguments */
    size_t open_bytes;    /* of arguments, of open and waiting calls */
    bool is_one_in_order; /* among the open ones is one without an id */
    uint64_t started_us;
    uint64_t cpu_before_us;
    bool out_of_memory;
};

/* Gives what an error says, without paths, hosts and process numbers where the settings want it. */
char *laz_execution_words(const struct laz_execution *execution, const char *text);

/* execution_judge.c: fills the result of one that is over, and replaces the box where it has to be.
 */
void laz_execution_judge(struct laz_execution *execution);

/* The host ends it; the first reason counts. `number` and `text` are the reason's own. */
void laz_execution_stop(struct laz_execution *execution, enum laz_stop stop, uint64_t number,
                        const char *text);
/* The code's clock runs while no tool is awaited. */
void laz_execution_clock_run(struct laz_execution *execution);
void laz_execution_clock_stand(struct laz_execution *execution);

/* A call of a tool, as the agent asked for it: begun, put behind others, or refused. */
void laz_execution_tool_call(struct laz_execution *execution, const struct laz_message *message);
/* The agent has read answers: calls that waited for that may begin. */
void laz_execution_read_on(struct laz_execution *execution);
/* How many refusals were kept out of the log. */
void laz_execution_log_refused(const struct laz_execution *execution);
/* Nobody waits for the open calls any more. */
void laz_execution_abandon_calls(struct laz_execution *execution);

#endif
