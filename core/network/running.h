/* SPDX-License-Identifier: MIT */
/* running.h - what the files share that serve a box: its way out, its connections, its lookups.
 * Side: host.  Input trusted: no.
 *
 * network.c accepts and tells time, connection.c has the life of a connection, which uses head.c
 * (is the beginning that of what the rule wants?), copy.c (bytes, both ways) and resolve.c (names
 * to addresses); dns_server.c and watch.c hear the rest.  Calls go in this order only: whoever ends
 * something has the timer of the way out look whether more can be accepted. */
#ifndef LAZ_NETWORK_RUNNING_H
#define LAZ_NETWORK_RUNNING_H

#include "network/network_private.h"
#include "os/inet.h"

/* ---- bounds ---------------------------------------------------------------------------------- */

#define NETWORK_TICK_MS     1000
#define NETWORK_HELD_UP_MS  1000  /* a tick so late means that the loop stood still */
#define NETWORK_HEAD_MS     10000 /* from a connection to its whole ClientHello or first request */
#define NETWORK_LOOKUP_MS   15000
#define NETWORK_CONNECT_MS  10000  /* of each address */
#define NETWORK_IDLE_MS     900000 /* without a byte */
#define NETWORK_DNS_IDLE_MS 10000  /* of a connection for DNS */

#define NETWORK_HALF_OPEN    32u /* connections of a box that have no server yet */
#define NETWORK_LOOKUPS      32u /* of a box, with those whose connection has ended */
#define NETWORK_CANDIDATES   16u /* addresses of a name that are tried */
#define NETWORK_ACCEPTS      16u /* connections that are accepted in one turn */
#define NETWORK_DNS_TURN     64u /* queries that are answered in one turn */
#define NETWORK_DNS_SECOND   2000u
#define NETWORK_DNS_PEERS    8u
#define NETWORK_WATCH_TURN   64u
#define NETWORK_WATCH_SECOND 1000u
/* Reads at the beginning of TLS that the host ends: it says nothing to the last words of a
 * handshake, and a client that has not set TCP_NODELAY would wait 40 ms for its acknowledgement. */
#define NETWORK_PROMPT 4u
#define NETWORK_READ   ((size_t)64 << 10) /* read at once, of one connection in a turn */

/* ---- shared by the ways out of an engine ----------------------------------------------------- */

struct network_resolver;

struct laz_network_shared {
    struct laz_driver *driver;
    struct network_resolver *resolvers; /* one for each resolver that a list names */
    char *bounce;                       /* NETWORK_READ bytes on their way */
    uint64_t descriptors, most_descriptors;
};

/* ---- the way out of a box -------------------------------------------------------------------- */

struct network_listener {
    struct laz_network *network;
    struct laz_io *io;
    int fd; /* borrowed */
    bool is_dns;
};

struct network_dns_peer;
struct network_connection;

/* How much was done in a second of the loop's clock. */
struct network_rate {
    uint64_t second;
    unsigned n;
};

struct laz_network {
    struct laz_network_shared *shared;
    struct laz_network_rules *rules;
    struct laz_os_network sockets;
    struct laz_network_owner owner;
    struct network_names *names;

    struct network_listener listeners[LAZ_OS_NETWORK_PORTS + 1]; /* the last one: for DNS */
    size_t n_listeners;
    bool is_paused; /* nothing is accepted */
    bool is_short;  /* something is used up, until the next tick */
    struct laz_io *watches[LAZ_OS_WATCHES];
    struct network_rate watched;
    struct laz_timer *timer;
    bool ticks;         /* the timer was started: something can be late */
    uint64_t ticked_ms; /* when that was */

    struct network_connection *connections;
    unsigned n_connections, n_half_open, n_lookups;
    struct network_lookup *lookups;
    uint64_t bytes[2]; /* that came from the box, from servers */
    bool told_connections, told_descriptors;

    struct laz_io *dns_io;
    struct network_dns_peer *dns_peers;
    unsigned n_dns_peers;
    struct network_rate dns_answered;
    bool dns_is_paused;
    char dns_refused[256]; /* the name that was told last */
};

static inline void network_begin_tick(struct laz_network *network, uint64_t ms)
{
    if (!network->ticks)
        network->ticked_ms = laz_loop_now_ms(network->shared->driver->loop);
    network->ticks = true;
    laz_timer_start(network->timer, ms);
}

/* Has the timer run: in the next turn, since more can be done now; at its time. */
static inline void network_stir(struct laz_network *network)
{
    network_begin_tick(network, 0);
}

static inline void network_tend(struct laz_network *network)
{
    if (!network->ticks)
        network_begin_tick(network, NETWORK_TICK_MS);
}

/* May more be done in this second? */
static inline bool network_rate_allows(const struct laz_network *network, struct network_rate *rate,
                                       unsigned most)
{
    const uint64_t second = laz_loop_now_ms(network->shared->driver->loop) / 1000;

    if (second != rate->second)
        *rate = (struct network_rate){.second = second};
    return rate->n < most;
}

/* ---- denials: deny.c ------------------------------------------------------------------------- */

struct network_refusal {
    enum laz_denied what;
    const char *name; /* printable; NULL: none is known */
    const struct network_address *address;
    uint16_t port;
    const struct network_rule *rule; /* NULL: the closest */
    bool may_be_allowed;             /* a line of the list would permit it */
    bool is_permanent;
};
void network_deny(const struct laz_network *network, const struct network_refusal *refusal,
                  const char *detail, ...) LAZ_PRINTF(3, 4);
