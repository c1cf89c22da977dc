/* SPDX-License-Identifier: MIT */
/* place.h - HOST:PORT as a text, and whether it is this machine. */
#ifndef LAZ_BASE_PLACE_H
#define LAZ_BASE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

struct laz_place_name {
    char host[64]; /* without brackets */
    uint16_t port;
    bool is_six; /* it was in brackets: an address of version 6 */
};

/* HOST:PORT, where an address of version 6 is in brackets. The host is not looked at. False: it is
 * not of that form. */
bool laz_place_read(const char *text, struct laz_place_name *place);
/* Is the value of a header Host, a name with a port or without, this machine? Pages of the network
 * have others, even where a name of theirs leads here. */
bool laz_place_is_local(const char *host);

#endif
