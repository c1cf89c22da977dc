/* SPDX-License-Identifier: MIT */
/* trust.c - what a box is shown in place of the system's lists of authorities.
 * Side: proxy, before it is confined.  Input trusted: yes (files of this host).
 *
 * Programs read such a list in one of three forms: one file of all certificates, a directory in
 * which a certificate has the hash of its subject as its name, and a key store of Java.  All three
 * are made from what the host has, so that a box accepts each server that it accepted before.  Only
 * what every user may read is copied: the process may be root's, and boxes see the copies.  Links
 * are copied as links: they lead to where they led, as far as the box shows it. */
#include "proxy/authority.h"

#include "os/directories.h"
#include "os/files.h"

#include <gnutls/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TRUST_BUNDLE   ((size_t)8 << 20)  /* bytes of a list */
#define TRUST_FILE     ((size_t)1 << 20)  /* of another file */
#define TRUST_FILES    ((size_t)32 << 20) /* of all those */
#define TRUST_NAMES    ((size_t)8192)     /* in the system's directory */
#define TRUST_LISTED   ((size_t)4096)     /* certificates in a list */
#define TRUST_DIGEST   20                 /* bytes of SHA-1 */
#define TRUST_BEGIN    "-----BEGIN CERTIFICATE-----"
#define TRUST_END      "-----END CERTIFICATE-----"
#define TRUST_CERTS    "/etc/ssl/certs"
#define TRUST_PASSWORD "changeit" /* what every store of Java has: it keeps nothing secret */

/* Lists of all authorities, the usual ones first. */
static const char *const trust_bundles[] = {
    TRUST_CERTS "/ca-certificates.crt",                  /* Debian, Alpine, Arch */
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* Fedora, RHEL */
    "/etc/pki/tls/certs/ca-bundle.crt",                  /* the same, older ones */
    "/etc/ca-certificates/extracted/tls-ca-bundle.pem",  /* Arch */
    "/var/lib/ca-certificates/ca-bundle.pem",            /* SUSE */
    "/etc/ssl/ca-bundle.pem",                            /* the same */
    "/etc/ssl/cert.pem",                                 /* Alpine */
    "/etc/pki/tls/cert.pem",                             /* Fedora */
};

/* Stores of Java. */
static const char *const trust_java[] = {
    TRUST_CERTS "/java/cacerts",
    "/etc/pki/java/cacerts",
    "/etc/pki/ca-trust/extracted/java/cacerts",
    "/etc/ca-certificates/extracted/java-cacerts.jks",
    "/var/lib/ca-certificates/java-cacerts",
};

/* Directories of what was added to a list, which programs with p11-kit read themselves. */
static const char *const trust_anchors[] = {
    "/etc/pki/ca-trust/source/anchors",          /* Fedora, RHEL */
    "/etc/ca-certificates/trust-source/anchors", /* Arch */
};

/* Names that are a whole list, in the system's directory. */
static const char *const trust_whole[] = {"ca-certificates.crt", "ca-bundle.crt"};

#define TRUST_COUNT(table) (sizeof(table) / sizeof(table)[0])

/* What is being written. */
struct trust_work {
    const struct proxy_authority *authority;
    const char *root, *directory;
    struct proxy_trust *found;
    struct laz_buf bundle; /* the list, and the authority behind it */
    struct laz_buf store;  /* the same for Java; empty: there is no Java */
    size_t copied;         /* bytes of other files */
};

/* ---- paths ------------------------------------------------------------------------------------
 */

static int trust_directory(const struct trust_work *work, const char *name, struct laz_error *err)
{
    char *path = laz_strdupf("%s/%s", work->directory, name);
    int rc = path ? laz_os_make_directory(path, 0755, LAZ_OS_SAME_ID, LAZ_OS_SAME_ID, err)
                  : laz_error_nomem(err);

    free(path);
    return rc;
}

static int trust_file(const struct trust_work *work, const char *name, const struct laz_buf *text,
                      struct laz_error *err)
{
    char *path = laz_strdupf("%s/%s", work->directory, name);
    int rc = path ? laz_os_write_file(path, laz_buf_text(text), text->len, 0444, err)
                  : laz_error_nomem(err);

    free(path);
    return rc;
}

