/* SPDX-License-Identifier: MIT */
/* value.c - the result of a call as a value: an object of a server that looks like a tagged form
 * (lazaret/json.h) must not be taken for one.
 * Side: host.  Input trusted: no (results of a server). */
#include "mcp_private.h"

#include <stdlib.h>
#include <string.h>

#define VALUE_SAFE_DIGITS 15 /* that a double keeps */
#define VALUE_MAX_DIGITS  40 /* of a number that is kept exactly */

/* ---- results --------------------------------------------------------------------------------- */

struct result {
    const struct laz_json_api *json;
    struct laz_json_writer *writer;
    struct mcp_album album;
    const char *suffix;   /* of the picture that is being written; NULL: it is none */
    const char *artifact; /* its name */
};

static void result_value(const struct laz_json_api *json, struct laz_json_writer *writer,
                         struct laz_json_reader *reader);

/* A whole number beyond those that a double keeps is exact. */
static void result_number(const struct laz_json_api *json, struct laz_json_writer *writer,
                          const struct laz_json_token *token)
{
    if (token->len <= VALUE_SAFE_DIGITS || token->len > VALUE_MAX_DIGITS ||
        strpbrk(token->text, ".eE")) {
        json->write_raw(writer, token->text, token->len);
        return;
    }
    json->object_begin(writer);
    mcp_put_text(json, writer, "$int", token->text);
    json->object_end(writer);
}

/* An object that looks like a tagged form is a map with that one key. */
static void result_lookalike(const struct laz_json_api *json, struct laz_json_writer *writer,
                             struct laz_json_reader *reader)
{
    struct laz_json_token token;

    json->next(reader, &token);
    json->next(reader, &token);
    json->object_begin(writer);
    mcp_put_key(json, writer, "$map");
    json->array_begin(writer);
    json->array_begin(writer);
    json->write_string(writer, token.text, token.len);
    result_value(json, writer, reader);
    json->array_end(writer);
    json->array_end(writer);
    json->object_end(writer);
    json->next(reader, &token);
}

static void result_value(const struct laz_json_api *json, struct laz_json_writer *writer,
                         struct laz_json_reader *reader)
{
    struct laz_json_token token;

    if (json->peek(reader) == LAZ_JSON_OBJECT_BEGIN && json->peek_tag(reader)) {
        result_lookalike(json, writer, reader);
        return;
    }
    const uint32_t type = json->next(reader, &token);
    switch (type) {
    case LAZ_JSON_OBJECT_BEGIN:
        json->object_begin(writer);
        while (json->next(reader, &token) == LAZ_JSON_KEY) {
            mcp_put_key(json, writer, token.text);
            result_value(json, writer, reader);
        }
        json->object_end(writer);
        break;
    case LAZ_JSON_ARRAY_BEGIN:
        json->array_begin(writer);
        while (json->peek(reader) != LAZ_JSON_ARRAY_END && json->peek(reader) != LAZ_JSON_END)
            result_value(json, writer, reader);
        json->next(reader, &token);
        json->array_end(writer);
        break;
    case LAZ_JSON_NUMBER:
        result_number(json, writer, &token);
        break;
    case LAZ_JSON_STRING:
        json->write_string(writer, token.text, token.len);
        break;
    case LAZ_JSON_TRUE:
    case LAZ_JSON_FALSE:
        json->write_bool(writer, type == LAZ_JSON_TRUE);
        break;
    default:
        json->write_null(writer);
    }
}

static void result_raw(const struct laz_json_api *json, struct laz_json_writer *writer,
                       struct mcp_raw value)
{
    struct laz_json_reader *reader = json->reader_new(value.text, value.len);

    if (reader)
        result_value(json, writer, reader);
    else
        json->write_null(writer);
    json->reader_free(reader);
}

/* The suffix of a file with such a picture; NULL: it is none that is shown. */
static const char *picture_suffix(const struct laz_json_api *json, struct mcp_raw block)
{
    static const char *const types[][2] = {{"image/png", ".png"},
                                           {"image/jpeg", ".jpg"},
                                           {"image/gif", ".gif"},
                                           {"image/webp", ".webp"}};
    const struct mcp_raw type = mcp_member(json, block, "mimeType");

    if (!mcp_is_text(json, mcp_member(json, block, "type"), "image") || !type.text)
        return NULL;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (mcp_is_text(json, type, types[i][0]))
            return types[i][1];
    return NULL;
}

