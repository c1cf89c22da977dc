/* SPDX-License-Identifier: MIT */
/* r.h - what the files of the R runtime share.
 *
 * R calls back without a context argument and leaves functions by long jumps. Hence two rules:
 * there is one state, r_self, because a process can have only one R; and everything that R may jump
 * over (writer, reader, texts) belongs to the state, where the next use resets it. */
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

/* A growing text; `failed` is set when an allocation failed. */
struct r_text {
    char *data;
    size_t len;
    size_t cap;
    bool failed;
};

/* Messages made by the code are cut after this many bytes. */
#define R_MAX_MESSAGE 8192

struct r_parameter {
    SEXP symbol;           /* as it is spelled in R */
    const char *name;      /* as it was declared */
    const char *type;      /* JSON Schema's word, or "" */
    const char *type_name; /* the type as the author wrote it */
    bool required;
    bool is_listed; /* its values are an enumeration */
};

struct r_tool {
    char *name;
    const char *spelling;
    struct r_parameter *parameters;
    size_t n_parameters;
    bool native; /* R takes its calls */
};

/* The error that ended an execution, recorded while its frames still existed. */
struct r_failure {
    bool noted;
    struct r_text message;
    int line;
    char **traceback;
    size_t n_traceback;
};

/* State of a running `eval` or `check`. */
struct r_job {
    const char *code;
    size_t len;
    bool only_parse;
    uint32_t wanted; /* LAZ_WANTED_* */
    bool parsed;     /* all of it parsed: errors from here on are runtime errors */
    bool finished;   /* every expression was evaluated and the value printed */
    bool visible;
    bool omitted;    /* the value was not written: */
    const char *why; /* or NULL: it is too large */
    int line;        /* of the running top-level expression */
};

struct r_state {
    const struct laz_agent_services *services;
    const struct laz_json_api *json;
    struct laz_json_writer *writer;       /* of arguments */
    struct laz_json_writer *value_writer; /* of the value of an execution */
    struct laz_json_reader *reader;       /* for the last text read, or NULL */
    bool apart;                           /* the next array is a list, whatever is in it */
    pid_t owner;                          /* the session's process; forks have another id */
    bool running;                         /* R has started */
    bool utf8;                            /* its native encoding is UTF-8 */
    char version[32];

    char **default_packages;    /* those of the options, or NULL */
    const char *const *preload; /* while packages are loaded in advance */
    size_t n_preload;

    SEXP support; /* the environment of r_support.R */
    void (*task)(struct r_state *state);
    bool muted; /* no code of the session runs: R's own error messages are discarded */

    struct r_text pending; /* beginning of a line, not yet written */
    struct timespec written;
    bool capturing;
    size_t capture_limit;
    struct r_text captured;
    struct r_text startup; /* standard error during the start, for the error message */

    char *script; /* the name of the file whose code comes next; NULL: none */
    struct r_job job;
    struct r_text code; /* of the job, where its line ends were changed */
    struct r_failure failure;
    const char *value;
    size_t value_len;

