/* SPDX-License-Identifier: MIT */
/* runtime.c - a runtime without a language, for tests of its descriptor. */
#include <lazaret/runtime.h>

static const char *const suffixes[] = {".mock", ".mk", NULL};
static const char *const libraries[] = {"libm.so.6", NULL};
static const char *const env[] = {"MOCK_HOME=/usr/lib/\"mock\"", NULL};
static const char *const reserved_words[] = {"if", "else", NULL};

static const struct laz_option options[] = {
    LAZ_OPTION("packages", LAZ_OPT_STRINGS, "[]", "loaded at the start"),
    LAZ_OPTION("home", LAZ_OPT_PATHS, NULL, "must be given"),
    LAZ_OPTION("depth", LAZ_OPT_INTEGER, "", "may be left out", .flags = LAZ_OPT_SECRET, .min = "1",
               .max = "9"),
    LAZ_OPTION("form", LAZ_OPT_STRING, "\"a\"", "of it", .one_of = "[\"a\", \"b\"]"),
    LAZ_OPTIONS_END,
};

static int runtime_create(const struct laz_agent_services *services, const char *text,
                          size_t options_len, void **state, struct laz_error *err)
{
    static const int nothing;

    (void)services;
    (void)text;
    (void)options_len;
    (void)err;
    *state = (void *)&nothing;
    return 0;
}

static const char *runtime_version(void *state)
{
    (void)state;
    return "0.1";
}

static int runtime_define_tools(void *state, const struct laz_tool_signature *tools, size_t n,
                                struct laz_error *err)
{
    (void)state;
    (void)tools;
    (void)n;
    (void)err;
    return 0;
}

static int runtime_check(void *state, const char *code, size_t len, struct laz_outcome *outcome)
{
    (void)state;
    (void)code;
    (void)len;
    outcome->kind = LAZ_OUTCOME_VALUE;
    return 0;
}

static int runtime_eval(void *state, const char *code, size_t len, uint32_t print,
                        struct laz_outcome *outcome)
{
    (void)print;
    return runtime_check(state, code, len, outcome);
}

static const struct laz_runtime_ops ops = {
    .size = sizeof ops,
    .suffixes = suffixes,
    .libraries = libraries,
    .env = env,
    .reserved_words = reserved_words,
    .create = runtime_create,
    .version = runtime_version,
    .define_tools = runtime_define_tools,
    .check = runtime_check,
    .eval = runtime_eval,
};

LAZ_PLUGIN(mock_runtime) = {
    LAZ_PLUGIN_HEAD(LAZ_PLUGIN_RUNTIME),  .name = "mock_runtime", .version = "2.1",
    .summary = "understands \"nothing\"", .options = options,     .ops = &ops,
};
