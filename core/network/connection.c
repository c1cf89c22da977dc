/* SPDX-License-Identifier: MIT */
/* connection.c - the life of a connection: whom it is for, where that is, and its end.
 * Side: host.  Input trusted: no.
 *
 * The rule follows from the address that the box wanted, and from nothing that it sends.  A name is
 * looked up once, each of its addresses is judged immediately before it is connected to, and no
 * other one is used.  While there is no server the box sees a connection that was accepted; where
 * none can be had it sees a reset, and the owner is told why. */
#include "network/running.h"

#include "base/container.h"
#include "os/descriptors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t connection_due(const struct network_connection *c, uint64_t ms)
{
    return laz_loop_now_ms(c->network->shared->driver->loop) + ms;
}

static const char *connection_name(const struct network_connection *c)
{
    return c->name[0] ? c->name : NULL;
}

static void connection_deny(const struct network_connection *c, enum laz_denied what,
                            const char *text, const char *detail)
{
    const struct network_refusal refusal = {.what = what,
                                            .name = connection_name(c),
                                            .address = c->name[0] ? NULL : &c->wanted,
                                            .port = c->port,
                                            .rule = c->rule};

    network_deny(c->network, &refusal, "%s%s", text, detail);
}

/* ---- its end --------------------------------------------------------------------------------- */

static void connection_close_side(struct network_side *side, bool resets)
{
    laz_io_stop(side->io);
    side->io = NULL;
    if (resets)
        laz_os_reset(&side->fd);
    else
        laz_os_close(&side->fd);
}

