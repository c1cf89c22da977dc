/* SPDX-License-Identifier: MIT */
/* js_tools.c - calls of tools under way.
 * Side: box.  Input trusted: no.
 *
 * parts/tools.js makes the functions, checks arguments and keeps the promises by number; here the
 * calls are sent and their answers taken. */
#include "js.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* begin(id, tool, arguments as JSON): undefined; false: too many calls are open; a text: why it was
 * refused. */
JS_NATIVE(native_begin)
{
    JS_UNUSED;
    struct js_state *js = js_here;
    const char *error = NULL;
    size_t len = 0;

    if (n < 3)
        return js_throw(context, exception, "begin(id, tool, arguments)");
    if (!js->is_running)
        return js_string(context, "no execution is running", 23);
    char *tool = js_text(context, arguments[1], NULL, exception);
    char *args = tool ? js_text(context, arguments[2], &len, exception) : NULL;
    JSValueRef result = JSValueMakeUndefined(context);
    if (args) {
        js_flush(js);
        void *user = (void *)(uintptr_t)js_argument(context, n, arguments, 0,
                                                    0); // NOLINT(performance-no-int-to-ptr)
        int rc = js->services->begin_call(js->services->agent, tool, args, len, user, &error);
        if (rc == LAZ_EBUSY)
            result = JSValueMakeBoolean(context, false);
        else if (rc)
            result = js_string(context, error ? error : "out of memory",
                               error ? strlen(error) : strlen("out of memory"));
        else
            js->open++;
    }
    free(args);
    free(tool);
    return result;
}

bool js_take_answer(struct js_state *js, int wait_ms)
{
    const char *text = NULL;
    void *user = NULL;
    size_t len = 0;
    int rc = js->services->next_answer(js->services->agent, wait_ms, &user, &text, &len);

    if (rc == LAZ_ETIMEOUT || rc == LAZ_ENOENT) {
        if (rc == LAZ_ENOENT)
            js->open = 0;
        return false;
    }
    if (js->open)
        js->open--;
    const JSValueRef arguments[] = {
        js_number(js->context, (double)(uintptr_t)user),
        JSValueMakeBoolean(js->context, rc == 0),
        js_string(js->context, text ? text : "out of memory", text ? len : strlen("out of memory")),
    };
    JSValueRef exception = NULL;
    if (!js_call(js, JS_SETTLE, 3, arguments, &exception) && !js_is_over(js)) {
        JSValueProtect(js->context, exception);
        js->failed = exception;
    }
    return true;
}

/* dialect(): "", "codemode" or "ai-sdk" */
JS_NATIVE(native_dialect)
{
    JS_UNUSED;
    const char *dialect = js_here->dialect ? js_here->dialect : "";

    return js_string(context, dialect, strlen(dialect));
}

const struct js_native js_natives_tools[] = {
    {"begin", native_begin},
    {"dialect", native_dialect},
    {NULL, NULL},
};

/* ---- defining -------------------------------------------------------------------------------- */

static void tools_add(const struct laz_json_api *json, struct laz_json_writer *writer,
                      const char *name, const char *text)
{
    json->key(writer, name, strlen(name));
    if (text)
        json->write_string(writer, text, strlen(text));
    else
        json->write_null(writer);
}

static void tools_add_parameter(const struct laz_json_api *json, struct laz_json_writer *writer,
                                const struct laz_parameter *parameter)
{
    json->object_begin(writer);
    tools_add(json, writer, "name", parameter->name);
    tools_add(json, writer, "spelling", parameter->spelling);
    tools_add(json, writer, "type", parameter->type);
    tools_add(json, writer, "typeName", parameter->type_name);
    tools_add(json, writer, "enumeration", parameter->enumeration);
    json->key(writer, "required", strlen("required"));
    json->write_bool(writer, parameter->required);
    json->object_end(writer);
}

static void tools_add_tool(const struct laz_json_api *json, struct laz_json_writer *writer,
                           const struct laz_tool_signature *tool)
{
    json->object_begin(writer);
    tools_add(json, writer, "name", tool->name);
    tools_add(json, writer, "spelling", tool->spelling);
    tools_add(json, writer, "description", tool->description);
    json->key(writer, "parameters", strlen("parameters"));
    json->array_begin(writer);
    for (size_t i = 0; i < tool->n_parameters; i++)
        tools_add_parameter(json, writer, &tool->parameters[i]);
    json->array_end(writer);
    json->object_end(writer);
}

int js_define_tools(void *state, const struct laz_tool_signature *tools, size_t n,
                    struct laz_error *err)
{
    struct js_state *js = state;
    const struct laz_json_api *json = js->json;
    struct laz_json_writer *writer = json->writer_new(0);
    bool too_large;
    size_t len = 0;
    int rc = 0;

    if (!writer)
        return laz_fail(err, LAZ_ENOMEM, "javascript: out of memory");
    json->array_begin(writer);
    for (size_t i = 0; i < n; i++)
        tools_add_tool(json, writer, &tools[i]);
    json->array_end(writer);
    const char *text = json->writer_text(writer, &len, &too_large);
    JSValueRef exception = NULL;
    JSValueRef list = text ? js_string(js->context, text, len) : NULL;
    if (!list)
        rc = laz_fail(err, LAZ_ENOMEM, "javascript: out of memory");
    else if (!js_call(js, JS_TOOLS, 1, &list, &exception)) {
        char *why = exception ? js_text(js->context, exception, NULL, NULL) : NULL;
        rc = laz_fail(err, LAZ_ESETUP, "javascript: the tools cannot be defined: %s",
                      why ? why : "unknown error");
        free(why);
    }
    json->writer_free(writer);
    return rc;
}
