/* SPDX-License-Identifier: MIT */
/* providers.c - the tool providers of an engine: one instance for each [[tools]] table.
 *
 * The address of an instance never changes: the plugin holds its table of services, through which
 * alone it reaches the host, and entries of the tool set point to it.  An error is reported with
 * its position in the configuration; an error of a tool with that of the table that has its name,
 * if there is one. */
#include "tool/tool_private.h"

#include "base/json.h"
#include "settings/settings.h"
#include "settings/toml/toml.h"
#include "tool/command.h"

#include <stdlib.h>
#include <string.h>

#define PROVIDERS_MAX_TOOLS 10000 /* of one instance */

/* ---- services; those of calls are in calls.c ------------------------------------------------ */

static void service_log(void *host, uint32_t level, const char *text)
{
    const struct laz_provider *provider = host;
    char *shown = laz_strdup(text);

    laz_tools_hide(provider->tools, shown);
    if (shown)
        laz_log(&provider->tools->driver->log, level, "%s: %s", provider->name, shown);
    free(shown);
}

static void service_prepared(void *host)
{
    struct laz_provider *provider = host;

    if (provider->list == LAZ_PROVIDER_ASKED)
        provider->list = LAZ_PROVIDER_PREPARED;
}

static int service_check_program(void *host, const char *path, struct laz_error *err)
{
    (void)host;
    return laz_command_check(path, err);
}

/* Without a loop the tools are only listed, and nothing can be watched. */
struct laz_watch {
    struct laz_io *io;       /* NULL if it watches a timer */
    struct laz_timer *timer; /* NULL if it watches a descriptor */
};

static void service_watch_stop(struct laz_watch *watch)
{
    if (!watch)
        return;
    laz_io_stop(watch->io);
    laz_timer_stop(watch->timer);
    free(watch);
}

static struct laz_watch *service_watch_fd(void *host, int fd, uint32_t events,
                                          void (*ready)(void *user, uint32_t events), void *user)
{
    struct laz_loop *loop = ((const struct laz_provider *)host)->tools->driver->loop;
    struct laz_watch *watch = loop ? calloc(1, sizeof *watch) : NULL;

    if (watch && !(watch->io = laz_io_start(loop, fd, events, ready, user))) {
        free(watch);
        watch = NULL;
    }
    return watch;
}

static struct laz_watch *service_watch_timer(void *host, uint64_t ms, void (*due)(void *user),
                                             void *user)
{
    struct laz_loop *loop = ((const struct laz_provider *)host)->tools->driver->loop;
    struct laz_watch *watch = loop ? calloc(1, sizeof *watch) : NULL;

    if (watch && !(watch->timer = laz_timer_new(loop, due, user))) {
        free(watch);
        watch = NULL;
    }
    if (watch)
        laz_timer_start(watch->timer, ms);
    return watch;
}

/* ---- positions in the configuration --------------------------------------------------------- */

/* Finds the table of a tool: an item of a list of tables in the provider's table, with the tool's
 * name; `skip`: behind so many others with that name. Returns the provider's table if there is
 * none. */
static const struct laz_toml_node *providers_tool_node(const struct laz_toml_node *table,
                                                       const char *tool, size_t skip)
{
    for (const struct laz_toml_node *list = table->first; list; list = list->next)
        for (const struct laz_toml_node *item = list->type == LAZ_TOML_ARRAY ? list->first : NULL;
             item; item = item->next) {
            const struct laz_toml_node *name = laz_toml_get(item, "name");
            if (name && name->type == LAZ_TOML_STRING && strcmp(name->text, tool) == 0 && !skip--)
                return item;
        }
    return table;
}

/* Puts "FILE:LINE:COL: " before the text; what the author of the file can mend is LAZ_ECONFIG. */
static int providers_locate(const struct laz_toml_node *node, int code, struct laz_error *err)
{
    laz_settings_locate(node, err);
    if (code == LAZ_EINVAL || code == LAZ_ENOENT || code == LAZ_EOS)
        code = LAZ_ECONFIG;
    if (err)
        err->code = code;
    return code;
}

/* The value that a provider finds fault with; its table where it is a default. */
static const struct laz_toml_node *providers_value(const struct laz_provider *provider,
                                                   const char *option, size_t item, const char *key)
{
    const struct laz_toml_node *value = laz_toml_get(provider->table, option);
    const struct laz_toml_node *node =
        value && value->type == LAZ_TOML_ARRAY && value->n ? value->first : value;

    while (node && node != value && item--)
        node = node->next;
    const struct laz_toml_node *inner = node && key ? laz_toml_get(node, key) : NULL;
    return inner ? inner : node ? node : provider->table;
}

