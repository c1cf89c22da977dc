/* SPDX-License-Identifier: MIT */
/* words.c - what is written of a credential.
 * Side: host.  Input trusted: it is of whoever configures, and may be mistaken.
 *
 * No message has a value: what somebody has put where a name belongs may be a secret. */
#include "credential/credential_private.h"

#include "base/json_fields.h"
#include "base/json_scan.h"
#include "os/paths.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WORDS_SECRET "{secret}"
#define WORDS_TEXT   512 /* bytes of a header, a path, ... */
/* So that all of them, escaped, are in one note to the proxy (LAZ_PROXY_NOTE). */
#define WORDS_METHODS 64
#define WORDS_PATHS   128

struct words_form {
    const char *name, *host, *header, *basic, *query, *secret, *placeholder, *ca, *echo;
    size_t basic_len, query_len, secret_len, placeholder_len;
    struct laz_strv methods, paths;
    bool only;
};

#define WORDS_FIELD(word, type)                                                                    \
    {                                                                                              \
        .name = #word, .kind = LAZ_FIELD_##type, .at = offsetof(struct words_form, word)           \
    }
#define WORDS_JSON(word)                                                                           \
    {                                                                                              \
        .name = #word, .kind = LAZ_FIELD_JSON, .at = offsetof(struct words_form, word),            \
        .len_at = offsetof(struct words_form, word##_len)                                          \
    }
#define WORDS_TEXTS(word)                                                                          \
    {                                                                                              \
        .name = #word, .kind = LAZ_FIELD_TEXTS, .flags = LAZ_FIELD_ALL,                            \
        .at = offsetof(struct words_form, word)                                                    \
    }

static const struct laz_field words_rows[] = {
    WORDS_FIELD(name, TEXT),
    {"host", LAZ_FIELD_TEXT, .flags = LAZ_FIELD_REQUIRED, .at = offsetof(struct words_form, host)},
    WORDS_FIELD(header, TEXT),
    WORDS_JSON(basic),
    WORDS_JSON(query),
    WORDS_JSON(secret),
    WORDS_TEXTS(methods),
    WORDS_TEXTS(paths),
    WORDS_FIELD(only, BOOLEAN),
    WORDS_JSON(placeholder),
    WORDS_FIELD(ca, TEXT),
    WORDS_FIELD(echo, TEXT),
};

static const struct laz_fields words_fields = {.name = "a credential",
                                               .size = sizeof(struct words_form),
                                               .items = words_rows,
                                               .n = sizeof words_rows / sizeof *words_rows,
                                               .is_closed = true};

/* An object with one member, a text. */
struct words_one {
    const char *text;
    size_t len;
};

static int words_wrong(struct laz_error *err, const char *why)
{
    return laz_error_set(err, LAZ_ECONFIG, 0, "%s", why);
}

static int words_copy(const char *text, char **copy, struct laz_error *err)
{
    *copy = laz_strdup(text);
    return *copy || !text ? 0 : laz_error_nomem(err);
}

/* Takes the member of an object that has no other; `text` as well stands for it, if it may. */
static int words_member(const char *json, size_t len, const char *member, bool may_be_text,
                        const char *expected, char **copy, struct laz_error *err)
{
    struct words_one one = {NULL, 0};
    const struct laz_field row = {.name = member,
                                  .kind = LAZ_FIELD_TEXT,
                                  .flags = LAZ_FIELD_REQUIRED,
                                  .at = offsetof(struct words_one, text),
                                  .len_at = offsetof(struct words_one, len)};
    const struct laz_fields fields = {
        .name = member, .size = sizeof one, .items = &row, .n = 1, .is_closed = true};
    struct laz_fields_problem wrong;
    struct laz_buf text = LAZ_BUF_INIT;
    int rc = 0;

    if (*json == '"' && may_be_text) {
        struct laz_json_write write = {.to = &text};
        laz_json_begin_object(&write, NULL);
        laz_json_add_raw(&write, member, json, len);
        laz_json_end_object(&write);
    } else {
        laz_buf_append(&text, json, len);
    }
    if (text.failed)
        rc = LAZ_ENOMEM;
    if (!rc)
        rc = laz_fields_read(&fields, text.data, text.len, &one, &wrong);
    if (!rc && (!one.len || strlen(one.text) != one.len || one.len > LAZ_PROXY_SECRET))
        rc = LAZ_EPARSE;
    if (!rc)
        rc = words_copy(one.text, copy, err);
    if (one.text)
        laz_wipe((char *)(uintptr_t)one.text, one.len);
    laz_fields_free(&fields, &one);
    if (text.data)
        laz_wipe(text.data, text.len);
    laz_buf_fini(&text);
    return rc == LAZ_ENOMEM ? laz_error_nomem(err)
           : rc             ? laz_error_set(err, LAZ_ECONFIG, 0, "expected %s", expected)
                            : 0;
}

/* ---- where the secret goes ------------------------------------------------------------------- */

/* Visible ASCII, and spaces. */
static bool words_is_plain(const char *text)
{
    size_t n = 0;

    while (text[n] >= ' ' && text[n] <= '~')
        n++;
    return !text[n] && n <= WORDS_TEXT;
}

static bool words_is_field(const char *name, size_t len)
{
    static const char *const not_these[] = {
        "host", "content-length", "transfer-encoding", "connection", "upgrade",  "expect",
        "te",   "trailer",        "accept-encoding",   "range",      "if-range", "keep-alive"};
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

    for (size_t i = 0; i < sizeof not_these / sizeof *not_these; i++)
        if (strlen(not_these[i]) == len && strncasecmp(not_these[i], name, len) == 0)
            return false;
    return len && strspn(name, letters) == len;
}

static bool words_is_variable(const char *name)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";

    return *name && !(*name >= '0' && *name <= '9') && !name[strspn(name, letters)] &&
           strlen(name) <= WORDS_TEXT;
}

