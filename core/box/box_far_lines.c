/* SPDX-License-Identifier: MIT */
/* box_far_lines.c - between a session and the server of a worker: messages of an agent
 * (wire/table.c) on one side, of the host protocol (host/message.c) on the other. Side: host. Input
 * trusted: no (what a worker sends: a session checks what comes of it, as from any agent). */
#include "box/box_private.h"

#include "base/clock.h"
#include "base/enforce.h"
#include "base/json_number.h"
#include "base/json_write.h"
#include "host/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAR_OPEN  1 /* ids of the first requests */
#define FAR_CHECK 2
/* What is kept of what a worker says beside the outcome, which goes into results and records. */
#define FAR_SAID       100                /* warnings, and denials, of an execution */
#define FAR_SAID_BYTES 1000               /* of one of them */
#define FAR_OBJECT     ((size_t)16 << 10) /* bytes of an object: the evidence, the isolation */
#define FAR_PROCESSORS 256                /* that work for an execution, at most */
#define COUNT(array)   (sizeof(array) / sizeof *(array))

/* ---- the result, as `lazaret run --json` has it ------------------------------------------------
 */

struct far_error {
    const char *kind, *message;
    int64_t line, column;
    struct laz_strv traceback;
};

struct far_verdict {
    const char *reason, *detail, *evidence;
    size_t evidence_len;
};

struct far_result {
    const char *value, *text, *output, *denials, *credentials, *usage, *isolation;
    size_t value_len, text_len, output_len, denials_len, credentials_len, usage_len, isolation_len;
    bool has_error, value_omitted, kept;
    struct far_error error;
    struct far_verdict verdict;
    struct laz_strv warnings;
    const char *replaced;
};

struct far_credential {
    const char *name, *host;
    int64_t count;
};

struct far_piece {
    const char *stream, *text;
    size_t text_len;
};

#define AT(field)     .at = offsetof(struct STRUCT, field)
#define AT_LEN(field) AT(field), .len_at = offsetof(struct STRUCT, field##_len)

#define STRUCT far_error
static const struct laz_field error_members[] = {
    {"kind", LAZ_FIELD_TEXT, AT(kind)},
    {"message", LAZ_FIELD_TEXT, AT(message)},
    {"line", LAZ_FIELD_INTEGER, AT(line)},
    {"column", LAZ_FIELD_INTEGER, AT(column)},
    {"traceback", LAZ_FIELD_TEXTS, AT(traceback)},
};
#undef STRUCT
static const struct laz_fields error_fields = {.name = "an error",
                                               .size = sizeof(struct far_error),
                                               .items = error_members,
                                               .n = COUNT(error_members),
                                               .null_is_absent = true};

#define STRUCT far_verdict
static const struct laz_field verdict_members[] = {
    {"reason", LAZ_FIELD_TEXT, .flags = LAZ_FIELD_REQUIRED, AT(reason)},
    {"detail", LAZ_FIELD_TEXT, AT(detail)},
    {"evidence", LAZ_FIELD_JSON, LAZ_SHAPE_OBJECT, AT_LEN(evidence)},
};
#undef STRUCT
static const struct laz_fields verdict_fields = {.name = "a verdict",
                                                 .size = sizeof(struct far_verdict),
                                                 .items = verdict_members,
                                                 .n = COUNT(verdict_members),
                                                 .null_is_absent = true};

#define STRUCT far_credential
static const struct laz_field credential_members[] = {
    {"name", LAZ_FIELD_TEXT, .flags = LAZ_FIELD_REQUIRED, AT(name)},
    {"host", LAZ_FIELD_TEXT, .flags = LAZ_FIELD_REQUIRED, AT(host)},
    {"count", LAZ_FIELD_INTEGER, .flags = LAZ_FIELD_REQUIRED, AT(count), .min = 1,
     .max = INT64_MAX},
};
#undef STRUCT
static const struct laz_fields credential_fields = {.name = "a credential",
                                                    .size = sizeof(struct far_credential),
                                                    .items = credential_members,
                                                    .n = COUNT(credential_members)};

#define STRUCT far_piece
static const struct laz_field piece_members[] = {
    {"stream", LAZ_FIELD_TEXT, .flags = LAZ_FIELD_REQUIRED, AT(stream)},
    {"text", LAZ_FIELD_TEXT, .flags = LAZ_FIELD_REQUIRED, AT_LEN(text)},
};
#undef STRUCT
static const struct laz_fields piece_fields = {.name = "output",
                                               .size = sizeof(struct far_piece),
                                               .items = piece_members,
                                               .n = COUNT(piece_members)};