/* A regular file that every user may read, of at most `max` bytes, with links followed. */
static bool trust_is_for_all(const char *path, size_t max, struct laz_look *look)
{
    return laz_os_look(path, true, look) == 0 && look->kind == LAZ_LOOK_FILE &&
           (look->mode & 0004) && look->size <= max;
}

/* ---- the list ---------------------------------------------------------------------------------
 */

/* Appends the system's list, if there is one. */
static int trust_read_bundle(struct trust_work *work, struct laz_error *err)
{
    struct laz_look look;
    bool are_left = true;

    for (size_t i = 0; are_left && i < TRUST_COUNT(trust_bundles); i++) {
        char *path = laz_strdupf("%s%s", work->root, trust_bundles[i]);
        if (!path)
            return laz_error_nomem(err);
        if (trust_is_for_all(path, TRUST_BUNDLE, &look) && look.size) {
            const int rc = laz_os_read_file(path, TRUST_BUNDLE, &work->bundle, NULL);
            if (!rc && strstr(laz_buf_text(&work->bundle), TRUST_BEGIN)) {
                work->found->bundle = trust_bundles[i];
                are_left = false;
            } else {
                laz_buf_clear(&work->bundle);
            }
        }
        free(path);
    }
    if (work->bundle.len && work->bundle.data[work->bundle.len - 1] != '\n')
        laz_buf_putc(&work->bundle, '\n');
    laz_buf_puts(&work->bundle, proxy_authority_pem(work->authority));
    return work->bundle.failed ? laz_error_nomem(err) : 0;
}

/* ---- Java's -----------------------------------------------------------------------------------
 */

static void java_number(struct laz_buf *store, uint64_t value, unsigned bytes)
{
    while (bytes--)
        laz_buf_putc(store, (char)(unsigned char)(value >> (8 * bytes)));
}

static void java_text(struct laz_buf *store, const char *text)
{
    java_number(store, strlen(text), 2);
    laz_buf_puts(store, text);
}

static void java_certificate(struct laz_buf *store, size_t number, int64_t now_ms, const void *der,
                             size_t len)
{
    char *alias = laz_strdupf("lazaret-%zu", number);

    java_number(store, 2, 4); /* a certificate that is trusted */
    java_text(store, alias ? alias : "");
    java_number(store, (uint64_t)now_ms, 8);
    java_text(store, "X.509");
    java_number(store, len, 4);
    laz_buf_append(store, der, len);
    store->failed |= !alias;
    free(alias);
}

/* Appends those of a list, and counts them. What is no certificate is left out. */
static size_t java_certificates(struct laz_buf *store, const struct laz_buf *list, int64_t now_ms)
{
    const char *at = laz_buf_text(list), *end;
    size_t n = 0;

    for (; n < TRUST_LISTED && (at = strstr(at, TRUST_BEGIN)) && (end = strstr(at, TRUST_END));
         at = end + strlen(TRUST_END)) {
        const gnutls_datum_t pem = {(unsigned char *)(uintptr_t)at,
                                    (unsigned)(end - at + (ptrdiff_t)strlen(TRUST_END))};
        gnutls_datum_t der = {NULL, 0};
        if (gnutls_pem_base64_decode2("CERTIFICATE", &pem, &der) == 0 && der.size)
            java_certificate(store, ++n, now_ms, der.data, der.size);
        gnutls_free(der.data);
    }
    return n;
}

/* The digest that ends a store, of its password in UTF-16, of words that Java has chosen, and of
 * all that is in it. */
static int java_digest(struct laz_buf *store)
{
    static const char password[] = TRUST_PASSWORD, words[] = "Mighty Aphrodite";
    unsigned char digest[TRUST_DIGEST];
    gnutls_hash_hd_t hash;
    int failed = gnutls_hash_init(&hash, GNUTLS_DIG_SHA1);

    if (failed)
        return failed;
    for (size_t i = 0; i + 1 < sizeof password && !failed; i++) {
        const char wide[] = {0, password[i]};
        failed = gnutls_hash(hash, wide, sizeof wide);
    }
    if (!failed)
        failed = gnutls_hash(hash, words, sizeof words - 1);
    if (!failed)
        failed = gnutls_hash(hash, store->data, store->len);
    gnutls_hash_deinit(hash, digest);
    laz_buf_append(store, digest, sizeof digest);
    return failed;
}

