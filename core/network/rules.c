/* SPDX-License-Identifier: MIT */
/* rules.c - a network list as a value, and what it permits.
 * Side: host.  Input trusted: the list is; names and addresses that are asked about are not.
 *
 * A list never changes: another one takes its place, and connections are asked about again.  Of
 * several rules for a name the most specific one decides: the name itself, then the longest
 * wildcard, then "*".  What no rule permits is refused. */
#include "network/network_private.h"

#include "base/json_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RULES_MOST 1024

/* ---- making one ------------------------------------------------------------------------------ */

/* What is wrong with a text of the wish. */
static int rules_wrong(struct laz_error *err, int rc, const char *what, const char *text,
                       const char **wrong)
{
    char shown[120];

    if (rc != LAZ_ECONFIG)
        return rc;
    network_escape(text, strlen(text), shown, sizeof shown);
    laz_error_prefix(err, "network: %s%s%s: ", what, *what ? " " : "", shown);
    if (wrong)
        *wrong = text;
    return rc;
}

static int rules_add_port(uint16_t **ports, size_t *n, uint16_t port, struct laz_error *err)
{
    for (size_t i = 0; i < *n; i++)
        if ((*ports)[i] == port)
            return 0;
    uint16_t *item = laz_grow(ports, n, sizeof **ports);
    if (!item)
        return laz_error_nomem(err);
    *item = port;
    return 0;
}

static int rules_take_ports(const struct laz_strv *texts, const char *what, uint16_t **ports,
                            size_t *n, const char **wrong, struct laz_error *err)
{
    for (size_t i = 0; texts && i < texts->n; i++) {
        uint16_t port;
        int rc = network_port_parse(texts->items[i], &port, err);
        if (!rc)
            rc = rules_add_port(ports, n, port, err);
        if (rc)
            return rules_wrong(err, rc, what, texts->items[i], wrong);
    }
    return 0;
}

static int rules_host(struct laz_network_rules *rules, const char *text, struct laz_error *err)
{
    const char *equals = strchr(text, '=');
    struct network_host *host = laz_grow(&rules->hosts, &rules->n_hosts, sizeof *host);
    char name[NETWORK_NAME];
    struct network_address address;

    if (!host)
        return laz_error_nomem(err);
    if (!equals || !network_address_parse(equals + 1, strlen(equals + 1), &address))
        return laz_error_set(err, LAZ_ECONFIG, 0,
                             "expected NAME=ADDRESS, with four decimals (db.internal=10.0.0.5) or "
                             "IPv6 without brackets");
    if (network_class_is_final(&address))
        return laz_error_set(err, LAZ_ECONFIG, 0, "no rule permits an address of this kind (%s)",
                             network_class(&address));
    int rc = network_name_of_list(text, (size_t)(equals - text), name, err);
    if (rc)
        return rc;
    if (network_name_is_ours(name))
        return laz_error_set(err, LAZ_ECONFIG, 0, "names below .lazaret have no addresses");
    if (network_rules_host(rules, name))
        return laz_error_set(err, LAZ_ECONFIG, 0, "the name has an address already");
    memcpy(host->name, name, sizeof name);
    host->address = address;
    return 0;
}

/* ADDRESS or ADDRESS:PORT, with brackets around IPv6 that has a port. */
static int rules_resolver(struct laz_network_rules *rules, const char *text, struct laz_error *err)
{
    bool is_bracketed = *text == '[';
    const char *from = text + is_bracketed, *end = text + strlen(text), *port = NULL;
    static const uint16_t dns = 53;
    struct laz_error ignored;

    rules->resolver_port = dns;
    if (is_bracketed) {
        end = strchr(text, ']');
        port = end && end[1] == ':' ? end + 2 : NULL;
        if (!end || (end[1] && !port))
            end = from; /* it is no address then */
    } else if (strchr(text, ':') && strchr(text, ':') == strrchr(text, ':')) {
        end = strchr(text, ':');
        port = end + 1;
    }
    if (!network_address_parse(from, (size_t)(end - from), &rules->resolver) ||
        (port && strcmp(port, "53") != 0 &&
         network_port_parse(port, &rules->resolver_port, &ignored)))
        return laz_error_set(err, LAZ_ECONFIG, 0,
                             "expected the address of a server, with a port or not (10.0.0.53, "
                             "10.0.0.53:5353, [2001:db8::53]:53)");
    return 0;
}

