/* SPDX-License-Identifier: MIT */
/* watch.c - what a box tries where nobody listens: heads of packets, as the kernel shows them.
 * Side: host.  Input trusted: no.
 *
 * The kernel has refused these packets already, and its filter leaves out those to listeners; they
 * are looked at for the refusal's words alone. */
#include "network/running.h"

#include <string.h>

#define WATCH_TCP  6
#define WATCH_UDP  17
#define WATCH_FOUR 20u /* least bytes of a header of IPv4 */
#define WATCH_SIX  40u /* bytes of a header of IPv6 */

struct watch_packet {
    struct network_address to;
    uint8_t protocol;
    uint16_t port; /* 0: it is not in sight */
};

/* Reads the head of a packet. False: it is not one of IP. */
static bool watch_read(const uint8_t *head, size_t len, struct watch_packet *packet)
{
    size_t after;

    memset(packet, 0, sizeof *packet);
    if (len >= WATCH_FOUR && head[0] >> 4 == 4) {
        packet->to.family = 4;
        memcpy(packet->to.bytes, head + 16, 4);
        packet->protocol = head[9];
        after = (size_t)(head[0] & 15) * 4;
        if (after < WATCH_FOUR || (head[6] & 31) || head[7]) /* not its first fragment */
            return false;
    } else if (len >= WATCH_SIX && head[0] >> 4 == 6) {
        packet->to.family = 6;
        memcpy(packet->to.bytes, head + 24, 16);
        packet->protocol = head[6];
        after = WATCH_SIX;
    } else {
        return false;
    }
    if ((packet->protocol == WATCH_TCP || packet->protocol == WATCH_UDP) && len >= after + 4)
        packet->port = (uint16_t)(head[after + 2] << 8 | head[after + 3]);
    return true;
}

static void watch_packet(const struct laz_network *network, const uint8_t *head, size_t len)
{
    struct watch_packet packet;

    if (!watch_read(head, len, &packet))
        return;
    if (packet.protocol == WATCH_TCP)
        network_deny_address(network, &packet.to, packet.port, NULL, false);
    else if (packet.protocol == WATCH_UDP)
        network_deny_address(network, &packet.to, packet.port,
                             packet.port == 443
                                 ? "UDP is not let through; QUIC (HTTP/3) falls back to TCP"
                                 : "UDP is not let through",
                             false);
}

static void watch_pause(struct laz_network *network, bool is_paused)
{
    for (size_t i = 0; i < LAZ_OS_WATCHES; i++)
        if (network->watches[i])
            (void)laz_io_events(network->watches[i], is_paused ? 0 : LAZ_IO_READ);
}

bool network_watch_hear(struct laz_network *network)
{
    uint8_t head[LAZ_OS_WATCH_BYTES];
    unsigned heard = 0;
    ssize_t n;

    for (; heard < NETWORK_WATCH_TURN; heard++) {
        if (!network_rate_allows(network, &network->watched, NETWORK_WATCH_SECOND)) {
            watch_pause(network, true); /* the kernel keeps some, and drops the rest */
            network_tend(network);
            return false;
        }
        network->watched.n++;
        n = laz_os_network_hear(&network->sockets, head);
        if (n <= 0)
            break;
        watch_packet(network, head, (size_t)n);
    }
    return heard == NETWORK_WATCH_TURN;
}

void network_watch_ready(void *user, uint32_t events)
{
    (void)events;
    (void)network_watch_hear(user);
}

void network_watch_tick(struct laz_network *network)
{
    watch_pause(network, false);
}
