/* SPDX-License-Identifier: MIT */
/* fuzz_dns.c - DNS queries of any bytes. An answer fits, refers to its query, and has a false
 * address only for a name that is listed. */
#include "base/utf8.h"
#include "network/network_private.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct laz_network_rules *fuzz_rules(void)
{
    struct laz_strv allow = LAZ_STRV_INIT;
    const struct laz_network_wish wish = {.allow = &allow};
    struct laz_network_rules *rules;

    laz_strv_add(&allow, "api.example.com");
    laz_strv_add(&allow, "*.example.org");
    if (laz_network_rules_new(&wish, &rules, NULL, NULL))
        abort();
    laz_strv_fini(&allow);
    return rules;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct laz_network_rules *rules = fuzz_rules();
    struct network_names *names;
    struct network_dns_asked asked;
    struct network_address address = {4, {198, 18, 0, 1}};
    uint8_t answer[NETWORK_DNS_ANSWER];
    size_t len;

    if (network_names_new(&names, NULL))
        abort();
    enum network_dns said = network_dns_answer(rules, names, data, size, answer, &len, &asked);
    if (!laz_utf8_is_valid(asked.name, strlen(asked.name)) || strchr(asked.name, '\n'))
        abort();
    if (said == NETWORK_DNS_IGNORED ? len != 0 : len < 12 || len > sizeof answer)
        abort();
    if (len && (memcmp(answer, data, 2) != 0 || !(answer[2] & 0x80)))
        abort();
    const char *name = network_names_find(names, &address);
    if (name && (said != NETWORK_DNS_ANSWERED || !network_rules_know_name(rules, name)))
        abort();
    network_names_free(names);
    laz_network_rules_drop(rules);
    return 0;
}
