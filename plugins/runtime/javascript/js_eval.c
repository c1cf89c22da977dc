/* SPDX-License-Identifier: MIT */
/* js_eval.c - runs code and reports the outcome.
 * Side: box.  Input trusted: no.
 *
 * js_scan.c says in which form the engine gets the code, so that what it declares lives on and may
 * be declared again, and that it may wait at its top level. The engine judges the syntax of that
 * form, and of the code as it is where it refuses the form. */
#include "js.h"
#include "js_scan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVAL_FRAMES 200

/* ---- outcomes -------------------------------------------------------------------------------- */

static void eval_forget(struct js_state *js)
{
    for (size_t i = 0; i < js->n_frames; i++)
        free(js->frames[i]);
    free(js->frames);
    free(js->value);
    free(js->text);
    free(js->message);
    js->frames = NULL;
    js->n_frames = 0;
    js->value = js->text = js->message = NULL;
}

void js_rest(void *state)
{
    eval_forget(state);
}

void js_eval_fini(struct js_state *js)
{
    eval_forget(js);
    free(js->script);
    js->script = NULL;
}

static JSValueRef item_of(struct js_state *js, JSValueRef list, unsigned index)
{
    return JSObjectGetPropertyAtIndex(js->context, (JSObjectRef)(uintptr_t)list, index, NULL);
}

static int32_t number_of(struct js_state *js, JSValueRef list, unsigned index)
{
    const double number = JSValueToNumber(js->context, item_of(js, list, index), NULL);

    return number >= 1 && number <= INT32_MAX ? (int32_t)number : 0;
}

/* An error that the code has not caught. */
static void outcome_error(struct js_state *js, JSValueRef error, struct laz_outcome *outcome)
{
    JSValueRef described = error ? js_call(js, JS_DESCRIBE, 1, &error, NULL) : NULL;

    outcome->kind = LAZ_OUTCOME_RUNTIME;
    outcome->message = "an error that cannot be described";
    if (!described || !JSValueIsObject(js->context, described))
        return;
    js->message = js_text(js->context, item_of(js, described, 0), NULL, NULL);
    outcome->message = js->message ? js->message : outcome->message;
    outcome->line = number_of(js, described, 1);
    outcome->column = number_of(js, described, 2);
    outcome->kind = (uint32_t)JSValueToNumber(js->context, item_of(js, described, 3), NULL);
    const int32_t n = number_of(js, described, 4);
    js->frames = calloc((size_t)n + 1, sizeof *js->frames);
    for (int32_t i = 0; js->frames && i < n && i < EVAL_FRAMES; i++) {
        js->frames[js->n_frames] =
            js_text(js->context, item_of(js, described, 5 + (unsigned)i), NULL, NULL);
        js->n_frames += js->frames[js->n_frames] != NULL;
    }
    outcome->traceback = (const char *const *)js->frames;
    outcome->n_traceback = js->n_frames;
}

static void outcome_message(struct js_state *js, const char *text, struct laz_outcome *outcome)
{
    free(js->message);
    js->message = strdup(text);
    outcome->kind = LAZ_OUTCOME_RUNTIME;
    outcome->message = js->message ? js->message : "out of memory";
}

static void outcome_syntax(struct js_state *js, JSValueRef error, struct laz_outcome *outcome)
{
    outcome_error(js, error, outcome);
    outcome->kind = LAZ_OUTCOME_SYNTAX;
    outcome->traceback = NULL;
    outcome->n_traceback = 0;
}

/* It was not prepared: it does not parse, or that was interrupted. */
static void outcome_refused(struct js_state *js, JSValueRef error, struct laz_outcome *outcome)
{
    if (js->is_interrupted)
        outcome_message(js, "interrupted", outcome);
    else
        outcome_syntax(js, error, outcome);
}

/* The promise of the execution waits, and nothing is left that could settle it. */
static void outcome_stuck(struct js_state *js, struct laz_outcome *outcome)
{
    JSValueRef line = js_call(js, JS_WHERE, 0, NULL, NULL);

    outcome_message(js,
                    "the code waits for a promise that is never settled: no timer, no call of a "
                    "tool and no transfer is left that could do it",
                    outcome);
    outcome->line = line ? (int32_t)JSValueToNumber(js->context, line, NULL) : 0;
}

