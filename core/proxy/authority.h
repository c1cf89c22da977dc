/* SPDX-License-Identifier: MIT */
/* authority.h - the certificate authority of an engine, certificates for the names of servers
 * (authority.c), and files by which boxes accept them (trust.c).
 * Side: proxy.  Input trusted: names no, all else yes.
 *
 * Its key is made in this process, is written nowhere, and is gone with it.  One thread has the
 * authority and its leaves; what a leaf holds may be read by handshakes of other threads while the
 * leaf is held. */
#ifndef LAZ_PROXY_AUTHORITY_H
#define LAZ_PROXY_AUTHORITY_H

#include "base/error.h"

#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROXY_NAME_MAX   253u /* bytes of a name of DNS */
#define PROXY_LEAVES_MAX 256u /* that are kept for the next connection */

struct proxy_authority;

/* A new key and its certificate, of which the caller frees both. LAZ_ENOMEM, LAZ_EOS. */
int proxy_authority_new(struct proxy_authority **authority, struct laz_error *err);
/* Leaves that are held stay until they are dropped. */
void proxy_authority_free(struct proxy_authority *authority);
/* Its certificate, borrowed: a text that ends with a new line, and as it is signed. */
const char *proxy_authority_pem(const struct proxy_authority *authority);
const void *proxy_authority_der(const struct proxy_authority *authority, size_t *len);
/* The name under which OpenSSL looks for it in a directory of certificates, without the number at
 * its end: eight digits. */
const char *proxy_authority_hash(const struct proxy_authority *authority);

/* A certificate for one name, with its key. */
struct proxy_leaf {
    unsigned holders;                      /* the cache is one of them */
    gnutls_certificate_credentials_t x509; /* for a server; nothing changes it */
    struct proxy_leaf *next;               /* in the cache: the latest use comes first */
    int64_t made_s;                        /* seconds since 1970 */
    char name[PROXY_NAME_MAX + 1];         /* in lower case */
};
/* The certificate for a name of DNS, held for the caller. LAZ_EINVAL: it is no such name,
 * LAZ_ENOMEM, LAZ_EOS. */
int proxy_authority_leaf(struct proxy_authority *authority, const char *name,
                         struct proxy_leaf **leaf, struct laz_error *err);
void proxy_leaf_drop(struct proxy_leaf *leaf); /* NULL: does nothing */

/* ---- what makes boxes accept it; before the process is confined -------------------------------
 */

/* What proxy_trust_write has found. */
struct proxy_trust {
    const char *bundle;  /* the system's list of authorities, a path; NULL: it has none, and boxes
                            accept the one authority alone */
    size_t certificates; /* in that list */
    size_t left_out;     /* files of the system's directory that are too large or too many */
    bool has_java;       /* there is a store of Java's */
};

/* Fills a directory, which is empty and which all users may search, with files that all may read:
 *
 * - bundle.pem: the system's list of authorities, and this one;
 * - certs/: what /etc/ssl/certs has, and this one: under the name by which OpenSSL finds it, in
 *   ca-certificates.crt, and in java/cacerts;
 * - cacerts: the same list as a key store of Java, if this host has one;
 * - anchors/: what this host has added to its list, and this one, if it keeps that apart.
 *
 * `root`: before each path of the system; "": it is this one. Errors: LAZ_EOS, LAZ_ENOMEM; a part
 * of it may be there then. */
int proxy_trust_write(const struct proxy_authority *authority, const char *root,
                      const char *directory, struct proxy_trust *found, struct laz_error *err);

#endif
