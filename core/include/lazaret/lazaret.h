/* SPDX-License-Identifier: MIT */
/* lazaret/lazaret.h - running code of a language model in an OS sandbox, from an application.
 *
 *     #include <lazaret/lazaret.h>
 *     #include <stdio.h>
 *
 *     int main(void)
 *     {
 *         struct laz_error err = {0};
 *         struct laz_engine *engine = NULL;
 *         struct laz_session *session = NULL;
 *         struct laz_result *result = NULL;
 *
 *         if (laz_engine_new(NULL, NULL, &engine, &err) ||
 *             laz_session_open(engine, NULL, &session, &err) ||
 *             laz_session_execute(session, "1 + 1", SIZE_MAX, NULL, &result, &err))
 *             fprintf(stderr, "%s\n", err.text);
 *         else
 *             puts(laz_result_value(result));
 *         laz_result_free(result);
 *         laz_session_free(session);
 *         laz_engine_free(engine);
 *         return err.code != 0;
 *     }
 *
 * An *engine* holds settings, plugins, tools and an event loop. A *session* is one interpreter in
 * one box; what its code defines lasts until the session is restarted or closed. An execution ends
 * with one *verdict*. Values are JSON text (see lazaret/json.h for what JSON cannot say).
 *
 * Many sessions of one engine execute at the same time: laz_session_execute_async begins one and
 * returns. They go on whenever the engine is driven: by laz_engine_step, from the application's own
 * loop say, or by any function below that waits.
 *
 * Threads: an engine and everything opened in it is used by one thread at a time; different engines
 * are independent. A call from a second thread, or from a callback of a running execution, is
 * refused with LAZ_EBUSY and does no harm. Tool callbacks run on worker threads; output handlers,
 * hooks, callbacks of nonblocking tools and completion callbacks (`done`, `got`) run on the thread
 * that drives the engine.
 * Completion callbacks, and only those, may use the engine and free their objects. What each
 * function does in each kind of callback is in docs/callbacks.md. No lock is held while any callback
 * runs.
 *
 * A handle that is NULL is an error of the caller, never a fault: a function that can fail returns
 * LAZ_EINVAL, one that gives a text or an object NULL, a descriptor, time or process id -1, a
 * verdict setup_failed, and a number 0. Options begin with their size: LAZ_SESSION_OPTIONS_INIT and
 * its like set it. LAZ_EINVAL: it is 0, or no size at all; LAZ_EREFUSED: an option is set that this
 * version of the library does not know. So none is ever left out silently.
 *
 * fork(2): an engine belongs to the process that made it. In a child of that process every function
 * that would use it fails with LAZ_EREFUSED, and those that close or free have no effect: boxes and
 * files are the parent's. A server that forks makes an engine in each child.
 *
 * The library is a guest in its process: it changes no signal disposition, locale, environment
 * variable or working directory, and prints nothing. Children are started by one thread of the
 * engine, are followed by pidfd, and end with the engine or the process, whichever ends first. On
 * Linux a separate process, which is not a child (lazaret-agent --warden), ends them if the process
 * is killed. */
#ifndef LAZARET_H
#define LAZARET_H

#include <lazaret/error.h>
#include <lazaret/plugin.h>
#include <lazaret/result.h>
#include <lazaret/tool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of these headers; see laz_version for that of the library. */
#define LAZ_VERSION_MAJOR 0
#define LAZ_VERSION_MINOR 1
#define LAZ_VERSION_PATCH 0
#define LAZ_VERSION       "0.1.0"
/* As one number that grows: 1002003 for 1.2.3. */
#define LAZ_VERSION_NUMBER                                                                         \
    (LAZ_VERSION_MAJOR * 1000000 + LAZ_VERSION_MINOR * 1000 + LAZ_VERSION_PATCH)

struct laz_settings;
struct laz_engine;
struct laz_session;

/* The version of the library that runs. Static text. */
LAZ_EXPORT const char *laz_version(void);
/* The same as a number, like LAZ_VERSION_NUMBER. */
LAZ_EXPORT int laz_version_number(void);
/* The name of an error: "LAZ_EINVAL" for LAZ_EINVAL, "0" for 0; another number: "unknown error".
 * Static text. */
LAZ_EXPORT const char *laz_error_name(int code);
/* Reading and writing JSON (lazaret/json.h): for values, arguments of tools and the texts below.
 * Static. */
LAZ_EXPORT const struct laz_json_api *laz_json_api(void);

/* ---- settings: what a configuration file says ------------------------------------------------ */

/* The defaults. The caller owns *settings (laz_settings_free). Errors: LAZ_ENOMEM. */
LAZ_EXPORT int laz_settings_new(struct laz_settings **settings, struct laz_error *err);
/* Reads a TOML file; its values replace those set before. `path` NULL: $LAZARET_CONFIG, which must
 * exist when it is set, else the first of $XDG_CONFIG_HOME/lazaret/lazaret.toml (~/.config without
 * it) and /etc/lazaret/lazaret.toml that exists; none is not an error. A file with a mistake changes
 * nothing. Errors: LAZ_ECONFIG; every mistake of the file is in laz_settings_problems. */
LAZ_EXPORT int laz_settings_load(struct laz_settings *settings, const char *path,
                                 struct laz_error *err);
/* Sets one key, "session.timeout" say; `value` in TOML notation, a string may be bare.
 * Errors: LAZ_ECONFIG. */