    bool attached; /* the environment of tools is attached */
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
/* Runs `task` and catches R's errors and jumps; false when one ended it. Muted unless the task
 * changes that. (It does not use .Call, below which R has no source references; R's compiler of
 * loops crashes without them.) */
bool r_protected(struct r_state *state, void (*task)(struct r_state *state));
/* Makes a value that .Call accepts as a routine. */
SEXP r_routine(void (*function)(void));
/* Calls a function of r_support.R. */
SEXP r_support1(struct r_state *state, const char *function, SEXP argument);
SEXP r_utf8(const char *text, size_t len); /* CHARSXP */
/* The message of the error that ended a task: as recorded, or as R printed it, without "Error in
 * f() : " and the last newline. Never NULL; a static buffer. */
const char *r_last_error(const struct r_state *state);

/* r_start_posix.c, r_start_windows.c: start R, which POSIX and Windows do in different ways. */
extern const char *const r_env[]; /* for the descriptor */
/* Starts R with the functions of r_console.c. False: R failed, and state->startup may hold the
 * reason. */
bool r_start(struct r_state *state);
/* Before r_start: what R attaches when it starts, as R_DEFAULT_PACKAGES has it. False: R cannot be
 * told on this system, or there is no memory. */
bool r_start_with_packages(const char *names);
/* Called by R during the start: makes r_start return false. */
void r_start_give_up(void) __attribute__((noreturn));

/* r_start_*.c: the execution is interrupted; in a signal handler. */
void r_interrupt(void *state);
/* What is pending is not any more. True: something was. */
bool r_forget_interrupt(void);

/* r_console.c: callbacks of R. */
/* A line of standard input, as R reads one from its console; 0 at the end. */
int r_console_read(const char *prompt, unsigned char *buffer, int size, int history);
void r_console_write(const char *text, int len, int type); /* type: 0 is standard output */
void r_console_message(const char *text);
void r_console_suicide(const char *text); /* R cannot continue: memory is corrupt, or R_HOME is
                                             missing */
void r_console_clean_up(SA_TYPE save, int status, int run_last); /* quit() */
void r_console_flush_hook(void);
/* R calls these now and then while code runs. r_console_poll writes pending output and may jump;
 * r_console_flush_idle does not jump, and writes only if nothing was written for a while. */
void r_console_poll(void);
void r_console_flush_idle(void);
void r_console_nothing(void);
void r_console_busy(int which);
void r_console_file_too_large(int signal); /* a handler of SIGXFSZ */
/* Called by other files of this plugin. */
void r_console_begin(struct r_state *state);   /* once R runs */
void r_console_end(struct r_state *state);     /* .Last, finalizers, devices: R's own end */
void r_console_flush(struct r_state *state);   /* writes all pending output */
void r_console_capture(struct r_state *state); /* redirects standard output to state->captured */
void r_console_release(struct r_state *state, bool keep); /* !keep: writes the captured text */
void r_console_warnings(void); /* prints deferred warnings, as R's prompt does */
/* Raises an R error when a file has exceeded its limit since the last check. */
void r_console_check_file_limit(void);

/* r_write.c: R values as JSON text in state->writer. */
#define R_AS_IT_IS  0u
#define R_AS_SCALAR 1u /* the parameter takes one value: ignore names and I() */
#define R_AS_ARRAY  2u /* the parameter takes an array: write a vector of one as an array */
#define R_AS_OBJECT 3u /* the parameter takes an object: write list() as an object */
struct r_writing {
    struct r_state *state;
    const struct laz_json_api *json;
    struct laz_json_writer *out;
    bool strict;         /* a value that cannot leave R is an error and not a $repr */
    bool native;         /* R reads it: what JSON has no form for is a $r */
    const char *refused; /* description of that value, or of one nested too deeply; or NULL */
};
void r_write(struct r_writing *w, SEXP value, unsigned as);

/* r_read.c: converts JSON text to R values. Errors are raised in R (jumps). */
SEXP r_read(struct r_state *state, const char *json, size_t len);

/* r_time.c. They return false for a date that does not exist or has no text. */
#define R_TIME_TEXT 64
bool r_date_parse(const char *text, int64_t *days, int *used);
bool r_time_parse(const char *text, double *seconds, bool *local);
bool r_date_format(double days, char text[R_TIME_TEXT]);
bool r_time_format(double seconds, char text[R_TIME_TEXT]);

/* r_template.c, for systems on which a process can be copied with its namespaces (R_TEMPLATE) */
int r_preload(void *state, const char *const *names, size_t n, struct laz_error *err);
void r_before_fork(void *state);
int r_renew(void *state, struct laz_error *err);

/* r_tools.c */
/* Place of a call in the code; within tool_map also its number, from 1, and their total. */
struct r_place {
    SEXP call;
    size_t at, of;
};
/* Raises a condition of class lazaret_tool_error. */
void r_tool_fail(struct r_state *s, const struct r_place *place, const char *tool,
                 const char *message) __attribute__((noreturn));
void r_tool_require_owner(struct r_state *s, const char *name, const struct r_place *place);
const struct r_tool *r_tool_find(const struct r_state *s, const char *name);
/* Converts a list of arguments, named or not, to JSON text, valid until the next use of the writer.
 * Raises the errors that a call of the tool would. */
const char *r_tool_write(struct r_state *s, const struct r_tool *tool, SEXP args,
                         const struct r_place *place, size_t *len);
int r_define_tools(void *state, const struct laz_tool_signature *tools, size_t n,
                   struct laz_error *err);
void r_tools_attach(struct r_state *state); /* attaches the environment of tools; errors are raised
                                               in R (jumps) */
void r_tools_fini(struct r_state *state);

/* r_map.c: the body of tool_map, .Call(map_tool, tool, arguments, more, sys.call()). */
SEXP r_tool_map(SEXP tool, SEXP args, SEXP more, SEXP call);

/* r_eval.c */
int r_check(void *state, const char *code, size_t len, struct laz_outcome *outcome);
int r_set_script(void *state, const char *const *argv, size_t n, const char *directory);
int r_eval(void *state, const char *code, size_t len, uint32_t wanted, struct laz_outcome *outcome);
SEXP r_eval_note(SEXP message, SEXP line, SEXP traceback); /* called by r_support.R */
void r_failure_clear(struct r_failure *failure);

#endif
