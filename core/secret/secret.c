/* SPDX-License-Identifier: MIT */
/* secret.c - the value of a secret, in memory of its own.
 *
 * A control character is refused: a newline in a header would begin another one.
 * Side: host.  Input trusted: yes (the host's own files and programs), but it may be a mistake. */
#include "secret/secret.h"

#include "os/secret_memory.h"

#include <string.h>

int laz_secret_new(const char *data, size_t len, struct laz_secret *secret, struct laz_error *err)
{
    *secret = (struct laz_secret){NULL, 0, 0};
    if (len && data[len - 1] == '\n') {
        len--;
        len -= len && data[len - 1] == '\r';
    }
    if (!len)
        return laz_error_set(err, LAZ_EINVAL, 0, "it is empty");
    if (len > LAZ_SECRET_MAX)
        return laz_error_set(err, LAZ_EINVAL, 0, "it has more than %zu bytes", LAZ_SECRET_MAX);
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)data[i] < ' ' || data[i] == 0x7f)
            return laz_error_set(err, LAZ_EINVAL, 0,
                                 "it has a control character (a secret is one line)");
    secret->data = laz_os_secret_new(len + 1);
    if (!secret->data)
        return laz_error_nomem(err);
    memcpy(secret->data, data, len);
    secret->len = len;
    secret->room = len + 1;
    return 0;
}

void laz_secret_fini(struct laz_secret *secret)
{
    laz_os_secret_free(secret->data, secret->room);
    *secret = (struct laz_secret){NULL, 0, 0};
}
