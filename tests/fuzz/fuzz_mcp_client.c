/* SPDX-License-Identifier: MIT */
/* fuzz_mcp_client.c - what a server of MCP sends, on any bytes: a message that is accepted is one
 * that says what it is; of the tools in it each that is taken is one that lazaret can declare; and
 * of a result comes a value or an error, which are valid JSON and clean text.  What is shown of the
 * bytes themselves is clean, too, and a glance at a message finds the id that reading finds.
 *
 * Memory that was allocated and not written is not UTF-8, so that it is noticed in a text. */
#include "base/json.h"
#include "base/utf8.h"
#include "mcp_private.h"
#include "tool/tool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool held)
{
    if (!held)
        abort();
}

/* Nothing that a terminal would act on; newlines where they are allowed. */
static void check_clean(const char *text, bool lines)
{
    must(laz_utf8_is_valid(text, strlen(text)));
    for (; *text; text++)
        must((unsigned char)*text >= 0x20 ? *text != 0x7f : lines && *text == '\n');
}

static void check_arguments(const struct mcp_tool *tool, const char *args, size_t len)
{
    const struct laz_json_api *json = laz_json_api();
    struct laz_json_writer *writer = json->writer_new(0);
    struct laz_error err = {0};

    must(writer != NULL);
    if (mcp_write_arguments(json, tool, args, len, writer, &err) == 0) {
        size_t written = 0;
        char *text = mcp_take(json, writer, &written);
        must(!text || laz_json_scan(text, written, NULL) == 0);
        free(text);
    } else {
        must(*err.text);
        json->writer_free(writer);
    }
}

static bool check_tool(void *user, const char *key, struct mcp_raw item)
{
    const struct mcp_raw *params = user;
    struct laz_tool_set set = {0};
    struct laz_error err = {0};
    struct mcp_tool tool;

    (void)key;
    if (mcp_tool_read(laz_json_api(), item, "m", &tool, &err) == 0) {
        const struct laz_tool declared = {.size = sizeof declared,
                                          .name = tool.name,
                                          .description = tool.description,
                                          .parameters = tool.parameters};
        must(laz_tool_set_add(&set, &declared, NULL, NULL, 0, &err) == 0);
        must(tool.is_whole || set.entries[0].n_parameters == tool.n_names);
        check_clean(tool.description, true);
        for (size_t i = 0; i < set.entries[0].n_parameters; i++)
            check_clean(set.entries[0].parameters[i].description, false);
        must(laz_json_scan(tool.schema, strlen(tool.schema), NULL) == 0);
        if (params->text && params->text[0] == '{')
            check_arguments(&tool, params->text, params->len);
        laz_tool_set_fini(&set);
    } else {
        must(*err.text);
    }
    mcp_tool_fini(&tool);
    return true;
}

static const char *take_picture(void *user, const char *suffix, const void *data, size_t len)
{
    (void)user;
    must(*suffix == '.' && (data || !len));
    return len % 2 ? "m_tool-1.png" : NULL;
}

static void check_result(struct mcp_raw result, bool has_output)
{
    const struct mcp_album album = {take_picture, NULL};
    const struct mcp_tool tool = {.name = (char[]){"m_tool"}, .has_output = has_output};
    struct laz_error err = {0};
    char *value = NULL, *error = NULL;
    size_t len = 0;

    if (mcp_read_result(laz_json_api(), &tool, result, album, &value, &len, &error, &err) == 0) {
        must(!value != !error);
        must(!value || laz_json_scan(value, len, NULL) == 0);
        if (error)
            check_clean(error, true);
    } else {
        must(*err.text);
    }
    free(value);
    free(error);
}

static void check_shown(const char *line, size_t len)
{
    for (unsigned i = 0; i < 6; i++) {
        const size_t most = i < 2 ? 4096 : i < 4 ? 7 : 0;
        char *clean = mcp_clean(line, len, most, i % 2);
        must(clean && strlen(clean) <= most + 3);
        check_clean(clean, i % 2);
        free(clean);
    }
}

/* In two pieces as in one; and no other request than the one that is answered. */
static void check_glance(const char *line, size_t len, const struct mcp_incoming *message)
{
    struct mcp_glance whole = {0}, pieces = {0};

    mcp_glance_add(&whole, line, len);
    mcp_glance_add(&pieces, line, len / 2);
    mcp_glance_add(&pieces, line + len / 2, len - len / 2);
    const int64_t id = mcp_glance_id(&whole);
    must(id == mcp_glance_id(&pieces) && whole.is_over == pieces.is_over);
    if (message && id)
        must(message->has_id && message->id == id);
}

static void check_line(const char *line, size_t len)
{
    check_shown(line, len);
    char *text = malloc(len + 1); /* messages are mended where they are */
    struct mcp_incoming message;
    struct laz_error err = {0};

    must(text != NULL);
    memcpy(text, line, len);
    text[len] = '\0';
    if (mcp_incoming_read(laz_json_api(), text, len, &message, &err) == 0) {
        must(message.kind != MCP_RESULT || (message.result.text && message.id_text.text));
        must(message.kind != MCP_ERROR || message.error);
        check_glance(text, len, message.method[0] ? NULL : &message);
        must((message.kind == MCP_REQUEST) == (message.method[0] && message.id_text.text) ||
             !message.method[0]);
        if (message.error)
            check_clean(message.error, true);
        if (message.result.text) {
            struct mcp_raw params = message.params;
            (void)mcp_each(laz_json_api(), mcp_member(laz_json_api(), message.result, "tools"),
                           check_tool, &params);
            check_result(message.result, false);
            check_result(message.result, true);
        }
    } else {
        must(*err.text);
        check_glance(text, len, NULL);
    }
    mcp_incoming_fini(&message);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *line = (const char *)data;

#ifdef M_PERTURB
    (void)mallopt(M_PERTURB, 0x01);
#endif
    while (size) {
        const char *newline = memchr(line, '\n', size);
        const size_t len = newline ? (size_t)(newline - line) : size;
        check_line(line, len);
        size -= len + (newline != NULL);
        line += len + (newline != NULL);
    }
    return 0;
}
