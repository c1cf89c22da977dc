/* SPDX-License-Identifier: MIT */
/* schema.c - the table of all keys of the configuration.
 *
 * One row a key: its type, default, range and meaning; those of [limits] come from base/limits.h.
 * Reading, checking, `lazaret config` and docs/configuration.md are made from it.  A new key is a
 * row here and a field in settings.h. */
#include "settings/schema.h"

#include "base/enforce.h"
#include "base/limits.h"
#include "base/nearest.h"
#include "settings/convert.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#define FIELD(member) offsetof(struct laz_settings_values, member)
#define KIB           ((uint64_t)1 << 10)
#define GIB           ((uint64_t)1 << 30)
#define TIB           ((uint64_t)1 << 40)
#define SECONDS       ((uint64_t)1000)
#define DAYS          (86400 * SECONDS)
#define MAX_COUNT     ((uint64_t)1 << 53)
#define ANY_COUNT     .min = 0, .max = MAX_COUNT
#define ANY_SIZE      .min = 0, .max = TIB

const struct schema_section laz_schema_sections[] = {
    {"session", "What a session runs and how much of it. In counts, sizes and times, 0 means no "
                "limit unless the range says otherwise."},
    {"sandbox", "The box around a session. A table below it, `[sandbox.NAME]`, holds the options "
                "of the backend NAME; `lazaret plugins NAME` lists them."},
    {"limits", "What a sandboxed session may use up. `\"unlimited\"` removes a limit."},
    {"env", "The environment variables that code in the box sees. Beyond these it gets a fixed, "
            "small set without secrets: the language, the time zone, a search path and a home "
            "directory of its own."},
    {"audit", "A log of what was executed and which tools were called. Changes to it can be "
              "detected: see `audit.md`."},
    {"pool", "Sessions that are kept ready."},
    {"runtime", "Options of a runtime, in a table of its own: `[runtime.r]`. `lazaret plugins r` "
                "lists them."},
    {"plugins", "Where lazaret looks for plugins."},
    {"tools", "Tools that code may call. See [Declaring tools](#declaring-tools)."},
    {NULL, NULL},
};

#define SCHEMA_WORD(bit, word) "`" word "`"

#define SCHEMA_LIMIT(ID, name, field, kind_of, text, number, min_of, max_of, bit, verdict, by,     \
                     what)                                                                         \
    {                                                                                              \
        .key = "limits." name,                                                                     \
        .kind = SCHEMA_LIMIT_##kind_of,                                                            \
        .default_value = text,                                                                     \
        .offset = FIELD(limits.field),                                                             \
        .min = min_of,                                                                             \
        .max = max_of,                                                                             \
        .help = what,                                                                              \
    },

/* The language of a session that names none: said here and nowhere else. */
#define SCHEMA_RUNTIME "python"

const char *laz_settings_runtime(const struct laz_settings_values *values)
{
    return values->session.runtime ? values->session.runtime : SCHEMA_RUNTIME;
}