/* A member of a content block: base64 becomes bytes, what is for the client is left out. */
static bool block_member(void *user, const char *key, struct mcp_raw item)
{
    struct result *result = user;
    const struct laz_json_api *json = result->json;
    const bool may_be_bytes = strcmp(key, "data") == 0 || strcmp(key, "blob") == 0;
    char *text = may_be_bytes ? mcp_string(json, item) : NULL;
    const size_t len = text ? strlen(text) : 0;
    void *bytes = text ? malloc(len / 4 * 3 + 1) : NULL;
    const ptrdiff_t n = bytes ? json->base64_decode(text, len, bytes) : -1;

    if (strcmp(key, "_meta") == 0 || strcmp(key, "annotations") == 0 || strcmp(key, "icons") == 0 ||
        (result->suffix && strcmp(key, "artifact") == 0))
        goto out;
    mcp_put_key(json, result->writer, key);
    if (n >= 0) {
        json->write_bytes(result->writer, bytes, (size_t)n);
        if (result->suffix && strcmp(key, "data") == 0)
            result->artifact =
                result->album.take(result->album.user, result->suffix, bytes, (size_t)n);
    } else if (strcmp(key, "resource") == 0 && mcp_member(json, item, "uri").text) {
        json->object_begin(result->writer);
        (void)mcp_each(json, item, block_member, user);
        json->object_end(result->writer);
    } else {
        result_raw(json, result->writer, item);
    }
out:
    free(bytes);
    free(text);
    return true;
}

/* What the blocks of a result are. */
struct blocks {
    struct result result;
    size_t n, n_texts;
    char *error; /* the texts, where they are wanted as one */
    bool joins;
};

/* No more than an error can have. */
static void blocks_join(struct blocks *blocks, const char *text)
{
    const char *before = blocks->error ? blocks->error : "";

    if (strlen(before) > MCP_MAX_ERROR)
        return;
    char *more = mcp_format("%s%s%.*s", before, *before ? "\n" : "", 2 * MCP_MAX_ERROR, text);
    if (!more)
        return;
    free(blocks->error);
    blocks->error = more;
}

static bool blocks_count(void *user, const char *key, struct mcp_raw item)
{
    struct blocks *blocks = user;
    const struct laz_json_api *json = blocks->result.json;

    (void)key;
    blocks->n++;
    if (mcp_is_text(json, mcp_member(json, item, "type"), "text")) {
        blocks->n_texts++;
        char *text = blocks->joins && blocks->n <= 100
                         ? mcp_string(json, mcp_member(json, item, "text"))
                         : NULL;
        if (text)
            blocks_join(blocks, text);
        free(text);
    }
    return true;
}

static bool blocks_write(void *user, const char *key, struct mcp_raw item)
{
    struct blocks *blocks = user;
    const struct laz_json_api *json = blocks->result.json;
    const struct mcp_raw text = mcp_member(json, item, "text");

    (void)key;
    if (text.text && text.text[0] == '"' &&
        mcp_is_text(json, mcp_member(json, item, "type"), "text")) {
        json->write_raw(blocks->result.writer, text.text, text.len);
    } else if (mcp_member(json, item, "type").text) {
        blocks->result.suffix = blocks->result.album.take ? picture_suffix(json, item) : NULL;
        blocks->result.artifact = NULL;
        json->object_begin(blocks->result.writer);
        (void)mcp_each(json, item, block_member, &blocks->result);
        if (blocks->result.artifact)
            mcp_put_text(json, blocks->result.writer, "artifact", blocks->result.artifact);
        json->object_end(blocks->result.writer);
    } else {
        result_raw(json, blocks->result.writer, item);
    }
    return true;
}

/* One text that is JSON, of a tool that has declared its output but sends it only so. */
static bool result_text_value(const struct laz_json_api *json, struct mcp_raw content,
                              struct laz_json_writer *writer)
{
    struct laz_json_reader *reader = json->reader_new(content.text, content.len);
    struct laz_json_token token;
    struct mcp_raw block = {0};
    bool is_value = false;

