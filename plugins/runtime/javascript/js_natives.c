/* SPDX-License-Identifier: MIT */
/* js_natives.c - what parts need of the system and of the engine.
 * Side: box.  Input trusted: no. */
#include "js.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

/* now(): ms of a clock that never goes back, with fractions. */
JS_NATIVE(native_now)
{
    struct timespec now;

    JS_UNUSED;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return js_number(context, 1e3 * (double)now.tv_sec + (double)now.tv_nsec / 1e6);
}

/* random(bytes): fills a typed array, and returns it. */
JS_NATIVE(native_random)
{
    void *data;
    size_t len;

    JS_UNUSED;
    if (!n || !js_bytes(context, arguments[0], &data, &len))
        return js_throw(context, exception, "random(bytes)");
    size_t offset = 0;
    while (offset < len) {
        ssize_t got = getrandom((char *)data + offset, len - offset, 0);
        if (got <= 0)
            return js_throw(context, exception, "the system gives no random numbers");
        offset += (size_t)got;
    }
    return arguments[0];
}

/* part(name): the function of a part; undefined: there is none. */
JS_NATIVE(native_part)
{
    JS_UNUSED;
    char name[64] = JS_PART_NAME;
    char *text = n ? js_text(context, arguments[0], NULL, exception) : NULL;
    const struct js_part *part = text ? js_part_find(text) : NULL;

    free(text);
    if (!part)
        return JSValueMakeUndefined(context);
    static const char head[] = "(function (exports, internal, native) { 'use strict'; ";
    const size_t len = strlen(part->text);
    char *whole = malloc(sizeof head + len + 3);
    if (!whole)
        return js_throw(context, exception, "out of memory");
    memcpy(whole, head, sizeof head - 1);
    memcpy(whole + sizeof head - 1, part->text, len);
    memcpy(whole + sizeof head - 1 + len, "})", 3);
    strncat(name, part->name, sizeof name - strlen(name) - 1);
    JSValueRef value = js_evaluate(js_here, whole, sizeof head - 1 + len + 2, name, exception);
    free(whole);
    return value ? value : JSValueMakeUndefined(context);
}

/* hasPart(name) */
JS_NATIVE(native_has_part)
{
    JS_UNUSED;
    char *text = n ? js_text(context, arguments[0], NULL, exception) : NULL;
    const bool has = text && js_part_find(text);

    free(text);
    return JSValueMakeBoolean(context, has);
}

/* compile(text, file name): the value of a script. */
JS_NATIVE(native_compile)
{
    JS_UNUSED;
    size_t len;
    char *text = n > 1 ? js_text(context, arguments[0], &len, exception) : NULL;
    char *name = text ? js_text(context, arguments[1], NULL, exception) : NULL;
    JSValueRef value = name ? js_evaluate(js_here, text, len, name, exception) : NULL;

    free(name);
    free(text);
    return value ? value : JSValueMakeUndefined(context);
}

/* exit(status): the process ends. */
JS_NATIVE(native_exit)
{
    JS_UNUSED;
    js_flush(js_here);
    js_here->services->leave(js_here->services->agent,
                             (int)js_argument(context, n, arguments, 0, 0) & 0xff);
    return JSValueMakeUndefined(context);
}

/* fail(error): an error that no code has caught ends the execution. */
JS_NATIVE(native_fail)
{
    JS_UNUSED;
    if (!js_here->is_running || js_here->failed || !n)
        return JSValueMakeUndefined(context);
    JSValueProtect(context, arguments[0]);
    js_here->failed = arguments[0];
    return JSValueMakeUndefined(context);
}

/* bytesOf(text): its bytes in UTF-8, a lone surrogate as if it were a character (WTF-8). */
JS_NATIVE(native_bytes_of)
{
    JS_UNUSED;
    JSStringRef string = n ? JSValueToStringCopy(context, arguments[0], exception) : NULL;
    size_t len = 0;
    char *bytes = string ? js_wide_text_of(string, true, &len) : NULL;

    if (string)
        JSStringRelease(string);
    if (!bytes)
        return js_throw(context, exception, "out of memory");
    return js_new_bytes(context, bytes, len, exception);
}

/* collect(): a full collection, as Node's gc(). */
JS_NATIVE(native_collect)
{
    JS_UNUSED;
    JSGarbageCollect(context);
    return JSValueMakeUndefined(context);
}

const struct js_native js_natives_base[] = {
    {"now", native_now},         {"random", native_random},
    {"part", native_part},       {"hasPart", native_has_part},
    {"compile", native_compile}, {"exit", native_exit},
    {"fail", native_fail},       {"bytesOf", native_bytes_of},
    {"collect", native_collect}, {NULL, NULL},
};
