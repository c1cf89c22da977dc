/* SPDX-License-Identifier: MIT */
/* backend_info.h - what a backend declares in NAME.backend.json, beside its object: data that the
 * host needs before it loads the backend, or that is no part of a plan. */
#ifndef LAZ_PLUGIN_BACKEND_INFO_H
#define LAZ_PLUGIN_BACKEND_INFO_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Where `auto` considers it, best first from 1 on; 0: it does not. */
struct laz_backend_ranks {
    int64_t on_linux, on_darwin, on_windows;
};

struct laz_backend_info {
    const char *name;
    struct laz_backend_ranks ranks;
    bool
        unconfined; /* no sandbox at all: for debugging, for comparison, and where none is wanted */
    struct laz_strv missing; /* pairs: a program, and what to say when it is not installed */
    struct laz_strv advice;  /* pairs: a word of LAZ_ENFORCE_*, and how it is had by this backend */
};

/* `file` is where the text came from, for messages. The caller owns *info. LAZ_EPLUGIN. */
int laz_backend_info_parse(const char *json, size_t len, const char *file,
                           struct laz_backend_info **info, struct laz_error *err);
void laz_backend_info_free(struct laz_backend_info *info);
/* The rank on a platform ("linux"); 0: `auto` does not consider it there. */
int64_t laz_backend_info_rank(const struct laz_backend_info *info, const char *platform);

#endif
