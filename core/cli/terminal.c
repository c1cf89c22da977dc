/* SPDX-License-Identifier: MIT */
/* terminal.c - what the command writes at a terminal: output of the code, messages, and one line of
 * progress, by several threads.
 *
 * The line of progress goes away before anything else is written, and does not come while a line of
 * output is incomplete, which would be overwritten.  While a question stands, everything else is
 * held, messages as well: a question that is shown again below a message would no longer show the
 * part of the answer that is already typed, and that the next newline gives.
 * Side: host.  Input trusted: no (output of the code). */
#include "cli/cli.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* To the beginning of the line, and erase it (ECMA-48: EL). */
#define TERMINAL_ERASE "\r\033[K"

enum terminal_kind {
    TERMINAL_OUTPUT, /* of the code */
    TERMINAL_END,    /* of its output */
    TERMINAL_MESSAGE,
};

struct terminal {
    struct cli *cli;
    pthread_mutex_t lock;
    bool has_line;   /* a line of progress can be shown */
    bool is_shown;   /* and is */
    bool is_in_line; /* the last line of output is incomplete */
    bool is_held;
    bool is_terminal[LAZ_STDERR + 1];
    struct laz_visible visible[LAZ_STDERR + 1];
    struct laz_buf held; /* pieces, each behind a struct terminal_piece */
};

struct terminal_piece {
    enum terminal_kind kind;
    int stream;
    size_t len;
};

struct terminal *terminal_new(struct cli *cli)
{
    struct terminal *terminal = calloc(1, sizeof *terminal);
    const char *kind = getenv("TERM");

    if (!terminal)
        return NULL;
    terminal->cli = cli;
    terminal->is_terminal[LAZ_STDOUT] = isatty(STDOUT_FILENO);
    terminal->is_terminal[LAZ_STDERR] = isatty(STDERR_FILENO);
    terminal->has_line =
        terminal->is_terminal[LAZ_STDERR] && kind && *kind && strcmp(kind, "dumb") != 0;
    pthread_mutex_init(&terminal->lock, NULL);
    return terminal;
}

void terminal_free(struct terminal *terminal)
{
    if (!terminal)
        return;
    pthread_mutex_destroy(&terminal->lock);
    laz_buf_fini(&terminal->held);
    free(terminal);
}

/* ---- writing; the caller holds the lock ------------------------------------------------------ */

static void terminal_hide(struct terminal *terminal)
{
    if (!terminal->is_shown)
        return;
    fputs(TERMINAL_ERASE, stderr);
    fflush(stderr);
    terminal->is_shown = false;
}

/* Output goes unchanged to a file; at a terminal control characters are made visible. */
static void terminal_write_output(struct terminal *terminal, const struct terminal_piece *piece,
                                  const char *data)
{
    const bool is_terminal = terminal->is_terminal[piece->stream];
    struct laz_visible *visible = &terminal->visible[piece->stream];
    struct laz_buf shown = LAZ_BUF_INIT;
    size_t len = piece->len;

    if (is_terminal && len)
        terminal->is_in_line = data[len - 1] != '\n';
    if (is_terminal && piece->kind == TERMINAL_OUTPUT)
        laz_visible_add(visible, &shown, data, len);
    else if (is_terminal)
        laz_visible_end(visible, &shown);
    if (is_terminal) {
        data = laz_buf_text(&shown);
        len = shown.len;
    }
    if (piece->stream == LAZ_STDERR)
        fwrite(data, 1, len, stderr);
    else if (len)
        cli_write(terminal->cli, data, len);
    laz_buf_fini(&shown);
}

/* A message begins a line of its own; written in one call, so that lines do not mix. */
static void terminal_write_message(struct terminal *terminal, const char *text, size_t len)
{
    struct laz_buf line = LAZ_BUF_INIT;

    if (terminal->is_terminal[LAZ_STDERR]) {
        if (terminal->is_in_line)
            laz_buf_putc(&line, '\n');
        terminal->is_in_line = false;
    }
    laz_buf_append(&line, text, len);
    if (line.failed)
        fwrite(text, 1, len, stderr);
    else
        fwrite(line.data, 1, line.len, stderr);
    laz_buf_fini(&line);
}

static void terminal_write(struct terminal *terminal, const struct terminal_piece *piece,
                           const char *data)
{
    if (piece->len)
        terminal_hide(terminal);
    if (piece->kind == TERMINAL_MESSAGE)
        terminal_write_message(terminal, data, piece->len);
    else
        terminal_write_output(terminal, piece, data);
}

/* False: out of memory, nothing of it is held. */
static bool terminal_keep(struct terminal *terminal, const struct terminal_piece *piece,
                          const char *data)
{
    if (!laz_buf_reserve(&terminal->held, sizeof *piece + piece->len))
        return false;
    laz_buf_append(&terminal->held, piece, sizeof *piece);
    laz_buf_append(&terminal->held, data, piece->len);
    return true;
}

/* ---- for the subcommands --------------------------------------------------------------------- */

static bool terminal_add(struct terminal *terminal, const struct terminal_piece *piece,
                         const char *data)
{
    pthread_mutex_lock(&terminal->lock);
    if (!terminal->is_held || !terminal_keep(terminal, piece, data))
        terminal_write(terminal, piece, data);
    const bool is_well = !terminal->cli->output_errno;
    pthread_mutex_unlock(&terminal->lock);
    return is_well;
}

bool terminal_output(struct terminal *terminal, int stream, const char *data, size_t len)
{
    const struct terminal_piece piece = {TERMINAL_OUTPUT, stream, len};

    return terminal_add(terminal, &piece, data);
}

void terminal_output_ends(struct terminal *terminal)
{
    for (int stream = LAZ_STDOUT; stream <= LAZ_STDERR; stream++) {
        const struct terminal_piece piece = {TERMINAL_END, stream, 0};
        (void)terminal_add(terminal, &piece, "");
    }
}

void terminal_message(struct terminal *terminal, const char *text, size_t len)
{
    const struct terminal_piece piece = {TERMINAL_MESSAGE, LAZ_STDERR, len};

    (void)terminal_add(terminal, &piece, text);
}

void terminal_line(struct terminal *terminal, const char *text)
{
    if (!terminal)
        return;
    pthread_mutex_lock(&terminal->lock);
    if (!text) {
        terminal_hide(terminal);
    } else if (terminal->has_line && !terminal->cli->quiet && !terminal->is_held &&
               !terminal->is_in_line) {
        fputs(TERMINAL_ERASE, stderr); /* also when none is shown: what is typed shows as well */
        fputs(text, stderr);
        fflush(stderr);
        terminal->is_shown = true;
    }
    pthread_mutex_unlock(&terminal->lock);
}

void terminal_hold(struct terminal *terminal)
{
    pthread_mutex_lock(&terminal->lock);
    terminal_hide(terminal);
    terminal->is_held = true;
    pthread_mutex_unlock(&terminal->lock);
}

void terminal_release(struct terminal *terminal, bool is_new_line)
{
    struct terminal_piece piece;

    pthread_mutex_lock(&terminal->lock);
    terminal->is_held = false;
    terminal->is_in_line &= !is_new_line;
    for (size_t at = 0; at < terminal->held.len; at += piece.len) {
        memcpy(&piece, terminal->held.data + at, sizeof piece);
        at += sizeof piece;
        terminal_write(terminal, &piece, terminal->held.data + at);
    }
    laz_buf_clear(&terminal->held);
    pthread_mutex_unlock(&terminal->lock);
}
