/* SPDX-License-Identifier: MIT */
/* command.c - the tool provider `command`: each tool is a command of the host.
 *
 * The author's command is a list of arguments, never a line for a shell. An argument that is
 * exactly "{name}" stands for the value of that parameter, as one whole argument whatever bytes it
 * has; a value that begins with "-" could be taken for an option and is refused, unless "--" stands
 * before it in the author's command. Unless each parameter has a placeholder, the arguments come as
 * one JSON object on standard input: none is dropped. The command's output is the value, as JSON or
 * as text; a nonzero exit status is an error for the code that called, with the command's standard
 * error.
 * Side: host.  Input trusted: no (arguments come from the box; the host has checked their types).
 */
#include "argv.h"

#include <lazaret/options.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COMMAND_MAX_ERROR 2048 /* bytes of standard error kept as the message */

struct command_tool {
    char *name, *description, *parameters, *returns, *output;
    char **command; /* moved to `argv` */
    char *env;      /* the JSON text of a table, until `variables` is made */
    char **variables;
    struct command_argv argv;
    bool is_text;
    int64_t timeout_ms, max_concurrent, max_output;
    bool approve;
};

struct command_state {
    const struct laz_tool_services *services;
    struct command_tool *items;
    struct laz_tool *tools; /* the list given to the host; points into items */
    size_t n;
};

static const struct laz_option options[] = {
    LAZ_OPTION("tool", LAZ_OPT_TABLES, NULL, "one table for each tool"),
    LAZ_OPTION("tool.name", LAZ_OPT_STRING, NULL, "name of the function that code calls"),
    LAZ_OPTION("tool.description", LAZ_OPT_STRING, "\"\"", "what it does, for the model"),
    LAZ_OPTION(
        "tool.command", LAZ_OPT_STRINGS, NULL,
        "absolute path of a program and its arguments; {name} is the value of a parameter, as one "
        "whole argument, with a leading \"-\" only after \"--\"; unless each parameter has one, "
        "the "
        "arguments come as one JSON object on standard input"),
    LAZ_OPTION("tool.env", LAZ_OPT_TEXTS, "{}",
               "variables of the program, beside those that each command gets; {secret.NAME} in a "
               "value is a secret of [secrets]",
               .flags = LAZ_OPT_SECRET),
    LAZ_OPTION("tool.parameters", LAZ_OPT_PARAMETERS, "{}",
               "its parameters, in the order of positional arguments"),
    LAZ_OPTION("tool.returns", LAZ_OPT_ANY, "",
               "what it returns, for who reads about it: a JSON Schema as a table"),
    LAZ_OPTION("tool.timeout", LAZ_OPT_TIME, "30",
               "after which it is killed; 0: only the deadline"),
    LAZ_OPTION("tool.output", LAZ_OPT_STRING, "\"json\"",
               "what its standard output is: json or text"),
    LAZ_OPTION("tool.max_concurrent", LAZ_OPT_INTEGER, "8",
               "calls that may run at once; 0: no limit"),
    LAZ_OPTION("tool.approve", LAZ_OPT_BOOLEAN, "false", "each call waits for a yes of the host"),
    LAZ_OPTION("tool.max_output", LAZ_OPT_SIZE, "\"64MiB\"",
               "more on a stream ends it with an error"),
    LAZ_OPTIONS_END,
};

/* ---- options -------------------------------------------------------------------------------- */

#define TOOL(key, type, member)                                                                    \
    {                                                                                              \
        key, type, offsetof(struct command_tool, member)                                           \
    }

static const struct laz_option_field tool_fields[] = {
    TOOL("name", LAZ_OPT_STRING, name),
    TOOL("description", LAZ_OPT_STRING, description),
    TOOL("command", LAZ_OPT_STRINGS, command),
    TOOL("env", LAZ_OPT_TEXTS, env),
    TOOL("parameters", LAZ_OPT_PARAMETERS, parameters),
    TOOL("returns", LAZ_OPT_ANY, returns),
    TOOL("timeout", LAZ_OPT_TIME, timeout_ms),
    TOOL("output", LAZ_OPT_STRING, output),
    TOOL("max_concurrent", LAZ_OPT_INTEGER, max_concurrent),
    TOOL("approve", LAZ_OPT_BOOLEAN, approve),
    TOOL("max_output", LAZ_OPT_SIZE, max_output),
    {NULL, 0, 0},
};

