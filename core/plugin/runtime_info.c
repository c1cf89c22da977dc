/* SPDX-License-Identifier: MIT */
/* runtime_info.c - a runtime's descriptor as JSON text, so that the host need not load the runtime.
 * Side: host.  Input trusted: no (owner and mode of FILE.json are checked as the plugin's, but it
 * may be of another version).
 *
 * The build writes FILE.json beside FILE.so from the descriptor itself, so the two agree. The
 * reader accepts exactly what the writer writes: an unknown key or another type is an error,
 * because a newer minor ABI is declared in "abi". */
#include "plugin/runtime_info.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_write.h"
#include "plugin/descriptions.h"
#include "plugin/descriptor.h"
#include "plugin/fields.h"

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

static int info_read_type(const struct laz_fields_source *source, const struct laz_json *node,
                          void *into)
{
    const char *type = laz_json_string(node);
    uint32_t *option_type = into;

    *option_type = type ? laz_option_type(type) : 0;
    return *option_type ? 0 : laz_fields_wrong(source, "type", "the type of an option");
}

static int info_read_default(const struct laz_fields_source *source, const struct laz_json *node,
                             void *into)
{
    const char *value = laz_json_string(node);

    if (!node || (!value && laz_json_type(node) != LAZ_JSON_NULL))
        return laz_fields_wrong(source, "default", "a string or null");
    *(char **)into = laz_strdup(value);
    return value && !*(char **)into ? laz_error_nomem(source->err) : 0;
}

static const struct laz_field info_option_fields[] = {
    LAZ_FIELD(laz_option, TEXT, key, true),
    LAZ_FIELD(laz_option, TEXT, help, true),
    {.key = "default",
     .offset = offsetof(struct laz_option, default_value),
     .read = info_read_default},
    {.key = "type", .offset = offsetof(struct laz_option, type), .read = info_read_type},
    LAZ_FIELD_END,
};

static int info_read_options(const struct laz_fields_source *source, const struct laz_json *list,
                             void *into)
{
    struct laz_option **options = into;
    size_t n = 0;

    if (!list || laz_json_type(list) != LAZ_JSON_ARRAY_BEGIN)
        return laz_fields_wrong(source, "options", "a list of objects");
    for (const struct laz_json *node = laz_json_first(list); node; node = laz_json_next(node))
        n++;
    *options = calloc(n + 1, sizeof **options);
    if (!*options)
        return laz_error_nomem(source->err);
    n = 0;
    for (const struct laz_json *node = laz_json_first(list); node; node = laz_json_next(node)) {
        int rc = laz_json_type(node) == LAZ_JSON_OBJECT_BEGIN
                     ? laz_fields_read(source, node, info_option_fields, &(*options)[n++])
                     : laz_fields_wrong(source, "options", "a list of objects");
        if (rc)
            return rc;
    }
    return 0;
}

static const struct laz_field info_fields[] = {
    LAZ_FIELD_KEY("kind"),
    LAZ_FIELD_KEY("abi"),
    LAZ_FIELD(laz_runtime_info, TEXT, name, true),
    LAZ_FIELD(laz_runtime_info, TEXT, version, true),
    LAZ_FIELD(laz_runtime_info, TEXT, summary, true),
    LAZ_FIELD(laz_runtime_info, LIST, suffixes, true),
    LAZ_FIELD(laz_runtime_info, LIST, libraries, true),
    LAZ_FIELD(laz_runtime_info, LIST, read, true),
    LAZ_FIELD(laz_runtime_info, LIST, env, true),
    LAZ_FIELD(laz_runtime_info, LIST, reserved_words, true),
    LAZ_FIELD(laz_runtime_info, LIST, programs, true),
    {.key = "options",
     .offset = offsetof(struct laz_runtime_info, options),
     .read = info_read_options},
    LAZ_FIELD_END,
};

static void info_fini(void *data)
{
    struct laz_runtime_info *info = data;

    for (struct laz_option *option = info->options;
         option && (option->key || option->help || option->default_value); option++) {
        free((char *)option->default_value);
        laz_fields_free(info_option_fields, option);
    }
    free(info->options);
}

const struct laz_description_kind laz_runtime_description = {
    .suffix = ".json",
    .word = "runtime",
    .remedy = "; make the file again with lazaret-agent --describe",
    .size = sizeof(struct laz_runtime_info),
    .fields = info_fields,
    .fini = info_fini,
};
