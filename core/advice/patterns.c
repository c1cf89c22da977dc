/* SPDX-License-Identifier: MIT */
/* patterns.c - warnings about code before it runs: calls that the sandbox refuses.
 * Side: host.  Input trusted: no (the code of the model, any bytes).
 *
 * Lists are declared for each language, and one walk over the tokens serves all of them: a *path*
 * is a name and the members that follow it (os.path.join, base::system), and a call is a path
 * followed by a bracket.  Names passed as strings to get() or getattr() count, and so do names that
 * an import has renamed; a name that is defined, a member of another object, or not called does
 * not.
 *
 * Code can hide any call from this, so no decision may depend on it. */
#include "advice/patterns.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "advice/patterns_lex.h"

#define PATTERNS_PATH    96 /* bytes of a path; a longer one matches nothing */
#define PATTERNS_ALIASES 64

struct patterns_path {
    char text[PATTERNS_PATH]; /* "": none */
    size_t line;
    bool foreign; /* too long, or a member of an expression: matches nothing */
};

/* A name that an import has made for `path`. */
struct patterns_alias {
    size_t len; /* of the name */
    char name[PATTERNS_PATH];
    char path[PATTERNS_PATH];
};

struct patterns_walk {
    const struct laz_language_patterns *language;
    const struct laz_strv *calls[4]; /* lists of those that are refused */
    size_t n_calls;
    bool loads;            /* the modules of the language are refused, too */
    bool calls_begin[256]; /* by patterns_begin: some call does */
    struct patterns_lexer lexer;
    struct patterns_token token, before; /* before: the token before `token` */
    struct patterns_path path;           /* the path that ends at `before` */
    bool member;                         /* a member operator follows the path */
    bool defined;                        /* the path is being defined */
    char callee[PATTERNS_PATH];          /* the call whose first arguments are read; "": none */
    struct patterns_path argument;       /* its first argument, if that is a path */
    struct patterns_alias aliases[PATTERNS_ALIASES];
    size_t n_aliases;
    struct laz_strv *warnings;
    size_t n_before; /* number of warnings in the list before this code */
};

/* ---- matching ------------------------------------------------------------------------------- */

static bool patterns_match(const struct laz_strv *names, const char *text)
{
    for (size_t i = 0; i < names->n; i++) {
        const char *name = names->items[i], *at = text;
        while (*name && *name != '*' && *name == *at) {
            name++;
            at++;
        }
        if (*name == '*' ? *at != '\0' : *name == *at)
            return true;
    }
    return false;
}

/* Hash of the first three characters; no name in the tables has its star among these. */
static size_t patterns_begin(const char *name)
{
    size_t hash = 0;

    for (int i = 0; i < 3 && name[i]; i++)
        hash = hash * 5 + (unsigned char)name[i];
    return hash % 256;
}

static bool patterns_has_word(const struct laz_strv *words, const struct patterns_token *word)
{
    for (size_t i = 0; i < words->n; i++)
        if (laz_patterns_is(word, words->items[i]))
            return true;
    return false;
}

/* Adds a warning. `after` follows the name: "()" for a call. */
static void patterns_warn(struct patterns_walk *walk, size_t line, const char *what,
                          const char *name, const char *after, const char *through)
{
    char text[2 * PATTERNS_PATH + 96];

    snprintf(text, sizeof text, "line %zu: %s of `%s%s`%s%s%s, which the sandbox refuses", line,
             what, name, after, through ? " through `" : "", through ? through : "",
             through ? "`" : "");
    /* The same call twice on a line causes one warning. */
    if (walk->warnings->n == walk->n_before ||
        strcmp(walk->warnings->items[walk->warnings->n - 1], text) != 0)
        laz_strv_add(walk->warnings, text);
}

/* The alias of this name, or the place for one. */
static size_t patterns_alias_place(const struct patterns_walk *walk, const char *name, size_t len)
{
    size_t i = 0;

    while (i < walk->n_aliases &&
           (walk->aliases[i].name[0] != *name || walk->aliases[i].len != len ||
            memcmp(walk->aliases[i].name, name, len) != 0))
        i++;
    return i;
}

