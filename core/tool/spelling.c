/* SPDX-License-Identifier: MIT */
/* spelling.c - names of tools and parameters as they are written in a language.
 * Side: host.  Input trusted: yes (declared names, descriptions of languages). */
#include "tool/tool_private.h"

#include "base/utf8.h"
#include "os/programs.h"

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

/* Of this host, whose programs boxes show. */
static bool spelling_is_program(const char *name)
{
    char *path = NULL;
    const bool is = laz_os_find_program(name, &path, NULL) == 0;

    free(path);
    return is;
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
            (spelling_is_global(rules, laz_buf_text(&text), name[len] != '\0') ||
             (spelling->commands == spelling->number && spelling->commands &&
              spelling_is_program(laz_buf_text(&text)))))
            laz_buf_puts(&text, rules->after);
        if (!name[len])
            return laz_buf_steal(&text);
        laz_buf_putc(&text, '.');
        name += len + 1;
    }
}

/* The first spelling of the name that is not taken, as a new string: laz_spell_new, then the same
 * with a number from 2. NULL: out of memory. */
static char *spell_beside(const struct laz_spelling *spelling, enum laz_spelled what,
                          const char *name, bool (*is_taken)(void *user, const char *spelled),
                          void *user)
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

/* Can two tools not be spelled so in a language at the same time? They are the same, or one is what
 * the other one is a field of. */
static bool spelled_collide(const struct laz_spelling *spelling, const char *a, const char *b)
{
    const size_t a_len = strlen(a), b_len = strlen(b);
    const char *longer = a_len > b_len ? a : b;
    const size_t shorter = a_len > b_len ? b_len : a_len;

    if (strncmp(a, b, shorter) != 0)
        return false;
    return a_len == b_len || (spelling->rules && spelling->rules->fields && longer[shorter] == '.');
}

/* ---- tools ---------------------------------------------------------------------------------- */

/* A tool keeps the spelling that it was added with, because code may have been told it: a later
 * tool gives way. */

/* The spellings in one language that the next tool must not have. */
struct taken {
    const struct laz_spelling *spelling;
    const struct laz_tool_set *set;
    const struct laz_strv *more;
};

static bool taken_by_set(const struct taken *taken, const struct laz_tool_set *set,
                         const char *spelled)
{
    for (size_t i = 0; set && i < set->n; i++) {
        const char *other = laz_tool_spelled(&set->entries[i], taken->spelling);
        if (other && spelled_collide(taken->spelling, other, spelled))
            return true;
    }
    return false;
}

static bool taken_tool(void *user, const char *spelled)
{
    const struct taken *taken = user;

    for (size_t i = 0; taken->more && i < taken->more->n; i++)
        if (spelled_collide(taken->spelling, taken->more->items[i], spelled))
            return true;
    return taken->set && (taken_by_set(taken, taken->set, spelled) ||
                          taken_by_set(taken, taken->set->beside, spelled));
}

int laz_tool_spell(struct laz_tool_entry *entry, const struct laz_tool_set *set,
                   const struct laz_spellings *spellings, struct laz_error *err)
{
    for (size_t i = 0; spellings && i < spellings->n; i++) {
        struct taken taken = {&spellings->items[i], set, NULL};
        char *name =
            spell_beside(taken.spelling, LAZ_SPELLED_TOOL, entry->name, taken_tool, &taken);
        laz_strv_add(&entry->spelled, name ? name : "");
        entry->spelled.failed |= !name;
        free(name);
    }
    return entry->spelled.failed ? laz_error_nomem(err) : 0;
}

const char *laz_tool_spelled(const struct laz_tool_entry *entry,
                             const struct laz_spelling *spelling)
{
    return spelling && spelling->number && spelling->number <= entry->spelled.n
               ? entry->spelled.items[spelling->number - 1]
               : NULL;
}

const char *laz_tool_command(const struct laz_tool_entry *entry,
                             const struct laz_spelling *spelling)
{
    return spelling && spelling->commands && spelling->commands <= entry->spelled.n
               ? entry->spelled.items[spelling->commands - 1]
               : NULL;
}

void laz_tool_set_spell(const struct laz_tool_set *set, const struct laz_spelling *spelling,
                        struct laz_strv *spelled)
{
    struct taken taken = {spelling, NULL, spelled};

    for (size_t i = 0; i < set->n && !spelled->failed; i++) {
        const struct laz_tool_entry *entry = &set->entries[i];
        const char *kept = spelling ? laz_tool_spelled(entry, spelling) : entry->name;
        char *name =
            kept ? laz_strdup(kept)
                 : spell_beside(spelling, LAZ_SPELLED_TOOL, entry->name, taken_tool, &taken);
        laz_strv_add(spelled, name ? name : "");
        spelled->failed |= !name;
        free(name);
    }
}

/* ---- parameters ----------------------------------------------------------------------------- */

/* The parameters of a tool are known together, so those whose names are written as they are come
 * first. */

struct given {
    char **names; /* NULL: not yet */
    size_t n;
};

static bool given_has(void *user, const char *spelled)
{
    const struct given *given = user;

    for (size_t i = 0; i < given->n; i++)
        if (given->names[i] && strcmp(given->names[i], spelled) == 0)
            return true;
    return false;
}

