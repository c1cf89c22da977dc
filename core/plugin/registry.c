/* SPDX-License-Identifier: MIT */
/* registry.c - finds plugins, and loads each when it is first used.
 * Side: host.  Input trusted: no (directories and files are checked before they are used).
 *
 * A new registry only lists names. A backend or a tool provider is loaded on first use and stays
 * loaded as long as the registry; of a runtime FILE.json is read, never the object. A plugin's
 * error is kept and reported again, so that two lookups give the same answer.
 *
 * The first directory that has a plugin of a kind and name wins. If that plugin is unusable, the
 * lookup fails and does not take the next one: whoever put a plugin first wants that one. */
#include "config.h"
#include "plugin/registry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "os/current_process.h"
#include "os/directories.h"
#include "os/files.h"
#include "os/paths.h"
#include "os/trust.h"
#include "plugin/descriptions.h"
#include "plugin/descriptor.h"
#include "plugin/installed.h"
#include "plugin/module.h"

#define REGISTRY_MAX_INFO (1u << 20) /* bytes of a FILE.json, at most */

struct registry_plugin {
    char *name;
    char *file;
    char *json_file; /* NULL: not a runtime */
    bool tried;      /* loading was tried: module, info or problem is set */
    struct laz_module *module;
    struct laz_runtime_info *info;
    char *problem;
};

struct laz_registry {
    struct laz_log log;
    struct laz_strv directories; /* directories in use */
    struct laz_strv refused;     /* why others are ignored */
    struct registry_plugin *plugins;
    size_t n, cap;
    struct laz_descriptions descriptions;
};

/* ---- finding files -------------------------------------------------------------------------- */

static int registry_add(struct laz_registry *registry, const char *directory, const char *file_name,
                        size_t len)
{
    struct laz_look look;

    if (registry->n == registry->cap) {
        size_t cap = registry->cap ? registry->cap * 2 : 16;
        struct registry_plugin *more = realloc(registry->plugins, cap * sizeof *more);
        if (!more)
            return LAZ_ENOMEM;
        registry->plugins = more;
        registry->cap = cap;
    }
    struct registry_plugin *plugin = &registry->plugins[registry->n++];
    *plugin = (struct registry_plugin){0};
    plugin->name = laz_strndup(file_name, len);
    plugin->file = laz_strdupf("%s/%s", directory, file_name);
    char *json_file = plugin->name ? laz_strdupf("%s/%s.json", directory, plugin->name) : NULL;
    if (!plugin->file || !json_file) {
        free(json_file);
        return LAZ_ENOMEM;
    }
    if (laz_os_look(json_file, true, &look) == 0)
        plugin->json_file = json_file;
    else
        free(json_file);
    return 0;
}

/* `directory` is an item of registry->directories: descriptions borrow it. */
static int registry_scan(struct laz_registry *registry, const char *directory, bool is_standard)
{
    struct laz_strv names = LAZ_STRV_INIT;
    struct laz_error why = {0};
    int rc = laz_os_list_directory(directory, &names, &why);

    if (rc == LAZ_EOS) {
        laz_strv_add(&registry->refused, why.text);
        rc = 0;
    }
    for (size_t i = 0; !rc && i < names.n; i++) {
        size_t len = laz_module_name(names.items[i]);
        rc = len ? registry_add(registry, directory, names.items[i], len)
                 : laz_descriptions_note(&registry->descriptions, directory, names.items[i],
                                         is_standard);
    }
    laz_strv_fini(&names);
    return rc;
}

enum registry_origin {
    REGISTRY_SETTINGS,    /* a directory that the settings name */
    REGISTRY_ENVIRONMENT, /* a directory of $LAZARET_PLUGIN_PATH */
    REGISTRY_INSTALLED,   /* need not exist */
};

/* Adds a directory, or notes why it is ignored. */
static int registry_add_directory(struct laz_registry *registry, const char *directory,
                                  enum registry_origin origin)
{
    bool must_exist = origin != REGISTRY_INSTALLED, is_standard = origin != REGISTRY_SETTINGS;
    struct laz_error why = {0};
    struct laz_look look;

