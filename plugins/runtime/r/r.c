/* SPDX-License-Identifier: MIT */
/* r.c - the R runtime: starts libR inside the agent, and describes it to the host.
 * Side: agent.  Input trusted: yes (options of the host).
 *
 * This file is under the MIT licence, but it is linked with R, which is under the GNU General
 * Public License (version 2 or 3): a binary distribution of this plugin is covered by that licence.
 * lazaret itself neither links nor loads it.
 *
 * R runs on the main thread and checks its stack itself, so deep recursion is an R error. R's
 * signal handlers stay off, because the agent decides about signals. */
#include "r.h"
#include "r_paths.h"
#include "r_support.h"

#include <lazaret/options.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <R_ext/Parse.h>
#include <Rembedded.h>

static const struct laz_option r_options[] = {
    LAZ_OPTION("libs", LAZ_OPT_PATHS, "[]", "directories with R packages, searched before R's own"),
    LAZ_OPTION("packages", LAZ_OPT_STRINGS, "[]", "packages attached before the code runs"),
    LAZ_OPTION(
        "default_packages", LAZ_OPT_STRINGS,
        "[\"datasets\",\"utils\",\"grDevices\",\"graphics\",\"stats\",\"methods\"]",
        "packages that R attaches itself when it starts; fewer of them make its start shorter"),
    LAZ_OPTIONS_END,
};

static const struct laz_option_field r_fields[] = {
    {"default_packages", LAZ_OPT_STRINGS, offsetof(struct r_state, default_packages)},
    {NULL, 0, 0},
};

struct r_state *r_self;

/* ---- texts ---- */

bool r_text_append(struct r_text *text, const char *data, size_t len)
{
    if (len >= text->cap - text->len) {
        size_t cap = text->cap < 256 ? 512 : text->cap * 2;
        if (len > SIZE_MAX / 4 || text->len > SIZE_MAX / 4)
            return false;
        if (cap <= text->len + len)
            cap = text->len + len + 1;
        char *grown = realloc(text->data, cap);
        if (!grown) {
            text->failed = true;
            return false;
        }
        text->data = grown;
        text->cap = cap;
    }
    memcpy(text->data + text->len, data, len);
    text->len += len;
    text->data[text->len] = '\0';
    return true;
}

void r_text_clear(struct r_text *text)
{
    text->len = 0;
    text->failed = false;
    if (text->data)
        text->data[0] = '\0';
}

void r_text_fini(struct r_text *text)
{
    free(text->data);
    *text = (struct r_text){0};
}

/* ---- R from C ---- */

SEXP r_utf8(const char *text, size_t len)
{
    if (len > INT32_MAX)
        Rf_error("a text of %.0f bytes is longer than R allows (2^31 - 1)", (double)len);
    return Rf_mkCharLenCE(text, (int)len, CE_UTF8);
}

SEXP r_routine(void (*function)(void))
{
    return R_MakeExternalPtrFn((DL_FUNC)function, Rf_install("native symbol"), R_NilValue);
}

SEXP r_support1(struct r_state *state, const char *function, SEXP argument)
{
    SEXP call = PROTECT(Rf_lang2(Rf_install(function), argument));
    SEXP result = Rf_eval(call, state->support);

    UNPROTECT(1);
    return result;
}

static void r_run_task(void *data)
{
    struct r_state *state = data;

    state->task(state);
}

bool r_protected(struct r_state *state, void (*task)(struct r_state *state))
{
    state->task = task;
    state->muted = true;
    bool whole = R_ToplevelExec(r_run_task, state);
    state->muted = false;
    return whole;
}

const char *r_last_error(const struct r_state *state)
{
    static char text[R_MAX_MESSAGE + 1];
    const char *message = R_curErrorBuf();

    if (state->failure.noted && state->failure.message.data)
        return state->failure.message.data;
    if (strncmp(message, "Error: ", 7) == 0) {
        message += 7;
    } else if (strncmp(message, "Error in ", 9) == 0 && strstr(message, " : ")) {
        message = strstr(message, " : ") + 3;
        while (*message == '\n' || *message == ' ')
            message++;
    }
    snprintf(text, sizeof text, "%s", message);
    size_t len = strlen(text);
    while (len > 0 && text[len - 1] == '\n')
        text[--len] = '\0';
    return text;
}

