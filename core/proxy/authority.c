/* SPDX-License-Identifier: MIT */
/* authority.c - makes the certificate authority of an engine, and signs certificates of servers.
 * Side: proxy.  Input trusted: names no.
 *
 * The certificates have what the strictest of the usual clients demand (RFC 5280, as `openssl
 * verify -x509_strict` reads it, which Python 3.13 asks for): version 3, the constraints and the
 * usage of keys critical, identifiers of both keys, the name as an alternative name, and a purpose.
 * All leaves share one key, which is not that of the authority: a key costs more than a signature,
 * and whoever could read one of them could read the others as well. */
#include "proxy/authority.h"

#include "base/random.h"

#include <gnutls/crypto.h>
#include <gnutls/x509.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define AUTHORITY_SERIAL  16 /* bytes; at most 20 are allowed */
#define AUTHORITY_NAME    64 /* bytes of a common name, at most (RFC 5280, A.1) */
#define AUTHORITY_DAY_S   ((time_t)24 * 60 * 60)
#define AUTHORITY_DAYS    3650
#define AUTHORITY_LEAF    398 /* days; some clients accept no more */
#define AUTHORITY_RENEW_S ((int64_t)30 * AUTHORITY_DAY_S)
#define AUTHORITY_LABEL   63u /* bytes between two points of a name */

struct proxy_authority {
    gnutls_x509_privkey_t key, leaf_key;
    gnutls_x509_crt_t certificate;
    char name[AUTHORITY_NAME + 1];
    char hash[9];
    gnutls_datum_t pem, der;
    struct proxy_leaf *leaves;
    unsigned n_leaves;
};

static int authority_error(struct laz_error *err, int failed)
{
    return failed == GNUTLS_E_MEMORY_ERROR
               ? laz_error_nomem(err)
               : laz_error_set(err, LAZ_EOS, 0, "a certificate cannot be made: %s",
                               gnutls_strerror(failed));
}

/* ---- what all certificates have ---------------------------------------------------------------
 */

