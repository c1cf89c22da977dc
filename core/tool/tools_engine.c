/* SPDX-License-Identifier: MIT */
/* tools_engine.c - the tools of an engine and of its sessions: of providers, and of the
 * application.
 * Side: host.  Input trusted: yes (what configuration, plugins and application declare). */
#include "tool/tool_private.h"

#include "base/options.h"

#include <stdlib.h>

int laz_tools_init(struct laz_tools *tools, struct laz_driver *driver, struct laz_spawner *spawner,
                   struct laz_registry *registry, const struct laz_settings *settings,
                   struct laz_error *err)
{
    tools->driver = driver;
    tools->spawner = spawner;
    int rc = laz_found_new(&tools->found, err);
    if (!rc)
        rc = laz_lend_new(driver, &tools->lend, err);
    if (!rc)
        rc = laz_approvals_init(tools, settings, err);
    if (!rc)
        rc = laz_tools_secrets(tools, laz_settings_values(settings), err);
    return rc ? rc : laz_providers_load(tools, registry, settings, err);
}

void laz_tools_end(struct laz_tools *tools)
{
    if (tools->driver && tools->driver->loop)
        laz_calls_end(tools);
    laz_providers_free(tools);
    if (tools->driver && tools->driver->loop) {
        laz_loop_flush(tools->driver->loop); /* a provider may still answer in its `destroy` */
        laz_children_end(tools);
    }
    laz_strv_fini(&tools->env);
}

void laz_tools_fini(struct laz_tools *tools)
{
    laz_calls_free(tools);
    laz_visits_free(tools);
    laz_lend_free(tools->lend);
    laz_tool_set_fini(&tools->set);
    laz_approvals_fini(tools);
    laz_spellings_fini(&tools->spellings);
    laz_found_free(tools->found);
    laz_secrets_fini(&tools->secrets);
}

int laz_tools_spell(struct laz_tools *tools, struct laz_error *err)
{
    laz_found_change(tools->found);
    int rc = laz_spellings_find(&tools->spellings, tools->registry, err);
    laz_found_leave(tools->found);
    return rc;
}

int laz_tools_add(struct laz_tools *tools, struct laz_tool_set *set, const struct laz_tool *given,
                  void (*call)(void *user, const char *args, size_t args_len,
                               struct laz_reply *reply),
                  void *user, struct laz_error *err)
{
    struct laz_tool tool;

    if (!given || !call)
        return laz_error_set(err, LAZ_EINVAL, 0, "a tool needs a declaration and a function");
    int rc = LAZ_OPTIONS_TAKE(&tool, given, laz_tool, err);
    if (rc)
        return rc;
    laz_found_change(tools->found);
    rc = laz_spellings_find(&tools->spellings, tools->registry, err);
    if (!rc)
        rc = laz_tool_set_add(set, &tool, &tools->spellings, NULL, 0, err);
    if (!rc) {
        struct laz_tool_entry *added = &set->entries[set->n - 1];
        laz_approval_mark(tools, added);
        added->call = call;
        added->user = user;
    }
    laz_found_leave(tools->found);
    return rc;
}

int laz_tools_of_session(struct laz_tools *tools, const struct laz_session_tool *const *given,
                         size_t n, struct laz_tool_set **out, struct laz_error *err)
{
    struct laz_tool_set *set = n ? calloc(1, sizeof *set) : NULL;
    struct laz_session_tool tool;
    int rc = 0;

    *out = NULL;
    if (!n)
        return 0;
    if (!set)
        return laz_error_nomem(err);
    set->beside = &tools->set;
    set->holders = 1;
    for (size_t i = 0; i < n && !rc; i++) {
        if (!given || !given[i])
            rc = laz_error_null(err, "a tool of the session");
        else if (!(rc = LAZ_OPTIONS_TAKE(&tool, given[i], laz_session_tool, err)))
            rc = laz_tools_add(tools, set, tool.tool, tool.call, tool.user, err);
    }
    if (rc)
        laz_tool_set_release(set);
    else
        *out = set;
    return rc;
}
