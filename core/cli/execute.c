/* SPDX-License-Identifier: MIT */
/* execute.c - run and check: one session, one result, one exit status.
 *
 * The streams of a program are its own: what it writes is passed on as it comes and is not kept, so
 * there may be any amount of it (os/relay.h).  Where it has a terminal, that is passed on as it is:
 * the user's terminal interprets it, as that of any program that is started there.
 *
 * Side: host.  Input trusted: no (output, messages and values of the code). Output goes to the
 * user's own standard streams byte by byte, as that of any program. A terminal would interpret
 * escape sequences, so there they are made visible (terminal.c); messages go through cli_say, which
 * does the same. */
#include "cli/cli.h"

#include "base/json.h"
#include "base/outcome.h"
#include "cli/source.h"
#include "engine/engine.h"
#include "os/input.h"
#include "os/descriptors.h"
#include "os/interrupt.h"
#include "os/io.h"
#include "os/programs.h"
#include "os/relay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXECUTE_SHOWN_S 2 /* shorter executions have no line of progress */

/* ---- its execution -------------------------------------------------------------------------- */

struct execution {
    struct cli *cli;
    struct laz_engine *engine;
    struct cli_files files; /* of run */
    struct approver *approver;
    struct laz_input
        *input; /* of the code; NULL: none; `fd`: its end of a pipe, -1: of the relay */
    int fd;
    struct laz_relay *relay; /* all streams of the code; NULL: the session has its output */
    bool has_terminal;       /* they are one */
};

/* Passes output on as it comes. When standard output fails, cancels the execution, whose result
 * could not be delivered. */
static void execute_output(void *user, int stream, const char *data, size_t len)
{
    struct execution *execution = user;

    if (!terminal_output(execution->cli->terminal, stream, data, len))
        laz_engine_cancel(execution->engine);
}

/* The same of a relay. */
static bool execute_pass_on(void *user, int stream, const char *data, size_t len)
{
    struct execution *execution = user;
    struct cli *cli = execution->cli;
    const int fd = stream == LAZ_STDOUT ? STDOUT_FILENO : STDERR_FILENO;

    if (!execution->has_terminal && laz_os_is_terminal(fd))
        return terminal_output(cli->terminal, stream, data, len);
    if (laz_os_write_waiting(fd, data, len))
        return true;
    if (stream == LAZ_STDOUT && errno != EPIPE) /* the program is told of that one */
        cli->output_errno = errno;
    return false;
}

/* Shows the person who waits how long the code has been running, and what it has used. */
static void execute_progress(void *user, const struct laz_execution_usage *usage)
{
    const unsigned long long seconds = usage->wall_us / 1000000, calls = usage->tool_calls;
    struct execution *execution = user;
    struct laz_buf line = LAZ_BUF_INIT;

    if (seconds < EXECUTE_SHOWN_S)
        return;
    laz_buf_printf(&line, "lazaret: %llu:%02llu", seconds / 60, seconds % 60);
    if (calls)
        laz_buf_printf(&line, ", %llu tool call%s", calls, calls == 1 ? "" : "s");
    if (usage->max_rss_bytes)
        laz_buf_printf(&line, ", %llu MiB", (unsigned long long)(usage->max_rss_bytes >> 20));
    terminal_line(execution->cli->terminal, laz_buf_text(&line));
    laz_buf_fini(&line);
}

/* A value that was omitted is no loss where it is printed. */
static void execute_warn(struct cli *cli, const struct laz_json *warnings, const char *name)
{
    for (const struct laz_json *w = laz_json_first(warnings); w; w = laz_json_next(w))
        if (laz_json_string(w) &&
            (cli->json || strncmp(laz_json_string(w), "value_omitted:", 14) != 0))
            cli_say(cli, "warning: %s: %s", name, laz_json_string(w));
}

/* Prints an error of the code: verdict, place, message and traceback. Code that ends itself with a
 * status has said what it had to say: the interpreters are silent as well. */
static void execute_report_error(struct cli *cli, const struct laz_json *error, const char *verdict,
                                 const struct source *source)
{
    const char *name = source->name;
    const struct laz_json *traceback = laz_json_get(error, "traceback");
    const char *message = laz_json_string(laz_json_get(error, "message"));
    const char *kind = laz_json_string(laz_json_get(error, "kind"));
    double line = laz_json_number(laz_json_get(error, "line"));

    if (kind && strcmp(kind, laz_error_kinds[LAZ_OUTCOME_EXIT].name) == 0)
        return;

    if (line > 0)
        cli_say(cli, "%s: %s:%.0f: %s", verdict, name, line, message ? message : "");
    else
        cli_say(cli, "%s: %s: %s", verdict, name, message ? message : "");
    for (const struct laz_json *t = laz_json_first(traceback); t; t = laz_json_next(t))
        if (laz_json_string(t))
            cli_say(cli, "    %s", laz_json_string(t));
    char *missing = source_missing(cli, source, message);
    if (missing)
        cli_say(cli, "%s", missing);
    free(missing);
}

