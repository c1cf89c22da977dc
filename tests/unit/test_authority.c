/* SPDX-License-Identifier: MIT */
/* test_authority.c - the authority of an engine, its certificates, and the files by which boxes
 * accept it.  GnuTLS checks the chains, openssl(1) and keytool(1) as well where they are installed.
 */
#include "unit.h"

#include "os/directories.h"
#include "os/files.h"
#include "proxy/authority.h"

#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define N(array) (sizeof(array) / sizeof *(array))

static char base[] = "/tmp/laz-test-authority-XXXXXX"; /* removed by main */

static const char *in_base(const char *name)
{
    static char paths[8][256];
    static unsigned next;
    char *path = paths[next++ % N(paths)];

    snprintf(path, sizeof paths[0], "%s/%s", base, name);
    return path;
}

static struct proxy_authority *authority_new(void)
{
    struct proxy_authority *authority = NULL;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL_FATAL(proxy_authority_new(&authority, &err), 0);
    return authority;
}

static struct proxy_leaf *leaf_of(struct proxy_authority *authority, const char *name)
{
    struct proxy_leaf *leaf = NULL;
    struct laz_error err = {0};

    CU_ASSERT_EQUAL_FATAL(proxy_authority_leaf(authority, name, &leaf, &err), 0);
    return leaf;
}

/* The certificate of a leaf, in PEM; the caller frees it. */
static char *leaf_pem(const struct proxy_leaf *leaf)
{
    gnutls_x509_crt_t *list = NULL;
    gnutls_datum_t pem = {NULL, 0};
    unsigned n = 0;

    CU_ASSERT_EQUAL_FATAL(gnutls_certificate_get_x509_crt(leaf->x509, 0, &list, &n), 0);
    CU_ASSERT_EQUAL_FATAL(n, 1);
    CU_ASSERT_EQUAL_FATAL(gnutls_x509_crt_export2(list[0], GNUTLS_X509_FMT_PEM, &pem), 0);
    gnutls_x509_crt_deinit(list[0]);
    gnutls_free(list);
    char *text = strdup((char *)pem.data);
    gnutls_free(pem.data);
    return text;
}

/* 0, or what GnuTLS has against the chain of these two for that name. */
static unsigned verified(const char *authority, const char *leaf, const char *name)
{
    const gnutls_datum_t texts[] = {
        {(unsigned char *)(uintptr_t)authority, (unsigned)strlen(authority)},
        {(unsigned char *)(uintptr_t)leaf, (unsigned)strlen(leaf)}};
    gnutls_typed_vdata_st data[] = {
        {.type = GNUTLS_DT_DNS_HOSTNAME, .data = (unsigned char *)(uintptr_t)name},
        {.type = GNUTLS_DT_KEY_PURPOSE_OID,
         .data = (unsigned char *)(uintptr_t)GNUTLS_KP_TLS_WWW_SERVER}};
    gnutls_x509_trust_list_t list;
    gnutls_x509_crt_t certificate;
    unsigned status = ~0u;

    gnutls_x509_trust_list_init(&list, 0);
    gnutls_x509_crt_init(&certificate);
    CU_ASSERT_EQUAL(
        gnutls_x509_trust_list_add_trust_mem(list, &texts[0], NULL, GNUTLS_X509_FMT_PEM, 0, 0), 1);
    CU_ASSERT_EQUAL(gnutls_x509_crt_import(certificate, &texts[1], GNUTLS_X509_FMT_PEM), 0);
    CU_ASSERT_EQUAL(gnutls_x509_trust_list_verify_crt2(list, &certificate, 1, data, N(data),
                                                       GNUTLS_VERIFY_DO_NOT_ALLOW_SAME, &status,
                                                       NULL),
                    0);
    gnutls_x509_crt_deinit(certificate);
    gnutls_x509_trust_list_deinit(list, 1);
    return status;
}

/* Runs a command of the shell and gives its exit status and what it has written. */
static int run(char *output, size_t size, const char *command)
{
    FILE *pipe = popen(command, "r");
    size_t len = pipe ? fread(output, 1, size - 1, pipe) : 0;

    output[len] = '\0';
    while (pipe && fgetc(pipe) != EOF)
        continue;
    return pipe ? pclose(pipe) : -1;
}

