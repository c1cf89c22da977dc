/* SPDX-License-Identifier: MIT */
/* message.c - reads the messages of a client by tables.
 * Side: host.  Input trusted: no.
 *
 * A line is scanned once, strictly (64 levels, no key twice); everything else points into it. */
#include "mcp/message.h"

#include "base/json.h"
#include "base/json_scan.h"
#include "wire/message.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define AT(member)   .at = offsetof(struct mcp_message, member)
#define JSON(member) AT(member), .len_at = offsetof(struct mcp_message, member##_len)

static const struct laz_field message_members[] = {
    {"jsonrpc", LAZ_FIELD_TEXT, .flags = LAZ_FIELD_REQUIRED, AT(version)},
    {"id", LAZ_FIELD_JSON, JSON(raw_id)},
    {"method", LAZ_FIELD_TEXT, AT(method)},
    {"params", LAZ_FIELD_JSON, LAZ_SHAPE_OBJECT, JSON(params)},
    {"result", LAZ_FIELD_JSON, LAZ_SHAPE_OBJECT, JSON(result)},
    {"error", LAZ_FIELD_JSON, LAZ_SHAPE_OBJECT, JSON(error)},
};
static const struct laz_fields message_fields = {
    MCP_FIELDS("a message", struct mcp_message, message_members)};

#undef AT
#undef JSON
#define AT(member)   .at = offsetof(struct mcp_params, member)
#define JSON(member) AT(member), .len_at = offsetof(struct mcp_params, member##_len)

static const struct laz_field params_members[] = {
    {"_meta", LAZ_FIELD_JSON, LAZ_SHAPE_OBJECT, JSON(meta)},
    {"name", LAZ_FIELD_TEXT, AT(name)},
    {"arguments", LAZ_FIELD_JSON, LAZ_SHAPE_OBJECT, JSON(arguments)},
    {"uri", LAZ_FIELD_TEXT, AT(uri)},
    {"cursor", LAZ_FIELD_TEXT, AT(cursor)},
    {"protocolVersion", LAZ_FIELD_TEXT, AT(version)},
    {"capabilities", LAZ_FIELD_JSON, LAZ_SHAPE_OBJECT, JSON(capabilities)},
    {"requestState", LAZ_FIELD_TEXT, AT(state)},
    {"inputResponses", LAZ_FIELD_JSON, LAZ_SHAPE_OBJECT, JSON(responses)},
    {"requestId", LAZ_FIELD_JSON, JSON(request)},
    {"notifications", LAZ_FIELD_JSON, LAZ_SHAPE_OBJECT, JSON(notifications)},
};
const struct laz_fields mcp_params_fields = {
    MCP_FIELDS("'params'", struct mcp_params, params_members)};

#undef AT
#undef JSON
#define AT(member)   .at = offsetof(struct mcp_meta, member)
#define JSON(member) AT(member), .len_at = offsetof(struct mcp_meta, member##_len)

static const struct laz_field meta_members[] = {
    {"io.modelcontextprotocol/protocolVersion", LAZ_FIELD_TEXT, AT(version)},
    {"io.modelcontextprotocol/clientCapabilities", LAZ_FIELD_JSON, LAZ_SHAPE_OBJECT,
     JSON(capabilities)},
    {"progressToken", LAZ_FIELD_JSON, JSON(token)},
    {"traceparent", LAZ_FIELD_TEXT, AT(traceparent)},
    {"tracestate", LAZ_FIELD_TEXT, AT(tracestate)},
};
const struct laz_fields mcp_meta_fields = {MCP_FIELDS("'_meta'", struct mcp_meta, meta_members)};

/* The result of a reader, with a sentence. */
static int message_result(int rc, const struct laz_fields_problem *wrong, struct laz_error *err)
{
    if (rc == LAZ_EPARSE && wrong->what == LAZ_WRONG_UNKNOWN)
        return laz_error_set(err, LAZ_EPROTO, 0, "%s has no '%.*s'", wrong->object->name,
                             (int)(wrong->key_len < 40 ? wrong->key_len : 40), wrong->key);
    return laz_wire_result(rc, wrong, err); /* which has the other sentences */
}

int mcp_read(const struct laz_fields *fields, const char *raw, size_t len, void *out,
             struct laz_error *err)
{
    struct laz_fields_problem wrong;
    int rc = laz_fields_read(fields, raw, len, out, &wrong);

