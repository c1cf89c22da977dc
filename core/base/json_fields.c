/* SPDX-License-Identifier: MIT */
/* json_fields.c - objects of JSON as structs, by tables of their members.
 * Side: host and agent.  Input trusted: no.
 *
 * The members were found before, in the pass that checked the text.  Only those of the rows are
 * read; JSON stays where it is, so that a value of many megabytes is not copied.  Nothing is
 * allocated for an unknown member. */
#include "base/json_fields.h"

#include "base/json_number.h"

#include <stdlib.h>
#include <string.h>

static void *fields_at(void *out, size_t offset)
{
    return (char *)out + offset;
}

static const void *fields_from(const void *from, size_t offset)
{
    return (const char *)from + offset;
}

/* ---- reading a value of each kind: 0, LAZ_EPARSE (ill-typed) or LAZ_ENOMEM ------------------ */

static int read_text(const struct laz_field *field, const char *raw, size_t len, void *out)
{
    char *text = NULL;
    size_t text_len = 0;

    if ((field->flags & LAZ_FIELD_NULLABLE) && raw[0] == 'n')
        return 0;
    int rc = laz_json_take_string(raw, len, &text, &text_len);
    if (rc)
        return rc;
    *(const char **)fields_at(out, field->at) = text;
    if (field->len_at)
        *(size_t *)fields_at(out, field->len_at) = text_len;
    return 0;
}

static int read_plain(const struct laz_field *field, const char *raw, size_t len, void *out)
{
    if (len < 2 || raw[0] != '"' || memchr(raw, '\\', len) || (int64_t)len - 2 < field->min ||
        (int64_t)len - 2 > field->max)
        return LAZ_EPARSE;
    *(const char **)fields_at(out, field->at) = raw + 1;
    *(size_t *)fields_at(out, field->len_at) = len - 2;
    return 0;
}

static int read_word(const struct laz_field *field, const char *raw, size_t len, uint32_t *number)
{
    char *text;
    int rc = laz_json_take_string(raw, len, &text, NULL);

    if (rc)
        return rc;
    *number = field->word(text);
    free(text);
    return *number ? 0 : LAZ_EPARSE;
}

static int read_integer(const struct laz_field *field, const char *raw, size_t len, int64_t *number)
{
    int64_t value;

    if (!laz_json_to_int(raw, len, &value) ||
        ((field->min || field->max) && (value < field->min || value > field->max)))
        return LAZ_EPARSE;
    *number = value;
    return 0;
}

static int read_add(struct laz_strv *texts, const char *raw, size_t len)
{
    char *text;
    int rc = laz_json_take_string(raw, len, &text, NULL);

    if (rc)
        return rc;
    laz_strv_add(texts, text);
    free(text);
    return texts->failed ? LAZ_ENOMEM : 0;
}

/* Of an agent's list at most LAZ_FIELD_TEXTS_KEPT are kept, and the rest is not read. */
static int read_texts(const struct laz_field *field, const char *raw, size_t len,
                      struct laz_strv *texts)
{
    const size_t most = field->flags & LAZ_FIELD_ALL ? SIZE_MAX : LAZ_FIELD_TEXTS_KEPT;
    struct laz_json_items items = laz_json_items(raw, len);
    int rc = 0;

    while (rc == 0 && texts->n < most && laz_json_next_item(&items, &raw, &len))
        rc = read_add(texts, raw, len);
    return rc == 0 && items.failed ? LAZ_EPARSE : rc;
}

static int read_entry(const struct laz_json_found *found, struct laz_fields_problem *wrong)
{
    wrong->what = LAZ_WRONG_ENTRY;
    wrong->key = found->key;
    wrong->key_len = found->key_len;
    return LAZ_EPARSE;
}

static int read_pairs(const char *raw, size_t len, struct laz_strv *pairs,
                      struct laz_fields_problem *wrong)
{
    struct laz_json_items members = laz_json_members(raw, len);
    struct laz_json_found one;
    int rc = 0;

    while (rc == 0 && laz_json_next_member(&members, &one)) {
        rc = read_add(pairs, one.key - 1, one.key_len + 2); /* with its quotes */
        if (rc == 0)
            rc = read_add(pairs, one.raw, one.len);
        if (rc == LAZ_EPARSE)
            return read_entry(&one, wrong);
    }
    return rc == 0 && members.failed ? LAZ_EPARSE : rc;
}

