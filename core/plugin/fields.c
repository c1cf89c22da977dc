/* SPDX-License-Identifier: MIT */
/* fields.c - reads a description of a plugin into a struct, by a table of its members.
 * Side: host.  Input trusted: no (checked like the plugin, but it may be of another version). */
#include "plugin/fields.h"

#include "base/json_scan.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lazaret/plugin.h>

int laz_fields_wrong(const struct laz_fields_source *source, const char *key, const char *expected)
{
    return laz_error_set(source->err, LAZ_EPLUGIN, 0, "%s: %s: expected %s%s", source->file, key,
                         expected, source->remedy);
}

/* laz_fields_read with a sentence. */
static int fields_read(const struct laz_fields_source *source, const char *json, size_t len,
                       const struct laz_fields *fields, void *into)
{
    static const char *const kinds[LAZ_FIELD_KINDS] = {
        [LAZ_FIELD_TEXT] = "a string",
        [LAZ_FIELD_INTEGER] = "a number from 1 on",
        [LAZ_FIELD_BOOLEAN] = "true or false",
        [LAZ_FIELD_TEXTS] = "a list of strings",
        [LAZ_FIELD_PAIRS] = "an object of strings",
        [LAZ_FIELD_OBJECT] = "an object",
        [LAZ_FIELD_LIST] = "a list of objects",
    };
    struct laz_fields_problem wrong;
    int rc = laz_fields_read(fields, json, len, into, &wrong);
    const struct laz_field *field = wrong.field;

    if (!rc)
        return 0;
    if (rc == LAZ_ENOMEM)
        return laz_error_nomem(source->err);
    if (wrong.what == LAZ_WRONG_UNKNOWN)
        return laz_error_set(source->err, LAZ_EPLUGIN, 0, "%s: %.*s: expected no such key%s",
                             source->file, (int)(wrong.key_len < 64 ? wrong.key_len : 64),
                             wrong.key, source->remedy);
    return laz_fields_wrong(source, field ? field->name : "the whole",
                            wrong.what == LAZ_WRONG_TOO_MANY ? "fewer members"
                            : !field                         ? "an object"
                            : field->wrong                   ? field->wrong
                                                             : kinds[field->kind]);
}

/* ---- what each description begins with ------------------------------------------------------ */

struct description_head {
    const char *kind, *abi;
};

static const struct laz_field head_rows[] = {
    LAZ_FIELD(description_head, TEXT, kind, false),
    LAZ_FIELD(description_head, TEXT, abi, false),
};

/* The other members are not its business, and one of another type is taken as absent. */
static const struct laz_fields head_fields = {
    .size = sizeof(struct description_head), .items = head_rows, .n = 2, .is_lenient = true};

/* Checked first: the other members have a known meaning only in a compatible ABI. */
static int head_check(const struct laz_fields_source *source, const struct description_head *head,
                      const char *kind)
{
    const char *abi = head->abi ? head->abi : "";
    unsigned long major, minor;
    char *end, quoted[32];

    snprintf(quoted, sizeof quoted, "\"%s\"", kind);
    if (!head->kind || strcmp(head->kind, kind) != 0)
        return laz_fields_wrong(source, "kind", quoted);
    major = strtoul(abi, &end, 10);
    bool is_version =
        isdigit((unsigned char)abi[0]) && end[0] == '.' && isdigit((unsigned char)end[1]);
    minor = is_version ? strtoul(end + 1, &end, 10) : 0;
    if (!is_version || *end)
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
                     const char *kind, const struct laz_fields *fields, void *into)
{
    struct laz_error why = {0};
    struct description_head head = {0};

    int rc = laz_json_scan(json, len, &why);
    if (rc == LAZ_ENOMEM)
        return laz_error_nomem(source->err);
    if (rc)
        return laz_error_set(source->err, LAZ_EPLUGIN, 0, "%s: %s", source->file, why.text);
    rc = fields_read(source, json, len, &head_fields, &head);
    if (!rc)
        rc = head_check(source, &head, kind);
    if (!rc)
        rc = fields_read(source, json, len, fields, into);
    laz_fields_free(&head_fields, &head);
    return rc;
}
