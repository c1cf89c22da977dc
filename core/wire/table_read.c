/* SPDX-License-Identifier: MIT */
/* table_read.c - members of a message or an object into its struct, by the rows of table.c.
 * Side: host and agent.  Input trusted: no.
 *
 * The members were found before, in the pass that checked the text.  Only those of the rows are
 * read; JSON stays where it is, so that a value of many megabytes is not copied.  Nothing is
 * allocated for an unknown member. */
#include "wire/table.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>

static void *read_at(void *out, size_t offset)
{
    return (char *)out + offset;
}

/* ---- each kind: 0, LAZ_EPROTO (ill-typed) or an error with its message ---------------------- */

typedef int read_kind(const struct laz_wire_member *member, const char *raw, size_t len, void *out,
                      struct laz_error *err);

static int read_taken(int rc)
{
    return rc == LAZ_EPARSE ? LAZ_EPROTO : rc;
}

static int read_text(const struct laz_wire_member *member, const char *raw, size_t len, void *out,
                     struct laz_error *err)
{
    char *text = NULL;
    size_t text_len = 0;

    (void)err;
    int rc = laz_json_take_string(raw, len, &text, &text_len);
    if (rc)
        return read_taken(rc);
    *(const char **)read_at(out, member->at) = text;
    if (member->len_at)
        *(size_t *)read_at(out, member->len_at) = text_len;
    return 0;
}

static int read_plain(const struct laz_wire_member *member, const char *raw, size_t len, void *out,
                      struct laz_error *err)
{
    (void)err;
    if (len < 2 || raw[0] != '"' || memchr(raw, '\\', len) || (int64_t)len - 2 < member->min ||
        (int64_t)len - 2 > member->max)
        return LAZ_EPROTO;
    *(const char **)read_at(out, member->at) = raw + 1;
    *(size_t *)read_at(out, member->len_at) = len - 2;
    return 0;
}

static int read_integer(const struct laz_wire_member *member, const char *raw, size_t len,
                        void *out, struct laz_error *err)
{
    int64_t value;

    (void)err;
    if (!laz_json_to_int(raw, len, &value))
        return LAZ_EPROTO;
    if ((member->min || member->max) && (value < member->min || value > member->max))
        return LAZ_EPROTO;
    *(int64_t *)read_at(out, member->at) = value;
    return 0;
}

static int read_boolean(const struct laz_wire_member *member, const char *raw, size_t len,
                        void *out, struct laz_error *err)
{
    (void)err;
    return laz_json_to_bool(raw, len, read_at(out, member->at)) ? 0 : LAZ_EPROTO;
}

/* Of an agent's list at most LAZ_WIRE_TEXTS_KEPT are kept, and the rest is not read. */
static int read_texts(const struct laz_wire_member *member, const char *raw, size_t len, void *out,
                      struct laz_error *err)
{
    struct laz_strv *texts = read_at(out, member->at);
    const size_t most = member->flags & LAZ_WIRE_ALL ? SIZE_MAX : LAZ_WIRE_TEXTS_KEPT;
    struct laz_json_items items = laz_json_items(raw, len);
    int rc = 0;

    (void)err;
    while (rc == 0 && texts->n < most && laz_json_next_item(&items, &raw, &len)) {
        char *text;
        rc = read_taken(laz_json_take_string(raw, len, &text, NULL));
        if (rc == 0) {
            laz_strv_add(texts, text);
            free(text);
        }
    }
    if (rc == 0 && items.failed)
        rc = LAZ_EPROTO;
    return texts->failed ? LAZ_ENOMEM : rc;
}

static int read_json(const struct laz_wire_member *member, const char *raw, size_t len, void *out,
                     struct laz_error *err)
{
    static const char *const begins[] = {
        [LAZ_SHAPE_OBJECT] = "{", [LAZ_SHAPE_OBJECT_OR_NULL] = "{n", [LAZ_SHAPE_LIST] = "["};

    (void)err;
    if (begins[member->shape] && !strchr(begins[member->shape], raw[0]))
        return LAZ_EPROTO;
    *(const char **)read_at(out, member->at) = raw;
    *(size_t *)read_at(out, member->len_at) = len;
    return 0;
}

static int read_object(const struct laz_wire_member *member, const char *raw, size_t len, void *out,
                       struct laz_error *err)
{
    return laz_wire_read(member->of, raw, len, read_at(out, member->at), err);
}

