/* SPDX-License-Identifier: MIT */
/* json_members.c - where the members of an object and the items of a list stand in a JSON text.
 * Side: host and agent.  Input trusted: no, but it was scanned or comes from a trusted side. */
#include "base/json_members.h"

#include "base/json_lex.h"
#include "base/json_text.h"

static void items_space(struct laz_json_items *items)
{
    while (items->at < items->end && json_is_space(*items->at))
        items->at++;
}

/* Behind a value: a comma, or the bracket that closes the container, behind which nothing stands.
 */
static void items_after(struct laz_json_items *items, char close)
{
    items_space(items);
    char c = '\0';
    if (items->at < items->end)
        c = *items->at++;
    items_space(items);
    items->failed = c == close ? items->at < items->end : c != ',';
    if (c == close || items->failed)
        items->at = NULL;
}

static struct laz_json_items items_begin(const char *text, size_t len, char open, char close)
{
    struct laz_json_items items = {text, text + len, false};

    items_space(&items);
    if (items.at == items.end || *items.at++ != open)
        return (struct laz_json_items){.failed = true};
    items_space(&items);
    if (items.at < items.end && *items.at == close)
        items_after(&items, close);
    return items;
}

/* The value at `at`, which is behind it afterwards. */
static bool items_value(struct laz_json_items *items, const char **raw, size_t *len)
{
    items_space(items);
    *raw = items->at;
    *len = laz_json_value_span(items->at, (size_t)(items->end - items->at));
    items->at += *len;
    return *len > 0;
}

/* The key at `at` and its colon. */
static bool items_key(struct laz_json_items *items, struct laz_json_found *found)
{
    const char *raw;
    size_t len;

    if (items->at == items->end || *items->at != '"' || !items_value(items, &raw, &len))
        return false;
    found->key = raw + 1;
    found->key_len = len - 2;
    items_space(items);
    return items->at < items->end && *items->at++ == ':';
}

static bool items_next(struct laz_json_items *items, bool good, char close)
{
    if (good)
        items_after(items, close);
    else
        *items = (struct laz_json_items){.failed = true};
    return !items->failed;
}

struct laz_json_items laz_json_items(const char *text, size_t len)
{
    return items_begin(text, len, '[', ']');
}

bool laz_json_next_item(struct laz_json_items *items, const char **raw, size_t *len)
{
    return items->at && items_next(items, items_value(items, raw, len), ']');
}

struct laz_json_items laz_json_members(const char *text, size_t len)
{
    return items_begin(text, len, '{', '}');
}

bool laz_json_next_member(struct laz_json_items *items, struct laz_json_found *found)
{
    return items->at &&
           items_next(items,
                      items_key(items, found) && items_value(items, &found->raw, &found->len), '}');
}

bool laz_json_find_members(const char *text, size_t len, struct laz_json_found *found, size_t max,
                           size_t *n)
{
    struct laz_json_items members = laz_json_members(text, len);
    struct laz_json_found one;

    for (*n = 0; laz_json_next_member(&members, &one); ++*n)
        if (*n < max)
            found[*n] = one;
    return !members.failed;
}

bool laz_json_member(const char *object, size_t len, const char *key, const char **raw,
                     size_t *raw_len)
{
    struct laz_json_items members = laz_json_members(object, len);
    struct laz_json_found one;

    while (laz_json_next_member(&members, &one)) {
        if (!laz_json_found_is(&one, key))
            continue;
        *raw = one.raw;
        *raw_len = one.len;
        return true;
    }
    return false;
}

bool laz_json_found_is(const struct laz_json_found *found, const char *name)
{
    const char *at = found->key, *end = at + found->key_len;

    while (at < end && *name) {
        uint32_t c = (unsigned char)*at;
        size_t n = 1;
        if (c == '\\' && !laz_json_escape(at, (size_t)(end - at), &c, &n))
            return false;
        if (c != (unsigned char)*name)
            return false;
        at += n;
        name++;
    }
    return at == end && !*name;
}
