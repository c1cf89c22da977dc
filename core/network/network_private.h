/* SPDX-License-Identifier: MIT */
/* network_private.h - what decides and what parses, for the files of the room that connect.
 * Side: host.  Input trusted: no, but for the list.
 *
 * Nothing here waits, allocates for longer than it says, or knows a socket.  What parses gets the
 * bytes that have come so far, in pieces of any size, and says what may be done with them. */
#ifndef LAZ_NETWORK_NETWORK_PRIVATE_H
#define LAZ_NETWORK_NETWORK_PRIVATE_H

#include "http/http.h"
#include "network/network.h"

#include <stdatomic.h>

/* ---- addresses: address.c -------------------------------------------------------------------- */

/* In the order of the network; the bytes that a family does not use are 0. */
struct network_address {
    uint8_t family; /* 4 or 6; 0: none */
    uint8_t bytes[16];
};

#define NETWORK_ADDRESS_TEXT 48

/* Exactly one notation is read: of IPv4 four decimals without leading zeros; of IPv6 that of RFC
 * 4291, section 2.2, without brackets and zones. */
bool network_address_parse(const char *text, size_t len, struct network_address *address);
/* IPv6 as RFC 5952 wants it. */
void network_address_format(const struct network_address *address, char text[NETWORK_ADDRESS_TEXT]);
bool network_address_equal(const struct network_address *a, const struct network_address *b);

/* All addresses that begin with the same bits. */
struct network_block {
    struct network_address address; /* its other bits are 0 */
    uint8_t bits;
};

/* "10.0.0.0/8", or an address. False also where a bit behind the length is set. */
bool network_block_parse(const char *text, size_t len, struct network_block *block);
bool network_block_has(const struct network_block *block, const struct network_address *address);

/* Why an address is not a public one: "private", "loopback", ...; NULL: it is public. IPv6 that
 * carries an IPv4 address is judged by that one as well. */
const char *network_class(const struct network_address *address);
/* Is it of a class that no rule can permit: unspecified, multicast, IPv4 in disguise, ... ? */
bool network_class_is_final(const struct network_address *address);
/* Or of one that a rule has to name: loopback, link-local, metadata of a cloud? */
bool network_class_is_named(const struct network_address *address);
/* Does the whole block belong to one class that is not public? Only then it names its addresses. */
bool network_block_is_one_class(const struct network_block *block);

/* ---- names: name.c, idn.c -------------------------------------------------------------------- */

#define NETWORK_NAME 254 /* 253 bytes and a NUL */

/* A name from the wire, in the form in which names are compared: in lower case, without a trailing
 * dot, labels of 1 to 63 letters, digits, '-' and '_'. False: it is none, or an address in whatever
 * notation (its last label is a number). */
bool network_name_normal(const char *text, size_t len, char name[NETWORK_NAME]);
/* The same for a name of the configuration, with A-labels for what is not ASCII. LAZ_ECONFIG says
 * what is wrong with it, without naming it. */
int network_name_of_list(const char *text, size_t len, char name[NETWORK_NAME],
                         struct laz_error *err);
/* The same for one that has bytes beyond ASCII: idn.c. */
int network_name_idn(const char *text, size_t len, char name[NETWORK_NAME], struct laz_error *err);
/* Does it end in ".lazaret"? Such names stand for services of the host. */
bool network_name_is_ours(const char *name);
/* Any text of a stranger on one printable line, cut where it is too long. */
void network_escape(const char *text, size_t len, char *out, size_t size);

/* ---- rules: rules.c, rule.c ------------------------------------------------------------------ */

enum network_kind {
    NETWORK_RULE_NAME,     /* this name */
    NETWORK_RULE_WILDCARD, /* names with one or more labels in front of this one */
    NETWORK_RULE_ANY,      /* any name, of which only public addresses are used */
    NETWORK_RULE_ADDRESS,  /* literals of a block; no name that resolves into it */
    NETWORK_RULE_HOST,     /* host.lazaret: this port of the host's loopback */
    NETWORK_RULE_UNIX,     /* a name below .lazaret: a socket of the host */
};

enum network_layer {
    NETWORK_LAYER_PLAIN, /* decided by the name, or address, alone */
    NETWORK_LAYER_TLS,   /* the server name of the ClientHello equals the name */
    NETWORK_LAYER_HTTP,  /* the Host of each request equals the name */
};

