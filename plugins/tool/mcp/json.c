/* SPDX-License-Identifier: MIT */
/* json.c - members, items and canonical forms of JSON text, by the reader of lazaret/json.h.
 * Side: host.  Input trusted: no (a server's bytes, after the scan). */
#include "mcp_private.h"

#include <stdlib.h>
#include <string.h>

bool mcp_each(const struct laz_json_api *json, struct mcp_raw value,
              bool (*each)(void *user, const char *key, struct mcp_raw item), void *user)
{
    struct laz_json_reader *reader = value.text ? json->reader_new(value.text, value.len) : NULL;
    struct laz_json_token token;
    char *key = NULL;
    bool goes_on = false;

    if (!reader)
        return false;
    const uint32_t type = json->next(reader, &token);
    if (type == LAZ_JSON_OBJECT_BEGIN || type == LAZ_JSON_ARRAY_BEGIN)
        goes_on = true;
    while (goes_on) {
        struct mcp_raw item;
        if (type == LAZ_JSON_OBJECT_BEGIN) {
            if (json->next(reader, &token) != LAZ_JSON_KEY)
                break;
            free(key);
            key = strdup(token.text);
            goes_on = key != NULL;
        }
        if (!goes_on || !json->skip(reader, &item.text, &item.len))
            break;
        goes_on = each(user, key, item);
    }
    free(key);
    goes_on = goes_on && !json->reader_failed(reader);
    json->reader_free(reader);
    return goes_on;
}

struct members {
    const char *const *names;
    struct mcp_raw *found;
    size_t n;
};

static bool members_one(void *user, const char *key, struct mcp_raw item)
{
    const struct members *members = user;

    for (size_t i = 0; key && i < members->n; i++)
        if (strcmp(members->names[i], key) == 0 && item.text[0] != 'n')
            members->found[i] = item;
    return key != NULL;
}

bool mcp_members(const struct laz_json_api *json, struct mcp_raw object, const char *const *names,
                 struct mcp_raw *found, size_t n)
{
    struct members members = {names, found, n};

    memset(found, 0, n * sizeof *found);
    return object.len && object.text[0] == '{' && mcp_each(json, object, members_one, &members);
}

struct mcp_raw mcp_member(const struct laz_json_api *json, struct mcp_raw object, const char *name)
{
    struct mcp_raw found;

    (void)mcp_members(json, object, &name, &found, 1);
    return found;
}

char *mcp_string(const struct laz_json_api *json, struct mcp_raw value)
{
    struct laz_json_reader *reader =
        value.len && value.text[0] == '"' ? json->reader_new(value.text, value.len) : NULL;
    struct laz_json_token token;
    char *text = NULL;

    if (reader && json->next(reader, &token) == LAZ_JSON_STRING)
        text = strdup(token.text);
    json->reader_free(reader);
    return text;
}

bool mcp_is_text(const struct laz_json_api *json, struct mcp_raw value, const char *text)
{
    char *found = mcp_string(json, value);
    const bool is = found && strcmp(found, text) == 0;

    free(found);
    return is;
}

bool mcp_is_true(struct mcp_raw value)
{
    return value.len == 4 && memcmp(value.text, "true", 4) == 0;
}

bool mcp_integer(struct mcp_raw value, int64_t *number)
{
    const size_t sign = value.len && value.text[0] == '-';
    int64_t n = 0;

    if (value.len == sign || value.len - sign > 18)
        return false;
    for (size_t i = sign; i < value.len; i++) {
        if (value.text[i] < '0' || value.text[i] > '9')
            return false;
        n = 10 * n + (value.text[i] - '0');
    }
    *number = sign ? -n : n;
    return true;
}

/* ---- canonical form -------------------------------------------------------------------------- */

struct canonical_member {
    char *key;
    struct mcp_raw value;
};

struct canonical {
    const struct laz_json_api *json;
    struct laz_json_writer *writer;
    struct canonical_member *members;
    size_t n, room;
};

