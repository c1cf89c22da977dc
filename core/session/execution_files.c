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

/* ---- out of it ------------------------------------------------------------------------------- */

int laz_execution_part(struct laz_execution *execution, const struct laz_message *message,
                       const char **why)
{
    const struct laz_settings_values *values = execution->session->shared->values;

    if (execution->asked != LAZ_ASKED_EXECUTE) {
        *why = "a part came that nothing was asked for";
        return LAZ_EPROTO;
    }
    return laz_artifacts_take(&execution->result->artifacts, message, values->artifacts.max_files,
                              values->artifacts.max_size, why);
}

/* What the agent says of artifacts that it did not send, as warnings. */
static void files_warn(struct laz_execution *execution, const struct laz_strv *left_out)
{
    struct laz_strv *warnings = &execution->result->warnings;

    for (size_t i = 0; i < left_out->n && i < FILES_LEFT_OUT; i++)
        laz_strv_addf(warnings, "left out: %.400s", left_out->items[i]);
    execution->out_of_memory |= warnings->failed;
}

int laz_execution_take_parts(struct laz_execution *execution, struct laz_message *message,
                             const char **why)
{
    struct laz_artifacts *artifacts = &execution->result->artifacts;
    int rc = laz_artifacts_finish(artifacts, why);

    if (rc)
        return rc;
    files_warn(execution, &message->left_out);
    if (message->type == LAZ_MESSAGE_RESULT && !message->value && artifacts->value.len)
        execution->result->value = laz_buf_steal(&artifacts->value);
    if (message->type == LAZ_MESSAGE_RESULT && !message->text && artifacts->text.len)
        message->text = laz_buf_steal(&artifacts->text); /* the message owns its texts */
    laz_buf_fini(&artifacts->value);
    laz_buf_fini(&artifacts->text);
    return 0;
}
