/* SPDX-License-Identifier: MIT */
/* credentials.c - keys and certificates, and who is at the other end.
 * Side: gate.  Input trusted: yes (files of the operator); no (certificates of the other end).
 *
 * TLS 1.3 alone: there is no renegotiation, no compression, no choice of weak algorithms, and both
 * clients of lazaret have it.  No session is resumed, so each connection shows anew who it is. */
#include "gate/gate_private.h"

#include "os/trust.h"

#include <gnutls/abstract.h>
#include <gnutls/x509.h>
#include <string.h>

#define CREDENTIALS_FILE ((size_t)1 << 20)
#define CREDENTIALS_TLS  "NORMAL:-VERS-ALL:+VERS-TLS1.3"
#define CREDENTIALS_RSA  2048 /* bytes of a modulus of RSA: 16384 bits, */
#define CREDENTIALS_E    8    /* and of its exponent */

static int credentials_error(struct laz_error *err, const char *file, int rc)
{
    return laz_error_set(err, LAZ_EINVAL, 0, "%s: %s", file, gnutls_strerror(rc));
}

static int credentials_file(const char *path, bool is_secret, struct laz_buf *text,
                            struct laz_error *err)
{
    return is_secret ? laz_trust_secret(path, CREDENTIALS_FILE, text, err)
                     : laz_trust_read(path, CREDENTIALS_FILE, text, err);
}

static void credentials_forget(struct laz_buf *text)
{
    if (text->data)
        laz_wipe(text->data, text->len);
    laz_buf_fini(text);
}

static int credentials_own(struct gate_credentials *credentials, const struct gate_options *options,
                           struct laz_error *err)
{
    struct laz_buf certificate = LAZ_BUF_INIT, key = LAZ_BUF_INIT;
    int rc = credentials_file(options->certificate, false, &certificate, err);

    if (!rc)
        rc = credentials_file(options->key, true, &key, err);
    if (!rc) {
        const gnutls_datum_t pair[] = {
            {(unsigned char *)certificate.data, (unsigned)certificate.len},
            {(unsigned char *)key.data, (unsigned)key.len}};
        const int failed = gnutls_certificate_set_x509_key_mem(credentials->x509, &pair[0],
                                                               &pair[1], GNUTLS_X509_FMT_PEM);
        if (failed < 0)
            rc = laz_error_set(err, LAZ_EINVAL, 0, "%s, with the key %s: %s", options->certificate,
                               options->key, gnutls_strerror(failed));
    }
    laz_buf_fini(&certificate);
    credentials_forget(&key);
    return rc;
}

static int credentials_authorities(struct gate_credentials *credentials,
                                   const struct gate_options *options, struct laz_error *err)
{
    struct laz_buf text = LAZ_BUF_INIT;
    int rc = credentials_file(options->authorities, false, &text, err);
    int n = 0;

    if (!rc) {
        const gnutls_datum_t pem = {(unsigned char *)text.data, (unsigned)text.len};
        n = gnutls_certificate_set_x509_trust_mem(credentials->x509, &pem, GNUTLS_X509_FMT_PEM);
        if (n <= 0)
            rc = n ? credentials_error(err, options->authorities, n)
                   : laz_error_set(err, LAZ_EINVAL, 0, "%s: there is no certificate",
                                   options->authorities);
    }
    laz_buf_clear(&text);
    if (!rc && options->revoked)
        rc = credentials_file(options->revoked, false, &text, err);
    if (!rc && options->revoked) {
        const gnutls_datum_t pem = {(unsigned char *)text.data, (unsigned)text.len};
        n = gnutls_certificate_set_x509_crl_mem(credentials->x509, &pem, GNUTLS_X509_FMT_PEM);
        if (n < 0)
            rc = credentials_error(err, options->revoked, n);
    }
    laz_buf_fini(&text);
    return rc;
}

static int credentials_keys(struct gate_credentials *credentials, const char *file,
                            struct laz_error *err)
{
    struct laz_buf text = LAZ_BUF_INIT;
    int rc = credentials_file(file, false, &text, err);

    if (!rc && (rc = laz_keys_read(laz_buf_text(&text), &credentials->keys, err)))
        laz_error_prefix(err, "%s: ", file);
    credentials_forget(&text);
    return rc;
}

