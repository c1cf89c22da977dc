/* SPDX-License-Identifier: MIT */
/* resolve.c - names to addresses, by c-ares on the loop.
 * Side: host.  Input trusted: no (answers; names are normal ones that a rule permits).
 *
 * A name is looked up as it is, without search domains or aliases: in the host's file of names,
 * then at the servers.  c-ares cannot cancel one lookup of several, so one whose connection has
 * ended stays until its answer, and is counted for its box until then. */
#include "network/running.h"

#include "base/container.h"
#include "os/descriptors.h"

#define CARES_NO_DEPRECATED
#include <ares.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESOLVE_TIMEOUT_MS 2000 /* of the first try; each further one takes longer */
#define RESOLVE_TRIES      3
#define RESOLVE_FRESH_MS   30000 /* the system's servers may be others after that */

struct resolver_socket {
    struct resolver_socket *next;
    struct network_resolver *resolver;
    int fd;
    struct laz_io *io;
};

struct network_resolver {
    struct network_resolver *next;
    struct laz_loop *loop;
    struct network_address server; /* family 0: those of the system */
    uint16_t port;
    ares_channel channel;
    uint64_t made_ms;
    unsigned n_lookups;
    struct resolver_socket *sockets;
    struct laz_timer *timer;
};

/* ---- on the loop ----------------------------------------------------------------------------- */

/* Has the timer run when c-ares wants to be called next. */
static void resolver_time(struct network_resolver *resolver)
{
    struct timeval tv, *next = ares_timeout(resolver->channel, NULL, &tv);

    if (next)
        laz_timer_start(resolver->timer,
                        (uint64_t)next->tv_sec * 1000 + (uint64_t)next->tv_usec / 1000 + 1);
    else
        laz_timer_cancel(resolver->timer);
}

