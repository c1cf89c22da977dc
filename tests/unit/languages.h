/* SPDX-License-Identifier: MIT */
/* languages.h - what is declared of the languages of this version, read from the build.
 *
 * A header alone, because programs of the fuzzer are made of one file and the libraries. */
#ifndef LAZ_TESTS_LANGUAGES_H
#define LAZ_TESTS_LANGUAGES_H

#include "plugin/descriptions.h"
#include "plugin/language.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The language of this name, read once; NULL: nothing is declared. For one thread. */
static inline const struct laz_language *languages_get(const char *name)
{
    static struct {
        char name[32];
        void *language;
    } known[8];
    static char text[1 << 16];
    struct laz_error err = {0};
    char path[80];
    size_t i = 0;

    while (i < 7 && known[i].name[0] && strcmp(known[i].name, name) != 0)
        i++;
    if (known[i].name[0])
        return known[i].language;
    snprintf(path, sizeof path, ".libs/%.30s.language.json", name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    size_t len = fread(text, 1, sizeof text, file);
    fclose(file);
    if (laz_description_parse(&laz_language_description, text, len, path, &known[i].language,
                              &err) != 0) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    snprintf(known[i].name, sizeof known[i].name, "%s", name);
    return known[i].language;
}

#endif
