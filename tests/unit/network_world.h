/* SPDX-License-Identifier: MIT */
/* network_world.h - a network of its own for a test of connections: servers at public addresses, a
 * DNS server, and boxes, each a child in a namespace that lazaret has made. */
#ifndef LAZ_TESTS_NETWORK_WORLD_H
#define LAZ_TESTS_NETWORK_WORLD_H

#include "network/network.h"
#include "unit.h"

#include <stdint.h>
#include <sys/types.h>

/* In a box and in a server, which are other processes: ends it with a line. */
#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            world_fail(#condition, __FILE__, __LINE__);                                            \
    } while (0)
_Noreturn void world_fail(const char *what, const char *file, int line);

/* Moves this process into a network namespace in which every address is its own. False: not here,
 * and the tests are skipped. */
bool world_begin(void);
extern const struct unit_test world_missing[]; /* the tests then */

/* ---- servers --------------------------------------------------------------------------------- */

#define WORLD_DNS "127.0.0.1:5300"

/* What the DNS server says of a name: addresses in turn, each answer has `n` of them, and the next
 * one goes on where it stopped. An address of a kind that was not asked for is left out. */
struct world_name {
    const char *name;
    const char *addresses[8];
    unsigned n;
    bool is_silent; /* it never answers */
};
/* Starts it; ended by world_end_servers. */
void world_dns(const struct world_name *names, size_t n);
/* Queries that have come for a name, of either kind; NULL: for all that are not known. */
unsigned world_asked(const struct world_name *names, const char *name);

enum world_server {
    WORLD_ECHO, /* a line with the address that was connected to, then what comes, until its end */
    WORLD_SINK, /* reads until the end, then a checksum in hex and the end */
    WORLD_SOURCE, /* reads "BYTES\n", sends so many */
    WORLD_RESET,  /* resets at the first byte */
    WORLD_HTTP,   /* for each head an answer with its first line */
    WORLD_SWITCH, /* answers 101 to the first head, then echo */
    WORLD_RETRY,  /* wants another ClientHello, then echo */
    WORLD_SILENT, /* accepts, and nothing */
};
/* Serves at an address ("0.0.0.0": all) and a port until world_end_servers. */
void world_serve(enum world_server what, const char *address, uint16_t port);
void world_end_servers(void);

/* The byte of a stream at a position, and the sum over the first `n` of them. */
uint8_t world_byte(uint64_t at);
uint32_t world_sum(uint32_t sum, const uint8_t *data, size_t len);

/* ---- boxes ----------------------------------------------------------------------------------- */

struct world {
    struct laz_driver driver;
    struct laz_network_shared *shared;
    struct laz_network_rules *rules;
    struct laz_network *network;
    struct laz_denials denials;
    unsigned n_denials; /* of all kinds and counts */
    bool owns;          /* the loop */
    int descriptors;    /* of the process, before the network */
    pid_t holder;       /* of the namespace: */
    int space;
    pid_t child;
    struct laz_io *io;
    int end; /* of a connection to the child */
    char said[64];
    size_t n_said;
};

/* A box with a list; the texts end with NULL. Port 7000 of the host may be listed, and the host
 * fixed.example has the address 10.9.9.9. */
void world_open(struct world *world, const char *const *allow);
/* The same with other bounds than the usual ones: connections at once, bytes. */
void world_open_bounded(struct world *world, const char *const *allow, uint64_t connections,
                        uint64_t bytes);
/* Another box on the same loop. */
void world_open_beside(struct world *world, struct world *first, const char *const *allow);
/* Stops its network; with the first one of a loop asserts that nothing is left. */
void world_close(struct world *world);
struct laz_network_rules *world_rules(const char *const *allow, uint64_t connections,
                                      uint64_t bytes);

/* Has a child in the box do `act`, which ends with 0, or by MUST. */
void world_start(struct world *world, void (*act)(void *user), void *user);
/* Steps until it has ended, and asserts that it ended well. */
void world_finish(struct world *world);
/* Kills it. */
void world_kill(struct world *world);
void world_run(struct world *world, void (*act)(void *user), void *user);
/* Steps until the child has said so many letters with box_say. */
void world_await(struct world *world, size_t letters);
/* Lets the child go on that waits in box_hear. */
void world_say(struct world *world);
/* Steps until so many connections are open. */
void world_until(struct world *world, unsigned connections);
/* Handles what has come, without waiting. */
void world_settle(struct world *world);
/* How often this was refused, by its name, its address or (NULL) any. */
unsigned world_denied(const struct world *world, enum laz_denied what, const char *whom);
const struct laz_denial *world_denial(const struct world *world, enum laz_denied what);

/* ---- in a box -------------------------------------------------------------------------------- */

void box_say(char letter);
void box_hear(void);
/* A query of DNS, as over UDP. */
size_t box_query(const char *name, uint16_t type, uint8_t query[300]);
/* The address of a name, as the host tells it; 0: there is none. */
uint32_t box_look_up(const char *name);
/* A connection, or -1 with errno. */
int box_connect(uint32_t address, uint16_t port);
int box_connect_text(const char *address, uint16_t port);
int box_dial(const char *name, uint16_t port);
void box_send(int fd, const void *data, size_t len);
void box_puts(int fd, const char *text);
/* Reads a line without its newline. False: the connection has ended. */
bool box_line(int fd, char line[256]);
/* Reads to the end: the number of bytes, or -1 with errno. */
ssize_t box_drain(int fd);
/* Waits for a reset; false: it was an end, or bytes came. */
bool box_is_reset(int fd);
/* A ClientHello for a name; NULL: for none. */
size_t box_hello(const char *name, uint8_t hello[512]);

#endif
