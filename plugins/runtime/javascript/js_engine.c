/* SPDX-License-Identifier: MIT */
/* js_engine.c - the engine: its start, texts and bytes, calls.
 * Side: box.  Input trusted: no. */
#include "js.h"

#include <jsc/jsc.h>

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct js_state *js_here;

/* ---- texts ----------------------------------------------------------------------------------- */

/* The next character of UTF-8; U+FFFD for a byte that begins none. */
static uint32_t text_next(const unsigned char **at, const unsigned char *end)
{
    const unsigned char *p = *at;
    const uint32_t first = *p;
    const unsigned n = first < 0x80 ? 0 : first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    uint32_t c = n ? first & (0x3fu >> n) : first;

    *at = p + 1;
    if (!n)
        return c;
    if (first < 0xc2 || first > 0xf4 || (size_t)(end - p) <= n)
        return 0xfffd;
    for (unsigned i = 1; i <= n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0xfffd;
        c = c << 6 | (p[i] & 0x3f);
    }
    if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0xfffd;
    *at = p + n + 1;
    return c;
}

/* Of text and of the engine's strings most is ASCII, which is copied in blocks. */
#define BLOCK 16

static bool block_is_ascii(const unsigned char *text)
{
    uint64_t first, second;

    memcpy(&first, text, sizeof first);
    memcpy(&second, text + sizeof first, sizeof second);
    return !((first | second) & 0x8080808080808080u);
}

static void block_widen(JSChar *restrict to, const unsigned char *restrict from)
{
    for (int i = 0; i < BLOCK; i++)
        to[i] = from[i];
}

static JSStringRef text_long_ref(const char *text, size_t len)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + len;
    JSChar *units = malloc((len + 1) * sizeof *units);
    size_t n = 0;

    if (!units)
        return JSStringCreateWithCharacters(NULL, 0);
    while (at < end) {
        if (end - at >= BLOCK && block_is_ascii(at)) {
            block_widen(units + n, at);
            at += BLOCK, n += BLOCK;
            continue;
        }
        uint32_t c = text_next(&at, end);
        if (c >= 0x10000) {
            units[n++] = (JSChar)(0xd7c0 + (c >> 10));
            c = 0xdc00 | (c & 0x3ff);
        }
        units[n++] = (JSChar)c;
    }
    JSStringRef string = JSStringCreateWithCharacters(units, n);
    free(units);
    return string;
}

#define SHORT_TEXT 256

/* The engine's own conversion of UTF-8 gives strings with a byte for each character where it can,
 * which are faster to read; itself it is slow. It ends at a NUL, and of what is not UTF-8 it makes
 * an empty string. */
JSStringRef js_string_ref(const char *text, size_t len)
{
    char copy[SHORT_TEXT];

    if (len == 0 || len >= sizeof copy || memchr(text, '\0', len))
        return text_long_ref(text, len);
    memcpy(copy, text, len);
    copy[len] = '\0';
    JSStringRef string = JSStringCreateWithUTF8CString(copy);
    if (JSStringGetLength(string))
        return string;
    JSStringRelease(string);
    return text_long_ref(text, len);
}

JSValueRef js_string(JSContextRef context, const char *text, size_t len)
{
    JSStringRef string = js_string_ref(text, len);
    JSValueRef value = JSValueMakeString(context, string);

    JSStringRelease(string);
    return value;
}

JSValueRef js_number(JSContextRef context, double number)
{
    return JSValueMakeNumber(context, number);
}

