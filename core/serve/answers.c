/* SPDX-License-Identifier: MIT */
/* answers.c - what is sent to a client: messages, results, and the bytes of artifacts.
 * Side: host.  Input trusted: no (the library has checked what comes from the sandbox).
 *
 * To write a large result as JSON, or files as base64, takes hundreds of milliseconds, in which no
 * session of the server would go on.  So that is a task beside the loop, which has the result for
 * itself; the lines that it has made go to the client as a whole.  A client may go meanwhile. */
#include "serve/serve_private.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct serve_answer {
    struct laz_task task;
    struct serve_request *request; /* NULL: its client has gone */
    struct laz_result *result;
    struct laz_buf lines;
    int64_t id;
    bool sends_artifacts;
    uint64_t room; /* bytes of artifacts in base64 that the client may leave unread */
};

void serve_count_unread(struct serve_client *client)
{
    const size_t unread = client->lines.is_gone ? 0 : laz_lines_unread(&client->lines),
                 before = client->unread;
    struct laz_server *first = client->server->first;

    if (!client->peer.identity || unread == before)
        return;
    client->unread = unread;
    if (laz_identity_unread(&first->identities, client->peer.identity, before, unread,
                            first->most_unread) ||
        unread < before || unread < SERVE_UNREAD_PART)
        return;
    laz_log(&client->server->engine->driver.log, LAZ_LOG_WARNING,
            "%s has left %" PRIu64 " bytes unread in all its connections: this one is closed",
            client->peer.identity->name, first->most_unread);
    client->lines.is_ending = client->lines.is_gone = true;
}

void serve_send(struct serve_client *client, enum serve_message_type type,
                const struct serve_message *message)
{
    struct laz_buf *line = laz_lines_add(&client->lines);

    if (!line)
        return;
    serve_message_make(type, message, line);
    laz_lines_send(&client->lines);
    serve_count_unread(client);
}

void serve_send_failed(struct serve_client *client, int64_t id, const struct laz_error *err)
{
    const struct serve_message message = {
        .has_id = id != 0,
        .id = id,
        .code = laz_error_name(err->code),
        .message = err->text,
    };

    serve_send(client, SERVE_FAILED, &message);
}

/* A client that does not read gets their names only. */
static void answer_artifacts(struct serve_answer *answer)
{
    struct laz_artifact artifact = LAZ_ARTIFACT_INIT;
    struct laz_buf text = LAZ_BUF_INIT;

    for (size_t i = 0; laz_result_artifact(answer->result, i, &artifact) == 0; i++) {
        struct serve_message part = {.has_id = true, .id = answer->id, .name = artifact.name};
        size_t done = 0;
        if (answer->lines.len + artifact.data_len / 3 * 4 > answer->room) {
            part.dropped = (int64_t)artifact.data_len;
            serve_message_make(SERVE_ARTIFACT, &part, &answer->lines);
            continue;
        }
        do {
            serve_artifact_part(&artifact, &done, &text, &part);
            serve_message_make(SERVE_ARTIFACT, &part, &answer->lines);
        } while (part.more && !text.failed);
        answer->lines.failed |= text.failed;
    }
    laz_buf_fini(&text);
}

/* All of its lines. */
static void answer_make(struct serve_answer *answer)
{
    const char *json = laz_result_json(answer->result);
    const struct serve_message message = {
        .has_id = true,
        .id = answer->id,
        .result = json,
        .result_len = strlen(json),
    };

    if (answer->sends_artifacts)
        answer_artifacts(answer);
    serve_message_make(SERVE_RESULT, &message, &answer->lines);
    laz_result_free(answer->result);
    answer->result = NULL;
}

static void answer_send(struct serve_client *client, struct serve_answer *answer)
{
    struct laz_error err = {0};

    if (answer->lines.failed) {
        laz_error_nomem(&err);
        serve_send_failed(client, answer->id, &err);
    } else {
        laz_lines_take(&client->lines, &answer->lines);
        serve_count_unread(client);
    }
}

static void answer_free(struct serve_answer *answer)
{
    laz_result_free(answer->result);
    laz_buf_fini(&answer->lines);
    free(answer);
}

static void answer_run(struct laz_task *task)
{
    answer_make((struct serve_answer *)(void *)task);
}

/* The request ends without it, or with it. */
static struct serve_client *answer_leave(struct serve_answer *answer)
{
    struct serve_request *request = answer->request;
    struct serve_client *client = request->client;

    client->n_answers--;
    answer->request = NULL;
    serve_request_free(request);
    return client;
}