#define STRUCT far_result
static const struct laz_field result_members[] = {
    {"value", LAZ_FIELD_JSON, AT_LEN(value)},
    {"value_omitted", LAZ_FIELD_BOOLEAN, AT(value_omitted)},
    {"text", LAZ_FIELD_TEXT, AT_LEN(text)},
    {"output", LAZ_FIELD_JSON, LAZ_SHAPE_LIST, AT_LEN(output)},
    {"error", LAZ_FIELD_OBJECT, AT(error), .has_at = offsetof(struct STRUCT, has_error),
     .of = &error_fields},
    {"warnings", LAZ_FIELD_TEXTS, AT(warnings)},
    {"denials", LAZ_FIELD_JSON, LAZ_SHAPE_LIST, AT_LEN(denials)},
    {"credentials", LAZ_FIELD_JSON, LAZ_SHAPE_LIST, AT_LEN(credentials)},
    {"verdict", LAZ_FIELD_OBJECT, .flags = LAZ_FIELD_REQUIRED, AT(verdict), .of = &verdict_fields},
    {"replaced", LAZ_FIELD_TEXT, AT(replaced)},
    {"kept", LAZ_FIELD_BOOLEAN, AT(kept)},
    {"usage", LAZ_FIELD_JSON, LAZ_SHAPE_OBJECT, AT_LEN(usage)},
    {"isolation", LAZ_FIELD_JSON, LAZ_SHAPE_OBJECT_OR_NULL, AT_LEN(isolation)},
};
#undef STRUCT
static const struct laz_fields result_fields = {.name = "a result",
                                                .size = sizeof(struct far_result),
                                                .items = result_members,
                                                .n = COUNT(result_members),
                                                .null_is_absent = true};

/* ---- to the worker ----------------------------------------------------------------------------
 */

static bool far_write(struct laz_box_far *far, enum serve_message_type type,
                      const struct serve_message *message)
{
    struct laz_buf line = LAZ_BUF_INIT;

    serve_message_make(type, message, &line);
    const bool is_written =
        far->far && !line.failed && laz_far_write(far->far, line.data, line.len - 1) == 0;
    laz_buf_fini(&line);
    return is_written;
}

static void open_parameters(struct laz_json_write *write, const struct laz_wire_tool *tool)
{
    laz_json_begin_list(write, "parameters");
    for (size_t i = 0; i < tool->parameters.n; i++) {
        const struct laz_wire_parameter *one =
            (const struct laz_wire_parameter *)tool->parameters.items + i;
        const char *type = one->type_name ? one->type_name : one->type;
        laz_json_begin_object(write, NULL);
        laz_json_add_text(write, "name", one->name);
        if (type)
            laz_json_add_text(write, "type", type);
        if (one->description && *one->description)
            laz_json_add_text(write, "description", one->description);
        if (one->format)
            laz_json_add_text(write, "format", one->format);
        laz_json_add_bool(write, "required", one->is_required);
        if (one->default_value)
            laz_json_add_raw(write, "default", one->default_value, one->default_len);
        if (one->enumeration)
            laz_json_add_raw(write, "enum", one->enumeration, one->enumeration_len);
        laz_json_end_object(write);
    }
    laz_json_end_list(write);
}

/* The tools of this side, which decides on approvals of their calls. */
static void open_tools(struct laz_json_write *write, const char *tools)
{
    struct laz_field_list list = {0};

    laz_json_begin_list(write, "tools");
    if (tools && laz_wire_read_list(&laz_wire_tool, tools, strlen(tools), &list, NULL))
        write->to->failed = true;
    for (size_t i = 0; i < list.n; i++) {
        const struct laz_wire_tool *tool = (const struct laz_wire_tool *)list.items + i;
        laz_json_begin_object(write, NULL);
        laz_json_add_text(write, "name", tool->name);
        laz_json_add_text(write, "description", tool->description ? tool->description : "");
        open_parameters(write, tool);
        laz_json_add_int(write, "timeout_ms", 0); /* this side has the clocks */
        laz_json_add_int(write, "max_concurrent", 0);
        laz_json_add_bool(write, "native", tool->native);
        laz_json_end_object(write);
    }
    laz_json_end_list(write);
    laz_fields_free_list(&laz_wire_tool, &list);
}