static void outcome_text(struct js_state *js, JSValueRef value, struct laz_outcome *outcome)
{
    const JSValueRef arguments[] = {value, js_number(js->context, (double)js->services->max_value)};
    JSValueRef text = js_call(js, JS_TEXT, 2, arguments, NULL);

    if (text && JSValueIsString(js->context, text))
        js->text = js_text(js->context, text, &outcome->text_len, NULL);
    outcome->text = js->text;
}

/* A value that needs no search: its JSON, which is what the prompt prints. */
static bool outcome_is_plain(struct js_state *js, JSValueRef value, char *text, size_t size)
{
    switch (JSValueGetType(js->context, value)) {
    case kJSTypeUndefined:
    case kJSTypeNull:
        snprintf(text, size, "null");
        return true;
    case kJSTypeBoolean:
        snprintf(text, size, "%s", JSValueToBoolean(js->context, value) ? "true" : "false");
        return true;
    case kJSTypeNumber: {
        const double number = JSValueToNumber(js->context, value, NULL);
        if (!(number > -1e15 && number < 1e15) || number != (double)(int64_t)number ||
            (number == 0 && signbit(number)))
            return false;
        snprintf(text, size, "%lld", (long long)number);
        return true;
    }
    default:
        return false;
    }
}

static void outcome_value(struct js_state *js, JSValueRef value, uint32_t wanted,
                          struct laz_outcome *outcome)
{
    const JSValueRef arguments[] = {value, js_number(js->context, (double)js->services->max_value)};
    JSValueRef exception = NULL;

    outcome->kind = LAZ_OUTCOME_VALUE;
    outcome->visible = !JSValueIsUndefined(js->context, value);
    char plain[32];
    if (outcome_is_plain(js, value, plain, sizeof plain)) {
        js->value = strdup(plain);
        outcome->value = js->value;
        outcome->value_len = js->value ? strlen(js->value) : 0;
        if (wanted & LAZ_WANTED_TEXT && outcome->visible) {
            outcome->text = js->value;
            outcome->text_len = outcome->value_len;
        }
        return;
    }
    JSValueRef text = js_call(js, JS_WRITE, 2, arguments, &exception);
    if (text && JSValueIsString(js->context, text)) {
        js->value = js_text(js->context, text, &outcome->value_len, NULL);
        outcome->value = js->value;
        if (!js->value || outcome->value_len > js->services->max_value)
            outcome->kind = LAZ_OUTCOME_TOO_LARGE, outcome->value = NULL;
    } else {
        outcome->kind = LAZ_OUTCOME_TOO_LARGE;
        js->message = exception ? js_text(js->context, exception, NULL, NULL) : NULL;
        outcome->message = js->message;
    }
    if (wanted & LAZ_WANTED_TEXT && outcome->visible)
        outcome_text(js, value, outcome);
}

/* ---- the text that the engine gets ----------------------------------------------------------- */

struct eval_code {
    struct js_scan scan;
    char *program;    /* what a model has written for codemode; NULL: it was not written for that */
    char *expression; /* of its one function, which is called; NULL: it is none */
    char *stripped;   /* TypeScript without its types; NULL: it was none */
    bool is_function; /* is it one, as it looks? */
    const char *text;
    size_t len;
    enum js_form form;
    bool is_checked; /* does it parse for sure? */
};

static bool eval_parses(struct js_state *js, const char *text, size_t len, JSValueRef *exception)
{
    JSStringRef script = js_string_ref(text, len);
    JSStringRef url = js_string_ref(js->name, strlen(js->name));
    const bool parses = JSCheckScriptSyntax(js->context, script, url, 1, exception);

    JSStringRelease(url);
    JSStringRelease(script);
    return parses;
}