/* With which credentials, and how often. */
static void execute_tell_credentials(struct cli *cli, const struct laz_json *credentials)
{
    struct laz_buf line = LAZ_BUF_INIT;

    for (const struct laz_json *one = laz_json_first(credentials); one; one = laz_json_next(one)) {
        const struct laz_json *count = laz_json_get(one, "count");
        laz_buf_printf(&line, "%s%s for %s (%.0f)", line.len ? ", " : "",
                       laz_json_string(laz_json_get(one, "name")),
                       laz_json_string(laz_json_get(one, "host")), laz_json_number(count));
    }
    if (line.len)
        cli_say(cli, "credentials: %s", laz_buf_text(&line));
    laz_buf_fini(&line);
}

/* Prints the result as messages on standard error. */
static void execute_report(struct cli *cli, struct laz_result *result, const struct source *source)
{
    const char *name = source->name;
    enum laz_verdict verdict = laz_result_verdict(result);
    const char *words =
        verdict == LAZ_VERDICT_SYNTAX_ERROR ? "syntax error" : laz_verdict_name(verdict);
    const char *text = laz_result_json(result);
    struct laz_json *json = text ? laz_json_parse(text, strlen(text), NULL) : NULL;
    const struct laz_json *error = laz_json_get(json, "error");

    if (!cli->quiet)
        execute_warn(cli, laz_json_get(json, "warnings"), name);
    if (cli->verbose)
        execute_tell_credentials(cli, laz_json_get(json, "credentials"));
    if (laz_result_is_truncated(result))
        cli_say(cli, "output beyond session.max_output_size or session.max_output_lines was "
                     "dropped");
    if (verdict == LAZ_VERDICT_ERROR || verdict == LAZ_VERDICT_SYNTAX_ERROR) {
        if (laz_json_type(error) == LAZ_JSON_OBJECT_BEGIN)
            execute_report_error(cli, error, words, source);
        else
            cli_say(cli, "%s: %s: %s", words, name, laz_result_detail(result));
    } else if (verdict != LAZ_VERDICT_OK) {
        const char *detail = laz_result_detail(result);

        if (!*detail)
            detail = laz_result_error(result);
        cli_say(cli, "%s%s%s", words, detail && *detail ? ": " : "", detail ? detail : "");
    }
    laz_json_free(json);
}

/* May only listed programs be executed in the box? */
static bool execute_is_listed(struct laz_result *result)
{
    const char *text = laz_result_json(result);
    struct laz_json *json = text ? laz_json_parse(text, strlen(text), NULL) : NULL;
    const char *programs =
        laz_json_string(laz_json_get(laz_json_get(json, "isolation"), "programs"));
    const bool is_listed = programs && strcmp(programs, "listed") == 0;

    laz_json_free(json);
    return is_listed;
}

/* A program that this system has, and the box has not, or that it refuses to execute: what would
 * allow it. */
static void execute_hint(struct cli *cli, struct laz_result *result, const char *program)
{
    struct laz_strv listed = {.n = 0};
    struct laz_buf list = LAZ_BUF_INIT;
    struct laz_error ignored = {0};
    const int status = laz_result_exit_status(result);
    char *path = NULL;

    if (!cli->is_of_code || (status != 126 && status != 127) || !execute_is_listed(result) ||
        laz_os_find_program(program, &path, &ignored))
        return;
    for (size_t i = 0; i < cli->values->sandbox.programs.n; i++)
        laz_strv_add(&listed, cli->values->sandbox.programs.items[i]);
    laz_strv_add(&listed, program);
    laz_json_strings(&list, &listed);
    cli_say(cli,
            "%s is not among sandbox.programs; in the configuration, below [sandbox]:\n"
            "    programs = %s\nor \"any\" for all that the box shows",
            program, laz_buf_text(&list));
    laz_strv_fini(&listed);
    laz_buf_fini(&list);
    free(path);
}

/* The streams of a program are its own: of what its session has as output these lines are told. */
static void execute_tell_refusals(struct cli *cli, const struct laz_result *result)
{
    static const char begins[] = "lazaret: network: ";
    const size_t least = sizeof begins - 1;
    const char *text;
    size_t len;
    int stream;

    for (size_t i = 0; (text = laz_result_output(result, i, &stream, &len)); i++) {
        for (const char *end = text + len, *line = text; line < end;) {
            const char *newline = memchr(line, '\n', (size_t)(end - line));
            const char *next = newline ? newline + 1 : end;
            if ((size_t)(end - line) > least && memcmp(line, begins, least) == 0)
                terminal_output(cli->terminal, LAZ_STDERR, line, (size_t)(next - line));
            line = next;
        }
    }
    terminal_output_ends(cli->terminal);
}