/* ---- start ---- */

/* Evaluates r_support.R in state->support. */
static void r_load_support(struct r_state *state)
{
    ParseStatus status;
    SEXP new_env = PROTECT(Rf_lang1(Rf_install("new.env")));
    SEXP env = PROTECT(Rf_eval(new_env, R_BaseNamespace));
    SEXP code = PROTECT(Rf_mkString(r_support_text));
    SEXP parsed = PROTECT(R_ParseVector(code, -1, &status, R_NilValue));
    SEXP routine = PROTECT(r_routine((void (*)(void))r_eval_note));

    if (status != PARSE_OK)
        Rf_error("the runtime's own R code does not parse");
    SET_ENCLOS(env, R_BaseNamespace);
    R_PreserveObject(env);
    state->support = env;
    Rf_defineVar(Rf_install("note_error"), routine, env);
    for (R_xlen_t i = 0; i < Rf_xlength(parsed); i++)
        Rf_eval(VECTOR_ELT(parsed, i), env);
    UNPROTECT(5);
}

static SEXP r_option(SEXP options, const char *name)
{
    SEXP names = Rf_getAttrib(options, R_NamesSymbol);

    for (R_xlen_t i = 0; i < Rf_xlength(names); i++) {
        if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0)
            return VECTOR_ELT(options, i);
    }
    return R_NilValue;
}

/* R reads the names, separated by commas, from a variable when it starts (Startup(7) of R). The
 * variable stays: a Rscript of the code attaches the same, as after Rscript --default-packages. */
static int r_choose_packages(struct r_state *state, struct laz_error *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.";
    char **names = state->default_packages;
    struct r_text text = {0};
    int rc = 0;

    if (!names) /* R's own */
        return 0;
    for (size_t i = 0; !rc && names[i]; i++) {
        const size_t len = strlen(names[i]);
        if (!len || strspn(names[i], letters) != len)
            rc = laz_fail(err, LAZ_EINVAL,
                          "runtime.r.default_packages: \"%.100s\" is not a name of a package",
                          names[i]);
        else if ((i && !r_text_append(&text, ",", 1)) || !r_text_append(&text, names[i], len))
            rc = laz_fail(err, LAZ_ENOMEM, "out of memory");
    }
    if (!rc && !r_start_with_packages(*names ? text.data : "NULL"))
        rc = laz_fail(err, LAZ_ESETUP, "runtime.r.default_packages: R cannot be told here");
    r_text_fini(&text);
    return rc;
}

static void r_set_up(struct r_state *state)
{
    SEXP options = R_NilValue;

    r_load_support(state);
    if (state->job.len > 0)
        options = r_read(state, state->job.code, state->job.len);
    PROTECT(options);
    SEXP call = PROTECT(
        Rf_lang3(Rf_install("set_up"), r_option(options, "libs"), r_option(options, "packages")));
    Rf_eval(call, state->support);
    SEXP asking = PROTECT(Rf_lang1(Rf_install("getRversion")));
    SEXP version = PROTECT(Rf_eval(asking, R_BaseEnv));
    SEXP text = PROTECT(Rf_lang2(Rf_install("as.character"), version));
    version = PROTECT(Rf_eval(text, R_BaseEnv));
    snprintf(state->version, sizeof state->version, "%s", CHAR(STRING_ELT(version, 0)));
    state->utf8 = Rf_asLogical(r_support1(state, "native_is_utf8", R_NilValue)) == 1;
    UNPROTECT(6);
}

static void r_free(struct r_state *state)
{
    if (!state)
        return;
    r_tools_fini(state);
    r_failure_clear(&state->failure);
    r_text_fini(&state->failure.message);
    r_text_fini(&state->pending);
    r_text_fini(&state->captured);
    r_text_fini(&state->startup);
    r_text_fini(&state->code);
    laz_options_free(r_fields, state);
    free(state->script);
    state->json->reader_free(state->reader);
    state->json->writer_free(state->writer);
    state->json->writer_free(state->value_writer);
    free(state);
}

