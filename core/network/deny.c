/* SPDX-License-Identifier: MIT */
/* deny.c - what the owner of a way out is told of a refusal.
 * Side: host.  Input trusted: no (names and addresses that code asked for). */
#include "network/running.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void network_deny(const struct laz_network *network, const struct network_refusal *refusal,
                  const char *detail, ...)
{
    const char *name = refusal->name ? refusal->name : "";
    const struct network_rule *rule =
        refusal->rule
            ? refusal->rule
            : network_rule_closest(network->rules, refusal->name, refusal->address, refusal->port);
    struct laz_denial denial = {.what = refusal->what,
                                .port = refusal->port,
                                .count = 1,
                                .is_permanent = refusal->is_permanent};
    va_list args;

    snprintf(denial.name, sizeof denial.name, "%s", name);
    if (refusal->address)
        network_address_format(refusal->address, denial.address);
    if (rule)
        snprintf(denial.rule, sizeof denial.rule, "%s", rule->text);
    if (refusal->may_be_allowed)
        network_allow_line(denial.allow, refusal->name, refusal->address, refusal->port);
    va_start(args, detail);
    vsnprintf(denial.detail, sizeof denial.detail, detail, args);
    va_end(args);
    network->owner.denied(network->owner.user, &denial);
}

static bool deny_is_own(const struct network_address *address)
{
    const char *class = network_class(address);

    return class && strcmp(class, "loopback") == 0;
}

void network_deny_address(const struct laz_network *network, const struct network_address *address,
                          uint16_t port, const char *udp, bool accepted)
{
    const bool is_false = network_is_false(address);
    const char *name = is_false ? network_names_find(network->names, address) : NULL;
    struct network_refusal refusal = {.what = LAZ_DENIED_ADDRESS,
                                      .name = name,
                                      .address = name ? NULL : address,
                                      .port = port,
                                      .is_permanent = true};

    if (deny_is_own(address) && !accepted)
        return;
    if (deny_is_own(address)) {
        network_deny(network, &refusal,
                     "that is the box itself, where no program of it can listen on this port; a "
                     "service of the host is named host.lazaret:%u (ports below [network.host])",
                     (unsigned)port);
    } else if (udp) {
        refusal.what = LAZ_DENIED_PROTOCOL;
        network_deny(network, &refusal, "%s", udp);
    } else if (name && port == 80 && network->owner.has_way &&
               network->owner.has_way(network->owner.user, name, 443)) {
        refusal.what = LAZ_DENIED_PORT;
        network_deny(network, &refusal,
                     "the credential of this host is for https: write https:// in the URL");
    } else if (name) {
        refusal.what =
            network_rules_know_name(network->rules, name) ? LAZ_DENIED_PORT : LAZ_DENIED_NAME;
        refusal.may_be_allowed = true;
        network_deny(network, &refusal, "%s", "");
    } else if (is_false) {
        network_deny(network, &refusal, "no name has this address, or it is long out of use");
    } else if (address->family == 6) {
        network_deny(network, &refusal, "IPv6 is used for names only");
    } else {
        refusal.may_be_allowed = true;
        network_deny(network, &refusal, "%s", "");
    }
}
