/* SPDX-License-Identifier: MIT */
/* settings_mistakes.c - says where a setting was written that turns out to be wrong when it is
 * used, and collects such mistakes where all of them are wanted (`lazaret config --check`).
 *
 * The checks are those of the rooms that use the settings: each calls laz_settings_wrong with its
 * error.  So one implementation refuses a session at its first mistake and lists them all. */
#include "settings/schema.h"

#include "base/json_write.h"
#include "os/paths.h"

#include <stdlib.h>
#include <string.h>

/* The value of a key of the schema, or the table of a plugin ("runtime.lua"); NULL: not set. */
static const struct laz_toml_node *mistakes_node(const struct laz_settings *settings,
                                                 const char *key)
{
    for (size_t i = 0; i < laz_schema_count(); i++)
        if (strcmp(laz_schema[i].key, key) == 0)
            return settings->nodes.keys[i];
    if (strcmp(key, laz_schema_secrets.key) == 0)
        return settings->nodes.secrets;
    for (size_t i = 0; i < settings->nodes.n_tables; i++) {
        const struct settings_table *table = &settings->nodes.tables[i];
        size_t len = strlen(table->section);
        if (strncmp(key, table->section, len) == 0 && key[len] == '.' &&
            strcmp(key + len + 1, table->node->key) == 0)
            return table->node;
    }
    return NULL;
}

/* Is the value the item: a text, a number by its digits, a table by its JSON? */
static bool mistakes_is_item(const struct laz_toml_node *node, const char *item)
{
    struct laz_buf json = LAZ_BUF_INIT;
    struct laz_json_write write = {.to = &json};

    if (node->type == LAZ_TOML_STRING)
        return strcmp(node->text, item) == 0;
    if (node->type != LAZ_TOML_INTEGER && node->type != LAZ_TOML_TABLE)
        return false;
    laz_toml_json(&write, NULL, node);
    const bool is_item = strcmp(laz_buf_text(&json), item) == 0;
    laz_buf_fini(&json);
    return is_item;
}

/* The first value or key inside that is `item`; recursion is bounded by the depth of a document. */
static const struct laz_toml_node *mistakes_item(const struct laz_toml_node *node, const char *item)
{
    if ((node->key && strcmp(node->key, item) == 0) || mistakes_is_item(node, item))
        return node;
    if (node->type != LAZ_TOML_TABLE && node->type != LAZ_TOML_ARRAY)
        return NULL;
    for (const struct laz_toml_node *child = node->first; child; child = child->next) {
        const struct laz_toml_node *found = mistakes_item(child, item);
        if (found)
            return found;
    }
    return NULL;
}

bool laz_settings_place(const struct laz_settings_values *values, const char *key, const char *item,
                        struct laz_error *err)
{
    const struct laz_toml_node *node =
        values->settings ? mistakes_node(values->settings, key) : NULL;
    const struct laz_toml_node *found = node && item ? mistakes_item(node, item) : NULL;

    if (!node || laz_settings_is_default(node))
        return false;
    laz_settings_locate(found ? found : node, err);
    return true;
}

void laz_settings_blame(const struct laz_settings_values *values, const char *key, const char *item,
                        struct laz_error *err)
{
    if (err && !strstr(err->text, key))
        laz_error_prefix(err, "%s: ", key);
    laz_settings_place(values, key, item, err);
}

int laz_settings_wrong(const struct laz_settings_values *values, const char *key, const char *item,
                       int rc, struct laz_error *err)
{
    struct laz_mistakes *mistakes = values->mistakes;

    if (!rc)
        return 0;
    if (key)
        laz_settings_blame(values, key, item, err);
    if (!mistakes || !err || laz_error_is_shortage(err))
        return rc;
    if (!laz_strv_has(&mistakes->texts, err->text))
        laz_strv_add(&mistakes->texts, err->text);
    if (mistakes->texts.failed)
        return laz_error_nomem(err);
    if (!mistakes->code)
        mistakes->code = rc;
    *err = (struct laz_error){0};
    return 0;
}

void laz_settings_collect(struct laz_settings *settings, struct laz_mistakes *mistakes)
{
    settings->values.mistakes = mistakes;
}

/* ---- messages taken apart ---------------------------------------------------------------------*/

/* Reads ":LINE:COL", or (`column` NULL) ":LINE" behind a file whose lines are whole records, and
 * what ends a place, ": ". NULL: something else stands there. */
