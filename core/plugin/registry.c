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
#include "plugin/plugin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "os/current_process.h"
#include "os/directories.h"
#include "os/files.h"
#include "os/packages.h"
#include "os/paths.h"
#include "os/trust.h"
#include "settings/settings.h"

#define REGISTRY_MAX_DESCRIPTION (1u << 20) /* bytes of a file */

/* The object of a plugin, or a description; read when it is asked for. */
struct registry_file {
    const struct laz_description_kind *kind; /* NULL: an object */
    char *name, *path;
    const char *directory;         /* an item of the registry's list */
    struct registry_file *runtime; /* of an object: NAME.json beside it; NULL: not a runtime */
    bool tried;                    /* data or problem is known */
    void *data;                    /* as the kind says; of an object struct laz_module, of a runtime
                                      nothing */
    char *problem;
};

/* In the order in which they were found. */
struct registry_list {
    struct registry_file *items;
    size_t n;
};

struct laz_registry {
    struct laz_log log;
    struct laz_strv directories; /* directories in use */
    struct laz_strv standard;    /* those that not only the settings name */
    struct laz_strv refused;     /* why others are ignored */
    struct registry_list objects, descriptions;
    struct laz_usual usual;
};

/* ---- finding files -------------------------------------------------------------------------- */

/* `directory` is an item of registry->directories, which the file borrows. */
static int registry_add(struct registry_list *list, const struct laz_description_kind *kind,
                        const char *directory, const char *file_name, size_t name_len)
{
    struct registry_file *more = realloc(list->items, (list->n + 1) * sizeof *more);

    if (!more)
        return LAZ_ENOMEM;
    list->items = more;
    struct registry_file *file = &list->items[list->n++];
    *file = (struct registry_file){.kind = kind, .directory = directory};
    file->name = laz_strndup(file_name, name_len);
    file->path = laz_strdupf("%s/%s", directory, file_name);
    return file->name && file->path ? 0 : LAZ_ENOMEM;
}

/* Adds a file if it has the name of an object or of a description. */
static int registry_add_file(struct laz_registry *registry, const char *directory,
                             const char *file_name)
{
    /* The first one that fits: the last suffix is the end of the others. */
    static const struct laz_description_kind *const kinds[] = {
        &laz_backend_description, &laz_language_description, &laz_runtime_description};
    size_t len = laz_module_name(file_name);

    if (len)
        return registry_add(&registry->objects, NULL, directory, file_name, len);
    for (size_t i = 0; file_name[0] != '.' && i < sizeof kinds / sizeof *kinds; i++) {
        len = laz_name_before(file_name, kinds[i]->suffix);
        if (len)
            return registry_add(&registry->descriptions, kinds[i], directory, file_name, len);
    }
    return 0;
}

/* A directory that cannot be read now is not a directory without plugins: another backend would be
 * taken. */
static int registry_scan(struct laz_registry *registry, const char *directory,
                         struct laz_error *err)
{
    struct laz_strv names = LAZ_STRV_INIT;
    struct laz_error why = {0};
    int rc = laz_os_list_directory(directory, &names, &why);

    if (rc == LAZ_EOS && laz_error_is_shortage(&why)) {
        if (err)
            *err = why;
    } else if (rc == LAZ_EOS) {
        laz_strv_add(&registry->refused, why.text);
        rc = 0;
    }
    for (size_t i = 0; !rc && i < names.n; i++)
        rc = registry_add_file(registry, directory, names.items[i]);
    laz_strv_fini(&names);
    return rc;
}

enum registry_origin {
    REGISTRY_SETTINGS,    /* a directory that the settings name */
    REGISTRY_ENVIRONMENT, /* a directory of $LAZARET_PLUGIN_PATH */
    REGISTRY_INSTALLED,   /* need not exist */
};

