/* SPDX-License-Identifier: MIT */
/* random.h - bytes and tokens from the system's random source, and comparing them. */
#ifndef LAZ_BASE_RANDOM_H
#define LAZ_BASE_RANDOM_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define LAZ_TOKEN_LEN 32

int laz_random_bytes(void *out, size_t len, struct laz_error *err);
/* `len` characters of [A-Za-z0-9], evenly distributed, and a NUL. */
int laz_random_name(char *out, size_t len, struct laz_error *err);
/* Compares in a time that depends on `len` alone. */
bool laz_equal_constant_time(const void *a, const void *b, size_t len);

#endif
