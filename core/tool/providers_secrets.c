/* SPDX-License-Identifier: MIT */
/* providers_secrets.c - {secret.NAME} in the options of a provider.
 *
 * It may stand in values of a table of texts that the plugin calls secret (`env`, `headers`), which
 * nothing shows.  Anywhere else it is a mistake, also where somebody could read it: arguments of
 * programs are in every list of processes.  The values are put into the JSON text that the plugin
 * gets, in memory of their own, which is wiped when the plugin has taken it.
 * Side: host.  Input trusted: yes (the configuration); what tools answer is not. */
#include "tool/tool_private.h"

#include "settings/settings.h"
#include "settings/toml/toml.h"
#include "tool/command.h"

#include <stdlib.h>
#include <string.h>

struct secrets_walk {
    struct laz_provider *provider;
    const struct laz_option *options;
    bool reads;
    size_t n; /* those that may stand where they are */
    struct laz_error *err;
};

/* A mistake at the node; 0: it is one of several. */
static int walk_wrong(struct secrets_walk *walk, const struct laz_toml_node *node, int rc)
{
    const struct laz_provider *provider = walk->provider;

    if (rc == LAZ_ENOMEM)
        return rc;
    laz_error_prefix(walk->err, "provider %s: %s%s", provider->name, node->key ? node->key : "",
                     node->key ? ": " : "");
    laz_settings_locate(node, walk->err);
    if (walk->err)
        walk->err->code = LAZ_ECONFIG;
    return laz_settings_wrong(provider->values, NULL, NULL, LAZ_ECONFIG, walk->err);
}

static int walk_misplaced(struct secrets_walk *walk, const struct laz_toml_node *node,
                          const char *text, size_t len)
{
    const char *name;
    size_t at = 0, begin, name_len;

    if (!laz_secrets_next(text, len, &at, &begin, &name, &name_len))
        return 0;
    return walk_wrong(
        walk, node,
        laz_error_set(walk->err, LAZ_EINVAL, 0,
                      "a secret may stand in values of `env` and `headers` only: "
                      "everybody on this machine can read the arguments of a program"));
}

static int walk_anything(struct secrets_walk *walk, const struct laz_toml_node *node)
{
    int rc = node->key ? walk_misplaced(walk, node, node->key, node->key_len) : 0;

    if (!rc && node->type == LAZ_TOML_STRING)
        rc = walk_misplaced(walk, node, node->text, node->len);
    if (node->type == LAZ_TOML_TABLE || node->type == LAZ_TOML_ARRAY)
        for (const struct laz_toml_node *item = node->first; !rc && item; item = item->next)
            rc = walk_anything(walk, item); /* recursion is bounded by the depth of the document */
    return rc;
}

/* A value in which secrets may stand. */
static int walk_value(struct secrets_walk *walk, const struct laz_toml_node *node)
{
    struct laz_secrets *secrets = &walk->provider->tools->secrets;
    const struct laz_secret *value;
    const char *name;
    size_t at = 0, begin, len;
    int rc = walk_misplaced(walk, node, node->key, node->key_len);

    if (node->type != LAZ_TOML_STRING)
        return rc;
    while (!rc && laz_secrets_next(node->text, node->len, &at, &begin, &name, &len)) {
        if (!name)
            rc = laz_error_set(walk->err, LAZ_EINVAL, 0,
                               "behind {secret. stands a name of [secrets] and a brace, as in "
                               "{secret.github}");
        else
            rc = walk->reads ? laz_secrets_value(secrets, name, len, &value, walk->err)
                             : laz_secrets_check(secrets, name, len, walk->err);
        walk->n += !rc;
        if (rc)
            return walk_wrong(walk, node, rc);
    }
    return rc;
}

