/* SPDX-License-Identifier: MIT */
/* rule.c - one rule of a network list, of its text.
 * Side: host.  Input trusted: it is of whoever configures, and may be mistaken. */
#include "network/network_private.h"

#include "base/glob.h"
#include "base/json_fields.h"
#include "base/json_scan.h"

#include <stdlib.h>
#include <string.h>

#define RULE_PATH 107 /* bytes that the address of a socket has room for */

static int rule_wrong(struct laz_error *err, const char *why)
{
    return laz_error_set(err, LAZ_ECONFIG, 0, "%s", why);
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* "https://name:443", in parts. */
struct rule_parts {
    const char *host;
    size_t host_len;
    bool has_scheme, is_bracketed;
    enum network_layer layer; /* of the scheme */
    uint16_t port;            /* 0: none was written */
};

static int rule_scheme(const char **text, struct rule_parts *parts, struct laz_error *err)
{
    static const struct {
        const char *scheme;
        enum network_layer layer;
        uint16_t port;
    } rows[] = {{"https://", NETWORK_LAYER_TLS, 443}, {"http://", NETWORK_LAYER_HTTP, 80}};
    const char *end = strstr(*text, "://");

    if (!end)
        return 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strncmp(*text, rows[i].scheme, strlen(rows[i].scheme))) {
            parts->has_scheme = true;
            parts->layer = rows[i].layer;
            parts->port = rows[i].port;
            *text += strlen(rows[i].scheme);
            return 0;
        }
    return rule_wrong(err, "the only schemes are https:// and http://; for another protocol write "
                           "the name with its port (github.com:22)");
}

int network_port_parse(const char *text, uint16_t *port, struct laz_error *err)
{
    unsigned long value = 0;
    size_t len = strspn(text, "0123456789");

    if (!len || text[len] || len > 5 || text[0] == '0' ||
        (value = strtoul(text, NULL, 10)) > UINT16_MAX)
        return rule_wrong(err, "that is no port: a number from 1 to 65535, as in github.com:22");
    if (value == 53)
        return rule_wrong(err, "port 53 cannot be listed: the host answers DNS there, for names of "
                               "the list");
    *port = (uint16_t)value;
    return 0;
}

/* Mistakes that have a remedy of their own. */
static int rule_look(const char *text, bool has_scheme, struct laz_error *err)
{
    if (!*text)
        return rule_wrong(err, "the rule has no name");
    if (strpbrk(text, " \t\r\n,"))
        return rule_wrong(err, "a rule is one name or address: write a text for each "
                               "([\"a.example\", \"b.example\"])");
    if (strchr(text, '@'))
        return rule_wrong(err, "a rule has no user: write what follows the '@'");
    if (strpbrk(text, "?#\\") || (has_scheme && strchr(text, '/')))
        return rule_wrong(err, "a rule has no path: all of a host is permitted or nothing; write "
                               "scheme and name alone (https://api.example.com)");
    return 0;
}

static int rule_split(const char *text, struct rule_parts *parts, struct laz_error *err)
{
    int rc = rule_scheme(&text, parts, err);

    if (!rc)
        rc = rule_look(text, parts->has_scheme, err);
    if (rc)
        return rc;
    const char *end = text + strcspn(text, ":");
    parts->host = text;
    if (*text == '[') {
        parts->is_bracketed = true;
        parts->host = text + 1;
        end = strchr(text, ']');
        if (!end || (end[1] && end[1] != ':'))
            return rule_wrong(err, "an IPv6 address stands in brackets, and behind them only a "
                                   "port ([2001:db8::1]:443)");
        parts->host_len = (size_t)(end++ - parts->host);
    } else if (*end && strchr(end + 1, ':'))
        return rule_wrong(err, "it has several ':': an IPv6 address stands in brackets "
                               "([2001:db8::1]:443)");
    else
        parts->host_len = (size_t)(end - parts->host);
    return *end ? network_port_parse(end + 1, &parts->port, err) : 0;
}

/* ---- what a rule is about -------------------------------------------------------------------- */

