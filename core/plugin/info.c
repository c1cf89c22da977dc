/* SPDX-License-Identifier: MIT */
/* info.c - a runtime's descriptor as JSON text, so that the host need not load the runtime.
 * Side: host.  Input trusted: no (owner and mode of FILE.json are checked as the plugin's, but it
 * may be of another version).
 *
 * The build writes FILE.json beside FILE.so from the descriptor itself, so the two agree. The
 * reader accepts exactly what the writer writes: an unknown key or another type is an error,
 * because a newer minor ABI is declared in "abi". */
#include "plugin/plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_write.h"
#include "plugin/descriptor.h"

/* ---- writing -------------------------------------------------------------------------------- */

/* Each member on a line of its own. */
static void info_add(struct laz_json_write *write, const char *key, const char *text)
{
    laz_json_new_line(write);
    laz_json_add_text(write, key, text);
}

static void info_add_list(struct laz_json_write *write, const char *key, const char *const *list)
{
    laz_json_new_line(write);
    laz_json_begin_list(write, key);
    for (size_t i = 0; list && list[i]; i++)
        laz_json_add_text(write, NULL, list[i]);
    laz_json_end_list(write);
}

static void info_add_options(struct laz_json_write *write, const struct laz_option *options)
{
    laz_json_new_line(write);
    laz_json_begin_list(write, "options");
    for (const struct laz_option *option = options; option && option->key; option++) {
        laz_json_new_line(write);
        laz_json_begin_object(write, NULL);
        laz_json_add_text(write, "key", option->key);
        laz_json_add_text(write, "type", laz_option_type_name(option->type));
        laz_json_add_text(write, "default", option->default_value);
        laz_json_add_text(write, "help", option->help);
        laz_json_end_object(write);
    }
    laz_json_end_list(write);
}

void laz_runtime_describe(const struct laz_plugin *plugin, struct laz_buf *json)
{
    const struct laz_runtime_ops *ops = plugin->ops;
    struct laz_json_write write = {.to = json};
    char abi[32];

    snprintf(abi, sizeof abi, "%u.%u", (unsigned)plugin->abi_major, (unsigned)plugin->abi_minor);
    laz_json_begin_object(&write, NULL);
    laz_json_add_text(&write, "kind", "runtime");
    info_add(&write, "abi", abi);
    info_add(&write, "name", plugin->name);
    info_add(&write, "version", plugin->version);
    info_add(&write, "summary", plugin->summary);
    info_add_list(&write, "suffixes", ops->suffixes);
    info_add_list(&write, "libraries", ops->libraries);
    info_add_list(&write, "read", ops->read);
    info_add_list(&write, "env", ops->env);
    info_add_list(&write, "reserved_words", ops->reserved_words);
    info_add_list(&write, "programs", LAZ_HAS(ops, programs) ? ops->programs : NULL);
    info_add_options(&write, plugin->options);
    laz_json_end_object(&write);
    laz_buf_putc(json, '\n');
}

/* ---- reading -------------------------------------------------------------------------------- */

struct info_source {
    const char *file; /* path of the JSON text */
    struct laz_error *err;
};

static int info_wrong(const struct info_source *source, const char *key, const char *expected)
{
    return laz_error_set(source->err, LAZ_EPLUGIN, 0,
                         "%s: %s: expected %s; make the file again with lazaret-agent --describe",
                         source->file, key, expected);
}

/* Copies the string at `key` of an object into *text, which the caller frees. */
static int info_take_text(const struct info_source *source, const struct laz_json *object,
                          const char *key, char **text)
{
    const char *found = laz_json_string(laz_json_get(object, key));

    if (!found)
        return info_wrong(source, key, "a string");
    *text = laz_strdup(found);
    return *text ? 0 : laz_error_nomem(source->err);
}

static int info_take_list(const struct info_source *source, const struct laz_json *object,
                          const char *key, struct laz_strv *list)
{
    const struct laz_json *node = laz_json_get(object, key);

    if (!node || laz_json_type(node) != LAZ_JSON_ARRAY_BEGIN)
        return info_wrong(source, key, "a list of strings");
    for (node = laz_json_first(node); node; node = laz_json_next(node)) {
        if (!laz_json_string(node))
            return info_wrong(source, key, "a list of strings");
        laz_strv_add(list, laz_json_string(node));
    }
    return list->failed ? laz_error_nomem(source->err) : 0;
}

static int info_keys(const struct info_source *source, const struct laz_json *object,
                     const char *const *keys)
{
    for (const struct laz_json *node = laz_json_first(object); node; node = laz_json_next(node)) {
        size_t i = 0;
        while (keys[i] && strcmp(keys[i], laz_json_key(node)) != 0)
            i++;
        if (!keys[i])
            return info_wrong(source, laz_json_key(node), "no such key");
    }
    return 0;
}

static int info_take_option(const struct info_source *source, const struct laz_json *node,
                            struct laz_option *option)
{
    static const char *const keys[] = {"key", "type", "default", "help", NULL};
    char *key = NULL, *help = NULL, *value = NULL;

    if (laz_json_type(node) != LAZ_JSON_OBJECT_BEGIN)
        return info_wrong(source, "options", "a list of objects");
    int rc = info_keys(source, node, keys);
    if (!rc)
        rc = info_take_text(source, node, "key", &key);
    option->key = key;
    if (!rc)
        rc = info_take_text(source, node, "help", &help);
    option->help = help;
    const struct laz_json *standard = laz_json_get(node, "default");
    if (!rc && !standard)
        rc = info_wrong(source, "default", "a string or null");
    if (!rc && laz_json_type(standard) != LAZ_JSON_NULL)
        rc = info_take_text(source, node, "default", &value);
    option->default_value = value;
    const char *type = laz_json_string(laz_json_get(node, "type"));
    option->type = type ? laz_option_type(type) : 0;
    if (!rc && !option->type)
        rc = info_wrong(source, "type", "the type of an option");
    return rc;
}