static int r_create(const struct laz_agent_services *services, const char *options,
                    size_t options_len, void **state, struct laz_error *err)
{
    if (r_self)
        return laz_fail(err, LAZ_EBUSY, "R can be started once in a process");
    struct r_state *s = calloc(1, sizeof *s);
    if (!s)
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    s->services = services;
    s->json = services->json;
    s->owner = getpid();
    s->capture_limit = services->max_message / 4;
    s->writer = s->json->writer_new(services->max_message);
    s->value_writer = s->json->writer_new(services->max_value);
    s->job.code = options;
    s->job.len = options ? options_len : 0;
    int rc = s->writer && s->value_writer ? 0 : laz_fail(err, LAZ_ENOMEM, "out of memory");
    if (!rc)
        rc = laz_options_read(s->json, options, options_len, r_fields, s, err);
    if (!rc)
        rc = r_choose_packages(s, err);
    if (rc) {
        r_free(s);
        return rc;
    }
    r_self = s;
    if (!r_start(s)) /* R's state is undefined from here on: keep r_self, so that no second start is
                        tried */
        return laz_fail(err, LAZ_ESETUP,
                        "R cannot be started; is R_HOME right, and its files visible?%s%.800s",
                        s->startup.data ? ": " : "", s->startup.data ? s->startup.data : "");
    if (!r_protected(s, r_set_up)) {
        R_CleanTempDir();
        return laz_fail(err, LAZ_ESETUP, "R started, but [runtime.r] cannot be applied: %.800s",
                        r_last_error(s));
    }
    r_failure_clear(&s->failure);
    r_console_flush(s);
    *state = s;
    return 0;
}

static const char *r_version(void *state)
{
    const struct r_state *s = state;

    return s->version;
}

static void r_destroy(void *state)
{
    struct r_state *s = state;

    if (!s)
        return;
    if (getpid() == s->owner && s->running)
        r_console_end(s);
    else
        r_console_flush(s);
    s->running = false;
    r_self = NULL;
    r_free(s);
}

/* ---- the descriptor ---- */

static const char *const r_suffixes[] = {".R", ".r", NULL};
static const char *const r_libraries[] = {LAZ_R_LIBRARY, NULL};
static const char *const r_read_paths[] = {LAZ_R_READ, NULL};
/* For system(), Sys.which() and detectCores(); R itself for Rscript and clusters. */
static const char *const r_programs[] = {
    "sh", "sed", "uname", "rm", "which", "grep", "wc", "R", "Rscript", LAZ_R_HOME "/bin", NULL,
};
static const char *const r_needs[] = {LAZ_R_HOME "/library/base", NULL};
static const char *const r_reserved_words[] = {
    "if",       "else",        "repeat",        "while",
    "function", "for",         "next",          "break",
    "TRUE",     "FALSE",       "NULL",          "Inf",
    "NaN",      "NA",          "NA_integer_",   "NA_real_",
    "in",       "NA_complex_", "NA_character_", "...",
    "..1",      "..2",         "..3",           "..4",
    "..5",      "..6",         "..7",           "..8",
    "..9",      ".Call",       "unlockBinding", ".lazaret_call_tool",
    "tool_map", NULL,
};

static void r_rest(void *state)
{
    struct r_state *s = state;

    s->json->writer_reset(s->value_writer);
    s->json->writer_reset(s->writer);
}

static const struct laz_runtime_ops r_ops = {
    .size = sizeof r_ops,
    .suffixes = r_suffixes,
    .libraries = r_libraries,
    .read = r_read_paths,
    .env = r_env,
    .reserved_words = r_reserved_words,
    .create = r_create,
    .version = r_version,
    .define_tools = r_define_tools,
    .check = r_check,
    .eval = r_eval,
    .destroy = r_destroy,
    .programs = r_programs,
    .needs = r_needs,
#ifdef R_TEMPLATE
    .preload = r_preload,
    .before_fork = r_before_fork,
    .renew = r_renew,
#endif
    .set_script = r_set_script,
    .rest = r_rest,
    .interrupt = r_interrupt,
};

LAZ_PLUGIN(r) = {
    LAZ_PLUGIN_HEAD(LAZ_PLUGIN_RUNTIME),
    .name = "r",
    .version = LAZ_R_VERSION,
    .summary = "R, embedded (libR is under the GPL)",
    .options = r_options,
    .ops = &r_ops,
};
