/* SPDX-License-Identifier: MIT */
/* test_wire.c - framing, and the table of messages in both directions. */
#include "unit.h"

#include "base/json.h"
#include "wire/frame.h"
#include "wire/table.h"

#include <stdio.h>
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

/* Begins a line of so many bytes, as it is read from a channel; how often its buffer became another
 * one. */
static unsigned feed_large(struct laz_frame *frame, size_t size)
{
    static char piece[64 << 10];
    unsigned buffers = 0;
    size_t cap = frame->buf.cap, len;
    char *line;

    for (size_t done = 0; done < size; done += sizeof piece) {
        memset(piece, 'a' + (int)(done / sizeof piece % 26), sizeof piece);
        feed(frame, piece, sizeof piece);
        CU_ASSERT_EQUAL(laz_frame_next(frame, &line, &len), 0);
        buffers += frame->buf.cap != cap;
        cap = frame->buf.cap;
    }
    return buffers;
}

static void a_large_line_is_moved_once(void)
{
    const size_t sizes[] = {1 << 20, (2 << 20) - (64 << 10)};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct laz_frame frame;
        size_t len;
        char *line;

        laz_frame_init(&frame, 8 << 20);
        CU_ASSERT(feed_large(&frame, sizes[i]) <= 3); /* 128 and 256 KiB, 2 MiB */
        feed(&frame, "\n", 1);
        CU_ASSERT_FATAL(laz_frame_next(&frame, &line, &len) == 1);
        CU_ASSERT_EQUAL(len, sizes[i]);
        for (size_t at = 0; at < len; at += 64 << 10)
            CU_ASSERT(line[at] == 'a' + (int)(at / (64 << 10) % 26) &&
                      line[at + 65535] == line[at]);
        laz_frame_room(&frame, 1);
        CU_ASSERT(frame.buf.cap <= 256 << 10); /* it is not kept */
        laz_frame_fini(&frame);
    }
}