LAZ_EXPORT int laz_settings_set(struct laz_settings *settings, const char *key, const char *value,
                                struct laz_error *err);
/* Number of mistakes found by the last load or set, and the text of one: "FILE:LINE:COL: KEY: ...".
 */
LAZ_EXPORT size_t laz_settings_problems(const struct laz_settings *settings);
LAZ_EXPORT const char *laz_settings_problem(const struct laz_settings *settings, size_t index);
LAZ_EXPORT void laz_settings_free(struct laz_settings *settings); /* NULL is allowed */

/* ---- engine --------------------------------------------------------------------------------- */

/* How the engine reports to the application. All may be NULL. */
struct laz_engine_options {
    size_t size; /* sizeof(struct laz_engine_options) */
    void (*log)(void *user, uint32_t level, const char *text); /* LAZ_LOG_*; any thread */
    void *log_user;
    uint32_t log_level; /* messages above it are not made */
};
#define LAZ_ENGINE_OPTIONS_INIT LAZ_INIT(struct laz_engine_options)

/* Finds the plugins and makes the tools the settings name, and opens the audit log (audit.file),
 * which records everything below: what cannot be recorded is refused, unless audit.on_error is
 * "warn". `settings` is copied; NULL: the defaults. The caller owns *engine. The application may
 * have closed descriptors 0, 1 and 2, and may close or open them later: the engine never uses these
 * numbers for its own. It only occupies closed ones briefly while this call makes the event loop,
 * and during a fork(2); no other thread should open them meanwhile. Errors: LAZ_ECONFIG,
 * LAZ_EPLUGIN, LAZ_EOS, LAZ_ENOMEM. */
LAZ_EXPORT int laz_engine_new(const struct laz_settings *settings,
                              const struct laz_engine_options *options, struct laz_engine **engine,
                              struct laz_error *err);
/* Closes all sessions and pools that are still open, frees everything and removes the engine's
 * directories. Running executions are cancelled and report that, before anything is freed; in these
 * callbacks nothing can be begun any more (LAZ_ECLOSED). When it has returned, no session or pool of
 * the engine exists: none may be used, closed or freed. Called by any callback, in laz_group_run, or
 * while another thread uses the engine, it has no effect, which is logged as an error.
 *
 * It waits ten seconds for callbacks of tools that have not returned. Those that have not returned
 * then are reported in the log as an error, and may return, and answer, at any time later. Until
 * then they use what they were given (`user`), and may use the log function with `log_user`; some
 * memory of the engine, its tool providers, and a thread for each of them are not freed. Sessions,
 * processes, directories and the audit log are gone in any case. */
LAZ_EXPORT void laz_engine_free(struct laz_engine *engine);

/* Ends what the engine is doing: executions get the verdict cancelled; starts of sessions without
 * an execution, and waits for a session of a pool, fail with LAZ_ECANCELLED. No effect on an idle
 * engine. May be called from any thread, from callbacks and from a signal handler, while another
 * thread uses the engine. */
LAZ_EXPORT void laz_engine_cancel(struct laz_engine *engine); /* NULL is allowed */

/* ---- driving it from a loop of the application -------------------------------------------------
 *
 * Watch laz_engine_fd for reading, wait at most laz_engine_timeout, and then call laz_engine_step
 * with 0. Ask for the timeout again after any call: what was begun meanwhile makes it 0. */

/* A descriptor that becomes readable when laz_engine_step has something to do. Borrowed; the same
 * for the engine's lifetime. If the application closes it, functions that use the engine fail with
 * LAZ_EINVAL, and say so. -1 on Windows, which has none: call laz_engine_step with a time to
 * wait. */
LAZ_EXPORT int laz_engine_fd(const struct laz_engine *engine);
/* Milliseconds after which laz_engine_step is to be called in any case; -1: only when the
 * descriptor is readable. Sessions that have executed code are checked from time to time, as soon
 * as threads or processes that the code has left could have used limits.cpu. */
LAZ_EXPORT int laz_engine_timeout(const struct laz_engine *engine);
/* Waits up to `wait_ms` milliseconds (0: not at all, negative: as long as it takes) until something
 * has happened, and handles it. Completion callbacks are called from here. Errors: LAZ_EBUSY. */
LAZ_EXPORT int laz_engine_step(struct laz_engine *engine, int64_t wait_ms, struct laz_error *err);

/* ---- tools of the application ---------------------------------------------------------------- */

struct laz_reply; /* the answer to one call */

/* A tool of the application, offered to sessions opened later. `tool` is copied. `call` runs on a
 * worker thread, several at once, workers.max at most; that of a `nonblocking` tool on the thread
 * that drives the engine. `args` is a checked JSON object, borrowed for the call; it answers through
 * `reply` before it returns (no answer: null), or later, if it calls laz_reply_keep. Errors: LAZ_EINVAL for a bad name, one that a language would spell as that of
 * another tool, or bad parameters. */
LAZ_EXPORT int laz_engine_add_tool(struct laz_engine *engine, const struct laz_tool *tool,
                                   void (*call)(void *user, const char *args, size_t args_len,
                                                struct laz_reply *reply),
                                   void *user, struct laz_error *err);
/* Who decides on calls that need an approval: those of a tool with `approve`, and those that an
 * [[approve]] table of the settings names. `decide` is called as a tool is, before that tool, with
 * its checked arguments; laz_reply_caller says which tool, and for whom. Answered by `true` the
 * call goes on; by any other value it is refused, and by an error with that reason, which the code
 * gets as an error of the tool. It may keep the reply: meanwhile neither session.timeout nor
 * session.deadline runs, and after session.approval_timeout the call is refused. `decide` NULL:
 * nobody is there to decide, and such calls are refused at once, as they are by default. Replaces
 * the one before. Errors: LAZ_EINVAL, LAZ_EBUSY, LAZ_ENOMEM. */