struct network_rule {
    const char *text; /* as it was written */
    enum network_kind kind;
    enum network_layer layer;
    uint16_t port;
    char name[NETWORK_NAME];    /* WILDCARD: without "*."; ANY and ADDRESS: "" */
    struct network_block block; /* ADDRESS */
    struct network_block *to;   /* further addresses that the name may have */
    size_t n_to;
    char *path; /* UNIX */
};

/* An address of the configuration, which is used instead of a lookup. */
struct network_host {
    char name[NETWORK_NAME];
    struct network_address address;
};

struct laz_network_rules {
    atomic_uint holders;
    struct laz_strv texts; /* of the rules */
    struct network_rule *items;
    size_t n;
    struct network_host *hosts;
    size_t n_hosts;
    uint16_t *host_ports; /* that rules may name */
    size_t n_host_ports;
    uint16_t *further; /* ports that have listeners, beside those of the rules */
    size_t n_further;
    uint16_t ports[LAZ_OS_NETWORK_PORTS]; /* all that have listeners, ascending */
    size_t n_ports;
    struct network_address resolver; /* family 0: the system's */
    uint16_t resolver_port;
    bool deny_private;
    uint64_t max_connections, max_bytes;
};

/* One rule of its text: rule.c. `rule` is zeroed, and to be freed also after an error. */
int network_rule_parse(const char *text, struct network_rule *rule, struct laz_error *err);
void network_rule_fini(struct network_rule *rule);
/* A port that a list may have. */
int network_port_parse(const char *text, uint16_t *port, struct laz_error *err);

/* Names are normal ones. The rule that permits it and is the most specific; NULL: none. */
const struct network_rule *network_rule_for_name(const struct laz_network_rules *rules,
                                                 const char *name, uint16_t port);
const struct network_rule *network_rule_for_address(const struct laz_network_rules *rules,
                                                    const struct network_address *address,
                                                    uint16_t port);
/* Is it listed, on whatever port? */
bool network_rules_know_name(const struct laz_network_rules *rules, const char *name);
/* For denials: the rule that comes closest to a name or (NULL) to an address; NULL: none is near.
 */
const struct network_rule *network_rule_closest(const struct laz_network_rules *rules,
                                                const char *name,
                                                const struct network_address *address,
                                                uint16_t port);
/* The address of the configuration for a name; NULL: it is looked up. */
const struct network_address *network_rules_host(const struct laz_network_rules *rules,
                                                 const char *name);
/* May this address be connected to for the rule? It is the literal, or one of those that `name`
 * resolved to (NULL: a literal). Not asked for UNIX. */
bool network_may_connect(const struct laz_network_rules *rules, const struct network_rule *rule,
                         const char *name, const struct network_address *address);

/* ---- false addresses: false_names.c ---------------------------------------------------------- */

#define NETWORK_FALSE_NAMES 4096 /* that are known at once */

/* Names that were asked for, each with an address of 198.18.0.0/15. */
struct network_names;
int network_names_new(struct network_names **names, struct laz_error *err);
void network_names_free(struct network_names *names); /* NULL is allowed */
/* The address of a normal name, the same while it is known; the name that was used longest ago is
 * forgotten for it. False: out of memory. */
bool network_names_give(struct network_names *names, const char *name,
                        struct network_address *address);
/* The name of a false address, which counts as a use; NULL: none has it. Borrowed until the next
 * call of network_names_give. */
const char *network_names_find(struct network_names *names, const struct network_address *address);
bool network_is_false(const struct network_address *address); /* of 198.18.0.0/15 */

/* ---- DNS: dns.c ------------------------------------------------------------------------------ */

#define NETWORK_DNS_ANSWER 512

enum network_dns {
    NETWORK_DNS_IGNORED,  /* no answer: it is not even a query */
    NETWORK_DNS_ANSWERED, /* a listed name, or a query that is answered with an error */
    NETWORK_DNS_REFUSED,  /* answered: there is no such name, because it is not listed */
};

struct network_dns_asked {
    char name[256]; /* printable; "": none could be read */
    uint16_t type;
};

/* The answer to one query, without the length that TCP has in front. */
enum network_dns network_dns_answer(const struct laz_network_rules *rules,
                                    struct network_names *names, const void *query, size_t len,
                                    uint8_t answer[NETWORK_DNS_ANSWER], size_t *answer_len,
                                    struct network_dns_asked *asked);

