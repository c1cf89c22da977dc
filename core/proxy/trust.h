/* SPDX-License-Identifier: MIT */
/* trust.h - files that make the programs of a box accept an authority beside those of the system.
 * Side: proxy, before it is confined.  Input trusted: yes (files of this host, that all users may
 * read). */
#ifndef LAZ_PROXY_TRUST_H
#define LAZ_PROXY_TRUST_H

#include "proxy/authority.h"

#include <stdbool.h>

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
 *     bundle.pem    the system's list of authorities, and this one
 *     certs/        what /etc/ssl/certs has, and this one: under the name by which OpenSSL finds
 * it, in ca-certificates.crt, and in java/cacerts cacerts       the same list as a key store of
 * Java, if this host has one
 *
 * `root`: before each path of the system; "": it is this one. Errors: LAZ_EOS, LAZ_ENOMEM; a part
 * of it may be there then. */
int proxy_trust_write(const struct proxy_authority *authority, const char *root,
                      const char *directory, struct proxy_trust *found, struct laz_error *err);

#endif