static int authority_key(gnutls_x509_privkey_t *key)
{
    const int failed = gnutls_x509_privkey_init(key);

    return failed ? failed
                  : gnutls_x509_privkey_generate(
                        *key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
}

/* A positive number that no other certificate has. */
static int authority_serial(gnutls_x509_crt_t certificate)
{
    unsigned char serial[AUTHORITY_SERIAL];

    if (laz_random_bytes(serial, sizeof serial, NULL))
        return GNUTLS_E_RANDOM_FAILED;
    serial[0] = (unsigned char)((serial[0] & 0x7f) | 0x40);
    return gnutls_x509_crt_set_serial(certificate, serial, sizeof serial);
}

/* The identifier of a key (RFC 5280, 4.2.1.2), of the certificate or of who signs it. */
static int authority_identifier(gnutls_x509_crt_t certificate, gnutls_x509_crt_t of,
                                int (*set)(gnutls_x509_crt_t, const void *, size_t))
{
    unsigned char id[64];
    size_t len = sizeof id;
    int failed = gnutls_x509_crt_get_subject_key_id(of, id, &len, NULL);

    if (failed) { /* it is being set */
        len = sizeof id;
        failed = gnutls_x509_crt_get_key_id(of, 0, id, &len);
    }
    return failed ? failed : set(certificate, id, len);
}

/* Number, key, identifier, and from when until when it is valid. */
static int authority_begin(gnutls_x509_crt_t certificate, gnutls_x509_privkey_t key, int days)
{
    const time_t now = time(NULL);
    int failed = gnutls_x509_crt_set_version(certificate, 3);

    if (!failed)
        failed = authority_serial(certificate);
    if (!failed) /* clocks differ */
        failed = gnutls_x509_crt_set_activation_time(certificate, now - AUTHORITY_DAY_S);
    if (!failed)
        failed =
            gnutls_x509_crt_set_expiration_time(certificate, now + (days - 1) * AUTHORITY_DAY_S);
    if (!failed)
        failed = gnutls_x509_crt_set_key(certificate, key);
    return failed
               ? failed
               : authority_identifier(certificate, certificate, gnutls_x509_crt_set_subject_key_id);
}

/* ---- the authority ----------------------------------------------------------------------------
 */

/* A name of its own, since some clients tell authorities apart by their names; in lower case and
 * without double spaces, which is also the form that OpenSSL hashes. */
static int authority_name(struct proxy_authority *authority)
{
    unsigned char random[8];

    if (laz_random_bytes(random, sizeof random, NULL))
        return GNUTLS_E_RANDOM_FAILED;
    size_t len =
        (size_t)snprintf(authority->name, sizeof authority->name, "lazaret of this engine ");
    for (size_t i = 0; i < sizeof random; i++)
        len += (size_t)snprintf(authority->name + len, sizeof authority->name - len, "%02x",
                                random[i]);
    return 0;
}

/* Four bytes of the SHA-1 of the subject, the last one first: of one set with one attribute, the
 * common name (2.5.4.3) as a text of UTF-8, in DER and without the sequence around it. */
static int authority_hash(struct proxy_authority *authority)
{
    const unsigned char len = (unsigned char)strlen(authority->name);
    const unsigned char head[] = {
        0x31, (unsigned char)(len + 9), 0x30, (unsigned char)(len + 7), 0x06, 3, 0x55, 4, 3, 0x0c,
        len};
    unsigned char subject[sizeof head + AUTHORITY_NAME], digest[20];

    memcpy(subject, head, sizeof head);
    memcpy(subject + sizeof head, authority->name, len);
    const int failed = gnutls_hash_fast(GNUTLS_DIG_SHA1, subject, sizeof head + len, digest);
    snprintf(authority->hash, sizeof authority->hash, "%02x%02x%02x%02x", digest[3], digest[2],
             digest[1], digest[0]);
    return failed;
}

static int authority_sign_itself(struct proxy_authority *authority)
{
    gnutls_x509_crt_t own = authority->certificate;
    int failed = authority_begin(own, authority->key, AUTHORITY_DAYS);

    if (!failed)
        failed = gnutls_x509_crt_set_dn_by_oid(own, GNUTLS_OID_X520_COMMON_NAME, 0, authority->name,
                                               (unsigned)strlen(authority->name));
    if (!failed)
        failed = gnutls_x509_crt_set_basic_constraints(own, 1, 0);
    if (!failed)
        failed = gnutls_x509_crt_set_key_usage(own, GNUTLS_KEY_KEY_CERT_SIGN);
    if (!failed)
        failed = authority_identifier(own, own, gnutls_x509_crt_set_authority_key_id);
    if (!failed)
        failed = gnutls_x509_crt_sign2(own, own, authority->key, GNUTLS_DIG_SHA256, 0);
    if (!failed)
        failed = gnutls_x509_crt_export2(own, GNUTLS_X509_FMT_PEM, &authority->pem);
    return failed ? failed : gnutls_x509_crt_export2(own, GNUTLS_X509_FMT_DER, &authority->der);
}

int proxy_authority_new(struct proxy_authority **out, struct laz_error *err)
{
    struct proxy_authority *authority = calloc(1, sizeof *authority);

    if (!authority)
        return laz_error_nomem(err);
    int failed = authority_key(&authority->key);
    if (!failed)
        failed = authority_key(&authority->leaf_key);
    if (!failed)
        failed = gnutls_x509_crt_init(&authority->certificate);
    if (!failed)
        failed = authority_name(authority);
    if (!failed)
        failed = authority_hash(authority);
    if (!failed)
        failed = authority_sign_itself(authority);
    if (failed) {
        proxy_authority_free(authority);
        return authority_error(err, failed);
    }
    *out = authority;
    return 0;
}

void proxy_authority_free(struct proxy_authority *authority)
{
    if (!authority)
        return;
    while (authority->leaves) {
        struct proxy_leaf *leaf = authority->leaves;
        authority->leaves = leaf->next;
        proxy_leaf_drop(leaf);
    }
    if (authority->certificate)
        gnutls_x509_crt_deinit(authority->certificate);
    if (authority->key)
        gnutls_x509_privkey_deinit(authority->key);
    if (authority->leaf_key)
        gnutls_x509_privkey_deinit(authority->leaf_key);
    gnutls_free(authority->pem.data);
    gnutls_free(authority->der.data);
    free(authority);
}

const char *proxy_authority_pem(const struct proxy_authority *authority)
{
    return (const char *)authority->pem.data; /* GnuTLS has put a NUL behind it */
}

const void *proxy_authority_der(const struct proxy_authority *authority, size_t *len)
{
    *len = authority->der.size;
    return authority->der.data;
}

const char *proxy_authority_hash(const struct proxy_authority *authority)
{
    return authority->hash;
}

/* ---- leaves -----------------------------------------------------------------------------------
 */

/* Copies a name in lower case. False: it is none of letters, digits and hyphens with points
 * between, or is an address. */
static bool leaf_name(const char *given, char name[PROXY_NAME_MAX + 1])
{
    size_t len = 0, label = 0;
    bool is_number = true; /* the last label */

    for (; given[len]; len++) {
        const char c = given[len];
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        const bool is_edge = !label || !given[len + 1] || given[len + 1] == '.';
        if (len == PROXY_NAME_MAX)
            return false;
        if (c == '.') {
            if (!label)
                return false;
            label = 0;
            is_number = true;
        } else if (label++ == AUTHORITY_LABEL ||
                   (!is_letter && !(c >= '0' && c <= '9') && (c != '-' || is_edge))) {
            return false;
        } else {
            is_number &= c >= '0' && c <= '9';
        }
        name[len] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    name[len] = '\0';
    return label && !is_number;
}

/* A subject is not to be empty; the name is one only where it is short enough. */
static int leaf_names(gnutls_x509_crt_t certificate, const char *name)
{
    const size_t len = strlen(name);
    int failed = len <= AUTHORITY_NAME
                     ? gnutls_x509_crt_set_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0,
                                                     name, (unsigned)len)
                     : gnutls_x509_crt_set_dn_by_oid(certificate, GNUTLS_OID_X520_ORGANIZATION_NAME,
                                                     0, "lazaret", (unsigned)strlen("lazaret"));

    return failed ? failed
                  : gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_DNSNAME, name,
                                                         (unsigned)len, GNUTLS_FSAN_SET);
}

