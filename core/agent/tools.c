/* SPDX-License-Identifier: MIT */
/* tools.c - the list of tools in `init`, as the signatures a runtime takes.
 * Side: box.  Input trusted: yes.
 *
 * Defaults and enumerations stay JSON text: only the runtime knows its values. */
#include "agent/agent.h"

#include <stdlib.h>
#include <string.h>

static const char *tools_last(const struct agent_tools *tools)
{
    return tools->texts.failed ? NULL : tools->texts.items[tools->texts.n - 1];
}

/* A copy that ends with a NUL and lives as long as `tools`; NULL for NULL. */
static const char *tools_json(struct agent_tools *tools, const char *raw, size_t len)
{
    if (!raw)
        return NULL;
    laz_strv_addf(&tools->texts, "%.*s", (int)len, raw);
    return tools_last(tools);
}

static const char *tools_text(const char *text)
{
    return text ? text : "";
}

/* What the code reads about a tool: also whether its calls wait for an approval. */
static const char *tools_description(struct agent_tools *tools, const struct laz_wire_tool *from)
{
    const char *text = tools_text(from->description);
    const char *approvals = laz_wire_approvals(from->approve, from->may_approve);
    const size_t len = strlen(text);

    if (!approvals)
        return text;
    const char *join = !len || strchr(" \n", text[len - 1]) ? ""
                       : strchr(".!?", text[len - 1])       ? " "
                                                            : ". ";
    laz_strv_addf(&tools->texts, "%s%s%s", text, join, approvals);
    return tools_last(tools);
}

static void tools_parameter(struct agent_tools *tools, const struct laz_wire_parameter *from,
                            struct laz_parameter *to)
{
    to->name = from->name;
    to->spelling = from->spelling ? from->spelling : from->name;
    to->type = tools_text(from->type);
    to->type_name = from->type_name ? from->type_name : to->type;
    to->description = tools_text(from->description);
    to->default_value = tools_json(tools, from->default_value, from->default_len);
    to->enumeration = tools_json(tools, from->enumeration, from->enumeration_len);
    to->required = from->is_required && !from->default_value;
}

/* Fills the signatures; there is room for all. */
static void tools_sign(struct agent_tools *tools)
{
    const struct laz_wire_tool *from = tools->list.items;
    struct laz_parameter *next = tools->parameters;

    for (; tools->n < tools->list.n; tools->n++, from++) {
        const struct laz_wire_parameter *parameters = from->parameters.items;
        tools->tools[tools->n] = (struct laz_tool_signature){
            .size = sizeof *tools->tools,
            .name = from->name,
            .spelling = from->spelling ? from->spelling : from->name,
            .description = tools_description(tools, from),
            .parameters = next,
            .n_parameters = from->parameters.n,
            .returns = tools_text(from->returns),
            .native = from->native,
        };
        for (size_t i = 0; i < from->parameters.n; i++)
            tools_parameter(tools, &parameters[i], next++);
    }
}

int agent_tools_parse(const char *raw, size_t len, struct agent_tools *tools, struct laz_error *err)
{
    size_t n = 1;

    int rc = laz_wire_read_list(&laz_wire_tool, raw, len, &tools->list, err);
    if (rc) {
        laz_error_prefix(err, "init: ");
        return rc;
    }
    const struct laz_wire_tool *list = tools->list.items;
    for (size_t i = 0; i < tools->list.n; i++)
        n += list[i].parameters.n;
    tools->tools = calloc(tools->list.n + 1, sizeof *tools->tools);
    tools->parameters = calloc(n, sizeof *tools->parameters);
    if (!tools->tools || !tools->parameters)
        return laz_error_nomem(err);
    tools_sign(tools);
    return tools->texts.failed ? laz_error_nomem(err) : 0;
}

void agent_tools_fini(struct agent_tools *tools)
{
    laz_fields_free_list(&laz_wire_tool, &tools->list);
    free(tools->tools);
    free(tools->parameters);
    laz_strv_fini(&tools->texts);
    *tools = (struct agent_tools){0};
}