LAZ_EXPORT int laz_engine_set_approver(struct laz_engine *engine,
                                       void (*decide)(void *user, const char *args, size_t args_len,
                                                      struct laz_reply *reply),
                                       void *user, struct laz_error *err);
/* Finds tools by words, for a model that is not shown all of them: in *found a JSON list as that of
 * laz_session_tools, the best ones first, `limit` at most (0: 10). Looked at are the tools that every
 * session has: their names, descriptions and parameters, ranked by BM25. Any thread, also that of a
 * tool; several at once. Borrowed until the same thread searches this engine again, or asks it for
 * its tools or a stub. Errors: LAZ_EINVAL, LAZ_ENOMEM; where tools have to be asked for first (see
 * laz_session_open), those of laz_engine_check_tools. */
LAZ_EXPORT int laz_engine_search_tools(struct laz_engine *engine, const char *words, size_t limit,
                                       const char **found, struct laz_error *err);
/* All of these tools, in the order in which they were declared; otherwise the same. NULL: a NULL, out
 * of memory, or tools that have to be asked for cannot be (laz_engine_check_tools has the error). */
LAZ_EXPORT const char *laz_engine_tools(struct laz_engine *engine);
/* What a model is shown of one of them: in *stub its signature with its documentation, in a language
 * (NULL: that of the settings). `name`: as it is declared, or as the language spells it. Borrowed as
 * what a search finds. Thread that uses the engine, also in its callbacks. Errors: LAZ_ENOENT (no
 * such tool), LAZ_EINVAL (no such language), LAZ_EBUSY (another thread is inside), LAZ_ENOMEM. */
LAZ_EXPORT int laz_engine_tool_stub(struct laz_engine *engine, const char *name,
                                    const char *language, const char **stub, struct laz_error *err);
/* A tool of one session, in struct laz_session_options; as laz_engine_add_tool has it. */
struct laz_session_tool {
    size_t size;
    const struct laz_tool *tool;
    void (*call)(void *user, const char *args, size_t args_len, struct laz_reply *reply);
    void *user;
};
#define LAZ_SESSION_TOOL_INIT LAZ_INIT(struct laz_session_tool)
/* Could a session have these tools, besides those that every session has? Checked as
 * laz_session_open does it, whose error comes only when a session is opened. Errors: LAZ_EINVAL with
 * a sentence that names the tool, LAZ_ECONFIG (an [[approve]] table means another one), LAZ_EBUSY,
 * LAZ_ENOMEM. */
LAZ_EXPORT int laz_engine_check_tools(struct laz_engine *engine,
                                      const struct laz_session_tool *const *tools, size_t n,
                                      struct laz_error *err);
/* As laz_engine_search_tools, among the tools that a session with these would have. Errors: as
 * laz_engine_check_tools. */
LAZ_EXPORT int laz_engine_search_tools_with(struct laz_engine *engine,
                                            const struct laz_session_tool *const *tools, size_t n,
                                            const char *words, size_t limit, const char **found,
                                            struct laz_error *err);

/* The answer: JSON text, copied; anything that is not one JSON value becomes an error of the tool.
 * Only the first answer to a call counts. Any thread. */
LAZ_EXPORT void laz_reply_value(struct laz_reply *reply, const char *json, size_t len);
/* The answer: an error the code can catch; copied. Any thread. */
LAZ_EXPORT void laz_reply_error(struct laz_reply *reply, const char *message);
/* Who called. Borrowed until `call` returns, or the reply is freed. Any thread. */
LAZ_EXPORT const struct laz_caller *laz_reply_caller(const struct laz_reply *reply);
/* In `call`: the answer comes later, from any thread, and `call` may return without one: no thread
 * is occupied meanwhile. The reply is the caller's from now on, and has to be freed (with
 * laz_reply_free), also after laz_engine_free. */
LAZ_EXPORT int laz_reply_keep(struct laz_reply *reply);
/* Frees a reply that was kept; without an answer so far, the answer is null. Afterwards the function
 * given to laz_reply_on_cancel is not called any more; while it runs on another thread, this waits
 * for its end. Any thread, also that function itself. NULL is allowed. */
LAZ_EXPORT void laz_reply_free(struct laz_reply *reply);
/* Nobody waits for the answer any more: the tool's timeout is over, or its execution has ended. Any
 * thread. */
LAZ_EXPORT bool laz_reply_is_cancelled(struct laz_reply *reply);
/* Has `cancelled` called once, when that happens: on the thread that drives the engine, at once if
 * it has happened already. It must not block, nor use the engine. It is not called after `call` has
 * returned, or the kept reply was freed. A function set before is not called any more, and has ended
 * when this returns, unless it is the caller. NULL: nothing is called. */
LAZ_EXPORT int laz_reply_on_cancel(struct laz_reply *reply, void (*cancelled)(void *user),
                                   void *user);

/* ---- session -------------------------------------------------------------------------------- */

/* What code can reach by the network, in place of network.allow of the settings; the rest of
 * [network] holds as well, and of the host only what network.allow and [network.host] offer. A rule is a
 * text as there, a table its JSON object. */
