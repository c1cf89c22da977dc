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

static enum laz_message_type message_without_type(enum laz_wire_direction direction, uint32_t state)
{
    unsigned type = 0;

    while (type < LAZ_MESSAGE_TYPES &&
           (laz_wire_table[type].type || laz_wire_table[type].direction != direction ||
            !(laz_wire_table[type].states & state)))
        type++;
    return (enum laz_message_type)type;
}

static int message_by_name(const char *name, enum laz_wire_direction direction, uint32_t state,
                           struct laz_message *message, struct laz_error *err)
{
    unsigned type = 0;

    while (type < LAZ_MESSAGE_TYPES &&
           (!laz_wire_table[type].type || laz_wire_table[type].direction != direction ||
            strcmp(laz_wire_table[type].type, name) != 0))
        type++;
    if (type == LAZ_MESSAGE_TYPES)
        return laz_error_set(err, LAZ_EPROTO, 0, "unknown message '%.*s'", name_width(name), name);
    if (!(laz_wire_table[type].states & state))
        return laz_error_set(err, LAZ_EPROTO, 0, "message '%s' is not allowed now", name);
    message->type = (enum laz_message_type)type;
    return 0;
}

static int message_find_type(const struct message_found *found, enum laz_wire_direction direction,
                             uint32_t state, struct laz_message *message, struct laz_error *err)
{
    char *name = NULL;
    size_t i = 0;

    while (i < found->n && !laz_json_found_is(&found->items[i], "type"))
        i++;
    if (i == found->n) {
        message->type = message_without_type(direction, state);
        return message->type < LAZ_MESSAGE_TYPES
                   ? 0
                   : laz_error_set(err, LAZ_EPROTO, 0, "a message has no type");
    }
    int rc = laz_json_take_string(found->items[i].raw, found->items[i].len, &name, NULL);
    if (rc == LAZ_ENOMEM)
        return laz_error_nomem(err);
    if (rc)
        return laz_error_set(err, LAZ_EPROTO, 0, "a message has no type");
    rc = message_by_name(name, direction, state, message, err);
    free(name);
    return rc;
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

    if (rc && err)
        err->code = LAZ_EPROTO;
    return rc ? LAZ_EPROTO : 0;
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
