/* SPDX-License-Identifier: MIT */
/* js_parts.c - the texts of what is written in JavaScript. */
#include "js.h"

#include <string.h>

/* clang-format off */
#define PART(name) static const char part_##name[] =
PART(globals)
#include "parts/globals.inc"
;
PART(run)
#include "parts/run.inc"
;
PART(start)
#include "parts/start.inc"
;
PART(timers)
#include "parts/timers.inc"
;
PART(tools)
#include "parts/tools.inc"
;
PART(values)
#include "parts/values.inc"
;

const struct js_part js_parts[] = {
    {"globals", part_globals},
    {"run", part_run},
    {"start", part_start},
    {"timers", part_timers},
    {"tools", part_tools},
    {"values", part_values},
    {NULL, NULL},
};
/* clang-format on */

const struct js_part *js_part_find(const char *name)
{
    for (const struct js_part *part = js_parts; part->name; part++)
        if (strcmp(part->name, name) == 0)
            return part;
    return NULL;
}
