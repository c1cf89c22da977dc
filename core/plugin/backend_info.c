/* SPDX-License-Identifier: MIT */
/* backend_info.c - reads what a backend declares beside its object.
 * Side: host.  Input trusted: no (NAME.backend.json is checked as the plugin is). */
#include "plugin/backend_info.h"

#include <stdlib.h>
#include <string.h>

#include "plugin/fields.h"

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

static const struct laz_field info_rows[] = {
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

static const struct laz_fields info_fields = LAZ_FIELDS(laz_backend_info, info_rows);

int laz_backend_info_parse(const char *json, size_t len, const char *file,
                           struct laz_backend_info **info, struct laz_error *err)
{
    *info = calloc(1, sizeof **info);
    if (!*info)
        return laz_error_nomem(err);
    int rc = laz_fields_parse(json, len, &(struct laz_fields_source){file, "", err}, "backend",
                              &info_fields, *info);
    if (rc) {
        laz_backend_info_free(*info);
        *info = NULL;
    }
    return rc;
}

void laz_backend_info_free(struct laz_backend_info *info)
{
    if (info)
        laz_fields_free(&info_fields, info);
    free(info);
}

int64_t laz_backend_info_rank(const struct laz_backend_info *info, const char *platform)
{
    for (size_t i = 0; i < rank_fields.n; i++)
        if (strcmp(rank_rows[i].name, platform) == 0)
            return *(const int64_t *)((const char *)&info->ranks + rank_rows[i].at);
    return 0;
}