static void answer_done(struct laz_task *task)
{
    struct serve_answer *answer = (struct serve_answer *)(void *)task;

    if (answer->request)
        answer_send(answer_leave(answer), answer);
    answer_free(answer);
}

void serve_answer_drop(struct serve_request *request)
{
    (void)answer_leave(request->answer);
}

/* Has it made beside the loop. False: it is to be made at once. */
static bool answer_begin(struct serve_answer *answer)
{
    struct serve_request *request = answer->request;
    struct serve_client *client = request->client;

    if (client->is_leaving || !laz_result_is_large(answer->result, answer->sends_artifacts))
        return false;
    answer->task = (struct laz_task){.run = answer_run, .done = answer_done};
    if (laz_driver_begin_task(&client->server->engine->driver, &answer->task, NULL))
        return false;
    client->n_answers++;
    request->answer = answer;
    return true;
}

static bool answer_result(struct serve_request *request, struct laz_result *result)
{
    struct serve_client *client = request->client;
    struct serve_answer *answer = calloc(1, sizeof *answer);
    const uint64_t unread = laz_lines_unread(&client->lines);
    struct laz_error err = {0};

    if (!answer) {
        laz_result_free(result);
        laz_error_nomem(&err);
        serve_send_failed(client, request->id, &err);
        return true;
    }
    answer->request = request;
    answer->result = result;
    answer->id = request->id;
    answer->sends_artifacts = request->sends_artifacts;
    answer->room = unread < SERVE_UNREAD / 2 ? SERVE_UNREAD / 2 - unread : 0;
    if (answer_begin(answer))
        return false;
    answer_make(answer);
    answer_send(client, answer);
    answer_free(answer);
    return true;
}

bool serve_answer(struct serve_request *request, struct laz_result *result,
                  const struct laz_error *err)
{
    const bool is_wanted = !request->client->lines.is_gone;

    if (is_wanted && result)
        return answer_result(request, result);
    if (is_wanted && err && err->code)
        serve_send_failed(request->client, request->id, err);
    laz_result_free(result);
    return true;
}

/* ---- what code writes, and how far it is, as it comes -----------------------------------------
 */

/* How many bytes at the end are the beginning of a character. */
static size_t output_cut(const char *text, size_t len)
{
    for (size_t back = 1; back <= 3 && back <= len; back++) {
        const size_t whole = laz_utf8_length(text[len - back]);
        if (whole > back)
            return back;
        if (whole)
            break;
    }
    return 0;
}

static void output_send(struct serve_request *request, int stream, const char *text, size_t len)
{
    if (len && laz_lines_is_full(&request->client->lines)) {
        request->dropped += len;
        return;
    }
    const struct serve_message output = {
        .has_id = true,
        .id = request->id,
        .stream = stream == LAZ_STDERR ? "stderr" : "stdout",
        .text = text,
        .text_len = len,
        .dropped = (int64_t)request->dropped,
    };
    request->dropped = 0;
    serve_send(request->client, SERVE_OUTPUT, &output);
}

/* A character that comes in two pieces is sent with the second. */
void serve_request_output(void *user, int stream, const char *data, size_t len)
{
    struct serve_request *request = user;
    struct laz_buf *tail = &request->tail[stream == LAZ_STDERR];

    laz_buf_append(tail, data, len);
    const size_t cut = output_cut(laz_buf_text(tail), tail->len);
    if (tail->len > cut)
        output_send(request, stream, tail->data, tail->len - cut);
    laz_buf_drop(tail, tail->len - cut);
}

void serve_request_progress(void *user, const struct laz_execution_usage *usage)
{
    struct serve_request *request = user;
    const struct serve_message progress = {
        .has_id = true,
        .id = request->id,
        .wall_ms = (int64_t)(usage->wall_us / 1000),
        .cpu_ms = (int64_t)(usage->cpu_us / 1000),
        .memory = (int64_t)usage->max_rss_bytes,
        .tool_calls = (int64_t)usage->tool_calls,
    };

    if (!laz_lines_is_full(&request->client->lines))
        serve_send(request->client, SERVE_PROGRESS, &progress);
}

void serve_request_output_ends(struct serve_request *request)
{
    for (int i = 0; i < 2; i++) {
        if (request->tail[i].len || (i == 1 && request->dropped))
            output_send(request, i ? LAZ_STDERR : LAZ_STDOUT, laz_buf_text(&request->tail[i]),
                        request->tail[i].len);
        laz_buf_fini(&request->tail[i]);
    }
}
