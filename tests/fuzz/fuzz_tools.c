/* SPDX-License-Identifier: MIT */
/* fuzz_tools.c - declarations with any bytes: parameters of a tool, and the descriptions beside
 * plugins. An accepted tool has a list in JSON and stubs in each language in UTF-8; a rejected one
 * has a reason in one line. */
#include "base/json.h"
#include "base/utf8.h"
#include "tool/tool.h"
#include "plugin/plugin.h"
#include "languages.h"

#include <lazaret/lazaret.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_reason(const struct laz_error *err)
{
    if (!*err->text || strchr(err->text, '\n') || !laz_utf8_is_valid(err->text, strlen(err->text)))
        abort();
}

static void check_taken(const struct laz_tool_set *set)
{
    static const char *const formats[] = {"text", "json", "r", "python", "lua", "javascript"};
    struct laz_buf text = LAZ_BUF_INIT;

    laz_tool_set_json(set, NULL, NULL, &text);
    if (text.failed || laz_json_scan(text.data, text.len, NULL))
        abort();
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        laz_buf_clear(&text);
        if (laz_tool_set_format(set, formats[i], languages_get(formats[i]), NULL, &text, NULL) ||
            text.failed || !laz_utf8_is_valid(laz_buf_text(&text), text.len))
            abort();
    }
    laz_buf_fini(&text);
}

static void check_tool(const char *name, const char *description, const char *parameters)
{
    const struct laz_tool tool = {
        .size = sizeof tool, .name = name, .description = description, .parameters = parameters};
    struct laz_tool_set set = {0};
    struct laz_error err = {0};

    if (laz_tool_set_add(&set, &tool, NULL, NULL, 0, &err))
        check_reason(&err);
    else
        check_taken(&set);
    laz_tool_set_fini(&set);
}

static void check_description(const struct laz_description_kind *kind, const char *text, size_t len)
{
    struct laz_error err = {0};
    void *data = NULL;

    if (laz_description_parse(kind, text, len, "x.json", &data, &err))
        check_reason(&err);
    laz_description_free(kind, data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    check_description(&laz_runtime_description, text, size);
    check_description(&laz_language_description, text, size);
    check_description(&laz_backend_description, text, size);
    check_tool("tool", "", text);
    char *name_end = strchr(text, '\n');
    char *description_end = name_end ? strchr(name_end + 1, '\n') : NULL;
    if (description_end) {
        *name_end = *description_end = '\0';
        check_tool(text, name_end + 1, description_end + 1);
    }
    free(text);
    return 0;
}
