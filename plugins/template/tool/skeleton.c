/* SPDX-License-Identifier: MIT */
/* skeleton.c - a tool provider: a function of the host that code in the box can call.
 *
 * It runs in the host, with the host's rights, and code of a model chooses the arguments. The host
 * has checked their names and types; whether a value is allowed is checked here. */
#include <lazaret/options.h>
#include <lazaret/tool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Keys of the [[tools]] table besides `provider`, and their places in the state. */
static const struct laz_option options[] = {
    LAZ_OPTION("greeting", LAZ_OPT_STRING, "\"Hello\"", "what is said before the name"),
    LAZ_OPTIONS_END,
};

struct state {
    const struct laz_tool_services *services;
    char *greeting;
};

static const struct laz_option_field option_fields[] = {
    {"greeting", LAZ_OPT_STRING, offsetof(struct state, greeting)},
    {NULL, 0, 0},
};

/* What the model is told, and what the host checks before a call. */
static const struct laz_tool tools[] = {
    {.size = sizeof(struct laz_tool),
     .name = "greet",
     .description = "Greets somebody by name",
     .parameters = "[{\"name\":\"who\",\"type\":\"string\",\"default\":\"world\"}]"},
};

struct arguments {
    char *who;
};

static const struct laz_option_field argument_fields[] = {
    {"who", LAZ_OPT_STRING, offsetof(struct arguments, who)},
    {NULL, 0, 0},
};

static void destroy(void *data)
{
    struct state *state = data;

    laz_options_free(option_fields, state);
    free(state);
}

static int create(const struct laz_tool_services *services, const char *text, size_t len,
                  void **data, struct laz_error *err)
{
    struct state *state = calloc(1, sizeof *state);

    if (!state)
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    state->services = services;
    int rc = laz_options_read(services->json, text, len, option_fields, state, err);
    if (rc)
        destroy(state);
    else
        *data = state;
    return rc;
}

static int list(void *data, const struct laz_tool **list, size_t *n, struct laz_error *err)
{
    (void)data;
    (void)err;
    *list = tools;
    *n = sizeof tools / sizeof tools[0];
    return 0;
}

/* Answers with "GREETING, WHO!". */
static int greet(const struct state *state, struct laz_call *call, const char *who,
                 struct laz_error *err)
{
    const struct laz_tool_services *services = state->services;
    struct laz_json_writer *writer = services->json->writer_new(0);
    const char *json = NULL;
    char text[300];
    size_t len;

    if (writer) {
        snprintf(text, sizeof text, "%s, %s!", state->greeting, who);
        services->json->write_string(writer, text, strlen(text));
        json = services->json->writer_text(writer, &len, NULL);
    }
    if (json)
        services->answer(services->host, call, json, len);
    services->json->writer_free(writer);
    return json ? 0 : laz_fail(err, LAZ_ENOMEM, "out of memory");
}

/* `tool`: its number in the list. */
static int call(void *data, size_t tool, struct laz_call *call, const char *args, size_t args_len,
                struct laz_error *err)
{
    struct state *state = data;
    struct arguments arguments = {NULL};

    (void)tool;
    int rc =
        laz_options_read(state->services->json, args, args_len, argument_fields, &arguments, err);
    if (!rc && strlen(arguments.who) > 100) /* an error that the code can catch */
        rc = laz_fail(err, LAZ_EINVAL, "who: expected at most 100 bytes");
    if (!rc)
        rc = greet(state, call, arguments.who, err);
    laz_options_free(argument_fields, &arguments);
    return rc;
}

static const struct laz_tool_ops ops = {
    .size = sizeof ops,
    .create = create,
    .list = list,
    .call = call,
    .destroy = destroy,
};

LAZ_PLUGIN(skeleton) = {
    LAZ_PLUGIN_HEAD(LAZ_PLUGIN_TOOL), .name = "skeleton", .version = "1.0",
    .summary = "greets people",       .options = options, .ops = &ops,
};
