/* SPDX-License-Identifier: MIT */
/* descriptor.c - checks that a plugin exports a descriptor that this version understands.
 * Side: host and agent.  Input trusted: no (the file may be a plugin of another version, or no
 * plugin).
 *
 * Everything is read in the order in which it becomes meaningful: magic, then versions, then sizes,
 * then the members that the sizes announce. A plugin that passes needs no further checks, except
 * for operations that are not in the tables of required ones: those may be missing. */
#include "plugin/plugin.h"

#include <stdlib.h>
#include <string.h>

#include <lazaret/backend.h>
#include <lazaret/carrier.h>
#include <lazaret/runtime.h>
#include <lazaret/tool.h>

#define DESCRIPTOR_MAX_OPTIONS 256
#define DESCRIPTOR_MAX_OPS     4096 /* bytes of a table; no table of this ABI is larger */

/* Operations that a plugin of a kind must have. */
/* clang-format off */
static const struct {
    uint32_t kind;
    const char *name;
    size_t offset; /* of a pointer in the table */
} descriptor_required[] = {
#define OP(kind, type, field) {LAZ_PLUGIN_##kind, #field, offsetof(struct type, field)},
    OP(BACKEND, laz_backend_ops, platforms) OP(BACKEND, laz_backend_ops, plan)
    OP(TOOL, laz_tool_ops, create) OP(TOOL, laz_tool_ops, list)
    OP(TOOL, laz_tool_ops, call) OP(TOOL, laz_tool_ops, destroy)
    OP(RUNTIME, laz_runtime_ops, suffixes) OP(RUNTIME, laz_runtime_ops, create)
    OP(RUNTIME, laz_runtime_ops, version) OP(RUNTIME, laz_runtime_ops, define_tools)
    OP(RUNTIME, laz_runtime_ops, check) OP(RUNTIME, laz_runtime_ops, eval)
    OP(CARRIER, laz_carrier_ops, open) OP(CARRIER, laz_carrier_ops, subscribe)
    OP(CARRIER, laz_carrier_ops, unsubscribe) OP(CARRIER, laz_carrier_ops, send)
    OP(CARRIER, laz_carrier_ops, close)
};
/* clang-format on */

static const struct descriptor_kind {
    uint32_t kind;
    const char *name;
    const char *word; /* before a plugin's own name */
} descriptor_kinds[] = {
    {LAZ_PLUGIN_BACKEND, "a backend", "backend"},
    {LAZ_PLUGIN_TOOL, "a tool provider", "provider"},
    {LAZ_PLUGIN_RUNTIME, "a runtime", "runtime"},
    {LAZ_PLUGIN_CARRIER, "a carrier", "carrier"},
};

static const char *const descriptor_types[] = {
    [LAZ_OPT_STRING] = "string", [LAZ_OPT_INTEGER] = "integer", [LAZ_OPT_BOOLEAN] = "boolean",
    [LAZ_OPT_SIZE] = "size",     [LAZ_OPT_TIME] = "time",       [LAZ_OPT_STRINGS] = "strings",
    [LAZ_OPT_PATHS] = "paths",   [LAZ_OPT_TABLES] = "tables",   [LAZ_OPT_PARAMETERS] = "parameters",
    [LAZ_OPT_TEXTS] = "texts",   [LAZ_OPT_PATH] = "path",       [LAZ_OPT_ANY] = "any",
};

#define DESCRIPTOR_TYPES (sizeof descriptor_types / sizeof descriptor_types[0])

static const struct descriptor_kind *descriptor_kind(uint32_t kind)
{
    for (size_t i = 0; i < sizeof descriptor_kinds / sizeof descriptor_kinds[0]; i++)
        if (descriptor_kinds[i].kind == kind)
            return &descriptor_kinds[i];
    return NULL;
}

const char *laz_kind_name(uint32_t kind)
{
    const struct descriptor_kind *found = descriptor_kind(kind);

    return found ? found->name : "of an unknown kind";
}

