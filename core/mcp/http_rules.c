/* SPDX-License-Identifier: MIT */
/* http_rules.c - who may use the server by HTTP: Host and Origin, so that no page of the network
 * reaches it through somebody's browser, and the token.
 * Side: host.  Input trusted: no (headers). */
#include "mcp/mcp_private.h"

#include "base/base64.h"
#include "base/place.h"
#include "os/files.h"
#include "os/trust.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool mcp_http_is_local_origin(const char *origin)
{
    static const char *const schemes[] = {"http://", "https://"};

    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncasecmp(origin, schemes[i], strlen(schemes[i])) == 0)
            return laz_place_is_local(origin + strlen(schemes[i]));
    return false;
}

unsigned mcp_http_single(const char *name)
{
    static const char *const names[] = {
        "Host",
        "Origin",
        "Authorization",
        "Content-Length",
        "Content-Type",
        "Transfer-Encoding",
        "MCP-Protocol-Version",
        "Mcp-Session-Id",
        "Mcp-Method",
        "Mcp-Name",
    };

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(name, names[i]) == 0)
            return 1u << i;
    return 0;
}

/* Is it this media type, up to its end or one of these characters? */
static bool rules_is_type(const char *header, const char *type, const char *ends)
{
    const size_t len = strlen(type);

    header += strspn(header, " \t");
    if (strncasecmp(header, type, len) != 0)
        return false;
    header += len + strspn(header + len, " \t");
    return !*header || strchr(ends, *header);
}

bool mcp_http_is_type(const char *header, const char *type)
{
    return rules_is_type(header, type, ";");
}

bool mcp_http_lists(const char *header, const char *type)
{
    bool lists = false;

    for (; header && !lists; header = strchr(header, ','), header += header != NULL)
        lists = rules_is_type(header, type, ";,");
    return lists;
}

bool mcp_http_says(const char *header, const char *text)
{
    static const char before[] = "=?base64?", after[] = "?=";
    const size_t len = header ? strlen(header) : 0, around = sizeof before + sizeof after - 2;

    if (len < around || memcmp(header, before, sizeof before - 1) != 0 ||
        strcmp(header + len - sizeof after + 1, after) != 0)
        return header && strcmp(header, text) == 0;
    char *decoded = malloc(len);
    const ptrdiff_t n =
        decoded ? laz_base64_decode(header + sizeof before - 1, len - around, decoded) : -1;
    const bool says = n >= 0 && (size_t)n == strlen(text) && memcmp(decoded, text, (size_t)n) == 0;
    free(decoded);
    return says;
}

bool mcp_http_is_token(const char *authorization, const char *token)
{
    static const char scheme[] = "Bearer ";
    const size_t len = sizeof scheme - 1;

    return authorization && strncasecmp(authorization, scheme, len) == 0 &&
           strlen(authorization + len) == strlen(token) &&
           laz_equal_constant_time(authorization + len, token, strlen(token));
}

/* Reads a token that is there. */
static int token_read(const char *file, char token[LAZ_TOKEN_LEN + 1], struct laz_error *err)
{
    struct laz_buf text = LAZ_BUF_INIT;
    int rc = laz_trust_secret(file, 1024, &text, err);
    const size_t len = rc ? 0 : strcspn(laz_buf_text(&text), "\r\n");
    if (!rc &&
        (len != LAZ_TOKEN_LEN || strspn(text.data, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNO"
                                                   "PQRSTUVWXYZ0123456789") < len))
        rc = laz_error_set(err, LAZ_EINVAL, 0,
                           "%s: a token has %d letters and digits; without the file one is made",
                           file, LAZ_TOKEN_LEN);
    if (!rc)
        memcpy(token, text.data, len + 1), token[len] = '\0';
    if (text.data)
        laz_wipe(text.data, text.len);
    laz_buf_fini(&text);
    return rc;
}

int mcp_http_token(const char *file, char token[LAZ_TOKEN_LEN + 1], struct laz_error *err)
{
    struct laz_look look;
    char line[LAZ_TOKEN_LEN + 2];
    const int missing = laz_os_look(file, true, &look);

    if (!missing)
        return token_read(file, token, err);
    if (missing != ENOENT)
        return laz_error_os(err, missing, "%s", file);
    int rc = laz_random_name(token, LAZ_TOKEN_LEN, err);
    if (rc)
        return rc;
    memcpy(line, token, LAZ_TOKEN_LEN);
    line[LAZ_TOKEN_LEN] = '\n';
    rc = laz_os_write_file(file, line, LAZ_TOKEN_LEN + 1, 0600, err);
    laz_wipe(line, sizeof line);
    return rc;
}
