/* SPDX-License-Identifier: MIT */
/* options.c - options of the carrier nats, and what becomes of them. */
#include "nats_private.h"

#include <lazaret/options.h>

#include <stdio.h>
#include <strings.h>

#define NATS_PORT "4222"

/* A server that does not answer is noticed after the second ping without an answer; one that takes
 * nothing for so long is left. */
#define NATS_PING_MS  5000
#define NATS_PINGS    2
#define NATS_WRITE_MS 10000
/* Messages, and as many KiB, that may wait for one subscription: a caller has one for all its
 * links, each of which may have a window of 1 MiB on its way. More is lost. */
#define NATS_PENDING (512 << 10)

const struct laz_option nats_options[] = {
    LAZ_OPTION("url", LAZ_OPT_ANY, NULL,
               "of the server: tls://HOST:PORT, or nats://HOST:PORT on this machine; or a list, of "
               "which one after the other is tried"),
    LAZ_OPTION("name", LAZ_OPT_STRING, "\"lazaret\"", "what the server's operator sees"),
    LAZ_OPTION("user", LAZ_OPT_STRING, "", "its name at the server"),
    LAZ_OPTION("password", LAZ_OPT_STRING, "", "of the user", .flags = LAZ_OPT_SECRET),
    LAZ_OPTION("token", LAZ_OPT_STRING, "", "in place of a user", .flags = LAZ_OPT_SECRET),
    LAZ_OPTION("credentials", LAZ_OPT_PATH, "", "a .creds file, in place of a user"),
    LAZ_OPTION(
        "ca", LAZ_OPT_PATH, "",
        "authorities that the server's certificate may be of (PEM); else those of the system"),
    LAZ_OPTION("certificate", LAZ_OPT_PATH, "", "of this client, with its chain (PEM)"),
    LAZ_OPTION("key", LAZ_OPT_PATH, "", "of the certificate (PEM)"),
    LAZ_OPTION("server_name", LAZ_OPT_STRING, "",
               "what the server's certificate has to be for, if that is not the host of the URL"),
    LAZ_OPTION("connect_timeout", LAZ_OPT_TIME, "5", "for one attempt at one server",
               .min = "\"10ms\"", .max = "60"),
    LAZ_OPTION("insecure", LAZ_OPT_BOOLEAN, "false",
               "take nats:// for other machines: all on the way can read and change everything"),
    LAZ_OPTIONS_END,
};

#define FIELD(key, type)                                                                           \
    {                                                                                              \
#key, type, offsetof(struct nats_config, key)                                              \
    }
static const struct laz_option_field nats_fields[] = {
    FIELD(url, LAZ_OPT_ANY),
    FIELD(name, LAZ_OPT_STRING),
    FIELD(user, LAZ_OPT_STRING),
    FIELD(password, LAZ_OPT_STRING),
    FIELD(token, LAZ_OPT_STRING),
    FIELD(credentials, LAZ_OPT_PATH),
    FIELD(ca, LAZ_OPT_PATH),
    FIELD(certificate, LAZ_OPT_PATH),
    FIELD(key, LAZ_OPT_PATH),
    FIELD(server_name, LAZ_OPT_STRING),
    FIELD(connect_timeout, LAZ_OPT_TIME),
    FIELD(insecure, LAZ_OPT_BOOLEAN),
    {NULL, 0, 0},
};

/* ---- URLs ------------------------------------------------------------------------------------ */

static bool nats_is_loopback(const char *host)
{
    return strcasecmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 ||
           (strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == strlen(host));
}

