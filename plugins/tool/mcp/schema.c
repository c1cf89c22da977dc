/* SPDX-License-Identifier: MIT */
/* schema.c - makes the declaration of a tool from a server's: JSON Schema becomes parameters.
 *
 * A parameter has a type, an enumeration and a default as far as lazaret can say them; everything
 * else takes any value, which the server checks.  References are followed a few steps and no
 * further, so a circle of them costs nothing.  Annotations (readOnlyHint and the like) are claims
 * of the server, and are not read.
 * Side: host.  Input trusted: no (a server's bytes, after the scan). */
#include "mcp_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA_STEPS     4    /* of references */
#define SCHEMA_SHOWN     600  /* bytes of a schema in a description */
#define SCHEMA_MAX_ENUM  4096 /* bytes */
#define SCHEMA_MAX_VALUE 1024 /* bytes of a default */
#define SCHEMA_DIGITS    15   /* that a double keeps */

/* ---- types ----------------------------------------------------------------------------------- */

/* A type of JSON Schema, and how its values begin. */
static const struct schema_type {
    const char *name, *begins;
} schema_types[] = {
    {"string", "\""},
    {"integer", "-0123456789"},
    {"number", "-0123456789"},
    {"boolean", "tf"},
    {"array", "["},
    {"object", "{"},
    {NULL, "\"-0123456789tf"}, /* anything: of a default only what is simple */
};

#define SCHEMA_ANY (&schema_types[sizeof schema_types / sizeof *schema_types - 1])

/* What is known of the values of a property. */
struct property_type {
    const struct laz_json_api *json;
    const struct schema_type *type;
    unsigned types; /* that were named, without null */
    bool is_nullable;
    struct mcp_raw of; /* the schema that has the enumeration */
};

static bool type_named(void *user, const char *key, struct mcp_raw item)
{
    struct property_type *type = user;
    char *name = mcp_string(type->json, item);

    (void)key;
    if (name && strcmp(name, "null") == 0) {
        type->is_nullable = true;
    } else {
        type->types++;
        type->type = schema_types;
        while (type->type->name && !(name && strcmp(type->type->name, name) == 0))
            type->type++;
    }
    free(name);
    return true;
}

/* One of the schemas of anyOf or oneOf. */
static bool type_alternative(void *user, const char *key, struct mcp_raw item)
{
    struct property_type *type = user;
    const struct mcp_raw name = mcp_member(type->json, item, "type");

    if (name.text && name.text[0] == '"')
        type_named(type, key, name);
    else
        type->types += 2;
    if (!mcp_is_text(type->json, name, "null"))
        type->of = item;
    return true;
}

static struct property_type schema_type_of(const struct laz_json_api *json, struct mcp_raw schema)
{
    struct property_type type = {.json = json, .type = SCHEMA_ANY, .of = schema};
    const struct mcp_raw name = mcp_member(json, schema, "type");
    struct mcp_raw others = mcp_member(json, schema, "anyOf");

    if (!others.text)
        others = mcp_member(json, schema, "oneOf");
    if (name.text && name.text[0] == '"')
        type_named(&type, NULL, name);
    else if (name.text)
        (void)mcp_each(json, name, type_named, &type);
    else if (others.text)
        (void)mcp_each(json, others, type_alternative, &type);
    if (type.types != 1)
        type.type = SCHEMA_ANY;
    return type;
}

/* The schema that a reference to the definitions of `root` leads to, or the schema itself. */
static struct mcp_raw schema_resolve(const struct laz_json_api *json, struct mcp_raw root,
                                     struct mcp_raw schema)
{
    static const char *const places[] = {"$defs", "definitions"};

