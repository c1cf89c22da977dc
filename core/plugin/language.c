/* SPDX-License-Identifier: MIT */
/* language.c - the tables of what is declared of a language, by which descriptions.c reads it.
 * Side: host.  Input trusted: no. */
#include "plugin/language.h"

#include <string.h>

#include "plugin/descriptions.h"
#include "plugin/fields.h"

#define STUB(is, name, must) LAZ_FIELD(laz_language_stub, is, name, must)

static const struct laz_field stub_fields[] = {
    STUB(TEXT, null_word, true),
    STUB(TEXT, true_word, true),
    STUB(TEXT, false_word, true),
    STUB(TEXT, list_open, true),
    STUB(TEXT, list_close, true),
    STUB(TEXT, map_open, true),
    STUB(TEXT, map_close, true),
    STUB(TEXT, key_open, true),
    STUB(TEXT, key_close, true),
    STUB(TEXT, before, true),
    STUB(TEXT, after, true),
    STUB(TEXT, line, true),
    STUB(TEXT, before_parameters, false),
    STUB(TEXT, parameter_line, true),
    STUB(TEXT, before_parameter, true),
    STUB(TEXT, after_parameter, true),
    STUB(TEXT, before_name, true),
    STUB(TEXT, after_name, true),
    STUB(TEXT, after_arguments, true),
    STUB(TEXT, quoted_before, false),
    STUB(TEXT, quoted_after, false),
    STUB(TEXT, by_name, false),
    STUB(TEXT, together, false),
    STUB(PAIRS, types, false),
    STUB(FLAG, decimal_escapes, false),
    STUB(FLAG, docstring, false),
    STUB(FLAG, dots, false),
    STUB(FLAG, defaults, false),
    STUB(FLAG, signature_first, false),
    LAZ_FIELD_END,
};

#define LEXER(is, name, must) LAZ_FIELD(laz_language_lexer, is, name, must)

static const struct laz_field lexer_fields[] = {
    LEXER(TEXT, comment, true),         LEXER(TEXT, name_characters, true),
    LEXER(LIST, members, false),        LEXER(LIST, object_members, false),
    LEXER(TEXT, raw_letters, false),    LEXER(TEXT, raw_fill, false),
    LEXER(TEXT, raw_brackets, false),   LEXER(TEXT, prefix_letters, false),
    LEXER(TEXT, long_brackets, false),  LEXER(FLAG, triple_quotes, false),
    LEXER(FLAG, newlines, false),       LEXER(FLAG, multiline_strings, false),
    LEXER(FLAG, single_members, false), LAZ_FIELD_END,
};

#define PATTERNS(is, name, must) LAZ_FIELD(laz_language_patterns, is, name, must)

static const struct laz_field patterns_fields[] = {
    PATTERNS(TEXT, member, true),        PATTERNS(LIST, calls, true),
    PATTERNS(LIST, roots, false),        PATTERNS(LIST, by_name, false),
    PATTERNS(TEXT, loader, false),       PATTERNS(LIST, modules, false),
    PATTERNS(LIST, definitions, false),  PATTERNS(FLAG, by_name_member, false),
    PATTERNS(FLAG, string_calls, false), PATTERNS(FLAG, string_names, false),
    PATTERNS(FLAG, imports, false),      LAZ_FIELD_END,
};

#define PROBE(name) LAZ_FIELD(laz_language_probe, TEXT, name, true)

static const struct laz_field probe_fields[] = {
    PROBE(code), PROBE(value), PROBE(call), PROBE(answer), LAZ_FIELD_END,
};

#define PART(name, members)                                                                        \
    {                                                                                              \
        .key = #name, .kind = LAZ_FIELD_TABLE, .offset = offsetof(struct laz_language, name),      \
        .fields = members                                                                          \
    }

static const struct laz_field language_fields[] = {
    LAZ_FIELD_KEY("kind"),
    LAZ_FIELD_KEY("abi"),
    LAZ_FIELD(laz_language, TEXT, name, true),
    LAZ_FIELD(laz_language, TEXT, package, false),
    PART(probe, probe_fields),
    PART(stub, stub_fields),
    PART(lexer, lexer_fields),
    PART(patterns, patterns_fields),
    LAZ_FIELD_END,
};

/* Checks what the readers of code rely on besides the types. The key that is wrong, or NULL. */
static const char *language_lexer(const struct laz_language_lexer *lexer)
{
    bool raw = lexer->raw_letters != NULL;

    if (lexer->comment && !*lexer->comment)
        return "comment";
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

static const char *language_patterns(const struct laz_language_patterns *patterns)
{
    if (patterns->member && !*patterns->member)
        return "member";
    if (patterns->calls.n > LAZ_LANGUAGE_CALLS || laz_strv_has(&patterns->calls, ""))
        return "calls";
    for (size_t i = 0; i < patterns->calls.n; i++) {
        const char *star = strchr(patterns->calls.items[i], '*');
        if (star && star - patterns->calls.items[i] < 3)
            return "calls";
    }
    return laz_strv_has(&patterns->roots, "") ? "roots" : NULL;
}

static const char *language_wrong(const void *data)
{
    const struct laz_language *language = data;
    const char *wrong = language_lexer(&language->lexer);

    return wrong ? wrong : language_patterns(&language->patterns);
}

const struct laz_description_kind laz_language_description = {
    .suffix = ".language.json",
    .word = "language",
    .remedy = "",
    .size = sizeof(struct laz_language),
    .fields = language_fields,
    .wrong = language_wrong,
};