static bool is_installed(const char *program)
{
    char command[128], output[256];

    snprintf(command, sizeof command, "command -v %s", program);
    return run(output, sizeof output, command) == 0 || !unit_skip(program, "it is not installed");
}

static void write_text(const char *path, const char *text)
{
    (void)unlink(path);
    CU_ASSERT_EQUAL_FATAL(laz_os_write_file(path, text, strlen(text), 0644, NULL), 0);
}

/* The longest name: labels of 62 bytes, and "org". */
static const char *long_name(void)
{
    static char name[PROXY_NAME_MAX + 1];

    for (size_t i = 0; i < PROXY_NAME_MAX - 4; i++)
        name[i] = i % 63 == 62 ? '.' : 'a';
    memcpy(name + PROXY_NAME_MAX - 4, ".org", 5);
    return name;
}

/* ---- certificates ---------------------------------------------------------------------------- */

static void a_leaf_is_verified_for_its_name_alone(void)
{
    const char *const names[] = {"api.example.com", "localhost",       "xn--bcher-kva.example",
                                 "a-b.1c.d2",       "API.Example.ORG", long_name()};
    struct proxy_authority *authority = authority_new(), *other = authority_new();

    for (size_t i = 0; i < N(names); i++) {
        struct proxy_leaf *leaf = leaf_of(authority, names[i]);
        char *pem = leaf_pem(leaf);
        CU_ASSERT_EQUAL(verified(proxy_authority_pem(authority), pem, names[i]), 0);
        CU_ASSERT(verified(proxy_authority_pem(authority), pem, "other.example.com") &
                  GNUTLS_CERT_UNEXPECTED_OWNER);
        CU_ASSERT(verified(proxy_authority_pem(other), pem, names[i]) & GNUTLS_CERT_INVALID);
        free(pem);
        proxy_leaf_drop(leaf);
    }
    proxy_authority_free(authority);
    proxy_authority_free(other);
}

static void openssl_verifies_it_strictly(void)
{
    struct proxy_authority *authority = authority_new();
    struct proxy_leaf *leaf = leaf_of(authority, "api.example.com"),
                      *far = leaf_of(authority, long_name());
    char *pem = leaf_pem(leaf), *far_pem = leaf_pem(far);
    char command[1024], output[1024];

    write_text(in_base("ca.pem"), proxy_authority_pem(authority));
    write_text(in_base("leaf.pem"), pem);
    write_text(in_base("far.pem"), far_pem);
    if (is_installed("openssl")) {
        snprintf(command, sizeof command,
                 "openssl verify -x509_strict -purpose sslserver -verify_hostname api.example.com "
                 "-CAfile %s %s 2>&1",
                 in_base("ca.pem"), in_base("leaf.pem"));
        CU_ASSERT_EQUAL(run(output, sizeof output, command), 0);
        snprintf(
            command, sizeof command,
            "openssl verify -x509_strict -purpose sslserver -verify_hostname %s -CAfile %s %s 2>&1",
            long_name(), in_base("ca.pem"), in_base("far.pem"));
        CU_ASSERT_EQUAL(run(output, sizeof output, command), 0);
        snprintf(command, sizeof command,
                 "openssl verify -x509_strict -verify_hostname b.example.com -CAfile %s %s 2>&1",
                 in_base("ca.pem"), in_base("leaf.pem"));
        CU_ASSERT_NOT_EQUAL(run(output, sizeof output, command), 0);
        /* nor does a leaf sign anything */
        snprintf(command, sizeof command, "openssl verify -x509_strict -CAfile %s %s 2>&1",
                 in_base("leaf.pem"), in_base("far.pem"));
        CU_ASSERT_NOT_EQUAL(run(output, sizeof output, command), 0);
        snprintf(command, sizeof command, "openssl x509 -noout -hash -in %s", in_base("ca.pem"));
        CU_ASSERT_EQUAL(run(output, sizeof output, command), 0);
        output[strcspn(output, "\n")] = '\0';
        UNIT_TEXT(proxy_authority_hash(authority), output);
    }
    free(pem);
    free(far_pem);
    proxy_leaf_drop(leaf);
    proxy_leaf_drop(far);
    proxy_authority_free(authority);
}