static int read_list(const struct laz_wire_member *member, const char *raw, size_t len, void *out,
                     struct laz_error *err)
{
    return laz_wire_read_list(member->of, raw, len, read_at(out, member->at), err);
}

static int read_number(const struct laz_wire_member *member, const struct laz_json_found *found,
                       struct laz_wire_number *number, struct laz_error *err)
{
    char *name = laz_strndup(found->key, found->key_len);

    if (!name)
        return laz_error_nomem(err);
    number->name = name;
    if (!laz_json_to_int(found->raw, found->len, &number->value) || number->value < 0)
        return laz_error_set(err, LAZ_EPROTO, 0, "'%.40s' of '%s' is not a size", name,
                             member->name);
    return 0;
}

static int read_numbers(const struct laz_wire_member *member, const char *raw, size_t len,
                        void *out, struct laz_error *err)
{
    struct laz_wire_numbers *numbers = read_at(out, member->at);
    struct laz_json_found found[LAZ_MESSAGE_MEMBERS];
    size_t n;
    int rc = 0;

    if (!laz_json_find_members(raw, len, found, LAZ_MESSAGE_MEMBERS, &n) || n > LAZ_MESSAGE_MEMBERS)
        return LAZ_EPROTO;
    numbers->items = calloc(n + 1, sizeof *numbers->items);
    if (!numbers->items)
        return LAZ_ENOMEM;
    while (rc == 0 && numbers->n < n) {
        rc = read_number(member, &found[numbers->n], &numbers->items[numbers->n], err);
        numbers->n++;
    }
    return rc;
}

static read_kind *const read_kinds[LAZ_KINDS] = {
    [LAZ_KIND_TEXT] = read_text,       [LAZ_KIND_PLAIN] = read_plain,
    [LAZ_KIND_INTEGER] = read_integer, [LAZ_KIND_BOOLEAN] = read_boolean,
    [LAZ_KIND_TEXTS] = read_texts,     [LAZ_KIND_JSON] = read_json,
    [LAZ_KIND_OBJECT] = read_object,   [LAZ_KIND_LIST] = read_list,
    [LAZ_KIND_NUMBERS] = read_numbers,
};

/* ---- objects -------------------------------------------------------------------------------- */

static int read_ill_typed(const struct laz_wire_object *object,
                          const struct laz_wire_member *member, struct laz_error *err)
{
    if (member->wrong)
        return laz_error_set(err, LAZ_EPROTO, 0, "%s", member->wrong);
    return laz_error_set(err, LAZ_EPROTO, 0, "'%s' of %s has the wrong type", member->name,
                         object->name);
}

static int read_missing(const struct laz_wire_object *object, const struct laz_wire_member *member,
                        struct laz_error *err)
{
    if (member->wrong)
        return laz_error_set(err, LAZ_EPROTO, 0, "%s", member->wrong);
    return laz_error_set(err, LAZ_EPROTO, 0, "%s lacks '%s'",
                         object->title ? object->title : object->name, member->name);
}

static int read_member(const struct laz_wire_object *object, const struct laz_wire_member *member,
                       const struct laz_json_found *found, void *out, struct laz_error *err)
{
    struct laz_error why = {0};
    int rc = read_kinds[member->kind](member, found->raw, found->len, out, &why);

    if (rc == LAZ_EPROTO && object->is_lenient)
        rc = 0;
    if (rc == 0 && member->has_at)
        *(bool *)read_at(out, member->has_at) = true;
    if (rc == LAZ_ENOMEM)
        return laz_error_nomem(err);
    if (rc && *why.text) /* said by what is inside */
        return laz_error_set(err, rc, 0, "%s", why.text);
    return rc ? read_ill_typed(object, member, err) : 0;
}

static const struct laz_json_found *read_find(const struct laz_json_found *found, size_t n,
                                              const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (laz_json_found_is(&found[i], name))
            return &found[i];
    return NULL;
}

static int read_unknown(const struct laz_wire_object *object, const struct laz_json_found *found,
                        size_t n, struct laz_error *err)
{
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < object->n && !laz_json_found_is(&found[i], object->members[k].name))
            k++;
        if (k == object->n)
            return laz_error_set(err, LAZ_EPROTO, 0,
                                 "this agent does not know \"%.*s\" in '%s': it is older than the "
                                 "host",
                                 (int)(found[i].key_len < 40 ? found[i].key_len : 40), found[i].key,
                                 object->name);
    }
    return 0;
}