void laz_box_far_open(struct laz_box_far *far, const struct laz_box_purpose *purpose)
{
    struct laz_json_write write = {.to = &far->open};
    const char *network = purpose->network ? purpose->network : "[]";

    laz_json_begin_object(&write, NULL);
    laz_json_add_text(&write, "type", "open");
    laz_json_add_int(&write, "id", FAR_OPEN);
    laz_json_add_text(&write, "runtime", purpose->runtime->name);
    open_tools(&write, purpose->tools);
    laz_json_add_raw(&write, "network", network, strlen(network));
    if (purpose->credentials)
        laz_json_add_texts(&write, "credentials", purpose->credentials);
    laz_json_end_object(&write);
}

static bool send_execute(struct laz_box_far *far, const struct laz_message *asked, bool is_check)
{
    const struct serve_message message = {
        .has_id = true,
        .id = far->request = ++far->last,
        .has_session = true,
        .session = far->session,
        .source = asked->code,
        .source_len = asked->code_len,
        .check = is_check,
        .print = is_check || asked->print,
        .invisible = asked->invisible,
        .native = asked->native,
        .input = asked->input,
        .argv = asked->argv,
        .output = !is_check,
        .progress = !is_check,
        .artifacts = !is_check,
    };

    far->told[0] = far->told[1] = 0;
    far->is_behind = false;
    far->asked_us = laz_clock_us();
    return far_write(far, SERVE_EXECUTE, &message);
}

static bool send_put(struct laz_box_far *far, const struct laz_message *asked)
{
    far->put = asked->part ? far->put + 1 : 0;
    const struct serve_message message = {
        .has_id = true,
        .id = far->request = ++far->last,
        .has_session = true,
        .session = far->session,
        .name = asked->name,
        .data = asked->data,
        .data_len = asked->data_len,
        .part = far->put,
        .more = asked->more,
    };

    return far_write(far, SERVE_PUT, &message);
}

static bool send_answer(struct laz_box_far *far, const struct laz_message *reply)
{
    const struct serve_message message = {
        .call = reply->id,
        .value = reply->value,
        .value_len = reply->value_len,
        .error = reply->error,
        .error_len = reply->error_len,
    };

    return far_write(far, SERVE_ANSWER, &message);
}

static bool far_send(struct laz_box_far *far, const struct laz_message *message)
{
    bool is_sent = true;

    if (message->type != LAZ_MESSAGE_REPLY && message->has_id) {
        far->id = message->id;
        laz_box_far_forget(far);
    }
    switch (message->type) {
    case LAZ_MESSAGE_EXECUTE:
        far->has_last = message->is_last;
        return send_execute(far, message, false);
    case LAZ_MESSAGE_CHECK:
        return send_execute(far, message, true);
    case LAZ_MESSAGE_PUT:
        return send_put(far, message);
    case LAZ_MESSAGE_REPLY:
        return send_answer(far, message);
    case LAZ_MESSAGE_REMOVE:
        far->refuses = true;
        break;
    case LAZ_MESSAGE_EXIT:
        far->ends = true;
        break;
    default:
        is_sent = false;
    }
    laz_timer_start(far->timer, 0);
    return is_sent;
}

bool laz_box_far_send(struct laz_box_far *far, const char *data, size_t len)
{
    char *room = laz_frame_room(&far->sent, len), *line;
    bool is_sent = room != NULL;
    size_t n;

    if (!room)
        return false;
    memcpy(room, data, len);
    laz_frame_added(&far->sent, len);
    while (is_sent && laz_frame_next(&far->sent, &line, &n) == 1) {
        struct laz_message message = {.type = LAZ_MESSAGE_TYPES};
        is_sent = laz_message_parse_host(line, n, LAZ_WIRE_IDLE | LAZ_WIRE_RUNNING, &message,
                                         NULL) == 0 &&
                  far_send(far, &message);
        laz_message_fini(&message);
    }
    laz_frame_rest(&far->sent);
    return is_sent;
}

bool laz_box_far_interrupt(struct laz_box_far *far, uint32_t number)
{
    const struct serve_message message = {
        .has_id = true, .id = far->last + 1, .has_session = true, .session = far->session};

    if (!far->request || (uint32_t)far->id != number)
        return false;
    far->last++;
    return far_write(far, SERVE_INTERRUPT, &message);
}

