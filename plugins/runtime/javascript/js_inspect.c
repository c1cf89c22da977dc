/* SPDX-License-Identifier: MIT */
/* js_inspect.c - what only the engine knows of proxies.
 * Side: box.  Input trusted: no.
 *
 * The library exports a function for it that is in none of its public headers. Of promises it has
 * none, so their state is not known. */
#include "js.h"

__attribute__((weak)) JSObjectRef JSObjectGetProxyTarget(JSObjectRef object);
/* proxyTarget(value): what is behind a proxy; undefined: it is none. */
JS_NATIVE(native_proxy_target)
{
    JS_UNUSED;
    JSObjectRef target = NULL;

    if (JSObjectGetProxyTarget && n && JSValueIsObject(context, arguments[0]))
        target = JSObjectGetProxyTarget((JSObjectRef)(uintptr_t)arguments[0]);
    return target ? target : JSValueMakeUndefined(context);
}

const struct js_native js_natives_inspect[] = {
    {"proxyTarget", native_proxy_target},
    {NULL, NULL},
};
