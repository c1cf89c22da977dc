/* SPDX-License-Identifier: MIT */
/* json.c - an entry in a file of JSON, which may have comments and commas behind last items.
 * Side: host.  Input trusted: no (the file of a project may come from anybody).
 *
 * There is one operation: a value is put at a path of keys.  What is there is replaced; what is
 * missing is inserted behind the last member of the innermost object that exists, written as that
 * one is: on lines of its own with the same indentation, or on the same line.  A comma that it
 * needs goes right behind the last value, before a comment on that line. */
#include "edit/edit_private.h"

#include "base/json_text.h"
#include "base/json_write.h"
#include "base/jsonc.h"

#include <stdlib.h>
#include <string.h>

#define JSON_KEYS 3 /* table, entry, member */

/* How the file is laid out; points into its text. */
struct json_style {
    const char *newline;
    const char *unit; /* one step of indentation */
    size_t unit_len;
    const char *indent; /* of the line to which what is written belongs */
    size_t indent_len;
    bool one_line;
};

/* What is put: an entry with all members, or the value of one. */
struct json_what {
    const struct edit_member *members;
    size_t n; /* 0: the value of members[0] */
};

/* ---- writing --------------------------------------------------------------------------------- */

static void json_break(struct laz_buf *out, const struct json_style *style, size_t steps)
{
    laz_buf_puts(out, style->newline);
    laz_buf_append(out, style->indent, style->indent_len);
    while (steps--)
        laz_buf_append(out, style->unit, style->unit_len);
}

/* Before a member of an object that is written: the nth. */
static void json_next(struct laz_buf *out, const struct json_style *style, size_t steps, size_t nth)
{
    if (nth)
        laz_buf_puts(out, style->one_line ? ", " : ",");
    if (!style->one_line)
        json_break(out, style, steps);
}

static void json_key(struct laz_buf *out, const char *key)
{
    laz_json_quote(out, key, strlen(key));
    laz_buf_puts(out, ": ");
}

/* Writes the value, within objects of the keys that are left. */
static void json_write(struct laz_buf *out, const struct json_style *style, size_t steps,
                       const char *const *keys, size_t n_keys, const struct json_what *what)
{
    const size_t n = n_keys ? 1 : what->n;

    if (!n) {
        edit_value(out, &what->members[0], laz_json_quote);
        return;
    }
    laz_buf_putc(out, '{');
    for (size_t i = 0; i < n; i++) {
        json_next(out, style, steps + 1, i);
        json_key(out, n_keys ? keys[0] : what->members[i].name);
        if (n_keys)
            json_write(out, style, steps + 1, keys + 1, n_keys - 1, what);
        else
            edit_value(out, &what->members[i], laz_json_quote);
    }
    if (!style->one_line)
        json_break(out, style, steps);
    laz_buf_putc(out, '}');
}

/* ---- where it is put ------------------------------------------------------------------------- */

static bool json_begins_line(const struct laz_buf *text, size_t at)
{
    return edit_indent(text, at) == at;
}

static bool json_has_newline(const struct laz_buf *text, size_t from, size_t to)
{
    return memchr(text->data + from, '\n', to - from) != NULL;
}

static void json_indent_as(struct json_style *style, const struct laz_buf *text, size_t at)
{
    size_t line = edit_line(text, at);

    style->indent = text->data ? text->data + line : "";
    style->indent_len = edit_indent(text, at) - line;
}

static struct json_style json_style(const struct laz_buf *text, const struct laz_jsonc_place *root)
{
    struct json_style style = {
        .newline = edit_newline(text), .unit = "  ", .unit_len = 2, .indent = ""};

    if (root->is_object && root->n && json_begins_line(text, root->last_key)) {
        size_t line = edit_line(text, root->last_key);
        if (root->last_key > line) {
            style.unit = text->data + line;
            style.unit_len = root->last_key - line;
        }
    }
    return style;
}