static int walk_table(struct secrets_walk *walk, const struct laz_toml_node *table,
                      const char *prefix)
{
    int rc = 0;

    for (const struct laz_toml_node *node = table->first; node && !rc; node = node->next) {
        const struct laz_option *option = laz_settings_option(walk->options, prefix, node->key);
        const uint32_t type = option ? option->type : 0;
        const struct laz_toml_node *item = node->first;
        if (type == LAZ_OPT_TEXTS && (option->flags & LAZ_OPT_SECRET) &&
            node->type == LAZ_TOML_TABLE) {
            for (; item && !rc; item = item->next)
                rc = walk_value(walk, item);
        } else if (type == LAZ_OPT_TABLES && node->type == LAZ_TOML_ARRAY) {
            char *inside = laz_strdupf("%s.", option->key);
            for (; item && inside && !rc; item = item->next)
                rc = item->type == LAZ_TOML_TABLE
                         ? walk_table(walk, item, inside) /* by the dots in the option's key */
                         : walk_anything(walk, item);
            rc = inside ? rc : laz_error_nomem(walk->err);
            free(inside);
        } else {
            rc = walk_anything(walk, node);
        }
    }
    return rc;
}

int laz_provider_secrets(struct laz_provider *provider, const struct laz_option *options,
                         const struct laz_toml_node *table, size_t *n, struct laz_error *err)
{
    struct secrets_walk walk = {
        .provider = provider,
        .options = options,
        .reads = laz_provider_reads(provider),
        .err = err,
    };
    int rc = walk_table(&walk, table, "");

    *n = rc ? 0 : walk.n;
    return rc;
}

bool laz_provider_reads(const struct laz_provider *provider)
{
    const enum laz_tools_for use = provider->tools->use;

    return use == LAZ_TOOLS_USED || (use == LAZ_TOOLS_LISTED && LAZ_HAS(provider->ops, prepare));
}

int laz_provider_fill(struct laz_provider *provider, const char *json, size_t len, size_t expected,
                      struct laz_secret *filled, struct laz_error *err)
{
    size_t n = 0;
    int rc = laz_secrets_fill(&provider->tools->secrets, json, len, filled, &n, err);

    if (!rc && n != expected) { /* in a default of the plugin, which no table has */
        laz_secret_fini(filled);
        rc = laz_error_set(err, LAZ_EPLUGIN, 0, "provider %s: a secret stands where none may",
                           provider->name);
    }
    return rc;
}

/* ---- commands that print one ------------------------------------------------------------------
 */

static int secrets_run(void *user, const struct laz_strv *command, struct laz_buf *out,
                       struct laz_error *err)
{
    struct laz_tools *tools = user;
    const struct laz_command run = {
        .size = sizeof run,
        .argv = (const char *const *)command->items,
        .max_output = LAZ_SECRET_MAX + 2,
    };
    struct laz_command_result result;
    struct laz_buf errors = LAZ_BUF_INIT;

    if (!tools->spawner)
        return laz_error_set(err, LAZ_EREFUSED, 0, "no command is run here");
    int rc = laz_command_run(tools->spawner, &run, (const char *const *)tools->env.items, -1,
                             LAZ_SECRET_TIMEOUT_MS, &result, out, &errors, err);
    if (!rc && result.signal)
        rc = laz_error_set(err, LAZ_EOS, 0, "it was ended by signal %d", (int)result.signal);
    else if (!rc && result.exit_status)
        rc = laz_error_set(err, LAZ_EOS, 0, "exit status %d", (int)result.exit_status);
    if (errors.data)
        laz_wipe(errors.data, errors.cap);
    laz_buf_fini(&errors);
    return rc;
}

static int secrets_check(void *user, const char *program, struct laz_error *err)
{
    (void)user;
    return laz_command_check(program, err);
}

int laz_tools_secrets(struct laz_tools *tools, const struct laz_settings_values *values,
                      struct laz_error *err)
{
    const struct laz_secret_runner runner = {secrets_run, secrets_check, tools};

    return laz_secrets_init(&tools->secrets, values, &runner, err);
}

/* ---- what comes back ---------------------------------------------------------------------------
 */

void laz_tools_hide(struct laz_tools *tools, char *text)
{
    if (text)
        (void)laz_secrets_hide(&tools->secrets, text, strlen(text));
}