/* Adds a directory, or notes why it is ignored. `values`: the settings that name it, or NULL. */
static int registry_add_directory(struct laz_registry *registry,
                                  const struct laz_settings_values *values, const char *directory,
                                  enum registry_origin origin, struct laz_error *err)
{
    bool must_exist = origin != REGISTRY_INSTALLED;
    struct laz_error why = {0};
    struct laz_look look;

    if (origin != REGISTRY_SETTINGS)
        laz_strv_add(&registry->standard, directory);
    if (registry->standard.failed)
        return LAZ_ENOMEM;
    if (!directory[0] || laz_strv_has(&registry->directories, directory))
        return 0;
    if (!must_exist && laz_os_look(directory, true, &look) == ENOENT)
        return 0;
    if (laz_trust_directory(directory, &why)) {
        if (laz_error_is_shortage(&why)) {
            if (err)
                *err = why;
            return why.code;
        }
        if (values && (why.os_errno == ENOENT || why.os_errno == ENOTDIR)) {
            int rc = laz_error_as(&why, LAZ_ECONFIG);
            rc = laz_settings_wrong(values, "plugins.path", directory, rc, &why);
            if (rc && err)
                *err = why;
            return rc;
        }
        /* this user has no plugins in an installed directory that it cannot enter */
        bool harmless = !must_exist && why.os_errno == EACCES;
        if (values)
            laz_settings_blame(values, "plugins.path", directory, &why);
        else if (origin == REGISTRY_ENVIRONMENT)
            laz_error_prefix(&why, "LAZARET_PLUGIN_PATH: ");
        laz_strv_add(&registry->refused, why.text);
        laz_log(&registry->log, harmless ? LAZ_LOG_INFO : LAZ_LOG_WARNING,
                "ignoring a directory of plugins: %s", why.text);
        return registry->refused.failed ? LAZ_ENOMEM : 0;
    }
    laz_strv_add(&registry->directories, directory);
    if (registry->directories.failed)
        return LAZ_ENOMEM;
    return registry_scan(registry, registry->directories.items[registry->directories.n - 1], err);
}

/* Adds the directories of a list, separated as the system does it: by ':' or ';'. */
static int registry_add_list(struct laz_registry *registry, const char *list, struct laz_error *err)
{
    int rc = 0;

    while (!rc && list && *list) {
        size_t len = strcspn(list, laz_os_list_separator);
        char *directory = laz_strndup(list, len);
        rc = directory
                 ? registry_add_directory(registry, NULL, directory, REGISTRY_ENVIRONMENT, err)
                 : LAZ_ENOMEM;
        free(directory);
        list += len + (list[len] != '\0');
    }
    return rc;
}

/* The first description of this kind and name, in this directory (NULL: in any). */
static struct registry_file *registry_description(struct laz_registry *registry,
                                                  const struct laz_description_kind *kind,
                                                  const char *name, const char *directory)
{
    for (size_t i = 0; i < registry->descriptions.n; i++) {
        struct registry_file *file = &registry->descriptions.items[i];
        if (file->kind == kind && strcmp(file->name, name) == 0 &&
            (!directory || file->directory == directory))
            return file;
    }
    return NULL;
}

/* Finds the runtimes, when all files are known: the lists do not move any more. */
static void registry_pair(struct laz_registry *registry)
{
    for (size_t i = 0; i < registry->objects.n; i++) {
        struct registry_file *object = &registry->objects.items[i];
        object->runtime = registry_description(registry, &laz_runtime_description, object->name,
                                               object->directory);
    }
}

int laz_registry_new(const struct laz_settings_values *values, const struct laz_log *log,
                     struct laz_registry **registry, struct laz_error *err)
{
    struct laz_registry *made = calloc(1, sizeof *made);