void laz_tool_spell_parameters(const struct laz_tool_entry *entry,
                               const struct laz_spelling *spelling, struct laz_strv *spelled)
{
    char *names[LAZ_TOOL_MAX_PARAMETERS] = {NULL};
    struct given given = {names, entry->n_parameters};

    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < entry->n_parameters; i++) {
            const char *name = entry->parameters[i].name;
            if (names[i])
                continue;
            names[i] = spell_beside(spelling, LAZ_SPELLED_PARAMETER, name, given_has, &given);
            spelled->failed |= !names[i];
            if (pass == 0 && names[i] && strcmp(names[i], name) != 0) {
                free(names[i]);
                names[i] = NULL;
            }
        }
    for (size_t i = 0; i < entry->n_parameters; i++) {
        laz_strv_add(spelled, names[i] ? names[i] : "");
        free(names[i]);
    }
}

/* ---- for people ------------------------------------------------------------------------------ */

bool laz_spelled_is_plain(const struct laz_spelling *spelling, enum laz_spelled what,
                          const char *name, const char *spelled)
{
    char *plain = laz_spell_new(spelling, what, name);
    bool is_plain = !plain || strcmp(plain, spelled) == 0;

    for (const char *at = name; *at; at++)
        is_plain &= (unsigned char)*at < 0x80;
    free(plain);
    return is_plain;
}

/* Would a reader of the name guess it? Characters that a language lacks are '_' or '.' there. */
static bool spelled_is_guessed(const char *name, const char *spelled)
{
    for (; *name && *spelled; name++, spelled++)
        if (*name != *spelled && !(strchr("_.-", *name) && strchr("_.", *spelled)))
            return false;
    return !*name && !*spelled;
}

void laz_tools_respelled(const struct laz_tools *tools, struct laz_strv *lines)
{
    for (size_t i = 0; i < tools->set.n; i++) {
        const struct laz_tool_entry *entry = &tools->set.entries[i];
        struct laz_buf text = LAZ_BUF_INIT;
        for (size_t k = 0; k < tools->spellings.n; k++) {
            const struct laz_spelling *spelling = &tools->spellings.items[k];
            const char *spelled = laz_tool_spelled(entry, spelling);
            /* Of a command it is said where commands are listed: it depends on what is installed.
             */
            if (!spelled || spelled_is_guessed(entry->name, spelled) ||
                (spelling->commands && spelling->commands == spelling->number))
                continue;
            if (!text.len)
                laz_buf_printf(&text, "the tool %s is called", entry->name);
            laz_buf_printf(&text, "%s %s in %s", strstr(text.data, " in ") ? "," : "", spelled,
                           tools->spellings.items[k].language);
        }
        if (text.len)
            laz_strv_add(lines, laz_buf_text(&text));
        lines->failed |= text.failed;
        laz_buf_fini(&text);
    }
}

/* ---- the languages of an engine ------------------------------------------------------------- */

struct spelling_search {
    struct laz_spellings *spellings;
    struct laz_registry *registry;
    struct laz_error *err;
    int rc;
};

static void spelling_add(struct spelling_search *search, const char *name,
                         const struct laz_strv *words)
{
    struct laz_spellings *spellings = search->spellings;
    const struct laz_language *language = NULL;

    if (search->rc)
        return;
    (void)laz_registry_language(search->registry, name, &language, NULL);
    struct laz_spelling *items =
        realloc(spellings->items, (spellings->n + 1) * sizeof *spellings->items);
    if (!items) {
        search->rc = laz_error_nomem(search->err);
        return;
    }
    spellings->items = items;
    const size_t number = ++spellings->n;
    items[number - 1] = (struct laz_spelling){
        .language = name,
        .number = number,
        .rules = language && language->names.other ? &language->names : NULL,
        .words = words,
        .commands = language && language->tool_commands ? number : 0,
    };
}

static void spelling_found(void *user, const struct laz_runtime_info *runtime)
{
    spelling_add(user, runtime->name, &runtime->reserved_words);
}

/* The language that says how tools are called as commands: one with a runtime, or without. */
static void spelling_find_commands(struct spelling_search *search)
{
    struct laz_spellings *spellings = search->spellings;
    struct laz_strv names = LAZ_STRV_INIT;
    const struct laz_language *language;
    size_t number = 0;

    laz_registry_stubs(search->registry, &names);
    for (size_t i = 0; i < spellings->n; i++)
        number = spellings->items[i].commands ? i + 1 : number;
    for (size_t i = 0; i < names.n && !number && !search->rc; i++)
        if (laz_registry_language(search->registry, names.items[i], &language, NULL) == 0 &&
            language && language->tool_commands) {
            spelling_add(search, language->name, NULL);
            number = spellings->n;
        }
    for (size_t i = 0; i < spellings->n; i++)
        spellings->items[i].commands = number;
    laz_strv_fini(&names);
}

int laz_spellings_find(struct laz_spellings *spellings, struct laz_registry *registry,
                       struct laz_error *err)
{
    struct spelling_search search = {spellings, registry, err, 0};

    if (spellings->are_known)
        return 0;
    laz_registry_visit_runtimes(registry, spelling_found, &search);
    if (!search.rc)
        spelling_find_commands(&search);
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
