/* SPDX-License-Identifier: MIT */
/* tool_private.h - what the files of core/tool share: types of parameters, providers, calls, loans.
 * Private to this directory. */
#ifndef LAZ_TOOL_TOOL_PRIVATE_H
#define LAZ_TOOL_TOOL_PRIVATE_H

#include "base/json_write.h"
#include "tool/tool.h"

/* ---- tool_arguments.c: types and the values that they accept -------------------------------- */

/* A word for a type, the JSON Schema type that it stands for, and the forms of values that it
 * accepts (bits, private to tool_arguments.c). */
struct laz_type_word {
    const char *word;
    enum laz_type type;
    uint32_t accepts;
};

const struct laz_type_word *laz_type_word_find(const char *word); /* NULL: no such word */
/* Appends all words, for messages: "string, number, ...". */
void laz_type_words(struct laz_buf *text);
/* True if the parameter accepts exactly the values of its JSON Schema type; `list` and `data.frame`
 * accept more. */
bool laz_type_is_plain(const struct laz_tool_parameter *parameter);
/* Of a tool that takes what only the language of the code reads: a structure may be that. */
void laz_type_take_native(struct laz_tool_parameter *parameter);
/* The name of the type in JSON Schema; "" for LAZ_TYPE_ANY. Static text. */
const char *laz_type_name(enum laz_type type);

/* The digits of an integer in the form $int: a new string of `n` bytes. NULL: it is none, or out of
 * memory. */
char *laz_tool_integer_text(const char *raw, size_t len, size_t *n);

/* Checks one raw JSON value (`len` bytes) against type and enumeration, and writes it on one line,
 * as the member `key` or (NULL) by itself. `what` names the value in messages ("argument", "the
 * default of"). LAZ_EINVAL, LAZ_ENOMEM. */
int laz_tool_check_value(const char *tool, const struct laz_tool_parameter *parameter,
                         const char *what, const char *raw, size_t len,
                         struct laz_json_write *write, const char *key, struct laz_error *err);

/* ---- tool_returns.c: what tools return ------------------------------------------------------- */

/* Appends the type that a JSON Schema describes, in few words: "{name: str, tags?: [str], ...}".
 * LAZ_EINVAL: it is none; the text begins with where: ".properties.a: 'type' is ...". LAZ_ENOMEM.
 */
int laz_tool_returns_type(const char *schema, struct laz_buf *type, struct laz_error *err);
/* The word in such a type for one of JSON Schema; "any" for others. Static text. */
const char *laz_type_neutral(const char *schema);

/* ---- providers.c ---------------------------------------------------------------------------- */

/* Are its tools in the set? Those of a provider with `prepare` are asked for when they are needed.
 */
enum laz_provider_list {
    LAZ_PROVIDER_LATER,
    LAZ_PROVIDER_ASKED,    /* `prepare` was called */
    LAZ_PROVIDER_PREPARED, /* `list` can be called */
    LAZ_PROVIDER_LISTED,
};

/* An instance of a plugin; `host` of its services. Its address never changes. */
struct laz_provider {
    struct laz_tools *tools;
    const char *name; /* of the plugin */
    const struct laz_tool_ops *ops;
    void *state;
    bool is_created;
    const struct laz_settings_values *values; /* while it is created: for mistakes */
    const struct laz_toml_node *table;        /* likewise: its [[tools]] table */
    bool is_located;                          /* likewise: its error has its place already */
    bool is_blocking;                     /* LAZ_TOOL_BLOCKING: `call` runs in a worker thread */
    _Atomic(enum laz_provider_list) list; /* read by any thread */
    char *position; /* of its table, of one that asks for its tools: "FILE:LINE:COL" */
    struct laz_tool_services services;
};

/* Makes the providers and adds their tools; as laz_tools_init. */
int laz_providers_load(struct laz_tools *tools, struct laz_registry *registry,
                       const struct laz_settings *settings, struct laz_error *err);
/* Frees them. No call may be open. */
void laz_providers_free(struct laz_tools *tools);