/* Makes the store: a number, a version, how many certificates, each of them, the digest. */
static int trust_make_store(struct trust_work *work, struct laz_error *err)
{
    struct laz_buf certificates = LAZ_BUF_INIT;
    struct laz_look look;

    for (size_t i = 0; i < TRUST_COUNT(trust_java) && !work->found->has_java; i++) {
        char *path = laz_strdupf("%s%s", work->root, trust_java[i]);
        if (!path)
            return laz_error_nomem(err);
        work->found->has_java = laz_os_look(path, true, &look) == 0 && look.kind == LAZ_LOOK_FILE;
        free(path);
    }
    const size_t n = java_certificates(&certificates, &work->bundle, (int64_t)time(NULL) * 1000);
    int rc = certificates.failed ? laz_error_nomem(err) : 0;
    work->found->certificates = n - 1; /* the last one is ours */
    if (!rc && work->found->has_java) {
        java_number(&work->store, 0xfeedfeed, 4);
        java_number(&work->store, 2, 4);
        java_number(&work->store, n, 4);
        laz_buf_append(&work->store, laz_buf_text(&certificates), certificates.len);
        if (work->store.failed)
            rc = laz_error_nomem(err);
        else if (java_digest(&work->store))
            rc = laz_error_set(err, LAZ_EOS, 0,
                               "GnuTLS computes no SHA-1, which a store of "
                               "certificates of Java ends with");
        if (!rc && work->store.failed)
            rc = laz_error_nomem(err);
    }
    laz_buf_fini(&certificates);
    return rc;
}

/* ---- the directory ----------------------------------------------------------------------------
 */

static bool trust_is_whole(const char *name)
{
    for (size_t i = 0; i < TRUST_COUNT(trust_whole); i++)
        if (strcmp(name, trust_whole[i]) == 0)
            return true;
    return false;
}

/* Copies what the system has under a name: a link as it is, a file that all may read. */
static int trust_copy(struct trust_work *work, const char *from, const char *to,
                      struct laz_error *err)
{
    struct laz_buf content = LAZ_BUF_INIT;
    struct laz_look look;
    int rc = 0;

    if (laz_os_look(from, false, &look) != 0)
        return 0; /* it is gone */
    if (look.kind == LAZ_LOOK_LINK) {
        char *text = laz_os_link_text(from);
        const int failed = text ? laz_os_make_link(to, text) : 0;
        free(text);
        return failed ? laz_error_os(err, failed, "cannot create the link %s", to) : 0;
    }
    if (look.kind != LAZ_LOOK_FILE || !(look.mode & 0004))
        return 0; /* no list of authorities is elsewhere, but for Java's */
    if (look.size > TRUST_FILE || look.size > TRUST_FILES - work->copied ||
        laz_os_read_file(from, TRUST_FILE, &content, NULL)) {
        work->found->left_out++;
    } else {
        work->copied +=
            content.len < TRUST_FILES - work->copied ? content.len : TRUST_FILES - work->copied;
        rc = laz_os_write_file(to, laz_buf_text(&content), content.len, 0444, err);
    }
    laz_buf_fini(&content);
    return rc;
}

/* Copies these of a directory of the system. */
static int trust_copy_all(struct trust_work *work, const char *from, const char *to,
                          const struct laz_strv *names, struct laz_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < names->n && !rc; i++) {
        const char *name = names->items[i];
        if (strcmp(to, "certs") == 0 && (trust_is_whole(name) || strcmp(name, "java") == 0))
            continue; /* made anew */
        char *source = laz_strdupf("%s%s/%s", work->root, from, name);
        char *copy = laz_strdupf("%s/%s/%s", work->directory, to, name);
        rc = source && copy ? trust_copy(work, source, copy, err) : laz_error_nomem(err);
        free(source);
        free(copy);
    }
    return rc;
}

/* The names in a directory of the system; none, where it has no such directory. */
static int trust_list(struct trust_work *work, const char *directory, struct laz_strv *names,
                      struct laz_error *err)
{
    char *path = laz_strdupf("%s%s", work->root, directory);

