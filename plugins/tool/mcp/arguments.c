/* SPDX-License-Identifier: MIT */
/* arguments.c - the arguments of a call as plain JSON: lazaret says what JSON cannot in tagged
 * forms (lazaret/json.h), which a server does not know.
 *
 * Hostile code writes what it likes: what has the shape of a tagged form and is none is refused. So
 * is what becomes JSON with a repeated key, which people, log and server might read differently, or
 * what becomes much longer than it was (the names of a data frame stand in each row).
 * Side: host.  Input trusted: no (arguments of untrusted code, as far as the host has checked them
 * against the declaration: a parameter may take anything). */
#include "mcp_private.h"

#include <stdlib.h>
#include <string.h>

#define ARGUMENTS_MAX_DIGITS  40 /* of a number that is kept exactly */
#define ARGUMENTS_MAX_COLUMNS 1000

struct plain {
    const struct laz_json_api *json;
    struct laz_json_writer *writer;
    const char *problem; /* why it is refused */
};

static void plain_value(struct plain *plain, struct laz_json_reader *reader);

static bool plain_goes_on(const struct plain *plain)
{
    return !plain->problem && !plain->json->writer_failed(plain->writer);
}

static void plain_raw(struct plain *plain, struct mcp_raw value)
{
    struct laz_json_reader *reader =
        value.text ? plain->json->reader_new(value.text, value.len) : NULL;

    if (reader)
        plain_value(plain, reader);
    else
        plain->json->write_null(plain->writer);
    plain->json->reader_free(reader);
}

/* ---- tagged forms: each writes its content, or sets the problem ------------------------------ */

static void plain_bytes(struct plain *plain, struct mcp_raw content)
{
    const struct laz_json_api *json = plain->json;
    char *text = mcp_string(json, content);
    const size_t len = text ? strlen(text) : 0;
    void *bytes = text ? malloc(len / 4 * 3 + 1) : NULL;

    if (bytes && json->base64_decode(text, len, bytes) >= 0)
        json->write_string(plain->writer, text, len);
    else
        plain->problem = "malformed bytes";
    free(bytes);
    free(text);
}

/* What follows in a text after what looks like this, where 'd' stands for a digit; NULL: it does
 * not. */
static const char *plain_after(const char *text, const char *looks)
{
    for (; text && *looks; looks++, text++)
        if (*looks == 'd' ? *text < '0' || *text > '9' : *text != *looks)
            return NULL;
    return text;
}

static void plain_date(struct plain *plain, struct mcp_raw content)
{
    char *text = mcp_string(plain->json, content);
    const char *rest = plain_after(text, "dddd-dd-dd");

    if (rest && !*rest)
        plain->json->write_string(plain->writer, text, strlen(text));
    else
        plain->problem = "a malformed date";
    free(text);
}

static void plain_time(struct plain *plain, struct mcp_raw content)
{
    char *text = mcp_string(plain->json, content);
    const char *rest = plain_after(text, "dddd-dd-ddTdd:dd:dd"), *offset;

    if (rest && plain_after(rest, ".d"))
        rest += 1 + strspn(rest + 1, "0123456789");
    if (rest && ((offset = plain_after(rest, "Z")) || (offset = plain_after(rest, "+dd:dd")) ||
                 (offset = plain_after(rest, "-dd:dd"))))
        rest = offset;
    if (rest && !*rest)
        plain->json->write_string(plain->writer, text, strlen(text));
    else
        plain->problem = "a malformed time";
    free(text);
}

static void plain_integer(struct plain *plain, struct mcp_raw content)
{
    const char *digits = content.len > 2 && content.text[0] == '"' ? content.text + 1 : "";
    const size_t len = *digits ? content.len - 2 : 0;
    const size_t sign = len && digits[0] == '-';

    if (len == sign || len > ARGUMENTS_MAX_DIGITS || (digits[sign] == '0' && len > 1))
        plain->problem = "an integer that is malformed or too long";
    for (size_t i = sign; i < len; i++)
        if (digits[i] < '0' || digits[i] > '9')
            plain->problem = "a malformed integer";
    if (!plain->problem)
        plain->json->write_raw(plain->writer, digits, len);
}

static void plain_na(struct plain *plain, struct mcp_raw content)
{
    static const char *const kinds[] = {"logical", "integer", "double", "character"};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (mcp_is_text(plain->json, content, kinds[i])) {
            plain->json->write_null(plain->writer);
            return;
        }
    plain->problem = "a malformed NA";
}

