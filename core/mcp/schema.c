/* SPDX-License-Identifier: MIT */
/* schema.c - the table of an object as JSON Schema, for the tools of the server: what describes an
 * argument is the row that reads it. */
#include "mcp/mcp_private.h"

#include <string.h>

static const char *const schema_types[LAZ_FIELD_KINDS] = {
    [LAZ_FIELD_TEXT] = "string",     [LAZ_FIELD_PLAIN] = "string", [LAZ_FIELD_INTEGER] = "integer",
    [LAZ_FIELD_BOOLEAN] = "boolean", [LAZ_FIELD_TEXTS] = "array",  [LAZ_FIELD_OBJECT] = "object",
    [LAZ_FIELD_LIST] = "array",
};

static void schema_describe(struct laz_json_write *write, const char *help)
{
    if (help)
        laz_json_add_text(write, "description", help);
}

static void schema_members(struct laz_json_write *write, const struct laz_fields *fields,
                           const struct laz_strv *languages);

static void schema_items(struct laz_json_write *write, const struct laz_field *field)
{
    laz_json_begin_object(write, "items");
    if (field->of)
        schema_members(write, field->of, NULL);
    else
        laz_json_add_text(write, "type", "string");
    laz_json_end_object(write);
}

static void schema_member(struct laz_json_write *write, const struct laz_field *field,
                          const struct laz_strv *languages)
{
    const char *type = field->shape == LAZ_SHAPE_OBJECT ? "object" : schema_types[field->kind];

    laz_json_begin_object(write, field->name);
    schema_describe(write, field->help);
    if (field->kind == LAZ_FIELD_OBJECT) {
        schema_members(write, field->of, NULL);
    } else if (type) {
        laz_json_add_text(write, "type", type);
    }
    if (languages && strcmp(field->name, "runtime") == 0)
        laz_json_add_texts(write, "enum", languages);
    if (field->kind == LAZ_FIELD_INTEGER && field->max) {
        laz_json_add_int(write, "minimum", field->min);
        laz_json_add_int(write, "maximum", field->max);
    }
    if (field->kind == LAZ_FIELD_LIST || field->kind == LAZ_FIELD_TEXTS)
        schema_items(write, field);
    laz_json_end_object(write);
}

static void schema_members(struct laz_json_write *write, const struct laz_fields *fields,
                           const struct laz_strv *languages)
{
    bool is_needed = false;

    laz_json_add_text(write, "type", "object");
    if (fields->n)
        laz_json_begin_object(write, "properties");
    for (size_t i = 0; i < fields->n; i++) {
        schema_member(write, &fields->items[i], languages);
        is_needed |= (fields->items[i].flags & LAZ_FIELD_REQUIRED) != 0;
    }
    if (fields->n)
        laz_json_end_object(write);
    if (is_needed) {
        laz_json_begin_list(write, "required");
        for (size_t i = 0; i < fields->n; i++)
            if (fields->items[i].flags & LAZ_FIELD_REQUIRED)
                laz_json_add_text(write, NULL, fields->items[i].name);
        laz_json_end_list(write);
    }
    if (fields->is_closed)
        laz_json_add_bool(write, "additionalProperties", false);
}

void mcp_schema_add(struct laz_json_write *write, const char *key, const struct laz_fields *fields,
                    const struct laz_strv *languages)
{
    laz_json_begin_object(write, key);
    schema_members(write, fields, languages);
    laz_json_end_object(write);
}
