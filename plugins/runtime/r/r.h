/* SPDX-License-Identifier: MIT */
/* r.h - what the files of the R runtime share.
 *
 * R calls back without a context argument and leaves functions by long jumps.  Hence two rules:
 * there is one state, r_self, for there can be one R in a process; and whatever R may jump over
 * (the writer, the reader, texts) belongs to the state, where the next use resets it. */
#ifndef LAZ_RUNTIME_R_H
#define LAZ_RUNTIME_R_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define R_NO_REMAP
#define STRICT_R_HEADERS
#include <Rinternals.h>

#include <R_ext/RStartup.h>

#include <lazaret/runtime.h>

/* A growing text; `failed` once memory was wanting. */
struct r_text {
    char *data;
    size_t len;
    size_t cap;
    bool failed;
};

/* A text of the code's own making that is too long to repeat is cut after this many bytes. */
#define R_MAX_MESSAGE 8192

struct r_parameter {
    SEXP symbol;
    const char *type;      /* JSON Schema's word, or "" */
    const char *type_name; /* the author's word */
    bool required;
};

struct r_tool {
    char *name;
    struct r_parameter *parameters;
    size_t n_parameters;
};

/* The error that ended an execution, noted while its frames were still there. */
struct r_failure {
    bool noted;
    struct r_text message;
    int line;
    char **traceback;
    size_t n_traceback;
};

/* What `eval` and `check` are doing. */
struct r_job {
    const char *code;
    size_t len;
    bool only_parse;
    bool print;
    bool parsed;   /* everything parsed: what fails from here on is a runtime error */
    bool finished; /* every expression was evaluated and the value converted */
    bool visible;
    bool too_large;
    int line; /* of the top-level expression that runs */
};

struct r_state {
    const struct laz_agent_services *services;
    const struct laz_json_api *json;
    struct laz_json_writer *writer;
    struct laz_json_reader *reader; /* of the last text read, or NULL */
    pid_t owner;                    /* the process whose socket this is; forks are not it */
    bool running;                   /* R has started */
    bool utf8;                      /* its native encoding is UTF-8 */
    char version[32];

    const char *const *preload; /* while packages are loaded in advance */
    size_t n_preload;

    SEXP support; /* the environment of r_support.R */
    void (*task)(struct r_state *state);
    bool muted; /* no code of the session runs: R's own words about an error go nowhere */

    struct r_text pending; /* part of a line that was not written yet */
    struct timespec written;
    bool capturing;
    size_t capture_limit;
    struct r_text captured;
    struct r_text startup; /* standard error of the start, for its error message */

    struct r_job job;
    struct r_failure failure;
    const char *value;
    size_t value_len;

    bool attached; /* there is a place for tools */
    struct r_tool *tools;
    size_t n_tools;
    const struct laz_tool_signature *signatures; /* while define_tools runs */
    size_t n_signatures;
};

extern struct r_state *r_self;

/* r.c */
bool r_text_append(struct r_text *text, const char *data, size_t len);
void r_text_clear(struct r_text *text);
void r_text_fini(struct r_text *text);
/* Runs `task` where R's errors and jumps end; false when one ended it. Muted until the task says
 * otherwise. (Not by way of .Call: R has no source reference below one, and its compiler of loops
 * crashes on that.) */
bool r_protected(struct r_state *state, void (*task)(struct r_state *state));
/* A value that .Call takes as a routine. */
SEXP r_routine(void (*function)(void));
/* Calls a function of r_support.R. */
SEXP r_support1(struct r_state *state, const char *function, SEXP argument);
SEXP r_utf8(const char *text, size_t len); /* CHARSXP */
/* The message of the error that ended a task: as noted, or as R printed it without "Error in f() :
 * " and the last newline. Never NULL; a static buffer. */
const char *r_last_error(const struct r_state *state);

/* r_start_posix.c, r_start_windows.c: how R is started, which it has in two ways. */
extern const char *const r_env[]; /* of the descriptor */
/* Starts R with the functions of r_console.c. False: R gave up, and state->startup may say why. */
bool r_start(struct r_state *state);
/* Called from within R while it starts: r_start returns false. */
void r_start_give_up(void) __attribute__((noreturn));

