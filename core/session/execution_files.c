/* SPDX-License-Identifier: MIT */
/* execution_files.c - files that go into the session, and what comes out of it in parts.
 * Side: host.  Input trusted: no (what comes from the box).
 *
 * A file is put as code is checked: a request that waits for its session, has clocks and can be
 * cancelled.  It goes in parts, each of which is answered, so that no more than one of them waits
 * anywhere. */
#include "session/execution.h"

#include "base/base64.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>

#define FILES_PART     ((size_t)192 << 10) /* bytes of a part; a multiple of 3 */
#define FILES_AROUND   1536u               /* bytes of its line beside its data, at most */
#define FILES_LEFT_OUT 16                  /* sentences about artifacts that are kept */

/* ---- into the session ------------------------------------------------------------------------ */

void laz_execution_put_line(struct laz_execution *execution, struct laz_buf *line)
{
    const uint64_t most = execution->session->shared->values->session.max_value_size;
    const size_t room = (size_t)(most - FILES_AROUND) / 4 * 3; /* it is 4 KiB at least */
    const size_t size = room < FILES_PART ? room : FILES_PART;
    const size_t left = execution->len - execution->sent, n = left < size ? left : size;
    struct laz_buf data = LAZ_BUF_INIT;

    laz_base64_encode(&data, execution->code + execution->sent, n);
    const struct laz_message put = {
        .type = LAZ_MESSAGE_PUT,
        .has_id = true,
        .id = execution->id,
        .name = execution->file,
        .data = laz_buf_text(&data),
        .data_len = data.len,
        .part = execution->sent > 0,
        .more = n < left,
    };
    laz_message_make(&put, line);
    line->failed |= data.failed;
    laz_buf_fini(&data);
    execution->sent += n;
}

bool laz_execution_put_next(struct laz_execution *execution)
{
    struct laz_buf line = LAZ_BUF_INIT;

    if (execution->asked != LAZ_ASKED_PUT || execution->sent == execution->len)
        return false;
    laz_execution_put_line(execution, &line);
    if (line.failed)
        laz_execution_stop(execution, LAZ_STOP_HOST, 0, "out of memory");
    else if (!laz_box_send(execution->session->box, line.data, line.len, 0))
        laz_execution_stop(execution, LAZ_STOP_PROTOCOL, 0,
                           "the agent's channel was closed before the file was sent");
    laz_buf_fini(&line);
    return true;
}

/* What an error is called whose cause is told by the verdict. */
static int put_code(const struct laz_result *result)
{
    switch (laz_result_verdict(result)) {
    case LAZ_VERDICT_ERROR:
    case LAZ_VERDICT_FSIZE_LIMIT:
        return LAZ_EOS;
    case LAZ_VERDICT_TIMEOUT:
    case LAZ_VERDICT_DEADLINE:
        return LAZ_ETIMEOUT;
    case LAZ_VERDICT_CANCELLED:
        return LAZ_ECANCELLED;
    default:
        return LAZ_ESETUP;
    }
}

/* Frees the result. */
static int put_result(struct laz_result *result, struct laz_error *err)
{
    int rc = 0;

    if (laz_result_verdict(result) != LAZ_VERDICT_OK) {
        const char *why = laz_result_error(result);
        rc = laz_error_set(err, put_code(result), 0, "%s", why ? why : laz_result_detail(result));
    }
    laz_result_free(result);
    return rc;
}

/* Fills what is asked for. */
static int put_ask(struct laz_execution *asked, struct laz_session *session, const char *name,
                   const void *data, size_t len, struct laz_error *err)
{
    if (!name || (!data && len))
        return laz_error_null(err, name ? "the content of the file" : "the name of the file");
    if (!laz_name_is_plain(name))
        return laz_error_set(err, LAZ_EINVAL, 0,
                             "the name of a file for a session has no directories and no control "
                             "characters");
    *asked = (struct laz_execution){
        .session = session,
        .code = data ? data : "",
        .len = len,
        .asked = LAZ_ASKED_PUT,
        .file = name,
    };
    return 0;
}

