/* SPDX-License-Identifier: MIT */
/* write_protocol.c - prints the tables of docs/protocol.md and, with "host" as its first argument,
 * of docs/host-protocol.md; with --schema behind it docs/protocol.schema.json or
 * docs/host-protocol.schema.json.
 *
 * A program of the build, not installed.  Both come from the table that reads and makes the
 * messages, so they cannot say anything else; tests/lint/protocol.sh compares them with what this
 * prints, and `make docs` writes them again.  The examples are made as the messages are. */
#include "host/message.h"
#include "wire/table.h"

#include <stdio.h>
#include <string.h>

struct document_object {
    const struct laz_fields *object;
    const char *name;
};

static const struct document_object document_agent_objects[] = {
    {&laz_wire_options, "options"},   {&laz_wire_confine, "confine"},
    {&laz_wire_landlock, "landlock"}, {&laz_wire_rule, "rule"},
    {&laz_wire_tool, "tool"},         {&laz_wire_parameter, "parameter"},
    {&laz_wire_status, "status"},     {0},
};

static const struct document_object document_host_objects[] = {
    {&serve_tool_fields, "tool"}, {&serve_file_fields, "file"}, {0}};

/* A protocol, and what its page says besides the table. */
struct document {
    const struct laz_wire_protocol *protocol;
    const struct document_object *objects; /* ends with a row without a name */
    const char *source, *title;
    struct document_side {
        enum laz_wire_direction direction;
        const char *name, *words;
    } sides[2];
    void (*example)(unsigned type, struct laz_buf *line);
};

static const struct document *document; /* that is written */

static const char *document_name(const struct laz_fields *object)
{
    for (const struct document_object *one = document->objects; one->name; one++)
        if (one->object == object)
            return one->name;
    return "?";
}

static const char *document_direction(const struct laz_wire_row *row)
{
    return document->sides[row->direction == document->sides[1].direction].words;
}

/* The name of a message; one without a type is "reply" or "answer". */
static const char *document_type(const struct laz_wire_row *row)
{
    return row->type ? row->type : strchr(row->object.title, ' ') + 1;
}

/* ---- examples ------------------------------------------------------------------------------- */

#define RAW(field, text) .field = (text), .field##_len = sizeof(text) - 1

static char document_step[] = "no_new_privs", document_filter[] = "filter";
static char document_frame[] = "f()";
static char *document_steps[] = {document_step, document_filter};
static char *document_frames[] = {document_frame};

static const struct laz_message document_examples[LAZ_MESSAGE_TYPES] = {
    [LAZ_MESSAGE_INIT] = {.protocol = LAZ_PROTOCOL,
                          .options = {.runtime_file = "/run/lazaret/agent/lua.so",
                                      .max_message = 1048576,
                                      .max_value = 67108864,
                                      RAW(options, "{}")},
                          RAW(confine, "{\"limits\":{\"cpu\":60},\"filter\":\"session\"}"),
                          RAW(tools, "[{\"name\":\"add\",\"parameters\":[{\"name\":\"a\"}]}]")},
    [LAZ_MESSAGE_READY] = {.protocol = LAZ_PROTOCOL,
                           .runtime = "lua",
                           .version = "5.4",
                           .confined = {.items = document_steps, .n = 2},
                           .cost = "no_new_privs 2, filter 150 us"},
    [LAZ_MESSAGE_CHECK] = {.has_id = true, .id = 1, RAW(code, "1 +")},
    [LAZ_MESSAGE_EXECUTE] = {.has_id = true, .id = 2, RAW(code, "add(1)"), .print = true},
    [LAZ_MESSAGE_PUT] = {.has_id = true, .id = 3, .name = "a.csv", RAW(data, "eCx5CjEsMgo=")},
    [LAZ_MESSAGE_REMOVE] = {.has_id = true, .id = 4, .name = "a.csv"},
    [LAZ_MESSAGE_TOOL_CALL] = {.has_id = true, .id = 7, .tool = "add", RAW(args, "{\"a\":1}")},
    [LAZ_MESSAGE_REPLY] = {.has_id = true, .id = 7, RAW(value, "3")},
    [LAZ_MESSAGE_RESULT] =
        {.has_id = true, .id = 2, RAW(value, "3"), RAW(text, "3"), .visible = true},
    [LAZ_MESSAGE_ERROR] = {.has_id = true,
                           .id = 2,
                           .kind = "runtime",
                           RAW(message, "no such column"),
                           .line = 3,
                           .traceback = {.items = document_frames, .n = 1}},
    [LAZ_MESSAGE_SPAWN] = {.has_id = true, .id = 9, RAW(token, "abcdefghijklmnopqrstuvwxyz012345")},
    [LAZ_MESSAGE_ANSWER] = {.has_id = true, .id = 9, RAW(value, "{\"pid\":12}")},
};