const struct schema_key laz_schema[] = {
    {
        .key = "session.runtime",
        .kind = SCHEMA_NAME,
        .default_value = "\"" SCHEMA_RUNTIME "\"",
        .offset = FIELD(session.runtime),
        .help = "The language: `python`, `r`, `lua`, or any other runtime that is installed. "
                "If it is not set, `lazaret run FILE` chooses by the suffix of the file.",
    },
    {
        .key = "session.timeout",
        .kind = SCHEMA_TIME,
        .default_value = "30",
        .offset = FIELD(session.timeout_ms),
        .max = 366 * DAYS,
        .help = "Wall clock time of the code in one execution. The clock stops while a tool call "
                "or a decision of the host is awaited.",
    },
    {
        .key = "session.deadline",
        .kind = SCHEMA_TIME,
        .default_value = "300",
        .offset = FIELD(session.deadline_ms),
        .max = 366 * DAYS,
        .help = "Wall clock time of one execution as a whole, tools included.",
    },
    {
        .key = "session.start_timeout",
        .kind = SCHEMA_TIME,
        .default_value = "20",
        .offset = FIELD(session.start_timeout_ms),
        .min = 100,
        .max = 1 * DAYS,
        .help = "Time from the start of the child process until its interpreter is ready.",
    },
    {
        .key = "session.max_executions",
        .kind = SCHEMA_COUNT,
        .default_value = "0",
        .offset = FIELD(session.max_executions),
        ANY_COUNT,
        .help = "Number of executions of a session; further ones are blocked.",
    },
    {
        .key = "session.max_tool_calls",
        .kind = SCHEMA_COUNT,
        .default_value = "0",
        .offset = FIELD(session.max_tool_calls),
        ANY_COUNT,
        .help = "Number of tool calls in one execution; one more ends the execution.",
    },
    {
        .key = "session.max_code_length",
        .kind = SCHEMA_COUNT,
        .default_value = "100000",
        .offset = FIELD(session.max_code_length),
        ANY_COUNT,
        .help = "Length in characters of the code of one execution; longer code is blocked.",
    },
    {
        .key = "session.max_output_lines",
        .kind = SCHEMA_COUNT,
        .default_value = "0",
        .offset = FIELD(session.max_output_lines),
        ANY_COUNT,
        .help = "Lines of output of one execution that are kept; the rest is discarded, and the "
                "result says so.",
    },
    {
        .key = "session.max_output_size",
        .kind = SCHEMA_SIZE,
        .default_value = "\"8MiB\"",
        .offset = FIELD(session.max_output_size),
        ANY_SIZE,
        .help = "Size of the output of one execution that is kept; the rest is discarded, and the "
                "result says so. Code that writes 64 times as much is ended.",
    },
    {
        .key = "session.max_message_size",
        .kind = SCHEMA_SIZE,
        .default_value = "\"1MiB\"",
        .offset = FIELD(session.max_message_size),
        .min = 4 * KIB,
        .max = 1 * GIB,
        .help = "Size of a message from the sandbox: the arguments of a tool call, or a result.",
    },
    {
        .key = "session.max_value_size",
        .kind = SCHEMA_SIZE,
        .default_value = "\"64MiB\"",
        .offset = FIELD(session.max_value_size),
        .min = 4 * KIB,
        .max = 1 * GIB,
        .help = "Size of a message into the sandbox: code, or the value that a tool returns.",
    },
    {
        .key = "session.validate",
        .kind = SCHEMA_BOOLEAN,
        .default_value = "true",
        .offset = FIELD(session.validate),
        .help = "Check the code before it runs: its syntax, and patterns that are worth a warning.",
    },
    {
        .key = "session.sanitize_errors",
        .kind = SCHEMA_BOOLEAN,
        .default_value = "false",
        .offset = FIELD(session.sanitize_errors),
        .help = "Remove paths, host names and process ids from the messages of failing tools "
                "before the code sees them, and from the error and the traceback of a result.",
    },
    {
        .key = "session.verbose",
        .kind = SCHEMA_BOOLEAN,
        .default_value = "false",
        .offset = FIELD(session.verbose),
        .help = "Log what happens as it happens.",
    },
    {
        .key = "session.pre_execute_hook",
        .kind = SCHEMA_STRINGS,
        .default_value = "[]",
        .offset = FIELD(session.pre_execute_hook),
        .help = "A command of the host that is run before each execution: it gets the code on "
                "standard input. Exit status 0 allows the execution; any other status blocks it, "
                "with the first line of its standard error as the reason. Empty: no command. No "
                "other user may be able to write the program.",
    },
    {
        .key = "sandbox.backend",
        .kind = SCHEMA_NAMES,
        .default_value = "\"auto\"",
        .offset = FIELD(sandbox.backend),
        .help =
            "The backend that makes the box: a name, or a list of names, of which the first that "
            "works is used. `\"auto\"` is the list for this system, on Linux `bwrap`, then "
            "`landlock`; on macOS `seatbelt`; on Windows `windows-job`, which limits and does "
            "not isolate. The list has installed backends only; one in a directory of "
            "`plugins.path` must be named. `\"none\"` is no sandbox at all and, as `windows-job`, "
            "needs "
            "`require = []`. See [Without namespaces](sandbox.md#without-namespaces) and "
            "[other systems](platforms.md).",
    },
    {
        .key = "sandbox.strict",
        .kind = SCHEMA_BOOLEAN,
        .default_value = "true",
        .offset = FIELD(sandbox.strict),
        .help = "With `false`, a session for which no backend works starts without a sandbox, "
                "after a warning. Do not change it unless the code is your own.",
    },
    {
        .key = "sandbox.require",
        .kind = SCHEMA_ENFORCE,
        .default_value = "[\"fs_read\", \"fs_write\", \"network\"]",
        .offset = FIELD(sandbox.require),
        .help = "What the backend must enforce, or the session is refused: " LAZ_ENFORCE_WORDS(
            SCHEMA_WORD, ", ") ".",
    },
    {
        .key = "sandbox.uids",
        .kind = SCHEMA_UIDS,
        .default_value = "\"auto\"",
        .offset = FIELD(sandbox.uids),
        .help = "When lazaret is started by root: the range, `\"FIRST-LAST\"`, from which each "
                "session gets a user id of its own. Nothing else may use these ids: remaining "
                "processes of a session are killed by its user id.",
    },
    {
        .key = "sandbox.programs",
        .kind = SCHEMA_PROGRAMS,
        .default_value = "\"default\"",
        .offset = FIELD(sandbox.programs),
        .help = "Programs that may be executed inside: `\"default\"` (helpers of the runtime and a "
                "few POSIX tools), a list of names and absolute paths, in which `\"default\"` "
                "stands for those, or `\"any\"` program of the host. A directory stands for all "
                "programs in it. See "
                "[Programs](sandbox.md#programs).",
    },
    {
        .key = "sandbox.read",
        .kind = SCHEMA_PATHS,
        .default_value = "[]",
        .offset = FIELD(sandbox.read),
        .help = "Files and directories of the host that code can read.",
    },
    {
        .key = "sandbox.write",
        .kind = SCHEMA_PATHS,
        .default_value = "[]",
        .offset = FIELD(sandbox.write),
        .help = "Files and directories of the host that code can read and write. A template cannot "
                "see them: see [sessions from a template]"
                "(sandbox.md#sessions-from-a-template).",
    },
    {
        .key = "sandbox.tmp_size",
        .kind = SCHEMA_SIZE,
        .default_value = "\"64MiB\"",
        .offset = FIELD(sandbox.tmp_size),
        .min = 64 * KIB,
        .max = TIB,
        .help =
            "Space for temporary files, if the backend gives the session a file system of its own.",
    },
    LAZ_LIMITS(SCHEMA_LIMIT){
        .key = "env.allow",
        .kind = SCHEMA_VARIABLES,
        .default_value = "[]",
        .offset = FIELD(env.allow),
        .help = "Names of variables that are passed on with their values on the host.",
    },
    {
        .key = "env.set",
        .kind = SCHEMA_ENVIRONMENT,
        .default_value = "{}",
        .offset = FIELD(env.set),
        .help = "Variables with a fixed value: `set = { MODE = \"test\" }`.",
    },
    {
        .key = "audit.file",
        .kind = SCHEMA_FILE,
        .default_value = "\"\"",
        .offset = FIELD(audit.file),
        .help = "The file to which the log is appended, one JSON object a line; see `audit.md`. It "
                "and its directories are made if they are missing, and no other user may be able "
                "to write them. Empty: no log.",
    },
    {
        .key = "audit.on_error",
        .kind = SCHEMA_REFUSE,
        .default_value = "\"refuse\"",
        .offset = FIELD(audit.refuse),
        .help = "What happens when the log cannot be written (a full disk). `\"refuse\"`: no "
                "session is opened, no code executed and no tool called without a record. "
                "`\"warn\"`: there is a warning, and the log says how many records are missing as "
                "soon as it can be written again.",
    },
    {
        .key = "audit.sync",
        .kind = SCHEMA_BOOLEAN,
        .default_value = "false",
        .offset = FIELD(audit.sync),
        .help = "Wait for the disk after each record, so that no record is lost in a power "
                "failure; each record then takes milliseconds. Even without it, no record is lost "
                "when the process ends.",
    },
    {
        .key = "pool.size",
        .kind = SCHEMA_COUNT,
        .default_value = "4",
        .offset = FIELD(pool.size),
        .min = 1,
        .max = 100,
        .help = "Number of sessions of a pool.",
    },
    {
        .key = "pool.warm",
        .kind = SCHEMA_WARM,
        .default_value = "\"auto\"",
        .offset = FIELD(pool.warm),
        .help = "How the sessions start. `\"template\"`: in milliseconds, from a process inside "
                "the box that has loaded the language and runs no code itself; if that does not "
                "work, it is an error. `\"cold\"`: each in a box of its own. `\"auto\"`: from a "
                "template if that works, otherwise cold.",
    },
    {
        .key = "pool.reset",
        .kind = SCHEMA_BOOLEAN,
        .default_value = "true",
        .offset = FIELD(pool.reset),
        .help = "A fresh session for each use: no caller finds what another one left behind.",
    },
    {
        .key = "pool.preload",
        .kind = SCHEMA_STRINGS,
        .default_value = "[]",
        .offset = FIELD(pool.preload),
        .help = "Packages that a template loads in advance, by their names in the language; not "
                "from a directory of `sandbox.write`, which is empty for a template.",
    },
    {
        .key = "pool.max_sessions",
        .kind = SCHEMA_COUNT,
        .default_value = "100",
        .offset = FIELD(pool.max_sessions),
        ANY_COUNT,
        .help = "Number of sessions of all pools of an engine together.",
    },
    {
        .key = "pool.max_waiting",
        .kind = SCHEMA_COUNT,
        .default_value = "1000",
        .offset = FIELD(pool.max_waiting),
        ANY_COUNT,
        .help =
            "Number of callers that may wait for a session of a pool; one more is refused at once.",
    },
    {
        .key = "pool.renew_after",
        .kind = SCHEMA_COUNT,
        .default_value = "1000",
        .offset = FIELD(pool.renew_after),
        ANY_COUNT,
        .help = "Number of sessions after which a template is replaced. Sessions of one template "
                "share what only a new process changes, such as the memory layout and Python's "
                "hash secret. 0: never.",
    },
    {
        .key = "plugins.path",
        .kind = SCHEMA_PATHS,
        .default_value = "[]",
        .offset = FIELD(plugins.path),
        .help = "Directories that are searched before the installed one. No other user may be able "
                "to write them, the plugins in them, or a directory above.",
    },
    {.key = NULL},
};

