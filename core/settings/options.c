/* SPDX-License-Identifier: MIT */
/* options.c - checks the table of a plugin in the configuration against the options that the plugin
 * declares, and makes it the JSON object that the plugin receives.
 *
 * The declaration is data of the plugin, so the host parses, checks and documents a plugin's part
 * of the configuration like its own.  Defaults are text in TOML notation and are checked like a
 * user's values.  All mistakes are collected; the error has as many as its text can hold. */
#include "settings/settings.h"

#include "base/json.h"
#include "base/nearest.h"
#include "os/paths.h"
#include "settings/convert.h"
#include "settings/toml/toml.h"

#include <stdlib.h>
#include <string.h>

#define OPTIONS_MAX_INTEGER ((int64_t)1 << 53) /* JSON numbers are exact up to here */

struct options_job {
    const struct laz_option *options;
    const struct laz_json_api *json;
    struct laz_json_writer *writer;
    const char *const *ignore;
    struct laz_buf problems;
    bool nomem;
};

/* The table that is being checked: its name in messages, and the prefix of its options' keys. */
struct options_place {
    const char *name;                  /* "tools", "tools.tool" */
    const char *prefix;                /* "", "tool." */
    const struct laz_toml_node *table; /* NULL: no option is set */
};

/* ---- problems ---------------------------------------------------------------------------------*/

static void options_begin_problem(struct options_job *job, const struct laz_toml *toml,
                                  uint32_t line, uint32_t column)
{
    if (job->problems.len)
        laz_buf_puts(&job->problems, "; ");
    if (!toml)
        return;
    laz_toml_position(&job->problems, toml, line, column);
    laz_buf_puts(&job->problems, ": ");
}

/* `key` is the last part of the option's name. */
static void options_mismatch(struct options_job *job, const char *where, const char *key,
                             const struct laz_toml_node *node, const char *expected)
{
    options_begin_problem(job, node->toml, node->line, node->column);
    laz_buf_printf(&job->problems, "%s.%s: expected %s, found ", where, key, expected);
    laz_toml_describe(&job->problems, node);
}

static void options_missing(struct options_job *job, const struct options_place *place,
                            const struct laz_option *option, const char *expected)
{
    const struct laz_toml_node *table = place->table;

    options_begin_problem(job, table ? table->toml : NULL, table ? table->line : 0,
                          table ? table->column : 0);
    laz_buf_printf(&job->problems, "%s.%s: expected %s, found nothing", place->name,
                   option->key + strlen(place->prefix), expected);
    if (option->help && *option->help)
        laz_buf_printf(&job->problems, " (%s)", option->help);
}

/* ---- values -----------------------------------------------------------------------------------*/

struct options_type {
    /* Writes a value of this type, or adds the problem that the node is not one. */
    void (*write)(struct options_job *job, const char *where, const char *key,
                  const struct laz_toml_node *node, const struct laz_option *option);
    const char *expected;
};

static const struct options_type *options_type_of(const struct laz_option *option);

static void options_wrong(struct options_job *job, const char *where, const char *key,
                          const struct laz_toml_node *node, const struct laz_option *option)
{
    options_mismatch(job, where, key, node, options_type_of(option)->expected);
    job->json->write_null(
        job->writer); /* keeps the JSON well-formed; the job fails, so it is never used */
}

static bool options_is_text(const struct laz_toml_node *node)
{
    return node->type == LAZ_TOML_STRING && !laz_toml_has_nul(node);
}

static void options_string(struct options_job *job, const char *where, const char *key,
                           const struct laz_toml_node *node, const struct laz_option *option)
{
    if (options_is_text(node))
        job->json->write_string(job->writer, node->text, node->len);
    else
        options_wrong(job, where, key, node, option);
}

static void options_integer(struct options_job *job, const char *where, const char *key,
                            const struct laz_toml_node *node, const struct laz_option *option)
{
    if (node->type == LAZ_TOML_INTEGER && node->integer >= -OPTIONS_MAX_INTEGER &&
        node->integer <= OPTIONS_MAX_INTEGER)
        job->json->write_int(job->writer, node->integer);
    else
        options_wrong(job, where, key, node, option);
}

static void options_boolean(struct options_job *job, const char *where, const char *key,
                            const struct laz_toml_node *node, const struct laz_option *option)
{
    if (node->type == LAZ_TOML_BOOLEAN)
        job->json->write_bool(job->writer, node->boolean);
    else
        options_wrong(job, where, key, node, option);
}