    for (int step = 0; step < SCHEMA_STEPS; step++) {
        char *target = mcp_string(json, mcp_member(json, schema, "$ref"));
        struct mcp_raw found = {0};
        for (size_t i = 0; target && i < 2 && !found.text; i++) {
            const size_t len = strlen(places[i]);
            if (strncmp(target, "#/", 2) == 0 && strncmp(target + 2, places[i], len) == 0 &&
                target[len + 2] == '/')
                found = mcp_member(json, mcp_member(json, root, places[i]), target + len + 3);
        }
        free(target);
        if (!found.text)
            break;
        schema = found;
    }
    return schema;
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool value_is_whole(struct mcp_raw value)
{
    int64_t number;

    return value.len <= SCHEMA_DIGITS && mcp_integer(value, &number);
}

/* Is it a value of the type that lazaret takes in a declaration? */
static bool value_fits(const struct schema_type *type, struct mcp_raw value)
{
    if (!value.len || !strchr(type->begins, value.text[0]))
        return false;
    if (type->name && strcmp(type->name, "integer") == 0)
        return value_is_whole(value);
    if (strchr("-0123456789", value.text[0]))
        return value.len <= SCHEMA_DIGITS;
    for (size_t i = 0; strchr("[{", value.text[0]) && i + 1 < value.len; i++)
        if (value.text[i] == '"' && value.text[i + 1] == '$') /* a tagged form */
            return false;
    return true;
}

struct enumeration {
    const struct schema_type *type;
    struct mcp_raw one; /* that is looked for; NULL: none */
    bool is_there;
};

static bool enumeration_item(void *user, const char *key, struct mcp_raw item)
{
    struct enumeration *list = user;

    (void)key;
    if (list->one.text && item.len == list->one.len &&
        memcmp(item.text, list->one.text, item.len) == 0)
        list->is_there = true;
    return !strchr("[{", item.text[0]) && value_fits(list->type, item);
}

/* ---- one parameter --------------------------------------------------------------------------- */

/* Appends the schema, where there is more to it than the type says. */
static char *parameter_description(const struct laz_json_api *json, struct mcp_raw schema,
                                   struct mcp_raw of, const struct schema_type *type)
{
    static const char *const more[] = {"properties", "items", "anyOf", "oneOf", "allOf", "$ref"};
    struct mcp_raw found[6];
    char *text = mcp_string(json, mcp_member(json, schema, "description"));
    const bool may_be_rich = !type->name || strchr("[{", type->begins[0]);
    bool is_rich = false;

