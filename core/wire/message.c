/* SPDX-License-Identifier: MIT */
/* message.c - lines as messages and back, by the table.
 * Side: host and agent.  Input trusted: no on the host's side, yes on the agent's.
 *
 * A line of the agent is checked and its members are found in one pass; the table then says which
 * message it is, whether it is legal in the present state, and which members it has.  Large values
 * stay where they are.  Texts are bounded by the line they came in. */
#include "wire/message.h"

#include "base/json_scan.h"
#include "base/utf8.h"
#include "wire/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

const char *laz_wire_approvals(bool approve, bool may_approve)
{
    if (approve)
        return "Each call waits for an approval.";
    return may_approve ? "A call may have to wait for an approval, as its arguments are." : NULL;
}

/* ---- objects -------------------------------------------------------------------------------- */

int laz_wire_result(int rc, const struct laz_fields_problem *wrong, struct laz_error *err)
{
    const char *object = wrong->object->name, *title = wrong->object->title;
    const char *field = wrong->field ? wrong->field->name : "";
    const int shown = (int)(wrong->key_len < 40 ? wrong->key_len : 40);

    if (rc != LAZ_EPARSE)
        return rc ? laz_error_nomem(err) : 0;
    if (wrong->field && wrong->field->wrong)
        return laz_error_set(err, LAZ_EPROTO, 0, "%s", wrong->field->wrong);
    switch (wrong->what) {
    case LAZ_WRONG_TYPE:
        if (wrong->field && wrong->field->kind == LAZ_FIELD_INTEGER && wrong->field->max)
            return laz_error_set(err, LAZ_EPROTO, 0,
                                 "'%s' of %s is not an integer from %lld to %lld", field, object,
                                 (long long)wrong->field->min, (long long)wrong->field->max);
        break;
    case LAZ_WRONG_MISSING:
        return laz_error_set(err, LAZ_EPROTO, 0, "%s lacks '%s'", title ? title : object, field);
    case LAZ_WRONG_ENTRY:
        return laz_error_set(err, LAZ_EPROTO, 0, "'%.*s' of '%s' is not a size", shown, wrong->key,
                             field);
    case LAZ_WRONG_UNKNOWN:
        return laz_error_set(err, LAZ_EPROTO, 0,
                             "this agent does not know \"%.*s\" in '%s': it is older than the "
                             "host",
                             shown, wrong->key, object);
    case LAZ_WRONG_CHOICE:
        return laz_error_set(err, LAZ_EPROTO, 0,
                             "an answer has not exactly one of 'value' and 'error'");
    case LAZ_WRONG_TOO_MANY:
        return laz_error_set(err, LAZ_EPROTO, 0, "%s has more than %d members", object,
                             LAZ_FIELDS_MOST);
    case LAZ_WRONG_NO_OBJECT:
        return laz_error_set(err, LAZ_EPROTO, 0, "%s is not an object", object);
    case LAZ_WRONG_NO_LIST:
        return laz_error_set(err, LAZ_EPROTO, 0, "the list of %s cannot be read", object);
    }
    return laz_error_set(err, LAZ_EPROTO, 0, "'%s' of %s has the wrong type", field, object);
}

int laz_wire_read(const struct laz_fields *fields, const char *raw, size_t len, void *out,
                  struct laz_error *err)
{
    struct laz_fields_problem wrong;
    int rc = laz_fields_read(fields, raw, len, out, &wrong);

    return laz_wire_result(rc, &wrong, err);
}

int laz_wire_read_list(const struct laz_fields *fields, const char *raw, size_t len,
                       struct laz_field_list *list, struct laz_error *err)
{
    struct laz_fields_problem wrong;
    int rc = laz_fields_read_list(fields, raw, len, list, &wrong);

    return laz_wire_result(rc, &wrong, err);
}

/* ---- reading messages ----------------------------------------------------------------------- */

static int message_unknown(const struct laz_json_found *type, struct laz_error *err)
{
    char *name = NULL, shown[41];

    int rc = laz_json_take_string(type->raw, type->len, &name, NULL);
    if (rc == LAZ_ENOMEM)
        return laz_error_nomem(err);
    snprintf(shown, sizeof shown, "%s", name ? name : "");
    laz_utf8_clean(shown); /* the last character may be cut off */
    free(name);
    return laz_error_set(err, LAZ_EPROTO, 0, "unknown message '%s'", shown);
}

/* Is it the message of a line with this type (NULL: without one)? */
static bool message_is(const struct laz_wire_row *row, const struct laz_json_found *type)
{
    const struct laz_json_found text = {.key = type ? type->raw + 1 : NULL,
                                        .key_len = type ? type->len - 2 : 0};

    return row->type && type ? laz_json_found_is(&text, row->type) : !row->type && !type;
}

