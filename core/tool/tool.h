/* SPDX-License-Identifier: MIT */
/* tool.h - what this room offers: the tools that code may call, the check of their arguments, their
 * calls, and the hook that is asked before an execution.
 * Side: host.  Input trusted: no (arguments come from the sandbox).
 *
 * A function that takes a call or the tools of an engine is for the thread that holds the loop: the
 * loop thread, or the worker that was lent the loop (lend.c). */
#ifndef LAZ_TOOL_TOOL_H
#define LAZ_TOOL_TOOL_H

#include "base/buf.h"
#include "base/error.h"
#include "loop/driver.h"
#include "plugin/plugin.h"
#include "secret/secret.h"

#include <lazaret/lazaret.h>
#include <lazaret/tool.h>

#include <stdbool.h>
#include <stdint.h>

struct laz_hook;
struct laz_tools;

/* ---- names in a language: spelling.c ---------------------------------------------------------
 *
 * A name may have any of the characters that other systems use for tools; on the wire, in the log
 * and in messages of the host it stays as it was declared.  A language writes it in its own way:
 * `get-user` is get_user in Python, `from` is from_, and so is the tool `print` print_, which would
 * replace what code cannot do without.  Where tools are commands, they do not hide programs: `git`
 * is git_.  The rules are data of the language (NAME.language.json),
 * the words those that its runtime reserves.  Of names that would be written alike the later ones
 * get a number, in the order of their declaration, after those that are written as they are. */

struct laz_spelling {
    const char *language; /* its name */
    size_t number;        /* in struct laz_spellings, from 1; 0: not one of these */
    const struct laz_language_names *rules; /* NULL: '_' in place of all but letters and digits */
    const struct laz_strv *words;           /* beside those of `rules`; NULL: none */
    size_t commands; /* number of the language by which tools are called as commands: if it is this
                        one, no tool has the name of a program; 0: there is none */
};

enum laz_spelled { LAZ_SPELLED_TOOL, LAZ_SPELLED_PARAMETER };

/* The name as the language writes it, if no other one is written so, as a new string; `spelling`
 * NULL: as it is. NULL: out of memory. */
char *laz_spell_new(const struct laz_spelling *spelling, enum laz_spelled what, const char *name);
/* The languages whose runtimes are installed. */
struct laz_spellings {
    struct laz_spelling *items;
    size_t n;
    bool are_known;
};

/* Finds them, once; borrows the registry until laz_spellings_fini. Errors: LAZ_ENOMEM. */
int laz_spellings_find(struct laz_spellings *spellings, struct laz_registry *registry,
                       struct laz_error *err);
void laz_spellings_fini(struct laz_spellings *spellings);
/* That of a language; NULL: it is not among them. */
const struct laz_spelling *laz_spelling_of(const struct laz_spellings *spellings,
                                           const char *language);

/* ---- declarations: tools.c, tool_arguments.c, tool_stubs.c ---------------------------------- */

#define LAZ_TOOL_MAX_NAME       128 /* bytes of the name of a tool or parameter */
#define LAZ_TOOL_MAX_PARAMETERS 100

enum laz_type {
    LAZ_TYPE_ANY,
    LAZ_TYPE_STRING,
    LAZ_TYPE_NUMBER,
    LAZ_TYPE_INTEGER,
    LAZ_TYPE_BOOLEAN,
    LAZ_TYPE_ARRAY,
    LAZ_TYPE_OBJECT,
};

struct laz_tool_parameter {
    char *name;
    enum laz_type type;
    uint32_t accepts; /* forms of values; see struct laz_type_word */
    char *type_name;  /* as declared, for messages; "" if no type was declared */
    char *description;
    char *default_value; /* JSON, or NULL */
    char *enumeration;   /* JSON list, or NULL */
    char *format;        /* "path", or NULL */
    bool required;
    bool is_path; /* of the format "path": approvals compare it as one */
};

/* The calls of one tool: how many run, and those that wait because max_concurrent run. */
struct laz_tool_queue {
    unsigned running;
    struct laz_call *first, *last;
};

