/* SPDX-License-Identifier: MIT */
/* resources.c - what a result has that does not fit into it: files, long output, large values. They
 * can be read until newer ones take their place.
 * Side: host.  Input trusted: no (content and names come from the sandbox, URIs from the client).
 *
 * A URI is lazaret://result/HANDLE/NAME, where the handle proves that this process has made it: of
 * a resource that is gone it can be said that it was there. */
#include "mcp/mcp_private.h"

#include "base/base64.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define RESOURCES_SCHEME "lazaret://result/"

/* ---- keeping -------------------------------------------------------------------------------- */

static void resource_free(struct mcp_resource *resource)
{
    free(resource->uri);
    free(resource->name);
    free(resource->type);
    free(resource->data);
    free(resource);
}

static void resources_drop_oldest(struct laz_mcp *mcp)
{
    struct mcp_resource *oldest = mcp->resources;

    mcp->resources = oldest->next;
    if (!mcp->resources)
        mcp->last_resource = &mcp->resources;
    mcp->n_resources--;
    mcp->resource_bytes -= oldest->len;
    if (oldest->readers)
        oldest->is_gone = true;
    else
        resource_free(oldest);
}

void mcp_resource_release(struct mcp_resource *resource)
{
    if (!--resource->readers && resource->is_gone)
        resource_free(resource);
}

void mcp_resources_end(struct laz_mcp *mcp)
{
    while (mcp->resources)
        resources_drop_oldest(mcp);
}

/* The URI, with what is not a letter, digit or one of -._~/ as %XX. */
static char *resource_uri(const struct laz_mcp *mcp, int64_t number, const char *name)
{
    struct laz_buf uri = LAZ_BUF_INIT;
    char handle[MCP_HANDLE];

    mcp_handle_make(mcp, MCP_OF_RESOURCE, number, handle);
    laz_buf_printf(&uri, RESOURCES_SCHEME "%s/", handle);
    for (const char *c = name; *c; c++) {
        const bool is_plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                              (*c >= '0' && *c <= '9') || strchr("-._~/", *c);
        if (is_plain)
            laz_buf_putc(&uri, *c);
        else
            laz_buf_printf(&uri, "%%%02X", (unsigned)(unsigned char)*c);
    }
    return laz_buf_steal(&uri);
}

const struct mcp_resource *mcp_resource_make(struct laz_mcp *mcp, struct mcp_resource_list *list,
                                             const char *name, const char *type, const void *data,
                                             size_t len)
{
    struct mcp_resource *resource = calloc(1, sizeof *resource);

    if (!resource)
        return NULL;
    resource->number = ++mcp->last_number;
    resource->uri = resource_uri(mcp, resource->number, name);
    resource->name = laz_strdup(name);
    resource->type = laz_strdup(type);
    resource->data = laz_strndup(len ? data : "", len);
    resource->len = len;
    if (!resource->uri || !resource->name || !resource->type || !resource->data) {
        resource_free(resource);
        return NULL;
    }
    *(list->last ? &list->last->next : &list->first) = resource;
    list->last = resource;
    return resource;
}

/* The newest one stays in any case. */
void mcp_resources_keep(struct laz_mcp *mcp, struct mcp_resource_list *list)
{
    for (struct mcp_resource *resource = list->first, *next; resource; resource = next) {
        next = resource->next;
        resource->next = NULL;
        *mcp->last_resource = resource;
        mcp->last_resource = &resource->next;
        mcp->n_resources++;
        mcp->resource_bytes += resource->len;
        while (mcp->resources != resource &&
               (mcp->n_resources > MCP_RESOURCES || mcp->resource_bytes > MCP_RESOURCE_BYTES))
            resources_drop_oldest(mcp);
    }
    *list = (struct mcp_resource_list){0};
}

struct mcp_resource *mcp_resource_find(const struct laz_mcp *mcp, const char *uri,
                                       struct laz_error *err)
{
    const size_t scheme = strlen(RESOURCES_SCHEME);
    struct mcp_resource *resource = mcp->resources;
    char handle[MCP_HANDLE] = "";
    int64_t number = 0;

    if (strncmp(uri, RESOURCES_SCHEME, scheme) == 0) {
        const size_t len = strcspn(uri + scheme, "/");
        if (len < sizeof handle)
            memcpy(handle, uri + scheme, len);
        number = mcp_handle_number(mcp, MCP_OF_RESOURCE, handle);
    }
    while (resource && (resource->number != number || strcmp(resource->uri, uri) != 0))
        resource = resource->next;
    if (!number)
        laz_error_set(err, LAZ_ENOENT, 0, "this URI is of no resource of this server");
    else if (!resource)
        laz_error_set(
            err, LAZ_ENOENT, 0,
            "this resource is gone: newer ones have taken its place, of which %d are kept, "
            "with %zu MiB",
            MCP_RESOURCES, MCP_RESOURCE_BYTES >> 20);
    return resource;
}

/* ---- methods -------------------------------------------------------------------------------- */

void mcp_resources_list(struct mcp_asked *asked, const struct mcp_params *params)
{
    struct laz_mcp *mcp = asked->peer->mcp;
    struct laz_json_write write;

    (void)params;
    if (!mcp_answer_begin(asked, "complete", &write))
        return;
    laz_json_begin_list(&write, "resources");
    for (const struct mcp_resource *one = mcp->resources; one; one = one->next) {
        laz_json_begin_object(&write, NULL);
        laz_json_add_text(&write, "uri", one->uri);
        laz_json_add_text(&write, "name", one->name);
        laz_json_add_text(&write, "mimeType", one->type);
        laz_json_add_uint(&write, "size", one->len);
        laz_json_end_object(&write);
    }
    laz_json_end_list(&write);
    mcp_answer_keep(asked, 0, &write);
    mcp_answer_end(asked, &write);
}

/* There are none: a URI comes with a result. */
void mcp_resources_templates(struct mcp_asked *asked, const struct mcp_params *params)
{
    struct laz_json_write write;

    (void)params;
    if (!mcp_answer_begin(asked, "complete", &write))
        return;
    laz_json_begin_list(&write, "resourceTemplates");
    laz_json_end_list(&write);
    mcp_answer_keep(asked, 0, &write);
    mcp_answer_end(asked, &write);
}

static bool resource_is_text(const struct mcp_resource *resource)
{
    return (strncmp(resource->type, "text/", 5) == 0 ||
            strcmp(resource->type, "application/json") == 0) &&
           laz_utf8_is_valid(resource->data, resource->len) &&
           !memchr(resource->data, '\0', resource->len);
}

void mcp_resource_write(const struct mcp_asked *asked, const struct mcp_resource *resource)
{
    struct laz_buf data = LAZ_BUF_INIT;
    struct laz_json_write write;

    if (!mcp_answer_begin(asked, "complete", &write))
        return;
    laz_json_begin_list(&write, "contents");
    laz_json_begin_object(&write, NULL);
    laz_json_add_text(&write, "uri", resource->uri);
    laz_json_add_text(&write, "mimeType", resource->type);
    if (resource_is_text(resource)) {
        laz_json_add_bytes(&write, "text", resource->data, resource->len);
    } else {
        laz_base64_encode(&data, resource->data, resource->len);
        laz_json_add_bytes(&write, "blob", laz_buf_text(&data), data.len);
        write.to->failed |= data.failed;
    }
    laz_json_end_object(&write);
    laz_json_end_list(&write);
    mcp_answer_keep(asked, 0, &write);
    mcp_answer_end(asked, &write);
    laz_buf_fini(&data);
}
