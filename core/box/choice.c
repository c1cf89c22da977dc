/* SPDX-License-Identifier: MIT */
/* choice.c - the backends that the settings name, in their order, and which one an engine uses.
 * Side: host.  Input trusted: yes (settings, and what plugins declare).
 *
 * Whether one works is tried by trial.c. */
#include "box/choice.h"

#include "os/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int laz_choice_take(struct laz_box_shared *shared, const char *name,
                    struct laz_backend_choice *choice, struct laz_error *err)
{
    const struct laz_plugin *plugin;
    char where[96];

    int rc = laz_registry_find(shared->registry, LAZ_PLUGIN_BACKEND, name, &plugin, err);
    if (rc)
        return rc;
    const struct laz_backend_ops *ops = plugin->ops;
    if (!laz_backend_is_for(ops, laz_os_platform()))
        return laz_error_set(err, LAZ_ENOENT, 0,
                             "sandbox.backend: %s is made for %s and not for %s", name,
                             ops->platforms, laz_os_platform());
    snprintf(where, sizeof where, "sandbox.%.64s", name);
    laz_buf_fini(&choice->options);
    rc = laz_settings_check_options(laz_settings_plugin_table(shared->settings, "sandbox", name),
                                    plugin->options, where, NULL, &choice->options, err);
    if (rc)
        return rc;
    free(choice->name);
    choice->name = laz_strdup(name);
    choice->ops = ops;
    choice->require = shared->values->sandbox.require;
    return choice->name ? 0 : laz_error_nomem(err);
}

void laz_backend_candidates(struct laz_registry *registry, const struct laz_strv *wanted,
                            const char *platform, struct laz_strv *names)
{
    for (size_t i = 0; i < wanted->n; i++)
        if (strcmp(wanted->items[i], "auto") == 0)
            laz_registry_automatic(registry, platform, names);
        else
            laz_strv_add(names, wanted->items[i]);
}

int laz_choice_names_none(struct laz_registry *registry, struct laz_error *err)
{
    struct laz_buf missing = LAZ_BUF_INIT;

    laz_registry_undeclared(registry, &missing);
    int rc =
        laz_error_set(err, LAZ_ECONFIG, 0, "sandbox.backend names no backend for this system%s",
                      laz_buf_text(&missing));
    laz_buf_fini(&missing);
    return rc;
}

int laz_choice_none(struct laz_box_shared *shared, struct laz_backend_choice *choice,
                    const struct laz_error *why, struct laz_error *err)
{
    if (shared->values->sandbox.strict) {
        if (err)
            *err = *why;
        return why->code;
    }
    struct laz_error no_none = {0};
    int rc = laz_choice_take(shared, "none", choice, &no_none);
    choice->require = 0;
    if (rc)
        return laz_error_set(err, no_none.code, no_none.os_errno, "%s; without a sandbox: %s",
                             why->text, no_none.text);
    laz_log(&shared->driver->log, LAZ_LOG_WARNING,
            "no sandbox: %s; the code runs WITHOUT ISOLATION because sandbox.strict is false",
            why->text);
    return 0;
}

bool laz_choice_needs_trial(const struct laz_box_shared *shared, size_t candidate)
{
    return candidate > 0 || !shared->values->sandbox.strict;
}

bool laz_choice_goes_on(bool taken, const struct laz_error *why)
{
    return !laz_error_is_shortage(why) && why->code != LAZ_ECANCELLED && why->code != LAZ_EBUSY &&
           (taken || why->code == LAZ_ENOENT);
}
