/* SPDX-License-Identifier: MIT */
/* lazaret/runtime.h - runtimes: the language interpreters inside the box.
 *
 * A runtime is loaded by the agent, inside the box, after the agent has confined itself. It embeds
 * an interpreter, keeps its state from one execution to the next, and makes the tools callable as
 * ordinary functions. Everything here happens on the main thread of the agent, except where it says
 * otherwise.
 *
 * The host reads the descriptor of a runtime without loading it: `lazaret-agent --describe FILE.so`
 * prints it as JSON, and the build installs that text beside the plugin (FILE.json). The host
 * learns from it which files the interpreter needs. */
#ifndef LAZARET_RUNTIME_H
#define LAZARET_RUNTIME_H

#include <lazaret/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A parameter of a tool. Strings are borrowed for the call of define_tools. */
struct laz_parameter {
    const char *name;
    const char *type;          /* string number integer boolean array object, or "" for anything */
    const char *type_name;     /* the word the author wrote ("numeric"), for messages; or `type` */
    const char *description;   /* or "" */
    const char *default_value; /* JSON text, or NULL: none */
    const char *enumeration;   /* JSON list, or NULL: any value */
    uint32_t required;
    const char *spelling; /* how code writes the name: a legal name of the language */
};

struct laz_tool_signature {
    size_t size;
    const char *name;
    const char *description;
    const struct laz_parameter *parameters; /* in the order of positional arguments */
    size_t n_parameters;
    const char *spelling; /* as that of a parameter; maybe a path of fields, "math.gcd" */
    const char *returns LAZ_LATER; /* a type for its documentation, "{name: str}"; or "" */
    uint32_t native LAZ_LATER;     /* not 0: arguments without a type as with LAZ_WANTED_NATIVE */
};

/* One of several calls. Strings are borrowed for the call of call_all. */
struct laz_agent_call {
    const char *tool;
    const char *args; /* a JSON object */
    size_t args_len;
};

/* What the agent does for a runtime. */
struct laz_agent_services {
    size_t size;
    const struct laz_json_api *json;
    void *agent; /* first argument of the functions below */
    /* Calls a tool of the host and waits. `args` is a JSON object. 0: *value is the JSON text of
     * the result, borrowed until the next call of a tool. Else a message for the code that called,
     * to be raised in the language's own way; *error is borrowed likewise. LAZ_ETOOBIG: the
     * arguments exceed max_message; LAZ_ENOMEM: out of memory. Allowed during eval only; refused at
     * other times and in a process that the code forked. */
    int (*call_tool)(void *agent, const char *tool, const char *args, size_t args_len,
                     const char **value, size_t *value_len, const char **error);
    /* Writes to standard output (1) or error (2) of the box, all of it, and in this order
     * (switch_output). A runtime with buffers of
     * its own flushes them before eval returns and before it calls a tool. */
    void (*output)(void *agent, int stream, const char *text, size_t len);
    /* The code asked to end its process (quit(), os.exit()): reports it and does not return. */
    void (*leave)(void *agent, int status);
    size_t max_message; /* bytes of a line to the host, at most: pass it to writer_new for
                           arguments of tools */

    /* Several calls at once. call_tool and call_all may not be used while one that was begun is
     * open. Calls still open when eval returns are abandoned, and their answers discarded. */

    /* Makes the calls concurrently and waits for all answers; answered() gets each, in the order in
     * which they come, and must not leave by a jump. `rc` is what call_tool would return, `text`
     * the value or the error, borrowed during answered(). Not 0: nothing was called, and *error
     * says why. */
    int (*call_all)(void *agent, const struct laz_agent_call *calls, size_t n,
                    void (*answered)(void *user, size_t index, int rc, const char *text,
                                     size_t len),
                    void *user, const char **error);
    /* Sends a call and does not wait; `user` comes back with the answer. Errors are those of
     * call_tool, *error borrowed until the next begin_call. LAZ_EBUSY: no more calls may be open;
     * retry after an answer. One thread at a time, beside one in next_answer. */
    int (*begin_call)(void *agent, const char *tool, const char *args, size_t args_len, void *user,
                      const char **error);
    /* The next answer to a call that was begun. 0: *text is its value; LAZ_EREFUSED: the error of
     * the tool; LAZ_ENOMEM: out of memory. *text is borrowed until the next next_answer. Without an
     * answer: LAZ_ETIMEOUT, none came within wait_ms (0: do not wait; -1: no timeout); LAZ_ENOENT,
     * no call is open. One thread at a time. */
    int (*next_answer)(void *agent, int wait_ms, void **user, const char **text, size_t *len);
    /* A descriptor for an event loop to watch for reading; when readable, call next_answer with 0.
     * -1: this system has no descriptor that can be watched (Windows); use a thread that waits. */
    int (*answers_fd)(void *agent);
    /* Waits until next_answer may have something, and takes nothing: 0 (also spuriously), or
     * LAZ_ETIMEOUT after wait_ms (-1: no timeout). For a thread other than the main one: it must
     * not take messages once eval has returned, so it checks that after waiting and before
     * next_answer. Not while another thread is in next_answer. */
    int (*await_answer)(void *agent, int wait_ms);
    /* To be called before output that does not go through output() is written to `stream` (1 or 2):
     * so the host sees what is written to the two in that order. Waits until what was written to
     * the other one has been read. Any thread. */
    void (*switch_output)(void *agent, int stream);
    size_t max_value; /* bytes of the value of an execution, at most: pass it to writer_new for
                         values, and max_message for arguments of tools */
    /* Was the execution that runs interrupted? Not 0: yes. Any thread. */
    int (*is_interrupted)(void *agent);
    /* Does the host get a file of this path, if it is there when the execution has ended? During
     * eval. */
    int (*keeps)(void *agent, const char *path);
};

