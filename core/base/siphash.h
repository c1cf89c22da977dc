/* SPDX-License-Identifier: MIT */
/* siphash.h - SipHash-2-4: a hash of short texts that cannot be predicted without the key. */
#ifndef LAZ_BASE_SIPHASH_H
#define LAZ_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

struct laz_siphash_key {
    uint64_t k0, k1;
};

uint64_t laz_siphash(const struct laz_siphash_key *key, const void *data, size_t len);

#endif