static void what_is_no_name_gets_no_certificate(void)
{
    char too_long[PROXY_NAME_MAX + 2];
    const char *const wrong[] = {
        "",
        ".",
        "a..b",
        ".a",
        "a.",
        "-a.example",
        "a-.example",
        "a_b.example",
        "*.example",
        "10.0.0.1",
        "a b",
        "a/b",
        "a:443",
        "[::1]",
        "::1",
        "b\xc3\xbc"
        "cher.example",
        "a\n.example",
        "1.2.3.04",
        too_long,
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.org"};
    struct proxy_authority *authority = authority_new();
    struct proxy_leaf *leaf = NULL;

    memcpy(too_long, "b", 1);
    memcpy(too_long + 1, long_name(), PROXY_NAME_MAX + 1);
    for (size_t i = 0; i < N(wrong); i++) {
        struct laz_error err = {0};
        CU_ASSERT_EQUAL(proxy_authority_leaf(authority, wrong[i], &leaf, &err), LAZ_EINVAL);
        CU_ASSERT_PTR_NULL(leaf);
        CU_ASSERT_PTR_NULL(strstr(err.text, "example")); /* it is the other side's text */
    }
    proxy_leaf_drop(leaf_of(authority, long_name())); /* one byte less is right */
    proxy_authority_free(authority);
}

static void leaves_are_kept_as_long_as_they_are_used(void)
{
    struct proxy_authority *authority = authority_new();
    struct proxy_leaf *first = leaf_of(authority, "first.example"), *again, *held;
    char name[32];

    again = leaf_of(authority, "FIRST.example");
    CU_ASSERT_PTR_EQUAL(again, first);
    CU_ASSERT_EQUAL(first->holders, 3);
    proxy_leaf_drop(again);
    held = leaf_of(authority, "held.example");
    for (unsigned i = 0; i < PROXY_LEAVES_MAX - 1; i++) {
        snprintf(name, sizeof name, "n%u.example", i);
        proxy_leaf_drop(leaf_of(authority, name));
        proxy_leaf_drop(leaf_of(authority, "first.example")); /* the latest use */
    }
    CU_ASSERT_EQUAL(held->holders, 1); /* of the cache no more; first.example still is */
    CU_ASSERT_EQUAL(first->holders, 2);
    again = leaf_of(authority, "first.example");
    CU_ASSERT_PTR_EQUAL(again, first);
    proxy_leaf_drop(again);
    again = leaf_of(authority, "held.example");
    CU_ASSERT_PTR_NOT_EQUAL(again, held);
    proxy_authority_free(authority); /* what is held stays */
    char *pem = leaf_pem(held);
    CU_ASSERT(pem && *pem);
    free(pem);
    proxy_leaf_drop(first);
    proxy_leaf_drop(again);
    proxy_leaf_drop(held);
    proxy_leaf_drop(NULL);
}

static void an_old_leaf_is_made_anew(void)
{
    struct proxy_authority *authority = authority_new();
    struct proxy_leaf *leaf = leaf_of(authority, "old.example"), *later;

    leaf->made_s -= 31 * 24 * 60 * 60;
    later = leaf_of(authority, "old.example");
    CU_ASSERT_PTR_NOT_EQUAL(later, leaf);
    CU_ASSERT_EQUAL(leaf->holders, 1);
    proxy_leaf_drop(leaf);
    proxy_leaf_drop(later);
    proxy_authority_free(authority);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Makes directories, with those above them. */
static void make_directories(const char *path)
{
    char copy[512];

    snprintf(copy, sizeof copy, "%s", path);
    for (char *slash = strchr(copy + strlen(base) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(copy, 0755);
        *slash = '/';
    }
    CU_ASSERT(mkdir(copy, 0755) == 0);
}

static char *text_of(const char *path)
{
    struct laz_buf text = LAZ_BUF_INIT;

    if (laz_os_read_file(path, (size_t)1 << 24, &text, NULL))
        laz_buf_fini(&text);
    char *copy = laz_strdup(laz_buf_text(&text));
    laz_buf_fini(&text);
    return copy;
}

static unsigned mode_of(const char *path)
{
    struct laz_look look = {0};

    CU_ASSERT_EQUAL(laz_os_look(path, false, &look), 0);
    return look.mode;
}

static void trust_of(const struct proxy_authority *authority, const char *root,
                     const char *directory, struct proxy_trust *found)
{
    struct laz_error err = {0};

    CU_ASSERT_EQUAL_FATAL(mkdir(in_base(directory), 0755), 0);
    CU_ASSERT_EQUAL(
        proxy_trust_write(authority, *root ? in_base(root) : "", in_base(directory), found, &err),
        0);
    UNIT_TEXT(err.text, "");
}

/* A file of a host below `root`; in turns. */
static const char *in_certs(const char *root, const char *name)
{
    char path[128];

    snprintf(path, sizeof path, "%s/etc/ssl/certs/%s", root, name);
    return in_base(path);
}

/* A host with one certificate of its own: that of `other`. */
static void make_host(const char *root, const struct proxy_authority *other)
{
    make_directories(in_certs(root, "java"));
    write_text(in_certs(root, "ca-certificates.crt"), proxy_authority_pem(other));
    write_text(in_certs(root, "own.pem"), proxy_authority_pem(other));
    write_text(in_certs(root, "private.pem"), "a key of somebody");
    CU_ASSERT_EQUAL(chmod(in_certs(root, "private.pem"), 0640), 0);
    write_text(in_certs(root, "java/cacerts"), "");
    CU_ASSERT_EQUAL(symlink("own.pem", in_certs(root, "12345678.0")), 0);
    CU_ASSERT_EQUAL(symlink("/usr/share/nothing.crt", in_certs(root, "far.pem")), 0);
}

static void a_box_is_shown_the_list_of_the_host_and_ours(void)
{
    struct proxy_authority *authority = authority_new(), *other = authority_new();
    struct proxy_trust found;
    char own[64];

    make_host("debian", other);
    umask(077); /* the modes are those that are said */
    trust_of(authority, "debian", "debian-trust", &found);
    umask(022);
    UNIT_TEXT(found.bundle, "/etc/ssl/certs/ca-certificates.crt");
    CU_ASSERT_EQUAL(found.certificates, 1);
    CU_ASSERT_EQUAL(found.left_out, 0);
    CU_ASSERT(found.has_java);
    char *both = laz_strdupf("%s%s", proxy_authority_pem(other), proxy_authority_pem(authority));
    char *bundle = text_of(in_base("debian-trust/bundle.pem"));
    char *crt = text_of(in_base("debian-trust/certs/ca-certificates.crt"));
    UNIT_TEXT(bundle, both);
    UNIT_TEXT(crt, both);
    snprintf(own, sizeof own, "debian-trust/certs/%s.0", proxy_authority_hash(authority));
    char *hashed = text_of(in_base(own));
    UNIT_TEXT(hashed, proxy_authority_pem(authority));
    char *link = laz_os_link_text(in_base("debian-trust/certs/12345678.0"));
    char *far = laz_os_link_text(in_base("debian-trust/certs/far.pem"));
    char *copied = text_of(in_base("debian-trust/certs/own.pem"));
    UNIT_TEXT(link, "own.pem");
    UNIT_TEXT(far, "/usr/share/nothing.crt");
    UNIT_TEXT(copied, proxy_authority_pem(other));
    CU_ASSERT(access(in_base("debian-trust/certs/private.pem"), F_OK) != 0);
    static const char *const files[] = {"bundle.pem", "cacerts", "certs/ca-certificates.crt",
                                        "certs/own.pem", "certs/java/cacerts"};
    for (size_t i = 0; i < N(files); i++) {
        char name[64];
        snprintf(name, sizeof name, "debian-trust/%s", files[i]);
        CU_ASSERT_EQUAL(mode_of(in_base(name)), 0444);
    }
    CU_ASSERT_EQUAL(mode_of(in_base("debian-trust/certs")), 0755);
    CU_ASSERT_EQUAL(mode_of(in_base("debian-trust/certs/java")), 0755);
    free(both);
    free(bundle);
    free(crt);
    free(hashed);
    free(link);
    free(far);
    free(copied);
    proxy_authority_free(authority);
    proxy_authority_free(other);
}

static void a_number_that_is_taken_is_left_alone(void)
{
    struct proxy_authority *authority = authority_new();
    struct proxy_trust found;
    char name[128];

    make_host("taken", authority);
    snprintf(name, sizeof name, "taken/etc/ssl/certs/%s.0", proxy_authority_hash(authority));
    CU_ASSERT_EQUAL(symlink("own.pem", in_base(name)), 0);
    trust_of(authority, "taken", "taken-trust", &found);
    snprintf(name, sizeof name, "taken-trust/certs/%s.0", proxy_authority_hash(authority));
    char *before = laz_os_link_text(in_base(name));
    UNIT_TEXT(before, "own.pem");
    snprintf(name, sizeof name, "taken-trust/certs/%s.1", proxy_authority_hash(authority));
    char *own = text_of(in_base(name));
    UNIT_TEXT(own, proxy_authority_pem(authority));
    free(before);
    free(own);
    proxy_authority_free(authority);
}

static void a_host_without_a_list_has_ours_alone(void)
{
    struct proxy_authority *authority = authority_new();
    struct proxy_trust found;

    make_directories(in_base("bare/etc"));
    trust_of(authority, "bare", "bare-trust", &found);
    CU_ASSERT_PTR_NULL(found.bundle);
    CU_ASSERT_EQUAL(found.certificates, 0);
    CU_ASSERT_FALSE(found.has_java);
    char *bundle = text_of(in_base("bare-trust/bundle.pem"));
    UNIT_TEXT(bundle, proxy_authority_pem(authority));
    CU_ASSERT(access(in_base("bare-trust/cacerts"), F_OK) != 0);
    CU_ASSERT(access(in_base("bare-trust/anchors"), F_OK) != 0);
    CU_ASSERT(access(in_base("bare-trust/certs/ca-certificates.crt"), R_OK) == 0);
    free(bundle);
    proxy_authority_free(authority);
}

/* Fedora's: /etc/ssl/certs is a link to a directory of links, and the list is elsewhere. */
static void lists_are_found_where_other_systems_have_them(void)
{
    struct proxy_authority *authority = authority_new(), *other = authority_new();
    struct proxy_trust found;
    char name[128];

    make_directories(in_base("fedora/etc/pki/tls/certs"));
    make_directories(in_base("fedora/etc/pki/ca-trust/extracted/pem"));
    make_directories(in_base("fedora/etc/pki/ca-trust/extracted/java"));
    make_directories(in_base("fedora/etc/ssl"));
    write_text(in_base("fedora/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem"),
               proxy_authority_pem(other));
    write_text(in_base("fedora/etc/pki/ca-trust/extracted/java/cacerts"), "");
    CU_ASSERT_EQUAL(symlink("../pki/tls/certs", in_base("fedora/etc/ssl/certs")), 0);
    CU_ASSERT_EQUAL(symlink("/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
                            in_base("fedora/etc/pki/tls/certs/ca-bundle.crt")),
                    0);
    make_directories(in_base("fedora/etc/pki/ca-trust/source/anchors"));
    write_text(in_base("fedora/etc/pki/ca-trust/source/anchors/ca-bundle.crt"), "added");
    trust_of(authority, "fedora", "fedora-trust", &found);
    snprintf(name, sizeof name, "fedora-trust/anchors/%s.0", proxy_authority_hash(authority));
    char *anchor = text_of(in_base(name));
    char *added = text_of(in_base("fedora-trust/anchors/ca-bundle.crt"));
    UNIT_TEXT(anchor, proxy_authority_pem(authority));
    UNIT_TEXT(added, "added");
    free(anchor);
    free(added);
    UNIT_TEXT(found.bundle, "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem");
    CU_ASSERT(found.has_java);
    char *both = laz_strdupf("%s%s", proxy_authority_pem(other), proxy_authority_pem(authority));
    char *bundle = text_of(in_base("fedora-trust/certs/ca-bundle.crt"));
    UNIT_TEXT(bundle, both);
    free(both);
    free(bundle);
    proxy_authority_free(authority);
    proxy_authority_free(other);
}

static void what_is_too_large_is_left_out(void)
{
    struct proxy_authority *authority = authority_new();
    struct proxy_trust found;

    make_host("large", authority);
    write_text(in_base("large/etc/ssl/certs/large.pem"), "");
    CU_ASSERT_EQUAL(truncate(in_base("large/etc/ssl/certs/large.pem"), ((off_t)1 << 20) + 1), 0);
    CU_ASSERT_EQUAL(
        truncate(in_base("large/etc/ssl/certs/ca-certificates.crt"), ((off_t)8 << 20) + 1), 0);
    trust_of(authority, "large", "large-trust", &found);
    CU_ASSERT_EQUAL(found.left_out, 1);
    CU_ASSERT_PTR_NULL(found.bundle);
    CU_ASSERT(access(in_base("large-trust/certs/large.pem"), F_OK) != 0);
    CU_ASSERT(access(in_base("large-trust/certs/own.pem"), F_OK) == 0);
    proxy_authority_free(authority);
}

static void java_reads_its_store(void)
{
    struct proxy_authority *authority = authority_new(), *other = authority_new();
    struct proxy_trust found;
    char command[512], output[4096];

    make_host("java", other);
    trust_of(authority, "java", "java-trust", &found);
    if (is_installed("keytool")) {
        snprintf(command, sizeof command, "keytool -list -storepass changeit -keystore %s 2>&1",
                 in_base("java-trust/cacerts"));
        CU_ASSERT_EQUAL(run(output, sizeof output, command), 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(output, "contains 2 entries"));
        /* a store that was changed is refused */
        char *store =
            in_base("java-trust/cacerts") ? laz_strdup(in_base("java-trust/cacerts")) : NULL;
        CU_ASSERT_EQUAL(chmod(store, 0644), 0);
        FILE *file = fopen(store, "r+b");
        CU_ASSERT_PTR_NOT_NULL_FATAL(file);
        CU_ASSERT(fseek(file, -1, SEEK_END) == 0);
        const int last = fgetc(file);
        CU_ASSERT(fseek(file, -1, SEEK_END) == 0);
        CU_ASSERT(fputc(last ^ 1, file) != EOF);
        CU_ASSERT(fclose(file) == 0);
        CU_ASSERT_NOT_EQUAL(run(output, sizeof output, command), 0);
        free(store);
    }
    proxy_authority_free(authority);
    proxy_authority_free(other);
}

static void openssl_finds_it_in_the_directory(void)
{
    struct proxy_authority *authority = authority_new();
    struct proxy_trust found;
    struct proxy_leaf *leaf = leaf_of(authority, "api.example.com");
    char *pem = leaf_pem(leaf);
    char command[1024], output[1024];

    trust_of(authority, "", "this-trust", &found); /* of this system */
    write_text(in_base("leaf.pem"), pem);
    if (is_installed("openssl")) {
        snprintf(command, sizeof command,
                 "openssl verify -x509_strict -no-CAfile -CApath %s %s 2>&1",
                 in_base("this-trust/certs"), in_base("leaf.pem"));
        CU_ASSERT_EQUAL(run(output, sizeof output, command), 0);
        snprintf(command, sizeof command,
                 "openssl verify -x509_strict -no-CAfile -CApath %s %s 2>&1", in_base("."),
                 in_base("leaf.pem"));
        CU_ASSERT_NOT_EQUAL(run(output, sizeof output, command), 0);
    }
    free(pem);
    proxy_leaf_drop(leaf);
    proxy_authority_free(authority);
}

static void a_directory_that_is_not_empty_is_an_error(void)
{
    struct proxy_authority *authority = authority_new();
    struct proxy_trust found;
    struct laz_error err = {0};

    make_directories(in_base("full/etc"));
    trust_of(authority, "full", "full-trust", &found);
    CU_ASSERT_EQUAL(
        proxy_trust_write(authority, in_base("full"), in_base("full-trust"), &found, &err),
        LAZ_EOS);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "bundle.pem"));
    proxy_authority_free(authority);
}

static const struct unit_test tests[] = {
    UNIT(a_leaf_is_verified_for_its_name_alone),
    UNIT(openssl_verifies_it_strictly),
    UNIT(what_is_no_name_gets_no_certificate),
    UNIT(leaves_are_kept_as_long_as_they_are_used),
    UNIT(an_old_leaf_is_made_anew),
    UNIT(a_box_is_shown_the_list_of_the_host_and_ours),
    UNIT(a_number_that_is_taken_is_left_alone),
    UNIT(a_host_without_a_list_has_ours_alone),
    UNIT(lists_are_found_where_other_systems_have_them),
    UNIT(what_is_too_large_is_left_out),
    UNIT(java_reads_its_store),
    UNIT(openssl_finds_it_in_the_directory),
    UNIT(a_directory_that_is_not_empty_is_an_error),
    {0},
};

int main(void)
{
    if (!mkdtemp(base) || chmod(base, 0755))
        return 1;
    const int status = unit_run("authority", tests);
    laz_os_remove_tree(base);
    return status;
}
