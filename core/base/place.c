/* SPDX-License-Identifier: MIT */
/* place.c - HOST:PORT as a text, and whether it is this machine.
 * Input trusted: no (headers). */
#include "base/place.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool laz_place_read(const char *text, struct laz_place_name *place)
{
    const char *colon = strrchr(text, ':');

    *place = (struct laz_place_name){.port = 0};
    if (!colon || (size_t)(colon - text) >= sizeof place->host || !colon[1] ||
        colon[1 + strspn(colon + 1, "0123456789")] || strlen(colon + 1) > 5 ||
        strtoul(colon + 1, NULL, 10) > UINT16_MAX)
        return false;
    place->is_six = colon > text + 1 && *text == '[' && colon[-1] == ']';
    memcpy(place->host, text + place->is_six, (size_t)(colon - text) - 2 * place->is_six);
    place->port = (uint16_t)strtoul(colon + 1, NULL, 10);
    return true;
}

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
