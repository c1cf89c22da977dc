/* SPDX-License-Identifier: MIT */
/* secrets.c - the table [secrets] of an engine: names, their sources, and values once they are
 * read.
 *
 * Side: host.  Input trusted: yes (the configuration); texts in which values are looked for are
 * not.
 */
#include "secret/secret.h"

#include "base/nearest.h"
#include "base/utf8.h"
#include "os/secret_memory.h"

#include <stdlib.h>
#include <string.h>

#define SECRETS_LEAST 8 /* bytes of a value that is looked for in texts */

static const char secrets_begin[] = "{secret.";

/* ---- the table ------------------------------------------------------------------------------- */

static int secrets_add(struct laz_secrets *secrets, const struct laz_settings_values *values,
                       const char *pair, struct laz_error *err)
{
    const size_t len = strcspn(pair, "=");
    struct laz_secrets_item *item = &secrets->items[secrets->n];

    item->name = laz_strndup(pair, len);
    if (!item->name)
        return laz_error_nomem(err);
    secrets->n++;
    int rc = laz_secret_source_parse(pair + len + 1, strlen(pair + len + 1), &values->env.allow,
                                     &item->source, err);
    if (!rc)
        rc = laz_secret_source_hidden(&item->source, values, err);
    if (rc && rc != LAZ_ENOMEM)
        laz_error_prefix(err, "%s: ", item->name);
    item->is_refused = rc != 0;
    return laz_settings_wrong(values, "secrets", item->name, rc, err);
}

int laz_secrets_init(struct laz_secrets *secrets, const struct laz_settings_values *values,
                     const struct laz_secret_runner *runner, struct laz_error *err)
{
    int rc = 0;

    *secrets = (struct laz_secrets){.is_made = true};
    if (runner)
        secrets->runner = *runner;
    pthread_mutex_init(&secrets->lock, NULL);
    secrets->items = calloc(values->secrets.n + 1, sizeof *secrets->items);
    if (!secrets->items)
        return laz_error_nomem(err);
    for (size_t i = 0; i < values->secrets.n && !rc; i++)
        rc = secrets_add(secrets, values, values->secrets.items[i], err);
    return rc;
}

void laz_secrets_fini(struct laz_secrets *secrets)
{
    if (!secrets->is_made)
        return;
    for (size_t i = 0; i < secrets->n; i++) {
        free(secrets->items[i].name);
        laz_secret_source_fini(&secrets->items[i].source);
        laz_secret_fini(&secrets->items[i].value);
    }
    free(secrets->items);
    pthread_mutex_destroy(&secrets->lock);
    *secrets = (struct laz_secrets){.n = 0};
}

static int secrets_item(struct laz_secrets *secrets, const char *name, size_t len,
                        struct laz_secrets_item **item, struct laz_error *err)
{
    char *typed = laz_strndup(name, len);
    struct laz_nearest nearest;

    *item = NULL;
    if (!typed)
        return laz_error_nomem(err);
    laz_nearest_init(&nearest, typed);
    for (size_t i = 0; i < secrets->n && !*item; i++) {
        laz_nearest_try(&nearest, secrets->items[i].name);
        if (strcmp(secrets->items[i].name, typed) == 0)
            *item = &secrets->items[i];
    }
    const char *best = laz_nearest_best(&nearest);
    if (!*item && best)
        laz_error_set(err, LAZ_EINVAL, 0, "this is no name of [secrets]; did you mean %s?", best);
    else if (!*item)
        laz_error_set(err, LAZ_EINVAL, 0, "this is no name of [secrets]");
    free(typed);
    return *item ? 0 : LAZ_EINVAL;
}

int laz_secrets_find(struct laz_secrets *secrets, const char *name, size_t len,
                     const struct laz_secret_source **source, struct laz_error *err)
{
    struct laz_secrets_item *item;
    int rc = secrets_item(secrets, name, len, &item, err);

    if (!rc && item->is_refused)
        rc = laz_error_set(err, LAZ_EINVAL, 0, "where this secret is read was refused");
    *source = rc ? NULL : &item->source;
    return rc;
}

int laz_secrets_value(struct laz_secrets *secrets, const char *name, size_t len,
                      const struct laz_secret **value, struct laz_error *err)
{
    struct laz_secrets_item *item;
    int rc = secrets_item(secrets, name, len, &item, err);

    *value = NULL;
    if (rc)
        return rc;
    pthread_mutex_lock(&secrets->lock);
    if (item->is_refused)
        rc = laz_error_set(err, LAZ_EINVAL, 0, "where it is read was refused");
    else if (!item->value.data)
        rc = laz_secret_read(&item->source, &secrets->runner, &item->value, err);
    pthread_mutex_unlock(&secrets->lock);
    if (rc)
        laz_error_prefix(err, "the secret %s: ", item->name);
    else
        *value = &item->value;
    return rc;
}

