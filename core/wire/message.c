/* SPDX-License-Identifier: MIT */
/* message.c - what an agent may say, and when: the message table.
 * Side: host.  Input trusted: no.
 *
 * Two tables decide: which message is legal in which state, and which member has which type.  A
 * message is scanned, then walked once for its members; only those that its type has are read, and
 * large values stay where they are.  Members that nobody knows are ignored, but not any number of
 * them.  Strings are bounded by the line they came in. */
#include "wire/message.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>

enum member_type { MEMBER_RAW, MEMBER_STRING, MEMBER_INTEGER, MEMBER_BOOLEAN, MEMBER_STRINGS };

#define ON(type) (1u << (type))

static const struct {
    const char *name;
    uint32_t states; /* in which it is legal */
} message_table[LAZ_MESSAGE_TYPES] = {
    [LAZ_MESSAGE_READY] = {"ready", LAZ_WIRE_STARTING},
    [LAZ_MESSAGE_TOOL_CALL] = {"tool_call", LAZ_WIRE_RUNNING},
    [LAZ_MESSAGE_RESULT] = {"result", LAZ_WIRE_RUNNING},
    [LAZ_MESSAGE_ERROR] = {"error", LAZ_WIRE_RUNNING | LAZ_WIRE_STARTING},
    [LAZ_MESSAGE_ANSWER] = {NULL, LAZ_WIRE_TEMPLATE},
};

#define AT(member) offsetof(struct laz_message, member)

static const struct member {
    const char *name;
    enum member_type type;
    uint32_t on;       /* message types that have it */
    uint32_t required; /* message types that must have it */
    size_t offset;
    size_t length_offset; /* raw and text: of their length */
} member_table[] = {
    {"tool", MEMBER_STRING, ON(LAZ_MESSAGE_TOOL_CALL), ON(LAZ_MESSAGE_TOOL_CALL), AT(tool), 0},
    {"args", MEMBER_RAW, ON(LAZ_MESSAGE_TOOL_CALL), 0, AT(args), AT(args_len)},
    {"value", MEMBER_RAW, ON(LAZ_MESSAGE_RESULT) | ON(LAZ_MESSAGE_ANSWER), 0, AT(value),
     AT(value_len)},
    {"error", MEMBER_STRING, ON(LAZ_MESSAGE_ANSWER), 0, AT(error), 0},
    {"text", MEMBER_STRING, ON(LAZ_MESSAGE_RESULT) | ON(LAZ_MESSAGE_ERROR), 0, AT(text),
     AT(text_len)},
    {"visible", MEMBER_BOOLEAN, ON(LAZ_MESSAGE_RESULT), 0, AT(visible), 0},
    {"kind", MEMBER_STRING, ON(LAZ_MESSAGE_ERROR), ON(LAZ_MESSAGE_ERROR), AT(kind), 0},
    {"message", MEMBER_STRING, ON(LAZ_MESSAGE_ERROR), 0, AT(message), 0},
    {"line", MEMBER_INTEGER, ON(LAZ_MESSAGE_ERROR), 0, AT(line), 0},
    {"column", MEMBER_INTEGER, ON(LAZ_MESSAGE_ERROR), 0, AT(column), 0},
    {"status", MEMBER_INTEGER, ON(LAZ_MESSAGE_ERROR), 0, AT(status), 0},
    {"traceback", MEMBER_STRINGS, ON(LAZ_MESSAGE_ERROR), 0, AT(traceback), 0},
    {"protocol", MEMBER_INTEGER, ON(LAZ_MESSAGE_READY), ON(LAZ_MESSAGE_READY), AT(protocol), 0},
    {"runtime", MEMBER_STRING, ON(LAZ_MESSAGE_READY), 0, AT(runtime), 0},
    {"version", MEMBER_STRING, ON(LAZ_MESSAGE_READY), 0, AT(version), 0},
    {"cost", MEMBER_STRING, ON(LAZ_MESSAGE_READY), 0, AT(cost), 0},
    {"confined", MEMBER_STRINGS, ON(LAZ_MESSAGE_READY), 0, AT(confined), 0},
    {"missing", MEMBER_STRINGS, ON(LAZ_MESSAGE_READY), 0, AT(missing), 0},
};