    *registry = NULL;
    if (!made)
        return laz_error_nomem(err);
    if (log)
        made->log = *log;
    int rc = registry_add_list(made, laz_os_getenv("LAZARET_PLUGIN_PATH"), err);
    for (size_t i = 0; !rc && values && i < values->plugins.path.n; i++)
        rc = registry_add_directory(made, values, values->plugins.path.items[i], REGISTRY_SETTINGS,
                                    err);
    char *installed = laz_installed_plugins();
    if (!rc)
        rc = installed ? registry_add_directory(made, NULL, installed, REGISTRY_INSTALLED, err)
                       : LAZ_ENOMEM;
    free(installed);
    if (rc) {
        laz_registry_free(made);
        return rc == LAZ_ENOMEM ? laz_error_nomem(err) : rc;
    }
    registry_pair(made);
    *registry = made;
    return 0;
}

static void registry_list_fini(struct registry_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        struct registry_file *file = &list->items[i];
        if (file->kind)
            laz_description_free(file->kind, file->data);
        else
            laz_module_close(file->data);
        free(file->problem);
        free(file->path);
        free(file->name);
    }
    free(list->items);
}

void laz_registry_free(struct laz_registry *registry)
{
    if (!registry)
        return;
    registry_list_fini(&registry->objects);
    registry_list_fini(&registry->descriptions);
    laz_strv_fini(&registry->directories);
    laz_strv_fini(&registry->standard);
    laz_strv_fini(&registry->refused);
    laz_usual_fini(&registry->usual);
    free(registry);
}

/* ---- loading -------------------------------------------------------------------------------- */

static int registry_load(struct laz_registry *registry, struct registry_file *file,
                         struct laz_error *err);

/* What the first description of this kind and name says. *data is NULL when there is none. */
static int registry_described(struct laz_registry *registry,
                              const struct laz_description_kind *kind, const char *name,
                              const void **data, struct laz_error *err)
{
    struct registry_file *file = registry_description(registry, kind, name, NULL);
    int rc = file ? registry_load(registry, file, err) : 0;

    *data = file && !rc ? file->data : NULL;
    return rc;
}

static int registry_read(struct registry_file *file, struct laz_error *err)
{
    struct laz_buf json = LAZ_BUF_INIT;
    int rc = laz_trust_read(file->path, REGISTRY_MAX_DESCRIPTION, &json, err);

    if (rc == LAZ_EREFUSED)
        rc = laz_error_as(err, LAZ_EPLUGIN);
    if (!rc)
        rc = laz_description_parse(file->kind, laz_buf_text(&json), json.len, file->path,
                                   &file->data, err);
    laz_buf_fini(&json);
    if (rc)
        return rc;
    const char *name = *(const char *const *)file->data; /* the first member of all of them */
    if (strcmp(name, file->name) == 0)
        return 0;
    rc = laz_error_set(err, LAZ_EPLUGIN, 0, "%s: it describes \"%s\"; rename it to %s%s",
                       file->path, name, name, file->kind->suffix);
    laz_description_free(file->kind, file->data);
    file->data = NULL;
    return rc;
}

static int registry_load_runtime(struct laz_registry *registry, const struct registry_file *object,
                                 struct laz_error *err)
{
    const void *language = NULL;
    int rc = laz_trust_file(object->path, err);

    if (rc == LAZ_EREFUSED)
        rc = laz_error_as(err, LAZ_EPLUGIN);
    if (!rc)
        rc = registry_described(registry, &laz_language_description, object->name, &language, err);
    if (!rc)
        rc = registry_load(registry, object->runtime, err);
    if (rc)
        return rc;
    struct laz_runtime_info *info = object->runtime->data;
    info->language = language;
    if (!info->file) /* of NAME-lazaret.so and NAME.so the first counts */
        info->file = object->path;
    return 0;
}

static int registry_open_module(struct laz_registry *registry, struct registry_file *object,
                                struct laz_error *err)
{
    struct laz_module *module;
    const void *info; /* checked before the plugin is loaded */
    int rc = registry_described(registry, &laz_backend_description, object->name, &info, err);

