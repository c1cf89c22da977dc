/* SPDX-License-Identifier: MIT */
/* settings.h - validated settings: one field for each key of the configuration.
 *
 * Parsing, checking, defaults, `lazaret config` and the documents use the schema table in schema.c.
 * The tables of plugins ([sandbox.NAME], [runtime.NAME], [[tools]]) are kept as TOML nodes with
 * their positions until the plugin's own table of options is known. */
#ifndef LAZ_SETTINGS_SETTINGS_H
#define LAZ_SETTINGS_SETTINGS_H

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"

#include <lazaret/backend.h>
#include <lazaret/lazaret.h>
#include <lazaret/plugin.h>

#include <stdbool.h>

/* Where files are artifacts: below artifacts/, at the top of the working directory as well, or
 * there where who executes asks for it. */
enum laz_collect { LAZ_COLLECT_AUTO, LAZ_COLLECT_ARTIFACTS, LAZ_COLLECT_CWD };

/* Where sessions are; of a worker they are here. */
enum laz_where { LAZ_WHERE_HERE, LAZ_WHERE_CLUSTER, LAZ_WHERE_WORKER };

/* How sessions of a pool start: from a template, cold, or from a template where that works. */
enum laz_warm { LAZ_WARM_AUTO, LAZ_WARM_TEMPLATE, LAZ_WARM_COLD };

/* Mistakes of a configuration, where all are wanted. */
struct laz_mistakes {
    struct laz_strv texts; /* in the order in which they were found, each once */
    int code;              /* LAZ_E* of the first; 0: there is none */
};

/* Counts and times: 0 means unlimited where docs/configuration.md says so. */
struct laz_settings_values {
    const struct laz_settings *settings; /* whose values they are; NULL: of no file */
    struct laz_mistakes *mistakes;       /* NULL: the first mistake ends what finds it */
    struct {
        char *runtime; /* NULL: not set (plugin/plugin.h, laz_registry_usual) */
        char *dialect; /* or "" */
        enum laz_where where;
        uint64_t timeout_ms, approval_timeout_ms, deadline_ms, start_timeout_ms;
        char *directory; /* where code begins; NULL or "": its own */
        uint64_t interrupt_grace_ms;
        uint64_t max_executions, max_tool_calls, max_code_length, max_output_lines;
        uint64_t max_output_size, max_message_size, max_value_size;
        bool validate, sanitize_errors, verbose;
        struct laz_strv pre_execute_hook;
    } session;
    struct {
        struct laz_strv backend; /* the ordered list; one item "auto" */
        bool strict;
        uint32_t require; /* LAZ_ENFORCE_* */
        char *uids;
        bool ask_systemd;
        struct laz_strv programs; /* one item "any", or names, absolute paths, "default" */
        struct laz_strv read, write;
        struct laz_strv protect; /* relative paths, without "." and ".." */
        uint64_t tmp_size;
        bool tty;
    } sandbox;
    struct laz_limit_values limits;
    struct {
        struct laz_strv allow;
        struct laz_strv set; /* NAME=VALUE */
    } env;
    struct {
        struct laz_strv allow; /* rules as texts; a table is its JSON object */
        struct laz_strv ports, host_ports;
        struct laz_strv hosts;       /* NAME=ADDRESS */
        struct laz_strv credentials; /* JSON objects */
        char *resolver;              /* "": the system's */
        bool deny_private;
        uint64_t max_connections, max_bytes; /* 0: any number of bytes */
    } network;
    struct laz_strv secrets; /* NAME=JSON: where each is read */
    struct {
        uint64_t max_files, max_size;
        enum laz_collect collect;
    } artifacts;
    struct {
        char *file; /* "": none */
        bool refuse, sync;
    } audit;
    struct {
        enum laz_warm warm;
        struct laz_strv preload;
        uint64_t renew_after, size, max_sessions, max_waiting;
        bool reset;
    } pool;
    struct {
        uint64_t session_timeout_ms, description_size;
        bool structured;
    } mcp;
    struct {
        char *certificate, *key, *clients, *revoked, *token_keys; /* "": none */
        char *audience;
        uint64_t max_clients, max_connections, max_sessions;
        uint64_t cpu_s, bytes, requests, handshake_timeout_ms; /* the first three in a minute */
        bool approvals;
    } serve;
    struct {
        char *carrier, *pool, *caller, *token, *tenant; /* the last three: "": none */
        uint64_t places, open_timeout_ms, drain_timeout_ms;
    } cluster;
    struct {
        char *listen, *endpoint, *service; /* "": none */
        struct laz_strv headers;           /* NAME=VALUE */
    } telemetry;
    struct {
        uint64_t max;
    } workers;
    struct {
        struct laz_strv path;
    } plugins;
};

