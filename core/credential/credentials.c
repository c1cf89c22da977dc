/* SPDX-License-Identifier: MIT */
/* credentials.c - the credentials of an engine.
 * Side: host.  Input trusted: yes. */
#include "credential/credential_private.h"

#include "base/container.h"
#include "base/json_write.h"
#include "os/trust.h"

#include <stdlib.h>
#include <string.h>

/* ---- items ----------------------------------------------------------------------------------- */

/* What stands for it has its shape, as far as that is known without running a command. */
static int item_placeholder(struct credential_item *item, struct laz_error *err)
{
    const struct laz_secret_source *source = NULL;
    struct laz_secret secret = {NULL, 0, 0};
    const struct laz_secret *shape = &item->words.value;

    if (!item->words.variable)
        return 0;
    if (item->words.kind != CREDENTIAL_VALUE) {
        source = credential_source(item, NULL);
        shape = &secret;
        if (source && source->kind != LAZ_SECRET_COMMAND)
            (void)laz_secret_read(source, &item->credentials->of.secrets->runner, &secret, NULL);
    }
    item->placeholder = credential_placeholder(shape->data, shape->len);
    laz_secret_fini(&secret);
    return item->placeholder ? 0 : laz_error_nomem(err);
}

static int item_check_source(const struct credential_item *item, struct laz_error *err)
{
    const struct laz_secret_source *source = credential_source(item, err);

    const int rc = source ? laz_secret_source_hidden(source, item->credentials->of.values, err)
                          : laz_error_as(err, LAZ_ECONFIG);
    if (rc)
        laz_error_prefix(err, "secret: ");
    return rc;
}

int credential_item_new(struct laz_credentials *credentials, const char *json, bool is_given,
                        struct credential_item **out, struct laz_error *err)
{
    struct credential_item *item = calloc(1, sizeof *item);

    if (!item)
        return laz_error_nomem(err);
    item->credentials = credentials;
    item->holders = 1;
    item->is_usual = !is_given;
    item->id = ++credentials->last_id;
    item->next = credentials->items;
    credentials->items = item;
    int rc = credential_words_parse(json, is_given, &credentials->of.values->env.allow,
                                    &item->words, err);
    if (!rc && item->words.kind != CREDENTIAL_VALUE)
        rc = item_check_source(item, err);
    if (!rc && item->words.authorities &&
        laz_settings_lets_change(credentials->of.values, item->words.authorities))
        rc = laz_error_set(
            err, LAZ_ECONFIG, 0,
            "ca: it is in sandbox.write, where code can change it: keep it elsewhere");
    if (!rc && item->words.authorities && (rc = laz_trust_file(item->words.authorities, err))) {
        laz_error_prefix(err, "ca: ");
        rc = laz_error_as(err, LAZ_ECONFIG);
    }
    if (!rc)
        rc = item_placeholder(item, err);
    if (rc)
        credential_item_drop(item);
    else
        *out = item;
    return rc;
}

void credential_item_drop(struct credential_item *item)
{
    const struct proxy_note note = {.credential = item->id};
    struct laz_credentials *credentials = item->credentials;

    if (--item->holders)
        return;
    LAZ_LIST_REMOVE(credentials->items, item);
    if (item->told && item->told == credentials->number)
        credential_tell_surely(credentials, PROXY_FORGET, &note);
    credential_words_fini(&item->words);
    free(item->placeholder);
    free(item->failure);
    free(item);
}

/* ---- the settings ---------------------------------------------------------------------------- */

