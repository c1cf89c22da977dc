/* SPDX-License-Identifier: MIT */
/* digest.h - SHA-256 (FIPS 180-4), with which the audit log chains its lines. */
#ifndef LAZ_BASE_DIGEST_H
#define LAZ_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define LAZ_SHA256_HEX 64 /* lower-case digits of a digest, without the NUL */

struct laz_sha256 {
    uint64_t state[20]; /* private to the library that computes it */
};

void laz_sha256_init(struct laz_sha256 *sha256);
void laz_sha256_add(struct laz_sha256 *sha256, const void *data, size_t len);
/* The digest of what was added, with a NUL. Then starts anew. */
void laz_sha256_hex(struct laz_sha256 *sha256, char hex[LAZ_SHA256_HEX + 1]);

#endif