static int read_numbers(const char *raw, size_t len, struct laz_field_numbers *numbers,
                        struct laz_fields_problem *wrong)
{
    struct laz_json_found found[LAZ_FIELDS_MOST];
    size_t n;

    if (!laz_json_find_members(raw, len, found, LAZ_FIELDS_MOST, &n) || n > LAZ_FIELDS_MOST)
        return LAZ_EPARSE;
    numbers->items = calloc(n + 1, sizeof *numbers->items);
    if (!numbers->items)
        return LAZ_ENOMEM;
    for (const struct laz_json_found *one = found; numbers->n < n; one++) {
        struct laz_field_number *number = &numbers->items[numbers->n++];
        number->name = laz_strndup(one->key, one->key_len);
        if (!number->name)
            return LAZ_ENOMEM;
        if (!laz_json_to_int(one->raw, one->len, &number->value) || number->value < 0)
            return read_entry(one, wrong);
    }
    return 0;
}

static int read_json(const struct laz_field *field, const char *raw, size_t len, void *out)
{
    static const char *const begins[] = {
        [LAZ_SHAPE_OBJECT] = "{", [LAZ_SHAPE_OBJECT_OR_NULL] = "{n", [LAZ_SHAPE_LIST] = "["};

    if (begins[field->shape] && !strchr(begins[field->shape], raw[0]))
        return LAZ_EPARSE;
    *(const char **)fields_at(out, field->at) = raw;
    *(size_t *)fields_at(out, field->len_at) = len;
    return 0;
}

static int read_value(const struct laz_field *field, const char *raw, size_t len, void *out,
                      struct laz_fields_problem *wrong)
{
    void *at = fields_at(out, field->at);

    switch (field->kind) {
    case LAZ_FIELD_TEXT:
        return read_text(field, raw, len, out);
    case LAZ_FIELD_PLAIN:
        return read_plain(field, raw, len, out);
    case LAZ_FIELD_WORD:
        return read_word(field, raw, len, at);
    case LAZ_FIELD_INTEGER:
        return read_integer(field, raw, len, at);
    case LAZ_FIELD_BOOLEAN:
        return laz_json_to_bool(raw, len, at) ? 0 : LAZ_EPARSE;
    case LAZ_FIELD_TEXTS:
        return read_texts(field, raw, len, at);
    case LAZ_FIELD_PAIRS:
        return read_pairs(raw, len, at, wrong);
    case LAZ_FIELD_JSON:
        return read_json(field, raw, len, out);
    case LAZ_FIELD_OBJECT:
        return laz_fields_read(field->of, raw, len, at, wrong);
    case LAZ_FIELD_LIST:
        return laz_fields_read_list(field->of, raw, len, at, wrong);
    case LAZ_FIELD_NUMBERS:
        return read_numbers(raw, len, at, wrong);
    case LAZ_FIELD_IGNORED:
    case LAZ_FIELD_KINDS:
        break;
    }
    return 0;
}

/* ---- reading objects ------------------------------------------------------------------------ */

static int read_member(const struct laz_fields *fields, const struct laz_field *field,
                       const struct laz_json_found *found, void *out,
                       struct laz_fields_problem *wrong)
{
    struct laz_fields_problem inside = {.what = LAZ_WRONG_TYPE};
    int rc = read_value(field, found->raw, found->len, out, &inside);

    if (rc == LAZ_EPARSE && fields->is_lenient)
        rc = 0;
    if (rc == 0 && field->has_at)
        *(bool *)fields_at(out, field->has_at) = true;
    if (rc == LAZ_EPARSE) {
        *wrong = inside;
        if (!wrong->object)
            wrong->object = fields;
        if (!wrong->field)
            wrong->field = field;
    }
    return rc;
}

static const struct laz_json_found *read_find(const struct laz_json_found *found, size_t n,
                                              const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (laz_json_found_is(&found[i], name))
            return &found[i];
    return NULL;
}

/* The first member that the table does not have, or NULL. */
static const struct laz_json_found *read_unknown(const struct laz_fields *fields,
                                                 const struct laz_json_found *found, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < fields->n && !laz_json_found_is(&found[i], fields->items[k].name))
            k++;
        if (k == fields->n)
            return &found[i];
    }
    return NULL;
}

