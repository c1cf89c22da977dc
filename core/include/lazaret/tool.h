/* SPDX-License-Identifier: MIT */
/* lazaret/tool.h - tools: functions of the host that code in the box may call.
 *
 * A *provider* is a plugin that offers tools; the configuration makes instances of it, one for each
 * [[tools]] table. It runs in the host process, outside the box, with the host's rights: treat
 * arguments as untrusted input, because untrusted code chose them. Before a call the host has
 * checked them: the tool exists, every name is a declared parameter, required ones are there,
 * defaults are filled in, types and enumerations fit. */
#ifndef LAZARET_TOOL_H
#define LAZARET_TOOL_H

#include <lazaret/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A tool as it is declared. Strings are borrowed until the provider is destroyed. */
struct laz_tool {
    size_t size;
    const char *name;        /* ^[A-Za-z0-9_.-]{1,128}$ */
    const char *description; /* for the model; may be "" */
    /* JSON list, in the order of positional arguments; NULL: no parameters.
     *   [{"name":"id","type":"integer","description":"...","required":true,
     *     "default":1,"enum":[1,2,3]}, ...]
     * name: 1 to 128 bytes of UTF-8 without control characters; each language has a spelling.
     * type: string number integer boolean array object, or absent for anything; also the words
     * numeric character logical list data.frame. required is true when absent, unless there is a
     * default. "format":"path" says that its texts are paths: [[approve]] compares them as such. */
    const char *parameters;
    uint32_t timeout_ms;     /* 0: none but the session's deadline */
    uint32_t max_concurrent; /* 0: no limit */
    uint32_t approve;        /* 1: each call waits for a yes of the host: laz_engine_set_approver */
    /* Of the application; 1: its function returns at once, with an answer or by laz_reply_keep. It
     * is called on the thread that drives the engine, as an output handler is: nothing else of the
     * engine goes on meanwhile, and no change of threads delays the call. */
    uint32_t nonblocking;
    /* What it returns, for who reads about it: a JSON Schema; NULL: nothing is said. No value is
     * checked by it. */
    const char *returns LAZ_LATER;
    /* Not 0: it is for code of its own language: arguments without a type of JSON come in a form that
     * only this language reads, where it has one, as those of a value ("native"). */
    uint32_t native LAZ_LATER;
};
#define LAZ_TOOL_INIT LAZ_INIT(struct laz_tool)

/* The trace that a piece of work belongs to: the two headers of W3C Trace Context. */
struct laz_trace {
    size_t size;
    const char *parent; /* traceparent: "00-4bf9...-00f0...-01" */
    const char *state;  /* tracestate; NULL: none */
};
#define LAZ_TRACE_INIT LAZ_INIT(struct laz_trace)

/* Who called a tool. Borrowed, with its strings, until the call is answered, or (for a tool of the
 * application) until its reply is freed. */
struct laz_caller {
    size_t size;
    const char *tool;     /* its name, as declared */
    const char *session;  /* laz_session_id */
    uint64_t execution;   /* which one of the session, from 1 */
    void *session_user;   /* `user` of struct laz_session_options: for whom the session is */
    void *execution_user; /* `user` of struct laz_execute_options */
    const struct laz_trace *trace; /* of the execution; NULL: none */
};

struct laz_call; /* one call that has not been answered; owned by the host */

/* A command that the host is to run for a provider, never through a shell. */
struct laz_command {
    size_t size;
    const char *const *argv; /* argv[0]: an absolute path; ends with NULL */
    const char *input;       /* for standard input, then end of file */
    size_t input_len;
    size_t max_output; /* bytes of each stream, at most; more ends the command (LAZ_ETOOBIG); 0: 64
                          MiB */
    /* Since ABI 1.2: "NAME=VALUE", beside and before those that `run` gives; ends with NULL. NULL:
     * none. */
    const char *const *env LAZ_LATER;
};

