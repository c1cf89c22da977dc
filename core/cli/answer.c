/* SPDX-License-Identifier: MIT */
/* answer.c - what --json prints: one document on standard output, whatever happens.
 *
 * A subcommand that could do what it was asked prints its own document, begun and ended here. For
 * all others the end of the command prints one that says why not. So each has "ok", and there is no
 * way to an exit status past the document. */
#include "cli/cli.h"

#include "os/current_process.h"
#include "session/shared.h"

#include <string.h>

/* What files may be called in messages. */
static void answer_files(const struct cli *cli, struct laz_strv *files)
{
    const char *const names[] = {
        cli->config,
        cli->settings ? laz_settings_file(cli->settings) : NULL,
        laz_os_getenv("LAZARET_CONFIG"),
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i])
            laz_strv_add(files, names[i]);
    for (int i = 0; i < cli->n_operands; i++)
        laz_strv_add(files, cli->operands[i]);
}

static void answer_number(struct laz_json_write *write, const char *key, unsigned number)
{
    if (number)
        laz_json_add_uint(write, key, number);
    else
        laz_json_add_null(write, key);
}

static void answer_part(struct laz_json_write *write, const char *key, const char *text, size_t len)
{
    if (text)
        laz_json_add_bytes(write, key, text, len);
    else
        laz_json_add_null(write, key);
}

static void answer_mistake(struct laz_json_write *write, const struct laz_mistake *mistake)
{
    laz_json_begin_object(write, NULL);
    answer_part(write, "file", mistake->file, mistake->file_len);
    answer_number(write, "line", mistake->line);
    answer_number(write, "column", mistake->column);
    answer_part(write, "key", mistake->key, mistake->key_len);
    answer_part(write, "message", mistake->text, mistake->text_len);
    laz_json_end_object(write);
}

void cli_answer_errors(struct cli *cli, struct laz_json_write *write,
                       const struct laz_strv *messages)
{
    struct laz_strv files = LAZ_STRV_INIT;
    struct laz_mistake mistake;

    answer_files(cli, &files);
    laz_json_begin_list(write, "errors");
    for (size_t i = 0; i < messages->n; i++)
        for (const char *next = messages->items[i]; next; next = mistake.next) {
            laz_mistake_read(next, &files, &mistake);
            answer_mistake(write, &mistake);
        }
    laz_json_end_list(write);
    write->to->failed |= messages->failed || files.failed;
    laz_strv_fini(&files);
}

void cli_answer_begin(struct cli_answer *answer, bool ok)
{
    *answer = (struct cli_answer){.json = LAZ_BUF_INIT};
    answer->write.to = &answer->json;
    laz_json_begin_object(&answer->write, NULL);
    laz_json_add_bool(&answer->write, "ok", ok);
}

int cli_answer_end(struct cli *cli, struct cli_answer *answer, int status)
{
    laz_json_end_object(&answer->write);
    if (answer->json.failed) {
        laz_buf_fini(&answer->json);
        cli_problem(cli, "out of memory");
        return CLI_SETUP;
    }
    cli->answered = true;
    cli_print(cli, &answer->json);
    return status;
}

/* ---- where nothing was printed --------------------------------------------------------------- */

/* The verdict of a run that did not begin follows from the exit status. */
static struct laz_result *answer_result(int status, const char *why)
{
    static const struct {
        int status;
        enum laz_verdict verdict;
        const char *kind; /* NULL: the verdict's */
    } rows[] = {
        {CLI_USAGE, LAZ_VERDICT_SETUP_FAILED, "usage"},
        {CLI_REFUSED, LAZ_VERDICT_BLOCKED, "refused"},
        {CLI_SETUP, LAZ_VERDICT_SETUP_FAILED, NULL},
        {CLI_INTERRUPTED, LAZ_VERDICT_CANCELLED, NULL}, /* or the number of another signal */
    };
    size_t i = 0;

    while (i + 1 < sizeof rows / sizeof *rows && rows[i].status != status)
        i++;
    return laz_result_nothing_ran(rows[i].verdict, rows[i].kind, why);
}

int cli_answer_result(struct cli *cli, struct laz_result *result, int status)
{
    const char *text = laz_result_json(result);
    const char *members = text ? strchr(text, ',') : NULL; /* behind the first, "ok" */
    struct cli_answer answer;

    if (text && !cli->problems.n) { /* without a copy: values may be large */
        cli->answered = true;
        cli_puts(cli, text);
        cli_write(cli, "\n", 1);
        return status;
    }
    cli_answer_begin(&answer, false);
    if (members)
        laz_buf_append(&answer.json, members, strlen(members) - 1);
    else
        answer.json.failed = true;
    cli_answer_errors(cli, &answer.write, &cli->problems);
    return cli_answer_end(cli, &answer, status);
}

int cli_answer_missing(struct cli *cli, int status)
{
    struct cli_answer answer;

    if (!cli->json || cli->answered)
        return status;
    if (status && cli->command && cli->command->bit & CLI_FOR_CODE) {
        struct laz_buf why = LAZ_BUF_INIT;
        for (size_t i = 0; i < cli->problems.n; i++)
            laz_buf_printf(&why, "%s%s", i ? "\n" : "", cli->problems.items[i]);
        struct laz_result *result = answer_result(status, laz_buf_text(&why));
        status = cli_answer_result(cli, result, status);
        laz_result_free(result);
        laz_buf_fini(&why);
        return status;
    }
    cli_answer_begin(&answer, !status);
    if (status)
        cli_answer_errors(cli, &answer.write, &cli->problems);
    return cli_answer_end(cli, &answer, status);
}

int cli_refuse_json(struct cli *cli)
{
    return cli_problem(
        cli, "%s: --json: standard output has the messages of a protocol, and no document",
        cli->command->name);
}

/* ---- texts ------------------------------------------------------------------------------------
 */

int cli_answer_text(struct cli *cli, const char *key, struct laz_buf *text)
{
    struct cli_answer answer;
    int status = CLI_OK;

    if (cli->json) {
        cli_answer_begin(&answer, true);
        laz_json_add_bytes(&answer.write, key, laz_buf_text(text), text->len);
        answer.json.failed |= text->failed;
        status = cli_answer_end(cli, &answer, CLI_OK);
        laz_buf_fini(text);
    } else {
        cli_print(cli, text);
    }
    return status;
}

int cli_version(struct cli *cli)
{
    struct cli_answer answer;

    if (!cli->json) {
        cli_printf(cli, "lazaret %s\n", laz_version());
        return CLI_OK;
    }
    cli_answer_begin(&answer, true);
    laz_json_add_text(&answer.write, "version", laz_version());
    return cli_answer_end(cli, &answer, CLI_OK);
}
