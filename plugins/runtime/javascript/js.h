/* SPDX-License-Identifier: MIT */
/* js.h - the parts of the javascript runtime and what they share.
 * Side: box.  Input trusted: no (the code shares this process anyway).
 *
 * One context of JavaScriptCore, on the main thread. What is written in JavaScript is in parts/: a
 * part is the body of function (exports, internal, native), where internal(NAME) gives the exports
 * of another part and native has the functions of the tables below. The engine runs the jobs of
 * promises when its outermost call returns (JSContextRef.h says nothing of it; JSObjectRef.h,
 * JSObjectMakeDeferredPromise), so every call from js_loop.c is one turn of an event loop. */
#ifndef JS_H
#define JS_H

#include <lazaret/runtime.h>

#include <JavaScriptCore/JavaScript.h>

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define JS_CODE_NAME "<code>" /* in stacks; later executions: "<code 2>" */
#define JS_PART_NAME "lazaret:"

/* A function of C that parts find as native.NAME. */
struct js_native {
    const char *name;
    JSObjectCallAsFunctionCallback call;
};

/* A part: its name and its text. */
struct js_part {
    const char *name;
    const char *text;
};

/* Functions of parts that C calls, each looked up once. */
enum js_function {
    JS_DEFINE,    /* run: (name, is local) makes a global property that code may define again */
    JS_FOLLOW,    /* run: (value) follows it where it is a promise; says whether */
    JS_OUTCOME,   /* run: () what became of it: undefined, or [state, value] */
    JS_DESCRIBE,  /* run: (error) gives [message, line, column, kind, frames...] */
    JS_TEXT,      /* run: (value, budget) as the prompt prints it */
    JS_BEGIN,     /* run: (script, argv, directory) before an execution */
    JS_ENDING,    /* run: () nothing is pending in a file that ran; listeners may go on */
    JS_FINISH,    /* run: (status) listeners of the end of the process */
    JS_REJECTED,  /* run: (promise, reason) nobody handles it */
    JS_WHERE,     /* run: () line of the statement that waits */
    JS_RENEW,     /* run: (seeds) in a copy of a template */
    JS_WRITE,     /* values: (value, limit) gives the text of a JSON value */
    JS_TIMERS,    /* timers: () runs what is due; gives the ms to the next, or -1 */
    JS_CLEAR,     /* timers: () none is pending */
    JS_TOOLS,     /* tools: (json) defines tools */
    JS_SETTLE,    /* tools: (id, ok, text) an answer */
    JS_ABANDON,   /* tools: () the execution has ended */
    JS_STRIP,     /* typescript: (source, name, keeps_imports) without types */
    JS_PROGRAM,   /* surface: (source) gives [text, is it a function] */
    JS_LIBRARIES, /* libraries: () loads those of the configuration */
    JS_FUNCTIONS
};

struct js_fetches; /* js_fetch.c */
struct js_scan;    /* js_scan.h */

struct js_state {
    const struct laz_agent_services *services;
    const struct laz_json_api *json;
    JSContextGroupRef group;
    JSGlobalContextRef context;
    JSObjectRef native;
    JSObjectRef internal; /* internal(NAME) */
    JSObjectRef functions[JS_FUNCTIONS];
    struct js_fetches *fetches; /* NULL: none yet */
    pid_t pid;                  /* of the session; a forked child has another */
    bool is_template;
    bool is_watched;
    bool has_timers; /* parts/timers.js has to be asked for the next one */

    /* ---- the execution that runs */
    uint64_t executions;
    char code[32];              /* the name of code that is of no file */
    const char *name;           /* of the code in stacks */
    char *script;               /* name of the file whose code comes next; NULL: none */
    bool has_ended;             /* listeners of the end of the process were told */
    bool is_running;            /* tools can be called */
    bool is_expression;         /* the code stands behind a parenthesis */
    const struct js_scan *scan; /* of the code; NULL: the engine gets it as it is */
    size_t open;                /* calls of tools */
    JSValueRef failed;          /* an error that no code has caught; protected; NULL: none */
    volatile sig_atomic_t is_interrupted;

    /* ---- memory of the last outcome */
    char *value, *text, *message;
    char **frames;
    size_t n_frames;

    /* ---- output, js_output.c */
    char *out;
    size_t out_len;
    int out_stream;
    bool is_silent; /* a template is warmed */

    char **libraries; /* files of runtime.javascript.libraries */
    char *dialect;    /* "", "codemode", "ai-sdk" */
    bool has_jit;
};

/* The one interpreter of this process. */
extern struct js_state *js_here;

/* ---- js_engine.c: values and calls ----------------------------------------------------------- */

/* Makes the context and loads the part `start`. LAZ_ESETUP. */
int js_engine_start(struct js_state *js, struct laz_error *err);
void js_engine_stop(struct js_state *js);

/* Evaluates a script of a file name, from line 1. NULL: *exception is set. */
JSValueRef js_evaluate(struct js_state *js, const char *text, size_t len, const char *name,
                       JSValueRef *exception);
/* Calls a function of a part. NULL: an exception, in *exception unless that is NULL. */
JSValueRef js_call(struct js_state *js, enum js_function function, size_t n,
                   const JSValueRef arguments[], JSValueRef *exception);
/* Makes sure that all functions are looked up. */
int js_look_up(struct js_state *js, struct laz_error *err);