/* Which calls of a tool need a yes of the host? */
enum laz_approval {
    LAZ_APPROVAL_NEVER,
    LAZ_APPROVAL_SOME, /* as their arguments are */
    LAZ_APPROVAL_ALWAYS,
};

/* A declared tool. Either a provider has it, or the application (laz_tools_add). */
struct laz_tool_entry {
    char *name, *description;
    char *returns;           /* a type as people read it; "": it is not known */
    struct laz_strv spelled; /* in each of the languages that were asked for */
    struct laz_tool_parameter *parameters;
    size_t n_parameters;
    uint32_t timeout_ms, max_concurrent; /* 0: no limit */
    enum laz_approval approval; /* as declared, and by rules; laz_approval_is_needed decides */
    bool in_loop;               /* its function does not block, and is called in the loop thread */
    bool native;                /* it takes what only the language of the code reads */
    const struct laz_provider *provider; /* NULL: the application has it */
    size_t index;                        /* in the provider's list */
    void (*call)(void *user, const char *args, size_t args_len, struct laz_reply *reply);
    void *user;
    struct laz_tool_queue queue; /* last: a search copies what is before it */
};

/* The tools of an engine, or those that one session has beside them. */
struct laz_tool_set {
    struct laz_tool_entry *entries;
    size_t n;
    const struct laz_tool_set
        *beside;      /* tools that no name of this one may collide with; or NULL */
    unsigned holders; /* of a set of a session: it, and the calls of its tools */
};

/* Adds a tool (copied) after checking names, duplicates and parameters (types, defaults and
 * enumerations that fit). It gets a spelling in each language of `spellings`; NULL: no language. On
 * failure the set is unchanged. Errors: LAZ_EINVAL with a sentence that names tool and parameter,
 * LAZ_ENOMEM. */
int laz_tool_set_add(struct laz_tool_set *set, const struct laz_tool *tool,
                     const struct laz_spellings *spellings, const struct laz_provider *provider,
                     size_t index, struct laz_error *err);
void laz_tool_set_fini(struct laz_tool_set *set);
/* The set of a session (laz_tools_of_session) is freed with its last holder; no effect on NULL, and
 * on the set of an engine. Thread that holds the loop. */
void laz_tool_set_hold(struct laz_tool_set *set);
void laz_tool_set_release(struct laz_tool_set *set);
/* The tool with this name (`len` bytes), or NULL. Borrowed until the set changes. */
const struct laz_tool_entry *laz_tool_set_find(const struct laz_tool_set *set, const char *name,
                                               size_t len);
/* ^[A-Za-z0-9_.-]{1,128}$ */
bool laz_tool_name_is_valid(const char *name, size_t len);
/* How the tool is written in a language of those that it was added with; NULL: in none of them.
 * Borrowed. */
const char *laz_tool_spelled(const struct laz_tool_entry *entry,
                             const struct laz_spelling *spelling);
/* The same as a command, for programs that code of the language starts. */
const char *laz_tool_command(const struct laz_tool_entry *entry,
                             const struct laz_spelling *spelling);
/* Adds how each tool of the set is written in any language; NULL: as it is declared. */
void laz_tool_set_spell(const struct laz_tool_set *set, const struct laz_spelling *spelling,
                        struct laz_strv *spelled);
/* Adds how its parameters are written, in their order. */
void laz_tool_spell_parameters(const struct laz_tool_entry *entry,
                               const struct laz_spelling *spelling, struct laz_strv *spelled);
/* Adds a sentence for each tool that has another name in a language, where that does not follow
 * from the characters: "the tool print is called print_ in lua, python". */
void laz_tools_respelled(const struct laz_tools *tools, struct laz_strv *lines);

/* Checks a scanned JSON object (or "null": no arguments) of `len` bytes against the declaration,
 * and appends to `checked` the object that the provider gets: in the declared order, with defaults,
 * and numbers of `integer` parameters without a point. A null for an optional parameter is the same
 * as omitting it. Takes time linear in `len`. LAZ_ENOMEM, or LAZ_EINVAL with a text for the code
 * that called: "Unexpected arguments for tool 'add': 'evil'", "Tool 'add': argument 'a' must be
 * numeric, got string", "Tool 'add': argument 'b' is missing". */