const struct laz_settings_values *laz_settings_values(const struct laz_settings *settings);
/* The file that was read, as it was named or found; NULL: none. Borrowed. */
const char *laz_settings_file(const struct laz_settings *settings);
/* session.runtime, or the schema's default. Borrowed from `values`, or static. */
const char *laz_settings_runtime(const struct laz_settings_values *values);
/* A size ("64MiB", 1024) and a time ("15m", seconds) as the configuration has them, of a text
 * without quotes. False: it is none. */
bool laz_settings_size(const char *text, uint64_t *bytes);
bool laz_settings_time(const char *text, uint64_t *ms);
/* Do sandbox.read and sandbox.write show the path to the code? */
bool laz_settings_shows(const struct laz_settings_values *values, const char *path);
/* Is it in a directory of sandbox.write? */
bool laz_settings_lets_change(const struct laz_settings_values *values, const char *path);
int laz_settings_copy(const struct laz_settings *from, struct laz_settings **to,
                      struct laz_error *err);

/* As laz_settings_set, by an option of a command line, which messages and `lazaret
 * config` name as the origin. */
int laz_settings_set_by(struct laz_settings *settings, const char *option, const char *key,
                        const char *value, struct laz_error *err);
/* Appends `more` to the list of strings that a key has; the items that it had keep their origin. */
int laz_settings_extend(struct laz_settings *settings, const char *option, const char *key,
                        const struct laz_strv *more, struct laz_error *err);

/* ---- mistakes that show when a setting is used: settings_mistakes.c -------------------------- */

/* Puts before an error where the key was set, "FILE:LINE:COL: " or the option of a command line.
 * `key`: of the schema, or the table of a plugin ("runtime.lua"). `item`: the text in its list (of
 * a table its JSON, of a number its digits), or the key in its table, that is wrong; NULL: all of
 * it. False: it is a default. */
bool laz_settings_place(const struct laz_settings_values *values, const char *key, const char *item,
                        struct laz_error *err);
/* The same, and the key itself unless the text names it. */
void laz_settings_blame(const struct laz_settings_values *values, const char *key, const char *item,
                        struct laz_error *err);
/* A check has ended with rc, and is followed by others that do not depend on it. Blames the key
 * (NULL: the text says all) and returns rc; but where mistakes are collected, the error is one of
 * them, *err is empty again, and 0 is returned. */
int laz_settings_wrong(const struct laz_settings_values *values, const char *key, const char *item,
                       int rc, struct laz_error *err);
/* From here on mistakes are collected (borrowed), by the copies of an engine as well. No session
 * starts with such settings. */
void laz_settings_collect(struct laz_settings *settings, struct laz_mistakes *mistakes);

/* A mistake as its message tells it, "FILE:LINE:COL: KEY: what is wrong", taken apart. Texts are
 * parts of the message. */
struct laz_mistake {
    const char *file, *key; /* NULL: it names none */
    size_t file_len, key_len;
    unsigned line, column; /* 0: it names none */
    const char *text;      /* the message without the place that it begins with */
    size_t text_len;
    const char *next; /* the next one of a message that has several; NULL: there is none */
};
/* `files`: what files may be called in messages; other names are known by a line and a column
 * behind them, or because they are absolute. */