    if (laz_strv_has(&registry->directories, directory)) {
        if (is_standard)
            laz_descriptions_promote(&registry->descriptions, directory);
        return 0;
    }
    if (!directory[0])
        return 0;
    if (!must_exist && laz_os_look(directory, true, &look) == ENOENT)
        return 0;
    if (laz_trust_directory(directory, &why)) {
        /* this user has no plugins in an installed directory that it cannot enter */
        bool harmless = !must_exist && why.os_errno == EACCES;
        laz_strv_add(&registry->refused, why.text);
        laz_log(&registry->log, harmless ? LAZ_LOG_INFO : LAZ_LOG_WARNING,
                "ignoring a directory of plugins: %s", why.text);
        return registry->refused.failed ? LAZ_ENOMEM : 0;
    }
    laz_strv_add(&registry->directories, directory);
    if (registry->directories.failed)
        return LAZ_ENOMEM;
    return registry_scan(registry, registry->directories.items[registry->directories.n - 1],
                         is_standard);
}

/* Adds the directories of a list, separated as the system does it: by ':' or ';'. */
static int registry_add_list(struct laz_registry *registry, const char *list)
{
    int rc = 0;

    while (!rc && list && *list) {
        size_t len = strcspn(list, laz_os_list_separator);
        char *directory = laz_strndup(list, len);
        rc = directory ? registry_add_directory(registry, directory, REGISTRY_ENVIRONMENT)
                       : LAZ_ENOMEM;
        free(directory);
        list += len + (list[len] != '\0');
    }
    return rc;
}

int laz_registry_new(const struct laz_strv *directories, const struct laz_log *log,
                     struct laz_registry **registry, struct laz_error *err)
{
    struct laz_registry *made = calloc(1, sizeof *made);

    *registry = NULL;
    if (!made)
        return laz_error_nomem(err);
    if (log)
        made->log = *log;
    int rc = registry_add_list(made, laz_os_getenv("LAZARET_PLUGIN_PATH"));
    for (size_t i = 0; !rc && directories && i < directories->n; i++)
        rc = registry_add_directory(made, directories->items[i], REGISTRY_SETTINGS);
    char *installed = laz_installed_plugins();
    if (!rc)
        rc = installed ? registry_add_directory(made, installed, REGISTRY_INSTALLED) : LAZ_ENOMEM;
    free(installed);
    if (rc) {
        laz_registry_free(made);
        return laz_error_nomem(err);
    }
    *registry = made;
    return 0;
}

void laz_registry_free(struct laz_registry *registry)
{
    if (!registry)
        return;
    for (size_t i = 0; i < registry->n; i++) {
        struct registry_plugin *plugin = &registry->plugins[i];
        laz_module_close(plugin->module);
        laz_runtime_info_free(plugin->info);
        free(plugin->problem);
        free(plugin->json_file);
        free(plugin->file);
        free(plugin->name);
    }
    free(registry->plugins);
    laz_descriptions_fini(&registry->descriptions);
    laz_strv_fini(&registry->directories);
    laz_strv_fini(&registry->refused);
    free(registry);
}

/* ---- loading -------------------------------------------------------------------------------- */

static int registry_read_info(struct laz_registry *registry, struct registry_plugin *plugin,
                              struct laz_error *err)
{
    struct laz_buf json = LAZ_BUF_INIT;
    const struct laz_language *language = NULL;

    int rc = laz_trust_file(plugin->file, err);
    if (!rc)
        rc = laz_trust_read(plugin->json_file, REGISTRY_MAX_INFO, &json, err);
    if (rc == LAZ_EREFUSED)
        rc = laz_error_as(err, LAZ_EPLUGIN);
    if (!rc)
        rc = laz_registry_language(registry, plugin->name, &language, err);
    if (!rc)
        rc = laz_runtime_info_parse(laz_buf_text(&json), json.len, plugin->json_file, plugin->file,
                                    &plugin->info, err);
    if (!rc && strcmp(plugin->info->name, plugin->name) != 0) {
        rc = laz_error_set(err, LAZ_EPLUGIN, 0, "%s: it describes \"%s\"; rename it to %s.json",
                           plugin->json_file, plugin->info->name, plugin->info->name);
        laz_runtime_info_free(plugin->info);
        plugin->info = NULL;
    }
    if (!rc)
        plugin->info->language = language;
    laz_buf_fini(&json);
    return rc;
}

static int registry_open_module(struct laz_registry *registry, struct registry_plugin *plugin,
                                struct laz_error *err)
{
    const void *description; /* checked before the plugin is loaded */
    int rc = laz_descriptions_find(&registry->descriptions, LAZ_DESCRIPTION_BACKEND, plugin->name,
                                   &description, err);
    if (!rc)
        rc = laz_module_open(plugin->file, 0, NULL, &plugin->module, err);
    if (rc)
        return rc;
    if (laz_module_plugin(plugin->module)->kind != LAZ_PLUGIN_RUNTIME)
        return 0;
    laz_module_close(plugin->module);
    plugin->module = NULL;
    return laz_error_set(err, LAZ_EPLUGIN, 0,
                         "%s: a runtime whose description %s.json is missing beside it; make it "
                         "with lazaret-agent --describe",
                         plugin->file, plugin->name);
}

