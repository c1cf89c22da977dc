/* SPDX-License-Identifier: MIT */
/* js_parts.c - the texts of what is written in JavaScript. */
#include "js.h"

#include <string.h>

/* clang-format off */
#define PART(name) static const char part_##name[] =
PART(buffer)
#include "parts/buffer.inc"
;
PART(clone)
#include "parts/clone.inc"
;
PART(crypto)
#include "parts/crypto.inc"
;
PART(encoding)
#include "parts/encoding.inc"
;
PART(errors)
#include "parts/errors.inc"
;
PART(events)
#include "parts/events.inc"
;
PART(exception)
#include "parts/exception.inc"
;
PART(globals)
#include "parts/globals.inc"
;
PART(idn)
#include "parts/idn.inc"
;
PART(os)
#include "parts/os.inc"
;
PART(performance)
#include "parts/performance.inc"
;
PART(querystring)
#include "parts/querystring.inc"
;
PART(run)
#include "parts/run.inc"
;
PART(start)
#include "parts/start.inc"
;
PART(string_decoder)
#include "parts/string_decoder.inc"
;
PART(timers)
#include "parts/timers.inc"
;
PART(timers_promises)
#include "parts/timers_promises.inc"
;
PART(tools)
#include "parts/tools.inc"
;
PART(url)
#include "parts/url.inc"
;
PART(url_module)
#include "parts/url_module.inc"
;
PART(values)
#include "parts/values.inc"
;

const struct js_part js_parts[] = {
    {"buffer", part_buffer},
    {"clone", part_clone},
    {"crypto", part_crypto},
    {"encoding", part_encoding},
    {"errors", part_errors},
    {"events", part_events},
    {"exception", part_exception},
    {"globals", part_globals},
    {"idn", part_idn},
    {"os", part_os},
    {"performance", part_performance},
    {"querystring", part_querystring},
    {"run", part_run},
    {"start", part_start},
    {"string_decoder", part_string_decoder},
    {"timers", part_timers},
    {"timers_promises", part_timers_promises},
    {"tools", part_tools},
    {"url", part_url},
    {"url_module", part_url_module},
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
