/* SPDX-License-Identifier: MIT */
/* test_network_rules.c - names as they are compared, and network lists: what they are made of, and
 * what they permit. */
#include "unit.h"

#include "base/json.h"
#include "network/network_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))

/* ---- names ----------------------------------------------------------------------------------- */

static void names_have_one_form(void)
{
    static const struct {
        const char *text, *name; /* NULL: it is refused */
    } rows[] = {
        {"example.com", "example.com"},
        {"EXAMPLE.Com", "example.com"},
        {"example.com.", "example.com"},
        {"localhost", "localhost"},
        {"_dmarc.example.com", "_dmarc.example.com"},
        {"xn--bcher-kva.example", "xn--bcher-kva.example"},
        {"1.2.3.4.example", "1.2.3.4.example"},
        {"a-1", "a-1"},
        {"", NULL},
        {".", NULL},
        {"..", NULL},
        {"example.com..", NULL},
        {".example.com", NULL},
        {"a..b", NULL},
        {"a b", NULL},
        {"a/b", NULL},
        {"a:80", NULL},
        {"a@b", NULL},
        {"*.a", NULL},
        {"b\xc3\xbc"
         "cher.example",
         NULL},
        {"127.0.0.1", NULL},
        {"0177.0.0.1", NULL},
        {"0x7f.1", NULL},
        {"0x7f000001", NULL},
        {"2130706433", NULL},
        {"example.0x", NULL},
        {"example.12", NULL},
        {"[::1]", NULL},
        {"\xe2\x80\xae"
         "a.example",
         NULL},
    };

    for (size_t i = 0; i < N(rows); i++) {
        char name[NETWORK_NAME];
        bool taken = network_name_normal(rows[i].text, strlen(rows[i].text), name);
        if (taken != !!rows[i].name)
            fprintf(stderr, "%s\n", rows[i].text);
        CU_ASSERT_EQUAL(taken, !!rows[i].name);
        UNIT_TEXT(name, rows[i].name ? rows[i].name : "");
    }
}

