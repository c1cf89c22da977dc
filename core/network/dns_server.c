/* SPDX-License-Identifier: MIT */
/* dns_server.c - the sockets at which a box asks for names.
 * Side: host.  Input trusted: no.
 *
 * So many queries are answered in a turn, and so many in a second; the others stay in the kernel's
 * buffers, which are bounded.  Over TCP a peer that leaves answers unread loses its connection. */
#include "network/running.h"

#include "base/container.h"
#include "os/descriptors.h"
#include "os/io.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DNS_A     1
#define DNS_AAAA  28
#define DNS_HTTPS 65
#define DNS_QUERY 512u /* most bytes of a query */
/* Read at once of a connection: no more than 16 of the shortest queries (RFC 1035, section 4.2.2).
 */
#define DNS_READ 304u

struct network_dns_peer {
    struct network_dns_peer *next;
    struct laz_network *network;
    int fd;
    struct laz_io *io;
    uint64_t due_ms;
    uint8_t in[2 + DNS_QUERY + DNS_READ];
    size_t len;
};

/* ---- answers --------------------------------------------------------------------------------- */

static bool dns_may_answer(struct laz_network *network)
{
    return network_rate_allows(network, &network->dns_answered, NETWORK_DNS_SECOND);
}

/* Who asks for A asks for AAAA and HTTPS as well: that is one refusal. */
static void dns_refused(struct laz_network *network, const struct network_dns_asked *asked)
{
    const bool is_second = asked->type == DNS_AAAA || asked->type == DNS_HTTPS;
    const struct network_refusal refusal = {
        .what = LAZ_DENIED_NAME, .name = asked->name, .may_be_allowed = true, .is_permanent = true};

    if (is_second && strcmp(asked->name, network->dns_refused) == 0)
        return;
    memcpy(network->dns_refused, asked->name, sizeof network->dns_refused);
    if (strcmp(asked->name, "host.lazaret") == 0)
        network_deny(network, &refusal,
                     "a service of the host is offered by ports below [network.host]");
    else if (is_second || asked->type == DNS_A)
        network_deny(network, &refusal, "%s", "");
    else
        network_deny(network, &refusal, "a query of type %u", (unsigned)asked->type);
}

/* Bytes of an answer; 0: there is none. */
static size_t dns_answer(struct laz_network *network, const void *query, size_t len,
                         uint8_t answer[NETWORK_DNS_ANSWER])
{
    struct network_dns_asked asked = {.type = 0};
    size_t n = 0;

    network->dns_answered.n++;
    switch (network_dns_answer(network->rules, network->names, query, len, answer, &n, &asked)) {
    case NETWORK_DNS_IGNORED:
        return 0;
    case NETWORK_DNS_REFUSED:
        dns_refused(network, &asked);
        break;
    case NETWORK_DNS_ANSWERED:
        break;
    }
    return n;
}

/* Nothing more is read until the next tick. */
static void dns_pause(struct laz_network *network, bool is_paused)
{
    const uint32_t events = is_paused ? 0 : LAZ_IO_READ;

    if (network->dns_is_paused == is_paused)
        return;
    network->dns_is_paused = is_paused;
    (void)laz_io_events(network->dns_io, events);
    for (struct network_dns_peer *peer = network->dns_peers; peer; peer = peer->next)
        (void)laz_io_events(peer->io, events);
    network_tend(network);
}

/* ---- packets --------------------------------------------------------------------------------- */

bool network_dns_serve(struct laz_network *network)
{
    uint8_t query[DNS_QUERY + 1], answer[NETWORK_DNS_ANSWER];
    struct laz_endpoint from;
    unsigned done = 0;

    for (; done < NETWORK_DNS_TURN; done++) {
        if (!dns_may_answer(network)) {
            dns_pause(network, true);
            return false;
        }
        const ssize_t n = laz_os_inet_receive(network->sockets.dns_udp, query, sizeof query, &from);
        if (n < 0)
            break;
        const size_t len =
            n <= (ssize_t)DNS_QUERY ? dns_answer(network, query, (size_t)n, answer) : 0;
        if (len)
            laz_os_inet_send(network->sockets.dns_udp, answer, len, &from);
    }
    return done == NETWORK_DNS_TURN;
}