/* Into an object without members. */
static bool json_insert_first(struct laz_buf *text, struct json_style *style,
                              const struct laz_jsonc_place *object, const char *const *keys,
                              size_t n_keys, const struct json_what *what)
{
    struct laz_buf with = LAZ_BUF_INIT;
    size_t at = object->comments_to ? object->comments_to : object->from + 1;
    const bool closes_line = !json_has_newline(text, at, object->to - 1);

    if (closes_line)
        at = object->to - 1;
    json_indent_as(style, text, object->from);
    json_break(&with, style, 1);
    json_key(&with, keys[0]);
    json_write(&with, style, 1, keys + 1, n_keys - 1, what);
    if (closes_line)
        json_break(&with, style, 0);
    return edit_splice(text, at, at, &with);
}

/* Behind the last member of an object. */
static bool json_insert_last(struct laz_buf *text, struct json_style *style,
                             const struct laz_jsonc_place *object, const char *const *keys,
                             size_t n_keys, const struct json_what *what)
{
    struct laz_buf with = LAZ_BUF_INIT;
    const size_t from = object->comma_to ? object->comma_to : object->last_to;
    size_t to = from, line_end = edit_line_end(text, from);

    style->one_line = !json_begins_line(text, object->last_key);
    if (!object->comma_to)
        laz_buf_putc(&with, ',');
    if (style->one_line) {
        laz_buf_putc(&with, ' ');
    } else {
        laz_jsonc_gap(text->data, line_end < object->to ? line_end : object->to, from, &to);
        laz_buf_append(&with, text->data + from, to - from);
        json_indent_as(style, text, object->last_key);
        json_break(&with, style, 0);
    }
    json_key(&with, keys[0]);
    json_write(&with, style, 0, keys + 1, n_keys - 1, what);
    if (object->comma_to)
        laz_buf_putc(&with, ',');
    return edit_splice(text, from, to, &with);
}

/* The whole, into a text that has no value yet. */
static bool json_insert_root(struct laz_buf *text, struct json_style *style,
                             const char *const *keys, size_t n_keys, const struct json_what *what)
{
    struct laz_buf with = LAZ_BUF_INIT;

    if (edit_line(text, text->len) != text->len)
        laz_buf_puts(&with, style->newline);
    json_write(&with, style, 0, keys, n_keys, what);
    laz_buf_puts(&with, style->newline);
    return edit_splice(text, text->len, text->len, &with);
}

static bool json_replace(struct laz_buf *text, struct json_style *style,
                         const struct laz_jsonc_place *place, const struct json_what *what)
{
    struct laz_buf with = LAZ_BUF_INIT;

    style->one_line =
        !json_begins_line(text, place->key) && !json_has_newline(text, place->from, place->to);
    json_indent_as(style, text, place->key);
    json_write(&with, style, 0, NULL, 0, what);
    return edit_splice(text, place->from, place->to, &with);
}

static int json_no_object(const struct laz_buf *text, const struct laz_jsonc_place *place,
                          const char *key, struct laz_error *err)
{
    unsigned line, column;

    laz_jsonc_position(text->data, place->from, &line, &column);
    return laz_error_set(err, LAZ_EPARSE, 0, "%u:%u: %s%s has to be an object in braces", line,
                         column, key ? "the value of " : "the outermost value", key ? key : "");
}

static int json_put(struct laz_buf *text, const char *const *path, size_t n,
                    const struct json_what *what, struct laz_error *err)
{
    struct laz_jsonc_place places[JSON_KEYS + 1];
    size_t level = 0;
    bool done;

    int rc = laz_jsonc_find(laz_buf_text(text), text->len, path, n, places, err);
    if (rc)
        return rc;
    struct json_style style = json_style(text, &places[0]);
    while (level < n && places[level].found && places[level + 1].found)
        level++;
    if (places[level].found && level < n && !places[level].is_object)
        return json_no_object(text, &places[level], level ? path[level - 1] : NULL, err);
    if (!places[0].found)
        done = json_insert_root(text, &style, path, n, what);
    else if (level == n)
        done = json_replace(text, &style, &places[n], what);
    else if (places[level].n)
        done = json_insert_last(text, &style, &places[level], path + level, n - level, what);
    else
        done = json_insert_first(text, &style, &places[level], path + level, n - level, what);
    return done ? 0 : laz_error_nomem(err);
}

