/* SPDX-License-Identifier: MIT */
/* settings.c - settings as an object: defaults, then a file, then --set, each over the one before.
 *
 * All three are documents and are handled alike: the schema's defaults are put together into one,
 * so a default is checked as strictly as a user's value.  A document with a problem changes nothing
 * at all.
 * Side: host.  Input trusted: yes, but a mistake must never lead to a weaker sandbox, so whatever
 * is not understood is refused. */
#include "config.h"
#include "settings/schema.h"

#include "base/json_write.h"
#include "base/path.h"
#include "os/current_process.h"
#include "os/files.h"
#include "os/paths.h"
#include "os/trust.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETTINGS_DEFAULT "default" /* name of the document of the defaults */
#define SETTINGS_SET     "--set"

/* ---- problems ---------------------------------------------------------------------------------*/

static bool problem_is_after(const struct laz_toml_problem *a, const struct laz_toml_problem *b)
{
    return a->line != b->line ? a->line > b->line : a->column > b->column;
}

/* Sorts by position. Insertion sort is stable, and there are few problems. */
static void problems_sort(struct laz_toml *toml)
{
    for (size_t i = 1; i < toml->n_problems; i++) {
        struct laz_toml_problem moved = toml->problems[i];
        size_t k = i;
        for (; k > 0 && problem_is_after(&toml->problems[k - 1], &moved); k--)
            toml->problems[k] = toml->problems[k - 1];
        toml->problems[k] = moved;
    }
}

/* Copies the problems of a document to the settings, and makes the first one the error. */
static int problems_report(struct laz_settings *settings, struct laz_toml *toml,
                           struct laz_error *err)
{
    struct laz_buf line = LAZ_BUF_INIT;

    problems_sort(toml);
    for (size_t i = 0; i < toml->n_problems; i++) {
        laz_buf_clear(&line);
        laz_toml_format_problem(&line, toml, i);
        laz_strv_add(&settings->problems, laz_buf_text(&line));
        toml->failed |= line.failed;
    }
    laz_buf_fini(&line);
    if (toml->failed || settings->problems.failed)
        return laz_error_nomem(err);
    if (!toml->n_problems)
        return 0;
    const char *first = settings->problems.items[0];
    if (toml->n_problems == 1)
        return laz_error_set(err, LAZ_ECONFIG, 0, "%s", first);
    return laz_error_set(err, LAZ_ECONFIG, 0, "%s (and %zu more)", first, toml->n_problems - 1);
}

/* ---- applying a document ----------------------------------------------------------------------*/

static void nodes_fini(struct settings_nodes *nodes)
{
    free(nodes->keys);
    free(nodes->tables);
    memset(nodes, 0, sizeof *nodes);
}

static bool nodes_copy(struct settings_nodes *to, const struct settings_nodes *from)
{
    size_t n = laz_schema_count();

    *to = (struct settings_nodes){.tools = from->tools,
                                  .approve = from->approve,
                                  .secrets = from->secrets,
                                  .n_tables = from->n_tables};
    to->keys = calloc(n, sizeof *to->keys);
    to->tables = calloc(from->n_tables + 1, sizeof *to->tables);
    if (!to->keys || !to->tables) {
        nodes_fini(to);
        return false;
    }
    if (from->keys)
        memcpy(to->keys, from->keys, n * sizeof *to->keys);
    if (from->n_tables)
        memcpy(to->tables, from->tables, from->n_tables * sizeof *to->tables);
    return true;
}

bool laz_settings_is_default(const struct laz_toml_node *node)
{
    return strcmp(node->toml->name, SETTINGS_DEFAULT) == 0 && !node->toml->has_lines;
}

/* Converts a node, and adds a problem that it has to `toml`; NULL: it has none. False: out of
 * memory. */
static bool settings_convert_one(const struct schema_key *row, const struct laz_toml_node *node,
                                 struct laz_settings_values *values, struct laz_toml *toml)
{
    const struct laz_toml_node *wrong = NULL;
    struct laz_buf text = LAZ_BUF_INIT;