    if (path && laz_os_list_some(path, TRUST_NAMES, names, NULL) == LAZ_ETOOBIG)
        work->found->left_out++;
    const bool is_well = path && !names->failed;
    free(path);
    return is_well ? 0 : laz_error_nomem(err);
}

/* Writes the authority to a directory, under the first number that no other certificate of its hash
 * has there. */
static int trust_add_own(const struct trust_work *work, const char *directory,
                         const struct laz_strv *names, struct laz_error *err)
{
    struct laz_buf pem = LAZ_BUF_INIT;
    char *name = NULL;
    int rc = 0;

    for (unsigned n = 0; !rc && (!name || laz_strv_has(names, name + strlen(directory) + 1)); n++) {
        free(name);
        name = laz_strdupf("%s/%s.%u", directory, proxy_authority_hash(work->authority), n);
        if (!name)
            rc = laz_error_nomem(err);
    }
    laz_buf_puts(&pem, proxy_authority_pem(work->authority));
    if (!rc)
        rc = pem.failed ? laz_error_nomem(err) : trust_file(work, name, &pem, err);
    laz_buf_fini(&pem);
    free(name);
    return rc;
}

static int trust_write_certs(struct trust_work *work, struct laz_error *err)
{
    struct laz_strv names = LAZ_STRV_INIT;
    int rc = trust_directory(work, "certs", err);

    if (!rc)
        rc = trust_list(work, TRUST_CERTS, &names, err);
    if (!rc)
        rc = trust_copy_all(work, TRUST_CERTS, "certs", &names, err);
    if (!rc)
        rc = trust_add_own(work, "certs", &names, err);
    for (size_t i = 0; i < TRUST_COUNT(trust_whole) && !rc; i++)
        if (i == 0 || laz_strv_has(&names, trust_whole[i])) {
            char *name = laz_strdupf("certs/%s", trust_whole[i]);
            rc = name ? trust_file(work, name, &work->bundle, err) : laz_error_nomem(err);
            free(name);
        }
    if (!rc && work->found->has_java)
        rc = trust_directory(work, "certs/java", err);
    if (!rc && work->found->has_java)
        rc = trust_file(work, "certs/java/cacerts", &work->store, err);
    laz_strv_fini(&names);
    return rc;
}

/* Those that the host has added, where p11-kit reads them. */
static int trust_write_anchors(struct trust_work *work, struct laz_error *err)
{
    struct laz_strv names = LAZ_STRV_INIT;
    const char *found = NULL;
    struct laz_look look;
    int rc = 0;

    for (size_t i = 0; i < TRUST_COUNT(trust_anchors) && !found && !rc; i++) {
        char *path = laz_strdupf("%s%s", work->root, trust_anchors[i]);
        if (!path)
            rc = laz_error_nomem(err);
        else if (laz_os_look(path, true, &look) == 0 && look.kind == LAZ_LOOK_DIRECTORY)
            found = trust_anchors[i];
        free(path);
    }
    if (rc || !found)
        return rc;
    rc = trust_directory(work, "anchors", err);
    if (!rc)
        rc = trust_list(work, found, &names, err);
    if (!rc)
        rc = trust_copy_all(work, found, "anchors", &names, err);
    if (!rc)
        rc = trust_add_own(work, "anchors", &names, err);
    laz_strv_fini(&names);
    return rc;
}

/* ---- the whole --------------------------------------------------------------------------------
 */

int proxy_trust_write(const struct proxy_authority *authority, const char *root,
                      const char *directory, struct proxy_trust *found, struct laz_error *err)
{
    struct trust_work work = {
        .authority = authority, .root = root, .directory = directory, .found = found};

    *found = (struct proxy_trust){0};
    int rc = trust_read_bundle(&work, err);
    if (!rc)
        rc = trust_make_store(&work, err);
    if (!rc)
        rc = trust_file(&work, "bundle.pem", &work.bundle, err);
    if (!rc)
        rc = trust_write_certs(&work, err);
    if (!rc)
        rc = trust_write_anchors(&work, err);
    if (!rc && found->has_java)
        rc = trust_file(&work, "cacerts", &work.store, err);
    laz_buf_fini(&work.bundle);
    laz_buf_fini(&work.store);
    return rc;
}