int laz_plugin_said(int rc, uint32_t kind, const char *name, const char *op, struct laz_error *err)
{
    const struct descriptor_kind *found = descriptor_kind(kind);
    const char *word = found ? found->word : "plugin";

    if (!rc)
        return 0;
    if (rc > 0) /* no code of an error */
        rc = LAZ_EPLUGIN;
    if (!err)
        return rc;
    err->text[sizeof err->text - 1] = '\0';
    if (!err->text[0] && rc != LAZ_ENOMEM)
        return laz_error_set(err, rc, 0, "the %s %s failed in %s without saying why", word, name,
                             op);
    if (!err->text[0])
        laz_error_nomem(err);
    laz_error_prefix(err, "%s %s: ", word, name);
    return laz_error_as(err, rc);
}

const char *laz_option_type_name(uint32_t type)
{
    return type < DESCRIPTOR_TYPES ? descriptor_types[type] : NULL;
}

uint32_t laz_option_type(const char *name)
{
    for (uint32_t type = 0; type < DESCRIPTOR_TYPES; type++)
        if (descriptor_types[type] && strcmp(descriptor_types[type], name) == 0)
            return type;
    return 0;
}

static int descriptor_abi(const struct laz_plugin *plugin, struct laz_error *err)
{
    if (plugin->magic != LAZ_PLUGIN_MAGIC)
        return laz_error_set(err, LAZ_EPLUGIN, 0,
                             "its lazaret_plugin is not a descriptor of lazaret (magic %08x, not "
                             "%08x)",
                             (unsigned)plugin->magic, (unsigned)LAZ_PLUGIN_MAGIC);
    if (plugin->abi_major != LAZ_ABI_MAJOR || plugin->abi_minor > LAZ_ABI_MINOR)
        return laz_error_set(err, LAZ_EPLUGIN, 0,
                             "built for plugin ABI %u.%u, but this lazaret has %u.%u: build it "
                             "again with the headers of this version%s",
                             (unsigned)plugin->abi_major, (unsigned)plugin->abi_minor,
                             (unsigned)LAZ_ABI_MAJOR, (unsigned)LAZ_ABI_MINOR,
                             plugin->abi_major == LAZ_ABI_MAJOR ? ", or use a newer lazaret" : "");
    if (plugin->size < offsetof(struct laz_plugin, ops) + sizeof plugin->ops ||
        plugin->size > DESCRIPTOR_MAX_OPS)
        return laz_error_set(
            err, LAZ_EPLUGIN, 0, "a descriptor of %u bytes is not one of ABI %u.%u",
            (unsigned)plugin->size, (unsigned)plugin->abi_major, (unsigned)plugin->abi_minor);
    return 0;
}

size_t laz_name_before(const char *file_name, const char *suffix)
{
    size_t len = strlen(file_name), end = strlen(suffix);

    return len > end && strcmp(file_name + len - end, suffix) == 0 ? len - end : 0;
}

size_t laz_module_name(const char *file_name)
{
    if (file_name[0] == '.')
        return 0;
    size_t len = laz_name_before(file_name, LAZ_MODULE_MARK LAZ_MODULE_SUFFIX);
    return len ? len : laz_name_before(file_name, LAZ_MODULE_SUFFIX);
}

/* The plugin's name must be that of its file, so that looking up a name finds the plugin of that
 * name. */
static int descriptor_name(const struct laz_plugin *plugin, const char *file, struct laz_error *err)
{
    const char *base = strrchr(file, '/');
    base = base ? base + 1 : file;
    size_t len = laz_module_name(base);

    if (!plugin->name || !plugin->version || !plugin->summary)
        return laz_error_set(err, LAZ_EPLUGIN, 0, "its descriptor lacks the %s",
                             !plugin->name      ? "name"
                             : !plugin->version ? "version"
                                                : "summary");
    if (!len) /* a plugin given by its path may have any file name */
        return 0;
    if (laz_name_before(plugin->name, LAZ_MODULE_MARK) ||
        strcmp(plugin->name, LAZ_MODULE_MARK) == 0)
        return laz_error_set(err, LAZ_EPLUGIN, 0,
                             "the plugin in it is called \"%s\"; the name of a plugin cannot end "
                             "in \"%s\", which is a suffix of file names",
                             plugin->name, LAZ_MODULE_MARK);
    if (strlen(plugin->name) != len || strncmp(plugin->name, base, len) != 0)
        return laz_error_set(err, LAZ_EPLUGIN, 0,
                             "the plugin in it is called \"%s\"; rename the file to %s%s",
                             plugin->name, plugin->name, LAZ_MODULE_SUFFIX);
    return 0;
}