/* A JavaScript string of UTF-8 text, which may contain NUL; what is not UTF-8 becomes U+FFFD. */
JSStringRef js_string_ref(const char *text, size_t len);
JSValueRef js_string(JSContextRef context, const char *text, size_t len);
JSValueRef js_number(JSContextRef context, double number);
/* The text of any value as UTF-8 with a NUL behind it, from malloc; lone surrogates become U+FFFD.
 * NULL: *exception is set (the value's own toString failed, or no memory). */
char *js_text(JSContextRef context, JSValueRef value, size_t *len, JSValueRef *exception);
/* As js_text for a value that is a string for sure. NULL: no memory. */
char *js_text_of(JSStringRef string, size_t *len);
/* `keeps_lone`: a lone surrogate is written as if it were a character. */
char *js_wide_text_of(JSStringRef string, bool keeps_lone, size_t *len);
/* The bytes of a typed array, DataView or ArrayBuffer, which the engine may move or free at its
 * next call. False: the value is none. */
bool js_bytes(JSContextRef context, JSValueRef value, void **data, size_t *len);
/* A Uint8Array of `data`, from malloc, which it takes over (also on failure). */
JSValueRef js_new_bytes(JSContextRef context, void *data, size_t len, JSValueRef *exception);
/* Sets *exception to an Error with this message; returns undefined, for natives to return. */
JSValueRef js_throw(JSContextRef context, JSValueRef *exception, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A property of an object, by name. NULL: an exception, which is dropped. */
JSValueRef js_get(JSContextRef context, JSObjectRef object, const char *name);
void js_set(JSContextRef context, JSObjectRef object, const char *name, JSValueRef value);
/* The number that argument `i` is; `otherwise` when it is missing or no number. */
double js_argument(JSContextRef context, size_t n, const JSValueRef arguments[], size_t i,
                   double otherwise);

/* The head of a function of C for parts, and what it leaves unused. */
#define JS_NATIVE(name)                                                                            \
    static JSValueRef name(JSContextRef context, JSObjectRef function, JSObjectRef this, size_t n, \
                           const JSValueRef arguments[], JSValueRef *exception)
#define JS_UNUSED                                                                                  \
    ((void)context, (void)function, (void)this, (void)n, (void)arguments, (void)exception)

/* ---- js_parts.c ------------------------------------------------------------------------------ */

/* Ends with a name that is NULL. */
extern const struct js_part js_parts[];
const struct js_part *js_part_find(const char *name);

/* ---- natives --------------------------------------------------------------------------------- */

/* Each ends with a name that is NULL. */
extern const struct js_native js_natives_base[], js_natives_loop[], js_natives_digest[],
    js_natives_encode[], js_natives_eval[], js_natives_fetch[], js_natives_files[],
    js_natives_inspect[], js_natives_modules[], js_natives_output[], js_natives_process[],
    js_natives_spawn[], js_natives_tools[];

/* ---- js_output.c ----------------------------------------------------------------------------- */

/* Appends to the output; it leaves when the stream changes, when there is much, and by js_flush. */
void js_write(struct js_state *js, int stream, const char *text, size_t len);
/* Before anything else writes to the outputs, before tools are called and before waiting. */
void js_flush(struct js_state *js);

/* ---- js_loop.c ------------------------------------------------------------------------------- */

enum js_end {
    JS_END_SETTLED, /* nothing is pending, and the main promise is settled */
    JS_END_FAILED,  /* js->failed */
    JS_END_INTERRUPTED,
    JS_END_STUCK, /* nothing is pending, but the main promise is */
};

/* Runs timers, answers of tools and transfers until nothing is left to wait for. `has_main`: a
 * promise is followed. */
enum js_end js_loop(struct js_state *js, bool has_main);
/* Is anything pending? */
bool js_has_more(const struct js_state *js);
/* Has the code failed, or been interrupted? */
bool js_is_over(const struct js_state *js);

/* ---- js_fetch.c ------------------------------------------------------------------------------ */

/* Are transfers under way? Those that wait until their body is read do not count. */
bool js_fetch_open(const struct js_state *js);
/* While transfers are open: waits until something has happened to one, until `fd` (-1: none) can be
 * read, a signal or timeout_ms (-1: no timeout), and settles what can be settled. */
void js_fetch_wait(struct js_state *js, int fd, int timeout_ms);
/* The execution has ended: so do its transfers. */
void js_fetch_abandon(struct js_state *js);

/* ---- js_watch.c ------------------------------------------------------------------------------ */

/* From here on code that runs ends soon after js->is_interrupted is set. */
void js_watch(struct js_state *js);

/* ---- js_eval.c ------------------------------------------------------------------------------- */

int js_check(void *state, const char *code, size_t len, struct laz_outcome *outcome);
int js_eval(void *state, const char *code, size_t len, uint32_t wanted,
            struct laz_outcome *outcome);
int js_set_script(void *state, const char *const *argv, size_t n, const char *directory);
void js_rest(void *state);
void js_eval_fini(struct js_state *js);

/* ---- js_template.c --------------------------------------------------------------------------- */

void js_before_fork(void *state);
int js_renew(void *state, struct laz_error *err);
/* Seeds what is random in the language. */
int js_seed(struct js_state *js, struct laz_error *err);

/* ---- js_modules.c ---------------------------------------------------------------------------- */

/* Evaluates runtime.javascript.libraries. LAZ_ECONFIG. */
int js_load_libraries(struct js_state *js, struct laz_error *err);

/* ---- js_tools.c ------------------------------------------------------------------------------ */

int js_define_tools(void *state, const struct laz_tool_signature *tools, size_t n,
                    struct laz_error *err);
/* Takes one answer, waiting as long for it (-1: no timeout). False: none came. */
bool js_take_answer(struct js_state *js, int wait_ms);

#endif