/* Two of one name could not be told apart; two variables of one name are one. */
static int item_compare(const struct credential_item *item, struct laz_error *err)
{
    const struct laz_settings_values *values = item->credentials->of.values;
    const char *variable = item->words.variable;

    for (const struct credential_item *other = item->next; other; other = other->next) {
        if (strcmp(other->words.name, item->words.name) == 0)
            return laz_error_set(err, LAZ_ECONFIG, 0,
                                 "another credential has this name: give one of them a `name`");
        if (variable && other->words.variable && strcmp(other->words.variable, variable) == 0)
            return laz_error_set(err, LAZ_ECONFIG, 0,
                                 "placeholder.env: another credential has this variable");
    }
    for (size_t i = 0; variable && i < values->env.set.n; i++)
        if (strncmp(values->env.set.items[i], variable, strlen(variable)) == 0 &&
            values->env.set.items[i][strlen(variable)] == '=')
            return laz_error_set(err, LAZ_ECONFIG, 0,
                                 "placeholder.env: env.set sets this variable, too");
    if (variable && laz_strv_has(&values->env.allow, variable))
        return laz_error_set(err, LAZ_ECONFIG, 0,
                             "placeholder.env: env.allow gives the box the host's own value");
    return 0;
}

static int credentials_take(struct laz_credentials *credentials, const char *json,
                            struct laz_error *err)
{
    struct credential_item *item;
    int rc = credential_item_new(credentials, json, false, &item, err);

    if (!rc)
        item->json = json;
    if (!rc && (rc = item_compare(item, err)))
        credential_item_drop(item);
    return laz_settings_wrong(credentials->of.values, "network.credential", json, rc, err);
}

int laz_credentials_new(const struct laz_credentials_of *of, struct laz_credentials **out,
                        struct laz_error *err)
{
    struct laz_credentials *credentials = calloc(1, sizeof *credentials);
    int rc = credentials ? 0 : laz_error_nomem(err);

    *out = credentials;
    if (rc)
        return rc;
    credentials->of = *of;
    credentials->channel = -1;
    credentials->process = LAZ_PROCESS_INIT;
    for (size_t i = 0; i < of->values->network.credentials.n && !rc; i++)
        rc = credentials_take(credentials, of->values->network.credentials.items[i], err);
    return rc;
}

void laz_credentials_free(struct laz_credentials *credentials)
{
    if (!credentials)
        return;
    credential_process_end(credentials);
    if (!credential_readers_end(credentials))
        return; /* a command uses it still */
    while (credentials->items)
        credential_item_drop(credentials->items);
    free(credentials->program);
    free(credentials->trust);
    free(credentials);
}

int laz_credentials_check_secrets(struct laz_credentials *credentials, struct laz_error *err)
{
    const struct laz_secret_runner *runner = &credentials->of.secrets->runner;
    int rc = 0;

    for (const struct credential_item *item = credentials->items; item && !rc; item = item->next) {
        const struct laz_secret_source *source =
            item->is_usual ? credential_source(item, err) : NULL;
        rc = source ? laz_secret_check(source, runner, err) : 0;
        if (rc)
            laz_error_prefix(err, "secret: ");
        if (rc && err)
            rc = err->code = LAZ_ECONFIG;
        rc = laz_settings_wrong(credentials->of.values, "network.credential", item->json, rc, err);
    }
    return rc;
}

/* ---- showing them ---------------------------------------------------------------------------- */

/* The first of them is the first of the settings. */
static const struct credential_item *credentials_usual(const struct laz_credentials *credentials,
                                                       size_t at)
{
    size_t n = 0;

    for (const struct credential_item *item = credentials->items; item; item = item->next)
        n += item->is_usual;
    for (const struct credential_item *item = credentials->items; item; item = item->next)
        if (item->is_usual && --n == at)
            return item;
    return NULL;
}

static const char *item_kind(const struct credential_item *item)
{
    return item->words.user    ? "basic"
           : item->words.field ? "header"
           : item->words.query ? "query"
                               : "placeholder";
}

/* Where its secret is read, and whether it can be, without running a command. */
static bool item_source(const struct credential_item *item, struct laz_buf *text)
{
    struct laz_error err = {0};
    const struct laz_secret_source *source = credential_source(item, &err);

    if (source && item->words.secret_name)
        laz_buf_printf(text, "%s of [secrets], ", item->words.secret_name);
    if (source)
        laz_secret_source_text(source, text);
    return source && laz_secret_check(source, &item->credentials->of.secrets->runner, &err) == 0;
}