static char *text_put(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    } else {
        *to++ = (char)(0xf0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    return to;
}

static bool block_of_ascii(const JSChar *units)
{
    uint64_t all[BLOCK / 4];

    memcpy(all, units, sizeof all);
    return !((all[0] | all[1] | all[2] | all[3]) & 0xff80ff80ff80ff80u);
}

static void block_narrow(char *restrict to, const JSChar *restrict from)
{
    for (int i = 0; i < BLOCK; i++)
        to[i] = (char)from[i];
}

char *js_wide_text_of(JSStringRef string, bool keeps_lone, size_t *len)
{
    const size_t n = JSStringGetLength(string);
    const JSChar *units = n ? JSStringGetCharactersPtr(string) : NULL;
    char *text = n < SIZE_MAX / 3 - 1 ? malloc(3 * n + 1) : NULL, *to = text;

    if (!text)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        for (; n - i >= BLOCK && block_of_ascii(units + i); i += BLOCK, to += BLOCK)
            block_narrow(to, units + i);
        if (i == n)
            break;
        uint32_t c = units[i];
        if (c >= 0xd800 && c < 0xdc00 && i + 1 < n && units[i + 1] >= 0xdc00 &&
            units[i + 1] < 0xe000)
            c = 0x10000 + ((c - 0xd800) << 10) + (units[++i] - 0xdc00u);
        else if (c >= 0xd800 && c < 0xe000 && !keeps_lone)
            c = 0xfffd;
        to = text_put(to, c);
    }
    *to = '\0';
    if (len)
        *len = (size_t)(to - text);
    char *fitting = realloc(text, (size_t)(to - text) + 1);
    return fitting ? fitting : text;
}

char *js_text_of(JSStringRef string, size_t *len)
{
    return js_wide_text_of(string, false, len);
}