static void options_quantity(struct options_job *job, const char *where, const char *key,
                             const struct laz_toml_node *node, const struct laz_option *option)
{
    uint64_t value;
    bool fits = option->type == LAZ_OPT_SIZE ? laz_convert_size(node, &value)
                                             : laz_convert_time(node, &value);

    if (fits && value <= (uint64_t)OPTIONS_MAX_INTEGER)
        job->json->write_int(job->writer, (int64_t)value);
    else
        options_wrong(job, where, key, node, option);
}

static void options_strings(struct options_job *job, const char *where, const char *key,
                            const struct laz_toml_node *node, const struct laz_option *option)
{
    if (node->type != LAZ_TOML_ARRAY) {
        options_wrong(job, where, key, node, option);
        return;
    }
    job->json->array_begin(job->writer);
    for (const struct laz_toml_node *item = node->first; item; item = item->next) {
        if (!options_is_text(item))
            options_mismatch(job, where, key, item, "a string without NUL characters");
        else if (option->type == LAZ_OPT_PATHS && !laz_os_is_absolute(item->text))
            options_mismatch(job, where, key, item, "an absolute path");
        else
            job->json->write_string(job->writer, item->text, item->len);
    }
    job->json->array_end(job->writer);
}

/* Any TOML value; a string or key with a NUL in it is a problem. */
static void options_any(struct options_job *job, const char *where, const char *key,
                        const struct laz_toml_node *node)
{
    const struct laz_json_api *json = job->json;
    bool table = node->type == LAZ_TOML_TABLE;

    switch (node->type) {
    case LAZ_TOML_TABLE:
    case LAZ_TOML_ARRAY:
        (table ? json->object_begin : json->array_begin)(job->writer);
        for (const struct laz_toml_node *child = node->first; child; child = child->next)
            if (table && !json->key(job->writer, child->key, child->key_len))
                options_mismatch(job, where, key, child, "a key without NUL characters");
            else
                options_any(job, where, key,
                            child); /* recursion is bounded by the depth of the document */
        (table ? json->object_end : json->array_end)(job->writer);
        break;
    case LAZ_TOML_STRING:
    case LAZ_TOML_LOCAL_TIME:
        json->write_string(job->writer, node->text, node->len);
        break;
    case LAZ_TOML_INTEGER:
        json->write_int(job->writer, node->integer);
        break;
    case LAZ_TOML_FLOAT:
        json->write_double(job->writer, node->number, true);
        break;
    case LAZ_TOML_BOOLEAN:
        json->write_bool(job->writer, node->boolean);
        break;
    default: /* a date, with or without a time: the tagged forms of lazaret/json.h */
        json->object_begin(job->writer);
        if (node->type == LAZ_TOML_LOCAL_DATE)
            json->key(job->writer, "$date", 5);
        else
            json->key(job->writer, "$time", 5);
        json->write_string(job->writer, node->text, node->len);
        json->object_end(job->writer);
    }
}

/* ---- parameters of tools ----------------------------------------------------------------------*/

static bool parameter_type(const struct laz_toml_node *node)
{
    return options_is_text(node) && node->len > 0;
}

static bool parameter_flag(const struct laz_toml_node *node)
{
    return node->type == LAZ_TOML_BOOLEAN;
}

static bool parameter_list(const struct laz_toml_node *node)
{
    return node->type == LAZ_TOML_ARRAY && node->n > 0;
}

static bool parameter_any(const struct laz_toml_node *node)
{
    (void)node;
    return true;
}

/* In the order in which they are written to the JSON. */
static const struct {
    const char *key;
    bool (*fits)(const struct laz_toml_node *node);
    const char *expected;
} parameter_fields[] = {
    {"type", parameter_type, "the name of a type, such as \"integer\""},
    {"description", options_is_text, "a string"},
    {"required", parameter_flag, "true or false"},
    {"default", parameter_any, "a value"},
    {"enum", parameter_list, "a list of the allowed values"},
};

#define PARAMETER_FIELDS (sizeof parameter_fields / sizeof parameter_fields[0])