static void a_nul_or_any_odd_byte_makes_no_name(void)
{
    char name[NETWORK_NAME], text[] = "a?.example";

    CU_ASSERT_FALSE(network_name_normal("api.example\0.evil", 17, name));
    CU_ASSERT_FALSE(network_name_normal("api.example\0", 12, name));
    for (int c = 0; c < 256; c++) {
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                         (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
        text[1] = (char)c;
        /* A dot there ends a label and begins an empty one. */
        CU_ASSERT_EQUAL(network_name_normal(text, sizeof text - 1, name), is_letter && c != '.');
    }
}

static void names_have_bounds(void)
{
    char text[300], name[NETWORK_NAME];

    memset(text, 'a', sizeof text);
    CU_ASSERT(network_name_normal(text, 63, name));
    CU_ASSERT_FALSE(network_name_normal(text, 64, name));
    for (size_t i = 49; i < sizeof text; i += 50)
        text[i] = '.';
    CU_ASSERT(network_name_normal(text, 253, name));
    CU_ASSERT_EQUAL(strlen(name), 253);
    CU_ASSERT_FALSE(network_name_normal(text, 254, name));
    CU_ASSERT_FALSE(network_name_normal(text, 299, name));
    text[253] = '.';
    CU_ASSERT(network_name_normal(text, 254, name));
    UNIT_TEXT(name + 251, "aa");
}

static void letters_beyond_ascii_become_a_labels(void)
{
    static const struct {
        const char *text, *name; /* NULL: it is refused */
    } rows[] = {
        {"b\xc3\xbc"
         "cher.example",
         "xn--bcher-kva.example"},
        {"B\xc3\x9c"
         "CHER.example",
         "xn--bcher-kva.example"},
        {"bu\xcc\x88"
         "cher.example",
         "xn--bcher-kva.example"},
        {"fa\xc3\x9f.de", "xn--fa-hia.de"},
        /* A Cyrillic letter that looks like "a": another name. */
        {"\xd0\xb0pple.com", "xn--pple-43d.com"},
        /* The full stop of ideographs. */
        {"b\xc3\xbc"
         "cher\xe3\x80\x82"
         "example",
         "xn--bcher-kva.example"},
        /* Digits of another script are digits of an address nowhere. */
        {"\xe2\x91\xa0\xe2\x91\xa1\xe2\x91\xa2.example", "123.example"},
        {"\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.0.0.1", NULL},
        {"a\xef\xbc\x8f"
         "b.example",
         NULL},
        {"a\xe2\x80\xae.example", NULL},
        {"a\xff.example", NULL},
        {"\xe2\x80\x8d.example", NULL},
    };

    for (size_t i = 0; i < N(rows); i++) {
        struct laz_error err = {0};
        char name[NETWORK_NAME] = "";
        int rc = network_name_of_list(rows[i].text, strlen(rows[i].text), name, &err);
        if (rc && strstr(err.text, "libidn2")) {
            unit_skip("idn", "libidn2 is missing");
            return;
        }
        CU_ASSERT_EQUAL(rc, rows[i].name ? 0 : LAZ_ECONFIG);
        if (rc && rows[i].name)
            fprintf(stderr, "%s: %s\n", rows[i].text, err.text);
        UNIT_TEXT(rc ? "" : name, rows[i].name ? rows[i].name : "");
    }
}

static void strangers_texts_are_escaped(void)
{
    char out[12];

    network_escape("a\x1b[31m\nb", 8, out, sizeof out);
    UNIT_TEXT(out, "a\\x1b[31m\\x");
    network_escape("\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc", 12, out, sizeof out);
    UNIT_TEXT(out, "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc");
}

/* ---- what lists are made of ------------------------------------------------------------------ */

/* A wish of texts, each ending with a newline. */
static struct laz_strv lines(const char *text)
{
    struct laz_strv strv = LAZ_STRV_INIT;

    for (const char *end; text && (end = strchr(text, '\n')); text = end + 1)
        laz_strv_addf(&strv, "%.*s", (int)(end - text), text);
    return strv;
}

static int make(const char *allow, const char *hosts, const char *host_ports, bool deny_private,
                struct laz_network_rules **rules, struct laz_error *err)
{
    struct laz_strv a = lines(allow), h = lines(hosts), p = lines(host_ports);
    const struct laz_network_wish wish = {
        .allow = &a, .hosts = &h, .host_ports = &p, .deny_private = deny_private};
    const char *wrong = NULL;
    int rc = laz_network_rules_new(&wish, rules, &wrong, err);

    CU_ASSERT(!wrong || rc == LAZ_ECONFIG);
    laz_strv_fini(&a);
    laz_strv_fini(&h);
    laz_strv_fini(&p);
    return rc;
}

static struct laz_network_rules *made(const char *allow, const char *hosts, bool deny_private)
{
    struct laz_network_rules *rules = NULL;
    struct laz_error err = {0};

    if (make(allow, hosts, "5432\n", deny_private, &rules, &err))
        fprintf(stderr, "%s\n", err.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(rules);
    return rules;
}

static void rules_are_read_as_they_are_meant(void)
{
    static const struct {
        const char *text;
        enum network_kind kind;
        enum network_layer layer;
        uint16_t port;
        const char *name;
    } rows[] = {
        {"https://api.example.com", NETWORK_RULE_NAME, NETWORK_LAYER_TLS, 443, "api.example.com"},
        {"api.example.com", NETWORK_RULE_NAME, NETWORK_LAYER_TLS, 443, "api.example.com"},
        {"API.example.com.", NETWORK_RULE_NAME, NETWORK_LAYER_TLS, 443, "api.example.com"},
        {"https://a.example:8443", NETWORK_RULE_NAME, NETWORK_LAYER_TLS, 8443, "a.example"},
        {"http://a.example", NETWORK_RULE_NAME, NETWORK_LAYER_HTTP, 80, "a.example"},
        {"http://a.example:8080", NETWORK_RULE_NAME, NETWORK_LAYER_HTTP, 8080, "a.example"},
        {"a.example:80", NETWORK_RULE_NAME, NETWORK_LAYER_HTTP, 80, "a.example"},
        {"github.com:22", NETWORK_RULE_NAME, NETWORK_LAYER_PLAIN, 22, "github.com"},
        {"*.data.example.org:443", NETWORK_RULE_WILDCARD, NETWORK_LAYER_TLS, 443,
         "data.example.org"},
        {"https://*.example.org", NETWORK_RULE_WILDCARD, NETWORK_LAYER_TLS, 443, "example.org"},
        {"*:443", NETWORK_RULE_ANY, NETWORK_LAYER_TLS, 443, ""},
        {"*", NETWORK_RULE_ANY, NETWORK_LAYER_TLS, 443, ""},
        {"*:22", NETWORK_RULE_ANY, NETWORK_LAYER_PLAIN, 22, ""},
        {"10.0.0.5:5432", NETWORK_RULE_ADDRESS, NETWORK_LAYER_PLAIN, 5432, ""},
        {"10.0.0.0/8:443", NETWORK_RULE_ADDRESS, NETWORK_LAYER_PLAIN, 443, ""},
        {"8.8.8.8", NETWORK_RULE_ADDRESS, NETWORK_LAYER_PLAIN, 443, ""},
        {"host.lazaret:5432", NETWORK_RULE_HOST, NETWORK_LAYER_PLAIN, 5432, "host.lazaret"},
        {"{\"host\":\"db.internal:5432\",\"to\":[\"10.0.0.0/8\"]}", NETWORK_RULE_NAME,
         NETWORK_LAYER_PLAIN, 5432, "db.internal"},
        {"{\"host\":\"db.internal\"}", NETWORK_RULE_NAME, NETWORK_LAYER_TLS, 443, "db.internal"},
        {"{\"name\":\"db.lazaret:443\",\"unix\":\"/run/postgresql/.s.PGSQL.5432\"}",
         NETWORK_RULE_UNIX, NETWORK_LAYER_PLAIN, 443, "db.lazaret"},
        {"{\"name\":\"d.lazaret\",\"unix\":\"/run/docker.sock\",\"dangerous\":true}",
         NETWORK_RULE_UNIX, NETWORK_LAYER_PLAIN, 443, "d.lazaret"},
    };

    for (size_t i = 0; i < N(rows); i++) {
        struct network_rule rule = {0};
        struct laz_error err = {0};
        if (network_rule_parse(rows[i].text, &rule, &err))
            fprintf(stderr, "%s: %s\n", rows[i].text, err.text);
        UNIT_TEXT(err.text, "");
        CU_ASSERT_EQUAL(rule.kind, rows[i].kind);
        CU_ASSERT_EQUAL(rule.layer, rows[i].layer);
        CU_ASSERT_EQUAL(rule.port, rows[i].port);
        UNIT_TEXT(rule.name, rows[i].name);
        network_rule_fini(&rule);
    }
}

static const struct {
    const char *text, *why;
} mistakes[] = {
    {"", "no name"},
    {"https://", "no name"},
    {"http://x.example/path", "has no path"},
    {"https://x.example/", "has no path"},
    {"x.example/path", "a rule has no path"},
    {"x.example?q", "has no path"},
    {"foo bar", "a text for each"},
    {"a.example,b.example", "a text for each"},
    {"ftp://x.example", "only schemes are https:// and http://"},
    {"HTTPS://x.example", "only schemes"},
    {"user@x.example", "no user"},
    {"http://x.example:443", "write https://"},
    {"[::1]", "IPv4 only"},
    {"127.0.0.1:5432", "host.lazaret:PORT"},
    {"localhost:5432", "host.lazaret:PORT"},
    {"a.localhost", "host.lazaret:PORT"},
    {"224.0.0.1:80", "(multicast)"},
    {"[2001:db8::1]:443", "IPv4 only"},
    {"224.0.0.1:80", "(multicast)"},
    {"0.0.0.0:80", "(unspecified)"},
    {"198.18.0.5:80", "198.18.0.0/15"},
    {"198.18.0.0/15:80", "198.18.0.0/15"},
    {"::1", "in brackets"},
    {"2001:db8::1:443", "in brackets"},
    {"[2001:db8::1", "in brackets"},
    {"[2001:db8::1]443", "only a port"},
    {"[2001:db8::zz]:443", "no IPv6 address"},
    {"[10.0.0.x]:443", "no IPv6 address"},
    {"https://10.0.0.5", "without the scheme"},
    {"10.0.0.1/8:443", "no block of addresses"},
    {"10.0.0.0/33:443", "no block of addresses"},
    {"a:0", "a number from 1 to 65535"},
    {"a:99999", "a number from 1 to 65535"},
    {"a:65536", "a number from 1 to 65535"},
    {"a:", "a number from 1 to 65535"},
    {"a:080", "a number from 1 to 65535"},
    {"a:http", "a number from 1 to 65535"},
    {"a:-1", "a number from 1 to 65535"},
    {"a:*", "a number from 1 to 65535"},
    {"a:53", "port 53 cannot be listed"},
    {"*.com*", "'*' stands only for whole labels"},
    {"ex*mple.com", "'*' stands only for whole labels"},
    {"**.example.com", "'*' stands only for whole labels"},
    {"*.*.example.com", "'*' stands only for whole labels"},
    {"*example.com", "'*' stands only for whole labels"},
    {"a.*", "'*' stands only for whole labels"},
    {"*.", "'*' stands only for whole labels"},
    {"*.10.0.0.1", "neither a name nor an address"},
    {"256.1.1.1", "neither a name nor an address"},
    {"0177.0.0.1", "neither a name nor an address"},
    {"2130706433:80", "neither a name nor an address"},
    {"a..b", "is empty"},
    {".a", "is empty"},
    {"a!b", "a character other than"},
    {"db.lazaret:5432", "\"unix\""},
    {"*.lazaret", "listed by itself"},
    {"{", "not valid JSON"},
    {"{}", "\"host\" and \"to\""},
    {"{\"host\":\"a.example\",\"hosts\":1}", "no member \"hosts\""},
    {"{\"host\":1}", "\"host\" has the wrong type"},
    {"{\"host\":\"a.example\",\"to\":\"10.0.0.0/8\"}", "\"to\" has the wrong type"},
    {"{\"host\":\"a.example\",\"unix\":\"/x\"}", "\"host\" and \"to\""},
    {"{\"host\":\"a.example\",\"dangerous\":true}", "\"host\" and \"to\""},
    {"{\"name\":\"a.lazaret\"}", "\"host\" and \"to\""},
    {"{\"host\":\"*:22\",\"to\":[\"10.0.0.0/8\"]}", "\"to\" belongs to a name"},
    {"{\"host\":\"10.0.0.1\",\"to\":[\"10.0.0.0/8\"]}", "\"to\" belongs to a name"},
    {"{\"host\":\"a.example\",\"to\":[\"0.0.0.0/0\"]}", "too wide"},
    {"{\"host\":\"a.example\",\"to\":[\"8.8.8.8\"]}", "public addresses"},
    {"{\"host\":\"a.example\",\"to\":[\"0.0.0.0/8\"]}", "(unspecified)"},
    {"{\"host\":\"a.example\",\"to\":[\"224.0.0.0/4\"]}", "(multicast)"},
    {"{\"host\":\"a.example\",\"to\":[\"x\"]}", "no block of addresses"},
    {"{\"name\":\"a.example\",\"unix\":\"/run/x.sock\"}", "below .lazaret"},
    {"{\"name\":\"host.lazaret:1\",\"unix\":\"/run/x.sock\"}", "other than host.lazaret"},
    {"{\"name\":\"a.lazaret\",\"unix\":\"x.sock\"}", "absolute path"},
    {"{\"name\":\"a.lazaret\",\"unix\":\"\"}", "absolute path"},
    {"{\"name\":\"a.lazaret\",\"unix\":\"/run/../x.sock\"}", "absolute path"},
    {"{\"name\":\"a.lazaret\",\"unix\":\"@abstract\"}", "absolute path"},
    {"{\"name\":\"a.lazaret\",\"unix\":\"/run/x\",\"to\":[\"10.0.0.0/8\"]}", "\"host\""},
};

static void mistakes_are_told_with_their_remedy(void)
{
    for (size_t i = 0; i < N(mistakes); i++) {
        struct network_rule rule = {0};
        struct laz_error err = {0};
        CU_ASSERT_EQUAL(network_rule_parse(mistakes[i].text, &rule, &err), LAZ_ECONFIG);
        if (!strstr(err.text, mistakes[i].why))
            fprintf(stderr, "%s: %s\n", mistakes[i].text, err.text);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, mistakes[i].why));
        network_rule_fini(&rule);
    }
}

