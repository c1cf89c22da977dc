/* SPDX-License-Identifier: MIT */
/* output.c - standard output that may fail, and messages that cannot lie.
 *
 * A full disk or a closed pipe must not look like success: the first failure is kept and decides
 * the exit status. Messages often quote untrusted code (the text of its error); escape sequences in
 * them are made visible, and each line has the prefix, so that no text can pose as another
 * message. */
#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void output_check(struct cli *cli, bool well)
{
    if (!well && !cli->output_errno)
        cli->output_errno = errno ? errno : EIO;
}

void cli_write(struct cli *cli, const char *data, size_t len)
{
    if (cli->output_errno)
        return;
    errno = 0;
    output_check(cli, fwrite(data, 1, len, stdout) == len && fflush(stdout) == 0);
}

void cli_puts(struct cli *cli, const char *text)
{
    cli_printf(cli, "%s", text);
}

void cli_printf(struct cli *cli, const char *format, ...)
{
    va_list args;

    if (cli->output_errno)
        return;
    errno = 0;
    va_start(args, format);
    output_check(cli, vfprintf(stdout, format, args) >= 0);
    va_end(args);
}

void cli_print(struct cli *cli, struct laz_buf *text)
{
    if (text->len && text->data[text->len - 1] != '\n')
        laz_buf_putc(text, '\n');
    cli_write(cli, laz_buf_text(text), text->len);
    if (text->failed && !cli->output_errno)
        cli->output_errno = ENOMEM;
    laz_buf_fini(text);
}

/* Those of an end from outside are kept: a clock, a limit, a signal. */
static int output_own_status(const struct cli *cli, int status)
{
    /* 129 and 143: SIGHUP and SIGTERM, which not every system has */
    static const int kept[] = {CLI_OK, 124, 129, CLI_INTERRUPTED, 137, CLI_UNREAD, 143};

    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (status == kept[i])
            return status;
    return cli->passes_status ? CLI_SETUP : status;
}

static int output_finish(struct cli *cli, int status)
{
    if (!cli->output_errno) {
        errno = 0;
        output_check(cli, fflush(stdout) == 0 && !ferror(stdout));
    }
    /* Some file systems report a full disk only here. */
    output_check(cli, fclose(stdout) == 0);
    if (!cli->output_errno)
        return status;
    if (cli->output_errno == EPIPE) /* lazaret ... | head */
        return CLI_UNREAD;
    cli_say(cli, "standard output cannot be written: %s", strerror(cli->output_errno));
    return CLI_OUTPUT;
}

int cli_finish(struct cli *cli, int status)
{
    const int last = output_finish(cli, status);

    return cli->is_of_code && last == status ? status : output_own_status(cli, last);
}

static void output_lines(struct cli *cli, const char *text)
{
    struct laz_buf out = LAZ_BUF_INIT;

    do {
        const size_t len = strcspn(text, "\n");
        laz_buf_puts(&out, "lazaret: ");
        laz_visible_line(&out, text, len);
        laz_buf_putc(&out, '\n');
        text += len + (text[len] == '\n');
    } while (*text);
    terminal_message(cli->terminal, laz_buf_text(&out), out.len);
    laz_buf_fini(&out);
}

/* Prints a message; `problems`, unless NULL, also collects it. */
static LAZ_PRINTF(3, 0) void output_say(struct cli *cli, struct laz_strv *problems,
                                        const char *format, va_list args)
{
    char *made = NULL;
    const char *text = vasprintf(&made, format, args) < 0 ? "out of memory" : made;

    output_lines(cli, text);
    if (problems)
        laz_strv_add(problems, text);
    if (text == made)
        free(made);
}

void cli_say(struct cli *cli, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    output_say(cli, NULL, format, args);
    va_end(args);
}

int cli_problem(struct cli *cli, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    output_say(cli, &cli->problems, format, args);
    va_end(args);
    return CLI_USAGE;
}
