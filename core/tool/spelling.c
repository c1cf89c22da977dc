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

void laz_spell(const struct laz_spelling *spelling, enum laz_spelled what, const char *name,
               struct laz_buf *text)
{
    const struct laz_language_names *rules =
        spelling && spelling->rules ? spelling->rules : &spelling_default;
    const size_t start = text->len;

    if (!spelling) {
        laz_buf_puts(text, name);
        return;
    }
    const bool is_path = what == LAZ_SPELLED_TOOL && rules->fields && spelling_is_path(name);
    for (;;) {
        size_t len = is_path ? strcspn(name, ".") : strlen(name);
        spelling_word(spelling, rules, name, len, text);
        if (what == LAZ_SPELLED_TOOL && !text->failed &&
            spelling_is_global(rules, laz_buf_text(text) + start, name[len] != '\0'))
            laz_buf_puts(text, rules->after);
        if (!name[len])
            break;
        laz_buf_putc(text, '.');
        name += len + 1;
    }
}

/* The text of a buffer as a new string; NULL: out of memory. */
static char *spelling_take(struct laz_buf *text)
{
    if (!text->failed)
        return laz_buf_steal(text);
    laz_buf_fini(text);
    return NULL;
}

char *laz_spell_new(const struct laz_spelling *spelling, enum laz_spelled what, const char *name)
{
    struct laz_buf text = LAZ_BUF_INIT;

    laz_spell(spelling, what, name, &text);
    return spelling_take(&text);
}

/* In place of a path one word: a number at its end would still lead through what is taken. */
static void spelling_flatten(const char *spelled, const char *other, struct laz_buf *text)
{
    for (; *spelled; spelled++)
        if (*spelled == '.')
            laz_buf_puts(text, other);
        else
            laz_buf_putc(text, *spelled);
}

char *laz_spell_beside(const struct laz_spelling *spelling, enum laz_spelled what, const char *name,
                       bool (*is_taken)(void *user, const char *spelled), void *user)
{
    const struct laz_language_names *rules =
        spelling && spelling->rules ? spelling->rules : &spelling_default;
    char *spelled = laz_spell_new(spelling, what, name);
    struct laz_buf plain = LAZ_BUF_INIT, text = LAZ_BUF_INIT;

    if (!spelled || !is_taken(user, spelled))
        return spelled;
    if (what == LAZ_SPELLED_TOOL && rules->fields)
        spelling_flatten(spelled, rules->other, &plain);
    else
        laz_buf_puts(&plain, spelled);
    free(spelled);
    laz_buf_puts(&text, laz_buf_text(&plain));
    for (unsigned n = 2; !plain.failed && !text.failed && is_taken(user, laz_buf_text(&text));
         n++) {
        laz_buf_clear(&text);
        laz_buf_printf(&text, "%s%s%u", laz_buf_text(&plain), rules->other, n);
    }
    text.failed |= plain.failed;
    laz_buf_fini(&plain);
    return spelling_take(&text);
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
