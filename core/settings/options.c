/* SPDX-License-Identifier: MIT */
/* options.c - checks the table of a plugin in the configuration against the options that the plugin
 * declares, and makes it the JSON object that the plugin receives.
 *
 * The declaration is data of the plugin, so the host parses, checks and documents a plugin's part
 * of the configuration like its own.  Defaults are text in TOML notation and are checked like a
 * user's values.  All mistakes are collected; the error has as many as its text can hold. */
#include "settings/schema.h"

#include "base/json.h"
#include "base/nearest.h"
#include "os/paths.h"

#include <stdlib.h>
#include <string.h>

#define OPTIONS_MAX_INTEGER ((int64_t)1 << 53) /* JSON numbers are exact up to here */

struct options_job {
    const struct laz_option *options;
    const struct laz_json_api *json;
    struct laz_json_writer *writer; /* what it has after a problem is not used */
    const char *const *ignore;
    struct laz_buf problems;
    bool nomem;
    bool is_secret; /* the option that is being checked */
    bool hides;     /* the object is to be shown: without values of secret options */
};

/* The table that is being checked: its name in messages, and the prefix of its options' keys. */
struct options_place {
    const char *name;                  /* "tools", "tools.tool" */
    const char *prefix;                /* "", "tool." */
    const struct laz_toml_node *table; /* NULL: no option is set */
};

/* ---- bounds -----------------------------------------------------------------------------------*/

/* The least and the greatest value of an option, and the list of all, are texts in TOML notation,
 * as defaults are, and are read like a user's values: "10MiB" is a bound of a size.  A declaration
 * that cannot be read is the plugin's mistake, and refuses every value. */

/* Appends what a value has to be: "an integer" becomes "an integer from 1 to 9", or one of a few.
 */
static void bounds_expected(const struct laz_option *option, const char *type, struct laz_buf *text)
{
    if (option->one_of) {
        const size_t len = strlen(option->one_of);
        laz_buf_printf(text, "%sone of %.*s",
                       option->type == LAZ_OPT_STRINGS ? "a list, each " : "",
                       len > 2 ? (int)len - 2 : 0, option->one_of + (len > 0));
        return;
    }
    laz_buf_puts(text, type);
    if (option->min)
        laz_buf_printf(text, option->max ? " from %s" : " of at least %s", option->min);
    if (option->max)
        laz_buf_printf(text, option->min ? " to %s" : " of at most %s", option->max);
}

/* The number that a value stands for. */
static bool bounds_number(const struct laz_option *option, const struct laz_toml_node *node,
                          int64_t *number)
{
    uint64_t quantity;

    if (option->type == LAZ_OPT_INTEGER) {
        *number = node->integer;
        return node->type == LAZ_TOML_INTEGER;
    }
    if (option->type == LAZ_OPT_SIZE ? !laz_convert_size(node, &quantity)
                                     : !laz_convert_time(node, &quantity))
        return false;
    *number = quantity > INT64_MAX ? INT64_MAX : (int64_t)quantity;
    return true;
}

static bool bounds_are_same(const struct laz_toml_node *a, const struct laz_toml_node *b)
{
    if (a->type == LAZ_TOML_INTEGER && b->type == LAZ_TOML_INTEGER)
        return a->integer == b->integer;
    return a->type == LAZ_TOML_STRING && b->type == LAZ_TOML_STRING && a->len == b->len &&
           memcmp(a->text, b->text, a->len) == 0;
}

static bool bounds_list(const struct laz_toml_node *list, const struct laz_toml_node *node)
{
    for (const struct laz_toml_node *item = list->first; item; item = item->next)
        if (bounds_are_same(item, node))
            return true;
    return false;
}

/* Reads a text of the declaration. */
static int bounds_read(const char *text, struct laz_toml **toml, const struct laz_toml_node **node,
                       struct laz_error *err)
{
    struct laz_error why = {0};
    int rc = laz_toml_parse_pair(NULL, text, "the plugin's bound", toml, &why);