/* ---- TLS: hello.c ---------------------------------------------------------------------------- */

#define NETWORK_HELLO_BYTES 32768 /* of a connection that are looked at */

enum network_hello {
    NETWORK_HELLO_MORE,     /* it is not complete */
    NETWORK_HELLO_NAME,     /* `name` is the server name */
    NETWORK_HELLO_NONE,     /* it has no server name, or one that is not a name */
    NETWORK_HELLO_HIDDEN,   /* it may have an encrypted one inside (ECH), real or pretended */
    NETWORK_HELLO_NOT_TLS,  /* no ClientHello, or a malformed one */
    NETWORK_HELLO_TOO_LONG, /* more than is looked at */
};

/* Of all bytes that have come from the client. *used: bytes of the records in which it stands,
 * where it is NAME. *why: a text for people where it is neither MORE nor NAME. */
enum network_hello network_hello(const void *data, size_t len, char name[NETWORK_NAME],
                                 size_t *used, const char **why);

#define NETWORK_ANSWER_BYTES 43 /* up to the random of a ServerHello */

/* What a server says first, of which so many bytes are looked at. */
enum network_answer {
    NETWORK_ANSWER_MORE,
    NETWORK_ANSWER_FINAL, /* the server has taken the ClientHello, or refused it */
    NETWORK_ANSWER_RETRY, /* it wants another one, which could have another name (RFC 8446, 4.1.4)
                           */
};
enum network_answer network_answer(const uint8_t *data, size_t len);
/* That other one, of all bytes that have come from the client behind the first. */
enum network_hello network_hello_again(const void *data, size_t len, char name[NETWORK_NAME],
                                       const char **why);

/* ---- HTTP/1: http.c, http_head.c ------------------------------------------------------------- */

enum network_http_state {
    NETWORK_HTTP_FORWARD, /* that many bytes may be forwarded */
    NETWORK_HTTP_UPGRADE, /* the same; what follows waits for what the server says to the first
                             request: network_http_status */
    NETWORK_HTTP_REFUSED, /* these and all later bytes; the connection is closed */
};

/* One connection. What is not forwarded is kept by the caller, who gives it again with what came
 * since: at most LAZ_HTTP_HEAD_MOST bytes. */
struct network_http {
    const char *name; /* that each Host has to equal; borrowed */
    uint16_t port;
    const char *why; /* REFUSED: a text for people */
    char host[256];  /* REFUSED: the other host, printable; "": it is not about one */

    /* For http.c and http_head.c alone. */
    struct laz_http_stream stream;
    uint64_t left; /* bytes of the body that follow a head */
    bool is_chunked;
    bool wants_upgrade, may_upgrade; /* the request does; to what is judged no more */
    bool is_first;                   /* request */
    bool waits;                      /* for the server's word on an upgrade */
    char status[12];                 /* the server's status line as far as it has come */
    size_t n_status;
    unsigned blank; /* ends of lines in a row, of an interim answer */
};

void network_http_begin(struct network_http *http, const char *name, uint16_t port);
/* How many bytes of the client may be forwarded. */
size_t network_http_feed(struct network_http *http, const char *data, size_t len,
                         enum network_http_state *state);

enum network_http_status {
    NETWORK_HTTP_MORE,     /* the server has not said it yet */
    NETWORK_HTTP_SWITCHED, /* another protocol, which is forwarded as it is; feed says so */
    NETWORK_HTTP_ORDINARY, /* requests are judged as before */
    NETWORK_HTTP_WRONG,    /* a protocol that cannot be judged: the connection is closed */
};

/* Judges a whole head, and takes from it what follows. NULL, or why it is refused: http_head.c. */
const char *network_http_judge(struct network_http *http, const char *head, size_t len);

/* While an upgrade waits: what came from the server since the last call. It is forwarded in any
 * case but WRONG. */
enum network_http_status network_http_status(struct network_http *http, const char *data,
                                             size_t len);

/* ---- denials: denials.c ---------------------------------------------------------------------- */

/* The line of TOML that would permit a normal name, or (NULL) an address; "": none would. `port` 0:
 * it is not known. */
void network_allow_line(char line[340], const char *name, const struct network_address *address,
                        uint16_t port);

#endif