    (void)mcp_members(json, of, more, found, 6);
    for (size_t i = 0; i < 6; i++)
        is_rich |= may_be_rich && found[i].text;
    char *plain =
        mcp_clean(text ? text : "", text ? strlen(text) : 0, MCP_MAX_DESCRIPTION / 4, false);
    char *rich = plain && is_rich ? mcp_clean(of.text, of.len, SCHEMA_SHOWN, false) : NULL;
    char *both = rich ? mcp_format("%s%sJSON Schema: %s", plain, *plain ? " " : "", rich) : NULL;
    if (both) {
        free(plain);
        plain = both;
    }
    free(rich);
    free(text);
    return plain;
}

/* Are its texts paths? pydantic's words for them are known besides. Of a list its items say it. */
static bool parameter_is_path(const struct laz_json_api *json, struct mcp_raw schema,
                              const struct schema_type *type)
{
    static const char *const words[] = {"path", "file-path", "directory-path"};
    const struct mcp_raw items = mcp_member(json, schema, "items");
    const struct mcp_raw format =
        mcp_member(json, items.text && items.text[0] == '{' ? items : schema, "format");

    if (type->name && !strchr("\"[", type->begins[0]))
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (mcp_is_text(json, format, words[i]))
            return true;
    return false;
}

/* Writes what `struct laz_tool` says of a parameter. */
static void parameter_write(const struct laz_json_api *json, struct laz_json_writer *writer,
                            struct mcp_raw root, struct mcp_raw schema, const char *name,
                            bool is_required)
{
    const struct mcp_raw resolved = schema_resolve(json, root, schema);
    struct property_type type = schema_type_of(json, resolved);
    struct mcp_raw list = mcp_member(json, type.of, "enum");
    struct mcp_raw value = mcp_member(json, schema, "default");
    struct enumeration known = {.type = type.type};

    if (!value.text)
        value = mcp_member(json, resolved, "default");
    if (list.text && type.type == SCHEMA_ANY)
        known.type = schema_types; /* strings, in most cases */
    if (is_required && type.is_nullable)
        type.type = SCHEMA_ANY;
    if (type.is_nullable || list.len > SCHEMA_MAX_ENUM || list.len <= 2 || list.text[0] != '[' ||
        !mcp_each(json, list, enumeration_item, &known))
        list.text = NULL;
    else
        type.type = known.type;
    if (value.len > SCHEMA_MAX_VALUE || (value.text && !value_fits(type.type, value)))
        value.text = NULL;
    known.one = value;
    if (value.text && list.text) {
        (void)mcp_each(json, list, enumeration_item, &known);
        if (!known.is_there)
            value.text = NULL;
    }
    char *description = parameter_description(json, schema, resolved, type.type);
    json->object_begin(writer);
    mcp_put_text(json, writer, "name", name);
    if (type.type->name)
        mcp_put_text(json, writer, "type", type.type->name);
    if (description && *description)
        mcp_put_text(json, writer, "description", description);
    if (is_required || !value.text) {
        mcp_put_key(json, writer, "required");
        json->write_bool(writer, is_required);
    } else {
        mcp_put_raw(json, writer, "default", value);
    }
    if (list.text)
        mcp_put_raw(json, writer, "enum", list);
    if (parameter_is_path(json, type.of, type.type))
        mcp_put_text(json, writer, "format", "path");
    json->object_end(writer);
    free(description);
}

/* ---- all parameters -------------------------------------------------------------------------- */

struct property {
    char *remote, *name;
    struct mcp_raw schema;
    bool is_required;
};

struct properties {
    const struct laz_json_api *json;
    struct property items[MCP_MAX_PARAMETERS];
    size_t n;
    bool are_too_many;
};

/* The name of a parameter: lazaret takes one in any script as it is, and tells it to those who
 * write code. */
static char *property_name(const char *key)
{
    const size_t len = strlen(key);
    char *clean = mcp_clean(key, len, MCP_MAX_NAME - 4, false);
    bool is_ascii = true;

    for (size_t i = 0; i < len; i++)
        is_ascii &= (unsigned char)key[i] < 0x80;
    if (clean && (is_ascii || strcmp(clean, key) != 0)) {
        free(clean);
        clean = mcp_legal(key, MCP_MAX_NAME - 4);
    }
    return clean;
}

static bool properties_add(void *user, const char *key, struct mcp_raw item)
{
    struct properties *list = user;
    char numbered[MCP_MAX_NAME + 1];
    struct property *property = &list->items[list->n];

    list->are_too_many = list->n == MCP_MAX_PARAMETERS;
    if (list->are_too_many)
        return false;
    char *name = property_name(key);
    if (!name)
        return false;
    snprintf(numbered, sizeof numbered, "%s", name);
    for (size_t i = 0, number = 2; i < list->n; i++)
        if (mcp_alike(list->items[i].name, numbered)) {
            snprintf(numbered, sizeof numbered, "%.124s_%zu", name, number++);
            i = (size_t)-1; /* from the first one again */
        }
    free(name);
    *property = (struct property){strdup(key), strdup(numbered), item, false};
    list->n++;
    return property->remote && property->name;
}

static bool properties_require(void *user, const char *key, struct mcp_raw item)
{
    struct properties *list = user;
    char *name = mcp_string(list->json, item);

    (void)key;
    for (size_t i = 0; name && i < list->n; i++)
        if (strcmp(list->items[i].remote, name) == 0)
            list->items[i].is_required = true;
    free(name);
    return true;
}

static void properties_fini(struct properties *list)
{
    for (size_t i = 0; i < list->n; i++) {
        free(list->items[i].remote);
        free(list->items[i].name);
    }
    free(list);
}

/* Takes the names, those that are required first: so languages can have defaults behind them. */
static bool properties_write(struct properties *list, struct mcp_raw root,
                             struct laz_json_writer *writer, struct mcp_tool *tool)
{
    tool->remote_names = calloc(list->n + 1, sizeof *tool->remote_names);
    tool->names = calloc(list->n + 1, sizeof *tool->names);
    if (!tool->remote_names || !tool->names)
        return false;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < list->n; i++) {
            struct property *property = &list->items[i];
            if (property->is_required != (pass == 0))
                continue;
            parameter_write(list->json, writer, root, property->schema, property->name,
                            property->is_required);
            tool->remote_names[tool->n_names] = property->remote;
            tool->names[tool->n_names++] = property->name;
            property->remote = property->name = NULL;
        }
    return true;
}