/* Finds out which message it is by its members. */
static int message_find_type(const struct laz_wire_protocol *protocol,
                             const struct laz_json_found *found, size_t n,
                             enum laz_wire_direction direction, uint32_t state, unsigned *out,
                             struct laz_error *err)
{
    const struct laz_json_found *type = NULL;
    const char *not_now = NULL;

    for (size_t i = 0; i < n && !type; i++)
        if (laz_json_found_is(&found[i], "type"))
            type = &found[i];
    if (type && type->raw[0] != '"')
        return laz_error_set(err, LAZ_EPROTO, 0, "a message has no type");
    for (unsigned i = 0; i < protocol->n; i++) {
        const struct laz_wire_row *row = &protocol->rows[i];
        if (row->direction != direction || !message_is(row, type))
            continue;
        if (row->states & state) {
            *out = i;
            return 0;
        }
        not_now = row->type;
    }
    if (not_now)
        return laz_error_set(err, LAZ_EPROTO, 0, "message '%s' is not allowed now", not_now);
    return type ? message_unknown(type, err)
                : laz_error_set(err, LAZ_EPROTO, 0, "a message has no type");
}

int laz_wire_parse(const struct laz_wire_protocol *protocol, enum laz_wire_direction direction,
                   uint32_t state, bool is_trusted, const char *line, size_t len, void *out,
                   unsigned *type, struct laz_error *err)
{
    struct laz_json_found found[LAZ_FIELDS_MOST];
    struct laz_fields_problem wrong;
    size_t n;
    int rc = 0;

    *type = protocol->n;
    if (!is_trusted)
        rc = laz_json_scan_members(line, len, found, LAZ_FIELDS_MOST, &n, err);
    else if (!laz_json_find_members(line, len, found, LAZ_FIELDS_MOST, &n))
        rc = laz_error_set(err, LAZ_EPROTO, 0, "a message is not a JSON object");
    if (rc)
        return rc == LAZ_EPARSE ? laz_error_as(err, LAZ_EPROTO) : rc;
    if (n > LAZ_FIELDS_MOST)
        return laz_error_set(err, LAZ_EPROTO, 0, "a message has more than %d members",
                             LAZ_FIELDS_MOST);
    rc = message_find_type(protocol, found, n, direction, state, type, err);
    if (rc)
        return rc;
    rc = laz_fields_take(&protocol->rows[*type].object, found, n, out, &wrong);
    return laz_wire_result(rc, &wrong, err);
}

static int message_parse(const char *line, size_t len, enum laz_wire_direction direction,
                         uint32_t state, struct laz_message *message, struct laz_error *err)
{
    const bool is_trusted =
        direction == LAZ_WIRE_TO_AGENT && (state & (LAZ_WIRE_IDLE | LAZ_WIRE_RUNNING | LAZ_WIRE_COMMANDS));
    unsigned type;

    *message = (struct laz_message){0};
    int rc = laz_wire_parse(&laz_wire_agent, direction, state, is_trusted, line, len, message,
                            &type, err);
    message->type = (enum laz_message_type)type;
    return rc;
}

int laz_message_parse(const char *line, size_t len, uint32_t state, struct laz_message *message,
                      struct laz_error *err)
{
    return message_parse(line, len, LAZ_WIRE_TO_HOST, state, message, err);
}

int laz_message_parse_host(const char *line, size_t len, uint32_t state,
                           struct laz_message *message, struct laz_error *err)
{
    return message_parse(line, len, LAZ_WIRE_TO_AGENT, state, message, err);
}

void laz_message_fini(struct laz_message *message)
{
    if (message->type < LAZ_MESSAGE_TYPES)
        laz_fields_free(&laz_wire_table[message->type].object, message);
    *message = (struct laz_message){.type = LAZ_MESSAGE_TYPES};
}

/* A host puts the id first. */
bool laz_message_reply_id(const char *head, uint64_t *id)
{
    return sscanf(head, "{\"id\":%" SCNu64, id) == 1;
}

/* ---- making --------------------------------------------------------------------------------- */

void laz_wire_make(const struct laz_wire_row *row, const void *from, struct laz_buf *line,
                   size_t *hole)
{
    struct laz_json_write write = {.to = line};

    laz_json_begin_object(&write, NULL);
    if (row->type)
        laz_json_add_text(&write, "type", row->type);
    laz_fields_add_members(&write, &row->object, from, hole);
    laz_json_end_object(&write);
    laz_buf_putc(line, '\n');
}

void laz_message_make(const struct laz_message *message, struct laz_buf *line)
{
    laz_wire_make(&laz_wire_table[message->type], message, line, NULL);
}

size_t laz_message_make_around(const struct laz_message *message, struct laz_buf *line)
{
    size_t hole = 0;

    laz_wire_make(&laz_wire_table[message->type], message, line, &hole);
    return hole;
}
