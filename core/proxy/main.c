/* SPDX-License-Identifier: MIT */
/* main.c - lazaret-proxy: starts, reads what it needs, and confines itself.
 *
 * It is started by an engine that has credentials, and by lazaret doctor (server.c); people do not
 * start it. */
#include "proxy/proxy_private.h"

#include "os/confine.h"
#include "os/streams.h"

#include <stdio.h>
#include <string.h>

/* The authorities of this system. A GnuTLS that was made for another system looks elsewhere than
 * here; then they are those of the list that boxes accept. None: no server is accepted. */
static int main_system(struct proxy *proxy, const char *bundle, struct laz_error *err)
{
    if (gnutls_certificate_allocate_credentials(&proxy->system) != 0)
        return laz_error_nomem(err);
    if (gnutls_certificate_set_x509_system_trust(proxy->system) <= 0 && bundle)
        (void)gnutls_certificate_set_x509_trust_file(proxy->system, bundle, GNUTLS_X509_FMT_PEM);
    return 0;
}

static int main_begin(struct proxy *proxy, const char *directory, struct laz_error *err)
{
    struct proxy_trust found;
    int rc = laz_loop_new(&proxy->loop, err);

    if (!rc)
        rc = proxy_authority_new(&proxy->authority, err);
    if (!rc)
        rc = proxy_trust_write(proxy->authority, "", directory, &found, err);
    if (!rc)
        rc = main_system(proxy, found.bundle, err);
    if (!rc)
        rc = proxy_control_begin(proxy, err);
    if (!rc)
        rc = proxy_hands_new(proxy->loop, &proxy->hands, err);
    return rc ? rc : laz_os_confine_helper(err);
}

int main(int argc, char **argv)
{
    static struct proxy proxy;
    struct laz_error err = {0};

    const bool answers = argc == 3 && strcmp(argv[1], PROXY_ANSWER) == 0;

    if ((argc != 2 && !answers) || !laz_os_secure_streams()) {
        fputs("lazaret-proxy is a part of lazaret, for [[network.credential]].\n", stderr);
        return 2;
    }
    if (answers)
        return proxy_server(argv[2]);
    const int rc = main_begin(&proxy, argv[1], &err);
    const struct proxy_note note = {.text = err.text};
    if (!proxy_tell(rc ? PROXY_FAILED : PROXY_READY, &note) || rc)
        return 1;
    while (!proxy.is_over)
        laz_loop_step(proxy.loop, LAZ_LOOP_FOREVER);
    return 0; /* what is open ends with the process */
}
