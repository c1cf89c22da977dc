/* SPDX-License-Identifier: MIT */
/* test_network_narrow.c - a network list of somebody who may only ask for less than the settings
 * have: what follows from their rules, and what does not. */
#include "unit.h"

#include "network/network.h"

#include <stdio.h>

static struct laz_network_rules *settings_rules(void)
{
    static const char *const items[] = {
        "https://api.example.com",
        "*.data.example.org",
        "https://*.tls.example",
        "*:8443",
        "10.0.0.0/8:5432",
        "host.lazaret:9000",
        "{\"name\":\"db.lazaret:7000\",\"unix\":\"/run/d\"}",
        "{\"host\":\"db.internal:5432\",\"to\":[\"10.0.0.0/8\"]}",
        "set.example:443",
        "*.set.example:443",
    };
    struct laz_strv allow = LAZ_STRV_INIT, hosts = LAZ_STRV_INIT, ports = LAZ_STRV_INIT;
    struct laz_network_rules *rules = NULL;

    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        laz_strv_add(&allow, items[i]);
    laz_strv_add(&hosts, "a.set.example=10.9.9.9");
    laz_strv_add(&ports, "9000");
    laz_strv_add(&ports, "9001");
    const struct laz_network_wish wish = {.allow = &allow,
                                          .hosts = &hosts,
                                          .host_ports = &ports,
                                          .deny_private = true,
                                          .max_connections = 1,
                                          .max_bytes = 1};
    CU_ASSERT_EQUAL_FATAL(laz_network_rules_new(&wish, &rules, NULL, NULL), 0);
    laz_strv_fini(&allow);
    laz_strv_fini(&hosts);
    laz_strv_fini(&ports);
    return rules;
}

static void only_what_follows_from_the_settings_may_be_asked_for(void)
{
    static const struct {
        const char *rule;
        bool may;
    } rows[] = {
        {"https://api.example.com", true},
        {"https://API.example.com", true},
        {"api.example.com", true}, /* the same */
        {"api.example.com:80", false},
        {"http://api.example.com", false},
        {"x.data.example.org", true},
        {"https://x.data.example.org", true}, /* it is looked at more closely */
        {"*.x.data.example.org", true},
        {"*.data.example.org", true},
        {"data.example.org", false},
        {"xdata.example.org", false},
        {"*.example.org", false},
        {"x.data.example.org:80", false},
        {"https://a.tls.example", true},
        {"a.tls.example:443", true}, /* the same */
        {"*:8443", true},
        {"*:443", false},
        {"any.example:8443", false}, /* a name may have addresses that "*" has not */
        {"10.0.0.0/8:5432", true},
        {"10.1.2.3:5432", false}, /* to name an address permits more than to include it */
        {"0.0.0.0/0:5432", false},
        {"169.254.169.254:80", false},
        {"host.lazaret:9000", true},
        {"host.lazaret:9001", true}, /* of network.host.ports */
        {"host.lazaret:9002", false},
        {"{\"name\":\"db.lazaret:7000\",\"unix\":\"/run/d\"}", true},
        {"{\"name\":\"db.lazaret:7000\",\"unix\":\"/run/e\"}", false},
        {"{\"host\":\"db.internal:5432\",\"to\":[\"10.0.0.0/8\"]}", true},
        {"{\"host\":\"db.internal:5432\",\"to\":[\"0.0.0.0/0\"]}", false},
        {"db.internal:5432", true}, /* without addresses of its own */
        {"{\"host\":\"x.data.example.org:443\",\"to\":[\"10.0.0.0/8\"]}", false},
        {"b.set.example:443", true},
        {"a.set.example:443", false}, /* the settings have an address for it */
        {"evil.example", false},
        {"x.data.example.org.evil", false},
    };
    struct laz_network_rules *rules = settings_rules();

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_strv allow = LAZ_STRV_INIT;
        struct laz_error err = {0};
        laz_strv_add(&allow, rows[i].rule);
        const int rc = laz_network_rules_narrow(rules, &allow, &err);
        if ((rc == 0) != rows[i].may)
            printf("\n    %s", rows[i].rule);
        CU_ASSERT_EQUAL(rc == 0, rows[i].may);
        CU_ASSERT(rc == 0 || rc == LAZ_EREFUSED || rc == LAZ_ECONFIG);
        laz_strv_fini(&allow);
    }
    laz_network_rules_drop(rules);
}

