/* SPDX-License-Identifier: MIT */
/* fields.c - reads an object of a description into a struct, by a table of its members.
 * Side: host.  Input trusted: no (checked like the plugin, but it may be of another version).
 *
 * This reader reads all descriptions. It accepts the members of the table only, each of exactly its
 * type: a newer description says in "abi" that it is newer, so an unknown member is an error. */
#include "plugin/fields.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lazaret/plugin.h>

int laz_fields_wrong(const struct laz_fields_source *source, const char *key, const char *expected)
{
    return laz_error_set(source->err, LAZ_EPLUGIN, 0, "%s: %s: expected %s%s", source->file, key,
                         expected, source->remedy);
}

/* ---- one member ----------------------------------------------------------------------------- */

/* Each returns false for a value of another type. `failed` finds out whether allocation failed. */

static bool fields_text(const struct laz_json *node, void *into)
{
    const char *text = laz_json_string(node);

    *(char **)into = laz_strdup(text);
    return text != NULL;
}

static bool fields_flag(const struct laz_json *node, void *into)
{
    *(bool *)into = laz_json_is_true(node);
    return laz_json_type(node) == LAZ_JSON_TRUE || laz_json_type(node) == LAZ_JSON_FALSE;
}

static bool fields_number(const struct laz_json *node, void *into)
{
    double number = laz_json_number(node); /* 0 for other types */

    if (number < 1 || number > 1e6)
        return false;
    *(int64_t *)into = (int64_t)number;
    return true;
}

static bool fields_list(const struct laz_json *node, void *into)
{
    if (laz_json_type(node) != LAZ_JSON_ARRAY_BEGIN)
        return false;
    for (node = laz_json_first(node); node; node = laz_json_next(node)) {
        if (!laz_json_string(node))
            return false;
        laz_strv_add(into, laz_json_string(node));
    }
    return true;
}

static bool fields_pairs(const struct laz_json *node, void *into)
{
    if (laz_json_type(node) != LAZ_JSON_OBJECT_BEGIN)
        return false;
    for (node = laz_json_first(node); node; node = laz_json_next(node)) {
        if (!laz_json_string(node))
            return false;
        laz_strv_add(into, laz_json_key(node));
        laz_strv_add(into, laz_json_string(node));
    }
    return true;
}

static bool fields_table(const struct laz_json *node, void *into)
{
    (void)into; /* its members are read afterwards */
    return laz_json_type(node) == LAZ_JSON_OBJECT_BEGIN;
}

static bool fields_text_failed(const void *into)
{
    return !*(char *const *)into;
}

static bool fields_list_failed(const void *into)
{
    return ((const struct laz_strv *)into)->failed;
}

static void fields_text_free(void *from)
{
    free(*(char **)from);
    *(char **)from = NULL;
}

static void fields_list_free(void *from)
{
    laz_strv_fini(from);
}

static const struct fields_kind {
    const char *expected;
    bool (*read)(const struct laz_json *node, void *into);
    bool (*failed)(const void *into); /* allocation failed; NULL: nothing is allocated */
    void (*free)(void *from);
} fields_kinds[] = {
    [LAZ_FIELD_TEXT] = {"a string", fields_text, fields_text_failed, fields_text_free},
    [LAZ_FIELD_FLAG] = {"true or false", fields_flag, NULL, NULL},
    [LAZ_FIELD_NUMBER] = {"a number from 1 on", fields_number, NULL, NULL},
    [LAZ_FIELD_LIST] = {"a list of strings", fields_list, fields_list_failed, fields_list_free},
    [LAZ_FIELD_PAIRS] = {"an object of strings", fields_pairs, fields_list_failed,
                         fields_list_free},
    [LAZ_FIELD_TABLE] = {"an object", fields_table, NULL, NULL},
};