void laz_mistake_read(const char *message, const struct laz_strv *files,
                      struct laz_mistake *mistake);

/* Tables that belong to plugins. */
/* [sandbox.NAME] or [runtime.NAME]; NULL when the file has none. `section`: "sandbox", "runtime".
 */
const struct laz_toml_node *laz_settings_plugin_table(const struct laz_settings *settings,
                                                      const char *section, const char *name);
/* The table at `index` of all of them, with its section (borrowed); its key is the plugin's name.
 * NULL behind the last one. */
const struct laz_toml_node *laz_settings_plugin_table_at(const struct laz_settings *settings,
                                                         size_t index, const char **section);
/* The list of [[tools]] tables, or NULL: each has a string `provider`. */
const struct laz_toml_node *laz_settings_tools(const struct laz_settings *settings);
/* The list of [[approve]] tables, or NULL: each has a string `tool`, and may have a table `when` of
 * strings. */
const struct laz_toml_node *laz_settings_approve(const struct laz_settings *settings);
/* Checks a table (NULL: all defaults) against a plugin's options and appends it to `json` as one
 * object, with defaults filled in. `where` is the table's name in messages ("sandbox.bwrap"). The
 * keys in `ignore` (a list that ends with NULL, or NULL) are skipped. Duplicate names and the types
 * of parameters are checked by the tool set. Errors: LAZ_ECONFIG with FILE:LINE:COL, several
 * separated by "; ". */
int laz_settings_check_options(const struct laz_toml_node *table, const struct laz_option *options,
                               const char *where, const char *const *ignore, struct laz_buf *json,
                               struct laz_error *err);
/* The same to be shown: "(set)" stands for each text of a secret option, null for its other values.
 */
int laz_settings_show_options(const struct laz_toml_node *table, const struct laz_option *options,
                              const char *where, struct laz_buf *json, struct laz_error *err);
/* "FILE:LINE:COL" of a node, of its key if it has one, for messages: a new string; NULL: out of
 * memory. And the same put before an error. */
char *laz_settings_position(const struct laz_toml_node *node);
void laz_settings_locate(const struct laz_toml_node *node, struct laz_error *err);

/* The option of a plugin whose key is `prefix` and `key`: "tool." and "env"; NULL: there is none.
 */
const struct laz_option *laz_settings_option(const struct laz_option *options, const char *prefix,
                                             const char *key);
/* Before the settings are shown: marks the values of plugins' tables that are secret, so that
 * laz_settings_visit hides them. `options` gives what a plugin declares ("sandbox", "runtime",
 * "tools"); false: it cannot be asked, and then all that its tables set counts as secret, as does a
 * key that it does not declare, which may be a misspelt one. The settings must not be shared yet.
 */
void laz_settings_mark_secrets(struct laz_settings *settings,
                               bool (*options)(void *user, const char *section, const char *name,
                                               const struct laz_option **options),
                               void *user);
/* For `lazaret config`: visits each key of the schema in order, then the options in tables of
 * plugins, then "tools" as one list if there are any. All texts are borrowed for the call. Lines
 * "KEY = VALUE" make a file that sets the same, but for secrets: `{ secret = "set" }` stands for
 * each, which no key takes. */
struct laz_settings_shown {
    const char *key, *value; /* `value` in TOML notation, on one line */
    const char *json;        /* the value */
    const char *origin;      /* "default", "FILE:LINE" or "--set" */
};
void laz_settings_visit(const struct laz_settings *settings,
                        void (*visit)(void *user, const struct laz_settings_shown *shown),
                        void *user);

/* The name of a plugin has 1 to 64 letters, digits, '_' and '-'. */
bool laz_is_plugin_name(const char *text, size_t len);
/* So has that of a secret. */
bool laz_is_secret_name(const char *text, size_t len);

#endif