int laz_wire_take(const struct laz_wire_object *object, const struct laz_json_found *found,
                  size_t n, void *out, struct laz_error *err)
{
    bool has_choice = false;
    size_t chosen = 0;
    int rc = object->is_closed ? read_unknown(object, found, n, err) : 0;

    for (size_t i = 0; i < object->n && !rc; i++) {
        const struct laz_wire_member *member = &object->members[i];
        const struct laz_json_found *one = read_find(found, n, member->name);
        if (member->flags & LAZ_WIRE_ABSENT_TRUE)
            *(bool *)read_at(out, member->at) = true;
        has_choice |= (member->flags & LAZ_WIRE_CHOICE) != 0;
        chosen += one && (member->flags & LAZ_WIRE_CHOICE);
        if (one)
            rc = read_member(object, member, one, out, err);
        else if (member->flags & LAZ_WIRE_REQUIRED)
            rc = read_missing(object, member, err);
    }
    if (!rc && has_choice && chosen != 1 && !object->is_lenient)
        rc = laz_error_set(err, LAZ_EPROTO, 0,
                           "an answer has not exactly one of 'value' and 'error'");
    return rc;
}

int laz_wire_read(const struct laz_wire_object *object, const char *raw, size_t len, void *out,
                  struct laz_error *err)
{
    struct laz_json_found found[LAZ_MESSAGE_MEMBERS];
    size_t n;

    memset(out, 0, object->size);
    if (!laz_json_find_members(raw, len, found, LAZ_MESSAGE_MEMBERS, &n))
        return laz_error_set(err, LAZ_EPROTO, 0, "%s is not an object", object->name);
    if (n > LAZ_MESSAGE_MEMBERS)
        return laz_error_set(err, LAZ_EPROTO, 0, "%s has more than %d members", object->name,
                             LAZ_MESSAGE_MEMBERS);
    int rc = laz_wire_take(object, found, n, out, err);
    if (rc)
        laz_wire_free(object, out);
    return rc;
}

int laz_wire_read_list(const struct laz_wire_object *object, const char *raw, size_t len,
                       struct laz_wire_list *list, struct laz_error *err)
{
    struct laz_json_items items = laz_json_items(raw, len), again = items;
    const char *item;
    size_t item_len, n = 0;
    int rc = 0;

    *list = (struct laz_wire_list){0};
    while (laz_json_next_item(&again, &item, &item_len))
        n++;
    if (again.failed)
        return laz_error_set(err, LAZ_EPROTO, 0, "the list of %s cannot be read", object->name);
    list->items = calloc(n + 1, object->size);
    if (!list->items)
        return laz_error_nomem(err);
    for (; rc == 0 && laz_json_next_item(&items, &item, &item_len); list->n += rc == 0)
        rc = laz_wire_read(object, item, item_len, (char *)list->items + list->n * object->size,
                           err);
    if (rc)
        laz_wire_free_list(object, list);
    return rc;
}

/* ---- freeing -------------------------------------------------------------------------------- */

static void read_free_numbers(struct laz_wire_numbers *numbers)
{
    for (size_t i = 0; i < numbers->n; i++)
        free((char *)numbers->items[i].name);
    free(numbers->items);
    *numbers = (struct laz_wire_numbers){0};
}

void laz_wire_free_list(const struct laz_wire_object *object, struct laz_wire_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        laz_wire_free(object, (char *)list->items + i * object->size);
    free(list->items);
    *list = (struct laz_wire_list){0};
}

void laz_wire_free(const struct laz_wire_object *object, void *out)
{
    for (size_t i = 0; i < object->n; i++) {
        const struct laz_wire_member *member = &object->members[i];
        void *at = read_at(out, member->at);
        switch (member->kind) {
        case LAZ_KIND_TEXT:
            free(*(char **)at);
            break;
        case LAZ_KIND_TEXTS:
            laz_strv_fini(at);
            break;
        case LAZ_KIND_OBJECT:
            laz_wire_free(member->of, at);
            break;
        case LAZ_KIND_LIST:
            laz_wire_free_list(member->of, at);
            break;
        case LAZ_KIND_NUMBERS:
            read_free_numbers(at);
            break;
        default:
            break;
        }
    }
    memset(out, 0, object->size);
}