int laz_tool_check_arguments(const struct laz_tool_entry *tool, const char *args, size_t len,
                             struct laz_buf *checked, struct laz_error *err);

/* Appends the tools, and behind them those of a session (`own`, may be NULL), as a JSON list, for
 * the message `init` and laz_session_tools, with their spelling in a language (NULL: in none) where
 * it differs from the name. */
void laz_tool_set_json(const struct laz_tool_set *set, const struct laz_tool_set *own,
                       const struct laz_spelling *spelling, struct laz_buf *json);
/* Finds tools by words of their names, descriptions and parameters (tool_search.c), among those of
 * `set` and `own` (may be NULL): the best ones first, `limit` (0: 10) at most, as a set whose
 * entries are borrowed from both; free(found->entries) frees it. Errors: LAZ_ENOMEM. */
int laz_tool_set_search(const struct laz_tool_set *set, const struct laz_tool_set *own,
                        const char *words, size_t limit, struct laz_tool_set *found,
                        struct laz_error *err);
/* The same as the text of laz_tool_set_json, in place of what `json` has. Errors: LAZ_ENOMEM. */
int laz_tool_set_search_json(const struct laz_tool_set *set, const struct laz_tool_set *own,
                             const struct laz_spelling *spelling, const char *words, size_t limit,
                             struct laz_buf *json, struct laz_error *err);
/* Appends the signature of a tool in a spelling that stands for all languages:
 * "get_user(id: int, full: bool = false) -> {name: str}". */
void laz_tool_signature(const struct laz_tool_entry *tool, struct laz_buf *text);
/* Appends the tools as text for people (`format` "text"), as "json", or as stubs to show to a
 * model, in `language`, which has the name of the format, with names by its `spelling`. LAZ_EINVAL:
 * `language` is NULL or has no stubs, and the format is another one. LAZ_ENOMEM. */
int laz_tool_set_format(const struct laz_tool_set *set, const char *format,
                        const struct laz_language *language, const struct laz_spelling *spelling,
                        struct laz_buf *text, struct laz_error *err);

/* ---- the tools of an engine: calls.c, providers.c ------------------------------------------- */

/* What they are made for: that code calls them; that they are listed, for which only providers that
 * ask somebody for their tools need their secrets; that the settings are checked. */
enum laz_tools_for { LAZ_TOOLS_USED, LAZ_TOOLS_LISTED, LAZ_TOOLS_CHECKED };

struct laz_tools {
    struct laz_driver *driver;
    struct laz_spawner *spawner;
    struct laz_lend *lend;
    struct laz_tool_set set;
    struct laz_approval_rule *rules; /* [[approve]] */
    size_t n_rules;
    bool are_all;   /* neither the application nor its sessions will have tools of their own */
    bool are_fewer; /* a provider has none now, or one was refused */
    uint64_t approval_timeout_ms;
    struct laz_tool_set approver; /* the question as a tool; without one, or its function: nobody */
    struct laz_call *calls;       /* not answered, or their function has not returned */
    struct laz_registry *registry; /* for `spellings`, which are found with the first tool */
    struct laz_spellings spellings;
    struct laz_strv env;             /* environment of the commands that providers run */
    struct laz_secrets secrets;      /* [secrets] */
    enum laz_tools_for use;          /* set before laz_tools_init */
    struct laz_found *found;         /* searches of other threads */
    struct laz_provider **providers; /* one for each [[tools]] table */
    size_t n_providers;
    struct laz_visit *visits;   /* of sessions at providers that want to hear of their end */
    struct laz_child *children; /* programs that run for providers, and those that are ending */
};

/* Makes a provider for each [[tools]] table of the settings, possibly none, and adds their tools.
 * Borrows driver, spawner and registry until laz_tools_fini; the settings for the call only. A
 * driver that has only its log is enough to list the tools. After a failure, too, the caller calls
 * laz_tools_end and laz_tools_fini. Errors: LAZ_ECONFIG "FILE:LINE:COL: ..." for a mistake in the
 * file, LAZ_EPLUGIN, LAZ_ENOMEM. */