static void a_frame_takes_no_more_than_its_longest_line_needs(void)
{
    struct laz_frame frame;

    laz_frame_init(&frame, 300 << 10);
    feed_large(&frame, 256 << 10);
    CU_ASSERT(frame.buf.cap <= 512 << 10);
    laz_frame_fini(&frame);
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

/* Room for more, with zeros in all memory that is new. */
static char *blank_room(struct laz_frame *frame, size_t size)
{
    const size_t cap = frame->buf.cap;
    /* it gives a large buffer back */
    const bool is_new = frame->start == frame->buf.len && cap > 256 << 10;
    char *room = laz_frame_room(frame, size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(room);
    if (is_new)
        memset(frame->buf.data, 0, frame->buf.cap);
    else if (frame->buf.cap > cap)
        memset(frame->buf.data + cap, 0, frame->buf.cap - cap);
    return room;
}

/* Each byte that is fed is 'x' or a newline, and the memory is zero otherwise: what is not zero
 * after the wipe was read. The steps are of all sizes up to twice the memory that a frame keeps. */
static void wiped_frame_holds_nothing_that_was_read(void)
{
    static char text[600 << 10];
    struct laz_frame frame;
    size_t len;
    char *line;

    memset(text, 'x', sizeof text);
    laz_frame_init(&frame, 4 * sizeof text);
    laz_frame_wipe(&frame); /* without any memory */
    for (size_t size = 1, i = 0; size <= sizeof text; size += size / 2 + 1, i++) {
        for (size_t part = 0; part < 3; part++) { /* two lines, and a part of one */
            char *room = blank_room(&frame, size);
            memcpy(room, text, size);
            if (part < 2)
                room[size - 1] = '\n';
            laz_frame_added(&frame, size);
            if ((i + part) % 3)
                CU_ASSERT(laz_frame_next(&frame, &line, &len) >= 0);
        }
        if (i % 2 == 0)
            continue; /* lines go into what earlier ones have left */
        laz_frame_wipe(&frame);
        CU_ASSERT_EQUAL(laz_frame_partial(&frame), 0);
        CU_ASSERT_EQUAL(laz_frame_next(&frame, &line, &len), 0);
        CU_ASSERT(frame.buf.data[0] == 0 &&
                  memcmp(frame.buf.data, frame.buf.data + 1, frame.buf.cap - 1) == 0);
    }
    laz_frame_wipe(&frame);
    feed(&frame, "on\n", 3);
    CU_ASSERT_EQUAL(laz_frame_next(&frame, &line, &len), 1);
    UNIT_TEXT(line, "on");
    laz_frame_fini(&frame);
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

/* ---- the table ------------------------------------------------------------------------------ */

/* One value of each kind, and one of another type. */
static const struct {
    const char *good, *bad;
} table_values[LAZ_FIELD_KINDS] = {
    [LAZ_FIELD_TEXT] = {"\"a\\u00e9\"", "7"},
    [LAZ_FIELD_PLAIN] = {"\"abcdefghijklmnopqrstuvwxyz012345\"", "\"short\""},
    [LAZ_FIELD_INTEGER] = {"7", "1.5"},
    [LAZ_FIELD_BOOLEAN] = {"true", "\"true\""},
    [LAZ_FIELD_TEXTS] = {"[\"x\",\"y\"]", "[\"x\",1]"},
    [LAZ_FIELD_OBJECT] = {"{}", "[]"},
    [LAZ_FIELD_LIST] = {"[]", "{}"},
    [LAZ_FIELD_NUMBERS] = {"{\"n\":1}", "{\"n\":-1}"},
};

static const char *table_good(const struct laz_field *member)
{
    if (member->kind != LAZ_FIELD_JSON)
        return table_values[member->kind].good;
    return member->shape == LAZ_SHAPE_LIST ? "[ 1 ]" : "{\"k\": [1]}";
}

/* NULL: every value will do. */
static const char *table_bad(const struct laz_field *member)
{
    if (member->kind == LAZ_FIELD_PLAIN && !member->min)
        return "7";
    if (member->kind != LAZ_FIELD_JSON)
        return table_values[member->kind].bad;
    return member->shape == LAZ_SHAPE_ANY ? NULL : "3";
}

/* The members of an object, all but `without` and all but the second choice; `wrong` is ill-typed.
 */
static void table_text(const struct laz_fields *object, const char *type, size_t without,
                       size_t wrong, struct laz_buf *text)
{
    struct laz_json_write write = {.to = text};
    bool chosen = false;

    laz_buf_clear(text);
    laz_json_begin_object(&write, NULL);
    if (type)
        laz_json_add_text(&write, "type", type);
    for (size_t i = 0; i < object->n; i++) {
        const struct laz_field *member = &object->items[i];
        const char *value = i == wrong ? table_bad(member) : table_good(member);
        if (i == without || ((member->flags & LAZ_FIELD_CHOICE) && chosen))
            continue;
        chosen |= (member->flags & LAZ_FIELD_CHOICE) != 0;
        laz_json_add_raw(&write, member->name, value, strlen(value));
    }
    laz_json_end_object(&write);
}

static int table_parse(const struct laz_wire_row *row, const struct laz_buf *line, uint32_t state,
                       struct laz_message *message, struct laz_error *err)
{
    *err = (struct laz_error){0};
    return (row->direction == LAZ_WIRE_TO_HOST ? laz_message_parse : laz_message_parse_host)(
        line->data, line->len, state, message, err);
}

static uint32_t table_state(const struct laz_wire_row *row)
{
    return row->states & (0 - row->states); /* the lowest */
}

#define NONE SIZE_MAX

static void every_message_is_read_and_made_again(void)
{
    struct laz_buf line = LAZ_BUF_INIT, made = LAZ_BUF_INIT, again = LAZ_BUF_INIT;

    for (unsigned type = 0; type < LAZ_MESSAGE_TYPES; type++) {
        const struct laz_wire_row *row = &laz_wire_table[type];
        struct laz_message message, second;
        struct laz_error err;
        CU_ASSERT_PTR_NOT_NULL_FATAL(row->legal);
        table_text(&row->object, row->type, NONE, NONE, &line);
        CU_ASSERT_EQUAL(table_parse(row, &line, table_state(row), &message, &err), 0);
        UNIT_TEXT(err.text, "");
        CU_ASSERT_EQUAL(message.type, type);
        laz_buf_clear(&made);
        laz_message_make(&message, &made);
        CU_ASSERT(made.len && made.data[made.len - 1] == '\n');
        CU_ASSERT_EQUAL(table_parse(row, &made, table_state(row), &second, &err), 0);
        laz_buf_clear(&again);
        laz_message_make(&second, &again);
        UNIT_TEXT(laz_buf_text(&again), laz_buf_text(&made));
        for (size_t i = 0; i < row->object.n; i++) { /* nothing was lost */
            char key[64];
            snprintf(key, sizeof key, "\"%s\":", row->object.items[i].name);
            CU_ASSERT(!strstr(laz_buf_text(&line), key) || strstr(laz_buf_text(&made), key));
        }
        laz_message_fini(&message);
        laz_message_fini(&second);
    }
    laz_buf_fini(&line);
    laz_buf_fini(&made);
    laz_buf_fini(&again);
}

static void every_message_is_refused_in_other_states(void)
{
    static const uint32_t states[] = {0, LAZ_WIRE_STARTING, LAZ_WIRE_IDLE, LAZ_WIRE_RUNNING,
                                      LAZ_WIRE_TEMPLATE};
    struct laz_buf line = LAZ_BUF_INIT;

    for (unsigned type = 0; type < LAZ_MESSAGE_TYPES; type++) {
        const struct laz_wire_row *row = &laz_wire_table[type];
        table_text(&row->object, row->type, NONE, NONE, &line);
        for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
            struct laz_message message;
            struct laz_error err;
            int rc = table_parse(row, &line, states[i], &message, &err);
            CU_ASSERT_EQUAL(rc, states[i] & row->states ? 0 : LAZ_EPROTO);
            CU_ASSERT(rc == 0 || strstr(err.text, row->type ? "not allowed now" : "has no type"));
            laz_message_fini(&message);
        }
    }
    laz_buf_fini(&line);
}

static void no_side_takes_the_messages_of_the_other(void)
{
    struct laz_buf line = LAZ_BUF_INIT;

    for (unsigned type = 0; type < LAZ_MESSAGE_TYPES; type++) {
        struct laz_wire_row row = laz_wire_table[type];
        struct laz_message message;
        struct laz_error err;
        if (!row.type)
            continue;
        table_text(&row.object, row.type, NONE, NONE, &line);
        row.direction = row.direction == LAZ_WIRE_TO_HOST ? LAZ_WIRE_TO_AGENT : LAZ_WIRE_TO_HOST;
        CU_ASSERT_EQUAL(table_parse(&row, &line, table_state(&row), &message, &err), LAZ_EPROTO);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "unknown message"));
        laz_message_fini(&message);
    }
    laz_buf_fini(&line);
}

