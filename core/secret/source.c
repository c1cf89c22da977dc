/* SPDX-License-Identifier: MIT */
/* source.c - where a secret is read: a file, a variable of the host, a command.
 *
 * What is read on the way to its own memory is in a buffer that is large enough from the beginning,
 * because one that grows leaves copies, and is wiped.
 * Side: host.  Input trusted: yes (the configuration; what it names is bounded all the same). */
#include "secret/secret.h"

#include "base/json_fields.h"
#include "os/current_process.h"
#include "os/paths.h"
#include "os/trust.h"
#include "os/users.h"

#include <stdlib.h>
#include <string.h>

#define SOURCE_ROOM (2 * LAZ_SECRET_MAX) /* what readers need beside the value, included */

struct source_object {
    const char *file, *env;
    struct laz_strv command;
};

static const struct laz_field source_rows[] = {
    {.name = "file",
     .kind = LAZ_FIELD_TEXT,
     .flags = LAZ_FIELD_CHOICE,
     .at = offsetof(struct source_object, file)},
    {.name = "env",
     .kind = LAZ_FIELD_TEXT,
     .flags = LAZ_FIELD_CHOICE,
     .at = offsetof(struct source_object, env)},
    {.name = "command",
     .kind = LAZ_FIELD_TEXTS,
     .flags = LAZ_FIELD_CHOICE | LAZ_FIELD_ALL,
     .at = offsetof(struct source_object, command)},
};

static const struct laz_fields source_fields = {.name = "where a secret is read",
                                                .size = sizeof(struct source_object),
                                                .items = source_rows,
                                                .n = sizeof source_rows / sizeof *source_rows,
                                                .is_closed = true};

/* ---- taking ---------------------------------------------------------------------------------- */

static int source_capture(struct laz_secret_source *source, const struct laz_strv *allow,
                          struct laz_error *err)
{
    struct laz_error why = {0};

    if (allow && laz_strv_has(allow, source->where))
        return laz_error_set(err, LAZ_ECONFIG, 0,
                             "the variable %s has a secret, and env.allow passes it to the code: "
                             "take it out there",
                             source->where);
    const char *value = laz_os_getenv(source->where);
    int rc = value ? laz_secret_new(value, strlen(value), &source->captured, &why) : 0;
    if (rc == LAZ_ENOMEM)
        return laz_error_nomem(err);
    source->is_wrong = rc != 0;
    source->wrong = rc ? laz_strdup(why.text) : NULL;
    return rc && !source->wrong ? laz_error_nomem(err) : 0;
}

/* Takes what was read; the texts move. */
static int source_take(struct laz_secret_source *source, struct source_object *object,
                       const struct laz_strv *allow, struct laz_error *err)
{
    const char *where = object->file        ? object->file
                        : object->env       ? object->env
                        : object->command.n ? object->command.items[0]
                                            : "";

    source->kind = object->file  ? LAZ_SECRET_FILE
                   : object->env ? LAZ_SECRET_ENV
                                 : LAZ_SECRET_COMMAND;
    source->where = laz_strdup(where);
    for (size_t i = 0; i < object->command.n; i++)
        laz_strv_add(&source->command, object->command.items[i]);
    if (!source->where || source->command.failed)
        return laz_error_nomem(err);
    if (source->kind == LAZ_SECRET_ENV)
        return *where && !strchr(where, '=')
                   ? source_capture(source, allow, err)
                   : laz_error_set(err, LAZ_ECONFIG, 0, "env: expected the name of a variable");
    if (!laz_os_is_absolute(where))
        return laz_error_set(err, LAZ_ECONFIG, 0, "%s: expected an absolute path",
                             source->kind == LAZ_SECRET_FILE ? "file" : "command");
    return 0;
}

int laz_secret_source_parse(const char *json, size_t len, const struct laz_strv *allow,
                            struct laz_secret_source *source, struct laz_error *err)
{
    struct laz_fields_problem wrong;
    struct source_object object;

    *source = (struct laz_secret_source){.command = LAZ_STRV_INIT};
    int rc = laz_fields_read(&source_fields, json, len, &object, &wrong);
    if (rc == LAZ_ENOMEM)
        return laz_error_nomem(err);
    if (rc)
        return laz_error_set(err, LAZ_ECONFIG, 0,
                             "a secret is read by one of file, env and command: an absolute path, "
                             "the name of a variable, a list of texts");
    rc = source_take(source, &object, allow, err);
    laz_fields_free(&source_fields, &object);
    if (rc)
        laz_secret_source_fini(source);
    return rc;
}