/* Makes the form of the path that the tables have: without a root, and with aliases replaced. A
 * path that is longer than any in the tables is cut. */
static void patterns_resolve(const struct patterns_walk *walk, const char *path,
                             char resolved[PATTERNS_PATH])
{
    const struct laz_strv *roots = &walk->language->roots;

    for (size_t i = 0; i < roots->n; i++) {
        const char *root = roots->items[i];
        if (*root == *path && strncmp(path, root, strlen(root)) == 0)
            path += strlen(root);
    }
    size_t first = 0, len = 0;
    while (path[first] && path[first] != *walk->language->member)
        first++;
    size_t place = patterns_alias_place(walk, path, first);
    if (place < walk->n_aliases) {
        len = strlen(walk->aliases[place].path);
        memcpy(resolved, walk->aliases[place].path, len);
        path += first;
    }
    size_t more = strnlen(path, PATTERNS_PATH - 1 - len);
    memcpy(resolved + len, path, more);
    resolved[len + more] = '\0';
}

/* Adds a warning if the resolved path is in the table of calls. */
static void patterns_call(struct patterns_walk *walk, const char *resolved, size_t line,
                          const char *through)
{
    if (!walk->calls_begin[patterns_begin(resolved)])
        return;
    for (size_t i = 0; i < walk->n_calls; i++)
        if (patterns_match(walk->calls[i], resolved)) {
            patterns_warn(walk, line, "call", resolved, "()", through);
            return;
        }
}

/* ---- paths ---------------------------------------------------------------------------------- */

static void patterns_path_add(struct patterns_path *path, const char *joint,
                              const struct patterns_token *name)
{
    size_t used = strlen(path->text), more = strlen(joint);

    if (used + more + name->len >= sizeof path->text || memchr(name->text, '\0', name->len)) {
        path->foreign = true;
        return;
    }
    memcpy(path->text + used, joint, more);
    memcpy(path->text + used + more, name->text, name->len);
    path->text[used + more + name->len] = '\0';
}

static void patterns_path_begin(struct patterns_path *path, const struct patterns_token *name,
                                bool foreign)
{
    path->text[0] = '\0';
    path->line = name->line;
    path->foreign = foreign;
    patterns_path_add(path, "", name);
}

static void patterns_name(struct patterns_walk *walk)
{
    const struct patterns_token *before = &walk->before;

    if (walk->member) {
        walk->path.foreign |= before->into_object;
        patterns_path_add(&walk->path, walk->language->member, &walk->token);
        walk->member = false;
        return;
    }
    patterns_path_begin(&walk->path, &walk->token, before->type == PATTERNS_MEMBER);
    walk->defined =
        before->type == PATTERNS_NAME && patterns_has_word(&walk->language->definitions, before);
}

/* ---- arguments ------------------------------------------------------------------------------ */

/* Called at the opening bracket of a call of walk->path. */
static void patterns_arguments(struct patterns_walk *walk)
{
    walk->callee[0] = '\0';
    walk->argument.text[0] = '\0';
    if (walk->path.foreign || walk->defined)
        return;
    patterns_resolve(walk, walk->path.text, walk->callee);
    patterns_call(walk, walk->callee, walk->path.line, NULL);
}

/* Called for a string that is the first argument of walk->callee, or the second after a path. */
static void patterns_argument(struct patterns_walk *walk)
{
    const struct laz_language_patterns *language = walk->language;
    struct patterns_path named = walk->argument;
    char resolved[PATTERNS_PATH], through[PATTERNS_PATH + 2];

    if (!walk->callee[0])
        return;
    if (!named.text[0])
        patterns_path_begin(&named, &walk->token, false);
    else
        patterns_path_add(&named, language->member, &walk->token);
    if (language->loader && strcmp(walk->callee, language->loader) == 0 && walk->loads &&
        !walk->argument.text[0] && !named.foreign && patterns_match(&language->modules, named.text))
        patterns_warn(walk, walk->token.line, "loading", named.text, "", NULL);
    if (!patterns_match(&language->by_name, walk->callee) ||
        language->by_name_member != (walk->argument.text[0] != '\0'))
        return;
    if (!named.text[0] || named.foreign)
        return;
    snprintf(through, sizeof through, "%s()", walk->callee);
    patterns_resolve(walk, named.text, resolved);
    patterns_call(walk, resolved, named.line, through);
}