bool laz_box_far_network(struct laz_box_far *far, const char *allow)
{
    const struct serve_message message = {.has_id = true,
                                          .id = far->network = ++far->last,
                                          .has_session = true,
                                          .session = far->session,
                                          .network = allow,
                                          .network_len = strlen(allow)};

    return far_write(far, SERVE_SET_NETWORK, &message);
}

/* ---- to the session ---------------------------------------------------------------------------
 */

static void far_tell(struct laz_box_far *far, const struct laz_message *message)
{
    const struct laz_box_owner *owner = &far->box->owner;
    struct laz_buf line = LAZ_BUF_INIT;

    laz_message_make(message, &line);
    if (line.failed)
        laz_box_far_over(far, "out of memory");
    else if (owner->line)
        (void)owner->line(owner->user, line.data, line.len - 1);
    laz_buf_fini(&line);
}

void laz_box_far_refuse(struct laz_box_far *far, const char *why)
{
    far->request = 0;
    far_tell(far, &(struct laz_message){.type = LAZ_MESSAGE_ERROR,
                                        .has_id = true,
                                        .id = far->id,
                                        .kind = "runtime",
                                        .message = why,
                                        .message_len = strlen(why)});
}

/* The session has asked for its end. Nothing follows the last execution. */
void laz_box_far_follow(struct laz_box_far *far)
{
    if (far->has_last)
        far_tell(far,
                 &(struct laz_message){.type = LAZ_MESSAGE_RESULT, .has_id = true, .id = far->id});
}

void laz_box_far_forget(struct laz_box_far *far)
{
    struct laz_box_said *said = &far->said;

    free(said->detail);
    free(said->evidence);
    laz_strv_fini(&said->warnings);
    laz_strv_fini(&said->denials);
    laz_strv_fini(&said->credentials);
    said->detail = said->evidence = NULL;
    said->replaced = NULL;
    said->has_verdict = said->is_kept = false;
    said->verdict = LAZ_VERDICT_OK;
}

/* What is said of an execution whose outcome does not come. */
static void far_judge(struct laz_box_far *far, enum laz_verdict verdict, const char *why)
{
    laz_box_far_forget(far);
    far->said.has_verdict = true;
    far->said.verdict = verdict;
    far->said.detail = laz_strdup(why);
}

void laz_box_far_lost(struct laz_box_far *far, const char *why)
{
    if (far->request)
        far_judge(far, LAZ_VERDICT_WORKER_LOST, why);
    laz_box_far_over(far, why);
}

static void far_output(struct laz_box_far *far, const char *stream, const char *text, size_t len)
{
    const struct laz_box_owner *owner = &far->box->owner;
    const bool is_error = strcmp(stream, "stderr") == 0;

    far->told[is_error] += len;
    if (owner->output && len)
        (void)owner->output(owner->user, is_error ? LAZ_STDERR : LAZ_STDOUT, text, len);
}

/* What was dropped on the way, and all after it, is in the result. */
static void take_output(struct laz_box_far *far, const struct serve_message *message)
{
    far->is_behind |= message->dropped > 0;
    if (!far->is_behind)
        far_output(far, message->stream, message->text, message->text_len);
}

static void take_rest(struct laz_box_far *far, const struct far_result *result)
{
    const char *output = result->output ? result->output : "[]";
    struct laz_json_items items =
        laz_json_items(output, result->output ? result->output_len : strlen(output));
    size_t skipped[2] = {0}, len;
    const char *raw;

    while (far->is_behind && laz_json_next_item(&items, &raw, &len)) {
        struct far_piece piece = {0};
        if (laz_wire_read(&piece_fields, raw, len, &piece, NULL))
            break;
        const bool is_error = strcmp(piece.stream, "stderr") == 0;
        const size_t left = far->told[is_error] - skipped[is_error],
                     skip = left < piece.text_len ? left : piece.text_len;
        skipped[is_error] += piece.text_len;
        if (skip < piece.text_len)
            far_output(far, piece.stream, piece.text + skip, piece.text_len - skip);
        laz_fields_free(&piece_fields, &piece);
    }
}

