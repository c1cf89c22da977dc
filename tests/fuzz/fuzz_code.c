/* SPDX-License-Identifier: MIT */
/* fuzz_code.c - pattern warnings and the sanitizer of messages, with any bytes: there are at most a
 * hundred warnings, each for an existing line; a message that is UTF-8 stays UTF-8 and never
 * exceeds the requested length. */
#include "base/utf8.h"
#include "advice/patterns.h"
#include "advice/sanitize.h"
#include "languages.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_patterns(const char *runtime, const char *code, size_t len)
{
    struct laz_strv warnings = LAZ_STRV_INIT;
    size_t lines = 1;

    for (size_t i = 0; i < len; i++)
        lines += code[i] == '\n';
    if (laz_patterns_find(languages_get(runtime), UINT32_MAX, code, len, &warnings) != 0 ||
        warnings.n > LAZ_PATTERNS_MAX)
        abort();
    for (size_t i = 0; i < warnings.n; i++) {
        size_t line = 0;
        if (sscanf(warnings.items[i], "line %zu: ", &line) != 1 || line < 1 || line > lines)
            abort();
    }
    laz_strv_fini(&warnings);
}

static void check_sanitize(const char *text, size_t max)
{
    struct laz_buf out = LAZ_BUF_INIT;
    bool valid = laz_utf8_is_valid(text, strlen(text));

    laz_sanitize(text, max, &out);
    if (out.failed || !out.len)
        abort();
    if (valid && !laz_utf8_is_valid(out.data, out.len))
        abort();
    if (valid && max && laz_utf8_count(out.data, out.len) > max)
        abort();
    laz_buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A copy of exactly this length, so that the sanitizer detects reading beyond it. */
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    check_sanitize(text, 0);
    check_sanitize(text, 1 + size / 3);
    char *code = malloc(size ? size : 1);
    if (code) {
        memcpy(code, text, size);
        check_patterns("r", code, size);
        check_patterns("python", code, size);
        check_patterns("lua", code, size);
    }
    free(code);
    free(text);
    return 0;
}