/* Do two rules for the same say the same? */
static bool rules_agree(const struct network_rule *a, const struct network_rule *b)
{
    return a->layer == b->layer && a->n_to == b->n_to &&
           (!a->n_to || memcmp(a->to, b->to, a->n_to * sizeof *a->to) == 0) &&
           (!a->path || strcmp(a->path, b->path) == 0);
}

static bool rules_are_for_the_same(const struct network_rule *a, const struct network_rule *b)
{
    return a->kind == b->kind && a->port == b->port && strcmp(a->name, b->name) == 0 &&
           memcmp(&a->block, &b->block, sizeof a->block) == 0;
}

/* Is it the same as an earlier rule, or does it say something else of the same? */
static int rules_compare(const struct laz_network_rules *rules, const struct network_rule *rule,
                         struct laz_error *err)
{
    for (const struct network_rule *i = rules->items; i < rule; i++)
        if (i->kind != NETWORK_RULE_ADDRESS && rules_are_for_the_same(i, rule) &&
            !rules_agree(i, rule))
            return laz_error_set(err, LAZ_ECONFIG, 0,
                                 "another rule (%.120s) says something else of the same name and "
                                 "port: write one of them",
                                 i->text);
    return 0;
}

/* Does it open what the host, or the cloud around it, offers to the host alone? */
static bool rules_open_the_host(const struct network_rule *rule)
{
    for (size_t i = 0; i < rule->n_to; i++)
        if (network_class_is_named(&rule->to[i].address))
            return true;
    return rule->kind == NETWORK_RULE_UNIX ||
           (rule->kind == NETWORK_RULE_ADDRESS && network_block_is_one_class(&rule->block) &&
            network_class_is_named(&rule->block.address));
}

/* `of`: the list of the settings, for another one; NULL: it is that. Who gives a session its list
 * may be a client: of the host it gets what the settings have. */
static int rules_check(const struct laz_network_rules *rules, const struct laz_network_rules *of,
                       const struct network_rule *rule, struct laz_error *err)
{
    size_t i = 0;

    if (rule->kind == NETWORK_RULE_HOST) {
        while (i < rules->n_host_ports && rules->host_ports[i] != rule->port)
            i++;
        if (i == rules->n_host_ports)
            return laz_error_set(err, LAZ_ECONFIG, 0,
                                 "this port of the host is not offered: add %u to ports below "
                                 "[network.host]",
                                 (unsigned)rule->port);
    }
    if (of && rules_open_the_host(rule)) {
        while (i < of->n &&
               !(rules_are_for_the_same(&of->items[i], rule) && rules_agree(&of->items[i], rule)))
            i++;
        if (i == of->n)
            return laz_error_set(err, LAZ_ECONFIG, 0,
                                 "sockets of the host, and addresses of loopback, link-local "
                                 "networks and metadata, are offered by network.allow of the "
                                 "settings alone: this rule has to be there as well");
    }
    return rules_compare(rules, rule, err);
}

/* The next of the texts becomes a rule. */
static int rules_parse(struct laz_network_rules *rules, const struct laz_network_rules *of,
                       struct laz_error *err)
{
    struct network_rule *rule = &rules->items[rules->n];
    int rc = network_rule_parse(rules->texts.items[rules->n++], rule, err);

    return rc ? rc : rules_check(rules, of, rule, err);
}

/* What is offered of the host's loopback is listed, too, unless a rule says more about it. */
static int rules_offer(struct laz_network_rules *rules, struct laz_error *err)
{
    char host[32];
    int rc = 0;

    for (size_t i = 0; i < rules->n_host_ports && !rc; i++) {
        if (network_rule_for_name(rules, "host.lazaret", rules->host_ports[i]))
            continue;
        snprintf(host, sizeof host, "host.lazaret:%u", (unsigned)rules->host_ports[i]);
        laz_strv_add(&rules->texts, host);
        rc = rules->texts.failed ? laz_error_nomem(err) : rules_parse(rules, NULL, err);
    }
    return rc;
}