static bool eval_ends_with(const char *script, const char *const *suffixes)
{
    const char *dot = script ? strrchr(script, '.') : NULL;

    for (; dot && *suffixes; suffixes++)
        if (strcmp(dot, *suffixes) == 0)
            return true;
    return false;
}

/* A file is run as it is, unless it is a module or waits at its top level. */
static int eval_scan(struct js_state *js, const char *code, size_t len, struct js_scan *scan)
{
    static const char *const modules[] = {".mjs", ".mts", NULL};
    const bool is_module = eval_ends_with(js->script, modules);
    int rc = js_scan(code, len, js->script ? JS_WANT_SCRIPT : JS_WANT_SESSION, scan);

    if (rc || !js->script ||
        !(is_module || scan->has_await || scan->has_return || scan->has_import || scan->has_export))
        return rc;
    js_scan_fini(scan);
    return js_scan(code, len, is_module ? JS_WANT_STRICT : JS_WANT_ASYNC, scan);
}

/* A dialect of which a program is one function. */
static void eval_program(struct js_state *js, const char **code, size_t *len,
                         struct eval_code *made)
{
    if (js->script || !js->dialect || strcmp(js->dialect, "codemode") != 0)
        return;
    JSValueRef text = js_string(js->context, *code, *len);
    JSValueRef program = js_call(js, JS_PROGRAM, 1, &text, NULL);
    size_t n = 0;
    made->program = program ? js_text(js->context, item_of(js, program, 0), &n, NULL) : NULL;
    if (!made->program)
        return;
    made->is_function = JSValueToBoolean(js->context, item_of(js, program, 1));
    *code = made->program;
    *len = n;
}

/* At the prompt of node, what begins with a brace and does not end with a semicolon is an object,
 * where it can be one. */
static bool eval_is_object(struct js_state *js, const char *code, size_t len)
{
    static const char blanks[] = " \t\r\n";
    size_t at = 0;

    while (at < len && strchr(blanks, code[at]))
        at++;
    while (len > at && strchr(blanks, code[len - 1]))
        len--;
    return !js->script && at < len && code[at] == '{' && code[len - 1] == '}';
}

/* One function is evaluated as an expression, and called. */
static void eval_expression(struct js_state *js, const char **code, size_t *len,
                            struct eval_code *made)
{
    const bool is_one = made->is_function || eval_is_object(js, *code, *len);
    char *text = is_one ? malloc(*len + 4) : NULL;
    JSValueRef ignored = NULL;

    if (!text)
        return;
    text[0] = '(';
    memcpy(text + 1, *code, *len);
    memcpy(text + 1 + *len, "\n)", sizeof "\n)");
    free(made->expression);
    made->expression = NULL;
    js->is_expression = false;
    if (!eval_parses(js, text, *len + 3, &ignored)) {
        free(text);
        return;
    }
    *code = made->expression = text;
    js->is_expression = true;
    *len += 3;
}

/* False: *exception says why it does not parse. Code without declarations does nothing before it
 * has been parsed: it need not be checked before it is run. */
static bool eval_shape(struct js_state *js, const char *code, size_t len, struct eval_code *made,
                       JSValueRef *exception)
{
    JSValueRef plain = NULL;

    eval_expression(js, &code, &len, made);
    js->scan = NULL;
    made->text = code;
    made->len = len;
    if (eval_scan(js, code, len, &made->scan) != 0)
        return eval_parses(js, code, len, exception);
    made->form = made->scan.form;
    if (made->scan.text)
        made->text = made->scan.text, made->len = made->scan.len;
    js->scan = &made->scan;
    if (!made->is_checked && made->form == JS_PLAIN && !made->scan.names)
        return true;
    made->is_checked = true;
    if (eval_parses(js, made->text, made->len, exception))
        return true;
    if (made->form == JS_PLAIN)
        return false;
    if (eval_parses(js, code, len, &plain)) {
        made->text = code;
        made->len = len;
        made->form = JS_PLAIN;
        js->scan = NULL;
        return true;
    }
    if (made->form == JS_BLOCK) { /* its message is the better one */
        *exception = plain;
        js->scan = NULL;
    }
    return false;
}