    if (!rc)
        rc = laz_module_open(object->path, 0, NULL, &module, err);
    if (rc)
        return rc;
    if (laz_module_plugin(module)->kind != LAZ_PLUGIN_RUNTIME) {
        object->data = module;
        return 0;
    }
    laz_module_close(module);
    return laz_error_set(err, LAZ_EPLUGIN, 0,
                         "%s: a runtime whose description %s.json is missing beside it; make it "
                         "with lazaret-agent --describe",
                         object->path, object->name);
}

/* Loads a file once and keeps its problem. LAZ_EPLUGIN with the problem; another code, and no
 * problem is kept, when memory or descriptors are exhausted. */
static int registry_load(struct laz_registry *registry, struct registry_file *file,
                         struct laz_error *err)
{
    struct laz_error why = {0};

    if (!file->tried) {
        int rc = file->kind      ? registry_read(file, &why)
                 : file->runtime ? registry_load_runtime(registry, file, &why)
                                 : registry_open_module(registry, file, &why);
        if (rc && laz_error_is_shortage(&why)) /* another time it may be read */
            return laz_error_set(err, rc, why.os_errno, "%s", why.text);
        if (rc && !(file->problem = laz_strdup(why.text)))
            return laz_error_nomem(err);
        file->tried = true;
        if (rc && !file->kind)
            laz_log(&registry->log, LAZ_LOG_INFO, "a plugin cannot be used: %s", why.text);
    }
    if (file->problem)
        return laz_error_set(err, LAZ_EPLUGIN, 0, "%s", file->problem);
    return 0;
}

static uint32_t registry_kind(const struct registry_file *object)
{
    if (object->runtime)
        return LAZ_PLUGIN_RUNTIME;
    return object->data ? laz_module_plugin(object->data)->kind : 0;
}

/* ---- asking --------------------------------------------------------------------------------- */

void laz_registry_ignored(const struct laz_registry *registry, struct laz_buf *text)
{
    for (size_t i = 0; i < registry->refused.n; i++)
        laz_buf_printf(text, "; ignored: %s", registry->refused.items[i]);
}

/* Appends to a message about a missing plugin: " (did you mean "a"?); installed: a, b" and the
 * directories that were ignored. */
/* A runtime of no files is none that somebody would name: that of `lazaret doctor`. */
static bool registry_is_internal(const struct registry_file *object)
{
    const struct laz_runtime_info *info = object->runtime->data;

    return !info->suffixes.n;
}

static void registry_list(struct laz_registry *registry, uint32_t kind, const char *name,
                          struct laz_buf *text)
{
    struct laz_buf list = LAZ_BUF_INIT;
    struct laz_nearest nearest;

    laz_nearest_init(&nearest, name);
    for (size_t i = 0; i < registry->objects.n; i++) {
        struct registry_file *object = &registry->objects.items[i];
        if ((kind == LAZ_PLUGIN_RUNTIME) != (object->runtime != NULL))
            continue;
        if (registry_load(registry, object, NULL) != 0 || registry_kind(object) != kind)
            continue;
        if (kind == LAZ_PLUGIN_RUNTIME && registry_is_internal(object))
            continue;
        laz_buf_printf(&list, "%s%s", list.len ? ", " : "; installed: ", object->name);
        laz_nearest_try(&nearest, object->name);
    }
    if (laz_nearest_best(&nearest))
        laz_buf_printf(text, " (did you mean \"%s\"?)", laz_nearest_best(&nearest));
    if (list.len) {
        laz_buf_puts(text, laz_buf_text(&list));
    } else {
        char *installed = laz_installed_plugins();
        struct laz_look look;
        laz_buf_printf(text, "; none is installed in %s",
                       installed ? installed : "the installed directory");
        if (installed && laz_os_look(installed, true, &look) == ENOENT)
            laz_buf_puts(text, ", which does not exist: the program needs the files that it came "
                               "with, so move all of them together, or make a link to it");
        free(installed);
    }
    laz_registry_ignored(registry, text);
    laz_buf_fini(&list);
}