/* Loads a plugin once and keeps its problem. 0, or LAZ_EPLUGIN with the problem. */
static int registry_load(struct laz_registry *registry, struct registry_plugin *plugin,
                         struct laz_error *err)
{
    struct laz_error why = {0};

    if (!plugin->tried) {
        int rc = plugin->json_file ? registry_read_info(registry, plugin, &why)
                                   : registry_open_module(registry, plugin, &why);
        if (rc == LAZ_ENOMEM)
            return laz_error_nomem(err);
        if (rc && !(plugin->problem = laz_strdup(why.text)))
            return laz_error_nomem(err);
        plugin->tried = true;
        if (rc)
            laz_log(&registry->log, LAZ_LOG_INFO, "a plugin cannot be used: %s", why.text);
    }
    if (plugin->problem)
        return laz_error_set(err, LAZ_EPLUGIN, 0, "%s", plugin->problem);
    return 0;
}

static uint32_t registry_kind(const struct registry_plugin *plugin)
{
    if (plugin->json_file)
        return LAZ_PLUGIN_RUNTIME;
    return plugin->module ? laz_module_plugin(plugin->module)->kind : 0;
}

/* ---- asking --------------------------------------------------------------------------------- */

/* Appends to a message about a missing plugin: " (did you mean "a"?); installed: a, b" and the
 * directories that were ignored. */
static void registry_list(struct laz_registry *registry, uint32_t kind, const char *name,
                          struct laz_buf *text)
{
    struct laz_buf list = LAZ_BUF_INIT;
    struct laz_nearest nearest;

    laz_nearest_init(&nearest, name);

    for (size_t i = 0; i < registry->n; i++) {
        struct registry_plugin *plugin = &registry->plugins[i];
        if ((kind == LAZ_PLUGIN_RUNTIME) != (plugin->json_file != NULL))
            continue;
        if (registry_load(registry, plugin, NULL) != 0 || registry_kind(plugin) != kind)
            continue;
        laz_buf_printf(&list, "%s%s", list.len ? ", " : "; installed: ", plugin->name);
        laz_nearest_try(&nearest, plugin->name);
    }
    if (laz_nearest_best(&nearest))
        laz_buf_printf(text, " (did you mean \"%s\"?)", laz_nearest_best(&nearest));
    if (list.len) {
        laz_buf_puts(text, laz_buf_text(&list));
    } else {
        char *installed = laz_installed_plugins();
        laz_buf_printf(text, "; none is installed in %s",
                       installed ? installed : "the installed directory");
        free(installed);
    }
    for (size_t i = 0; i < registry->refused.n; i++)
        laz_buf_printf(text, "; ignored: %s", registry->refused.items[i]);
    laz_buf_fini(&list);
}

int laz_registry_language(struct laz_registry *registry, const char *name,
                          const struct laz_language **language, struct laz_error *err)
{
    const void *data;
    int rc =
        laz_descriptions_find(&registry->descriptions, LAZ_DESCRIPTION_LANGUAGE, name, &data, err);

    *language = data;
    return rc;
}

void laz_registry_stubs(struct laz_registry *registry, struct laz_strv *names)
{
    struct laz_descriptions *all = &registry->descriptions;

    for (size_t i = 0; i < all->n; i++) {
        const struct laz_language *language;
        if (all->items[i].kind != LAZ_DESCRIPTION_LANGUAGE ||
            laz_strv_has(names, all->items[i].name) ||
            laz_registry_language(registry, all->items[i].name, &language, NULL) != 0)
            continue;
        if (language->stub.null_word)
            laz_strv_add(names, language->name);
    }
}

bool laz_registry_can_be_installed(struct laz_registry *registry, const char *runtime)
{
    const struct laz_language *language;

    return laz_registry_language(registry, runtime, &language, NULL) == 0 && language &&
           language->package;
}