/* Each member of each message: it may be absent or not, and has its type. */
static void every_member_is_checked(void)
{
    struct laz_buf line = LAZ_BUF_INIT;

    for (unsigned type = 0; type < LAZ_MESSAGE_TYPES; type++) {
        const struct laz_wire_row *row = &laz_wire_table[type];
        for (size_t i = 0; i < row->object.n; i++) {
            const struct laz_field *member = &row->object.items[i];
            struct laz_message message;
            struct laz_error err;
            table_text(&row->object, row->type, i, NONE, &line);
            int rc = table_parse(row, &line, table_state(row), &message, &err);
            CU_ASSERT_EQUAL(rc, member->flags & LAZ_FIELD_REQUIRED ? LAZ_EPROTO : 0);
            CU_ASSERT((rc == 0) == !*err.text);
            laz_message_fini(&message);
            if (!table_bad(member) || (member->flags & LAZ_FIELD_CHOICE))
                continue;
            table_text(&row->object, row->type, NONE, i, &line);
            rc = table_parse(row, &line, table_state(row), &message, &err);
            CU_ASSERT_EQUAL(rc, row->object.is_lenient ? 0 : LAZ_EPROTO);
            CU_ASSERT((rc == 0) == !*err.text);
            laz_message_fini(&message);
        }
    }
    laz_buf_fini(&line);
}

