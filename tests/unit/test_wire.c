/* SPDX-License-Identifier: MIT */
/* test_wire.c - framing and the message table. */
#include "unit.h"

#include "wire/frame.h"
#include "wire/message.h"

#include <stdlib.h>
#include <string.h>

static void feed(struct laz_frame *frame, const char *text, size_t len)
{
    char *room = laz_frame_room(frame, len);

    CU_ASSERT_PTR_NOT_NULL_FATAL(room);
    memcpy(room, text, len);
    laz_frame_added(frame, len);
}

static void frames_are_the_same_however_they_are_cut(void)
{
    static const char text[] = "one\n\ntwo three\n{\"x\":1}\n";
    static const char *const lines[] = {"one", "", "two three", "{\"x\":1}"};

    for (size_t step = 1; step < sizeof text; step++) {
        struct laz_frame frame;
        size_t n = 0, len;
        char *line;
        laz_frame_init(&frame, 100);
        for (size_t at = 0; at < sizeof text - 1; at += step) {
            size_t part = sizeof text - 1 - at < step ? sizeof text - 1 - at : step;
            feed(&frame, text + at, part);
            while (laz_frame_next(&frame, &line, &len) == 1) {
                UNIT_TEXT(line, lines[n]);
                CU_ASSERT_EQUAL(len, strlen(lines[n]));
                n++;
            }
        }
        CU_ASSERT_EQUAL(n, 4);
        CU_ASSERT_EQUAL(laz_frame_partial(&frame), 0);
        laz_frame_fini(&frame);
    }
}

static void frame_refuses_a_line_over_the_limit(void)
{
    static const struct {
        size_t bytes;
        int newline;
        int expected;
    } rows[] = {{99, 1, 1}, {100, 1, 1}, {101, 1, LAZ_ETOOBIG}, {100, 0, 0}, {101, 0, LAZ_ETOOBIG}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_frame frame;
        char text[128];
        char *line;
        size_t len;
        laz_frame_init(&frame, 100);
        memset(text, 'x', sizeof text);
        text[rows[i].bytes] = '\n';
        feed(&frame, text, rows[i].bytes + (size_t)rows[i].newline);
        CU_ASSERT_EQUAL(laz_frame_next(&frame, &line, &len), rows[i].expected);
        laz_frame_fini(&frame);
    }
}

