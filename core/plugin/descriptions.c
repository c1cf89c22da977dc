/* SPDX-License-Identifier: MIT */
/* descriptions.c - the files NAME.backend.json and NAME.language.json in the directories of
 * plugins. Side: host.  Input trusted: no (their owner and mode are checked as those of plugins
 * are).
 *
 * The kind is part of the file's name, so that a description that cannot be read still says what it
 * is of: a plugin whose description others could have written is refused, and never taken for one
 * that has no description. */
#include "plugin/descriptions.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "os/trust.h"

#define DESCRIPTION_MAX (1u << 20) /* bytes of a file */

static int description_backend(const char *json, size_t len, const char *file, void **data,
                               const char **name, struct laz_error *err)
{
    struct laz_backend_info *info;
    int rc = laz_backend_info_parse(json, len, file, &info, err);

    *data = info;
    *name = info ? info->name : NULL;
    return rc;
}

static void description_backend_free(void *data)
{
    laz_backend_info_free(data);
}

static int description_language(const char *json, size_t len, const char *file, void **data,
                                const char **name, struct laz_error *err)
{
    struct laz_language *language;
    int rc = laz_language_parse(json, len, file, &language, err);

    *data = language;
    *name = language ? language->name : NULL;
    return rc;
}

static void description_language_free(void *data)
{
    laz_language_free(data);
}

static const struct description_kind {
    const char *suffix;
    int (*parse)(const char *json, size_t len, const char *file, void **data, const char **name,
                 struct laz_error *err);
    void (*free)(void *data);
} description_kinds[] = {
    [LAZ_DESCRIPTION_BACKEND] = {".backend.json", description_backend, description_backend_free},
    [LAZ_DESCRIPTION_LANGUAGE] = {".language.json", description_language,
                                  description_language_free},
};

#define DESCRIPTION_KINDS (sizeof description_kinds / sizeof description_kinds[0])

/* A new item, all zeros; NULL: allocation failed. */
static struct laz_description *description_add(struct laz_descriptions *all)
{
    if (all->n == all->cap) {
        size_t cap = all->cap ? all->cap * 2 : 16;
        struct laz_description *more = realloc(all->items, cap * sizeof *more);
        if (!more)
            return NULL;
        all->items = more;
        all->cap = cap;
    }
    all->items[all->n] = (struct laz_description){0};
    return &all->items[all->n++];
}

int laz_descriptions_note(struct laz_descriptions *all, const char *directory,
                          const char *file_name, bool is_standard)
{
    size_t len = strlen(file_name);

    for (size_t i = 0; i < DESCRIPTION_KINDS && file_name[0] != '.'; i++) {
        size_t end = strlen(description_kinds[i].suffix);
        if (len <= end || strcmp(file_name + len - end, description_kinds[i].suffix) != 0)
            continue;
        struct laz_description *description = description_add(all);
        if (!description)
            return LAZ_ENOMEM;
        description->kind = (enum laz_description_kind)i;
        description->name = laz_strndup(file_name, len - end);
        description->file = laz_strdupf("%s/%s", directory, file_name);
        description->directory = directory;
        description->is_standard = is_standard;
        return description->name && description->file ? 0 : LAZ_ENOMEM;
    }
    return 0;
}

void laz_descriptions_promote(struct laz_descriptions *all, const char *directory)
{
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->items[i].directory, directory) == 0)
            all->items[i].is_standard = true;
}

void laz_descriptions_fini(struct laz_descriptions *all)
{
    for (size_t i = 0; i < all->n; i++) {
        struct laz_description *description = &all->items[i];
        description_kinds[description->kind].free(description->data);
        free(description->problem);
        free(description->file);
        free(description->name);
    }
    free(all->items);
    *all = (struct laz_descriptions){0};
}

static int description_read(struct laz_description *description, struct laz_error *err)
{
    const struct description_kind *kind = &description_kinds[description->kind];
    struct laz_buf json = LAZ_BUF_INIT;
    const char *name;

    int rc = laz_trust_read(description->file, DESCRIPTION_MAX, &json, err);
    if (rc == LAZ_EREFUSED)
        rc = laz_error_as(err, LAZ_EPLUGIN);
    if (!rc)
        rc = kind->parse(laz_buf_text(&json), json.len, description->file, &description->data,
                         &name, err);
    if (!rc && strcmp(name, description->name) != 0)
        rc = laz_error_set(err, LAZ_EPLUGIN, 0, "%s: it describes \"%s\"; rename it to %s%s",
                           description->file, name, name, kind->suffix);
    if (rc && description->data) {
        kind->free(description->data);
        description->data = NULL;
    }
    laz_buf_fini(&json);
    return rc;
}

int laz_description_load(struct laz_description *description, struct laz_error *err)
{
    struct laz_error why = {0};

    if (!description->tried) {
        int rc = description_read(description, &why);
        if (rc && laz_error_is_shortage(&why)) /* another time it may be read */
            return laz_error_set(err, rc, why.os_errno, "%s", why.text);
        if (rc && !(description->problem = laz_strdup(why.text)))
            return laz_error_nomem(err);
        description->tried = true;
    }
    if (description->problem)
        return laz_error_set(err, LAZ_EPLUGIN, 0, "%s", description->problem);
    return 0;
}

int laz_descriptions_find(struct laz_descriptions *all, enum laz_description_kind kind,
                          const char *name, const void **data, struct laz_error *err)
{
    *data = NULL;
    for (size_t i = 0; i < all->n; i++) {
        struct laz_description *description = &all->items[i];
        if (description->kind != kind || strcmp(description->name, name) != 0)
            continue;
        int rc = laz_description_load(description, err);
        if (!rc)
            *data = description->data;
        return rc;
    }
    return 0;
}