    *node = rc ? NULL : laz_toml_get((*toml)->root, "value");
    return rc && rc != LAZ_ENOMEM ? laz_error_set(err, LAZ_EPLUGIN, 0,
                                                  "the plugin's bound cannot be read: %s", why.text)
                                  : rc;
}

static int bounds_unfit(const char *text, struct laz_error *err)
{
    return laz_error_set(err, LAZ_EPLUGIN, 0, "the plugin's bound %s does not fit its type", text);
}

/* Compares the value with a bound; `sign`: -1 for the least one, 1 for the greatest. */
static int bounds_compare(const struct laz_option *option, const char *text, int sign,
                          const struct laz_toml_node *node, struct laz_error *err)
{
    const struct laz_toml_node *bound;
    struct laz_toml *toml = NULL;
    int64_t limit, number;

    int rc = text ? bounds_read(text, &toml, &bound, err) : 0;
    if (!rc && text) {
        if ((option->type != LAZ_OPT_INTEGER && option->type != LAZ_OPT_SIZE &&
             option->type != LAZ_OPT_TIME) ||
            !bounds_number(option, bound, &limit))
            rc = bounds_unfit(text, err);
        else if (!bounds_number(option, node, &number) ||
                 (sign < 0 ? number < limit : number > limit))
            rc = LAZ_EINVAL;
    }
    laz_toml_free(toml);
    return rc;
}

/* Compares a value, or each item of a list, with those that are allowed. */
static int bounds_choose(const struct laz_option *option, const struct laz_toml_node *node,
                         const struct laz_toml_node **wrong, struct laz_error *err)
{
    const struct laz_toml_node *list;
    struct laz_toml *toml = NULL;

    int rc = bounds_read(option->one_of, &toml, &list, err);
    if (!rc && (list->type != LAZ_TOML_ARRAY ||
                (option->type != LAZ_OPT_STRING && option->type != LAZ_OPT_INTEGER &&
                 option->type != LAZ_OPT_STRINGS)))
        rc = bounds_unfit(option->one_of, err);
    const bool is_list = !rc && option->type == LAZ_OPT_STRINGS;
    for (const struct laz_toml_node *item = is_list ? node->first : node; !rc && item;
         item = is_list ? item->next : NULL)
        if (!bounds_list(list, item)) {
            *wrong = item;
            rc = LAZ_EINVAL;
        }
    laz_toml_free(toml);
    return rc;
}

/* Is a value of the option's type within what it declares? 0, LAZ_EINVAL: *wrong is the node that
 * is not; LAZ_EPLUGIN: the declaration cannot be read, `err` says why; LAZ_ENOMEM. */
static int bounds_check(const struct laz_option *option, const struct laz_toml_node *node,
                        const struct laz_toml_node **wrong, struct laz_error *err)
{
    *wrong = node;
    int rc = bounds_compare(option, option->min, -1, node, err);

    if (!rc)
        rc = bounds_compare(option, option->max, 1, node, err);
    if (!rc && option->one_of)
        rc = bounds_choose(option, node, wrong, err);
    return rc;
}

/* ---- problems ---------------------------------------------------------------------------------*/

/* Begins a problem at the node's value or key; NULL: at no place in a file. */
static void options_begin_problem(struct options_job *job, const struct laz_toml_node *node,
                                  bool at_key)
{
    if (job->problems.len)
        laz_buf_puts(&job->problems, "; ");
    if (!node)
        return;
    laz_toml_position(&job->problems, node->toml, at_key ? node->key_line : node->line,
                      at_key ? node->key_column : node->column);
    laz_buf_puts(&job->problems, ": ");
}

static void options_describe(struct options_job *job, const struct laz_toml_node *node)
{
    struct laz_toml_node shown = *node;

    shown.is_secret |= job->is_secret;
    laz_toml_describe(&job->problems, &shown);
}