static void item_json(const struct credential_item *item, struct laz_json_write *write)
{
    const struct credential_words *words = &item->words;
    struct laz_buf source = LAZ_BUF_INIT;
    const bool is_set = item_source(item, &source);

    laz_json_begin_object(write, NULL);
    laz_json_add_text(write, "name", words->name);
    laz_json_add_text(write, "host", words->host_text);
    laz_json_add_text(write, "kind", item_kind(item));
    laz_json_add_text(write, "secret", laz_buf_text(&source));
    laz_json_add_bool(write, "set", is_set);
    laz_json_add_texts(write, "methods", &words->methods);
    laz_json_add_texts(write, "paths", &words->paths);
    if (words->variable)
        laz_json_add_text(write, "placeholder", words->variable);
    laz_json_add_bool(write, "only", words->only);
    laz_json_add_bool(write, "echo", words->echo);
    laz_json_end_object(write);
    write->to->failed |= source.failed;
    laz_buf_fini(&source);
}

void laz_credentials_json(struct laz_credentials *credentials, struct laz_buf *json)
{
    struct laz_json_write write = {.to = json};
    const struct credential_item *item;

    laz_json_begin_list(&write, NULL);
    for (size_t i = 0; (item = credentials_usual(credentials, i)); i++)
        item_json(item, &write);
    laz_json_end_list(&write);
}

static void text_list(struct laz_buf *line, const char *what, const struct laz_strv *list)
{
    if (list->n)
        laz_buf_puts(line, what);
    for (size_t i = 0; i < list->n; i++)
        laz_buf_printf(line, "%s%s", i ? " " : "", list->items[i]);
}

static void item_text(const struct credential_item *item, struct laz_strv *lines)
{
    const struct credential_words *words = &item->words;
    struct laz_buf line = LAZ_BUF_INIT;

    laz_buf_puts(&line, words->name);
    if (strcmp(words->name, words->host_text) != 0)
        laz_buf_printf(&line, " for %s", words->host_text);
    if (words->user)
        laz_buf_printf(&line, ": Basic, as %s", words->user);
    else if (words->field)
        laz_buf_printf(&line, ": header %s", words->field);
    else if (words->query)
        laz_buf_printf(&line, ": parameter %s", words->query);
    else
        laz_buf_puts(&line, ": in place of its placeholder");
    text_list(&line, ", only ", &words->methods);
    text_list(&line, ", only below ", &words->paths);
    if (words->variable)
        laz_buf_printf(&line, ", %s has a placeholder", words->variable);
    laz_buf_puts(&line, "; secret: ");
    if (!item_source(item, &line))
        laz_buf_puts(&line, " (unset)");
    laz_strv_add(lines, laz_buf_text(&line));
    lines->failed |= line.failed;
    laz_buf_fini(&line);
}

void laz_credentials_text(struct laz_credentials *credentials, struct laz_strv *lines)
{
    const struct credential_item *item;

    for (size_t i = 0; (item = credentials_usual(credentials, i)); i++)
        item_text(item, lines);
}

void laz_credentials_warn(struct laz_credentials *credentials,
                          const struct laz_network_rules *rules, struct laz_strv *warnings)
{
    const struct laz_settings_values *values = credentials->of.values;
    const struct credential_item *item;

    if (values->session.where == LAZ_WHERE_CLUSTER && values->network.credentials.n)
        laz_strv_add(warnings, LAZ_CREDENTIALS_FAR);
    for (size_t i = 0; (item = credentials_usual(credentials, i)); i++) {
        const struct credential_words *words = &item->words;
        if (words->host.is_wildcard)
            laz_strv_addf(warnings,
                          "network.credential: %s: every name below it that the list permits gets "
                          "the secret",
                          words->name);
        if (!laz_network_rules_have(rules, &words->host))
            laz_strv_addf(warnings,
                          "network.credential: %s: network.allow does not have this host, so code "
                          "cannot reach it",
                          words->name);
        if (words->echo)
            laz_strv_addf(warnings,
                          "network.credential: %s: answers are not searched for the secret (echo)",
                          words->name);
    }
}
