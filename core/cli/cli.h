/* SPDX-License-Identifier: MIT */
/* cli.h - the lazaret command: its tables, and what its subcommands share.
 *
 * A subcommand is one file with one function, a row of the table in commands.c.  Options are rows
 * of the table in options.c, which makes the parser, the help texts and the check of the manual
 * page.  Standard output carries what was asked for and nothing else; messages go to standard error
 * behind "lazaret: ".  The subcommands use the library as any application does, and look below it
 * only to show what no application needs (plans, plugins, the origin of a setting). */
#ifndef LAZ_CLI_CLI_H
#define LAZ_CLI_CLI_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json_write.h"
#include "base/log.h"
#include "base/visible.h"
#include "plugin/plugin.h"
#include "settings/settings.h"

#include <lazaret/lazaret.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of freed memory, for the next large value; a server gives it back. */
#define CLI_KEPT (32 << 20)

/* Exit statuses beyond those of verdicts (laz_verdict_exit_status). */
#define CLI_OK          0
#define CLI_FAILED      1   /* a check found a fault */
#define CLI_USAGE       2   /* wrong usage or configuration */
#define CLI_OUTPUT      74  /* standard output, or an artifact, cannot be written */
#define CLI_SETUP       125 /* no box, agent or runtime could be started, or out of memory */
#define CLI_REFUSED     126 /* a policy does not allow it */
#define CLI_INTERRUPTED 130 /* by a signal, before the execution began */
#define CLI_UNREAD      141 /* nobody reads standard output any more: as SIGPIPE would end it */

struct cli {
    const struct cli_command *commands; /* the table */
    const struct cli_command *command;  /* NULL: the command line names no subcommand */
    /* Options, borrowed from argv. */
    const char *config, *backend, *runtime, *timeout, *format, *platform, *expect, *cwd, *kind,
        *listen, *engines, *metrics, *search, *limit, *artifacts, *token_file, *install;
    const char *sign_with, *expires, *audience, *sessions, *cpu, *bytes, *requests; /* token */
    const char *authorities, *certificate, *key, *server_name;                      /* connect */
    const char *url;         /* cluster init */
    struct laz_strv tenants; /* the same */
    struct laz_strv set;     /* KEY=VALUE, in order */
    struct laz_strv code;    /* of -e: lines of one program */
    struct laz_strv read, write, allow, env;
    struct laz_strv file; /* NAME=PATH */
    bool json, quiet, verbose, check, help, version, dry_run, terminal_on, terminal_off, shared;
    bool is_ended;   /* "--" stands before the operands */
    bool is_program; /* of run: they are the command line of a program */
    /* The exit status of the code is that of the command, so what is lazaret's own is CLI_SETUP. */
    bool passes_status;
    bool is_of_code; /* the status is the code's */
    char **operands;
    int n_operands;
    struct terminal *terminal; /* there in all subcommands, and before */
    /* Made by cli_load. */
    struct laz_settings *settings;
    const struct laz_settings_values *values; /* those of `settings` */
    struct laz_log log;
    int output_errno;         /* why standard output cannot be written; 0: it can */
    struct laz_strv problems; /* messages of cli_problem */
    bool answered;            /* the document of --json has been printed */
};

/* ---- tables --------------------------------------------------------------------------------- */

/* The subcommands an option belongs to: one bit for each row of the table. */
#define CLI_FOR_RUN     (1u << 0)
#define CLI_FOR_CHECK   (1u << 1)
#define CLI_FOR_PLUGINS (1u << 2)
#define CLI_FOR_TOOLS   (1u << 3)
#define CLI_FOR_CONFIG  (1u << 4)
#define CLI_FOR_PLAN    (1u << 5)
#define CLI_FOR_DOCTOR  (1u << 6)
#define CLI_FOR_AUDIT   (1u << 7)
#define CLI_FOR_HELP    (1u << 8)
#define CLI_FOR_SERVE   (1u << 9)
#define CLI_FOR_MCP     (1u << 10)
#define CLI_FOR_VERSION (1u << 11)
#define CLI_FOR_TOKEN   (1u << 12)
#define CLI_FOR_CONNECT (1u << 13)
#define CLI_FOR_WORKER  (1u << 14)
#define CLI_FOR_CLUSTER (1u << 15)
#define CLI_FOR_CODE    (CLI_FOR_RUN | CLI_FOR_CHECK)
#define CLI_FOR_BOX     (CLI_FOR_RUN | CLI_FOR_PLAN | CLI_FOR_CONFIG)
#define CLI_FOR_ALL     UINT32_MAX

struct cli_command {
    const char *name;
    uint32_t bit;         /* CLI_FOR_*; 0: reserved for a later version */
    const char *operands; /* for the usage line; "" when it takes none */
    int max_operands;
    const char *summary;         /* one line of `lazaret --help` */
    const char *text;            /* a paragraph for its own help; "" when the summary says all */
    int (*run)(struct cli *cli); /* its exit status; NULL with bit 0 */
};