static void document_agent_example(unsigned type, struct laz_buf *line)
{
    struct laz_message message = document_examples[type];

    message.type = (enum laz_message_type)type;
    laz_message_make(&message, line);
}

#define HOST_ID .has_id = true, .id = 7

static struct serve_given_file document_file = {.name = "a.csv", RAW(data, "eCx5CjEsMgo=")};

static const struct serve_message document_host_examples[SERVE_MESSAGE_TYPES] = {
    [SERVE_HELLO] = {.protocol = SERVE_PROTOCOL,
                     .version = "0.1.0",
                     .max_line = 67108864,
                     .max_sessions = 100},
    [SERVE_TOOLS] = {HOST_ID, RAW(tools, "[{\"name\":\"add\",\"parameters\":[{\"name\":\"a\","
                                         "\"type\":\"number\"}]}]")},
    [SERVE_OPEN] = {HOST_ID, .runtime = "python", .warm = true},
    [SERVE_OPEN_POOL] = {HOST_ID, .runtime = "lua", .members = 4},
    [SERVE_OPENED] = {HOST_ID, .has_session = true, .session = 1, .name = "WeUi2fsidRuNjGij",
                      .runtime = "lua"},
    [SERVE_PUT] = {HOST_ID, .has_session = true, .session = 1, .name = "a.csv",
                   RAW(data, "eCx5CjEsMgo=")},
    [SERVE_EXECUTE] = {HOST_ID, .has_session = true, .session = 1, RAW(source, "add(1) + 1"),
                       .has_timeout_ms = true, .timeout_ms = 5000, .print = true, .validate = true,
                       .files = {.items = &document_file, .n = 1}},
    [SERVE_OUTPUT] = {HOST_ID, .stream = "stdout", RAW(text, "half way\n")},
    [SERVE_TOOL_CALL] = {HOST_ID, .call = 3, .tool = "add", RAW(args, "{\"a\":1}"),
                         .name = "WeUi2fsidRuNjGij"},
    [SERVE_ANSWER] = {.call = 3, RAW(value, "2")},
    [SERVE_TOOL_CANCELLED] = {.call = 3},
    [SERVE_RESULT] = {HOST_ID, RAW(result, "{\"ok\":true,\"value\":3}")},
    [SERVE_CANCEL] = {.has_id = true, .id = 8, .has_request = true, .request = 7},
    [SERVE_RESTART] = {HOST_ID, .has_session = true, .session = 1},
    [SERVE_SET_NETWORK] = {HOST_ID, .has_session = true, .session = 1,
                           RAW(network, "[\"https://api.example.com\"]")},
    [SERVE_DESCRIBE] = {HOST_ID, .has_session = true, .session = 1},
    [SERVE_DESCRIPTION] = {HOST_ID,
                           RAW(text, "<session python [idle] pid=12 backend=bwrap tools=1>"),
                           .is_alive = true},
    [SERVE_CLOSE] = {HOST_ID, .has_session = true, .session = 1},
    [SERVE_DONE] = {HOST_ID},
    [SERVE_FAILED] = {HOST_ID, .code = "LAZ_ENOENT", .message = "no session 2 is open"},
};