/* Was TypeScript read beyond the place where JavaScript ends, or to what it has and this runtime
 * has not? */
static bool eval_is_further(struct js_state *js, JSValueRef error, JSValueRef than)
{
    if (!error || !JSValueIsObject(js->context, error) || !than ||
        !JSValueIsObject(js->context, than))
        return false;
    JSObjectRef further = (JSObjectRef)(uintptr_t)error, first = (JSObjectRef)(uintptr_t)than;
    JSValueRef refused = js_get(js->context, further, "isRefused");
    JSValueRef lines[] = {js_get(js->context, further, "line"), js_get(js->context, first, "line")};
    return (refused && JSValueToBoolean(js->context, refused)) ||
           (lines[0] && lines[1] &&
            JSValueToNumber(js->context, lines[0], NULL) >
                JSValueToNumber(js->context, lines[1], NULL));
}

/* A file is TypeScript by its name, other code by being no JavaScript, and JavaScript without its
 * types. False: *exception says why it does not parse. */
static bool eval_prepare(struct js_state *js, const char *code, size_t len, bool is_checked,
                         struct eval_code *made, JSValueRef *exception)
{
    static const char *const suffixes[] = {".ts", ".mts", ".cts", NULL};
    const bool is_typescript = eval_ends_with(js->script, suffixes);
    JSValueRef otherwise = NULL;
    size_t stripped_len = 0;

    *made = (struct eval_code){.text = code, .is_checked = is_checked};
    eval_program(js, &code, &len, made);
    if (!is_typescript && eval_shape(js, code, len, made, exception))
        return true;
    if (!is_typescript && js->script)
        return false;
    const JSValueRef arguments[] = {
        js_string(js->context, code, len),
        js_string(js->context, js->name, strlen(js->name)),
        JSValueMakeBoolean(js->context, !js->script),
    };
    JSValueRef stripped = js_call(js, JS_STRIP, 3, arguments, &otherwise);
    made->stripped = stripped ? js_text(js->context, stripped, &stripped_len, &otherwise) : NULL;
    js_scan_fini(&made->scan);
    made->scan = (struct js_scan){0};
    if (made->stripped && eval_shape(js, made->stripped, stripped_len, made, &otherwise))
        return true;
    if (is_typescript || eval_is_further(js, otherwise, *exception))
        *exception = otherwise;
    return false;
}

static void eval_code_fini(struct js_state *js, struct eval_code *made)
{
    js->scan = NULL;
    js->is_expression = false;
    js_scan_fini(&made->scan);
    free(made->program);
    free(made->expression);
    free(made->stripped);
}

/* Global variables and functions are properties that a later execution may define anew, and a
 * variable of an earlier one keeps its value. */
static void eval_define(struct js_state *js, const struct eval_code *made)
{
    const char *names = made->scan.names;

    if (!names || js->script)
        return;
    for (; *names; names += strlen(names) + 1) {
        JSValueRef arguments[] = {js_string(js->context, names, strlen(names)),
                                  JSValueMakeBoolean(js->context, made->form == JS_ASYNC)};
        js_call(js, JS_DEFINE, 2, arguments, NULL);
    }
}

/* The value of the code, or the promise of it; NULL: *exception. */
static JSValueRef eval_run(struct js_state *js, const struct eval_code *made, JSValueRef *exception)
{
    js->is_running = true;
    eval_define(js, made);
    if (js->is_interrupted) /* in a getter of the code's own */
        return NULL;
    JSValueRef value = js_evaluate(js, made->text, made->len, js->name, exception);
    const bool is_called = value && made->expression && JSValueIsObject(js->context, value) &&
                           JSObjectIsFunction(js->context, (JSObjectRef)(uintptr_t)value);
    if (is_called || (value && made->form == JS_ASYNC))
        value = JSObjectCallAsFunction(js->context, (JSObjectRef)(uintptr_t)value, NULL, 0, NULL,
                                       exception);
    return value;
}

