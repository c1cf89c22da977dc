/* SPDX-License-Identifier: MIT */
/* values_secrets.c - the form of [secrets] and of [[network.credential]]: which keys their tables
 * have, and of what type.
 *
 * What is written here names secrets and says where they are read; a value that somebody has put in
 * place of that is no message's business, so none of these tells what it found.  Whether a host, a
 * header or a path is right is for those who use it. */
#include "settings/schema.h"

#include "base/nearest.h"
#include "os/paths.h"

#include <string.h>

#define FORM_MAX_NAME 64

/* A key of a table, and what its value has to be. */
struct form_key {
    const char *key, *expected;
    bool (*fits)(const struct laz_toml_node *node);
    const struct form_key *inner; /* of a table; what `fits` takes may be something else */
};

static bool form_text(const struct laz_toml_node *node)
{
    return laz_toml_is_text(node) && node->len;
}

static bool form_path(const struct laz_toml_node *node)
{
    return laz_toml_is_text(node) && laz_os_is_absolute(node->text);
}

static bool form_boolean(const struct laz_toml_node *node)
{
    return node->type == LAZ_TOML_BOOLEAN;
}

static bool form_variable(const struct laz_toml_node *node)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

    return form_text(node) && strspn(node->text, allowed) == node->len &&
           !(node->text[0] >= '0' && node->text[0] <= '9');
}

static bool form_texts(const struct laz_toml_node *node)
{
    bool fits = node->type == LAZ_TOML_ARRAY && node->n;

    for (const struct laz_toml_node *item = fits ? node->first : NULL; item && fits;
         item = item->next)
        fits = laz_toml_is_text(item);
    return fits;
}

static bool form_command(const struct laz_toml_node *node)
{
    return form_texts(node) && form_path(node->first);
}

static bool form_name(const struct laz_toml_node *node)
{
    return laz_toml_is_text(node) && laz_is_secret_name(node->text, node->len);
}

bool laz_is_secret_name(const char *text, size_t len)
{
    size_t n = 0;

    while (n < len && laz_toml_is_bare((unsigned char)text[n]))
        n++;
    return n == len && len >= 1 && len <= FORM_MAX_NAME;
}

/* ---- tables ---------------------------------------------------------------------------------- */

#define FORM_SOURCE                                                                                \
    "a table with one of file, env and command ({ file = \"/etc/lazaret/token\" }, { env = "       \
    "\"TOKEN\" }, { command = [\"/usr/bin/pass\", \"show\", \"token\"] })"

static const struct form_key form_source[] = {
    {"file", "an absolute path", form_path, NULL},
    {"env", "the name of a variable of the host", form_variable, NULL},
    {"command", "a list of strings, the first an absolute path", form_command, NULL},
    {NULL, NULL, NULL, NULL},
};

static const struct form_key form_basic[] = {
    {"user", "a string", form_text, NULL},
    {NULL, NULL, NULL, NULL},
};

static const struct form_key form_query[] = {
    {"name", "a string", form_text, NULL},
    {NULL, NULL, NULL, NULL},
};

static const struct form_key form_placeholder[] = {
    {"env", "the name of a variable of the box", form_variable, NULL},
    {NULL, NULL, NULL, NULL},
};

static const struct form_key form_credential[] = {
    {"name", "a name of letters, digits, '_' and '-'", form_text, NULL},
    {"host", "the name of a host (\"api.example.com\", \"api.example.com:8443\")", form_text, NULL},
    {"header", "a header (\"Authorization: Bearer {secret}\")", form_text, NULL},
    {"basic", "a table ({ user = \"x\" })", NULL, form_basic},
    {"query", "the name of a parameter (\"key\")", form_text, form_query},
    {"secret", "the name of a secret of [secrets], or " FORM_SOURCE, form_name, form_source},
    {"methods", "a list of methods ([\"GET\"])", form_texts, NULL},
    {"paths", "a list of paths ([\"/v1/*\"])", form_texts, NULL},
    {"only", "true or false", form_boolean, NULL},
    {"placeholder", "a table ({ env = \"GITHUB_TOKEN\" })", NULL, form_placeholder},
    {"ca", "an absolute path", form_path, NULL},
    {"echo", "\"allow\" or \"refuse\"", form_text, NULL},
    {NULL, NULL, NULL, NULL},
};

static const struct form_key *form_find(const struct form_key *keys,
                                        const struct laz_toml_node *node, struct laz_buf *why)
{
    struct laz_nearest nearest;

    laz_nearest_init(&nearest, node->key);
    for (const struct form_key *row = keys; row->key; row++) {
        if (strlen(row->key) == node->key_len && memcmp(row->key, node->key, node->key_len) == 0)
            return row;
        laz_nearest_try(&nearest, row->key);
    }
    laz_buf_puts(why, "one of the keys");
    for (const struct form_key *row = keys; row->key; row++)
        laz_buf_printf(why, " %s", row->key);
    laz_buf_puts(why, " in place of ");
    laz_toml_format_key(why, node->key, node->key_len);
    const char *best = laz_nearest_best(&nearest);
    if (best)
        laz_buf_printf(why, " (did you mean %s?)", best);
    return NULL;
}

static const struct laz_toml_node *form_value(const struct form_key *row,
                                              const struct laz_toml_node *node, struct laz_buf *why)
{
    if (row->fits && row->fits(node))
        return NULL;
    if (row->inner && node->type == LAZ_TOML_TABLE)
        return row->inner == form_source ? laz_secret_form(node, why) : NULL;
    laz_buf_puts(why, row->expected);
    return node;
}

/* The node of the table that is not right; NULL: all of it is. */
static const struct laz_toml_node *
form_table(const struct form_key *keys, const struct laz_toml_node *table, struct laz_buf *why)
{
    const struct laz_toml_node *wrong = NULL;

    for (const struct laz_toml_node *node = table->first; node && !wrong; node = node->next) {
        const struct form_key *row = form_find(keys, node, why);
        wrong = row ? form_value(row, node, why) : node;
        if (row && !wrong && row->inner && node->type == LAZ_TOML_TABLE &&
            row->inner != form_source)
            wrong = form_table(row->inner, node, why); /* tables have two levels */
    }
    return wrong;
}

const struct laz_toml_node *laz_secret_form(const struct laz_toml_node *node, struct laz_buf *why)
{
    const struct laz_toml_node *wrong =
        node->type == LAZ_TOML_TABLE ? form_table(form_source, node, why) : NULL;

    if (!wrong && (node->type != LAZ_TOML_TABLE || node->n != 1)) {
        laz_buf_puts(why, FORM_SOURCE);
        wrong = node;
    }
    return wrong;
}

const struct laz_toml_node *laz_credential_form(const struct laz_toml_node *node,
                                                struct laz_buf *why)
{
    if (node->type == LAZ_TOML_TABLE)
        return form_table(form_credential, node, why);
    laz_buf_puts(why, "a table, begun by [[network.credential]]");
    return node;
}
