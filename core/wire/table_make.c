/* SPDX-License-Identifier: MIT */
/* table_make.c - the struct of a message or an object as JSON, by the rows of table.c.
 * Side: host and agent.  Input trusted: yes (it is made here).
 *
 * Members are written in the order of the rows.  A text or JSON that is NULL is left out, and so is
 * a member whose `has` flag is false; everything else is written, unless its row says
 * LAZ_WIRE_OMIT. */
#include "wire/table.h"

#include <string.h>

static const void *make_at(const void *from, size_t offset)
{
    return (const char *)from + offset;
}

static size_t make_length(const struct laz_wire_member *member, const void *from)
{
    const char *text = *(const char *const *)make_at(from, member->at);

    return member->len_at ? *(const size_t *)make_at(from, member->len_at) : strlen(text);
}

/* Is there something to write? */
static bool make_has(const struct laz_wire_member *member, const void *from)
{
    const void *at = make_at(from, member->at);

    if (member->has_at)
        return *(const bool *)make_at(from, member->has_at);
    switch (member->kind) {
    case LAZ_KIND_TEXT:
    case LAZ_KIND_PLAIN:
    case LAZ_KIND_JSON:
        return *(const char *const *)at != NULL;
    case LAZ_KIND_INTEGER:
        return !(member->flags & LAZ_WIRE_OMIT) || *(const int64_t *)at;
    case LAZ_KIND_BOOLEAN:
        return !(member->flags & LAZ_WIRE_OMIT) || *(const bool *)at;
    case LAZ_KIND_TEXTS:
        return !(member->flags & LAZ_WIRE_OMIT) || ((const struct laz_strv *)at)->n;
    default:
        return true;
    }
}

static void make_numbers(struct laz_json_write *write, const char *key,
                         const struct laz_wire_numbers *numbers)
{
    laz_json_begin_object(write, key);
    for (size_t i = 0; i < numbers->n; i++)
        laz_json_add_int(write, numbers->items[i].name, numbers->items[i].value);
    laz_json_end_object(write);
}

static void make_member(struct laz_json_write *write, const struct laz_wire_member *member,
                        const void *from)
{
    const void *at = make_at(from, member->at);

    switch (member->kind) {
    case LAZ_KIND_TEXT:
    case LAZ_KIND_PLAIN:
        laz_json_add_bytes(write, member->name, *(const char *const *)at,
                           make_length(member, from));
        break;
    case LAZ_KIND_JSON:
        laz_json_add_raw(write, member->name, *(const char *const *)at, make_length(member, from));
        break;
    case LAZ_KIND_INTEGER:
        laz_json_add_int(write, member->name, *(const int64_t *)at);
        break;
    case LAZ_KIND_BOOLEAN:
        laz_json_add_bool(write, member->name, *(const bool *)at);
        break;
    case LAZ_KIND_TEXTS:
        laz_json_add_texts(write, member->name, at);
        break;
    case LAZ_KIND_OBJECT:
        laz_wire_add(write, member->name, member->of, at);
        break;
    case LAZ_KIND_LIST:
        laz_wire_add_list(write, member->name, member->of, at);
        break;
    case LAZ_KIND_NUMBERS:
        make_numbers(write, member->name, at);
        break;
    case LAZ_KINDS:
        break;
    }
}

void laz_wire_add_members(struct laz_json_write *write, const struct laz_wire_object *object,
                          const void *from, size_t *hole)
{
    for (size_t i = 0; i < object->n; i++) {
        const struct laz_wire_member *member = &object->members[i];
        if (hole && (member->flags & LAZ_WIRE_BULK)) {
            laz_json_add_key(write, member->name);
            *hole = write->to->len;
        } else if (make_has(member, from)) {
            make_member(write, member, from);
        }
    }
}

void laz_wire_add(struct laz_json_write *write, const char *key,
                  const struct laz_wire_object *object, const void *from)
{
    laz_json_begin_object(write, key);
    laz_wire_add_members(write, object, from, NULL);
    laz_json_end_object(write);
}

void laz_wire_add_list(struct laz_json_write *write, const char *key,
                       const struct laz_wire_object *object, const struct laz_wire_list *list)
{
    laz_json_begin_list(write, key);
    for (size_t i = 0; i < list->n; i++)
        laz_wire_add(write, NULL, object, (const char *)list->items + i * object->size);
    laz_json_end_list(write);
}