static void parameter_check_keys(struct options_job *job, const char *where,
                                 const struct laz_toml_node *table)
{
    for (const struct laz_toml_node *child = table->first; child; child = child->next) {
        struct laz_nearest nearest;
        bool known = false;
        laz_nearest_init(&nearest, child->key);
        for (size_t i = 0; i < PARAMETER_FIELDS; i++) {
            known = known || strcmp(parameter_fields[i].key, child->key) == 0;
            laz_nearest_try(&nearest, parameter_fields[i].key);
        }
        if (known)
            continue;
        const char *best = laz_nearest_best(&nearest);
        options_begin_problem(job, child->toml, child->key_line, child->key_column);
        laz_buf_printf(&job->problems, "%s.%s: unknown key", where, child->key);
        if (best)
            laz_buf_printf(&job->problems, "; did you mean %s?", best);
    }
}

/* `name = "type"`, or `name = { type = "...", ... }`. */
static void parameter_write(struct options_job *job, const char *where,
                            const struct laz_toml_node *node)
{
    const struct laz_json_api *json = job->json;

    json->key(job->writer, "name", 4);
    json->write_string(job->writer, node->key, node->key_len);
    if (options_is_text(node) && node->len > 0) {
        json->key(job->writer, "type", 4);
        json->write_string(job->writer, node->text, node->len);
        return;
    }
    if (node->type != LAZ_TOML_TABLE) {
        options_begin_problem(job, node->toml, node->line, node->column);
        laz_buf_printf(&job->problems,
                       "%s: expected a type (\"integer\") or a table ({ type = \"integer\" }), "
                       "found ",
                       where);
        laz_toml_describe(&job->problems, node);
        return;
    }
    parameter_check_keys(job, where, node);
    for (size_t i = 0; i < PARAMETER_FIELDS; i++) {
        const struct laz_toml_node *field = laz_toml_get(node, parameter_fields[i].key);
        if (!field)
            continue;
        if (!parameter_fields[i].fits(field)) {
            options_mismatch(job, where, parameter_fields[i].key, field,
                             parameter_fields[i].expected);
            continue;
        }
        json->key(job->writer, parameter_fields[i].key, strlen(parameter_fields[i].key));
        options_any(job, where, parameter_fields[i].key, field);
    }
}

static void options_parameters(struct options_job *job, const char *where, const char *key,
                               const struct laz_toml_node *node, const struct laz_option *option)
{
    if (node->type != LAZ_TOML_TABLE) {
        options_wrong(job, where, key, node, option);
        return;
    }
    job->json->array_begin(job->writer);
    for (const struct laz_toml_node *child = node->first; child; child = child->next) {
        char *name = laz_strdupf("%s.%s.%s", where, key, child->key);
        job->json->object_begin(job->writer);
        if (name)
            parameter_write(job, name, child);
        else
            job->nomem = true;
        job->json->object_end(job->writer);
        free(name);
    }
    job->json->array_end(job->writer);
}

/* ---- tables -----------------------------------------------------------------------------------*/

/* The last part of the option's key if it belongs to the table with this prefix, otherwise NULL. */
static const char *options_key_here(const struct laz_option *option, const char *prefix)
{
    size_t n = strlen(prefix);

    if (strncmp(option->key, prefix, n) != 0 || strchr(option->key + n, '.'))
        return NULL;
    return option->key + n;
}

static void options_check_keys(struct options_job *job, const struct options_place *place)
{
    const struct laz_toml_node *child = place->table ? place->table->first : NULL;

    for (; child; child = child->next) {
        const struct laz_option *option = job->options;
        bool known = false;
        struct laz_nearest nearest;
        laz_nearest_init(&nearest, child->key);
        for (; option && option->key; option++) {
            const char *key = options_key_here(option, place->prefix);
            if (key)
                laz_nearest_try(&nearest, key);
            known = known || (key && strlen(key) == child->key_len && !strcmp(key, child->key));
        }
        for (size_t i = 0; !*place->prefix && job->ignore && job->ignore[i]; i++)
            known = known || strcmp(job->ignore[i], child->key) == 0;
        if (known)
            continue;
        const char *best = laz_nearest_best(&nearest);
        options_begin_problem(job, child->toml, child->key_line, child->key_column);
        laz_buf_printf(&job->problems, "%s.%s: unknown key", place->name, child->key);
        if (best)
            laz_buf_printf(&job->problems, "; did you mean %s.%s?", place->name, best);
    }
}