static int rule_address(const struct rule_parts *parts, struct network_rule *rule,
                        struct laz_error *err)
{
    rule->kind = NETWORK_RULE_ADDRESS;
    if (parts->has_scheme)
        return rule_wrong(err, "an address has no name that a server or a request could be "
                               "compared with: write it without the scheme, with a port");
    if (rule->block.address.family == 6 && !parts->is_bracketed)
        return rule_wrong(err, "an IPv6 address stands in brackets ([2001:db8::1]:443)");
    if (rule->block.bits >= 15 && network_is_false(&rule->block.address))
        return rule_wrong(err, "addresses of 198.18.0.0/15 stand for names inside of a box");
    if (rule->block.address.family == 6)
        return rule_wrong(err, "a box has addresses of IPv4 only: list a name, which may have one "
                               "of IPv6 (hosts = {\"db.internal\" = \"2001:db8::1\"})");
    if (!network_block_is_one_class(&rule->block))
        return 0;
    if (!strcmp(network_class(&rule->block.address), "loopback"))
        return rule_wrong(err, "that is the box itself: a service of the host is named "
                               "host.lazaret:PORT");
    if (network_class_is_final(&rule->block.address))
        return laz_error_set(err, LAZ_ECONFIG, 0, "no rule permits an address of this kind (%s)",
                             network_class(&rule->block.address));
    return 0;
}

/* An address, a block or a name. */
static int rule_plain_host(const struct rule_parts *parts, struct network_rule *rule,
                           struct laz_error *err)
{
    if (network_block_parse(parts->host, parts->host_len, &rule->block))
        return rule_address(parts, rule, err);
    memset(&rule->block, 0, sizeof rule->block);
    if (parts->is_bracketed)
        return rule_wrong(err, "what stands in the brackets is no IPv6 address, and no block of "
                               "addresses without a bit behind its length ([2001:db8::/32]:443)");
    if (memchr(parts->host, '/', parts->host_len))
        return rule_wrong(err, "that is no block of addresses: four decimals and a length, without "
                               "a bit behind it (10.0.0.0/8:443); a rule has no path");
    rule->kind = NETWORK_RULE_NAME;
    return network_name_of_list(parts->host, parts->host_len, rule->name, err);
}

static int rule_host(const struct rule_parts *parts, struct network_rule *rule,
                     struct laz_error *err)
{
    const char *host = parts->host;
    size_t len = parts->host_len;

    if (!memchr(host, '*', len) || parts->is_bracketed)
        return rule_plain_host(parts, rule, err);
    rule->kind = len == 1 ? NETWORK_RULE_ANY : NETWORK_RULE_WILDCARD;
    if (len == 1)
        return 0;
    if (len < 3 || host[0] != '*' || host[1] != '.' || memchr(host + 1, '*', len - 1))
        return rule_wrong(err, "'*' stands only for whole labels, and in front (*.example.com), or "
                               "alone for any public name");
    return network_name_of_list(host + 2, len - 2, rule->name, err);
}

/* Names that have a meaning of their own. */
static int rule_special(struct network_rule *rule, struct laz_error *err)
{
    static const char localhost[] = ".localhost";
    size_t len = strlen(rule->name);
    bool is_name = rule->kind == NETWORK_RULE_NAME;

    if (!strcmp(rule->name, localhost + 1) ||
        (len >= sizeof localhost && !strcmp(rule->name + len - (sizeof localhost - 1), localhost)))
        return rule_wrong(err, "localhost is the box itself: a service of the host is named "
                               "host.lazaret:PORT");
    if (!strcmp(rule->name, "lazaret") || (network_name_is_ours(rule->name) && !is_name))
        return rule_wrong(err, "names below .lazaret are services of the host: each is listed by "
                               "itself");
    if (is_name && !strcmp(rule->name, "host.lazaret"))
        rule->kind = NETWORK_RULE_HOST;
    return 0;
}

