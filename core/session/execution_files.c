/* SPDX-License-Identifier: MIT */
/* execution_files.c - files that go into the session, and what comes out of it in parts.
 * Side: host.  Input trusted: no (what comes from the box).
 *
 * A file goes in parts, each of which is answered, so that no more than one of them waits
 * anywhere. */
#include "session/execution.h"

#include "base/base64.h"

#define FILES_PART     ((size_t)192 << 10) /* bytes of a part; a multiple of 3 */
#define FILES_AROUND   1536u               /* bytes of its line beside its data, at most */
#define FILES_LEFT_OUT 16                  /* sentences about artifacts that are kept */
#define FILES_CHECKED  ((size_t)256 << 10) /* bytes that are checked at once: two milliseconds */

/* ---- into the session ------------------------------------------------------------------------ */

void laz_execution_put_line(struct laz_execution *execution, struct laz_buf *line)
{
    const uint64_t most = execution->session->shared->values->session.max_value_size;
    const size_t room = (size_t)(most - FILES_AROUND) / 4 * 3; /* it is 4 KiB at least */
    const size_t size = room < FILES_PART ? room : FILES_PART;
    const size_t left = execution->request.len - execution->sent, n = left < size ? left : size;
    struct laz_buf data = LAZ_BUF_INIT;

    laz_base64_encode(&data, execution->request.code + execution->sent, n);
    const struct laz_message put = {
        .type = LAZ_MESSAGE_PUT,
        .has_id = true,
        .id = execution->id,
        .name = execution->request.file,
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

/* ---- out of it ------------------------------------------------------------------------------- */

int laz_execution_part(struct laz_execution *execution, const struct laz_message *message,
                       const char **why)
{
    const struct laz_settings_values *values = execution->session->shared->values;

    if (execution->request.asked != LAZ_ASKED_EXECUTE) {
        *why = "a part came that nothing was asked for";
        return LAZ_EPROTO;
    }
    return laz_artifacts_take(&execution->result->artifacts, message, values->artifacts.max_files,
                              values->artifacts.max_size, why);
}

void laz_execution_warn_left_out(struct laz_result *result, const struct laz_strv *left_out)
{
    for (size_t i = 0; i < left_out->n && i < FILES_LEFT_OUT; i++)
        laz_strv_addf(&result->warnings, "left out: %.900s", left_out->items[i]);
}

void laz_execution_take_content(struct laz_execution *execution, struct laz_message *message,
                                struct laz_buf *value, struct laz_buf *text)
{
    const bool has_value = message->value || execution->result->value; /* a small one besides */

    if (message->type == LAZ_MESSAGE_RESULT && !has_value && value->len)
        execution->result->value = laz_buf_steal(value);
    if (message->type == LAZ_MESSAGE_RESULT && !message->text && text->len)
        message->text = laz_buf_steal(text); /* the message owns its texts */
}

int laz_execution_take_artifacts(struct laz_execution *execution, const struct laz_message *message,
                                 const char **why)
{
    struct laz_artifacts *artifacts = &execution->result->artifacts;
    int rc = laz_artifacts_finish(artifacts, why);

    laz_buf_fini(&artifacts->value);
    laz_buf_fini(&artifacts->text);
    if (!rc)
        laz_execution_warn_left_out(execution->result, &message->left_out);
    execution->out_of_memory |= execution->result->warnings.failed;
    return rc;
}

int laz_execution_take_parts(struct laz_execution *execution, struct laz_message *message,
                             const char **why)
{
    struct laz_artifacts *artifacts = &execution->result->artifacts;
    struct laz_buf *value = &artifacts->value, *text = &artifacts->text;
    int rc = laz_artifacts_finish(artifacts, why);

    if (!rc && value->len + text->len > FILES_CHECKED)
        rc = laz_execution_check(execution, value, text, why);
    else if (!rc && !(rc = laz_artifacts_check(value, text, why)))
        laz_execution_take_content(execution, message, value, text);
    laz_buf_fini(value);
    laz_buf_fini(text);
    if (!rc)
        laz_execution_warn_left_out(execution->result, &message->left_out);
    execution->out_of_memory |= execution->result->warnings.failed;
    return rc;
}