struct laz_network_list {
    size_t size;
    const char *const *allow; /* NULL: none */
    size_t n;                 /* 0: nothing can be reached */
};
#define LAZ_NETWORK_LIST_INIT LAZ_INIT(struct laz_network_list)

/* Credentials that code uses and never sees, in place of those of the settings. Each is the name of one
 * of the settings, or a JSON object as a table of [[network.credential]], with {"value": TEXT} as its
 * `secret` and without `ca`: files, variables and commands are those of the settings alone. */
struct laz_credential_list {
    size_t size;
    const char *const *items; /* copied; NULL: none */
    size_t n;                 /* 0: the session has none */
};
#define LAZ_CREDENTIAL_LIST_INIT LAZ_INIT(struct laz_credential_list)

struct laz_session_options {
    size_t size;
    const char *runtime; /* "python", "r", "lua"; NULL: as the settings say */
    /* Asked before each execution with its code: 0 allows; anything else blocks it, with the text
     * written to `reason` (may be left empty). */
    int (*pre_execute)(void *user, const char *code, size_t len, char *reason, size_t reason_size);
    void *pre_execute_user;
    uint32_t no_wait; /* not 0: return while it starts; executions begun meanwhile wait for it, and
                         get the verdict setup_failed when it does not start. Of laz_execute: the
                         result comes when the interpreter has ended; what is left in its box ends
                         while the engine is used, or is freed */
    uint32_t warm;    /* not 0: made from a template, if pool.warm allows; 0: in a box of its own */
    const int *input; /* a pipe or socket that is the standard input of the code, borrowed until the
                         session is closed; NULL: that is empty. Such a session is in a box of its
                         own. Or a pseudo-terminal made for the session, which it controls. For all
                         else LAZ_EINVAL: code could write to it. Not on Windows. */
    void *user; /* for whom the session is: told to tools (laz_reply_caller) */
    /* Tools of this session only, beside those of the engine; copied, but for what `user` of each
     * points to, which is used until their last call has been answered. */
    const struct laz_session_tool *const *tools;
    size_t n_tools;
    /* Standard output and error of the code, as `input`; NULL: results have it. What goes to one is
     * not kept, not limited, and ends when the caller's descriptor and the session are closed. */
    const int *output;
    const int *errors;
    const struct laz_network_list *network; /* NULL: as the settings say */
    const char *identity; /* who it is for, as the audit log has it; copied; NULL: nobody is named */
    /* NULL: all of the settings. With others than these it is in a box of its own. */
    const struct laz_credential_list *credentials;
};
#define LAZ_SESSION_OPTIONS_INIT LAZ_INIT(struct laz_session_options)

/* Starts a box and its interpreter and waits until it is ready. `options` may be NULL. The caller
 * owns *session. The first session of an engine also waits, with no_wait too, for servers that have
 * to be asked for their tools (docs/tool-mcp.md); so do laz_pool_new and the searches for tools,
 * whichever comes first. Errors: LAZ_ESETUP, LAZ_ECONFIG, LAZ_ENOENT (no such runtime or backend),
 * LAZ_EREFUSED (the policy requires what cannot be enforced, or the audit log cannot be written; a
 * network list that the backend cannot keep), LAZ_EINVAL (a rule of `network`, a credential), LAZ_ENOMEM,
 * LAZ_EBUSY. */
LAZ_EXPORT int laz_session_open(struct laz_engine *engine,
                                const struct laz_session_options *options,
                                struct laz_session **session, struct laz_error *err);

#define LAZ_STDOUT 1
#define LAZ_STDERR 2

#define LAZ_NO_LIMIT UINT64_MAX

/* A file for the code. */
struct laz_file {
    size_t size;
    const char *name; /* without directories, as every system allows it */
    const void *data;
    size_t data_len;
};
#define LAZ_FILE_INIT LAZ_INIT(struct laz_file)

struct laz_execute_options {
    size_t size;
    /* In place of the settings; 0: as the settings say; LAZ_NO_LIMIT: none. */
    uint64_t timeout_ms;
    uint64_t deadline_ms;
    uint64_t max_tool_calls;
    uint64_t max_output_lines;
    uint32_t no_print;    /* not 0: do not make the text that a prompt would print */
    uint32_t no_validate; /* not 0: no warnings about patterns */
    /* Each line of output as it comes, without its newline (a last one without newline too). */
    void (*line)(void *user, int stream, const char *text, size_t len);
    /* Each piece of output as it comes, unchanged. */
    void (*output)(void *user, int stream, const char *data, size_t len);
    void *user; /* of the handlers; also told to tools (laz_reply_caller) */
    /* The code is that of a file: its command line as the code finds it (sys.argv, commandArgs(),
     * arg), of which the first is the name of the file, in UTF-8; none is NULL. n_argv 0: it is
     * not, as at a prompt. */
    const char *const *argv;
    size_t n_argv;
    const char *cwd; /* the path in the box of the working directory from now on; NULL: it stays as
                        it is, at first the session's own */
    const char *directory; /* with argv: the path in the box of a directory in which the language looks
                              for modules, first or (Lua) last; NULL: none */
    /* What the execution has used so far, while its code or its tools run: every `progress_ms`
     * milliseconds, 0: 1000. Borrowed for the call. */
    void (*progress)(void *user, const struct laz_execution_usage *usage);
    uint32_t progress_ms;
    /* The trace that the execution belongs to; NULL: none. It is in the records of the audit log, and
     * told to tools (laz_reply_caller). LAZ_EINVAL: it is not as W3C Trace Context has it. */
    const struct laz_trace *trace;
    /* Files that are put before the code runs, one after the other, as laz_session_put_file does it;
     * where one cannot be, nothing runs, and that function's error is the outcome. They stay in the
     * session; but in one of a pool that others use afterwards (pool.reset is false) they are removed
     * when the execution has ended. */
    const struct laz_file *const *files;
    size_t n_files;
    /* Not 0: where artifacts.collect is "auto", files at the top of the working directory that the
     * session begins with are artifacts as well: neither hidden ones, nor those that were put. */
    uint32_t collect_cwd;
    uint32_t invisible; /* not 0: the value also where a prompt would print none for it: in R, of an
                           assignment or of invisible(); 0: it is null then, and costs nothing */
    uint64_t max_code_length; /* characters; as the limits above, in place of a setting */
    uint32_t native; /* not 0: the value in a form that only the language of the code reads, where it
                        has one that keeps more: R has ($r), for callers in R */
    const char *input; /* the name of a file that was put, by `files` or before: the standard input
                          of this code, from its beginning; NULL: that of the session */
};
#define LAZ_EXECUTE_OPTIONS_INIT LAZ_INIT(struct laz_execute_options)