int laz_secrets_check(struct laz_secrets *secrets, const char *name, size_t len,
                      struct laz_error *err)
{
    struct laz_secrets_item *item;
    int rc = secrets_item(secrets, name, len, &item, err);

    if (rc || item->is_refused)
        return rc;
    rc = laz_secret_check(&item->source, &secrets->runner, err);
    if (rc)
        laz_error_prefix(err, "the secret %s: ", item->name);
    return rc;
}

/* ---- in texts -------------------------------------------------------------------------------- */

bool laz_secrets_next(const char *text, size_t len, size_t *at, size_t *begin, const char **name,
                      size_t *name_len)
{
    const size_t n = sizeof secrets_begin - 1;
    const char *found = laz_find_part(text + *at, len - *at, secrets_begin, n);

    if (!found)
        return false;
    *begin = (size_t)(found - text);
    *name = found + n;
    const char *end = memchr(*name, '}', len - *begin - n);
    *name_len = end ? (size_t)(end - *name) : 0;
    *at = end ? (size_t)(end + 1 - text) : *begin + n;
    if (!end || !laz_is_secret_name(*name, *name_len)) {
        *name = NULL;
        *at = *begin + n;
    }
    return true;
}

static bool secrets_is_utf8(const struct laz_secret *value)
{
    size_t n = 1;

    for (size_t i = 0; i < value->len && n; i += n)
        n = laz_utf8_sequence(value->data + i, value->len - i);
    return n != 0;
}

/* A value as it stands between the quotes of a JSON string: `to` NULL only counts. Values have no
 * control characters. */
static size_t secrets_escape(const struct laz_secret *value, char *to)
{
    size_t n = 0;

    for (size_t i = 0; i < value->len; i++) {
        const char c = value->data[i];
        if (c == '"' || c == '\\') {
            if (to)
                to[n] = '\\';
            n++;
        }
        if (to)
            to[n] = c;
        n++;
    }
    return n;
}

/* Copies the text to `to`; NULL: only counts what it becomes. */
static int secrets_copy(struct laz_secrets *secrets, const char *json, size_t len, char *to,
                        size_t *total, size_t *n, struct laz_error *err)
{
    const struct laz_secret *value;
    const char *name;
    size_t at = 0, done = 0, begin = 0, name_len = 0;

    *total = *n = 0;
    while (laz_secrets_next(json, len, &at, &begin, &name, &name_len)) {
        if (!name)
            continue;
        int rc = laz_secrets_value(secrets, name, name_len, &value, err);
        if (rc)
            return rc;
        if (!secrets_is_utf8(value))
            return laz_error_set(err, LAZ_EINVAL, 0,
                                 "the secret %.*s: it is not UTF-8, which a provider of tools "
                                 "cannot take",
                                 (int)name_len, name);
        if (to)
            memcpy(to + *total, json + done, begin - done);
        *total += begin - done;
        *total += secrets_escape(value, to ? to + *total : NULL);
        done = at;
        ++*n;
    }
    if (to)
        memcpy(to + *total, json + done, len - done);
    *total += len - done;
    return 0;
}

int laz_secrets_fill(struct laz_secrets *secrets, const char *json, size_t len,
                     struct laz_secret *filled, size_t *n, struct laz_error *err)
{
    size_t total = 0;

    *filled = (struct laz_secret){NULL, 0, 0};
    int rc = secrets_copy(secrets, json, len, NULL, &total, n, err);
    if (rc)
        return rc;
    filled->data = laz_os_secret_new(total + 1);
    if (!filled->data)
        return laz_error_nomem(err);
    filled->room = total + 1;
    rc = secrets_copy(secrets, json, len, filled->data, &total, n, err);
    filled->len = total;
    if (rc)
        laz_secret_fini(filled);
    return rc;
}

bool laz_secrets_hide(struct laz_secrets *secrets, char *text, size_t len)
{
    bool any = false;

    if (!secrets->n)
        return false;
    pthread_mutex_lock(&secrets->lock);
    for (size_t i = 0; i < secrets->n; i++) {
        const struct laz_secret *value = &secrets->items[i].value;
        const char *found = NULL;
        size_t at = 0;
        while (value->len >= SECRETS_LEAST &&
               (found = laz_find_part(text + at, len - at, value->data, value->len))) {
            at = (size_t)(found - text);
            memset(text + at, '*', value->len);
            at += value->len;
            any = true;
        }
    }
    pthread_mutex_unlock(&secrets->lock);
    return any;
}