static void resolver_due(void *user)
{
    struct network_resolver *resolver = user;

    ares_process_fd(resolver->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
    resolver_time(resolver);
}

static void resolver_ready(void *user, uint32_t events)
{
    const struct resolver_socket *one = user;
    struct network_resolver *resolver = one->resolver;
    const int fd = one->fd; /* it may be closed now, and the watch with it */

    ares_process_fd(resolver->channel, events & LAZ_IO_READ ? fd : ARES_SOCKET_BAD,
                    events & LAZ_IO_WRITE ? fd : ARES_SOCKET_BAD);
    resolver_time(resolver);
}

/* c-ares wants to read, to write, or neither: then it is about to close the socket. */
static void resolver_wants(void *user, ares_socket_t fd, int reads, int writes)
{
    struct network_resolver *resolver = user;
    struct resolver_socket *one = resolver->sockets;
    const uint32_t events = (reads ? LAZ_IO_READ : 0) | (writes ? LAZ_IO_WRITE : 0);

    while (one && one->fd != fd)
        one = one->next;
    if (one && events) {
        (void)laz_io_events(one->io, events);
    } else if (one) {
        LAZ_LIST_REMOVE(resolver->sockets, one);
        laz_io_stop(one->io);
        free(one);
    } else if (events && (one = calloc(1, sizeof *one))) {
        *one = (struct resolver_socket){resolver->sockets, resolver, fd, NULL};
        one->io = laz_io_start(resolver->loop, fd, events, resolver_ready, one);
        if (one->io)
            resolver->sockets = one;
        else
            free(one); /* the lookup takes until its end of time */
    }
}

/* ---- sockets of c-ares: closed by exec from their first moment, none a standard stream ------- */

static ares_socket_t resolver_socket(int domain, int type, int protocol, void *user)
{
    (void)user;
    return laz_os_inet_socket(domain, type, protocol);
}

static int resolver_close(ares_socket_t fd, void *user)
{
    (void)user;
    laz_os_close(&fd);
    return 0;
}

static int resolver_connect(ares_socket_t fd, const struct sockaddr *address, ares_socklen_t len,
                            void *user)
{
    (void)user;
    return laz_os_inet_connect_to(fd, address, len);
}

static ares_ssize_t resolver_receive(ares_socket_t fd, void *data, size_t len, int flags,
                                     struct sockaddr *from, ares_socklen_t *from_len, void *user)
{
    (void)user;
    return laz_os_inet_receive_from(fd, data, len, flags, from, from_len);
}

static ares_ssize_t resolver_send(ares_socket_t fd, const struct iovec *parts, int n, void *user)
{
    (void)user;
    return laz_os_inet_send_parts(fd, parts, n);
}

/* ---- a resolver ------------------------------------------------------------------------------ */

static void resolver_end(struct network_resolver *resolver)
{
    if (resolver->channel)
        ares_destroy(resolver->channel); /* ends what is under way, and closes its sockets */
    resolver->channel = NULL;
    laz_timer_cancel(resolver->timer);
}

static int resolver_begin(struct network_resolver *resolver)
{
    static const struct ares_socket_functions functions = {
        resolver_socket, resolver_close, resolver_connect, resolver_receive, resolver_send};
    char lookups[] = "fb", text[NETWORK_ADDRESS_TEXT], server[NETWORK_ADDRESS_TEXT + 10];
    struct ares_options options = {.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES,
                                   .timeout = RESOLVE_TIMEOUT_MS,
                                   .tries = RESOLVE_TRIES,
                                   .lookups = lookups,
                                   .sock_state_cb = resolver_wants,
                                   .sock_state_cb_data = resolver};
    const int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS |
                     ARES_OPT_DOMAINS | ARES_OPT_SOCK_STATE_CB;
    int status = ares_init_options(&resolver->channel, &options, mask);

    if (status != ARES_SUCCESS) {
        resolver->channel = NULL;
        return status;
    }
    ares_set_socket_functions(resolver->channel, &functions, NULL);
    resolver->made_ms = laz_loop_now_ms(resolver->loop);
    if (!resolver->server.family)
        return ARES_SUCCESS;
    network_address_format(&resolver->server, text);
    snprintf(server, sizeof server, resolver->server.family == 6 ? "[%s]:%u" : "%s:%u", text,
             (unsigned)resolver->port);
    status = ares_set_servers_ports_csv(resolver->channel, server);
    if (status != ARES_SUCCESS)
        resolver_end(resolver);
    return status;
}

static struct network_resolver *resolver_new(struct laz_network_shared *shared,
                                             const struct laz_network_rules *rules)
{
    struct network_resolver *resolver = calloc(1, sizeof *resolver);

    if (!resolver)
        return NULL;
    resolver->loop = shared->driver->loop;
    resolver->server = rules->resolver;
    resolver->port = rules->resolver_port;
    resolver->timer = laz_timer_new(resolver->loop, resolver_due, resolver);
    if (!resolver->timer) {
        free(resolver);
        return NULL;
    }
    resolver->next = shared->resolvers;
    shared->resolvers = resolver;
    return resolver;
}

/* The resolver of a list, which can be asked. NULL: *status says why there is none. */
static struct network_resolver *resolver_get(struct laz_network *network, int *status)
{
    const struct laz_network_rules *rules = network->rules;
    struct network_resolver *one = network->shared->resolvers;

    *status = ARES_ENOMEM;
    while (one && !(network_address_equal(&one->server, &rules->resolver) &&
                    one->port == rules->resolver_port))
        one = one->next;
    if (!one && !(one = resolver_new(network->shared, rules)))
        return NULL;
    if (!one->n_lookups && laz_loop_now_ms(one->loop) >= one->made_ms + RESOLVE_FRESH_MS)
        resolver_end(one);
    *status = one->channel ? ARES_SUCCESS : resolver_begin(one);
    return *status == ARES_SUCCESS ? one : NULL;
}

void network_resolvers_free(struct laz_network_shared *shared)
{
    while (shared->resolvers) {
        struct network_resolver *one = shared->resolvers;
        shared->resolvers = one->next;
        resolver_end(one);
        laz_timer_stop(one->timer);
        free(one);
    }
}

/* ---- a lookup -------------------------------------------------------------------------------- */

static bool lookup_address(const struct ares_addrinfo_node *node, struct network_address *address)
{
    memset(address, 0, sizeof *address);
    if (node->ai_family == AF_INET) {
        address->family = 4;
        memcpy(address->bytes, &((const struct sockaddr_in *)(const void *)node->ai_addr)->sin_addr,
               4);
    } else if (node->ai_family == AF_INET6) {
        address->family = 6;
        memcpy(address->bytes,
               &((const struct sockaddr_in6 *)(const void *)node->ai_addr)->sin6_addr, 16);
    }
    return address->family != 0;
}

static void lookup_answered(void *user, int status, int timeouts, struct ares_addrinfo *result)
{
    struct network_lookup *lookup = user;
    struct network_address found[NETWORK_CANDIDATES];
    size_t n = 0;

    (void)timeouts;
    for (const struct ares_addrinfo_node *node = result ? result->nodes : NULL;
         node && n < NETWORK_CANDIDATES; node = node->ai_next)
        n += lookup_address(node, &found[n]);
    if (result)
        ares_freeaddrinfo(result);
    lookup->resolver->n_lookups--;
    if (lookup->network) {
        LAZ_LIST_REMOVE(lookup->network->lookups, lookup);
        lookup->network->n_lookups--;
        if (lookup->network->is_paused)
            network_stir(lookup->network);
    }
    if (lookup->done)
        lookup->done(lookup->user, found, n,
                     status == ARES_SUCCESS ? "it has no address" : ares_strerror(status));
    free(lookup);
}

void network_look_up(struct laz_network *network, const char *name,
                     void (*done)(void *user, const struct network_address *found, size_t n,
                                  const char *why),
                     void *user, struct network_lookup **lookup)
{
    const struct ares_addrinfo_hints hints = {.ai_flags = ARES_AI_NOSORT, .ai_family = AF_UNSPEC};
    int status;
    struct network_resolver *resolver = resolver_get(network, &status);
    struct network_lookup *made = resolver ? calloc(1, sizeof *made) : NULL;

    if (!made) {
        done(user, NULL, 0, ares_strerror(resolver ? ARES_ENOMEM : status));
        return;
    }
    *made = (struct network_lookup){network->lookups, network, resolver, done, user};
    network->lookups = *lookup = made;
    network->n_lookups++;
    resolver->n_lookups++;
    ares_getaddrinfo(resolver->channel, name, NULL, &hints, lookup_answered, made);
    resolver_time(resolver);
}

void network_lookup_cancel(struct network_lookup **lookup)
{
    if (*lookup)
        (*lookup)->done = NULL;
    *lookup = NULL;
}

void network_lookups_stop(struct laz_network *network)
{
    while (network->lookups) {
        struct network_lookup *one = network->lookups;
        network->lookups = one->next;
        one->network = NULL;
        one->done = NULL;
    }
}