static int execute_finish(struct cli *cli, struct laz_result *result, const struct source *source)
{
    const int saved = cli_save_artifacts(cli, result);
    const char *text = cli->json ? NULL : laz_result_text(result);

    if (cli->json) {
        const int failed = cli_answer_result(cli, result, CLI_OK);
        if (failed)
            return failed;
    } else {
        if (cli->command->bit == CLI_FOR_RUN && text) {
            terminal_output(cli->terminal, LAZ_STDOUT, text, strlen(text));
            terminal_output_ends(cli->terminal);
            terminal_output(cli->terminal, LAZ_STDOUT, "\n", 1);
        }
        fflush(stdout);
        if (cli->output_errno != EPIPE) {
            cli_tell_artifacts(cli, result);
            execute_report(cli, result, source);
        }
    }
    const int status = laz_result_exit_status(result);
    if (status == CLI_OK && saved)
        return saved;
    if (status == CLI_OK && laz_result_is_truncated(result))
        return CLI_OUTPUT;
    cli->is_of_code = laz_result_verdict(result) == LAZ_VERDICT_OK;
    return status;
}

/* A person at a terminal needs no clock, unless they ask for one. */
static int execute_run(struct execution *execution, const struct source *source,
                       struct laz_result **result, struct laz_error *err)
{
    struct cli *cli = execution->cli;
    const struct laz_relay *relay = execution->relay;
    const bool is_timed = !execution->has_terminal;
    const struct laz_session_options session = {
        .size = sizeof session,
        .runtime = source->runtime,
        .input = relay                ? laz_relay_stream(relay, 0)
                 : execution->fd >= 0 ? &execution->fd
                                      : NULL,
        .output = relay ? laz_relay_stream(relay, LAZ_STDOUT) : NULL,
        .errors = relay ? laz_relay_stream(relay, LAZ_STDERR) : NULL,
        .no_wait = 1, /* whoever waits for the result need not wait for the box; the command does */
    };
    const struct laz_execute_options options = {
        .size = sizeof options,
        .timeout_ms = is_timed || cli->timeout ? 0 : LAZ_NO_LIMIT,
        .deadline_ms = is_timed ? 0 : LAZ_NO_LIMIT,
        .output = cli->json || relay ? NULL : execute_output,
        .user = execution,
        .no_print = source->is_silent,
        .argv = (const char *const *)source->argv.items,
        .n_argv = source->argv.n,
        .directory = source->directory,
        .progress = is_timed ? execute_progress : NULL,
        .files = execution->files.pointers,
        .n_files = execution->files.n,
        .collect_cwd = cli->artifacts != NULL,
        .max_code_length = cli->is_program ? LAZ_NO_LIMIT : 0, /* the system has one on arguments */
    };

    int code = approver_begin(execution->approver, execution->engine, execution->input, err);
    if (!code)
        code = laz_execute(execution->engine, &session, laz_buf_text(&source->code),
                           source->code.len, &options, result, err);
    approver_end(execution->approver);
    if (!relay)
        laz_input_hold(execution->input, true); /* what is typed now is not an input of the code */
    terminal_line(cli->terminal, NULL);
    terminal_output_ends(cli->terminal);
    return code;
}

static int execute_check(struct laz_engine *engine, const struct source *source,
                         struct laz_result **result, struct laz_error *err)
{
    const struct laz_session_options options = {.size = sizeof options, .runtime = source->runtime};
    struct laz_session *session = NULL;
    int code = laz_session_open(engine, &options, &session, err);

    if (code == 0)
        code =
            laz_session_check(session, laz_buf_text(&source->code), source->code.len, result, err);
    laz_session_free(session);
    return code;
}

/* Ctrl-C ends an execution, not the command: it still reports and cleans up. */
static void execute_cancel(void *engine)
{
    laz_engine_cancel(engine); /* no effect on an engine that is not in use yet */
}

/* Shows the code what belongs to it. */
static int execute_show(struct cli *cli, const struct source *source)
{
    return source->shown.n && cli->command->bit == CLI_FOR_RUN &&
                   cli->values->session.where != LAZ_WHERE_CLUSTER
               ? cli_show_paths(cli, source->name, &source->shown)
               : 0;
}

static int execute_wants_terminal(struct cli *cli, const struct source *source)
{
    if (cli->terminal_on && cli->terminal_off)
        return cli_problem(cli, "run: -t and -T cannot be used together");
    if (cli->terminal_on && cli->json)
        return cli_problem(cli,
                           "run: -t and --json cannot be used together: what goes to a terminal "
                           "is in no result");
    if (cli->terminal_on && source->is_input)
        return cli_problem(cli, "run: -t needs standard input, which is the code");
    return 0;
}

