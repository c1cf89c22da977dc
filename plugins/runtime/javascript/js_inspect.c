/* SPDX-License-Identifier: MIT */
/* js_inspect.c - what only the engine knows of proxies and promises.
 * Side: box.  Input trusted: no.
 *
 * The public headers have nothing for it. The library exports a function of its private C header,
 * and two methods of promises in C++, which read two fields and nothing else. Where they are
 * missing, or where an object is not laid out as they are tried here, the natives know nothing. */
#include "js.h"

#define NATIVE(name)                                                                               \
    static JSValueRef name(JSContextRef context, JSObjectRef function, JSObjectRef this, size_t n, \
                           const JSValueRef arguments[], JSValueRef *exception)
#define UNUSED ((void)function, (void)this, (void)exception)

__attribute__((weak)) JSObjectRef JSObjectGetProxyTarget(JSObjectRef object);
/* JSC::JSPromise::status(VM &) const and result(VM &) const; neither uses the second argument. */
__attribute__((weak)) unsigned
inspect_status(const void *promise, void *vm) __asm__("_ZNK3JSC9JSPromise6statusERNS_2VME");
__attribute__((weak)) JSValueRef
inspect_result(const void *promise, void *vm) __asm__("_ZNK3JSC9JSPromise6resultERNS_2VME");

/* proxyTarget(value): what is behind a proxy; undefined: it is none. */
NATIVE(native_proxy_target)
{
    UNUSED;
    JSObjectRef target = NULL;

    if (JSObjectGetProxyTarget && n && JSValueIsObject(context, arguments[0]))
        target = JSObjectGetProxyTarget((JSObjectRef)(uintptr_t)arguments[0]);
    return target ? target : JSValueMakeUndefined(context);
}

/* The kind of an object of the engine, a byte of its header. */
#define KIND_OFFSET 5
static unsigned char inspect_kind(JSValueRef object)
{
    return ((const unsigned char *)object)[KIND_OFFSET];
}

static bool inspect_is_promise(JSContextRef context, JSValueRef value)
{
    if (sizeof(void *) != 8 || !inspect_status || !inspect_result || !value ||
        !JSValueIsObject(context, value))
        return false;
    JSObjectRef promise = JSObjectMakeDeferredPromise(context, NULL, NULL, NULL);
    JSObjectRef plain = JSObjectMake(context, NULL, NULL);
    return promise && plain && inspect_kind(promise) != inspect_kind(plain) &&
           inspect_kind(value) == inspect_kind(promise) && inspect_status(promise, NULL) == 0;
}

/* promiseState(value): 0 pending, 1 fulfilled, 2 rejected; -1: no promise, or not known. */
NATIVE(native_promise_state)
{
    UNUSED;
    const bool is_promise = n && inspect_is_promise(context, arguments[0]);

    return js_number(context, is_promise ? inspect_status(arguments[0], NULL) : -1.0);
}

/* promiseResult(value): what a promise was settled with; undefined: it is not. */
NATIVE(native_promise_result)
{
    UNUSED;
    if (!n || !inspect_is_promise(context, arguments[0]))
        return JSValueMakeUndefined(context);
    return inspect_result(arguments[0], NULL);
}

const struct js_native js_natives_inspect[] = {
    {"proxyTarget", native_proxy_target},
    {"promiseState", native_promise_state},
    {"promiseResult", native_promise_result},
    {NULL, NULL},
};
