/* SPDX-License-Identifier: MIT */
/* write_protocol.c - prints the tables of docs/protocol.md, or with --schema
 * docs/protocol.schema.json.
 *
 * A program of the build, not installed.  Both come from the table that reads and makes the
 * messages, so they cannot say anything else; tests/lint/protocol.sh compares them with what this
 * prints, and `make docs` writes them again.  The examples are made as the messages are. */
#include "wire/table.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const struct laz_fields *object;
    const char *name;
} document_objects[] = {
    {&laz_wire_options, "options"},   {&laz_wire_confine, "confine"},
    {&laz_wire_landlock, "landlock"}, {&laz_wire_rule, "rule"},
    {&laz_wire_tool, "tool"},         {&laz_wire_parameter, "parameter"},
    {&laz_wire_status, "status"},
};

#define N_OBJECTS (sizeof document_objects / sizeof *document_objects)

static const char *document_name(const struct laz_fields *object)
{
    for (size_t i = 0; i < N_OBJECTS; i++)
        if (document_objects[i].object == object)
            return document_objects[i].name;
    return "?";
}

static const char *document_direction(const struct laz_wire_row *row)
{
    return row->direction == LAZ_WIRE_TO_HOST ? "agent to host" : "host to agent";
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

static void document_example(unsigned type)
{
    struct laz_message message = document_examples[type];
    struct laz_buf line = LAZ_BUF_INIT;

    message.type = (enum laz_message_type)type;
    laz_message_make(&message, &line);
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
        if (member->max)
            printf(" of %lld characters", (long long)member->max);
        printf(" | %s | %s |\n", document_needed(member), member->help);
    }
}

static void document_page(void)
{
    printf("| message | direction | legal | meaning |\n|---|---|---|---|\n");
    for (unsigned i = 0; i < LAZ_MESSAGE_TYPES; i++) {
        const struct laz_wire_row *row = &laz_wire_table[i];
        printf("| `%s` | %s | %s | %s |\n", document_type(row), document_direction(row), row->legal,
               row->object.help);
    }
    for (unsigned i = 0; i < LAZ_MESSAGE_TYPES; i++) {
        const struct laz_wire_row *row = &laz_wire_table[i];
        printf("\n### Message `%s`, %s\n", document_type(row), document_direction(row));
        document_members(&row->object);
        document_example(i);
    }
    for (size_t i = 0; i < N_OBJECTS; i++) {
        printf("\n### Object `%s`\n", document_objects[i].name);
        document_members(document_objects[i].object);
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

static void schema_side(struct laz_json_write *write, const char *name,
                        enum laz_wire_direction direction)
{
    laz_json_begin_object(write, name);
    laz_json_begin_list(write, "anyOf");
    for (unsigned i = 0; i < LAZ_MESSAGE_TYPES; i++)
        if (laz_wire_table[i].direction == direction)
            schema_ref_in(write, NULL, document_type(&laz_wire_table[i]));
    laz_json_end_list(write);
    laz_json_end_object(write);
}

static void schema_make(struct laz_buf *json)
{
    struct laz_json_write write = {.to = json};

    laz_json_begin_object(&write, NULL);
    laz_json_add_text(&write, "$schema", "https://json-schema.org/draft/2020-12/schema");
    laz_json_add_text(&write, "$comment", "Made by `make docs` from core/wire/table.c");
    laz_json_add_text(&write, "title", "lazaret, protocol of host and agent, version 1");
    laz_json_add_text(&write, "description", "One line of either direction.");
    laz_json_begin_list(&write, "anyOf");
    schema_ref_in(&write, NULL, "host_to_agent");
    schema_ref_in(&write, NULL, "agent_to_host");
    laz_json_end_list(&write);
    laz_json_begin_object(&write, "$defs");
    schema_side(&write, "host_to_agent", LAZ_WIRE_TO_AGENT);
    schema_side(&write, "agent_to_host", LAZ_WIRE_TO_HOST);
    for (unsigned i = 0; i < LAZ_MESSAGE_TYPES; i++) {
        const struct laz_wire_row *row = &laz_wire_table[i];
        schema_object(&write, document_type(row), row->type, &row->object);
    }
    for (size_t i = 0; i < N_OBJECTS; i++)
        schema_object(&write, document_objects[i].name, NULL, document_objects[i].object);
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

    if (argc == 2 && strcmp(argv[1], "--schema") == 0) {
        schema_make(&json);
        schema_print(laz_buf_text(&json));
    } else {
        document_page();
    }
    bool failed = json.failed;
    laz_buf_fini(&json);
    return !failed && fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