static int info_take_options(const struct info_source *source, const struct laz_json *object,
                             struct laz_option **options)
{
    const struct laz_json *list = laz_json_get(object, "options");
    size_t n = 0;

    if (!list || laz_json_type(list) != LAZ_JSON_ARRAY_BEGIN)
        return info_wrong(source, "options", "a list of objects");
    for (const struct laz_json *node = laz_json_first(list); node; node = laz_json_next(node))
        n++;
    *options = calloc(n + 1, sizeof **options);
    if (!*options)
        return laz_error_nomem(source->err);
    n = 0;
    for (const struct laz_json *node = laz_json_first(list); node; node = laz_json_next(node)) {
        int rc = info_take_option(source, node, &(*options)[n++]);
        if (rc)
            return rc;
    }
    return 0;
}

/* Checked first: the other members have a known meaning only in a compatible ABI. */
static int info_check_abi(const struct info_source *source, const struct laz_json *object)
{
    const char *kind = laz_json_string(laz_json_get(object, "kind"));
    const char *abi = laz_json_string(laz_json_get(object, "abi"));
    unsigned long major, minor;
    char *end;

    if (!kind || strcmp(kind, "runtime") != 0)
        return info_wrong(source, "kind", "\"runtime\"");
    if (!abi || abi[0] < '0' || abi[0] > '9')
        return info_wrong(source, "abi", "a version such as \"1.0\"");
    major = strtoul(abi, &end, 10);
    if (end[0] != '.' || end[1] < '0' || end[1] > '9')
        return info_wrong(source, "abi", "a version such as \"1.0\"");
    minor = strtoul(end + 1, &end, 10);
    if (*end)
        return info_wrong(source, "abi", "a version such as \"1.0\"");
    if (major != LAZ_ABI_MAJOR || minor > LAZ_ABI_MINOR)
        return laz_error_set(source->err, LAZ_EPLUGIN, 0,
                             "%s: built for plugin ABI %lu.%lu, but this lazaret has %u.%u: build "
                             "it again with the headers of this version",
                             source->file, major, minor, (unsigned)LAZ_ABI_MAJOR,
                             (unsigned)LAZ_ABI_MINOR);
    return 0;
}

static int info_take_all(const struct info_source *source, const struct laz_json *root,
                         struct laz_runtime_info *info)
{
    static const char *const keys[] = {"kind",     "abi",       "name", "version", "summary",
                                       "suffixes", "libraries", "read", "env",     "reserved_words",
                                       "programs", "options",   NULL};
    const struct {
        const char *key;
        char **text;
    } texts[] = {{"name", &info->name}, {"version", &info->version}, {"summary", &info->summary}};
    const struct {
        const char *key;
        struct laz_strv *list;
    } lists[] = {{"suffixes", &info->suffixes},
                 {"libraries", &info->libraries},
                 {"read", &info->read},
                 {"env", &info->env},
                 {"reserved_words", &info->reserved_words},
                 {"programs", &info->programs}};
    int rc = 0;

    if (laz_json_type(root) != LAZ_JSON_OBJECT_BEGIN)
        return info_wrong(source, "the whole", "an object");
    rc = info_check_abi(source, root);
    if (!rc)
        rc = info_keys(source, root, keys);
    for (size_t i = 0; !rc && i < sizeof texts / sizeof texts[0]; i++)
        rc = info_take_text(source, root, texts[i].key, texts[i].text);
    for (size_t i = 0; !rc && i < sizeof lists / sizeof lists[0]; i++)
        rc = info_take_list(source, root, lists[i].key, lists[i].list);
    if (!rc)
        rc = info_take_options(source, root, &info->options);
    return rc;
}

int laz_runtime_info_parse(const char *json, size_t len, const char *json_file, const char *file,
                           struct laz_runtime_info **info, struct laz_error *err)
{
    struct info_source source = {json_file, err};
    struct laz_runtime_info *made = calloc(1, sizeof *made);
    struct laz_json *root = NULL;
    int rc = 0;

    *info = NULL;
    if (made)
        made->file = laz_strdup(file);
    if (!made || !made->file) {
        rc = laz_error_nomem(err);
        goto out;
    }
    root = laz_json_parse(json, len, err);
    if (!root) {
        laz_error_prefix(err, "%s: ", json_file);
        if (err)
            err->code = LAZ_EPLUGIN;
        rc = LAZ_EPLUGIN;
        goto out;
    }
    rc = info_take_all(&source, root, made);
    if (rc)
        goto out;
    *info = made;
    made = NULL;
out:
    laz_json_free(root);
    laz_runtime_info_free(made);
    return rc;
}

void laz_runtime_info_free(struct laz_runtime_info *info)
{
    if (!info)
        return;
    for (struct laz_option *option = info->options;
         option && (option->key || option->help || option->default_value); option++) {
        free((char *)option->key);
        free((char *)option->default_value);
        free((char *)option->help);
    }
    free(info->options);
    laz_strv_fini(&info->suffixes);
    laz_strv_fini(&info->libraries);
    laz_strv_fini(&info->read);
    laz_strv_fini(&info->env);
    laz_strv_fini(&info->reserved_words);
    laz_strv_fini(&info->programs);
    free(info->name);
    free(info->version);
    free(info->summary);
    free(info->file);
    free(info);
}
