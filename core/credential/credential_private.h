/* SPDX-License-Identifier: MIT */
/* credential_private.h - what the files of the room share.
 *
 * words.c reads what is written of a credential, placeholder.c makes what stands for it, sets.c has
 * those of sessions, credentials.c those of the engine, read.c the secrets, channel.c and process.c
 * the proxy. */
#ifndef LAZ_CREDENTIAL_CREDENTIAL_PRIVATE_H
#define LAZ_CREDENTIAL_CREDENTIAL_PRIVATE_H

#include "credential/credential.h"
#include "network/network.h"
#include "os/process.h"
#include "proxy/proxy.h"

/* ---- words.c --------------------------------------------------------------------------------- */

/* Where a secret is read. */
enum credential_kind { CREDENTIAL_NAMED, CREDENTIAL_INLINE, CREDENTIAL_VALUE };

struct credential_words {
    char *name, *host_text;
    struct laz_network_host host;
    char *field, *before, *after, *user, *query; /* as of struct proxy_note */
    char *variable;                              /* of the placeholder; NULL: none */
    char *authorities;                           /* a file; NULL: the system's */
    struct laz_strv methods, paths;
    bool only, echo;
    enum credential_kind kind;
    char *secret_name;               /* NAMED */
    struct laz_secret_source source; /* INLINE */
    struct laz_secret value;         /* VALUE */
};

/* `is_given`: of an application, whose secret has a value and no source; else of the settings.
 * `allow`: variables that boxes get. LAZ_ECONFIG, LAZ_ENOMEM. *words is to be freed after an error
 * as well. */
int credential_words_parse(const char *json, bool is_given, const struct laz_strv *allow,
                           struct credential_words *words, struct laz_error *err);
void credential_words_fini(struct credential_words *words);

/* ---- placeholder.c --------------------------------------------------------------------------- */

/* A value that looks like the secret (NULL: it is not known) and is worth nothing; a new string.
 * NULL: out of memory, or of random bytes. */
char *credential_placeholder(const char *secret, size_t len);

/* ---- items ----------------------------------------------------------------------------------- */

struct credential_item {
    struct credential_item *next;
    struct laz_credentials *credentials;
    int64_t id;
    unsigned holders; /* sets, and the engine for those of the settings */
    bool is_usual;    /* of the settings: */
    const char *json; /* borrowed from them */
    struct credential_words words;
    char *placeholder; /* NULL: none */
    uint64_t told;     /* the proxy that was told of it, by its number; 0: none */
    bool is_read, was_read;
    uint64_t read_ms; /* when that was last */
    char *failure;    /* of that; NULL: it was good */
    struct credential_reading *reading;
    bool is_wanted; /* the proxy has none, and waits for what is read */
};

struct credential_count {
    int64_t id;
    const char *credential; /* of an item that the set holds */
    char host[256];
    uint64_t count;
};

#define CREDENTIAL_COUNTS 64 /* different ones of a set; others count for the last */

struct laz_credential_set {
    struct laz_credential_set *next;
    struct laz_credentials *credentials;
    int64_t id;
    struct laz_credential_owner owner;
    struct credential_item **items;
    size_t n;
    bool is_usual;
    uint64_t number; /* of the proxy that its box trusts; 0: none yet */
    struct credential_count *counts;
    size_t n_counts;
};

struct laz_credentials {
    struct laz_credentials_of of;
    struct credential_item *items;
    struct laz_credential_set *sets;
    int64_t last_id, last_set;
    struct laz_workers *readers; /* one thread; NULL: nothing was read yet */
    /* the proxy */
    uint64_t number; /* of proxies so far; 0: none was started */
    uint64_t oldest; /* whose directory may be there still */
    bool runs;
    struct laz_process process;
    int channel;
    struct laz_io *io;
    struct credential_unsent *unsent; /* notes that it had no room for */
    char *program, *trust;
};

int credential_item_new(struct laz_credentials *credentials, const char *json, bool is_given,
                        struct credential_item **item, struct laz_error *err);
void credential_item_drop(struct credential_item *item);

/* The proxy wants it: read.c. `refused`: the server did not take the one that there is. */
void credential_read(struct credential_item *item, bool refused);
/* Waits for what is being read. False: it did not end in time, and what it uses is left. */
bool credential_readers_end(struct laz_credentials *credentials);
/* Where it is read; NULL: it has a value, or *err says what is wrong. */
const struct laz_secret_source *credential_source(const struct credential_item *item,
                                                  struct laz_error *err);

/* ---- the proxy: channel.c -------------------------------------------------------------------- */

/* False: it is gone, or takes nothing now. */
bool credential_tell(struct laz_credentials *credentials, enum proxy_note_type type,
                     const struct proxy_note *note, const int *fds, size_t n);
/* The same of a note that must not be lost, since the proxy waits for it: one that has no room now,
 * because of what code causes, is sent later. */
void credential_tell_surely(struct laz_credentials *credentials, enum proxy_note_type type,
                            const struct proxy_note *note);
void credential_tell_unsent(struct laz_credentials *credentials);
void credential_process_end(struct laz_credentials *credentials);
/* What it says: sets.c. */
void credential_used(struct laz_credentials *credentials, const struct proxy_note *note);
void credential_denied(struct laz_credentials *credentials, const struct proxy_note *note);

#endif