/* `of`: as of rules_check; the list of the settings has what is offered of the host's loopback. */
static int rules_take(struct laz_network_rules *rules, const struct laz_strv *allow,
                      const struct laz_network_rules *of, const char **wrong, struct laz_error *err)
{
    const size_t given = allow ? allow->n : 0;

    if (given > RULES_MOST)
        return laz_error_set(err, LAZ_ECONFIG, 0, "network: %zu rules; there can be %d", given,
                             RULES_MOST);
    for (size_t i = 0; i < given; i++)
        laz_strv_add(&rules->texts, allow->items[i]);
    rules->items = calloc(given + rules->n_host_ports + 1, sizeof *rules->items);
    if (rules->texts.failed || !rules->items)
        return laz_error_nomem(err);
    while (rules->n < given) {
        int rc = rules_parse(rules, of, err);
        if (rc)
            return rules_wrong(err, rc, "", allow->items[rules->n - 1], wrong);
    }
    return of ? 0 : rules_offer(rules, err);
}

static int rules_compare_ports(const void *a, const void *b)
{
    return (int)*(const uint16_t *)a - (int)*(const uint16_t *)b;
}

static int rules_listen(struct laz_network_rules *rules, struct laz_error *err)
{
    uint16_t *ports = NULL;
    size_t n = 0;
    int rc = 0;

    for (size_t i = 0; i < rules->n && !rc; i++)
        rc = rules_add_port(&ports, &n, rules->items[i].port, err);
    for (size_t i = 0; i < rules->n_further && !rc; i++)
        rc = rules_add_port(&ports, &n, rules->further[i], err);
    if (!rc && n > LAZ_OS_NETWORK_PORTS)
        rc = laz_error_set(err, LAZ_ECONFIG, 0,
                           "network: the list has %zu different ports; there can be %d", n,
                           LAZ_OS_NETWORK_PORTS);
    if (!rc && n) {
        qsort(ports, n, sizeof *ports, rules_compare_ports);
        memcpy(rules->ports, ports, n * sizeof *ports);
        rules->n_ports = n;
    }
    free(ports);
    return rc;
}

static struct laz_network_rules *rules_alloc(struct laz_error *err)
{
    struct laz_network_rules *rules = calloc(1, sizeof *rules);

    if (!rules)
        laz_error_nomem(err);
    else
        atomic_init(&rules->holders, 1);
    return rules;
}

static int rules_finish(struct laz_network_rules *made, int rc, const struct laz_strv *allow,
                        const struct laz_network_rules *of, struct laz_network_rules **rules,
                        const char **wrong, struct laz_error *err)
{
    if (!rc)
        rc = rules_take(made, allow, of, wrong, err);
    if (!rc)
        rc = rules_listen(made, err);
    if (rc)
        laz_network_rules_drop(made);
    else
        *rules = made;
    return rc;
}

int laz_network_rules_new(const struct laz_network_wish *wish, struct laz_network_rules **rules,
                          const char **wrong, struct laz_error *err)
{
    struct laz_network_rules *made = rules_alloc(err);
    int rc = 0;

    if (wrong)
        *wrong = NULL;
    if (!made)
        return LAZ_ENOMEM;
    made->deny_private = wish->deny_private;
    made->max_connections = wish->max_connections;
    made->max_bytes = wish->max_bytes;
    for (size_t i = 0; wish->hosts && i < wish->hosts->n && !rc; i++)
        rc = rules_wrong(err, rules_host(made, wish->hosts->items[i], err),
                         "hosts:", wish->hosts->items[i], wrong);
    if (!rc)
        rc = rules_take_ports(wish->host_ports, "host.ports:", &made->host_ports,
                              &made->n_host_ports, wrong, err);
    if (!rc)
        rc = rules_take_ports(wish->ports, "ports:", &made->further, &made->n_further, wrong, err);
    if (!rc && wish->resolver && *wish->resolver)
        rc = rules_wrong(err, rules_resolver(made, wish->resolver, err),
                         "resolver:", wish->resolver, wrong);
    return rules_finish(made, rc, wish->allow, NULL, rules, wrong, err);
}