static int leaf_sign(const struct proxy_authority *authority, const char *name,
                     gnutls_x509_crt_t certificate)
{
    int failed = authority_begin(certificate, authority->leaf_key, AUTHORITY_LEAF);

    if (!failed)
        failed = leaf_names(certificate, name);
    if (!failed)
        failed = gnutls_x509_crt_set_basic_constraints(certificate, 0, -1);
    if (!failed)
        failed = gnutls_x509_crt_set_key_usage(certificate, GNUTLS_KEY_DIGITAL_SIGNATURE);
    if (!failed)
        failed = gnutls_x509_crt_set_key_purpose_oid(certificate, GNUTLS_KP_TLS_WWW_SERVER, 0);
    if (!failed)
        failed = authority_identifier(certificate, authority->certificate,
                                      gnutls_x509_crt_set_authority_key_id);
    return failed ? failed
                  : gnutls_x509_crt_sign2(certificate, authority->certificate, authority->key,
                                          GNUTLS_DIG_SHA256, 0);
}

static int leaf_make(const struct proxy_authority *authority, struct proxy_leaf *leaf)
{
    gnutls_x509_crt_t certificate = NULL;
    int failed = gnutls_x509_crt_init(&certificate);

    if (failed)
        return failed;
    failed = leaf_sign(authority, leaf->name, certificate);
    if (!failed)
        failed = gnutls_certificate_allocate_credentials(&leaf->x509);
    if (!failed) /* copies both */
        failed = gnutls_certificate_set_x509_key(leaf->x509, &certificate, 1, authority->leaf_key);
    gnutls_x509_crt_deinit(certificate);
    return failed < 0 ? failed : 0;
}

/* Takes the leaf of a name from the cache; NULL: there is none that is new enough. */
static struct proxy_leaf *leaf_take(struct proxy_authority *authority, const char *name,
                                    int64_t now_s)
{
    for (struct proxy_leaf **at = &authority->leaves; *at; at = &(*at)->next) {
        struct proxy_leaf *leaf = *at;
        if (strcmp(leaf->name, name) != 0)
            continue;
        *at = leaf->next;
        leaf->next = NULL;
        authority->n_leaves--;
        if (now_s >= leaf->made_s && now_s - leaf->made_s < AUTHORITY_RENEW_S)
            return leaf;
        proxy_leaf_drop(leaf);
        return NULL;
    }
    return NULL;
}

/* Puts a leaf in front, for which the one that was not used for longest leaves. */
static void leaf_keep(struct proxy_authority *authority, struct proxy_leaf *leaf)
{
    struct proxy_leaf **at = &authority->leaves;

    leaf->next = authority->leaves;
    authority->leaves = leaf;
    if (++authority->n_leaves <= PROXY_LEAVES_MAX)
        return;
    while ((*at)->next)
        at = &(*at)->next;
    proxy_leaf_drop(*at);
    *at = NULL;
    authority->n_leaves--;
}

int proxy_authority_leaf(struct proxy_authority *authority, const char *given,
                         struct proxy_leaf **out, struct laz_error *err)
{
    const int64_t now_s = (int64_t)time(NULL);
    char name[PROXY_NAME_MAX + 1];

    if (!leaf_name(given, name))
        return laz_error_set(err, LAZ_EINVAL, 0,
                             "no certificate can be made for this name: it is not one of DNS, of "
                             "letters, digits and hyphens");
    struct proxy_leaf *leaf = leaf_take(authority, name, now_s);
    if (!leaf) {
        leaf = calloc(1, sizeof *leaf);
        if (!leaf)
            return laz_error_nomem(err);
        leaf->holders = 1;
        leaf->made_s = now_s;
        memcpy(leaf->name, name, sizeof name);
        const int failed = leaf_make(authority, leaf);
        if (failed) {
            proxy_leaf_drop(leaf);
            return authority_error(err, failed);
        }
    }
    leaf_keep(authority, leaf);
    leaf->holders++;
    *out = leaf;
    return 0;
}

void proxy_leaf_drop(struct proxy_leaf *leaf)
{
    if (!leaf || --leaf->holders)
        return;
    if (leaf->x509)
        gnutls_certificate_free_credentials(leaf->x509);
    free(leaf);
}
