/* SPDX-License-Identifier: MIT */
/* lazaret/options.h - reads the options of a plugin into a struct, by a table.
 *
 *     struct weather { char *url; int64_t retries; };
 *     static const struct laz_option_field fields[] = {
 *         {"url", LAZ_OPT_STRING, offsetof(struct weather, url)},
 *         {"retries", LAZ_OPT_INTEGER, offsetof(struct weather, retries)},
 *         {NULL, 0, 0},
 *     };
 *     struct weather weather = {0};
 *     int rc = laz_options_read(services->json, options, options_len, fields, &weather, err);
 *     if (rc == 0)
 *         printf("%s\n", weather.url);
 *     laz_options_free(fields, &weather);
 *
 * The arguments of a tool call are such an object too, and are read in the same way.  All functions
 * are inline, because a plugin imports none of lazaret. */
#ifndef LAZARET_OPTIONS_H
#define LAZARET_OPTIONS_H

#include <lazaret/plugin.h>

#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the compiler sees the struct and not the type of the field, it would warn of those that do
 * not fit. */
#if defined __GNUC__
#define LAZ_OPTION_APART static __attribute__((noinline, unused))
#else
#define LAZ_OPTION_APART static inline
#endif

/* One member of an object and its place in the struct. The field has the C type of `type`:
 *
 *   LAZ_OPT_STRING, LAZ_OPT_PATH                  char *
 *   LAZ_OPT_INTEGER, LAZ_OPT_SIZE, LAZ_OPT_TIME   int64_t
 *   LAZ_OPT_BOOLEAN                               bool
 *   LAZ_OPT_STRINGS, LAZ_OPT_PATHS                char **, ends with NULL
 *   LAZ_OPT_TABLES, LAZ_OPT_PARAMETERS            char *, the JSON text (laz_options_each)
 *   LAZ_OPT_TEXTS                                 char *, the JSON text of an object
 *   LAZ_OPT_ANY                                   char *, the JSON text */
struct laz_option_field {
    const char *key; /* NULL: the end of the table */
    uint32_t type;   /* LAZ_OPT_* */
    size_t offset;
};

/* The first `len` bytes of a text as a new string, or NULL: out of memory. */
static inline char *laz_option_copy(const char *text, size_t len)
{
    char *copy = (char *)malloc(len + 1);

    if (copy) {
        memcpy(copy, text, len);
        copy[len] = '\0';
    }
    return copy;
}

LAZ_OPTION_APART void laz_option_free(const struct laz_option_field *field, void *into)
{
    void *at = (char *)into + field->offset;
    char **list;

    switch (field->type) {
    case LAZ_OPT_INTEGER:
    case LAZ_OPT_SIZE:
    case LAZ_OPT_TIME:
    case LAZ_OPT_BOOLEAN:
        return;
    case LAZ_OPT_STRINGS:
    case LAZ_OPT_PATHS:
        list = *(char ***)at;
        for (size_t i = 0; list && list[i]; i++)
            free(list[i]);
        free(list);
        *(char ***)at = NULL;
        return;
    default:
        free(*(char **)at);
        *(char **)at = NULL;
    }
}

/* Frees what laz_options_read has put into the struct, also after a failure. The fields are then
 * NULL. */
static inline void laz_options_free(const struct laz_option_field *fields, void *into)
{
    for (; fields->key; fields++)
        laz_option_free(fields, into);
}

/* An integer may be written as 2 or 2.0, or as {"$int":"..."} if it is large. */
static inline int laz_option_read_integer(const struct laz_json_api *json,
                                          struct laz_json_reader *reader, int64_t *value)
{
    struct laz_json_token token;
    const char *tag = json->peek_tag(reader);
    int tagged = tag && strcmp(tag, "$int") == 0;

    for (int i = tagged ? 2 : 0; i > 0; i--) /* the { and the key */
        json->next(reader, &token);
    uint32_t type = json->next(reader, &token);
    if (type != (tagged ? LAZ_JSON_STRING : LAZ_JSON_NUMBER))
        return LAZ_EINVAL;
    double number = strpbrk(token.text, ".eE") ? strtod(token.text, NULL) : 0;
    if (number >= 9.2e18 || number <= -9.2e18)
        *value = number > 0 ? INT64_MAX : INT64_MIN;
    else
        *value = number != 0 ? (int64_t)number : strtoll(token.text, NULL, 10);
    if (tagged)
        json->next(reader, &token);
    return 0;
}

static inline int laz_option_read_list(const struct laz_json_api *json,
                                       struct laz_json_reader *reader, char ***value)
{
    struct laz_json_token token;
    char **list = (char **)calloc(1, sizeof *list);
    size_t n = 0;

