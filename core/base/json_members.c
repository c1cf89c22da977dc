/* SPDX-License-Identifier: MIT */
/* json_members.c - where the members of an object and the items of a list stand in a JSON text.
 * Side: host and agent.  Input trusted: no, but it was scanned or comes from a trusted side. */
#include "base/json_members.h"

#include "base/json_lex.h"
#include "base/json_text.h"

static const char *members_space(const char *at, const char *end)
{
    while (at < end && json_is_space(*at))
        at++;
    return at;
}

/* What stands behind a value: a comma (1), the bracket that closes the container (0), else -1. */
static int members_after(const char **at, const char *end, char bracket)
{
    *at = members_space(*at, end);
    if (*at == end || (**at != ',' && **at != bracket))
        return -1;
    char c = *(*at)++;
    if (c == bracket)
        return 0;
    *at = members_space(*at, end);
    return 1;
}

/* The value at *at, which is behind it afterwards. */
static bool members_value(const char **at, const char *end, const char **raw, size_t *len)
{
    *at = members_space(*at, end);
    *raw = *at;
    *len = laz_json_value_span(*at, (size_t)(end - *at));
    *at += *len;
    return *len > 0;
}

/* The key at *at and its colon. */
static bool members_key(const char **at, const char *end, struct laz_json_found *found)
{
    const char *raw;
    size_t len;

    if (*at == end || **at != '"' || !members_value(at, end, &raw, &len))
        return false;
    found->key = raw + 1;
    found->key_len = len - 2;
    *at = members_space(*at, end);
    return *at < end && *(*at)++ == ':';
}

bool laz_json_find_members(const char *text, size_t len, struct laz_json_found *found, size_t max,
                           size_t *n)
{
    const char *end = text + len, *at = members_space(text, end);
    int more = 1;

    *n = 0;
    if (at == end || *at++ != '{')
        return false;
    at = members_space(at, end);
    if (at < end && *at == '}') {
        at++;
        more = 0;
    }
    while (more > 0) {
        struct laz_json_found one;
        if (!members_key(&at, end, &one) || !members_value(&at, end, &one.raw, &one.len))
            return false;
        if (*n < max)
            found[*n] = one;
        ++*n;
        more = members_after(&at, end, '}');
    }
    return more == 0 && members_space(at, end) == end;
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

struct laz_json_items laz_json_items(const char *text, size_t len)
{
    struct laz_json_items items = {text, text + len, false};

    items.at = members_space(items.at, items.end);
    if (items.at == items.end || *items.at++ != '[')
        return (struct laz_json_items){.failed = true};
    items.at = members_space(items.at, items.end);
    if (items.at < items.end && *items.at == ']')
        items.at = NULL;
    return items;
}

bool laz_json_next_item(struct laz_json_items *items, const char **raw, size_t *len)
{
    if (!items->at)
        return false;
    int more = members_value(&items->at, items->end, raw, len)
                   ? members_after(&items->at, items->end, ']')
                   : -1;
    items->failed = more < 0;
    if (more < 1)
        items->at = NULL;
    return more >= 0;
}