/* ---- imports -------------------------------------------------------------------------------- */

/* From here on `name` means `module`.`item`; `module` may be empty. */
static void patterns_alias_add(struct patterns_walk *walk, const struct patterns_path *name,
                               const struct patterns_path *module, const struct patterns_path *item)
{
    size_t len = strlen(name->text), first = strlen(module->text), second = strlen(item->text);

    if (name->foreign || !len || module->foreign || item->foreign ||
        first + 1 + second >= PATTERNS_PATH)
        return;
    size_t place = patterns_alias_place(walk, name->text, len);
    if (place == PATTERNS_ALIASES)
        return;
    walk->n_aliases += place == walk->n_aliases;
    struct patterns_alias *alias = &walk->aliases[place];
    alias->len = len;
    memcpy(alias->name, name->text, len);
    memcpy(alias->path, module->text, first);
    if (first)
        alias->path[first++] = '.';
    memcpy(alias->path + first, item->text, second + 1);
}

static void patterns_step(struct patterns_walk *walk)
{
    walk->before = walk->token;
    laz_patterns_next(&walk->lexer, &walk->token);
}

/* Reads a.b.c, beginning with the current token; the next token is the current one then. */
static void patterns_dotted(struct patterns_walk *walk, struct patterns_path *path)
{
    *path = (struct patterns_path){.line = walk->token.line};
    for (const char *joint = ""; walk->token.type == PATTERNS_NAME; joint = ".") {
        patterns_path_add(path, joint, &walk->token);
        patterns_step(walk);
        if (walk->token.type != PATTERNS_MEMBER)
            return;
        patterns_step(walk);
    }
}

/* Reads import a.b [as c], ... or from a.b import (c [as d], ...). The current token is the first
 * word; afterwards it is the one that follows the statement. */
static void patterns_import(struct patterns_walk *walk)
{
    struct patterns_path module = {.text = ""}, item, name;
    bool from = laz_patterns_is(&walk->token, "from");

    patterns_step(walk);
    if (from) {
        patterns_dotted(walk, &module);
        if (!laz_patterns_is(&walk->token, "import"))
            return;
        patterns_step(walk);
        if (laz_patterns_is(&walk->token, "("))
            patterns_step(walk);
    }
    while (walk->token.type == PATTERNS_NAME) {
        patterns_dotted(walk, &item);
        name = item;
        bool as = laz_patterns_is(&walk->token, "as");
        if (as) {
            patterns_step(walk);
            patterns_dotted(walk, &name);
        }
        if (from || as)
            patterns_alias_add(walk, &name, &module, &item);
        if (!laz_patterns_is(&walk->token, ","))
            return;
        patterns_step(walk);
    }
}

static bool patterns_is_import(const struct patterns_walk *walk)
{
    const struct patterns_token *before = &walk->before;

    return walk->language->imports &&
           (laz_patterns_is(&walk->token, "import") || laz_patterns_is(&walk->token, "from")) &&
           (before->type == PATTERNS_NEWLINE || before->type == PATTERNS_END ||
            laz_patterns_is(before, ";") || laz_patterns_is(before, ":"));
}

/* ---- the walk ------------------------------------------------------------------------------- */

static void patterns_string(struct patterns_walk *walk)
{
    const struct laz_language_patterns *language = walk->language;

    if (language->string_calls && walk->path.text[0] && !walk->member)
        patterns_arguments(walk);
    patterns_argument(walk);
    walk->callee[0] = '\0';
    walk->path.text[0] = '\0';
    if (language->string_names) /* a call if a bracket follows */
        patterns_path_begin(&walk->path, &walk->token, walk->before.type == PATTERNS_MEMBER);
    walk->defined = false;
}