static void sockets_that_are_the_host_are_called_dangerous(void)
{
    static const char *const paths[] = {
        "/var/run/docker.sock",
        "/run/podman/podman.sock",
        "/run/user/1000/podman/podman.sock",
        "/run/containerd/containerd.sock",
        "/run/crio/crio.sock",
        "/run/dbus/system_bus_socket",
        "/run/user/1000/bus",
        "/tmp/dbus-abc",
        "/run/user/1000/gnupg/S.gpg-agent",
        "/home/user/.gnupg/S.gpg-agent.ssh",
        "/tmp/ssh-XXabc/agent.123",
        "/run/user/1000/keyring/ssh",
        "/tmp/.X11-unix/X0",
        "/run/user/1000/wayland-0",
        "/run/systemd/private",
        "/run/systemd/notify",
        "/run/snapd.socket",
        "/run/libvirt/libvirt-sock",
        "/var/snap/lxd/common/lxd/unix.socket",
        "/tmp/tmux-0/default",
        "/run/lazaret/serve.sock",
    };

    for (size_t i = 0; i < N(paths); i++) {
        struct network_rule rule = {0};
        struct laz_error err = {0};
        char text[200];
        snprintf(text, sizeof text, "{\"name\":\"a.lazaret\",\"unix\":\"%s\"}", paths[i]);
        CU_ASSERT_EQUAL(network_rule_parse(text, &rule, &err), LAZ_ECONFIG);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "\"dangerous\": true"));
        network_rule_fini(&rule);
    }
}