static int words_header(const char *header, struct credential_words *words, struct laz_error *err)
{
    const char *colon = strchr(header, ':'), *secret = strstr(header, WORDS_SECRET);

    if (!colon || !secret || secret < colon || strstr(secret + 1, WORDS_SECRET) ||
        !words_is_plain(header))
        return words_wrong(err, "header: expected a name and a value with {secret} in it "
                                "(\"Authorization: Bearer {secret}\")");
    if (!words_is_field(header, (size_t)(colon - header)))
        return words_wrong(err, "header: this header cannot be set: it is none, or says where a "
                                "request ends and for whom it is");
    const char *value = colon + 1 + strspn(colon + 1, " ");
    words->field = laz_strndup(header, (size_t)(colon - header));
    words->before = laz_strndup(value, (size_t)(secret - value));
    words->after = laz_strdup(secret + sizeof WORDS_SECRET - 1);
    return words->field && words->before && words->after ? 0 : laz_error_nomem(err);
}

static int words_basic(const struct words_form *form, struct credential_words *words,
                       struct laz_error *err)
{
    int rc = words_member(form->basic, form->basic_len, "user", false,
                          "basic = { user = \"NAME\" }", &words->user, err);

    if (rc)
        return rc;
    if (!words_is_plain(words->user) || strchr(words->user, ':'))
        return words_wrong(err, "basic.user: a name has neither ':' nor control characters");
    words->field = laz_strdup("Authorization");
    words->before = laz_strdup("Basic ");
    words->after = laz_strdup("");
    return words->field && words->before && words->after ? 0 : laz_error_nomem(err);
}

static int words_place(const struct words_form *form, struct credential_words *words,
                       struct laz_error *err)
{
    const unsigned n = !!form->header + !!form->basic + !!form->query;
    int rc = 0;

    if (n > 1)
        return words_wrong(err, "of header, basic and query there can be one");
    if (!n && !form->placeholder)
        return words_wrong(err, "expected one of header, basic and query, which say where the "
                                "secret goes, or a placeholder that stands for it");
    if (form->header)
        rc = words_header(form->header, words, err);
    else if (form->basic)
        rc = words_basic(form, words, err);
    else if (form->query)
        rc = words_member(form->query, form->query_len, "name", true,
                          "query: the name of a parameter (\"key\")", &words->query, err);
    if (!rc && words->query && !words_is_plain(words->query))
        rc = words_wrong(err, "query: the name of a parameter is of ASCII");
    if (!rc && form->placeholder)
        rc = words_member(form->placeholder, form->placeholder_len, "env", false,
                          "placeholder = { env = \"NAME\" }", &words->variable, err);
    if (!rc && words->variable && !words_is_variable(words->variable))
        rc =
            words_wrong(err, "placeholder.env: the name of a variable has letters, digits and '_'");
    return rc;
}

/* ---- what it is for -------------------------------------------------------------------------- */

static int words_methods(const struct words_form *form, struct credential_words *words,
                         struct laz_error *err)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_";

    if (form->methods.n > WORDS_METHODS)
        return words_wrong(err, "methods: a credential has 64 at most");
    for (size_t i = 0; i < form->methods.n; i++) {
        const char *method = form->methods.items[i];
        if (!*method || method[strspn(method, letters)] || strlen(method) > 20)
            return words_wrong(err, "methods: a method is a word in capitals (\"GET\")");
        laz_strv_add(&words->methods, method);
    }
    return words->methods.failed ? laz_error_nomem(err) : 0;
}

static int words_paths(const struct words_form *form, struct credential_words *words,
                       struct laz_error *err)
{
    if (form->paths.n > WORDS_PATHS)
        return words_wrong(err, "paths: a credential has 128 at most; '*' stands for anything");
    for (size_t i = 0; i < form->paths.n; i++) {
        const char *path = form->paths.items[i];
        if (path[0] != '/' || !words_is_plain(path) || strpbrk(path, " #"))
            return words_wrong(err, "paths: a path begins with '/', and is written as it is sent; "
                                    "'*' stands for anything (\"/v1/*\")");
        if (strchr(path, '?') || strstr(path, "//") || strstr(path, "/../") || strstr(path, "/./"))
            return words_wrong(err, "paths: a path has no query, and neither \"//\" nor \"..\", "
                                    "which are refused in requests");
        laz_strv_add(&words->paths, path);
    }
    return words->paths.failed ? laz_error_nomem(err) : 0;
}