/* What a reader of `init` goes on to read. */
static void every_object_is_read_made_and_checked(void)
{
    static const struct laz_fields *const objects[] = {
        &laz_wire_options, &laz_wire_confine,   &laz_wire_landlock, &laz_wire_rule,
        &laz_wire_tool,    &laz_wire_parameter, &laz_wire_status};
    union {
        struct laz_wire_options options;
        struct laz_wire_confine confine;
        struct laz_wire_parameter parameter;
        struct laz_wire_tool tool;
        struct laz_wire_status status;
    } out;
    struct laz_buf text = LAZ_BUF_INIT, made = LAZ_BUF_INIT;

    for (size_t k = 0; k < sizeof objects / sizeof *objects; k++) {
        const struct laz_fields *object = objects[k];
        struct laz_json_write write = {.to = &made};
        CU_ASSERT_FATAL(object->size <= sizeof out);
        table_text(object, NULL, NONE, NONE, &text);
        CU_ASSERT_EQUAL(laz_wire_read(object, text.data, text.len, &out, NULL), 0);
        laz_buf_clear(&made);
        laz_fields_add(&write, NULL, object, &out);
        laz_fields_free(object, &out);
        CU_ASSERT_EQUAL(laz_json_scan(made.data, made.len, NULL), 0);
        for (size_t i = 0; i < object->n; i++) {
            struct laz_error err = {0};
            table_text(object, NULL, i, NONE, &text);
            int rc = laz_wire_read(object, text.data, text.len, &out, &err);
            CU_ASSERT_EQUAL(rc, object->items[i].flags & LAZ_FIELD_REQUIRED ? LAZ_EPROTO : 0);
            CU_ASSERT((rc == 0) == !*err.text);
            laz_fields_free(object, &out);
            if (!table_bad(&object->items[i]))
                continue;
            table_text(object, NULL, NONE, i, &text);
            CU_ASSERT_EQUAL(laz_wire_read(object, text.data, text.len, &out, &err), LAZ_EPROTO);
            CU_ASSERT(*err.text);
        }
    }
    laz_buf_fini(&text);
    laz_buf_fini(&made);
}

