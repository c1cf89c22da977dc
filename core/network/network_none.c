/* SPDX-License-Identifier: MIT */
/* network_none.c - in place of the running part, where there are no network namespaces. */
#include "network/network_private.h"

int laz_network_shared_new(struct laz_driver *driver, struct laz_network_shared **shared,
                           struct laz_error *err)
{
    (void)driver;
    *shared = NULL;
    return laz_error_set(err, LAZ_EREFUSED, 0,
                         "a network list needs network namespaces, which only Linux has");
}

void laz_network_shared_free(struct laz_network_shared *shared)
{
    (void)shared;
}

int laz_network_start(struct laz_network_shared *shared, const struct laz_network_rules *rules,
                      struct laz_os_network *sockets, const struct laz_network_owner *owner,
                      struct laz_network **network, struct laz_error *err)
{
    (void)rules, (void)sockets, (void)owner;
    *network = NULL;
    return laz_network_shared_new(NULL, &shared, err);
}

int laz_network_change(struct laz_network *network, const struct laz_network_rules *rules,
                       struct laz_error *err)
{
    struct laz_network_shared *shared;

    (void)network, (void)rules;
    return laz_network_shared_new(NULL, &shared, err);
}

void laz_network_catch_up(struct laz_network *network)
{
    (void)network;
}

unsigned laz_network_connections(const struct laz_network *network)
{
    (void)network;
    return 0;
}

void laz_network_bytes(const struct laz_network *network, uint64_t *out, uint64_t *in)
{
    (void)network;
    *out = *in = 0;
}

void laz_network_deny(const struct laz_network *network, const char *name, uint16_t port,
                      const char *text)
{
    (void)network, (void)name, (void)port, (void)text;
}

void laz_network_stop(struct laz_network *network)
{
    (void)network;
}
