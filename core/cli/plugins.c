/* SPDX-License-Identifier: MIT */
/* plugins.c - lists the installed plugins: one line for each, one in full, or all as JSON.
 *
 * An unusable plugin is shown with the reason, because that is what users look for here. */
#include "cli/cli.h"

#include "base/enforce.h"
#include "base/limits.h"
#include "plan/plan.h"
#include "settings/toml/toml.h"
#include "os/system.h"

#include <stdio.h>
#include <string.h>

struct plugins_list {
    struct cli *cli;
    const char *only; /* a name, or NULL */
    size_t found;
    struct cli_answer answer; /* with --json */
};

/* Facts about a loaded plugin or a runtime, which the host never loads. */
struct plugins_facts {
    const char *kind, *name, *version, *summary;
    const struct laz_option *options;
    const struct laz_backend_ops *backend;
};

static struct plugins_facts plugins_facts(const struct laz_plugin_entry *entry)
{
    const struct laz_plugin *plugin = entry->plugin;
    const struct laz_runtime_info *runtime = entry->runtime;
    bool backend = plugin && plugin->kind == LAZ_PLUGIN_BACKEND;

    if (runtime)
        return (struct plugins_facts){"runtime",        runtime->name,    runtime->version,
                                      runtime->summary, runtime->options, NULL};
    if (plugin)
        return (struct plugins_facts){backend                              ? "backend"
                                      : plugin->kind == LAZ_PLUGIN_CARRIER ? "carrier"
                                                                           : "tool",
                                      plugin->name,
                                      plugin->version,
                                      plugin->summary,
                                      plugin->options,
                                      backend ? plugin->ops : NULL};
    return (struct plugins_facts){"?", entry->name, "", "", NULL, NULL};
}

static const char *plugins_option_type(uint32_t type)
{
    static const char *const names[] = {
        [LAZ_OPT_STRING] = "string",
        [LAZ_OPT_INTEGER] = "integer",
        [LAZ_OPT_BOOLEAN] = "boolean",
        [LAZ_OPT_SIZE] = "size",
        [LAZ_OPT_TIME] = "time",
        [LAZ_OPT_STRINGS] = "list of strings",
        [LAZ_OPT_PATHS] = "list of paths",
        [LAZ_OPT_TABLES] = "list of tables",
        [LAZ_OPT_PARAMETERS] = "parameters",
        [LAZ_OPT_TEXTS] = "table of strings",
        [LAZ_OPT_PATH] = "path",
        [LAZ_OPT_ANY] = "any value",
    };

    return type && type < sizeof names / sizeof *names ? names[type] : "?";
}

static void plugins_line(void *user, const struct laz_plugin_entry *entry)
{
    struct plugins_list *list = user;
    struct plugins_facts facts = plugins_facts(entry);

    list->found++;
    if (entry->problem)
        cli_printf(list->cli, "%-8s %-10s cannot be used: %s\n", facts.kind, facts.name,
                   entry->problem);
    else
        cli_printf(list->cli, "%-8s %-10s %-8s %s\n", facts.kind, facts.name, facts.version,
                   facts.summary);
}

/* The limits that the host keeps by itself, whatever the backend can. */
static void plugins_report_kept_by_host(struct cli *cli)
{
    static const struct {
        uint32_t kept_by;
        const char *how;
    } rows[] = {
        {LAZ_LIMIT_BY_GROUP | LAZ_LIMIT_BY_WATCHDOG, "a control group or a watchdog"},
        {LAZ_LIMIT_BY_GROUP, "a control group"},
    };

    cli_puts(cli, "by the host:");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t k = 0; k < LAZ_N_LIMITS; k++)
            if (laz_limit_table[k].kept_by == rows[i].kept_by)
                cli_printf(cli, " %s", laz_limit_table[k].name);
        cli_printf(cli, " (%s)%s", rows[i].how, i + 1 < sizeof rows / sizeof *rows ? "," : "\n");
    }
}

static void plugins_report_enforced(struct cli *cli, const struct laz_backend_ops *ops)
{
    bool any = false;

    cli_puts(cli, "can enforce:");
    for (uint32_t bit = 1; laz_enforce_name(bit); bit <<= 1)
        if (ops->can_enforce & bit) {
            cli_printf(cli, " %s", laz_enforce_name(bit));
            any = true;
        }
    cli_puts(cli, any ? "\n" : " nothing\n");
    if (laz_backend_is_for(ops, laz_os_platform()))
        plugins_report_kept_by_host(cli);
}

static void plugins_report_options(struct cli *cli, const struct laz_option *options)
{
    if (!options || !options->key) {
        cli_puts(cli, "options:     none\n");
        return;
    }
    cli_puts(cli, "options:\n");
    for (; options->key; options++) {
        const struct {
            const char *before, *text;
        } facts[] = {
            {", default ", options->default_value},
            {", from ", options->min},
            {options->min ? " to " : ", at most ", options->max},
            {", one of ", options->one_of},
        };
        cli_printf(cli, "  %s (%s%s%s", options->key, plugins_option_type(options->type),
                   options->flags & LAZ_OPT_SECRET ? ", secret" : "",
                   options->default_value ? "" : ", must be given");
        for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
            if (facts[i].text && *facts[i].text)
                cli_printf(cli, "%s%s", facts[i].before, facts[i].text);
        cli_printf(cli, ")\n      %s\n", options->help ? options->help : "");
    }
}