/* ---- providers_secrets.c --------------------------------------------------------------------- */

/* Makes `secrets`; a command that prints one is run with the environment of commands. */
int laz_tools_secrets(struct laz_tools *tools, const struct laz_settings_values *values,
                      struct laz_error *err);
/* Are its secrets read? Else its options keep {secret.NAME}. */
bool laz_provider_reads(const struct laz_provider *provider);
/* Checks each {secret.NAME} of a [[tools]] table, and reads those that are needed. *n: how many
 * there are. LAZ_ECONFIG with the place. */
int laz_provider_secrets(struct laz_provider *provider, const struct laz_option *options,
                         const struct laz_toml_node *table, size_t *n, struct laz_error *err);
/* Its options with the values of `expected` secrets. */
int laz_provider_fill(struct laz_provider *provider, const char *json, size_t len, size_t expected,
                      struct laz_secret *filled, struct laz_error *err);
/* Overwrites values of secrets in a text; NULL is allowed. Any thread. */
void laz_tools_hide(struct laz_tools *tools, char *text);

/* ---- spelling.c ----------------------------------------------------------------------------- */

/* Gives a tool that is about to be added to the set its spelling in each language. LAZ_ENOMEM. */
int laz_tool_spell(struct laz_tool_entry *entry, const struct laz_tool_set *set,
                   const struct laz_spellings *spellings, struct laz_error *err);
/* Does the spelling of a parameter, or of a tool in a language that stores none, follow from the
 * characters of the name, so that a reader can tell the name? */
bool laz_spelled_is_plain(const struct laz_spelling *spelling, enum laz_spelled what,
                          const char *name, const char *spelled);

/* ---- visits.c ------------------------------------------------------------------------------- */

/* A session that has called a provider which wants to hear of the session's end. */
struct laz_visit {
    struct laz_visit *next;
    const struct laz_provider *provider;
    char session[32]; /* its id */
    void *session_user;
    unsigned open; /* calls that hold it */
    bool was_used; /* a call was handed to the provider */
    bool is_over;  /* the session has ended */
};

/* Thread that holds the loop, for all of these: a call begins, and holds the visit until
 * laz_visit_end (no effect on NULL), which tells the provider of an end that came meanwhile. NULL
 * in *visit: the provider does not want to hear. False: out of memory. */
bool laz_visit_begin(const struct laz_provider *provider, const struct laz_caller *caller,
                     struct laz_visit **visit);
void laz_visit_end(struct laz_visit *visit);
/* The providers are gone. */
void laz_visits_free(struct laz_tools *tools);

/* ---- child.c -------------------------------------------------------------------------------- */

/* The variables of a program (NULL: none), then those of all commands that it has not set. */
void laz_child_environment(const struct laz_tools *tools, const char *const *own,
                           struct laz_strv *env);
/* Overwrites the values of such a list, and frees it. */
void laz_child_forget(struct laz_strv *env);
/* Functions of struct laz_tool_services, described there. */
int laz_child_start(void *host, const struct laz_child_program *program,
                    struct laz_child_pipes *pipes, struct laz_child **child, struct laz_error *err);
void laz_child_end(struct laz_child *child, uint64_t ms);
/* Waits for the end of all, in steps: each is killed at last. */
void laz_children_end(struct laz_tools *tools);

/* ---- approval.c ----------------------------------------------------------------------------- */

/* Takes the [[approve]] tables and session.approval_timeout. After a failure, too,
 * laz_approvals_fini has to be called. LAZ_ENOMEM. */
int laz_approvals_init(struct laz_tools *tools, const struct laz_settings *settings,
                       struct laz_error *err);
void laz_approvals_fini(struct laz_tools *tools);
/* Notes what the rules say of a tool that was added, for those who are shown it, and which rules
 * have met a tool, for approval_check.c. */
void laz_approval_mark(struct laz_tools *tools, struct laz_tool_entry *entry);