/* `key` is the last part of the option's name. */
static void options_mismatch(struct options_job *job, const char *where, const char *key,
                             const struct laz_toml_node *node, const char *expected)
{
    options_begin_problem(job, node, false);
    laz_buf_printf(&job->problems, "%s.%s: expected %s, found ", where, key, expected);
    options_describe(job, node);
}

/* A key that the table of this name cannot have. `in`: what stands before the nearest one. */
static void options_unknown_key(struct options_job *job, const char *where, const char *in,
                                const struct laz_toml_node *node, const struct laz_nearest *nearest)
{
    const char *best = laz_nearest_best(nearest);

    options_begin_problem(job, node, true);
    laz_buf_printf(&job->problems, "%s.%s: unknown key", where, node->key);
    if (best)
        laz_buf_printf(&job->problems, "; did you mean %s%s%s?", in, *in ? "." : "", best);
}

static void options_missing(struct options_job *job, const struct options_place *place,
                            const struct laz_option *option, const char *type)
{
    options_begin_problem(job, place->table, false);
    laz_buf_printf(&job->problems, "%s.%s: expected ", place->name,
                   option->key + strlen(place->prefix));
    bounds_expected(option, type, &job->problems);
    laz_buf_puts(&job->problems, ", found nothing");
    if (option->help && *option->help)
        laz_buf_printf(&job->problems, " (%s)", option->help);
}

/* ---- values -----------------------------------------------------------------------------------*/

/* The value of an option. */
struct options_value {
    const char *where, *key; /* the name of its table, and the last part of the option's own */
    const struct laz_option *option;
    const struct laz_toml_node *node;
};

/* Any TOML value; a key with a NUL in it is a problem. */
static void options_any(struct options_job *job, const char *where, const char *key,
                        const struct laz_toml_node *node)
{
    struct laz_json_writer *writer = job->writer;
    bool table = node->type == LAZ_TOML_TABLE;

    switch (node->type) {
    case LAZ_TOML_TABLE:
    case LAZ_TOML_ARRAY:
        (table ? job->json->object_begin : job->json->array_begin)(writer);
        for (const struct laz_toml_node *child = node->first; child; child = child->next)
            if (table && !job->json->key(writer, child->key, child->key_len))
                options_mismatch(job, where, key, child, "a key without NUL characters");
            else
                options_any(job, where, key,
                            child); /* recursion is bounded by the depth of the document */
        (table ? job->json->object_end : job->json->array_end)(writer);
        break;
    case LAZ_TOML_STRING:
    case LAZ_TOML_LOCAL_TIME:
        job->json->write_string(writer, node->text, node->len);
        break;
    case LAZ_TOML_INTEGER:
        job->json->write_int(writer, node->integer);
        break;
    case LAZ_TOML_FLOAT:
        job->json->write_double(writer, node->number, true);
        break;
    case LAZ_TOML_BOOLEAN:
        job->json->write_bool(writer, node->boolean);
        break;
    default: /* a date, with or without a time: the tagged forms of lazaret/json.h */
        job->json->object_begin(writer);
        job->json->key(writer, node->type == LAZ_TOML_LOCAL_DATE ? "$date" : "$time", 5);
        job->json->write_string(writer, node->text, node->len);
        job->json->object_end(writer);
    }
}

/* A string, a path, an integer, a boolean, or any value. */
static bool options_scalar(struct options_job *job, const struct options_value *value)
{
    const struct laz_toml_node *node = value->node;
    const uint32_t type = value->option->type;
    bool fits = type == LAZ_OPT_ANY || node->type == LAZ_TOML_BOOLEAN;

    if (type == LAZ_OPT_STRING || type == LAZ_OPT_PATH)
        fits = laz_toml_is_text(node) && (type == LAZ_OPT_STRING || laz_os_is_absolute(node->text));
    else if (type == LAZ_OPT_INTEGER)
        fits = node->type == LAZ_TOML_INTEGER && node->integer >= -OPTIONS_MAX_INTEGER &&
               node->integer <= OPTIONS_MAX_INTEGER;
    if (fits)
        options_any(job, value->where, value->key, node);
    return fits;
}

