/* SPDX-License-Identifier: MIT */
/* credential.c - the credentials that the engine has told of, and their secrets.
 * Side: proxy.  Input trusted: yes (the engine's settings).
 *
 * The secret and what was made of it are in memory that no dump has, since this process has none
 * (os/confine.h), and are wiped when they are replaced. */
#include "proxy/proxy_private.h"

#include "os/descriptors.h"
#include "os/io.h"

#include <stdlib.h>
#include <string.h>

#define CREDENTIAL_AUTHORITIES ((size_t)4 << 20) /* bytes of a file of them */

void proxy_credential_hold(struct proxy_credential *credential)
{
    credential->holders++;
}

/* What was sent once may be in an answer still, when there is another one. */
static void credential_remember(struct proxy_credential *credential)
{
    proxy_pattern_drop(credential->former[PROXY_FORMER - 1]);
    for (size_t i = PROXY_FORMER - 1; i > 0; i--)
        credential->former[i] = credential->former[i - 1];
    credential->former[0] = proxy_pattern_hold(credential->pattern);
}

static void credential_forget(struct proxy_credential *credential)
{
    if (credential->secret)
        laz_wipe(credential->secret, credential->secret_len);
    free(credential->secret);
    proxy_pattern_drop(credential->pattern);
    free(credential->why);
    credential->secret = credential->why = NULL;
    credential->pattern = NULL;
    credential->secret_len = 0;
}

void proxy_credential_drop(struct proxy_credential *credential)
{
    if (!credential || --credential->holders)
        return;
    credential_forget(credential);
    for (size_t i = 0; i < PROXY_FORMER; i++)
        proxy_pattern_drop(credential->former[i]);
    free(credential->title);
    free(credential->field);
    free(credential->before);
    free(credential->after);
    free(credential->user);
    free(credential->query);
    free(credential->placeholder);
    laz_strv_fini(&credential->methods);
    laz_strv_fini(&credential->paths);
    if (credential->x509)
        gnutls_certificate_free_credentials(credential->x509);
    free(credential);
}

static int credential_authorities(struct proxy_credential *credential, int fd,
                                  struct laz_error *err)
{
    struct laz_buf text = LAZ_BUF_INIT;
    char piece[8192];
    ssize_t n;
    int rc = gnutls_certificate_allocate_credentials(&credential->x509) ? laz_error_nomem(err) : 0;

    while (!rc && text.len < CREDENTIAL_AUTHORITIES &&
           (n = laz_os_read(fd, piece, sizeof piece)) > 0)
        laz_buf_append(&text, piece, (size_t)n);
    if (!rc && text.failed)
        rc = laz_error_nomem(err);
    if (!rc) {
        const gnutls_datum_t pem = {(unsigned char *)text.data, (unsigned)text.len};
        if (!text.len ||
            gnutls_certificate_set_x509_trust_mem(credential->x509, &pem, GNUTLS_X509_FMT_PEM) <= 0)
            rc = laz_error_set(err, LAZ_ECONFIG, 0, "its file of authorities has no certificate");
    }
    laz_buf_fini(&text);
    return rc;
}

static char *credential_text(const char *text, bool *failed)
{
    char *copy = laz_strdup(text);

    *failed |= text && !copy;
    return copy;
}

static void credential_texts(const struct laz_strv *from, struct laz_strv *to, bool *failed)
{
    for (size_t i = 0; i < from->n; i++)
        laz_strv_add(to, from->items[i]);
    *failed |= to->failed;
}

int proxy_credential_new(const struct proxy_note *note, int ca, struct proxy_credential **made,
                         struct laz_error *err)
{
    struct proxy_credential *credential = calloc(1, sizeof *credential);
    bool failed = !credential;
    int rc = 0;

    if (credential) {
        *credential = (struct proxy_credential){
            .id = note->credential,
            .holders = 1,
            .title = credential_text(note->title ? note->title : "", &failed),
            .field = credential_text(note->field, &failed),
            .before = credential_text(note->before ? note->before : "", &failed),
            .after = credential_text(note->after ? note->after : "", &failed),
            .user = credential_text(note->user, &failed),
            .query = credential_text(note->query, &failed),
            .placeholder = credential_text(note->placeholder, &failed),
            .only = note->only,
            .echo = note->echo,
        };
        credential_texts(&note->methods, &credential->methods, &failed);
        credential_texts(&note->paths, &credential->paths, &failed);
    }
    if (failed)
        rc = laz_error_nomem(err);
    else if (ca >= 0)
        rc = credential_authorities(credential, ca, err);
    laz_os_close(&ca);
    if (rc)
        proxy_credential_drop(credential);
    *made = rc ? NULL : credential;
    return rc;
}

int proxy_credential_set(struct proxy_credential *credential, const char *secret, size_t len,
                         const char *why)
{
    credential->is_asked = false;
    if (secret && credential->secret && len == credential->secret_len &&
        memcmp(secret, credential->secret, len) == 0) {
        free(credential->why);
        credential->why = NULL;
        return 0;
    }
    if (credential->pattern)
        credential_remember(credential);
    credential_forget(credential);
    if (!secret || !len || len > LAZ_PROXY_SECRET) {
        credential->why = laz_strdup(why && *why ? why : "there is none");
        return credential->why ? 0 : LAZ_ENOMEM;
    }
    credential->secret = malloc(len);
    if (!credential->secret)
        return LAZ_ENOMEM;
    memcpy(credential->secret, secret, len);
    credential->secret_len = len;
    if (!credential->echo && !(credential->pattern = proxy_pattern_new(secret, len))) {
        credential_forget(credential);
        return LAZ_ENOMEM;
    }
    return 0;
}