/* Overwrites a text that may have a secret, and frees it. */
static void command_forget(char *text)
{
    volatile char *at = text;

    while (at && *at)
        *at++ = 0;
    free(text);
}

/* Adds NAME=VALUE to the list, which ends with NULL. */
static int command_add_variable(struct command_tool *tool, size_t n, const char *name,
                                const struct laz_json_token *value, struct laz_error *err)
{
    char **list = realloc(tool->variables, (n + 2) * sizeof *list);
    const size_t size = strlen(name) + value->len + 2;

    if (!list)
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    tool->variables = list;
    list[n + 1] = NULL;
    list[n] = malloc(size);
    if (!list[n])
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    snprintf(list[n], size, "%s=%s", name, value->text);
    return 0;
}

/* Makes the variables of the table; no error has a value. */
static int command_take_env(const struct laz_json_api *json, struct command_tool *tool,
                            struct laz_error *err)
{
    struct laz_json_reader *reader =
        tool->env ? json->reader_new(tool->env, strlen(tool->env)) : NULL;
    struct laz_json_token token;
    size_t n = 0;
    int ret = 0;

    if (tool->env && !reader)
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    if (reader)
        json->next(reader, &token);
    while (reader && !ret && json->next(reader, &token) == LAZ_JSON_KEY) {
        char *name = laz_option_copy(token.text, token.len);
        if (!name)
            ret = laz_fail(err, LAZ_ENOMEM, "out of memory");
        else if (!*name || strchr(name, '='))
            ret = laz_fail(err, LAZ_EINVAL, "tool '%s': env: '%.100s' is no name of a variable",
                           tool->name, name);
        else if (json->next(reader, &token) != LAZ_JSON_STRING)
            ret = laz_fail(err, LAZ_EINVAL, "tool '%s': env: %.100s: expected a string", tool->name,
                           name);
        else
            ret = command_add_variable(tool, n++, name, &token, err);
        free(name);
    }
    json->reader_free(reader);
    command_forget(tool->env);
    tool->env = NULL;
    return ret;
}

/* "/usr/bin/lookup", or "C:\\Tools\\lookup.exe" on Windows: names are not searched in any
 * directory. */
static bool command_is_absolute(const char *path)
{
    return path[0] == '/' || (path[0] && path[1] == ':' && (path[2] == '/' || path[2] == '\\'));
}

/* The program of a tool must exist when the tool is declared, and other users must not be able to
 * change it. */
static int command_check_program(const struct command_state *state, const struct command_tool *tool,
                                 struct laz_error *err)
{
    const struct laz_tool_services *services = state->services;
    const char *program = tool->argv.items[0].text;
    struct laz_error why = {0};
    struct stat status;

    if (!command_is_absolute(program))
        return laz_fail(err, LAZ_EINVAL,
                        "tool '%s': command: '%s' must be the absolute path of a program",
                        tool->name, program);
    if (stat(program, &status) != 0)
        return laz_fail(err, LAZ_EINVAL, "tool '%s': command: %s: %s", tool->name, program,
                        strerror(errno));
    if (!S_ISREG(status.st_mode) || access(program, X_OK) != 0)
        return laz_fail(err, LAZ_EINVAL, "tool '%s': command: %s is not an executable program",
                        tool->name, program);
    if (LAZ_HAS(services, check_program) && services->check_program(services->host, program, &why))
        return laz_fail(err, LAZ_EINVAL, "tool '%s': command: %s", tool->name, why.text);
    return 0;
}

