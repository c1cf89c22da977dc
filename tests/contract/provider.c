/* SPDX-License-Identifier: MIT */
/* provider.c - a small host for one tool provider: loads it, makes an instance and calls its tools.
 *
 *     contract-provider FILE.so OPTIONS [TOOL ARGUMENTS]...
 *
 * OPTIONS and ARGUMENTS are JSON objects, passed unchanged to the provider. Each answer is a line
 * on standard output: "value JSON" or "error TEXT". It serves providers that answer before `call`
 * returns. Exit status: 0, 1 when the provider broke its contract, 2 when it cannot be loaded. */
#include "base/json.h"
#include "plugin/plugin.h"

#include <stdio.h>
#include <string.h>

struct laz_call {
    int answers;
};

static void provider_log(void *host, uint32_t level, const char *text)
{
    (void)host;
    (void)level;
    fprintf(stderr, "log: %s\n", text);
}

static void provider_answer(void *host, struct laz_call *call, const char *json, size_t len)
{
    struct laz_error err = {0};

    (void)host;
    call->answers++;
    if (laz_json_scan(json, len, &err) == 0) {
        printf("value %.*s\n", (int)len, json);
    } else {
        printf("broken %s\n", err.text);
        call->answers = -1;
    }
}

static void provider_answer_error(void *host, struct laz_call *call, const char *message)
{
    (void)host;
    call->answers++;
    printf("error %s\n", message);
}

/* Calls one tool by name. 0, or 1 when it does not exist or does not answer exactly once. */
static int provider_call(const struct laz_tool_ops *ops, void *state, const char *name,
                         const char *args)
{
    const struct laz_tool *tools = NULL;
    struct laz_error err = {0};
    struct laz_call call = {0};
    size_t n = 0, tool = 0;

    if (ops->list(state, &tools, &n, &err) != 0)
        return 1;
    while (tool < n && strcmp(tools[tool].name, name) != 0)
        tool++;
    if (tool == n) {
        printf("no tool is called %s\n", name);
        return 1;
    }
    if (tools[tool].parameters &&
        laz_json_scan(tools[tool].parameters, strlen(tools[tool].parameters), &err) != 0) {
        printf("parameters of %s: %s\n", name, err.text);
        return 1;
    }
    if (ops->call(state, tool, &call, args, strlen(args), &err) != 0) {
        printf("error %s\n", err.text);
        return call.answers != 0;
    }
    return call.answers != 1;
}

int main(int argc, char **argv)
{
    const struct laz_tool_services services = {
        .size = sizeof services,
        .json = laz_json_api(),
        .log = provider_log,
        .answer = provider_answer,
        .answer_error = provider_answer_error,
    };
    struct laz_module *module = NULL;
    struct laz_error err = {0};
    void *state = NULL;
    int status = 0;

    if (argc < 3 || argc % 2 == 0) {
        fprintf(stderr, "usage: %s FILE.so OPTIONS [TOOL ARGUMENTS]...\n", argv[0]);
        return 2;
    }
    if (laz_module_open(argv[1], LAZ_PLUGIN_TOOL, NULL, &module, &err) != 0) {
        fprintf(stderr, "%s\n", err.text);
        return 2;
    }
    const struct laz_plugin *plugin = laz_module_plugin(module);
    const struct laz_tool_ops *ops = plugin->ops;
    printf("plugin %s %s\n", plugin->name, plugin->version);
    if (ops->create(&services, argv[2], strlen(argv[2]), &state, &err) != 0) {
        printf("error %s\n", err.text);
    } else {
        for (int i = 3; i < argc; i += 2)
            status |= provider_call(ops, state, argv[i], argv[i + 1]);
        ops->destroy(state);
    }
    laz_module_close(module);
    return status;
}