static int service_mistake(void *host, const char *option, size_t item, const char *key,
                           struct laz_error *err)
{
    struct laz_provider *provider = host;

    if (!provider->table || !err)
        return err ? err->code : LAZ_EINVAL;
    laz_error_prefix(err, "provider %s: ", provider->name);
    int ret = providers_locate(providers_value(provider, option, item, key), err->code, err);
    ret = laz_settings_wrong(provider->values, NULL, NULL, ret, err);
    provider->is_located = ret != 0;
    return ret;
}

/* ---- an instance ---------------------------------------------------------------------------- */

/* Where the mistake is that `create` reports: a text that begins with "KEY: " is about that option.
 */
static const struct laz_toml_node *provider_blamed(const struct laz_toml_node *table,
                                                   const struct laz_error *err)
{
    const char *text = err ? err->text : "";
    const size_t len = strcspn(text, ":");

    for (const struct laz_toml_node *node = table->first; node && text[len]; node = node->next)
        if (node->key_len == len && memcmp(node->key, text, len) == 0)
            return node;
    return table;
}

static int provider_create(struct laz_provider *provider, const struct laz_plugin *plugin,
                           const struct laz_toml_node *table, struct laz_error *err)
{
    static const char *const ignore[] = {"provider", "where", NULL};
    const struct laz_toml_node *blamed;
    struct laz_buf options = LAZ_BUF_INIT;
    struct laz_secret filled = {0};
    size_t n = 0;
    int ret = laz_settings_check_options(table, plugin->options, "tools", ignore, &options, err);

    if (!ret)
        ret = laz_provider_secrets(provider, plugin->options, table, &n, err);
    if (!ret && n && laz_provider_reads(provider))
        ret = laz_provider_fill(provider, laz_buf_text(&options), options.len, n, &filled, err);
    if (ret)
        goto out;
    provider->table = table;
    ret = provider->ops->create(&provider->services,
                                filled.data ? filled.data : laz_buf_text(&options),
                                filled.data ? filled.len : options.len, &provider->state, err);
    provider->table = NULL;
    if (err)
        laz_tools_hide(provider->tools, err->text);
    if (!provider->is_located) {
        blamed = provider_blamed(table, err);
        ret = laz_plugin_said(ret, LAZ_PLUGIN_TOOL, plugin->name, "create", err);
        ret = ret ? providers_locate(blamed, ret, err) : 0;
    }
    provider->is_created = !ret;
    provider->list = ret ? LAZ_PROVIDER_LISTED : LAZ_PROVIDER_LATER; /* it has none */
out:
    laz_secret_fini(&filled);
    laz_buf_fini(&options);
    return ret;
}

/* Reports that a tool was refused. If its name is taken, the text names the provider that has it.
 */
static int provider_refused(const struct laz_tools *tools, const struct laz_tool *tool, size_t skip,
                            const struct laz_toml_node *table, int code, struct laz_error *err)
{
    if (!tool->name)
        return providers_locate(table, code, err);
    const struct laz_tool_entry *first =
        laz_tool_set_find(&tools->set, tool->name, strlen(tool->name));
    if (code == LAZ_EINVAL && first && err) {
        struct laz_error text = *err;
        laz_error_set(err, code, 0, "%s (the first is of provider %s)", text.text,
                      first->provider->name);
    }
    return providers_locate(providers_tool_node(table, tool->name, skip), code, err);
}

/* Tool number `i` of a list of plugins' structs. */
static const struct laz_tool *provider_tool(const struct laz_tool *list, size_t i)
{
    return (const struct laz_tool *)((const char *)list + i * list->size);
}

/* How many tools before number `i` have its name. */
static size_t provider_same_before(const struct laz_tool *list, size_t i)
{
    const char *name = provider_tool(list, i)->name;
    size_t n = 0;

    for (size_t k = 0; k < i && name; k++) {
        const char *other = provider_tool(list, k)->name;
        n += other && strcmp(other, name) == 0;
    }
    return n;
}

/* The list of its tools. A plugin's struct may be longer than ours, never shorter, since the ABI
 * begins with 1.0. */
static int provider_list(const struct laz_provider *provider, const struct laz_tool **list,
                         size_t *n, struct laz_error *err)
{
    int ret = provider->ops->list(provider->state, list, n, err);

    ret = laz_plugin_said(ret, LAZ_PLUGIN_TOOL, provider->name, "list", err);
    if (ret)
        return ret;
    if (*n > PROVIDERS_MAX_TOOLS ||
        (*n && (!*list || (*list)->size < offsetof(struct laz_tool, approve))))
        return laz_error_set(err, LAZ_EPLUGIN, 0, "provider %s: its list of tools is malformed",
                             provider->name);
    return 0;
}

