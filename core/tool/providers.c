/* SPDX-License-Identifier: MIT */
/* providers.c - the tool providers of an engine: one instance for each [[tools]] table.
 *
 * The address of an instance never changes: the plugin holds its table of services, and entries of
 * the tool set name it as their owner.  An error is reported with its position in the
 * configuration; an error of a tool with that of the table that has its name, if there is one. */
#include "tool/providers.h"

#include "base/json.h"
#include "tool/command.h"
#include "settings/toml/toml.h"

#include <stdlib.h>
#include <string.h>

#define PROVIDERS_MAX_TOOLS 10000 /* of one instance */
#define PROVIDERS_POSITION  512   /* bytes of "FILE:LINE:COL" */

struct provider_instance {
    struct laz_provider provider;
    struct laz_tool_services services;
    struct laz_providers *all;
    bool created;
};

struct laz_providers {
    struct laz_provider_host host;
    struct laz_strv env; /* environment of the commands that providers run */
    struct provider_instance **instances;
    size_t n;
};

void laz_call_scratch_fini(struct laz_call_scratch *scratch)
{
    laz_buf_fini(&scratch->output);
    laz_buf_fini(&scratch->errors);
}

/* ---- services ------------------------------------------------------------------------------- */

static void service_log(void *host, uint32_t level, const char *text)
{
    const struct provider_instance *instance = host;

    if (instance->all->host.log)
        laz_log(instance->all->host.log, level, "%s: %s", instance->provider.name, text);
}

static void service_answer(void *host, struct laz_call *call, const char *json, size_t len)
{
    const struct provider_instance *instance = host;

    instance->all->host.answer(instance->all->host.host, call, json, len);
}

static void service_answer_error(void *host, struct laz_call *call, const char *message)
{
    const struct provider_instance *instance = host;

    instance->all->host.answer_error(instance->all->host.host, call, message);
}

static int service_run(void *host, struct laz_call *call, const struct laz_command *command,
                       struct laz_command_result *result, struct laz_error *err)
{
    const struct provider_instance *instance = host;
    const struct laz_providers *all = instance->all;
    struct laz_call_scratch *scratch;

    if (!instance->provider.blocking)
        return laz_error_set(err, LAZ_EPLUGIN, 0,
                             "the provider %s runs commands, but is not LAZ_TOOL_BLOCKING",
                             instance->provider.name);
    scratch = all->host.scratch(all->host.host, call);
    if (!scratch)
        return laz_error_nomem(err);
    return laz_command_run(all->host.spawner, command, (const char *const *)all->env.items,
                           scratch->cancel_fd, result, &scratch->output, &scratch->errors, err);
}

static int service_check_program(void *host, const char *path, struct laz_error *err)
{
    (void)host;
    return laz_command_check(path, err);
}

static struct laz_watch *service_watch_fd(void *host, int fd, uint32_t events,
                                          void (*ready)(void *user, uint32_t events), void *user)
{
    const struct provider_instance *instance = host;

    return instance->all->host.watch_fd(instance->all->host.host, fd, events, ready, user);
}

static struct laz_watch *service_watch_timer(void *host, uint64_t ms, void (*due)(void *user),
                                             void *user)
{
    const struct provider_instance *instance = host;

    return instance->all->host.watch_timer(instance->all->host.host, ms, due, user);
}

/* ---- positions in the configuration --------------------------------------------------------- */

/* Finds the table of a tool: an item of a list of tables in the provider's table, with the tool's
 * name. Returns the provider's table if there is none. */
static const struct laz_toml_node *providers_tool_node(const struct laz_toml_node *table,
                                                       const char *tool)
{
    for (const struct laz_toml_node *list = table->first; list; list = list->next)
        for (const struct laz_toml_node *item = list->type == LAZ_TOML_ARRAY ? list->first : NULL;
             item; item = item->next) {
            const struct laz_toml_node *name = laz_toml_get(item, "name");
            if (name && name->type == LAZ_TOML_STRING && strcmp(name->text, tool) == 0)
                return item;
        }
    return table;
}

