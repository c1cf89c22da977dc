/* SPDX-License-Identifier: MIT */
/* credential.h - what the room offers: credentials that code uses and never sees.
 * Side: host.  Input trusted: settings yes; notes of the proxy no.
 *
 * A credential is a host, a secret, and where that goes in a request.  An engine has those of its
 * settings, and sessions may bring others.  The first session that has one starts lazaret-proxy
 * (proxy/proxy.h), which alone sees both a secret and a request.  Which hosts a session reaches is
 * not decided here: a connection that its list permits goes through the proxy, if a credential of
 * the session is for its name and port.
 *
 * A secret is read when the proxy wants it, which is when the first request needs it or when a
 * server has answered 401, at most once a minute, one at a time; it is passed on and forgotten. */
#ifndef LAZ_CREDENTIAL_CREDENTIAL_H
#define LAZ_CREDENTIAL_CREDENTIAL_H

#include "base/buf.h"
#include "base/error.h"
#include "loop/driver.h"
#include "secret/secret.h"

#include <stdbool.h>
#include <stdint.h>

struct laz_spawner;
struct laz_network_rules;

/* ---- the credentials of an engine ------------------------------------------------------------ */

struct laz_credentials;

struct laz_credentials_of {
    struct laz_driver *driver;
    const struct laz_settings_values *values;
    struct laz_spawner *spawner;
    struct laz_secrets *secrets; /* [secrets], and who runs commands */
    const char *agent;           /* beside which the proxy lies */
    const char *directory;       /* of the engine */
};
/* Those of the settings. All is borrowed. Mistakes have their place; where they are collected,
 * *credentials lacks the wrong ones. LAZ_ECONFIG, LAZ_ENOMEM. */
int laz_credentials_new(const struct laz_credentials_of *of, struct laz_credentials **credentials,
                        struct laz_error *err);
/* After all sets were dropped. Ends the proxy. NULL is allowed. */
void laz_credentials_free(struct laz_credentials *credentials);

/* Is there a proxy that can be started? LAZ_EREFUSED, LAZ_ENOENT and others of laz_trust_file. */
int laz_credentials_check(struct laz_credentials *credentials, struct laz_error *err);
/* Can the secrets of the settings' credentials be read, as far as that is known without running a
 * command? Each that cannot is a mistake with its place. */
int laz_credentials_check_secrets(struct laz_credentials *credentials, struct laz_error *err);
/* The directory that boxes show of the present proxy; borrowed until laz_credentials_begin. NULL:
 * there was none yet, or no memory. */
const char *laz_credentials_trust(const struct laz_credentials *credentials);
/* Takes what the proxy has said and nobody has read, without waiting: before a result is made. */
void laz_credentials_catch_up(struct laz_credentials *credentials);

/* Appends those of the settings, for `plan`: an array of objects {name, host, kind, secret, set,
 * methods, paths, placeholder, only, echo}; never a value. */
void laz_credentials_json(struct laz_credentials *credentials, struct laz_buf *json);
/* The same as a line each, for people. */
void laz_credentials_text(struct laz_credentials *credentials, struct laz_strv *lines);
/* What is doubtful about them: a wildcard, a host that the rules do not have. */
void laz_credentials_warn(struct laz_credentials *credentials,
                          const struct laz_network_rules *rules, struct laz_strv *warnings);

/* What is doubtful about settings of one whose sessions are on other machines. */
#define LAZ_CREDENTIALS_FAR                                                                        \
    "network.credential has no effect where session.where is \"cluster\": a credential is used "   \
    "where the code runs, and belongs into the configuration of the workers"

/* ---- those of a session ---------------------------------------------------------------------- */

struct laz_credential_set;

struct laz_credential_owner {
    void *user;
    /* In the loop thread: a request to this name was refused; `text` is printable. */
    void (*denied)(void *user, const char *name, uint16_t port, const char *text);
    void (*stale)(void *user); /* likewise: the set has become so; nothing is freed in it */
};

/* `given`: names of credentials of the settings, or JSON objects as there, whose secret is
 * { "value": TEXT }; NULL: all of the settings, and `n` is ignored. *set is NULL where there are
 * none. LAZ_EINVAL says what is wrong, without a value; LAZ_ENOMEM. */
int laz_credential_set_new(struct laz_credentials *credentials, const char *const *given, size_t n,
                           struct laz_credential_set **set, struct laz_error *err);
void laz_credential_set_free(struct laz_credential_set *set); /* NULL is allowed */
/* Before a box of the session is made: starts the proxy unless it runs, and waits until boxes can
 * trust it. Its directory stays until this is called again, or the set is freed. LAZ_ESETUP,
 * LAZ_EREFUSED (this build, or system, has none), LAZ_EOS, LAZ_ENOMEM. */
int laz_credentials_begin(struct laz_credential_set *set, struct laz_error *err);
/* Has the proxy that its box trusts ended? Then its connections are refused. False while there is
 * no box; NULL: no. */
bool laz_credential_set_is_stale(const struct laz_credential_set *set);
/* Who is told of what from now on. */
void laz_credential_set_own(struct laz_credential_set *set,
                            const struct laz_credential_owner *owner);
/* Are they those of the settings? Else boxes of other sessions do not have their variables. */
bool laz_credential_set_is_usual(const struct laz_credential_set *set);
/* Appends the variables of their placeholders, NAME=VALUE. */
void laz_credential_set_env(const struct laz_credential_set *set, struct laz_strv *env);
/* Does a connection to this name and port, of which the list is asked as well, go through the
 * proxy? NULL: no set, no. */
bool laz_credential_set_has(const struct laz_credential_set *set, const char *name, uint16_t port);
/* Puts the proxy between: `server` is a connection to that server, which is taken in any case.
 * Returns the end of the box, or -1: `why` has a text. */
int laz_credential_set_connect(struct laz_credential_set *set, const char *name, uint16_t port,
                               int server, const char **why);
/* A placeholder of any credential in a text that goes out in clear; NULL: none. Its credential's
 * name. */
const char *laz_credential_set_finds(const struct laz_credential_set *set, const char *text,
                                     size_t len);

/* How often a secret went to a host since the last call of laz_credential_set_forget_uses. */
struct laz_credential_use {
    const char *credential, *host;
    uint64_t count;
};
size_t laz_credential_set_uses(const struct laz_credential_set *set,
                               struct laz_credential_use *uses, size_t most);
void laz_credential_set_forget_uses(struct laz_credential_set *set);

#endif
