/* SPDX-License-Identifier: MIT */
/* js_output.c - what the code prints.
 * Side: box.  Input trusted: no.
 *
 * It is collected, because code prints in many small pieces, and leaves in the order in which it
 * was printed: before the stream changes, before the code waits, and when there is much. */
#include "js.h"

#include <stdlib.h>
#include <string.h>

#define OUTPUT_MOST ((size_t)16 << 10)

void js_flush(struct js_state *js)
{
    const size_t len = js->out_len;

    js->out_len = 0;
    if (len)
        js->services->output(js->services->agent, js->out_stream, js->out, len);
}

void js_write(struct js_state *js, int stream, const char *text, size_t len)
{
    if (js->is_silent || !len)
        return;
    if (!js->out)
        js->out = malloc(OUTPUT_MOST);
    if (stream != js->out_stream || len > OUTPUT_MOST - js->out_len)
        js_flush(js);
    js->out_stream = stream;
    if (!js->out || len > OUTPUT_MOST) {
        js->services->output(js->services->agent, stream, text, len);
        return;
    }
    memcpy(js->out + js->out_len, text, len);
    js->out_len += len;
}

/* output(stream, text or bytes) */
JS_NATIVE(native_output)
{
    JS_UNUSED;
    const int stream = js_argument(context, n, arguments, 0, 1) == 2 ? 2 : 1;
    void *data;
    size_t len;

    if (n < 2)
        return JSValueMakeUndefined(context);
    if (js_bytes(context, arguments[1], &data, &len)) {
        js_write(js_here, stream, data, len);
        return JSValueMakeUndefined(context);
    }
    char *text = js_text(context, arguments[1], &len, exception);
    if (text)
        js_write(js_here, stream, text, len);
    free(text);
    return JSValueMakeUndefined(context);
}

/* flush() */
JS_NATIVE(native_flush)
{
    JS_UNUSED;
    js_flush(js_here);
    return JSValueMakeUndefined(context);
}

const struct js_native js_natives_output[] = {
    {"output", native_output},
    {"flush", native_flush},
    {NULL, NULL},
};