    laz_buf_printf(&text, "%s: expected ", row->key);
    int rc = laz_schema_convert(row, node, values, &wrong, &text);
    if (rc == LAZ_ECONFIG && toml) {
        struct laz_toml_node shown = *wrong;
        /* a secret itself may stand there */
        shown.is_secret |= row->kind == SCHEMA_SECRETS || row->kind == SCHEMA_CREDENTIALS;
        laz_buf_puts(&text, ", found ");
        laz_toml_describe(&text, &shown);
        laz_toml_add_problem(toml, wrong->line, wrong->column, "%s", laz_buf_text(&text));
        rc = 0;
    }
    const bool done = !rc && !text.failed;
    laz_buf_fini(&text);
    return done;
}

/* Converts all nodes to values. Only nodes of `toml`, the newest document, can have a problem,
 * which is added to it; NULL: none can. False: out of memory. */
static bool settings_convert(const struct settings_nodes *nodes, struct laz_settings_values *values,
                             struct laz_toml *toml)
{
    bool done = true;

    for (size_t i = 0; i < laz_schema_count(); i++) {
        const struct laz_toml_node *node = nodes->keys[i];
        /* it matters whether python was chosen or nothing was: NULL says that nothing was */
        if (node &&
            !(laz_schema[i].offset == offsetof(struct laz_settings_values, session.runtime) &&
              laz_settings_is_default(node)))
            done = settings_convert_one(&laz_schema[i], node, values, toml) && done;
    }
    if (nodes->secrets)
        done = settings_convert_one(&laz_schema_secrets, nodes->secrets, values, toml) && done;
    return done;
}

static bool settings_keep(struct laz_settings *settings, struct laz_toml *toml)
{
    struct laz_toml **documents =
        realloc(settings->documents, (settings->n_documents + 1) * sizeof(struct laz_toml *));

    if (!documents)
        return false;
    settings->documents = documents;
    documents[settings->n_documents++] = toml;
    return true;
}

/* Applies a document to the settings; on failure they are unchanged. Always takes the document. */
static int settings_apply(struct laz_settings *settings, struct laz_toml *toml,
                          struct laz_error *err)
{
    struct laz_settings_values values = {0};
    struct settings_nodes nodes = {0};

    if (nodes_copy(&nodes, &settings->nodes)) {
        laz_settings_check(toml, &nodes);
        if (!settings_convert(&nodes, &values, toml))
            toml->failed = true;
    } else {
        toml->failed = true;
    }
    int rc = problems_report(settings, toml, err);
    if (rc == 0 && !settings_keep(settings, toml))
        rc = laz_error_nomem(err);
    if (rc) {
        laz_toml_free(toml);
        laz_values_fini(&values);
        nodes_fini(&nodes);
        return rc;
    }
    values.settings = settings;
    values.mistakes = settings->values.mistakes;
    laz_values_fini(&settings->values);
    nodes_fini(&settings->nodes);
    settings->values = values;
    settings->nodes = nodes;
    return 0;
}

/* ---- making, copying, freeing -----------------------------------------------------------------*/

static int settings_parse_defaults(struct laz_toml **toml, struct laz_error *err)
{
    struct laz_buf text = LAZ_BUF_INIT;

    for (const struct schema_key *row = laz_schema; row->key; row++)
        laz_buf_printf(&text, "%s = %s\n", row->key, row->default_value);
    int rc = text.failed ? laz_error_nomem(err)
                         : laz_toml_parse(text.data, text.len, SETTINGS_DEFAULT, toml, err);
    laz_buf_fini(&text);
    return rc;
}

int laz_settings_new(struct laz_settings **settings, struct laz_error *err)
{
    struct laz_settings *made = settings ? calloc(1, sizeof *made) : NULL;
    struct laz_toml *defaults = NULL;

    if (!settings)
        return laz_error_null(err, "the pointer for the settings");
    *settings = NULL;
    if (!made)
        return laz_error_nomem(err);
    int rc = settings_parse_defaults(&defaults, err);
    if (rc) {
        laz_toml_free(defaults);
    } else {
        defaults->has_lines = false;
        rc = settings_apply(made, defaults, err);
    }
    if (rc)
        laz_settings_free(made);
    else
        *settings = made;
    return rc;
}

int laz_settings_copy(const struct laz_settings *from, struct laz_settings **to,
                      struct laz_error *err)
{
    struct laz_settings *copy = calloc(1, sizeof *copy);
    bool done = true;

