/* SPDX-License-Identifier: MIT */
/* host_port.h - HOST:PORT, where an address of version 6 is in brackets. */
#ifndef LAZ_BASE_HOST_PORT_H
#define LAZ_BASE_HOST_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAZ_HOST_MAX 255

/* Takes `text` apart. False: it is not of that form, or the host has more than LAZ_HOST_MAX bytes.
 * Whether the host exists, or is a name at all, is another question. */
bool laz_host_port(const char *text, char host[LAZ_HOST_MAX + 1], uint16_t *port);

#endif