#define N_MEMBERS (sizeof member_table / sizeof *member_table)

static void *message_at(struct laz_message *message, size_t offset)
{
    return (char *)message + offset;
}

#define STRINGS_KEPT 1000

/* Reads a list of strings; at most so many are kept, and the rest is not looked at. */
static bool member_strings(const char *raw, size_t len, struct laz_strv *strings)
{
    const struct laz_json_api *api = laz_json_api();
    struct laz_json_reader *reader = api->reader_new(raw, len);
    struct laz_json_token token;
    uint32_t type = LAZ_JSON_END;

    if (!reader)
        return false;
    if (api->next(reader, &token) == LAZ_JSON_ARRAY_BEGIN) {
        while ((type = api->next(reader, &token)) == LAZ_JSON_STRING && strings->n < STRINGS_KEPT)
            laz_strv_add(strings, token.text);
    }
    api->reader_free(reader);
    return (type == LAZ_JSON_ARRAY_END || type == LAZ_JSON_STRING) && !strings->failed;
}

static bool member_read(const struct member *member, const char *raw, size_t len,
                        struct laz_message *message)
{
    void *at = message_at(message, member->offset);

    switch (member->type) {
    case MEMBER_RAW:
        *(const char **)at = raw;
        *(size_t *)message_at(message, member->length_offset) = len;
        return true;
    case MEMBER_STRING:
        *(char **)at = laz_json_to_string(
            raw, len,
            member->length_offset ? (size_t *)message_at(message, member->length_offset) : NULL);
        return *(char **)at != NULL;
    case MEMBER_INTEGER:
        return laz_json_to_int(raw, len, at);
    case MEMBER_BOOLEAN:
        return laz_json_to_bool(raw, len, at);
    case MEMBER_STRINGS:
        return member_strings(raw, len, at);
    }
    return false;
}

/* Bytes of a name that are shown: at most 40, and whole characters. */
static int name_width(const char *name)
{
    size_t n = strlen(name);

    if (n > 40)
        for (n = 40; n && ((unsigned char)name[n] & 0xc0) == 0x80;)
            n--;
    return (int)n;
}

/* The raw text of each member, and of the two that are in no row of the table. */
struct members {
    struct member_text {
        const char *raw; /* NULL: not there */
        size_t len;
    } type, id, of[N_MEMBERS];
};

static struct member_text *members_find(struct members *members, const char *name)
{
    if (strcmp(name, "type") == 0)
        return &members->type;
    if (strcmp(name, "id") == 0)
        return &members->id;
    for (size_t i = 0; i < N_MEMBERS; i++)
        if (strcmp(member_table[i].name, name) == 0)
            return &members->of[i];
    return NULL;
}

static int members_split(const char *line, size_t len, struct members *members,
                         struct laz_error *err)
{
    const struct laz_json_api *api = laz_json_api();
    struct laz_json_reader *reader = api->reader_new(line, len);
    struct laz_json_token token;
    struct member_text other;
    int rc = 0;

    if (!reader)
        return laz_error_nomem(err);
    api->next(reader, &token);
    for (size_t n = 0; !rc && api->next(reader, &token) == LAZ_JSON_KEY; n++) {
        struct member_text *text = members_find(members, token.text);
        if (!text)
            text = &other;
        if (n == LAZ_MESSAGE_MEMBERS)
            rc = laz_error_set(err, LAZ_EPROTO, 0, "a message has more than %d members",
                               LAZ_MESSAGE_MEMBERS);
        else if (!api->skip(reader, &text->raw, &text->len))
            rc = laz_error_set(err, LAZ_EPROTO, 0, "a message cannot be read");
    }
    if (!rc && api->reader_failed(reader)) /* what was scanned can be read */
        rc = laz_error_nomem(err);
    api->reader_free(reader);
    return rc;
}