    if (reader && json->next(reader, &token) == LAZ_JSON_ARRAY_BEGIN)
        (void)json->skip(reader, &block.text, &block.len);
    char *text = block.text ? mcp_string(json, mcp_member(json, block, "text")) : NULL;
    if (text) {
        mcp_mend(text, strlen(text));
        is_value = json->scan(text, strlen(text), NULL) == 0;
        if (is_value)
            result_raw(json, writer, (struct mcp_raw){text, strlen(text)});
    }
    free(text);
    json->reader_free(reader);
    return is_value;
}

/* The error that a result reports: its texts, or what else there is. */
static char *result_error(struct blocks *blocks, struct mcp_raw content, struct mcp_raw structured)
{
    static const char nothing[] = "the tool failed without saying why";
    char *text;

    blocks->joins = true;
    (void)mcp_each(blocks->result.json, content, blocks_count, blocks);
    if (blocks->error && *blocks->error)
        text = mcp_clean(blocks->error, strlen(blocks->error), MCP_MAX_ERROR, true);
    else if (structured.text)
        text = mcp_clean(structured.text, structured.len, MCP_MAX_ERROR, true);
    else
        text = mcp_clean(nothing, strlen(nothing), MCP_MAX_ERROR, false);
    free(blocks->error);
    blocks->error = NULL;
    return text;
}

/* The value of the blocks: none, one, or a list. */
static void result_blocks(struct blocks *blocks, struct mcp_raw content)
{
    const struct laz_json_api *json = blocks->result.json;

    if (!blocks->n)
        json->write_null(blocks->result.writer);
    if (blocks->n > 1)
        json->array_begin(blocks->result.writer);
    (void)mcp_each(json, content, blocks_write, blocks);
    if (blocks->n > 1)
        json->array_end(blocks->result.writer);
}

static bool result_count(void *user, const char *key, struct mcp_raw item)
{
    (void)key;
    (void)item;
    ++*(size_t *)user;
    return true;
}

/* Is the structured content that of the blocks once more, and nothing else? */
static bool result_repeats(const struct laz_json_api *json, struct mcp_raw structured,
                           struct mcp_raw content)
{
    const struct mcp_raw same = mcp_member(json, structured, "content");
    size_t n = 0;

    (void)mcp_each(json, structured, result_count, &n);
    return n == 1 && same.text && same.len == content.len && memcmp(same.text, content.text, same.len) == 0;
}

int mcp_read_result(const struct laz_json_api *json, const struct mcp_tool *tool,
                    struct mcp_raw result, struct mcp_album album, char **value, size_t *len,
                    char **error, struct laz_error *err)
{
    static const char *const names[] = {"content", "structuredContent", "isError"};
    struct mcp_raw found[3];
    struct blocks blocks = {.result = {.json = json, .album = album}};

    *value = *error = NULL;
    if (!mcp_members(json, result, names, found, 3) || (found[0].text && found[0].text[0] != '['))
        return laz_fail(err, LAZ_EPARSE, "its answer is not the result of a tool");
    if (mcp_is_true(found[2])) {
        *error = result_error(&blocks, found[0], found[1]);
        return *error ? 0 : laz_fail(err, LAZ_ENOMEM, "out of memory");
    }
    blocks.result.writer = json->writer_new(0);
    if (!blocks.result.writer)
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    (void)mcp_each(json, found[0], blocks_count, &blocks);
    if (found[1].text && blocks.n == blocks.n_texts) {
        result_raw(json, blocks.result.writer, found[1]);
    } else if (found[1].text) {
        json->object_begin(blocks.result.writer);
        if (!result_repeats(json, found[1], found[0])) {
            mcp_put_key(json, blocks.result.writer, "value");
            result_raw(json, blocks.result.writer, found[1]);
        }
        mcp_put_key(json, blocks.result.writer, "content");
        json->array_begin(blocks.result.writer);
        (void)mcp_each(json, found[0], blocks_write, &blocks);
        json->array_end(blocks.result.writer);
        json->object_end(blocks.result.writer);
    } else if (!(tool->has_output && blocks.n == 1 && blocks.n_texts == 1 &&
                 result_text_value(json, found[0], blocks.result.writer))) {
        result_blocks(&blocks, found[0]);
    }
    const bool nested = json->writer_failed(blocks.result.writer);
    *value = mcp_take(json, blocks.result.writer, len);
    if (!*value)
        return laz_fail(err, nested ? LAZ_EPARSE : LAZ_ENOMEM, "%s",
                        nested ? "its answer is nested too deeply" : "out of memory");
    return 0;
}
