/* SPDX-License-Identifier: MIT */
/* js_parts.c - the texts of what is written in JavaScript. */
#include "js.h"

#include <string.h>

/* clang-format off */
#define PART(name) static const char part_##name[] =
PART(child_process)
#include "parts/child_process.inc"
;
PART(failures)
#include "parts/failures.inc"
;
PART(fs)
#include "parts/fs.inc"
;
PART(fs_streams)
#include "parts/fs_streams.inc"
;
PART(globals)
#include "parts/globals.inc"
;
PART(modules)
#include "parts/modules.inc"
;
PART(path)
#include "parts/path.inc"
;
PART(process)
#include "parts/process.inc"
;
PART(run)
#include "parts/run.inc"
;
PART(start)
#include "parts/start.inc"
;
PART(stream)
#include "parts/stream.inc"
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
    {"child_process", part_child_process},
    {"failures", part_failures},
    {"fs", part_fs},
    {"fs_streams", part_fs_streams},
    {"globals", part_globals},
    {"modules", part_modules},
    {"path", part_path},
    {"process", part_process},
    {"run", part_run},
    {"start", part_start},
    {"stream", part_stream},
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