static void errors_name_the_rule_and_what_is_wrong_with_it(void)
{
    struct laz_strv allow = lines("a.example\nb.example:0\n");
    struct laz_network_wish wish = {.allow = &allow};
    struct laz_network_rules *rules = NULL;
    struct laz_error err = {0};
    const char *wrong = NULL;

    CU_ASSERT_EQUAL(laz_network_rules_new(&wish, &rules, &wrong, &err), LAZ_ECONFIG);
    CU_ASSERT_PTR_EQUAL(wrong, allow.items[1]);
    UNIT_TEXT(err.text, "network: b.example:0: that is no port: a number from 1 to 65535, as in "
                        "github.com:22");
    laz_strv_fini(&allow);
}

static void what_belongs_to_a_list_is_checked(void)
{
    static const struct {
        const char *allow, *hosts, *host_ports, *why; /* NULL: nothing is wrong */
    } rows[] = {
        {"host.lazaret:5432\n", NULL, "5432\n", NULL},
        {"host.lazaret:5432\n", NULL, "5433\n", "add 5432 to ports below [network.host]"},
        {"host.lazaret\n", NULL, NULL, "add 443 to ports"},
        {"", NULL, "53\n", "host.ports: 53: port 53"},
        {"", NULL, "x\n", "host.ports: x: that is no port"},
        {"", "db.internal=10.0.0.5\n", NULL, NULL},
        {"", "db.internal=fd00::5\n", NULL, NULL},
        {"", "db.internal=0.0.0.0\n", NULL, "(unspecified)"},
        {"", "db.internal=::ffff:127.0.0.1\n", NULL, "(IPv4-mapped)"},
        {"", "db.internal\n", NULL, "NAME=ADDRESS"},
        {"", "db.internal=x\n", NULL, "NAME=ADDRESS"},
        {"", "=10.0.0.5\n", NULL, "the name is empty"},
        {"", "*.a=10.0.0.5\n", NULL, "a character other than"},
        {"", "host.lazaret=10.0.0.5\n", NULL, "below .lazaret"},
        {"", "a.b=10.0.0.5\nA.B.=10.0.0.6\n", NULL, "has an address already"},
        {"a.b:22\na.b:22\n", NULL, NULL, NULL},
        {"https://a.b\na.b\n", NULL, NULL, NULL},
        {"http://a.b:8080\na.b:8080\n", NULL, NULL, "write one of them"},
        {"{\"host\":\"a.b\",\"to\":[\"10.0.0.0/8\"]}\na.b\n", NULL, NULL, "write one of them"},
    };

    for (size_t i = 0; i < N(rows); i++) {
        struct laz_network_rules *rules = NULL;
        struct laz_error err = {0};
        int rc = make(rows[i].allow, rows[i].hosts, rows[i].host_ports, true, &rules, &err);
        CU_ASSERT_EQUAL(rc, rows[i].why ? LAZ_ECONFIG : 0);
        if (rows[i].why && !strstr(err.text, rows[i].why))
            fprintf(stderr, "%s\n", err.text);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, rows[i].why ? rows[i].why : ""));
        laz_network_rules_drop(rules);
    }
}