/* A pattern of `when`. */
struct laz_approval_when {
    char *parameter, *pattern;
    char *position; /* "FILE:LINE:COL" */
    bool is_met;    /* a tool that the rule names has had the parameter */
    bool is_text;   /* as a string that is not a path */
    bool is_told;   /* its warning is in the log */
};

/* One [[approve]] table. */
struct laz_approval_rule {
    char *tool; /* a pattern */
    char *position;
    struct laz_approval_when *when;
    size_t n_when;
    bool is_met, is_told; /* as above, of the rule itself */
};

/* ---- calls.c -------------------------------------------------------------------------------- */

/* Has a worker run the call. False: no thread could be started; the call is answered with that
 * error. */
bool laz_call_hand_over(struct laz_call *call);
/* Any thread: has the loop deliver the answer that the call holds. */
void laz_call_post_answer(struct laz_call *call);
/* Any thread: functions of struct laz_tool_services, described there. */
void laz_call_answer(void *host, struct laz_call *call, const char *json, size_t len);
void laz_call_answer_error(void *host, struct laz_call *call, const char *message);
int laz_call_run_command(void *host, struct laz_call *call, const struct laz_command *command,
                         struct laz_command_result *result, struct laz_error *err);

/* Waits for the answers to abandoned calls, and logs the tools that do not give one; replies that
 * the application keeps are let go. The workers must have ended. */
void laz_calls_end(struct laz_tools *tools);
/* Frees the calls that are left. */
void laz_calls_free(struct laz_tools *tools);
/* Any thread: who called. */
const struct laz_caller *laz_call_caller(void *host, const struct laz_call *call);
int laz_call_give_artifact(void *host, struct laz_call *call, const char *suffix, const void *data,
                           size_t len, const char **name, struct laz_error *err);

/* ---- reply.c: how a tool of the application answers ------------------------------------------ */

/* For a call that is to run; the call holds it until laz_reply_detach. `caller` is copied with its
 * texts. NULL: out of memory. */
struct laz_reply *laz_reply_new(struct laz_call *call, const struct laz_caller *caller);
/* Worker: the application has it from now on, until laz_reply_end. */
void laz_reply_begin(struct laz_reply *reply);
/* Worker: the callback has returned. False: it keeps the reply, and answers later. */
bool laz_reply_end(struct laz_reply *reply);
/* Thread that holds the loop: nobody waits for the answer; tells the application. */
void laz_reply_cancel(struct laz_reply *reply);
/* The same thread: an answer that was not given yet is ignored from now on; the call is not used
 * any more, nor may the reply be. No effect on NULL. */
void laz_reply_detach(struct laz_reply *reply);

/* ---- found.c -------------------------------------------------------------------------------- */

int laz_found_new(struct laz_found **found, struct laz_error *err);
void laz_found_free(struct laz_found *found); /* NULL is allowed */
/* Thread that holds the loop: around a change of the tools, up to laz_found_leave. */
void laz_found_change(struct laz_found *found);

/* ---- lend.c --------------------------------------------------------------------------------- */

int laz_lend_new(struct laz_driver *driver, struct laz_lend **lend, struct laz_error *err);
void laz_lend_free(struct laz_lend *lend);
/* Thread that holds the loop: offers a call to run with the loop. False: a worker has to run it
 * without. */
bool laz_lend_offer(struct laz_lend *lend, struct laz_call *call);
/* Any thread, when `call` holds its answer: true if the thread that runs the call will deliver it;
 * false: the caller posts it. */
bool laz_lend_keeps_answer(struct laz_lend *lend, const struct laz_call *call);
/* Worker, when the tool has returned: true if this thread holds the loop now; `answered` is set to
 * whether an answer was kept. */
bool laz_lend_resume(struct laz_lend *lend, const struct laz_call *call, bool *answered);
/* Worker that holds the loop: returns the next call to run with it, or gives it back and returns
 * NULL. */
struct laz_call *laz_lend_next(struct laz_lend *lend);
/* Worker that holds the loop: gives it back. */
void laz_lend_return(struct laz_lend *lend);

#endif