/* What was tried at an address and a port is refused: a listed name on another port, a name that is
 * not listed any more, a literal. Nothing is told of loopback, which is the box's own business,
 * unless it was `accepted` here. `udp`: it was UDP, with a text about that; else NULL. */
void network_deny_address(const struct laz_network *network, const struct network_address *address,
                          uint16_t port, const char *udp, bool accepted);

/* ---- DNS: dns_server.c ----------------------------------------------------------------------- */

/* Answers what has come, within the bounds of a turn and of a second. True: something did. */
bool network_dns_serve(struct laz_network *network);
void network_dns_ready(void *network, uint32_t events);
void network_dns_accepted(struct laz_network *network, int fd);
/* A tick: whoever waits goes on, whoever is idle is closed. True: somebody is left. */
bool network_dns_tick(struct laz_network *network, uint64_t now_ms, uint64_t held_up_ms);
void network_dns_stop(struct laz_network *network);

/* ---- packets: watch.c ------------------------------------------------------------------------ */

void network_watch_ready(void *network, uint32_t events);
/* Hears one turn's share. True: there was that much. */
bool network_watch_hear(struct laz_network *network);
/* A tick: it hears again. */
void network_watch_tick(struct laz_network *network);

/* ---- lookups: resolve.c ---------------------------------------------------------------------- */

struct network_lookup {
    struct network_lookup *next; /* of its box */
    struct laz_network *network; /* NULL: it was stopped, and nobody waits */
    struct network_resolver *resolver;
    /* Called once, unless it was cancelled: `n` addresses, at most NETWORK_CANDIDATES; why: a text
     * where there are none. */
    void (*done)(void *user, const struct network_address *found, size_t n, const char *why);
    void *user;
};
/* Looks a name up. May call `done` at once, and is that connection's last act then; *lookup is set
 * before, and belongs to this file. */
void network_look_up(struct laz_network *network, const char *name,
                     void (*done)(void *user, const struct network_address *found, size_t n,
                                  const char *why),
                     void *user, struct network_lookup **lookup);
void network_lookup_cancel(struct network_lookup **lookup);
void network_lookups_stop(struct laz_network *network);
void network_resolvers_free(struct laz_network_shared *shared);

/* ---- a connection ---------------------------------------------------------------------------- */

enum network_state {
    NETWORK_HEAD,       /* its beginning is read */
    NETWORK_LOOKUP,     /* its name is looked up */
    NETWORK_CONNECTING, /* to one of the addresses */
    NETWORK_OPEN,
};

enum { NETWORK_BOX, NETWORK_SERVER };

struct network_side {
    int fd;
    struct laz_io *io;
    struct laz_buf out; /* for it: what it has not taken yet */
    size_t sent, may;   /* of `out`: was sent; may be sent, because it was judged */
    bool ended;         /* nothing more comes from it */
    bool shut;          /* nothing more is sent to it */
    bool gone;          /* it takes no more: what the other side sends is read and dropped, because
                         * that one may not read before */
};

struct network_connection {
    struct network_connection *next, *previous;
    struct laz_network *network;
    const struct network_rule *rule; /* of the network's rules */
    enum network_state state;
    struct network_side sides[2];
    bool is_broken;  /* one side took no more: the other one gets a reset in the end */
    bool is_active;  /* bytes came since the last tick */
    unsigned prompt; /* so many reads of the box are acknowledged at once */
    uint64_t due_ms;
    char name[NETWORK_NAME]; /* "": a literal */
    struct network_address wanted;
    uint16_t port;
    struct network_http *http; /* where each request is judged */
    bool is_judged;            /* what the box sends now is, before it is sent on */
    bool waits;                /* for what the server says of an upgrade, or of a ClientHello: */
    uint8_t answer[NETWORK_ANSWER_BYTES];
    size_t n_answer;
    struct network_lookup *lookup;
    struct network_address candidates[NETWORK_CANDIDATES];
    size_t n_candidates, at; /* those that were taken for a connection */
    int why;                 /* the errno of the last one that failed */
};

/* Takes the descriptor. */
void network_connection_new(struct laz_network *network, int fd, const struct laz_endpoint *wanted);
/* Closes it. `resets`: its peers learn that something is wrong. */
void network_connection_close(struct network_connection *connection, bool resets);
/* `held_up_ms`: for so long nobody drove the loop, which is not the peers' fault. */
void network_connection_tick(struct network_connection *connection, uint64_t now_ms,
                             uint64_t held_up_ms);
/* Other rules are in force. */
void network_connection_match(struct network_connection *connection);

/* Of the beginning of a connection, and of each request: head.c. */
enum network_head {
    NETWORK_HEAD_MORE,
    NETWORK_HEAD_GOOD,
    NETWORK_HEAD_REFUSED, /* and a denial was told */
};
enum network_head network_head_begin(struct network_connection *connection);
enum network_head network_head_read(struct network_connection *connection);
/* The same of what has come since, where it is judged; and what the server has sent meanwhile. */
enum network_head network_head_more(struct network_connection *connection);
bool network_head_server(struct network_connection *connection, const char *data, size_t len);

/* Of one that is open: copy.c. */
enum network_copied {
    NETWORK_COPY_GOES_ON,
    NETWORK_COPY_ENDED,
    NETWORK_COPY_BROKEN,  /* it is to be reset */
    NETWORK_COPY_LIMITED, /* as are all others: max_bytes is used up */
};
enum network_copied network_copy_from(struct network_connection *connection, int side);
enum network_copied network_copy_to(struct network_connection *connection, int side);
/* The events to wait for at a side. */
uint32_t network_copy_events(const struct network_connection *connection, int side);

#endif