static void messages_of_the_host_are_decided_by_the_table(void)
{
    static const struct {
        const char *line;
        uint32_t state;
        const char *problem; /* NULL: accepted */
    } rows[] = {
        {"{\"type\":\"init\",\"protocol\":1}", LAZ_WIRE_STARTING, NULL},
        {"{\"type\":\"init\"}", LAZ_WIRE_STARTING, "message 'init' lacks 'protocol'"},
        {"{\"type\":\"init\",\"protocol\":1,\"options\":{\"preload\":[7]}}", LAZ_WIRE_STARTING,
         "a name of preload is not a string"},
        {"{\"type\":\"init\",\"protocol\":1,\"options\":{\"home\":7}}", LAZ_WIRE_STARTING,
         "'home' of options has the wrong type"},
        {"{\"type\":\"init\",\"protocol\":1,\"confine\":[]}", LAZ_WIRE_STARTING,
         "'confine' of a message has the wrong type"},
        {"{\"type\":\"execute\",\"id\":1}", LAZ_WIRE_IDLE, "message 'execute' lacks 'code'"},
        {"{\"type\":\"execute\",\"id\":\"x\",\"code\":\"\"}", LAZ_WIRE_IDLE,
         "the id of a message is not an integer"},
        {"{\"type\":\"execute\",\"code\":\"1\"}", LAZ_WIRE_RUNNING,
         "message 'execute' is not allowed now"},
        {"{\"type\":\"spawn\",\"id\":1,\"token\":\"short\"}", LAZ_WIRE_TEMPLATE,
         "a spawn has a token of 32 characters"},
        {"{\"type\":\"spawn\",\"id\":1}", LAZ_WIRE_TEMPLATE,
         "a spawn has a token of 32 characters"},
        {"{\"type\":\"ready\",\"protocol\":1}", LAZ_WIRE_IDLE, "unknown message 'ready'"},
        {"{\"id\":3,\"value\":{\"a\":1},\"more\":[]}", LAZ_WIRE_RUNNING, NULL},
        {"{\"id\":\"x\",\"error\":7}", LAZ_WIRE_RUNNING, NULL}, /* it is discarded */
        {"{\"id\":3}", LAZ_WIRE_STARTING, "a message has no type"},
        {"not JSON", LAZ_WIRE_IDLE, "a message is not a JSON object"},
        {"{\"type\":\"exit\"} {}", LAZ_WIRE_IDLE, "a message is not a JSON object"},
        {"not JSON", LAZ_WIRE_TEMPLATE, "not valid JSON: a value is expected (byte 0)"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_message message;
        struct laz_error err = {0};
        int rc = laz_message_parse_host(rows[i].line, strlen(rows[i].line), rows[i].state, &message,
                                        &err);
        CU_ASSERT_EQUAL(rc, rows[i].problem ? LAZ_EPROTO : 0);
        UNIT_TEXT(err.text, rows[i].problem ? rows[i].problem : "");
        laz_message_fini(&message);
    }
}

static void confine_has_no_unknown_member(void)
{
    static const char text[] = "{\"limits\":{},\"shrink\":1}";
    struct laz_wire_confine confine;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL(laz_wire_read(&laz_wire_confine, text, sizeof text - 1, &confine, &err),
                    LAZ_EPROTO);
    UNIT_TEXT(err.text,
              "this agent does not know \"shrink\" in 'confine': it is older than the host");
}

/* The bytes that agents and hosts of other versions expect. */
static void messages_are_made_as_ever(void)
{
    static char step[] = "core";
    char *steps[] = {step, NULL};
    const struct {
        struct laz_message message;
        const char *line;
    } rows[] = {
        {{.type = LAZ_MESSAGE_EXECUTE, .has_id = true, .id = 4, .code = "a\"", .code_len = 2},
         "{\"type\":\"execute\",\"id\":4,\"code\":\"a\\\"\",\"print\":false}\n"},
        {{.type = LAZ_MESSAGE_CHECK, .has_id = true, .id = 5, .code = "1", .code_len = 1},
         "{\"type\":\"check\",\"id\":5,\"code\":\"1\"}\n"},
        {{.type = LAZ_MESSAGE_REPLY, .has_id = true, .id = 6, .value = "[1]", .value_len = 3},
         "{\"id\":6,\"value\":[1]}\n"},
        {{.type = LAZ_MESSAGE_REPLY, .error = "no", .error_len = 2}, "{\"error\":\"no\"}\n"},
        {{.type = LAZ_MESSAGE_PREPARE}, "{\"type\":\"prepare\"}\n"},
        {{.type = LAZ_MESSAGE_EXIT}, "{\"type\":\"exit\"}\n"},
        {{.type = LAZ_MESSAGE_READY,
          .protocol = 1,
          .runtime = "r",
          .version = "4",
          .confined = {.items = steps, .n = 1},
          .cost = "1 us"},
         "{\"type\":\"ready\",\"protocol\":1,\"runtime\":\"r\",\"version\":\"4\",\"confined\":"
         "[\"core\"],\"missing\":[],\"cost\":\"1 us\"}\n"},
        {{.type = LAZ_MESSAGE_ERROR,
          .has_id = true,
          .kind = "exit",
          .has_status = true,
          .message = "m",
          .message_len = 1},
         "{\"type\":\"error\",\"id\":0,\"kind\":\"exit\",\"status\":0,\"message\":\"m\"}\n"},
        {{.type = LAZ_MESSAGE_ANSWER, .has_id = true, .id = 9, .error = "e", .error_len = 1},
         "{\"id\":9,\"error\":\"e\"}\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_buf line = LAZ_BUF_INIT;
        laz_message_make(&rows[i].message, &line);
        UNIT_TEXT(laz_buf_text(&line), rows[i].line);
        laz_buf_fini(&line);
    }
}

static void a_large_value_is_left_out_where_it_belongs(void)
{
    static const struct laz_message messages[] = {
        {.type = LAZ_MESSAGE_RESULT,
         .has_id = true,
         .id = 1,
         .text = "t",
         .text_len = 1,
         .visible = true},
        {.type = LAZ_MESSAGE_TOOL_CALL, .has_id = true, .id = 2, .tool = "add"},
    };
    static const char *const heads[] = {"{\"type\":\"result\",\"id\":1,\"value\":",
                                        "x{\"type\":\"tool_call\",\"id\":2,\"tool\":\"add\","
                                        "\"args\":"};
    static const char *const tails[] = {",\"text\":\"t\",\"visible\":true}\n", "}\n"};

    for (size_t i = 0; i < 2; i++) {
        struct laz_buf line = LAZ_BUF_INIT;
        if (i)
            laz_buf_puts(&line, "x"); /* what is there stays */
        size_t at = laz_message_make_around(&messages[i], &line);
        CU_ASSERT_EQUAL_FATAL(at, strlen(heads[i]));
        CU_ASSERT_EQUAL(strncmp(line.data, heads[i], at), 0);
        UNIT_TEXT(line.data + at, tails[i]);
        laz_buf_fini(&line);
    }
}

static void the_token_stays_in_its_line(void)
{
    static const char line[] =
        "{\"type\":\"spawn\",\"id\":1,\"token\":\"abcdefghijklmnopqrstuvwxyz012345\"}";
    struct laz_message message;

    CU_ASSERT_EQUAL(
        laz_message_parse_host(line, sizeof line - 1, LAZ_WIRE_TEMPLATE, &message, NULL), 0);
    CU_ASSERT(message.token > line && message.token < line + sizeof line);
    CU_ASSERT_EQUAL(message.token_len, 32);
    laz_message_fini(&message);
}

static void a_list_keeps_a_thousand_texts(void)
{
    struct laz_buf line = LAZ_BUF_INIT;
    struct laz_message message;

    laz_buf_puts(&line, "{\"type\":\"error\",\"kind\":\"runtime\",\"traceback\":[\"f\"");
    for (int i = 0; i < 1500; i++)
        laz_buf_puts(&line, i < 1200 ? ",\"f\"" : ",7"); /* what is not kept is not looked at */
    laz_buf_puts(&line, "]}");
    CU_ASSERT_EQUAL(laz_message_parse(line.data, line.len, LAZ_WIRE_RUNNING, &message, NULL), 0);
    CU_ASSERT_EQUAL(message.traceback.n, LAZ_FIELD_TEXTS_KEPT);
    laz_message_fini(&message);
    laz_buf_fini(&line);
}

static void every_text_of_the_host_is_kept(void)
{
    static const struct {
        const struct laz_fields *object;
        const char *name;
        size_t at;
    } lists[] = {
        {&laz_wire_options, "libraries", offsetof(struct laz_wire_options, libraries)},
        {&laz_wire_options, "preload", offsetof(struct laz_wire_options, preload)},
        {&laz_wire_confine, "required", offsetof(struct laz_wire_confine, required)},
    };

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct laz_buf text = LAZ_BUF_INIT;
        struct laz_strv texts = LAZ_STRV_INIT;
        struct laz_json_write write = {.to = &text};
        union {
            struct laz_wire_options options;
            struct laz_wire_confine confine;
        } out;

        for (size_t k = 0; k <= LAZ_FIELD_TEXTS_KEPT; k++)
            laz_strv_add(&texts, "a");
        laz_json_begin_object(&write, NULL);
        laz_json_add_texts(&write, lists[i].name, &texts);
        laz_json_end_object(&write);
        CU_ASSERT_EQUAL(laz_wire_read(lists[i].object, text.data, text.len, &out, NULL), 0);
        CU_ASSERT_EQUAL(((struct laz_strv *)(void *)((char *)&out + lists[i].at))->n, texts.n);
        laz_fields_free(lists[i].object, &out);
        laz_strv_fini(&texts);
        laz_buf_fini(&text);
    }
}

static void the_id_of_a_reply_is_in_its_first_bytes(void)
{
    uint64_t id = 0;

    CU_ASSERT_TRUE(laz_message_reply_id("{\"id\":712,\"value\":\"xx", &id));
    CU_ASSERT_EQUAL(id, 712);
    CU_ASSERT_FALSE(laz_message_reply_id("{\"value\":1,\"id\":7", &id));
    CU_ASSERT_FALSE(laz_message_reply_id("", &id));
}

static const struct unit_test tests[] = {
    UNIT(frames_are_the_same_however_they_are_cut),
    UNIT(a_large_line_is_moved_once),
    UNIT(a_frame_takes_no_more_than_its_longest_line_needs),
    UNIT(frame_refuses_a_line_over_the_limit),
    UNIT(wiped_frame_holds_nothing_that_was_read),
    UNIT(message_table_decides),
    UNIT(a_message_has_at_most_64_members),
    UNIT(message_members_arrive),
    UNIT(every_message_is_read_and_made_again),
    UNIT(every_message_is_refused_in_other_states),
    UNIT(no_side_takes_the_messages_of_the_other),
    UNIT(every_member_is_checked),
    UNIT(every_object_is_read_made_and_checked),
    UNIT(messages_of_the_host_are_decided_by_the_table),
    UNIT(confine_has_no_unknown_member),
    UNIT(messages_are_made_as_ever),
    UNIT(a_large_value_is_left_out_where_it_belongs),
    UNIT(the_token_stays_in_its_line),
    UNIT(a_list_keeps_a_thousand_texts),
    UNIT(every_text_of_the_host_is_kept),
    UNIT(the_id_of_a_reply_is_in_its_first_bytes),
    {0},
};

int main(void)
{
    return unit_run("wire", tests);
}