static void message_table_decides(void)
{
    static const struct {
        const char *line;
        uint32_t state;
        const char *problem; /* NULL: accepted */
    } rows[] = {
        {"{\"type\":\"ready\",\"protocol\":1,\"runtime\":\"r\"}", LAZ_WIRE_STARTING, NULL},
        {"{\"type\":\"ready\",\"protocol\":1}", LAZ_WIRE_RUNNING,
         "message 'ready' is not allowed now"},
        {"{\"type\":\"ready\"}", LAZ_WIRE_STARTING, "message 'ready' lacks 'protocol'"},
        {"{\"type\":\"tool_call\",\"tool\":\"add\",\"args\":{}}", LAZ_WIRE_RUNNING, NULL},
        {"{\"type\":\"tool_call\",\"tool\":\"add\"}", LAZ_WIRE_RUNNING, NULL},
        {"{\"type\":\"tool_call\",\"tool\":\"add\",\"args\":null}", LAZ_WIRE_RUNNING, NULL},
        {"{\"type\":\"tool_call\",\"tool\":\"add\",\"args\":[1]}", LAZ_WIRE_RUNNING,
         "'args' of a tool call is neither object nor null"},
        {"{\"type\":\"tool_call\",\"tool\":7}", LAZ_WIRE_RUNNING,
         "'tool' of a message has the wrong type"},
        {"{\"type\":\"tool_call\"}", LAZ_WIRE_RUNNING, "message 'tool_call' lacks 'tool'"},
        {"{\"type\":\"tool_call\",\"tool\":\"a\"}", LAZ_WIRE_IDLE,
         "message 'tool_call' is not allowed now"},
        {"{\"type\":\"result\",\"id\":1,\"value\":3}", LAZ_WIRE_RUNNING, NULL},
        {"{\"type\":\"result\",\"id\":1.5}", LAZ_WIRE_RUNNING,
         "the id of a message is not an integer"},
        {"{\"type\":\"result\",\"id\":1}", LAZ_WIRE_IDLE, "message 'result' is not allowed now"},
        {"{\"type\":\"error\",\"kind\":\"runtime\",\"traceback\":[\"a\",\"b\"]}", LAZ_WIRE_RUNNING,
         NULL},
        {"{\"type\":\"error\",\"kind\":\"runtime\",\"traceback\":[1]}", LAZ_WIRE_RUNNING,
         "'traceback' of a message has the wrong type"},
        {"{\"type\":\"execute\",\"code\":\"1\"}", LAZ_WIRE_RUNNING, "unknown message 'execute'"},
        {"{\"type\":\"123456789012345678901234567890123456789\u20ac\"}", LAZ_WIRE_RUNNING,
         "unknown message '123456789012345678901234567890123456789'"},
        {"{\"Type\":\"ready\"}", LAZ_WIRE_STARTING, "a message has no type"},
        {"[]", LAZ_WIRE_RUNNING, "a message has no type"},
        {"5", LAZ_WIRE_RUNNING, "a message has no type"},
        {"{\"type\":\"result\",\"type\":\"error\"}", LAZ_WIRE_RUNNING,
         "not valid JSON: a key is repeated (byte 31)"},
        {"hello", LAZ_WIRE_RUNNING, "not valid JSON: a number is not valid (byte 0)"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_message message;
        struct laz_error err = {0};
        int rc =
            laz_message_parse(rows[i].line, strlen(rows[i].line), rows[i].state, &message, &err);
        CU_ASSERT_EQUAL(rc, rows[i].problem ? LAZ_EPROTO : 0);
        UNIT_TEXT(err.text, rows[i].problem ? rows[i].problem : "");
        laz_message_fini(&message);
    }
}

static void a_message_has_at_most_64_members(void)
{
    for (int n = 61; n <= 63; n++) { /* in a message with two more levels */
        struct laz_buf line = LAZ_BUF_INIT;
        struct laz_message message;
        struct laz_error err = {0};
        laz_buf_puts(&line, "{\"type\":\"result\"");
        for (int i = 0; i < n; i++)
            laz_buf_printf(&line, ",\"unknown%d\":[]", i);
        laz_buf_puts(&line, ",\"id\":7}");
        int rc = laz_message_parse(line.data, line.len, LAZ_WIRE_RUNNING, &message, &err);
        CU_ASSERT_EQUAL(rc, n <= 62 ? 0 : LAZ_EPROTO);
        UNIT_TEXT(err.text, n <= 62 ? "" : "a message has more than 64 members");
        CU_ASSERT_EQUAL(message.id, n <= 62 ? 7 : 0);
        laz_message_fini(&message);
        laz_buf_fini(&line);
    }
}

static void message_members_arrive(void)
{
    static const char line[] =
        "{\"type\":\"error\",\"id\":9,\"kind\":\"runtime\",\"message\":\"b\\u00e9\",\"line\":3,"
        "\"traceback\":[\"f()\",\"g()\"],\"unknown\":{\"a\":[1]}}";
    struct laz_message message;

    CU_ASSERT_EQUAL(laz_message_parse(line, sizeof line - 1, LAZ_WIRE_RUNNING, &message, NULL), 0);
    CU_ASSERT_TRUE(message.has_id);
    CU_ASSERT_EQUAL(message.id, 9);
    UNIT_TEXT(message.message, "b\xc3\xa9");
    CU_ASSERT_EQUAL(message.line, 3);
    CU_ASSERT_EQUAL(message.traceback.n, 2);
    UNIT_TEXT(message.traceback.items[1], "g()");
    laz_message_fini(&message);

    static const char result[] =
        "{\"type\":\"result\",\"value\":{\"a\": [1, 2]},\"visible\":false}";
    CU_ASSERT_EQUAL(laz_message_parse(result, sizeof result - 1, LAZ_WIRE_RUNNING, &message, NULL),
                    0);
    CU_ASSERT_EQUAL(message.value_len, 13);
    CU_ASSERT_EQUAL(strncmp(message.value, "{\"a\": [1, 2]}", 13), 0);
    CU_ASSERT_FALSE(message.visible);
    laz_message_fini(&message);
}

static const struct unit_test tests[] = {
    UNIT(frames_are_the_same_however_they_are_cut),
    UNIT(frame_refuses_a_line_over_the_limit),
    UNIT(message_table_decides),
    UNIT(a_message_has_at_most_64_members),
    UNIT(message_members_arrive),
    {0},
};

int main(void)
{
    return unit_run("wire", tests);
}
