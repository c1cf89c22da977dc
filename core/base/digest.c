/* SPDX-License-Identifier: MIT */
/* digest.c - SHA-256 by Nettle; no other file calls that library.
 *
 * Nettle is the smallest available library that is well maintained: GnuTLS, and so APT, depends on
 * it.  It has no state of its own, and uses the processor's instructions for the digest where there
 * are any.  An implementation of our own would be short, but would have no maintainer. */
#include "base/digest.h"

#include <nettle/sha2.h>
#include <nettle/version.h>

_Static_assert(sizeof(struct sha256_ctx) <= sizeof(struct laz_sha256), "room for Nettle's state");
_Static_assert(_Alignof(struct sha256_ctx) <= _Alignof(struct laz_sha256), "as aligned");

static struct sha256_ctx *digest_state(struct laz_sha256 *sha256)
{
    return (struct sha256_ctx *)(void *)sha256->state;
}

void laz_sha256_init(struct laz_sha256 *sha256)
{
    sha256_init(digest_state(sha256));
}

void laz_sha256_add(struct laz_sha256 *sha256, const void *data, size_t len)
{
    if (len)
        sha256_update(digest_state(sha256), len, data);
}

void laz_sha256_hex(struct laz_sha256 *sha256, char hex[LAZ_SHA256_HEX + 1])
{
    static const char digits[] = "0123456789abcdef";
    uint8_t bytes[SHA256_DIGEST_SIZE];

#if NETTLE_VERSION_MAJOR >= 4 /* version 4 has no parameter for the length */
    sha256_digest(digest_state(sha256), bytes);
#else
    sha256_digest(digest_state(sha256), sizeof bytes, bytes);
#endif
    for (size_t i = 0; i < sizeof bytes; i++) {
        hex[2 * i] = digits[bytes[i] >> 4];
        hex[2 * i + 1] = digits[bytes[i] & 15];
    }
    hex[LAZ_SHA256_HEX] = '\0';
}