int laz_registry_language(struct laz_registry *registry, const char *name,
                          const struct laz_language **language, struct laz_error *err)
{
    const void *data;
    int rc = registry_described(registry, &laz_language_description, name, &data, err);

    *language = data;
    return rc;
}

void laz_registry_stubs(struct laz_registry *registry, struct laz_strv *names)
{
    for (size_t i = 0; i < registry->descriptions.n; i++) {
        const struct registry_file *file = &registry->descriptions.items[i];
        const struct laz_language *language;
        if (file->kind == &laz_language_description && !laz_strv_has(names, file->name) &&
            laz_registry_language(registry, file->name, &language, NULL) == 0 &&
            language->stub.null_word)
            laz_strv_add(names, language->name);
    }
}

bool laz_registry_can_be_installed(struct laz_registry *registry, const char *runtime)
{
    const struct laz_language *language;

    return laz_registry_language(registry, runtime, &language, NULL) == 0 && language &&
           language->package;
}

void laz_registry_tell_packages(struct laz_registry *registry, struct laz_buf *text)
{
    struct laz_strv names = LAZ_STRV_INIT;

    for (size_t i = 0; i < registry->descriptions.n; i++) {
        const struct registry_file *file = &registry->descriptions.items[i];
        if (file->kind == &laz_language_description && !laz_strv_has(&names, file->name) &&
            laz_registry_can_be_installed(registry, file->name))
            laz_strv_add(&names, file->name);
    }
    laz_strv_sort(&names, 0);
    for (size_t i = 0; i < names.n; i++)
        laz_buf_printf(text, "%slazaret-%s",
                       !i                 ? "; install one (Debian: apt-get install "
                       : i + 1 == names.n ? " or "
                                          : ", ",
                       names.items[i]);
    laz_buf_puts(text, names.n ? ")" : "");
    laz_strv_fini(&names);
}

struct laz_usual *laz_registry_usual_kept(struct laz_registry *registry)
{
    return &registry->usual;
}

/* Where it is missing, since a package of Debian adds to the program of the same origin alone. */
static void registry_tell_package(const struct laz_language *language, struct laz_buf *text)
{
    char *installed = laz_installed_plugins();

    laz_buf_printf(text,
                   "the runtime \"%s\" is not installed in %s (Debian: apt-get install lazaret-%s, "
                   "for /usr/bin/lazaret; from the sources: apt-get install %s, then build again)",
                   language->name, installed ? installed : "the installed directory",
                   language->name, language->package);
    free(installed);
}

static int registry_missing(struct laz_registry *registry, uint32_t kind, const char *name,
                            const struct registry_file *other, struct laz_error *err)
{
    struct laz_buf text = LAZ_BUF_INIT;
    const char *word = laz_kind_name(kind);

    word = strchr(word, ' ') + 1;
    laz_buf_printf(&text, "no %s is called \"%s\"", word, name);
    if (other)
        laz_buf_printf(&text, " (%s is %s)", other->path, laz_kind_name(registry_kind(other)));
    const struct laz_language *known = NULL;
    if (kind == LAZ_PLUGIN_RUNTIME)
        laz_registry_language(registry, name, &known, NULL);
    if (known)
        laz_buf_clear(&text);
    if (known && known->package)
        registry_tell_package(known, &text);
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
    const struct registry_file *other = NULL;

    *plugin = NULL;
    if (kind == LAZ_PLUGIN_RUNTIME)
        return laz_error_set(err, LAZ_EINVAL, 0, "the host does not load runtimes (\"%s\")", name);
    for (size_t i = 0; i < registry->objects.n; i++) {
        struct registry_file *found = &registry->objects.items[i];
        if (strcmp(found->name, name) != 0 || found->runtime)
            continue;
        int rc = registry_load(registry, found, err);
        if (rc)
            return rc;
        if (registry_kind(found) == kind) {
            *plugin = laz_module_plugin(found->data);
            return 0;
        }
        other = found;
    }
    return registry_missing(registry, kind, name, other, err);
}

