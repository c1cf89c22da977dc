/* SPDX-License-Identifier: MIT */
/* approve.c - asks at the terminal whether a tool may be called.
 *
 * The question goes to /dev/tty, so that it works while the streams are pipes; what else would be
 * written is held until it is answered (terminal.c).  Anything but a clear yes is a no.
 * Side: host.  Input trusted: no (the arguments are shown so that a terminal only shows them). */
#include "cli/cli.h"

#include "os/descriptors.h"
#include "os/input.h"
#include "os/terminal.h"
#include "os/wake.h"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

static void question_make(struct laz_buf *text, const char *tool, const char *args, size_t len)
{
    laz_buf_printf(text, "\nlazaret: the code calls %s, which needs an approval\n", tool);
    laz_visible_members(text, args, len);
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
    laz_input_hold(approver->input, true); /* what is typed now is not an input of the code */
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