static bool options_quantity(struct options_job *job, const struct options_value *value)
{
    uint64_t number;
    bool fits = value->option->type == LAZ_OPT_SIZE ? laz_convert_size(value->node, &number)
                                                    : laz_convert_time(value->node, &number);

    if (!fits || number > (uint64_t)OPTIONS_MAX_INTEGER)
        return false;
    job->json->write_int(job->writer, (int64_t)number);
    return true;
}

static bool options_strings(struct options_job *job, const struct options_value *value)
{
    if (value->node->type != LAZ_TOML_ARRAY)
        return false;
    job->json->array_begin(job->writer);
    for (const struct laz_toml_node *item = value->node->first; item; item = item->next) {
        if (!laz_toml_is_text(item))
            options_mismatch(job, value->where, value->key, item,
                             "a string without NUL characters");
        else if (value->option->type == LAZ_OPT_PATHS && !laz_os_is_absolute(item->text))
            options_mismatch(job, value->where, value->key, item, "an absolute path");
        else
            job->json->write_string(job->writer, item->text, item->len);
    }
    job->json->array_end(job->writer);
    return true;
}

/* ---- parameters of tools ----------------------------------------------------------------------*/

#define PARAMETER_ANY (-1)

/* In the order in which they are written to the JSON. */
static const struct {
    const char *key;
    int type;    /* enum laz_toml_type, or PARAMETER_ANY */
    bool filled; /* not empty */
    const char *expected;
} parameter_fields[] = {
    {"type", LAZ_TOML_STRING, true, "the name of a type, such as \"integer\""},
    {"description", LAZ_TOML_STRING, false, "a string"},
    {"format", LAZ_TOML_STRING, true, "\"path\""},
    {"required", LAZ_TOML_BOOLEAN, false, "true or false"},
    {"default", PARAMETER_ANY, false, "a value"},
    {"enum", LAZ_TOML_ARRAY, true, "a list of the allowed values"},
};

#define PARAMETER_FIELDS (sizeof parameter_fields / sizeof parameter_fields[0])

static bool parameter_fits(size_t field, const struct laz_toml_node *node)
{
    if (parameter_fields[field].type == PARAMETER_ANY)
        return true;
    return (int)node->type == parameter_fields[field].type &&
           (node->type != LAZ_TOML_STRING || laz_toml_is_text(node)) &&
           (!parameter_fields[field].filled || node->len || node->n);
}

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
        if (!known)
            options_unknown_key(job, where, "", child, &nearest);
    }
}

/* `name = "type"`, or `name = { type = "...", ... }`. */
static void parameter_write(struct options_job *job, const char *where,
                            const struct laz_toml_node *node)
{
    job->json->key(job->writer, "name", 4);
    job->json->write_string(job->writer, node->key, node->key_len);
    if (laz_toml_is_text(node) && node->len > 0) {
        job->json->key(job->writer, "type", 4);
        job->json->write_string(job->writer, node->text, node->len);
        return;
    }
    if (node->type != LAZ_TOML_TABLE) {
        options_begin_problem(job, node, false);
        laz_buf_printf(&job->problems,
                       "%s: expected a type (\"integer\") or a table ({ type = \"integer\" }), "
                       "found ",
                       where);
        options_describe(job, node);
        return;
    }
    parameter_check_keys(job, where, node);
    for (size_t i = 0; i < PARAMETER_FIELDS; i++) {
        const char *key = parameter_fields[i].key;
        const struct laz_toml_node *field = laz_toml_get(node, key);
        if (!field)
            continue;
        if (!parameter_fits(i, field)) {
            options_mismatch(job, where, key, field, parameter_fields[i].expected);
            continue;
        }
        job->json->key(job->writer, key, strlen(key));
        options_any(job, where, key, field);
    }
}