static void document_host_example(unsigned type, struct laz_buf *line)
{
    serve_message_make((enum serve_message_type)type, &document_host_examples[type], line);
}

static const struct document documents[] = {
    {
        &laz_wire_agent,
        document_agent_objects,
        "core/wire/table.c",
        "lazaret, protocol of host and agent, version 1",
        {{LAZ_WIRE_TO_AGENT, "host_to_agent", "host to agent"},
         {LAZ_WIRE_TO_HOST, "agent_to_host", "agent to host"}},
        document_agent_example,
    },
    {
        &serve_protocol,
        document_host_objects,
        "core/host/message.c",
        "lazaret, host protocol, version 1",
        {{LAZ_WIRE_TO_SERVER, "client_to_server", "client to server"},
         {LAZ_WIRE_TO_CLIENT, "server_to_client", "server to client"}},
        document_host_example,
    },
};

static void document_example(unsigned type)
{
    struct laz_buf line = LAZ_BUF_INIT;

    document->example(type, &line);
    printf("\n```json\n%s```\n", laz_buf_text(&line));
    laz_buf_fini(&line);
}

/* ---- the page ------------------------------------------------------------------------------- */

/* What a value is: on the page, and as the type of the schema; NULL: any. */
struct document_kind {
    const char *page, *schema;
};

static const struct document_kind document_shapes[] = {
    [LAZ_SHAPE_ANY] = {"any value", NULL},
    [LAZ_SHAPE_OBJECT] = {"object", "\"object\""},
    [LAZ_SHAPE_OBJECT_OR_NULL] = {"object or null", "[\"object\",\"null\"]"},
    [LAZ_SHAPE_LIST] = {"list", "\"array\""},
};

static const struct document_kind document_kinds[LAZ_FIELD_KINDS] = {
    [LAZ_FIELD_TEXT] = {"text", "\"string\""},
    [LAZ_FIELD_PLAIN] = {"text", "\"string\""},
    [LAZ_FIELD_INTEGER] = {"integer", "\"integer\""},
    [LAZ_FIELD_BOOLEAN] = {"boolean", "\"boolean\""},
    [LAZ_FIELD_TEXTS] = {"texts", "\"array\""},
    [LAZ_FIELD_OBJECT] = {"object", "\"object\""},
    [LAZ_FIELD_LIST] = {"list", "\"array\""},
    [LAZ_FIELD_NUMBERS] = {"integers by name", "\"object\""},
};

static const struct document_kind *document_kind(const struct laz_field *field)
{
    return field->kind == LAZ_FIELD_JSON ? &document_shapes[field->shape]
                                         : &document_kinds[field->kind];
}

static const char *document_needed(const struct laz_field *member)
{
    if (member->flags & LAZ_FIELD_REQUIRED)
        return "yes";
    if (member->flags & LAZ_FIELD_CHOICE)
        return "exactly one";
    return member->flags & LAZ_FIELD_ABSENT_TRUE ? "no: true" : "no";
}

static void document_members(const struct laz_fields *object)
{
    printf("\n%s\n", object->help);
    if (!object->n)
        return;
    printf("\n| member | kind | needed | meaning |\n|---|---|---|---|\n");
    for (size_t i = 0; i < object->n; i++) {
        const struct laz_field *member = &object->items[i];
        printf("| `%s` | %s", member->name, document_kind(member)->page);
        if (member->of)
            printf(" of `%s`", document_name(member->of));
        if (member->max && member->kind == LAZ_FIELD_INTEGER)
            printf(" from %lld", (long long)member->min);
        else if (member->max)
            printf(" of %lld characters", (long long)member->max);
        printf(" | %s | %s |\n", document_needed(member), member->help);
    }
}