/* What the code reads, and writes. Code that comes from standard input has read it to its end. */
static int execute_take_streams(struct execution *execution, const struct source *source,
                                struct laz_error *err)
{
    struct cli *cli = execution->cli;
    struct laz_relay_options options = {
        .has_terminal =
            cli->terminal_on || (cli->is_program && !cli->terminal_off && laz_relay_has_terminal()),
        .output = execute_pass_on,
        .user = execution,
    };

    execution->fd = -1;
    if (cli->command->bit != CLI_FOR_RUN || source->is_input)
        return 0;
    if (cli->values->session.where == LAZ_WHERE_CLUSTER) /* they are on this machine */
        return cli->terminal_on
                   ? laz_error_set(err, LAZ_EINVAL, 0,
                                   "-t needs a session on this machine (session.where)")
                   : 0;
    if (cli->json || !(options.has_terminal || cli->is_program))
        return laz_input_begin(STDIN_FILENO, &execution->input, &execution->fd, err);
    execution->has_terminal = options.has_terminal;
    int rc = laz_relay_begin(&options, &execution->relay, err);
    execution->input = rc ? NULL : laz_relay_input(execution->relay);
    return rc;
}

/* Everything that uses the streams ends, and then what comes by them. From here on a signal ends
 * the command at once. */
static void execute_end_streams(struct execution *execution, struct laz_interrupt **interrupt)
{
    const bool is_signalled = *interrupt && laz_interrupt_status(*interrupt);

    if (!execution->relay)
        return;
    laz_interrupt_free(*interrupt);
    *interrupt = NULL;
    laz_engine_free(execution->engine);
    execution->engine = NULL;
    laz_relay_end(execution->relay, !is_signalled);
    execution->relay = NULL;
    execution->input = NULL;
}

static int execute_engine(struct execution *execution, struct laz_error *err)
{
    const struct laz_engine_options options = cli_engine_options(execution->cli);
    int rc = laz_engine_new(execution->cli->settings, &options, &execution->engine, err);

    if (!rc)
        laz_engine_close_tools(execution->engine);
    return rc;
}

/* All that is done before there is a result. */
static int execute_whole(struct execution *execution, const struct source *source,
                         struct laz_interrupt **interrupt, struct laz_result **result,
                         struct laz_error *err)
{
    struct cli *cli = execution->cli;
    int rc = execution->approver ? laz_interrupt_block(interrupt, err) : laz_error_nomem(err);

    if (!rc)
        rc = execute_engine(execution, err);
    if (!rc)
        rc = laz_interrupt_start(*interrupt, execute_cancel, execution->engine, err);
    if (!rc)
        rc = cli_read_files(&cli->file, &execution->files, err);
    if (!rc)
        rc = execute_take_streams(execution, source, err);
    if (rc)
        return rc;
    return cli->command->bit == CLI_FOR_RUN ? execute_run(execution, source, result, err)
                                            : execute_check(execution->engine, source, result, err);
}

int cli_execute(struct cli *cli)
{
    struct source source = {.code = LAZ_BUF_INIT};
    struct execution execution = {.cli = cli, .fd = -1};
    struct laz_interrupt *interrupt = NULL;
    struct laz_result *result = NULL;
    struct laz_error err = {0};
    int status = source_read(cli, &source);

    execution.approver = approver_new(cli->terminal);
    if (!status)
        status = execute_wants_terminal(cli, &source);
    if (!status)
        status = execute_show(cli, &source);
    if (status)
        goto out;
    const int failed = execute_whole(&execution, &source, &interrupt, &result, &err);
    const int signalled = interrupt ? laz_interrupt_status(interrupt) : 0;
    const bool has_streams = execution.relay;
    execute_end_streams(&execution, &interrupt);
    if (has_streams && !cli->quiet)
        execute_tell_refusals(cli, result);
    status = failed ? cli_fail(cli, &err) : execute_finish(cli, result, &source);
    if (cli->is_program && !cli->quiet)
        execute_hint(cli, result, source.name);
    if (status == CLI_INTERRUPTED && signalled)
        status = signalled;
out:
    if (status && status != CLI_USAGE && cli->command->bit == CLI_FOR_RUN && !cli->passes_status)
        cli->passes_status = source_has_status(cli, &source);
    cli_free_files(&execution.files);
    laz_interrupt_free(interrupt);
    laz_result_free(result);
    laz_engine_free(execution.engine);
    approver_free(execution.approver);
    laz_input_end(execution.input);
    source_fini(&source);
    return status;
}