static int rule_text(const char *text, struct network_rule *rule, struct laz_error *err)
{
    struct rule_parts parts = {0};
    int rc = rule_split(text, &parts, err);

    if (!rc)
        rc = rule_host(&parts, rule, err);
    if (!rc)
        rc = rule_special(rule, err);
    if (rc)
        return rc;
    rule->port = parts.port ? parts.port : 443;
    if (parts.layer == NETWORK_LAYER_HTTP && rule->port == 443)
        return rule_wrong(err, "port 443 is that of TLS: write https://");
    if (parts.has_scheme)
        rule->layer = parts.layer;
    else if (rule->kind != NETWORK_RULE_ADDRESS && !network_name_is_ours(rule->name))
        rule->layer = rule->port == 443  ? NETWORK_LAYER_TLS
                      : rule->port == 80 ? NETWORK_LAYER_HTTP
                                         : NETWORK_LAYER_PLAIN;
    return 0;
}

/* ---- objects --------------------------------------------------------------------------------- */

struct rule_object {
    const char *host, *name, *path;
    struct laz_strv to;
    bool has_to, is_dangerous;
};

#define RULE_FIELD(word, type, member)                                                             \
    {                                                                                              \
        .name = word, .kind = LAZ_FIELD_##type, .at = offsetof(struct rule_object, member)         \
    }

static const struct laz_field rule_rows[] = {
    RULE_FIELD("host", TEXT, host),
    {"to", LAZ_FIELD_TEXTS, .at = offsetof(struct rule_object, to),
     .has_at = offsetof(struct rule_object, has_to), .flags = LAZ_FIELD_ALL},
    RULE_FIELD("name", TEXT, name),
    RULE_FIELD("unix", TEXT, path),
    RULE_FIELD("dangerous", BOOLEAN, is_dangerous),
};

static const struct laz_fields rule_fields = {.name = "a rule",
                                              .size = sizeof(struct rule_object),
                                              .items = rule_rows,
                                              .n = sizeof rule_rows / sizeof *rule_rows,
                                              .is_closed = true};

static int rule_to(const struct laz_strv *to, struct network_rule *rule, struct laz_error *err)
{
    if (rule->kind != NETWORK_RULE_NAME && rule->kind != NETWORK_RULE_WILDCARD)
        return rule_wrong(err, "\"to\" belongs to a name, or to names below one");
    if (!to->n)
        return rule_wrong(err, "\"to\" is empty: list the blocks of addresses that the name may "
                               "have ([\"10.0.0.0/8\"])");
    rule->to = calloc(to->n, sizeof *rule->to);
    if (!rule->to)
        return laz_error_nomem(err);
    for (; rule->n_to < to->n; rule->n_to++) {
        struct network_block *block = &rule->to[rule->n_to];
        const char *text = to->items[rule->n_to];
        if (!network_block_parse(text, strlen(text), block))
            return laz_error_set(err, LAZ_ECONFIG, 0,
                                 "\"to\": \"%.60s\" is no block of addresses: write it as in "
                                 "\"10.0.0.0/8\", without a bit behind its length",
                                 text);
        if (!network_block_is_one_class(block))
            return laz_error_set(err, LAZ_ECONFIG, 0,
                                 "\"to\": \"%.60s\" has public addresses, which are permitted "
                                 "without it, or is too wide: write a private block (10.0.0.0/8)",
                                 text);
        if (network_class_is_final(&block->address))
            return laz_error_set(err, LAZ_ECONFIG, 0,
                                 "\"to\": no rule permits addresses as \"%.60s\" (%s)", text,
                                 network_class(&block->address));
    }
    return 0;
}

