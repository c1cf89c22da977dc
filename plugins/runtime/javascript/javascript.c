/* SPDX-License-Identifier: MIT */
/* javascript.c - the runtime `javascript`: JavaScriptCore, embedded.
 * Side: box.  Input trusted: no.
 *
 * The language is the engine's; what programs of Node and pages of the web expect around it is
 * written in parts/ and the other files here. */
#include "js.h"

#include <lazaret/options.h>

#include <jsc/jsc.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct js_options {
    char **libraries;
    char *dialect;
    bool jit;
};

static const struct laz_option options[] = {
    LAZ_OPTION(
        "libraries", LAZ_OPT_PATHS, "[]",
        "files of JavaScript, or directories of packages, that need nothing else: require() and "
        "import give them by their names"),
    LAZ_OPTION("dialect", LAZ_OPT_STRING, "\"\"",
               "names and forms of another host that code finds; session.dialect, where it is set",
               .one_of = "[\"\", \"codemode\", \"ai-sdk\"]"),
    LAZ_OPTION("jit", LAZ_OPT_BOOLEAN, "true",
               "compile code to machine code; without it loops are slower, and no memory is both "
               "writable and executable"),
    LAZ_OPTIONS_END,
};

static const struct laz_option_field fields[] = {
    {"libraries", LAZ_OPT_PATHS, offsetof(struct js_options, libraries)},
    {"dialect", LAZ_OPT_STRING, offsetof(struct js_options, dialect)},
    {"jit", LAZ_OPT_BOOLEAN, offsetof(struct js_options, jit)},
    {NULL, 0, 0},
};

/* A write beyond the limit on file size, and one to a pipe that nobody reads, are to fail and not
 * to end the process. This is a handler because programs started by the code would inherit SIG_IGN.
 */
static void javascript_on_signal(int number)
{
    (void)number;
}

static void javascript_bear_signals(void)
{
    const struct sigaction action = {.sa_handler = javascript_on_signal, .sa_flags = SA_RESTART};

#ifdef SIGXFSZ
    sigaction(SIGXFSZ, &action, NULL);
#endif
    sigaction(SIGPIPE, &action, NULL);
}

static void javascript_destroy(void *state);

static int javascript_create(const struct laz_agent_services *services, const char *text,
                             size_t len, void **state, struct laz_error *err)
{
    struct js_options given = {.jit = true};
    struct js_state *js = calloc(1, sizeof *js);
    int rc = js ? laz_options_read(services->json, text, len, fields, &given, err)
                : laz_fail(err, LAZ_ENOMEM, "javascript: its start: out of memory");

    if (!rc && !LAZ_HAS(services, switch_output))
        rc = laz_fail(err, LAZ_EPLUGIN,
                      "javascript: its start: lazaret-agent is older than this runtime");
    if (rc) {
        laz_options_free(fields, &given);
        free(js);
        return rc;
    }
    js_here = js;
    js->services = services;
    js->json = services->json;
    js->pid = getpid();
    js->libraries = given.libraries;
    js->dialect = given.dialect;
    js->has_jit = given.jit;
    javascript_bear_signals();
    rc = js_engine_start(js, err);
    if (!rc)
        rc = js_seed(js, err);
    if (!rc)
        rc = js_load_libraries(js, err);
    if (rc)
        javascript_destroy(js);
    else
        *state = js;
    return rc;
}

static const char *javascript_version(void *state)
{
    static char version[32];

    (void)state;
    snprintf(version, sizeof version, "%u.%u.%u", jsc_get_major_version(), jsc_get_minor_version(),
             jsc_get_micro_version());
    return version;
}

/* Listeners of the end of the process run in the session's process only. */
static void javascript_destroy(void *state)
{
    struct js_state *js = state;

    if (!js)
        return;
    if (js->internal && getpid() == js->pid && js->executions && !js->has_ended)
        js_call(js, JS_FINISH, 0, NULL, NULL);
    js_flush(js);
    js_eval_fini(js);
    js_engine_stop(js);
    for (size_t i = 0; js->libraries && js->libraries[i]; i++)
        free(js->libraries[i]);
    free((void *)js->libraries);
    free(js->dialect);
    free(js->out);
    free(js);
    js_here = NULL;
}

static void javascript_interrupt(void *state)
{
    ((struct js_state *)state)->is_interrupted = 1;
}

/* ---- descriptor ------------------------------------------------------------------------------ */

static const char *const suffixes[] = {".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", NULL};
static const char *const nothing[] = {NULL};
static const char *const programs[] = {"sh", NULL}; /* child_process.execSync() */
static const char *const reserved_words[] = {
    "arguments", "await",      "break",   "case",    "catch",      "class",     "const",
    "continue",  "debugger",   "default", "delete",  "do",         "else",      "enum",
    "eval",      "export",     "extends", "false",   "finally",    "for",       "function",
    "if",        "implements", "import",  "in",      "instanceof", "interface", "let",
    "new",       "null",       "package", "private", "protected",  "public",    "return",
    "static",    "super",      "switch",  "this",    "throw",      "true",      "try",
    "typeof",    "var",        "void",    "while",   "with",       "yield",     NULL};

static const struct laz_runtime_ops ops = {
    .size = sizeof ops,
    .suffixes = suffixes,
    .libraries = nothing,
    .read = nothing,
    .env = nothing,
    .reserved_words = reserved_words,
    .create = javascript_create,
    .version = javascript_version,
    .define_tools = js_define_tools,
    .check = js_check,
    .eval = js_eval,
    .destroy = javascript_destroy,
    .programs = programs,
    .before_fork = js_before_fork,
    .renew = js_renew,
    .set_script = js_set_script,
    .rest = js_rest,
    .interrupt = javascript_interrupt,
    .traits = LAZ_RUNTIME_RESERVES | LAZ_RUNTIME_ONE_THREAD,
};

LAZ_PLUGIN(javascript) = {
    LAZ_PLUGIN_HEAD(LAZ_PLUGIN_RUNTIME),      .name = "javascript", .version = "0.1.0",
    .summary = "JavaScript (JavaScriptCore)", .options = options,   .ops = &ops,
};