/* *key: which one is wrong. */
static int command_check_tool(struct command_state *state, struct command_tool *tool,
                              const char **key, struct laz_error *err)
{
    const char *output = tool->output ? tool->output : "json";
    int ret;

    *key = "output";
    tool->is_text = strcmp(output, "text") == 0;
    if (!tool->is_text && strcmp(output, "json") != 0)
        return laz_fail(err, LAZ_EINVAL,
                        "tool '%s': output: expected json or text, found "
                        "'%.100s'",
                        tool->name, output);
    *key = "max_concurrent";
    if (tool->max_concurrent < 0 || tool->max_concurrent > UINT32_MAX)
        return laz_fail(err, LAZ_EINVAL,
                        "tool '%s': max_concurrent: expected 0 or more, found %lld", tool->name,
                        (long long)tool->max_concurrent);
    *key = "timeout";
    if (tool->timeout_ms < 0 || tool->timeout_ms > UINT32_MAX)
        return laz_fail(err, LAZ_EINVAL, "tool '%s': timeout: expected 0 to 49 days", tool->name);
    *key = "env";
    ret = command_take_env(state->services->json, tool, err);
    if (ret)
        return ret;
    *key = "command";
    if (!tool->argv.n)
        return laz_fail(err, LAZ_EINVAL, "tool '%s': command: expected a program, found none",
                        tool->name);
    ret = command_check_program(state, tool, err);
    if (!ret)
        ret = command_argv_bind(&tool->argv, state->services->json, tool->name,
                                tool->parameters ? tool->parameters : "[]", err);
    return ret;
}

/* ---- running -------------------------------------------------------------------------------- */

/* Bytes of the UTF-8 character at the start of the text; 1 when it is invalid. */
static size_t command_character(const char *text, size_t len)
{
    unsigned char c = (unsigned char)text[0];
    size_t n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;

    for (size_t i = 1; i < n; i++)
        if (i >= len || ((unsigned char)text[i] & 0xc0) != 0x80)
            return 1;
    return n;
}

/* Answers with the error of a command: the beginning of its standard error without control bytes
 * except newlines, or how it ended. */
static void command_fail(const struct command_state *state, struct laz_call *call,
                         const struct laz_command_result *result)
{
    char message[COMMAND_MAX_ERROR + 1];
    size_t used = 0, step;

    for (size_t i = 0; i < result->errors_len && used < COMMAND_MAX_ERROR; i += step) {
        const char *text = result->errors + i;
        unsigned char c = (unsigned char)*text;
        step = command_character(text, result->errors_len - i);
        if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
            continue;
        if (used + step > COMMAND_MAX_ERROR)
            break;
        memcpy(message + used, text, step);
        used += step;
    }
    while (used && (message[used - 1] == '\n' || message[used - 1] == ' '))
        used--;
    message[used] = '\0';
    if (!used && result->signal)
        snprintf(message, sizeof message, "ended by signal %d", (int)result->signal);
    else if (!used)
        snprintf(message, sizeof message, "exit status %d", (int)result->exit_status);
    state->services->answer_error(state->services->host, call, message);
}

static bool command_is_blank(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!strchr(" \t\r\n", text[i]) || !text[i])
            return false;
    return true;
}

/* Answers with the output: as text without its last newline; as JSON, where no output is null. */
static int command_answer(const struct command_state *state, const struct command_tool *tool,
                          struct laz_call *call, const struct laz_command_result *result,
                          struct laz_error *err)
{
    const struct laz_tool_services *services = state->services;
    const struct laz_json_api *json = services->json;
    struct laz_json_writer *writer;
    size_t len = result->output_len;
    const char *text;
    bool too_large;

    if (!tool->is_text) {
        bool blank = command_is_blank(result->output, len);
        services->answer(services->host, call, blank ? "null" : result->output, blank ? 4 : len);
        return 0;
    }
    if (len && result->output[len - 1] == '\n')
        len--;
    writer = json->writer_new(0);
    if (writer)
        json->write_string(writer, result->output, len);
    text = writer ? json->writer_text(writer, &len, &too_large) : NULL;
    if (text)
        services->answer(services->host, call, text, len);
    json->writer_free(writer);
    return text ? 0 : laz_fail(err, LAZ_ENOMEM, "out of memory");
}

/* ---- operations ----------------------------------------------------------------------------- */

/* Frees what the last tool has, and forgets it. */
static void command_drop(struct command_state *state)
{
    struct command_tool *tool = &state->items[--state->n];

    command_argv_fini(&tool->argv);
    for (size_t i = 0; tool->variables && tool->variables[i]; i++)
        command_forget(tool->variables[i]);
    free(tool->variables);
    laz_options_free(tool_fields, tool);
}

static void command_destroy(void *data)
{
    struct command_state *state = data;

    if (!state)
        return;
    while (state->n)
        command_drop(state);
    free(state->items);
    free(state->tools);
    free(state);
}

