/* SPDX-License-Identifier: MIT */
/* language.c - the tables of what is declared of a language, by which descriptions.c reads it.
 * Side: host.  Input trusted: no. */
#include "plugin/language.h"

#include <string.h>

#include "plugin/descriptions.h"

#define STUB(is, name, must) LAZ_FIELD(laz_language_stub, is, name, must)

/* clang-format off */
static const struct laz_field stub_rows[] = {
    STUB(TEXT, null_word, true), STUB(TEXT, true_word, true), STUB(TEXT, false_word, true),
    STUB(TEXT, list_open, true), STUB(TEXT, list_close, true), STUB(TEXT, map_open, true),
    STUB(TEXT, map_close, true), STUB(TEXT, key_open, true), STUB(TEXT, key_close, true),
    STUB(TEXT, before, true), STUB(TEXT, after, true), STUB(TEXT, line, true),
    STUB(TEXT, before_parameters, false), STUB(TEXT, parameter_line, true),
    STUB(TEXT, before_parameter, true), STUB(TEXT, after_parameter, true),
    STUB(TEXT, before_name, true), STUB(TEXT, after_name, true),
    STUB(TEXT, after_arguments, true), STUB(TEXT, arguments_open, false),
    STUB(TEXT, arguments_close, false), STUB(TEXT, between_arguments, false),
    STUB(TEXT, before_optional, false), STUB(TEXT, after_optional, false),
    STUB(TEXT, before_type, false), STUB(TEXT, before_default, false),
    STUB(TEXT, before_bare_default, false), STUB(TEXT, before_result, false),
    STUB(TEXT, returns, false), STUB(TEXT, between_values, false),
    STUB(TEXT, string_open, false), STUB(TEXT, string_close, false), STUB(PAIRS, escapes, false),
    STUB(TEXT, by_name, false), STUB(TEXT, together, false), STUB(PAIRS, types, false),
    STUB(TEXT, after_result, false), STUB(TEXT, optional_name, false),
    STUB(TEXT, named_open, false), STUB(TEXT, named_close, false),
    STUB(TEXT, between_named, false), STUB(TEXT, between_choices, false),
    STUB(TEXT, list_type_open, false), STUB(TEXT, list_type_close, false),
    STUB(TEXT, any_key, false),
    STUB(BOOLEAN, decimal_escapes, false), STUB(BOOLEAN, docstring, false),
    STUB(BOOLEAN, defaults, false), STUB(BOOLEAN, signature_first, false),
};
/* clang-format on */

static const struct laz_fields stub_fields = LAZ_FIELDS(laz_language_stub, stub_rows);

#define LEXER(is, name, must) LAZ_FIELD(laz_language_lexer, is, name, must)

static const struct laz_field lexer_rows[] = {LEXER(TEXT, comment, true),
                                              LEXER(TEXT, name_characters, true),
                                              LEXER(TEXTS, members, false),
                                              LEXER(TEXTS, object_members, false),
                                              LEXER(TEXT, raw_letters, false),
                                              LEXER(TEXT, raw_fill, false),
                                              LEXER(TEXT, raw_brackets, false),
                                              LEXER(TEXT, prefix_letters, false),
                                              LEXER(TEXT, long_brackets, false),
                                              LEXER(BOOLEAN, triple_quotes, false),
                                              LEXER(BOOLEAN, newlines, false),
                                              LEXER(BOOLEAN, multiline_strings, false),
                                              LEXER(BOOLEAN, single_members, false),
                                              LEXER(TEXT, comment_open, false),
                                              LEXER(TEXT, comment_close, false),
                                              LEXER(TEXT, text_quotes, false)};

static const struct laz_fields lexer_fields = LAZ_FIELDS(laz_language_lexer, lexer_rows);

#define PATTERNS(is, name, must) LAZ_FIELD(laz_language_patterns, is, name, must)

/* clang-format off */
static const struct laz_field patterns_rows[] = {
    PATTERNS(TEXT, member, true), PATTERNS(TEXTS, network, false),
    PATTERNS(TEXTS, programs, false), PATTERNS(TEXTS, terminals, false),
    PATTERNS(TEXTS, privileges, false), PATTERNS(TEXTS, roots, false),
    PATTERNS(TEXTS, by_name, false), PATTERNS(TEXT, loader, false),
    PATTERNS(TEXTS, modules, false), PATTERNS(TEXTS, definitions, false),
    PATTERNS(BOOLEAN, by_name_member, false), PATTERNS(BOOLEAN, string_calls, false),
    PATTERNS(BOOLEAN, string_names, false), PATTERNS(BOOLEAN, imports, false),
};
/* clang-format on */

static const struct laz_fields patterns_fields = LAZ_FIELDS(laz_language_patterns, patterns_rows);

#define NAMES(is, name, must) LAZ_FIELD(laz_language_names, is, name, must)

