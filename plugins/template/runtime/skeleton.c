/* SPDX-License-Identifier: MIT */
/* skeleton.c - a runtime: the interpreter of a language, inside the box.
 *
 * Its language has integers and calls of tools, one on each line; the value is that of the last
 * line:
 *
 *     42
 *     add 20 22
 *
 * The agent loads it after it has confined itself, and calls everything here on its main thread. */
#include <lazaret/options.h>
#include <lazaret/runtime.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_WORDS 16 /* of a line, and one more */

struct tool {
    char *name;        /* by which the host is called */
    char *spelling;    /* by which code calls it */
    char **parameters; /* names, in the order of positional arguments; ends with NULL */
};

struct state {
    const struct laz_agent_services *services;
    struct laz_json_writer *writer;
    struct tool *tools;
    size_t n_tools;
    char message[300]; /* of an outcome */
};

/* ---- outcomes ------------------------------------------------------------------------------- */

/* Code has failed, or cannot be understood: an outcome, and no failure of the runtime. */
static int wrong(struct state *state, struct laz_outcome *outcome, uint32_t kind, int line,
                 const char *what, const char *word)
{
    snprintf(state->message, sizeof state->message, "%s%.200s", what, word);
    outcome->kind = kind;
    outcome->message = state->message;
    outcome->line = line;
    return 1;
}

/* The text of the writer is the value. */
static void value_is_written(struct state *state, struct laz_outcome *outcome)
{
    bool too_large = false;

    outcome->value =
        state->services->json->writer_text(state->writer, &outcome->value_len, &too_large);
    if (!outcome->value)
        outcome->kind = too_large ? LAZ_OUTCOME_TOO_LARGE : LAZ_OUTCOME_MEMORY;
    outcome->text = outcome->value; /* what the prompt of the language prints */
    outcome->text_len = outcome->value_len;
    outcome->visible = 1;
}

/* ---- a line --------------------------------------------------------------------------------- */

static bool is_integer(const char *word)
{
    const char *digits = word + (*word == '-');

    return *digits && strlen(digits) < 19 && digits[strspn(digits, "0123456789")] == '\0';
}

static int check_line(struct state *state, char *const *words, size_t n, int line,
                      struct laz_outcome *outcome)
{
    if (n == MOST_WORDS)
        return wrong(state, outcome, LAZ_OUTCOME_SYNTAX, line, "too many words", "");
    if (n > 1 && is_integer(words[0]))
        return wrong(state, outcome, LAZ_OUTCOME_SYNTAX, line, "expected a tool: ", words[0]);
    for (size_t i = 1; i < n; i++)
        if (!is_integer(words[i]))
            return wrong(state, outcome, LAZ_OUTCOME_SYNTAX, line,
                         "expected an integer: ", words[i]);
    return 0;
}

static int call_tool(struct state *state, char *const *words, size_t n, int line,
                     struct laz_outcome *outcome)
{
    const struct laz_agent_services *services = state->services;
    const struct laz_json_api *json = services->json;
    const char *args, *value, *error;
    size_t tool = 0, len;

    while (tool < state->n_tools && strcmp(state->tools[tool].spelling, words[0]) != 0)
        tool++;
    if (tool == state->n_tools)
        return wrong(state, outcome, LAZ_OUTCOME_RUNTIME, line, "no tool is called ", words[0]);
    json->writer_reset(state->writer);
    json->object_begin(state->writer);
    for (size_t i = 1; i < n; i++) {
        const char *name = state->tools[tool].parameters[i - 1];
        if (!name)
            return wrong(state, outcome, LAZ_OUTCOME_RUNTIME, line, "too many arguments for ",
                         words[0]);
        json->key(state->writer, name, strlen(name));
        json->write_int(state->writer, strtoll(words[i], NULL, 10));
    }
    json->object_end(state->writer);
    args = json->writer_text(state->writer, &len, NULL);
    if (!args)
        return wrong(state, outcome, LAZ_OUTCOME_MEMORY, line, "out of memory", "");
    if (services->call_tool(services->agent, state->tools[tool].name, args, len, &value, &len,
                            &error))
        return wrong(state, outcome, LAZ_OUTCOME_RUNTIME, line, error, "");
    json->writer_reset(state->writer);
    json->write_raw(state->writer, value, len);
    return 0;
}

static int run_line(struct state *state, char *const *words, size_t n, int line,
                    struct laz_outcome *outcome)
{
    const struct laz_json_api *json = state->services->json;

