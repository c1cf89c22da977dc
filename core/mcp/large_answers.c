/* SPDX-License-Identifier: MIT */
/* large_answers.c - large answers: the result of an execution, and what it has that can be read.
 * Side: host.  Input trusted: no (content comes from the sandbox; the library has checked it).
 *
 * To copy and escape tens of megabytes takes hundreds of milliseconds, in which no session of the
 * server would go on.  So that is a task beside the loop: it has the result for itself, or holds
 * the resource, and writes into a buffer of its own, which then goes to the client as a whole. What
 * the result has to be read is added to the resources with its answer. */
#include "mcp/mcp_private.h"

#include <stdlib.h>

struct mcp_answer {
    struct laz_task task;
    struct mcp_out out; /* to `line` */
    struct laz_buf line;
    struct mcp_answer *next;
    struct laz_mcp *mcp;
    struct mcp_asked asked;      /* its peer and where it goes are the next two */
    const struct mcp_peer *peer; /* whose it is; only compared */
    struct mcp_out *to;          /* NULL: nobody waits for it */
    struct laz_result *result;   /* or */
    struct mcp_resource *resource;
    struct mcp_resource_list kept;
};

static struct laz_buf *answer_add(struct mcp_out *out)
{
    return &(LAZ_CONTAINER(out, struct mcp_answer, out))->line;
}

static void answer_run(struct laz_task *task)
{
    struct mcp_answer *answer = (struct mcp_answer *)(void *)task;

    if (answer->resource)
        mcp_resource_write(&answer->asked, answer->resource);
    else
        mcp_result_write(answer->mcp, &answer->asked, answer->result, &answer->kept);
    laz_result_free(answer->result);
    answer->result = NULL;
}

static void answer_free(struct mcp_answer *answer)
{
    LAZ_LIST_REMOVE(answer->mcp->answers, answer);
    answer->mcp->n_answers--;
    if (answer->resource)
        mcp_resource_release(answer->resource);
    laz_result_free(answer->result);
    laz_buf_fini(&answer->line);
    mcp_asked_fini(&answer->asked);
    free(answer);
}

static void answer_done(struct laz_task *task)
{
    struct mcp_answer *answer = (struct mcp_answer *)(void *)task;

    mcp_resources_keep(answer->mcp, &answer->kept);
    struct laz_buf *line = answer->to ? answer->to->add(answer->to) : NULL;
    if (line) {
        laz_buf_take(line, &answer->line);
        answer->to->send(answer->to, true);
    }
    answer_free(answer);
}

void mcp_answers_gone(struct laz_mcp *mcp, const struct mcp_out *out, const struct mcp_peer *peer)
{
    for (struct mcp_answer *answer = mcp->answers; answer; answer = answer->next)
        if (answer->to && (answer->to == out || (peer && answer->peer == peer)))
            answer->to = NULL;
}

/* Has an answer made beside the loop. False: it is to be made at once, and nothing was taken. */
static bool answer_begin(struct laz_mcp *mcp, struct mcp_asked *asked, struct laz_result *result,
                         struct mcp_resource *resource)
{
    struct mcp_answer *answer = calloc(1, sizeof *answer);

    if (!answer)
        return false;
    answer->task = (struct laz_task){.run = answer_run, .done = answer_done};
    answer->out.add = answer_add;
    answer->mcp = mcp;
    answer->asked = *asked;
    answer->asked.peer = NULL;
    answer->asked.out = &answer->out;
    answer->peer = asked->peer;
    answer->to = asked->out;
    answer->result = result;
    answer->resource = resource;
    if (laz_driver_begin_task(&mcp->engine->driver, &answer->task, NULL)) {
        free(answer);
        return false;
    }
    if (resource)
        resource->readers++;
    answer->next = mcp->answers;
    mcp->answers = answer;
    mcp->n_answers++;
    *asked = (struct mcp_asked){0};
    return true;
}

void mcp_answer_result(struct laz_mcp *mcp, struct mcp_asked *asked, struct laz_result *result,
                       const struct laz_error *err)
{
    struct mcp_resource_list kept = {0};

    if (result && asked->id && asked->out && laz_result_is_large(result, true) &&
        answer_begin(mcp, asked, result, NULL))
        return;
    if (asked->id && result) {
        mcp_result_write(mcp, asked, result, &kept);
        mcp_resources_keep(mcp, &kept);
    } else if (asked->id) {
        mcp_refuse(asked, err);
    }
    laz_result_free(result);
}

void mcp_answer_resource(struct laz_mcp *mcp, struct mcp_asked *asked,
                         struct mcp_resource *resource)
{
    if (resource->len <= LAZ_RESULT_LARGE || !asked->id || !asked->out ||
        !answer_begin(mcp, asked, NULL, resource))
        mcp_resource_write(asked, resource);
}
