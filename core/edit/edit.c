/* SPDX-License-Identifier: MIT */
/* edit.c - one edit of a text, and what the editors of both forms need of lines. */
#include "edit/edit.h"

#include "base/utf8.h"
#include "edit/edit_private.h"

#include <string.h>

void edit_value(struct laz_buf *out, const struct edit_member *member,
                void (*quote)(struct laz_buf *out, const char *text, size_t len))
{
    const struct laz_strv *texts = member->texts;

    if (member->text) {
        quote(out, member->text, strlen(member->text));
    } else if (texts) {
        laz_buf_putc(out, '[');
        for (size_t i = 0; i < texts->n; i++) {
            laz_buf_puts(out, i ? ", " : "");
            quote(out, texts->items[i], strlen(texts->items[i]));
        }
        laz_buf_putc(out, ']');
    } else {
        laz_buf_printf(out, "%lld", (long long)member->number);
    }
}

bool edit_splice(struct laz_buf *text, size_t from, size_t to, struct laz_buf *with)
{
    const size_t rest = text->len - to;

    if (with->failed || !laz_buf_reserve(text, with->len))
        return false;
    if (text->data) {
        memmove(text->data + from + with->len, text->data + to, rest);
        if (with->len)
            memcpy(text->data + from, with->data, with->len);
        text->len = from + with->len + rest;
        text->data[text->len] = '\0';
    }
    laz_buf_fini(with);
    return true;
}

const char *edit_newline(const struct laz_buf *text)
{
    const char *end = text->len ? memchr(text->data, '\n', text->len) : NULL;

    return end && end > text->data && end[-1] == '\r' ? "\r\n" : "\n";
}

size_t edit_line(const struct laz_buf *text, size_t at)
{
    const size_t first = text->len >= 3 && memcmp(text->data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

    while (at > first && text->data[at - 1] != '\n')
        at--;
    return at;
}

size_t edit_indent(const struct laz_buf *text, size_t at)
{
    size_t end = edit_line(text, at);

    while (end < at && (text->data[end] == ' ' || text->data[end] == '\t'))
        end++;
    return end;
}

size_t edit_line_end(const struct laz_buf *text, size_t at)
{
    const char *end = at < text->len ? memchr(text->data + at, '\n', text->len - at) : NULL;
    size_t to = end ? (size_t)(end - text->data) : text->len;

    return end && to > at && text->data[to - 1] == '\r' ? to - 1 : to;
}

/* A text of the entry that the file cannot hold would be written as another one. */
static int edit_check(const struct laz_edit_program *program, struct laz_error *err)
{
    for (size_t i = 0; i <= program->args->n; i++) {
        const char *text = i ? program->args->items[i - 1] : program->command;
        if (!laz_utf8_is_valid(text, strlen(text)))
            return laz_error_set(err, LAZ_EINVAL, 0,
                                 "'%s' is not UTF-8: a file of configuration cannot hold it", text);
    }
    return 0;
}

/* The members of the entry, in order; returns how many. */
static size_t edit_members(const struct laz_edit_client *client,
                           const struct laz_edit_program *program,
                           struct edit_member members[EDIT_MEMBERS])
{
    size_t n = 0;

    if (client->type)
        members[n++] = (struct edit_member){.name = "type", .text = client->type};
    members[n++] = (struct edit_member){.name = "command", .text = program->command};
    members[n++] = (struct edit_member){.name = "args", .texts = program->args};
    if (client->timeout_s)
        members[n++] = (struct edit_member){
            .name = "tool_timeout_sec", .number = client->timeout_s, .stays = true};
    return n;
}

int laz_edit_text(const struct laz_edit_client *client, const struct laz_edit_program *program,
                  const char *text, size_t len, struct laz_buf *out, struct laz_error *err)
{
    struct edit_member members[EDIT_MEMBERS];
    struct laz_buf edited = LAZ_BUF_INIT;
    const size_t n = edit_members(client, program, members);
    int rc = edit_check(program, err);

    if (!rc && len > LAZ_EDIT_MAX_SIZE)
        rc = laz_error_set(err, LAZ_ETOOBIG, 0, "the text is larger than %zu KiB",
                           LAZ_EDIT_MAX_SIZE / 1024);
    laz_buf_append(&edited, text, len);
    if (!rc && edited.failed)
        rc = laz_error_nomem(err);
    if (!rc)
        rc = (client->form == LAZ_EDIT_JSON ? edit_json : edit_toml)(client, members, n, &edited,
                                                                     err);
    if (!rc)
        laz_buf_append(out, laz_buf_text(&edited), edited.len);
    if (!rc && (edited.failed || out->failed))
        rc = laz_error_nomem(err);
    laz_buf_fini(&edited);
    return rc;
}
