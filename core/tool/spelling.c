/* SPDX-License-Identifier: MIT */
/* spelling.c - names of tools and parameters as they are written in a language.
 * Side: host.  Input trusted: yes (declared names, descriptions of languages). */
#include "tool/tool.h"

#include "base/utf8.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct laz_language_names spelling_default = {
    .other = "_", .first = "_", .after = "_", .underscore = true};

static bool spelling_is_plain(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || isdigit((unsigned char)c) ||
           c == '_';
}

/* Appends `len` bytes of a name as one word: what the language does not have is replaced once for a
 * character. */
static void spelling_word(const struct laz_spelling *spelling,
                          const struct laz_language_names *rules, const char *name, size_t len,
                          struct laz_buf *text)
{
    struct laz_buf word = LAZ_BUF_INIT;

    for (size_t i = 0, step; i < len; i += step) {
        step = laz_utf8_sequence(name + i, len - i);
        step = step ? step : 1;
        if (spelling_is_plain(name[i]) || (name[i] == '.' && rules->dots))
            laz_buf_putc(&word, name[i]);
        else
            laz_buf_puts(&word, rules->other);
    }
    const char *spelled = laz_buf_text(&word);
    if (isdigit((unsigned char)spelled[0]) || (spelled[0] == '_' && !rules->underscore) ||
        (spelled[0] == '.' && isdigit((unsigned char)spelled[1])))
        laz_buf_puts(text, rules->first);
    laz_buf_puts(text, spelled);
    if (laz_strv_has(&rules->words, spelled) ||
        (spelling->words && laz_strv_has(spelling->words, spelled)))
        laz_buf_puts(text, rules->after);
    text->failed |= word.failed;
    laz_buf_fini(&word);
}

/* Is it a path of words, "math.gcd"? */
static bool spelling_is_path(const char *name)
{
    size_t dots = 0;

    for (const char *at = name; *at; at++) {
        dots += *at == '.';
        if (*at == '.' && (at == name || at[1] == '.' || !at[1]))
            return false;
    }
    return dots > 0;
}

/* Is the path one of the language's own, which no tool replaces? One that others lead through
 * ("string") may have a tool as a further field (`is_inner`). */
static bool spelling_is_global(const struct laz_language_names *rules, const char *path,
                               bool is_inner)
{
    const size_t len = strlen(path);
    bool is_global = false;

    for (size_t i = 0; i < rules->globals.n; i++) {
        const char *global = rules->globals.items[i];
        if (strncmp(global, path, len) != 0)
            continue;
        if (global[len] == '.' && is_inner)
            return false;
        is_global |= !global[len];
    }
    return is_global;
}

static const struct laz_language_names *spelling_rules(const struct laz_spelling *spelling)
{
    return spelling && spelling->rules ? spelling->rules : &spelling_default;
}

char *laz_spell_new(const struct laz_spelling *spelling, enum laz_spelled what, const char *name)
{
    const struct laz_language_names *rules = spelling_rules(spelling);
    const bool is_tool = what == LAZ_SPELLED_TOOL;
    const bool is_path = is_tool && rules->fields && spelling_is_path(name);
    struct laz_buf text = LAZ_BUF_INIT;

    if (!spelling)
        return laz_strdup(name);
    for (;;) {
        size_t len = is_path ? strcspn(name, ".") : strlen(name);
        spelling_word(spelling, rules, name, len, &text);
        if (is_tool && !text.failed &&
            spelling_is_global(rules, laz_buf_text(&text), name[len] != '\0'))
            laz_buf_puts(&text, rules->after);
        if (!name[len])
            return laz_buf_steal(&text);
        laz_buf_putc(&text, '.');
        name += len + 1;
    }
}

char *laz_spell_beside(const struct laz_spelling *spelling, enum laz_spelled what, const char *name,
                       bool (*is_taken)(void *user, const char *spelled), void *user)
{
    const struct laz_language_names *rules = spelling_rules(spelling);
    char *spelled = laz_spell_new(spelling, what, name);
    struct laz_buf plain = LAZ_BUF_INIT, text = LAZ_BUF_INIT;

    if (!spelled || !is_taken(user, spelled))
        return spelled;
    /* In place of a path one word: a number at its end would still lead through what is taken. */
    for (const char *at = spelled; *at; at++)
        if (*at == '.' && what == LAZ_SPELLED_TOOL && rules->fields)
            laz_buf_puts(&plain, rules->other);
        else
            laz_buf_putc(&plain, *at);
    free(spelled);
    laz_buf_puts(&text, laz_buf_text(&plain));
    for (unsigned n = 2; !plain.failed && !text.failed && is_taken(user, laz_buf_text(&text));
         n++) {
        laz_buf_clear(&text);
        laz_buf_printf(&text, "%s%s%u", laz_buf_text(&plain), rules->other, n);
    }
    text.failed |= plain.failed;
    laz_buf_fini(&plain);
    return laz_buf_steal(&text);
}

bool laz_spelled_collide(const struct laz_spelling *spelling, const char *a, const char *b)
{
    const size_t a_len = strlen(a), b_len = strlen(b);
    const char *longer = a_len > b_len ? a : b;
    const size_t shorter = a_len > b_len ? b_len : a_len;

    if (strncmp(a, b, shorter) != 0)
        return false;
    return a_len == b_len || (spelling->rules && spelling->rules->fields && longer[shorter] == '.');
}

/* ---- the languages of an engine ------------------------------------------------------------- */

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
