/* SPDX-License-Identifier: MIT */
/* descriptions.c - the reader of what plugins declare beside their objects, and the table of what
 * backends declare.
 * Side: host.  Input trusted: no (owner and mode of the files are checked as those of plugins
 * are). */
#include "plugin/descriptions.h"

#include <stdlib.h>
#include <string.h>

#include "plugin/fields.h"

int laz_description_parse(const struct laz_description_kind *kind, const char *json, size_t len,
                          const char *file, void **data, struct laz_error *err)
{
    const struct laz_fields_source source = {file, kind->remedy, err};

    *data = calloc(1, kind->size);
    if (!*data)
        return laz_error_nomem(err);
    int rc = laz_fields_parse(json, len, &source, kind->word, kind->fields, *data);
    const char *wrong = !rc && kind->wrong ? kind->wrong(*data) : NULL;
    if (wrong)
        rc = laz_fields_wrong(&source, wrong, "what docs/writing-a-plugin.md says");
    if (rc) {
        laz_description_free(kind, *data);
        *data = NULL;
    }
    return rc;
}

void laz_description_free(const struct laz_description_kind *kind, void *data)
{
    if (!data)
        return;
    if (kind->fini)
        kind->fini(data);
    laz_fields_free(kind->fields, data);
    free(data);
}

/* ---- backends ------------------------------------------------------------------------------- */

#define RANK(platform, member)                                                                     \
    {                                                                                              \
        .key = platform, .kind = LAZ_FIELD_NUMBER,                                                 \
        .offset = offsetof(struct laz_backend_ranks, member)                                       \
    }

static const struct laz_field rank_fields[] = {
    RANK("linux", on_linux),
    RANK("darwin", on_darwin),
    RANK("windows", on_windows),
    LAZ_FIELD_END,
};

static const struct laz_field backend_fields[] = {
    LAZ_FIELD_KEY("kind"),
    LAZ_FIELD_KEY("abi"),
    LAZ_FIELD(laz_backend_info, TEXT, name, true),
    {.key = "auto",
     .kind = LAZ_FIELD_TABLE,
     .offset = offsetof(struct laz_backend_info, ranks),
     .fields = rank_fields},
    LAZ_FIELD(laz_backend_info, FLAG, unconfined, false),
    LAZ_FIELD(laz_backend_info, PAIRS, missing, false),
    LAZ_FIELD(laz_backend_info, PAIRS, advice, false),
    LAZ_FIELD_END,
};

const struct laz_description_kind laz_backend_description = {
    .suffix = ".backend.json",
    .word = "backend",
    .remedy = "",
    .size = sizeof(struct laz_backend_info),
    .fields = backend_fields,
};

int64_t laz_backend_info_rank(const struct laz_backend_info *info, const char *platform)
{
    for (const struct laz_field *field = rank_fields; field->key; field++)
        if (strcmp(field->key, platform) == 0)
            return *(const int64_t *)((const char *)&info->ranks + field->offset);
    return 0;
}