static int registry_missing(struct laz_registry *registry, uint32_t kind, const char *name,
                            const struct registry_plugin *other, struct laz_error *err)
{
    struct laz_buf text = LAZ_BUF_INIT;
    const char *word = laz_kind_name(kind);

    word = strchr(word, ' ') + 1;
    laz_buf_printf(&text, "no %s is called \"%s\"", word, name);
    if (other)
        laz_buf_printf(&text, " (%s is %s)", other->file, laz_kind_name(registry_kind(other)));
    const struct laz_language *known = NULL;
    if (kind == LAZ_PLUGIN_RUNTIME)
        laz_registry_language(registry, name, &known, NULL);
    if (known)
        laz_buf_clear(&text);
    if (known && known->package)
        laz_buf_printf(&text,
                       "the runtime \"%s\" is not installed: it is built where its interpreter "
                       "can be embedded (Debian: apt-get install %s, then build again)",
                       name, known->package);
    else if (known)
        laz_buf_printf(&text, "the runtime \"%s\" is not available in this version", name);
    registry_list(registry, kind, name, &text);
    int rc = laz_error_set(err, LAZ_ENOENT, 0, "%s", laz_buf_text(&text));
    laz_buf_fini(&text);
    return rc;
}

int laz_registry_find(struct laz_registry *registry, uint32_t kind, const char *name,
                      const struct laz_plugin **plugin, struct laz_error *err)
{
    const struct registry_plugin *other = NULL;

    *plugin = NULL;
    if (kind == LAZ_PLUGIN_RUNTIME)
        return laz_error_set(err, LAZ_EINVAL, 0, "the host does not load runtimes (\"%s\")", name);
    for (size_t i = 0; i < registry->n; i++) {
        struct registry_plugin *found = &registry->plugins[i];
        if (strcmp(found->name, name) != 0 || found->json_file)
            continue;
        int rc = registry_load(registry, found, err);
        if (rc)
            return rc;
        if (registry_kind(found) == kind) {
            *plugin = laz_module_plugin(found->module);
            return 0;
        }
        other = found;
    }
    return registry_missing(registry, kind, name, other, err);
}

int laz_registry_runtime(struct laz_registry *registry, const char *name,
                         const struct laz_runtime_info **info, struct laz_error *err)
{
    struct registry_plugin *bare = NULL; /* has the name but no FILE.json */

    *info = NULL;
    for (size_t i = 0; i < registry->n; i++) {
        struct registry_plugin *found = &registry->plugins[i];
        if (strcmp(found->name, name) != 0)
            continue;
        if (!found->json_file) {
            bare = bare ? bare : found;
            continue;
        }
        int rc = registry_load(registry, found, err);
        if (!rc)
            *info = found->info;
        return rc;
    }
    if (bare && registry_load(registry, bare, err) != 0)
        return LAZ_EPLUGIN;
    return registry_missing(registry, LAZ_PLUGIN_RUNTIME, name, NULL, err);
}

static bool registry_ends_with(const char *file, const char *suffix)
{
    size_t len = strlen(file), n = strlen(suffix);

    return n && len > n && strcmp(file + len - n, suffix) == 0;
}

const struct laz_runtime_info *laz_registry_runtime_for(struct laz_registry *registry,
                                                        const char *file)
{
    for (size_t i = 0; i < registry->n; i++) {
        struct registry_plugin *plugin = &registry->plugins[i];
        if (!plugin->json_file || registry_load(registry, plugin, NULL) != 0)
            continue;
        for (size_t k = 0; k < plugin->info->suffixes.n; k++)
            if (registry_ends_with(file, plugin->info->suffixes.items[k]))
                return plugin->info;
    }
    return NULL;
}

/* An earlier plugin of the same kind and name, or NULL. */
static const struct registry_plugin *registry_hides(const struct laz_registry *registry,
                                                    size_t index)
{
    const struct registry_plugin *plugin = &registry->plugins[index];

    for (const struct registry_plugin *first = registry->plugins; first < plugin; first++) {
        bool unknown = !first->json_file && first->problem; /* its kind is unknown, but it is no
                                                               runtime */
        if (strcmp(first->name, plugin->name) == 0 &&
            (registry_kind(first) == registry_kind(plugin) || (unknown && !plugin->json_file)))
            return first;
    }
    return NULL;
}