/* The outcome of a command. The two texts are valid until `call` returns. */
struct laz_command_result {
    size_t size;
    int32_t exit_status; /* 0 to 255, or -1: ended by a signal */
    int32_t signal;      /* the signal, or 0 */
    const char *output;
    size_t output_len;
    const char *errors;
    size_t errors_len;
};

struct laz_watch; /* a descriptor or timer watched by the host's loop */
struct laz_child; /* a program that runs beside the calls; owned by the host until child_end */

/* A program that runs for a provider for longer than a call, a server for example. It is the leader
 * of a session and process group of its own, which ends with the engine. */
struct laz_child_program {
    size_t size;
    const char *const *argv; /* argv[0]: an absolute path; ends with NULL */
    const char *const *env;  /* "NAME=VALUE", beside and before those that `run` gives; ends with
                                NULL. NULL: none */
    /* Its first process has ended, with this status (-1: by a signal) or by this signal (0: none);
     * others may still hold its pipes. Once, on the loop thread, and not after child_end. */
    void (*ended)(void *user, int32_t exit_status, int32_t signal);
    void *user;
};

/* The host's ends of its standard streams, which do not block. They belong to the provider, who
 * closes them. `input` is a socket: send(2) with MSG_NOSIGNAL raises no signal. */
struct laz_child_pipes {
    size_t size;
    int32_t input, output, errors;
};

/* What the host does for a provider. */
struct laz_tool_services {
    size_t size;
    const struct laz_json_api *json;
    void *host; /* first argument of the functions below */
    void (*log)(void *host, uint32_t level, const char *text); /* any thread */

    /* Answers a call, once: with a JSON text, or with an error for the code that called. Any
     * thread, also before `call` has returned. The call must not be used afterwards. */
    void (*answer)(void *host, struct laz_call *call, const char *json, size_t len);
    void (*answer_error)(void *host, struct laz_call *call, const char *message);

    /* Runs a command and waits for it: worker threads only (LAZ_TOOL_BLOCKING). Its environment is
     * reduced to PATH, HOME, LANG, TZ and the like, without lazaret's variables. Cancelling the
     * call kills it with its process group. 0, or: LAZ_EOS (cannot be started), LAZ_EINVAL (may not
     * be run), LAZ_ETIMEOUT (cancelled), LAZ_ETOOBIG. */
    int (*run)(void *host, struct laz_call *call, const struct laz_command *command,
               struct laz_command_result *result, struct laz_error *err);

    /* For evented providers, on the loop thread: calls back when the descriptor is readable (1),
     * writable (2) or both (3), or once when the time has passed. watch_stop frees the watch. */
    struct laz_watch *(*watch_fd)(void *host, int fd, uint32_t events,
                                  void (*ready)(void *user, uint32_t events), void *user);
    struct laz_watch *(*watch_timer)(void *host, uint64_t ms, void (*due)(void *user), void *user);
    void (*watch_stop)(struct laz_watch *watch);

    /* Checks whether `run` would run this program. 0, or LAZ_E*: it does not exist, or other users
     * could change it; the text says what to do. For `create`, to report it early; `run` checks
     * again. Any thread. */
    int (*check_program)(void *host, const char *path, struct laz_error *err);

    /* In `create`: something is wrong in item number `item` (from 0) of an option that is a list, as
     * `err` says; `key`: which of the keys of a table, or NULL. Since ABI 1.1 also in an option that
     * is not a list. The host puts the place in the configuration before the text, as it does where
     * `create` itself fails with a text that begins with an option and a colon. Returns the code of
     * the error, which `create` has to return; or 0: the host has taken the error (*err is empty
     * again) and wants to hear of others, so leave this item out and go on. */
    int (*mistake)(void *host, const char *option, size_t item, const char *key,
                   struct laz_error *err);

    /* Who made a call. Any thread, until it is answered. */
    const struct laz_caller *(*caller)(void *host, const struct laz_call *call);

    /* For providers with `prepare`: `list` can be called. On the loop thread, also in `prepare`. */
    void (*prepared)(void *host);