void network_connection_close(struct network_connection *c, bool resets)
{
    struct laz_network *network = c->network;

    network_lookup_cancel(&c->lookup);
    for (int i = NETWORK_BOX; i <= NETWORK_SERVER; i++) {
        connection_close_side(&c->sides[i], resets);
        laz_buf_fini(&c->sides[i].out);
    }
    if (c->previous)
        c->previous->next = c->next;
    else
        network->connections = c->next;
    if (c->next)
        c->next->previous = c->previous;
    network->n_connections--;
    network->n_half_open -= c->state != NETWORK_OPEN;
    network->shared->descriptors -= 2;
    if (network->is_paused)
        network_stir(network);
    free(c->http);
    free(c);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void connection_box_ready(void *user, uint32_t events);
static void connection_server_ready(void *user, uint32_t events);

static bool connection_watch_side(struct network_connection *c, int at, uint32_t events)
{
    struct network_side *side = &c->sides[at];

    if (side->io)
        return laz_io_events(side->io, events);
    if (!events)
        return true;
    side->io = laz_io_start(c->network->shared->driver->loop, side->fd, events,
                            at == NETWORK_BOX ? connection_box_ready : connection_server_ready, c);
    return side->io != NULL;
}

/* Waits for what can be next. */
static void connection_watch(struct network_connection *c)
{
    uint32_t box = 0, server = 0;

    switch (c->state) {
    case NETWORK_HEAD:
        box = LAZ_IO_READ;
        break;
    case NETWORK_LOOKUP:
        break;
    case NETWORK_CONNECTING:
        server = LAZ_IO_WRITE;
        break;
    case NETWORK_OPEN:
        box = network_copy_events(c, NETWORK_BOX);
        server = network_copy_events(c, NETWORK_SERVER);
        break;
    }
    if (connection_watch_side(c, NETWORK_BOX, box) &&
        (c->sides[NETWORK_SERVER].fd < 0 || connection_watch_side(c, NETWORK_SERVER, server)))
        return;
    connection_deny(c, LAZ_DENIED_LIMIT, "the host cannot watch it: ", laz_errno_text(errno));
    network_connection_close(c, true);
}

static void connection_limited(struct laz_network *network)
{
    const struct network_refusal refusal = {.what = LAZ_DENIED_LIMIT, .is_permanent = true};

    network_deny(network, &refusal, "as many bytes as max_bytes says have been carried");
    while (network->connections)
        network_connection_close(network->connections, true);
}

static void connection_copied(struct network_connection *c, enum network_copied copied)
{
    switch (copied) {
    case NETWORK_COPY_GOES_ON:
        connection_watch(c);
        break;
    case NETWORK_COPY_ENDED:
    case NETWORK_COPY_BROKEN:
        network_connection_close(c, copied == NETWORK_COPY_BROKEN);
        break;
    case NETWORK_COPY_LIMITED:
        connection_limited(c->network);
        break;
    }
}

static void connection_move(struct network_connection *c, int at, uint32_t events)
{
    enum network_copied copied = NETWORK_COPY_GOES_ON;

    if (events & LAZ_IO_WRITE)
        copied = network_copy_to(c, at);
    if (copied == NETWORK_COPY_GOES_ON && (events & LAZ_IO_READ))
        copied = network_copy_from(c, at);
    connection_copied(c, copied);
}

/* ---- to a server ----------------------------------------------------------------------------- */

static bool connection_may(const struct network_connection *c,
                           const struct network_address *address)
{
    return network_may_connect(c->network->rules, c->rule, connection_name(c), address);
}

/* None of its addresses was connected to. */
static void connection_unreachable(struct network_connection *c, const char *why)
{
    connection_deny(c, LAZ_DENIED_UNREACHABLE, "", why);
    network_connection_close(c, true);
}

static void connection_private(struct network_connection *c)
{
    const struct network_address *first = &c->candidates[0];
    const char *class = network_class(first);
    char text[NETWORK_ADDRESS_TEXT];
    const struct network_refusal refusal = {.what = LAZ_DENIED_PRIVATE,
                                            .name = connection_name(c),
                                            .address = first,
                                            .port = c->port,
                                            .rule = c->rule,
                                            .is_permanent = true};

    network_address_format(first, text);
    if (class && c->rule->kind == NETWORK_RULE_NAME && !network_class_is_final(first) &&
        !network_class_is_named(first))
        network_deny(c->network, &refusal,
                     "%s is not a public address: %s; the rule permits it when it is in its `to`",
                     text, class);
    else
        network_deny(c->network, &refusal,
                     class ? "%s is not a public address: %s" : "%s may not be used%s", text,
                     class ? class : "");
    network_connection_close(c, true);
}

/* Tries the next of its addresses. */
static void connection_next(struct network_connection *c)
{
    struct network_side *server = &c->sides[NETWORK_SERVER];

    c->state = NETWORK_CONNECTING;
    while (server->fd < 0 && c->at < c->n_candidates) {
        const struct network_address *address = &c->candidates[c->at++];
        struct laz_endpoint to = {.family = address->family, .port = c->port};
        memcpy(to.bytes, address->bytes, sizeof to.bytes);
        if (!connection_may(c, address))
            continue;
        server->fd = laz_os_inet_connect(&to);
        if (server->fd < 0)
            c->why = errno;
    }
    if (server->fd >= 0) {
        c->due_ms = connection_due(c, NETWORK_CONNECT_MS);
        connection_watch(c);
    } else if (c->why) {
        connection_unreachable(c, laz_errno_text(c->why));
    } else {
        connection_private(c);
    }
}

static void connection_failed(struct network_connection *c, int why)
{
    c->why = why;
    connection_close_side(&c->sides[NETWORK_SERVER], false);
    connection_next(c);
}

/* Something of the owner's goes between, if it is for this name. False: it was closed. */
static bool connection_put_way(struct network_connection *c)
{
    const struct laz_network_owner *owner = &c->network->owner;
    struct network_side *server = &c->sides[NETWORK_SERVER];
    const char *why = "";

    if (!owner->has_way || !c->name[0] || c->rule->layer == NETWORK_LAYER_HTTP ||
        !owner->has_way(owner->user, c->name, c->port))
        return true;
    laz_io_stop(server->io);
    server->io = NULL;
    server->fd = owner->put_way(owner->user, c->name, c->port, server->fd, &why);
    c->prompt = NETWORK_PROMPT;
    if (server->fd >= 0)
        return true;
    connection_deny(c, LAZ_DENIED_CREDENTIAL, why, "");
    network_connection_close(c, true);
    return false;
}

static void connection_connected(struct network_connection *c)
{
    const int why = laz_os_inet_outcome(c->sides[NETWORK_SERVER].fd);

    if (why) {
        connection_failed(c, why);
        return;
    }
    if (!connection_put_way(c))
        return;
    c->state = NETWORK_OPEN;
    c->due_ms = connection_due(c, NETWORK_IDLE_MS);
    c->network->n_half_open--;
    if (c->network->is_paused)
        network_stir(c->network);
    connection_copied(c, network_copy_to(c, NETWORK_SERVER));
}

static void connection_server_ready(void *user, uint32_t events)
{
    struct network_connection *c = user;

    if (c->state == NETWORK_CONNECTING)
        connection_connected(c);
    else
        connection_move(c, NETWORK_SERVER, events);
}

static void connection_found(void *user, const struct network_address *found, size_t n,
                             const char *why)
{
    struct network_connection *c = user;

    c->lookup = NULL;
    c->n_candidates = n < NETWORK_CANDIDATES ? n : NETWORK_CANDIDATES;
    if (!n) {
        connection_unreachable(c, why);
        return;
    }
    memcpy(c->candidates, found, c->n_candidates * sizeof *found);
    connection_next(c);
}

static void connection_look_up(struct network_connection *c)
{
    if (c->network->n_lookups >= NETWORK_LOOKUPS) {
        connection_deny(c, LAZ_DENIED_LIMIT, "too many names are being looked up", "");
        network_connection_close(c, true);
        return;
    }
    c->state = NETWORK_LOOKUP;
    c->due_ms = connection_due(c, NETWORK_LOOKUP_MS);
    (void)connection_watch_side(c, NETWORK_BOX, 0);
    network_look_up(c->network, c->name, connection_found, c, &c->lookup);
}

static void connection_to_socket(struct network_connection *c)
{
    struct network_side *server = &c->sides[NETWORK_SERVER];

    c->state = NETWORK_CONNECTING;
    c->due_ms = connection_due(c, NETWORK_CONNECT_MS);
    server->fd = laz_os_path_connect(c->rule->path);
    if (server->fd < 0)
        connection_unreachable(
            c, errno == ELOOP
                   ? "there is a symbolic link on the path of its socket: write where it leads to"
                   : laz_errno_text(errno));
    else
        connection_watch(c);
}

/* Its beginning is good: now it gets its server. */
static void connection_reach(struct network_connection *c)
{
    static const struct network_address loopback[] = {{4, {127, 0, 0, 1}}, {6, {[15] = 1}}};
    const struct network_address *host =
        c->name[0] ? network_rules_host(c->network->rules, c->name) : &c->wanted;

    if (c->rule->kind == NETWORK_RULE_UNIX)
        connection_to_socket(c);
    else if (c->rule->kind == NETWORK_RULE_HOST)
        connection_found(c, loopback, 2, NULL);
    else if (host)
        connection_found(c, host, 1, NULL);
    else
        connection_look_up(c);
}

/* ---- its beginning --------------------------------------------------------------------------- */

static void connection_judged(struct network_connection *c, enum network_head head)
{
    switch (head) {
    case NETWORK_HEAD_MORE:
        connection_watch(c);
        break;
    case NETWORK_HEAD_GOOD:
        connection_reach(c);
        break;
    case NETWORK_HEAD_REFUSED:
        network_connection_close(c, true);
        break;
    }
}

static void connection_box_ready(void *user, uint32_t events)
{
    struct network_connection *c = user;

    if (c->state == NETWORK_HEAD)
        connection_judged(c, network_head_read(c));
    else if (c->state == NETWORK_OPEN)
        connection_move(c, NETWORK_BOX, events);
}

/* The rule for what the box wanted, and the name that it meant; NULL: there is none. */
static const struct network_rule *connection_rule(const struct laz_network *network,
                                                  const struct network_address *address,
                                                  uint16_t port, const char **name)
{
    const bool is_false = network_is_false(address);

    *name = is_false ? network_names_find(network->names, address) : NULL;
    if (!is_false)
        return network_rule_for_address(network->rules, address, port);
    return *name ? network_rule_for_name(network->rules, *name, port) : NULL;
}

static bool connection_is_used_up(const struct laz_network *network)
{
    return network->bytes[NETWORK_BOX] > network->rules->max_bytes ||
           network->bytes[NETWORK_SERVER] > network->rules->max_bytes;
}

void network_connection_new(struct laz_network *network, int fd, const struct laz_endpoint *wanted)
{
    struct network_address address = {.family = wanted->family};
    const char *name;

    memcpy(address.bytes, wanted->bytes, sizeof address.bytes);
    const struct network_rule *rule = connection_rule(network, &address, wanted->port, &name);
    if (!rule)
        network_deny_address(network, &address, wanted->port, NULL, true);
    struct network_connection *c = rule ? calloc(1, sizeof *c) : NULL;
    if (!c) {
        laz_os_reset(&fd);
        return;
    }
    c->network = network;
    c->rule = rule;
    c->sides[NETWORK_BOX].fd = fd;
    c->sides[NETWORK_SERVER].fd = -1;
    c->wanted = address;
    c->port = wanted->port;
    memcpy(c->name, name ? name : "", name ? strlen(name) + 1 : 1);
    c->due_ms = connection_due(c, NETWORK_HEAD_MS);
    c->next = network->connections;
    if (c->next)
        c->next->previous = c;
    network->connections = c;
    network->n_connections++;
    network->n_half_open++;
    network->shared->descriptors += 2;
    network_tend(network);
    if (connection_is_used_up(network))
        connection_limited(network);
    else
        connection_judged(c, network_head_begin(c));
}

/* ---- time, and other rules ------------------------------------------------------------------- */

static void connection_late(struct network_connection *c)
{
    switch (c->state) {
    case NETWORK_HEAD:
        connection_deny(c, LAZ_DENIED_LIMIT, "no complete beginning came within 10 seconds", "");
        network_connection_close(c, true);
        break;
    case NETWORK_LOOKUP:
        connection_unreachable(c, "its name was not found within 15 seconds");
        break;
    case NETWORK_CONNECTING:
        connection_failed(c, ETIMEDOUT);
        break;
    case NETWORK_OPEN:
        connection_deny(c, LAZ_DENIED_LIMIT, "nothing was sent for 15 minutes", "");
        network_connection_close(c, true);
        break;
    }
}

void network_connection_tick(struct network_connection *c, uint64_t now_ms, uint64_t held_up_ms)
{
    c->due_ms += held_up_ms;
    if (c->is_active) {
        c->is_active = false;
        c->due_ms = now_ms + NETWORK_IDLE_MS;
    } else if (now_ms >= c->due_ms) {
        connection_late(c);
    }
}

void network_connection_match(struct network_connection *c)
{
    const struct network_rule *rule =
        c->name[0] ? network_rule_for_name(c->network->rules, c->name, c->port)
                   : network_rule_for_address(c->network->rules, &c->wanted, c->port);
    const bool is_unix = c->rule->kind == NETWORK_RULE_UNIX;
    bool stays = rule && rule->layer == c->rule->layer &&
                 (rule->kind == NETWORK_RULE_UNIX) == is_unix &&
                 (!is_unix || strcmp(rule->path, c->rule->path) == 0);

    c->rule = rule;
    if (stays && !is_unix && c->sides[NETWORK_SERVER].fd >= 0)
        stays = connection_may(c, &c->candidates[c->at - 1]);
    if (!stays)
        network_connection_close(c, true);
}