/* What a socket gives away, beyond the service that a name may stand for. */
static const struct {
    const char *path;
    const char *what;
} rule_dangers[] = {
    {"*docker*", "whoever reaches Docker is root on the host"},
    {"*podman*", "whoever reaches Podman runs programs as the host's user"},
    {"*containerd*", "whoever reaches containerd is root on the host"},
    {"*crio*", "whoever reaches CRI-O is root on the host"},
    {"*buildkit*", "whoever reaches BuildKit runs programs on the host"},
    {"*/kubelet*", "the kubelet runs programs on the host"},
    {"*/libvirt/*", "libvirt runs programs on the host"},
    {"*/lxd/*", "whoever reaches LXD is root on the host"},
    {"*/incus/*", "whoever reaches Incus is root on the host"},
    {"*/snapd*", "snapd installs programs on the host"},
    {"*/system_bus_socket", "D-Bus starts programs on the host"},
    {"*/dbus-*", "D-Bus starts programs on the host"},
    {"*/bus", "D-Bus starts programs on the host"},
    {"*/at-spi/*", "it types in windows of the host"},
    {"*/systemd/*", "systemd runs programs on the host"},
    {"*/S.*", "an agent of GnuPG uses the keys of the host's user"},
    {"*/ssh-*", "an agent of SSH uses the keys of the host's user"},
    {"*/agent.*", "an agent of SSH uses the keys of the host's user"},
    {"*/.ssh/*", "an agent of SSH uses the keys of the host's user"},
    {"*/keyring*", "it has the passwords of the host's user"},
    {"*/.X11-unix/*", "whoever reaches a display types in its windows"},
    {"*/wayland-*", "whoever reaches a display sees its windows"},
    {"*/pipewire-*", "it hears the host's microphone"},
    {"*/pulse/*", "it hears the host's microphone"},
    {"*/tmux-*", "whoever reaches tmux runs programs on the host"},
    {"*/screen*", "whoever reaches screen runs programs on the host"},
    {"*/vscode-*", "an editor runs programs on the host"},
    {"*/lazaret*", "a lazaret of the host runs code under other rules"},
};

static int rule_path(const char *path, bool is_dangerous, struct laz_error *err)
{
    size_t len = strlen(path);

    if (path[0] != '/' || strstr(path, "//") || strstr(path, "/./") || strstr(path, "/../") ||
        path[len - 1] == '/')
        return rule_wrong(err, "\"unix\" is the absolute path of a socket, without \"//\", \".\" "
                               "and \"..\"");
    if (len > RULE_PATH)
        return laz_error_set(err, LAZ_ECONFIG, 0,
                             "\"unix\": the path has %zu bytes; a socket can have %d", len,
                             RULE_PATH);
    for (size_t i = 0; !is_dangerous && i < sizeof rule_dangers / sizeof *rule_dangers; i++)
        if (laz_glob(rule_dangers[i].path, path, len))
            return laz_error_set(err, LAZ_ECONFIG, 0,
                                 "\"unix\": %s: %s; if code may do that, add \"dangerous\": true",
                                 path, rule_dangers[i].what);
    return 0;
}

static int rule_unix(const struct rule_object *object, struct network_rule *rule,
                     struct laz_error *err)
{
    int rc = rule_text(object->name, rule, err);

    if (rc)
        return rc;
    if (rule->kind != NETWORK_RULE_NAME || !network_name_is_ours(rule->name))
        return rule_wrong(err, "\"name\": a socket of the host gets a name of its own below "
                               ".lazaret (\"db.lazaret:5432\"), other than host.lazaret");
    rule->kind = NETWORK_RULE_UNIX;
    rc = rule_path(object->path, object->is_dangerous, err);
    if (!rc && !(rule->path = laz_strdup(object->path)))
        rc = laz_error_nomem(err);
    return rc;
}

static int rule_of_object(const struct rule_object *object, struct network_rule *rule,
                          struct laz_error *err)
{
    bool is_socket = object->name || object->path;

    if (object->host ? is_socket || object->is_dangerous
                     : !object->name || !object->path || object->has_to)
        return rule_wrong(err,
                          "an object has \"host\" and \"to\" ({\"host\": \"db.internal:5432\", "
                          "\"to\": [\"10.0.0.0/8\"]}), or \"name\" and \"unix\" ({\"name\": "
                          "\"db.lazaret:5432\", \"unix\": \"/run/db.sock\"})");
    if (is_socket)
        return rule_unix(object, rule, err);
    int rc = rule_text(object->host, rule, err);
    return rc || !object->has_to ? rc : rule_to(&object->to, rule, err);
}

