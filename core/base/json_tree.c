/* SPDX-License-Identifier: MIT */
/* json_tree.c - JSON as a tree, by cJSON.
 * Side: host and agent.  Input trusted: no.
 *
 * Only this file calls cJSON, and only with text that was scanned (json_scan.c): cJSON by itself
 * accepts repeated keys, invalid UTF-8 and trailing text. */
#include "base/json_tree.h"

#include "base/json_scan.h"

#include <cJSON.h>

/* struct laz_json is never defined: a node is a cJSON. */
static const cJSON *tree_node(const struct laz_json *node)
{
    return (const cJSON *)(const void *)node;
}

struct laz_json *laz_json_parse(const char *text, size_t len, struct laz_error *err)
{
    if (laz_json_scan(text, len, err))
        return NULL;
    cJSON *root = cJSON_ParseWithLength(text, len);
    if (!root)
        laz_error_nomem(err);
    return (struct laz_json *)(void *)root;
}

void laz_json_free(struct laz_json *root)
{
    cJSON_Delete((cJSON *)(void *)root);
}

uint32_t laz_json_type(const struct laz_json *node)
{
    const cJSON *item = tree_node(node);

    if (cJSON_IsObject(item))
        return LAZ_JSON_OBJECT_BEGIN;
    if (cJSON_IsArray(item))
        return LAZ_JSON_ARRAY_BEGIN;
    if (cJSON_IsString(item))
        return LAZ_JSON_STRING;
    if (cJSON_IsNumber(item))
        return LAZ_JSON_NUMBER;
    if (cJSON_IsBool(item))
        return cJSON_IsTrue(item) ? LAZ_JSON_TRUE : LAZ_JSON_FALSE;
    return item ? LAZ_JSON_NULL : LAZ_JSON_END;
}

const struct laz_json *laz_json_get(const struct laz_json *object, const char *key)
{
    return (const struct laz_json *)(const void *)cJSON_GetObjectItemCaseSensitive(
        tree_node(object), key);
}

const struct laz_json *laz_json_first(const struct laz_json *container)
{
    return container ? (const struct laz_json *)(const void *)tree_node(container)->child : NULL;
}

const struct laz_json *laz_json_next(const struct laz_json *node)
{
    return node ? (const struct laz_json *)(const void *)tree_node(node)->next : NULL;
}

const char *laz_json_key(const struct laz_json *node)
{
    return node ? tree_node(node)->string : NULL;
}

const char *laz_json_string(const struct laz_json *node)
{
    return cJSON_GetStringValue(tree_node(node));
}

double laz_json_number(const struct laz_json *node)
{
    return cJSON_IsNumber(tree_node(node)) ? tree_node(node)->valuedouble : 0;
}
