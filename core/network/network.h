/* SPDX-License-Identifier: MIT */
/* network.h - what the room offers: the way out of a box, by a list of names.
 * Side: host.  Input trusted: no (all that comes from a box or from a server), but for the list.
 *
 * A box with a list has a network namespace of its own, in which every port of the list has a
 * listening socket; the host holds these sockets (os/network.h).  The host answers DNS there, with
 * false addresses (198.18.0.0/15, RFC 2544) for listed names only.  It accepts what code connects
 * to, knows by the address which name was meant, decides by the rules, looks the name up, judges
 * the addresses, connects, and copies bytes.  Nothing is decided by what code can change later.
 *
 * The list is a value, `struct laz_network_rules`: rules.c makes it of texts and answers questions
 * about it.  `struct laz_network` is one box's way out, on the loop of its engine. */
#ifndef LAZ_NETWORK_NETWORK_H
#define LAZ_NETWORK_NETWORK_H

#include "base/buf.h"
#include "base/error.h"
#include "loop/driver.h"
#include "os/network.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- the list -------------------------------------------------------------------------------- */

/* What a list is made of; all is borrowed. A rule is a text ("https://api.example.com",
 * "*.data.example.org:443", "10.0.0.0/8:443", "*:443", "host.lazaret:5432") or
 * a JSON object: {"host":"db.internal:5432","to":["10.0.0.0/8"]}: private addresses that the name
 * may have; {"name":"db.lazaret:5432","unix":"/run/postgresql/.s.PGSQL.5432","dangerous":true}: a
 * socket of the host. A rule without a port means 443; with http:// 80. */
struct laz_network_wish {
    const struct laz_strv *allow;
    const struct laz_strv *hosts;      /* NAME=ADDRESS, before any lookup */
    const struct laz_strv *host_ports; /* of the host's loopback: as rules host.lazaret:PORT, which
                                          another list has to name */
    const struct laz_strv *ports;      /* further ports that have listeners */
    const char *resolver;              /* ADDRESS or ADDRESS:PORT; NULL or "": the system's */
    bool deny_private;
    uint64_t max_connections, max_bytes; /* at once; each way, in the life of a box */
};

/* Never changes; counted. */
struct laz_network_rules;

/* Errors: LAZ_ECONFIG, which names the rule and what is wrong with it; *wrong (NULL is allowed) is
 * then its text in the wish (borrowed), or NULL: none of it. LAZ_ENOMEM. */
int laz_network_rules_new(const struct laz_network_wish *wish, struct laz_network_rules **rules,
                          const char **wrong, struct laz_error *err);
struct laz_network_rules *laz_network_rules_hold(const struct laz_network_rules *rules);
void laz_network_rules_drop(struct laz_network_rules *rules); /* NULL is allowed */
/* Other rules with the same hosts, resolver and bounds: a list of a session, or a new one of it.
 * `rules`: those of the settings, which alone offer what is the host's: its ports, its sockets, and
 * addresses of loopback, link-local networks and metadata. */
int laz_network_rules_other(const struct laz_network_rules *rules, const struct laz_strv *allow,
                            struct laz_network_rules **other, const char **wrong,
                            struct laz_error *err);
/* Is all that the list permits permitted by `rules` as well? LAZ_EREFUSED: no; else as
 * laz_network_rules_other. Where `rules` ask more of some names of a wildcard, rules for these are
 * added to the list. */
int laz_network_rules_narrow(const struct laz_network_rules *rules, struct laz_strv *allow,
                             struct laz_error *err);
/* What listed names have as addresses inside: RFC 2544, for tests of devices, and never routed. */
#define LAZ_NETWORK_FALSE_RANGE "198.18.0.0/15"
/* Does it permit anything? */
bool laz_network_rules_any(const struct laz_network_rules *rules);
/* The ports that need listeners, ascending: those of its rules and the further ones. At most
 * LAZ_OS_NETWORK_PORTS. */
size_t laz_network_rules_ports(const struct laz_network_rules *rules,
                               uint16_t ports[LAZ_OS_NETWORK_PORTS]);
/* Appends the rules as a JSON array of texts, as they were written. */
void laz_network_rules_json(const struct laz_network_rules *rules, struct laz_buf *json);
/* Appends warnings about it, for `plan`: a socket of the host sees the host's user; a rule without
 * TLS or HTTP is decided by the name alone. */
void laz_network_rules_warn(const struct laz_network_rules *rules, struct laz_strv *warnings);

/* The host of a credential: a name with a port or without (443), or names below one
 * ("*.example.com").
 */
struct laz_network_host {
    char name[254]; /* as names are compared; of a wildcard without "*." */
    uint16_t port;
    bool is_wildcard;
};
/* LAZ_ECONFIG says what is wrong: no host, or not one that is spoken to by TLS. LAZ_ENOMEM. */
int laz_network_host_parse(const char *text, struct laz_network_host *host, struct laz_error *err);
bool laz_network_host_has(const struct laz_network_host *host, const char *name, uint16_t port);
/* Do the rules permit it, by TLS? Of a wildcard: any name below it that is listed, or may be. */
bool laz_network_rules_have(const struct laz_network_rules *rules,
                            const struct laz_network_host *host);