/* HOST[:PORT] or [ADDRESS][:PORT]: the host, without brackets. False: it is none. */
static bool nats_host_port(const char *text, char host[NATS_HOST + 1], const char **port)
{
    const bool is_bracketed = *text == '[';
    static const char address[] = "0123456789abcdefABCDEF:.";
    static const char name[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    const char *begin = text + is_bracketed;
    const size_t len = strspn(begin, is_bracketed ? address : name);
    const char *end = begin + len;

    if (!len || len > NATS_HOST || (is_bracketed && *end++ != ']'))
        return false;
    memcpy(host, begin, len);
    host[len] = '\0';
    *port = *end == ':' ? end + 1 : NATS_PORT;
    const size_t digits = strspn(*port, "0123456789");
    return (!*end || *end == ':') && digits && digits <= 5 && !(*port)[digits] &&
           atoi(*port) >= 1 && atoi(*port) <= 65535;
}

static int nats_config_server(struct nats_config *config, const char *text, struct laz_error *err)
{
    struct nats_server *server = &config->servers[config->n_servers];
    const char *port;
    char url[NATS_HOST + 64];

    server->is_tls = strncmp(text, "tls://", 6) == 0;
    if (config->n_servers == NATS_SERVERS)
        return laz_fail(err, LAZ_ECONFIG, "url: more than %d servers", NATS_SERVERS);
    if (strchr(text, '@'))
        return laz_fail(err, LAZ_ECONFIG,
                        "url: who connects is said by other options, such as user");
    if ((!server->is_tls && strncmp(text, "nats://", 7) != 0) ||
        !nats_host_port(text + (server->is_tls ? 6 : 7), server->host, &port))
        return laz_fail(err, LAZ_ECONFIG,
                        "url: \"%.100s\" is neither tls://HOST:PORT nor nats://HOST:PORT", text);
    if (!server->is_tls && !config->insecure && !nats_is_loopback(server->host))
        return laz_fail(err, LAZ_ECONFIG,
                        "url: \"%.100s\" is of another machine: it needs tls:// (or insecure = "
                        "true)",
                        text);
    const char *bracket = strchr(server->host, ':') ? "[" : "";
    snprintf(url, sizeof url, "%s://%s%s%s:%s", server->is_tls ? "tls" : "nats", bracket,
             server->host, *bracket ? "]" : "", port);
    server->url = laz_option_copy(url, strlen(url));
    if (!server->url)
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    config->n_servers++;
    return 0;
}

/* A string, or a list of them. */
static int nats_config_servers(const struct laz_json_api *json, struct nats_config *config,
                               struct laz_error *err)
{
    const char *text = config->url ? config->url : "[]";
    struct laz_json_reader *reader = json->reader_new(text, strlen(text));
    struct laz_json_token token;
    int rc = 0;

    if (!reader)
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    const bool is_list = json->peek(reader) == LAZ_JSON_ARRAY_BEGIN;
    if (is_list)
        json->next(reader, &token);
    while (!rc && json->peek(reader) == LAZ_JSON_STRING && (is_list || !config->n_servers)) {
        json->next(reader, &token);
        rc = nats_config_server(config, token.text, err);
    }
    if (!rc && is_list && json->next(reader, &token) != LAZ_JSON_ARRAY_END)
        rc = laz_fail(err, LAZ_ECONFIG, "url: neither a string nor a list of strings");
    if (!rc && !config->n_servers)
        rc = laz_fail(err, LAZ_ECONFIG, "url: it is missing");
    json->reader_free(reader);
    return rc;
}

/* ---- all options ----------------------------------------------------------------------------- */

static int nats_config_check(const struct nats_config *config, struct laz_error *err)
{
    const int who =
        (config->user != NULL) + (config->token != NULL) + (config->credentials != NULL);

    if (!config->user != !config->password)
        return laz_fail(err, LAZ_ECONFIG, "user and password go together");
    if (who > 1)
        return laz_fail(err, LAZ_ECONFIG, "only one of user, token and credentials can be given");
    if (!config->certificate != !config->key)
        return laz_fail(err, LAZ_ECONFIG, "certificate and key go together");
    for (size_t i = 0; i < config->n_servers; i++)
        if (!config->servers[i].is_tls &&
            (config->ca || config->certificate || config->server_name))
            return laz_fail(err, LAZ_ECONFIG, "%s: what is about TLS needs a URL with tls://",
                            config->ca            ? "ca"
                            : config->certificate ? "certificate"
                                                  : "server_name");
    return 0;
}

int nats_config_read(const struct laz_json_api *json, const char *text, size_t len,
                     struct nats_config *config, struct laz_error *err)
{
    *config = (struct nats_config){.connect_timeout = 5000};
    int rc = laz_options_read(json, text, len, nats_fields, config, err);

    if (!rc)
        rc = nats_config_servers(json, config, err);
    return rc ? rc : nats_config_check(config, err);
}

/* The compiler must not leave it out because the memory is freed. */
static void nats_wipe(char *secret)
{
    for (volatile char *at = secret; at && *at; at++)
        *at = '\0';
}

void nats_config_free(struct nats_config *config)
{
    nats_wipe(config->password);
    nats_wipe(config->token);
    laz_options_free(nats_fields, config);
    for (size_t i = 0; i < config->n_servers; i++)
        free(config->servers[i].url);
    config->n_servers = 0;
}

const char *nats_words(natsStatus status)
{
    const char *text = nats_GetLastError(NULL);
    const char *end = text && *text == '(' ? strstr(text, "): ") : NULL;

    text = end ? end + 3 : text;
    return text && *text ? text : natsStatus_GetText(status);
}

/* What helps; "": nothing is known. */
static const char *nats_hint(natsStatus status)
{
    switch (status) {
    case NATS_NO_SERVER:
        return "; is a nats-server running there?";
    case NATS_CONNECTION_AUTH_FAILED:
        return "; user and password, or the token, are not those of this server";
    case NATS_SECURE_CONNECTION_WANTED:
        return "; without TLS the URL of a server is nats://";
    default:
        return "";
    }
}

int nats_fail(struct laz_error *err, natsStatus status, const char *what)
{
    const char *text = nats_words(status);
    int code = LAZ_EREFUSED;

    switch (status) {
    case NATS_NO_MEMORY:
        code = LAZ_ENOMEM;
        break;
    case NATS_CONNECTION_AUTH_FAILED:
    case NATS_SSL_ERROR:
    case NATS_SECURE_CONNECTION_WANTED:
    case NATS_INVALID_ARG:
    case NATS_ADDRESS_MISSING:
        code = LAZ_ECONFIG;
        break;
    case NATS_NO_SERVER:
    case NATS_TIMEOUT:
    case NATS_IO_ERROR:
    case NATS_CONNECTION_CLOSED:
        code = LAZ_ETIMEOUT;
        break;
    case NATS_SYS_ERROR:
        code = LAZ_EOS;
        break;
    default:
        break;
    }
    return laz_fail(err, code, "%s: %s%s", what, text, nats_hint(status));
}

static natsStatus nats_config_secure(const struct nats_config *config,
                                     const struct nats_server *server, natsOptions *options,
                                     const char **what)
{
    const char *name = config->server_name ? config->server_name : server->host;
    natsStatus s = natsOptions_SetSecure(options, true);

    if (s == NATS_OK)
        s = natsOptions_SetExpectedHostname(options, name);
    if (s == NATS_OK && config->ca) {
        *what = config->ca;
        s = natsOptions_LoadCATrustedCertificates(options, config->ca);
    }
    if (s == NATS_OK && config->certificate) {
        *what = config->certificate;
        s = natsOptions_LoadCertificatesChain(options, config->certificate, config->key);
    }
    return s;
}

static natsStatus nats_config_who(const struct nats_config *config, natsOptions *options)
{
    if (config->user)
        return natsOptions_SetUserInfo(options, config->user, config->password);
    if (config->token)
        return natsOptions_SetToken(options, config->token);
    if (config->credentials)
        return natsOptions_SetUserCredentialsFromFiles(options, config->credentials, NULL);
    return NATS_OK;
}

int nats_config_options(const struct nats_config *config, const struct nats_server *server,
                        natsOptions **options, struct laz_error *err)
{
    const char *what = server->url;
    natsStatus s = natsOptions_Create(options);

#define SET(call)                                                                                  \
    if (s == NATS_OK)                                                                              \
    s = natsOptions_##call
    SET(SetURL(*options, server->url));
    SET(SetName(*options, config->name ? config->name : "lazaret"));
    SET(SetTimeout(*options, config->connect_timeout));
    SET(SetAllowReconnect(*options, false));
    SET(SetIgnoreDiscoveredServers(*options, true));
    SET(UseGlobalMessageDelivery(*options, true));
    SET(SetSendAsap(*options, true));
    SET(SetPingInterval(*options, NATS_PING_MS));
    SET(SetMaxPingsOut(*options, NATS_PINGS));
    SET(SetWriteDeadline(*options, NATS_WRITE_MS));
    SET(SetMaxPendingMsgs(*options, NATS_PENDING));
#undef SET
    if (s == NATS_OK)
        s = nats_config_who(config, *options);
    if (s == NATS_OK && server->is_tls)
        s = nats_config_secure(config, server, *options, &what);
    if (s == NATS_OK)
        return 0;
    natsOptions_Destroy(*options);
    *options = NULL;
    const int code = s == NATS_NO_MEMORY ? LAZ_ENOMEM : LAZ_ECONFIG;
    return laz_fail(err, code, "%s: %s", what, nats_words(s));
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Permissions Violation for Publish to "lz.1.open.main", for Subscription to "lz.1.>" using queue
 * "w". */
bool nats_violation(const char *text, uint32_t *what, char subject[LAZ_CARRIER_SUBJECT + 1])
{
    static const char quoted[] = " to \"";
    const char *at = strstr(text, "Permissions Violation for ");

    if (!at)
        return false;
    *what = strstr(at, "for Subscription") ? LAZ_CARRIER_SUBSCRIBE : LAZ_CARRIER_SEND;
    at = strstr(at, quoted);
    if (!at)
        return false;
    at += sizeof quoted - 1;
    const size_t len = strcspn(at, "\"");
    if (len > LAZ_CARRIER_SUBJECT)
        return false;
    memcpy(subject, at, len);
    subject[len] = '\0';
    return true;
}

bool nats_is_subject(const char *subject, bool may_be_open)
{
    static const char token[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

    if (strlen(subject) > LAZ_CARRIER_SUBJECT)
        return false;
    for (const char *at = subject;; at++) {
        if (may_be_open && strcmp(at, ">") == 0)
            return true;
        const size_t len = strspn(at, token);
        if (!len)
            return false;
        at += len;
        if (!*at)
            return true;
        if (*at != '.')
            return false;
    }
}
