/* SPDX-License-Identifier: MIT */
/* tools.c - the list of tools in `init`, as the signatures a runtime takes.
 * Side: box.  Input trusted: yes.
 *
 * Defaults and enumerations stay JSON text: only the runtime knows its values. */
#include "agent/agent.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>

/* A copy that lives as long as `tools`, or NULL. */
static const char *tools_keep(struct agent_tools *tools, const char *text, size_t len)
{
    char *copy = laz_strndup(text, len);

    if (!copy) {
        tools->strings.failed = true;
        return NULL;
    }
    laz_strv_add(&tools->strings, copy);
    free(copy);
    return tools->strings.failed ? NULL : tools->strings.items[tools->strings.n - 1];
}

/* The string member `key`, or `fallback` when there is none. */
static const char *tools_string(struct agent_tools *tools, const char *object, size_t len,
                                const char *key, const char *fallback)
{
    const char *raw;
    size_t raw_len, text_len;

    if (!laz_json_member(object, len, key, &raw, &raw_len))
        return fallback;
    char *text = laz_json_to_string(raw, raw_len, &text_len);
    if (!text)
        return fallback;
    const char *kept = tools_keep(tools, text, text_len);
    free(text);
    return kept;
}

static const char *tools_raw(struct agent_tools *tools, const char *object, size_t len,
                             const char *key)
{
    const char *raw;
    size_t raw_len;

    return laz_json_member(object, len, key, &raw, &raw_len) ? tools_keep(tools, raw, raw_len)
                                                             : NULL;
}

static void tools_parameter(struct agent_tools *tools, const char *raw, size_t len,
                            struct laz_parameter *out)
{
    const char *value;
    size_t value_len;
    bool required = true;

    out->name = tools_string(tools, raw, len, "name", NULL);
    out->type = tools_string(tools, raw, len, "type", "");
    out->type_name = tools_string(tools, raw, len, "type_name", out->type);
    out->description = tools_string(tools, raw, len, "description", "");
    out->default_value = tools_raw(tools, raw, len, "default");
    out->enumeration = tools_raw(tools, raw, len, "enum");
    if (out->default_value)
        required = false;
    else if (laz_json_member(raw, len, "required", &value, &value_len))
        laz_json_to_bool(value, value_len, &required);
    out->required = required;
}

/* The items of a JSON list, one after the other. */
static bool tools_next(struct laz_json_reader *reader, const char **raw, size_t *len)
{
    const struct laz_json_api *json = laz_json_api();

    return json->peek(reader) != LAZ_JSON_ARRAY_END && json->skip(reader, raw, len);
}

static struct laz_json_reader *tools_list(const char *raw, size_t len)
{
    const struct laz_json_api *json = laz_json_api();
    struct laz_json_token token;
    struct laz_json_reader *reader = json->reader_new(raw, len);

    if (reader && json->next(reader, &token) != LAZ_JSON_ARRAY_BEGIN) {
        json->reader_free(reader);
        reader = NULL;
    }
    return reader;
}

static int tools_one(struct agent_tools *tools, const char *raw, size_t len, struct laz_error *err)
{
    struct laz_tool_signature *tool = &tools->tools[tools->n];
    const char *list, *item;
    size_t list_len, item_len;
    struct laz_json_reader *reader = NULL;
    size_t first = tools->n_parameters;

    tool->size = sizeof *tool;
    tool->name = tools_string(tools, raw, len, "name", NULL);
    tool->description = tools_string(tools, raw, len, "description", "");
    if (!tool->name)
        return laz_error_set(err, LAZ_EPROTO, 0, "init: a tool has no name");
    if (laz_json_member(raw, len, "parameters", &list, &list_len))
        reader = tools_list(list, list_len);
    while (reader && tools_next(reader, &item, &item_len)) {
        struct laz_parameter *grown =
            realloc(tools->parameters, (tools->n_parameters + 1) * sizeof *grown);
        if (!grown)
            break;
        tools->parameters = grown;
        tools_parameter(tools, item, item_len, &grown[tools->n_parameters++]);
        if (!grown[tools->n_parameters - 1].name) {
            laz_json_api()->reader_free(reader);
            return laz_error_set(err, LAZ_EPROTO, 0, "init: a parameter of tool '%s' has no name",
                                 tool->name);
        }
    }
    bool whole = !reader || laz_json_api()->peek(reader) == LAZ_JSON_ARRAY_END;
    laz_json_api()->reader_free(reader);
    if (!whole || tools->strings.failed)
        return laz_error_nomem(err);
    tool->n_parameters = tools->n_parameters - first;
    tools->n++;
    return 0;
}

int agent_tools_parse(const char *raw, size_t len, struct agent_tools *tools, struct laz_error *err)
{
    struct laz_json_reader *reader = tools_list(raw, len);
    const char *item;
    size_t item_len;
    int rc = 0;

    if (!reader)
        return laz_error_set(err, LAZ_EPROTO, 0, "init: tools is no list");
    while (rc == 0 && tools_next(reader, &item, &item_len)) {
        struct laz_tool_signature *grown = realloc(tools->tools, (tools->n + 1) * sizeof *grown);
        if (!grown) {
            rc = laz_error_nomem(err);
            break;
        }
        tools->tools = grown;
        memset(&grown[tools->n], 0, sizeof *grown);
        rc = tools_one(tools, item, item_len, err);
    }
    laz_json_api()->reader_free(reader);
    /* Only now do the parameters stay where they are. */
    size_t at = 0;
    for (size_t i = 0; rc == 0 && i < tools->n; i++) {
        tools->tools[i].parameters = tools->parameters ? tools->parameters + at : NULL;
        at += tools->tools[i].n_parameters;
    }
    return rc;
}

void agent_tools_fini(struct agent_tools *tools)
{
    free(tools->tools);
    free(tools->parameters);
    laz_strv_fini(&tools->strings);
    *tools = (struct agent_tools){0};
}