void laz_registry_visit(struct laz_registry *registry,
                        void (*visit)(void *user, const struct laz_plugin_entry *entry), void *user)
{
    for (size_t i = 0; i < registry->n; i++) {
        struct registry_plugin *plugin = &registry->plugins[i];
        struct laz_error err = {0};
        char *hidden = NULL;
        struct laz_plugin_entry entry = {.name = plugin->name, .file = plugin->file};

        if (registry_load(registry, plugin, &err) == 0) {
            const struct registry_plugin *first = registry_hides(registry, i);
            if (first)
                hidden = laz_strdupf("hidden by %s, which is found before it", first->file);
            entry.problem = hidden;
        } else {
            entry.problem = err.text;
        }
        if (plugin->module)
            entry.plugin = laz_module_plugin(plugin->module);
        entry.runtime = plugin->info;
        visit(user, &entry);
        free(hidden);
    }
}

void laz_registry_visit_runtimes(struct laz_registry *registry,
                                 void (*visit)(void *user, const struct laz_runtime_info *info),
                                 void *user)
{
    for (size_t i = 0; i < registry->n; i++) {
        struct registry_plugin *plugin = &registry->plugins[i];
        if (plugin->json_file && registry_load(registry, plugin, NULL) == 0 &&
            !registry_hides(registry, i))
            visit(user, plugin->info);
    }
}

/* ---- backends ------------------------------------------------------------------------------- */

int laz_registry_backend(struct laz_registry *registry, const char *name,
                         const struct laz_backend_info **info, struct laz_error *err)
{
    const void *data;
    int rc =
        laz_descriptions_find(&registry->descriptions, LAZ_DESCRIPTION_BACKEND, name, &data, err);

    *info = data;
    return rc;
}

/* Is there an object for the description? */
static bool registry_has_object(const struct laz_registry *registry, const char *name)
{
    for (size_t i = 0; i < registry->n; i++)
        if (!registry->plugins[i].json_file && strcmp(registry->plugins[i].name, name) == 0)
            return true;
    return false;
}

/* The rank of a description for `auto`, INT64_MAX: none; -1: memory or descriptors are short. One
 * that cannot be read may be that of the best backend: it comes first, so that its problem is
 * reported and nothing weaker is taken. */
static int64_t registry_rank(const struct laz_registry *registry,
                             struct laz_description *description, const char *platform)
{
    if (description->kind != LAZ_DESCRIPTION_BACKEND || !description->is_standard ||
        !registry_has_object(registry, description->name))
        return INT64_MAX;
    if (laz_description_load(description, NULL) != 0)
        return description->problem ? 0 : -1;
    int64_t rank = laz_backend_info_rank(description->data, platform);
    return rank ? rank : INT64_MAX;
}

void laz_registry_automatic(struct laz_registry *registry, const char *platform,
                            struct laz_strv *names)
{
    struct laz_descriptions *all = &registry->descriptions;
    struct laz_strv found = LAZ_STRV_INIT;

    for (;;) { /* appends the next one; there are few */
        const struct laz_description *best = NULL;
        int64_t best_rank = INT64_MAX;
        for (size_t i = 0; i < all->n; i++) {
            struct laz_description *next = &all->items[i];
            int64_t rank = registry_rank(registry, next, platform);
            if (rank == INT64_MAX || laz_strv_has(&found, next->name))
                continue;
            found.failed |= rank < 0; /* an incomplete list must not be chosen from */
            if (rank < best_rank || (rank == best_rank && strcmp(next->name, best->name) < 0)) {
                best = next;
                best_rank = rank;
            }
        }
        if (!best || found.failed)
            break;
        laz_strv_add(&found, best->name);
        laz_strv_add(names, best->name);
    }
    names->failed |= found.failed;
    laz_strv_fini(&found);
}

const char *laz_registry_advice(struct laz_registry *registry, const char *platform,
                                const char *word)
{
    struct laz_descriptions *all = &registry->descriptions;

    for (size_t i = 0; i < all->n; i++) {
        int64_t rank = registry_rank(registry, &all->items[i], platform);
        const struct laz_backend_info *info = all->items[i].data;
        for (size_t k = 0; rank > 0 && rank != INT64_MAX && k + 1 < info->advice.n; k += 2)
            if (strcmp(info->advice.items[k], word) == 0)
                return info->advice.items[k + 1];
    }
    return NULL;
}

const struct laz_backend_info *laz_registry_unconfined(struct laz_registry *registry)
{
    struct laz_descriptions *all = &registry->descriptions;

    for (size_t i = 0; i < all->n; i++) {
        struct laz_description *description = &all->items[i];
        if (description->kind != LAZ_DESCRIPTION_BACKEND || !description->is_standard ||
            laz_description_load(description, NULL) != 0)
            continue;
        const struct laz_backend_info *info = description->data;
        if (info->unconfined)
            return info;
    }
    return NULL;
}