/* A runtime that is used reads what the packages of its language read, too. */
static int registry_read_packages(struct laz_runtime_info *info, struct laz_error *err)
{
    if (!info->reads_packages && info->language)
        laz_os_package_configuration(NULL, &info->language->packages, &info->read);
    info->reads_packages = true;
    return info->read.failed ? laz_error_nomem(err) : 0;
}

int laz_registry_runtime(struct laz_registry *registry, const char *name,
                         const struct laz_runtime_info **info, struct laz_error *err)
{
    struct registry_file *bare = NULL; /* has the name but no FILE.json */
    int rc = 0;

    *info = NULL;
    for (size_t i = 0; i < registry->objects.n; i++) {
        struct registry_file *found = &registry->objects.items[i];
        if (strcmp(found->name, name) != 0)
            continue;
        if (!found->runtime) {
            bare = bare ? bare : found;
            continue;
        }
        rc = registry_load(registry, found, err);
        if (!rc)
            rc = registry_read_packages(found->runtime->data, err);
        if (!rc)
            *info = found->runtime->data;
        return rc;
    }
    if (bare)
        rc = registry_load(registry, bare, err);
    return rc ? rc : registry_missing(registry, LAZ_PLUGIN_RUNTIME, name, NULL, err);
}

const struct laz_runtime_info *laz_registry_runtime_for(struct laz_registry *registry,
                                                        const char *file)
{
    for (size_t i = 0; i < registry->objects.n; i++) {
        struct registry_file *object = &registry->objects.items[i];
        if (!object->runtime || registry_load(registry, object, NULL) != 0)
            continue;
        const struct laz_runtime_info *info = object->runtime->data;
        for (size_t k = 0; k < info->suffixes.n; k++)
            if (*info->suffixes.items[k] && laz_name_before(file, info->suffixes.items[k]))
                return info;
    }
    return NULL;
}

/* An earlier plugin of the same kind and name, or NULL. */
static const struct registry_file *registry_hides(const struct laz_registry *registry, size_t index)
{
    const struct registry_file *object = &registry->objects.items[index];

    for (const struct registry_file *first = registry->objects.items; first < object; first++) {
        bool unknown = !first->runtime && first->problem; /* its kind is unknown, but it is no
                                                             runtime */
        if (strcmp(first->name, object->name) == 0 &&
            (registry_kind(first) == registry_kind(object) || (unknown && !object->runtime)))
            return first;
    }
    return NULL;
}

void laz_registry_visit(struct laz_registry *registry,
                        void (*visit)(void *user, const struct laz_plugin_entry *entry), void *user)
{
    for (size_t i = 0; i < registry->objects.n; i++) {
        struct registry_file *object = &registry->objects.items[i];
        struct laz_error err = {0};
        char *hidden = NULL;
        struct laz_plugin_entry entry = {.name = object->name, .file = object->path};

        if (registry_load(registry, object, &err) == 0) {
            const struct registry_file *first = registry_hides(registry, i);
            if (first)
                hidden = laz_strdupf("hidden by %s, which is found before it", first->path);
            entry.problem = hidden;
            if (object->runtime)
                entry.runtime = object->runtime->data;
        } else {
            entry.problem = err.text;
        }
        if (object->data)
            entry.plugin = laz_module_plugin(object->data);
        visit(user, &entry);
        free(hidden);
    }
}

void laz_registry_visit_runtimes(struct laz_registry *registry,
                                 void (*visit)(void *user, const struct laz_runtime_info *info),
                                 void *user)
{
    for (size_t i = 0; i < registry->objects.n; i++) {
        struct registry_file *object = &registry->objects.items[i];
        if (object->runtime && registry_load(registry, object, NULL) == 0 &&
            !registry_hides(registry, i))
            visit(user, object->runtime->data);
    }
}