static bool options_parameters(struct options_job *job, const struct options_value *value)
{
    if (value->node->type != LAZ_TOML_TABLE)
        return false;
    job->json->array_begin(job->writer);
    for (const struct laz_toml_node *child = value->node->first; child; child = child->next) {
        char *name = laz_strdupf("%s.%s.%s", value->where, value->key, child->key);
        job->json->object_begin(job->writer);
        if (name)
            parameter_write(job, name, child);
        else
            job->nomem = true;
        job->json->object_end(job->writer);
        free(name);
    }
    job->json->array_end(job->writer);
    return true;
}

/* A table of strings. */
static bool options_texts(struct options_job *job, const struct options_value *value)
{
    if (value->node->type != LAZ_TOML_TABLE)
        return false;
    for (const struct laz_toml_node *child = value->node->first; child; child = child->next)
        if (!laz_toml_is_text(child)) {
            char *where = laz_strdupf("%s.%s", value->where, value->key);
            options_mismatch(job, where ? where : value->where, child->key, child,
                             "a string, in quotes");
            job->nomem |= !where;
            free(where);
        }
    options_any(job, value->where, value->key, value->node);
    return true;
}

/* In place of the value of a secret option, in an object that is shown: a text where a text fits,
 * null (as if it were absent) elsewhere. */
static void options_hide(struct options_job *job, const struct options_value *value)
{
    static const char text[] = "(set)";
    const uint32_t type = value->option->type;
    const bool is_table = type == LAZ_OPT_TEXTS && value->node->type == LAZ_TOML_TABLE;

    if (is_table) {
        job->json->object_begin(job->writer);
        for (const struct laz_toml_node *child = value->node->first; child; child = child->next)
            if (job->json->key(job->writer, child->key, child->key_len))
                job->json->write_string(job->writer, text, sizeof text - 1);
        job->json->object_end(job->writer);
    } else if (type == LAZ_OPT_STRING || type == LAZ_OPT_PATH) {
        job->json->write_string(job->writer, text, sizeof text - 1);
    } else {
        job->json->write_null(job->writer);
    }
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
        if (!known)
            options_unknown_key(job, place->name, place->name, child, &nearest);
    }
}

struct options_type {
    /* Writes the value; false: it is of another type. Other problems are added. */
    bool (*write)(struct options_job *job, const struct options_value *value);
    const char *expected;
};

static const struct options_type *options_type_of(const struct laz_option *option);

/* Writes a value, and checks it. */
static void options_value(struct options_job *job, const struct options_value *value,
                          const struct options_type *type)
{
    const struct laz_option *option = value->option;
    const struct laz_toml_node *wrong = value->node;
    struct laz_buf expected = LAZ_BUF_INIT;
    struct laz_error why = {0};
    int rc = 0;

    if (job->is_secret && laz_toml_is_hidden(value->node)) {
        options_mismatch(job, value->where, value->key, value->node,
                         "the secret itself, which lazaret config does not show");
        return;
    }
    if (job->is_secret && job->hides)
        options_hide(job, value);
    else if (!type->write(job, value))
        rc = LAZ_EINVAL;
    if (!rc)
        rc = bounds_check(option, value->node, &wrong, &why);
    if (rc == LAZ_EINVAL) {
        bounds_expected(option, type->expected, &expected);
        options_mismatch(job, value->where, value->key, wrong, laz_buf_text(&expected));
    } else if (rc == LAZ_EPLUGIN) {
        options_begin_problem(job, NULL, false);
        laz_buf_printf(&job->problems, "%s.%s: %s", value->where, value->key, why.text);
    }
    job->nomem |= rc == LAZ_ENOMEM || expected.failed;
    laz_buf_fini(&expected);
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
            options_begin_problem(job, NULL, false);
            laz_buf_printf(&job->problems, "%s.%s: the plugin's default cannot be read: %s",
                           place->name, key, why.text);
            goto out;
        }
        node = laz_toml_get(default_toml->root, "value");
    }
    const struct options_value value = {place->name, key, option, node};
    const bool was_secret = job->is_secret;
    job->is_secret |= (option->flags & LAZ_OPT_SECRET) != 0;
    if (job->json->key(job->writer, key, strlen(key)))
        options_value(job, &value, type);
    job->is_secret = was_secret;
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

