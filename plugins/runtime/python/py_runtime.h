/* SPDX-License-Identifier: MIT */
/* py_runtime.h - the parts of the python runtime and what they share.
 * Side: box.  Input trusted: no (objects of the code; the code shares this process anyway).
 *
 * One interpreter, on the main thread. The main thread holds the interpreter's lock (GIL) only
 * inside an operation, so that threads of the code continue between executions. */
#ifndef PY_RUNTIME_H
#define PY_RUNTIME_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <pythread.h>

#include <lazaret/runtime.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#if PY_VERSION_HEX < 0x030a0000
static inline PyObject *Py_NewRef(PyObject *object)
{
    Py_INCREF(object);
    return object;
}

static inline PyObject *Py_XNewRef(PyObject *object)
{
    Py_XINCREF(object);
    return object;
}
#endif

#define PY_MAX_DEPTH 60 /* levels of a value; a message may have 64, and uses some itself */

#define PY_STRING_OF(x) #x
#define PY_STRING(x)    PY_STRING_OF(x)
#define PYTHON_VERSION  PY_STRING(PY_MAJOR_VERSION) "." PY_STRING(PY_MINOR_VERSION)

struct py_tool;

/* bootstrap.py, report.py, tools.py, aio.py, template.py, guards.py, figures.py, files.py. */
enum py_part {
    PY_PART_START,
    PY_PART_REPORT,
    PY_PART_TOOLS,
    PY_PART_AIO,
    PY_PART_TEMPLATE,
    PY_PART_GUARDS,
    PY_PART_FIGURES,
    PY_PART_FILES,
    PY_PARTS
};

/* Functions in them, by name. */
enum py_function {
    PY_START,
    PY_SET_SCRIPT,
    PY_PREPARE_RUN,
    PY_PREPARE_CHECK,
    PY_DESCRIBE,
    PY_DESCRIBE_SYNTAX,
    PY_BEGINNING,
    PY_LEAVE,
    PY_RUN_EXIT_FUNCTIONS,
    PY_DEFINE_TOOL,
    PY_AWAIT,
    PY_CALL_HOOK,
    PY_LATER,
    PY_SETTLE,
    PY_MAKE_ROOM,
    PY_PRELOAD,
    PY_BEFORE_FORK,
    PY_RENEW,
    PY_GUARD,
    PY_TAKE_FIGURES,
    PY_SAVE_FIGURES,
    PY_WRITE_OUT,
    PY_RENEW_INPUT,
    PY_FUNCTIONS
};

struct python_state {
    const struct laz_agent_services *services;
    const struct laz_json_api *json;
    PyThreadState *main_thread; /* set between operations, while the GIL is released; else NULL */
    bool draws;                 /* matplotlib.pyplot was imported */
    bool copied;                /* this is a template, whose interpreter is paused */
    pid_t pid;                  /* of the session; a forked child has another */
    char version[32];

    PyObject *functions[PY_FUNCTIONS]; /* those called so far; see py_call */
    bool ran[PY_PARTS];
    PyObject *boot;       /* the namespace they share */
    PyObject *globals;    /* the dict of __main__ */
    PyObject *builtins;   /* the dict of builtins, for `_` */
    PyObject *tool_error; /* lazaret.ToolError */
    PyObject *flush;      /* the string "flush" */
    PyObject *streams[2]; /* the original sys.stdout and sys.stderr, or NULL */
    uint64_t executions;
    char *script; /* the name of the file whose code comes next; NULL: none */

    struct py_tool *tools;
    size_t n_tools;
    struct py_calls *calls; /* open calls */

    /* Memory of the last outcome. */
    struct laz_json_writer *value;
    PyObject *text;
    PyObject *described; /* result of a describe function */
    const char **traceback;
    char message[128];

    void *reserve; /* memory freed in order to report that there is none */
};

/* ---- py_posix.c, py_windows.c: where an interpreter is, and what its process needs ----------- */

extern const char py_executable[];
extern const char *const py_libraries[], *const py_read_paths[], *const py_programs[],
    *const py_needs[];
void py_prepare_process(void);

/* ---- py_boot.c: the part in Python
 * ------------------------------------------------------------------
 */

/* Runs the Python part. Errors: LAZ_ESETUP. Needs the GIL. */
int py_boot_start(struct python_state *state, const char *const *paths, size_t n_paths,
                  struct laz_error *err);
void py_boot_fini(struct python_state *state);
/* Calls a function of the Python part; `format` builds the tuple of arguments. New reference, or
 * NULL with an exception. */
PyObject *py_call(struct python_state *state, enum py_function function, const char *format, ...);
/* A list of texts. New reference, or NULL with an exception. */
PyObject *py_texts(const char *const *texts, size_t n);
/* Fills `err` from the exception that is set, and clears it. */
int py_boot_error(struct laz_error *err, int code, const char *what);
/* Flushes sys.stdout and sys.stderr; failures are ignored. Keeps an exception that is set. */
void py_flush(struct python_state *state);
/* Compiles all parts and looks up all functions, so that copies need not. False with an
 * exception. */