/* r_console.c: for R. */
int r_console_read(const char *prompt, unsigned char *buffer, int size, int history); /* the end */
void r_console_write(const char *text, int len, int type); /* type: 0 is standard output */
void r_console_message(const char *text);
void r_console_suicide(const char *text); /* R cannot go on: its memory is broken, or no home */
void r_console_clean_up(SA_TYPE save, int status, int run_last); /* quit() */
void r_console_flush_hook(void);
/* Now and then while code runs, where an interrupt may jump; without the jump, and when nothing was
 * written for a while. */
void r_console_poll(void);
void r_console_flush_idle(void);
void r_console_nothing(void);
void r_console_busy(int which);
void r_console_file_too_large(int signal); /* a handler of SIGXFSZ */
/* For us. */
void r_console_begin(struct r_state *state);   /* once R runs */
void r_console_flush(struct r_state *state);   /* everything written so far is out */
void r_console_capture(struct r_state *state); /* standard output becomes state->captured */
void r_console_release(struct r_state *state, bool keep); /* !keep: what was captured is written */
void r_console_warnings(void); /* prints deferred warnings, as R's prompt does */
/* Raises an R error when a file has grown over its limit since the last look. */
void r_console_check_file_limit(void);

/* r_write.c: R values as JSON text in state->writer. */
#define R_AS_IT_IS  0u
#define R_AS_SCALAR 1u /* the parameter takes one value: names and I() do not matter */
#define R_AS_ARRAY  2u /* the parameter takes an array: also for a vector of one */
#define R_AS_OBJECT 3u /* the parameter takes an object: also for list() */
struct r_writing {
    struct r_state *state;
    const struct laz_json_api *json;
    struct laz_json_writer *out;
    bool strict;         /* what cannot leave R is an error and not a $repr */
    const char *refused; /* what it was, or NULL */
};
void r_write(struct r_writing *w, SEXP value, unsigned as);

/* r_read.c: JSON text as R values. Errors are R's (jumps). */
SEXP r_read(struct r_state *state, const char *json, size_t len);

/* r_time.c. False: no such date, or one without a text. */
#define R_TIME_TEXT 64
bool r_date_parse(const char *text, int64_t *days, int *used);
bool r_time_parse(const char *text, double *seconds, bool *local);
bool r_date_format(double days, char text[R_TIME_TEXT]);
bool r_time_format(double seconds, char text[R_TIME_TEXT]);

/* r_template.c, where a process can be copied with its namespaces (R_TEMPLATE) */
int r_preload(void *state, const char *const *names, size_t n, struct laz_error *err);
void r_before_fork(void *state);
int r_renew(void *state, struct laz_error *err);

/* r_tools.c */
/* A call in the code; within tool_map also which of how many, from 1. */
struct r_place {
    SEXP call;
    size_t at, of;
};
/* Raises a condition of class lazaret_tool_error. */
void r_tool_fail(struct r_state *s, const struct r_place *place, const char *tool,
                 const char *message) __attribute__((noreturn));
void r_tool_require_owner(struct r_state *s, const char *name, const struct r_place *place);
const struct r_tool *r_tool_find(const struct r_state *s, const char *name);
/* The arguments in a list, named or not, as JSON text, which lives until the next use of the
 * writer. Raises what a call of the tool would. */
const char *r_tool_write(struct r_state *s, const struct r_tool *tool, SEXP args,
                         const struct r_place *place, size_t *len);
int r_define_tools(void *state, const struct laz_tool_signature *tools, size_t n,
                   struct laz_error *err);
void r_tools_attach(struct r_state *state); /* the place of tools; its errors are R's (jumps) */
void r_tools_fini(struct r_state *state);

/* r_map.c: the body of tool_map, .Call(map_tool, tool, arguments, more, sys.call()). */
SEXP r_tool_map(SEXP tool, SEXP args, SEXP more, SEXP call);

/* r_eval.c */
int r_check(void *state, const char *code, size_t len, struct laz_outcome *outcome);
int r_eval(void *state, const char *code, size_t len, uint32_t print, struct laz_outcome *outcome);
SEXP r_eval_note(SEXP message, SEXP line, SEXP traceback); /* called by r_support.R */
void r_failure_clear(struct r_failure *failure);

#endif