static bool options_tables(struct options_job *job, const struct options_value *value)
{
    if (value->node->type != LAZ_TOML_ARRAY)
        return false;
    char *name = laz_strdupf("%s.%s", value->where, value->key);
    char *prefix = laz_strdupf("%s.", value->option->key);
    job->nomem |= !name || !prefix;
    job->json->array_begin(job->writer);
    for (const struct laz_toml_node *item = value->node->first; item && name && prefix;
         item = item->next) {
        const struct options_place place = {name, prefix, item};
        if (item->type == LAZ_TOML_TABLE)
            options_table(job, &place); /* recursion is bounded by the dots in the option's key */
        else
            options_mismatch(job, value->where, value->key, item, "a table");
    }
    job->json->array_end(job->writer);
    free(name);
    free(prefix);
    return true;
}

static bool options_unknown_type(struct options_job *job, const struct options_value *value)
{
    options_begin_problem(job, NULL, false);
    laz_buf_printf(&job->problems, "%s.%s: the plugin declares an option of unknown type %u",
                   value->where, value->key, (unsigned)value->option->type);
    return true;
}

static const struct options_type options_types[] = {
    [0] = {options_unknown_type, "nothing"},
    [LAZ_OPT_STRING] = {options_scalar, "a string"},
    [LAZ_OPT_INTEGER] = {options_scalar, "an integer"},
    [LAZ_OPT_BOOLEAN] = {options_scalar, "true or false"},
    [LAZ_OPT_SIZE] = {options_quantity, LAZ_SIZE_EXPECTED},
    [LAZ_OPT_TIME] = {options_quantity, LAZ_TIME_EXPECTED},
    [LAZ_OPT_STRINGS] = {options_strings, "a list of strings"},
    [LAZ_OPT_PATHS] = {options_strings, "a list of absolute paths"},
    [LAZ_OPT_TABLES] = {options_tables, "a list of tables"},
    [LAZ_OPT_PARAMETERS] = {options_parameters, "a table of parameters"},
    [LAZ_OPT_TEXTS] = {options_texts, "a table of strings"},
    [LAZ_OPT_PATH] = {options_scalar, "an absolute path"},
    [LAZ_OPT_ANY] = {options_scalar, "a value"},
};

static const struct options_type *options_type_of(const struct laz_option *option)
{
    size_t n = sizeof options_types / sizeof options_types[0];

    return &options_types[option->type < n ? option->type : 0];
}

static int options_check(const struct laz_toml_node *table, const struct laz_option *options,
                         const char *where, const char *const *ignore, bool hides,
                         struct laz_buf *json, struct laz_error *err)
{
    struct options_job job = {.options = options,
                              .json = laz_json_api(),
                              .writer = laz_json_api()->writer_new(0),
                              .ignore = ignore,
                              .hides = hides};
    struct options_place place = {where, "", table};
    size_t len = 0;
    int rc = 0;

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

int laz_settings_check_options(const struct laz_toml_node *table, const struct laz_option *options,
                               const char *where, const char *const *ignore, struct laz_buf *json,
                               struct laz_error *err)
{
    return options_check(table, options, where, ignore, false, json, err);
}

int laz_settings_show_options(const struct laz_toml_node *table, const struct laz_option *options,
                              const char *where, struct laz_buf *json, struct laz_error *err)
{
    return options_check(table, options, where, NULL, true, json, err);
}