/* It was run without having been checked, and the engine has not parsed it. */
static bool eval_was_refused(struct js_state *js, const struct eval_code *made)
{
    JSValueRef ignored = NULL;

    return !made->is_checked && !js->is_interrupted &&
           !eval_parses(js, made->text, made->len, &ignored);
}

/* The value of the code, or the promise of it. NULL: *exception is what it has thrown, or, if not
 * *parses, why it was not run. */
static JSValueRef eval_start(struct js_state *js, const char *code, size_t len,
                             struct eval_code *made, bool *parses, JSValueRef *exception)
{
    *parses = eval_prepare(js, code, len, false, made, exception);
    JSValueRef value = *parses ? eval_run(js, made, exception) : NULL;

    if (value || !*parses || !eval_was_refused(js, made))
        return value;
    eval_code_fini(js, made);
    *exception = NULL;
    *parses = eval_prepare(js, code, len, true, made, exception);
    return *parses ? eval_run(js, made, exception) : NULL;
}

/* ---- an execution ---------------------------------------------------------------------------- */

static void eval_begin(struct js_state *js)
{
    const struct laz_agent_services *services = js->services;

    eval_forget(js);
    js->is_interrupted =
        LAZ_HAS(services, is_interrupted) && services->is_interrupted(services->agent) != 0;
    js->executions++;
    if (js->executions == 1)
        snprintf(js->code, sizeof js->code, "%s", JS_CODE_NAME);
    else
        snprintf(js->code, sizeof js->code, "<code %llu>", (unsigned long long)js->executions);
    js->name = js->script ? js->script : js->code;
}

/* An execution leaves nothing that would run in the next one. */
static void eval_end(struct js_state *js)
{
    js->is_interrupted = 0; /* what follows is not to be ended by it */
    if (js->open)
        js_call(js, JS_ABANDON, 0, NULL, NULL);
    if (js->has_timers) /* it has failed, or made them while its value was written */
        js_call(js, JS_CLEAR, 0, NULL, NULL);
    js->has_timers = false;
    js->open = 0;
    js_fetch_abandon(js);
    js->is_running = false;
    if (js->failed)
        JSValueUnprotect(js->context, js->failed);
    js->failed = NULL;
    js_flush(js);
    free(js->script);
    js->script = NULL;
}

/* Follows what the code has returned until nothing is pending. The value of the execution, or NULL:
 * the outcome is an error. */
static JSValueRef eval_await(struct js_state *js, JSValueRef value, struct laz_outcome *outcome)
{
    JSValueRef followed =
        JSValueIsObject(js->context, value) ? js_call(js, JS_FOLLOW, 1, &value, NULL) : NULL;
    const bool has_main = followed && JSValueToBoolean(js->context, followed);

    switch (js_loop(js, has_main)) {
    case JS_END_INTERRUPTED:
        outcome_message(js, "interrupted", outcome);
        return NULL;
    case JS_END_FAILED:
        outcome_error(js, js->failed, outcome);
        return NULL;
    case JS_END_STUCK:
        outcome_stuck(js, outcome);
        return NULL;
    case JS_END_SETTLED:
        break;
    }
    if (!has_main)
        return value;
    JSValueRef result = js_call(js, JS_OUTCOME, 0, NULL, NULL);
    if (!result || !JSValueIsObject(js->context, result))
        return JSValueMakeUndefined(js->context);
    if (JSValueToBoolean(js->context, item_of(js, result, 0)))
        return item_of(js, result, 1);
    outcome_error(js, item_of(js, result, 1), outcome);
    return NULL;
}

/* A file has run to its end: as a program does, it may find more to do, and ends with the status
 * that it has set. */
static JSValueRef eval_finish(struct js_state *js, JSValueRef value, struct laz_outcome *outcome)
{
    JSValueRef exception = NULL, result = value, status = NULL;

    JSValueProtect(js->context, value);
    while (result && js_call(js, JS_ENDING, 0, NULL, &exception) && js_has_more(js))
        result = eval_await(js, value, outcome);
    if (result && !exception)
        status = js_call(js, JS_FINISH, 0, NULL, &exception);
    js->has_ended = true;
    if (result && !status)
        outcome_error(js, exception, outcome);
    JSValueUnprotect(js->context, value);
    const int code = status ? (int)JSValueToNumber(js->context, status, NULL) & 0xff : 0;
    if (code) {
        js_flush(js);
        js->services->leave(js->services->agent, code);
    }
    return status ? result : NULL;
}

