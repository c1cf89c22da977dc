/* SPDX-License-Identifier: MIT */
/* approval.c - which calls need a yes of the host, and who is asked.
 *
 * Patterns are compared with values and not with notations: 5.0 is 5, and //etc is /etc where a
 * parameter is declared as a path.
 * The question is a call of its own, of a tool that only the host can call: `approver` of struct
 * laz_tools.  So it waits, times out, is cancelled and answered like any other call.
 * Side: host.  Input trusted: no (arguments come from the sandbox; tool_arguments.c checked them).
 * What cannot be compared with a pattern matches it: in doubt somebody is asked. */
#include "tool/tool_private.h"

#include "base/glob.h"
#include "base/json.h"
#include "base/path.h"
#include "settings/settings.h"
#include "settings/toml/toml.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define APPROVAL_NUMBER 5000 /* digits of a number that is compared */

/* ---- rules ---------------------------------------------------------------------------------- */

static int approvals_take(struct laz_approval_rule *rule, const struct laz_toml_node *table,
                          struct laz_error *err)
{
    const struct laz_toml_node *tool = laz_toml_get(table, "tool");
    const struct laz_toml_node *when = laz_toml_get(table, "when");
    bool well = true;

    rule->tool = laz_strdup(tool->text);
    rule->position = laz_settings_position(tool);
    rule->when = calloc(when ? when->n + 1 : 1, sizeof *rule->when);
    if (!rule->when)
        return laz_error_nomem(err);
    for (const struct laz_toml_node *item = when ? when->first : NULL; item; item = item->next) {
        struct laz_approval_when *taken = &rule->when[rule->n_when++];
        taken->parameter = laz_strdup(item->key);
        taken->pattern = laz_strdup(item->text);
        taken->position = laz_settings_position(item);
        well &= taken->parameter && taken->pattern && taken->position;
    }
    return well && rule->tool && rule->position ? 0 : laz_error_nomem(err);
}

int laz_approvals_init(struct laz_tools *tools, const struct laz_settings *settings,
                       struct laz_error *err)
{
    const struct laz_toml_node *list = laz_settings_approve(settings);
    const struct laz_toml_node *table = list ? list->first : NULL;
    int rc = 0;

    tools->approval_timeout_ms = laz_settings_values(settings)->session.approval_timeout_ms;
    if (table && !(tools->rules = calloc(list->n, sizeof *tools->rules)))
        return laz_error_nomem(err);
    for (; table && !rc; table = table->next)
        rc = approvals_take(&tools->rules[tools->n_rules++], table, err);
    return rc;
}

void laz_approvals_fini(struct laz_tools *tools)
{
    for (size_t i = 0; i < tools->n_rules; i++) {
        struct laz_approval_rule *rule = &tools->rules[i];
        for (size_t k = 0; k < rule->n_when; k++) {
            free(rule->when[k].parameter);
            free(rule->when[k].pattern);
            free(rule->when[k].position);
        }
        free(rule->when);
        free(rule->tool);
        free(rule->position);
    }
    free(tools->rules);
    tools->rules = NULL;
    tools->n_rules = 0;
    laz_tool_set_fini(&tools->approver);
}

/* ---- values and patterns -------------------------------------------------------------------- */

/* The number that a text stands for, as a tool may read it: with white space, a sign, zeros before
 * it. NAN: it is too long to say. False: it is none. */