int laz_tools_init(struct laz_tools *tools, struct laz_driver *driver, struct laz_spawner *spawner,
                   struct laz_registry *registry, const struct laz_settings *settings,
                   struct laz_error *err);
/* Has the providers that must ask for their tools ask, all at once, and waits until each knows, or
 * laz_driver_cancel is called; then adds their tools. No effect once that is done. The caller has
 * entered the driver. Errors: LAZ_ESETUP with the text of a provider, after its place in the
 * configuration: the next call asks again; LAZ_ECANCELLED, LAZ_ENOMEM. */
int laz_tools_prepare(struct laz_tools *tools, struct laz_error *err);
bool laz_tools_are_prepared(const struct laz_tools *tools); /* any thread */
/* Appends what a user has to know of the providers before they are used, a line for each that has
 * something to say. */
void laz_tools_notices(const struct laz_tools *tools, struct laz_strv *lines);
/* A session has ended and calls nothing any more: tells the providers that it has called, each
 * once, now or when its last call has ended. Thread that holds the loop. */
void laz_tools_session_closed(struct laz_tools *tools, const char *session);
/* Frees the providers. Before that it waits up to three seconds for the answers to abandoned calls,
 * and logs the tools that still owe one. The workers must have ended. */
void laz_tools_end(struct laz_tools *tools);
void laz_tools_fini(struct laz_tools *tools);
/* Has the spellings found, if they were not yet. Errors: LAZ_ENOMEM. */
int laz_tools_spell(struct laz_tools *tools, struct laz_error *err);
/* Registers a tool of the application in the engine's set, or in one of a session; see
 * laz_engine_add_tool. Copies the declaration; `call` runs in a worker thread. Errors: as
 * laz_tool_set_add. */
int laz_tools_add(struct laz_tools *tools, struct laz_tool_set *set, const struct laz_tool *tool,
                  void (*call)(void *user, const char *args, size_t args_len,
                               struct laz_reply *reply),
                  void *user, struct laz_error *err);
/* Makes a set of `n` tools for one session, which holds it; NULL in *set without any. Errors: as
 * laz_tool_set_add; LAZ_EINVAL. */
int laz_tools_of_session(struct laz_tools *tools, const struct laz_session_tool *const *given,
                         size_t n, struct laz_tool_set **set, struct laz_error *err);

/* ---- searches of any thread: found.c --------------------------------------------------------- */

/* Any thread: the room for a text that the calling thread asks an object for, empty. It is that
 * thread's until it asks the same object again, or the object goes. NULL: out of memory. */
struct laz_buf *laz_found_room(struct laz_found *found, const void *owner);
/* The object goes (NULL: all of them). */
void laz_found_forget(struct laz_found *found, const void *owner);
/* Around reading the tools of an engine and how they are spelled, on any thread. */
void laz_found_read(struct laz_found *found);
void laz_found_leave(struct laz_found *found);

/* ---- one call: calls.c ---------------------------------------------------------------------- */

/* Who started a call, and where its answer goes. `answered` is called once, in the thread that
 * holds the loop; texts are borrowed for the call. `json` is NULL when the call failed: `error`
 * says why. */
struct laz_call_owner {
    void *user;
    int64_t id; /* of the message that asks for the call */
    bool has_id;
    bool by_command; /* of a channel of its own */
    uint64_t number; /* of the call, as the owner counts them */
    size_t size;     /* bytes of its arguments, as the owner counts them */
    void (*answered)(void *user, struct laz_call *call, const char *json, size_t len,
                     const char *error);
    /* Takes a file that the tool has made, as laz_artifacts_give; NULL: none is wanted. */
    int (*give)(void *user, const char *tool, const char *suffix, const void *data, size_t len,
                const char **name, struct laz_error *err);
    uint64_t started_us;      /* laz_clock_us of laz_call_start, which sets it */
    bool is_late;             /* it was answered because its time was over; set here */
    struct laz_span *span;    /* the owner's; NULL: none */
    struct laz_caller caller; /* told to the tool; its session is copied; its tool, which lives as
                               * long as the call, is set here unless the owner has */
};

/* Starts a call of tool number `tool` of a set: of that of the engine, or of one of a session.
 * Takes `args`, which were checked, and copies `owner`. The answer comes later, through the loop.
 * NULL: out of memory, `args` was not taken. */
