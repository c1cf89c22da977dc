/* SPDX-License-Identifier: MIT */
/* json_tree.h - JSON as a tree, for documents that are built or read in no fixed order. */
#ifndef LAZ_BASE_JSON_TREE_H
#define LAZ_BASE_JSON_TREE_H

#include "base/error.h"

#include <lazaret/json.h>

struct laz_json; /* a node; freeing a root frees all of it */

struct laz_json *laz_json_parse(const char *text, size_t len, struct laz_error *err); /* scans */
void laz_json_free(struct laz_json *root);
uint32_t laz_json_type(const struct laz_json *node); /* LAZ_JSON_NULL ... LAZ_JSON_OBJECT_BEGIN */
const struct laz_json *laz_json_get(const struct laz_json *object, const char *key); /* or NULL */
const struct laz_json *laz_json_first(const struct laz_json *container); /* first child or NULL */
const struct laz_json *laz_json_next(const struct laz_json *node);
const char *laz_json_key(const struct laz_json *node);    /* name of a member; NULL elsewhere */
const char *laz_json_string(const struct laz_json *node); /* NULL for NULL and other types */
double laz_json_number(const struct laz_json *node);      /* 0 for other types */

#endif