static bool approval_number(const char *text, size_t len, double *value)
{
    while (len && strchr(" \t\r\n", *text))
        text++, len--;
    const bool is_negative = len && *text == '-', has_sign = is_negative || (len && *text == '+');
    text += has_sign;
    len -= has_sign;
    while (len > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9')
        text++, len--;
    if (!len || *text < '0' || *text > '9')
        return false;
    *value = NAN;
    if (len > APPROVAL_NUMBER)
        return true;
    if (laz_json_scan(text, len, NULL) != 0 || !laz_json_to_double(text, len, value))
        return false;
    *value = is_negative ? -*value : *value;
    return true;
}

/* A pattern with '*' or '?' is compared with a number as it is written, and as it is written
 * without an exponent and needless zeros: as it is, and as a double, which a tool may make of it.
 */
static bool approval_number_text_matches(const char *pattern, const char *raw, size_t len,
                                         double value)
{
    struct laz_buf plain = LAZ_BUF_INIT, rounded = LAZ_BUF_INIT;
    bool matches = laz_glob(pattern, raw, len);

    if (!matches)
        matches = !laz_json_format_plain(&plain, laz_json_digits(raw, len)) ||
                  laz_glob(pattern, laz_buf_text(&plain), plain.len);
    if (!matches && isfinite(value)) {
        laz_json_format_double(&rounded, value, false);
        laz_buf_clear(&plain);
        matches =
            rounded.failed ||
            !laz_json_format_plain(&plain, laz_json_digits(laz_buf_text(&rounded), rounded.len)) ||
            laz_glob(pattern, laz_buf_text(&plain), plain.len);
    }
    laz_buf_fini(&plain);
    laz_buf_fini(&rounded);
    return matches;
}

/* A number as a pattern stands for that number in any notation. Doubles are compared, because a
 * tool may get 5 where the text is 5.0000000000000000001. */
static bool approval_number_matches(const char *pattern, const char *raw, size_t len)
{
    double value, wanted;

    if (!approval_number(raw, len, &value))
        return true;
    if (!approval_number(pattern, strlen(pattern), &wanted))
        return approval_number_text_matches(pattern, raw, len, value);
    return isnan(value) || isnan(wanted) || value == wanted;
}

/* A path is compared as it is written and without "//" and "."; a directory is among its files.
 * Where a relative one leads, and one with "..", only the tool knows. */
static bool approval_path_matches(const char *pattern, const char *text, size_t len)
{
    struct laz_buf path = LAZ_BUF_INIT;
    bool matches = laz_glob(pattern, text, len) || !laz_path_simplify(text, len, &path) ||
                   laz_glob(pattern, laz_buf_text(&path), path.len);

    laz_buf_putc(&path, '/');
    matches = matches || path.failed || laz_glob(pattern, laz_buf_text(&path), path.len);
    laz_buf_fini(&path);
    return matches;
}

/* In a parameter without a type a text may stand for a number. One with a zero byte may be another
 * text for the tool, which may read it up to there. */
static bool approval_text_matches(const char *pattern, const struct laz_tool_parameter *parameter,
                                  const char *text, size_t len)
{
    double value, wanted;

    if (memchr(text, '\0', len))
        return true;
    if (parameter->is_path)
        return approval_path_matches(pattern, text, len);
    if (laz_glob(pattern, text, len))
        return true;
    return parameter->type != LAZ_TYPE_STRING && approval_number(text, len, &value) &&
           approval_number(pattern, strlen(pattern), &wanted) &&
           (isnan(value) || isnan(wanted) || value == wanted);
}

/* Does a value, or any item of a list, match? */
static bool approval_value_matches(const char *pattern, const struct laz_tool_parameter *parameter,
                                   const char *raw, size_t len)
{
    struct laz_json_items items;
    const char *item;
    char *text;
    size_t n;
    bool matches;

    if (raw[0] == '[') {
        items = laz_json_items(raw, len);
        while (laz_json_next_item(&items, &item, &n))
            if (approval_value_matches(pattern, parameter, item, n))
                return true;
        return false;
    }
    if (raw[0] == '"') {
        text = laz_json_to_string(raw, len, &n);
        matches = !text || approval_text_matches(pattern, parameter, text, n);
        free(text);
        return matches;
    }
    if (parameter->is_path)
        return true;
    if (raw[0] == '{') { /* all but integers hide their text: bytes, tables */
        text = laz_tool_integer_text(raw, len, &n);
        matches = !text || approval_number_matches(pattern, text, n);
        free(text);
        return matches;
    }
    return raw[0] == '-' || (raw[0] >= '0' && raw[0] <= '9')
               ? approval_number_matches(pattern, raw, len)
               : laz_glob(pattern, raw, len);
}

/* ---- is it needed? -------------------------------------------------------------------------- */

static const struct laz_tool_parameter *approval_parameter(const struct laz_tool_entry *entry,
                                                           const char *name)
{
    for (size_t i = 0; i < entry->n_parameters; i++)
        if (strcmp(entry->parameters[i].name, name) == 0)
            return &entry->parameters[i];
    return NULL;
}

/* Which calls of the tool does a rule name? All, unless it looks at a parameter of the tool. */
static enum laz_approval rule_names(struct laz_approval_rule *rule,
                                    const struct laz_tool_entry *entry)
{
    enum laz_approval named = LAZ_APPROVAL_ALWAYS;

    if (!laz_glob(rule->tool, entry->name, strlen(entry->name)))
        return LAZ_APPROVAL_NEVER;
    rule->is_met = true;
    for (size_t i = 0; i < rule->n_when; i++) {
        struct laz_approval_when *when = &rule->when[i];
        const struct laz_tool_parameter *parameter = approval_parameter(entry, when->parameter);
        if (!parameter)
            continue;
        when->is_met = true;
        when->is_text |= parameter->type == LAZ_TYPE_STRING && !parameter->is_path;
        named = LAZ_APPROVAL_SOME;
    }
    return named;
}

void laz_approval_mark(struct laz_tools *tools, struct laz_tool_entry *entry)
{
    for (size_t i = 0; i < tools->n_rules; i++) {
        const enum laz_approval named = rule_names(&tools->rules[i], entry);
        if (named > entry->approval)
            entry->approval = named;
    }
}

static bool rule_applies(const struct laz_approval_rule *rule, const struct laz_tool_entry *entry,
                         const char *args, size_t len)
{
    const char *raw;
    size_t n;

    if (!laz_glob(rule->tool, entry->name, strlen(entry->name)))
        return false;
    for (size_t i = 0; i < rule->n_when; i++) {
        const struct laz_approval_when *when = &rule->when[i];
        const struct laz_tool_parameter *parameter = approval_parameter(entry, when->parameter);
        if (!parameter)
            continue; /* a name that is misspelt must not let calls pass */
        if (!laz_json_member(args, len, when->parameter, &raw, &n) ||
            !approval_value_matches(when->pattern, parameter, raw, n))
            return false;
    }
    return true;
}

bool laz_approval_is_needed(const struct laz_tools *tools, const struct laz_tool_entry *entry,
                            const char *args, size_t len)
{
    bool is_needed = entry->approval == LAZ_APPROVAL_ALWAYS;

    for (size_t i = 0; i < tools->n_rules && !is_needed; i++)
        is_needed = rule_applies(&tools->rules[i], entry, args, len);
    return is_needed;
}

/* ---- who is asked --------------------------------------------------------------------------- */

int laz_tools_set_approver(struct laz_tools *tools,
                           void (*decide)(void *user, const char *args, size_t args_len,
                                          struct laz_reply *reply),
                           void *user, struct laz_error *err)
{
    const struct laz_tool question = {
        .size = sizeof question,
        .name = "approval",
        .timeout_ms = (uint32_t)tools->approval_timeout_ms,
    };
    int rc =
        tools->approver.n ? 0 : laz_tool_set_add(&tools->approver, &question, NULL, NULL, 0, err);

    if (!rc) {
        tools->approver.entries[0].call = decide;
        tools->approver.entries[0].user = user;
    }
    return rc;
}

bool laz_tools_have_approver(const struct laz_tools *tools)
{
    return tools->approver.n && tools->approver.entries[0].call;
}

struct laz_call *laz_approval_ask(struct laz_tools *tools, const struct laz_tool_entry *entry,
                                  const char *args, size_t len, const struct laz_call_owner *owner)
{
    struct laz_call_owner asking = *owner;
    struct laz_buf copy = LAZ_BUF_INIT;
    struct laz_call *call = NULL;

    asking.caller.tool = entry->name;
    laz_buf_append(&copy, args, len);
    if (!copy.failed)
        call = laz_call_start(tools, &tools->approver, 0, &copy, &asking);
    laz_buf_fini(&copy);
    return call;
}