/* Writes the values of a factor: its levels, and null. */
static void plain_factor(struct plain *plain, struct mcp_raw content)
{
    const struct laz_json_api *json = plain->json;
    const struct mcp_raw values = mcp_member(json, content, "values");
    struct laz_json_reader *reader = values.text ? json->reader_new(values.text, values.len) : NULL;
    struct laz_json_token token;
    uint32_t type = reader ? json->next(reader, &token) : LAZ_JSON_END;

    if (type != LAZ_JSON_ARRAY_BEGIN) {
        plain->problem = "a malformed factor";
        json->reader_free(reader);
        return;
    }
    json->array_begin(plain->writer);
    while ((type = json->next(reader, &token)) == LAZ_JSON_STRING || type == LAZ_JSON_NULL) {
        if (type == LAZ_JSON_NULL)
            json->write_null(plain->writer);
        else
            json->write_string(plain->writer, token.text, token.len);
    }
    json->array_end(plain->writer);
    if (type != LAZ_JSON_ARRAY_END)
        plain->problem = "a malformed factor";
    json->reader_free(reader);
}

static bool plain_pair(void *user, const char *key, struct mcp_raw item)
{
    struct plain *plain = user;
    const struct laz_json_api *json = plain->json;
    struct laz_json_reader *reader = json->reader_new(item.text, item.len);
    struct laz_json_token token;

    (void)key;
    if (reader && json->next(reader, &token) == LAZ_JSON_ARRAY_BEGIN &&
        json->next(reader, &token) == LAZ_JSON_STRING) {
        mcp_put_key(json, plain->writer, token.text);
        plain_value(plain, reader);
        if (!plain->problem && json->next(reader, &token) != LAZ_JSON_ARRAY_END)
            plain->problem = "a malformed map";
    } else {
        plain->problem = "a map with a key that is not a string, which JSON cannot say";
    }
    json->reader_free(reader);
    return plain_goes_on(plain);
}

static void plain_map(struct plain *plain, struct mcp_raw content)
{
    if (!content.text || content.text[0] != '[') {
        plain->problem = "a malformed map";
        return;
    }
    plain->json->object_begin(plain->writer);
    (void)mcp_each(plain->json, content, plain_pair, plain);
    plain->json->object_end(plain->writer);
}

static void plain_number(struct plain *plain, struct mcp_raw content)
{
    (void)content;
    plain->problem = "NaN or an infinite number, which JSON cannot say";
}

static void plain_complex(struct plain *plain, struct mcp_raw content)
{
    (void)content;
    plain->problem = "a complex number, which JSON cannot say";
}

/* ---- data frames ----------------------------------------------------------------------------- */

struct frame {
    struct plain *plain;
    char *names[ARGUMENTS_MAX_COLUMNS];
    struct laz_json_reader *columns[ARGUMENTS_MAX_COLUMNS];
    char *lists[ARGUMENTS_MAX_COLUMNS]; /* that were made of factors */
    size_t n, n_columns;
};

static bool frame_name(void *user, const char *key, struct mcp_raw item)
{
    struct frame *frame = user;

    (void)key;
    if (frame->n == ARGUMENTS_MAX_COLUMNS)
        return false;
    frame->names[frame->n] = mcp_string(frame->plain->json, item);
    return frame->names[frame->n++] != NULL;
}

/* A factor as a list, to be freed; NULL: it is none. */
static char *frame_factor(const struct laz_json_api *json, struct mcp_raw item, size_t *len)
{
    struct laz_json_reader *reader = json->reader_new(item.text, item.len);
    const char *tag = reader ? json->peek_tag(reader) : NULL;
    struct plain own = {.json = json};

    if (tag && strcmp(tag, "$factor") == 0 && (own.writer = json->writer_new(MCP_MAX_ARGUMENTS)))
        plain_factor(&own, mcp_member(json, item, "$factor"));
    json->reader_free(reader);
    char *list = own.writer ? mcp_take(json, own.writer, len) : NULL;
    if (own.problem) {
        free(list);
        list = NULL;
    }
    return list;
}