static int provider_add_tool(struct laz_provider *provider, const struct laz_tool *tool, size_t i,
                             struct laz_error *err)
{
    struct laz_tools *tools = provider->tools;

    laz_found_change(tools->found);
    int ret = laz_tool_set_add(&tools->set, tool, &tools->spellings, provider, i, err);
    if (!ret)
        laz_approval_mark(tools, &tools->set.entries[tools->set.n - 1]);
    laz_found_leave(tools->found);
    return ret;
}

static int provider_add_tools(struct laz_provider *provider, const struct laz_toml_node *table,
                              struct laz_error *err)
{
    const struct laz_tool *list = NULL;
    size_t n = 0;
    int ret = provider_list(provider, &list, &n, err);

    if (ret)
        return providers_locate(table, ret, err);
    for (size_t i = 0; !ret && i < n; i++) {
        const struct laz_tool *tool = provider_tool(list, i);
        ret = provider_add_tool(provider, tool, i, err);
        if (ret)
            ret = provider_refused(provider->tools, tool, provider_same_before(list, i), table, ret,
                                   err);
        provider->tools->are_fewer |= ret != 0;
        ret = laz_settings_wrong(provider->values, NULL, NULL, ret, err);
    }
    provider->list = LAZ_PROVIDER_LISTED;
    return ret;
}

/* ---- providers that ask for their tools ------------------------------------------------------ */

static int provider_ask(struct laz_provider *provider, struct laz_error *err)
{
    provider->list = LAZ_PROVIDER_ASKED;
    int ret = provider->ops->prepare(provider->state, err);

    if (ret)
        provider->list = LAZ_PROVIDER_LATER;
    return laz_plugin_said(ret, LAZ_PLUGIN_TOOL, provider->name, "prepare", err);
}

/* Adds the tools that were told. What another process has chosen ends nothing here: a tool that
 * cannot be declared is left out. */
static int provider_take(struct laz_provider *provider, struct laz_error *err)
{
    const struct laz_log *log = &provider->tools->driver->log;
    const struct laz_tool *list = NULL;
    size_t n = 0;
    int ret = provider_list(provider, &list, &n, err);

    provider->list = ret ? LAZ_PROVIDER_LATER : LAZ_PROVIDER_LISTED;
    provider->tools->are_fewer |= !n;
    for (size_t i = 0; !ret && i < n; i++) {
        struct laz_error why = {0};
        ret = provider_add_tool(provider, provider_tool(list, i), i, &why);
        if (ret && ret != LAZ_ENOMEM) {
            laz_tools_hide(provider->tools, why.text);
            laz_log(log, LAZ_LOG_WARNING, "%s: provider %s: a tool is left out: %s",
                    provider->position, provider->name, why.text);
            ret = 0;
        } else if (ret && err) {
            *err = why;
        }
    }
    return ret;
}

bool laz_tools_are_prepared(const struct laz_tools *tools)
{
    for (size_t i = 0; i < tools->n_providers; i++)
        if (tools->providers[i]->list != LAZ_PROVIDER_LISTED)
            return false;
    return true;
}

static bool providers_await(const struct laz_tools *tools)
{
    for (size_t i = 0; i < tools->n_providers; i++)
        if (tools->providers[i]->list == LAZ_PROVIDER_ASKED)
            return true;
    return false;
}

int laz_tools_prepare(struct laz_tools *tools, struct laz_error *err)
{
    struct laz_driver *driver = tools->driver;
    struct laz_error why = {0};
    int ret = 0;

    for (size_t i = 0; i < tools->n_providers && !ret; i++) {
        struct laz_provider *provider = tools->providers[i];
        if (provider->list == LAZ_PROVIDER_LATER && (ret = provider_ask(provider, &why)))
            laz_error_prefix(&why, "%s: ", provider->position);
    }
    while (!ret && providers_await(tools)) {
        laz_loop_step(driver->loop, LAZ_LOOP_FOREVER);
        if (atomic_load(&driver->cancel))
            ret =
                laz_error_set(&why, LAZ_ECANCELLED, 0, "while servers were asked for their tools");
    }
    for (size_t i = 0; i < tools->n_providers && !ret; i++) {
        struct laz_provider *provider = tools->providers[i];
        if (provider->list == LAZ_PROVIDER_PREPARED && (ret = provider_take(provider, &why)))
            laz_error_prefix(&why, "%s: ", provider->position);
    }
    if (ret && ret != LAZ_ENOMEM && ret != LAZ_ECANCELLED)
        ret = laz_error_as(&why, LAZ_ESETUP);
    if (ret && err) {
        laz_tools_hide(tools, why.text);
        *err = why;
    }
    return ret;
}