int laz_session_put_file(struct laz_session *session, const char *name, const void *data,
                         size_t len, struct laz_error *err)
{
    struct laz_result *result = NULL;
    struct laz_execution asked;
    int rc = put_ask(&asked, session, name, data, len, err);

    if (!rc)
        rc = laz_execution_and_wait(&asked, NULL, &result, err);
    return rc ? rc : put_result(result, err);
}

/* Who waits for a file that is put. */
struct put_waiter {
    void (*done)(void *user, const struct laz_error *err);
    void *user;
};

static void put_done(void *user, struct laz_result *result, const struct laz_error *failed)
{
    struct put_waiter waiter = *(struct put_waiter *)user;
    struct laz_error err = {0};
    int rc = failed ? failed->code : put_result(result, &err);

    free(user);
    waiter.done(waiter.user, failed ? failed : rc ? &err : NULL);
}

int laz_session_put_file_async(struct laz_session *session, const char *name, const void *data,
                               size_t len, void (*done)(void *user, const struct laz_error *err),
                               void *user, struct laz_error *err)
{
    struct put_waiter *waiter = calloc(1, sizeof *waiter);
    struct laz_execution asked;

    if (!waiter)
        return laz_error_nomem(err);
    *waiter = (struct put_waiter){done, user};
    int rc = done ? put_ask(&asked, session, name, data, len, err)
                  : laz_error_null(err, "the function that is told of it");
    if (!rc) {
        asked.done = put_done;
        asked.user = waiter;
        rc = laz_execution_begin(&asked, true, NULL, err);
    }
    if (rc)
        free(waiter);
    return rc;
}

/* ---- out of it ------------------------------------------------------------------------------- */

static void files_refuse(struct laz_execution *execution, int rc, const char *why)
{
    if (rc == LAZ_ENOMEM)
        laz_execution_stop(execution, LAZ_STOP_HOST, 0, "out of memory");
    else
        laz_execution_stop(execution, LAZ_STOP_PROTOCOL, 0, why);
}

void laz_execution_part(struct laz_execution *execution, const struct laz_message *message)
{
    const struct laz_settings_values *values = execution->session->shared->values;
    const char *why = "a part came that nothing was asked for";
    int rc = LAZ_EPROTO;

    if (execution->asked == LAZ_ASKED_EXECUTE)
        rc = laz_artifacts_take(&execution->result->artifacts, message, values->artifacts.max_files,
                                values->artifacts.max_size, &why);
    if (rc)
        files_refuse(execution, rc, why);
}

/* What the agent says of artifacts that it did not send, as warnings. */
static void files_warn(struct laz_execution *execution, const struct laz_strv *left_out)
{
    struct laz_strv *warnings = &execution->result->warnings;

    for (size_t i = 0; i < left_out->n && i < FILES_LEFT_OUT; i++)
        laz_strv_addf(warnings, "left out: %.400s", left_out->items[i]);
    execution->out_of_memory |= warnings->failed;
}

bool laz_execution_take_parts(struct laz_execution *execution, struct laz_message *message)
{
    struct laz_artifacts *artifacts = &execution->result->artifacts;
    const char *why = "";
    int rc = laz_artifacts_finish(artifacts, &why);

    if (rc) {
        files_refuse(execution, rc, why);
        return false;
    }
    files_warn(execution, &message->left_out);
    if (message->type == LAZ_MESSAGE_RESULT && !message->value && artifacts->value.len)
        execution->result->value = laz_buf_steal(&artifacts->value);
    if (message->type == LAZ_MESSAGE_RESULT && !message->text && artifacts->text.len)
        message->text = laz_buf_steal(&artifacts->text); /* the message owns its texts */
    laz_buf_fini(&artifacts->value);
    laz_buf_fini(&artifacts->text);
    return true;
}