/* Puts "FILE:LINE:COL: " before the text; what the author of the file can mend is LAZ_ECONFIG. */
static int providers_locate(const struct laz_toml_node *node, int code, struct laz_error *err)
{
    char position[PROVIDERS_POSITION];

    laz_settings_position(node, position, sizeof position);
    laz_error_prefix(err, "%s: ", position);
    if (code == LAZ_EINVAL || code == LAZ_ENOENT || code == LAZ_EOS)
        code = LAZ_ECONFIG;
    if (err)
        err->code = code;
    return code;
}

/* ---- an instance ---------------------------------------------------------------------------- */

/* What each step of making an instance needs. */
struct provider_making {
    const struct laz_strv *reserved;
    const struct laz_toml_node *table;
    struct laz_tool_set *set;
};

static void instance_free(struct provider_instance *instance)
{
    if (!instance)
        return;
    if (instance->created)
        instance->provider.ops->destroy(instance->provider.state);
    free(instance);
}

static int instance_create(struct provider_instance *instance, const struct laz_plugin *plugin,
                           const struct provider_making *making, struct laz_error *err)
{
    static const char *const ignore[] = {"provider", NULL};
    struct laz_buf options = LAZ_BUF_INIT;
    int ret =
        laz_settings_check_options(making->table, plugin->options, "tools", ignore, &options, err);

    if (ret)
        goto out;
    ret = instance->provider.ops->create(&instance->services, laz_buf_text(&options), options.len,
                                         &instance->provider.state, err);
    if (ret) {
        laz_error_prefix(err, "provider %s: ", plugin->name);
        ret = providers_locate(making->table, ret, err);
        goto out;
    }
    instance->created = true;
out:
    laz_buf_fini(&options);
    return ret;
}

/* Reports that a tool was refused. If its name is taken, the text names the provider that has it.
 */
static int instance_refused(const struct provider_instance *instance, const struct laz_tool *tool,
                            const struct provider_making *making, int code, struct laz_error *err)
{
    const struct laz_toml_node *node = making->table;

    if (tool->name)
        node = providers_tool_node(making->table, tool->name);
    if (code == LAZ_EINVAL && making->set && tool->name)
        for (size_t i = 0; i < making->set->n; i++)
            if (strcmp(making->set->entries[i].name, tool->name) == 0 && err) {
                const struct laz_provider *other =
                    laz_provider_of(instance->all, &making->set->entries[i]);
                struct laz_error text = *err;
                laz_error_set(err, code, 0, "%s (the first is of provider %s)", text.text,
                              other ? other->name : "the application");
            }
    return providers_locate(node, code, err);
}

static int instance_add_tools(struct provider_instance *instance,
                              const struct provider_making *making, struct laz_error *err)
{
    const struct laz_tool *tools = NULL;
    size_t n = 0;
    int ret = instance->provider.ops->list(instance->provider.state, &tools, &n, err);

    if (ret) {
        laz_error_prefix(err, "provider %s: ", instance->provider.name);
        return providers_locate(making->table, ret, err);
    }
    /* A plugin's struct may be longer than ours, never shorter, since the ABI begins with 1.0. */
    if (n > PROVIDERS_MAX_TOOLS || (n && (!tools || tools->size < sizeof *tools))) {
        ret = laz_error_set(err, LAZ_EPLUGIN, 0, "provider %s: its list of tools is malformed",
                            instance->provider.name);
        return providers_locate(making->table, ret, err);
    }
    for (size_t i = 0; !ret && i < n; i++) {
        const struct laz_tool *tool =
            (const struct laz_tool *)((const char *)tools + i * tools->size);
        ret = laz_tool_set_add(making->set, tool, making->reserved, instance, i, err);
        if (ret)
            ret = instance_refused(instance, tool, making, ret, err);
    }
    return ret;
}

