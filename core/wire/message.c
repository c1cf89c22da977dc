/* SPDX-License-Identifier: MIT */
/* message.c - lines as messages and back, by the table.
 * Side: host and agent.  Input trusted: no on the host's side, yes on the agent's.
 *
 * A line of the agent is checked and its members are found in one pass; the table then says which
 * message it is, whether it is legal in the present state, and which members it has.  Large values
 * stay where they are.  Texts are bounded by the line they came in. */
#include "wire/message.h"

#include "base/json.h"
#include "wire/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The members of a line. */
struct message_found {
    struct laz_json_found items[LAZ_MESSAGE_MEMBERS];
    size_t n;
};

/* Bytes of a name that are shown: at most 40, and whole characters. */
static int name_width(const char *name)
{
    size_t n = strlen(name);

    if (n > 40)
        for (n = 40; n && ((unsigned char)name[n] & 0xc0) == 0x80;)
            n--;
    return (int)n;
}

static int message_unknown(const struct laz_json_found *type, struct laz_error *err)
{
    char *name = NULL;

    int rc = laz_json_take_string(type->raw, type->len, &name, NULL);
    if (rc == LAZ_ENOMEM)
        return laz_error_nomem(err);
    rc = laz_error_set(err, LAZ_EPROTO, 0, "unknown message '%.*s'", name ? name_width(name) : 0,
                       name ? name : "");
    free(name);
    return rc;
}

/* Is it the message of a line with this type (NULL: without one)? */
static bool message_is(const struct laz_wire_row *row, const struct laz_json_found *type)
{
    const struct laz_json_found text = {.key = type ? type->raw + 1 : NULL,
                                        .key_len = type ? type->len - 2 : 0};

    return row->type && type ? laz_json_found_is(&text, row->type) : !row->type && !type;
}

static int message_find_type(const struct message_found *found, enum laz_wire_direction direction,
                             uint32_t state, struct laz_message *message, struct laz_error *err)
{
    const struct laz_json_found *type = NULL;
    const char *not_now = NULL;

    for (size_t i = 0; i < found->n && !type; i++)
        if (laz_json_found_is(&found->items[i], "type"))
            type = &found->items[i];
    if (type && type->raw[0] != '"')
        return laz_error_set(err, LAZ_EPROTO, 0, "a message has no type");
    for (unsigned i = 0; i < LAZ_MESSAGE_TYPES; i++) {
        const struct laz_wire_row *row = &laz_wire_table[i];
        if (row->direction != direction || !message_is(row, type))
            continue;
        if (row->states & state) {
            message->type = (enum laz_message_type)i;
            return 0;
        }
        not_now = row->type;
    }
    if (not_now)
        return laz_error_set(err, LAZ_EPROTO, 0, "message '%s' is not allowed now", not_now);
    return type ? message_unknown(type, err)
                : laz_error_set(err, LAZ_EPROTO, 0, "a message has no type");
}

static int message_read(const struct message_found *found, enum laz_wire_direction direction,
                        uint32_t state, struct laz_message *message, struct laz_error *err)
{
    if (found->n > LAZ_MESSAGE_MEMBERS)
        return laz_error_set(err, LAZ_EPROTO, 0, "a message has more than %d members",
                             LAZ_MESSAGE_MEMBERS);
    int rc = message_find_type(found, direction, state, message, err);
    return rc ? rc
              : laz_wire_take(&laz_wire_table[message->type].object, found->items, found->n,
                              message, err);
}

static int message_scan(const char *line, size_t len, struct message_found *found,
                        struct laz_error *err)
{
    int rc = laz_json_scan_members(line, len, found->items, LAZ_MESSAGE_MEMBERS, &found->n, err);

    return rc == LAZ_EPARSE ? laz_error_as(err, LAZ_EPROTO) : rc;
}

int laz_message_parse(const char *line, size_t len, uint32_t state, struct laz_message *message,
                      struct laz_error *err)
{
    struct message_found found;

    *message = (struct laz_message){.type = LAZ_MESSAGE_TYPES};
    int rc = message_scan(line, len, &found, err);
    return rc ? rc : message_read(&found, LAZ_WIRE_TO_HOST, state, message, err);
}

int laz_message_parse_host(const char *line, size_t len, uint32_t state,
                           struct laz_message *message, struct laz_error *err)
{
    struct message_found found;
    int rc = 0;

    *message = (struct laz_message){.type = LAZ_MESSAGE_TYPES};
    if (!(state & (LAZ_WIRE_IDLE | LAZ_WIRE_RUNNING)))
        rc = message_scan(line, len, &found, err);
    else if (!laz_json_find_members(line, len, found.items, LAZ_MESSAGE_MEMBERS, &found.n))
        rc = laz_error_set(err, LAZ_EPROTO, 0, "a message is not a JSON object");
    return rc ? rc : message_read(&found, LAZ_WIRE_TO_AGENT, state, message, err);
}

void laz_message_fini(struct laz_message *message)
{
    if (message->type < LAZ_MESSAGE_TYPES)
        laz_wire_free(&laz_wire_table[message->type].object, message);
    *message = (struct laz_message){.type = LAZ_MESSAGE_TYPES};
}

/* A host puts the id first. */
bool laz_message_reply_id(const char *head, uint64_t *id)
{
    return sscanf(head, "{\"id\":%" SCNu64, id) == 1;
}

/* ---- making --------------------------------------------------------------------------------- */

static void message_make(const struct laz_message *message, struct laz_buf *line, size_t *hole)
{
    const struct laz_wire_row *row = &laz_wire_table[message->type];
    struct laz_json_write write = {.to = line};

    laz_json_begin_object(&write, NULL);
    if (row->type)
        laz_json_add_text(&write, "type", row->type);
    laz_wire_add_members(&write, &row->object, message, hole);
    laz_json_end_object(&write);
    laz_buf_putc(line, '\n');
}

void laz_message_make(const struct laz_message *message, struct laz_buf *line)
{
    message_make(message, line, NULL);
}

size_t laz_message_make_around(const struct laz_message *message, struct laz_buf *line)
{
    size_t hole = 0;

    message_make(message, line, &hole);
    return hole;
}
