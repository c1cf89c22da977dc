/* SPDX-License-Identifier: MIT */
/* toml.c - an entry in a file of TOML.
 * Side: host.  Input trusted: no.
 *
 * The reader of lazaret's own configuration says where each value stands.  A value is replaced
 * where it is; a member that is missing goes behind "command", with the same prefix (the
 * indentation, or the first parts of a dotted key); an entry that is missing becomes a table at the
 * end.  What was written is read again: where TOML does not allow it (the table of servers is a
 * list, say), the file is refused. */
#include "edit/edit_private.h"

#include "settings/toml/toml.h"

#include <string.h>

struct toml_edit {
    const struct laz_edit_client *client;
    const struct edit_member *members;
    size_t n;
    struct laz_buf *text;
    struct laz_toml *toml; /* of the text as it is now */
    const struct laz_toml_node *servers, *entry;
};

/* ---- reading --------------------------------------------------------------------------------- */

static int toml_wrong(const struct laz_toml_node *at, struct laz_error *err, const char *what)
{
    return laz_error_set(err, LAZ_EPARSE, 0, "%u:%u: %s", (unsigned)(at ? at->line : 1),
                         (unsigned)(at ? at->column : 1), what);
}

static int toml_read(struct toml_edit *edit, struct laz_error *err)
{
    laz_toml_free(edit->toml);
    int rc = laz_toml_parse(laz_buf_text(edit->text), edit->text->len, "", &edit->toml, err);
    if (rc && edit->toml && edit->toml->n_problems) {
        const struct laz_toml_problem *problem = &edit->toml->problems[0];
        rc = laz_error_set(err, LAZ_EPARSE, 0, "%u:%u: %s", (unsigned)problem->line,
                           (unsigned)problem->column, problem->text);
    }
    if (rc)
        return rc;
    edit->servers = laz_toml_get(edit->toml->root, edit->client->table);
    if (edit->servers && edit->servers->type != LAZ_TOML_TABLE)
        return toml_wrong(edit->servers, err, "the servers have to be a table");
    edit->entry = edit->servers ? laz_toml_get(edit->servers, LAZ_EDIT_NAME) : NULL;
    return 0;
}

