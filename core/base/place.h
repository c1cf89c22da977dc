/* SPDX-License-Identifier: MIT */
/* place.h - whether a name is that of this machine. */
#ifndef LAZ_BASE_PLACE_H
#define LAZ_BASE_PLACE_H

#include <stdbool.h>

/* Is the value of a header Host, a name with a port or without, this machine? Pages of the network
 * have others, even where a name of theirs leads here. */
bool laz_place_is_local(const char *host);

#endif
