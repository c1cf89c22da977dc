/* SPDX-License-Identifier: MIT */
/* language.c - reads what is declared of a language.
 * Side: host.  Input trusted: no (NAME.language.json is checked as plugins are). */
#include "plugin/language.h"

#include <stdlib.h>

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
    LAZ_FIELD_END,
};

int laz_language_parse(const char *json, size_t len, const char *file,
                       struct laz_language **language, struct laz_error *err)
{
    const struct laz_fields_source source = {file, "", err};

    *language = calloc(1, sizeof **language);
    if (!*language)
        return laz_error_nomem(err);
    int rc = laz_fields_parse(json, len, &source, "language", language_fields, *language);
    if (rc) {
        laz_language_free(*language);
        *language = NULL;
    }
    return rc;
}

void laz_language_free(struct laz_language *language)
{
    if (language)
        laz_fields_free(language_fields, language);
    free(language);
}