/* A copy of an array; NULL and *failed: out of memory. */
static void *rules_copy(const void *items, size_t n, size_t size, bool *failed)
{
    void *copy = n ? malloc(n * size) : NULL;

    if (copy)
        memcpy(copy, items, n * size);
    *failed |= n && !copy;
    return copy;
}

int laz_network_rules_other(const struct laz_network_rules *rules, const struct laz_strv *allow,
                            struct laz_network_rules **other, const char **wrong,
                            struct laz_error *err)
{
    struct laz_network_rules *made = rules_alloc(err);
    bool failed = false;

    if (wrong)
        *wrong = NULL;
    if (!made)
        return LAZ_ENOMEM;
    made->hosts = rules_copy(rules->hosts, rules->n_hosts, sizeof *rules->hosts, &failed);
    made->n_hosts = rules->n_hosts;
    made->host_ports =
        rules_copy(rules->host_ports, rules->n_host_ports, sizeof *rules->host_ports, &failed);
    made->n_host_ports = rules->n_host_ports;
    made->further = rules_copy(rules->further, rules->n_further, sizeof *rules->further, &failed);
    made->n_further = rules->n_further;
    made->resolver = rules->resolver;
    made->resolver_port = rules->resolver_port;
    made->deny_private = rules->deny_private;
    made->max_connections = rules->max_connections;
    made->max_bytes = rules->max_bytes;
    return rules_finish(made, failed ? laz_error_nomem(err) : 0, allow, rules, other, wrong, err);
}

struct laz_network_rules *laz_network_rules_hold(const struct laz_network_rules *rules)
{
    struct laz_network_rules *held = (struct laz_network_rules *)rules;

    atomic_fetch_add(&held->holders, 1);
    return held;
}

void laz_network_rules_drop(struct laz_network_rules *rules)
{
    if (!rules || atomic_fetch_sub(&rules->holders, 1) != 1)
        return;
    for (size_t i = 0; i < rules->n; i++)
        network_rule_fini(&rules->items[i]);
    laz_strv_fini(&rules->texts);
    free(rules->items);
    free(rules->hosts);
    free(rules->host_ports);
    free(rules->further);
    free(rules);
}

/* ---- what it says ---------------------------------------------------------------------------- */

bool laz_network_rules_any(const struct laz_network_rules *rules)
{
    return rules->n > 0;
}

size_t laz_network_rules_ports(const struct laz_network_rules *rules,
                               uint16_t ports[LAZ_OS_NETWORK_PORTS])
{
    memcpy(ports, rules->ports, rules->n_ports * sizeof *ports);
    return rules->n_ports;
}

void laz_network_rules_json(const struct laz_network_rules *rules, struct laz_buf *json)
{
    laz_json_strings(json, &rules->texts);
}

/* What a rule lets code do that its text does not show; NULL: nothing. */
static const char *rules_warning(const struct network_rule *rule)
{
    switch (rule->kind) {
    case NETWORK_RULE_UNIX:
        return "a socket of the host: its service sees the host's user, and grants what it grants "
               "that user";
    case NETWORK_RULE_HOST:
        return "a service of the host: it is reached as from the host itself";
    case NETWORK_RULE_ANY:
        return "any public server: code can send there whatever it can read";
    default:
        break;
    }
    for (size_t i = 0; i < rule->n_to; i++)
        if (network_class_is_named(&rule->to[i].address))
            return "its addresses are services of this host, or of what it runs on";
    return rule->layer != NETWORK_LAYER_PLAIN ? NULL
           : rule->kind == NETWORK_RULE_ADDRESS
               ? "decided by the address alone: what is sent there is not looked at"
               : "decided by the name alone, because neither TLS nor HTTP is expected on this "
                 "port: what is sent there is not looked at";
}

