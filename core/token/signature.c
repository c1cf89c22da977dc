/* SPDX-License-Identifier: MIT */
/* signature.c - Ed25519 (RFC 8032) by Nettle's library of public keys.
 *
 * It is loaded when the first token is made or checked: with the library of large numbers that it
 * needs it would be half of the start of commands that know no token. */
#include "token/token_private.h"

#include "os/library.h"

#include <string.h>

#ifdef LAZ_HOGWEED_LIBRARY
#include <nettle/eddsa.h>

_Static_assert(ED25519_KEY_SIZE == LAZ_KEY_BYTES, "as the library has it");
_Static_assert(ED25519_SIGNATURE_SIZE == TOKEN_SIGNATURE, "as the library has it");

#define SIGNATURE_FUNCTIONS(F) F(public_key) F(sign) F(verify)

struct signature_library {
#define SIGNATURE_MEMBER(name) __typeof__(nettle_ed25519_sha512_##name) *name;
    SIGNATURE_FUNCTIONS(SIGNATURE_MEMBER)
#undef SIGNATURE_MEMBER
};

static int signature_load(struct signature_library *library, struct laz_error *err)
{
    static const struct {
        const char *name;
        size_t offset;
    } rows[] = {
#define SIGNATURE_ROW(name)                                                                        \
    {"nettle_ed25519_sha512_" #name, offsetof(struct signature_library, name)},
        SIGNATURE_FUNCTIONS(SIGNATURE_ROW)
#undef SIGNATURE_ROW
    };
    const char *words = NULL;
    void *open = laz_library_open(LAZ_HOGWEED_LIBRARY, false, &words);

    if (!open)
        return laz_error_set(err, LAZ_EREFUSED, 0, "tokens need %s, which cannot be loaded: %s",
                             LAZ_HOGWEED_LIBRARY, words);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        void (*function)(void) = laz_library_function(open, rows[i].name);
        if (!function)
            return laz_error_set(err, LAZ_EREFUSED, 0, "tokens need %s of %s, which has none",
                                 rows[i].name, LAZ_HOGWEED_LIBRARY);
        memcpy((char *)library + rows[i].offset, &function, sizeof function);
    }
    return 0;
}

int laz_ed25519_public(const struct laz_key *key, struct laz_key *public_key, struct laz_error *err)
{
    struct signature_library library;
    int rc = signature_load(&library, err);

    if (!rc)
        library.public_key(public_key->bytes, key->bytes);
    return rc;
}

int laz_ed25519_sign(const struct laz_key *key, const void *data, size_t len,
                     uint8_t signature[TOKEN_SIGNATURE], struct laz_error *err)
{
    struct signature_library library;
    struct laz_key public_key;
    int rc = signature_load(&library, err);

    if (rc)
        return rc;
    library.public_key(public_key.bytes, key->bytes);
    library.sign(public_key.bytes, key->bytes, len, data, signature);
    return 0;
}

int laz_ed25519_verify(const struct laz_key *public_key, const void *data, size_t len,
                       const uint8_t signature[TOKEN_SIGNATURE], bool *is_signed,
                       struct laz_error *err)
{
    struct signature_library library;
    int rc = signature_load(&library, err);

    *is_signed = !rc && library.verify(public_key->bytes, len, data, signature);
    return rc;
}
#else
static int signature_none(struct laz_error *err)
{
    return laz_error_set(err, LAZ_EREFUSED, 0, "this lazaret was built without tokens (hogweed)");
}

int laz_ed25519_public(const struct laz_key *key, struct laz_key *public_key, struct laz_error *err)
{
    (void)key, (void)public_key;
    return signature_none(err);
}

int laz_ed25519_sign(const struct laz_key *key, const void *data, size_t len,
                     uint8_t signature[TOKEN_SIGNATURE], struct laz_error *err)
{
    (void)key, (void)data, (void)len, (void)signature;
    return signature_none(err);
}

int laz_ed25519_verify(const struct laz_key *public_key, const void *data, size_t len,
                       const uint8_t signature[TOKEN_SIGNATURE], bool *is_signed,
                       struct laz_error *err)
{
    (void)public_key, (void)data, (void)len, (void)signature;
    *is_signed = false;
    return signature_none(err);
}
#endif

int laz_key_public(const struct laz_key *key, struct laz_key *public_key, struct laz_error *err)
{
    return laz_ed25519_public(key, public_key, err);
}