/* ---- denials --------------------------------------------------------------------------------- */

enum laz_denied {
    LAZ_DENIED_NAME,        /* asked for a name that is not listed */
    LAZ_DENIED_PORT,        /* a listed name, on a port that is not */
    LAZ_DENIED_ADDRESS,     /* an address that is not listed: a literal */
    LAZ_DENIED_SERVER_NAME, /* TLS for another name, for none, or with a hidden one (ECH) */
    LAZ_DENIED_HOST,        /* HTTP for another host, or a request that cannot be judged */
    LAZ_DENIED_PRIVATE,     /* the name has only addresses that may not be reached */
    LAZ_DENIED_PROTOCOL,    /* UDP, or another protocol than the rule's */
    LAZ_DENIED_LIMIT,       /* connections, bytes, time */
    LAZ_DENIED_UNREACHABLE, /* permitted, but no server: no such name, refused, no route */
    LAZ_DENIED_CREDENTIAL,  /* of a request with a credential, or of its answer */
    LAZ_N_DENIED
};

/* One refusal. Texts are bounded and printable: what came from a box is escaped. */
struct laz_denial {
    enum laz_denied what;
    char name[256];    /* "": none was known */
    char address[48];  /* "": none was known */
    uint16_t port;     /* 0: none */
    uint64_t count;    /* how often, since it was told first */
    char rule[300];    /* of the list that came closest; "": none */
    char allow[340];   /* the line of TOML that would permit it; "": nothing would, or should */
    char detail[160];  /* "the server name was \"other.example\"" */
    bool is_permanent; /* to try again is useless */
};

/* The word of the JSON member `what`: "name", "port", ... */
const char *laz_denied_word(enum laz_denied what);
/* One line for people and models, without a newline: "api.example.com:443 is not in the network
 * list (allow = [\"https://api.example.com\"] below [network])". */
void laz_denial_text(const struct laz_denial *denial, struct laz_buf *text);
/* Appends it as a JSON object: {what, name, address, port, count, rule, allow, detail, retry,
 * source}; texts and a port that are not known are left out. retry: "useless" or "later"; source:
 * "network". */
void laz_denial_json(const struct laz_denial *denial, struct laz_buf *json);

#define LAZ_DENIALS 10 /* different ones that are kept */

/* Different denials in the order in which they came; equal ones are counted. */
struct laz_denials {
    struct laz_denial *items; /* room for LAZ_DENIALS, or NULL: none yet */
    size_t n;
    uint64_t others; /* different ones beyond these, counted each time */
};
/* Adds it. True: it is the first of its kind, and was kept. */
bool laz_denials_add(struct laz_denials *denials, const struct laz_denial *denial);
void laz_denials_fini(struct laz_denials *denials);

/* ---- the way out of one box ------------------------------------------------------------------ */

struct laz_network;
struct laz_network_shared; /* of an engine: the resolver, and room for what is copied */

/* Made when the first box needs it. */
int laz_network_shared_new(struct laz_driver *driver, struct laz_network_shared **shared,
                           struct laz_error *err);
/* After all of its ways out were stopped. NULL is allowed. */
void laz_network_shared_free(struct laz_network_shared *shared);

struct laz_network_owner {
    void *user;
    /* On the loop: something was refused. */
    void (*denied)(void *user, const struct laz_denial *denial);
    /* Is there something between a box and servers of this name? NULL: nothing is. */
    bool (*has_way)(void *user, const char *name, uint16_t port);
    /* Puts it there: takes `server`, a connection to one. Returns the end of it for the box, which
     * does not block, or -1 with a text. */
    int (*put_way)(void *user, const char *name, uint16_t port, int server, const char **why);
    /* Has this text, which goes out in clear, what only has_way may have? What it is called, or
     * NULL. */
    const char *(*finds)(void *user, const char *text, size_t len);
};

/* Serves a box from now on. Takes the sockets, also after an error. Holds the rules. */
int laz_network_start(struct laz_network_shared *shared, const struct laz_network_rules *rules,
                      struct laz_os_network *sockets, const struct laz_network_owner *owner,
                      struct laz_network **network, struct laz_error *err);
/* Other rules from now on; connections that they do not permit are closed. LAZ_EINVAL: a port of
 * theirs has no listener (the text names it), and nothing has changed. */
int laz_network_change(struct laz_network *network, const struct laz_network_rules *rules,
                       struct laz_error *err);
/* Hears what was refused and not read yet, without waiting: before a result is made. */
void laz_network_catch_up(struct laz_network *network);
/* Connections that are open, half-open ones included. */
unsigned laz_network_connections(const struct laz_network *network);
/* Bytes from the box to servers, and back. */
void laz_network_bytes(const struct laz_network *network, uint64_t *out, uint64_t *in);
/* What stands between (put_way) has refused something to this name. */
void laz_network_deny(const struct laz_network *network, const char *name, uint16_t port,
                      const char *text);
/* Closes all at once. NULL is allowed. */
void laz_network_stop(struct laz_network *network);

#endif
