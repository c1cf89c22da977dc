/* SPDX-License-Identifier: MIT */
/* backend_info.h - what a backend declares in NAME.backend.json, beside its object: data that the
 * host needs before it loads the backend, or that does not belong to a plan. */
#ifndef LAZ_PLUGIN_BACKEND_INFO_H
#define LAZ_PLUGIN_BACKEND_INFO_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Ranks for `auto`, from 1, which is tried first; 0: `auto` does not consider it there. */
struct laz_backend_ranks {
    int64_t on_linux, on_darwin, on_windows;
};

struct laz_backend_info {
    const char *name;
    struct laz_backend_ranks ranks;
    bool unconfined;         /* it is no sandbox */
    struct laz_strv missing; /* pairs: a program, and the message if it is not installed */
    struct laz_strv
        advice; /* pairs: a word of LAZ_ENFORCE_*, and how to get it with this backend */
};

/* Reads the JSON text. `file` is its path, for messages. The caller owns *info. LAZ_EPLUGIN. */
int laz_backend_info_parse(const char *json, size_t len, const char *file,
                           struct laz_backend_info **info, struct laz_error *err);
void laz_backend_info_free(struct laz_backend_info *info);
/* The rank on a platform ("linux"); 0: `auto` does not consider it there. */
int64_t laz_backend_info_rank(const struct laz_backend_info *info, const char *platform);

#endif