/* The more specific rule decides: a wildcard beside it does not stand for its name, and one that is
 * asked for alone brings it along. */
static void a_stricter_rule_of_a_name_stays(void)
{
    static const char *const items[] = {
        "*.a.example:8443",
        "https://api.a.example:8443",
        "https://*.in.a.example:8443",
        "plain.in.a.example:8443",
        "http://old.a.example:8080",
        "*.a.example:8080",
        "*:9443",
        "https://any.example:9443",
        "{\"host\":\"https://db.b.example:8443\",\"to\":[\"10.0.0.0/8\"]}",
        "*.b.example:8443",
        "https://*.c.example:9443"};
    static const struct {
        const char *rules[3];
        const char *kept; /* what comes besides; NULL: it is refused */
    } rows[] = {
        {{"api.a.example:8443"}, NULL},
        {{"https://api.a.example:8443"}, ""},
        {{"x.a.example:8443"}, ""},
        {{"x.in.a.example:8443"}, NULL},
        {{"https://x.in.a.example:8443"}, ""},
        {{"*.in.a.example:8443"}, NULL},
        {{"*.x.in.a.example:8443"}, NULL},
        {{"plain.in.a.example:8443"}, ""},
        {{"*.a.example:8443"}, "https://api.a.example:8443 https://*.in.a.example:8443 "},
        {{"*.a.example:8443", "https://api.a.example:8443"}, "https://*.in.a.example:8443 "},
        {{"*.a.example:8443", "api.a.example:8443"}, NULL},
        {{"https://*.a.example:8443"}, ""},
        {{"*.a.example:8080"}, "http://old.a.example:8080 "},
        {{"https://*.a.example:8080"}, "http://old.a.example:8080 "},
        {{"*:9443"}, "https://any.example:9443 https://*.c.example:9443 "},
        {{"https://x.c.example:9443"}, ""},
        {{"x.c.example:9443"}, NULL},
        {{"*.b.example:8443"}, "https://db.b.example:8443 "}, /* and no address of its own */
    };
    struct laz_network_rules *rules = NULL;
    struct laz_strv all = LAZ_STRV_INIT;

    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        laz_strv_add(&all, items[i]);
    const struct laz_network_wish wish = {
        .allow = &all, .deny_private = true, .max_connections = 1, .max_bytes = 1};
    struct laz_error err = {0};
    if (laz_network_rules_new(&wish, &rules, NULL, &err))
        printf("\n    %s", err.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rules);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct laz_strv allow = LAZ_STRV_INIT;
        struct laz_buf kept = LAZ_BUF_INIT;
        size_t n = 0;
        for (; n < 3 && rows[i].rules[n]; n++)
            laz_strv_add(&allow, rows[i].rules[n]);
        const int rc = laz_network_rules_narrow(rules, &allow, &err);
        if ((rc == 0) != (rows[i].kept != NULL))
            printf("\n    %s: %s", rows[i].rules[0], rc ? err.text : "");
        CU_ASSERT_EQUAL(rc, rows[i].kept ? 0 : LAZ_EREFUSED);
        for (size_t k = n; !rc && k < allow.n; k++)
            laz_buf_printf(&kept, "%s ", allow.items[k]);
        UNIT_TEXT(laz_buf_text(&kept), rc || !rows[i].kept ? "" : rows[i].kept);
        CU_ASSERT_EQUAL(laz_network_rules_narrow(rules, &allow, NULL), rc); /* it is a list again */
        laz_strv_fini(&allow);
        laz_buf_fini(&kept);
    }
    laz_strv_fini(&all);
    laz_network_rules_drop(rules);
}

static void nothing_is_always_less(void)
{
    struct laz_network_rules *rules = settings_rules();
    struct laz_strv allow = LAZ_STRV_INIT;

    CU_ASSERT_EQUAL(laz_network_rules_narrow(rules, &allow, NULL), 0);
    laz_strv_add(&allow, "not a rule");
    CU_ASSERT_EQUAL(laz_network_rules_narrow(rules, &allow, NULL), LAZ_ECONFIG);
    laz_strv_fini(&allow);
    laz_network_rules_drop(rules);
}

static const struct unit_test tests[] = {
    UNIT(only_what_follows_from_the_settings_may_be_asked_for),
    UNIT(a_stricter_rule_of_a_name_stays),
    UNIT(nothing_is_always_less),
    {0},
};

int main(void)
{
    return unit_run("network narrow", tests);
}