static void a_resolver_is_an_address(void)
{
    static const struct {
        const char *text;
        uint16_t port; /* 0: it is refused */
    } rows[] = {
        {"10.0.0.53", 53},  {"10.0.0.53:5353", 5353}, {"10.0.0.53:53", 53}, {"::1", 53},
        {"[::1]", 53},      {"[::1]:5353", 5353},     {"[::1", 0},          {"[::1]x", 0},
        {"dns.example", 0}, {"10.0.0.53:0", 0},       {":53", 0},           {"10.0.0.53:", 0},
    };

    for (size_t i = 0; i < N(rows); i++) {
        struct laz_network_wish wish = {.resolver = rows[i].text};
        struct laz_network_rules *rules = NULL;
        struct laz_error err = {0};
        int rc = laz_network_rules_new(&wish, &rules, NULL, &err);
        CU_ASSERT_EQUAL(rc, rows[i].port ? 0 : LAZ_ECONFIG);
        if (!rc)
            CU_ASSERT_EQUAL(rules->resolver_port, rows[i].port);
        laz_network_rules_drop(rules);
    }
}

static void lists_have_bounds(void)
{
    struct laz_strv allow = LAZ_STRV_INIT;
    struct laz_network_wish wish = {.allow = &allow};
    struct laz_network_rules *rules = NULL;
    struct laz_error err = {0};

    for (unsigned i = 0; i < LAZ_OS_NETWORK_PORTS; i++)
        laz_strv_addf(&allow, "a.example:%u", 1000 + i);
    CU_ASSERT_EQUAL(laz_network_rules_new(&wish, &rules, NULL, &err), 0);
    uint16_t ports[LAZ_OS_NETWORK_PORTS];
    CU_ASSERT_EQUAL(laz_network_rules_ports(rules, ports), LAZ_OS_NETWORK_PORTS);
    laz_network_rules_drop(rules);
    laz_strv_add(&allow, "a.example:2000");
    CU_ASSERT_EQUAL(laz_network_rules_new(&wish, &rules, NULL, &err), LAZ_ECONFIG);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "65 different ports; there can be 64"));
    laz_strv_fini(&allow);
    for (unsigned i = 0; i < 1025; i++)
        laz_strv_addf(&allow, "a%u.example", i);
    CU_ASSERT_EQUAL(laz_network_rules_new(&wish, &rules, NULL, &err), LAZ_ECONFIG);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "there can be 1024"));
    laz_strv_fini(&allow);
}

static void lists_tell_what_they_are(void)
{
    struct laz_strv allow = lines("b.example:22\na.example\n*:8080\n10.0.0.1:9\n"
                                  "{\"name\":\"x.lazaret:7\",\"unix\":\"/run/x\"}\n");
    struct laz_strv further = lines("21\n22\n"), warnings = LAZ_STRV_INIT;
    struct laz_network_wish wish = {.allow = &allow, .ports = &further, .deny_private = true};
    struct laz_network_rules *rules = NULL, *none = NULL;
    struct laz_buf json = LAZ_BUF_INIT;
    uint16_t ports[LAZ_OS_NETWORK_PORTS];
    static const uint16_t expected[] = {7, 9, 21, 22, 443, 8080};

    CU_ASSERT_EQUAL(laz_network_rules_new(&wish, &rules, NULL, NULL), 0);
    CU_ASSERT(laz_network_rules_any(rules));
    CU_ASSERT_EQUAL(laz_network_rules_ports(rules, ports), N(expected));
    CU_ASSERT_EQUAL(memcmp(ports, expected, sizeof expected), 0);
    laz_network_rules_json(rules, &json);
    UNIT_TEXT(laz_buf_text(&json),
              "[\"b.example:22\",\"a.example\",\"*:8080\",\"10.0.0.1:9\","
              "\"{\\\"name\\\":\\\"x.lazaret:7\\\",\\\"unix\\\":\\\"/run/x\\\"}\"]");
    laz_network_rules_warn(rules, &warnings);
    CU_ASSERT_EQUAL_FATAL(warnings.n, 4);
    CU_ASSERT_PTR_NOT_NULL(strstr(warnings.items[0], "b.example:22: decided by the name alone"));
    CU_ASSERT_PTR_NOT_NULL(strstr(warnings.items[1], "*:8080: any public server"));
    CU_ASSERT_PTR_NOT_NULL(strstr(warnings.items[2], "10.0.0.1:9: decided by the address alone"));
    CU_ASSERT_PTR_NOT_NULL(strstr(warnings.items[3], "sees the host's user"));
    laz_strv_fini(&allow);
    CU_ASSERT_EQUAL(laz_network_rules_other(rules, &allow, &none, NULL, NULL), 0);
    CU_ASSERT_FALSE(laz_network_rules_any(none));
    CU_ASSERT_EQUAL(laz_network_rules_ports(none, ports), 2);
    laz_network_rules_drop(none);
    laz_network_rules_drop(rules);
    laz_strv_fini(&further);
    laz_strv_fini(&warnings);
    laz_buf_fini(&json);
}

/* ---- what lists permit ----------------------------------------------------------------------- */