char *js_text(JSContextRef context, JSValueRef value, size_t *len, JSValueRef *exception)
{
    JSStringRef string = JSValueToStringCopy(context, value, exception);
    char *text = string ? js_text_of(string, len) : NULL;

    if (string && !text)
        js_throw(context, exception, "out of memory");
    if (string)
        JSStringRelease(string);
    return text;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

bool js_bytes(JSContextRef context, JSValueRef value, void **data, size_t *len)
{
    JSTypedArrayType type = JSValueGetTypedArrayType(context, value, NULL);
    JSObjectRef object = (JSObjectRef)(uintptr_t)value;

    if (type == kJSTypedArrayTypeNone)
        return false;
    if (type == kJSTypedArrayTypeArrayBuffer) {
        /* That of a WebAssembly.Memory has a length, but its bytes are not given. */
        *data = JSObjectGetArrayBufferBytesPtr(context, object, NULL);
        *len = *data ? JSObjectGetArrayBufferByteLength(context, object, NULL) : 0;
        return true;
    }
    /* The pointer of a typed array is that of its buffer (JSTypedArray.h). */
    char *base = JSObjectGetTypedArrayBytesPtr(context, object, NULL);
    *data = base ? base + JSObjectGetTypedArrayByteOffset(context, object, NULL) : NULL;
    *len = base ? JSObjectGetTypedArrayByteLength(context, object, NULL) : 0;
    return true;
}

static void bytes_free(void *data, void *context)
{
    (void)context;
    free(data);
}

JSValueRef js_new_bytes(JSContextRef context, void *data, size_t len, JSValueRef *exception)
{
    JSValueRef bytes = JSObjectMakeTypedArrayWithBytesNoCopy(context, kJSTypedArrayTypeUint8Array,
                                                             data ? data : malloc(1), len,
                                                             bytes_free, NULL, exception);

    return bytes ? bytes : JSValueMakeUndefined(context);
}

/* ---- objects --------------------------------------------------------------------------------- */

JSValueRef js_throw(JSContextRef context, JSValueRef *exception, const char *format, ...)
{
    char message[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    JSValueRef text = js_string(context, message, strlen(message));
    JSValueRef error = JSObjectMakeError(context, 1, &text, NULL);
    if (exception)
        *exception = error;
    return JSValueMakeUndefined(context);
}

JSValueRef js_get(JSContextRef context, JSObjectRef object, const char *name)
{
    JSStringRef key = JSStringCreateWithUTF8CString(name);
    JSValueRef exception = NULL, value = JSObjectGetProperty(context, object, key, &exception);

    JSStringRelease(key);
    return exception ? NULL : value;
}

void js_set(JSContextRef context, JSObjectRef object, const char *name, JSValueRef value)
{
    JSStringRef key = JSStringCreateWithUTF8CString(name);

    JSObjectSetProperty(context, object, key, value, kJSPropertyAttributeNone, NULL);
    JSStringRelease(key);
}

double js_argument(JSContextRef context, size_t n, const JSValueRef arguments[], size_t i,
                   double otherwise)
{
    if (i >= n || !JSValueIsNumber(context, arguments[i]))
        return otherwise;
    return JSValueToNumber(context, arguments[i], NULL);
}

/* ---- calls ----------------------------------------------------------------------------------- */

JSValueRef js_evaluate(struct js_state *js, const char *text, size_t len, const char *name,
                       JSValueRef *exception)
{
    JSStringRef script = js_string_ref(text, len);
    JSStringRef url = js_string_ref(name, strlen(name));
    JSValueRef value = JSEvaluateScript(js->context, script, NULL, url, 1, exception);

    JSStringRelease(url);
    JSStringRelease(script);
    return value;
}

static const struct {
    const char *part, *name;
} engine_functions[JS_FUNCTIONS] = {
    [JS_DEFINE] = {"run", "define"},       [JS_FOLLOW] = {"run", "follow"},
    [JS_OUTCOME] = {"run", "outcome"},     [JS_DESCRIBE] = {"run", "describe"},
    [JS_TEXT] = {"run", "text"},           [JS_BEGIN] = {"run", "begin"},
    [JS_ENDING] = {"run", "ending"},       [JS_FINISH] = {"run", "finish"},
    [JS_REJECTED] = {"run", "rejected"},   [JS_WHERE] = {"run", "where"},
    [JS_RENEW] = {"run", "renew"},         [JS_WRITE] = {"values", "writeResult"},
    [JS_TIMERS] = {"timers", "run"},       [JS_CLEAR] = {"timers", "clear"},
    [JS_TOOLS] = {"tools", "define"},      [JS_SETTLE] = {"tools", "settle"},
    [JS_ABANDON] = {"tools", "abandon"},   [JS_LIBRARIES] = {"libraries", "load"},
    [JS_PROGRAM] = {"surface", "program"}, [JS_STRIP] = {"typescript", "strip"},
};

static JSObjectRef engine_function(struct js_state *js, enum js_function which,
                                   JSValueRef *exception)
{
    const char *part = engine_functions[which].part;

    if (js->functions[which])
        return js->functions[which];
    JSValueRef name = js_string(js->context, part, strlen(part));
    JSValueRef exports =
        JSObjectCallAsFunction(js->context, js->internal, NULL, 1, &name, exception);
    if (!exports)
        return NULL;
    JSValueRef function =
        js_get(js->context, (JSObjectRef)(uintptr_t)exports, engine_functions[which].name);
    if (!function || !JSValueIsObject(js->context, function)) {
        js_throw(js->context, exception, "%s%s has no %s", JS_PART_NAME, part,
                 engine_functions[which].name);
        return NULL;
    }
    JSValueProtect(js->context, function);
    return js->functions[which] = (JSObjectRef)(uintptr_t)function;
}

JSValueRef js_call(struct js_state *js, enum js_function which, size_t n,
                   const JSValueRef arguments[], JSValueRef *exception)
{
    JSValueRef dropped = NULL;
    JSObjectRef function = engine_function(js, which, exception ? exception : &dropped);

    if (!function)
        return NULL;
    return JSObjectCallAsFunction(js->context, function, NULL, n, arguments,
                                  exception ? exception : &dropped);
}

/* ---- the start ------------------------------------------------------------------------------- */

/* "start: message (line 3)" */
static int engine_error(struct js_state *js, JSValueRef exception, const char *what,
                        struct laz_error *err)
{
    char *text = exception ? js_text(js->context, exception, NULL, NULL) : NULL;
    JSValueRef stack = exception && JSValueIsObject(js->context, exception)
                           ? js_get(js->context, (JSObjectRef)(uintptr_t)exception, "stack")
                           : NULL;
    char *where = stack ? js_text(js->context, stack, NULL, NULL) : NULL;

    laz_fail(err, LAZ_ESETUP, "javascript: %s: %s (%.*s)", what, text ? text : "unknown error",
             where ? (int)strcspn(where, "\n") : 0, where ? where : "");
    free(where);
    free(text);
    return LAZ_ESETUP;
}

int js_look_up(struct js_state *js, struct laz_error *err)
{
    JSValueRef exception = NULL;

    for (int i = 0; i < JS_FUNCTIONS; i++)
        if (!engine_function(js, (enum js_function)i, &exception))
            return engine_error(js, exception, "its start", err);
    return 0;
}

static void engine_add_natives(struct js_state *js, const struct js_native *natives)
{
    for (; natives->name; natives++) {
        JSStringRef name = JSStringCreateWithUTF8CString(natives->name);
        js_set(js->context, js->native, natives->name,
               JSObjectMakeFunctionWithCallback(js->context, name, natives->call));
        JSStringRelease(name);
    }
}

/* Memory that the engine takes the machine to have. It only says how much garbage may be there
 * before it is collected: by the machine's own size that is more than a session's limit. */
#define ENGINE_MEMORY (256u << 20)

/* What is made before it is first looked for garbage, and at least between two such searches. Each
 * goes through all that is alive, the parts among it; the engine's own value is 1 MiB. */
#define ENGINE_CYCLE (8u << 20)

/* The collector and the compilers work on the main thread, so that a process that has done nothing
 * for a while has no other thread and can be copied. */
static void engine_set_options(const struct js_state *js)
{
    jsc_options_set_boolean("useConcurrentGC", FALSE);
    jsc_options_set_boolean("useConcurrentJIT", FALSE);
    jsc_options_set_uint("numberOfGCMarkers", 1);
    jsc_options_set_size("forceRAMSize", ENGINE_MEMORY);
    jsc_options_set_uint("smallHeapSize", ENGINE_CYCLE);
    if (!js->has_jit)
        jsc_options_set_boolean(JSC_OPTIONS_USE_JIT, FALSE);
}

/* The language of toLocaleString() and Intl: for the locale "C" the engine takes en-US, as node
 * does, but for "C.UTF-8", which it does not know, a language without separators that sorts by
 * bytes. */
static void engine_set_language(void)
{
    const char *locale = setlocale(LC_CTYPE, NULL);

    if (locale && (strncmp(locale, "C.", 2) == 0 || strncmp(locale, "POSIX.", 6) == 0))
        setlocale(LC_CTYPE, "C");
}

/* Exported, but in no header: the function is called for a promise that was rejected when nobody
 * had asked for it and the jobs have run. */
void JSGlobalContextSetUnhandledRejectionCallback(JSGlobalContextRef context, JSObjectRef function,
                                                  JSValueRef *exception);

int js_engine_start(struct js_state *js, struct laz_error *err)
{
    static const struct js_native *const tables[] = {
        js_natives_base,    js_natives_loop,   js_natives_digest,  js_natives_encode,
        js_natives_eval,    js_natives_fetch,  js_natives_files,   js_natives_inspect,
        js_natives_modules, js_natives_output, js_natives_process, js_natives_spawn,
        js_natives_tools};
    const struct js_part *start = js_part_find("start");
    JSValueRef exception = NULL;

    engine_set_options(js);
    engine_set_language();
    js->group = JSContextGroupCreate();
    js->context = JSGlobalContextCreateInGroup(js->group, NULL);
    if (!js->context)
        return laz_fail(err, LAZ_ESETUP, "javascript: the engine does not start");
    js->native = JSObjectMake(js->context, NULL, NULL);
    JSValueProtect(js->context, js->native);
    /* No function that code puts on a prototype is called with it as `this`. */
    JSObjectSetPrototype(js->context, js->native, JSValueMakeNull(js->context));
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        engine_add_natives(js, tables[i]);
    JSValueRef make =
        js_evaluate(js, start->text, strlen(start->text), JS_PART_NAME "start", &exception);
    const JSValueRef native = js->native;
    JSValueRef internal = make ? JSObjectCallAsFunction(js->context, (JSObjectRef)(uintptr_t)make,
                                                        NULL, 1, &native, &exception)
                               : NULL;
    if (!internal)
        return engine_error(js, exception, "its start", err);
    JSValueProtect(js->context, internal);
    js->internal = (JSObjectRef)(uintptr_t)internal;
    JSObjectRef rejected = engine_function(js, JS_REJECTED, &exception);
    if (!rejected)
        return engine_error(js, exception, "its start", err);
    JSGlobalContextSetUnhandledRejectionCallback(js->context, rejected, &exception);
    return 0;
}

void js_engine_stop(struct js_state *js)
{
    /* The process ends; to take the engine apart costs more than it gives. */
    js->context = NULL;
}
