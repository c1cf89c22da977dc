/* SPDX-License-Identifier: MIT */
/* fuzz_edit.c - an entry in any file of a client: the first byte selects the client.
 *
 * What is written can be read again and is then left as it is; where there was no entry, nothing of
 * the file is missing, and nothing has another order; what a reader finds without the entry is what
 * it found before.  A refusal has a place and a reason in one line of UTF-8. */
#include "base/jsonc.h"
#include "base/json.h"
#include "base/utf8.h"
#include "edit/edit.h"
#include "settings/toml/toml.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

/* Are all bytes of `part` in `whole`, in this order? */
static bool is_within(const char *part, size_t n, const char *whole, size_t len)
{
    size_t i = 0;

    for (size_t j = 0; i < n && j < len; j++)
        i += part[i] == whole[j];
    return i == n;
}

/* ---- what a reader finds, without the entry ---------------------------------------------------
 */

static void add_toml(struct laz_buf *out, const struct laz_toml_node *table, const char *without,
                     const char *then)
{
    for (const struct laz_toml_node *child = table->first; child; child = child->next) {
        bool is_it = without && child->key_len == strlen(without) &&
                     memcmp(child->key, without, child->key_len) == 0;
        if (is_it && !then)
            continue;
        /* the table that holds the entry is there afterwards in any case */
        if (is_it && child->type == LAZ_TOML_TABLE) {
            add_toml(out, child, then, NULL);
            continue;
        }
        laz_toml_format_key(out, child->key, child->key_len);
        laz_buf_putc(out, '=');
        laz_toml_format(out, child);
        laz_buf_putc(out, '\n');
    }
}

static struct laz_buf found_in_toml(const struct laz_edit_client *client, const char *text,
                                    size_t len)
{
    struct laz_buf out = LAZ_BUF_INIT;
    struct laz_toml *toml = NULL;

    check(laz_toml_parse(text, len, "", &toml, NULL) == 0);
    add_toml(&out, toml->root, client->table, LAZ_EDIT_NAME);
    laz_toml_free(toml);
    return out;
}

/* Drops bytes of a text, and the comma before or else behind them. */
static void drop(struct laz_buf *text, size_t from, size_t to)
{
    while (from && isspace((unsigned char)text->data[from - 1]))
        from--;
    if (from && text->data[from - 1] == ',')
        from--;
    else if (text->data[to] == ',')
        to++;
    memmove(text->data + from, text->data + to, text->len - to + 1);
    text->len -= to - from;
}

/* Without the member that this path leads to. */
static void drop_member(struct laz_buf *text, const char *const *path, size_t n, bool if_empty)
{
    struct laz_jsonc_place places[3];

    check(laz_jsonc_find(laz_buf_text(text), text->len, path, n, places, NULL) == 0);
    if (places[n].found && !(if_empty && (places[n].n || !places[n].is_object)))
        drop(text, places[n].key, places[n].to);
}

static struct laz_buf found_in_json(const struct laz_edit_client *client, const char *text,
                                    size_t len)
{
    const char *const path[] = {client->table, LAZ_EDIT_NAME};
    struct laz_buf plain = LAZ_BUF_INIT;
    size_t mark = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

    laz_jsonc_plain(&plain, text + mark, len - mark);
    drop_member(&plain, path, 2, false);
    drop_member(&plain, path, 1, true);
    if (!plain.len)
        laz_buf_puts(&plain, "{}");
    return plain;
}

/* ---- one input ------------------------------------------------------------------------------- */

static bool has_entry(const struct laz_edit_client *client, const char *text, size_t len)
{
    const char *const path[] = {client->table, LAZ_EDIT_NAME};
    struct laz_jsonc_place places[3];
    struct laz_toml *toml = NULL;
    bool has;

    if (client->form == LAZ_EDIT_JSON)
        return laz_jsonc_find(text, len, path, 2, places, NULL) == 0 && places[2].found;
    check(laz_toml_parse(text, len, "", &toml, NULL) == 0);
    has = laz_toml_get(laz_toml_get(toml->root, client->table), LAZ_EDIT_NAME) != NULL;
    laz_toml_free(toml);
    return has;
}

static void check_edit(const struct laz_edit_client *client, const struct laz_edit_program *program,
                       const char *text, size_t len)
{
    struct laz_buf once = LAZ_BUF_INIT, twice = LAZ_BUF_INIT, diff = LAZ_BUF_INIT;
    struct laz_buf before = LAZ_BUF_INIT;
    struct laz_error err = {0};

    int rc = laz_edit_text(client, program, text, len, &once, &err);
    if (rc) {
        check(!once.len && *err.text && !strchr(err.text, '\n') &&
              laz_utf8_is_valid(err.text, strlen(err.text)));
        check(rc != LAZ_EPARSE || strchr(err.text, ':'));
    } else {
        check(laz_edit_text(client, program, once.data, once.len, &twice, &err) == 0);
        check(once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0);
        check(has_entry(client, once.data, once.len));
        struct laz_buf (*found)(const struct laz_edit_client *, const char *, size_t) =
            client->form == LAZ_EDIT_JSON ? found_in_json : found_in_toml;
        struct laz_buf was = found(client, text, len), is = found(client, once.data, once.len);
        check(was.len == is.len && memcmp(laz_buf_text(&was), laz_buf_text(&is), is.len) == 0);
        if (!has_entry(client, text, len))
            check(is_within(text, len, once.data, once.len));
        laz_buf_fini(&was);
        laz_buf_fini(&is);
        laz_buf_append(&before, text, len);
        laz_edit_diff(&diff, "file", &before, &once);
        check(!diff.failed && laz_utf8_is_valid(laz_buf_text(&diff), diff.len));
    }
    laz_buf_fini(&once);
    laz_buf_fini(&twice);
    laz_buf_fini(&diff);
    laz_buf_fini(&before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct laz_strv args = LAZ_STRV_INIT;
    const struct laz_edit_program program = {"/usr/bin/lazaret", &args};
    size_t n = 0;

    while (laz_edit_clients[n].name)
        n++;
    laz_strv_add(&args, "mcp");
    laz_strv_add(&args, "--config=\"a\\b\"");
    char *text = malloc(size + 1);
    if (text && size) {
        memcpy(text, data + 1, size - 1);
        text[size - 1] = '\0';
        check_edit(&laz_edit_clients[data[0] % n], &program, text, size - 1);
    }
    free(text);
    laz_strv_fini(&args);
    return 0;
}