extern const struct cli_command cli_commands[]; /* ends with a row without a name */

struct cli_option {
    char letter;          /* 0: none */
    const char *name;     /* NULL: none */
    const char *argument; /* its name in help texts; NULL: none */
    size_t field;         /* bool without an argument, else const char *, or a list */
    uint32_t commands;    /* CLI_FOR_* */
    const char *help;
};

const struct cli_option *cli_option_at(size_t index); /* NULL behind the last one */

int cli_execute(struct cli *cli); /* run and check */
int cli_plugins(struct cli *cli);
int cli_skeleton(struct cli *cli); /* plugins new */
int cli_serve(struct cli *cli);
int cli_worker(struct cli *cli);
int cli_mcp(struct cli *cli);
int cli_token(struct cli *cli); /* needs no settings, as the next */
/* What is asked for is about boxes of this machine: CLI_OK, or says that sessions are elsewhere. */
int cli_needs_boxes(struct cli *cli);
/* session.where is "worker". */
int cli_be_worker(struct cli *cli);
int cli_connect(struct cli *cli);
/* connect_cluster.c: standard input and output become a place of the bus, until either ends. */
int cli_connect_cluster(const struct laz_log *log, struct laz_registry *registry,
                        const struct laz_settings_values *values, struct laz_error *err);
int cli_cluster(struct cli *cli);
int cli_cluster_init(struct cli *cli); /* cluster init */
int cli_mcp_install(struct cli *cli);  /* mcp --install */
int cli_tools(struct cli *cli);
int cli_config(struct cli *cli);
int cli_plan(struct cli *cli);
int cli_audit(struct cli *cli);
int cli_doctor(struct cli *cli);
int cli_help_about(struct cli *cli); /* needs no settings, as the next */
int cli_version(struct cli *cli);

/* Reads a decimal number up to `most`. False: it is none. */
bool cli_number(const char *text, uint64_t most, uint64_t *number);
/* Reads argv into *cli; messages are printed. 0 or CLI_USAGE. */
int cli_parse(struct cli *cli, int argc, char **argv);
/* Appends the options of this command line that say how the subcommand works, as words of another
 * one that may be run in any directory: paths are absolute. False: out of memory. */
bool cli_repeat(struct cli *cli, struct laz_strv *words);
int cli_help(struct cli *cli); /* for cli->command; without one, the general help */

/* ---- shared by the subcommands -------------------------------------------------------------- */

/* Makes the settings from the file and the options; prints every mistake. 0 or an exit status. */
int cli_load(struct cli *cli);
/* Shows these paths to the code as well (sandbox.read). `option`: for messages. 0 or an exit status
 * (printed). */
int cli_show_paths(struct cli *cli, const char *option, const struct laz_strv *paths);
/* Sets session.runtime (NULL: as it is), likewise. */
int cli_choose_runtime(struct cli *cli, const char *option, const char *runtime);
/* The exit status for the code of an error, or for 0. */
int cli_status(int code);
/* Prints the error and returns the exit status for its code. */
int cli_fail(struct cli *cli, const struct laz_error *err);
/* Finds the plugins in the directories of the settings. `quiet`: do not report unusable ones. The
 * caller frees *registry. 0 or an exit status (printed). */
int cli_registry(struct cli *cli, bool quiet, struct laz_registry **registry);
/* Checks the settings' table of a backend and appends it to `json`, with all defaults and without
 * secrets. */
int cli_backend_options(struct cli *cli, const struct laz_plugin *backend, struct laz_buf *json,
                        struct laz_error *err);
/* Does what `run` does with these settings, up to the start of the code's process, and prints each
 * mistake. The caller frees *engine, which executes nothing; NULL: there is none. 0 or an exit
 * status. */
int cli_inspect(struct cli *cli, struct laz_engine **engine);
/* Says what a user has to know of the tool providers before they are used (that a server runs
 * outside of the sandbox, say): of those of the engine; without one it makes them by the registry,
 * and says nothing where they cannot be created. */
void cli_notices(struct cli *cli, const struct laz_engine *engine, struct laz_registry *registry);
/* An engine of the command: it logs to standard error. */
struct laz_engine_options cli_engine_options(const struct cli *cli);

/* ---- terminal.c: what is written while a subcommand works -------------------------------------
 *
 * Any thread, in any order; each piece is written whole. */

struct terminal *terminal_new(struct cli *cli); /* NULL: out of memory */
void terminal_free(struct terminal *terminal);  /* NULL is allowed */
/* Writes output of untrusted code to a standard stream: unchanged, or with control characters made
 * visible if that is a terminal. False: standard output cannot be written any more. */
