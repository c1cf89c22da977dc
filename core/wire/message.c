/* SPDX-License-Identifier: MIT */
/* message.c - what an agent may say, and when: the message table.
 * Side: host.  Input trusted: no.
 *
 * Two tables decide: which message is legal in which state, and which member has which type.  A
 * message is read once, by the pull reader, straight into its struct; large values stay where they
 * are.  Strings are bounded by the line they came in. */
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

/* Reads a list of strings; at most 1000 are kept. */
static bool member_strings(const char *raw, size_t len, struct laz_strv *strings)
{
    const struct laz_json_api *api = laz_json_api();
    struct laz_json_reader *reader = api->reader_new(raw, len);
    struct laz_json_token token;
    uint32_t type = LAZ_JSON_END;

    if (!reader)
        return false;
    if (api->next(reader, &token) == LAZ_JSON_ARRAY_BEGIN) {
        while ((type = api->next(reader, &token)) == LAZ_JSON_STRING)
            if (strings->n < 1000)
                laz_strv_add(strings, token.text);
    }
    api->reader_free(reader);
    return type == LAZ_JSON_ARRAY_END && !strings->failed;
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

static int message_find_type(const char *line, size_t len, uint32_t state,
                             struct laz_message *message, struct laz_error *err)
{
    const char *raw;
    size_t raw_len;
    char *name = NULL;

    if (laz_json_member(line, len, "type", &raw, &raw_len)) {
        name = laz_json_to_string(raw, raw_len, NULL);
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

static const struct member *member_find(const char *name, enum laz_message_type type)
{
    for (size_t i = 0; i < N_MEMBERS; i++)
        if ((member_table[i].on & ON(type)) && strcmp(member_table[i].name, name) == 0)
            return &member_table[i];
    return NULL;
}

/* Reads the members of the object; *seen gets a bit for each row of the table. */
static int message_members(const char *line, size_t len, struct laz_message *message,
                           uint32_t *seen, struct laz_error *err)
{
    const struct laz_json_api *api = laz_json_api();
    struct laz_json_reader *reader = api->reader_new(line, len);
    struct laz_json_token token;
    int rc = 0;

    if (!reader)
        return laz_error_nomem(err);
    api->next(reader, &token);
    while (!rc && api->next(reader, &token) == LAZ_JSON_KEY) {
        const char *raw;
        size_t raw_len;
        bool is_id = strcmp(token.text, "id") == 0;
        const struct member *member = is_id ? NULL : member_find(token.text, message->type);
        if (!api->skip(reader, &raw, &raw_len)) {
            rc = laz_error_set(err, LAZ_EPROTO, 0, "a message cannot be read");
        } else if (is_id) {
            message->has_id = laz_json_to_int(raw, raw_len, &message->id);
            if (!message->has_id)
                rc = laz_error_set(err, LAZ_EPROTO, 0, "the id of a message is not an integer");
        } else if (member) {
            *seen |= 1u << (member - member_table);
            if (!member_read(member, raw, raw_len, message))
                rc = laz_error_set(err, LAZ_EPROTO, 0, "'%s' of a message has the wrong type",
                                   member->name);
        }
    }
    api->reader_free(reader);
    return rc;
}

int laz_message_parse(const char *line, size_t len, uint32_t state, struct laz_message *message,
                      struct laz_error *err)
{
    uint32_t seen = 0;

    *message = (struct laz_message){.visible = true};
    int rc = laz_json_scan(line, len, err);
    if (rc) {
        if (err && rc == LAZ_EPARSE)
            err->code = LAZ_EPROTO;
        return LAZ_EPROTO;
    }
    if (!rc)
        rc = message_find_type(line, len, state, message, err);
    if (!rc)
        rc = message_members(line, len, message, &seen, err);
    for (size_t i = 0; i < N_MEMBERS && !rc; i++)
        if ((member_table[i].required & ON(message->type)) && !(seen & (1u << i)))
            rc = laz_error_set(err, LAZ_EPROTO, 0, "message '%s' lacks '%s'",
                               message_table[message->type].name, member_table[i].name);
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
