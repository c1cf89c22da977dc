/* SPDX-License-Identifier: MIT */
/* approve.c - asks at the terminal whether a tool may be called.
 *
 * The question goes to /dev/tty, so that it works while the streams are pipes; what else would be
 * written is held until it is answered (terminal.c).  Anything but a clear yes is a no.
 * Side: host.  Input trusted: no (the arguments are shown so that a terminal only shows them). */
#include "cli/cli.h"

#include "base/json.h"
#include "os/descriptors.h"
#include "os/input.h"
#include "os/terminal.h"
#include "os/wake.h"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define APPROVE_SHOWN 2000 /* bytes of an argument that are shown */

struct approver {
    struct terminal *terminal;
    struct laz_input *input; /* of the code; NULL: it has none */
    pthread_mutex_t turn;    /* one question at a time */
};

struct approver *approver_new(struct terminal *terminal)
{
    struct approver *approver = calloc(1, sizeof *approver);

    if (!approver)
        return NULL;
    approver->terminal = terminal;
    pthread_mutex_init(&approver->turn, NULL);
    return approver;
}

void approver_free(struct approver *approver)
{
    if (!approver)
        return;
    pthread_mutex_destroy(&approver->turn);
    free(approver);
}

void approver_end(struct approver *approver)
{
    pthread_mutex_lock(&approver->turn); /* a question that was cancelled ends */
    pthread_mutex_unlock(&approver->turn);
}

/* ---- the question --------------------------------------------------------------------------- */

/* Appends a string as it reads, between quotes; an escape of JSON could hide what it says. Returns
 * its length in `raw`; *is_cut: not all of it is shown. */
static size_t question_string(struct laz_buf *text, const char *raw, size_t len, bool *is_cut)
{
    struct laz_buf read = LAZ_BUF_INIT, quoted = LAZ_BUF_INIT;
    const size_t used = laz_json_decode_string(raw, len, &read);

    *is_cut = read.len > APPROVE_SHOWN;
    for (size_t i = 0; i < read.len && i < APPROVE_SHOWN; i++) {
        if (read.data[i] == '"' || read.data[i] == '\\')
            laz_buf_putc(&quoted, '\\');
        laz_buf_putc(&quoted, read.data[i]);
    }
    laz_buf_putc(text, '"');
    laz_visible_line(text, laz_buf_text(&quoted), quoted.len);
    laz_buf_putc(text, '"');
    text->failed |= quoted.failed || read.failed;
    laz_buf_fini(&read);
    laz_buf_fini(&quoted);
    return used ? used : len;
}

/* Appends a value on one line; of a long one the beginning, and its size. */
static void question_value(struct laz_buf *text, const char *raw, size_t len)
{
    const size_t begin = text->len;
    bool is_cut = false;
    size_t i = 0;

    while (i < len && !is_cut && text->len - begin <= APPROVE_SHOWN) {
        if (raw[i] == '"')
            i += question_string(text, raw + i, len - i, &is_cut);
        else
            laz_buf_putc(text, raw[i++]);
    }
    if (is_cut || i < len)
        laz_buf_printf(text, " ... (%zu bytes in all; the rest is not shown)", len);
}

static void question_make(struct laz_buf *text, const char *tool, const char *args, size_t len)
{
    struct laz_json_items members = laz_json_members(args, len);
    struct laz_json_found found;

    laz_buf_printf(text, "\nlazaret: the code calls %s, which needs an approval\n", tool);
    while (laz_json_next_member(&members, &found)) {
        laz_buf_puts(text, "    ");
        laz_visible_line(text, found.key, found.key_len);
        laz_buf_puts(text, " = ");
        question_value(text, found.raw, found.len);
        laz_buf_putc(text, '\n');
    }
    laz_buf_puts(text, "lazaret: allow this call? [y/N] ");
}

/* Is it "y" or "yes"? */
static bool question_is_yes(const char *line)
{
    size_t len;

    line += strspn(line, " \t");
    len = strlen(line);
    while (len && isspace((unsigned char)line[len - 1]))
        len--;
    return (len == 1 && strncasecmp(line, "y", 1) == 0) ||
           (len == 3 && strncasecmp(line, "yes", 3) == 0);
}

static void question_cancelled(void *user)
{
    laz_os_wake(*(int *)user);
}

/* False: the question was not shown. */
static bool question_ask(struct laz_reply *reply, const char *args, size_t len)
{
    struct laz_buf question = LAZ_BUF_INIT, line = LAZ_BUF_INIT;
    struct laz_error err = {0};
    int cancel_fd = laz_os_wake_new();

    question_make(&question, laz_reply_caller(reply)->tool, args, len);
    int rc = question.failed || cancel_fd < 0 ? laz_error_nomem(&err) : 0;
    if (!rc) {
        (void)laz_reply_on_cancel(reply, question_cancelled, &cancel_fd);
        rc = laz_os_ask_terminal(&question, cancel_fd, &line, &err);
        (void)laz_reply_on_cancel(reply, NULL, NULL); /* it does not run any more */
    }
    if (rc)
        laz_reply_error(reply, err.text);
    else if (question_is_yes(laz_buf_text(&line)))
        laz_reply_value(reply, "true", 4);
    else
        laz_reply_value(reply, "false", 5);
    laz_os_close(&cancel_fd);
    laz_buf_fini(&question);
    laz_buf_fini(&line);
    return !rc || rc == LAZ_ECANCELLED;
}

static void approver_decide(void *user, const char *args, size_t len, struct laz_reply *reply)
{
    struct approver *approver = user;
    bool is_shown = false;

    pthread_mutex_lock(&approver->turn);
    terminal_hold(approver->terminal);
    laz_input_hold(approver->input, true); /* what is typed now is no input of the code */
    if (!laz_reply_is_cancelled(reply))
        is_shown = question_ask(reply, args, len);
    laz_input_hold(approver->input, false);
    terminal_release(approver->terminal, is_shown);
    pthread_mutex_unlock(&approver->turn);
}

int approver_begin(struct approver *approver, struct laz_engine *engine, struct laz_input *input,
                   struct laz_error *err)
{
    approver->input = input;
    return laz_engine_set_approver(engine, approver_decide, approver, err);
}
