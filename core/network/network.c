/* SPDX-License-Identifier: MIT */
/* network.c - the way out of one box: what it listens to, when, and until when.
 * Side: host.  Input trusted: no (all that a box does).
 *
 * One timer for a box, which runs while something of it can be late.  Where a bound is reached
 * nothing more is accepted: what waits is in the kernel's queue, whose length is bounded. */
#include "network/running.h"

#include "os/io.h"

#include <errno.h>
#include <stdlib.h>

#define NETWORK_SHARE     4u  /* of the descriptors of the process: one in so many */
#define NETWORK_CATCH_UPS 32u /* turns that are caught up with at once */

/* ---- an engine ------------------------------------------------------------------------------- */

int laz_network_shared_new(struct laz_driver *driver, struct laz_network_shared **shared,
                           struct laz_error *err)
{
    struct laz_network_shared *made = calloc(1, sizeof *made);

    *shared = NULL;
    if (!made || !(made->bounce = malloc(NETWORK_READ))) {
        free(made);
        return laz_error_nomem(err);
    }
    made->driver = driver;
    made->most_descriptors = laz_os_most_descriptors() / NETWORK_SHARE;
    *shared = made;
    return 0;
}

void laz_network_shared_free(struct laz_network_shared *shared)
{
    if (!shared)
        return;
    network_resolvers_free(shared);
    free(shared->bounce);
    free(shared);
}

/* ---- accepting ------------------------------------------------------------------------------- */

static bool network_is_full(const struct laz_network *network)
{
    return network->n_connections >= network->rules->max_connections;
}

static bool network_is_short(const struct laz_network *network)
{
    const struct laz_network_shared *shared = network->shared;

    return network->is_short || shared->descriptors + 2 > shared->most_descriptors;
}

static bool network_may_accept(const struct laz_network *network)
{
    return !network_is_full(network) && !network_is_short(network) &&
           network->n_half_open < NETWORK_HALF_OPEN && network->n_lookups < NETWORK_LOOKUPS;
}

/* Tells once that connections wait, if any do. */
static void network_tell_waiting(struct laz_network *network)
{
    const struct network_refusal refusal = {.what = LAZ_DENIED_LIMIT};
    const bool is_full = network_is_full(network);
    bool *told = is_full ? &network->told_connections : &network->told_descriptors;

    if (*told || !(is_full || network_is_short(network)))
        return;
    for (size_t i = 0; i < network->n_listeners && !*told; i++)
        *told = !network->listeners[i].is_dns && laz_os_await(network->listeners[i].fd, 0);
    if (*told)
        network_deny(network, &refusal, "%s",
                     is_full ? "as many connections as max_connections says are open: others wait"
                             : "the host has no descriptors left for more connections: they wait");
}

/* Watches the listeners while connections may be accepted. */
static void network_watch_listeners(struct laz_network *network)
{
    const bool is_paused = !network_may_accept(network);

    for (size_t i = 0; i < network->n_listeners; i++) {
        const struct network_listener *one = &network->listeners[i];
        const bool rests = one->is_dns ? network->is_short : is_paused;
        (void)laz_io_events(one->io, rests ? 0 : LAZ_IO_READ); /* nothing can be missing for it */
    }
    network->is_paused = is_paused;
}

static void network_tick(void *user)
{
    struct laz_network *network = user;
    const uint64_t now_ms = laz_loop_now_ms(network->shared->driver->loop);
    const uint64_t late_ms = now_ms - network->ticked_ms;
    const uint64_t held_up_ms =
        late_ms > NETWORK_TICK_MS + NETWORK_HELD_UP_MS ? late_ms - NETWORK_TICK_MS : 0;
    struct network_connection *next;

    network_tell_waiting(network);
    network->ticks = network->is_short = false;
    for (struct network_connection *one = network->connections; one; one = next) {
        next = one->next;
        network_connection_tick(one, now_ms, held_up_ms);
    }
    const bool has_dns = network_dns_tick(network, now_ms, held_up_ms);
    network_watch_tick(network);
    network_watch_listeners(network);
    if (network->connections || has_dns || network->is_paused)
        network_tend(network);
}

static bool network_accept(struct network_listener *listener)
{
    struct laz_network *network = listener->network;
    struct laz_endpoint wanted;
    int fd = laz_os_inet_accept(listener->fd, &wanted);

    if (fd < 0 && errno != EAGAIN && laz_errno_is_shortage(errno)) {
        network->is_short = true;
        network_tend(network);
    }
    if (fd < 0)
        return errno == ECONNABORTED || errno == EINTR;
    if (listener->is_dns)
        network_dns_accepted(network, fd);
    else
        network_connection_new(network, fd, &wanted);
    return true;
}

static void network_listener_ready(void *user, uint32_t events)
{
    struct network_listener *listener = user;
    struct laz_network *network = listener->network;

    (void)events;
    for (unsigned n = 0; n < NETWORK_ACCEPTS; n++)
        if ((!listener->is_dns && !network_may_accept(network)) || !network_accept(listener))
            break;
    network_watch_listeners(network);
    if (network->is_paused)
        network_tend(network);
}

/* ---- starting -------------------------------------------------------------------------------- */

