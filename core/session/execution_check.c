/* SPDX-License-Identifier: MIT */
/* execution_check.c - the check of a large value, beside the loop.
 * Side: host.  Input trusted: no (what the box has sent as the value).
 *
 * The outcome is there, and nothing that the box sends changes it any more; only a cancel and a
 * limit are still heard, which discard it.  The check owns what it reads, so that an execution that
 * ends meanwhile leaves it alone: it then frees itself. */
#include "session/execution.h"

#include "session/result.h"

#include <stdlib.h>

struct laz_check {
    struct laz_task task;
    struct laz_execution *execution; /* NULL: it was dropped */
    atomic_bool is_dropped;          /* the same for its thread */
    struct laz_buf value, text;
    int rc;
    const char *why;
};

static void check_free(struct laz_check *check)
{
    laz_buf_fini(&check->value);
    laz_buf_fini(&check->text);
    free(check);
}

static void check_run(struct laz_task *task)
{
    struct laz_check *check = (struct laz_check *)(void *)task;

    if (!atomic_load(&check->is_dropped))
        check->rc = laz_artifacts_check(&check->value, &check->text, &check->why);
}

static void check_done(struct laz_task *task)
{
    struct laz_check *check = (struct laz_check *)(void *)task;
    struct laz_execution *execution = check->execution;

    if (execution) {
        execution->check = NULL;
        execution->checked(execution, check->rc, check->why, &check->value, &check->text);
    }
    check_free(check);
}

int laz_execution_check(struct laz_execution *execution, struct laz_buf *value,
                        struct laz_buf *text, const char **why)
{
    struct laz_check *check = calloc(1, sizeof *check);

    if (!check)
        return LAZ_ENOMEM;
    check->task = (struct laz_task){.run = check_run, .done = check_done};
    check->execution = execution;
    check->value = *value;
    check->text = *text;
    *value = *text = (struct laz_buf)LAZ_BUF_INIT;
    if (laz_driver_begin_task(execution->session->shared->driver, &check->task, NULL)) {
        check_free(check);
        *why = "no thread could be started to check a large value";
        return LAZ_EOS;
    }
    execution->check = check;
    return 0;
}

void laz_execution_drop_check(struct laz_execution *execution)
{
    struct laz_check *check = execution->check;

    if (!check)
        return;
    check->execution = NULL;
    atomic_store(&check->is_dropped, true);
    execution->check = NULL;
}