void laz_network_rules_warn(const struct laz_network_rules *rules, struct laz_strv *warnings)
{
    char shown[300];

    for (size_t i = 0; i < rules->n; i++) {
        const struct network_rule *rule = &rules->items[i];
        const char *warning = rules_warning(rule);
        network_escape(rule->text, strlen(rule->text), shown, sizeof shown);
        if (warning)
            laz_strv_addf(warnings, "network: %s: %s", shown, warning);
    }
    for (size_t i = 0; i < rules->n_hosts; i++)
        if (network_class_is_named(&rules->hosts[i].address))
            laz_strv_addf(warnings,
                          "network: hosts: %s: an address that is %s: a service of this "
                          "host, or of what it runs on",
                          rules->hosts[i].name, network_class(&rules->hosts[i].address));
    if (!rules->deny_private && rules->n)
        laz_strv_addf(warnings, "network: deny_private = false: listed names may resolve to "
                                "private addresses");
}

/* ---- what it permits ------------------------------------------------------------------------- */

/* How specific a rule is for a name; 0: it is not about the name. */
static size_t rule_match(const struct network_rule *rule, const char *name)
{
    size_t len = strlen(name), below = strlen(rule->name);

    switch (rule->kind) {
    case NETWORK_RULE_NAME:
    case NETWORK_RULE_HOST:
    case NETWORK_RULE_UNIX:
        return strcmp(rule->name, name) == 0 ? SIZE_MAX : 0;
    case NETWORK_RULE_WILDCARD:
        return len > below + 1 && name[len - below - 1] == '.' &&
                       strcmp(name + len - below, rule->name) == 0
                   ? below + 1
                   : 0;
    case NETWORK_RULE_ANY:
        /* A name of one label is no public one. */
        return strchr(name, '.') && !network_name_is_ours(name) ? 1 : 0;
    case NETWORK_RULE_ADDRESS:
        break;
    }
    return 0;
}

/* The most specific rule for a name; `port` 0: on any. */
static const struct network_rule *rules_find(const struct laz_network_rules *rules,
                                             const char *name, uint16_t port)
{
    const struct network_rule *found = NULL;
    size_t best = 0;

    for (size_t i = 0; i < rules->n; i++) {
        size_t match =
            !port || rules->items[i].port == port ? rule_match(&rules->items[i], name) : 0;
        if (match > best) {
            best = match;
            found = &rules->items[i];
        }
    }
    return found;
}

const struct network_rule *network_rule_for_name(const struct laz_network_rules *rules,
                                                 const char *name, uint16_t port)
{
    return port ? rules_find(rules, name, port) : NULL;
}

bool network_rules_know_name(const struct laz_network_rules *rules, const char *name)
{
    return rules_find(rules, name, 0) != NULL;
}

/* The smallest block that has the address; `port` 0: on any. */
static const struct network_rule *rules_find_block(const struct laz_network_rules *rules,
                                                   const struct network_address *address,
                                                   uint16_t port)
{
    const struct network_rule *found = NULL;

    for (size_t i = 0; i < rules->n; i++) {
        const struct network_rule *rule = &rules->items[i];
        if (rule->kind == NETWORK_RULE_ADDRESS && (!port || rule->port == port) &&
            network_block_has(&rule->block, address) &&
            (!found || rule->block.bits > found->block.bits))
            found = rule;
    }
    return found;
}

const struct network_rule *network_rule_for_address(const struct laz_network_rules *rules,
                                                    const struct network_address *address,
                                                    uint16_t port)
{
    return port ? rules_find_block(rules, address, port) : NULL;
}

/* Do two names end in the same two labels? */
static bool rules_are_related(const char *a, const char *b)
{
    size_t len_a = strlen(a), len_b = strlen(b), n = 0;
    unsigned dots = 0;

    while (n < len_a && n < len_b && a[len_a - n - 1] == b[len_b - n - 1])
        dots += a[len_a - ++n] == '.';
    /* A whole label ends where a name begins or a dot stands. */
    bool ends = (n == len_a || a[len_a - n - 1] == '.') && (n == len_b || b[len_b - n - 1] == '.');
    return dots >= 2 || (dots == 1 && ends);
}