#define LIST                                                                                       \
    "api.example.com\n*.data.example.org\nx.data.example.org:8443\n*.org:8080\ngithub.com:22\n"    \
    "*:9000\n10.0.0.0/8:443\n10.1.0.0/16:443\nhost.lazaret:5432\n"                                 \
    "{\"name\":\"db.lazaret:7\",\"unix\":\"/run/db\"}\n"

static void names_are_permitted_by_the_most_specific_rule(void)
{
    struct laz_network_rules *rules = made(LIST, NULL, true);
    static const struct {
        const char *name;
        uint16_t port;
        const char *rule; /* NULL: none */
    } rows[] = {
        {"api.example.com", 443, "api.example.com"},
        {"api.example.com", 80, NULL},
        {"api.example.com", 9000, "*:9000"},
        {"xapi.example.com", 443, NULL},
        {"api.example.com.evil", 443, NULL},
        {"example.com", 443, NULL},
        {"x.api.example.com", 443, NULL},
        {"a.data.example.org", 443, "*.data.example.org"},
        {"a.b.c.data.example.org", 443, "*.data.example.org"},
        {"data.example.org", 443, NULL},
        {"xdata.example.org", 443, NULL},
        {"x.data.example.org", 8443, "x.data.example.org:8443"},
        {"x.data.example.org", 443, "*.data.example.org"},
        {"x.data.example.org", 8080, "*.org:8080"},
        {"org", 8080, NULL},
        {"github.com", 22, "github.com:22"},
        {"github.com", 443, NULL},
        {"localhost", 9000, NULL},
        {"host.lazaret", 5432, "host.lazaret:5432"},
        {"host.lazaret", 9000, NULL},
        {"other.lazaret", 9000, NULL},
        {"db.lazaret", 7, "{\"name\":\"db.lazaret:7\",\"unix\":\"/run/db\"}"},
        {"10.in-addr.arpa", 443, NULL},
    };

    for (size_t i = 0; i < N(rows); i++) {
        const struct network_rule *rule = network_rule_for_name(rules, rows[i].name, rows[i].port);
        UNIT_TEXT(rule ? rule->text : "", rows[i].rule ? rows[i].rule : "");
    }
    CU_ASSERT(network_rules_know_name(rules, "github.com"));
    CU_ASSERT_FALSE(network_rules_know_name(rules, "localhost"));
    laz_network_rules_drop(rules);
    rules = made("github.com:22\n", NULL, true);
    CU_ASSERT_FALSE(network_rules_know_name(rules, "gitlab.com"));
    laz_network_rules_drop(rules);
}

static struct network_address address_of(const char *text)
{
    struct network_address address;

    CU_ASSERT_FATAL(network_address_parse(text, strlen(text), &address));
    return address;
}

static void literals_are_permitted_by_the_smallest_block(void)
{
    struct laz_network_rules *rules = made(LIST, NULL, true);
    struct network_address inner = address_of("10.1.2.3"), outer = address_of("10.2.2.3");
    struct network_address other = address_of("8.8.8.8");

    UNIT_TEXT(network_rule_for_address(rules, &inner, 443)->text, "10.1.0.0/16:443");
    UNIT_TEXT(network_rule_for_address(rules, &outer, 443)->text, "10.0.0.0/8:443");
    CU_ASSERT_PTR_NULL(network_rule_for_address(rules, &outer, 9000));
    CU_ASSERT_PTR_NULL(network_rule_for_address(rules, &other, 443));
    UNIT_TEXT(network_rule_closest(rules, NULL, &outer, 80)->text, "10.0.0.0/8:443");
    laz_network_rules_drop(rules);
}

static void denials_know_the_closest_rule(void)
{
    struct laz_network_rules *rules =
        made("api.example.com\n*.data.example.org\ngithub.com:22\n", NULL, true);
    static const struct {
        const char *name;
        uint16_t port;
        const char *rule;
    } rows[] = {
        {"api.example.com", 80, "api.example.com"},
        {"data.example.org", 443, "*.data.example.org"},
        {"x.data.example.org", 80, "*.data.example.org"},
        {"www.example.com", 443, "api.example.com"},
        {"example.com", 443, "api.example.com"},
        {"api.github.com", 443, "github.com:22"},
        {"hub.com", 443, ""},
        {"github.org", 443, ""},
        {"com", 443, ""},
    };

    for (size_t i = 0; i < N(rows); i++) {
        const struct network_rule *rule =
            network_rule_closest(rules, rows[i].name, NULL, rows[i].port);
        UNIT_TEXT(rule ? rule->text : "", rows[i].rule);
    }
    laz_network_rules_drop(rules);
}