#define LAZ_OUTCOME_VALUE     0u /* it ended; value, text, visible */
#define LAZ_OUTCOME_RUNTIME   1u /* it raised an error; message, line, traceback */
#define LAZ_OUTCOME_SYNTAX    2u /* it does not parse, nothing ran; message, line, column */
#define LAZ_OUTCOME_MEMORY    3u /* the language ran out of memory and nothing caught it */
#define LAZ_OUTCOME_EXIT      4u /* it asked to exit with exit_status; the interpreter is intact */
#define LAZ_OUTCOME_TOO_LARGE 5u /* it ended, but its value cannot be sent: `message` says why, or  \
                                    NULL: it exceeds max_value; text, visible */
#define LAZ_OUTCOME_FSIZE     6u /* an uncaught error says that a file grew over the limit */

/* Filled by `eval` and `check`; the agent clears it before. Pointers are borrowed until the next
 * call on the runtime. */
struct laz_outcome {
    size_t size;
    uint32_t kind;     /* LAZ_OUTCOME_* */
    uint32_t visible;  /* the language's prompt would print the value */
    const char *value; /* JSON text of the last expression's value; NULL: null */
    size_t value_len;
    const char *text; /* what the prompt would print, without the last newline; NULL: nothing */
    size_t text_len;
    const char *message;          /* of an error */
    int32_t line;                 /* in the code, from 1; 0: unknown */
    int32_t column;               /* from 1; 0: unknown */
    const char *const *traceback; /* outermost first */
    size_t n_traceback;
    int32_t exit_status;
};

/* What is wanted of an execution: bits. */
#define LAZ_WANTED_TEXT      1u /* outcome->text */
#define LAZ_WANTED_INVISIBLE 2u /* the value also where the prompt would not print it */
#define LAZ_WANTED_NATIVE    4u /* the value in the language's own form, where it has one */
#define LAZ_WANTED_LAST      8u /* nothing runs after it: the interpreter may end with the code */

/* The interpreter reserves far more address space than it uses, so a limit on the memory of each
 * process (RLIMIT_DATA, RLIMIT_AS: setrlimit(2)) cannot be set; what counts the memory that is used
 * still holds it. */
#define LAZ_RUNTIME_RESERVES 1u
/* A template is copied only when its process has one thread: a lock that another one holds would be
 * held in the copy for ever. Threads that `before_fork` leaves behind must end by themselves within
 * a minute; sessions start without a template until then. */
#define LAZ_RUNTIME_ONE_THREAD 2u

struct laz_runtime_ops {
    size_t size;
    /* Data for the host, read from outside: */
    const char *const *suffixes;  /* ".py"; ends with NULL */
    const char *const *libraries; /* sonames that the agent opens with global symbols before the
                                     plugin, for extension modules that need them; one that lies
                                     beside the plugin's file is taken from there; ends with NULL */
    const char *const *read;      /* host paths the interpreter needs beyond /usr and the loader's
                                     files: "/etc/R"; missing ones are ignored; ends with NULL */
    const char *const *env;       /* "R_HOME=/usr/lib/R": set in the box; ends with NULL */
    const char *const *reserved_words; /* names no tool or parameter has in the language: they are
                                          spelled in another way; ends with NULL */