/* A word of the command (the program, a script that it runs, a file of it) that code can change. */
static const char *source_writable(const struct laz_secret_source *source,
                                   const struct laz_settings_values *values)
{
    for (size_t i = 0; i < source->command.n; i++)
        if (laz_settings_lets_change(values, source->command.items[i]))
            return source->command.items[i];
    return NULL;
}

int laz_secret_source_hidden(const struct laz_secret_source *source,
                             const struct laz_settings_values *values, struct laz_error *err)
{
    const char *writable = source_writable(source, values);

    if (writable)
        return laz_error_set(err, LAZ_ECONFIG, 0,
                             "the host would run %s, which is in sandbox.write, where code can "
                             "change it: keep it elsewhere",
                             writable);
    if (source->kind != LAZ_SECRET_FILE || laz_os_is_root() ||
        !laz_settings_shows(values, source->where))
        return 0;
    return laz_error_set(err, LAZ_ECONFIG, 0,
                         "the file %s has a secret, and sandbox.read or sandbox.write shows it to "
                         "the code: keep it elsewhere",
                         source->where);
}

void laz_secret_source_fini(struct laz_secret_source *source)
{
    free(source->where);
    free(source->wrong);
    laz_strv_fini(&source->command);
    laz_secret_fini(&source->captured);
    *source = (struct laz_secret_source){.command = LAZ_STRV_INIT};
}

void laz_secret_source_text(const struct laz_secret_source *source, struct laz_buf *text)
{
    static const char *const kinds[] = {[LAZ_SECRET_FILE] = "the file ",
                                        [LAZ_SECRET_ENV] = "the variable ",
                                        [LAZ_SECRET_COMMAND] = "the program "};

    laz_buf_puts(text, kinds[source->kind]);
    laz_buf_puts(text, source->where);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Puts the source before an error that does not name it. */
static int source_wrong(const struct laz_secret_source *source, int rc, struct laz_error *err)
{
    struct laz_buf text = LAZ_BUF_INIT;

    laz_secret_source_text(source, &text);
    laz_error_prefix(err, "%s: ", laz_buf_text(&text));
    laz_buf_fini(&text);
    return rc;
}

static int source_variable(const struct laz_secret_source *source, struct laz_secret *secret,
                           struct laz_error *err)
{
    if (source->is_wrong)
        return laz_error_set(err, LAZ_EINVAL, 0, "%s", source->wrong);
    if (!source->captured.data)
        return laz_error_set(err, LAZ_EINVAL, 0, "it is not set");
    return laz_secret_new(source->captured.data, source->captured.len, secret, err);
}

int laz_secret_read(const struct laz_secret_source *source, const struct laz_secret_runner *runner,
                    struct laz_secret *secret, struct laz_error *err)
{
    struct laz_buf text = LAZ_BUF_INIT;
    int rc = 0;

    *secret = (struct laz_secret){NULL, 0, 0};
    if (source->kind == LAZ_SECRET_ENV) {
        rc = source_variable(source, secret, err);
        return rc ? source_wrong(source, rc, err) : 0;
    }
    if (!laz_buf_reserve(&text, SOURCE_ROOM))
        return laz_error_nomem(err);
    if (source->kind == LAZ_SECRET_FILE)
        rc = laz_trust_secret(source->where, LAZ_SECRET_MAX + 2, &text, err);
    else if (!runner || !runner->run)
        rc = laz_error_set(err, LAZ_EREFUSED, 0, "no command is run here");
    else
        rc = runner->run(runner->user, &source->command, &text, err);
    if (!rc)
        rc = laz_secret_new(laz_buf_text(&text), text.len, secret, err);
    laz_wipe(text.data, text.cap);
    laz_buf_fini(&text);
    return rc ? source_wrong(source, rc, err) : 0;
}

int laz_secret_check(const struct laz_secret_source *source, const struct laz_secret_runner *runner,
                     struct laz_error *err)
{
    struct laz_secret secret;
    int rc = 0;

    if (source->kind == LAZ_SECRET_COMMAND) {
        if (runner && runner->check)
            rc = runner->check(runner->user, source->where, err);
        return rc ? source_wrong(source, rc, err) : 0;
    }
    rc = laz_secret_read(source, NULL, &secret, err);
    laz_secret_fini(&secret);
    return rc;
}
