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

    *data = calloc(1, kind->fields->size);
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