/* Reads os["execute"], from the bracket, and extends the path. False: it is another expression; the
 * current token is then the first that was not handled. */
static bool patterns_index(struct patterns_walk *walk)
{
    struct patterns_path path = walk->path;

    walk->path.text[0] = '\0';
    patterns_step(walk);
    if (walk->token.type != PATTERNS_STRING)
        return false;
    patterns_path_add(&path, walk->language->member, &walk->token);
    patterns_step(walk);
    if (!laz_patterns_is(&walk->token, "]"))
        return false;
    walk->path = path;
    return true;
}

static void patterns_other(struct patterns_walk *walk)
{
    bool opens = laz_patterns_is(&walk->token, "(") ||
                 (walk->language->string_calls && laz_patterns_is(&walk->token, "{"));

    if (opens && walk->path.text[0] && !walk->member) {
        patterns_arguments(walk);
    } else if (laz_patterns_is(&walk->token, ",") && walk->callee[0] && walk->path.text[0] &&
               !walk->argument.text[0] && walk->language->by_name_member) {
        walk->argument = walk->path;
        patterns_resolve(walk, walk->path.text, walk->argument.text);
    } else {
        walk->callee[0] = '\0';
    }
    walk->path.text[0] = '\0';
    walk->member = false;
    walk->defined = false;
}

static void patterns_token(struct patterns_walk *walk)
{
    switch (walk->token.type) {
    case PATTERNS_NAME:
        patterns_name(walk);
        break;
    case PATTERNS_MEMBER:
        walk->member = walk->path.text[0] != '\0';
        break;
    case PATTERNS_STRING:
        patterns_string(walk);
        break;
    case PATTERNS_NEWLINE:
        if (walk->member)
            break; /* the member is on the next line */
        /* fall through */
    default:
        patterns_other(walk);
    }
}

/* Takes the lists of calls that are refused. */
static void patterns_take(struct patterns_walk *walk, uint32_t refused)
{
    const struct {
        uint32_t bit;
        const struct laz_strv *calls;
    } lists[] = {
        {LAZ_REFUSES_NETWORK, &walk->language->network},
        {LAZ_REFUSES_PROGRAMS, &walk->language->programs},
        {LAZ_REFUSES_TERMINALS, &walk->language->terminals},
        {LAZ_REFUSES_PRIVILEGES, &walk->language->privileges},
    };

    walk->loads = (refused & LAZ_REFUSES_NETWORK) != 0;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (!(refused & lists[i].bit) || !lists[i].calls->n)
            continue;
        walk->calls[walk->n_calls++] = lists[i].calls;
        for (size_t k = 0; k < lists[i].calls->n; k++)
            walk->calls_begin[patterns_begin(lists[i].calls->items[k])] = true;
    }
}

int laz_patterns_find(const struct laz_language *language, uint32_t refused, const char *code,
                      size_t len, struct laz_strv *warnings)
{
    if (!refused || !language || !language->lexer.comment || !language->patterns.member || !len)
        return 0;
    struct patterns_walk walk = {
        .language = &language->patterns,
        .lexer = {.syntax = &language->lexer, .at = code, .end = code + len, .line = 1},
        .warnings = warnings,
        .n_before = warnings->n,
    };
    patterns_take(&walk, refused);
    patterns_step(&walk);
    while (walk.token.type != PATTERNS_END && warnings->n - walk.n_before < LAZ_PATTERNS_MAX) {
        if (walk.token.type == PATTERNS_NAME && patterns_is_import(&walk)) {
            patterns_import(&walk);
            continue; /* the current token follows the import */
        }
        if (!walk.language->string_calls || !walk.path.text[0] || walk.member ||
            !laz_patterns_is(&walk.token, "["))
            patterns_token(&walk);
        else if (!patterns_index(&walk))
            continue;
        patterns_step(&walk);
    }
    return warnings->failed ? LAZ_ENOMEM : 0;
}