static bool network_listen(struct laz_network *network, int fd, bool is_dns)
{
    struct network_listener *one = &network->listeners[network->n_listeners];

    *one = (struct network_listener){.network = network, .fd = fd, .is_dns = is_dns};
    laz_os_inet_tune(fd);
    one->io =
        laz_io_start(network->shared->driver->loop, fd, LAZ_IO_READ, network_listener_ready, one);
    network->n_listeners += one->io != NULL;
    return one->io != NULL;
}

static int network_watch_all(struct laz_network *network, struct laz_error *err)
{
    const struct laz_os_network *sockets = &network->sockets;
    struct laz_loop *loop = network->shared->driver->loop;

    network->dns_io = laz_io_start(loop, sockets->dns_udp, LAZ_IO_READ, network_dns_ready, network);
    if (!network->dns_io || !network_listen(network, sockets->dns_tcp, true))
        return laz_io_error(err, "DNS of a box");
    for (size_t i = 0; i < LAZ_OS_WATCHES; i++)
        if (sockets->watches[i] >= 0 &&
            !(network->watches[i] = laz_io_start(loop, sockets->watches[i], LAZ_IO_READ,
                                                 network_watch_ready, network)))
            return laz_io_error(err, "the packets of a box");
    for (size_t i = 0; i < sockets->n_ports; i++)
        if (!network_listen(network, sockets->listeners[i], false))
            return laz_io_error(err, "the connections of a box");
    return 0;
}

int laz_network_start(struct laz_network_shared *shared, const struct laz_network_rules *rules,
                      struct laz_os_network *sockets, const struct laz_network_owner *owner,
                      struct laz_network **network, struct laz_error *err)
{
    struct laz_network *made = calloc(1, sizeof *made);

    *network = NULL;
    if (!made) {
        laz_os_network_close(sockets);
        return laz_error_nomem(err);
    }
    made->shared = shared;
    made->owner = *owner;
    made->sockets = *sockets;
    *sockets = LAZ_OS_NETWORK_NONE;
    made->rules = laz_network_rules_hold(rules);
    made->timer = laz_timer_new(shared->driver->loop, network_tick, made);
    int rc = made->timer ? network_names_new(&made->names, err) : laz_error_nomem(err);
    if (!rc)
        rc = network_watch_all(made, err);
    if (rc) {
        laz_network_stop(made);
        return rc;
    }
    *network = made;
    return 0;
}

static bool network_has_port(const struct laz_network *network, uint16_t port)
{
    for (size_t i = 0; i < network->sockets.n_ports; i++)
        if (network->sockets.ports[i] == port)
            return true;
    return false;
}

int laz_network_change(struct laz_network *network, const struct laz_network_rules *rules,
                       struct laz_error *err)
{
    struct laz_network_rules *before = network->rules;
    uint16_t ports[LAZ_OS_NETWORK_PORTS];
    const size_t n = laz_network_rules_ports(rules, ports);
    struct network_connection *next;

    for (size_t i = 0; i < n; i++)
        if (!network_has_port(network, ports[i]))
            return laz_error_set(err, LAZ_EINVAL, 0,
                                 "port %u has no listener in this box: network.ports declares "
                                 "further ones before it starts",
                                 (unsigned)ports[i]);
    network->rules = laz_network_rules_hold(rules);
    for (struct network_connection *one = network->connections; one; one = next) {
        next = one->next;
        network_connection_match(one);
    }
    laz_network_rules_drop(before);
    network->told_connections = false;
    network_stir(network);
    return 0;
}

void laz_network_catch_up(struct laz_network *network)
{
    unsigned n = 0;

    while (n < NETWORK_CATCH_UPS && network_dns_serve(network))
        n++;
    for (size_t i = 0; i < network->n_listeners; i++)
        network_listener_ready(&network->listeners[i], LAZ_IO_READ);
    network_tell_waiting(network);
    for (n = 0; n < NETWORK_CATCH_UPS && network_watch_hear(network);)
        n++;
}

unsigned laz_network_connections(const struct laz_network *network)
{
    return network->n_connections;
}

void laz_network_bytes(const struct laz_network *network, uint64_t *out, uint64_t *in)
{
    *out = network->bytes[NETWORK_BOX];
    *in = network->bytes[NETWORK_SERVER];
}

void laz_network_deny(const struct laz_network *network, const char *name, uint16_t port,
                      const char *text)
{
    const struct network_refusal refusal = {.what = LAZ_DENIED_CREDENTIAL,
                                            .name = name,
                                            .port = port,
                                            .rule =
                                                network_rule_for_name(network->rules, name, port),
                                            .is_permanent = true};

    network_deny(network, &refusal, "%s", text);
}

void laz_network_stop(struct laz_network *network)
{
    if (!network)
        return;
    while (network->connections)
        network_connection_close(network->connections, true);
    network_lookups_stop(network);
    network_dns_stop(network);
    for (size_t i = 0; i < LAZ_OS_WATCHES; i++)
        laz_io_stop(network->watches[i]);
    for (size_t i = 0; i < network->n_listeners; i++)
        laz_io_stop(network->listeners[i].io);
    laz_timer_stop(network->timer);
    laz_os_network_close(&network->sockets);
    network_names_free(network->names);
    laz_network_rules_drop(network->rules);
    free(network);
}
