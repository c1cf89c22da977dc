/* SPDX-License-Identifier: MIT */
/* js_parts.c - the texts of what is written in JavaScript. */
#include "js.h"

#include <string.h>

/* clang-format off */
#define PART(name) static const char part_##name[] =
PART(assert)
#include "parts/assert.inc"
;
PART(brands)
#include "parts/brands.inc"
;
PART(console)
#include "parts/console.inc"
;
PART(equal)
#include "parts/equal.inc"
;
PART(errors)
#include "parts/errors.inc"
;
PART(format)
#include "parts/format.inc"
;
PART(globals)
#include "parts/globals.inc"
;
PART(inspect)
#include "parts/inspect.inc"
;
PART(run)
#include "parts/run.inc"
;
PART(start)
#include "parts/start.inc"
;
PART(text)
#include "parts/text.inc"
;
PART(timers)
#include "parts/timers.inc"
;
PART(tools)
#include "parts/tools.inc"
;
PART(util)
#include "parts/util.inc"
;
PART(values)
#include "parts/values.inc"
;

const struct js_part js_parts[] = {
    {"assert", part_assert},
    {"brands", part_brands},
    {"console", part_console},
    {"equal", part_equal},
    {"errors", part_errors},
    {"format", part_format},
    {"globals", part_globals},
    {"inspect", part_inspect},
    {"run", part_run},
    {"start", part_start},
    {"text", part_text},
    {"timers", part_timers},
    {"tools", part_tools},
    {"util", part_util},
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