/* A column is a list, or a factor. */
static bool frame_column(void *user, const char *key, struct mcp_raw item)
{
    struct frame *frame = user;
    const struct laz_json_api *json = frame->plain->json;
    struct laz_json_token token;
    size_t len = 0;

    (void)key;
    if (frame->n_columns == frame->n)
        return false;
    char *list = item.text[0] == '{' ? frame_factor(json, item, &len) : NULL;
    struct laz_json_reader *reader =
        list ? json->reader_new(list, len) : json->reader_new(item.text, item.len);
    frame->lists[frame->n_columns] = list;
    frame->columns[frame->n_columns++] = reader;
    return reader && json->next(reader, &token) == LAZ_JSON_ARRAY_BEGIN;
}

static void frame_row(struct frame *frame)
{
    struct plain *plain = frame->plain;
    const struct laz_json_api *json = plain->json;

    json->object_begin(plain->writer);
    for (size_t i = 0; i < frame->n && plain_goes_on(plain); i++) {
        mcp_put_key(json, plain->writer, frame->names[i]);
        if (json->peek(frame->columns[i]) == LAZ_JSON_ARRAY_END)
            plain->problem = "a malformed data frame";
        else
            plain_value(plain, frame->columns[i]);
    }
    json->object_end(plain->writer);
}

/* Its names, and its columns, which stand before their first value. False: it is malformed. */
static bool frame_read(struct frame *frame, struct mcp_raw content, int64_t *rows)
{
    static const char *const members[] = {"names", "columns", "rows"};
    const struct laz_json_api *json = frame->plain->json;
    struct mcp_raw found[3];

    return mcp_members(json, content, members, found, 3) && found[0].text &&
           found[0].text[0] == '[' && found[1].text && found[1].text[0] == '[' && found[2].text &&
           mcp_integer(found[2], rows) && *rows >= 0 &&
           mcp_each(json, found[0], frame_name, frame) &&
           mcp_each(json, found[1], frame_column, frame) && frame->n_columns == frame->n;
}

/* A data frame is a list of rows. */
static void plain_frame(struct plain *plain, struct mcp_raw content)
{
    const struct laz_json_api *json = plain->json;
    struct frame *frame = calloc(1, sizeof *frame);
    int64_t rows = 0;

    if (!frame) {
        plain->problem = "a data frame for which there is no memory";
        return;
    }
    frame->plain = plain;
    if (!frame_read(frame, content, &rows))
        plain->problem = "a data frame that is malformed or has more than 1000 columns";
    json->array_begin(plain->writer);
    for (int64_t row = 0; row < rows && plain_goes_on(plain); row++)
        frame_row(frame);
    json->array_end(plain->writer);
    for (size_t i = 0; i < frame->n_columns; i++) {
        if (plain_goes_on(plain) && json->peek(frame->columns[i]) != LAZ_JSON_ARRAY_END)
            plain->problem = "a malformed data frame";
        json->reader_free(frame->columns[i]);
        free(frame->lists[i]);
    }
    for (size_t i = 0; i < frame->n; i++)
        free(frame->names[i]);
    free(frame);
}

/* ---- any value ------------------------------------------------------------------------------- */

static const struct {
    const char *tag;
    void (*write)(struct plain *plain, struct mcp_raw content);
} plain_tags[] = {
    {"$num", plain_number},      {"$int", plain_integer},   {"$bytes", plain_bytes},
    {"$date", plain_date},       {"$time", plain_time},     {"$na", plain_na},
    {"$complex", plain_complex}, {"$factor", plain_factor}, {"$frame", plain_frame},
    {"$map", plain_map},
};

static void plain_tagged(struct plain *plain, const char *tag, struct mcp_raw content)
{
    for (size_t i = 0; i < sizeof plain_tags / sizeof *plain_tags; i++)
        if (strcmp(plain_tags[i].tag, tag) == 0) {
            plain_tags[i].write(plain, content);
            return;
        }
    plain->problem = "an object that looks like a tagged form and is none";
}

static void plain_members(struct plain *plain, struct laz_json_reader *reader, uint32_t end)
{
    const struct laz_json_api *json = plain->json;
    struct laz_json_token token;

    json->next(reader, &token);
    (end == LAZ_JSON_OBJECT_END ? json->object_begin : json->array_begin)(plain->writer);
    while (plain_goes_on(plain) && json->peek(reader) != end &&
           json->peek(reader) != LAZ_JSON_END) {
        if (end == LAZ_JSON_OBJECT_END && json->next(reader, &token) == LAZ_JSON_KEY)
            mcp_put_key(json, plain->writer, token.text);
        plain_value(plain, reader);
    }
    json->next(reader, &token);
    (end == LAZ_JSON_OBJECT_END ? json->object_end : json->array_end)(plain->writer);
}

