/* SPDX-License-Identifier: MIT */
/* network.c - network lists of a client's sessions.
 * Side: host.  Input trusted: no; the engine judges the rules.
 *
 * A restarted session is another one of the engine: it is opened with the list that the client's
 * session was opened with, whose ports it listens to, and then gets the one that was set last. */
#include "serve/serve_private.h"

#include "base/json_text.h"
#include "network/network.h"

#include <stdlib.h>

static int network_add(struct laz_strv *allow, const char *raw, size_t len, struct laz_error *err)
{
    char *rule = NULL;
    size_t rule_len;
    int rc = 0;

    if (*raw == '"')
        rc = laz_json_take_string(raw, len, &rule, &rule_len);
    else if (*raw == '{')
        rule = laz_strndup(raw, len);
    else
        return laz_error_set(err, LAZ_EINVAL, 0,
                             "a rule of a network list is a string or an object");
    if (!rc && rule)
        laz_strv_add(allow, rule);
    allow->failed |= !rc && !rule;
    free(rule);
    return rc ? laz_error_set(err, rc, 0, "a rule of a network list cannot be read") : 0;
}

int serve_network_read(const struct serve_client *client, struct serve_network *network,
                       const char *json, size_t len, struct laz_error *err)
{
    struct laz_json_items items = laz_json_items(json ? json : "[]", json ? len : 2);
    struct laz_strv allow = LAZ_STRV_INIT;
    const char *raw;
    size_t raw_len;
    int rc = 0;

    while (!rc && laz_json_next_item(&items, &raw, &raw_len))
        rc = network_add(&allow, raw, raw_len, err);
    if (!rc && allow.failed)
        rc = laz_error_nomem(err);
    if (!rc && json && client->peer.identity)
        rc = laz_network_rules_narrow(client->server->engine->sessions.rules, &allow, err);
    if (rc == LAZ_ECONFIG)
        rc = laz_error_as(err, LAZ_EINVAL);
    if (rc) {
        laz_strv_fini(&allow);
        return rc;
    }
    serve_network_fini(network);
    *network = (struct serve_network){allow, json != NULL};
    return 0;
}

void serve_network_fini(struct serve_network *network)
{
    laz_strv_fini(&network->allow);
    network->is_given = false;
}

const struct laz_network_list *serve_network_list(const struct serve_network *network,
                                                  struct laz_network_list *list)
{
    *list = (struct laz_network_list){
        .size = sizeof *list,
        .allow = (const char *const *)network->allow.items,
        .n = network->allow.n,
    };
    return network->is_given ? list : NULL;
}

int serve_network_set(struct laz_session *session, const struct serve_network *network,
                      struct laz_error *err)
{
    return network->is_given
               ? laz_session_set_network(session, (const char *const *)network->allow.items,
                                         network->allow.n, err)
               : 0;
}