static int fields_read_one(const struct laz_fields_source *source, const struct laz_json *node,
                           const struct laz_field *field, void *into)
{
    const struct fields_kind *kind = &fields_kinds[field->kind];

    if (field->kind == LAZ_FIELD_OTHER)
        return field->read ? field->read(source, node, into) : 0;
    if (!node && !field->required)
        return 0;
    if (!node || !kind->read(node, into))
        return laz_fields_wrong(source, field->key, kind->expected);
    if (field->kind == LAZ_FIELD_TABLE)
        return laz_fields_read(source, node, field->fields, into);
    return kind->failed && kind->failed(into) ? laz_error_nomem(source->err) : 0;
}

/* ---- all of an object ----------------------------------------------------------------------- */

int laz_fields_read(const struct laz_fields_source *source, const struct laz_json *object,
                    const struct laz_field *fields, void *into)
{
    int rc = 0;

    for (const struct laz_json *node = laz_json_first(object); node; node = laz_json_next(node)) {
        const struct laz_field *field = fields;
        while (field->key && strcmp(field->key, laz_json_key(node)) != 0)
            field++;
        if (!field->key)
            return laz_fields_wrong(source, laz_json_key(node), "no such key");
    }
    for (const struct laz_field *field = fields; field->key && !rc; field++)
        rc = fields_read_one(source, laz_json_get(object, field->key), field,
                             (char *)into + field->offset);
    return rc;
}

void laz_fields_free(const struct laz_field *fields, void *from)
{
    for (const struct laz_field *field = fields; field->key; field++) {
        if (field->kind == LAZ_FIELD_TABLE)
            laz_fields_free(field->fields, (char *)from + field->offset);
        else if (fields_kinds[field->kind].free)
            fields_kinds[field->kind].free((char *)from + field->offset);
    }
}

/* Checked first: the other members have a known meaning only in a compatible ABI. */
static int fields_head(const struct laz_fields_source *source, const struct laz_json *root,
                       const char *kind)
{
    const char *own = laz_json_string(laz_json_get(root, "kind"));
    const char *abi = laz_json_string(laz_json_get(root, "abi"));
    unsigned long major, minor;
    char *end, quoted[32];

    snprintf(quoted, sizeof quoted, "\"%s\"", kind);
    if (!own || strcmp(own, kind) != 0)
        return laz_fields_wrong(source, "kind", quoted);
    if (!abi || abi[0] < '0' || abi[0] > '9')
        return laz_fields_wrong(source, "abi", "a version such as \"1.0\"");
    major = strtoul(abi, &end, 10);
    if (end[0] != '.' || end[1] < '0' || end[1] > '9')
        return laz_fields_wrong(source, "abi", "a version such as \"1.0\"");
    minor = strtoul(end + 1, &end, 10);
    if (*end)
        return laz_fields_wrong(source, "abi", "a version such as \"1.0\"");
    if (major != LAZ_ABI_MAJOR || minor > LAZ_ABI_MINOR)
        return laz_error_set(source->err, LAZ_EPLUGIN, 0,
                             "%s: built for plugin ABI %lu.%lu, but this lazaret has %u.%u: build "
                             "it again with the headers of this version",
                             source->file, major, minor, (unsigned)LAZ_ABI_MAJOR,
                             (unsigned)LAZ_ABI_MINOR);
    return 0;
}

int laz_fields_parse(const char *json, size_t len, const struct laz_fields_source *source,
                     const char *kind, const struct laz_field *fields, void *into)
{
    struct laz_error why = {0};
    struct laz_json *root = laz_json_parse(json, len, &why);
    int rc;

    if (!root && why.code == LAZ_ENOMEM)
        return laz_error_nomem(source->err);
    if (!root)
        return laz_error_set(source->err, LAZ_EPLUGIN, 0, "%s: %s", source->file, why.text);
    rc = laz_json_type(root) == LAZ_JSON_OBJECT_BEGIN
             ? fields_head(source, root, kind)
             : laz_fields_wrong(source, "the whole", "an object");
    if (!rc)
        rc = laz_fields_read(source, root, fields, into);
    laz_json_free(root);
    return rc;
}
