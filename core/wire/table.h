/* SPDX-License-Identifier: MIT */
/* table.h - the protocol as data: messages, their members, and the objects inside of them.
 *
 * The other rooms need message.h only. */
#ifndef LAZ_WIRE_TABLE_H
#define LAZ_WIRE_TABLE_H

#include "wire/message.h"

extern const struct laz_wire_row laz_wire_table[LAZ_MESSAGE_TYPES];
extern const struct laz_wire_protocol laz_wire_agent; /* the same */

#endif
