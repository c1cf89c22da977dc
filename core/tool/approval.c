/* SPDX-License-Identifier: MIT */
/* approval.c - which calls need a yes of the host, and who is asked.
 *
 * The question is a call of its own, of a tool that only the host can call: `approver` of struct
 * laz_tools.  So it waits, times out, is cancelled and answered like any other call.
 * Side: host.  Input trusted: no (arguments come from the sandbox; tool_arguments.c checked them).
 * What cannot be compared with a pattern matches it: in doubt somebody is asked. */
#include "tool/tool_parts.h"

#include "base/glob.h"
#include "base/json.h"
#include "settings/settings.h"
#include "settings/toml/toml.h"

#include <stdlib.h>
#include <string.h>

/* One [[approve]] table. */
struct laz_approval_rule {
    char *tool;                    /* a pattern */
    struct laz_strv names, values; /* of `when`: parameters, and a pattern for each */
};

/* ---- rules ---------------------------------------------------------------------------------- */

static int approvals_take(struct laz_approval_rule *rule, const struct laz_toml_node *table,
                          struct laz_error *err)
{
    const struct laz_toml_node *when = laz_toml_get(table, "when");

    rule->tool = laz_strdup(laz_toml_get(table, "tool")->text);
    for (const struct laz_toml_node *item = when ? when->first : NULL; item; item = item->next) {
        laz_strv_add(&rule->names, item->key);
        laz_strv_add(&rule->values, item->text);
    }
    return rule->tool && !rule->names.failed && !rule->values.failed ? 0 : laz_error_nomem(err);
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
        free(tools->rules[i].tool);
        laz_strv_fini(&tools->rules[i].names);
        laz_strv_fini(&tools->rules[i].values);
    }
    free(tools->rules);
    tools->rules = NULL;
    tools->n_rules = 0;
    laz_tool_set_fini(&tools->approver);
}

/* ---- is it needed? -------------------------------------------------------------------------- */

/* Does a value, or any item of a list, match? */
static bool approval_value_matches(const char *pattern, const char *raw, size_t len)
{
    struct laz_json_items items;
    const char *item;
    size_t n;

    if (raw[0] == '"') {
        char *text = laz_json_to_string(raw, len, &n);
        const bool matches = !text || laz_glob(pattern, text, n);
        free(text);
        return matches;
    }
    if (raw[0] == '{') /* bytes, tables: they hide their text */
        return true;
    if (raw[0] != '[')
        return laz_glob(pattern, raw, len);
    items = laz_json_items(raw, len);
    while (laz_json_next_item(&items, &item, &n))
        if (approval_value_matches(pattern, item, n))
            return true;
    return false;
}

static bool approval_declares(const struct laz_tool_entry *entry, const char *name)
{
    for (size_t i = 0; i < entry->n_parameters; i++)
        if (strcmp(entry->parameters[i].name, name) == 0)
            return true;
    return false;
}

/* Which calls of the tool does a rule name? All, unless it looks at a parameter of the tool. */
static enum laz_approval rule_names(const struct laz_approval_rule *rule,
                                    const struct laz_tool_entry *entry)
{
    if (!laz_glob(rule->tool, entry->name, strlen(entry->name)))
        return LAZ_APPROVAL_NEVER;
    for (size_t i = 0; i < rule->names.n; i++)
        if (approval_declares(entry, rule->names.items[i]))
            return LAZ_APPROVAL_SOME;
    return LAZ_APPROVAL_ALWAYS;
}

void laz_approval_mark(const struct laz_tools *tools, struct laz_tool_entry *entry)
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
    for (size_t i = 0; i < rule->names.n; i++) {
        if (!approval_declares(entry, rule->names.items[i]))
            continue; /* a name that is misspelt must not let calls pass */
        if (!laz_json_member(args, len, rule->names.items[i], &raw, &n) ||
            !approval_value_matches(rule->values.items[i], raw, n))
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
                                  const char *args, size_t len, int64_t id, bool has_id,
                                  const struct laz_call_owner *owner)
{
    struct laz_call_owner asking = *owner;
    struct laz_buf copy = LAZ_BUF_INIT;
    struct laz_call *call = NULL;

    asking.caller.tool = entry->name;
    laz_buf_append(&copy, args, len);
    if (!copy.failed)
        call = laz_call_start(tools, &tools->approver, 0, &copy, id, has_id, &asking);
    laz_buf_fini(&copy);
    return call;
}