    /* Starts the interpreter with the options of [runtime.NAME] as a JSON object. */
    int (*create)(const struct laz_agent_services *services, const char *options,
                  size_t options_len, void **state, struct laz_error *err);
    /* The version of the language, "3.11.2". */
    const char *(*version)(void *state);
    /* Defines tools as functions, before any code runs. With `preload`, the template does so after
     * create, and its copies inherit them. Called again in a session of a template that has tools
     * besides those of the template: with these alone, which have other names and spellings. */
    int (*define_tools)(void *state, const struct laz_tool_signature *tools, size_t n,
                        struct laz_error *err);
    /* Parses without running anything: LAZ_OUTCOME_VALUE or LAZ_OUTCOME_SYNTAX. */
    int (*check)(void *state, const char *code, size_t len, struct laz_outcome *outcome);
    /* Parses all of it, then runs it. `wanted`: LAZ_WANTED_*. Returns 0 whatever the code did;
     * LAZ_E* only when the runtime itself is broken (the session then ends). */
    int (*eval)(void *state, const char *code, size_t len, uint32_t wanted,
                struct laz_outcome *outcome);
    /* Ends the interpreter as it ends after a script: exit handlers, files that are open, threads
     * that it waits for. May be NULL; the process ends right after, or is killed when it takes too
     * long. */
    void (*destroy)(void *state);
    /* Data for the host again: the programs that functions of the language start, as names ("sh")
     * or absolute paths; a directory stands for everything in it, and "any" for every program that
     * the box shows. Missing ones are ignored. Ends with NULL; may be NULL. */
    const char *const *programs;
    /* For templates. A template is a process that has loaded the runtime and is copied (fork) for
     * each session, which saves the session the time to load it. Only code named by the host's
     * settings ever runs in it. Any of these may be NULL: there is nothing to do, or for preload,
     * nothing can be loaded.
     *
     * Once, after create: loads packages by name. A package that does not load fails the start with
     * an error that names it. */
    int (*preload)(void *state, const char *const *names, size_t n, struct laz_error *err);
    /* Once, after preload: from here on this process is only copied (fork(2)); no other operation
     * but destroy is called in it. Flushes output and takes locks. */
    void (*before_fork)(void *state);
    /* In each copy, before define_tools: renews what must differ between sessions, such as seeds of
     * random numbers, and what is no longer valid: process ids, names of temporary files. The
     * working directory and those for temporary files are empty and belong to this session. */
    int (*renew)(void *state, struct laz_error *err);
    /* The next eval is of a file. `argv` (n >= 1) is the command line that the code is to find: the
     * name of the file, then its arguments. `directory`, if not NULL, is that of the
     * file: modules are looked for there before all other places, or when the language looks in the
     * directory of a file. May be NULL: the language has nothing of the kind. Returns 0 or
     * LAZ_ENOMEM. */
    int (*set_script)(void *state, const char *const *argv, size_t n, const char *directory);
    /* The session waits, and nothing that eval or check returned is needed any more: gives up memory
     * that is kept for the next value. May be NULL. */
    void (*rest)(void *state);
    /* The execution is interrupted, as by Ctrl-C at the language's prompt: what runs gets the
     * language's own form of it (an exception, a condition) as soon as can be, its handlers run,
     * and eval returns as after any error. In a signal handler, on any thread, while eval or check
     * run: it may set flags only (signal-safety(7)). The signal makes calls of the system that wait
     * return EINTR, and all processes of the group get SIGINT as well, for which the agent has a
     * handler that does nothing: a runtime may set its own. What is pending when eval or check begin
     * may be of one that has ended: it is forgotten, unless is_interrupted says otherwise. NULL: the language has nothing of the kind, and
     * the session ends where others are interrupted. */
    void (*interrupt)(void *state);
    /* The code has ended, and has files open for writing whose content is wanted: writes out what
     * the language holds in buffers for them, `fds` (n >= 1) being their descriptors. They stay
     * open. Buffers of the C library are written out by the agent. May be NULL. */
    void (*write_out)(void *state, const int *fds, size_t n);
    /* Descriptor 0 is another file than before, between two executions: what the language has read
     * ahead of the old one is dropped. Buffers of the C library are the agent's. What eval has returned
     * stays. May be NULL. */
    void (*input_changed)(void *state);
    /* Data for the host again: files and directories without which the interpreter does not start,
     * as absolute paths. Where one is missing, the runtime is not taken for code that names none.
     * Ends with NULL; may be NULL. */
    const char *const *needs;
    /* Data for the host again: LAZ_RUNTIME_*. */
    uint32_t traits;
};

#ifdef __cplusplus
}
#endif
#endif
