/* SPDX-License-Identifier: MIT */
/* js_parts.c - the texts of what is written in JavaScript. The build makes the table of the files
 * that module.am lists. */
#include "js.h"

#include <string.h>

/* clang-format off */
#define PART(name) static const char part_##name[] =
PART(sucrase)
#include "sucrase.inc"
;
#include "table.inc"
/* clang-format on */

const struct js_part *js_part_find(const char *name)
{
    for (const struct js_part *part = js_parts; part->name; part++)
        if (strcmp(part->name, name) == 0)
            return part;
    return NULL;
}
