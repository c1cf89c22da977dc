/* SPDX-License-Identifier: MIT */
/* js_modules.c - what parts/modules.js needs: the shape of a file's text, and the libraries of the
 * configuration.
 * Side: box.  Input trusted: no. */
#include "js.h"
#include "js_scan.h"

#include <stdlib.h>
#include <string.h>

static void scan_flag(JSContextRef context, JSObjectRef object, const char *name, bool value)
{
    js_set(context, object, name, JSValueMakeBoolean(context, value));
}

/* scan(text, 'module'): {text, isModule, hasAwait, unsure} of a module's file. */
JS_NATIVE(native_scan)
{
    JS_UNUSED;
    struct js_scan scan = {0};
    size_t len = 0;
    char *text = n ? js_text(context, arguments[0], &len, exception) : NULL;

    if (!text)
        return JSValueMakeUndefined(context);
    if (js_scan(text, len, JS_WANT_MODULE, &scan) != 0) {
        free(text);
        js_scan_fini(&scan);
        return js_throw(context, exception, "out of memory");
    }
    JSObjectRef result = JSObjectMake(context, NULL, NULL);
    js_set(context, result, "text",
           scan.text ? js_string(context, scan.text, scan.len) : arguments[0]);
    scan_flag(context, result, "isModule", scan.has_import || scan.has_export);
    scan_flag(context, result, "hasAwait", scan.has_await);
    scan_flag(context, result, "unsure", scan.unsure);
    js_scan_fini(&scan);
    free(text);
    return result;
}

/* libraries(): the files of runtime.javascript.libraries. */
JS_NATIVE(native_libraries)
{
    JS_UNUSED;
    JSObjectRef list = JSObjectMakeArray(context, 0, NULL, exception);

    for (unsigned i = 0; js_here->libraries && js_here->libraries[i]; i++) {
        const char *path = js_here->libraries[i];
        JSObjectSetPropertyAtIndex(context, list, i, js_string(context, path, strlen(path)),
                                   exception);
    }
    return list;
}

const struct js_native js_natives_modules[] = {
    {"scan", native_scan},
    {"libraries", native_libraries},
    {NULL, NULL},
};

int js_load_libraries(struct js_state *js, struct laz_error *err)
{
    JSValueRef exception = NULL;

    if (!js->libraries || !js->libraries[0] || js_call(js, JS_LIBRARIES, 0, NULL, &exception))
        return 0;
    char *why = exception ? js_text(js->context, exception, NULL, NULL) : NULL;
    laz_fail(err, LAZ_ECONFIG, "runtime.javascript.libraries: %s", why ? why : "unknown error");
    free(why);
    return LAZ_ECONFIG;
}
