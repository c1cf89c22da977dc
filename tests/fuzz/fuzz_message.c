/* SPDX-License-Identifier: MIT */
/* fuzz_message.c - what an agent or a host sends, on any bytes: the lines are the same however the
 * bytes are cut, none is longer than allowed; a message that is accepted has what its type must
 * have, and made again it is the same message; one that is refused has a reason in one line of
 * UTF-8.  Members are found at the same places with and without the check. */
#include "base/json.h"
#include "base/utf8.h"
#include "wire/frame.h"
#include "wire/table.h"

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
    case LAZ_MESSAGE_PART:
        must(state == LAZ_WIRE_RUNNING && message->of && message->data);
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
    check_text(message->of);
    check_text(message->name);
    for (size_t i = 0; i < message->traceback.n; i++)
        check_text(message->traceback.items[i]);
}

typedef int parse_line(const char *line, size_t len, uint32_t state, struct laz_message *message,
                       struct laz_error *err);

/* Made again it is read as the same message. */
static void check_made(const struct laz_message *message, parse_line *parse, uint32_t state)
{
    struct laz_buf made = LAZ_BUF_INIT, again = LAZ_BUF_INIT;
    struct laz_message second;

    laz_message_make(message, &made);
    must(laz_json_scan(made.data, made.len, NULL) == 0);
    must(parse(made.data, made.len, state, &second, NULL) == 0 && second.type == message->type);
    laz_message_make(&second, &again);
    must(made.len == again.len && memcmp(made.data, again.data, made.len) == 0);
    laz_message_fini(&second);
    laz_buf_fini(&made);
    laz_buf_fini(&again);
}

static void check_parse(const char *line, size_t len, uint32_t state, parse_line *parse,
                        bool is_json)
{
    struct laz_message message;
    struct laz_error err = {0};
    int rc = parse(line, len, state, &message, &err);

    if (rc)
        must(rc == LAZ_EPROTO && *err.text && laz_utf8_is_valid(err.text, strlen(err.text)));
    else if (parse == laz_message_parse)
        check_accepted(&message, state);
    else
        must(laz_wire_table[message.type].direction == LAZ_WIRE_TO_AGENT &&
             (laz_wire_table[message.type].states & state));
    /* A reply that fits nothing is read all the same, and need not be one. */
    if (rc == 0 && is_json &&
        (message.type != LAZ_MESSAGE_REPLY || !message.value != !message.error))
        check_made(&message, parse, state);
    laz_message_fini(&message);
}

/* With and without the check. True: it is JSON. */
static bool check_members(const char *line, size_t len)
{
    struct laz_json_found checked[4], found[4];
    size_t n, m;
    bool is_json = laz_json_scan_members(line, len, checked, 4, &n, NULL) == 0;
    bool is_object = laz_json_find_members(line, len, found, 4, &m);

    if (!is_json)
        return false;
    must(is_object || n == 0);
    must(!is_object || n == m);
    for (size_t i = 0; is_object && i < n && i < 4; i++)
        must(checked[i].key == found[i].key && checked[i].key_len == found[i].key_len &&
             checked[i].raw == found[i].raw && checked[i].len == found[i].len);
    return true;
}

static void check_line(const char *line, size_t len)
{
    static const uint32_t states[] = {LAZ_WIRE_STARTING, LAZ_WIRE_IDLE, LAZ_WIRE_RUNNING,
                                      LAZ_WIRE_TEMPLATE, 0};
    bool is_json = check_members(line, len);

    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        check_parse(line, len, states[i], laz_message_parse, is_json);
        check_parse(line, len, states[i], laz_message_parse_host, is_json);
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
