/* SPDX-License-Identifier: MIT */
/* policy_trust.c - shows a box the lists of authorities of a trust directory in place of the
 * host's. Side: host.  Input trusted: yes (the directory is the engine's own; paths of this host).
 *
 * Each path under which a program may look for such a list is covered where the box shows it, and
 * so is the file to which it leads, since a program may take that way as well.  A mount follows
 * links, and those of a directory of the host would lead out of the file system that is being made:
 * so in such a directory only real paths are covered. */
#include "plan/policy_private.h"

#include "base/path.h"
#include "os/files.h"
#include "os/paths.h"
#include "plan/programs.h"

#include <stdlib.h>
#include <string.h>

/* Where programs look, and what of the trust directory they find there. Directories come first:
 * what lies in one is not covered again. */
static const struct trust_row {
    const char *path, *file;
} trust_rows[] = {
    {"/etc/ssl/certs", "certs"},
    {"/etc/pki/ca-trust/source/anchors", "anchors"},          /* Fedora, RHEL: p11-kit */
    {"/etc/ca-certificates/trust-source/anchors", "anchors"}, /* Arch */
    {"/etc/ssl/cert.pem", "bundle.pem"},                      /* Alpine, Fedora */
    {"/etc/ssl/ca-bundle.pem", "bundle.pem"},                 /* SUSE */
    {"/var/lib/ca-certificates/ca-bundle.pem", "bundle.pem"}, /* the same */
    {"/etc/pki/tls/cert.pem", "bundle.pem"},                  /* Fedora, RHEL */
    {"/etc/pki/tls/certs/ca-bundle.crt", "bundle.pem"},       /* the same */
    {"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "bundle.pem"},
    {"/etc/ca-certificates/extracted/tls-ca-bundle.pem", "bundle.pem"}, /* Arch */
    {"/etc/ssl/certs/java/cacerts", "cacerts"},                         /* Debian */
    {"/etc/pki/java/cacerts", "cacerts"},                               /* Fedora, RHEL */
    {"/etc/pki/ca-trust/extracted/java/cacerts", "cacerts"},            /* the same */
    {"/etc/ca-certificates/extracted/java-cacerts.jks", "cacerts"},     /* Arch */
    {"/var/lib/ca-certificates/java-cacerts", "cacerts"},               /* SUSE */
};

/* Variables that name a list. Some of these programs have one of their own, and read no other
 * without the variable. */
static const char *const trust_variables[] = {
    "SSL_CERT_FILE", /* OpenSSL, Go, Ruby, httpx, uv */
    "NIX_SSL_CERT_FILE",
    "CURL_CA_BUNDLE",     /* curl, R */
    "REQUESTS_CA_BUNDLE", /* of Python, and conda */
    "PIP_CERT",
    "HTTPLIB2_CA_CERTS", /* of Python */
    "AWS_CA_BUNDLE",
    "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE", /* gcloud */
    "GIT_SSL_CAINFO",
    "NODE_EXTRA_CA_CERTS", /* npm, too */
    "YARN_HTTPS_CA_FILE_PATH",
    "DENO_CERT",
    "CARGO_HTTP_CAINFO",
    "PERL_LWP_SSL_CA_FILE",
    "BUNDLE_SSL_CA_CERT", /* Ruby */
    "COMPOSER_CAFILE",    /* PHP */
    "HEX_CACERTS_PATH",   /* Elixir */
    "JULIA_SSL_CA_ROOTS_PATH",
};

const char *laz_policy_trust_variable(size_t n)
{
    return n < sizeof trust_variables / sizeof trust_variables[0] ? trust_variables[n] : NULL;
}

/* Does a path of the settings stand for this one, so that it has no mount of its own? */
static bool trust_is_covered(const struct laz_policy_paths *paths,
                             const struct laz_policy_path *path)
{
    for (size_t i = 0; path->rank <= LAZ_POLICY_RUNTIME && i < paths->n; i++)
        if (paths->items[i].from_settings && laz_path_is_within(path->box, paths->items[i].box))
            return true;
    return false;
}

/* The innermost path of the list that shows `path`, or a directory of it; NULL: the box has no such
 * file. `itself`: it may be the path. */
static const struct laz_policy_path *trust_around(const struct laz_policy_paths *paths,
                                                  const char *path, bool itself)
{
    const struct laz_policy_path *around = NULL;
    size_t most = 0;

    for (size_t i = 0; i < paths->n; i++) {
        const struct laz_policy_path *one = &paths->items[i];
        const size_t len = strlen(one->box);
        if (one->kind == LAZ_PATH_CONTENT || one->kind == LAZ_PATH_SYMLINK || len < most ||
            !(itself ? laz_path_is_within(path, one->box) : laz_path_is_below(path, one->box)) ||
            (around && len == most && one->rank < around->rank) || trust_is_covered(paths, one))
            continue;
        around = one;
        most = len;
    }
    return around;
}

static void trust_add(const char *directory, struct laz_policy_paths *paths, const char *file,
                      const char *box)
{
    const struct laz_policy_path path = {.kind = LAZ_PATH_READ, .rank = LAZ_POLICY_OWN};
    char *host = laz_strdupf("%s/%s", directory, file);

    if (host)
        laz_policy_paths_add(paths, path, host, box);
    else
        paths->failed = true;
    free(host);
}

/* Has the /etc of the box, which was staged, a copy of this file? */
static bool trust_is_staged(const struct laz_policy_session *session, const char *path)
{
    const struct laz_programs *programs = session->staged ? session->programs : NULL;

    return programs && !programs->any && laz_programs_has_etc(programs, path);
}

/* Covers a path, where the box shows it and a mount on it stays there. `is_real`: no link leads
 * from it. */
static void trust_put(const struct laz_policy_session *session, struct laz_policy_paths *paths,
                      const char *path, bool is_real, const char *file)
{
    const struct laz_policy_path *around = trust_around(paths, path, true);
    const struct laz_policy_path *above = trust_around(paths, path, false);

    if (!around || laz_path_is_within(around->host, session->trust))
        return;
    const bool is_mount = strcmp(around->box, path) == 0;
    const bool is_of_host = above && strcmp(above->host, above->box) == 0;
    if (is_of_host ? is_real : is_mount || trust_is_staged(session, path))
        trust_add(session->trust, paths, file, path);
}

void laz_policy_trust_at(const struct laz_policy_session *session, bool here,
                         struct laz_policy_paths *paths, const char *path, const char *file)
{
    char *real = here ? laz_os_real_path(path) : laz_strdup(path);

    if (real) { /* there is something */
        const bool is_real = strcmp(real, path) == 0;
        trust_put(session, paths, path, is_real, file);
        if (!is_real)
            trust_put(session, paths, real, true, file);
    }
    free(real);
}

void laz_policy_trust(const struct laz_policy_session *session, bool here,
                      struct laz_policy_paths *paths)
{
    struct laz_look look;
    /* it is only being shown otherwise */
    const bool is_made = here && session->trust && laz_os_look(session->trust, true, &look) == 0;

    for (size_t i = 0; session->trust && i < sizeof trust_rows / sizeof trust_rows[0]; i++) {
        const struct trust_row *row = &trust_rows[i];
        char *host = laz_strdupf("%s/%s", session->trust, row->file);
        paths->failed |= !host;
        if (host && (!is_made || laz_os_look(host, true, &look) == 0))
            laz_policy_trust_at(session, here, paths, row->path, row->file);
        free(host);
    }
    if (session->trust)
        trust_add(session->trust, paths, "bundle.pem", LAZ_BOX_CERTIFICATES);
}