static void plugins_report(void *user, const struct laz_plugin_entry *entry)
{
    struct plugins_list *list = user;
    struct plugins_facts facts = plugins_facts(entry);
    struct cli *cli = list->cli;

    if (strcmp(facts.name, list->only) != 0)
        return;
    if (list->found++)
        cli_puts(cli, "\n");
    cli_printf(cli, "%s %s %s\n", facts.kind, facts.name, facts.version);
    if (*facts.summary)
        cli_printf(cli, "summary:     %s\n", facts.summary);
    cli_printf(cli, "file:        %s\n", entry->file);
    if (entry->problem) {
        cli_printf(cli, "cannot be used: %s\n", entry->problem);
        return;
    }
    if (entry->plugin)
        cli_printf(cli, "ABI:         %u.%u\n", entry->plugin->abi_major, entry->plugin->abi_minor);
    if (facts.backend) {
        cli_printf(cli, "systems:     %s\n", facts.backend->platforms);
        plugins_report_enforced(cli, facts.backend);
    }
    plugins_report_options(cli, facts.options);
}

/* What an option declares is text in TOML notation; NULL, "": nothing. */
static void plugins_json_declared(struct laz_json_write *write, const char *key, const char *text)
{
    struct laz_toml *toml = NULL;

    if (text && *text && laz_toml_parse_pair(key, text, key, &toml, NULL) == 0)
        laz_toml_json(write, key, toml->root->first);
    else
        laz_json_add_null(write, key);
    laz_toml_free(toml);
}

static void plugins_json_options(struct laz_json_write *write, const struct laz_option *option)
{
    laz_json_begin_list(write, "options");
    for (; option && option->key; option++) {
        laz_json_begin_object(write, NULL);
        laz_json_add_text(write, "key", option->key);
        laz_json_add_text(write, "type", plugins_option_type(option->type));
        plugins_json_declared(write, "default", option->default_value);
        laz_json_add_bool(write, "required", !option->default_value);
        laz_json_add_text(write, "help", option->help);
        laz_json_add_bool(write, "secret", (option->flags & LAZ_OPT_SECRET) != 0);
        plugins_json_declared(write, "min", option->min);
        plugins_json_declared(write, "max", option->max);
        plugins_json_declared(write, "one_of", option->one_of);
        laz_json_end_object(write);
    }
    laz_json_end_list(write);
}

static void plugins_json(void *user, const struct laz_plugin_entry *entry)
{
    struct plugins_list *list = user;
    struct plugins_facts facts = plugins_facts(entry);
    struct laz_json_write *write = &list->answer.write;
    char abi[32];

    if (list->only && strcmp(facts.name, list->only) != 0)
        return;
    list->found++;
    laz_json_new_line(write);
    laz_json_begin_object(write, NULL);
    laz_json_add_text(write, "kind", facts.kind);
    laz_json_add_text(write, "name", facts.name);
    laz_json_add_text(write, "version", facts.version);
    laz_json_add_text(write, "summary", facts.summary);
    laz_json_add_text(write, "file", entry->file);
    laz_json_add_text(write, "problem", entry->problem);
    if (entry->plugin) {
        snprintf(abi, sizeof abi, "%u.%u", entry->plugin->abi_major, entry->plugin->abi_minor);
        laz_json_add_text(write, "abi", abi);
    }
    if (facts.backend) {
        laz_json_add_text(write, "platforms", facts.backend->platforms);
        laz_enforce_json(write, "can_enforce", facts.backend->can_enforce);
    }
    plugins_json_options(write, facts.options);
    laz_json_end_object(write);
}

int cli_plugins(struct cli *cli)
{
    struct plugins_list list = {.cli = cli};
    struct laz_registry *registry = NULL;
    const bool is_new = cli->n_operands && strcmp(cli->operands[0], "new") == 0;

    if (is_new)
        return cli_skeleton(cli);
    if (cli->kind || cli->n_operands > 1)
        return cli_problem(cli, "plugins: %s is for lazaret plugins new NAME",
                           cli->kind ? "--kind" : cli->operands[1]);
    int status = cli_registry(cli, false, &registry);
    if (status)
        return status;
    if (cli->n_operands)
        list.only = cli->operands[0];
    cli_answer_begin(&list.answer, true);
    laz_json_begin_list(&list.answer.write, "plugins");
    laz_registry_visit(registry,
                       cli->json   ? plugins_json
                       : list.only ? plugins_report
                                   : plugins_line,
                       &list);
    laz_json_end_list(&list.answer.write);
    if (list.only && !list.found) {
        status = cli_problem(
            cli, "no plugin named %s is installed; lazaret plugins lists those that are",
            list.only);
    } else if (cli->json) {
        status = cli_answer_end(cli, &list.answer, CLI_OK);
    }
    laz_buf_fini(&list.answer.json);
    laz_registry_free(registry);
    return status;
}
