/* SPDX-License-Identifier: MIT */
/* approval_check.c - whether the [[approve]] tables mean tools that there are: a rule with a name
 * that is misspelt would let every call pass.
 *
 * Tools come from providers, some of which have to ask for theirs, from the application, and with
 * sessions; so a rule is right once it has met a tool (laz_approval_mark), and it is looked at
 * again with each session until then.  Only a name that is close to another one is surely a mistake
 * while there may be more tools. Side: host.  Input trusted: yes (what configuration, plugins and
 * application declare). */
#include "tool/tool_private.h"

#include "base/glob.h"
#include "base/nearest.h"
#include "settings/settings.h"

#include <string.h>

/* The tools that there are. */
struct rule_check {
    struct laz_tools *tools;
    const struct laz_tool_set *sets[2];
    const struct laz_settings_values *values;
    bool are_known; /* each provider has been asked */
    bool are_all;   /* and there are no others */
    struct laz_error *err;
};

/* The closest name of a tool; or, of tools that `tool` names, of a parameter. NULL: none is close.
 */
static const char *check_nearest(const struct rule_check *check, const char *typed,
                                 const char *tool)
{
    struct laz_nearest nearest;

    laz_nearest_init(&nearest, typed);
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; check->sets[k] && i < check->sets[k]->n; i++) {
            const struct laz_tool_entry *entry = &check->sets[k]->entries[i];
            if (!tool)
                laz_nearest_try(&nearest, entry->name);
            else if (laz_glob(tool, entry->name, strlen(entry->name)))
                for (size_t j = 0; j < entry->n_parameters; j++)
                    laz_nearest_try(&nearest, entry->parameters[j].name);
        }
    return laz_nearest_best(&nearest);
}

static void check_log(const struct rule_check *check, uint32_t level, bool *is_told,
                      const struct laz_error *what)
{
    if (!*is_told)
        laz_log(&check->tools->driver->log, level, "%s", what->text);
    *is_told = true;
}

/* Something that a rule names is not there: `what` says so. */
static int check_missing(const struct rule_check *check, bool is_error, const char *near,
                         bool *is_told, struct laz_error *what)
{
    if (near) {
        const struct laz_error text = *what;
        laz_error_set(what, LAZ_ECONFIG, 0, "%s; did you mean '%s'?", text.text, near);
    }
    if (!is_error) {
        check_log(check, LAZ_LOG_WARNING, is_told, what);
        return 0;
    }
    what->code = LAZ_ECONFIG;
    int rc = laz_settings_wrong(check->values, NULL, NULL, LAZ_ECONFIG, what);
    if (rc && check->err)
        *check->err = *what;
    return rc;
}

static int check_tool(const struct rule_check *check, struct laz_approval_rule *rule)
{
    const bool is_pattern = strpbrk(rule->tool, "*?") != NULL;
    struct laz_error what = {0};

    if (!check->are_known)
        return 0;
    const char *near = is_pattern ? NULL : check_nearest(check, rule->tool, NULL);
    laz_error_set(&what, LAZ_ECONFIG, 0, "%s: approve.tool: %s '%s'", rule->position,
                  is_pattern ? "no tool now has a name like" : "there is no tool", rule->tool);
    return check_missing(check, !is_pattern && (near || check->are_all), near, &rule->is_told,
                         &what);
}

/* A tool that the rule names is there, so its parameters are known; those of others that a pattern
 * may name are not. */
static int check_when(const struct rule_check *check, const struct laz_approval_rule *rule,
                      struct laz_approval_when *when)
{
    const bool is_pattern = strpbrk(rule->tool, "*?") != NULL;
    struct laz_error what = {0};

    if (is_pattern && !check->are_known)
        return 0;
    const char *near = check_nearest(check, when->parameter, rule->tool);
    laz_error_set(&what, LAZ_ECONFIG, 0, "%s: approve.when: %s '%s' has no parameter '%s'",
                  when->position, is_pattern ? "no tool like" : "the tool", rule->tool,
                  when->parameter);
    return check_missing(check, !is_pattern || near || check->are_all, near, &when->is_told, &what);
}

/* Where settings are checked it is a warning: a rule may well mean the text. */
static void check_path(const struct rule_check *check, struct laz_approval_when *when)
{
    struct laz_error what = {0};

    laz_error_set(&what, LAZ_ECONFIG, 0,
                  "%s: approve.when: '%s' is compared with the text of '%s', which has other ways "
                  "to write a path (\"//etc\", \"/tmp/../etc\"); declare the parameter with "
                  "format = \"path\"",
                  when->position, when->pattern, when->parameter);
    check_log(check, check->values->mistakes ? LAZ_LOG_WARNING : LAZ_LOG_INFO, &when->is_told,
              &what);
}

int laz_approvals_check(struct laz_tools *tools, const struct laz_tool_set *own,
                        const struct laz_settings_values *values, struct laz_error *err)
{
    struct rule_check check = {
        .tools = tools, .sets = {&tools->set, own}, .values = values, .err = err};
    int rc = 0;

    /* of what is wrong with a declaration, the mistakes tell */
    check.are_known = laz_tools_are_prepared(tools) && !(values->mistakes && tools->are_fewer);
    check.are_all = tools->are_all && tools->n_providers && !tools->are_fewer;
    for (size_t i = 0; i < tools->n_rules && !rc; i++) {
        struct laz_approval_rule *rule = &tools->rules[i];
        if (!rule->is_met)
            rc = check_tool(&check, rule);
        for (size_t k = 0; rule->is_met && k < rule->n_when && !rc; k++) {
            struct laz_approval_when *when = &rule->when[k];
            if (!when->is_met)
                rc = check_when(&check, rule, when);
            else if (when->is_text && when->pattern[0] == '/')
                check_path(&check, when);
        }
    }
    return rc;
}
