/* SPDX-License-Identifier: MIT */
/* fuzz_command.c - a command line of a tool, words separated by newlines: what is taken is one JSON
 * object, and what is refused has a reason that a terminal can show. */
#include "base/json.h"
#include "base/utf8.h"
#include "command/command.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char declaration[] =
    "{\"name\":\"t\",\"parameters\":[{\"name\":\"s\",\"type\":\"string\"},"
    "{\"name\":\"i\",\"type\":\"integer\",\"required\":false},"
    "{\"name\":\"n\",\"type\":\"number\",\"required\":false},"
    "{\"name\":\"b\",\"type\":\"boolean\",\"default\":true},"
    "{\"name\":\"o\",\"type\":\"object\",\"required\":false},"
    "{\"name\":\"any\",\"required\":false,\"enum\":[\"1\",2]},"
    "{\"name\":\"l\",\"type\":\"array\",\"required\":false}]}";

#define WORDS 64

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void read_words(const struct laz_wire_tool *tool, char *text)
{
    char *words[WORDS];
    size_t n = 0;
    struct command_line line;
    struct laz_error err = {0};

    for (char *at = text; at && n < WORDS;) {
        char *end = strchr(at, '\n');
        if (end)
            *end = '\0';
        words[n++] = at;
        at = end ? end + 1 : NULL;
    }
    if (command_read(tool, words, n, &line, &err)) {
        must(*err.text && laz_utf8_is_valid(err.text, strlen(err.text)));
    } else if (line.args.len) {
        struct laz_buf shown = LAZ_BUF_INIT, again = LAZ_BUF_INIT, plain = LAZ_BUF_INIT;
        must(laz_json_scan_compact(line.args.data, line.args.len, &plain, NULL) == 0 &&
             line.args.data[0] == '{');
        command_show(line.args.data, line.args.len, &shown);
        must(laz_json_scan_compact(shown.data, shown.len, &again, NULL) == 0);
        must(plain.len == again.len && memcmp(plain.data, again.data, plain.len) == 0);
        laz_buf_fini(&shown);
        laz_buf_fini(&again);
        laz_buf_fini(&plain);
    }
    laz_buf_fini(&line.args);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct laz_wire_tool tool = {0};
    struct laz_buf args = LAZ_BUF_INIT;
    char *text = malloc(size + 1);

    must(laz_wire_read(&laz_wire_tool, declaration, sizeof declaration - 1, &tool, NULL) == 0);
    if (text) {
        memcpy(text, data, size);
        text[size] = '\0';
        if (command_read_object(text, size, &args, NULL) == 0)
            must(laz_json_scan(args.data, args.len, NULL) == 0);
        read_words(&tool, text);
    }
    laz_buf_fini(&args);
    laz_fields_free(&laz_wire_tool, &tool);
    free(text);
    return 0;
}