/* A schema that names no parameters may still allow some. */
static bool schema_is_open(const struct laz_json_api *json, struct mcp_raw schema)
{
    static const char *const names[] = {"anyOf", "oneOf", "allOf", "$ref", "patternProperties"};
    struct mcp_raw found[5];
    const struct mcp_raw more = mcp_member(json, schema, "additionalProperties");

    (void)mcp_members(json, schema, names, found, 5);
    for (size_t i = 0; i < 5; i++)
        if (found[i].text)
            return true;
    return more.text && more.text[0] != 'f';
}

static int schema_parameters(const struct laz_json_api *json, struct mcp_raw schema,
                             struct mcp_tool *tool, struct laz_error *err)
{
    struct properties *list = calloc(1, sizeof *list);
    struct laz_json_writer *writer = json->writer_new(0);
    const struct mcp_raw properties = mcp_member(json, schema, "properties");
    bool well = list && writer;

    if (well) {
        list->json = json;
        if (properties.text && properties.text[0] == '{')
            well = mcp_each(json, properties, properties_add, list) || list->are_too_many;
        (void)mcp_each(json, mcp_member(json, schema, "required"), properties_require, list);
        tool->is_whole =
            list->are_too_many || (list->n == 0 && schema.text && schema_is_open(json, schema));
        json->array_begin(writer);
        if (tool->is_whole)
            parameter_write(json, writer, schema, schema, "arguments", false);
        else
            well = well && properties_write(list, schema, writer, tool);
        json->array_end(writer);
    }
    if (list)
        properties_fini(list);
    tool->parameters = writer ? mcp_take(json, writer, NULL) : NULL;
    return well && tool->parameters ? 0 : laz_fail(err, LAZ_ENOMEM, "out of memory");
}

/* ---- a tool ---------------------------------------------------------------------------------- */

static int tool_name(const char *prefix, struct mcp_tool *tool, struct laz_error *err)
{
    char *legal = mcp_legal(tool->remote, MCP_MAX_NAME - strlen(prefix) - 1);

    tool->name = legal ? mcp_format("%s_%s", prefix, legal) : NULL;
    free(legal);
    return tool->name ? 0 : laz_fail(err, LAZ_ENOMEM, "out of memory");
}

int mcp_tool_read(const struct laz_json_api *json, struct mcp_raw text, const char *prefix,
                  struct mcp_tool *tool, struct laz_error *err)
{
    static const char *const names[] = {"name", "title", "description", "inputSchema",
                                        "outputSchema"};
    struct mcp_raw found[5];
    int ret = 0;

    *tool = (struct mcp_tool){0};
    if (!mcp_members(json, text, names, found, 5))
        return laz_fail(err, LAZ_EINVAL, "it is not an object");
    tool->remote = mcp_string(json, found[0]);
    if (!tool->remote || !*tool->remote)
        ret = laz_fail(err, LAZ_EINVAL, "it has no name");
    else if (text.len > MCP_MAX_TOOL)
        ret = laz_fail(err, LAZ_EINVAL, "its declaration has %zu bytes, of %zu at most", text.len,
                       MCP_MAX_TOOL);
    else if (found[3].text && found[3].text[0] != '{')
        ret = laz_fail(err, LAZ_EINVAL, "its inputSchema is not an object");
    if (!ret)
        ret = tool_name(prefix, tool, err);
    if (!ret) {
        char *about = mcp_string(json, found[2].text ? found[2] : found[1]);
        tool->description =
            mcp_clean(about ? about : "", about ? strlen(about) : 0, MCP_MAX_DESCRIPTION, true);
        tool->schema = found[3].text ? mcp_canonical(json, found[3]) : strdup("{}");
        tool->has_output = found[4].text != NULL;
        tool->returns = found[4].text ? mcp_canonical(json, found[4]) : NULL;
        free(about);
        if (!tool->description || !tool->schema || (tool->has_output && !tool->returns))
            ret = laz_fail(err, LAZ_ENOMEM, "out of memory");
    }
    if (!ret)
        ret = schema_parameters(json, found[3], tool, err);
    return ret;
}

void mcp_tool_fini(struct mcp_tool *tool)
{
    free(tool->remote);
    free(tool->name);
    free(tool->description);
    free(tool->parameters);
    free(tool->returns);
    free(tool->schema);
    for (size_t i = 0; i < tool->n_names; i++) {
        free(tool->remote_names[i]);
        free(tool->names[i]);
    }
    free(tool->remote_names);
    free(tool->names);
    *tool = (struct mcp_tool){0};
}
