/* SPDX-License-Identifier: MIT */
/* options.h - options of a caller: structs that begin with their size and may have been compiled
 * against older or newer headers than the library. */
#ifndef LAZ_BASE_OPTIONS_H
#define LAZ_BASE_OPTIONS_H

#include "base/error.h"

#include <stddef.h>

/* Copies the options of a caller to `options` (`size` bytes, with its size first). What is not
 * given is 0; `given` NULL: nothing is. Errors, so that no option is dropped silently, and *options
 * is empty then: LAZ_EINVAL, its size is 0, or too small or large to be one; LAZ_EREFUSED, it is
 * larger than ours, and something is set there. `type`: the name of the struct, for the message. */
int laz_options_take(void *options, size_t size, const void *given, const char *type,
                     struct laz_error *err);
#define LAZ_OPTIONS_TAKE(options, given, type, err)                                                \
    laz_options_take((options), sizeof(struct type), (given), #type, (err))

/* Copies a filled struct to one of the caller, which begins with its size: as much of it as fits.
 * Its size stays as it is. LAZ_EINVAL as above. */
int laz_options_give(void *given, const void *filled, size_t size, const char *type,
                     struct laz_error *err);
#define LAZ_OPTIONS_GIVE(given, filled, type, err)                                                 \
    laz_options_give((given), (filled), sizeof(struct type), #type, (err))

#endif