const struct network_rule *network_rule_closest(const struct laz_network_rules *rules,
                                                const char *name,
                                                const struct network_address *address,
                                                uint16_t port)
{
    if (!name)
        return address ? rules_find_block(rules, address, 0) : NULL;
    const struct network_rule *found = rules_find(rules, name, port);
    if (!found)
        found = rules_find(rules, name, 0);
    for (size_t i = 0; i < rules->n && !found; i++)
        if (strcmp(rules->items[i].name, name) == 0) /* *.NAME, which the name is not */
            found = &rules->items[i];
    for (size_t i = 0; i < rules->n && !found; i++)
        if (rules_are_related(rules->items[i].name, name))
            found = &rules->items[i];
    return found;
}

const struct network_address *network_rules_host(const struct laz_network_rules *rules,
                                                 const char *name)
{
    for (size_t i = 0; i < rules->n_hosts; i++)
        if (strcmp(rules->hosts[i].name, name) == 0)
            return &rules->hosts[i].address;
    return NULL;
}

/* A block that has an address of a class inside of its own (metadata within link-local) does not
 * name it. */
static bool rules_block_names(const struct network_block *block,
                              const struct network_address *address)
{
    const char *class = network_class(address), *of_block = network_class(&block->address);

    return network_block_has(block, address) &&
           (!network_class_is_named(address) || (of_block && strcmp(class, of_block) == 0));
}

static bool rules_name_private(const struct laz_network_rules *rules,
                               const struct network_rule *rule, const char *name,
                               const struct network_address *address)
{
    const struct network_address *host = network_rules_host(rules, name);

    for (size_t i = 0; i < rule->n_to; i++)
        if (rules_block_names(&rule->to[i], address))
            return true;
    return host && network_address_equal(host, address);
}

bool network_may_connect(const struct laz_network_rules *rules, const struct network_rule *rule,
                         const char *name, const struct network_address *address)
{
    static const struct network_address loopbacks[] = {{4, {127, 0, 0, 1}}, {6, {[15] = 1}}};
    bool is_public = !network_class(address);

    if (rule->kind == NETWORK_RULE_HOST)
        return network_address_equal(address, &loopbacks[0]) ||
               network_address_equal(address, &loopbacks[1]);
    if (network_class_is_final(address))
        return false;
    switch (rule->kind) {
    case NETWORK_RULE_NAME:
    case NETWORK_RULE_WILDCARD:
        return name && (is_public || (!rules->deny_private && !network_class_is_named(address)) ||
                        rules_name_private(rules, rule, name, address));
    case NETWORK_RULE_ANY:
        return name && is_public;
    case NETWORK_RULE_ADDRESS:
        return !name && network_block_has(&rule->block, address) &&
               (is_public || (!rules->deny_private && !network_class_is_named(address)) ||
                (network_block_is_one_class(&rule->block) &&
                 rules_block_names(&rule->block, address)));
    default:
        return false;
    }
}

/* ---- narrowing ------------------------------------------------------------------------------- */

/* Does all that `narrow` permits follow from `wide`? A wildcard stands for its names; what else a
 * rule says has to be the same, because to name an address, or a name with addresses of its own,
 * permits more than to include it. */
static bool rule_covers(const struct laz_network_rules *rules, const struct network_rule *wide,
                        const struct network_rule *narrow)
{
    if (strcmp(wide->text, narrow->text) == 0)
        return true;
    if (wide->port != narrow->port || narrow->n_to || narrow->path ||
        (wide->layer != narrow->layer && wide->layer != NETWORK_LAYER_PLAIN))
        return false;
    if (wide->kind == narrow->kind && wide->kind != NETWORK_RULE_UNIX &&
        strcmp(wide->name, narrow->name) == 0)
        return wide->kind != NETWORK_RULE_ADDRESS ||
               (wide->block.bits == narrow->block.bits &&
                network_address_equal(&wide->block.address, &narrow->block.address));
    const size_t len = strlen(narrow->name), end = strlen(wide->name);
    return wide->kind == NETWORK_RULE_WILDCARD &&
           (narrow->kind == NETWORK_RULE_NAME || narrow->kind == NETWORK_RULE_WILDCARD) &&
           len > end + 1 && narrow->name[len - end - 1] == '.' &&
           strcmp(narrow->name + len - end, wide->name) == 0 &&
           !network_rules_host(rules, narrow->name);
}