static void resolved_addresses_are_judged(void)
{
    static const struct {
        const char *rule, *hosts, *name, *address;
        bool deny_private, may;
    } rows[] = {
        {"a.b\n", NULL, "a.b", "8.8.8.8", true, true},
        {"a.b\n", NULL, "a.b", "2606:4700::1", true, true},
        {"a.b\n", NULL, "a.b", "10.0.0.1", true, false},
        {"a.b\n", NULL, "a.b", "10.0.0.1", false, true},
        {"a.b\n", NULL, "a.b", "fd00::1", false, true},
        {"a.b\n", NULL, "a.b", "127.0.0.1", false, false},
        {"a.b\n", NULL, "a.b", "::ffff:127.0.0.1", false, false},
        {"a.b\n", NULL, "a.b", "169.254.169.254", false, false},
        {"a.b\n", NULL, "a.b", "fe80::1", false, false},
        {"a.b\n", NULL, "a.b", "0.0.0.0", false, false},
        {"a.b\n", NULL, "a.b", "224.0.0.1", false, false},
        {"a.b\n", "a.b=10.0.0.1\n", "a.b", "10.0.0.1", true, true},
        {"a.b\n", "a.b=10.0.0.1\n", "a.b", "10.0.0.2", true, false},
        {"*.b\n", "a.b=10.0.0.1\n", "a.b", "10.0.0.1", true, true},
        {"*.b\n", "a.b=10.0.0.1\n", "c.b", "10.0.0.1", true, false},
        {"{\"host\":\"a.b\",\"to\":[\"10.0.0.0/8\"]}\n", NULL, "a.b", "10.9.9.9", true, true},
        {"{\"host\":\"a.b\",\"to\":[\"10.0.0.0/8\"]}\n", NULL, "a.b", "192.168.0.1", true, false},
        {"{\"host\":\"a.b\",\"to\":[\"10.0.0.0/8\"]}\n", NULL, "a.b", "8.8.8.8", true, true},
        {"{\"host\":\"a.b\",\"to\":[\"fc00::/7\"]}\n", NULL, "a.b", "fd00:ec2::254", true, false},
        {"{\"host\":\"a.b\",\"to\":[\"100.64.0.0/10\"]}\n", NULL, "a.b", "100.100.100.200", true,
         false},
        {"a.b\n", "a.b=127.0.0.1\n", "a.b", "127.0.0.1", true, true},
        {"a.b\n", "a.b=127.0.0.1\n", "a.b", "127.0.0.2", true, false},
        {"a.b\n", "c.b=127.0.0.1\n", "a.b", "127.0.0.1", false, false},
        {"{\"host\":\"a.b\",\"to\":[\"127.0.0.0/8\"]}\n", NULL, "a.b", "127.0.0.9", true, true},
        {"{\"host\":\"a.b\",\"to\":[\"127.0.0.0/8\"]}\n", NULL, "a.b", "::ffff:127.0.0.1", true,
         false},
        {"{\"host\":\"a.b\",\"to\":[\"169.254.0.0/16\"]}\n", NULL, "a.b", "169.254.0.9", true,
         true},
        {"{\"host\":\"a.b\",\"to\":[\"169.254.0.0/16\"]}\n", NULL, "a.b", "169.254.169.254", true,
         false},
        {"169.254.169.254:80\n", NULL, NULL, "169.254.169.254", true, true},
        {"169.254.0.0/16:80\n", NULL, NULL, "169.254.169.254", true, false},
        {"*\n", NULL, "a.b", "8.8.8.8", true, true},
        {"*\n", NULL, "a.b", "10.0.0.1", false, false},
        {"*\n", "a.b=10.0.0.1\n", "a.b", "10.0.0.1", true, false},
        {"10.0.0.0/8\n", NULL, NULL, "10.0.0.1", true, true},
        {"10.0.0.0/8\n", NULL, NULL, "11.0.0.1", true, false},
        {"10.0.0.0/8\n", NULL, "a.b", "10.0.0.1", true, false},
        {"0.0.0.0/0\n", NULL, NULL, "8.8.8.8", true, true},
        {"0.0.0.0/0\n", NULL, NULL, "10.0.0.1", true, false},
        {"0.0.0.0/0\n", NULL, NULL, "10.0.0.1", false, true},
        {"0.0.0.0/0\n", NULL, NULL, "127.0.0.1", false, false},
        {"host.lazaret:5432\n", NULL, "host.lazaret", "127.0.0.1", true, true},
        {"host.lazaret:5432\n", NULL, "host.lazaret", "::1", true, true},
        {"host.lazaret:5432\n", NULL, "host.lazaret", "127.0.0.2", true, false},
        {"host.lazaret:5432\n", NULL, "host.lazaret", "8.8.8.8", true, false},
        {"{\"name\":\"d.lazaret\",\"unix\":\"/run/d\"}\n", NULL, "d.lazaret", "8.8.8.8", true,
         false},
    };

    for (size_t i = 0; i < N(rows); i++) {
        struct laz_network_rules *rules = made(rows[i].rule, rows[i].hosts, rows[i].deny_private);
        struct network_address address = address_of(rows[i].address);
        bool may = network_may_connect(rules, &rules->items[0], rows[i].name, &address);
        if (may != rows[i].may)
            fprintf(stderr, "%s %s\n", rows[i].rule, rows[i].address);
        CU_ASSERT_EQUAL(may, rows[i].may);
        laz_network_rules_drop(rules);
    }
}

static void another_list_keeps_hosts_and_bounds(void)
{
    struct laz_network_rules *rules = made("a.b\n", "a.b=10.0.0.1\n", true), *other = NULL;
    struct laz_strv allow = lines("a.b:22\nhost.lazaret:5432\n");
    struct network_address address = address_of("10.0.0.1");
    struct laz_error err = {0};
    const char *wrong = NULL;

    CU_ASSERT_EQUAL(laz_network_rules_other(rules, &allow, &other, &wrong, &err), 0);
    laz_network_rules_drop(laz_network_rules_hold(rules));
    laz_network_rules_drop(rules);
    CU_ASSERT(network_may_connect(other, &other->items[0], "a.b", &address));
    laz_strv_add(&allow, "host.lazaret:5433");
    CU_ASSERT_EQUAL(laz_network_rules_other(other, &allow, &rules, &wrong, &err), LAZ_ECONFIG);
    UNIT_TEXT(wrong, "host.lazaret:5433");
    laz_network_rules_drop(other);
    laz_strv_fini(&allow);
}