static int message_find_type(const struct members *members, uint32_t state,
                             struct laz_message *message, struct laz_error *err)
{
    char *name = NULL;

    if (members->type.raw) {
        name = laz_json_to_string(members->type.raw, members->type.len, NULL);
    } else if (state & LAZ_WIRE_TEMPLATE) {
        message->type = LAZ_MESSAGE_ANSWER;
        return 0;
    }
    if (!name)
        return laz_error_set(err, LAZ_EPROTO, 0, "a message has no type");
    unsigned type = 0;
    while (type < LAZ_MESSAGE_TYPES &&
           (!message_table[type].name || strcmp(message_table[type].name, name) != 0))
        type++;
    int rc = 0;
    if (type == LAZ_MESSAGE_TYPES)
        rc = laz_error_set(err, LAZ_EPROTO, 0, "unknown message '%.*s'", name_width(name), name);
    else if (!(message_table[type].states & state))
        rc = laz_error_set(err, LAZ_EPROTO, 0, "message '%s' is not allowed now", name);
    message->type = (enum laz_message_type)type;
    free(name);
    return rc;
}

/* Reads the members that the type has. */
static int message_members(const struct members *members, struct laz_message *message,
                           struct laz_error *err)
{
    const uint32_t type = ON(message->type);

    if (members->id.raw) {
        message->has_id = laz_json_to_int(members->id.raw, members->id.len, &message->id);
        if (!message->has_id)
            return laz_error_set(err, LAZ_EPROTO, 0, "the id of a message is not an integer");
    }
    for (size_t i = 0; i < N_MEMBERS; i++) {
        const struct member *member = &member_table[i];
        const struct member_text *text = &members->of[i];
        if (!text->raw && (member->required & type))
            return laz_error_set(err, LAZ_EPROTO, 0, "message '%s' lacks '%s'",
                                 message_table[message->type].name, member->name);
        if (text->raw && (member->on & type) && !member_read(member, text->raw, text->len, message))
            return laz_error_set(err, LAZ_EPROTO, 0, "'%s' of a message has the wrong type",
                                 member->name);
    }
    return 0;
}

int laz_message_parse(const char *line, size_t len, uint32_t state, struct laz_message *message,
                      struct laz_error *err)
{
    struct members members = {0};

    *message = (struct laz_message){.visible = true};
    int rc = laz_json_scan(line, len, err);
    if (rc) {
        if (err && rc == LAZ_EPARSE)
            err->code = LAZ_EPROTO;
        return LAZ_EPROTO;
    }
    rc = members_split(line, len, &members, err);
    if (!rc)
        rc = message_find_type(&members, state, message, err);
    if (!rc)
        rc = message_members(&members, message, err);
    if (!rc && message->args && message->args[0] != '{' &&
        !(message->args_len == 4 && memcmp(message->args, "null", 4) == 0))
        rc = laz_error_set(err, LAZ_EPROTO, 0, "'args' of a tool call is neither object nor null");
    if (!rc && message->type == LAZ_MESSAGE_ANSWER &&
        (!message->has_id || !message->value == !message->error))
        rc = laz_error_set(err, LAZ_EPROTO, 0,
                           "an answer lacks its id, or has not exactly one of 'value' and 'error'");
    return rc;
}

void laz_message_fini(struct laz_message *message)
{
    free(message->tool);
    free(message->kind);
    free(message->message);
    free(message->text);
    free(message->runtime);
    free(message->version);
    free(message->cost);
    free(message->error);
    laz_strv_fini(&message->traceback);
    laz_strv_fini(&message->confined);
    laz_strv_fini(&message->missing);
    *message = (struct laz_message){0};
}
