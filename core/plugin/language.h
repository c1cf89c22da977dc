/* SPDX-License-Identifier: MIT */
/* language.h - what is declared of a language in NAME.language.json: how tools are written down in
 * it, for models and people, and what the doctor tries.
 *
 * It is there for each language that lazaret knows, whether or not its runtime is installed. */
#ifndef LAZ_PLUGIN_LANGUAGE_H
#define LAZ_PLUGIN_LANGUAGE_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>

/* A tool as a stub: documentation and signature. A text is "" where there is nothing to write. */
struct laz_language_stub {
    const char *null_word, *true_word, *false_word; /* NULL: the language has no stubs */
    const char *list_open, *list_close, *map_open, *map_close;
    const char *key_open, *key_close;               /* around a quoted key */
    const char *before, *after;                     /* around the documentation */
    const char *line;                               /* before each line of the description */
    const char *before_parameters;                  /* if there are any; may be NULL */
    const char *parameter_line;                     /* before each line of a parameter */
    const char *before_parameter, *after_parameter; /* around its name */
    const char *before_name, *after_name;           /* around the name of the tool */
    const char *after_arguments;                    /* what ends the signature */
    const char *quoted_before, *quoted_after;       /* names with dots, quoted; may be NULL */
    const char *by_name;   /* before required parameters behind optional ones; may be NULL */
    const char *together;  /* how several calls are made at once, as a comment; may be NULL */
    struct laz_strv types; /* pairs: a word of JSON Schema, the type; empty: no types are written */
    bool decimal_escapes;  /* a control byte in a string: \001, not \u0001 */
    bool docstring;        /* documentation is a string: "\\" is special in it */
    bool dots;             /* names may contain dots */
    bool defaults;         /* a signature shows defaults */
    bool signature_first;  /* before the documentation */
};

/* Code that shows whether the runtime works; NULL: what most languages understand. */
struct laz_language_probe {
    const char *code, *value;  /* an expression, and its value as JSON */
    const char *call, *answer; /* lazaret_doctor_add with two integers, and their sum */
};

struct laz_language {
    const char *name;
    const char *package; /* of Debian, which lets the runtime be built; NULL: there is no runtime */
    struct laz_language_probe probe;
    struct laz_language_stub stub;
};

/* `file` is where the text came from, for messages. The caller owns *language. LAZ_EPLUGIN. */
int laz_language_parse(const char *json, size_t len, const char *file,
                       struct laz_language **language, struct laz_error *err);
void laz_language_free(struct laz_language *language);

#endif