static bool canonical_keep(void *user, const char *key, struct mcp_raw item)
{
    struct canonical *list = user;

    if (list->n == list->room) {
        const size_t room = list->room ? 2 * list->room : 8;
        struct canonical_member *more = realloc(list->members, room * sizeof *more);
        if (!more)
            return false;
        list->members = more;
        list->room = room;
    }
    list->members[list->n] = (struct canonical_member){strdup(key ? key : ""), item};
    return list->members[list->n++].key != NULL;
}

static int canonical_order(const void *a, const void *b)
{
    const struct canonical_member *one = a, *other = b;

    return strcmp(one->key, other->key);
}

/* Recursion is bounded by the 64 levels of scanned text. */
static bool canonical_write(const struct laz_json_api *json, struct laz_json_writer *writer,
                            struct mcp_raw value)
{
    struct canonical list = {.json = json, .writer = writer};
    const bool is_object = value.len && value.text[0] == '{';
    bool well = true;

    if (!is_object && (!value.len || value.text[0] != '[')) {
        json->write_raw(writer, value.text, value.len);
        return !json->writer_failed(writer);
    }
    well = mcp_each(json, value, canonical_keep, &list);
    if (is_object && list.n)
        qsort(list.members, list.n, sizeof *list.members, canonical_order);
    (is_object ? json->object_begin : json->array_begin)(writer);
    for (size_t i = 0; i < list.n && well; i++) {
        if (is_object)
            mcp_put_key(json, writer, list.members[i].key);
        well = canonical_write(json, writer, list.members[i].value);
    }
    (is_object ? json->object_end : json->array_end)(writer);
    for (size_t i = 0; i < list.n; i++)
        free(list.members[i].key);
    free(list.members);
    return well;
}

char *mcp_canonical(const struct laz_json_api *json, struct mcp_raw value)
{
    struct laz_json_writer *writer = json->writer_new(0);
    const bool well = writer && canonical_write(json, writer, value);
    char *text = writer ? mcp_take(json, writer, NULL) : NULL;

    if (!well) {
        free(text);
        text = NULL;
    }
    return text;
}

/* ---- mending --------------------------------------------------------------------------------- */

/* The number of an escape \uXXXX at `text`; -1: there is none. */
static long mend_escape(const char *text, size_t len)
{
    long number = 0;

    if (len < 6 || text[0] != '\\' || text[1] != 'u')
        return -1;
    for (size_t i = 2; i < 6; i++) {
        const char *digits = "0123456789abcdef";
        const char c = text[i] >= 'A' && text[i] <= 'F' ? (char)(text[i] + 32) : text[i];
        const char *digit = c ? strchr(digits, c) : NULL;
        if (!digit)
            return -1;
        number = 16 * number + (digit - digits);
    }
    return number;
}

void mcp_mend(char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] != '\\')
            continue;
        const long code = mend_escape(text + i, len - i);
        if (code < 0) {
            i++; /* what an escape of two bytes escapes */
            continue;
        }
        const bool is_high = code >= 0xd800 && code < 0xdc00;
        const long low = is_high ? mend_escape(text + i + 6, len - i - 6) : -1;
        if (low >= 0xdc00 && low < 0xe000)
            i += 6;
        else if (!code || (code >= 0xd800 && code < 0xe000))
            memcpy(text + i + 2, "fffd", 4);
        i += 5;
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

void mcp_put_key(const struct laz_json_api *json, struct laz_json_writer *writer, const char *key)
{
    (void)json->key(writer, key, strlen(key));
}

void mcp_put_text(const struct laz_json_api *json, struct laz_json_writer *writer, const char *key,
                  const char *text)
{
    mcp_put_key(json, writer, key);
    json->write_string(writer, text, strlen(text));
}

void mcp_put_raw(const struct laz_json_api *json, struct laz_json_writer *writer, const char *key,
                 struct mcp_raw value)
{
    mcp_put_key(json, writer, key);
    json->write_raw(writer, value.text, value.len);
}

char *mcp_take(const struct laz_json_api *json, struct laz_json_writer *writer, size_t *len)
{
    bool too_large;
    size_t n = 0;
    const char *text = json->writer_text(writer, &n, &too_large);
    char *copy = text ? malloc(n + 1) : NULL;

    if (copy)
        memcpy(copy, text, n + 1);
    if (len)
        *len = n;
    json->writer_free(writer);
    return copy;
}