void laz_tools_notices(const struct laz_tools *tools, struct laz_strv *lines)
{
    for (size_t i = 0; i < tools->n_providers; i++) {
        const struct laz_provider *provider = tools->providers[i];
        const char *line = provider->is_created && LAZ_HAS(provider->ops, notice)
                               ? provider->ops->notice(provider->state)
                               : NULL;
        if (line && *line)
            laz_strv_add(lines, line);
    }
}

static struct laz_provider *provider_new(struct laz_tools *tools, const struct laz_plugin *plugin,
                                         const struct laz_settings_values *values)
{
    struct laz_provider *provider = calloc(1, sizeof *provider);

    if (!provider)
        return NULL;
    provider->tools = tools;
    provider->values = values;
    provider->name = plugin->name;
    provider->ops = plugin->ops;
    provider->is_blocking = (provider->ops->flags & LAZ_TOOL_BLOCKING) != 0;
    provider->services = (struct laz_tool_services){
        .size = sizeof provider->services,
        .json = laz_json_api(),
        .host = provider,
        .log = service_log,
        .answer = laz_call_answer,
        .answer_error = laz_call_answer_error,
        .run = laz_call_run_command,
        .watch_fd = service_watch_fd,
        .watch_timer = service_watch_timer,
        .watch_stop = service_watch_stop,
        .check_program = service_check_program,
        .mistake = service_mistake,
        .caller = laz_call_caller,
        .give_artifact = laz_call_give_artifact,
        .prepared = service_prepared,
        .child_start = laz_child_start,
        .child_end = laz_child_end,
    };
    return provider;
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* Does the table belong to this side, where sessions are on workers? */
static bool providers_are_here(const struct laz_settings_values *values,
                               const struct laz_toml_node *table)
{
    const struct laz_toml_node *where = laz_toml_get(table, "where");
    const enum laz_where here = values->session.where;

    return !where || here == LAZ_WHERE_HERE ||
           laz_toml_is(where, here == LAZ_WHERE_WORKER ? "worker" : "caller");
}

static int providers_add(struct laz_tools *tools, struct laz_registry *registry,
                         const struct laz_settings_values *values,
                         const struct laz_toml_node *table, struct laz_error *err)
{
    const char *name = laz_toml_get(table, "provider")->text;
    const struct laz_plugin *plugin;
    int ret = laz_registry_find(registry, LAZ_PLUGIN_TOOL, name, &plugin, err);

    if (ret)
        return providers_locate(table, ret, err);
    struct laz_provider *provider = provider_new(tools, plugin, values);
    if (!provider)
        return laz_error_nomem(err);
    tools->providers[tools->n_providers++] = provider;
    ret = provider_create(provider, plugin, table, err);
    if (!ret && LAZ_HAS(provider->ops, prepare)) /* the settings may be freed before it is asked */
        ret = (provider->position = laz_settings_position(table)) ? 0 : laz_error_nomem(err);
    else if (!ret)
        ret = provider_add_tools(provider, table, err);
    provider->values = NULL; /* these settings may be freed before it */
    return ret;
}

int laz_providers_load(struct laz_tools *tools, struct laz_registry *registry,
                       const struct laz_settings *settings, struct laz_error *err)
{
    const struct laz_settings_values *values = laz_settings_values(settings);
    const struct laz_toml_node *list = laz_settings_tools(settings);

    tools->registry = registry;
    tools->providers = calloc(list ? list->n + 1 : 1, sizeof *tools->providers);
    if (!tools->providers)
        return laz_error_nomem(err);
    int ret = laz_command_environment(&tools->env, err);
    if (!ret && list && list->n)
        ret = laz_spellings_find(&tools->spellings, registry, err);
    for (const struct laz_toml_node *table = list ? list->first : NULL; !ret && table;
         table = table->next) {
        if (!providers_are_here(values, table))
            continue;
        ret = providers_add(tools, registry, values, table, err);
        tools->are_fewer |= ret != 0;
        ret = laz_settings_wrong(values, NULL, NULL, ret, err);
    }
    return ret;
}

void laz_providers_free(struct laz_tools *tools)
{
    for (size_t i = 0; i < tools->n_providers; i++) {
        struct laz_provider *provider = tools->providers[i];
        if (provider->is_created)
            provider->ops->destroy(provider->state);
        free(provider->position);
        free(provider);
    }
    free(tools->providers);
    tools->providers = NULL;
    tools->n_providers = 0;
}
