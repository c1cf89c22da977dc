/* SPDX-License-Identifier: MIT */
/* place.c - whether a name is that of this machine.
 * Input trusted: no (headers). */
#include "base/place.h"

#include <string.h>
#include <strings.h>

bool laz_place_is_local(const char *host)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t len = strlen(names[i]);
        if (strncasecmp(host, names[i], len) != 0)
            continue;
        const char *port = host + len;
        return !*port || (*port == ':' && port[1] && !port[1 + strspn(port + 1, "0123456789")]);
    }
    return false;
}