int laz_fields_take(const struct laz_fields *fields, const struct laz_json_found *found, size_t n,
                    void *out, struct laz_fields_problem *wrong)
{
    const struct laz_json_found *unknown =
        fields->is_closed ? read_unknown(fields, found, n) : NULL;
    bool has_choice = false;
    size_t chosen = 0;

    *wrong = (struct laz_fields_problem){.what = LAZ_WRONG_UNKNOWN, .object = fields};
    if (unknown) {
        wrong->key = unknown->key;
        wrong->key_len = unknown->key_len;
        return LAZ_EPARSE;
    }
    for (size_t i = 0; i < fields->n; i++) {
        const struct laz_field *field = &fields->items[i];
        const struct laz_json_found *one = read_find(found, n, field->name);
        if (one && fields->null_is_absent && !(field->flags & LAZ_FIELD_REQUIRED) &&
            *one->raw == 'n')
            one = NULL;
        if (field->flags & LAZ_FIELD_ABSENT_TRUE)
            *(bool *)fields_at(out, field->at) = true;
        has_choice |= (field->flags & LAZ_FIELD_CHOICE) != 0;
        chosen += one && (field->flags & LAZ_FIELD_CHOICE);
        int rc = one ? read_member(fields, field, one, out, wrong) : 0;
        if (rc)
            return rc;
        if (!one && (field->flags & LAZ_FIELD_REQUIRED)) {
            wrong->what = LAZ_WRONG_MISSING;
            wrong->field = field;
            return LAZ_EPARSE;
        }
    }
    wrong->what = LAZ_WRONG_CHOICE;
    return has_choice && chosen != 1 && !fields->is_lenient ? LAZ_EPARSE : 0;
}

int laz_fields_read(const struct laz_fields *fields, const char *raw, size_t len, void *out,
                    struct laz_fields_problem *wrong)
{
    struct laz_json_found found[LAZ_FIELDS_MOST];
    size_t n;

    memset(out, 0, fields->size);
    *wrong = (struct laz_fields_problem){.what = LAZ_WRONG_NO_OBJECT, .object = fields};
    if (!laz_json_find_members(raw, len, found, LAZ_FIELDS_MOST, &n))
        return LAZ_EPARSE;
    wrong->what = LAZ_WRONG_TOO_MANY;
    if (n > LAZ_FIELDS_MOST)
        return LAZ_EPARSE;
    int rc = laz_fields_take(fields, found, n, out, wrong);
    if (rc)
        laz_fields_free(fields, out);
    return rc;
}

int laz_fields_read_list(const struct laz_fields *fields, const char *raw, size_t len,
                         struct laz_field_list *list, struct laz_fields_problem *wrong)
{
    struct laz_json_items items = laz_json_items(raw, len), again = items;
    const char *item;
    size_t item_len, n = 0;
    int rc = 0;

    *list = (struct laz_field_list){0};
    *wrong = (struct laz_fields_problem){.what = LAZ_WRONG_NO_LIST, .object = fields};
    while (laz_json_next_item(&again, &item, &item_len))
        n++;
    if (again.failed)
        return LAZ_EPARSE;
    list->items = calloc(n + 1, fields->size);
    if (!list->items)
        return LAZ_ENOMEM;
    for (; rc == 0 && laz_json_next_item(&items, &item, &item_len); list->n += rc == 0)
        rc = laz_fields_read(fields, item, item_len, fields_at(list->items, list->n * fields->size),
                             wrong);
    if (rc)
        laz_fields_free_list(fields, list);
    return rc;
}

/* ---- freeing -------------------------------------------------------------------------------- */

static void free_numbers(struct laz_field_numbers *numbers)
{
    for (size_t i = 0; i < numbers->n; i++)
        free((char *)numbers->items[i].name);
    free(numbers->items);
}

void laz_fields_free_list(const struct laz_fields *fields, struct laz_field_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        laz_fields_free(fields, fields_at(list->items, i * fields->size));
    free(list->items);
    *list = (struct laz_field_list){0};
}