/* Reads the next value and writes it. Recursion is bounded by the 64 levels of scanned text. */
static void plain_value(struct plain *plain, struct laz_json_reader *reader)
{
    const struct laz_json_api *json = plain->json;
    const uint32_t type = json->peek(reader);
    const char *tag = type == LAZ_JSON_OBJECT_BEGIN ? json->peek_tag(reader) : NULL;
    struct mcp_raw value;

    if (!tag && type == LAZ_JSON_OBJECT_BEGIN) {
        plain_members(plain, reader, LAZ_JSON_OBJECT_END);
        return;
    }
    if (type == LAZ_JSON_ARRAY_BEGIN) {
        plain_members(plain, reader, LAZ_JSON_ARRAY_END);
        return;
    }
    char *name = tag ? strdup(tag) : NULL;
    if ((tag && !name) || !json->skip(reader, &value.text, &value.len))
        plain->problem = "a value that cannot be read";
    else if (tag)
        plain_tagged(plain, name, mcp_member(json, value, name));
    else
        json->write_raw(plain->writer, value.text, value.len);
    free(name);
}

/* ---- all of a call --------------------------------------------------------------------------- */

struct arguments {
    struct plain plain;
    const struct mcp_tool *tool;
};

static bool arguments_one(void *user, const char *key, struct mcp_raw item)
{
    struct arguments *arguments = user;
    const struct mcp_tool *tool = arguments->tool;

    for (size_t i = 0; i < tool->n_names; i++)
        if (strcmp(tool->names[i], key) == 0) {
            mcp_put_key(arguments->plain.json, arguments->plain.writer, tool->remote_names[i]);
            plain_raw(&arguments->plain, item);
        }
    return plain_goes_on(&arguments->plain);
}

/* Writes them to the writer of `arguments`, which may fail. */
static void arguments_write(struct arguments *arguments, struct mcp_raw all)
{
    struct plain *plain = &arguments->plain;
    const struct laz_json_api *json = plain->json;
    const bool is_whole = arguments->tool->is_whole;
    const struct mcp_raw whole = is_whole ? mcp_member(json, all, "arguments") : all;

    if (is_whole && whole.text) {
        plain_raw(plain, whole);
        return;
    }
    json->object_begin(plain->writer);
    (void)mcp_each(json, all, arguments_one, arguments);
    json->object_end(plain->writer);
}

int mcp_write_arguments(const struct laz_json_api *json, const struct mcp_tool *tool,
                        const char *args, size_t len, struct laz_json_writer *writer,
                        struct laz_error *err)
{
    struct arguments arguments = {.plain = {json, json->writer_new(MCP_MAX_ARGUMENTS), NULL},
                                  .tool = tool};
    struct plain *plain = &arguments.plain;
    struct laz_error why = {0};
    const char *text;
    size_t text_len = 0;
    bool too_large = false;
    int ret = 0;

    if (!plain->writer)
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    arguments_write(&arguments, (struct mcp_raw){args, len});
    text = json->writer_text(plain->writer, &text_len, &too_large);
    if (plain->problem)
        ret = laz_fail(err, LAZ_EINVAL, "Tool '%s': an argument contains %s", tool->name,
                       plain->problem);
    else if (!text)
        ret = too_large
                  ? laz_fail(err, LAZ_EINVAL,
                             "Tool '%s': the arguments have more than %zu bytes as plain JSON",
                             tool->name, MCP_MAX_ARGUMENTS)
                  : laz_fail(err, LAZ_ENOMEM, "out of memory");
    else if (text[0] != '{')
        ret = laz_fail(err, LAZ_EINVAL, "Tool '%s': the arguments are not object", tool->name);
    else if (json->scan(text, text_len, &why))
        ret = laz_fail(err, LAZ_EINVAL, "Tool '%s': as plain JSON the arguments are malformed: %s",
                       tool->name, why.text);
    else
        json->write_raw(writer, text, text_len);
    json->writer_free(plain->writer);
    if (!ret && json->writer_failed(writer))
        ret = laz_fail(err, LAZ_ENOMEM, "out of memory");
    return ret;
}
