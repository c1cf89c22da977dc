/* SPDX-License-Identifier: MIT */
/* large_answers.c - large answers: the result of an execution, and what it has that can be read.
 * Side: host.  Input trusted: no (content comes from the sandbox; the library has checked it).
 *
 * To copy and escape tens of megabytes takes hundreds of milliseconds, in which no session of the
 * server would go on.  So that is a task beside the loop: it has the result for itself, or holds
 * the resource, and writes into a buffer of its own, which then goes to the client as a whole. What
 * the result has to be read is added to the resources with its answer. */
#include "mcp/mcp_private.h"

#include "base/container.h"
#include "engine/engine.h"

#include <stdlib.h>
#include <string.h>

#define ANSWERS_AT_ONCE ((size_t)256 << 10) /* bytes that are answered in the loop */

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

static void answer_sent(struct mcp_out *out, bool is_answer)
{
    (void)out, (void)is_answer;
}

static bool answer_is_full(const struct mcp_out *out)
{
    (void)out;
    return false;
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

/* Sends the line, which is the memory of its client where that has nothing else to read. */
static void answer_send(struct mcp_out *to, struct laz_buf *line)
{
    struct laz_buf *buf = to->add(to);

    if (!buf)
        return;
    if (buf->len) {
        laz_buf_append(buf, laz_buf_text(line), line->len);
        buf->failed |= line->failed;
    } else {
        laz_buf_fini(buf);
        *buf = *line;
        *line = (struct laz_buf)LAZ_BUF_INIT;
    }
    to->send(to, true);
}

static void answer_free(struct mcp_answer *answer)
{
    struct mcp_answer **at = &answer->mcp->answers;

    while (*at && *at != answer)
        at = &(*at)->next;
    if (*at) {
        *at = answer->next;
        answer->mcp->n_answers--;
    }
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
    if (answer->to)
        answer_send(answer->to, &answer->line);
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
    answer->out =
        (struct mcp_out){.add = answer_add, .send = answer_sent, .is_full = answer_is_full};
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

/* Is there so much to be copied? */
static bool answer_is_large(const struct laz_result *result)
{
    const char *text = laz_result_text(result);
    size_t size = strlen(laz_result_value(result)) + (text ? strlen(text) : 0), len;
    struct laz_artifact artifact = LAZ_ARTIFACT_INIT;

    for (size_t i = 0; size <= ANSWERS_AT_ONCE && i < laz_result_outputs(result); i++, size += len)
        (void)laz_result_output(result, i, NULL, &len);
    for (size_t i = 0; laz_result_artifact(result, i, &artifact) == 0; i++)
        size += artifact.data_len;
    return size > ANSWERS_AT_ONCE;
}

void mcp_answer_result(struct laz_mcp *mcp, struct mcp_asked *asked, struct laz_result *result,
                       const struct laz_error *err)
{
    struct mcp_resource_list kept = {0};

    if (result && asked->id && asked->out && answer_is_large(result) &&
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
    if (resource->len <= ANSWERS_AT_ONCE || !asked->id || !asked->out ||
        !answer_begin(mcp, asked, NULL, resource))
        mcp_resource_write(asked, resource);
}