static void document_page(void)
{
    printf("| message | direction | legal | meaning |\n|---|---|---|---|\n");
    for (unsigned i = 0; i < document->protocol->n; i++) {
        const struct laz_wire_row *row = &document->protocol->rows[i];
        printf("| `%s` | %s | %s | %s |\n", document_type(row), document_direction(row), row->legal,
               row->object.help);
    }
    for (unsigned i = 0; i < document->protocol->n; i++) {
        const struct laz_wire_row *row = &document->protocol->rows[i];
        printf("\n### Message `%s`, %s\n", document_type(row), document_direction(row));
        document_members(&row->object);
        document_example(i);
    }
    for (const struct document_object *one = document->objects; one->name; one++) {
        printf("\n### Object `%s`\n", one->name);
        document_members(one->object);
    }
}

/* ---- the schema ----------------------------------------------------------------------------- */

static void schema_ref(struct laz_json_write *write, const char *name)
{
    char path[64];

    snprintf(path, sizeof path, "#/$defs/%s", name);
    laz_json_add_text(write, "$ref", path);
}

/* The same as an object of its own. */
static void schema_ref_in(struct laz_json_write *write, const char *key, const char *name)
{
    laz_json_begin_object(write, key);
    schema_ref(write, name);
    laz_json_end_object(write);
}

static void schema_member(struct laz_json_write *write, const struct laz_field *member)
{
    const bool is_list = member->kind == LAZ_FIELD_LIST || member->shape == LAZ_SHAPE_LIST;
    const char *type = document_kind(member)->schema;

    laz_json_begin_object(write, member->name);
    laz_json_add_text(write, "description", member->help);
    if (type)
        laz_json_add_raw(write, "type", type, strlen(type));
    if (member->kind == LAZ_FIELD_PLAIN) {
        laz_json_add_int(write, "minLength", member->min);
        laz_json_add_int(write, "maxLength", member->max);
    }
    if (member->kind == LAZ_FIELD_INTEGER && member->max) {
        laz_json_add_int(write, "minimum", member->min);
        laz_json_add_int(write, "maximum", member->max);
    }
    if (member->flags & LAZ_FIELD_ABSENT_TRUE)
        laz_json_add_bool(write, "default", true);
    if (member->of && is_list)
        schema_ref_in(write, "items", document_name(member->of));
    else if (member->of)
        schema_ref(write, document_name(member->of));
    if (member->kind == LAZ_FIELD_TEXTS || member->kind == LAZ_FIELD_NUMBERS) {
        bool texts = member->kind == LAZ_FIELD_TEXTS;
        laz_json_begin_object(write, texts ? "items" : "additionalProperties");
        laz_json_add_text(write, "type", texts ? "string" : "integer");
        if (!texts)
            laz_json_add_int(write, "minimum", 0);
        laz_json_end_object(write);
    }
    laz_json_end_object(write);
}

static void schema_required(struct laz_json_write *write, const char *type,
                            const struct laz_fields *object)
{
    bool has_choice = false;

    laz_json_begin_list(write, "required");
    if (type)
        laz_json_add_text(write, NULL, "type");
    for (size_t i = 0; i < object->n; i++) {
        has_choice |= (object->items[i].flags & LAZ_FIELD_CHOICE) != 0;
        if (object->items[i].flags & LAZ_FIELD_REQUIRED)
            laz_json_add_text(write, NULL, object->items[i].name);
    }
    laz_json_end_list(write);
    if (!has_choice)
        return;
    laz_json_begin_list(write, "oneOf");
    for (size_t i = 0; i < object->n; i++) {
        if (!(object->items[i].flags & LAZ_FIELD_CHOICE))
            continue;
        laz_json_begin_object(write, NULL);
        laz_json_begin_list(write, "required");
        laz_json_add_text(write, NULL, object->items[i].name);
        laz_json_end_list(write);
        laz_json_end_object(write);
    }
    laz_json_end_list(write);
}