/* Is every name of this rule one of a wildcard's, and not each of the wildcard's one of it? */
static bool rule_is_below(const struct network_rule *rule, const struct network_rule *wildcard)
{
    const size_t len = strlen(rule->name), end = strlen(wildcard->name);

    if (rule->kind != NETWORK_RULE_NAME && rule->kind != NETWORK_RULE_WILDCARD)
        return false;
    return wildcard->kind == NETWORK_RULE_ANY ||
           (wildcard->kind == NETWORK_RULE_WILDCARD && len > end + 1 &&
            rule->name[len - end - 1] == '.' &&
            strcmp(rule->name + len - end, wildcard->name) == 0);
}

/* How specific a rule is for all names of another one; 0: it is not about them. */
static size_t rule_match_all(const struct network_rule *rule, const struct network_rule *asked)
{
    if (rule->port != asked->port)
        return 0;
    if (rule->kind == asked->kind && strcmp(rule->name, asked->name) == 0)
        return SIZE_MAX;
    return rule_is_below(asked, rule) ? strlen(rule->name) + 1 : 0;
}

/* Does it follow from the settings' rule that decides on its names? That is the most specific one,
 * which may be stricter than a wildcard. */
static bool rules_cover(const struct laz_network_rules *rules, const struct network_rule *asked)
{
    const bool has_names = asked->kind != NETWORK_RULE_ADDRESS && asked->kind != NETWORK_RULE_UNIX;
    const struct network_rule *found = NULL;
    size_t best = 0;

    for (size_t i = 0; i < rules->n; i++) {
        const struct network_rule *rule = &rules->items[i];
        const size_t match = has_names ? rule_match_all(rule, asked) : 0;
        if (!has_names && rule_covers(rules, rule, asked))
            return true;
        if (match > best) {
            best = match;
            found = rule;
        }
    }
    return found && rule_covers(rules, found, asked);
}

/* A wildcard that is asked for alone: what the settings' rules for some of its names ask of a
 * connection holds for these still. It is added as a rule of its own, which names no addresses. */
static void rules_keep(const struct laz_network_rules *rules, const struct laz_network_rules *asked,
                       const struct network_rule *wildcard, struct laz_strv *allow)
{
    for (size_t i = 0; i < rules->n; i++) {
        const struct network_rule *rule = &rules->items[i];
        bool is_there = false;
        for (size_t k = 0; k < asked->n; k++)
            is_there |= rules_are_for_the_same(rule, &asked->items[k]);
        if (!is_there && rule->port == wildcard->port && rule_is_below(rule, wildcard) &&
            rule->layer != NETWORK_LAYER_PLAIN && rule->layer != wildcard->layer)
            laz_strv_addf(
                allow, "%s://%s%s:%u", rule->layer == NETWORK_LAYER_TLS ? "https" : "http",
                rule->kind == NETWORK_RULE_WILDCARD ? "*." : "", rule->name, (unsigned)rule->port);
    }
}

int laz_network_rules_narrow(const struct laz_network_rules *rules, struct laz_strv *allow,
                             struct laz_error *err)
{
    struct laz_network_rules *asked = NULL;
    int rc = laz_network_rules_other(rules, allow, &asked, NULL, err);

    for (size_t i = 0; !rc && i < asked->n; i++)
        if (!rules_cover(rules, &asked->items[i]))
            rc = laz_error_set(err, LAZ_EREFUSED, 0,
                               "network: %.200s: network.allow of the server does not have it",
                               asked->items[i].text);
    for (size_t i = 0; !rc && i < asked->n; i++)
        rules_keep(rules, asked, &asked->items[i], allow);
    if (!rc && allow->failed)
        rc = laz_error_nomem(err);
    laz_network_rules_drop(asked);
    return rc;
}