/* No more than can have been used since it was asked: it counts for the quotas of this side. */
static uint64_t far_cpu(const struct laz_box_far *far, double ms)
{
    const double most = (double)(laz_clock_us() - far->asked_us) * FAR_PROCESSORS;

    return !(ms > 0) ? 0 : ms * 1000 < most ? (uint64_t)(ms * 1000) : (uint64_t)most;
}

static void take_progress(struct laz_box_far *far, const struct serve_message *message)
{
    far->said.cpu_us = far->cpu_us + far_cpu(far, (double)message->cpu_ms);
    far->said.max_rss_bytes = message->memory > 0 ? (uint64_t)message->memory : 0;
}

static void said_warn(struct laz_box_said *said, const char *before, const char *text,
                      const char *after)
{
    if (said->warnings.n < FAR_SAID)
        laz_strv_addf(&said->warnings, "%s%.*s%s", before, FAR_SAID_BYTES, text, after);
}

static void take_artifact(struct laz_box_far *far, const struct serve_message *message)
{
    if (message->dropped) {
        said_warn(&far->said, "left out: ", message->name ? message->name : "",
                  ": the way to the worker was too slow for it");
        return;
    }
    far_tell(far, &(struct laz_message){.type = LAZ_MESSAGE_PART,
                                        .has_id = true,
                                        .id = far->id,
                                        .of = "file",
                                        .name = message->part ? NULL : message->name,
                                        .data = message->data ? message->data : "",
                                        .data_len = message->data_len,
                                        .more = message->more});
}

static void take_call(struct laz_box_far *far, const struct serve_message *message)
{
    far_tell(far, &(struct laz_message){.type = LAZ_MESSAGE_TOOL_CALL,
                                        .has_id = true,
                                        .id = message->call,
                                        .tool = message->tool,
                                        .args = message->args,
                                        .args_len = message->args_len});
}

/* ---- what the worker says of an execution ------------------------------------------------------
 */

static double usage_ms(const struct far_result *result, const char *key)
{
    double ms = 0;
    const char *raw;
    size_t len;

    if (!result->usage || !laz_json_member(result->usage, result->usage_len, key, &raw, &len) ||
        !laz_json_to_double(raw, len, &ms))
        return 0;
    return ms;
}

static enum laz_verdict verdict_of(const char *word)
{
    for (int i = LAZ_VERDICT_OK; i <= LAZ_VERDICT_WORKER_LOST; i++)
        if (strcmp(laz_verdict_name((enum laz_verdict)i), word) == 0)
            return (enum laz_verdict)i;
    return LAZ_VERDICT_ERROR; /* one of a later version */
}

/* Static text; NULL for NULL. */
static const char *verdict_word(const char *word)
{
    return word ? laz_verdict_name(verdict_of(word)) : NULL;
}

/* What is in force there, with where that is. */
static void note_isolation(struct laz_box_far *far, const struct far_result *result)
{
    struct laz_box_said *said = &far->said;
    struct laz_buf text = LAZ_BUF_INIT;
    struct laz_json_write write = {.to = &text};
    struct laz_json_items items;
    const char *raw;
    size_t len;

    if (!result->isolation || *result->isolation != '{' || result->isolation_len > FAR_OBJECT)
        return;
    laz_json_begin_object(&write, NULL);
    laz_json_add_text(&write, "worker", laz_far_worker(far->far));
    items = laz_json_members(result->isolation, result->isolation_len);
    said->enforces = 0;
    for (struct laz_json_found found; laz_json_next_member(&items, &found);) {
        struct laz_json_items words = laz_json_items(found.raw, found.len);
        char *word = laz_json_to_string(found.raw, found.len, NULL);
        char *key = laz_json_to_string(found.key - 1, found.key_len + 2, NULL);
        if (key && strcmp(key, "worker") != 0) /* which one it is, it does not say here */
            laz_json_add_raw(&write, key, found.raw, found.len);
        free(key);
        if (laz_json_found_is(&found, "backend") && word)
            snprintf(said->backend, sizeof said->backend, "%s", word);
        free(word);
        while (laz_json_found_is(&found, "enforces") && laz_json_next_item(&words, &raw, &len)) {
            word = laz_json_to_string(raw, len, NULL);
            said->enforces |= word ? laz_enforce_bit(word) : 0;
            free(word);
        }
    }
    laz_json_end_object(&write);
    said->is_sandbox = said->enforces & (LAZ_ENFORCE_FS_READ | LAZ_ENFORCE_FS_WRITE);
    free(said->isolation);
    said->isolation = laz_buf_steal(&text);
}