size_t laz_schema_count(void)
{
    return sizeof laz_schema / sizeof laz_schema[0] - 1;
}

const struct schema_key *laz_schema_find(const char *section, const char *key, size_t len)
{
    size_t prefix = strlen(section);

    for (const struct schema_key *row = laz_schema; row->key; row++)
        if (strncmp(row->key, section, prefix) == 0 && row->key[prefix] == '.' &&
            strlen(row->key + prefix + 1) == len && memcmp(row->key + prefix + 1, key, len) == 0)
            return row;
    return NULL;
}

const struct schema_section *laz_schema_section(const char *name, size_t len)
{
    for (const struct schema_section *row = laz_schema_sections; row->name; row++)
        if (strlen(row->name) == len && memcmp(row->name, name, len) == 0)
            return row;
    return NULL;
}

static const struct {
    const char *type;
    const char *expected;
} schema_kinds[SCHEMA_KINDS] = {
    [SCHEMA_NAME] = {"name", "a name of letters, digits, '_' and '-', in quotes"},
    [SCHEMA_BOOLEAN] = {"boolean", "true or false"},
    [SCHEMA_COUNT] = {"integer", "an integer"},
    [SCHEMA_SIZE] = {"size", LAZ_SIZE_EXPECTED},
    [SCHEMA_TIME] = {"time", LAZ_TIME_EXPECTED},
    [SCHEMA_LIMIT_COUNT] = {"integer or \"unlimited\"", "\"unlimited\" or an integer"},
    [SCHEMA_LIMIT_SIZE] = {"size or \"unlimited\"", "\"unlimited\" or " LAZ_SIZE_EXPECTED},
    [SCHEMA_LIMIT_TIME] = {"time or \"unlimited\"", "\"unlimited\" or " LAZ_TIME_EXPECTED},
    [SCHEMA_NAMES] = {"name or list of names", "a name or a list of names"},
    [SCHEMA_STRINGS] = {"list of strings", "a list of strings"},
    [SCHEMA_PATHS] = {"list of paths", "a list of absolute paths"},
    [SCHEMA_VARIABLES] = {"list of names", "a list of names of environment variables"},
    [SCHEMA_ENVIRONMENT] = {"table of strings", "a table of strings"},
    [SCHEMA_ENFORCE] = {"list of words", "a list of words"},
    [SCHEMA_PROGRAMS] = {"string or list of strings",
                         "\"default\", \"any\", or a list of names and absolute paths"},
    [SCHEMA_UIDS] = {"string", "\"auto\" or a range of user ids (\"200000-265535\")"},
    [SCHEMA_FILE] = {"path", "an absolute path, or \"\" for none"},
    [SCHEMA_REFUSE] = {"word", "\"refuse\" or \"warn\""},
    [SCHEMA_WARM] = {"word", "\"auto\", \"template\" or \"cold\""},
};

