/* SPDX-License-Identifier: MIT */
/* runtime_info.c - a runtime's descriptor as JSON text, so that the host need not load the runtime.
 * Side: host.  Input trusted: no (owner and mode of FILE.json are checked as the plugin's, but it
 * may be of another version).
 *
 * The build writes FILE.json beside FILE.so from the descriptor itself, so the two agree. The
 * reader accepts exactly what the writer writes: an unknown key or another type is an error,
 * because a newer minor ABI is declared in "abi". */
#include "plugin/plugin.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"
#include "os/files.h"
#include "os/trust.h"

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
        if (option->flags & LAZ_OPT_SECRET)
            laz_json_add_text(write, "flags", "secret");
        if (option->min)
            laz_json_add_text(write, "min", option->min);
        if (option->max)
            laz_json_add_text(write, "max", option->max);
        if (option->one_of)
            laz_json_add_text(write, "one_of", option->one_of);
        laz_json_end_object(write);
    }
    laz_json_end_list(write);
}

static const struct {
    uint32_t bit;
    const char *word;
} info_traits[] = {
    {LAZ_RUNTIME_RESERVES, "reserves"},
    {LAZ_RUNTIME_ONE_THREAD, "one_thread"},
};

static void info_add_traits(struct laz_json_write *write, uint32_t traits)
{
    laz_json_begin_list(write, "traits");
    for (size_t i = 0; i < sizeof info_traits / sizeof *info_traits; i++)
        if (traits & info_traits[i].bit)
            laz_json_add_text(write, NULL, info_traits[i].word);
    laz_json_end_list(write);
}

bool laz_runtime_has(const struct laz_runtime_info *info, uint32_t trait)
{
    for (size_t i = 0; i < sizeof info_traits / sizeof *info_traits; i++)
        if (info_traits[i].bit == trait)
            return laz_strv_has(&info->traits, info_traits[i].word);
    return false;
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
    info_add_list(&write, "needs", LAZ_HAS(ops, needs) ? ops->needs : NULL);
    info_add_traits(&write, ops->size > offsetof(struct laz_runtime_ops, traits) ? ops->traits : 0);
    info_add_options(&write, plugin->options);
    laz_json_end_object(&write);
    laz_buf_putc(json, '\n');
}

/* ---- reading -------------------------------------------------------------------------------- */

static uint32_t info_flag(const char *name)
{
    return strcmp(name, "secret") == 0 ? LAZ_OPT_SECRET : 0;
}

static const struct laz_field option_rows[] = {
    LAZ_FIELD(laz_option, TEXT, key, true),
    {.name = "type",
     .kind = LAZ_FIELD_WORD,
     .flags = LAZ_FIELD_REQUIRED,
     .at = offsetof(struct laz_option, type),
     .word = laz_option_type,
     .wrong = "the type of an option"},
    {.name = "default",
     .kind = LAZ_FIELD_TEXT,
     .flags = LAZ_FIELD_REQUIRED | LAZ_FIELD_NULLABLE,
     .at = offsetof(struct laz_option, default_value),
     .wrong = "a string or null"},
    LAZ_FIELD(laz_option, TEXT, help, true),
    {.name = "flags",
     .kind = LAZ_FIELD_WORD,
     .at = offsetof(struct laz_option, flags),
     .word = info_flag,
     .wrong = "\"secret\""},
    LAZ_FIELD(laz_option, TEXT, min, false),
    LAZ_FIELD(laz_option, TEXT, max, false),
    LAZ_FIELD(laz_option, TEXT, one_of, false),
};

static const struct laz_fields option_fields = LAZ_FIELDS(laz_option, option_rows);

static const struct laz_field info_rows[] = {
    LAZ_FIELD_KEY("kind"),
    LAZ_FIELD_KEY("abi"),
    LAZ_FIELD(laz_runtime_info, TEXT, name, true),
    LAZ_FIELD(laz_runtime_info, TEXT, version, true),
    LAZ_FIELD(laz_runtime_info, TEXT, summary, true),
    LAZ_FIELD(laz_runtime_info, TEXTS, suffixes, true),
    LAZ_FIELD(laz_runtime_info, TEXTS, libraries, true),
    LAZ_FIELD(laz_runtime_info, TEXTS, read, true),
    LAZ_FIELD(laz_runtime_info, TEXTS, env, true),
    LAZ_FIELD(laz_runtime_info, TEXTS, reserved_words, true),
    LAZ_FIELD(laz_runtime_info, TEXTS, programs, true),
    LAZ_FIELD(laz_runtime_info, TEXTS, needs, false),
    LAZ_FIELD(laz_runtime_info, TEXTS, traits, false),
    {.name = "options",
     .kind = LAZ_FIELD_LIST,
     .flags = LAZ_FIELD_REQUIRED,
     .at = offsetof(struct laz_runtime_info, option_list),
     .of = &option_fields},
};

static const struct laz_fields info_fields = LAZ_FIELDS(laz_runtime_info, info_rows);

const struct laz_description_kind laz_runtime_description = {
    .suffix = ".json",
    .word = "runtime",
    .remedy = "; make the file again with lazaret-agent --describe",
    .fields = &info_fields,
};

/* ---- its libraries --------------------------------------------------------------------------- */

/* *path stays NULL where it does not lie there. */
static int info_beside(const struct laz_runtime_info *info, const char *library, char **path,
                       struct laz_error *err)
{
    const char *slash = strrchr(info->file, '/');
    struct laz_look look;

    *path = NULL;
    if (!slash || strchr(library, '/'))
        return 0;
    char *beside = laz_strdupf("%.*s/%s", (int)(slash - info->file), info->file, library);
    int rc = beside ? 0 : laz_error_nomem(err);
    if (!rc && laz_os_look(beside, true, &look) == 0) {
        rc = laz_trust_file(beside, err);
        if (!rc) {
            *path = beside;
            return 0;
        }
    }
    free(beside);
    return rc;
}

int laz_runtime_libraries(const struct laz_runtime_info *info, struct laz_strv *libraries,
                          struct laz_error *err)
{
    for (size_t i = 0; i < info->libraries.n; i++) {
        char *path;
        int rc = info_beside(info, info->libraries.items[i], &path, err);
        if (rc)
            return rc;
        laz_strv_add(libraries, path ? path : info->libraries.items[i]);
        free(path);
    }
    return libraries->failed ? laz_error_nomem(err) : 0;
}