/* Writes one option of a table: the value that is set, or the default. */
static void options_one(struct options_job *job, const struct options_place *place,
                        const struct laz_option *option, const char *key)
{
    const struct options_type *type = options_type_of(option);
    const struct laz_toml_node *node = laz_toml_get(place->table, key);
    struct laz_toml *default_toml = NULL;
    struct laz_error why = {0};

    if (!node && !option->default_value) {
        options_missing(job, place, option, type->expected);
        return;
    }
    if (!node && !*option->default_value)
        return;
    if (!node) {
        if (laz_toml_parse_pair(NULL, option->default_value, "the plugin's default", &default_toml,
                                &why) != 0) {
            options_begin_problem(job, NULL, 0, 0);
            laz_buf_printf(&job->problems, "%s.%s: the plugin's default cannot be read: %s",
                           place->name, key, why.text);
            goto out;
        }
        node = laz_toml_get(default_toml->root, "value");
    }
    if (!job->json->key(job->writer, key, strlen(key)))
        goto out;
    type->write(job, place->name, key, node, option);
out:
    laz_toml_free(default_toml);
}

static void options_table(struct options_job *job, const struct options_place *place)
{
    options_check_keys(job, place);
    job->json->object_begin(job->writer);
    for (const struct laz_option *option = job->options; option && option->key; option++) {
        const char *key = options_key_here(option, place->prefix);
        if (key)
            options_one(job, place, option, key);
    }
    job->json->object_end(job->writer);
}

static void options_tables(struct options_job *job, const char *where, const char *key,
                           const struct laz_toml_node *node, const struct laz_option *option)
{
    char *name = laz_strdupf("%s.%s", where, key), *prefix = laz_strdupf("%s.", option->key);

    if (!name || !prefix) {
        job->nomem = true;
    } else if (node->type != LAZ_TOML_ARRAY) {
        options_wrong(job, where, key, node, option);
    } else {
        job->json->array_begin(job->writer);
        for (const struct laz_toml_node *item = node->first; item; item = item->next) {
            struct options_place place = {name, prefix, item};
            if (item->type == LAZ_TOML_TABLE)
                options_table(job,
                              &place); /* recursion is bounded by the dots in the option's key */
            else
                options_mismatch(job, where, key, item, "a table");
        }
        job->json->array_end(job->writer);
    }
    free(name);
    free(prefix);
}

static void options_unknown_type(struct options_job *job, const char *where, const char *key,
                                 const struct laz_toml_node *node, const struct laz_option *option)
{
    options_begin_problem(job, NULL, 0, 0);
    laz_buf_printf(&job->problems, "%s.%s: the plugin declares an option of unknown type %u", where,
                   key, (unsigned)option->type);
    (void)node;
    job->json->write_null(job->writer);
}

static const struct options_type options_types[] = {
    [0] = {options_unknown_type, "nothing"},
    [LAZ_OPT_STRING] = {options_string, "a string"},
    [LAZ_OPT_INTEGER] = {options_integer, "an integer"},
    [LAZ_OPT_BOOLEAN] = {options_boolean, "true or false"},
    [LAZ_OPT_SIZE] = {options_quantity, LAZ_SIZE_EXPECTED},
    [LAZ_OPT_TIME] = {options_quantity, LAZ_TIME_EXPECTED},
    [LAZ_OPT_STRINGS] = {options_strings, "a list of strings"},
    [LAZ_OPT_PATHS] = {options_strings, "a list of absolute paths"},
    [LAZ_OPT_TABLES] = {options_tables, "a list of tables"},
    [LAZ_OPT_PARAMETERS] = {options_parameters, "a table of parameters"},
};

static const struct options_type *options_type_of(const struct laz_option *option)
{
    size_t n = sizeof options_types / sizeof options_types[0];

    return &options_types[option->type < n ? option->type : 0];
}

int laz_settings_check_options(const struct laz_toml_node *table, const struct laz_option *options,
                               const char *where, const char *const *ignore, struct laz_buf *json,
                               struct laz_error *err)
{
    struct options_job job = {.options = options, .json = laz_json_api(), .ignore = ignore};
    struct options_place place = {where, "", table};
    size_t len = 0;
    int rc = 0;

    job.writer = job.json->writer_new(0);
    if (!job.writer)
        return laz_error_nomem(err);
    options_table(&job, &place);
    const char *text = job.json->writer_text(job.writer, &len, NULL);
    if (job.problems.len && !job.problems.failed)
        rc = laz_error_set(err, LAZ_ECONFIG, 0, "%s", job.problems.data);
    else if (job.nomem || job.problems.failed || !text)
        rc = laz_error_nomem(err);
    else
        laz_buf_append(json, text, len);
    if (rc == 0 && json->failed)
        rc = laz_error_nomem(err);
    job.json->writer_free(job.writer);
    laz_buf_fini(&job.problems);
    return rc;
}
