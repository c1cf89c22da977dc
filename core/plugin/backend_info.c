/* SPDX-License-Identifier: MIT */
/* backend_info.c - reads what a backend declares beside its object.
 * Side: host.  Input trusted: no (NAME.backend.json is checked as the plugin is). */
#include "plugin/backend_info.h"

#include <stdlib.h>
#include <string.h>

#include "plugin/fields.h"

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

static const struct laz_field info_fields[] = {
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

int laz_backend_info_parse(const char *json, size_t len, const char *file,
                           struct laz_backend_info **info, struct laz_error *err)
{
    *info = calloc(1, sizeof **info);
    if (!*info)
        return laz_error_nomem(err);
    int rc = laz_fields_parse(json, len, &(struct laz_fields_source){file, "", err}, "backend",
                              info_fields, *info);
    if (rc) {
        laz_backend_info_free(*info);
        *info = NULL;
    }
    return rc;
}

void laz_backend_info_free(struct laz_backend_info *info)
{
    if (info)
        laz_fields_free(info_fields, info);
    free(info);
}

int64_t laz_backend_info_rank(const struct laz_backend_info *info, const char *platform)
{
    for (const struct laz_field *field = rank_fields; field->key; field++)
        if (strcmp(field->key, platform) == 0)
            return *(const int64_t *)((const char *)&info->ranks + field->offset);
    return 0;
}
