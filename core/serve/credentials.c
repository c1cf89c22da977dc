/* SPDX-License-Identifier: MIT */
/* credentials.c - the credentials that a client gives its sessions.
 * Side: host.  Input trusted: no; the engine judges what a credential says.
 *
 * A client of this user gives names, and objects with values of its own.  One of another machine
 * gives names of credentials of the settings alone: a value of it would be here, for a host that
 * its own list may permit, and whose it is nobody here could tell.  Values are kept as long as the
 * session or the pool is open, for a restart, and overwritten then; the line that they came in is
 * overwritten when it was handled. */
#include "serve/serve_private.h"

#include "base/json_text.h"

#include <stdlib.h>
#include <string.h>

static void credentials_wipe(char *text)
{
    if (text)
        laz_wipe(text, strlen(text));
    free(text);
}

static int credentials_add(struct laz_strv *items, const char *raw, size_t len,
                           struct laz_error *err)
{
    char *item = NULL;
    size_t item_len = len;
    int rc = 0;

    if (*raw == '"')
        rc = laz_json_take_string(raw, len, &item, &item_len);
    else
        item = laz_strndup(raw, len);
    if (!rc && item && *raw == '"' && (*item == '{' || strlen(item) != item_len))
        rc = LAZ_EPARSE; /* a string is a name, and never read as an object */
    if (!rc && item)
        laz_strv_add(items, item);
    items->failed |= !rc && !item;
    credentials_wipe(item);
    return rc == LAZ_ENOMEM ? laz_error_nomem(err)
           : rc             ? laz_error_set(err, LAZ_EINVAL, 0, "this is not the name of one")
                            : 0;
}

/* One of the list. */
static int credentials_take(const struct serve_client *client, struct laz_strv *items,
                            const char *raw, size_t len, struct laz_error *err)
{
    if (items->n >= SERVE_CREDENTIALS)
        return laz_error_set(err, LAZ_EINVAL, 0, "a session can have %d", SERVE_CREDENTIALS);
    if (*raw != '"' && *raw != '{')
        return laz_error_set(err, LAZ_EINVAL, 0, "a credential is a string or an object");
    if (*raw == '{' && client->peer.identity)
        return laz_error_set(err, LAZ_EREFUSED, 0,
                             "a client of another machine names credentials of the server");
    return credentials_add(items, raw, len, err);
}

int serve_credentials_read(const struct serve_client *client, struct serve_credentials *credentials,
                           const char *json, size_t len, struct laz_error *err)
{
    struct laz_json_items list = laz_json_items(json ? json : "[]", json ? len : 2);
    const char *raw;
    size_t raw_len;
    int rc = 0;

    *credentials = (struct serve_credentials){.is_given = json != NULL};
    while (!rc && laz_json_next_item(&list, &raw, &raw_len)) {
        rc = credentials_take(client, &credentials->items, raw, raw_len, err);
        if (rc)
            laz_error_prefix(err, "credentials[%zu]: ", credentials->items.n);
    }
    if (!rc && credentials->items.failed)
        rc = laz_error_nomem(err);
    if (rc)
        serve_credentials_fini(credentials);
    return rc;
}

void serve_credentials_fini(struct serve_credentials *credentials)
{
    struct laz_strv *items = &credentials->items;

    for (size_t i = 0; i < items->n; i++)
        laz_wipe(items->items[i], strlen(items->items[i]));
    laz_strv_fini(items);
    credentials->is_given = false;
}

const struct laz_credential_list *
serve_credentials_list(const struct serve_credentials *credentials,
                       struct laz_credential_list *list)
{
    *list = (struct laz_credential_list){
        .size = sizeof *list,
        .items = (const char *const *)credentials->items.items,
        .n = credentials->items.n,
    };
    return credentials->is_given ? list : NULL;
}