void network_dns_ready(void *user, uint32_t events)
{
    (void)events;
    (void)network_dns_serve(user);
}

/* ---- connections ----------------------------------------------------------------------------- */

static void dns_peer_close(struct network_dns_peer *peer)
{
    struct laz_network *network = peer->network;

    LAZ_LIST_REMOVE(network->dns_peers, peer);
    network->n_dns_peers--;
    network->shared->descriptors--;
    laz_io_stop(peer->io);
    laz_os_close(&peer->fd);
    free(peer);
}

/* Answers the next query that is complete. 1: it did, 0: there is none, -1: a breach, or an answer
 * that is not read. */
static int dns_peer_answer(struct network_dns_peer *peer)
{
    const size_t len = peer->len < 2 ? 0 : (size_t)peer->in[0] << 8 | peer->in[1];
    uint8_t answer[2 + NETWORK_DNS_ANSWER];

    if (peer->len < 2)
        return 0;
    if (!len || len > DNS_QUERY)
        return -1;
    if (peer->len < 2 + len)
        return 0;
    const size_t n = dns_answer(peer->network, peer->in + 2, len, answer + 2);
    answer[0] = (uint8_t)(n >> 8);
    answer[1] = (uint8_t)n;
    if (!n || laz_os_send(peer->fd, answer, 2 + n) != (ssize_t)(2 + n))
        return -1;
    peer->len -= 2 + len;
    memmove(peer->in, peer->in + 2 + len, peer->len);
    return 1;
}

static void dns_peer_ready(void *user, uint32_t events)
{
    struct network_dns_peer *peer = user;
    struct laz_network *network = peer->network;
    int answered = 1;

    (void)events;
    if (!dns_may_answer(network)) {
        dns_pause(network, true);
        return;
    }
    const ssize_t n = laz_os_read(peer->fd, peer->in + peer->len, DNS_READ);
    peer->len += n > 0 ? (size_t)n : 0;
    while (n > 0 && answered > 0)
        answered = dns_peer_answer(peer);
    if (n < 0 || answered < 0)
        dns_peer_close(peer);
    else
        peer->due_ms = laz_loop_now_ms(network->shared->driver->loop) + NETWORK_DNS_IDLE_MS;
}

void network_dns_accepted(struct laz_network *network, int fd)
{
    struct laz_loop *loop = network->shared->driver->loop;
    struct network_dns_peer *peer =
        network->n_dns_peers < NETWORK_DNS_PEERS ? calloc(1, sizeof *peer) : NULL;

    if (peer)
        peer->io =
            laz_io_start(loop, fd, network->dns_is_paused ? 0 : LAZ_IO_READ, dns_peer_ready, peer);
    if (!peer || !peer->io) {
        free(peer);
        laz_os_reset(&fd);
        return;
    }
    peer->network = network;
    peer->fd = fd;
    peer->due_ms = laz_loop_now_ms(loop) + NETWORK_DNS_IDLE_MS;
    peer->next = network->dns_peers;
    network->dns_peers = peer;
    network->n_dns_peers++;
    network->shared->descriptors++;
    network_tend(network);
}

/* ---- time ------------------------------------------------------------------------------------ */

bool network_dns_tick(struct laz_network *network, uint64_t now_ms, uint64_t held_up_ms)
{
    struct network_dns_peer *next;

    for (struct network_dns_peer *peer = network->dns_peers; peer; peer = next) {
        next = peer->next;
        peer->due_ms += held_up_ms;
        if (now_ms >= peer->due_ms)
            dns_peer_close(peer);
    }
    if (dns_may_answer(network))
        dns_pause(network, false);
    return network->dns_peers || network->dns_is_paused;
}

void network_dns_stop(struct laz_network *network)
{
    while (network->dns_peers)
        dns_peer_close(network->dns_peers);
    laz_io_stop(network->dns_io);
}
