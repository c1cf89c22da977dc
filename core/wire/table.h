/* SPDX-License-Identifier: MIT */
/* table.h - the protocol as data: messages, their members, and the objects inside of them.
 *
 * The other rooms need message.h only. */
#ifndef LAZ_WIRE_TABLE_H
#define LAZ_WIRE_TABLE_H

#include "wire/message.h"

enum laz_wire_direction { LAZ_WIRE_TO_HOST, LAZ_WIRE_TO_AGENT };

struct laz_wire_row {
    const char *type; /* NULL: it has none, and is known by that */
    enum laz_wire_direction direction;
    uint32_t states;   /* in which it is legal */
    const char *legal; /* the same in words */
    struct laz_fields object;
};

extern const struct laz_wire_row laz_wire_table[LAZ_MESSAGE_TYPES];

#endif
