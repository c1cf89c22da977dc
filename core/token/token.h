/* SPDX-License-Identifier: MIT */
/* token.h - what this room offers: tokens, by which an operator lets others use a server for a
 * time.
 *
 * A token is a JSON Web Token (RFC 7519) that is signed with Ed25519 (EdDSA, RFC 8037).  Whoever
 * issues tokens has the private key; a server has public ones and can make none.  The keys are
 * files of PEM as others write them (RFC 8410).  A token has no secret but itself: who has it is
 * its subject, until it expires. */
#ifndef LAZ_TOKEN_TOKEN_H
#define LAZ_TOKEN_TOKEN_H

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>

/* What an identity may use; 0: as the server says. */
struct laz_quota {
    uint64_t sessions; /* at a time */
    uint64_t cpu_s;    /* these in a minute: CPU time, */
    uint64_t bytes;    /* in both directions, */
    uint64_t requests; /* messages that ask for something */
};
/* Each becomes the smaller one of two that are given. */
void laz_quota_narrow(struct laz_quota *quota, const struct laz_quota *by);

#define LAZ_IDENTITY_MAX 64   /* bytes of a name */
#define LAZ_JWT_MAX      4096 /* bytes of a token */

/* The name of an identity has 1 to 64 letters, digits, '.', '_', '-' and '@'. */
bool laz_identity_is_valid(const char *name);

struct laz_claims {
    char subject[LAZ_IDENTITY_MAX + 1];
    char audience[LAZ_IDENTITY_MAX + 1]; /* of servers of this name; "": any */
    char id[LAZ_IDENTITY_MAX + 1];       /* "": it has none */
    int64_t expires_s, not_before_s;     /* seconds since 1970; not_before_s 0: not given */
    struct laz_quota quota;
};

#define LAZ_KEY_BYTES 32
struct laz_key {
    uint8_t bytes[LAZ_KEY_BYTES];
};

/* The library of the algorithm is loaded with the first use. All return LAZ_EREFUSED where this
 * build, or this machine, has none. */

/* A fresh private key. */
int laz_key_new(struct laz_key *key, struct laz_error *err);
int laz_key_public(const struct laz_key *key, struct laz_key *public_key, struct laz_error *err);
void laz_key_write(const struct laz_key *key, bool is_private, struct laz_buf *pem); /* appends */
/* Reads the private key of a PEM text. LAZ_EINVAL. */
int laz_key_read(const char *pem, struct laz_key *key, struct laz_error *err);

#define LAZ_KEYS_MOST 8
struct laz_keys { /* public ones, any of which may have signed */
    struct laz_key items[LAZ_KEYS_MOST];
    size_t n;
};
/* All public keys of a PEM text. LAZ_EINVAL: there is none, something else is between them, or a
 * private key, which has no business at a server. */
int laz_keys_read(const char *pem, struct laz_keys *keys, struct laz_error *err);

/* Appends the token of these claims. LAZ_EINVAL: a name of them is not valid. */
int laz_token_make(const struct laz_claims *claims, const struct laz_key *key, struct laz_buf *text,
                   struct laz_error *err);
/* Is it a token that one of these keys has signed, for a server of this name, at this time? Errors:
 * LAZ_EREFUSED with why not, in words for its bearer. */
int laz_token_check(const char *text, size_t len, const struct laz_keys *keys, const char *audience,
                    int64_t now_s, struct laz_claims *claims, struct laz_error *err);

#endif