/* ---- what is there --------------------------------------------------------------------------- */

static bool json_is_text(const char *raw, size_t len, const char *text)
{
    size_t n = 0;
    char *found = laz_json_to_string(raw, len, &n);
    bool is = found && n == strlen(text) && memcmp(found, text, n) == 0;

    free(found);
    return is;
}

static bool json_is_texts(const char *raw, size_t len, const struct laz_strv *texts)
{
    struct laz_json_items items = laz_json_items(raw, len);
    const char *item;
    size_t n = 0, item_len;

    while (laz_json_next_item(&items, &item, &item_len)) {
        if (n == texts->n || !json_is_text(item, item_len, texts->items[n]))
            return false;
        n++;
    }
    return !items.failed && n == texts->n;
}

/* Is it this text, in a file that is checked? */
static bool json_holds(const struct laz_buf *text, const struct laz_jsonc_place *place,
                       const struct edit_member *member)
{
    struct laz_buf plain = LAZ_BUF_INIT;
    bool holds = place->found && member->stays;

    if (!place->found || holds)
        return holds;
    laz_jsonc_plain(&plain, text->data + place->from, place->to - place->from);
    if (!plain.failed && member->text)
        holds = json_is_text(laz_buf_text(&plain), plain.len, member->text);
    else if (!plain.failed && member->texts)
        holds = json_is_texts(laz_buf_text(&plain), plain.len, member->texts);
    laz_buf_fini(&plain);
    return holds;
}

/* A member of the entry. */
static int json_member(const struct laz_edit_client *client, const struct laz_buf *text,
                       const char *name, struct laz_jsonc_place places[JSON_KEYS + 1],
                       struct laz_error *err)
{
    const char *const path[JSON_KEYS] = {client->table, LAZ_EDIT_NAME, name};

    return laz_jsonc_find(laz_buf_text(text), text->len, path, JSON_KEYS, places, err);
}

/* Does the entry that is there start a program? What else it says then is kept. */
static int json_starts(const struct laz_edit_client *client, const struct laz_buf *text,
                       bool *starts, struct laz_error *err)
{
    struct laz_jsonc_place command[JSON_KEYS + 1], type[JSON_KEYS + 1];
    const struct edit_member stdio = {.text = "stdio"};

    int rc = json_member(client, text, "command", command, err);
    if (!rc)
        rc = json_member(client, text, "type", type, err);
    if (!rc)
        *starts = command[JSON_KEYS].found && text->data[command[JSON_KEYS].from] == '"' &&
                  (!type[JSON_KEYS].found || json_holds(text, &type[JSON_KEYS], &stdio));
    return rc;
}

int edit_json(const struct laz_edit_client *client, const struct edit_member *members, size_t n,
              struct laz_buf *text, struct laz_error *err)
{
    const char *path[JSON_KEYS] = {client->table, LAZ_EDIT_NAME};
    struct laz_jsonc_place places[JSON_KEYS + 1];
    bool starts = false;

    int rc = json_starts(client, text, &starts, err);
    if (!rc && !starts)
        rc = json_put(text, path, 2, &(struct json_what){members, n}, err);
    for (size_t i = 0; i < n && !rc; i++) {
        path[2] = members[i].name;
        rc = json_member(client, text, members[i].name, places, err);
        if (!rc && !json_holds(text, &places[JSON_KEYS], &members[i]))
            rc = json_put(text, path, JSON_KEYS, &(struct json_what){&members[i], 0}, err);
        if (!rc)
            rc = json_member(client, text, members[i].name, places, err);
        if (!rc && !json_holds(text, &places[JSON_KEYS], &members[i]))
            rc = laz_error_set(err, LAZ_EPARSE, 0,
                               "1:1: the entry cannot be put into this file (please report this)");
    }
    return rc;
}
