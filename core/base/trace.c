/* SPDX-License-Identifier: MIT */
/* trace.c - checks the two headers of W3C Trace Context, levels 1 and 2. */
#include "base/trace.h"

#include "base/options.h"

#include <stdio.h>
#include <string.h>

#define TRACE_MEMBERS 32  /* of a state */
#define TRACE_KEY     256 /* bytes of a key, and of a value, of one */

/* ---- traceparent ----------------------------------------------------------------------------- */

static bool trace_is_hex(const char *text, size_t len)
{
    return strspn(text, "0123456789abcdef") >= len;
}

static bool trace_is_zero(const char *text, size_t len)
{
    return strspn(text, "0") >= len;
}

/* version-trace-parent-flags; a later version may have more behind them. */
bool laz_trace_parent_is_valid(const char *parent)
{
    const size_t len = strlen(parent);

    if (len < 55 || len > LAZ_TRACE_PARENT_MAX || parent[2] != '-' || parent[35] != '-' ||
        parent[52] != '-')
        return false;
    if (!trace_is_hex(parent, 2) || !trace_is_hex(parent + 3, 32) ||
        !trace_is_hex(parent + 36, 16) || !trace_is_hex(parent + 53, 2))
        return false;
    if (trace_is_zero(parent + 3, 32) || trace_is_zero(parent + 36, 16) ||
        strncmp(parent, "ff", 2) == 0)
        return false;
    if (len == 55)
        return true;
    if (parent[55] != '-' || trace_is_zero(parent, 2))
        return false;
    for (const char *c = parent + 55; *c; c++)
        if (*c < 0x21 || *c > 0x7e)
            return false;
    return true;
}

/* ---- tracestate ------------------------------------------------------------------------------ */

static bool trace_is_key(const char *key, size_t len)
{
    return len && len <= TRACE_KEY &&
           ((key[0] >= 'a' && key[0] <= 'z') || (key[0] >= '0' && key[0] <= '9')) &&
           strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789_-*/@") >= len;
}

static bool trace_is_value(const char *value, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (value[i] < 0x20 || value[i] > 0x7e || value[i] == '=')
            return false;
    return len && len <= TRACE_KEY && value[len - 1] != ' ';
}

static bool trace_is_member(const char *member, size_t len)
{
    const char *equals = memchr(member, '=', len);
    const size_t key = equals ? (size_t)(equals - member) : 0;

    return equals && trace_is_key(member, key) && trace_is_value(equals + 1, len - key - 1);
}

/* key=value, members with commas and blanks between them, some of which may be empty. */
bool laz_trace_state_is_valid(const char *state)
{
    unsigned members = 0;

    if (strlen(state) > LAZ_TRACE_STATE_MAX)
        return false;
    for (const char *at = state;; at++) {
        at += strspn(at, " \t");
        size_t len = strcspn(at, ",");
        const char *end = at + len;
        while (len && (at[len - 1] == ' ' || at[len - 1] == '\t'))
            len--;
        if (len && (!trace_is_member(at, len) || ++members > TRACE_MEMBERS))
            return false;
        if (!*end)
            return members > 0;
        at = end;
    }
}

/* ---- traces of an application ---------------------------------------------------------------- */

int laz_trace_check(const struct laz_trace *given, struct laz_error *err)
{
    struct laz_trace trace;

    if (!given)
        return 0;
    int rc = LAZ_OPTIONS_TAKE(&trace, given, laz_trace, err);
    if (!rc && (!trace.parent || !laz_trace_parent_is_valid(trace.parent)))
        rc = laz_error_set(err, LAZ_EINVAL, 0, "'traceparent' is not as W3C Trace Context has it");
    if (!rc && trace.state && !laz_trace_state_is_valid(trace.state))
        rc = laz_error_set(err, LAZ_EINVAL, 0, "'tracestate' is not as W3C Trace Context has it");
    return rc;
}

void laz_trace_take(struct laz_trace_copy *copy, const struct laz_trace *given)
{
    struct laz_trace trace = {0};

    *copy = (struct laz_trace_copy){0};
    if (!given || LAZ_OPTIONS_TAKE(&trace, given, laz_trace, NULL) != 0 || !trace.parent)
        return;
    snprintf(copy->parent, sizeof copy->parent, "%s", trace.parent);
    snprintf(copy->state, sizeof copy->state, "%s", trace.state ? trace.state : "");
    copy->trace = (struct laz_trace){
        .size = sizeof copy->trace,
        .parent = copy->parent,
        .state = *copy->state ? copy->state : NULL,
    };
}

const struct laz_trace *laz_trace_of(const struct laz_trace_copy *copy)
{
    return copy->trace.parent ? &copy->trace : NULL;
}