static const struct laz_field names_rows[] = {
    NAMES(TEXT, other, true),      NAMES(TEXT, first, true),         NAMES(TEXT, after, true),
    NAMES(TEXTS, words, false),    NAMES(TEXTS, globals, false),     NAMES(BOOLEAN, dots, false),
    NAMES(BOOLEAN, fields, false), NAMES(BOOLEAN, underscore, false)};

static const struct laz_fields names_fields = LAZ_FIELDS(laz_language_names, names_rows);

#define PROBE(name, must) LAZ_FIELD(laz_language_probe, TEXT, name, must)

static const struct laz_field probe_rows[] = {PROBE(code, true), PROBE(value, true),
                                              PROBE(call, false), PROBE(answer, false),
                                              PROBE(web, false)};

static const struct laz_fields probe_fields = LAZ_FIELDS(laz_language_probe, probe_rows);

static const struct laz_field variables_rows[] = {
    LAZ_FIELD(laz_language_variables, PAIRS, ignored, false),
    LAZ_FIELD(laz_language_variables, PAIRS, searched, false),
};

static const struct laz_fields variables_fields =
    LAZ_FIELDS(laz_language_variables, variables_rows);

#define PART(member, table)                                                                        \
    {                                                                                              \
        .name = #member, .kind = LAZ_FIELD_OBJECT, .at = offsetof(struct laz_language, member),    \
        .of = &(table)                                                                             \
    }

static const struct laz_field language_rows[] = {
    LAZ_FIELD_KEY("kind"),
    LAZ_FIELD_KEY("abi"),
    LAZ_FIELD(laz_language, TEXT, name, true),
    LAZ_FIELD(laz_language, TEXT, package, false),
    LAZ_FIELD(laz_language, TEXT, note, false),
    LAZ_FIELD(laz_language, TEXTS, packages, false),
    LAZ_FIELD(laz_language, TEXTS, modules, false),
    LAZ_FIELD(laz_language, BOOLEAN, tool_commands, false),
    LAZ_FIELD(laz_language, BOOLEAN, echoes, false),
    LAZ_FIELD(laz_language, BOOLEAN, statuses, false),
    LAZ_FIELD(laz_language, BOOLEAN, commands, false),
    LAZ_FIELD(laz_language, BOOLEAN, encoding_comments, false),
    PART(probe, probe_fields),
    PART(names, names_fields),
    PART(stub, stub_fields),
    PART(lexer, lexer_fields),
    PART(patterns, patterns_fields),
    PART(variables, variables_fields),
};

static const struct laz_fields language_fields = LAZ_FIELDS(laz_language, language_rows);

/* Checks what the readers of code rely on besides the types. The key that is wrong, or NULL. */
static const char *language_lexer(const struct laz_language_lexer *lexer)
{
    bool raw = lexer->raw_letters != NULL;

    if (lexer->comment && !*lexer->comment)
        return "comment";
    if ((lexer->comment_open != NULL) != (lexer->comment_close != NULL) ||
        (lexer->comment_open && (!*lexer->comment_open || !*lexer->comment_close)))
        return "comment_open";
    if (raw != (lexer->raw_fill != NULL) || raw != (lexer->raw_brackets != NULL))
        return "raw_letters";
    if (raw && strlen(lexer->raw_fill) != 1)
        return "raw_fill";
    if (raw && (!*lexer->raw_brackets || strlen(lexer->raw_brackets) % 2))
        return "raw_brackets";
    if (lexer->long_brackets && strlen(lexer->long_brackets) != 3)
        return "long_brackets";
    if (laz_strv_has(&lexer->members, ""))
        return "members";
    return laz_strv_has(&lexer->object_members, "") ? "object_members" : NULL;
}

static bool language_calls(const struct laz_strv *calls)
{
    for (size_t i = 0; i < calls->n; i++) {
        const char *star = strchr(calls->items[i], '*');
        if (star && star - calls->items[i] < 3)
            return false;
    }
    return calls->n <= LAZ_LANGUAGE_CALLS && !laz_strv_has(calls, "");
}

static const char *language_patterns(const struct laz_language_patterns *patterns)
{
    if (patterns->member && !*patterns->member)
        return "member";
    const struct {
        const struct laz_strv *calls;
        const char *key;
    } lists[] = {{&patterns->network, "network"},
                 {&patterns->programs, "programs"},
                 {&patterns->terminals, "terminals"},
                 {&patterns->privileges, "privileges"}};

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (!language_calls(lists[i].calls))
            return lists[i].key;
    return laz_strv_has(&patterns->roots, "") ? "roots" : NULL;
}

static const char *language_wrong(const void *data)
{
    const struct laz_language *language = data;
    const char *wrong =
        laz_strv_has(&language->modules, "") ? "modules" : language_lexer(&language->lexer);

    return wrong ? wrong : language_patterns(&language->patterns);
}

const struct laz_description_kind laz_language_description = {
    .suffix = ".language.json",
    .word = "language",
    .remedy = "",
    .fields = &language_fields,
    .wrong = language_wrong,
};