/* ---- backends ------------------------------------------------------------------------------- */

int laz_registry_backend(struct laz_registry *registry, const char *name,
                         const struct laz_backend_info **info, struct laz_error *err)
{
    const void *data;
    int rc = registry_described(registry, &laz_backend_description, name, &data, err);

    *info = data;
    return rc;
}

/* Is there an object for the description? */
static bool registry_has_object(const struct laz_registry *registry, const char *name)
{
    for (size_t i = 0; i < registry->objects.n; i++)
        if (!registry->objects.items[i].runtime &&
            strcmp(registry->objects.items[i].name, name) == 0)
            return true;
    return false;
}

/* The rank of a description for `auto`, INT64_MAX: none; -1: memory or descriptors are short. One
 * that cannot be read may be that of the best backend: it comes first, so that its problem is
 * reported and nothing weaker is taken. */
static int64_t registry_rank(struct laz_registry *registry, struct registry_file *file,
                             const char *platform)
{
    if (file->kind != &laz_backend_description ||
        !laz_strv_has(&registry->standard, file->directory) ||
        !registry_has_object(registry, file->name))
        return INT64_MAX;
    if (registry_load(registry, file, NULL) != 0)
        return file->problem ? 0 : -1;
    int64_t rank = laz_backend_info_rank(file->data, platform);
    return rank ? rank : INT64_MAX;
}

void laz_registry_automatic(struct laz_registry *registry, const char *platform,
                            struct laz_strv *names)
{
    const struct registry_list *all = &registry->descriptions;
    struct laz_strv found = LAZ_STRV_INIT;

    for (;;) { /* appends the next one; there are few */
        const struct registry_file *best = NULL;
        int64_t best_rank = INT64_MAX;
        for (size_t i = 0; i < all->n; i++) {
            struct registry_file *next = &all->items[i];
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

void laz_registry_undeclared(struct laz_registry *registry, struct laz_buf *text)
{
    const char *before = "; \"auto\" takes no backend without its description: missing are ";

    for (size_t i = 0; i < registry->objects.n; i++) {
        struct registry_file *object = &registry->objects.items[i];
        const char *suffix = laz_backend_description.suffix;
        if (!laz_strv_has(&registry->standard, object->directory) ||
            registry_description(registry, &laz_backend_description, object->name, NULL) ||
            registry_load(registry, object, NULL) != 0 ||
            registry_kind(object) != LAZ_PLUGIN_BACKEND)
            continue;
        laz_buf_printf(text, "%s%s/%s%s", before, object->directory, object->name, suffix);
        before = ", ";
    }
    laz_registry_ignored(registry, text);
}

const char *laz_registry_advice(struct laz_registry *registry, const char *platform,
                                const char *word)
{
    for (size_t i = 0; i < registry->descriptions.n; i++) {
        struct registry_file *file = &registry->descriptions.items[i];
        int64_t rank = registry_rank(registry, file, platform);
        const struct laz_backend_info *info = file->data;
        for (size_t k = 0; rank > 0 && rank != INT64_MAX && k + 1 < info->advice.n; k += 2)
            if (strcmp(info->advice.items[k], word) == 0)
                return info->advice.items[k + 1];
    }
    return NULL;
}

const struct laz_backend_info *laz_registry_unconfined(struct laz_registry *registry)
{
    for (size_t i = 0; i < registry->descriptions.n; i++) {
        struct registry_file *file = &registry->descriptions.items[i];
        if (file->kind != &laz_backend_description ||
            !laz_strv_has(&registry->standard, file->directory) ||
            registry_load(registry, file, NULL) != 0)
            continue;
        const struct laz_backend_info *info = file->data;
        if (info->unconfined)
            return info;
    }
    return NULL;
}