bool py_boot_all(struct python_state *state);
/* Makes functions available to the Python part; their `self` is a capsule of the state. False: an
 * exception is set. */
bool py_offer(struct python_state *state, PyMethodDef *methods, size_t n);
/* Clears the exception that is set and returns it with its traceback. New reference. */
PyObject *py_take_exception(void);
/* Sets what py_take_exception has given (NULL: nothing), and takes it over. */
void py_restore_exception(PyObject *exception);

/* ---- py_eval.c ------------------------------------------------------------------------------ */

int py_check(void *state, const char *code, size_t len, struct laz_outcome *outcome);
int py_set_script(void *data, const char *const *argv, size_t n, const char *directory);
int py_eval(void *state, const char *code, size_t len, uint32_t wanted,
            struct laz_outcome *outcome);
void py_write_out(void *state, const int *fds, size_t n);
void py_input_changed(void *state);
void py_eval_fini(struct python_state *state);

/* ---- py_template.c -------------------------------------------------------------------------- */

int py_preload(void *state, const char *const *names, size_t n, struct laz_error *err);
#if defined HAVE_FORK /* pyconfig.h */
void py_before_fork(void *state);
int py_renew(void *state, struct laz_error *err);
#endif
void py_template_fini(struct python_state *state); /* needs the GIL */

/* ---- py_tools.c ----------------------------------------------------------------------------- */

int py_define_tools(void *state, const struct laz_tool_signature *tools, size_t n,
                    struct laz_error *err);
void py_tools_fini(struct python_state *state);
/* Turns the outcome of a call into its value, or NULL with an exception. `rc` comes from the agent,
 * or is LAZ_ECLOSED (no execution was running) or LAZ_ECANCELLED (the execution ended). `text`
 * NULL: out of memory. */
PyObject *py_call_outcome(struct python_state *state, const char *tool, int rc, const char *text,
                          size_t len);

/* ---- py_calls.c: calls under way. With the GIL, which is given back while they wait ---------- */

int py_calls_init(struct python_state *state);
/* True: calls go to the host from now on. False: open calls and new ones fail. */
void py_calls_set_running(struct python_state *state, bool running);
/* Calls a tool and waits; returns its value, or NULL with an exception. */
PyObject *py_calls_wait(struct python_state *state, const char *tool, const char *args, size_t len);
/* Sends a call whose answer settles a future of the loop that runs in this thread. 1; 0: too many
 * calls are open; -1 with an exception. */
int py_calls_begin(struct python_state *state, const char *tool, const char *args, size_t len,
                   PyObject *loop, PyObject *future);
/* Takes the answers that have come, unless a waiting thread does. */
void py_calls_pump(struct python_state *state);
/* For loops that cannot watch the channel: one thread takes their answers until the execution ends.
 * The caller whose claim succeeds starts it, or gives the claim up; serve runs in it. */
bool py_calls_claim_server(struct python_state *state);
void py_calls_give_up_server(struct python_state *state);
void py_calls_serve(struct python_state *state);

/* ---- py_write.c: Python to JSON ------------------------------------------------------------- */

struct py_writer {
    const struct laz_json_api *json;
    struct laz_json_writer *out;
    bool lossless; /* a value without a JSON form raises a TypeError, in place of a $repr */
    unsigned depth;
    PyObject *above[PY_MAX_DEPTH]; /* the enclosing containers, borrowed */
};

/* 0, or -1 with an exception. A text over its limit is not an error here; the writer reports it. */
int py_write(struct py_writer *writer, PyObject *value);
/* Has it no form of its own in JSON, and goes to a tool as text? Decimal, UUID, paths, times of day
 * and durations. */
bool py_goes_as_text(PyObject *value);
/* Kinds of values of numpy and pandas, for the check of arguments. */
enum py_foreign { PY_FOREIGN_NONE, PY_FOREIGN_SCALAR, PY_FOREIGN_ARRAY, PY_FOREIGN_FRAME };
enum py_foreign py_foreign_kind(PyObject *value);
/* Converts a numpy scalar to Python's own type. New reference, or NULL with an exception. */
PyObject *py_foreign_item(PyObject *value);

/* ---- py_read.c: JSON to Python -------------------------------------------------------------- */

/* New reference, or NULL with an exception. */
PyObject *py_read(const struct laz_json_api *json, const char *text, size_t len);

/* ---- py_dates.c ----------------------------------------------------------------------------- */

/* 1: written; 0: no date or time; -1: exception. */
int py_date_write(struct py_writer *writer, PyObject *value);
/* Is it a time of day or a duration, and its text: "01:02:03", "P1DT3S"; NULL with an exception. */
bool py_date_is_text(PyObject *value);
PyObject *py_date_text(PyObject *value);
/* NULL without an exception when the text is not a date. */
PyObject *py_date_parse(const char *text);
PyObject *py_time_parse(const char *text);

#endif