/* Runs code and waits. The outcome is in *result, which the caller owns; 0 is returned for every
 * verdict. `code` need not end with NUL when `len` is given; len SIZE_MAX: strlen. Errors:
 * LAZ_ECLOSED "not running", LAZ_EBUSY (in progress), LAZ_EINVAL, LAZ_ETOOBIG (the code exceeds
 * session.max_value_size), LAZ_ENOMEM: nothing ran and *result is NULL. */
LAZ_EXPORT int laz_session_execute(struct laz_session *session, const char *code, size_t len,
                                   const struct laz_execute_options *options,
                                   struct laz_result **result, struct laz_error *err);
/* Begins an execution and returns; `code` and `options` are copied. When it has ended, `done` is
 * called once, with a result that is the callee's to free (laz_result_free), or with NULL and an
 * error, by the thread that drives the engine then: never from inside this call. One execution at a
 * time in a session. Until `done` the handlers of `options` may be called.
 * Errors, and then `done` is not called: LAZ_ECLOSED, LAZ_EBUSY, LAZ_EINVAL, LAZ_ENOMEM. */
LAZ_EXPORT int laz_session_execute_async(struct laz_session *session, const char *code, size_t len,
                                         const struct laz_execute_options *options,
                                         void (*done)(void *user, struct laz_result *result,
                                                      const struct laz_error *err),
                                         void *user, struct laz_error *err);
/* Ends the running execution, whose verdict becomes cancelled; no effect without one. Its code is
 * interrupted, as by Ctrl-C at a prompt, and if it ends within session.interrupt_grace, the session
 * is kept (laz_result_is_kept); else it is killed. May be called from any thread, as long as the
 * session is not freed meanwhile. */
LAZ_EXPORT void laz_session_cancel(struct laz_session *session); /* NULL is allowed */
/* The same, and says whether there is something to interrupt: 0, LAZ_ENOENT (nothing is executed),
 * LAZ_EINVAL (NULL). */
LAZ_EXPORT int laz_session_interrupt(struct laz_session *session);
/* Parses the code and looks for suspicious patterns; runs nothing. The verdict is ok or
 * syntax_error. */
LAZ_EXPORT int laz_session_check(struct laz_session *session, const char *code, size_t len,
                                 struct laz_result **result, struct laz_error *err);
/* Puts a copy of these bytes into the working directory that the session begins with, as a file
 * that its code can read and not write to (mode 0400; the directory is the code's, so it may delete
 * the file), in place of a file of that name. `name`: without directories, as every system allows
 * it. While the session is idle; it waits as an execution does, with the clocks of the settings. The
 * file is in this interpreter's box: after a restart, or when the box was replaced
 * (laz_result_replaced), it is gone. Errors: LAZ_EINVAL (the name), LAZ_EOS (it cannot be written
 * there: no room, say), those of laz_session_execute, LAZ_ESETUP, LAZ_ECANCELLED, LAZ_ETIMEOUT. */
LAZ_EXPORT int laz_session_put_file(struct laz_session *session, const char *name, const void *data,
                                    size_t len, struct laz_error *err);
/* The same without waiting; `name` and `data` are copied. `done` is called once, with NULL or an
 * error, as in laz_session_execute_async. */
LAZ_EXPORT int laz_session_put_file_async(struct laz_session *session, const char *name,
                                          const void *data, size_t len,
                                          void (*done)(void *user, const struct laz_error *err),
                                          void *user, struct laz_error *err);
/* Starts a new interpreter in a new box; works on a dead session too. The old one may finish first,
 * as in laz_session_close. LAZ_EBUSY while executing. */
LAZ_EXPORT int laz_session_restart(struct laz_session *session, struct laz_error *err);
/* Has the code of this session reach these from now on, `n` rules as in struct laz_network_list; 0:
 * nothing. Between executions, also in a completion callback. Connections that the new list does not
 * permit are closed. It stays through restarts; a session of a pool has that of the pool again when
 * it is given back. Only ports that the session was opened with can be named: those of its first
 * list, and network.ports of the settings. The audit log has the change. Errors, and then nothing has
 * changed: LAZ_EINVAL (a rule, or a port that was not declared, which it names), LAZ_EBUSY (it
 * executes), LAZ_EREFUSED (it cannot be recorded), LAZ_ECLOSED, LAZ_ENOMEM. */
