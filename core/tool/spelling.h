/* SPDX-License-Identifier: MIT */
/* spelling.h - names of tools and parameters as they are written in a language.
 *
 * A name may have any of the characters that other systems use for tools; on the wire, in the log
 * and in messages of the host it stays as it was declared.  A language writes it in its own way:
 * `get-user` is get_user in Python, `from` is from_.  The rules are data of the language
 * (NAME.language.json), the words those that its runtime reserves. */
#ifndef LAZ_TOOL_SPELLING_H
#define LAZ_TOOL_SPELLING_H

#include "base/buf.h"
#include "base/error.h"
#include "plugin/language.h"
#include "plugin/plugin.h"

#include <stdbool.h>

struct laz_spelling {
    const char *language;                   /* its name */
    const struct laz_language_names *rules; /* NULL: '_' in place of all but letters and digits */
    const struct laz_strv *words;           /* beside those of `rules`; NULL: none */
};

enum laz_spelled { LAZ_SPELLED_TOOL, LAZ_SPELLED_PARAMETER };

/* Appends the name as the language writes it; `spelling` NULL: as it is. */
void laz_spell(const struct laz_spelling *spelling, enum laz_spelled what, const char *name,
               struct laz_buf *text);
/* The same as a new string; NULL: out of memory. */
char *laz_spell_new(const struct laz_spelling *spelling, enum laz_spelled what, const char *name);
/* Can two tools not be spelled so in a language at the same time? They are the same, or one is what
 * the other one is a field of. */
bool laz_spelled_collide(const struct laz_spelling *spelling, const char *a, const char *b);

/* The languages whose runtimes are installed. */
struct laz_spellings {
    struct laz_spelling *items;
    size_t n;
    bool are_known;
};

/* Finds them, once; borrows the registry until laz_spellings_fini. Errors: LAZ_ENOMEM. */
int laz_spellings_find(struct laz_spellings *spellings, struct laz_registry *registry,
                       struct laz_error *err);
void laz_spellings_fini(struct laz_spellings *spellings);
/* That of a language; NULL: it is not among them. */
const struct laz_spelling *laz_spelling_of(const struct laz_spellings *spellings,
                                           const char *language);

#endif
