/* SPDX-License-Identifier: MIT */
/* dns.c - the answer to a DNS query of a box.
 * Side: host.  Input trusted: no.
 *
 * Nothing is asked of another server: a query carries nothing out.  A listed name has a false
 * address (false_names.c) and no other record: no address of IPv6, and no HTTPS record (RFC 9460),
 * in which keys for ECH would be.  Any other name does not exist.
 *
 * RFC 1035 (messages: 4.1), RFC 6891 (EDNS), RFC 6761 (localhost), RFC 8482 (the type ANY). */
#include "network/network_private.h"

#include <string.h>

#define DNS_TTL 60

enum { DNS_A = 1, DNS_AAAA = 28, DNS_OPT = 41 };
enum { DNS_IN = 1 };
enum {
    DNS_NOERROR = 0,
    DNS_FORMERR = 1,
    DNS_SERVFAIL = 2,
    DNS_NXDOMAIN = 3,
    DNS_NOTIMP = 4,
    DNS_REFUSED = 5,
    DNS_BADVERS = 16, /* its upper bits are in the record OPT */
};

struct dns_query {
    const uint8_t *data;
    size_t len;
    size_t at;       /* what is read next */
    size_t question; /* bytes of it, behind the header */
    uint16_t type, class;
    bool has_opt, is_old_opt;
    char name[NETWORK_NAME]; /* normal; "": it is none */
};

struct dns_answer {
    uint8_t *data;
    size_t len;
};

/* ---- reading --------------------------------------------------------------------------------- */

static uint16_t dns_16(const uint8_t *at)
{
    return (uint16_t)(at[0] << 8 | at[1]);
}

/* The name of the question: labels, as no pointer can be there. False: it is malformed. */
static bool dns_name(struct dns_query *query, struct network_dns_asked *asked)
{
    char text[256];
    size_t n = 0;
    bool is_name = true;

    for (;;) {
        if (query->at == query->len)
            return false;
        size_t label = query->data[query->at++];
        if (!label)
            break;
        if (label > 63 || label > query->len - query->at || n + label + 1 > 254)
            return false;
        const uint8_t *bytes = query->data + query->at;
        is_name &= !memchr(bytes, '.', label); /* it would look like two labels */
        memcpy(text + n, bytes, label);
        n += label;
        text[n++] = '.';
        query->at += label;
    }
    n -= n > 0;
    network_escape(text, n, asked->name, sizeof asked->name);
    if (!is_name || !network_name_normal(text, n, query->name))
        query->name[0] = '\0';
    return true;
}

/* The one additional record that a query may have. False: it is malformed, or another one. */
static bool dns_opt(struct dns_query *query)
{
    const uint8_t *at = query->data + query->at;
    size_t left = query->len - query->at;

    if (left < 11 || at[0] || dns_16(at + 1) != DNS_OPT || dns_16(at + 9) != left - 11)
        return false;
    query->has_opt = true;
    query->is_old_opt = at[6] != 0; /* the version */
    query->at = query->len;
    return true;
}