static const char *mistake_numbers(const char *at, unsigned *line, unsigned *column)
{
    unsigned numbers[2];
    char *end = NULL;

    for (int i = 0; i < (column ? 2 : 1); i++) {
        if (at[0] != ':' || at[1] < '1' || at[1] > '9')
            return NULL;
        numbers[i] = (unsigned)strtoul(at + 1, &end, 10);
        at = end;
    }
    if (strncmp(at, ": ", 2) != 0)
        return NULL;
    *line = numbers[0];
    if (column)
        *column = numbers[1];
    return at + 2;
}

/* A file of that many bytes, alone or with line and column. Returns the text behind the place, or
 * NULL when the message does not begin with it. */
static const char *mistake_file(const char *at, size_t len, struct laz_mistake *mistake)
{
    const char *behind = mistake_numbers(at + len, &mistake->line, &mistake->column);

    if (!behind)
        behind = mistake_numbers(at + len, &mistake->line, NULL);
    if (!behind && strncmp(at + len, ": ", 2) == 0)
        behind = at + len + 2;
    if (behind) {
        mistake->file = at;
        mistake->file_len = len;
    }
    return behind;
}

/* The text behind the place that the message begins with; `at` when it begins with none. */
static const char *mistake_place(const char *at, const struct laz_strv *files,
                                 struct laz_mistake *mistake)
{
    const char *behind = NULL, *end = strstr(at, ": ");

    for (size_t i = 0; i < files->n && !behind; i++) {
        const size_t len = strlen(files->items[i]);
        if (len && strncmp(at, files->items[i], len) == 0)
            behind = mistake_file(at, len, mistake);
    }
    for (const char *colon = at; end && !behind && (colon = strchr(colon, ':')) < end; colon++)
        if (!memchr(at, '"', (size_t)(colon - at)) &&
            mistake_numbers(colon, &mistake->line, &mistake->column))
            behind = mistake_file(at, (size_t)(colon - at), mistake);
    if (end && !behind && laz_os_is_absolute(at))
        behind = mistake_file(at, (size_t)(end - at), mistake);
    return behind ? behind : at;
}

static bool mistake_is_key_byte(char c)
{
    return laz_toml_is_bare((unsigned char)c) || c == '.' || c == '"';
}

/* The key that the text begins with or, if there is none, the first of the schema that it names. */
static void mistake_key(const char *at, struct laz_mistake *mistake)
{
    const char *dot = at + strcspn(at, ".");
    const char *first = NULL;
    size_t len = 0;

    while (mistake_is_key_byte(at[len]))
        len++;
    if (len && strncmp(at + len, ": ", 2) == 0 &&
        (mistake->line || (dot < at + len && laz_schema_section(at, (size_t)(dot - at))))) {
        mistake->key = at;
        mistake->key_len = len;
        return;
    }
    for (const struct schema_key *row = laz_schema; row->key; row++) {
        const char *found = strstr(at, row->key);
        len = strlen(row->key);
        if (found && (found == at || !mistake_is_key_byte(found[-1])) &&
            !laz_toml_is_bare((unsigned char)found[len]) && (!first || found < first)) {
            mistake->key = first = found;
            mistake->key_len = len;
        }
    }
}

/* Where the next mistake begins in a message that has several, "; FILE:LINE:COL: "; NULL: nowhere.
 */
static const char *mistake_next(const char *at, const struct laz_mistake *mistake)
{
    unsigned line, column;

    while (mistake->line && (at = strstr(at, "; "))) {
        at += 2;
        if (strncmp(at, mistake->file, mistake->file_len) == 0 &&
            mistake_numbers(at + mistake->file_len, &line, &column))
            return at;
    }
    return NULL;
}

void laz_mistake_read(const char *message, const struct laz_strv *files,
                      struct laz_mistake *mistake)
{
    const char *option = strncmp(message, "--", 2) == 0 ? strstr(message, ": ") : NULL;
    const char *at = option ? option + 2 : message; /* "--set: KEY: what is wrong" */

    *mistake = (struct laz_mistake){.text = message};
    at = mistake_place(at, files, mistake);
    if (!option)
        mistake->text = at;
    mistake_key(at, mistake);
    mistake->next = mistake_next(at, mistake);
    mistake->text_len =
        mistake->next ? (size_t)(mistake->next - 2 - mistake->text) : strlen(mistake->text);
}
