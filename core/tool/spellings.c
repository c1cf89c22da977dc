/* SPDX-License-Identifier: MIT */
/* spellings.c - the languages of an engine in which tools are spelled.
 * Side: host.  Input trusted: yes (descriptions of installed runtimes and languages). */
#include "tool/tool.h"

#include <stdlib.h>
#include <string.h>

struct spelling_search {
    struct laz_spellings *spellings;
    struct laz_registry *registry;
    struct laz_error *err;
    int rc;
};

static void spelling_found(void *user, const struct laz_runtime_info *runtime)
{
    struct spelling_search *search = user;
    struct laz_spellings *spellings = search->spellings;
    const struct laz_language *language = NULL;

    if (search->rc)
        return;
    (void)laz_registry_language(search->registry, runtime->name, &language, NULL);
    struct laz_spelling *items =
        realloc(spellings->items, (spellings->n + 1) * sizeof *spellings->items);
    if (!items) {
        search->rc = laz_error_nomem(search->err);
        return;
    }
    spellings->items = items;
    const size_t number = ++spellings->n;
    items[number - 1] = (struct laz_spelling){
        .language = runtime->name,
        .number = number,
        .rules = language && language->names.other ? &language->names : NULL,
        .words = &runtime->reserved_words,
    };
}

int laz_spellings_find(struct laz_spellings *spellings, struct laz_registry *registry,
                       struct laz_error *err)
{
    struct spelling_search search = {spellings, registry, err, 0};

    if (spellings->are_known)
        return 0;
    laz_registry_visit_runtimes(registry, spelling_found, &search);
    spellings->are_known = search.rc == 0;
    if (search.rc)
        laz_spellings_fini(spellings);
    return search.rc;
}

void laz_spellings_fini(struct laz_spellings *spellings)
{
    free(spellings->items);
    *spellings = (struct laz_spellings){0};
}

const struct laz_spelling *laz_spelling_of(const struct laz_spellings *spellings,
                                           const char *language)
{
    for (size_t i = 0; i < spellings->n; i++)
        if (strcmp(spellings->items[i].language, language) == 0)
            return &spellings->items[i];
    return NULL;
}