void laz_fields_free(const struct laz_fields *fields, void *out)
{
    for (size_t i = 0; i < fields->n; i++) {
        const struct laz_field *field = &fields->items[i];
        void *at = fields_at(out, field->at);
        switch (field->kind) {
        case LAZ_FIELD_TEXT:
            free(*(char **)at);
            break;
        case LAZ_FIELD_TEXTS:
        case LAZ_FIELD_PAIRS:
            laz_strv_fini(at);
            break;
        case LAZ_FIELD_OBJECT:
            laz_fields_free(field->of, at);
            break;
        case LAZ_FIELD_LIST:
            laz_fields_free_list(field->of, at);
            break;
        case LAZ_FIELD_NUMBERS:
            free_numbers(at);
            break;
        default:
            break;
        }
    }
    memset(out, 0, fields->size);
}

/* ---- writing -------------------------------------------------------------------------------- */

static void add_list(struct laz_json_write *write, const struct laz_field *field,
                     const struct laz_field_list *list)
{
    laz_json_begin_list(write, field->name);
    for (size_t i = 0; i < list->n; i++)
        laz_fields_add(write, NULL, field->of, fields_from(list->items, i * field->of->size));
    laz_json_end_list(write);
}

static void add_numbers(struct laz_json_write *write, const char *key,
                        const struct laz_field_numbers *numbers)
{
    laz_json_begin_object(write, key);
    for (size_t i = 0; i < numbers->n; i++)
        laz_json_add_int(write, numbers->items[i].name, numbers->items[i].value);
    laz_json_end_object(write);
}

static void add_text(struct laz_json_write *write, const struct laz_field *field, const void *from)
{
    const char *text = *(const char *const *)fields_from(from, field->at);

    if (!text)
        return;
    size_t len = field->len_at ? *(const size_t *)fields_from(from, field->len_at) : strlen(text);
    if (field->kind == LAZ_FIELD_JSON)
        laz_json_add_raw(write, field->name, text, len);
    else
        laz_json_add_bytes(write, field->name, text, len);
}

static void add_member(struct laz_json_write *write, const struct laz_field *field,
                       const void *from)
{
    const void *at = fields_from(from, field->at);
    const bool adds_empty = !(field->flags & LAZ_FIELD_OMIT);

    if (field->has_at && !*(const bool *)fields_from(from, field->has_at))
        return;
    switch (field->kind) {
    case LAZ_FIELD_TEXT:
    case LAZ_FIELD_PLAIN:
    case LAZ_FIELD_JSON:
        add_text(write, field, from);
        break;
    case LAZ_FIELD_INTEGER:
        if (adds_empty || *(const int64_t *)at)
            laz_json_add_int(write, field->name, *(const int64_t *)at);
        break;
    case LAZ_FIELD_BOOLEAN:
        if (adds_empty || *(const bool *)at)
            laz_json_add_bool(write, field->name, *(const bool *)at);
        break;
    case LAZ_FIELD_TEXTS:
        if (adds_empty || ((const struct laz_strv *)at)->n)
            laz_json_add_texts(write, field->name, at);
        break;
    case LAZ_FIELD_OBJECT:
        laz_fields_add(write, field->name, field->of, at);
        break;
    case LAZ_FIELD_LIST:
        add_list(write, field, at);
        break;
    case LAZ_FIELD_NUMBERS:
        add_numbers(write, field->name, at);
        break;
    case LAZ_FIELD_PAIRS: /* no table that is written has these */
    case LAZ_FIELD_WORD:
    case LAZ_FIELD_IGNORED:
    case LAZ_FIELD_KINDS:
        break;
    }
}

void laz_fields_add_members(struct laz_json_write *write, const struct laz_fields *fields,
                            const void *from, size_t *hole)
{
    for (size_t i = 0; i < fields->n; i++) {
        const struct laz_field *field = &fields->items[i];
        if (hole && (field->flags & LAZ_FIELD_BULK)) {
            laz_json_add_key(write, field->name);
            *hole = write->to->len;
        } else {
            add_member(write, field, from);
        }
    }
}

void laz_fields_add(struct laz_json_write *write, const char *key, const struct laz_fields *fields,
                    const void *from)
{
    laz_json_begin_object(write, key);
    laz_fields_add_members(write, fields, from, NULL);
    laz_json_end_object(write);
}