LAZ_EXPORT int laz_session_set_network(struct laz_session *session, const char *const *allow,
                                       size_t n, struct laz_error *err);
/* Ends everything inside, and waits for that end. An interpreter that has run code and is idle gets
 * two seconds to finish as at the end of a script (exit handlers, open files). Idempotent; the
 * object remains until laz_session_free. During an execution, from one of its callbacks or another
 * thread, it cancels that, and the session is closed when the execution has returned. NULL is
 * allowed. */
LAZ_EXPORT void laz_session_close(struct laz_session *session);
/* Kills everything inside, and frees the object: at once, or, from a callback of its own execution,
 * when that has returned. Does not wait: an asynchronous execution is reported as cancelled in
 * here, and the processes end while the engine is used, or in laz_engine_free; to have none left
 * when it returns, close the session first. NULL is allowed. */
LAZ_EXPORT void laz_session_free(struct laz_session *session);
/* False when its interpreter has ended, or the session was closed; true also while it starts. This
 * and the next may be called from any thread, as long as the session is not freed meanwhile; while
 * another thread uses the engine, they say what was last known. */
LAZ_EXPORT bool laz_session_is_alive(struct laz_session *session);
/* Process id of the outermost process of the box on the host; -1 when closed. */
LAZ_EXPORT int64_t laz_session_pid(const struct laz_session *session);
/* Name of the session, the same through restarts: 16 characters. Borrowed. */
LAZ_EXPORT const char *laz_session_id(const struct laz_session *session);
/* The tools its code can call: JSON list of {"name","description","parameters"}. Borrowed. */
LAZ_EXPORT const char *laz_session_tools(const struct laz_session *session);
/* As laz_engine_search_tools, among the tools that the code of this session can call, named as its
 * language names them. Borrowed until the same thread searches this session again, or the session is
 * freed. */
LAZ_EXPORT int laz_session_search_tools(struct laz_session *session, const char *words, size_t limit,
                                        const char **found, struct laz_error *err);
/* One line for people: "<session python [idle] pid=12 backend=bwrap tools=3>", with " network=listed"
 * where it has a network list; while another thread uses the engine, "<session python [in use]>".
 * Borrowed until the next call on the session. */
LAZ_EXPORT const char *laz_session_describe(const struct laz_session *session);
/* Isolation in force, JSON: {"backend":..., "enforces":[...], "mechanisms":{...}, "programs":...}; the
 * last is "listed", or "any": every program that the code sees may be executed. Borrowed until the
 * session is used again. NULL while another thread uses the engine. */
LAZ_EXPORT const char *laz_session_isolation(const struct laz_session *session);

/* Opens a session, executes the code in it and closes it. As laz_session_execute; a failed start
 * gives the verdict setup_failed. The interpreter ends as at the end of a script, in the time that
 * the clocks have left; what it writes until then belongs to the result. */
LAZ_EXPORT int laz_execute(struct laz_engine *engine, const struct laz_session_options *session,
                           const char *code, size_t len, const struct laz_execute_options *options,
                           struct laz_result **result, struct laz_error *err);

/* The same without waiting: the result comes when nothing of its session runs any more. `session`
 * (its no_wait as there), `code` and `options` are copied, `done` is called once, as in
 * laz_session_execute_async. Errors, and then `done` is not called: those of laz_session_open but for
 * LAZ_ESETUP, which is a verdict; LAZ_EINVAL. A start that fails later by one of the others is
 * reported to `done` with that error. */
LAZ_EXPORT int laz_execute_async(struct laz_engine *engine,
                                 const struct laz_session_options *session, const char *code,
                                 size_t len, const struct laz_execute_options *options,
                                 void (*done)(void *user, struct laz_result *result,
                                              const struct laz_error *err),
                                 void *user, struct laz_error *err);

/* ---- pool: sessions kept ready --------------------------------------------------------------- */

struct laz_pool;

struct laz_pool_options {
    size_t size;
    const char *runtime; /* as for a session */
    uint32_t members;    /* sessions, 1 to 100; 0: as pool.size says */
    int (*pre_execute)(void *user, const char *code, size_t len, char *reason, size_t reason_size);
    void *pre_execute_user;
    uint32_t no_wait; /* not 0: return while they start; a start that fails later is reported to a
                         caller who acquires a session */
    /* Tools of each of its sessions, as of one session; and what each can reach. */
    const struct laz_session_tool *const *tools;
    size_t n_tools;
    const struct laz_network_list *network;
    const char *identity;
    const struct laz_credential_list *credentials;
};
#define LAZ_POOL_OPTIONS_INIT LAZ_INIT(struct laz_pool_options)

/* Starts the sessions concurrently and waits until all are ready. The pool replaces sessions in the
 * background: those that die, and with pool.reset each after its use. `options` may be NULL. The
 * caller owns *pool. Errors: LAZ_EINVAL (not 1 to 100), LAZ_EREFUSED (more than pool.max_sessions
 * in the pools of the engine), and those of laz_session_open. */
LAZ_EXPORT int laz_pool_new(struct laz_engine *engine, const struct laz_pool_options *options,
                            struct laz_pool **pool, struct laz_error *err);
