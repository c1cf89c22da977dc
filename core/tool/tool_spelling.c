/* SPDX-License-Identifier: MIT */
/* tool_spelling.c - the names of tools and parameters beside each other in a language: each is
 * written in a way of its own.
 *
 * A tool keeps the spelling that it was added with, because code may have been told it: a later
 * tool gives way.  The parameters of a tool are known together, so those whose names are written as
 * they are come first. Side: host.  Input trusted: yes (what configuration, plugins and application
 * declare). */
#include "tool/tool_private.h"

#include <stdlib.h>
#include <string.h>

/* ---- tools ---------------------------------------------------------------------------------- */

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
        if (other && laz_spelled_collide(taken->spelling, other, spelled))
            return true;
    }
    return false;
}

static bool taken_tool(void *user, const char *spelled)
{
    const struct taken *taken = user;

    for (size_t i = 0; taken->more && i < taken->more->n; i++)
        if (laz_spelled_collide(taken->spelling, taken->more->items[i], spelled))
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
            laz_spell_beside(taken.spelling, LAZ_SPELLED_TOOL, entry->name, taken_tool, &taken);
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

void laz_tool_set_spell(const struct laz_tool_set *set, const struct laz_spelling *spelling,
                        struct laz_strv *spelled)
{
    struct taken taken = {spelling, NULL, spelled};

    for (size_t i = 0; i < set->n && !spelled->failed; i++) {
        const struct laz_tool_entry *entry = &set->entries[i];
        const char *kept = spelling ? laz_tool_spelled(entry, spelling) : entry->name;
        char *name =
            kept ? laz_strdup(kept)
                 : laz_spell_beside(spelling, LAZ_SPELLED_TOOL, entry->name, taken_tool, &taken);
        laz_strv_add(spelled, name ? name : "");
        spelled->failed |= !name;
        free(name);
    }
}

/* ---- parameters ----------------------------------------------------------------------------- */

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
            names[i] = laz_spell_beside(spelling, LAZ_SPELLED_PARAMETER, name, given_has, &given);
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
            const char *spelled = laz_tool_spelled(entry, &tools->spellings.items[k]);
            if (!spelled || spelled_is_guessed(entry->name, spelled))
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