const char *laz_schema_type(const struct schema_key *key)
{
    return key->type ? key->type : schema_kinds[key->kind].type;
}

static void schema_bound(struct laz_buf *buf, enum schema_kind kind, uint64_t value)
{
    if (kind == SCHEMA_COUNT || kind == SCHEMA_LIMIT_COUNT)
        laz_buf_printf(buf, "%" PRIu64, value);
    else if (kind == SCHEMA_SIZE || kind == SCHEMA_LIMIT_SIZE)
        laz_format_size(buf, value);
    else
        laz_format_time(buf, value);
}

void laz_schema_expected(struct laz_buf *buf, const struct schema_key *key)
{
    laz_buf_puts(buf, schema_kinds[key->kind].expected);
    if (key->max) {
        laz_buf_puts(buf, " from ");
        schema_bound(buf, key->kind, key->min);
        laz_buf_puts(buf, " to ");
        schema_bound(buf, key->kind, key->max);
    }
}

void laz_schema_suggest(struct laz_buf *buf, const char *section, const char *key)
{
    size_t prefix = strlen(section);
    const char *elsewhere = NULL;
    struct laz_nearest nearest;

    laz_nearest_init(&nearest, key);
    for (const struct schema_key *row = laz_schema; row->key; row++) {
        const char *last = strchr(row->key, '.') + 1;
        if (prefix && strncmp(row->key, section, prefix) == 0 && row->key[prefix] == '.')
            laz_nearest_try(&nearest, last);
        else if (strcmp(last, key) == 0)
            elsewhere = row->key;
    }
    for (const struct schema_section *row = laz_schema_sections; !prefix && row->name; row++)
        laz_nearest_try(&nearest, row->name);
    const char *best = laz_nearest_best(&nearest);
    if (best)
        laz_buf_printf(buf, "; did you mean %s%s%s?", section, prefix ? "." : "", best);
    else if (elsewhere)
        laz_buf_printf(buf, "; did you mean %s?", elsewhere);
}
