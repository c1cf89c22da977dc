/* SPDX-License-Identifier: MIT */
/* secret.h - secrets that the host uses and code never sees: where each is read, and its value.
 *
 * A source is what the configuration says: a file, a variable of the host, or a command.  A value
 * lives in memory of its own (os/secret_memory.h) until laz_secret_fini, and is in no error, log or
 * text: what is said of a secret is its name and its source. */
#ifndef LAZ_SECRET_SECRET_H
#define LAZ_SECRET_SECRET_H

#include "base/buf.h"
#include "base/error.h"
#include "settings/settings.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define LAZ_SECRET_MAX        ((size_t)64 << 10) /* bytes of a value */
#define LAZ_SECRET_TIMEOUT_MS 30000              /* of a command */

/* ---- a value: secret.c ----------------------------------------------------------------------- */

struct laz_secret {
    char *data; /* a NUL stands behind it; NULL: there is none */
    size_t len;
    size_t room; /* private */
};

/* Copies a value, without one newline at its end. LAZ_EINVAL: it is empty, too long or has a
 * control character, as the text says. LAZ_ENOMEM. */
int laz_secret_new(const char *data, size_t len, struct laz_secret *secret, struct laz_error *err);
void laz_secret_fini(struct laz_secret *secret);

/* ---- where it is read: source.c -------------------------------------------------------------- */

enum laz_secret_kind { LAZ_SECRET_FILE, LAZ_SECRET_ENV, LAZ_SECRET_COMMAND };

struct laz_secret_source {
    enum laz_secret_kind kind;
    char *where;                /* the path of the file or the program, the name of the variable */
    struct laz_strv command;    /* with the program */
    struct laz_secret captured; /* the variable, as it was when the source was made */
    bool is_wrong;              /* the variable is set, and is no value; */
    char *wrong;                /* why */
};

/* Runs a command of the host, and appends at most LAZ_SECRET_MAX bytes, and a newline, of its
 * standard output to `out`, which has room for them and need not grow; more is LAZ_ETOOBIG. It may
 * take LAZ_SECRET_TIMEOUT_MS. An exit status other than 0 is an error, whose text has nothing of
 * what the command wrote. Any thread. */
struct laz_secret_runner {
    int (*run)(void *user, const struct laz_strv *command, struct laz_buf *out,
               struct laz_error *err);
    /* May the program be run? */
    int (*check)(void *user, const char *program, struct laz_error *err);
    void *user;
};

/* A file that the settings show to the code, which may belong to this user as the code does, is
 * refused: LAZ_ECONFIG. Of root sessions have users of their own, who cannot read it. So is a
 * command of which the code can change a file. */
int laz_secret_source_hidden(const struct laz_secret_source *source,
                             const struct laz_settings_values *values, struct laz_error *err);
/* Takes { "file": PATH }, { "env": NAME } or { "command": [PROGRAM, ...] }. A variable is read
 * here, so call it in the thread that makes the engine; `allow` (or NULL): the variables that boxes
 * get, of which it may be none. LAZ_ECONFIG, LAZ_ENOMEM. */
int laz_secret_source_parse(const char *json, size_t len, const struct laz_strv *allow,
                            struct laz_secret_source *source, struct laz_error *err);
void laz_secret_source_fini(struct laz_secret_source *source);
/* Appends "the file /etc/x", "the variable X", "the program /usr/bin/pass". */
void laz_secret_source_text(const struct laz_secret_source *source, struct laz_buf *text);
/* Reads the value; a file and a command anew each time. It blocks. Any thread. Errors name the
 * source: LAZ_EREFUSED, LAZ_EOS, LAZ_EINVAL, LAZ_ETIMEOUT, LAZ_ETOOBIG, LAZ_ENOMEM. */
int laz_secret_read(const struct laz_secret_source *source, const struct laz_secret_runner *runner,
                    struct laz_secret *secret, struct laz_error *err);
/* The same as far as it can be known without running a command. */
int laz_secret_check(const struct laz_secret_source *source, const struct laz_secret_runner *runner,
                     struct laz_error *err);

/* ---- [secrets]: secrets.c -------------------------------------------------------------------- */

struct laz_secrets_item {
    char *name;
    struct laz_secret_source source;
    struct laz_secret value; /* once it was read */
    bool is_refused;         /* its source is a mistake, which is told already */
};

struct laz_secrets {
    struct laz_secrets_item *items;
    size_t n;
    struct laz_secret_runner runner;
    pthread_mutex_t lock; /* of the values; held while one is read */
    bool is_made;
};

/* Takes the sources of the settings, and reads variables. Mistakes have their place. */
int laz_secrets_init(struct laz_secrets *secrets, const struct laz_settings_values *values,
                     const struct laz_secret_runner *runner, struct laz_error *err);
void laz_secrets_fini(struct laz_secrets *secrets);
/* The source of a name. LAZ_EINVAL: there is none; the text has the nearest name, and not this one,
 * which may be a secret that somebody has written in the place of a name. */
int laz_secrets_find(struct laz_secrets *secrets, const char *name, size_t len,
                     const struct laz_secret_source **source, struct laz_error *err);
/* The value, which is read when it is needed first, and borrowed until laz_secrets_fini. Any
 * thread; one reads at a time. Errors begin with the name. */
int laz_secrets_value(struct laz_secrets *secrets, const char *name, size_t len,
                      const struct laz_secret **value, struct laz_error *err);
/* Whether it could be read, as far as that is known without running a command. */
int laz_secrets_check(struct laz_secrets *secrets, const char *name, size_t len,
                      struct laz_error *err);

/* The next "{secret.NAME}" in a text, from *at on: true, its place, and its name; *at is behind it.
 * NULL in *name: what stands behind "{secret." is no name and brace. */
bool laz_secrets_next(const char *text, size_t len, size_t *at, size_t *begin, const char **name,
                      size_t *name_len);
/* Copies a JSON text, in whose strings "{secret.NAME}" becomes the value, to memory of a secret.
 * *n: how many there were. Errors as laz_secrets_value. */
int laz_secrets_fill(struct laz_secrets *secrets, const char *json, size_t len,
                     struct laz_secret *filled, size_t *n, struct laz_error *err);
/* Overwrites each value that has been read, as a whole, in a text, by '*'. Values of less than
 * eight bytes are not looked for. True: there was one. Any thread. */
bool laz_secrets_hide(struct laz_secrets *secrets, char *text, size_t len);

#endif