    *to = NULL;
    if (!copy)
        return laz_error_nomem(err);
    for (size_t i = 0; i < from->n_documents && done; i++) {
        done = settings_keep(copy, from->documents[i]);
        if (done)
            laz_toml_ref(from->documents[i]);
    }
    if (!done || !nodes_copy(&copy->nodes, &from->nodes) ||
        !settings_convert(&copy->nodes, &copy->values, NULL)) {
        laz_settings_free(copy);
        return laz_error_nomem(err);
    }
    copy->values.settings = copy;
    copy->values.mistakes = from->values.mistakes;
    *to = copy;
    return 0;
}

void laz_settings_free(struct laz_settings *settings)
{
    if (!settings)
        return;
    laz_values_fini(&settings->values);
    nodes_fini(&settings->nodes);
    for (size_t i = 0; i < settings->n_documents; i++)
        laz_toml_free(settings->documents[i]);
    free(settings->documents);
    laz_strv_fini(&settings->problems);
    free(settings);
}

/* ---- reading a file ---------------------------------------------------------------------------*/

/* The end of reading a document: a failure is a problem of the settings at least once. */
static int settings_ended(struct laz_settings *settings, int rc, const struct laz_error *why,
                          struct laz_error *err)
{
    if (rc == 0)
        return 0;
    if (!settings->problems.n)
        laz_strv_add(&settings->problems, why->text);
    return laz_error_set(err, rc == LAZ_ENOMEM ? rc : LAZ_ECONFIG, why->os_errno, "%s", why->text);
}

static int settings_load_file(struct laz_settings *settings, const char *path,
                              struct laz_error *err)
{
    struct laz_buf text = LAZ_BUF_INIT;
    struct laz_toml *toml = NULL;
    int rc = laz_trust_read(path, LAZ_TOML_MAX_SIZE, &text, err);

    if (rc == 0) {
        rc = laz_toml_parse(laz_buf_text(&text), text.len, path, &toml, err);
        if (toml)
            rc = settings_apply(settings, toml, err);
    }
    laz_buf_fini(&text);
    return rc;
}

/* The user's file, or that of the machine. One that is denied may say what is to be refused, so it
 * is not passed over. */
static int settings_load_place(struct laz_settings *settings, const char *place,
                               struct laz_error *why)
{
    int rc = settings_load_file(settings, place, why);
    const struct laz_error denied = *why;

    if (rc && denied.os_errno == EACCES)
        laz_error_set(why, rc, EACCES,
                      "%s; let this user read it, or name another file by LAZARET_CONFIG, or "
                      "another directory by XDG_CONFIG_HOME or HOME",
                      denied.text);
    return rc;
}

int laz_settings_load(struct laz_settings *settings, const char *path, struct laz_error *err)
{
    const char *named = path ? path : laz_os_getenv("LAZARET_CONFIG");
    struct laz_error why = {0};
    struct laz_look look;
    char *place = NULL;
    int rc = 0;

    if (!settings)
        return laz_error_null(err, "settings");
    laz_strv_fini(&settings->problems);
    if (named && (path || *named)) {
        rc = settings_load_file(settings, named, &why);
        if (rc && !path && !settings->problems.n)
            laz_error_prefix(&why, "LAZARET_CONFIG: ");
    } else {
        for (int i = 0; laz_os_config_place(i, &place); i++) {
            int failed = place ? laz_os_look(place, true, &look) : ENOENT;
            bool done = failed != ENOENT && failed != ENOTDIR;
            rc = done ? settings_load_place(settings, place, &why) : 0;
            free(place);
            if (done)
                break;
            rc = 0;
        }
    }
    return settings_ended(settings, rc, &why, err);
}

/* ---- one key ----------------------------------------------------------------------------------*/

/* Does the key have a text as its value, so that a bare word or number is a string? */
static bool settings_takes_text(const char *key)
{
    for (const struct schema_key *row = laz_schema; row->key; row++)
        if (strcmp(row->key, key) == 0)
            return row->kind == SCHEMA_NAME || row->kind == SCHEMA_UIDS ||
                   row->kind == SCHEMA_FILE || row->kind == SCHEMA_REFUSE ||
                   row->kind == SCHEMA_ADDRESS;
    return false;
}

static bool settings_is_quoted_or_nested(const char *value)
{
    value += strspn(value, " \t");
    return *value && strchr("\"'[{", *value);
}