bool terminal_output(struct terminal *terminal, int stream, const char *data, size_t len);
/* What was held back of it, because it was the beginning of a character, is written. */
void terminal_output_ends(struct terminal *terminal);
/* Writes lines for people, which end with a newline, to standard error. */
void terminal_message(struct terminal *terminal, const char *text, size_t len);
/* Shows a line of progress in place of the last, if somebody sits at a terminal and it disturbs
 * nothing; it goes away with the next thing that is written. NULL: takes it away. */
void terminal_line(struct terminal *terminal, const char *text);
/* Keeps what the functions above would write until terminal_release. `is_new_line`: what somebody
 * else wrote meanwhile has left the cursor at the beginning of a line. */
void terminal_hold(struct terminal *terminal);
void terminal_release(struct terminal *terminal, bool is_new_line);

/* ---- approve.c: `run` asks at the terminal whether a tool may be called -----------------------
 */

struct laz_input; /* os/input.h */

struct approver *approver_new(struct terminal *terminal); /* NULL: out of memory */
/* After the engine is gone. NULL is allowed. */
void approver_free(struct approver *approver);
/* Decides on calls of this engine; does not read `input` (NULL: there is none) while it asks.
 * Errors: as laz_engine_set_approver. */
int approver_begin(struct approver *approver, struct laz_engine *engine, struct laz_input *input,
                   struct laz_error *err);
/* The execution has ended: no question is open when this returns. */
void approver_end(struct approver *approver);

/* ---- artifacts.c: files for the code, and what it makes -------------------------------------- */

/* Those of --file, as the library takes them. */
struct cli_files {
    struct laz_file *items;
    const struct laz_file **pointers;
    size_t n;
};
/* Reads them; what was read is freed by cli_free_files, after an error too. */
int cli_read_files(const struct laz_strv *options, struct cli_files *files, struct laz_error *err);
void cli_free_files(struct cli_files *files);
/* Saves artifacts where --artifacts says. 0 or an exit status (printed). */
int cli_save_artifacts(struct cli *cli, struct laz_result *result);
/* Lists them on standard error, and shows pictures on a terminal that can. */
void cli_tell_artifacts(struct cli *cli, const struct laz_result *result);

/* ---- answer.c: what --json prints -------------------------------------------------------------
 *
 * One object on standard output, with the member "ok". What it lacks is added at the end of the
 * command, so only a subcommand that has more to say than its failure prints one. */

struct cli_answer {
    struct laz_buf json;
    struct laz_json_write write;
};
/* Begins it; the caller adds members. */
void cli_answer_begin(struct cli_answer *answer, bool ok);
/* Ends and prints it. Returns `status`, or another one when memory was short (printed). */
int cli_answer_end(struct cli *cli, struct cli_answer *answer, int status);
/* Adds the member "errors": each message, with the file, the place and the key that it names. */
void cli_answer_errors(struct cli *cli, struct laz_json_write *write,
                       const struct laz_strv *messages);
/* Prints the result of an execution, with what the command itself could not do. NULL: out of
 * memory. Returns as cli_answer_end. */
int cli_answer_result(struct cli *cli, struct laz_result *result, int status);
/* To be called at the end: prints the document of a subcommand that has printed none. */
int cli_answer_missing(struct cli *cli, int status);
/* Prints a text, with --json as a member; frees it. */
int cli_answer_text(struct cli *cli, const char *key, struct laz_buf *text);
/* For a subcommand whose standard output is a protocol's. An exit status (printed). */
int cli_refuse_json(struct cli *cli);

/* ---- output.c ------------------------------------------------------------------------------- */

/* Writes to standard output. After a failure, which is remembered, nothing more is written. */
void cli_write(struct cli *cli, const char *data, size_t len); /* at once */
void cli_puts(struct cli *cli, const char *text);
void cli_printf(struct cli *cli, const char *format, ...) LAZ_PRINTF(2, 3);
/* A whole text, which ends with a newline if it is not empty; frees it. */
void cli_print(struct cli *cli, struct laz_buf *text);
/* To be called last. Returns `status`, or CLI_OUTPUT (printed) when some output was not written;
 * with cli->passes_status, CLI_SETUP for what neither the code nor its end from outside has caused.
 */
int cli_finish(struct cli *cli, int status);

/* Writes a message to standard error, each line prefixed with "lazaret: ". Control characters,
 * which could move the cursor of a terminal, are made visible. */
void cli_say(struct cli *cli, const char *format, ...) LAZ_PRINTF(2, 3);
/* The same for the reason of a failure, which --json repeats. Returns CLI_USAGE, the status of
 * most.
 */
int cli_problem(struct cli *cli, const char *format, ...) LAZ_PRINTF(2, 3);

#endif