/* Options have no size of their own: how long each is in the plugin's table depends on the headers
 * that it was built with. */
static size_t descriptor_option_size(const struct laz_plugin *plugin)
{
    return plugin->abi_minor ? sizeof(struct laz_option) : offsetof(struct laz_option, flags);
}

/* Number `i` of the table; NULL: there is no table. */
static const struct laz_option *descriptor_option(const struct laz_plugin *plugin, size_t i)
{
    if (!plugin->options)
        return NULL;
    return (const struct laz_option *)((const char *)plugin->options +
                                       i * descriptor_option_size(plugin));
}

static int descriptor_options(const struct laz_plugin *plugin, struct laz_error *err)
{
    const struct laz_option *option;

    for (size_t i = 0; (option = descriptor_option(plugin, i)) && option->key; i++) {
        if (i == DESCRIPTOR_MAX_OPTIONS)
            return laz_error_set(err, LAZ_EPLUGIN, 0,
                                 "more than %d options: its table must end with a NULL key",
                                 DESCRIPTOR_MAX_OPTIONS);
        if (!laz_option_type_name(option->type))
            return laz_error_set(err, LAZ_EPLUGIN, 0, "option \"%s\" has no type (%u)", option->key,
                                 (unsigned)option->type);
        if (!option->help)
            return laz_error_set(err, LAZ_EPLUGIN, 0, "option \"%s\" has no help", option->key);
    }
    return 0;
}

int laz_descriptor_copy(const struct laz_plugin *plugin, struct laz_plugin *copy,
                        struct laz_option **options, struct laz_error *err)
{
    const struct laz_option *option;
    size_t n = 0;

    *copy = (struct laz_plugin){0};
    memcpy(copy, plugin, plugin->size < sizeof *copy ? plugin->size : sizeof *copy);
    while ((option = descriptor_option(plugin, n)) && option->key)
        n++;
    *options = calloc(n + 1, sizeof **options);
    if (!*options)
        return laz_error_nomem(err);
    for (size_t i = 0; i < n; i++)
        memcpy(&(*options)[i], descriptor_option(plugin, i), descriptor_option_size(plugin));
    copy->options = plugin->options ? *options : NULL;
    return 0;
}

static int descriptor_ops(const struct laz_plugin *plugin, const struct descriptor_kind *kind,
                          struct laz_error *err)
{
    size_t size;

    if (!plugin->ops)
        return laz_error_set(err, LAZ_EPLUGIN, 0, "its descriptor has no operations");
    memcpy(&size, plugin->ops, sizeof size);
    if (size < sizeof size || size > DESCRIPTOR_MAX_OPS)
        return laz_error_set(err, LAZ_EPLUGIN, 0,
                             "its operations claim a size of %zu bytes; they must begin with "
                             "sizeof the table",
                             size);
    for (size_t i = 0; i < sizeof descriptor_required / sizeof *descriptor_required; i++) {
        const size_t offset = descriptor_required[i].offset;
        const void *value = NULL;
        if (descriptor_required[i].kind != kind->kind)
            continue;
        if (size >= offset + sizeof value)
            memcpy(&value, (const char *)plugin->ops + offset, sizeof value);
        if (!value)
            return laz_error_set(err, LAZ_EPLUGIN, 0, "missing op: %s (%s needs it)",
                                 descriptor_required[i].name, kind->name);
    }
    return 0;
}

int laz_descriptor_check(const struct laz_plugin *plugin, const char *file, uint32_t kind,
                         struct laz_error *err)
{
    int rc = descriptor_abi(plugin, err);
    const struct descriptor_kind *own = rc ? NULL : descriptor_kind(plugin->kind);

    if (!rc && !own)
        rc = laz_error_set(err, LAZ_EPLUGIN, 0, "a plugin of an unknown kind (%u)",
                           (unsigned)plugin->kind);
    if (!rc && kind && plugin->kind != kind)
        rc = laz_error_set(err, LAZ_EPLUGIN, 0, "this is %s, not %s", own->name,
                           laz_kind_name(kind));
    if (!rc)
        rc = descriptor_name(plugin, file, err);
    if (!rc)
        rc = descriptor_options(plugin, err);
    if (!rc)
        rc = descriptor_ops(plugin, own, err);
    if (rc)
        laz_error_prefix(err, "%s: ", file);
    return rc;
}