static void schema_object(struct laz_json_write *write, const char *name, const char *type,
                          const struct laz_fields *object)
{
    laz_json_begin_object(write, name);
    laz_json_add_text(write, "description", object->help);
    laz_json_add_text(write, "type", "object");
    laz_json_begin_object(write, "properties");
    if (type) {
        laz_json_begin_object(write, "type");
        laz_json_add_text(write, "const", type);
        laz_json_end_object(write);
    }
    for (size_t i = 0; i < object->n; i++)
        schema_member(write, &object->items[i]);
    laz_json_end_object(write);
    schema_required(write, type, object);
    if (object->is_closed)
        laz_json_add_bool(write, "additionalProperties", false);
    laz_json_end_object(write);
}

static void schema_side(struct laz_json_write *write, const struct document_side *side)
{
    laz_json_begin_object(write, side->name);
    laz_json_begin_list(write, "anyOf");
    for (unsigned i = 0; i < document->protocol->n; i++)
        if (document->protocol->rows[i].direction == side->direction)
            schema_ref_in(write, NULL, document_type(&document->protocol->rows[i]));
    laz_json_end_list(write);
    laz_json_end_object(write);
}

static void schema_make(struct laz_buf *json)
{
    struct laz_json_write write = {.to = json};
    char comment[80];

    laz_json_begin_object(&write, NULL);
    laz_json_add_text(&write, "$schema", "https://json-schema.org/draft/2020-12/schema");
    snprintf(comment, sizeof comment, "Made by `make docs` from %s", document->source);
    laz_json_add_text(&write, "$comment", comment);
    laz_json_add_text(&write, "title", document->title);
    laz_json_add_text(&write, "description", "One line of either direction.");
    laz_json_begin_list(&write, "anyOf");
    for (int i = 0; i < 2; i++)
        schema_ref_in(&write, NULL, document->sides[i].name);
    laz_json_end_list(&write);
    laz_json_begin_object(&write, "$defs");
    for (int i = 0; i < 2; i++)
        schema_side(&write, &document->sides[i]);
    for (unsigned i = 0; i < document->protocol->n; i++) {
        const struct laz_wire_row *row = &document->protocol->rows[i];
        schema_object(&write, document_type(row), row->type, &row->object);
    }
    for (const struct document_object *one = document->objects; one->name; one++)
        schema_object(&write, one->name, NULL, one->object);
    laz_json_end_object(&write);
    laz_json_end_object(&write);
}

/* The text with a line for each member and item. */
static void schema_print(const char *json)
{
    int depth = 0;
    bool quoted = false;

    for (const char *c = json; *c; c++) {
        if (*c == '"' && (c == json || c[-1] != '\\'))
            quoted = !quoted;
        bool opens = !quoted && (*c == '{' || *c == '['),
             closes = !quoted && (*c == '}' || *c == ']');
        bool is_empty =
            (opens && (c[1] == '}' || c[1] == ']')) || (closes && (c[-1] == '{' || c[-1] == '['));
        depth += opens - closes;
        if (closes && !is_empty)
            printf("\n%*s", 2 * depth, "");
        putchar(*c);
        if ((opens && !is_empty) || (!quoted && *c == ','))
            printf("\n%*s", 2 * depth, "");
        if (!quoted && *c == ':')
            putchar(' ');
    }
    putchar('\n');
}

int main(int argc, char **argv)
{
    struct laz_buf json = LAZ_BUF_INIT;

    document = &documents[argc > 1 && strcmp(argv[1], "host") == 0];
    if (strcmp(argv[argc - 1], "--schema") == 0) {
        schema_make(&json);
        schema_print(laz_buf_text(&json));
    } else {
        document_page();
    }
    bool failed = json.failed;
    laz_buf_fini(&json);
    return !failed && fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
