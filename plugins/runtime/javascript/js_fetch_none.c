/* SPDX-License-Identifier: MIT */
/* js_fetch_none.c - in place of js_fetch.c, where libcurl's header was not there at the build.
 * Side: box.  Input trusted: no. */
#include "js.h"

#include <errno.h>

bool js_fetch_open(const struct js_state *js)
{
    (void)js;
    return false;
}

void js_fetch_wait(struct js_state *js, int fd, int timeout_ms)
{
    (void)js;
    (void)fd;
    (void)timeout_ms;
}

void js_fetch_abandon(struct js_state *js)
{
    (void)js;
}

JS_NATIVE(fetch_start)
{
    JS_UNUSED;
    return js_number(context, -ELIBACC);
}

const struct js_native js_natives_fetch[] = {{"fetchStart", fetch_start}, {NULL, NULL}};