static int rule_json(const char *text, struct network_rule *rule, struct laz_error *err)
{
    struct rule_object object;
    struct laz_fields_problem wrong;
    size_t len = strlen(text);
    int rc = laz_json_scan(text, len, err);

    if (!rc && (rc = laz_fields_read(&rule_fields, text, len, &object, &wrong))) {
        if (rc == LAZ_ENOMEM)
            return laz_error_nomem(err);
        if (wrong.what == LAZ_WRONG_UNKNOWN)
            return laz_error_set(err, LAZ_ECONFIG, 0,
                                 "a rule has no member \"%.*s\": host, to, name, unix, dangerous",
                                 (int)(wrong.key_len < 64 ? wrong.key_len : 64), wrong.key);
        return laz_error_set(err, LAZ_ECONFIG, 0, "the member \"%s\" has the wrong type",
                             wrong.field ? wrong.field->name : "");
    }
    if (rc)
        return rc == LAZ_ENOMEM ? rc : laz_error_as(err, LAZ_ECONFIG);
    rc = rule_of_object(&object, rule, err);
    laz_fields_free(&rule_fields, &object);
    return rc;
}

int network_rule_parse(const char *text, struct network_rule *rule, struct laz_error *err)
{
    int rc = *text == '{' ? rule_json(text, rule, err) : rule_text(text, rule, err);

    rule->text = text;
    if (!rc && rule->kind == NETWORK_RULE_NAME && network_name_is_ours(rule->name))
        return rule_wrong(err, "a name below .lazaret is a socket of the host: write {\"name\": "
                               "\"db.lazaret:5432\", \"unix\": \"/run/db.sock\"}; or it is "
                               "host.lazaret");
    return rc;
}

void network_rule_fini(struct network_rule *rule)
{
    free(rule->to);
    free(rule->path);
}

/* ---- hosts ----------------------------------------------------------------------------------- */

int laz_network_host_parse(const char *text, struct laz_network_host *host, struct laz_error *err)
{
    struct network_rule rule = {.text = NULL};
    char *whole = strstr(text, "://") ? laz_strdup(text) : laz_strdupf("https://%s", text);
    int rc = !whole            ? laz_error_nomem(err)
             : whole[0] == '{' ? rule_wrong(err, "expected a name (\"api.example.com\")")
                               : rule_text(whole, &rule, err);

    if (!rc && (rule.layer != NETWORK_LAYER_TLS ||
                (rule.kind != NETWORK_RULE_NAME && rule.kind != NETWORK_RULE_WILDCARD) ||
                network_name_is_ours(rule.name)))
        rc = rule_wrong(err, "expected the name of a host that is spoken to by TLS "
                             "(\"api.example.com\", \"api.example.com:8443\"), or names below one "
                             "(\"*.example.com\")");
    if (!rc) {
        memcpy(host->name, rule.name, sizeof host->name);
        host->port = rule.port;
        host->is_wildcard = rule.kind == NETWORK_RULE_WILDCARD;
    }
    network_rule_fini(&rule);
    free(whole);
    return rc;
}

bool laz_network_host_has(const struct laz_network_host *host, const char *name, uint16_t port)
{
    const size_t len = strlen(host->name), name_len = strlen(name);

    if (port != host->port)
        return false;
    if (!host->is_wildcard)
        return strcmp(name, host->name) == 0;
    return name_len > len + 1 && name[name_len - len - 1] == '.' &&
           strcmp(name + name_len - len, host->name) == 0;
}

bool laz_network_rules_have(const struct laz_network_rules *rules,
                            const struct laz_network_host *host)
{
    const struct network_rule *rule =
        host->is_wildcard ? NULL : network_rule_for_name(rules, host->name, host->port);

    for (size_t i = 0; i < rules->n && host->is_wildcard && !rule; i++)
        if (rules->items[i].port == host->port &&
            (rules->items[i].kind == NETWORK_RULE_ANY ||
             laz_network_host_has(host, rules->items[i].name, host->port) ||
             strcmp(rules->items[i].name, host->name) == 0))
            rule = &rules->items[i];
    return rule && rule->layer == NETWORK_LAYER_TLS;
}