    /* For evented providers, on the loop thread: starts a program, after the checks of `run`; not
     * POSIX: LAZ_EREFUSED. The provider watches *pipes with watch_fd. child_end gives the child
     * back, which the provider must not use any more; close `input` before. The host waits `ms` for
     * its end, sends SIGTERM to its process group, waits as long again, and kills what is left of
     * the group. It does so while the engine goes on; the end of the engine waits for it. */
    int (*child_start)(void *host, const struct laz_child_program *program,
                       struct laz_child_pipes *pipes, struct laz_child **child,
                       struct laz_error *err);
    void (*child_end)(struct laz_child *child, uint64_t ms);

    /* On the loop thread, before the call is answered: makes a file, a picture for example, one of
     * the artifacts of the execution that called (laz_result_artifact). *name, valid until the call
     * is answered, is that of the tool, a number and `suffix` (".png"). 0, or: LAZ_ETOOBIG (more
     * than artifacts.max_files or max_size allow), LAZ_EINVAL (no name of an artifact),
     * LAZ_ECANCELLED (nobody waits for the call), LAZ_ENOMEM. */
    int (*give_artifact)(void *host, struct laz_call *call, const char *suffix, const void *data,
                         size_t len, const char **name, struct laz_error *err);
};

#define LAZ_TOOL_BLOCKING                                                                          \
    1u /* `call` may block: the host calls it on a worker thread, several at                       \
          once. Without this flag it is called on the loop thread and must not                     \
          block. */

struct laz_tool_ops {
    size_t size;
    uint32_t flags;
    uint32_t reserved;
    /* An instance with the options of its [[tools]] table, checked, defaults filled in, as a JSON
     * object. `services` lives as long as the instance. */
    int (*create)(const struct laz_tool_services *services, const char *options, size_t options_len,
                  void **state, struct laz_error *err);
    /* Its tools: *tools points to *n of them, borrowed until destroy. */
    int (*list)(void *state, const struct laz_tool **tools, size_t *n, struct laz_error *err);
    /* Starts tool number `tool` of the list with the arguments of the JSON object `args` (borrowed
     * until `call` returns). The provider answers by services->answer or answer_error, now or
     * later. If it returns LAZ_E* it must not answer: the text of `err` becomes the error. */
    int (*call)(void *state, size_t tool, struct laz_call *call, const char *args, size_t args_len,
                struct laz_error *err);
    /* The call was cancelled (timeout, end of the session). The provider must still answer it soon;
     * the answer is discarded. Called on the loop thread. May be NULL. */
    void (*cancel)(void *state, struct laz_call *call);
    /* Frees the instance. No call is open any more. */
    void (*destroy)(void *state);
    /* For providers that have to ask somebody which tools there are. May be NULL; else `list` is
     * called once, when the tools are needed: before the first session is opened, or when they are
     * asked for. `prepare` begins to ask, and calls services->prepared when `list` can tell, now or
     * later, also of a failure: the error of `list` becomes that of the session, and the next one
     * begins anew. Of these tools each that cannot be declared is left out, and named in the log.
     * On the loop thread. */
    int (*prepare)(void *state, struct laz_error *err);
    /* What a user has to know of the instance, on one line, before it is used; borrowed until
     * destroy. `lazaret plan`, `lazaret config --check` and `lazaret tools` show it. May be NULL. */
    const char *(*notice)(void *state);
    /* Since ABI 1.1: a session whose code has called a tool of this instance has ended: it was closed
     * or freed, not only restarted. Once for each such session, on the loop thread, after its last
     * call was answered and `call` has returned; nothing of the session comes afterwards, so what is
     * kept for it can be freed. Before `destroy`, unless a call of it is never answered. `who` is
     * borrowed for the call, and has the session and its user; tool is NULL, execution 0. May be
     * NULL. */
    void (*session_closed)(void *state, const struct laz_caller *who) LAZ_LATER;
};

#ifdef __cplusplus
}
#endif
#endif