static bool toml_holds(const struct laz_toml_node *node, const struct edit_member *member)
{
    size_t n = 0;

    if (!node || member->stays)
        return node != NULL;
    if (member->text)
        return laz_toml_is(node, member->text);
    if (node->type != LAZ_TOML_ARRAY || node->n != member->texts->n)
        return false;
    for (const struct laz_toml_node *item = node->first; item; item = item->next)
        if (!laz_toml_is(item, member->texts->items[n++]))
            return false;
    return true;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void toml_pair(struct laz_buf *out, const struct edit_member *member)
{
    laz_buf_printf(out, "%s = ", member->name);
    edit_value(out, member, laz_toml_format_string);
}

static void toml_inline(struct laz_buf *out, const struct toml_edit *edit)
{
    for (size_t i = 0; i < edit->n; i++) {
        laz_buf_puts(out, i ? ", " : "{ ");
        toml_pair(out, &edit->members[i]);
    }
    laz_buf_puts(out, " }");
}

/* A table at the end of the file. */
static bool toml_append_table(struct toml_edit *edit)
{
    struct laz_buf with = LAZ_BUF_INIT;
    const char *newline = edit_newline(edit->text);
    const size_t end = edit->text->len;

    if (edit_line(edit->text, end) != end)
        laz_buf_puts(&with, newline);
    if (edit_line(edit->text, 0) < end)
        laz_buf_puts(&with, newline);
    laz_buf_printf(&with, "[%s.%s]%s", edit->client->table, LAZ_EDIT_NAME, newline);
    for (size_t i = 0; i < edit->n; i++) {
        toml_pair(&with, &edit->members[i]);
        laz_buf_puts(&with, newline);
    }
    return edit_splice(edit->text, end, end, &with);
}

/* Into the table of servers, which is written in braces. */
static bool toml_insert_inline(struct toml_edit *edit)
{
    const struct laz_toml_node *last = edit->servers->last;
    struct laz_buf with = LAZ_BUF_INIT;
    size_t at = edit->servers->from + 1;

    while (last && laz_toml_made(last) == LAZ_TOML_DOTTED)
        last = last->last;
    if (last) {
        at = last->to;
        laz_buf_puts(&with, ",");
    }
    laz_buf_printf(&with, " %s = ", LAZ_EDIT_NAME);
    toml_inline(&with, edit);
    laz_buf_puts(&with, last ? "" : " ");
    return edit_splice(edit->text, at, at, &with);
}

/* The end of the last value in a table that is not below another header; 0: a header is in it. */
static size_t toml_end(const struct laz_toml_node *table)
{
    size_t end = table->to;

    for (const struct laz_toml_node *child = table->first; child; child = child->next) {
        bool is_dotted = laz_toml_made(child) == LAZ_TOML_DOTTED;
        size_t to = laz_toml_made(child) == LAZ_TOML_WRITTEN ? child->to
                    : is_dotted                              ? toml_end(child)
                                                             : 0;
        if (!to)
            return 0;
        end = to > end ? to : end;
    }
    return end;
}

/* The entry starts no program: in its place. */
static int toml_replace(struct toml_edit *edit, struct laz_error *err)
{
    const struct laz_toml_node *entry = edit->entry;
    const enum laz_toml_made made = laz_toml_made(entry);
    const size_t to =
        made == LAZ_TOML_HEADED && entry->type == LAZ_TOML_TABLE ? toml_end(entry) : 0;
    struct laz_buf with = LAZ_BUF_INIT;

    if (made == LAZ_TOML_WRITTEN) {
        toml_inline(&with, edit);
        return edit_splice(edit->text, entry->from, entry->to, &with) ? 0 : laz_error_nomem(err);
    }
    if (!to)
        return toml_wrong(entry, err,
                          "this entry of lazaret starts no program; remove it, and try again");
    for (size_t i = 0; i < edit->n; i++) {
        laz_buf_puts(&with, edit_newline(edit->text));
        toml_pair(&with, &edit->members[i]);
    }
    return edit_splice(edit->text, entry->to, to, &with) ? 0 : laz_error_nomem(err);
}

/* Behind "command", which is there. */
static bool toml_insert_member(struct toml_edit *edit, const struct edit_member *member)
{
    const struct laz_toml_node *command = laz_toml_get(edit->entry, "command");
    const bool in_braces = laz_toml_made(edit->entry) == LAZ_TOML_WRITTEN;
    const size_t line = edit_line(edit->text, command->key_from);
    size_t at = in_braces ? command->to : edit_line_end(edit->text, command->to);
    struct laz_buf with = LAZ_BUF_INIT;

    if (in_braces) {
        laz_buf_puts(&with, ", ");
    } else {
        laz_buf_puts(&with, edit_newline(edit->text));
        laz_buf_append(&with, edit->text->data + line, command->key_from - line);
    }
    toml_pair(&with, member);
    return edit_splice(edit->text, at, at, &with);
}

static int toml_member(struct toml_edit *edit, const struct edit_member *member,
                       struct laz_error *err)
{
    const struct laz_toml_node *node = laz_toml_get(edit->entry, member->name);
    struct laz_buf with = LAZ_BUF_INIT;
    bool done;

    if (toml_holds(node, member))
        return 0;
    if (node && laz_toml_made(node) != LAZ_TOML_WRITTEN)
        return toml_wrong(node, err, "this member of the entry of lazaret has to be a value");
    if (node) {
        edit_value(&with, member, laz_toml_format_string);
        done = edit_splice(edit->text, node->from, node->to, &with);
    } else {
        done = toml_insert_member(edit, member);
    }
    return done ? toml_read(edit, err) : laz_error_nomem(err);
}

/* Makes an entry that starts a program, unless there is one. */
static int toml_entry(struct toml_edit *edit, struct laz_error *err)
{
    const struct laz_toml_node *command = edit->entry ? laz_toml_get(edit->entry, "command") : NULL;
    bool done = true;
    int rc = 0;

    if (command && command->type == LAZ_TOML_STRING)
        return 0;
    if (edit->entry &&
        !(edit->entry->type == LAZ_TOML_TABLE && laz_toml_made(edit->entry) == LAZ_TOML_IMPLIED))
        rc = toml_replace(edit, err);
    else if (edit->servers && laz_toml_made(edit->servers) == LAZ_TOML_WRITTEN)
        done = toml_insert_inline(edit);
    else
        done = toml_append_table(edit);
    if (!done)
        rc = laz_error_nomem(err);
    return rc ? rc : toml_read(edit, err);
}

int edit_toml(const struct laz_edit_client *client, const struct edit_member *members, size_t n,
              struct laz_buf *text, struct laz_error *err)
{
    struct toml_edit edit = {.client = client, .members = members, .n = n, .text = text};

    int rc = toml_read(&edit, err);
    const bool is_read = !rc;
    if (!rc)
        rc = toml_entry(&edit, err);
    for (size_t i = 0; i < n && !rc; i++)
        rc = toml_member(&edit, &members[i], err);
    for (size_t i = 0; i < n && !rc; i++)
        if (!edit.entry || !toml_holds(laz_toml_get(edit.entry, members[i].name), &members[i]))
            rc = toml_wrong(edit.entry, err, "the entry did not become what it should be");
    if (rc && is_read && rc != LAZ_ENOMEM)
        laz_error_prefix(err, "an entry cannot be put here; write it by hand: ");
    laz_toml_free(edit.toml);
    return rc;
}
