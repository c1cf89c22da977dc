/* SPDX-License-Identifier: MIT */
/* fuzz_network_rules.c - a network list of any bytes, a rule on each line. What is refused has a
 * reason in one line; what is taken permits no name and no address that is nobody's to permit. */
#include "base/json.h"
#include "base/utf8.h"
#include "network/network_private.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_refused(const struct laz_error *err)
{
    if (err->code != LAZ_ECONFIG && err->code != LAZ_ENOMEM)
        abort();
    if (!*err->text || strchr(err->text, '\n') || !laz_utf8_is_valid(err->text, strlen(err->text)))
        abort();
}

static void check_taken(const struct laz_network_rules *rules)
{
    static const char *const never[] = {"127.0.0.1", "0.0.0.0",          "169.254.169.254",
                                        "224.0.0.1", "::ffff:127.0.0.1", "::1"};
    struct laz_buf json = LAZ_BUF_INIT;
    struct laz_strv warnings = LAZ_STRV_INIT;

    for (size_t i = 0; i < rules->n; i++)
        for (size_t j = 0; j < sizeof never / sizeof *never; j++) {
            const struct network_rule *rule = &rules->items[i];
            struct network_address address;
            if (!network_address_parse(never[j], strlen(never[j]), &address))
                abort();
            if (rule->kind != NETWORK_RULE_HOST &&
                (network_may_connect(rules, rule, "a.example", &address) ||
                 network_may_connect(rules, rule, NULL, &address)))
                abort();
            if (!rule->port || rule->port == 53)
                abort();
        }
    if (network_rules_know_name(rules, "localhost"))
        abort();
    laz_network_rules_json(rules, &json);
    laz_network_rules_warn(rules, &warnings);
    if (json.failed || laz_json_scan(json.data, json.len, NULL))
        abort();
    laz_strv_fini(&warnings);
    laz_buf_fini(&json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct laz_strv lines = LAZ_STRV_INIT, host_ports = LAZ_STRV_INIT;
    const struct laz_network_wish wish = {.allow = &lines, .host_ports = &host_ports};
    struct laz_network_rules *rules = NULL;
    struct laz_error err = {0};
    size_t from = 0;

    laz_strv_add(&host_ports, "5432");
    for (size_t i = 0; i <= size; i++)
        if (i == size || data[i] == '\n') {
            char *line = laz_strndup(size ? (const char *)data + from : "", i - from);
            if (line)
                laz_strv_add(&lines, line);
            free(line);
            from = i + 1;
        }
    if (laz_network_rules_new(&wish, &rules, NULL, &err))
        check_refused(&err);
    else
        check_taken(rules);
    laz_network_rules_drop(rules);
    laz_strv_fini(&lines);
    laz_strv_fini(&host_ports);
    return 0;
}