static void eval_threw(struct js_state *js, JSValueRef exception, struct laz_outcome *outcome)
{
    if (js->is_interrupted)
        outcome_message(js, "interrupted", outcome);
    else
        outcome_error(js, exception, outcome);
}

int js_eval(void *state, const char *code, size_t len, uint32_t wanted, struct laz_outcome *outcome)
{
    struct js_state *js = state;
    struct eval_code made;
    JSValueRef exception = NULL, value;
    bool parses;

    eval_begin(js);
    js_watch(js);
    value = eval_start(js, code, len, &made, &parses, &exception);
    if (!parses) {
        outcome_refused(js, exception, outcome);
    } else {
        if (!value)
            eval_threw(js, exception, outcome);
        else
            value = eval_await(js, value, outcome);
        if (value && js->script)
            value = eval_finish(js, value, outcome);
        if (value) {
            JSValueProtect(js->context, value);
            outcome_value(js, value, wanted, outcome);
            if (js->is_interrupted) /* while it was written */
                outcome_message(js, "interrupted", outcome);
            JSValueUnprotect(js->context, value);
        }
    }
    eval_end(js);
    eval_code_fini(js, &made);
    return 0;
}

int js_check(void *state, const char *code, size_t len, struct laz_outcome *outcome)
{
    struct js_state *js = state;
    struct eval_code made;
    JSValueRef exception = NULL;

    eval_begin(js);
    js->executions--;
    outcome->kind = LAZ_OUTCOME_VALUE;
    js_watch(js);
    if (!eval_prepare(js, code, len, true, &made, &exception))
        outcome_refused(js, exception, outcome);
    eval_code_fini(js, &made);
    return 0;
}

int js_set_script(void *state, const char *const *argv, size_t n, const char *directory)
{
    struct js_state *js = state;

    free(js->script);
    js->script = strdup(argv[0]);
    JSValueRef *texts = calloc(n + 1, sizeof *texts);
    if (!js->script || !texts) {
        free((void *)texts);
        return LAZ_ENOMEM;
    }
    for (size_t i = 0; i < n; i++) { /* the collector does not look into this memory */
        texts[i] = js_string(js->context, argv[i], strlen(argv[i]));
        JSValueProtect(js->context, texts[i]);
    }
    const JSValueRef arguments[] = {
        JSObjectMakeArray(js->context, n, texts, NULL),
        directory ? js_string(js->context, directory, strlen(directory))
                  : JSValueMakeNull(js->context),
    };
    JSValueRef done = js_call(js, JS_BEGIN, 2, arguments, NULL);
    for (size_t i = 0; i < n; i++)
        JSValueUnprotect(js->context, texts[i]);
    free((void *)texts);
    return done ? 0 : LAZ_ENOMEM;
}

/* column(file, line, column): that of the code as it was given, for one of the text that the engine
 * got. */
JS_NATIVE(native_column)
{
    JS_UNUSED;
    struct js_state *js = js_here;
    char *file = n ? js_text(context, arguments[0], NULL, exception) : NULL;
    const double line = js_argument(context, n, arguments, 1, 0);
    double column = js_argument(context, n, arguments, 2, 0);

    const bool is_code = file && js->name && strcmp(file, js->name) == 0 && line >= 1 &&
                         column >= 1 && line < INT32_MAX && column < INT32_MAX;
    if (is_code && js->scan)
        column = (double)js_scan_column(js->scan, (size_t)line, (size_t)column);
    if (is_code && js->is_expression && line == 1 && column > 1)
        column--;
    free(file);
    return js_number(context, column);
}

const struct js_native js_natives_eval[] = {
    {"column", native_column},
    {NULL, NULL},
};