/* Acquires a session of the pool for the caller until laz_pool_release (or laz_session_free, after
 * which the pool starts another one); laz_pool_free ends it. Callers are served in order.
 * `wait_ms`: how long to wait at most while all are in use, in milliseconds; 0: only for one that
 * is being started; LAZ_NO_LIMIT: as long as it takes. Errors: LAZ_EBUSY "All sessions are busy",
 * or more than pool.max_waiting callers wait; LAZ_ECLOSED; LAZ_ECANCELLED; those of
 * laz_session_open when none starts. */
LAZ_EXPORT int laz_pool_acquire(struct laz_pool *pool, uint64_t wait_ms,
                                struct laz_session **session, struct laz_error *err);
/* The same without blocking: `got` is called once, by the thread that drives the engine, never from
 * inside this call, with a session, or with NULL and an error. It may use the engine. */
LAZ_EXPORT int laz_pool_acquire_async(struct laz_pool *pool, uint64_t wait_ms,
                                      void (*got)(void *user, struct laz_session *session,
                                                  const struct laz_error *err),
                                      void *user, struct laz_error *err);
/* Gives a session back. Errors: LAZ_EINVAL (it is not one that was acquired from this pool),
 * LAZ_EBUSY (it executes). */
LAZ_EXPORT int laz_pool_release(struct laz_pool *pool, struct laz_session *session,
                                struct laz_error *err);
/* Acquires, executes, releases. Errors: of laz_pool_acquire and laz_session_execute. */
LAZ_EXPORT int laz_pool_execute(struct laz_pool *pool, uint64_t wait_ms, const char *code,
                                size_t len, const struct laz_execute_options *options,
                                struct laz_result **result, struct laz_error *err);
/* `done` as in laz_session_execute_async; the session is back in the pool by then. */
LAZ_EXPORT int laz_pool_execute_async(struct laz_pool *pool, uint64_t wait_ms, const char *code,
                                      size_t len, const struct laz_execute_options *options,
                                      void (*done)(void *user, struct laz_result *result,
                                                   const struct laz_error *err),
                                      void *user, struct laz_error *err);

struct laz_pool_status {
    size_t size;    /* set by the caller: LAZ_POOL_STATUS_INIT */
    uint32_t total; /* sessions that it keeps; 0 when closed */
    uint32_t busy;  /* in use */
    uint32_t idle;  /* ready */
    uint32_t dead;  /* ended, or did not start: the next step of the engine starts replacements, or
                       a later step if a start has just failed */
    uint32_t starting;
    uint32_t waiting; /* callers */
};
#define LAZ_POOL_STATUS_INIT LAZ_INIT(struct laz_pool_status)

/* Errors: LAZ_EBUSY. */
LAZ_EXPORT int laz_pool_status(struct laz_pool *pool, struct laz_pool_status *status,
                               struct laz_error *err);
/* One line for people: "<pool python size=4 idle=3 busy=1 starting=0 dead=0 waiting=0>"; "<pool [in
 * use]>" where laz_pool_status is refused. Borrowed until the next call on the pool. */
LAZ_EXPORT const char *laz_pool_describe(struct laz_pool *pool);
/* Ends its sessions, those in use too, and waits for these; their executions are cancelled. Waiting
 * callers get LAZ_ECLOSED. Idempotent. Errors: LAZ_EBUSY. */
LAZ_EXPORT int laz_pool_close(struct laz_pool *pool, struct laz_error *err);
/* Frees the pool and its sessions, as laz_session_free: waiting callers are called back in here.
 * While the engine is in use, laz_engine_free does that later. NULL is allowed. */
LAZ_EXPORT void laz_pool_free(struct laz_pool *pool);

/* ---- group: several engines, each on a thread of its own ----------------------------------------
 *
 * An engine is one loop on one thread, which all messages of its sessions pass. On a machine with
 * many processors that is the bound; a group has several engines behind one handle and decides for
 * each call which of them takes it. Its functions may be called from any thread, several at once.
 *
 * Callbacks run on the threads of the engines, which the group has made and in which all signals are
 * blocked: `done`, handlers of output, hooks, nonblocking tools; those of different engines at the
 * same time. What they share the application has to lock. In them, a call that would wait for an
 * engine of the group is refused with LAZ_EBUSY; the asynchronous ones are allowed. */

struct laz_group;

struct laz_group_options {
    size_t size;
    uint32_t engines; /* 1 to 64; 0: one for each processor that the process may use, 16 at most */
    void (*log)(void *user, uint32_t level, const char *text); /* these three: as for an engine */
    void *log_user;
    uint32_t log_level;
};
#define LAZ_GROUP_OPTIONS_INIT LAZ_INIT(struct laz_group_options)

/* Makes all engines, or none. `settings` is copied; NULL: the defaults. For all engines together
 * hold pool.max_sessions, workers.max (though each has one thread for tools) and the share of the
 * processors that the sessions of one engine get; they write one audit log, in one order. The caller
 * owns *group. Errors: those of laz_engine_new; LAZ_EINVAL. */
LAZ_EXPORT int laz_group_new(const struct laz_settings *settings,
                             const struct laz_group_options *options, struct laz_group **group,
                             struct laz_error *err);
/* Ends everything: calls that wait are reported with LAZ_ECLOSED, executions as cancelled, each once,
 * in here; new calls, of callbacks, get LAZ_ECLOSED. It waits for runs that have begun, in which the
 * engine cancels what they begin, and for callbacks of tools as laz_engine_free does. Then no callback
 * runs any more, but those of such tools. Other threads that wait in a function of the group return
 * first; none may call one after this has returned. In any callback it has no effect, which is logged
 * as an error. NULL is allowed. */
