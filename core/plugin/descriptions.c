/* SPDX-License-Identifier: MIT */
/* descriptions.c - the reader of what plugins declare beside their objects, and the table of what
 * backends declare.
 * Side: host.  Input trusted: no (owner and mode of the files are checked as those of plugins
 * are). */
#include "plugin/descriptions.h"

#include "base/json_scan.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lazaret/plugin.h>

struct fields_source {
    const struct laz_description_kind *kind;
    const char *file; /* of the JSON text, for messages */
    struct laz_error *err;
};

/* Sets the error "FILE: KEY: expected WHAT" and the remedy. */
static int fields_wrong(const struct fields_source *source, const char *key, const char *expected)
{
    return laz_error_set(source->err, LAZ_EPLUGIN, 0, "%s: %s: expected %s%s", source->file, key,
                         expected, source->kind->remedy);
}

/* laz_fields_read with a sentence. */
static int fields_read(const struct fields_source *source, const char *json, size_t len,
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
                             wrong.key, source->kind->remedy);
    return fields_wrong(source, field ? field->name : "the whole",
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
static int head_check(const struct fields_source *source, const struct description_head *head)
{
    const char *abi = head->abi ? head->abi : "";
    unsigned long major, minor;
    char *end, quoted[32];

    snprintf(quoted, sizeof quoted, "\"%s\"", source->kind->word);
    if (!head->kind || strcmp(head->kind, source->kind->word) != 0)
        return fields_wrong(source, "kind", quoted);
    major = strtoul(abi, &end, 10);
    bool is_version =
        isdigit((unsigned char)abi[0]) && end[0] == '.' && isdigit((unsigned char)end[1]);
    minor = is_version ? strtoul(end + 1, &end, 10) : 0;
    if (!is_version || *end)
        return fields_wrong(source, "abi", "a version such as \"1.0\"");
    if (major != LAZ_ABI_MAJOR || minor > LAZ_ABI_MINOR)
        return laz_error_set(source->err, LAZ_EPLUGIN, 0,
                             "%s: built for plugin ABI %lu.%lu, but this lazaret has %u.%u: build "
                             "it again with the headers of this version",
                             source->file, major, minor, (unsigned)LAZ_ABI_MAJOR,
                             (unsigned)LAZ_ABI_MINOR);
    return 0;
}

int laz_description_parse(const struct laz_description_kind *kind, const char *json, size_t len,
                          const char *file, void **data, struct laz_error *err)
{
    const struct fields_source source = {kind, file, err};
    struct description_head head = {0};
    struct laz_error why = {0};

    *data = calloc(1, kind->fields->size);
    if (!*data)
        return laz_error_nomem(err);
    int rc = laz_json_scan(json, len, &why);
    if (rc)
        rc = rc == LAZ_ENOMEM ? laz_error_nomem(err)
                              : laz_error_set(err, LAZ_EPLUGIN, 0, "%s: %s", file, why.text);
    if (!rc)
        rc = fields_read(&source, json, len, &head_fields, &head);
    if (!rc)
        rc = head_check(&source, &head);
    if (!rc)
        rc = fields_read(&source, json, len, kind->fields, *data);
    laz_fields_free(&head_fields, &head);
    const char *wrong = !rc && kind->wrong ? kind->wrong(*data) : NULL;
    if (wrong)
        rc = fields_wrong(&source, wrong, "what docs/writing-a-plugin.md says");
    if (rc) {
        laz_description_free(kind, *data);
        *data = NULL;
    }
    return rc;
}

void laz_description_free(const struct laz_description_kind *kind, void *data)
{
    if (data)
        laz_fields_free(kind->fields, data);
    free(data);
}

/* ---- backends ------------------------------------------------------------------------------- */

#define RANK(platform, member)                                                                     \
    {                                                                                              \
        .name = platform, .kind = LAZ_FIELD_INTEGER, .min = 1, .max = 1000000,                     \
        .at = offsetof(struct laz_backend_ranks, member)                                           \
    }

static const struct laz_field rank_rows[] = {
    RANK("linux", on_linux),
    RANK("darwin", on_darwin),
    RANK("windows", on_windows),
};

static const struct laz_fields rank_fields = LAZ_FIELDS(laz_backend_ranks, rank_rows);

static const struct laz_field backend_rows[] = {
    LAZ_FIELD_KEY("kind"),
    LAZ_FIELD_KEY("abi"),
    LAZ_FIELD(laz_backend_info, TEXT, name, true),
    {.name = "auto",
     .kind = LAZ_FIELD_OBJECT,
     .at = offsetof(struct laz_backend_info, ranks),
     .of = &rank_fields},
    LAZ_FIELD(laz_backend_info, BOOLEAN, unconfined, false),
    LAZ_FIELD(laz_backend_info, PAIRS, missing, false),
    LAZ_FIELD(laz_backend_info, PAIRS, advice, false),
};

static const struct laz_fields backend_fields = LAZ_FIELDS(laz_backend_info, backend_rows);

const struct laz_description_kind laz_backend_description = {
    .suffix = ".backend.json",
    .word = "backend",
    .remedy = "",
    .fields = &backend_fields,
};

int64_t laz_backend_info_rank(const struct laz_backend_info *info, const char *platform)
{
    for (size_t i = 0; i < rank_fields.n; i++)
        if (strcmp(rank_rows[i].name, platform) == 0)
            return *(const int64_t *)((const char *)&info->ranks + rank_rows[i].at);
    return 0;
}
