/* SPDX-License-Identifier: MIT */
/* host_port.c - HOST:PORT taken apart. */
#include "base/host_port.h"

#include <stdlib.h>
#include <string.h>

bool laz_host_port(const char *text, char host[LAZ_HOST_MAX + 1], uint16_t *port)
{
    const char *colon = strrchr(text, ':');
    const size_t before = colon ? (size_t)(colon - text) : 0;
    const bool is_six = before > 2 && *text == '[' && colon[-1] == ']';
    const size_t len = before - 2 * is_six, digits = colon ? strlen(colon + 1) : 0;

    if (!before || len > LAZ_HOST_MAX || !digits || digits > 5 ||
        strspn(colon + 1, "0123456789") != digits || strtoul(colon + 1, NULL, 10) > UINT16_MAX ||
        (!is_six && (memchr(text, ':', before) || memchr(text, '[', before))) ||
        memchr(text, '/', before))
        return false;
    memcpy(host, text + is_six, len);
    host[len] = '\0';
    *port = (uint16_t)strtoul(colon + 1, NULL, 10);
    return true;
}