LAZ_EXPORT void laz_group_free(struct laz_group *group);
/* The number of engines. */
LAZ_EXPORT unsigned laz_group_engines(const struct laz_group *group);
/* How many executions and runs an engine (numbers begin with 0) was given and has not ended yet.
 * Starts that have failed count as well, for a moment: 0.1 to 30 seconds, the longer the more of them
 * have failed one after the other. 0: there is no such engine. */
LAZ_EXPORT uint32_t laz_group_load(const struct laz_group *group, unsigned engine);
/* As laz_engine_add_tool, in each engine. After an error some of them may have the tool. Its
 * max_concurrent holds in each of them: so many calls of each may run at the same time. */
LAZ_EXPORT int laz_group_add_tool(struct laz_group *group, const struct laz_tool *tool,
                                  void (*call)(void *user, const char *args, size_t args_len,
                                               struct laz_reply *reply),
                                  void *user, struct laz_error *err);
/* As laz_engine_set_approver, in each engine. */
LAZ_EXPORT int laz_group_set_approver(struct laz_group *group,
                                      void (*decide)(void *user, const char *args, size_t args_len,
                                                     struct laz_reply *reply),
                                      void *user, struct laz_error *err);
/* Calls `run` on the thread of an engine, where every function of that engine may be used but
 * laz_engine_free, which has no effect, and waits for its end. `engine`: its number; negative: the least
 * loaded one. Returns the number of the engine. Sessions that last are opened in a run, and used in
 * further runs of that engine; what `run` does between such calls holds up all sessions there. Those
 * of one engine are made one after the other. Errors: LAZ_EINVAL, LAZ_EBUSY, LAZ_ECLOSED. */
LAZ_EXPORT int laz_group_run(struct laz_group *group, int engine,
                             void (*run)(void *user, struct laz_engine *engine), void *user,
                             struct laz_error *err);
/* As laz_execute, in the least loaded engine; of equal ones in each in turn. Errors: of laz_execute;
 * LAZ_EBUSY in a callback; LAZ_ECLOSED. */
LAZ_EXPORT int laz_group_execute(struct laz_group *group, const struct laz_session_options *session,
                                 const char *code, size_t len,
                                 const struct laz_execute_options *options,
                                 struct laz_result **result, struct laz_error *err);
/* The same without waiting; everything is copied, but the descriptor of `input` is borrowed until
 * `done`, which is called once, on the thread of the engine, with a result that is the callee's to
 * free, or with NULL and an error; perhaps before this returns.
 * Errors, and then it is not called: LAZ_EINVAL, LAZ_EREFUSED, LAZ_ECLOSED, LAZ_ENOMEM; all others
 * are reported to it. */
LAZ_EXPORT int laz_group_execute_async(struct laz_group *group,
                                       const struct laz_session_options *session, const char *code,
                                       size_t len, const struct laz_execute_options *options,
                                       void (*done)(void *user, struct laz_result *result,
                                                    const struct laz_error *err),
                                       void *user, struct laz_error *err);
/* As laz_engine_cancel, in each engine: what was asked for before ends. Also in a signal handler.
 * NULL is allowed. */
LAZ_EXPORT void laz_group_cancel(struct laz_group *group);

/* A pool whose sessions are spread over the engines of a group, with one queue of callers. */
struct laz_group_pool;

/* As laz_pool_new. Errors: of laz_pool_new; LAZ_EBUSY in a callback; LAZ_ECLOSED. */
LAZ_EXPORT int laz_group_pool_new(struct laz_group *group, const struct laz_pool_options *options,
                                  struct laz_group_pool **pool, struct laz_error *err);
/* As laz_pool_execute: acquires, executes, releases. Callers are served in order, whichever engine
 * has a session for them. Errors: of laz_pool_execute; LAZ_EBUSY also in a callback; LAZ_ECLOSED. */
LAZ_EXPORT int laz_group_pool_execute(struct laz_group_pool *pool, uint64_t wait_ms,
                                      const char *code, size_t len,
                                      const struct laz_execute_options *options,
                                      struct laz_result **result, struct laz_error *err);
/* The same without waiting, as laz_group_execute_async. What is known at once is returned:
 * LAZ_EINVAL, LAZ_EBUSY "All sessions are busy", LAZ_ECLOSED, LAZ_ENOMEM. */
LAZ_EXPORT int laz_group_pool_execute_async(struct laz_group_pool *pool, uint64_t wait_ms,
                                            const char *code, size_t len,
                                            const struct laz_execute_options *options,
                                            void (*done)(void *user, struct laz_result *result,
                                                         const struct laz_error *err),
                                            void *user, struct laz_error *err);
/* As laz_pool_status, of all engines. Any thread, also in callbacks. */
LAZ_EXPORT int laz_group_pool_status(struct laz_group_pool *pool, struct laz_pool_status *status,
                                     struct laz_error *err);
/* Ends and frees it: callers that wait get LAZ_ECLOSED, executions are reported as cancelled, in
 * here. In a callback it has no effect, and laz_group_free does it. NULL is allowed. */
LAZ_EXPORT void laz_group_pool_free(struct laz_group_pool *pool);

/* ---- defaults ------------------------------------------------------------------------------- */

/* JSON object of the limits of a sandboxed session: cpu (s), memory, fsize (bytes), nproc, nofile.
 * Static text. */
LAZ_EXPORT const char *laz_default_limits(void);

#ifdef __cplusplus
}
#endif
#endif