/* Those that it has used, with no more of them than is known of one. */
static void note_credentials(struct laz_box_said *said, const struct far_result *result)
{
    const char *list = result->credentials ? result->credentials : "[]";
    struct laz_json_items items =
        laz_json_items(list, result->credentials ? result->credentials_len : strlen(list));
    const char *raw;
    size_t len;

    while (said->credentials.n < FAR_SAID && laz_json_next_item(&items, &raw, &len)) {
        struct far_credential one = {0};
        struct laz_buf json = LAZ_BUF_INIT;
        struct laz_json_write write = {.to = &json};
        if (len <= FAR_SAID_BYTES && laz_wire_read(&credential_fields, raw, len, &one, NULL) == 0) {
            laz_json_begin_object(&write, NULL);
            laz_json_add_text(&write, "name", one.name);
            laz_json_add_text(&write, "host", one.host);
            laz_json_add_int(&write, "count", one.count);
            laz_json_end_object(&write);
            laz_strv_add(&said->credentials, laz_buf_text(&json));
        }
        said->credentials.failed |= json.failed;
        laz_buf_fini(&json);
        laz_fields_free(&credential_fields, &one);
    }
}

static void note_result(struct laz_box_far *far, struct far_result *result)
{
    const char *list = result->denials ? result->denials : "[]";
    struct laz_json_items denials =
        laz_json_items(list, result->denials ? result->denials_len : strlen(list));
    const uint64_t cpu_us = far_cpu(far, usage_ms(result, "cpu_ms"));
    struct laz_box_said *said = &far->said;
    int64_t memory = 0;
    const char *raw;
    size_t len;

    said->has_verdict = true;
    said->verdict = verdict_of(result->verdict.reason);
    said->is_kept = result->kept;
    said->replaced = verdict_word(result->replaced);
    free(said->detail);
    free(said->evidence);
    said->detail = laz_strdup(result->verdict.detail);
    said->evidence = result->verdict.evidence && result->verdict.evidence_len <= FAR_OBJECT
                         ? laz_strndup(result->verdict.evidence, result->verdict.evidence_len)
                         : NULL;
    said->cpu_us = far->cpu_us += cpu_us;
    if (result->usage &&
        laz_json_member(result->usage, result->usage_len, "max_rss_bytes", &raw, &len) &&
        laz_json_to_int(raw, len, &memory) && memory > 0)
        said->max_rss_bytes = (uint64_t)memory;
    for (size_t i = 0; i < result->warnings.n; i++)
        if (strncmp(result->warnings.items[i], "value_omitted: ", 15) != 0)
            said_warn(said, "", result->warnings.items[i], "");
    while (said->denials.n < FAR_SAID && laz_json_next_item(&denials, &raw, &len))
        if (*raw == '{' && len <= FAR_SAID_BYTES)
            laz_strv_addf(&said->denials, "%.*s", (int)len, raw);
    note_credentials(said, result);
    note_isolation(far, result);
}

/* Why the value was not sent; NULL: it was. */
static const char *result_omitted(const struct far_result *result)
{
    for (size_t i = 0; result->value_omitted && i < result->warnings.n; i++)
        if (strncmp(result->warnings.items[i], "value_omitted: ", 15) == 0)
            return result->warnings.items[i] + 15;
    return result->value_omitted ? "it was not sent" : NULL;
}

static void tell_outcome(struct laz_box_far *far, const struct far_result *result)
{
    const struct far_error *error = &result->error;
    struct laz_message message = {
        .type = far->said.verdict == LAZ_VERDICT_OK ? LAZ_MESSAGE_RESULT : LAZ_MESSAGE_ERROR,
        .has_id = true,
        .id = far->id,
    };

    if (message.type == LAZ_MESSAGE_RESULT) {
        message.value = result->value;
        message.value_len = result->value_len;
        message.text = result->text;
        message.text_len = result->text_len;
        message.visible = result->text != NULL;
        message.omitted = result_omitted(result);
    } else {
        message.kind = error->kind ? error->kind : "runtime";
        message.message = error->message ? error->message : "";
        message.message_len = strlen(message.message);
        message.line = error->line;
        message.column = error->column;
        message.traceback = error->traceback;
        message.has_status = strcmp(message.kind, "exit") == 0 && result->value &&
                             laz_json_to_int(result->value, result->value_len, &message.status);
    }
    far->request = 0;
    far_tell(far, &message);
}

