/* SPDX-License-Identifier: MIT */
/* session_network.c - the network lists of sessions.
 * Side: host.  Input trusted: yes (settings, the application). */
#include "session/session_network.h"

#include "network/network.h"
#include "session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the list of the settings ---------------------------------------------------------------- */

static bool network_has(const struct laz_strv *texts, const char *text)
{
    for (size_t i = 0; i < texts->n; i++)
        if (texts->items[i] == text)
            return true;
    return false;
}

/* Says where the text of the wish was set that is wrong; NULL: the list as a whole is. */
static int network_wrong(const struct laz_settings_values *values, const char *text, int rc,
                         struct laz_error *err)
{
    const char *equals = text ? strchr(text, '=') : NULL;
    char name[256];

    if (text && text == values->network.resolver)
        return laz_settings_wrong(values, "network.resolver", NULL, rc, err);
    if (text && network_has(&values->network.ports, text))
        return laz_settings_wrong(values, "network.ports", text, rc, err);
    if (text && network_has(&values->network.host_ports, text))
        return laz_settings_wrong(values, "network.host.ports", text, rc, err);
    if (!equals || !network_has(&values->network.hosts, text))
        return laz_settings_wrong(values, "network.allow", text, rc, err);
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    return laz_settings_wrong(values, "network.hosts", name, rc, err);
}

/* Borrows the texts. Out of memory: it has failed. */
static struct laz_strv network_borrow(const struct laz_strv *texts)
{
    struct laz_strv list = {.items = calloc(texts->n + 1, sizeof *list.items), .n = texts->n};

    list.failed = !list.items;
    if (!list.failed && texts->n)
        memcpy(list.items, texts->items, texts->n * sizeof *list.items);
    return list;
}

/* False: the list does not have it. */
static bool network_leave_out(struct laz_strv *list, const char *text)
{
    const size_t before = list->n;

    list->n = 0;
    for (size_t i = 0; i < before; i++)
        if (list->items[i] != text)
            list->items[list->n++] = list->items[i];
    return list->n < before;
}

/* Where mistakes are collected, each wrong rule is one of them. */
int laz_sessions_take_network(struct laz_session_shared *shared, struct laz_error *err)
{
    const struct laz_settings_values *values = shared->values;
    struct laz_strv allow = network_borrow(&values->network.allow);
    const struct laz_network_wish wish = {
        .allow = &allow,
        .hosts = &values->network.hosts,
        .host_ports = &values->network.host_ports,
        .ports = &values->network.ports,
        .resolver = values->network.resolver,
        .deny_private = values->network.deny_private,
        .max_connections = values->network.max_connections,
        .max_bytes = values->network.max_bytes,
    };
    const char *wrong = NULL;
    int rc = allow.failed ? laz_error_nomem(err) : 0;
    bool again = !rc;

    while (again) {
        struct laz_error why = {0};
        rc = laz_network_rules_new(&wish, &shared->rules, &wrong, &why);
        again = rc && wrong && network_leave_out(&allow, wrong);
        rc = network_wrong(values, wrong, rc, &why);
        again = again && !rc;
        if (rc && err)
            *err = why;
    }
    free(allow.items);
    return rc;
}

void laz_sessions_end_network(struct laz_session_shared *shared)
{
    laz_network_rules_drop(shared->rules);
    shared->rules = NULL;
}