int gate_credentials_read(struct gate_credentials *credentials, const struct gate_options *options,
                          bool is_server, struct laz_error *err)
{
    int rc = gnutls_certificate_allocate_credentials(&credentials->x509) ? laz_error_nomem(err) : 0;

    if (!rc && options->certificate)
        rc = credentials_own(credentials, options, err);
    if (!rc && options->authorities)
        rc = credentials_authorities(credentials, options, err);
    else if (!rc && !is_server && gnutls_certificate_set_x509_system_trust(credentials->x509) <= 0)
        rc = laz_error_set(err, LAZ_EINVAL, 0,
                           "this system lists no authorities; --ca FILE names those of the server");
    if (!rc && options->keys)
        rc = credentials_keys(credentials, options->keys, err);
    credentials->asks_certificates = is_server && options->authorities;
    if (!rc) /* a certificate costs whoever checks it: chains and keys are short */
        gnutls_certificate_set_verify_limits(credentials->x509, 16384, 8);
    return rc;
}

void gate_credentials_free(struct gate_credentials *credentials)
{
    if (credentials->x509)
        gnutls_certificate_free_credentials(credentials->x509);
    credentials->x509 = NULL;
}

/* ---- sessions -------------------------------------------------------------------------------- */

/* Bytes of a number, without a zero in front that is its sign. */
static unsigned rsa_size(const gnutls_datum_t *number)
{
    return number->size - (number->size && !number->data[0]);
}

static bool key_is_cheap(const gnutls_datum_t *der)
{
    gnutls_x509_crt_t certificate = NULL;
    gnutls_pubkey_t key = NULL;
    gnutls_datum_t modulus = {NULL, 0}, exponent = {NULL, 0};
    bool is_cheap = false;

    if (gnutls_x509_crt_init(&certificate) == 0 && gnutls_pubkey_init(&key) == 0 &&
        gnutls_x509_crt_import(certificate, der, GNUTLS_X509_FMT_DER) == 0 &&
        gnutls_pubkey_import_x509(key, certificate, 0) == 0) {
        const int algorithm = gnutls_pubkey_get_pk_algorithm(key, NULL);
        is_cheap = algorithm == GNUTLS_PK_ECDSA || algorithm == GNUTLS_PK_EDDSA_ED25519 ||
                   algorithm == GNUTLS_PK_EDDSA_ED448;
        if (!is_cheap && gnutls_pubkey_export_rsa_raw(key, &modulus, &exponent) == 0)
            is_cheap =
                rsa_size(&modulus) <= CREDENTIALS_RSA && rsa_size(&exponent) <= CREDENTIALS_E;
    }
    gnutls_free(modulus.data);
    gnutls_free(exponent.data);
    if (key)
        gnutls_pubkey_deinit(key);
    if (certificate)
        gnutls_x509_crt_deinit(certificate);
    return is_cheap;
}

/* Before the signature of the other end is checked, by whatever key it has sent: with RSA that
 * takes minutes if modulus and exponent are large enough, and nobody has signed the certificate
 * yet. */
static int session_check_key(gnutls_session_t tls, unsigned type, unsigned when, unsigned incoming,
                             const gnutls_datum_t *message)
{
    unsigned n = 0;
    const gnutls_datum_t *chain = incoming ? gnutls_certificate_get_peers(tls, &n) : NULL;

    (void)type;
    (void)when;
    (void)message;
    return !incoming || (chain && n && key_is_cheap(&chain[0]))
               ? 0
               : GNUTLS_E_UNSUPPORTED_CERTIFICATE_TYPE;
}

int gate_session_new(const struct gate_credentials *credentials, bool is_server, int fd,
                     gnutls_session_t *tls, struct laz_error *err)
{
    const unsigned flags = (is_server ? GNUTLS_SERVER : GNUTLS_CLIENT) | GNUTLS_NONBLOCK |
                           GNUTLS_NO_SIGNAL | GNUTLS_NO_TICKETS;

    if (gnutls_init(tls, flags) != 0) {
        *tls = NULL;
        return laz_error_nomem(err);
    }
    if (gnutls_priority_set_direct(*tls, CREDENTIALS_TLS, NULL) != 0 ||
        gnutls_credentials_set(*tls, GNUTLS_CRD_CERTIFICATE, credentials->x509) != 0) {
        gnutls_deinit(*tls);
        *tls = NULL;
        return laz_error_set(err, LAZ_EOS, 0, "this GnuTLS has no TLS 1.3");
    }
    if (is_server)
        gnutls_certificate_server_set_request(
            *tls, credentials->asks_certificates ? GNUTLS_CERT_REQUEST : GNUTLS_CERT_IGNORE);
    gnutls_handshake_set_hook_function(*tls, GNUTLS_HANDSHAKE_CERTIFICATE_VERIFY, GNUTLS_HOOK_PRE,
                                       session_check_key);
    gnutls_transport_set_int(*tls, fd);
    return 0;
}