struct laz_call *laz_call_start(struct laz_tools *tools, struct laz_tool_set *set, size_t tool,
                                struct laz_buf *args, const struct laz_call_owner *owner);
const struct laz_call_owner *laz_call_owner(const struct laz_call *call);
/* Cancels a call: its provider is notified, its owner gets no answer. The call is freed when it is
 * answered and its function has returned; the owner must not use it any more. */
void laz_call_abandon(struct laz_call *call);

/* ---- approvals: approval.c ------------------------------------------------------------------- */

/* Checks that the rules mean what there is: that each name of a tool, and each parameter in `when`,
 * is one that a tool of the engine has, or one of a session (`own`, may be NULL). A name that no
 * tool has is an error if another name is close to it, or if there can be no other tools
 * (`are_all`); otherwise, and for a pattern, a warning in the log, once. Of tools that are not
 * known yet (those of providers that were not asked) nothing is said. Errors: LAZ_ECONFIG
 * "FILE:LINE:COL: ...", or collected in `values`; LAZ_ENOMEM. */
int laz_approvals_check(struct laz_tools *tools, const struct laz_tool_set *own,
                        const struct laz_settings_values *values, struct laz_error *err);
/* Does this call need a yes of the host? `args`: as laz_tool_check_arguments made them. */
bool laz_approval_is_needed(const struct laz_tools *tools, const struct laz_tool_entry *entry,
                            const char *args, size_t len);
/* Who decides; see laz_engine_set_approver. LAZ_ENOMEM. */
int laz_tools_set_approver(struct laz_tools *tools,
                           void (*decide)(void *user, const char *args, size_t args_len,
                                          struct laz_reply *reply),
                           void *user, struct laz_error *err);
bool laz_tools_have_approver(const struct laz_tools *tools);
/* Asks whether the tool may be called so: the answer `true` to this call is a yes, everything else
 * a no. As laz_call_start, but `args` are copied. NULL: out of memory. */
struct laz_call *laz_approval_ask(struct laz_tools *tools, const struct laz_tool_entry *entry,
                                  const char *args, size_t len, const struct laz_call_owner *owner);

/* ---- lending the loop to calls: lend.c ------------------------------------------------------ */

/* Loop thread: between begin and end, the loop may be lent to calls. `serve` is called by a worker
 * that holds the loop: it waits up to `ms` milliseconds for messages of the box and handles them;
 * false: the loop thread is needed. End hands a call that was offered to a worker without the loop.
 */
void laz_lend_begin(struct laz_lend *lend, bool (*serve)(void *user, uint64_t ms), void *user);
void laz_lend_end(struct laz_lend *lend);
/* Loop thread: lends the loop to the call that was offered, and waits until the loop is back.
 * False: no call was offered. */
bool laz_lend_serve(struct laz_lend *lend);

/* ---- session.pre_execute_hook: hook.c ------------------------------------------------------- */

/* Checks the program of the settings' hook, if there is one: as it would be run. LAZ_ECONFIG. */
int laz_hook_check(const struct laz_settings_values *values, struct laz_error *err);
/* Has a worker run `command` with `code` (copied) on standard input. Borrows driver, spawner and
 * command until the hook is freed. `answered` is called once, in the loop thread, when
 * laz_hook_end may be called. Errors: LAZ_ENOMEM, LAZ_EOS (no thread); the command was not run. */
int laz_hook_begin(struct laz_driver *driver, struct laz_spawner *spawner,
                   const struct laz_strv *command, const char *code, size_t len,
                   void (*answered)(void *user), void *user, struct laz_hook **hook,
                   struct laz_error *err);
/* After it was answered: 0 allows; LAZ_EREFUSED: it refused the code, `detail` is its reason or "";
 * any other error: it could not be asked, `detail` says why. Frees the hook. Loop thread. */
int laz_hook_end(struct laz_hook *hook, char *detail, size_t detail_size);
/* The answer is not wanted any more. Frees the hook: now, or when the answer comes. Loop thread. */
void laz_hook_forget(struct laz_hook *hook);

#endif