/* Tool number `item` of the options. */
static int command_add(void *data, size_t item, const char *text, size_t len, struct laz_error *err)
{
    struct command_state *state = data;
    const struct laz_tool_services *services = state->services;
    struct laz_error why = {0};
    const char *key = NULL;
    struct command_tool *items = realloc(state->items, (state->n + 1) * sizeof *items);
    struct laz_tool *tools;

    if (!items)
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    state->items = items;
    tools = realloc(state->tools, (state->n + 1) * sizeof *tools);
    if (!tools)
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    state->tools = tools;
    struct command_tool *tool = &items[state->n++];
    *tool = (struct command_tool){.timeout_ms = 30000, .max_concurrent = 8};
    int ret = laz_options_read(services->json, text, len, tool_fields, tool, err);
    if (!ret && !tool->name)
        ret = laz_fail(err, LAZ_EINVAL, "name: a tool needs one");
    if (ret)
        return ret;
    if (!command_argv_take(&tool->argv, tool->command))
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    ret = command_check_tool(state, tool, &key, &why);
    if (ret) {
        if (ret != LAZ_ENOMEM && LAZ_HAS(services, mistake))
            ret = services->mistake(services->host, "tool", item, key, &why);
        command_drop(state);
        if (ret && err)
            *err = why;
        return ret;
    }
    tools[state->n - 1] = (struct laz_tool){
        .size = sizeof *tools,
        .name = tool->name,
        .description = tool->description,
        .parameters = tool->parameters,
        .timeout_ms = (uint32_t)tool->timeout_ms,
        .max_concurrent = (uint32_t)tool->max_concurrent,
        .approve = tool->approve,
        .returns = tool->returns,
    };
    return 0;
}

static int command_create(const struct laz_tool_services *services, const char *text, size_t len,
                          void **out, struct laz_error *err)
{
    static const struct laz_option_field fields[] = {{"tool", LAZ_OPT_TABLES, 0}, {NULL, 0, 0}};
    struct command_state *state = calloc(1, sizeof *state);
    char *tables = NULL;
    int ret;

    if (!state)
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    state->services = services;
    ret = laz_options_read(services->json, text, len, fields, &tables, err);
    if (!ret && (!tables || strspn(tables, "[] ") == strlen(tables)))
        ret = laz_fail(err, LAZ_EINVAL, "it declares no tool: add a [[tools.tool]] table");
    if (!ret)
        ret = laz_options_each(services->json, tables, command_add, state, err);
    command_forget(tables);
    if (ret)
        command_destroy(state);
    else
        *out = state;
    return ret;
}

static int command_list(void *data, const struct laz_tool **tools, size_t *n, struct laz_error *err)
{
    struct command_state *state = data;

    (void)err;
    *tools = state->tools;
    *n = state->n;
    return 0;
}

static int command_call(void *data, size_t index, struct laz_call *call, const char *args,
                        size_t len, struct laz_error *err)
{
    struct command_state *state = data;
    const struct command_tool *tool = &state->items[index];
    struct laz_command command = {.size = sizeof command, .max_output = (size_t)tool->max_output};
    struct laz_command_result result = {.size = sizeof result};
    char **argv = NULL;
    int ret =
        command_argv_make(&tool->argv, state->services->json, tool->name, args, len, &argv, err);

    if (ret)
        return ret;
    command.argv = (const char *const *)argv;
    command.env = (const char *const *)tool->variables;
    if (!tool->argv.all_placed) {
        command.input = args;
        command.input_len = len;
    }
    ret = state->services->run(state->services->host, call, &command, &result, err);
    command_argv_free(argv);
    if (ret)
        return ret;
    if (result.exit_status != 0) {
        command_fail(state, call, &result);
        return 0;
    }
    return command_answer(state, tool, call, &result, err);
}

static const struct laz_tool_ops ops = {
    .size = sizeof ops,
    .flags = LAZ_TOOL_BLOCKING,
    .create = command_create,
    .list = command_list,
    .call = command_call,
    .cancel = NULL, /* the host kills the command */
    .destroy = command_destroy,
};

LAZ_PLUGIN(command) = {
    LAZ_PLUGIN_HEAD(LAZ_PLUGIN_TOOL),           .name = "command",  .version = "0.1.0",
    .summary = "commands of the host as tools", .options = options, .ops = &ops,
};