/* The name of a certificate: the common name of its subject. */
static int certificate_name(const gnutls_datum_t *der, char name[LAZ_IDENTITY_MAX + 1],
                            struct laz_error *err)
{
    gnutls_x509_crt_t certificate;
    size_t len = LAZ_IDENTITY_MAX + 1;

    if (gnutls_x509_crt_init(&certificate) != 0)
        return laz_error_nomem(err);
    int failed = gnutls_x509_crt_import(certificate, der, GNUTLS_X509_FMT_DER);
    if (!failed)
        failed = gnutls_x509_crt_get_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, 0, name,
                                               &len);
    gnutls_x509_crt_deinit(certificate);
    if (failed || !laz_identity_is_valid(name))
        return laz_error_set(
            err, LAZ_EREFUSED, 0,
            "the common name of the certificate is no name of an identity: 1 to %d "
            "letters, digits, '.', '_', '-' and '@'",
            LAZ_IDENTITY_MAX);
    return 0;
}

/* The end of the first certificate of the chain that ends: of the client's, of each that has signed
 * the one before, and of the authority that is known here. Others, which a client may send as well,
 * say nothing. */
static int64_t chain_expires_s(gnutls_session_t tls, const gnutls_datum_t *chain, unsigned n)
{
    gnutls_certificate_credentials_t own = NULL;
    gnutls_x509_crt_t certificate = NULL, above = NULL;
    int64_t first_s = INT64_MAX;

    for (unsigned i = 0; i < n; i++) {
        if (gnutls_x509_crt_init(&above) != 0)
            break;
        if (gnutls_x509_crt_import(above, &chain[i], GNUTLS_X509_FMT_DER) != 0 ||
            (certificate && !gnutls_x509_crt_check_issuer(certificate, above))) {
            gnutls_x509_crt_deinit(above);
            continue;
        }
        const int64_t ends_s = (int64_t)gnutls_x509_crt_get_expiration_time(above);
        first_s = ends_s < first_s ? ends_s : first_s;
        if (certificate)
            gnutls_x509_crt_deinit(certificate);
        certificate = above;
    }
    if (certificate && gnutls_credentials_get(tls, GNUTLS_CRD_CERTIFICATE, (void **)&own) == 0 &&
        gnutls_certificate_get_issuer(own, certificate, &above, 0) == 0) {
        const int64_t ends_s = (int64_t)gnutls_x509_crt_get_expiration_time(above);
        first_s = ends_s < first_s ? ends_s : first_s;
    }
    if (certificate)
        gnutls_x509_crt_deinit(certificate);
    return first_s;
}

int gate_certificate_check(gnutls_session_t tls, bool *has_one, char name[LAZ_IDENTITY_MAX + 1],
                           int64_t *expires_s, struct laz_error *err)
{
    gnutls_typed_vdata_st purpose = {.type = GNUTLS_DT_KEY_PURPOSE_OID,
                                     .data = (unsigned char *)(uintptr_t)GNUTLS_KP_TLS_WWW_CLIENT};
    unsigned n = 0, status = 0;
    const gnutls_datum_t *chain = gnutls_certificate_get_peers(tls, &n);

    *has_one = chain && n;
    *name = '\0';
    *expires_s = 0;
    if (!*has_one)
        return 0;
    const int failed = gnutls_certificate_verify_peers(tls, &purpose, 1, &status);
    if (failed < 0)
        return laz_error_set(err, LAZ_EREFUSED, 0, "the certificate cannot be checked: %s",
                             gnutls_strerror(failed));
    if (status) {
        gnutls_datum_t words = {NULL, 0};
        (void)gnutls_certificate_verification_status_print(status, GNUTLS_CRT_X509, &words, 0);
        laz_error_set(err, LAZ_EREFUSED, 0, "the certificate is not accepted: %s",
                      words.data ? (const char *)words.data : "it is not valid");
        gnutls_free(words.data);
        return LAZ_EREFUSED;
    }
    *expires_s = chain_expires_s(tls, chain, n);
    return certificate_name(&chain[0], name, err);
}