/* The code of what is wrong with the query; DNS_NOERROR: nothing. */
static unsigned dns_read(struct dns_query *query, struct network_dns_asked *asked)
{
    const uint8_t *head = query->data;

    if (head[2] >> 3 & 15)
        return DNS_NOTIMP;
    /* One question, no answers, at most one further record, and it was not cut. */
    if (head[2] & 2 || dns_16(head + 4) != 1 || dns_16(head + 6) || dns_16(head + 8) ||
        dns_16(head + 10) > 1)
        return DNS_FORMERR;
    query->at = 12;
    if (!dns_name(query, asked) || query->len - query->at < 4)
        return DNS_FORMERR;
    query->type = asked->type = dns_16(query->data + query->at);
    query->class = dns_16(query->data + query->at + 2);
    query->at += 4;
    size_t question = query->at - 12;
    if (dns_16(head + 10) && !dns_opt(query))
        return DNS_FORMERR;
    if (query->at != query->len)
        return DNS_FORMERR;
    query->question = question;
    return query->is_old_opt ? DNS_BADVERS : query->class != DNS_IN ? DNS_REFUSED : DNS_NOERROR;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* All that is written fits: a question has at most 259 bytes, a record 28, and OPT 11. */
static void dns_put(struct dns_answer *answer, const void *data, size_t len)
{
    memcpy(answer->data + answer->len, data, len);
    answer->len += len;
}

static void dns_put_16(struct dns_answer *answer, unsigned value)
{
    const uint8_t bytes[] = {(uint8_t)(value >> 8), (uint8_t)value};

    dns_put(answer, bytes, sizeof bytes);
}

/* The header, the question as it came (its letters may be a mixture of cases that the client
 * compares), the address and OPT. */
static void dns_write(const struct dns_query *query, unsigned code,
                      const struct network_address *address, struct dns_answer *answer)
{
    size_t size = address && address->family == 6 ? 16 : 4;

    dns_put(answer, query->data, 2);
    /* A response, authoritative, with the opcode and "recursion desired" of the query, and with
     * "recursion available". */
    dns_put_16(answer, 0x8400u | (query->data[2] & 0x79u) << 8 | 0x80u | (code & 15));
    dns_put_16(answer, query->question ? 1 : 0);
    dns_put_16(answer, address ? 1 : 0);
    dns_put_16(answer, 0);
    dns_put_16(answer, query->has_opt ? 1 : 0);
    dns_put(answer, query->data + 12, query->question);
    if (address) {
        dns_put_16(answer, 0xc000 | 12); /* the name of the question */
        dns_put_16(answer, size == 16 ? DNS_AAAA : DNS_A);
        dns_put_16(answer, DNS_IN);
        dns_put_16(answer, 0);
        dns_put_16(answer, DNS_TTL);
        dns_put_16(answer, (unsigned)size);
        dns_put(answer, address->bytes, size);
    }
    if (query->has_opt) {
        dns_put(answer, "", 1);
        dns_put_16(answer, DNS_OPT);
        dns_put_16(answer, NETWORK_DNS_ANSWER);
        dns_put_16(answer, (code >> 4) << 8); /* and the version, 0 */
        dns_put_16(answer, 0);
        dns_put_16(answer, 0);
    }
}

/* ---- deciding -------------------------------------------------------------------------------- */

static bool dns_is_below(const char *name, const char *domain)
{
    size_t len = strlen(name), below = strlen(domain);

    return len >= below && strcmp(name + len - below, domain) == 0 &&
           (len == below || name[len - below - 1] == '.');
}

/* The address of the box itself. False: the type has none. */
static bool dns_localhost(uint16_t type, struct network_address *address)
{
    *address = type == DNS_AAAA ? (struct network_address){6, {[15] = 1}}
                                : (struct network_address){4, {127, 0, 0, 1}};
    return type == DNS_A || type == DNS_AAAA;
}

static enum network_dns dns_decide(const struct laz_network_rules *rules,
                                   struct network_names *names, const struct dns_query *query,
                                   struct dns_answer *answer)
{
    struct network_address address;

    if (dns_is_below(query->name, "localhost"))
        dns_write(query, DNS_NOERROR, dns_localhost(query->type, &address) ? &address : NULL,
                  answer);
    else if (dns_is_below(query->name, "in-addr.arpa") || dns_is_below(query->name, "ip6.arpa"))
        dns_write(query, DNS_NXDOMAIN, NULL, answer); /* addresses have no names here */
    else if (!*query->name || !network_rules_know_name(rules, query->name)) {
        dns_write(query, DNS_NXDOMAIN, NULL, answer);
        return NETWORK_DNS_REFUSED;
    } else if (query->type != DNS_A)
        dns_write(query, DNS_NOERROR, NULL, answer);
    else if (network_names_give(names, query->name, &address))
        dns_write(query, DNS_NOERROR, &address, answer);
    else
        dns_write(query, DNS_SERVFAIL, NULL, answer);
    return NETWORK_DNS_ANSWERED;
}

enum network_dns network_dns_answer(const struct laz_network_rules *rules,
                                    struct network_names *names, const void *query, size_t len,
                                    uint8_t answer[NETWORK_DNS_ANSWER], size_t *answer_len,
                                    struct network_dns_asked *asked)
{
    struct dns_query read = {.data = query, .len = len};
    struct dns_answer written = {.data = answer};
    enum network_dns said = NETWORK_DNS_ANSWERED;

    *asked = (struct network_dns_asked){.type = 0};
    *answer_len = 0;
    if (len < 12 || read.data[2] & 0x80) /* no header, or a response */
        return NETWORK_DNS_IGNORED;
    unsigned code = dns_read(&read, asked);
    if (code == DNS_NOERROR)
        said = dns_decide(rules, names, &read, &written);
    else
        dns_write(&read, code, NULL, &written);
    *answer_len = written.len;
    return said;
}