    if (!is_integer(words[0])) {
        if (call_tool(state, words, n, line, outcome))
            return 1;
    } else {
        json->writer_reset(state->writer);
        json->write_int(state->writer, strtoll(words[0], NULL, 10));
    }
    value_is_written(state, outcome);
    return 0;
}

/* Checks or runs each line, up to one that is wrong. */
static void each_line(struct state *state, const char *code, size_t len,
                      struct laz_outcome *outcome,
                      int (*visit)(struct state *state, char *const *words, size_t n, int line,
                                   struct laz_outcome *outcome))
{
    char *copy = laz_option_copy(code, len), *next = copy, *words[MOST_WORDS];
    int stop = 0;

    if (!copy)
        outcome->kind = LAZ_OUTCOME_MEMORY;
    for (int line = 1; next && !stop; line++) {
        char *at = next;
        size_t n = 0;

        next = strchr(at, '\n');
        if (next)
            *next++ = '\0';
        for (at = strtok(at, " \t\r"); at && n < MOST_WORDS; at = strtok(NULL, " \t\r"))
            words[n++] = at;
        stop = n ? visit(state, words, n, line, outcome) : 0;
    }
    free(copy);
}

/* ---- operations ----------------------------------------------------------------------------- */

static int create(const struct laz_agent_services *services, const char *options,
                  size_t options_len, void **data, struct laz_error *err)
{
    struct state *state = calloc(1, sizeof *state);

    (void)options; /* [runtime.skeleton]: laz_options_read */
    (void)options_len;
    if (state)
        state->writer = services->json->writer_new(services->max_value);
    if (!state || !state->writer) {
        free(state);
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    }
    state->services = services;
    *data = state;
    return 0;
}

static const char *version(void *data)
{
    (void)data;
    return "1";
}

/* What it is given is borrowed for the call, so it is copied. Nothing is freed: the process ends
 * with the session. */
static int define_tools(void *data, const struct laz_tool_signature *tools, size_t n,
                        struct laz_error *err)
{
    struct state *state = data;
    struct tool *all = realloc(state->tools, (state->n_tools + n + 1) * sizeof *all);
    bool failed = !all;

    if (all)
        state->tools = all;
    for (size_t i = 0; !failed && i < n; i++) {
        struct tool *tool = &all[state->n_tools++];
        size_t n_parameters = tools[i].n_parameters;
        tool->name = laz_option_copy(tools[i].name, strlen(tools[i].name));
        tool->spelling = laz_option_copy(tools[i].spelling, strlen(tools[i].spelling));
        tool->parameters = calloc(n_parameters + 1, sizeof *tool->parameters);
        failed = !tool->name || !tool->spelling || !tool->parameters;
        for (size_t k = 0; !failed && k < n_parameters; k++) {
            const char *name = tools[i].parameters[k].name;
            tool->parameters[k] = laz_option_copy(name, strlen(name));
            failed = !tool->parameters[k];
        }
    }
    return failed ? laz_fail(err, LAZ_ENOMEM, "out of memory") : 0;
}

static int check(void *data, const char *code, size_t len, struct laz_outcome *outcome)
{
    outcome->kind = LAZ_OUTCOME_VALUE;
    each_line(data, code, len, outcome, check_line);
    return 0;
}

/* All of it is parsed before any of it runs. */
static int eval(void *data, const char *code, size_t len, uint32_t wanted,
                struct laz_outcome *outcome)
{
    (void)wanted;
    check(data, code, len, outcome);
    if (outcome->kind == LAZ_OUTCOME_VALUE)
        each_line(data, code, len, outcome, run_line);
    return 0;
}

/* ---- descriptor: data for the host, which the agent writes to skeleton.json ------------------ */

static const char *const suffixes[] = {".skeleton", NULL};
static const char *const nothing[] = {NULL};

static const struct laz_runtime_ops ops = {
    .size = sizeof ops,
    .suffixes = suffixes,
    .libraries = nothing, /* the interpreter's own library, if extension modules need its symbols */
    .read = nothing,      /* files of the interpreter outside /usr */
    .env = nothing,
    .reserved_words = nothing,
    .create = create,
    .version = version,
    .define_tools = define_tools,
    .check = check,
    .eval = eval,
};

LAZ_PLUGIN(skeleton) = {
    LAZ_PLUGIN_HEAD(LAZ_PLUGIN_RUNTIME),      .name = "skeleton", .version = "1.0",
    .summary = "integers and calls of tools", .ops = &ops,
};