/* Reads `value` in TOML notation, or else as a bare string. */
static int settings_parse_pair(const char *option, const char *key, const char *value,
                               struct laz_toml **toml, struct laz_error *err)
{
    struct laz_buf quoted = LAZ_BUF_INIT;
    int rc = LAZ_EPARSE;

    if (!settings_takes_text(key) || settings_is_quoted_or_nested(value))
        rc = laz_toml_parse_pair(key, value, option, toml, err);
    if (rc == LAZ_EPARSE && !settings_is_quoted_or_nested(value)) {
        laz_toml_free(*toml);
        *toml = NULL;
        laz_toml_format_string(&quoted, value, strlen(value));
        rc = quoted.failed ? laz_error_nomem(err)
                           : laz_toml_parse_pair(key, laz_buf_text(&quoted), option, toml, err);
        laz_buf_fini(&quoted);
    }
    return rc;
}

int laz_settings_set(struct laz_settings *settings, const char *key, const char *value,
                     struct laz_error *err)
{
    if (!settings || !key || !value)
        return laz_error_null(err, !settings ? "settings" : !key ? "the key" : "the value");
    return laz_settings_set_by(settings, SETTINGS_SET, key, value, err);
}

int laz_settings_set_by(struct laz_settings *settings, const char *option, const char *key,
                        const char *value, struct laz_error *err)
{
    struct laz_toml *toml = NULL;
    struct laz_error why = {0};

    laz_strv_fini(&settings->problems);
    int rc = settings_parse_pair(option, key, value, &toml, &why);
    if (rc == LAZ_EPARSE) {
        laz_error_prefix(&why, "%s: ", key);
        laz_toml_free(toml);
    } else if (rc == 0) {
        rc = settings_apply(settings, toml, &why);
    }
    return settings_ended(settings, rc, &why, err);
}

/* Puts the items that the list of a key had before those of the new one, KEY = [...], which is all
 * that its document has. False: out of memory. */
static bool settings_join(struct laz_toml *toml, const struct laz_toml_node *old)
{
    struct laz_toml_node *list = toml->root->first->first;
    const struct laz_toml_node *more = list->first;
    bool done = true;

    list->first = list->last = NULL;
    list->n = 0;
    for (const struct laz_toml_node *item = old ? old->first : NULL; item && done;
         item = item->next)
        done = laz_toml_adopt(toml, list, item);
    for (; more && done; more = more->next)
        done = laz_toml_adopt(toml, list, more);
    return done;
}

int laz_settings_extend(struct laz_settings *settings, const char *option, const char *key,
                        const struct laz_strv *more, struct laz_error *err)
{
    const struct schema_key *row = laz_schema;
    struct laz_buf text = LAZ_BUF_INIT;
    struct laz_toml *toml = NULL;
    struct laz_error why = {0};

    laz_strv_fini(&settings->problems);
    while (strcmp(row->key, key) != 0)
        row++;
    laz_json_strings(&text, more); /* strings of JSON are strings of TOML */
    int rc = text.failed ? laz_error_nomem(&why)
                         : laz_toml_parse_pair(key, laz_buf_text(&text), option, &toml, &why);
    if (!rc && !settings_join(toml, settings->nodes.keys[row - laz_schema]))
        toml->failed = true;
    if (!rc)
        rc = settings_apply(settings, toml, &why);
    else
        laz_toml_free(toml);
    laz_buf_fini(&text);
    return settings_ended(settings, rc, &why, err);
}

/* ---- looking at them --------------------------------------------------------------------------*/

size_t laz_settings_problems(const struct laz_settings *settings)
{
    return settings ? settings->problems.n : 0;
}

const char *laz_settings_problem(const struct laz_settings *settings, size_t index)
{
    return index < laz_settings_problems(settings) ? settings->problems.items[index] : NULL;
}

const struct laz_settings_values *laz_settings_values(const struct laz_settings *settings)
{
    return &settings->values;
}

const char *laz_settings_file(const struct laz_settings *settings)
{
    const char *file = NULL;

    for (size_t i = 0; i < settings->n_documents; i++)
        if (settings->documents[i]->has_lines)
            file = settings->documents[i]->name;
    return file;
}

static bool settings_has_path(const struct laz_strv *list, const char *path)
{
    for (size_t i = 0; i < list->n; i++)
        if (laz_path_is_within(path, list->items[i]))
            return true;
    return false;
}