static int words_host(const struct words_form *form, struct credential_words *words,
                      struct laz_error *err)
{
    int rc = laz_network_host_parse(form->host, &words->host, err);

    if (rc) {
        laz_error_prefix(err, "host: ");
        return rc;
    }
    if (form->name && (!*form->name || *form->name == '{' || !words_is_plain(form->name)))
        return words_wrong(err, "name: a name has printable characters of ASCII");
    rc = words_copy(form->host, &words->host_text, err);
    return rc ? rc : words_copy(form->name ? form->name : form->host, &words->name, err);
}

static int words_rest(const struct words_form *form, struct credential_words *words,
                      struct laz_error *err)
{
    if (form->echo && strcmp(form->echo, "allow") != 0 && strcmp(form->echo, "refuse") != 0)
        return words_wrong(err, "echo: expected \"allow\" or \"refuse\"");
    if (form->ca && !laz_os_is_absolute(form->ca))
        return words_wrong(err, "ca: expected the absolute path of a file");
    words->echo = form->echo && strcmp(form->echo, "allow") == 0;
    words->only = form->only;
    return words_copy(form->ca, &words->authorities, err);
}

/* ---- the secret ------------------------------------------------------------------------------ */

static int words_secret(const struct words_form *form, bool is_given, const struct laz_strv *allow,
                        struct credential_words *words, struct laz_error *err)
{
    char *value = NULL;
    int rc;

    if (!form->secret)
        return words_wrong(err, is_given ? "expected secret = { value = TEXT }"
                                         : "expected secret: the name of one of [secrets], or "
                                           "where it is read ({ file = \"/etc/lazaret/token\" })");
    if (is_given) {
        words->kind = CREDENTIAL_VALUE;
        rc = words_member(form->secret, form->secret_len, "value", false,
                          "secret = { value = TEXT }: files, variables and commands are those of "
                          "the settings",
                          &value, err);
        if (!rc)
            rc = laz_secret_new(value, strlen(value), &words->value, err);
        if (value)
            laz_wipe(value, strlen(value));
        free(value);
        return rc == LAZ_EINVAL ? laz_error_as(err, LAZ_ECONFIG) : rc;
    }
    if (*form->secret == '"') {
        words->kind = CREDENTIAL_NAMED;
        return words_member(form->secret, form->secret_len, "name", true, "the name of a secret",
                            &words->secret_name, err);
    }
    words->kind = CREDENTIAL_INLINE;
    return laz_secret_source_parse(form->secret, form->secret_len, allow, &words->source, err);
}

static int words_take(const struct words_form *form, bool is_given, const struct laz_strv *allow,
                      struct credential_words *words, struct laz_error *err)
{
    if (is_given && form->ca)
        return words_wrong(err, "ca: files are those of the settings");
    int rc = words_host(form, words, err);
    if (!rc)
        rc = words_place(form, words, err);
    if (!rc)
        rc = words_methods(form, words, err);
    if (!rc)
        rc = words_paths(form, words, err);
    if (!rc)
        rc = words_rest(form, words, err);
    return rc ? rc : words_secret(form, is_given, allow, words, err);
}

int credential_words_parse(const char *json, bool is_given, const struct laz_strv *allow,
                           struct credential_words *words, struct laz_error *err)
{
    struct words_form form;
    struct laz_fields_problem wrong;
    const size_t len = strlen(json);
    int rc = laz_json_scan(json, len, err);

    if (rc)
        return rc == LAZ_ENOMEM ? rc : words_wrong(err, "a credential is a JSON object");
    rc = laz_fields_read(&words_fields, json, len, &form, &wrong);
    if (rc == LAZ_ENOMEM)
        return laz_error_nomem(err);
    if (rc && wrong.what == LAZ_WRONG_UNKNOWN)
        return words_wrong(err,
                           "a credential has an unknown member; known are name, host, header, "
                           "basic, query, secret, methods, paths, only, placeholder, ca, echo");
    if (rc)
        return laz_error_set(err, LAZ_ECONFIG, 0,
                             "the member \"%s\" is missing, or of another type",
                             wrong.field ? wrong.field->name : "");
    rc = words_take(&form, is_given, allow, words, err);
    laz_fields_free(&words_fields, &form);
    return rc;
}

void credential_words_fini(struct credential_words *words)
{
    free(words->name);
    free(words->host_text);
    free(words->field);
    free(words->before);
    free(words->after);
    free(words->user);
    free(words->query);
    free(words->variable);
    free(words->authorities);
    free(words->secret_name);
    laz_strv_fini(&words->methods);
    laz_strv_fini(&words->paths);
    if (words->kind == CREDENTIAL_INLINE)
        laz_secret_source_fini(&words->source);
    laz_secret_fini(&words->value);
}
