/* SPDX-License-Identifier: MIT */
/* fuzz_message.c - messages of an agent, with any bytes: the lines are the same however the bytes
 * are split, and none is longer than allowed; an accepted message has the members that its type
 * requires, a rejected one a reason in one line of UTF-8. */
#include "base/json.h"
#include "base/utf8.h"
#include "wire/frame.h"
#include "wire/message.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES 256

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool held)
{
    if (!held)
        abort();
}

static void check_text(const char *text)
{
    must(!text || laz_utf8_is_valid(text, strlen(text)));
}

static void check_accepted(const struct laz_message *message, uint32_t state)
{
    switch (message->type) {
    case LAZ_MESSAGE_READY:
        must(state == LAZ_WIRE_STARTING);
        break;
    case LAZ_MESSAGE_TOOL_CALL:
        must(state == LAZ_WIRE_RUNNING && message->tool);
        must(!message->args || message->args[0] == '{' || message->args[0] == 'n');
        must(!message->args || laz_json_scan(message->args, message->args_len, NULL) == 0);
        break;
    case LAZ_MESSAGE_RESULT:
        must(state == LAZ_WIRE_RUNNING);
        must(!message->value || laz_json_scan(message->value, message->value_len, NULL) == 0);
        break;
    case LAZ_MESSAGE_ERROR:
        must(state != LAZ_WIRE_IDLE && message->kind);
        break;
    case LAZ_MESSAGE_ANSWER:
        must(state == LAZ_WIRE_TEMPLATE && message->has_id && !message->value != !message->error);
        must(!message->value || laz_json_scan(message->value, message->value_len, NULL) == 0);
        break;
    default:
        abort();
    }
    check_text(message->tool);
    check_text(message->error);
    check_text(message->kind);
    check_text(message->message);
    check_text(message->text);
    check_text(message->runtime);
    check_text(message->version);
    for (size_t i = 0; i < message->traceback.n; i++)
        check_text(message->traceback.items[i]);
}

static void check_line(const char *line, size_t len)
{
    static const uint32_t states[] = {LAZ_WIRE_STARTING, LAZ_WIRE_IDLE, LAZ_WIRE_RUNNING,
                                      LAZ_WIRE_TEMPLATE, 0};

    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        struct laz_message message;
        struct laz_error err = {0};
        int rc = laz_message_parse(line, len, states[i], &message, &err);
        if (rc)
            must(rc == LAZ_EPROTO && *err.text && laz_utf8_is_valid(err.text, strlen(err.text)));
        else
            check_accepted(&message, states[i]);
        laz_message_fini(&message);
    }
}

/* Feeds the bytes in pieces of `step`; appends all lines, each with a NUL, to `lines`. */
static int feed(const uint8_t *data, size_t size, size_t step, struct laz_buf *lines)
{
    struct laz_frame frame;
    char *line;
    size_t len;
    int rc = 0;

    laz_frame_init(&frame, LINE_MAX_BYTES);
    for (size_t at = 0; at < size && rc == 0; at += step) {
        size_t part = size - at < step ? size - at : step;
        char *room = laz_frame_room(&frame, part);
        must(room != NULL);
        memcpy(room, data + at, part);
        laz_frame_added(&frame, part);
        while ((rc = laz_frame_next(&frame, &line, &len)) == 1) {
            must(len <= LINE_MAX_BYTES);
            laz_buf_append(lines, line, len + 1);
        }
        must(rc < 0 || laz_frame_partial(&frame) <= LINE_MAX_BYTES);
    }
    laz_frame_fini(&frame);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct laz_buf whole = LAZ_BUF_INIT, pieces = LAZ_BUF_INIT;
    const uint8_t *at = data, *end = data + size, *newline;

    int rc = feed(data, size, size ? size : 1, &whole);
    for (size_t step = 1; step < 8; step++) {
        laz_buf_clear(&pieces);
        must(feed(data, size, step, &pieces) == rc && pieces.len == whole.len);
        must(!whole.len || memcmp(pieces.data, whole.data, whole.len) == 0);
    }
    while (at < end && (newline = memchr(at, '\n', (size_t)(end - at)))) {
        check_line((const char *)at, (size_t)(newline - at));
        at = newline + 1;
    }
    check_line((const char *)at, (size_t)(end - at));
    laz_buf_fini(&whole);
    laz_buf_fini(&pieces);
    return 0;
}
