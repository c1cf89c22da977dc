/* SPDX-License-Identifier: MIT */
/* token_private.h - what the files of core/token share: the signatures of Nettle. */
#ifndef LAZ_TOKEN_TOKEN_PRIVATE_H
#define LAZ_TOKEN_TOKEN_PRIVATE_H

#include "token/token.h"

#include <stdio.h>

#define TOKEN_SIGNATURE 64 /* bytes */

/* As the functions of Nettle, after the library was loaded. LAZ_EREFUSED: it cannot be. */
int laz_ed25519_public(const struct laz_key *key, struct laz_key *public_key,
                       struct laz_error *err);
int laz_ed25519_sign(const struct laz_key *key, const void *data, size_t len,
                     uint8_t signature[TOKEN_SIGNATURE], struct laz_error *err);
/* *is_signed: by this key. */
int laz_ed25519_verify(const struct laz_key *public_key, const void *data, size_t len,
                       const uint8_t signature[TOKEN_SIGNATURE], bool *is_signed,
                       struct laz_error *err);

#endif