    *value = list;
    if (!list)
        return LAZ_ENOMEM;
    if (json->next(reader, &token) != LAZ_JSON_ARRAY_BEGIN)
        return LAZ_EINVAL;
    while (json->next(reader, &token) == LAZ_JSON_STRING) {
        list = (char **)realloc(list, (n + 2) * sizeof *list);
        if (!list)
            return LAZ_ENOMEM;
        *value = list;
        list[n + 1] = NULL;
        list[n] = laz_option_copy(token.text, token.len);
        if (!list[n++])
            return LAZ_ENOMEM;
    }
    return token.type == LAZ_JSON_ARRAY_END ? 0 : LAZ_EINVAL;
}

/* Reads the next value into the field. 0, LAZ_EINVAL (it has another type), LAZ_ENOMEM. */
LAZ_OPTION_APART int laz_option_read(const struct laz_json_api *json,
                                     struct laz_json_reader *reader,
                                     const struct laz_option_field *field, void *into)
{
    void *at = (char *)into + field->offset;
    struct laz_json_token token;
    const char *raw;
    size_t len;

    if (json->peek(reader) == LAZ_JSON_NULL) /* as if it were absent */
        return json->skip(reader, NULL, NULL) ? 0 : LAZ_EINVAL;
    laz_option_free(field, into);
    switch (field->type) {
    case LAZ_OPT_INTEGER:
    case LAZ_OPT_SIZE:
    case LAZ_OPT_TIME:
        return laz_option_read_integer(json, reader, (int64_t *)at);
    case LAZ_OPT_BOOLEAN:
        json->next(reader, &token);
        *(bool *)at = token.type == LAZ_JSON_TRUE;
        return token.type == LAZ_JSON_TRUE || token.type == LAZ_JSON_FALSE ? 0 : LAZ_EINVAL;
    case LAZ_OPT_STRINGS:
    case LAZ_OPT_PATHS:
        return laz_option_read_list(json, reader, (char ***)at);
    case LAZ_OPT_STRING:
    case LAZ_OPT_PATH:
        if (json->next(reader, &token) != LAZ_JSON_STRING)
            return LAZ_EINVAL;
        *(char **)at = laz_option_copy(token.text, token.len);
        break;
    default:
        if (!json->skip(reader, &raw, &len))
            return LAZ_EINVAL;
        *(char **)at = laz_option_copy(raw, len);
    }
    return *(char **)at ? 0 : LAZ_ENOMEM;
}

/* Reads the members of a JSON object that the table lists; others are ignored, and the fields of
 * those that are absent or null stay as they are, so put defaults there before: NULL or 0, but
 * strings and lists only from malloc. The caller frees the fields with laz_options_free, also after
 * a failure: LAZ_EINVAL, LAZ_ENOMEM. `text` NULL: no members. */
static inline int laz_options_read(const struct laz_json_api *json, const char *text, size_t len,
                                   const struct laz_option_field *fields, void *into,
                                   struct laz_error *err)
{
    struct laz_json_reader *reader = text ? json->reader_new(text, len) : NULL;
    const struct laz_option_field *field;
    struct laz_json_token token;
    const char *wrong = NULL;
    int rc = 0;

    if (!text)
        return 0;
    if (!reader)
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    if (json->next(reader, &token) != LAZ_JSON_OBJECT_BEGIN)
        rc = LAZ_EINVAL;
    while (!rc && json->next(reader, &token) == LAZ_JSON_KEY) {
        for (field = fields; field->key && strcmp(field->key, token.text) != 0;)
            field++;
        wrong = field->key;
        if (wrong)
            rc = laz_option_read(json, reader, field, into);
        else if (!json->skip(reader, NULL, NULL))
            rc = LAZ_EINVAL;
    }
    if (!rc && json->reader_failed(reader)) /* also for lack of memory */
        rc = LAZ_ENOMEM;
    json->reader_free(reader);
    if (rc == LAZ_ENOMEM)
        return laz_fail(err, rc, "out of memory");
    if (rc)
        return laz_fail(err, rc, wrong ? "%s: not of its type" : "the options are no JSON object%s",
                        wrong ? wrong : "");
    return 0;
}

/* Calls back with the text of each item of a JSON list, such as the tables of LAZ_OPT_TABLES, until
 * a call does not return 0; returns that, or 0. `text` NULL: no items. */
static inline int laz_options_each(const struct laz_json_api *json, const char *text,
                                   int (*item)(void *user, size_t i, const char *text, size_t len,
                                               struct laz_error *err),
                                   void *user, struct laz_error *err)
{
    struct laz_json_reader *reader = text ? json->reader_new(text, strlen(text)) : NULL;
    struct laz_json_token token;
    const char *raw;
    size_t len;
    int rc = 0;

    if (text && !reader)
        return laz_fail(err, LAZ_ENOMEM, "out of memory");
    if (reader)
        json->next(reader, &token); /* the [ */
    for (size_t i = 0; !rc && reader && json->skip(reader, &raw, &len); i++)
        rc = item(user, i, raw, len, err);
    if (reader)
        json->reader_free(reader);
    return rc;
}

#ifdef __cplusplus
}
#endif
#endif