bool laz_settings_shows(const struct laz_settings_values *values, const char *path)
{
    return settings_has_path(&values->sandbox.read, path) ||
           settings_has_path(&values->sandbox.write, path);
}

bool laz_settings_lets_change(const struct laz_settings_values *values, const char *path)
{
    return settings_has_path(&values->sandbox.write, path);
}

const struct laz_toml_node *laz_settings_plugin_table(const struct laz_settings *settings,
                                                      const char *section, const char *name)
{
    for (size_t i = 0; i < settings->nodes.n_tables; i++) {
        const struct settings_table *table = &settings->nodes.tables[i];
        if (strcmp(table->section, section) == 0 && strcmp(table->node->key, name) == 0)
            return table->node;
    }
    return NULL;
}

const struct laz_toml_node *laz_settings_plugin_table_at(const struct laz_settings *settings,
                                                         size_t index, const char **section)
{
    if (index >= settings->nodes.n_tables)
        return NULL;
    *section = settings->nodes.tables[index].section;
    return settings->nodes.tables[index].node;
}

const struct laz_toml_node *laz_settings_tools(const struct laz_settings *settings)
{
    return settings->nodes.tools;
}

const struct laz_toml_node *laz_settings_approve(const struct laz_settings *settings)
{
    return settings->nodes.approve;
}

char *laz_settings_position(const struct laz_toml_node *node)
{
    struct laz_buf where = LAZ_BUF_INIT;

    laz_toml_position(&where, node->toml, node->key ? node->key_line : node->line,
                      node->key ? node->key_column : node->column);
    return laz_buf_steal(&where);
}

void laz_settings_locate(const struct laz_toml_node *node, struct laz_error *err)
{
    char *position = laz_settings_position(node);

    laz_error_prefix(err, "%s: ", position ? position : "the configuration");
    free(position);
}

/* ---- for `lazaret config` ---------------------------------------------------------------------*/

struct settings_visit {
    void (*visit)(void *user, const struct laz_settings_shown *shown);
    void *user;
    struct laz_buf key, value, json, origin;
};

static void visit_node(struct settings_visit *visit, const struct laz_toml_node *node)
{
    struct laz_json_write write = {.to = &visit->json};

    laz_buf_clear(&visit->value);
    laz_buf_clear(&visit->json);
    laz_buf_clear(&visit->origin);
    laz_toml_format(&visit->value, node);
    laz_toml_json(&write, NULL, node);
    laz_buf_puts(&visit->origin, node->toml->name);
    if (node->toml->has_lines)
        laz_buf_printf(&visit->origin, ":%u", (unsigned)node->line);
    const struct laz_settings_shown shown = {
        .key = laz_buf_text(&visit->key),
        .value = laz_buf_text(&visit->value),
        .json = laz_buf_text(&visit->json),
        .origin = laz_buf_text(&visit->origin),
    };
    visit->visit(visit->user, &shown);
}

static void visit_table(struct settings_visit *visit, const struct settings_table *table)
{
    for (const struct laz_toml_node *node = table->node->first; node; node = node->next) {
        laz_buf_clear(&visit->key);
        laz_buf_printf(&visit->key, "%s.%s.", table->section, table->node->key);
        laz_toml_format_key(&visit->key, node->key, node->key_len);
        visit_node(visit, node);
    }
}

static void visit_key(struct settings_visit *visit, const char *key,
                      const struct laz_toml_node *node)
{
    if (!node)
        return;
    laz_buf_clear(&visit->key);
    laz_buf_puts(&visit->key, key);
    visit_node(visit, node);
}

void laz_settings_visit(const struct laz_settings *settings,
                        void (*visit)(void *user, const struct laz_settings_shown *shown),
                        void *user)
{
    struct settings_visit state = {.visit = visit, .user = user};

    for (size_t i = 0; i < laz_schema_count(); i++)
        visit_key(&state, laz_schema[i].key, settings->nodes.keys[i]);
    for (size_t i = 0; i < settings->nodes.n_tables; i++)
        visit_table(&state, &settings->nodes.tables[i]);
    visit_key(&state, laz_schema_secrets.key, settings->nodes.secrets);
    visit_key(&state, "tools", settings->nodes.tools);
    visit_key(&state, "approve", settings->nodes.approve);
    laz_buf_fini(&state.key);
    laz_buf_fini(&state.value);
    laz_buf_fini(&state.json);
    laz_buf_fini(&state.origin);
}