/* Whoever gives a session its list gets of the host what the settings have. */
static void another_list_opens_nothing_of_the_host(void)
{
    static const struct {
        const char *rule;
        bool may;
    } rows[] = {
        {"{\"name\":\"d.lazaret:7000\",\"unix\":\"/run/d\"}", true},
        {"{ \"unix\": \"/run/d\", \"name\": \"D.lazaret:7000\" }", true},
        {"{\"name\":\"d.lazaret:7000\",\"unix\":\"/run/e\"}", false},
        {"{\"name\":\"d.lazaret:7001\",\"unix\":\"/run/d\"}", false},
        {"{\"name\":\"e.lazaret\",\"unix\":\"/run/docker.sock\",\"dangerous\":true}", false},
        {"{\"host\":\"a.b\",\"to\":[\"127.0.0.1\"]}", true},
        {"{\"host\":\"a.b\",\"to\":[\"127.0.0.0/8\"]}", false},
        {"{\"host\":\"a.b\",\"to\":[\"10.0.0.0/8\",\"169.254.169.254\"]}", false},
        {"{\"host\":\"c.b\",\"to\":[\"127.0.0.1\"]}", false},
        {"{\"host\":\"c.b\",\"to\":[\"10.0.0.0/8\"]}", true},
        {"169.254.169.254:80", true},
        {"169.254.169.254:81", false},
        {"100.100.100.200:80", false},
        {"10.0.0.5:80", true},
        {"0.0.0.0/0:80", true},
        {"c.b", true},
    };
    struct laz_network_rules *rules =
        made("{\"name\":\"d.lazaret:7000\",\"unix\":\"/run/d\"}\n"
             "{\"host\":\"a.b\",\"to\":[\"127.0.0.1\"]}\n169.254.169.254:80\n",
             NULL, true);

    for (size_t i = 0; i < N(rows); i++) {
        struct laz_strv allow = LAZ_STRV_INIT;
        struct laz_network_rules *other = NULL;
        struct laz_error err = {0};
        laz_strv_add(&allow, rows[i].rule);
        int rc = laz_network_rules_other(rules, &allow, &other, NULL, &err);
        if (rc != (rows[i].may ? 0 : LAZ_ECONFIG))
            fprintf(stderr, "%s: %s\n", rows[i].rule, err.text);
        CU_ASSERT_EQUAL(rc, rows[i].may ? 0 : LAZ_ECONFIG);
        CU_ASSERT(rows[i].may || strstr(err.text, "of the settings alone"));
        laz_network_rules_drop(other);
        laz_strv_fini(&allow);
    }
    laz_network_rules_drop(rules);
}

/* A rule of the list that says more about an offered port stands for it. */
static void an_offered_port_may_have_a_rule(void)
{
    struct laz_strv allow = lines("http://host.lazaret:8080\n"), ports = lines("8080\n5432\n");
    struct laz_network_wish wish = {.allow = &allow, .host_ports = &ports, .deny_private = true};
    struct laz_network_rules *rules = NULL;
    struct laz_buf json = LAZ_BUF_INIT;

    CU_ASSERT_EQUAL_FATAL(laz_network_rules_new(&wish, &rules, NULL, NULL), 0);
    laz_network_rules_json(rules, &json);
    UNIT_TEXT(laz_buf_text(&json), "[\"http://host.lazaret:8080\",\"host.lazaret:5432\"]");
    CU_ASSERT_EQUAL(network_rule_for_name(rules, "host.lazaret", 8080)->layer, NETWORK_LAYER_HTTP);
    laz_network_rules_drop(rules);
    laz_buf_fini(&json);
    laz_strv_fini(&allow);
    laz_strv_fini(&ports);
}

static const struct unit_test tests[] = {
    UNIT(names_have_one_form),
    UNIT(a_nul_or_any_odd_byte_makes_no_name),
    UNIT(names_have_bounds),
    UNIT(letters_beyond_ascii_become_a_labels),
    UNIT(strangers_texts_are_escaped),
    UNIT(rules_are_read_as_they_are_meant),
    UNIT(mistakes_are_told_with_their_remedy),
    UNIT(sockets_that_are_the_host_are_called_dangerous),
    UNIT(errors_name_the_rule_and_what_is_wrong_with_it),
    UNIT(what_belongs_to_a_list_is_checked),
    UNIT(a_resolver_is_an_address),
    UNIT(lists_have_bounds),
    UNIT(lists_tell_what_they_are),
    UNIT(another_list_opens_nothing_of_the_host),
    UNIT(an_offered_port_may_have_a_rule),
    UNIT(names_are_permitted_by_the_most_specific_rule),
    UNIT(literals_are_permitted_by_the_smallest_block),
    UNIT(denials_know_the_closest_rule),
    UNIT(resolved_addresses_are_judged),
    UNIT(another_list_keeps_hosts_and_bounds),
    {0},
};

int main(void)
{
    return unit_run("network_rules", tests);
}