static struct provider_instance *instance_new(struct laz_providers *all,
                                              const struct laz_plugin *plugin)
{
    struct provider_instance *instance = calloc(1, sizeof *instance);
    const struct laz_tool_ops *ops = plugin->ops;

    if (!instance)
        return NULL;
    instance->all = all;
    instance->provider = (struct laz_provider){
        .name = plugin->name, .ops = ops, .blocking = (ops->flags & LAZ_TOOL_BLOCKING) != 0};
    instance->services = (struct laz_tool_services){
        .size = sizeof instance->services,
        .json = laz_json_api(),
        .host = instance,
        .log = service_log,
        .answer = service_answer,
        .answer_error = service_answer_error,
        .run = service_run,
        .watch_fd = service_watch_fd,
        .watch_timer = service_watch_timer,
        .watch_stop = all->host.watch_stop,
        .check_program = service_check_program,
    };
    return instance;
}

/* ---- all of them ---------------------------------------------------------------------------- */

static void providers_reserve(void *user, const struct laz_runtime_info *runtime)
{
    struct laz_strv *reserved = user;

    for (size_t i = 0; i < runtime->reserved_words.n; i++)
        laz_strv_addf(reserved, "%s:%s", runtime->name, runtime->reserved_words.items[i]);
}

int laz_providers_reserved(struct laz_registry *registry, struct laz_strv *reserved,
                           struct laz_error *err)
{
    laz_registry_visit_runtimes(registry, providers_reserve, reserved);
    return reserved->failed ? laz_error_nomem(err) : 0;
}

static int providers_add(struct laz_providers *providers, struct laz_registry *registry,
                         const char *name, const struct provider_making *making,
                         struct laz_error *err)
{
    const struct laz_plugin *plugin;
    int ret = laz_registry_find(registry, LAZ_PLUGIN_TOOL, name, &plugin, err);

    if (ret)
        return providers_locate(making->table, ret, err);
    struct provider_instance *instance = instance_new(providers, plugin);
    if (!instance)
        return laz_error_nomem(err);
    providers->instances[providers->n++] = instance;
    ret = instance_create(instance, plugin, making, err);
    return ret ? ret : instance_add_tools(instance, making, err);
}

int laz_providers_new(struct laz_registry *registry, const struct laz_settings *settings,
                      const struct laz_strv *reserved, const struct laz_provider_host *host,
                      struct laz_tool_set *set, struct laz_providers **providers,
                      struct laz_error *err)
{
    size_t n = laz_settings_tools(settings);
    struct laz_providers *made = calloc(1, sizeof *made);
    int ret = 0;

    *providers = NULL;
    if (!made)
        return laz_error_nomem(err);
    made->host = *host;
    made->instances = calloc(n + 1, sizeof *made->instances);
    ret = made->instances ? laz_command_environment(&made->env, err) : laz_error_nomem(err);
    for (size_t i = 0; !ret && i < n; i++) {
        const char *name = NULL;
        const struct provider_making making = {
            .reserved = reserved,
            .table = laz_settings_tools_table(settings, i, &name),
            .set = set,
        };
        ret = providers_add(made, registry, name, &making, err);
    }
    if (ret) {
        laz_providers_free(made);
        return ret;
    }
    *providers = made;
    return 0;
}

void laz_providers_free(struct laz_providers *providers)
{
    if (!providers)
        return;
    for (size_t i = 0; i < providers->n; i++)
        instance_free(providers->instances[i]);
    free(providers->instances);
    laz_strv_fini(&providers->env);
    free(providers);
}

const struct laz_provider *laz_provider_of(const struct laz_providers *providers,
                                           const struct laz_tool_entry *entry)
{
    for (size_t i = 0; providers && i < providers->n; i++)
        if (entry->owner == providers->instances[i])
            return &providers->instances[i]->provider;
    return NULL;
}
