/* SPDX-License-Identifier: MIT */
/* http_headers.c - the address and the headers of a server over HTTP.
 *
 * Values of headers are secrets: they go into requests and nowhere else, so no error has one.
 * Side: host.  Input trusted: yes (the configuration); names of tools are not. */
#include "http.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEADERS_MAX_VALUE 8192
#define HEADERS_BASE64    "=?base64?" /* before a value that is not plain, and "?=" after it */

bool mcp_http_is_value(const char *value)
{
    for (const char *c = value; *c; c++)
        if (((unsigned char)*c < 0x20 && *c != '\t') || *c == 0x7f)
            return false;
    return strlen(value) <= HEADERS_MAX_VALUE;
}

static bool header_name_is_valid(const char *name)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

    return *name && strspn(name, word) == strlen(name);
}

/* Base64 of a value, as "=?base64?...?=". */
static char *header_encode(const char *value)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const size_t len = strlen(value);
    char *text = malloc(len / 3 * 4 + 24), *at = text;

    if (!text)
        return NULL;
    memcpy(at, HEADERS_BASE64, sizeof HEADERS_BASE64 - 1);
    at += sizeof HEADERS_BASE64 - 1;
    for (size_t i = 0; i < len; i += 3) {
        const unsigned char *c = (const unsigned char *)value + i;
        const size_t n = len - i < 3 ? len - i : 3;
        const uint32_t bits =
            (uint32_t)c[0] << 16 | (n > 1 ? (uint32_t)c[1] << 8 : 0) | (n > 2 ? c[2] : 0);
        for (size_t k = 0; k < 4; k++)
            *at++ = k <= n ? digits[bits >> (18 - 6 * k) & 63] : '=';
    }
    memcpy(at, "?=", 3);
    return text;
}

bool mcp_http_header(struct curl_slist **list, const char *name, const char *value)
{
    bool is_plain = *value != ' ' && strncmp(value, HEADERS_BASE64, sizeof HEADERS_BASE64 - 1) != 0;
    char *encoded = NULL, *line;

    for (const char *c = value; *c; c++)
        is_plain = is_plain && (unsigned char)*c >= 0x20 && (unsigned char)*c < 0x7f;
    if (!is_plain && !(encoded = header_encode(value)))
        return false;
    line = mcp_format("%s: %s", name, encoded ? encoded : value);
    struct curl_slist *longer = line ? curl_slist_append(*list, line) : NULL;
    if (longer)
        *list = longer;
    free(encoded);
    free(line);
    return longer != NULL;
}

/* ---- the configured headers ------------------------------------------------------------------ */

enum header_source { FROM_TABLE, FROM_VARIABLE, FROM_FILE };

struct headers {
    const struct laz_json_api *json;
    struct curl_slist **list;
    enum header_source source;
    bool only_checks;
    int ret;
    struct laz_error *err;
};

/* The first line of a file, or NULL with errno. */
static char *headers_read(const char *path)
{
    char text[HEADERS_MAX_VALUE + 2];
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

    if (fd >= 0)
        close(fd);
    if (n < 0)
        return NULL;
    text[n] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
    return strdup(text);
}

/* The value of a header, from where the table says. */
static char *headers_value(struct headers *headers, const char *name, const char *given)
{
    if (headers->source == FROM_TABLE)
        return strdup(given);
    if (headers->source == FROM_FILE) {
        char *value = headers_read(given);
        if (!value)
            headers->ret = laz_fail(headers->err, LAZ_EINVAL, "headers_file: %s: %s: %s", name,
                                    given, strerror(errno));
        return value;
    }
    const char *value = getenv(given);
    if (!value || !*value)
        headers->ret = laz_fail(headers->err, LAZ_EINVAL,
                                "headers_env: %s: the variable %s is not set", name, given);
    return value && *value ? strdup(value) : NULL;
}

static bool headers_one(void *user, const char *key, struct mcp_raw item)
{
    struct headers *headers = user;
    char *given = mcp_string(headers->json, item);
    char *value = NULL;

    if (!given)
        headers->ret = laz_fail(headers->err, LAZ_ENOMEM, "out of memory");
    else if (!header_name_is_valid(key))
        headers->ret =
            laz_fail(headers->err, LAZ_EINVAL, "headers: '%.60s' is not the name of one", key);
    else if (!headers->only_checks)
        value = headers_value(headers, key, given);
    if (value && !mcp_http_is_value(value))
        headers->ret = laz_fail(headers->err, LAZ_EINVAL,
                                "headers: the value of %s has control characters, or more than %d "
                                "bytes",
                                key, HEADERS_MAX_VALUE);
    else if (value && !mcp_http_header(headers->list, key, value))
        headers->ret = laz_fail(headers->err, LAZ_ENOMEM, "out of memory");
    else if (!value && given && !headers->only_checks && !headers->ret)
        headers->ret = laz_fail(headers->err, LAZ_ENOMEM, "out of memory");
    mcp_wipe(value);
    mcp_wipe(given);
    free(value);
    free(given);
    return !headers->ret;
}

static int headers_all(const struct mcp_server *server, struct curl_slist **list, bool only_checks,
                       struct laz_error *err)
{
    const char *const tables[] = {server->options.headers, server->options.headers_env,
                                  server->options.headers_file};
    struct headers headers = {
        .json = server->json, .list = list, .only_checks = only_checks, .err = err};

    for (int i = FROM_TABLE; i <= FROM_FILE && !headers.ret; i++) {
        headers.source = (enum header_source)i;
        if (tables[i])
            (void)mcp_each(server->json, (struct mcp_raw){tables[i], strlen(tables[i])},
                           headers_one, &headers);
    }
    return headers.ret;
}

int mcp_http_headers(const struct mcp_server *server, struct curl_slist **list,
                     struct laz_error *err)
{
    int ret = headers_all(server, list, false, err);

    if (!ret && (!mcp_http_header(list, "Content-Type", "application/json") ||
                 !mcp_http_header(list, "Accept", "application/json, text/event-stream")))
        ret = laz_fail(err, LAZ_ENOMEM, "out of memory");
    if (ret) {
        curl_slist_free_all(*list);
        *list = NULL;
    }
    return ret;
}

/* ---- the address ----------------------------------------------------------------------------- */

static bool host_is_here(const char *host)
{
    return strcmp(host, "localhost") == 0 || strcmp(host, "127.0.0.1") == 0 ||
           strcmp(host, "[::1]") == 0;
}

int mcp_http_check(const struct mcp_server *server, struct laz_error *err)
{
    char *scheme = NULL, *host = NULL, *user = NULL;
    CURLU *url = curl_url();
    int ret = 0;

    if (!url)
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    if (curl_url_set(url, CURLUPART_URL, server->options.url, 0) ||
        curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) ||
        curl_url_get(url, CURLUPART_HOST, &host, 0))
        ret = laz_fail(err, LAZ_EINVAL, "url: expected https://HOST/PATH");
    else if (curl_url_get(url, CURLUPART_USER, &user, 0) == CURLUE_OK)
        ret = laz_fail(err, LAZ_EINVAL,
                       "url: it has a user name: secrets belong into headers_env or headers_file");
    else if (strcmp(scheme, "https") != 0 && !(strcmp(scheme, "http") == 0 && host_is_here(host)))
        ret = laz_fail(err, LAZ_EINVAL,
                       "url: expected https://; http:// is for servers of this machine (127.0.0.1, "
                       "[::1], localhost)");
    curl_free(scheme);
    curl_free(host);
    curl_free(user);
    curl_url_cleanup(url);
    return ret ? ret : headers_all(server, NULL, true, err);
}
