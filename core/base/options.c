/* SPDX-License-Identifier: MIT */
/* options.c - options of a caller, whose struct may be shorter or longer than ours. */
#include "base/options.h"

#include <lazaret/lazaret.h>
#include <string.h>

#define OPTIONS_MOST 4096 /* bytes: more is no size, but memory that was not initialized */

static int options_check_size(const void *given, const char *type, struct laz_error *err)
{
    const size_t size = *(const size_t *)given;

    if (!size)
        return laz_error_set(err, LAZ_EINVAL, 0,
                             "the size of a struct %s is 0: initialize it with its LAZ_..._INIT, "
                             "or set its size to sizeof(struct %s)",
                             type, type);
    if (size <= sizeof size || size > OPTIONS_MOST)
        return laz_error_set(err, LAZ_EINVAL, 0, "%zu is not the size of a struct %s", size, type);
    return 0;
}

int laz_options_take(void *options, size_t size, const void *given, const char *type,
                     struct laz_error *err)
{
    memset(options, 0, size);
    *(size_t *)options = size;
    if (!given)
        return 0;
    int rc = options_check_size(given, type, err);
    const size_t given_size = rc ? 0 : *(const size_t *)given;
    for (size_t i = size; i < given_size; i++)
        if (((const unsigned char *)given)[i])
            return laz_error_set(err, LAZ_EREFUSED, 0,
                                 "a struct %s sets an option that liblazaret " LAZ_VERSION
                                 " does not know: it is %zu bytes long, not %zu",
                                 type, given_size, size);
    if (!rc)
        memcpy(options, given, given_size < size ? given_size : size);
    *(size_t *)options = size;
    return rc;
}

int laz_options_give(void *given, const void *filled, size_t size, const char *type,
                     struct laz_error *err)
{
    int rc = options_check_size(given, type, err);

    if (rc)
        return rc;
    const size_t given_size = *(const size_t *)given;
    memcpy(given, filled, given_size < size ? given_size : size);
    *(size_t *)given = given_size;
    return 0;
}