    return message_result(rc, &wrong, err);
}

char *mcp_id_of(const char *raw, size_t len)
{
    struct laz_buf text = LAZ_BUF_INIT, id = LAZ_BUF_INIT;
    int64_t number;

    if (!len || len > MCP_ID)
        return NULL;
    if (raw[0] == '"' && laz_json_decode_string(raw, len, &text))
        laz_json_quote(&id, laz_buf_text(&text), text.len);
    else if (laz_json_to_int(raw, len, &number))
        laz_buf_printf(&id, "%" PRId64, number);
    const bool is_one = id.len && !id.failed && !text.failed;
    laz_buf_fini(&text);
    if (!is_one)
        laz_buf_fini(&id);
    return is_one ? laz_buf_steal(&id) : NULL;
}

bool mcp_can_ask(const char *capabilities, size_t len)
{
    const char *raw, *mode;
    size_t raw_len, n, mode_len;
    struct laz_json_found found;

    return laz_json_member(capabilities, len, "elicitation", &raw, &raw_len) &&
           laz_json_find_members(raw, raw_len, &found, 1, &n) &&
           (n == 0 || laz_json_member(raw, raw_len, "form", &mode, &mode_len));
}

/* ---- messages ------------------------------------------------------------------------------- */

static int message_check(struct mcp_message *message, struct laz_error *err)
{
    if (strcmp(message->version, "2.0") != 0)
        return laz_error_set(err, LAZ_EPROTO, 0, "'jsonrpc' is not \"2.0\"");
    if (message->raw_id && !message->id)
        return laz_error_set(err, LAZ_EPROTO, 0,
                             "'id' is neither an integer nor a text of up to %d bytes", MCP_ID - 2);
    if (message->method) {
        message->kind = message->id ? MCP_REQUEST : MCP_NOTIFICATION;
        return 0;
    }
    message->kind = MCP_ANSWER;
    return message->id && !message->result != !message->error
               ? 0
               : laz_error_set(err, LAZ_EPROTO, 0,
                               "a message has no 'method', and is not an answer either");
}

/* The id of a message that may be wrong otherwise. */
static char *message_id(const struct laz_json_found *found, size_t n)
{
    for (size_t i = 0; i < n && i < LAZ_FIELDS_MOST; i++)
        if (laz_json_found_is(&found[i], "id"))
            return mcp_id_of(found[i].raw, found[i].len);
    return NULL;
}

int mcp_message_read(const char *line, size_t len, struct mcp_message *message,
                     struct laz_error *err)
{
    struct laz_fields_problem wrong = {.what = LAZ_WRONG_NO_OBJECT, .object = &message_fields};
    struct laz_json_found found[LAZ_FIELDS_MOST];
    size_t n;

    *message = (struct mcp_message){0};
    if (laz_json_scan_members(line, len, found, LAZ_FIELDS_MOST, &n, err) != 0)
        return MCP_PARSE_ERROR;
    const char first = line[strspn(line, " \t\r\n")]; /* there is a value */
    if (first == '[') {
        laz_error_set(err, LAZ_EPROTO, 0,
                      "batches are not supported: send one message a line, an object");
        return MCP_INVALID;
    }
    if (n > LAZ_FIELDS_MOST)
        wrong.what = LAZ_WRONG_TOO_MANY;
    int rc = first != '{' || n > LAZ_FIELDS_MOST
                 ? LAZ_EPARSE
                 : laz_fields_take(&message_fields, found, n, message, &wrong);
    rc = message_result(rc, &wrong, err);
    message->id = message_id(found, n);
    if (!rc)
        rc = message_check(message, err);
    return rc == LAZ_ENOMEM ? MCP_INTERNAL : rc ? MCP_INVALID : 0;
}

void mcp_message_fini(struct mcp_message *message)
{
    free(message->id);
    message->id = NULL;
    laz_fields_free(&message_fields, message);
}

/* ---- versions -------------------------------------------------------------------------------- */

const char *const mcp_versions[MCP_N_VERSIONS] = {"2026-07-28", "2025-11-25", "2025-06-18"};

bool mcp_is_modern(const char *version)
{
    return strcmp(version, mcp_versions[0]) == 0;
}

bool mcp_is_version(const char *version)
{
    bool is = false;

    for (size_t i = 0; i < MCP_N_VERSIONS; i++)
        is |= strcmp(version, mcp_versions[i]) == 0;
    return is;
}
