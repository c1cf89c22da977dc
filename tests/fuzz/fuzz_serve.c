/* SPDX-License-Identifier: MIT */
/* fuzz_serve.c - what a client of `lazaret serve` sends, on any bytes: a message that is accepted
 * has what its type must have, and made again it is the same message; one that is refused has a
 * reason in one line of UTF-8.  Tools in it are read, too. */
#include "base/json.h"
#include "base/utf8.h"
#include "host/message.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool held)
{
    if (!held)
        abort();
}

static void check_refused(const struct laz_error *err)
{
    must(err->code == LAZ_EPROTO && *err->text);
    must(laz_utf8_is_valid(err->text, strlen(err->text)) && !strchr(err->text, '\n'));
}

static void check_tools(const struct serve_message *message)
{
    struct laz_field_list list;
    struct laz_error err = {0};

    if (!message->tools)
        return;
    must(laz_json_scan(message->tools, message->tools_len, NULL) == 0);
    if (laz_wire_read_list(&serve_tool_fields, message->tools, message->tools_len, &list, &err)) {
        check_refused(&err);
        return;
    }
    for (size_t i = 0; i < list.n; i++) {
        const struct serve_tool *tool = (const struct serve_tool *)list.items + i;
        must(tool->name && tool->timeout_ms >= 0 && tool->max_concurrent >= 0);
        must(!tool->parameters || *tool->parameters == '[');
    }
    laz_fields_free_list(&serve_tool_fields, &list);
}

static void check_accepted(enum serve_message_type type, const struct serve_message *message)
{
    must(serve_protocol.rows[type].direction == LAZ_WIRE_TO_SERVER);
    must(type == SERVE_ANSWER || (message->has_id && message->id >= 1));
    must(type != SERVE_EXECUTE || message->source);
    must(type != SERVE_ANSWER || !message->value != !message->error);
    must(type != SERVE_TOOLS || message->tools);
    must(type != SERVE_RESTART || message->has_session);
    must(type != SERVE_SET_NETWORK || (message->has_session && message->network));
    must(message->members >= 0 && message->members <= 100);
    must(!message->value || laz_json_scan(message->value, message->value_len, NULL) == 0);
    check_tools(message);
}

/* Made again it is read as the same message. */
static void check_made(enum serve_message_type type, const struct serve_message *message)
{
    struct laz_buf made = LAZ_BUF_INIT, again = LAZ_BUF_INIT;
    struct serve_message second;
    enum serve_message_type second_type;

    serve_message_make(type, message, &made);
    must(laz_json_scan(made.data, made.len, NULL) == 0);
    must(serve_message_parse(made.data, made.len, &second_type, &second, NULL) == 0);
    must(second_type == type);
    serve_message_make(type, &second, &again);
    must(made.len == again.len && memcmp(made.data, again.data, made.len) == 0);
    serve_message_fini(second_type, &second);
    laz_buf_fini(&made);
    laz_buf_fini(&again);
}

static void check_line(const char *line, size_t len)
{
    struct serve_message message;
    struct laz_error err = {0};
    enum serve_message_type type;

    if (serve_message_parse(line, len, &type, &message, &err) == 0) {
        check_accepted(type, &message);
        check_made(type, &message);
    } else {
        check_refused(&err);
    }
    serve_message_fini(type, &message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *line = (const char *)data;

    while (size) {
        const char *newline = memchr(line, '\n', size);
        const size_t len = newline ? (size_t)(newline - line) : size;
        check_line(line, len);
        size -= len + (newline != NULL);
        line += len + (newline != NULL);
    }
    return 0;
}