/* The session is there, and what is in force is known. */
static void far_ready(struct laz_box_far *far, const struct far_result *result)
{
    struct laz_box *box = far->box;
    const char *why = result->error.message;

    if (far->said.verdict != LAZ_VERDICT_OK || !far->said.isolation) {
        laz_box_far_over(far, why ? why : "the worker could not start the session");
        return;
    }
    if (!laz_box_far_suffices(far))
        return;
    far->request = 0;
    far->is_ready = true;
    laz_box_step(box, LAZ_BOX_EVENT_SPAWN);
    laz_box_step(box, LAZ_BOX_EVENT_CONNECT);
    laz_box_step(box, LAZ_BOX_EVENT_TOKEN);
    if (box->owner.authenticated)
        box->owner.authenticated(box->owner.user);
    far_tell(far, &(struct laz_message){.type = LAZ_MESSAGE_READY, .protocol = LAZ_PROTOCOL});
}

/* False: it is not a result. */
static bool take_result(struct laz_box_far *far, const struct serve_message *message)
{
    struct far_result result = {0};

    if (laz_wire_read(&result_fields, message->result, message->result_len, &result, NULL))
        return false;
    note_result(far, &result);
    if (!far->is_ready) {
        far_ready(far, &result);
    } else {
        take_rest(far, &result);
        tell_outcome(far, &result);
    }
    laz_fields_free(&result_fields, &result);
    return true;
}

static void take_failed(struct laz_box_far *far, const struct serve_message *message)
{
    char why[300];

    snprintf(why, sizeof why, "the worker %s: %.200s", laz_far_worker(far->far),
             message->message ? message->message : "");
    if (!far->is_ready || !message->has_id || message->id == far->network) {
        laz_box_far_lost(far, why); /* what it may reach is not what this side has said */
    } else if (message->id == far->request) {
        if (message->code && strcmp(message->code, "LAZ_EOS") != 0) {
            far_judge(far, LAZ_VERDICT_SETUP_FAILED, why);
            far->said.is_kept = true;
        }
        laz_box_far_refuse(far, why);
    }
}

/* False: it is not the first. */
static bool take_hello(struct laz_box_far *far, const struct serve_message *message)
{
    if (far->last)
        return false;
    if (message->protocol != SERVE_PROTOCOL)
        laz_box_far_over(far, "the worker speaks another version of the host protocol");
    else if (far->far)
        (void)laz_far_write(far->far, far->open.data, far->open.len);
    far->last = FAR_OPEN;
    return true;
}

/* The isolation is asked for, which waits for the start. */
static void take_opened(struct laz_box_far *far, const struct serve_message *message)
{
    if (message->id != FAR_OPEN || far->session || !message->has_session)
        return;
    far->session = message->session;
    (void)send_execute(far, &(struct laz_message){.code = "", .print = true}, true);
}

bool laz_box_far_take(struct laz_box_far *far, const char *line, size_t len)
{
    enum serve_message_type type = SERVE_MESSAGE_TYPES;
    struct serve_message message;
    int rc = serve_message_parse_answer(line, len, &type, &message, NULL);
    const bool is_of_request = !rc && far->request && message.has_id && message.id == far->request;
    const bool is_of_code = is_of_request && far->is_ready;
    bool is_right = !rc || type == SERVE_MESSAGE_TYPES; /* one of a later version is ignored */

    if (rc)
        ;
    else if (type == SERVE_HELLO)
        is_right = take_hello(far, &message);
    else if (type == SERVE_OPENED)
        take_opened(far, &message);
    else if (type == SERVE_FAILED)
        take_failed(far, &message);
    else if (type == SERVE_TOOL_CALL && is_of_code)
        take_call(far, &message);
    else if (type == SERVE_OUTPUT && is_of_code)
        take_output(far, &message);
    else if (type == SERVE_PROGRESS && is_of_code)
        take_progress(far, &message);
    else if (type == SERVE_ARTIFACT && is_of_code)
        take_artifact(far, &message);
    else if (type == SERVE_RESULT && is_of_request)
        is_right = take_result(far, &message);
    else if (type == SERVE_DONE && is_of_code)
        tell_outcome(far, &(struct far_result){.value = "null", .value_len = 4});
    serve_message_fini(type, &message);
    return is_right;
}
